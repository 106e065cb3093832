"""All-pairs shortest paths: the plain front of the library.

``apsp`` gives a matrix, ``apsp_rows`` the same in blocks of rows for what is larger than memory,
``summary`` what the distances amount to without keeping them, ``nearest`` the k nearest of each
vertex, ``path`` one route, ``plan`` what
would be done and why. Below them is what ``tilewright.csgraph`` and the NetworkX backend stand on:
``distances`` into given arrays, and ``run`` into any sink.
"""

from __future__ import annotations

import ctypes
import operator
import queue
import threading
from ctypes import byref, c_void_p
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _abi
from ._abi import lib
from ._errors import OutOfMemoryError
from ._graph import Graph, GraphLike, as_graph
from ._order import OrderOption
from ._question import TYPES, Question, numbers
from ._session import ProgressOption, Session, Settings, c_whole, check, session

Memory = Union[int, str, None]
T = TypeVar("T")

DTYPES: dict[int, Any] = {kind: dtype for dtype, kind in TYPES.items()}
_METHOD_NAMES = {number: name for name, number in _abi.METHODS.items()}

# Where the plain loop is over before a plan has been made, where one search after the other is, and
# up to where one thread needs no longer than a team takes to wake: measured on a Neoverse V1,
# November 2026.
_PLAIN = 20
_SEARCHED = 100_000
_SMALL = 256


def context_for(mine: Session, n: int, arcs: int) -> tuple[c_void_p, int]:
    """The context and the method for a graph of that size: what is tiny costs no planning."""
    if n > _SMALL or arcs > _SMALL * _SMALL:
        return mine.large, _abi.METHODS["auto"]
    if n <= _PLAIN:
        return mine.small, _abi.METHODS["reference"]
    return mine.small, _abi.METHODS["dijkstra" if n * arcs <= _SEARCHED else "auto"]


def view(array: np.ndarray) -> _abi.Matrix:
    """A two-dimensional array as C sees it; its rows are contiguous."""
    rows, cols = array.shape
    stride = max(cols, array.strides[0] // array.itemsize)
    return _abi.Matrix(array.ctypes.data, rows, cols, stride, TYPES[array.dtype])


def plan(ctx: c_void_p, graph: c_void_p, options: _abi.ApspOptions) -> c_void_p:
    handle = c_void_p()
    check(lib.tw_apsp_plan_create(ctx, byref(handle), graph, byref(options)), ctx)
    return handle


def distances(
    ctx: c_void_p,
    graph: c_void_p,
    method: int,
    sources: Optional[np.ndarray],
    cutoff: float,
    out: np.ndarray,
    predecessors: Optional[np.ndarray],
) -> None:
    """Distances of the result's type into ``out`` and, if there is one, a matrix of predecessors."""
    target = view(out)
    options = _abi.ApspOptions(method=method, type=target.type, cutoff=cutoff)
    if sources is not None:
        options.sources = sources.ctypes.data
        options.source_count = len(sources)
    if predecessors is None:
        check(lib.tw_apsp(ctx, byref(target), graph, byref(options)), ctx)
        return
    trees = view(predecessors)
    sinks = [_abi.Sink(), _abi.Sink()]
    handle = plan(ctx, graph, options)
    try:
        check(lib.tw_sink_to_matrix(ctx, byref(sinks[0]), byref(target)), ctx)
        check(lib.tw_sink_to_matrix(ctx, byref(sinks[1]), byref(trees)), ctx)
        check(
            lib.tw_apsp_plan_run(ctx, handle, byref(sinks[0]), 1, byref(sinks[1]), None),
            ctx,
        )
    finally:
        for sink in sinks:
            lib.tw_sink_destroy(byref(sink))
        lib.tw_apsp_plan_destroy(handle)


class RowSink:
    """A sink that hands blocks of rows, as arrays that are valid during the call, to a function of
    (first row, block). An exception of that function ends the run and is raised from it."""

    def __init__(self, function: Callable[[int, np.ndarray], None]) -> None:
        self.function = function
        self.raised: Optional[BaseException] = None
        self.cols = 0
        self.dtype: Any = np.dtype(np.float64)
        self.struct = _abi.Sink(
            begin=_abi.SinkBegin(self._begin),
            rows=_abi.SinkRows(self._rows),
            end=_abi.SinkEnd(lambda *_: _abi.OK),
            abort=_abi.SinkAbort(lambda *_: None),
        )

    def _begin(self, _: Any, ctx: Any, shape: Any) -> int:
        self.cols = shape.contents.cols
        self.dtype = DTYPES[shape.contents.type]
        return _abi.OK

    def _rows(self, _: Any, ctx: Any, first: int, count: int, data: int, stride: int) -> int:
        try:
            item = self.dtype.itemsize
            size = ((count - 1) * stride + self.cols) * item
            memory: Any = (ctypes.c_char * size).from_address(data)
            block = np.ndarray(
                (count, self.cols), self.dtype, buffer=memory, strides=(stride * item, item)
            )
            block.flags.writeable = False
            self.function(first, block)
        except BaseException as error:
            self.raised = error
            lib.tw_set_error(ctx, b"the receiver of the rows raised an exception")
            return _abi.ERR_CANCELLED
        return _abi.OK


def run(
    ctx: c_void_p,
    graph: c_void_p,
    options: _abi.ApspOptions,
    sinks: Sequence[_abi.Sink],
    report: Optional[_abi.ApspReport] = None,
) -> None:
    """Plan and run into sinks."""
    handle = plan(ctx, graph, options)
    try:
        array = (_abi.Sink * len(sinks))(*sinks)
        where = None if report is None else byref(report)
        check(lib.tw_apsp_plan_run(ctx, handle, array, len(sinks), None, where), ctx)
    finally:
        lib.tw_apsp_plan_destroy(handle)


# ------------------------------------------------------------------------------------ the front


def _answer(
    mine: Session,
    graph: Graph,
    asked: Question,
    settings: tuple[Any, ...],
    work: Callable[[c_void_p], T],
) -> T:
    """Do ``work`` on a context: the small one, if nothing was set and the graph is small, else the
    large one with those settings (device, memory, threads, progress)."""
    if settings == ("auto", None, 0, None) and asked.options.checkpoint is None:
        info = graph.info()
        ctx, method = context_for(mine, info.vertices, info.arcs)
        if ctx is mine.small:
            if asked.options.method == _abi.METHODS["auto"]:
                asked.options.method = method
            return work(ctx)

    def settled() -> T:
        with Settings(mine.large, *settings):
            return work(mine.large)

    return mine.call(settled)


def writable(out: Any, shape: tuple[int, ...], known: Any, name: str = "out") -> np.ndarray:
    """A caller's array for a result, or the exception that says what is wrong with it."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, not {type(out).__name__}")
    if isinstance(out, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: pass its data")
    if out.shape != shape:
        raise ValueError(f"{name} has shape {out.shape}; the result has {shape}")
    if out.dtype not in known or not out.dtype.isnative:
        raise ValueError(
            f"{name} is of {out.dtype.str}; use " + ", ".join(str(dtype) for dtype in known)
        )
    if not out.flags.writeable:
        raise ValueError(f"{name} is read-only")
    rows_lie_apart = out.size == 0 or (
        (out.shape[1] == 1 or out.strides[1] == out.itemsize)
        and (out.shape[0] == 1 or out.strides[0] >= out.shape[1] * out.itemsize)
        and out.strides[0] % out.itemsize == 0
        and out.flags.aligned
    )
    if not rows_lie_apart:
        raise ValueError(f"the rows of {name} must be contiguous: pass a C-ordered array")
    return out


LARGE = 1 << 26  # bytes: for less than these nobody asks what there is
WAYS = "summary() or nearest(), which need none, apsp_rows() for some rows at a time, "


def available() -> int:
    """Bytes that the machine has left for this process."""
    return int(lib.tw_memory_limit(session().large))


def _shown(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size < 1e12 else f"{size / 1e12:,.1f} TB"


def result(shape: tuple[int, int], dtype: Any, ways: str, beside: int = 0) -> np.ndarray:
    """An array for a result, or what to use instead. NumPy gives out more memory than there is, of
    which a run would be killed. ``beside`` are bytes of another, which is not filled yet."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    left = available() - beside if size + beside >= LARGE else size
    error: Optional[MemoryError] = None
    if size <= left:
        try:
            return np.empty(shape, dtype)
        except MemoryError as refused:
            error = refused
    raise OutOfMemoryError(
        f"a matrix of {shape[0]} x {shape[1]} {np.dtype(dtype)} takes {_shown(size)}, and "
        f"{_shown(max(left, 0))} is available; use {ways}"
    ) from error


def apsp(
    graph: GraphLike,
    *,
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    dtype: Any = None,
    predecessors: bool = False,
    out: Optional[np.ndarray] = None,
    method: str = "auto",
    order: OrderOption = None,
    checkpoint: Any = None,
    every: float = 600,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> Any:
    """The distances between all vertices, or from ``sources`` to ``targets``.

    ``graph`` is whatever :class:`Graph` takes, and ``kind`` its options (``directed``,
    ``unweighted``, ``no_edge``, ``weight``). The result is a new array of ``dtype`` (float64 unless
    ``out`` says otherwise; uint8, uint16, int32, float32), or ``out``, which may be a memmap.
    Where there is no path, or none up to ``cutoff``, it is infinite; :func:`no_path` tells the mark
    of integers. A distance that the dtype cannot hold raises RangeError. With ``predecessors`` a
    second array gives the vertex before each on the way from the row's source, or -9999.

    ``order`` is an :class:`Order` of the graph, for a sweep, or "cache" to keep one from run to run.
    ``checkpoint`` names a file for the state of a closure, written about ``every`` so many seconds: the
    same call after an interrupt, or of another process, goes on from there.
    ``device`` is "auto", "cpu", "cuda", "cuda:0,1", ...; ``memory`` the most that may be held, in
    bytes or as "8G"; ``progress`` True or a function of (stage, done, total, unit).

    >>> roads = np.array([[0, 4, 0, 20], [4, 0, 3, 0], [0, 3, 0, 5], [20, 0, 5, 0]])
    >>> apsp(roads)[0]
    array([ 0.,  4.,  7., 12.])
    >>> apsp(roads, sources=[3], targets=[0, 1], dtype=np.int32)
    array([[12,  8]], dtype=int32)
    """
    from . import _device

    if _device.is_device_array(graph):
        _device.refuse(sources=sources, targets=targets, cutoff=cutoff, dtype=dtype, memory=memory)
        _device.refuse(predecessors=predecessors or None, progress=progress or None, order=order)
        _device.refuse(checkpoint=checkpoint)
        return _device.apsp(graph, out, **kind)
    graph = as_graph(graph, **kind)
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if dtype is None:
        dtype = np.float64 if out is None else out.dtype
    asked = Question(graph, sources, targets, cutoff, dtype, method, order)
    asked.keep(checkpoint, every)
    beside = 0
    if out is None:
        out = result(asked.shape, dtype, WAYS + "fewer sources or a narrower dtype")
        beside = out.nbytes
    elif writable(out, asked.shape, TYPES).dtype != np.dtype(dtype):
        raise ValueError(f"out is of {out.dtype}, and dtype is {np.dtype(dtype)}")
    if predecessors and asked.targets is not None:
        raise ValueError("predecessors need all targets")
    trees = None
    if predecessors:
        trees = result(asked.shape, np.int32, WAYS + "or fewer sources", beside)
    mine = session()
    sink, tree_sink = _abi.Sink(), _abi.Sink()
    matrix = view(out)

    def work(ctx: c_void_p) -> None:
        handle = plan(ctx, graph._handle, asked.options)
        try:
            check(lib.tw_sink_to_matrix(ctx, byref(sink), byref(matrix)), ctx)
            if trees is not None:
                tree = view(trees)
                check(lib.tw_sink_to_matrix(ctx, byref(tree_sink), byref(tree)), ctx)
            where = None if trees is None else byref(tree_sink)
            check(lib.tw_apsp_plan_run(ctx, handle, byref(sink), 1, where, None), ctx)
        finally:
            lib.tw_sink_destroy(byref(sink))
            lib.tw_sink_destroy(byref(tree_sink))
            lib.tw_apsp_plan_destroy(handle)

    _answer(mine, graph, asked, (device, memory, threads, progress), work)
    return out if trees is None else (out, trees)


def no_path(dtype: Any) -> Any:
    """What stands for "no path" in distances of that dtype.

    >>> no_path(np.int32), no_path(float)
    (1073741823, inf)
    """
    marks = {_abi.U8: 2**8 - 1, _abi.U16: 2**16 - 1, _abi.I32: _abi.INF_I32}
    return marks.get(TYPES[np.dtype(dtype)], np.inf)


class _Rows:
    """The far end of ``apsp_rows``: a thread with a context of its own that computes, and waits
    when two blocks have not been fetched."""

    def __init__(self, graph: Graph, asked: Question, settings: dict[str, Any]) -> None:
        self.blocks: "queue.Queue[Any]" = queue.Queue(2)
        self.left = False
        self.ctx = c_void_p()
        self.graph = graph  # must outlive the run
        self.asked = asked
        self.settings = settings
        check(lib.tw_context_create(byref(self.ctx)), self.ctx)
        self.thread = threading.Thread(target=self._run, name="tilewright rows", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        sink = RowSink(self._take)
        try:
            with Settings(self.ctx, **self.settings):
                run(self.ctx, self.graph._handle, self.asked.options, [sink.struct])
            self.blocks.put(None)
        except BaseException as error:
            if not self.left:
                self.blocks.put(sink.raised or error)

    def _take(self, first: int, block: np.ndarray) -> None:
        if self.left:
            raise StopIteration
        self.blocks.put((first, block.copy()))

    def leave(self) -> None:
        self.left = True
        lib.tw_cancel(self.ctx)
        while self.thread.is_alive():
            try:
                self.blocks.get(timeout=0.01)
            except queue.Empty:
                pass
        lib.tw_context_destroy(self.ctx)


def apsp_rows(
    graph: GraphLike,
    *,
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    dtype: Any = np.float64,
    method: str = "auto",
    order: OrderOption = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of :func:`apsp` in order, as pairs of the first row's number and a block of rows, so
    that a matrix larger than memory is a loop. The next block is computed meanwhile.

    >>> ring = np.roll(np.eye(5), 1, axis=1)
    >>> sum(block.sum() for first, block in apsp_rows(ring))
    np.float64(50.0)
    """
    graph = as_graph(graph, **kind)
    asked = Question(graph, sources, targets, cutoff, dtype, method, order)
    settings = {"device": device, "memory": memory, "threads": threads, "progress": progress}
    return _blocks(graph, asked, settings)


def _blocks(
    graph: Graph, asked: Question, settings: dict[str, Any]
) -> Iterator[tuple[int, np.ndarray]]:
    rows = _Rows(graph, asked, settings)
    try:
        while True:
            block = rows.blocks.get()
            if block is None:
                return
            if isinstance(block, BaseException):
                raise block
            yield block
    finally:
        rows.leave()


class Summary(NamedTuple):
    """What the distances between distinct vertices amount to. ``eccentricity``, ``closeness``, ``sum``
    (of distances) and ``reached`` (vertices) have an element for each row, and so has ``harmonic``, the
    sum of inverse distances, or it is None unless asked for; ``histogram`` is (counts, edges), or None
    unless bins were asked for."""

    vertices: int
    reachable: int
    unreachable: int
    diameter: float
    diameter_pair: tuple[int, int]
    radius: float
    center: int
    mean: float
    minimum: float
    eccentricity: np.ndarray
    closeness: np.ndarray
    histogram: Optional[tuple[np.ndarray, np.ndarray]]
    sum: np.ndarray
    reached: np.ndarray
    harmonic: Optional[np.ndarray]

    def __repr__(self) -> str:
        pairs = f"{self.reachable} of {self.reachable + self.unreachable} pairs reachable"
        return (
            f"<tilewright.Summary: {self.vertices} vertices, {pairs}, diameter {self.diameter:g}, "
            f"radius {self.radius:g}, mean {self.mean:g}>"
        )


def _array_at(address: Any, count: int, dtype: Any) -> np.ndarray:
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(address, size) if count else b"", dtype).copy()


def read_summary(handle: c_void_p, bins: int) -> Summary:
    info = _abi.ApspSummaryInfo()
    lib.tw_apsp_summary_describe(handle, byref(info))
    harmonic = lib.tw_apsp_summary_harmonic(handle)
    histogram = None
    if bins:
        edges, counts = c_void_p(), c_void_p()
        used = lib.tw_apsp_summary_histogram(handle, byref(edges), byref(counts))
        histogram = (
            _array_at(counts.value, used, np.int64),
            _array_at(edges.value, used + 1 if used else 0, np.float64),
        )
    return Summary(
        info.cols,
        info.reachable,
        info.unreachable,
        info.diameter,
        (info.diameter_from, info.diameter_to),
        info.radius,
        info.center,
        info.mean,
        info.minimum,
        _array_at(lib.tw_apsp_summary_eccentricity(handle), info.rows, np.float64),
        _array_at(lib.tw_apsp_summary_closeness(handle), info.rows, np.float64),
        histogram,
        _array_at(lib.tw_apsp_summary_sum(handle), info.rows, np.float64),
        _array_at(lib.tw_apsp_summary_reached(handle), info.rows, np.int64),
        None if harmonic is None else _array_at(harmonic, info.rows, np.float64),
    )


def summarise(
    ctx: c_void_p,
    graph: c_void_p,
    options: _abi.ApspOptions,
    bins: int = 0,
    closeness: int = 0,
    harmonic: bool = False,
) -> Summary:
    """The summary of a run with these options, on a context that is set up."""
    options.summary_only = int(bins == 0 and not harmonic)
    handle = c_void_p()
    sink = _abi.Sink()
    check(
        lib.tw_apsp_summary_create(ctx, byref(handle), bins, options.sources, options.targets), ctx
    )
    try:
        check(lib.tw_apsp_summary_set_closeness(ctx, handle, closeness), ctx)
        check(lib.tw_apsp_summary_set_harmonic(ctx, handle, harmonic), ctx)
        check(lib.tw_apsp_summary_sink(handle, byref(sink)), ctx)
        run(ctx, graph, options, [sink])
        return read_summary(handle, bins)
    finally:
        lib.tw_sink_destroy(byref(sink))
        lib.tw_apsp_summary_destroy(handle)


def summary(
    graph: GraphLike,
    *,
    bins: int = 0,
    harmonic: bool = False,
    closeness: str = "networkx",
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    method: str = "auto",
    order: OrderOption = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> Summary:
    """Eccentricities, closeness, sums, diameter, radius, mean, with ``harmonic`` sums of inverse
    distances and, in ``bins``, a histogram of all distances, without a matrix of them.

    >>> summary(np.roll(np.eye(6), 1, axis=1), directed=False)
    <tilewright.Summary: 6 vertices, 30 of 30 pairs reachable, diameter 3, radius 3, mean 1.8>
    """
    if closeness not in _abi.CLOSENESS:
        raise ValueError(f"unknown closeness '{closeness}'; use networkx or igraph")
    bins = c_whole("bins", bins)
    graph = as_graph(graph, **kind)
    asked = Question(graph, sources, targets, cutoff, np.float64, method, order)
    asked.options.type = _abi.AUTO
    mine = session()

    def work(ctx: c_void_p) -> Summary:
        return summarise(
            ctx, graph._handle, asked.options, bins, _abi.CLOSENESS[closeness], harmonic
        )

    return _answer(mine, graph, asked, (device, memory, threads, progress), work)


class Nearest(NamedTuple):
    """The nearest (or farthest) vertices of each row and their distances, both with as many columns as
    were asked for, or as there are targets if those are fewer; −9999 and infinity where fewer are
    reached."""

    vertices: np.ndarray
    distances: np.ndarray


def _collect_nearest(
    ctx: c_void_p, graph: c_void_p, options: _abi.ApspOptions, rows: int, k: int, farthest: bool
) -> Nearest:
    handle = c_void_p()
    sink = _abi.Sink()
    how = _abi.ApspNearestOptions()
    how.count, how.farthest = k, farthest
    how.sources, how.targets = options.sources, options.targets
    check(lib.tw_apsp_nearest_create(ctx, byref(handle), byref(how)), ctx)
    try:
        check(lib.tw_apsp_nearest_sink(handle, byref(sink)), ctx)
        run(ctx, graph, options, [sink])
        vertices = _array_at(lib.tw_apsp_nearest_vertices(handle), rows * k, np.int32)
        distances = _array_at(lib.tw_apsp_nearest_distances(handle), rows * k, np.float64)
        return Nearest(vertices.reshape(rows, k), distances.reshape(rows, k))
    finally:
        lib.tw_sink_destroy(byref(sink))
        lib.tw_apsp_nearest_destroy(handle)


def nearest(
    graph: GraphLike,
    k: int = 10,
    *,
    farthest: bool = False,
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    method: str = "auto",
    order: OrderOption = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> Nearest:
    """The ``k`` nearest vertices of every vertex, or the farthest, by distance and, where those are
    equal, by number; without a matrix.

    >>> nearest(np.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]]), 2).vertices
    array([[    1,     2],
           [    2, -9999],
           [-9999, -9999]], dtype=int32)
    """
    k = operator.index(k)
    if not 1 <= k < 2**31:
        raise ValueError(f"k must be from 1 to {2**31 - 1}, not {k}")
    graph = as_graph(graph, **kind)
    asked = Question(graph, sources, targets, cutoff, np.float64, method, order)
    asked.options.type = _abi.AUTO
    rows, cols = asked.shape
    k = min(k, max(cols, 1))
    mine = session()

    def work(ctx: c_void_p) -> Nearest:
        return _collect_nearest(ctx, graph._handle, asked.options, rows, k, farthest)

    return _answer(mine, graph, asked, (device, memory, threads, progress), work)


class Path(NamedTuple):
    """A shortest path: its vertices from the source to the target, and its length. Without one there
    are no vertices and the length is infinite."""

    vertices: list[Any]
    distance: float


def path(
    graph: GraphLike,
    source: Any,
    target: Any,
    *,
    distances: Optional[np.ndarray] = None,
    **kind: Any,
) -> Path:
    """One shortest path. ``distances``, the matrix of all pairs, saves the search.

    >>> path(np.array([[0, 1, 9], [0, 0, 2], [0, 0, 0]]), 0, 2)
    Path(vertices=[0, 1, 2], distance=3.0)
    """
    graph = as_graph(graph, **kind)
    ends = numbers(graph, [source, target], "source and target")
    assert ends is not None
    known = None
    if distances is not None:
        known = view(np.ascontiguousarray(distances))
    mine = session()

    def work() -> Path:
        ctx = mine.large
        handle = c_void_p()
        info = _abi.ApspPathInfo()
        check(
            lib.tw_apsp_path_create(
                ctx,
                byref(handle),
                graph._handle,
                None if known is None else byref(known),
                int(ends[0]),
                int(ends[1]),
            ),
            ctx,
        )
        lib.tw_apsp_path_describe(handle, byref(info))
        vertices = info.vertices[: info.count] if info.count else []
        found = Path(vertices, info.distance)
        lib.tw_apsp_path_destroy(handle)
        return found

    found = mine.call(work)
    if graph.nodes is not None:
        found = Path([graph.nodes[v] for v in found.vertices], found.distance)
    return found


class Plan:
    """What :func:`apsp` would do for a graph: ``method``, ``dtype``, ``seconds`` (estimated), ``memory``
    in bytes, ``device``, ``order`` (of a sweep: made, cached or given), ``threads`` (that the run will
    use), and :meth:`explain`."""

    def __init__(self, info: _abi.ApspPlanInfo, text: str) -> None:
        self.method = _METHOD_NAMES.get(info.method, str(info.method))
        self.dtype = DTYPES[info.type]
        self.seconds: float = info.seconds
        self.memory: int = info.memory
        self.device: str = info.device.decode()
        self.order: str = info.order.decode()
        self.threads: int = info.threads
        self._text = text

    def explain(self) -> str:
        """The candidates with their estimated seconds and bytes, the choice and the reason."""
        return self._text

    def __repr__(self) -> str:
        return (
            f"<tilewright.Plan: {self.method} on {self.device}, {self.dtype}, about "
            f"{self.seconds:.3g} s and {self.memory / 2**20:.3g} MB>"
        )


def make_plan(
    graph: GraphLike,
    *,
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    dtype: Any = np.float64,
    method: str = "auto",
    order: OrderOption = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    **kind: Any,
) -> Plan:
    """How :func:`apsp` would go about it, and why. Refuses, as apsp does, what cannot fit.

    >>> make_plan(np.ones((4, 4)), method="dijkstra").method
    'dijkstra'
    """
    graph = as_graph(graph, **kind)
    asked = Question(graph, sources, targets, cutoff, dtype, method, order)
    mine = session()

    def work() -> Plan:
        with Settings(mine.large, device, memory, threads):
            handle = plan(mine.large, graph._handle, asked.options)
            info = _abi.ApspPlanInfo()
            lib.tw_apsp_plan_describe(handle, byref(info))
            made = Plan(info, lib.tw_apsp_plan_explain(handle).decode())
            lib.tw_apsp_plan_destroy(handle)
            return made

    return mine.call(work)
