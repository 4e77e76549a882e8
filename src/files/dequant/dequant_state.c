/* SPDX-License-Identifier: MIT
 *
 * Flattened tensors of bitsandbytes: the state has their original shape, dtype and block length,
 * and the other parts must fit it.
 *
 * Reads the JSON of a state: a few members, each of which must exist and be what bitsandbytes
 * writes. It is untrusted. */
#include <math.h>
#include <string.h>

#include "core/number/number.h"
#include "files/dequant/dequant_find.h"
#include "files/stored/quant_state.h"
#include "util/checked.h"
#include "util/json/json_read.h"

enum {
    STATE_MAX = 4096, /* bytes; bitsandbytes writes fewer than 300 */
    BLOCK_LEAST = 32,
    BLOCK_MOST = 4096, /* bitsandbytes allows powers of two */
};

enum member { TYPE, BLOCK, DTYPE, SHAPE, NESTED_BLOCK, NESTED_DTYPE, NESTED_OFFSET, MEMBERS };
static const char *const member_names[MEMBERS] = {
    [TYPE] = "quant_type",
    [BLOCK] = "blocksize",
    [DTYPE] = "dtype",
    [SHAPE] = "shape",
    [NESTED_BLOCK] = "nested_blocksize",
    [NESTED_DTYPE] = "nested_dtype",
    [NESTED_OFFSET] = "nested_offset",
};

/* A state being read. */
struct state_reading {
    const struct dti_dequant_group *group;
    struct dti_json_reader json;
    struct dti_stored_state *state;
};

static enum dti_status fail_json(const struct state_reading *reading, struct dti_error *reterr)
{
    if (reading->json.string.failed)
        return dti_no_memory(reterr);
    return dti_dequant_refuse(&reading->group->part[DTI_PART_STATE], reterr, DTI_REMEDY_KEEP,
                              "it is not JSON: %s at byte %zu", reading->json.problem,
                              (size_t)(reading->json.at - reading->json.start));
}

static enum dti_status next(struct state_reading *reading, enum dti_json_token *ret,
                            struct dti_error *reterr)
{
    return dti_json_next(&reading->json, ret) ? DTI_OK : fail_json(reading, reterr);
}

static enum dti_status fail_member(const struct state_reading *reading, enum member member,
                                   const char *wanted, struct dti_error *reterr)
{
    return dti_dequant_refuse(&reading->group->part[DTI_PART_STATE], reterr, DTI_REMEDY_KEEP,
                              "its \"%s\" is not %s", member_names[member], wanted);
}

/* The name of the row's dtype, and dtypes that bitsandbytes dequantizes to. */
static bool is_word(const struct state_reading *reading, enum member member)
{
    static const enum dti_dtype dtypes[] = {DTI_FP32, DTI_FP16, DTI_BF16};
    if (member == TYPE)
        return dti_json_string_is(&reading->json,
                                  dti_quant_state_name(reading->group->stated)->word);
    for (size_t i = 0; i < (member == DTYPE ? sizeof dtypes / sizeof *dtypes : 1); i++) {
        const struct dti_format *const format = dti_format_get(dtypes[i]);
        if (!dti_json_string_is(&reading->json, dti_quant_state_dtype(format)))
            continue;
        reading->state->number = member == DTYPE ? format : reading->state->number;
        return true;
    }
    return false;
}

/* Bounded, so that no product of dimensions overflows unnoticed. */
static enum dti_status read_shape(struct state_reading *reading, struct dti_error *reterr)
{
    struct dti_stored_state *const state = reading->state;
    enum dti_json_token token;
    state->rank = 0;
    state->elements = 1;
    for (;;) {
        const enum dti_status status = next(reading, &token, reterr);
        if (status != DTI_OK || token == DTI_JSON_ARRAY_END)
            return status;
        uint64_t length;
        if (token != DTI_JSON_NUMBER || state->rank == DTI_QUANT_RANK_MAX ||
            !dti_json_u64(&reading->json, &length) || length > UINT64_C(1) << 60 ||
            !dti_mul_u64(state->elements, length, &state->elements) ||
            state->elements > UINT64_C(1) << 60)
            return fail_member(reading, SHAPE, "a list of at most 16 lengths of a tensor", reterr);
        state->shape[state->rank++] = length;
    }
}

/* As in Python: parsed as a double, then converted to fp32. */
static bool read_offset(struct state_reading *reading)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    if (dti_value_parse(&value, reading->json.token, reading->json.token_length, NULL) != DTI_OK)
        return false;
    dti_encode(dti_format_get(DTI_FP64), &value, &nearest, 0, &outcome);
    dti_decode(dti_format_get(DTI_FP64), outcome.code, &value);
    dti_encode(dti_format_get(DTI_FP32), &value, &nearest, 0, &outcome);
    const uint32_t code = (uint32_t)outcome.code;
    memcpy(&reading->state->offset, &code, sizeof code);
    return isfinite(reading->state->offset);
}

static enum dti_status read_block(struct state_reading *reading, enum member member, bool number,
                                  uint64_t *ret, struct dti_error *reterr)
{
    if (number && dti_json_u64(&reading->json, ret) && *ret >= BLOCK_LEAST && *ret <= BLOCK_MOST &&
        (*ret & (*ret - 1)) == 0)
        return DTI_OK;
    return fail_member(reading, member, "a power of two from 32 to 4096", reterr);
}

static enum dti_status read_member(struct state_reading *reading, enum member member,
                                   struct dti_error *reterr)
{
    struct dti_stored_state *const state = reading->state;
    enum dti_json_token token;
    const enum dti_status status = next(reading, &token, reterr);
    const bool number = token == DTI_JSON_NUMBER;
    if (status != DTI_OK)
        return status;
    switch (member) {
    case BLOCK:
        return read_block(reading, member, number, &state->block, reterr);
    case NESTED_BLOCK:
        return read_block(reading, member, number, &state->nested_block, reterr);
    case SHAPE:
        return token == DTI_JSON_ARRAY ? read_shape(reading, reterr)
                                       : fail_member(reading, member, "a list", reterr);
    case NESTED_OFFSET:
        return number && read_offset(reading)
                   ? DTI_OK
                   : fail_member(reading, member, "a finite number of fp32", reterr);
    default:
        if (token == DTI_JSON_STRING && is_word(reading, member))
            return DTI_OK;
        return fail_member(reading, member,
                           member == TYPE    ? "what the name of the tensor says"
                           : member == DTYPE ? "float32, float16 or bfloat16"
                                             : "float32",
                           reterr);
    }
}

/* Rejects duplicate members, which JSON readers treat differently, and unknown ones, which
 * bitsandbytes rejects. */
static enum dti_status find_member(struct state_reading *reading, enum member *ret,
                                   struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const char *text;
    size_t length;
    unsigned member = 0;
    while (member < MEMBERS && !dti_json_string_is(&reading->json, member_names[member]))
        member++;
    if (member < MEMBERS && (reading->state->seen >> member & 1) == 0) {
        reading->state->seen |= 1U << member;
        *ret = (enum member)member;
        return DTI_OK;
    }
    dti_json_string_value(&reading->json, &text, &length);
    return dti_dequant_refuse(&reading->group->part[DTI_PART_STATE], reterr, DTI_REMEDY_KEEP,
                              member < MEMBERS ? "its member %s is there twice"
                                               : "its member %s is unknown",
                              dti_quote(quoted, text, length));
}

static enum dti_status read_members(struct state_reading *reading, struct dti_error *reterr)
{
    enum dti_json_token token;
    enum dti_status status = next(reading, &token, reterr);
    if (status == DTI_OK && token != DTI_JSON_OBJECT)
        return dti_dequant_refuse(&reading->group->part[DTI_PART_STATE], reterr, DTI_REMEDY_KEEP,
                                  "it is not a JSON object");
    while (status == DTI_OK && (status = next(reading, &token, reterr)) == DTI_OK &&
           token == DTI_JSON_KEY) {
        enum member member = TYPE;
        status = find_member(reading, &member, reterr);
        if (status == DTI_OK)
            status = read_member(reading, member, reterr);
    }
    if (status == DTI_OK)
        status = next(reading, &token, reterr); /* the end token */
    for (unsigned i = 0; i < MEMBERS && status == DTI_OK; i++) {
        const bool nested = dti_dequant_has(reading->group, DTI_PART_NESTED_SCALE);
        const bool there = (reading->state->seen >> i & 1) != 0;
        if (there != (i < NESTED_BLOCK || nested))
            status = dti_dequant_refuse(
                &reading->group->part[DTI_PART_STATE], reterr, DTI_REMEDY_KEEP,
                there ? "it has a member %s, but there is no tensor '...nested_absmax'"
                      : "it has no member %s",
                member_names[i]);
    }
    return status;
}

/* Fails with DTI_BAD_INPUT. */
static enum dti_status dequant_read_state(const struct dti_dequant_group *group,
                                          struct dti_stored_state *ret, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_STATE];
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    struct state_reading reading = {.group = group, .state = ret};
    char text[STATE_MAX];
    memset(ret, 0, sizeof *ret);
    if (tensor->format->id != DTI_UINT8 || tensor->rank != 1 || tensor->bytes > STATE_MAX)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected JSON of at most %d bytes, as U8", (int)STATE_MAX);
    enum dti_status status = dti_dequant_read_all(part, text, (size_t)tensor->bytes, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_reader_init(&reading.json, text, (size_t)tensor->bytes);
    status = read_members(&reading, reterr);
    dti_json_reader_free(&reading.json);
    return status;
}

/* Checks that a part has `elements` elements of the dtype. */
static enum dti_status check_size(const struct dti_dequant_group *group, enum dti_quant_part which,
                                  enum dti_dtype dtype, uint64_t elements, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = dti_dequant_of(group, which);
    if (tensor->format->id == dtype && tensor->elements == elements)
        return DTI_OK;
    return dti_dequant_refuse(&group->part[which], reterr, DTI_REMEDY_KEEP,
                              "it has %llu elements of %s; by its state it should have %llu of %s",
                              (unsigned long long)tensor->elements, tensor->format->name,
                              (unsigned long long)elements, dti_format_get(dtype)->name);
}

static bool is_float(const struct dti_format *format)
{
    return format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
}

/* Checks sizes and dtypes of all parts. */
static enum dti_status check_sizes(const struct dti_dequant_group *group,
                                   const struct dti_stored_state *state, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const uint64_t blocks = dti_divide_up(state->elements, state->block);
    const bool nested = state->nested_block > 0;
    const uint64_t bytes = dti_divide_up(state->elements, 2);
    if (codes->bytes != bytes)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "it has %llu bytes; %llu elements by its state have %llu",
                                  (unsigned long long)codes->bytes,
                                  (unsigned long long)state->elements, (unsigned long long)bytes);
    enum dti_status status = check_size(group, DTI_PART_SCALE,
                                        nested                     ? DTI_UINT8
                                        : is_float(scales->format) ? scales->format->id
                                                                   : DTI_FP32,
                                        blocks, reterr);
    if (status == DTI_OK)
        status = check_size(group, DTI_PART_MAP, DTI_FP32, DTI_QUANT_MAP_SIZE, reterr);
    if (status != DTI_OK || !nested)
        return status;
    status = check_size(group, DTI_PART_NESTED_SCALE, DTI_FP32,
                        dti_divide_up(blocks, state->nested_block), reterr);
    if (status == DTI_OK)
        status = check_size(group, DTI_PART_NESTED_MAP, DTI_FP32, DTI_NESTED_CODES, reterr);
    return status;
}

/* Checks that all parts are plain arrays and none is missing. */
static enum dti_status check_parts(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group, struct dti_error *reterr)
{
    const bool nested = dti_dequant_has(group, DTI_PART_NESTED_SCALE) ||
                        dti_dequant_has(group, DTI_PART_NESTED_MAP);
    enum dti_status status = DTI_OK;
    size_t at;
    for (size_t i = 0; i < dti_quant_state_name_count; i++) {
        const struct dti_quant_state_name *const other = &dti_quant_state_names[i];
        if (strcmp(other->dtype, dti_quant_row_name(group->stated)) != 0 &&
            dti_quant_names_find(&dequant->names, group->name, group->name_length, other->suffix,
                                 &at))
            return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                      "it has two states, one of them a tensor '...%s'",
                                      other->suffix + 1);
    }
    for (unsigned i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
        const enum dti_quant_part part = (enum dti_quant_part)i;
        const bool wanted =
            part == DTI_PART_MAP ||
            (nested && (part == DTI_PART_NESTED_SCALE || part == DTI_PART_NESTED_MAP));
        if (wanted && !dti_dequant_has(group, part)) {
            dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
            return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                      "it needs a tensor '...%s', which is missing",
                                      dti_quant_suffix(group->stated, part) + 1);
        }
        status = dti_dequant_check_part(&group->part[i], reterr);
    }
    return status;
}

/* Reads the fp32 numbers of a part. */
static enum dti_status read_floats(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_part *part, float *ret, size_t n,
                                   struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    const struct dti_plan *const plan =
        dti_dequant_scale_plan(dequant, tensor->format, &tensor->layout);
    unsigned char raw[sizeof(float) * DTI_NESTED_CODES];
    if (!plan)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_dequant_read_all(part, raw, n * sizeof *ret, reterr);
    if (status != DTI_OK)
        return status;
    return dti_plan_run(plan, ret, raw, n, 0, DTI_STORES_CACHED, NULL, reterr);
}

/* bitsandbytes itself ignores the map of codes: a map that differs would be ambiguous.
 */
static enum dti_status check_map(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group, struct dti_error *reterr)
{
    const struct dti_block_format *const block = group->stated->block;
    float map[DTI_QUANT_MAP_SIZE], own[DTI_QUANT_MAP_SIZE];
    const enum dti_status status =
        read_floats(dequant, &group->part[DTI_PART_MAP], map, DTI_QUANT_MAP_SIZE, reterr);
    memcpy(own, dti_block_table(block), sizeof own);
    for (unsigned i = 0; i < DTI_QUANT_MAP_SIZE && status == DTI_OK; i++) {
        if (!(map[i] >= own[i] && map[i] <= own[i]))
            return dti_dequant_refuse(&group->part[DTI_PART_MAP], reterr, DTI_REMEDY_KEEP,
                                      "its number of code %u is not that of %s", i, block->name);
    }
    return status;
}

static enum dti_status set_nested(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_stored_state *state,
                                  struct dti_dequant_tensor *how, struct dti_error *reterr)
{
    const struct dti_dequant_part *const scales = &group->part[DTI_PART_NESTED_SCALE];
    struct dti_dequant_nested *const nested = dti_pool_alloc(&dequant->pool, sizeof *nested);
    if (!nested)
        return dti_no_memory(reterr);
    if (dti_is_big_endian(&dti_dequant_part_tensor(scales)->layout))
        return dti_dequant_refuse(scales, reterr, DTI_REMEDY_NONE, "it must be little-endian");
    *nested = (struct dti_dequant_nested){
        .scales = *scales, .block = state->nested_block, .offset = state->offset};
    how->nested = nested;
    return read_floats(dequant, &group->part[DTI_PART_NESTED_MAP], nested->map, DTI_NESTED_CODES,
                       reterr);
}

/* Sets it up as a single row of blocks. */
static enum dti_status set_how(struct dti_file_dequant *dequant,
                               const struct dti_dequant_group *group,
                               const struct dti_stored_state *state, struct dti_dequant_tensor *how,
                               struct dti_error *reterr)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    how->is->block = group->stated->block;
    DTI_SET_PART(how, codes, group->part[DTI_PART_CODES]);
    DTI_SET_PART(how, scales, group->part[DTI_PART_SCALE]);
    how->is->elements = how->is->columns = state->elements;
    how->is->rows = how->is->slab = how->is->stored_slab = 1;
    how->is->row_bytes = dti_dequant_of(group, DTI_PART_CODES)->bytes;
    how->is->bits = 4;
    how->is->order = DTI_BLOCK_HIGH;
    how->is->map = (struct dti_scale_map){
        .length = 1, .mid = 1, .group_rows = 1, .group_columns = state->block, .of_column = 1};
    how->is->scale_count = how->is->scale_columns = scales->elements;
    how->is->scale_rows = 1;
    how->tensor_scale = 1;
    how->is->spread = state->nested_block > 0 || state->block != how->is->block->length ||
                      scales->format->id != DTI_FP32 || dti_is_big_endian(&scales->layout);
    how->is->parts = dti_dequant_block_parts(dequant, how->is->block);
    if (!how->is->parts)
        return dti_no_memory(reterr);
    if (state->nested_block > 0)
        return set_nested(dequant, group, state, how, reterr);
    how->is->scale_plan = dti_dequant_scale_plan(dequant, scales->format, &scales->layout);
    return how->is->scale_plan ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_dequant_stated(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    struct dti_stored_state state;
    enum dti_status status = check_parts(dequant, group, reterr);
    if (status == DTI_OK)
        status = dequant_read_state(group, &state, reterr);
    if (status == DTI_OK)
        status = check_sizes(group, &state, reterr);
    if (status == DTI_OK)
        status = check_map(dequant, group, reterr);
    if (status == DTI_OK)
        status = set_how(dequant, group, &state, &ret->how, reterr);
    if (status != DTI_OK)
        return status;
    ret->form.is->dtype = dti_quant_row_name(group->stated);
    ret->form.is->layout = dti_quant_layout_name(group->stated->layout);
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->group[1] = state.block;
    ret->form.is->flat = true;
    ret->form.is->nested = state.nested_block > 0;
    ret->form.is->number = state.number;
    return dti_dequant_show(dequant, group, state.rank, state.shape, ret, reterr);
}
