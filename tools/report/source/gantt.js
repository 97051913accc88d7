// Phases over time, one row each: which are worked at the same time.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {compact, cycles, integer, isNumber, share, shorten} from "./format.js";
import {mostAtOnce} from "./run-data.js";

const ROW = 17; // pixels of a row: its name stands free of those above and below
const ROWS = 100; // more phases than this are no rows that can be read

// null where phases follow each other, where there are too many, and where the result does not say when they start.
export function ganttChart(tiles, whole) {
    const rows = tiles.filter((tile) => isNumber(tile.start) && tile.finish > tile.start);
    const most = mostAtOnce(rows.map((tile) => ({start: tile.start, end: tile.finish})));
    if (rows.length < 2 || rows.length > ROWS || most < 2) return null;
    const moves = rows.filter((tile) => tile.cycles > 0);
    return chart({
        name: "gantt", title: `Up to ${integer(most)} of ${integer(rows.length)} phases are worked at the same time`,
        legend: [swatches([["var(--waiting)", "worked: from the first work of a unit in it to the last unit that leaves it"], ["var(--matrix)", "moves the end of the work"]])],
        note: "A row for each phase, in the order of the trace. A unit that has entered a phase may wait there for what others make; a bar begins where the first of its engines works. The blue parts follow each other and add up to the work.",
        draw(width, marks) {
            const longest = Math.max(...rows.map((tile) => tile.name.length));
            return Plot.plot({
                width, height: 44 + ROW * rows.length, marginLeft: Math.min(width * 0.38, 16 + 6.4 * Math.min(30, longest)), marginRight: 16, marginTop: 6, marginBottom: 38,
                x: {label: "Time (logic cycles)", domain: [0, whole], tickFormat: compact, grid: true, ticks: Math.max(3, width / 130), labelAnchor: "center", labelArrow: "none"},
                y: {domain: rows.map((tile) => tile.place), label: null, tickSize: 0, padding: 0.15,
                    tickFormat: (place) => shorten(tiles[place].name, width < 500 ? 16 : 30)},
                marks: [
                    Plot.barX(rows, {x1: "start", x2: "finish", y: "place", fill: "var(--waiting)",
                        render: tracked(marks, rows, (tile) => ({title: tile.name, rows: [["entered at", cycles(tile.open)], ["worked from", cycles(tile.start)], ["to", cycles(tile.finish)],
                            ["worked for", cycles(tile.finish - tile.start)], ["moves the end by", `${cycles(tile.cycles)} (${share(tile.cycles / whole)})`], ["units", integer(tile.units)]]}))}),
                    Plot.barX(moves, {x1: (tile) => tile.finish - Math.min(tile.cycles, tile.finish - tile.start), x2: "finish", y: "place", fill: "var(--matrix)", pointerEvents: "none"}),
                    Plot.ruleX([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}
