/* See words.h. Values are compared as they were read, so 10m is the same as 600s. */
#include "mpi/command/words.h"

#include "mpi/shared/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 32 /* characters of a number */

static bool is_own(const char *name)
{
    static const char *const own[] = {"threads", "memory", "device-memory", "device",
                                      "isa",     "quiet",  "no-progress"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *show_real(char text[SHOWN], double value)
{
    (void)snprintf(text, SHOWN, "%.15g", value);
    if (strtod(text, NULL) != value) {
        (void)snprintf(text, SHOWN, "%.17g", value);
    }
    return text;
}

/* The value of an option that was given, in `text` or where it lies. */
static const char *show_value(char text[SHOWN], const cli_option *option, const void *settings)
{
    const void *place = (const char *)settings + option->place;
    switch (option->kind) {
    case CLI_TEXT:
        return *(const char *const *)place;
    case CLI_COUNT:
    case CLI_OPTIONAL_COUNT:
        (void)snprintf(text, SHOWN, "%lld", (long long)*(const int64_t *)place);
        return text;
    case CLI_SIZE:
    case CLI_SEED:
        (void)snprintf(text, SHOWN, "%llu", (unsigned long long)*(const uint64_t *)place);
        return text;
    case CLI_NUMBER:
        return show_real(text, *(const double *)place);
    case CLI_TIME:
        show_real(text, *(const double *)place);
        (void)snprintf(text + strlen(text), SHOWN - strlen(text), "s");
        return text;
    case CLI_TYPE:
        return tw_type_name(*(const tw_type *)place);
    case CLI_METHOD:
        return tw_apsp_method_name(*(const tw_apsp_method *)place);
    case CLI_FLAG:
    case CLI_INTERVAL: /* which this command has none of */
    case CLI_TEXTS:
        break;
    }
    return "";
}

static tw_status compare(tw_context *ctx, const twi_told *told, int count)
{
    twi_world world;
    tw_status status = twi_world_open(ctx, &world, MPI_COMM_WORLD);
    if (status == TW_OK) {
        status = twi_world_same(ctx, &world, told, count);
        twi_world_close(&world);
    }
    return status;
}

tw_status mpi_words_command(tw_context *ctx, const char *word)
{
    const twi_told told[] = {{"the command", word}};
    return compare(ctx, told, 1);
}

tw_status mpi_words_compare(tw_context *ctx, const cli_command *command, const cli_parsed *parsed,
                            const void *settings)
{
    twi_told told[CLI_MOST_OPTIONS];
    char names[CLI_MOST_OPTIONS][SHOWN], values[CLI_MOST_OPTIONS][SHOWN];
    int count = 0;
    told[count++] = (twi_told){"--help", parsed->help ? "" : NULL};
    for (int i = 0; i < command->most; i++) {
        told[count++] =
            (twi_told){command->operands[i].name, i < parsed->count ? parsed->operands[i] : NULL};
    }
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            if (is_own(option->name) || count == CLI_MOST_OPTIONS) {
                continue;
            }
            (void)snprintf(names[count], SHOWN, "--%s", option->name);
            told[count] = (twi_told){names[count], cli_given(parsed, option->name)
                                                       ? show_value(values[count], option, settings)
                                                       : NULL};
            count++;
        }
    }
    return compare(ctx, told, count);
}
