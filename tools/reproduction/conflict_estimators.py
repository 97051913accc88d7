"""
The estimators of the communication-conflict paper: Table I and Fig. 4 (how well each tells the latency), and
what an estimator is worth: searches by each at equal CPU time.

`pimsim map conflict --train` draws populations of three sorts, trains on four fifths of them and judges on the
rest, so that nothing is judged on relatives of what it was trained on. The paper does not say how it split.
"""

import json
import os
import resource

PAPER = {"cost": 0.01, "mlp": 0.24, "mlp-conflicts": 0.67, "gcn": 0.78}  # Table I, VGG-8
FITNESSES = ("cost", "bottleneck", "mlp", "mlp-conflicts", "gcn", "simulation")
POPULATION = 50  # of the searches at equal CPU time


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def cell(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def train(call, folder, network, hardware, populations, generations, mappings):
    """The weights, and the verdicts on populations that were held out and on those that were seen."""
    path = os.path.join(folder, f"{network}.weights.json")
    plan = json.loads(call("map", "conflict", "-n", f"recorded:{network}", *hardware, "--train", path, "--populations",
                           populations, "--population", mappings, "--generations", generations, "--finalists", 1, "--refine", 0,
                           "--format", "json"))
    return path, plan["estimators"]


def table_1(sheet, network, verdicts):
    rows = []
    for name in FITNESSES:
        cells = []
        for key in ("seen", "unseen"):
            for sort in ("heuristic, converged", "node-group, converged", "node-group, random"):
                values = [fitness for verdict in verdicts[key] if verdict["sort"] == sort
                          for fitness in verdict["fitness"] if fitness["name"] == name]
                regret = mean([value["regret"] for value in values])
                cells.append(f"{cell(mean([value['correlation'] for value in values]))} "
                             f"{cell(None if regret is None else 100 * regret, 1)}")
        rows.append([name, *cells, PAPER.get(name, "")])
    sheet.table("table1_estimators", f"Table I and Fig. 4, {network}: correlation with the latency within a population, "
                "and loss of the pick, %; heuristic / node-group / random, mean over populations",
                ["fitness", *(f"{which}: {sort}" for which in ("seen", "unseen") for sort in "hnr"), "paper"], rows)


def search(call, network, hardware, weights, fitness, generations, seed):
    """Latency in ns and CPU seconds of a search."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    learned = ["--weights", weights] if fitness in PAPER and fitness != "cost" else []
    plan = json.loads(call("map", "conflict", "-n", f"recorded:{network}", *hardware, *learned, "--fitness", fitness,
                           "--population", POPULATION, "--finalists", POPULATION, "--refine", 0, "--generations", generations,
                           "--seed", seed, "--format", "json"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return plan["latency_ns"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def worth(call, sheet, network, hardware, weights, seconds, seeds):
    """Searches by every fitness that take the same CPU time: generations are found from two short ones."""
    rows = []
    for fitness in FITNESSES:
        few, more = (2, 6) if fitness == "simulation" else (100, 500)
        many = few + int(more * min(seconds, 1))
        start = search(call, network, hardware, weights, fitness, few, 99)[1]
        slope = max((search(call, network, hardware, weights, fitness, many, 99)[1] - start) / (many - few), 1e-5)
        generations = max(int(few + (seconds - start) / slope), 0)
        results = [search(call, network, hardware, weights, fitness, generations, seed) for seed in seeds]
        latencies = [latency / 1e6 for latency, _ in results]
        rows.append([fitness, generations, cell(mean([used for _, used in results]), 1), cell(mean(latencies), 4),
                     f"{min(latencies):.4f}-{max(latencies):.4f}"])
    sheet.table(f"worth_{network}", f"What an estimator is worth, {network}: latency of the mapping found in about {seconds} CPU s "
                f"(training not counted), XY, {len(seeds)} seeds, population {POPULATION}, the last {POPULATION} simulated, ms",
                ["fitness", "generations", "CPU s", "mean", "least-most"], rows)
