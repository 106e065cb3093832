"""The C interface as ctypes sees it: include/tilewright.h, struct by struct.

Nothing here computes or decides. A struct has the members of its namesake in the header, and an
instance begins with the defaults of its ``TW_*_INIT`` macro; ``tests/python/test_abi.py`` compiles
the header and compares every offset and every default, so the two cannot drift apart. Pointers to
arrays are plain addresses (``c_void_p``): NumPy knows them, and filling a struct stays cheap.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, ClassVar

VERSION = "0.2"  # major.minor: before 1.0 the interface may change with each

OK, ERR_ARGUMENT, ERR_MEMORY, ERR_IO, ERR_FORMAT, ERR_RANGE = range(6)
ERR_UNSUPPORTED, ERR_CANCELLED, ERR_NEGATIVE_CYCLE, ERR_VERIFY, ERR_DEVICE, ERR_INTERNAL = range(
    6, 12
)

AUTO, U8, U16, I16, I32, F32, F64, F16, I64 = range(9)

GRAPH_UNDIRECTED = 1

METHODS = {"auto": 0, "closure": 1, "dijkstra": 2, "bfs": 3, "reference": 4, "sweep": 5}
NO_VERTEX = -9999
INF_I32 = 2**30 - 1

CLOSENESS = {"networkx": 0, "igraph": 1}
BORDERS = {"crop": 0, "reflect": 1, "symmetric": 2, "clamp": 3, "wrap": 4, "valid": 5}
BASES: dict[Any, int] = {"e": 0, 2: 2, 10: 10, "2": 2, "10": 10, "levels": -1}


class Sized(Structure):
    """A struct that begins with its size. ``defaults`` are those that are not zero or NULL."""

    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, **members: Any) -> None:
        super().__init__(size=ctypes.sizeof(self), **{**self.defaults, **members})


class Matrix(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("rows", c_int64),
        ("cols", c_int64),
        ("stride", c_int64),
        ("type", c_int32),
    ]


class Shape(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("type", c_int32)]


class Csr(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("vertices", c_int64),
        ("offsets", c_void_p),
        ("offset_type", c_int32),
        ("targets", c_void_p),
        ("target_type", c_int32),
        ("values", c_void_p),
        ("value_type", c_int32),
        ("borrow", c_int32),
    ]
    defaults = {"offset_type": I64, "target_type": I32, "value_type": F64}


class GraphInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("vertices", c_int64),
        ("arcs", c_int64),
        ("weight_type", c_int32),
        ("undirected", c_int32),
        ("equal", c_int32),
        ("integral", c_int32),
        ("labelled", c_int32),
        ("min_weight", c_double),
        ("max_weight", c_double),
        ("header", c_int32),
        ("first", c_int32),
    ]


class ReadOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_char_p),
        ("directed", c_int32),
        ("unweighted", c_int32),
        ("ids", c_int32),
        ("header", c_int32),
        ("weight", c_char_p),
        ("no_edge", POINTER(c_double)),
        ("from", c_char_p),
        ("to", c_char_p),
    ]
    defaults = {"directed": -1, "header": -1}


SinkBegin = CFUNCTYPE(c_int32, c_void_p, c_void_p, POINTER(Shape))
SinkRows = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_int64)
SinkEnd = CFUNCTYPE(c_int32, c_void_p, c_void_p)
SinkAbort = CFUNCTYPE(None, c_void_p, c_void_p)
SinkDestroy = CFUNCTYPE(None, c_void_p)
Progress = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_double, c_char_p)
Log = CFUNCTYPE(None, c_void_p, c_char_p)


class Sink(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("self", c_void_p),
        ("begin", SinkBegin),
        ("rows", SinkRows),
        ("end", SinkEnd),
        ("abort", SinkAbort),
        ("destroy", SinkDestroy),
    ]


class DeviceOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("stream", c_void_p),
        ("workspace", c_void_p),
        ("workspace_bytes", c_uint64),
    ]


class ApspOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_int32),
        ("type", c_int32),
        ("work_type", c_int32),
        ("block", c_int32),
        ("sources", c_void_p),
        ("source_count", c_int64),
        ("targets", c_void_p),
        ("target_count", c_int64),
        ("cutoff", c_double),
        ("symmetric", c_int32),
        ("summary_only", c_int32),
        ("order", c_void_p),
        ("order_cache", c_int32),
        ("predecessors", c_int32),
        ("checkpoint", c_char_p),
        ("checkpoint_every", c_double),
        ("beside", c_uint64),
    ]
    defaults = {"cutoff": -1.0, "checkpoint_every": 600.0}


class ApspPlanInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_int32),
        ("type", c_int32),
        ("work_type", c_int32),
        ("memory", c_uint64),
        ("device_memory", c_uint64),
        ("seconds", c_double),
        ("device", c_char_p),
        ("order", c_char_p),
        ("threads", c_int32),
        ("reserved", c_int32),
    ]
    defaults = {"device": b"", "order": b""}


class ApspReport(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_int32),
        ("work_type", c_int32),
        ("type", c_int32),
        ("threads", c_int32),
        ("block", c_int32),
        ("attempts", c_int32),
        ("symmetric", c_int32),
        ("isa", c_char_p),
        ("relaxations", c_double),
        ("seconds_plan", c_double),
        ("seconds_compute", c_double),
        ("seconds_output", c_double),
        ("memory_peak", c_uint64),
        ("device", c_char_p),
        ("seconds_startup", c_double),
        ("seconds_wait", c_double),
        ("seconds_device", c_double),
        ("seconds_upload", c_double),
        ("seconds_download", c_double),
        ("resident", c_int32),
        ("fallback", c_char_p),
    ]
    defaults = {"isa": b"", "device": b"", "fallback": b""}


class ApspPathInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_int64),
        ("vertices", POINTER(c_int32)),
        ("distance", c_double),
    ]


class ApspSummaryInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("cols", c_int64),
        ("type", c_int32),
        ("reachable", c_int64),
        ("unreachable", c_int64),
        ("diameter", c_double),
        ("diameter_from", c_int64),
        ("diameter_to", c_int64),
        ("radius", c_double),
        ("center", c_int64),
        ("mean", c_double),
        ("minimum", c_double),
    ]


class ApspNearestOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_int32),
        ("farthest", c_int32),
        ("sources", c_void_p),
        ("targets", c_void_p),
    ]
    defaults = {"count": 10}


class EntropyOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("levels", c_int32),
        ("window_rows", c_int32),
        ("window_cols", c_int32),
        ("radius", c_int32),
        ("footprint", POINTER(Matrix)),
        ("anchor_row", c_int32),
        ("anchor_col", c_int32),
        ("border", c_int32),
        ("base", c_int32),
        ("range", POINTER(c_double)),
        ("mask", POINTER(Matrix)),
        ("no_data", POINTER(c_double)),
        ("verify", c_int64),
        ("verify_seed", c_uint64),
        ("skip_nan", c_int32),
        ("type", c_int32),
    ]
    defaults = {
        "levels": 256,
        "window_rows": 5,
        "window_cols": 5,
        "radius": -1,
        "anchor_row": -1,
        "anchor_col": -1,
        "verify": -1,
        "verify_seed": 1,
        "type": F32,
    }


class EntropyPlanInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("shape", Shape),
        ("method", c_char_p),
        ("isa", c_char_p),
        ("why", c_char_p),
        ("threads", c_int32),
        ("window", c_int64),
        ("block", c_int64),
        ("bytes", c_uint64),
        ("largest", c_double),
    ]
    defaults = {"method": b"", "isa": b"", "why": b""}


class Constant(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class ExprOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("inputs", POINTER(c_char_p)),
        ("input_count", c_int32),
        ("constants", POINTER(Constant)),
        ("constant_count", c_int32),
        ("column", POINTER(c_int64)),
    ]


class MapOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("compute", c_int32),
        ("type", c_int32),
        ("repeat", c_int64),
        ("fast", c_int32),
        ("no_data", POINTER(c_double)),
    ]
    defaults = {"repeat": 1}


class MapPlanInfo(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("shape", Shape),
        ("compute", c_int32),
        ("method", c_char_p),
        ("row_period", c_int32),
        ("col_period", c_int32),
        ("bytes", c_double),
        ("operations", c_double),
    ]
    defaults = {"method": b""}


class ReachOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("sources", c_void_p),
        ("source_count", c_int64),
        ("layout", c_int32),
        ("reserved", c_int32),
    ]


class Machine(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("processor", c_char_p),
        ("threads", c_int32),
        ("memory", c_uint64),
        ("memory_available", c_uint64),
        ("isa", c_char_p),
        ("isas", c_char_p),
        ("gpu", c_char_p),
        ("gpus", c_int32),
        ("gpu_driver", c_char_p),
        ("gpu_runtime", c_char_p),
    ]
    defaults = {
        name: b"" for name in ("processor", "isa", "isas", "gpu", "gpu_driver", "gpu_runtime")
    }


class Gpu(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char * 64),
        ("architecture", c_char * 32),
        ("processors", c_int32),
        ("memory", c_uint64),
        ("memory_available", c_uint64),
    ]


# The structs by their names in the header, for the test that compares them.
STRUCTS: dict[str, type[Structure]] = {
    "tw_matrix": Matrix,
    "tw_shape": Shape,
    "tw_csr": Csr,
    "tw_graph_info": GraphInfo,
    "tw_graph_read_options": ReadOptions,
    "tw_sink": Sink,
    "tw_device_options": DeviceOptions,
    "tw_apsp_options": ApspOptions,
    "tw_apsp_plan_info": ApspPlanInfo,
    "tw_apsp_report": ApspReport,
    "tw_apsp_path_info": ApspPathInfo,
    "tw_apsp_summary_info": ApspSummaryInfo,
    "tw_entropy_options": EntropyOptions,
    "tw_entropy_plan_info": EntropyPlanInfo,
    "tw_constant": Constant,
    "tw_expr_options": ExprOptions,
    "tw_map_options": MapOptions,
    "tw_map_plan_info": MapPlanInfo,
    "tw_reach_options": ReachOptions,
    "tw_machine": Machine,
    "tw_gpu": Gpu,
}

# What each function returns and takes. A handle and a struct that is passed by reference are
# addresses; `byref` and None fit all of them.
_P = c_void_p
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tw_version": (c_char_p, []),
    "tw_status_name": (c_char_p, [c_int32]),
    "tw_context_create": (c_int32, [_P]),
    "tw_context_destroy": (None, [_P]),
    "tw_last_error": (c_char_p, [_P]),
    "tw_set_threads": (c_int32, [_P, c_int32]),
    "tw_threads": (c_int32, [_P]),
    "tw_set_memory": (c_int32, [_P, c_uint64]),
    "tw_memory_limit": (c_uint64, [_P]),
    "tw_memory_used": (c_uint64, [_P]),
    "tw_memory_peak": (c_uint64, [_P]),
    "tw_set_device": (c_int32, [_P, c_char_p]),
    "tw_set_progress": (None, [_P, Progress, _P]),
    "tw_set_log": (None, [_P, Log, _P]),
    "tw_cancel": (None, [_P]),
    "tw_clear_cancel": (None, [_P]),
    "tw_set_error": (None, [_P, c_char_p]),
    "tw_graph_from_csr": (c_int32, [_P, _P, _P, c_uint32]),
    "tw_graph_from_matrix": (c_int32, [_P, _P, _P, _P, c_uint32]),
    "tw_graph_read": (c_int32, [_P, _P, c_char_p, _P]),
    "tw_graph_describe": (c_int32, [_P, _P]),
    "tw_graph_rows": (None, [_P, _P, _P, _P]),
    "tw_graph_label": (c_char_p, [_P, c_int64]),
    "tw_graph_destroy": (None, [_P]),
    "tw_sink_to_matrix": (c_int32, [_P, _P, _P]),
    "tw_sink_to_file": (c_int32, [_P, _P, c_char_p, c_char_p]),
    "tw_sink_destroy": (None, [_P]),
    "tw_feed": (c_int32, [_P, _P, _P, c_int32]),
    "tw_apsp_plan_create": (c_int32, [_P, _P, _P, _P]),
    "tw_apsp_plan_explain": (c_char_p, [_P]),
    "tw_apsp_plan_describe": (c_int32, [_P, _P]),
    "tw_apsp_plan_run": (c_int32, [_P, _P, _P, c_int32, _P, _P]),
    "tw_apsp_plan_destroy": (None, [_P]),
    "tw_apsp_order_create": (c_int32, [_P, _P, _P]),
    "tw_apsp_order_destroy": (None, [_P]),
    "tw_apsp": (c_int32, [_P, _P, _P, _P]),
    "tw_apsp_device": (c_int32, [_P, _P, _P, _P]),
    "tw_apsp_device_workspace": (c_int32, [_P, _P, _P, _P]),
    "tw_apsp_negative_cycle": (c_int64, [_P, _P]),
    "tw_apsp_path_create": (c_int32, [_P, _P, _P, _P, c_int32, c_int32]),
    "tw_apsp_path_describe": (c_int32, [_P, _P]),
    "tw_apsp_path_destroy": (None, [_P]),
    "tw_apsp_summary_create": (c_int32, [_P, _P, c_int32, _P, _P]),
    "tw_apsp_summary_sink": (c_int32, [_P, _P]),
    "tw_apsp_summary_set_closeness": (c_int32, [_P, _P, c_int32]),
    "tw_apsp_summary_describe": (c_int32, [_P, _P]),
    "tw_apsp_summary_eccentricity": (c_void_p, [_P]),
    "tw_apsp_summary_closeness": (c_void_p, [_P]),
    "tw_apsp_summary_set_harmonic": (c_int32, [_P, _P, c_int32]),
    "tw_apsp_summary_sum": (c_void_p, [_P]),
    "tw_apsp_summary_reached": (c_void_p, [_P]),
    "tw_apsp_summary_harmonic": (c_void_p, [_P]),
    "tw_apsp_nearest_create": (c_int32, [_P, _P, _P]),
    "tw_apsp_nearest_sink": (c_int32, [_P, _P]),
    "tw_apsp_nearest_vertices": (c_void_p, [_P]),
    "tw_apsp_nearest_distances": (c_void_p, [_P]),
    "tw_apsp_nearest_destroy": (None, [_P]),
    "tw_apsp_summary_histogram": (c_int32, [_P, _P, _P]),
    "tw_apsp_summary_destroy": (None, [_P]),
    "tw_entropy": (c_int32, [_P, _P, _P, _P]),
    "tw_entropy_plan_create": (c_int32, [_P, _P, _P, _P]),
    "tw_entropy_plan_describe": (c_int32, [_P, _P]),
    "tw_entropy_plan_explain": (c_char_p, [_P]),
    "tw_entropy_plan_apply": (c_int32, [_P, _P, _P, _P, _P]),
    "tw_entropy_plan_apply_device": (c_int32, [_P, _P, _P, _P, _P]),
    "tw_entropy_plan_device_workspace": (c_int32, [_P, _P, _P, _P, _P]),
    "tw_entropy_plan_destroy": (None, [_P]),
    "tw_expr_create": (c_int32, [_P, _P, c_char_p, _P]),
    "tw_expr_destroy": (None, [_P]),
    "tw_map_plan_create": (c_int32, [_P, _P, _P, _P, c_int32, _P]),
    "tw_map_plan_describe": (c_int32, [_P, _P]),
    "tw_map_plan_explain": (c_char_p, [_P]),
    "tw_map_plan_apply": (c_int32, [_P, _P, _P, _P, c_int32, _P]),
    "tw_map_plan_apply_device": (c_int32, [_P, _P, _P, _P, c_int32, _P]),
    "tw_map_plan_destroy": (None, [_P]),
    "tw_reach_plan_create": (c_int32, [_P, _P, _P, _P]),
    "tw_reach_plan_run": (c_int32, [_P, _P, _P, c_int32, _P, _P]),
    "tw_reach_plan_destroy": (None, [_P]),
    "tw_machine_describe": (c_int32, [_P, _P]),
    "tw_gpu_describe": (c_int32, [_P, _P, c_int32]),
}


def _open() -> ctypes.CDLL:
    """The library of $TW_LIBRARY, else the one beside this file, else the system's."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtilewright.so")
    path = os.environ.get("TW_LIBRARY") or (
        beside if os.path.exists(beside) else f"libtilewright.so.{VERSION}"
    )
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"libtilewright cannot be loaded: {error}. Reinstall the package, or set TW_LIBRARY "
            "to the path of the shared library."
        ) from None


def declare(library: ctypes.CDLL, functions: dict[str, tuple[Any, list[Any]]]) -> None:
    """Result and arguments of each of ``functions``."""
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def _load() -> ctypes.CDLL:
    library = _open()
    declare(library, FUNCTIONS)
    found = library.tw_version().decode()
    if found.rsplit(".", 1)[0] != VERSION:
        raise ImportError(
            f"libtilewright is version {found}, and this package is for {VERSION}: install both "
            "from the same release."
        )
    return library


lib = _load()
