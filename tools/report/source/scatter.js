// A sweep in two more ways: a metric against another one with the Pareto front, and a metric over two axes as a heat map.
import * as Plot from "@observablehq/plot";
import {chart, ramp, swatches, tracked} from "./chart.js";
import {choice} from "./dom.js";
import {energy, figure, integer, isNumber, tickText, time, unit} from "./format.js";
import {paretoFront} from "./pareto.js";

const GREATER_IS_BETTER = new Set(["throughput"]);
const CLASSES = 8;

const text = (metric, value) => metric.unit === "pJ" ? energy(value) : metric.unit === "ns" ? time(value) : unit(figure(value, 5), metric.unit);
// Ticks that no two values of an axis share, of the values that are drawn.
const tickOf = (metric, values) => tickText(metric, Math.min(...values), Math.max(...values));
const axisText = (metric) => metric.unit && !["pJ", "ns"].includes(metric.unit) ? `${metric.name} (${metric.unit})` : metric.name;
const nameOf = (data, point) => data.axes.map((axis) => `${axis.short} = ${axis.of(point)}`).join(", ") || `point ${point.id}`;

export function scatterChart(data) {
    const find = (...names) => names.map((name) => data.metrics.find((metric) => metric.name === name)).find(Boolean);
    const state = {x: find("cycles", "time_ns") ?? data.metrics[0], y: find("energy_pj.total") ?? data.metrics[1]};
    const sign = (metric) => GREATER_IS_BETTER.has(metric.name) ? -1 : 1;
    const items = () => {
        const all = data.done.map((point) => ({point, x: state.x.of(point), y: state.y.of(point)})).filter((one) => isNumber(one.x) && isNumber(one.y));
        const front = new Set(paretoFront(all.map((one) => [sign(state.x) * one.x, sign(state.y) * one.y])));
        return all.map((one, i) => ({...one, front: front.has(i)}));
    };
    const title = () => {
        const all = items(), front = all.filter((one) => one.front).length;
        return `${integer(front)} of ${integer(all.length)} points are on the Pareto front of ${state.x.name} and ${state.y.name}`;
    };
    const metrics = data.metrics.map((metric) => [metric.name, metric.name]);
    const changed = () => {
        made.setTitle(title());
        made.redraw();
    };
    const set = (key) => (name) => {
        state[key] = data.metrics.find((metric) => metric.name === name);
        changed();
    };
    const made = chart({
        name: "pareto", title: title(), legend: [swatches([["var(--bad)", "on the front"], ["var(--quiet)", "another point is at least as good in both"]])],
        controls: [choice("Metric", metrics, state.y.name, set("y")), choice("against", metrics, state.x.name, set("x"))],
        note: "Less is better, of throughput more. On the front no point is better in one metric without being worse in the other; it is the front of the points that ran.",
        draw(width, marks) {
            const all = items();
            if (all.length === 0) return null;
            const front = all.filter((one) => one.front).sort((a, b) => a.x - b.x || a.y - b.y);
            return Plot.plot({
                width, height: Math.min(420, 240 + width / 6), marginLeft: 72, marginRight: 20, marginBottom: 46, marginTop: 26,
                x: {label: axisText(state.x), tickFormat: tickOf(state.x, all.map((one) => one.x)), ticks: Math.max(2, width / 150), grid: true, labelAnchor: "center", labelArrow: "none", nice: true, inset: 8},
                y: {label: axisText(state.y), tickFormat: tickOf(state.y, all.map((one) => one.y)), ticks: 6, grid: true, labelArrow: "none", nice: true, inset: 8},
                marks: [
                    Plot.line(front, {x: "x", y: "y", stroke: "var(--bad)", strokeWidth: 1.25, curve: sign(state.x) > 0 ? "step-after" : "step-before"}),
                    Plot.dot(all, {x: "x", y: "y", r: (d) => d.front ? 5 : 3.5, fill: {value: (d) => d.front ? "var(--bad)" : "var(--quiet)", scale: null}, fillOpacity: 0.85,
                        stroke: "var(--card)", strokeWidth: 0.75, sort: "front",
                        render: tracked(marks, all, (d) => ({title: nameOf(data, d.point), rows: [[state.x.name, text(state.x, d.x)], [state.y.name, text(state.y, d.y)],
                            ["on the front", d.front ? "yes" : "no"]]}))}),
                ],
            });
        },
    });
    return made;
}

// state: what the curves show (metric, axis, series, filters); drawn when two axes vary.
export function heatChart(data, state) {
    const shown = () => state.shown(state.metric);
    const cells = () => {
        const {axis, series, filters} = state, metric = shown();
        if (!series) return [];
        return data.done.filter((point) => [...filters].every(([other, key]) => other.of(point) === key))
            .map((point) => ({point, x: axis.of(point), y: series.of(point), value: metric.of(point)})).filter((one) => isNumber(one.value));
    };
    const bounds = (all) => {
        const values = all.map((one) => one.value), low = Math.min(...values), high = Math.max(...values);
        return {low, step: (high - low) / CLASSES || 1};
    };
    const classOf = ({low, step}, value) => Math.min(CLASSES - 1, Math.floor((value - low) / step));
    const title = () => {
        const all = cells();
        if (all.length === 0) return "Two axes as a map: choose curves above";
        const best = all.reduce((one, other) => (other.value < one.value) !== GREATER_IS_BETTER.has(state.metric.name) ? other : one);
        return `${shown().name} over ${state.axis.short} and ${state.series.short}: best ${text(shown(), best.value)} at ${state.axis.short} = ${best.x}, ${state.series.short} = ${best.y}`;
    };
    const legend = () => {
        const all = cells();
        if (all.length === 0) return [];
        const {low, step} = bounds(all), tick = tickOf(shown(), all.map((one) => one.value));
        return [ramp(axisText(shown()), "cool", Array.from({length: CLASSES}, (_, i) => low + step * (i + 1)), (value) => tick(value === 0 ? low : value))];
    };
    const made = chart({
        name: "heat", title: title(), legend: legend(), note: "The metric, axes and fixed values are those that are chosen for the curves. Eight classes of equal size from the least to the most.",
        draw(width, marks) {
            const all = cells();
            if (all.length === 0) return null;
            const range = bounds(all), rows = state.series.values.length, columns = state.axis.values.length;
            return Plot.plot({
                width, height: Math.min(560, 70 + rows * Math.max(22, Math.min(44, (width - 100) / columns))), marginLeft: 90, marginBottom: 46, marginTop: 8, marginRight: 12,
                x: {domain: state.axis.values.map((value) => value.label), label: state.axis.name, labelAnchor: "center", labelArrow: "none", tickSize: 0, padding: 0.04},
                y: {domain: state.series.values.map((value) => value.label), label: state.series.name, labelArrow: "none", tickSize: 0, padding: 0.04},
                marks: [Plot.cell(all, {x: "x", y: "y", fill: {value: (d) => `var(--cool-${classOf(range, d.value)})`, scale: null}, stroke: "var(--node-edge)", strokeWidth: 0.5,
                    render: tracked(marks, all, (d) => ({title: nameOf(data, d.point), rows: [[shown().name, text(shown(), d.value)]]}))})],
            });
        },
    });
    state.listeners.push(() => {
        made.setTitle(title());
        made.setLegend(...legend());
        made.redraw();
    });
    return made;
}
