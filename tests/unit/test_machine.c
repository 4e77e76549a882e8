/* SPDX-License-Identifier: MIT
 *
 * Machines described by files in a test folder: valid information is parsed, nonsense is treated as
 * unknown, and only regular files are opened. */
#include "devices/machine/machine.h"

#include <stdlib.h>

#include "folder.h"
#include "util/run/parallel.h"

enum { MADE_MAX = 256 };
static char *made[MADE_MAX]; /* paths in creation order */
static size_t made_count;

static void remember(const char *path)
{
    if (CHECK(made_count < MADE_MAX))
        made[made_count++] = strdup(path);
}

static void put(const char *path, const char *text)
{
    char folder[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0755) == 0)
            remember(folder);
    }
    file_make(path, text, strlen(text));
    remember(path);
}

static void clear(void)
{
    while (made_count > 0) {
        if (unlink(made[--made_count]) != 0)
            (void)rmdir(made[made_count]);
        free(made[made_count]);
    }
}

/* Reads the machine from the files created so far, then removes them. */
static struct dti_machine machine_of(void)
{
    struct dti_machine machine;
    struct dti_error error = {.text = ""};
    memset(&machine, 0, sizeof machine);
    if (!CHECK(dti_machine_read(&machine, ".", &error) == DTI_OK))
        printf("%s\n", error.text);
    clear();
    return machine;
}

#define CPU "sys/devices/system/cpu/"

static void put_cpu(unsigned cpu, const char *core, const char *package)
{
    char path[128];
    snprintf(path, sizeof path, CPU "cpu%u/topology/core_cpus_list", cpu);
    put(path, core);
    snprintf(path, sizeof path, CPU "cpu%u/topology/package_cpus_list", cpu);
    put(path, package);
}

static void put_cache(unsigned cpu, unsigned index, const char *level, const char *type,
                      const char *size, const char *shared)
{
    static const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
    const char *const texts[] = {level, type, size, shared};
    for (size_t i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof path, CPU "cpu%u/cache/index%u/%s", cpu, index, names[i]);
        put(path, texts[i]);
    }
}

static void groups_are_counted_by_their_first_members(void)
{
    put("proc/cpuinfo", "flags : lm\n");
    put(CPU "online", "0-3\n");
    put_cpu(0, "0,2", "0,2");
    put_cpu(1, "1,3", "1,3");
    put_cpu(2, "0,2", "0,2");
    put_cpu(3, "1,3", "1,3");
    put_cache(0, 0, "1", "Data", "48K", "0,2");
    put_cache(1, 0, "1", "Data", "48K", "1,3");
    put_cache(2, 0, "1", "Data", "48K", "0,2");
    put_cache(3, 0, "1", "Data", "48K", "1,3");
    put_cache(0, 1, "3", "Unified", "32M", "0-3");
    const struct dti_machine machine = machine_of();
    CHECK_U64(machine.threads, 4);
    CHECK_U64(machine.cores, 2);
    CHECK_U64(machine.sockets, 2);
    CHECK_SIZE(machine.cache_count, 2);
    CHECK_U64(machine.caches[0].bytes, 48 << 10);
    CHECK_U64(machine.caches[0].count, 2);
    CHECK_U64(machine.caches[0].shared_cpus, 2);
    CHECK_U64(machine.caches[0].line_bytes, DTI_UNKNOWN);
    CHECK_U64(machine.caches[1].bytes, 32 << 20);
    CHECK_U64(machine.caches[1].count, 1);
}

/* A container may be limited to some CPUs while its lists still name all of them. */
static void groups_whose_first_member_is_off_count_too(void)
{
    put("proc/cpuinfo", "flags : lm\n");
    put(CPU "online", "2-3,6\n");
    put_cpu(2, "0,2", "0-7");
    put_cpu(3, "1,3", "0-7");
    put_cpu(6, "6", "0-7");
    const struct dti_machine machine = machine_of();
    CHECK_U64(machine.threads, 3);
    CHECK_U64(machine.cores, 3);
    CHECK_U64(machine.sockets, 1);
}

static void one_missing_list_makes_a_count_unknown(void)
{
    put("proc/cpuinfo", "flags : lm\n");
    put(CPU "online", "0-1\n");
    put_cpu(0, "0", "0-1");
    put_cpu(1, "nonsense", "0-1");
    const struct dti_machine machine = machine_of();
    CHECK_U64(machine.cores, DTI_UNKNOWN);
    CHECK_U64(machine.sockets, 1);
}

static void lists_that_make_no_sense_are_unknown(void)
{
    static const char *const lists[] = {"",        "-1",
                                        "3-1",     "0-",
                                        "0,",      "0 1",
                                        "0-16384", "0-1x",
                                        "0--1",    "18446744073709551616",
                                        "a",       "0-99999999999999999999",
                                        ",0",      "0-1-2"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        put("proc/cpuinfo", "processor : 0\nflags : lm\n");
        put(CPU "online", lists[i]);
        const struct dti_machine machine = machine_of();
        if (!CHECK_U64(machine.threads, 1)) /* from cpuinfo */
            printf("list '%s'\n", lists[i]);
    }
    put("proc/cpuinfo", "flags : lm\n");
    put(CPU "online", "0-16383");
    CHECK_U64(machine_of().threads, 16384);
}

static void numbers_that_make_no_sense_are_unknown(void)
{
    put("proc/cpuinfo", "flags : lm\nmodel : 12abc\nmodel name : \t two  words \t\n"
                        "cpu family : 99999999999999999999\nstepping : -1\n");
    put("proc/meminfo", "MemTotal: 18014398509481984 kB\nMemAvailable: 7 MB\n");
    put(CPU "online", "0");
    put_cache(0, 0, "1", "Data", "99999999999999999999K", "0");
    put_cache(0, 1, "0", "Data", "1K", "0");
    put_cache(0, 2, "2", "Odd", "1K", "0");
    put_cache(0, 3, "2", "Unified", "17179869184G", "0");
    put(CPU "cpu0/cpufreq/cpuinfo_max_freq", "18446744073709551615");
    put(CPU "cpu0/cpufreq/base_frequency", "0");
    const struct dti_machine machine = machine_of();
    CHECK_STR(machine.model, "two words");
    CHECK_U64(machine.family, DTI_UNKNOWN);
    CHECK_U64(machine.stepping, DTI_UNKNOWN);
    CHECK_U64(machine.memory_bytes, DTI_UNKNOWN);
    CHECK_U64(machine.available_bytes, DTI_UNKNOWN);
    CHECK_SIZE(machine.cache_count, 2);
    CHECK_U64(machine.caches[0].bytes, DTI_UNKNOWN);
    CHECK_U64(machine.caches[1].bytes, DTI_UNKNOWN);
    CHECK_U64(machine.max_hz, DTI_UNKNOWN);
    CHECK_U64(machine.base_hz, DTI_UNKNOWN);
}

static void limit_of_a_control_group_is_the_least_of_those_around_it(void)
{
    put("proc/cpuinfo", "flags : lm\n");
    put("proc/self/cgroup", "12:cpu:/other\n0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "1048576\n");
    put("sys/fs/cgroup/memory.max", "4194304\n");
    CHECK_U64(machine_of().memory_limit_bytes, 1048576);

    put("proc/cpuinfo", "flags : lm\n");
    put("proc/self/cgroup", "4:memory:/x\n");
    put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_U64(machine_of().memory_limit_bytes, DTI_UNKNOWN);

    put("proc/cpuinfo", "flags : lm\n");
    put("proc/self/cgroup", "0::/../etc\n0:\n:::::\n0::x\n");
    put("sys/fs/cgroup/memory.max", "4096\n");
    put("etc/memory.max", "1\n");
    CHECK_U64(machine_of().memory_limit_bytes, DTI_UNKNOWN);
}

static void flags_count_as_whole_words(void)
{
    put("proc/cpuinfo",
        "flags\t\t: lm avx512_bf16x f16c xavx2 sse2\n\nprocessor : 1\nflags : avx2\n");
    const struct dti_machine machine = machine_of();
    CHECK(machine.isa == DTI_ISA_X86_64);
    CHECK_STR(machine.architecture, "x86_64");
    CHECK(machine.has[DTI_HAS_F16C]);
    CHECK(!machine.has[DTI_HAS_AVX512_BF16]);
    CHECK(!machine.has[DTI_HAS_AVX2]); /* the second CPU lacks it */
    CHECK(machine.has[DTI_HAS_SSE2]);
    CHECK(!machine.has[DTI_HAS_ASIMD]);
}

/* Feature bits with and without system support for the registers. */
static void instruction_sets_need_registers_that_the_system_keeps(void)
{
    static const struct {
        const char *kept;
        bool avx2, avx512, amx;
    } cases[] = {
        {"   xcr0=0x00000000000602e7\n", true, true, true},
        {"   xcr0=0x00000000000000e7\n", true, true, false},
        {"   xcr0=0x0000000000000007\n", true, false, false},
        {"   xcr0=0x0000000000000003\n", false, false, false},
        {"   xcr0=nothing\n", false, false, false},
        {"", false, false, false},
    };
    static const char leaves[] =
        "CPU 0:\n"
        "   0x00000000 0x00: eax=0x0000001e ebx=0x756e6547 ecx=0x6c65746e edx=0x49656e69\n"
        "   0x00000001 0x00: eax=0x000806f8 ebx=0x00000000 ecx=0x38001000 edx=0x04000000\n"
        "   0x00000007 0x00: eax=0x00000001 ebx=0x00010020 ecx=0x00000000 edx=0x01000000\n"
        "   0x00000007 0x01: eax=0x00000020 ebx=0x00000000 ecx=0x00000000 edx=0x00000000\n"
        "   0x0000001e 0x01: eax=0x00000050 ebx=0x00000000 ecx=0x00000000 edx=0x00000000\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%sCPU 1:\n   xcr0=0xffffffff\n", leaves, cases[i].kept);
        put("cpuid", text);
        const struct dti_machine machine = machine_of();
        CHECK(machine.isa == DTI_ISA_X86_64);
        CHECK(machine.has[DTI_HAS_AVX2] == cases[i].avx2);
        CHECK(machine.has[DTI_HAS_FMA] == cases[i].avx2);
        CHECK(machine.has[DTI_HAS_AVX512F] == cases[i].avx512);
        CHECK(machine.has[DTI_HAS_AVX512_BF16] == cases[i].avx512);
        CHECK(machine.has[DTI_HAS_AMX_TILE] == cases[i].amx);
        CHECK(!machine.has[DTI_HAS_AMX_FP8]); /* subleaf 1 exceeds the maximum given in subleaf 0 */
        CHECK_STR(machine.vendor, "GenuineIntel");
        CHECK_U64(machine.family, 6);
        CHECK_U64(machine.model_number, 0x8f);
        CHECK_U64(machine.stepping, 8);
    }
    /* without the xcr0 line, the flags of cpuinfo count */
    put("cpuid", leaves);
    put("proc/cpuinfo", "flags : lm avx avx512f\n");
    const struct dti_machine machine = machine_of();
    CHECK(machine.has[DTI_HAS_AVX512F] && !machine.has[DTI_HAS_AMX_TILE]);
}

static void leaves_beyond_the_last_are_not_asked(void)
{
    put("cpuid", "   0x00000000 0x00: eax=0x00000006 ebx=0x0 ecx=0x0 edx=0x0\n"
                 "   0x00000007 0x00: eax=0x00000001 ebx=0xffffffff ecx=0xffffffff edx=0xffffffff\n"
                 "   0x80000000 0x00: eax=0x80000001 ebx=0x0 ecx=0x0 edx=0x0\n"
                 "   0x80000002 0x00: eax=0x41414141 ebx=0x41414141 ecx=0x41414141 edx=0x41414141\n"
                 "   xcr0=0xffffffffffffffff\n");
    const struct dti_machine machine = machine_of();
    CHECK(!machine.has[DTI_HAS_AVX2]);
    CHECK_STR(machine.model, "");
}

static void a_processor_of_arm_has_the_names_of_its_numbers(void)
{
    put("proc/cpuinfo", "processor : 0\nFeatures : fp asimd asimdhp bf16\nCPU implementer : 0x41\n"
                        "CPU variant : 0x0\nCPU part : 0xd4f\nCPU revision : 1\n");
    struct dti_machine machine = machine_of();
    CHECK(machine.isa == DTI_ISA_AARCH64);
    CHECK_STR(machine.vendor, "Arm");
    CHECK_STR(machine.model, "Neoverse-V2");
    CHECK(machine.has[DTI_HAS_BF16] && machine.has[DTI_HAS_ASIMDHP] && !machine.has[DTI_HAS_SVE]);
    put("proc/cpuinfo", "Features : asimd\nCPU implementer : 0xfe\nCPU part : 0xfff\n");
    machine = machine_of();
    CHECK_STR(machine.vendor, "");
    CHECK_STR(machine.model, "");
    CHECK_U64(machine.model_number, 0xfff);
}

static void what_is_no_recording_is_named(void)
{
    struct dti_machine machine;
    struct dti_error error;
    CHECK(dti_machine_read(&machine, "none", &error) == DTI_BAD_INPUT);
    CHECK(strncmp(error.text, "'none': ", 8) == 0);
    CHECK(dti_machine_read(&machine, ".", &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text,
              "'.' is not a recording of a machine: it has neither 'cpuid' nor 'proc/cpuinfo'");
    CHECK(mkfifo("cpuid", 0644) == 0 && mkdir("proc", 0755) == 0 &&
          mkdir("proc/cpuinfo", 0755) == 0);
    CHECK(dti_machine_read(&machine, ".", &error) == DTI_BAD_INPUT);
    CHECK(rmdir("proc/cpuinfo") == 0 && symlink("/proc/cpuinfo", "proc/cpuinfo") == 0);
    CHECK(dti_machine_read(&machine, ".", &error) == DTI_BAD_INPUT);
    CHECK(unlink("proc/cpuinfo") == 0 && rmdir("proc") == 0 && unlink("cpuid") == 0);
}

static void this_machine_is_known(void)
{
    struct dti_machine machine;
    CHECK(dti_machine_read(&machine, NULL, NULL) == DTI_OK);
    CHECK(machine.isa != DTI_ISA_NONE);
    CHECK(machine.architecture[0] != '\0');
    CHECK_U64(machine.allowed_cpus, dti_cpu_count());
}

/* folder_enter() once for all tests; every test removes its files. */
static void begin(void)
{
    folder_enter();
}

static void end(void)
{
    CHECK_SIZE(folder_leave(), 0);
}

UNIT_MAIN(begin, groups_are_counted_by_their_first_members,
          groups_whose_first_member_is_off_count_too, one_missing_list_makes_a_count_unknown,
          lists_that_make_no_sense_are_unknown, numbers_that_make_no_sense_are_unknown,
          limit_of_a_control_group_is_the_least_of_those_around_it, flags_count_as_whole_words,
          instruction_sets_need_registers_that_the_system_keeps,
          leaves_beyond_the_last_are_not_asked, a_processor_of_arm_has_the_names_of_its_numbers,
          what_is_no_recording_is_named, this_machine_is_known, end)
