#!/usr/bin/env python3
"""bench/mpi_gpu.py [--build BUILD] [--vertices N] [--ranks LIST] [--turns K] [--device DEVICE]: a closure over MPI on ranks
with a GPU each, or with one for all of them, beside one process on it.

First, unless --unchecked: the bytes of both, for sizes around the edges of tiles, every type, directed and undirected, on 1, 2
and 3 ranks; and what is said of a GPU that is not there. Then seconds of the rounds, a sparse graph in i32, in turns; the
ratio is that of the medians. JSON of all runs goes to $OUT, or else build/bench-gpu."""
import argparse
import concurrent.futures
import filecmp
import itertools
import json
import os
import statistics
import subprocess
import tempfile

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
run = os.path.join(here, "tests/mpi/run")
SIZES = (1, 65, 129, 257, 1000, 1500, 3100)
TYPES = ("u16", "i32", "f32", "f64", "auto", "far")  # far: too far for 15 bits


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def checked(*command):
    ended = call(*command)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def compare(alone, many, device, folder, case):
    """Whether 1, 2 and 3 ranks give the bytes of one process; what differs."""
    n, kind, undirected = case
    name = os.path.join(folder, f"{n}-{kind}-{undirected}")
    weight = kind if kind in ("f32", "f64") else "i32"
    graph = name + (".bin" if weight == "i32" else "-graph.npy")  # triples have whole weights alone
    checked(alone, "generate", "graph", "sparse", graph, "--vertices", str(n), "--degree", "5", "--weight-type",
            weight, "--weights", "1:9000" if kind == "far" else "1:200", "--seed", str(n), "-q",
            "--undirected" if undirected else "--directed")
    same = ["--device", device, "--method", "closure", "-q"] + (["--undirected"] if undirected else [])
    same += [] if kind in ("auto", "far") else ["--work-type", kind]
    checked(alone, "apsp", graph, name + ".npy", *same)
    wrong = []
    for ranks in (1, 2, 3):
        out = f"{name}-{ranks}.npy"
        ended = call(run, str(ranks), many, "apsp", graph, out, *same)
        if ended.returncode != 0 or not filecmp.cmp(name + ".npy", out, shallow=False):
            wrong.append(f"n = {n}, {kind}{', undirected' if undirected else ''}, {ranks} ranks: exit "
                         f"{ended.returncode} {ended.stderr.strip()[-300:]}")
        if os.path.exists(out):
            os.unlink(out)
    os.unlink(name + ".npy")
    os.unlink(graph)
    return wrong


def check(alone, many, device):
    cases = list(itertools.product(SIZES, TYPES, (False, True)))
    wrong = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda case: compare(alone, many, device, folder, case), cases):
            wrong += found
        graph = os.path.join(folder, "g.bin")
        checked(alone, "generate", "graph", "sparse", graph, "-q")
        ended = call(run, "2", many, "apsp", graph, "-q", "--device", device.split(":")[0] + ":99")
        said = [line for line in ended.stderr.splitlines() if line.startswith("tilewright-mpi: ")]
        if ended.returncode != 2 or len(said) != 1 or "does not exist" not in said[0]:
            wrong.append(f"a GPU that is not there: exit {ended.returncode} {ended.stderr}")
    for line in wrong:
        print("WRONG:", line)
    print(f"checked: {3 * len(cases) + 1} runs over ranks, {len(wrong)} wrong", flush=True)
    return not wrong


def measure(alone, many, asked):
    ways = {"one process": [alone]}
    for ranks in asked.ranks.split(","):
        ways[f"{ranks} ranks"] = [run, ranks, many]
    seen = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "g.bin")
        checked(alone, "generate", "graph", "sparse", graph, "--vertices", str(asked.vertices), "--degree", "16", "-q")
        for _ in range(asked.turns):
            for way, command in ways.items():
                text = checked(*command, "apsp", graph, "--method", "closure", "--work-type", "i32", "--device",
                               asked.device, "--summary", "--json", "-q")
                seen[way].append(json.loads(text))
    best = statistics.median(one["seconds"]["device"] for one in seen["one process"])
    print(f"n = {asked.vertices}, i32, {asked.device}: seconds of the rounds")
    print("| way | median | all | of one process | computing, the way to the GPU and back included |")
    print("|---|---|---|---|---|")
    for way, runs in seen.items():
        seconds = [one["seconds"]["device"] for one in runs]
        compute = statistics.median(one["seconds"]["compute"] for one in runs)
        median = statistics.median(seconds)
        print(f"| {way} | {median:.3f} | {', '.join(f'{s:.3f}' for s in seconds)} | {best / median:.2f} | "
              f"{compute:.2f} |", flush=True)
    return seen


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    words.add_argument("--build", default=os.path.join(here, "build/gpu-here"))
    words.add_argument("--vertices", type=int, default=32768)
    words.add_argument("--ranks", default="1,2", help="such as 1,2,4")
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--device", default="cuda:0")
    words.add_argument("--unchecked", action="store_true")
    asked = words.parse_args()
    alone = os.path.join(asked.build, "src/cli/tilewright")
    many = os.path.join(asked.build, "src/mpi/command/tilewright-mpi")
    right = asked.unchecked or check(alone, many, asked.device)
    seen = measure(alone, many, asked)
    out = os.environ.get("OUT", os.path.join(here, "build/bench-gpu"))
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "mpi-gpu.json"), "w", encoding="utf-8") as file:
        json.dump(seen, file, indent=1)
    raise SystemExit(0 if right else 1)


main()
