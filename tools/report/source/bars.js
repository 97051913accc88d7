// Bars that are a whole each: how DRAM rows behave, energy by component.
import * as Plot from "@observablehq/plot";
import {chart, swatches, tracked} from "./chart.js";
import {energy, figure, integer, share, shorten} from "./format.js";
import {componentsOf, energyOf} from "./family.js";

// bars: [{name, parts: [{text, colour, value}]}] of one set of colours; each bar is 100 %.
function shareBars(name, title, note, bars, unit) {
    const present = bars.map((bar) => ({...bar, whole: bar.parts.reduce((total, part) => total + part.value, 0)}))
        .filter((bar) => bar.whole > 0);
    const data = present.flatMap((bar) => {
        let from = 0;
        return bar.parts.map((part) => {
            const piece = {bar, part, from, to: from + part.value / bar.whole};
            from = piece.to;
            return piece;
        }).filter((piece) => piece.to > piece.from);
    });
    return chart({
        name, title, note, legend: present.map((bar) => swatches(bar.parts.map((part) => [part.colour, part.text]), bar.short)),
        draw(width, marks) {
            if (data.length === 0) return null;
            return Plot.plot({
                width, height: 44 + 54 * present.length, marginLeft: 14, marginRight: 20, marginTop: 4, marginBottom: 28,
                x: {domain: [0, 1], tickFormat: (value) => share(value, 0), label: null, ticks: 5, grid: true},
                y: {domain: present.map((bar) => bar.name), axis: null, padding: 0.1},
                marks: [
                    Plot.barX(data, {x1: "from", x2: "to", y: (d) => d.bar.name, fill: {value: (d) => d.part.colour, scale: null}, insetTop: 22,
                        render: tracked(marks, data, (d) => ({title: `${d.bar.name}: ${d.part.text}`,
                            rows: [["share", share(d.to - d.from, 2)], [unit(d.bar), integer(d.part.value)]]}))}),
                    Plot.text(present, {y: "name", x: 0, text: (d) => `${d.name}: ${integer(d.whole)}`, textAnchor: "start", dy: -16, fill: "var(--quiet)"}),
                ],
            });
        },
    });
}

export function dramChart(dram, summary) {
    const access = {name: "Column accesses", short: "Accesses", unit: "column accesses", parts: [
        {text: "row was open (hit)", colour: "var(--memory)", value: dram.row_hits},
        {text: "no row was open (miss)", colour: "var(--vector)", value: dram.row_misses},
        {text: "another row was open (conflict)", colour: "var(--bad)", value: dram.row_conflicts}]};
    const port = {name: "Cycles of memory ports, not idle", short: "Ports", unit: "memory cycles", parts: [
        {text: "data", colour: "var(--matrix)", value: dram.data_cycles},
        {text: "waiting for rows", colour: "var(--network)", value: dram.row_cycles},
        {text: "refresh", colour: "var(--sram)", value: dram.refresh_cycles},
        {text: "turning the bus", colour: "var(--waiting)", value: dram.turnaround_cycles}]};
    const busy = port.parts.reduce((total, part) => total + part.value, 0);
    const title = summary.accesses > 0
        ? `${share(summary.hitShare)} of the accesses find their row open; waiting for rows is ${share(dram.row_cycles / busy, 0)} of the time at the ports`
        : "DRAM was not accessed";
    return shareBars("dram", title, "Sums over all nodes. " +
        `${integer(dram.activates)} activates, ${integer(dram.precharges)} precharges, ${integer(dram.refreshes)} refreshes.`,
        [access, port], (bar) => bar.unit);
}

// One bar for each component that the result has.
export function energyChart(energies) {
    const items = componentsOf([energies]).map((component) => ({...component, value: energyOf(energies, component)})).sort((a, b) => b.value - a.value);
    const title = items.length > 0 ? `${share(items[0].value / energies.total, 0)} of ${energy(energies.total)} goes to ${items[0].text}`
                                   : "No energy was counted";
    return chart({
        name: "energy", title,
        note: "Actions times energy per action, from the configuration; the bars add up to the total. A component that the hardware does not have, or whose " +
            "energy the configuration does not tell, is not in the result and has no bar.",
        draw(width, marks) {
            if (items.length === 0) return null;
            return Plot.plot({
                width, height: 30 + 34 * items.length, marginLeft: Math.min(width * 0.36, 20 + 6.6 * Math.max(...items.map((item) => item.text.length))), marginRight: 118, marginTop: 2, marginBottom: 28,
                x: {label: null, tickFormat: (value) => value === 0 ? "0" : energy(value), grid: true, ticks: Math.max(2, (width - 250) / 110),
                    domain: [0, items[0].value]},
                y: {domain: items.map((item) => item.text), label: null, tickSize: 0},
                marks: [
                    Plot.barX(items, {x: "value", y: "text", fill: {value: "colour", scale: null}, insetTop: 3, insetBottom: 3,
                        render: tracked(marks, items, (d) => ({title: d.text,
                            rows: [["energy", energy(d.value)], ["share", share(d.value / energies.total)]]}))}),
                    Plot.text(items, {x: "value", y: "text", dx: 6, textAnchor: "start", fill: "var(--text)",
                        text: (d) => `${energy(d.value)}  ${share(d.value / energies.total)}`}),
                    Plot.ruleX([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}

// Several whole runs: energy by component, one bar each. Those that were stopped are not compared.
export function energyRunsChart(all) {
    const runs = all.filter((run) => run.entry.result.complete !== false);
    const shown = componentsOf(runs.map((run) => run.entry.result.energy_pj));
    const data = runs.flatMap((run) => {
        let from = 0;
        return shown.map((component) => {
            const {text, colour} = component, value = energyOf(run.entry.result.energy_pj, component);
            const piece = {run, text, colour, value, from, to: from + value};
            from = piece.to;
            return piece;
        }).filter((piece) => piece.to > piece.from);
    });
    if (data.length === 0) return null;
    const whole = runs.filter((run) => run.entry.result.energy_pj.total > 0);
    const least = whole.length > 1 && new Set(runs.map((run) => run.entry.result.inputs.network)).size === 1 ? whole.reduce((best, run) => run.entry.result.energy_pj.total < best.entry.result.energy_pj.total ? run : best) : null;
    return chart({
        name: "energy-runs", title: least ? `${least.name} needs the least energy, ${energy(least.entry.result.energy_pj.total)}` : "Energy of the runs",
        legend: [swatches(shown.map(({text, colour}) => [colour, text]))],
        note: "The components of a bar add up to the energy of its run; what its hardware does not have, or does not tell the energy of, is not in it.",
        draw(width, marks) {
            return Plot.plot({
                width, height: 50 + 34 * runs.length, marginLeft: Math.min(width * 0.34, 200), marginRight: 24, marginTop: 6, marginBottom: 30,
                x: {label: null, tickFormat: (value) => value === 0 ? "0" : energy(value), grid: true, ticks: Math.max(2, width / 180)},
                y: {domain: runs.map((run) => run.name), label: null, tickSize: 0,
                    tickFormat: (name) => shorten(name, width < 500 ? 16 : 26)},
                marks: [
                    Plot.barX(data, {x1: "from", x2: "to", y: (d) => d.run.name, fill: {value: "colour", scale: null}, insetTop: 2, insetBottom: 2,
                        render: tracked(marks, data, (d) => ({title: `${d.run.name}: ${d.text}`, rows: [["energy", energy(d.value)],
                            ["share", share(d.value / d.run.entry.result.energy_pj.total)],
                            ["per MAC", `${figure(d.value / d.run.summary.macs)}\u00a0pJ`]]}))}),
                    Plot.ruleX([0], {stroke: "var(--line)"}),
                ],
            });
        },
    });
}
