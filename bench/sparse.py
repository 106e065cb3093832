#!/usr/bin/env python3
"""Graphs with small separators: the sweep, what auto takes, the searches, and Boost's Dijkstra beside them.

    bench/sparse.py [--build build/release] [--threads N] [--large] [--json FILE]

For each graph every entry of the sweep's matrix is compared with Boost's, or where Boost is not installed with that of
our own searches; then the summary of all pairs, no matrix held, is timed from the file on. Seconds are processor
seconds of all threads, divided by their number, the best of three, so that a machine which does other things can be
measured, too. No order of elimination is cached: each run makes its own. `matrix` is a call of the library into a
matrix in memory whose pages were used before, planning and order included, `given` the same with the order given, both
against the searches of Boost into its own matrix. The last column is the sweep's rate on one thread as a share of the ceiling that `tilewright bench apsp`
measures: of all that it does, factor, transposing and summary included, but reading the graph and planning. --large adds the grid of 200 x 200 (the
answer is then checked by --verify; Boost takes minutes) and one of 512 x 512 with 4096 sources.
"""
import argparse
import filecmp
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the build; build/release by default")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="all processors by default")
    parser.add_argument("--large", action="store_true", help="also grids of 200 x 200 and 512 x 512")
    parser.add_argument("--json", help="write the table there, too")
    return parser.parse_args()


def write(path, n, edges, rng, most):
    """Undirected edges as triples, a weight of 1 ... most each."""
    with open(path, "wb") as file:
        file.write(struct.pack("<ii", n, 2 * len(edges)))
        for a, b in edges:
            weight = rng.randint(1, most)
            file.write(struct.pack("<6i", a, b, weight, b, a, weight))


def grid(side):
    return [(v, v + 1) for v in range(side * side) if v % side + 1 < side] + [
        (v, v + side) for v in range(side * (side - 1))
    ]


def mesh(side, rng):
    """A grid whose squares have a diagonal, one of the two: a planar triangulation."""
    edges = grid(side)
    for v in range(side * (side - 1)):
        if v % side + 1 < side:
            edges.append((v, v + side + 1) if rng.random() < 0.5 else (v + 1, v + side))
    return edges


def roads(side, rng):
    """Like a road network: a grid that keeps a spanning tree and a few edges more, each a chain of some vertices, in no
    order at all."""
    edges = grid(side)
    rng.shuffle(edges)
    root = list(range(side * side))

    def find(v):
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        return v

    chains, n = [], side * side
    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra == rb and rng.random() > 0.3:
            continue
        root[ra] = rb
        for _ in range(rng.choice((0, 0, 1, 2, 3))):
            chains.append((a, n))
            a, n = n, n + 1
        chains.append((a, b))
    place = list(range(n))
    rng.shuffle(place)
    return n, [(place[a], place[b]) for a, b in chains]


def cube(side):
    step = (1, side, side * side)
    return [
        (v, v + step[axis])
        for v in range(side**3)
        for axis in range(3)
        if v // step[axis] % side + 1 < side
    ]


def make_graphs(folder, large):
    rng = random.Random(20261116)
    graphs = []

    def add(name, n, edges, sources=None):
        path = folder / (name.replace(" ", "-") + ".bin")
        write(path, n, edges, rng, 100)
        graphs.append((name, path, n, sources))

    add("grid 64²", 4096, grid(64))
    add("grid 100²", 10000, grid(100))
    add("triangulation 100²", 10000, mesh(100, rng))
    n, edges = roads(80, rng)
    add(f"roads {n}", n, edges)
    add("mesh 16³", 4096, cube(16))
    if large:
        add("grid 200²", 40000, grid(200))
        add("grid 512²", 512 * 512, grid(512), 4096)
    return graphs


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, repeat=3):
    """The least processor seconds, and what the last run printed."""
    best, out = float("inf"), ""
    for _ in range(repeat):
        began = processor_seconds()
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        best = min(best, processor_seconds() - began)
    return best, out


def boost(folder):
    """The peer's program, or None where it cannot be built."""
    program = folder / "boost_dijkstra"
    compiler = shutil.which("c++")
    command = [compiler, "-O3", str(HERE / "peers/boost_dijkstra.cpp"), "-pthread", "-o", str(program)]
    if compiler is None or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    return program


def into_memory(build, folder):
    """bench/matrix.c, or None where it cannot be built."""
    program = folder / "matrix"
    library = pathlib.Path(build).resolve() / "src"
    command = ["cc", "-O2", "-I", str(HERE.parent / "include"), str(HERE / "matrix.c"), "-L", str(library),
               f"-Wl,-rpath,{library}", "-ltilewright", "-o", str(program)]
    return program if subprocess.run(command, check=False).returncode == 0 else None


def check(program, peer, path, folder):
    """Whether the sweep's matrix is the other's; the processor seconds of Boost from file to file, and of its searches
    alone, if it is there."""
    ours, theirs = folder / "ours", folder / "theirs"
    subprocess.run([program, "apsp", path, ours, "--out-format", "raw", "--method", "sweep", "-q", "--no-cache"], check=True)
    seconds = searches = None
    if peer is not None:
        began = processor_seconds()
        said = subprocess.run([peer, path, theirs], stderr=subprocess.PIPE, text=True, check=True).stderr
        seconds, searches = processor_seconds() - began, json.loads(said)["processor"]
    else:
        subprocess.run([program, "apsp", path, theirs, "--out-format", "raw", "--method", "dijkstra", "-q"], check=True)
    if not filecmp.cmp(ours, theirs, shallow=False):
        raise SystemExit(f"{path}: the distances differ")
    return seconds, searches


def measure_matrix(row, matrix, path, threads, searches, folder):
    """Into a matrix in memory, which must be the one that was compared with the peer's."""
    out = subprocess.run([matrix, path, str(threads), "sweep", folder / "again"], capture_output=True, text=True, check=True)
    if not filecmp.cmp(folder / "ours", folder / "again", shallow=False):
        raise SystemExit(f"{path}: the distances in memory differ")
    taken = json.loads(out.stdout)
    row["matrix"], row["matrix_order_given"] = taken["cold"] / threads, taken["order_given"] / threads
    row["boost_matrix"] = searches / threads if searches else None


def share_of_ceiling(program, path, sources, ceilings):
    """Relaxations of the sweep in a processor second of one thread, without what reading and planning take, against
    the ceiling; and the working type."""
    words = [program, "apsp", str(path), *sources, "--method", "sweep", "--threads", "1", "--json", "-q", "--no-cache"]
    planned, _ = timed([*words, "--explain"])
    seconds, out = timed([*words, "--summary"])
    report = json.loads(out)
    kind = report["working_type"]
    return report["relaxations"] / (seconds - planned) / ceilings[kind], kind


def main():
    args = parse()
    program = os.path.join(args.build, "src/cli/tilewright")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer, matrix = boost(folder), into_memory(args.build, folder)
        bench = json.loads(timed([program, "bench", "apsp", "-n", "512", "--threads", "1", "--json", "-q"], 1)[1])
        ceilings = {row["type"]: row["ceiling"] for row in bench["cases"]}
        # Distances of 15 bits take plain sums: on x86-64 twice the rate of the saturating ones of u16.
        ceilings["u16"] = max(ceilings["u16"], 2 * ceilings["i32"])
        print(f"processor seconds / {args.threads} threads; file to summary of all pairs")
        print(f"{'graph':20} {'auto':>9} {'method':>9} {'sweep':>9} {'dijkstra':>9} {'Boost':>9} {'ratio':>6} "
              f"{'matrix':>8} {'given':>8} {'Boost':>8} {'ratio':>6} {'given':>6}  of the ceiling")
        for title, path, n, count in make_graphs(folder, args.large):
            sources = ["--sources", ",".join(map(str, range(0, n, n // count)))] if count else []
            common = [program, "apsp", str(path), *sources, "--threads", str(args.threads), "--json", "-q", "--summary",
                      "--no-cache"]
            row = {"graph": title, "vertices": n}
            theirs, searches = check(program, peer, path, folder) if n < 30000 else (None, None)
            if n < 30000 and matrix is not None:
                measure_matrix(row, matrix, path, args.threads, searches, folder)
            if theirs is None and n >= 30000:
                subprocess.run([*common, "--method", "sweep", "--verify=8"], capture_output=True, check=True)
            seconds, out = timed(common)
            row["auto"], row["method"] = seconds / args.threads, json.loads(out)["method"]
            row["sweep"] = timed([*common, "--method", "sweep"])[0] / args.threads
            row["dijkstra"] = timed([*common, "--method", "dijkstra"], 1)[0] / args.threads if n < 30000 else None
            row["boost"] = theirs / args.threads if theirs else None
            row["share"], row["type"] = share_of_ceiling(program, path, sources, ceilings)
            rows.append(row)

            def shown(value):
                return f"{value:9.3f}" if value is not None else f"{'-':>9}"

            def ratio(theirs, ours):
                return f"{row[theirs] / row[ours]:6.0f}" if row.get(theirs) and row.get(ours) else f"{'-':>6}"

            print(
                f"{title:20} {shown(row['auto'])} {row['method']:>9} {shown(row['sweep'])} {shown(row['dijkstra'])} "
                f"{shown(row['boost'])} {ratio('boost', 'auto')} {shown(row.get('matrix'))[1:]} {shown(row.get('matrix_order_given'))[1:]} "
                f"{shown(row.get('boost_matrix'))[1:]} {ratio('boost_matrix', 'matrix')} {ratio('boost_matrix', 'matrix_order_given')}  {100 * row['share']:.0f} % ({row['type']})",
                flush=True,
            )
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
