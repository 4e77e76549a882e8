/* SPDX-License-Identifier: MIT
 *
 * CPU levels of other machines: the results of CPUID and XGETBV are replaced. Zen 5 is a recording
 * of the leaves that the levels read. The others combine the feature bits that vendor manuals list
 * for such processors, with variations. */
#include "kernels/cpu.h"

#include <string.h>

#include "kernels/cpuid.h"
#include "unit.h"

struct machine {
    const char *name;
    uint32_t max_leaf, leaf1_ecx, leaf7_eax, leaf7_ebx, leaf7_ecx, leaf7_edx;
    uint32_t leaf7_1_eax; /* of subleaf 1, which exists if leaf7_eax >= 1 */
    uint64_t xcr0;
    enum dti_level highest;
    bool avx_vnni;
};

#define FAULTS UINT64_MAX /* XGETBV must not be executed */

static const struct machine machines[] = {
#define MACHINE(n, leaf, c1, a7, b7, c7, d7, a71, x, level, vnni) \
    {.name = (n),                                                 \
     .max_leaf = (leaf),                                          \
     .leaf1_ecx = (c1),                                           \
     .leaf7_eax = (a7),                                           \
     .leaf7_ebx = (b7),                                           \
     .leaf7_ecx = (c7),                                           \
     .leaf7_edx = (d7),                                           \
     .leaf7_1_eax = (a71),                                        \
     .xcr0 = (x),                                                 \
     .highest = DTI_LEVEL_##level,                                \
     .avx_vnni = (vnni)},
#include "cpu_machines.def"
#undef MACHINE
};

/* Cache descriptions of two processors: the first uses AMD's leaf, the second Intel's. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { KIB = 1024, MIB = 1024 * KIB };

static const struct caches {
    struct dti_cpuid leaves[4];
    size_t bytes[3]; /* data cache size of each level */
} caches[] = {
    {{{0x00000121, 0x02c0003f, 0x0000003f, 0},
      {0x00000122, 0x01c0003f, 0x0000003f, 0}, /* 32 KiB, instruction cache */
      {0x00000143, 0x03c0003f, 0x000003ff, 0},
      {0x00004163, 0x03c0003f, 0x00007fff, 0}},
     {48 * KIB, MIB, 32 * MIB}},
    {{{0x1c004121, 0x01c0003f, 0x0000003f, 0},
      {0x1c004122, 0x01c0003f, 0x0000003f, 0},
      {0x1c004143, 0x03c0003f, 0x000003ff, 0},
      {0x1c03c163, 0x0280003f, 0x00006fff, 0x4}}, /* 19.25 MiB */
     {32 * KIB, MIB, (size_t)28672 * 11 * 64}},
};

static const struct machine *machine;

static struct dti_cpuid recorded_cpuid(uint32_t leaf, uint32_t subleaf)
{
    const size_t which = (size_t)(machine - machines);
    const bool amd = which == 0;
    if (leaf == 0)
        return (struct dti_cpuid){.eax = machine->max_leaf};
    if (leaf == UINT32_C(0x80000000))
        return (struct dti_cpuid){.eax = amd ? UINT32_C(0x80000021) : UINT32_C(0x80000008)};
    if (leaf == 1)
        return (struct dti_cpuid){.ecx = machine->leaf1_ecx};
    if (leaf == 7 && subleaf == 0)
        return (struct dti_cpuid){.eax = machine->leaf7_eax,
                                  .ebx = machine->leaf7_ebx,
                                  .ecx = machine->leaf7_ecx,
                                  .edx = machine->leaf7_edx};
    if (leaf == 7 && subleaf == 1)
        return (struct dti_cpuid){.eax = machine->leaf7_1_eax};
    if (leaf == (amd ? UINT32_C(0x8000001d) : 4) && which < COUNT(caches) && subleaf < 4)
        return caches[which].leaves[subleaf];
    return (struct dti_cpuid){.eax = 0};
}

static uint64_t recorded_xgetbv(void)
{
    CHECK(machine->xcr0 != FAULTS);
    return machine->xcr0;
}

static const struct dti_cpuid_source recorded = {.cpuid = recorded_cpuid,
                                                 .xgetbv = recorded_xgetbv};

static void levels_are_those_that_processor_and_system_allow(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    dti_cpuid_source = &recorded;
    for (size_t i = 0; i < COUNT(machines); i++) {
        machine = &machines[i];
        for (size_t l = 0; l < DTI_LEVEL_COUNT; l++) {
            const enum dti_level level = (enum dti_level)l;
            const bool x86 = level > DTI_LEVEL_SCALAR && level < DTI_LEVEL_NEON;
            if (x86 &&
                !CHECK(dti_level_present(level) == dti_level_includes(machine->highest, level)))
                printf("  %s, %s\n", machine->name, dti_level_name(level));
        }
        if (!CHECK(dti_unit_present(DTI_UNIT_AVX_VNNI) == machine->avx_vnni))
            printf("  %s, AVX-VNNI\n", machine->name);
    }
    dti_cpuid_source = before;
}

static void the_last_cache_is_read_from_the_processor(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    dti_cpuid_source = &recorded;
    for (size_t i = 0; i < COUNT(caches); i++) {
        machine = &machines[i];
        CHECK_SIZE(dti_last_cache_bytes(), caches[i].bytes[2]);
        for (size_t level = 0; level < 3; level++)
            CHECK_SIZE(dti_cache_bytes((unsigned)level + 1), caches[i].bytes[level]);
    }
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

static uint32_t signature;
static bool made_by_amd;

static struct dti_cpuid signed_cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct dti_cpuid r = {.eax = leaf == 0 ? 16 : signature};
    (void)subleaf;
    if (leaf == 0) {
        memcpy(&r.ebx, made_by_amd ? "Auth" : "Genu", 4);
        memcpy(&r.edx, made_by_amd ? "enti" : "ineI", 4);
        memcpy(&r.ecx, made_by_amd ? "cAMD" : "ntel", 4);
    }
    return r;
}

static void family_and_model_are_those_of_the_maker(void)
{
    static const struct {
        bool amd;
        uint32_t signature;
        unsigned family, model;
    } cases[] = {
        {true, 0x0000058c, 5, 8},    /* K6-2 */
        {true, 0x00040f32, 15, 67},  /* Athlon 64 */
        {true, 0x00830f10, 23, 49},  /* Zen 2 */
        {true, 0x00a20f10, 25, 33},  /* Zen 3 */
        {true, 0x00a10f11, 25, 17},  /* Zen 4 */
        {true, 0x00b40f40, 26, 68},  /* Zen 5 */
        {false, 0x00000543, 5, 4},   /* Pentium MMX */
        {false, 0x000206a7, 6, 42},  /* Sandy Bridge */
        {false, 0x000806f8, 6, 143}, /* Sapphire Rapids */
        {false, 0x000c06f2, 6, 207}, /* Emerald Rapids */
    };
    static const struct dti_cpuid_source source = {.cpuid = signed_cpuid};
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    unsigned model;
    dti_cpuid_source = &source;
    for (size_t i = 0; i < COUNT(cases); i++) {
        signature = cases[i].signature, made_by_amd = cases[i].amd;
        const char *const makers[] = {"GenuineIntel", "AuthenticAMD"};
        CHECK_SIZE(dti_cpu_family(makers[cases[i].amd], &model), cases[i].family);
        CHECK_SIZE(model, cases[i].model);
        CHECK_SIZE(dti_cpu_family(makers[!cases[i].amd], &model), 0);
    }
    dti_cpuid_source = NULL;
    CHECK_SIZE(dti_cpu_family("AuthenticAMD", &model), 0);
    dti_cpuid_source = before;
}

static void an_unknown_level_is_an_error_that_names_the_known(void)
{
    enum dti_level level = DTI_LEVEL_COUNT;
    struct dti_error error;
    CHECK(dti_level_choose("avx521", &level, &error) == DTI_BAD_ENVIRONMENT);
    CHECK_STR(error.text,
              "the CPU level in DTINFO_CPU 'avx521' is unknown; the levels are none, "
              "scalar, avx2, avx512, avx512vbmi, avx512bf16, amx, neon, neonfp16, neonbf16");
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
    CHECK(dti_level_includes(DTI_LEVEL_AMX, DTI_LEVEL_AVX512BF16));
    CHECK(dti_level_includes(DTI_LEVEL_NEONBF16, DTI_LEVEL_NEONFP16));
    CHECK(dti_level_includes(DTI_LEVEL_NEONFP16, DTI_LEVEL_NEON));
    CHECK(!dti_level_includes(DTI_LEVEL_NEON, DTI_LEVEL_NEONBF16));
    CHECK(!dti_level_includes(DTI_LEVEL_NEON, DTI_LEVEL_AMX));
    CHECK(!dti_level_includes(DTI_LEVEL_AVX2, DTI_LEVEL_AVX512));
    CHECK(!dti_level_includes(DTI_LEVEL_NEON, DTI_LEVEL_AVX2));
    CHECK(!dti_level_includes(DTI_LEVEL_AVX512, DTI_LEVEL_NEON));
    CHECK(!dti_level_includes(DTI_LEVEL_SCALAR, DTI_LEVEL_NEON));
}

UNIT_MAIN(levels_are_those_that_processor_and_system_allow,
          the_last_cache_is_read_from_the_processor, family_and_model_are_those_of_the_maker,
          a_limit_lowers_the_level_and_never_raises_it,
          an_unknown_level_is_an_error_that_names_the_known, levels_have_names_and_a_ladder)
