"""``skimage.filters.rank.entropy`` by tilewright: the same signature and the same numbers."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._entropy import entropy as _entropy

__all__ = ["entropy"]


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
    if array.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"an image of {array.dtype}: skimage.util.img_as_ubyte converts it")
    shape = np.ascontiguousarray(np.asarray(footprint) > 0)
    if shape.ndim != array.ndim:
        raise ValueError("`image` and `footprint` must have the same number of dimensions")
    if out is not None and out is image:
        raise NotImplementedError("Cannot perform rank operation in place.")
    if mask is not None:
        mask = np.asarray(mask) > 0
        if mask.shape != array.shape:
            raise ValueError("`image` and `mask` must have the same shape")
    if array.dtype == np.uint16:
        levels = max(2, int(array.max(initial=0)) + 1)
    else:
        levels = 256
    if array.ndim == 2:
        anchor = (shape.shape[0] // 2 + int(shift_y), shape.shape[1] // 2 + int(shift_x))
        found = _plane(array, shape, anchor, levels, mask)
    else:
        shifts = (int(shift_x), int(shift_y), int(shift_z))  # of scikit-image's axes: in this order
        found = _volume(array, shape, shifts, levels, mask)
    if out is None:
        return found
    np.copyto(out, found.reshape(out.shape), casting="unsafe")
    return out


def _plane(
    array: np.ndarray, shape: np.ndarray, anchor: tuple[int, int], levels: int, mask: Any
) -> np.ndarray:
    found = _entropy(
        array, footprint=shape, anchor=anchor, levels=levels, base=2, mask=mask, dtype=np.float64
    )
    if mask is not None or not _has(shape, anchor):
        found[np.isnan(found)] = 0.0
    return found


def _volume(
    array: np.ndarray, shape: np.ndarray, shifts: tuple[int, ...], levels: int, mask: Any
) -> np.ndarray:
    """Plane by plane: the planes within reach are laid row by row between each other, so that the
    window is one of two dimensions."""
    above, *anchor = (side // 2 + shift for side, shift in zip(shape.shape, shifts))
    found = np.zeros(array.shape)
    for z in range(array.shape[0]):
        first, end = max(0, z - above), min(array.shape[0], z - above + shape.shape[0])
        planes = end - first
        if planes <= 0 or found[z].size == 0:
            continue
        reach = slice(first - z + above, end - z + above)
        window = _between(shape[reach])
        allowed = None if mask is None else _between(mask[first:end])
        place = (anchor[0] * planes, anchor[1])
        all_rows = _plane(_between(array[first:end]), window, place, levels, allowed)
        found[z] = all_rows[::planes]
    return found


def _between(planes: np.ndarray) -> np.ndarray:
    """Rows of all planes, those of one number side by side."""
    count, rows, cols = planes.shape
    return np.ascontiguousarray(planes.transpose(1, 0, 2).reshape(rows * count, cols))


def _has(shape: np.ndarray, anchor: tuple[int, int]) -> bool:
    """Whether the window has its own centre, so that something is in it everywhere."""
    inside = all(0 <= at < side for at, side in zip(anchor, shape.shape))
    return inside and bool(shape[anchor])
