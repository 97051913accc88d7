"""
Section VIII of "Allspark: Workload Orchestration for Visual Transformers on Processing In-Memory Systems", ours beside the
paper's. PAPER holds the paper's figures, each with the place it stands in; nothing here is fitted to them.

Plans and estimates come from `pimsim map allspark --format json`, cycles from `pimsim run`. A network that the mapper or the
memory of a node refuses is listed with its refusal. All plans have one copy of the weights of a branch, as the paper's have
(`--copies one`), but those of the table `copies`, which holds pimsim's default against them.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import roofline
from report import Report

PIMSIM = os.environ["PIMSIM"]
HARDWARE = "configs/hardware/allspark-16x16.cfg"
LOCAL = ["swin-t", "swin-s", "swin-b", "swin-l", "twins-svt-s", "twins-svt-b", "twins-svt-l", "focal-t", "focal-s", "focal-b",
         "cswin-t", "cswin-s", "cswin-b", "cswin-l"]
GLOBAL = ["vit-t", "vit-s", "vit-b", "vit-l", "vit-h", "pvt-tiny", "pvt-small", "pvt-medium", "pvt-large"]
BASE = ["swin-b", "twins-svt-b", "vit-b", "pvt-large"]
SCHEMES = ["auto", "B", "P", "AH"]
ONE = ["--copies", "one"]
EXCHANGES = [(n, 224) for n in ("swin-t", "swin-b", "twins-svt-b", "focal-t", "cswin-t")] + [("swin-t", 640), ("swin-b", 640)]

PAPER = {
    "speedup_local": {"B": 40.0, "P": 5.1, "AH": 4.2},   # VIII-B1, averages
    "speedup_global": {"B": 28.8, "P": 6.7, "AH": 1.2},  # VIII-B1
    "hops": [2.59, 4.51, 3.41, 8.48],                    # Table III
    "memory": {"weights": 6.94, "workspace": 1.02, "without reuse": 12.66, "without sharing": 60.82},  # Table VI, MiB
    "utilization": {"swin-b": 96.0, "twins-svt-b": 74.0},  # VIII-B2, "over"; other methods below 20
    "utilization_others": 20.0,                          # VIII-B2, "below"
    "exchange": 1.0,                                     # VII-B2, "bounded by", per cent of the computation
    "deviation": 10.0,                                   # VIII-B, estimate against simulation, per cent
    "gpu": {900: 1.95, 1120: 2.15, 1490: 2.30, 3350: 2.30},  # Table VII
    "patch_level": {"NoC": 6.7, "DRAM": 3.6, "energy": 2.8},  # VIII-B3, patch level over Allspark, Swin-B at 640
}
# Table V, whose pairs are [heads, patches]: ours are rows (patches), columns (heads).
TABLE_V = "1,1*2+2,4:1,2*1+4,4:2,8*2+4,16:4,4"


def pimsim(*arguments):
    """(standard output, None), or (None, the refusal)."""
    done = subprocess.run([PIMSIM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout, None
    return None, (done.stderr.strip().splitlines() or ["no message"])[-1]


def hardware_of(network):
    """The paper deploys PVT onto 8x8 nodes."""
    sets = ["--set", "array.width=8", "--set", "array.height=8"] if network.startswith("pvt") else []
    return ["--hardware", HARDWARE, *sets]


def map_arguments(network, image, scheme, *more):
    return ["map", "allspark", "-q", "--network", f"configs/networks/{network}.cfg", "--set", f"network.image={image}",
            *hardware_of(network), "--partition", scheme, *([] if "--copies" in more else ONE), *more]


def plan_of(network, image, scheme="auto", *more):
    text, refusal = pimsim(*map_arguments(network, image, scheme, "--format", "json", *more))
    return (json.loads(text), None) if text else (None, refusal)


def simulate(network, image, scheme, folder):
    """The plan and the result of a run; or (None, None, refusal)."""
    trace, result = os.path.join(folder, "trace.bin"), os.path.join(folder, "result.json")
    plan, refusal = plan_of(network, image, scheme, "-o", trace)
    if refusal:
        return None, None, refusal
    _, refusal = pimsim("run", "-q", trace, "--stats", result, "--format", "json")
    if refusal:
        return plan, None, refusal
    with open(result, encoding="utf-8") as file:
        return plan, json.load(file), None


def average(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def speedups(report, networks, images, paper, name, title):
    """Fig. 11: estimates of the three baselines over that of Allspark, and of perfect utilisation."""
    rows, refusals, means = [], [], {s: [] for s in [*SCHEMES, "ideal"]}
    for network in networks:
        for image in images:
            cycles = {}
            for scheme in SCHEMES:
                plan, refusal = plan_of(network, image, scheme)
                cycles[scheme] = plan["estimate_cycles"] if plan else None
                if plan and scheme == "auto":
                    cycles["ideal"] = plan["ideal_cycles"]
                if refusal and (scheme == "auto" or cycles.get("auto")):
                    refusals.append(f"{network} {image} {scheme}: {refusal}")
            if not cycles["auto"]:
                continue
            ratios = [cycles[s] / cycles["auto"] if cycles[s] else None for s in SCHEMES[1:]]
            for scheme, ratio in zip(SCHEMES[1:], ratios):
                means[scheme].append(ratio)
            means["ideal"].append(cycles["ideal"] / cycles["auto"])
            rows.append([f"{network} {image}", cycles["auto"], *ratios, means["ideal"][-1]])
    rows.append(["average", None] + [average(means[s]) for s in [*SCHEMES[1:], "ideal"]])
    rows.append(["paper", None] + [paper[s] for s in SCHEMES[1:]] + [None])
    report.table(name, title, ["network, image", "cycles (estimate)", "over B", "over P", "over AH", "ideal / ours"], rows,
                 [*refusals, "ideal: every element of every node multiplies in every cycle"])
    report.bars(title, ["over B", "over P", "over AH"],
                [("ours", [average(means[s]) for s in SCHEMES[1:]]), ("paper", [paper[s] for s in SCHEMES[1:]])], "times")


def utilization(plan, result):
    """Equation (16) per stage of the plan and in all, per cent; times are simulated: by how much a phase moves
    the end of the work. (From its start to its end it may be open for long on nodes that wait for others.)"""
    time, end = {}, 0
    for phase in result["phases"]:
        cycles = max(0, phase["end_cycle"] - end)
        end += cycles
        match = re.match(r"stage(\d+)/block(\d+)/layer(\d+)/(.*)", phase["name"])
        if match:
            stage, block, layer = (int(number) for number in match.groups()[:3])
            # A stage of a network with two kinds of blocks is two of the plan.
            rows = [s for s, row in enumerate(plan["stages"]) if row["stage"] == stage
                    and block >= row["first_block"] and (block - row["first_block"]) % row["block_step"] == 0]
            # Stripes of CSWin, behind their projections, have the attention of the same blocks.
            row = rows[-1] if match[4] in ("scores", "context", "local_position") else rows[0]
            time[row, layer] = time.get((row, layer), 0) + cycles
    nodes, stages, busy_all, all_time = len(result["units"]), [], 0.0, 0.0
    for s, stage in enumerate(plan["stages"]):
        busy = total = 0.0
        for layer, scheme in enumerate(stage["temporal_layers"]):
            cycles = time.get((s, layer), 0)
            busy += cycles * min(nodes, scheme["branches"] * scheme["u"] * scheme["v"])
            total += cycles
        stages.append(100 * busy / (nodes * total) if total else None)
        busy_all, all_time = busy_all + busy, all_time + total
    return stages, 100 * busy_all / (nodes * all_time) if all_time else None


def simulated(report, cases, folder):
    """Figs. 4, 12, 13 and the claim on estimates, from simulation."""
    deviations, uses, compare, refusals = [], [], [], []
    for network, image, schemes in cases:
        reference = None
        for scheme in schemes:
            plan, result, refusal = simulate(network, image, scheme, folder)
            label = f"{network} {image} {scheme}"
            if refusal:
                refusals.append(f"{label}: {refusal}")
                continue
            estimate, cycles = plan["estimate_cycles"], result["cycles"]
            equations = sum(phase["equation_cycles"] or 0 for phase in result["phases"])
            deviations.append([label, estimate, cycles, 100 * (estimate - cycles) / cycles,
                               equations, 100 * (equations - cycles) / cycles, result["simulator"]["cpu_seconds"]])
            stages, whole = utilization(plan, result)
            uses.append([label] + [whole] + (stages + [None] * 8)[:8])
            measures = [cycles, result["work"].get("macs"), result["noc"].get("flit_hops"),
                        result["dram"].get("reads", 0) + result["dram"].get("writes", 0), result["energy_pj"]["total"]]
            reference = reference or measures
            compare.append([label] + [m / r if m and r else None for m, r in zip(measures, reference)])
    report.table("estimate", "Estimate against simulation (paper: within 10 %)",
                 ["network, image, scheme", "estimate", "simulated", "deviation %", "the paper's equations", "their deviation %", "CPU s"],
                 deviations, [*refusals, "equations (12) to (15), docs/mappers/allspark-equations.md: without exchanges between branches, pooling, classifier"])
    report.table("utilization", "Figs. 4 and 12: node utilisation, equation (16), per cent",
                 ["network, image, scheme", "all"] + [f"stage {s}" for s in range(1, 9)], uses,
                 [f"paper: {n} over {v:.0f} % with Allspark, below {PAPER['utilization_others']:.0f} % with the others" for n, v in
                  PAPER["utilization"].items()])
    report.bars("Node utilisation", [u[0] for u in uses], [("ours, per cent", [u[1] for u in uses])], "per cent")
    report.table("comparison", "Fig. 13: against the first scheme of each network",
                 ["network, image, scheme", "latency", "MACs", "NoC flit-hops", "DRAM accesses", "energy"], compare,
                 ["paper, Swin-B at 640, patch level: " + ", ".join(f"{k} {v}" for k, v in PAPER["patch_level"].items())])


def exchanges(report, cases, folder):
    """Section VII-B2: what branches give to each other from node to node, and over the top-left nodes, from simulation."""
    steps, trace = ("shift", "unshift", "hand_over", "to_stripes", "from_stripes", "neighbours"), os.path.join(folder, "trace.bin")
    rows, refusals = [], []
    for network, image in cases:
        direct = None
        for form in ("direct", "gather"):
            _, refusal = plan_of(network, image, "auto", "-o", trace, "--exchange", form)
            text, refusal = (None, refusal) if refusal else pimsim("validate", "-q", trace, "--format", "json")
            if refusal:
                refusals.append(f"{network} {image} {form}: {refusal}")
                continue
            result = json.loads(text)
            kinds = json.loads(pimsim("trace", "stat", trace, "--format", "json")[0])["total"]["messages"]
            spent = sum(p["simulated_cycles"] for p in result["phases"] if p["name"].split("/")[-1] in steps)
            whole = result["total"]["simulated_cycles"]
            direct = direct or whole
            rows.append([f"{network} {image} {form}", result["total"]["estimate_cycles"], whole, result["total"]["error_percent"],
                         spent, 100 * spent / whole, whole / direct] +
                        [kinds[k]["sent_bytes"] if form == "gather" else None for k in ("gather", "transfer", "scatter")])
    report.table("exchanges", f"Section VII-B2: exchange between branches (paper: bounded by {PAPER['exchange']:.0f} % of the computation)",
                 ["network, image, form", "estimate", "simulated", "deviation %", "exchange", "% of the whole", "over direct",
                  "gathered bytes", "transferred", "scattered"], rows, refusals)


def memory(report):
    """Tables V and VI, and Table III's hops, on Swin-B at 640 pixels."""
    own, refusal = plan_of("swin-b", 640, "auto", "--ring", "1")
    given, refused = plan_of("swin-b", 640, TABLE_V, "--ring", "1")
    rows = []
    for name, plan in (("ours", own), ("Table V's", given)):
        if not plan:
            continue
        for s, stage in enumerate(plan["stages"], 1):
            schemes = " ".join(f"[{t['v']},{t['u']}]" + ("*" if t["reuses"] else "") for t in stage["temporal_layers"])
            rows.append([f"{name}, stage {s}", stage["branches"], len(stage["temporal_layers"]), schemes])
        rows.append([f"{name}, estimate", plan["estimate_cycles"], None, "optimal" if plan["optimal"] else "given"])
    report.table("schedule", "Table V: Swin-B at 640, schemes as [heads, patches], * reuses weights",
                 ["plan", "branches or cycles", "temporal layers", "schemes"], rows, [r for r in (refusal, refused) if r])
    rows = []
    for name, plan in (("ours", own), ("Table V's plan", given)):
        if plan:
            m, mib = plan["memory_per_node"], 2.0**20
            rest = m["weights"] - m["block_weights"] + m["workspace"]
            rows.append([name, m["weights"] / mib, m["workspace"] / mib, m["total"] / mib,
                         (m["block_weights_without_reuse"] + rest) / mib, (m["block_weights_without_sharing"] + rest) / mib])
    p = PAPER["memory"]
    rows.append(["paper", p["weights"], p["workspace"], p["weights"] + p["workspace"], p["without reuse"],
                 p["without sharing"]])
    report.table("memory", "Table VI: memory of a node, MiB",
                 ["plan", "weights", "workspace", "total", "without reuse", "without sharing"], rows)
    text, refusal = pimsim(*[a for a in map_arguments("swin-b", 640, TABLE_V, "--ring", "1") if a != "-q"])
    hops = re.findall(r"placement of stage \d+: ([\d.]+) hops .*?\(in order ([\d.]+), at random ([\d.]+)\)", text or "")
    report.table("hops", "Table III: average hops of the exchange between branches, Table V's plan",
                 ["stage", "ours", "in order", "random", "paper"],
                 [[str(s + 1), *map(float, h), PAPER["hops"][s]] for s, h in enumerate(hops)], [refusal] if refusal else [])


def copies(report, networks, images):
    """Beyond the paper: the plans that users get, in which a branch keeps several copies of its weights, estimates."""
    rows, refusals, means = [], [], []
    for network in networks:
        for image in images:
            plans = []
            for number in ("one", "best"):
                plan, refusal = plan_of(network, image, "auto", "--copies", number)
                plans.append(plan)
                if refusal and number == "best":
                    refusals.append(f"{network} {image}: {refusal}")
            if all(plans):
                one, best = (plan["estimate_cycles"] for plan in plans)
                means.append([best / one, plans[0]["ideal_cycles"] / one, plans[1]["ideal_cycles"] / best])
                rows.append([f"{network} {image}", one, best, *means[-1]])
    rows.append(["average", None, None, *[average(column) for column in zip(*means)]])
    report.table("copies", "Beyond the paper: several copies of the weights of a branch, pimsim's default, against one (estimates)",
                 ["network, image", "one copy", "best", "best / one", "ideal / one", "ideal / best"], rows, refusals)


def batches(report, network):
    """Fig. 14: mean latency of an image and its parts, for batches."""
    rows, first = [], None
    for images in (1, 2, 4, 8, 16):
        plan, refusal = plan_of(network, 224, "auto", "--batch", str(images))
        if refusal:
            rows.append([f"{images}: {refusal}", None, None, None, None])
            continue
        parts = plan["estimate_parts"]
        mean = plan["estimate_cycles"] / images
        first = first or mean
        rows.append([str(images), mean / first] + [parts[k] / images / first for k in ("compute", "transfer", "weight_sharing")])
    report.table("batches", f"Fig. 14: {network}, latency of an image against that of a batch of one (estimate)",
                 ["batch", "latency", "compute", "transfer", "weight sharing"], rows)


def arrays(report, networks):
    """Fig. 15: arrays and memories, speed-up over the baselines averaged over the base-size networks."""
    rows, refusals = [], []
    for width in (8, 16, 24):
        for capacity in (4, 8, 16):
            ratios = {s: [] for s in SCHEMES[1:]}
            for network in networks:
                cycles = {}
                for scheme in SCHEMES:
                    text, refusal = pimsim("map", "allspark", "-q", "--network", f"configs/networks/{network}.cfg",
                                           "--hardware", HARDWARE, "--set", f"array.width={width}", "--set",
                                           f"array.height={width}", "--set", f"dram.rows={capacity * 1024}",
                                           "--partition", scheme, *ONE, "--format", "json")
                    cycles[scheme] = json.loads(text)["estimate_cycles"] if text else None
                    if refusal and scheme == "auto":
                        refusals.append(f"{network}, {width}x{width}, {capacity} MiB: {refusal}")
                for scheme in SCHEMES[1:]:
                    if cycles["auto"] and cycles[scheme]:
                        ratios[scheme].append(cycles[scheme] / cycles["auto"])
            rows.append([f"{width}x{width}, {capacity} MiB"] + [average(ratios[s]) for s in SCHEMES[1:]])
    report.table("arrays", "Fig. 15: base-size networks at 224, mean speed-up (estimate)",
                 ["nodes, memory of a node", "over B", "over P", "over AH"], rows, refusals)


def roofline_seconds(network, image):
    """A V100 as a roofline: each layer takes the longer of its arithmetic and its traffic, 4-byte elements."""
    text, refusal = pimsim("network", "show", f"configs/networks/{network}.cfg", "--set", f"network.image={image}",
                           "--format", "json")
    if refusal:
        return None
    return roofline.seconds(json.loads(text))


def gpu(report, networks, images):
    """Fig. 16 and Table VII against a roofline, not a measurement: 24x24 nodes of 8x8 elements are 14.7 TMAC/s."""
    rows = []
    for network in networks:
        for image in images:
            text, refusal = pimsim("map", "allspark", "-q", "--network", f"configs/networks/{network}.cfg", "--set",
                                   f"network.image={image}", "--hardware", HARDWARE, "--set", "array.width=24", "--set",
                                   "array.height=24", *ONE, "--format", "json")
            seconds = json.loads(text)["estimate_cycles"] / 400e6 if text else None
            card = roofline_seconds(network, image)
            rows.append([f"{network} {image}", 1e3 * card if card else None, 1e3 * seconds if seconds else None,
                         card / seconds if seconds and card else None] if not refusal else
                        [f"{network} {image}: {refusal}", None, None, None])
    rows.append(["average", None, None, average([r[3] for r in rows])])
    report.table("gpu", "Fig. 16: against a roofline of the V100 (15.7 TFLOPS, 900 GB/s, 4 bytes)",
                 ["network, image", "V100 roofline ms", "pimsim estimate ms", "speed-up"], rows,
                 ["The paper measures PyTorch on a card (2.3 times slower than its system on average); a roofline is the best any "
                  "kernel could do, launch times, padding and unfused operators left out, so it must come out faster than that."])


def bandwidths(report, networks):
    """Table VII: 36,864 elements on fewer nodes, each of which brings 5.8 GB/s."""
    rows, refusals = [], []
    for width, height, rows_of_node, columns, bandwidth in ((13, 12, 16, 15, 900), (16, 12, 16, 12, 1120),
                                                            (16, 16, 12, 12, 1490), (24, 24, 8, 8, 3350)):
        ratios = []
        for network in networks:
            text, refusal = pimsim("map", "allspark", "-q", "--network", f"configs/networks/{network}.cfg", "--hardware",
                                   HARDWARE, "--set", f"array.width={width}", "--set", f"array.height={height}", "--set",
                                   f"pe.rows={rows_of_node}", "--set", f"pe.columns={columns}", *ONE, "--format", "json")
            if refusal:
                refusals.append(f"{network}, {width}x{height}: {refusal}")
            else:
                ratios.append(roofline_seconds(network, 224) / (json.loads(text)["estimate_cycles"] / 400e6))
        rows.append([f"{width}x{height} nodes of {rows_of_node}x{columns}, {bandwidth} GB/s", average(ratios),
                     PAPER["gpu"][bandwidth]])
    report.table("bandwidths", "Table VII: against the roofline of the V100 at 224 pixels, mean, nodes with more elements each",
                 ["array", "ours", "paper"], rows, refusals)


def main():
    parser = argparse.ArgumentParser(prog="tools/reproduce allspark", description="Section VIII of the Allspark paper.")
    parser.add_argument("--quick", action="store_true", help="one network simulated, 224 pixels")
    parser.add_argument("-o", metavar="FOLDER", default="build/reproduction/allspark")
    options = parser.parse_args()
    report = Report("Allspark, section VIII: ours beside the paper's", options.o)
    images = [224] if options.quick else [224, 640]
    local = ["swin-t", "twins-svt-s"] if options.quick else LOCAL
    world = ["vit-t", "pvt-tiny"] if options.quick else GLOBAL
    speedups(report, local, images, PAPER["speedup_local"], "speedup_local", "Fig. 11: networks with local attention")
    speedups(report, world, images, PAPER["speedup_global"], "speedup_global", "Fig. 11: networks with global attention")
    cases = [("swin-t", 224, SCHEMES)]
    if not options.quick:
        cases += [(n, 224, ["auto"]) for n in LOCAL + GLOBAL if n != "swin-t"]
        cases += [("swin-b", 640, SCHEMES), ("twins-svt-b", 640, ["auto"])]
    with tempfile.TemporaryDirectory() as folder:
        simulated(report, cases, folder)
        exchanges(report, [("swin-t", 224)] if options.quick else EXCHANGES, folder)
    memory(report)
    copies(report, [*local, *world], images)
    batches(report, "swin-t" if options.quick else "swin-b")
    arrays(report, ["swin-t"] if options.quick else BASE)
    gpu(report, ["swin-t"] if options.quick else ["swin-s", "swin-b", "twins-svt-b", "vit-b"], images)
    bandwidths(report, ["swin-t"] if options.quick else ["swin-s", "swin-b", "twins-svt-b", "vit-b"])
    report.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
