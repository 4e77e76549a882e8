/* SPDX-License-Identifier: MIT
 *
 * Loads the kernels' module, which the driver compiles for the device, and launches kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/gpu_parts.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"

enum {
    BLOCK = 256,          /* threads */
    BLOCKS_EACH = 8,      /* blocks per multiprocessor: as many as fit on recent devices */
    MULTIPROCESSORS = 64, /* default if the driver does not report it */
    LOG_SIZE = 512,       /* for the driver's compiler */
    LAUNCH_ARGS_MAX = 1024,
};

struct load_args {
    struct dti_gpu_job job;
    struct dti_cuda_failure refusal; /* the kernels were rejected; the device is unaffected */
    const char *program;
    CUmodule module;
    CUfunction *functions; /* [DTI_GPU_KERNEL_COUNT]; separate from the device's, because the job
                              may hang */
    char log[LOG_SIZE];
};

/* Whether a step failed. If the error does not harm the device, the device is not lost. */
static bool refused(struct load_args *load, const char *function, CUresult code)
{
    const bool harmless = code != CUDA_ERROR_OUT_OF_MEMORY && !dti_cuda_ends_context(code);
    return dti_cuda_failed(load->job.cuda, harmless ? &load->refusal : &load->job.failure, function,
                           code);
}

static void load_module(void *args)
{
    struct load_args *const load = args;
    const struct dti_cuda *const cuda = load->job.cuda;
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    const uintptr_t size = LOG_SIZE;
    void *values[2] = {load->log, NULL};
    memcpy(&values[1], &size, sizeof size); /* the option takes an integer cast to a pointer */
    if (refused(load, "cuModuleLoadDataEx",
                cuda->cuModuleLoadDataEx(&load->module, load->program, 2, options, values)))
        return;
    for (size_t i = 0; i < DTI_GPU_KERNEL_COUNT; i++) {
        if (refused(load, "cuModuleGetFunction",
                    cuda->cuModuleGetFunction(&load->functions[i], load->module,
                                              dti_gpu_rows[i].name))) {
            snprintf(load->log, sizeof load->log, "%.*s", (int)sizeof dti_gpu_rows[i].name,
                     dti_gpu_rows[i].name);
            (void)cuda->cuModuleUnload(load->module);
            return;
        }
    }
}

/* Extracts "6.3" from a program with ".version 6.3". */
static void program_version(const char *program, char ret[8])
{
    static const char directive[] = ".version ";
    const char *const at = strstr(program, directive);
    size_t length = 0;
    if (at) {
        const char *const from = at + sizeof directive - 1;
        length = strspn(from, "0123456789.");
        if (length > 7)
            length = 0;
        memcpy(ret, from, length);
    }
    ret[length] = '\0';
}

/* The first line of the compiler's log, quoted, or an empty text. */
static const char *log_words(char buffer[DTI_QUOTE_SIZE + 8], const char log[LOG_SIZE])
{
    char quoted[DTI_QUOTE_SIZE];
    const char *const end = memchr(log, '\0', LOG_SIZE);
    size_t length = end ? (size_t)(end - log) : LOG_SIZE;
    length = length > strcspn(log, "\n") ? strcspn(log, "\n") : length;
    buffer[0] = '\0';
    if (length > 0)
        snprintf(buffer, DTI_QUOTE_SIZE + 8, ": %s", dti_quote(quoted, log, length));
    return buffer;
}

static enum dti_status explain_refusal(const struct dti_gpu *gpu, const struct load_args *args,
                                       struct dti_error *reterr)
{
    char words[DTI_CUDA_WORDS_SIZE], log[DTI_QUOTE_SIZE + 8], version[8];
    dti_cuda_words(words, &args->refusal);
    program_version(args->program, version);
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "%s: the kernels are PTX %s, which the driver (CUDA %u.%u) rejects: %s%s",
                    gpu->facts.id, version, gpu->cuda->version / 1000,
                    gpu->cuda->version % 1000 / 10, words, log_words(log, args->log));
}

static enum dti_status load(struct dti_gpu *gpu, struct dti_error *reterr)
{
    struct load_args args;
    const char *why = "";
    memset(&args, 0, sizeof args);
    args.program = dti_gpu_program(gpu->facts.major, gpu->facts.minor, gpu->cuda->version, &why);
    if (!args.program)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: %s", gpu->facts.id, why);
    args.functions = dti_process_calloc(DTI_GPU_KERNEL_COUNT, sizeof *args.functions);
    if (!args.functions)
        return dti_no_memory(reterr);
    CUfunction *const functions = args.functions;
    enum dti_status status = dti_gpu_do(gpu, load_module, &args, sizeof args, reterr);
    if (status == DTI_OK && args.refusal.code != CUDA_SUCCESS)
        status = explain_refusal(gpu, &args, reterr);
    if (status == DTI_OK) {
        gpu->module = args.module;
        gpu->functions = functions;
    } else if (!dti_gpu_hangs()) {
        dti_process_free(functions);
    }
    return status;
}

enum dti_status dti_gpu_load(struct dti_gpu *gpu, double *ret_seconds, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    uint64_t nanoseconds = 0;
    pthread_mutex_lock(&gpu->loading);
    if (!gpu->module) {
        const uint64_t start = dti_clock_now();
        status = load(gpu, reterr);
        nanoseconds = dti_clock_now() - start;
    }
    pthread_mutex_unlock(&gpu->loading);
    if (status == DTI_OK && ret_seconds)
        *ret_seconds = (double)nanoseconds / 1e9;
    return status;
}

struct launch_args {
    struct dti_gpu_job job;
    CUstream stream;
    CUfunction function;
    unsigned blocks;
    _Alignas(16) unsigned char parameters[LAUNCH_ARGS_MAX]; /* last, because its unused end is not
                                                               copied */
};

static void launch(void *args)
{
    struct launch_args *const launch = args;
    void *parameters[] = {launch->parameters};
    (void)DTI_GPU_FAILED(&launch->job, cuLaunchKernel, launch->function, launch->blocks, 1, 1,
                         BLOCK, 1, 1, 0, launch->stream, parameters, NULL);
}

enum dti_status dti_gpu_launch(struct dti_gpu_stream *stream, enum dti_gpu_kernel kernel,
                               const void *args, size_t args_size, uint64_t items,
                               struct dti_error *reterr)
{
    struct dti_gpu *const gpu = stream->gpu;
    struct launch_args launch_args;
    if (kernel >= DTI_GPU_KERNEL_COUNT || args_size > LAUNCH_ARGS_MAX)
        return dti_fail(reterr, DTI_BUG, "no kernel %d with %zu bytes of parameters", (int)kernel,
                        args_size);
    const enum dti_status status = dti_gpu_load(gpu, NULL, reterr);
    if (status != DTI_OK || items == 0)
        return status;
    memset(&launch_args, 0, offsetof(struct launch_args, parameters));
    memcpy(launch_args.parameters, args, args_size);
    launch_args.stream = stream->handle;
    launch_args.function = gpu->functions[kernel];
    const uint64_t multiprocessors =
        gpu->facts.multiprocessors < 4096 ? gpu->facts.multiprocessors : MULTIPROCESSORS;
    const uint64_t needed = (items - 1) / BLOCK + 1, most = multiprocessors * BLOCKS_EACH;
    launch_args.blocks = (unsigned)(needed < most ? needed : most);
    return dti_gpu_do(gpu, launch, &launch_args,
                      offsetof(struct launch_args, parameters) + args_size, reterr);
}
