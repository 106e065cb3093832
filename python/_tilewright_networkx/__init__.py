"""What NetworkX is told of the backend when it is imported itself. It stands apart from the package,
so that ``import networkx`` loads neither NumPy nor the library."""

from __future__ import annotations

from typing import Any

_DISTANCES = "Weights are an attribute's name or None; a function is left to NetworkX."
FUNCTIONS = {
    "all_pairs_bellman_ford_path": _DISTANCES,
    "all_pairs_bellman_ford_path_length": _DISTANCES,
    "all_pairs_dijkstra": _DISTANCES,
    "all_pairs_dijkstra_path": _DISTANCES,
    "all_pairs_dijkstra_path_length": _DISTANCES,
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "average_shortest_path_length": _DISTANCES,
    "barycenter": "Weights are whole numbers; `sp` and `attr` are left to NetworkX.",
    "center": "Weights are whole numbers; `e` is left to NetworkX.",
    "closeness_centrality": _DISTANCES,
    "diameter": "`e` is left to NetworkX.",
    "eccentricity": "`sp` is left to NetworkX.",
    "floyd_warshall": _DISTANCES,
    "floyd_warshall_numpy": _DISTANCES,
    "floyd_warshall_predecessor_and_distance": _DISTANCES,
    "global_efficiency": "",
    "harmonic_centrality": _DISTANCES,
    "johnson": _DISTANCES,
    "local_efficiency": "",
    "periphery": "Weights are whole numbers; `e` is left to NetworkX.",
    "radius": "`e` is left to NetworkX.",
    "wiener_index": _DISTANCES,
}


def get_info() -> dict[str, Any]:
    """For the entry point networkx.backend_info."""
    return {
        "backend_name": "tilewright",
        "project": "tilewright",
        "package": "tilewright",
        "short_summary": "All-pairs distances on all cores and SIMD lanes",
        "functions": {
            name: {"additional_docs": docs} if docs else {} for name, docs in FUNCTIONS.items()
        },
    }
