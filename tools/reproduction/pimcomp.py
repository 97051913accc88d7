"""
Section VIII of "PIMCOMP: An End-to-End DNN Compiler for Processing-In-Memory Accelerators", ours beside
the paper's. PAPER holds the paper's figures, each with the place it stands in; nothing here is fitted to
them.

Programs come from `pimsim map pimcomp`, cycles and energy from `pimsim run`; each program passes `pimsim
trace check` first, and what comes out is held against rules that hold whatever the model (check_run). A
network that an accelerator cannot hold is listed with its refusal.

High throughput: one saturated round is simulated, in which every group of layers works on a sample of its
own; a batch of 128 takes 128 + groups - 1 rounds (the experiment "batch" simulates them all). SongC has no
pipeline: its samples follow each other.

Searches are of the preset asked for. All sides of an ablation (Figs. 14 to 17) have the layout of the program of
Figs. 10 to 13; that of other unfoldings (Fig. 15) is searched, since their array groups are others.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from report import Report

PIMSIM = os.environ["PIMSIM"]
ARCHITECTURES = ["a", "b", "c"]
NETWORKS = ["vgg8", "resnet18", "resnet34", "googlenet"]
BATCH = 128  # VIII-A, high throughput
# VIII-A: vgg8 and resnet18 are trained on MNIST: 28 x 28 pixels of one channel, 10 classes.
MNIST = ["network.image=28", "network.input_channels=1", "network.classes=10"]
SETS = {"vgg8": MNIST, "resnet18": MNIST}

PAPER = {
    "ht_over": {"songc": 149.5, "polyhedral": 3.3},                     # VIII-B1, averages
    "ht_polyhedral_over_songc": 44.7,                                   # VIII-B1
    "utilization_over_polyhedral": 38.8,                                # VIII-B1, per cent
    "ht_energy_over_songc": {"a": 9.0, "b": 7.7, "c": 3.9},             # VIII-B1
    "ll_over": {"songc": 21.8, "puma": 9.8, "polyhedral": 5.4},         # VIII-B2
    "ll_energy_over": {"songc": 5.6, "puma": 2.0, "polyhedral": 2.3},   # VIII-B2
    "compile": {  # Table VI, seconds: partition, layout, schedule
        ("vgg8", "ht"): (0.0, 1034.4, 3.0), ("vgg8", "ll"): (0.1, 414.8, 0.5),
        ("resnet18", "ht"): (0.1, 1973.2, 2.7), ("resnet18", "ll"): (0.1, 672.9, 0.4),
        ("resnet34", "ht"): (0.6, 1542.1, 9.5), ("resnet34", "ll"): (0.6, 725.5, 16.4),
        ("googlenet", "ht"): (0.6, 2170.4, 7.6), ("googlenet", "ll"): (0.6, 633.7, 14.7),
    },
}
AVERAGES = "The paper does not say which average it means; arithmetic is the likelier reading."


class Case(NamedTuple):
    """One program: what is mapped, onto what, how."""
    network: str
    architecture: str
    mode: str
    more: tuple = ()       # further options of `map pimcomp`
    sets: tuple = None     # of the network, in place of SETS
    preset: str = None     # budget of the search, in place of the study's
    placed: bool = False   # with the layout of the program of Figs. 10 to 13, in place of a search

    @property
    def label(self):
        return f"Arch-{self.architecture.upper()} {self.network}"

    @property
    def name(self):
        return " ".join([self.label, self.mode, *self.more, *(self.sets or ())])


def baseline(network, architecture, mode, name):
    """The program of a baseline; of SongC there is one, without pipeline, for both modes."""
    return Case(network, architecture, "ht" if name == "songc" else mode,
                () if name == "pimcomp" else ("--baseline", name))


class Study:
    """What is common to all experiments: the search's budget, programs run before, refusals, faults."""

    def __init__(self, preset):
        self.preset, self.done, self.refusals, self.faults = preset, {}, {}, []

    def run(self, name, *arguments):
        done = subprocess.run([PIMSIM, *arguments], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
        self.refusals[name] = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return None

    def plan(self, case, *more, threads=1):
        """The plan as `map pimcomp --format json` has it; None when it is refused."""
        sets = SETS.get(case.network, []) if case.sets is None else case.sets
        if case.placed:
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                json.dump(self.done[baseline(case.network, case.architecture, case.mode, "pimcomp")][0], file)
                file.flush()
                return self.plan(case._replace(placed=False, more=(*case.more, "--plan", file.name)), *more,
                                 threads=threads)
        text = self.run(case.name, "map", "pimcomp", "-q",
                        "--network", f"configs/networks/{case.network}.cfg",
                        *[word for value in sets for word in ("--set", value)],
                        "--hardware", f"configs/hardware/pimcomp-arch-{case.architecture}.cfg",
                        "--mode", case.mode,
                        *(() if {"--plan", "--baseline"} & set(case.more) else ("--preset", case.preset or self.preset)),
                        "--threads", str(threads), "--format", "json", *case.more, *more)
        return json.loads(text) if text else None

    def simulate(self, case):
        """(plan, result of `run`), or None."""
        with tempfile.TemporaryDirectory() as folder:
            trace, stats = os.path.join(folder, "trace.bin"), os.path.join(folder, "result.json")
            plan = self.plan(case, "-o", trace)
            if plan is None or self.run(case.name, "trace", "check", "-q", trace) is None:
                return None
            if self.run(case.name, "run", "-q", trace, "--stats", stats, "--format", "json") is None:
                return None
            with open(stats, encoding="utf-8") as file:
                result = json.load(file)
        self.faults += [f"{case.name}: {fault}" for fault in check_run(plan, result)]
        for bulk in ("links", "phases"):
            result.pop(bulk)
        return plan, result

    def all(self, cases):
        """Runs what was not run before, two at a time."""
        new = [c for c in dict.fromkeys(cases) if c not in self.done]
        with ThreadPoolExecutor(max_workers=2) as pool:
            self.done.update(zip(new, pool.map(self.simulate, new)))

    def plans(self, cases):
        """The plans of programs that are not run, two at a time."""
        with ThreadPoolExecutor(max_workers=2) as pool:
            return dict(zip(cases, pool.map(self.plan, cases)))

    def notes(self, cases):
        """Why cells of a table are empty."""
        return [f"refused: {c.name}: {self.refusals[c.name]}" for c in dict.fromkeys(cases)
                if c.name in self.refusals]


def bound(plan, result):
    """Cycles that no schedule of this layout can beat: an array group works one MVM at a time."""
    return max(-(-layer["mvms"] // (layer["groups"] * layer["replicas"])) * result["cores"]["mvm_cycles"]
               for layer in plan["layers"] if layer["kind"] == "matrix")


def limit(plan, result):
    """Cycles of a round that no layout can beat: the fewest windows of a replica with which all replicas fit
    into the arrays, were cores, memory and transfers no limit."""
    layers = [(layer["mvms"] // layer["groups"], layer["arrays"]) for layer in plan["layers"]
              if layer["kind"] == "matrix"]
    low, high = 1, max(windows for windows, _ in layers)
    while low < high:
        middle = (low + high) // 2
        if sum(-(-windows // middle) * arrays for windows, arrays in layers) <= plan["arrays"]:
            high = middle
        else:
            low = middle + 1
    return low * result["cores"]["mvm_cycles"]


def check_run(plan, result):
    """What cannot be true of any run; a list of texts, empty when all is well."""
    faults, energy, cycles = [], result["energy_pj"], result["cycles"]
    if not result["complete"]:
        faults.append("the run is not complete")
    if cycles < bound(plan, result):
        faults.append(f"{cycles} cycles are fewer than the {bound(plan, result)} of the MVMs of a group")
    parts = sum(v for k, v in energy.items() if k != "total" and v is not None)
    if abs(parts - energy["total"]) > 1e-6 * energy["total"]:
        faults.append(f"energy: the parts are {parts:.6g} pJ, the total {energy['total']:.6g}")
    mvms = result["cores"]["array_mvms"]
    expected = sum(layer["mvms"] * layer["arrays"] / layer["groups"] for layer in plan["layers"]
                   if layer["kind"] == "matrix")
    if plan["batch"] <= 1 and abs(mvms - expected) > 0.5 * len(plan["layers"]):
        faults.append(f"{mvms} MVMs of arrays ran, the plan has {expected:.0f}")
    for unit in result["units"]:
        for engine, busy in unit["busy_cycles"].items():
            if busy > cycles:
                faults.append(f"core {unit['id']}: engine {engine} is busy for {busy} of {cycles} cycles")
    if plan["arrays_used"] > plan["arrays"] or plan["peak_local_bytes"] > plan["local_memory_bytes"]:
        faults.append("more arrays or local memory than there is")
    return faults


def average(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def geometric(values):
    values = [v for v in values if v]
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product if values else None


def ratio(a, b):
    return a / b if a is not None and b else None


def with_means(rows, first, paper):
    """The rows, their averages from column `first` on, and the paper's."""
    columns = range(first, len(rows[0]))
    head = [None] * (first - 1)
    means = [[name, *head, *[mean(r[i] for r in rows) for i in columns]]
             for name, mean in (("average", average), ("geometric mean", geometric))]
    return rows + means + ([["paper", *head, *paper]] if paper else [])


def per_sample(done, pipelined=True, samples=BATCH):
    """(ns, pJ, static pJ) of a sample of a batch; filling and draining cost time and static energy alone."""
    if not done:
        return None, None, None
    plan, result = done
    factor = (samples + plan["layer_groups"] - 1) / samples if pipelined else 1
    static, total = result["energy_pj"]["static"], result["energy_pj"]["total"]
    return result["time_ns"] * factor, total - static + static * factor, static * factor


def used(done):
    return 100.0 * done[0]["arrays_used"] / done[0]["arrays"] if done else None


def busy(done, engine):
    """Mean share of the run in which an engine of a core works, per cent."""
    units, cycles = done[1]["units"], done[1]["cycles"]
    return 100.0 * sum(u["busy_cycles"][engine] for u in units) / (len(units) * cycles)


def port(done):
    """Share of the run that the bytes of the global memories need of their ports, mean of chips, per cent."""
    text = done[1]["inputs"]["configuration"]
    chips = [int(v) for v in re.search(r"chips = \{\s*width = (\d+);\s*height = (\d+);", text).groups()]
    width = int(re.search(r"global_memory = \{[^}]*bytes_per_cycle = (\d+);", text).group(1))
    moved = done[1]["cores"]["global_memory_bits"] / 8
    return 100.0 * moved / (width * chips[0] * chips[1] * done[1]["cycles"])


def high_throughput(study, report, pairs):
    """Figs. 10 and 11."""
    kinds = ["pimcomp", "polyhedral", "songc"]
    cases = {(a, n, k): baseline(n, a, "ht", k) for a, n in pairs for k in kinds}
    study.all(cases.values())
    rows, energy = [], []
    for a, n in pairs:
        done = {k: study.done[cases[a, n, k]] for k in kinds}
        ours, poly, songc = (per_sample(done[k], k != "songc") for k in kinds)
        label = cases[a, n, "pimcomp"].label
        rows.append([label, *[ratio(1e9, sample[0]) for sample in (ours, poly, songc)],
                     ratio(songc[0], ours[0]), ratio(poly[0], ours[0]), ratio(songc[0], poly[0]),
                     used(done["pimcomp"]), used(done["polyhedral"]),
                     ratio(done["songc"][1]["cycles"], limit(*done["pimcomp"]))
                     if done["songc"] and done["pimcomp"] else None])
        dynamic = [e[1] - e[2] if e[1] else None for e in (ours, poly, songc)]
        energy.append([label, *[e[1] / 1e6 if e[1] else None for e in (ours, poly, songc)],
                       *[d / 1e6 if d else None for d in dynamic], ratio(songc[1], ours[1]),
                       ratio(poly[1], ours[1])])
    table = with_means(rows, 4, [PAPER["ht_over"]["songc"], PAPER["ht_over"]["polyhedral"],
                                 PAPER["ht_polyhedral_over_songc"], None, None, None])
    means = table[len(rows)]
    more = "-"
    if means[7] and means[8]:
        more = f"{means[7] - means[8]:.1f} points and {100 * means[7] / means[8] - 100:.1f} %"
    report.table("throughput", "Fig. 10: samples per second, high throughput, and arrays used",
                 ["accelerator, network", "ours", "Polyhedral", "SongC", "ours / SongC", "ours / Polyhedral",
                  "Polyhedral / SongC", "arrays %", "Polyhedral %", "limit / SongC"], table,
                 ["limit: replicas that fill all arrays, nothing but MVMs takes time.",
                  f"Arrays used: {more} above Polyhedral; paper: {PAPER['utilization_over_polyhedral']} %, "
                  "of which kind it does not say.", AVERAGES, *study.notes(cases.values())])
    labels = [r[0] for r in rows]
    report.bars("Fig. 10: throughput over SongC", labels,
                [("PIMCOMP", [r[4] for r in rows]), ("Polyhedral", [r[6] for r in rows])], "times")
    report.bars("Fig. 10: arrays used", labels,
                [("PIMCOMP", [r[7] for r in rows]), ("Polyhedral", [r[8] for r in rows])], "per cent")
    report.bars("Fig. 10: averages", ["ours / SongC", "ours / Polyhedral", "Polyhedral / SongC"],
                [("ours", means[4:7]), ("paper", table[-1][4:7])], "times")
    throughput_energy(report, pairs, energy)


def throughput_energy(report, pairs, rows):
    """Fig. 11."""
    table = with_means(rows, 7, None)
    for a in dict.fromkeys(a for a, _ in pairs):
        name = f"Arch-{a.upper()}"
        own = [r for r in rows if r[0].startswith(name + " ")]
        table += [[f"{name}, average", *[None] * 6, average(r[7] for r in own), average(r[8] for r in own)],
                  [f"{name}, paper", *[None] * 6, PAPER["ht_energy_over_songc"][a], None]]
    report.table("throughput_energy", "Fig. 11: energy of a sample in uJ, high throughput",
                 ["accelerator, network", "ours", "Polyhedral", "SongC", "dynamic", "Polyhedral", "SongC",
                  "SongC / ours", "Polyhedral / ours"], table,
                 ["The paper: Polyhedral and PIMCOMP nearly identical.", AVERAGES])
    report.bars("Fig. 11: energy saved over SongC", [r[0] for r in rows],
                [("PIMCOMP", [r[7] for r in rows]), ("Polyhedral", [ratio(r[3], r[2]) for r in rows])],
                "times")


def low_latency(study, report, pairs):
    """Figs. 12 and 13."""
    kinds = ["pimcomp", "songc", "puma", "polyhedral"]
    others = kinds[1:]
    cases = {(a, n, k): baseline(n, a, "ll", k) for a, n in pairs for k in kinds}
    study.all(cases.values())
    rows, energy = [], []
    for a, n in pairs:
        done = {k: study.done[cases[a, n, k]] for k in kinds}
        time = {k: d[1]["time_ns"] if d else None for k, d in done.items()}
        spent = {k: d[1]["energy_pj"]["total"] if d else None for k, d in done.items()}
        label = cases[a, n, "pimcomp"].label
        rows.append([label, time["pimcomp"] / 1e3 if time["pimcomp"] else None,
                     *[ratio(time[k], time["pimcomp"]) for k in others], *[used(done[k]) for k in kinds]])
        energy.append([label, spent["pimcomp"] / 1e6 if spent["pimcomp"] else None,
                       *[ratio(spent[k], spent["pimcomp"]) for k in others]])
    header = ["SongC / ours", "PUMA / ours", "Polyhedral / ours"]
    for name, title, unit, own, more, paper in (
            ("latency", "Fig. 12: latency of a sample, and arrays used", "us", rows,
             ["arrays %", "SongC %", "PUMA %", "Polyhedral %"], PAPER["ll_over"]),
            ("latency_energy", "Fig. 13: energy of a sample, low latency", "uJ", energy, [],
             PAPER["ll_energy_over"])):
        table = with_means(own, 2, [*[paper[k] for k in others], *[None] * len(more)])
        report.table(name, title, ["accelerator, network", unit, *header, *more], table,
                     [AVERAGES, *study.notes(cases.values())])
        short = title.split(",", maxsplit=1)[0]
        report.bars(short + ", over ours", [r[0] for r in own],
                    [(k, [r[2 + i] for r in own]) for i, k in enumerate(("SongC", "PUMA", "Polyhedral"))],
                    "times")
        report.bars(short + ", averages", header,
                    [("ours", table[len(own)][2:5]), ("paper", table[-1][2:5])], "times")


def saving(study, report, pairs, name, title, mode, ways, measure):
    """Figs. 14 to 17: ways (name, options, whether it is run), and how much less the first takes. `measure`
    reads it from the plan and the result, which is None of a way that is not run."""
    own = {(a, n): baseline(n, a, mode, "pimcomp") for a, n in pairs}
    study.all(own.values())
    pairs = [pair for pair in pairs if study.done[own[pair]]]
    cases = {(a, n, w): Case(n, a, mode, way[1], placed="--unfolding" not in way[1])
             for a, n in pairs for w, way in enumerate(ways)}
    for (a, n, w), case in cases.items():  # what is searched keeps maps on chip where the others do
        if not case.placed and study.done[own[a, n]][0].get("nothing_kept"):
            cases[a, n, w] = case._replace(more=(*case.more, "--no-keeping"))
    study.all(c for (_, _, w), c in cases.items() if ways[w][2])
    plans = study.plans([c for (_, _, w), c in cases.items() if not ways[w][2]])
    rows = []
    for a, n in pairs:
        values, placed = [], []
        for w, (_, _, simulated) in enumerate(ways):
            case = cases[a, n, w]
            done = study.done[case] if simulated else (plans[case], None)
            values.append(measure(*done) if done and done[0] else None)
            if done and done[0] and case.placed:
                placed.append([(layer["name"], layer["unfolding"], layer["placement"])
                               for layer in done[0]["layers"] if layer["kind"] == "matrix"])
        if any(other != placed[0] for other in placed):
            study.faults.append(f"{cases[a, n, 0].label}, {name}: the two sides have other layouts")
        less = [100 * (1 - values[0] / v) if v and values[0] is not None else None for v in values[1:]]
        rows.append([cases[a, n, 0].label, *values, *less])
    start = 1 + len(ways)
    means = [average(r[i] for r in rows) for i in range(start, len(rows[0]))]
    report.table(name, title,
                 ["accelerator, network", *[w[0] for w in ways], *[f"less than {w[0]}, %" for w in ways[1:]]],
                 rows + [["average", *[None] * len(ways), *means]],
                 ["The paper prints a picture alone.",
                  *study.notes(cases.values())])
    report.bars(title, [r[0] for r in rows],
                [(w[0], [ratio(r[1 + i], r[start - 1]) for r in rows]) for i, w in enumerate(ways)],
                f"of {ways[-1][0]}")


def optimizations(study, report, pairs):
    """Figs. 14 to 17."""
    saving(study, report, pairs, "grouping",
           "Fig. 14: first-batch latency in us, high throughput: groups x round", "ht",
           [("layer groups", (), True), ("a layer a group", ("--no-grouping",), True)],
           lambda plan, result: plan["layer_groups"] * result["time_ns"] / 1e3)
    saving(study, report, pairs, "unfolding",
           "Fig. 15: bytes loaded from the global memory for a sample, high throughput", "ht",
           [("rows kept", (), False), ("unfolding chosen", ("--reuse", "unfolding"), False),
            ("ikk_o_1", ("--profile", "0", "--reuse", "unfolding", "--unfolding", "ikk_o_1"), False)],
           lambda plan, _: plan["loaded_bytes"])
    saving(study, report, pairs, "communication", "Fig. 16: latency in us, low latency", "ll",
           [("messages held", (), True), ("sent at once", ("--transmit-threshold", "1"), True)],
           lambda _, result: result["time_ns"] / 1e3)
    saving(study, report, pairs, "local_memory",
           "Fig. 17: bytes of local memory used, all cores, low latency", "ll",
           [("reclaimed", (), False), ("nothing reclaimed", ("--keep-pixels",), False)],
           lambda plan, _: plan["all_local_bytes"])


def batch(study, report, pairs, quick):
    """A whole batch simulated, against the rounds that Fig. 10 takes it for; the quick half has a fourth of it, with the layout of the round."""
    rows, samples = [], BATCH // 4 if quick else BATCH
    cases = [(Case(n, a, "ht"), Case(n, a, "ht", ("--batch", str(samples)), placed=quick)) for a, n in pairs]
    for side in zip(*cases):
        study.all(side)
    for one, whole in cases:
        ns, pj, _ = per_sample(study.done[one], samples=samples)
        done = study.done[whole]
        if ns and done:
            time, energy = done[1]["time_ns"] / samples, done[1]["energy_pj"]["total"] / samples
            rows.append([one.label, ns / 1e3, time / 1e3, 100 * (ns / time - 1), pj / 1e6, energy / 1e6,
                         100 * (pj / energy - 1)])
        else:
            rows.append([one.label, *[None] * 6])
    report.table("batch", f"A batch of {samples}, a sample: from one saturated round, and all rounds simulated",
                 ["accelerator, network", "us, one round", "us, all rounds", "deviation %", "uJ, one round",
                  "uJ, all rounds", "deviation %"], rows, study.notes(c for pair in cases for c in pair))


KINDS = [("ht", "pimcomp"), ("ht", "polyhedral"), ("ht", "songc"), ("ll", "pimcomp"), ("ll", "puma"),
         ("ll", "polyhedral")]
RATIOS = ["HT over SongC", "HT over Polyhedral", "LL over SongC", "LL over PUMA", "LL over Polyhedral"]


def ratios(study, cases):
    """The five ratios of Figs. 10 and 12, of the cases of KINDS."""
    study.all(cases.values())
    done = {kind: study.done[case] for kind, case in cases.items()}
    batched = {kind: per_sample(d, kind[1] != "songc")[0] for kind, d in done.items()}
    alone = {kind: d[1]["time_ns"] if d else None for kind, d in done.items()}
    return [*[ratio(batched["ht", k], batched["ht", "pimcomp"]) for k in ("songc", "polyhedral")],
            *[ratio(alone[k], alone["ll", "pimcomp"])
              for k in (("ht", "songc"), ("ll", "puma"), ("ll", "polyhedral"))]]


def sizes(study, report):
    """Figs. 10 and 12 on Arch-A with other images than MNIST's own."""
    rows, cases = [], []
    for network, image, channels in (("vgg8", 28, 1), ("vgg8", 32, 3), ("resnet18", 28, 1),
                                     ("resnet18", 32, 3), ("resnet18", 224, 3)):
        sets = (f"network.image={image}", f"network.input_channels={channels}", "network.classes=10")
        own = {kind: baseline(network, "a", *kind)._replace(sets=sets) for kind in KINDS}
        cases += own.values()
        rows.append([f"{network}, {image} x {image} x {channels}", *ratios(study, own)])
    report.table("sizes", "Size of the image, Arch-A: ratios of Figs. 10 and 12", ["network, image", *RATIOS],
                 rows, study.notes(cases))


def choices(study, report, networks):
    """Figs. 10 and 12 on Arch-A with other choices of the user (Table II) than those of the configuration."""
    rows, cases = [], []
    for name, more in (("as configured", ()), ("core.window=16", ("core.window=16",)),
                       ("asynchronous", ("core.communication=asynchronous",)),
                       ("in order", ("core.issue=in_order",)),
                       ("global memory 4x", ("global_memory.bytes_per_cycle=256",))):
        more = tuple(word for value in more for word in ("--set", value))
        own = [{kind: baseline(n, "a", *kind) for kind in KINDS} for n in networks]
        own = [{kind: c._replace(more=c.more + more) for kind, c in one.items()} for one in own]
        cases += [c for one in own for c in one.values()]
        found = [ratios(study, one) for one in own]
        speed = [ratio(1e9, per_sample(study.done[one["ht", "pimcomp"]])[0]) for one in own]
        rows.append([name, geometric(speed), *[average(r[i] for r in found) for i in range(len(RATIOS))]])
    report.table("choices", "Choices of Table II, Arch-A: ratios of Figs. 10 and 12, arithmetic averages",
                 ["choice", "HT samples/s, geometric mean", *RATIOS], rows, study.notes(cases))


def compile_times(study, report, networks, preset):
    """Table VI."""
    rows, cases = [], [Case(n, "a", mode, preset=preset) for n in networks for mode in ("ht", "ll")]
    for case in cases:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        plan = study.plan(case, threads=2)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        paper = PAPER["compile"][case.network, case.mode]
        own = plan["compile_seconds"] if plan else {}
        rows.append([f"{case.network} {case.mode}",
                     *[own.get(stage) for stage in ("partition", "layout", "simulations", "schedule",
                                                    "total")],
                     after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, sum(paper),
                     plan.get("generations") if plan else None])
    rows.append(["average", None, None, None, None, *[average(r[i] for r in rows) for i in (5, 6, 7)], None])
    report.table("compile", f"Table VI: seconds to compile on Arch-A, preset {preset}, two threads",
                 ["network, mode", "partition", "layout", "simulations", "schedule", "total", "CPU", "paper",
                  "generations"],
                 rows,
                 ["The paper: 200 individuals, up to 1000 generations, on its own machine; its fitness is a "
                  "profile of a simplified program, ours an estimate; the best few layouts are simulated "
                  "at the end."])


def breakdown(study, report, pairs):
    """Where the time and the energy of the programs of Figs. 10 to 13 go."""
    rows, energies = [], []
    parts = ["crossbar", "vector", "local", "global", "noc", "chip_link", "clocked", "static"]
    for (a, n), (mode, kind) in ((p, k) for p in pairs for k in KINDS):
        case = baseline(n, a, mode, kind)
        done = study.done.get(case)
        if not done:
            continue
        plan, result = done
        name, energy = f"{case.label} {mode} {kind}", result["energy_pj"]
        rows.append([name, result["cycles"], 100 * bound(plan, result) / result["cycles"],
                     port(done), *[busy(done, engine) for engine in ("pe", "acu", "dram", "noc")],
                     100 * (plan["estimate_cycles"] / result["cycles"] - 1), plan["layer_groups"],
                     plan["instructions"], result["simulator"]["cpu_seconds"]])
        energies.append([name, energy["total"] / 1e6,
                         *[100 * (energy[p] or 0) / energy["total"] for p in parts]])
    report.table("breakdown", "Where the time goes: engines at work, mean of all cores",
                 ["program", "cycles", "bound %", "port %", "crossbars %", "vector %", "load/store %",
                  "network %", "estimate %", "groups", "instructions", "CPU s"], rows,
                 ["bound: what the MVMs of the busiest array group take, of the cycles; port: what the bytes "
                  "of the global memory take; estimate: its deviation from the cycles."])
    report.table("energy", "Where the energy goes, per cent", ["program", "uJ", *parts], energies,
                 ["Of one saturated round, or of one sample."])


def leakage(study, report, pairs):
    """Figs. 11 and 13 with a part of the power that the presets "all-static" charge as static, in place of that
    of the configurations: arithmetic on the runs, no other runs."""
    rows, own = [], list(dict.fromkeys(a for a, _ in pairs))
    for share in (None, 1.0, 0.3, 0.1, 0.03, 0.01, 0.0):
        def over(mode, kind, among):
            return average(ratio(*(scaled(study, baseline(n, a, mode, k), share) for k in (kind, "pimcomp")))
                           for a, n in among)
        rows.append(["as configured" if share is None else f"all-static, {100 * share:.0f} %",
                     *[over("ht", "songc", [p for p in pairs if p[0] == a]) for a in own],
                     *[over("ll", kind, pairs) for kind in PAPER["ll_energy_over"]]])
    rows.append(["paper", *[PAPER["ht_energy_over_songc"][a] for a in own],
                 *PAPER["ll_energy_over"].values()])
    report.table("leakage", "Figs. 11 and 13 by what is static",
                 ["power", *[f"HT SongC / ours, Arch-{a.upper()}" for a in own], "LL SongC / ours",
                  "LL PUMA / ours", "LL Polyhedral / ours"], rows,
                 ["all-static: clocked power 0, and so much of the static power of "
                  "configs/hardware/pimcomp-arch-*-all-static.cfg."])


def all_static(architecture):
    """mW of a whole accelerator by its preset "all-static"."""
    def file(name):
        with open(f"configs/hardware/{name}.cfg", encoding="utf-8") as opened:
            return opened.read()
    name = f"pimcomp-arch-{architecture}"
    power = {key: float(value) for key, value in
             re.findall(r"static_mw_per_(core|chip) = ([0-9.]+);", file(name + "-all-static"))}
    width, height = re.search(r"array = \{ kind = \"core\"; width = (\d+); height = (\d+);", file(name)).groups()
    chips = re.search(r"chips = \{\s*width = (\d+);[^}]*?height = (\d+);", file(name)).groups()
    return power["core"] * int(width) * int(height) + power["chip"] * int(chips[0]) * int(chips[1])


def scaled(study, case, share):
    """pJ of a sample; with a share, that part of the preset's static power in place of static and clocked."""
    done = study.done.get(case)
    if not done:
        return None
    result, energy = done[1], done[1]["energy_pj"]
    batched = case.mode == "ht" and done[0]["batch"] == 0
    time = per_sample(done)[0] if batched else result["time_ns"]
    if share is None:
        return per_sample(done)[1] if batched else energy["total"]
    work = energy["total"] - energy["static"] - (energy["clocked"] or 0)
    return work + share * all_static(case.architecture) * time


def estimates(study, report, pairs):
    """How near the plans of Figs. 10 to 13 are, and which layouts were taken."""
    taken, rows, off = {}, [], []
    for mode in ("ht", "ll"):
        for a, n in pairs:
            done = study.done.get(baseline(n, a, mode, "pimcomp"))
            if done:
                plan, result = done
                name = plan["layout_taken"]
                taken[name] = taken.get(name, 0) + 1
                off.append(100 * (plan["estimate_cycles"] / result["cycles"] - 1))
                best = min((c["cycles"] for c in plan.get("candidates", [])
                            if "cycles" in c and c["layout"].split(",")[0] in RULES), default=None)
                rows.append([f"Arch-{a.upper()} {n} {mode}", result["cycles"], off[-1], name, best])
    report.table("estimates", "Estimates and layouts taken, Figs. 10 to 13",
                 ["program", "cycles", "estimate %", "layout taken", "best without a search"], rows,
                 [f"Deviation: mean {average(abs(o) for o in off):.2f} %, largest {max(off, key=abs):.2f} %."
                  if off else "None.",
                  "Taken: " + ", ".join(f"{k} {v}" for k, v in sorted(taken.items())) + ".",
                  "Best without a search: empty where the closed loop ended their simulations, because they "
                  "take longer, or did not begin them, because of their estimates."])


RULES = ("first", "balance", "whole cores")
PARTS = ("figures", "batch", "sizes", "choices", "compile")


def main():
    parser = argparse.ArgumentParser(prog="tools/reproduce pimcomp",
                                     description="Section VIII of the PIMCOMP paper.")
    parser.add_argument("--quick", action="store_true",
                        help="Arch-A, vgg8 and resnet18, the search's fast preset; a batch of 32; Table VI of resnet18")
    parser.add_argument("--part", choices=PARTS,
                        help="Figs. 10 to 17, a whole batch, sizes of the image, the choices of Table II, or Table VI alone")
    parser.add_argument("--preset", choices=["default", "fast", "paper"], default="default",
                        help="budget of the searches of Figs. 10 to 13")
    parser.add_argument("-o", metavar="FOLDER", default="build/reproduction/pimcomp")
    options = parser.parse_args()
    if options.quick and options.part in ("sizes", "choices"):
        parser.error(f"--part {options.part} has no short form: without --quick")
    if options.preset != "default" and options.part == "compile":
        parser.error("--part compile is of preset paper: without --preset")
    parts = [options.part] if options.part else [part for part in PARTS if not options.quick or part not in ("sizes", "choices")]
    report = Report("PIMCOMP, section VIII: ours beside the paper's", options.o)
    networks = NETWORKS[:2] if options.quick else NETWORKS
    pairs = [(a, n) for a in (ARCHITECTURES[:1] if options.quick else ARCHITECTURES) for n in networks]
    study = Study("fast" if options.quick else options.preset)
    if "figures" in parts:
        high_throughput(study, report, pairs)
        low_latency(study, report, pairs)
        leakage(study, report, pairs)
        breakdown(study, report, pairs)
        estimates(study, report, pairs)
        optimizations(study, report, pairs)
    if "batch" in parts:
        batch(study, report, [("a", n) for n in NETWORKS[:1 if options.quick else 2]], options.quick)
    if "sizes" in parts:
        sizes(study, report)
    if "choices" in parts:
        choices(study, report, networks)
    if "compile" in parts:
        compile_times(study, report, ["resnet18"] if options.quick else networks, "fast" if options.quick else "paper")
    runs = sum(1 for done in study.done.values() if done)
    report.table("checks", "What was checked of every run", ["programs", "number"],
                 [["checked and simulated", runs], ["refused", len(study.refusals)],
                  ["faults", len(study.faults)]],
                 ["Each passed `trace check`; cycles are not below the bound, energies add up, MVMs are "
                  "those of the plan, no engine is busy for longer than the run.", *study.faults,
                  *[f"refused: {name}: {why}" for name, why in sorted(study.refusals.items())]])
    report.write()
    return 1 if study.faults else 0


if __name__ == "__main__":
    sys.exit(main())
