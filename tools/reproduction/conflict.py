"""
"Minimizing Communication Conflicts in Network-On-Chip Based Processing-In-Memory Architecture" (Sun et al.,
ASP-DAC 2023), ours beside the paper's. PAPER holds the paper's figures, each with the place it stands in;
nothing here is fitted to them.

Graphs and mappings come from `pimsim map conflict`, latencies from `pimsim tasks`. Baselines are the patterns
that the authors run as MNSIM 2.0 (snake) and Krishnan and others (boustrophedon) with XY routing and fixed
priorities; ours is the authors' search (node-group, the fastest of the last population) with routing that looks
for idle links and the balanced arbiter. Each seed is a search of its own; tables show means.

Everything is shown in both readings: path_hold, what the authors simulated, and saf, what their text says.
"""

import argparse
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import conflict_estimators

PIMSIM = os.environ["PIMSIM"]
HARDWARE = os.path.join(os.path.dirname(__file__), "../../configs/hardware/noc-conflict-16x16.cfg")
PJ_PER_BIT_HOP = 5.875  # router and link, the authors' code
SIZES = ("cifar", "imagenet")
PARTS = (*SIZES, "table1", "estimators")
NETWORKS = ("alexnet", "vgg8", "resnet18", "vgg16")
CIFAR_BUFFER, IMAGENET_BUFFER = 822400, 67108864  # bits; the last pooling of ImageNet does not fit the first
PAPER = {
    "latency_reduction": 78,       # abstract, per cent
    "throughput_gain": 3.33,       # abstract
    "throughput_gap": 1.26,        # V-B, per cent
    "gap_before": 80.7,            # abstract, per cent, latency
    "gap_after": 12.3,             # abstract
    "correlation_cost": 0.01,      # Table I
    "cost_pick_loss": 35,          # III-B, per cent
    "fig1_loss": 70,               # Fig. 1, more than, per cent
    "best_r": 2,                   # Fig. 6
    "bandwidth": (6, 30),          # V-B, Gb/s
    "table_area": 2.8,             # Table II, mm2, behaviour tables and estimator
    "table_energy": 0.16,          # Table II, mJ
    "total_area": 1131.7,          # Table II, mm2
    "total_energy": 100.96,        # Table II, mJ
}
SCHEDULES = {"xy": ["--routing", "xy", "--arbiter", "fixed"],
             "ours": ["--routing", "adaptive", "--arbiter", "balance"]}
IDEAL = ["--routing", "xy", "--ideal"]  # nothing competes, so there is nothing to arbitrate
PATTERNS = ("snake", "boustrophedon")   # places by rule: no search, no seed


def call(*words):
    result = subprocess.run([PIMSIM, *map(str, words)], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"pimsim {' '.join(map(str, words))}: exit code {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def bits_of_buffers(network):
    return IMAGENET_BUFFER if network.startswith("imagenet") else CIFAR_BUFFER


def buffers(network):
    """Options of pimsim tasks."""
    bits = bits_of_buffers(network)
    return ["--input-buffer", bits, "--output-buffer", bits]


def hardware(network, schedule):
    """Options of pimsim map conflict."""
    bits = bits_of_buffers(network)
    keys = {"input_buffer_bits": bits, "output_buffer_bits": bits, "routing": schedule[1], "arbiter": schedule[3]}
    return ["--hardware", HARDWARE, *(word for key, value in keys.items() for word in ("--set", f"tile.{key}={value}"))]


class Bench:
    """Graphs, mappings and runs, each made once."""

    def __init__(self, folder, seeds, finalists, generations):
        self.folder, self.seeds, self.finalists, self.generations = folder, seeds, finalists, generations
        self.known = {}

    def prefix(self, network, mapping, seed):
        """The files of a mapping, found by cost and chosen by simulation with the schedule of ours."""
        key = (network, mapping, seed)
        if key not in self.known:
            path = os.path.join(self.folder, f"{network}.{mapping}.{seed}")
            search = [] if mapping in PATTERNS else ["--seed", seed, "--generations", self.generations, "--finalists",
                                                     self.finalists, "--refine", 0]
            call("map", "conflict", "-n", f"recorded:{network}", "--mapping", mapping, "--graph", path, "-q", *search,
                 *hardware(network, SCHEDULES["ours"]))
            self.known[key] = path
        return self.known[key]

    def run(self, network, mapping, seed, *options):
        """The result of a replay."""
        key = (network, mapping, seed, options)
        if key not in self.known:
            self.known[key] = json.loads(call("tasks", self.prefix(network, mapping, seed), "--mapping", mapping,
                                              "--format", "json", "--reproducible", *buffers(network), *options))
        return self.known[key]

    def end(self, network, mapping, seed, *options):
        return find(self.run(network, mapping, seed, *options), "end_ns")

    def mean(self, network, mapping, *options):
        seeds = self.seeds if mapping in ("node-group", "heuristic") else self.seeds[:1]
        ends = [self.end(network, mapping, seed, *options) for seed in seeds]
        return sum(ends) / len(ends), min(ends), max(ends)


def find(tree, name):
    """The first value of that name in a tree of results."""
    if isinstance(tree, dict):
        if name in tree:
            return tree[name]
        for value in tree.values():
            found = find(value, name)
            if found is not None:
                return found
    return None


class Sheet:
    """Tables as text and as CSV files."""

    def __init__(self, folder):
        self.folder = folder

    def table(self, name, title, header, rows):
        print(f"\n{title}")
        widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
        for row in [header, *rows]:
            print("  " + "  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                                   for i, (cell, width) in enumerate(zip(row, widths))))
        with open(os.path.join(self.folder, f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])

    def saved(self, name, networks):
        """The rows of these networks in the tables of both sizes, by the names of their columns; none if one is not there."""
        rows = {}
        for path in sorted(sum((glob.glob(os.path.join(glob.escape(self.folder), f"{name}_{size}*.csv")) for size in SIZES), [])):
            with open(path, newline="", encoding="utf-8") as file:
                rows |= {row["network"]: row for row in csv.DictReader(file)}
        return [rows[network] for network in networks] if all(network in rows for network in networks) else []


def named(name, label):
    """A table of part of the networks has their name."""
    return name if label in SIZES else f"{name}_{label}"


def ms(value):
    return f"{value / 1e6:.4f}"


def percent(value):
    return f"{100 * value:.1f}"


def mean(values):
    return sum(values) / len(values)


def average(rows, column, digits):
    return f"{mean([float(row[column]) for row in rows]):.{digits}f}"


def figure_8(bench, sheet, networks, size):
    """Latency under mappings and schedules, and the gap to a network without conflicts."""
    rows = []
    for network in networks:
        xy = SCHEDULES["xy"]
        snake, rows_in_turns = bench.mean(network, "snake", *xy)[0], bench.mean(network, "boustrophedon", *xy)[0]
        heuristic = bench.mean(network, "heuristic", *xy)[0]
        mapped = bench.mean(network, "node-group", *xy)[0]
        scheduled = bench.mean(network, "snake", *SCHEDULES["ours"])[0]
        ours, least, most = bench.mean(network, "node-group", *SCHEDULES["ours"])
        ideal = bench.mean(network, "node-group", *IDEAL)[0]
        baseline = (snake + rows_in_turns) / 2
        rows.append([network, *map(ms, (snake, rows_in_turns, heuristic, mapped, scheduled, ours)), f"{ms(least)}-{ms(most)}",
                     ms(ideal), percent(1 - ours / baseline), percent(1 - ideal / baseline), percent(1 - ideal / ours)])
    sheet.table(f"figure8_{size}", f"Fig. 8, {size}, latency of an image, ms, path_hold (what the authors simulated)",
                ["network", "snake XY", "boustrophedon XY", "heuristic XY", "ours XY", "snake ours", "ours",
                 "least-most", "ideal", "cut %", "gap before %", "gap %"], rows)


def figure_8_means(sheet, networks):
    """Over both sizes, as the paper has it; nothing while a part of them has not been run."""
    found = sheet.saved("figure8", networks)
    if not found:
        return
    sheet.table("figure8_means", "Fig. 8, means over all networks, per cent", ["", "ours", "paper"],
                [["latency cut by mapping and schedule", average(found, "cut %", 1), PAPER["latency_reduction"]],
                 ["gap to ideal, baselines", average(found, "gap before %", 1), PAPER["gap_before"]],
                 ["gap to ideal, ours", average(found, "gap %", 1), PAPER["gap_after"]]])


def figure_8_saf(bench, sheet, networks, label):
    """The same under store and forward, as the text has it: full duplex, unlimited router buffers."""
    rows = []
    for network in networks:
        saf = ["--switching", "saf", "--routing", "xy"]
        snake = bench.mean(network, "snake", *saf, "--arbiter", "fixed")[0]
        ours = bench.mean(network, "node-group", *saf, "--arbiter", "balance")[0]
        ideal = bench.mean(network, "node-group", *saf, "--ideal")[0]
        rows.append([network, ms(snake), ms(ours), ms(ideal), percent(1 - ours / snake), percent(1 - ideal / ours)])
    sheet.table(named("figure8_saf", label), "Fig. 8 under store and forward (what the text says), ms",
                ["network", "snake fixed", "ours balance", "ideal", "cut %", "gap %"], rows)


def figure_9(bench, sheet, networks, size):
    """Throughput: images over the time of all of them."""
    rows = []
    for network in networks:
        images = ["--batch", 3 if network.startswith("imagenet") else 8]
        rates = []
        for mapping, schedule in (("snake", "xy"), ("boustrophedon", "xy"), ("heuristic", "xy"), ("node-group", "ours")):
            rates.append(images[1] / bench.mean(network, mapping, *SCHEDULES[schedule], *images)[0] * 1e9)
        ideal = images[1] / bench.mean(network, "node-group", *IDEAL, *images)[0] * 1e9
        rows.append([network, images[1], *(f"{rate:.1f}" for rate in (*rates, ideal)),
                     f"{rates[3] / ((rates[0] + rates[1]) / 2):.2f}", percent(1 - rates[3] / ideal)])
    sheet.table(f"figure9_{size}", f"Fig. 9, {size}, images a second, path_hold",
                ["network", "images", "snake XY", "boustrophedon XY", "heuristic XY", "ours", "ideal", "gain", "gap %"],
                rows)


def figure_9_means(sheet, networks):
    found = sheet.saved("figure9", networks)
    if not found:
        return
    sheet.table("figure9_means", "Fig. 9, means over all networks (the paper does not say how many images, nor which time it divides by)",
                ["", "ours", "paper"],
                [["throughput gain, times", average(found, "gain", 2), PAPER["throughput_gain"]],
                 ["gap to ideal, per cent", average(found, "gap %", 1), PAPER["throughput_gap"]]])


def figure_1(bench, sheet, network):
    """Throughput with and without conflicts over the bandwidth."""
    rows = []
    for bandwidth in (2, 4, 8, 16, 32, 64):
        options = ["--bandwidth", bandwidth, "--batch", 8]
        real, ideal = (bench.mean(network, "snake", *options, *schedule)[0] for schedule in (SCHEDULES["xy"], IDEAL))
        rows.append([bandwidth, f"{8e9 / real:.0f}", f"{8e9 / ideal:.0f}", percent(1 - ideal / real)])
    sheet.table("figure1", f"Fig. 1, {network}, images a second; the paper loses more than {PAPER['fig1_loss']} % at 8 Gb/s",
                ["Gb/s", "with conflicts", "without", "loss %"], rows)


def figure_6(bench, sheet, networks, label):
    """Latency over R, beside XY routing."""
    rows = []
    for network in networks:
        for mapping in ("snake", "boustrophedon", "node-group"):
            xy = bench.mean(network, mapping, "--routing", "xy", "--arbiter", "balance")[0]
            cells = [bench.mean(network, mapping, "--routing", "adaptive", "--arbiter", "balance", "--count", "hops",
                                "--slack", 0, "--detour", r)[0] / xy for r in (1, 1.5, 2, 3, 10)]
            rows.append([network, mapping, *(f"{cell:.3f}" for cell in cells)])
    sheet.table(named("figure6", label), f"Fig. 6, latency relative to XY, balanced arbiter; the paper: R = {PAPER['best_r']} is best",
                ["network", "mapping", "R=1", "1.5", "2", "3", "10"], rows)


def figure_10(bench, sheet, network):
    """Throughput over the bandwidth, and where 95 % of the bound is reached."""
    rows, reached = [], {}
    images = 2 if network.startswith("imagenet") else 8
    cases = {"snake XY": ("snake", SCHEDULES["xy"]), "heuristic XY": ("heuristic", SCHEDULES["xy"]),
             "ours": ("node-group", SCHEDULES["ours"]), "ideal": ("node-group", IDEAL)}
    bandwidths = (2, 4, 6, 8, 12, 20, 30, 40)
    rates = {name: [images * 1e9 / bench.mean(network, mapping, *schedule, "--batch", images, "--bandwidth", b)[0]
                    for b in bandwidths] for name, (mapping, schedule) in cases.items()}
    bound = max(rates["ideal"])
    for name, values in rates.items():
        rows.append([name, *(f"{value:.1f}" for value in values)])
        reached[name] = next((b for b, value in zip(bandwidths, values) if value >= 0.94 * bound), "beyond")
    sheet.table("figure10", f"Fig. 10, {network}, images a second over Gb/s", ["", *bandwidths], rows)
    sheet.table("figure10_reached", "Fig. 10, the least Gb/s for 94 % of the bound (paper: on ImageNet)", ["", "ours", "paper"],
                [["mapping and schedule of ours", reached["ours"], PAPER["bandwidth"][0]],
                 ["snake XY", reached["snake XY"], PAPER["bandwidth"][1]]])


def pearson(a, b):
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    saa, sbb = sum((x - ma) ** 2 for x in a), sum((y - mb) ** 2 for y in b)
    if saa == 0 or sbb == 0:
        return float("nan")
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / math.sqrt(saa * sbb)


def correlation(a, b):
    """As text; - where one of them has the same value everywhere."""
    value = pearson(a, b)
    return "-" if math.isnan(value) else f"{value:.2f}"


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in range(i, j):
            rank[order[k]] = (i + j - 1) / 2
        i = j
    return rank


def table_1(bench, sheet, network):
    """How well cost and bottleneck tell the latency of the mappings of converged populations, and at random."""
    rows = []
    for label, mapping, generations in (("heuristic, converged", "heuristic", bench.generations),
                                        ("node-group, converged", "node-group", bench.generations),
                                        ("node-group, random", "node-group", 0)):
        for seed in bench.seeds:
            log = os.path.join(bench.folder, "finalists.csv")
            call("map", "conflict", "-n", f"recorded:{network}", "--mapping", mapping, "--generations", generations,
                 "--finalists", 200, "--refine", 0, "--seed", seed, "--log", log, "-q", *hardware(network, SCHEDULES["xy"]))
            with open(log, encoding="utf-8") as file:
                table = list(csv.DictReader(file))
            latency = [float(row["latency_ns"]) for row in table]
            cells = []
            for estimate in ("cost_bit_hops", "bottleneck_bit_hops"):
                values = [float(row[estimate]) for row in table]
                pick = latency[values.index(min(values))] / min(latency) - 1
                cells += [correlation(values, latency), correlation(ranks(values), ranks(latency)), percent(pick)]
            rows.append([label, seed, *cells])
    sheet.table("table1", f"Fig. 4 and Table I, {network}, 200 mappings, XY: correlation with the latency, loss of the pick; "
                f"paper, total cost: {PAPER['correlation_cost']}, {PAPER['cost_pick_loss']} %",
                ["population", "seed", "cost r", "rank r", "loss %", "bottleneck r", "rank r", "loss %"], rows)


def estimators(sheet, folder, quick):
    """Table I with the learned estimators, and what each is worth."""
    for network in ["cifar-vgg8"] if quick else ["cifar-vgg8", "cifar-resnet18"]:
        words = hardware(network, SCHEDULES["xy"])
        weights, verdicts = conflict_estimators.train(call, folder, network, words, *((2, 50, 50) if quick else (5, 300, 200)))
        conflict_estimators.table_1(sheet, network, verdicts)
        conflict_estimators.worth(call, sheet, network, words, weights, 0.5 if quick else 4, [1] if quick else [1, 2, 3, 4, 5])


def table_2(bench, sheet, networks, label):
    """What behaviour tables take: memories of their own at 28 nm (docs/models/area.md), and reading them."""
    rows = []
    for network in networks:
        made = bench.run(network, "node-group", bench.seeds[0], *SCHEDULES["ours"], "--make-table",
                         os.path.join(bench.folder, f"{network}.tables.bin"), "--force")
        tables, network_mj = made["behaviour_tables"], find(made, "bit_hops") * PJ_PER_BIT_HOP * 1e-9
        rows.append([network, tables["operations"], tables["longest"], tables["run_length_bits"],
                     f"{tables['area_mm2']:.3f}", f"{tables['read_nj']:.1f}", f"{network_mj:.3f}",
                     f"{tables['read_nj'] * 1e-4 / network_mj:.4f}"])
    sheet.table(named("table2", label), f"Table II, behaviour tables of ours, one image; paper: {PAPER['table_area']} mm2, "
                f"{PAPER['table_energy']} mJ, with the estimator, process not stated",
                ["network", "operations", "longest", "bits coded", "mm2", "nJ read", "network mJ", "read %"], rows)
    area = json.loads(call("area", "--hardware", HARDWARE, "--format", "json"))
    sheet.table(named("table2_totals", label), "Table II, totals: what has a published figure here; the paper does not say what its totals are made of",
                ["", "ours", "paper"],
                [["routers, ISAAC's at 32 nm, mm2", f"{area['isaac_routers_mm2_at_32_nm']:.3f}", "-"],
                 ["routers, closed form at 28 nm, mm2", f"{area['mid']['routers_mm2']:.3f}", "-"],
                 ["buffers, closed form at 28 nm, mm2", f"{area['mid']['input_buffer_mm2'] + area['mid']['output_buffer_mm2']:.3f}", "-"],
                 ["everything, mm2", "-", PAPER["total_area"]],
                 ["routers and links, mean of the networks above, mJ", f"{mean([float(row[6]) for row in rows]):.3f}", "-"],
                 ["everything, mJ", "-", PAPER["total_energy"]]])


def figures_of_cifar(sheet, folder, networks, label, seeds, quick):
    bench = Bench(folder, seeds, 20 if quick else 200, 300)
    for network in ["cifar-vgg8" if quick else "cifar-resnet18"]:
        if network in networks:
            figure_1(bench, sheet, network)
    figure_6(bench, sheet, networks, label)
    figure_8(bench, sheet, networks, label)
    figure_9(bench, sheet, networks, label)
    figure_8_saf(bench, sheet, networks, label)
    if quick and "cifar-vgg8" in networks:
        figure_10(bench, sheet, "cifar-vgg8")
    table_2(bench, sheet, networks, label)


def figures_of_imagenet(sheet, folder, networks, label):
    """One seed and ten finalists: a simulation takes seconds."""
    bench = Bench(folder, [1], 10, 300)
    figure_8(bench, sheet, networks, label)
    figure_9(bench, sheet, networks, label)
    if "imagenet-vgg8" in networks:
        figure_10(bench, sheet, "imagenet-vgg8")


def main():
    parser = argparse.ArgumentParser(description="Tables and figures of the communication-conflict paper.")
    parser.add_argument("--quick", action="store_true", help="AlexNet and VGG-8 on CIFAR, one seed")
    parser.add_argument("--part", choices=PARTS, help="this one alone; means over both sizes need the tables of the other in the folder")
    parser.add_argument("--network", help="of the parts cifar and imagenet, this one alone, as cifar-vgg8: tables that have its name")
    parser.add_argument("--seeds", type=int, help="searches of each mapping on CIFAR; 5")
    parser.add_argument("-o", "--output", default="build/reproduction/conflict", help="folder of the CSV files")
    arguments = parser.parse_args()
    quick = arguments.quick
    if quick and arguments.part == "imagenet":
        parser.error("--quick has no network on ImageNet")
    if arguments.seeds is not None and not 1 <= arguments.seeds <= 1000:
        parser.error(f"--seeds {arguments.seeds}: 1 to 1000")
    os.makedirs(arguments.output, exist_ok=True)
    networks = {"cifar": [f"cifar-{name}" for name in (("alexnet", "vgg8") if quick else NETWORKS)],
                "imagenet": [] if quick else [f"imagenet-{name}" for name in NETWORKS]}
    own = networks.get(arguments.part, [])
    if arguments.network and arguments.network not in own:
        parser.error(f"--network {arguments.network}: --part cifar has {', '.join(networks['cifar'])}; "
                     f"--part imagenet {', '.join(networks['imagenet']) or 'none'}")
    seeds = list(range(1, (arguments.seeds or (1 if quick else 5)) + 1))
    sheet = Sheet(arguments.output)
    for part in [arguments.part] if arguments.part else PARTS:
        chosen, label = [arguments.network] if arguments.network else networks.get(part, []), arguments.network or part
        with tempfile.TemporaryDirectory() as folder:
            if part == "cifar":
                figures_of_cifar(sheet, folder, chosen, label, seeds, quick)
            elif part == "imagenet" and not quick:
                figures_of_imagenet(sheet, folder, chosen, label)
            elif part == "table1":
                table_1(Bench(folder, seeds, 0, 300), sheet, "cifar-vgg8")
            elif part == "estimators":
                estimators(sheet, folder, quick)
        if part in SIZES:
            figure_8_means(sheet, sum(networks.values(), []))
            figure_9_means(sheet, sum(networks.values(), []))
    print("\nNot reproduced: totals of Table II (synthesis of the authors' router and tile).")


if __name__ == "__main__":
    main()
