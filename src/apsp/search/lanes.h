/*
 * The lane search: shortest paths from up to 128 sources at once, one SIMD lane a source.
 *
 * Every vertex has a line of 256 bytes (128 without AVX2): its distance from each source (128 of
 * u16, 64 of i32 or f32, 32 of f64). Scanning vertex u takes each arc u->v once for all sources,
 * line[v] = min(line[v], line[u] + w), and if a lane became smaller puts v, unless it is in it
 * already, into a bucket queue by the length of the walk that brought it there: the key of u and w.
 * (The minimum of the lanes that became smaller would be a worse key: on a grid a vertex is then
 * scanned 2.7 times as often.) The searches of different sources disagree about the order, so a
 * vertex is scanned several times (5 to 8 on random graphs) instead of once, but the queue, the
 * branches and the cache misses are paid once for all sources. Of lines of 128, 256 and 512 bytes,
 * 256 took the shortest time on a Xeon, with AVX-512 and with AVX2 (up to a third less than 128);
 * on a Neoverse N1 random graphs took as long as with 128, grids a sixth longer (November 2026).
 *
 * The order of scans cannot change the result: it is the minimum left-to-right sum over all walks,
 * for rounded sums too, since adding a weight >= 0 is monotone and never makes a sum smaller. So
 * it equals Dijkstra's bit for bit.
 *
 * Integers are truncated at a cap (i32: TW_APSP_INF_I32; u16: 65535 less the largest weight, which
 * may be TWI_NARROW_WEIGHT at most): a sum of the cap and a weight still fits the type, and a value
 * at the cap is never stored as an improvement. Entries below the cap are exact; entries at the cap
 * mean "no path" if and only if no arc leads from an entry below the cap to one at it, which
 * `certify` checks.
 */
#ifndef TWI_APSP_SEARCH_LANES_H
#define TWI_APSP_SEARCH_LANES_H

#include "apsp/search/net.h"

enum {
    TWI_LINE_BYTES = 256, /* at most */
    TWI_LANES_MOST = 128,
    TWI_LANE_BUCKETS = 512,
    TWI_NARROW_WEIGHT = 32767
};

/* One thread's memory. */
typedef struct twi_lanes_space {
    void *line;      /* n lines of the kernels' line_bytes, by place */
    int32_t *next;   /* n: chains of the queue */
    uint8_t *queued; /* n */
    void *key;       /* n of 8 bytes: what a vertex in the queue is ordered by */
    int32_t head[TWI_LANE_BUCKETS];
    uint64_t filled[TWI_LANE_BUCKETS / 64];
} twi_lanes_space;

typedef struct twi_lanes_job {
    const twi_net *net;
    const int32_t *sources; /* places, one per lane */
    int count;
    bool certify;      /* see that nothing is hidden at the cap (floats: at +inf) */
    double cutoff;     /* values above it need not be exact; +inf: none */
    int64_t arc_limit; /* stop after so many scans: one search a source will be faster */
    double deadline;   /* stop at this time of twi_thread_seconds; 0: none */
    tw_context *ctx;   /* for its cancel flag */
} twi_lanes_job;

typedef enum twi_lanes_end {
    TWI_LANES_DONE,
    TWI_LANES_CAPPED, /* some distance needs a wider type */
    TWI_LANES_LIMIT,  /* arc_limit was reached */
    TWI_LANES_LATE,   /* the deadline passed */
    TWI_LANES_CANCELLED
} twi_lanes_end;

/* The kernels of one lane type. rows[] has one pointer a source, to n elements in the order of
 * vertices: i32 for both integer types, else the lane's own type. */
typedef struct twi_lanes_kernel {
    int lanes;
    twi_lanes_end (*search)(const twi_lanes_job *job, twi_lanes_space *space, int64_t *scanned);
    void (*give_rows)(const twi_lanes_job *job, const twi_lanes_space *space, void *const *rows);
} twi_lanes_kernel;

typedef struct twi_lanes_kernels {
    int line_bytes;
    twi_lanes_kernel u16; /* nets of kind I32 */
    twi_lanes_kernel i32; /* likewise */
    twi_lanes_kernel f32;
    twi_lanes_kernel f64;
} twi_lanes_kernels;

extern const twi_lanes_kernels twi_lanes_scalar;
extern const twi_lanes_kernels twi_lanes_neon;
extern const twi_lanes_kernels twi_lanes_avx2;
extern const twi_lanes_kernels twi_lanes_avx512;

#endif
