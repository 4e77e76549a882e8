/* SPDX-License-Identifier: MIT
 *
 * Reads transposed matrices in logical order. A stripe is a set of stored columns of a matrix. It
 * is read row by row; its codes are kept transposed, together with their scales and zero points if
 * needed. The pieces that callers request are computed from it. Threads that want the same stripe
 * load it together. */
#ifndef FILES_DEQUANT_DEQUANT_STRIPES_H
#define FILES_DEQUANT_DEQUANT_STRIPES_H

#include <pthread.h>

#include "files/dequant/dequant_piece.h"

enum {
    DTI_STRIPES = 3,           /* in memory */
    DTI_STRIPE_ROOM = 8 << 20, /* bytes of each for codes; scales take at most half of that */
    DTI_STRIPE_WIDEST = 4096,  /* columns */
    DTI_STRIPE_WORDS = 16,     /* rows of words or scales that a thread loads at once */
    DTI_STRIPE_SCRATCH = DTI_STRIPE_WORDS * DTI_STRIPE_WIDEST * 4, /* bytes */
    DTI_STRIPE_SHORT = 16, /* rows that share a scale: with fewer, each row gets its own scale in
                            * memory */
};

struct dti_stripe {
    const struct dti_dequant_tensor *tensor; /* NULL: empty */
    uint64_t row, column;                    /* stored position of its first code; row counts across
                                              * all matrices */
    size_t rows, columns;
    unsigned bits;                /* of a code in words: struct dti_word_rows */
    size_t words;                 /* per column */
    uint64_t group, scale_column; /* of the first scale: see struct dti_scale_map */
    size_t groups, scale_columns;
    size_t next, loaded; /* work items: started by some thread, and completed */
    bool failed;         /* emptied when the last user has left */
    unsigned users;
    uint64_t used;                              /* time of the last lookup */
    unsigned char *codes;                       /* columns x words */
    float *scales;                              /* scale_columns x groups */
    int32_t *zeros;                             /* same shape; NULL: the tensor has no zero
                                                 * points */
    size_t codes_room, scales_room, zeros_room; /* bytes allocated, reused by the next stripe */
};

/* Shared by the tensors of a view. */
struct dti_stripes {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t clock;
    size_t room; /* DTI_STRIPE_ROOM; tests use less, down to 512 */
    struct dti_stripe list[DTI_STRIPES];
};
void dti_stripes_init(struct dti_stripes *stripes);
void dti_stripes_free(struct dti_stripes *stripes);

/* Whether each number has its own scale in memory. */
static inline bool dti_stripes_spread(const struct dti_scale_map *map)
{
    return map->group_of || map->group_rows < DTI_STRIPE_SHORT;
}

/* What to compute from codes. */
struct dti_stripe_use {
    bool scales; /* needs scales, which are loaded */
    size_t size; /* bytes of output per code */
    /* Processes n codes, down the columns, starting at a row and column of the stripe; all of them
     * are in it. */
    void (*make)(const struct dti_stripe *stripe, size_t row, size_t column, size_t n, void *to,
                 struct dti_dequant_scratch *scratch);
};

/* Reads numbers. */
enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr);
/* Reads codes of at most 8 bits, one per byte, flipped. */
enum dti_status dti_stripes_codes(struct dti_stripes *stripes,
                                  const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  unsigned char *codes, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr);

#endif
