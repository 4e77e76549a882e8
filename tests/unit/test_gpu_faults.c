/* SPDX-License-Identifier: MIT
 *
 * A failing CUDA driver and the error messages: what is missing, and what the user can do. */
#define _POSIX_C_SOURCE 200809L
#include "gpu_run.h"

/* The library's path depends on the build folder, so `want` contains LIBRARY instead. */
static void check_run(const char *script, const char *library, bool launch, const char *want)
{
    struct child_result result;
    const struct run run = {.script = script, .library = library, .launch = launch};
    char quoted[DTI_QUOTE_SIZE], got[CHILD_OUTPUT];
    const char *const output = run_child(&result, &run);
    dti_quote(quoted, library ? library : FAKE_CUDA_PATH,
              strlen(library ? library : FAKE_CUDA_PATH));
    const char *const at = strstr(output, quoted);
    if (at)
        snprintf(got, sizeof got, "%.*sLIBRARY%s", (int)(at - output), output, at + strlen(quoted));
    else
        snprintf(got, sizeof got, "%s", output);
    if (!CHECK_STR(got, want))
        printf("with FAKE_CUDA=%s\n", script);
}

static void without_a_fault_it_is_right(void)
{
    check_run("", NULL, false, "right");
    check_run("devices=1", NULL, false, "right");
    check_run("", FAKE_CUDA_PLAIN_PATH, false, "right");
    if (has_kernels())
        check_run("", NULL, true, "right");
}

static void no_device_can_be_had(void)
{
    check_run("", "/nowhere/libcuda.so.1", false, "unavailable: LIBRARY: not found");
    check_run("", FAKE_CUDA_OLD_PATH, false,
              "unavailable: LIBRARY (CUDA 13.2): has no function cuStreamQuery; CUDA 10.0 or newer "
              "is required");
    check_run(
        "stub", NULL, false,
        "unavailable: LIBRARY: the stub library of the CUDA toolkit, not a driver: CUDA error 34 "
        "(stub library); install NVIDIA's driver, or set DTINFO_LIBCUDA to its library");
    check_run("devices=0", NULL, false,
              "unavailable: LIBRARY: no CUDA device: CUDA error 100 (no device)");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    check_run("devices=0", NULL, false,
              "unavailable: LIBRARY: no CUDA device: CUDA error 100 (no device); "
              "CUDA_VISIBLE_DEVICES is '', which may hide some");
    unsetenv("CUDA_VISIBLE_DEVICES");
    check_run("fail=cuInit:1:803", NULL, false,
              "unavailable: LIBRARY: the library is for CUDA 13.2 and does not match the kernel's "
              "driver: CUDA error 803 (system driver mismatch); reboot, or reinstall both");
    check_run("fail=cuInit:1:999", NULL, false,
              "unavailable: LIBRARY (CUDA 13.2): cuInit: CUDA error 999 (unknown)");
    check_run("fail=cuInit:1:35", NULL, false,
              "unavailable: LIBRARY (CUDA 13.2): cuInit: CUDA error 35");
    check_run("fail=cuDevicePrimaryCtxRetain:1:46", NULL, false,
              "unavailable: cuda:0: busy, or reserved by another process: "
              "cuDevicePrimaryCtxRetain: CUDA error 46 (device unavailable)");
    check_run("fail=cuDevicePrimaryCtxRetain:1:2", NULL, false,
              "no_memory: cuda:0: not enough memory to start: cuDevicePrimaryCtxRetain: CUDA error "
              "2 (out of memory)");
}

static void kernels_do_not_suit(void)
{
    if (!has_kernels()) {
        printf("skipped: no kernels were built\n");
        return;
    }
    check_run("version=9020", NULL, true,
              "unavailable: cuda:0: the kernels need a driver of CUDA 10.0 or later");
    check_run("fail=cuModuleLoadDataEx:1:209", NULL, true,
              "unavailable: cuda:0: the kernels are PTX 6.3, which the driver (CUDA 13.2) rejects: "
              "cuModuleLoadDataEx: CUDA error 209 (no binary for gpu)");
    check_run("fail=cuModuleLoadDataEx:1:222", NULL, true,
              "unavailable: cuda:0: the kernels are PTX 6.3, which the driver (CUDA 13.2) rejects: "
              "cuModuleLoadDataEx: CUDA error 222 (unsupported ptx version)");
    check_run("fail=cuModuleGetFunction:2:500", FAKE_CUDA_PLAIN_PATH, true,
              "unavailable: cuda:0: the kernels are PTX 6.3, which the driver (CUDA 13.2) rejects: "
              "cuModuleGetFunction: CUDA error 500: 'dti_gpu_fp32_to_fp16'");
    check_run("fail=cuModuleLoadDataEx:1:2", NULL, true,
              "no_memory: cuda:0: cuModuleLoadDataEx: CUDA error 2 (out of memory)");
    check_run("fail=cuModuleLoadDataEx:1:700", NULL, true,
              "device_failed: cuda:0: cuModuleLoadDataEx: CUDA error 700 (illegal address)");
}

static void work_goes_wrong(void)
{
    static const struct {
        const char *script, *want;
    } rows[] = {
        {"fail=cuMemAlloc_v2:2:2",
         "no_memory: cuda:0: out of memory: 3000 bytes needed, 150323852360 free"},
        {"memory=4K", "no_memory: cuda:0: out of memory: 3000 bytes needed, 1096 free"},
        {"fail=cuMemHostAlloc:1:2",
         "no_memory: cuda:0: cannot allocate 3000 bytes of pinned host memory"},
        {"fail=cuMemcpyHtoDAsync_v2:1:719",
         "device_failed: cuda:0: cuMemcpyHtoDAsync_v2: CUDA error 719 (launch failed)"},
        {"fail=cuStreamQuery:1:214",
         "device_failed: cuda:0: cuStreamQuery: CUDA error 214 (ecc uncorrectable)"},
        {"fail=copy:1:700",
         "device_failed: cuda:0: cuStreamQuery: CUDA error 700 (illegal address)"},
        {"fail=copy:2:702",
         "device_failed: cuda:0: cuStreamQuery: CUDA error 702 (launch timeout)"},
        {"fail=cuEventElapsedTime:1:1",
         "device_failed: cuda:0: cuEventElapsedTime: CUDA error 1 (invalid value)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_run(rows[i].script, NULL, false, rows[i].want);
    if (has_kernels())
        check_run("fail=kernel:1:719", NULL, true,
                  "device_failed: cuda:0: cuStreamQuery: CUDA error 719 (launch failed)");
}

/* The fake driver's own checks: a host address is not a device address. */
static void mistake_body(FILE *out, const void *context)
{
    struct dti_gpu *gpu;
    struct dti_gpu_stream *stream;
    struct dti_error error = {.text = ""};
    dti_gpu_address a;
    unsigned char bytes[16] = {0};
    setenv("DTINFO_LIBCUDA", FAKE_CUDA_PATH, 1);
    if (dti_gpu_open(&gpu, 0, NULL) != DTI_OK || dti_gpu_stream_new(gpu, &stream, NULL) != DTI_OK ||
        dti_gpu_alloc(gpu, sizeof bytes, &a, NULL) != DTI_OK)
        return;
    enum dti_status status = DTI_OK;
    const struct dti_gpu_cast_args args = {
        .src = (uint64_t)(uintptr_t)bytes, .dst = a, .n = sizeof bytes, .bits = 1};
    switch (*(const int *)context) {
    case 0:
        status = dti_gpu_upload(stream, (uint64_t)(uintptr_t)bytes, bytes, sizeof bytes, &error);
        break;
    case 1: /* one byte past the end */
        status = dti_gpu_download(stream, bytes, a + 1, sizeof bytes, &error);
        break;
    default:
        status = dti_gpu_launch(stream, DTI_GPU_COPY, &args, sizeof args, sizeof bytes, &error);
    }
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, &error);
    dti_gpu_free(gpu, a);
    dti_gpu_stream_free(stream);
    dti_gpu_close(gpu);
    fprintf(out, "%s", error.text);
}

static void mistakes_with_addresses_are_seen(void)
{
    static const char *const wants[] = {
        "cuda:0: cuMemcpyHtoDAsync_v2: CUDA error 1 (invalid value)",
        "cuda:0: cuMemcpyDtoHAsync_v2: CUDA error 1 (invalid value)",
        "cuda:0: cuStreamQuery: CUDA error 700 (illegal address)",
    };
    for (int i = 0; i < (has_kernels() ? 3 : 2); i++) {
        struct child_result result;
        child_run(&result, mistake_body, &i, dti_gpu_hangs);
        CHECK_STR(result.output, wants[i]);
    }
}

static void what_hangs_is_told(void)
{
    struct child_result result;
    /* long, because on a busy machine calls that do not hang may be late */
    struct run run = {.script = "hang=cuInit:1", .timeout = "1.5"};
    CHECK_STR(run_child(&result, &run), "device_failed: the CUDA driver did not answer within 1.5 "
                                        "s; DTINFO_CUDA_TIMEOUT sets the limit");
    run.script = "hang=cuMemAlloc_v2:2";
    CHECK_STR(run_child(&result, &run), "device_failed: cuda:0: the driver did not answer within "
                                        "1.5 s; DTINFO_CUDA_TIMEOUT sets the limit");
    run.script = "hang=kernel:1";
    run.launch = true;
    if (has_kernels())
        CHECK_STR(run_child(&result, &run), "device_failed: cuda:0 did not finish its work within "
                                            "1.5 s; DTINFO_CUDA_TIMEOUT sets the limit");
}

UNIT_MAIN(without_a_fault_it_is_right, no_device_can_be_had, kernels_do_not_suit, work_goes_wrong,
          mistakes_with_addresses_are_seen, what_hangs_is_told)
