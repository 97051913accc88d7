// One network on several systems: what to choose for which aim, the figures raw and normalised, and who cannot take it.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {breakable, element, table} from "./dom.js";
import {componentsOf, energyOf} from "./family.js";
import {compact, energy, figure, integer, isNumber, NOTHING, share, shorten, si, signedPercent, time, unit} from "./format.js";
import {fittingTicks, logTicks, placeNames} from "./geometry.js";
import {SHARES} from "./palette.js";
import {paretoFront} from "./pareto.js";
import {AIMS, lead, ranked, readSystems, withoutDensity} from "./systems-data.js";

const perArea = (value) => unit(figure(value, 4), "/s\u00b7mm\u00b2");
const TEXT = {latency: time, throughput: (value) => unit(figure(value, 4), "/s"), energy, density: perArea};
const times = (value) => `${figure(value, 3)}\u00d7`;
const bytes = (value) => isNumber(value) ? si(value, "B", 3) : NOTHING;
const labelWidth = (names, width) => Math.min(width * 0.36, 14 + 7 * Math.max(...names.map((name) => name.length)));

function tiles({rows}) {
    return element("dl", {class: "tiles"}, AIMS.map(([key, name, more]) => {
        const order = ranked(rows, key, more);
        const ahead = lead(order, key, more);
        return element("div", {}, element("dt", {}, `${name}: best`), element("dd", {}, order.length > 0 ? TEXT[key](order[0][key]) : NOTHING,
            element("span", {class: "below"}, order.length > 0 ? order[0].title : "no system has this figure"),
            isNumber(ahead) ? element("span", {class: "below"}, `${times(ahead)} ahead of ${order[1].title}`) : null));
    }));
}

// A point for each system on a logarithmic axis, the best first.
function aimChart([key, name, more], rows) {
    const order = ranked(rows, key, more);
    const without = rows.filter((row) => !isNumber(row[key]));
    const reason = key === "latency" ? "a pipeline over images has a time between two of them, no latency" : key === "density" ? withoutDensity(without)
        : `their energies are not known${without.filter((row) => row.system.energy).map((row) => `; ${row.name}: ${row.system.energy}`).join("")}`;
    return chart({
        name: `systems-${key}`, title: order.length > 0 ? `${name}: ${order[0].name} has ${TEXT[key](order[0][key])}` : `${name}: no system has this figure`,
        note: `${more ? "More" : "Less"} is better; the axis is logarithmic.${without.length > 0 ? ` Without: ${without.map((row) => row.name).join(", ")} (${reason}).` : ""}`,
        draw(width, marks) {
            if (order.length === 0) return null;
            const values = order.map((row) => row[key]);
            const low = Math.min(...values) / 1.5, high = Math.max(...values) * 1.5;
            const marginLeft = labelWidth(order.map((row) => row.name), width);
            const marginRight = 92, room = width - marginLeft - marginRight;
            const ticks = fittingTicks(logTicks(low, high, Math.max(2, (width - marginLeft) / 130)), (value) => room * Math.log(value / low) / Math.log(high / low),
                (value) => TEXT[key](value).length);
            return Plot.plot({
                width, height: 40 + 26 * order.length, marginLeft, marginRight, marginTop: 4, marginBottom: 30,
                x: {type: "log", domain: [low, high], axis: null},
                y: {domain: order.map((row) => row.name), label: null, tickSize: 0, tickFormat: (text) => shorten(text, width < 500 ? 16 : 26)},
                marks: [
                    Plot.gridX(ticks), Plot.axisX(ticks, {text: (value) => TEXT[key](value), label: null}),
                    Plot.ruleY(order, {y: "name", x1: low, x2: key, stroke: "var(--line)", strokeWidth: 1.5}),
                    Plot.dot(order, {x: key, y: "name", r: 5, fill: {value: (d) => d === order[0] ? "var(--bad)" : "var(--good)", scale: null}, stroke: "var(--card)",
                        render: tracked(marks, order, (d) => ({title: d.title, rows: [[name, TEXT[key](d[key])],
                            ["of the best", times(more ? d[key] / order[0][key] : d[key] / order[0][key])]]}))}),
                    Plot.text(order, {x: key, y: "name", dx: 10, textAnchor: "start", fill: "var(--text)", text: (d) => TEXT[key](d[key])}),
                ],
            });
        },
    });
}

// Parts of a whole for each system; parts: row -> [{text, colour, value, shown}].
function partsChart({name, title, note, legend, rows, parts}) {
    return chart({name, title, note, legend: [swatches(legend)], draw(width, marks) {
        const data = rows.flatMap((row) => {
            const own = parts(row), whole = own.reduce((sum, part) => sum + part.value, 0);
            let from = 0;
            return own.map((part) => {
                const piece = {row, part, from, to: from + part.value / whole};
                from = piece.to;
                return piece;
            }).filter((piece) => piece.to > piece.from);
        });
        if (data.length === 0) return null;
        return Plot.plot({
            width, height: 36 + 26 * rows.length, marginLeft: labelWidth(rows.map((row) => row.name), width), marginRight: 26, marginTop: 4, marginBottom: 28,
            x: {domain: [0, 1], label: null, tickFormat: (value) => share(value, 0), ticks: 4, grid: true},
            y: {domain: rows.map((row) => row.name), label: null, tickSize: 0, tickFormat: (text) => shorten(text, width < 500 ? 16 : 26)},
            marks: [Plot.barX(data, {x1: "from", x2: "to", y: (d) => d.row.name, fill: {value: (d) => d.part.colour, scale: null}, insetTop: 3, insetBottom: 3,
                render: tracked(marks, data, (d) => ({title: `${d.row.title}: ${d.part.text}`, rows: [["share", share(d.to - d.from)], ...(d.part.shown ?? [])]}))})],
        });
    }});
}

function timeChart(rows) {
    const least = rows.map((row) => {
        const all = Object.values(row.timeBy).reduce((sum, value) => sum + value, 0);
        return {row, busy: (row.timeBy.matrix ?? 0) / all};
    }).filter((one) => isNumber(one.busy)).sort((a, b) => b.busy - a.busy)[0];
    return partsChart({name: "systems-time", rows, legend: SHARES.map(([, text, colour]) => [colour, text]),
        title: least ? `Where the time goes: the units of ${least.row.name} do matrix work for ${share(least.busy, 0)} of it` : "Where the time goes",
        note: "Time of all units, each instant counted once, from the left. A unit is a node, a core, a channel or a tile; one that has no work waits.",
        parts: (row) => SHARES.map(([key, text, colour]) => ({text, colour, value: row.timeBy[key] ?? 0}))});
}

function energyChart(rows) {
    const having = rows.filter((row) => isNumber(row.energy) && row.energies.total > 0);
    const shown = componentsOf(having.map((row) => row.energies));
    return partsChart({name: "systems-energy-parts", rows: having, legend: shown.map(({text, colour}) => [colour, text]), title: "Where the energy goes",
        note: "Energies are those of each system\u2019s configuration: what one counts another may leave out (static power above all), so compare them part by part.",
        parts: (row) => shown.map((component) => ({text: component.text, colour: component.colour, value: energyOf(row.energies, component),
            shown: [["energy of the run", energy(energyOf(row.energies, component))]]}))});
}

function frontChart(rows) {
    const all = rows.filter((row) => isNumber(row.energy) && isNumber(row.throughput)).map((row) => ({row, x: 1e9 / row.throughput, y: row.energy}));
    if (all.length < 2) return null;
    const front = new Set(paretoFront(all.map((one) => [one.x, one.y])));
    all.forEach((one, i) => { one.front = front.has(i); });
    return chart({
        name: "systems-front", title: `On the front of time and energy: ${all.filter((one) => one.front).map((one) => one.row.name).join(", ")}`,
        note: "Time per image (of a pipeline: between two images) against energy, both axes logarithmic. On the front no other system is at least as good in both and better in one.",
        legend: [swatches([["var(--bad)", "on the front"], ["var(--good)", "another system is at least as good in both"]])],
        draw(width, marks) {
            const span = (key) => [Math.min(...all.map((one) => one[key])) / 2, Math.max(...all.map((one) => one[key])) * 1.6];
            const [least, right] = span("x"), [low, high] = span("y");
            // Room on the left for the names of the front, which come first.
            const named = [...all].sort((a, b) => Number(b.front) - Number(a.front));
            const room = Math.min(width / 2, 7 * Math.max(...named.filter((one) => one.front).map((one) => one.row.name.length)));
            const left = least * (right / least) ** (-room / (width - 94 - room));
            const ticksX = logTicks(left, right, width / 120), ticksY = logTicks(low, high, 7);
            const height = Math.min(420, 260 + width / 8), inner = [width - 94, height - 66];
            const along = (value, from, to, pixels) => pixels * Math.log(value / from) / Math.log(to / from);
            const places = placeNames(named.map((one) => ({x: along(one.x, left, right, inner[0]), y: inner[1] - along(one.y, low, high, inner[1]), name: one.row.name})), ...inner);
            const names = named.map((one, i) => [one, places[i]]).filter(([, place]) => place);
            return Plot.plot({
                width, height, marginLeft: 74, marginRight: 20, marginTop: 24, marginBottom: 42,
                x: {type: "log", domain: [left, right], axis: null}, y: {type: "log", domain: [low, high], axis: null},
                marks: [Plot.gridX(ticksX), Plot.gridY(ticksY), Plot.axisX(ticksX, {text: (value) => time(value), label: "Time per image", labelAnchor: "center", labelArrow: "none"}),
                    Plot.axisY(ticksY, {text: (value) => energy(value), label: "Energy per image", labelArrow: "none"}),
                    Plot.dot(all, {x: "x", y: "y", r: 5.5, fill: {value: (d) => d.front ? "var(--bad)" : "var(--good)", scale: null}, stroke: "var(--card)",
                        render: tracked(marks, all, (d) => ({title: d.row.title, rows: [["time per image", time(d.x)], ["energy per image", energy(d.y)], ["on the front", d.front ? "yes" : "no"]]}))}),
                    ...names.map(([one, {dx, dy, anchor}]) => Plot.text([one], {x: "x", y: "y", dx, dy, textAnchor: anchor, text: (d) => d.row.name,
                        fill: one.front ? "var(--text)" : "var(--quiet)", stroke: "var(--card)", strokeWidth: 3}))],
            });
        },
    });
}

function resultTable(rows) {
    const columns = ["System", "Latency", "Images/s", "Energy", "Of peak", "Estimate", "Images/s\u00b7mm\u00b2", "At 28 nm"];
    return element("div", {class: "card", "data-chart": "systems-figures"}, element("h3", {}, "All figures, raw and normalised"),
        table("Systems that took the network", columns.map((title, i) => ({title: breakable(title), number: i > 0})), rows.map((row) => [row.name, time(row.latency), figure(row.throughput, 4), energy(row.energy),
            share(row.utilization), element("span", {class: isNumber(row.estimateError) && Math.abs(row.estimateError) > 10 ? "outside" : null}, signedPercent(row.estimateError)),
            figure(row.density, 4), energy(row.energy28)]), true),
        element("p", {class: "note"}, "Energy is of an image. Of peak: multiply-accumulates of the network against what the system could do in the time. Estimate: the mapper\u2019s, less the simulation. " +
            "The last two columns are normalised: images per second and mm\u00b2 of 28 nm, energy of an image at 28 nm."));
}

function refusedCard(refused) {
    if (refused.length === 0) return null;
    return element("div", {class: "card", "data-chart": "systems-refused"}, element("h3", {}, "Who cannot take it, and why"),
        table("What the mapper or the run said", [{title: "System"}, {title: "Reason"}],
            refused.map(({system, error, status}) => [system.title, status === "bad input" || status === "wrong usage" ? error : `${status}: ${error}`])));
}

function areaText(system) {
    if (!isNumber(system.area_mm2)) return [`${NOTHING}: `, system.area || "no figure is named"];
    const spread = system.area_low_mm2 < system.area_high_mm2 ? ` (${figure(system.area_low_mm2, 3)} to ${figure(system.area_high_mm2, 3)})` : "";
    return [`${figure(system.area_mm2, 3)}\u00a0mm\u00b2${spread}: `, system.area || "closed forms, logic alone"];
}

function systemTable(sweep) {
    const rows = sweep.systems.filter((system, i, all) => all.findIndex((one) => one.name === system.name) === i);
    return element("div", {class: "card", "data-chart": "systems-terms"}, element("h3", {}, "What the systems are"),
        table("From configurations and the list of systems", [{title: "System"}, {title: "Peak", number: true}, {title: "Operands", number: true}, {title: "Weights", number: true},
            {title: "Buffers", number: true}, {title: "Area", wide: true}, {title: "Technology", wide: true}], rows.map((system) => [`${system.title} (${system.name})`, si(system.peak_macs_per_second, "MAC/s", 3),
            `${integer(system.bits)} bits`, bytes(system.weight_bytes), bytes(system.buffer_bytes), areaText(system),
            `${isNumber(system.technology_nm) ? `${figure(system.technology_nm)}\u00a0nm` : NOTHING}: ${system.technology}`]), true),
        element("p", {class: "note"}, sweep.rule ?? ""));
}

function section(one, alone) {
    const {network, rows, refused} = one;
    const all = rows.length + refused.length;
    return [alone ? null : element("h2", {}, network ?? "A network"),
        element("p", {}, `${integer(rows.length)} of ${integer(all)} systems take ${network ?? "the network"}${isNumber(rows[0]?.macs) ? ` (${compact(rows[0].macs, 4)} multiply-accumulates an image)` : ""}.`),
        ...(rows.length > 0 ? [tiles(one),
            element("div", {class: "pair"}, AIMS.map((aim) => aimChart(aim, rows).node)),
            frontChart(rows)?.node,
            element("div", {class: "pair"}, timeChart(rows).node, rows.some((row) => row.energies.total > 0 && isNumber(row.energy)) ? energyChart(rows).node : null),
            resultTable(rows)] : []),
        refusedCard(refused)];
}

export function systemsArticle(entry) {
    const sweep = entry.result;
    const networks = readSystems(sweep);
    const left = sweep.total - sweep.points.length;
    return {lead: `${networks.map((one) => one.network).join(", ")} on ${integer(new Set(sweep.systems.map((system) => system.name)).size)} systems. pimsim ${sweep.pimsim ?? "of unknown version"}.`,
        body: [left > 0 ? element("p", {class: "warning"}, `${integer(left)} of ${integer(sweep.total)} runs are missing: it had not finished.`) : null,
            ...networks.flatMap((one) => section(one, networks.length === 1)), systemTable(sweep)]};
}
