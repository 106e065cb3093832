/*
 * The machine code of a rung, as it is in this very program: machine_code.py reads it there with
 * the tools of the compiler. It is told where the rung's function, or the host's side of its
 * kernel, lies in the program's file.
 */
#include "show/machine_code.h"

#include "script.h"

#include "gpu/device.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the first object, which is the program. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(uintptr_t *)out = info->dlpi_addr;
    return 1;
}

/* The script with KIND PROGRAM ADDRESS and the `count` words from the fourth one on. */
static void ask_script(tw_context *ctx, const char *kind, uintptr_t address, int count,
                       const char *words[LAB_SCRIPT_WORDS])
{
    char program[PATH_MAX], place[24];
    uintptr_t bias = 0;
    int ignored = 0; /* it says itself what is missing */
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    (void)dl_iterate_phdr(take_bias, &bias);
    snprintf(place, sizeof place, "%llx", (unsigned long long)(address - bias));
    words[0] = kind;
    words[1] = program;
    words[2] = place;
    if (lab_run_script(ctx, "machine_code.py", count, words, &ignored) != TW_OK) {
        printf("\nmachine code is not shown: %s\n", tw_last_error(ctx));
    }
}

static void print_function(tw_context *ctx, const lab_rung *rung, const char *source)
{
    const char *words[LAB_SCRIPT_WORDS];
    char *rest = NULL, *names = strdup(source);
    int count = 3;
    for (char *word = names != NULL ? strtok_r(names, " ", &rest) : NULL;
         word != NULL && count < LAB_SCRIPT_WORDS; word = strtok_r(NULL, " ", &rest)) {
        words[count++] = word;
    }
    if (count > 3) {
        ask_script(ctx, "cpu", (uintptr_t)rung->run, count, words);
    }
    free(names);
}

static void print_kernel(tw_context *ctx, const void *kernel)
{
    const char *words[LAB_SCRIPT_WORDS];
    ask_script(ctx, "gpu", (uintptr_t)kernel, 3, words);
}

void lab_print_machine_code(tw_context *ctx, const lab_ladder *ladder, const lab_rung *rung,
                            const char *source)
{
    const void *kernel = ladder->kernel != NULL ? ladder->kernel(rung) : NULL;
    if (!ladder->gpu && !rung->gpu) {
        print_function(ctx, rung, source);
    } else if (strcmp(twi_gpu_prefix(), "cuda") != 0) {
        printf("\nmachine code is not shown: this build has no kernels for NVIDIA's cards; 'make "
               "cuda' makes one\n");
    } else if (kernel == NULL) {
        printf("\nmachine code is not shown: the rung has no kernel of its own\n");
    } else {
        print_kernel(ctx, kernel);
    }
}
