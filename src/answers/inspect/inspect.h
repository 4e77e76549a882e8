/* SPDX-License-Identifier: MIT
 *
 * The contents of files of tensors: the request, and the report on one file. */
#ifndef ANSWERS_INSPECT_INSPECT_H
#define ANSWERS_INSPECT_INSPECT_H

#include <regex.h>

#include "answers/reading.h"
#include "files/dequant/logical_tensors.h"
#include "files/scan/code_limits.h"
#include "files/scan/file_digest.h"
#include "files/scan/scaled_codes.h"
#include "report/json.h"
#include "util/sink.h"

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
    dti_remedy_words_fn *words; /* adds remedies to messages of file readers */
    const char *only;           /* names of tensors, or NULL */
    const regex_t *grep;        /* a regular expression for names, or NULL */
    enum dti_inspect_sort sort;
    bool reverse;
    bool limited;          /* only the first tensors are listed */
    uint64_t limit;        /* how many */
    bool stats, histogram; /* read the data */
    bool each;             /* also a histogram of each tensor */
    bool digest;           /* digests of each file */
    bool saturation;       /* count codes and scales at their limits */
    /* as given, for the answer */
    const char *grep_text, *from, *assume;
};

/* Tensors of one dtype. */
struct dti_inspect_group {
    const char *dtype;
    size_t tensors;
    uint64_t elements, bytes;
};

/* "as fp32 1000 MiB": the size of the file's numbers in other dtypes. */
enum { DTI_INSPECT_AS = 4 };
extern const char *const dti_inspect_as[DTI_INSPECT_AS];

struct dti_inspect_totals {
    uint64_t elements, bytes; /* over the selected tensors */
    uint64_t parameters;      /* elements of floats and of blocks of them */
    uint64_t others;          /* elements of integers and of what cannot be read */
    uint64_t unread;          /* of which those without a dtype */
    uint64_t scales;          /* of which scales of activations */
    uint64_t data_bytes;      /* over all tensors, selected or not */
    uint64_t file_bytes, header_bytes;
    struct {
        bool known; /* the sums fit in 64 bits */
        uint64_t bytes;
    } as[DTI_INSPECT_AS];
    size_t group_count;
    struct dti_inspect_group *groups; /* the largest first */
};

/* The dtypes considered for "fits", in order of increasing width. */
enum { DTI_INSPECT_LADDER = 9 };
extern const enum dti_dtype dti_inspect_ladder[DTI_INSPECT_LADDER];

/* A histogram with its empty ends trimmed. */
struct dti_inspect_histogram {
    unsigned first, count; /* index of the first binade (see struct dti_histogram), and how many */
    uint64_t *binade;
    struct dti_inspect_range {
        const struct dti_format *format;
        uint64_t overflow, to_zero, to_subnormal; /* numbers, under nearest-even */
    } ranges[DTI_STATS_RANGES];
};

/* An extreme: its tensor, the number as a code of dti_inspect_extreme_format(), its position. */
struct dti_inspect_extreme {
    const struct dti_tensor *tensor;
    uint64_t code, index;
};

/* The statistics of a tensor, or of all. */
struct dti_inspect_figures {
    bool there; /* false for a tensor that cannot be read */
    uint64_t elements, nan, inf, negative_inf, zeros, negative, subnormals, finite;
    uint64_t first_nan, first_inf;
    struct dti_inspect_extreme min, max, absmax; /* valid if finite > 0 */
    double mean, deviation;
    unsigned fits;                           /* bit mask over the dtypes of the ladder */
    struct dti_inspect_histogram *histogram; /* or NULL */
};

/* The quantized tensors of one format. */
struct dti_inspect_saturation {
    const char *dtype;
    size_t tensors;
    struct dti_code_limits limits;
};

struct dti_inspect_report {
    const struct dti_inspect_request *request;
    struct dti_container *container;
    const struct dti_tensor **shown; /* the selected tensors, in the requested order */
    size_t selected_count, shown_count, hidden_count; /* a limit hides the others */
    size_t scanned_count; /* tensors whose data is read: a histogram covers all selected ones */
    struct dti_inspect_totals totals;
    struct dti_inspect_figures *figures; /* per selected tensor, or NULL */
    struct dti_inspect_figures all;
    struct dti_loss_summary *losses; /* per selected tensor and dtype of the reading, or NULL */
    struct dti_digest *digests;      /* per file, or NULL */
    const struct dti_code_limits **limits; /* per shown tensor, NULL for others; or NULL */
    struct dti_limited_tensor *limited;    /* what they point into */
    size_t limited_count;
    struct dti_inspect_saturation *saturation; /* by name of the format */
    size_t saturation_count;
    struct dti_scaled_codes scaled;
    size_t unread; /* tensors whose values cannot be read */
};

/* Makes the report on a file. Always free it. Fails as containers and scans do. */
enum dti_status dti_inspect_run(const struct dti_inspect_request *request, const char *path,
                                struct dti_inspect_report *ret, struct dti_error *reterr);
void dti_inspect_report_free(struct dti_inspect_report *report);
/* inspect_scan.c, a part of it: fills figures and all. */
enum dti_status dti_inspect_scan(struct dti_inspect_report *report, struct dti_error *reterr);

/* inspect_limits.c, a part of it: fills limits and saturation. */
enum dti_status dti_inspect_limits(struct dti_inspect_report *report, struct dti_error *reterr);

/* Whether a tensor's elements have more than one byte; and whether the highest byte comes first. */
bool dti_inspect_has_byte_order(const struct dti_tensor *tensor, bool *ret_big);
/* The dtype of the extreme's tensor; for magnitudes of integers, which may exceed their dtype (128
 * of int8), uint64. */
const struct dti_format *dti_inspect_extreme_format(const struct dti_tensor *tensor,
                                                    bool magnitude);
/* The dtypes of the smallest width that hold all numbers, "fp8_e4m3fn, fp8_e5m2"; "-" for none. */
enum { DTI_INSPECT_FITS = 64 };
const char *dti_inspect_fits(char buffer[DTI_INSPECT_FITS],
                             const struct dti_inspect_figures *figures, const char *separator);

/* Unusual properties that are not errors, by index from 0; false past the last. Points into itself:
 * must not be copied. */
struct dti_inspect_note {
    const char *code, *message;
    char text[DTI_SCALED_CODES_TEXT], words[DTI_REMEDY_WORDS];
};
bool dti_inspect_note(struct dti_inspect_note *ret, const struct dti_inspect_report *report,
                      size_t at);

/* Iterates over the files of a container: start with all zeros. */
struct dti_inspect_shard {
    const struct dti_container_file *file;
    size_t number; /* bytes of its tensors */
    size_t tensors, end;
    uint64_t bytes; /* of its tensors */
};
const struct dti_inspect_shard *dti_inspect_next_shard(const struct dti_container *container,
                                                       struct dti_inspect_shard *shard);

/* The answer for several files. next returns them one by one, then NULL. */
struct dti_inspect_file {
    const char *path;
    const struct dti_inspect_report *report; /* NULL if there is an error */
    const struct dti_error *error;
    const char *message; /* the message with its remedy */
    size_t first, count; /* the selected tensors in this document */
    bool part;           /* the document has only these; other documents have the rest */
};
struct dti_inspect_answer {
    const struct dti_inspect_request *request;
    const struct dti_inspect_file *(*next)(void *context);
    void *context;
    const char *const *notes; /* on names of dtypes */
    size_t note_count;
    const struct dti_sink *out; /* stream for finished tensors of the document */
};
void dti_document_inspect(struct dti_json *json, const struct dti_inspect_answer *inspect);

#endif
