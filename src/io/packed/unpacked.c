/* What is being unpacked: see unpacked.h. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#define STEP ((uint64_t)8 << 20)    /* bytes unpacked between two looks at the cancel flag */
#define PIECE ((uint64_t)1 << 18)   /* of an input that is not in memory */
#define AT_ONCE ((uint64_t)1 << 30) /* of one that is: zlib counts in 32 bits */

/* Behind the head, of a file or of a flow. */
static tw_status read_piece(twi_unpacked *from, uint64_t *count)
{
    const twi_input *input = &from->input;
    tw_status status = TW_OK;
    if (from->piece == NULL) {
        status = twi_alloc(from->ctx, &from->piece, PIECE, 1, "a piece of a packed file");
    }
    if (status != TW_OK) {
        return status;
    }
    if (input->flow != NULL) {
        return input->flow->read(from->ctx, input->flow, from->piece, PIECE, count);
    }
    const uint64_t left = input->size - from->given;
    *count = left < PIECE ? left : PIECE;
    return twi_input_fetch(from->ctx, input, from->given, from->piece, *count);
}

tw_status twi_unpacked_piece(twi_unpacked *from, const char **bytes, uint64_t *count)
{
    const uint64_t held = twi_input_held(&from->input);
    tw_status status = TW_OK;
    *count = 0;
    if (from->given < held) {
        *count = held - from->given < AT_ONCE ? held - from->given : AT_ONCE;
        *bytes = from->input.bytes + from->given;
    } else if (!twi_input_is_held(&from->input)) {
        status = read_piece(from, count);
        *bytes = from->piece;
    }
    from->given += status == TW_OK ? *count : 0;
    return status;
}

/* ----------------------------------------------------------------------------- what comes out */

static tw_status read_unpacked(tw_context *ctx, twi_flow *flow, char *out, uint64_t room,
                               uint64_t *got)
{
    twi_unpacked *from = (twi_unpacked *)flow;
    const twi_input *input = &from->input;
    *got = 0;
    if (input->flow == NULL) { /* or else it is the pipe that goes on */
        twi_progress(ctx, "unpack", (double)from->given, (double)input->size, "bytes");
    }
    tw_status status = twi_check_cancel(ctx);
    return status == TW_OK ? from->kind->read(from, out, room < STEP ? room : STEP, got) : status;
}

static void close_unpacked(twi_flow *flow)
{
    twi_unpacked *from = (twi_unpacked *)flow;
    from->kind->close(from);
    twi_free(from->piece);
    twi_input_close(&from->input);
    twi_free(from);
}

tw_status twi_unpacked_begin(tw_context *ctx, twi_input *input, const twi_packing *kind)
{
    twi_unpacked *from = NULL;
    tw_status status = twi_alloc(ctx, &from, 1, sizeof *from, "a packed file");
    if (status != TW_OK) {
        return status;
    }
    *from = (twi_unpacked){
        .flow = {read_unpacked, close_unpacked}, .ctx = ctx, .input = *input, .kind = kind};
    *input = (twi_input){.name = input->name,
                         .bytes = "",
                         .flow = &from->flow,
                         .piece = input->piece,
                         .once = input->once};
    status = kind->open(from);
    return status == TW_OK ? twi_input_widen(ctx, input, TWI_INPUT_HEAD) : status;
}

/* ------------------------------------------------------------------------------- the sentences */

tw_status twi_packed_damaged(const twi_unpacked *from, const char *kind, uint64_t unused)
{
    return tw_fail(from->ctx, TW_ERR_FORMAT, "%.500s: damaged %s data near byte %llu",
                   from->input.name, kind, (unsigned long long)(from->given - unused));
}

tw_status twi_packed_cut(const twi_unpacked *from, const char *kind)
{
    return tw_fail(from->ctx, TW_ERR_FORMAT,
                   "%.500s: the %s data end too early: the file is incomplete", from->input.name,
                   kind);
}

tw_status twi_packed_no_memory(const twi_unpacked *from)
{
    return tw_fail(from->ctx, TW_ERR_MEMORY, "not enough memory to unpack %.500s",
                   from->input.name);
}
