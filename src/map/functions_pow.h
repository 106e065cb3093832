/*
 * pow of one type (template: functions_parts.h), by pow_positive and the special values of C.
 */
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
