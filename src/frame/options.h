/*
 * The parser of a command's arguments, driven by the table of its options (command.h), and the
 * numbers that options and operands are written as.
 */
#ifndef FRAME_OPTIONS_H
#define FRAME_OPTIONS_H

#include "frame/command.h"

/* What every command of the program takes. */
extern const cli_option cli_help_option;

/* More than any command has. */
#define CLI_MOST_OPTIONS 96

typedef struct cli_parsed {
    bool help;       /* --help was among the arguments; nothing else was checked then */
    int count;       /* operands */
    char **operands; /* the caller's argument array, rearranged */
    int given_count; /* options, each as often as it was given, up to the room there is */
    const cli_option *given[CLI_MOST_OPTIONS];
} cli_parsed;

/* Whether an option of this name was among the arguments. */
bool cli_given(const cli_parsed *parsed, const char *name);

/* Read argc arguments (after the command's name) into settings_size bytes at `settings`, defaults
 * first. The arguments are permuted: operands come to the front. */
TW_CHECKED tw_status cli_parse(tw_context *ctx, const cli_command *command, int argc, char **argv,
                               void *settings, cli_parsed *out);

/* The words that an option takes as its value, separated by spaces; NULL if it takes others, too.
 */
const char *cli_choices(const cli_option *option);

/* The name of `names` nearest to `word`, or NULL when none is near enough to be a slip of it. */
const char *cli_nearest(const char *word, const char *const *names, int count);

/* Whole numbers and sizes as the options read them; false if `text` is anything else. */
bool cli_read_count(const char *text, int64_t *out);
/* A number that f64 holds, an infinity or NaN. */
bool cli_read_real(const char *text, double *out);
/* Two numbers LO:HI with LO <= HI. */
bool cli_read_interval(const char *text, cli_interval *out);
/* What to say where it is not one. */
const char *cli_why_not_interval(const char *text);
/* What to say where a text is no number. */
const char *cli_why_not_real(const char *text);
bool cli_read_size(const char *text, uint64_t *out);
/* Seconds. */
bool cli_read_time(const char *text, double *out);

#endif
