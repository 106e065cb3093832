"""evaluate: against NumPy, with numexpr's expressions, broadcasting and types."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import evaluate


@pytest.mark.parametrize("n", (0, 1, 7, 4096, 40000, 100001))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_arithmetic_has_numpys_bits(rng, n, dtype):
    a, b, c = (rng.random(n).astype(dtype) + 1 for _ in range(3))
    found = evaluate("a * b + c / 2 - (a - b)**2")
    expected = a * b + c / dtype(2) - (a - b) ** 2
    assert found.dtype == dtype and found.shape == (n,)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "text",
    """sin(a) cos(a) tan(a) arcsin(a/9) arccos(a/9) arctan(a) sinh(a) cosh(a) tanh(a) arcsinh(a) arccosh(a+1)
    arctanh(a/9) copysign(a,b-2) nextafter(a,b) round(b-2) signbit(a-3) exp(a) expm1(a)
    log(a) log1p(a) log10(a) log2(a) sqrt(a) abs(-a) floor(a) ceil(a) trunc(a) arctan2(a,b) hypot(a,b)
    fmod(a,b) maximum(a,b) minimum(a,b) a%b (a-3)%(b-2) -a%b a**b -a +a isnan(a) isfinite(a) exp2(a) cbrt(a)""".split(),
)
def test_functions_are_numpys(rng, text):
    a, b = rng.random((30, 40)) * 5 + 0.1, rng.random((30, 40)) * 5 + 0.1
    expected = eval(text, {**vars(np), "a": a, "b": b})
    np.testing.assert_allclose(evaluate(text), expected, rtol=1e-14, atol=1e-15)


def test_halves_and_signs_are_numpys():
    a = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.0, -0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(evaluate("round(a)"), np.round(a))
    np.testing.assert_array_equal(evaluate("signbit(a)"), np.signbit(a))
    assert evaluate("signbit(a)").dtype == bool


@pytest.mark.parametrize(
    "text",
    [
        "a > b",
        "(a > b) & (a < 2)",
        "(a < 1) | ~(b < 1)",
        "0.5 < a < 2",
        "a == a",
        "a != b",
        "~(a>b)",
    ],
)
def test_comparisons_are_bool(rng, text):
    a, b = rng.random(5000) * 3, rng.random(5000) * 3
    found = evaluate(text)
    expected = (0.5 < a) & (a < 2) if text == "0.5 < a < 2" else eval(text)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(evaluate("where(a > b, a, -b)"), np.where(a > b, a, -b))


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 4), (4,)],
        [(3, 1), (1, 4)],
        [(5, 1), (4,)],
        [(2, 3, 4), (3, 1)],
        [(2, 3, 4), (2, 3, 4)],
        [(600, 1), (600, 700)],
        [(3, 4), ()],
        [(1,), (1, 1)],
    ],
)
def test_broadcasting(rng, shapes):
    a, b = (rng.random(shape) for shape in shapes)
    np.testing.assert_array_equal(evaluate("a + 2 * b"), a + 2 * b)


def test_layouts(rng):
    a = rng.random((60, 70))
    b = np.asfortranarray(rng.random((60, 70)))
    np.testing.assert_array_equal(evaluate("a + b"), a + b)
    c, d = a[::2, ::3], b[::-2, ::-3]
    np.testing.assert_array_equal(evaluate("c * d"), c * d)
    swapped = a.astype(">f8")
    np.testing.assert_array_equal(evaluate("swapped + 1"), a + 1)
    assert evaluate("b + b").flags.f_contiguous
    assert evaluate("b + b", order="C").flags.c_contiguous


@pytest.mark.parametrize(
    "kinds, result",
    [
        (("f4", "f4"), "f4"),
        (("f4", "u1"), "f4"),
        (("f4", "f2"), "f4"),
        (("f4", "i4"), "f8"),
        (("f4", "i8"), "f8"),
        (("f4", "f8"), "f8"),
        (("u1", "u1"), "f8"),
        (("i8", "i8"), "f8"),
        (("?", "f4"), "f4"),
        (("u4", "u8"), "f8"),
    ],
)
def test_types_of_results(kinds, result):
    a, b = (np.array([1, 0, 1], kind) for kind in kinds)
    found = evaluate("a + b * 2.5")
    assert found.dtype == np.dtype(result)
    np.testing.assert_array_equal(found, a.astype(float) + b.astype(float) * 2.5)


def test_small_integers_are_not_rounded():
    a = np.array([65535, 65533], np.uint16)
    np.testing.assert_array_equal(evaluate("a * a"), a.astype(float) ** 2)
    np.testing.assert_array_equal(evaluate("a * a == 4294836225"), [True, False])


def test_names_come_from_where_numexpr_has_them():
    a = np.ones(3)
    assert evaluate("a + k", {"a": a, "k": 2}).tolist() == [3, 3, 3]
    assert evaluate("a + k", {"a": a}, {"k": 3}).tolist() == [4, 4, 4]
    pi = np.full(3, 3.0)  # a variable, whatever the library calls it
    row = np.full(3, 7.0)
    assert evaluate("pi + row").tolist() == [10, 10, 10]
    with pytest.raises(KeyError, match="nowhere"):
        evaluate("a + nowhere")


def test_rows_and_columns(rng):
    x = rng.random((70, 900)).astype(np.float32) + 1
    found = evaluate("where(col % 2 == 1, x, -x) + row")
    i, j = np.indices(x.shape)
    np.testing.assert_array_equal(found, np.where(j % 2 == 1, x, -x) + i.astype(np.float32))
    v = np.arange(5.0)
    np.testing.assert_array_equal(evaluate("v * col"), v * v)
    cube = np.ones((2, 2, 2))
    with pytest.raises(ValueError, match="dimensions"):
        evaluate("cube + row")


def test_into_the_callers_array(rng):
    a = rng.random((50, 60))
    expected = a * 2
    out = np.empty((50, 60))
    assert evaluate("a * 2", out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.zeros((50, 120))
    evaluate("a * 2", out=wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], expected)
    assert not wide[:, 1::2].any()
    again = a.copy()
    evaluate("again * 2", out=again)
    np.testing.assert_array_equal(again, expected)
    shifted = a.copy().reshape(-1)
    evaluate("s * 2", {"s": shifted[:-1]}, out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], expected.reshape(-1)[:-1])
    with pytest.raises(TypeError, match="[Cc]ast"):
        evaluate("a * 2", out=np.empty((50, 60), np.float32))
    with pytest.raises(TypeError, match="'sin' takes no keyword arguments"):
        evaluate("sin(x=a)")
    evaluate("a * 2", out=np.empty((50, 60), np.float32), casting="same_kind")
    for bad in (np.empty((60, 50)), np.empty(3000)):
        with pytest.raises(ValueError, match="shape"):
            evaluate("a * 2", out=bad)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        evaluate("a * 2", out=out)


@pytest.mark.parametrize(
    "text, error",
    [
        ("a +", SyntaxError),
        ("a @ a", TypeError),
        ("a // 2", TypeError),
        ("a << 2", TypeError),
        ("gamma(a)", TypeError),
        ("sum(a)", TypeError),
        ("a.real", TypeError),
        ("a[0]", TypeError),
        ("'text'", TypeError),
        ("a + 1j", TypeError),
        ("sqrt(a, a)", ValueError),
        ("__import__('os')", TypeError),
        ("z + 1", TypeError),
        ("o + 1", TypeError),
    ],
)
def test_what_an_expression_cannot_be(text, error):
    a, z, o = np.ones(3), np.ones(3, complex), np.array([object()] * 3)
    with pytest.raises(error) as raised:
        evaluate(text, {"a": a, "z": z, "o": o})
    assert str(raised.value)


def test_scalars_alone():
    a, b = 3, np.float32(0.5)
    assert float(evaluate("a + b")) == 3.5
    assert float(evaluate("2 ** 10")) == 1024


def test_beside_numexpr(rng):
    numexpr = pytest.importorskip("numexpr")
    a, b, c = (rng.random((120, 130)) + 0.5 for _ in range(3))
    for text in (
        "a*b + sqrt(c)",
        "where((a > 1) & (b < 1), arctan2(a, b), exp(-c))",
        "(a - b) % c",
        "-a ** 2 + +b",
        "2.5 * a / (1 + log1p(b)) - c ** 3",
    ):
        np.testing.assert_allclose(evaluate(text), numexpr.evaluate(text), rtol=1e-14, atol=1e-15)


def test_options_are_checked():
    a = np.ones(3)
    with pytest.raises(ValueError):
        evaluate("a", order="Z")
    with pytest.raises((ValueError, NotImplementedError)):
        evaluate("a", device="toaster")
    assert evaluate("a + 1", threads=1, fast=True).tolist() == [2, 2, 2]
    assert isinstance(tw.evaluate("a > 0").sum(), np.integer)
