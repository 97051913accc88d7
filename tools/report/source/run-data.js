// What the charts need of a run, computed from its JSON (docs/reference/run-json.md).
import {isNumber} from "./format.js";
import {SHARES} from "./palette.js";

const sum = (list, value) => list.reduce((total, item) => total + (value(item) ?? 0), 0);

// Phases in their order, each with the time by which it moves the end of the work and the step it belongs to, both as the
// program says (models/system/report/steps.h: phases tile the run), and that time divided as the units spent theirs in the phase.
export function tilePhases(phases) {
    return phases.map((phase, place) => {
        const cycles = phase.exclusive_cycles;
        const units = sum(SHARES, ([key]) => phase.unit_cycles_by?.[key]);
        const parts = SHARES.map(([key]) => units > 0 ? cycles * (phase.unit_cycles_by[key] ?? 0) / units
                                                      : key === "waiting" ? cycles : 0);
        return {place, name: phase.name, step: phase.step, cycles, parts, estimate: phase.estimate_cycles ?? 0, equations: phase.equation_cycles ?? 0, units: phase.units,
                open: phase.start_cycle, start: phase.work_start_cycle ?? phase.start_cycle, finish: phase.end_cycle};
    });
}

// The phases of a step, summed; steps in the order of their time.
export function groupSteps(tiles) {
    const steps = new Map();
    for (const tile of tiles) {
        const step = steps.get(tile.step) ??
            {name: tile.step, phases: 0, cycles: 0, estimate: 0, parts: SHARES.map(() => 0)};
        step.phases += 1;
        step.cycles += tile.cycles;
        step.estimate += tile.estimate;
        tile.parts.forEach((part, i) => { step.parts[i] += part; });
        steps.set(tile.step, step);
    }
    return [...steps.values()].sort((a, b) => b.cycles - a.cycles);
}

// How many of the spans [{start, end}] are open at the same time, at most. One that ends where another starts is closed.
export function mostAtOnce(spans) {
    const events = spans.filter((one) => one.end > one.start).flatMap((one) => [[one.start, 1], [one.end, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let open = 0, most = 0;
    for (const [, step] of events) {
        open += step;
        most = Math.max(most, open);
    }
    return most;
}

// Columns and rows of the array; from the configuration, else from the positions of the units.
export function arraySize(entry) {
    if (entry.hardware) return [entry.hardware.width, entry.hardware.height];
    const units = entry.result.units;
    return [1 + Math.max(-1, ...units.map((unit) => unit.x)), 1 + Math.max(-1, ...units.map((unit) => unit.y))];
}

// Mean over the units of a share of the run.
export function meanShare(result, value) {
    return result.units.length > 0 && result.cycles > 0
        ? sum(result.units, value) / result.units.length / result.cycles : NaN;
}

// Cycles of the network clock in the run.
export function networkCycles(entry) {
    return entry.hardware ? entry.result.time_ns * entry.hardware.network_khz / 1e6 : NaN;
}

// Of the network where all of it ran. What was executed can be more: padding, and on channels all columns of the banks that multiply.
export function usefulMacs(complete, network, executed) {
    return complete !== false && network > 0 ? network : executed;
}

export function summarize(entry) {
    const {result} = entry;
    // Estimates are of the whole and of one hardware; of a run that was stopped, or on another one, they say nothing.
    const whole = result.complete !== false && !result.inputs.estimate_differs;
    const tiles = tilePhases(result.phases.map((phase) => whole ? phase : {...phase, estimate_cycles: 0, equation_cycles: null}));
    const steps = groupSteps(tiles);
    const estimate = sum(tiles, (tile) => tile.estimate);
    const macs = usefulMacs(result.complete, result.work.network_macs, result.work.macs);
    const shares = SHARES.map(([key]) => meanShare(result, (unit) => unit.cycles_by?.[key]));
    const accesses = result.dram.row_hits + result.dram.row_misses + result.dram.row_conflicts;
    const utilizations = result.links.map((link) => link.utilization).filter(isNumber);
    return {
        tiles, steps, shares, estimate,
        estimateError: estimate > 0 && result.cycles > 0 ? 100 * (estimate - result.cycles) / result.cycles : NaN,
        macs,
        macsPerSecond: result.time_ns > 0 ? macs / result.time_ns * 1e9 : NaN,
        picojoulesPerMac: macs > 0 && result.energy_pj.total > 0 ? result.energy_pj.total / macs : NaN,
        arrayBusy: meanShare(result, (unit) => unit.busy_cycles?.pe),
        hitShare: accesses > 0 ? result.dram.row_hits / accesses : NaN,
        accesses,
        linkMean: utilizations.length ? sum(utilizations, (one) => one) / utilizations.length : NaN,
        linkMost: utilizations.length ? Math.max(...utilizations) : NaN,
    };
}
