/* See forecast.h. */
#include "mpi/command/forecast.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 1024

static double total(const tw_mpi_forecast *f, const mpi_begun *begun)
{
    return begun->start + begun->read + f->seconds_plan + f->seconds_prepare + f->seconds_compute +
           f->seconds_exchange + f->seconds_copy + f->seconds_output;
}

/* What a rank computes with: its threads, or a GPU. */
static void describe_engine(char text[CLI_SHOWN], const tw_mpi_forecast *f)
{
    if (f->sharing == 0) {
        snprintf(text, CLI_SHOWN, "%d thread%s each", (int)f->threads, f->threads == 1 ? "" : "s");
    } else if (f->sharing == 1) {
        snprintf(text, CLI_SHOWN, "a GPU each");
    } else {
        snprintf(text, CLI_SHOWN, "%d of them on a GPU", (int)f->sharing);
    }
}

/* ", and 4.3 GB on its GPU", with a line about how panels reach MPI; or "". */
static void describe_device(char text[2 * CLI_SHOWN], const tw_mpi_forecast *f)
{
    char memory[CLI_SHOWN];
    text[0] = '\0';
    if (f->sharing > 0) {
        snprintf(text, 2 * CLI_SHOWN, ", and %s on its GPU\npanels: %s",
                 cli_show_bytes(memory, (double)f->device_memory),
                 f->direct ? "MPI reads and writes GPU memory" : "staged in pinned host memory");
    }
}

/* A line about ranks that help each other, or "". */
static const char *help_line(const tw_mpi_forecast *f)
{
    static const char *const lines[] = {
        "", "\nhelp: idle ranks of a machine take tasks from the others",
        "\nhelp: none; TW_MPI_HELP=never",
        "\nhelp: none; the ranks of a machine cannot map each other's memory"};
    return lines[f->help];
}

static void describe(char text[LINES], const tw_mpi_forecast *f)
{
    char memory[CLI_SHOWN], rate[CLI_SHOWN], engine[CLI_SHOWN], device[2 * CLI_SHOWN];
    const char *threads = f->threads == 1 ? "" : "s", *machines = f->machines == 1 ? "" : "s";
    cli_show_bytes(memory, (double)f->memory);
    if (f->method != TW_APSP_METHOD_CLOSURE) {
        snprintf(text, LINES,
                 "ranks: %d on %d machine%s, %d thread%s each, rows dealt out among them\n"
                 "choice: %s in %s; %s of memory in each rank",
                 (int)f->ranks, (int)f->machines, machines, (int)f->threads, threads,
                 tw_apsp_method_name(f->method), tw_type_name(f->work_type), memory);
        return;
    }
    describe_engine(engine, f);
    describe_device(device, f);
    snprintf(text, LINES,
             "ranks: %d on %d machine%s as a grid of %d x %d, %s\n"
             "choice: closure in %s%s, tiles of %d%s; %s of memory in each rank%s\n"
             "rate: %s relaxations/s in each rank while all are busy; %.0f %% of it is used%s",
             (int)f->ranks, (int)f->machines, machines, (int)f->grid_rows, (int)f->grid_cols,
             engine, tw_type_name(f->work_type), f->symmetric ? ", half of the matrix" : "",
             (int)f->block, f->filled < 0.995 ? ", empty ones skipped" : "", memory, device,
             cli_show_scaled(rate, f->rate), 100 * f->ideal, help_line(f));
}

void mpi_forecast_say(const cli_job *job, const tw_mpi_forecast *f, const tw_graph_info *about,
                      const mpi_begun *begun, bool print)
{
    char text[LINES], graph[LINES], parts[LINES];
    char start[CLI_SHOWN], read[CLI_SHOWN], plan[CLI_SHOWN], prepare[CLI_SHOWN], compute[CLI_SHOWN];
    char exchange[CLI_SHOWN], output[CLI_SHOWN], all[CLI_SHOWN], copied[CLI_SHOWN];
    char copy[2 * CLI_SHOWN] = "";
    snprintf(graph, sizeof graph, "graph: %lld vert%s, %lld arc%s%s", (long long)about->vertices,
             about->vertices == 1 ? "ex" : "ices", (long long)about->arcs,
             about->arcs == 1 ? "" : "s", about->undirected ? ", undirected" : "");
    describe(text, f);
    if (f->sharing > 0) {
        snprintf(copy, sizeof copy, "to the GPU and back %s, ",
                 cli_show_seconds(copied, f->seconds_copy));
    }
    snprintf(
        parts, sizeof parts,
        "time: about %s: start %s, read %s and plan %s (just measured), prepare %s, %scompute %s, "
        "communicate %s, write %s",
        cli_show_seconds(all, total(f, begun)), cli_show_seconds(start, begun->start),
        cli_show_seconds(read, begun->read), cli_show_seconds(plan, f->seconds_plan),
        cli_show_seconds(prepare, f->seconds_prepare), copy,
        cli_show_seconds(compute, f->seconds_compute),
        cli_show_seconds(exchange, f->seconds_exchange),
        cli_show_seconds(output, f->seconds_output));
    if (print) {
        cli_print("%s\n%s\n%s\n", graph, text, parts);
    } else {
        cli_say(job, "%s\n%s\n%s", graph, text, parts);
    }
}

void mpi_forecast_report(cli_report *json, const char *name, const tw_mpi_forecast *f,
                         const mpi_begun *begun)
{
    cli_report_object(json, name);
    cli_report_integer(json, "ranks", f->ranks);
    cli_report_integer(json, "grid_rows", f->grid_rows);
    cli_report_integer(json, "grid_cols", f->grid_cols);
    cli_report_integer(json, "block", f->block);
    cli_report_integer(json, "threads", f->threads);
    cli_report_integer(json, "machines", f->machines);
    cli_report_text(json, "method", tw_apsp_method_name(f->method));
    cli_report_text(json, "working_type", tw_type_name(f->work_type));
    cli_report_bool(json, "symmetric", f->symmetric != 0);
    cli_report_integer(json, "memory", (int64_t)f->memory);
    cli_report_integer(json, "ranks_per_gpu", f->sharing);
    cli_report_integer(json, "device_memory", (int64_t)f->device_memory);
    cli_report_bool(json, "direct", f->direct != 0);
    cli_report_integer(json, "help", f->help);
    cli_report_number(json, "rate", f->rate);
    cli_report_number(json, "filled", f->filled);
    cli_report_number(json, "ideal", f->ideal);
    cli_report_object(json, "seconds");
    cli_report_number(json, "start", begun->start);
    cli_report_number(json, "read", begun->read);
    cli_report_number(json, "plan", f->seconds_plan);
    cli_report_number(json, "prepare", f->seconds_prepare);
    cli_report_number(json, "copy", f->seconds_copy);
    cli_report_number(json, "compute", f->seconds_compute);
    cli_report_number(json, "exchange", f->seconds_exchange);
    cli_report_number(json, "output", f->seconds_output);
    cli_report_number(json, "total", total(f, begun));
    cli_report_end_object(json);
    cli_report_end_object(json);
}

/* The number at *at, which moves behind it and the comma that follows. */
static tw_status next_number(tw_context *ctx, const char *list, const char **at, int32_t *out)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(*at, &end, 10);
    if (!isdigit((unsigned char)**at) || errno != 0 || value < 1 || value > INT32_MAX ||
        (*end != '\0' && (*end != ',' || end[1] == '\0'))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "--ranks %.100s: expected numbers of 1 or more, such as 64,256,4096", list);
    }
    *at = *end == ',' ? end + 1 : end;
    *out = (int32_t)value;
    return TW_OK;
}

static void print_row(const tw_mpi_forecast *f)
{
    char grid[CLI_SHOWN], memory[CLI_SHOWN], time[CLI_SHOWN], exchange[CLI_SHOWN];
    snprintf(grid, sizeof grid, "%d x %d", (int)f->grid_rows, (int)f->grid_cols);
    cli_print("%8d  %11s  %12s  %12s  %12s  %8.0f %%\n", (int)f->ranks, grid,
              cli_show_bytes(memory, (double)f->memory),
              cli_show_seconds(time, total(f, &(mpi_begun){0})),
              cli_show_seconds(exchange, f->seconds_exchange), 100 * f->ideal);
}

static void print_head(const tw_mpi_cluster *cluster, const tw_mpi_forecast *f)
{
    char rate[CLI_SHOWN], link[CLI_SHOWN], message[CLI_SHOWN];
    cli_print("closure of %lld vertices in %s%s, tiles of %d; ranks of %s relaxations/s%s, %s/s "
              "and %s per message\n",
              (long long)cluster->vertices, tw_type_name(f->work_type),
              f->symmetric ? ", half of the matrix" : "", (int)f->block,
              cli_show_scaled(rate, f->rate), cluster->rate > 0 ? "" : " (one thread here)",
              cli_show_bytes(link, cluster->bandwidth),
              cli_show_seconds(message, cluster->latency));
    cli_print("%8s  %11s  %12s  %12s  %12s  %10s\n", "ranks", "grid", "memory each", "time",
              "waiting", "of ideal");
}

tw_status mpi_forecast_table(tw_context *ctx, const char *list, const tw_mpi_cluster *described,
                             bool json)
{
    tw_mpi_cluster cluster = *described;
    tw_status status = TW_OK;
    cli_report out;
    int shown = 0;
    char refused[LINES] = "";
    for (const char *at = list; status == TW_OK && *at != '\0';) { /* before anything is shown */
        int32_t ignored = 0;
        status = next_number(ctx, list, &at, &ignored);
    }
    if (status == TW_OK && *list == '\0') {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "--ranks: expected numbers, such as 64,256,4096");
    }
    if (status == TW_OK && json) {
        cli_report_begin(&out, stdout);
        cli_report_integer(&out, "vertices", cluster.vertices);
        cli_report_number(&out, "bandwidth", cluster.bandwidth);
        cli_report_number(&out, "latency", cluster.latency);
    }
    for (const char *at = list; status == TW_OK && *at != '\0';) {
        tw_mpi_forecast forecast = TW_MPI_FORECAST_INIT;
        status = next_number(ctx, list, &at, &cluster.ranks);
        if (status == TW_OK) {
            status = tw_mpi_predict(ctx, &cluster, &forecast);
        }
        if (status == TW_ERR_MEMORY) { /* others may have enough */
            snprintf(refused, sizeof refused, "%s", tw_last_error(ctx));
            if (!json && strchr(list, ',') != NULL) {
                cli_print("%8d  %s\n", (int)cluster.ranks, refused);
            }
            status = TW_OK;
            continue;
        }
        if (status != TW_OK) {
            break;
        }
        cluster.rate = forecast.rate; /* measured once */
        if (json) {
            char name[CLI_SHOWN];
            snprintf(name, sizeof name, "%d", (int)cluster.ranks);
            mpi_forecast_report(&out, name, &forecast, &(mpi_begun){0});
        } else {
            if (shown == 0) {
                print_head(described, &forecast);
            }
            print_row(&forecast);
        }
        shown++;
    }
    if (status == TW_OK && json) {
        cli_report_end(&out);
    }
    return status == TW_OK && shown == 0 ? tw_fail(ctx, TW_ERR_MEMORY, "%s", refused) : status;
}
