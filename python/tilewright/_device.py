"""Arrays that lie in GPU memory (CuPy, PyTorch, Numba, or anything with __cuda_array_interface__ or
DLPack) are worked on where they lie, through the library's ``*_device`` calls, on the stream that is
current in their own library, and without waiting for the end. New arrays, workspace included, come
from that library, so its memory pool and its order of work hold for them, too. Arrays of libraries
that have no arithmetic of their own on a GPU, such as Numba's, are shared with CuPy or PyTorch for it.
"""

from __future__ import annotations

import importlib
import sys
from ctypes import byref, c_uint64, c_void_p
from typing import Any, Optional

import numpy as np

from . import _abi, _errors
from ._abi import lib
from ._session import c_whole, check, session

_CUDA, _ROCM = 2, 10  # of DLPack's kinds of devices
_TYPES = {
    "u1": _abi.U8,
    "u2": _abi.U16,
    "i2": _abi.I16,
    "i4": _abi.I32,
    "f4": _abi.F32,
    "f8": _abi.F64,
}


def is_device_array(value: Any) -> bool:
    """Whether an object says that it lies in GPU memory."""
    if isinstance(value, (np.ndarray, np.generic, int, float, list)):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and where()[0] in (_CUDA, _ROCM)


def refuse(**options: Any) -> None:
    """Raise for options that the calls for GPU memory do not have."""
    for name, value in options.items():
        if value is not None:
            raise _errors.ArgumentError(f"{name} is not supported for arrays in GPU memory")


def _home(array: Any) -> str:
    return type(array).__module__.split(".")[0]


def shared(array: Any) -> Any:
    """The array itself, if it is CuPy's or PyTorch's, else one of theirs over the same memory."""
    if _home(array) in ("cupy", "torch"):
        return array
    for name in ("cupy", "torch"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "cupy":
            told = getattr(array, "__cuda_array_interface__", None)
            return module.asarray(array) if told is not None else module.from_dlpack(array)
        return module.as_tensor(array, device="cuda")
    raise _errors.UnsupportedError(
        f"arrays of {type(array).__module__}.{type(array).__name__} in GPU memory need CuPy or "
        "PyTorch: install one of them"
    )


def _as_asked(result: Any, asked: Any) -> Any:
    """A new array for a caller who has passed ``asked``: Numba's users get Numba's."""
    if _home(asked) == "numba" and _home(result) != "numba":
        return sys.modules["numba"].cuda.as_cuda_array(result)
    return result


class _Library:
    """The library that an array comes from: what is done with it in the array's own world."""

    def __init__(self, array: Any) -> None:
        self.name = _home(array)
        self.array = array
        self.module: Any = sys.modules[self.name]

    def empty(self, shape: Any, dtype: str) -> Any:
        if self.name == "torch":
            kind = getattr(self.module, np.dtype(dtype).name)
            return self.module.empty(shape, dtype=kind, device=self.array.device)
        return self.module.empty(shape, dtype=dtype)

    def copy(self, array: Any) -> Any:
        return array.clone() if self.name == "torch" else array.copy()

    def stream(self) -> int:
        if self.name == "torch":
            return int(self.module.cuda.current_stream(self.array.device).cuda_stream)
        return int(self.module.cuda.get_current_stream().ptr)


def _interface(array: Any) -> dict[str, Any]:
    found = getattr(array, "__cuda_array_interface__", None)
    if found is None:
        raise _errors.UnsupportedError("an array in GPU memory without __cuda_array_interface__")
    return found


def matrix_of(array: Any, name: str) -> _abi.Matrix:
    """A two-dimensional array as C sees it."""
    told = _interface(array)
    shape, kind = told["shape"], told["typestr"].lstrip("<|=")
    if len(shape) != 2:
        raise ValueError(f"{name} must have two dimensions, not {len(shape)}")
    if kind not in _TYPES:
        raise TypeError(f"{name} is of {told['typestr']}; use {', '.join(_TYPES)}")
    item = int(kind[1])
    strides = told.get("strides") or (shape[1] * item, item)
    if shape[1] > 1 and strides[1] != item or strides[0] % item or strides[0] < shape[1] * item:
        raise ValueError(f"the rows of {name} must be contiguous")
    address = told["data"][0]
    return _abi.Matrix(address, shape[0], shape[1], strides[0] // item, _TYPES[kind])


def _options(library: _Library, workspace: int) -> tuple[_abi.DeviceOptions, Any]:
    room = library.empty((workspace,), "u1") if workspace else None
    options = _abi.DeviceOptions(stream=library.stream(), workspace_bytes=workspace)
    if room is not None:
        options.workspace = _interface(room)["data"][0]
    return options, room


def apsp(
    graph: Any,
    out: Any = None,
    directed: Optional[bool] = None,
    no_edge: Optional[float] = 0,
    symmetric: bool = False,
) -> Any:
    """All distances of a square matrix of int32, float32 or float64 in GPU memory, as a new array or
    into ``out``, which may be the matrix itself. ``no_edge`` and infinity are no edges."""
    asked_with, wanted = graph, out
    graph = shared(graph)
    library = _Library(graph)
    if out is None:
        out = library.copy(graph)
    elif out is asked_with:
        out = graph
    else:
        out = shared(out)
        out[:] = graph
    whole = _interface(out)["typestr"][1] == "i"
    mark = _abi.INF_I32 if whole else float("inf")
    if no_edge is not None:
        out[out == no_edge] = mark
    if directed is False:
        out[:] = library.module.minimum(out, out.T)
        symmetric = True
    if bool((out < 0).any()):
        raise _errors.ArgumentError("weights in GPU memory must not be negative")
    matrix = matrix_of(out, "the graph")
    ctx = session().large
    asked = _abi.ApspOptions(symmetric=int(symmetric))
    needed = c_uint64()
    check(lib.tw_apsp_device_workspace(ctx, byref(needed), byref(matrix), byref(asked)), ctx)
    options, _room = _options(library, needed.value)
    check(lib.tw_apsp_device(ctx, byref(matrix), byref(asked), byref(options)), ctx)
    return wanted if wanted is not None else _as_asked(out, asked_with)


def entropy(
    image: Any,
    window: Any,
    radius: Optional[int],
    footprint: Any,
    anchor: Any,
    levels: int,
    range: Any,
    border: str,
    base: Any,
    dtype: Any,
) -> Any:
    """The local entropy of an image in GPU memory. Its values are not checked."""
    from ._entropy import _Options

    asked_with, image = image, shared(image)
    library = _Library(image)
    source = matrix_of(image, "the image")
    kind = np.dtype(np.float32 if dtype is None else dtype)
    options = _Options((source.rows, source.cols))
    options.window(window, radius, footprint, anchor)
    options.values(range, None, None, False)
    struct = options.struct
    struct.levels = c_whole("levels", levels)
    struct.border, struct.base = _abi.BORDERS[border], _abi.BASES[base]
    struct.type = _TYPES[kind.str[1:]]
    ctx = session().large
    plan = c_void_p()
    shape = _abi.Shape(source.rows, source.cols, source.type)
    check(lib.tw_entropy_plan_create(ctx, byref(plan), byref(shape), byref(struct)), ctx)
    try:
        info = _abi.EntropyPlanInfo()
        check(lib.tw_entropy_plan_describe(plan, byref(info)), ctx)
        out = library.empty((info.shape.rows, info.shape.cols), kind.str[1:])
        target = matrix_of(out, "the result")
        needed = c_uint64()
        check(
            lib.tw_entropy_plan_device_workspace(
                ctx, plan, byref(needed), byref(target), byref(source)
            ),
            ctx,
        )
        device, _room = _options(library, needed.value)
        check(
            lib.tw_entropy_plan_apply_device(
                ctx, plan, byref(target), byref(source), byref(device)
            ),
            ctx,
        )
        return _as_asked(out, asked_with)
    finally:
        lib.tw_entropy_plan_destroy(plan)


def evaluate(writer: Any, values: dict[str, Any], out: Any, fast: bool) -> Any:
    """An expression of two-dimensional arrays that all lie on one GPU, and of numbers."""
    arrays = {name: value for name, value in values.items() if is_device_array(value)}
    others = {name: value for name, value in values.items() if name not in arrays}
    for name, value in others.items():
        if np.ndim(value) > 0:
            raise _errors.ArgumentError(f"{name} lies in host memory, others on a GPU")
    asked_with, wanted = next(iter(arrays.values())), out
    arrays = {name: shared(value) for name, value in arrays.items()}
    library = _Library(next(iter(arrays.values())))
    views = {name: matrix_of(array, name) for name, array in arrays.items()}
    rows = max(view.rows for view in views.values())
    cols = max(view.cols for view in views.values())
    single = all(view.type in (_abi.F32, _abi.U8, _abi.U16, _abi.I16) for view in views.values())
    compute = _abi.F32 if single else _abi.F64
    if out is None:
        out = library.empty((rows, cols), "f4" if single else "f8")
    else:
        out = shared(out)
    text = writer.text
    for index, name in enumerate(writer.names):
        word = f"v{index}" if name in values else name
        text = text.replace(f"\x00{index}\x00", word)
    inputs = [f"v{writer.names.index(name)}".encode() for name in arrays]
    constants = [(f"v{writer.names.index(name)}".encode(), float(v)) for name, v in others.items()]
    names = (_abi.c_char_p * len(inputs))(*inputs)
    numbers = (_abi.Constant * max(1, len(constants)))(
        *(_abi.Constant(*pair) for pair in constants)
    )
    asked = _abi.ExprOptions(
        inputs=names, input_count=len(inputs), constants=numbers, constant_count=len(constants)
    )
    mine = session()
    expression, plan = c_void_p(), c_void_p()
    matrices = (_abi.Matrix * len(views))(*views.values())
    shapes = (_abi.Shape * len(views))(*(_abi.Shape(v.rows, v.cols, v.type) for v in matrices))
    target = matrix_of(out, "out")
    options = _abi.MapOptions(compute=compute, type=target.type, fast=int(fast))
    ctx = mine.large
    check(lib.tw_set_device(ctx, b"cuda"), ctx)
    try:
        check(lib.tw_expr_create(ctx, byref(expression), text.encode(), byref(asked)), ctx)
        check(
            lib.tw_map_plan_create(
                ctx, byref(plan), expression, shapes, len(views), byref(options)
            ),
            ctx,
        )
        stream, _room = _options(library, 0)
        check(
            lib.tw_map_plan_apply_device(
                ctx, plan, byref(target), matrices, len(views), byref(stream)
            ),
            ctx,
        )
        library_wait(library)  # the plan must stay until the work is done
    finally:
        lib.tw_map_plan_destroy(plan)
        lib.tw_expr_destroy(expression)
        check(lib.tw_set_device(ctx, b"auto"), ctx)
    return wanted if wanted is not None else _as_asked(out, asked_with)


def library_wait(library: _Library) -> None:
    """Wait for the current stream of an array's library."""
    if library.name == "torch":
        library.module.cuda.current_stream(library.array.device).synchronize()
    else:
        library.module.cuda.get_current_stream().synchronize()
