// Estimate against simulation: a scatter with the band of 10 %, and where they differ most.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {breakable, element, table} from "./dom.js";
import {compact, cycles, integer, share, signedPercent} from "./format.js";
import {logTicks} from "./geometry.js";

const BAND = 0.1;
const error = (item) => (item.estimate - item.cycles) / item.cycles;
const nearEquations = (item) => Math.abs(item.equations - item.cycles) <= (BAND + 1e-12) * item.cycles;
const ofEquations = (item) => item.equations > 0 ? [["published equations", cycles(item.equations)],
    ["error of the equations", signedPercent(100 * (item.equations - item.cycles) / item.cycles)]] : [];
export const inBand = (item) => Math.abs(error(item)) <= BAND + 1e-12;

// items: [{name, cycles, estimate, equations}]; what: "phases" or "points". Equations, where the mapper's publication has some
// for a phase, are crosses beside the estimates.
export function estimateChart(all, what, extra) {
    const items = all.filter((item) => item.cycles > 0 && item.estimate > 0);
    const published = all.filter((item) => item.cycles > 0 && item.equations > 0);
    const inside = items.filter(inBand);
    const time = items.reduce((total, item) => total + item.cycles, 0);
    const insideTime = inside.reduce((total, item) => total + item.cycles, 0);
    const left = all.length - items.length;
    const title = items.length === 0 ? `No ${what} with an estimate`
        : `${integer(inside.length)} of ${integer(items.length)} ${what} are within 10 % of the estimate` +
            (what === "phases" ? `; they are ${share(insideTime / time, 0)} of the time` : "");
    return chart({
        name: "estimate", title,
        legend: [swatches([["var(--good)", "within 10 %"], ["var(--bad)", "outside"], ...(published.length > 0 ? [["var(--quiet)", "published equations (crosses)"]] : [])])],
        note: "Both axes are logarithmic. Line: estimate = simulation; band: 10 % to both sides. Above it the mapper expected more than came." +
            (published.length > 0 ? ` Crosses: what the equations of the mapper\u2019s publication say; ${integer(published.filter(nearEquations).length)} of ` +
                `${integer(published.length)} ${what} that they have terms for are within 10 % of them.` : "") +
            (left > 0 ? ` ${integer(left)} ${what} with an estimate or a time of 0 are left out.` : ""),
        draw(width, marks) {
            if (items.length === 0) return null;
            const values = items.flatMap((item) => [item.cycles, item.estimate, ...(item.equations > 0 ? [item.equations] : [])]);
            const low = Math.min(...values) * 0.8, high = Math.max(...values) * 1.25;
            const edge = [low, high].map((value) => ({x: value, low: value * (1 - BAND), high: value * (1 + BAND)}));
            const size = Math.min(width, 520);
            const ticksX = logTicks(low, high, width / 70), ticksY = logTicks(low, high, 9);
            const axis = {type: "log", domain: [low, high], axis: null};
            return Plot.plot({
                width, height: Math.max(300, size * 0.86), marginLeft: 54, marginBottom: 42, marginRight: 14, marginTop: 26,
                x: axis, y: axis,
                symbol: {domain: ["inside", "outside"], range: ["circle", "diamond"]},
                marks: [
                    Plot.gridX(ticksX), Plot.gridY(ticksY),
                    Plot.axisX(ticksX, {text: compact, label: "Simulated (logic cycles)", labelAnchor: "center", labelArrow: "none"}),
                    Plot.axisY(ticksY, {text: compact, label: "Estimated (logic cycles)", labelArrow: "none"}),
                    Plot.areaY(edge, {x: "x", y1: "low", y2: "high", fill: "var(--band)", clip: true}),
                    Plot.line(edge, {x: "x", y: "x", stroke: "var(--quiet)", strokeWidth: 1, clip: true}),
                    Plot.dot(published, {x: "cycles", y: "equations", symbol: "times", r: 3, stroke: "var(--quiet)", strokeWidth: 1, ariaHidden: "true"}),
                    Plot.dot(items, {x: "cycles", y: "estimate", r: items.length > 400 ? 3 : 4, symbol: (d) => inBand(d) ? "inside" : "outside",
                        fill: {value: (d) => inBand(d) ? "var(--good)" : "var(--bad)", scale: null}, fillOpacity: 0.75, stroke: "var(--card)", strokeWidth: 0.75,
                        render: tracked(marks, items, (d) => ({title: d.name, rows: [["simulated", cycles(d.cycles)], ["estimated", cycles(d.estimate)],
                            ["error of the estimate", signedPercent(100 * error(d))], ...ofEquations(d), ...(extra?.(d) ?? [])]}))}),
                ],
            });
        },
    });
}

export function worstTable(items, what, rows = 10) {
    const worst = items.filter((item) => item.estimate > 0)
        .sort((a, b) => Math.abs(b.estimate - b.cycles) - Math.abs(a.estimate - a.cycles)).slice(0, rows);
    if (worst.length === 0) return null;
    return element("div", {class: "card", "data-chart": "worst"},
        element("h3", {}, `Where estimate and simulation differ most`),
        table(`The ${integer(worst.length)} ${what} with the largest difference in cycles`,
            [{title: what === "phases" ? "Phase" : "Point"}, {title: "Simulated", number: true}, {title: "Estimated", number: true},
             {title: "Difference", number: true}, {title: "Error", number: true}],
            worst.map((item) => [breakable(item.name), integer(item.cycles), integer(item.estimate),
                (item.estimate > item.cycles ? "+" : item.estimate < item.cycles ? "\u2212" : "") + integer(Math.abs(item.estimate - item.cycles)),
                element("span", {class: inBand(item) ? null : "outside"}, item.cycles > 0 ? signedPercent(100 * error(item)) : "n/a")]), true),
        element("p", {class: "note"}, "In logic cycles. Difference and error: estimate less simulation; the error is in percent of the simulation."));
}
