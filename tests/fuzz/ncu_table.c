/* Any bytes given as what ncu printed end in counters that are numbers, or in a sentence. */
#include "runner/ncu_csv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lab_profile profile;
    char why[LAB_WHY];
    bool good = lab_ncu_read((const char *)data, size, &profile, why);
    insist(good == (why[0] == '\0'));
    insist(good == (profile.launches > 0));
    insist(strnlen(why, sizeof why) < sizeof why);
    insist(strnlen(profile.kernel, sizeof profile.kernel) < sizeof profile.kernel);
    for (int i = 0; i < LAB_COUNTERS; i++) {
        double value = profile.value[i];
        insist(isnan(value) || (good && isfinite(value) && value >= 0));
    }
    insist(!good || (profile.kernel_share > 0 && profile.kernel_share <= 1 + 1e-9));
    return 0;
}
