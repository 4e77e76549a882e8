/* SPDX-License-Identifier: MIT
 *
 * Matrices of integers with groups, whatever layout they are stored in: N rows of K codes, in which
 * some neighbours share a scale and a zero point. Codes and zero points are unsigned here, from 0
 * to 2^bits - 1. The parts of a target are made of this. */
#ifndef FILES_TRANSCODE_TRANSCODE_GROUPED_H
#define FILES_TRANSCODE_TRANSCODE_GROUPED_H

#include "files/dequant/dequant_piece.h"
#include "files/transcode/transcode_bytes.h"

struct dti_grouped {
    const char *target; /* the layout that it becomes, for messages */
    const struct dti_dequant_found *found;
    const struct dti_dequant_tensor *how; /* of it */
    unsigned bits;
    unsigned char flip;      /* xored with codes: two's complement becomes unsigned */
    bool sign;               /* it was two's complement */
    bool biased;             /* there are biases in place of zero points */
    bool one;                /* scale for the whole tensor */
    bool symmetric;          /* all zero points are 2^(bits - 1); known after dti_grouped_look() */
    uint64_t rows, columns;  /* N: of all of the matrices that are stacked; K */
    uint64_t height;         /* rows of each of these */
    uint64_t length, groups; /* codes that share a scale; groups of a row, the last one
                              * may be short. One scale: 1 group, of all */
    uint64_t of_row, of_group; /* steps from scale to scale, as they are stored */
    enum dti_dtype scale;
    bool narrows; /* scales of fp32 are rounded to it */
    /* A matrix that is stored as it is shown, as one that is stored transposed: how it is read in
     * the order of columns. */
    struct dti_dequant_tensor turned;
};

static inline unsigned dti_grouped_middle(const struct dti_grouped *grouped)
{
    return 1U << (grouped->bits - 1);
}

/* The facts that are known without reading: fills *ret but for the pool, symmetric and turned. */
enum dti_status dti_grouped_facts(struct dti_grouped *ret, const struct dti_dequant_found *found,
                                  const char *target, struct dti_error *reterr);
/* From the pool, and opened; reads nothing. Fails with DTI_WRONG_KIND where a tensor is no such
 * matrix. */
enum dti_status dti_grouped_new(struct dti_grouped **ret, struct dti_pool *pool,
                                struct dti_dequant_found *found, const char *target,
                                struct dti_error *reterr);
/* A part with the last two dimensions rows and columns, after those of a stack. */
struct dti_transcode_part *dti_grouped_add(struct dti_transcoded *ret,
                                           const struct dti_grouped *grouped, const char *suffix,
                                           enum dti_dtype dtype, uint64_t rows, uint64_t columns);
/* For layouts in which a row is divided into whole groups, one after another, or whose order is
 * another part: DTI_WRONG_KIND. */
enum dti_status dti_grouped_check_rows(const struct dti_grouped *grouped, struct dti_error *reterr);
enum dti_status dti_grouped_check_groups(const struct dti_grouped *grouped,
                                         struct dti_error *reterr);
/* A part that has the group of each column. */
void dti_grouped_add_order(struct dti_transcoded *ret, struct dti_grouped *grouped,
                           const char *suffix);

/* Reads all scales and zero points. Sets `symmetric` of the matrix and of the tensor that was
 * found, and of *ret the verdict. */
struct dti_grouped_wants {
    bool biases;        /* zero points become biases */
    bool no_zero_point; /* 0 cannot be one */
};
enum dti_status dti_grouped_look(struct dti_dequant_found *found, struct dti_grouped *grouped,
                                 const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                 struct dti_error *reterr);

/* The tensor in groups, if check() and what is wanted allow it, of which *ret has no part yet; its
 * name ends in ".weight". */
typedef enum dti_status dti_grouped_check(const struct dti_grouped *grouped,
                                          struct dti_error *reterr);
enum dti_status dti_grouped_begin(struct dti_pool *pool, struct dti_dequant_found *found,
                                  const char *target, dti_grouped_check *check,
                                  const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                  struct dti_grouped **ret_grouped, struct dti_error *reterr);

/* transcode_arithmetic.c: -scale x zero point, rounded to the scale's dtype; and back: false where
 * the bias is that of no zero point. */
float dti_grouped_bias(const struct dti_grouped *grouped, float scale, unsigned zero);
bool dti_grouped_zero(const struct dti_grouped *grouped, float scale, float bias, unsigned *ret);
/* Whether all codes x scale, rounded, x how.factor are those x the product of these two. */
bool dti_grouped_has_factor(const struct dti_grouped *grouped, float scale);
/* The scale that takes the place of one, with how.factor and rounded. */
float dti_grouped_scale(const struct dti_grouped *grouped, float scale);
/* A number that is one of the dtype: its code, little-endian. */
void dti_grouped_put(enum dti_dtype dtype, unsigned char *to, float number);
/* Whether all codes of a group are the same numbers by zero point and by bias, and the one follows
 * from the other; *worst is raised to the largest error, relative to the source's number. */
struct dti_grouped_memory {
    double *errors; /* NULL at first; freed by the caller */
};
bool dti_grouped_same(const struct dti_grouped *grouped, struct dti_grouped_memory *memory,
                      float scale, unsigned zero, float bias, double *worst);

/* transcode_codes.c: the bytes of a part with the codes. What they are made of is in the pool. */
enum dti_code_order {
    DTI_ORDER_ALONG, /* a stream of bits a row, which ends with a whole word; 8 bits: bytes */
    DTI_ORDER_DOWN,  /* a stream of bits a column, in rows of words */
    DTI_ORDER_LANES, /* rows and columns exchanged, AWQ's order of 4 bits in words */
};
enum dti_status dti_grouped_codes(struct dti_pool *pool, const struct dti_grouped *grouped,
                                  enum dti_code_order order, bool sign,
                                  struct dti_transcode_part *part, struct dti_error *reterr);

/* transcode_groups.c: the bytes of a part with what groups have. */
enum dti_group_values {
    DTI_GROUP_SCALES,
    DTI_GROUP_BIASES,
    DTI_GROUP_ZEROS,       /* int8, less 128 */
    DTI_GROUP_ZEROS_ALONG, /* packed in words along the rows of the part */
    DTI_GROUP_ZEROS_DOWN,  /* down its columns, for each stacked matrix */
    DTI_GROUP_ZEROS_LANES,
};
/* turned: rows of the part are groups, and columns those of the matrix; otherwise the reverse.
 * less: subtracted from zero points. */
enum dti_status dti_grouped_values(struct dti_pool *pool, const struct dti_grouped *grouped,
                                   enum dti_group_values values, bool turned, unsigned less,
                                   struct dti_transcode_part *part, struct dti_error *reterr);

#endif
