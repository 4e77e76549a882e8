/* SPDX-License-Identifier: MIT
 *
 * Results of an expression for people: for one dtype the number, its bits, the true value, the
 * error, and the first event; for several dtypes a table; with --steps every operation. Lists are
 * shown as numpy prints them, without the middle of a long one. */
#include <stdlib.h>
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "util/run/allocate.h"

enum {
    WHOLE = 16,          /* lists of up to this many elements are shown whole */
    EDGE = 3,            /* otherwise this many elements at each end */
    WHOLE_ON_A_LINE = 6, /* WHOLE for a list within a line */
    SHORT = 8,           /* numbers of up to this many digits are not shortened */
    SHORT_DIGITS = 6,
};

/* A number as short as its dtype allows. */
static void number_text(char buffer[DTI_TEXT_SIZE], const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    if (dti_spell_stored(buffer, format, code, &value) > SHORT && dti_format_is_float(format))
        (void)dti_spell_shortest_value(buffer, format, &value);
}

/* A result that became infinity, NaN or zero stands out. */
static enum dti_style style_of(const struct dti_calc_result *result, size_t element)
{
    const uint64_t code = dti_calc_code(&result->value, element);
    struct dti_calc_true truth;
    struct dti_value stored;
    dti_decode(&result->value.format, code, &stored);
    dti_calc_true_get(result, element, &truth);
    const bool is_number = truth.known && !truth.undefined;
    if (stored.kind == DTI_CLASS_ZERO)
        return is_number && truth.value.kind != DTI_CLASS_ZERO ? DTI_STYLE_WARN : DTI_STYLE_BOLD;
    if (stored.kind == DTI_CLASS_FINITE)
        return DTI_STYLE_BOLD;
    const bool same = truth.undefined ? stored.kind == DTI_CLASS_NAN
                      : is_number     ? stored.kind == truth.value.kind
                                      : !result->went_wrong;
    return same ? DTI_STYLE_BOLD : DTI_STYLE_BAD;
}

/* Whether elements before this index are left out. */
static bool is_after_gap(uint64_t index, uint64_t count, uint64_t whole)
{
    return count > whole && index == count - EDGE;
}

/* The next index that is shown. */
static uint64_t next_shown(uint64_t index, uint64_t count, uint64_t whole)
{
    return count > whole && index + 1 == EDGE ? count - EDGE : index + 1;
}

static const char *separator(uint64_t index, uint64_t count, uint64_t whole)
{
    return is_after_gap(index, count, whole) ? ", ..., " : index > 0 ? ", " : "";
}

typedef bool put_number_fn(struct dti_buffer *buffer, const void *list, size_t index);

/* "[0, 0.001, 0.002, ..., 1]"; false if a number is unknown. */
static bool join_list(struct dti_buffer *buffer, const void *list, size_t first, uint64_t count,
                      uint64_t whole, put_number_fn *put)
{
    bool done = true;
    dti_buffer_puts(buffer, "[");
    for (uint64_t i = 0; i < count && done; i = next_shown(i, count, whole)) {
        dti_buffer_puts(buffer, separator(i, count, whole));
        done = put(buffer, list, first + (size_t)i);
    }
    dti_buffer_puts(buffer, "]");
    return done;
}

static bool put_stored(struct dti_buffer *buffer, const void *list, size_t index)
{
    const struct dti_calc_array *const array = list;
    char text[DTI_TEXT_SIZE];
    number_text(text, &array->format, dti_calc_code(array, index));
    dti_buffer_puts(buffer, text);
    return true;
}

static bool put_true(struct dti_buffer *buffer, const void *list, size_t index)
{
    struct dti_calc_true truth;
    char text[DTI_TEXT_SIZE];
    dti_calc_true_get(list, index, &truth);
    if (!truth.known)
        return false;
    if (truth.undefined)
        memcpy(text, "nan", 4);
    else
        dti_spell_digits(text, &truth.value, SHORT_DIGITS);
    dti_buffer_puts(buffer, text);
    return true;
}

/* An array within a line, with its first and last elements. */
static void list_text(struct dti_buffer *buffer, const struct dti_calc_array *array)
{
    (void)join_list(buffer, array, 0, array->count, WHOLE_ON_A_LINE, put_stored);
}

/* The true values in the same way; false where they are not known. */
static bool truths_text(struct dti_buffer *buffer, const struct dti_calc_result *result)
{
    return result->truth &&
           join_list(buffer, result, 0, result->value.count, WHOLE_ON_A_LINE, put_true);
}

/* "1 element", "1000 elements", "2 x 3 elements" */
static void count_text(struct dti_buffer *buffer, const struct dti_calc_array *array)
{
    char text[DTI_TEXT_SIZE];
    for (unsigned i = 0; i < array->rank; i++) {
        dti_buffer_puts(buffer, i > 0 ? " x " : "");
        dti_spell_u64(text, array->shape[i]);
        dti_buffer_puts(buffer, text);
    }
    dti_buffer_puts(buffer, array->count == 1 ? " element" : " elements");
}

/* The same on a line, each number in its style. */
static void put_styled(struct dti_line *line, const struct dti_calc_result *result, size_t first,
                       uint64_t count, uint64_t whole)
{
    const struct dti_calc_array *const array = &result->value;
    char text[DTI_TEXT_SIZE];
    dti_line_text(line, "[");
    for (uint64_t i = 0; i < count; i = next_shown(i, count, whole)) {
        const size_t element = first + (size_t)i;
        dti_line_text(line, separator(i, count, whole));
        number_text(text, &array->format, dti_calc_code(array, element));
        dti_line_put(line, style_of(result, element), text);
    }
    dti_line_text(line, "]");
}

/* An array on lines of its own. Matrices have a line per shown row; arrays of higher rank are one
 * list. */
static void put_array(const struct dti_command_context *cx, const struct dti_calc_result *result)
{
    const struct dti_calc_array *const array = &result->value;
    const bool matrix = array->rank == 2 && array->count > 0;
    const uint64_t rows = matrix ? array->shape[0] : 1;
    const uint64_t length = matrix ? array->shape[1] : array->count;
    for (uint64_t i = 0; i < rows; i = next_shown(i, rows, WHOLE)) {
        struct dti_line line = dti_command_context_line(cx);
        if (is_after_gap(i, rows, WHOLE))
            dti_put_line(cx, DTI_STYLE_PLAIN, 3, "...");
        dti_line_to(&line, 2);
        dti_line_text(&line, !matrix ? "" : i == 0 ? "[" : " ");
        put_styled(&line, result, (size_t)(i * length), length, matrix ? WHOLE_ON_A_LINE : WHOLE);
        dti_line_text(&line, !matrix ? "" : i + 1 < rows ? "," : "]");
        dti_line_end(&line);
    }
}

void dti_calc_values_print(FILE *out, const struct dti_calc_array *array)
{
    char text[DTI_TEXT_SIZE];
    for (size_t i = 0; i < array->count; i++) {
        const uint64_t code = dti_calc_code(array, i);
        struct dti_value value;
        dti_decode(&array->format, code, &value);
        (void)dti_spell_stored(text, &array->format, code, &value);
        (void)fprintf(out, "%s\n", text);
    }
}

enum { EXPRESSION_WHOLE = 160, EXPRESSION_HEAD = 120, DIGITS = 9 };
enum { ULP_BITS = 30 }; /* an error of 2^30 ulps or more is not a rounding error */

/* The expression on a line: safe for a terminal, truncated if it is long. */
static bool put_expression(const struct calc_job *job, struct dti_line *line)
{
    if (job->length <= EXPRESSION_WHOLE)
        return dti_line_safe(line, DTI_STYLE_PLAIN, job->text, job->length);
    const bool done = dti_line_safe(line, DTI_STYLE_PLAIN, job->text, EXPRESSION_HEAD);
    dti_line_print(line, DTI_STYLE_DIM, "... (%zu characters)", job->length);
    return done;
}

/* The true value of an element, with 9 digits if it is short: "1/3 (0.333333333)", "undefined";
 * false, with nothing appended, if it is unknown. */
static bool true_words(struct dti_buffer *buffer, const struct dti_calc_result *result,
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
    if (!truth.exact && truth.value.kind == DTI_CLASS_FINITE) {
        dti_buffer_puts(buffer, "...");
    } else if (!buffer->failed && strchr(buffer->data + start, '/')) {
        dti_spell_digits(text, &truth.value, DIGITS);
        dti_buffer_puts(buffer, " (");
        dti_buffer_puts(buffer, text);
        dti_buffer_puts(buffer, ")");
    }
    return true;
}

/* Appends the event counts: "3 overflow, 1 to zero"; a single event without its count. */
static void events_text(struct dti_buffer *buffer, const uint64_t events[DTI_CALC_EVENT_COUNT])
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

/* "  error      +0.0977   +0.0977 %   0.4 ulp", where it is known. */
static void put_error(struct dti_line *line, const struct dti_calc_result *result, size_t element)
{
    const struct dti_format *const format = &result->value.format;
    char text[DTI_TEXT_SIZE];
    struct dti_calc_true truth;
    struct dti_value stored;
    dti_calc_true_get(result, element, &truth);
    if (!truth.has_error)
        return;
    dti_decode(format, dti_calc_code(&result->value, element), &stored);
    dti_human_label(line, "error", dti_human_signed(text, &truth.absolute, NULL, 8));
    if (truth.absolute.kind == DTI_CLASS_FINITE) {
        const struct dti_value ulps = dti_calc_ulps(format, &stored, &truth.absolute);
        if (truth.relative.kind == DTI_CLASS_FINITE)
            dti_line_print(line, DTI_STYLE_PLAIN, "   %s",
                           dti_human_signed_percent(text, &truth.relative, 4));
        if (ulps.exponent < ULP_BITS)
            dti_line_print(line, DTI_STYLE_PLAIN, "   %s ulp",
                           dti_human_magnitude(text, &ulps, NULL, 6));
    }
    dti_line_end(line);
}

/* Without true values: the reason, if they were requested. */
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

/* Empties a buffer but keeps its out-of-memory flag. */
static void reuse(struct dti_buffer *text)
{
    const bool failed = text->failed;
    dti_buffer_clear(text);
    text->failed = failed;
}

static void put_one_number(const struct calc_job *job, const struct dti_calc_result *result,
                           struct dti_buffer *text, struct dti_line *line)
{
    dti_human_bits(line, &result->value.format, dti_calc_code(&result->value, 0));
    put_reason(job, result, line);
    if (!result->truth)
        return;
    dti_human_label(line, "true value", "");
    if (true_words(text, result, 0))
        dti_line_text(line, text->data);
    else
        dti_line_put(line, DTI_STYLE_DIM, "not decided");
    dti_line_end(line);
    put_error(line, result, 0);
}

static void put_worst(const struct dti_calc_result *result, struct dti_buffer *text,
                      struct dti_line *line)
{
    char number[DTI_TEXT_SIZE];
    uint64_t different;
    size_t worst;
    if (!dti_calc_worst(result, &worst, &different))
        return;
    reuse(text);
    if (different > 0 && truths_text(text, result)) {
        dti_human_label(line, "true value", text->data);
        dti_line_end(line);
    }
    dti_human_label(line, "differ", "");
    dti_line_print(line, DTI_STYLE_PLAIN, "%llu of %zu from the true value\n",
                   (unsigned long long)different, result->value.count);
    if (different == 0)
        return;
    dti_human_label(line, "worst", "");
    number_text(number, &result->value.format, dti_calc_code(&result->value, worst));
    dti_line_print(line, DTI_STYLE_PLAIN, "element %zu = ", worst);
    dti_line_put(line, style_of(result, worst), number);
    reuse(text);
    if (true_words(text, result, worst)) {
        dti_line_text(line, ", true value ");
        dti_line_text(line, text->data);
    }
    dti_line_end(line);
    put_error(line, result, worst);
}

/* The number of events, if there are others than the first one. */
static void put_events(const struct dti_calc_result *result, struct dti_buffer *text,
                       struct dti_line *line)
{
    uint64_t count = 0;
    for (int i = 0; i < DTI_CALC_EVENT_COUNT; i++)
        count += result->events[i];
    if (count > 1 || (count == 1 && !result->went_wrong)) {
        reuse(text);
        events_text(text, result->events);
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
    struct dti_line line = dti_command_context_line(job->cx);
    struct dti_buffer text;
    char number[DTI_TEXT_SIZE];
    struct dti_value stored;
    dti_buffer_init(&text);
    bool done = put_expression(job, &line);
    dti_line_print(&line, DTI_STYLE_PLAIN, " -> %s", value->format.name);
    if (value->rank == 0) {
        const uint64_t code = dti_calc_code(value, 0);
        dti_decode(&value->format, code, &stored);
        (void)dti_spell_stored(number, &value->format, code, &stored);
        dti_line_text(&line, " = ");
        dti_line_put(&line, style_of(result, 0), number);
        dti_line_end(&line);
        put_one_number(job, result, &text, &line);
    } else {
        count_text(&text, value);
        dti_line_print(&line, DTI_STYLE_PLAIN, "   %s\n", text.data);
        put_array(job->cx, result);
        put_reason(job, result, &line);
        put_worst(result, &text, &line);
    }
    put_events(result, &text, &line);
    if (job->written.path)
        put_written(job, &line);
    done = done && !text.failed;
    dti_buffer_free(&text);
    return done ? DTI_OK : dti_no_memory(reterr);
}

/* What is shown of a result, so that the result itself need not be kept. */
struct calc_row {
    struct dti_buffer result, truth, wrong;
    char error[DTI_TEXT_SIZE], relative[DTI_TEXT_SIZE], bits[DTI_TEXT_SIZE];
    enum dti_style style;
    bool list;
    const char *truth_reason;
};

static void spell_error(struct calc_row *row, const struct dti_calc_result *result, size_t element)
{
    struct dti_calc_true truth;
    dti_calc_true_get(result, element, &truth);
    if (!truth.has_error)
        return;
    (void)dti_human_signed(row->error, &truth.absolute, NULL, 6);
    if (truth.relative.kind <= DTI_CLASS_FINITE)
        (void)dti_human_signed_percent(row->relative, &truth.relative, 3);
}

static void spell_row(struct calc_row *row, const struct dti_calc_result *result)
{
    const struct dti_calc_array *const value = &result->value;
    char text[DTI_TEXT_SIZE];
    size_t element = 0;
    uint64_t different;
    row->list = value->rank > 0;
    row->truth_reason = result->truth ? NULL : result->truth_reason;
    if (row->list) {
        list_text(&row->result, value);
        (void)truths_text(&row->truth, result);
        memcpy(row->bits, "", 1);
        row->style = DTI_STYLE_BOLD;
    } else {
        const uint64_t code = dti_calc_code(value, 0);
        struct dti_value stored;
        dti_decode(&value->format, code, &stored);
        (void)dti_spell_stored(text, &value->format, code, &stored);
        dti_buffer_puts(&row->result, text);
        dti_spell_code(row->bits, code, value->format.width);
        (void)true_words(&row->truth, result, 0);
        row->style = style_of(result, 0);
    }
    memcpy(row->error, "-", 2);
    memcpy(row->relative, "-", 2);
    if (!row->list || (dti_calc_worst(result, &element, &different) && value->count > 0))
        spell_error(row, result, element);
    if (result->went_wrong)
        dti_calc_sentence(&row->wrong, result, &result->first_step, &result->first);
}

static enum dti_status fill(struct calc_job *job, struct calc_row *rows, struct dti_error *reterr)
{
    for (size_t i = 0; i < job->cast.target_count; i++) {
        struct dti_calc_result result;
        const enum dti_status status = dti_calc_job_run(job, i, &result, reterr);
        if (status != DTI_OK)
            return status;
        spell_row(&rows[i], &result);
        dti_calc_result_free(&result);
        if (rows[i].result.failed || rows[i].truth.failed || rows[i].wrong.failed)
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

/* The true value belongs to the expression; only numbers from files and random ones depend on the
 * dtype. */
static bool is_shared_truth(const struct calc_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(rows[i].truth.data, rows[0].truth.data) != 0)
            return false;
    }
    return rows[0].truth.length > 0;
}

static enum dti_status show(const struct calc_job *job, const struct calc_row *rows,
                            struct dti_error *reterr)
{
    const size_t count = job->cast.target_count;
    const bool shared = is_shared_truth(rows, count), list = rows[0].list;
    struct dti_line line = dti_command_context_line(job->cx);
    if (!put_expression(job, &line))
        return dti_no_memory(reterr);
    dti_line_end(&line);
    if (shared) {
        dti_human_label(&line, "true value", rows[0].truth.data);
        dti_line_end(&line);
    } else if (rows[0].truth_reason && job->options.truth != DTI_CALC_TRUTH_NO) {
        dti_human_label(&line, "true value", "");
        dti_line_print(&line, DTI_STYLE_DIM, "not computed: %s\n", rows[0].truth_reason);
    }
    struct dti_table *const table = dti_table_titled(
        list     ? shared ? "dtype|result|worst error>|rel>|first went wrong"
                          : "dtype|result|true value|worst error>|rel>|first went wrong"
        : shared ? "dtype|result|error>|rel>|bits|first went wrong"
                 : "dtype|result|true value|error>|rel>|bits|first went wrong",
        list     ? shared ? "99578" : "997578"
        : shared ? "995738"
                 : "9975738");
    for (size_t i = 0; i < count; i++) {
        dti_text_cell(table, job->cast.targets[i].dtype.name);
        dti_table_cell(table, rows[i].style, rows[i].result.data);
        if (!shared)
            dti_text_cell(table, rows[i].truth.length > 0 ? rows[i].truth.data : "-");
        dti_text_cell(table, rows[i].error);
        dti_text_cell(table, rows[i].relative);
        if (!list)
            dti_text_cell(table, rows[i].bits);
        dti_table_cell(table, DTI_STYLE_WARN, rows[i].wrong.data);
    }
    return dti_table_finish(table, table != NULL, job->cx, reterr);
}

enum dti_status dti_calc_human_table(struct calc_job *job, struct dti_error *reterr)
{
    const size_t count = job->cast.target_count;
    struct calc_row *const rows = dti_calloc(count, sizeof *rows);
    if (!rows)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        dti_buffer_init(&rows[i].result);
        dti_buffer_init(&rows[i].truth);
        dti_buffer_init(&rows[i].wrong);
    }
    enum dti_status status = fill(job, rows, reterr);
    if (status == DTI_OK)
        status = show(job, rows, reterr);
    for (size_t i = 0; i < count; i++) {
        dti_buffer_free(&rows[i].result);
        dti_buffer_free(&rows[i].truth);
        dti_buffer_free(&rows[i].wrong);
    }
    dti_free(rows);
    return status;
}

enum { TEXT_WHOLE = 34, TEXT_HEAD = 20, TEXT_TAIL = 11, EXACT_DIGITS = 8 };

/* The columns that only some expressions need. */
struct step_columns {
    bool within, dtype, lists;
};

static struct step_columns choose(const struct dti_calc_result *result)
{
    struct step_columns columns = {false, false, false};
    for (size_t i = 0; i < result->step_count; i++) {
        const struct dti_calc_step *const step = &result->steps[i];
        columns.within |= step->within != NULL;
        columns.dtype |= strcmp(step->format.name, result->value.format.name) != 0;
        columns.lists |= step->rank > 0;
    }
    return columns;
}

static struct dti_table *new_table(const struct step_columns *columns)
{
    static const char *const titles[] = {"step>|operation|", "within|", "dtype|",
                                         "elements>|inexact>|at>|",
                                         "result>|bits|exact>|error>|went wrong"};
    static const char *const all_ranks[] = {"98", "4", "5", "338", "85677"};
    const bool wanted[] = {true, columns->within, columns->dtype, columns->lists, true};
    char title[160] = "", ranks[16] = "";
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        if (wanted[i]) {
            (void)strncat(title, titles[i], sizeof title - strlen(title) - 1);
            (void)strncat(ranks, all_ranks[i], sizeof ranks - strlen(ranks) - 1);
        }
    }
    struct dti_table *const table = dti_table_titled(title, ranks);
    return table;
}

static const char *exact_text(char buffer[DTI_TEXT_SIZE], const struct dti_value *exact)
{
    dti_spell_digits(buffer, exact, EXACT_DIGITS);
    return buffer;
}

static void put_result(struct dti_table *table, const struct dti_calc_step *step)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value stored, absolute, relative;
    if (step->count == 1 || step->has_worst) {
        dti_decode(&step->format, step->code, &stored);
        number_text(text, &step->format, step->code);
        dti_table_cell(table,
                       stored.kind > DTI_CLASS_FINITE && step->exact.kind != stored.kind
                           ? DTI_STYLE_BAD
                           : DTI_STYLE_BOLD,
                       text);
        dti_spell_code(text, step->code, step->format.width);
        dti_text_cell(table, text);
    } else {
        dti_text_cell(table, "-");
        dti_text_cell(table, "-");
    }
    if (!step->has_worst) {
        dti_text_cell(table, "-");
        dti_text_cell(table, "-");
        return;
    }
    dti_text_cell(table, exact_text(text, &step->exact));
    if (!dti_calc_step_error(step, &absolute, &relative))
        dti_text_cell(table, "-");
    else if (relative.kind == DTI_CLASS_FINITE)
        dti_text_cell(table, dti_human_signed_percent(text, &relative, 3));
    else
        dti_text_cell(table, dti_human_signed(text, &absolute, NULL, 3));
}

static bool put_step(struct dti_table *table, const struct step_columns *columns, size_t number,
                     const struct dti_calc_step *step)
{
    struct dti_buffer events;
    dti_number_cell(table, number);
    dti_text_cell(table, "");
    if (step->length > TEXT_WHOLE) {
        dti_table_safe(table, step->text, TEXT_HEAD);
        dti_table_more(table, "...");
        dti_table_safe(table, step->text + step->length - TEXT_TAIL, TEXT_TAIL);
    } else {
        dti_table_safe(table, step->text, step->length);
    }
    if (columns->within)
        dti_text_cell(table, step->within ? step->within : "");
    if (columns->dtype)
        dti_text_cell(table, step->format.name);
    if (columns->lists) {
        dti_number_cell(table, step->count);
        dti_number_cell(table, step->inexact);
        if (step->rank > 0 && step->has_worst)
            dti_number_cell(table, step->worst);
        else
            dti_text_cell(table, "-");
    }
    put_result(table, step);
    dti_buffer_init(&events);
    events_text(&events, step->events);
    dti_table_cell(table, DTI_STYLE_WARN, events.data);
    const bool failed = events.failed;
    dti_buffer_free(&events);
    return !failed;
}

enum dti_status dti_calc_human_steps(const struct calc_job *job,
                                     const struct dti_calc_result *result, struct dti_error *reterr)
{
    const struct step_columns columns = choose(result);
    struct dti_table *const table = new_table(&columns);
    bool done = table != NULL;
    for (size_t i = 0; i < result->step_count && done; i++)
        done = put_step(table, &columns, i + 1, &result->steps[i]);
    return dti_table_finish(table, done, job->cx, reterr);
}
