#!/usr/bin/env python3
"""One Python library solving one graph: python_peer.py LIBRARY TRIPLES RAW [--unweighted].

LIBRARY is scipy-floyd, scipy-dijkstra, igraph or networkx. The graph is read and put into the
library's own form first; only the call that computes all distances is timed. The distances are
written as raw int32 (2^30-1 for no path) for comparison, and one JSON line says the seconds of the
call and the version of the library. Exit 3: the library is not installed.
"""
import json
import sys
import time

NO_PATH = 2**30 - 1


def read_triples(path, numpy):
    data = numpy.fromfile(path, dtype="<i4")
    edges = data[2:].reshape(-1, 3)
    return int(data[0]), edges[:, 0], edges[:, 1], edges[:, 2]


def least_of_parallel_edges(numpy, n, source, target, weight):
    """SciPy would add parallel edges up; shortest paths need the minimum."""
    order = numpy.lexsort((weight, target, source))
    source, target, weight = source[order], target[order], weight[order]
    first = numpy.ones(len(source), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return source[first], target[first], weight[first]


def with_scipy(method, numpy, n, source, target, weight, unweighted):
    import scipy
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import shortest_path

    source, target, weight = least_of_parallel_edges(numpy, n, source, target, weight)
    graph = csr_matrix((weight.astype(float), (source, target)), shape=(n, n))
    begun = time.perf_counter()
    distances = shortest_path(graph, method=method, unweighted=unweighted)
    return time.perf_counter() - begun, scipy.__version__, distances


def with_igraph(numpy, n, source, target, weight, unweighted):
    import igraph

    graph = igraph.Graph(n=n, edges=list(zip(source.tolist(), target.tolist())), directed=True)
    weights = None if unweighted else weight.tolist()
    begun = time.perf_counter()
    distances = graph.distances(weights=weights, mode="out")
    return time.perf_counter() - begun, igraph.__version__, numpy.array(distances)


def with_networkx(numpy, n, source, target, weight, unweighted):
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    source, target, weight = least_of_parallel_edges(numpy, n, source, target, weight)
    graph.add_weighted_edges_from(zip(source.tolist(), target.tolist(), weight.tolist()))
    begun = time.perf_counter()
    if unweighted:
        rows = dict(networkx.all_pairs_shortest_path_length(graph))
    else:
        rows = dict(networkx.all_pairs_dijkstra_path_length(graph))
    seconds = time.perf_counter() - begun
    distances = numpy.full((n, n), numpy.inf)
    for i, row in rows.items():
        distances[i, list(row.keys())] = list(row.values())
    return seconds, networkx.__version__, distances


def main():
    library, triples, raw = sys.argv[1:4]
    unweighted = "--unweighted" in sys.argv[4:]
    try:
        import numpy

        graph = read_triples(triples, numpy)
        if library == "scipy-floyd":
            answer = with_scipy("FW", numpy, *graph, unweighted)
        elif library == "scipy-dijkstra":
            answer = with_scipy("D", numpy, *graph, unweighted)
        elif library == "igraph":
            answer = with_igraph(numpy, *graph, unweighted)
        elif library == "networkx":
            answer = with_networkx(numpy, *graph, unweighted)
        else:
            sys.exit(f"python_peer.py: no library '{library}'")
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    seconds, version, distances = answer
    distances = numpy.where(numpy.isinf(distances), NO_PATH, distances).astype("<i4")
    distances.tofile(raw)
    print(json.dumps({"seconds": seconds, "version": version}))


if __name__ == "__main__":
    main()
