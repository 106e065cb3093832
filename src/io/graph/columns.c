/* The columns of an edge list: see columns.h. */
#include "io/graph/columns.h"

#include "io/extension.h"
#include "io/graph/decimals.h"
#include "io/graph/look.h"
#include "io/graph/row_names.h"
#include "io/packed/packed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ----------------------------------------------------------------- the first line of data */

char twi_columns_given(twi_text *head)
{
    static const char words[] = "sep=";
    twi_text text = *head;
    const bool quoted = text.at < text.end && *text.at == '"';
    text.at += quoted;
    if ((size_t)(text.end - text.at) < sizeof words ||
        strncasecmp(text.at, words, sizeof words - 1) != 0) {
        return 0;
    }
    const char separator = text.at[sizeof words - 1];
    text.at += sizeof words;
    if (quoted && (text.at == text.end || *text.at++ != '"')) {
        return 0;
    }
    if (strchr(",;|\t", separator) == NULL || separator == '\0' || !twi_text_line_ends(&text)) {
        return 0;
    }
    (void)twi_text_next_line(&text);
    *head = text;
    return separator;
}

bool twi_columns_hide_edge(twi_text text, const twi_columns *columns)
{
    twi_field field;
    const char *behind = text.at + 1;
    if (!columns->names || columns->separator == ' ' || behind >= text.end ||
        twi_text_is_blank(*behind) || *behind == '\n' || *behind == '#' || *behind == '%') {
        return false;
    }
    for (int64_t column = 1; column <= columns->last; column++) {
        if (twi_field_next(&text, columns->separator, column == 1, &field) != TWI_FIELD ||
            field.begin == field.end ||
            (column == columns->weight && !twi_field_is_number(text.rules, &field) &&
             !twi_decimal_has_comma(&field))) {
            return false;
        }
    }
    return columns->loose || columns->weight > 0 ||
           twi_field_next(&text, columns->separator, false, &field) == TWI_LINE_END;
}

/* The line of data after this one, none if there is none. What is wrong with it is said when it is
 * read. */
static void look_at_next(twi_text text, char separator, twi_wish wishes[TWI_WISHES], twi_look *out)
{
    int64_t ignored = 0;
    *out = (twi_look){0};
    twi_text_skip_line(&text);
    if (twi_text_next_line(&text) && twi_look_for_line(&text, &ignored)) {
        (void)twi_look_at(text, separator, wishes, out, &text);
    }
}

/* -------------------------------------------------------------------------------- settling */

static const char *inner_extension(const twi_input *input, char inner[TWI_PACKED_NAME])
{
    return twi_extension(twi_packed_inner(input->name, inner));
}

static bool is_tab_separated(const twi_input *input)
{
    char inner[TWI_PACKED_NAME];
    const char *extension = inner_extension(input, inner);
    return strcasecmp(extension, "tsv") == 0 || strcasecmp(extension, "tab") == 0;
}

static bool is_table(const twi_input *input, char separator)
{
    char inner[TWI_PACKED_NAME];
    return separator != ' ' || is_tab_separated(input) ||
           strcasecmp(inner_extension(input, inner), "csv") == 0;
}

/* How well the first lines agree on a separator, the first of them being split as `first` says: a
 * point for every line of as many fields, and for every weight that begins like a number; one less
 * for any other weight, unless it is a title, and for quotes that are torn apart. */
static int64_t rate_separator(twi_text text, char separator, twi_wish wishes[TWI_WISHES],
                              const twi_look *first)
{
    const bool weighted =
        wishes[TWI_WEIGHT].column > 0 && first->fields >= wishes[TWI_WEIGHT].column;
    twi_look line;
    twi_text failed;
    int64_t points = 0;
    int64_t ignored = 0;
    int64_t lines = 0;
    bool more = true;
    while (more && lines < TWI_SAMPLED) {
        const bool whole = twi_look_at(text, separator, wishes, &line, &failed);
        twi_text_skip_line(&text);
        more = twi_text_next_line(&text) && twi_look_for_line(&text, &ignored);
        const bool title = lines == 0 && more;
        points += whole && line.fields == first->fields;
        points += weighted && line.weight_like;
        points -= weighted && !line.weight_like && !title;
        points -= line.quote_split;
        lines++;
    }
    return points;
}

/* Whether each of the first lines has so many fields, and a number for its weight if it has one. */
static bool do_lines_agree(twi_text text, char separator, twi_wish wishes[TWI_WISHES],
                           int64_t fields)
{
    twi_look line;
    twi_text failed;
    int64_t ignored = 0;
    bool more = true;
    for (int64_t lines = 0; more && lines < TWI_SAMPLED; lines++) {
        if (!twi_look_at(text, separator, wishes, &line, &failed) || line.fields != fields ||
            (fields > TWI_ENDS && !line.weight_like)) {
            return false;
        }
        twi_text_skip_line(&text);
        more = twi_text_next_line(&text) && twi_look_for_line(&text, &ignored);
    }
    return true;
}

typedef enum answer { NO, YES, ASK } answer;

/* Whether blanks separate fields beside `separator`. Where that gives the line at `head` two ends
 * and no weight: if blanks give it one behind two numbers, as in "0 1,5", but "5 Av,42 St" are two
 * names; or behind anything with bars or semicolons in it, which are common in names, unless these
 * cut every line in two. Where blanks would make edges of all of them just as well, as of
 * "M 2|M 1", nobody knows, except in a `table`. */
static answer do_blanks_separate(const twi_text *head, char separator, const twi_look *line,
                                 twi_wish wishes[TWI_WISHES], bool table)
{
    const bool common = separator == '|' || separator == ';';
    twi_look blanks;
    twi_text failed;
    if (!twi_look_at(*head, ' ', wishes, &blanks, &failed) || blanks.fields <= TWI_ENDS) {
        return NO;
    }
    if (blanks.braced || (line->fields == TWI_ENDS && line->torn && blanks.numbers == TWI_ENDS)) {
        return YES;
    }
    if (line->fields != TWI_ENDS || (!line->torn && separator != '|') || !common ||
        !blanks.weight_like) {
        return NO;
    }
    if (!do_lines_agree(*head, separator, wishes, TWI_ENDS)) {
        return YES;
    }
    return !table && do_lines_agree(*head, ' ', wishes, TWI_ENDS + 1) ? ASK : NO;
}

/* The tab of a .tsv that has one. *rival if blanks may separate just as well. Otherwise what the
 * first lines agree on best, semicolons before commas before tabs before bars if they do so
 * equally. Not where blanks separate beside it, nor what tears quotes apart that blanks leave
 * whole: there all of them separate. */
static char find_separator(const twi_text *head, const twi_input *input,
                           const tw_graph_read_options *opts, const twi_wish wishes[TWI_WISHES],
                           char *rival)
{
    static const char candidates[] = ";,\t| ";
    const bool usual = opts->weight == NULL && opts->from == NULL && opts->to == NULL;
    const bool tabs = is_tab_separated(input);
    char best = ' ';
    int64_t most = INT64_MIN;
    bool best_splits = false;
    for (const char *c = candidates; *c != '\0'; c++) {
        twi_wish copy[TWI_WISHES];
        twi_look line;
        twi_text failed;
        memcpy(copy, wishes, sizeof copy);
        if (usual && !opts->unweighted) {
            copy[TWI_WEIGHT].column = TWI_ENDS + 1;
        }
        if (!twi_look_at(*head, *c, copy, &line, &failed) || line.fields - line.hollow < TWI_ENDS) {
            continue;
        }
        if (*c == '\t' && tabs) {
            return '\t';
        }
        if (*c == ' ') {
            return best_splits && !line.quote_split ? ' ' : best;
        }
        const answer blanks = do_blanks_separate(head, *c, &line, copy, is_table(input, ' '));
        if (blanks == ASK) {
            *rival = *c;
            return ' ';
        }
        if (blanks == YES) {
            continue;
        }
        int64_t points = 0;
        for (int w = 0; w < TWI_WISHES; w++) {
            points -= copy[w].name != NULL && copy[w].column == 0 ? 2 * TWI_SAMPLED : 0;
            copy[w].name = NULL;
        }
        points += rate_separator(*head, *c, copy, &line);
        if (points > most) {
            most = points;
            best = *c;
            best_splits = line.quote_split;
        }
    }
    return best;
}

static tw_status parse_wish(tw_context *ctx, twi_wish *out)
{
    const char *option = out->option;
    if (option == NULL) {
        return TW_OK;
    }
    if (option[0] == '\0' || option[strspn(option, "0123456789")] != '\0') {
        out->name = option;
        out->column = 0;
        return TW_OK;
    }
    out->column = strlen(option) < 10 ? strtoll(option, NULL, 10) : INT32_MAX;
    return out->column > 0 ? TW_OK
                           : tw_fail(ctx, TW_ERR_ARGUMENT,
                                     "column %.40s cannot be the %s: columns are counted from 1",
                                     option, out->what);
}

/* Two things in one column. */
static tw_status check_apart(tw_context *ctx, const twi_wish wishes[TWI_WISHES])
{
    for (int a = 0; a < TWI_WISHES; a++) {
        for (int b = 0; b < a; b++) {
            if (wishes[a].column != 0 && wishes[a].column == wishes[b].column) {
                const char *option = wishes[a].option != NULL ? wishes[a].option : wishes[b].option;
                return tw_fail(ctx, TW_ERR_ARGUMENT,
                               "column %s%.60s%s cannot be the %s: it is the %s",
                               wishes[a].name != NULL ? "'" : "", option != NULL ? option : "",
                               wishes[a].name != NULL ? "'" : "", wishes[a].what, wishes[b].what);
            }
        }
    }
    return TW_OK;
}

/* Names that were asked for must be there, and a line of names must be allowed. */
static tw_status check_names(tw_context *ctx, const twi_input *input,
                             const tw_graph_read_options *opts, const twi_wish wishes[TWI_WISHES],
                             const twi_look *line)
{
    for (int w = 0; w < TWI_WISHES; w++) {
        const char *name = wishes[w].name;
        if (name == NULL) {
            continue;
        }
        if (opts->header == TW_GRAPH_HEADER_NO) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "the %s column can be given by name ('%.60s') only if there is a "
                           "header; give it by number",
                           wishes[w].what, name);
        }
        if (wishes[w].column == 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.400s: no column of the first line is called '%.60s'; it has %s",
                           input->name, name, line->list);
        }
        if (wishes[w].twice) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.400s: two columns of the first line are called '%.60s'; give the %s "
                           "by number",
                           input->name, name, wishes[w].what);
        }
    }
    return TW_OK;
}

/* Where titles say that the ends and the weight are, if they say so for certain: a column of an
 * unknown title may be a weight, too, unless another is called just that. */
static void choose_by_titles(const tw_graph_read_options *opts, const twi_look *line,
                             twi_wish wishes[TWI_WISHES])
{
    const bool weighed = opts->weight != NULL || opts->unweighted;
    const bool rivals = line->unknown && (line->all & TWI_TITLE_PLAIN) == 0;
    if (opts->header == TW_GRAPH_HEADER_NO || opts->from != NULL || opts->to != NULL ||
        line->figures > 0 || line->said[TWI_FROM] <= 0 || line->said[TWI_TO] <= 0 ||
        (!weighed && (line->said[TWI_WEIGHT] <= 0 || rivals))) {
        return;
    }
    wishes[TWI_FROM].column = line->said[TWI_FROM];
    wishes[TWI_TO].column = line->said[TWI_TO];
    wishes[TWI_WEIGHT].column = weighed ? wishes[TWI_WEIGHT].column : line->said[TWI_WEIGHT];
}

/* Where the weight is if nobody says so. */
static tw_status choose_weight(tw_context *ctx, const twi_input *input,
                               const tw_graph_read_options *opts, twi_wish wishes[TWI_WISHES],
                               const twi_look *line)
{
    if (wishes[TWI_WEIGHT].column != 0 || opts->unweighted || line->fields <= TWI_ENDS) {
        return TW_OK;
    }
    if (wishes[TWI_FROM].option != NULL || wishes[TWI_TO].option != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%.400s: which column is the weight? Give it with --weight, or use "
                       "--unweighted; the first line has %s",
                       input->name, line->list);
    }
    wishes[TWI_WEIGHT].column = TWI_ENDS + 1;
    return TW_OK;
}

/* Whether the first line of data names the columns. Never if its weight begins like a number,
 * otherwise if both ends are known titles. Of indices: if nothing in it is one. Of names: if
 * neither end begins like a number and it has a weight or stands above a line of numbers. */
static bool are_titles(const twi_look *line, const twi_look *next, bool names, int64_t weight)
{
    const bool weighted = weight > 0 && line->fields >= weight;
    if (line->fields < TWI_ENDS || (weighted && line->weight_like)) {
        return false;
    }
    if (line->titles == TWI_ENDS) {
        return true;
    }
    return !line->number_like &&
           (names ? weighted || next->numbers == TWI_ENDS : line->figures == 0);
}

/* What a first line may have to be asked about. */
typedef enum doubt { NONE, ENDS_MOVED, WEIGHT_MOVED, ALL_UNKNOWN, WEIGHT_UNKNOWN } doubt;

/* Titles that are common ones, but not of the columns where ends and weights usually are; or more
 * columns than an edge has, whose titles do not say which they are: nobody would know that others
 * were taken. */
static doubt doubt_titles(const twi_look *line, const tw_graph_read_options *opts, int64_t weight)
{
    const bool usual = opts->from == NULL && opts->to == NULL;
    const int said = (opts->from != NULL) << TWI_FROM | (opts->to != NULL) << TWI_TO;
    const bool told = (line->told | said) == (1 << TWI_FROM | 1 << TWI_TO);
    const bool weighed = opts->weight != NULL || opts->unweighted;
    if (usual && !told && line->titles + line->elsewhere >= TWI_ENDS) {
        return ENDS_MOVED;
    }
    if (usual && !weighed && line->weighted > 0 && line->weighted != weight) {
        return WEIGHT_MOVED;
    }
    if (line->fields <= TWI_ENDS + 1) {
        return told && !weighed && (line->weight_title & TWI_TITLE_REMARK) != 0 ? WEIGHT_UNKNOWN
                                                                                : NONE;
    }
    const bool known = weighed || (line->weighted == weight && line->weights == 1);
    return !told ? ALL_UNKNOWN : !known ? WEIGHT_UNKNOWN : NONE;
}

/* Where the columns of the first line are if they are not looked for by name. */
static void place_wishes(const twi_columns *columns, twi_wish out[TWI_WISHES])
{
    memset(out, 0, TWI_WISHES * sizeof *out);
    out[TWI_FROM].column = columns->from - columns->shift;
    out[TWI_TO].column = columns->to - columns->shift;
    out[TWI_WEIGHT].column = columns->weight > 0 ? columns->weight - columns->shift : 0;
}

tw_status twi_columns_check_titles(tw_context *ctx, const twi_input *input, const twi_text *head,
                                   const tw_graph_read_options *opts, const twi_columns *columns)
{
    twi_wish wishes[TWI_WISHES];
    twi_look line;
    twi_text failed;
    place_wishes(columns, wishes);
    if (!columns->titles || !twi_look_at(*head, columns->separator, wishes, &line, &failed)) {
        return TW_OK;
    }
    if (columns->untitled) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: each line has one field more than the header (%s); give the "
                       "columns by number, with --from, --to and --weight",
                       input->name, line.list);
    }
    switch (doubt_titles(&line, opts, wishes[TWI_WEIGHT].column)) {
    case NONE:
        return TW_OK;
    case ALL_UNKNOWN:
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: which columns are the source, the target and the weight? The first "
                       "line has %s; give them with --from, --to and --weight or --unweighted",
                       input->name, line.list);
    case WEIGHT_UNKNOWN:
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: which column is the weight? Give it with --weight, or use "
                       "--unweighted; the first line has %s",
                       input->name, line.list);
    case ENDS_MOVED:
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: the sources and targets are not where they usually are: the first "
                       "line has %s; give the columns with --from, --to and --weight",
                       input->name, line.list);
    default:
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: the weight is not where it usually is: the first line has %s; give "
                       "the columns with --from, --to and --weight",
                       input->name, line.list);
    }
}

bool twi_columns_check_comment(twi_text *text, const tw_graph_read_options *opts,
                               const twi_columns *columns)
{
    twi_wish wishes[TWI_WISHES];
    twi_look line;
    twi_text inner = *text;
    twi_text failed;
    inner.at++;
    twi_text_skip_blanks(&inner);
    place_wishes(columns, wishes);
    if (columns->titles || opts->from != NULL || opts->to != NULL || opts->weight != NULL ||
        !twi_look_at(inner, columns->separator, wishes, &line, &failed) ||
        line.fields != columns->fields || line.titles + line.elsewhere < TWI_ENDS ||
        (columns->separator == ' ' && line.fields > TWI_ENDS && line.weighted == 0)) {
        return true;
    }
    const doubt found = doubt_titles(&line, opts, columns->weight);
    return (found != ENDS_MOVED && found != WEIGHT_MOVED) ||
           twi_text_fail(text, TW_ERR_FORMAT, NULL,
                         "this comment names the columns %.120s: give them by number, with --from, "
                         "--to and --weight",
                         line.list);
}

/* Whether a line behind the first has an end that is a name: columns->telling. */
static bool have_names(twi_text text, twi_columns *columns, twi_wish wishes[TWI_WISHES])
{
    const bool table = columns->separator != ' ';
    twi_look line = {0};
    int64_t ignored = 0;
    for (int64_t lines = 1; lines < TWI_SAMPLED && !line.names; lines++) {
        twi_text_skip_line(&text);
        if (!twi_text_next_line(&text) || !twi_look_for_line(&text, &ignored)) {
            return false;
        }
        (void)twi_look_at(text, columns->separator, wishes, &line, &text);
    }
    if (line.names) {
        columns->telling = line.ends[!twi_field_is_name(&line.ends[0], table)];
    }
    return line.names;
}

/* Ends that are names, without being asked: in a table those that nobody would take for numbers, a
 * line of titles saying nothing about it; and any that can be no index, in the first line beside a
 * number or in one of the next. */
static bool are_names(const twi_text *head, twi_columns *columns, twi_wish wishes[TWI_WISHES],
                      const twi_look *line, const twi_look *next)
{
    const bool words =
        columns->table && line->fields >= TWI_ENDS && !line->number_like && line->numbers == 0 &&
        (next->fields > 0 ? !next->number_like && next->numbers == 0
                          : line->figures > 0 || line->weight_like || next->any_quote);
    return words || (line->names && line->figures > 0 && line->titles < TWI_ENDS) ||
           have_names(*head, columns, wishes);
}

/* Where the columns are in the lines below the titles, which stand `shift` to their left; who gives
 * a number counts what is in the file. Returns whether one is known by its title. */
static bool shift_wishes(const tw_graph_read_options *opts, const twi_wish wishes[TWI_WISHES],
                         int64_t shift, twi_wish out[TWI_WISHES])
{
    bool titled = false;
    for (int w = 0; w < TWI_WISHES; w++) {
        const bool numbered = wishes[w].option != NULL && wishes[w].name == NULL;
        out[w] = wishes[w];
        out[w].column += wishes[w].column > 0 && !numbered ? shift : 0;
        titled |= !numbered && (w != TWI_WEIGHT || !opts->unweighted);
    }
    return titled;
}

/* What is no text has other faults. */
static bool has_bare_return(const twi_text *line)
{
    const char *at = line->at;
    while (at < line->end && ((unsigned char)*at >= ' ' || *at == '\t')) {
        at++;
    }
    while (at < line->end && *at == '\r') {
        at++;
    }
    return at < line->end && at > line->at && at[-1] == '\r' && *at != '\n';
}

/* Blanks skipped. */
static bool is_comment(twi_text *line)
{
    return twi_text_line_ends(line) || *line->at == '#' || *line->at == '%';
}

/* `line` has a bare return, and so have all others if nothing else ends it. */
static tw_status fail_return(tw_context *ctx, const twi_input *input, twi_text line)
{
    if (memchr(line.at, '\n', (size_t)(line.end - line.at)) == NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.400s: lines end with a carriage return only; convert them to end with LF",
                       input->name);
    }
    const int64_t before = twi_text_count_lines(input->bytes, line.at);
    return tw_fail(ctx, TW_ERR_FORMAT,
                   "%.400s:%lld: a lone carriage return %s; end lines with LF or CR LF",
                   input->name, (long long)before + 1,
                   is_comment(&line) ? "in a comment hides what follows it" : "inside a line");
}

tw_status twi_columns_check_returns(tw_context *ctx, const twi_input *input, twi_text head)
{
    bool comment;
    do {
        if (has_bare_return(&head)) {
            return fail_return(ctx, input, head);
        }
        comment = is_comment(&head);
        twi_text_skip_line(&head);
    } while (comment && twi_text_next_line(&head));
    return TW_OK;
}

tw_status twi_columns_settle(tw_context *ctx, const twi_input *input, twi_text *head,
                             const tw_graph_read_options *opts, twi_columns *out)
{
    twi_wish wishes[TWI_WISHES] = {
        [TWI_FROM] = {.option = opts->from, .what = "source", .column = 1},
        [TWI_TO] = {.option = opts->to, .what = "target", .column = 2},
        [TWI_WEIGHT] = {.option = opts->weight, .what = "weight"},
    };
    twi_look line;
    twi_look next;
    tw_status status = TW_OK;
    for (int w = 0; w < TWI_WISHES && status == TW_OK; w++) {
        status = parse_wish(ctx, &wishes[w]);
    }
    if (status != TW_OK) {
        return status;
    }
    char rival = '\0';
    out->separator =
        out->given != 0 ? out->given : find_separator(head, input, opts, wishes, &rival);
    if (rival != '\0') {
        char shown[61];
        const char *end = memchr(head->at, '\n', (size_t)(head->end - head->at));
        (void)twi_text_show(shown, sizeof shown, head->at, end != NULL ? end : head->end);
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s: does '%c' separate the fields of '%s', or do blanks? Put a first line "
            "'sep=%c' if it does, or names in quotes if blanks do",
            input->name, rival, shown, rival);
    }
    out->table = is_table(input, out->separator);
    if (!twi_look_at(*head, out->separator, wishes, &line, head)) {
        return twi_text_report(ctx, input, head);
    }
    status = check_names(ctx, input, opts, wishes, &line);
    if (status == TW_OK) {
        choose_by_titles(opts, &line, wishes);
        status = choose_weight(ctx, input, opts, wishes, &line);
    }
    if (status != TW_OK) {
        return status;
    }
    const bool asked =
        opts->from != NULL || opts->to != NULL || opts->weight != NULL || opts->unweighted;
    const bool named = wishes[TWI_FROM].name != NULL || wishes[TWI_TO].name != NULL ||
                       wishes[TWI_WEIGHT].name != NULL;
    const bool headed = opts->header == TW_GRAPH_HEADER_YES || named ||
                        (opts->header == TW_GRAPH_HEADER_AUTO && line.figures == 0);
    const twi_rows rows =
        headed ? twi_rows_look(*head, out->separator, line.fields) : TWI_ROWS_PLAIN;
    twi_wish below[TWI_WISHES];
    out->shift = rows == TWI_ROWS_NAMED;
    out->untitled = shift_wishes(opts, wishes, out->shift, below) && rows == TWI_ROWS_UNTITLED;
    status = check_apart(ctx, below);
    if (status != TW_OK) {
        return status;
    }
    for (int w = 0; w < TWI_WISHES; w++) { /* found: their columns are what counts from here on */
        wishes[w].name = NULL;
        below[w].name = NULL;
    }
    (void)twi_look_at(*head, out->separator, wishes, &line, head);
    look_at_next(*head, out->separator, below, &next);
    out->names = opts->ids || are_names(head, out, below, &line, &next);
    out->titles = opts->header != TW_GRAPH_HEADER_AUTO
                      ? opts->header == TW_GRAPH_HEADER_YES
                      : named || rows != TWI_ROWS_PLAIN ||
                            are_titles(&line, &next, out->names, wishes[TWI_WEIGHT].column);
    if (!asked && !out->titles && line.fields > TWI_ENDS + 1 && line.figures == line.fields) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s: %lld numeric columns and no header; choose the source, target and weight "
            "with --from, --to and --weight (--weight 3 takes the first three columns), or, if "
            "it is a matrix, convert it to .npy first",
            input->name, (long long)line.fields);
    }
    out->guessed = out->titles && opts->header == TW_GRAPH_HEADER_AUTO && !named;
    out->unusual = line.titles < TWI_ENDS;
    out->lone = opts->header == TW_GRAPH_HEADER_AUTO && !out->titles && next.fields > 0 &&
                line.numbers == 0 && !line.number_like;
    out->wordy = out->lone && line.figures > 0 && line.weight_like;
    out->doubtful =
        (opts->header == TW_GRAPH_HEADER_AUTO && !out->titles && next.fields > 0 && line.spelt) ||
        (out->wordy && (!out->unusual || next.numbers == TWI_ENDS));
    memcpy(out->ends, line.ends, sizeof out->ends);
    out->from = below[TWI_FROM].column;
    out->to = below[TWI_TO].column;
    out->weight = opts->unweighted ? 0 : below[TWI_WEIGHT].column;
    out->loose = opts->unweighted || opts->from != NULL || opts->to != NULL;
    out->quoted = line.any_quote || next.any_quote;
    out->last = out->from > out->to ? out->from : out->to;
    out->last = out->weight > out->last ? out->weight : out->last;
    out->fields = line.fields + out->shift;
    if (out->titles && !out->unusual && line.fields == TWI_ENDS + 1 && out->weight > 0 &&
        opts->weight == NULL && line.weight_title == 0) {
        out->weighing = line.weight_field;
    }
    out->span = out->last;
    for (int w = 0; w < TWI_WAYS && out->titles; w++) {
        out->ways[w] = line.ways[w] > 0 ? line.ways[w] + out->shift : 0;
        out->span = out->ways[w] > out->span ? out->ways[w] : out->span;
    }
    out->no_edge =
        !out->names || (out->weight > 0 && out->fields >= out->weight && !line.weight_like);
    return status;
}
