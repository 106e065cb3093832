/* Blocks of parsed edges: see edge_blocks.h. */
#include "io/graph/edge_blocks.h"

#include "base/memory.h"

#include <string.h>

enum {
    LEAST_ROOM = 1024, /* edges of a first block: small files stay small */
    ROOM = 16384,      /* edges of most others */
    CHECK_BLOCKS = 16  /* blocks between two looks at the memory that the machine has left */
};

static twi_edge_block *create_block(tw_context *ctx, int64_t room, bool real)
{
    size_t weight = real ? sizeof(double) : sizeof(int32_t);
    size_t header = (sizeof(twi_edge_block) + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    size_t edges = (size_t)room;
    char *memory = twi_try_alloc(ctx, 1, header + edges * (weight + 2 * sizeof(int32_t)));
    if (memory == NULL) {
        return NULL;
    }
    twi_edge_block *block = (twi_edge_block *)memory;
    *block = (twi_edge_block){
        .room = room,
        .real = real,
        .weight = memory + header,
        .source = (int32_t *)(memory + header + edges * weight),
        .target = (int32_t *)(memory + header + edges * (weight + sizeof(int32_t))),
    };
    return block;
}

/* With room for no more. */
static twi_edge_block *create_copy(tw_context *ctx, const twi_edge_block *old, bool real)
{
    twi_edge_block *block = create_block(ctx, old->count, real);
    if (block == NULL) {
        return NULL;
    }
    const size_t count = (size_t)old->count;
    block->count = old->count;
    block->next = old->next;
    memcpy(block->source, old->source, count * sizeof(int32_t));
    memcpy(block->target, old->target, count * sizeof(int32_t));
    if (real == old->real) {
        memcpy(block->weight, old->weight, count * (real ? sizeof(double) : sizeof(int32_t)));
        return block;
    }
    for (size_t i = 0; i < count; i++) {
        ((double *)block->weight)[i] = ((const int32_t *)old->weight)[i];
    }
    return block;
}

/* The last block once more; as one of double it holds half as many. */
static void use_again(twi_edge_blocks *list)
{
    twi_edge_block *block = list->last;
    list->closed += block->count;
    block->count = 0;
    if (list->real && !block->real) {
        block->real = true;
        block->room /= 2;
    }
}

bool twi_edge_blocks_drop(twi_edge_blocks *list)
{
    if (list->counting) {
        return false;
    }
    list->counting = true;
    while (list->first != list->last) {
        twi_edge_block *next = list->first->next;
        twi_free(list->first);
        list->first = next;
    }
    return true;
}

static bool drop_and_count(twi_edge_blocks *list)
{
    (void)twi_edge_blocks_drop(list);
    if (list->last == NULL) {
        return false;
    }
    use_again(list);
    return true;
}

bool twi_edge_blocks_extend(tw_context *ctx, twi_edge_blocks *list)
{
    if (list->counting) {
        return drop_and_count(list);
    }
    int64_t room = list->last == NULL            ? LEAST_ROOM
                   : 2 * list->last->room < ROOM ? 2 * list->last->room
                                                 : ROOM;
    uint64_t bytes = (uint64_t)room * (2 * sizeof(int32_t) + sizeof(double));
    /* A limit that somebody set is kept by every allocation. */
    if (ctx->memory_limit == 0 && list->blocks % CHECK_BLOCKS == 1 &&
        tw_memory_limit(ctx) < tw_memory_used(ctx) + CHECK_BLOCKS * bytes) {
        return drop_and_count(list);
    }
    twi_edge_block *block = create_block(ctx, room, list->real);
    while (block == NULL && room > LEAST_ROOM) { /* the last corner of a limit */
        room /= 2;
        block = create_block(ctx, room, list->real);
    }
    if (block == NULL) {
        return drop_and_count(list);
    }
    if (list->last == NULL) {
        list->first = block;
    } else {
        list->closed += list->last->count;
        list->last->next = block;
    }
    list->last = block;
    list->blocks++;
    return true;
}

bool twi_edge_blocks_turn_real(tw_context *ctx, twi_edge_blocks *list)
{
    list->real = true;
    /* The last block is left as it is, closed; only a new one takes doubles. */
    return twi_edge_blocks_extend(ctx, list);
}

/* A block for one that it takes the place of, at *at. */
static bool replace(tw_context *ctx, twi_edge_block **at, bool real)
{
    twi_edge_block *block = create_copy(ctx, *at, real);
    if (block == NULL) {
        return false;
    }
    twi_free(*at);
    *at = block;
    return true;
}

bool twi_edge_blocks_all_real(tw_context *ctx, twi_edge_blocks *list)
{
    for (twi_edge_block **at = &list->first; *at != NULL; at = &(*at)->next) {
        const bool last = *at == list->last;
        if (!(*at)->real && !replace(ctx, at, true)) {
            return false;
        }
        list->last = last ? *at : list->last;
    }
    list->real = true;
    return true;
}

void twi_edge_blocks_trim(tw_context *ctx, twi_edge_blocks *list)
{
    twi_edge_block **at = &list->first;
    while (*at != NULL && *at != list->last) {
        at = &(*at)->next;
    }
    if (*at != NULL && !list->counting && (*at)->count < (*at)->room &&
        replace(ctx, at, (*at)->real)) {
        list->last = *at;
    }
}

void twi_edge_blocks_clear(twi_edge_blocks *list)
{
    while (list->first != NULL) {
        twi_edge_block *next = list->first->next;
        twi_free(list->first);
        list->first = next;
    }
    *list = (twi_edge_blocks){0};
}
