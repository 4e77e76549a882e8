/* SPDX-License-Identifier: MIT
 *
 * bench matmul: matrix products, our own and those of every installed engine, compared with the
 * peak multiply-add rate in registers, or with reading B if that takes longer. For quantized
 * matrices it also measures quantizing both from fp32. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engines/engine.h"
#include "bench/engines/engine_cublaslt.h"
#include "bench/measure/operands.h"
#include "bench/workloads/matmul_matrices.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    PEAK_COUNT = 168 * 1000, /* a multiple of the number of sums of every peak */
    GRAIN = 16,              /* minimum rows or columns per member */
    MEMORY_BOUND = 64,
    ENGINES = 2,
    DTYPES = 8,
    POISON = 0xA5,
};

/* The product in one dtype. */
struct matmul_product {
    struct matmuls *all;
    struct dti_matrices matrices;
    const struct dti_matmul_kernel *kernel; /* NULL if there is none */
    struct dti_matmul *own;
    struct dti_bench_memory memory;
    struct dti_bench_memory numbers; /* the fp32 numbers that A and B are quantized from; or
                                      * nothing */
    struct dti_quantizing quantizing;
    size_t peak;                   /* item of its peak; or SIZE_MAX */
    size_t first_limit, end_limit; /* range of items that read B */
};

/* A candidate that multiplies. */
struct matmul_pass {
    struct matmul_product *product;
    const struct dti_engine *engine; /* NULL: our own */
};

/* The state on the CPU. */
struct matmuls {
    struct dti_frame frame;
    struct dti_engine engines[ENGINES];
    size_t engine_count;
    struct matmul_product products[DTYPES];
    size_t product_count;
    struct dti_matmul_truth *truth;
    struct matmul_pass passes[DTI_BENCH_ITEMS_MAX]; /* unused where an item is not a product */
};

/* Whether the user wants that engine. */
static bool wants_engine(const struct dti_bench_request *request, const char *engine)
{
    return !request->engine || strcmp(request->engine, engine) == 0;
}

/* The work of a product per pass; the caller sets the engine. */
static struct dti_bench_entry entry_of(const struct dti_matrices *matrices)
{
    return (struct dti_bench_entry){.role = "matmul",
                                    .dtype = dti_format_get(matrices->dtype)->name,
                                    .bytes_read = matrices->a_bytes + matrices->b_bytes,
                                    .bytes_written = matrices->c_bytes,
                                    .operations = 2 * (double)matrices->m * (double)matrices->n *
                                                  (double)matrices->k};
}

/* Whether memory may be the limit: few operations per byte of A and B. */
static bool is_memory_bound(const struct dti_matrices *matrices)
{
    const double bytes = (double)matrices->a_bytes + (double)matrices->b_bytes;
    return entry_of(matrices).operations <= MEMORY_BOUND * bytes;
}

/* Compares an item with the limit that needs more time. */
static void set_limit(struct dti_bench_table *table, size_t at, size_t memory, size_t peak)
{
    table->items[at].limit_item =
        dti_bench_least_seconds(table, at, memory) > dti_bench_least_seconds(table, at, peak)
            ? memory
            : peak;
}

static void own_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct matmul_product *const product = ((struct matmul_pass *)context)->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = dti_bench_memory_at(&product->memory, set, 0);
    (void)size;
    dti_matmul_run(product->own, memory + matrices->c_at, memory + matrices->a_at, memory, member);
}

/* Each member computes some rows of C, or columns if there are more columns than rows. */
static void engine_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct matmul_pass *const pass = context;
    const struct matmul_product *const product = pass->product;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *const memory = dti_bench_memory_at(&product->memory, set, 0);
    const bool by_rows = matrices->m >= matrices->n;
    const struct dti_share share =
        dti_share_of((size_t)(by_rows ? matrices->m : matrices->n), GRAIN, member, size);
    if (share.count == 0)
        return;
    const size_t row = by_rows ? share.first : 0, column = by_rows ? 0 : share.first;
    const struct dti_engine_product part = {
        .c = memory + matrices->c_at + (row * matrices->n + column) * matrices->result_element,
        .a = memory + matrices->a_at + row * matrices->k * matrices->element,
        .b = memory + column * matrices->element,
        .m = by_rows ? (int)share.count : (int)matrices->m,
        .n = by_rows ? (int)matrices->n : (int)share.count,
        .k = (int)matrices->k,
        .c_stride = (int)matrices->n,
        .a_stride = (int)matrices->k,
        .b_stride = (int)matrices->n,
    };
    if (!pass->engine->multiply(pass->engine, matrices->dtype, &part))
        atomic_store(&product->all->frame.failed, true);
}

static void add_product(struct matmul_product *product, const struct dti_engine *engine)
{
    struct matmuls *const all = product->all;
    const struct dti_matmul_kernel *const kernel = product->kernel;
    const enum dti_dtype dtype = product->matrices.dtype;
    const size_t at = all->frame.table->count;
    struct dti_bench_entry entry = entry_of(&product->matrices);
    char title[DTI_BENCH_WORDS];
    if (engine) {
        (void)snprintf(title, sizeof title, "%s%s%s", dti_engine_function(engine, dtype),
                       engine->processor[0] != '\0' ? " for " : "", engine->processor);
    } else {
        (void)snprintf(title, sizeof title, "%s, %ux%u, %s", kernel->name, kernel->rows,
                       kernel->columns, kernel->instruction);
        entry.arithmetic = dtype == DTI_INT8   ? "int32, exact"
                           : dtype == DTI_BF16 ? "fp32 sums of exact products, subnormals as 0"
                           : dtype == DTI_FP16 ? "fp32 sums of exact products"
                           : dtype == DTI_FP64 ? "fp64, fused multiply-add"
                                               : "fp32, fused multiply-add";
    }
    entry.engine = engine ? engine->title : "dtinfo";
    entry.kernel = title;
    entry.run = engine ? engine_pass : own_pass;
    entry.context = &all->passes[at];
    entry.sets = product->memory.sets;
    if (dti_frame_add(&all->frame, &entry))
        all->passes[at] = (struct matmul_pass){.product = product, .engine = engine};
}

static bool fits_engines(const struct dti_matrices *matrices)
{
    return matrices->m <= INT_MAX && matrices->n <= INT_MAX && matrices->k <= INT_MAX;
}

/* Adds the candidates of a product whose memory is allocated. */
static void add_passes(struct matmul_product *product)
{
    struct matmuls *const all = product->all;
    const struct dti_matrices *const matrices = &product->matrices;
    const char *const name = dti_format_get(matrices->dtype)->name;
    if (product->own)
        add_product(product, NULL);
    for (size_t i = 0; i < all->engine_count && fits_engines(matrices); i++) {
        if (dti_engine_function(&all->engines[i], matrices->dtype))
            add_product(product, &all->engines[i]);
    }
    product->first_limit = all->frame.table->count;
    if (product->kernel &&
        dti_frame_add_peak(&all->frame, product->kernel, name, ", registers alone", PEAK_COUNT))
        product->peak = product->first_limit++;
    /* limits for reading B, if that may take longer than multiplying */
    if (is_memory_bound(matrices))
        dti_frame_add_limits(&all->frame, &product->memory, 1, matrices->b_bytes, false, name);
    product->end_limit = all->frame.table->count;
}

/* The matrices as fp32; C is unused. */
static enum dti_status numbers_of(struct dti_matrices *ret, const struct dti_matrices *matrices,
                                  struct dti_error *reterr)
{
    return dti_matrices_init(ret, DTI_FP32, matrices->m, matrices->n, matrices->k, reterr);
}

/* Bytes of the fp32 numbers that matrices are quantized from; 0 if they are not quantized. */
static uint64_t numbers_bytes(const struct dti_matrices *matrices)
{
    struct dti_matrices numbers;
    if (!dti_operands_are_scaled(matrices->dtype))
        return 0;
    return numbers_of(&numbers, matrices, NULL) == DTI_OK ? numbers.c_at : UINT64_MAX;
}

/* DTI_USAGE if a size is 0. */
static enum dti_status check_sizes(const struct dti_bench_request *request,
                                   struct dti_error *reterr)
{
    if (request->m == 0 || request->n == 0 || request->k == 0)
        return dti_fail(reterr, DTI_USAGE, "a product of matrices needs m, n and k above 0");
    return DTI_OK;
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    uint64_t all = 0;
    enum dti_status status = check_sizes(request, reterr);
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        struct dti_matrices matrices;
        const char *why;
        if (!dti_matmul_find(request->dtypes[i], request->level, &why))
            continue;
        status = dti_matrices_init(&matrices, request->dtypes[i], request->m, request->n,
                                   request->k, reterr);
        if (status != DTI_OK)
            return status;
        const uint64_t needed[] = {matrices.bytes, numbers_bytes(&matrices)};
        for (size_t part = 0; part < sizeof needed / sizeof *needed; part++) {
            uint64_t bytes;
            if (!dti_mul_u64(dti_bench_sets(request->cache, needed[part]), needed[part], &bytes) ||
                !dti_add_u64(all, bytes, &all))
                all = UINT64_MAX;
        }
    }
    return status == DTI_OK ? dti_host_has_memory(all, reterr) : status;
}

/* Opens the installed engines; adds a note for each missing one. */
static void open_engines(struct matmuls *all)
{
    static enum dti_status (*const openers[ENGINES])(struct dti_engine *, struct dti_error *) = {
        dti_engine_onednn, dti_engine_openblas};
    static const char *const names[ENGINES] = {"onednn", "openblas"};
    for (size_t i = 0; i < ENGINES; i++) {
        struct dti_error error = {.text = ""};
        if (!wants_engine(all->frame.request, names[i]))
            continue;
        if (openers[i](&all->engines[all->engine_count], &error) == DTI_OK)
            all->engine_count++;
        else
            dti_bench_add_note(all->frame.table, "%s: %s", names[i], error.text);
    }
}

static bool engine_has(const struct matmuls *all, enum dti_dtype dtype)
{
    for (size_t i = 0; i < all->engine_count; i++) {
        if (dti_engine_function(&all->engines[i], dtype))
            return true;
    }
    return false;
}

/* Allocates and fills the matrices, with the same data in all sets. */
static enum dti_status allocate_matrices(const struct dti_frame *frame,
                                         struct dti_bench_memory *ret,
                                         struct dti_matrices *matrices, uint64_t bytes,
                                         struct dti_error *reterr)
{
    const struct dti_bench_request *const request = frame->request;
    enum dti_status status =
        dti_bench_memory_new(ret, dti_bench_alike(1, bytes, request->cache), frame->team, reterr);
    if (status != DTI_OK)
        return status;
    unsigned char *const first = dti_bench_memory_at(ret, 0, 0);
    status = dti_matrices_load(matrices, first, request, reterr);
    for (size_t set = 1; set < ret->sets && status == DTI_OK; set++)
        memcpy(dti_bench_memory_at(ret, set, 0), first, (size_t)matrices->c_at);
    return status;
}

static enum dti_status add_quantizing(struct matmul_product *product, struct dti_error *reterr)
{
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_quantizing *const quantizing = &product->quantizing;
    struct dti_matrices numbers;
    if (!dti_operands_are_scaled(matrices->dtype))
        return DTI_OK;
    enum dti_status status = numbers_of(&numbers, matrices, reterr);
    if (status == DTI_OK)
        status = allocate_matrices(&product->all->frame, &product->numbers, &numbers, numbers.c_at,
                                   reterr);
    if (status != DTI_OK)
        return status;
    quantizing->numbers[0] = (struct dti_quantizing_place){&product->numbers, 0, numbers.a_at};
    quantizing->numbers[1] = (struct dti_quantizing_place){&product->numbers, 0, 0};
    quantizing->codes[0] = (struct dti_quantizing_place){&product->memory, 0, matrices->a_at};
    quantizing->codes[1] = (struct dti_quantizing_place){&product->memory, 0, 0};
    quantizing->elements[0] = matrices->m * matrices->k;
    quantizing->elements[1] = matrices->k * matrices->n;
    return dti_quantizing_add(quantizing, matrices->dtype, &product->all->frame, reterr);
}

static enum dti_status add_dtype(struct matmuls *all, enum dti_dtype dtype,
                                 struct dti_error *reterr)
{
    const struct dti_bench_request *const request = all->frame.request;
    const char *why = "", *const name = dti_format_get(dtype)->name;
    const bool own = wants_engine(request, "dtinfo");
    const struct dti_matmul_kernel *const kernel = dti_matmul_find(dtype, request->level, &why);
    if ((!own || !kernel) && !engine_has(all, dtype)) {
        dti_bench_add_note(all->frame.table, "%s: %s", name,
                           !own ? "this engine has no such product" : why);
        return DTI_OK;
    }
    if (own && !kernel)
        dti_bench_add_note(all->frame.table, "%s: dtinfo: %s", name, why);
    if (own && kernel && why[0] != '\0') /* the system does not permit the unit */
        dti_bench_add_note(all->frame.table, "%s: %s; %s is used instead", name, why, kernel->name);
    else if (own)
        dti_bench_warn_unit(all->frame.table, request, dtype, kernel);
    struct matmul_product *const product = &all->products[all->product_count++];
    *product = (struct matmul_product){.all = all, .kernel = kernel, .peak = SIZE_MAX};
    enum dti_status status =
        dti_matrices_init(&product->matrices, dtype, request->m, request->n, request->k, reterr);
    if (status == DTI_OK)
        status = allocate_matrices(&all->frame, &product->memory, &product->matrices,
                                   product->matrices.bytes, reterr);
    if (status == DTI_OK && !all->truth)
        status = dti_matmul_truth_of(&all->truth, request, reterr);
    if (status == DTI_OK && own && kernel)
        status = dti_matmul_new(&product->own, kernel, request->m, request->n, request->k,
                                all->frame.threads, reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_memory_describe(&product->memory, all->frame.table);
    add_passes(product);
    return add_quantizing(product, reterr);
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmuls *const all = (struct matmuls *)frame;
    const struct dti_bench_request *const request = frame->request;
    enum dti_status status = DTI_OK;
    open_engines(all);
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        if (all->product_count < DTYPES)
            status = add_dtype(all, request->dtypes[i], reterr);
    }
    if (status == DTI_OK && request->with_alloc)
        dti_bench_add_note(frame->table, "memory is taken before the clock starts");
    return status;
}

/* Whether quantizing reproduced the codes. */
static enum dti_status verify_quantizing(const struct matmul_product *product,
                                         struct dti_error *reterr)
{
    struct dti_matrices matrices = product->matrices;
    if (!product->numbers.data)
        return DTI_OK;
    unsigned char *const memory = dti_malloc((size_t)matrices.c_at);
    if (!memory)
        return dti_no_memory(reterr);
    enum dti_status status =
        dti_matrices_load(&matrices, memory, product->all->frame.request, reterr);
    const unsigned char *const got = dti_bench_memory_at(&product->memory, 0, 0);
    if (status == DTI_OK &&
        (memcmp(memory, got, (size_t)matrices.b_bytes) != 0 ||
         memcmp(memory + matrices.a_at, got + matrices.a_at, (size_t)matrices.a_bytes) != 0))
        status = dti_fail(reterr, DTI_BUG, "matrices were quantized incorrectly; please report it");
    dti_free(memory);
    return status;
}

/* Repeats a product and verifies the result. */
static enum dti_status verify_pass(struct matmuls *all, size_t at, struct dti_error *reterr)
{
    const struct matmul_pass *const pass = &all->passes[at];
    const struct matmul_product *const product = pass->product;
    struct dti_bench_table *const table = all->frame.table;
    struct dti_bench_item *const item = &table->items[at];
    unsigned char *const memory = dti_bench_memory_at(&product->memory, 0, 0);
    memset(memory + product->matrices.c_at, POISON, (size_t)product->matrices.c_bytes);
    dti_frame_again(&all->frame, at);
    if (atomic_load(&all->frame.failed))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s would not multiply %s matrices", item->engine,
                        item->dtype);
    const enum dti_status status =
        dti_matmul_judge(item, &product->matrices, memory, all->truth, all->frame.request,
                         pass->engine ? DTI_UNAVAILABLE : DTI_BUG, reterr);
    /* compare with the fastest read */
    size_t reading = SIZE_MAX;
    double least = 0;
    for (size_t i = product->first_limit; i < product->end_limit; i++) {
        const double seconds = dti_bench_least_seconds(table, at, i);
        if (seconds > 0 && (reading == SIZE_MAX || seconds < least)) {
            reading = i;
            least = seconds;
        }
    }
    set_limit(table, at, reading, product->peak);
    return status;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmuls *const all = (struct matmuls *)frame;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < all->product_count && status == DTI_OK; i++)
        status = verify_quantizing(&all->products[i], reterr);
    for (size_t i = 0; i < frame->table->count && status == DTI_OK; i++) {
        if (all->passes[i].product)
            status = verify_pass(all, i, reterr);
    }
    return status;
}

static void end(struct dti_frame *frame)
{
    struct matmuls *const all = (struct matmuls *)frame;
    for (size_t i = 0; i < all->product_count; i++) {
        dti_matmul_free(all->products[i].own);
        dti_quantizing_end(&all->products[i].quantizing);
        dti_bench_memory_free(&all->products[i].numbers);
        dti_bench_memory_free(&all->products[i].memory);
    }
    dti_matmul_truth_free(all->truth);
    for (size_t i = 0; i < all->engine_count; i++)
        dti_engine_close(&all->engines[i]);
}

static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct matmuls, check, prepare, verify, end);

/* On a CUDA device, timed by the device. There are no kernels of our own: without cuBLASLt
 * nothing is measured. The arithmetic limit is the rate of the same library for large matrices;
 * the memory limit is a copy of B within the device. */

enum { LARGE = 4096, SETS_MAX = 16 };
#define WORKSPACE_BYTES (UINT64_C(32) << 20)

/* A product of one dtype and size, with its matrices in device memory. */
struct planned {
    struct matmul_device *device;
    struct dti_matrices matrices;
    struct dti_cublaslt_plan *plan;
    dti_gpu_address memory, copied; /* sets of matrices; destination for copies of B, or 0 */
    dti_gpu_address scales;         /* of A and of B, or 0 */
    size_t sets;
    size_t item;       /* SIZE_MAX: used only as a limit */
    size_t peak, copy; /* items, or SIZE_MAX */
};

struct matmul_device {
    struct dti_frame frame;
    struct dti_cublaslt *cublaslt;
    dti_gpu_address workspace;
    struct planned products[2 * DTYPES]; /* products, and those used as limits */
    size_t count;
    struct dti_matmul_truth *truth;
};

/* Whether the requested product is as large as the ones used as limits. */
static bool is_large(const struct dti_bench_request *request)
{
    return request->m >= LARGE && request->n >= LARGE && request->k >= LARGE;
}

/* Lays out the matrices of a product, requested or large, and sets the number of sets. */
static enum dti_status lay_out_planned(const struct dti_bench_request *request,
                                       enum dti_dtype dtype, bool large, struct dti_matrices *ret,
                                       size_t *ret_sets, struct dti_error *reterr)
{
    const enum dti_status status =
        dti_matrices_init(ret, dtype, large ? LARGE : request->m, large ? LARGE : request->n,
                          large ? LARGE : request->k, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t l2 = dti_device_cache_bytes(request->gpu);
    const bool cold = request->cache == DTI_BENCH_COLD && !large;
    const uint64_t sets = cold ? 2 * (l2 / ret->bytes) + 2 : 1;
    *ret_sets = sets < SETS_MAX ? (size_t)sets : SETS_MAX;
    return DTI_OK;
}

static enum dti_status check_on_device(const struct dti_bench_request *request,
                                       struct dti_error *reterr)
{
    uint64_t all = WORKSPACE_BYTES;
    enum dti_status status = check_sizes(request, reterr);
    for (size_t i = 0; i < 2 * request->dtype_count && status == DTI_OK; i++) {
        const enum dti_dtype dtype = request->dtypes[i / 2];
        const bool large = i % 2 == 1;
        struct dti_matrices matrices;
        uint64_t bytes;
        size_t sets;
        if (!dti_cublaslt_row(dtype) || (large && is_large(request)))
            continue;
        status = lay_out_planned(request, dtype, large, &matrices, &sets, reterr);
        if (status == DTI_OK &&
            (!dti_mul_u64(matrices.bytes, sets, &bytes) || !dti_add_u64(all, bytes, &all) ||
             !dti_add_u64(all, matrices.b_bytes, &all)))
            all = UINT64_MAX;
    }
    return status == DTI_OK ? dti_device_has_memory(request->gpu, all, reterr) : status;
}

/* Replaces B by B in column-major order. */
static enum dti_status transpose(const struct dti_matrices *matrices, const unsigned char *memory,
                                 unsigned char **ret, struct dti_error *reterr)
{
    const size_t element = matrices->element;
    unsigned char *const transposed = dti_malloc((size_t)matrices->b_bytes);
    if (!transposed)
        return dti_no_memory(reterr);
    for (uint64_t row = 0; row < matrices->k; row++) {
        for (uint64_t column = 0; column < matrices->n; column++)
            memcpy(transposed + (column * matrices->k + row) * element,
                   memory + (row * matrices->n + column) * element, element);
    }
    *ret = transposed;
    return DTI_OK;
}

static enum dti_status upload(const struct planned *product, const unsigned char *memory,
                              struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = product->device->frame.streams[0];
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *transposed = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_row(matrices->dtype)->by_columns)
        status = transpose(matrices, memory, &transposed, reterr);
    for (size_t set = 0; set < product->sets && status == DTI_OK; set++) {
        const dti_gpu_address at = product->memory + set * matrices->bytes;
        status = dti_gpu_upload(stream, at, transposed ? transposed : memory,
                                (size_t)matrices->b_bytes, reterr);
        if (status == DTI_OK)
            status = dti_gpu_upload(stream, at + matrices->a_at, memory + matrices->a_at,
                                    (size_t)matrices->a_bytes, reterr);
    }
    if (status == DTI_OK && product->scales != 0)
        status = dti_gpu_upload(stream, product->scales, matrices->scales, sizeof matrices->scales,
                                reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (!dti_gpu_hangs()) /* a hung driver may still read it */
        dti_free(transposed);
    return status;
}

/* Makes the matrices on the host. */
static enum dti_status make_matrices(struct planned *product, unsigned char **ret,
                                     struct dti_error *reterr)
{
    unsigned char *const memory = dti_malloc((size_t)product->matrices.bytes);
    if (!memory)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_matrices_load(&product->matrices, memory, product->device->frame.request, reterr);
    if (status != DTI_OK)
        dti_free(memory);
    else
        *ret = memory;
    return status;
}

static enum dti_status device_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct planned *const product = context;
    const struct dti_matrices *const matrices = &product->matrices;
    const dti_gpu_address at = product->memory + set * matrices->bytes;
    return dti_cublaslt_run(product->plan, at + matrices->c_at, at + matrices->a_at, at,
                            product->device->workspace, product->device->frame.streams[0], reterr);
}

/* Sets up the product on the device: scales, plan, memory and its contents. */
static enum dti_status fill_planned(struct planned *product, struct dti_error *reterr)
{
    struct matmul_device *const device = product->device;
    struct dti_gpu *const gpu = device->frame.gpu;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *memory = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_row(matrices->dtype)->scales)
        status = dti_gpu_alloc(gpu, sizeof matrices->scales, &product->scales, reterr);
    if (status == DTI_OK)
        status = dti_cublaslt_plan_new(&product->plan, device->cublaslt, matrices->dtype,
                                       matrices->m, matrices->n, matrices->k, product->scales,
                                       WORKSPACE_BYTES, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(gpu, product->sets * matrices->bytes, &product->memory, reterr);
    if (status == DTI_OK)
        status = make_matrices(product, &memory, reterr);
    if (status == DTI_OK)
        status = upload(product, memory, reterr);
    if (!dti_gpu_hangs())
        dti_free(memory);
    return status;
}

static void planned_end(struct planned *product)
{
    struct dti_gpu *const gpu = product->device->frame.gpu;
    dti_gpu_free(gpu, product->memory);
    dti_gpu_free(gpu, product->copied);
    dti_gpu_free(gpu, product->scales);
    dti_cublaslt_plan_free(product->plan);
}

/* Plans a product and adds it; large ones are arithmetic limits. Fails with DTI_UNAVAILABLE if
 * the engine does not support it; *ret is NULL if the table is full. */
static enum dti_status add_device_product(struct planned **ret, struct matmul_device *device,
                                          enum dti_dtype dtype, bool large,
                                          struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    const struct dti_gpu_facts *const facts = dti_gpu_facts(frame->gpu);
    const unsigned least = dti_cublaslt_row(dtype)->least_capability;
    struct planned *const product = &device->products[device->count];
    char kernel[DTI_BENCH_WORDS];
    if (facts->major * 10 + facts->minor < least)
        return dti_fail(reterr, DTI_UNAVAILABLE, "needs compute capability %u.%u", least / 10,
                        least % 10);
    *product =
        (struct planned){.device = device, .item = SIZE_MAX, .peak = SIZE_MAX, .copy = SIZE_MAX};
    enum dti_status status =
        lay_out_planned(frame->request, dtype, large, &product->matrices, &product->sets, reterr);
    if (status != DTI_OK)
        return status;
    status = fill_planned(product, reterr);
    if (status == DTI_UNAVAILABLE)
        planned_end(product);
    else
        device->count++;
    if (status != DTI_OK)
        return status;
    frame->table->memory += product->sets * product->matrices.bytes;
    if (product->sets > frame->table->sets)
        frame->table->sets = product->sets;
    (void)snprintf(kernel, sizeof kernel, "%s%s", dti_cublaslt_plan_words(product->plan),
                   large ? ", 4096x4096x4096" : "");
    struct dti_bench_entry entry = entry_of(&product->matrices);
    entry.role = large ? "peak" : "matmul";
    entry.limit = large;
    entry.engine = dti_cublaslt_title(device->cublaslt);
    entry.kernel = kernel;
    entry.arithmetic = dti_cublaslt_row(dtype)->arithmetic;
    entry.pass = device_pass;
    entry.by_events = true;
    entry.context = product;
    entry.sets = product->sets;
    *ret = dti_frame_add(frame, &entry) ? product : NULL;
    return DTI_OK;
}

static enum dti_status copy_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct planned *const product = context;
    return dti_gpu_copy(product->device->frame.streams[0], product->copied,
                        product->memory + set * product->matrices.bytes,
                        (size_t)product->matrices.b_bytes, reterr);
}

static enum dti_status add_limits(struct planned *product, struct dti_error *reterr)
{
    struct matmul_device *const device = product->device;
    struct dti_frame *const frame = &device->frame;
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_error error = {.text = ""};
    struct planned *large;
    enum dti_status status = DTI_OK;
    if (!is_large(frame->request)) {
        status = add_device_product(&large, device, matrices->dtype, true, &error);
        if (status == DTI_OK && large)
            product->peak = frame->table->count - 1;
        else if (status == DTI_UNAVAILABLE)
            status = DTI_OK; /* this size works, the large one does not: no limit */
        else if (status != DTI_OK && reterr)
            *reterr = error;
    }
    if (status != DTI_OK || !is_memory_bound(matrices))
        return status;
    status = dti_gpu_alloc(frame->gpu, matrices->b_bytes, &product->copied, reterr);
    if (status == DTI_OK && dti_frame_add(frame, &(struct dti_bench_entry){
                                                     .role = "copy",
                                                     .dtype = dti_format_get(matrices->dtype)->name,
                                                     .engine = "driver",
                                                     .kernel = "device to device",
                                                     .bytes_read = matrices->b_bytes,
                                                     .bytes_written = matrices->b_bytes,
                                                     .limit = true,
                                                     .pass = copy_pass,
                                                     .by_events = true,
                                                     .context = product,
                                                     .sets = product->sets}))
        product->copy = frame->table->count - 1;
    return status;
}

static enum dti_status add_device_dtype(struct matmul_device *device, enum dti_dtype dtype,
                                        struct dti_error *reterr)
{
    struct dti_bench_table *const table = device->frame.table;
    const char *const name = dti_format_get(dtype)->name;
    struct dti_error error = {.text = ""};
    struct planned *product;
    if (!dti_cublaslt_row(dtype)) {
        dti_bench_add_note(table, "%s: no engine has such a product", name);
        return DTI_OK;
    }
    const enum dti_status status = add_device_product(&product, device, dtype, false, &error);
    if (status == DTI_UNAVAILABLE) {
        dti_bench_add_note(table, "%s: %s", name, error.text);
        return DTI_OK;
    }
    if (status != DTI_OK && reterr)
        *reterr = error;
    if (status != DTI_OK || !product)
        return status;
    product->item = table->count - 1;
    return add_limits(product, reterr);
}

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    const struct dti_bench_request *const request = frame->request;
    struct dti_error error = {.text = ""};
    if (!wants_engine(request, "cublaslt")) {
        dti_bench_add_note(frame->table, "%s: not for CUDA devices", request->engine);
        return DTI_OK;
    }
    enum dti_status status = dti_gpu_enter(frame->gpu, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cublaslt_open(&device->cublaslt, &error);
    if (status == DTI_UNAVAILABLE) {
        dti_bench_add_note(frame->table, "cublaslt: %s", error.text);
        return DTI_OK;
    }
    if (status != DTI_OK && reterr)
        *reterr = error;
    if (status == DTI_OK)
        status = dti_gpu_alloc(frame->gpu, WORKSPACE_BYTES, &device->workspace, reterr);
    if (status == DTI_OK)
        status = dti_frame_open(frame, 1, reterr);
    for (size_t i = 0; i < request->dtype_count && i < DTYPES && status == DTI_OK; i++)
        status = add_device_dtype(device, request->dtypes[i], reterr);
    if (status == DTI_OK && frame->table->count > 0 && request->with_alloc)
        dti_bench_add_note(frame->table, "memory is taken before the clock starts");
    return status;
}

/* Repeats a product and verifies the result. */
static enum dti_status verify_product(struct planned *product, struct dti_error *reterr)
{
    const struct matmul_device *const device = product->device;
    struct dti_gpu_stream *const stream = device->frame.streams[0];
    struct dti_bench_table *const table = device->frame.table;
    const struct dti_matrices *const matrices = &product->matrices;
    const size_t bytes = (size_t)matrices->c_bytes;
    unsigned char *memory = NULL;
    enum dti_status status = make_matrices(product, &memory, reterr);
    if (status == DTI_OK)
        status = dti_gpu_fill(stream, product->memory + matrices->c_at, POISON, bytes, reterr);
    if (status == DTI_OK)
        status = device_pass(product, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(stream, memory + matrices->c_at, product->memory + matrices->c_at,
                                  bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (status == DTI_OK)
        status = dti_matmul_judge(&table->items[product->item], matrices, memory, device->truth,
                                  device->frame.request, DTI_UNAVAILABLE, reterr);
    if (!dti_gpu_hangs())
        dti_free(memory);
    set_limit(table, product->item, product->copy, product->peak);
    return status;
}

static enum dti_status verify_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    const struct dti_bench_request *const request = frame->request;
    enum dti_status status = dti_matmul_truth_of(&device->truth, request, reterr);
    for (size_t i = 0; i < device->count && status == DTI_OK; i++) {
        if (device->products[i].item != SIZE_MAX)
            status = verify_product(&device->products[i], reterr);
    }
    return status;
}

static void end_on_device(struct dti_frame *frame)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    for (size_t i = 0; i < device->count; i++)
        planned_end(&device->products[i]);
    dti_gpu_free(frame->gpu, device->workspace);
    dti_cublaslt_close(device->cublaslt);
    dti_matmul_truth_free(device->truth);
}

static const struct dti_bench_workload on_device =
    DTI_WORKLOAD(NULL, struct matmul_device, check_on_device, prepare_on_device, verify_on_device,
                 end_on_device);

const struct dti_bench_kind dti_bench_kind_matmul = {
    .name = "matmul",
    .summary = "products of matrices, by every installed engine",
    .sizes = "1000,1x2048x1024,2048",
    .dtypes = "fp32,bf16,int8,fp64,fp16,tf32,fp8_e4m3fn",
    .size_is = DTI_BENCH_PRODUCT,
    .has_operands = true,
    .cpu = &on_cpu,
    .device = &on_device,
};
