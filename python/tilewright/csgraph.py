"""``scipy.sparse.csgraph``'s shortest paths, by tilewright: the same names, arguments, defaults,
return types and errors.

>>> import numpy as np
>>> from tilewright.csgraph import shortest_path
>>> shortest_path(np.array([[0, 1, 2], [0, 0, 0], [0, 4, 0]]))
array([[ 0.,  1.,  2.],
       [inf,  0., inf],
       [inf,  4.,  0.]])

Distances are float64, predecessors int32 with -9999 where there is none. Which method computes them
is the library's choice, whatever the name of the function; the name decides what SciPy lets it
decide: how zeros of a masked array and negative loops count, and which arguments there are.

What differs, and why:

* ``directed=False`` is the minimum of both directions in every function; SciPy warns that its
  Dijkstra and Johnson may not be.
* ``dijkstra`` of negative weights warns as SciPy does, and then gives true distances or raises
  ``NegativeCycleError``.
* Of several shortest paths a predecessor matrix shows one: another one than SciPy's, at times.
* Infinite weights in a sparse array are no edges.

Every other name of ``scipy.sparse.csgraph`` is SciPy's own.
"""

from __future__ import annotations

import warnings
from ctypes import byref, c_void_p
from typing import Any, Optional

import numpy as np

from . import _abi, _apsp, _errors
from ._abi import lib
from ._graph import Arcs, arcs_of_matrix, arcs_of_rows, is_sparse
from ._session import session

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "shortest_path",
]

try:
    from scipy.sparse.csgraph import NegativeCycleError as _ScipyNegativeCycleError
except ImportError:
    _ScipyNegativeCycleError = Exception


class NegativeCycleError(_errors.NegativeCycleError, _ScipyNegativeCycleError):
    """SciPy's, and tilewright's, which knows the ``cycle``."""

    def __init__(self, message: str = "", cycle: tuple[int, ...] = ()) -> None:
        _errors.NegativeCycleError.__init__(self, message, cycle)


def _check_shape(shape: tuple[int, ...]) -> int:
    if len(shape) != 2:
        raise ValueError("compressed-sparse graph must be 2-D")
    if shape[0] != shape[1]:
        raise ValueError("compressed-sparse graph must be shape (N, N)")
    return int(shape[0])


def _real(array: np.ndarray) -> np.ndarray:
    """As SciPy has it: everything becomes float64, if need be with NumPy's warning or error. What
    the library keeps exactly may stay as it is."""
    kind = array.dtype.kind
    large = kind in "iu" and array.itemsize == 8 and array.size > 0
    if kind not in "biuf" or (large and max(int(array.max()), -int(array.min())) >= 2**31):
        return array.astype(np.float64)
    return array


def _without_nan(array: np.ndarray) -> np.ndarray:
    """NaN made infinite, and so is -inf in a matrix, which is no edge there."""
    if array.dtype.kind != "f":
        return array
    unwanted = np.isnan(array) if array.ndim == 1 else np.isnan(array) | (array == -np.inf)
    return np.where(unwanted, np.inf, array) if unwanted.any() else array


def _arcs(csgraph: Any, directed: bool, unweighted: bool, zeros_are_edges: bool) -> Arcs:
    """The arcs by csgraph's rules: in a dense array 0, infinity and NaN are no edges; in a masked
    one the masked elements, and 0 too unless ``zeros_are_edges``; in a sparse one NaN."""
    if hasattr(csgraph, "to_scipy_sparse"):
        csgraph = csgraph.to_scipy_sparse()
    if is_sparse(csgraph):
        n = _check_shape(csgraph.shape)
        csr = csgraph if csgraph.format == "csr" else csgraph.tocsr()
        data = None if unweighted else _real(csr.data)
        return arcs_of_rows(csr.indptr, csr.indices, data, n, not directed)
    masked = isinstance(csgraph, np.ma.MaskedArray)
    if masked:
        array = np.ma.filled(csgraph.astype(np.float64), np.inf)
    else:
        array = np.asarray(csgraph)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"weights: {array.dtype} is not supported; use real numbers")
    _check_shape(array.shape)
    array = _real(array)
    no_edge: Optional[float] = None if masked and zeros_are_edges else 0.0
    if unweighted:
        present = array != 0 if no_edge == 0 else np.ones(array.shape, bool)
        if array.dtype.kind == "f":
            present &= np.isfinite(array)
        array, no_edge = present.astype(np.int32), 0.0
    return arcs_of_matrix(array, no_edge, not directed)


def _indices(indices: Any, n: int) -> tuple[Optional[np.ndarray], tuple[int, ...]]:
    """The sources, None for all, and the leading shape of the result."""
    if indices is None:
        return None, (n,)
    found = np.array(indices, order="C", dtype=np.int32, copy=True)
    shape = found.shape
    found = np.atleast_1d(found).reshape(-1)
    found[found < 0] += n
    if np.any(found < 0) or np.any(found >= n):
        raise ValueError("indices out of range 0...N")
    return found, shape


class _Call:
    """One question to the library: a graph by csgraph's rules, and what is wanted of it."""

    def __init__(
        self, csgraph: Any, directed: bool, unweighted: bool, zeros_are_edges: bool
    ) -> None:
        self.arcs = _arcs(csgraph, directed, unweighted, zeros_are_edges)
        self.any_cycle = False  # a negative cycle anywhere is an error, as Johnson has it
        self.no_loops = False  # the diagonal does not count, as Floyd and Warshall have it
        self.warn = False  # if a weight is negative
        self.negative = False

    def solve(
        self,
        sources: Optional[np.ndarray],
        predecessors: bool,
        cutoff: float = -1.0,
        out: Optional[np.ndarray] = None,
    ) -> tuple[np.ndarray, Optional[np.ndarray]]:
        rows = self.arcs.n if sources is None else len(sources)
        ways = "fewer indices, or tilewright's " + _apsp.WAYS + "or apsp() with a narrower dtype"
        beside = 0
        if out is None:
            out = _apsp.result((rows, self.arcs.n), np.float64, ways)
            beside = out.nbytes
        before = None
        if predecessors:
            before = _apsp.result((rows, self.arcs.n), np.int32, ways, beside)
        while not self._done(sources, cutoff, out, before):
            pass
        if self.negative and self.warn:
            warnings.warn(
                "Graph has negative weights: dijkstra will give inaccurate results if the graph "
                "contains negative cycles. Consider johnson or bellman_ford.",
                stacklevel=3,
            )
        return out, before

    def _done(
        self,
        sources: Optional[np.ndarray],
        cutoff: float,
        out: np.ndarray,
        before: Optional[np.ndarray],
    ) -> bool:
        """Try once; False if it was not to be but the graph has been mended for another time. Loops
        and NaN are rare, so nothing is spent on them before they are met."""
        try:
            self._run(sources, cutoff, out, before)
            return True
        except _errors.NegativeCycleError as error:
            if not (self.no_loops and len(error.cycle) == 1):
                raise NegativeCycleError(str(error), error.cycle) from None
            self.no_loops = False
            self._drop_loops()
        except (_errors.ArgumentError, _errors.RangeError):
            if not self._drop_nan():
                raise
        return False

    def _run(
        self,
        sources: Optional[np.ndarray],
        cutoff: float,
        out: np.ndarray,
        before: Optional[np.ndarray],
    ) -> None:
        mine = session()
        arcs = self.arcs
        ctx, method = _apsp.context_for(mine, arcs.n, arcs.arcs)

        def work() -> None:
            graph = arcs.create(ctx)
            try:
                if self.any_cycle or self.warn:
                    self._look(ctx, graph)
                _apsp.distances(ctx, graph, method, sources, cutoff, out, before)
            finally:
                lib.tw_graph_destroy(graph)

        if ctx is mine.small:
            work()
        else:
            mine.call(work)

    def _look(self, ctx: c_void_p, graph: c_void_p) -> None:
        info = _abi.GraphInfo()
        lib.tw_graph_describe(graph, byref(info))
        self.negative = info.min_weight < 0
        if self.negative and self.any_cycle:
            lib.tw_apsp_plan_destroy(_apsp.plan(ctx, graph, _abi.ApspOptions(type=_abi.F64)))

    def _drop_nan(self) -> bool:
        arcs = self.arcs
        if type(arcs.struct) is _abi.Csr:
            indptr, indices, data = arcs.arrays
            clean = data if data is None else _without_nan(data)
            if clean is data:
                return False
            self.arcs = arcs_of_rows(indptr, indices, clean, arcs.n, arcs.undirected)
            return True
        clean = _without_nan(arcs.arrays)
        if clean is arcs.arrays:
            return False
        no_edge = None if arcs.no_edge is None else arcs.no_edge.value
        self.arcs = arcs_of_matrix(clean, no_edge, arcs.undirected)
        return True

    def _drop_loops(self) -> None:
        arcs = self.arcs
        if type(arcs.struct) is _abi.Csr:
            indptr, indices, data = arcs.arrays
            rows = np.repeat(np.arange(arcs.n), np.diff(indptr))
            data = np.where(rows == indices, np.float64(np.inf), data)
            self.arcs = arcs_of_rows(indptr, indices, data, arcs.n, arcs.undirected)
        else:
            weights = arcs.arrays.copy()
            np.fill_diagonal(weights, 0)
            no_edge = None if arcs.no_edge is None else arcs.no_edge.value
            self.arcs = arcs_of_matrix(weights, no_edge, arcs.undirected)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """All shortest paths of a graph: ``scipy.sparse.csgraph.shortest_path``.

    ``method`` is 'auto', 'FW', 'D', 'BF' or 'J', as in SciPy; it does not choose the algorithm here.

    >>> graph = np.array([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]])
    >>> distances, predecessors = shortest_path(graph, directed=False, indices=0,
    ...                                         return_predecessors=True)
    >>> distances
    array([0., 1., 2., 2.])
    >>> predecessors
    array([-9999,     0,     0,     1], dtype=int32)
    """
    if method == "auto":
        method = _choose(csgraph, indices)
    if method == "FW":
        if indices is not None:
            raise ValueError("Cannot specify indices with method == 'FW'.")
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted, overwrite)
    if method in ("D", "auto"):
        return _from_sources(
            csgraph, directed, indices, return_predecessors, unweighted, warn=method == "D"
        )
    if method == "BF":
        return bellman_ford(csgraph, directed, indices, return_predecessors, unweighted)
    if method == "J":
        return johnson(csgraph, directed, indices, return_predecessors, unweighted)
    raise ValueError(f"unrecognized method '{method}'")


def _choose(csgraph: Any, indices: Any) -> str:
    """'FW' where SciPy would take it and it would make a difference, else 'auto': a search that
    minds no negative weight."""
    if indices is not None or is_sparse(csgraph) or hasattr(csgraph, "to_scipy_sparse"):
        return "auto"
    if isinstance(csgraph, np.ma.MaskedArray):
        return "FW" if csgraph.count() >= csgraph.size / 4 else "auto"
    return "FW"


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """All pairs: ``scipy.sparse.csgraph.floyd_warshall``. ``overwrite`` puts the distances into a
    dense, C-contiguous float64 array itself."""
    call = _Call(csgraph, directed, unweighted, zeros_are_edges=False)
    call.no_loops = True
    out = None
    if (
        overwrite
        and isinstance(csgraph, np.ndarray)
        and not isinstance(csgraph, np.ma.MaskedArray)
        and csgraph.dtype == np.float64
        and csgraph.flags.c_contiguous
        and csgraph.flags.writeable
    ):
        out = csgraph  # the library has its own copy of a matrix by then
    distances, predecessors = call.solve(None, return_predecessors, out=out)
    return (distances, predecessors) if return_predecessors else distances


def _from_sources(
    csgraph: Any,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool,
    cutoff: float = -1.0,
    warn: bool = False,
    any_cycle: bool = False,
) -> Any:
    call = _Call(csgraph, directed, unweighted, zeros_are_edges=True)
    call.warn = warn
    call.any_cycle = any_cycle and indices is not None
    sources, shape = _indices(indices, call.arcs.n)
    distances, predecessors = call.solve(sources, return_predecessors, cutoff)
    whole = (*shape, call.arcs.n)
    if predecessors is None:
        return distances.reshape(whole)
    return distances.reshape(whole), predecessors.reshape(whole)


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """From all vertices or from ``indices``: ``scipy.sparse.csgraph.dijkstra``.

    Distances above ``limit`` count as no path. With ``min_only`` the result is, for each vertex, the
    distance from the nearest of the indices, with predecessors and that index if asked for.
    """
    limit = float(limit)
    if limit < 0:
        raise ValueError("limit must be >= 0")
    cutoff = -1.0 if limit == np.inf else limit
    if min_only:
        return _nearest_of(csgraph, directed, indices, return_predecessors, unweighted, cutoff)
    return _from_sources(
        csgraph, directed, indices, return_predecessors, unweighted, cutoff, warn=True
    )


def _rows_of(arcs: Arcs) -> tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]:
    """The compressed rows of arcs that may lie in a matrix."""
    if type(arcs.struct) is _abi.Csr:
        return arcs.arrays
    matrix = _without_nan(arcs.arrays)
    present = np.isfinite(matrix) if matrix.dtype.kind == "f" else np.ones(matrix.shape, bool)
    if arcs.no_edge is not None:
        present &= matrix != arcs.no_edge.value
    rows, cols = np.nonzero(present)
    indptr = np.zeros(arcs.n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=arcs.n), out=indptr[1:])
    return indptr, cols.astype(np.int32), matrix[rows, cols]


def _nearest_of(
    csgraph: Any,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool,
    cutoff: float,
) -> Any:
    """min_only: one search from a vertex more, which reaches all indices at no cost."""
    call = _Call(csgraph, directed, unweighted, zeros_are_edges=True)
    call.warn = True
    n = call.arcs.n
    sources, _ = _indices(indices, n)
    starts = np.arange(n, dtype=np.int32) if sources is None else np.unique(sources)
    indptr, targets, weights = _rows_of(call.arcs)
    if weights is None:
        weights = np.ones(len(targets), dtype=np.int32)
    arcs = int(indptr[-1])
    call.arcs = arcs_of_rows(
        np.append(indptr.astype(np.int64), arcs + len(starts)),
        np.concatenate([targets[:arcs], starts.astype(targets.dtype)]),
        np.concatenate([weights[:arcs], np.zeros(len(starts), dtype=weights.dtype)]),
        n + 1,
        not directed,
    )
    beyond = np.array([n], dtype=np.int32)
    distances, predecessors = call.solve(beyond, return_predecessors, cutoff)
    nearest = distances[0, :n].copy()
    if predecessors is None:
        return nearest
    before = predecessors[0, :n].copy()
    before[before == n] = _abi.NO_VERTEX
    before[starts] = _abi.NO_VERTEX
    return nearest, before, _roots(before, starts)


def _roots(before: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """For each vertex of a forest the start that it hangs on, or -9999."""
    root = np.where(before == _abi.NO_VERTEX, np.arange(len(before), dtype=np.int32), before)
    while True:
        higher = root[root]
        if np.array_equal(higher, root):
            break
        root = higher
    is_start = np.zeros(len(before), dtype=bool)
    is_start[starts] = True
    return np.where(is_start[root], root, np.int32(_abi.NO_VERTEX)) if len(before) else root


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """From all vertices or from ``indices``, with negative weights:
    ``scipy.sparse.csgraph.bellman_ford``. A negative cycle that they reach is an error."""
    return _from_sources(csgraph, directed, indices, return_predecessors, unweighted)


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """The same by Johnson's rule, ``scipy.sparse.csgraph.johnson``: a negative cycle anywhere in the
    graph is an error."""
    return _from_sources(
        csgraph, directed, indices, return_predecessors, unweighted, any_cycle=True
    )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        import scipy.sparse.csgraph
    except ImportError:
        raise AttributeError(f"{name} is SciPy's own, and SciPy is not installed") from None

    return getattr(scipy.sparse.csgraph, name)
