/* SPDX-License-Identifier: MIT
 *
 * Operands of measurements from files: reading, checks, and the sizes derived from them. */
#include "answers/bench/bench_operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/calc/calc_answer.h"
#include "answers/tensors.h"
#include "core/code/scalar.h"
#include "core/number/spell.h"
#include "files/dequant/logical_tensors.h"
#include "util/run/allocate.h"

static const char *const names[2] = {"A", "B"};

/* "FILE:TENSOR", split at the first colon unless a file has the whole name. */
static enum dti_status load(const char *text, struct dti_calc_array *ret, struct dti_error *reterr)
{
    struct dti_logical_options options = {.open = NULL};
    const char *const colon = access(text, F_OK) == 0 ? NULL : strchr(text, ':');
    if (!colon)
        return dti_calc_load(&options, text, NULL, NULL, ret, reterr);
    char *const path = dti_strndup(text, (size_t)(colon - text));
    if (!path)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_calc_load(&options, path, colon + 1, NULL, ret, reterr);
    dti_free(path);
    return status;
}

static enum dti_status not_finite(const struct dti_calc_array *array, const char *name, uint64_t at,
                                  struct dti_error *reterr)
{
    struct dti_value value;
    char text[DTI_TEXT_SIZE];
    dti_decode(&array->format, dti_calc_code(array, (size_t)at), &value);
    (void)dti_spell_text(text, &value);
    return dti_fail(reterr, DTI_BAD_VALUE, "element %llu of %s is %s; bench takes finite numbers",
                    (unsigned long long)at, name, text);
}

static enum dti_status wrong_shape(const struct dti_calc_array *array, const char *name,
                                   const char *wanted, struct dti_error *reterr)
{
    const struct dti_tensor tensor = {.rank = array->rank, .shape = array->shape};
    char text[DTI_SHAPE_SIZE];
    return dti_fail(reterr, DTI_BAD_VALUE, "%s has shape %s; it must be %s", name,
                    dti_shape_words(text, &tensor), wanted);
}

/* Rows and columns of an operand. Vectors may have extra dimensions of 1. */
static enum dti_status fit_shape(struct dti_bench_operand *operand,
                                 const struct dti_calc_array *array, bool product, size_t at,
                                 struct dti_error *reterr)
{
    unsigned longer = 0;
    for (unsigned i = 0; i < array->rank; i++)
        longer += array->shape[i] != 1;
    const bool matrix = product && array->rank == 2;
    if (array->count == 0 || (!matrix && longer > 1))
        return wrong_shape(
            array, names[at],
            product ? "a matrix or a vector with elements" : "a vector with elements", reterr);
    operand->rows = matrix ? array->shape[0] : at == 0 || !product ? 1 : array->count;
    operand->columns = array->count / operand->rows;
    return DTI_OK;
}

static enum dti_status fit_sizes(const struct dti_bench_operand *list, bool product,
                                 struct dti_bench_size *ret, struct dti_error *reterr)
{
    const unsigned long long inner[] = {list[0].columns, product ? list[1].rows : list[1].columns};
    if (inner[0] != inner[1])
        return product ? dti_fail(reterr, DTI_BAD_VALUE,
                                  "A has %llu columns and B has %llu rows; both must be the same",
                                  inner[0], inner[1])
                       : dti_fail(reterr, DTI_BAD_VALUE,
                                  "A has %llu elements and B has %llu; both must be the same",
                                  inner[0], inner[1]);
    *ret = product ? (struct dti_bench_size){list[0].rows, list[1].columns, inner[0], ""}
                   : (struct dti_bench_size){.n = inner[0]};
    if (product)
        (void)snprintf(ret->label, sizeof ret->label, "%llux%llux%llu", (unsigned long long)ret->m,
                       (unsigned long long)ret->n, (unsigned long long)ret->k);
    else
        (void)snprintf(ret->label, sizeof ret->label, "%llu element%s", inner[0],
                       inner[0] == 1 ? "" : "s");
    return DTI_OK;
}

enum dti_status dti_bench_operands_read(struct dti_bench_operands *ret,
                                        const struct dti_bench_kind *kind, const char *a,
                                        const char *b, struct dti_bench_size *ret_size,
                                        struct dti_error *reterr)
{
    const bool product = kind->size_is == DTI_BENCH_PRODUCT;
    const char *const texts[2] = {a, b};
    struct dti_bench_operands read = {.arrays = {{.codes = NULL}}};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        struct dti_bench_operand *const operand = &read.list[i];
        uint64_t at;
        status = load(texts[i], &read.arrays[i], reterr);
        operand->format = read.arrays[i].format;
        operand->codes = read.arrays[i].codes;
        if (status == DTI_OK)
            status = fit_shape(operand, &read.arrays[i], product, i, reterr);
        if (status == DTI_OK && !dti_bench_operand_measure(operand, &at))
            status = not_finite(&read.arrays[i], names[i], at, reterr);
    }
    if (status == DTI_OK)
        status = fit_sizes(read.list, product, ret_size, reterr);
    if (status == DTI_OK)
        *ret = read;
    else
        dti_bench_operands_free(&read);
    return status;
}

void dti_bench_operands_free(struct dti_bench_operands *operands)
{
    for (size_t i = 0; i < 2; i++)
        dti_calc_array_free(&operands->arrays[i]);
}
