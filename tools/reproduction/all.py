"""
The five papers on one page: runs the reproductions that are not there yet, and collects their headline figures
(headlines.py) into one table: paper, ours, ratio, cause.

FOLDER/SYSTEM holds the tables of a system, and run.json: whether they are of the quick half, and of which program. What is
there of this program is not made again, so that a run that was ended goes on.
"""

import argparse
import glob
import hashlib
import json
import os
import subprocess
import sys

import headlines
from report import Report

PROGRAM = os.environ["PIMSIM"]
COLUMNS = ["paper", "figure of the paper", "what", "paper's", "ours", "unit", "ours / paper's", "cause of the difference"]
NEAR = 1.1  # a ratio within this needs no cause


def state_of(folder):
    """What run.json says; {} where there is none."""
    try:
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def reproduce(system, folder, quick, digest):
    """Makes the tables of a system; the end of its messages if it fails."""
    state = {"quick": quick, "program": digest}
    if state_of(folder) == state:
        return None
    os.makedirs(folder, exist_ok=True)
    words = [sys.executable, "-u", os.path.join(os.path.dirname(__file__), system + ".py"), "-o", folder]
    with open(os.path.join(folder, "output.txt"), "w", encoding="utf-8") as file:
        done = subprocess.run(words + ["--quick"] * quick, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump(state, file)
    return None


def figure(value):
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def holds(headline, ours):
    """Whether a bound that the paper gives is kept, or a figure met within NEAR."""
    if headline.bound:
        return ours > headline.paper if headline.bound == "over" else ours < headline.paper
    return 1 / NEAR <= ours / headline.paper <= NEAR


def cause_of(headline, ours, quick):
    if ours is None:
        return "not in this run"
    if holds(headline, ours):
        return ""
    return "; ".join((["the quick half"] if quick else []) + [headline.cause or "no cause was found"])


def collect(folder):
    """Rows of the table, and how many of the figures stand in it."""
    rows, found = [], 0
    quick = {system: state_of(os.path.join(folder, system)).get("quick") for system in headlines.SYSTEMS}
    for headline in headlines.every():
        ours = headline.ours(headlines.Tables(os.path.join(folder, headline.system)))
        found += ours is not None
        rows.append([headlines.SYSTEMS[headline.system], headline.place, headline.what,
                     " ".join(filter(None, [headline.bound, figure(headline.paper)])), figure(ours), headline.unit,
                     figure(headlines.over(ours, headline.paper)), cause_of(headline, ours, quick[headline.system])])
    return rows, found


def write_markdown(path, rows, notes):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|---|---|--:|--:|---|--:|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "", *notes]) + "\n")


def extents(folder, failures):
    """Of each system, how much of it there is."""
    lines = []
    for system, name in headlines.SYSTEMS.items():
        own = os.path.join(folder, system)
        quick = state_of(own).get("quick")
        extent = (f"failed: {failures[system]}" if system in failures else "the quick half" if quick else
                  "whole" if quick is False else "as found" if glob.glob(os.path.join(own, "*.csv")) else "not run")
        lines.append(f"{name}: {extent}.")
    return lines


def main():
    parser = argparse.ArgumentParser(prog="tools/reproduce all", description="The headline figures of five papers on one page.")
    parser.add_argument("--quick", action="store_true", help="the quick half of each")
    parser.add_argument("--collect", action="store_true", help="runs nothing: collects what is there")
    parser.add_argument("-o", metavar="FOLDER", default="build/reproduction")
    options = parser.parse_args()
    failures = {}
    if not options.collect:
        with open(PROGRAM, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        for system, name in headlines.SYSTEMS.items():
            print(f"{name} ...", file=sys.stderr)
            failure = reproduce(system, os.path.join(options.o, system), options.quick, digest)
            if failure:
                failures[system] = failure
    rows, found = collect(options.o)
    if not found:
        sys.exit(f"tools/reproduce all: no tables of reproductions in {options.o}: without --collect they are made")
    notes = [f"{found} of {len(rows)} figures. No cause stands where a bound is kept, or where ours is within {NEAR} times the paper's.",
             "The quick half: fewer and smaller networks and shorter searches than the paper's, which moves every mean.",
             *extents(options.o, failures)]
    report = Report("Five papers, ours beside them", options.o)
    report.table("headlines", "Headline figures", COLUMNS, rows, notes, words=(0, 1, 2, 5, 7))
    write_markdown(os.path.join(options.o, "headlines.md"), rows, notes)
    for system, name in headlines.SYSTEMS.items():
        tables = sorted(glob.glob(os.path.join(options.o, system, "*.csv")))
        if tables:
            report.heading(f"{name}: all tables")
        for path in tables:
            report.folded(os.path.splitext(os.path.basename(path))[0], path)
    report.write()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
