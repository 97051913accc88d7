// Results of `pimsim systems` as the charts need them: for each network the systems that took it, and those that did not.
import {isNumber} from "./format.js";

// What a person decides by: [key, name, whether more is better].
export const AIMS = [
    ["latency", "Latency of an image", false],
    ["throughput", "Images per second", true],
    ["energy", "Energy of an image", false],
    ["density", "Images per second and mm\u00b2 at 28\u00a0nm", true],
];

// Why systems have no figure for each mm2 at 28 nm: an area that is known is of no use without its node.
export function withoutDensity(rows) {
    const sized = rows.filter((row) => isNumber(row.system.area_mm2)).map((row) => row.name);
    if (sized.length === rows.length) return "the node of their technology is not known";
    return `their area is not known${sized.length > 0 ? `; of ${sized.join(", ")} the node of the technology` : ""}`;
}

const number = (value) => isNumber(value) ? value : NaN;

function rowOf(sweep, system, point) {
    const place = (name) => sweep.statistics.indexOf(name);
    const of = (name) => place(name) >= 0 ? number(point.values[place(name)]) : NaN;
    const group = (prefix) => Object.fromEntries(sweep.statistics.flatMap((name, i) =>
        name.startsWith(prefix) && isNumber(point.values[i]) ? [[name.slice(prefix.length), point.values[i]]] : []));
    return {system, name: system.name, title: system.title,
        latency: of("system.latency_ns"), throughput: of("system.images_per_second"), energy: of("system.energy_pj"),
        energy28: of("system.energy_28nm_pj"), density: of("system.images_per_second_per_mm2"), utilization: of("system.utilization"),
        estimateError: of("estimate_error_percent"), macs: of("system.network_macs"), linkMost: of("noc.link_utilization_maximum"),
        timeBy: group("unit_cycles_by."), energies: group("energy_pj.")};
}

// [{network, rows, refused: [{system, error, status}]}] in the order of the sweep.
export function readSystems(sweep) {
    const named = new Map(sweep.systems.map((system) => [system.name, system]));
    const networks = [...new Set(sweep.points.map((point) => point.network))];
    const complete = sweep.statistics.indexOf("complete");
    const whole = (point) => point.status === "done" && (complete < 0 || point.values[complete] !== 0);
    return networks.map((network) => {
        const points = sweep.points.filter((point) => point.network === network && named.has(point.system));
        return {network,
            rows: points.filter(whole).map((point) => rowOf(sweep, named.get(point.system), point)),
            refused: points.filter((point) => !whole(point)).map((point) => ({system: named.get(point.system), status: point.status === "done" ? "stopped" : point.status,
                error: point.error ?? (point.status === "done" ? "the run was stopped before its end (--until) and is not compared" : "")}))};
    });
}

// Rows that have the figure, the best first.
export function ranked(rows, key, more) {
    return rows.filter((row) => isNumber(row[key])).sort((a, b) => more ? b[key] - a[key] : a[key] - b[key]);
}

// How many times better the first is than the second; NaN where there is no second.
export function lead(order, key, more) {
    if (order.length < 2) return NaN;
    return more ? order[0][key] / order[1][key] : order[1][key] / order[0][key];
}
