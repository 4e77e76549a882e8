/* SPDX-License-Identifier: MIT
 *
 * The answers of list, finfo, iinfo and bits. Nothing here fails except for lack of memory, which
 * is reported when the document is written. */
#ifndef ANSWERS_ASK_H
#define ANSWERS_ASK_H

#include "core/dtype/dtype.h"
#include "core/dtype/limits.h"
#include "report/json.h"

/* A dtype from the command line, and a note about its name, or NULL. */
struct dti_dtype_operand {
    struct dti_format format;
    const char *note;
};

struct dti_dtypes_answer {
    const struct dti_dtype_operand *list;
    size_t count;
};

/* A summary of the limits of any dtype; complex dtypes report those of their parts. */
struct dti_dtype_summary {
    struct dti_limit lowest, max, smallest; /* smallest positive */
    bool has_inf, has_nan, has_minus_zero, has_subnormals;
};
void dti_dtype_summarize(const struct dti_format *dtype, struct dti_dtype_summary *ret);

/* Bits per element of a block, including its scale: exact, because lengths are powers of 2. */
double dti_bits_per_weight(unsigned bytes, unsigned elements);

/* `count` dtypes, block formats and block types of GGUF, starting at `first`. */
struct dti_list_answer {
    size_t first_dtype, dtype_count, first_block, block_count, first_gguf, gguf_count;
};
void dti_document_list(struct dti_json *json, const struct dti_list_answer *list);
void dti_document_finfo(struct dti_json *json, const struct dti_dtypes_answer *dtypes);
void dti_document_iinfo(struct dti_json *json, const struct dti_dtypes_answer *dtypes);

/* The meaning of bits: patterns as text, and their readings in dtypes. */

/* Bits as typed, most significant first: the low `width` bits of hi:lo are significant. */
struct dti_bits_pattern {
    uint64_t hi, lo;
    unsigned width; /* from the digit count: 4 for each of 0x, 1 for each of 0b; at most 128 */
    bool fields;    /* binary digits grouped like printed fields: complete */
};

/* "0x4789", "0b0100_0111", "0 10001111 0001001". False if the text does not have that form (it may
 * be a hexfloat). */
bool dti_bits_is_pattern(const char *text);
/* Fails with DTI_BAD_PATTERN. */
enum dti_status dti_bits_pattern_parse(struct dti_bits_pattern *ret, const char *text,
                                       struct dti_error *reterr);
/* Whether the pattern fits a code of that width without losing bits; fields must be complete. */
bool dti_bits_pattern_fits(const struct dti_bits_pattern *pattern, unsigned width);

/* One dtype's reading: the code of each component (two for complex, real first). */
struct dti_bits_reading {
    struct dti_format dtype, component;
    size_t components;
    uint64_t code[2];
    const char *note; /* on the name of the dtype, or NULL */
};
/* A reading in a dtype, with all codes 0. */
void dti_bits_reading_init(struct dti_bits_reading *ret, const struct dti_format *dtype);
void dti_bits_read_pattern(struct dti_bits_reading *ret, const struct dti_bits_pattern *pattern,
                           const struct dti_format *dtype);

/* A bool byte other than 0 and 1. */
#define DTI_BITS_NONCANONICAL "not a canonical bool, which is 0 or 1; read as 1"
bool dti_bits_noncanonical(const struct dti_bits_reading *reading);

/* The meaning of the fields of a finite float: (-1)^sign x significand x 2^exponent. */
struct dti_bits_anatomy {
    bool subnormal;
    unsigned man_bits;        /* of this code */
    uint64_t field, mantissa; /* as stored; field is 0 where the exponent has no bias */
    int32_t exponent;
    struct dti_value significand;
};
struct dti_bits_anatomy dti_bits_dissect(const struct dti_format *f, uint64_t code);

struct dti_bits_answer {
    const char *text; /* as typed */
    bool pattern;     /* else a value */
    const struct dti_bits_reading *readings;
    size_t count;
};
void dti_document_bits(struct dti_json *json, const struct dti_bits_answer *bits);

#endif
