/* Any bytes given as the front of a checkpoint are refused, or say what a file of that size can
 * hold. Tried as they are, and with a magic number and a checksum that fit. */
#include "io/checkpoint.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

static void look(const void *bytes, uint64_t count, uint64_t file_bytes)
{
    twi_state state;
    char why[TWI_STATE_WHY];
    const twi_state_verdict verdict = twi_state_parse(&state, bytes, count, file_bytes, why);
    insist(strlen(why) < sizeof why && (verdict == TWI_STATE_GOOD) == (why[0] == '\0'));
    if (verdict != TWI_STATE_GOOD) {
        return;
    }
    insist(state.n > 0 && state.n <= INT32_MAX && state.done >= 0 && state.done <= state.n);
    insist(state.block > 0 && tw_type_size(state.type) > 0);
    insist(twi_state_row_at(&state, state.n) == (int64_t)file_bytes);
    for (int64_t i = 0; i < state.n; i += state.n / 7 + 1) { /* rows lie in the file */
        insist(twi_state_row_at(&state, i) >= twi_state_sum_at(state.n));
        insist(twi_state_row_at(&state, i) + twi_state_row_bytes(&state, i) ==
               twi_state_row_at(&state, i + 1));
    }
    char again[TWI_CHECKPOINT_HEADER];
    twi_state_write(again, &state);
    insist(memcmp(again, bytes, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t numbers[TWI_CHECKPOINT_HEADER / 8] = {0};
    const size_t some = size < sizeof numbers ? size : sizeof numbers;
    look(data, some, size);

    /* What no input would hit by chance. */
    char good[TWI_CHECKPOINT_HEADER];
    const twi_state any = {.n = 1, .type = TW_U8, .block = 1};
    twi_state_write(good, &any);
    memcpy(numbers, data, some);
    memcpy(numbers, good, 16);
    numbers[15] = twi_state_sum(0, numbers, (int64_t)sizeof numbers - 8);
    twi_state state = {.n = (int64_t)(numbers[2] & 0xFFFFFF),
                       .type = (tw_type)numbers[3],
                       .lower = numbers[4] == 1};
    look(numbers, sizeof numbers, size);
    if (state.type >= 0 && state.type < 16) { /* and the size that its numbers ask for */
        look(numbers, sizeof numbers, (uint64_t)twi_state_row_at(&state, state.n));
    }
    return 0;
}
