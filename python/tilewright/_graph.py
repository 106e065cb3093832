"""Graphs: from what callers have (dense arrays, SciPy's sparse ones, NetworkX graphs, files) to the
library's.

``Arcs`` is a graph that lies in NumPy arrays, checked as far as Python must and described to C; it
is copied only where its layout or type is none that the library reads. ``Graph`` is a handle of the
library, for callers who ask one graph several things.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_double, c_void_p
from typing import Any, Optional, Union

import numpy as np

from . import _abi
from ._abi import lib
from ._session import check, file_name, session

_FEW = 1 << 16  # arcs
_VALUES = {
    np.dtype(np.int32): _abi.I32,
    np.dtype(np.int64): _abi.I64,
    np.dtype(np.float32): _abi.F32,
    np.dtype(np.float64): _abi.F64,
}
_INDICES = {np.dtype(np.int32): _abi.I32, np.dtype(np.int64): _abi.I64}


def _plain(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The same elements contiguous, aligned and in native order, copied only if they are not."""
    made = np.ascontiguousarray(array, dtype=dtype)
    return made if made.flags.aligned else made.copy()


def values_for_c(array: np.ndarray) -> np.ndarray:
    """Weights of any type as ones of i32, i64, f32 or f64, contiguous and in native order. What is
    not a real number raises TypeError."""
    kind = array.dtype.kind
    if array.dtype in _VALUES:
        flags = array.flags
        return array if flags.c_contiguous and flags.aligned else _plain(array)
    if kind in "biu":
        wide: Any = np.int64 if array.dtype.itemsize >= 4 else np.int32
        if kind == "u" and array.dtype.itemsize == 8:
            wide = np.float64 if array.size and array.max() > 2**62 else np.int64
        return _plain(array, wide)
    if kind == "f":
        return _plain(array, np.float32 if array.dtype.itemsize <= 4 else np.float64)
    if kind == "O":
        return _plain(array, np.float64)
    raise TypeError(f"weights: {array.dtype} is not supported; use real numbers")


def _indices_for_c(array: np.ndarray) -> np.ndarray:
    if array.dtype in _INDICES:
        flags = array.flags
        return array if flags.c_contiguous and flags.aligned else _plain(array)
    return _plain(array, np.int64)


class Arcs:
    """A graph in arrays: compressed rows, or a matrix with a mark for "no edge"."""

    __slots__ = ("n", "arcs", "undirected", "arrays", "struct", "no_edge")

    def __init__(self, n: int, arcs: int, undirected: bool, struct: Any, arrays: Any) -> None:
        self.n = n
        self.arcs = arcs  # at most
        self.undirected = undirected
        self.struct = struct
        self.arrays = arrays  # what the struct points to
        self.no_edge: Optional[c_double] = None

    def create(self, ctx: c_void_p) -> c_void_p:
        """The library's graph, which borrows compressed rows: they must stay while it does."""
        handle = c_void_p()
        flags = _abi.GRAPH_UNDIRECTED if self.undirected else 0
        if type(self.struct) is _abi.Csr:
            status = lib.tw_graph_from_csr(ctx, byref(handle), byref(self.struct), flags)
        else:
            no_edge = None if self.no_edge is None else byref(self.no_edge)
            status = lib.tw_graph_from_matrix(
                ctx, byref(handle), byref(self.struct), no_edge, flags
            )
        if status:
            check(status, ctx)
        return handle


def arcs_of_rows(
    indptr: Any, indices: Any, data: Optional[np.ndarray], n: int, undirected: bool
) -> Arcs:
    """Compressed rows; data None makes every weight 1."""
    indptr = _indices_for_c(indptr)
    indices = _indices_for_c(indices)
    struct = _abi.Csr.__new__(_abi.Csr)
    struct.size = ctypes.sizeof(_abi.Csr)
    struct.vertices = n
    struct.offsets = indptr.ctypes.data
    struct.offset_type = _INDICES[indptr.dtype]
    struct.targets = indices.ctypes.data
    struct.target_type = _INDICES[indices.dtype]
    struct.value_type = _abi.I32
    struct.borrow = 1
    if data is not None:
        data = values_for_c(data)
        struct.values = data.ctypes.data
        struct.value_type = _VALUES[data.dtype]
    arcs = len(indices)
    if indptr.size != n + 1 or (data is not None and len(data) < arcs) or int(indptr[-1]) > arcs:
        raise ValueError("the compressed rows do not fit together: indptr, indices and data differ")
    return Arcs(n, arcs, undirected, struct, (indptr, indices, data))


def arcs_of_matrix(array: np.ndarray, no_edge: Optional[float], undirected: bool) -> Arcs:
    """A square matrix in which ``no_edge`` and infinity mean that there is no edge. NaN as no_edge
    is taken for infinity."""
    weights = values_for_c(array) if array.dtype not in _VALUES else array
    if weights.dtype == np.int32 and weights.size and int(weights.max()) >= _abi.INF_I32:
        weights = weights.astype(np.int64)  # i32 has a mark of its own there
    n = weights.shape[0]
    item = weights.itemsize
    rows_lie_apart = weights.ndim == 2 and (
        weights.strides[1] == item
        and weights.strides[0] >= n * item
        and weights.strides[0] % item == 0
        and weights.flags.aligned
    )
    if not rows_lie_apart:
        weights = _plain(weights)
    struct = _abi.Matrix(
        weights.ctypes.data, n, n, max(n, weights.strides[0] // item), _VALUES[weights.dtype]
    )
    result = Arcs(n, n * n, undirected, struct, weights)
    if no_edge is not None and no_edge == no_edge:
        result.no_edge = c_double(no_edge)
    return result


def is_sparse(graph: Any) -> bool:
    """An array of scipy.sparse, told without importing it."""
    return hasattr(graph, "tocsr") and hasattr(graph, "shape")


class Graph:
    """A graph that the library holds: made once, asked often.

    ``graph`` is a square array, in which ``no_edge`` (0, as in SciPy and NetworkX; None for none)
    and infinity mean that there is no edge; an array of ``scipy.sparse``, whose stored zeros are
    edges of weight 0; a NetworkX graph; or the name of a file in one of the formats of the command.
    ``unweighted`` makes every edge count 1. ``directed=False`` lets each edge count both ways, the
    lesser of two. Parallel edges: the least counts.

    Compressed rows are not copied where the library can use them: do not change them meanwhile.

    >>> import numpy as np
    >>> Graph(np.array([[0, 4, 0], [0, 0, 3], [1, 0, 0]]))
    <tilewright.Graph: 3 vertices, 3 arcs, whole weights 1 ... 4>
    """

    def __init__(
        self,
        graph: Any,
        *,
        directed: Optional[bool] = None,
        unweighted: bool = False,
        no_edge: Optional[float] = 0,
        weight: Optional[str] = "weight",
    ) -> None:
        self._handle = c_void_p()
        self._arcs: Optional[Arcs] = None
        self.nodes: Optional[list[Any]] = None  #: what the vertices are called, by number
        mine = session()
        if isinstance(graph, (str, os.PathLike)):
            options = _abi.ReadOptions(unweighted=int(bool(unweighted)))
            if directed is not None:
                options.directed = int(bool(directed))
            path = file_name(graph)
            mine.call(lambda: self._read(mine.large, path, options))
            return
        self._arcs = arcs_of(graph, directed, unweighted, no_edge, weight)
        if hasattr(graph, "adj") and hasattr(graph, "nodes"):
            self.nodes = list(graph)
        self._handle = _made(self._arcs)

    def _read(self, ctx: c_void_p, path: bytes, options: _abi.ReadOptions) -> None:
        check(lib.tw_graph_read(ctx, byref(self._handle), path, byref(options)), ctx)

    def __del__(self, destroy: Any = lib.tw_graph_destroy) -> None:
        destroy(getattr(self, "_handle", None))  # at the end of Python `lib` may be gone

    def info(self) -> _abi.GraphInfo:
        out = _abi.GraphInfo()
        lib.tw_graph_describe(self._handle, byref(out))
        return out

    def __len__(self) -> int:
        return self.info().vertices

    def __repr__(self) -> str:
        info = self.info()
        kind = "undirected, " if info.undirected else ""
        whole = "whole weights" if info.integral else "weights"
        text = f"{info.vertices} vertices, {info.arcs} arcs"
        if info.arcs:
            text += f", {kind}{whole} {info.min_weight:g} ... {info.max_weight:g}"
        return f"<tilewright.Graph: {text}>"

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Copies of the compressed rows: offsets, targets and weights."""
        info = self.info()
        where = [c_void_p(), c_void_p(), c_void_p()]
        lib.tw_graph_rows(self._handle, *(byref(w) for w in where))
        weight = {_abi.I32: np.int32, _abi.F32: np.float32, _abi.F64: np.float64}[info.weight_type]
        sizes = (
            (info.vertices + 1, np.int64),
            (info.arcs, np.int32),
            (info.arcs, weight),
        )
        copies = [
            np.frombuffer(
                ctypes.string_at(w.value or 0, count * np.dtype(kind).itemsize), kind
            ).copy()
            for w, (count, kind) in zip(where, sizes)
        ]
        return copies[0], copies[1], copies[2]

    def __reduce__(self) -> Any:
        return _from_rows, (*self.rows(), self.nodes)


def _from_rows(
    offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray, nodes: Optional[list[Any]]
) -> Graph:
    """A graph from its own compressed rows: what pickling keeps."""
    graph = Graph.__new__(Graph)
    graph.nodes = nodes
    graph._arcs = arcs_of_rows(offsets, targets, weights, len(offsets) - 1, False)
    graph._handle = _made(graph._arcs)
    return graph


def _made(arcs: Arcs) -> c_void_p:
    """The library's graph, made where no team of threads is woken for a few arcs."""
    mine = session()
    if arcs.arcs <= _FEW:
        return arcs.create(mine.small)
    return mine.call(lambda: arcs.create(mine.large))


def _arcs_of_networkx(graph: Any, weight: Optional[str], undirected: Optional[bool]) -> Arcs:
    indptr, indices, data = rows_of_networkx(graph, weight)
    return arcs_of_rows(indptr, indices, data, len(indptr) - 1, bool(undirected))


def rows_of_networkx(
    graph: Any, weight: Any
) -> tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]:
    """The compressed rows of a NetworkX graph, in the order of its nodes; parallel edges side by
    side, an edge without the attribute weighing 1, hidden edges (None) left out. ``weight`` None
    makes all of them 1 and gives no weights; it may also be NetworkX's function of an edge."""
    number = {node: i for i, node in enumerate(graph)}
    adjacency = graph._adj
    counts = np.empty(len(number), dtype=np.int64)
    targets: list[int] = []
    weights: list[Any] = []
    for i, node in enumerate(graph):
        row = adjacency[node]
        before = len(targets)
        if weight is None:
            targets.extend([number[v] for v in row])
        elif callable(weight):
            for v, attributes in row.items():
                w = weight(node, v, attributes)
                if w is not None:
                    targets.append(number[v])
                    weights.append(w)
        elif graph.is_multigraph():
            for v, keys in row.items():
                targets.append(number[v])
                weights.append(min(a.get(weight, 1) for a in keys.values()))
        else:
            targets.extend([number[v] for v in row])
            weights.extend([a.get(weight, 1) for a in row.values()])
        counts[i] = len(targets) - before
    indptr = np.zeros(len(number) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    data = None if weight is None else np.asarray(weights if weights else np.empty(0, np.int32))
    return indptr, np.array(targets, dtype=np.int32), data


def square(shape: tuple[int, ...]) -> int:
    """The side of a square shape."""
    if len(shape) != 2:
        raise ValueError(f"a graph must have two dimensions, not {len(shape)}")
    if shape[0] != shape[1]:
        raise ValueError(f"a graph must be square, not {shape[0]} x {shape[1]}")
    return int(shape[0])


def arcs_of(
    graph: Any,
    directed: Optional[bool],
    unweighted: bool,
    no_edge: Optional[float],
    weight: Optional[str],
) -> Arcs:
    """The arcs of an array, a sparse array or a NetworkX graph."""
    undirected = directed is not None and not directed
    if hasattr(graph, "adj") and hasattr(graph, "nodes"):
        return _arcs_of_networkx(graph, None if unweighted else weight, undirected)
    if hasattr(graph, "to_scipy_sparse"):
        graph = graph.to_scipy_sparse()
    if is_sparse(graph):
        n = square(graph.shape)
        csr = graph.tocsr()
        return arcs_of_rows(
            csr.indptr, csr.indices, None if unweighted else csr.data, n, undirected
        )
    if isinstance(graph, np.ma.MaskedArray):
        graph = np.ma.filled(graph.astype(np.float64), np.inf)
    array = np.asarray(graph)
    square(array.shape)
    if unweighted:
        present = np.isfinite(array) if array.dtype.kind == "f" else np.ones(array.shape, bool)
        if no_edge is not None:
            present &= array != no_edge
        return arcs_of_matrix(present.astype(np.int32), 0, undirected)
    return arcs_of_matrix(array, no_edge, undirected)


GraphLike = Union[Graph, Any]


def as_graph(graph: GraphLike, **options: Any) -> Graph:
    """A Graph as it is, anything else made into one."""
    if isinstance(graph, Graph):
        if options:
            raise TypeError(f"{', '.join(options)}: this was decided when the Graph was made")
        return graph
    return Graph(graph, **options)
