/* SPDX-License-Identifier: MIT
 *
 * Facts about CUDA devices from the fake driver and the fake NVML. Their absence is a valid result.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "child.h"
#include "devices/gpu/gpu.h"
#include "unit.h"

struct probe_case {
    const char *script, *library, *nvml, *nvml_script, *timeout;
};

static void put_number(FILE *out, const char *name, uint64_t number)
{
    if (number == DTI_UNKNOWN)
        fprintf(out, " %s=?", name);
    else
        fprintf(out, " %s=%llu", name, (unsigned long long)number);
}

static void body(FILE *out, const void *context)
{
    const struct probe_case *const given = context;
    struct dti_gpu_list list;
    setenv("DTINFO_LIBCUDA", given->library ? given->library : FAKE_CUDA_PATH, 1);
    setenv("DTINFO_LIBNVML", given->nvml ? given->nvml : "/nowhere/nvml", 1);
    setenv("DTINFO_CUDA_TIMEOUT", given->timeout ? given->timeout : "60", 1);
    setenv("FAKE_CUDA", given->script ? given->script : "", 1);
    setenv("FAKE_NVML", given->nvml_script ? given->nvml_script : "", 1);
    if (dti_gpu_probe(&list, NULL) != DTI_OK) {
        fprintf(out, "failed");
        return;
    }
    fprintf(out, "version=%u driver=%s why=%s\n", list.cuda_version, list.driver_version,
            list.why_not);
    for (size_t i = 0; i < list.count; i++) {
        const struct dti_gpu_facts *const gpu = &list.gpus[i];
        fprintf(out, "%s '%s' %u.%u pci=%s %s", gpu->id, gpu->name, gpu->major, gpu->minor,
                gpu->pci_id, gpu->uuid);
        put_number(out, "sms", gpu->multiprocessors);
        put_number(out, "memory", gpu->memory_bytes);
        put_number(out, "free", gpu->free_bytes);
        put_number(out, "l2", gpu->l2_bytes);
        put_number(out, "clock", gpu->clock_hz);
        put_number(out, "peak", gpu->peak_bytes_per_second);
        put_number(out, "link", gpu->pci_generation);
        put_number(out, "lanes", gpu->pci_width);
        put_number(out, "link_max", gpu->pci_generation_max);
        put_number(out, "lanes_max", gpu->pci_width_max);
        put_number(out, "numa", gpu->numa_node);
        put_number(out, "ecc", gpu->ecc);
        put_number(out, "power", gpu->power_limit_milliwatts);
        put_number(out, "engines", gpu->copy_engines);
        fprintf(out, "\n");
    }
    dti_gpu_list_free(&list);
}

static void check_probe(const struct probe_case *given, const char *want)
{
    struct child_result result;
    char quoted[DTI_QUOTE_SIZE], got[CHILD_OUTPUT];
    const char *const library = given->library ? given->library : FAKE_CUDA_PATH;
    child_run(&result, body, given, dti_gpu_hangs);
    CHECK(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0);
    const char *const at = strstr(result.output, dti_quote(quoted, library, strlen(library)));
    if (at)
        snprintf(got, sizeof got, "%.*sLIBRARY%s", (int)(at - result.output), result.output,
                 at + strlen(quoted));
    else
        snprintf(got, sizeof got, "%s", result.output);
    CHECK_STR(got, want);
}

static void both_libraries_tell_all(void)
{
    check_probe(&(struct probe_case){.nvml = FAKE_NVML_PATH},
                "version=13020 driver=580.159.03 why=\n"
                "cuda:0 'NVIDIA Pretend H200' 9.0 pci=0000:19:00.0 "
                "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f sms=132 memory=150323855360 "
                "free=149786984448 l2=62914560 clock=1980000000 peak=4916736000000 link=5 lanes=16 "
                "link_max=5 lanes_max=16 numa=0 ecc=1 power=700000 engines=5\n"
                "cuda:1 'NVIDIA Pretend T4' 7.5 pci=0000:4b:00.0 "
                "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f sms=40 memory=16106127360 "
                "free=16000000000 l2=4194304 clock=1590000000 peak=320064000000 link=1 lanes=8 "
                "link_max=3 lanes_max=16 numa=1 ecc=0 power=70000 engines=3\n");
}

static void driver_alone_tells_less(void)
{
    static const char want[] =
        "version=12080 driver= why=\n"
        "cuda:0 'NVIDIA Pretend H200' 9.0 pci=0000:19:00.0 "
        "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f sms=132 memory=150323855360 free=? "
        "l2=62914560 clock=1980000000 peak=4916736000000 link=? lanes=? link_max=? lanes_max=? "
        "numa=0 ecc=1 power=? engines=5\n";
    check_probe(&(struct probe_case){.script = "devices=1,version=12080"}, want);
    check_probe(&(struct probe_case){.script = "devices=1,version=12080",
                                     .nvml = FAKE_NVML_PATH,
                                     .nvml_script = "absent"},
                want);
    check_probe(&(struct probe_case){.script = "devices=1,version=12080",
                                     .nvml = FAKE_NVML_PATH,
                                     .nvml_script = "silent"},
                want);
    /* a library that exists but is not NVML: the driver */
    check_probe(&(struct probe_case){.script = "devices=1,version=12080", .nvml = FAKE_CUDA_PATH},
                want);
}

static void missing_functions_are_missing_facts(void)
{
    check_probe(&(struct probe_case){.script = "devices=1", .library = FAKE_CUDA_PLAIN_PATH},
                "version=13020 driver= why=\n"
                "cuda:0 'NVIDIA Pretend H200' 9.0 pci=  sms=132 memory=150323855360 free=? "
                "l2=62914560 clock=1980000000 peak=4916736000000 link=? lanes=? link_max=? "
                "lanes_max=? numa=0 ecc=1 power=? engines=5\n");
    check_probe(&(struct probe_case){.script = "devices=1,fail=cuDeviceGetAttribute:1+:1,"
                                               "fail=cuDeviceGetName:1:1,"
                                               "fail=cuDeviceTotalMem_v2:1:1"},
                "version=13020 driver= why=\n"
                "cuda:0 '' 0.0 pci=0000:19:00.0 GPU-00010203-0405-0607-0809-0a0b0c0d0e0f sms=? "
                "memory=? free=? l2=? clock=? peak=? link=? lanes=? link_max=? lanes_max=? numa=? "
                "ecc=? power=? engines=?\n");
    /* without its minor number, the compute capability is unknown */
    check_probe(&(struct probe_case){.script = "devices=1,fail=cuDeviceGetAttribute:2:1"},
                "version=13020 driver= why=\n"
                "cuda:0 'NVIDIA Pretend H200' 0.0 pci=0000:19:00.0 "
                "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f sms=132 memory=150323855360 free=? "
                "l2=62914560 clock=1980000000 peak=4916736000000 link=? lanes=? link_max=? "
                "lanes_max=? numa=0 ecc=1 power=? engines=5\n");
    check_probe(&(struct probe_case){.script = "devices=1,fail=cuDeviceGet:1:999"},
                "version=13020 driver= why=the CUDA devices are no longer available\n");
}

static void no_device_is_an_answer(void)
{
    check_probe(&(struct probe_case){.library = "/nowhere/libcuda.so.1"},
                "version=0 driver= why=LIBRARY: not found\n");
    check_probe(
        &(struct probe_case){.library = "libcuda.so"},
        "version=0 driver= why=DTINFO_LIBCUDA is LIBRARY, which is not a path: it has no slash\n");
    check_probe(&(struct probe_case){.script = "devices=0,version=12080"},
                "version=12080 driver= why=LIBRARY: no CUDA device: CUDA error 100 (no device)\n");
    check_probe(&(struct probe_case){.script = "hang=cuInit:1", .timeout = "0.1"},
                "version=0 driver= why=the CUDA driver did not answer within 0.1 s; "
                "DTINFO_CUDA_TIMEOUT sets the limit\n");
    check_probe(&(struct probe_case){.library = FAKE_CUDA_OLD_PATH, .script = "version=9010"},
                "version=9010 driver= why=LIBRARY (CUDA 9.1): has no function cuStreamQuery; CUDA "
                "10.0 or newer is required\n");
}

static void a_count_beyond_reason_is_no_lack_of_memory(void)
{
    static const char want[] =
        "version=13020 driver= why=\n"
        "cuda:0 'NVIDIA Pretend H200' 9.0 pci=0000:19:00.0 "
        "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f sms=132 memory=150323855360 free=? "
        "l2=62914560 clock=1980000000 peak=4916736000000 link=? lanes=? link_max=? lanes_max=? "
        "numa=0 ecc=1 power=? engines=5\n";
    check_probe(&(struct probe_case){.script = "devices=1,count=2147483647"}, want);
}

UNIT_MAIN(both_libraries_tell_all, driver_alone_tells_less, missing_functions_are_missing_facts,
          no_device_is_an_answer, a_count_beyond_reason_is_no_lack_of_memory)
