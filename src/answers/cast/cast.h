/* SPDX-License-Identifier: MIT
 *
 * Casts of numbers: a number read from text (an operand), its destination (a target), what is
 * stored (a result), and the answer of `cast`. */
#ifndef ANSWERS_CAST_CAST_H
#define ANSWERS_CAST_CAST_H

#include "answers/common.h"
#include "convert/cross_check.h"
#include "convert/runner.h"
#include "core/code/stack.h"

/* A number as given: a real has one component, "1+2j" has two. */
struct dti_cast_operand {
    const char *text;
    size_t length;
    uint64_t index;       /* position among the operands or lines, from 0 */
    bool integer_literal; /* written as an integer: frameworks take it as int64 */
    size_t components;
    struct dti_number number[2];
    struct dti_value value[2];
};
/* *ret points to the text. Free it on success. Fails as dti_number_parse() does. */
enum dti_status dti_cast_operand_parse(struct dti_cast_operand *ret, const char *text,
                                       size_t length, uint64_t index, struct dti_error *reterr);
void dti_cast_operand_free(struct dti_cast_operand *operand);

/* A destination; for complex dtypes the cast applies to one component. */
struct dti_cast_target {
    struct dti_format dtype;
    struct dti_cast cast;
    const struct dti_stack_rule *rule;      /* the stack to follow, or NULL */
    bool named;                             /* given by name, not by `all` */
    struct dti_cross_check *cross_check[2]; /* per component, created on first use */
};

struct dti_cast_result {
    const struct dti_cast_target *target;
    bool no_code;     /* a NaN without a code, treated as an error: nothing is stored */
    bool known;       /* false: the stack's result is unknown */
    const char *note; /* the stack's note, or why its result is unknown; or NULL */
    size_t components;
    unsigned flags; /* over all components */
    struct dti_scalar component[2];
    struct dti_cast by_rule;   /* the stages taken by the stack */
    const char *device;        /* "cuda:0" if it agrees, "cpu" if it was not used */
    const char *device_reason; /* why it was not used, or NULL */
};

/* Casts a number. It may have an imaginary part only if the target does. refuses: a NaN for which a
 * dtype on the route has no code is not stored, unless the policies define a substitute. Does not
 * use the device. */
void dti_cast_value(const struct dti_cast_target *target, const struct dti_cast_operand *operand,
                    bool refuses, struct dti_cast_result *ret);

/* The stages of the cast. */
static inline const struct dti_cast *dti_cast_route(const struct dti_cast_result *result)
{
    return result->target->rule ? &result->by_rule : &result->target->cast;
}

/* What a stack stores in the same dtype: fills *target and *ret. False if the stack has no such
 * dtype or its behaviour is unknown. */
bool dti_cast_by_stack(const struct dti_cast_result *own, const struct dti_cast_operand *operand,
                       enum dti_stack stack, struct dti_cast_target *target,
                       struct dti_cast_result *ret);

/* Text of what was stored: "70144", or "1+2j" for complex dtypes; "-" if unknown. And its code, the
 * real part first, as in memory. Both return the length. */
enum { DTI_CAST_TEXT_SIZE = 2 * DTI_TEXT_SIZE + 4 };
size_t dti_cast_text(char buffer[DTI_CAST_TEXT_SIZE], const struct dti_cast_result *result);
size_t dti_cast_bits(char buffer[DTI_CAST_TEXT_SIZE], const struct dti_cast_result *result);

/* What DTI_OVERFLOW_SATURATE would store instead; false if it makes no difference. */
bool dti_cast_saturated(const struct dti_cast_result *result,
                        const struct dti_cast_operand *operand, char ret_text[DTI_TEXT_SIZE]);

/* Appends the stored number with the given number of decimals. False when out of memory. */
bool dti_cast_digits(struct dti_buffer *buffer, const struct dti_cast_result *result,
                     size_t decimals);

/* The results of one operand. */
struct dti_cast_results {
    const struct dti_cast_operand *operand;
    const struct dti_cast_result *list;
    size_t count;
    bool digits_given, stacks; /* further output */
    size_t digits;
};

/* The answer: dti_document_cast() writes the members common to all operands, dti_put_cast_rest()
 * the members after the results; `put` calls dti_put_cast_results() for each operand. */
struct dti_cast_answer {
    struct dti_policies_answer options;
    void (*put)(void *context, struct dti_json *json);
    void *context;
    const struct dti_warnings *warnings;
};
void dti_document_cast(struct dti_json *json, const struct dti_cast_answer *answer);
void dti_put_cast_rest(struct dti_json *json, const struct dti_cast_answer *answer);
void dti_put_cast_results(struct dti_json *json, const struct dti_cast_results *results);

/* The answer of a cast of an array: input, output, method and losses. */
struct dti_array_side {
    const char *path; /* "-" for the standard streams */
    bool text;
    const struct dti_format *format; /* NULL for text without a dtype */
    bool packs;                      /* raw codes of less than 8 bits, with their packing: */
    enum dti_packing packing;
    bool ordered, big; /* ordered: raw codes of more than 8 bits; big: highest byte first */
    uint64_t bytes;
};

struct dti_array_answer {
    struct dti_array_side input, output;
    uint64_t elements;
    struct dti_policies_answer options;
    const char *device, *device_reason; /* the reason may be NULL */
    enum dti_level level;
    const char *kernels; /* NULL for text input */
    size_t threads;
    struct dti_loss_summary loss;
    const struct dti_warnings *warnings;
};
void dti_document_cast_array(struct dti_json *json, const struct dti_array_answer *array);

#endif
