/*
 * The lane search for one type; included by lanes_kernel.c with SUFFIX, TYPE (of a lane), MASK (the
 * integer of its size), ROW (of a result), ARC, CAP(net), ROW_INFINITY and WHOLE set. No guard: it
 * is included once per type, and takes its parameters away at the end.
 */
typedef TYPE NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef MASK NAME(mask) __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR NAME(vector)
#define LANES ((int)(TWI_LINE_BYTES / sizeof(TYPE)))

/* Which values go into which bucket of the queue, and which into none. */
typedef struct NAME(rule) {
    int shift;       /* whole numbers: bucket = value >> shift */
    double per_unit; /* floats: bucket = value * per_unit */
    TYPE cap;
    TYPE cutoff; /* at most the cap */
} NAME(rule);

/* a where m is set, else b. */
static inline VECTOR NAME(choose)(NAME(mask) m, VECTOR a, VECTOR b)
{
    return (VECTOR)(((NAME(mask))a & m) | ((NAME(mask))b & ~m));
}

#ifdef FOLD_LANES
static inline TYPE NAME(least_lane)(VECTOR vector)
{
    TYPE lane[VECTOR_BYTES / sizeof(TYPE)];
    memcpy(lane, &vector, sizeof lane);
    for (size_t half = VECTOR_BYTES / sizeof(TYPE) / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++) {
            lane[i] = lane[i + half] < lane[i] ? lane[i + half] : lane[i];
        }
    }
    return lane[0];
}
#endif

/* to = min(to, from + weight) in every lane; the least value that became smaller, cap if none. */
static inline TYPE NAME(relax)(const VECTOR *from, TYPE weight, TYPE cap, VECTOR *to)
{
    const VECTOR none = (VECTOR){0} + cap;
    VECTOR best = none;
    for (int i = 0; i < VECTORS; i++) {
        VECTOR sum = from[i] + weight;
        VECTOR old = to[i];
        VECTOR smaller = NAME(choose)((NAME(mask))(sum < old), sum, none);
        to[i] = NAME(LEAST)(sum, old);
        best = NAME(LEAST)(best, smaller);
    }
    return NAME(LANE)(best);
}

static inline uint32_t NAME(bucket)(TYPE value, const NAME(rule) * rule)
{
#if WHOLE
    return ((uint32_t)value >> rule->shift) % TWI_LANE_BUCKETS;
#else
    return (uint32_t)(uint64_t)fmin((double)value * rule->per_unit, 0x1p62) % TWI_LANE_BUCKETS;
#endif
}

static void NAME(make_rule)(const twi_lanes_job *job, NAME(rule) * rule)
{
    rule->per_unit = buckets_per_unit(job->net);
    rule->cap = CAP(job->net);
    rule->cutoff = job->cutoff < (double)rule->cap ? (TYPE)job->cutoff : rule->cap;
    rule->shift = 0;
    while (rule->shift < 30 && ldexp(rule->per_unit, rule->shift) < 1) {
        rule->shift++;
    }
}

/* Take up to ARCS_AT_ONCE arcs of a vertex whose line is `from`; returns how many vertices came
 * into the queue. */
static int NAME(scan)(twi_lanes_space *space, const ARC *arc, int count, const VECTOR *from,
                      const NAME(rule) * rule)
{
    VECTOR *line = space->line;
    TYPE best[ARCS_AT_ONCE];
    int pushed = 0;
    for (int i = 0; i < count; i++) { /* lines are scattered: a tenth of the time */
        const char *to = (const char *)(line + (int64_t)arc[i].target * VECTORS);
        __builtin_prefetch(to, 1);
        __builtin_prefetch(to + TWI_LINE_BYTES / 2, 1);
    }
    for (int i = 0; i < count; i++) {
        VECTOR *to = line + (int64_t)arc[i].target * VECTORS;
        best[i] = NAME(relax)(from, (TYPE)arc[i].weight, rule->cap, to);
    }
    for (int i = 0; i < count; i++) {
        int32_t v = (int32_t)arc[i].target;
        if (best[i] < rule->cap && best[i] <= rule->cutoff && !space->queued[v]) {
            push(space, v, NAME(bucket)(best[i], rule));
            pushed++;
        }
    }
    return pushed;
}

/* Does an arc lead from a lane below the cap to the same lane at it? */
static bool NAME(hides)(const twi_net *net, const VECTOR *line)
{
    const TYPE cap = CAP(net);
    const ARC *arc = net->arc;
    for (int64_t u = 0; u < net->n; u++) {
        const VECTOR *from = line + u * VECTORS;
        for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
            const VECTOR *to = line + (int64_t)arc[a].target * VECTORS;
            NAME(mask) found = {0};
            for (int i = 0; i < VECTORS; i++) {
                found |= (NAME(mask))(from[i] < cap) & (NAME(mask))(to[i] == cap);
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
    const TYPE cap = CAP(job->net);
    for (int64_t i = 0; i < job->net->n * LANES; i++) {
        line[i] = cap;
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
    NAME(rule) rule;
    NAME(make_rule)(job, &rule);
    VECTOR *line = space->line;
    int64_t waiting = NAME(start)(job, space);
    uint32_t bucket = 0;
    *scanned = 0;
    for (int64_t scans = 1; waiting > 0; scans++) {
        bucket = next_bucket(space, bucket);
        int32_t u = pop(space, bucket);
        waiting--;
        VECTOR from[VECTORS];
        memcpy(from, line + (int64_t)u * VECTORS, sizeof from);
        int64_t stop = net->offsets[u + 1];
        for (int64_t a = net->offsets[u]; a < stop; a += ARCS_AT_ONCE) {
            int count = stop - a < ARCS_AT_ONCE ? (int)(stop - a) : ARCS_AT_ONCE;
            waiting += NAME(scan)(space, arc + a, count, from, &rule);
        }
        *scanned += stop - net->offsets[u];
        if (scans % LOOK_EVERY == 0) {
            twi_lanes_end end = look_around(job, *scanned);
            if (end != TWI_LANES_DONE) {
                return end;
            }
        }
    }
    if (job->certify && rule.cutoff == rule.cap && NAME(hides)(net, line)) {
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
    const TYPE cap = CAP(job->net);
    for (int64_t first = 0; first < job->net->n; first += RUN) {
        int64_t stop = first + RUN < job->net->n ? first + RUN : job->net->n;
        for (int i = 0; i < job->count; i++) {
            ROW *row = rows[i];
            for (int64_t v = first; v < stop; v++) {
                TYPE value = line[(int64_t)job->net->place[v] * LANES + i];
                row[v] = value == cap ? ROW_INFINITY : (ROW)value;
            }
        }
    }
}

#undef VECTOR
#undef LANES
#undef SUFFIX
#undef TYPE
#undef MASK
#undef ROW
#undef ARC
#undef CAP
#undef ROW_INFINITY
#undef WHOLE
