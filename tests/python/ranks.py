"""tests/python/ranks.py FOLDER, on the ranks that mpirun starts: tilewright.mpi beside tilewright on one
process. Every failure is printed; the exit status is 1 if there is one."""

import os
import subprocess
import sys
import tempfile

import numpy as np
from mpi4py import MPI

import tilewright
import tilewright.mpi

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
folder = sys.argv[1]
failed = 0


def check(right, what):
    global failed
    if not right:
        failed += 1
        print(f"FAILED on rank {rank} of {ranks}: {what}", flush=True)


def raises(kind, text, what, *args, call=tilewright.mpi.apsp, **options):
    try:
        call(comm, *args, **options)
        check(False, f"{what}: nothing is raised")
    except kind as error:
        check(text in str(error), f"{what}: {error}")


def random_graph(n, seed=1):
    random = np.random.default_rng(seed)
    weights = random.integers(1, 100, (n, n))
    weights[random.random((n, n)) < 0.9] = 0
    return weights


def part_of(weights):
    mine = np.zeros_like(weights)
    mine[rank::ranks] = weights[rank::ranks]
    return mine


def distances():
    weights = random_graph(150)
    right = tilewright.apsp(weights)
    out = os.path.join(folder, f"out-{ranks}.npy")
    for method in ("auto", "closure", "dijkstra"):
        got = tilewright.mpi.apsp(comm, part_of(weights), out, method=method, verify=3)
        check(np.array_equal(got, right), f"parts, {method}")
    check(not got.flags.writeable and got.filename == os.path.abspath(out), "a memmap")
    got = tilewright.mpi.apsp(comm, weights if rank == 0 else None, out, directed=False, threads=1)
    check(np.array_equal(got, tilewright.apsp(weights, directed=False)), "undirected, of one rank")
    picked = {"sources": [3, 149, 0], "targets": [7, 8], "cutoff": 40, "dtype": np.int32}
    got = tilewright.mpi.apsp(comm, part_of(weights), out, **picked)
    check(np.array_equal(got, tilewright.apsp(weights, **picked)) and got.dtype == np.int32, "rows and columns")
    check(tilewright.mpi.apsp(comm, part_of(weights), out, sources=[]).shape == (0, 150), "no rows")
    file = os.path.join(folder, f"graph-{ranks}.mtx")
    if rank == 0:
        with open(file, "w", encoding="ascii") as text:
            rows, cols = weights.nonzero()
            print("%%MatrixMarket matrix coordinate integer general", file=text)
            print(150, 150, len(rows), file=text)
            for i, j in zip(rows, cols):
                print(i + 1, j + 1, weights[i, j], file=text)
    comm.Barrier()
    check(np.array_equal(tilewright.mpi.apsp(comm, file, out), right), "a file")
    half = comm.Split(rank % 2, rank)
    mine = weights if half.Get_rank() == 0 else None
    got = tilewright.mpi.apsp(half, mine, f"{out}.{rank % 2}")
    check(np.array_equal(got, right), "a communicator of some ranks")
    half.Free()


def summaries():
    weights = random_graph(90)
    right = tilewright.summary(weights, bins=5, harmonic=True)
    got = tilewright.mpi.summary(comm, part_of(weights), bins=5, harmonic=True)
    check(repr(got) == repr(right), f"{got} and {right}")
    for name in ("eccentricity", "closeness", "harmonic"):
        check(np.array_equal(getattr(got, name), getattr(right, name)), name)


def errors():
    out = os.path.join(folder, f"none-{ranks}.npy")
    weights = random_graph(20)
    raises(ValueError, "unknown method", "a method", weights, out, method="magic")
    raises(ValueError, "numbered 0 ... 19", "a vertex", part_of(weights), out, sources=[20])
    raises(OSError, "none.gr", "no file", os.path.join(folder, "none.gr"), out)
    last = np.array([[0, 1], [1, 0]]) if rank == ranks - 1 else weights
    if ranks > 1:
        raises(ValueError, "2 vertices", "parts of two sizes", last, out)
        mine = weights.astype(complex) if rank == ranks - 1 else weights
        raises((TypeError, ValueError), "real numbers", "a part that is none", mine, out)
        differences(weights, out)
    check(not os.path.exists(out), "a file of what failed")


def differences(weights, out):
    """What only one rank is told raises on all of them, and nobody waits."""
    other = rank == ranks - 1
    file = os.path.join(folder, f"ring-{ranks}.gr")
    if rank == 0:
        with open(file, "w", encoding="ascii") as text:
            text.write("p sp 3 3\na 1 2 1\na 2 3 1\na 3 1 1\n")
    comm.Barrier()
    raises(ValueError, "the graph as a part and rank 0 a file", "a file and a part", weights if other else file, out)
    raises(ValueError, "the graph as a file and rank 0 a part", "a part and a file", file if other else weights, out)
    raises((TypeError, ValueError), "None", "no file", file, None if other else out)
    raises((TypeError, ValueError), "integer", "no number", file, out, verify="x" if other else 1)
    raises(ValueError, "embedded null character", "a name with a zero byte", file, out + "\0.npy" if other else out)
    raises(ValueError, "embedded null character", "a graph's name with a zero byte", file + "\0" if other else file, out)
    raises(Exception, "unknown method", "a method that is no text", file, out, method="\ud800" if other else "auto")
    raises(Exception, "nonesuch", "no device", file, out, device="nonesuch" if other else "cpu")
    summary = tilewright.mpi.summary
    raises(ValueError, "was given bins 9 and rank 0 5", "bins", file, call=summary, bins=9 if other else 5)
    raises(ValueError, "is too large", "more bins than a number has room for", file, call=summary, bins=2**40)
    raises(ValueError, "was given harmonic True and rank 0 False", "harmonic", file, call=summary, harmonic=other)
    raises(ValueError, "was given closeness igraph", "closeness", file, call=summary, closeness="igraph" if other else "networkx")
    mixed = (lambda *args: summary(*args[:2])) if other else tilewright.mpi.apsp
    raises(ValueError, "was given the call summary and rank 0 apsp", "two functions", file, out, call=mixed)


def checkpoints():
    weights, kept = random_graph(300, 2), os.path.join(folder, f"kept-{ranks}")
    out = os.path.join(folder, f"kept-{ranks}.npy")
    seen = []

    def stop(stage, done, total, unit):
        seen.append(stage)
        if stage == "closing" and done > 0:
            raise KeyError("enough")

    wanted = {"method": "closure", "checkpoint": kept, "every": 0}
    try:
        tilewright.mpi.apsp(comm, part_of(weights), out, progress=stop if rank == 0 else None, **wanted)
        check(len(seen) < 2 or ranks > 1, "it was stopped")
    except (KeyError, tilewright.CancelledError):
        pass
    got = tilewright.mpi.apsp(comm, part_of(weights), out, **wanted)
    check(np.array_equal(got, tilewright.apsp(weights)), "after a checkpoint")
    comm.Barrier()
    check(not os.path.exists(kept), "nothing is left")


def structs():
    """As the compiler of MPI sees them."""
    lines = ["#include <tilewright-mpi.h>", "#include <stdio.h>", "int main(void) {"]
    expected = []
    for name, struct in tilewright.mpi.STRUCTS.items():
        for member, _ in struct._fields_:
            lines.append(
                f'printf("{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));'
            )
            field = getattr(struct, member)
            expected.append(f"{member} {field.offset} {field.size}")
        lines.append(f'{{ {name} v = {name.upper()}_INIT; printf("%lld\\n", (long long)v.verify); }}')
        expected.append(str(struct().verify))
    lines.append("return 0; }")
    include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include")
    with tempfile.TemporaryDirectory() as scratch:
        source, program = os.path.join(scratch, "probe.c"), os.path.join(scratch, "probe")
        with open(source, "w", encoding="ascii") as text:
            text.write("\n".join(lines))
        subprocess.run([os.environ.get("MPICC", "mpicc"), "-I", include, source, "-o", program], check=True)
        seen = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    check(seen.split("\n")[:-1] == expected, f"structs: {seen} {expected}")


distances()
summaries()
errors()
checkpoints()
if rank == 0:
    structs()
failed = comm.allreduce(failed)
if rank == 0:
    print(f"{ranks} ranks: {failed} failed")
sys.exit(1 if failed else 0)
