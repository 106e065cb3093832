/*
 * Dijkstra with an indexed 4-ary heap for one type; included by dijkstra.c with KEY, ARC,
 * ORDER(arc) (the weight the search is ordered by), NAME, CAP, and DUAL (also sum `weight`, apart
 * from the order). No guard: it is included once per type.
 *
 * heap[1..size] holds keys and places; the children of i are 4i-2 ... 4i+1.
 */
typedef struct NAME(entry) {
    KEY key;
    int32_t place;
} NAME(entry);
#define ENTRY NAME(entry)

static void NAME(rise)(ENTRY *heap, int32_t *slot, int64_t i, ENTRY entry)
{
    while (i > 1) {
        int64_t parent = (i + 2) / 4;
        if (!(entry.key < heap[parent].key)) {
            break;
        }
        heap[i] = heap[parent];
        slot[heap[i].place] = (int32_t)i;
        i = parent;
    }
    heap[i] = entry;
    slot[entry.place] = (int32_t)i;
}

/* Put `entry` where the root was taken from. */
static void NAME(sink)(ENTRY *heap, int32_t *slot, int64_t size, ENTRY entry)
{
    int64_t i = 1;
    for (;;) {
        int64_t child = 4 * i - 2;
        if (child > size) {
            break;
        }
        int64_t last = child + 3 < size ? child + 3 : size;
        int64_t least = child;
        for (int64_t c = child + 1; c <= last; c++) {
            least = heap[c].key < heap[least].key ? c : least;
        }
        if (!(heap[least].key < entry.key)) {
            break;
        }
        heap[i] = heap[least];
        slot[heap[i].place] = (int32_t)i;
        i = least;
    }
    heap[i] = entry;
    slot[entry.place] = (int32_t)i;
}

static int64_t NAME(search)(const twi_dijkstra_job *job, twi_dijkstra_space *space)
{
    const twi_net *net = job->net;
    const ARC *arc = net->arc;
    KEY *distance = space->distance;
    ENTRY *heap = space->heap;
    int32_t *slot = space->slot;
    const KEY cutoff = job->cutoff < (double)CAP ? (KEY)job->cutoff : CAP;
    for (int64_t i = 0; i < net->n; i++) {
        distance[i] = CAP;
        slot[i] = 0; /* not in the heap */
    }
#if DUAL
    double *value = space->value;
    value[job->source] = 0;
#endif
    int64_t scanned = 0;
    int64_t look = TWI_DIJKSTRA_LOOK;
    int64_t size = 1;
    distance[job->source] = 0;
    NAME(rise)(heap, slot, 1, (ENTRY){0, job->source});
    while (size > 0) {
        ENTRY top = heap[1];
        int32_t u = top.place;
        ENTRY last = heap[size--];
        if (size > 0) {
            NAME(sink)(heap, slot, size, last);
        }
        if (top.key > cutoff) {
            break;
        }
        slot[u] = -1; /* settled */
        for (int64_t a = net->offsets[u]; a < net->offsets[u + 1]; a++) {
            int32_t v = (int32_t)arc[a].target;
            KEY sum = top.key + ORDER(arc[a]);
            if (!(sum < distance[v]) || slot[v] < 0) {
                continue;
            }
            distance[v] = sum;
#if DUAL
            value[v] = value[u] + arc[a].weight;
#endif
            NAME(rise)(heap, slot, slot[v] > 0 ? slot[v] : ++size, (ENTRY){sum, v});
        }
        scanned += net->offsets[u + 1] - net->offsets[u];
        if (scanned >= look) {
            look = scanned + TWI_DIJKSTRA_LOOK;
            if (twi_is_cancelled(job->ctx)) {
                break;
            }
        }
    }
    return scanned;
}

#undef ENTRY
#undef KEY
#undef ARC
#undef ORDER
#undef NAME
#undef CAP
#undef DUAL
