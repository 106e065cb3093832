/*
 * Device code from text, at run time: compile, load, launch. The compiler (NVRTC, or hiprtc on HIP)
 * is a library that is opened when it is first asked for; a program that never asks needs none, and
 * one that asks on a machine without it gets TW_ERR_UNSUPPORTED and a sentence that says what to
 * install. Compiling needs no GPU and no driver.
 *
 * The environment variable TW_RTC names the compiler's file, instead of looking for it.
 */
#ifndef TWI_GPU_RTC_H
#define TWI_GPU_RTC_H

#include "base/context.h"

/* Machine code for one architecture. */
typedef struct twi_rtc_code {
    void *data;
    uint64_t bytes;
} twi_rtc_code;

/* The name and version of the compiler: "NVRTC 13.0". */
TW_CHECKED tw_status twi_rtc_version(tw_context *ctx, char out[32]);

/* The architecture of a device as the compiler calls it: "sm_90", "gfx90a". */
TW_CHECKED tw_status twi_rtc_architecture(tw_context *ctx, int32_t device, char out[32]);

/* What every compilation is given besides the architecture: nothing is contracted, division and
 * square root round correctly, small numbers stay. One string, for keys. */
void twi_rtc_options(char out[256]);

TW_CHECKED tw_status twi_rtc_compile(tw_context *ctx, twi_rtc_code *out, const char *source,
                                     const char *architecture);
void twi_rtc_code_clear(twi_rtc_code *code);

/* A kernel on the device that was current when it was loaded. */
typedef struct twi_rtc_kernel {
    void *module;
    void *function;
} twi_rtc_kernel;

/* TW_ERR_DEVICE when the driver refuses the code: it is damaged, or for another device. */
TW_CHECKED tw_status twi_rtc_load(tw_context *ctx, twi_rtc_kernel *out, const twi_rtc_code *code,
                                  const char *name);
void twi_rtc_unload(twi_rtc_kernel *kernel);

/* Put it on a stream of the current device; `argument` is its only one, a struct of `bytes`. */
TW_CHECKED tw_status twi_rtc_launch(tw_context *ctx, const twi_rtc_kernel *kernel,
                                    const uint32_t grid[3], const uint32_t block[3], void *argument,
                                    void *stream);

#endif
