/* SPDX-License-Identifier: MIT
 *
 * The CPU level that `devices` reports when the system can refuse AMX tiles. */
#include <errno.h>

#include "answers/devices/devices.h"
#include "tile_system.h"

static void check(const char *limit, enum dti_level level, const char *trouble)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    const struct dti_devices_request request = {.device = "cpu", .level_limit = limit};
    struct dti_devices_answer *answer;
    struct dti_error error;
    dti_cpuid_source = &tile_system;
    if (CHECK(dti_devices_find(&answer, &request, &error) == DTI_OK)) {
        CHECK_STR(dti_level_name(answer->level), dti_level_name(level));
        CHECK_STR(answer->level_trouble, trouble);
        dti_devices_free(answer);
    }
    dti_cpuid_source = before;
}

static void refused_tiles_lower_the_level(void)
{
    if (dti_level_present(DTI_LEVEL_NEON)) {
        printf("skipped: a processor of another architecture\n");
        return;
    }
    tile_answer = 0;
    check(NULL, DTI_LEVEL_AMX, NULL);
    tile_answer = EPERM;
    check(NULL, DTI_LEVEL_AVX512BF16, "the system denies this process the tile registers of AMX");
    tile_requests = 0;
    check("avx512bf16", DTI_LEVEL_AVX512BF16, NULL);
    CHECK_U64(tile_requests, 0);
}

UNIT_MAIN(refused_tiles_lower_the_level)
