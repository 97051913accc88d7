// A sweep as the charts need it: what varies, what was measured, and the points that match a choice.
import {isNumber, unitOf} from "./format.js";
import {usefulMacs} from "./run-data.js";

const FIRST = ["tune.cost", "cycles", "time_ns", "throughput", "energy_pj.total", "estimate_cycles", "estimate_error_percent",
    "noc.average_packet_latency", "noc.p99_packet_latency", "noc.link_utilization_mean", "noc.link_utilization_maximum"];

// What varies: {name, values: [{key, label, number}], of: point -> key}. Keys that vary together (a zip) are one.
function axesOf(sweep) {
    const axes = [];
    let column = 0;
    for (const keys of sweep.axes) {
        const first = column;
        const last = column + keys.length;
        column = last;
        const all = (point) => point.settings.slice(first, last).map(String).join(" / ");
        const alone = new Set(sweep.points.map((point) => String(point.settings[first]))).size === new Set(sweep.points.map(all)).size;
        const of = alone ? (point) => String(point.settings[first]) : all; // the first key tells the others
        const values = new Map();
        for (const point of sweep.points) {
            const value = point.settings[first];
            values.set(of(point), {key: of(point), label: of(point), number: isNumber(value) ? value : NaN});
        }
        const name = keys.length > 2 && alone ? `${keys[0]} and ${keys.length - 1} keys with it` : keys.join(" + ");
        axes.push({name, short: keys[0], values: [...values.values()], of});
    }
    const more = [["network", (point) => point.network], ["system", (point) => point.system], ["mapper", (point) => point.mapper], ["trace", (point) => point.trace],
        ["repeat", (point) => point.repeat]];
    for (const [name, value] of more) {
        const keys = [...new Set(sweep.points.map((point) => String(value(point) ?? "")))];
        axes.push({name, short: name, of: (point) => String(value(point) ?? ""),
                   values: keys.map((key) => ({key, label: key, number: NaN}))});
    }
    for (const axis of axes) {
        axis.numeric = axis.values.every((value) => isNumber(value.number)) &&
            new Set(axis.values.map((value) => value.number)).size === axis.values.length;
        if (axis.numeric) axis.values.sort((a, b) => a.number - b.number);
        const low = axis.values[0]?.number, high = axis.values[axis.values.length - 1]?.number;
        axis.logarithmic = axis.numeric && low > 0 && high / low >= 8;
        axis.unit = unitOf(axis.short);
    }
    return axes.filter((axis) => axis.values.length > 1);
}

// The metric of a point over that of its baseline: the point that differs from it in `axis` alone, where it has `key`.
export function relativeTo(data, metric, axis, key) {
    const rest = (point) => JSON.stringify(data.axes.filter((one) => one !== axis).map((one) => one.of(point)));
    const bases = new Map(data.done.filter((point) => axis.of(point) === key).map((point) => [rest(point), metric.of(point)]));
    return {name: `${metric.name} over that at ${axis.short} = ${key}`, unit: "", of(point) {
        const base = bases.get(rest(point)), value = metric.of(point);
        return isNumber(base) && base !== 0 && isNumber(value) ? value / base : NaN;
    }};
}

// Of a search: [{x, cost, best}] in the order of x; points without a cost are left out.
export function bestSoFar(points) {
    let best = Infinity;
    return points.filter((point) => isNumber(point.x) && isNumber(point.cost)).sort((a, b) => a.x - b.x).map((point) => {
        best = Math.min(best, point.cost);
        return {...point, best};
    });
}

// How a point ended, in words.
export const endOf = (data, point) => data.stopped.has(point) ? "stopped" : point.status;

function metricsOf(sweep) {
    const place = new Map(sweep.statistics.map((name, i) => [name, i]));
    const metrics = sweep.statistics.filter((name) => name !== "complete")
        .map((name) => ({name, unit: unitOf(name), of: (point) => point.values[place.get(name)]}));
    if (place.has("work.macs") && place.has("time_ns")) {
        const macs = place.get("work.macs"), network = place.get("work.network_macs"), complete = place.get("complete"), time = place.get("time_ns");
        const of = (point) => usefulMacs(point.values[complete] !== 0, point.values[network], point.values[macs]);
        metrics.push({name: "throughput", unit: "MACs per second",
            of: (point) => point.values[time] > 0 ? of(point) / point.values[time] * 1e9 : NaN});
    }
    const rank = (metric) => FIRST.includes(metric.name) ? FIRST.indexOf(metric.name) : FIRST.length;
    return metrics.filter((metric) => sweep.points.some((point) => isNumber(metric.of(point))))
        .sort((a, b) => rank(a) - rank(b));
}

// What became of the search of a point (mapping = "each"): null where nothing was held against it, "own", or whose program beat it.
function searchesOf(sweep, axes) {
    const place = (name) => sweep.statistics.indexOf(name);
    const beaten = place("search_beaten"), again = place("program_search"), keys = sweep.statistics.filter((name) => name.startsWith("program_of."));
    const of = (point, key) => point.values[place(key)];
    const varies = keys.filter((key) => axes.some((axis) => axis.name.split(" + ").includes(key.slice("program_of.".length))));
    return (point) => beaten < 0 || !isNumber(point.values[beaten]) ? null : point.values[beaten] === 0 ? "own"
        : `beaten by ${again >= 0 && point.values[again] === 2 ? "a second search" : "the search"} for ${(varies.length ? varies : keys).map((key) => `${key.slice("program_of.".length)} = ${of(point, key)}`).join(", ")}`;
}

// Points that were stopped before their end (--until) are no whole runs: they are called stopped, and no chart compares them.
export function readSweep(sweep) {
    const complete = sweep.statistics.indexOf("complete");
    const done = sweep.points.filter((point) => point.status === "done");
    const stopped = new Set(done.filter((point) => complete >= 0 && point.values[complete] === 0));
    const axes = axesOf(sweep), searchOf = searchesOf(sweep, axes);
    return {done: done.filter((point) => !stopped.has(point)), stopped, failed: sweep.points.filter((point) => point.status !== "done"),
            axes, metrics: metricsOf(sweep), total: sweep.total, searchOf, beaten: (point) => (searchOf(point) ?? "own") !== "own"};
}

// Curves of a metric: [{name, points: [{x, label, y, point}]}] along `axis`, one for each value of `series` (or one in
// all), of the points that `filters` (axis -> key) lets pass. Points without the figure are left out.
export function curves(data, metric, axis, series, filters) {
    const kept = data.done.filter((point) => [...filters].every(([other, key]) => other.of(point) === key));
    const keys = series ? series.values.map((value) => value.key) : [""];
    return keys.map((key) => {
        const own = kept.filter((point) => !series || series.of(point) === key);
        const points = axis.values.flatMap((value) => {
            const point = own.find((one) => axis.of(one) === value.key);
            const y = point ? metric.of(point) : NaN;
            return isNumber(y) ? [{x: axis.numeric ? value.number : value.label, label: value.label, y, point, series: key}] : [];
        });
        return {name: key, points};
    }).filter((curve) => curve.points.length > 0);
}
