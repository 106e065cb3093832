/*
 * The rounds of a GPU closure. Round k, with p = k + 1 the next pivot:
 *
 *   ahead   head: p's rows and columns take update k, into the raw panels; close: p's tile;
 *           panels: the closed tile times the raw panels
 *   wide    update: everything but the rows and columns of k and p takes update k
 *
 * The two streams meet twice per round: head(k) needs update(k-1) to be done, update(k) needs
 * panels(k). Packed panels exist twice, by the parity of their pivot; what only the stream ahead
 * uses exists once.
 *
 * A matrix that the processors hold all at once is closed in one launch instead, and one of up to
 * some thousand vertices in one launch per round (gpu/kernels/round.cu). Which takes which size was
 * measured on an H200 (bench/gpu.sh; docs/gpu.md).
 */
#include "apsp/gpu/gpu.h"

#include "apsp/closure/closure.h"
#include "apsp/gpu/kernels/area.h"
#include "apsp/gpu/kernels/convert.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"

extern const twi_gpu_kernel twi_gpu_kernel_i32_128, twi_gpu_kernel_i32_64, twi_gpu_kernel_f32_128,
    twi_gpu_kernel_f32_64, twi_gpu_kernel_u16_128, twi_gpu_kernel_f64_64;
extern const twi_gpu_area_kernel twi_gpu_area_i32_128, twi_gpu_area_i32_64, twi_gpu_area_f32_128,
    twi_gpu_area_f32_64, twi_gpu_area_u16_128, twi_gpu_area_f64_64;

enum { KERNELS = 6 };
/* Of one type, largest tile first. */
static const twi_gpu_kernel *const kernels[KERNELS] = {
    &twi_gpu_kernel_i32_128, &twi_gpu_kernel_i32_64,  &twi_gpu_kernel_f32_128,
    &twi_gpu_kernel_f32_64,  &twi_gpu_kernel_u16_128, &twi_gpu_kernel_f64_64,
};
static const twi_gpu_area_kernel *const area_kernels[KERNELS] = {
    &twi_gpu_area_i32_128, &twi_gpu_area_i32_64,  &twi_gpu_area_f32_128,
    &twi_gpu_area_f32_64,  &twi_gpu_area_u16_128, &twi_gpu_area_f64_64,
};
extern const twi_gpu_rounds twi_gpu_rounds_i32_64_4, twi_gpu_rounds_i32_64_8,
    twi_gpu_rounds_i32_128_8, twi_gpu_rounds_f32_64_4, twi_gpu_rounds_f32_64_8,
    twi_gpu_rounds_f32_128_8, twi_gpu_rounds_u16_128_8;

/* Where one way through a closure becomes faster than the next: i32 and 16 bits measured on an H200
 * (compute capability 9.0), November 2026; f32 is taken to be as i32, and other cards as that one,
 * until somebody measures them. */
#define SMALL_TILES_UP_TO 3840 /* n */
/* Rounds of one launch each: the first of a type and tile side that takes so many vertices. */
static const struct {
    tw_type type;
    int32_t side;
    int32_t most;
    int32_t most_symmetric;
    const twi_gpu_rounds *rounds;
} overlapping[] = {
    {TW_I32, 64, 2240, 2240, &twi_gpu_rounds_i32_64_4},
    {TW_I32, 64, 3840, 0, &twi_gpu_rounds_i32_64_8},
    {TW_I32, 128, 8192, 8192, &twi_gpu_rounds_i32_128_8},
    {TW_F32, 64, 2240, 2240, &twi_gpu_rounds_f32_64_4},
    {TW_F32, 64, 3840, 0, &twi_gpu_rounds_f32_64_8},
    {TW_F32, 128, 8192, 8192, &twi_gpu_rounds_f32_128_8},
    {TW_U16, 128, 12288, 12288, &twi_gpu_rounds_u16_128_8},
};
#define TOGETHER_MOST 22 /* tiles per side: 484 tiles are what a large GPU can hold at once */
#define FINE_MOST 48     /* and 2304 of half the side */
/* Overlapping rounds that are queued before the host waits for the same number before them: who
 * cancels waits for twice as many. */
#define ROUNDS_PER_PACE 8

/* Of panels: two where rounds take turns, three where they overlap. */
enum { PLACES = 3 };

typedef struct gpu_closure {
    tw_context *ctx;
    const twi_gpu_kernel *kernel;
    twi_gpu_round round;
    void *row[PLACES];
    void *col[PLACES];
    uint8_t *row_nonempty[2];
    uint8_t *col_nonempty[2];
    const twi_gpu_rounds *rounds; /* NULL: rounds on two streams */
    struct overlapped {
        void *raw_row[2]; /* by the parity of their pivot */
        void *raw_col[2];
        void *tile[2];
        void *tile_t[2];
        int32_t *row_ready; /* pivots x tiles */
        int32_t *col_ready;
        int32_t *raw_ready; /* pivots x 2 x tiles */
    } overlapped;           /* where each round is one launch */
    cudaStream_t wide;
    cudaStream_t ahead;
    cudaEvent_t updated[2]; /* by the parity of the pivot */
    cudaEvent_t prepared[2];
    bool paced;
} gpu_closure;

const twi_gpu_kernel *twi_gpu_kernel_find(tw_type type, int32_t side)
{
    for (int i = 0; i < KERNELS; i++) {
        if (kernels[i]->type == type && (side == 0 || kernels[i]->side == side)) {
            return kernels[i];
        }
    }
    return NULL;
}

const twi_gpu_area_kernel *twi_gpu_area_kernel_find(tw_type type, int32_t side)
{
    for (int i = 0; i < KERNELS; i++) {
        if (area_kernels[i]->type == type && area_kernels[i]->side == side) {
            return area_kernels[i];
        }
    }
    return NULL;
}

/* A matrix of one large tile is closed as such, unless all processors are faster together. */
const twi_gpu_kernel *twi_gpu_kernel_choose(tw_type type, int64_t n)
{
    const twi_gpu_kernel *large = twi_gpu_kernel_find(type, 0);
    const twi_gpu_kernel *small = twi_gpu_kernel_find(type, 64);
    if (small == NULL || n > SMALL_TILES_UP_TO) {
        return large;
    }
    const bool fine = small->together_side < small->side;
    return n <= small->side || n > large->side || fine ? small : large;
}

/* ---------------------------------------------------------------------------------- memory */

static uint64_t place_panels(gpu_closure *self, void *base)
{
    const twi_gpu_kernel *kernel = self->kernel;
    twi_gpu_round *round = &self->round;
    int64_t panel = (int64_t)kernel->side * round->tiles * kernel->side;
    int64_t tile = (int64_t)kernel->side * kernel->side;
    uint64_t used = 0;
    for (int i = 0; i < 2; i++) {
        self->row[i] = twi_gpu_place(base, &used, panel, kernel->element);
        /* The column panel of a symmetric matrix is its row panel, if it looks the same. */
        bool shared = round->symmetric && kernel->word == kernel->element;
        self->col[i] = shared ? self->row[i] : twi_gpu_place(base, &used, panel, kernel->word);
        self->row_nonempty[i] = twi_gpu_place(base, &used, round->tiles, 1);
        self->col_nonempty[i] =
            round->symmetric ? self->row_nonempty[i] : twi_gpu_place(base, &used, round->tiles, 1);
    }
    round->raw_row = twi_gpu_place(base, &used, panel, kernel->element);
    round->raw_col = round->symmetric ? NULL : twi_gpu_place(base, &used, panel, kernel->element);
    round->raw_tile = twi_gpu_place(base, &used, tile, kernel->element);
    round->tile = twi_gpu_place(base, &used, tile, kernel->word);
    round->tile_t = twi_gpu_place(base, &used, tile, kernel->word);
    return used;
}

/* Whether the matrix is small enough to be closed in one launch, if the device can. */
static bool is_small(const gpu_closure *self)
{
    const twi_gpu_kernel *kernel = self->kernel;
    const int32_t most = kernel->together_side < kernel->side ? FINE_MOST : TOGETHER_MOST;
    return kernel->together != NULL && self->round.n <= most * kernel->together_side;
}

/* Everything that is published while a small matrix is closed in one launch. */
static uint64_t place_together(const gpu_closure *self, twi_gpu_round *round, void *base)
{
    const int64_t side = self->kernel->together_side;
    const int64_t tiles = (round->n + side - 1) / side;
    const int64_t tile = side * side;
    uint64_t used = 0;
    round->tiles = (int32_t)tiles;
    round->next_row = twi_gpu_place(base, &used, tiles * tiles * tile, self->kernel->word);
    round->next_col = twi_gpu_place(base, &used, tiles * tiles * tile, self->kernel->word);
    round->tile = twi_gpu_place(base, &used, tiles * tile, self->kernel->word);
    round->tile_t = twi_gpu_place(base, &used, tiles * tile, self->kernel->word);
    round->raw_row = twi_gpu_place(base, &used, tiles * tile, self->kernel->word);
    round->raw_col = twi_gpu_place(base, &used, tiles * tile, self->kernel->word);
    return used;
}

/* First what is 0 before the first round: flags, and a closed tile for every pivot where those say
 * by themselves whether they are there. */
static uint64_t place_overlapped(gpu_closure *self, void *base, uint64_t *cleared)
{
    twi_gpu_round *round = &self->round;
    struct overlapped *over = &self->overlapped;
    const bool keeps = self->rounds->keeps;
    const bool half = round->symmetric && !keeps;
    const int64_t tiles = round->tiles;
    const int64_t tile = (int64_t)self->kernel->side * self->kernel->side;
    const int64_t element = self->kernel->element;
    const int64_t word = self->kernel->word;
    uint64_t used = 0;
    round->rounds_done = twi_gpu_place(base, &used, tiles * tiles, sizeof(int32_t));
    over->row_ready = twi_gpu_place(base, &used, tiles * tiles, sizeof(int32_t));
    over->col_ready =
        half ? over->row_ready : twi_gpu_place(base, &used, tiles * tiles, sizeof(int32_t));
    over->raw_ready = keeps ? NULL : twi_gpu_place(base, &used, 2 * tiles * tiles, sizeof(int32_t));
    if (keeps) {
        round->tile = twi_gpu_place(base, &used, tiles * tile, word);
        round->tile_t = twi_gpu_place(base, &used, tiles * tile, word);
    }
    *cleared = used;
    for (int i = 0; i < PLACES; i++) {
        self->row[i] = twi_gpu_place(base, &used, tiles * tile, element);
        self->col[i] =
            half && word == element ? self->row[i] : twi_gpu_place(base, &used, tiles * tile, word);
    }
    for (int i = 0; i < 2 && !keeps; i++) {
        over->raw_row[i] = twi_gpu_place(base, &used, tiles * tile, element);
        over->raw_col[i] = half ? NULL : twi_gpu_place(base, &used, tiles * tile, element);
        over->tile[i] = twi_gpu_place(base, &used, tile, word);
        over->tile_t[i] = twi_gpu_place(base, &used, tile, word);
    }
    return used;
}

static const twi_gpu_rounds *find_rounds(const twi_gpu_kernel *kernel, int64_t n, bool symmetric)
{
    for (size_t i = 0; i < sizeof overlapping / sizeof *overlapping; i++) {
        if (overlapping[i].type == kernel->type && overlapping[i].side == kernel->side &&
            n <= (symmetric ? overlapping[i].most_symmetric : overlapping[i].most)) {
            return overlapping[i].rounds->start != NULL ? overlapping[i].rounds : NULL;
        }
    }
    return NULL;
}

static gpu_closure describe(const twi_gpu_kernel *kernel, int64_t n, bool symmetric)
{
    return (gpu_closure){
        .kernel = kernel,
        .rounds = find_rounds(kernel, n, symmetric),
        .round =
            {
                .n = (int32_t)n,
                .tiles = (int32_t)((n + kernel->side - 1) / kernel->side),
                .symmetric = symmetric,
                .one = 1,
            },
    };
}

uint64_t twi_gpu_closure_bytes(const twi_gpu_kernel *kernel, int64_t n, bool symmetric)
{
    if (n <= kernel->side) {
        return 0;
    }
    gpu_closure self = describe(kernel, n, symmetric);
    uint64_t panels = place_panels(&self, NULL);
    twi_gpu_round round = self.round;
    uint64_t together = is_small(&self) ? place_together(&self, &round, NULL) : 0;
    uint64_t cleared;
    uint64_t rounds = self.rounds != NULL ? place_overlapped(&self, NULL, &cleared) : 0;
    panels = panels > rounds ? panels : rounds;
    return panels > together ? panels : together;
}

/* --------------------------------------------------------------------------------- streams */

static tw_status check(gpu_closure *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status open_streams(gpu_closure *self)
{
    cudaEvent_t *events[] = {&self->updated[0], &self->updated[1], &self->prepared[0],
                             &self->prepared[1]};
    tw_status status = twi_gpu_open_stream(self->ctx, &self->ahead, true);
    for (int i = 0; i < 4 && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, events[i]);
    }
    return status;
}

/* What is still queued keeps what it needs: the runtime frees it later. */
static void close_streams(gpu_closure *self)
{
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(self->prepared[i]);
        twi_gpu_close_event(self->updated[i]);
    }
    if (self->ahead != NULL) {
        (void)cudaStreamDestroy(self->ahead);
    }
}

/* ---------------------------------------------------------------------------------- rounds */

static twi_gpu_round round_of(const gpu_closure *self, int64_t pivot)
{
    twi_gpu_round round = self->round;
    round.pivot = (int32_t)pivot;
    round.next = pivot + 1 < round.tiles ? (int32_t)pivot + 1 : -1;
    int now = (int)(pivot & 1);
    round.row = self->row[now];
    round.col = self->col[now];
    round.next_row = self->row[1 - now];
    round.next_col = self->col[1 - now];
    round.row_nonempty = self->row_nonempty[now];
    round.col_nonempty = self->col_nonempty[now];
    round.next_row_nonempty = self->row_nonempty[1 - now];
    round.next_col_nonempty = self->col_nonempty[1 - now];
    return round;
}

static tw_status make_ahead(gpu_closure *self, const twi_gpu_round *round)
{
    tw_status status = check(self, self->kernel->head(round, self->ahead),
                             "starting the update of the next pivot");
    if (status == TW_OK) {
        status = check(self, self->kernel->close(round, self->ahead), "starting to close a tile");
    }
    if (status == TW_OK) {
        status = check(self, self->kernel->panels(round, self->ahead), "starting to form panels");
    }
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, self->prepared[round->next & 1], self->ahead);
    }
    return status;
}

static tw_status prepare(void *self_, int64_t pivot)
{
    gpu_closure *self = self_;
    twi_gpu_round round = round_of(self, pivot - 1);
    /* The stream ahead begins after what the caller has put on the wide one. */
    tw_status status = twi_gpu_record(self->ctx, self->updated[round.pivot & 1], self->wide);
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->ahead, self->updated[round.pivot & 1]);
    }
    return status == TW_OK ? make_ahead(self, &round) : status;
}

static tw_status advance(void *self_, int64_t pivot)
{
    gpu_closure *self = self_;
    twi_gpu_round round = round_of(self, pivot);
    int now = (int)(pivot & 1);
    tw_status status = TW_OK;
    if (self->paced && pivot > 0) {
        status = check(self, (int)cudaEventSynchronize(self->prepared[now]), "closing the matrix");
    }
    if (status == TW_OK && round.next >= 0) {
        status = twi_gpu_wait(self->ctx, self->ahead, self->updated[1 - now]);
        if (status == TW_OK) {
            status = make_ahead(self, &round);
        }
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->wide, self->prepared[now]);
    }
    if (status == TW_OK) {
        status = check(self, self->kernel->update(&round, self->wide), "starting an update");
    }
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, self->updated[now], self->wide);
    }
    return status;
}

static const twi_closure_ops gpu_ops = {.prepare = prepare, .advance = advance};

static tw_status run_rounds(gpu_closure *self, const twi_closure_ops *ops, bool paced)
{
    double n = self->round.n;
    if (paced) {
        return twi_closure_drive(self->ctx, ops, self, 0, self->round.tiles, n * n * n);
    }
    tw_status status = ops->prepare(self, 0);
    for (int64_t pivot = 0; pivot < self->round.tiles && status == TW_OK; pivot++) {
        status = ops->advance(self, pivot);
    }
    return status;
}

/* Both halves are computed: a small matrix is bound by its critical path, not by its work. */
static tw_status run_together(gpu_closure *self, void *memory, int32_t *launched)
{
    twi_gpu_round round = self->round;
    const uint64_t bytes = place_together(self, &round, memory);
    const int64_t words = TWI_GPU_PUBLISHED(round.tiles, self->kernel->together_side);
    if (bytes != (uint64_t)words * (uint64_t)self->kernel->word) {
        return tw_fail(self->ctx, TW_ERR_INTERNAL,
                       "a small matrix of %d tiles publishes %llu bytes, and clears %lld words; "
                       "please report this",
                       round.tiles, (unsigned long long)bytes, (long long)words);
    }
    return check(self, self->kernel->together(&round, self->wide, launched),
                 "starting to close a small matrix");
}

/* The round with that pivot where each is one launch. */
static twi_gpu_round overlapped_round(const gpu_closure *self, int64_t pivot)
{
    const struct overlapped *over = &self->overlapped;
    const int64_t tiles = self->round.tiles;
    const int64_t next = pivot + 1;
    twi_gpu_round round = self->round;
    round.pivot = (int32_t)pivot;
    round.next = next < tiles ? (int32_t)next : -1;
    if (pivot >= 0) {
        round.row = self->row[pivot % PLACES];
        round.col = self->col[pivot % PLACES];
        round.row_ready = over->row_ready + pivot * tiles;
        round.col_ready = over->col_ready + pivot * tiles;
    }
    if (round.next < 0) {
        return round;
    }
    round.next_row = self->row[next % PLACES];
    round.next_col = self->col[next % PLACES];
    round.next_row_ready = over->row_ready + next * tiles;
    round.next_col_ready = over->col_ready + next * tiles;
    if (!self->rounds->keeps) {
        round.raw_row = over->raw_row[next % 2];
        round.raw_col = over->raw_col[next % 2];
        round.raw_ready = over->raw_ready + next * 2 * tiles;
        round.tile = over->tile[next % 2];
        round.tile_t = over->tile_t[next % 2];
    }
    return round;
}

static tw_status start_round(gpu_closure *self, int64_t pivot)
{
    twi_gpu_round round = overlapped_round(self, pivot);
    return check(self, self->rounds->start(&round, self->wide), "starting a round");
}

static tw_status prepare_overlapped(void *self, int64_t pivot)
{
    return start_round(self, pivot - 1);
}

/* An event between two launches keeps them from overlapping, so there is one for many. */
static tw_status advance_overlapped(void *self_, int64_t pivot)
{
    gpu_closure *self = self_;
    const int64_t pace = pivot / ROUNDS_PER_PACE;
    const bool paces = self->paced && pivot % ROUNDS_PER_PACE == 0;
    tw_status status = TW_OK;
    if (paces) {
        status = twi_gpu_record(self->ctx, self->updated[pace & 1], self->wide);
    }
    if (paces && pace > 0 && status == TW_OK) {
        status = check(self, (int)cudaEventSynchronize(self->updated[1 - (pace & 1)]),
                       "closing the matrix");
    }
    return status == TW_OK ? start_round(self, pivot) : status;
}

static const twi_closure_ops overlapped_ops = {.prepare = prepare_overlapped,
                                               .advance = advance_overlapped};

/* Each round in one launch. */
static tw_status run_overlapped(gpu_closure *self, void *memory, bool paced)
{
    uint64_t cleared = 0;
    (void)place_overlapped(self, memory, &cleared);
    tw_status status = check(self, (int)cudaMemsetAsync(memory, 0, cleared, self->wide),
                             "clearing the flags of the rounds");
    const bool mirrored = self->round.symmetric && !self->rounds->keeps;
    self->round.symmetric = mirrored;
    if (status == TW_OK) {
        status = check(self, self->rounds->set_up(), "setting up the kernels");
    }
    for (int i = 0; i < 2 && paced && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, &self->updated[i]);
    }
    if (status == TW_OK) {
        status = run_rounds(self, &overlapped_ops, paced);
    }
    if (status == TW_OK && mirrored) {
        status = check(self, self->kernel->mirror(&self->round, self->wide), "starting to mirror");
    }
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(self->updated[i]);
    }
    return status;
}

static tw_status tidy(gpu_closure *self, const twi_gpu_work *work)
{
    twi_gpu_square square = {work->data, work->ld};
    if (!work->untidy) {
        return TW_OK;
    }
    return check(
        self, twi_gpu_tidy(work->kernel->type, square, square, work->n, work->needed, self->wide),
        "starting to tidy the matrix");
}

static tw_status run_on_two_streams(gpu_closure *self, void *memory, bool paced)
{
    (void)place_panels(self, memory);
    tw_status status = check(self, self->kernel->set_up(), "setting up the kernels");
    if (status == TW_OK) {
        status = open_streams(self);
    }
    if (status == TW_OK) {
        status = run_rounds(self, &gpu_ops, paced);
    }
    if (status == TW_OK && self->round.symmetric) {
        status = check(self, self->kernel->mirror(&self->round, self->wide), "starting to mirror");
    }
    close_streams(self);
    return status;
}

tw_status twi_gpu_closure(tw_context *ctx, const twi_gpu_work *work, void *panels, void *stream,
                          bool paced)
{
    gpu_closure self = describe(work->kernel, work->n, work->symmetric);
    self.ctx = ctx;
    self.wide = stream;
    self.paced = paced;
    self.round.c = work->data;
    self.round.ld = work->ld;
    self.round.needed = work->needed;
    if (work->apart) {
        self.rounds = NULL;
    }
    if (work->n <= work->kernel->side) {
        return check(&self, self.kernel->alone(&self.round, stream), "starting to close a tile");
    }
    int32_t launched = 0;
    tw_status status = TW_OK;
    if (is_small(&self) && !work->apart) {
        status = run_together(&self, panels, &launched);
    }
    if (status == TW_OK && !launched) {
        status = tidy(&self, work);
    }
    if (status != TW_OK || launched) {
        return status;
    }
    return self.rounds != NULL ? run_overlapped(&self, panels, paced)
                               : run_on_two_streams(&self, panels, paced);
}
