/*
 * tilewright-lab show and diff: a rung's idea and its source, which the program carries, so that a
 * ladder can be read where there is neither a GPU nor a checkout; and what one rung changes of
 * another, line by line.
 */
#include "base/memory.h"
#include "commands_lab.h"
#include "ladders/ladders.h"
#include "ladders/write_ups.h"
#include "show/machine_code.h"
#include "show/sources.h"

#include "frame/job.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};
static const cli_option no_options[] = {{0}};
static const cli_group groups[] = {{"Options", no_options}, {NULL, NULL}};

/* ------------------------------------------------------------------------------------------ text
 */

typedef struct code {
    char *text;
    size_t size;
} code;

static const char *source_of(const lab_ladder *ladder, const lab_rung *rung)
{
    return rung->source != NULL ? rung->source : ladder->source;
}

/* What a rung's code is compiled or called with: the line of the text that makes its recipe; empty
 * if there is none. */
static lab_piece recipe_in(const char *text, const lab_rung *rung)
{
    lab_piece found = {NULL, NULL, LAB_MACRO, NULL};
    if (rung->recipe != NULL) {
        found.begin = lab_find_recipe(text, rung->recipe, &found.end);
        found.text = text;
    }
    return found;
}

/* Without a recipe it is the rung's entry in the ladder's table. */
static lab_piece entry_of(const lab_rung *rung)
{
    lab_piece found = {"", "", LAB_DATA, NULL};
    bool known = false;
    for (const lab_source *each = lab_sources; !known && each->file != NULL; each++) {
        known = lab_find_entry(each->text, rung->name, rung->idea, &found.begin, &found.end);
    }
    return found;
}

static bool is_file(const char *word, size_t length)
{
    return memchr(word, '/', length) != NULL;
}

static bool has_kernels(const char *file, size_t length)
{
    return memmem(file, length, ".cu", 3) != NULL;
}

/* The recipe of a rung, of the first of its files that has one; empty if none has. */
static lab_piece recipe_of(const char *source, const lab_rung *rung)
{
    lab_piece recipe = {NULL, NULL, LAB_MACRO, NULL};
    for (const char *at = source; recipe.begin == NULL && *at != '\0'; at += *at == ' ') {
        size_t length = strcspn(at, " ");
        const char *text = is_file(at, length) ? lab_source_of(at, length) : NULL;
        recipe = text != NULL ? recipe_in(text, rung) : recipe;
        at += length;
    }
    return recipe;
}

/* A rung's recipe; its entry where it has none, and where what it runs is the host's code as well.
 */
static void write_recipe(FILE *memory, const char *source, const lab_rung *rung,
                         const lab_piece *recipe)
{
    if (recipe->begin == NULL || !has_kernels(source, strcspn(source, " "))) {
        const lab_piece entry = entry_of(rung);
        fprintf(memory, "%.*s", (int)(entry.end - entry.begin), entry.begin);
    }
    if (recipe->begin != NULL) {
        fprintf(memory, "%.*s", (int)(recipe->end - recipe->begin), recipe->begin);
    }
    if (rung->made_with != NULL) {
        fprintf(memory, "\ncompiled with %s\n", rung->made_with);
    }
}

/* Pieces, each stretch of them within the condition that it is compiled under. */
static void write_pieces(FILE *memory, const lab_pieces *pieces)
{
    char open[LAB_CONDITION] = "", now[LAB_CONDITION];
    for (int i = 0; i < pieces->count; i++) {
        const lab_piece *each = &pieces->at[i];
        lab_condition_of(each, now);
        const bool same = strcmp(open, now) == 0;
        const bool adjoins = same && i > 0 && pieces->at[i - 1].end == each->begin;
        fprintf(memory, "%s%s", !same && open[0] != '\0' ? "#endif\n" : "",
                ftell(memory) > 0 && !adjoins ? "\n" : "");
        if (!same && now[0] != '\0') {
            fprintf(memory, "#if %s\n", now);
        }
        fprintf(memory, "%.*s", (int)(each->end - each->begin), each->begin);
        memcpy(open, now, sizeof open);
    }
    if (open[0] != '\0') {
        fprintf(memory, "#endif\n");
    }
}

/* One file's functions, from the file's name on; returns where the next file's name begins, and
 * NULL if something is not there. */
static const char *collect_file(const char *at, lab_pieces *pieces)
{
    size_t length = strcspn(at, " ");
    const char *text = lab_source_of(at, length);
    if (text == NULL) {
        return NULL;
    }
    for (at += length; *at == ' ' && !is_file(at + 1, strcspn(at + 1, " ")); at += length) {
        at++;
        length = strcspn(at, " ");
        if (!lab_collect(text, at, length, pieces)) {
            return NULL;
        }
    }
    return at + (*at == ' ');
}

/* The source of a rung: "FILE FUNCTION... [FILE FUNCTION...]", each function's definition; kernels
 * after the host's functions, with all that they call and use of their files and headers. */
static tw_status read_code(tw_context *ctx, const lab_ladder *ladder, const lab_rung *rung,
                           code *out)
{
    const char *const source = source_of(ladder, rung), *at = source;
    FILE *memory = open_memstream(&out->text, &out->size);
    lab_pieces host = {.count = 0}, kernels = {.count = 0};
    tw_status status = TW_OK;
    if (memory == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for the source");
    }
    const lab_piece recipe = recipe_of(source, rung);
    write_recipe(memory, source, rung, &recipe);
    while (at != NULL && *at != '\0') {
        at = collect_file(at, has_kernels(at, strcspn(at, " ")) ? &kernels : &host);
    }
    if (kernels.count > 0) {
        lab_collect_called(&host, &recipe, &kernels);
    }
    write_pieces(memory, &host);
    write_pieces(memory, &kernels);
    if (at == NULL) {
        status = tw_fail(ctx, TW_ERR_INTERNAL, "the source of %s is not where its table says: %s",
                         rung->name, source);
    }
    if (fclose(memory) != 0 && status == TW_OK) {
        status = tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for the source");
    }
    return status;
}

static void print_rung(const lab_ladder *ladder, const lab_rung *rung)
{
    printf("%s of %s (%s%s): %s\n", rung->name, ladder->name, rung->row != NULL ? "row " : "",
           rung->row != NULL ? rung->row : "ours", rung->idea);
    if (rung->flaw != NULL) {
        printf("WRONG: %s\n", rung->flaw);
    }
    if (rung->parent != NULL) {
        printf("changes %s\n", rung->parent);
    }
    printf("checked against %s\n", rung->against != NULL ? rung->against : ladder->against);
    lab_write_ups write_up = 0;
    lab_add_write_up(&write_up, rung->row);
    lab_print_write_ups(write_up);
    const char *before = "";
    for (const char *at = source_of(ladder, rung); *at != '\0'; at += *at == ' ') {
        int length = (int)strcspn(at, " ");
        if (is_file(at, (size_t)length)) {
            printf("%s%s%.*s", before, strncmp(at, "src/", 4) == 0 ? "" : "lab/ladders/", length,
                   at);
            before = ", ";
        }
        at += length;
    }
    printf("\n\n");
}

/* ------------------------------------------------------------------------------------------ show
 */

/* `show RUNG` and `show LADDER RUNG`. */
static tw_status find(tw_context *ctx, int count, char **words, const lab_ladder **ladder,
                      const lab_rung **rung)
{
    tw_status status = count == 2 ? lab_find_ladder(ctx, words[0], ladder)
                                  : lab_find_ladder_of(ctx, words, 1, ladder);
    return status != TW_OK ? status : lab_find_rung(ctx, *ladder, words[count - 1], rung);
}

static tw_status show(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    const lab_ladder *ladder = NULL;
    const lab_rung *rung = NULL;
    code source = {0};
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK) {
        status = find(job->ctx, count, words, &ladder, &rung);
    }
    if (status == TW_OK) {
        status = read_code(job->ctx, ladder, rung, &source);
    }
    if (status == TW_OK) {
        print_rung(ladder, rung);
        fwrite(source.text, 1, source.size, stdout);
        lab_print_machine_code(job->ctx, ladder, rung, source_of(ladder, rung));
    }
    free(source.text);
    return status;
}

static const cli_operand show_operands[] = {
    {"LADDER", "The ladder, where several have a rung of that name."},
    {"RUNG", "The rung."},
    {NULL, NULL}};
static const cli_example show_examples[] = {
    {"tilewright-lab show tiles-4", "its idea and its source"},
    {"tilewright-lab show entropy-gpu engine", "the engine of one ladder of many"},
    {NULL, NULL}};

const cli_command lab_show = {
    .name = "show",
    .usage = "[LADDER] RUNG",
    .summary = "show a rung's idea, its source and its inner loop",
    .text = "Prints what a rung changes, what it is checked against, what its code is compiled or "
            "called with, and the source of its kernels or functions. The program carries the "
            "source: neither a GPU nor a checkout is needed. Below it stands what the compiler "
            "made of it in this program: the inner loop in machine code and, for a GPU kernel, its "
            "registers, shared and local memory. That needs Python 3 and objdump or, in a build "
            "with CUDA, cuobjdump; what is missing is named in a line.",
    .examples = show_examples,
    .operands = show_operands,
    .groups = groups,
    .least = 1,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = show,
};

/* ------------------------------------------------------------------------------------------ diff
 */

enum { MOST_LINES = 2000 };

typedef struct lines {
    const char *at[MOST_LINES];
    int length[MOST_LINES];
    int count;
} lines;

static void split(const code *source, lines *out)
{
    const char *at = source->text, *end = source->text + source->size;
    for (out->count = 0; at < end && out->count < MOST_LINES; out->count++) {
        size_t length = strcspn(at, "\n");
        out->at[out->count] = at;
        out->length[out->count] = (int)length;
        at += length + 1;
    }
}

static bool are_equal(const lines *a, int i, const lines *b, int k)
{
    return a->length[i] == b->length[k] && memcmp(a->at[i], b->at[k], (size_t)a->length[i]) == 0;
}

/* The longest common sequence of lines: common[i][k] is its length from lines i and k on. */
static void print_diff(const lines *a, const lines *b, uint16_t *common)
{
    const size_t row = (size_t)b->count + 1;
    for (int i = a->count - 1; i >= 0; i--) {
        for (int k = b->count - 1; k >= 0; k--) {
            uint16_t *here = &common[(size_t)i * row + (size_t)k];
            *here = are_equal(a, i, b, k)  ? (uint16_t)(here[row + 1] + 1)
                    : here[row] >= here[1] ? here[row]
                                           : here[1];
        }
    }
    int i = 0, k = 0;
    while (i < a->count || k < b->count) {
        const uint16_t *here = &common[(size_t)i * row + (size_t)k];
        if (i < a->count && k < b->count && are_equal(a, i, b, k)) {
            printf(" %.*s\n", a->length[i], a->at[i]);
            i++, k++;
        } else if (i < a->count && (k == b->count || here[row] >= here[1])) {
            printf("-%.*s\n", a->length[i], a->at[i]);
            i++;
        } else {
            printf("+%.*s\n", b->length[k], b->at[k]);
            k++;
        }
    }
}

static tw_status print_changes(tw_context *ctx, const code source[2])
{
    lines *both = NULL;
    uint16_t *common = NULL;
    tw_status status = twi_alloc(ctx, &both, 2, sizeof *both, "lines of source");
    if (status == TW_OK) {
        split(&source[0], &both[0]);
        split(&source[1], &both[1]);
        status = twi_alloc_zeroed(ctx, &common,
                                  ((uint64_t)both[0].count + 1) * ((uint64_t)both[1].count + 1),
                                  sizeof *common, "lines in common");
    }
    if (status == TW_OK) {
        print_diff(&both[0], &both[1], common);
    }
    twi_free(common);
    twi_free(both);
    return status;
}

static tw_status diff(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    const lab_ladder *ladder = NULL;
    const lab_rung *rung[2] = {NULL, NULL};
    code source[2] = {{0}, {0}};
    tw_status status = cli_begin(job, &s->common);
    char **names = words + count - 2;
    if (status == TW_OK) {
        status = count == 3 ? lab_find_ladder(job->ctx, words[0], &ladder)
                            : lab_find_ladder_of(job->ctx, names, 2, &ladder);
    }
    for (int i = 0; status == TW_OK && i < 2; i++) {
        status = lab_find_rung(job->ctx, ladder, names[i], &rung[i]);
        if (status == TW_OK) {
            status = read_code(job->ctx, ladder, rung[i], &source[i]);
        }
    }
    if (status == TW_OK) {
        for (int i = 0; i < 2; i++) {
            printf("%s %s: %s\n", i == 0 ? "---" : "+++", rung[i]->name, rung[i]->idea);
        }
        status = print_changes(job->ctx, source);
    }
    free(source[0].text);
    free(source[1].text);
    return status;
}

static const cli_operand diff_operands[] = {
    {"LADDER", "The ladder, where several have rungs of those names."},
    {"PARENT", "A rung, such as the one that RUNG changes."},
    {"RUNG", "Another rung of the same ladder."},
    {NULL, NULL}};
static const cli_example diff_examples[] = {
    {"tilewright-lab diff v6 v7", "what version 7 of row D changes in version 6"}, {NULL, NULL}};

const cli_command lab_diff = {
    .name = "diff",
    .usage = "[LADDER] PARENT RUNG",
    .summary = "show how one rung differs from another, line by line",
    .text =
        "Prints the source of both rungs, and what it is compiled or called with, with the lines "
        "that are only in PARENT marked by - and those only in RUNG by +.",
    .examples = diff_examples,
    .operands = diff_operands,
    .groups = groups,
    .least = 2,
    .most = 3,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = diff,
};
