// Where the time goes: stacked bars by step, and phase after phase.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {compact, cycles, integer, share, shorten, signedPercent} from "./format.js";
import {SHARES} from "./palette.js";

const legend = () => swatches(SHARES.map(([, text, colour]) => [colour, text]));

// One piece for each share of each bar, laid end to end.
function pieces(bars) {
    return bars.flatMap((bar) => {
        let at = 0;
        return bar.parts.map((part, i) => {
            const piece = {bar, i, from: at, to: at + part, colour: SHARES[i][2]};
            at += part;
            return piece;
        }).filter((piece) => piece.to > piece.from);
    });
}

function describe(piece, whole) {
    const {bar} = piece;
    return {title: bar.name, rows: [
        [SHARES[piece.i][1], `${integer(Math.round(piece.to - piece.from))} (${share((piece.to - piece.from) / bar.cycles)})`],
        ["time of the bar", `${cycles(bar.cycles)} (${share(bar.cycles / whole)})`],
        ...(bar.estimate > 0 ? [["estimate", cycles(bar.estimate)],
            ["estimate against it", signedPercent(100 * (bar.estimate - bar.cycles) / bar.cycles)]] : []),
        bar.phases ? ["phases", integer(bar.phases)] : ["units", integer(bar.units)]]};
}

// What stands for the estimate, where there is one.
const estimated = (bars, mark) => bars.some((bar) => bar.estimate > 0) ? ` ${mark}: the mapper's estimate.` : "";

export function stepChart(steps, whole) {
    const heavy = steps.slice(0, 2).filter((step) => step.cycles > 0);
    const title = heavy.length === 2 && steps.length === 2 ? `${heavy[0].name} takes ${share(heavy[0].cycles / whole, 0)} of the time` : heavy.length === 2
        ? `${heavy[0].name} and ${heavy[1].name} take ${share((heavy[0].cycles + heavy[1].cycles) / whole, 0)} of the time`
        : "Time by step";
    return chart({
        name: "steps", title, legend: [legend()],
        note: "Bars: by how much the phases of a step move the end of the work; together they are the run. Colours: how "
            + "the units spent their time in these phases, in the mean." + estimated(steps, "Tick"),
        draw(width, marks) {
            const data = pieces(steps);
            if (data.length === 0) return null;
            const longest = Math.max(...steps.map((step) => step.name.length));
            return Plot.plot({
                width, height: 44 + 26 * steps.length, marginLeft: Math.min(width * 0.34, 16 + 7 * Math.min(26, longest)), marginRight: 56,
                marginTop: 6, marginBottom: 38,
                x: {label: "Time (logic cycles)", tickFormat: compact, grid: true, ticks: Math.max(3, width / 130),
                    labelAnchor: "center", labelArrow: "none"},
                y: {domain: steps.map((step) => step.name), label: null, tickSize: 0, tickFormat: (name) => shorten(name, width < 500 ? 16 : 26)},
                marks: [
                    Plot.barX(data, {x1: "from", x2: "to", y: (d) => d.bar.name, fill: {value: "colour", scale: null},
                        insetTop: 1, insetBottom: 1, render: tracked(marks, data, (d) => describe(d, whole))}),
                    Plot.tickX(steps.filter((step) => step.estimate > 0), {x: "estimate", y: "name", stroke: "var(--text)",
                        strokeWidth: 2, insetTop: -1, insetBottom: -1}),
                    Plot.text(steps, {x: (d) => Math.max(d.cycles, d.estimate), y: "name", text: (d) => share(d.cycles / whole), dx: 6,
                        textAnchor: "start", fill: "var(--quiet)"}),
                    Plot.ruleX([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}

// Places of phases, at most `most` of them, in round steps.
function wholeTicks(count, most) {
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((size) => count / size <= Math.max(2, most)) ?? Math.ceil(count / 2);
    return Array.from({length: Math.ceil(count / step)}, (_, i) => i * step);
}

const NAME_LETTERS = 8; // of a name under a bar, at least

// Ticks where the first part of the names changes.
function stages(tiles) {
    const found = [];
    for (const tile of tiles) {
        const stage = tile.name.includes("/") ? tile.name.slice(0, tile.name.indexOf("/")) : "";
        if (found.length === 0 || found[found.length - 1].stage !== stage) found.push({stage, first: tile.place, last: tile.place});
        else found[found.length - 1].last = tile.place;
    }
    return found.length > 1 && found.length <= 12 ? found : [];
}

export function phaseChart(tiles, whole) {
    const longest = tiles.reduce((most, tile) => tile.cycles > most.cycles ? tile : most, tiles[0]);
    const title = tiles.length === 1 ? `One phase, ${longest.name}` : longest ? `Of ${integer(tiles.length)} phases ${longest.name} is the longest, with ${share(longest.cycles / whole)} of the time`
                          : "Time by phase";
    return chart({
        name: "phases", title, legend: [legend()],
        note: "One bar for each phase, in the order of the trace; height: by how much it moves the end of the work." + estimated(tiles, "Point"),
        draw(width, marks) {
            const data = pieces(tiles);
            if (data.length === 0) return null;
            const groups = stages(tiles), room = Math.floor((width - 60) / tiles.length / 6.8); // letters under a bar
            const few = room >= NAME_LETTERS;
            const inset = width / tiles.length > 5 ? 0.5 : 0;
            return Plot.plot({
                width, height: Math.min(340, 200 + width / 6), marginLeft: 52, marginRight: 8, marginBottom: 34, marginTop: 26,
                x: {type: "linear", domain: [-0.5, tiles.length - 0.5], axis: groups.length ? null : "bottom", label: "Phase, in the order of the trace",
                    labelAnchor: "center", labelArrow: "none", ticks: few ? tiles.map((tile) => tile.place) : wholeTicks(tiles.length, width / 80),
                    tickFormat: (place) => few ? shorten(tiles[place].name.slice(tiles[place].name.lastIndexOf("/") + 1), room) : String(place)},
                y: {label: "Time (logic cycles)", tickFormat: compact, grid: true, ticks: 5, labelArrow: "none"},
                marks: [
                    Plot.rect(data, {x1: (d) => d.bar.place - 0.5, x2: (d) => d.bar.place + 0.5, y1: "from", y2: "to",
                        insetLeft: inset, insetRight: inset, fill: {value: "colour", scale: null},
                        render: tracked(marks, data, (d) => describe(d, whole))}),
                    Plot.dot(tiles.filter((tile) => tile.estimate > 0), {x: "place", y: "estimate", r: Math.min(2.5, Math.max(1, width / tiles.length / 3)),
                        fill: "var(--text)", pointerEvents: "none"}),
                    Plot.ruleX(groups.slice(1), {x: (d) => d.first - 0.5, stroke: "var(--line)", pointerEvents: "none"}),
                    Plot.text(groups, {x: (d) => (d.first + d.last) / 2, frameAnchor: "bottom", dy: 16, text: "stage",
                        fill: "var(--quiet)", filter: (d) => (d.last - d.first + 1) / tiles.length * width > 7 * d.stage.length}),
                    Plot.ruleY([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}

// Several whole runs: one bar each. Those that were stopped are not compared.
export function runsChart(all) {
    const runs = all.filter((run) => run.entry.result.complete !== false);
    const bars = runs.map((run) => ({name: run.name, cycles: run.entry.result.cycles, estimate: run.summary.estimate, units: run.entry.result.units.length,
        parts: run.summary.shares.map((part) => (part || 0) * run.entry.result.cycles)}));
    const networks = new Set(runs.map((run) => run.entry.result.inputs.network));
    const least = bars.length > 1 && networks.size === 1 ? bars.reduce((best, bar) => bar.cycles < best.cycles ? bar : best) : null;
    return chart({
        name: "runs", title: least ? `${least.name} needs the fewest cycles, ${integer(least.cycles)}` : networks.size > 1 ? "Cycles of the runs: of different networks" : "Cycles of the runs", legend: [legend()],
        note: "How the units spend their time in each run, in the mean." + estimated(bars, "Tick") +
            (runs.length < all.length ? " Runs that were stopped before their end are not compared." : ""),
        draw(width, marks) {
            const data = pieces(bars);
            if (data.length === 0) return null;
            return Plot.plot({
                width, height: 50 + 34 * bars.length, marginLeft: Math.min(width * 0.34, 200), marginRight: 24, marginTop: 6, marginBottom: 38,
                x: {label: "Time (logic cycles)", tickFormat: compact, grid: true, ticks: Math.max(3, width / 130), labelAnchor: "center", labelArrow: "none"},
                y: {domain: bars.map((bar) => bar.name), label: null, tickSize: 0,
                    tickFormat: (name) => shorten(name, width < 500 ? 16 : 26)},
                marks: [
                    Plot.barX(data, {x1: "from", x2: "to", y: (d) => d.bar.name, fill: {value: "colour", scale: null}, insetTop: 2, insetBottom: 2,
                        render: tracked(marks, data, (d) => describe(d, d.bar.cycles))}),
                    Plot.tickX(bars.filter((bar) => bar.estimate > 0), {x: "estimate", y: "name", stroke: "var(--text)", strokeWidth: 2}),
                    Plot.ruleX([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}
