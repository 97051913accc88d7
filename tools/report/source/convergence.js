// A search: the cost of each iteration, and of the best so far.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {figure, integer} from "./format.js";
import {bestSoFar} from "./sweep-data.js";

// null for a sweep that is no search.
export function convergenceChart(data) {
    const cost = data.metrics.find((metric) => metric.name === "tune.cost"), axis = data.axes.find((one) => one.short === "iteration");
    if (!cost || !axis) return null;
    const steps = bestSoFar(data.done.map((point) => ({x: Number(axis.of(point)), cost: cost.of(point)})));
    if (steps.length < 2) return null;
    const last = steps[steps.length - 1], found = steps.find((step) => step.cost === last.best);
    const low = last.best, high = Math.max(...steps.map((step) => step.cost));
    const logarithmic = low > 0 && high / low >= 8;
    return chart({
        name: "convergence", title: `The best cost, ${figure(last.best)}, was found in iteration ${integer(found.x)}, the last is ${integer(last.x)}; the first was ${figure(steps[0].cost / last.best)} times that`,
        legend: [swatches([["var(--series-0)", "best so far"], ["var(--quiet)", "an iteration"]])],
        note: `Less is better${logarithmic ? "; the axis of costs is logarithmic" : ""}. Iterations that failed have no cost.`,
        draw(width, marks) {
            return Plot.plot({
                width, height: Math.min(340, 200 + width / 6), marginLeft: 60, marginRight: 18, marginTop: 26, marginBottom: 42,
                x: {label: "iteration", labelAnchor: "center", labelArrow: "none", ticks: Math.min(last.x - steps[0].x, Math.max(3, width / 90)), tickFormat: (value) => Number.isInteger(value) ? integer(value) : ""},
                y: {label: "cost", type: logarithmic ? "log" : "linear", grid: true, labelArrow: "none", ticks: 5, tickFormat: (value) => figure(value, 3)},
                marks: [
                    Plot.line(steps, {x: "x", y: "best", curve: "step-after", stroke: "var(--series-0)", strokeWidth: 2}),
                    Plot.dot(steps, {x: "x", y: "cost", r: 3, fill: "var(--quiet)",
                        render: tracked(marks, steps, (step) => ({title: `iteration ${integer(step.x)}`, rows: [["cost", figure(step.cost, 5)], ["best so far", figure(step.best, 5)]]}))}),
                ],
            });
        },
    });
}
