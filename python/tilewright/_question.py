"""What is asked of shortest paths: vertices by number or name, and the options of a run with the
arrays that they point to."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _abi
from ._graph import Graph
from ._order import OrderOption, use_order
from ._session import file_name

TYPES = {
    np.dtype(np.uint8): _abi.U8,
    np.dtype(np.uint16): _abi.U16,
    np.dtype(np.int32): _abi.I32,
    np.dtype(np.float32): _abi.F32,
    np.dtype(np.float64): _abi.F64,
}


def numbers(graph: Graph, vertices: Any, name: str) -> Optional[np.ndarray]:
    """Vertices, by number or, of a graph that has names, by name."""
    if vertices is None:
        return None
    if graph.nodes is not None:
        number = {node: i for i, node in enumerate(graph.nodes)}
        try:
            return np.array([number[v] for v in vertices], dtype=np.int32)
        except KeyError as missing:
            raise ValueError(f"{name}: the graph has no node {missing}") from None
    found = np.asarray(vertices)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a list of vertex numbers")
    if found.size and (found.min() < 0 or found.max() >= len(graph)):
        if len(graph) == 0:
            raise ValueError(f"{name}: the graph has no vertices")
        raise ValueError(f"{name}: vertices are numbered 0 ... {len(graph) - 1}")
    return np.ascontiguousarray(found, dtype=np.int32)


class Question:
    """The options of a run, with the arrays that they point to."""

    def __init__(
        self,
        graph: Graph,
        sources: Any,
        targets: Any,
        cutoff: Optional[float],
        dtype: Any,
        method: str,
        order: OrderOption = None,
    ) -> None:
        if method not in _abi.METHODS:
            raise ValueError(f"unknown method '{method}'; use {', '.join(_abi.METHODS)}")
        if np.dtype(dtype) not in TYPES:
            raise ValueError(
                f"distances of {np.dtype(dtype)} are not supported; use "
                + ", ".join(str(known) for known in TYPES)
            )
        if cutoff is not None and not cutoff >= 0:
            raise ValueError("cutoff must be >= 0")
        self.sources = numbers(graph, sources, "sources")
        self.targets = numbers(graph, targets, "targets")
        self.options = _abi.ApspOptions(method=_abi.METHODS[method], type=TYPES[np.dtype(dtype)])
        self.options.cutoff = -1.0 if cutoff is None or cutoff == np.inf else cutoff
        self.order = order  # must outlive the plan
        use_order(self.options, order)
        rows = cols = len(graph)
        if self.sources is not None:
            rows = len(self.sources)
            self.options.sources = self.sources.ctypes.data
            self.options.source_count = rows
        if self.targets is not None:
            cols = len(self.targets)
            self.options.targets = self.targets.ctypes.data
            self.options.target_count = cols
        self.shape = (rows, cols)

    def keep(self, checkpoint: Any, every: float) -> None:
        """Checkpoints of a closure in that file, so many seconds apart, about; None: none."""
        if checkpoint is None:
            return
        if not every >= 0:
            raise ValueError(f"every={every!r}: use a number of seconds")
        self.options.checkpoint = file_name(checkpoint)
        self.options.checkpoint_every = every
