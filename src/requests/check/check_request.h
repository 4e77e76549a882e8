/* SPDX-License-Identifier: MIT
 *
 * check: its options, and what is asserted. */
#ifndef REQUESTS_CHECK_CHECK_REQUEST_H
#define REQUESTS_CHECK_CHECK_REQUEST_H

#include "answers/check/check_answer.h"
#include "requests/cast_list.h"
#include "requests/file_source.h"

struct check_args {
    struct dti_file_args file;
    bool valid, pickle, quantized, no_nan, no_inf, ints;
    const char *digest, *fits, *dtype, *max_abs, *shape, *only;
    const char *as, *max_to_zero, *max_error, *min_sqnr, *fused;
    const char *max_bits, *loader;
    /* of the run, not of a rule */
    const char *policy, *baseline;
    int format; /* enum dti_check_form */
    bool format_given;
};

enum dti_check_form {
    DTI_CHECK_FORM_TEXT,
    DTI_CHECK_FORM_JSON,
    DTI_CHECK_FORM_JUNIT,
    DTI_CHECK_FORM_SARIF,
    DTI_CHECK_FORM_GITHUB,
};
extern const struct dti_choice dti_check_forms[];
extern const struct dti_option dti_check_options[];

enum { DTI_CHECK_NOTES = DTI_CHECK_ASSERTIONS + 2 + DTI_CAST_LIST };

/* The request. Points into itself: must not be copied. */
struct check_job {
    const struct check_args *args;
    const struct dti_asker *asker;
    struct dti_file_source source;
    struct dti_check_request request;
    struct dti_fused_own own;
    struct dti_cast_list as;
    char *loaders; /* the text of --loader, with NULs between the names; or NULL */
    const char *notes[DTI_CHECK_NOTES]; /* on spellings of dtypes */
    size_t note_count;
};
/* Always free the job. */
enum dti_status dti_check_init(struct check_job *ret, const struct check_args *args,
                               const struct dti_asker *asker, struct dti_error *reterr);
void dti_check_free(struct check_job *job);

/* Parts of dti_check_init(). check_loaders.c: adds an assertion, zeroed, in *ret; fails with
 * DTI_USAGE if there are too many; and the options of two kinds. */
enum dti_status dti_check_add(struct check_job *job, enum dti_check_kind kind, const char *argument,
                              struct dti_check_assertion **ret, struct dti_error *reterr);
enum dti_status dti_check_add_bits(struct check_job *job, enum dti_check_kind kind,
                                   const char *text, struct dti_error *reterr);
enum dti_status dti_check_add_loaders(struct check_job *job, enum dti_check_kind kind,
                                      const char *text, struct dti_error *reterr);
extern const struct dti_choice dti_check_loaders[]; /* for completion */

#endif
