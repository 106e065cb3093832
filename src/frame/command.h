/*
 * Commands and their options as tables. One table per command drives the parser (options.c), the
 * help texts, the manual page and the completions of shells (help.c, manual.c, completion.c), so
 * that none of them can say something the others do not.
 *
 * A command has a settings struct, given by its defaults; an option says where in that struct its
 * value goes (offsetof) and what kind of value it is.
 */
#ifndef FRAME_COMMAND_H
#define FRAME_COMMAND_H

#include <tilewright.h>

#include <stdbool.h>

#ifdef __clang_analyzer__ /* it checks one file at a time: tell it that the status comes back */
#define tw_fail(ctx, status, ...) ((void)tw_fail(ctx, status, __VA_ARGS__), (status))
#endif

typedef enum cli_kind {
    CLI_FLAG,           /* int32_t: stores `constant` */
    CLI_TEXT,           /* const char * */
    CLI_COUNT,          /* int64_t >= `constant` */
    CLI_OPTIONAL_COUNT, /* int64_t >= 0, written --name or --name=K; alone it stores `constant` */
    CLI_NUMBER,         /* double, not NaN */
    CLI_SIZE,           /* uint64_t: bytes, as 8G or 512Mi */
    CLI_TIME,           /* double: seconds, as 30s, 10m or 1h */
    CLI_SEED,           /* uint64_t */
    CLI_TYPE,           /* tw_type, by name */
    CLI_METHOD,         /* tw_apsp_method, by name */
    CLI_INTERVAL,       /* cli_interval, written LO:HI */
    CLI_TEXTS           /* cli_texts: may be given several times */
} cli_kind;

typedef struct cli_interval {
    double low;
    double high;
} cli_interval;

#define CLI_MOST_TEXTS 64

typedef struct cli_texts {
    int32_t count;
    const char *text[CLI_MOST_TEXTS];
} cli_texts;

/* The types that an option of kind CLI_TYPE takes: its `constant`. */
typedef enum cli_types {
    CLI_MATRIX_TYPES,  /* of distances: auto u8 u16 i32 f32 f64 */
    CLI_ELEMENT_TYPES, /* with i16 */
    CLI_WEIGHT_TYPES,  /* i32 f32 f64 */
    CLI_FLOAT_TYPES,   /* f32 f64 */
    CLI_COMPUTE_TYPES, /* auto f32 f64 */
    CLI_ENTROPY_TYPES  /* auto u8 u16 f16 f32 */
} cli_types;

/* The same of kind CLI_METHOD. */
typedef enum cli_methods {
    CLI_ALL_METHODS,
    CLI_METHODS_OF_RANKS /* not the reference */
} cli_methods;

typedef struct cli_option {
    const char *name; /* without its dashes; NULL ends a table */
    char letter;      /* the short form, or 0 */
    cli_kind kind;
    const char *value; /* what the value is called in the help; NULL for flags */
    size_t place;      /* offset in the settings */
    int32_t constant;
    const char *help;
} cli_option;

typedef struct cli_group {
    const char *title; /* NULL ends a table */
    const cli_option *options;
} cli_group;

typedef struct cli_operand {
    const char *name; /* NULL ends a table */
    const char *help;
} cli_operand;

typedef struct cli_example {
    const char *command; /* NULL ends a table */
    const char *what;
} cli_example;

typedef struct cli_job cli_job;

typedef struct cli_command {
    const char *name;
    const char *usage;   /* the operands of the usage line */
    const char *summary; /* one line, no full stop */
    const char *text;    /* a paragraph or more, separated by empty lines */
    const cli_example *examples;
    const cli_operand *operands;
    const cli_group *groups;
    int least; /* operands */
    int most;
    bool expression; /* the first operand is one, and may begin with a minus sign */
    size_t settings_size;
    const void *defaults;
    tw_status (*run)(cli_job *job, const void *settings, int count, char **operands);
} cli_command;

#endif
