// What the page computes, without a browser: node --test tests/report/units.mjs
import assert from "node:assert/strict";
import {test} from "node:test";
import {compact, energy, figure, integer, share, si, signedPercent, tickText, unitOf} from "../../tools/report/source/format.js";
import {classBounds, classOf, fittingTicks, logTicks, nearest, placeLinks, placeNames} from "../../tools/report/source/geometry.js";
import {componentsOf, countsOf, energyOf, kindOf, waitsAddUp} from "../../tools/report/source/family.js";
import {paretoFront} from "../../tools/report/source/pareto.js";
import {findKnee} from "../../tools/report/source/knee.js";
import {ratioOf, stepDifferences} from "../../tools/report/source/difference-data.js";
import {groupSteps, mostAtOnce, networkCycles, tilePhases, usefulMacs} from "../../tools/report/source/run-data.js";
import {lead, ranked, readSystems, withoutDensity} from "../../tools/report/source/systems-data.js";
import {bestSoFar, curves, endOf, readSweep, relativeTo} from "../../tools/report/source/sweep-data.js";

test("figures have separators, prefixes and units, and what is not there is n/a", () => {
    assert.equal(integer(1106896), "1,106,896");
    assert.equal(integer(null), "n/a");
    assert.equal(integer(NaN), "n/a");
    assert.equal(figure(195.0975), "195.1");
    assert.equal(figure(1294598), "1,294,598");
    assert.equal(share(0.2196), "22.0\u00a0%");
    assert.equal(share(undefined), "n/a");
    assert.equal(share(0.000441), "0.044\u00a0%");
    assert.equal(share(0), "0.0\u00a0%");
    assert.equal(signedPercent(-4.8), "\u22124.8\u00a0%");
    assert.equal(signedPercent(0.01), "0.0\u00a0%");
    assert.equal(energy(21457978400), "21.46\u00a0mJ");
    assert.equal(si(1e3, "Hz"), "1\u00a0kHz");
    assert.equal(compact(1200000), "1.2M");
    assert.equal(compact(0), "0");
    for (const metric of [{unit: "pJ"}, {unit: "ns"}, {unit: ""}]) { // a metric that is 0 at every point of a sweep
        assert.equal(tickText(metric, 0, 0)(0), "0");
        assert.notEqual(tickText(metric, 0, 0)(0.5), "");
    }
    assert.equal(unitOf("dram.row_cycles"), "memory cycles");
    assert.equal(unitOf("steps.merge.cycles"), "logic cycles");
    assert.equal(unitOf("noc.p99_packet_latency"), "network cycles");
    assert.equal(unitOf("energy_pj.noc"), "pJ");
});

test("texts of ticks and names of dots do not touch", () => {
    assert.deepEqual(fittingTicks([0, 1, 2, 3], (tick) => 50 * tick, () => 10), [0, 2]);
    assert.deepEqual(fittingTicks([0, 1, 2, 3], (tick) => 90 * tick, () => 10), [0, 1, 2, 3]);
    const alone = placeNames([{x: 50, y: 50, name: "one"}], 200, 100);
    assert.deepEqual(alone, [{dx: 8, dy: 0, anchor: "start"}]);
    assert.deepEqual(placeNames([{x: 190, y: 50, name: "one"}], 200, 100), [{dx: -8, dy: 0, anchor: "end"}]); // at the right edge
    const close = placeNames([{x: 50, y: 50, name: "one"}, {x: 66, y: 50, name: "two"}], 200, 100);
    assert.equal(close[0].anchor, "end"); // another dot is where the name would stand
    assert.equal(close[1].anchor, "start");
    const crowd = Array.from({length: 30}, (_, i) => ({x: 100 + i % 5, y: 50 + i % 3, name: `system ${i}`}));
    const placed = placeNames(crowd, 200, 100);
    assert.ok(placed.some((place) => place === null) && placed.some((place) => place !== null));
    const boxes = placed.flatMap((place, i) => place ? [[place.anchor === "start" ? crowd[i].x + place.dx : crowd[i].x + place.dx - 6.6 * crowd[i].name.length, crowd[i].y + place.dy - 7, i]] : []);
    boxes.forEach(([x, y, i], first) => boxes.slice(first + 1).forEach(([otherX, otherY, j]) =>
        assert.ok(x + 6.6 * crowd[i].name.length <= otherX || otherX + 6.6 * crowd[j].name.length <= x || y + 14 <= otherY || otherY + 14 <= y)));
});

test("components are those of the results, and add up to the total whatever the family", () => {
    const nodes = {total: 15, pe: 1, acu: 2, sram: 3, dram: 4, noc: 5, static: null};
    const cores = {total: 28, crossbar: 7, vector: 6, local: 5, global: 4, interconnect: null, chip_link: 0, pe: null, acu: null, sram: null, dram: null, noc: 3, static: 3};
    const banks = {total: 12, activate: 9, sense_amplifiers: 3}; // a family that this page has never heard of
    const old = {total: 10, pe: 4}; // the rest has no name
    for (const energies of [[nodes], [cores], [banks], [old], [nodes, cores, banks, old]]) {
        const components = componentsOf(energies);
        for (const one of energies)
            assert.equal(components.reduce((sum, component) => sum + energyOf(one, component), 0), one.total);
        assert.equal(new Set(components.map((component) => component.text)).size, components.length);
    }
    assert.deepEqual(componentsOf([cores]).map((component) => component.text), ["crossbars", "vector units", "local memories", "global memory", "NoC", "static power"]);
    assert.deepEqual(componentsOf([banks]).map((component) => component.text), ["activate", "sense amplifiers"]);
    assert.deepEqual(componentsOf([old]).map((component) => component.text), ["PE array", "not told apart"]);
    assert.deepEqual(componentsOf([{total: 0, pe: null}]), []);
});

test("units and counts are those of the family", () => {
    assert.equal(kindOf({hardware: {kind: "core"}, result: {}}).units, "cores");
    assert.equal(kindOf({hardware: null, result: {cores: {}}}).units, "cores");
    assert.equal(kindOf({hardware: {kind: "channel"}, result: {}}).units, "channels");
    assert.equal(kindOf({hardware: {kind: "tile"}, result: {}}).units, "tiles");
    assert.equal(kindOf({hardware: {kind: "grid"}, result: {}}).units, "units");
    assert.deepEqual(countsOf({cycles: 5, dram: {reads: 0, writes: 0}, cores: {mvm_cycles: 3}, noc: {packets: 4, p99: null}}).map(([name]) => name),
        ["cores: mvm cycles", "NoC: packets"]);
});

test("the Pareto front holds what nothing dominates", () => {
    assert.deepEqual(paretoFront([[1, 9], [2, 5], [3, 5], [4, 1], [2, 7], [1, 9], [5, 1]]), [0, 5, 1, 3]);
    const points = Array.from({length: 300}, (_, i) => [(i * 7919) % 101, (i * 104729) % 97]);
    const dominated = ([x, y]) => points.some(([a, b]) => a <= x && b <= y && (a < x || b < y));
    assert.deepEqual(paretoFront(points).sort((a, b) => a - b), points.flatMap((point, i) => dominated(point) ? [] : [i]));
    assert.deepEqual(paretoFront([]), []);
});

test("the knee is the point farthest from the chord", () => {
    const curve = [[8, 3027911], [16, 1871446], [24, 1489292], [32, 1294598], [48, 1145922], [64, 1106896], [96, 1083000], [256, 1059742]];
    assert.equal(findKnee(curve, true), 3);
    // by hand: x 0,1,2,3 of y 0,8,9,10: distances to the chord are |8 - 10/3| and |9 - 20/3|
    assert.equal(findKnee([[0, 0], [1, 8], [2, 9], [3, 10]], false), 1);
});

test("no knee: a line, few points, a curve that turns, a flat one", () => {
    assert.equal(findKnee([[0, 0], [1, 1], [2, 2], [3, 3]], false), -1);
    assert.equal(findKnee([[1, 10], [2, 1], [3, 0]], false), -1);
    assert.equal(findKnee([[1, 10], [2, 1], [3, 5], [4, 0]], false), -1);
    assert.equal(findKnee([[1, 5], [2, 5], [3, 5], [4, 5]], false), -1);
});

test("phases tile the run, and their parts are their time", () => {
    const by = (matrix, waiting) => ({matrix, vector: 0, memory: 0, network: 0, waiting});
    const tiles = tilePhases([
        {name: "a/x", step: "x", exclusive_cycles: 100, end_cycle: 100, estimate_cycles: 90, units: 2, unit_cycles_by: by(150, 50)},
        {name: "a/y", step: "y", exclusive_cycles: 0, end_cycle: 80, estimate_cycles: 10, units: 2, unit_cycles_by: by(10, 0)}, // ends before the first
        {name: "b/x", step: "x", exclusive_cycles: 60, end_cycle: 160, estimate_cycles: 70, units: 1, unit_cycles_by: by(0, 0)}]);
    assert.deepEqual(tiles.map((tile) => tile.cycles), [100, 0, 60]);
    assert.deepEqual(tiles[0].parts, [75, 0, 0, 0, 25]);
    assert.deepEqual(tiles[2].parts, [0, 0, 0, 0, 60]); // no unit told: waiting
    const steps = groupSteps(tiles);
    assert.deepEqual(steps.map((step) => [step.name, step.cycles, step.phases, step.estimate]), [["x", 160, 2, 160], ["y", 0, 1, 10]]);
});

test("classes cover the largest value in round steps", () => {
    for (const most of [0, 1e-6, 0.22, 0.3, 1, 7, 1234]) {
        const bounds = classBounds(most);
        assert.equal(bounds.length, 8);
        assert.ok(bounds[7] >= most && bounds[7] <= Math.max(most, 1) * 2.001);
        assert.equal(classOf(bounds, 0), 0);
        assert.equal(classOf(bounds, bounds[7]), 7);
    }
    assert.equal(classBounds(0.22)[0], 0.03);
});

test("ticks of a logarithmic axis lie in it and are not more than there is room for", () => {
    assert.deepEqual(logTicks(900, 60000, 6), [1000, 2000, 5000, 10000, 20000, 50000]);
    assert.deepEqual(logTicks(900, 60000, 2), [1000, 10000]);
});

test("arrow keys go to the nearest mark in their direction", () => {
    const grid = [[0, 0], [10, 0], [20, 1], [0, 10], [11, 10]];
    assert.equal(nearest(grid, 0, [1, 0]), 1);
    assert.equal(nearest(grid, 1, [1, 0]), 2);
    assert.equal(nearest(grid, 1, [0, 1]), 4);
    assert.equal(nearest(grid, 0, [-1, 0]), -1);
});

test("links lie between their nodes, directions side by side, wrap-arounds outside", () => {
    const [right, left, down, wrap, skip] = placeLinks([{from: 0, to: 1, blocked_cycles: 5}, {from: 1, to: 0}, {from: 0, to: 4},
        {from: 3, to: 0}, {from: 0, to: 2}], 4, 4, 50);
    assert.deepEqual([skip.x, skip.y, skip.rotate], [0.5, 0.32, 90]);
    assert.deepEqual([right.x, right.y, right.rotate, right.blocked], [0.5, 0.13, 90, 0.1]);
    assert.deepEqual([left.x, left.y, left.rotate], [0.5, -0.13, 270]);
    assert.deepEqual([down.x, down.y, down.rotate], [-0.13, 0.5, 180]);
    assert.deepEqual([wrap.x, wrap.y, wrap.rotate], [3.5, 0.13, 90]);
    assert.ok(Number.isNaN(left.blocked));
});

test("links narrower than a flit: blocked time is a share of the cycles of the network, not of flits", () => {
    const result = {time_ns: 2500, links: [{from: 0, to: 1, flits: 100, utilization: 0.8, blocked_cycles: 50}]};
    assert.equal(networkCycles({result, hardware: {network_khz: 200000}}), 500);
    assert.ok(Number.isNaN(networkCycles({result, hardware: null})));
    assert.equal(placeLinks(result.links, 2, 1, networkCycles({result, hardware: {network_khz: 200000}}))[0].blocked, 0.1);
});

test("tiles: waits that add up over packets are no share of the time, but with routers of flits", () => {
    assert.equal(waitsAddUp({tiles: {switching: "path_hold"}}), true);
    assert.equal(waitsAddUp({tiles: {switching: "saf"}}), true);
    assert.equal(waitsAddUp({tiles: {switching: "wormhole"}}), false);
    assert.equal(waitsAddUp({}), false);
    const [link] = placeLinks([{from: 0, to: 1, blocked_cycles: 5000}], 4, 4, 50, false);
    assert.ok(Number.isNaN(link.blocked));
    assert.equal(kindOf({result: {tiles: {}}}).unit, "tile");
    assert.equal(kindOf({hardware: {kind: "tile"}, result: {}}).engines.pe, "crossbars");
});

const point = (id, settings, values, more) => ({id, trace: "t", network: null, mapper: null, repeat: 0, status: "done", error: null, settings, values, ...more});

test("a sweep: axes that vary, zips as one, curves in the order of values", () => {
    const data = readSweep({pimsim: "0", name: "", total: 5, axes: [["noc.flit_bits"], ["pe.rows", "pe.columns"], ["dram.page"]], statistics: ["cycles", "work.macs", "time_ns"], points: [
        point(0, [64, 8, 8, "open"], [10, 100, 5]), point(1, [8, 8, 8, "open"], [40, 100, 20]), point(2, [64, 16, 16, "open"], [9, 100, 4]),
        point(3, [8, 16, 16, "open"], [39, 100, null]), point(4, [16, 8, 8, "open"], [], {status: "deadlock", error: "x"})]});
    assert.deepEqual(data.axes.map((axis) => [axis.name, axis.numeric, axis.logarithmic, axis.values.length]),
        [["noc.flit_bits", true, true, 3], ["pe.rows + pe.columns", true, false, 2]]);
    assert.equal(data.failed.length, 1);
    const [bits, array] = data.axes;
    const throughput = data.metrics.find((metric) => metric.name === "throughput"), cycles = data.metrics[0];
    assert.equal(cycles.name, "cycles");
    const lines = curves(data, cycles, bits, array, new Map());
    assert.deepEqual(lines.map((line) => [line.name, line.points.map((one) => [one.x, one.y])]),
        [["8", [[8, 40], [64, 10]]], ["16", [[8, 39], [64, 9]]]]);
    assert.deepEqual(curves(data, throughput, bits, null, new Map([[array, "16"]])).map((line) => line.points.map((one) => [one.x, one.y])),
        [[[64, 25e9]]]);
});

test("MACs are those of the network, of a run that was stopped those that were executed", () => {
    assert.equal(usefulMacs(true, 600, 660), 600);
    assert.equal(usefulMacs(undefined, 600, 660), 600);
    assert.equal(usefulMacs(false, 600, 66), 66);
    assert.equal(usefulMacs(true, 0, 66), 66);
    const data = readSweep({pimsim: "0", name: "", total: 2, axes: [["noc.flit_bits"]], statistics: ["complete", "cycles", "work.macs", "work.network_macs", "time_ns"], points: [
        point(0, [64], [1, 10, 660, 600, 5]), point(1, [8], [0, 10, 66, 600, 5])]});
    const throughput = data.metrics.find((metric) => metric.name === "throughput");
    assert.deepEqual([...data.done, ...data.stopped].map((one) => throughput.of(one)), [120e9, 13.2e9]);
});

test("points say what became of their searches", () => {
    const data = readSweep({pimsim: "0", name: "", total: 4, axes: [["noc.flit_bits"]],
        statistics: ["cycles", "search_beaten", "program_search", "program_of.noc.flit_bits", "program_of.noc.link_latency"], points: [
            point(0, [32], [10, 0, 1, 32, 1]), point(1, [64], [9, 1, 2, 64, 1]), point(2, [128], [8, 1, 1, 64, 1]), point(3, [256], [8, null, null, null, null])]});
    assert.deepEqual(data.done.map((one) => data.searchOf(one)),
        ["own", "beaten by a second search for noc.flit_bits = 64", "beaten by the search for noc.flit_bits = 64", null]);
    assert.deepEqual(data.done.map((one) => data.beaten(one)), [false, true, true, false]);
});

test("points that were stopped are in no curve, and are called stopped", () => {
    const sweep = {pimsim: "0", name: "", total: 3, axes: [["noc.flit_bits"]], statistics: ["cycles", "complete"], points: [
        point(0, [64], [10, 1]), point(1, [8], [5, 0]), point(2, [16], [], {status: "deadlock", error: "x"})]};
    const data = readSweep(sweep);
    assert.deepEqual(data.done.map((one) => one.id), [0]);
    assert.deepEqual(sweep.points.map((one) => endOf(data, one)), ["done", "stopped", "deadlock"]);
    const all = readSweep({...sweep, points: [point(0, [64], [10, 0]), point(1, [8], [5, 0])]});
    assert.deepEqual([all.done.length, all.stopped.size], [0, 2]);
    const [network] = readSystems({systems: [{name: "a", title: "A"}, {name: "b", title: "B"}], statistics: ["system.latency_ns", "complete"],
        points: [{system: "a", network: "n", status: "done", values: [30, 1]}, {system: "b", network: "n", status: "done", values: [null, 0]}]});
    assert.deepEqual([network.rows.map((row) => row.name), network.refused.map((one) => [one.system.name, one.status])], [["a"], [["b", "stopped"]]]);
});

test("why systems have no figure for each mm2", () => {
    const row = (name, area) => ({name, system: {area_mm2: area}});
    assert.equal(withoutDensity([row("a", null), row("b", undefined)]), "their area is not known");
    assert.equal(withoutDensity([row("a", null), row("b", 1132)]), "their area is not known; of b the node of the technology");
    assert.equal(withoutDensity([row("b", 1132)]), "the node of their technology is not known");
});

test("systems by network: who took it, who refused, and the order for an aim", () => {
    const sweep = {systems: [{name: "a", title: "A"}, {name: "b", title: "B"}, {name: "c", title: "C"}],
        statistics: ["system.latency_ns", "system.energy_pj", "unit_cycles_by.matrix", "energy_pj.dram"], points: [
            {system: "a", network: "n", status: "done", values: [30, null, 4, null]}, {system: "b", network: "n", status: "done", values: [10, 5, 6, 7]},
            {system: "c", network: "n", status: "bad input", error: "no", values: [null, null, null, null]},
            {system: "a", network: "m", status: "done", values: [1, 2, 3, 4]}]};
    const [n, m] = readSystems(sweep);
    assert.equal(n.network, "n");
    assert.deepEqual(n.rows.map((row) => row.name), ["a", "b"]);
    assert.deepEqual(n.refused.map((one) => [one.system.name, one.error]), [["c", "no"]]);
    assert.equal(m.rows.length, 1);
    assert.deepEqual(n.rows[1].energies, {dram: 7});
    assert.deepEqual(n.rows[0].timeBy, {matrix: 4});
    const order = ranked(n.rows, "latency", false);
    assert.deepEqual(order.map((row) => row.name), ["b", "a"]);
    assert.equal(lead(order, "latency", false), 3);
    assert.deepEqual(ranked(n.rows, "latency", true).map((row) => row.name), ["a", "b"]);
    assert.deepEqual(ranked(n.rows, "energy", false).map((row) => row.name), ["b"]); // a figure that is not there is no rank
    assert.ok(Number.isNaN(lead(ranked(n.rows, "energy", false), "energy", false)));
});

test("differences by step add up to the difference of the runs", () => {
    const run = (cycles, steps) => ({entry: {result: {cycles}}, summary: {steps: Object.entries(steps).map(([name, own]) => ({name, cycles: own}))}});
    const base = run(100, {a: 60, b: 40}), other = run(150, {a: 50, c: 30, b: 65});
    const lines = stepDifferences(base, other);
    assert.deepEqual(lines.map((line) => [line.name, line.difference]), [["c", 30], ["b", 25], ["a", -10], ["behind the last phase", 5]]);
    const few = stepDifferences(base, other, 3);
    assert.deepEqual(few.map((line) => [line.name, line.difference]), [["c", 30], ["b", 25], ["2 others", -5]]);
    for (const all of [lines, few]) assert.equal(all.reduce((sum, line) => sum + line.difference, 0), 50);
    assert.deepEqual(stepDifferences(base, base).map((line) => line.difference), [0, 0]);
});

test("a figure over that of the baseline, where both are known", () => {
    const value = (run) => run.value;
    assert.equal(ratioOf({value: 4}, {value: 6}, value), 1.5);
    assert.equal(ratioOf({value: 4}, {value: 0}, value), 0);
    for (const base of [0, null, NaN, undefined]) assert.ok(Number.isNaN(ratioOf({value: base}, {value: 6}, value)));
    assert.ok(Number.isNaN(ratioOf({value: 4}, {value: null}, value)));
});

test("a metric relative to a baseline compares points that differ in its axis alone", () => {
    const point = (x, y, value) => ({x, y, value});
    const points = [point("1", "a", 10), point("2", "a", 20), point("1", "b", 4), point("2", "b", 2), point("2", "c", 7), point("1", "d", 0), point("2", "d", 5)];
    const axis = (short) => ({short, of: (one) => one[short]});
    const axes = [axis("x"), axis("y")], metric = {name: "cycles", of: (one) => one.value};
    const relative = relativeTo({done: points, axes}, metric, axes[0], "1");
    assert.deepEqual(points.slice(0, 4).map(relative.of), [1, 2, 1, 0.5]);
    assert.ok(Number.isNaN(relative.of(points[4])) && Number.isNaN(relative.of(points[6]))); // no baseline, and one of nothing
    assert.match(relative.name, /cycles over that at x = 1/);
});

test("how many phases run at the same time", () => {
    assert.equal(mostAtOnce([{start: 0, end: 10}, {start: 10, end: 20}]), 1);
    // entered at 0, worked from 10 on; a result of an older version says nothing of work
    const phase = {name: "a/b", step: "b", exclusive_cycles: 10, estimate_cycles: 0, units: 1, start_cycle: 0, end_cycle: 20};
    assert.equal(tilePhases([{...phase, work_start_cycle: 10}])[0].start, 10);
    assert.equal(tilePhases([phase])[0].start, 0);
    // and nothing of published equations, which most mappers do not have either
    assert.deepEqual(tilePhases([phase, {...phase, equation_cycles: null}, {...phase, equation_cycles: 7}]).map((tile) => tile.equations), [0, 0, 7]);
    assert.equal(mostAtOnce([{start: 0, end: 10}, {start: 9, end: 20}, {start: 5, end: 6}, {start: 7, end: 7}]), 2);
    assert.equal(mostAtOnce([]), 0);
});

test("the best of a search so far", () => {
    const steps = bestSoFar([{x: 2, cost: 3}, {x: 0, cost: 5}, {x: 1, cost: NaN}, {x: 3, cost: 4}]);
    assert.deepEqual(steps.map((step) => [step.x, step.best]), [[0, 5], [2, 3], [3, 3]]);
});
