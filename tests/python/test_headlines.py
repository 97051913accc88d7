"""tools/reproduce all: headline figures from small tables that were saved, states of runs, and what is missing or wrong."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAVED = os.path.join(ROOT, "tests/data/reproduction")


class Headlines(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.scratch.name, "tables")
        shutil.copytree(SAVED, self.folder)
        self.program = shutil.which("false")  # whatever is run fails

    def tearDown(self):
        self.scratch.cleanup()

    def run_all(self, *words):
        return subprocess.run([os.path.join(ROOT, "tools/reproduce"), "all", *words, "-o", self.folder], capture_output=True, text=True,
                              check=False, env={**os.environ, "PIMSIM": self.program})

    def table(self):
        with open(os.path.join(self.folder, "headlines.csv"), newline="", encoding="utf-8") as file:
            return {(row["paper"], row["what"]): row for row in csv.DictReader(file)}

    def edit(self, name, old, new):
        path = os.path.join(self.folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def note(self, system, **state):
        with open(os.path.join(self.folder, system, "run.json"), "w", encoding="utf-8") as file:
            json.dump(state, file)

    def test_figures_are_those_of_the_tables(self):
        self.edit("allspark/speedup_local.csv", "31.316660317322192", "32")
        done = self.run_all("--collect")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = self.table()
        local = table["Allspark", "speed-up over B, local attention"]
        self.assertEqual([local["paper's"], local["ours"], local["ours / paper's"]], ["40", "32", "0.8"])
        self.assertIn("8 MiB", local["cause of the difference"])
        self.assertEqual(table["NoC conflicts", "best R"]["ours"], "1.5")  # the column with the least mean
        self.assertEqual(table["NoC conflicts", "throughput lost to conflicts at 8 Gb/s"]["paper's"], "over 70")
        self.assertEqual(table["NicePIM", "energy saved against the sequential baseline, mean"]["ours"], "-1.27")
        self.assertEqual(table["PIMCOMP", "more arrays used than by Polyhedral"]["ours"], "47.2")  # a ratio of two cells
        self.assertEqual(table["Fast-OverlaPIM", "resnet18, 1 channels a layer, best over original transform"]["ours"], "1.02")
        self.assertEqual(table["NoC conflicts", "correlation of mlp, converged, not seen"]["ours"], "-0.46")  # a cell "-0.46 37.0"
        self.assertEqual(table["Fast-OverlaPIM", "analysis faster than comparison of all, at most"]["ours"], "14716")  # "14716x"

    def test_causes_stand_where_ours_differs_alone(self):
        self.note("allspark", quick=True)
        self.assertEqual(self.run_all("--collect").returncode, 0)
        table = self.table()
        self.assertEqual(table["Allspark", "estimate against simulation, the farthest"]["cause of the difference"], "")  # below 10
        self.assertTrue(table["Allspark", "speed-up over B, local attention"]["cause of the difference"].startswith("the quick half; "))
        self.edit("allspark/estimate.csv", "swin-t 224 B", "swin-t 224 B,0,0,-10.5,0\nanother")
        self.assertEqual(self.run_all("--collect").returncode, 0)
        worst = self.table()["Allspark", "estimate against simulation, the farthest"]
        self.assertEqual(worst["ours"], "10.5")
        self.assertEqual(worst["cause of the difference"], "the quick half; no cause was found")

    def test_what_is_not_there_is_said(self):
        done = self.run_all("--collect")
        row = self.table()["NicePIM, tuner", "place of its method among five"]
        self.assertEqual([row["ours"], row["cause of the difference"]], ["-", "not in this run"])
        self.assertIn("NicePIM, tuner: not run.", done.stdout)
        self.assertIn("Allspark: as found.", done.stdout)
        shutil.rmtree(self.folder)
        done = self.run_all("--collect")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no tables of reproductions", done.stderr)

    def test_a_column_that_is_renamed_is_an_error(self):
        self.edit("allspark/speedup_local.csv", "over AH", "over heads")
        done = self.run_all("--collect")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('no column "over AH"', done.stderr)

    def test_the_page_and_the_markdown_hold_everything(self):
        self.note("conflict", quick=False)
        self.edit("conflict/figure1.csv", "Gb/s", "<b>Gb/s")
        self.assertEqual(self.run_all("--collect").returncode, 0)
        with open(os.path.join(self.folder, "index.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertTrue(page.endswith("</html>\n"))
        self.assertIn("&lt;b&gt;Gb/s", page)
        self.assertNotIn("<b>Gb/s", page)
        for name in ("speedup_local", "figure6", "fig10-mean", "throughput_energy", "fig-13"):
            self.assertIn(f"<summary>{name}</summary>", page)
        self.assertIn("NoC conflicts: whole.", page)
        with open(os.path.join(self.folder, "headlines.md"), encoding="utf-8") as file:
            rows = [line for line in file.read().splitlines() if line.startswith("| ")]
        self.assertEqual(len(rows), 1 + len(self.table()))
        self.assertEqual({row.count("|") for row in rows}, {9})

    def test_what_this_program_has_made_is_not_made_again(self):
        with open(self.program, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.note("allspark", quick=True, program=digest)
        self.note("conflict", quick=False, program=digest)
        done = self.run_all("--quick")
        self.assertEqual(done.returncode, 1)  # all others fail, and the table is there all the same
        self.assertIn("Allspark: the quick half.", done.stdout)
        self.assertIn("NoC conflicts: failed: ", done.stdout)
        self.assertIn("NicePIM: failed: ", done.stdout)
        self.assertGreater(len(self.table()), 60)


if __name__ == "__main__":
    sys.exit(unittest.main())
