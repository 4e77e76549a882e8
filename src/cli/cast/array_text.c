/* SPDX-License-Identifier: MIT
 *
 * Array casts in which one side is text: numbers with white space or commas between them come in,
 * one number a line goes out. Each number is rounded once, from its text, as on the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/array.h"
#include "cli/shared/text_numbers.h"

enum { BLOCK = 16 * DTI_TILE };

static void init_sink(struct dti_text_sink *ret, struct cast_array *array)
{
    ret->output = array->output;
    ret->out = array->cx->raw;
    ret->ret_bytes = &array->output_bytes;
    ret->used = 0;
}

/* Text in: a tile of numbers at a time. */
struct text_input_chunk {
    struct cast_array *array;
    struct dti_text_sink sink;
    struct dti_text_numbers numbers;
    struct dti_loss_rule rule;
    size_t count;
    uint64_t codes[DTI_TILE];
    struct dti_value values[DTI_TILE];
    struct dti_cross_check *cross_check; /* of --device, or NULL */
    bool integers[DTI_TILE];             /* written as such */
    struct dti_stored_number asked[DTI_TILE];
    uint64_t raw[DTI_TILE];
};

/* The device casts the same numbers and must store the same codes. */
static enum dti_status ask_device(struct text_input_chunk *tile, struct dti_error *reterr)
{
    struct cast_array *const array = tile->array;
    for (size_t i = 0; i < tile->count; i++)
        tile->asked[i] = (struct dti_stored_number){
            .value = tile->values[i], .integer_literal = tile->integers[i], .code = tile->codes[i]};
    return dti_cast_device_ask(&array->job.device, tile->cross_check, tile->asked, tile->count,
                               array->elements, reterr);
}

static enum dti_status finish_tile(struct text_input_chunk *tile, struct dti_error *reterr)
{
    struct cast_array *array = tile->array;
    const struct dti_format *dst = &array->request.cast.dst;
    const struct dti_layout *layout = &array->request.dst_layout;
    enum dti_status status = DTI_OK;
    uint64_t bytes = 0;
    if (tile->cross_check)
        status = ask_device(tile, reterr);
    if (status != DTI_OK)
        return status;
    if (array->counted)
        dti_loss_add_values(&tile->rule, tile->values, tile->codes, tile->count, array->elements,
                            &array->loss);
    array->elements += tile->count;
    if (array->to_text) {
        for (size_t i = 0; i < tile->count && status == DTI_OK; i++)
            status = dti_sink_number(&tile->sink, dst, tile->codes[i], reterr);
    } else {
        memset(tile->raw, 0, sizeof tile->raw);
        for (size_t i = 0; i < tile->count; i++)
            dti_storage_put(dst, layout, tile->raw, i, tile->codes[i]);
        (void)dti_format_bytes(dst, layout, tile->count, &bytes);
        status = dti_sink_put(&tile->sink, tile->raw, (size_t)bytes, reterr);
    }
    tile->count = 0;
    dti_progress_show(&array->progress, tile->numbers.bytes);
    return status;
}

/* The slow way: --like asks whether it was written as an integer, --overflow wrap for the low bits
 * of a number of any length. */
static enum dti_status store_operand(struct text_input_chunk *tile, const char *text, size_t length,
                                     uint64_t index, struct dti_scalar *ret,
                                     struct dti_error *reterr)
{
    const struct dti_request *request = &tile->array->request;
    struct dti_cast_operand operand;
    struct dti_cast route;
    enum dti_status status = dti_cast_operand_parse(&operand, text, length, index, reterr);
    if (status != DTI_OK)
        return status;
    if (operand.components == 2)
        status = dti_fail(reterr, DTI_BAD_VALUE, "%s is complex; arrays hold real numbers",
                          DTI_QUOTED(text, length));
    else if (!request->rule)
        dti_scalar_store(&request->cast, &operand.value[0], &operand.number[0], index, ret);
    else if (!dti_stack_cast(request->rule, &request->cast.dst, operand.integer_literal,
                             &operand.value[0], &route, ret))
        status = dti_fail(reterr, DTI_NOT_REPRESENTABLE, "the result of %s for %s is unknown: %s",
                          dti_stack_name(request->rule->stack), DTI_QUOTED(text, length),
                          request->rule->why_unknown);
    ret->input = operand.value[0];
    tile->integers[tile->count] = operand.integer_literal;
    dti_cast_operand_free(&operand);
    return status;
}

static enum dti_status store_number(struct text_input_chunk *tile, const char *text, size_t length,
                                    struct dti_error *reterr)
{
    struct cast_array *array = tile->array;
    const struct dti_cast *cast = &array->request.cast;
    const uint64_t index = array->elements + tile->count;
    struct dti_scalar scalar;
    enum dti_status status;
    if (array->request.rule || cast->policy.overflow == DTI_OVERFLOW_WRAP) {
        status = store_operand(tile, text, length, index, &scalar, reterr);
    } else {
        struct dti_value value;
        status = dti_value_parse(&value, text, length, reterr);
        if (status == DTI_OK)
            dti_scalar_store(cast, &value, NULL, index, &scalar);
    }
    if (status != DTI_OK)
        return status;
    if ((scalar.flags & DTI_FLAG_NO_NAN) && !array->request.rule &&
        cast->policy.overflow == DTI_OVERFLOW_NATIVE)
        return dti_fail(reterr, DTI_NOT_REPRESENTABLE,
                        "%s has no NaN; --overflow saturate stores the largest number instead",
                        dti_cast_stage(cast, scalar.no_nan_stage)->name);
    array->flags |= scalar.flags;
    tile->values[tile->count] = scalar.input;
    tile->codes[tile->count++] = scalar.code;
    return DTI_OK;
}

static enum dti_status cast_numbers(struct text_input_chunk *tile, struct dti_error *reterr)
{
    struct cast_array *array = tile->array;
    const char *text;
    size_t length;
    for (;;) {
        enum dti_status status = dti_text_numbers_next(&tile->numbers, &text, &length, reterr);
        if (status != DTI_OK)
            return status;
        if (!text)
            break;
        struct dti_error error;
        status = store_number(tile, text, length, &error);
        if (status != DTI_OK)
            return dti_text_numbers_fail(&tile->numbers, &error, reterr);
        if (tile->count == DTI_TILE)
            status = finish_tile(tile, reterr);
        if (status != DTI_OK)
            return status;
    }
    array->input_bytes = tile->numbers.bytes;
    enum dti_status status = finish_tile(tile, reterr);
    return status == DTI_OK ? dti_sink_flush(&tile->sink, reterr) : status;
}

enum dti_status dti_cast_array_from_text(struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_cast *cast = &array->request.cast;
    const struct dti_stack_rule *stack = array->request.rule;
    struct dti_format wide; /* no number of text is subnormal before the cast */
    enum dti_status status = dti_format_lookup("e19m44", &wide, NULL, reterr);
    if (status != DTI_OK)
        return status;
    struct text_input_chunk *tile = malloc(sizeof *tile);
    if (!tile)
        return dti_no_memory(reterr);
    tile->array = array;
    init_sink(&tile->sink, array);
    tile->count = 0;
    tile->cross_check = NULL;
    dti_loss_rule_init_cast(&tile->rule, &wide, cast, stack);
    dti_text_numbers_init(&tile->numbers, &array->input);
    memset(tile->integers, 0, sizeof tile->integers);
    if (array->job.device.runner)
        status = dti_cross_check_new(&tile->cross_check, cast, stack, array->job.device.runner,
                                     array->level, reterr);
    if (status == DTI_OK)
        status = cast_numbers(tile, reterr);
    dti_cross_check_free(tile->cross_check);
    dti_text_numbers_free(&tile->numbers);
    free(tile);
    return status;
}

/* Raw in, text out: blocks of whole tiles. */
struct text_output_chunk {
    struct cast_array *array;
    struct dti_text_sink sink;
    uint64_t src[BLOCK], dst[BLOCK]; /* elements of at most 8 bytes */
};

static enum dti_status put_block(struct text_output_chunk *block, size_t n,
                                 struct dti_error *reterr)
{
    struct cast_array *array = block->array;
    const struct dti_request *request = &array->request;
    enum dti_status status =
        dti_plan_run(array->plan, block->dst, block->src, n, array->elements, DTI_STORES_CACHED,
                     array->counted ? &array->loss : NULL, reterr);
    for (size_t i = 0; i < n && status == DTI_OK; i++)
        status = dti_sink_number(
            &block->sink, &request->cast.dst,
            dti_storage_get(&request->cast.dst, &request->dst_layout, block->dst, i), reterr);
    array->elements += n;
    dti_progress_show(&array->progress, array->elements);
    return status;
}

/* Number of elements in the block just read, of `size` bytes; only the last block may end with
 * padding. */
static enum dti_status count_elements(const struct text_output_chunk *block, size_t size,
                                      size_t *ret_n, struct dti_error *reterr)
{
    const struct cast_array *array = block->array;
    char label[DTI_QUOTE_SIZE];
    uint64_t all;
    unsigned padding;
    dti_input_label(&array->input, label);
    enum dti_status status =
        dti_transfer_elements(array->plan, array->input_bytes, label, &all, &padding, reterr);
    if (status != DTI_OK)
        return status;
    if (array->count != DTI_UNTIL_END) { /* checked before */
        *ret_n = (size_t)((all < array->count ? all : array->count) - array->elements);
        return DTI_OK;
    }
    const unsigned char last = size > 0 ? ((const unsigned char *)block->src)[size - 1] : 0;
    if (size > 0 && padding > 0)
        status = dti_storage_check_padding(&array->request.src, &array->request.src_layout, last,
                                           padding, label, reterr);
    if (status == DTI_OK)
        *ret_n = (size_t)(all - array->elements);
    return status;
}

static enum dti_status cast_blocks(struct text_output_chunk *block, struct dti_error *reterr)
{
    struct cast_array *array = block->array;
    uint64_t wanted = 0;
    size_t got, n;
    (void)dti_plan_src_bytes(array->plan, BLOCK, &wanted);
    do {
        enum dti_status status =
            dti_input_read(&array->input, block->src, (size_t)wanted, &got, reterr);
        if (status != DTI_OK)
            return status;
        array->input_bytes += got;
        status = count_elements(block, got, &n, reterr);
        if (status == DTI_OK)
            status = put_block(block, n, reterr);
        if (status != DTI_OK)
            return status;
    } while (got == wanted);
    return dti_sink_flush(&block->sink, reterr);
}

enum dti_status dti_cast_array_to_text(struct cast_array *array, struct dti_error *reterr)
{
    struct text_output_chunk *block = malloc(sizeof *block);
    if (!block)
        return dti_no_memory(reterr);
    block->array = array;
    init_sink(&block->sink, array);
    enum dti_status status = cast_blocks(block, reterr);
    free(block);
    return status;
}
