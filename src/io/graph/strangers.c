/*
 * Files of other formats: see strangers.h. Most are told by their first line that is no comment,
 * some by the line behind it: the names of formats that begin like names of vertices ("graph",
 * "p") are taken for that only with the bracket or the numbers that must follow.
 */
#include "io/graph/strangers.h"

#include "io/graph/text.h"

#include <ctype.h>
#include <strings.h>

enum { LOOKED = 512 }; /* bytes in which a tag names a format, and a zero says that it is no text */
enum { PREAMBLE = 12 }; /* lines that may stand before a graph in DOT and GML */

static bool starts(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && strncasecmp(at, word, length) == 0;
}

/* The same, and the word ends there. */
static bool starts_word(const char *at, const char *end, const char *word)
{
    const char *behind = at + strlen(word);
    return starts(at, end, word) && (behind == end || !isalnum((unsigned char)*behind));
}

#define NOT_READ ", which is not supported; unpack it, or use .gz, .zst or .xz"

/* What is no text, by bytes that stand in it at a place. */
static const char *name_binary(const char *bytes, uint64_t size)
{
    static const struct {
        uint32_t at;
        uint32_t length;
        const char *mark;
        const char *sentence;
    } known[] = {
        {0, 2, "\xFF\xFE", "is UTF-16; save it as UTF-8"},
        {0, 2, "\xFE\xFF", "is UTF-16; save it as UTF-8"},
        {0, 4, "\x89PNG", "is a PNG image, not a graph"},
        {0, 3, "\xFF\xD8\xFF", "is a JPEG image, not a graph"},
        {0, 4, "II*\0", "is a TIFF image, not a graph"},
        {0, 4, "MM\0*", "is a TIFF image, not a graph"},
        {0, 4, "II+\0", "is a TIFF image, not a graph"},
        {0, 4, "MM\0+", "is a TIFF image, not a graph"},
        {0, 4, "PK\3\4", "is a zip file, as spreadsheets are; write the table as .csv"},
        {257, 5, "ustar", "is a tar archive, which is not supported; unpack it"},
        {0, 4, "7z\xBC\xAF", "is a 7z archive, which is not supported; unpack it"},
        {0, 5, "Rar!\x1A", "is a rar archive, which is not supported; unpack it"},
        {0, 2, "\x1F\x8B", "is compressed twice; unpack it once"},
        {0, 4, "\x28\xB5\x2F\xFD", "is compressed twice; unpack it once"},
        {0, 6, "\xFD\x37zXZ", "is compressed twice; unpack it once"},
        {0, 2, "\x1F\x9D", "is compressed by compress" NOT_READ},
        {0, 4, "\x04\x22M\x18", "is compressed by lz4" NOT_READ},
        {0, 3, "\x5D\0\0", "is compressed as .lzma" NOT_READ},
        /* "BZh" alone may be a name: a digit and the mark of a block follow in a file. */
        {4, 6, "1AY&SY", "is compressed by bzip2" NOT_READ},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const bool bzip = known[k].at == 4;
        if (size >= known[k].at + known[k].length &&
            memcmp(bytes + known[k].at, known[k].mark, known[k].length) == 0 &&
            (!bzip || memcmp(bytes, "BZh", 3) == 0)) {
            return known[k].sentence;
        }
    }
    return NULL;
}

/* -------------------------------------------------------- images that begin like names of vertices
 */

static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\r\n\v\f", c) != NULL;
}

/* Bytes of the letter that begins there, of which the last ones may be beyond the end; 0: what is
 * there stands in no text. */
static int letter(const char *at, const char *end)
{
    const unsigned char first = (unsigned char)*at;
    const int length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if ((first < ' ' && !is_blank(*at)) || (first >= 0x80 && first < 0xC2) || first > 0xF4) {
        return 0;
    }
    for (int i = 1; i < length && at + i < end; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/* Whether something stands there that stands in no text, but for the end that DOS gave to texts. */
static bool has_pixels(const char *at, const char *end)
{
    while (end > at && (is_blank(end[-1]) || end[-1] == 0x1A)) {
        end--;
    }
    int length = 1;
    for (; at < end && length > 0; at += length) {
        length = letter(at, end);
    }
    return length == 0;
}

/* Over blanks and comments. */
static const char *skip_to_field(const char *at, const char *end)
{
    while (at < end && (is_blank(*at) || *at == '#')) {
        const char *newline = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = newline == NULL ? end : newline + 1;
    }
    return at;
}

/* Whether so many numbers follow, each with a blank behind it. */
static bool has_numbers(const char *at, const char *end, int count)
{
    for (int i = 0; i < count; i++) {
        at = skip_to_field(at, end);
        const char *digits = at;
        while (at < end &&
               (isdigit((unsigned char)*at) || (*at != '\0' && strchr("+-.eE", *at) != NULL))) {
            at++;
        }
        if (at == digits || at == end || !is_blank(*at)) {
            return false;
        }
    }
    return true;
}

/* Lines of a PAM image, one of which gives its width. */
static bool has_width(const char *at, const char *end)
{
    static const char *const others[] = {"HEIGHT", "DEPTH", "MAXVAL", "TUPLTYPE"};
    bool known = true;
    while (known) {
        at = skip_to_field(at, end);
        if (starts_word(at, end, "WIDTH")) {
            return true;
        }
        known = false;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            known |= starts_word(at, end, others[i]);
        }
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline != NULL ? newline : end;
    }
    return false;
}

/* "P5 640 480 255" may be an edge, from P5: an image has pixels behind that, which are no text, or
 * the P5 has its line to itself. */
static const char *name_portable(const char *at, const char *end)
{
    static const char kinds[] = "123456fF7";
    static const char *const sentences[] = {
        "is a PBM image, not a graph", "is a PGM image, not a graph", "is a PPM image, not a graph",
        "is a PBM image, not a graph", "is a PGM image, not a graph", "is a PPM image, not a graph",
        "is a PFM image, not a graph", "is a PFM image, not a graph", "is a PAM image, not a graph",
    };
    if (end - at < 4 || at[0] != 'P' || at[1] == '\0' || strchr(kinds, at[1]) == NULL) {
        return NULL;
    }
    const bool alone = at[2] == '\n' || (at[2] == '\r' && at[3] == '\n');
    const bool titled = at[1] == '7' && has_width(at + 2, end);
    const int numbers = at[1] == '1' || at[1] == '4' ? 2 : 3;
    const bool image = is_blank(at[2]) && (alone || has_pixels(at, end)) &&
                       (titled || (at[1] != '7' && has_numbers(at + 2, end, numbers)));
    return image ? sentences[strchr(kinds, at[1]) - kinds] : NULL;
}

static const char *name_image(const char *at, const char *end)
{
    const bool gif =
        end - at >= 6 && (memcmp(at, "GIF87a", 6) == 0 || memcmp(at, "GIF89a", 6) == 0);
    if (gif && has_pixels(at, end)) {
        return "is a GIF image, not a graph";
    }
    return name_portable(at, end);
}

/* ---------------------------------------------------------------------------- what tags begin */

static bool has_tag(const char *at, const char *end, const char *tag)
{
    for (; at < end; at++) {
        if (*at == '<' && starts_word(at + 1, end, tag)) {
            return true;
        }
    }
    return false;
}

static const char *name_tagged(const char *at, const char *end)
{
    static const char *const tags[][2] = {{"graphml", "GraphML"}, {"gexf", "GEXF"},
                                          {"gxl", "GXL"},         {"osm", "OpenStreetMap XML"},
                                          {"html", "HTML"},       {"?xml", "XML"}};
    end = end - at > LOOKED ? at + LOOKED : end;
    if (!starts(at, end, "<!doctype") && !starts(at, end, "<!--")) {
        bool begins = false;
        for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
            begins |= at < end && *at == '<' && starts_word(at + 1, end, tags[t][0]);
        }
        if (!begins) {
            return NULL;
        }
    }
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
        if (has_tag(at, end, tags[t][0])) {
            return tags[t][1];
        }
    }
    return "XML";
}

/* --------------------------------------------------------------------- what brackets begin */

/* A line and the next that is not blank, without blanks around them. */
typedef struct two_lines {
    const char *at, *end;
    const char *next, *next_end;
    bool ended, next_ended; /* by a newline */
} two_lines;

static void trim(const char **at, const char **end)
{
    while (*at < *end && twi_text_is_blank(**at)) {
        (*at)++;
    }
    while (*end > *at && twi_text_is_blank((*end)[-1])) {
        (*end)--;
    }
}

static two_lines take_lines(twi_text text)
{
    two_lines out = {.at = text.at};
    twi_text_skip_line(&text);
    out.end = text.at;
    out.ended = text.at < text.end;
    while (twi_text_next_line(&text) && twi_text_line_ends(&text)) {
    }
    out.next = text.at;
    twi_text_skip_line(&text);
    out.next_end = text.at;
    out.next_ended = text.at < text.end;
    trim(&out.at, &out.end);
    trim(&out.next, &out.next_end);
    return out;
}

/* "[0, 1]," or "(0, 1)": the bracket that opens the line closes at its end. */
static bool is_bracketed(const two_lines *l, char open, char close)
{
    const char *end = l->end > l->at && l->end[-1] == ',' ? l->end - 1 : l->end;
    return end - l->at > 2 && *l->at == open && end[-1] == close &&
           memchr(l->at, close, (size_t)(end - l->at)) == end - 1 &&
           memchr(l->at, ',', (size_t)(end - l->at)) != NULL;
}

static bool is_json(const two_lines *l)
{
    if (l->at == l->end || (*l->at != '{' && *l->at != '[')) {
        return false;
    }
    const char *inner = l->at + 1;
    while (inner < l->end && twi_text_is_blank(*inner)) {
        inner++;
    }
    const bool below = inner == l->end;
    inner = below ? l->next : inner;
    const char *end = below ? l->next_end : l->end;
    if (inner == end) {
        return false;
    }
    if (*l->at == '{') {
        return *inner == '"' || *inner == '}';
    }
    /* "[[Page]]" is a name; "[[0" and '[["a' are not. */
    const bool nested = *inner == '[' && end - inner > 1 &&
                        (isdigit((unsigned char)inner[1]) || strchr("\" [", inner[1]) != NULL);
    return nested || *inner == '{' || (below && (*inner == '[' || *inner == '"')) ||
           is_bracketed(l, '[', ']');
}

/* "digraph G {", also with the brace in the next line. */
static bool is_dot(const two_lines *l)
{
    const char *at = l->at;
    if (starts_word(at, l->end, "strict")) {
        at += strlen("strict");
        trim(&at, &(const char *){l->end});
    }
    const size_t keyword = starts_word(at, l->end, "graph")     ? strlen("graph")
                           : starts_word(at, l->end, "digraph") ? strlen("digraph")
                                                                : 0;
    const char *end = l->end;
    if (keyword == 0) {
        return false;
    }
    at += keyword;
    trim(&at, &end);
    if (at < end && *at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        at = quote != NULL ? quote + 1 : end;
    }
    while (at < end &&
           (isalnum((unsigned char)*at) || (*at != '\0' && strchr("_.-", *at) != NULL))) {
        at++;
    }
    trim(&at, &end);
    return at < end ? *at == '{' : l->next < l->next_end && *l->next == '{';
}

static bool is_gml(const two_lines *l)
{
    const char *at = l->at, *end = l->end;
    if (!starts_word(at, end, "graph")) {
        return false;
    }
    at += strlen("graph");
    trim(&at, &end);
    return at < end ? *at == '[' && at + 1 == end : l->next < l->next_end && *l->next == '[';
}

/* ------------------------------------------------------------------------ what words begin */

/* "p edge 5 4": two numbers behind one of the words of DIMACS but "sp". */
static bool is_problem(const two_lines *l)
{
    static const char *const kinds[] = {"edge", "edges", "col", "max", "min",
                                        "asn",  "cut",   "tw",  "ds",  "cep"};
    const char *at = l->at + 1, *end = l->end;
    if (l->at == end || *l->at != 'p' || at == end || !twi_text_is_blank(*at)) {
        return false;
    }
    trim(&at, &end);
    size_t word = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        word = starts_word(at, end, kinds[k]) ? strlen(kinds[k]) : word;
    }
    at += word;
    int64_t numbers = 0;
    while (word > 0 && at < end && twi_text_is_blank(*at)) {
        trim(&at, &end);
        const char *digits = at;
        while (at < end && isdigit((unsigned char)*at)) {
            at++;
        }
        numbers += at > digits;
    }
    return numbers == 2 && at == end;
}

/* "dl n = 5" */
static bool is_ucinet(const two_lines *l)
{
    const char *at = l->at, *end = l->end;
    if (!starts_word(at, end, "dl")) {
        return false;
    }
    at += 2;
    trim(&at, &end);
    if (!starts_word(at, end, "n")) {
        return false;
    }
    at++;
    trim(&at, &end);
    return at < end && *at == '=';
}

static const char *name_words(const two_lines *l)
{
    static const char *const words[][2] = {
        {"*vertices", "Pajek"},       {"*network", "Pajek"},      {"*arcs", "Pajek"},
        {"*edges", "Pajek"},          {"*matrix", "Pajek"},       {"*node data", "VNA"},
        {"nodedef>", "GDF"},          {"leda.graph", "LEDA"},     {">>graph6<<", "graph6"},
        {">>digraph6<<", "digraph6"}, {">>sparse6<<", "sparse6"},
    };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (starts(l->at, l->end, words[w][0])) {
            return words[w][1];
        }
    }
    return is_problem(l)               ? "a DIMACS problem other than 'p sp'"
           : is_ucinet(l)              ? "UCINET DL"
           : is_dot(l)                 ? "DOT"
           : is_gml(l)                 ? "GML"
           : is_json(l)                ? "JSON"
           : is_bracketed(l, '(', ')') ? "a list of Python's tuples"
                                       : NULL;
}

/* What is looked at: the first bytes of a file, which may go on behind them. */
typedef struct beginning {
    twi_text text;
    bool goes_on;
} beginning;

/* Over a line that may stand before a graph in DOT or GML: a remark, or who wrote it. */
static bool skip_preamble(twi_text *text, bool *remark)
{
    const char *begin = text->at;
    const bool opens = !*remark && starts(begin, text->end, "/*");
    const bool passed = *remark || opens || starts(begin, text->end, "//") ||
                        starts_word(begin, text->end, "creator") ||
                        starts_word(begin, text->end, "version");
    twi_text_skip_line(text);
    if (*remark || opens) {
        *remark = memmem(begin, (size_t)(text->at - begin), "*/", 2) == NULL;
    }
    return passed;
}

/* To a line that is neither blank nor a comment of any format; false at the end. */
static bool skip_comments(twi_text *text)
{
    do {
        if (!twi_text_line_ends(text)) {
            const char *behind = text->at + 1;
            const bool letter =
                *text->at == 'c' && behind < text->end && twi_text_is_blank(*behind);
            if (*text->at != '#' && *text->at != '%' && !letter) {
                return true;
            }
            twi_text_skip_line(text);
        }
    } while (twi_text_next_line(text));
    return false;
}

/* Whether these bytes decide what the file is: *name, or NULL for anything else. */
static bool decide(beginning b, const char **name)
{
    twi_text text = b.text;
    bool remark = false;
    bool first = true;
    for (int line = 0; line < PREAMBLE; line++, first = false) {
        if (!skip_comments(&text)) {
            return !b.goes_on;
        }
        const two_lines l = take_lines(text);
        const bool opens = *l.at == '[' || *l.at == '{' || starts(l.at, l.end, "graph") ||
                           starts(l.at, l.end, "digraph") || starts(l.at, l.end, "strict");
        if (b.goes_on && !(opens ? l.next_ended : l.ended)) {
            return false;
        }
        if (!skip_preamble(&text, &remark)) {
            *name = first ? name_words(&l) : is_dot(&l) ? "DOT" : is_gml(&l) ? "GML" : NULL;
            return true;
        }
        (void)twi_text_next_line(&text);
    }
    return true;
}

/* The first bytes of the input, at most so many. */
static beginning look_at(const twi_input *input, uint64_t most)
{
    const uint64_t held = twi_input_held(input);
    const uint64_t size = held < most ? held : most;
    beginning out = {.text = {.at = input->bytes + twi_input_mark(input->bytes, size),
                              .end = input->bytes + size}};
    out.goes_on = size < held || !twi_input_is_held(input);
    while (twi_text_line_ends(&out.text) && twi_text_next_line(&out.text)) {
    }
    return out;
}

/* By ever more of its first bytes, while comments are all that they are. */
static tw_status name_stranger(tw_context *ctx, twi_input *input, const char **name)
{
    const beginning b = look_at(input, LOOKED);
    *name = name_tagged(b.text.at, b.text.end);
    bool decided = *name != NULL;
    for (uint64_t most = LOOKED; !decided && most <= TWI_INPUT_HEAD; most *= 2) {
        const tw_status status = twi_input_widen(ctx, input, most);
        if (status != TW_OK) {
            return status;
        }
        decided = decide(look_at(input, most), name);
    }
    return TW_OK;
}

tw_status twi_refuse_strangers(tw_context *ctx, twi_input *input)
{
    const char *name = NULL;
    tw_status status = twi_input_widen(ctx, input, LOOKED);
    if (status != TW_OK) {
        return status;
    }
    const uint64_t held = twi_input_held(input);
    const char *sentence = name_binary(input->bytes, held);
    if (sentence == NULL) {
        sentence = name_image(input->bytes, input->bytes + (held < LOOKED ? held : LOOKED));
    }
    if (sentence != NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT, "%.500s %s", input->name, sentence);
    }
    const char *zero = memchr(input->bytes, '\0', held < LOOKED ? held : LOOKED);
    if (zero != NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s is not text: zero byte at %lld; choose its format with --in-format",
                       input->name, (long long)(zero - input->bytes));
    }
    status = name_stranger(ctx, input, &name);
    return status != TW_OK || name == NULL
               ? status
               : tw_fail(ctx, TW_ERR_UNSUPPORTED,
                         "%.500s: %s is not supported; export an edge list as .csv", input->name,
                         name);
}
