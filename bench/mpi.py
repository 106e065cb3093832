#!/usr/bin/env python3
"""bench/mpi.py [--build BUILD] [--vertices N] [--ranks LIST] [--turns K]: the closure over MPI beside one process
with as many threads: speed and memory per rank. A dense graph with weights of i32, worked on in i32.

For each number P of ranks, in turns: one process with P threads, and P ranks with one thread each. The bytes of
both results are compared first, unless told otherwise. Speeds are the medians of the turns; the ratio is that of the
medians. Memory is the maximum that a rank has allocated, MPI's own aside, beside the maximum that the process is resident
with: both hold the part of the file that they read beside its arcs. Predicted is what --explain said right before the
run, in the same processes; the last column is that against the measured time."""
import argparse
import filecmp
import json
import os
import statistics
import subprocess
import tempfile

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def report(command):
    """What it says of its run, and the maximum memory that it, or a process that it started, was resident with."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
        out.seek(0)
        return {**json.load(out), "resident": 1024 * usage.ru_maxrss}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    words.add_argument("--build", default=os.path.join(here, "build/release"))
    words.add_argument("--vertices", type=int, default=4096)
    words.add_argument("--ranks", default="2", help="such as 2,4,8")
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--undirected", action="store_true")
    words.add_argument("--unchecked", action="store_true", help="do not compare the results first, as the tests do")
    asked = words.parse_args()
    alone = os.path.join(asked.build, "src/cli/tilewright")
    many = os.path.join(asked.build, "src/mpi/command/tilewright-mpi")
    run = os.path.join(here, "tests/mpi/run")
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "dense.bin")
        subprocess.run([alone, "generate", "graph", "dense", graph, "--vertices", str(asked.vertices), "-q"],
                       check=True)
        same = [graph, "--method", "closure", "--work-type", "i32", "--device", "cpu", "--json", "-q"]
        same += ["--undirected"] if asked.undirected else []
        outs = [os.path.join(folder, name) for name in ("one.npy", "many.npy")]
        print(f"n = {asked.vertices}, i32{', undirected' if asked.undirected else ''}; seconds of the closure, "
              "GB at most in a process")
        print("| ranks | one process | its memory | ranks x 1 thread | waiting | memory per rank | speed | memory | "
              "predicted | predicted / measured |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for ranks in map(int, asked.ranks.split(",")):
            one = [alone, "apsp", *same, "--threads", str(ranks)]
            over = [run, str(ranks), many, "apsp", *same, "--threads", "1", "--summary", "--explain"]
            if not asked.unchecked:
                if not os.path.exists(outs[0]):
                    report(one + ["-o", outs[0]])
                report(over + ["-o", outs[1]])
                if not filecmp.cmp(*outs, shallow=False):
                    raise SystemExit(f"{ranks} ranks: other bytes than one process")
            turns = [(report(one), report(over)) for _ in range(asked.turns)]
            a = statistics.median(t[0]["seconds"]["compute"] for t in turns)
            b = statistics.median(t[1]["seconds"]["compute"] for t in turns)
            wait = statistics.median(t[1]["seconds"]["wait"] for t in turns)
            told = statistics.median(sum(t[1]["forecast"]["seconds"][part] for part in ("prepare", "compute", "exchange"))
                                     for t in turns)
            # A rank counts its own reading; one process counts its computing only.
            x, y = turns[0][0]["resident"], turns[0][1]["memory_peak"]
            print(f"| {ranks} | {a:.2f} | {x / 1e9:.3f} | {b:.2f} | {wait:.2f} | {y / 1e9:.3f} | {a / b:.2f} | "
                  f"{y / x:.2f} | {told:.2f} | {told / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
