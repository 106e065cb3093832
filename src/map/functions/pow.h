/*
 * Powers of one type (template: functions/parts.h): pow by pow_positive and the special values of
 * C, and those to small whole numbers by products with what their rounding leaves, so that only the
 * last rounding weighs. A power that is 0, infinite or NaN anyhow has no such rest: it is the plain
 * product.
 */
INLINE vec F(cube)(vec x)
{
    pair square = F(two_product)(x, x);
    vec whole = F(fma)(square.hi, x, square.lo * x);
    return F(select)(F(less)(square.hi, K(CUBE_FAR)), whole, square.hi * x);
}

INLINE vec F(fourth)(vec x)
{
    pair square = F(two_product)(x, x);
    vec whole = F(fma)(square.hi, square.hi, square.hi * (square.lo + square.lo));
    return F(select)(F(less)(square.hi, K(FOURTH_FAR)), whole, square.hi * square.hi);
}

/* By way of 1/x and what the division leaves, since x^2 may overflow where x^-2 is a number. */
INLINE vec F(inverse_square)(vec x)
{
    vec q = K(1) / x;
    vec rest = F(fma)(-q, x, K(1));
    vec whole = F(fma)(q, q, (q + q) * (q * rest));
    vec size = F(abs)(q);
    mask usual = F(less)(K(INVERSE_NEAR), size) & F(less)(size, K(INVERSE_FAR));
    return F(select)(usual, whole, q * q);
}

RARE vec F(pow)(vec x, vec y)
{
    vec size = F(abs)(x);
    mask zero = F(equal)(size, K(0));
    mask infinite = F(equal)(size, K(INFINITE));
    mask plain = F(less)(K(0), size) & F(less)(size, K(INFINITE)) & F(less)(F(abs)(y), K(INFINITE));
    vec value = F(pow_positive)(F(select)(plain, size, K(1)), F(select)(plain, y, K(0)));

    /* 0 and inf to a power, and any size to the power inf: all or nothing. */
    mask grows = F(less)(K(0), y);
    mask outside = infinite | F(less)(K(1), size);
    mask ends =
        (zero | infinite | F(equal)(F(abs)(y), K(INFINITE))) & F(opposite)(F(equal)(size, K(1)));
    mask large = (outside & grows) | F(opposite)(outside | grows);
    value = F(select)(ends, F(select)(large, K(INFINITE), K(0)), value);

    vec half = y * K(0.5);
    mask whole = F(equal)(F(rint)(y), y);
    mask odd = whole & F(opposite)(F(equal)(F(rint)(half), half)) & F(less)(F(abs)(y), K(INFINITE));
    mask negative = F(is_negative)(x);
    value = F(select)(negative & odd, -value, value);
    mask none = negative & F(opposite)(whole) & F(opposite)(zero | infinite);
    value = F(select)(none, K(NAN_VALUE), value);
    value = F(select)(F(is_nan)(x) | F(is_nan)(y), x + y, value);
    return F(select)(F(equal)(y, K(0)) | F(equal)(x, K(1)), K(1), value);
}

INLINE mask F(pow_is_rare)(vec x, vec y)
{
    return F(opposite)(F(less)(K(0), x) & F(less)(x, K(INFINITE)) &
                       F(less)(F(abs)(y), K(INFINITE)));
}

INLINE vec F(pow_usual)(vec x, vec y)
{
    return F(pow_positive)(x, y);
}
