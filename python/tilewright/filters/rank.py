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
    """The local entropy of a two-dimensional uint8 or uint16 image, in bits, as float64:
    ``skimage.filters.rank.entropy``. Where nothing is in the window it is 0. Three-dimensional images
    are not supported.

    >>> image = np.zeros((3, 3), dtype=np.uint8)
    >>> image[1, 1] = 1
    >>> entropy(image, np.ones((3, 3)))[1, 1]
    np.float64(0.5032583347756457)
    """
    array = np.asarray(image)
    if array.ndim != 2:
        raise NotImplementedError(f"images of {array.ndim} dimensions: pass one plane at a time")
    if array.dtype == np.bool_:
        raise ValueError("dtype cannot be bool.")
    if array.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"an image of {array.dtype}: skimage.util.img_as_ubyte converts it")
    shape = np.ascontiguousarray(np.asarray(footprint) > 0)
    if shape.ndim != 2:
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
    anchor = (shape.shape[0] // 2 + int(shift_y), shape.shape[1] // 2 + int(shift_x))
    found = _entropy(
        array, footprint=shape, anchor=anchor, levels=levels, base=2, mask=mask, dtype=np.float64
    )
    if mask is not None or not _has(shape, anchor):
        found[np.isnan(found)] = 0.0
    if out is None:
        return found
    np.copyto(out, found.reshape(out.shape), casting="unsafe")
    return out


def _has(shape: np.ndarray, anchor: tuple[int, int]) -> bool:
    """Whether the window has its own centre, so that something is in it everywhere."""
    inside = all(0 <= at < side for at, side in zip(anchor, shape.shape))
    return inside and bool(shape[anchor])
