"""The plain front: apsp, apsp_rows, summary, path, plan and Graph."""

import pickle
from types import SimpleNamespace

import numpy as np
import plain
import pytest
from conftest import small_runs

import tilewright as tw
from tilewright import csgraph

SIZES = (0, 1, 2, 21, 64, 100)


def random_matrix(rng, n, density=0.2):
    return np.where(rng.random((n, n)) < density, rng.integers(1, 30, (n, n)), 0)


def expected_of(matrix, undirected=False):
    n = len(matrix)
    edges = plain.edges_of(matrix.tolist())
    return np.reshape(plain.distances(n, edges, undirected), (n, n))


@pytest.mark.parametrize("n", SIZES)
def test_distances_trees_and_rows(rng, n):
    matrix = random_matrix(rng, n)
    expected = expected_of(matrix)
    found, before = tw.apsp(matrix, predecessors=True)
    np.testing.assert_array_equal(found, expected)
    plain.check_trees(n, plain.edges_of(matrix.tolist()), range(n), found, before)
    blocks = list(tw.apsp_rows(matrix))
    assert sum(len(block) for _, block in blocks) == n
    for first, block in blocks:
        np.testing.assert_array_equal(block, expected[first : first + len(block)])


@pytest.mark.parametrize("dtype", ("u1", "u2", "i4", "f4", "f8"))
def test_every_type_of_result(rng, dtype):
    matrix = random_matrix(rng, 30)
    expected = expected_of(matrix)
    found = tw.apsp(matrix, dtype=dtype)
    assert found.dtype == np.dtype(dtype)
    mark = tw.no_path(dtype)
    np.testing.assert_array_equal(found, np.where(np.isinf(expected), mark, expected))


def test_parts_and_cutoff(rng):
    matrix = random_matrix(rng, 40)
    whole = expected_of(matrix)
    sources, targets = [5, 0, 5], np.array([39, 2], dtype=np.int64)
    part = tw.apsp(matrix, sources=sources, targets=targets)
    np.testing.assert_array_equal(part, whole[np.ix_(sources, targets)])
    near = tw.apsp(matrix, cutoff=9)
    np.testing.assert_array_equal(near, np.where(whole <= 9, whole, np.inf))
    np.testing.assert_array_equal(
        tw.apsp(matrix, directed=False), expected_of(matrix, undirected=True)
    )
    np.testing.assert_array_equal(
        tw.apsp(matrix, unweighted=True), expected_of((matrix > 0).astype(int))
    )


def test_zeros_are_edges_if_nothing_else_is_said():
    matrix = np.array([[9, 0], [9, 9]])
    assert tw.apsp(matrix, no_edge=9)[0, 1] == 0
    assert tw.apsp(matrix)[0, 1] == np.inf
    matrix = np.array([[0, 0.0], [np.inf, 0]])
    np.testing.assert_array_equal(tw.apsp(matrix, no_edge=None), [[0, 0], [np.inf, 0]])


@pytest.mark.parametrize("method", ("closure", "dijkstra", "reference", "sweep"))
def test_methods_and_devices(rng, method):
    matrix = random_matrix(rng, 50)
    found = tw.apsp(matrix, method=method, device="cpu", threads=1)
    np.testing.assert_array_equal(found, expected_of(matrix))


def csr_ring(n):
    """A ring as scipy.sparse has it, as far as the package asks."""
    rows = SimpleNamespace(
        indptr=np.arange(n + 1), indices=(np.arange(n) + 1) % n, data=np.ones(n), shape=(n, n)
    )
    rows.tocsr = lambda: rows
    rows.format = "csr"
    return rows


def test_an_order_is_made_once_and_serves_other_weights(rng, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    matrix = random_matrix(rng, 60)
    order = tw.Order(matrix)
    assert repr(order) == "<tilewright.Order: 60 vertices>" and len(order) == 60
    for weights in (matrix, 3 * matrix, matrix.T.copy()):
        expected = expected_of(weights)
        found = tw.apsp(weights, method="sweep", order=order, device="cpu")
        np.testing.assert_array_equal(found, expected)
        for first, rows in tw.apsp_rows(weights, method="sweep", order=order, device="cpu"):
            np.testing.assert_array_equal(rows, expected[first : first + len(rows)])
    plan = tw.plan(matrix, method="sweep", order=order, device="cpu")
    assert plan.order == "given"
    assert not list(tmp_path.rglob("*"))  # nothing is kept unless asked for
    ring = csr_ring(2000)  # small graphs are not worth a file
    for where in ("computed", "cached"):
        assert tw.plan(ring, method="sweep", order="cache", device="cpu").order == where
    assert tw.summary(matrix, method="sweep", order=order).vertices == 60
    assert tw.nearest(matrix, 3, method="sweep", order=order).vertices.shape == (60, 3)


def test_an_order_of_another_graph_is_refused(rng):
    order = tw.Order(np.ones((4, 4)))
    with pytest.raises(ValueError, match="order"):
        tw.apsp(random_matrix(rng, 30), method="sweep", order=order)
    with pytest.raises(TypeError, match="order must be an Order"):
        tw.apsp(np.ones((4, 4)), order="keep")
    with pytest.raises(TypeError, match="cache"):
        pickle.dumps(order)


def test_into_the_callers_array(rng, tmp_path):
    matrix = random_matrix(rng, 33)
    expected = expected_of(matrix)
    out = np.full((33, 33), -7.0)
    assert tw.apsp(matrix, out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.full((33, 40), -7.0)
    tw.apsp(matrix, out=wide[:, 3:36])
    np.testing.assert_array_equal(wide[:, 3:36], expected)
    assert (wide[:, :3] == -7).all() and (wide[:, 36:] == -7).all()
    file = np.memmap(tmp_path / "d", dtype=np.int32, mode="w+", shape=(33, 33))
    tw.apsp(matrix, out=file)
    file.flush()
    read = np.fromfile(tmp_path / "d", dtype=np.int32).reshape(33, 33)
    np.testing.assert_array_equal(read, np.where(np.isinf(expected), 2**30 - 1, expected))


def frozen():
    array = np.zeros((3, 3))
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "out, error, says",
    [
        (np.zeros((3, 4)), ValueError, "shape"),
        (np.zeros(9), ValueError, "shape"),
        (np.zeros((3, 3), "f2"), ValueError, "float16.*; use uint8"),
        (np.zeros((3, 3), "i8"), ValueError, "int64.*; use uint8"),
        (np.zeros((3, 3), ">f8"), ValueError, ">f8.*; use uint8"),
        (frozen(), ValueError, "read-only"),
        (np.zeros((3, 3), order="F"), ValueError, "contiguous"),
        (np.zeros((3, 6))[:, ::2], ValueError, "contiguous"),
        (np.zeros((3, 3))[::-1], ValueError, "contiguous"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_and_left_alone(out, error, says):
    before = out.copy()
    with pytest.raises(error, match=says):
        tw.apsp(np.ones((3, 3)), out=out)
    np.testing.assert_array_equal(out, before)


@pytest.mark.parametrize(
    "graph, error",
    [
        (np.zeros((2, 3)), ValueError),
        (np.zeros(4), ValueError),
        (np.array([[0, np.nan], [1, 0]]), ValueError),
        (np.array([[0, 1j], [1, 0]]), TypeError),
        (np.array([[0, "x"], ["y", 0]]), TypeError),
        (np.array([[0, object()], [1, 0]]), TypeError),
        (np.array([[0, -1], [-1, 0]]), tw.NegativeCycleError),
    ],
)
def test_bad_graphs(graph, error):
    out = np.full(graph.shape, -7.0)
    with pytest.raises(error) as raised:
        tw.apsp(graph, out=out)
    assert str(raised.value)
    assert (out == -7).all()


def test_what_a_type_cannot_hold_is_refused_with_the_pair():
    out = np.full((2, 2), 77, dtype=np.uint8)
    with pytest.raises(tw.RangeError, match="0.*1"):
        tw.apsp(np.array([[0, 300], [300, 0]]), out=out)
    assert (out == 77).all()
    with pytest.raises(ValueError, match="not supported"):
        tw.apsp(np.ones((2, 2)), dtype=np.int64)


def test_bad_options():
    graph = np.ones((3, 3))
    for options in (
        {"sources": [3]},
        {"targets": [-1]},
        {"method": "magic"},
        {"cutoff": -1},
        {"device": "toaster"},
        {"threads": -1},
        {"memory": "much"},
        {"targets": [0], "predecessors": True},
    ):
        with pytest.raises((ValueError, NotImplementedError)):
            tw.apsp(graph, **options)
    with pytest.raises(TypeError):
        tw.apsp(graph, sources=[0.5])
    with pytest.raises(ValueError, match="the graph has no vertices"):
        tw.apsp(np.zeros((0, 0)), sources=[0])
    np.testing.assert_array_equal(tw.apsp(graph), 1 - np.eye(3))  # nothing of them stays
    with pytest.raises(ValueError):
        tw.apsp(graph, memory=1000, threads=-1)
    large = np.ones((300, 300))
    np.testing.assert_array_equal(csgraph.shortest_path(large), 1 - np.eye(300))


def test_options_of_a_graph_that_is_made_are_refused():
    graph = tw.Graph(np.ones((3, 3)))
    for options in ({"directed": False}, {"sourcs": [0]}):
        with pytest.raises(TypeError, match="when the Graph was made"):
            tw.apsp(graph, **options)
    with pytest.raises(TypeError):
        tw.apsp(np.ones((3, 3)), sourcs=[0])


def test_memory_that_does_not_suffice_is_refused_before_anything_is_done(rng):
    graph = tw.Graph(random_matrix(rng, 300, 0.9))
    with pytest.raises(MemoryError) as raised:
        tw.apsp(graph, memory="10K", method="closure")
    assert isinstance(raised.value, tw.OutOfMemoryError) and str(raised.value)


@pytest.mark.parametrize("farthest", (False, True))
@pytest.mark.parametrize("k", (1, 3, 70))
def test_nearest_is_the_sorted_matrix(rng, k, farthest):
    matrix = random_matrix(rng, 60, 0.05)
    whole = expected_of(matrix)
    np.fill_diagonal(whole, np.inf)
    found = tw.nearest(matrix, k, farthest=farthest)
    assert found.vertices.shape == found.distances.shape == (60, min(k, 60))
    for row in range(60):
        reached = np.flatnonzero(np.isfinite(whole[row]))
        keys = whole[row, reached] * (-1 if farthest else 1)
        best = reached[np.lexsort((reached, keys))][:k]
        missing = min(k, 60) - len(best)
        np.testing.assert_array_equal(found.vertices[row], [*best, *[-9999] * missing])
        np.testing.assert_array_equal(
            found.distances[row], [*whole[row, best], *[np.inf] * missing]
        )


def test_a_matrix_without_room_is_answered_with_what_needs_none(tmp_path):
    path = tmp_path / "g.el"
    path.write_text("# vertices: 20000000\n0 1 5\n")
    with pytest.raises(MemoryError, match="use summary.*fewer sources") as raised:
        tw.apsp(path)
    assert isinstance(raised.value, tw.OutOfMemoryError)


def test_a_matrix_that_would_fill_the_machine_is_refused_before_anything_is_done(rng, monkeypatch):
    from tilewright import _apsp

    graph = tw.Graph(random_matrix(rng, 200, 0.5))
    monkeypatch.setattr(_apsp, "LARGE", 1000)
    monkeypatch.setattr(_apsp, "available", lambda: 400_000)
    assert tw.apsp(graph).shape == (200, 200)
    with pytest.raises(tw.OutOfMemoryError, match="takes 0.00016 GB, and 8e-05 GB is available; use summary"):
        tw.apsp(graph, predecessors=True)
    assert tw.apsp(graph, predecessors=True, out=np.empty((200, 200)))[1].shape == (200, 200)
    monkeypatch.setattr(_apsp, "available", lambda: 300_000)
    with pytest.raises(tw.OutOfMemoryError, match="200 x 200 float64 takes 0.00032 GB, and 0.0003 GB is available; use summary"):
        tw.apsp(graph)
    assert tw.apsp(graph, dtype=np.int32).shape == (200, 200)


def test_nearest_of_selections_and_wrong_questions(rng):
    matrix = random_matrix(rng, 30, 0.3)
    whole = expected_of(matrix)
    found = tw.nearest(matrix, 1, sources=[4, 7], targets=[4, 9, 11])
    columns = {4: [9, 11], 7: [4, 9, 11]}
    for row, source in enumerate((4, 7)):
        best = min(columns[source], key=lambda target: (whole[source, target], target))
        assert found.vertices[row, 0] == best and found.distances[row, 0] == whole[source, best]
    for k in (0, -1, 2**31):
        with pytest.raises(ValueError, match=f"from 1 to 2147483647, not {k}"):
            tw.nearest(matrix, k)
    with pytest.raises(TypeError):
        tw.nearest(matrix, 1.5)
    assert tw.nearest(np.zeros((0, 0)), 2).vertices.shape == (0, 1)
    assert tw.nearest(matrix, 2**31 - 1, targets=[4, 9]).vertices.shape == (30, 2)


def test_summary_is_that_of_the_matrix(rng):
    matrix = random_matrix(rng, 60, 0.05)
    whole = expected_of(matrix)
    np.fill_diagonal(whole, np.nan)
    finite = whole[np.isfinite(whole)]
    found = tw.summary(matrix, bins=1000)
    assert found.reachable == len(finite) and found.unreachable == 60 * 59 - len(finite)
    assert found.diameter == finite.max() and found.minimum == finite.min()
    assert found.mean == pytest.approx(finite.mean(), rel=1e-15)
    assert whole[found.diameter_pair] == found.diameter
    far = np.where(np.isfinite(whole), whole, 0).max(axis=1)
    np.testing.assert_array_equal(found.eccentricity, far)
    reached = np.isfinite(whole).sum(axis=1)
    total = np.where(np.isfinite(whole), whole, 0).sum(axis=1)
    close = np.divide(reached**2, total * 59, out=np.zeros(60), where=total > 0)
    np.testing.assert_allclose(found.closeness, close, rtol=1e-14)
    np.testing.assert_array_equal(found.reached, reached)
    np.testing.assert_allclose(found.sum, total, rtol=1e-14)
    assert found.harmonic is None
    inverses = np.where(np.isfinite(whole) & (whole != 0), 1 / np.where(whole == 0, 1, whole), 0)
    harmonic = tw.summary(matrix, harmonic=True).harmonic
    np.testing.assert_allclose(harmonic, inverses.sum(axis=1), rtol=1e-14)
    counts, edges = found.histogram
    assert counts.sum() == found.reachable and len(edges) == len(counts) + 1
    for value, count in zip(*np.unique(finite, return_counts=True)):
        assert counts[np.searchsorted(edges, value, side="right") - 1] >= count
    assert "60 vertices" in repr(found)
    inverse = np.divide(reached, total, out=np.full(60, np.nan), where=total > 0)
    np.testing.assert_allclose(tw.summary(matrix, closeness="igraph").closeness, inverse)


def test_paths():
    matrix = np.array([[0, 1, 9, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    graph = tw.Graph(matrix)
    assert tw.path(graph, 0, 2) == ([0, 1, 2], 3.0)
    assert tw.path(graph, 0, 2, distances=tw.apsp(graph)) == ([0, 1, 2], 3.0)
    assert tw.path(graph, 2, 0) == ([], np.inf)
    assert tw.path(graph, 1, 1) == ([1], 0.0)
    with pytest.raises(tw.VerifyError):
        tw.path(graph, 0, 2, distances=tw.apsp(graph) + 1)
    with pytest.raises(ValueError):
        tw.path(graph, 0, 4)


def test_plans_explain_themselves(rng):
    graph = tw.Graph(random_matrix(rng, 100))
    plan = tw.plan(graph)
    assert plan.method in ("closure", "dijkstra", "bfs", "sweep")
    assert plan.method in plan.explain() and plan.seconds > 0 and plan.memory > 0
    assert plan.method in repr(plan) and plan.dtype == np.float64


def test_graphs_of_files(tmp_path):
    (tmp_path / "towns.csv").write_text("0,1,4\n1,2,3\n")
    graph = tw.Graph(tmp_path / "towns.csv", directed=False)
    np.testing.assert_array_equal(tw.apsp(graph)[0], [0, 4, 7])
    with pytest.raises(OSError):
        tw.Graph(str(tmp_path / "none.gr"))
    (tmp_path / "bad.gr").write_text("p sp 2\n")
    with pytest.raises(ValueError, match="bad.gr"):
        tw.Graph(tmp_path / "bad.gr")


def test_graphs_are_pickled_with_their_weights():
    graph = tw.Graph(np.array([[0, 1.5], [0, 0]]))
    again = pickle.loads(pickle.dumps(graph))
    assert repr(again) == repr(graph) and len(again) == 2
    np.testing.assert_array_equal(tw.apsp(again), tw.apsp(graph))
    error = pickle.loads(pickle.dumps(tw.NegativeCycleError("a sentence", (1, 2))))
    assert str(error) == "a sentence" and error.cycle == (1, 2)


def test_rows_that_nobody_fetches_are_not_computed(rng):
    n = 300 if small_runs() else 1500
    graph = tw.Graph(random_matrix(rng, n, 5 / n))
    blocks = tw.apsp_rows(graph)
    first, block = next(blocks)
    assert first == 0 and block.shape[1] == n
    blocks.close()
    with pytest.raises(tw.RangeError):
        list(tw.apsp_rows(np.array([[0, 300], [0, 0]]), dtype=np.uint8))


def test_sparse_graphs(rng):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = random_matrix(rng, 50, 0.1)
    expected = expected_of(matrix)
    for form in ("csr", "csc", "coo"):
        np.testing.assert_array_equal(tw.apsp(sparse.csr_array(matrix).asformat(form)), expected)


def test_networkx_graphs_have_their_names():
    networkx = pytest.importorskip("networkx")
    towns = networkx.Graph()
    towns.add_edge("Ulm", "Bern", weight=3)
    towns.add_edge("Bern", "Como", weight=2)
    graph = tw.Graph(towns)
    assert graph.nodes == ["Ulm", "Bern", "Como"]
    assert tw.path(graph, "Ulm", "Como") == (["Ulm", "Bern", "Como"], 5.0)
    np.testing.assert_array_equal(tw.apsp(towns, sources=["Como"]), [[5, 2, 0]])
    with pytest.raises(ValueError, match="Paris"):
        tw.apsp(towns, sources=["Paris"])


def test_a_checkpoint_is_where_the_next_call_goes_on(tmp_path):
    random = np.random.default_rng(5)
    graph = random.integers(1, 1000, (700, 700))
    kept = tmp_path / "state"

    def stop(stage, done, total, unit):
        if stage == "closing" and done > total / 2:
            raise KeyError("enough")

    options = {"checkpoint": kept, "every": 0, "method": "closure", "threads": 1}
    with pytest.raises(KeyError):
        tw.apsp(graph, progress=stop, **options)
    assert kept.exists()
    began = []
    got = tw.apsp(graph, progress=lambda _, done, total, unit: began.append(done / total), **options)
    assert np.array_equal(got, tw.apsp(graph))
    assert min(began) > 0 or len(began) == 1
    assert not kept.exists()
    with pytest.raises(tw.ArgumentError, match="does not support checkpoints"):
        tw.apsp(graph, checkpoint=kept, method="dijkstra")
    with pytest.raises(ValueError, match="every"):
        tw.apsp(graph, checkpoint=kept, every=-1)
