"""Reachability: who can reach whom."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Callable, TypeVar

import numpy as np

from . import _abi
from ._abi import lib
from ._apsp import Memory, result
from ._graph import Graph, GraphLike, as_graph
from ._question import numbers
from ._session import ProgressOption, Settings, check, session

T = TypeVar("T")


class _Question:
    """The options of a plan, with the array that they point to."""

    def __init__(self, graph: Graph, sources: Any) -> None:
        self.graph = graph
        self.sources = numbers(graph, sources, "sources")
        self.options = _abi.ReachOptions()
        self.rows = len(graph)
        if self.sources is not None:
            self.rows = len(self.sources)
            self.options.sources = self.sources.ctypes.data
            self.options.source_count = self.rows

    def answer(self, settings: tuple[Any, ...], work: Callable[[c_void_p, c_void_p], T]) -> T:
        """Do ``work`` with a context and a plan."""
        mine = session()

        def settled() -> T:
            plan = c_void_p()
            with Settings(mine.large, *settings):
                create = lib.tw_reach_plan_create
                check(
                    create(mine.large, byref(plan), self.graph._handle, byref(self.options)),
                    mine.large,
                )
                try:
                    return work(mine.large, plan)
                finally:
                    lib.tw_reach_plan_destroy(plan)

        return mine.call(settled)


def reach(
    graph: GraphLike,
    *,
    sources: Any = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> np.ndarray:
    """The transitive closure: element (i, j) is True where a walk leads from i to j. A vertex reaches
    itself. ``sources`` are the rows, all vertices by default.

    >>> reach(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    array([[ True,  True,  True],
           [False,  True,  True],
           [False, False,  True]])
    """
    graph = as_graph(graph, **kind)
    asked = _Question(graph, sources)
    ways = "reach_counts(), which needs none, or fewer sources"
    out = result((asked.rows, len(graph)), np.uint8, ways)

    def work(ctx: c_void_p, plan: c_void_p) -> np.ndarray:
        view = _abi.Matrix(out.ctypes.data, *out.shape, out.shape[1], _abi.U8)
        sink = _abi.Sink()
        try:
            check(lib.tw_sink_to_matrix(ctx, byref(sink), byref(view)), ctx)
            check(lib.tw_reach_plan_run(ctx, plan, byref(sink), 1, None, None), ctx)
        finally:
            lib.tw_sink_destroy(byref(sink))
        return out.view(np.bool_)

    return asked.answer((device, memory, threads, progress), work)


def reach_counts(
    graph: GraphLike,
    *,
    sources: Any = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    **kind: Any,
) -> np.ndarray:
    """How many vertices each vertex reaches, itself included, without a matrix.

    >>> reach_counts(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    array([3, 2, 1])
    """
    graph = as_graph(graph, **kind)
    asked = _Question(graph, sources)
    counts = np.empty(asked.rows, np.int64)

    def work(ctx: c_void_p, plan: c_void_p) -> np.ndarray:
        check(lib.tw_reach_plan_run(ctx, plan, None, 0, counts.ctypes.data, None), ctx)
        return counts

    return asked.answer((device, memory, threads, progress), work)
