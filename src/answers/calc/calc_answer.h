/* SPDX-License-Identifier: MIT
 *
 * Expressions computed in dtypes: the description of a result, and the answer of `calc`. */
#ifndef ANSWERS_CALC_CALC_ANSWER_H
#define ANSWERS_CALC_CALC_ANSWER_H

#include "answers/common.h"
#include "calc/calc.h"

/* The answer includes lists of up to this many elements. */
enum { DTI_CALC_LISTED = DTI_CALC_TRUTH_MAX };

/* Appends an event as a sentence: "overflow at 10000*10000: 1e+08 > 65504", "to zero: exp(-25) <
 * 2^-25, in softmax, element 0". */
void dti_calc_sentence(struct dti_buffer *buffer, const struct dti_calc_result *result,
                       const struct dti_calc_step *step, const struct dti_calc_event *event);

/* "divide by zero": the name of a kind of event as words. */
enum { DTI_CALC_WORDS_SIZE = 32 };
const char *dti_calc_event_words(char buffer[DTI_CALC_WORDS_SIZE], enum dti_calc_event_kind kind);

/* The error of the single operation in a step: stored - exact, and the same divided by |exact| (NaN
 * if exact is 0). False if either is not a finite number. */
bool dti_calc_step_error(const struct dti_calc_step *step, struct dti_value *ret_absolute,
                         struct dti_value *ret_relative);

/* An error in units of the dtype's spacing at the stored number. */
struct dti_value dti_calc_ulps(const struct dti_format *format, const struct dti_value *stored,
                               const struct dti_value *absolute);

/* Callback for dti_calc_options.load: reads a tensor's codes as stored, or the numbers of a
 * quantized one as fp32. context: a struct dti_logical_options. */
enum dti_status dti_calc_load(void *context, const char *path, const char *tensor,
                              struct dti_calc_taker *taker, struct dti_calc_array *ret,
                              struct dti_error *reterr);

/* The answer: `put` calls dti_put_calc_result() for each dtype. */
struct dti_calc_answer {
    const char *text; /* the expression */
    size_t length;
    const struct dti_calc_options *options;
    void (*put)(void *context, struct dti_json *json);
    void *context;
    const struct dti_file_part *output; /* the file that was written, or NULL; no path: none was */
    const struct dti_warnings *warnings;
};
void dti_document_calc(struct dti_json *json, const struct dti_calc_answer *answer);
void dti_put_calc_result(struct dti_json *json, const char *key,
                         const struct dti_calc_result *result);

#endif
