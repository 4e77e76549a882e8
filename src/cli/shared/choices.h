/* SPDX-License-Identifier: MIT
 *
 * The named policies as choice tables: options, help, completion, error messages and JSON spell
 * them from here. */
#ifndef DTINFO_CLI_CHOICES_H
#define DTINFO_CLI_CHOICES_H

#include "cli/shell/option.h"

extern const struct dti_choice dti_choice_round[];    /* enum dti_round */
extern const struct dti_choice dti_choice_overflow[]; /* enum dti_overflow */
extern const struct dti_choice dti_choice_nan[];      /* enum dti_nan */
extern const struct dti_choice dti_choice_stack[];    /* enum dti_stack */
extern const struct dti_choice dti_choice_packing[];  /* enum dti_packing */
extern const struct dti_choice dti_choice_endian[];   /* enum dti_endian */
extern const struct dti_choice dti_choice_fail_on[];  /* enum dti_flag, a set */
extern const struct dti_choice dti_choice_progress[]; /* enum dti_progress_when */

/* The name of a value in a table; the value must be in it. */
const char *dti_choice_name(const struct dti_choice *table, int value);

#endif
