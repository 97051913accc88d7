"""
The headline figures of the five papers, and where ours stands: a cell of a table that a reproduction has written, or what
follows from a few of them. The papers' figures are those of the reproductions (PAPER there); no figure of ours is typed here.
`cause` is why ours differs, as far as it was found (docs/reproduction.md).
"""

import csv
import os
from typing import Callable, NamedTuple

import allspark
import conflict
import conflict_estimators
import nicepim
import overlapim
import pimcomp

SYSTEMS = {"allspark": "Allspark", "nicepim": "NicePIM", "nicepim_tuner": "NicePIM, tuner", "pimcomp": "PIMCOMP",
           "overlapim": "Fast-OverlaPIM", "conflict": "NoC conflicts"}


class Tables:
    """The tables of one reproduction. A table or a row that this run has not made is None; a column that no table has is an
    error: then this file no longer says what the reproductions write."""

    def __init__(self, folder):
        self.folder = folder

    def rows(self, name):
        path = os.path.join(self.folder, name + ".csv")
        if not os.path.exists(path):
            return [], []
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        return head, rows

    def column(self, name, column, wanted=lambda row: True):
        """The numbers of a column, of the rows that are wanted; cells without a number are left out."""
        head, rows = self.rows(name)
        if not head:
            return []
        if column not in head:
            raise ValueError(f"{self.folder}/{name}.csv has no column \"{column}\": it has {', '.join(head)}")
        cells = [row[head.index(column)] for row in rows if wanted(row)]
        return [value for value in map(number, cells) if value is not None]

    def cell(self, name, column, *row):
        """The number in the row whose first cells are `row`."""
        values = self.column(name, column, lambda cells: tuple(cells[:len(row)]) == row)
        return values[0] if values else None


def number(text):
    """The number at the beginning of a cell ("0.63 3.1", "360x"), or None."""
    words = text.replace(",", "").split()
    try:
        return float(words[0].rstrip("x")) if words else None
    except ValueError:
        return None


def most(values, key=None):
    return max(values, key=key, default=None)


def mean(values):
    return sum(values) / len(values) if values else None


def over(a, b):
    return a / b if a is not None and b else None


class Headline(NamedTuple):
    system: str
    place: str                 # in the paper
    what: str
    unit: str
    paper: float
    ours: Callable             # of Tables; None: this run has not made it
    cause: str = ""
    bound: str = ""            # "over", "below": the paper gives a bound


def of_allspark():
    paper, system = allspark.PAPER, "allspark"
    local = {"B": "8 MiB refuse B for the networks where it is slowest; more memory brings it near the paper",
             "P": "the image: at 640 windows fill the array whatever the partition (Swin-T 3.0, at 224 7.5); the paper does not list its images",
             "AH": "8 MiB refuse AH where it is slowest; the paper does not say how its baselines lay out branches"}
    world = {"B": "size: one branch is one node (ViT-T 17.7, ViT-S 40.0, ViT-B 88.7)", "P": "8 MiB refuse P for the networks where it is slowest",
             "AH": "ViT has one branch and 12 heads, 12 of 256 nodes: 1.2 needs another AH than heads alone"}
    for name, causes in (("local", local), ("global", world)):
        for scheme, cause in causes.items():
            yield Headline(system, "Fig. 11", f"speed-up over {scheme}, {name} attention", "times", paper[f"speedup_{name}"][scheme],
                           lambda t, n=name, s=scheme: t.cell(f"speedup_{n}", f"over {s}", "average"), cause)
    for network, value in paper["utilization"].items():
        yield Headline(system, "Fig. 12", f"nodes used, {network} at 224", "%", value,
                       lambda t, n=network: t.cell("utilization", "all", f"{n} 224 auto"), bound="over")
    yield Headline(system, "Fig. 12", "nodes used at 224 by B, P and AH, the most", "%", paper["utilization_others"],
                   lambda t: most(t.column("utilization", "all", lambda r: r[0].split()[1:] in (["224", s] for s in "B P AH".split()))),
                   "AH in the paper's own words has 64 of 256 nodes in stage 3", "below")
    yield Headline(system, "VIII-B", "estimate against simulation, the farthest", "%", paper["deviation"],
                   lambda t: most(map(abs, t.column("estimate", "deviation %"))), bound="below")
    yield Headline(system, "VII-B2", "exchange between branches, of the whole, the most", "%", paper["exchange"],
                   lambda t: most(t.column("exchanges", "% of the whole", lambda r: r[0].endswith(" direct"))),
                   "Swin is near it; Twins, Focal and CSWin exchange more", "below")
    for kind, column in (("NoC", "NoC flit-hops"), ("DRAM", "DRAM accesses"), ("energy", "energy")):
        yield Headline(system, "Fig. 13", f"{column}, P over Allspark, Swin-B at 640", "times", paper["patch_level"][kind],
                       lambda t, c=column: t.cell("comparison", c, "swin-b 640 P"),
                       "how many nodes a window gets moves it, beyond the paper's figures")
    ties = "which of equal candidates is taken, which the paper does not say: at random 2.13 to 2.57 and 3.77 to 4.28"
    for stage, value in enumerate(paper["hops"], 1):
        yield Headline(system, "Table III", f"hops, stage {stage}", "hops", value, lambda t, s=stage: t.cell("hops", "ours", str(s)),
                       {1: ties, 2: ties, 3: "4.93 or more at every choice of equal candidates that was tried: its edges or its layout are others"}.get(stage, ""))
    memory = {"weights": "merging and classifier are counted here, not there", "workspace": "workspace in chunks",
              "without reuse": "its 11.64 MiB of weights are 0.91 more than Table V's layers hold, and no sum of their shares", "without sharing": "no reading of the paper's formulas was found that gives its figure"}
    for column, cause in memory.items():
        yield Headline(system, "Table VI", f"memory of a node, {column}", "MiB", paper["memory"][column],
                       lambda t, c=column: t.cell("memory", c, "Table V's plan"), cause)
    yield Headline(system, "Fig. 16", "speed-up over a V100, mean", "times", paper["gpu"][3350],
                   lambda t: t.cell("gpu", "speed-up", "average"), "a roofline, the best any kernel can do, in place of a measured card")


def of_nicepim():
    causes = {"latency saved": "a strong baseline: our tiles, our scheduler, the best of three layouts",
              "energy saved": "the objective is latency: VGG-16 reads more weights to be faster"}
    for what, cause in causes.items():
        yield Headline("nicepim", "Fig. 10", what + " against the sequential baseline, mean", "%", nicepim.PAPER_MEANS[what],
                       lambda t, w=what: t.cell("fig10-mean", "ours", w), cause)
    yield Headline("nicepim", "Fig. 11", "throughput above DDAM's, mean", "%", nicepim.PAPER_MEANS["throughput"],
                   lambda t: t.cell("fig11-mean", "ours", "throughput"),
                   "a batch fills and empties DDAM's pipeline: 23 % above the filled one; batches are cut by images, so that nodes "
                   "share little; DDAM's own paper was not read")
    yield Headline("nicepim", "VIII-C", "speed-up over a V100, scaled", "times", nicepim.PAPER_CARD,
                   lambda t: t.cell("v100", "times, scaled", "mean"),
                   "a roofline in place of a measured card; the paper scales without a formula")
    yield Headline("nicepim_tuner", "Fig. 9", "place of its method among five", "", 1, place_of_the_tuner,
                   "what learns beats random architectures; few iterations do not tell the learned ones apart")
    yield Headline("nicepim_tuner", "VIII-C", "cost of the paper's architecture, of the best found", "times", 1,
                   lambda t: over(t.cell("architectures", "cost", "the paper's"),
                                  min(t.column("architectures", "cost", lambda r: r[0] != "the paper's"), default=None)),
                   "routers are not in the area of 48 mm2, so that fewer nodes with wider flits win")


def place_of_the_tuner(tables):
    """1: no method has a better end. The end is the last column of the curve's marks."""
    head, rows = tables.rows("tuner")
    if not rows:
        return None
    ends = {row[0]: float(row[head.index("least") - 1]) for row in rows}
    return 1 + sum(end > ends["nicepim"] for end in ends.values())


def of_pimcomp():
    paper, system = pimcomp.PAPER, "pimcomp"
    limits = "the ports of the memories (assumed), vector units and network take most of what is above the MVMs"
    static = "leakage alone is static; 1 to 10 % of the all-static reading would give the paper's figures"
    for place, table, what, column, value, cause in (
            ("Fig. 10", "throughput", "throughput over SongC", "ours / SongC", paper["ht_over"]["songc"], limits),
            ("Fig. 10", "throughput", "throughput over Polyhedral", "ours / Polyhedral", paper["ht_over"]["polyhedral"],
             "two runs on Arch-C, where one replica of every layer needs more than the cores"),
            ("Fig. 10", "throughput", "Polyhedral over SongC", "Polyhedral / SongC", paper["ht_polyhedral_over_songc"],
             "Arch-A and its small networks alone; on Arch-C Polyhedral has cores for few replicas"),
            ("Fig. 12", "latency", "latency, SongC over ours", "SongC / ours", paper["ll_over"]["songc"], "the window of issue and the form of messages move both (choices.csv)"),
            ("Fig. 12", "latency", "latency, PUMA over ours", "PUMA / ours", paper["ll_over"]["puma"], "the window of issue and the form of messages move both (choices.csv)"),
            ("Fig. 12", "latency", "latency, Polyhedral over ours", "Polyhedral / ours", paper["ll_over"]["polyhedral"],
             "Arch-C: its layers share cores and have no replicas"),
            ("Fig. 13", "latency_energy", "energy, SongC over ours", "SongC / ours", paper["ll_energy_over"]["songc"], static),
            ("Fig. 13", "latency_energy", "energy, PUMA over ours", "PUMA / ours", paper["ll_energy_over"]["puma"], static),
            ("Fig. 13", "latency_energy", "energy, Polyhedral over ours", "Polyhedral / ours",
             paper["ll_energy_over"]["polyhedral"], "leakage alone is static, dynamic energies are nearly the same")):
        yield Headline(system, place, what + ", mean", "times", value, lambda t, n=table, c=column: t.cell(n, c, "average"), cause)
    yield Headline(system, "Fig. 10", "more arrays used than by Polyhedral", "%", paper["utilization_over_polyhedral"],
                   lambda t: percent_above(t.cell("throughput", "arrays %", "average"), t.cell("throughput", "Polyhedral %", "average")),
                   "the paper does not say whether it means points or per cent")
    for name, value in paper["ht_energy_over_songc"].items():
        yield Headline(system, "Fig. 11", f"energy, SongC over ours, Arch-{name.upper()}", "times", value,
                       lambda t, n=name: t.cell("throughput_energy", "SongC / ours", f"Arch-{n.upper()}, average"),
                       "its cores have four times the static power of Arch-A's, an assumption" if name == "c" else static)
    yield Headline(system, "Table VI", "time to compile, mean", "s", mean([sum(times) for times in paper["compile"].values()]),
                   lambda t: t.cell("compile", "total", "average"), "fitness is an estimate in place of a profile; other machine")


def percent_above(a, b):
    return None if a is None or not b else 100 * (a / b - 1)


def of_overlapim():
    search = "the search looks at pairs, which do not join into a pipeline; one that looks ahead (best_ahead) finds more"
    for network, value in overlapim.PAPER.items():
        for series in ("best_overlap", "best_transform"):
            yield Headline("overlapim", "Fig. 10", f"{network}, {series.replace('_', ' ')}", "times", value[series],
                           lambda t, n=network, s=series: t.cell("fig-10", s, n, "figure"), search)
    for network, value in overlapim.PAPER_RERAM.items():
        for series in ("best_overlap", "best_transform"):
            yield Headline("overlapim", "Fig. 16", f"{network} in ReRAM, {series.replace('_', ' ')}", "times", value[series],
                           lambda t, n=network, s=series: t.cell("fig-16", s, n), search)
    for (network, count), value in overlapim.PAPER_CHANNELS.items():
        yield Headline("overlapim", "Fig. 13", f"{network}, {count} channels a layer, best over original transform", "times", value,
                       lambda t, n=network, c=str(count): over(t.cell("fig-13", "best_transform", n, c),
                                                               t.cell("fig-13", "original_transform", n, c)),
                       "the paper's original transform is slower than no transform; here no layer is later than in lock step")
    yield Headline("overlapim", "Fig. 14", "analysis faster than comparison of all, at most", "times", overlapim.PAPER_ANALYSIS[1],
                   lambda t: most(t.column("fig-14", "speedup")), "closed forms in place of data spaces, and another machine")


def of_conflict():
    paper, system = conflict.PAPER, "conflict"
    yield Headline(system, "Fig. 1", "throughput lost to conflicts at 8 Gb/s", "%", paper["fig1_loss"],
                   lambda t: t.cell("figure1", "loss %", "8"), bound="over")
    yield Headline(system, "Fig. 6", "best R", "", paper["best_r"], best_r, "paths that are held whole: a detour holds more links for longer")
    for place, table, what, row, unit, value, cause in (
            ("Fig. 8", "figure8_means", "latency cut by mapping and schedule", "latency cut by mapping and schedule", "%",
             paper["latency_reduction"], "small networks leave less to cut"),
            ("Fig. 8", "figure8_means", "gap to no conflicts, baselines", "gap to ideal, baselines", "%", paper["gap_before"], ""),
            ("Fig. 8", "figure8_means", "gap to no conflicts, ours", "gap to ideal, ours", "%", paper["gap_after"],
             "the paper's mean has four networks on ImageNet, where computing weighs more"),
            ("Fig. 9", "figure9_means", "throughput gain", "throughput gain, times", "times", paper["throughput_gain"],
             "the paper states neither images nor which time it divides by"),
            ("Fig. 9", "figure9_means", "throughput, gap to no conflicts", "gap to ideal, per cent", "%", paper["throughput_gap"],
             "the same"),
            ("Fig. 10", "figure10_reached", "bandwidth for 94 % of the bound, ours", "mapping and schedule of ours", "Gb/s",
             paper["bandwidth"][0], ""),
            ("Fig. 10", "figure10_reached", "bandwidth for 94 % of the bound, snake XY", "snake XY", "Gb/s", paper["bandwidth"][1], "")):
        yield Headline(system, place, what, unit, value, lambda t, n=table, r=row: t.cell(n, "ours", r), cause)
    yield Headline(system, "Table I", "correlation of cost and latency, random mappings", "", paper["correlation_cost"],
                   lambda t: mean(t.column("table1", "cost r", lambda r: r[0] == "node-group, random")),
                   "converged mappings here have one and the same cost, so that they tell nothing")
    yield Headline(system, "III-B", "the cheapest slower than the best, random mappings", "%", paper["cost_pick_loss"],
                   lambda t: mean(t.column("table1", "loss %", lambda r: r[0] == "node-group, random")),
                   "on equal costs the first of the list is taken")
    for name, value in conflict_estimators.PAPER.items():
        if name != "cost":
            yield Headline(system, "Table I", f"correlation of {name}, converged, not seen", "", value,
                           lambda t, n=name: t.cell("table1_estimators", "unseen: n", n), "the paper does not state its data or split")
    yield Headline(system, "Table II", "behaviour tables, area", "mm2", paper["table_area"], lambda t: most(t.column("table2", "mm2")),
                   "the paper's figure has the estimator, and states no process")


def best_r(tables):
    """The R with the least latency, mean over networks and mappings."""
    head, rows = tables.rows("figure6")
    if not rows:
        return None
    means = {name: mean([float(row[i]) for row in rows]) for i, name in enumerate(head) if i >= 2}
    return float(min(means, key=means.get).replace("R=", ""))


def every():
    return [*of_allspark(), *of_nicepim(), *of_pimcomp(), *of_overlapim(), *of_conflict()]
