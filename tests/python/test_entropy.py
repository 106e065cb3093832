"""Local entropy: against the definition, with every option, and beside scikit-image."""

import math

import numpy as np
import pytest

import tilewright as tw
from tilewright.filters import rank


def by_definition(image, offsets, base=math.e, counts=None):
    """Element by element, from a dictionary of counts."""
    rows, cols = image.shape
    out = np.empty(image.shape)
    for i in range(rows):
        for j in range(cols):
            seen = {}
            for di, dj in offsets:
                r, c = i + di, j + dj
                if 0 <= r < rows and 0 <= c < cols and (counts is None or counts[r, c]):
                    value = image[r, c]
                    seen[value] = seen.get(value, 0) + 1
            total = sum(seen.values())
            out[i, j] = (
                -sum(n / total * math.log(n / total, base) for n in seen.values())
                if total
                else math.nan
            )
    return out


def box(rows, cols):
    return [(i - rows // 2, j - cols // 2) for i in range(rows) for j in range(cols)]


@pytest.mark.parametrize("dtype", (np.uint8, np.uint16, np.int16, np.float32))
@pytest.mark.parametrize("window", (1, 3, 4, (2, 5)))
def test_windows_and_types(rng, dtype, window):
    image = rng.integers(0, 8, (13, 17)).astype(dtype)
    sides = (window, window) if isinstance(window, int) else window
    expected = by_definition(image, box(*sides))
    found = tw.entropy(image, window, levels=8)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    wide = tw.entropy(image, window, levels=8, dtype=np.float64)
    np.testing.assert_allclose(wide, expected, atol=1e-13)


@pytest.mark.parametrize("dtype", (bool, np.int8, np.int32, np.int64, np.uint32, np.float64, ">u2"))
def test_other_types_are_converted(rng, dtype):
    image = rng.integers(0, 2, (9, 9)).astype(dtype)
    expected = tw.entropy(image.astype(np.uint8), 3, levels=2)
    np.testing.assert_array_equal(tw.entropy(image, 3, levels=2), expected)


def test_options(rng):
    image = rng.integers(0, 5, (20, 20)).astype(np.uint8)
    mask = rng.random((20, 20)) < 0.5
    np.testing.assert_allclose(
        tw.entropy(image, 5, base=2, mask=mask, levels=5),
        by_definition(image, box(5, 5), 2, mask),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        tw.entropy(image, 5, no_data=3, levels=5),
        by_definition(image, box(5, 5), math.e, image != 3),
        atol=1e-6,
    )
    disk = [(i, j) for i in range(-2, 3) for j in range(-2, 3) if i * i + j * j <= 4]
    np.testing.assert_allclose(
        tw.entropy(image, radius=2, base=10, levels=5), by_definition(image, disk, 10), atol=1e-6
    )
    shape = np.array([[1, 0, 1], [0, 0, 1]])
    offsets = [(i - 1, j) for i, j in zip(*np.nonzero(shape))]
    np.testing.assert_allclose(
        tw.entropy(image, footprint=shape, anchor=(1, 0), levels=5),
        by_definition(image, offsets),
        atol=1e-6,
    )
    assert tw.entropy(image, 5, border="valid").shape == (16, 16)
    assert tw.entropy(image, 5, levels=5, base="levels").max() <= 1
    field = image.astype(np.float32) / 5
    field[3, 3] = np.nan
    binned = tw.entropy(field, 3, range=(0, 1), levels=5, skip_nan=True)
    counts = np.ones((20, 20), bool)
    counts[3, 3] = False
    np.testing.assert_allclose(binned, by_definition(image, box(3, 3), math.e, counts), atol=1e-6)
    with pytest.raises(ValueError, match="NaN|nan"):
        tw.entropy(field, 3, range=(0, 1))


def test_large_images_run_beside_signals(rng):
    image = rng.integers(0, 16, (300, 300)).astype(np.uint8)
    out = np.full((300, 300), -1, np.float32)
    assert tw.entropy(image, 5, levels=16, out=out, threads=1, verify=100) is out
    np.testing.assert_array_equal(out, tw.entropy(image, 5, levels=16))
    part = image[::2, 1::3]
    np.testing.assert_array_equal(tw.entropy(part, 5), tw.entropy(part.copy(), 5))


def test_bad_arguments():
    image = np.zeros((4, 4), np.uint8)
    for options, error in (
        ({"border": "none"}, ValueError),
        ({"base": 3}, ValueError),
        ({"levels": 1}, ValueError),
        ({"window": 0}, ValueError),
        ({"radius": -1}, ValueError),
        ({"dtype": np.float16}, ValueError),
        ({"out": np.zeros((4, 5), np.float32)}, ValueError),
        ({"out": np.zeros((4, 4), np.int32)}, ValueError),
        ({"mask": np.ones((3, 3))}, ValueError),
        ({"range": (1, 1)}, ValueError),
        ({"window": (3,)}, ValueError),
        ({"window": "5"}, ValueError),
        ({"footprint": np.ones((3, 3)), "anchor": (-1, 0)}, ValueError),
        ({"out": np.ma.masked_all((4, 4), np.float32)}, TypeError),
        ({"memory": -1}, ValueError),
        ({"memory": "much"}, ValueError),
        ({"memory": ""}, ValueError),
        ({"threads": "2"}, TypeError),
        ({"threads": 2**40}, ValueError),
        ({"device": 3}, TypeError),
        ({"progress": 3}, TypeError),
    ):
        with pytest.raises(error):
            tw.entropy(image, **options)
    with pytest.raises(ValueError):
        tw.entropy(np.zeros(4, np.uint8))
    with pytest.raises(TypeError):
        tw.entropy(np.zeros((4, 4), complex))
    with pytest.raises(tw.RangeError, match="16|level"):
        tw.entropy(np.full((4, 4), 20, np.uint8), levels=16)
    with pytest.raises(ValueError, match="16 bits"):
        tw.entropy(np.full((4, 4), 2**20))


def test_sentences_name_arguments():
    with pytest.raises(tw.RangeError, match=r"use levels=256, range=, mask= or no_data=$"):
        tw.entropy(np.full((4, 4), 20, np.uint8), levels=16)
    with pytest.raises(tw.RangeError, match=r"use skip_nan=True or mask= "):
        tw.entropy(np.full((4, 4), np.nan), range=(0, 1))


def test_what_a_masked_array_masks_does_not_count(rng):
    image = rng.integers(0, 5, (12, 13)).astype(np.uint8)
    hidden, mask = rng.random(image.shape) < 0.3, rng.random(image.shape) < 0.8
    masked = np.ma.masked_array(image, hidden)
    np.testing.assert_array_equal(tw.entropy(masked), tw.entropy(image, mask=~hidden))
    np.testing.assert_array_equal(tw.entropy(masked, mask=mask), tw.entropy(image, mask=mask & ~hidden))


def test_empty_images():
    assert tw.entropy(np.zeros((0, 5), np.uint8)).shape == (0, 5)


def test_rank_entropy_is_by_definition(rng):
    image = rng.integers(0, 6, (12, 15)).astype(np.uint8)
    found = rank.entropy(image, np.ones((3, 5)))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, by_definition(image, box(3, 5), 2), atol=1e-13)


@pytest.mark.parametrize("dtype", (np.uint8, np.uint16))
@pytest.mark.parametrize("shift", ((0, 0), (1, -1)))
@pytest.mark.parametrize("masked", (False, True))
def test_rank_entropy_is_that_of_scikit_image(rng, dtype, shift, masked):
    theirs = pytest.importorskip("skimage.filters.rank")
    morphology = pytest.importorskip("skimage.morphology")
    image = rng.integers(0, 300 if dtype is np.uint16 else 256, (40, 50))
    image = image.astype(dtype)
    mask = (rng.random((40, 50)) < 0.02) if masked else None
    apart = np.zeros((3, 3), np.uint8)
    apart[0, 2] = 1  # in the last column nothing is in it
    dot = np.ones((1, 1), np.uint8)
    for footprint in (morphology.disk(3), np.ones((4, 5), np.uint8), dot, apart):
        if footprint.shape == (1, 1) and shift != (0, 0):
            continue
        options = {"mask": mask, "shift_x": shift[0], "shift_y": shift[1]}
        np.testing.assert_allclose(
            rank.entropy(image, footprint, **options),
            theirs.entropy(image, footprint, **options),
            atol=1e-12,
        )


def test_rank_entropy_of_a_volume_is_by_definition(rng):
    volume = rng.integers(0, 5, (4, 6, 7)).astype(np.uint8)
    footprint = rng.random((3, 2, 5)) < 0.7
    footprint[1, 1, 2] = True
    found = rank.entropy(volume, footprint)
    expected = np.zeros(volume.shape)
    for place in np.ndindex(*volume.shape):
        seen = []
        for cell in np.argwhere(footprint):
            at = cell - np.array(footprint.shape) // 2 + place
            if (at >= 0).all() and (at < volume.shape).all():
                seen.append(volume[tuple(at)])
        shares = np.unique(seen, return_counts=True)[1] / len(seen)
        expected[place] = -(shares * np.log2(shares)).sum()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    out = np.full(volume.shape, -1.0)
    assert rank.entropy(volume, footprint, out=out) is out
    np.testing.assert_array_equal(out, found)
    with pytest.raises(ValueError, match="dimensions"):
        rank.entropy(volume, np.ones((3, 3)))
    with pytest.raises(ValueError, match="2 or 3 dimensions, got 4"):
        rank.entropy(np.zeros((1, 1, 1, 1), np.uint8), np.ones((1, 1, 1, 1)))
    assert rank.entropy(np.zeros((2, 0, 3), np.uint8), np.ones((1, 1, 1))).shape == (2, 0, 3)


@pytest.mark.parametrize("dtype", (np.uint8, np.uint16))
def test_rank_entropy_of_a_volume_is_that_of_scikit_image(rng, monkeypatch, dtype):
    theirs = pytest.importorskip("skimage.filters.rank")
    for trial in range(18):
        volume = rng.integers(0, 300, rng.integers(1, 12, 3)).astype(dtype)
        footprint = (rng.random(rng.integers(1, 6, 3)) < 0.6).astype(np.uint8)
        footprint[0, 0, 0] = 1
        low, high = -(np.array(footprint.shape) // 2), (np.array(footprint.shape) - 1) // 2
        shifts = zip(("shift_x", "shift_y", "shift_z"), rng.integers(low, high + 1).tolist())
        options = {**dict(shifts), "mask": rng.random(volume.shape) < 0.5 if trial % 2 else None}
        if trial % 3 == 0:  # slabs of few planes
            monkeypatch.setattr(rank, "_SLAB", 1)
            monkeypatch.setattr(rank, "_WINDOW_ROWS", int(rng.integers(1, 20)))
        np.testing.assert_allclose(
            rank.entropy(volume, footprint, **options),
            theirs.entropy(volume, footprint, **options),
            atol=1e-12,
        )


def test_rank_entropy_refuses_what_scikit_image_refuses():
    for image, sides in ((np.zeros((5, 6), np.uint8), (3, 3)), (np.zeros((4, 5, 6), np.uint8), (3, 3, 3))):
        for name in ("shift_x", "shift_y", "shift_z")[: image.ndim]:
            for shift in (-3, -2, 2, 3):
                with pytest.raises(ValueError, match=f"half footprint . {name} must be between"):
                    rank.entropy(image, np.ones(sides), **{name: shift})
        np.testing.assert_array_equal(rank.entropy(image, np.zeros(sides)), np.zeros(image.shape))
        read_only = np.zeros(image.shape)
        read_only.flags.writeable = False
        for out in (np.zeros(image.shape[1:]), np.zeros(image.shape).T, read_only, [0]):
            with pytest.raises(ValueError, match="out"):
                rank.entropy(image, np.ones(sides), out=out)


def test_rank_entropy_of_other_types_is_that_of_scikit_image(rng):
    theirs = pytest.importorskip("skimage.filters.rank")
    for image in (rng.random((9, 10)), rng.integers(-9, 9, (9, 10)), rng.random((4, 5, 6))):
        footprint = np.ones((3,) * image.ndim)
        with pytest.warns(UserWarning, match="Possible precision loss"):
            expected = theirs.entropy(image, footprint)
        with pytest.warns(UserWarning, match="Possible precision loss"):
            found = rank.entropy(image, footprint)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    swapped = rng.integers(0, 999, (9, 10)).astype(">u2")
    np.testing.assert_array_equal(
        rank.entropy(swapped, np.ones((3, 3))), rank.entropy(swapped.astype("=u2"), np.ones((3, 3)))
    )


def test_a_volume_is_cut_where_its_windows_cost_least():
    long = np.ones((9, 3, 3), bool)
    assert rank._axes((50, 50, 50), long)[2] == 0  # 9 runs there, 27 along the others
    assert rank._axes((50, 50, 50), np.ones((3, 3, 3), bool)) == (0, 1, 2)
    assert rank._axes((2, 400, 400), np.ones((3, 3, 3), bool))[1] != 0  # two planes in five
    for window in ((1, 1, 1), (3, 5, 7), (40, 2, 2), (2, 40, 2)):
        for sides in ((1, 1, 1), (300, 200, 100), (1, 5000, 5000)):
            planes = rank._planes(sides, window)
            assert window[1] <= planes <= sides[1] + window[1] - 1
            if window[1] * window[0] <= 2048:
                assert (window[0] - 1) * planes + window[1] <= 4095  # what the library takes
