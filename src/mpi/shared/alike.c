/* See alike.h. Each thing has a name of its own, so that the sentence says what differs; a list is
 * compared by its length and a hash. */
#include "mpi/shared/alike.h"

#include <stdio.h>

#define NUMBER 64 /* characters of a number, or two */

static const char *tell_list(char text[NUMBER], const int32_t *list, int64_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; list != NULL && i < count; i++) {
        hash = (hash ^ (uint64_t)list[i]) * 0x100000001b3u;
    }
    (void)snprintf(text, NUMBER, "%lld (%016llx)", (long long)count, (unsigned long long)hash);
    return list != NULL ? text : "all";
}

static const char *tell_number(char text[NUMBER], double number)
{
    (void)snprintf(text, NUMBER, "%.17g", number);
    return text;
}

static const char *tell_count(char text[NUMBER], int64_t count)
{
    (void)snprintf(text, NUMBER, "%lld", (long long)count);
    return text;
}

/* Something that is there or not, and has no value. */
static const char *tell_presence(bool there)
{
    return there ? "" : NULL;
}

tw_status twi_alike_run(tw_context *ctx, const twi_world *world, const tw_apsp_options *opts,
                        const tw_mpi_apsp_output *output, twi_isa isa, bool on_gpu)
{
    char block[NUMBER], cutoff[NUMBER], sources[NUMBER], targets[NUMBER], every[NUMBER];
    char verify[NUMBER], seed[NUMBER];
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)output->seed);
    const twi_told told[] = {
        {"the version", tw_version()},
        {"the method", tw_apsp_method_name(opts->method)},
        {"the type", tw_type_name(opts->type)},
        {"the work type", tw_type_name(opts->work_type)},
        {"the block", tell_count(block, opts->block)},
        {"the cutoff", tell_number(cutoff, opts->cutoff)},
        {"the sources", tell_list(sources, opts->sources, opts->source_count)},
        {"the targets", tell_list(targets, opts->targets, opts->target_count)},
        {"the output", output->path},
        {"the format", output->format},
        {"the predecessors", output->predecessors},
        {"verify", tell_count(verify, output->verify)},
        {"the seed", seed},
        {"the checkpoint", opts->checkpoint},
        {"checkpoint_every", tell_number(every, opts->checkpoint_every)},
        {"a summary", tell_presence(output->summary != NULL)},
        {"nearest vertices", tell_presence(output->nearest != NULL)},
        {"farthest vertices", tell_presence(output->farthest != NULL)},
        {"the instruction set", twi_isa_name(isa)},
        {"a device of the kind", on_gpu ? "GPU" : "CPU"},
    };
    return twi_world_same(ctx, world, told, (int)(sizeof told / sizeof *told));
}

tw_status twi_alike_reading(tw_context *ctx, const twi_world *world,
                            const tw_graph_read_options *opts)
{
    char no_edge[NUMBER];
    const twi_told told[] = {
        {"the input format", opts->format},
        {"directed edges", tell_presence(opts->directed == TW_GRAPH_DIRECTED_YES)},
        {"undirected edges", tell_presence(opts->directed == TW_GRAPH_DIRECTED_NO)},
        {"edges without weights", tell_presence(opts->unweighted != 0)},
        {"vertices with names", tell_presence(opts->ids != 0)},
        {"a header", tell_presence(opts->header == TW_GRAPH_HEADER_YES)},
        {"a list without a header", tell_presence(opts->header == TW_GRAPH_HEADER_NO)},
        {"the column of sources", opts->from},
        {"the column of targets", opts->to},
        {"the column of weights", opts->weight},
        {"the entry for no edge",
         opts->no_edge != NULL ? tell_number(no_edge, *opts->no_edge) : NULL},
    };
    return twi_world_same(ctx, world, told, (int)(sizeof told / sizeof *told));
}
