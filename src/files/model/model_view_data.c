/* SPDX-License-Identifier: MIT
 *
 * The data of a view of a model: ranges of bytes whose rows come from other places, or to which 1
 * is added, while they are read. What was an input stays one, what was a source stays one: for an
 * input a range of rows is read where it lies, without a copy of the tensor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/model/model_view_parts.h"
#include "files/stored/tensor_choice.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { AT_ONCE = DTI_TILE };

void dti_model_view_free(struct dti_model_view *view)
{
    if (!view)
        return;
    for (size_t i = 0; i < view->view.tensor_count; i++) {
        if (view->tensors[i].reading)
            dti_plan_free(view->tensors[i].reading->plan);
    }
    dti_pool_free(&view->pool);
    dti_free(view);
}

/* What reads a range of the data as they are: of a source, with the thread's memory, or of an
 * input. */
struct range_reader {
    const struct dti_model_reading *reading;
    struct dti_window *window;
    void *scratch;
};

static enum dti_status read_range(const struct range_reader *reader, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr)
{
    const struct dti_model_reading *const reading = reader->reading;
    if (!reading->from.read)
        return dti_input_read_once_at(reading->input, buffer, size, reading->offset + offset,
                                      reterr);
    return reading->from.read(reading->from.context, buffer, size, offset, reader->window,
                              reader->scratch, reterr);
}

static enum dti_status read_rows(const struct range_reader *reader, unsigned char *buffer,
                                 size_t size, uint64_t offset, struct dti_error *reterr)
{
    const struct dti_model_reading *const reading = reader->reading;
    enum dti_status status = DTI_OK;
    while (size > 0 && status == DTI_OK) {
        const uint64_t row = offset / reading->row_bytes, within = offset % reading->row_bytes;
        const uint64_t left = reading->row_bytes - within;
        const size_t some = left < size ? (size_t)left : size;
        const uint64_t from = dti_model_permuted_row(row, reading->head_rows) * reading->row_bytes;
        status = read_range(reader, buffer, some, from + within, reterr);
        buffer += some;
        size -= some;
        offset += some;
    }
    return status;
}

/* Numbers first to first + count - 1 as fp32, with 1 added; at most AT_ONCE. */
static enum dti_status read_plus_one(const struct range_reader *reader, float *numbers,
                                     size_t count, uint64_t first, struct dti_error *reterr)
{
    const struct dti_model_reading *const reading = reader->reading;
    unsigned char raw[AT_ONCE * sizeof(double)];
    enum dti_status status;
    if (reading->plan) {
        uint64_t at = 0, size = 0;
        (void)dti_plan_src_bytes(reading->plan, first, &at);
        (void)dti_plan_src_bytes(reading->plan, count, &size);
        status = read_range(reader, raw, (size_t)size, at, reterr);
        if (status == DTI_OK)
            status = dti_plan_run(reading->plan, numbers, raw, count, 0, DTI_STORES_CACHED, NULL,
                                  reterr);
    } else {
        status =
            read_range(reader, numbers, count * sizeof *numbers, first * sizeof *numbers, reterr);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        numbers[i] += 1.0F;
    return status;
}

static enum dti_status read_norm(const struct range_reader *reader, unsigned char *buffer,
                                 size_t size, uint64_t offset, struct dti_error *reterr)
{
    float numbers[AT_ONCE];
    enum dti_status status = DTI_OK;
    while (size > 0 && status == DTI_OK) {
        const uint64_t first = offset / sizeof *numbers;
        const size_t skipped = (size_t)(offset % sizeof *numbers);
        const uint64_t left = reader->reading->bytes / sizeof *numbers - first;
        const size_t wanted = (skipped + size - 1) / sizeof *numbers + 1;
        size_t count = wanted < AT_ONCE ? wanted : (size_t)AT_ONCE;
        count = left < count ? (size_t)left : count;
        status = read_plus_one(reader, numbers, count, first, reterr);
        const size_t have = count * sizeof *numbers - skipped;
        const size_t some = have < size ? have : size;
        memcpy(buffer, (const unsigned char *)numbers + skipped, some);
        buffer += some;
        size -= some;
        offset += some;
    }
    return status;
}

static enum dti_status read_changed(const struct range_reader *reader, void *buffer, size_t size,
                                    uint64_t offset, struct dti_error *reterr)
{
    const struct dti_model_reading *const reading = reader->reading;
    if (offset > reading->bytes || size > reading->bytes - offset)
        return dti_fail(reterr, DTI_BUG, "a tensor ends before byte %" PRIu64, offset + size);
    if (reading->made) {
        memcpy(buffer, (const unsigned char *)reading->numbers + offset, size);
        return DTI_OK;
    }
    return reading->change == DTI_MODEL_PLUS_ONE ? read_norm(reader, buffer, size, offset, reterr)
                                                 : read_rows(reader, buffer, size, offset, reterr);
}

static enum dti_status read_source(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *scratch,
                                   struct dti_error *reterr)
{
    const struct range_reader reader = {.reading = context, .window = window, .scratch = scratch};
    return read_changed(&reader, buffer, size, offset, reterr);
}

static enum dti_status read_input(const struct dti_input *input, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr)
{
    const struct range_reader reader = {.reading = input->remote};
    return read_changed(&reader, buffer, size, offset, reterr);
}

static void close_input(struct dti_input *input)
{
    *input = (struct dti_input){.fd = -1};
}

enum dti_status dti_model_view_data(struct dti_model_view *view, size_t tensor,
                                    struct dti_batch_source *source, const struct dti_input **input,
                                    uint64_t *offset, struct dti_error *reterr)
{
    static const struct dti_input_source calls = {.read_at = read_input, .close = close_input};
    struct dti_model_reading *const reading = view->tensors[tensor].reading;
    const struct dti_tensor *const shown = &view->view.tensors[tensor];
    const struct dti_tensor *const stored = &view->container->tensors[view->places[tensor]];
    if (!reading)
        return DTI_OK;
    reading->from = *source;
    reading->input = source->read ? NULL : *input;
    reading->offset = source->read ? 0 : *offset;
    reading->bytes = shown->bytes;
    if (reading->change == DTI_MODEL_PLUS_ONE && !source->read && !reading->plan &&
        (stored->format->id != DTI_FP32 || stored->layout.swapped)) {
        const struct dti_request request = {.src = *stored->format,
                                            .src_layout = stored->layout,
                                            .cast = {.dst = *dti_format_get(DTI_FP32)}};
        const enum dti_status status =
            dti_plan_new(&reading->plan, &request, DTI_LEVEL_SCALAR, reterr);
        if (status != DTI_OK)
            return status;
    }
    if (source->read && !reading->made) {
        source->read = read_source;
        source->context = reading;
        return DTI_OK;
    }
    reading->changed = (struct dti_input){
        .name = source->read || !*input ? view->container->path : (*input)->name,
        .fd = -1,
        .seekable = true,
        .size = shown->bytes,
        .source = &calls,
        .remote = reading,
    };
    *source = (struct dti_batch_source){.read = NULL};
    *input = &reading->changed;
    *offset = 0;
    return DTI_OK;
}

/* The rows of a head; false: heads do not divide the rows, or no head has pairs of rows. */
static bool set_rows(struct dti_model_reading *reading, const struct dti_tensor *tensor,
                     uint64_t heads)
{
    const uint64_t rows = tensor->rank > 0 ? tensor->shape[0] : 1;
    if (heads == 0 || rows == 0 || rows % heads != 0 || rows / heads % 2 != 0)
        return false;
    reading->head_rows = rows / heads;
    reading->row_bytes = tensor->bytes / rows;
    return reading->row_bytes > 0;
}

static enum dti_status set_heads(struct dti_model_view *view, uint64_t heads, uint64_t kv_heads,
                                 struct dti_error *reterr)
{
    for (size_t i = 0; i < view->view.tensor_count; i++) {
        struct dti_model_reading *const reading = view->tensors[i].reading;
        const struct dti_tensor *const tensor = &view->view.tensors[i];
        const bool q = reading && reading->change == DTI_MODEL_PERMUTED_Q;
        char place[DTI_TENSOR_PLACE];
        if (!reading || (!q && reading->change != DTI_MODEL_PERMUTED_K))
            continue;
        if (!set_rows(reading, tensor, q ? heads : kv_heads))
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s has %" PRIu64 " rows, which %" PRIu64
                            " heads with pairs of rows do not divide",
                            dti_tensor_place(view->container, view->places[i], place),
                            tensor->rank > 0 ? tensor->shape[0] : 1, q ? heads : kv_heads);
    }
    return DTI_OK;
}

static bool has(const struct dti_model_view *view, const char *name)
{
    size_t i = 0;
    while (i < view->view.tensor_count &&
           !dti_text_is(view->view.tensors[i].name, view->view.tensors[i].name_length, name))
        i++;
    return i < view->view.tensor_count;
}

/* Layers that the names have: the highest number plus 1. */
static uint64_t count_layers(const struct dti_model_view *view)
{
    static const char before[] = "blk.";
    uint64_t most = 0;
    for (size_t i = 0; i < view->view.tensor_count; i++) {
        const struct dti_tensor *const tensor = &view->view.tensors[i];
        uint64_t layer = 0;
        size_t at = sizeof before - 1;
        if (tensor->name_length <= at || memcmp(tensor->name, before, at) != 0)
            continue;
        for (; tensor->name[at] >= '0' && tensor->name[at] <= '9' && layer < UINT32_MAX; at++)
            layer = layer * 10 + (uint64_t)(tensor->name[at] - '0');
        most = layer + 1 > most ? layer + 1 : most;
    }
    return most;
}

static enum dti_status fail_key(const char *key, struct dti_error *reterr)
{
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_SET_KEY,
                           "the new key-values have no integer %s, which the tensors need", key);
}

enum dti_status dti_model_view_settle(struct dti_model_view *view,
                                      const struct dti_container *pairs, struct dti_error *reterr)
{
    char key[64];
    uint64_t heads, kv_heads, layers;
    const char *const arch = view->arch < DTI_MODEL_ARCHS ? dti_model_arch_name(view->arch) : NULL;
    if (!arch)
        return DTI_OK;
    (void)snprintf(key, sizeof key, "%s.block_count", arch);
    if (!dti_gguf_integer_of(pairs, key, &layers))
        return fail_key(key, reterr);
    const uint64_t there = count_layers(view);
    if (view->whole && there != layers)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is %" PRIu64 ", and the tensors have %" PRIu64
                        " layers; correct it, or complete the checkpoint",
                        key, layers, there);
    if (view->whole && view->untied && !has(view, "output.weight"))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "config.json says that the output is no copy of the embeddings, and there "
                        "is no lm_head.weight; complete the checkpoint");
    (void)snprintf(key, sizeof key, "%s.attention.head_count", arch);
    if (!dti_gguf_integer_of(pairs, key, &heads))
        return fail_key(key, reterr);
    (void)snprintf(key, sizeof key, "%s.attention.head_count_kv", arch);
    if (!dti_gguf_pair_of(pairs, key))
        kv_heads = heads;
    else if (!dti_gguf_integer_of(pairs, key, &kv_heads))
        return fail_key(key, reterr);
    return set_heads(view, heads, kv_heads, reterr);
}
