"""Shortest paths between all pairs on the processes of an mpi4py communicator.

    from mpi4py import MPI
    import tilewright.mpi

    distances = tilewright.mpi.apsp(MPI.COMM_WORLD, "big.bin", "distances.npy")

All processes call with the same arguments, as with any collective operation, and each gets the same
answer or the same exception. A graph is a file, of which each process reads its part, or what each
of them has of it. This module needs mpi4py and ``libtilewright-mpi``, built with the same MPI:
``$TW_MPI_LIBRARY``, else the one beside libtilewright, else the system's.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
from ctypes import byref, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Optional, TypeVar

import numpy as np
from mpi4py import MPI

from . import _abi
from ._abi import lib
from ._apsp import Memory, Summary, read_summary
from ._graph import GraphLike, as_graph
from ._question import Question
from ._session import ProgressOption, Settings, c_whole, check, file_name, session

__all__ = ["apsp", "summary"]

T = TypeVar("T")


class ApspOutput(_abi.Sized):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("format", c_char_p),
        ("verify", c_int64),
        ("seed", c_uint64),
        ("summary", c_void_p),
        ("nearest", c_void_p),
        ("farthest", c_void_p),
        ("sink", c_void_p),
        ("predecessors", c_char_p),
        ("predecessor_sink", c_void_p),
    ]
    defaults = {"verify": -1, "seed": 1}


STRUCTS = {"tw_mpi_apsp_output": ApspOutput}

_COMM: Any = c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_void_p) else ctypes.c_int
_P = c_void_p
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tw_mpi_agree": (c_int32, [_P, _COMM, c_int32]),
    "tw_mpi_graph_read": (c_int32, [_P, _P, _COMM, c_char_p, _P]),
    "tw_mpi_graph_from_parts": (c_int32, [_P, _P, _COMM, _P]),
    "tw_mpi_graph_describe": (c_int32, [_P, _P]),
    "tw_mpi_graph_destroy": (None, [_P]),
    "tw_mpi_apsp": (c_int32, [_P, _P, _P, _P, _P]),
}


def _address(function: Any) -> Optional[int]:
    return ctypes.cast(function, c_void_p).value


def _open() -> ctypes.CDLL:
    name = f"libtilewright-mpi.so.{_abi.VERSION}"
    beside = os.path.join(os.path.dirname(os.path.abspath(lib._name)), name)
    path = os.environ.get("TW_MPI_LIBRARY") or (beside if os.path.exists(beside) else name)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"libtilewright-mpi cannot be loaded: {error}. Build it with the MPI of mpi4py, or set "
            "TW_MPI_LIBRARY to its path."
        ) from None


def _load() -> ctypes.CDLL:
    library = _open()
    _abi.declare(library, FUNCTIONS)
    if _address(library.tw_version) != _address(lib.tw_version):
        raise ImportError(
            f"libtilewright-mpi calls another libtilewright than '{lib._name}', which this package "
            "has loaded; set TW_LIBRARY to the one beside it."
        )
    text, length = ctypes.create_string_buffer(MPI.MAX_LIBRARY_VERSION_STRING), ctypes.c_int()
    library.MPI_Get_library_version(text, byref(length))
    theirs = MPI.Get_library_version().rstrip("\0\n")
    ours = text.value.decode().rstrip("\n")
    if ours != theirs:
        raise ImportError(f"libtilewright-mpi is built with {ours}, and mpi4py with {theirs}.")
    return library


_mpi = _load()


class _Vertices:
    """As much of a graph as a question asks for."""

    nodes = None

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count


class _Call:
    """What one process does in a call: its part of the graph, the question, and the answer."""

    def __init__(self, comm: Any, graph: GraphLike, kind: dict[str, Any]) -> None:
        if not isinstance(comm, MPI.Comm):
            raise TypeError(f"comm must be an mpi4py communicator, not {type(comm).__name__}")
        self.processes = comm
        self.comm = _COMM(MPI._handleof(comm))
        self.graph = graph
        self.kind = kind
        self.mine = session()
        self.handle = c_void_p()

    def agree(self, work: Callable[[], T]) -> T:
        """What one process can do wrong by itself: the others raise the sentence of its exception."""
        raised: Optional[BaseException] = None
        ctx, result = self.mine.large, None
        try:
            result = work()
        except Exception as error:
            raised = error
            lib.tw_set_error(ctx, str(error).encode(errors="backslashreplace"))
        status = _mpi.tw_mpi_agree(ctx, self.comm, _abi.ERR_ARGUMENT if raised else _abi.OK)
        if raised is not None:
            raise raised
        check(status, ctx)
        return result  # type: ignore[return-value]

    def compare(self, tell: Callable[[], dict[str, Any]]) -> None:
        """What all processes must be told alike, and libtilewright-mpi does not see."""
        told = self.agree(tell)
        first = self.processes.bcast(told, 0)

        def same() -> None:
            for name, mine in told.items():
                if name not in first or first[name] != mine:
                    raise ValueError(
                        f"rank {self.processes.Get_rank()} was given {name} {mine} and rank 0 "
                        f"{first.get(name, 'not')}; give all ranks the same"
                    )

        self.agree(same)

    def _is_file(self) -> bool:
        return isinstance(self.graph, (str, os.PathLike))

    def _part(self) -> Any:
        return None if self.graph is None else as_graph(self.graph, **self.kind)

    def _reading(self) -> tuple[bytes, _abi.ReadOptions]:
        options = _abi.ReadOptions()
        kind = dict(self.kind)
        directed = kind.pop("directed", None)
        options.unweighted = int(bool(kind.pop("unweighted", False)))
        if kind:
            raise TypeError(f"{', '.join(kind)}: not available when the graph is a file")
        if directed is not None:
            options.directed = int(bool(directed))
        path: Any = self.graph
        return file_name(path), options

    def open(self) -> None:
        ctx = self.mine.large
        if self._is_file():
            path, options = self.agree(self._reading)
            check(
                _mpi.tw_mpi_graph_read(ctx, byref(self.handle), self.comm, path, byref(options)),
                ctx,
            )
            return
        self.part = self.agree(self._part)  # must outlive the graph
        part = None if self.part is None else self.part._handle
        check(_mpi.tw_mpi_graph_from_parts(ctx, byref(self.handle), self.comm, part), ctx)

    def vertices(self) -> Any:
        info = _abi.GraphInfo()
        check(_mpi.tw_mpi_graph_describe(self.handle, byref(info)), self.mine.large)
        return _Vertices(info.vertices)

    def run(
        self, settings: tuple[Any, ...], tell: Callable[[], dict[str, Any]], work: Callable[[], T]
    ) -> T:
        """``work`` with the graph open, and ``tell`` for the comparison. MPI may be one that only its own
        thread may call: then nothing can interrupt it."""

        def tell_all() -> dict[str, Any]:
            return {**tell(), "the graph as": "a file" if self._is_file() else "a part"}

        def settled() -> T:
            try:
                with contextlib.ExitStack() as entered:
                    self.agree(
                        lambda: entered.enter_context(Settings(self.mine.large, *settings))
                    )
                    self.compare(tell_all)
                    self.open()
                    return work()
            finally:
                _mpi.tw_mpi_graph_destroy(self.handle)

        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            return settled()
        return self.mine.call(settled)


def apsp(
    comm: Any,
    graph: GraphLike,
    out: Any,
    *,
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    dtype: Any = np.float64,
    method: str = "auto",
    checkpoint: Any = None,
    every: float = 600,
    verify: Optional[int] = None,
    device: str = "cpu",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> np.ndarray:
    """The distances between all vertices, or from ``sources`` to ``targets``, into the file ``out`` in
    NumPy's format, which all processes must see. It appears whole or not at all; the result is a
    read-only memmap of it, on every process.

    ``graph`` is the name of a file, the same on all processes, or what this process has of the graph,
    in whatever way :class:`tilewright.Graph` takes it: the arcs of all are united, and None is none.
    ``kind`` are its options. With ``verify`` so many rows are compared with another search, 0 for all of
    them; VerifyError if one is wrong. ``device`` is "cpu", or "cuda", of whose GPUs the processes of a
    machine take one each, or "cuda:0" for all of them. Other options are those of
    :func:`tilewright.apsp`; ``memory`` and ``threads`` are of each process.
    """
    call = _Call(comm, graph, kind)

    def ask() -> tuple[Question, ApspOutput]:
        asked = Question(call.vertices(), sources, targets, cutoff, dtype, method)
        asked.keep(checkpoint, every)
        output = ApspOutput(path=file_name(out), format=b"npy")
        output.verify = -1 if verify is None else c_whole("verify", verify, 64)
        return asked, output

    def work() -> tuple[int, ...]:
        ctx, (asked, output) = call.mine.large, call.agree(ask)
        check(_mpi.tw_mpi_apsp(ctx, call.handle, byref(asked.options), byref(output), None), ctx)
        return asked.shape

    shape = call.run((device, memory, threads, progress), lambda: {"the call": "apsp"}, work)
    return np.load(out, mmap_mode=None if 0 in shape else "r")  # nothing cannot be mapped


def summary(
    comm: Any,
    graph: GraphLike,
    *,
    bins: int = 0,
    harmonic: bool = False,
    closeness: str = "networkx",
    sources: Any = None,
    targets: Any = None,
    cutoff: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> Summary:
    """:func:`tilewright.summary` on the processes of ``comm``, the same on each of them; no process holds
    a matrix."""
    call = _Call(comm, graph, kind)

    def tell() -> dict[str, Any]:
        return {
            "the call": "summary",
            "bins": c_whole("bins", bins),
            "harmonic": bool(harmonic),
            "closeness": str(closeness),
        }

    def ask() -> Question:
        if closeness not in _abi.CLOSENESS:
            raise ValueError(f"unknown closeness '{closeness}'; use networkx or igraph")
        asked = Question(call.vertices(), sources, targets, cutoff, np.float64, method)
        asked.options.type = _abi.AUTO
        return asked

    def make(options: _abi.ApspOptions, handle: c_void_p) -> None:
        ctx = call.mine.large
        status = lib.tw_apsp_summary_create(
            ctx, byref(handle), operator.index(bins), options.sources, options.targets
        )
        check(status, ctx)
        check(lib.tw_apsp_summary_set_closeness(ctx, handle, _abi.CLOSENESS[closeness]), ctx)
        check(lib.tw_apsp_summary_set_harmonic(ctx, handle, harmonic), ctx)

    def work() -> Summary:
        ctx, handle = call.mine.large, c_void_p()
        asked = call.agree(ask)
        try:
            call.agree(lambda: make(asked.options, handle))
            output = ApspOutput(summary=handle)
            status = _mpi.tw_mpi_apsp(
                ctx, call.handle, byref(asked.options), byref(output), None
            )
            check(status, ctx)
            return read_summary(handle, bins)
        finally:
            lib.tw_apsp_summary_destroy(handle)

    return call.run((device, memory, threads, progress), tell, work)
