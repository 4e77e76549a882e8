/* SPDX-License-Identifier: MIT
 *
 * What an array cast lost, for people: three lines, and one more for each thing worth saying. */
#include <math.h>
#include <string.h>

#include "cli/cast_array.h"
#include "cli/choices.h"
#include "cli/human.h"
#include "dtinfo/table.h"

enum { CELL = 200 };

static const char gap[] = "   ";

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static void put_dtype(const struct dti_format *format, const struct dti_layout *layout, bool text,
                      struct dti_line *line)
{
    put(line, format->name);
    if (text) {
        put(line, " as text");
    } else if (format->width < 8) {
        put(line, " (packing ");
        put(line, dti_choice_name(dti_choice_packing, (int)layout->packing));
        put(line, ")");
    }
}

/* in.bin -> out.bin   268435456 fp32 -> bf16   1.00 GiB -> 512.00 MiB */
static void put_head(const struct cast_array *array, struct dti_line *line)
{
    const struct dti_request *request = &array->request;
    char path[DTI_QUOTE_SIZE], text[DTI_TEXT_SIZE];
    put(line, strcmp(array->path, "-") == 0 ? "standard input" : dti_cast_path(path, array->path));
    put(line, " -> ");
    put(line, array->to_stdout ? "standard output" : dti_cast_path(path, array->out_path));
    put(line, gap);
    dti_spell_u64(text, array->elements);
    put(line, text);
    put(line, " ");
    if (array->from_text)
        put(line, array->elements == 1 ? "number" : "numbers");
    else
        put_dtype(&request->src, &request->src_layout, false, line);
    put(line, " -> ");
    put_dtype(&request->cast.dst, &request->dst_layout, array->to_text, line);
    put(line, gap);
    put(line, dti_human_bytes(text, array->input_bytes));
    put(line, " -> ");
    put(line, dti_human_bytes(text, array->output_bytes));
    dti_line_end(line);
}

static void put_count(struct dti_line *line, const char *name, uint64_t count)
{
    char cell[CELL], text[DTI_TEXT_SIZE];
    dti_spell_u64(text, count);
    (void)snprintf(cell, sizeof cell, "%s%s %s", line->column > 0 ? gap : "  ", name, text);
    dti_line_put(line, count > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, cell);
}

static void put_counts(const struct cast_array *array, struct dti_line *line)
{
    const struct dti_loss *loss = &array->loss;
    char cell[CELL], text[DTI_TEXT_SIZE];
    if (loss->inexact == 0) {
        put(line, "  inexact 0");
    } else {
        struct dti_value share;
        dti_double_value((double)loss->inexact / (double)loss->elements, &share);
        (void)snprintf(cell, sizeof cell, "  inexact %llu (%s %%)",
                       (unsigned long long)loss->inexact, dti_human_percent(text, &share, 3));
        put(line, cell);
    }
    put_count(line, "overflowed", loss->overflowed);
    put_count(line, "to zero", loss->to_zero);
    put_count(line, "to subnormal", loss->to_subnormal);
    put_count(line, "nan", loss->nan_in);
    put_count(line, "inf", loss->inf_in);
    if (loss->no_code > loss->nan_in)
        put_count(line, "without a code", loss->no_code);
    dti_line_end(line);
    if (loss->stray > 0) {
        (void)snprintf(cell, sizeof cell, "  %llu with bits beside their code, which are ignored",
                       (unsigned long long)loss->stray);
        put(line, cell);
        dti_line_end(line);
    }
}

/* "-" for a figure that fp64 does not hold. */
static const char *spell(char text[DTI_TEXT_SIZE], double number, unsigned digits)
{
    struct dti_value value;
    if (isnan(number))
        return "-";
    dti_double_value(number, &value);
    dti_spell_digits(text, &value, digits);
    return text;
}

static void put_errors(const struct cast_array *array, struct dti_line *line)
{
    const struct dti_loss *loss = &array->loss;
    char cell[CELL], text[DTI_TEXT_SIZE];
    struct dti_value relative;
    if (loss->compared == 0)
        return;
    if (loss->inexact == 0 && loss->stray == 0) {
        put(line, "  every number is kept exactly");
        dti_line_end(line);
    }
    if (!(loss->max_absolute > 0))
        return;
    (void)snprintf(cell, sizeof cell, "  max abs error %s (element %llu)",
                   spell(text, loss->max_absolute, 4), (unsigned long long)loss->max_index);
    put(line, cell);
    put(line, "   mean abs error ");
    put(line, spell(text, dti_loss_mean_absolute(loss), 3));
    dti_double_value(loss->max_relative, &relative);
    (void)snprintf(cell, sizeof cell, "   max rel error %s %%",
                   dti_human_percent(text, &relative, 3));
    put(line, cell);
    if (!isnan(dti_loss_sqnr_db(loss))) {
        (void)snprintf(cell, sizeof cell, "   SQNR %s dB", spell(text, dti_loss_sqnr_db(loss), 4));
        put(line, cell);
    }
    dti_line_end(line);
}

static void put_choice(struct dti_line *line, const char *name, const struct dti_choice *table,
                       int value)
{
    put(line, line->column > 0 ? gap : "  ");
    put(line, name);
    put(line, " ");
    put(line, dti_choice_name(table, value));
}

/* The policies of the last rounding, and the route. */
static void put_policies(const struct cast_array *array, struct dti_line *line)
{
    const struct dti_cast *cast = &array->request.cast;
    const struct dti_policy *policy = &cast->policy;
    char text[DTI_TEXT_SIZE];
    if (array->request.rule) {
        put_choice(line, "like", dti_choice_stack, array->args->like);
    } else {
        put_choice(line, "round", dti_choice_round, (int)dti_cast_round(cast, &cast->dst));
        if (policy->round == DTI_ROUND_STOCHASTIC) {
            dti_spell_u64(text, policy->seed);
            put(line, "   seed ");
            put(line, text);
        }
        put_choice(line, "overflow", dti_choice_overflow, (int)policy->overflow);
        if (policy->overflow == DTI_OVERFLOW_NATIVE && cast->dst.kind != DTI_KIND_BOOL &&
            dti_format_is_integer(&cast->dst))
            put(line, " (clamps)");
        if (dti_format_is_float(&cast->dst))
            put_choice(line, "nan", dti_choice_nan, (int)policy->nan);
    }
    for (size_t i = 0; i < cast->via_count; i++) {
        put(line, i > 0 ? ", " : line->column > 0 ? "   via " : "  via ");
        put(line, cast->via[i].name);
    }
    if (line->column > 0)
        dti_line_end(line);
}

static void put_machine(const struct cast_array *array, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE], cell[DTI_PLAN_TEXT_SIZE + CELL];
    (void)snprintf(cell, sizeof cell, "  level %s   %zu thread%s   %s",
                   dti_level_name(array->level), array->threads, array->threads == 1 ? "" : "s",
                   array->plan ? dti_plan_describe(array->plan, kernels) : "from text");
    dti_line_put(line, DTI_STYLE_DIM, cell);
    dti_line_end(line);
}

void dti_cast_array_human(const struct cast_array *array)
{
    const bool aside = array->to_stdout;
    struct dti_line line = {.out = aside ? array->cx->err : array->cx->out,
                            .colour = aside ? array->cx->colour_error : array->cx->colour};
    char native[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE], cell[CELL];
    put_head(array, &line);
    put_counts(array, &line);
    put_errors(array, &line);
    put_policies(array, &line);
    if (array->cx->verbose)
        put_machine(array, &line);
    if (array->loss.overflowed > 0 && dti_cast_array_saturated(array, native, other)) {
        (void)snprintf(cell, sizeof cell, "  hint: --overflow saturate stores %s instead of %s",
                       other, native);
        dti_line_put(&line, DTI_STYLE_WARN, cell);
        dti_line_end(&line);
    }
}
