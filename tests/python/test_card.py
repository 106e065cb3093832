"""Arrays in the memory of a real GPU, by CuPy and PyTorch: the results of the host, where the arrays
lie, on the streams that are current. Skipped where there is no card, or the library has no GPU code."""

import numpy as np
import pytest

import tilewright as tw


def cupy_side():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no GPU: {error}")
    return cupy.asarray, cupy.asnumpy, lambda: cupy.cuda.Stream(non_blocking=True)


def torch_side():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return (
        lambda a: torch.as_tensor(a, device="cuda"),
        lambda t: t.cpu().numpy(),
        lambda: torch.cuda.stream(torch.cuda.Stream()),
    )


@pytest.fixture(params=["cupy", "torch"])
def card(request):
    put, get, stream = {"cupy": cupy_side, "torch": torch_side}[request.param]()
    try:
        tw.apsp(put(np.zeros((2, 2), np.float32)))
    except NotImplementedError as error:
        pytest.skip(str(error))
    return put, get, stream


@pytest.mark.parametrize("dtype", (np.int32, np.float32, np.float64))
@pytest.mark.parametrize("n", (1, 127, 128, 300))
def test_distances_on_a_card(card, rng, dtype, n):
    put, get, stream = card
    graph = np.where(rng.random((n, n)) < 0.2, rng.integers(1, 100, (n, n)), 0).astype(dtype)
    expected = tw.apsp(graph, dtype=dtype)
    with stream():
        found = get(tw.apsp(put(graph)))
    np.testing.assert_array_equal(found, expected)
    both = get(tw.apsp(put(graph), directed=False))
    np.testing.assert_array_equal(both, tw.apsp(graph, directed=False, dtype=dtype))
    matrix = put(graph)
    assert tw.apsp(matrix, out=matrix) is matrix
    np.testing.assert_array_equal(get(matrix), expected)


@pytest.mark.parametrize("dtype", (np.uint8, np.uint16, np.float32))
@pytest.mark.parametrize("result", (np.float32, np.float64))
def test_entropies_on_a_card(card, rng, dtype, result):
    put, get, stream = card
    image = rng.integers(0, 16, (150, 210)).astype(dtype)
    for options in ({"window": 5}, {"radius": 3, "base": 2}, {"window": (3, 7), "border": "wrap"}):
        with stream():
            found = get(tw.entropy(put(image), levels=16, dtype=result, **options))
        np.testing.assert_array_equal(
            found, tw.entropy(image, levels=16, dtype=result, device="cpu", **options)
        )


def test_expressions_on_a_card(card, rng):
    put, get, stream = card
    for kind, limit in ((np.float32, 1e-6), (np.float64, 1e-14)):
        a, b = rng.random((90, 130)).astype(kind), rng.random((90, 1)).astype(kind)
        with stream():
            names = {"a": put(a), "b": put(b), "k": 3}
            found = get(tw.evaluate("a * k + sqrt(b) + where(a > b, col, 0)", names, {}))
        assert found.dtype == kind
        expected = a * 3 + np.sqrt(b) + np.where(a > b, np.arange(130), 0)
        np.testing.assert_allclose(found, expected, rtol=limit)


def test_arrays_that_do_not_fit_are_refused(card):
    put, _, _ = card
    with pytest.raises(ValueError):
        tw.apsp(put(np.zeros((2, 3), np.float32)))
    with pytest.raises(ValueError, match="negative"):
        tw.apsp(put(-np.ones((2, 2), np.float32)))
