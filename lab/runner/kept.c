/*
 * Reads a file of results back, as far as adding to it needs: what it was measured with, and for
 * each case where its text lies, its rung and size, and whether it has counters. A case is written
 * anew as the text it was, so nothing of it is lost or rounded.
 *
 * A scanner of JSON that keeps nothing: one pass to see that all of the text is JSON, and in it the
 * few members that count. Nothing in the text is trusted; what lies deeper than results do is
 * refused. The cases are counted first and then read, into memory of just that size.
 */
#include "runner/kept.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_DEPTH = 16, MOST_BYTES = 64 << 20, MOST_CASES = 1 << 20 };

typedef struct scan {
    const char *at, *end;
} scan;

/* A part of the text. */
typedef struct span {
    const char *from, *to;
} span;

/* ------------------------------------------------------------------------------------------ JSON
 */

static void skip_space(scan *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) != NULL && *s->at != '\0') {
        s->at++;
    }
}

static bool take(scan *s, char c)
{
    skip_space(s);
    bool found = s->at < s->end && *s->at == c;
    s->at += found;
    return found;
}

static bool take_word(scan *s, const char *word)
{
    size_t length = strlen(word);
    bool found = (size_t)(s->end - s->at) >= length && memcmp(s->at, word, length) == 0;
    s->at += found ? length : 0;
    return found;
}

static bool take_digits(scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        s->at++;
    }
    return s->at > from;
}

static bool skip_number(scan *s)
{
    s->at += s->at < s->end && *s->at == '-';
    bool zero = s->at < s->end && *s->at == '0';
    s->at += zero;
    if (!zero && !take_digits(s)) {
        return false;
    }
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!take_digits(s)) {
            return false;
        }
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
        return take_digits(s);
    }
    return true;
}

/* A character beyond ASCII: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool skip_sequence(scan *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*s->at;
    int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint32_t value = lead & (0xFFU >> (length + 1));
    if (lead < 0xC0 || lead >= 0xF8 || s->end - s->at < length) {
        return false;
    }
    for (int i = 1; i < length; i++) {
        unsigned char next = (unsigned char)s->at[i];
        if ((next & 0xC0) != 0x80) {
            return false;
        }
        value = value << 6 | (next & 0x3F);
    }
    s->at += length;
    return value >= least[length] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

static bool skip_escape(scan *s)
{
    s->at++;
    if (s->at < s->end && *s->at == 'u') {
        s->at++;
        for (int i = 0; i < 4; i++, s->at++) {
            if (s->at == s->end || strchr("0123456789abcdefABCDEF", *s->at) == NULL ||
                *s->at == '\0') {
                return false;
            }
        }
        return true;
    }
    bool known = s->at < s->end && *s->at != '\0' && strchr("\"\\/bfnrt", *s->at) != NULL;
    s->at += known;
    return known;
}

/* What stands between the quotes, escapes and all. */
static bool take_string(scan *s, span *out)
{
    if (!take(s, '"')) {
        return false;
    }
    out->from = s->at;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (c < 0x20) {
            return false;
        }
        if (c == '\\' ? !skip_escape(s) : c >= 0x80 && !skip_sequence(s)) {
            return false;
        }
        s->at += c != '\\' && c < 0x80;
    }
    out->to = s->at;
    s->at += s->at < s->end;
    return out->to < s->end;
}

static bool skip_value(scan *s, int depth);

/* To the next member of an object, and its key; `more` becomes false at the object's end. */
static bool next_member(scan *s, bool first, span *key, bool *more)
{
    *more = !take(s, '}');
    return !*more || ((first || take(s, ',')) && take_string(s, key) && take(s, ':'));
}

/* The same for an array. */
static bool next_element(scan *s, bool first, bool *more)
{
    *more = !take(s, ']');
    return !*more || first || take(s, ',');
}

/* The rest of an object, or of an array. */
static bool skip_rest(scan *s, bool object, int depth)
{
    span key;
    for (bool first = true, more = true;; first = false) {
        if (!(object ? next_member(s, first, &key, &more) : next_element(s, first, &more))) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (!skip_value(s, depth)) {
            return false;
        }
    }
}

/* Goes into itself once per level, of which there are few. */
static bool skip_value(scan *s, int depth)
{
    span text;
    skip_space(s);
    if (s->at == s->end || depth > MOST_DEPTH) {
        return false;
    }
    switch (*s->at) {
    case '"':
        return take_string(s, &text);
    case '{':
        s->at++;
        return skip_rest(s, true, depth + 1);
    case '[':
        s->at++;
        return skip_rest(s, false, depth + 1);
    case 't':
        return take_word(s, "true");
    case 'f':
        return take_word(s, "false");
    case 'n':
        return take_word(s, "null");
    default:
        return skip_number(s);
    }
}

static bool is(span text, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(text.to - text.from) == length && memcmp(text.from, word, length) == 0;
}

/* ---------------------------------------------------------------------------------------- members
 */

/* The value ahead as text if it is one; any other is passed over. */
static bool read_text(scan *s, char out[LAB_KEPT_TEXT])
{
    span text;
    skip_space(s);
    if (s->at == s->end || *s->at != '"') {
        return skip_value(s, 0);
    }
    if (!take_string(s, &text)) {
        return false;
    }
    size_t length = (size_t)(text.to - text.from);
    length = length < LAB_KEPT_TEXT - 1 ? length : LAB_KEPT_TEXT - 1;
    memcpy(out, text.from, length);
    out[length] = '\0';
    return true;
}

/* A whole number; 0 for any other value. */
static bool read_integer(scan *s, int64_t *out)
{
    char digits[24];
    skip_space(s);
    const char *from = s->at;
    if (!skip_value(s, 0)) {
        return false;
    }
    size_t length = (size_t)(s->at - from);
    *out = 0;
    bool whole = length < 18;
    for (size_t i = 0; whole && i < length; i++) {
        whole = from[i] >= '0' && from[i] <= '9';
    }
    if (whole) {
        memcpy(digits, from, length);
        digits[length] = '\0';
        *out = strtoll(digits, NULL, 10);
    }
    return true;
}

/* The value ahead as it stands, which stays ahead. */
static lab_kept_value look_ahead(const scan *s, int depth)
{
    scan ahead = *s;
    skip_space(&ahead);
    const char *from = ahead.at;
    return skip_value(&ahead, depth) ? (lab_kept_value){from, (size_t)(ahead.at - from)}
                                     : (lab_kept_value){NULL, 0};
}

static bool read_machine(scan *s, lab_kept *out)
{
    span key;
    if (!take(s, '{')) {
        return false;
    }
    for (bool first = true, more = true;; first = false) {
        if (!next_member(s, first, &key, &more)) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (is(key, "load")) {
            out->load = look_ahead(s, 2);
        }
        if (!(is(key, "processor") ? read_text(s, out->processor)
              : is(key, "gpu")     ? read_text(s, out->gpu)
                                   : skip_value(s, 2))) {
            return false;
        }
    }
}

static bool read_case(scan *s, lab_kept_case *out)
{
    span key;
    skip_space(s);
    out->text = s->at;
    if (!take(s, '{')) {
        return false;
    }
    for (bool first = true, more = true;; first = false) {
        if (!next_member(s, first, &key, &more)) {
            return false;
        }
        if (!more) {
            out->length = (size_t)(s->at - out->text);
            return out->rung[0] != '\0' && out->n > 0;
        }
        out->counted = out->counted || is(key, "counters");
        out->dated = out->dated || is(key, "version");
        out->loaded = out->loaded || is(key, "load");
        if (!(is(key, "rung") ? read_text(s, out->rung)
              : is(key, "n")  ? read_integer(s, &out->n)
                              : skip_value(s, 3))) {
            return false;
        }
    }
}

/* Cases into `out` from out->count on, or only counted where there is no room yet. */
static bool read_cases(scan *s, bool failed, lab_kept *out)
{
    if (!take(s, '[')) {
        return false;
    }
    for (bool first = true, more = true;; first = false) {
        lab_kept_case one = {.failed = failed};
        if (!next_element(s, first, &more)) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (!read_case(s, &one) || out->count == MOST_CASES) {
            return false;
        }
        if (out->cases != NULL) {
            out->cases[out->count] = one;
        }
        out->count++;
    }
}

static bool read_member(scan *s, span key, lab_kept *out, char format[LAB_KEPT_TEXT])
{
    const struct {
        const char *name;
        char *text;
    } texts[] = {{"format", format},      {"ladder", out->ladder}, {"version", out->version},
                 {"commit", out->commit}, {"seed", out->seed},     {"compiler", out->compiler}};
    lab_kept_value *built = is(key, "version")  ? &out->built.version
                            : is(key, "commit") ? &out->built.commit
                            : is(key, "date")   ? &out->built.date
                                                : NULL;
    if (built != NULL) {
        *built = look_ahead(s, 1);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (is(key, texts[i].name)) {
            return read_text(s, texts[i].text);
        }
    }
    return is(key, "threads")   ? read_integer(s, &out->threads)
           : is(key, "machine") ? read_machine(s, out)
           : is(key, "cases")   ? read_cases(s, false, out)
           : is(key, "failed")  ? read_cases(s, true, out)
                                : skip_value(s, 1);
}

bool lab_kept_parse(const char *text, size_t size, lab_kept *out, const char **what)
{
    scan s = {text, text + size};
    span key;
    char format[LAB_KEPT_TEXT] = "";
    out->count = 0;
    *what = "it is not JSON, or not a result file";
    bool good = take(&s, '{');
    for (bool first = true, more = true; good; first = false) {
        good = next_member(&s, first, &key, &more);
        if (!good || !more) {
            break;
        }
        good = read_member(&s, key, out, format);
    }
    skip_space(&s);
    if (!good || s.at != s.end) {
        return false;
    }
    *what = "it has another format";
    return strcmp(format, "tilewright-lab 1") == 0;
}

/* ------------------------------------------------------------------------------------------ files
 */

static tw_status read_whole(tw_context *ctx, const char *path, lab_kept *out)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return errno == ENOENT
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    tw_status status = TW_OK;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > MOST_BYTES) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%s is not a result file; remove it, or choose another folder", path);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->text, (uint64_t)about.st_size + 1, 1, "earlier results");
    }
    if (status == TW_OK) {
        out->size = fread(out->text, 1, (size_t)about.st_size, file);
        out->text[out->size] = '\0';
        if (ferror(file) != 0) {
            status = tw_fail(ctx, TW_ERR_IO, "cannot read %s", path);
        }
    }
    fclose(file);
    return status;
}

tw_status lab_kept_open(tw_context *ctx, const char *path, lab_kept *out)
{
    const char *what = NULL;
    *out = (lab_kept){0};
    tw_status status = read_whole(ctx, path, out);
    if (status != TW_OK || out->text == NULL) {
        return status;
    }
    bool good = lab_kept_parse(out->text, out->size, out, &what);
    if (good && out->count > 0) {
        status = twi_alloc_zeroed(ctx, &out->cases, (uint64_t)out->count, sizeof *out->cases,
                                  "earlier results");
        good = status != TW_OK || lab_kept_parse(out->text, out->size, out, &what);
    }
    if (!good) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%s is damaged and cannot be added to: %s; remove it, or choose "
                         "another folder with --out",
                         path, what);
    }
    return status;
}

void lab_kept_close(lab_kept *kept)
{
    twi_free(kept->cases);
    twi_free(kept->text);
    *kept = (lab_kept){0};
}
