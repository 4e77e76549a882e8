/* SPDX-License-Identifier: MIT
 *
 * The two ways to show people what bits stand for: one reading in full, several in a table. */
#ifndef DTINFO_CLI_BITS_HUMAN_H
#define DTINFO_CLI_BITS_HUMAN_H

#include "answers/bits.h"
#include "cli/shell/command.h"

void dti_bits_human_one(const struct dti_context *cx, const struct dti_bits_reading *reading);
enum dti_status dti_bits_human_table(const struct dti_context *cx, unsigned width,
                                     const struct dti_bits_answer *bits, struct dti_error *reterr);

#endif
