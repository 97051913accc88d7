// The page: reads the results that `pimsim report` put into it, one article each.
import {countsOf, engineName, kindOf} from "./family.js";
import {dramChart, energyChart, energyRunsChart} from "./bars.js";
import {differenceCards} from "./difference.js";
import {element, table} from "./dom.js";
import {estimateChart, worstTable} from "./estimate.js";
import {NOTHING, cycles, energy, figure, integer, share, si, signedPercent, time, unit, unitOf} from "./format.js";
import {ganttChart} from "./gantt.js";
import {busiestLinks, meshChart} from "./mesh.js";
import {phaseChart, runsChart, stepChart} from "./phases.js";
import {SHARES} from "./palette.js";
import {arraySize, summarize} from "./run-data.js";
import {sweepArticle} from "./sweep.js";
import {systemsArticle} from "./systems.js";

// The headline: [name, run -> text]; the same for one run and for several.
const HEADLINE = [
    ["Network", ({entry}) => entry.result.inputs.network ?? NOTHING],
    ["Mapping", ({entry}) => [entry.result.inputs.family, entry.result.inputs.mapping].filter(Boolean).join(", ") || NOTHING],
    ["Hardware", ({entry}) => {
        const [width, height] = arraySize(entry);
        const hardware = entry.hardware;
        return `${width} x ${height} ${kindOf(entry).units}` + (hardware ? `, logic ${si(hardware.logic_khz * 1e3, "Hz")}, network ${si(hardware.network_khz * 1e3, "Hz")}, ` +
            `memory ${si(hardware.memory_khz * 1e3, "Hz")}` : "");
    }],
    ["Complete", ({entry}) => entry.result.complete === false ? "no: stopped by --until" : "yes"],
    ["Cycles", ({entry}) => integer(entry.result.cycles)],
    ["Time", ({entry}) => time(entry.result.time_ns)],
    ["Mapper\u2019s estimate", ({summary}) => summary.estimate > 0 ? `${cycles(summary.estimate)} (${signedPercent(summary.estimateError)})` : NOTHING],
    ["MACs", ({entry, summary}) => integer(summary.macs) + (summary.macs === entry.result.work.macs ? "" : ` (${integer(entry.result.work.macs)} executed)`)],
    ["Throughput", ({summary}) => si(summary.macsPerSecond, "MAC/s")],
    ["Matrix engines busy", ({summary}) => share(summary.arrayBusy)],
    ["Energy", ({entry}) => entry.result.energy_pj.total > 0 ? energy(entry.result.energy_pj.total) : NOTHING],
    ["Energy per MAC", ({summary}) => unit(figure(summary.picojoulesPerMac), "pJ")],
    ["DRAM row hits", ({summary}) => share(summary.hitShare)],
    ["Links used, mean / busiest", ({summary}) => summary.linkMost > 0 ? `${share(summary.linkMean)} / ${share(summary.linkMost)}` : NOTHING],
    ["Packet latency, mean / p99", ({entry: {result: {noc}}}) => unit(`${figure(noc.average_packet_latency)} / ${figure(noc.p99_packet_latency)}`, "network cycles")],
    ["Simulated in", ({entry: {result: {simulator}}}) => 
        `${simulator.cpu_seconds ? `${figure(simulator.cpu_seconds, 3)}\u00a0CPU s, ` : ""}${integer(simulator.events)} events`],
    ["pimsim", ({entry}) => entry.result.simulator.version],
    ["Trace, configuration (hashes)", ({entry}) => `${entry.result.inputs.trace_hash ?? NOTHING}, ${entry.result.inputs.config_hash ?? NOTHING}`],
];

const headlineTable = (runs) => element("div", {class: "card", "data-chart": "headline"},
    table(runs.length > 1 ? "The runs side by side" : "The run in figures",
        [{title: "Figure"}, ...runs.map((run) => ({title: runs.length > 1 ? run.name : "Value"}))],
        HEADLINE.map(([name, text]) => [name, ...runs.map(text)])
            .filter(([, ...texts]) => texts.some((text) => text && text.replaceAll(NOTHING, "").replaceAll(/network cycles|[\s/,]/g, "")))));

function tiles(run) {
    const {entry: {result}, summary} = run;
    const items = [
        ["Cycles", integer(result.cycles), time(result.time_ns)],
        ["Mapper\u2019s estimate", summary.estimate > 0 ? signedPercent(summary.estimateError) : NOTHING, summary.estimate > 0 ? cycles(summary.estimate)
            : result.complete === false ? "the run was stopped" : result.inputs.estimate_differs ? "of another hardware" : "the trace has none"],
        [`${engineName(run.entry, "pe").replace(/^./, (first) => first.toUpperCase())} busy`, share(summary.arrayBusy), `${si(summary.macsPerSecond, "MAC/s")}`],
        ["Energy", result.energy_pj.total > 0 ? energy(result.energy_pj.total) : NOTHING, `${unit(figure(summary.picojoulesPerMac), "pJ")} per MAC`],
        ...(summary.linkMost > 0 ? [["Busiest link used", share(summary.linkMost), `mean ${share(summary.linkMean)}`]] : []),
    ];
    return element("dl", {class: "tiles"}, items.map(([name, value, below]) => element("div", {}, element("dt", {}, name),
        element("dd", {}, value, element("span", {class: "below"}, below)))));
}

// Everything that was counted, folded: the groups of numbers that this hardware has.
function countsTable(result) {
    const counts = countsOf(result);
    return counts.length === 0 ? null : element("details", {"data-chart": "counts"}, element("summary", {}, "All counts of the run"),
        element("div", {class: "card"}, table("Sums over the whole hardware", [{title: "Count"}, {title: "Value", number: true}, {title: "Unit"}],
            counts.map(([name, value, key]) => [name, figure(value, 6), unitOf(key)]))));
}

function runArticle(run, alone) {
    const {entry, summary} = run, {result} = entry;
    const known = summary.tiles.filter((tile) => tile.estimate > 0 || tile.cycles > 0);
    const estimates = summary.estimate > 0;
    const map = result.units.length > 0 || result.links.length > 0 ? meshChart(entry) : null;
    return {lead: `${result.complete === false ? "Stopped before its end: " : ""}${result.inputs.network ?? "A trace"} on ${arraySize(entry).join(" x ")} ${kindOf(entry).units}: ${cycles(result.cycles)}, ${time(result.time_ns)}.`, body: [
        tiles(run),
        result.inputs.estimate_differs ? element("p", {class: "warning"}, "The mapper\u2019s estimates are of another hardware, that of the trace, and are not shown " +
            `(${result.inputs.estimate_differs}). pimsim run --network FILE, with the options that the mapper had in --mapper WORDS, maps the network anew for this hardware.`) : null,
        result.complete === false ? element("p", {class: "warning"}, "This run was stopped before its end (--until): every figure covers the part before.") : null,
        entry.hardware_error ? element("p", {class: "warning"}, `The configuration of this run cannot be read: ${entry.hardware_error}`) : null,
        map ? element("div", {class: "map"}, map.node, busiestLinks(entry)) : null,
        summary.tiles.length > 0 ? stepChart(summary.steps, result.cycles).node : null,
        summary.tiles.length > 1 ? phaseChart(summary.tiles, result.cycles).node : null,
        ganttChart(summary.tiles, result.cycles)?.node,
        estimates && known.length > 1 ? element("div", {class: "pair"}, estimateChart(known, "phases").node, worstTable(known, "phases")) : null,
        element("div", {class: "pair"}, summary.accesses > 0 ? dramChart(result.dram, summary).node : null, energyChart(result.energy_pj).node),
        countsTable(result),
        alone ? headlineTable([run]) : null,
        result.inputs.configuration ? element("details", {}, element("summary", {}, "The configuration of the run"),
            element("div", {class: "card"}, element("pre", {tabindex: "0"}, result.inputs.configuration))) : null,
    ]};
}

// Lines of `pimsim validate`: the same charts, and what it knows beyond a run.
function validateArticle(entry) {
    const {result} = entry;
    const items = (lines) => lines.map((line, place) => ({place, name: line.name, step: line.name, phases: line.phases, units: null,
        cycles: line.simulated_cycles, estimate: line.estimate_cycles ?? 0, equations: line.equation_cycles ?? 0, line,
        parts: (() => {
            const parts = SHARES.map(([key]) => line.simulated_by?.[key] ?? 0);
            const whole = parts.reduce((sum, part) => sum + part, 0);
            return parts.map((part) => whole > 0 ? part * line.simulated_cycles / whole : 0);
        })()}));
    const phases = items(result.phases), steps = items(result.steps).sort((a, b) => b.cycles - a.cycles);
    const whole = result.total.simulated_cycles;
    const lost = Object.entries(result.total.lost ?? {}).filter(([, value]) => typeof value === "number");
    if (result.estimate_differs)
        return {lead: `${cycles(whole)} simulated on another hardware than the estimates are of.`, body: [
            element("p", {class: "warning"}, `The mapper\u2019s estimates are of the hardware of the trace and are not held against this run (${result.estimate_differs}). ` +
                "pimsim validate --network FILE, with the options that the mapper had in --mapper WORDS, maps the network anew for this hardware."),
            stepChart(steps.map((step) => ({...step, estimate: 0})), whole).node]};
    const against = typeof result.total.error_percent === "number" ? `Estimates of the mapper against ${cycles(whole)} simulated: ${signedPercent(result.total.error_percent)}.`
        : `${cycles(whole)} simulated; the trace has no estimate of them all.`;
    return {lead: against, body: [
        phases.length > 1 ? element("div", {class: "pair"}, estimateChart(phases, "phases").node, worstTable(phases, "phases")) : null,
        stepChart(steps, whole).node,
        phases.length > 1 ? phaseChart(phases, whole).node : null,
        lost.length > 0 ? element("div", {class: "card"}, element("h3", {}, "What the estimate does not know"),
            table("Time lost in the run, in logic cycles, mean per unit; losses overlap", [{title: "Cause"}, {title: "Cycles", number: true}, {title: "Share of the run", number: true}],
                lost.map(([name, value]) => [name.replaceAll("_", " "), integer(value), share(value / whole)]))) : null,
    ]};
}

function articleOf(entry, runs, alone) {
    if (entry.kind === "sweep") return entry.result.systems && entry.result.axes.length === 0 ? systemsArticle(entry) : sweepArticle(entry);
    if (entry.kind === "validate") return validateArticle(entry);
    return runArticle(runs.find((run) => run.entry === entry), alone);
}

function build(data, main) {
    const runs = data.results.filter((entry) => entry.kind === "run").map((entry) => ({name: entry.result.complete === false ? `${entry.name} (stopped)` : entry.name, entry, summary: summarize(entry)}));
    const alone = data.results.length === 1;
    const title = alone ? data.results[0].name : `${data.results.length} results`;
    document.title = `${title} \u2013 pimsim report`;
    main.replaceChildren(element("h1", {}, title));
    if (!alone)
        main.append(element("nav", {"aria-label": "Results"}, element("ul", {}, data.results.map((entry, i) =>
            element("li", {}, element("a", {href: `#result-${i}`}, entry.name), entry.result.complete === false ? " (stopped)" : null)))));
    if (runs.length > 1)
        main.append(element("section", {"aria-label": "Runs side by side"}, headlineTable(runs), element("div", {class: "pair"}, runsChart(runs).node, energyRunsChart(runs)?.node), differenceCards(runs)));
    data.results.forEach((entry, i) => {
        const {lead, body} = articleOf(entry, runs, alone);
        main.append(element("article", {id: `result-${i}`, "aria-label": entry.name}, alone ? null : element("h2", {}, entry.name),
            element("p", {class: "lead"}, lead), body));
    });
    main.append(element("p", {class: "note"}, `Made by pimsim ${data.pimsim}. Charts: move into one with the tabulator key, then with the arrow keys.`));
    document.documentElement.dataset.ready = "yes";
}

const main = document.getElementById("main");
try {
    build(JSON.parse(document.getElementById("results").textContent), main);
} catch (error) {
    main.prepend(element("p", {class: "warning", role: "alert"}, `These results cannot be shown: ${error.message}`));
    throw error;
}
