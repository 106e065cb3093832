#!/usr/bin/env python3
"""tests/mpi/command.py RUN TILEWRIGHT_MPI TILEWRIGHT FOLDER UNRESERVED CRAMPED [WITH_GPUS]: the command tilewright-mpi as its users meet
it: files of every format, options, what it says of bad input and how often, and what it leaves behind.

RUN is tests/mpi/run, UNRESERVED a library before which no file system can reserve room, CRAMPED one before which there is
none to share memory in, WITH_GPUS the command on GPUs that are not there (tests/fake-gpu). Every failure is printed; the exit status is 1 if there is one.
TW_TEST_ALL: every combination of what is tried in many; else, and in builds in which every start takes seconds, a fifth."""
import fcntl
import filecmp
import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

run, mpi, alone, folder, unreserved, cramped = sys.argv[1:7]
with_gpus = sys.argv[7] if len(sys.argv) > 7 else None
failed = 0
done = 0
LIMIT = 1200  # seconds, for what hangs


def some(cases):
    cases = list(cases)
    return cases if "TW_TEST_ALL" in os.environ and "TW_TEST_SMALL" not in os.environ else cases[::5]


def check(right, what, *more):
    global failed, done
    done += 1
    if not right:
        failed += 1
        print("FAILED:", what, *more)


def ranks(count, *words, program=None):
    """Standard output, standard error without mpirun's own words, exit status."""
    command = [run, str(count), program or mpi, *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder)
    said = [line for line in ended.stderr.splitlines() if line.startswith("tilewright-mpi: ")]
    return ended.stdout, said, ended.returncode, ended.stderr


def forecast(*words):
    """--explain without mpirun, in a session of its own: others come and go in the one of this user."""
    with tempfile.TemporaryDirectory(prefix="tw", dir="/tmp") as session:
        return subprocess.run([mpi, "--explain", *words], capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, "TMPDIR": session})


def one(*words):
    ended = subprocess.run([alone, *words, "-q"], check=True, cwd=folder, timeout=LIMIT, stdout=subprocess.PIPE,
                           text=True)
    return ended.stdout


def same(a, b):
    a, b = os.path.join(folder, a), os.path.join(folder, b)
    return os.path.exists(a) and filecmp.cmp(a, b, shallow=False)


def left():
    """What lies in the folder and should not."""
    return [name for name in os.listdir(folder) if name.startswith(".tilewright")]


def write_edges(name, n, count, seed):
    generator = random.Random(seed)
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        for _ in range(count):
            file.write(f"{generator.randrange(n)} {generator.randrange(n)} {generator.randrange(1, 900)}\n")
        file.write(f"{n - 1} 0 7\n")


def formats():
    write_edges("g.el", 170, 700, 1)
    one("generate", "graph", "dense", "g.bin", "--vertices", "170", "--seed", "4")
    one("generate", "graph", "sparse", "g.gr", "--vertices", "170", "--seed", "4")
    extras = ([], ["--undirected", "--block", "64"], ["--unweighted", "--type", "f32"])
    for graph, extra, out in some(itertools.product(("g.bin", "g.el", "g.gr"), extras, ("m.npy", "m.raw"))):
        one("apsp", graph, "right-" + out, "--method", "closure", *extra)
        _, said, code, err = ranks(3, "apsp", graph, out, "--verify=2", *extra)
        check(code == 0 and not said, graph, extra, out, code, err)
        check(same(out, "right-" + out), graph, extra, out, "other bytes")
        os.unlink(os.path.join(folder, out))
    out, _, code, _ = ranks(2, "apsp", "g.bin", "--json", "-q", "--verify=0", "--threads", "1")
    report = json.loads(out)
    check(code == 0 and report["ranks"] == 2 and report["verified_rows"] == 170 and report["threads"] == 1,
          "the report", out)
    waits, helped = report["wait_of_ranks"], report["helped_of_ranks"]
    check(len(waits) == len(helped) == 2 and waits[0] == report["seconds"]["wait"] and min(waits + helped) >= 0,
          "what each rank has seen", out)


def options():
    one("apsp", "g.el", "right.npy", "--sources", "5,3,169", "--targets", "0-9", "--cutoff", "1500")
    _, said, code, err = ranks(4, "apsp", "g.el", "-o", "some.npy", "--sources", "5,3,169", "--targets",
                               "0-9", "--cutoff", "1500", "--verify=0")
    check(code == 0 and same("some.npy", "right.npy"), "sources and targets", said, err)
    one("apsp", "g.gr", "right.npy", "--sources", "170,1")  # numbered from 1
    _, said, code, err = ranks(2, "apsp", "g.gr", "-o", "some.npy", "--sources", "170,1")
    check(code == 0 and same("some.npy", "right.npy"), "sources by the numbers of the file", said, err)
    out, _, code, _ = ranks(2, "apsp", "--help")
    check(code == 0 and out.count("--work-type") == 1, "--help is printed once", out)
    check(out.endswith("1 verification failed or negative cycle; 2 error.\n"), "what exit status 1 means here", out[-200:])
    out, _, code, _ = ranks(2, "help", "apsp")
    check(code == 0 and out.count("--work-type") == 1, "'help apsp' is the same", out)
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
    for option, name in (("--man", "tilewright-mpi.1"), ("--completion", "tilewright-mpi.bash"),
                         ("--completion=zsh", "tilewright-mpi.zsh"), ("--completion=fish", "tilewright-mpi.fish")):
        out, _, code, _ = ranks(2, option)
        with open(os.path.join(docs, name), encoding="utf-8") as file:
            check(code == 0 and out == file.read(), f"renew docs/{name} with 'tilewright-mpi {option}'")
    _, said, code, err = ranks(2, "--completion=csh")
    check(code == 2 and len(said) == 1 and "use bash, zsh or fish" in said[0], "another shell", err)
    out, _, code, _ = ranks(2, "--version")
    check(code == 0 and re.fullmatch(r"tilewright-mpi \d+\.\d+\.\d+\n", out), "--version", out)


def answers():
    """Without a matrix: the words and files of one process."""
    with open(os.path.join(folder, "roads.el"), "w", encoding="ascii") as file:
        for v in range(900):
            file.write(f"{v} {(v * 7 + 3) % 900} {v % 13 + 1}\n{v} {(v + 1) % 900} {v % 5 + 2}\n")
    with open(os.path.join(folder, "down.el"), "w", encoding="ascii") as file:
        file.write("0 1 -5\n1 2 3\n2 0 4\n")
    for words in (["--histogram", "--harmonic", "FILE"], ["--unweighted", "--sum", "FILE"],
                  ["--method", "closure", "--closeness", "FILE"], ["--undirected", "--eccentricity", "FILE"],
                  ["--sources", "5,9,899,5", "--reached", "FILE"]):
        right = one("apsp", "roads.el", *[word.replace("FILE", "right.csv") for word in words])
        out, said, code, err = ranks(3, "apsp", "roads.el", *[word.replace("FILE", "some.csv") for word in words])
        check(code == 0 and out == right and same("some.csv", "right.csv"), "answers", words, out, err)
    # With names, which come from one process and are known to all: lists, answers, words and labels.
    with open(os.path.join(folder, "trains.csv"), "w", encoding="ascii") as file:
        file.write("from,to,minutes\nBern,Basel,55\nBasel,Zurich,53\nZurich,Bern,56\nBern,Thun,18\nThun,Brig,40\n")
    for method in ("closure", "dijkstra"):
        words = ["--method", method, "--count", "2", "--sources", "Thun,Bern,Zurich"]
        right = one("apsp", "trains.csv", *words, "--nearest", "right.csv", "--farthest", "right2.csv")
        out, said, code, err = ranks(3, "apsp", "trains.csv", *words, "--nearest", "some.csv", "--farthest", "some2.csv")
        check(code == 0 and out == right and same("some.csv", "right.csv") and same("some2.csv", "right2.csv"),
              "nearest and farthest, with names", method, out, err)
    one("apsp", "trains.csv", "right.npy", "--labels", "--targets", "Basel,Bern")
    _, said, code, err = ranks(2, "apsp", "trains.csv", "named.npy", "--labels", "--targets", "Basel,Bern")
    check(code == 0 and same("named.npy", "right.npy") and same("named.rows.txt", "right.rows.txt") and
          same("named.cols.txt", "right.cols.txt"), "labels", said, err)
    for name in ("right", "named"):
        for end in (".rows.txt", ".cols.txt"):
            os.unlink(os.path.join(folder, name + end))
    one("apsp", "roads.el", "--nearest", "right.csv", "--unweighted")
    _, said, code, err = ranks(4, "apsp", "roads.el", "--nearest", "some.csv", "--unweighted", "-q")
    check(code == 0 and same("some.csv", "right.csv"), "nearest of many rows", said, err)
    one("apsp", "down.el", "right.npy")
    out, said, code, err = ranks(2, "apsp", "down.el", "some.npy", "--verify=0", "--summary")
    check(code == 0 and same("some.npy", "right.npy") and out.startswith("distances    3 x 3, i32\n"),
          "negative weights", out, err)
    _, said, code, err = ranks(2, "apsp", "down.el", "x.npy", "--undirected")
    check(code == 1 and len(said) == 1 and "negative cycle" in said[0], "a negative cycle", code, err)


def texts():
    """What one process writes beside a matrix of numbers, byte for byte: csv, lines of --long, and predecessors as elements,
    as text, by the numbers of the graph's file and by names; of every method, and with ties, where any order of the arcs shows."""
    generator = random.Random(3)
    with open(os.path.join(folder, "ties.el"), "w", encoding="ascii") as file:
        file.writelines(f"{generator.randrange(150)} {generator.randrange(150)} {generator.randrange(3)}\n" for _ in range(900))
    with open(os.path.join(folder, "parts.el"), "w", encoding="ascii") as file:
        file.writelines(f"{generator.randrange(150)} {generator.randrange(150)} {generator.random():.3f}\n" for _ in range(900))
    graphs = ("g.bin", "g.gr", "ties.el", "parts.el", "trains.csv", "down.el")
    files = (("m.npy", "p.csv"), ("m.csv", "p.npy"), ("long.csv", "p.raw"))
    for turn, (graph, method, (out, before)) in some(enumerate(itertools.product(graphs, ("closure", "dijkstra", "sweep"), files), 1)):
        if graph == "down.el" and method == "closure":
            continue  # negative weights
        words = ["--method", method, *(["--long"] if out == "long.csv" else []),
                 *(["--undirected"] if turn % 5 < 2 and graph != "down.el" else []),
                 *(["--sources", "Brig,Bern" if graph == "trains.csv" else "2,1,2"] if turn % 7 < 2 else [])]
        one("apsp", graph, "right-" + out, "--predecessors", "right-" + before, *words)
        _, said, code, err = ranks(turn % 3 + 1, "apsp", graph, out, "--predecessors", before, "--verify=2", *words)
        check(code == 0 and same(out, "right-" + out) and same(before, "right-" + before) and not left(), "text",
              graph, out, before, words, said, err)
    one("apsp", "g.gr", "--predecessors", "right.npy")
    for count, method in ((2, "closure"), (3, "dijkstra"), (2, "auto")):
        _, said, code, err = ranks(count, "apsp", "g.gr", "--predecessors", "some.npy", "--method", method)
        check(code == 0 and same("some.npy", "right.npy") and "vertices are numbered from 0, but in g.gr from 1" in err,
              "predecessors alone", said, err)
    # The order of a sweep is kept for the next run, unless it is not to be.
    one("generate", "graph", "grid", "grid.bin", "--vertices", "1600", "--seed", "1")
    kept = os.path.join(folder, "cache")
    for words, files in ((["--no-cache"], 0), ([], 1)):
        os.environ["XDG_CACHE_HOME"] = kept
        _, said, code, err = ranks(2, "apsp", "grid.bin", "some.npy", "--method", "sweep", *words)
        del os.environ["XDG_CACHE_HOME"]
        found = [name for _, _, names in os.walk(os.path.join(kept, "tilewright")) for name in names]
        check(code == 0 and (len(found) > 0) == (files > 0), "the kept order", words, found, err)
    shutil.rmtree(kept, ignore_errors=True)


def stale():
    """Names of another matrix beside OUT are not taken for its own."""
    one("apsp", "trains.csv", "d.npy", "--labels")
    before = open(os.path.join(folder, "d.npy"), "rb").read()
    for words in (["g.bin", "d.npy"], ["trains.csv", "--predecessors", "d.npy"]):
        _, said, code, err = ranks(2, "apsp", *words)
        check(code == 2 and len(said) == 1 and "d.rows.txt" in said[0] and "are left from an earlier run" in said[0], words, err)
    check(open(os.path.join(folder, "d.npy"), "rb").read() == before, "the matrix is as it was")
    one("apsp", "trains.csv", "right.npy", "--sources", "Thun")
    _, said, code, err = ranks(2, "apsp", "trains.csv", "d.npy", "--labels", "--sources", "Thun")
    check(code == 0 and same("d.npy", "right.npy") and
          open(os.path.join(folder, "d.rows.txt"), encoding="ascii").read() == "Thun\n", "labels are replaced", said, err)
    for name in ("d.rows.txt", "d.cols.txt"):
        os.unlink(os.path.join(folder, name))


def simulated(n, block, rows, cols, element, rate, link, latency):
    """Seconds of a closure, pivot by pivot: a round begins when its panels are there and the one before is over, and the
    next pivot's panels are made from its beginning on."""
    own = lambda ranks: min(-(-(-(-n // block)) // ranks) * block, n)
    height, width = own(rows), own(cols)
    levels = lambda ranks: math.ceil(math.log2(ranks))
    cast = lambda ranks, size: levels(ranks) * latency + size * element / link if ranks > 1 else 0
    look = (64 if n // rows >= 1024 else 32) * width * block / rate / 2
    head, closed = block * block * (height + width) / rate, 3 * block ** 3 / rate
    panel = block * block * (height + width if min(rows, cols) == 1 else max(height, width)) / rate
    looks = 2 * look * levels(max(rows, cols))

    def chain(begun, over, head):
        """When the next panels are there; who computes, until `over`, looks between two tasks only."""
        seen = lambda at: min(at + looks, max(at, over))
        at = seen(begun + head + closed) + max(cast(rows, block * block), cast(cols, block * block))
        return seen(at + panel) + cast(rows, block * width) + cast(cols, block * height)

    ready, over = chain(0.0, 0.0, 0.0), 0.0
    for first in range(0, n, block):
        begun = max(ready, over)
        over = begun + min(block, n - first) * height * width / rate
        ready = chain(begun, over, head)
    return over


def explained():
    """What it would take: of this job, and of a cluster that is only described."""
    out, said, code, err = ranks(4, "apsp", "g.bin", "--explain", "--method", "closure", "--threads", "1")
    check(code == 0 and "as a grid of 2 x 2" in out and "communicate" in out and not said, "--explain", out, err)
    check("help: idle ranks of a machine take tasks from the others" in out.splitlines(), "who helps", out)
    for help_, line in (("never", "help: none; TW_MPI_HELP=never"), ("perhaps", None)):
        os.environ["TW_MPI_HELP"] = help_
        out, said, code, err = ranks(2, "apsp", "g.bin", "--explain", "--method", "closure")
        check(code == 0 and line in out.splitlines() if line else
              code == 2 and len(said) == 1 and "use auto or never" in said[0], "TW_MPI_HELP", help_, out, err)
    del os.environ["TW_MPI_HELP"]
    out, said, code, err = ranks(2, "apsp", "roads.el", "--explain", "--method", "sweep")
    check(code == 0 and "sweep in" in out and "rows dealt out" in out, "--explain of a sweep", out, err)
    out, _, code, err = ranks(2, "--explain", "roads.el", "--json", "-q")
    seconds = json.loads(out)["forecast"]["seconds"]
    check(code == 0 and abs(seconds["total"] - sum(v for k, v in seconds.items() if k != "total")) < 1e-6,
          "the parts add up to the total", out, err)
    one("generate", "graph", "dense", "e.bin", "--vertices", "700", "--seed", "3")
    for extra in ([], ["--undirected"]):
        out, _, code, err = ranks(3, "apsp", "e.bin", "x.npy", "--explain", "--method", "closure", "--work-type", "i32",
                                  "--block", "64", "--threads", "1", "--json", "-q", *extra)
        report = json.loads(out)
        need, peak = report["forecast"]["memory"], report["memory_peak"]
        check(code == 0 and 0.75 < need / peak < 1.35, "memory of a rank", extra, need, peak, err)
        os.unlink(os.path.join(folder, "x.npy"))
    one("generate", "graph", "dense", "h.bin", "--vertices", "1500", "--seed", "3")
    for count, extra in ((2, []), (5, ["--undirected"]), (3, ["--predecessors", "p.npy"])):
        words = ["apsp", "h.bin", "x.npy", "--method", "closure", "--work-type", "i32", "--threads", "1", "-q", "--json", *extra]
        out, _, code, err = ranks(count, *words, "--explain")
        report = json.loads(out)
        need, peak = report["forecast"]["memory"], report["memory_peak"]
        check(code == 0 and 0.97 < need / peak < 1.03, "memory of a rank of a larger matrix", count, extra, need, peak, err)
        for name in ("x.npy", "p.npy"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        _, said, code, err = ranks(count, *words, "--memory", str(int(0.9 * peak)))
        check(code == 2 and len(said) == 1 and "--memory" in said[0] and not left(), "less memory than a run takes", count, extra, said, err)
    one("generate", "graph", "sparse", "f.bin", "--vertices", "1500", "--seed", "3")
    needs, peaks = [], []
    for extra in ([], ["--checkpoint", "state", "--every", "0"]):
        out, _, code, err = ranks(3, "apsp", "f.bin", "--summary", "--explain", "--method", "closure", "--work-type", "i32",
                                  "--threads", "1", "--json", "-q", *extra)
        needs.append(json.loads(out)["forecast"]["memory"])
        peaks.append(json.loads(out)["memory_peak"])
    share = 1500 * 1500 * 4 / 3
    check(needs[1] - needs[0] > 0.9 * share and peaks[1] - peaks[0] > 0.6 * share,  # what conversion takes comes later
          "a checkpoint lies aside while it is written", needs, peaks)
    cases = ((30000, 256, 1, 5.0, 10, 2.0), (250000, 256, 64, 9.0, 12.5, 2.0), (250000, 128, 4096, 2000.0, 12.5, 5.0),
             (40000, 512, 256, 4000.0, 5.0, 50.0), (500, 256, 6, 5.0, 1.0, 10.0))
    for n, block, count, rate, link, latency in cases:
        ended = forecast("--vertices", str(n), "--block", str(block), "--ranks", str(count), "--rate", str(rate),
                         "--link", str(link), "--latency", str(latency), "--json", "--memory", "1T")
        check(ended.returncode == 0, "a forecast", n, count, ended.returncode, ended.stderr)
        if ended.returncode != 0:
            continue
        told = json.loads(ended.stdout)[str(count)]
        right = simulated(n, block, told["grid_rows"], told["grid_cols"], 4, rate * 1e9, link * 1e9, latency * 1e-6)
        found = told["seconds"]["total"]
        check(told["grid_rows"] * told["grid_cols"] == count and abs(found - right) < 0.05 * right,
              "a cluster", n, block, count, found, right)
        check(0 < told["ideal"] <= 1.001, "the share of the ideal", told)
    told = forecast("--vertices", "3000", "--ranks", "4", "--rate", "1", "--block", "7", "--undirected", "--method", "closure")
    check(told.returncode == 0 and re.search("tiles of [0-9]*[048];", told.stdout), "a block as a run has it", told.stdout, told.stderr)
    refused = forecast("--vertices", "250000", "--ranks", "4", "--memory", "8G")
    check(refused.returncode == 2 and re.search("need 6[0-9] GB .* have 8.* ranks would do", refused.stderr),
          "too many vertices for the memories", refused.stderr)
    for words, sentence in ((["--ranks", "64"], "--explain"), (["--explain", "--vertices", "5", "--ranks", "4,x"], "such as 64,256"),
                            (["--explain", "--rate", "4"], "--ranks"), (["--explain"], "GRAPH"),
                            (["--explain", "--vertices", "5", "--ranks", "0"], "such as 64,256"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--rate", "-1"], "--rate -1: expected"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--rate", "0"], "--rate 0: expected"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--rate", "1e-300"], "--rate 1e-300: expected"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--link", "0"], "--link 0: expected"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--latency", "-2"], "--latency -2: expected"),
                            (["--explain", "--vertices", "0", "--ranks", "4"], "--vertices 0: expected"),
                            (["--explain", "--vertices", "5", "--ranks", " 4"], "such as 64,256"),
                            (["--explain", "--vertices", "5", "--ranks", "4,+8"], "such as 64,256"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--method", "dijkstra"], "predicts a closure"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--sources", "3"], "--sources has no effect with --ranks"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "-o", "x.npy"], "--output has no effect with --ranks"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--verify"], "--verify has no effect with --ranks"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--threads", "2"], "--threads has no effect with --ranks"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--unweighted"], "--unweighted has no effect with --ranks"),
                            (["--explain", "g.bin", "x.npy", "--ranks", "4"], "OUT has no effect with --ranks"),
                            (["--explain", "--vertices", "5", "--ranks", "4", "--block", "100000"], "block is 100000; use 1 to 1024")):
        _, said, code, err = ranks(2, "apsp", *words)
        check(code == 2 and len(said) == 1 and sentence in said[0], words, err)
    _, said, code, err = ranks(2, "apsp", "g.bin", "--explain", "--method", "closure", "--memory", "200k")
    check(code == 2 and len(said) == 1 and "memory" in said[0], "no memory for the closure", err)
    _, said, code, err = ranks(2, "apsp", "h.bin", "--explain", "--method", "closure", "--work-type", "i32", "--memory", "14M")
    named = re.search("; use --memory ([0-9]+[kM]) or more, or use more machines", said[0] if said else "")
    check(code == 2 and named is not None, "a forecast names the limit that is enough", said, err)
    if named is not None:
        _, _, code, err = ranks(2, "apsp", "h.bin", "--explain", "--method", "closure", "--work-type", "i32", "--memory", named.group(1))
        check(code == 0, "and it is", named.group(0), err)


def limits():
    """The memory that --explain tells is enough, with checkpoints too, and too little is found before the rounds."""
    one("generate", "graph", "dense", "l.bin", "--vertices", "1500", "--seed", "3", "--weights", "0:1000000")
    one("apsp", "l.bin", "right.npy", "--method", "closure")
    words = ["apsp", "l.bin", "--method", "closure", "--work-type", "i32", "--threads", "1", "-q"]
    output, kept = ["-o", "x.npy"], ["--checkpoint", "state", "--every", "0"]
    least = []
    for extra in ([], kept):
        out, _, code, err = ranks(2, *words, *extra, "--explain", "--json")
        need = json.loads(out)["forecast"]["memory"]
        least.append(need)
        for room in (need + 100000, need + 3000000):
            _, said, code, err = ranks(2, *words, *output, *extra, "--memory", str(room))
            check(code == 0 and same("x.npy", "right.npy"), "the memory that is forecast", extra, room, need, err)
            if code == 0:
                os.unlink(os.path.join(folder, "x.npy"))
    check(least[0] < least[1], "checkpoints need memory", least)
    _, said, code, err = ranks(2, *words, *output, *kept, "--memory", str(least[0] - 500000))
    check(code == 2 and len(said) == 1 and "memory" in said[0], "less than that", least, code, err)
    check(not os.path.exists(os.path.join(folder, "state")) and not left(), "less than that is found before the rounds")
    # More than all ranks of the machine can have is found before any of them takes its share.
    with open(os.path.join(folder, "huge.gr"), "w", encoding="ascii") as text:
        text.write("p sp 2000000 1\na 1 2 1\n")
    for help_ in ("auto", "never"):
        os.environ["TW_MPI_HELP"] = help_
        _, said, code, err = ranks(2, "apsp", "huge.gr", "--summary", "--method", "closure", "-q")
        check(code == 2 and len(said) == 1 and "use more machines" in said[0], "a matrix that no machine holds", help_, code, err)
    del os.environ["TW_MPI_HELP"]
    # Lists that each rank has for all rows are in it.
    for method in ("closure", "dijkstra"):
        needs = []
        for lists in ([], ["--nearest", "some.csv", "--count", "400"]):
            out, said, code, err = ranks(2, "apsp", "l.bin", "--method", method, "--threads", "1", "-q", "--json", "--explain", *lists)
            needs.append(json.loads(out)["forecast"]["memory"])
        peak = json.loads(out)["memory_peak"]
        check(code == 0 and needs[1] - needs[0] > 400 * 1500 * 12 * 0.9 and needs[1] > 0.97 * peak, "memory with lists", method, needs, peak, err)


def gpus():
    """How panels of ranks with GPUs reach MPI: it is said, and the result does not depend on it."""
    if with_gpus is None:
        return
    one("generate", "graph", "sparse", "h.bin", "--vertices", "61", "--seed", "3")
    one("apsp", "h.bin", "h.npy", "--method", "closure")
    for staging, line in (("always", "panels: staged in pinned host memory"),
                          ("never", "panels: MPI reads and writes GPU memory")):
        os.environ["TW_MPI_STAGING"] = staging
        words = ["apsp", "h.bin", "x.npy", "--device", "cuda", "--method", "closure", "--work-type", "i32"]
        out, said, code, err = ranks(3, *words[:2], *words[3:], "--explain", program=with_gpus)
        check(code == 0 and line in out.splitlines() and not said, "--explain on GPUs", staging, out, err)
        out, _, code, err = ranks(3, *words, "--explain", "--json", "-q", program=with_gpus)
        check(code == 0 and json.loads(out)["forecast"]["direct"] == (staging == "never"), "its JSON", staging, out, err)
        check(same("x.npy", "h.npy"), "the same bytes", staging)
        os.unlink(os.path.join(folder, "x.npy"))
    os.environ["TW_MPI_STAGING"] = "at times"
    _, said, code, err = ranks(3, *words, program=with_gpus)
    check(code == 2 and len(said) == 1 and "use always or never" in said[0], "an unknown way", err)
    _, _, code, err = ranks(2, "apsp", "h.bin", "x.npy", "--method", "closure")
    check(code == 0, "which CPUs do not ask about", err)
    os.unlink(os.path.join(folder, "x.npy"))
    del os.environ["TW_MPI_STAGING"]


def bad():
    """One sentence from one rank, exit 2, nothing left."""
    with open(os.path.join(folder, "cut.bin"), "wb") as file:
        file.write(open(os.path.join(folder, "g.bin"), "rb").read()[:-5])
    with open(os.path.join(folder, "far.bin"), "wb") as file:
        data = bytearray(open(os.path.join(folder, "g.bin"), "rb").read())
        data[-12:-8] = (999).to_bytes(4, "little")
        file.write(data)
    with open(os.path.join(folder, "minus.el"), "w", encoding="ascii") as file:
        file.write("0 1 -5\n1 2 3\n")
    one("generate", "graph", "dense", "large.bin", "--vertices", "1200")
    with open(os.path.join(folder, "kept.npy"), "w", encoding="ascii") as file:
        file.write("as it was")
    cases = [
        (["apsp", "none.bin", "x.npy"], "none.bin"),
        (["apsp", "-", "x.npy"], "standard input"),
        (["apsp", "cut.bin", "kept.npy", "--in-format", "triples"], "cut short"),
        (["apsp", "far.bin", "kept.npy"], "edge "),
        (["apsp", "minus.el", "x.npy", "--method", "closure"], "negative weights"),
        (["apsp", "g.bin", "x.tsv"], "choose with --out-format"),
        (["apsp", "g.bin", "x.csv.gz"], ".gz is not a known matrix format"),
        (["apsp", "g.bin", "-"], "standard output"),
        (["apsp", "g.bin", "--predecessors", "-"], "standard output"),
        (["apsp", "g.bin", "x.npy", "--predecessors", "p.png"], ".png is not a known matrix format"),
        (["apsp", "g.bin", "x.npy", "--long"], "give OUT the extension .csv"),
        (["apsp", "g.bin", "--long"], "--long has no effect without OUT"),
        (["apsp", "g.bin", "x.npy", "--predecessors", "x.npy"], "x.npy"),
        (["apsp", "g.bin", "g.bin"], "which would be lost"),
        (["apsp", "g.bin", "x.npy", "--predecessors", "q.npy", "--targets", "3"], "--predecessors needs whole rows"),
        (["apsp", "minus.el", "x.npy", "--predecessors", "q.npy", "--cutoff", "3"], "without a cutoff"),
        (["apsp", "g.bin", "x.npy", "--every", "10"], "--every has no effect without --checkpoint"),
        (["apsp", "g.bin", "x.npy", "--method", "dijkstra", "--block", "64"], "--block has no effect"),
        (["apsp", "g.bin", "x.npy", "--device-memory", "1G"], "--device-memory has no effect"),
        (["apsp", "g.bin", "x.npy", "--ids"], "--ids has no effect"),
        (["apsp", "g.bin", "nowhere/x.npy"], "nowhere/x.npy"),
        (["apsp", "g.bin", "."], "cannot write"),
        (["apsp", "large.bin", "kept.npy", "--memory", "100k"], "memory"),  # a little is never refused
        (["apsp", "g.bin", "kept.npy", "--work-type", "u8", "--type", "u8", "--cutoff", "-1"], "--cutoff"),
        (["apsp", "g.bin", "x.npy", "--method", "reference"], "reference"),
        (["apsp", "g.bin", "x.npy", "--method", "bfs"], "bfs"),
        (["apsp", "g.bin", "--nearest", "nowhere/x.csv"], "nowhere/x.csv"),
        (["apsp", "trains.csv", "x.npy", "--sources", "Bern,Thunn"], "no vertex named 'Thunn'"),
        (["apsp", "g.bin", "--labels"], "--labels has no effect without OUT"),
        (["apsp", "g.bin", "--sum", "nowhere/x.csv"], "nowhere/x.csv"),
        (["apsp", "g.bin", "x.npy", "--sources", "170"], "170"),
        (["apsp", "g.bin", "x.npy", "--blok", "4"], "--blok"),
        (["apsp"], "GRAPH"),
        (["solve"], "unknown command"),
    ]
    for words, sentence in some(cases):
        _, said, code, err = ranks(3, *words)
        check(code == 2 and len(said) == 1 and sentence in said[0], words, code, err)
        check(not [name for name in ("x.npy", "x.csv", "q.npy") if os.path.exists(os.path.join(folder, name))] and not left(),
              words, "left a file", left())
    with open(os.path.join(folder, "kept.npy"), encoding="ascii") as file:
        check(file.read() == "as it was", "a failed run has changed the file that was there")


def checkpoints():
    """Killed at random moments, on another count of ranks each time, a run ends with the same bytes."""
    one("generate", "graph", "dense", "c.bin", "--vertices", "900", "--seed", "5", "--weights", "0:1000000")
    one("apsp", "c.bin", "right.npy", "--method", "closure")
    words = ["apsp", "c.bin", "x.npy", "--checkpoint", "state", "--every", "0", "--threads", "1"]
    for seed in (1, 2):
        draw = random.Random(seed)
        print("seed", seed)
        for turn in range(4):
            count = draw.choice((1, 2, 3, 4))
            with subprocess.Popen([run, str(count), mpi, *words], cwd=folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True) as job:
                try:
                    job.wait(draw.uniform(0.3, 1.5) + 0.2 * turn)
                except subprocess.TimeoutExpired:
                    os.killpg(job.pid, signal.SIGKILL)  # mpirun; the ranks follow it
            time.sleep(0.3)
        count = draw.choice((1, 2, 3))
        _, said, code, err = ranks(count, *words)
        check(code == 0 and same("x.npy", "right.npy"), "after kills", seed, said, err)
        os.unlink(os.path.join(folder, "x.npy"))
        check(not os.path.exists(os.path.join(folder, "state")), "the checkpoint is left")
    with open(os.path.join(folder, "state"), "w", encoding="ascii") as file:
        file.write("something else")
    _, said, code, err = ranks(2, *words)
    check(code == 2 and len(said) == 1 and "is not a checkpoint" in said[0], "no checkpoint", err)
    os.unlink(os.path.join(folder, "state"))
    _, said, code, err = ranks(2, "apsp", "c.bin", "--every", "10x", "--checkpoint", "state")
    check(code == 2 and "10m" in said[0], "a time", err)


def children(pid):
    """Processes below one, from /proc."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += [int(name), *children(int(name))]
    return found


def ranks_of(job):
    """The processes of a job that run our program."""
    def program(pid):
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            return ""
    return sorted(pid for pid in [job.pid, *children(job.pid)] if program(pid) == os.path.basename(mpi))


def killed():
    """A rank that is killed ends the job; the checkpoint is whole, nothing is half-written, and another run goes on."""
    one("generate", "graph", "dense", "k.bin", "--vertices", "1500", "--seed", "6", "--weights", "0:1000000")
    one("apsp", "k.bin", "right.npy", "--method", "closure", "--work-type", "f64")
    words = ["apsp", "k.bin", "x.npy", "--checkpoint", "state", "--every", "0", "--threads", "1", "--block", "32",
             "--work-type", "f64"]
    for which in (0, -1):
        job = subprocess.Popen([run, "3", mpi, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, start_new_session=True, env={**os.environ, "OMPI_MCA_orte_execute_quiet": "0"})
        deadline = time.monotonic() + LIMIT
        while not os.path.exists(os.path.join(folder, "state")) and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        pids = ranks_of(job)
        check(len(pids) == 3 and job.poll() is None, "the ranks of a job", pids, job.poll())
        if pids:
            os.kill(pids[which], signal.SIGKILL)
        try:
            err = job.communicate(timeout=LIMIT)[0]  # MPICH tells it there
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            err = job.communicate()[0]
            check(False, "a job goes on without one of its ranks")
        check(job.returncode != 0 and err.strip(), "a killed rank is told of", which, job.returncode, err)
        check(not os.path.exists(os.path.join(folder, "x.npy")), "half a result")
        check(os.path.exists(os.path.join(folder, "state")) or os.path.exists(os.path.join(folder, "state.previous")),
              "no checkpoint is left")
        deadline = time.monotonic() + LIMIT
        while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        _, said, code, err = ranks(2, *words)
        check(code == 0 and same("x.npy", "right.npy") and "resuming from checkpoint" in err, "after a kill", which, err)
        check(not [name for name in os.listdir(folder) if name.startswith(("state", ".tilewright"))], "what is left",
              os.listdir(folder))
        os.unlink(os.path.join(folder, "x.npy"))


def locked():
    """Two runs do not share a checkpoint; what a killed one has left keeps nobody out."""
    words = ["apsp", "g.bin", "x.npy", "--checkpoint", "state", "--every", "0"]
    path = os.path.join(folder, "state.lock")
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _, said, code, err = ranks(2, *words)
        check(code == 2 and len(said) == 1 and "another run is using checkpoint 'state'" in said[0], "a lock", err)
        ended = subprocess.run([alone, *words, "--method", "closure"], cwd=folder, capture_output=True, text=True,
                               timeout=LIMIT, check=False)
        check(ended.returncode == 2 and "another run is using" in ended.stderr, "a lock, in one process", ended.stderr)
        check(os.path.exists(path) and not os.path.exists(os.path.join(folder, "x.npy")), "the other run's lock stays")
    _, said, code, err = ranks(2, *words)
    check(code == 0 and not os.path.exists(path), "a lock that nobody holds", err)
    os.unlink(os.path.join(folder, "x.npy"))


def full():
    """A file system without room: one sentence, before anything is computed where that can be known."""
    one("generate", "graph", "sparse", "thin.bin", "--vertices", "3500", "--seed", "2")
    # Blocks of 512 bytes, or 1024: more than MPI's own files have, and less than 98 MB.
    limited = ["-c", 'trap "" XFSZ; ulimit -f 80000; exec "$0" "$@"', mpi]
    for extra in (["--method", "closure"], ["--method", "dijkstra"]):
        _, said, code, err = ranks(3, *limited, "apsp", "thin.bin", "x.npy", "--type", "f64", *extra,
                                   program="/bin/sh")
        check(code == 2 and len(said) == 1 and "no room for" in said[0], "no room", extra, code, err)
        check(not left() and not os.path.exists(os.path.join(folder, "x.npy")), "no room", extra, "left a file")
        # Where room cannot be reserved a write fails in the midst of it, on some ranks.
        late = ["-c", f'trap "" XFSZ; ulimit -f 80000; LD_PRELOAD={unreserved} exec "$0" "$@"', mpi]
        for count in (2, 3):
            _, said, code, err = ranks(count, *late, "apsp", "thin.bin", "x.npy", "--type", "f64", *extra,
                                       program="/bin/sh")
            check(code == 2 and len(said) == 1 and "write the output file" in said[0], "a write that fails", extra, count, code, err)
            check(not left() and not os.path.exists(os.path.join(folder, "x.npy")), "it leaves a file", extra, count)
    # A matrix that no disk holds: nothing is planned, and what needs none is named.
    with open(os.path.join(folder, "wide.el"), "w") as file:
        file.write("# vertices: 10000000\n0 1 5\n")
    for words in (["x.csv"], ["x.npy"], ["x.out", "--out-format", "csv", "--method", "dijkstra"], ["x.npy", "--explain"],
                  ["--sources", "0-4999999", "--predecessors", "x.csv"]):
        _, said, code, err = ranks(2, "apsp", "wide.el", *words)
        check(code == 2 and len(said) == 1 and re.search(r"no room for 'x\.\w+': \d+ x 10000000 entries take .* TB, but .* is free; "
                                                         r"use --sources for some rows, or --summary, --closeness", said[0]),
              "a matrix that no disk holds", words, code, err)
        check(not left(), "a matrix that no disk holds", words, "left a file")
    # The memory that the ranks of a machine share is a file for MPI.
    for extra in (["--method", "dijkstra"], ["--method", "closure", "--predecessors", "q.npy"], ["--method", "auto", "--sources", "5"]):
        words = ["-c", f'LD_PRELOAD={cramped} exec "$0" "$@"', mpi, "apsp", "thin.bin", "x.npy", *extra]
        _, said, code, err = ranks(3, *words, program="/bin/sh")
        check(code == 2 and len(said) == 1 and "share the graph in /dev/shm" in said[0] and "--shm-size" in said[0],
              "no room to share", extra, code, err)
        check(not left() and not os.path.exists(os.path.join(folder, "x.npy")), "no room to share", extra, "left a file")
    nowhere = 'OMPI_MCA_osc_sm_backing_directory=nowhere exec "$0" "$@"'
    _, said, code, err = ranks(2, "-c", nowhere, *words[2:], program="/bin/sh")
    check(code == 2 and len(said) == 1 and "in nowhere: No such file" in said[0], "no folder to share in", code, err)
    _, said, code, err = ranks(1, *words, program="/bin/sh")
    check(code == 0, "a rank alone shares nothing", said, err)
    os.unlink(os.path.join(folder, "x.npy"))


def different():
    """Ranks that were told different things say so, by the words that differ, and end."""
    shutil.copy(os.path.join(folder, "g.bin"), os.path.join(folder, "other.bin"))
    with open(os.path.join(folder, "other.bin"), "r+b") as file:
        file.seek(20)
        file.write(b"\x01")
    far = "./" * 60
    plain = ["apsp", "g.bin", "x.npy"]
    cluster = ["apsp", "--explain", "--ranks", "4", "--rate", "1", "--vertices", "30"]
    for mine, yours, sentence in some((
        (plain, [*plain, "--block", "64"], "rank 1 was given --block 64 and rank 0 was not;"),
        ([*plain, "--block", "128"], [*plain, "--block", "64"], "rank 1 was given --block 64 and rank 0 128;"),
        (plain, ["apsp", "g.bin", "y.npy"], "rank 1 was given OUT y.npy and rank 0 x.npy;"),
        (plain, [*plain, "--predecessors", "q.npy"], "--predecessors q.npy"),
        (plain, ["apsp", "other.bin", "x.npy"], "GRAPH other.bin"),
        ([*plain, "--directed"], [*plain, "--undirected"], "rank 0 was given --directed and rank 1 was not;"),
        (plain, [*plain, "--nonsense"], "--nonsense"),
        (plain, ["apsp", "none.bin", "x.npy"], "none.bin"),
        # What a rank waits for depends on these.
        (plain, [*plain, "--labels"], "rank 1 was given --labels and rank 0 was not;"),
        ([*plain, "--labels"], plain, "rank 0 was given --labels and rank 1 was not;"),
        (plain, [*plain, "--explain"], "--explain"),
        ([*plain, "--explain"], plain, "--explain"),
        (["apsp", "g.bin", "--explain"], ["apsp", "g.bin"], "--explain"),
        (cluster, ["apsp", "g.bin", "--explain"], "rank 1 was given GRAPH g.bin and rank 0 was not;"),
        (["apsp", "g.bin"], ["apsp", "--help"], "--help"),
        (["apsp", "g.bin"], ["--help"], "rank 1 was given the command --help and rank 0 apsp;"),
        (["apsp", "g.bin", "--histogram=5"], ["apsp", "g.bin", "--histogram=7"], "--histogram 7 and rank 0 5;"),
        (["apsp", "g.bin", far + "x.npy"], ["apsp", "g.bin", far + "y.npy"], "/y.npy and rank 0 ..."),
        ([*plain, "--checkpoint", far + "s1"], [*plain, "--checkpoint", far + "s2"], "/s2 and rank 0 ..."),
        ([*plain, "--checkpoint", "s", "--every", "10m"], [*plain, "--checkpoint", "s", "--every", "30s"],
         "--every 30s and rank 0 600s;"),
    )):
        _, said, code, err = ranks(1, *mine, ":", "-n", "2", mpi, *yours)
        check(code == 2 and len(said) == 1 and sentence in said[0], mine, yours, code, err)
        check(not left() and not os.path.exists(os.path.join(folder, "x.npy")), mine, yours, "left a file")
    one("apsp", "g.bin", "right.npy", "--method", "closure")
    _, said, code, err = ranks(1, "apsp", "g.bin", "x.npy", "--threads", "1", "--every", "10m", "--checkpoint", "s", "-q", ":", "-n", "1",
                               mpi, "apsp", "g.bin", "x.npy", "--threads", "2", "--memory", "1G", "--every", "600", "--checkpoint", "s")
    check(code == 0 and same("x.npy", "right.npy"), "what a rank has, and how it is spelled, may differ", err)
    os.unlink(os.path.join(folder, "x.npy"))


def apart():
    """Ranks in other folders, as on machines whose disks are their own: a file that not all see, and copies of a graph."""
    one("generate", "graph", "sparse", "copied.bin", "--vertices", "9000", "--seed", "8")
    one("apsp", "copied.bin", "right.npy", "--sources", "0-9")
    places = [os.path.join(folder, name) for name in ("here", "there")]
    for place in places:
        os.makedirs(place)
        shutil.copy(os.path.join(folder, "copied.bin"), place)

    def both(out, *words):
        inside = [["-c", 'cd "$0" && exec "$@"', place, mpi, "apsp", "copied.bin", out, "--sources", "0-9", "-q", *words] for place in places]
        return ranks(1, *inside[0], ":", "-n", "2", "/bin/sh", *inside[1], program="/bin/sh")

    for extra in ([], ["--method", "closure"]):
        _, said, code, err = both("x.npy", *extra)
        check(code == 2 and len(said) == 1 and "rank 1 cannot write 'x.npy'" in said[0] and "a folder that all ranks see" in said[0],
              "OUT in two folders", extra, code, err)
        check(all(os.listdir(place) == ["copied.bin"] for place in places), "OUT in two folders", extra, "left a file")
    out = os.path.join(folder, "x.npy")
    _, said, code, err = both(out)
    check(code == 0 and same("x.npy", "right.npy"), "equal copies", code, err)
    os.unlink(out)
    stale = os.path.join(places[1], "copied.bin")
    with open(stale, "r+b") as file:  # as large, but for the last weight the same
        file.seek(-4, os.SEEK_END)
        last = file.read(1)
        file.seek(-4, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    _, said, code, err = both(out)
    check(code == 2 and len(said) == 1 and "rank 1 was given a graph of" in said[0] and not os.path.exists(out), "a stale copy", code, err)
    for place in places:
        shutil.rmtree(place)


def interrupted():
    """Ctrl-C ends all ranks, and the file that was there stays."""
    one("generate", "graph", "dense", "long.bin", "--vertices", "3500", "--seed", "2")
    before = open(os.path.join(folder, "kept.npy"), "rb").read()
    job = subprocess.Popen([run, "2", mpi, "apsp", "long.bin", "kept.npy", "--work-type", "f64", "--type", "f64",
                            "--threads", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                           cwd=folder, start_new_session=True)
    deadline = time.monotonic() + LIMIT
    while not left() and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    check(job.poll() is None and left(), "the run was over before it could be interrupted")
    os.killpg(job.pid, signal.SIGINT)
    try:
        job.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        check(False, "an interrupted run goes on")
    check(job.returncode != 0, "an interrupted run succeeds")
    check(open(os.path.join(folder, "kept.npy"), "rb").read() == before, "an interrupted run has changed its OUT")


os.makedirs(folder, exist_ok=True)
for name in os.listdir(folder):
    os.unlink(os.path.join(folder, name))
for part in (formats, options, answers, texts, stale, explained, limits, gpus, bad, different, apart, full, locked, interrupted, checkpoints, killed):
    part()
print(f"{done - failed} of {done} checks passed")
sys.exit(1 if failed or not done else 0)
