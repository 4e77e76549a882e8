/* SPDX-License-Identifier: MIT
 *
 * How far the numbers of two files are from each other: tensors paired by name, and what each pair
 * came to. */
#ifndef DTINFO_ANSWERS_COMPARE_H
#define DTINFO_ANSWERS_COMPARE_H

#include <stdio.h>

#include "answers/reading.h"
#include "dtinfo/json.h"
#include "dtinfo/logical_tensors.h"

enum dti_compare_way {
    DTI_COMPARE_NUMBERS, /* figures are filled */
    DTI_COMPARE_BYTES,   /* values cannot be read, types are the same: byte by byte */
    DTI_COMPARE_NEVER,   /* shapes or types do not go together: dti_compare_reason() says why */
    DTI_COMPARE_ONLY_A,
    DTI_COMPARE_ONLY_B,
};

/* Those of pairs in the order of increasing difference. */
enum dti_compare_outcome {
    DTI_COMPARE_EQUAL,
    DTI_COMPARE_WITHIN,     /* numbers differ, but not beyond the tolerance */
    DTI_COMPARE_UNREADABLE, /* values cannot be read, which leaves the question open */
    DTI_COMPARE_DIFFERS,
    DTI_COMPARE_IGNORED, /* on one side only, with ignore_missing */
    DTI_COMPARE_OUTCOMES
};

/* What is kept of a struct dti_comparison, which is large. */
struct dti_compare_figures {
    uint64_t elements, differing, unmatched, exceeding, compared;
    double max_absolute, mean_absolute, root_mean_square, max_relative, cosine;
    double max_ulp;     /* NaN where there is no ulp */
    uint64_t max_index; /* UINT64_MAX when nothing differs */
    uint64_t first_differing, first_unmatched;
    bool identical;
};

struct dti_compare_result {
    size_t a, b; /* tensors; that of a side that lacks it is not set */
    enum dti_compare_way way;
    enum dti_compare_outcome outcome;
    uint64_t first_byte; /* DTI_COMPARE_BYTES: where they differ; UINT64_MAX for nowhere */
    struct dti_compare_figures figures; /* DTI_COMPARE_NUMBERS */
};

/* A tolerance; numbers are equal within 0 where none is given. */
struct dti_compare_bound {
    bool given;
    double most;
};

/* The request, then what came of it. To be freed. */
struct dti_compare {
    struct dti_container *a, *b;
    struct dti_compare_bound atol, rtol, max_ulp;
    bool bitwise, ignore_missing;
    struct dti_logical_options options; /* how the files are opened */
    dti_remedy_words_fn *words;         /* around what readers of files say */
    const char *only;                   /* names of tensors, or NULL */
    struct dti_reading reading;
    const char *const *notes; /* on names of dtypes */
    size_t note_count;
    FILE *out; /* tensors of the document go there once they are finished */

    bool unlisted; /* the document has no pairs: others have them */

    /* in the order of a, then those of b alone */
    struct dti_compare_result *results;
    size_t result_count;
    size_t tensors[DTI_COMPARE_OUTCOMES]; /* results of each outcome */
    /* of all pairs of numbers */
    struct dti_compare_figures total;
    size_t total_count, max_result, ulp_result; /* results with the largest; SIZE_MAX for none */
};

/* Which tensors are held against each other; none when `only` fits none. Fails with
 * DTI_NO_MEMORY. */
enum dti_status dti_compare_pair(struct dti_compare *compare, struct dti_error *reterr);
/* Reads them and judges. */
enum dti_status dti_compare_run(struct dti_compare *compare, struct dti_error *reterr);
void dti_compare_free(struct dti_compare *compare);

/* The tensor by whose name a result goes; why a result is as it is. */
const struct dti_tensor *dti_compare_tensor(const struct dti_compare *compare,
                                            const struct dti_compare_result *result);
enum { DTI_COMPARE_REASON = DTI_SCAN_WHY_SIZE + 96 };
const char *dti_compare_reason(char buffer[DTI_COMPARE_REASON], const struct dti_compare *compare,
                               const struct dti_compare_result *result);

/* The comparison of one pair alone, for a document of its own; not to be freed. */
struct dti_compare dti_compare_of_one(const struct dti_compare *compare, size_t result);
void dti_document_compare(struct dti_json *json, const struct dti_compare *compare);

#endif
