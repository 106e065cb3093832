/* A build without GPU code: there is nothing to start. See startup.h. */
#include "gpu/startup.h"

#include <math.h>
#include <stdio.h>

void tw_device_start(tw_context *ctx)
{
    (void)ctx;
}

double twi_gpu_await(tw_context *ctx)
{
    (void)ctx;
    return 0;
}

bool twi_gpu_is_starting(const tw_context *ctx)
{
    (void)ctx;
    return false;
}

bool twi_gpu_is_running(const tw_context *ctx)
{
    (void)ctx;
    return false;
}

double twi_gpu_worth_a_look(const tw_context *ctx, const char **why)
{
    (void)ctx;
    *why = "this build has no GPU code";
    return (double)INFINITY;
}

double twi_gpu_startup_seconds(const tw_context *ctx)
{
    (void)ctx;
    return 0;
}

bool twi_gpu_present(char *why, size_t size)
{
    snprintf(why, size, "this build has no GPU code");
    return false;
}
