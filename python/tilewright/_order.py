"""Orders of elimination that outlive a call: for graphs whose weights change and whose edges stay."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Union

from . import _abi
from ._abi import lib
from ._graph import GraphLike, as_graph
from ._session import check, session


class Order:
    """The order in which a sweep eliminates the vertices of a graph, made once and used often.

    It depends on which vertices are joined and on nothing else: graphs that differ in their weights,
    or in the directions of arcs, can share one. For a road network or a mesh making it takes about as
    long as the distances of all pairs themselves. ``graph`` and ``kind`` are those of :class:`Graph`;
    the order needs the graph no more once it is made. Pass it as ``order=`` to :func:`apsp`,
    :func:`apsp_rows`, :func:`summary`, :func:`nearest` or :func:`plan`; with a graph that has other
    edges they raise ArgumentError. Methods other than the sweep have no use for it.

    ``order="cache"`` instead keeps orders in files of the user's cache folder, from run to run.

    >>> import numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1)
    >>> order = Order(ring)
    >>> from tilewright import apsp
    >>> apsp(3 * ring, order=order, method="sweep")[0]
    array([ 0.,  3.,  6.,  9., 12., 15.])
    """

    def __init__(self, graph: GraphLike, **kind: Any) -> None:
        self._handle = c_void_p()
        graph = as_graph(graph, **kind)
        self._vertices = len(graph)
        mine = session()

        def work() -> None:
            check(
                lib.tw_apsp_order_create(mine.large, byref(self._handle), graph._handle), mine.large
            )

        mine.call(work)

    def __del__(self, destroy: Any = lib.tw_apsp_order_destroy) -> None:
        destroy(getattr(self, "_handle", None))  # at the end of Python `lib` may be gone

    def __len__(self) -> int:
        return self._vertices

    def __repr__(self) -> str:
        return f"<tilewright.Order: {self._vertices} vertices>"

    def __reduce__(self) -> Any:
        raise TypeError("an Order cannot be pickled: make it anew, or use order='cache'")


OrderOption = Union[Order, str, None]


def use_order(options: _abi.ApspOptions, order: OrderOption) -> None:
    """Let a run take its order from there. The caller keeps ``order`` alive."""
    if isinstance(order, Order):
        options.order = order._handle
    elif order == "cache":
        options.order_cache = 1
    elif order is not None:
        raise TypeError(f"order must be an Order, 'cache' or None, not {order!r}")
