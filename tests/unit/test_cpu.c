/* SPDX-License-Identifier: MIT
 *
 * CPU levels on machines that are not here: what CPUID and XGETBV say is replaced. Zen 5 is a
 * record of the leaves that the levels look at; the others have the feature bits that the vendors'
 * manuals list for such processors, and variations. */
#include "dtinfo/cpu.h"

#include "kernels/cpuid.h"
#include "unit.h"

struct machine {
    const char *name;
    uint32_t max_leaf, leaf1_ecx, leaf7_eax, leaf7_ebx, leaf7_ecx;
    uint32_t leaf7_1_eax; /* of subleaf 1, which is there when leaf7_eax says so */
    uint64_t xcr0;
    bool xgetbv_faults;
    enum dti_level highest;
    struct dti_cpuid cache[4];
    bool caches_of_amd;
    size_t cache_bytes;
};

enum { MIB = 1 << 20 };

static const struct machine machines[] = {
    {.name = "Zen 5",
     .max_leaf = 28,
     .leaf1_ecx = 0xfffa3203,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xf1bf07ab,
     .leaf7_ecx = 0x00405fc6,
     .leaf7_1_eax = 0x00000030,
     .xcr0 = 0xe7,
     .highest = DTI_LEVEL_AVX512BF16,
     .caches_of_amd = true,
     .cache = {{0x00000121, 0x02c0003f, 0x0000003f, 0}, /* 48 KiB, data */
               {0x00000122, 0x01c0003f, 0x0000003f, 0}, /* 32 KiB, instructions */
               {0x00000143, 0x03c0003f, 0x000003ff, 0}, /* 1 MiB */
               {0x00004163, 0x03c0003f, 0x00007fff, 0}},
     .cache_bytes = 32 * MIB},
    {.name = "Skylake-SP",
     .max_leaf = 22,
     .leaf1_ecx = 0x7ffefbff,
     .leaf7_ebx = 0xd39ffffb,
     .leaf7_ecx = 0x00000008,
     .xcr0 = 0xff,
     .highest = DTI_LEVEL_AVX512,
     .cache = {{0x1c004121, 0x01c0003f, 0x0000003f, 0},
               {0x1c004122, 0x01c0003f, 0x0000003f, 0},
               {0x1c004143, 0x03c0003f, 0x000003ff, 0},
               {0x1c03c163, 0x0280003f, 0x00006fff, 0x4}}, /* 19.25 MiB */
     .cache_bytes = 28672u * 11 * 64},
    {.name = "Haswell",
     .max_leaf = 13,
     .leaf1_ecx = 0x7ffafbff,
     .leaf7_ebx = 0x000027ab,
     .xcr0 = 0x7,
     .highest = DTI_LEVEL_AVX2,
     .cache_bytes = 32 * MIB},
    {.name = "Sandy Bridge, AVX without AVX2",
     .max_leaf = 13,
     .leaf1_ecx = 0x1fbae3ff,
     .xcr0 = 0x7,
     .highest = DTI_LEVEL_SCALAR,
     .cache_bytes = 32 * MIB},
    {.name = "Haswell without BMI2",
     .max_leaf = 13,
     .leaf1_ecx = 0x7ffafbff,
     .leaf7_ebx = 0x000026ab,
     .xcr0 = 0x7,
     .highest = DTI_LEVEL_SCALAR,
     .cache_bytes = 32 * MIB},
    {.name = "Haswell under a system that does not use XSAVE",
     .max_leaf = 13,
     .leaf1_ecx = 0x77fafbff,
     .leaf7_ebx = 0x000027ab,
     .xgetbv_faults = true,
     .highest = DTI_LEVEL_SCALAR,
     .cache_bytes = 32 * MIB},
    {.name = "Zen 5 under a system that keeps no ymm",
     .max_leaf = 28,
     .leaf1_ecx = 0xfffa3203,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xf1bf07ab,
     .leaf7_ecx = 0x00405fc6,
     .leaf7_1_eax = 0x00000030,
     .xcr0 = 0x3,
     .highest = DTI_LEVEL_SCALAR,
     .cache_bytes = 32 * MIB},
    {.name = "Zen 5 under a system that keeps no zmm",
     .max_leaf = 28,
     .leaf1_ecx = 0xfffa3203,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xf1bf07ab,
     .leaf7_ecx = 0x00405fc6,
     .leaf7_1_eax = 0x00000030,
     .xcr0 = 0x7,
     .highest = DTI_LEVEL_AVX2,
     .cache_bytes = 32 * MIB},
    {.name = "Zen 5 under a system that keeps no mask registers",
     .max_leaf = 28,
     .leaf1_ecx = 0xfffa3203,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xf1bf07ab,
     .leaf7_ecx = 0x00405fc6,
     .leaf7_1_eax = 0x00000030,
     .xcr0 = 0xc7,
     .highest = DTI_LEVEL_AVX2,
     .cache_bytes = 32 * MIB},
    {.name = "Ice Lake, without BF16",
     .max_leaf = 27,
     .leaf1_ecx = 0x7ffefbff,
     .leaf7_ebx = 0xf2bf67eb,
     .leaf7_ecx = 0x00405f5e,
     .leaf7_1_eax = 0x00000020, /* not there: leaf7_eax is 0 */
     .xcr0 = 0xe7,
     .highest = DTI_LEVEL_AVX512VBMI,
     .cache_bytes = 32 * MIB},
    {.name = "Zen 5 with a subleaf of other instructions",
     .max_leaf = 28,
     .leaf1_ecx = 0xfffa3203,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xf1bf07ab,
     .leaf7_ecx = 0x00405fc6,
     .leaf7_1_eax = 0x00000010,
     .xcr0 = 0xe7,
     .highest = DTI_LEVEL_AVX512VBMI,
     .cache_bytes = 32 * MIB},
    {.name = "Cooper Lake, BF16 without VBMI",
     .max_leaf = 22,
     .leaf1_ecx = 0x7ffefbff,
     .leaf7_eax = 1,
     .leaf7_ebx = 0xd39ffffb,
     .leaf7_ecx = 0x00000808,
     .leaf7_1_eax = 0x00000020,
     .xcr0 = 0xff,
     .highest = DTI_LEVEL_AVX512,
     .cache_bytes = 32 * MIB},
    {.name = "Ice Lake without VNNI",
     .max_leaf = 27,
     .leaf1_ecx = 0x7ffefbff,
     .leaf7_ebx = 0xf2bf67eb,
     .leaf7_ecx = 0x0040575e,
     .xcr0 = 0xe7,
     .highest = DTI_LEVEL_AVX512,
     .cache_bytes = 32 * MIB},
    {.name = "a processor of 2003",
     .max_leaf = 1,
     .xgetbv_faults = true,
     .highest = DTI_LEVEL_SCALAR,
     .cache_bytes = 32 * MIB},
};

static const struct machine *machine;

static struct dti_cpuid recorded_cpuid(uint32_t leaf, uint32_t subleaf)
{
    const uint32_t caches = machine->caches_of_amd ? UINT32_C(0x8000001d) : 4;
    if (leaf == 0)
        return (struct dti_cpuid){.eax = machine->max_leaf};
    if (leaf == UINT32_C(0x80000000))
        return (struct dti_cpuid){.eax = machine->caches_of_amd ? UINT32_C(0x80000021)
                                                                : UINT32_C(0x80000008)};
    if (leaf == 1)
        return (struct dti_cpuid){.ecx = machine->leaf1_ecx};
    if (leaf == 7 && subleaf == 0)
        return (struct dti_cpuid){
            .eax = machine->leaf7_eax, .ebx = machine->leaf7_ebx, .ecx = machine->leaf7_ecx};
    if (leaf == 7 && subleaf == 1)
        return (struct dti_cpuid){.eax = machine->leaf7_1_eax};
    if (leaf == caches && subleaf < 4)
        return machine->cache[subleaf];
    return (struct dti_cpuid){.eax = 0};
}

static uint64_t recorded_xgetbv(void)
{
    CHECK(!machine->xgetbv_faults);
    return machine->xcr0;
}

static const struct dti_cpuid_source recorded = {.cpuid = recorded_cpuid,
                                                 .xgetbv = recorded_xgetbv};

static void levels_are_those_that_processor_and_system_allow(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    dti_cpuid_source = &recorded;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        machine = &machines[i];
        for (size_t l = 0; l < DTI_LEVEL_COUNT; l++) {
            const enum dti_level level = (enum dti_level)l;
            const bool x86 = level != DTI_LEVEL_SCALAR && level != DTI_LEVEL_NEON;
            if (x86 &&
                !CHECK(dti_level_present(level) == dti_level_includes(machine->highest, level)))
                printf("  %s, %s\n", machine->name, dti_level_name(level));
        }
    }
    dti_cpuid_source = before;
}

static void the_last_cache_is_read_from_the_processor(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    dti_cpuid_source = &recorded;
    machine = &machines[0];
    CHECK_SIZE(dti_last_cache_bytes(), machine->cache_bytes);
    CHECK_SIZE(dti_cache_bytes(1), 48 * 1024);
    CHECK_SIZE(dti_cache_bytes(2), MIB);
    CHECK_SIZE(dti_cache_bytes(3), machine->cache_bytes);
    machine = &machines[1];
    CHECK_SIZE(dti_last_cache_bytes(), machine->cache_bytes);
    CHECK_SIZE(dti_cache_bytes(1), 32 * 1024);
    dti_cpuid_source = NULL;
    CHECK(dti_last_cache_bytes() > 0);
    dti_cpuid_source = before;
}

static void a_limit_lowers_the_level_and_never_raises_it(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    enum dti_level level = DTI_LEVEL_COUNT;
    dti_cpuid_source = &recorded;
    machine = &machines[1];
    if (!dti_level_present(DTI_LEVEL_NEON)) {
        CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK && level == DTI_LEVEL_AVX512);
        CHECK(dti_level_choose("", &level, NULL) == DTI_OK && level == DTI_LEVEL_AVX512);
        CHECK(dti_level_choose("avx2", &level, NULL) == DTI_OK && level == DTI_LEVEL_AVX2);
        CHECK(dti_level_choose("avx512vbmi", &level, NULL) == DTI_OK && level == DTI_LEVEL_AVX512);
        level = DTI_LEVEL_COUNT;
        CHECK(dti_level_choose("neon", &level, NULL) == DTI_UNAVAILABLE &&
              level == DTI_LEVEL_COUNT);
    }
    CHECK(dti_level_choose("none", &level, NULL) == DTI_OK && level == DTI_LEVEL_SCALAR);
    CHECK(dti_level_choose("scalar", &level, NULL) == DTI_OK && level == DTI_LEVEL_SCALAR);
    dti_cpuid_source = before;
}

static void an_unknown_level_is_an_error_that_names_the_known(void)
{
    enum dti_level level = DTI_LEVEL_COUNT;
    struct dti_error error;
    CHECK(dti_level_choose("avx521", &level, &error) == DTI_BAD_ENVIRONMENT);
    CHECK_STR(error.text, "the CPU level in DTINFO_CPU 'avx521' is unknown; the levels are none, "
                          "scalar, avx2, avx512, avx512vbmi, avx512bf16, neon");
    CHECK_STR(error.suggestions[0], "avx512");
    CHECK(dti_level_lookup("AVX3", &level, &error) == DTI_BAD_VALUE);
    CHECK_STR(error.argument, "AVX3");
    CHECK(level == DTI_LEVEL_COUNT);
}

static void levels_have_names_and_a_ladder(void)
{
    for (size_t i = 0; i < DTI_LEVEL_COUNT; i++) {
        enum dti_level level = DTI_LEVEL_COUNT;
        const char *const name = dti_level_name((enum dti_level)i);
        CHECK(dti_level_lookup(name, &level, NULL) == DTI_OK && (size_t)level == i);
        CHECK(dti_level_meaning((enum dti_level)i)[0] != '\0');
        CHECK(dti_level_includes((enum dti_level)i, DTI_LEVEL_SCALAR));
        CHECK(dti_level_includes((enum dti_level)i, (enum dti_level)i));
    }
    CHECK(dti_level_includes(DTI_LEVEL_AVX512VBMI, DTI_LEVEL_AVX2));
    CHECK(!dti_level_includes(DTI_LEVEL_AVX2, DTI_LEVEL_AVX512));
    CHECK(!dti_level_includes(DTI_LEVEL_NEON, DTI_LEVEL_AVX2));
    CHECK(!dti_level_includes(DTI_LEVEL_AVX512, DTI_LEVEL_NEON));
    CHECK(!dti_level_includes(DTI_LEVEL_SCALAR, DTI_LEVEL_NEON));
}

UNIT_MAIN(levels_are_those_that_processor_and_system_allow,
          the_last_cache_is_read_from_the_processor, a_limit_lowers_the_level_and_never_raises_it,
          an_unknown_level_is_an_error_that_names_the_known, levels_have_names_and_a_ladder)
