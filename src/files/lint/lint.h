/* SPDX-License-Identifier: MIT
 *
 * Finds what is wrong with a quantized checkpoint whose files are valid: bad scale values, parts
 * that do not fit together, a configuration that does not match. Loaders read most of this without
 * an error, but get other numbers. The rules are in lint_rules.def.
 *
 *     dti_lint_new()       checks names, dtypes, shapes and the configuration
 *     dti_lint_scales()    checks scales, zero points and padding, on several threads
 *     dti_lint_numbers()   checks dequantized numbers, for each tensor that dti_lint_wants()
 *     dti_lint_probe()     returns tensors to be read once more, until there are none
 *     dti_lint_findings()  all findings, sorted */
#ifndef FILES_LINT_LINT_H
#define FILES_LINT_LINT_H

#include "containers/container.h"
#include "files/dequant/fused_scales.h"
#include "files/lint_rule.h"
#include "files/scan/scan.h"
#include "files/stored/fused_modules.h"

struct dti_lint_row {
    const char *word, *about, *remedy;
};
extern const struct dti_lint_row dti_lint_rows[DTI_LINT_RULES];

/* What a program does when it loads a checkpoint that breaks a rule, from least to most severe. */
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
/* The worst known outcome over all programs. */
enum dti_lint_outcome dti_lint_worst(enum dti_lint_rule rule);

struct dti_lint_finding {
    enum dti_lint_rule rule;
    const char *tensor; /* NULL: not about a tensor; lives as long as the container */
    size_t tensor_length;
    const char *text; /* one line, safe for a terminal */
};

struct dti_lint;
/* For a container that dti_logical_open() opened with `lint`, which must outlive the result. only:
 * a list of patterns that select tensors, or NULL; own: a group of fused modules that the user
 * gives, or NULL. Fails with DTI_USAGE if nothing has two of its modules. This and the other
 * functions fail with DTI_NO_MEMORY and DTI_BAD_INPUT (a part cannot be read). */
enum dti_status dti_lint_new(struct dti_lint **ret, struct dti_container *container,
                             const char *only, const struct dti_fused_own *own,
                             struct dti_error *reterr);
void dti_lint_free(struct dti_lint *lint); /* NULL is allowed */

/* Number of quantized tensors examined, including unreadable ones. */
size_t dti_lint_tensors(const struct dti_lint *lint);
/* The nvfp4 matrices that loaders make of tensors with several tensor scales. */
const struct dti_fused_tally *dti_lint_tally(const struct dti_lint *lint);
/* The bytes that dti_lint_scales() reads. */
uint64_t dti_lint_scale_bytes(const struct dti_lint *lint);
enum dti_status dti_lint_scales(struct dti_lint *lint, const struct dti_scan_options *options,
                                struct dti_error *reterr);
/* Whether a tensor of the container is quantized and readable. */
bool dti_lint_wants(const struct dti_lint *lint, size_t tensor);
enum dti_status dti_lint_numbers(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                 struct dti_error *reterr);
/* The next tensors with zero scales; returns how many, 0: no more. Until the next call, their
 * numbers are the bare codes under zero scales, and 0 elsewhere; pass their statistics to
 * dti_lint_probed(). */
enum { DTI_LINT_PROBES = 64 };
size_t dti_lint_probe(struct dti_lint *lint, size_t ret_tensors[DTI_LINT_PROBES]);
enum dti_status dti_lint_probed(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                struct dti_error *reterr);

/* Sorted by rule, then by tensor name. */
const struct dti_lint_finding *dti_lint_findings(struct dti_lint *lint, size_t *ret_count);

#endif
