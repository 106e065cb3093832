"""``skimage.filters.rank.entropy`` by tilewright: the same signature and the same numbers."""

from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np

from .._entropy import entropy as _entropy

__all__ = ["entropy"]

_WINDOW_ROWS = 2048  # of a window that the planes of a slab lie in
_SLAB = 1 << 23  # elements


def entropy(
    image: Any,
    footprint: Any,
    out: Optional[np.ndarray] = None,
    mask: Any = None,
    shift_x: int = 0,
    shift_y: int = 0,
    shift_z: int = 0,
) -> np.ndarray:
    """The local entropy of a uint8 or uint16 image of two or three dimensions, in bits, as float64:
    ``skimage.filters.rank.entropy``. Where nothing is in the window it is 0.

    >>> image = np.zeros((3, 3), dtype=np.uint8)
    >>> image[1, 1] = 1
    >>> entropy(image, np.ones((3, 3)))[1, 1]
    np.float64(0.5032583347756457)
    """
    array = np.asarray(image)
    if array.ndim not in (2, 3):
        raise ValueError(f"`image` must have 2 or 3 dimensions, got {array.ndim}.")
    if array.dtype == np.bool_:
        raise ValueError("dtype cannot be bool.")
    if array.dtype == np.dtype(np.uint16).newbyteorder():
        array = array.astype(np.uint16)
    if array.dtype not in (np.uint8, np.uint16):
        array = _as_bytes(array)
    shape = np.ascontiguousarray(np.asarray(footprint) > 0)
    if shape.ndim != array.ndim:
        raise ValueError("`image` and `footprint` must have the same number of dimensions")
    if out is not None and out is image:
        raise NotImplementedError("Cannot perform rank operation in place.")
    if out is not None and (not isinstance(out, np.ndarray) or out.shape != array.shape):
        raise ValueError(f"out has shape {np.shape(out)}; the result has {array.shape}")
    if out is not None and not out.flags.writeable:
        raise ValueError("out is read-only")
    if mask is not None:
        mask = np.asarray(mask) > 0
        if mask.shape != array.shape:
            raise ValueError("`image` and `mask` must have the same shape")
    if array.dtype == np.uint16:
        levels = max(2, int(array.max(initial=0)) + 1)
    else:
        levels = 256
    shifts = {"shift_x": int(shift_x), "shift_y": int(shift_y), "shift_z": int(shift_z)}
    axes = ("shift_y", "shift_x") if array.ndim == 2 else tuple(shifts)  # scikit-image has it so
    centre = []
    for side, name in zip(shape.shape, axes):
        centre.append(side // 2 + shifts[name])
        if not 0 <= centre[-1] < side:
            raise ValueError(f"half footprint + {name} must be between 0 and footprint")
    if not shape.any():
        found = np.zeros(array.shape)
    elif array.ndim == 2:
        found = _plane(array, shape, (centre[0], centre[1]), levels, mask)
    else:
        found = _volume(array, shape, centre, levels, mask)
    if out is None:
        return found
    np.copyto(out, found, casting="unsafe")
    return out


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """An image of another type in bytes, by scikit-image and with its warning."""
    try:
        from skimage.util import img_as_ubyte
    except ImportError:
        raise TypeError(
            f"an image of {array.dtype}: convert it to uint8 or uint16, or install scikit-image, which "
            "does it as its own filters do"
        ) from None
    warnings.warn(
        f"Possible precision loss converting image of type {array.dtype} to uint8 as required by rank "
        "filters. Convert manually using skimage.util.img_as_ubyte to silence this warning.",
        stacklevel=3,
    )
    return img_as_ubyte(array)


def _plane(
    array: np.ndarray, shape: np.ndarray, anchor: tuple[int, int], levels: int, mask: Any
) -> np.ndarray:
    found = _entropy(
        array, footprint=shape, anchor=anchor, levels=levels, base=2, mask=mask, dtype=np.float64
    )
    if mask is not None or not shape[anchor]:  # else something is in the window everywhere
        found[np.isnan(found)] = 0.0
    return found


def _volume(
    array: np.ndarray, shape: np.ndarray, centre: list[int], levels: int, mask: Any
) -> np.ndarray:
    """The volume as one image: of its axes (outer, inner, along) the last one is the image's columns,
    and row outer * planes + inner the image's rows, so that the window is one of two dimensions whose
    rows lie in groups, ``planes`` apart. The inner axis is taken in slabs, with the planes that their
    windows reach; those outside of the volume are masked."""
    found = np.zeros(array.shape)
    if array.size == 0:
        return found
    axes = _axes(array.shape, shape)
    array, shape = array.transpose(axes), shape.transpose(axes)
    allowed = None if mask is None else mask.transpose(axes)
    result = found.transpose(axes)
    (above, before, left), (outer, inner, along) = [centre[a] for a in axes], array.shape
    reach = shape.shape[1]
    planes = _planes(array.shape, shape.shape)
    step = planes - reach + 1
    window = np.zeros((shape.shape[0], planes, shape.shape[2]), bool)
    window[:, :reach] = shape
    window = window.reshape(-1, shape.shape[2])[: (shape.shape[0] - 1) * planes + reach]
    for first in range(0, inner, step):
        begin, end = max(0, first - before), min(inner, first - before + planes)
        place = slice(begin - first + before, end - first + before)
        image = np.zeros((outer, planes, along), array.dtype)
        image[:, place] = array[:, begin:end]
        inside: Any = None
        if allowed is not None or end - begin < planes:
            inside = np.zeros(image.shape, bool)
            inside[:, place] = True if allowed is None else allowed[:, begin:end]
            inside = inside.reshape(-1, along)
        rows = _plane(image.reshape(-1, along), window, (above * planes, left), levels, inside)
        kept = min(step, inner - first)
        result[:, first : first + kept] = rows.reshape(image.shape)[:, :kept]
    return found


def _planes(sides: tuple[int, ...], window: tuple[int, ...]) -> int:
    """Planes of a slab: so many that those which only lie around it are few, and no more than the
    library takes for the rows of a window or than a slab of some megabytes has."""
    most = _WINDOW_ROWS // max(1, window[0] - 1)
    some = max(8 * window[1], _SLAB // (sides[0] * sides[2]))
    return max(window[1], min(most, some, sides[1] + window[1] - 1))


def _axes(sides: tuple[int, ...], shape: np.ndarray) -> tuple[int, ...]:
    """The axes as (outer, inner, along) that cost least: windows move along the last, where what they
    gain and lose are the ends of their runs, after their first one was counted as a whole."""

    def cost(axes: tuple[int, ...]) -> float:
        outer, inner, along = axes
        runs = np.count_nonzero(np.diff(shape.astype(np.int8), axis=along, prepend=0) == 1)
        window = tuple(shape.shape[a] for a in axes)
        planes = _planes(tuple(sides[a] for a in axes), window)
        waste = planes / (planes - window[1] + 1)
        moved = 0.0 if along == 2 else 1.0  # elements of a row that lie apart
        return (2 * runs + shape.sum() / sides[along] + moved) * waste

    return min(((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)), key=cost)
