#!/usr/bin/env python3
"""Figs. 10 to 12 of NicePIM: mappings simulated beside the paper's baseline and beside DDAM's pipeline, and the three schedules
of shared data on the flit-level network.

Called by tools/reproduce; PIMSIM names the program. The paper's figures are bars without numbers: its text gives averages."""

import argparse
import json
import math
import os
import subprocess
import time

import roofline
from report import Report

NETWORKS = ["googlenet", "resnet152", "vgg16", "darknet53"]
TRANSFORMERS = ["bert-base"]  # in Fig. 10 alone
ARRAYS = {"4x4": "nicepim-4x4", "16x16": "nicepim-16x16"}
PAPER_MEANS = {"latency saved": 37.0, "energy saved": 28.0, "throughput": 11.0}  # per cent: text of Figs. 10 and 11
PIECE = 8192  # bytes that a node shares in Fig. 12
SIDE = 4      # sets of 4 x 4 nodes


class Runs:
    """Mappings simulated, each once."""

    def __init__(self, program, folder):
        self.program, self.folder, self.known = program, folder, {}
        self.refused = []

    def call(self, *arguments):
        return subprocess.run([self.program, *arguments], check=True, capture_output=True, text=True).stdout

    def fits(self, network, hardware, mapping, batch):
        """Whether it can be mapped; what cannot is noted with the mapper's words."""
        try:
            self.mapped(network, hardware, mapping, batch)
        except subprocess.CalledProcessError as failed:
            if failed.returncode != 1 or "too few" not in failed.stderr:
                raise
            self.refused.append(f"{network}, {hardware}, {mapping}, batch {batch}: {failed.stderr.strip().split(': ', 1)[-1]}")
            return False
        return True

    def mapped(self, network, hardware, mapping, batch=1):
        key = (network, hardware, mapping, batch)
        if key not in self.known:
            trace = os.path.join(self.folder, "trace.bin")
            start = time.monotonic()
            plan = json.loads(self.call("map", "nicepim", "--network", f"configs/networks/{network}.cfg", "--hardware",
                                        f"configs/hardware/{hardware}.cfg", "--mapping", mapping, "--batch", str(batch), "--format", "json",
                                        "--quiet", "--force", "-o", trace))
            seconds = time.monotonic() - start
            result = json.loads(self.call("run", trace, "--format", "json", "--quiet"))
            os.remove(trace)
            self.known[key] = (plan, result, seconds)
        return self.known[key]


def energy(result, part="total"):
    return result["energy_pj"][part] / 1e9


def mapper(runs, report, networks, arrays):
    """Fig. 10."""
    latencies, energies = [], []
    for array in arrays:
        rows, parts = [], []
        for network in networks:
            plan, ours, seconds = runs.mapped(network, ARRAYS[array], "nicepim")
            _, base, _ = runs.mapped(network, ARRAYS[array], "sequential")
            latency = 1 - ours["cycles"] / base["cycles"]
            saved = 1 - energy(ours) / energy(base)
            latencies.append(latency)
            energies.append(saved)
            rows.append([network, ours["cycles"], base["cycles"], 100 * latency, energy(ours), energy(base), 100 * saved,
                         plan["estimated_cycles"], 100 * (plan["estimated_cycles"] / ours["cycles"] - 1),
                         plan["mapping"], seconds])
            parts.append([network, *(value for part in ("pe", "sram", "dram", "noc")
                                     for value in (energy(ours, part), energy(base, part)))])
        report.table(f"fig10-{array}", f"Fig. 10, {array} nodes, one image: our mapper beside the sequential baseline",
                     ["network", "cycles", "baseline", "saved %", "mJ", "baseline mJ", "saved %", "estimate", "error %", "plan", "s"],
                     rows)
        report.table(f"fig10-{array}-energy", f"Fig. 10, {array} nodes: energy by component, mJ (b: baseline)",
                     ["network", "PE", "PE b", "SRAM", "SRAM b", "DRAM", "DRAM b", "NoC", "NoC b"], parts)
        report.bars(f"Cycles over those of the baseline, {array}", networks,
                    [("ours", [row[1] / row[2] for row in rows])], "")
    count = len(latencies)
    report.table("fig10-mean", "Fig. 10: mean over networks and arrays, %", ["", "ours", "paper"],
                 [["latency saved", 100 * sum(latencies) / count, PAPER_MEANS["latency saved"]],
                  ["energy saved", 100 * sum(energies) / count, PAPER_MEANS["energy saved"]],
                  ["latency saved, geometric", 100 * (1 - math.prod(1 - x for x in latencies) ** (1 / count)), None]],
                 ["The paper's mean is over GoogLeNet, ResNet-152, VGG-16, DarkNet-53 and BERT-Base."])


# --- Fig. 11 ---

def pipeline(runs, report, networks, arrays, batches):
    """Fig. 11: throughput and energy of an image beside DDAM's pipeline, each with its best batch. A batch fills and
    empties a pipeline as well: what it does in between follows from the two largest batches."""
    gains, filled_gains = [], []
    for array in arrays:
        rows = []
        for network in networks:
            best, times = {}, []
            for mapping in ("nicepim", "ddam"):
                for batch in batches:
                    if not runs.fits(network, ARRAYS[array], mapping, batch):
                        break  # nor does a larger one
                    plan, result, _ = runs.mapped(network, ARRAYS[array], mapping, batch)
                    if mapping == "ddam":
                        times.append((batch, result["time_ns"]))
                    rate = batch * 1e9 / result["time_ns"]
                    if mapping not in best or rate > best[mapping][0]:
                        best[mapping] = (rate, batch, plan, result)
            (ours, batch, _, our_run), (theirs, their_batch, plan, their_run) = best["nicepim"], best["ddam"]
            (few, start), (many, end) = times[-2:]
            filled = (many - few) * 1e9 / (end - start)
            gains.append(ours / theirs - 1)
            filled_gains.append(ours / filled - 1)
            rows.append([network, ours, batch, theirs, their_batch, 100 * gains[-1], filled, 100 * filled_gains[-1], plan["parts"],
                         energy(our_run) / batch, energy(their_run) / their_batch, energy(our_run, "noc") / batch,
                         energy(their_run, "noc") / their_batch])
        report.table(f"fig11-{array}", f"Fig. 11, {array} nodes: images a second beside DDAM's pipeline, best of batches "
                     + ", ".join(map(str, batches)),
                     ["network", "ours", "batch", "DDAM", "batch", "more %", "DDAM filled", "more %", "parts", "mJ/image", "DDAM mJ", "NoC mJ", "DDAM NoC mJ"],
                     rows)
    report.table("fig11-mean", "Fig. 11: throughput over DDAM's, mean over networks and arrays, %", ["", "ours", "paper"],
                 [["throughput", 100 * sum(gains) / len(gains), PAPER_MEANS["throughput"]],
                  ["throughput, over its filled pipeline", 100 * sum(filled_gains) / len(filled_gains), PAPER_MEANS["throughput"]]],
                 ["DDAM as section VIII-D describes it, with our tiles and scheduler; its paper was not read.",
                  *(f"Left out, with larger batches: {words}" for words in runs.refused)])


# --- section VIII-C: a graphics card ---

PAPER_CARD = 25.0  # times, scaled, on average
CARD = {"mm2": 815.0, "nm": 12, "ghz": 1.53}
LOGIC = {"nm": 28, "ghz": 0.4}


def card(runs, report, networks, batches):
    """The architecture that the paper found, with our mapper, beside a V100 as a roofline: a model, not a measurement."""
    area = json.loads(runs.call("area", "--hardware", "configs/hardware/nicepim-4x8.cfg", "--format", "json"))["mid"]["engines_mm2"]
    scale = CARD["mm2"] / area * CARD["ghz"] / LOGIC["ghz"] * (LOGIC["nm"] / CARD["nm"]) ** 2
    rows = []
    for network in networks:
        ours = min((runs.mapped(network, "nicepim-4x8", "nicepim", batch)[1]["time_ns"] / batch / 1e6, batch) for batch in batches)
        layers = json.loads(runs.call("network", "show", f"configs/networks/{network}.cfg", "--format", "json"))
        theirs = min((roofline.seconds(layers, 2 ** i) / 2 ** i * 1e3, 2 ** i) for i in range(11))
        rows.append([network, *ours, *theirs, theirs[0] / ours[0], theirs[0] / ours[0] * scale])
    rows.append(["mean", None, None, None, None, sum(r[5] for r in rows) / len(rows), sum(r[6] for r in rows) / len(rows)])
    report.table("v100", "Section VIII-C: 4 x 8 nodes of 128 x 8 PEs beside a roofline of the V100 (15.7 TFLOPS, 900 GB/s, 4 bytes)",
                 ["network", "ms/image", "batch", "V100 roofline", "batch", "times", "times, scaled"], rows,
                 [f"Scaled: by area (815 mm2 to {area:.1f} of PE arrays and buffers), clock (1.53 to 0.4 GHz) and density (28 to 12 nm squared).",
                  f"The paper measures a card, scales by area, frequency and technology without a formula, and says {PAPER_CARD:.0f} times on average."])


# --- Fig. 12 ---

def sharing_case(side):
    """Sets of 16 nodes, interleaved where the array is larger."""
    step = side // SIDE
    return {"rows": side, "cols": side,
            "sets": [[[y * step + dy, x * step + dx] for y in range(SIDE) for x in range(SIDE)]
                     for dy in range(step) for dx in range(step)]}


def path_from(start):
    """A Hamilton path over the 4 x 4 places of a set, unit steps only: the first in a fixed order of neighbours."""
    path = [start]

    def extend():
        if len(path) == SIDE * SIDE:
            return True
        y, x = divmod(path[-1], SIDE)
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            at = (y + dy) * SIDE + x + dx
            if 0 <= y + dy < SIDE and 0 <= x + dx < SIDE and at not in path:
                path.append(at)
                if extend():
                    return True
                path.pop()
        return False

    if not extend():  # from half of the places of a grid with an odd number of nodes there is none
        raise ValueError(f"no path of unit steps from place {start}")
    return path


def along_cycle(cycle):
    """Each piece goes round: transfers (round, from, to, piece) between places of a set."""
    n = len(cycle)
    return [(t, cycle[i], cycle[(i + 1) % n], cycle[(i - t) % n]) for t in range(n - 1) for i in range(n)]


def along_paths(n):
    paths = [path_from(owner) for owner in range(n)]
    return [(t, path[t], path[t + 1], owner) for t in range(n - 1) for owner, path in enumerate(paths)]


def direct(n):
    return [(t, owner, (owner + t + 1) % n, owner) for t in range(n - 1) for owner in range(n)]


def write_trace(path, side, sets, transfers):
    """Every set makes its transfers, round by round; a node passes on what it has received."""
    programs = [[] for _ in range(side * side)]
    has = {}
    for tag, (t, s, source, target, piece) in enumerate(sorted(
            (t, s, source, target, piece) for s, list_ in enumerate(transfers) for t, source, target, piece in list_)):
        nodes = [row * side + column for row, column in sets[s]]
        a, b = nodes[source], nodes[target]
        programs[b].append(f"receive peer={a} tag={tag} address={piece * PIECE} bytes={PIECE}")
        has[b, s, piece] = len(programs[b])
        after = has.get((a, s, piece))
        wait = f" after={len(programs[a]) + 1 - after}" if after else ""
        programs[a].append(f"send peer={b} tag={tag} address={piece * PIECE} bytes={PIECE}{wait}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'.version 1\n.family "nicepim"\n.array width={side} height={side} units={side * side}\n.phase 0 "share"\n')
        for unit, program in enumerate(programs):
            file.write(f".unit {unit}\n" + "".join(f"    {line}\n" for line in ["phase_begin 0", *program, "phase_end 0"]))


def scheduler(runs, report, sides):
    """Fig. 12, with 64-bit flits as there."""
    rows = []
    for side in sides:
        case = sharing_case(side)
        name = os.path.join(runs.folder, f"fig12-{side}.json")
        with open(name, "w", encoding="utf-8") as file:
            json.dump(case, file)
        solved = {method: json.loads(runs.call("cycles", name, "--method", method, "--format", "json"))
                  for method in ("cycles", "tours")}
        n = SIDE * SIDE
        transfers = {method: [along_cycle(cycle) for cycle in result["cycles"]]
                     for method, result in solved.items()}
        transfers["paths"] = [along_paths(n)] * len(case["sets"])
        transfers["direct"] = [direct(n)] * len(case["sets"])
        cycles = {}
        for method, lists in transfers.items():
            text, trace = (os.path.join(runs.folder, f"fig12.{kind}") for kind in ("txt", "bin"))
            write_trace(text, side, case["sets"], lists)
            runs.call("trace", "asm", text, "--force", "-o", trace)
            result = json.loads(runs.call("run", trace, "--hardware", f"configs/hardware/nicepim-{side}x{side}.cfg", "--set",
                                          "noc.flit_bits=64", "--noc", "flit", "--format", "json", "--quiet"))
            cycles[method] = result["cycles"]
            os.remove(text)
            os.remove(trace)
        rows.append([f"{side}x{side}", len(case["sets"]), solved["cycles"]["max_load"], solved["tours"]["max_load"],
                     *(cycles[m] for m in ("cycles", "tours", "paths", "direct")),
                     *(cycles[m] / cycles["cycles"] for m in ("tours", "paths", "direct"))])
    report.table("fig12", "Fig. 12: sharing 8 KiB of each node in sets of 16, cycles on the flit-level network, 64-bit flits",
                 ["array", "sets", "load", "load TSP", "ours", "TSP", "SHP", "SHP direct", "TSP/ours", "SHP/ours", "direct/ours"], rows,
                 ["load: pieces on the busiest link in a step. TSP: shortest tours, the same in all sets. SHP: each piece along a",
                  "shortest Hamilton path from its owner; direct: from its owner to each other node. The paper has bars alone: ours is",
                  "least everywhere, TSP's is the same on 4 x 4."])


PARTS = ("mapper", "pipeline", "card", "scheduler")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="GoogLeNet and VGG-16 on 4 x 4 nodes, VGG-16 beside a card; Fig. 12 on 4 x 4 and 8 x 8")
    parser.add_argument("--part", choices=PARTS, help="Fig. 10, Fig. 11, section VIII-C or Fig. 12 alone")
    parser.add_argument("--array", choices=ARRAYS, help="of Figs. 10 and 11: one array alone")
    parser.add_argument("--network", choices=NETWORKS + TRANSFORMERS, help="of Figs. 10 and 11 and section VIII-C: one network alone")
    parser.add_argument("-o", "--output", default="build/reproduction/nicepim")
    options = parser.parse_args()
    report = Report("NicePIM", options.output)
    runs = Runs(os.environ["PIMSIM"], options.output)
    chosen = [options.network] if options.network else ["googlenet", "vgg16"] if options.quick else NETWORKS + TRANSFORMERS
    images = [network for network in chosen if network in NETWORKS]
    arrays = [options.array] if options.array else ["4x4"] if options.quick else list(ARRAYS)
    batches = [1, 8] if options.quick else [1, 2, 4, 8, 16]
    fitting = ["mapper", "pipeline"] if options.array else ["mapper", "pipeline", "card"] if options.network else PARTS
    parts = [part for part in fitting if images or part == "mapper"]
    if options.part and options.part not in parts:
        parser.error(f"--part {options.part} does not go with --array or that --network: {', '.join(parts)} do")
    parts = [options.part] if options.part else parts
    if "mapper" in parts:
        mapper(runs, report, chosen, arrays)
    if "pipeline" in parts:
        pipeline(runs, report, images, arrays, batches)
    if "card" in parts:
        card(runs, report, ["vgg16"] if options.quick and not options.network else images, batches)
    if "scheduler" in parts:
        scheduler(runs, report, [4, 8] if options.quick else [4, 8, 16])
    report.write()


if __name__ == "__main__":
    main()
