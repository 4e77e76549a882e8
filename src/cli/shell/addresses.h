/* SPDX-License-Identifier: MIT
 *
 * Addresses in the words of a command line. */
#ifndef CLI_SHELL_ADDRESSES_H
#define CLI_SHELL_ADDRESSES_H

#include "util/error.h"

/* Strips the query from a word that is an address, from an address after the '=' of an option, and
 * from quoted addresses in an expression. Keeps it until that address is opened: it may be a
 * signature that must stay secret. Call before any thread starts. Fails with DTI_USAGE if another
 * address differs only in its query, or if one has a user name. */
enum dti_status dti_addresses_take_query(char *word, struct dti_error *reterr);

#endif
