/* SPDX-License-Identifier: MIT
 *
 * What files of tensors hold: what is asked for, and what is found out about one file. */
#ifndef DTINFO_ANSWERS_INSPECT_H
#define DTINFO_ANSWERS_INSPECT_H

#include <regex.h>
#include <stdio.h>

#include "answers/reading.h"
#include "dtinfo/file_digest.h"
#include "dtinfo/json.h"
#include "dtinfo/logical_tensors.h"
#include "dtinfo/scaled_codes.h"

enum dti_inspect_sort {
    DTI_INSPECT_SORT_FILE,
    DTI_INSPECT_SORT_NAME,
    DTI_INSPECT_SORT_SIZE,
    DTI_INSPECT_SORT_ELEMENTS,
    DTI_INSPECT_SORT_DTYPE,
    DTI_INSPECT_SORT_OFFSET,
};

struct dti_inspect_request {
    const struct dti_logical_options *container;
    struct dti_reading reading;
    dti_remedy_words_fn *words; /* around what readers of files say */
    const char *only;           /* names of tensors, or NULL */
    const regex_t *grep;        /* what is found in their names, or NULL */
    enum dti_inspect_sort sort;
    bool reverse;
    bool stats, histogram; /* read the data */
    bool each;             /* a histogram of each tensor, too */
    bool digest;           /* of each file */
    /* as given, for the answer */
    const char *grep_text, *from, *assume;
};

/* Tensors of one dtype. */
struct dti_inspect_group {
    const char *dtype;
    size_t tensors;
    uint64_t elements, bytes;
};

/* "as fp32 1000 MiB": what the file's numbers would take in another dtype. */
enum { DTI_INSPECT_AS = 4 };
extern const char *const dti_inspect_as[DTI_INSPECT_AS];

struct dti_inspect_totals {
    uint64_t elements, bytes; /* of the tensors shown */
    uint64_t parameters;      /* elements of floats and of blocks of them */
    uint64_t others;          /* elements of integers and of what cannot be read */
    uint64_t unread;          /* of these, those without a dtype */
    uint64_t scales;          /* of these, scales of activations */
    uint64_t data_bytes;      /* of all tensors, shown or not */
    uint64_t file_bytes, header_bytes;
    uint64_t as[DTI_INSPECT_AS]; /* bytes; UINT64_MAX: more than 64 bits tell */
    size_t group_count;
    struct dti_inspect_group *groups; /* the largest first */
};

/* The dtypes that "fits" looks at, in rising width. */
enum { DTI_INSPECT_LADDER = 9 };
extern const enum dti_dtype dti_inspect_ladder[DTI_INSPECT_LADDER];

/* A histogram without its empty ends. */
struct dti_inspect_histogram {
    unsigned first, count; /* index of the first binade (see struct dti_histogram), and how many */
    uint64_t *binade;
    uint64_t overflow[DTI_STATS_RANGES], to_zero[DTI_STATS_RANGES], to_subnormal[DTI_STATS_RANGES];
};

/* An extreme: the number, the tensor that has it, where it is. */
struct dti_inspect_extreme {
    struct dti_value value;
    const struct dti_tensor *tensor;
    uint64_t index;
};

/* The statistics of a tensor, or of all. */
struct dti_inspect_figures {
    bool there; /* false for a tensor that cannot be read */
    uint64_t elements, nan, inf, negative_inf, zeros, negative, subnormals, finite;
    uint64_t first_nan, first_inf;
    struct dti_inspect_extreme min, max, absmax; /* finite > 0 */
    double mean, deviation;
    unsigned fits; /* a bit for each dtype of the ladder */
    struct dti_inspect_histogram histogram;
};

struct dti_inspect_report {
    const struct dti_inspect_request *request;
    struct dti_container *container;
    const struct dti_tensor **shown; /* those that were asked for, in the order asked for */
    size_t shown_count;
    struct dti_inspect_totals totals;
    struct dti_inspect_figures *figures; /* of each shown, or NULL */
    struct dti_inspect_figures all;
    struct dti_loss_summary *losses; /* of each shown, by the dtypes of the reading; or NULL */
    struct dti_digest *digests;      /* of each file, or NULL */
    struct dti_scaled_codes scaled;
    size_t unread; /* shown tensors whose values cannot be read */
};

/* Finds out all that was asked for about a file. To be freed in any case. Fails as containers and
 * scans do. */
enum dti_status dti_inspect_run(const struct dti_inspect_request *request, const char *path,
                                struct dti_inspect_report *ret, struct dti_error *reterr);
void dti_inspect_report_free(struct dti_inspect_report *report);
/* inspect_scan.c, a part of it: fills figures and all. */
enum dti_status dti_inspect_scan(struct dti_inspect_report *report, struct dti_error *reterr);

/* Whether a tensor's elements have more than one byte; then, whether the highest comes first. */
bool dti_inspect_has_byte_order(const struct dti_tensor *tensor, bool *ret_big);
/* The number in the dtype of its tensor; a magnitude of integers, which need not be of their dtype
 * (128 of int8), in uint64. */
const struct dti_format *dti_inspect_extreme_code(const struct dti_inspect_extreme *extreme,
                                                  bool magnitude, uint64_t *ret_code);
/* The dtypes of the least width that hold them all, "fp8_e4m3fn, fp8_e5m2"; "-" for none. */
enum { DTI_INSPECT_FITS = 64 };
const char *dti_inspect_fits(char buffer[DTI_INSPECT_FITS],
                             const struct dti_inspect_figures *figures, const char *separator);

/* The files of a container and what is in each, one after the other: start with all zero. */
struct dti_inspect_shard {
    const struct dti_container_file *file;
    size_t number; /* from 1 on */
    size_t tensors, end;
    uint64_t bytes; /* of its tensors */
};
const struct dti_inspect_shard *dti_inspect_next_shard(const struct dti_container *container,
                                                       struct dti_inspect_shard *shard);

/* The answer on several files. next gives one after the other, NULL after the last. */
struct dti_inspect_file {
    const char *path;
    const struct dti_inspect_report *report; /* NULL where there is an error */
    const struct dti_error *error;
    const char *message; /* what it says and what to do */
    size_t first, count; /* of the tensors that were asked for, those in the document */
    bool part;           /* the document has nothing but them: others have the rest */
};
struct dti_inspect_answer {
    const struct dti_inspect_request *request;
    const struct dti_inspect_file *(*next)(void *context);
    void *context;
    const char *const *notes; /* on names of dtypes */
    size_t note_count;
    FILE *out; /* tensors of the document go there once they are finished */
};
void dti_document_inspect(struct dti_json *json, const struct dti_inspect_answer *inspect);

#endif
