/*
 * The functions of generated kernels (src/map/gpu/functions.cuh) on every f32 argument there is,
 * against the same function in f64: the largest error of each in ulp, as lines of JSON. Built and
 * run by bench/gpu_map.sh with the options that kernels are compiled with.
 */
#include "map/gpu/functions.cuh"

#include <cstdint>
#include <cstdio>

/* Both as they compare: a maximum of bit patterns finds the largest error and its argument. */
__device__ static double error_of(float y, double truth)
{
    float nearest = (float)truth;
    if (isnan(nearest) || isnan(y) || isinf(nearest) || isinf(y)) {
        bool same = (isnan(nearest) && isnan(y)) || nearest == y;
        bool edge = (isinf(nearest) && fabsf(y) == 3.4028235e38f) ||
                    (isinf(y) && fabsf(nearest) == 3.4028235e38f);
        return same ? 0 : edge ? 1 : 1e30;
    }
    int exponent = -125;
    if (fabs(truth) >= 1.1754943508222875e-38) {
        frexp(truth, &exponent);
    }
    double error = fabs((double)y - truth) / ldexp(1.0, exponent - 24);
    return truth == 0 && signbit(y) != signbit(truth) ? 1e29 : error;
}

#define EVERY(name)                                                                         \
    __global__ void every_##name(unsigned long long *worst, float *at)                      \
    {                                                                                       \
        double most = 0;                                                                    \
        float most_at = 0;                                                                  \
        const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;                          \
        for (uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; k < 1ull << 32;  \
             k += threads) {                                                                \
            float x[1] = {__int_as_float((int)(uint32_t)k)};                                \
            float y[1];                                                                     \
            tw_##name(y, x);                                                                \
            double error = error_of(y[0], name((double)x[0]));                              \
            if (error > most) {                                                             \
                most = error;                                                               \
                most_at = x[0];                                                             \
            }                                                                               \
        }                                                                                   \
        unsigned long long bits = (unsigned long long)__double_as_longlong(most);           \
        if (atomicMax(worst, bits) < bits) {                                                \
            *at = most_at;                                                                  \
        }                                                                                   \
    }                                                                                       \
    static bool try_##name(unsigned long long *worst, float *at)                            \
    {                                                                                       \
        *worst = 0;                                                                         \
        *at = 0;                                                                            \
        every_##name<<<132 * 8, 256>>>(worst, at);                                          \
        cudaError_t error = cudaDeviceSynchronize();                                        \
        double ulp = *(double *)worst;                                                      \
        printf("{\"function\": \"" #name "\", \"ulp\": %.4f, \"at\": \"%a\"}\n", ulp, *at); \
        if (error != cudaSuccess) {                                                         \
            fprintf(stderr, #name ": %s\n", cudaGetErrorString(error));                     \
        }                                                                                   \
        return error == cudaSuccess && ulp <= 1;                                            \
    }
EVERY(sqrt)
EVERY(cbrt)
EVERY(exp)
EVERY(exp2)
EVERY(expm1)
EVERY(log)
EVERY(log2)
EVERY(log10)
EVERY(log1p)
EVERY(sin)
EVERY(cos)
EVERY(tan)
EVERY(asin)
EVERY(acos)
EVERY(atan)
EVERY(sinh)
EVERY(cosh)
EVERY(tanh)
EVERY(asinh)
EVERY(acosh)
EVERY(atanh)

int main()
{
    unsigned long long *worst;
    float *at;
    if (cudaMallocManaged(&worst, sizeof *worst) != cudaSuccess ||
        cudaMallocManaged(&at, sizeof *at) != cudaSuccess) {
        fprintf(stderr, "no memory on the device\n");
        return 1;
    }
    bool good = true;
    bool (*const all[])(unsigned long long *, float *) = {
        try_sqrt,  try_cbrt,  try_exp,  try_exp2, try_expm1, try_log,   try_log2,
        try_log10, try_log1p, try_sin,  try_cos,  try_tan,   try_asin,  try_acos,
        try_atan,  try_sinh,  try_cosh, try_tanh, try_asinh, try_acosh, try_atanh};
    for (auto one : all) {
        good = one(worst, at) && good;
    }
    return good ? 0 : 1;
}
