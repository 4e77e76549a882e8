/* SPDX-License-Identifier: MIT
 *
 * CPU levels by name, what the processor and the operating system support, and the size of the
 * last-level cache. A level is available if the CPU has all its instructions and the operating
 * system saves the registers they use. */
#define _DEFAULT_SOURCE /* syscall() */
#include "kernels/cpu.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

#include "kernels/cpuid.h"
#include "util/text/nearest.h"

static const struct {
    const char *name, *architecture, *meaning;
} levels[DTI_LEVEL_COUNT] = {
#define LEVEL(id, nm, arch, what) \
    [DTI_LEVEL_##id] = {.name = nm, .architecture = arch, .meaning = what},
#include "kernels/levels.def"
#undef LEVEL
};

const char *dti_level_name(enum dti_level level)
{
    return levels[level].name;
}

const char *dti_level_meaning(enum dti_level level)
{
    return levels[level].meaning;
}

static enum dti_status lookup(const char *name, enum dti_status status, const char *what,
                              enum dti_level *ret_level, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], list[256] = "none";
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, strlen(name));
    dti_nearest_offer(&nearest, "none");
    for (size_t i = 0; i < DTI_LEVEL_COUNT; i++) {
        if (strcmp(name, levels[i].name) == 0) {
            *ret_level = (enum dti_level)i;
            return DTI_OK;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ", %s", levels[i].name);
        dti_nearest_offer(&nearest, levels[i].name);
    }
    if (strcmp(name, "none") == 0) {
        *ret_level = DTI_LEVEL_SCALAR;
        return DTI_OK;
    }
    dti_fail(reterr, status, "%s %s is unknown; the levels are %s", what,
             dti_quote(quoted, name, strlen(name)), list);
    dti_error_argument(reterr, name, strlen(name));
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
    return status;
}

enum dti_status dti_level_lookup(const char *name, enum dti_level *ret_level,
                                 struct dti_error *reterr)
{
    return lookup(name, DTI_BAD_VALUE, "CPU level", ret_level, reterr);
}

bool dti_level_includes(enum dti_level allowed, enum dti_level needed)
{
    if (needed == DTI_LEVEL_SCALAR)
        return true;
    return needed <= allowed &&
           strcmp(levels[needed].architecture, levels[allowed].architecture) == 0;
}

#if defined __x86_64__
static const char architecture[] = "x86_64";
#elif defined __aarch64__
static const char architecture[] = "aarch64";
#else
static const char architecture[] = "";
#endif

bool dti_level_is_built(enum dti_level level)
{
    return level == DTI_LEVEL_SCALAR || strcmp(levels[level].architecture, architecture) == 0;
}

/* Whether a level belongs to this architecture, present or not. */
static bool is_of_here(enum dti_level level, enum dti_level highest)
{
    return dti_level_is_built(level) ||
           strcmp(levels[level].architecture, levels[highest].architecture) == 0;
}

enum dti_status dti_level_choose(const char *limit, enum dti_level *ret_level,
                                 struct dti_error *reterr)
{
    enum dti_level highest = DTI_LEVEL_SCALAR, most;
    for (size_t i = 0; i < DTI_LEVEL_COUNT; i++) {
        if (dti_level_present((enum dti_level)i))
            highest = (enum dti_level)i;
    }
    if (limit && limit[0] != '\0') {
        const enum dti_status status =
            lookup(limit, DTI_BAD_ENVIRONMENT, "the CPU level in DTINFO_CPU", &most, reterr);
        if (status != DTI_OK)
            return status;
        if (!is_of_here(most, highest)) {
            (void)dti_fail(
                reterr, DTI_UNAVAILABLE,
                "DTINFO_CPU is '%s', a level of other CPUs (%s); the highest level here is %s",
                levels[most].name, levels[most].architecture, levels[highest].name);
            dti_error_argument(reterr, limit, strlen(limit));
            return DTI_UNAVAILABLE;
        }
        if (dti_level_includes(highest, most))
            highest = most;
    }
    *ret_level = highest;
    return DTI_OK;
}

#if defined __x86_64__ && (defined __GNUC__ || defined __clang__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

static struct dti_cpuid run_cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct dti_cpuid r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
}

/* The intrinsic would need -mxsave for the whole file. */
static uint64_t run_xgetbv(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

#ifdef __linux__
/* Runs once per process, because the answer does not change. The permission makes signal frames
 * larger, so it is requested only when tiles are about to be used. */
static int run_permit(unsigned component)
{
    enum { REQUEST = 0x1023 /* ARCH_REQ_XCOMP_PERM of Linux 5.16 */ };
    static _Atomic int answer = -1;
    int known = atomic_load(&answer);
    if (known < 0) {
        known = syscall(SYS_arch_prctl, REQUEST, (unsigned long)component) == 0 ? 0 : errno;
        atomic_store(&answer, known);
    }
    return known;
}
#else
static int run_permit(unsigned component)
{
    (void)component;
    return ENOSYS;
}
#endif

static const struct dti_cpuid_source processor = {
    .cpuid = run_cpuid, .xgetbv = run_xgetbv, .permit = run_permit};
#define OWN_SOURCE (&processor)
#else
#define OWN_SOURCE NULL
#endif
const struct dti_cpuid_source *dti_cpuid_source = OWN_SOURCE;

/* Bits of CPUID, Intel SDM volume 2A and AMD APM volume 3, appendix E. */
enum {
    LEAF_FEATURES = 1,
    LEAF_EXTENDED_FEATURES = 7,
    LEAF_CACHES_INTEL = 4,
    FEATURES_ECX =
        1 << 12 /* FMA */ | 1 << 27 /* OSXSAVE */ | 1 << 28 /* AVX */ | 1 << 29 /* F16C */,
    AVX2_EBX = 1 << 3 /* BMI1 */ | 1 << 5 /* AVX2 */ | 1 << 8 /* BMI2 */,
    VBMI_ECX = 1 << 1 /* VBMI */ | 1 << 6 /* VBMI2 */ | 1 << 11 /* VNNI */ | 1 << 12 /* BITALG */,
    AVX_VNNI_EAX = 1 << 4, /* of subleaf 1 */
    BF16_EAX = 1 << 5,     /* of subleaf 1 */
    XCR0_YMM = 0x06,       /* SSE and AVX state */
    AMX_EDX = 1 << 22 /* BF16 */ | 1 << 24 /* TILE */ | 1 << 25 /* INT8 */,
    XCR0_ZMM = 0xe6,      /* plus masks, upper halves and upper registers */
    XCR0_TILES = 0x60000, /* tile configuration and tile data, */
    TILE_DATA = 18,       /* the larger of the two */
};
#define AVX512_EBX                                                                         \
    (UINT32_C(1) << 16 /* F */ | UINT32_C(1) << 17 /* DQ */ | UINT32_C(1) << 28 /* CD */ | \
     UINT32_C(1) << 30 /* BW */ | UINT32_C(1) << 31 /* VL */)
#define LEAF_EXTENDED   UINT32_C(0x80000000)
#define LEAF_CACHES_AMD UINT32_C(0x8000001d)

static bool has(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

/* The levels, and after them the units, that are present, as bits. */
#define LEVEL_BIT(level) (UINT32_C(1) << (level))
#define UNIT_BIT(unit)   (UINT32_C(1) << (DTI_LEVEL_COUNT + (unit)))
#define ASKED            (UINT32_C(1) << 31)
_Static_assert((int)DTI_LEVEL_COUNT + (int)DTI_UNIT_AVX_VNNI < 31, "one bit for each");

static uint32_t ask_x86(const struct dti_cpuid_source *source)
{
    if (source->cpuid(0, 0).eax < LEAF_EXTENDED_FEATURES)
        return 0;
    const struct dti_cpuid basic = source->cpuid(LEAF_FEATURES, 0);
    const struct dti_cpuid extended = source->cpuid(LEAF_EXTENDED_FEATURES, 0);
    if (!has(basic.ecx, FEATURES_ECX) || !has(extended.ebx, AVX2_EBX))
        return 0;
    /* subleaf 0 reports whether subleaf 1 exists */
    const uint32_t more = extended.eax >= 1 ? source->cpuid(LEAF_EXTENDED_FEATURES, 1).eax : 0;
    const uint64_t kept = source->xgetbv();
    const bool avx2 = (kept & XCR0_YMM) == XCR0_YMM;
    const bool avx512 = avx2 && (kept & XCR0_ZMM) == XCR0_ZMM && has(extended.ebx, AVX512_EBX);
    const bool vbmi = avx512 && has(extended.ecx, VBMI_ECX);
    const bool bf16 = vbmi && has(more, BF16_EAX);
    const bool amx = bf16 && has(extended.edx, AMX_EDX) && (kept & XCR0_TILES) == XCR0_TILES;
    return (avx2 ? LEVEL_BIT(DTI_LEVEL_AVX2) : 0) | (avx512 ? LEVEL_BIT(DTI_LEVEL_AVX512) : 0) |
           (vbmi ? LEVEL_BIT(DTI_LEVEL_AVX512VBMI) : 0) |
           (bf16 ? LEVEL_BIT(DTI_LEVEL_AVX512BF16) : 0) | (amx ? LEVEL_BIT(DTI_LEVEL_AMX) : 0) |
           (avx2 && has(more, AVX_VNNI_EAX) ? UNIT_BIT(DTI_UNIT_AVX_VNNI) : 0);
}

/* A virtual machine takes microseconds for each CPUID, so the processor is asked once. */
static uint32_t x86_present(void)
{
    static _Atomic uint32_t present;
    const struct dti_cpuid_source *const source = dti_cpuid_source;
    uint32_t bits = source == OWN_SOURCE ? atomic_load(&present) : 0;
    if (bits == 0 && source) {
        bits = ask_x86(source) | ASKED;
        if (source == OWN_SOURCE)
            atomic_store(&present, bits);
    }
    return bits;
}

#if defined __aarch64__
static bool arm_present(enum dti_level level)
{
    if (level == DTI_LEVEL_NEON)
        return true;
#ifdef __linux__
    enum { FP16 = 3 << 9 /* HWCAP_FPHP, HWCAP_ASIMDHP */, BF16 = 1 << 14 /* HWCAP2_BF16 */ };
    const bool fp16 = (getauxval(AT_HWCAP) & FP16) == FP16;
    return fp16 && (level == DTI_LEVEL_NEONFP16 || (getauxval(AT_HWCAP2) & BF16) != 0);
#else
    return false;
#endif
}
#else
static bool arm_present(enum dti_level level)
{
    (void)level;
    return false;
}
#endif

bool dti_level_present(enum dti_level level)
{
    if (level == DTI_LEVEL_SCALAR)
        return true;
    if (level >= DTI_LEVEL_NEON)
        return arm_present(level);
    return (x86_present() & LEVEL_BIT(level)) != 0;
}

bool dti_unit_present(enum dti_unit unit)
{
    if (unit == DTI_UNIT_NONE)
        return true;
    return (x86_present() & UNIT_BIT(unit)) != 0;
}

/* Function 0 has the maker's name, function 1 the family and the model in EAX: AMD APM volume 3,
 * appendix E; Intel SDM volume 2A, CPUID, figure 3-6. */
unsigned dti_cpu_family(const char *maker, unsigned *ret_model)
{
    const struct dti_cpuid_source *const source = dti_cpuid_source;
    *ret_model = 0;
    if (!source)
        return 0;
    const struct dti_cpuid found = source->cpuid(0, 0);
    if (memcmp(&found.ebx, maker, 4) != 0 || memcmp(&found.edx, maker + 4, 4) != 0 ||
        memcmp(&found.ecx, maker + 8, 4) != 0)
        return 0;
    const uint32_t signature = source->cpuid(LEAF_FEATURES, 0).eax, base = signature >> 8 & 15;
    *ret_model = (signature >> 4 & 15) + (base == 15 || base == 6 ? signature >> 12 & 0xf0 : 0);
    return base == 15 ? base + (signature >> 20 & 255) : base;
}

bool dti_level_permitted(enum dti_level level, const char **ret_why)
{
    if (level != DTI_LEVEL_AMX)
        return true;
    const int refusal = dti_level_present(level) ? dti_cpuid_source->permit(TILE_DATA) : ENODEV;
    switch (refusal) {
    case 0:
        return true;
    case ENODEV:
        *ret_why = "needs the CPU level amx";
        break;
    case EPERM:
    case EACCES:
        *ret_why = "the system denies this process the tile registers of AMX";
        break;
    case ENOSPC:
        *ret_why = "a signal stack is too small for the tile registers of AMX";
        break;
    default:
        *ret_why = "the system cannot hand out the tile registers of AMX";
    }
    return false;
}

/* Locks and atomics alone do not order streaming stores. */
void dti_stores_order(void)
{
#if defined __x86_64__ && defined __GNUC__
    __asm__ volatile("sfence" ::: "memory");
#endif
}

/* The largest cache of a level (0: any level) among the deterministic cache parameters, which
 * Intel and AMD report in the same layout in two different leaves; 0 if not reported. */
static uint64_t x86_cache_bytes(unsigned level)
{
    const struct dti_cpuid_source *const source = dti_cpuid_source;
    uint64_t most = 0;
    if (!source)
        return 0;
    const bool amd = source->cpuid(LEAF_EXTENDED, 0).eax >= LEAF_CACHES_AMD;
    const bool intel = source->cpuid(0, 0).eax >= LEAF_CACHES_INTEL;
    for (int pass = 0; pass < 2; pass++) {
        if (!(pass == 0 ? intel : amd))
            continue;
        for (uint32_t i = 0; i < 8; i++) {
            const struct dti_cpuid r =
                source->cpuid(pass == 0 ? (uint32_t)LEAF_CACHES_INTEL : LEAF_CACHES_AMD, i);
            const uint32_t type = r.eax & 31; /* 0: end of list; 1: data; 2: instructions; 3:
                                               * unified */
            if (type == 0 || type > 3)
                break;
            if (type == 2 || (level > 0 && (r.eax >> 5 & 7) != level))
                continue;
            const uint64_t line = (r.ebx & 0xfff) + UINT64_C(1);
            const uint64_t partitions = (r.ebx >> 12 & 0x3ff) + UINT64_C(1);
            const uint64_t ways = (r.ebx >> 22) + UINT64_C(1);
            const uint64_t bytes = line * partitions * ways * (r.ecx + UINT64_C(1));
            if (bytes > most)
                most = bytes;
        }
    }
    return most;
}

size_t dti_cache_bytes(unsigned level)
{
    const uint64_t reported = x86_cache_bytes(level);
    if (reported > 0 && reported <= SIZE_MAX)
        return (size_t)reported;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    if (level >= 1 && level <= 3) {
        const long bytes = sysconf(names[level - 1]);
        return bytes > 0 ? (size_t)bytes : 0;
    }
#endif
    return 0;
}

size_t dti_last_cache_bytes(void)
{
    const uint64_t reported = x86_cache_bytes(0);
    if (reported > 0 && reported <= SIZE_MAX)
        return (size_t)reported;
    for (unsigned level = 3; level >= 2; level--) {
        const size_t bytes = dti_cache_bytes(level);
        if (bytes > 0)
            return bytes;
    }
    return (size_t)32 << 20;
}
