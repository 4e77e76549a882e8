/* SPDX-License-Identifier: MIT
 *
 * Counts codes and scales at their limits, rows or GGUF blocks at a time, with a team. Codes of
 * floats are counted eight bytes at a time. */
#include "files/scan/code_limits.h"

#include <pthread.h>
#include <string.h>

#include "convert/block_queue.h"
#include "files/dequant/dequant_piece.h"
#include "files/dequant/file_dequant.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum { PIECE = 1 << 18, E8M0_HIGHEST = 254, E4M3_HIGHEST = 0x7e };

/* What is counted in a tensor's codes. */
struct limits_rule {
    unsigned bits;               /* of a code as it is looked at: 4: two in a byte; 8 */
    uint64_t magnitude, largest; /* floats: bits of the magnitude and the largest one, in each code
                                  * of a word; magnitude 0: tables count instead */
    bool at_largest[256], zero[256];
    unsigned length; /* of blocks; 0: none */
};

struct limits_member {
    struct dti_dequant_scratch *scratch;
    struct dti_window window;
};

struct limits_scan {
    struct dti_limited_tensor *tensors;
    struct limits_rule *rules;
    struct limits_member *members;
    pthread_mutex_t lock; /* guards the counts of tensors */
};

static struct dti_dequant_tensor *how_of(const struct dti_tensor *tensor)
{
    return dti_form_how(dti_tensor_form(tensor));
}

static bool is_block_family(const struct dti_block_format *block)
{
    return block && (block->family == DTI_BLOCKS_MX || block->family == DTI_BLOCKS_NV);
}

bool dti_code_limits_apply(const struct dti_tensor *tensor)
{
    if (!dti_tensor_form(tensor))
        return false;
    const struct dti_dequant_tensor *const how = how_of(tensor);
    if (how->is->gguf)
        return how->is->gguf->blocks == DTI_GGUF_MXFP4 || how->is->gguf->blocks == DTI_GGUF_NVFP4;
    return how->is->block ? is_block_family(how->is->block)
                          : how->is->bits <= 8 && how->is->affine.code.width <= 8;
}

/* 4-bit codes of blocks along rows are looked at in their bytes. */
static bool is_packed(const struct dti_dequant_tensor *how)
{
    return how->is->gguf ||
           (dti_dequant_along(how) && how->is->bits == 4 && how->is->order != DTI_BLOCK_BYTES);
}

/* Codes of 6 bits along rows are unpacked here; kernels decode them as they are. */
static bool is_odd(const struct dti_dequant_tensor *how)
{
    return !how->is->gguf && dti_dequant_along(how) && how->is->order != DTI_BLOCK_BYTES &&
           how->is->bits != 4 && how->is->bits < 8;
}

static void repeat(uint64_t *word, unsigned bits)
{
    for (unsigned done = bits; done < 64; done *= 2)
        *word |= *word << done;
}

/* Integers: magnitudes from the zero point, or both ends of the range. */
static void make_integer_rule(struct limits_rule *rule, const struct dti_dequant_tensor *how)
{
    const struct dti_format *const code =
        how->is->block ? dti_format_get(how->is->block->code) : &how->is->affine.code;
    const bool with_sign = code->kind == DTI_KIND_INT;
    const int highest = (1 << (code->width - with_sign)) - 1;
    const int lowest = with_sign ? -highest - 1 : 0,
              zero = how->is->block ? 0 : how->is->zero_offset;
    const bool ends = how->is->zero_form != DTI_ZERO_NONE || how->is->from.biases;
    for (int i = lowest; i <= highest; i++) {
        const int from = i - zero;
        const bool large = (from < 0 ? -from : from) >= highest - zero;
        rule->at_largest[i & 255] = ends ? i == lowest || i == highest : large;
        rule->zero[i & 255] = from == 0;
    }
}

static void make_rule(struct limits_rule *ret, const struct dti_dequant_tensor *how)
{
    const struct dti_format *const code = how->is->gguf    ? dti_format_get(DTI_FP4_E2M1)
                                          : how->is->block ? dti_format_get(how->is->block->code)
                                                           : &how->is->affine.code;
    *ret = (struct limits_rule){.bits = is_packed(how) ? 4 : 8};
    if (how->is->gguf)
        ret->length = how->is->gguf->group;
    else if (dti_dequant_along(how))
        ret->length = how->is->block->length;
    if (dti_format_is_float(code)) {
        ret->magnitude = (UINT64_C(1) << (code->width - 1)) - 1;
        (void)dti_code_max(code, &ret->largest);
        repeat(&ret->magnitude, ret->bits);
        repeat(&ret->largest, ret->bits);
    } else {
        make_integer_rule(ret, how);
    }
}

enum { WORDS = 15 }; /* after so many, counts in lanes of 4 bits are added up */

/* The sum of the lanes of a word of counts, of at most WORDS each. */
static unsigned sum_lanes(uint64_t counts, unsigned bits)
{
    const uint64_t even = UINT64_C(0x0f0f0f0f0f0f0f0f), ones = UINT64_C(0x0101010101010101);
    const uint64_t bytes = bits == 4 ? (counts & even) + (counts >> 4 & even) : counts;
    return (unsigned)(bytes * ones >> 56);
}

static uint64_t word_at(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, bytes, n < 8 ? n : 8);
    return word;
}

/* Codes in whole bytes; n: bytes. What follows them in the last word is 0, which is never the
 * largest. Adding `low` carries into the highest bit of each code that differs from it. */
static uint64_t count_largest(const struct limits_rule *rule, const unsigned char *bytes, size_t n)
{
    const unsigned bits = rule->bits;
    const uint64_t low = bits == 4 ? UINT64_C(0x7777777777777777) : UINT64_C(0x7f7f7f7f7f7f7f7f);
    const uint64_t magnitude = rule->magnitude, largest = rule->largest;
    uint64_t count = 0;
    for (size_t i = 0; i < n && magnitude == 0; i++)
        count += rule->at_largest[bytes[i]];
    for (size_t i = 0; i < n && magnitude != 0;) {
        uint64_t others = 0;
        size_t words = 0;
        for (; words < WORDS && n - i >= 8; words++, i += 8)
            others +=
                ((((word_at(bytes + i, 8) & magnitude) ^ largest) + low) & ~low) >> (bits - 1);
        if (words == 0) {
            others =
                ((((word_at(bytes + i, n - i) & magnitude) ^ largest) + low) & ~low) >> (bits - 1);
            words = 1;
            i = n;
        }
        count += words * (64 / bits) - sum_lanes(others, bits);
    }
    return count;
}

static bool is_zero(const struct limits_rule *rule, const unsigned char *bytes, size_t n)
{
    uint64_t any = 0;
    bool zero = true;
    for (size_t i = 0; i < n && zero && rule->magnitude == 0; i++)
        zero = rule->zero[bytes[i]];
    for (size_t i = 0; i < n && rule->magnitude != 0; i += 8)
        any |= word_at(bytes + i, n - i);
    return zero && (any & rule->magnitude) == 0;
}

/* n codes from the start of a block on; the last block may be short. */
static void count_codes(const struct limits_rule *rule, const unsigned char *bytes, size_t n,
                        struct dti_code_limits *limits)
{
    const size_t size = (n * rule->bits + 7) / 8, each = rule->length * rule->bits / 8;
    limits->codes += n;
    limits->at_largest += count_largest(rule, bytes, size);
    for (size_t i = 0; i < size && each > 0; i += each) {
        limits->blocks++;
        limits->zero_blocks += is_zero(rule, bytes + i, size - i < each ? size - i : each);
    }
}

static void count_scale(const struct dti_block_format *block, unsigned char scale,
                        struct dti_code_limits *limits)
{
    const bool powers = block->scale == DTI_FP8_E8M0;
    const unsigned size = powers ? scale : scale & 0x7fu;
    limits->scales++;
    limits->lowest += size == 0;
    limits->highest += size == (powers ? E8M0_HIGHEST : E4M3_HIGHEST);
    limits->nan += size == (powers ? E8M0_HIGHEST : E4M3_HIGHEST) + 1;
}

/* Blocks of GGUF: one scale for each group of codes, all of them before the codes. */
static enum dti_status count_gguf(const struct dti_tensor *tensor, const struct limits_rule *rule,
                                  uint64_t first, size_t n, struct limits_member *member,
                                  struct dti_code_limits *limits, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = how_of(tensor);
    const size_t each = how->is->gguf->bytes,
                 groups = how->is->gguf->elements / how->is->gguf->group;
    const size_t most = sizeof member->scratch->raw / each;
    enum dti_status status = DTI_OK;
    for (size_t done = 0, some; done < n && status == DTI_OK; done += some) {
        const void *raw;
        some = n - done < most ? n - done : most;
        status = dti_dequant_look(DTI_PART_OF(how, codes), &member->window, member->scratch->raw,
                                  some * each, (first + done) * each, &raw, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i < some; i++) {
            const unsigned char *const block = (const unsigned char *)raw + i * each;
            for (size_t k = 0; k < groups; k++)
                count_scale(how->is->block, block[k], limits);
            count_codes(rule, block + groups, how->is->gguf->elements, limits);
        }
        status = dti_window_done(&member->window, status, reterr);
    }
    return status;
}

/* Codes of n elements of a row, from the start of a block on. */
static enum dti_status count_piece(const struct dti_dequant_tensor *how,
                                   const struct limits_rule *rule, uint64_t row, uint64_t column,
                                   size_t n, struct limits_member *member,
                                   struct dti_code_limits *limits, struct dti_error *reterr)
{
    struct dti_dequant_scratch *const scratch = member->scratch;
    const unsigned char *codes;
    const void *raw;
    enum dti_status status;
    scratch->view = &member->window;
    if (is_packed(how) || is_odd(how)) {
        const uint64_t offset = dti_dequant_row(how, row) + column / 8 * how->is->bits;
        const size_t size = (n * how->is->bits + 7) / 8;
        status = dti_dequant_look(DTI_PART_OF(how, codes), &member->window, scratch->raw, size,
                                  offset, &raw, reterr);
        codes = raw;
    } else {
        status =
            dti_dequant_codes(how, row * how->is->columns + column, n, scratch, &codes, reterr);
    }
    if (status != DTI_OK)
        return status;
    if (is_odd(how)) {
        const struct dti_layout layout = {
            .packing = how->is->order == DTI_BLOCK_HIGH ? DTI_PACKING_HIGH : DTI_PACKING_LOW};
        const struct dti_format *const format = dti_format_get(how->is->block->code);
        for (size_t i = 0; i < n; i++)
            scratch->codes[i] = (unsigned char)dti_storage_get(format, &layout, raw, i);
        codes = scratch->codes;
    } else if (is_packed(how) && n % 2 != 0) { /* the last byte has one code */
        memcpy(scratch->codes, codes, n / 2 + 1);
        scratch->codes[n / 2] &= how->is->order == DTI_BLOCK_HIGH ? 0xf0 : 0x0f;
        codes = scratch->codes;
    }
    count_codes(rule, codes, n, limits);
    return dti_window_done(&member->window, status, reterr);
}

static enum dti_status count_scales(const struct dti_dequant_tensor *how,
                                    struct limits_member *member, struct dti_code_limits *limits,
                                    struct dti_error *reterr)
{
    unsigned char *const raw = member->scratch->raw;
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0, some; done < how->is->scale_count && status == DTI_OK; done += some) {
        some = how->is->scale_count - done < DTI_DEQUANT_CHUNK ? how->is->scale_count - done
                                                               : (uint64_t)DTI_DEQUANT_CHUNK;
        status = dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, raw, done,
                                        (size_t)some, reterr);
        for (size_t i = 0; i < some && status == DTI_OK; i++)
            count_scale(how->is->block, raw[i], limits);
    }
    return status;
}

static enum dti_status count_rows(void *context, size_t member_at, size_t part, uint64_t first,
                                  size_t n, struct dti_error *reterr)
{
    struct limits_scan *const scan = context;
    struct limits_member *const member = &scan->members[member_at];
    struct dti_limited_tensor *const limited = &scan->tensors[part];
    const struct dti_dequant_tensor *const how = how_of(limited->tensor);
    struct dti_code_limits limits = {.codes = 0};
    enum dti_status status = DTI_OK;
    if (how->is->gguf)
        status = count_gguf(limited->tensor, &scan->rules[part], first, n, member, &limits, reterr);
    for (uint64_t row = first; row < first + n && !how->is->gguf; row++) {
        for (uint64_t at = 0, some; at < how->is->columns && status == DTI_OK; at += some) {
            some = how->is->columns - at < DTI_DEQUANT_CHUNK ? how->is->columns - at
                                                             : (uint64_t)DTI_DEQUANT_CHUNK;
            status = count_piece(how, &scan->rules[part], row, at, (size_t)some, member, &limits,
                                 reterr);
        }
    }
    if (status == DTI_OK && first == 0 && limited->limits.has_scales && !how->is->gguf)
        status = count_scales(how, member, &limits, reterr);
    pthread_mutex_lock(&scan->lock);
    dti_code_limits_add(&limited->limits, &limits);
    pthread_mutex_unlock(&scan->lock);
    return status;
}

void dti_code_limits_add(struct dti_code_limits *all, const struct dti_code_limits *one)
{
    all->codes += one->codes;
    all->at_largest += one->at_largest;
    all->has_scales = all->has_scales || one->has_scales;
    all->scales += one->scales;
    all->lowest += one->lowest;
    all->highest += one->highest;
    all->nan += one->nan;
    all->has_blocks = all->has_blocks || one->has_blocks;
    all->blocks += one->blocks;
    all->zero_blocks += one->zero_blocks;
}

/* Prepares a tensor: its rule, and how it is divided. */
static enum dti_status begin(struct dti_limited_tensor *limited, struct limits_rule *rule,
                             struct dti_queue_part *part, struct dti_error *reterr)
{
    struct dti_dequant_tensor *const how = how_of(limited->tensor);
    const struct dti_dequant_part *const scales = DTI_PART_OF(how, scales);
    const uint64_t each = how->is->gguf ? how->is->gguf->elements : how->is->columns;
    make_rule(rule, how);
    limited->limits = (struct dti_code_limits){
        .has_scales =
            how->is->gguf || (how->is->block && scales->container &&
                              dti_format_container(dti_dequant_part_tensor(scales)->format) == 1),
        .has_blocks = rule->length > 0,
    };
    *part = (struct dti_queue_part){
        .elements = how->is->gguf ? how->is->elements / how->is->gguf->elements : how->is->rows,
        .block = each > 0 && each < PIECE ? PIECE / each : 1};
    return dti_dequant_open(how, reterr);
}

static enum dti_status make_members(struct limits_scan *scan, size_t members,
                                    struct dti_error *reterr)
{
    scan->members = dti_calloc(members, sizeof *scan->members);
    for (size_t i = 0; i < members && scan->members; i++) {
        scan->members[i].scratch = dti_calloc(1, sizeof *scan->members[i].scratch);
        if (!scan->members[i].scratch)
            return dti_no_memory(reterr);
    }
    return scan->members ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_scan_code_limits(struct dti_limited_tensor *tensors, size_t count,
                                     const struct dti_scan_options *options,
                                     struct dti_error *reterr)
{
    const size_t members = options->team ? dti_team_size(options->team) : 1;
    struct limits_scan scan = {.tensors = tensors};
    struct dti_queue_part *const parts = dti_calloc(count + 1, sizeof *parts);
    scan.rules = dti_calloc(count + 1, sizeof *scan.rules);
    enum dti_status status =
        parts && scan.rules ? make_members(&scan, members, reterr) : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = begin(&tensors[i], &scan.rules[i], &parts[i], reterr);
    if (status == DTI_OK) {
        const struct dti_queue queue = {
            .parts = parts, .count = count, .work = count_rows, .context = &scan};
        pthread_mutex_init(&scan.lock, NULL);
        status = dti_queue_run(&queue, options->team, reterr);
        pthread_mutex_destroy(&scan.lock);
    }
    for (size_t i = 0; i < members && scan.members; i++) {
        if (scan.members[i].scratch)
            dti_window_free(&scan.members[i].window);
        dti_free(scan.members[i].scratch);
    }
    dti_free(scan.members);
    dti_free(scan.rules);
    dti_free(parts);
    return status;
}
