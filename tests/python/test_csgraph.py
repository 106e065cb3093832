"""tilewright.csgraph: SciPy's shortest paths, by its rules for every kind of graph and argument."""

import subprocess
import sys
import warnings

import numpy as np
import plain
import pytest

from tilewright import csgraph

FUNCTIONS = ("shortest_path", "floyd_warshall", "dijkstra", "bellman_ford", "johnson")
SIZES = (0, 1, 2, 5, 19, 20, 21, 33, 64, 65)


def random_matrix(rng, n, density=0.3, kind=float, low=1):
    matrix = np.where(rng.random((n, n)) < density, rng.integers(low, 30, (n, n)), 0)
    return matrix.astype(kind)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("directed", (True, False))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dense_distances_and_trees(rng, name, directed, n):
    matrix = random_matrix(rng, n) / 4
    edges = plain.edges_of(matrix)
    if not directed:
        edges += [(v, u, w) for u, v, w in edges]
    found, before = getattr(csgraph, name)(matrix, directed=directed, return_predecessors=True)
    assert found.dtype == np.float64 and before.dtype == np.int32
    assert found.shape == before.shape == (n, n)
    np.testing.assert_array_equal(found, np.reshape(plain.distances(n, edges), (n, n)))
    plain.check_trees(n, edges, range(n), found, before)


@pytest.mark.parametrize(
    "kind", ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8")
)
def test_every_type_of_weight(rng, kind):
    matrix = random_matrix(rng, 30, low=1).astype(kind)
    expected = plain.distances(30, plain.edges_of(matrix.astype(float).tolist()))
    np.testing.assert_array_equal(csgraph.shortest_path(matrix), expected)


@pytest.mark.parametrize("value", (254, 255, 256))
def test_the_marks_of_narrow_types_are_weights_here(value):
    for kind in (np.uint16, np.int32, np.int64, np.float64) + ((np.uint8,) if value < 256 else ()):
        matrix = np.array([[0, value], [0, 0]], dtype=kind)
        assert csgraph.shortest_path(matrix)[0, 1] == value
    for value in (65535, 2**30 - 1, 2**30, 2**31 - 1):
        for kind in (np.uint32, np.int64, np.float64):
            matrix = np.array([[0, value], [1, 0]], dtype=kind)
            assert csgraph.shortest_path(matrix)[0, 1] == value


def test_whole_numbers_beyond_53_bits_are_rounded_as_scipy_does():
    for least, sum_of_both in ((2**53 + 1, 2.0**54), (2**60, 2.0**61), (2**52 + 1, 2.0**53 + 2)):
        matrix = np.array([[0, least, 0], [0, 0, least], [0, 0, 0]])
        for graph in (matrix, matrix.astype(float)):
            found = csgraph.shortest_path(graph)
            assert found[0, 1] == float(least)
            assert found[0, 2] == sum_of_both


def test_layouts(rng):
    matrix = random_matrix(rng, 40)
    expected = plain.distances(40, plain.edges_of(matrix))
    wide = np.zeros((40, 57))
    wide[:, 5:45] = matrix
    every_other = np.zeros((80, 80))
    every_other[::2, ::2] = matrix
    upside_down = np.ascontiguousarray(matrix[::-1])[::-1]
    apart = np.zeros(40 * 40 * 8 + 1, dtype=np.uint8)
    odd = apart[1:].view(np.float64).reshape(40, 40)
    odd[:] = matrix
    for layout in (
        np.asfortranarray(matrix),
        wide[:, 5:45],
        every_other[::2, ::2],
        upside_down,
        matrix.tolist(),
        odd,
    ):
        np.testing.assert_array_equal(csgraph.shortest_path(layout), expected)


def test_null_elements():
    matrix = np.array([[0, np.inf, 3.0], [np.nan, 0, 1], [-np.inf, 0, 0]])
    expected = [[0, np.inf, 3], [np.inf, 0, 1], [np.inf, np.inf, 0]]
    for name in FUNCTIONS:
        np.testing.assert_array_equal(getattr(csgraph, name)(matrix), expected)


def test_masked_zeros_are_edges_but_to_floyd_and_warshall():
    matrix = np.ma.masked_equal([[5, 0, 7], [5, 5, 5], [5, 5, 5]], 5)
    np.testing.assert_array_equal(csgraph.dijkstra(matrix)[0], [0, 0, 7])
    np.testing.assert_array_equal(csgraph.floyd_warshall(matrix)[0], [0, np.inf, 7])


def test_overwrite_puts_the_distances_into_the_array():
    matrix = np.array([[0, 1.0, 0], [0, 0, 1], [1, 0, 0]])
    kept = matrix.copy()
    csgraph.floyd_warshall(matrix)
    np.testing.assert_array_equal(matrix, kept)
    found = csgraph.floyd_warshall(matrix, overwrite=True)
    assert found is matrix
    np.testing.assert_array_equal(matrix, [[0, 1, 2], [2, 0, 1], [1, 2, 0]])


def test_indices_keep_their_shape(rng):
    matrix = random_matrix(rng, 12)
    whole = csgraph.shortest_path(matrix)
    for indices in (3, [3], [[1, 2], [0, 11]], [-1, 5], np.array([4], dtype=np.uint8)):
        for name in ("shortest_path", "dijkstra", "bellman_ford", "johnson"):
            found = getattr(csgraph, name)(matrix, indices=indices)
            np.testing.assert_array_equal(found, whole[np.asarray(indices).astype(int)])


def test_limit_counts_the_distance_itself(rng):
    matrix = random_matrix(rng, 25)
    whole = csgraph.dijkstra(matrix)
    for limit in (0, 7, 7.5, np.inf):
        expected = np.where(whole <= limit, whole, np.inf)
        found, before = csgraph.dijkstra(matrix, limit=limit, return_predecessors=True)
        np.testing.assert_array_equal(found, expected)
        far = np.isinf(expected) | (np.eye(25) > 0)
        np.testing.assert_array_equal(before == -9999, far)


@pytest.mark.parametrize("n", (1, 2, 30, 300))
@pytest.mark.parametrize("directed", (True, False))
def test_min_only_is_the_least_of_the_rows(rng, n, directed):
    matrix = random_matrix(rng, n, density=min(1, 4 / n)) / 8
    indices = rng.choice(n, size=max(1, n // 10), replace=False)
    rows = csgraph.dijkstra(matrix, directed=directed, indices=indices)
    found, before, sources = csgraph.dijkstra(
        matrix, directed=directed, indices=indices, min_only=True, return_predecessors=True
    )
    np.testing.assert_array_equal(found, rows.min(axis=0))
    assert before.dtype == sources.dtype == np.int32
    np.testing.assert_array_equal(sources == -9999, np.isinf(found))
    np.testing.assert_array_equal(sources[indices], indices)
    for v in np.flatnonzero(sources >= 0):
        assert rows[list(indices).index(sources[v]), v] == found[v]
        if before[v] >= 0:
            assert sources[before[v]] == sources[v]


def test_negative_weights_and_cycles():
    graph = np.array([[0, 4.0, 0], [0, 0, -3], [0, 0, 0]])
    for name in ("shortest_path", "floyd_warshall", "bellman_ford", "johnson"):
        np.testing.assert_array_equal(
            getattr(csgraph, name)(graph), [[0, 4, 1], [np.inf, 0, -3], [np.inf, np.inf, 0]]
        )
        with pytest.raises(csgraph.NegativeCycleError) as raised:
            getattr(csgraph, name)(graph, directed=False)
        assert set(raised.value.cycle) == {1, 2} and "cycle" in str(raised.value)
    with pytest.warns(UserWarning, match="negative weights"):
        csgraph.dijkstra(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        csgraph.dijkstra(abs(graph))


def test_a_negative_cycle_elsewhere_is_an_error_to_johnson_alone():
    graph = np.array([[0, 1.0, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, -1, 0]])
    np.testing.assert_array_equal(
        csgraph.bellman_ford(graph, indices=[0]), [[0, 1, np.inf, np.inf]]
    )
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.johnson(graph, indices=[0])


def test_floyd_and_warshall_do_not_see_the_diagonal():
    graph = np.array([[-1.0, 2], [3, -7]])
    np.testing.assert_array_equal(csgraph.floyd_warshall(graph), [[0, 2], [3, 0]])
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.bellman_ford(graph)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "graph", (np.zeros(3), np.zeros((2, 3)), np.zeros((2, 2, 2)), np.zeros((0, 3)))
)
def test_what_is_not_square_is_a_value_error(name, graph):
    with pytest.raises(ValueError, match="compressed-sparse graph must be"):
        getattr(csgraph, name)(graph)


def test_bad_arguments():
    graph = np.ones((3, 3))
    with pytest.raises(ValueError, match="unrecognized method 'X'"):
        csgraph.shortest_path(graph, method="X")
    with pytest.raises(ValueError, match="indices"):
        csgraph.shortest_path(graph, method="FW", indices=[0])
    for indices in ([3], [-4]):
        with pytest.raises(ValueError, match="out of range"):
            csgraph.dijkstra(graph, indices=indices)
    with pytest.raises(ValueError, match="limit"):
        csgraph.dijkstra(graph, limit=-1)
    for kind in (object, "U1", "S1", "M8[s]", "m8[s]", [("weight", float)]):
        for name in FUNCTIONS:
            with pytest.raises(TypeError, match="use real numbers"):
                getattr(csgraph, name)(np.zeros((2, 2), dtype=kind))


def test_read_only_graphs_are_read():
    graph = np.ones((3, 3))
    graph.flags.writeable = False
    assert csgraph.shortest_path(graph).sum() == 6


def test_without_scipy_only_its_own_names_are_missing():
    text = """
import sys
sys.modules["scipy"] = None
import numpy as np
from tilewright import csgraph
assert not hasattr(csgraph, "minimum_spanning_tree")
print(csgraph.shortest_path(np.ones((3, 3))).sum())
"""
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("6.0\n", 0), ran.stderr


def test_a_matrix_without_room_is_answered_with_what_needs_none():
    sparse = pytest.importorskip("scipy.sparse")
    graph = sparse.csr_array(([1.0], ([0], [1])), shape=(3_000_000, 3_000_000))
    for function in (csgraph.dijkstra, csgraph.johnson, csgraph.shortest_path):
        with pytest.raises(MemoryError, match="takes 72.0 TB, and .* is available; use fewer indices, or tilewright's summary"):
            function(graph)
    assert csgraph.dijkstra(graph, indices=0)[1] == 1
