/* SPDX-License-Identifier: MIT
 *
 * Weights of errors: the number of elements, an importance matrix, or a table of names and numbers.
 *
 * With a matrix, a tensor's weight is its signal times the mean importance: weight times relative
 * error is then the squared error of its products, if the errors of all columns are alike. A tensor
 * without an entry has the mean importance of the others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number/number.h"
#include "files/model/importance.h"
#include "files/stored/named_types.h"
#include "io/input.h"
#include "kernels/fp64.h"
#include "requests/advise/advise_args.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

enum {
    MOST = 1 << 28,   /* bytes of a table */
    GLOBS_MOST = 1024 /* rows with patterns: each is compared with each name */
};

static double signal_of(const struct dti_measured *measured, size_t tensor)
{
    for (size_t f = 0; f < measured->format_count; f++) {
        if (dti_measured_at(measured, tensor, f)->there)
            return dti_measured_at(measured, tensor, f)->error.signal;
    }
    return 0;
}

static double mean_of(const float *weights, const struct dti_measured_tensor *tensor)
{
    const uint64_t rows = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
    const uint64_t count = tensor->elements / rows; /* a row for each of its matrices */
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)weights[i];
    return sum / (double)count;
}

static enum dti_status weigh_one(struct dti_measured *measured, size_t at,
                                 const struct dti_importance *importance, struct dti_pool *pool,
                                 double *ret, struct dti_error *reterr)
{
    const struct dti_measured_tensor *const tensor = &measured->tensors[at];
    struct dti_tensor named = {.name = tensor->name, .name_length = (uint32_t)tensor->name_length};
    const float *weights;
    named.rank = tensor->rank;
    named.shape = tensor->shape;
    named.elements = tensor->elements;
    const enum dti_status status = dti_importance_read(importance, &named, pool, &weights, reterr);
    if (status == DTI_OK)
        *ret = weights ? mean_of(weights, tensor) : -1;
    return status;
}

static enum dti_status weigh_by_matrix(struct dti_measured *measured, const char *path,
                                       struct dti_error *reterr)
{
    struct dti_importance *importance = NULL;
    double sum = 0;
    size_t used = 0;
    enum dti_status status = dti_importance_open(&importance, path, reterr);
    for (size_t i = 0; i < measured->tensor_count && status == DTI_OK; i++) {
        struct dti_pool pool = {.chunks = NULL};
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        if (!tensor->taken)
            continue;
        status = weigh_one(measured, i, importance, &pool, &tensor->weight, reterr);
        dti_pool_free(&pool);
        if (status == DTI_OK && tensor->weight >= 0) {
            sum += tensor->weight;
            used++;
        }
    }
    dti_importance_free(importance);
    if (status == DTI_OK && used == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s has no entry for any tensor that is quantized",
                        DTI_QUOTED(path, strlen(path)));
    for (size_t i = 0; i < measured->tensor_count && status == DTI_OK; i++) {
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        const double importance_of = tensor->weight < 0 ? sum / (double)used : tensor->weight;
        tensor->weight = tensor->taken ? importance_of * signal_of(measured, i) : 0;
    }
    return status;
}

/* A line of a table: "GLOB,NUMBER". */
struct weight_row {
    const char *pattern;
    size_t length;
    double weight;
};
struct weight_table {
    struct weight_row *rows;
    size_t count;
    struct dti_named_types named; /* rows without a pattern */
    size_t globs;                 /* the others */
};

static enum dti_status refuse_line(const char *path, size_t line, const char *why,
                                   struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: line %zu %s", DTI_QUOTED(path, strlen(path)), line,
                    why);
}

static enum dti_status read_line(const char *path, size_t line, const char *text, size_t length,
                                 struct weight_table *table, struct dti_error *reterr)
{
    struct dti_value value;
    struct dti_error error;
    size_t comma = length;
    while (comma > 0 && text[comma - 1] != ',' && text[comma - 1] != '\t')
        comma--;
    if (comma < 2)
        return refuse_line(path, line, "is not NAME,NUMBER", reterr);
    size_t from = comma;
    while (from < length && text[from] == ' ')
        from++;
    if (dti_value_parse(&value, text + from, length - from, &error) != DTI_OK)
        return refuse_line(path, line, "has no number after the comma", reterr);
    const double weight = dti_fp64_from_value(&value);
    if (!(weight >= 0) || weight > 1e100)
        return refuse_line(path, line, "has a weight that is not from 0 to 1e100", reterr);
    bool glob = false;
    for (size_t i = 0; i + 1 < comma; i++)
        glob = glob || strchr("*?[\\", text[i]) != NULL;
    if (glob && table->globs++ == GLOBS_MOST)
        return refuse_line(path, line, "has one pattern too many: at most 1024 are taken", reterr);
    if (!glob)
        table->named.list[table->named.count++] = (struct dti_named_type){
            .name = text, .length = comma - 1, .type = (uint32_t)table->count};
    table->rows[table->count++] =
        (struct weight_row){.pattern = glob ? text : NULL, .length = comma - 1, .weight = weight};
    return DTI_OK;
}

/* Empty lines and lines that start with # are skipped. */
static enum dti_status read_lines(const char *path, const struct dti_buffer *text,
                                  struct weight_table *table, struct dti_error *reterr)
{
    const char *at = text->data, *const end = text->data + text->length;
    size_t lines = 1;
    for (const char *c = at; c < end; c++)
        lines += *c == '\n';
    table->rows = dti_calloc(lines, sizeof *table->rows);
    table->named.list = dti_calloc(lines, sizeof *table->named.list);
    if (!table->rows || !table->named.list)
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    for (size_t line = 1; at < end && status == DTI_OK; line++) {
        const char *const stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        const size_t next = length + 1;
        length -= length > 0 && at[length - 1] == '\r';
        if (length > 0 && at[0] != '#')
            status = read_line(path, line, at, length, table, reterr);
        at = stop ? at + next : end;
    }
    return status;
}

/* The row of its name, else the first pattern that fits. */
static const struct weight_row *row_of(const struct weight_table *table,
                                       const struct dti_measured_tensor *tensor)
{
    const struct dti_named_type *const named = dti_named_type_of(
        &table->named,
        &(struct dti_tensor){.name = tensor->name, .name_length = (uint32_t)tensor->name_length});
    if (named)
        return &table->rows[named->type];
    for (size_t i = 0; i < table->count && table->globs > 0; i++) {
        const struct weight_row *const row = &table->rows[i];
        if (row->pattern &&
            dti_glob_match(row->pattern, row->length, tensor->name, tensor->name_length))
            return row;
    }
    return NULL;
}

static enum dti_status weigh_by_rows(struct dti_measured *measured, const char *path,
                                     const struct weight_table *table, struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < measured->tensor_count; i++) {
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        if (!tensor->taken)
            continue;
        const struct weight_row *const row = row_of(table, tensor);
        if (!row)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s has no line for tensor %s; a last line *,1 is for all others",
                            DTI_QUOTED(path, strlen(path)),
                            dti_quote(name, tensor->name, tensor->name_length));
        tensor->weight = row->weight;
    }
    return DTI_OK;
}

static enum dti_status weigh_by_table(struct dti_measured *measured, const char *path,
                                      struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    struct weight_table table = {.rows = NULL};
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    status = dti_input_read_all(&input, MOST, "weights", &text, reterr);
    dti_input_close(&input);
    if (status == DTI_OK)
        status = read_lines(path, &text, &table, reterr);
    const size_t twice = dti_named_types_sort(&table.named);
    if (status == DTI_OK && twice < table.named.count)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s has two lines for tensor %s",
                          DTI_QUOTED(path, strlen(path)),
                          DTI_QUOTED(table.named.list[twice].name, table.named.list[twice].length));
    if (status == DTI_OK)
        status = weigh_by_rows(measured, path, &table, reterr);
    dti_buffer_free(&text);
    dti_free(table.rows);
    dti_free(table.named.list);
    return status;
}

static enum dti_status weigh_by_file(struct dti_measured *measured, const char *path,
                                     struct dti_error *reterr)
{
    const char *const dot = strrchr(path, '.');
    if (dot && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".tsv") == 0))
        return weigh_by_table(measured, path, reterr);
    if (dot && strcmp(dot, ".json") == 0)
        return dti_advise_weigh_exllamav3(measured, path, reterr);
    if (dot && (strcmp(dot, ".pth") == 0 || strcmp(dot, ".pt") == 0))
        return dti_advise_weigh_scores(measured, path, reterr);
    return weigh_by_matrix(measured, path, reterr);
}

enum dti_status dti_advise_weigh(struct dti_measured *measured, const char *path,
                                 struct dti_error *reterr)
{
    const enum dti_status status = path ? weigh_by_file(measured, path, reterr) : DTI_OK;
    double sum = 0;
    for (size_t i = 0; i < measured->tensor_count && !path; i++)
        measured->tensors[i].weight = (double)measured->tensors[i].elements;
    for (size_t i = 0; i < measured->tensor_count; i++)
        sum += measured->tensors[i].taken ? measured->tensors[i].weight : 0;
    if (status == DTI_OK && path && !(sum > 0))
        return dti_fail(reterr, DTI_BAD_INPUT, "%s gives no tensor a weight above 0",
                        DTI_QUOTED(path, strlen(path)));
    return status;
}
