/*
 * The lane search for one type; included by lanes_kernel.c with TYPE (of a lane), MASK (the integer
 * of its size), ROW (of a result), ARC, NAME, CAP, ROW_INFINITY and CAPPED set. No guard: it is
 * included once per type, and takes its parameters away at the end.
 */
typedef TYPE NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef MASK NAME(mask) __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR NAME(vector)
#define LANES ((int)(TWI_LINE_BYTES / sizeof(TYPE)))

/* a where m is set, else b. */
static inline VECTOR NAME(choose)(NAME(mask) m, VECTOR a, VECTOR b)
{
    return (VECTOR)(((NAME(mask))a & m) | ((NAME(mask))b & ~m));
}

static inline VECTOR NAME(least)(VECTOR a, VECTOR b)
{
    return NAME(choose)((NAME(mask))(a < b), a, b);
}

/* to = min(to, from + weight) in every lane; the least value that became smaller, CAP if none. */
static inline TYPE NAME(relax)(const VECTOR *from, TYPE weight, VECTOR *to)
{
    const VECTOR none = (VECTOR){0} + CAP;
    VECTOR best = none;
    for (int i = 0; i < VECTORS; i++) {
        VECTOR sum = from[i] + weight;
        VECTOR old = to[i];
        NAME(mask) smaller = (NAME(mask))(sum < old);
        to[i] = NAME(choose)(smaller, sum, old);
        best = NAME(least)(best, NAME(choose)(smaller, sum, none));
    }
    TYPE lane[VECTOR_BYTES / sizeof(TYPE)];
    memcpy(lane, &best, sizeof lane);
    TYPE result = lane[0];
    for (size_t i = 1; i < VECTOR_BYTES / sizeof(TYPE); i++) {
        result = lane[i] < result ? lane[i] : result;
    }
    return result;
}

static inline TYPE NAME(arc_weight)(const ARC *arc)
{
#if CAPPED
    return (TYPE)(arc->weight < (int32_t)CAP ? arc->weight : (int32_t)CAP);
#else
    return arc->weight;
#endif
}

static inline uint32_t NAME(bucket)(TYPE value, double per_unit)
{
    return (uint32_t)(uint64_t)fmin((double)value * per_unit, 0x1p62) % TWI_LANE_BUCKETS;
}

/* Does an arc lead from a lane below the cap to the same lane at it? */
static bool NAME(hides)(const twi_net *net, const VECTOR *line)
{
    const ARC *arc = net->arc;
    for (int64_t u = 0; u < net->n; u++) {
        const VECTOR *from = line + u * VECTORS;
        for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
            const VECTOR *to = line + (int64_t)arc[a].target * VECTORS;
            NAME(mask) found = {0};
            for (int i = 0; i < VECTORS; i++) {
                found |= (NAME(mask))(from[i] < CAP) & (NAME(mask))(to[i] == CAP);
            }
            uint64_t word[VECTOR_BYTES / 8];
            memcpy(word, &found, sizeof word);
            uint64_t any = 0;
            for (size_t i = 0; i < VECTOR_BYTES / 8; i++) {
                any |= word[i];
            }
            if (any != 0) {
                return true;
            }
        }
    }
    return false;
}

static int64_t NAME(start)(const twi_lanes_job *job, twi_lanes_space *space)
{
    TYPE *line = space->line;
    for (int64_t i = 0; i < job->net->n * LANES; i++) {
        line[i] = CAP;
    }
    empty_queue(space, job->net->n);
    int64_t waiting = 0;
    for (int i = 0; i < job->count; i++) {
        int32_t s = job->sources[i];
        line[(int64_t)s * LANES + i] = 0;
        if (!space->queued[s]) {
            push(space, s, 0);
            waiting++;
        }
    }
    return waiting;
}

static twi_lanes_end NAME(search)(const twi_lanes_job *job, twi_lanes_space *space,
                                  int64_t *scanned)
{
    const twi_net *net = job->net;
    const ARC *arc = net->arc;
    const double per_unit = buckets_per_unit(net);
    const TYPE cutoff = job->cutoff < (double)CAP ? (TYPE)job->cutoff : CAP;
    VECTOR *line = space->line;
    int64_t waiting = NAME(start)(job, space);
    uint32_t bucket = 0;
    int64_t scans = 0;
    *scanned = 0;
    while (waiting > 0) {
        bucket = next_bucket(space, bucket);
        int32_t u = pop(space, bucket);
        waiting--;
        VECTOR from[VECTORS];
        memcpy(from, line + (int64_t)u * VECTORS, sizeof from);
        for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
            int32_t v = (int32_t)arc[a].target;
            TYPE best = NAME(relax)(from, NAME(arc_weight)(&arc[a]), line + (int64_t)v * VECTORS);
            if (best < CAP && !space->queued[v] && best <= cutoff) {
                push(space, v, NAME(bucket)(best, per_unit));
                waiting++;
            }
        }
        *scanned += net->offsets[u + 1] - net->offsets[u];
        if (++scans % LOOK_EVERY == 0) {
            if (twi_is_cancelled(job->ctx)) {
                return TWI_LANES_CANCELLED;
            }
            if (job->deadline > 0 && twi_seconds() > job->deadline) {
                return TWI_LANES_LATE;
            }
            if (*scanned > job->arc_limit) {
                return TWI_LANES_LIMIT;
            }
        }
    }
    if (job->certify && cutoff == CAP && NAME(hides)(net, line)) {
        return TWI_LANES_CAPPED;
    }
    return TWI_LANES_DONE;
}

/* Lines to rows: 16 vertices at a time, so that each row is written by whole cache lines. */
static void NAME(give_rows)(const twi_lanes_job *job, const twi_lanes_space *space,
                            void *const *rows)
{
    enum { RUN = 16 };
    const TYPE *line = space->line;
    for (int64_t first = 0; first < job->net->n; first += RUN) {
        int64_t stop = first + RUN < job->net->n ? first + RUN : job->net->n;
        for (int i = 0; i < job->count; i++) {
            ROW *row = rows[i];
            for (int64_t v = first; v < stop; v++) {
                TYPE value = line[(int64_t)job->net->place[v] * LANES + i];
                row[v] = value == CAP ? ROW_INFINITY : (ROW)value;
            }
        }
    }
}

#undef VECTOR
#undef LANES
#undef TYPE
#undef MASK
#undef ROW
#undef ARC
#undef NAME
#undef CAP
#undef ROW_INFINITY
#undef CAPPED
