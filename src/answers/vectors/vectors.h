/* SPDX-License-Identifier: MIT
 *
 * Test vectors: inputs at the boundaries of a conversion or an operation, with the only right
 * output, as lines of text. docs/vectors.md describes the form. A pair always gives the same
 * bytes. */
#ifndef ANSWERS_VECTORS_VECTORS_H
#define ANSWERS_VECTORS_VECTORS_H

#include "core/value.h"
#include "util/error.h"
#include "util/sink.h"

enum { DTI_VECTORS_VERSION = 1 }; /* of the set: the lines of a published one never change */

enum dti_vectors_kind {
    DTI_VECTORS_CAST,       /* "fp32:bf16", "text:bf16" */
    DTI_VECTORS_STOCHASTIC, /* the same with stochastic rounding */
    DTI_VECTORS_DECODE,     /* "bf16:text" */
    DTI_VECTORS_BLOCK,      /* "fp32:mxfp4" */
    DTI_VECTORS_ARITH,      /* "add:bf16" */
};

#define DTI_VECTORS_OPERATIONS(ROW) /* id, name, number of operands */ \
    ROW(ADD, "add", 2)                                                 \
    ROW(SUB, "sub", 2)                                                 \
    ROW(MUL, "mul", 2)                                                 \
    ROW(DIV, "div", 2)                                                 \
    ROW(SQRT, "sqrt", 1)                                               \
    ROW(FMA, "fma", 3)
enum dti_vectors_operation {
#define ROW(id, name, operands) DTI_VECTORS_##id,
    DTI_VECTORS_OPERATIONS(ROW)
#undef ROW
        DTI_VECTORS_OPERATION_COUNT
};

/* What is asked for. */
struct dti_vectors {
    enum dti_vectors_kind kind;
    bool from_text;                       /* CAST and STOCHASTIC: from decimal text, not source */
    struct dti_format source, target;     /* of DECODE and ARITH only target */
    const struct dti_block_format *block; /* BLOCK */
    enum dti_vectors_operation operation; /* ARITH */
    const char *note;                     /* on the name of a dtype, or NULL */
    /* Only the column of this mode, and lines that are true for these policies. */
    bool round_given, overflow_given, nan_given, seed_given;
    struct dti_policy policy;
};

/* Reads a pair, "SOURCE:TARGET", and leaves the policy as it is; a cast may become STOCHASTIC.
 * Fails with DTI_USAGE if it is none, and as dti_format_lookup() does. */
enum dti_status dti_vectors_read(struct dti_vectors *ret, const char *pair,
                                 struct dti_error *reterr);

/* Writes the vectors. Fails with DTI_NO_MEMORY, and with DTI_WRITE_FAILED and no text if the sink
 * does. */
enum dti_status dti_vectors_write(const struct dti_vectors *what, const struct dti_sink *sink,
                                  struct dti_error *reterr);

/* Calls each() for every pair of the published set. */
typedef void dti_vectors_each_fn(void *context, enum dti_vectors_kind kind, const char *source,
                                 const char *target);
void dti_vectors_each(dti_vectors_each_fn *each, void *context);

const char *dti_vectors_kind_name(enum dti_vectors_kind kind);                /* "cast" */
const char *dti_vectors_operation_name(enum dti_vectors_operation operation); /* "add" */

#endif
