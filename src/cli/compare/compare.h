/* SPDX-License-Identifier: MIT
 *
 * The parts of the compare command: two containers, their tensors paired by name, what each pair
 * came to, and the two forms of the answer. */
#ifndef DTINFO_CLI_COMPARE_H
#define DTINFO_CLI_COMPARE_H

#include "cli/shared/file_source.h"
#include "cli/shell/command.h"

struct compare_args {
    struct dti_file_args file;
    const char *atol, *rtol, *max_ulp, *only;
    uint64_t top;
    bool top_given, bitwise, ignore_missing;
};

enum compare_way {
    COMPARE_NUMBERS, /* figures are filled */
    COMPARE_BYTES,   /* values cannot be read, types are the same: byte by byte */
    COMPARE_NEVER,   /* shapes or types do not go together: dti_compare_reason() says why */
    COMPARE_ONLY_A,
    COMPARE_ONLY_B,
};

/* In the order of increasing difference. */
enum compare_outcome {
    COMPARE_EQUAL,
    COMPARE_IGNORED, /* on one side only, with --ignore-missing */
    COMPARE_WITHIN,  /* numbers differ, but not beyond the tolerance */
    COMPARE_DIFFERS,
    COMPARE_OUTCOMES
};

/* What is kept of a struct dti_comparison, which is large. */
struct compare_figures {
    uint64_t elements, differing, unmatched, exceeding, compared;
    double max_absolute, mean_absolute, root_mean_square, max_relative, cosine;
    double max_ulp;     /* NaN where there is no ulp */
    uint64_t max_index; /* UINT64_MAX when nothing differs */
    uint64_t first_differing, first_unmatched;
    bool identical;
};

struct compare_result {
    size_t a, b; /* tensors; that of a side that lacks it is not set */
    enum compare_way way;
    enum compare_outcome outcome;
    uint64_t first_byte;            /* COMPARE_BYTES: where they differ; UINT64_MAX for nowhere */
    struct compare_figures figures; /* COMPARE_NUMBERS */
};

struct compare_job {
    const struct compare_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_reading reading;
    struct dti_file_bar bar;
    double atol, rtol, max_ulp;
    bool tolerant; /* atol or rtol is given */
    struct dti_container *a, *b;
    /* in the order of a, then those of b alone */
    struct compare_result *results;
    size_t result_count;
    size_t tensors[COMPARE_OUTCOMES]; /* results of each outcome */
    /* of all pairs of numbers */
    struct compare_figures total;
    size_t total_count, max_result, ulp_result; /* results with the largest; SIZE_MAX for none */
};

/* compare_options.c: reads the options, opens both files. To be freed on success only. */
enum dti_status dti_compare_init(struct compare_job *ret, const struct compare_args *args,
                                 const struct dti_context *cx, char **operands, int count,
                                 struct dti_error *reterr);
void dti_compare_free(struct compare_job *job);

/* compare_pairs.c: which tensors are held against each other. */
enum dti_status dti_compare_pair(struct compare_job *job, struct dti_error *reterr);

/* compare_run.c: reads them and judges. */
enum dti_status dti_compare_run(struct compare_job *job, struct dti_error *reterr);

/* compare_bytes.c: where the stored bytes of two tensors differ first, or UINT64_MAX. They have the
 * same number. */
enum dti_status dti_compare_bytes(struct dti_container *a, size_t tensor_a, struct dti_container *b,
                                  size_t tensor_b, uint64_t *ret_first, struct dti_error *reterr);

/* compare_words.c: the tensor by whose name a result goes; why a result is as it is. */
const struct dti_tensor *dti_compare_tensor(const struct compare_job *job,
                                            const struct compare_result *result);
enum { COMPARE_REASON_SIZE = DTI_SCAN_WHY_SIZE + 96 };
const char *dti_compare_reason(char buffer[COMPARE_REASON_SIZE], const struct compare_job *job,
                               const struct compare_result *result);

/* compare_human.c, compare_json.c */
enum dti_status dti_compare_human(const struct compare_job *job, struct dti_error *reterr);
enum dti_status dti_compare_json(const struct compare_job *job, struct dti_error *reterr);

#endif
