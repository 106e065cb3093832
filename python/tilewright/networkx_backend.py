"""The NetworkX backend: everything that is distances between many pairs.

``networkx.config.backend_priority = ["tilewright"]``, or ``backend="tilewright"`` in a call, is all
that a user does. NetworkX hands over a graph that ``convert_from_nx`` made, and keeps it until the
graph changes. Results are what NetworkX gives: Python's numbers, whole where the weights are, keyed by
node. What is not for us (weights that are functions or no numbers, arguments that carry results of
other calls) raises NotImplementedError, upon which NetworkX does it itself; ``can_run`` says so before
a graph is converted, as far as the arguments alone tell.
"""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, Callable, Iterator, Optional

import networkx as nx
import numpy as np
from _tilewright_networkx import FUNCTIONS

from . import _abi, _apsp, _errors
from ._graph import Arcs, arcs_of_rows, rows_of_networkx
from ._session import session

_CHUNK = 1 << 26  # bytes of distances at a time, where results are dictionaries
_WORTH_IT = 100  # nodes from which on the conversion pays


class TilewrightGraph:
    """A NetworkX graph on its way through tilewright: the graph, and its compressed rows for each
    weight that was asked for."""

    __networkx_backend__ = "tilewright"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.nodes = list(graph)
        self._rows: dict[Any, tuple[Any, Any, Any]] = {}

    def is_directed(self) -> bool:
        return self.graph.is_directed()

    def is_multigraph(self) -> bool:
        return self.graph.is_multigraph()

    def __len__(self) -> int:
        return len(self.nodes)

    def rows(self, weight: Optional[str]) -> tuple[Any, Any, Any]:
        if weight not in self._rows:
            self._rows[weight] = rows_of_networkx(self.graph, weight)
        return self._rows[weight]

    def numbers(self) -> dict[Any, int]:
        return {node: i for i, node in enumerate(self.nodes)}


def _transposed(indptr: Any, indices: Any, data: Any) -> tuple[Any, Any, Any]:
    """The compressed rows of the reversed graph."""
    n = len(indptr) - 1
    order = np.argsort(indices, kind="stable")
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    turned = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(indices, minlength=n), out=turned[1:])
    return turned, sources[order], None if data is None else data[order]


class _Distances:
    """The distances of a graph by a weight, and how NetworkX wants its numbers."""

    def __init__(
        self,
        graph: TilewrightGraph,
        weight: Any,
        negative: bool = False,
        reverse: bool = False,
    ) -> None:
        if callable(weight):
            raise NotImplementedError("weights that are a function")
        self.graph = graph
        self.n = len(graph)
        indptr, indices, data = graph.rows(weight)
        if data is not None:
            if data.dtype.kind not in "biuf":
                raise NotImplementedError("weights that are not real numbers")
            if data.size and (np.isnan(data.max()) or np.isinf(np.abs(data).max())):
                raise NotImplementedError("weights that are not finite")
            if data.size and data.min() < 0 and not negative:
                raise NotImplementedError("negative weights")
        self.whole = data is None or data.dtype.kind in "biu"
        if reverse and graph.is_directed():
            indptr, indices, data = _transposed(indptr, indices, data)
        self.arcs: Arcs = arcs_of_rows(indptr, indices, data, self.n, False)

    def ask(self, question: Callable[[c_void_p, c_void_p, int], Any], rows: int = 0) -> Any:
        """Call ``question`` with a context, the library's graph and a method. What the library cannot
        do NetworkX does, negative cycles in its own way included."""
        mine = session()
        ctx, method = _apsp.context_for(mine, self.n, self.arcs.arcs)

        def work() -> Any:
            handle = self.arcs.create(ctx)
            try:
                return question(ctx, handle, method)
            finally:
                _abi.lib.tw_graph_destroy(handle)

        try:
            return work() if ctx is mine.small else mine.call(work)
        except (_errors.NegativeCycleError, _errors.RangeError) as error:
            raise NotImplementedError(str(error)) from None

    def matrix(
        self,
        sources: Optional[np.ndarray] = None,
        cutoff: float = -1.0,
        predecessors: bool = False,
    ) -> tuple[np.ndarray, Optional[np.ndarray]]:
        rows = self.n if sources is None else len(sources)
        ways = "tilewright's " + _apsp.WAYS + "or apsp() with a narrower dtype"
        out = _apsp.result((rows, self.n), np.float64, ways)
        before = None
        if predecessors:
            before = _apsp.result((rows, self.n), np.int32, ways, out.nbytes)
        self.ask(
            lambda ctx, handle, method: _apsp.distances(
                ctx, handle, method, sources, cutoff, out, before
            )
        )
        return out, before

    def summary(self, sources: Optional[np.ndarray] = None, closeness: int = 0) -> _apsp.Summary:
        options = _abi.ApspOptions()
        if sources is not None:
            options.sources = sources.ctypes.data
            options.source_count = len(sources)

        def question(ctx: c_void_p, handle: c_void_p, method: int) -> _apsp.Summary:
            options.method = method
            return _apsp.summarise(ctx, handle, options, 0, closeness)

        return self.ask(question)

    def each_block(
        self,
        function: Callable[[int, np.ndarray], None],
        sources: Optional[np.ndarray] = None,
    ) -> None:
        """Blocks of rows of distances, in f64, handed to a function as they come."""
        options = _abi.ApspOptions(type=_abi.F64)
        if sources is not None:
            options.sources = sources.ctypes.data
            options.source_count = len(sources)

        def question(ctx: c_void_p, handle: c_void_p, method: int) -> None:
            options.method = method
            sink = _apsp.RowSink(function)
            try:
                _apsp.run(ctx, handle, options, [sink.struct])
            except _errors.CancelledError:
                raise sink.raised or KeyboardInterrupt from None

        self.ask(question)

    def number(self, value: float) -> Any:
        """One distance as NetworkX would have it."""
        return int(value) if self.whole and np.isfinite(value) else float(value)

    def values(self, row: np.ndarray) -> list[Any]:
        return row.astype(np.int64).tolist() if self.whole else row.tolist()


def _sources(graph: TilewrightGraph, nodes: list[Any]) -> np.ndarray:
    number = graph.numbers()
    return np.array([number[node] for node in nodes], dtype=np.int32)


def _cutoff(cutoff: Any) -> float:
    if cutoff is None:
        return -1.0
    if not cutoff >= 0:
        raise NotImplementedError("a negative cutoff")
    return -1.0 if cutoff == float("inf") else float(cutoff)


def _chunks(
    d: _Distances, cutoff: float, predecessors: bool
) -> Iterator[tuple[int, np.ndarray, Optional[np.ndarray]]]:
    """Rows of distances and predecessors, as many at a time as _CHUNK holds. The first are there when
    this returns, so that what cannot be done is known."""
    step = max(1, _CHUNK // (8 * max(1, d.n)))
    starts = list(range(0, d.n, step)) or [0]

    def at(first: int) -> tuple[int, np.ndarray, Optional[np.ndarray]]:
        if step >= d.n:
            return (0, *d.matrix(None, cutoff, predecessors))
        chunk = np.arange(first, min(first + step, d.n), dtype=np.int32)
        return (first, *d.matrix(chunk, cutoff, predecessors))

    begun = at(starts[0])

    def rest() -> Iterator[tuple[int, np.ndarray, Optional[np.ndarray]]]:
        yield begun
        for first in starts[1:]:
            yield at(first)

    return rest()


def _ordered(row: np.ndarray) -> np.ndarray:
    """The vertices that a row reaches, nearest first, as a search would have found them."""
    reached = np.flatnonzero(np.isfinite(row))
    return reached[np.argsort(row[reached], kind="stable")]


def _lengths_of(d: _Distances, row: np.ndarray, source: int) -> dict[Any, Any]:
    order = _ordered(row)
    nodes = d.graph.nodes
    found = dict(zip([nodes[v] for v in order.tolist()], d.values(row[order])))
    if order.size and order[0] != source:  # a zero weight: the source comes first
        found = {nodes[source]: 0, **found}
    found[nodes[source]] = 0  # whole, whatever the weights are
    return found


def _paths_of(d: _Distances, row: np.ndarray, before: np.ndarray, source: int) -> dict[Any, Any]:
    nodes = d.graph.nodes
    parent = before.tolist()
    paths = {source: [nodes[source]]}
    for v in _ordered(row).tolist():
        missing = []
        while v not in paths:  # at equal distances a parent may come after its child
            missing.append(v)
            v = parent[v]
        for child in reversed(missing):
            paths[child] = paths[parent[child]] + [nodes[child]]
    return {nodes[v]: path for v, path in paths.items()}


def _each(
    d: _Distances, cutoff: Any, of_row: Callable[[np.ndarray, Any, int], Any], predecessors: bool
) -> Iterator[tuple[Any, Any]]:
    blocks = _chunks(d, _cutoff(cutoff), predecessors)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for first, found, before in blocks:
            for i, row in enumerate(found):
                tree = None if before is None else before[i]
                yield d.graph.nodes[first + i], of_row(row, tree, first + i)

    return pairs()


# ----------------------------------------------------------------------------- all pairs, as dicts


def all_pairs_shortest_path_length(G: TilewrightGraph, cutoff: Any = None) -> Any:
    d = _Distances(G, None)
    return _each(d, cutoff, lambda row, _, i: _lengths_of(d, row, i), False)


def all_pairs_shortest_path(G: TilewrightGraph, cutoff: Any = None) -> Any:
    d = _Distances(G, None)
    return _each(d, cutoff, lambda row, tree, i: _paths_of(d, row, tree, i), True)


def all_pairs_dijkstra_path_length(
    G: TilewrightGraph, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    d = _Distances(G, weight)
    return _each(d, cutoff, lambda row, _, i: _lengths_of(d, row, i), False)


def all_pairs_dijkstra_path(G: TilewrightGraph, cutoff: Any = None, weight: Any = "weight") -> Any:
    d = _Distances(G, weight)
    return _each(d, cutoff, lambda row, tree, i: _paths_of(d, row, tree, i), True)


def all_pairs_dijkstra(G: TilewrightGraph, cutoff: Any = None, weight: Any = "weight") -> Any:
    d = _Distances(G, weight)
    return _each(
        d,
        cutoff,
        lambda row, tree, i: (_lengths_of(d, row, i), _paths_of(d, row, tree, i)),
        True,
    )


def all_pairs_bellman_ford_path_length(G: TilewrightGraph, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    return _each(d, None, lambda row, _, i: _lengths_of(d, row, i), False)


def all_pairs_bellman_ford_path(G: TilewrightGraph, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    return _each(d, None, lambda row, tree, i: _paths_of(d, row, tree, i), True)


def johnson(G: TilewrightGraph, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    return dict(_each(d, None, lambda row, tree, i: _paths_of(d, row, tree, i), True))


def _whole_rows(d: _Distances, found: np.ndarray) -> dict[Any, dict[Any, Any]]:
    """Every pair, "no path" included, as NetworkX's Floyd and Warshall give it."""
    nodes = d.graph.nodes
    result = {}
    for node, row in zip(nodes, found):
        values = row.tolist()
        if d.whole:
            values = [int(value) if value != np.inf else value for value in values]
        result[node] = dict(zip(nodes, values))
        result[node][node] = 0  # whole, whatever the weights are
    return result


def floyd_warshall(G: TilewrightGraph, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    return _whole_rows(d, d.matrix()[0])


def floyd_warshall_predecessor_and_distance(G: TilewrightGraph, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    found, trees = d.matrix(predecessors=True)
    assert trees is not None
    nodes = G.nodes
    before: dict[Any, dict[Any, Any]] = {}
    for node, tree in zip(nodes, trees):
        known = np.flatnonzero(tree != _abi.NO_VERTEX)
        if known.size:
            parents = [nodes[u] for u in tree[known].tolist()]
            before[node] = dict(zip([nodes[v] for v in known.tolist()], parents))
    return before, _whole_rows(d, found)


def floyd_warshall_numpy(G: TilewrightGraph, nodelist: Any = None, weight: Any = "weight") -> Any:
    d = _Distances(G, weight, negative=True)
    if nodelist is None:
        return d.matrix()[0]
    if not (len(nodelist) == len(G) == len(set(nodelist))):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    order = _sources(G, list(nodelist))
    return d.matrix()[0][np.ix_(order, order)]


# ---------------------------------------------------------------------------- measures of distance


def _connected(d: _Distances, found: _apsp.Summary, rows: int) -> bool:
    return found.reachable == rows * (d.n - 1)


def _eccentricities(G: TilewrightGraph, weight: Any) -> tuple[_Distances, np.ndarray]:
    d = _Distances(G, weight)
    found = d.summary()
    if not _connected(d, found, d.n):
        _not_connected(G)
    if d.n == 0:
        raise NotImplementedError("a graph without nodes")
    return d, found.eccentricity


def _not_connected(G: TilewrightGraph) -> None:
    kind = "digraph is not strongly" if G.is_directed() else "graph is not"
    raise nx.NetworkXError(f"Found infinite path length because the {kind} connected")


def eccentricity(G: TilewrightGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    if sp is not None:
        raise NotImplementedError("distances that are known")
    nodes = list(G.graph.nbunch_iter(v))
    d = _Distances(G, weight)
    sources = None if len(nodes) == d.n and v is None else _sources(G, nodes)
    found = d.summary(sources)
    if not _connected(d, found, len(nodes)):
        _not_connected(G)
    result = dict(zip(nodes, d.values(found.eccentricity)))
    try:
        return result[v] if v in G.graph else result
    except TypeError:  # a list of nodes
        return result


def diameter(G: TilewrightGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    if e is not None:
        raise NotImplementedError("eccentricities that are known")
    d, far = _eccentricities(G, weight)
    return d.number(far.max())


def radius(G: TilewrightGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    if e is not None:
        raise NotImplementedError("eccentricities that are known")
    d, far = _eccentricities(G, weight)
    return d.number(far.min())


def _extreme(G: TilewrightGraph, e: Any, weight: Any, pick: Callable[[np.ndarray], Any]) -> Any:
    if e is not None:
        raise NotImplementedError("eccentricities that are known")
    d, far = _eccentricities(G, weight)
    if not d.whole:
        raise NotImplementedError("ties between sums that are rounded")
    return [G.nodes[v] for v in np.flatnonzero(far == pick(far)).tolist()]


def center(G: TilewrightGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return _extreme(G, e, weight, np.min)


def periphery(
    G: TilewrightGraph, e: Any = None, usebounds: bool = False, weight: Any = None
) -> Any:
    return _extreme(G, e, weight, np.max)


def barycenter(G: TilewrightGraph, weight: Any = None, attr: Any = None, sp: Any = None) -> Any:
    if attr is not None or sp is not None:
        raise NotImplementedError("distances that are known, or a result in the graph")
    d = _Distances(G, weight)
    if not d.whole:
        raise NotImplementedError("ties between sums that are rounded")
    totals = np.zeros(d.n)

    def add(first: int, block: np.ndarray) -> None:
        totals[first : first + len(block)] = block.sum(axis=1)

    d.each_block(add)
    if np.isinf(totals).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G.graph} is disconnected, so every induced subgraph has infinite "
            "barycentricity."
        )
    return [G.nodes[v] for v in np.flatnonzero(totals == totals.min(initial=np.inf)).tolist()]


def closeness_centrality(
    G: TilewrightGraph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> Any:
    d = _Distances(G, distance, reverse=True)
    sources = None if u is None else _sources(G, [u])
    scale = "networkx" if wf_improved else "igraph"
    close = d.summary(sources, _abi.CLOSENESS[scale]).closeness
    close = np.where(np.isfinite(close), close, 0.0).tolist()
    return close[0] if u is not None else dict(zip(G.nodes, close))


def _inverses(block: np.ndarray) -> np.ndarray:
    """1 / d for every pair that has a distance, else 0."""
    found = np.divide(1.0, block, out=np.zeros(block.shape), where=block != 0)
    return found  # of infinity it is 0


def harmonic_centrality(
    G: TilewrightGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> Any:
    graph = G.graph
    wanted = set(graph.nbunch_iter(nbunch) if nbunch is not None else G.nodes)
    starts = set(graph.nbunch_iter(sources) if sources is not None else G.nodes)
    backwards = len(wanted) < len(starts)  # fewer searches, against the arcs
    d = _Distances(G, distance, reverse=backwards)
    rows = [node for node in G.nodes if node in (wanted if backwards else starts)]
    others = wanted if not backwards else starts
    columns = np.array([node in others for node in G.nodes], dtype=bool)
    total = np.zeros(len(rows) if backwards else d.n)

    def add(first: int, block: np.ndarray) -> None:
        if backwards:
            total[first : first + len(block)] = _inverses(block)[:, columns].sum(axis=1)
        else:
            total[:] += _inverses(block).sum(axis=0)

    if rows:
        d.each_block(add, None if len(rows) == d.n else _sources(G, rows))
    if backwards:
        return dict(zip(rows, total.tolist()))
    return {node: value for node, value in zip(G.nodes, total.tolist()) if node in wanted}


def average_shortest_path_length(G: TilewrightGraph, weight: Any = None, method: Any = None) -> Any:
    known = ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy")
    if len(G) < 2 or (method is not None and method not in known):
        raise NotImplementedError("no distances")
    plain = method == "unweighted" or (method is None and weight is None)
    d = _Distances(G, None if plain else weight)
    found = d.summary()
    if not _connected(d, found, d.n):
        kind = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return found.mean


def wiener_index(G: TilewrightGraph, weight: Any = None) -> Any:
    if len(G) == 0:
        raise NotImplementedError("a graph without nodes")
    d = _Distances(G, weight)
    found = d.summary()
    if not _connected(d, found, d.n):
        return float("inf")
    total = found.mean * found.reachable
    if d.whole:
        total = round(total)
    return total if G.is_directed() else total / 2


def _efficiency(d: _Distances) -> float:
    if d.n < 2:
        return 0
    total = [0.0]

    def add(first: int, block: np.ndarray) -> None:
        total[0] += float(_inverses(block).sum())

    d.each_block(add)
    return total[0] / (d.n * (d.n - 1))


def global_efficiency(G: TilewrightGraph) -> Any:
    return _efficiency(_Distances(G, None))


def local_efficiency(G: TilewrightGraph) -> Any:
    if len(G) == 0:
        raise NotImplementedError("a graph without nodes")
    graph = G.graph
    around = (_Distances(TilewrightGraph(graph.subgraph(graph[v])), None) for v in graph)
    return sum(_efficiency(d) for d in around) / len(G)


# ------------------------------------------------------------------------------------ the backend


class Backend:
    """What NetworkX calls: the functions above, conversion, and whether a call is for us."""

    @staticmethod
    def convert_from_nx(graph: Any, *_: Any, **__: Any) -> TilewrightGraph:
        return graph if isinstance(graph, TilewrightGraph) else TilewrightGraph(graph)

    @staticmethod
    def convert_to_nx(result: Any, *, name: Optional[str] = None) -> Any:
        return result.graph if isinstance(result, TilewrightGraph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for argument in ("weight", "distance"):
            if callable(kwargs.get(argument)):
                return f"{argument} is a function"
        for argument in ("sp", "e", "attr"):
            if kwargs.get(argument) is not None:
                return f"{argument} is given"
        return name in FUNCTIONS or "not implemented"

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        graph = args[0] if args else kwargs.get("G")
        if graph is None or len(graph) >= _WORTH_IT:
            return True
        return f"fewer than {_WORTH_IT} nodes: NetworkX is done before the graph is converted"


for _name in FUNCTIONS:
    setattr(Backend, _name, staticmethod(globals()[_name]))
backend = Backend()
