/*
 * The polynomials and constants of functions.h, made by tools/coefficients.py: do not edit.
 * The number behind each is its error relative to the function.
 */
#ifndef TWI_MAP_FUNCTIONS_COEFFICIENTS_H
#define TWI_MAP_FUNCTIONS_COEFFICIENTS_H

/* ln2, in parts of [16, 24] bits */
static const float ln2_f32[] = {
    0x1.62e4p-1F,
    0x1.7f7d1cp-20F,
};
/* ln2, in parts of [42, 53] bits */
static const double ln2_f64[] = {
    0x1.62e42fefa38p-1,
    0x1.ef35793c7673p-45,
};
/* ln2 pair, in parts of [24, 24] bits */
static const float ln2_pair_f32[] = {
    0x1.62e43p-1F,
    -0x1.05c61p-29F,
};
/* ln2 pair, in parts of [53, 53] bits */
static const double ln2_pair_f64[] = {
    0x1.62e42fefa39efp-1,
    0x1.abc9e3b39803fp-56,
};
/* log2 e, in parts of [24, 24] bits */
static const float log2_e_f32[] = {
    0x1.715476p+0F,
    0x1.4ae0cp-26F,
};
/* log2 e, in parts of [53, 53] bits */
static const double log2_e_f64[] = {
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d24p-56,
};
/* log10 2, in parts of [16, 24] bits */
static const float log10_2_f32[] = {
    0x1.3442p-2F,
    -0x1.95ec1p-19F,
};
/* log10 2, in parts of [42, 53] bits */
static const double log10_2_f64[] = {
    0x1.34413509f78p-2,
    0x1.fef311f12b358p-46,
};
/* log10 e, in parts of [24, 24] bits */
static const float log10_e_f32[] = {
    0x1.bcb7b2p-2F,
    -0x1.5b235ep-27F,
};
/* log10 e, in parts of [53, 53] bits */
static const double log10_e_f64[] = {
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57,
};
/* half pi, in parts of [24, 24, 24] bits */
static const float half_pi_f32[] = {
    0x1.921fb6p+0F,
    -0x1.777a5cp-25F,
    -0x1.ee59dap-50F,
};
/* half pi, in parts of [53, 53, 53] bits */
static const double half_pi_f64[] = {
    0x1.921fb54442d18p+0,
    0x1.1a62633145c07p-54,
    -0x1.f1976b7ed8fbcp-110,
};
/* two over pi, in parts of [24] bits */
static const float two_over_pi_f32[] = {
    0x1.45f306p-1F,
};
/* two over pi, in parts of [53] bits */
static const double two_over_pi_f64[] = {
    0x1.45f306dc9c883p-1,
};
/* one over pi, in parts of [24] bits */
static const float one_over_pi_f32[] = {
    0x1.45f306p-2F,
};
/* pi, in parts of [24, 24, 24] bits */
static const float pi_f32[] = {
    0x1.921fb6p+1F,
    -0x1.777a5cp-24F,
    -0x1.ee59dap-49F,
};
/* third, in parts of [24, 24] bits */
static const float third_f32[] = {
    0x1.555556p-2F,
    -0x1.555556p-27F,
};
/* third, in parts of [53, 53] bits */
static const double third_f64[] = {
    0x1.5555555555555p-2,
    0x1.5555555555555p-56,
};
/* cbrt 2, in parts of [24] bits */
static const float cbrt_2_f32[] = {
    0x1.428a3p+0F,
};
/* cbrt 2, in parts of [53] bits */
static const double cbrt_2_f64[] = {
    0x1.428a2f98d728bp+0,
};
/* cbrt half, in parts of [24] bits */
static const float cbrt_half_f32[] = {
    0x1.965feap-1F,
};
/* cbrt half, in parts of [53] bits */
static const double cbrt_half_f64[] = {
    0x1.965fea53d6e3dp-1,
};
/* tan eighth, in parts of [24] bits */
static const float tan_eighth_f32[] = {
    0x1.a8279ap-2F,
};
/* tan eighth, in parts of [53] bits */
static const double tan_eighth_f64[] = {
    0x1.a827999fcef32p-2,
};
/* tan three eighths, in parts of [24] bits */
static const float tan_three_eighths_f32[] = {
    0x1.3504f4p+1F,
};
/* tan three eighths, in parts of [53] bits */
static const double tan_three_eighths_f64[] = {
    0x1.3504f333f9de6p+1,
};
/* two thirds, in parts of [24] bits */
static const float two_thirds_f32[] = {
    0x1.555556p-1F,
};
/* two thirds, in parts of [53] bits */
static const double two_thirds_f64[] = {
    0x1.5555555555555p-1,
};
/* half root, in parts of [24] bits */
static const float half_root_f32[] = {
    0x1.6a09e6p-1F,
};
/* half root, in parts of [53] bits */
static const double half_root_f64[] = {
    0x1.6a09e667f3bcdp-1,
};
/* (log(1+f) - f + f^2/2) / f^3, |f| <= 1/3: 2^-28.7 */
static const float log_poly_f32[] = {
    0x1.555556p-2F, -0x1.ffff0ep-3F, 0x1.99977ep-3F,  -0x1.559904p-3F, 0x1.24f48ep-3F,
    -0x1.f38a4p-4F, 0x1.b87e4ap-4F,  -0x1.071092p-3F, 0x1.ebd024p-4F,
};
/* (log(1+f) - f + f^2/2) / f^3, |f| <= 1/3: 2^-59.0 */
static const double log_poly_f64[] = {
    0x1.5555555555538p-2, -0x1.fffffffffff36p-3, 0x1.99999999a0098p-3, -0x1.55555555650bp-3,
    0x1.24924920b8f5ap-3, -0x1.fffffff10ac6fp-4, 0x1.c71c74095d654p-4, -0x1.99999d52df485p-4,
    0x1.745cb661e102ep-4, -0x1.5554c86e3fbf9p-4, 0x1.3b1dac8958ef4p-4, -0x1.249f6d6cb34c1p-4,
    0x1.106a063b98de6p-4, -0x1.fe6a78fd0115ap-5, 0x1.efb6888b44abap-5, -0x1.d6cb673fd4eb7p-5,
    0x1.563dc74064c9ap-5, -0x1.3a8190c48fcd8p-5, 0x1.5bfbbd0607fc8p-4, -0x1.555e33ed66e3bp-4,
};
/* the same for log of f32: 2^-27.4 */
static const float log_short_f32[] = {
    0x1.555506p-2F, -0x1.fffefp-3F, 0x1.99d028p-3F, -0x1.559dc4p-3F,
    0x1.1ed72p-3F,  -0x1.f3121p-4F, 0x1.1e668cp-3F, -0x1.0803cep-3F,
};
/* the same for --fast: 2^-24.7 */
static const float log_brief_f32[] = {
    0x1.555528p-2F, -0x1.000b1cp-2F, 0x1.99c32p-3F,  -0x1.515a74p-3F,
    0x1.1f9618p-3F, -0x1.35b39cp-3F, 0x1.1b0a22p-3F,
};
/* the same for f32 computed in f64: 2^-43.7 */
static const double log_wide_f64[] = {
    0x1.55555556235dcp-2, -0x1.00000002138adp-2, 0x1.9999981ebeb7p-3,  -0x1.5555528db40f7p-3,
    0x1.2492bcbb8969fp-3, -0x1.0000b0e533e0dp-3, 0x1.c6fb60658814bp-4, -0x1.996dd5c945537p-4,
    0x1.76dd7aa706544p-4, -0x1.584d0f7a25f9cp-4, 0x1.20ea9304e1214p-4, -0x1.081a61c179997p-4,
    0x1.993489fe40281p-4, -0x1.89e22e68c80cfp-4,
};
/* (e^r - 1 - r - r^2/2) / r^3, |r| <= ln2 / 2: 2^-31.9 */
static const float exp_poly_f32[] = {
    0x1.555556p-3F, 0x1.5554e6p-5F, 0x1.111094p-7F, 0x1.6d4ed8p-10F, 0x1.a19c5p-13F,
};
/* (e^r - 1 - r - r^2/2) / r^3, |r| <= ln2 / 2: 2^-60.6 */
static const double exp_poly_f64[] = {
    0x1.555555555555bp-3,  0x1.555555555555ap-5,  0x1.111111110ebffp-7,  0x1.6c16c16c1415dp-10,
    0x1.a01a01b3a2914p-13, 0x1.a01a01b1fbb61p-16, 0x1.71ddefc8ac6b4p-19, 0x1.27e4c2c567d3dp-22,
    0x1.af6c7b2c89376p-26, 0x1.1f99b7d4d90bp-29,
};
/* the same for --fast: 2^-28.2 */
static const float exp_brief_f32[] = {
    0x1.555492p-3F,
    0x1.5554cp-5F,
    0x1.1239fp-7F,
    0x1.6d7b04p-10F,
};
/* the same for f32 computed in f64: 2^-39.6 */
static const double exp_wide_f64[] = {
    0x1.5555557dff7a7p-3,  0x1.55555574a20ccp-5,  0x1.1110a20657969p-7,
    0x1.6c163fd26f95ap-10, 0x1.a185eeda32783p-13, 0x1.a1723f905c4p-16,
};
/* (sin r - r) / r^3 in z = r^2, r <= pi/4: 2^-27.9 */
static const float sin_poly_f32[] = {
    -0x1.555546p-3F,
    0x1.110778p-7F,
    -0x1.995408p-13F,
};
/* (sin r - r) / r^3 in z = r^2, r <= pi/4: 2^-63.2 */
static const double sin_poly_f64[] = {
    -0x1.5555555555555p-3, 0x1.1111111111068p-7,  -0x1.a01a019ffe08bp-13, 0x1.71de3a332c201p-19,
    -0x1.ae642b99172ep-26, 0x1.610939f49d2e6p-33, -0x1.9fb6659eba9fp-41,
};
/* (cos r - 1 + r^2/2) / r^4 in z = r^2, r <= pi/4: 2^-33.0 */
static const float cos_poly_f32[] = {
    0x1.55554ap-5F,
    -0x1.6c0c28p-10F,
    0x1.99e80cp-16F,
};
/* (cos r - 1 + r^2/2) / r^4 in z = r^2, r <= pi/4: 2^-63.9 */
static const double cos_poly_f64[] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c15015p-10, 0x1.a01a019c8f24fp-16,
    -0x1.27e4f7f190c94p-22, 0x1.1ee9dbce75942p-29,  -0x1.8fa6842a5e7a9p-37,
};
/* (sin r - r) / r^3 in z = r^2, r <= pi/2, for --fast: 2^-27.3 */
static const float sin_brief_f32[] = {
    -0x1.55554cp-3F,
    0x1.110edap-7F,
    -0x1.9f70eep-13F,
    0x1.5dc8c4p-19F,
};
/* (tan r - r) / r^3 in z = r^2, r <= pi/4: 2^-29.5 */
static const float tan_poly_f32[] = {
    0x1.55556p-2F,  0x1.110d9ep-3F,  0x1.bad9c2p-5F, 0x1.5cc0d4p-6F,
    0x1.62cb3ap-7F, 0x1.9c05acp-14F, 0x1.1e91d4p-8F,
};
/* (tan r - r) / r^3 in z = r^2, r <= pi/4: 2^-59.9 */
static const double tan_poly_f64[] = {
    0x1.555555555555dp-2,  0x1.11111111106ddp-3,   0x1.ba1ba1bab2383p-5,  0x1.664f485fc6159p-6,
    0x1.226e3a2f64c8p-7,   0x1.d6d2f4bcac1dbp-9,   0x1.7db0d89d1ff11p-10, 0x1.34c320c5e9521p-11,
    0x1.fecb368991c63p-13, 0x1.607245c83fca9p-14,  0x1.16605dc7c39d6p-14, -0x1.9c143e3d63537p-16,
    0x1.9082883fe2746p-15, -0x1.8fdce24d71931p-16, 0x1.45857508efb51p-17,
};
/* (asin s - s) / s^3 in z = s^2, s <= 1/2: 2^-31.7 */
static const float asin_poly_f32[] = {
    0x1.55554cp-3F, 0x1.3338acp-4F, 0x1.6ca754p-5F, 0x1.04d2e6p-5F, 0x1.d522fcp-7F, 0x1.34c596p-5F,
};
/* (asin s - s) / s^3 in z = s^2, s <= 1/2: 2^-59.9 */
static const double asin_poly_f64[] = {
    0x1.5555555555577p-3, 0x1.333333332e131p-4, 0x1.6db6db72126cbp-5, 0x1.f1c71a94ef717p-6,
    0x1.6e8bdee0c7a3dp-6, 0x1.1c49f05163b49p-6, 0x1.ca1f8ea41feb4p-7, 0x1.75857f222c762p-7,
    0x1.613cc982869b6p-7, 0x1.e5f1e3a4635f4p-9, 0x1.639d8ba72b312p-6, -0x1.57ff01cc8fe87p-6,
    0x1.0b47335c08bbp-5,
};
/* (atan s - s) / s^3 in z = s^2, s <= tan(pi/8): 2^-30.4 */
static const float atan_poly_f32[] = {
    -0x1.55554ap-2F, 0x1.9991e2p-3F, -0x1.23b9a2p-3F, 0x1.b22456p-4F, -0x1.f2e59cp-5F,
};
/* (atan s - s) / s^3 in z = s^2, s <= tan(pi/8): 2^-59.4 */
static const double atan_poly_f64[] = {
    -0x1.555555555553dp-2, 0x1.9999999995864p-3, -0x1.24924922ad1f5p-3, 0x1.c71c70e5efd98p-4,
    -0x1.745cf8d86de14p-4, 0x1.3b1118d1080d6p-4, -0x1.10ebb4d929fccp-4, 0x1.df0f18f8a8368p-5,
    -0x1.9cd1db4e56311p-5, 0x1.37d36c79efaf7p-5, -0x1.25658bf8f1902p-6,
};
/* (sinh x - x) / x^3 in z = x^2, x <= 1: 2^-31.6 */
static const float sinh_poly_f32[] = {
    0x1.555556p-3F,
    0x1.1110ep-7F,
    0x1.a022bcp-13F,
    0x1.756c1ep-19F,
};
/* (sinh x - x) / x^3 in z = x^2, x <= 1: 2^-61.8 */
static const double sinh_poly_f64[] = {
    0x1.5555555555556p-3,  0x1.111111111101ep-7,  0x1.a01a01a03726ap-13, 0x1.71de3a3b069cap-19,
    0x1.ae646ff53fbddp-26, 0x1.6116f47c23fafp-33, 0x1.b5c8a945cc53ap-41,
};
/* (tanh x - x) / x^3 in z = x^2, x <= 0.4: 2^-29.1 */
static const float tanh_poly_f32[] = {
    -0x1.55553ep-2F,
    0x1.1105ecp-3F,
    -0x1.b6c5e2p-5F,
    0x1.330edep-6F,
};
/* (tanh x - x) / x^3 in z = x^2, x <= 0.4: 2^-59.1 */
static const double tanh_poly_f64[] = {
    -0x1.555555555553fp-2,  0x1.111111110e51ap-3,  -0x1.ba1ba1b661e21p-5,
    0x1.664f474569f7dp-6,   -0x1.226df9841cfedp-7, 0x1.d6c6220b7f0f7p-9,
    -0x1.7cab3456e8448p-10, 0x1.2a9da0b3c5a7bp-11, -0x1.6e29bf9e17b6cp-13,
};
/* a first guess of the cube root of 1/2 <= m < 1: 2^-10.6 */
static const float cbrt_poly_f32[] = {
    0x1.f92288p-2F,
    0x1.6527ecp-1F,
    -0x1.88323ap-3F,
};
/* a first guess of the cube root of 1/2 <= m < 1: 2^-10.6 */
static const double cbrt_poly_f64[] = {
    0x1.f92287b02fd5ap-2,
    0x1.6527eccb57f8ap-1,
    -0x1.88323c9c14652p-3,
};
/* (atanh s - s - s^3/3) / s^5 in z = s^2, s <= 0.1716: 2^-73.5 */
static const double atanh_poly_f64[] = {
    0x1.9999999999996p-3, 0x1.2492492492f51p-3, 0x1.c71c71c59689p-4,  0x1.745d18295dbfep-4,
    0x1.3b1364c63b435p-4, 0x1.11206fcd7e134p-4, 0x1.de3d510ec3871p-5, 0x1.eac6f50550a97p-5,
};

#endif
