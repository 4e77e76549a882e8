/* SPDX-License-Identifier: MIT
 *
 * What `advise` is asked, and its work: measure, choose, say what would be written. */
#ifndef REQUESTS_ADVISE_ADVISE_ARGS_H
#define REQUESTS_ADVISE_ADVISE_ARGS_H

#include "answers/advise/advise.h"
#include "requests/rewrite/rewrite_job.h"

struct advise_args {
    struct dti_transfer_args transfer; /* output: of the plan */
    const char *form;                  /* of the plan, or NULL */
    const char *fit, *menu, *weights, *keep, *measurements, *max_memory;
    const char *svg; /* where the picture is written; or NULL */
    int loader;
    bool loader_given;
};
extern const struct dti_option dti_advise_options[];

/* advise_measure.c: fills the measurements: from their file, else by a pass over the input for each
 * format of the menu. The loader and the formats are set. container: the input. pass: as in a
 * front, or NULL. save: writes the file of measurements, or NULL. */
struct dti_advise_work {
    const struct advise_args *args;
    const struct dti_asker *asker;
    const struct dti_advise_row *row;
    const struct dti_container *container;
    bool tied; /* config.json ties embeddings, and the loader then takes no output layer */
    struct dti_command_context *cx; /* of pass, or NULL */
    enum dti_status (*pass)(struct dti_rewrite_job *job, struct dti_rewrite_options *options,
                            struct dti_error *reterr);
    enum dti_status (*save)(const struct dti_advise_work *work, const struct dti_measured *measured,
                            struct dti_error *reterr);
};
enum dti_status dti_advise_measure(const struct dti_advise_work *work, struct dti_advise *advise,
                                   struct dti_error *reterr);
/* The bytes of the new file, and of its tensors, if the plan is executed. Fails as `quant` does. */
enum dti_status dti_advise_size(const struct dti_advise_work *work, struct dti_advise *advise,
                                struct dti_error *reterr);

/* advise_weights.c: the weight of each tensor's error. */
enum dti_status dti_advise_weigh(struct dti_measured *measured, const char *path,
                                 struct dti_error *reterr);
/* advise_exllamav3.c: from a measurement.json. */
enum dti_status dti_advise_weigh_exllamav3(struct dti_measured *measured, const char *path,
                                           struct dti_error *reterr);
/* advise_scores.c: from the search state of ModelOpt's auto_quantize(). */
enum dti_status dti_advise_weigh_scores(struct dti_measured *measured, const char *path,
                                        struct dti_error *reterr);

/* advise_request.c: all of it. Free the answer in any case. Returns DTI_ANSWER_NO with the error's
 * text if nothing fits. */
enum dti_status dti_advise_run(struct dti_advise *ret, struct dti_advise_work *work,
                               const char *path, struct dti_error *reterr);

#endif
