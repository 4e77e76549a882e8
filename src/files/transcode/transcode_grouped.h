/* SPDX-License-Identifier: MIT
 *
 * Matrices of integers with groups, in any layout: N rows of K codes, in which neighbours share a
 * scale and a zero point. Codes and zero points are unsigned here, from 0 to 2^bits - 1. The parts
 * of a target are computed from this. */
#ifndef FILES_TRANSCODE_TRANSCODE_GROUPED_H
#define FILES_TRANSCODE_TRANSCODE_GROUPED_H

#include "files/dequant/dequant_piece.h"
#include "files/transcode/transcode_bytes.h"

struct dti_grouped {
    const char *target; /* target layout, for messages */
    const struct dti_dequant_found *found;
    const struct dti_dequant_tensor *how; /* found->how */
    unsigned bits;
    unsigned char flip;      /* codes are XORed with it: two's complement becomes unsigned */
    bool sign;               /* it was two's complement */
    bool biased;             /* biases instead of zero points */
    bool one;                /* one scale for the whole tensor */
    bool symmetric;          /* all zero points are 2^(bits - 1); known after dti_grouped_look() */
    uint64_t rows, columns;  /* N: of all stacked matrices together; K */
    uint64_t height;         /* rows of each stacked matrix */
    uint64_t length, groups; /* codes that share a scale; groups per row, the last one may be short.
                              * With a single scale: 1 group */
    uint64_t of_row, of_group; /* strides between stored scales */
    enum dti_dtype scale;
    bool narrows; /* fp32 scales are rounded to it */
    /* A matrix that is not transposed, described as a transposed one, to read it in column
     * order. */
    struct dti_dequant_tensor turned;
};

static inline unsigned dti_grouped_middle(const struct dti_grouped *grouped)
{
    return 1U << (grouped->bits - 1);
}

/* Collects what is known without reading: fills *ret except turned; symmetric only as far as
 * known. */
enum dti_status dti_grouped_facts(struct dti_grouped *ret, const struct dti_dequant_found *found,
                                  const char *target, struct dti_error *reterr);
/* Allocates from the pool and opens the tensor; reads nothing. Fails with DTI_WRONG_KIND if the
 * tensor is not such a matrix. */
enum dti_status dti_grouped_new(struct dti_grouped **ret, struct dti_pool *pool,
                                struct dti_dequant_found *found, const char *target,
                                struct dti_error *reterr);
/* Adds a part whose last two dimensions are rows and columns, after those of a stack. */
struct dti_transcode_part *dti_grouped_add(struct dti_transcoded *ret,
                                           const struct dti_grouped *grouped, const char *suffix,
                                           enum dti_dtype dtype, uint64_t rows, uint64_t columns);
/* For layouts whose rows consist of whole groups: dti_grouped_check_rows() also requires them to be
 * in order; with dti_grouped_check_groups() the order is another part. Fail with DTI_WRONG_KIND. */
enum dti_status dti_grouped_check_rows(const struct dti_grouped *grouped, struct dti_error *reterr);
enum dti_status dti_grouped_check_groups(const struct dti_grouped *grouped,
                                         struct dti_error *reterr);
/* Adds a part with the group of each column. */
void dti_grouped_add_order(struct dti_transcoded *ret, struct dti_grouped *grouped,
                           const char *suffix);

/* Reads all scales and zero points. Sets `symmetric` of the matrix and of the found tensor, and the
 * verdict in *ret. */
struct dti_grouped_wants {
    bool biases;        /* convert zero points to biases */
    bool no_zero_point; /* 0 is not a valid zero point */
};
enum dti_status dti_grouped_look(struct dti_dequant_found *found, struct dti_grouped *grouped,
                                 const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                 struct dti_error *reterr);

/* Creates the grouped matrix if check() and `wants` allow it; *ret has no parts yet. The tensor's
 * name must end in ".weight". */
typedef enum dti_status dti_grouped_check(const struct dti_grouped *grouped,
                                          struct dti_error *reterr);
enum dti_status dti_grouped_begin(struct dti_pool *pool, struct dti_dequant_found *found,
                                  const char *target, dti_grouped_check *check,
                                  const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                  struct dti_grouped **ret_grouped, struct dti_error *reterr);

/* transcode_arithmetic.c: dti_grouped_bias(): -scale x zero point, rounded to the dtype of the
 * scale. dti_grouped_zero(): the inverse; false if the bias matches no zero point. */
float dti_grouped_bias(const struct dti_grouped *grouped, float scale, unsigned zero);
bool dti_grouped_zero(const struct dti_grouped *grouped, float scale, float bias, unsigned *ret);
/* Whether (code x scale, rounded) x how.factor equals code x (scale x how.factor) for all codes. */
bool dti_grouped_has_factor(const struct dti_grouped *grouped, float scale);
/* The new scale: multiplied by how.factor and rounded. */
float dti_grouped_scale(const struct dti_grouped *grouped, float scale);
/* Stores a number that the dtype holds exactly, as its little-endian code. */
void dti_grouped_put(enum dti_dtype dtype, unsigned char *to, float number);
/* Whether all codes of a group are the same numbers by zero point and by bias, and the zero point
 * can be recovered from the bias. *worst is raised to the largest error, relative to the source's
 * number. */
struct dti_grouped_memory {
    double *errors; /* NULL initially; freed by the caller */
};
bool dti_grouped_same(const struct dti_grouped *grouped, struct dti_grouped_memory *memory,
                      float scale, unsigned zero, float bias, double *worst);

/* transcode_codes.c: the bytes of a part with the codes. Its data are in the pool. */
enum dti_code_order {
    DTI_ORDER_ALONG, /* a bit stream per row, padded to a whole word; 8 bits: bytes */
    DTI_ORDER_DOWN,  /* a bit stream per column, in rows of words */
    DTI_ORDER_LANES, /* transposed, with AWQ's order of 4 bits in words */
    DTI_ORDER_BYTES, /* a byte per code, rows without padding */
};
enum dti_status dti_grouped_codes(struct dti_pool *pool, const struct dti_grouped *grouped,
                                  enum dti_code_order order, bool sign,
                                  struct dti_transcode_part *part, struct dti_error *reterr);

/* transcode_groups.c: the bytes of a part with one value per group. */
enum dti_group_values {
    DTI_GROUP_SCALES,
    DTI_GROUP_BIASES,
    DTI_GROUP_RAW_SCALES,  /* as they are stored, without how.factor */
    DTI_GROUP_ZEROS,       /* int8, minus 128 */
    DTI_GROUP_ZEROS_ALONG, /* packed in words along the rows of the part */
    DTI_GROUP_ZEROS_DOWN,  /* packed down its columns, for each stacked matrix */
    DTI_GROUP_ZEROS_LANES,
};
/* turned: rows of the part are groups, and columns those of the matrix; otherwise the reverse.
 * less: subtracted from zero points. */
enum dti_status dti_grouped_values(struct dti_pool *pool, const struct dti_grouped *grouped,
                                   enum dti_group_values values, bool turned, unsigned less,
                                   struct dti_transcode_part *part, struct dti_error *reterr);

#endif
