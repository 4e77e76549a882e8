/* SPDX-License-Identifier: MIT
 *
 * What both ways to choose require of a set. */
#ifndef FILES_ADVISE_CHOOSE_SET_H
#define FILES_ADVISE_CHOOSE_SET_H

#include "files/advise/choose.h"

/* Whether a set is what choose.h says; and the bytes of its smallest choices. */
enum dti_status dti_choice_set_look(const struct dti_choice_set *set, uint64_t *ret_least,
                                    struct dti_error *reterr);

#endif
