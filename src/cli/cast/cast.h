/* SPDX-License-Identifier: MIT
 *
 * The parts of the cast command: what was asked for (a job), one number read from text (an
 * operand), what became of it in one dtype (a result), and the three ways to show that. */
#ifndef DTINFO_CLI_CAST_H
#define DTINFO_CLI_CAST_H

#include "cli/cast/cast_device.h"
#include "cli/shell/command.h"
#include "dtinfo/json.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"
#include "dtinfo/stack.h"

struct cast_args {
    const char *via;
    int round, overflow, nan, like, fail_on;
    uint64_t seed, digits;
    bool round_given, overflow_given, nan_given, like_given, seed_given, digits_given;
    bool stacks;
    /* arrays only: see cast_array.h */
    const char *from, *input, *output;
    int as, packing, from_packing, endian;
    const char *threads; /* a number, or "all" */
    uint64_t count;
    bool as_given, packing_given, from_packing_given, endian_given, count_given;
    bool force, report;
    /* files of tensors: see cast_file.h */
    const char *shape, *assume, *only, *keep, *select, *max_memory;
    int progress; /* enum cast_progress */
    bool progress_given;
    bool ints, dry_run, lenient;
    const char *device; /* see cast_device.h */
};

/* A destination: for complex dtypes the cast is that of one component. */
struct cast_target {
    struct dti_format dtype;
    struct dti_cast cast;
    const struct dti_stack_rule *rule;      /* --like, else NULL */
    bool named;                             /* not one of `all` */
    struct dti_cross_check *cross_check[2]; /* of each component, once it was asked */
};

struct cast_result;
struct cast_warning;

struct cast_job {
    const struct cast_args *args;
    const struct dti_context *cx;
    struct cast_target *targets;
    size_t target_count;
    size_t via_count;
    struct dti_format via[DTI_VIA_MAX];
    bool open;                   /* a JSON document is begun */
    bool single;                 /* one operand on the command line: worth a full answer */
    struct cast_result *results; /* of the current operand, one a target */
    struct dti_json *json;
    struct cast_warning *warnings; /* JSON: what a person is told on the side */
    size_t warning_count, warning_total;
    unsigned flags; /* of everything cast so far */
    struct cast_device device;
};

enum { CAST_WARNINGS_MAX = 100 };

struct cast_warning {
    const char *code;
    char dtype[DTI_NAME_SIZE]; /* "" for none */
    uint64_t line;             /* of standard input; 0 for none */
    char message[320];
};

/* A number as given: a real has one component, "1+2j" has two. */
struct cast_operand {
    const char *text;
    size_t length;
    uint64_t index;       /* place among the operands or lines, from 0 */
    bool integer_literal; /* written as an integer: frameworks take it as int64 */
    size_t components;
    struct dti_number number[2];
    struct dti_value value[2];
};

struct cast_result {
    const struct cast_target *target;
    bool no_code;          /* a NaN without a code, in one of `all`: nothing is stored */
    bool known;            /* false: the stack's answer is not known */
    const char *note;      /* the stack's note, or NULL */
    struct dti_cast route; /* the stages actually taken */
    size_t components;
    struct dti_scalar component[2];
    const char *device;        /* "cuda:0" when it agrees, "cpu" when it was not asked */
    const char *device_reason; /* why it was not, or NULL */
};

/* cast_operand.c */
enum dti_status dti_cast_operand_parse(struct cast_operand *ret, const char *text, size_t length,
                                       uint64_t index, struct dti_error *reterr);
void dti_cast_operand_free(struct cast_operand *operand);

/* cast_job.c: from the options and the dtype operand ("bf16", "fp16,bf16", "all"). */
enum dti_status dti_cast_job_init(struct cast_job *ret, const struct cast_args *args,
                                  const struct dti_context *cx, const char *dtypes,
                                  struct dti_error *reterr);
void dti_cast_job_free(struct cast_job *job);
/* Fails when the operand has no counterpart in a dtype that was named (not in `all`). */
enum dti_status dti_cast_job_run(struct cast_job *job, const struct cast_target *target,
                                 const struct cast_operand *operand, struct cast_result *ret,
                                 struct dti_error *reterr);

/* What a stack stores; ret->target, route and components are filled. */
void dti_cast_by_rule(const struct dti_stack_rule *rule, const struct cast_operand *operand,
                      struct cast_result *ret);

/* Text of what was stored: "70144", or "1+2j" for complex dtypes; "-" when unknown. */
enum { CAST_TEXT_SIZE = 2 * DTI_TEXT_SIZE + 4 };
const char *dti_cast_result_text(const struct cast_result *result, char buffer[CAST_TEXT_SIZE]);
const char *dti_cast_result_bits(const struct cast_result *result, char buffer[CAST_TEXT_SIZE]);

/* What --overflow saturate would store instead; false when it makes no difference. */
bool dti_cast_result_saturated(const struct cast_result *result, const struct cast_operand *operand,
                               char ret_text[DTI_TEXT_SIZE]);

/* cast_human.c: the full answer, a ladder of dtypes, one line. */
enum dti_status dti_cast_human_full(const struct cast_job *job, const struct cast_operand *operand,
                                    const struct cast_result *result, struct dti_error *reterr);
enum dti_status dti_cast_human_ladder(const struct cast_job *job,
                                      const struct cast_operand *operand,
                                      const struct cast_result *results, struct dti_error *reterr);
void dti_cast_human_line(const struct cast_job *job, const struct cast_operand *operand,
                         const struct cast_result *result);
/* cast_digits.c: --digits */
enum dti_status dti_cast_digits_append(struct dti_buffer *buffer, const struct cast_result *result,
                                       size_t decimals);
enum dti_status dti_cast_human_digits(const struct cast_job *job, const struct cast_result *results,
                                      struct dti_error *reterr);

/* cast_stacks.c: --stacks */
enum dti_status dti_cast_human_stacks(const struct cast_job *job,
                                      const struct cast_operand *operand,
                                      const struct cast_result *result, struct dti_error *reterr);
void dti_cast_json_stacks(const struct cast_job *job, const struct cast_operand *operand,
                          const struct cast_result *result);

/* cast_json.c: a document is begun, gets one result after another, and is ended and written. Hints
 * are kept for its "warnings". */
void dti_cast_json_begin(struct cast_job *job);
/* The member "options"; with --like the policies are null. */
void dti_cast_json_options(const struct cast_job *job, const struct dti_policy *policy);
/* Writes the document's "warnings" and the document. */
enum dti_status dti_cast_json_close(struct cast_job *job, struct dti_error *reterr);
enum dti_status dti_cast_json_result(const struct cast_job *job, const struct cast_operand *operand,
                                     const struct cast_result *result, struct dti_error *reterr);
void dti_cast_json_hints(struct cast_job *job, const struct cast_operand *operand);
void dti_cast_json_warn(struct cast_job *job, const char *code, const char *dtype, uint64_t line,
                        const char *message);
enum dti_status dti_cast_json_end(struct cast_job *job, struct dti_error *reterr);

/* cmd_cast.c: casts one operand to every target and shows it. */
enum dti_status dti_cast_operand_show(struct cast_job *job, const struct cast_operand *operand,
                                      struct dti_error *reterr);

/* cast_stream.c: one value a line from standard input. */
enum dti_status dti_cast_stream(struct cast_job *job, struct dti_error *reterr);

#endif
