/* SPDX-License-Identifier: MIT
 *
 * --field and -q of commands that answer with records: the requested members of the JSON document,
 * one line of text per record. They are read from the document itself, so a member has one name and
 * one spelling. */
#ifndef CLI_ASK_ANSWER_FIELDS_H
#define CLI_ASK_ANSWER_FIELDS_H

#include "cli/shell/command.h"

#define DTI_ROW_FIELD(args, field, list)                                        \
    OPT_TEXT(0, "field", args, field, "NAME,...",                               \
             "print only these members of the JSON answer, one line per dtype", \
             DTI_MORE(.records = list))

/* The fields to print: those of --field; with -q those named by the last operand, if there are
 * several operands and it is not a dtype (it is then removed from *count), else `bare`; NULL for
 * the usual answer. Fails with DTI_USAGE for --field with --json. */
enum dti_status dti_fields_wanted(const struct dti_command_context *cx, const char *field,
                                  const char *bare, char **operands, int *count,
                                  const char **ret_fields, struct dti_error *reterr);

/* Prints members of the document in cx->json: of each element of its array `records` those of a
 * list such as "max,eps" or "max.bits", separated by tabs. A number in all its spellings is its
 * "text", null is "-". Fails with DTI_USAGE for a member that no record has. */
enum dti_status dti_fields_print(const struct dti_command_context *cx, const char *records,
                                 const char *fields, struct dti_error *reterr);

#endif
