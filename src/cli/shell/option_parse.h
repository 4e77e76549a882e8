/* SPDX-License-Identifier: MIT
 *
 * The parser of command lines, whose options are rows. */
#ifndef CLI_SHELL_OPTION_PARSE_H
#define CLI_SHELL_OPTION_PARSE_H

#include "requests/option.h"

/* Parses argv[0..count-1] (program and command names already taken off) against `options` and
 * `globals`; either may be NULL, as args and global_args then may. Options and operands may be
 * mixed; "--" ends the options; "--name=value", "-n value", "-nvalue" and joined flags "-qv" work;
 * a unique prefix of a long option does NOT (scripts would break when an option is added). A
 * negative number is an operand: '-' followed by a digit, '.', "inf" or "nan" in any case. "-" is
 * an operand. Writes option values into args and global_args, and the operands, in order, to the
 * front of argv; *ret_operands is their number. Fails with DTI_UNKNOWN_OPTION (with the nearest
 * name) or DTI_USAGE. The flag with the long name "help" sets *ret_help and ends the parsing.
 */
enum dti_help { DTI_HELP_NONE, DTI_HELP_SHORT, DTI_HELP_FULL }; /* none, -h, --help */
enum dti_status dti_options_parse(const struct dti_option *options, void *args,
                                  const struct dti_option *globals, void *global_args, char **argv,
                                  int count, int *ret_operands, enum dti_help *ret_help,
                                  struct dti_error *reterr);

/* For code that reads a command line without parsing it (completion, the search for the command).
 * */
bool dti_is_option_word(const char *word); /* "-x", "--", "--x"; not "-", not "-1.5" */

/* The option, if the word is one whose value must be the next word; else NULL. */
bool dti_option_awaits_value(const struct dti_option *options, const struct dti_option *globals,
                             const char *word, const struct dti_option **ret_option);

#endif
