/* SPDX-License-Identifier: MIT
 *
 * Losses and policies in words. */
#include "cli/shared/loss_human.h"

#include <math.h>

#include "answers/tensors.h"
#include "cli/shared/human.h"
#include "requests/cast_job.h"
#include "requests/option_rows.h"

static const char gap[] = "   ";

void dti_loss_human_count(struct dti_line *line, const char *name, uint64_t count)
{
    dti_line_print(line, count > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, "%s%s %llu",
                   line->column > 0 ? gap : "  ", name, (unsigned long long)count);
}

void dti_loss_human_counts(const struct dti_loss_summary *loss, struct dti_line *line)
{
    char text[DTI_TEXT_SIZE];
    if (loss->inexact == 0)
        dti_line_text(line, "  inexact 0");
    else
        dti_line_print(line, DTI_STYLE_PLAIN, "  inexact %llu (%s)",
                       (unsigned long long)loss->inexact,
                       dti_human_share(text, loss->inexact, loss->elements));
    dti_loss_human_count(line, "overflowed", loss->overflowed);
    dti_loss_human_count(line, "to zero", loss->to_zero);
    dti_loss_human_count(line, "to subnormal", loss->to_subnormal);
    dti_loss_human_count(line, "nan", loss->nan_in);
    dti_loss_human_count(line, "inf", loss->inf_in);
    if (loss->no_code > 0)
        dti_loss_human_count(line, "without a code", loss->no_code);
    dti_line_end(line);
    if (loss->stray > 0) {
        dti_line_print(line, DTI_STYLE_PLAIN,
                       "  %llu with bits outside their code, which are ignored\n",
                       (unsigned long long)loss->stray);
    }
}

void dti_loss_human_errors(const struct dti_loss_summary *loss, const char *place,
                           struct dti_line *line)
{
    char text[DTI_TEXT_SIZE], mean[DTI_TEXT_SIZE];
    struct dti_value relative;
    if (loss->compared == 0)
        return;
    if (loss->inexact == 0 && loss->stray == 0)
        dti_line_text(line, "  all numbers are exact\n");
    if (!(loss->max_absolute > 0))
        return;
    dti_line_print(line, DTI_STYLE_PLAIN, "  max abs error %s (",
                   dti_figure_words(text, loss->max_absolute, 4));
    dti_line_text(line, place);
    dti_double_value(loss->max_relative, &relative);
    dti_line_print(line, DTI_STYLE_PLAIN, ")   mean abs error %s   max rel error %s %%",
                   dti_figure_words(mean, loss->mean_absolute, 3),
                   dti_human_percent(text, &relative, 3));
    if (!isnan(loss->sqnr_db))
        dti_line_print(line, DTI_STYLE_PLAIN, "   SQNR %s dB",
                       dti_figure_words(text, loss->sqnr_db, 4));
    dti_line_end(line);
}

static void put_choice(struct dti_line *line, const char *name, const struct dti_choice *table,
                       int value)
{
    dti_line_print(line, DTI_STYLE_PLAIN, "%s%s %s", line->column > 0 ? gap : "  ", name,
                   dti_choice_name(table, value));
}

void dti_loss_human_policies(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                             struct dti_line *line)
{
    const struct dti_policy *policy = &cast->policy;
    if (rule) {
        put_choice(line, "like", dti_choice_stack, (int)rule->stack);
    } else {
        put_choice(line, "round", dti_choice_round, (int)dti_cast_round(cast, &cast->dst));
        if (policy->round == DTI_ROUND_STOCHASTIC)
            dti_line_print(line, DTI_STYLE_PLAIN, "   seed %llu", (unsigned long long)policy->seed);
        put_choice(line, "overflow", dti_choice_overflow, (int)policy->overflow);
        if (policy->overflow == DTI_OVERFLOW_NATIVE && cast->dst.kind != DTI_KIND_BOOL &&
            dti_format_is_integer(&cast->dst))
            dti_line_text(line, " (clamps)");
        if (dti_format_is_float(&cast->dst))
            put_choice(line, "nan", dti_choice_nan, (int)policy->nan);
    }
    for (size_t i = 0; i < cast->via_count; i++) {
        dti_line_text(line, i > 0 ? ", " : line->column > 0 ? "   via " : "  via ");
        dti_line_text(line, cast->via[i].name);
    }
    if (line->column > 0)
        dti_line_end(line);
}

void dti_cast_device_human(struct dti_cast_device *device, struct dti_line *line)
{
    if (device->choice.kind == DTI_DEVICE_CPU)
        return;
    const char *const reason = dti_cast_device_reason(device);
    dti_line_print(line, DTI_STYLE_PLAIN, "  device %s%s%s\n", dti_cast_device_name(device),
                   reason ? ": " : "", reason ? reason : "");
}

void dti_loss_human_hint(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                         const struct dti_loss_summary *loss, struct dti_line *line)
{
    char native[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE];
    if (loss->overflowed == 0 || !dti_loss_saturated(cast, rule, native, other))
        return;
    dti_line_print(line, DTI_STYLE_WARN, "  hint: --overflow saturate stores %s instead of %s\n",
                   other, native);
}
