/* Every ladder; each has a file of its own. */
#ifndef LAB_LADDERS_LADDERS_H
#define LAB_LADDERS_LADDERS_H

#include "ladders/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const lab_ladder lab_apsp_cpu;
extern const lab_ladder lab_apsp_cpu_blocks;
extern const lab_ladder lab_apsp_threads;
extern const lab_ladder lab_apsp_threads_weak;
extern const lab_ladder lab_apsp_files;
extern const lab_ladder lab_apsp_gpu;
extern const lab_ladder lab_apsp_gpu_blocks;
extern const lab_ladder lab_apsp_gpu_shapes;
extern const lab_ladder lab_apsp_gpu_global;
extern const lab_ladder lab_apsp_gpu_copies;
extern const lab_ladder lab_apsp_hip;
extern const lab_ladder lab_apsp_scatter;
extern const lab_ladder lab_apsp_multi;
extern const lab_ladder lab_apsp_devices;
extern const lab_ladder lab_apsp_devices_weak;
extern const lab_ladder lab_apsp_sweep;
extern const lab_ladder lab_apsp_hops;
extern const lab_ladder lab_entropy_cpu;
extern const lab_ladder lab_entropy_threads;
extern const lab_ladder lab_entropy_threads_weak;
extern const lab_ladder lab_entropy_windows;
extern const lab_ladder lab_entropy_cpu_windows;
extern const lab_ladder lab_entropy_gpu_windows;
extern const lab_ladder lab_entropy_gpu;
extern const lab_ladder lab_entropy_gpu_threads;
extern const lab_ladder lab_entropy_multi;
extern const lab_ladder lab_entropy_multi_flat;
extern const lab_ladder lab_entropy_devices;
extern const lab_ladder lab_entropy_devices_weak;
extern const lab_ladder lab_map_cpu;
extern const lab_ladder lab_map_threads;
extern const lab_ladder lab_map_threads_weak;
extern const lab_ladder lab_map_gpu;

/* By name; TW_ERR_ARGUMENT suggests the nearest (find.c). The second: the only ladder that has
 * rungs of all these names. */
TW_CHECKED tw_status lab_find_ladder(tw_context *ctx, const char *name, const lab_ladder **out);
TW_CHECKED tw_status lab_find_ladder_of(tw_context *ctx, char **names, int count,
                                        const lab_ladder **out);
TW_CHECKED tw_status lab_find_rung(tw_context *ctx, const lab_ladder *ladder, const char *name,
                                   const lab_rung **out);

#ifdef __cplusplus
}
#endif

#endif
