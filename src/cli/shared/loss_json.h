/* SPDX-License-Identifier: MIT
 *
 * What a cast lost, as the answers on arrays and on files have it in JSON. */
#ifndef DTINFO_CLI_LOSS_JSON_H
#define DTINFO_CLI_LOSS_JSON_H

#include "dtinfo/json.h"
#include "dtinfo/loss_summary.h"

/* The object `loss` of the schemas, but without the number of elements. */
enum dti_status dti_loss_json(struct dti_json *json, const char *key,
                              const struct dti_loss_summary *loss, struct dti_error *reterr);

#endif
