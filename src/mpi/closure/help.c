/* See help.h. */
#include "mpi/closure/help.h"

#include <string.h>
#include <unistd.h>

#define WHAT "what lies where with the other ranks of the machine"

struct twi_helped {
    twi_grid grid; /* as that rank stands in it */
    twi_share share;
    twi_messages messages;
    twi_update update;
    twi_board *board;
    void *tiles, *panels; /* mapped */
    uint64_t tiles_bytes, panels_bytes;
};

/* ------------------------------------------------------------------------------------- boards */

static uint32_t left_of(unsigned long long open)
{
    return (uint32_t)open;
}

void twi_board_begin(twi_board *board, const twi_round *round)
{
    const unsigned long long number = (atomic_load(&board->open) >> 32) + 1;
    board->round = *round;
    atomic_store(&board->done, 0);
    atomic_store(&board->open, number << 32 | (unsigned long long)round->rest_count);
}

bool twi_board_claim(twi_board *board, twi_round *round, int64_t *task)
{
    unsigned long long open = atomic_load(&board->open);
    do {
        if (left_of(open) == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&board->open, &open, open - 1));
    *round = board->round;
    *task = round->rest_count - left_of(open);
    return true;
}

void twi_board_finish(twi_board *board)
{
    atomic_fetch_add(&board->done, 1);
}

bool twi_board_is_done(const twi_board *board)
{
    return atomic_load(&board->done) >= board->round.rest_count;
}

/* --------------------------------------------------------------------------------- the others */

void twi_help_place(twi_layout *at, twi_messages *messages, twi_board **board, twi_panel *rows)
{
    *board = twi_place(at, sizeof **board);
    twi_messages_place_lists(messages, at);
    twi_messages_place_data(messages, at);
    twi_update_place_rows(at, messages->share, rows);
}

/* What a rank tells the others of its machine. */
typedef struct told {
    int64_t rank; /* in the world */
    int64_t pid;
    int64_t tiles_fd, tiles_bytes;
    int64_t panels_fd, panels_bytes;
    int64_t chunk;
} told;

/* Of a rank at that place of the grid; rows of tiles and packed panels are to come. */
static void describe(twi_helped *out, const twi_share *own, const told *of)
{
    out->grid = *own->grid;
    out->grid.row = (int)of->rank / out->grid.cols;
    out->grid.col = (int)of->rank % out->grid.cols;
    out->share = (twi_share){.grid = &out->grid,
                             .kernel = own->kernel,
                             .symmetric = own->symmetric,
                             .size = own->size,
                             .row_count = twi_own_rows(&out->grid),
                             .col_count = twi_own_cols(&out->grid)};
    out->messages = twi_messages_describe(&out->share);
    out->tiles_bytes = (uint64_t)of->tiles_bytes;
    out->panels_bytes = (uint64_t)of->panels_bytes;
}

/* The lists of one rank in this one's memory. */
static void place_lists(twi_layout *at, twi_helped *rank)
{
    rank->share.rows = twi_place(at, (uint64_t)rank->share.row_count * sizeof *rank->share.rows);
    rank->update.rows = twi_place(at, (uint64_t)rank->share.col_count * sizeof *rank->update.rows);
}

static bool map(twi_helped *rank, const told *of)
{
    rank->tiles = twi_common_map((pid_t)of->pid, (int)of->tiles_fd, rank->tiles_bytes);
    rank->panels = twi_common_map((pid_t)of->pid, (int)of->panels_fd, rank->panels_bytes);
    if (rank->tiles == NULL || rank->panels == NULL) {
        return false;
    }
    twi_layout at = {rank->panels, 0};
    twi_share_lay_out(&rank->share, rank->tiles);
    twi_help_place(&at, &rank->messages, &rank->board, rank->update.rows);
    rank->update.share = &rank->share;
    rank->update.panels = rank->messages.panels;
    twi_update_divide(&rank->update, of->chunk);
    return true;
}

/* Everything that is to be known of the others, but for their memory. */
static tw_status describe_all(tw_context *ctx, twi_help *out, const twi_share *share,
                              const told *all)
{
    const twi_machine *machine = share->machine;
    twi_layout at = {NULL, 0};
    for (int from = 0, i = 0; from < machine->size; from++) {
        if (from != machine->rank) {
            describe(&out->ranks[i], share, &all[from]);
            place_lists(&at, &out->ranks[i++]);
        }
    }
    tw_status status = twi_alloc(ctx, &out->lists, at.used, 1, WHAT);
    if (status == TW_OK) {
        at = (twi_layout){out->lists, 0};
        for (int i = 0; i < out->count; i++) {
            place_lists(&at, &out->ranks[i]);
        }
    }
    return status;
}

static bool map_all(twi_help *out, const twi_machine *machine, const told *all)
{
    for (int from = 0, i = 0; from < machine->size; from++) {
        if (from != machine->rank && !map(&out->ranks[i++], &all[from])) {
            return false;
        }
    }
    return true;
}

static bool tell_all(const twi_machine *machine, told *all)
{
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, (int)sizeof *all, MPI_BYTE,
                         machine->comm) == MPI_SUCCESS;
}

tw_status twi_help_open(tw_context *ctx, twi_help *out, twi_share *share, twi_common *common,
                        int64_t chunk)
{
    const twi_machine *machine = share->machine;
    told *all = NULL;
    *out = (twi_help){.count = machine->size - 1};
    tw_status status = twi_alloc(ctx, &all, (uint64_t)machine->size, sizeof *all, WHAT);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &out->ranks, (uint64_t)out->count, sizeof *out->ranks, WHAT);
    }
    bool fine = status == TW_OK && share->common.fd >= 0 && common->fd >= 0;
    if (fine) {
        all[machine->rank] = (told){.rank = share->grid->world->rank,
                                    .pid = (int64_t)getpid(),
                                    .tiles_fd = share->common.fd,
                                    .tiles_bytes = (int64_t)share->common.bytes,
                                    .panels_fd = common->fd,
                                    .panels_bytes = (int64_t)common->bytes,
                                    .chunk = chunk};
    }
    fine = twi_machine_agree(machine, fine);
    if (fine) {
        fine = tell_all(machine, all);
        status = fine ? describe_all(ctx, out, share, all) : TW_OK;
        fine = twi_machine_agree(machine, fine && status == TW_OK && map_all(out, machine, all));
    }
    twi_common_seal(&share->common);
    twi_common_seal(common);
    twi_free(all);
    if (!fine) {
        twi_help_close(out);
    }
    return status;
}

void twi_help_close(twi_help *help)
{
    for (int i = 0; i < help->count && help->ranks != NULL; i++) {
        twi_common_unmap(help->ranks[i].tiles, help->ranks[i].tiles_bytes);
        twi_common_unmap(help->ranks[i].panels, help->ranks[i].panels_bytes);
    }
    twi_free(help->lists);
    twi_free(help->ranks);
    *help = (twi_help){0};
}

/* Which rank has the most tasks left, or NULL. */
static twi_helped *most_left(const twi_help *help)
{
    twi_helped *found = NULL;
    uint32_t most = 0;
    for (int i = 0; i < help->count; i++) {
        twi_helped *rank = &help->ranks[i];
        const uint32_t left =
            left_of(atomic_load_explicit(&rank->board->open, memory_order_relaxed));
        if (left > most) {
            most = left;
            found = rank;
        }
    }
    return found;
}

bool twi_help_once(const twi_help *help, twi_panel *a)
{
    twi_helped *rank = most_left(help);
    twi_round round;
    int64_t task;
    if (rank == NULL || !twi_board_claim(rank->board, &round, &task)) {
        return false;
    }
    twi_update_rest(&rank->update, &round, a, task);
    twi_board_finish(rank->board);
    return true;
}
