#!/usr/bin/env python3
"""The Python package beside the libraries that it stands in for: SciPy, NetworkX, numexpr and
scikit-image, on the same arrays, threads and machine, in one run.

    build/python/bin/python bench/python.py [--build build/release] [--quick] [--only WORD]

Each case is run by both in turn, so that other work on the machine hits both alike; the ratio is of
medians (of the best of many for calls of microseconds), and results are compared before it counts. Beside
the seconds stand those of the processors, all threads together, which other work changes little. The
last column is what the package has set out to reach on two cores, if anything. Exit 1 if a result differs; a ratio
that is missed is marked and is no error, since it is the machine's, too.
"""

import argparse
import os
import statistics
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="where the library was built")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    return parser.parse_args()


OPTIONS = arguments()
os.environ.setdefault(
    "TW_LIBRARY", os.path.abspath(os.path.join(OPTIONS.build, "src/libtilewright.so"))
)
sys.path.insert(0, os.path.join(TOP, "python"))

import numpy as np  # noqa: E402

import tilewright  # noqa: E402
from tilewright import _apsp, _session, csgraph  # noqa: E402
from tilewright._graph import arcs_of_matrix  # noqa: E402

RNG = np.random.default_rng(1)
FAILED = []


def seconds(function):
    """Seconds by the clock and of the processors, and the result."""
    began, worked = time.perf_counter(), time.process_time()
    result = function()
    return (time.perf_counter() - began, time.process_time() - worked), result


def median(spent):
    return tuple(statistics.median(column) for column in zip(*spent))


def side_by_side(ours, theirs, times, theirs_times):
    """The median of each, taken in turn, and both results."""
    spent, others, mine, other = [], [], None, None
    for i in range(times):
        taken, mine = seconds(ours)
        spent.append(taken)
        if i < theirs_times:
            taken, other = seconds(theirs)
            others.append(taken)
    return median(spent), median(others), mine, other


def best_of(function, times):
    return min(seconds(function)[0] for _ in range(times))


def show(name, mine, other, goal):
    ratio = other[0] / mine[0]
    least = f"{goal:g}{'' if ratio >= goal else '  missed'}" if goal else ""
    print(
        f"| {name} | {mine[0]:.4g} s ({mine[1]:.3g}) | {other[0]:.4g} s ({other[1]:.3g}) "
        f"| {ratio:.3g} | {least} |",
        flush=True,
    )


def compare(name, ours, theirs, goal, equal, times=5, theirs_times=1):
    if OPTIONS.only not in name:
        return
    mine, other, a, b = side_by_side(ours, theirs, times, theirs_times)
    if not equal(a, b):
        FAILED.append(name)
        print(f"{name}: the results differ", file=sys.stderr)
    show(name, mine, other, goal)


def close(a, b):
    return np.allclose(a, b, rtol=1e-10, atol=1e-10, equal_nan=True)


def shortest_paths():
    import scipy.sparse
    import scipy.sparse.csgraph as scipy_csgraph

    dense, sparse = (300, 500) if OPTIONS.quick else (2000, 4000)
    whole = RNG.integers(1, 1001, (dense, dense)).astype(float)
    floats = RNG.random((dense, dense))
    pattern = scipy.sparse.random_array((sparse, sparse), density=5 / sparse, rng=RNG, format="csr")
    thin = pattern.copy()
    thin.data = RNG.integers(1, 1001, thin.nnz).astype(float)
    graphs = [
        (f"dense n={dense}, whole weights", whole, {}, 45),
        (f"dense n={dense}, random f64", floats, {}, 15),
        (f"sparse n={sparse} m=5n, whole weights", thin, {}, 20),
        (f"sparse n={sparse} m=5n, random f64", pattern, {}, 20),
        (f"unweighted n={sparse}", pattern, {"unweighted": True}, 40),
    ]
    for name, graph, options, goal in graphs:
        compare(
            f"shortest_path, {name}",
            lambda g=graph, o=options: csgraph.shortest_path(g, **o),
            lambda g=graph, o=options: scipy_csgraph.shortest_path(g, **o),
            goal,
            close,
        )
    tiny = RNG.integers(1, 9, (10, 10)).astype(float)
    for name, graph in (("dense", tiny), ("csr", scipy.sparse.csr_array(tiny))):
        full = f"shortest_path, tiny n=10, {name}, per call"
        if OPTIONS.only in full:
            mine = best_of(lambda g=graph: csgraph.shortest_path(g), 2000)
            other = best_of(lambda g=graph: scipy_csgraph.shortest_path(g), 2000)
            show(full, mine, other, 1)


def overhead():
    """The same work by the C calls alone: what Python adds to it."""
    name = "overhead of Python over the C calls, n=1000 (ratio of C to Python)"
    if OPTIONS.only not in name:
        return
    n = 200 if OPTIONS.quick else 1000
    graph = RNG.random((n, n))
    out = np.empty((n, n))
    arcs = arcs_of_matrix(graph, 0, False)
    ctx = _session.session().large

    def in_c():
        handle = arcs.create(ctx)
        _apsp.distances(ctx, handle, 0, None, -1.0, out, None)
        _apsp.lib.tw_graph_destroy(handle)

    csgraph.shortest_path(graph)
    mine, other, _, _ = side_by_side(lambda: csgraph.shortest_path(graph), in_c, 25, 25)
    show(name, mine, other, 0.95)


def networks():
    import networkx as nx

    n = 500 if OPTIONS.quick else 10000
    graph = nx.barabasi_albert_graph(n, 3, seed=1)
    from tilewright.networkx_backend import backend

    functions = {
        "average_shortest_path_length": lambda a, b: close(a, b),
        "closeness_centrality": lambda a, b: all(close(a[v], b[v]) for v in b),
        "diameter": lambda a, b: a == b,
    }
    for name, equal in functions.items():
        compare(
            f"NetworkX {name}, n={n}, conversion included",
            lambda f=name: getattr(backend, f)(backend.convert_from_nx(graph)),
            lambda f=name: getattr(nx, f).orig_func(graph),
            100,
            equal,
            times=3,
        )


def expressions():
    import numexpr

    side = 512 if OPTIONS.quick else 8192
    a, b, c = (RNG.random((side, side), dtype=np.float32) + 1 for _ in range(3))
    odd = (np.arange(side) % 2).astype(np.float32)[None, :]
    names = {"a": a, "b": b, "c": c, "odd": odd}
    threads = tilewright._abi.lib.tw_threads(_session.session().large)
    numexpr.set_num_threads(threads)
    out = np.empty((side, side), np.float32)
    other_out = np.empty((side, side), np.float32)
    cases = [
        ("a*b+c", "a*b+c", 2),
        (
            "a + sqrt(where(col % 2, log(a), cos(a)) + 1)",
            "a + sqrt(where(odd == 1, log(a), cos(a)) + 1)",
            4,
        ),
    ]
    for mine, theirs, goal in cases:
        compare(
            f"evaluate {mine}, {side}², {threads} threads",
            lambda e=mine: tilewright.evaluate(e, names, {}, out=out),
            lambda e=theirs: numexpr.evaluate(e, names, {}, out=other_out),
            goal,
            lambda x, y: np.allclose(x, y, rtol=1e-5),
            theirs_times=5,
        )


def entropies():
    import skimage.filters.rank

    from tilewright.filters import rank

    side = 256 if OPTIONS.quick else 2560
    depth, height = (8, 32) if OPTIONS.quick else (48, 192)
    image = RNG.integers(0, 256, (side, side)).astype(np.uint8)
    volume = RNG.integers(0, 256, (depth, height, height)).astype(np.uint8)
    cases = [(f"{side}², {k}×{k}", image, (k, k), 50) for k in (5, 9)]
    cases += [(f"{depth}×{height}², {k}×{k}×{k}", volume, (k, k, k), 0) for k in (3, 5, 9)]
    for name, array, window, goal in cases:
        compare(
            f"rank.entropy, {name}",
            lambda a=array, w=window: rank.entropy(a, np.ones(w, np.uint8)),
            lambda a=array, w=window: skimage.filters.rank.entropy(a, np.ones(w, np.uint8)),
            goal,
            close,
        )


def main():
    print(
        "| case | tilewright (processors) | beside it | ratio | at least |\n|---|---|---|---|---|"
    )
    for part in (shortest_paths, overhead, networks, expressions, entropies):
        try:
            part()
        except ImportError as missing:
            print(f"left out: {missing}", file=sys.stderr)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
