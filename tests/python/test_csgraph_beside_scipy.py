"""tilewright.csgraph and scipy.sparse.csgraph, side by side: signatures, sparse formats, and random
graphs by hypothesis."""

import inspect
import warnings

import numpy as np
import pytest
from test_csgraph import FUNCTIONS, random_matrix

from tilewright import csgraph

scipy_csgraph = pytest.importorskip("scipy.sparse.csgraph")
sparse = pytest.importorskip("scipy.sparse")
pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_scipys(name):
    ours = inspect.signature(getattr(csgraph, name)).parameters
    theirs = inspect.signature(getattr(scipy_csgraph, name)).parameters
    assert list(ours) == list(theirs)
    for parameter in ours:
        assert ours[parameter].default == theirs[parameter].default


def test_errors_are_scipys_too():
    assert issubclass(csgraph.NegativeCycleError, scipy_csgraph.NegativeCycleError)
    assert csgraph.connected_components is scipy_csgraph.connected_components


@pytest.mark.parametrize("form", ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"))
@pytest.mark.parametrize("kind", (np.int32, np.int64, np.float32, np.float64))
@pytest.mark.parametrize("directed", (True, False))
def test_every_sparse_format(rng, form, kind, directed):
    graph = sparse.csr_array(random_matrix(rng, 40, 0.1).astype(kind)).asformat(form)
    np.testing.assert_array_equal(
        csgraph.shortest_path(graph, directed=directed),
        scipy_csgraph.shortest_path(graph.tocsr(), method="FW", directed=directed),
    )


@pytest.mark.parametrize("kind", (np.int32, np.int64))
def test_indices_of_both_widths_and_stored_zeros(kind):
    rows = ([0, 1.5, 2], np.array([1, 2, 0], kind), np.array([0, 1, 2, 3], kind))
    graph = sparse.csr_array(rows, shape=(3, 3))
    graph.indices, graph.indptr = graph.indices.astype(kind), graph.indptr.astype(kind)
    np.testing.assert_array_equal(csgraph.dijkstra(graph), [[0, 0, 1.5], [3.5, 0, 1.5], [2, 2, 0]])


def test_nan_in_a_sparse_graph_is_no_edge():
    graph = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, 1], [0, 0, 0]]))
    graph.data[1] = np.nan
    np.testing.assert_array_equal(csgraph.dijkstra(graph)[0], [0, 1, np.inf])


def test_complex_weights_warn_as_in_scipy():
    graph = np.array([[0, 1 + 1j], [0, 0]])
    for module in (scipy_csgraph, csgraph):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                module.dijkstra(graph)
            except TypeError:
                continue
        assert any("omplex" in str(one.message) for one in seen)


def test_broken_compressed_rows_are_refused():
    graph = sparse.csr_array(np.eye(4)[::-1].copy())
    graph.indices[0] = 9
    with pytest.raises(ValueError, match="vertex 9"):
        csgraph.shortest_path(graph)
    graph = sparse.csr_array(np.eye(4))
    graph.indptr = graph.indptr[:3]
    with pytest.raises(ValueError):
        csgraph.dijkstra(graph)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 40))
    kind = draw(st.sampled_from(["whole", "float", "equal"]))
    seed = draw(st.integers(0, 2**32 - 1))
    density = draw(st.sampled_from([0.02, 0.1, 0.5, 1.0]))
    rng = np.random.default_rng(seed)
    weights = {
        "whole": rng.integers(1, 1000, (n, n)).astype(float),
        "float": rng.random((n, n)),
        "equal": np.ones((n, n)),
    }[kind]
    matrix = np.where(rng.random((n, n)) < density, weights, 0)
    return sparse.csr_array(matrix) if draw(st.booleans()) else matrix


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    graphs(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["auto", "FW", "D", "BF", "J"]),
)
def test_distances_are_scipys(graph, directed, unweighted, method):
    ours = csgraph.shortest_path(graph, method, directed, unweighted=unweighted)
    theirs = scipy_csgraph.shortest_path(graph, "FW", directed, unweighted=unweighted)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25))
def test_negative_weights_are_scipys(seed, n):
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((n, n)) < 0.2, rng.integers(-3, 30, (n, n)), 0).astype(float)
    try:
        theirs = scipy_csgraph.bellman_ford(matrix)
    except scipy_csgraph.NegativeCycleError:
        with pytest.raises(csgraph.NegativeCycleError):
            csgraph.bellman_ford(matrix)
        return
    np.testing.assert_array_equal(csgraph.bellman_ford(matrix), theirs)
