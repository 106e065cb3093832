#!/usr/bin/env python3
"""Graphs with small separators: the sweep, what auto takes, the searches, and two peers beside them.

    bench/sparse.py [--build build/release] [--threads N] [--clock] [--large] [--roads FOLDER] [--boost PROGRAM]
                    [--routingkit PROGRAM] [--only TEXT] [--json FILE]

The peers are Boost's Dijkstra (bench/peers/boost_dijkstra.cpp, built here where Boost is installed, or --boost) and
RoutingKit's contraction hierarchy with all targets pinned (bench/peers/routingkit.cpp linked with that library, which is
not part of this project: --routingkit names the program). For each graph every entry of the sweep's matrix is compared
with theirs, or where there is no peer with that of our own searches; then the summary of all pairs, no matrix held, is
timed from the file on, against the searches of a peer alone (RoutingKit: and the building of its hierarchy), neither
reading nor writing. Above 30,000 vertices peers search from every 40th vertex, those rows are compared, and the time of
their searches is multiplied. Seconds are processor seconds of all threads, divided by their number, the best of three, so
that a machine which does other things can be measured, too; --clock takes seconds by the clock, for one that does not. No
order of elimination is cached: each run makes its own. `matrix` is a call of the library into a matrix in memory whose
pages were used before, planning and order included, `given` the same with the order given, both against the searches of
Boost into its own matrix (processor seconds). The last column is the sweep's rate on one thread as a share of the ceiling
that `tilewright bench apsp` measures: of all that it does, factor, transposing and summary included, but reading the
graph and planning. --large adds the grids of 200 x 200 and, with 4096 sources and no peer, 512 x 512. --roads adds the road
networks in FOLDER: every *.cedge, lines of edge, from, to and length (Li et al., spatial networks).
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
import time

HERE = pathlib.Path(__file__).resolve().parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the build; build/release by default")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="all processors by default")
    parser.add_argument("--clock", action="store_true", help="seconds by the clock, not of processors")
    parser.add_argument("--large", action="store_true", help="also grids of 200 x 200 and 512 x 512")
    parser.add_argument("--roads", help="folder of road networks, *.cedge")
    parser.add_argument("--boost", help="the peer's program; built here by default")
    parser.add_argument("--routingkit", help="the peer's program; none by default")
    parser.add_argument("--only", default="", help="graphs whose name contains this")
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


def read_roads(path):
    """A network of Li et al., lengths as whole numbers of which the longest is about 10000."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line.strip()]
    scale = 1e4 / max(float(length) for *_, length in lines)
    edges = [(int(a), int(b), max(1, round(float(length) * scale))) for _, a, b, length in lines]
    return 1 + max(max(a, b) for a, b, _ in edges), edges


def make_graphs(folder, given):
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
    add("mesh 20³", 8000, cube(20))
    for file in sorted(pathlib.Path(given.roads).glob("*.cedge")) if given.roads else ():
        n, edges = read_roads(file)
        path = folder / (file.stem + ".bin")
        with open(path, "wb") as out:
            out.write(struct.pack("<ii", n, 2 * len(edges)))
            for a, b, weight in edges:
                out.write(struct.pack("<6i", a, b, weight, b, a, weight))
        graphs.append((f"{file.stem} {n}", path, n, None))
    if given.large:
        add("grid 200²", 40000, grid(200))
        add("grid 512²", 512 * 512, grid(512), 4096)
    return [graph for graph in graphs if given.only in graph[0]]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, repeat=3, clock=processor_seconds):
    """The minimum seconds, of processors unless told otherwise, and what the last run printed."""
    best, out = float("inf"), ""
    for _ in range(repeat):
        began = clock()
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        best = min(best, clock() - began)
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


def rows_of(program, path, folder, n, every, method):
    """Raw rows of every so manyth source by one of our methods, in the file they are left in."""
    out = folder / f"rows-{method}"
    chosen = ["--sources", ",".join(map(str, range(0, n, every)))] if every > 1 else []
    subprocess.run([program, "apsp", path, out, "--out-format", "raw", "--method", method, "-q", "--no-cache", *chosen],
                   check=True)
    return out


def ask_peer(peer, path, folder, every, ours, given):
    """What all searches of a peer take, checked: seconds by the clock or of processors over threads, and its report."""
    theirs = folder / "theirs"
    done = subprocess.run([peer, path, theirs, str(every)], stderr=subprocess.PIPE, text=True, check=True)
    if not filecmp.cmp(ours, theirs, shallow=False):
        raise SystemExit(f"{path}: the distances of {peer} differ")
    theirs.unlink()
    report = json.loads(done.stderr)
    searches = report["compute"] if given.clock else report["processor"] / given.threads
    # Hierarchies are built by one thread.
    return every * searches + report.get("build", 0) / (1 if given.clock else given.threads), report


def compare(row, program, peers, path, folder, n, given):
    """The sweep's rows against those of peers, or of our searches; what the peers take goes into the row."""
    every = 40 if n >= 30000 else 1
    ours = rows_of(program, path, folder, n, every, "sweep")
    for name, peer in peers.items():
        row[name], report = ask_peer(peer, path, folder, every, ours, given)
        row[name + "_processor"] = report["processor"] * every
    if not peers and not filecmp.cmp(ours, rows_of(program, path, folder, n, every, "dijkstra"), shallow=False):
        raise SystemExit(f"{path}: the distances differ")
    return ours


def measure_matrix(row, matrix, path, threads, folder, ours):
    """Into a matrix in memory, which must be the one that was compared with the peer's."""
    out = subprocess.run([matrix, path, str(threads), "sweep", folder / "again"], capture_output=True, text=True, check=True)
    if not filecmp.cmp(ours, folder / "again", shallow=False):
        raise SystemExit(f"{path}: the distances in memory differ")
    (folder / "again").unlink()
    taken = json.loads(out.stdout)
    row["matrix"], row["matrix_order_given"] = taken["cold"] / threads, taken["order_given"] / threads
    row["boost_matrix"] = row["boost_processor"] / threads if "boost" in row else None


def share_of_ceiling(program, path, sources, ceilings):
    """Relaxations of the sweep in a processor second of one thread, without what reading and planning take, against
    the ceiling; and the working type."""
    words = [program, "apsp", str(path), *sources, "--method", "sweep", "--threads", "1", "--json", "-q", "--no-cache"]
    planned, _ = timed([*words, "--explain"])
    seconds, out = timed([*words, "--summary"])
    report = json.loads(out)
    kind = report["working_type"]
    return report["relaxations"] / (seconds - planned) / ceilings[kind], kind


def show(row):
    def shown(name):
        value = row.get(name)
        return f"{value:9.3f}" if value is not None else f"{'-':>9}"

    def ratio(theirs, ours):
        return f"{row[theirs] / row[ours]:6.1f}" if row.get(theirs) and row.get(ours) else f"{'-':>6}"

    print(f"{row['graph']:20} {shown('auto')} {row['method']:>9} {shown('sweep')} {shown('dijkstra')} {shown('boost')} "
          f"{ratio('boost', 'auto')} {shown('routingkit')} {ratio('routingkit', 'auto')} {shown('matrix')} "
          f"{shown('matrix_order_given')} {ratio('boost_matrix', 'matrix')} {ratio('boost_matrix', 'matrix_order_given')}  "
          f"{100 * row['share']:.0f} % ({row['type']})", flush=True)


def main():
    given = parse()
    program = os.path.join(given.build, "src/cli/tilewright")
    clock, over = (time.monotonic, 1) if given.clock else (processor_seconds, given.threads)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers = {"boost": given.boost or boost(folder), "routingkit": given.routingkit}
        peers = {title: os.path.abspath(peer) for title, peer in peers.items() if peer}
        matrix = into_memory(given.build, folder)
        bench = json.loads(timed([program, "bench", "apsp", "-n", "512", "--threads", "1", "--json", "-q"], 1)[1])
        ceilings = {row["type"]: row["ceiling"] for row in bench["cases"]}
        # Distances of 15 bits take plain sums: on x86-64 twice the rate of the saturating ones of u16.
        ceilings["u16"] = max(ceilings["u16"], 2 * ceilings["i32"])
        print("seconds by the clock" if given.clock else f"processor seconds / {given.threads} threads",
              "; file to summary of all pairs", sep="")
        print(f"{'graph':20} {'auto':>9} {'method':>9} {'sweep':>9} {'dijkstra':>9} {'Boost':>9} {'ratio':>6} {'RK':>9} "
              f"{'ratio':>6} {'matrix':>9} {'given':>9} {'ratio':>6} {'given':>6}  of the ceiling")
        for title, path, n, count in make_graphs(folder, given):
            sources = ["--sources", ",".join(map(str, range(0, n, n // count)))] if count else []
            common = [program, "apsp", str(path), *sources, "--threads", str(given.threads), "--json", "-q", "--summary",
                      "--no-cache"]
            row = {"graph": title, "vertices": n}
            if count is None:
                ours = compare(row, program, peers, path, folder, n, given)
                if n < 30000 and matrix is not None:
                    measure_matrix(row, matrix, path, given.threads, folder, ours)
            else:
                subprocess.run([*common, "--method", "sweep", "--verify=8"], capture_output=True, check=True)
            seconds, out = timed(common, 3, clock)
            row["auto"], row["method"] = seconds / over, json.loads(out)["method"]
            row["sweep"] = timed([*common, "--method", "sweep"], 3, clock)[0] / over
            row["dijkstra"] = timed([*common, "--method", "dijkstra"], 1, clock)[0] / over if n < 30000 else None
            row["share"], row["type"] = share_of_ceiling(program, path, sources, ceilings)
            rows.append(row)
            show(row)
            if given.json:
                pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
