#!/usr/bin/env python3
"""What `auto` takes against the best that could be forced, and estimates against runs.

    bench/choices.py [--build build/release] [--threads 1,2] [--limit SECONDS] [--busy] [--rows] [--only TEXT] [--json FILE]

Graphs of every generator, and roads, grids and meshes of bench/sparse.py. For each number of threads the method is left
to the plan, and then each method forced whose estimate is below --limit and below ten times what `auto` took. Seconds
are those of the command from the graph in memory to the summary of all pairs (--rows: to the matrix, written to
/dev/null), planning and the order of a sweep included, nothing cached, the best of three by the clock, in turns; --busy takes
processor seconds over threads instead, reading included, for a machine that does other things. A line shows what `auto`
took and took it for, the fastest method, the ratio of the two, and of runs above 50 ms the estimate that was farthest
off. The table goes to FILE as JSON.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import tempfile

import sparse

METHODS = ("closure", "dijkstra", "bfs", "sweep")
WEIGHTS = ["--weights", "1:1000"]
GENERATED = (
    ("grid", WEIGHTS, (1000, 4000, 10000)),
    ("grid", ["--weights", "1:1"], (4000,)),
    ("complete", WEIGHTS, (500, 1500)),
    ("sparse", ["--degree", "5", *WEIGHTS], (1000, 4000)),
    ("sparse", ["--degree", "5", "--weights", "1:1"], (4000, 10000)),
    ("sparse", ["--degree", "2", *WEIGHTS], (4000,)),
    ("sparse", ["--degree", "40", *WEIGHTS], (2000,)),
    ("dense", ["--density", "0.3", *WEIGHTS], (500, 1500)),
    ("preferential", ["--degree", "3", *WEIGHTS], (1000, 4000)),
    ("preferential", ["--degree", "3", "--weights", "1:1"], (4000, 10000)),
    ("rmat", ["--degree", "8", *WEIGHTS], (1024, 4096)),
    ("rmat", ["--degree", "8", "--weights", "1:1"], (4096,)),
)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the build; build/release by default")
    parser.add_argument("--threads", default="1,2", help="numbers of them; 1,2 by default")
    parser.add_argument("--limit", type=float, default=3.0, help="run what is estimated to take no longer; 3 s by default")
    parser.add_argument("--busy", action="store_true", help="count processor seconds")
    parser.add_argument("--rows", action="store_true", help="write the matrix to /dev/null in place of a summary")
    parser.add_argument("--only", default="", help="graphs whose name contains this")
    parser.add_argument("--json", help="write the table there, too")
    return parser.parse_args()


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Command:
    def __init__(self, given):
        self.program = os.path.join(given.build, "src", "cli", "tilewright")
        self.given = given

    def tell(self, path, threads, method, explain=False):
        """The report of a run, or of the plan alone; None if it cannot be done."""
        words = ["--explain"] if explain else ["-o", "-", "--out-format", "raw"] if self.given.rows else ["--summary"]
        done = subprocess.run([self.program, "apsp", path, "--threads", str(threads), "--method", method, "--no-cache",
                               "--device", "cpu", "--json", "-q", *words], stderr=subprocess.PIPE, check=False,
                              stdout=subprocess.DEVNULL if "-" in words else subprocess.PIPE)
        text = done.stderr if "-" in words else done.stdout
        if b"no effect" in done.stderr:  # else no method would be compared
            raise SystemExit(done.stderr.decode())
        return json.loads(text) if done.returncode == 0 else None

    def run(self, path, threads, method):
        """Seconds of a run and its report."""
        began = processor_seconds()
        report = self.tell(path, threads, method)
        taken = report["seconds"]["total"] - report["seconds"]["read"]
        if self.given.busy:
            taken = (processor_seconds() - began) / threads
        return taken, report

    def race(self, path, threads, methods):
        """The best of three runs of each method, which take turns."""
        best = {}
        for _ in range(3):
            for method in methods:
                run = self.run(path, threads, method)
                if method not in best or run[0] < best[method][0]:
                    best[method] = run
        return best


def make_graphs(program, folder, only):
    rng = random.Random(20261116)
    for kind, words, sizes in GENERATED:
        for n in sizes:
            name = " ".join([kind, str(n), *[word for word in words if not word.startswith("--") and word != "1:1000"]])
            path = folder / "graph.bin"
            if only in name:
                subprocess.run([program, "generate", "graph", kind, path, "-n", str(n), "-q", *words], check=True)
                yield name, path
    n, edges = sparse.roads(60, rng)
    for name, vertices, links in (
        (f"roads {n}", n, edges),
        ("triangulation 64²", 4096, sparse.mesh(64, rng)),
        ("mesh 14³", 2744, sparse.cube(14)),
    ):
        if only in name:
            sparse.write(folder / "graph.bin", vertices, links, rng, 100)
            yield name, folder / "graph.bin"


def compare(command, name, path, threads):
    """One row of the table."""
    taken, report = command.run(path, threads, "auto")
    methods, planning = {}, {}
    for method in METHODS:
        began = processor_seconds()
        plan = command.tell(path, threads, method, explain=True)
        planning[method] = (processor_seconds() - began) / threads
        if plan is not None:
            methods[method] = {"estimate": plan["seconds_estimated"]}
    tried = [method for method, found in methods.items() if found["estimate"] < min(command.given.limit, 10 * taken)]
    best = command.race(path, threads, ["auto", *tried])
    taken, report = best["auto"]
    row = {"graph": name, "vertices": report["graph"]["vertices"], "arcs": report["graph"]["arcs"], "threads": threads,
           "auto": report["method"], "auto_seconds": taken, "auto_plan": report["seconds"]["plan"], "methods": methods}
    for method in tried:
        found = methods[method]
        found["seconds"], forced = best[method]
        found["estimate"] = forced["seconds_estimated"]
        found["run"] = forced["seconds"]["compute"] + forced["seconds"]["output"]
        if command.given.busy:
            found["run"] = max(found["seconds"] - planning[method], 0)
    runs = {method: found["seconds"] for method, found in row["methods"].items() if "seconds" in found}
    row["best"] = min(runs, key=runs.get, default=row["auto"])
    row["ratio"] = taken / runs.get(row["best"], taken)
    return row


def misses(row):
    """The estimates of runs above 50 ms, over the runs."""
    return {method: found["estimate"] / found["run"] for method, found in row["methods"].items()
            if found.get("run", 0) > 0.05}


def main():
    given = parse()
    command = Command(given)
    rows = []
    print(f"{'graph':24} threads {'auto':>9} {'seconds':>9} {'plan':>8}  {'best':>9} {'seconds':>9} {'ratio':>6}  estimate / run")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in make_graphs(command.program, pathlib.Path(folder), given.only):
            for threads in map(int, given.threads.split(",")):
                row = compare(command, name, path, threads)
                rows.append(row)
                off = ", ".join(f"{method} {ratio:.2f}" for method, ratio in misses(row).items())
                best = row["methods"].get(row["best"], {}).get("seconds", row["auto_seconds"])
                print(f"{name:24} {threads:7} {row['auto']:>9} {row['auto_seconds']:9.4f} {row['auto_plan']:8.4f}  "
                      f"{row['best']:>9} {best:9.4f} {row['ratio']:6.2f}  {off}", flush=True)
    near = [1 / 1.5 <= ratio <= 1.5 for row in rows for ratio in misses(row).values()]
    print(f"auto within 1.2 of the best: {sum(row['ratio'] <= 1.2 for row in rows)} of {len(rows)}, "
          f"worst {max(row['ratio'] for row in rows):.2f}; estimates within 1.5 above 50 ms: {sum(near)} of {len(near)}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
