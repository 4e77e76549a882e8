/* SPDX-License-Identifier: MIT
 *
 * Assertions on files, and their results. */
#ifndef ANSWERS_CHECK_CHECK_ANSWER_H
#define ANSWERS_CHECK_CHECK_ANSWER_H

#include "answers/reading.h"
#include "containers/pickle_scan/pickle_scan.h"
#include "files/dequant/comfy_releases.h"
#include "files/dequant/logical_tensors.h"
#include "files/lint/lint.h"
#include "files/loaders/loaders.h"
#include "files/scan/file_digest.h"
#include "report/json.h"

/* In report order. Kinds from DTI_CHECK_NO_NAN on need the data. */
enum dti_check_kind {
    DTI_CHECK_VALID,
    DTI_CHECK_DIGEST,
    DTI_CHECK_PICKLE, /* needs no tensors */
    DTI_CHECK_DTYPE,
    DTI_CHECK_SHAPE,
    DTI_CHECK_MAX_BITS,  /* bits a weight of the whole model */
    DTI_CHECK_LOADER,    /* a program loads it: headers and the configuration */
    DTI_CHECK_QUANTIZED, /* reads the data of quantized tensors */
    DTI_CHECK_NO_NAN,
    DTI_CHECK_NO_INF,
    DTI_CHECK_MAX_ABS,
    DTI_CHECK_FITS,
    /* about a cast to the format */
    DTI_CHECK_MAX_TO_ZERO,
    DTI_CHECK_MAX_ERROR,
    DTI_CHECK_MIN_SQNR,
};

/* A dtype or a shape that tensors with matching names must have. */
struct dti_check_item {
    const char *glob; /* NULL: all names */
    size_t glob_length;
    struct dti_format format; /* DTI_CHECK_DTYPE, unless block */
    const char *block;        /* DTI_CHECK_DTYPE: q8_0 and the like; or NULL */
    const char *shape;        /* DTI_CHECK_SHAPE: "2,*" */
    size_t shape_length;
};

/* A decimal number: digits / 10^places. */
struct dti_check_bits {
    uint64_t digits;
    unsigned places;
};

struct dti_check_assertion {
    enum dti_check_kind kind;
    const char *argument; /* as given; for DTI_CHECK_FITS the dtype's name; NULL if there is none */
    struct dti_format format;     /* DTI_CHECK_FITS and later ones */
    size_t as;                    /* for later kinds: index of the cast in the reading */
    double bound;                 /* likewise */
    struct dti_value limit;       /* DTI_CHECK_MAX_ABS */
    struct dti_check_item *items; /* DTI_CHECK_DTYPE, DTI_CHECK_SHAPE */
    size_t item_count;
    struct dti_check_bits bits;        /* DTI_CHECK_MAX_BITS */
    enum dti_loader loader;            /* DTI_CHECK_LOADER */
    struct dti_loader_release release; /* likewise */
};

enum { DTI_CHECK_ASSERTIONS = 64 };

struct dti_check_report;

struct dti_check_request {
    const struct dti_logical_options *container;
    struct dti_reading reading;
    dti_remedy_words_fn *words;      /* adds remedies to messages of file readers */
    const char *only;                /* names of tensors, or NULL */
    bool ints;                       /* integer tensors must fit, too */
    const struct dti_fused_own *own; /* a group of fused modules, or NULL */
    struct dti_check_assertion assertions[DTI_CHECK_ASSERTIONS];
    size_t assertion_count;
    struct dti_digest digest;    /* DTI_CHECK_DIGEST: the digest of one file */
    struct dti_digest_list list; /* used if its path is not NULL: the digests of several files */
    size_t policy_rule;          /* number of the policy's rule, from 1; 0: not of a policy */
    /* Marks failures that are known, or NULL. Fails with DTI_NO_MEMORY. */
    enum dti_status (*mark_known)(void *context, struct dti_check_report *report,
                                  struct dti_error *reterr);
    void *known;
};

enum dti_check_fault {
    DTI_CHECK_INVALID,       /* the reader's message is in the report */
    DTI_CHECK_NOT_DONE,      /* skipped, because the file is invalid */
    DTI_CHECK_OTHER_WEIGHTS, /* other weights in the same folder: notes[index] of the container */
    DTI_CHECK_OTHER_DIGEST,  /* files[index] of the report's digests */
    DTI_CHECK_UNREADABLE,    /* the values of this type cannot be read */
    DTI_CHECK_UNDEFINED,     /* its kind of file does not define the type */
    DTI_CHECK_WRONG_DTYPE,
    DTI_CHECK_WRONG_SHAPE,
    DTI_CHECK_UNMATCHED, /* items[index] matches no tensor name */
    DTI_CHECK_HAS_NAN,
    DTI_CHECK_HAS_INF,
    DTI_CHECK_TOO_HIGH, /* code, at index */
    DTI_CHECK_TOO_LOW,
    DTI_CHECK_TO_ZERO, /* figure: share of the nonzero elements */
    DTI_CHECK_ERROR,   /* figure: the largest, at index */
    DTI_CHECK_SQNR,    /* figure: dB */
    DTI_CHECK_LOST,    /* count finite elements become infinity or NaN */
    DTI_CHECK_LINT,    /* finding */
    DTI_CHECK_GLOBAL,  /* imports[index] of the pickles is not a known one */
    DTI_CHECK_PICKLES, /* faults[index] of the pickles, reported after the imports */
    DTI_CHECK_BITS,    /* figure: bits a weight; text */
    DTI_CHECK_UNCLEAR, /* text: it is not known whether the assertion holds */
    DTI_CHECK_LOADS,   /* text: a program refuses or misreads it, by effect */
};

struct dti_check_failure {
    size_t assertion, tensor; /* tensor: SIZE_MAX if there is none */
    enum dti_check_fault fault;
    uint64_t count, index; /* count of NaNs or infinities; index of an element, or UINT64_MAX */
    uint64_t code;         /* in the hub's format */
    enum dti_stats_hub hub;
    double figure;
    const struct dti_lint_finding *finding; /* the finding in the report's lint */
    const char *text, *source;              /* in the report's texts; source may be NULL */
    enum dti_lint_outcome effect;           /* DTI_CHECK_LOADER */
    bool known;                             /* does not count */
};

/* The result of one assertion on one file. */
struct dti_check_tally {
    size_t tensors;              /* tensors that were checked */
    size_t failures, unreadable; /* unreadable: failures that are only due to unreadable data */
    bool figured;
    double figure;     /* if figured: DTI_CHECK_MAX_BITS, bits a weight */
    const char *since; /* DTI_CHECK_LOADER: from which release on it is known to load; or NULL */
    size_t known;      /* failures that are known, and not counted as unreadable */
};

/* The outcome of an assertion or of a file. */
enum dti_check_outcome {
    DTI_CHECK_OK,
    DTI_CHECK_FAILED,
    DTI_CHECK_UNDECIDED, /* no failure, but some data could not be read */
    DTI_CHECK_KNOWN,     /* all failures are known */
};

struct dti_check_report {
    const struct dti_check_request *request;
    const char *path;
    struct dti_container *container; /* NULL for an invalid file */
    char problem[DTI_ERROR_TEXT];    /* of an invalid file: the reader's message */
    struct dti_digest *digests;      /* digests of its files, or NULL */
    struct dti_lint *lint;           /* or NULL; for DTI_CHECK_LOADER, too */
    bool linted;                     /* DTI_CHECK_QUANTIZED is asserted */
    struct dti_pickle_scan pickles;  /* or zeros */
    bool scanned;                    /* pickles is filled */
    struct dti_check_tally tally[DTI_CHECK_ASSERTIONS], all;
    struct dti_pool texts;
    struct dti_check_failure *failures; /* by assertion, new ones first, then by tensor */
    size_t failure_count, failure_capacity;
    /* why there is no answer, if the error is DTI_USAGE */
    enum { DTI_CHECK_NONE_LEFT = 1, DTI_CHECK_ONE_DIGEST } refusal;
};

/* Checks all assertions on one file. A damaged file is an answer, not an error, if DTI_CHECK_VALID
 * comes first. Always free the report. Fails with DTI_USAGE if `only` matches no tensor or one
 * digest is given for several files; else as containers and scans do. */
enum dti_status dti_check_run(const struct dti_check_request *request, const char *path,
                              struct dti_check_report *ret, struct dti_error *reterr);
void dti_check_report_free(struct dti_check_report *report);
/* Parts of dti_check_run(). check_run.c: adds a failure; fails with DTI_NO_MEMORY. check_names.c:
 * an assertion on dtypes or shapes of the listed tensors. */
enum dti_status dti_check_fail(struct dti_check_report *report,
                               const struct dti_check_failure *failure, struct dti_error *reterr);
enum dti_status dti_check_names(struct dti_check_report *report, size_t at, const size_t *tensors,
                                size_t count, struct dti_error *reterr);
/* Whether a reader's note is a failure of DTI_CHECK_VALID; the second function adds those
 * failures. */
bool dti_check_is_invalid_note(const struct dti_note *note);
enum dti_status dti_check_add_invalid_notes(struct dti_check_report *report, size_t at,
                                            struct dti_error *reterr);
/* check_pickle.c: checks DTI_CHECK_PICKLE, assertion number `at`, on a file with any content. Fails
 * as dti_pickle_scan() does. */
enum dti_status dti_check_pickles(struct dti_check_report *report, size_t at,
                                  struct dti_error *reterr);

/* check_bits.c, check_loader.c: the assertion number `at` on the listed tensors. Fail with
 * DTI_NO_MEMORY, and for sums beyond 64 bits with DTI_BAD_INPUT. */
enum dti_status dti_check_bits(struct dti_check_report *report, size_t at, const size_t *tensors,
                               size_t count, struct dti_error *reterr);
enum dti_status dti_check_loader(struct dti_check_report *report, size_t at, const size_t *tensors,
                                 size_t count, struct dti_error *reterr);
/* Adds a failure with a text, which is copied. */
enum dti_status dti_check_fail_text(struct dti_check_report *report,
                                    const struct dti_check_failure *failure,
                                    struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(4, 5);

enum dti_check_outcome dti_check_outcome(const struct dti_check_tally *tally);
/* Whether there is no failure, apart from known ones. */
static inline bool dti_check_holds(const struct dti_check_tally *tally)
{
    return tally->failures == tally->known;
}

/* Whether a text is a valid argument of DTI_CHECK_SHAPE. */
bool dti_check_shape_is_pattern(const char *text, size_t length);

/* "no-nan", "fits", in the order of enum dti_check_kind, NULL behind the last one. */
const char *dti_check_name(size_t kind);

/* The description of a failure. */
enum { DTI_CHECK_DETAIL = 640 };
struct dti_check_words {
    const struct dti_check_failure *failure;
    const char *tensor; /* its name; NULL if no tensor is concerned */
    size_t tensor_length;
    const struct dti_lint_row *rule; /* or NULL */
    const char *subject;             /* what tells it from others without a tensor; or NULL */
    char detail[DTI_CHECK_DETAIL];   /* "max 70144 at [12]" */
    char global[DTI_QUOTE_SIZE + DTI_DIGEST_TEXT];
};
void dti_check_words(struct dti_check_words *ret, const struct dti_check_report *report,
                     const struct dti_check_failure *failure);

/* What identifies a failure from one run to the next: no figure that was measured. */
enum dti_check_field {
    DTI_FIELD_PATH,
    DTI_FIELD_NAME,
    DTI_FIELD_ARGUMENT,
    DTI_FIELD_AS,
    DTI_CHECK_OF_ASSERTION, /* those before are of the assertion */
    DTI_FIELD_TENSOR = DTI_CHECK_OF_ASSERTION,
    DTI_FIELD_RULE,
    DTI_FIELD_SUBJECT,
    DTI_CHECK_FIELDS
};
extern const char *const dti_check_field_names[DTI_CHECK_FIELDS]; /* those of the members */
struct dti_check_identity {
    struct dti_spelled fields[DTI_CHECK_FIELDS]; /* any bytes; NULL: null */
};
/* Of an assertion: sets the fields before DTI_CHECK_OF_ASSERTION. Of a failure: the others. */
void dti_check_identify(struct dti_check_identity *ret, const struct dti_check_report *report,
                        size_t assertion);
void dti_check_identify_failure(struct dti_check_identity *ret,
                                const struct dti_check_words *words);
/* Replaces ret with the first fields, in a form that sorts and compares as bytes.
 * One of an assertion begins all those of its failures. */
void dti_check_identity_bytes(struct dti_buffer *ret, const struct dti_check_identity *identity,
                              size_t fields);

/* Which releases of ComfyUI load its layers. */
struct dti_check_comfyui {
    const size_t *layers; /* by row of comfy_releases.def */
    enum dti_comfy_known known;
    const char *least; /* newest of the known first releases; "": none is known */
    const char *since; /* the same if all are known, else NULL */
};
/* False if the file has none. */
bool dti_check_comfyui(struct dti_check_comfyui *ret, const struct dti_check_report *report);

/* The answer for all files. next() returns one report at a time, then NULL. */
struct dti_check_answer {
    const struct dti_check_report *(*next)(void *context);
    /* After the reports: the warnings, then NULL. A text is valid until the next call. */
    const char *(*warning)(void *context, size_t index, const char **ret_code);
    void *context;
};
void dti_document_check(struct dti_json *json, const struct dti_check_answer *check);

#endif
