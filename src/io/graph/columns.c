/* The columns of an edge list: see columns.h. */
#include "io/graph/columns.h"

#include "io/extension.h"
#include "io/graph/titles.h"
#include "io/packed/packed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ENDS = 2, LISTED = 160, SAMPLED = 16 }; /* lines that settle the separator */

/* ----------------------------------------------------------------- the first line of data */

/* "# vertices: N" */
static void read_remark(twi_text head, int64_t *vertices)
{
    static const char words[] = "vertices:";
    head.at++;
    twi_text_skip_blanks(&head);
    size_t left = (size_t)(head.end - head.at);
    int64_t value;
    if (left < sizeof words - 1 || memcmp(head.at, words, sizeof words - 1) != 0) {
        return;
    }
    head.at += sizeof words - 1;
    if (twi_text_count(&head, &value, "a number of vertices", TWI_MOST_VERTICES)) {
        *vertices = value;
    }
}

bool twi_columns_find(twi_text *head, int64_t *vertices)
{
    do {
        if (!twi_text_line_ends(head)) {
            if (*head->at != '#' && *head->at != '%') {
                return true;
            }
            read_remark(*head, vertices);
            twi_text_skip_line(head);
        }
    } while (twi_text_next_line(head));
    return false;
}

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
            (column == columns->weight && !twi_field_is_number(text.rules, &field))) {
            return false;
        }
    }
    return columns->loose || columns->weight > 0 ||
           twi_field_next(&text, columns->separator, false, &field) == TWI_LINE_END;
}

enum { FROM, TO, WEIGHT, WISHES }; /* their titles: 1 << FROM is TWI_TITLE_SOURCE, and so on */

/* Meant for a number, one or not: "1.0.0", "1e999", "-x", "nan2", but not "info". No column is
 * called that, so a field with a slip of the pen in it is reported and not passed over as a title.
 */
static bool begins_like_a_number(const char *begin, size_t length)
{
    if (length == 0) {
        return false;
    }
    if (isdigit((unsigned char)*begin) || strchr("+-.", *begin) != NULL) {
        return true;
    }
    return length >= 3 &&
           (strncasecmp(begin, "inf", 3) == 0 || strncasecmp(begin, "nan", 3) == 0) &&
           (length == 3 || !isalpha((unsigned char)begin[3]));
}

/* A column that is asked for, and what the first line has of it. */
typedef struct wish {
    const char *option; /* by number or name; NULL: where it usually is */
    const char *what;
    const char *name; /* of the column; NULL: by number */
    int64_t column;   /* 0: not found */
    bool twice;       /* two columns have the name */
} wish;

/* What the fields of a line look like. */
typedef struct line_look {
    int64_t fields;
    int64_t figures; /* fields that are numbers */
    bool any_quote;
    int64_t titles;       /* of the ends: fields that are known titles */
    bool spelt;           /* one of them, of more than a letter, is the title of its own end */
    int64_t elsewhere;    /* known titles of ends in other columns */
    int told;             /* ends whose title is one of their own: bits of titles.h */
    int64_t weighted;     /* the first column with a known title of weights; 0: none */
    int64_t weights;      /* how many have one */
    int64_t said[WISHES]; /* the only column with a known title of its kind; 0: none; -1: several */
    int all;              /* bits that any title has, as of titles.h */
    bool unknown;         /* some have none */
    int64_t numbers;      /* of the ends: fields that are numbers */
    bool number_like;     /* one of the ends begins like a number */
    bool weight_like;     /* so does the weight */
    bool names;           /* one of the ends is a name, in a table */
    bool torn;            /* one of the ends is a number, a blank, and more */
    bool braced;      /* the third field begins with a brace: attributes, as NetworkX has them */
    bool quote_split; /* a field has one of two quotes: the separator stands between them */
    twi_field ends[ENDS];
    char list[LISTED]; /* the fields, for a sentence */
} line_look;

static void list_field(line_look *out, const twi_field *field)
{
    size_t used = strlen(out->list);
    if (used >= LISTED - 8) {
        return;
    }
    (void)twi_text_show(out->list + used, LISTED - 7 - used, field->begin, field->end);
    memcpy(out->list + strlen(out->list), ", ", 3);
}

static void look_at_end(line_look *out, twi_text *text, const twi_field *field, int end, bool table,
                        bool number, bool like)
{
    const int title =
        twi_title_of(field->begin, (size_t)(field->end - field->begin)) & TWI_TITLE_END;
    out->titles += title != 0;
    out->told |= title & 1 << end;
    out->spelt |= (title & 1 << end) != 0 && field->end - field->begin > 1;
    out->ends[end] = *field;
    out->numbers += number;
    out->number_like |= like;
    out->names |= twi_field_is_name(field, table);
    const char *blank = field->begin;
    while (blank < field->end && !twi_text_is_blank(*blank)) {
        blank++;
    }
    twi_field word = {.begin = field->begin, .end = blank};
    out->torn |= !field->quoted && blank < field->end && twi_field_is_number(text->rules, &word);
}

static bool has_odd_quotes(const twi_field *field)
{
    bool odd = false;
    for (const char *at = field->begin; at < field->end && !field->quoted; at++) {
        odd ^= *at == '"';
    }
    return odd;
}

/* Of the last column. */
static void look_at_title(line_look *out, int title)
{
    for (int w = 0; w < WISHES; w++) {
        if ((title & 1 << w) != 0) {
            out->said[w] = out->said[w] == 0 ? out->fields : -1;
        }
    }
    if ((title & TWI_TITLE_WEIGHT) != 0) {
        out->weighted = out->weights++ == 0 ? out->fields : out->weighted;
    }
    out->all |= title;
    out->unknown |= title == 0;
}

/* The fields of the line at `text`, the wishes by name among them found. */
static bool look_at_line(twi_text text, char separator, wish wishes[WISHES], line_look *out,
                         twi_text *failed)
{
    *out = (line_look){0};
    twi_field field;
    twi_found next;
    while ((next = twi_field_next(&text, separator, out->fields == 0, &field)) == TWI_FIELD) {
        const size_t length = (size_t)(field.end - field.begin);
        const bool number = twi_field_is_number(text.rules, &field);
        const bool like = number || begins_like_a_number(field.begin, length);
        out->fields++;
        out->figures += number;
        out->any_quote |= field.quoted;
        out->quote_split |= has_odd_quotes(&field);
        out->braced |= out->fields == ENDS + 1 && length > 0 && *field.begin == '{';
        list_field(out, &field);
        for (int w = 0; w < WISHES; w++) {
            const char *name = wishes[w].name;
            if (name != NULL && strlen(name) == length && memcmp(name, field.begin, length) == 0) {
                wishes[w].twice |= wishes[w].column != 0 && wishes[w].column != out->fields;
                wishes[w].column = wishes[w].column == 0 ? out->fields : wishes[w].column;
            }
        }
        if (out->fields == wishes[FROM].column || out->fields == wishes[TO].column) {
            look_at_end(out, &text, &field, out->fields == wishes[TO].column ? TO : FROM,
                        separator != ' ', number, like);
        } else {
            out->elsewhere += (twi_title_of(field.begin, length) & TWI_TITLE_END) != 0;
        }
        look_at_title(out, twi_title_of(field.begin, length));
        out->weight_like |= out->fields == wishes[WEIGHT].column && like;
    }
    if (next == TWI_BROKEN) {
        out->any_quote |= text.error_at < text.end && *text.error_at == '"';
        *failed = text;
        return false;
    }
    out->list[strlen(out->list) >= 2 ? strlen(out->list) - 2 : 0] = '\0';
    return true;
}

/* The line of data after this one, none if there is none. What is wrong with it is said when it is
 * read. */
static void look_at_next(twi_text text, char separator, wish wishes[WISHES], line_look *out)
{
    int64_t ignored = 0;
    *out = (line_look){0};
    twi_text_skip_line(&text);
    if (twi_text_next_line(&text) && twi_columns_find(&text, &ignored)) {
        (void)look_at_line(text, separator, wishes, out, &text);
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

/* How well the first lines agree on a separator, the first of them being split as `first` says: a
 * point for every line of as many fields, and for every weight that begins like a number ("1,5"
 * does, and is refused when it is read); one less for any other weight, unless it is a title, and
 * for quotes that are torn apart. */
static int64_t rate_separator(twi_text text, char separator, wish wishes[WISHES],
                              const line_look *first)
{
    const bool weighted = wishes[WEIGHT].column > 0 && first->fields >= wishes[WEIGHT].column;
    line_look line;
    twi_text failed;
    int64_t points = 0;
    int64_t ignored = 0;
    int64_t lines = 0;
    bool more = true;
    while (more && lines < SAMPLED) {
        const bool whole = look_at_line(text, separator, wishes, &line, &failed);
        twi_text_skip_line(&text);
        more = twi_text_next_line(&text) && twi_columns_find(&text, &ignored);
        const bool title = lines == 0 && more;
        points += whole && line.fields == first->fields;
        points += weighted && line.weight_like;
        points -= weighted && !line.weight_like && !title;
        points -= line.quote_split;
        lines++;
    }
    return points;
}

/* Whether blanks separate fields beside `separator`. Where that gives the line at `head` two ends
 * and no weight: if blanks give it one behind two numbers, as in "0 1,5", but "5 Av,42 St" are two
 * names; or behind anything with bars or semicolons in it, which are common in names. */
static bool do_blanks_separate(const twi_text *head, char separator, const line_look *line,
                               wish wishes[WISHES])
{
    const bool common = separator == '|' || separator == ';';
    line_look blanks;
    twi_text failed;
    if (!look_at_line(*head, ' ', wishes, &blanks, &failed) || blanks.fields <= ENDS) {
        return false;
    }
    return blanks.braced || (line->fields == ENDS &&
                             ((line->torn && blanks.numbers == ENDS) ||
                              ((line->torn || separator == '|') && common && blanks.weight_like)));
}

/* The tab of a .tsv that has one. Otherwise what the first lines agree on best, semicolons before
 * commas before tabs before bars if they do so equally. Not where blanks separate beside it, nor
 * what tears quotes apart that blanks leave whole: there all of them separate. */
static char find_separator(const twi_text *head, const twi_input *input,
                           const tw_graph_read_options *opts, const wish wishes[WISHES])
{
    static const char candidates[] = ";,\t| ";
    const bool usual = opts->weight == NULL && opts->from == NULL && opts->to == NULL;
    const bool tabs = is_tab_separated(input);
    char best = ' ';
    int64_t most = INT64_MIN;
    bool best_splits = false;
    for (const char *c = candidates; *c != '\0'; c++) {
        wish copy[WISHES];
        line_look line;
        twi_text failed;
        memcpy(copy, wishes, sizeof copy);
        if (usual && !opts->unweighted) {
            copy[WEIGHT].column = ENDS + 1;
        }
        if (!look_at_line(*head, *c, copy, &line, &failed) || line.fields < ENDS) {
            continue;
        }
        if (*c == '\t' && tabs) {
            return '\t';
        }
        if (*c == ' ') {
            return best_splits && !line.quote_split ? ' ' : best;
        }
        if (do_blanks_separate(head, *c, &line, copy)) {
            continue;
        }
        int64_t points = 0;
        for (int w = 0; w < WISHES; w++) {
            points -= copy[w].name != NULL && copy[w].column == 0 ? 2 * SAMPLED : 0;
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

static tw_status parse_wish(tw_context *ctx, wish *out)
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
static tw_status check_apart(tw_context *ctx, const wish wishes[WISHES])
{
    for (int a = 0; a < WISHES; a++) {
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
                             const tw_graph_read_options *opts, const wish wishes[WISHES],
                             const line_look *line)
{
    for (int w = 0; w < WISHES; w++) {
        const char *name = wishes[w].name;
        if (name == NULL) {
            continue;
        }
        if (opts->header == TW_GRAPH_HEADER_NO) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "a %s by name, '%.60s', needs a header; give the column by number",
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
static void choose_by_titles(const tw_graph_read_options *opts, const line_look *line,
                             wish wishes[WISHES])
{
    const bool weighed = opts->weight != NULL || opts->unweighted;
    const bool rivals = line->unknown && (line->all & TWI_TITLE_PLAIN) == 0;
    if (opts->header == TW_GRAPH_HEADER_NO || opts->from != NULL || opts->to != NULL ||
        line->figures > 0 || line->said[FROM] <= 0 || line->said[TO] <= 0 ||
        (!weighed && (line->said[WEIGHT] <= 0 || rivals))) {
        return;
    }
    wishes[FROM].column = line->said[FROM];
    wishes[TO].column = line->said[TO];
    wishes[WEIGHT].column = weighed ? wishes[WEIGHT].column : line->said[WEIGHT];
}

/* Where the weight is if nobody says so. */
static tw_status choose_weight(tw_context *ctx, const twi_input *input,
                               const tw_graph_read_options *opts, wish wishes[WISHES],
                               const line_look *line)
{
    if (wishes[WEIGHT].column != 0 || opts->unweighted || line->fields <= ENDS) {
        return TW_OK;
    }
    if (wishes[FROM].option != NULL || wishes[TO].option != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%.400s: which column is the weight? Give it with --weight, or use "
                       "--unweighted; the first line has %s",
                       input->name, line->list);
    }
    wishes[WEIGHT].column = ENDS + 1;
    return TW_OK;
}

/* Whether the first line of data names the columns. Never if its weight begins like a number,
 * otherwise if both ends are known titles. Of indices: if nothing in it is one. Of names: if
 * neither end begins like a number and it has a weight or stands above a line of numbers. */
static bool are_titles(const line_look *line, const line_look *next, bool names, int64_t weight)
{
    const bool weighted = weight > 0 && line->fields >= weight;
    if (line->fields < ENDS || (weighted && line->weight_like)) {
        return false;
    }
    if (line->titles == ENDS) {
        return true;
    }
    return !line->number_like && (names ? weighted || next->numbers == ENDS : line->figures == 0);
}

/* What a first line may have to be asked about. */
typedef enum doubt { NONE, ENDS_MOVED, WEIGHT_MOVED, ALL_UNKNOWN, WEIGHT_UNKNOWN } doubt;

/* Titles that are common ones, but not of the columns where ends and weights usually are; or more
 * columns than an edge has, whose titles do not say which they are: nobody would know that others
 * were taken. */
static doubt doubt_titles(const line_look *line, const tw_graph_read_options *opts, int64_t weight)
{
    const bool usual = opts->from == NULL && opts->to == NULL;
    const int said = (opts->from != NULL) << FROM | (opts->to != NULL) << TO;
    const bool told = (line->told | said) == (1 << FROM | 1 << TO);
    const bool weighed = opts->weight != NULL || opts->unweighted;
    if (usual && !told && line->titles + line->elsewhere >= ENDS) {
        return ENDS_MOVED;
    }
    if (usual && !weighed && line->weighted > 0 && line->weighted != weight) {
        return WEIGHT_MOVED;
    }
    if (line->fields <= ENDS + 1) {
        return NONE;
    }
    const bool known = weighed || (line->weighted == weight && line->weights == 1);
    return !told ? ALL_UNKNOWN : !known ? WEIGHT_UNKNOWN : NONE;
}

/* Where the columns are if they are not looked for by name. */
static void place_wishes(const twi_columns *columns, wish out[WISHES])
{
    memset(out, 0, WISHES * sizeof *out);
    out[FROM].column = columns->from;
    out[TO].column = columns->to;
    out[WEIGHT].column = columns->weight;
}

tw_status twi_columns_check_titles(tw_context *ctx, const twi_input *input, const twi_text *head,
                                   const tw_graph_read_options *opts, const twi_columns *columns)
{
    wish wishes[WISHES];
    line_look line;
    twi_text failed;
    place_wishes(columns, wishes);
    if (!columns->titles || !look_at_line(*head, columns->separator, wishes, &line, &failed)) {
        return TW_OK;
    }
    switch (doubt_titles(&line, opts, columns->weight)) {
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
    wish wishes[WISHES];
    line_look line;
    twi_text inner = *text;
    twi_text failed;
    inner.at++;
    twi_text_skip_blanks(&inner);
    place_wishes(columns, wishes);
    if (columns->titles || opts->from != NULL || opts->to != NULL || opts->weight != NULL ||
        !look_at_line(inner, columns->separator, wishes, &line, &failed) ||
        line.fields != columns->fields || line.titles + line.elsewhere < ENDS ||
        (columns->separator == ' ' && line.fields > ENDS && line.weighted == 0)) {
        return true;
    }
    const doubt found = doubt_titles(&line, opts, columns->weight);
    return (found != ENDS_MOVED && found != WEIGHT_MOVED) ||
           twi_text_fail(text, TW_ERR_FORMAT, NULL,
                         "this comment names the columns %.120s: give them by number, with --from, "
                         "--to and --weight",
                         line.list);
}

static bool is_table(const twi_input *input, char separator)
{
    char inner[TWI_PACKED_NAME];
    return separator != ' ' || is_tab_separated(input) ||
           strcasecmp(inner_extension(input, inner), "csv") == 0;
}

/* Whether a line behind the first has an end that is a name: columns->telling. */
static bool have_names(twi_text text, twi_columns *columns, wish wishes[WISHES])
{
    const bool table = columns->separator != ' ';
    line_look line = {0};
    int64_t ignored = 0;
    for (int64_t lines = 1; lines < SAMPLED && !line.names; lines++) {
        twi_text_skip_line(&text);
        if (!twi_text_next_line(&text) || !twi_columns_find(&text, &ignored)) {
            return false;
        }
        (void)look_at_line(text, columns->separator, wishes, &line, &text);
    }
    if (line.names) {
        columns->telling = line.ends[!twi_field_is_name(&line.ends[0], table)];
    }
    return line.names;
}

/* Ends that are names, without being asked: in a table those that nobody would take for numbers, a
 * line of titles saying nothing about it; and any that can be no index, in the first line beside a
 * number or in one of the next. */
static bool are_names(const twi_text *head, twi_columns *columns, wish wishes[WISHES],
                      const line_look *line, const line_look *next)
{
    const bool words =
        columns->table && line->fields >= ENDS && !line->number_like && line->numbers == 0 &&
        (next->fields > 0 ? !next->number_like && next->numbers == 0
                          : line->figures > 0 || line->weight_like || next->any_quote);
    return words || (line->names && line->figures > 0 && line->titles < ENDS) ||
           have_names(*head, columns, wishes);
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

tw_status twi_columns_check_returns(tw_context *ctx, const twi_input *input, twi_text head)
{
    bool comment;
    do {
        if (has_bare_return(&head)) {
            return tw_fail(ctx, TW_ERR_FORMAT,
                           "%.400s: lines end with carriage returns alone; give them newlines",
                           input->name);
        }
        comment = twi_text_line_ends(&head) || *head.at == '#' || *head.at == '%';
        twi_text_skip_line(&head);
    } while (comment && twi_text_next_line(&head));
    return TW_OK;
}

tw_status twi_columns_settle(tw_context *ctx, const twi_input *input, twi_text *head,
                             const tw_graph_read_options *opts, twi_columns *out)
{
    wish wishes[WISHES] = {
        [FROM] = {.option = opts->from, .what = "source", .column = 1},
        [TO] = {.option = opts->to, .what = "target", .column = 2},
        [WEIGHT] = {.option = opts->weight, .what = "weight"},
    };
    line_look line;
    line_look next;
    tw_status status = TW_OK;
    for (int w = 0; w < WISHES && status == TW_OK; w++) {
        status = parse_wish(ctx, &wishes[w]);
    }
    if (status != TW_OK) {
        return status;
    }
    out->separator = out->given != 0 ? out->given : find_separator(head, input, opts, wishes);
    out->table = is_table(input, out->separator);
    if (!look_at_line(*head, out->separator, wishes, &line, head)) {
        return twi_text_report(ctx, input, head);
    }
    status = check_names(ctx, input, opts, wishes, &line);
    if (status == TW_OK) {
        choose_by_titles(opts, &line, wishes);
        status = choose_weight(ctx, input, opts, wishes, &line);
    }
    if (status == TW_OK) {
        status = check_apart(ctx, wishes);
    }
    if (status != TW_OK) {
        return status;
    }
    const bool asked =
        opts->from != NULL || opts->to != NULL || opts->weight != NULL || opts->unweighted;
    const bool named =
        wishes[FROM].name != NULL || wishes[TO].name != NULL || wishes[WEIGHT].name != NULL;
    for (int w = 0; w < WISHES; w++) {
        wishes[w].name = NULL; /* found: their columns are what counts from here on */
    }
    (void)look_at_line(*head, out->separator, wishes, &line, head);
    look_at_next(*head, out->separator, wishes, &next);
    out->names = opts->ids || are_names(head, out, wishes, &line, &next);
    out->titles = opts->header != TW_GRAPH_HEADER_AUTO
                      ? opts->header == TW_GRAPH_HEADER_YES
                      : named || are_titles(&line, &next, out->names, wishes[WEIGHT].column);
    if (!asked && !out->titles && line.fields > ENDS + 1 && line.figures == line.fields) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s: %lld columns of numbers without titles; say which are the ends and "
            "the weight with --from, --to and --weight (--weight 3 takes the first three "
            "columns), or, if it is a matrix, convert it to .npy first",
            input->name, (long long)line.fields);
    }
    out->guessed = out->titles && opts->header == TW_GRAPH_HEADER_AUTO && !named;
    out->unusual = line.titles < ENDS;
    out->wordy = opts->header == TW_GRAPH_HEADER_AUTO && !out->titles && next.fields > 0 &&
                 line.figures > 0 && line.weight_like && line.numbers == 0 && !line.number_like;
    out->doubtful =
        (opts->header == TW_GRAPH_HEADER_AUTO && !out->titles && next.fields > 0 && line.spelt) ||
        (out->wordy && (!out->unusual || next.numbers == ENDS));
    memcpy(out->ends, line.ends, sizeof out->ends);
    out->from = wishes[FROM].column;
    out->to = wishes[TO].column;
    out->weight = opts->unweighted ? 0 : wishes[WEIGHT].column;
    out->loose = opts->unweighted || opts->from != NULL || opts->to != NULL;
    out->quoted = line.any_quote || next.any_quote;
    out->last = out->from > out->to ? out->from : out->to;
    out->last = out->weight > out->last ? out->weight : out->last;
    out->fields = line.fields;
    out->no_edge =
        !out->names || (out->weight > 0 && out->fields >= out->weight && !line.weight_like);
    return status;
}
