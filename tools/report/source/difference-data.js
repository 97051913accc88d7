// Two whole runs, one of them the baseline: figures over those of the baseline, and the difference of their cycles by step.

// [name, run -> number] of what can be held against a baseline.
export const RELATIVE = [
    ["Cycles", ({entry}) => entry.result.cycles],
    ["Time", ({entry}) => entry.result.time_ns],
    ["Throughput", ({summary}) => summary.macsPerSecond],
    ["Energy", ({entry}) => entry.result.energy_pj.total],
    ["Energy per MAC", ({summary}) => summary.picojoulesPerMac],
    ["DRAM accesses", ({summary}) => summary.accesses || NaN] /* hardware without DRAM has none */,
    ["Busiest link used", ({summary}) => summary.linkMost],
];

// A figure over that of the baseline; NaN where one of them is not known or there is nothing to divide by.
export function ratioOf(base, other, value) {
    const under = value(base), over = value(other);
    return under > 0 && Number.isFinite(over) ? over / under : NaN;
}

// [{name, base, other, difference}], the largest difference first. They add up to the difference of the runs' cycles: what
// passes behind the last phase is a line of its own, and the steps behind the first `most` are summed in one.
export function stepDifferences(base, other, most = 20) {
    const lines = new Map();
    const line = (name) => {
        if (!lines.has(name)) lines.set(name, {name, base: 0, other: 0});
        return lines.get(name);
    };
    const add = (run, side) => {
        let left = run.entry.result.cycles;
        for (const step of run.summary.steps) {
            line(step.name)[side] += step.cycles;
            left -= step.cycles;
        }
        if (left !== 0) line("behind the last phase")[side] += left;
    };
    add(base, "base");
    add(other, "other");
    const all = [...lines.values()].map((one) => ({...one, difference: one.other - one.base}))
        .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
    if (all.length <= most) return all;
    const rest = all.slice(most - 1);
    const total = (key) => rest.reduce((sum, one) => sum + one[key], 0);
    return [...all.slice(0, most - 1), {name: `${rest.length} others`, base: total("base"), other: total("other"), difference: total("difference")}];
}
