/* SPDX-License-Identifier: MIT
 *
 * What dtypes hold: the answers of list, finfo and iinfo. Nothing here fails but for memory, which
 * shows when the document is written. */
#ifndef DTINFO_ANSWERS_ASK_H
#define DTINFO_ANSWERS_ASK_H

#include "dtinfo/dtype.h"
#include "dtinfo/json.h"
#include "dtinfo/limits.h"

/* A dtype that was asked about, and what is to be known of the name it was given; or NULL. */
struct dti_dtype_operand {
    struct dti_format format;
    const char *note;
};

struct dti_dtypes_answer {
    const struct dti_dtype_operand *list;
    size_t count;
};

/* The limits of any dtype in short; complex ones have those of their parts. */
struct dti_dtype_summary {
    struct dti_limit lowest, max, smallest; /* smallest positive */
    bool has_inf, has_nan, has_minus_zero, has_subnormals;
};
void dti_dtype_summarize(const struct dti_format *dtype, struct dti_dtype_summary *ret);

/* Bits of a block with its scale for each element: exact, because lengths are powers of 2. */
double dti_block_bits_per_weight(const struct dti_block_format *block);

void dti_document_list(struct dti_json *json, const void *none);
void dti_document_finfo(struct dti_json *json, const struct dti_dtypes_answer *dtypes);
void dti_document_iinfo(struct dti_json *json, const struct dti_dtypes_answer *dtypes);

#endif
