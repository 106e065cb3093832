/* Names of vertices: numbers in order of appearance, whatever the key, and no way to crowd the
 * table.
 */
#include "harness.h"

#include "io/graph/labels.h"

#include <stdio.h>
#include <string.h>

/* What CPython 3.11 says with PYTHONHASHSEED=0, whose key is zero. */
static void the_hash_is_siphash_1_3(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t hash;
    } known[] = {
        {"a", 0x407448d2b89b1813},
        {"abcdefg", 0x6db12aae9070f506},
        {"abcdefgh", 0x3f7b849c0b8e35ea},
        {"Bern", 0x474c328d69fa13bd},
        {"a longer name of a vertex", 0xfd48868e5ba513a5},
    };
    const uint64_t key[2] = {0, 0};
    const uint64_t other[2] = {0, 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(twi_label_hash(key, known[i].name, strlen(known[i].name)), known[i].hash);
        assert_int_not_equal(twi_label_hash(other, known[i].name, strlen(known[i].name)),
                             known[i].hash);
    }
}

static void numbers_follow_the_order_of_appearance(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_labels labels = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < 5000; i++) {
            char name[16];
            int32_t vertex = -1;
            int length = snprintf(name, sizeof name, "n%d", i * 7);
            assert_ok(ctx, twi_labels_vertex(ctx, &labels, name, (size_t)length, &vertex));
            assert_int_equal(vertex, i);
        }
    }
    twi_labels_clear(&labels);
    close_context(ctx);
}

/* Names that an unkeyed hash, known to whoever writes the file, puts on one slot: the table must
 * not become one long row of them. */
static void names_made_to_collide_do_not(void **state)
{
    (void)state;
    const int32_t names = emulated_sizes_only() ? 500 : 2000;
    const uint64_t known[2] = {0, 0};
    tw_context *ctx = open_context();
    twi_labels labels = {0};
    uint32_t tried = 0;
    for (int32_t i = 0; i < names; i++) {
        char name[9];
        int32_t vertex = -1;
        do {
            snprintf(name, sizeof name, "%08x", tried++);
        } while ((twi_label_hash(known, name, 8) & 4095) != 0);
        assert_ok(ctx, twi_labels_vertex(ctx, &labels, name, 8, &vertex));
        assert_int_equal(vertex, i);
    }
    uint64_t run = 0, longest = 0;
    for (uint64_t s = 0; s < labels.slot_count; s++) {
        run = labels.slots[s] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    /* Half full at most: a run of 400 has a chance of some e^-75. */
    assert_true(longest < 400);
    twi_labels_clear(&labels);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_siphash_1_3),
        cmocka_unit_test(numbers_follow_the_order_of_appearance),
        cmocka_unit_test(names_made_to_collide_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
