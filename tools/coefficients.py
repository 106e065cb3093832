#!/usr/bin/env python3
"""Compute src/map/functions/coefficients.h: the polynomials and constants of the vector functions.

Each polynomial is the minimax one (Remez exchange over a dense grid, in 300 bits) of the part of a
function that is left after its leading terms, with the error weighted so that it is relative to the
function itself. Coefficients are rounded one by one, the lowest first, and the others fitted again
to what the rounding left. Needs mpmath; the file is what this prints, through clang-format. With
--words it prints the table of src/map/functions/reduce.c.
"""
import sys

from mpmath import mp, mpf

mp.prec = 300
GRID = 400


def nodes(a, b, count):
    """Chebyshev points of [a, b], denser towards the ends, without 0."""
    points = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    return [p for p in points if abs(p) > mpf(2) ** -40]


def remez(points, values, weights, powers):
    """Coefficients of sum c_j x^powers[j] nearest to values, and the weighted error."""
    n = len(powers)
    step = (len(points) - 1) / mpf(n)
    chosen = [int(mp.nint(i * step)) for i in range(n + 1)]
    error = mpf(1)
    for _ in range(30):
        matrix = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for i, at in enumerate(chosen):
            for j, power in enumerate(powers):
                matrix[i, j] = points[at] ** power
            matrix[i, n] = (-1) ** i / weights[at]
            right[i] = values[at]
        solution = mp.lu_solve(matrix, right)
        c = [solution[j] for j in range(n)]
        residual = []
        for x, value, weight in zip(points, values, weights):
            total = mpf(0)
            for power, cj in zip(powers, c):
                total += cj * x ** power
            residual.append(weight * (total - value))
        extremes = []  # of each run of one sign, the largest
        for i, r in enumerate(residual):
            if extremes and (residual[extremes[-1]] > 0) == (r > 0):
                if abs(r) > abs(residual[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > n + 1:
            extremes.pop(0 if abs(residual[extremes[0]]) < abs(residual[extremes[-1]]) else -1)
        error = max(abs(r) for r in residual)
        if len(extremes) < n + 1 or extremes == chosen:
            break
        chosen = extremes
    return c, error


def rounded(x, bits):
    """x to `bits` bits, ties away from even do not matter here."""
    if x == 0:
        return mpf(0)
    exponent = mp.floor(mp.log(abs(x), 2)) + 1
    scale = mpf(2) ** (bits - exponent)
    return mp.nint(x * scale) / scale


def fit(function, weight, a, b, terms, bits):
    points = nodes(mpf(a), mpf(b), GRID)
    values = [function(p) for p in points]
    weights = [weight(p) for p in points]
    kept = []
    rest = values
    for low in range(terms):
        if low == 0 or (low < 4 and a >= 0):
            fresh, _ = remez(points, rest, weights, list(range(low, terms)))
        else:  # around 0 the powers from `low` on have no unique best fit
            fresh = fresh[1:]
        value = rounded(fresh[0], bits)
        kept.append(value)
        rest = [r - value * p ** low for r, p in zip(rest, points)]
    error = max(abs(w * r) for w, r in zip(weights, rest))
    return kept, error


def literal(x, f64):
    """x is a number of that type already; without the zeros at the end."""
    mantissa, exponent = float(x).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent + ("" if f64 else "F")


def emit_list(name, values, f64, note):
    kind = "double" if f64 else "float"
    suffix = "f64" if f64 else "f32"
    print(f"/* {note} */")
    print(f"static const {kind} {name}_{suffix}[] = {{")
    line = "   "
    for value in values:
        text = literal(value, f64) + ","
        if len(line) + len(text) + 1 > 100:
            print(line)
            line = "   "
        line += " " + text
    print(line)
    print("};")


def polynomial(name, note, function, weight, a, b, goal32, goal64):
    for f64, bits, goal in ((False, 24, goal32), (True, 53, goal64)):
        if goal is None:
            continue
        terms = 2
        while True:
            points = nodes(mpf(a), mpf(b), 120)
            _, rough = remez(points, [function(p) for p in points], [weight(p) for p in points],
                             list(range(terms)))
            if rough < mpf(2) ** goal:
                break
            terms += 1
        values, error = fit(function, weight, a, b, terms, bits)
        emit_list(name, values, f64, f"{note}: 2^{float(mp.log(error, 2)):.1f}")


def parts(name, x, widths32, widths64):
    """x as a sum of numbers with so many bits each, the last in full."""
    for f64, widths in ((False, widths32), (True, widths64)):
        if widths is None:
            continue
        values = []
        rest = x
        for width in widths:
            values.append(rounded(rest, width))
            rest -= values[-1]
        emit_list(name, values, f64, f"{name.replace('_', ' ')}, in parts of {widths} bits")


def main():
    print("""/*
 * The polynomials and constants of functions.h, made by tools/coefficients.py: do not edit.
 * The number behind each is its error relative to the function.
 */
#ifndef TWI_MAP_FUNCTIONS_COEFFICIENTS_H
#define TWI_MAP_FUNCTIONS_COEFFICIENTS_H
""")
    ln2, pi = mp.log(2), mp.pi
    parts("ln2", ln2, [16, 24], [42, 53])
    parts("ln2_pair", ln2, [24, 24], [53, 53])
    parts("log2_e", 1 / ln2, [24, 24], [53, 53])
    parts("log10_2", mp.log(2, 10), [16, 24], [42, 53])
    parts("log10_e", 1 / mp.log(10), [24, 24], [53, 53])
    parts("half_pi", pi / 2, [24, 24, 24], [53, 53, 53])
    parts("two_over_pi", 2 / pi, [24], [53])
    parts("one_over_pi", 1 / pi, [24], None)
    parts("pi", pi, [24, 24, 24], None)
    parts("third", mpf(1) / 3, [24, 24], [53, 53])
    parts("cbrt_2", mp.cbrt(2), [24], [53])
    parts("cbrt_half", 1 / mp.cbrt(2), [24], [53])
    parts("tan_eighth", mp.tan(pi / 8), [24], [53])
    parts("tan_three_eighths", mp.tan(3 * pi / 8), [24], [53])
    parts("two_thirds", mpf(2) / 3, [24], [53])
    parts("half_root", mp.sqrt(mpf(1) / 2), [24], [53])
    polynomial("log_poly", "(log(1+f) - f + f^2/2) / f^3, |f| <= 1/3",
               lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f),
               -mpf(1) / 3, mpf(1) / 3, -29, -58)
    polynomial("log_short", "the same for log of f32",
               lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f),
               -mpf(1) / 3, mpf(1) / 3, -26, None)
    polynomial("log_brief", "the same for --fast",
               lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f),
               -mpf(1) / 3, mpf(1) / 3, -23.5, None)
    polynomial("log_wide", "the same for f32 computed in f64",
               lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f),
               -mpf(1) / 3, mpf(1) / 3, None, -42)
    exp_rest = lambda r: (mp.expm1(r) - r - r * r / 2) / r ** 3
    polynomial("exp_poly", "(e^r - 1 - r - r^2/2) / r^3, |r| <= ln2 / 2",
               exp_rest, lambda r: abs(r) ** 3, -ln2 / 2, ln2 / 2, -30, -60)
    polynomial("exp_brief", "the same for --fast",
               exp_rest, lambda r: abs(r) ** 3, -ln2 / 2, ln2 / 2, -22, None)
    polynomial("exp_wide", "the same for f32 computed in f64",
               exp_rest, lambda r: abs(r) ** 3, -ln2 / 2, ln2 / 2, None, -38)
    root = mp.sqrt
    polynomial("sin_poly", "(sin r - r) / r^3 in z = r^2, r <= pi/4",
               lambda z: (mp.sin(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.sin(root(z)), 0, (pi / 4) ** 2, -25, -58)
    polynomial("cos_poly", "(cos r - 1 + r^2/2) / r^4 in z = r^2, r <= pi/4",
               lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2,
               lambda z: z ** 2 / mp.cos(root(z)), 0, (pi / 4) ** 2, -29, -58)
    polynomial("sin_brief", "(sin r - r) / r^3 in z = r^2, r <= pi/2, for --fast",
               lambda z: (mp.sin(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.sin(root(z)), 0, (pi / 2) ** 2, -22, None)
    polynomial("tan_poly", "(tan r - r) / r^3 in z = r^2, r <= pi/4",
               lambda z: (mp.tan(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.tan(root(z)), 0, (pi / 4) ** 2, -28, -57)
    polynomial("asin_poly", "(asin s - s) / s^3 in z = s^2, s <= 1/2",
               lambda z: (mp.asin(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.asin(root(z)), 0, mpf(1) / 4, -28, -57)
    polynomial("atan_poly", "(atan s - s) / s^3 in z = s^2, s <= tan(pi/8)",
               lambda z: (mp.atan(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.atan(root(z)), 0, mp.tan(pi / 8) ** 2 * mpf("1.0001"), -28, -57)
    polynomial("sinh_poly", "(sinh x - x) / x^3 in z = x^2, x <= 1",
               lambda z: (mp.sinh(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.sinh(root(z)), 0, 1, -28, -57)
    polynomial("tanh_poly", "(tanh x - x) / x^3 in z = x^2, x <= 0.4",
               lambda z: (mp.tanh(root(z)) - root(z)) / root(z) ** 3,
               lambda z: root(z) ** 3 / mp.tanh(root(z)), 0, mpf("0.16"), -28, -57)
    polynomial("cbrt_poly", "a first guess of the cube root of 1/2 <= m < 1",
               lambda m: mp.cbrt(m), lambda m: 1 / mp.cbrt(m), mpf(1) / 2, 1, -9, -9)
    polynomial("atanh_poly", "(atanh s - s - s^3/3) / s^5 in z = s^2, s <= 0.1716",
               lambda z: (mp.atanh(root(z)) - root(z) - root(z) ** 3 / 3) / root(z) ** 5,
               lambda z: root(z) ** 5 / mp.atanh(root(z)), 0, mpf("0.1716") ** 2, None, -70)
    print("\n#endif")


def words():
    """A word of zeros, then the first 1216 bits of 2/pi."""
    mp.prec = 1400
    number = int(mp.floor(2 / mp.pi * mpf(2) ** 1216))
    print("static const uint64_t two_over_pi[] = {\n    0,")
    for i in range(18, -1, -1):
        print(f"    0x{(number >> (64 * i)) & (2 ** 64 - 1):016x},")
    print("};")


if sys.argv[1:] == ["--words"]:
    words()
else:
    main()
