/* SPDX-License-Identifier: MIT
 *
 * The result of an expression in one dtype: the number, its bits, the true value, the error, and
 * what went wrong first. */
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shared/human.h"

enum { EXPRESSION_WHOLE = 160, EXPRESSION_HEAD = 120, DIGITS = 9 };
enum { ULP_BITS = 30 }; /* an error of 2^30 ulps and more is not one of rounding */

bool dti_calc_put_expression(const struct calc_job *job, struct dti_line *line)
{
    if (job->length <= EXPRESSION_WHOLE)
        return dti_line_safe(line, DTI_STYLE_PLAIN, job->text, job->length);
    const bool done = dti_line_safe(line, DTI_STYLE_PLAIN, job->text, EXPRESSION_HEAD);
    dti_line_print(line, DTI_STYLE_DIM, "... (%zu characters)", job->length);
    return done;
}

bool dti_calc_true_words(struct dti_buffer *buffer, const struct dti_calc_result *result,
                         size_t element)
{
    const size_t start = buffer->length;
    char text[DTI_TEXT_SIZE];
    struct dti_calc_true truth;
    dti_calc_true_get(result, element, &truth);
    if (truth.undefined) {
        dti_buffer_puts(buffer, "undefined");
        return true;
    }
    if (!dti_calc_true_text(result, element, buffer))
        return false;
    if (!truth.exact && truth.value.class == DTI_CLASS_FINITE) {
        dti_buffer_puts(buffer, "...");
    } else if (!buffer->failed && strchr(buffer->data + start, '/')) {
        dti_spell_digits(text, &truth.value, DIGITS);
        dti_buffer_puts(buffer, " (");
        dti_buffer_puts(buffer, text);
        dti_buffer_puts(buffer, ")");
    }
    return true;
}

void dti_calc_events_text(struct dti_buffer *buffer, const uint64_t events[DTI_CALC_EVENT_COUNT])
{
    char text[DTI_TEXT_SIZE];
    bool any = false;
    for (int i = 0; i < DTI_CALC_EVENT_COUNT; i++) {
        char words[DTI_CALC_WORDS_SIZE];
        if (events[i] == 0)
            continue;
        dti_buffer_puts(buffer, any ? ", " : "");
        if (events[i] > 1) {
            dti_spell_u64(text, events[i]);
            dti_buffer_puts(buffer, text);
            dti_buffer_puts(buffer, " ");
        }
        dti_buffer_puts(buffer, dti_calc_event_words(words, (enum dti_calc_event_kind)i));
        any = true;
    }
}

/* "+0.0977   +0.0977 %   0.4 ulp" */
static void put_error(struct dti_line *line, const struct dti_calc_result *result, size_t element,
                      const struct dti_calc_true *truth)
{
    const struct dti_format *const format = &result->value.format;
    char text[DTI_TEXT_SIZE];
    struct dti_value stored;
    dti_decode(format, dti_calc_code(&result->value, element), &stored);
    dti_line_text(line, dti_human_signed(text, &truth->absolute, NULL, 8));
    if (truth->absolute.class != DTI_CLASS_FINITE)
        return;
    const struct dti_value ulps = dti_calc_ulps(format, &stored, &truth->absolute);
    if (truth->relative.class == DTI_CLASS_FINITE)
        dti_line_print(line, DTI_STYLE_PLAIN, "   %s",
                       dti_human_signed_percent(text, &truth->relative, 4));
    if (ulps.exponent < ULP_BITS)
        dti_line_print(line, DTI_STYLE_PLAIN, "   %s ulp",
                       dti_human_magnitude(text, &ulps, NULL, 6));
}

/* Without true values: why, where they were wanted. */
static void put_reason(const struct calc_job *job, const struct dti_calc_result *result,
                       struct dti_line *line)
{
    if (!result->truth_reason || job->options.truth == DTI_CALC_TRUTH_NO)
        return;
    dti_human_label(line, "true value", "");
    dti_line_print(
        line, DTI_STYLE_DIM, "not computed: %s%s\n", result->truth_reason,
        strncmp(result->truth_reason, "lib", 3) == 0 ? "" : "; --true-value always computes it");
}

/* Empties a buffer that still says at the end whether memory ran out. */
static void reuse(struct dti_buffer *text)
{
    const bool failed = text->failed;
    dti_buffer_clear(text);
    text->failed = failed;
}

static void put_one_number(const struct calc_job *job, const struct dti_calc_result *result,
                           struct dti_buffer *text, struct dti_line *line)
{
    struct dti_calc_true truth;
    dti_human_bits(line, &result->value.format, dti_calc_code(&result->value, 0));
    put_reason(job, result, line);
    if (!result->truth)
        return;
    dti_calc_true_get(result, 0, &truth);
    dti_human_label(line, "true value", "");
    if (dti_calc_true_words(text, result, 0))
        dti_line_text(line, text->data);
    else
        dti_line_put(line, DTI_STYLE_DIM, "not decided");
    dti_line_end(line);
    if (!truth.has_error)
        return;
    dti_human_label(line, "error", "");
    put_error(line, result, 0, &truth);
    dti_line_end(line);
}

static void put_worst(const struct dti_calc_result *result, struct dti_buffer *text,
                      struct dti_line *line)
{
    struct dti_calc_true truth;
    char number[DTI_TEXT_SIZE];
    uint64_t different;
    size_t worst;
    if (!dti_calc_worst(result, &worst, &different))
        return;
    reuse(text);
    if (different > 0 && dti_calc_truths_text(text, result)) {
        dti_human_label(line, "true value", text->data);
        dti_line_end(line);
    }
    dti_human_label(line, "differ", "");
    dti_line_print(line, DTI_STYLE_PLAIN, "%llu of %zu from the true value\n",
                   (unsigned long long)different, result->value.count);
    if (different == 0)
        return;
    dti_human_label(line, "worst", "");
    dti_calc_number_text(number, &result->value.format, dti_calc_code(&result->value, worst));
    dti_line_print(line, DTI_STYLE_PLAIN, "element %zu = ", worst);
    dti_line_put(line, dti_calc_style(result, worst), number);
    reuse(text);
    if (dti_calc_true_words(text, result, worst)) {
        dti_line_text(line, ", true value ");
        dti_line_text(line, text->data);
    }
    dti_line_end(line);
    dti_calc_true_get(result, worst, &truth);
    if (!truth.has_error)
        return;
    dti_human_label(line, "error", "");
    put_error(line, result, worst, &truth);
    dti_line_end(line);
}

static void put_list(const struct calc_job *job, const struct dti_calc_result *result,
                     struct dti_buffer *text, struct dti_line *line)
{
    dti_calc_list_put(job->cx, result);
    put_reason(job, result, line);
    put_worst(result, text, line);
}

/* How many events, if there is more than the first one. */
static void put_events(const struct dti_calc_result *result, struct dti_buffer *text,
                       struct dti_line *line)
{
    uint64_t count = 0;
    for (int i = 0; i < DTI_CALC_EVENT_COUNT; i++)
        count += result->events[i];
    if (count > 1 || (count == 1 && !result->went_wrong)) {
        reuse(text);
        dti_calc_events_text(text, result->events);
        dti_human_label(line, "events", text->data);
        dti_line_end(line);
    }
    if (!result->went_wrong)
        return;
    reuse(text);
    dti_calc_sentence(text, result, &result->first_step, &result->first);
    dti_line_to(line, 2);
    dti_line_put(line, DTI_STYLE_DIM, "first went wrong: ");
    dti_line_put(line, DTI_STYLE_WARN, text->data);
    dti_line_end(line);
}

static void put_written(const struct calc_job *job, struct dti_line *line)
{
    char path[DTI_QUOTE_SIZE], bytes[DTI_TEXT_SIZE];
    dti_human_label(line, "wrote", dti_human_path(path, job->written.path));
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s\n", dti_human_bytes(bytes, job->written.bytes));
}

enum dti_status dti_calc_human(const struct calc_job *job, const struct dti_calc_result *result,
                               struct dti_error *reterr)
{
    const struct dti_calc_array *const value = &result->value;
    struct dti_line line = dti_context_line(job->cx);
    struct dti_buffer text;
    char number[DTI_TEXT_SIZE];
    struct dti_value stored;
    dti_buffer_init(&text);
    bool done = dti_calc_put_expression(job, &line);
    dti_line_print(&line, DTI_STYLE_PLAIN, " -> %s", value->format.name);
    if (value->rank == 0) {
        const uint64_t code = dti_calc_code(value, 0);
        dti_decode(&value->format, code, &stored);
        (void)dti_spell_stored(number, &value->format, code, &stored);
        dti_line_text(&line, " = ");
        dti_line_put(&line, dti_calc_style(result, 0), number);
        dti_line_end(&line);
        put_one_number(job, result, &text, &line);
    } else {
        dti_calc_count_text(&text, value);
        dti_line_print(&line, DTI_STYLE_PLAIN, "   %s\n", text.data);
        put_list(job, result, &text, &line);
    }
    put_events(result, &text, &line);
    if (job->written.path)
        put_written(job, &line);
    done = done && !text.failed;
    dti_buffer_free(&text);
    return done ? DTI_OK : dti_no_memory(reterr);
}
