/* SPDX-License-Identifier: MIT
 *
 * Finds the row of the table of layouts for a tensor's parts: dtypes, names and shapes must match.
 *
 * Errors for ambiguous or unsupported quantized tensors: what was expected, and the possible
 * alternatives. */
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "util/checked.h"

/* "3, 4 or 5" */
static void list_widths(unsigned widths, char buffer[32])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned bits = 1; widths >> bits != 0; bits++) {
        if ((widths >> bits & 1) == 0)
            continue;
        const char *const between = used == 0 ? "" : widths >> (bits + 1) == 0 ? " or " : ", ";
        used += (size_t)snprintf(buffer + used, 32 - used, "%s%u", between, bits);
    }
}

static enum dti_status dequant_refuse_ambiguity(const struct dti_dequant_group *group,
                                                const struct dti_dequant_ambiguity *ambiguity,
                                                struct dti_error *reterr)
{
    char text[160];
    if (ambiguity->widths > 0) {
        list_widths(ambiguity->widths, text);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_SAY_BITS,
            "its words may hold codes of %s bits, and neither metadata nor config.json says which",
            text);
    }
    if (ambiguity->crossing)
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "its rows fill their words whether codes cross words, as compressed-tensors packs them "
            "since June 2026, or each word has whole ones, as before, and nothing says which");
    if (ambiguity->lengths.other > 0)
        return dti_dequant_refuse(
            &group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_SAY_BLOCK,
            "its shape %s allows groups of %llu or %llu elements along axis "
            "%u, and neither metadata nor config.json says which",
            dti_dequant_shape_words(dti_dequant_of(group, DTI_PART_SCALE), text),
            (unsigned long long)ambiguity->lengths.length,
            (unsigned long long)ambiguity->lengths.other, ambiguity->axis);
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_READ_8_BITS,
        "it may hold uint8 or several narrower codes a byte: it has no zero points");
}

/* Fails because two readings are possible. */
static enum dti_status dequant_refuse_two(const struct dti_dequant_group *group, const char *one,
                                          const char *other, struct dti_error *reterr)
{
    if (!one)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr,
                                  DTI_REMEDY_SAY_BITS_OR_BLOCK,
                                  "its shape fits several groups of config.json");
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_CHOOSE_BITS,
        "may hold %s or %s: dtypes and shapes allow both, and the metadata has no entry '%s...'",
        one, other, DTI_QUANT_KEY);
}

/* Fails because the hints do not fit the tensor; the message has both. */
static enum dti_status dequant_refuse_hints(const struct dti_dequant_group *group,
                                            const struct dti_dequant_knowledge *known,
                                            struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_dequant_of(group, DTI_PART_SCALE);
    char codes_shape[160], scale_shape[160], stated[DTI_QUANT_HINT_TEXT];
    char more[DTI_QUOTE_SIZE + 16] = "";
    if (known->count > 1)
        (void)snprintf(more, sizeof more, " (or its %zu other groups)", known->count - 1);
    else if (known->rule)
        (void)snprintf(more, sizeof more, " (target %s)",
                       DTI_QUOTED(known->rule, known->rule_length));
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr,
                              known->configured    ? DTI_REMEDY_OVERRIDE_CONFIG
                              : group->layout_read ? DTI_REMEDY_KEEP
                                                   : DTI_REMEDY_NONE,
                              "its shape %s with %s codes of shape %s contradicts %s: %s%s",
                              dti_dequant_shape_words(scale, scale_shape), codes->format->name,
                              dti_dequant_shape_words(codes, codes_shape), known->source,
                              dti_quant_hint_words(&known->hints[0], stated), more);
}

/* dtypes: whether some row has the dtypes of the parts; shape: whether a part stores the shape. */
static enum dti_status dequant_refuse_shapes(const struct dti_dequant_group *group, bool dtypes,
                                             bool shape, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_dequant_of(group, DTI_PART_SCALE);
    char codes_shape[160], scale_shape[160];
    if (!dtypes)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "holds %s, which cannot be scales of %s codes%s%s",
                                  scale->format->name, codes->format->name,
                                  group->has_entry ? " of " : "",
                                  group->has_entry ? group->entry_dtype : "");
    if (codes->format->id == DTI_INT32 && !shape) {
        dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "packed codes need a tensor '..._shape' with their original dimensions");
    }
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                              "its shape %s does not fit %s codes of shape %s: expected one scale, "
                              "one per index of an axis or one per group of equal length",
                              dti_dequant_shape_words(scale, scale_shape), codes->format->name,
                              dti_dequant_shape_words(codes, codes_shape));
}

/* Read-only rows. */
static const struct dti_quant_row more_rows[] = {
#define QUANT_READ DTI_QUANT_ROW
#include "files/stored/quant_layouts.def"
#undef QUANT_READ
};
enum { MORE = sizeof more_rows / sizeof more_rows[0] };
static const struct dti_quant_row *const pairs = &more_rows[MORE - 1];

/* Widths of codes in words without a dtype: they use the first row of more_rows. */
static const unsigned more_widths[] = {3, 5, 6, 7};
enum { WIDTHS = sizeof more_widths / sizeof more_widths[0] };

const char *dti_dequant_scheme_name(const struct dti_dequant_scheme *scheme)
{
    static const char *const names[] = {[3] = "uint3", [5] = "uint5", [6] = "uint6", [7] = "uint7"};
    const bool odd =
        scheme->row->packing == DTI_QUANT_WORDS && scheme->bits < 8 && 32 % scheme->bits != 0;
    return odd ? names[scheme->bits] : dti_quant_row_name(scheme->row);
}

/* Scales of integers and floats may be any float; those of blocks follow the table. */
static bool scale_fits(const struct dti_dequant_group *group, const struct dti_quant_row *row,
                       const struct dti_block_format *block)
{
    const struct dti_format *const scale = dti_dequant_of(group, DTI_PART_SCALE)->format;
    if (!block)
        return scale->id == DTI_FP32 || scale->id == DTI_FP16 || scale->id == DTI_BF16 ||
               (group->sibling_scale && scale->id == DTI_FP8_E8M0);
    return scale->id == row->scale || (row->scale == DTI_UINT8 && scale->id == DTI_FP8_E8M0);
}

static bool name_fits(const struct dti_dequant_group *group, const struct dti_quant_row *row)
{
    const char *const suffix = dti_quant_suffix(row, DTI_PART_CODES);
    return group->free_name || group->packed_name == (suffix[0] != '\0');
}

/* Whether the dtype of scales, names and the metadata entry fit a row with this dtype of codes. */
static bool row_fits(const struct dti_dequant_group *group, const struct dti_quant_row *row,
                     unsigned width, struct dti_dequant_scheme *ret)
{
    const struct dti_block_format *const block = row->block;
    const bool tensor_scale = dti_dequant_has(group, DTI_PART_TENSOR_SCALE);
    if ((group->bound && row->layout != group->layout) || !scale_fits(group, row, block) ||
        dti_quant_layout_is_read_elsewhere(row->layout) || /* dequant_state.c, dequant_comfy.c */
        !(row == pairs || name_fits(group, row)) ||
        (tensor_scale && (!block || block->family != DTI_BLOCKS_NV)) || (group->inverse && block))
        return false;
    if (group->has_entry ? width > 0 || strcmp(group->entry_dtype, dti_quant_row_name(row)) != 0
                         : (row->flags & DTI_QUANT_IN_METADATA) != 0)
        return false;
    *ret = (struct dti_dequant_scheme){.row = row, .block = block};
    ret->code = *dti_quant_row_code(row);
    ret->bits = width > 0 ? width : ret->code.width;
    if (row->packing == DTI_QUANT_WORDS && ret->code.kind == DTI_KIND_INT)
        ret->code = *dti_format_get(ret->bits == 2 ? DTI_UINT2 : DTI_UINT4);
    return true;
}

/* Whether the scheme fits the hint. Integers of a configuration may be stored in wider codes. */
static bool hint_fits(const struct dti_dequant_knowledge *known, const struct dti_quant_hint *hint,
                      const struct dti_dequant_scheme *scheme)
{
    const bool floats = dti_format_is_float(&scheme->code);
    const bool wider = known->configured && !floats && scheme->row->packing == DTI_QUANT_PLAIN;
    if (hint->number != DTI_NUMBER_OPEN && floats != (hint->number == DTI_NUMBER_FLOAT))
        return false;
    return hint->bits == 0 || (wider ? scheme->bits >= hint->bits : scheme->bits == hint->bits);
}

/* Whether two rows read the same numbers. q8_0 is int8 in groups; with a single scale, equal codes
 * are equal numbers. */
static bool same(const struct dti_dequant_group *group, const struct dti_dequant_scheme *a,
                 const struct dti_dequant_scheme *b)
{
    if (a->bits != b->bits)
        return false;
    if (dti_dequant_of(group, DTI_PART_SCALE)->elements == 1 && a->row->codes == b->row->codes &&
        a->row->packing == b->row->packing)
        return a->code.id == b->code.id;
    const bool plain_a = !a->block || a->block->id == DTI_BLOCK_Q8_0;
    const bool plain_b = !b->block || b->block->id == DTI_BLOCK_Q8_0;
    if (plain_a && plain_b)
        return a->code.id == b->code.id;
    return a->block == b->block;
}

/* Converts the last dimension of the codes to elements; false: not a whole number of them. */
static bool unpack(const struct dti_dequant_scheme *scheme, uint64_t *last)
{
    const unsigned unit = scheme->row->packing == DTI_QUANT_BITS    ? 8
                          : scheme->row->packing == DTI_QUANT_WORDS ? 32
                                                                    : scheme->bits;
    const bool whole = scheme->row->packing != DTI_QUANT_WORDS; /* the last word may have unused
                                                                 * bits */
    if (*last > UINT64_MAX / unit || (whole && *last * unit % scheme->bits != 0))
        return false;
    *last = *last * unit / scheme->bits;
    return true;
}

/* Every dimension equals that of the codes, except that one axis, and the last word of a row, may
 * be padded. */
static bool is_within(const struct dti_dequant_shape *shape)
{
    unsigned padded = 0;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (shape->shape[i] > shape->stored[i] || (shape->shape[i] == 0) != (shape->stored[i] == 0))
            return false;
        padded += i + 1 < shape->rank && shape->shape[i] != shape->stored[i];
    }
    return padded <= 1;
}

/* Whether the padding is shorter than a group. */
static bool is_little(const struct dti_dequant_shape *shape, const struct dti_dequant_form *form)
{
    for (unsigned i = 0; i < shape->rank; i++) {
        const bool groups =
            form->is->per == DTI_PER_GROUP && form->is->axis == i && form->is->group[0] == 0;
        if (shape->stored[i] - shape->shape[i] >= (groups ? form->is->group[1] : 1))
            return false;
    }
    return true;
}

/* Whether rows are padded to groups of the given length. */
static bool are_groups(uint64_t length, uint64_t last, uint64_t count, uint64_t words,
                       uint64_t per_word)
{
    uint64_t all;
    return dti_mul_u64(length, count, &all) && dti_divide_up(last, length) == count &&
           dti_divide_up(all, per_word) == words;
}

/* Whether rows are filled by the codes alone, or padded to groups of a known length; then the last
 * dimension becomes that of whole groups. */
static bool end_words(const struct dti_dequant_group *group,
                      const struct dti_dequant_scheme *scheme, const uint64_t *given, unsigned rank,
                      uint64_t *stored)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const uint64_t per_word = 32 / scheme->bits, last = given[rank - 1];
    const uint64_t words = dti_dequant_of(group, DTI_PART_CODES)->shape[rank - 1];
    const uint64_t groups = scales->rank == rank ? scales->shape[rank - 1] : 1;
    stored[rank - 1] = last;
    if (dti_quant_fills_words(last, words, scheme->bits))
        return true;
    if (group->entry_group == 0 || last == 0 || 32 % scheme->bits != 0 ||
        !are_groups(group->entry_group, last, groups, words, per_word))
        return false;
    stored[rank - 1] = group->entry_group * groups;
    return true;
}

/* Whether codes cross words, as in compressed-tensors since June 2026, or each word has only whole
 * codes; the two differ from the second word on. */
static void find_crossing(const struct dti_dequant_scheme *scheme, uint64_t last, uint64_t words,
                          struct dti_dequant_tensor *how, struct dti_dequant_ambiguity *ambiguity)
{
    if (32 % scheme->bits == 0)
        return;
    const bool whole = dti_divide_up(last, 32 / scheme->bits) == words;
    const bool cross = dti_divide_up(last * scheme->bits, 32) == words; /* cannot overflow: bounded
                                                                         * by the words */
    ambiguity->crossing = whole && cross && words > 1;
    how->is->arrangement = whole && !cross ? DTI_CODES_WHOLE : DTI_CODES_ALONG;
}

/* Finds codes that could be others: of another width in words, or packed codes in uint8. */
static void refuse_ambiguous_codes(const struct dti_dequant_group *group,
                                   const struct dti_dequant_scheme *scheme,
                                   const struct dti_quant_hint *hint, const uint64_t *given,
                                   struct dti_dequant_ambiguity *ambiguity)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    if (group->has_entry || hint->bits > 0)
        return;
    if (scheme->row->packing == DTI_QUANT_WORDS) {
        const unsigned widths =
            dti_quant_widths(given[codes->rank - 1], codes->shape[codes->rank - 1]);
        ambiguity->widths = (widths & (widths - 1)) != 0 ? widths : 0;
    } else if (!scheme->block && scheme->row->codes == DTI_UINT8) {
        ambiguity->unsigned_codes = !dti_dequant_has(group, DTI_PART_ZERO_POINT);
    }
}

/* Fills *found according to a row; false: the shapes do not fit it. Fills *ambiguity where they fit
 * in several ways. */
static bool try_row(const struct dti_dequant_group *group, const struct dti_dequant_scheme *scheme,
                    const struct dti_quant_hint *hint, const uint64_t *given,
                    uint64_t stored[DTI_QUANT_RANK_MAX], struct dti_dequant_found *found,
                    struct dti_dequant_ambiguity *ambiguity)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    struct dti_tensor scales = *dti_dequant_of(group, DTI_PART_SCALE);
    uint64_t sides[2];
    if (hint->spread && dti_dequant_is_spread(&scales, codes->rank, sides)) {
        scales.rank = 2;
        scales.shape = sides;
    }
    const struct dti_dequant_shape shape = {
        .rank = codes->rank,
        .shape = given ? given : stored,
        .stored = stored,
        .scales = &scales,
        .hint = hint,
        .words = scheme->row->packing == DTI_QUANT_WORDS,
        .rectangles = group->inverse || group->sibling_scale,
        .powers = scales.format->id == DTI_FP8_E8M0,
        .ambiguity = ambiguity,
    };
    struct dti_dequant_tensor *const how = &found->how;
    for (unsigned i = 0; i < codes->rank; i++)
        stored[i] = codes->shape[i];
    if (scheme->row->packing != DTI_QUANT_PLAIN &&
        (codes->rank == 0 || !unpack(scheme, &stored[codes->rank - 1])))
        return false;
    if (shape.words && !given)
        return false;
    if (codes->rank > 0 && codes->format->width < 8 &&
        codes->shape[codes->rank - 1] % 8 * codes->format->width % 8 != 0)
        return false; /* rows that end within a byte */
    if (!is_within(&shape))
        return false;
    how->is->block = scheme->block;
    how->is->bits = scheme->bits;
    how->is->elements = 1;
    for (unsigned i = 0; i < codes->rank; i++)
        how->is->elements *= shape.shape[i]; /* cannot overflow: at most as many as codes */
    const uint64_t rows = codes->rank > 0 ? codes->shape[codes->rank - 1] : 1;
    how->is->row_bytes = codes->elements > 0 ? codes->bytes / (codes->elements / rows) : 0;
    if (shape.words && !end_words(group, scheme, given, codes->rank, stored))
        return false;
    if (shape.words)
        find_crossing(scheme, given[codes->rank - 1], rows, how, ambiguity);
    if (!dti_dequant_place_scales(&shape, scheme->block ? scheme->block->length : 0, found) ||
        !is_little(&shape, &found->form))
        return false;
    refuse_ambiguous_codes(group, scheme, hint, given, ambiguity);
    return true;
}

/* The row with this dtype of codes, from number `at` on; NULL: there is none. *ret_width: of codes
 * in words without a dtype, or 0. */
static const struct dti_quant_row *row_from(size_t *at, enum dti_dtype code, unsigned *ret_width)
{
    const size_t table = dti_quant_row_count;
    *ret_width = 0;
    for (; *at < table; ++*at) {
        if (dti_quant_rows[*at].codes == code)
            return &dti_quant_rows[*at];
    }
    for (; *at < table + MORE; ++*at) {
        if (more_rows[*at - table].codes == code)
            return &more_rows[*at - table];
    }
    if (*at == table + MORE + WIDTHS || more_rows[0].codes != code)
        return NULL;
    *ret_width = more_widths[*at - table - MORE];
    return &more_rows[0];
}

/* int8 codes with scales named Y.scale are read by one row only, which reads nothing else. */
static bool is_apart(const struct dti_dequant_group *group, const struct dti_quant_row *row)
{
    return row->codes == DTI_INT8 && group->sibling_scale != (row == pairs);
}

static bool has_caveats(const struct dti_dequant_ambiguity *ambiguity)
{
    return ambiguity->lengths.other > 0 || ambiguity->widths > 0 || ambiguity->crossing ||
           ambiguity->unsigned_codes;
}

enum dti_status dti_dequant_choose(const struct dti_dequant_knowledge *known,
                                   const struct dti_dequant_group *group, const uint64_t *given,
                                   uint64_t shape[DTI_QUANT_RANK_MAX],
                                   struct dti_dequant_scheme *ret_scheme,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const enum dti_dtype code = codes->format->id;
    const struct dti_dequant_found empty = *ret;
    struct dti_dequant_shared *const own = dti_dequant_shared_of(ret);
    const struct dti_dequant_shared blank = *own;
    uint64_t stored[DTI_QUANT_RANK_MAX];
    bool any = false, candidates = false;
    for (size_t i = 0, at = 0; i < known->count; at++) {
        const struct dti_quant_hint *const hint = &known->hints[i];
        struct dti_dequant_scheme scheme;
        unsigned width;
        const struct dti_quant_row *const row = row_from(&at, code, &width);
        if (!row) { /* all of them were tried with this hint */
            i++;
            at = SIZE_MAX;
            continue;
        }
        if (is_apart(group, row) || !row_fits(group, row, width, &scheme))
            continue;
        struct dti_dequant_ambiguity ambiguity = {.axis = 0};
        struct dti_dequant_found trial = empty;
        struct dti_dequant_shared shared = blank;
        dti_dequant_use(&trial, &shared);
        candidates = true;
        if (!hint_fits(known, hint, &scheme) ||
            !try_row(group, &scheme, hint, given, stored, &trial, &ambiguity))
            continue;
        if (trial.how.is->elements > 0 && has_caveats(&ambiguity))
            return dequant_refuse_ambiguity(group, &ambiguity, reterr);
        if (any && trial.how.is->elements > 0 && !same(group, ret_scheme, &scheme))
            return dequant_refuse_two(group, dti_dequant_scheme_name(ret_scheme),
                                      dti_dequant_scheme_name(&scheme), reterr);
        if (any && trial.how.is->elements > 0 && trial.how.is->scale_count > 1 &&
            memcmp(&ret->how.is->map, &trial.how.is->map, sizeof trial.how.is->map) != 0)
            return dequant_refuse_two(group, NULL, NULL, reterr);
        scheme.asymmetric = hint->asymmetric && (!any || ret_scheme->asymmetric);
        scheme.ordered = hint->ordered && (!any || ret_scheme->ordered);
        if (any) {
            ret_scheme->asymmetric = scheme.asymmetric;
            ret_scheme->ordered = scheme.ordered;
            continue;
        }
        any = true;
        *ret_scheme = scheme;
        *ret = trial;
        *own = shared;
        dti_dequant_use(ret, own);
        for (unsigned k = 0; k < codes->rank; k++)
            shape[k] = given ? given[k] : stored[k];
    }
    if (any)
        return DTI_OK;
    const struct dti_quant_hint *const first = &known->hints[0];
    const bool stated = first->bits > 0 || first->group[1] > 0 || known->count > 1;
    const bool shapeless = codes->format->id == DTI_INT32 && !given && group->packed_name;
    if (candidates && stated && !shapeless)
        return dequant_refuse_hints(group, known, reterr);
    return dequant_refuse_shapes(group, candidates, given != NULL, reterr);
}
