#!/usr/bin/env python3
"""How near the plans of tilewright apsp come to the runs: seconds and memory, and whether the choice is always the same.

    bench/estimates.py [--build build/release] [--threads N] [--limit SECONDS] [--busy]

For graphs of every kind and size, each method is planned and run; a line shows the estimated and the taken seconds
and their ratio, the planned and the counted bytes and theirs. Methods whose estimate is above --limit are only planned.
Then the method is left to the plan ten times, five of them with an output file: the last column counts the methods
chosen. Takes about a minute. On a machine that does other things, --busy with --threads 1 takes processor seconds for
those of the clock.
"""
import argparse
import collections
import json
import os
import resource
import subprocess
import tempfile

SMALL, MIDDLE, LARGE = 1000, 3000, 8000
GRAPHS = (
    ("grid", ["--weights", "1:1000"], (SMALL, MIDDLE, LARGE)),
    ("preferential", ["--degree", "3", "--weights", "1:1000"], (SMALL, MIDDLE, LARGE)),
    ("sparse", ["--degree", "5", "--weights", "1:1000"], (SMALL, MIDDLE, LARGE)),
    ("sparse, f32", ["--degree", "5", "--weights", "0:1", "--weight-type", "f32"], (MIDDLE,)),
    ("sparse, equal", ["--degree", "5", "--weights", "1:1"], (MIDDLE, LARGE)),
    ("dense", ["--density", "0.3", "--weights", "1:1000"], (SMALL, MIDDLE)),
)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the build; build/release by default")
    parser.add_argument("--threads", help="as of tilewright; all processors by default")
    parser.add_argument("--limit", type=float, default=2.0, help="run what is estimated to take no longer; 2 s by default")
    parser.add_argument("--busy", action="store_true", help="count processor seconds; for one thread")
    return parser.parse_args()


def tell(program, *words):
    done = subprocess.run([program, "apsp", *words, "--json", "--quiet"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(program, threads, graph, method, limit, busy):
    """One line of the table; the ratio of seconds, None if it was not run."""
    began = processor_seconds()
    plan = tell(program, graph, "--method", method, "--explain", *threads)
    planned = processor_seconds()
    if plan is None:
        return None
    estimated = plan["seconds_estimated"]
    if estimated > limit:
        print(f"  {method:9} {estimated:9.3g} s  {'-':>9}    {'-':>5}  {plan['memory_planned'] / 1e6:8.1f} MB")
        return None
    run = tell(program, graph, "--method", method, *threads)
    taken = run["seconds"]["compute"] + run["seconds"]["output"]
    if busy:
        taken = max(processor_seconds() - planned - (planned - began), 1e-3)
    ratio = run["seconds_estimated"] / taken
    bytes_ratio = run["memory_planned"] / run["memory_peak"]
    print(f"  {method:9} {run['seconds_estimated']:9.3g} s  {taken:9.3g} s  {ratio:5.2f}  "
          f"{run['memory_planned'] / 1e6:8.1f} MB  {run['memory_peak'] / 1e6:8.1f} MB  {bytes_ratio:5.2f}")
    return ratio


def choices(program, threads, graph, folder, limit):
    """The methods of ten plans, those with an output first."""
    counted = collections.Counter()
    first = tell(program, graph, "--explain", *threads)
    for i in range(10):
        with_file = i < 5 and first["seconds_estimated"] <= limit / 4
        words = [graph, os.path.join(folder, "out.npy")] if with_file else [graph, "--explain"]
        counted[tell(program, *words, *threads)["method"]] += 1
    return ", ".join(f"{name} {count}" for name, count in counted.most_common())


def main():
    given = parse()
    program = os.path.join(given.build, "src", "cli", "tilewright")
    threads = ["--threads", given.threads] if given.threads else []
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "graph.bin")
        for kind, words, sizes in GRAPHS:
            for n in sizes:
                path = graph if "f32" not in words else os.path.join(folder, "graph.mtx")
                subprocess.run([program, "generate", "graph", kind.split(",")[0], path, "-n", str(n), "--quiet", *words],
                               check=True)
                print(f"{kind}, n = {n}: estimated, taken, ratio; planned, counted, ratio")
                for method in ("closure", "dijkstra", "bfs", "sweep"):
                    ratio = compare(program, threads, path, method, given.limit, given.busy)
                    ratios += [ratio] if ratio is not None else []
                print(f"  chosen: {choices(program, threads, path, folder, given.limit)}", flush=True)
    near = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    print(f"{near} of {len(ratios)} estimates within a factor of 1.5; {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
