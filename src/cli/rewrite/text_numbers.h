/* SPDX-License-Identifier: MIT
 *
 * Numbers from a text, one at a time, without copying: separated by white space, a comma, or a
 * comma within white space. Lines matter only for the position of an error. */
#ifndef CLI_REWRITE_TEXT_NUMBERS_H
#define CLI_REWRITE_TEXT_NUMBERS_H

#include "io/input.h"

enum { DTI_TEXT_NUMBER_MAX = 16 << 20 }; /* characters of one number */

struct dti_text_numbers {
    struct dti_input *input;
    char *buffer;
    size_t start, end, capacity;
    uint64_t line;  /* line of the number last returned, from 1 */
    uint64_t bytes; /* read so far */
    bool at_end, comma;
};

void dti_text_numbers_init(struct dti_text_numbers *ret, struct dti_input *input);
void dti_text_numbers_free(struct dti_text_numbers *numbers);

/* The next number's text, valid until the next call; *ret_text is NULL at the end. A comma without
 * a number before it is an error (DTI_BAD_INPUT), one at the very end is not. */
enum dti_status dti_text_numbers_next(struct dti_text_numbers *numbers, const char **ret_text,
                                      size_t *ret_length, struct dti_error *reterr);

/* A batch of numbers as they stand in the text, including separators: `most`, or fewer at the end,
 * otherwise a multiple of `step` (which divides `most`); none if `step` numbers do not fit into 1
 * MiB. Valid until the next call. line and comma: the state at its beginning. */
struct dti_text_piece {
    const char *text;
    size_t length, count;
    uint64_t line;
    bool comma;
};
enum dti_status dti_text_numbers_piece(struct dti_text_numbers *numbers, size_t most, size_t step,
                                       struct dti_text_piece *ret, struct dti_error *reterr);

/* The numbers of a piece one by one, for dti_text_numbers_next(); input is for messages. Not to be
 * freed. */
void dti_text_numbers_of_piece(struct dti_text_numbers *ret, struct dti_input *input,
                               const struct dti_text_piece *piece);

/* "in.txt, line 3: ..." for an error with the number last returned; DTI_BAD_INPUT if the text is at
 * fault. Returns the status. */
enum dti_status dti_text_numbers_fail(const struct dti_text_numbers *numbers,
                                      const struct dti_error *error, struct dti_error *reterr);

#endif
