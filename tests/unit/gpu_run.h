/* SPDX-License-Identifier: MIT
 *
 * Runs work on a fake CUDA device in a child process, with a little of everything that can fail. */
#ifndef DTINFO_TESTS_GPU_RUN_H
#define DTINFO_TESTS_GPU_RUN_H

#include <stdlib.h>

#include "child.h"
#include "devices/gpu/gpu.h"
#include "unit.h"

enum { SIZE = 3000 };

/* One run. It prints its status, a reason, and whether the output is right. */
struct run {
    const char *script, *library, *timeout;
    bool launch; /* with a kernel, if there are any */
};

static inline bool has_kernels(void)
{
    const char *why;
    return dti_gpu_program(7, 5, 13020, &why) != NULL;
}

struct parts {
    struct dti_gpu *gpu;
    struct dti_gpu_stream *one, *two;
    struct dti_gpu_event *start, *end;
    dti_gpu_address a, b;
    void *pinned;
    double seconds;
};

/* Uploads bytes, copies them with a kernel or a copy command, passes them to another stream and
 * downloads them. */
static inline enum dti_status work(struct parts *p, const unsigned char *from, bool launch,
                                   struct dti_error *error)
{
    enum dti_status status = dti_gpu_open(&p->gpu, 0, error);
    uint64_t free_bytes;
    if (status == DTI_OK && launch)
        status = dti_gpu_load(p->gpu, &p->seconds, error);
    if (status == DTI_OK)
        status = dti_gpu_free_bytes(p->gpu, &free_bytes, error);
    if (status == DTI_OK)
        status = dti_gpu_host_alloc(p->gpu, SIZE, &p->pinned, error);
    if (status == DTI_OK)
        status = dti_gpu_stream_new(p->gpu, &p->one, error);
    if (status == DTI_OK)
        status = dti_gpu_stream_new(p->gpu, &p->two, error);
    if (status == DTI_OK)
        status = dti_gpu_event_new(p->gpu, &p->start, error);
    if (status == DTI_OK)
        status = dti_gpu_event_new(p->gpu, &p->end, error);
    if (status == DTI_OK)
        status = dti_gpu_alloc(p->gpu, SIZE, &p->a, error);
    if (status == DTI_OK)
        status = dti_gpu_alloc(p->gpu, SIZE, &p->b, error);
    if (status == DTI_OK)
        status = dti_gpu_record(p->one, p->start, error);
    if (status == DTI_OK)
        status = dti_gpu_fill(p->one, p->b, 0, SIZE, error);
    if (status == DTI_OK)
        status = dti_gpu_upload(p->one, p->a, from, SIZE, error);
    if (status == DTI_OK && launch) {
        const struct dti_gpu_cast_args args = {.src = p->a, .dst = p->b, .n = SIZE, .bits = 1};
        status = dti_gpu_launch(p->one, DTI_GPU_COPY, &args, sizeof args,
                                dti_gpu_cast_items(DTI_GPU_COPY, SIZE), error);
    } else if (status == DTI_OK) {
        status = dti_gpu_copy(p->one, p->b, p->a, SIZE, error);
    }
    if (status == DTI_OK)
        status = dti_gpu_record(p->one, p->end, error);
    if (status == DTI_OK)
        status = dti_gpu_wait(p->two, p->end, error);
    if (status == DTI_OK)
        status = dti_gpu_download(p->two, p->pinned, p->b, SIZE, error);
    if (status == DTI_OK)
        status = dti_gpu_finish(p->two, error);
    if (status == DTI_OK)
        status = dti_gpu_elapsed(p->start, p->end, &p->seconds, error);
    return status;
}

static inline void body(FILE *out, const void *context)
{
    const struct run *const run = context;
    struct dti_error error = {.text = ""};
    struct parts p = {.gpu = NULL};
    unsigned char *const from = malloc(SIZE);
    setenv("DTINFO_LIBCUDA", run->library ? run->library : FAKE_CUDA_PATH, 1);
    setenv("DTINFO_CUDA_TIMEOUT", run->timeout ? run->timeout : "60", 1);
    setenv("FAKE_CUDA", run->script, 1);
    if (!from)
        return;
    for (size_t i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 13 + 1);
    const enum dti_status status = work(&p, from, run->launch, &error);
    const bool right = status == DTI_OK && memcmp(p.pinned, from, SIZE) == 0;
    if (p.gpu && status == DTI_DEVICE_FAILED) {
        /* a later call fails at once, for the same reason */
        struct dti_error again = {.text = ""};
        uint64_t free_bytes;
        if (!dti_gpu_is_lost(p.gpu) ||
            dti_gpu_free_bytes(p.gpu, &free_bytes, &again) != DTI_DEVICE_FAILED ||
            strcmp(again.text, error.text) != 0)
            fprintf(out, "not lost: ");
    }
    if (p.gpu) {
        dti_gpu_free(p.gpu, p.a);
        dti_gpu_free(p.gpu, p.b);
        dti_gpu_host_free(p.gpu, p.pinned);
        dti_gpu_event_free(p.start);
        dti_gpu_event_free(p.end);
        dti_gpu_stream_free(p.one);
        dti_gpu_stream_free(p.two);
        dti_gpu_close(p.gpu);
    }
    if (!dti_gpu_hangs())
        free(from);
    fprintf(out, "%s%s%s%s", status == DTI_OK ? (right ? "right" : "WRONG") : "",
            status == DTI_OK ? "" : dti_status_code(status), error.text[0] != '\0' ? ": " : "",
            error.text);
}

static inline const char *run_child(struct child_result *ret, const struct run *run)
{
    child_run(ret, body, run, dti_gpu_hangs);
    if (!CHECK(WIFEXITED(ret->status) && WEXITSTATUS(ret->status) == 0))
        printf("script %s: status %d, output %s\n", run->script, ret->status, ret->output);
    return ret->output;
}

#endif
