/* The ladders that need a GPU, in a build without one: they have a name and no rungs. */
#include "ladders.h"

#define ABSENT(symbol, text, words) \
    const lab_ladder symbol = {.name = text, .title = words, .gpu = true}

ABSENT(lab_apsp_gpu, "apsp-gpu", "All-pairs shortest paths on a GPU");
ABSENT(lab_apsp_gpu_shapes, "apsp-gpu-shapes",
       "Blocks and thread shapes of a blocked closure on a GPU");
ABSENT(lab_entropy_gpu, "entropy-gpu",
       "Entropy of 5 x 5 windows, 16 levels, host to host by a GPU");
ABSENT(lab_map_gpu, "map-gpu", "One expression, ten passes in place, on a GPU");
ABSENT(lab_apsp_multi, "apsp-multi", "All-pairs shortest paths on two GPUs, host to host");
