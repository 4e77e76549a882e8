/* SPDX-License-Identifier: MIT
 *
 * What is wrong with a quantized checkpoint though its files are valid: values of scales, parts
 * that do not fit each other, a configuration that means something else. Loaders read most of that
 * without an error, and the numbers are others. Rules are those of lint_rules.def.
 *
 *     dti_lint_new()       what names, dtypes, shapes and the configuration show
 *     dti_lint_scales()    scales, zero points and padding, by threads
 *     dti_lint_numbers()   for each tensor of which dti_lint_wants(): its dequantized numbers
 *     dti_lint_probe()     as long as there are any: tensors to be read once more
 *     dti_lint_findings()  all of them, sorted */
#ifndef FILES_LINT_LINT_H
#define FILES_LINT_LINT_H

#include "containers/container.h"
#include "files/lint_rule.h"
#include "files/scan/scan.h"

struct dti_lint_row {
    const char *word, *about, *remedy;
};
extern const struct dti_lint_row dti_lint_rows[DTI_LINT_RULES];

/* What a program does that loads a checkpoint which breaks a rule, from the least bad on. */
enum dti_lint_outcome {
    DTI_LINT_UNKNOWN,
    DTI_LINT_NONE,
    DTI_LINT_SLOW,
    DTI_LINT_REFUSE,
    DTI_LINT_MISREAD,
    DTI_LINT_OUTCOMES
};
struct dti_lint_effect {
    enum dti_lint_rule rule;
    const char *loader;
    enum dti_lint_outcome outcome;
    const char *about, *source;
};
extern const struct dti_lint_effect dti_lint_effects[];
extern const size_t dti_lint_effect_count;
extern const char *const dti_lint_outcomes[DTI_LINT_OUTCOMES];
/* The worst that is known of any program. */
enum dti_lint_outcome dti_lint_worst(enum dti_lint_rule rule);

struct dti_lint_finding {
    enum dti_lint_rule rule;
    const char *tensor; /* NULL: it is about none; lives as long as the container */
    size_t tensor_length;
    const char *text; /* one line, safe for a terminal */
};

struct dti_lint;
/* Of a container that dti_logical_open() opened with `lint`, and that must live longer; only: a
 * list of patterns of the tensors to look at, or NULL. Fails with DTI_NO_MEMORY and DTI_BAD_INPUT
 * (a part cannot be read), as do the others. */
enum dti_status dti_lint_new(struct dti_lint **ret, struct dti_container *container,
                             const char *only, struct dti_error *reterr);
void dti_lint_free(struct dti_lint *lint); /* NULL is fine */

/* Quantized tensors that were looked at, those that cannot be read included. */
size_t dti_lint_tensors(const struct dti_lint *lint);
/* The bytes that dti_lint_scales() reads. */
uint64_t dti_lint_scale_bytes(const struct dti_lint *lint);
enum dti_status dti_lint_scales(struct dti_lint *lint, const struct dti_scan_options *options,
                                struct dti_error *reterr);
/* Whether a tensor of the container is quantized and can be read. */
bool dti_lint_wants(const struct dti_lint *lint, size_t tensor);
enum dti_status dti_lint_numbers(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                 struct dti_error *reterr);
/* The next tensor with scales of 0; false: there is no more. Until the next call its numbers are
 * what codes are under these scales, and 0 elsewhere: dti_lint_probed() takes their statistics. */
bool dti_lint_probe(struct dti_lint *lint, size_t *ret_tensor);
enum dti_status dti_lint_probed(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                struct dti_error *reterr);

/* By rules, then by the names of tensors. */
const struct dti_lint_finding *dti_lint_findings(struct dti_lint *lint, size_t *ret_count);

#endif
