/* What each rung of a ladder runs, of the ladder's own tables: compiled with LAB_LISTED_WITH_CODE
 * they have it without a GPU. The functions that the tables name besides are not called. */
#include TABLES

int rungs_of(const char *ladder, const char **names, const void **codes)
{
    const lab_ladder *const ladders[] = {LADDERS};
    int count = 0;
    for (unsigned l = 0; l < sizeof ladders / sizeof *ladders; l++) {
        for (int i = 0; i < ladders[l]->count && strcmp(ladders[l]->name, ladder) == 0; i++) {
            names[count] = ladders[l]->rungs[i].name;
            codes[count++] = ladders[l]->rungs[i].code;
        }
    }
    return count;
}

double lab_relaxations(int64_t n)
{
    return (double)n;
}

double lab_matrix_bytes(int64_t n)
{
    return (double)n;
}

double lab_elements(int64_t n)
{
    return (double)n;
}

double lab_image_bytes(int64_t n)
{
    return (double)n;
}

tw_status lab_gpu_relaxation_ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)ctx, (void)out;
    return TW_OK;
}

tw_status lab_card_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)ctx, (void)out;
    return TW_OK;
}

tw_status lab_link_ceiling(tw_context *ctx, lab_ceiling *out)
{
    (void)ctx, (void)out;
    return TW_OK;
}
