/* SPDX-License-Identifier: MIT
 *
 * GGUF blocks, encoded on demand while they are read. Any byte range may be requested: whole tiles
 * of numbers are encoded, including some outside the range at its ends, and decoded again
 * immediately, which detects scales that fp16 cannot hold, and measures the loss. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "convert/gguf_coder.h"
#include "files/dequant/dequant_parts.h"
#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"
#include "util/run/memory_pool.h"

enum {
    CHUNK = 8 * DTI_TILE, /* elements */
    BYTES_MAX = 2,        /* per encoded element */
    ROW_MIN = 32,         /* elements: the smallest block of a type that takes weights */
    LINE = 64,            /* alignment of the memory passed to sources */
};

struct scratch {
    float x[CHUNK];
    union { /* used one after the other */
        unsigned char raw[CHUNK * sizeof(double)];
        float back[CHUNK];
    } u;
    unsigned char blocks[CHUNK * BYTES_MAX];
    float means[CHUNK / ROW_MIN + 1]; /* of the squares of rows */
};
enum { SCRATCH = (sizeof(struct scratch) + LINE - 1) / LINE * LINE };

/* One tensor. */
struct encoder_source {
    struct dti_batch_source source;
    struct dti_gguf_encoder *encoder;
    struct dti_gguf_coder coder;
    struct dti_nvfp4_encoder *nv;    /* the coder's, ready once opened; else NULL */
    struct dti_gguf_weights weights; /* columns NULL: none */
    const struct dti_plan *plan;     /* from the file's numbers to fp32 */
    size_t tensor;                   /* index in the container */
    /* the source of its numbers, and the destination of their loss (or NULL): see
     * dti_gguf_encoder_open() */
    struct dti_batch_source from; /* none: read the input */
    const struct dti_input *input;
    uint64_t offset;
    struct dti_loss *loss;
};

struct dti_gguf_encoder {
    struct dti_rewrite *rewrite;
    struct dti_pool pool;
    struct encoder_source **sources; /* by tensor index in the whole; NULL: not encoded */
    struct dti_loss_rule rule;
    const struct dti_loss_kernel *kernel;
    pthread_mutex_t merging; /* held while a loss is merged into a tensor's */
};

enum dti_status dti_gguf_encoder_new(struct dti_gguf_encoder **ret, struct dti_rewrite *rewrite,
                                     struct dti_error *reterr)
{
    const struct dti_container *const whole = rewrite->request.whole;
    const size_t count = (whole ? whole : rewrite->container)->tensor_count;
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    struct dti_gguf_encoder *const encoder = dti_calloc(1, sizeof *encoder);
    if (!encoder)
        return dti_no_memory(reterr);
    encoder->rewrite = rewrite;
    dti_loss_rule_init(&encoder->rule, fp32, fp32, &(struct dti_policy){0});
    encoder->kernel = dti_loss_kernel_find(encoder->rule.hub, rewrite->request.level);
    encoder->sources = dti_calloc(count + 1, sizeof(struct encoder_source *));
    if (!encoder->sources || pthread_mutex_init(&encoder->merging, NULL) != 0) {
        dti_free((void *)encoder->sources);
        dti_free(encoder);
        return dti_no_memory(reterr);
    }
    *ret = encoder;
    return DTI_OK;
}

void dti_gguf_encoder_free(struct dti_gguf_encoder *encoder)
{
    if (!encoder)
        return;
    pthread_mutex_destroy(&encoder->merging);
    dti_pool_free(&encoder->pool);
    dti_free((void *)encoder->sources);
    dti_free(encoder);
}

/* A range of elements of a tensor: whole tiles, except for the last. */
struct piece {
    const struct encoder_source *source;
    uint64_t first;
    size_t count;
    struct dti_window *window;
    struct scratch *scratch;
    unsigned char *blocks; /* where they go */
};

/* Whether the file's bytes are fp32 numbers of this machine. */
static bool is_plain(const struct dti_plan *plan)
{
    const struct dti_kernel *const kernel = dti_plan_step(plan, 0)->kernel;
    return dti_plan_step_count(plan) == 1 && kernel && kernel->op == DTI_OP_COPY;
}

static enum dti_status read_input(const struct piece *piece, struct dti_error *reterr)
{
    const struct encoder_source *const source = piece->source;
    void *const x = piece->scratch->x, *const buffer =
                                           is_plain(source->plan) ? x : piece->scratch->u.raw;
    const void *raw;
    uint64_t at = 0, size = 0;
    if (!dti_plan_src_bytes(source->plan, piece->first, &at) ||
        !dti_plan_src_bytes(source->plan, piece->count, &size))
        return dti_fail(reterr, DTI_BUG, "a tensor has too many bytes");
    enum dti_status status = dti_window_look(piece->window, source->input, buffer, (size_t)size,
                                             source->offset + at, &raw, reterr);
    if (status != DTI_OK)
        return status;
    if (raw != x)
        status = dti_plan_run(source->plan, x, raw, piece->count, piece->first, DTI_STORES_CACHED,
                              NULL, reterr);
    return dti_window_done(piece->window, status, reterr);
}

static enum dti_status read_numbers(const struct piece *piece, struct dti_error *reterr)
{
    const struct dti_batch_source *const from = &piece->source->from;
    const size_t each = sizeof(float);
    if (!from->read)
        return read_input(piece, reterr);
    return from->read(from->context, piece->scratch->x, piece->count * each, piece->first * each,
                      piece->window, (unsigned char *)piece->scratch + SCRATCH, reterr);
}

static enum dti_status refuse(const struct piece *piece, enum dti_gguf_coded coded, size_t at,
                              struct dti_error *reterr)
{
    const struct encoder_source *const source = piece->source;
    char place[DTI_TENSOR_PLACE];
    dti_tensor_place(source->encoder->rewrite->container, source->tensor, place);
    return dti_gguf_refuse(source->coder.type, coded, place, piece->first + at, reterr);
}

/* Adds squares in order, each rounded to fp32, as ggml does. */
static float add_squares(float sum, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float square = x[i] * x[i];
        sum += square;
    }
    return sum;
}

/* The sum over a row, which is read for that. */
static enum dti_status sum_row(const struct piece *piece, uint64_t row, float *ret,
                               struct dti_error *reterr)
{
    const uint64_t length = piece->source->weights.row;
    struct piece part = *piece;
    enum dti_status status = DTI_OK;
    *ret = 0;
    for (uint64_t done = 0; done < length && status == DTI_OK; done += part.count) {
        part.first = row * length + done;
        part.count = length - done < CHUNK ? (size_t)(length - done) : CHUNK;
        status = read_numbers(&part, reterr);
        if (status == DTI_OK)
            *ret = add_squares(*ret, part.scratch->x, part.count);
    }
    return status;
}

/* Reads the numbers, and computes the mean squares of the rows in which they are. Of these, the
 * first and the last may go on outside of the piece. */
static enum dti_status read_rows(const struct piece *piece, struct dti_error *reterr)
{
    const uint64_t length = piece->source->weights.row, end = piece->first + piece->count;
    const uint64_t first = piece->first / length, last = (end - 1) / length;
    float *const means = piece->scratch->means;
    enum dti_status status = DTI_OK;
    if (piece->first % length != 0 || (first + 1) * length > end)
        status = sum_row(piece, first, &means[0], reterr);
    if (status == DTI_OK && last > first && end % length != 0)
        status = sum_row(piece, last, &means[last - first], reterr);
    if (status == DTI_OK)
        status = read_numbers(piece, reterr);
    for (uint64_t row = first; row <= last && status == DTI_OK; row++) {
        float *const mean = &means[row - first];
        if (row * length >= piece->first && (row + 1) * length <= end)
            *mean =
                add_squares(0, piece->scratch->x + (row * length - piece->first), (size_t)length);
        *mean /= (float)length;
    }
    return status;
}

/* Encodes to piece->blocks, and decodes again. */
static enum dti_status encode(const struct piece *piece, struct dti_error *reterr)
{
    const struct encoder_source *const source = piece->source;
    struct scratch *const scratch = piece->scratch;
    const bool has_weights = source->weights.columns != NULL;
    const struct dti_gguf_weighted weighted = {&source->weights, piece->first, scratch->means};
    size_t at;
    const enum dti_status status = has_weights && source->coder.weigher->of_row
                                       ? read_rows(piece, reterr)
                                       : read_numbers(piece, reterr);
    if (status != DTI_OK)
        return status;
    const enum dti_gguf_coded coded =
        dti_gguf_code(&source->coder, piece->blocks, scratch->x, piece->count,
                      has_weights ? &weighted : NULL, scratch->u.back, source->loss != NULL, &at);
    return coded == DTI_GGUF_CODED ? DTI_OK : refuse(piece, coded, at, reterr);
}

static void count_loss(const struct piece *piece, size_t skip, struct dti_loss *loss)
{
    const struct dti_gguf_encoder *const encoder = piece->source->encoder;
    const struct dti_error_watch *const watch = encoder->rewrite->request.watch;
    for (size_t i = skip; i < piece->count; i += DTI_TILE) {
        const size_t left = piece->count - i, part = left < DTI_TILE ? left : DTI_TILE;
        encoder->kernel->run(&encoder->rule, piece->scratch->x + i, piece->scratch->u.back + i,
                             part, piece->first + i, loss);
        if (watch)
            watch->add(watch->context, piece->source->tensor, piece->scratch->x + i,
                       piece->scratch->u.back + i, part, piece->first + i);
    }
}

static void add_loss(struct encoder_source *source, const struct dti_loss *loss)
{
    pthread_mutex_lock(&source->encoder->merging);
    dti_loss_merge(source->loss, loss);
    pthread_mutex_unlock(&source->encoder->merging);
}

/* The loss of a tile is counted only for the range that contains its first byte. */
static enum dti_status read_blocks(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *scratch,
                                   struct dti_error *reterr)
{
    struct encoder_source *const source = context;
    const struct dti_gguf_type *const type = source->coder.type;
    const uint64_t tile = (uint64_t)(DTI_TILE / type->elements) * type->bytes;
    const uint64_t elements = source->encoder->rewrite->container->tensors[source->tensor].elements;
    struct piece piece = {.source = source, .window = window, .scratch = scratch};
    enum dti_status status = DTI_OK;
    struct dti_loss loss;
    dti_loss_init(&loss);
    for (uint64_t at = offset / tile * tile; at < offset + size && status == DTI_OK;
         at += CHUNK / DTI_TILE * tile) {
        const uint64_t tiles = (offset + size - at - 1) / tile + 1;
        piece.first = at / tile * DTI_TILE;
        const uint64_t left = elements - piece.first;
        piece.count = tiles >= CHUNK / DTI_TILE ? CHUNK : (size_t)tiles * DTI_TILE;
        if (piece.count > left)
            piece.count = (size_t)left;
        const uint64_t end = at + piece.count / type->elements * type->bytes;
        const uint64_t from = at < offset ? offset : at;
        const uint64_t to = end < offset + size ? end : offset + size;
        unsigned char *const wanted = (unsigned char *)buffer + (from - offset);
        const bool is_whole = from == at && to == end;
        piece.blocks = is_whole ? wanted : piece.scratch->blocks;
        status = encode(&piece, reterr);
        if (status != DTI_OK)
            break;
        if (!is_whole)
            memcpy(wanted, piece.blocks + (from - at), (size_t)(to - from));
        if (source->loss)
            count_loss(&piece, at < offset ? DTI_TILE : 0, &loss);
    }
    if (status == DTI_OK && source->loss)
        add_loss(source, &loss);
    return status;
}

/* A type that cannot do without weights. */
static enum dti_status refuse_unweighted(const struct encoder_source *source,
                                         struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = source->encoder->rewrite;
    const struct dti_tensor *const tensor = &rewrite->container->tensors[source->tensor];
    const char *const path = dti_importance_path(rewrite->request.encode.importance);
    char name[DTI_QUOTE_SIZE];
    return dti_fail_remedy(
        reterr, DTI_BAD_INPUT, DTI_REMEDY_TYPE_OR_KEEP,
        "%s has no entry for tensor %s, and %s needs weights", DTI_QUOTED(path, strlen(path)),
        dti_quote(name, tensor->name, tensor->name_length), source->coder.type->word);
}

/* Sets the weights, and counts whether there are any. */
static enum dti_status add_weights(struct encoder_source *source, size_t at,
                                   struct dti_error *reterr)
{
    struct dti_gguf_encoder *const encoder = source->encoder;
    struct dti_rewrite *const rewrite = encoder->rewrite;
    struct dti_rewrite_weights *const counts = &rewrite->weights;
    const struct dti_importance *const importance = rewrite->request.encode.importance;
    const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, at);
    if (!importance || !source->coder.weigher)
        return DTI_OK;
    const enum dti_status status =
        dti_importance_read(importance, tensor, &encoder->pool, &source->weights.columns, reterr);
    source->weights.row = tensor->shape[tensor->rank - 1];
    source->weights.rows = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
    if (status == DTI_OK && !source->weights.columns && !source->coder.encode &&
        tensor->elements > 0)
        return refuse_unweighted(source, reterr);
    if (!source->weights.columns && counts->missing++ == 0)
        counts->first_missing = at;
    counts->used += source->weights.columns != NULL;
    return status;
}

enum dti_status dti_gguf_encoder_add(struct dti_gguf_encoder *encoder, size_t at,
                                     struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = encoder->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const numbers = dti_rewrite_source(rewrite, at);
    struct encoder_source *const source = dti_pool_alloc(&encoder->pool, sizeof *source);
    if (!source)
        return dti_no_memory(reterr);
    *source = (struct encoder_source){
        .source = {.read = read_blocks, .context = source},
        .encoder = encoder,
        .tensor = tensor->source,
        .plan = dti_dequant_scale_plan(rewrite->request.dequant, numbers->format, &numbers->layout),
    };
    dti_gguf_coder_init(&source->coder, tensor->way->type, rewrite->request.level);
    if (tensor->way->type->blocks == DTI_GGUF_NVFP4) {
        source->coder.nv = source->nv = dti_pool_alloc(&encoder->pool, sizeof *source->nv);
        if (!source->nv)
            return dti_no_memory(reterr);
    }
    encoder->sources[dti_rewrite_place(rewrite, tensor->source)] = source;
    return source->plan ? add_weights(source, at, reterr) : dti_no_memory(reterr);
}

/* The largest magnitude of a tensor: reads all of it. */
static enum dti_status find_amax(const struct encoder_source *source, struct scratch *scratch,
                                 float *ret, struct dti_error *reterr)
{
    const uint64_t elements = source->encoder->rewrite->container->tensors[source->tensor].elements;
    struct dti_window window = {.way = DTI_WINDOW_UNDECIDED};
    struct piece piece = {.source = source, .window = &window, .scratch = scratch};
    const struct dti_quant_kernel *const kernel =
        dti_quant_find_range(false, source->encoder->rewrite->request.level);
    enum dti_status status = DTI_OK;
    struct dti_range range;
    dti_range_init(&range);
    for (; piece.first < elements && status == DTI_OK; piece.first += CHUNK) {
        const uint64_t left = elements - piece.first;
        piece.count = left < CHUNK ? (size_t)left : CHUNK;
        status = read_numbers(&piece, reterr);
        if (status != DTI_OK)
            break;
        kernel->run.range(scratch->x, piece.count, &range);
        if (range.nan > 0 || range.inf > 0)
            status = refuse(&piece, DTI_GGUF_SPECIAL,
                            dti_gguf_find_special(scratch->x, piece.count), reterr);
    }
    dti_window_free(&window);
    if (range.min > range.max)
        *ret = 0; /* no elements */
    else
        *ret = -range.min > range.max ? -range.min : fabsf(range.max);
    return status;
}

static enum dti_status set_tensor_scale(struct encoder_source *source, struct dti_error *reterr)
{
    unsigned char *const memory = dti_malloc(source->source.scratch_bytes + LINE);
    float amax = 0;
    if (!memory)
        return dti_no_memory(reterr);
    unsigned char *const aligned = memory + (LINE - (uintptr_t)memory % LINE) % LINE;
    const enum dti_status status =
        find_amax(source, (struct scratch *)(void *)aligned, &amax, reterr);
    if (status == DTI_OK)
        dti_nvfp4_encoder_init(source->nv, amax, source->encoder->rewrite->request.level);
    dti_free(memory);
    return status;
}

enum dti_status dti_gguf_encoder_open(struct dti_gguf_encoder *encoder, size_t place,
                                      struct dti_batch_source *ret, struct dti_error *reterr)
{
    struct encoder_source *const source = encoder->sources[place];
    *ret = (struct dti_batch_source){.read = NULL};
    if (!source)
        return DTI_OK;
    enum dti_status status =
        dti_file_dequant_data(encoder->rewrite->request.dequant, place, &source->from,
                              &source->input, &source->offset, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_model_data(encoder->rewrite, source->tensor, &source->from,
                                        &source->input, &source->offset, reterr);
    if (status != DTI_OK)
        return status;
    source->source.scratch_bytes = SCRATCH + source->from.scratch_bytes;
    *ret = source->source;
    if (source->weights.columns && !dti_gguf_prepare(source->coder.type->blocks))
        return dti_no_memory(reterr);
    return source->nv ? set_tensor_scale(source, reterr) : DTI_OK;
}

bool dti_gguf_encoder_scale(const struct dti_gguf_encoder *encoder, size_t place, float *ret)
{
    const struct encoder_source *const source = encoder->sources[place];
    if (!source || !source->nv)
        return false;
    *ret = source->nv->scale;
    return true;
}

void dti_gguf_encoder_count(struct dti_gguf_encoder *encoder, size_t place, struct dti_loss *loss)
{
    encoder->sources[place]->loss = loss;
}
