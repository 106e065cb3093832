#!/usr/bin/env python3
"""Maps beside NumPy and numexpr: the same arrays in the same process, in turn, answers compared.

    bench/map_peers.py --build build/dev [--side 8192] [--rounds 5] [--threads 1,2] [--out FOLDER]

The library is called through ctypes, so that all contestants work on NumPy's arrays in memory.
Each case is run `rounds` times by every contestant in turn, so that a busy moment of the machine
hits all of them; the best round counts, in wall seconds and in processor seconds of this process.
A result that differs from NumPy's in f64 by more than the tolerance fails the run. numexpr is left
out, by name, where it is not installed. With --out, map-peers.json and map-peers.md are written.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import sys
import time

import numpy as np

try:
    import numexpr
except ImportError:
    numexpr = None

PARITY = "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)"
TYPES = {np.dtype(np.float32): 5, np.dtype(np.float64): 6}


class Matrix(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("cols", ctypes.c_int64),
        ("stride", ctypes.c_int64),
        ("type", ctypes.c_int32),
    ]

    @classmethod
    def of(cls, array):
        rows, cols = array.shape
        return cls(array.ctypes.data, rows, cols, cols, TYPES[array.dtype])


class Shape(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("type", ctypes.c_int32)]


class ExprOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("inputs", ctypes.POINTER(ctypes.c_char_p)),
        ("input_count", ctypes.c_int32),
        ("constants", ctypes.c_void_p),
        ("constant_count", ctypes.c_int32),
        ("column", ctypes.c_void_p),
    ]


class MapOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("compute", ctypes.c_int32),
        ("type", ctypes.c_int32),
        ("repeat", ctypes.c_int64),
        ("fast", ctypes.c_int32),
        ("no_data", ctypes.c_void_p),
    ]


class Tilewright:
    """One plan of one expression, applied to arrays."""

    def __init__(self, library, text, names, arrays, threads, fast=False):
        self.lib = library
        self.lib.tw_last_error.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        self.lib.tw_context_create(ctypes.byref(self.ctx))
        self.check(self.lib.tw_set_threads(self.ctx, threads))
        words = (ctypes.c_char_p * len(names))(*[name.encode() for name in names])
        options = ExprOptions(ctypes.sizeof(ExprOptions), words, len(names), None, 0, None)
        expr, self.plan = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(
            self.lib.tw_expr_create(
                self.ctx, ctypes.byref(expr), text.encode(), ctypes.byref(options)
            )
        )
        self.inputs = (Matrix * len(arrays))(*[Matrix.of(array) for array in arrays])
        shapes = (Shape * len(arrays))(*[Shape(m.rows, m.cols, m.type) for m in self.inputs])
        map_options = MapOptions(ctypes.sizeof(MapOptions), 0, 0, 1, int(fast), None)
        self.check(
            self.lib.tw_map_plan_create(
                self.ctx,
                ctypes.byref(self.plan),
                expr,
                shapes,
                len(arrays),
                ctypes.byref(map_options),
            )
        )
        self.lib.tw_expr_destroy(expr)

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.tw_last_error(self.ctx).decode())

    def apply(self, out):
        self.check(
            self.lib.tw_map_plan_apply(
                self.ctx,
                self.plan,
                ctypes.byref(Matrix.of(out)),
                self.inputs,
                len(self.inputs),
                None,
            )
        )


def numpy_fma(arrays, out):
    np.multiply(arrays[0], arrays[1], out=out)
    np.add(out, arrays[2], out=out)


def numpy_parity(arrays, out):
    """Only the branch of each column, on strided halves, without temporaries of the whole."""
    x = arrays[0]
    for first, function in ((0, np.cos), (1, np.log)):
        part, result = x[:, first::2], out[:, first::2]
        function(part, out=result)
        result += 1
        np.sqrt(result, out=result)
        result += part


def numexpr_fma(arrays, out):
    a, b, c = arrays
    numexpr.evaluate("a * b + c", out=out)


def numexpr_parity(arrays, out):
    x = arrays[0]
    odd = (np.arange(x.shape[1]) % 2 == 1)[None, :]
    numexpr.evaluate("x + sqrt(where(odd, log(x), cos(x)) + 1)", out=out)


CASES = [
    # name, tilewright's expression, input names, NumPy, numexpr, bytes per element
    ("a*b+c", "a * b + c", ("a", "b", "c"), numpy_fma, numexpr_fma, 16),
    ("parity", PARITY, ("x",), numpy_parity, numexpr_parity, 8),
]


def exact(name, arrays):
    """The first rows in f64, and the tolerance of each element."""
    wide = [array[:64].astype(np.float64) for array in arrays]
    out = np.empty_like(wide[0])
    (numpy_fma if name == "a*b+c" else numpy_parity)(wide, out)
    if name == "a*b+c":
        return out, np.full_like(out, 1e-6) * np.abs(out) + 1e-6
    # sqrt(t) with t wrong by 2^-23: where t is small, that is what is left of the digits
    tolerance = np.sqrt(2.0**-22) + np.abs(out) * 1e-6
    return out, tolerance


def measure(run, out):
    wall, cpu = time.perf_counter(), time.process_time()
    run(out)
    return time.perf_counter() - wall, time.process_time() - cpu


def run_case(library, case, side, rounds, threads):
    name, text, names, by_numpy, by_numexpr, size = case
    random = np.random.default_rng(1)
    arrays = [random.integers(10, 266, (side, side)).astype(np.float32) for _ in names]
    out = np.zeros((side, side), np.float32)
    contestants = {"copy": lambda o: np.copyto(o, arrays[0])}
    plain = Tilewright(library, text, names, arrays, threads)
    contestants["tilewright"] = plain.apply
    if name == "parity":
        contestants["tilewright --fast"] = Tilewright(
            library, text, names, arrays, threads, True
        ).apply
    if threads == 1:
        contestants["NumPy"] = lambda o: by_numpy(arrays, o)
    if numexpr is not None:
        numexpr.set_num_threads(threads)
        contestants["numexpr"] = lambda o: by_numexpr(arrays, o)
    wanted, tolerance = exact(name, arrays)
    best = {}
    for turn in range(rounds + 1):  # the first brings pages and caches
        for who, run in contestants.items():
            out[:64] = np.nan
            wall, cpu = measure(run, out)
            if who != "copy" and not np.all(np.abs(out[:64] - wanted) <= tolerance):
                sys.exit(f"{who}: the result of {name} is wrong")
            if turn > 0:
                old = best.get(who, (np.inf, np.inf))
                best[who] = (min(old[0], wall), min(old[1], cpu))
    rows = []
    for who, (wall, cpu) in best.items():
        moved = 8 if who == "copy" else size
        rows.append(
            {
                "case": name,
                "threads": 1 if who == "copy" else threads,
                "contestant": who,
                "wall_seconds": wall,
                "processor_seconds": cpu,
                "ns_per_element": 1e9 * wall / side**2,
                "processor_ns_per_element": 1e9 * cpu / side**2,
                "gigabytes_per_second": moved * side**2 / wall * 1e-9,
                "gigabytes_per_processor_second": moved * side**2 / cpu * 1e-9,
            }
        )
    return rows


def table(rows, side):
    lines = [
        f"| case, f32, {side}×{side} | threads | contestant | ns/element | GB/s "
        "| processor ns/element | GB a processor second |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['case']} | {r['threads']} | {r['contestant']} | {r['ns_per_element']:.3f} | "
            f"{r['gigabytes_per_second']:.1f} | {r['processor_ns_per_element']:.3f} | "
            f"{r['gigabytes_per_processor_second']:.1f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build/release", help="where the library was built")
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1", help="a list, such as 1,2")
    parser.add_argument("--out", help="a folder for map-peers.json and map-peers.md")
    options = parser.parse_args()
    library = ctypes.CDLL(str(pathlib.Path(options.build) / "src" / "libtilewright.so"))
    if numexpr is None:
        print("numexpr is not installed here: left out", file=sys.stderr)
    rows = []
    for case in CASES:
        for threads in options.threads.split(","):
            rows += run_case(library, case, options.side, options.rounds, int(threads))
    print(table(rows, options.side))
    if options.out:
        folder = pathlib.Path(options.out)
        report = {
            "date": datetime.date.today().isoformat(),
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "load": os.getloadavg()[0],
            "numpy": np.__version__,
            "numexpr": numexpr.__version__ if numexpr is not None else None,
            "side": options.side,
            "rounds": options.rounds,
            "rows": rows,
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "map-peers.json").write_text(json.dumps(report, indent=2) + "\n")
        (folder / "map-peers.md").write_text(table(rows, options.side) + "\n")


if __name__ == "__main__":
    main()
