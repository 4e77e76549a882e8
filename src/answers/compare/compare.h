/* SPDX-License-Identifier: MIT
 *
 * The differences between the numbers of two files: tensors are paired by name, and each pair has a
 * result. */
#ifndef ANSWERS_COMPARE_COMPARE_H
#define ANSWERS_COMPARE_COMPARE_H

#include "answers/reading.h"
#include "files/dequant/logical_tensors.h"
#include "report/json.h"
#include "util/sink.h"

enum dti_compare_way {
    DTI_COMPARE_NUMBERS, /* figures are filled */
    DTI_COMPARE_BYTES,   /* values are unreadable but types match: compared byte by byte */
    DTI_COMPARE_NEVER,   /* incompatible shapes or types: dti_compare_reason() returns why */
    DTI_COMPARE_ONLY_A,
    DTI_COMPARE_ONLY_B,
};

/* Outcomes of pairs, in order of increasing difference. */
enum dti_compare_outcome {
    DTI_COMPARE_EQUAL,
    DTI_COMPARE_WITHIN,     /* numbers differ, but not beyond the tolerance */
    DTI_COMPARE_UNREADABLE, /* values cannot be read, so the outcome is unknown */
    DTI_COMPARE_DIFFERS,
    DTI_COMPARE_IGNORED, /* on one side only, with ignore_missing */
    DTI_COMPARE_OUTCOMES
};

/* The members of struct dti_comparison, which is large, that are kept. */
struct dti_compare_figures {
    uint64_t elements, differing, unmatched, exceeding, compared;
    double max_absolute, mean_absolute, root_mean_square, max_relative, sqnr_db, nmse, cosine;
    double max_ulp;     /* NaN if ulps do not apply */
    uint64_t max_index; /* UINT64_MAX when nothing differs */
    uint64_t first_differing, first_unmatched;
    bool identical;
};

struct dti_compare_result {
    size_t a, b; /* tensor indices; unset for a side that lacks the tensor */
    enum dti_compare_way way;
    enum dti_compare_outcome outcome;
    uint64_t first_byte; /* DTI_COMPARE_BYTES: the first difference; UINT64_MAX if there is none */
    struct dti_compare_figures figures; /* DTI_COMPARE_NUMBERS */
    /* By the map of models: how the numbers of the checkpoint and of the GGUF were brought into
     * line, for so many heads (0: rows keep their order); or why they cannot be, else NULL. */
    struct dti_scan_change change_a, change_b;
    uint64_t heads;
    const char *why;
};

/* What the map did: tensors of either file with another name, and pairs. */
struct dti_compare_mapped {
    size_t renamed, reordered, plus_one;
};

/* A tolerance; 0 if none is given. */
struct dti_compare_bound {
    bool given;
    double most;
};

/* The request, then the results. Free it after use. */
struct dti_compare {
    struct dti_container *a, *b;
    struct dti_compare_bound atol, rtol, max_ulp;
    bool bitwise, ignore_missing;
    struct dti_logical_options options; /* how the files are opened */
    dti_remedy_words_fn *words;         /* adds remedies to messages of file readers */
    const char *only;                   /* names of tensors, or NULL */
    const char *map; /* DTI_COMPARE_HF_GGUF, a file of rules (renames.h), or NULL */
    struct dti_reading reading;
    const char *const *notes; /* on names of dtypes */
    size_t note_count;
    const struct dti_sink *out; /* receives finished tensors of the document */

    bool unlisted; /* the document lists no pairs; other documents have them */

    struct dti_compare_map *mapping; /* with a map */
    struct dti_compare_mapped mapped;
    /* in the order of a, then those only in b */
    struct dti_compare_result *results;
    size_t result_count;
    size_t tensors[DTI_COMPARE_OUTCOMES]; /* number of results per outcome */
    size_t ways[DTI_COMPARE_ONLY_B + 1];  /* number of results per way */
    enum dti_compare_outcome outcome;     /* the worst outcome that is not ignored */
    /* over all pairs compared as numbers */
    struct dti_compare_figures total;
    size_t total_count, max_result, ulp_result; /* results with the largest; SIZE_MAX for none */
};

/* The map of a checkpoint and its GGUF, by files/model. */
#define DTI_COMPARE_HF_GGUF "hf-gguf"

/* Pairs the tensors; no pairs if `only` matches none. Fails with DTI_NO_MEMORY; with DTI_BAD_INPUT
 * for parts that do not fit, and as dti_compare_map_new() does. */
enum dti_status dti_compare_pair(struct dti_compare *compare, struct dti_error *reterr);
/* Reads and judges the pairs. */
enum dti_status dti_compare_run(struct dti_compare *compare, struct dti_error *reterr);
void dti_compare_free(struct dti_compare *compare);

/* The tensor that names a result; the reason for a result. */
const struct dti_tensor *dti_compare_tensor(const struct dti_compare *compare,
                                            const struct dti_compare_result *result);
enum { DTI_COMPARE_REASON = DTI_SCAN_WHY_SIZE + 96 };
const char *dti_compare_reason(char buffer[DTI_COMPARE_REASON], const struct dti_compare *compare,
                               const struct dti_compare_result *result);

/* A comparison of a single pair, for a document of its own; do not free it. */
struct dti_compare dti_compare_of_one(const struct dti_compare *compare, size_t result);
void dti_document_compare(struct dti_json *json, const struct dti_compare *compare);

#endif
