"""A reference that shares no formula with the library or SciPy: Bellman and Ford's rounds over a
list of edges, in Python's own numbers."""

import math


def distances(n, edges, undirected=False):
    """All pairs from (u, v, weight) triples. None if there is a negative cycle."""
    arcs = [(u, v, w) for u, v, w in edges if not math.isinf(w)]
    if undirected:
        arcs += [(v, u, w) for u, v, w in arcs]
    rows = []
    for source in range(n):
        row = [math.inf] * n
        row[source] = 0.0
        for _ in range(n + 1):
            changed = False
            for u, v, w in arcs:
                if row[u] + w < row[v]:
                    row[v] = row[u] + w
                    changed = True
            if not changed:
                break
        else:
            return None
        rows.append(row)
    return rows


def edges_of(matrix, null=(0,)):
    """The edges of a dense matrix, whose elements in `null` and infinity are none."""
    return [
        (i, j, float(w))
        for i, row in enumerate(matrix)
        for j, w in enumerate(row)
        if w not in null and not math.isinf(w) and not math.isnan(w)
    ]


def check_trees(n, edges, sources, found, before):
    """Every predecessor matrix entry lies on a path of the given length."""
    best = {}
    for u, v, w in edges:
        best[u, v] = min(w, best.get((u, v), math.inf))
    for i, source in enumerate(sources):
        for v in range(n):
            if v == source or math.isinf(found[i][v]):
                assert before[i][v] == -9999
                continue
            steps, length, at = 0, 0.0, v
            while at != source:
                length += best[int(before[i][at]), at]
                at = int(before[i][at])
                steps += 1
                assert steps <= n
            assert math.isclose(length, found[i][v], rel_tol=1e-9, abs_tol=1e-9)
