/* SPDX-License-Identifier: MIT
 *
 * Replaces dti_gpu_host_run(): the kernel runs on a real device. This turns the checker of the
 * device code, which tests all rows with all policies, lengths and alignments on the host, into a
 * checker of the device. The memory that a kernel writes is guarded on the device, too.
 *
 * CHECK_DEVICE=1 selects cuda:1. Without a device the exit status is 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/gpu.h"
#include "devices/gpu/gpu_kernels.h"

enum { EXIT_SKIPPED = 77, GUARD = 256, GUARD_BYTE = 0xc3, LINE = 64, LANES = 16 };

static struct dti_gpu *gpu;
static struct dti_gpu_stream *stream;
static struct dti_error error;

static void need(enum dti_status status)
{
    if (status == DTI_OK)
        return;
    printf("%s: %s\n", status == DTI_UNAVAILABLE && !stream ? "skipped" : "FAILED", error.text);
    (void)fflush(stdout);
    _Exit(status == DTI_UNAVAILABLE && !stream ? EXIT_SKIPPED : 1);
}

static void open_device(void)
{
    const char *const text = getenv("CHECK_DEVICE");
    const unsigned number =
        text && text[0] >= '0' && text[0] <= '9' ? (unsigned)(text[0] - '0') : 0;
    double seconds;
    need(dti_gpu_open(&gpu, number, &error));
    need(dti_gpu_load(gpu, &seconds, &error));
    need(dti_gpu_stream_new(gpu, &stream, &error));
    printf("on %s\n", dti_gpu_facts(gpu)->id);
}

/* A host array and its copy on the device, at the same offset within a cache line. */
struct array {
    dti_gpu_address memory; /* grows as needed and is reused */
    size_t capacity;
    dti_gpu_address begin;
    void *host;
    size_t size;
};

static dti_gpu_address place(struct array *array, uint64_t host, uint64_t size)
{
    const size_t whole = (size_t)size + 2 * GUARD + LINE;
    if (array->capacity < whole) {
        if (array->memory)
            dti_gpu_free(gpu, array->memory);
        need(dti_gpu_alloc(gpu, 2 * whole, &array->memory, &error));
        array->capacity = 2 * whole;
    }
    array->host = (void *)(uintptr_t)host;
    array->size = (size_t)size;
    array->begin = array->memory + GUARD + host % LINE;
    return array->begin;
}

static dti_gpu_address put(struct array *array, uint64_t host, uint64_t size)
{
    place(array, host, size);
    if (size > 0)
        need(dti_gpu_upload(stream, array->begin, array->host, array->size, &error));
    return array->begin;
}

/* Prepares a kernel's output: filled with GUARD_BYTE, between guards. */
static dti_gpu_address clear(struct array *array, uint64_t host, uint64_t size)
{
    place(array, host, size);
    need(dti_gpu_fill(stream, array->begin - GUARD, GUARD_BYTE, array->size + 2 * GUARD, &error));
    return array->begin;
}

static void get(const struct array *array)
{
    unsigned char *const copy = malloc(array->size + 2 * GUARD);
    if (!copy)
        exit(1);
    need(dti_gpu_download(stream, copy, array->begin - GUARD, array->size + 2 * GUARD, &error));
    need(dti_gpu_finish(stream, &error));
    for (size_t i = 0; i < GUARD; i++) {
        if (copy[i] == GUARD_BYTE && copy[GUARD + array->size + i] == GUARD_BYTE)
            continue;
        printf("FAILED: a kernel wrote outside its %zu bytes\n", array->size);
        (void)fflush(stdout);
        _Exit(1);
    }
    if (array->size > 0)
        memcpy(array->host, copy + GUARD, array->size);
    free(copy);
}

/* The number of bits of each element that an operation reads. */
static uint64_t bits_read(enum dti_operation op, const struct dti_gpu_cast_args *args)
{
    switch (op) {
    case DTI_OP_TABLE:
    case DTI_OP_PACK:
        return 8;
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_DECODE_HUB64:
    case DTI_OP_DECODE_I64:
        return 8 * (uint64_t)args->decoder.container;
    case DTI_OP_ENCODE_HUB32:
        return 32;
    case DTI_OP_UNPACK:
        return args->bits;
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
        return 8 * (uint64_t)args->bits;
    default:
        return 64;
    }
}

static uint64_t bits_written(enum dti_operation op, const struct dti_gpu_cast_args *args,
                             const struct dti_code_table *table)
{
    switch (op) {
    case DTI_OP_TABLE:
        return 8 * (uint64_t)table->container;
    case DTI_OP_ENCODE_HUB32:
    case DTI_OP_ENCODE_HUB64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
        return 8 * (uint64_t)args->encoder.container;
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_ODD_HUB64_HUB32:
        return 32;
    case DTI_OP_UNPACK:
        return 8;
    case DTI_OP_PACK:
        return args->bits;
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
        return 8 * (uint64_t)args->bits;
    default:
        return 64;
    }
}

static uint64_t bytes_of(uint64_t n, uint64_t bits)
{
    return (n * bits + 7) / 8;
}

static struct array arrays[4];

static void run_cast(enum dti_gpu_kernel kernel, const struct dti_gpu_cast_args *host,
                     uint64_t size)
{
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    const enum dti_operation last = row->then == DTI_OP_COUNT ? row->op : row->then;
    const struct dti_code_table *const table =
        (const struct dti_code_table *)(uintptr_t)host->table;
    struct dti_gpu_cast_args args = *host;
    args.src = put(&arrays[0], host->src, bytes_of(host->n, bits_read(row->op, host)));
    args.dst = clear(&arrays[1], host->dst, bytes_of(host->n, bits_written(last, host, table)));
    if (table)
        args.table = put(&arrays[2], host->table, sizeof *table);
    need(dti_gpu_launch(stream, kernel, &args, sizeof args, size, &error));
    get(&arrays[1]);
}

static void run_loss(enum dti_gpu_kernel kernel, const struct dti_gpu_loss_args *host,
                     uint64_t size)
{
    const uint64_t tiles = host->n / DTI_TILE + (host->n % DTI_TILE != 0);
    const uint64_t lanes = tiles * LANES * sizeof(struct dti_gpu_loss_lane);
    const uint64_t bytes = host->n * (kernel == DTI_GPU_LOSS_HUB32 ? 4 : 8);
    struct dti_gpu_loss_args args = *host;
    args.x = args.y = args.lanes = args.tiles = 0;
    if (kernel == DTI_GPU_LOSS_FOLD) {
        args.lanes = put(&arrays[2], host->lanes, lanes);
        args.tiles = clear(&arrays[3], host->tiles, tiles * sizeof(struct dti_gpu_loss_tile));
    } else {
        args.x = put(&arrays[0], host->x, bytes);
        args.y = put(&arrays[1], host->y, bytes);
        args.lanes = clear(&arrays[2], host->lanes, lanes);
    }
    need(dti_gpu_launch(stream, kernel, &args, sizeof args, size, &error));
    get(&arrays[kernel == DTI_GPU_LOSS_FOLD ? 3 : 2]);
}

static void run_math(enum dti_gpu_kernel kernel, const struct dti_gpu_math_args *host,
                     uint64_t size)
{
    const uint64_t bytes = dti_format_container(dti_format_get((enum dti_dtype)host->dtype));
    struct dti_gpu_math_args args = *host;
    args.b = 0;
    args.a = put(&arrays[0], host->a, host->n * bytes);
    if (kernel == DTI_GPU_DOT)
        args.b = put(&arrays[2], host->b, host->n * bytes);
    args.dst =
        clear(&arrays[1], host->dst,
              kernel == DTI_GPU_EXPSIN ? host->n * bytes : host->parts * (bytes == 8 ? 8 : 4));
    need(dti_gpu_launch(stream, kernel, &args, sizeof args, size, &error));
    get(&arrays[1]);
}

void dti_gpu_host_run(enum dti_gpu_kernel kernel, const void *args, uint64_t size)
{
    if (!stream)
        open_device();
    if (dti_gpu_rows[kernel].cast)
        run_cast(kernel, args, size);
    else if (kernel == DTI_GPU_LOSS_HUB32 || kernel == DTI_GPU_LOSS_HUB64 ||
             kernel == DTI_GPU_LOSS_FOLD)
        run_loss(kernel, args, size);
    else
        run_math(kernel, args, size);
}
