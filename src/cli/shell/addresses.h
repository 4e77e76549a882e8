/* SPDX-License-Identifier: MIT
 *
 * Addresses in the words of a command line. */
#ifndef CLI_SHELL_ADDRESSES_H
#define CLI_SHELL_ADDRESSES_H

#include "dtinfo/error.h"

/* Cuts the query off a word that is an address, or an option with one after '=', and off quoted
 * addresses in an expression, and keeps it for when that address is opened: it may be a signature
 * that nobody else is to see. Before any thread is started. Fails with DTI_USAGE where another
 * address differed in its query alone, or where it has a user name. */
enum dti_status dti_addresses_take_query(char *word, struct dti_error *reterr);

#endif
