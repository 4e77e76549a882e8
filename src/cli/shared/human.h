/* SPDX-License-Identifier: MIT
 *
 * Numbers as people read them in the full answers: signed, as percentages, shortened if long.
 */
#ifndef CLI_SHARED_HUMAN_H
#define CLI_SHARED_HUMAN_H

#include <stddef.h>
#include <stdint.h>

#include "answers/cast/fields.h"
#include "answers/common.h"
#include "core/dtype/dtype.h"
#include "core/number/spell.h"
#include "core/value.h"
#include "report/picture.h"
#include "report/table.h"
#include "util/buffer.h"
#include "util/error.h"

/* An operand as typed, shortened in the middle if it has more than 48 characters. The text holds
 * number characters only (it was parsed). Returns its length. */
enum { HUMAN_OPERAND_SIZE = 96 };
size_t dti_human_operand(char buffer[HUMAN_OPERAND_SIZE], const char *text, size_t length);

/* A path without quotes, safe for a terminal. */
const char *dti_human_path(char buffer[DTI_QUOTE_SIZE], const char *path);

/* "+144", "-0.005", "0": the exact text if it is short, else `digits` significant digits. */
const char *dti_human_signed(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                             const struct dti_buffer *exact, unsigned digits);

/* The magnitude in the same way. */
const char *dti_human_magnitude(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                                const struct dti_buffer *exact, unsigned digits);

/* An fp32 number: integers with all digits, others with the fewest that identify it. */
const char *dti_human_fp32(char buffer[DTI_TEXT_SIZE], uint32_t code);

/* A ratio as a percentage without its sign: "0.2057". */
const char *dti_human_percent(char buffer[DTI_TEXT_SIZE], const struct dti_value *ratio,
                              unsigned digits);

/* The same with its sign and the unit: "+0.391 %", "0 %". digits <= 17. */
const char *dti_human_signed_percent(char buffer[DTI_TEXT_SIZE], const struct dti_value *ratio,
                                     unsigned digits);

/* A ratio as a percentage: "0.391 %". */
const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits);

/* A share as a percentage with three digits, and with more if it would round to 100: "99.996 %".
 * whole > 0. */
const char *dti_human_share(char buffer[DTI_TEXT_SIZE], uint64_t part, uint64_t whole);

/* "0 bytes", "1 byte", "1.50 KiB", "512.00 MiB"; in powers of ten "352.00 GB". */
const char *dti_human_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes);
const char *dti_human_decimal(char buffer[DTI_TEXT_SIZE], uint64_t bytes);

/* Lines of a full answer: a label and a text behind it; the bits of a code, with the names of their
 * fields below. */
enum { DTI_HUMAN_VALUE = 13, DTI_HUMAN_NOTE = 40 }; /* columns of texts, and of notes on them */
void dti_human_label(struct dti_line *line, const char *name, const char *text);
void dti_human_bits(struct dti_line *line, const struct dti_format *f, uint64_t code);

#endif
