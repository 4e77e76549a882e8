/* SPDX-License-Identifier: MIT
 *
 * The fields of a code as people read them: sign, exponent, mantissa. */
#ifndef ANSWERS_CAST_FIELDS_H
#define ANSWERS_CAST_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "report/table.h"

/* "0 10001111 0001001": the binary digits of one code, or of a complex number's two, with a blank
 * between the fields and each field in its colour, in a cell of a table. */
void dti_fields_cell(struct dti_table *table, const struct dti_format *f, const uint64_t *codes,
                     size_t count);
/* The same for one code, on a line; and the legend of a float's fields, for the line below: "s
 * eeeeeeee mmmmmmm". The code only matters for formats whose fields vary. */
void dti_fields_put(struct dti_line *line, const struct dti_format *f, uint64_t code);
void dti_fields_put_names(struct dti_line *line, const struct dti_format *f, uint64_t code);

#endif
