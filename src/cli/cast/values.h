/* SPDX-License-Identifier: MIT
 *
 * `cast` of values: numbers on the command line or one per line from standard input, each cast once
 * to every dtype and shown. */
#ifndef CLI_CAST_VALUES_H
#define CLI_CAST_VALUES_H

#include "answers/cast/cast.h"
#include "cli/shell/command.h"
#include "core/number/spell.h"
#include "requests/cast_job.h"

/* Options only for values. */
struct cast_value_args {
    uint64_t digits;
    bool digits_given, stacks;
    size_t threads; /* for standard input; 0 for one on each CPU */
};

/* Operands parsed as numbers, up to the first that is not one: the first operand distinguishes
 * values from files. */
struct cast_numbers {
    struct dti_cast_operand *list;
    size_t count;           /* number of operands read */
    struct dti_error error; /* the error of the next operand, if there is one */
};
enum dti_status dti_cast_numbers_read(struct cast_numbers *ret, char **operands, size_t count,
                                      struct dti_error *reterr);
void dti_cast_numbers_free(struct cast_numbers *numbers);

struct cast_values {
    const struct cast_value_args *args;
    const struct dti_command_context *cx;
    struct dti_json *json;   /* for documents */
    struct dti_buffer *text; /* for answers, in place of cx->out; or NULL */
    size_t threads;          /* for standard input; 0 for one on each CPU */
    struct dti_cast_job job; /* destinations, policies, warnings, device */
    bool single;             /* one operand on the command line: show a full answer */
    unsigned flags;          /* flags of everything cast so far */
    struct dti_cast_answer answer;
    struct dti_cast_results current; /* results of one operand, for the answer */
    bool headed;                     /* the writer holds the beginning of a document */
    struct dti_json_mark head;       /* with --jsonl: its end */
};

/* values.c: the whole cast. count: operands, the last of which names the dtypes. */
enum dti_status dti_cast_values(const struct dti_policy_args *policy,
                                const struct cast_value_args *args,
                                const struct dti_command_context *cx, char **operands, int count,
                                const struct cast_numbers *numbers, struct dti_error *reterr);

/* value_cast.c: casts an operand to every target, with --device checked by it, one result each.
 * Fails if it has no counterpart in a dtype given by name (not by `all`). */
enum dti_status dti_cast_operand_cast(struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      struct dti_cast_result *ret, struct dti_error *reterr);
/* Shows the results of an operand; with --json inside the document that is open. */
enum dti_status dti_cast_operand_show(struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      const struct dti_cast_result *results,
                                      struct dti_error *reterr);

/* Points the answer at these values, which may be new or a copy. */
void dti_cast_values_settle(struct cast_values *values);
/* Writes the finished document to the answer stream. */
enum dti_status dti_cast_write(const struct cast_values *values, struct dti_error *reterr);

/* Reports on --device on stderr, unless the answer on stdout does. */
void dti_cast_note_device(const struct cast_values *values);

/* value_stream.c: one value per line from standard input. */
enum dti_status dti_cast_stream(struct cast_values *values, struct dti_error *reterr);

/* value_human.c: writes the results of an operand for people; one result on a line; a text, with a
 * newline in place of its NUL, to the answer stream. */
enum dti_status dti_cast_human(const struct cast_values *values,
                               const struct dti_cast_operand *operand,
                               const struct dti_cast_result *results, struct dti_error *reterr);
void dti_cast_human_line(const struct cast_values *values, const struct dti_cast_operand *operand,
                         const struct dti_cast_result *result);
void dti_cast_put_text(const struct cast_values *values, char *text, size_t length);

#endif
