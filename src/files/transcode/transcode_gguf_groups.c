/* SPDX-License-Identifier: MIT
 *
 * Targets in GGUF files for integers with groups of 32 or a multiple of it, c - z times s:
 *
 *   q4_0  fp16 d, then 16 bytes: (nibble - 8) x d. c - z is from -8 to 7 for all groups.
 *   q4_1  fp16 d and m, then 16 bytes: nibble x d + m; m is -s x z, or the bias.
 *   q8_0  fp16 d, then 32 bytes: int8 x d.
 *
 * Nibbles of elements 0 to 15 are the low ones. Scales are rounded to fp16 once; what that changes
 * is counted per block, for all numbers that its codes could stand for.
 * Source: ggml-common.h and ggml-quants.c of ggml. */
#include <math.h>
#include <stdlib.h>

#include "files/transcode/transcode_gguf.h"
#include "files/transcode/transcode_grouped.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum {
    LENGTH = 32,   /* elements of a block */
    AT_ONCE = 512, /* blocks */
    MOST = 256,    /* codes of an element */
    ITEM = 4,      /* bytes of the widest scale */
    ALIGN = 64,    /* of the memory of a source */
};

/* Where the values of groups come from; item 0: there are none. */
struct group_values {
    struct dti_batch_source source;
    enum dti_dtype dtype;
    size_t item;
};

struct gguf_groups {
    const struct dti_grouped *grouped;
    const struct dti_gguf_type *type;
    struct dti_batch_source codes;       /* one byte each */
    struct group_values scales, offsets; /* offsets: biases, or zero points as bytes */
    uint64_t row_blocks;                 /* blocks of a row */
    uint64_t group_blocks;               /* that share a scale; 0: all of them do */
    unsigned middle;                     /* q4_0: all zero points are this */
};

struct groups_scratch {
    unsigned char codes[AT_ONCE * LENGTH];
    unsigned char scales[AT_ONCE * ITEM], offsets[AT_ONCE * ITEM];
    unsigned char blocks[AT_ONCE * (LENGTH + 2)];
};
enum { SCRATCH = (sizeof(struct groups_scratch) + ALIGN - 1) / ALIGN * ALIGN };

/* fp16 of a number that is a product of at most 53 bits, rounded once, to nearest even. */
static float round_half(double number)
{
    enum { DROP = 52 - 10 }; /* fraction bits */
    const double magnitude = fabs(number);
    const float sign = (float)copysign(1, number);
    uint64_t bits;
    if (number - number != 0)
        return (float)number;
    if (magnitude < 0x1p-14) { /* subnormal numbers: steps of 2^-24 */
        const double sum = magnitude + 0x1p28;
        return sign * (float)(sum - 0x1p28);
    }
    memcpy(&bits, &magnitude, sizeof bits);
    bits += (UINT64_C(1) << (DROP - 1)) - 1 + (bits >> DROP & 1);
    bits &= ~((UINT64_C(1) << DROP) - 1);
    double rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    return sign * (rounded > 65504 ? INFINITY : (float)rounded);
}

static float number_at(const unsigned char *bytes, const struct group_values *values, size_t at)
{
    const uint32_t code = (uint32_t)dti_little_get(bytes + at * values->item, values->item);
    uint32_t bits = values->dtype == DTI_BF16 ? code << 16 : code;
    if (values->dtype == DTI_FP16) {
        const uint32_t exponent = code >> 10 & 31, digits = code & 1023, sign = code >> 15 << 31;
        if (exponent == 0)
            return (sign ? -1.0F : 1.0F) * (float)digits * 0x1p-24F;
        bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | digits << 13;
    }
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* d of a block. */
static float scale_of(const struct dti_grouped *grouped, float scale)
{
    return round_half((double)scale * (double)grouped->how->is->factor);
}

/* m of a block of q4_1 without a bias. */
static float minimum_of(const struct dti_grouped *grouped, float scale, unsigned zero)
{
    return zero == 0 ? 0 : round_half(-((double)scale * (double)grouped->how->is->factor) * zero);
}

static void pack_nibbles(unsigned char *restrict to, const unsigned char *restrict codes,
                         unsigned char shift)
{
    for (size_t i = 0; i < LENGTH / 2; i++)
        to[i] = (unsigned char)(((codes[i] + shift) & 15) | (codes[LENGTH / 2 + i] + shift) << 4);
}

/* The first bytes of a block: d, and m. */
static void make_head(const struct gguf_groups *groups, unsigned char *to,
                      const struct groups_scratch *scratch, size_t group)
{
    const struct dti_grouped *const grouped = groups->grouped;
    const float scale = number_at(scratch->scales, &groups->scales, group);
    dti_grouped_put(DTI_FP16, to, scale_of(grouped, scale));
    if (groups->type->blocks != DTI_GGUF_Q4_1)
        return;
    const float minimum =
        grouped->biased ? round_half((double)number_at(scratch->offsets, &groups->offsets, group))
                        : minimum_of(grouped, scale, scratch->offsets[group]);
    dti_grouped_put(DTI_FP16, to + 2, minimum);
}

static void make_codes(const struct gguf_groups *groups, unsigned char *to,
                       const unsigned char *codes, unsigned char zero)
{
    if (groups->type->blocks == DTI_GGUF_Q4_0) {
        pack_nibbles(to + 2, codes, (unsigned char)(8 - groups->middle));
    } else if (groups->type->blocks == DTI_GGUF_Q4_1) {
        pack_nibbles(to + 4, codes, 0);
    } else {
        for (size_t k = 0; k < LENGTH; k++)
            to[2 + k] = (unsigned char)(codes[k] - zero);
    }
}

/* The value of a block among those of the whole tensor. */
static uint64_t group_of(const struct gguf_groups *groups, uint64_t block)
{
    const uint64_t row = block / groups->row_blocks, in_row = block % groups->row_blocks;
    return groups->group_blocks == 0
               ? 0
               : row * groups->grouped->groups + in_row / groups->group_blocks;
}

/* Reads what blocks first to first + n - 1 need. */
static enum dti_status read_groups(const struct gguf_groups *groups, uint64_t first, size_t n,
                                   struct dti_window *window, struct groups_scratch *scratch,
                                   struct dti_error *reterr)
{
    const struct group_values *const scales = &groups->scales, *const offsets = &groups->offsets;
    const uint64_t group = group_of(groups, first);
    const size_t count = (size_t)(group_of(groups, first + n - 1) - group) + 1;
    unsigned char *const memory = (unsigned char *)scratch + SCRATCH;
    enum dti_status status = groups->codes.read(groups->codes.context, scratch->codes, n * LENGTH,
                                                first * LENGTH, window, memory, reterr);
    if (status == DTI_OK)
        status = scales->source.read(scales->source.context, scratch->scales, count * scales->item,
                                     group * scales->item, window, memory, reterr);
    if (status == DTI_OK && offsets->item > 0)
        status =
            offsets->source.read(offsets->source.context, scratch->offsets, count * offsets->item,
                                 group * offsets->item, window, memory, reterr);
    return status;
}

static void make_blocks(const struct gguf_groups *groups, uint64_t first, size_t n,
                        struct groups_scratch *scratch)
{
    const size_t bytes = groups->type->bytes;
    const bool zeros = groups->type->blocks == DTI_GGUF_Q8_0;
    const uint64_t begin = group_of(groups, first);
    size_t made = SIZE_MAX; /* the group of the previous block */
    unsigned char head[4] = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned char *const to = scratch->blocks + i * bytes;
        const size_t group = (size_t)(group_of(groups, first + i) - begin);
        if (group != made)
            make_head(groups, head, scratch, group);
        memcpy(to, head, sizeof head); /* or less: codes overwrite the rest */
        made = group;
        make_codes(groups, to, scratch->codes + i * LENGTH, zeros ? scratch->offsets[group] : 0);
    }
}

static enum dti_status read_blocks(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *memory,
                                   struct dti_error *reterr)
{
    const struct gguf_groups *const groups = context;
    struct groups_scratch *const scratch = memory;
    const size_t bytes = groups->type->bytes;
    const uint64_t end = dti_divide_up(offset + size, bytes);
    enum dti_status status = DTI_OK;
    for (uint64_t at = offset / bytes; at < end && status == DTI_OK;) {
        const size_t n = end - at < AT_ONCE ? (size_t)(end - at) : AT_ONCE;
        status = read_groups(groups, at, n, window, scratch, reterr);
        if (status != DTI_OK)
            return status;
        make_blocks(groups, at, n, scratch);
        const uint64_t begin = at * bytes, stop = begin + n * bytes;
        const uint64_t from = begin > offset ? begin : offset;
        const uint64_t to = stop < offset + size ? stop : offset + size;
        memcpy((unsigned char *)buffer + (from - offset), scratch->blocks + (from - begin),
               (size_t)(to - from));
        at += n;
    }
    return status;
}

/* The state of looking at all groups. */
struct groups_look {
    struct dti_grouped *grouped;
    const struct gguf_groups *groups;
    uint64_t blocks; /* of a group */
    struct dti_transcoded *ret;
};

/* The numbers that the codes of a group stand for, as the source's layout defines them. */
static void old_numbers(const struct dti_grouped *grouped, float scale, float bias, unsigned zero,
                        float numbers[MOST])
{
    const size_t count = (size_t)1 << grouped->bits;
    unsigned char codes[MOST];
    for (size_t i = 0; i < count; i++) {
        const float product = scale * (float)((int)i - (int)zero);
        codes[i] = (unsigned char)i;
        numbers[i] = product * grouped->how->is->factor;
    }
    const struct dti_biased_args args = {
        .number = grouped->scale, .group = count, .scales = &scale, .biases = &bias};
    if (grouped->biased)
        dti_quant_find_biased(true, grouped->how->is->level)
            ->run.biased_back(&args, numbers, codes, count);
}

/* The largest error of any number of a group, relative to the source's number or, if that is 0, to
 * the scale; 0: none. */
static double error_of(const struct groups_look *look, float scale, float bias, unsigned zero)
{
    const struct dti_grouped *const grouped = look->grouped;
    const bool minima = look->groups->type->blocks == DTI_GGUF_Q4_1;
    const float d = scale_of(grouped, scale);
    const float m = grouped->biased ? round_half((double)bias) : minimum_of(grouped, scale, zero);
    float old[MOST];
    double worst = 0;
    if (!minima && !grouped->biased && grouped->how->is->factor == 1) {
        if (d == scale)
            return 0;                                      /* the same products */
        if (grouped->scale != DTI_FP32 && isfinite(scale)) /* products of 16 bits are exact */
            return fabs(((double)d - (double)scale) / (double)scale);
    }
    old_numbers(grouped, scale, bias, zero, old);
    for (unsigned i = 0; i < 1U << grouped->bits; i++) {
        const float product = d * (float)(minima ? (int)i : (int)i - (int)zero);
        const float new = minima ? product + m : product;
        if (old[i] == new || (old[i] != old[i] && new != new))
            continue;
        const double base =
            old[i] != 0 ? (double)old[i] : (double)scale * (double)grouped->how->is->factor;
        const double error = fabs(((double)new - (double)old[i]) / base);
        worst = error > worst ? error : error != error ? (double)INFINITY : worst;
    }
    return worst;
}

static enum dti_status look_at(struct groups_look *look, uint64_t index, float scale, float bias,
                               unsigned zero, struct dti_error *reterr)
{
    struct dti_grouped *const grouped = look->grouped;
    const enum dti_gguf_blocks blocks = look->groups->type->blocks;
    const float d = scale_of(grouped, scale);
    const float m = blocks != DTI_GGUF_Q4_1 ? 0
                    : grouped->biased       ? round_half((double)bias)
                                            : minimum_of(grouped, scale, zero);
    if (grouped->biased && blocks != DTI_GGUF_Q4_1 &&
        !dti_grouped_zero(grouped, scale, bias, &zero))
        return dti_transcode_refuse(grouped->found, reterr,
                                    "bias %llu is no multiple of its scale, and %s has no minima",
                                    (unsigned long long)index, look->groups->type->word);
    if ((d == 0 && scale != 0) || (isinf(d) && !isinf(scale)))
        return dti_transcode_refuse(
            grouped->found, reterr, "scale %llu is %s in fp16, as %s has it",
            (unsigned long long)index, d == 0 ? "0" : "infinite", look->groups->type->word);
    if (isinf(m) && !isinf(scale) && !isinf(bias))
        return dti_transcode_refuse(grouped->found, reterr,
                                    "%s %llu is infinite in fp16, as %s has it",
                                    grouped->biased ? "bias" : "zero point times scale",
                                    (unsigned long long)index, look->groups->type->word);
    const double error = error_of(look, scale, bias, zero);
    look->ret->blocks += look->blocks;
    look->ret->lossless += error == 0 ? look->blocks : 0;
    look->ret->worst = error > look->ret->worst ? error : look->ret->worst;
    return DTI_OK;
}

/* Visits all stored scales, with biases or zero points. */
static enum dti_status look_at_all(struct groups_look *look, struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = look->grouped;
    const struct dti_dequant_tensor *const how = grouped->how;
    const unsigned shift = grouped->sign ? dti_grouped_middle(grouped) : 0;
    struct dti_dequant_window *const window = dti_malloc(sizeof *window);
    enum dti_status status = window ? DTI_OK : dti_no_memory(reterr);
    if (window)
        window->count = 0;
    for (uint64_t first = 0; first < how->is->scale_count && status == DTI_OK;
         first += DTI_DEQUANT_WINDOW) {
        const uint64_t left = how->is->scale_count - first;
        const uint64_t n = left < DTI_DEQUANT_WINDOW ? left : DTI_DEQUANT_WINDOW;
        status = dti_dequant_load(how, window, first, n, reterr);
        const size_t at = (size_t)(first - window->first);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            const int32_t zero = grouped->biased || how->is->zero_form == DTI_ZERO_NONE
                                     ? how->is->zero_offset
                                     : window->zero[at + i];
            status =
                look_at(look, first + i, window->scale[at + i],
                        grouped->biased ? window->bias[at + i] : 0, (unsigned)zero + shift, reterr);
        }
    }
    dti_free(window);
    return status;
}

/* Whether all zero points are in the middle. */
static enum dti_status find_symmetric(struct dti_dequant_found *found, struct dti_grouped *grouped,
                                      bool *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const unsigned middle = dti_grouped_middle(grouped), shift = grouped->sign ? middle : 0;
    struct dti_transcoded ignored;
    if (!grouped->biased && how->is->zero_form == DTI_ZERO_NONE) {
        *ret = (unsigned)how->is->zero_offset + shift == middle;
        return DTI_OK;
    }
    const enum dti_status status =
        dti_grouped_look(found, grouped, &(struct dti_grouped_wants){0}, &ignored, reterr);
    *ret = status == DTI_OK && grouped->symmetric;
    return status;
}

/* The type that was asked for, or the one that fits. */
static enum dti_status choose_type(struct dti_dequant_found *found, struct dti_grouped *grouped,
                                   const struct dti_gguf_type **ret, struct dti_error *reterr)
{
    const struct dti_gguf_type *const asked = dti_form_type(&found->form);
    const bool small = grouped->bits <= 4;
    const bool biases = grouped->biased && small && (!asked || asked->blocks == DTI_GGUF_Q4_1);
    bool symmetric = false;
    const enum dti_status status =
        biases ? DTI_OK : find_symmetric(found, grouped, &symmetric, reterr);
    if (status != DTI_OK)
        return status;
    *ret = asked ? asked
                 : dti_gguf_type_of(!small      ? DTI_GGUF_Q8_0
                                    : symmetric ? DTI_GGUF_Q4_0
                                                : DTI_GGUF_Q4_1);
    const bool fits = (*ret)->blocks == DTI_GGUF_Q4_0   ? small && symmetric
                      : (*ret)->blocks == DTI_GGUF_Q4_1 ? small
                      : (*ret)->blocks == DTI_GGUF_Q8_0 ? grouped->bits < 8 || symmetric
                                                        : false;
    if (fits)
        return DTI_OK;
    if (!asked)
        return dti_transcode_refuse(found, reterr,
                                    "it has codes of %u bits with zero points, and gguf has no "
                                    "blocks with such ones",
                                    grouped->bits);
    return dti_gguf_refuse_type(found, symmetric ? "" : " with zero points",
                                small && symmetric ? "q4_0, q4_1 or q8_0"
                                : small            ? "q4_1 or q8_0"
                                : symmetric        ? "q8_0"
                                                   : "fp32, fp16 or bf16",
                                reterr);
}

static enum dti_status check_groups(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const enum dti_status status = dti_grouped_check_rows(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (how->is->centers || how->is->narrow)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its zero points are floats, which blocks of gguf do not have");
    if (grouped->length % LENGTH == 0)
        return DTI_OK;
    return dti_transcode_refuse(grouped->found, reterr,
                                "%llu neighbours share a scale, and blocks of gguf have %d",
                                (unsigned long long)grouped->length, (int)LENGTH);
}

/* Sources of codes, scales and offsets, each as a plain array. */
static enum dti_status set_sources(struct dti_pool *pool, struct gguf_groups *groups,
                                   struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = groups->grouped;
    struct dti_transcode_part part = {.dtype = DTI_UINT8, .rank = 2};
    const bool biases = grouped->biased && groups->type->blocks == DTI_GGUF_Q4_1;
    const bool offsets = groups->type->blocks != DTI_GGUF_Q4_0;
    part.shape[0] = grouped->one ? 1 : grouped->rows;
    part.shape[1] = grouped->groups;
    enum dti_status status =
        dti_grouped_codes(pool, grouped, DTI_ORDER_BYTES, false, &part, reterr);
    groups->codes = part.source;
    part.dtype = grouped->scale;
    if (status == DTI_OK)
        status = dti_grouped_values(pool, grouped, DTI_GROUP_RAW_SCALES, false, 0, &part, reterr);
    groups->scales = (struct group_values){part.source, grouped->scale,
                                           dti_format_container(dti_format_get(grouped->scale))};
    if (status != DTI_OK || !offsets)
        return status;
    part.dtype = biases ? grouped->scale : DTI_UINT8;
    status = dti_grouped_values(pool, grouped, biases ? DTI_GROUP_BIASES : DTI_GROUP_ZEROS, false,
                                0, &part, reterr);
    groups->offsets =
        (struct group_values){part.source, part.dtype, biases ? groups->scales.item : 1};
    return status;
}

static size_t most(size_t one, size_t other)
{
    return one > other ? one : other;
}

static enum dti_status add_integers(struct dti_pool *pool, struct dti_dequant_found *found,
                                    struct dti_grouped *grouped, struct dti_transcoded *ret,
                                    struct dti_error *reterr)
{
    const struct dti_gguf_type *type = NULL;
    struct gguf_groups *const groups = dti_pool_alloc(pool, sizeof *groups);
    enum dti_status status =
        groups ? choose_type(found, grouped, &type, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_gguf_begin(found, type, ret, reterr);
    if (status != DTI_OK)
        return status;
    memset(groups, 0, sizeof *groups);
    groups->grouped = grouped;
    groups->type = type;
    groups->middle = dti_grouped_middle(grouped);
    groups->row_blocks = grouped->columns / LENGTH;
    groups->group_blocks = grouped->one ? 0 : grouped->length / LENGTH;
    status = set_sources(pool, groups, reterr);
    struct groups_look look = {grouped, groups, grouped->length / LENGTH, ret};
    if (grouped->one)
        look.blocks = found->shown->elements / LENGTH;
    if (status == DTI_OK)
        status = look_at_all(&look, reterr);
    const size_t scratch =
        most(groups->codes.scratch_bytes,
             most(groups->scales.source.scratch_bytes, groups->offsets.source.scratch_bytes));
    ret->part[0].source = (struct dti_batch_source){
        .read = read_blocks, .context = groups, .scratch_bytes = SCRATCH + scratch};
    return status;
}

static enum dti_status plan_integers(const struct dti_transcode_target *target,
                                     struct dti_pool *pool, struct dti_dequant_found *found,
                                     struct dti_transcoded *ret, struct dti_error *reterr)
{
    struct dti_grouped *grouped = NULL;
    enum dti_status status = dti_grouped_new(&grouped, pool, found, target->name, reterr);
    if (status == DTI_OK)
        status = check_groups(grouped, reterr);
    return status == DTI_OK ? add_integers(pool, found, grouped, ret, reterr) : status;
}

const struct dti_transcode_target dti_target_gguf_integers = {
    .name = "gguf", .takes = DTI_TAKES_INTEGERS, .plan = plan_integers};
