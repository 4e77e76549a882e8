/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file one line each: what they are, or what their numbers are like. */
#include <string.h>

#include "cli/inspect/inspect.h"
#include "cli/shared/tensor_words.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/scalar.h"

enum { NAME_WIDTH = 100, SHAPE_WIDTH = 40, REMARK = 256 };

static void text_cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static void number_cell(struct dti_table *table, uint64_t number)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, number);
    text_cell(table, text);
}

/* A count that had better be zero. */
static void count_cell(struct dti_table *table, uint64_t number)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, number);
    dti_table_cell(table, number > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, text);
}

/* Adds to a list with commas; cuts what does not fit. */
static void add_remark(char remark[REMARK], const char *text)
{
    size_t used = strlen(remark);
    if (used > 0 && used + 2 < REMARK) {
        memcpy(remark + used, ", ", 3);
        used += 2;
    }
    const size_t available = REMARK - 1 - used, length = strlen(text);
    const size_t taken = length < available ? length : available;
    memcpy(remark + used, text, taken);
    remark[used + taken] = '\0';
}

/* Quantized blocks: their dtype says so already. */
static bool is_blocks(const struct inspect_report *report, const struct dti_tensor *tensor)
{
    return tensor->block || (!tensor->format && report->container->kind == DTI_CONTAINER_GGUF);
}

/* What is out of the ordinary. */
static void remark_cell(struct dti_table *table, const struct inspect_report *report,
                        const struct dti_tensor *tensor)
{
    char remark[REMARK] = "", words[DTI_REMEDY_WORDS];
    bool big;
    if (tensor->fortran)
        add_remark(remark, "Fortran order");
    if (dti_inspect_has_byte_order(tensor, &big) && big)
        add_remark(remark, "big-endian");
    if (tensor->compressed)
        add_remark(remark, "compressed");
    if (tensor->refusal && !is_blocks(report, tensor))
        add_remark(remark, dti_remedy_words(words, tensor->remedy, tensor->refusal));
    dti_table_cell(table, DTI_STYLE_DIM, remark);
}

static void name_cell(struct dti_table *table, const struct dti_tensor *tensor,
                      struct inspect_text *name)
{
    text_cell(table, dti_inspect_safe(name, tensor->name, tensor->name_length));
}

static void heads(struct dti_table *table, const char *const *titles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dti_table_cell(table, DTI_STYLE_DIM, titles[i]);
}

static enum dti_status write_table(struct dti_table *table, const struct inspect_report *report,
                                   const struct inspect_text *name, size_t indent,
                                   struct dti_error *reterr)
{
    const bool written =
        !name->failed && dti_table_write(table, report->cx->out, report->cx->colour, indent);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* -q: the names alone. */
static void put_names(const struct inspect_report *report, struct inspect_text *name)
{
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        (void)fprintf(report->cx->out, "%s\n",
                      dti_inspect_safe(name, tensor->name, tensor->name_length));
    }
}

static struct dti_table *list(const struct inspect_report *report, struct inspect_text *name)
{
    static const char *const titles[] = {"name",  "dtype", "shape",  "elements",
                                         "bytes", "shard", "offset", "stored as"};
    const bool verbose = report->cx->verbose;
    const bool sharded = verbose && report->container->kind == DTI_CONTAINER_SHARDED;
    const size_t columns = sharded ? 9 : verbose ? 8 : 6; /* the last one is for remarks */
    struct dti_table *const table = dti_table_new(columns);
    char shape[DTI_SHAPE_SIZE];
    dti_table_limit(table, 0, NAME_WIDTH);
    dti_table_limit(table, 2, SHAPE_WIDTH);
    for (size_t i = 3; i + 2 < columns || i < 5; i++)
        dti_table_right(table, i);
    heads(table, titles, 5);
    if (verbose)
        heads(table, sharded ? titles + 5 : titles + 6, sharded ? 3 : 2);
    text_cell(table, "");
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        name_cell(table, tensor, name);
        text_cell(table, dti_tensor_dtype(tensor));
        text_cell(table, dti_shape_words(shape, tensor));
        number_cell(table, tensor->elements);
        number_cell(table, tensor->bytes);
        if (sharded)
            number_cell(table, tensor->file + 1);
        if (verbose) {
            number_cell(table, tensor->offset);
            text_cell(table, tensor->stored_as);
        }
        remark_cell(table, report, tensor);
    }
    return table;
}

enum dti_status dti_inspect_list(const struct inspect_report *report, struct dti_error *reterr)
{
    struct inspect_text name = {.failed = false};
    enum dti_status status = DTI_OK;
    dti_buffer_init(&name.buffer);
    if (report->cx->quiet) {
        put_names(report, &name);
        if (name.failed)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    } else if (report->shown_count > 0) {
        status = write_table(list(report, &name), report, &name, 2, reterr);
    }
    dti_buffer_free(&name.buffer);
    return status;
}

/* Integers with all digits, other numbers with four. Magnitudes of integers need not be of their
 * dtype: they are spelled as uint64. */
static void extreme_cell(struct dti_table *table, const struct inspect_figures *figures,
                         const struct inspect_extreme *extreme, bool magnitude)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    char text[DTI_TEXT_SIZE];
    struct dti_outcome outcome;
    if (figures->finite == 0) {
        text_cell(table, "-");
        return;
    }
    const struct dti_format *const part = dti_inspect_component(extreme->tensor);
    if (dti_format_is_integer(part)) {
        const struct dti_format *const format = magnitude ? dti_format_get(DTI_UINT64) : part;
        dti_encode(format, &extreme->value, &policy, 0, &outcome);
        (void)dti_spell_stored(text, format, outcome.code, &extreme->value);
    } else {
        (void)dti_spell_digits(text, &extreme->value, 4);
    }
    text_cell(table, text);
}

static void figure_cells(struct dti_table *table, const struct inspect_figures *figures)
{
    char text[DTI_TEXT_SIZE], fits[INSPECT_FITS_SIZE];
    number_cell(table, figures->elements);
    extreme_cell(table, figures, &figures->min, false);
    extreme_cell(table, figures, &figures->max, false);
    extreme_cell(table, figures, &figures->absmax, true);
    text_cell(table, dti_figure_words(text, figures->mean, 4));
    text_cell(table, dti_figure_words(text, figures->deviation, 4));
    number_cell(table, figures->zeros);
    number_cell(table, figures->subnormals);
    count_cell(table, figures->nan);
    count_cell(table, figures->inf);
    text_cell(table, figures->elements > 0 ? dti_inspect_fits(fits, figures, ", ") : "-");
}

enum dti_status dti_inspect_stats_table(const struct inspect_report *report,
                                        struct dti_error *reterr)
{
    static const char *const titles[] = {"name",   "dtype", "elements", "min",   "max",
                                         "absmax", "mean",  "std",      "zeros", "subnormals",
                                         "nan",    "inf",   "fits"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    if (report->shown_count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(COLUMNS);
    struct inspect_text name = {.failed = false};
    dti_buffer_init(&name.buffer);
    dti_table_limit(table, 0, NAME_WIDTH);
    for (size_t i = 2; i + 1 < COLUMNS; i++)
        dti_table_right(table, i);
    heads(table, titles, COLUMNS);
    for (size_t i = 0; i < report->shown_count; i++) {
        name_cell(table, report->shown[i], &name);
        text_cell(table, dti_tensor_dtype(report->shown[i]));
        if (report->figures[i].there) {
            figure_cells(table, &report->figures[i]);
            continue;
        }
        number_cell(table, report->shown[i]->elements);
        for (size_t k = 3; k < COLUMNS; k++)
            text_cell(table, "-");
    }
    if (report->shown_count > 1 && report->all.there) {
        dti_table_cell(table, DTI_STYLE_BOLD, "all");
        text_cell(table, "");
        figure_cells(table, &report->all);
    }
    const enum dti_status status = write_table(table, report, &name, 2, reterr);
    dti_buffer_free(&name.buffer);
    return status;
}
