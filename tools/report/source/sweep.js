// A sweep: any metric against any axis, the knee marked; four headline metrics at a glance; estimates; points.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {convergenceChart} from "./convergence.js";
import {choice, element, table} from "./dom.js";
import {estimateChart, worstTable} from "./estimate.js";
import {energy, figure, integer, isNumber, tickText, time, unit} from "./format.js";
import {LEAST_DISTANCE, LEAST_POINTS, findKnee} from "./knee.js";
import {SERIES} from "./palette.js";
import {heatChart, scatterChart} from "./scatter.js";
import {curves, endOf, readSweep, relativeTo} from "./sweep-data.js";

const SYMBOLS = ["circle", "diamond", "square", "triangle", "star", "cross", "wye"];
const TABLE_ROWS = 500;
const BASELINES = 16; // values of an axis that can be one

const axisName = (metric) => ["pJ", "ns", ""].includes(metric.unit) ? metric.name : `${metric.name} (${metric.unit})`;

const metricText = (metric, value) => metric.unit === "pJ" ? energy(value) : metric.unit === "ns" ? time(value)
    : unit(figure(value, 5), metric.unit);
const plain = (metric, value) => ["pJ", "ns"].includes(metric.unit) ? metricText(metric, value) : figure(value, 5);
const KNEE_NOTE = `Knee: the point farthest from the straight line between the first and the last point, both axes as drawn and scaled to 0..1; ` +
    `marked on curves of at least ${LEAST_POINTS} points that only rise or only fall, from a distance of ${LEAST_DISTANCE} on.`;

function knees(lines, axis) {
    return lines.flatMap((line, i) => {
        const at = axis.numeric ? findKnee(line.points.map((point) => [point.x, point.y]), axis.logarithmic) : -1;
        return at < 0 ? [] : [{...line.points[at], name: line.name, i}];
    });
}

function xScale(axis, width) {
    const label = `${axis.name}${axis.unit ? ` (${axis.unit})` : ""}`;
    const common = {label, labelOffset: 38, labelAnchor: "center", labelArrow: "none"};
    if (!axis.numeric) return {...common, type: "point", domain: axis.values.map((value) => value.label), padding: 0.5};
    const numbers = axis.values.map((value) => value.number);
    const room = Math.max(2, Math.floor(width / 46));
    const ticks = numbers.length <= room ? numbers : numbers.filter((_, i) => i % Math.ceil(numbers.length / room) === 0);
    return {...common, type: axis.logarithmic ? "log" : "linear", ticks};
}

// Whether some curve lies on another one for half of its points or more: then earlier ones are drawn wider.
function overlap(lines, range) {
    return lines.some((line, i) => lines.slice(i + 1).some((other) => {
        const same = line.points.filter((point) => other.points.some((one) => one.x === point.x && Math.abs(one.y - point.y) <= 0.01 * range));
        return same.length > 0 && 2 * same.length >= line.points.length;
    }));
}

// Points whose search was beaten are hollow.
function drawCurves({data, lines, metric, axis, series, small}, width, marks) {
    const hollow = (d) => data.beaten(d.point);
    const points = lines.flatMap((line, i) => line.points.map((point) => ({...point, i, name: line.name})));
    if (points.length === 0) return null;
    const found = knees(lines, axis);
    const values = points.map((point) => point.y);
    const low = Math.min(...values), high = Math.max(...values);
    const fromZero = low >= 0 && low < 0.7 * high || high === low;
    const spare = (high - low) * 0.08;
    const colour = (d) => SERIES[d.i % SERIES.length];
    const ticks = tickText(metric, fromZero ? 0 : low, high);
    const marginLeft = Math.max(52, 18 + 6.8 * Math.max(ticks(low).length, ticks((low + high) / 2).length));
    const scale = xScale(axis, width - marginLeft - 18);
    const hidden = overlap(lines, high - low);
    const wide = (d) => hidden ? Math.max(0, Math.min(lines.length, 4) - 1 - d.i) : 0;
    const top = Math.max(...found.map((knee) => knee.y)), bottom = Math.min(...found.map((knee) => knee.y));
    const outer = found.filter((knee) => knee.y === top || knee.y === bottom); // the ring alone marks those between, and others at the same place
    const named = outer.filter((knee, i) => outer.findIndex((other) => other.x === knee.x && other.y === knee.y) === i);
    return Plot.plot({
        width, height: small ? 210 : Math.min(420, 220 + width / 5), marginLeft, marginRight: 18, marginBottom: 46, marginTop: 28,
        x: {...scale, axis: axis.numeric ? null : undefined},
        y: {label: axisName(metric), tickFormat: ticks, grid: true, ticks: small ? 4 : 6, labelArrow: "none", nice: fromZero,
            domain: fromZero ? [Math.min(0, low), high > 0 ? high : 1] : [low - spare, high + spare]},
        symbol: {domain: SYMBOLS.map((_, i) => i), range: SYMBOLS},
        marks: [
            fromZero ? Plot.ruleY([0], {stroke: "var(--line)"}) : null,
            axis.numeric ? Plot.axisX(scale.ticks, {text: (value) => figure(value, 4), label: scale.label, labelOffset: 38, labelAnchor: "center", labelArrow: "none"}) : null,
            Plot.line(points, {x: "x", y: "y", z: "i", stroke: {value: colour, scale: null}, strokeWidth: {value: (d) => 2 + 2.5 * wide(d), scale: null}}),
            Plot.dot(found, {x: "x", y: "y", r: small ? 8 : 10, stroke: {value: colour, scale: null}, strokeWidth: 1.5, strokeDasharray: "3 2"}),
            ...(small ? [] : [-18, 20].map((dy) => Plot.text(named.filter((knee) => (knee.y === top) === (dy < 0)), {x: "x", y: "y", text: () => "knee", dy,
                fill: {value: colour, scale: null}, fontWeight: 600, stroke: "var(--card)", strokeWidth: 4}))),
            Plot.dot(points, {x: "x", y: "y", r: {value: (d) => (small ? 3 : 4) + 1.5 * wide(d), scale: null}, symbol: (d) => d.i % SYMBOLS.length,
                fill: {value: (d) => hollow(d) ? "var(--card)" : colour(d), scale: null}, stroke: {value: (d) => hollow(d) ? colour(d) : "var(--card)", scale: null},
                strokeWidth: {value: (d) => hollow(d) ? 2 : 0.75, scale: null},
                render: tracked(marks, points, (d) => ({title: `${axis.short} = ${d.label}`, rows: [
                    ...(series ? [[series.short, d.name]] : []), [metric.name, metricText(metric, d.y)],
                    ...(found.some((knee) => knee.point === d.point) ? [["knee", "here"]] : []),
                    ...(data.searchOf(d.point) ? [["search", data.searchOf(d.point)]] : []), ["point", integer(d.point.id)]]}))}),
        ],
    });
}

function curveTitle({lines, metric, axis, series}) {
    const found = knees(lines, axis);
    if (lines.length === 0) return `${metric.name}: no points for this choice`;
    const all = lines.flatMap((line) => line.points);
    const best = all.reduce((one, other) => other.y < one.y ? other : one), most = all.reduce((one, other) => other.y > one.y ? other : one);
    const range = `${metric.name}: ${plain(metric, best.y)} to ${metricText(metric, most.y)}`;
    if (found.length === 0) return range;
    if (found.length === 1 && lines.length === 1) return `${range}; the knee of ${metric.name} over ${axis.short} is at ${found[0].label}`;
    if (found.length === lines.length && new Set(found.map((knee) => knee.label)).size === 1)
        return `${range}; the knee of ${metric.name} over ${axis.short}, of all curves, is at ${found[0].label}`;
    return `${range}; knees at ${found.slice(0, 4).map((knee) => `${knee.label} (${series.short} = ${knee.name})`).join(", ")}${found.length > 4 ? ", \u2026" : ""}`;
}

const HOLLOW = "hollow: the point\u2019s own search was beaten, another program runs";
const legendOf = ({data, lines, series}) => [
    ...(series && lines.length > 0 ? [swatches(lines.map((line, i) => [SERIES[i % SERIES.length], `${series.short} = ${line.name}`]))] : []),
    ...(lines.some((line) => line.points.some((d) => data.beaten(d.point)))
        ? [element("ul", {class: "swatches", "aria-label": "Markers"}, element("li", {}, element("span", {class: "swatch hollow"}), HOLLOW))] : [])];

// The choices that the charts of a sweep share, and what to do when one changes.
function explore(data) {
    const state = {metric: data.metrics[0], baseline: "", axis: data.axes.find((axis) => axis.numeric) ?? data.axes[0], series: null, filters: new Map(),
                   listeners: []};
    const others = () => data.axes.filter((axis) => axis !== state.axis && axis !== state.series);
    const settle = () => {
        if (state.series === state.axis) state.series = null;
        const kept = state.filters;
        state.filters = new Map(others().map((axis) => [axis, kept.get(axis) ?? axis.values[0].key]));
    };
    state.series = data.axes.filter((axis) => axis !== state.axis).sort((a, b) => a.values.length - b.values.length)
        .find((axis) => axis.values.length <= SERIES.length) ?? null;
    settle();
    const place = element("div", {class: "controls"});
    const changed = (focus) => {
        settle();
        fill();
        place.querySelectorAll("select")[focus]?.focus();
        state.listeners.forEach((listener) => listener());
    };
    function fill() {
        const named = (axis) => [axis.name, axis.name];
        place.replaceChildren(
            choice("Metric", data.metrics.map((metric) => [metric.name, metric.name]), state.metric.name, (name) => {
                state.metric = data.metrics.find((metric) => metric.name === name);
                changed(0);
            }),
            choice("against", data.axes.map(named), state.axis.name, (name) => {
                state.axis = data.axes.find((axis) => axis.name === name);
                changed(1);
            }),
            choice("Curves", [["", "one"], ...data.axes.filter((axis) => axis !== state.axis).map(named)], state.series?.name ?? "", (name) => {
                state.series = data.axes.find((axis) => axis.name === name) ?? null;
                changed(2);
            }),
            choice("relative to", [["", "nothing"], ...data.axes.flatMap((axis, i) => axis.values.slice(0, BASELINES)
                .map((value) => [`${i} ${value.key}`, `${axis.short} = ${value.label}`]))], state.baseline, (value) => {
                state.baseline = value;
                changed(3);
            }),
            ...[...state.filters].map(([axis, key], i) => choice(axis.name, axis.values.map((value) => [value.key, value.label]), key, (value) => {
                state.filters.set(axis, value);
                changed(4 + i);
            })));
    }
    fill();
    state.controls = place;
    state.shown = (metric) => {
        const [place] = state.baseline.split(" ", 1);
        return state.baseline ? relativeTo(data, metric, data.axes[Number(place)], state.baseline.slice(place.length + 1)) : metric;
    };
    state.view = (metric) => ({data, metric, axis: state.axis, series: state.series,
        lines: curves(data, metric, state.axis, state.series, state.filters).slice(0, 24)});
    return state;
}

function curveChart(state, metricOf, small) {
    const view = () => state.view(state.shown(metricOf()));
    const first = view();
    const made = chart({
        name: small ? "curve-small" : "curve", title: small ? first.metric.name : curveTitle(first), legend: small ? [] : legendOf(first),
        controls: small ? null : [state.controls], note: small ? null : KNEE_NOTE,
        draw: (width, marks) => drawCurves({...view(), small}, width, marks),
    });
    state.listeners.push(() => {
        made.setTitle(small ? view().metric.name : curveTitle(view()));
        if (!small) {
            made.setLegend(...legendOf(view()));
        }
        made.redraw();
    });
    return made;
}

function pointTable(data, all) {
    const metrics = ["cycles", "time_ns", "throughput", "energy_pj.total", "estimate_error_percent", "noc.average_packet_latency"]
        .map((name) => data.metrics.find((metric) => metric.name === name)).filter(Boolean);
    const searches = all.some((point) => data.searchOf(point));
    const rows = all.slice(0, TABLE_ROWS).map((point) => [integer(point.id), ...data.axes.map((axis) => axis.of(point)),
        endOf(data, point), ...(searches ? [data.searchOf(point) ?? ""] : []), ...metrics.map((metric) => point.status === "done" ? figure(metric.of(point), 5) : "")]);
    return element("details", {}, element("summary", {}, `All ${integer(all.length)} points as a table`),
        element("div", {class: "card"}, table(all.length > TABLE_ROWS ? `The first ${integer(TABLE_ROWS)} points` : "Points",
            [{title: "Point", number: true}, ...data.axes.map((axis) => ({title: axis.name, number: axis.numeric})), {title: "Status"},
             ...(searches ? [{title: "Search"}] : []), ...metrics.map((metric) => ({title: `${metric.name}${metric.unit ? ` (${metric.unit})` : ""}`, number: true}))], rows)));
}

function tiles(sweep, data) {
    const cycles = data.metrics.find((metric) => metric.name === "cycles");
    const best = cycles && data.done.filter((point) => isNumber(cycles.of(point)))
        .reduce((one, other) => !one || cycles.of(other) < cycles.of(one) ? other : one, null);
    const settings = best ? data.axes.map((axis) => `${axis.short} = ${axis.of(best)}`).join(", ") : "";
    const items = [
        ["Points", `${integer(sweep.points.length - data.failed.length)} of ${integer(sweep.total)}`, data.failed.length ? `${integer(data.failed.length)} failed` : "none failed"],
        ["Axes", integer(data.axes.length), data.axes.map((axis) => `${axis.short}: ${axis.values.length} values`).join(", ")],
    ];
    if (best) items.push(["Fewest cycles", integer(cycles.of(best)), settings]);
    return element("dl", {class: "tiles"}, items.map(([name, value, below]) => element("div", {},
        element("dt", {}, name), element("dd", {}, value, element("span", {class: "below"}, below)))));
}

export function sweepArticle(entry) {
    const sweep = entry.result;
    const data = readSweep(sweep);
    const body = [tiles(sweep, data)];
    if (sweep.total > sweep.points.length)
        body.push(element("p", {class: "warning"}, `${integer(sweep.total - sweep.points.length)} of ${integer(sweep.total)} points are missing: ` +
            "the sweep had not finished."));
    if (data.stopped.size > 0)
        body.push(element("p", {class: "warning"}, `${integer(data.stopped.size)} points were stopped before their end (--until): their figures cover the part before. ` +
            "They are not compared, and stand in the table of points alone."));
    if (data.failed.length > 0)
        body.push(element("div", {class: "card"}, element("h3", {}, data.failed.length === 1 ? "1 point failed" : `${integer(data.failed.length)} points failed`),
            table("Points that failed, and why", [{title: "Point"}, ...data.axes.map((axis) => ({title: axis.name})), {title: "Status"}, {title: "Message", wide: true}],
                data.failed.slice(0, 20).map((point) => [integer(point.id), ...data.axes.map((axis) => axis.of(point)), point.status, point.error ?? ""]), true)));
    if (data.done.length > 0 && data.axes.length > 0 && data.metrics.length > 0) {
        const state = explore(data);
        body.push(convergenceChart(data)?.node);
        body.push(curveChart(state, () => state.metric, false).node);
        const few = ["throughput", "energy_pj.total", "noc.link_utilization_mean", "noc.average_packet_latency"]
            .map((name) => data.metrics.find((metric) => metric.name === name)).filter(Boolean);
        if (data.axes.length > 1) body.push(heatChart(data, state).node);
        if (data.metrics.length > 1 && data.done.length > 2) body.push(scatterChart(data).node);
        if (few.length > 0) body.push(element("div", {class: "pair"}, few.map((metric) => curveChart(state, () => metric, true).node)));
    }
    const cycles = data.metrics.find((metric) => metric.name === "cycles"), estimate = data.metrics.find((metric) => metric.name === "estimate_cycles");
    const without = estimate ? data.done.filter((point) => !isNumber(estimate.of(point))).length : data.done.length;
    if (cycles && without > 0)
        body.push(element("p", {class: "note", "data-chart": "without-estimate"}, `${without === data.done.length ? "No point has" : `${integer(without)} of ${integer(data.done.length)} points do not have`} an estimate: ` +
            "their traces were mapped for another hardware than the points are, or have none. With networks and mapping = \"own\" every point runs what is mapped, and estimated, for its own."));
    const beaten = data.metrics.find((metric) => metric.name === "search_beaten");
    const places = beaten ? data.done.filter((point) => beaten.of(point) === 1) : [];
    if (places.length > 0)
        body.push(element("p", {class: "note", "data-chart": "search-beaten"}, `The mapper\u2019s search was beaten at ${integer(places.length)} of ${integer(data.done.length)} points, which run another program (search_cycles: what that of their own search takes): ` +
            `${places.slice(0, 12).map((point) => data.axes.map((axis) => `${axis.short} = ${axis.of(point)}`).join(", ")).join("; ")}${places.length > 12 ? "; ..." : ""}.`));
    if (cycles && estimate) {
        const items = data.done.filter((point) => isNumber(estimate.of(point))).map((point) => ({cycles: cycles.of(point), estimate: estimate.of(point),
            name: data.axes.map((axis) => `${axis.short} = ${axis.of(point)}`).join(", ") || `point ${point.id}`}));
        body.push(element("div", {class: "pair"}, estimateChart(items, "points").node, worstTable(items, "points")));
    }
    body.push(pointTable(data, sweep.points));
    const names = [sweep.name, [...new Set(sweep.points.map((point) => [point.network, point.mapper, point.trace].filter(Boolean).join(", ")))].slice(0, 6).join("; ")];
    return {lead: `Sweep: ${names.filter(Boolean).join(". ")}. pimsim ${sweep.pimsim ?? "of unknown version"}.`, body};
}
