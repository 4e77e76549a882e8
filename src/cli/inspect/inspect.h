/* SPDX-License-Identifier: MIT
 *
 * The parts of the inspect command: what is asked for, what is found out about one file (a report),
 * and the ways to show that. */
#ifndef DTINFO_CLI_INSPECT_H
#define DTINFO_CLI_INSPECT_H

#include <regex.h>

#include "cli/shared/file_source.h"
#include "dtinfo/escape.h"
#include "dtinfo/file_digest.h"
#include "dtinfo/scaled_codes.h"
#include "dtinfo/table.h"

enum inspect_sort {
    INSPECT_SORT_FILE,
    INSPECT_SORT_NAME,
    INSPECT_SORT_SIZE,
    INSPECT_SORT_DTYPE,
    INSPECT_SORT_OFFSET,
    INSPECT_SORT_ELEMENTS,
};

extern const struct dti_choice dti_inspect_sorts[];

struct inspect_args {
    struct dti_file_args file;
    const char *grep, *only;
    int sort;
    bool sort_given, reverse, tree, stats, histogram, each, metadata, digest;
};

/* Tensors of one dtype. */
struct inspect_group {
    const char *dtype;
    size_t tensors;
    uint64_t elements, bytes;
};

/* "as fp32 1000 MiB": what the file's numbers would take in another dtype. */
enum { INSPECT_AS = 4 };
extern const char *const dti_inspect_as[INSPECT_AS];

struct inspect_totals {
    uint64_t elements, bytes; /* of the tensors shown */
    uint64_t parameters;      /* elements of floats and of blocks of them */
    uint64_t others;          /* elements of integers and of what cannot be read */
    uint64_t unread;          /* of these, those without a dtype */
    uint64_t data_bytes;      /* of all tensors, shown or not */
    uint64_t file_bytes, header_bytes;
    uint64_t as[INSPECT_AS]; /* bytes; UINT64_MAX: more than 64 bits tell */
    size_t group_count;
    struct inspect_group *groups; /* the largest first */
};

/* The dtypes that "fits" looks at, in rising width. */
enum { INSPECT_LADDER = 9 };
extern const enum dti_dtype dti_inspect_ladder[INSPECT_LADDER];

/* A histogram without its empty ends. */
struct inspect_histogram {
    unsigned first, count; /* index of the first binade (see struct dti_histogram), and how many */
    uint64_t *binade;
    uint64_t overflow[DTI_STATS_RANGES], to_zero[DTI_STATS_RANGES], to_subnormal[DTI_STATS_RANGES];
};

/* An extreme: the number, the tensor that has it, where it is. */
struct inspect_extreme {
    struct dti_value value;
    const struct dti_tensor *tensor;
    uint64_t index;
};

/* The statistics of a tensor, or of all. */
struct inspect_figures {
    bool there; /* false for a tensor that cannot be read */
    uint64_t elements, nan, inf, negative_inf, zeros, negative, subnormals, finite;
    uint64_t first_nan, first_inf;
    struct inspect_extreme min, max, absmax; /* finite > 0 */
    double mean, deviation;
    unsigned fits; /* a bit for each dtype of the ladder */
    struct inspect_histogram histogram;
};

struct inspect_report {
    const struct inspect_args *args;
    const struct dti_context *cx;
    struct dti_container *container;
    const struct dti_tensor **shown; /* those that were asked for, in the order asked for */
    size_t shown_count;
    struct inspect_totals totals;
    struct inspect_figures *figures; /* of each shown, or NULL */
    struct inspect_figures all;
    struct dti_digest *digests; /* of each file, or NULL */
    struct dti_scaled_codes scaled;
    size_t unread; /* shown tensors whose values cannot be read */
};

/* Whether a tensor's values can be read. */
bool dti_inspect_is_read(const struct dti_tensor *tensor);
/* The dtype of its elements; of complex ones that of the parts. */
const struct dti_format *dti_inspect_part(const struct dti_tensor *tensor);
/* Whether its elements have more than one byte; then, whether the highest comes first. */
bool dti_inspect_has_byte_order(const struct dti_tensor *tensor, bool *ret_big);

/* inspect_select.c: which tensors, in which order. grep may be NULL. */
enum dti_status dti_inspect_select(struct inspect_report *report, const regex_t *grep,
                                   struct dti_error *reterr);

/* inspect_totals.c */
enum dti_status dti_inspect_sum(struct inspect_report *report, struct dti_error *reterr);

/* inspect_scan.c: fills figures and all. */
enum dti_status dti_inspect_scan(struct inspect_report *report, struct dti_reading *reading,
                                 struct dti_error *reterr);
/* The dtypes of the least width that holds them all, "fp8_e4m3fn, fp8_e5m2"; "-" for none. */
enum { INSPECT_FITS_SIZE = 64 };
const char *dti_inspect_fits(char buffer[INSPECT_FITS_SIZE], const struct inspect_figures *figures,
                             const char *separator);

/* inspect_human.c and what it calls: inspect_tables.c, inspect_tree.c, inspect_histogram.c */
enum dti_status dti_inspect_human(const struct inspect_report *report, struct dti_error *reterr);
enum dti_status dti_inspect_list(const struct inspect_report *report, struct dti_error *reterr);
enum dti_status dti_inspect_stats_table(const struct inspect_report *report,
                                        struct dti_error *reterr);
enum dti_status dti_inspect_tree(const struct inspect_report *report, struct dti_error *reterr);
/* title: "layers.0.weight: "; "" for the file. */
enum dti_status dti_inspect_draw(const struct inspect_report *report,
                                 const struct inspect_figures *figures, const char *title,
                                 struct dti_error *reterr);
/* A name or another text of the file, safe for a terminal. Each call replaces the text before;
 * failed stays once memory ran out. */
struct inspect_text {
    struct dti_buffer buffer;
    bool failed;
};
char *dti_inspect_safe(struct inspect_text *text, const char *bytes, size_t length);

/* inspect_json.c: an element of "files", or the one that takes its place. */
enum dti_status dti_inspect_json(const struct inspect_report *report, struct dti_json *json,
                                 struct dti_error *reterr);
enum dti_status dti_inspect_json_failure(struct dti_json *json, const char *path,
                                         const struct dti_error *error, struct dti_error *reterr);
void dti_inspect_json_options(struct dti_json *json, const struct inspect_args *args);
/* inspect_json_stats.c */
enum dti_status dti_inspect_json_stats(struct dti_json *json, const char *key,
                                       const struct inspect_figures *figures,
                                       const struct dti_tensor *tensor, struct dti_error *reterr);
void dti_inspect_json_histogram(struct dti_json *json, const char *key,
                                const struct inspect_figures *figures);

#endif
