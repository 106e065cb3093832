/*
 * Reads what `ncu --csv --page raw` prints: lines of the profiler and of the profiled program in
 * any order, then a table with one row a kernel launch. Its first record names the columns, among
 * them "Kernel Name" and one for each metric; the second has their units and an empty ID; then
 * come the launches. Fields stand in quotes, thousands are separated by commas, and a metric that
 * the card does not have is "n/a".
 *
 * A rung launches several kernels, some of them long. Sums (bytes, instructions) are added over all
 * launches and divided by the time of the launches that had them; shares are averaged with the time
 * as weight. So a kernel counts for as much as it takes; the one that takes longest is counted by
 * itself as well. How well shared memory is used is averaged
 * over the accesses to it: a kernel without any has no say. One pass over the text, no memory
 * taken; nothing in the text is trusted.
 *
 * Which metrics there are depends on the card and on ncu's version. One that it does not know makes
 * it give up, with a line such as "==ERROR== Failed to find metric NAME", or with a pattern made of
 * the name; lab_ncu_unknown reads that.
 */
#include "runner/ncu_csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COLUMNS = 1024, /* ncu adds some 300 of its own, about the card */
    MOST_KERNELS = 32,   /* different ones; a rung has a handful */
    FIELD = 256          /* what is kept of a field: names of kernels can be longer */
};

/* How a metric becomes a counter. */
typedef enum metric_kind {
    RATE,    /* a sum: divided by the time */
    PERCENT, /* an average: weighted by the time, and divided by 100 */
    AVERAGE, /* the same as it is */
    USEFUL   /* as PERCENT, weighted by the accesses to shared memory */
} metric_kind;

/* `ncu --query-metrics` lists what a card has; what it knows and the card has not comes back as
 * "n/a". The place of a metric here is its bit in sets of them. */
static const struct {
    const char *name;
    lab_counter counter;
    metric_kind kind;
} metrics[] = {
    {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", LAB_INTEGER_RATE, RATE},
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", LAB_SM_ACTIVE, PERCENT},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", LAB_WARPS_ACTIVE, PERCENT},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", LAB_BRANCHES_UNIFORM, PERCENT},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", LAB_THREADS_ACTIVE, AVERAGE},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", LAB_SHARED_USEFUL, USEFUL},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", LAB_BANK_CONFLICTS, RATE},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", LAB_SHARED_RATE, RATE},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", LAB_LOAD_RATE, RATE},
    {"l1tex__m_xbar2l1tex_read_bytes.sum", LAB_L2_READ, RATE},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum", LAB_STORE_RATE, RATE},
    {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", LAB_LOCAL_RATE, RATE},
    {"dram__bytes_read.sum", LAB_DRAM_READ, RATE},
    {"dram__bytes_write.sum", LAB_DRAM_WRITTEN, RATE},
};
enum { METRICS = (int)(sizeof metrics / sizeof *metrics) };

#define MOST_VALUE 1e30 /* and times from a nanosecond to a week: all beyond is damage */
#define LEAST_SECONDS 1e-9
#define MOST_SECONDS 1e6

#define DURATION "gpu__time_duration.sum"

/* What a column holds: a metric by its place in the table, or one of these. */
enum { NOTHING = -1, TIME = -2, KERNEL = -3 };

/* Over some launches; the weight of a sum is time. */
typedef struct totals {
    double sum[METRICS], weight[METRICS];
} totals;

typedef struct table {
    const char *at, *end;
    int columns;
    int holds[MOST_COLUMNS];
    double unit[MOST_COLUMNS]; /* what one of it is worth: seconds, bytes */
    int launches;
    double seconds;
    totals all;
    int accesses; /* the metric of accesses to shared memory; -1: none */
    int kernels;
    char kernel[MOST_KERNELS][FIELD];
    double kernel_seconds[MOST_KERNELS];
    totals of_kernel[MOST_KERNELS];
} table;

void lab_ncu_metrics(uint32_t without, char out[LAB_NCU_METRICS])
{
    int used = snprintf(out, LAB_NCU_METRICS, "%s", DURATION);
    for (int i = 0; i < METRICS; i++) {
        if ((without >> i & 1) == 0) {
            used += snprintf(out + used, LAB_NCU_METRICS - (size_t)used, ",%s", metrics[i].name);
        }
    }
}

void lab_ncu_names(uint32_t set, char out[LAB_WHY])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < METRICS && used < LAB_WHY - 1; i++) {
        if ((set >> i & 1) != 0) {
            snprintf(out + used, LAB_WHY - used, "%s%s", used > 0 ? ", " : "", metrics[i].name);
            used = strlen(out);
        }
    }
}

/* -------------------------------------------------------------------------------------- records */

static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found != NULL ? found : end;
}

static const char *next_line(const char *at, const char *end)
{
    at = line_end(at, end);
    return at < end ? at + 1 : end;
}

static bool begins(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* The next field of the record, without its quotes and cut to FIELD; false in a field that does not
 * end. `last` tells whether the record ended with it. */
static bool read_field(table *t, char out[FIELD], bool *last)
{
    size_t length = 0;
    bool quoted = t->at < t->end && *t->at == '"';
    t->at += quoted;
    for (; t->at < t->end; t->at++) {
        bool doubled = quoted && *t->at == '"' && t->end - t->at > 1 && t->at[1] == '"';
        if (doubled) {
            t->at++;
        } else if (quoted ? *t->at == '"' : *t->at == ',' || *t->at == '\n') {
            break;
        }
        if (length < FIELD - 1) {
            out[length++] = *t->at;
        }
    }
    if (quoted) {
        if (t->at == t->end) {
            return false;
        }
        t->at++;
    } else if (length > 0 && out[length - 1] == '\r') {
        length--;
    }
    out[length] = '\0';
    if (t->at < t->end && *t->at == '\r') {
        t->at++;
    }
    *last = t->at == t->end || *t->at == '\n';
    bool ended = *last || *t->at == ',';
    t->at += t->at < t->end && ended;
    return ended;
}

/* A number with its commas taken out; false for "n/a" and all that is no count. */
static bool read_number(const char *text, double *out)
{
    char digits[64];
    size_t length = 0;
    for (; *text != '\0'; text++) {
        if (*text != ',') {
            if (length == sizeof digits - 1 || strchr("0123456789.eE+-", *text) == NULL) {
                return false;
            }
            digits[length++] = *text;
        }
    }
    digits[length] = '\0';
    char *rest = digits;
    double value = strtod(digits, &rest);
    if (length == 0 || *rest != '\0' || !(value >= 0 && value <= MOST_VALUE)) {
        return false;
    }
    *out = value;
    return true;
}

/* --------------------------------------------------------------------------------------- tables */

static double unit_of(const char *text)
{
    static const struct {
        const char *name;
        double value;
    } units[] = {{"ns", 1e-9},   {"nsecond", 1e-9}, {"us", 1e-6},   {"usecond", 1e-6},
                 {"ms", 1e-3},   {"msecond", 1e-3}, {"s", 1},       {"second", 1},
                 {"Kbyte", 1e3}, {"Mbyte", 1e6},    {"Gbyte", 1e9}, {"Tbyte", 1e12}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) == 0) {
            return units[i].value;
        }
    }
    return 1;
}

static int meaning_of(const char *heading)
{
    if (strcmp(heading, DURATION) == 0) {
        return TIME;
    }
    if (strcmp(heading, "Kernel Name") == 0) {
        return KERNEL;
    }
    for (int i = 0; i < METRICS; i++) {
        if (strcmp(heading, metrics[i].name) == 0) {
            return i;
        }
    }
    return NOTHING;
}

/* The record of headings; false if it has no column of times or cannot be read. */
static bool read_headings(table *t)
{
    char field[FIELD];
    bool last = false, timed = false;
    for (t->columns = 0; !last; t->columns++) {
        if (t->columns == MOST_COLUMNS || !read_field(t, field, &last)) {
            return false;
        }
        t->holds[t->columns] = meaning_of(field);
        if (t->holds[t->columns] >= 0 && metrics[t->holds[t->columns]].counter == LAB_SHARED_RATE) {
            t->accesses = t->holds[t->columns];
        }
        t->unit[t->columns] = t->holds[t->columns] == TIME ? 1e-9 : 1;
        timed = timed || t->holds[t->columns] == TIME;
    }
    return timed;
}

/* The totals of a kernel; NULL: there are too many. */
static totals *add_kernel(table *t, const char *name, double seconds)
{
    int i = 0;
    while (i < t->kernels && strcmp(t->kernel[i], name) != 0) {
        i++;
    }
    if (i == MOST_KERNELS) {
        return NULL;
    }
    if (i == t->kernels) {
        snprintf(t->kernel[i], FIELD, "%s", name);
        t->kernel_seconds[i] = 0;
        t->of_kernel[i] = (totals){0};
        t->kernels++;
    }
    t->kernel_seconds[i] += seconds;
    return &t->of_kernel[i];
}

/* What a metric of a launch counts for. Where accesses are not counted, a kernel that shows some
 * use of shared memory has some. */
static double weight_of(const table *t, int metric, double seconds, const double value[METRICS])
{
    if (metrics[metric].kind != USEFUL) {
        return seconds;
    }
    if (t->accesses < 0) {
        return value[metric] > 0 ? seconds : 0;
    }
    return isnan(value[t->accesses]) ? 0 : value[t->accesses];
}

static void add_metric(totals *to, int metric, double value, double weight)
{
    to->sum[metric] += metrics[metric].kind == RATE ? value : value * weight;
    to->weight[metric] += weight;
}

/* One launch: its time and metrics; one without a time is no launch. */
static void add_launch(table *t, const char *kernel, double seconds, const double value[METRICS])
{
    if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) {
        return;
    }
    t->launches++;
    t->seconds += seconds;
    totals *own = add_kernel(t, kernel, seconds);
    for (int i = 0; i < METRICS; i++) {
        if (!isnan(value[i])) {
            double weight = weight_of(t, i, seconds, value);
            add_metric(&t->all, i, value[i], weight);
            if (own != NULL) {
                add_metric(own, i, value[i], weight);
            }
        }
    }
}

/* A record below the headings: units if its ID is empty, else a launch. One with another number of
 * fields is a line of something else, and skipped; false in one that does not end. */
static bool read_record(table *t)
{
    char field[FIELD], kernel[FIELD] = "";
    double seconds = 0, value[METRICS], unit[MOST_COLUMNS], number = 0;
    bool last = false, is_units = false;
    int columns = 0;
    for (int i = 0; i < METRICS; i++) {
        value[i] = (double)NAN;
    }
    for (; !last; columns++) {
        if (!read_field(t, field, &last)) {
            return false;
        }
        if (columns >= t->columns) {
            continue;
        }
        int holds = t->holds[columns];
        is_units = columns == 0 ? field[0] == '\0' : is_units;
        unit[columns] = holds == TIME && field[0] == '\0' ? 1e-9 : unit_of(field);
        if (holds == KERNEL) {
            memcpy(kernel, field, sizeof kernel);
        } else if (holds == TIME && read_number(field, &number)) {
            seconds = number * t->unit[columns];
        } else if (holds >= 0 && read_number(field, &number)) {
            value[holds] = number * t->unit[columns];
        }
    }
    if (columns == t->columns && is_units) {
        memcpy(t->unit, unit, sizeof *unit * (size_t)columns);
    } else if (columns == t->columns) {
        add_launch(t, kernel, seconds, value);
    }
    return true;
}

/* Go to the record of headings; false if there is none. */
static bool find_table(table *t)
{
    while (t->at < t->end) {
        if (begins(t->at, t->end, "\"ID\",") || begins(t->at, t->end, "ID,")) {
            return true;
        }
        t->at = next_line(t->at, t->end);
    }
    return false;
}

static void make_counters(const totals *of, double out[LAB_COUNTERS])
{
    for (int i = 0; i < METRICS; i++) {
        if (of->weight[i] > 0) {
            double value = of->sum[i] / of->weight[i];
            bool percent = metrics[i].kind == PERCENT || metrics[i].kind == USEFUL;
            out[metrics[i].counter] = percent ? value / 100 : value;
        }
        if (of->weight[i] > 0 && metrics[i].counter == LAB_BANK_CONFLICTS) {
            out[LAB_BANK_CONFLICT_COUNT] = of->sum[i];
        }
    }
    double *conflicts = &out[LAB_BANK_CONFLICTS], shared = out[LAB_SHARED_RATE];
    *conflicts = shared > 0 ? *conflicts / shared : (double)NAN; /* of the accesses */
}

static void make_profile(const table *t, lab_profile *out)
{
    make_counters(&t->all, out->value);
    int most = 0;
    for (int i = 1; i < t->kernels; i++) {
        most = t->kernel_seconds[i] > t->kernel_seconds[most] ? i : most;
    }
    snprintf(out->kernel, sizeof out->kernel, "%.*s", LAB_KERNEL_NAME - 1, t->kernel[most]);
    out->kernel_share = t->kernel_seconds[most] / t->seconds;
    make_counters(&t->of_kernel[most], out->of_kernel);
    out->launches = t->launches;
}

static bool is_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a line has the name of a metric without its endings, as a word. */
static bool names(const char *at, const char *end, const char *metric)
{
    size_t length = strcspn(metric, ".");
    for (const char *from = at; (size_t)(end - from) >= length; from++) {
        if (memcmp(from, metric, length) == 0 && (from == at || !is_in_name(from[-1])) &&
            (from + length == end || !is_in_name(from[length]))) {
            return true;
        }
    }
    return false;
}

uint32_t lab_ncu_unknown(const char *text, size_t size)
{
    const uint32_t all = (UINT32_C(1) << METRICS) - 1;
    const char *end = text + size;
    uint32_t set = 0;
    for (const char *at = text; size > 0 && at < end; at = next_line(at, end)) {
        for (int i = 0; begins(at, end, "==ERROR==") && i < METRICS; i++) {
            set |= (uint32_t)names(at, line_end(at, end), metrics[i].name) << i;
        }
    }
    return set == all ? 0 : set;
}

/* The first line that the profiler calls an error, told as one of ours. */
static bool find_error(const char *text, size_t size, char why[LAB_WHY])
{
    const char *end = text + size;
    for (const char *at = text; at < end; at = next_line(at, end)) {
        if (begins(at, end, "==ERROR==")) {
            at += strlen("==ERROR==");
            at += at < end && *at == ' ';
            int length = (int)(line_end(at, end) - at);
            snprintf(why, LAB_WHY, "ncu says: %.*s", length < 160 ? length : 160, at);
            for (char *c = why; *c != '\0'; c++) {
                *c = isprint((unsigned char)*c) ? *c : ' ';
            }
            return true;
        }
    }
    return false;
}

bool lab_ncu_read(const char *text, size_t size, lab_profile *out, char why[LAB_WHY])
{
    static const char *const nothing = "cannot read the counters that ncu printed";
    table t = {.at = text, .end = text + size, .accesses = -1};
    lab_profile_clear(out);
    why[0] = '\0';
    bool good = size > 0 && find_table(&t) && read_headings(&t);
    while (good && t.at < t.end) {
        if (*t.at == '\n' || *t.at == '\r' || begins(t.at, t.end, "==")) {
            t.at = next_line(t.at, t.end);
        } else {
            good = read_record(&t);
        }
    }
    if (good && t.launches > 0) {
        make_profile(&t, out);
        return true;
    }
    if (size == 0 || !find_error(text, size, why)) {
        snprintf(why, LAB_WHY, "%s", good ? "ncu saw no kernel of this rung" : nothing);
    }
    return false;
}
