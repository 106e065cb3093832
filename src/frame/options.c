/*
 * The parser of the command line. GNU manners: long options with "=" or a separate value, short
 * ones alone or bundled, options anywhere among the operands, "--" ends them, "-" is an operand.
 * So is a negative number, and an expression that begins with a minus sign and is no option.
 * Nothing is abbreviated and nothing is guessed: a wrong name gets the nearest right one as advice.
 */
#include "frame/options.h"

#include "frame/program.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 64       /* options of one command */
#define LONGEST_WORD 32     /* names longer than this get no advice */
#define SHOWN_VALUE "%.60s" /* a value in a sentence */

const cli_option cli_help_option = {"help", 'h', CLI_FLAG, NULL, 0, 1, "Show this help."};

/* --------------------------------------------------------------------------------- suggestions */

static int least_of(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Letters to insert, delete, replace or swap to make one word of the other. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][LONGEST_WORD + 1];
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= length_b; j++) {
        last[j] = j;
    }
    for (int i = 1; i <= length_a; i++) {
        now[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least_of(last[j] + 1, now[j - 1] + 1, replaced);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[length_b];
}

const char *cli_nearest(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    if (length < 2 || length > LONGEST_WORD) {
        return NULL;
    }
    const char *nearest = NULL;
    int least = length < 4 ? 2 : 3; /* exclusive: a slip is one letter, two in a longer word */
    for (int i = 0; i < count; i++) {
        if (strlen(names[i]) > LONGEST_WORD) {
            continue;
        }
        int distance = edit_distance(word, names[i]);
        bool beginning = length >= 3 && strncmp(word, names[i], length) == 0;
        if (beginning && distance > 1) {
            distance = 1; /* an abbreviation is as near as a slip */
        }
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static tw_status fail_unknown_option(tw_context *ctx, const cli_command *command, const char *name)
{
    const char *names[MOST_NAMES];
    int count = 0;
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            if (count < MOST_NAMES - 1) {
                names[count++] = option->name;
            }
        }
    }
    names[count++] = cli_help_option.name;
    const char *nearest = cli_nearest(name, names, count);
    if (nearest != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown option '--%.60s': did you mean '--%s'?", name,
                       nearest);
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown option '--%.60s': see '%s %s --help'", name,
                   cli_program.name, command->name);
}

/* -------------------------------------------------------------------------------------- values */

bool cli_read_count(const char *text, int64_t *out)
{
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0') {
        return false;
    }
    *out = value;
    return true;
}

static bool read_seed(const char *text, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0') {
        return false;
    }
    *out = value;
    return true;
}

/* A number as the C library reads it, unless it is one that f64 cannot hold: 1e309 is not meant to
 * be infinite. */
static double read_f64(const char *text, char **end)
{
    errno = 0;
    const double value = strtod(text, end);
    if (errno == ERANGE && isinf(value)) {
        *end = (char *)text;
    }
    return value;
}

bool cli_read_real(const char *text, double *out)
{
    char *end = NULL;
    *out = read_f64(text, &end);
    return *text != '\0' && !isspace((unsigned char)*text) && *end == '\0';
}

/* Whether a text that could not be read is a number, of too many digits. */
static bool is_too_large(const char *text)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    const size_t digits = strspn(text, "0123456789");
    return *text != '\0' && *end == '\0' &&
           ((errno == ERANGE && isinf(value)) || text[digits] == '\0');
}

const char *cli_why_not_real(const char *text)
{
    return is_too_large(text) ? "this is outside the range of f64" : "expected a number or nan";
}

/* A number up to `stop` (the end of the text, or a separator). */
static bool read_number(const char *text, char stop, const char **rest, double *out)
{
    char *end = NULL;
    if (text[0] == '\0' || isspace((unsigned char)text[0])) {
        return false;
    }
    double value = read_f64(text, &end);
    if (end == text || *end != stop || isnan(value)) {
        return false;
    }
    *rest = end;
    *out = value;
    return true;
}

bool cli_read_interval(const char *text, cli_interval *out)
{
    const char *colon = NULL, *end = NULL;
    return read_number(text, ':', &colon, &out->low) &&
           read_number(colon + 1, '\0', &end, &out->high) && out->low <= out->high;
}

/* Whether a number that ends at `stop` begins the text, and f64 cannot hold it. */
static bool is_beyond_f64(const char *text, char stop)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    return errno == ERANGE && isinf(value) && *end == stop;
}

static bool has_end_beyond_f64(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon != NULL && (is_beyond_f64(text, ':') || is_beyond_f64(colon + 1, '\0'));
}

const char *cli_why_not_interval(const char *text)
{
    return has_end_beyond_f64(text) ? "an end is outside the range of f64"
                                    : "expected two numbers LO:HI with LO <= HI";
}

/* "8G", "8GB", "512Mi", "1.5e9": decimal letters are powers of 1000, with an i of 1024. */
bool cli_read_size(const char *text, uint64_t *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    double value = strtod(text, &end);
    static const char letters[] = "KMGT";
    const char *letter = *end != '\0' ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    if (letter != NULL) {
        double base = end[1] == 'i' ? 1024 : 1000;
        value *= pow(base, (double)(letter - letters + 1));
        end += end[1] == 'i' ? 2 : 1;
    }
    if (*end == 'B') {
        end++;
    }
    if (*end != '\0' || !(value < 0x1p63)) {
        return false;
    }
    *out = (uint64_t)value;
    return true;
}

/* "30s", "10m", "1.5h"; without a letter: seconds. */
bool cli_read_time(const char *text, double *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    *out = strtod(text, &end);
    const double unit = *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    end += *end == 'h' || *end == 'm' || *end == 's' ? 1 : 0;
    *out *= unit;
    return *end == '\0' && *out < 1e9;
}

static const char *const methods[] = {
    [CLI_ALL_METHODS] = "auto closure dijkstra bfs sweep reference",
    [CLI_METHODS_OF_RANKS] = "auto closure dijkstra bfs sweep",
};

static const char *const types[] = {
    [CLI_MATRIX_TYPES] = "auto u8 u16 i32 f32 f64",
    [CLI_ELEMENT_TYPES] = "auto u8 u16 i16 i32 f32 f64",
    [CLI_WEIGHT_TYPES] = "i32 f32 f64",
    [CLI_FLOAT_TYPES] = "f32 f64",
    [CLI_COMPUTE_TYPES] = "auto f32 f64",
    [CLI_ENTROPY_TYPES] = "auto u8 u16 f16 f32",
};

const char *cli_choices(const cli_option *option)
{
    return option->kind == CLI_TYPE     ? types[option->constant]
           : option->kind == CLI_METHOD ? methods[option->constant]
                                        : NULL;
}

#define EXPECTED 96 /* bytes of the longest sentence below */

static const char *expected_of(char text[EXPECTED], const cli_option *option)
{
    switch (option->kind) {
    case CLI_COUNT:
        (void)snprintf(text, EXPECTED, "a whole number, %d or more", option->constant);
        return text;
    case CLI_OPTIONAL_COUNT: /* whose range its command knows */
        return "a whole number without a sign";
    case CLI_SEED:
        return "a whole number, 0 or more";
    case CLI_NUMBER:
        return "a number";
    case CLI_SIZE:
        return "a size such as 8G or 512Mi";
    case CLI_TIME:
        return "a time such as 30s, 10m or 1h";
    case CLI_TEXTS:
        return "the option at most 64 times";
    default:
        return "a value";
    }
}

/* "auto u8 u16" as "auto, u8 or u16". */
static const char *list_choices(char text[EXPECTED], const char *choices)
{
    const char *last = strrchr(choices, ' ');
    char *end = text;
    for (const char *at = choices; *at != '\0' && end < text + EXPECTED - sizeof " or "; at++) {
        if (*at == ' ') {
            end = stpcpy(end, at == last ? " or " : ", ");
        } else {
            *end++ = *at;
        }
    }
    *end = '\0';
    return text;
}

static bool read_value(const cli_option *option, const char *text, void *place)
{
    const char *end = NULL;
    switch (option->kind) {
    case CLI_TEXT:
        *(const char **)place = text;
        return true;
    case CLI_COUNT:
        return cli_read_count(text, place) && *(const int64_t *)place >= option->constant;
    case CLI_OPTIONAL_COUNT:
        return cli_read_count(text, place);
    case CLI_NUMBER:
        return read_number(text, '\0', &end, place);
    case CLI_SIZE:
        return cli_read_size(text, place);
    case CLI_TIME:
        return cli_read_time(text, place);
    case CLI_SEED:
        return read_seed(text, place);
    case CLI_TYPE:
        /* Types are asked for to compute in or to write, and i64 is neither. */
        return tw_type_parse(place, text) == TW_OK && *(const tw_type *)place != TW_I64;
    case CLI_METHOD:
        return tw_apsp_method_parse(place, text) == TW_OK;
    case CLI_INTERVAL:
        return cli_read_interval(text, place);
    case CLI_TEXTS: {
        cli_texts *texts = place;
        if (texts->count == CLI_MOST_TEXTS) {
            return false;
        }
        texts->text[texts->count++] = text;
        return true;
    }
    case CLI_FLAG:
        break;
    }
    return false;
}

/* -------------------------------------------------------------------------------------- parser */

typedef struct parser {
    tw_context *ctx;
    const cli_command *command;
    char *settings;
    int argc;
    char **argv;
    int next; /* the argument to be read */
    cli_parsed *out;
} parser;

/* An option of the table was read: for whoever asks later whether it was given. */
static void note(parser *p, const cli_option *option)
{
    if (p->out->given_count < CLI_MOST_OPTIONS) {
        p->out->given[p->out->given_count++] = option;
    }
}

bool cli_given(const cli_parsed *parsed, const char *name)
{
    for (int i = 0; parsed != NULL && i < parsed->given_count; i++) {
        if (strcmp(parsed->given[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* By long name (length bytes of it), or by letter when name is NULL. */
static const cli_option *find_option(const cli_command *command, const char *name, size_t length,
                                     char letter)
{
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            bool same = name != NULL ? strncmp(option->name, name, length) == 0 &&
                                           option->name[length] == '\0'
                                     : option->letter == letter;
            if (same) {
                return option;
            }
        }
    }
    return NULL;
}

static tw_status store(parser *p, const cli_option *option, const char *written, const char *text)
{
    note(p, option);
    if (!read_value(option, text, p->settings + option->place)) {
        int64_t count;
        const bool too_small = option->kind == CLI_COUNT && cli_read_count(text, &count);
        char expected[EXPECTED];
        if (cli_choices(option) != NULL) {
            return tw_fail(p->ctx, TW_ERR_ARGUMENT, "unknown %s '" SHOWN_VALUE "'; use %s", written,
                           text, list_choices(expected, cli_choices(option)));
        }
        if (option->kind == CLI_INTERVAL) {
            return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s '" SHOWN_VALUE "': %s", written, text,
                           cli_why_not_interval(text));
        }
        if (!too_small && is_too_large(text)) {
            return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s '" SHOWN_VALUE "' is too large", written,
                           text);
        }
        return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s '" SHOWN_VALUE "': expected %s", written, text,
                       expected_of(expected, option));
    }
    return TW_OK;
}

static void store_constant(parser *p, const cli_option *option)
{
    note(p, option);
    if (option->kind == CLI_OPTIONAL_COUNT) {
        *(int64_t *)(void *)(p->settings + option->place) = option->constant;
    } else {
        *(int32_t *)(void *)(p->settings + option->place) = option->constant;
    }
}

/* The value from the next argument. */
static tw_status store_next(parser *p, const cli_option *option, const char *written)
{
    if (p->next >= p->argc) {
        return tw_fail(p->ctx, TW_ERR_ARGUMENT, "option '%s' needs a value: %s %s", written,
                       written, option->value);
    }
    return store(p, option, written, p->argv[p->next++]);
}

static bool is_number(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

static tw_status parse_long(parser *p, const char *argument)
{
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (length == 4 && strncmp(name, "help", 4) == 0) {
        p->out->help = true;
        return TW_OK;
    }
    const cli_option *option = length > 0 ? find_option(p->command, name, length, 0) : NULL;
    char written[LONGEST_WORD + 32];
    snprintf(written, sizeof written, "--%.*s", (int)(length < 60 ? length : 60), name);
    if (option == NULL) {
        return fail_unknown_option(p->ctx, p->command, written + 2);
    }
    if (option->kind == CLI_FLAG && value != NULL) {
        return tw_fail(p->ctx, TW_ERR_ARGUMENT, "option '%s' takes no value", written);
    }
    if (option->kind == CLI_OPTIONAL_COUNT && value == NULL && p->next < p->argc &&
        is_number(p->argv[p->next])) { /* would be a file of that name */
        return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s " SHOWN_VALUE ": write %s=" SHOWN_VALUE,
                       written, p->argv[p->next], written, p->argv[p->next]);
    }
    if (option->kind == CLI_FLAG || (option->kind == CLI_OPTIONAL_COUNT && value == NULL)) {
        store_constant(p, option);
        return TW_OK;
    }
    if (value != NULL) {
        return store(p, option, written, value);
    }
    return store_next(p, option, written);
}

static tw_status parse_short(parser *p, const char *argument)
{
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        if (*letter == cli_help_option.letter) {
            p->out->help = true;
            continue;
        }
        const cli_option *option = find_option(p->command, NULL, 0, *letter);
        char written[3] = {'-', *letter, '\0'};
        if (option == NULL) {
            return tw_fail(p->ctx, TW_ERR_ARGUMENT,
                           "unknown option '-%c' in '" SHOWN_VALUE "': see '%s %s --help'"
                           " (an operand that begins with '-' goes after '--')",
                           isprint((unsigned char)*letter) ? *letter : '?', argument,
                           cli_program.name, p->command->name);
        }
        if (option->kind == CLI_FLAG) {
            store_constant(p, option);
        } else if (letter[1] != '\0') {
            return store(p, option, written, letter + 1);
        } else {
            return store_next(p, option, written);
        }
    }
    return TW_OK;
}

/* Two flags that set one thing differently. */
static tw_status check_flags(tw_context *ctx, const cli_parsed *parsed)
{
    for (int i = 0; i < parsed->given_count; i++) {
        const cli_option *a = parsed->given[i];
        for (int k = 0; k < i && a->kind == CLI_FLAG; k++) {
            const cli_option *b = parsed->given[k];
            if (b->kind == CLI_FLAG && a->place == b->place && a->constant != b->constant) {
                return tw_fail(ctx, TW_ERR_ARGUMENT, "--%s and --%s cannot be used together",
                               b->name, a->name);
            }
        }
    }
    return TW_OK;
}

static tw_status check_operands(parser *p, int count)
{
    const cli_command *command = p->command;
    const char *between = command->usage[0] != '\0' ? " " : "";
    if (count < command->least) {
        return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s: missing operand; usage: %s %s%s%s",
                       command->name, cli_program.name, command->name, between, command->usage);
    }
    if (count > command->most) {
        return tw_fail(p->ctx, TW_ERR_ARGUMENT,
                       "%s: unexpected operand '" SHOWN_VALUE "'; usage: %s %s%s%s", command->name,
                       p->argv[command->most], cli_program.name, command->name, between,
                       command->usage);
    }
    for (int i = 0; i < count; i++) {
        if (p->argv[i][0] == '\0') {
            return tw_fail(p->ctx, TW_ERR_ARGUMENT, "%s: operand %d is empty; usage: %s %s%s%s",
                           command->name, i + 1, cli_program.name, command->name, between,
                           command->usage);
        }
    }
    return TW_OK;
}

/* Whether a value that follows a letter without a space could be meant for that option. */
static bool could_be_value(const cli_option *option, const char *text)
{
    union {
        double number;
        cli_interval interval;
        cli_texts texts;
    } scratch = {.texts = {0}};
    if (option->kind == CLI_TEXTS) { /* NAME=VALUE, and no comparison */
        size_t name = strcspn(text, "=");
        return text[name] == '=' && text[name + 1] != '=' &&
               (name == 0 || strchr("<>!", text[name - 1]) == NULL);
    }
    return read_value(option, text, &scratch);
}

/* Whether letters after a '-' are short options of the command, as far as can be told. */
static bool are_options(const cli_command *command, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const cli_option *option = find_option(command, NULL, 0, *letters);
        bool flag =
            *letters == cli_help_option.letter || (option != NULL && option->kind == CLI_FLAG);
        if (!flag) {
            return option != NULL && (letters[1] == '\0' || could_be_value(option, letters + 1));
        }
    }
    return true;
}

static bool is_operand(const parser *p, const char *argument, int operands_before)
{
    if (argument[0] != '-' || argument[1] == '\0') {
        return true;
    }
    if (isdigit((unsigned char)argument[argument[1] == '.' ? 2 : 1])) {
        return true; /* a negative number: no option is a digit */
    }
    return p->command->expression && operands_before == 0 && argument[1] != '-' &&
           !are_options(p->command, argument + 1);
}

tw_status cli_parse(tw_context *ctx, const cli_command *command, int argc, char **argv,
                    void *settings, cli_parsed *out)
{
    *out = (cli_parsed){.operands = argv};
    parser p = {ctx, command, settings, argc, argv, 0, out};
    int operands = 0;
    bool ended = false;
    tw_status status = TW_OK;
    memcpy(settings, command->defaults, command->settings_size);
    while (status == TW_OK && p.next < argc && !out->help) {
        char *argument = argv[p.next++];
        if (ended || is_operand(&p, argument, operands)) {
            argv[operands++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            ended = true;
        } else if (argument[1] == '-') {
            status = parse_long(&p, argument);
        } else {
            status = parse_short(&p, argument);
        }
    }
    if (status == TW_OK && !out->help) {
        status = check_flags(ctx, out);
    }
    if (status == TW_OK && !out->help) {
        status = check_operands(&p, operands);
    }
    out->count = operands;
    return status;
}
