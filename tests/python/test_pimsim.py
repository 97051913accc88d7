"""tools/python against the command: the same cycles, plans and tables. PIMSIM is the command, PIMSIM_LIBRARY the library."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
import pimsim  # noqa: E402 pylint: disable=wrong-import-position

NETWORK = os.path.join(ROOT, "configs/networks/vit-t.cfg")
HARDWARE = os.path.join(ROOT, "configs/hardware/allspark-16x16.cfg")
SMALL = {"array.width": 2, "array.height": 2, "network.image": 32, "dram.rows": 32768}


def command(*arguments):
    return subprocess.run([os.environ["PIMSIM"], *arguments], check=True, capture_output=True, text=True).stdout


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.folder.name, "t.bin")
        cls.plan = pimsim.map("allspark", NETWORK, HARDWARE, trace=cls.trace, set=SMALL, partition="head")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_version_is_that_of_the_command(self):
        self.assertEqual(command("--version").split()[1], pimsim.version())

    def test_a_map_is_that_of_the_command(self):
        other = self.path("other.bin")
        sets = [f"--set={key}={value}" for key, value in SMALL.items()]
        plan = json.loads(command("map", "allspark", "-q", "-n", NETWORK, "--hardware", HARDWARE, *sets, "--partition", "head", "--format", "json", "-o", other))
        self.assertEqual(plan["estimate_cycles"], self.plan["estimate_cycles"])
        with open(other, "rb") as one, open(self.trace, "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_a_run_is_that_of_the_command(self):
        result = pimsim.run(self.trace, set={"noc.flit_bits": 32}, noc="flit")
        text = self.path("run.json")
        command("run", self.trace, "-q", "--set", "noc.flit_bits=32", "--stats", text, "--format", "json")
        with open(text, encoding="utf-8") as file:
            expected = json.load(file)
        for key in ("cycles", "energy_pj", "phases", "units", "noc"):
            self.assertEqual(result[key], expected[key], key)
        self.assertTrue(result["complete"])
        self.assertFalse(pimsim.run(self.trace, until=100)["complete"])

    def test_a_sweep_grows_and_is_that_of_the_command(self):
        specification, results = self.path("s.cfg"), self.path("s.sqlite")
        told = []
        for values in ("16, 64", "16, 32, 64"):
            with open(specification, "w", encoding="utf-8") as file:
                file.write(f'trace = "{self.trace}"; axes = {{ noc = {{ flit_bits = [{values}]; }}; }};')
            table = pimsim.sweep(specification, results, mode="resume", threads=1, progress=lambda what, done, total: told.append((what, done, total)))
        self.assertEqual(told, [("points", 1, 2), ("points", 2, 2), ("points", 1, 1)])
        self.assertEqual(table, json.loads(command("sweep", "--export", "json", results)))
        self.assertEqual(pimsim.read_sweep(results), table)
        self.assertEqual([point["settings"]["noc.flit_bits"] for point in table["points"]], [16, 32, 64])
        cycles = [point["statistics"]["cycles"] for point in table["points"]]
        self.assertEqual(cycles[2], pimsim.run(self.trace)["cycles"])
        self.assertGreater(cycles[0], cycles[2])
        with self.assertRaisesRegex(pimsim.Error, "results"):
            pimsim.sweep(specification, results)

    def test_what_progress_raises_ends_the_work(self):
        told, specification, results = [], self.path("ends.cfg"), self.path("ends.sqlite")

        def refuse(*what):
            told.append(what)
            raise ValueError("enough")

        with open(specification, "w", encoding="utf-8") as file:
            file.write(f'trace = "{self.trace}"; axes = {{ noc = {{ flit_bits = [16, 32, 64]; }}; }};')
        with self.assertRaisesRegex(ValueError, "enough"):
            pimsim.sweep(specification, results, threads=1, progress=refuse)
        self.assertEqual(told, [("points", 1, 3)])
        self.assertEqual(sum("statistics" in point for point in pimsim.read_sweep(results)["points"]), 1)
        told.clear()
        with self.assertRaisesRegex(ValueError, "enough"):
            pimsim.map("allspark", NETWORK, HARDWARE, set=SMALL, progress=refuse)
        self.assertEqual(len(told), 1)

    def test_mappers_and_their_options(self):
        found = pimsim.mappers()
        self.assertIn("pimcomp", found)
        partition = next(option for option in found["allspark"] if option["name"] == "partition")
        self.assertEqual(partition["kind"], "text")

    def test_refusals_are_exceptions_in_the_words_of_the_command(self):
        with self.assertRaisesRegex(pimsim.Error, "none.bin: No such file") as caught:
            pimsim.run("none.bin")
        self.assertEqual(caught.exception.status, "input or output failed")
        with self.assertRaisesRegex(pimsim.Error, "the nearest is noc.flit_bits"):
            pimsim.run(self.trace, set=["noc.flitbits=3"])
        with self.assertRaisesRegex(pimsim.Error, "the nearest is --partition"):
            pimsim.map("allspark", NETWORK, HARDWARE, partitoin="head")
        with self.assertRaises(pimsim.Error):
            pimsim.read_sweep(self.trace)
        with self.assertRaisesRegex(pimsim.Error, "noc: found exact, allowed are .*flit"):
            pimsim.run(self.trace, noc="exact")
        with self.assertRaisesRegex(pimsim.Error, "crossbar.rows: describes hardware with array.kind .core."):
            pimsim.run(self.trace, set={"crossbar.rows": 64})
        with self.assertRaisesRegex(pimsim.Error, "tile.detour: describes hardware with array.kind .tile."):
            pimsim.map("allspark", NETWORK, HARDWARE, set={**SMALL, "tile.detour": 1.5})

    def test_what_c_would_cut_off_is_refused(self):
        for until in (-1, 1 << 64):
            with self.assertRaisesRegex(pimsim.Error, f"until: found {until}, allowed is an integer from 0 to 18446744073709551615"):
                pimsim.run(self.trace, until=until)
        with self.assertRaisesRegex(pimsim.Error, "threads: found -1"):
            pimsim.sweep("none.cfg", "none.sqlite", threads=-1)
        with self.assertRaisesRegex(pimsim.Error, "holds a NUL character"):
            pimsim.run(self.trace + "\0else")
        with self.assertRaisesRegex(pimsim.Error, "holds a NUL character"):
            pimsim.run(self.trace, set={"noc.flit_bits": "64\0x"})

    def test_a_library_that_is_not_there_is_not_replaced(self):
        environment = {**os.environ, "PIMSIM_LIBRARY": "/nowhere/libpimsim.so"}
        done = subprocess.run([sys.executable, "-c", "import pimsim"], cwd=os.path.dirname(pimsim.__file__), env=environment,
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/libpimsim.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
