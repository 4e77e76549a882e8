/* SPDX-License-Identifier: MIT
 *
 * Array casts to text: raw codes come in, one number a line goes out. Blocks of whole tiles are
 * cast and spelled by a team. Also how text is written, wherever it comes from. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/array_text.h"
#include "cli/shell/standard.h"

enum { BLOCK = 4 * DTI_TILE };

void dti_text_put_number(struct dti_buffer *text, const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    if (!dti_buffer_reserve(text, DTI_TEXT_SIZE))
        return;
    dti_decode(format, code, &value);
    char *const at = text->data + text->length;
    const size_t length = dti_spell_stored(at, format, code, &value);
    at[length] = '\n';
    text->length += length + 1;
}

enum dti_status dti_cast_array_write(struct cast_array *array, const struct dti_buffer *bytes,
                                     struct dti_error *reterr)
{
    array->output_bytes += bytes->length;
    if (array->output)
        return dti_output_write(array->output, bytes->data, bytes->length, reterr);
    if (fwrite(bytes->data, 1, bytes->length, array->cx->raw) == bytes->length)
        return DTI_OK;
    dti_standard_note_failure(); /* dti_standard_close() reports why */
    return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
}

enum dti_status dti_cast_array_queue(struct cast_array *array, const struct dti_queue *queue,
                                     struct dti_error *reterr)
{
    struct dti_team *team;
    enum dti_status status = dti_team_new(&team, array->threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_queue_run(queue, team, reterr);
    dti_team_free(team);
    return status;
}

struct text_output_chunk {
    size_t n;       /* elements */
    uint64_t first; /* index */
    struct dti_buffer text;
    struct dti_loss loss;
    uint64_t src[BLOCK], dst[BLOCK]; /* elements of at most 8 bytes */
};

struct text_output {
    struct cast_array *array;
    uint64_t taken; /* elements */
    bool at_end;
    struct text_output_chunk *chunks; /* for each thread */
};

/* Number of elements in the block just read, of `size` bytes; only the last block may end with
 * padding. */
static enum dti_status count_elements(const struct text_output *output,
                                      const struct text_output_chunk *block, size_t size,
                                      size_t *ret_n, struct dti_error *reterr)
{
    const struct cast_array *array = output->array;
    char label[DTI_QUOTE_SIZE];
    uint64_t all;
    unsigned padding;
    dti_input_label(&array->input, label);
    enum dti_status status =
        dti_transfer_elements(array->plan, array->input_bytes, label, &all, &padding, reterr);
    if (status != DTI_OK)
        return status;
    if (array->count != DTI_UNTIL_END) { /* checked before */
        *ret_n = (size_t)((all < array->count ? all : array->count) - output->taken);
        return DTI_OK;
    }
    const unsigned char last = size > 0 ? ((const unsigned char *)block->src)[size - 1] : 0;
    if (size > 0 && padding > 0)
        status = dti_storage_check_padding(&array->request.src, &array->request.src_layout, last,
                                           padding, label, reterr);
    if (status == DTI_OK)
        *ret_n = (size_t)(all - output->taken);
    return status;
}

/* For struct dti_queue. */
static enum dti_status take(void *context, size_t member, bool *ret_any, struct dti_error *reterr)
{
    struct text_output *const output = context;
    struct text_output_chunk *const block = &output->chunks[member];
    struct cast_array *const array = output->array;
    uint64_t wanted = 0;
    size_t got;
    *ret_any = false;
    if (output->at_end)
        return DTI_OK;
    (void)dti_plan_src_bytes(array->plan, BLOCK, &wanted);
    enum dti_status status =
        dti_input_read(&array->input, block->src, (size_t)wanted, &got, reterr);
    if (status != DTI_OK)
        return status;
    array->input_bytes += got;
    output->at_end = got < wanted;
    status = count_elements(output, block, got, &block->n, reterr);
    if (status != DTI_OK)
        return status;
    block->first = output->taken;
    output->taken += block->n;
    *ret_any = block->n > 0;
    return DTI_OK;
}

static enum dti_status work(void *context, size_t member, size_t part, uint64_t first, size_t n,
                            struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct text_output *const output = context;
    struct text_output_chunk *const block = &output->chunks[member];
    const struct cast_array *const array = output->array;
    const struct dti_request *const request = &array->request;
    const enum dti_status status =
        dti_plan_run(array->plan, block->dst, block->src, block->n, block->first, DTI_STORES_CACHED,
                     array->counted ? &block->loss : NULL, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_clear(&block->text);
    for (size_t i = 0; i < block->n; i++)
        dti_text_put_number(
            &block->text, &request->cast.dst,
            dti_storage_get(&request->cast.dst, &request->dst_layout, block->dst, i));
    return block->text.failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status finish(void *context, size_t member, size_t part, uint64_t first, size_t n,
                              struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct text_output *const output = context;
    const struct text_output_chunk *const block = &output->chunks[member];
    struct cast_array *const array = output->array;
    array->elements += block->n;
    dti_progress_show(&array->progress, array->elements);
    return dti_cast_array_write(array, &block->text, reterr);
}

enum dti_status dti_cast_array_to_text(struct cast_array *array, struct dti_error *reterr)
{
    struct text_output output = {.array = array};
    const struct dti_queue queue = {
        .take = take, .work = work, .finish = finish, .context = &output};
    output.chunks = malloc(array->threads * sizeof *output.chunks);
    if (!output.chunks)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < array->threads; i++) {
        dti_buffer_init(&output.chunks[i].text);
        dti_loss_init(&output.chunks[i].loss);
    }
    const enum dti_status status = dti_cast_array_queue(array, &queue, reterr);
    for (size_t i = 0; i < array->threads; i++) {
        dti_loss_merge(&array->loss, &output.chunks[i].loss);
        dti_buffer_free(&output.chunks[i].text);
    }
    free(output.chunks);
    return status;
}
