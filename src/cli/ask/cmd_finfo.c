/* SPDX-License-Identifier: MIT
 *
 * dtinfo finfo: the limits of float dtypes; the block of one, and the table of all. */
#include <stdio.h>
#include <string.h>

#include "cli/ask/info_forms.h"
#include "cli/shared/human.h"
#include "core/code/taper.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "report/table.h"

enum {
    LABEL_COLUMN = 2,
    VALUE_COLUMN = 22,
    CODE_COLUMN = 39,
    CODE_WIDTH_MIN = 6,
    SECOND_COLUMN = 22, /* of the line that starts with the resolution */
    THIRD_COLUMN = 50,
    DIGITS = 8,
    DIGITS_MAX = 17,
    EXACT_MAX = 48, /* longest exact value printed next to it */
    TEXT_SIZE = 160,
};

/* Start of a block's third column, after the codes. */
static size_t exact_column(const struct dti_format *format)
{
    size_t width = 2 + (format->width + 3U) / 4;
    return CODE_COLUMN + (width > CODE_WIDTH_MIN ? width : CODE_WIDTH_MIN) + 3;
}

/* "2^-126", or "9007199254740991 x 2^971", or nothing for zero. */
static void power_text(char buffer[TEXT_SIZE], const struct dti_value *value)
{
    char odd_text[DTI_TEXT_SIZE];
    unsigned shift = 0;
    buffer[0] = '\0';
    if (value->kind != DTI_CLASS_FINITE)
        return;
    while (shift < 63 && ((value->hi >> shift) & 1) == 0)
        shift++;
    uint64_t odd = value->hi >> shift;
    int exponent = value->exponent - 63 + (int)shift;
    if (odd == 1)
        (void)snprintf(buffer, TEXT_SIZE, "%s2^%d", value->negative ? "-" : "", exponent);
    else {
        (void)dti_spell_u64(odd_text, odd);
        (void)snprintf(buffer, TEXT_SIZE, "%s%s x 2^%d", value->negative ? "-" : "", odd_text,
                       exponent);
    }
}

/* The value in full if it is short, else as a product; nothing if the digits shown are already
 * exact. Returns false when out of memory. */
static bool exact_text(char buffer[TEXT_SIZE], const struct dti_value *value)
{
    char shown[DTI_TEXT_SIZE];
    struct dti_buffer exact;
    power_text(buffer, value);
    if (value->kind == DTI_CLASS_FINITE &&
        (value->exponent > 3 * EXACT_MAX || value->exponent < -EXACT_MAX))
        return true;
    dti_buffer_init(&exact);
    const bool spelled = dti_spell_exact(&exact, value);
    (void)dti_spell_digits(shown, value, DIGITS);
    if (spelled && exact.length <= EXACT_MAX)
        (void)snprintf(buffer, TEXT_SIZE, "%s", strcmp(exact.data, shown) == 0 ? "" : exact.data);
    const bool memory = !exact.failed;
    dti_buffer_free(&exact);
    return memory;
}

static void begin_row(struct dti_line *line, const char *label)
{
    dti_line_to(line, LABEL_COLUMN);
    dti_line_put(line, DTI_STYLE_DIM, label);
    dti_line_to(line, VALUE_COLUMN);
}

/* `last` is the third column; NULL for the value as a product. */
static void put_limit(struct dti_line *line, const char *label, const struct dti_format *format,
                      const struct dti_limit *limit, const char *last, bool with_code)
{
    char text[DTI_TEXT_SIZE], product[TEXT_SIZE];
    begin_row(line, label);
    if (!limit->present) {
        dti_line_text(line, "none\n");
        return;
    }
    (void)dti_spell_digits(text, &limit->value, DIGITS);
    dti_line_text(line, text);
    if (!last) {
        power_text(product, &limit->value);
        last = product;
    }
    if (with_code && limit->has_code) {
        dti_line_to(line, CODE_COLUMN);
        (void)dti_spell_code(text, limit->code, format->width);
        dti_line_text(line, text);
    }
    if (last[0] != '\0') {
        dti_line_to(line, exact_column(format));
        dti_line_text(line, last);
    }
    dti_line_end(line);
}

/* "5 exponent", in the colour of that field. */
static void put_part(struct dti_line *line, unsigned part, unsigned bits, const char *name)
{
    char text[32];
    const int length = bits > 0 || part > 0 ? snprintf(text, sizeof text, "%u %s", bits, name)
                                            : snprintf(text, sizeof text, "no %s", name);
    dti_line_part(line, part, text, (size_t)length);
}

/* The fields and binades of each precision, of the exponents from 0 up: "s dd eee mm   precision 3
 * 2^4 to 2^7". */
static void put_taper(struct dti_line *line, const struct dti_format *format)
{
    size_t count;
    const struct dti_taper *run = dti_taper_runs(format, &count);
    for (; count > 0; count--, run++) {
        dti_line_to(line, LABEL_COLUMN);
        dti_fields_put_names(line, format, run->code);
        dti_line_to(line, SECOND_COLUMN);
        dti_line_print(line, DTI_STYLE_PLAIN, "precision %d",
                       run->man_bits > 0 ? run->man_bits + 1 : 1);
        dti_line_to(line, THIRD_COLUMN);
        dti_line_print(line, DTI_STYLE_PLAIN, "2^%d", (int)run->first);
        if (run->man_bits == -1) /* no number in the binades between */
            dti_line_print(line, DTI_STYLE_PLAIN, " and 2^%d", run->first + 2);
        else if (run->last != run->first && run->man_bits >= 0)
            dti_line_print(line, DTI_STYLE_PLAIN, " to 2^%d", (int)run->last);
        dti_line_end(line);
    }
}

static void put_heading(struct dti_line *line, const struct dti_format *dtype,
                        const struct dti_format *format)
{
    dti_line_put(line, DTI_STYLE_BOLD, dtype->name);
    if (dtype->kind == DTI_KIND_COMPLEX) {
        dti_line_print(line, DTI_STYLE_PLAIN,
                       "   %u bits: two %s, the real part first; the limits are those of %s\n",
                       (unsigned)dtype->width, format->name, format->name);
        dti_line_put(line, DTI_STYLE_BOLD, format->name);
    }
    dti_line_print(line, DTI_STYLE_PLAIN, "   %u bits: ", (unsigned)format->width);
    put_part(line, 0, dti_format_is_signed(format), "sign");
    dti_line_text(line, ", ");
    put_part(line, 1, format->exp_bits, "exponent");
    if (dti_format_is_tapered(format))
        dti_line_text(line, " and its prefix, ");
    else
        dti_line_print(line, DTI_STYLE_PLAIN, " (bias %ld), ", (long)format->bias);
    put_part(line, 2, format->man_bits, "mantissa");
    dti_line_print(line, DTI_STYLE_PLAIN, ", precision %u\n", format->man_bits + 1U);
    if (dti_format_is_tapered(format)) {
        put_taper(line, format);
        return;
    }
    dti_line_to(line, LABEL_COLUMN);
    dti_fields_put_names(line, format, 0);
    dti_line_end(line);
}

/* With enough digits to differ from max. */
static void overflow_text(char text[DTI_TEXT_SIZE], const struct dti_limits *limits)
{
    char max[DTI_TEXT_SIZE];
    (void)dti_spell_digits(max, &limits->max.value, DIGITS);
    (void)dti_spell_digits(text, &limits->overflow_from.value, DIGITS);
    if (strcmp(text, max) == 0)
        (void)dti_spell_digits(text, &limits->overflow_from.value, DIGITS_MAX);
}

static void put_summary(struct dti_line *line, const struct dti_limits *limits)
{
    char number[DTI_TEXT_SIZE];
    dti_line_to(line, LABEL_COLUMN);
    dti_resolution_text(number, limits->digits10);
    dti_line_print(line, DTI_STYLE_PLAIN, "resolution %s", number);
    dti_line_to(line, SECOND_COLUMN);
    dti_line_print(line, DTI_STYLE_PLAIN, "integers exact up to %llu",
                   (unsigned long long)limits->integers_up_to);
    dti_line_to(line, THIRD_COLUMN);
    if (!limits->overflow_from.present) {
        dti_line_text(line, "clamps to max, no overflow\n");
        return;
    }
    overflow_text(number, limits);
    dti_line_print(line, DTI_STYLE_PLAIN, "overflow %s %s\n",
                   limits->overflow_inclusive ? "from" : "above", number);
}

static const char *count_text(char buffer[TEXT_SIZE], bool has, uint64_t count)
{
    if (!has)
        return "no";
    (void)snprintf(buffer, TEXT_SIZE, "yes (%llu code%s)", (unsigned long long)count,
                   count == 1 ? "" : "s");
    return buffer;
}

static void put_specials(struct dti_line *line, const struct dti_limits *limits)
{
    char nan[TEXT_SIZE];
    dti_line_to(line, LABEL_COLUMN);
    dti_line_print(line, DTI_STYLE_PLAIN, "inf %s   nan %s   -0 %s   subnormals %s\n",
                   limits->has_inf ? "yes" : "no",
                   count_text(nan, limits->has_nan, limits->nan_codes),
                   limits->has_minus_zero ? "yes" : "no", limits->has_subnormals ? "yes" : "no");
}

/* "bfloat16, torch.bfloat16, BF16 (safetensors), BFLOAT16 (ONNX 16), bf16 (GGUF 30)". */
static void put_names(struct dti_line *line, const struct dti_format *format)
{
    static const enum dti_system shown[] = {DTI_SYSTEM_ML_DTYPES, DTI_SYSTEM_TORCH,
                                            DTI_SYSTEM_SAFETENSORS, DTI_SYSTEM_ONNX,
                                            DTI_SYSTEM_GGUF};
    bool first = true;
    for (size_t s = 0; s < sizeof shown / sizeof *shown; s++) {
        for (size_t i = 0; i < dti_dtype_name_count; i++) {
            const struct dti_dtype_name *row = &dti_dtype_names[i];
            char number[16] = "";
            if (format->id == DTI_NONE || row->dtype != format->id || row->system != shown[s])
                continue;
            if (row->number >= 0)
                (void)snprintf(number, sizeof number, " %d", row->number);
            if (first)
                begin_row(line, "also called");
            else
                dti_line_text(line, ", ");
            if (row->system == DTI_SYSTEM_ML_DTYPES)
                dti_line_text(line, row->name);
            else if (row->system == DTI_SYSTEM_TORCH)
                dti_line_print(line, DTI_STYLE_PLAIN, "torch.%s", row->name);
            else
                dti_line_print(line, DTI_STYLE_PLAIN, "%s (%s%s)", row->name,
                               dti_system_title(row->system), number);
            first = false;
            break; /* one name per system is enough here; `list --aliases` has all of them */
        }
    }
    if (dti_format_is_p3109(format)) {
        begin_row(line, "also called");
        dti_line_print(line, DTI_STYLE_PLAIN, "p3109_k%s (gfloat)",
                       format->name + strlen("binary"));
        first = false;
    }
    if (!first)
        dti_line_end(line);
}

static void put_integer(struct dti_line *line, const char *name, int32_t value)
{
    dti_line_print(line, DTI_STYLE_PLAIN, "%s %ld   ", name, (long)value);
}

/* What -v adds. */
static void put_details(struct dti_line *line, const struct dti_format *format,
                        const struct dti_limits *limits)
{
    char text[DTI_TEXT_SIZE];
    put_limit(line, "epsneg", format, &limits->epsneg, NULL, false);
    put_limit(line, "step at max", format, &limits->step_at_max, NULL, false);
    put_limit(line, limits->to_zero_inclusive ? "to zero up to" : "to zero below", format,
              &limits->to_zero_up_to, NULL, false);
    begin_row(line, "decimal digits");
    put_integer(line, "digits10", (int32_t)limits->digits10);
    put_integer(line, "max_digits10", (int32_t)limits->max_digits10);
    dti_line_end(line);
    begin_row(line, "exponents");
    if (limits->smallest_normal.present)
        put_integer(line, "minexp", limits->minexp);
    put_integer(line, "maxexp", limits->maxexp);
    if (limits->eps.present)
        put_integer(line, "machep", limits->machep);
    if (limits->epsneg.present)
        put_integer(line, "negep", limits->negep);
    dti_line_end(line);
    begin_row(line, "finite codes");
    dti_line_print(line, DTI_STYLE_PLAIN, "%llu\n", (unsigned long long)limits->finite_codes);
    if (limits->has_nan_code) {
        begin_row(line, "canonical nan");
        (void)dti_spell_code(text, limits->nan_code, format->width);
        dti_line_print(line, DTI_STYLE_PLAIN, "%s\n", text);
    }
}

static enum dti_status put_block(const struct dti_format *dtype, struct dti_command_context *cx,
                                 struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    const struct dti_format *format = dti_real_format(dtype);
    struct dti_limits limits;
    char exact[TEXT_SIZE];
    dti_limits_compute(&limits, format);
    if (!exact_text(exact, &limits.max.value))
        return dti_no_memory(reterr);

    put_heading(&line, dtype, format);
    put_limit(&line, "max", format, &limits.max, exact, true);
    if (!dti_format_is_signed(format))
        put_limit(&line, "lowest", format, &limits.lowest, NULL, true);
    put_limit(&line, "smallest normal", format, &limits.smallest_normal, NULL, true);
    put_limit(&line, "smallest subnormal", format, &limits.smallest_subnormal, NULL, true);
    put_limit(&line, "eps", format, &limits.eps, NULL, false);
    if (cx->verbose)
        put_details(&line, format, &limits);
    put_summary(&line, &limits);
    put_specials(&line, &limits);
    put_names(&line, dtype);
    return DTI_OK;
}

static void put_cell(struct dti_table *table, const struct dti_limit *limit)
{
    char text[DTI_TEXT_SIZE] = "-";
    if (limit->present)
        (void)dti_spell_digits(text, &limit->value, DIGITS);
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static enum dti_status put_table(const struct dti_dtype_operand *list, size_t count,
                                 size_t left_out, struct dti_command_context *cx,
                                 struct dti_error *reterr)
{
    struct dti_table *const table =
        dti_table_titled("dtype|bits>|max>|smallest normal>|smallest subnormal>|eps>|digits>|"
                         "integers to>|inf|nan",
                         "9587583344");
    for (size_t i = 0; i < count; i++) {
        const struct dti_format *format = dti_real_format(&list[i].format);
        struct dti_limits limits;
        dti_limits_compute(&limits, format);
        dti_table_cell(table, DTI_STYLE_BOLD, list[i].format.name);
        dti_table_print(table, DTI_STYLE_PLAIN, "%u", (unsigned)format->width);
        put_cell(table, &limits.max);
        put_cell(table, &limits.smallest_normal);
        put_cell(table, &limits.smallest_subnormal);
        put_cell(table, &limits.eps);
        dti_table_print(table, DTI_STYLE_PLAIN, "%u", (unsigned)limits.digits10);
        dti_table_print(table, DTI_STYLE_PLAIN, "%llu", (unsigned long long)limits.integers_up_to);
        dti_table_cell(table, DTI_STYLE_PLAIN, limits.has_inf ? "yes" : "no");
        dti_table_cell(table, DTI_STYLE_PLAIN, limits.has_nan ? "yes" : "no");
    }
    return dti_table_without_p3109(cx, table, left_out, 0, reterr);
}

static enum dti_status put_limits(const struct dti_dtype_operand *list, size_t count,
                                  const size_t *left_out, struct dti_command_context *cx,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (left_out)
        return put_table(list, count, *left_out, cx, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (i > 0)
            (void)fputc('\n', cx->out);
        status = put_block(&list[i].format, cx, reterr);
    }
    if (status != DTI_OK || count < 2 || cx->quiet)
        return status;
    (void)fputc('\n', cx->out);
    dti_ranges_draw(list, count, false, cx);
    return DTI_OK;
}

static enum dti_status takes(const struct dti_format *format, struct dti_error *reterr)
{
    if (dti_format_is_float(format) || format->kind == DTI_KIND_COMPLEX)
        return DTI_OK;
    const char *what = format->kind == DTI_KIND_BOOL ? "no float dtype" : "an integer dtype";
    return dti_dtype_wrong_kind(format, what, "iinfo", reterr);
}

static enum dti_status takes_for_all(const struct dti_format *format, struct dti_error *reterr)
{
    return format->kind == DTI_KIND_COMPLEX ? DTI_WRONG_KIND : takes(format, reterr);
}

static enum dti_status run_finfo(const void *args, char **operands, int operand_count,
                                 struct dti_command_context *cx, struct dti_error *reterr)
{
    static const struct dti_info info = {.bare = "lowest,max,eps",
                                         .takes = takes,
                                         .takes_for_all = takes_for_all,
                                         .human = put_limits,
                                         .document = dti_document_finfo};
    return dti_info_run(&info, args, operands, operand_count, cx, reterr);
}

const struct dti_command dti_command_finfo = {
    .name = "finfo",
    .group = "ask",
    .summary = "float limits",
    .synopsis = "[DTYPE...]",
    .details = "Without operands: all float dtypes, one line each; the IEEE P3109 formats only\n"
               "with --all. -v adds more lines.",
    .examples = "dtinfo finfo bf16\n"
                "dtinfo finfo fp16 e4m3fn e5m10b3\n"
                "dtinfo finfo\n"
                "dtinfo finfo float16 --like torch\n"
                "dtinfo finfo fp8_e5m2 --json",
    .schema = "dtinfo.finfo/1",
    .operands = DTI_OPERANDS_DTYPES,
    .options = dti_info_options,
    .args_size = sizeof(struct dti_info_args),
    .run = run_finfo,
};
