"""
The tuner's part of NicePIM (Wang et al., arXiv 2305.19041, Fig. 9 and section VIII-C): PIM-Tuner against its rivals
over several seeds, and the architecture that was found beside the paper's. Energy times latency, summed over the
networks; quality is 1 / cost, and a search is judged by the mean of its best three, as in the figure.

The figure's values are not in the text: what it says is that NicePIM is best and random methods are last.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys

from report import Report

PIMSIM = os.environ.get("PIMSIM", "build/release/pimsim")
METHODS = ["nicepim", "gaussian", "trees", "annealing", "random"]
KEYS = ["array.height", "array.width", "pe.rows", "pe.columns", "buffers.input_bytes", "buffers.weight_bytes",
        "buffers.output_bytes"]
FOUND = [4, 8, 128, 8, 16 << 10, 144 << 10, 32 << 10]  # section VIII-C
FOUND_HARDWARE = "configs/hardware/nicepim-4x8.cfg"


def call(*words):
    result = subprocess.run([PIMSIM, *map(str, words)], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"pimsim {' '.join(map(str, words))}: exit code {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def search(folder, networks, method, seed, iterations, candidates):
    """The rows of a search; one that was begun goes on."""
    results = os.path.join(folder, f"{method}.{seed}.sqlite")
    call("tune", "-q", "--networks", ",".join(networks), "--constraints", "configs/tune/nicepim.cfg", "--goal",
         "energy^1*latency^1", "--method", method, "--seed", seed, "--iterations", iterations, "--resume", "-o", results,
         *([] if method in ("random", "annealing") else ["--candidates", candidates]))
    return list(csv.DictReader(io.StringIO(call("sweep", "--export", "csv", results))))


def name_of(values):
    kib = [int(v) // 1024 for v in values[4:]]
    return f"{values[0]} x {values[1]} of {values[2]} x {values[3]}, {kib[0]} + {kib[1]} + {kib[2]} KiB"


def quality_at(rows, iteration):
    """The mean of the best three so far; an iteration that failed has none of its own."""
    known = [float(row["tune.best_three"]) for row in rows[:iteration] if row["tune.best_three"]]
    return known[-1] if known else 0.0


def of_the_paper(folder, networks):
    """Cost, latency and energy of the paper's architecture with our mapper."""
    cost = time = energy = 0.0
    trace = os.path.join(folder, "found.bin")
    for network in networks:
        call("map", "nicepim", "-q", "--network", network, "--hardware", FOUND_HARDWARE, "-o", trace)
        result = json.loads(call("run", "-q", trace, "--stats", "-", "--format", "json"))
        time += result["time_ns"]
        energy += result["energy_pj"]["total"]
        cost += result["time_ns"] / 1e6 * result["energy_pj"]["total"] / 1e9
        os.remove(trace)
    return cost, time, energy


def curves(report, found, seeds, iterations):
    marks = [n for n in (8, 16, 24, 40, 60, 100, 200) if n < iterations] + [iterations]
    base = sum(quality_at(found["random", seed], iterations) for seed in seeds) / len(seeds)
    rows = []
    for method in METHODS:
        row = [method]
        for mark in marks:
            row.append(sum(quality_at(found[method, seed], mark) for seed in seeds) / len(seeds) / base)
        ends = [quality_at(found[method, seed], iterations) / base for seed in seeds]
        rows.append(row + [min(ends), max(ends)])
    report.table("tuner", f"Fig. 9: quality of the best three, of random at the end 1; {'means of ' if len(seeds) > 1 else ''}{len(seeds)} seed{'s' if len(seeds) > 1 else ''}",
                 ["method"] + [f"after {mark}" for mark in marks] + ["least", "most"], rows,
                 ["The paper: NicePIM best, random and annealing last (section VIII-C; values are not in the text).",
                  f"least and most: over the seeds, after {iterations} iterations."])
    report.bars(f"Quality of the best three after {iterations} iterations", METHODS,
                [("mean over the seeds", [row[len(marks)] for row in rows])], "of random")
    with open(os.path.join(report.folder, "tuner_curve.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["iteration"] + [f"{method}.{seed}" for method in METHODS for seed in seeds])
        for i in range(1, iterations + 1):
            writer.writerow([i - 1] + [quality_at(found[method, seed], i) for method in METHODS for seed in seeds])


def architectures(report, found, seeds, folder, networks):
    rows = []
    for method in METHODS:
        done = [row for seed in seeds for row in found[method, seed] if row["status"] == "done"]
        best = min(done, key=lambda row: float(row["tune.cost"]))
        rows.append([method, name_of([best[key] for key in KEYS]), float(best["area.engines_mm2"]),
                     float(best["tune.cost"]), float(best["time_ns"]) / 1e6, float(best["energy_pj.total"]) / 1e9])
    area = json.loads(call("area", "--hardware", FOUND_HARDWARE, "--format", "json"))
    cost, time, energy = of_the_paper(folder, networks)
    rows.append(["the paper's", name_of(FOUND), area["mid"]["engines_mm2"], cost, time / 1e6, energy / 1e9])
    report.table("architectures", "Section VIII-C: the architecture found, with our mapper and simulator",
                 ["by", "nodes, PEs, buffers", "mm2", "cost", "ms", "mJ"], rows,
                 ["cost: mJ x ms, summed over the networks. Area: PE arrays and buffers, middle reading, at most 48.",
                  "Routers are not in the area, here as in the paper: fewer nodes have wider flits for nothing."])


def add(report, quick, folder):
    """Adds the tables to a report; databases of the searches stay in `folder`, and what is there is not searched
    again."""
    names = ["vgg8", "alexnet"] if quick else ["googlenet", "resnet152", "vgg16", "darknet53", "bert-base"]
    networks = [f"configs/networks/{name}.cfg" for name in names]
    seeds, iterations, candidates = ([1], 12, 1024) if quick else ([1, 2, 3], 60, 16384)
    os.makedirs(folder, exist_ok=True)
    found = {(method, seed): search(folder, networks, method, seed, iterations, candidates)
             for method in METHODS for seed in seeds}
    curves(report, found, seeds, iterations)
    architectures(report, found, seeds, folder, networks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two small networks, one seed, few iterations")
    parser.add_argument("-o", "--output", default="build/reproduction/nicepim-tuner")
    options = parser.parse_args()
    report = Report("NicePIM: the tuner", options.output)
    add(report, options.quick, os.path.join(options.output, "searches-quick" if options.quick else "searches"))
    report.write()


if __name__ == "__main__":
    main()
