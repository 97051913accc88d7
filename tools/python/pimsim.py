"""
pimsim from Python: maps networks, replays traces, sweeps; results are dictionaries. A thin layer over libpimsim (ctypes): nothing is built or installed.

    import sys; sys.path.insert(0, "tools/python")
    import pimsim

    plan = pimsim.map("allspark", "configs/networks/vit-t.cfg", "configs/hardware/allspark-16x16.cfg", trace="vit-t.bin")
    result = pimsim.run("vit-t.bin", set={"noc.flit_bits": 128})
    print(plan["estimate_cycles"], result["cycles"], result["energy_pj"]["total"])
    table = pimsim.sweep("configs/sweeps/pe-array.cfg", "pe.sqlite", mode="resume")
    print([(point["settings"], point["statistics"]["cycles"]) for point in table["points"]])

The keys are those of the JSON of the command (docs/reference/run-json.md, docs/sweeps.md). libpimsim.so is looked for in $PIMSIM_LIBRARY, in build/release/lib
of the source that this file is in, and where the system has its libraries.
"""

import ctypes
import ctypes.util
import json
import os

__all__ = ["Error", "map", "mappers", "read_sweep", "run", "sweep", "version"]

MESSAGE_BYTES = 4096
STATUS = ["done", "bad input", "out of memory", "input or output failed", "wrong usage", "deadlock", "internal error"]
NOC = {None: 0, "configured": 0, "ideal": 1, "analytic": 2, "flit": 3}
WRONG_USAGE = STATUS.index("wrong usage")
MODES = {"new": 0, "resume": 1, "force": 2}


class Error(Exception):
    """What pimsim refuses, in its words; `status` is one of STATUS."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = STATUS[status] if 0 <= status < len(STATUS) else f"status {status}"


_texts = ctypes.POINTER(ctypes.c_char_p)
_progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)
_stop = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("hardware_path", ctypes.c_char_p), ("overrides", _texts), ("override_count", ctypes.c_size_t),
                ("noc", ctypes.c_int), ("until_cycle", ctypes.c_uint64)]


class _MapOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mapper", ctypes.c_char_p), ("network_path", ctypes.c_char_p), ("hardware_path", ctypes.c_char_p),
                ("overrides", _texts), ("override_count", ctypes.c_size_t), ("options", _texts), ("option_count", ctypes.c_size_t),
                ("dimensions", _texts), ("dimension_count", ctypes.c_size_t), ("trace_path", ctypes.c_char_p),
                ("progress", _progress), ("stop", _stop), ("context", ctypes.c_void_p)]


class _MapperOption(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "kind", "argument", "help", "choices")] + [("minimum", ctypes.c_double), ("maximum", ctypes.c_double)]


class _SweepOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("specification_path", ctypes.c_char_p), ("results_path", ctypes.c_char_p), ("cache_path", ctypes.c_char_p),
                ("overrides", _texts), ("override_count", ctypes.c_size_t), ("mode", ctypes.c_int), ("threads", ctypes.c_uint),
                ("progress", _progress), ("stop", _stop), ("context", ctypes.c_void_p)]


def _find():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    named = os.environ.get("PIMSIM_LIBRARY")
    if named:
        return named
    places = [os.path.join(root, "build", "release", "lib", "libpimsim.so"), ctypes.util.find_library("pimsim")]
    for place in filter(None, places):
        if os.path.exists(place) or os.sep not in place:
            return place
    raise ImportError("libpimsim.so is not found: build it (tools/quickstart), or set PIMSIM_LIBRARY to its path")


def _load():
    library = ctypes.CDLL(_find())
    pointer, text, message = ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_size_t]
    signatures = {
        "version": (text, []),
        "create": (ctypes.c_int, [pointer, text, ctypes.POINTER(_Options), *message]),
        "run": (ctypes.c_int, [ctypes.c_void_p, *message]),
        "results": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(text), *message]),
        "destroy": (None, [ctypes.c_void_p]),
        "mapper_name": (text, [ctypes.c_size_t]),
        "mapper_option": (ctypes.c_int, [text, ctypes.c_size_t, ctypes.POINTER(_MapperOption)]),
        "map": (ctypes.c_int, [pointer, ctypes.POINTER(_MapOptions), *message]),
        "mapping_cycles": (ctypes.c_uint64, [ctypes.c_void_p]),
        "mapping_plan": (text, [ctypes.c_void_p]),
        "mapping_destroy": (None, [ctypes.c_void_p]),
        "sweep": (ctypes.c_int, [pointer, ctypes.POINTER(_SweepOptions), *message]),
        "sweep_json": (text, [ctypes.c_void_p]),
        "sweep_destroy": (None, [ctypes.c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"pimsim_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _call(function, *arguments, watch=None):
    buffer = ctypes.create_string_buffer(MESSAGE_BYTES)
    status = function(*arguments, buffer, MESSAGE_BYTES)
    if watch and watch.problem is not None:
        raise watch.problem
    if status != 0:
        raise Error(status, buffer.value.decode("utf-8", "replace"))


def _whole(data):
    """Bytes for C, where a text ends at its first 0."""
    if b"\0" in data:
        raise Error(WRONG_USAGE, f"{data!r} holds a NUL character")
    return data


def _bytes(path):
    return None if path is None else _whole(os.fsencode(path))


def _count(name, value, bits):
    """A count that fits C's: ctypes cuts others off without a word."""
    if not 0 <= value < 1 << bits:
        raise Error(WRONG_USAGE, f"{name}: found {value}, allowed is an integer from 0 to {(1 << bits) - 1}")
    return value


def _choice(name, value, choices):
    if value not in choices:
        raise Error(WRONG_USAGE, f"{name}: found {value}, allowed are {', '.join(str(choice) for choice in choices)}")
    return choices[value]


def _value(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _assignments(items):
    """{"key": value} or a list of "key=value" as an array of C, and its length."""
    if items is None:
        items = []
    elif hasattr(items, "items"):
        items = [f"{key}={_value(value)}" for key, value in items.items()]
    elif isinstance(items, str):
        items = [items]
    return (ctypes.c_char_p * (len(items) + 1))(*[_whole(str(item).encode()) for item in items]), len(items)


class _Watch:
    """A function progress(what, done, total) as C calls it. No exception passes C: the first one ends the work, and is raised behind it."""

    def __init__(self, progress):
        self.problem = None
        self._told = progress
        self.progress = _progress(self._report) if progress else _progress()
        self.stop = _stop(lambda _: self.problem is not None) if progress else _stop()

    def _report(self, _, what, done, total):
        if self.problem is None:
            try:
                self._told(what.decode(), done, total)
            except BaseException as problem:  # pylint: disable=broad-exception-caught
                self.problem = problem


def version():
    """The version of the library."""
    return _library.pimsim_version().decode()


def run(trace, hardware=None, set=None, noc=None, until=0):  # pylint: disable=redefined-builtin
    """Replays a trace; the results of `pimsim run --format json`. `set`: {"key": value}, or a list of "key=value". `noc`: "ideal", "analytic" or "flit"."""
    overrides, count = _assignments(set)
    options = _Options(ctypes.sizeof(_Options), _bytes(hardware), overrides, count, _choice("noc", noc, NOC), _count("until", until, 64))
    simulation, text = ctypes.c_void_p(), ctypes.c_char_p()
    _call(_library.pimsim_create, ctypes.byref(simulation), _bytes(trace), ctypes.byref(options))
    try:
        _call(_library.pimsim_run, simulation)
        _call(_library.pimsim_results, simulation, ctypes.byref(text))
        return json.loads(text.value)
    finally:
        _library.pimsim_destroy(simulation)


def mappers():
    """{mapper: [its options]}"""
    found, index = {}, 0
    while (name := _library.pimsim_mapper_name(index)) is not None:
        options, option = [], _MapperOption()
        while _library.pimsim_mapper_option(name, len(options), ctypes.byref(option)) == 0:
            options.append({key: value.decode() if isinstance(value := getattr(option, key), bytes) else value for key, _ in _MapperOption._fields_})
        found[name.decode()] = options
        index += 1
    return found


def map(mapper, network, hardware, trace=None, set=None, dim=None, progress=None, **options):  # pylint: disable=redefined-builtin
    """
    Maps a network and writes the trace, if one is named. Options of the mapper are keywords (`time_limit=10` is --time-limit 10, flags are True).
    The plan of `pimsim map --format json`, with "estimate_cycles"; None where the mapper has no estimate.
    """
    words = [name.replace("_", "-") if value is True else f"{name.replace('_', '-')}={_value(value)}" for name, value in options.items() if value is not False]
    (overrides, count), (own, own_count), (dimensions, dimension_count) = _assignments(set), _assignments(words), _assignments(dim)
    watch = _Watch(progress)
    request = _MapOptions(ctypes.sizeof(_MapOptions), _whole(mapper.encode()), _bytes(network), _bytes(hardware), overrides, count, own, own_count,
                          dimensions, dimension_count, _bytes(trace), watch.progress, watch.stop, None)
    mapping = ctypes.c_void_p()
    try:
        _call(_library.pimsim_map, ctypes.byref(mapping), ctypes.byref(request), watch=watch)
        plan = json.loads(_library.pimsim_mapping_plan(mapping))
        plan["estimate_cycles"] = _library.pimsim_mapping_cycles(mapping) or None
        return plan
    finally:
        _library.pimsim_mapping_destroy(mapping)


def sweep(specification, results, set=None, cache=None, mode="new", threads=0, progress=None):  # pylint: disable=redefined-builtin
    """Runs what `results` (SQLite) lacks of a sweep: mode "new", "resume" or "force". All points, as `pimsim sweep --export json`."""
    overrides, count = _assignments(set)
    watch = _Watch(progress)
    options = _SweepOptions(ctypes.sizeof(_SweepOptions), _bytes(specification), _bytes(results), _bytes(cache), overrides, count, _choice("mode", mode, MODES),
                            _count("threads", threads, 32), watch.progress, watch.stop, None)
    made = ctypes.c_void_p()
    try:
        _call(_library.pimsim_sweep, ctypes.byref(made), ctypes.byref(options), watch=watch)
        return json.loads(_library.pimsim_sweep_json(made))
    finally:
        _library.pimsim_sweep_destroy(made)


def read_sweep(results):
    """The results of a sweep in a file, without running anything."""
    return sweep(None, results)
