/* SPDX-License-Identifier: MIT
 *
 * Quantized values for people: the recipe, then scale by scale what became of each number. */
#include <stdio.h>
#include <string.h>

#include "cli/quant/quant_values.h"
#include "cli/shared/choices.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "core/quant_parts.h"

enum { VALUE_COLUMN = 15, BITS_COLUMN = 33, NOTE_COLUMN = 45, CELL = 320 };

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static void label(struct dti_line *line, const char *name)
{
    dti_line_to(line, 2);
    dti_line_put(line, DTI_STYLE_DIM, name);
    dti_line_to(line, VALUE_COLUMN);
}

static void note(struct dti_line *line, const char *text)
{
    dti_line_to(line, NOTE_COLUMN);
    dti_line_put(line, DTI_STYLE_DIM, text);
}

/* "label  0.1   0x3dcccccd   how it came to be" */
static void put_fp32(struct dti_line *line, const char *name, uint32_t code, const char *how)
{
    char text[DTI_TEXT_SIZE], bits[DTI_TEXT_SIZE];
    dti_spell_code(bits, code, 32);
    label(line, name);
    put(line, dti_quant_spell(text, code));
    dti_line_to(line, BITS_COLUMN);
    dti_line_put(line, DTI_STYLE_PLAIN, bits);
    if (how)
        note(line, how);
    dti_line_end(line);
}

static void put_hexfloat(struct dti_line *line, uint32_t code)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_fp32_value(code, &value);
    if (value.class != DTI_CLASS_FINITE)
        return;
    dti_spell_hexfloat(text, &value);
    label(line, "");
    put(line, text);
    dti_line_end(line);
}

static void put_span(struct dti_line *line, uint32_t low, uint32_t high)
{
    char text[DTI_TEXT_SIZE];
    put(line, dti_quant_spell(text, low));
    put(line, " to ");
    put(line, dti_quant_spell(text, high));
}

static void put_range(struct dti_line *line, const struct quant_target *target,
                      const struct quant_group *group)
{
    const char *const from = target->has_min && target->has_max ? "--min and --max"
                             : target->has_min                  ? "--min and the values"
                             : target->has_max                  ? "the values and --max"
                             : group->finite > 0                ? "the values"
                                                                : "no finite values";
    label(line, "range");
    if (group->finite == 0 && !target->has_min && !target->has_max)
        put(line, "none");
    else
        put_span(line, group->seen_min, group->seen_max);
    note(line, "of ");
    dti_line_put(line, DTI_STYLE_DIM, from);
    dti_line_end(line);
    if (group->min == group->seen_min && group->max == group->seen_max)
        return;
    label(line, "widened to");
    put_span(line, group->min, group->max);
    note(line, "zero must be a code");
    dti_line_end(line);
}

static void put_affine(struct dti_line *line, const struct quant_result *result,
                       const struct quant_group *group)
{
    const struct quant_target *const target = result->target;
    const struct dti_affine *const affine = &target->scheme.affine.affine;
    const uint32_t mask = (uint32_t)dti_low_bits(target->code.width);
    char text[CELL];
    if (group->has_range)
        put_range(line, target, group);
    put_fp32(line, "scale", group->affine.scale, NULL);
    put_hexfloat(line, group->affine.scale);
    if (!dti_format_is_integer(&target->code)) {
        uint64_t lowest = 0, highest = 0;
        (void)dti_code_lowest(&target->code, &lowest);
        (void)dti_code_max(&target->code, &highest);
        label(line, "reaches");
        put_span(line, dti_affine_dequantize(affine, &group->affine, (uint32_t)lowest),
                 dti_affine_dequantize(affine, &group->affine, (uint32_t)highest));
        dti_line_end(line);
        return;
    }
    label(line, "zero point");
    (void)snprintf(text, sizeof text, "%d", (int)group->affine.zero_point);
    put(line, text);
    note(line, "zero comes back exactly");
    dti_line_end(line);
    label(line, "reaches");
    put_span(line, dti_affine_dequantize(affine, &group->affine, (uint32_t)affine->low & mask),
             dti_affine_dequantize(affine, &group->affine, (uint32_t)affine->high & mask));
    (void)snprintf(text, sizeof text, "codes %d to %d", (int)affine->low, (int)affine->high);
    note(line, text);
    dti_line_end(line);
}

/* The scale of a block: its number, its bits, and its rule. */
static void put_block(struct dti_line *line, const struct quant_result *result,
                      const struct quant_group *group)
{
    const struct quant_target *const target = result->target;
    const struct dti_block_format *const block = target->scheme.block;
    const struct dti_format *const format = dti_format_get(block->scale);
    char text[CELL], bits[DTI_TEXT_SIZE], words[QUANT_WORDS_SIZE];
    struct dti_value scale;
    dti_decode(format, group->scale, &scale);
    if (block->family != DTI_BLOCKS_NF) /* whose scale it is */
        put_fp32(line, "amax", group->amax, NULL);
    label(line, "scale");
    if (block->family == DTI_BLOCKS_MX && scale.class == DTI_CLASS_FINITE) {
        char number[DTI_TEXT_SIZE];
        (void)snprintf(text, sizeof text, "2^%d = %s", (int)scale.exponent,
                       dti_quant_spell(number, dti_fp32_round(&scale)));
    } else {
        dti_spell_stored(text, format, group->scale, &scale);
        if (format->width == 32)
            dti_quant_spell(text, group->scale);
    }
    put(line, text);
    dti_spell_code(bits, group->scale, format->width);
    dti_line_to(line, BITS_COLUMN);
    put(line, bits);
    note(line, scale.class == DTI_CLASS_NAN
                   ? "the block has a NaN or an infinity: nothing else is left of it"
               : scale.class == DTI_CLASS_INF
                   ? "it is beyond the scale's dtype: infinities and NaNs come back"
                   : dti_quant_scale_words(target, words));
    dti_line_end(line);
    if (block->family == DTI_BLOCKS_NV && target->tensor_scale != QUANT_TENSOR_SCALE_NONE)
        put_fp32(line, "x tensor", dti_quant_multiplier(result, group),
                 "scale times tensor scale, in fp32");
}

static void cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

/* Error and relative error; false when memory ran out. */
static bool put_error(struct dti_table *table, uint32_t x, uint32_t back)
{
    char text[DTI_TEXT_SIZE], ratio[DTI_TEXT_SIZE + 4];
    struct dti_difference difference;
    struct dti_buffer exact;
    bool failed;
    dti_buffer_init(&exact);
    const bool there = dti_quant_error(x, back, &difference, &exact, &failed);
    cell(table, there ? dti_human_signed(text, &difference.absolute, NULL, 6) : "-");
    const bool relative = there && difference.relative.class <= DTI_CLASS_FINITE;
    (void)snprintf(ratio, sizeof ratio, "%s %%",
                   relative ? dti_human_percent(text, &difference.relative, 3) : "");
    cell(table, relative ? ratio : "-");
    dti_buffer_free(&exact);
    return !failed;
}

/* A quotient in fp32 with all its digits: a few numbers lie next to where rounding changes. */
static void spell_scaled(char text[DTI_TEXT_SIZE], const struct dti_value *value)
{
    const uint32_t code = dti_fp32_round(value);
    struct dti_value rounded;
    dti_fp32_value(code, &rounded);
    if (dti_value_compare(value, &rounded) == 0)
        dti_quant_spell(text, code);
    else
        dti_spell_digits(text, value, 12);
}

static bool put_element(struct dti_table *table, const struct quant_result *result,
                        const struct quant_group *group, size_t at)
{
    const struct quant_target *const target = result->target;
    const struct quant_number *const number = &result->numbers->list[at];
    const struct quant_element *const element = &result->elements[at];
    char shown[HUMAN_OPERAND_SIZE], text[DTI_TEXT_SIZE];
    struct dti_value value;
    cell(table,
         dti_human_operand(shown, result->numbers->texts.data + number->text, number->length));
    if (dti_quant_scaled(result, group, number->x, &value)) {
        spell_scaled(text, &value);
        cell(table, text);
    } else {
        cell(table, "-");
    }
    dti_quant_code_number(target, element->code, &value);
    if (target->scheme.block && target->scheme.block->family == DTI_BLOCKS_NF)
        dti_quant_spell(text, dti_fp32_round(&value));
    else
        dti_spell_text(text, &value);
    cell(table, text);
    dti_spell_code(text, element->code, target->code.width);
    cell(table, text);
    cell(table, dti_quant_spell(text, element->back));
    const bool done = put_error(table, number->x, element->back);
    dti_table_cell(table, DTI_STYLE_WARN,
                   element->clipped   ? "clipped"
                   : element->special ? "special"
                                      : "");
    return done;
}

enum { COLUMNS = 8, ROWS = 1024 };

/* The elements of a group, ROWS at a time: a stream may be long. */
static enum dti_status put_elements(const struct dti_context *cx, const struct quant_result *result,
                                    const struct quant_group *group, struct dti_error *reterr)
{
    const bool plain =
        !result->target->scheme.block && dti_format_is_integer(&result->target->code);
    const char *const titles[COLUMNS] = {
        "value", "x / scale", plain ? "code" : "element", "bits", "back", "error", "rel", ""};
    const size_t end = group->first + group->count;
    bool done = true;
    for (size_t first = group->first; first < end && done; first += ROWS) {
        struct dti_table *const table = dti_table_new(COLUMNS);
        for (size_t i = 0; i < COLUMNS && first == group->first; i++)
            dti_table_cell(table, DTI_STYLE_DIM, titles[i]);
        for (size_t at = first; at < end && at < first + ROWS && done; at++)
            done = put_element(table, result, group, at);
        done = done && dti_table_write(table, cx->out, cx->colour, 2);
        dti_table_free(table);
    }
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* The packed codes, wrapped. */
static bool put_packed(struct dti_line *line, const struct quant_result *result,
                       const struct quant_group *group, bool ggml)
{
    enum { DIGITS = 64 };
    struct dti_buffer hex;
    dti_buffer_init(&hex);
    const bool done = dti_quant_packed(result, group, ggml, &hex);
    for (size_t at = 0; done && at < hex.length; at += DIGITS) {
        char text[DIGITS + 1];
        const size_t left = hex.length - at, n = left < DIGITS ? left : DIGITS;
        memcpy(text, hex.data + at, n);
        text[n] = '\0';
        label(line, at > 0 ? "" : ggml ? "ggml bytes" : "packed");
        put(line, text);
        dti_line_end(line);
    }
    dti_buffer_free(&hex);
    return done;
}

static enum dti_status put_group(const struct quant_args *args, const struct dti_context *cx,
                                 const struct quant_result *result, size_t at,
                                 struct dti_error *reterr)
{
    const struct quant_target *const target = result->target;
    const struct quant_group *const group = &result->groups[at];
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    char text[CELL];
    if (result->group_count > 1) {
        (void)snprintf(text, sizeof text, "  block %zu, values %zu to %zu", at, group->first,
                       group->first + group->count - 1);
        put(&line, text);
        dti_line_end(&line);
    }
    if (target->scheme.block)
        put_block(&line, result, group);
    else
        put_affine(&line, result, group);
    if (cx->verbose || args->nibble_given) {
        if (!put_packed(&line, result, group, false) ||
            (dti_quant_has_ggml(target) && !put_packed(&line, result, group, true)))
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    return put_elements(cx, result, group, reterr);
}

static void put_head(const struct quant_args *args, const struct dti_context *cx,
                     const struct quant_result *result)
{
    const struct quant_target *const target = result->target;
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    char words[QUANT_WORDS_SIZE];
    dti_line_put(&line, DTI_STYLE_BOLD, target->name);
    put(&line, "   ");
    put(&line, dti_quant_kind_words(target, words));
    dti_line_end(&line);
    label(&line, "division");
    put(&line, dti_quant_division_words(target));
    if (args->like_given) {
        put(&line, ", like ");
        put(&line, dti_choice_name(dti_choice_quant_like, args->like));
    }
    dti_line_end(&line);
    if (!target->scheme.block || target->scheme.block->family != DTI_BLOCKS_NV)
        return;
    put_fp32(&line, "tensor scale", result->recipe.tensor_scale,
             target->tensor_scale == QUANT_TENSOR_SCALE_AUTO   ? "largest magnitude / 2688"
             : target->tensor_scale == QUANT_TENSOR_SCALE_NONE ? "none"
                                                               : "--tensor-scale");
}

static void put_total(const struct dti_context *cx, const struct quant_result *result)
{
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    const size_t count = result->numbers->count;
    char text[CELL], codes[DTI_TEXT_SIZE], scales[DTI_TEXT_SIZE], place[HUMAN_OPERAND_SIZE];
    (void)snprintf(text, sizeof text, "  %zu value%s   codes %s, scales %s   ", count,
                   count == 1 ? "" : "s", dti_human_bytes(codes, result->code_bytes),
                   dti_human_bytes(scales, result->scale_bytes));
    put(&line, text);
    (void)snprintf(text, sizeof text, "clipped %zu", result->clipped);
    dti_line_put(&line, result->clipped > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, text);
    if (result->special > 0) {
        (void)snprintf(text, sizeof text, "   nan and inf %zu", result->special);
        dti_line_put(&line, DTI_STYLE_WARN, text);
    }
    dti_line_end(&line);
    const struct quant_number *const worst = &result->numbers->list[result->loss.max_index];
    dti_loss_human_errors(
        &result->loss,
        dti_human_operand(place, result->numbers->texts.data + worst->text, worst->length), &line);
    if (result->special > 0 && !result->target->scheme.block &&
        dti_format_is_integer(&result->target->code)) {
        dti_line_put(&line, DTI_STYLE_WARN,
                     result->target->scheme.affine.affine.specials == DTI_QUANT_CLAMP
                         ? "  nan is stored as the zero point, inf as the end of the range"
                         : "  nan and inf are stored as torch stores them");
        dti_line_end(&line);
    }
    if (result->numbers->rounded > 0) {
        (void)snprintf(text, sizeof text,
                       "  rounded to fp32 first: %zu value%s; errors are against that",
                       result->numbers->rounded, result->numbers->rounded == 1 ? "" : "s");
        dti_line_put(&line, DTI_STYLE_DIM, text);
        dti_line_end(&line);
    }
}

enum dti_status dti_quant_human(const struct quant_args *args, const struct dti_context *cx,
                                const struct quant_result *result, struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    if (cx->quiet) {
        for (size_t i = 0; i < result->numbers->count; i++) {
            struct dti_value back;
            dti_fp32_value(result->elements[i].back, &back);
            dti_spell_text(text, &back);
            (void)fprintf(cx->out, "%s\n", text);
        }
        return DTI_OK;
    }
    enum dti_status status = DTI_OK;
    put_head(args, cx, result);
    for (size_t at = 0; at < result->group_count && status == DTI_OK; at++)
        status = put_group(args, cx, result, at, reterr);
    if (status == DTI_OK)
        put_total(cx, result);
    return status;
}
