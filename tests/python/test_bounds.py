"""Bounds that no run beats, wider parts that make no run longer, and CSV that says what JSON says, on traces of four mappers.

The bounds are closed forms of what the result says was done and of the configuration: products over multipliers, columns
over the pace of a bank, bits over the width of links and buses. Where one more beat changes who meets whom, a wider part
may cost a little: UP_TO of the run, and never from the narrowest value to the widest."""

import csv
import io
import json
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PIMSIM = os.environ.get("PIMSIM", os.path.join(ROOT, "build/release/pimsim"))
UP_TO = 0.01

# A name, words of the mapper, hardware, network.
TRACES = {
    "nodes": ("nicepim", "nicepim-4x4", "configs/networks/squeezenet.cfg", ["network.image=64"]),
    "pipeline": ("nicepim --mapping ddam --batch 4", "nicepim-4x4", "configs/networks/squeezenet.cfg", ["network.image=64"]),
    "channels": ("overlapim --budget 100", "fast-overlapim-hbm2", "docs/examples/small-vgg.cfg", []),
    "ahead": ("overlapim --budget 30 --objective ahead", "fast-overlapim-hbm2", "configs/networks/squeezenet.cfg", ["network.image=64"]),
    "tiles": ("conflict --mapping snake --batch 3", "noc-conflict-16x16", "configs/networks/vgg8.cfg", ["network.image=16"]),
    "cores": ("pimcomp --layout balance", "pimcomp-arch-a", "configs/networks/vgg8.cfg", []),
}

# A trace, what is set beside, a key, its values from the narrowest on; whether the widest must be faster than the narrowest.
CURVES = (
    ("nodes", [], "noc.flit_bits", (64, 256, 1024), True),
    ("nodes", [], "noc.link_bits_per_cycle", (64, 256, 512), True),
    ("nodes", [], "dram.tccd_ns", (10, 5, 2.5), True),
    ("nodes", [], "dram.trcd_ns", (30, 18, 9), True),
    ("pipeline", [], "noc.flit_bits", (64, 256, 1024), True),
    ("pipeline", [], "dram.tccd_ns", (10, 5, 2.5), True),
    ("pipeline", [], "noc.link_latency", (8, 2, 1), False),
    ("channels", [], "levels.channel_bytes", (1, 8, 64), True),
    ("ahead", [], "levels.channel_bytes", (1, 8, 64), True),
    ("ahead", [], "levels.bus_bytes", (1, 8, 64), True),
    ("ahead", [], "levels.multiply_cycles", (2000, 980, 100), True),
    ("tiles", [], "tile.link_gbps", (1, 8, 32), True),
    ("tiles", ["tile.switching=saf"], "tile.link_gbps", (1, 8, 32), True),
    ("tiles", ["tile.switching=wormhole"], "noc.flit_bits", (8, 32, 128), True),
    ("cores", [], "noc.flit_bits", (16, 64, 256), True),
    ("cores", [], "global_memory.bytes_per_cycle", (4, 16, 64), True),
    ("cores", [], "core.local_bytes_per_cycle", (8, 32, 128), True),
)


def programs_of(network):
    """What a network of configs/networks is mapped with here: words of the mapper, hardware, keys."""
    family = re.match("(bert|vit|swin|pvt|twins|cswin|focal)", network)
    if network == "bert-base-encoder":
        return [("nicepim", "nicepim-4x4", [])]
    if not family:
        image = 64 if network in ("alexnet", "googlenet", "zfnet512") else 32
        return [(f"pimcomp --layout balance --mode {mode}", "pimcomp-arch-a", [f"network.image={image}"]) for mode in ("ht", "ll")]
    image = {"bert": None, "vit": 112, "pvt": 64, "cswin": 112}.get(family[1], 224)
    blocks = {"bert": "2", "vit": "2"}.get(family[1], "2,2,2,2")
    return [("allspark", "allspark-16x16", [f"network.blocks={blocks}"] + ([f"network.image={image}"] if image else []))]


def command(*words):
    done = subprocess.run([PIMSIM, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(" ".join(words) + ": " + done.stderr)
    return done.stdout


def values(result):
    """The keys of the configuration that a result was made with, as group.key."""
    group, found = "", {}
    for line in result["inputs"]["configuration"].splitlines():
        if match := re.match(r"\s*(\w+) = \{", line):
            group = match[1]
        elif match := re.match(r"\s*(\w+) = ([^;]+);", line):
            found[group + "." + match[1]] = match[2].strip('"')
    return found


class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.traces, cls.runs = {}, {}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def trace(self, name):
        if name not in self.traces:
            words, hardware, network, keys = TRACES[name]
            self.traces[name] = os.path.join(self.scratch.name, name + ".bin")
            sets = [word for key in keys for word in ("--set", key)]
            command("map", *words.split(), "-q", "--network", os.path.join(ROOT, network), "--hardware",
                    os.path.join(ROOT, "configs/hardware", hardware + ".cfg"), *sets, "-o", self.traces[name])
        return self.traces[name]

    def run_of(self, name, sets):
        key = (name, *sets)
        if key not in self.runs:
            words = [word for one in sets for word in ("--set", one)]
            text = command("run", self.trace(name), "-q", "--format", "json", "--stats", "-", *words)
            self.runs[key] = json.loads(text)
            self.check(self.runs[key])
        return self.runs[key]

    def at_least(self, taken, bound, what):
        self.assertGreater(bound, 0, what)
        self.assertGreaterEqual(taken * (1 + 1e-9), bound, what)

    def check(self, result):
        given = values(result)
        checks = {"node": self.check_nodes, "channel": self.check_channels, "tile": self.check_tiles, "core": self.check_cores}
        self.assertTrue(result["complete"])
        self.assertGreaterEqual(result["work"]["macs"], result["work"]["network_macs"])
        self.assertEqual(result["work"]["bytes_sent"], result["work"]["bytes_received"])
        for unit in result["units"]:
            self.assertLessEqual(abs(sum(unit["cycles_by"].values()) - result["cycles"]), len(unit["cycles_by"]))
        checks[given["array.kind"]](result, given, result["time_ns"] + 1)

    def check_links(self, result, given, time):
        """Every link in its own time; together they carry every flit over its way."""
        network = time * int(given["clock.network_khz"]) * 1e-6
        wide, link = int(given["noc.flit_bits"]), float(given["noc.link_bits_per_cycle"])
        beats = wide / link if link else 1
        carried = [link["flits"] for link in result["links"]]
        self.at_least(network, max(carried) * beats, "the busiest link")
        self.assertEqual(sum(carried), result["noc"]["flit_hops"] - result["noc"]["flits"])
        self.at_least(result["noc"]["flits"] * wide, result["work"]["bytes_sent"] * 8, "flits for all bytes")

    def check_nodes(self, result, given, time):
        multipliers = int(given["pe.rows"]) * int(given["pe.columns"])
        macs = [unit["energy_pj"]["pe"] / float(given["energy.mac_pj"]) for unit in result["units"]]
        self.assertAlmostEqual(sum(macs) / result["work"]["macs"], 1, places=6)
        for unit, work in zip(result["units"], macs):
            self.assertGreaterEqual(unit["busy_cycles"]["pe"] + 1, work / multipliers)
        self.at_least(result["cycles"], max(macs) / multipliers, "the products of a node")
        dram, column = result["dram"], int(given["dram.column_bytes"]) * int(given["dram.banks"])
        accesses = dram["reads"] + dram["writes"]
        self.assertEqual(dram["bytes_read"] + dram["bytes_written"], accesses * column)
        self.at_least(dram["bytes_read"], result["work"]["bytes_loaded"], "what is loaded is read")
        self.at_least(time * len(result["units"]), accesses * float(given["dram.tccd_ns"]), "columns of all banks")
        self.check_links(result, given, time)

    def check_channels(self, result, given, time):
        """All columns of a bank multiply in the time of one; the data bus of each channel; the bus between stacks."""
        busy = sum(sum(unit["busy_cycles"].values()) for unit in result["units"])
        columns = int(given["levels.columns"]) * int(given["levels.banks"])
        steps = result["work"]["macs"] / columns
        self.at_least(sum(unit["busy_cycles"]["pe"] for unit in result["units"]),
                      steps * int(given["levels.multiply_cycles"]), "products in all columns")
        self.at_least(busy, result["channels"]["row_bits"] / 8 / int(given["levels.channel_bytes"]), "the buses of channels")
        self.assertGreaterEqual(result["cycles"], result["channels"]["bus_bits"] / 8 / int(given["levels.bus_bytes"]))

    def check_tiles(self, result, given, time):
        self.at_least(result["cycles"] + 1, max(unit["busy_cycles"]["pe"] for unit in result["units"]), "the busiest tile")
        bits = max(unit["energy_pj"]["noc"] or 0 for unit in result["units"])
        self.assertGreater(bits, 0)
        if given["tile.switching"] == "wormhole":
            self.check_links(result, given, time)
            return
        self.assertLessEqual(max(link["utilization"] for link in result["links"]), 1)
        carried = result["energy_pj"]["noc"] / float(given["energy.noc_pj_per_bit_hop"])
        used = sum(link["flits"] > 0 for link in result["links"])
        self.assertEqual(used, result["tiles"]["links_used"])
        self.at_least(time * used, carried / float(given["tile.link_gbps"]), "the bits of all links")

    def check_cores(self, result, given, time):
        moved = result["work"]["bytes_loaded"] + result["work"]["bytes_stored"]
        self.at_least(result["cycles"], moved / int(given["global_memory.bytes_per_cycle"]), "the global memory")
        arrays = int(given["crossbar.count_x"]) * int(given["crossbar.count_y"]) * len(result["units"])
        self.at_least(result["cycles"] * arrays, result["cores"]["array_mvms"] * result["cores"]["mvm_cycles"], "all arrays")
        self.check_links(result, given, time)

    def refused(self, name, changed):
        """The key of one that has no use in the hardware of a trace, or None."""
        sets = [word for key, value in changed.items() for word in ("--set", f"{key}={value}")]
        words = [PIMSIM, "run", self.trace(name), "-q", "--until", "1", *sets]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        self.assertIn("it would change nothing", done.stderr)
        return re.match(r"pimsim run: ([\w.]+):", done.stderr)[1]

    def test_wider_is_not_slower(self):
        for name, beside, key, steps, faster in CURVES:
            with self.subTest(trace=name, beside=beside, key=key):
                cycles = [self.run_of(name, [*beside, f"{key}={step}"])["cycles"] for step in steps]
                for before, after in zip(cycles, cycles[1:]):
                    self.assertLessEqual(after, before * (1 + UP_TO), cycles)
                (self.assertLess if faster else self.assertLessEqual)(cycles[-1], cycles[0], cycles)

    def test_every_network(self):
        """Allspark's mapping of all transformers, a pair of blocks a stage; PIMCOMP's of all convolutional ones, both modes, small images."""
        for name in sorted(os.listdir(os.path.join(ROOT, "configs/networks"))):
            for words, hardware, keys in programs_of(name.removesuffix(".cfg")):
                with self.subTest(network=name, words=words):
                    TRACES[name + words] = (words, hardware, "configs/networks/" + name, keys)
                    try:
                        self.run_of(name + words, [])
                    finally:
                        del TRACES[name + words]
                    os.remove(self.traces[name + words])

    def test_csv_says_what_json_says(self):
        for name in TRACES:
            result = self.run_of(name, [])
            text = command("run", self.trace(name), "-q", "--reproducible", "--format", "csv", "--stats", "-")
            rows = list(csv.DictReader(io.StringIO(text)))
            figures = {row["name"]: row["value"] for row in rows}
            self.assertEqual(len(figures), len(rows), "a name stands twice")
            self.assertFalse([row for row in rows if row["value"].lstrip("-")[:1] in ("n", "i")], "no number")
            expected = {}
            for group in ("energy_pj", "work", "dram", "noc"):
                expected.update((f"{group}.{key}", value) for key, value in result[group].items())
            expected.update((f"noc.packet_latency.{key}", result["noc"][f"{key}_packet_latency"]) for key in ("p50", "p95", "p99"))
            expected["cycles"], expected["time_ns"] = result["cycles"], result["time_ns"]
            for i, phase in enumerate(result["phases"]):
                for key, of in (("cycles", "cycles"), ("exclusive", "exclusive_cycles"), ("estimate", "estimate_cycles")):
                    expected[f"phase{i}.{key}"] = phase[of]
            for i, unit in enumerate(result["units"]):
                for key, of in (("busy", "busy_cycles"), ("stalled", "stall_cycles")):
                    expected.update((f"unit{i}.{engine}.{key}", value) for engine, value in unit[of].items())
            compared = figures.keys() & expected.keys()
            self.assertGreater(len(compared), 30, name)
            for i in range(len(result["phases"])):
                self.assertTrue({f"phase{i}.cycles", f"phase{i}.exclusive", f"phase{i}.estimate"} <= compared, name)
            for key in compared:
                value = None if figures[key] == "" else float(figures[key])
                self.assertEqual(value, expected[key], f"{name}: {key}")
            self.assertEqual(sum(phase["exclusive_cycles"] for phase in result["phases"]), max(phase["end_cycle"] for phase in result["phases"]))

    def test_time_has_no_unit(self):
        """Every clock twice as fast and every time half as long: the same cycles."""
        for name in ("nodes", "cores"):
            result = self.run_of(name, [])
            given = values(result)
            twice = {key: 2 * int(value) for key, value in given.items() if key.startswith("clock.")}
            half = {key: float(value) / 2 for key, value in given.items() if key.endswith("_ns") and float(value) > 0}
            changed = {**twice, **half}
            while refused := self.refused(name, changed):
                del changed[refused]
            self.assertIn("clock.logic_khz", changed)
            self.assertGreater(len(changed), 2, changed)
            sets = [f"{key}={value}" for key, value in changed.items()]
            other = self.run_of(name, sets)
            self.assertEqual(other["cycles"], result["cycles"])
            self.assertAlmostEqual(other["time_ns"] * 2 / result["time_ns"], 1, places=6)
            static = result["energy_pj"]["static"]
            if static:
                self.assertAlmostEqual(other["energy_pj"]["static"] * 2 / static, 1, places=6)


if __name__ == "__main__":
    unittest.main()
