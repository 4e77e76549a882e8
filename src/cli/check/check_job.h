/* SPDX-License-Identifier: MIT
 *
 * The parts of the check command: assertions, what each came to in a file, and the two forms of the
 * answer. */
#ifndef DTINFO_CLI_CHECK_H
#define DTINFO_CLI_CHECK_H

#include "cli/shared/file_source.h"
#include "cli/shell/command.h"
#include "dtinfo/file_digest.h"

struct check_args {
    struct dti_file_args file;
    bool valid, no_nan, no_inf, ints;
    const char *digest, *fits, *dtype, *max_abs, *shape, *only;
};

/* In the order in which they are told. Those from CHECK_NO_NAN on need the data. */
enum check_kind {
    CHECK_VALID,
    CHECK_DIGEST,
    CHECK_DTYPE,
    CHECK_SHAPE,
    CHECK_NO_NAN,
    CHECK_NO_INF,
    CHECK_MAX_ABS,
    CHECK_FITS,
};

/* A dtype or a shape that tensors of some names must have. */
struct check_item {
    const char *glob; /* NULL: all names */
    size_t glob_length;
    struct dti_format format;             /* CHECK_DTYPE, unless block */
    const struct dti_block_format *block; /* CHECK_DTYPE: q8_0 and the like */
    const char *shape;                    /* CHECK_SHAPE: "2,*" */
    size_t shape_length;
};

struct check_assertion {
    enum check_kind kind;
    const char *argument;     /* as given, of CHECK_FITS the dtype's name; NULL for none */
    struct dti_format format; /* CHECK_FITS */
    struct dti_value limit;   /* CHECK_MAX_ABS */
    struct check_item *items; /* CHECK_DTYPE, CHECK_SHAPE */
    size_t item_count;
};

enum { CHECK_ASSERTIONS_MAX = 64 };

enum check_fault {
    CHECK_INVALID,      /* the reader's words are in the report */
    CHECK_NOT_DONE,     /* because the file is invalid */
    CHECK_OTHER_DIGEST, /* files[index] of the report's digests */
    CHECK_UNREADABLE,   /* the values of this type cannot be read */
    CHECK_WRONG_DTYPE,
    CHECK_WRONG_SHAPE,
    CHECK_UNMATCHED, /* no tensor has a name that fits items[index] */
    CHECK_HAS_NAN,
    CHECK_HAS_INF,
    CHECK_TOO_HIGH, /* code, at index */
    CHECK_TOO_LOW,
};

struct check_failure {
    size_t assertion, tensor; /* tensor: SIZE_MAX for none */
    enum check_fault fault;
    uint64_t count, index; /* of NaN and infinities; where, or UINT64_MAX */
    uint64_t code;         /* of the hub's format */
    enum dti_stats_hub hub;
};

/* What one assertion came to in one file. */
struct check_tally {
    size_t tensors; /* looked at */
    size_t failures;
};

struct check_report {
    const char *path;
    struct dti_container *container; /* NULL for an invalid file */
    char problem[512];               /* of an invalid file: the reader's words */
    struct dti_digest *digests;      /* of its files, or NULL */
    struct check_tally tally[CHECK_ASSERTIONS_MAX];
    struct check_failure *failures; /* assertion after assertion, in the order of the tensors */
    size_t failure_count, failure_capacity;
};

struct check_job {
    const struct check_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct check_assertion assertions[CHECK_ASSERTIONS_MAX];
    size_t assertion_count;
    struct dti_digest digest;                /* CHECK_DIGEST: of a file */
    struct dti_digest_list list;             /* unless its path is NULL: of several */
    const char *notes[CHECK_ASSERTIONS_MAX]; /* on spellings of dtypes in assertions */
    size_t note_count;
};

/* check_options.c: to be freed in any case. */
enum dti_status dti_check_init(struct check_job *ret, const struct check_args *args,
                               const struct dti_context *cx, struct dti_error *reterr);
void dti_check_free(struct check_job *job);

/* check_names.c: what depends on names, dtypes and shapes alone. */
bool dti_check_shape_is_pattern(const char *text, size_t length);
bool dti_check_dtype_holds(const struct check_assertion *assertion,
                           const struct dti_tensor *tensor);
bool dti_check_shape_holds(const struct check_assertion *assertion,
                           const struct dti_tensor *tensor);
bool dti_check_item_fits(const struct check_item *item, const struct dti_tensor *tensor);
bool dti_check_names_fit(const struct check_assertion *assertion, const struct dti_tensor *tensor);

/* check_run.c: all assertions on one file. To be freed in any case. */
enum dti_status dti_check_run(const struct check_job *job, const char *path,
                              struct check_report *ret, struct dti_error *reterr);
void dti_check_report_free(struct check_report *report);
bool dti_check_fail(struct check_report *report, const struct check_failure *failure);

/* check_digest.c: the option, what it asserts, and the files that break it. */
enum dti_status dti_check_digest_init(struct check_job *job, struct dti_error *reterr);
enum dti_status dti_check_digest(const struct check_job *job, struct check_report *report,
                                 struct dti_error *reterr);

/* check_values.c: those that need the data, over the tensors of the list. */
enum dti_status dti_check_values(const struct check_job *job, struct check_report *report,
                                 const size_t *tensors, size_t count, struct dti_error *reterr);

/* check_words.c: "no-nan", "fits"; what is wrong with a tensor: "max 70144 at [12]". */
const char *dti_check_name(enum check_kind kind);
enum { CHECK_DETAIL_SIZE = 640 };
const char *dti_check_detail(char buffer[CHECK_DETAIL_SIZE], const struct check_job *job,
                             const struct check_report *report,
                             const struct check_failure *failure);

/* check_human.c, check_json.c: one file. named: its name goes in front. */
enum dti_status dti_check_human(const struct check_job *job, const struct check_report *report,
                                bool named, struct dti_error *reterr);
enum dti_status dti_check_json(const struct check_job *job, const struct check_report *report,
                               struct dti_json *json, struct dti_error *reterr);

#endif
