/*
 * The lane search for one type; included by lanes_kernel.c with SUFFIX, TYPE (of a lane), MASK (the
 * integer of its size), KEY (of the queue), ROW (of a result), ARC, CAP(net), ROW_INFINITY and
 * WHOLE set. No guard: it is included once per type, and takes its parameters away at the end.
 */
typedef TYPE NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef MASK NAME(mask) __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR NAME(vector)
#define LANES ((int)(LINE / sizeof(TYPE)))

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

/* to = min(to, from + weight) in every lane; whether any became smaller, of those within the cutoff
 * if there is one. No sum is -0, since lines begin with +0, so where no lane is smaller no bit is
 * another. */
static inline bool NAME(relax)(const VECTOR *from, TYPE weight, bool cut, TYPE cutoff, VECTOR *to)
{
    NAME(mask) changed = {0};
    for (int i = 0; i < VECTORS; i++) {
        VECTOR old = to[i];
        to[i] = NAME(LEAST)(from[i] + weight, old);
        NAME(mask) differs = (NAME(mask))to[i] ^ (NAME(mask))old;
        changed |= cut ? differs & (NAME(mask))(to[i] <= cutoff) : differs;
    }
    return ANY(changed);
}

static inline uint32_t NAME(bucket)(KEY value, const NAME(rule) * rule)
{
#if WHOLE
    return (value >> rule->shift) % TWI_LANE_BUCKETS;
#else
    double at = (double)value * rule->per_unit; /* no fmin: on x86 a call, for the sake of NaN */
    return (uint32_t)(uint64_t)(at < 0x1p62 ? at : 0x1p62) % TWI_LANE_BUCKETS;
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

/* Take up to ARCS_AT_ONCE arcs of a vertex whose line is `from` and whose key is `way`; returns how
 * many vertices came into the queue. */
static int NAME(scan)(twi_lanes_space *space, const ARC *arc, int count, const VECTOR *from,
                      KEY way, const NAME(rule) * rule)
{
    VECTOR *line = space->line;
    bool better[ARCS_AT_ONCE];
    KEY *key = space->key;
    int pushed = 0;
    for (int i = 0; i < count; i++) { /* lines are scattered: a tenth of the time */
        const char *to = (const char *)(line + (int64_t)arc[i].target * VECTORS);
        for (int k = 0; k < LINE; k += TWI_CACHE_LINE) {
            __builtin_prefetch(to + k, 1);
        }
    }
    if (rule->cutoff == rule->cap) {
        for (int i = 0; i < count; i++) {
            VECTOR *to = line + (int64_t)arc[i].target * VECTORS;
            better[i] = NAME(relax)(from, (TYPE)arc[i].weight, false, 0, to);
        }
    } else {
        for (int i = 0; i < count; i++) {
            VECTOR *to = line + (int64_t)arc[i].target * VECTORS;
            better[i] = NAME(relax)(from, (TYPE)arc[i].weight, true, rule->cutoff, to);
        }
    }
    for (int i = 0; i < count; i++) {
        int32_t v = (int32_t)arc[i].target;
        if (better[i] && !space->queued[v]) {
            key[v] = way + (KEY)arc[i].weight;
            push(space, v, NAME(bucket)(key[v], rule));
            pushed++;
        }
    }
    return pushed;
}

/* Does an arc lead from a lane below the cap to the same lane at it? */
static bool NAME(hides)(tw_context *ctx, const twi_net *net, const VECTOR *line)
{
    const TYPE cap = CAP(net);
    const ARC *arc = net->arc;
    int64_t left = 0;
    for (int64_t u = 0; u < net->n; u++) {
        if (twi_is_stopped(ctx, &left, net->offsets[u + 1] - net->offsets[u])) {
            break;
        }
        const VECTOR *from = line + u * VECTORS;
        for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
            const VECTOR *to = line + (int64_t)arc[a].target * VECTORS;
            NAME(mask) found = {0};
            for (int i = 0; i < VECTORS; i++) {
                found |= (NAME(mask))(from[i] < cap) & (NAME(mask))(to[i] == cap);
            }
            if (ANY(found)) {
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
    for (int64_t v = 0; v < job->net->n && (v % LOOK_EVERY != 0 || !twi_is_cancelled(job->ctx));
         v++) {
        for (int i = 0; i < LANES; i++) {
            line[v * LANES + i] = cap;
        }
    }
    empty_queue(space, job->net->n);
    int64_t waiting = 0;
    for (int i = 0; i < job->count; i++) {
        int32_t s = job->sources[i];
        line[(int64_t)s * LANES + i] = 0;
        if (!space->queued[s]) {
            ((KEY *)space->key)[s] = 0;
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
    if (twi_is_cancelled(job->ctx)) {
        return TWI_LANES_CANCELLED;
    }
    uint32_t bucket = 0;
    *scanned = 0;
    int32_t list = -1; /* what the bucket held; what comes into it now waits for the next round */
    for (int64_t scans = 1; waiting > 0; scans++) {
        if (list < 0) {
            bucket = next_bucket(space, bucket);
            list = take_bucket(space, bucket);
        }
        int32_t u = list;
        list = space->next[u];
        space->queued[u] = 0;
        waiting--;
        if (list >= 0) { /* what the next one needs */
            const char *ahead = (const char *)(line + (int64_t)list * VECTORS);
            for (int k = 0; k < LINE; k += TWI_CACHE_LINE) {
                __builtin_prefetch(ahead + k);
            }
            __builtin_prefetch(arc + net->offsets[list]);
        }
        VECTOR from[VECTORS];
        memcpy(from, line + (int64_t)u * VECTORS, sizeof from);
        int64_t stop = net->offsets[u + 1];
        for (int64_t a = net->offsets[u]; a < stop; a += ARCS_AT_ONCE) {
            int count = stop - a < ARCS_AT_ONCE ? (int)(stop - a) : ARCS_AT_ONCE;
            waiting += NAME(scan)(space, arc + a, count, from, ((const KEY *)space->key)[u], &rule);
        }
        *scanned += stop - net->offsets[u];
        if (scans % LOOK_EVERY == 0) {
            twi_lanes_end end = look_around(job, *scanned);
            if (end != TWI_LANES_DONE) {
                return end;
            }
        }
    }
    if (job->certify && rule.cutoff == rule.cap && NAME(hides)(job->ctx, net, line)) {
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
        if (first % (LOOK_EVERY * RUN) == 0 && twi_is_cancelled(job->ctx)) {
            return;
        }
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
#undef KEY
#undef ROW
#undef ARC
#undef CAP
#undef ROW_INFINITY
#undef WHOLE
