"""The NetworkX backend, beside NetworkX itself, on graphs of every kind."""

import numpy as np
import pytest

nx = pytest.importorskip("networkx")
from tilewright import networkx_backend as ours  # noqa: E402

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
backend = ours.backend


def convert(graph):
    return backend.convert_from_nx(graph)


def random_graph(kind, n, seed, whole=True, connected=True):
    rng = np.random.default_rng(seed)
    graph = kind()
    names = [f"n{i}" for i in range(n)]
    graph.add_nodes_from(names)
    pairs = [tuple(rng.integers(0, n, 2)) for _ in range(3 * n)]
    if connected:
        pairs += [(i, (i + 1) % n) for i in range(n)]
    for u, v in pairs:
        weight = int(rng.integers(1, 20)) if whole else float(rng.random() + 0.1)
        graph.add_edge(names[u], names[v], weight=weight)
    graph.add_edge(names[0], names[0], weight=3)  # a loop
    return graph


def same(a, b):
    if isinstance(b, dict):
        return list(map(str, sorted(a))) == list(map(str, sorted(b))) and all(
            same(a[k], b[k]) for k in b
        )
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(b, float):
        return a == b or a == pytest.approx(b, rel=1e-12)
    return a == b and type(a) is type(b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", (True, False))
@pytest.mark.parametrize(
    "name",
    [
        "all_pairs_bellman_ford_path_length",
        "all_pairs_dijkstra_path_length",
        "floyd_warshall",
        "diameter",
        "radius",
        "eccentricity",
        "average_shortest_path_length",
        "wiener_index",
    ],
)
def test_weighted_functions(name, kind, whole):
    graph = random_graph(kind, 25, 1, whole)
    mine = getattr(backend, name)(convert(graph), weight="weight")
    theirs = getattr(nx, name).orig_func(graph, weight="weight")
    if name.startswith("all_pairs"):
        mine, theirs = dict(mine), dict(theirs)
    assert same(mine, theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    [
        "all_pairs_shortest_path_length",
        "diameter",
        "radius",
        "eccentricity",
        "center",
        "periphery",
        "barycenter",
        "average_shortest_path_length",
        "wiener_index",
        "closeness_centrality",
        "harmonic_centrality",
        "global_efficiency",
        "local_efficiency",
    ],
)
def test_unweighted_functions(name, kind):
    graph = random_graph(kind, 25, 2)
    if "efficiency" in name and graph.is_directed():
        return
    mine = getattr(backend, name)(convert(graph))
    theirs = getattr(nx, name).orig_func(graph)
    if name.startswith("all_pairs"):
        mine, theirs = dict(mine), dict(theirs)
    assert same(mine, theirs)


def length_of(graph, path):
    total = 0
    for u, v in zip(path, path[1:]):
        edge = graph[u][v]
        edges = edge.values() if graph.is_multigraph() else [edge]
        total += min(e["weight"] for e in edges)
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["all_pairs_dijkstra_path", "all_pairs_bellman_ford_path", "johnson"]
)
def test_paths_are_shortest(name, kind):
    graph = random_graph(kind, 25, 3, connected=False)
    theirs = dict(nx.all_pairs_dijkstra_path_length.orig_func(graph))
    mine = dict(getattr(backend, name)(convert(graph)))
    assert {u: set(paths) for u, paths in mine.items()} == {u: set(d) for u, d in theirs.items()}
    for u, paths in mine.items():
        for v, path in paths.items():
            assert path[0] == u and path[-1] == v
            assert length_of(graph, path) == theirs[u][v]


def test_trees_of_zero_weights_have_no_cycles():
    graph = nx.complete_graph(6)
    nx.set_edge_attributes(graph, 0, "weight")
    for u, paths in backend.all_pairs_dijkstra_path(convert(graph)):
        assert all(len(path) <= 6 and path[0] == u for path in paths.values())


def test_predecessors_and_arrays():
    graph = random_graph(nx.DiGraph, 20, 4)
    before, distance = backend.floyd_warshall_predecessor_and_distance(convert(graph))
    assert same(distance, nx.floyd_warshall.orig_func(graph))
    for u in graph:
        for v, w in before[u].items():
            assert distance[u][w] + graph[w][v]["weight"] == distance[u][v]
    order = list(graph)[::-1]
    np.testing.assert_array_equal(
        backend.floyd_warshall_numpy(convert(graph), nodelist=order),
        nx.floyd_warshall_numpy.orig_func(graph, nodelist=order),
    )


def test_graphs_that_are_not_connected():
    graph = nx.Graph([(0, 1), (2, 3)])
    for name in ("diameter", "radius", "center", "eccentricity", "average_shortest_path_length"):
        with pytest.raises(nx.NetworkXError, match="connected"):
            getattr(backend, name)(convert(graph))
    with pytest.raises(nx.NetworkXNoPath):
        backend.barycenter(convert(graph))
    assert backend.wiener_index(convert(graph)) == float("inf")
    assert same(
        backend.closeness_centrality(convert(graph)), nx.closeness_centrality.orig_func(graph)
    )


@pytest.mark.parametrize("improved", (True, False))
def test_closeness_and_harmonic_options(improved):
    graph = random_graph(nx.DiGraph, 30, 5, connected=False)
    for options in ({}, {"distance": "weight"}):
        mine = backend.closeness_centrality(convert(graph), wf_improved=improved, **options)
        assert same(mine, nx.closeness_centrality.orig_func(graph, wf_improved=improved, **options))
    for options in ({"nbunch": ["n1", "n2"]}, {"sources": ["n3"]}, {"distance": "weight"}):
        mine = backend.harmonic_centrality(convert(graph), **options)
        theirs = nx.harmonic_centrality.orig_func(graph, **options)
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_what_is_not_for_us_is_said():
    graph = convert(random_graph(nx.Graph, 5, 6))
    assert backend.can_run("johnson", (graph,), {"weight": lambda *_: 1}) == "weight is a function"
    assert backend.can_run("diameter", (graph,), {"e": {}}) == "e is given"
    assert backend.can_run("pagerank", (graph,), {}) == "not implemented"
    assert backend.can_run("diameter", (graph,), {}) is True
    assert "nodes" in backend.should_run("diameter", (graph,), {})
    assert backend.should_run("diameter", (range(1000),), {}) is True
    for bad in ("heavy", None, float("nan"), -1):
        odd = nx.Graph()
        odd.add_edge(0, 1, weight=bad)
        with pytest.raises(NotImplementedError):
            backend.all_pairs_dijkstra_path_length(convert(odd))


def test_installed_entry_points_name_what_is_there():
    from _tilewright_networkx import FUNCTIONS, get_info

    info = get_info()
    assert info["backend_name"] == "tilewright" and set(info["functions"]) == set(FUNCTIONS)
    for name in FUNCTIONS:
        assert callable(getattr(backend, name)) and hasattr(nx, name)


def test_results_in_chunks_are_the_same(monkeypatch):
    graph = convert(random_graph(nx.Graph, 25, 7))
    whole = dict(backend.all_pairs_dijkstra_path_length(graph))
    monkeypatch.setattr(ours, "_CHUNK", 25 * 8 * 4)
    assert dict(backend.all_pairs_dijkstra_path_length(graph)) == whole


def test_a_matrix_without_room_is_answered_with_what_needs_none():
    graph = convert(nx.path_graph(400_000))
    for function in (ours.floyd_warshall_numpy, ours.floyd_warshall_predecessor_and_distance):
        with pytest.raises(MemoryError, match="takes 1.3 TB, and .* is available; use tilewright's summary"):
            function(graph)
