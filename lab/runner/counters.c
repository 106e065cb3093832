/* The counters by name, and profiles of them as JSON. */
#include "runner/counters.h"

#include <math.h>

const lab_counter_about lab_counter_list[LAB_COUNTERS] = {
    [LAB_CORES_BUSY] = {"cores_busy", {"cores", "busy"}, LAB_PLAIN},
    [LAB_CLOCK] = {"clock", {"cycles", "/s"}, LAB_SCALED},
    [LAB_INSTRUCTIONS_PER_CYCLE] = {"instructions_per_cycle", {"instr.", "/cycle"}, LAB_PLAIN},
    [LAB_INSTRUCTIONS] = {"instructions_per_unit", {"instr.", "/unit"}, LAB_PLAIN},
    [LAB_BRANCHES_MISSED] = {"branches_missed", {"branches", "missed"}, LAB_SHARE},
    [LAB_L1_MISSES] = {"l1_misses_per_unit", {"L1 miss", "/unit"}, LAB_PLAIN},
    [LAB_LAST_LEVEL_MISSES] = {"last_level_misses_per_unit", {"LL miss", "/unit"}, LAB_PLAIN},
    [LAB_PAGE_FAULTS] = {"page_faults", {"page", "faults"}, LAB_SCALED},
    [LAB_SWITCHES] = {"context_switches", {"context", "switches"}, LAB_SCALED},
    [LAB_INTEGER_RATE] = {"integer_operations_per_second", {"integer", "op/s"}, LAB_SCALED},
    [LAB_SM_ACTIVE] = {"sm_active", {"SMs", "active"}, LAB_SHARE},
    [LAB_WARPS_ACTIVE] = {"warps_active", {"warps", "active"}, LAB_SHARE},
    [LAB_BRANCHES_UNIFORM] = {"branches_uniform", {"branches", "uniform"}, LAB_SHARE},
    [LAB_THREADS_ACTIVE] = {"threads_per_instruction", {NULL, NULL}, LAB_PLAIN},
    [LAB_SHARED_USEFUL] = {"shared_efficiency", {"shared", "useful"}, LAB_SHARE},
    [LAB_BANK_CONFLICTS] = {"bank_conflicts", {"bank", "conflicts"}, LAB_SHARE},
    [LAB_BANK_CONFLICT_COUNT] = {"bank_conflict_count", {"conflict", "count"}, LAB_SCALED},
    [LAB_SHARED_RATE] = {"shared_accesses_per_second", {NULL, NULL}, LAB_SCALED},
    [LAB_LOAD_RATE] = {"load_bytes_per_second", {"loads", "/s"}, LAB_BYTES},
    [LAB_L2_READ] = {"l2_read_bytes_per_second", {"from L2", "/s"}, LAB_BYTES},
    [LAB_STORE_RATE] = {"store_bytes_per_second", {"stores", "/s"}, LAB_BYTES},
    [LAB_LOCAL_RATE] = {"local_load_bytes_per_second", {"local", "loads/s"}, LAB_BYTES},
    [LAB_DRAM_READ] = {"dram_read_bytes_per_second", {NULL, NULL}, LAB_BYTES},
    [LAB_DRAM_WRITTEN] = {"dram_write_bytes_per_second", {NULL, NULL}, LAB_BYTES},
};

static bool is_any_known(const double value[LAB_COUNTERS])
{
    bool any = false;
    for (int i = 0; i < LAB_COUNTERS; i++) {
        any = any || !isnan(value[i]);
    }
    return any;
}

bool lab_profile_is_empty(const lab_profile *profile)
{
    return !is_any_known(profile->value);
}

static void keep_values(cli_report *json, const double value[LAB_COUNTERS])
{
    for (int i = 0; i < LAB_COUNTERS; i++) {
        if (!isnan(value[i])) {
            cli_report_number(json, lab_counter_list[i].name, value[i]);
        }
    }
}

void lab_profile_keep(cli_report *json, const lab_profile *profile)
{
    if (lab_profile_is_empty(profile)) {
        return;
    }
    cli_report_object(json, "counters");
    keep_values(json, profile->value);
    if (profile->launches > 0) {
        cli_report_integer(json, "launches", profile->launches);
        cli_report_text(json, "kernel", profile->kernel);
        cli_report_number(json, "kernel_share", profile->kernel_share);
    }
    if (is_any_known(profile->of_kernel)) {
        cli_report_object(json, "of_kernel");
        keep_values(json, profile->of_kernel);
        cli_report_end_object(json);
    }
    cli_report_end_object(json);
}
