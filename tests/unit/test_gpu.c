/* SPDX-License-Identifier: MIT
 *
 * A CUDA device without faults, on the fake driver: device memory is not host memory, and streams
 * run late. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "core/dtype/dtype.h"
#include "devices/gpu/gpu.h"
#include "unit.h"

enum { N = 5000 };

static struct dti_gpu *open_device(unsigned number)
{
    struct dti_gpu *gpu = NULL;
    struct dti_error error = {.text = ""};
    setenv("DTINFO_LIBCUDA", FAKE_CUDA_PATH, 1);
    if (!CHECK(dti_gpu_open(&gpu, number, &error) == DTI_OK))
        printf("%s\n", error.text);
    return gpu;
}

static void device_is_described(void)
{
    struct dti_gpu *const gpu = open_device(1);
    if (!gpu)
        return;
    const struct dti_gpu_facts *const facts = dti_gpu_facts(gpu);
    CHECK_STR(facts->id, "cuda:1");
    CHECK_STR(facts->name, "NVIDIA Pretend T4");
    CHECK_U64(facts->major * 10 + facts->minor, 75);
    CHECK_U64(facts->memory_bytes, UINT64_C(15) << 30);
    CHECK_U64(facts->free_bytes, UINT64_C(15) << 30);
    CHECK_U64(facts->multiprocessors, 40);
    CHECK(!dti_gpu_is_lost(gpu));
    CHECK(!dti_gpu_hangs());
    dti_gpu_close(gpu);
    dti_gpu_close(NULL);
}

static void bytes_go_there_and_back(void)
{
    struct dti_gpu *const gpu = open_device(0);
    struct dti_gpu_stream *stream = NULL;
    dti_gpu_address a = 0, b = 0;
    static unsigned char from[N], to[N];
    if (!gpu || !CHECK(dti_gpu_stream_new(gpu, &stream, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < N; i++)
        from[i] = (unsigned char)(i * 7);
    CHECK(dti_gpu_alloc(gpu, N, &a, NULL) == DTI_OK && a % 256 == 0 && a != 0);
    CHECK(dti_gpu_alloc(gpu, N, &b, NULL) == DTI_OK && b % 256 == 0);
    CHECK(dti_gpu_upload(stream, a, from, N, NULL) == DTI_OK);
    memset(from, 0, 100); /* not pinned: it was already copied */
    CHECK(dti_gpu_fill(stream, b, 0x11, N, NULL) == DTI_OK);
    CHECK(dti_gpu_copy(stream, b + 10, a + 20, N - 100, NULL) == DTI_OK);
    CHECK(dti_gpu_download(stream, to, b, N, NULL) == DTI_OK);
    CHECK(dti_gpu_finish(stream, NULL) == DTI_OK);
    bool right = true;
    for (size_t i = 0; i < N; i++) {
        const bool copied = i >= 10 && i < N - 90;
        right = right && to[i] == (copied ? (unsigned char)((i + 10) * 7) : 0x11);
    }
    CHECK(right);
    CHECK(dti_gpu_upload(stream, a, from, 0, NULL) == DTI_OK);
    uint64_t free_bytes = 0;
    CHECK(dti_gpu_free_bytes(gpu, &free_bytes, NULL) == DTI_OK);
    CHECK_U64(free_bytes, (UINT64_C(140) << 30) - 2 * N);
    dti_gpu_free(gpu, a);
    dti_gpu_free(gpu, b);
    dti_gpu_free(gpu, 0);
    CHECK(dti_gpu_free_bytes(gpu, &free_bytes, NULL) == DTI_OK);
    CHECK_U64(free_bytes, UINT64_C(140) << 30);
    dti_gpu_stream_free(stream);
    dti_gpu_stream_free(NULL);
    dti_gpu_close(gpu);
}

static void pinned_memory_is_written_at_the_end_only(void)
{
    struct dti_gpu *const gpu = open_device(0);
    struct dti_gpu_stream *stream = NULL;
    dti_gpu_address a = 0;
    void *memory = NULL;
    if (!gpu || !CHECK(dti_gpu_stream_new(gpu, &stream, NULL) == DTI_OK))
        return;
    if (!CHECK(dti_gpu_host_alloc(gpu, N, &memory, NULL) == DTI_OK))
        return;
    CHECK((uintptr_t)memory % 4096 == 0);
    unsigned char *const bytes = memory;
    CHECK(dti_gpu_alloc(gpu, N, &a, NULL) == DTI_OK);
    CHECK(dti_gpu_fill(stream, a, 0x77, N, NULL) == DTI_OK);
    CHECK(dti_gpu_download(stream, bytes, a, N, NULL) == DTI_OK);
    CHECK(bytes[0] != 0x77);
    CHECK(dti_gpu_finish(stream, NULL) == DTI_OK);
    CHECK(bytes[0] == 0x77 && bytes[N - 1] == 0x77);
    dti_gpu_free(gpu, a);
    dti_gpu_host_free(gpu, memory);
    dti_gpu_host_free(gpu, NULL);
    dti_gpu_stream_free(stream);
    dti_gpu_close(gpu);
}

static void events_put_streams_in_order_and_tell_time(void)
{
    struct dti_gpu *const gpu = open_device(0);
    struct dti_gpu_stream *one = NULL, *two = NULL;
    struct dti_gpu_event *start = NULL, *middle = NULL, *end = NULL;
    dti_gpu_address a = 0, b = 0;
    unsigned char byte = 0;
    double seconds = -1;
    if (!gpu)
        return;
    CHECK(dti_gpu_stream_new(gpu, &one, NULL) == DTI_OK);
    CHECK(dti_gpu_stream_new(gpu, &two, NULL) == DTI_OK);
    CHECK(dti_gpu_event_new(gpu, &start, NULL) == DTI_OK);
    CHECK(dti_gpu_event_new(gpu, &middle, NULL) == DTI_OK);
    CHECK(dti_gpu_event_new(gpu, &end, NULL) == DTI_OK);
    CHECK(dti_gpu_alloc(gpu, N, &a, NULL) == DTI_OK);
    CHECK(dti_gpu_alloc(gpu, N, &b, NULL) == DTI_OK);
    if (!one || !two || !start || !middle || !end)
        return;
    CHECK(dti_gpu_record(one, start, NULL) == DTI_OK);
    CHECK(dti_gpu_fill(one, a, 0x31, N, NULL) == DTI_OK);
    CHECK(dti_gpu_record(one, middle, NULL) == DTI_OK);
    CHECK(dti_gpu_wait(two, middle, NULL) == DTI_OK);
    CHECK(dti_gpu_copy(two, b, a, N, NULL) == DTI_OK);
    CHECK(dti_gpu_record(two, end, NULL) == DTI_OK);
    CHECK(dti_gpu_download(two, &byte, b + N - 1, 1, NULL) == DTI_OK);
    CHECK(dti_gpu_finish(two, NULL) == DTI_OK);
    CHECK_U64(byte, 0x31);
    CHECK(dti_gpu_elapsed(start, end, &seconds, NULL) == DTI_OK);
    CHECK(seconds >= 0 && seconds < 1000);
    CHECK(dti_gpu_finish(one, NULL) == DTI_OK);
    dti_gpu_event_free(start);
    dti_gpu_event_free(middle);
    dti_gpu_event_free(end);
    dti_gpu_event_free(NULL);
    dti_gpu_free(gpu, a);
    dti_gpu_free(gpu, b);
    dti_gpu_stream_free(one);
    dti_gpu_stream_free(two);
    dti_gpu_close(gpu);
}

/* bf16 to fp32, which is only a shift. Skipped if no kernels were built. */
static bool widen(struct dti_gpu *gpu, struct dti_gpu_stream *stream, size_t n, uint16_t first)
{
    const char *why;
    if (!dti_gpu_program(9, 0, 13020, &why)) {
        printf("skipped: %s\n", why);
        return true;
    }
    dti_gpu_address src = 0, dst = 0;
    uint16_t *const from = calloc(n, sizeof *from);
    uint32_t *const to = calloc(n, sizeof *to);
    bool right = from && to;
    for (size_t i = 0; right && i < n; i++)
        from[i] = (uint16_t)((first + i) & 0x7f7f); /* no NaN */
    right = right && CHECK(dti_gpu_alloc(gpu, n * 2, &src, NULL) == DTI_OK) &&
            CHECK(dti_gpu_alloc(gpu, n * 4, &dst, NULL) == DTI_OK) &&
            CHECK(dti_gpu_upload(stream, src, from, n * 2, NULL) == DTI_OK);
    struct dti_decoder decoder;
    struct dti_gpu_cast_args args;
    dti_decoder_init(&decoder, dti_format_get(DTI_BF16));
    dti_gpu_cast_args_init(&args, &(struct dti_kernel_args){.decoder = &decoder}, NULL);
    args.src = src;
    args.dst = dst;
    args.n = n;
    struct dti_error error = {.text = ""};
    right = right &&
            CHECK(dti_gpu_launch(stream, DTI_GPU_BF16_TO_FP32, &args, sizeof args,
                                 dti_gpu_cast_items(DTI_GPU_BF16_TO_FP32, n), &error) == DTI_OK);
    right = right && CHECK(dti_gpu_download(stream, to, dst, n * 4, NULL) == DTI_OK) &&
            CHECK(dti_gpu_finish(stream, NULL) == DTI_OK);
    if (error.text[0] != '\0')
        printf("%s\n", error.text);
    for (size_t i = 0; right && i < n; i++)
        right = to[i] == (uint32_t)from[i] << 16;
    dti_gpu_free(gpu, src);
    dti_gpu_free(gpu, dst);
    free(from);
    free(to);
    return right;
}

static void kernels_run_on_both_devices(void)
{
    for (unsigned number = 0; number < 2; number++) {
        struct dti_gpu *const gpu = open_device(number);
        struct dti_gpu_stream *stream = NULL;
        double seconds = -1;
        const char *why;
        if (!gpu || !CHECK(dti_gpu_stream_new(gpu, &stream, NULL) == DTI_OK))
            return;
        if (dti_gpu_program(7, 5, 13020, &why)) {
            CHECK(dti_gpu_load(gpu, &seconds, NULL) == DTI_OK);
            CHECK(seconds > 0);
            CHECK(dti_gpu_load(gpu, &seconds, NULL) == DTI_OK);
            CHECK(seconds == 0);
        }
        for (size_t n = 1; n < 100000; n = n * 3 + 1)
            CHECK(widen(gpu, stream, n, (uint16_t)n));
        dti_gpu_stream_free(stream);
        dti_gpu_close(gpu);
    }
}

struct worker {
    struct dti_gpu *gpu;
    uint16_t first;
    bool right;
};

static void *work(void *context)
{
    struct worker *const worker = context;
    struct dti_gpu_stream *stream;
    worker->right = dti_gpu_stream_new(worker->gpu, &stream, NULL) == DTI_OK;
    for (uint16_t i = 0; worker->right && i < 50; i++)
        worker->right = widen(worker->gpu, stream, 1000, (uint16_t)(worker->first + i));
    if (worker->right)
        dti_gpu_stream_free(stream);
    return NULL;
}

static void threads_have_a_stream_each(void)
{
    struct dti_gpu *const gpu = open_device(0);
    struct worker workers[2] = {{gpu, 100, false}, {gpu, 7000, false}};
    pthread_t threads[2];
    if (!gpu)
        return;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].right);
    }
    dti_gpu_close(gpu);
}

static void too_much_memory_is_told_and_does_no_harm(void)
{
    struct dti_gpu *const gpu = open_device(1);
    struct dti_error error;
    dti_gpu_address a = 0;
    if (!gpu)
        return;
    CHECK(dti_gpu_alloc(gpu, UINT64_C(1) << 40, &a, &error) == DTI_NO_MEMORY);
    CHECK_STR(error.text, "cuda:1: out of memory: 1099511627776 bytes needed, 16106127360 free");
    CHECK(a == 0 && !dti_gpu_is_lost(gpu));
    CHECK(dti_gpu_alloc(gpu, 0, &a, &error) == DTI_OK && a != 0);
    dti_gpu_free(gpu, a);
    dti_gpu_close(gpu);
}

static void missing_devices_are_told_with_those_that_are_there(void)
{
    struct dti_gpu *gpu;
    struct dti_error error;
    setenv("DTINFO_LIBCUDA", FAKE_CUDA_PATH, 1);
    CHECK(dti_gpu_open(&gpu, 7, &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "cuda:7 does not exist; there are 2 devices, cuda:0 to cuda:1");
}

static void nonsense_as_a_time_is_refused(void)
{
    static const char *const good[] = {"30", "0.2", "0.001", "86400", "1.5", "007"};
    static const char *const bad[] = {"",    "0",   "-1",   "1s",      "1.",     ".5",   "0.0001",
                                      "1e3", "inf", "0x10", "86400.1", "999999", "1 000"};
    struct dti_gpu *gpu;
    struct dti_error error;
    double seconds;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(dti_gpu_timeout_parse(good[i], &seconds, NULL) == DTI_OK);
    CHECK(seconds == 7);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(dti_gpu_timeout_parse(bad[i], &seconds, NULL) == DTI_BAD_ENVIRONMENT);
    setenv("DTINFO_CUDA_TIMEOUT", "soon", 1);
    CHECK(dti_gpu_open(&gpu, 0, &error) == DTI_BAD_ENVIRONMENT);
    CHECK_STR(error.text,
              "environment variable DTINFO_CUDA_TIMEOUT takes 0.001 to 86400 seconds, not 'soon'");
    unsetenv("DTINFO_CUDA_TIMEOUT");
    CHECK(dti_gpu_timeout() == 30);
}

UNIT_MAIN(device_is_described, bytes_go_there_and_back, pinned_memory_is_written_at_the_end_only,
          events_put_streams_in_order_and_tell_time, kernels_run_on_both_devices,
          threads_have_a_stream_each, too_much_memory_is_told_and_does_no_harm,
          missing_devices_are_told_with_those_that_are_there, nonsense_as_a_time_is_refused)
