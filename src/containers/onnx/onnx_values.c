/* SPDX-License-Identifier: MIT
 *
 * Values stored not as raw bytes but as numbers in a typed field, packed or one by one. They are
 * validated when the model is opened, and decoded into an unnamed temporary file on first use.
 * Floats that are contiguous in the file are read in place. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "containers/containers.h"
#include "containers/onnx/onnx.h"
#include "io/scratch.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum { FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 };
enum { PIECE = 64 * 1024 };

static const struct dti_onnx_type types[DTI_DTYPE_COUNT] = {
#define ONNX_TYPE(row, in, width, each, packed) \
    [DTI_##row] = {.field = in, .bits = width, .numbers = each, .elements = packed},
#include "containers/onnx/onnx_types.def"
#undef ONNX_TYPE
};

bool dti_onnx_type(uint64_t id, struct dti_onnx_type *ret)
{
    size_t at = 0;
    while (at < dti_dtype_name_count && (dti_dtype_names[at].system != DTI_SYSTEM_ONNX ||
                                         (uint64_t)dti_dtype_names[at].number != id))
        at++;
    if (at == dti_dtype_name_count || types[dti_dtype_names[at].dtype].field == 0)
        return false;
    *ret = types[dti_dtype_names[at].dtype];
    ret->name = dti_dtype_names[at].name;
    ret->format = dti_format_get(dti_dtype_names[at].dtype);
    return true;
}

/* The numbers of one tensor. */
struct values {
    struct dti_wire *wire;
    const struct dti_onnx_type *type;
    uint64_t count, runs, at;  /* numbers; contiguous runs, and the offset of the first */
    struct dti_input *scratch; /* NULL: only validate */
    unsigned char *piece;      /* PIECE bytes */
    size_t used;
    unsigned part, part_bits; /* of an incomplete byte */
};

static bool is_fixed(const struct dti_onnx_type *type)
{
    return type->field == FLOAT_DATA || type->field == DOUBLE_DATA;
}

static bool flush(struct values *values)
{
    struct dti_opening *const opening = values->wire->opening;
    const size_t size = values->used;
    values->used = 0;
    return dti_opening_goes_on(
        opening, dti_scratch_append(values->scratch, values->piece, size, opening->error));
}

static bool put(struct values *values, uint64_t number)
{
    const unsigned bits = values->type->bits;
    values->count++;
    if (!values->scratch)
        return true;
    if (bits % 8 == 0) {
        dti_little_put(values->piece + values->used, bits / 8, number);
        values->used += bits / 8;
    } else {
        values->part |= ((unsigned)number & ((1u << bits) - 1)) << values->part_bits;
        values->part_bits += bits;
        if (values->part_bits >= 8) {
            values->piece[values->used++] = (unsigned char)values->part;
            values->part >>= 8;
            values->part_bits -= 8;
        }
    }
    return values->used <= PIECE - sizeof number || flush(values);
}

/* Refuses a number that does not fit its element. Some writers sign-extend codes. */
static bool put_integer(struct values *values, uint64_t number, uint64_t at)
{
    const unsigned bits = values->type->bits;
    const int64_t value = (int32_t)(uint32_t)number;
    bool fits = true;
    if (values->type->field == INT32_DATA)
        fits = value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << bits;
    else if (bits < 64)
        fits = number >> bits == 0;
    return fits ? put(values, number)
                : dti_opening_refuse(values->wire->opening,
                                     ": the number %" PRId64 " at byte %" PRIu64
                                     " does not fit the type %s of its tensor",
                                     values->type->field == INT32_DATA ? value : (int64_t)number,
                                     at, values->type->name);
}

static bool take_packed(struct values *values, const struct dti_wire_field *field)
{
    struct dti_wire *const wire = values->wire;
    const uint64_t end = field->at + field->value;
    const size_t size = values->type->bits / 8;
    uint64_t number;
    if (is_fixed(values->type) && field->value % size != 0)
        return dti_opening_refuse(wire->opening,
                                  ": damaged: the %" PRIu64 " bytes at byte %" PRIu64
                                  " are no whole numbers of %zu bytes",
                                  field->value, field->at, size);
    if (is_fixed(values->type) && !values->scratch) {
        values->count += field->value / size;
        dti_wire_seek(wire, end);
        return true;
    }
    while (dti_wire_at(wire) < end) {
        const uint64_t at = dti_wire_at(wire);
        if (is_fixed(values->type)
                ? !dti_wire_fixed(wire, size, end, &number) || !put(values, number)
                : !dti_wire_varint(wire, end, &number) || !put_integer(values, number, at))
            return false;
    }
    return true;
}

static bool take_value(struct values *values, const struct dti_wire_field *field)
{
    const enum dti_wire_type single = !is_fixed(values->type)    ? DTI_WIRE_VARINT
                                      : values->type->bits == 32 ? DTI_WIRE_FIXED32
                                                                 : DTI_WIRE_FIXED64;
    const bool packed = field->type == DTI_WIRE_BYTES && field->value > 0;
    if (field->number != values->type->field || (!packed && field->type != single)) {
        if (field->type == DTI_WIRE_BYTES)
            dti_wire_seek(values->wire, field->at + field->value);
        return true;
    }
    if (values->runs++ == 0)
        values->at = field->at;
    return packed                   ? take_packed(values, field)
           : is_fixed(values->type) ? put(values, field->value)
                                    : put_integer(values, field->value, field->at);
}

static bool take_all(struct values *values, uint64_t start, uint64_t end)
{
    struct dti_wire_field field;
    dti_wire_seek(values->wire, start);
    while (dti_wire_at(values->wire) < end) {
        if (!dti_wire_next(values->wire, end, &field) || !take_value(values, &field))
            return false;
    }
    if (values->part_bits > 0)
        values->piece[values->used++] = (unsigned char)values->part;
    return values->used == 0 || flush(values);
}

bool dti_onnx_check_values(struct dti_wire *wire, const struct dti_onnx_type *type, uint64_t start,
                           uint64_t end, uint64_t *ret_count, uint64_t *ret_at)
{
    struct values values = {.wire = wire, .type = type, .at = start};
    if (!take_all(&values, start, end))
        return false;
    *ret_count = values.count;
    *ret_at = values.runs == 0 || (values.runs == 1 && is_fixed(type)) ? values.at : UINT64_MAX;
    return true;
}

/* Memory for decoding: a wire stream over the model, and an output buffer. */
struct decoder {
    struct dti_wire wire;
    unsigned char piece[PIECE];
};

static enum dti_status decode(struct dti_container *container, struct dti_onnx *onnx, size_t at,
                              struct decoder *decoder, struct dti_error *reterr)
{
    struct dti_onnx_tensor *const tensor = &onnx->tensors[at];
    struct dti_opening opening = {.container = container, .error = reterr};
    struct dti_onnx_type type;
    dti_opening_turn_to(&opening, &container->files[0]);
    decoder->wire.opening = &opening;
    decoder->wire.buffer_at = 0;
    decoder->wire.have = decoder->wire.next = 0;
    const bool known = dti_onnx_type(tensor->type, &type);
    assert(known); /* as when the model was opened */
    (void)known;
    struct values values = {
        .wire = &decoder->wire, .type = &type, .scratch = &onnx->scratch, .piece = decoder->piece};
    tensor->offset = onnx->scratch.size;
    if (!take_all(&values, tensor->start, tensor->end))
        return opening.status;
    tensor->decoded = onnx->scratch.size - tensor->offset == container->tensors[at].bytes;
    return tensor->decoded
               ? DTI_OK
               : dti_fail(reterr, DTI_BAD_INPUT, "%s changed while it was read", opening.label);
}

enum dti_status dti_onnx_data(struct dti_container *container, size_t tensor,
                              const struct dti_input **ret_input, uint64_t *ret_offset,
                              struct dti_error *reterr)
{
    struct dti_onnx *const onnx = container->own;
    const struct dti_tensor *const stored = &container->tensors[tensor];
    enum dti_status status = DTI_OK;
    if (!stored->compressed) {
        *ret_input = &container->files[stored->file].input;
        *ret_offset = stored->offset;
        return DTI_OK;
    }
    if (!onnx->decoding) {
        status = dti_scratch_open(&onnx->scratch, container->files[0].input.name, 0, reterr);
        if (status != DTI_OK)
            return status;
        onnx->decoding = true;
    }
    if (!onnx->tensors[tensor].decoded) {
        struct decoder *const decoder = dti_malloc(sizeof *decoder);
        status = decoder ? decode(container, onnx, tensor, decoder, reterr) : dti_no_memory(reterr);
        dti_free(decoder);
    }
    if (status != DTI_OK)
        return status;
    *ret_input = &onnx->scratch;
    *ret_offset = onnx->tensors[tensor].offset;
    return DTI_OK;
}

void dti_onnx_free(struct dti_container *container)
{
    struct dti_onnx *const onnx = container->own;
    if (onnx && onnx->decoding)
        dti_input_close(&onnx->scratch);
    container->own = NULL;
}
