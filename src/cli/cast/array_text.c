/* SPDX-License-Identifier: MIT
 *
 * Array casts with text on one side, in blocks, or in pieces of whole tiles that a thread team
 * casts in parallel. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/array.h"
#include "cli/rewrite/text_numbers.h"
#include "cli/shell/standard.h"
#include "convert/block_queue.h"
#include "util/run/allocate.h"

enum { BLOCK = 4 * DTI_TILE };

/* Appends a number on a line. */
static void put_number(struct dti_buffer *text, const struct dti_format *format, uint64_t code)
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

/* Writes the next bytes of the output, in order. */
static enum dti_status write_bytes(struct cast_array *array, const struct dti_buffer *bytes,
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

/* Runs a queue with array->threads members. */
static enum dti_status run_queue(struct cast_array *array, const struct dti_queue *queue,
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

/* To text: raw codes come in, one number a line goes out. */

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
static enum dti_status take_numbers(void *context, size_t member, bool *ret_any,
                                    struct dti_error *reterr)
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
        put_number(&block->text, &request->cast.dst,
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
    return write_bytes(array, &block->text, reterr);
}

enum dti_status dti_cast_array_to_text(struct cast_array *array, struct dti_error *reterr)
{
    struct text_output output = {.array = array};
    const struct dti_queue queue = {
        .take = take_numbers, .work = work, .finish = finish, .context = &output};
    output.chunks = dti_malloc(array->threads * sizeof *output.chunks);
    if (!output.chunks)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < array->threads; i++) {
        dti_buffer_init(&output.chunks[i].text);
        dti_loss_init(&output.chunks[i].loss);
    }
    const enum dti_status status = run_queue(array, &queue, reterr);
    for (size_t i = 0; i < array->threads; i++) {
        dti_loss_merge(&array->loss, &output.chunks[i].loss);
        dti_buffer_free(&output.chunks[i].text);
    }
    dti_free(output.chunks);
    return status;
}

/* From text: numbers with white space or commas between them come in. Each is rounded once, from
 * its text, as on the command line. */

enum { PIECE = 4 * DTI_TILE };

struct text_input;

/* The work of a thread. */
struct text_tile {
    const struct text_input *of;
    struct dti_text_piece piece; /* its text is in: */
    struct dti_buffer text;
    uint64_t first;  /* index of the piece's first number */
    uint64_t read;   /* bytes read so far */
    size_t elements; /* elements of the piece that were cast */
    struct dti_buffer out;
    struct dti_loss loss;
    unsigned flags;
    /* a tile of numbers */
    size_t count;
    uint64_t codes[DTI_TILE];
    struct dti_value values[DTI_TILE];
    bool integers[DTI_TILE]; /* written as such */
    struct dti_stored_number asked[DTI_TILE];
    uint64_t raw[DTI_TILE];
};

struct text_input {
    struct cast_array *array;
    struct dti_text_numbers numbers;
    struct dti_loss_rule rule;
    struct dti_cross_check *cross_check; /* cross-check of --device, or NULL */
    uint64_t taken;                      /* numbers */
    bool at_end;
    struct text_tile *tiles; /* for each thread */
};

/* The device casts the same numbers and must store the same codes. */
static enum dti_status ask_device(struct text_tile *tile, struct dti_error *reterr)
{
    for (size_t i = 0; i < tile->count; i++)
        tile->asked[i] = (struct dti_stored_number){
            .value = tile->values[i], .integer_literal = tile->integers[i], .code = tile->codes[i]};
    return dti_cast_device_ask(&tile->of->array->job.device, tile->of->cross_check, tile->asked,
                               tile->count, tile->first + tile->elements, reterr);
}

static enum dti_status finish_tile(struct text_tile *tile, struct dti_error *reterr)
{
    const struct cast_array *const array = tile->of->array;
    const struct dti_format *const dst = &array->request.cast.dst;
    const struct dti_layout *const layout = &array->request.dst_layout;
    uint64_t bytes = 0;
    if (tile->of->cross_check) {
        const enum dti_status status = ask_device(tile, reterr);
        if (status != DTI_OK)
            return status;
    }
    if (array->counted)
        dti_loss_add_values(&tile->of->rule, tile->values, tile->codes, tile->count,
                            tile->first + tile->elements, &tile->loss);
    if (array->to_text) {
        for (size_t i = 0; i < tile->count; i++)
            put_number(&tile->out, dst, tile->codes[i]);
    } else {
        memset(tile->raw, 0, sizeof tile->raw);
        for (size_t i = 0; i < tile->count; i++)
            dti_storage_put(dst, layout, tile->raw, i, tile->codes[i]);
        (void)dti_format_bytes(dst, layout, tile->count, &bytes);
        dti_buffer_append(&tile->out, (const char *)tile->raw, (size_t)bytes);
    }
    tile->elements += tile->count;
    tile->count = 0;
    return tile->out.failed ? dti_no_memory(reterr) : DTI_OK;
}

/* Slow path: --like needs to know whether the number was written as an integer, --overflow wrap
 * needs the low bits of a number of any length. */
static enum dti_status store_operand(struct text_tile *tile, const char *text, size_t length,
                                     uint64_t index, struct dti_scalar *ret,
                                     struct dti_error *reterr)
{
    const struct dti_request *request = &tile->of->array->request;
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
                          dti_stack_why_unknown(request->rule));
    ret->input = operand.value[0];
    tile->integers[tile->count] = operand.integer_literal;
    dti_cast_operand_free(&operand);
    return status;
}

static enum dti_status store_number(struct text_tile *tile, const char *text, size_t length,
                                    struct dti_error *reterr)
{
    const struct dti_request *const request = &tile->of->array->request;
    const struct dti_cast *const cast = &request->cast;
    const uint64_t index = tile->first + tile->elements + tile->count;
    struct dti_scalar scalar;
    enum dti_status status;
    if (request->rule || cast->policy.overflow == DTI_OVERFLOW_WRAP) {
        status = store_operand(tile, text, length, index, &scalar, reterr);
    } else {
        struct dti_value value;
        status = dti_value_parse(&value, text, length, reterr);
        if (status == DTI_OK)
            dti_scalar_store(cast, &value, NULL, index, &scalar);
    }
    if (status != DTI_OK)
        return status;
    if ((scalar.flags & DTI_FLAG_NO_NAN) && !request->rule &&
        cast->policy.overflow == DTI_OVERFLOW_NATIVE)
        return dti_fail(reterr, DTI_NOT_REPRESENTABLE,
                        "%s has no NaN; --overflow saturate stores the largest number instead",
                        dti_cast_stage(cast, scalar.no_nan_stage)->name);
    tile->flags |= scalar.flags;
    tile->values[tile->count] = scalar.input;
    tile->codes[tile->count++] = scalar.code;
    return DTI_OK;
}

/* Stores up to `most` numbers in the tile, which has room for them. */
static enum dti_status store_numbers(struct text_tile *tile, struct dti_text_numbers *numbers,
                                     size_t most, bool *ret_at_end, struct dti_error *reterr)
{
    *ret_at_end = false;
    while (tile->count < most) {
        struct dti_error error;
        const char *text;
        size_t length;
        enum dti_status status = dti_text_numbers_next(numbers, &text, &length, reterr);
        if (status != DTI_OK)
            return status;
        if (!text) {
            *ret_at_end = true;
            return DTI_OK;
        }
        status = store_number(tile, text, length, &error);
        if (status != DTI_OK)
            return dti_text_numbers_fail(numbers, &error, reterr);
    }
    return DTI_OK;
}

/* For struct dti_queue. Numbers too long for a piece are stored one by one here. */
static enum dti_status take_piece(void *context, size_t member, bool *ret_any,
                                  struct dti_error *reterr)
{
    struct text_input *const input = context;
    struct text_tile *const tile = &input->tiles[member];
    tile->first = input->taken;
    tile->elements = 0;
    dti_buffer_clear(&tile->text);
    dti_buffer_clear(&tile->out);
    enum dti_status status =
        dti_text_numbers_piece(&input->numbers, PIECE, DTI_TILE, &tile->piece, reterr);
    if (status == DTI_OK && tile->piece.length == 0 && !input->at_end)
        status = store_numbers(tile, &input->numbers, DTI_TILE, &input->at_end, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_append(&tile->text, tile->piece.text, tile->piece.length);
    tile->piece.text = tile->text.data;
    tile->read = input->numbers.bytes;
    input->taken += tile->piece.count + tile->count;
    *ret_any = tile->piece.length + tile->count > 0;
    return tile->text.failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status cast_piece(void *context, size_t member, size_t part, uint64_t first,
                                  size_t n, struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct text_input *const input = context;
    struct text_tile *const tile = &input->tiles[member];
    struct dti_text_numbers numbers;
    enum dti_status status = DTI_OK;
    bool at_end = tile->piece.length == 0;
    dti_text_numbers_of_piece(&numbers, &input->array->input, &tile->piece);
    do {
        if (!at_end)
            status = store_numbers(tile, &numbers, DTI_TILE, &at_end, reterr);
        if (status == DTI_OK)
            status = finish_tile(tile, reterr);
    } while (status == DTI_OK && !at_end);
    return status;
}

static enum dti_status finish_piece(void *context, size_t member, size_t part, uint64_t first,
                                    size_t n, struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct text_input *const input = context;
    const struct text_tile *const tile = &input->tiles[member];
    input->array->elements += tile->elements;
    dti_progress_show(&input->array->progress, tile->read);
    return write_bytes(input->array, &tile->out, reterr);
}

static enum dti_status cast_text(struct text_input *input, struct dti_error *reterr)
{
    struct cast_array *const array = input->array;
    const struct dti_queue queue = {
        .take = take_piece, .work = cast_piece, .finish = finish_piece, .context = input};
    for (size_t i = 0; i < array->threads; i++) {
        struct text_tile *const tile = &input->tiles[i];
        tile->of = input;
        dti_buffer_init(&tile->text);
        dti_buffer_init(&tile->out);
        dti_loss_init(&tile->loss);
    }
    const enum dti_status status = run_queue(array, &queue, reterr);
    for (size_t i = 0; i < array->threads; i++) {
        struct text_tile *const tile = &input->tiles[i];
        dti_loss_merge(&array->loss, &tile->loss);
        array->flags |= tile->flags;
        dti_buffer_free(&tile->text);
        dti_buffer_free(&tile->out);
    }
    array->input_bytes = input->numbers.bytes;
    return status;
}

enum dti_status dti_cast_array_from_text(struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_cast *cast = &array->request.cast;
    const struct dti_stack_rule *stack = array->request.rule;
    struct text_input input = {.array = array};
    struct dti_format wide; /* before the cast no number read from text is subnormal */
    enum dti_status status = dti_format_lookup("e19m44", &wide, NULL, reterr);
    if (status != DTI_OK)
        return status;
    input.tiles = dti_calloc(array->threads, sizeof *input.tiles);
    if (!input.tiles)
        return dti_no_memory(reterr);
    dti_loss_rule_init_cast(&input.rule, &wide, cast, stack);
    dti_text_numbers_init(&input.numbers, &array->input);
    if (array->job.device.runner)
        status = dti_cross_check_new(&input.cross_check, cast, stack, array->job.device.runner,
                                     array->level, reterr);
    if (status == DTI_OK)
        status = cast_text(&input, reterr);
    dti_cross_check_free(input.cross_check);
    dti_text_numbers_free(&input.numbers);
    dti_free(input.tiles);
    return status;
}
