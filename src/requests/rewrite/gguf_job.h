/* SPDX-License-Identifier: MIT
 *
 * What a new GGUF file says of its model, and how its tensors are called: from --set and
 * --set-from, from a template, from config.json. The one place that decides it, for all commands.
 */
#ifndef REQUESTS_REWRITE_GGUF_JOB_H
#define REQUESTS_REWRITE_GGUF_JOB_H

#include "files/model/model_view.h"
#include "requests/option.h"

struct dti_rewrite_job;

struct dti_gguf_job {
    struct dti_gguf_edits stated; /* --set-from, then --set */
    struct dti_gguf_edits all;    /* with what config.json and the tensors say, in rising order */
    struct dti_model_config config;
    struct dti_model_keys keys;
    struct dti_container *given; /* the template with what is stated */
    struct dti_container *pairs; /* of the new file; NULL: those of the input or the template */
    struct dti_model_view *view; /* NULL: the tensors keep names, shapes and numbers */
    uint32_t *places;            /* of the template's order in the container */
};

/* gguf_set.c: reads --set (KEY=VALUE or KEY:TYPE=VALUE each) and --set-from. edits: initialized by
 * the caller. Fails with DTI_USAGE, or DTI_BAD_INPUT for the file. */
enum dti_status dti_gguf_settings(struct dti_gguf_edits *edits, const struct dti_option_list *set,
                                  const char *set_from, struct dti_error *reterr);

/* Completes the request: model, places and view. *seen: the container to be rewritten; a view of it
 * takes its place. If the output is no GGUF file, only checks that no option asks for one. Free the
 * job in any case. */
enum dti_status dti_gguf_job_apply(struct dti_rewrite_job *job, struct dti_container **seen,
                                   struct dti_error *reterr);
void dti_gguf_job_free(struct dti_gguf_job *gguf); /* a zeroed struct is fine */

#endif
