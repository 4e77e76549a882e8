/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant VALUES... DTYPE: the values are one tensor, quantized to each dtype. For people: the
 * recipe, then each number, grouped by scale. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/quant/quant_words.h"
#include "cli/rewrite/text_numbers.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/operand_kinds.h"
#include "cli/shared/tensor_cells.h"
#include "core/block/quant_parts.h"
#include "util/run/allocate.h"

enum { VALUE_COLUMN = 15, BITS_COLUMN = 33, NOTE_COLUMN = 45 };

static void label(struct dti_line *line, const char *name)
{
    dti_line_to(line, 2);
    dti_line_put(line, DTI_STYLE_DIM, name);
    dti_line_to(line, VALUE_COLUMN);
}

/* Ends the line, with or without a note. */
static void end(struct dti_line *line, const char *note)
{
    if (note) {
        dti_line_to(line, NOTE_COLUMN);
        dti_line_put(line, DTI_STYLE_DIM, note);
    }
    dti_line_end(line);
}

/* "label  0.1   0x3dcccccd   its rule" */
static void put_fp32(struct dti_line *line, const char *name, uint32_t code, const char *how)
{
    char text[DTI_TEXT_SIZE];
    label(line, name);
    dti_line_text(line, dti_human_fp32(text, code));
    dti_line_to(line, BITS_COLUMN);
    dti_spell_code(text, code, 32);
    dti_line_text(line, text);
    end(line, how);
}

static void put_hexfloat(struct dti_line *line, uint32_t code)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_fp32_value(code, &value);
    if (value.kind != DTI_CLASS_FINITE)
        return;
    dti_spell_hexfloat(text, &value);
    label(line, "");
    dti_line_text(line, text);
    end(line, NULL);
}

static void put_span(struct dti_line *line, uint32_t low, uint32_t high)
{
    char from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s to %s", dti_human_fp32(from, low),
                   dti_human_fp32(to, high));
}

static void put_range(struct dti_line *line, const struct dti_quant_target *target,
                      const struct dti_quant_group *group)
{
    const char *const from = target->has_min && target->has_max ? "--min and --max"
                             : target->has_min                  ? "--min and the values"
                             : target->has_max                  ? "the values and --max"
                             : group->finite > 0                ? "the values"
                                                                : "no finite values";
    label(line, "range");
    if (group->finite == 0 && !target->has_min && !target->has_max)
        dti_line_text(line, "none");
    else
        put_span(line, group->seen_min, group->seen_max);
    dti_line_to(line, NOTE_COLUMN);
    dti_line_put(line, DTI_STYLE_DIM, "of ");
    dti_line_put(line, DTI_STYLE_DIM, from);
    end(line, NULL);
    if (group->min == group->seen_min && group->max == group->seen_max)
        return;
    label(line, "widened to");
    put_span(line, group->min, group->max);
    end(line, "zero must be a code");
}

static void put_affine(struct dti_line *line, const struct dti_quant_target *target,
                       const struct dti_quant_group *group)
{
    const struct dti_affine *const affine = &target->scheme.affine.affine;
    const bool integer = dti_format_is_integer(&target->code);
    uint32_t lowest, highest;
    char codes[48];
    if (group->has_range)
        put_range(line, target, group);
    put_fp32(line, "scale", group->affine.scale, NULL);
    put_hexfloat(line, group->affine.scale);
    if (integer) {
        label(line, "zero point");
        dti_line_print(line, DTI_STYLE_PLAIN, "%d", (int)group->affine.zero_point);
        end(line, "zero is exact");
    }
    label(line, "reaches");
    dti_quant_reach(target, group, &lowest, &highest);
    put_span(line, lowest, highest);
    (void)snprintf(codes, sizeof codes, "codes %d to %d", (int)affine->low, (int)affine->high);
    end(line, integer ? codes : NULL);
}

/* The scale of a block: its number, its bits, and its rule. */
static void put_block(struct dti_line *line, const struct dti_quant_result *result,
                      const struct dti_quant_group *group)
{
    const struct dti_quant_target *const target = result->target;
    const struct dti_block_format *const block = target->scheme.block;
    const struct dti_format *const format = dti_format_get(block->scale);
    char text[DTI_TEXT_SIZE], words[QUANT_WORDS_SIZE];
    struct dti_value scale;
    dti_decode(format, group->scale, &scale);
    if (block->family != DTI_BLOCKS_NF) /* the scale's name */
        put_fp32(line, "amax", group->amax, NULL);
    label(line, "scale");
    if (block->family == DTI_BLOCKS_MX && scale.kind == DTI_CLASS_FINITE)
        dti_line_print(line, DTI_STYLE_PLAIN, "2^%d = %s", (int)scale.exponent,
                       dti_human_fp32(text, dti_fp32_round(&scale)));
    else if (format->width == 32)
        dti_line_text(line, dti_human_fp32(text, group->scale));
    else {
        dti_spell_stored(text, format, group->scale, &scale);
        dti_line_text(line, text);
    }
    dti_spell_code(text, group->scale, format->width);
    dti_line_to(line, BITS_COLUMN);
    dti_line_text(line, text);
    end(line, scale.kind == DTI_CLASS_NAN
                  ? "the block contains a NaN or an infinity, so all of it becomes NaN"
              : scale.kind == DTI_CLASS_INF
                  ? "beyond the scale's dtype: the block becomes infinities and NaNs"
                  : dti_quant_scale_words(target, words));
    if (block->family == DTI_BLOCKS_NV && target->tensor_scale != DTI_TENSOR_SCALE_NONE)
        put_fp32(line, "x tensor", dti_quant_multiplier(result, group),
                 "scale times tensor scale, in fp32");
}

/* Error and relative error. */
static void put_error(struct dti_table *table, const struct dti_quant_facts *facts)
{
    char text[DTI_TEXT_SIZE];
    dti_text_cell(table, facts->has_error
                             ? dti_human_signed(text, &facts->difference.absolute, NULL, 6)
                             : "-");
    if (facts->has_relative)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s %%",
                        dti_human_percent(text, &facts->difference.relative, 3));
    else
        dti_text_cell(table, "-");
}

/* A quotient in fp32 with all digits: some numbers are close to a rounding boundary. */
static void spell_scaled(char text[DTI_TEXT_SIZE], const struct dti_value *value)
{
    const uint32_t code = dti_fp32_round(value);
    struct dti_value rounded;
    dti_fp32_value(code, &rounded);
    if (dti_value_compare(value, &rounded) == 0)
        dti_human_fp32(text, code);
    else
        dti_spell_digits(text, value, 12);
}

static void put_element(struct dti_table *table, const struct dti_quant_facts *facts, bool nf)
{
    const struct dti_quant_element *const stored = facts->stored;
    char operand[HUMAN_OPERAND_SIZE], text[DTI_TEXT_SIZE] = "-";
    (void)dti_human_operand(operand, facts->input, strlen(facts->input));
    dti_text_cell(table, operand);
    if (facts->has_scaled)
        spell_scaled(text, &facts->scaled);
    dti_text_cell(table, text);
    if (nf)
        dti_human_fp32(text, dti_fp32_round(&facts->element));
    else
        dti_spell_text(text, &facts->element);
    dti_text_cell(table, text);
    dti_spell_code(text, stored->code, facts->format->width);
    dti_text_cell(table, text);
    dti_text_cell(table, dti_human_fp32(text, stored->back));
    put_error(table, facts);
    dti_table_cell(table, DTI_STYLE_WARN,
                   stored->clipped   ? "clipped"
                   : stored->special ? "special"
                                     : "");
}

enum { COLUMNS = 8, ROWS = 1024 };

/* The elements of a group, ROWS at a time, as a stream may be long. */
static bool put_elements(const struct dti_command_context *cx,
                         const struct dti_quant_result *result, const struct dti_quant_group *group)
{
    const unsigned family = dti_quant_family(result->target);
    const char *const titles[COLUMNS] = {
        "value", "x / scale", family == DTI_FAMILY_INTEGER ? "code" : "element",
        "bits",  "back",      "error",
        "rel",   ""};
    const size_t last = group->first + group->count;
    bool done = true;
    for (size_t first = group->first; first < last && done; first += ROWS) {
        struct dti_table *const table = dti_table_new(COLUMNS);
        for (size_t i = 0; i < COLUMNS && first == group->first; i++)
            dti_table_cell(table, DTI_STYLE_DIM, titles[i]);
        if (first == group->first)
            dti_table_heads(table, "97857654"); /* value, x / scale, code, bits, back, error, rel */
        for (size_t at = first; at < last && at < first + ROWS && done; at++) {
            struct dti_quant_facts facts;
            dti_quant_facts(result, group, at, &facts);
            put_element(table, &facts, family == DTI_FAMILY_NF);
            done = !facts.failed;
            dti_quant_facts_free(&facts);
        }
        done = dti_table_finish(table, done, cx, NULL) == DTI_OK;
    }
    return done;
}

/* The packed codes, wrapped. */
static bool put_packed(struct dti_line *line, const struct dti_quant_result *result,
                       const struct dti_quant_group *group, bool ggml)
{
    enum { DIGITS = 64 };
    struct dti_buffer hex;
    dti_buffer_init(&hex);
    dti_quant_packed(result, group, ggml, &hex);
    const bool done = !hex.failed;
    for (size_t at = 0; done && at < hex.length; at += DIGITS) {
        label(line, at > 0 ? "" : ggml ? "ggml bytes" : "packed");
        dti_line_print(line, DTI_STYLE_PLAIN, "%.*s", DIGITS, hex.data + at);
        end(line, NULL);
    }
    dti_buffer_free(&hex);
    return done;
}

static bool put_group(const struct quant_args *args, const struct dti_command_context *cx,
                      const struct dti_quant_result *result, size_t at)
{
    const struct dti_quant_target *const target = result->target;
    const struct dti_quant_group *const group = &result->groups[at];
    struct dti_line line = dti_command_context_line(cx);
    if (result->group_count > 1) {
        dti_line_print(&line, DTI_STYLE_PLAIN, "  block %zu, values %zu to %zu", at, group->first,
                       group->first + group->count - 1);
        end(&line, NULL);
    }
    if (target->scheme.block)
        put_block(&line, result, group);
    else
        put_affine(&line, target, group);
    if ((cx->verbose || args->recipe.order_given) &&
        (!put_packed(&line, result, group, false) ||
         (dti_quant_has_ggml(target) && !put_packed(&line, result, group, true))))
        return false;
    return put_elements(cx, result, group);
}

static void put_head(const struct quant_args *args, const struct dti_command_context *cx,
                     const struct dti_quant_result *result)
{
    const struct dti_quant_target *const target = result->target;
    const char *const like = dti_quant_like_word(args->recipe.rules.like);
    struct dti_line line = dti_command_context_line(cx);
    char words[QUANT_WORDS_SIZE];
    dti_line_put(&line, DTI_STYLE_BOLD, target->name);
    dti_line_print(&line, DTI_STYLE_PLAIN, "   %s", dti_quant_kind_words(target, words));
    end(&line, NULL);
    label(&line, "division");
    dti_line_text(&line, dti_quant_division_words(target));
    if (like)
        dti_line_print(&line, DTI_STYLE_PLAIN, ", like %s", like);
    end(&line, NULL);
    if (dti_quant_family(target) == DTI_FAMILY_NV)
        put_fp32(&line, "tensor scale", result->recipe.tensor_scale,
                 target->tensor_scale == DTI_TENSOR_SCALE_NONE    ? "none"
                 : target->tensor_scale == DTI_TENSOR_SCALE_GIVEN ? "--tensor-scale"
                 : result->recipe.nv == DTI_NV_FOUR_SIX           ? "largest magnitude / 1536"
                                                                  : "largest magnitude / 2688");
}

static void put_total(const struct dti_command_context *cx, const struct dti_quant_result *result)
{
    const struct dti_quant_inputs *const numbers = result->numbers;
    const char *const worst = dti_quant_text(numbers, (size_t)result->loss.max_index);
    struct dti_line line = dti_command_context_line(cx);
    char codes[DTI_TEXT_SIZE], scales[DTI_TEXT_SIZE], place[HUMAN_OPERAND_SIZE];
    dti_line_print(&line, DTI_STYLE_PLAIN, "  %zu value%s   codes %s, scales %s   ", numbers->count,
                   numbers->count == 1 ? "" : "s", dti_human_bytes(codes, result->code_bytes),
                   dti_human_bytes(scales, result->scale_bytes));
    dti_line_print(&line, result->clipped > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, "clipped %zu",
                   result->clipped);
    if (result->special > 0)
        dti_line_print(&line, DTI_STYLE_WARN, "   nan and inf %zu", result->special);
    end(&line, NULL);
    (void)dti_human_operand(place, worst, strlen(worst));
    dti_loss_human_errors(&result->loss, place, &line);
    if (result->special > 0 && dti_quant_family(result->target) == DTI_FAMILY_INTEGER) {
        dti_line_put(&line, DTI_STYLE_WARN,
                     result->target->scheme.affine.affine.specials == DTI_QUANT_CLAMP
                         ? "  nan is stored as the zero point, inf as the end of the range"
                         : "  nan and inf are stored as torch stores them");
        end(&line, NULL);
    }
    if (numbers->rounded > 0) {
        dti_line_print(&line, DTI_STYLE_DIM,
                       "  rounded to fp32 first: %zu value%s; errors are against that",
                       numbers->rounded, numbers->rounded == 1 ? "" : "s");
        end(&line, NULL);
    }
}

static enum dti_status show_human(const struct quant_args *args,
                                  const struct dti_command_context *cx,
                                  const struct dti_quant_result *result, struct dti_error *reterr)
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
    put_head(args, cx, result);
    for (size_t at = 0; at < result->group_count; at++) {
        if (!put_group(args, cx, result, at))
            return dti_no_memory(reterr);
    }
    put_total(cx, result);
    return DTI_OK;
}

#define EXAMPLE "as in 'dtinfo quant -1 0.1 3 int8'"

static bool is_target(const char *text)
{
    struct dti_format format;
    return dti_block_lookup(text) || dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

static enum dti_status check_operands(const struct quant_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    const char *const of_files = dti_quant_given(
        args, "input output dequant as force layout nested-absmax convrot bits quant-only type "
              "keep select allow-unmatched no-copy assume lenient dry-run max-shard-size part "
              "finish threads max-memory progress axis pad fused imatrix");
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to quantize; give values and a dtype, " EXAMPLE);
    if (of_files)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for files of tensors, as in 'dtinfo quant model.safetensors mxfp4 "
                        "-o out.safetensors'",
                        of_files);
    if (args->recipe.per_given && args->recipe.rules.per == DTI_PER_CHANNEL)
        return dti_fail(
            reterr, DTI_USAGE,
            "values have no channels; --per channel is for files, --block N for values and files");
    if (count == 1)
        return dti_fail(reterr, DTI_USAGE,
                        is_target(operands[0]) ? "the values are missing before %s, " EXAMPLE
                                               : "the dtype is missing after %s, " EXAMPLE,
                        DTI_QUOTED(operands[0], strlen(operands[0])));
    for (int i = 0; i < count - 1; i++) {
        if (strcmp(operands[i], "-") == 0 && count > 2)
            return dti_fail(
                reterr, DTI_USAGE,
                "'-' reads all values from standard input; give no other values with it");
    }
    const char *const last = operands[count - 1], *const first = operands[count - 2];
    if (!is_target(first) && dti_operand_is_number(last)) {
        const bool swapped = is_target(operands[0]);
        const char *const word = swapped ? operands[0] : last;
        return dti_fail(reterr, DTI_USAGE,
                        swapped
                            ? "expected a value, got the dtype %s; the dtype comes last, " EXAMPLE
                            : "the dtype is missing after %s, " EXAMPLE,
                        DTI_QUOTED(word, strlen(word)));
    }
    if (!is_target(first))
        return DTI_OK;
    if (is_target(last))
        return dti_fail(reterr, DTI_USAGE,
                        "expected a value, got the dtype %s; join dtypes with commas: %.64s,%.64s",
                        DTI_QUOTED(first, strlen(first)), first, last);
    if (dti_operand_is_number(last))
        return dti_fail(reterr, DTI_USAGE,
                        "expected a dtype, got the number %s; the dtype comes last: %.64s %.64s",
                        DTI_QUOTED(last, strlen(last)), last, first);
    return DTI_OK;
}

/* The values of standard input, separated by white space or commas. */
static enum dti_status read_input(struct dti_quant_inputs *numbers, struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_text_numbers texts;
    enum dti_status status = dti_input_open(&input, "-", reterr);
    if (status != DTI_OK)
        return status;
    dti_text_numbers_init(&texts, &input);
    for (;;) {
        const char *text;
        size_t length;
        struct dti_error error;
        status = dti_text_numbers_next(&texts, &text, &length, reterr);
        if (status != DTI_OK || !text)
            break;
        status = dti_quant_inputs_add(numbers, text, length, &error);
        if (status != DTI_OK) {
            status = dti_text_numbers_fail(&texts, &error, reterr);
            break;
        }
    }
    dti_text_numbers_free(&texts);
    dti_input_close(&input);
    if (status == DTI_OK && numbers->count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "standard input is empty; give values separated by white space");
    return status;
}

static enum dti_status read_operands(struct dti_quant_inputs *numbers, char **operands, int count,
                                     struct dti_error *reterr)
{
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return read_input(numbers, reterr);
    for (int i = 0; i < count; i++) {
        struct dti_error error;
        const enum dti_status status =
            dti_quant_inputs_add(numbers, operands[i], strlen(operands[i]), &error);
        if (status == DTI_OK)
            continue;
        dti_operand_hint(operands[i], &error);
        *reterr = error;
        return error.status;
    }
    return DTI_OK;
}

struct quant_values_job {
    const struct quant_args *args;
    const struct dti_command_context *cx;
    struct dti_quant_target *targets;
    size_t count;
    struct dti_quant_inputs numbers;
    unsigned events; /* set of enum dti_quant_event */
};

/* If only one end of a range is given, it must not be beyond the values. */
static enum dti_status check_range(const struct quant_values_job *job, size_t at,
                                   struct dti_error *reterr)
{
    const struct dti_quant_target *const target = &job->targets[at];
    char text[DTI_TEXT_SIZE];
    uint32_t end;
    if (!dti_quant_range_is_empty(target, &job->numbers, &end))
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "%s is beyond all values, whose %s is %s; give %s too",
                    target->has_min ? "--min" : "--max", target->has_min ? "largest" : "least",
                    dti_human_fp32(text, end), target->has_min ? "--max" : "--min");
}

static enum dti_status show(struct quant_values_job *job, size_t at, struct dti_error *reterr)
{
    struct dti_quant_result result;
    if (!dti_quant_result_make(&result, &job->targets[at], &job->numbers))
        return dti_no_memory(reterr);
    job->events |= dti_quant_events(&result);
    if (at > 0 && !job->cx->quiet)
        (void)fputc('\n', job->cx->out);
    const enum dti_status status = show_human(job->args, job->cx, &result, reterr);
    dti_quant_result_free(&result);
    return status;
}

/* Some targets in one document. */
static enum dti_status answer(struct quant_values_job *job, size_t first, size_t count,
                              struct dti_error *reterr)
{
    const struct dti_quant_answer answer = {
        .rules = &job->args->recipe.rules,
        .targets = job->targets + first,
        .count = count,
        .numbers = &job->numbers,
        .stream = job->cx->output == DTI_OUTPUT_JSON ? &job->cx->sink : NULL,
        .ret_events = &job->events,
    };
    return DTI_ANSWER(job->cx, quant, &answer, reterr);
}

static enum dti_status show_all(struct quant_values_job *job, struct dti_error *reterr)
{
    const bool document = job->cx->output == DTI_OUTPUT_JSON;
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < job->count && status == DTI_OK; at++) {
        status = check_range(job, at, reterr);
        if (status == DTI_OK && !document)
            status = job->cx->output == DTI_OUTPUT_HUMAN ? show(job, at, reterr)
                                                         : answer(job, at, 1, reterr);
    }
    return status == DTI_OK && document ? answer(job, 0, job->count, reterr) : status;
}

enum dti_status dti_quant_values(const struct quant_args *args,
                                 const struct dti_command_context *cx, char **operands, int count,
                                 struct dti_error *reterr)
{
    struct quant_values_job job = {.args = args, .cx = cx};
    enum dti_status status = check_operands(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_quant_targets_read(args, &cx->asker, operands[count - 1], &job.targets,
                                        &job.count, reterr);
    if (status != DTI_OK)
        return status;
    dti_quant_inputs_init(&job.numbers);
    status = read_operands(&job.numbers, operands, count - 1, reterr);
    if (status == DTI_OK)
        status = show_all(&job, reterr);
    dti_quant_inputs_free(&job.numbers);
    dti_free(job.targets);
    if (status == DTI_OK && (job.events & (unsigned)args->fail_on) != 0)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer itself shows the event */
    return status;
}
