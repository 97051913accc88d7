#!/usr/bin/env python3
"""Figs. 10 to 17 of Fast-OverlaPIM: what `pimsim map overlapim` finds, beside the paper's figures.

Called by tools/reproduce; PIMSIM names the program. The paper's figures are bars; where its text gives a number it stands in
the table, elsewhere there is none."""

import argparse
import csv
import json
import os
import subprocess
import time

SERIES = ["best_original", "best_original_overlap", "original_transform", "best_overlap", "overlap_transform", "best_transform", "best_ahead"]
# The series whose mappings an objective's trace holds.
REPLAYED = {"original": "best_original_overlap", "overlap": "best_overlap", "transform": "best_transform", "ahead": "best_ahead"}

# Speedups over Best Original that section V-B, V-E and V-H state.
PAPER = {
    "resnet18": {"best_overlap": 1.6, "best_transform": 4.6},
    "vgg16": {"best_overlap": 1.17, "best_transform": 5.0},
    "resnet50": {"best_overlap": 1.3, "best_transform": 18.1},
}
PAPER_RERAM = {"resnet18": {"best_overlap": 1.16, "best_transform": 2.42}}
PAPER_CHANNELS = {("resnet50", 1): 14.6, ("resnet50", 2): 31.0, ("resnet50", 4): 29.9, ("resnet18", 1): 22.8}
PAPER_ANALYSIS = (3.4, 323.1)  # Fig. 14, times faster than comparison of all data spaces
PAPER_ENCODER = (1.3, 12.0)    # Fig. 17, by layer
ENCODER = "bert-base-encoder"
ORDERS = ["forward", "backward", "middle-output", "middle-total"]


class Runs:
    """Plans by their options, made once."""

    def __init__(self, program, budget):
        self.program, self.budget, self.known = program, budget, {}

    def plan(self, network, hardware="hbm2", channels=2, order="forward", costs=None, analysis="exact", trace=None,
             objective="transform"):
        key = (network, hardware, channels, order, costs, analysis, trace, objective)
        if key not in self.known:
            command = [self.program, "map", "overlapim", "--network", f"configs/networks/{network}.cfg",
                       "--hardware", f"configs/hardware/fast-overlapim-{hardware}.cfg", "--budget", str(self.budget),
                       "--search", "random", "--channels-per-layer", str(channels), "--order", order, "--analysis", analysis, "--objective", objective,
                       "--format", "json", "--quiet"]
            if trace:
                command += ["-o", trace, "--force"]
            if costs:
                command += ["--set", f"levels.costs={costs}"]
            start = time.monotonic()
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            self.known[key] = (result, time.monotonic() - start)
        return self.known[key]


def speedups(plan):
    series = plan["series"]
    return [series["best_original"] / series[name] for name in SERIES]


def table(folder, name, head, rows):
    """A table on standard output and in a CSV file."""
    texts = [[f"{x:.3g}" if isinstance(x, float) else "" if x is None else str(x) for x in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *texts]) for i in range(len(head))]
    print(f"\n{name}")
    for row in [head, *texts]:
        print("  ".join(text.rjust(width) if i else text.ljust(width) for i, (text, width) in enumerate(zip(row, widths))))
    save(folder, name.split(":")[0].lower().replace(" ", "-").replace(".", ""), head, rows)


def save(folder, name, head, rows):
    with open(os.path.join(folder, name + ".csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def overall(runs, folder, networks):
    rows = []
    for costs in ("figure", "commands"):
        for network in networks:
            plan, seconds = runs.plan(network, costs=costs)
            paper = PAPER.get(network, {})
            rows.append([network, costs, *speedups(plan), paper.get("best_overlap"), paper.get("best_transform"), seconds])
    table(folder, "Fig. 10: speedup over Best Original", ["network", "costs", *SERIES, "paper overlap", "paper transform", "s"], rows)


def exhaustive(runs, folder, networks):
    rows = []
    for network in networks:
        ours, _ = runs.plan(network)
        theirs, seconds = runs.plan(network, analysis="exhaustive")
        candidates = [sum(layer["transform"]["candidates"] for layer in plan["layers"]) for plan in (ours, theirs)]
        rows.append([network, *[theirs["series"][name] / ours["series"][name] for name in SERIES], *candidates, seconds])
    table(folder, "Fig. 11: cycles found by comparison of all data spaces, over those found by analysis",
          ["network", *SERIES, "candidates", "by comparison", "s"], rows)


def replay(runs, folder, networks, hardware="hbm2", tables=("figure", "commands")):
    """What the paper has not: every best mapping replayed, layer by layer."""
    summary = []
    for costs in tables:
        for network in networks:
            for objective, series in REPLAYED.items():
                trace = os.path.join(folder, f"{network}-{costs}.bin")
                plan, _ = runs.plan(network, hardware=hardware, costs=costs, trace=trace, objective=objective)
                start = time.monotonic()
                result = json.loads(subprocess.run([runs.program, "run", trace, "--format", "json", "--quiet"], check=True,
                                                   capture_output=True, text=True).stdout)
                seconds = time.monotonic() - start
                os.remove(trace)
                rows, worst_end, worst_part = [], 0.0, 0.0
                for layer, phase in zip(plan["layers"], result["phases"]):
                    end, added, adds = layer["end"][series], phase["exclusive_cycles"], phase["estimate_cycles"]
                    rows.append([layer["name"], end, phase["end_cycle"], end / phase["end_cycle"], adds, added])
                    worst_end = max(worst_end, abs(end / phase["end_cycle"] - 1))
                    if added > result["cycles"] / 100:
                        worst_part = max(worst_part, abs(adds / added - 1))
                cycles = plan["series"][series]
                save(folder, f"replay-{hardware}-{network}-{costs}-{series}",
                     ["layer", "end estimated", "end", "ratio", "adds, estimated", "adds"], rows)
                energy = result["energy_pj"]["total"]
                summary.append([network, costs, series, cycles, result["cycles"], cycles / result["cycles"], 100 * worst_end,
                                100 * worst_part, None if energy is None else energy / 1e9, seconds])
    table(folder, f"Replay {hardware}: estimate and cycles",
          ["network", "costs", "series", "estimate", "cycles", "ratio", "end off %", "part off %", "mJ", "s"], summary)


def parts(plan):
    """What each layer adds to the end of all before it, in every series."""
    rows, before = [], {name: 0 for name in SERIES}
    for layer in plan["layers"]:
        row = [layer["name"]]
        for name in SERIES:
            end = layer["end"][name]
            row.append(max(end - before[name], 0))
            before[name] = max(before[name], end)
        rows.append(row)
    return rows


def layers(runs, folder, networks):
    for network in networks:
        plan, _ = runs.plan(network)
        rows = [[*row, layer["bound"], layer["transform"]["score"] / layer["transform"]["score_bound"]]
                for row, layer in zip(parts(plan), plan["layers"])]
        table(folder, f"Fig. 12 {network}: what each layer adds to the end, cycles", ["layer", *SERIES, "bound", "gap"], rows)


def channels(runs, folder, networks):
    rows = []
    for network in networks:
        for count in (1, 2, 4):
            plan, _ = runs.plan(network, channels=count)
            rows.append([network, count, plan["series"]["best_original"], *speedups(plan), PAPER_CHANNELS.get((network, count))])
    table(folder, "Fig. 13: channels a layer", ["network", "channels", "cycles", *SERIES, "paper transform"], rows)


def orders(runs, folder, networks):
    rows = []
    for network in networks:
        for order in ORDERS:
            plan, _ = runs.plan(network, order=order)
            rows.append([network, order, *[plan["series"][name] for name in SERIES]])
    table(folder, "Fig. 15: where the search begins, cycles", ["network", "order", *SERIES], rows)


def reram(runs, folder):
    rows = []
    for network, paper in PAPER_RERAM.items():
        plan, _ = runs.plan(network, hardware="reram")
        rows.append([network, *speedups(plan), paper["best_overlap"], paper["best_transform"]])
        save(folder, f"fig-16-{network}", ["layer", *SERIES], parts(plan))
    table(folder, "Fig. 16: ReRAM", ["network", *SERIES, "paper overlap", "paper transform"], rows)


def encoder(runs, folder):
    rows = []
    for costs in ("figure", "commands"):
        plan, _ = runs.plan(ENCODER, costs=costs)
        rows.append([ENCODER, costs, *speedups(plan)])
        table(folder, f"Fig. 17 {costs}: what each layer adds to the end, cycles", ["layer", *SERIES], parts(plan))
    table(folder, f"Fig. 17: one encoder of BERT (paper: {PAPER_ENCODER[0]}x to {PAPER_ENCODER[1]}x by layer)", ["network", "costs", *SERIES], rows)


def run_time(folder, program):
    bench = os.path.join(os.path.dirname(program), "pimsim-bench")
    if not os.access(bench, os.X_OK):
        print("\nFig. 14: no program pimsim-bench beside pimsim: left out")
        return
    text = subprocess.run([bench, "overlap"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()[1:]]
    rows = [row + [None] * (6 - len(row)) for row in rows]
    table(folder, f"Fig. 14: run time of the analysis (paper: {PAPER_ANALYSIS[0]}x to {PAPER_ANALYSIS[1]}x)",
          ["data spaces", "lock step us", "transformed us", "sorted us", "all pairs us", "speedup"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ResNet-18 alone, 300 candidates a layer")
    parser.add_argument("-o", "--output", default="build/reproduction/overlapim")
    parser.add_argument("--budget", type=int, help="candidates of a layer and objective")
    options = parser.parse_args()
    program = os.environ["PIMSIM"]
    os.makedirs(options.output, exist_ok=True)
    networks = ["resnet18"] if options.quick else ["resnet18", "vgg16", "resnet50"]
    runs = Runs(program, options.budget or (300 if options.quick else 2000))
    overall(runs, options.output, networks)
    layers(runs, options.output, networks)
    exhaustive(runs, options.output, networks)
    encoder(runs, options.output)
    replay(runs, options.output, [*networks, ENCODER])
    channels(runs, options.output, networks)
    run_time(options.output, program)
    orders(runs, options.output, networks)
    reram(runs, options.output)
    replay(runs, options.output, list(PAPER_RERAM), hardware="reram", tables=("figure",))


if __name__ == "__main__":
    main()
