"""Local entropy of two-dimensional arrays."""

from __future__ import annotations

import operator
from ctypes import byref, c_double, pointer
from typing import Any, Optional, Union

import numpy as np

from . import _abi
from ._abi import lib
from ._apsp import Memory, writable
from ._session import ProgressOption, Settings, c_whole, check, session

_IMAGES = {
    np.dtype(np.uint8): _abi.U8,
    np.dtype(np.uint16): _abi.U16,
    np.dtype(np.int16): _abi.I16,
    np.dtype(np.float32): _abi.F32,
}
_RESULTS = {np.dtype(np.float32): _abi.F32, np.dtype(np.float64): _abi.F64}
_SMALL = 1 << 14  # elements that one thread has done before a team is awake


def _lies_in_rows(array: np.ndarray) -> bool:
    return array.size == 0 or (
        array.strides[1] == array.itemsize
        and array.strides[0] >= array.shape[1] * array.itemsize
        and array.strides[0] % array.itemsize == 0
        and array.flags.aligned
    )


def _matrix(array: np.ndarray, kind: int) -> _abi.Matrix:
    rows, cols = array.shape
    stride = max(cols, array.strides[0] // array.itemsize if rows > 1 else cols)
    return _abi.Matrix(array.ctypes.data, rows, cols, stride, kind)


def _levels_of(image: Any) -> np.ndarray:
    """An image in a type that the library reads. Wider integers are taken if they are within 16 bits,
    float64 is rounded to float32."""
    array = np.asarray(image)
    if array.ndim != 2:
        raise ValueError(f"an image must have two dimensions, not {array.ndim}; pass one plane")
    kind = array.dtype.kind
    if array.dtype in _IMAGES:
        return array if _lies_in_rows(array) else np.ascontiguousarray(array).copy()
    if kind == "b":
        return array.astype(np.uint8)
    if kind in "iu":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        if array.dtype.itemsize > 2 and not (-(2**15) <= low and high < 2**16):
            raise ValueError(f"values from {low} to {high} do not fit 16 bits")
        return array.astype(np.int16 if low < 0 else np.uint16)
    if kind == "f":
        return array.astype(np.float32)
    raise TypeError(f"an image of {array.dtype}: use integers of up to 16 bits, or floats")


class _Options:
    """The struct of the options, with what it points to."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.struct = _abi.EntropyOptions()
        self.kept: list[Any] = []

    def point(self, name: str, value: Any) -> None:
        self.kept.append(value)
        setattr(self.struct, name, pointer(value))

    def bytes_matrix(self, name: str, array: Any) -> np.ndarray:
        found = np.ascontiguousarray(np.asarray(array) != 0).astype(np.uint8)
        if found.ndim != 2:
            raise ValueError(f"{name} must have two dimensions, not {found.ndim}")
        self.kept.append(found)
        self.point(name, _matrix(found, _abi.U8))
        return found

    def window(self, window: Any, radius: Optional[int], footprint: Any, anchor: Any) -> None:
        sides = (window, window) if isinstance(window, (int, np.integer)) else tuple(window)
        try:
            rows, cols = (operator.index(side) for side in sides)
        except (TypeError, ValueError):
            raise ValueError(f"window={window!r}: use a side, or (rows, columns)") from None
        if not (1 <= rows < 2**31 and 1 <= cols < 2**31):
            raise ValueError(f"window={window!r}: a side must be 1 or more")
        self.struct.window_rows, self.struct.window_cols = rows, cols
        if radius is not None:
            if radius < 0:
                raise ValueError("radius must be >= 0")
            self.struct.radius = c_whole("radius", radius)
        if footprint is not None:
            self.bytes_matrix("footprint", footprint)
        if anchor is not None:
            row, col = (operator.index(place) for place in anchor)
            if not (0 <= row < 2**31 and 0 <= col < 2**31):  # below 0 it is the middle, in C
                raise ValueError(f"the anchor, row {row} and column {col}, lies outside the footprint")
            self.struct.anchor_row, self.struct.anchor_col = row, col

    def values(self, range: Any, mask: Any, no_data: Optional[float], skip_nan: bool) -> None:
        if range is not None:
            ends = (c_double * 2)(float(range[0]), float(range[1]))
            self.kept.append(ends)
            self.struct.range = ends
        if mask is not None and self.bytes_matrix("mask", mask).shape != self.shape:
            raise ValueError(f"mask has shape {np.shape(mask)}; the image has {self.shape}")
        if no_data is not None:
            self.point("no_data", c_double(no_data))
        self.struct.skip_nan = int(skip_nan)


def entropy(
    image: Any,
    window: Any = 5,
    *,
    radius: Optional[int] = None,
    footprint: Any = None,
    anchor: Any = None,
    levels: int = 256,
    range: Any = None,
    border: str = "crop",
    base: Union[str, int] = "e",
    mask: Any = None,
    no_data: Optional[float] = None,
    skip_nan: bool = False,
    dtype: Any = None,
    out: Optional[np.ndarray] = None,
    verify: Optional[int] = None,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
) -> np.ndarray:
    """For each element of a two-dimensional array, the Shannon entropy of the window around it.

    The window is ``window`` x ``window`` elements, or (rows, columns); or a disk of ``radius``; or the
    nonzero elements of ``footprint``, of which ``anchor`` (its middle) lies on the centre. Values are
    levels 0 ... ``levels`` - 1, or are put into as many equal bins of ``range`` = (low, high). ``border``
    is crop, reflect, symmetric, clamp, wrap or valid; ``base`` "e", 2, 10 or "levels". Elements where
    ``mask`` is 0, that a masked array masks, that equal ``no_data`` or, with ``skip_nan``, are NaN do not count; where none counts
    the result is NaN. It is float32, within 1 ulp of the exact value, or float64, within 2.

    >>> entropy(np.array([[0, 0], [0, 1]], dtype=np.uint8), 3, base=2)
    array([[0.8112781, 0.8112781],
           [0.8112781, 0.8112781]], dtype=float32)
    """
    from . import _device

    if _device.is_device_array(image):
        _device.refuse(mask=mask, no_data=no_data, out=out, verify=verify, memory=memory)
        _device.refuse(skip_nan=skip_nan or None, progress=progress or None)
        return _device.entropy(
            image, window, radius, footprint, anchor, levels, range, border, base, dtype
        )
    if isinstance(image, np.ma.MaskedArray):
        given = ~np.ma.getmaskarray(image)
        mask = given if mask is None else given & (np.asarray(mask) != 0)
    array = _levels_of(image)
    if border not in _abi.BORDERS:
        raise ValueError(f"unknown border '{border}'; use {', '.join(_abi.BORDERS)}")
    if base not in _abi.BASES:
        raise ValueError(f"unknown base {base!r}; use 'e', 2, 10 or 'levels'")
    if dtype is None:
        dtype = np.float32 if out is None else getattr(out, "dtype", np.float32)
    kind = np.dtype(dtype)
    if kind not in _RESULTS:
        raise ValueError(f"entropies of {kind} are not supported; use float32 or float64")
    options = _Options(array.shape)
    options.window(window, radius, footprint, anchor)
    options.values(range, mask, no_data, skip_nan)
    struct = options.struct
    struct.levels = c_whole("levels", levels)
    struct.border, struct.base = _abi.BORDERS[border], _abi.BASES[base]
    struct.type = _RESULTS[kind]
    struct.verify = -1 if verify is None else c_whole("verify", verify, 64)
    source = _matrix(array, _IMAGES[array.dtype])
    plan = _abi.c_void_p()
    mine = session()

    def work() -> np.ndarray:
        shape = _abi.Shape(source.rows, source.cols, source.type)
        check(lib.tw_entropy_plan_create(ctx, byref(plan), byref(shape), byref(struct)), ctx)
        try:
            info = _abi.EntropyPlanInfo()
            check(lib.tw_entropy_plan_describe(plan, byref(info)), ctx)
            whole = (int(info.shape.rows), int(info.shape.cols))
            result = np.empty(whole, kind) if out is None else writable(out, whole, _RESULTS)
            if np.may_share_memory(result, array):
                raise ValueError("out overlaps the image")
            target = _matrix(result, _RESULTS[kind])
            check(lib.tw_entropy_plan_apply(ctx, plan, byref(target), byref(source), None), ctx)
            return result
        finally:
            lib.tw_entropy_plan_destroy(plan)

    plain = device == "auto" and memory is None and not threads and not progress
    if plain and array.size <= _SMALL:
        ctx = mine.small
        return work()
    ctx = mine.large

    def settled() -> np.ndarray:
        with Settings(ctx, device, memory, threads, progress):
            return work()

    return mine.call(settled)
