// Whole runs against one of them: figures as multiples of the baseline's, and where the difference of cycles comes from.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {RELATIVE, ratioOf, stepDifferences} from "./difference-data.js";
import {choice, element, table} from "./dom.js";
import {compact, cycles, figure, integer, isNumber, shorten, signedPercent} from "./format.js";

const MINUS = "\u2212";
const signed = (value) => value === 0 ? "0" : `${value > 0 ? "+" : MINUS}${integer(Math.abs(value))}`;
const times = (value) => isNumber(value) ? `${figure(value, 4)}\u00d7` : "n/a";

function drawDifference(lines, width, marks) {
    const shown = lines.filter((line) => line.base > 0 || line.other > 0);
    if (shown.length === 0) return null;
    const low = Math.min(0, ...shown.map((line) => line.difference)), high = Math.max(0, ...shown.map((line) => line.difference));
    const longest = Math.max(...shown.map((line) => line.name.length)), marginLeft = Math.min(width * 0.34, 16 + 7 * Math.min(26, longest)), marginRight = 12;
    const sides = [shown.filter((line) => line.difference >= 0), shown.filter((line) => line.difference < 0)];
    const pixels = 10 + 8 * Math.max(...shown.map((line) => signed(line.difference).length)); // for the figures behind the bars of each side
    const room = (high - low || 1) * pixels / Math.max(40, width - marginLeft - marginRight - pixels * sides.filter((side) => side.length > 0).length);
    return Plot.plot({
        width, height: 44 + 26 * shown.length, marginLeft, marginRight, marginTop: 6, marginBottom: 38,
        x: {label: "Difference (logic cycles)", tickFormat: compact, grid: true, ticks: Math.max(3, width / 180), labelAnchor: "center", labelArrow: "none",
            domain: [sides[1].length > 0 ? low - room : low, sides[0].length > 0 ? high + room : high]},
        y: {domain: shown.map((line) => line.name), label: null, tickSize: 0, tickFormat: (name) => shorten(name, width < 500 ? 16 : 26)},
        marks: [
            Plot.barX(shown, {x1: 0, x2: "difference", y: "name", fill: {value: (line) => line.difference > 0 ? "var(--bad)" : "var(--matrix)", scale: null}, insetTop: 2, insetBottom: 2,
                render: tracked(marks, shown, (line) => ({title: line.name, rows: [["difference", `${signed(line.difference)} cycles`],
                    ["baseline", cycles(line.base)], ["compared", cycles(line.other)],
                    ["compared over baseline", times(line.base > 0 ? line.other / line.base : NaN)]]}))}),
            ...sides.map((side, i) => Plot.text(side, {x: "difference", y: "name", text: (line) => signed(line.difference), dx: i === 0 ? 6 : -6,
                textAnchor: i === 0 ? "start" : "end", fill: "var(--quiet)"})),
            Plot.ruleX([0], {stroke: "var(--line)"}),
        ],
    });
}

// What makes a difference of cycles hard to read: another network, another clock.
function unlike(base, other) {
    const clock = (entry) => entry.hardware?.logic_khz;
    const what = [base.result.inputs.network !== other.result.inputs.network ? "networks" : null, clock(base) !== clock(other) ? "clocks" : null].filter(Boolean);
    return what.length > 0 ? ` (their ${what.join(" and ")} differ)` : "";
}

function titleOf({base, other, lines}) {
    const whole = other.entry.result.cycles - base.entry.result.cycles;
    const percent = signedPercent(100 * whole / base.entry.result.cycles);
    const lead = lines.find((line) => Math.sign(line.difference) === Math.sign(whole));
    return whole === 0 ? `${other.name} and ${base.name} take as many cycles`
        : `${other.name} takes ${integer(Math.abs(whole))} cycles ${whole > 0 ? "more" : "less"} (${percent}) than ${base.name}${unlike(base.entry, other.entry)}` +
            (lead ? `, most of them in ${lead.name}: ${signed(lead.difference)}` : "");
}

function relativeTable(runs, base) {
    const known = RELATIVE.filter(([, value]) => runs.some((run) => isNumber(ratioOf(base, run, value))));
    return table(`Every figure over that of ${base.name}`, [{title: "Run"}, ...known.map(([name]) => ({title: name, number: true}))],
        runs.map((run) => [run.name, ...known.map(([, value]) => times(ratioOf(base, run, value)))]));
}

// Of two whole runs or more: [card of the figures relative to a baseline, chart of the difference]. Others: nothing.
export function differenceCards(all) {
    const runs = all.filter((run) => run.entry.result.complete !== false);
    if (runs.length < 2) return [];
    const state = {base: runs[0], other: runs[1]};
    const update = () => { state.lines = stepDifferences(state.base, state.other); };
    update();
    const place = element("div", {}, relativeTable(runs, state.base));
    const changed = (key) => (value) => {
        state[key] = runs[Number(value)];
        update();
        place.replaceChildren(relativeTable(runs, state.base));
        made.setTitle(titleOf(state));
        made.redraw();
    };
    const names = runs.map((run, i) => [String(i), run.name]);
    const made = chart({
        name: "difference", title: titleOf(state), legend: [swatches([["var(--bad)", "more cycles than the baseline"], ["var(--matrix)", "fewer"]])],
        controls: [choice("Baseline", names, "0", changed("base")), choice("Compared", names, "1", changed("other"))],
        note: "By how much the time of a step differs, time as in the charts of each run: by how much its phases move the end of the work. The bars add up to the difference of the runs.",
        draw: (width, marks) => drawDifference(state.lines, width, marks),
    });
    return [element("div", {class: "card", "data-chart": "relative"}, element("h3", {}, "Relative to the baseline"), place), made.node];
}
