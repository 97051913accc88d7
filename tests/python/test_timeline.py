"""Timelines of all families against the rules of Perfetto's format, and against the run that they are of. PIMSIM is the command.

The reader below is written from the protobuf encoding and Perfetto's field numbers (protos/perfetto/trace: trace_packet, track_event,
track_descriptor); it shares nothing with the writer, and refuses a field that it does not know.
"""

import collections
import json
import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACES = os.path.join(ROOT, "tests/data/timelines")
FAMILIES = {"nodes": "allspark-16x16", "cores": "pimcomp-arch-a", "channels": "fast-overlapim-hbm2", "tiles": "noc-conflict-16x16"}
PERIOD_NS = {"nodes": 2.5, "cores": 1 / 1.28, "channels": 1, "tiles": 1}
MESSAGES = {"nodes": 4, "cores": 2, "channels": 2, "tiles": 3}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: integers of varints and of 8 bytes, bytes of what has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length, at = varint(data, at)
            assert at + length <= len(data), "a message is cut"
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def message(data, known):
    """A dictionary of a message whose fields are all known: number -> name."""
    found = {}
    for number, value in fields(data):
        assert number in known, f"field {number} is none of {known}"
        assert known[number] not in found, f"{known[number]} twice"
        found[known[number]] = value
    return found


PACKET = {8: "time", 10: "sequence", 11: "event", 12: "interned", 13: "flags", 60: "descriptor"}
DESCRIPTOR = {1: "uuid", 2: "name", 3: "process", 5: "parent", 8: "counter", 11: "ordering", 12: "rank"}
EVENT = {4: "annotation", 9: "type", 10: "name", 11: "track", 23: "text", 30: "value", 47: "leaves", 48: "arrives"}


class Timeline:
    """tracks: uuid -> descriptor; events: in the order in which a reader sorts them, by time and then as they stand."""

    def __init__(self, path):
        names, self.tracks, self.events = {}, {}, []
        with open(path, "rb") as file:
            packets = [value for number, value in fields(file.read()) if number == 1]
        for place, data in enumerate(packets):
            packet = message(data, PACKET)
            assert packet["sequence"] == 1 and packet["flags"] == (2 if place else 1)
            if "interned" in packet:
                for number, value in fields(packet["interned"]):
                    name = message(value, {1: "iid", 2: "name"})
                    assert number == 2 and name["iid"] not in names
                    names[name["iid"]] = name["name"].decode()
            if "descriptor" in packet:
                track = message(packet["descriptor"], DESCRIPTOR)
                assert track["uuid"] not in self.tracks and ("parent" not in track or track["parent"] in self.tracks)
                track["name"] = track["name"].decode() if "name" in track else ""
                self.tracks[track["uuid"]] = track
            if "event" in packet:
                event = message(packet["event"], EVENT)
                event["time"] = packet["time"]
                event["name"] = names[event["name"]] if "name" in event else event.get("text", b"").decode()
                if "annotation" in event:
                    note = message(event["annotation"], {10: "key", 6: "text"})
                    event[note["key"].decode()] = note["text"].decode()
                assert event["track"] in self.tracks, "an event on a track that is not described before"
                self.events.append(event)
        self.written = list(self.events)
        self.events.sort(key=lambda event: event["time"])

    def name(self, event):
        return self.tracks[event["track"]]["name"]

    def counters(self):
        """(parent, name) -> [(time, value)]"""
        found = collections.defaultdict(list)
        for event in self.events:
            if event["type"] == COUNTER:
                track = self.tracks[event["track"]]
                assert "counter" in track
                value = event["value"] - (1 << 64) if event["value"] >> 63 else event["value"]
                found[track["parent"], track["name"]].append((event["time"], value))
        return found


class Timelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_trace(self, family, *more, window=(), trace=None):
        """The timeline of a run with every unit in it; the run is as it is without one."""
        binary, path = self.path((trace or family) + ".bin"), self.path(family + ".pftrace")
        pimsim = os.environ["PIMSIM"]
        subprocess.run([pimsim, "trace", "asm", os.path.join(TRACES, (trace or family) + ".txt"), "-o", binary], check=True)
        command = [pimsim, "run", binary, "-q", "--reproducible", "--format", "json", "--set", "array.width=2", "--set", "array.height=1",
                   "--hardware", os.path.join(ROOT, "configs/hardware", FAMILIES[family] + ".cfg"), *more]
        plain = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        timed = subprocess.run([*command, "--timeline", path, "--timeline-units", "0-1", *window], check=True, capture_output=True, text=True).stdout
        self.assertEqual(timed, plain, f"{family}: the timeline changes the run")
        self.result = json.loads(plain)
        return Timeline(path)

    def test_slices_nest_and_say_their_instruction(self):
        for family in FAMILIES:
            timeline = self.run_trace(family)
            open_slices, slices = collections.defaultdict(list), 0
            for event in timeline.events:
                if event["type"] == BEGIN:
                    open_slices[event["track"]].append(event)
                    slices += 1
                    if timeline.name(event) != "phase":
                        self.assertIn("instruction", event, f"{family}: a slice without its instruction")
                if event["type"] == END:
                    self.assertTrue(open_slices[event["track"]], f"{family}: an end without a beginning")
                    open_slices[event["track"]].pop()
            self.assertGreater(slices, 3)
            self.assertFalse(any(open_slices.values()), f"{family}: a slice without an end")

    def test_no_slice_ends_within_another(self):
        """As they are written, each with the end behind its beginning; a reader pairs ends with what began last."""
        for family, trace in (*((family, None) for family in FAMILIES), ("cores", "overtaken"), ("cores", "half_inside")):
            begun, slices = {}, collections.defaultdict(list)
            for event in self.run_trace(family, trace=trace).written:
                if event["type"] == BEGIN:
                    begun[event["track"]] = event["time"]
                if event["type"] == END:
                    slices[event["track"]].append((begun[event["track"]], event["time"]))
            for found in slices.values():
                ends = []
                for begin, end in sorted(found, key=lambda times: (times[0], -times[1])):
                    while ends and ends[-1] <= begin:
                        ends.pop()
                    self.assertTrue(not ends or end <= ends[-1], f"{family} {trace}: {begin} to {end} is partly in a slice to {ends}")
                    ends.append(end)

    def test_slices_cover_the_time_in_which_engines_work(self):
        """Slices of arrays, ACUs and memory engines, held ones within those around them, take the busy time of the result."""
        for family, trace in (*((family, None) for family in FAMILIES), ("cores", "overtaken")):
            timeline = self.run_trace(family, trace=trace)
            open_slices, taken, ends = collections.defaultdict(list), collections.Counter(), collections.Counter()
            for event in timeline.events:
                track = timeline.tracks[event["track"]]
                if event["type"] == BEGIN:
                    open_slices[event["track"]].append(event["time"])
                if event["type"] == END:
                    begin, key = open_slices[event["track"]].pop(), (timeline.tracks[track["parent"]]["name"].split()[1], track["name"])
                    taken[key] += 0 if open_slices[event["track"]] else event["time"] - begin
                    ends[key] += 1
            for unit in self.result["units"]:
                for name, engine in (("pe", "matrix"), ("acu", "vector"), ("dram", "memory")):
                    key, busy = (str(unit["id"]), engine), unit["busy_cycles"][name] * PERIOD_NS[family]
                    self.assertLessEqual(abs(taken[key] - busy), 1 + ends[key], f"{family} {trace}: {key} works for {busy} ns, drawn are {taken[key]}")

    def test_arrows_lead_from_each_send_to_its_receive(self):
        for family in FAMILIES:
            timeline = self.run_trace(family)
            leaves, arrives, begun = {}, {}, collections.defaultdict(list)
            for event in timeline.events:
                if event["type"] == BEGIN:
                    begun[event["track"]].append(event)
                    if "leaves" in event:
                        self.assertEqual(timeline.name(event), "send")
                        self.assertNotIn(event["leaves"], leaves)
                        leaves[event["leaves"]] = event
                if event["type"] == END:
                    slice_ = begun[event["track"]].pop()
                    if "arrives" in event:
                        self.assertEqual(timeline.name(event), "receive")
                        self.assertNotIn(event["arrives"], arrives)
                        self.assertIn(event["arrives"], leaves, f"{family}: an arrow comes before it leaves")
                        arrives[event["arrives"]] = slice_
            self.assertEqual(len(leaves), MESSAGES[family], f"{family}: messages without an arrow")
            self.assertEqual(leaves.keys(), arrives.keys(), f"{family}: arrows with one end")
            for number, sent in leaves.items():
                words = [dict(word.split("=") for word in event["instruction"].split() if "=" in word) for event in (sent, arrives[number])]
                for key in ("tag", "edge", "bytes", "rows", "bits"):
                    self.assertEqual(words[0].get(key), words[1].get(key), f"{family}: {sent['instruction']} and {arrives[number]['instruction']}")

    def test_counters_are_what_the_slices_say(self):
        for family in FAMILIES:
            timeline = self.run_trace(family)
            counters = timeline.counters()
            seen = {name for _, name in counters}
            for (_, name), values in counters.items():
                self.assertTrue(all(value >= 0 for _, value in values), f"{family}: {name} is below zero")
                if name.endswith("under way"):
                    self.assertEqual(values[-1][1], 0, f"{family}: {name} does not end")
                if name == "row hits":
                    self.assertTrue(all(value <= 1000 for _, value in values))
            self.assertIn("messages under way", seen, family)
            if family != "tiles":
                self.assertIn("memory instructions under way", seen, family)
        self.assertIn("packets sent and not there yet", seen)

    def test_counters_of_nodes(self):
        counters = self.run_trace("nodes").counters()
        seen = {name for _, name in counters}
        for name in ("links in use, mean", "links in use, busiest", "packets on their way", "input buffer", "row hits"):
            self.assertIn(name, seen)
        for time, value in counters[1, "links in use, mean"]:
            busiest = dict(counters[1, "links in use, busiest"])[time]
            self.assertLessEqual(value, busiest)
            self.assertLessEqual(busiest, 1000)

    def test_row_hits_of_channels_that_units_share(self):
        for family, settings in (
            ("cores", ("global_memory.standard=ddr4_2400r", "clock.memory_khz=1200000")),
            ("nodes", ("dram.standard=ddr4_2400r", "clock.memory_khz=1200000", "dram.nodes=2")),
        ):
            counters = self.run_trace(family, *(word for setting in settings for word in ("--set", setting))).counters()
            self.assertNotIn("row hits", {name for _, name in counters})
            hits = [value for _, value in counters[1, "row hits, shared memory"]]
            self.assertTrue(all(0 <= value <= 1000 for value in hits) and any(hits), family)

    def test_a_window_keeps_the_pairs(self):
        whole, part = self.run_trace("nodes"), self.run_trace("nodes", window=("--timeline-window", "1500:100000"))
        texts = lambda timeline: {event["leaves"]: event["instruction"] for event in timeline.events if "leaves" in event}
        everything, some = texts(whole), texts(part)
        self.assertTrue(some.items() <= everything.items())


if __name__ == "__main__":
    unittest.main()
