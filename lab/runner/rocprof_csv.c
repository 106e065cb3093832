/*
 * Reads what rocprof writes for AMD's cards: a table with one row a kernel launch, its first record
 * the names of the columns, among them "KernelName", "BeginNs", "EndNs" and one for each counter
 * that was asked for. Which of them a card has differs; a column that is missing leaves what is
 * made of it unknown.
 *
 * What is made of them, T being the time of the launches:
 *
 *   integer operations/s   SQ_INSTS_VALU * lanes of a wave / T: all vector instructions, and these
 *                          kernels have no others than integer ones
 *   GPU active             GPUBusy (GRBM_GUI_ACTIVE / GRBM_COUNT), weighted by time
 *   waves active           MeanOccupancyPerCU / 32, weighted by time: of the places of a processor
 *   bank conflicts         SQ_LDS_BANK_CONFLICT / SQ_LDS_IDX_ACTIVE: of the cycles of LDS those
 *                          that were lost to conflicts
 *   conflict count         SQ_LDS_BANK_CONFLICT, in cycles
 *   accesses to LDS/s      SQ_INSTS_LDS / T
 *   memory read, written   FetchSize * 1024 / T, WriteSize * 1024 / T
 *
 * Nothing in the text is trusted. None of it has seen an AMD card yet; tests have a stand-in.
 */
#include "runner/rocprof_csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 128, FIELD = 256, MOST_KERNELS = 32, PLACES = 32, LANES = 64 };

typedef enum column {
    NOTHING,
    KERNEL,
    BEGIN,
    END,
    WAVE,
    VALU,
    LDS,
    CONFLICT,
    ACTIVE,
    FETCHED,
    WRITTEN,
    OCCUPANCY,
    BUSY,
    COLUMNS
} column;

static const char *const names[COLUMNS] = {
    [KERNEL] = "KernelName",
    [BEGIN] = "BeginNs",
    [END] = "EndNs",
    [WAVE] = "wave_size",
    [VALU] = "SQ_INSTS_VALU",
    [LDS] = "SQ_INSTS_LDS",
    [CONFLICT] = "SQ_LDS_BANK_CONFLICT",
    [ACTIVE] = "SQ_LDS_IDX_ACTIVE",
    [FETCHED] = "FetchSize",
    [WRITTEN] = "WriteSize",
    [OCCUPANCY] = "MeanOccupancyPerCU",
    [BUSY] = "GPUBusy",
};

/* A line is a group of counters that a card has room for at a time; each is a run of its own. */
const char lab_rocprof_asks[] = "pmc: SQ_INSTS_VALU SQ_INSTS_LDS SQ_LDS_BANK_CONFLICT "
                                "SQ_LDS_IDX_ACTIVE GPUBusy\n"
                                "pmc: FetchSize\n"
                                "pmc: WriteSize\n"
                                "pmc: MeanOccupancyPerCU\n";

typedef struct table {
    const char *at, *end;
    column holds[MOST_COLUMNS];
    int columns, launches, kernels;
    double seconds;
    double sum[COLUMNS], weight[COLUMNS]; /* the weight is the time of the launches that had it */
    char kernel[MOST_KERNELS][FIELD];
    double kernel_seconds[MOST_KERNELS];
} table;

/* The next field of the line, without its quotes; `last` tells whether the line ended with it. */
static void read_field(table *t, char out[FIELD], bool *last)
{
    size_t length = 0;
    bool quoted = false;
    for (; t->at < t->end && *t->at != '\n' && (quoted || *t->at != ','); t->at++) {
        quoted = *t->at == '"' ? !quoted : quoted;
        if (*t->at != '"' && *t->at != '\r' && length < FIELD - 1) {
            out[length++] = *t->at;
        }
    }
    out[length] = '\0';
    *last = t->at == t->end || *t->at == '\n';
    t->at += t->at < t->end;
}

static void read_headings(table *t)
{
    char field[FIELD];
    bool last = false;
    while (!last && t->columns < MOST_COLUMNS) {
        read_field(t, field, &last);
        t->holds[t->columns] = NOTHING;
        for (int i = KERNEL; i < COLUMNS; i++) {
            t->holds[t->columns] = strcmp(field, names[i]) == 0 ? (column)i : t->holds[t->columns];
        }
        t->columns++;
    }
}

static void add_kernel(table *t, const char *name, double seconds)
{
    int i = 0;
    while (i < t->kernels && strcmp(t->kernel[i], name) != 0) {
        i++;
    }
    if (i < MOST_KERNELS && i == t->kernels) {
        snprintf(t->kernel[i], FIELD, "%s", name);
        t->kernel_seconds[t->kernels++] = 0;
    }
    if (i < MOST_KERNELS) {
        t->kernel_seconds[i] += seconds;
    }
}

static void add_launch(table *t, const char *kernel, const double value[COLUMNS])
{
    double seconds = (value[END] - value[BEGIN]) * 1e-9;
    if (!(seconds > 0 && seconds < 1e6)) {
        return;
    }
    t->launches++;
    t->seconds += seconds;
    add_kernel(t, kernel, seconds);
    for (int i = VALU; i < COLUMNS; i++) {
        bool average = i == OCCUPANCY || i == BUSY;
        double lanes = i == VALU ? (isnan(value[WAVE]) ? LANES : value[WAVE]) : 1;
        if (!isnan(value[i])) {
            t->sum[i] += value[i] * (average ? seconds : lanes);
            t->weight[i] += seconds;
        }
    }
}

static void read_launch(table *t)
{
    char field[FIELD], kernel[FIELD] = "";
    double value[COLUMNS];
    bool last = false;
    for (int i = 0; i < COLUMNS; i++) {
        value[i] = (double)NAN;
    }
    for (int i = 0; !last; i++) {
        read_field(t, field, &last);
        column holds = i < t->columns ? t->holds[i] : NOTHING;
        char *rest = field;
        double number = strtod(field, &rest);
        if (holds == KERNEL) {
            memcpy(kernel, field, sizeof kernel);
        } else if (holds != NOTHING && rest != field && *rest == '\0' && number >= 0 &&
                   number < 1e30) {
            value[holds] = number;
        }
    }
    add_launch(t, kernel, value);
}

static double rate(const table *t, column of, double scale)
{
    return t->weight[of] > 0 ? t->sum[of] * scale / t->weight[of] : (double)NAN;
}

static void make_profile(const table *t, lab_profile *out)
{
    int most = 0;
    out->value[LAB_INTEGER_RATE] = rate(t, VALU, 1);
    out->value[LAB_SM_ACTIVE] = rate(t, BUSY, 0.01);
    out->value[LAB_WARPS_ACTIVE] = rate(t, OCCUPANCY, 1.0 / PLACES);
    out->value[LAB_SHARED_RATE] = rate(t, LDS, 1);
    out->value[LAB_DRAM_READ] = rate(t, FETCHED, 1024);
    out->value[LAB_DRAM_WRITTEN] = rate(t, WRITTEN, 1024);
    if (t->weight[CONFLICT] > 0) {
        out->value[LAB_BANK_CONFLICT_COUNT] = t->sum[CONFLICT];
    }
    if (t->weight[CONFLICT] > 0 && t->sum[ACTIVE] > 0) {
        out->value[LAB_BANK_CONFLICTS] = t->sum[CONFLICT] / t->sum[ACTIVE];
    }
    for (int i = 1; i < t->kernels; i++) {
        most = t->kernel_seconds[i] > t->kernel_seconds[most] ? i : most;
    }
    snprintf(out->kernel, sizeof out->kernel, "%.*s", LAB_KERNEL_NAME - 1, t->kernel[most]);
    out->kernel_share = t->kernel_seconds[most] / t->seconds;
    out->launches = t->launches;
}

bool lab_rocprof_read(const char *text, size_t size, lab_profile *out, char why[LAB_WHY])
{
    table t = {.at = text, .end = text + size};
    lab_profile_clear(out);
    why[0] = '\0';
    if (size > 0) {
        read_headings(&t);
    }
    while (t.at < t.end) {
        read_launch(&t);
    }
    if (t.launches == 0) {
        snprintf(why, LAB_WHY, "cannot read the counters that rocprof wrote");
        return false;
    }
    make_profile(&t, out);
    if (lab_profile_is_empty(out)) {
        snprintf(why, LAB_WHY, "rocprof counted nothing that it was asked for");
        lab_profile_clear(out);
        return false;
    }
    return true;
}
