/* SPDX-License-Identifier: MIT
 *
 * A fake processor that has all levels, on a fake system that answers requests for AMX tiles as a
 * test requires. A test assigns it to dti_cpuid_source. */
#ifndef DTINFO_TESTS_TILE_SYSTEM_H
#define DTINFO_TESTS_TILE_SYSTEM_H

#include "kernels/cpuid.h"
#include "unit.h"

static int tile_answer; /* 0, or an errno value */
static unsigned tile_requests;
static bool tile_processor = true; /* whether it has AMX at all */

static struct dti_cpuid tile_cpuid(uint32_t leaf, uint32_t subleaf)
{
    if (leaf == 0)
        return (struct dti_cpuid){.eax = 7};
    if (leaf != 1 && leaf != 7)
        return (struct dti_cpuid){.eax = 0};
    return (struct dti_cpuid){.eax = leaf == 7 && subleaf == 0 ? 1 : UINT32_MAX,
                              .ebx = UINT32_MAX,
                              .ecx = UINT32_MAX,
                              .edx = tile_processor ? UINT32_MAX : 0};
}

static uint64_t tile_xgetbv(void)
{
    return 0x602e7;
}

static int tile_permit(unsigned component)
{
    CHECK_U64(component, 18);
    tile_requests++;
    return tile_answer;
}

static const struct dti_cpuid_source tile_system = {
    .cpuid = tile_cpuid, .xgetbv = tile_xgetbv, .permit = tile_permit};

#endif
