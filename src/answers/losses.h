/* SPDX-License-Identifier: MIT
 *
 * For rows: what a cast lost, the object `loss` of answers on arrays and on files. */
#ifndef DTINFO_ANSWERS_LOSSES_H
#define DTINFO_ANSWERS_LOSSES_H

#include "dtinfo/json.h"
#include "dtinfo/loss_summary.h"

extern const struct dti_object dti_object_loss;

void dti_put_loss(struct dti_json *json, const char *key, const struct dti_loss_summary *loss);

#endif
