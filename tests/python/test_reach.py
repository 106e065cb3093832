"""Reachability against a plain search from each vertex."""

import numpy as np
import pytest

import tilewright


def searched(matrix):
    n = len(matrix)
    out = np.zeros((n, n), bool)
    for s in range(n):
        out[s, s] = True
        queue = [s]
        for u in queue:
            for v in np.flatnonzero(matrix[u]):
                if not out[s, v]:
                    out[s, v] = True
                    queue.append(v)
    return out


@pytest.mark.parametrize("n, degree", [(1, 0), (9, 1.2), (70, 1.1), (130, 3)])
def test_rows_and_counts_are_those_of_searches(n, degree):
    matrix = np.random.default_rng(7).random((n, n)) < degree / n
    want = searched(matrix)
    got = tilewright.reach(matrix.astype(int))
    assert got.dtype == np.bool_
    assert (got == want).all()
    assert (tilewright.reach_counts(matrix.astype(int)) == want.sum(axis=1)).all()


def test_sources_are_rows_in_their_order():
    matrix = np.eye(6, k=1, dtype=int)
    assert tilewright.reach(matrix, sources=[5, 0, 5]).sum(axis=1).tolist() == [1, 6, 1]
    assert tilewright.reach_counts(matrix, sources=[4]).tolist() == [2]
    with pytest.raises((IndexError, ValueError)):
        tilewright.reach(matrix, sources=[6])


def test_a_matrix_without_room_is_answered_with_what_needs_none(tmp_path):
    path = tmp_path / "g.el"
    path.write_text("# vertices: 20000000\n0 1\n")
    with pytest.raises(tilewright.OutOfMemoryError, match="takes 400.0 TB, and .* is available; use reach_counts"):
        tilewright.reach(path)
    assert tilewright.reach_counts(path, sources=[0, 1]).tolist() == [2, 1]
