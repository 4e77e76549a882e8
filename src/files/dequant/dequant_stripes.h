/* SPDX-License-Identifier: MIT
 *
 * Matrices that are stored transposed, read in the order in which they are wanted. A stripe of a
 * matrix, some of its stored columns, is read row by row; its codes are kept in the other order,
 * and its scales and zero points beside them, where they are needed. The pieces that callers ask
 * for are computed from it. Threads that want the same stripe load it together. */
#ifndef FILES_DEQUANT_DEQUANT_STRIPES_H
#define FILES_DEQUANT_DEQUANT_STRIPES_H

#include <pthread.h>

#include "files/dequant/dequant_piece.h"

enum {
    DTI_STRIPES = 3,           /* in memory */
    DTI_STRIPE_ROOM = 8 << 20, /* of each, for codes: bytes; scales take half of that at most */
    DTI_STRIPE_WIDEST = 4096,  /* columns */
    DTI_STRIPE_WORDS = 16,     /* rows of words, or of scales, that a thread loads at once */
    DTI_STRIPE_SCRATCH = DTI_STRIPE_WORDS * DTI_STRIPE_WIDEST * 4, /* bytes */
    DTI_STRIPE_SHORT = 16, /* rows that share a scale: fewer have one each in memory */
};

struct dti_stripe {
    const struct dti_dequant_tensor *tensor; /* NULL: it is empty */
    uint64_t row, column;                    /* stored: of its first code; rows of all matrices */
    size_t rows, columns;
    unsigned bits;                /* of a code in words: struct dti_word_rows */
    size_t words;                 /* of a column */
    uint64_t group, scale_column; /* of the first scale: see struct dti_scale_map */
    size_t groups, scale_columns;
    size_t next, loaded; /* pieces of work: begun by some thread, and done */
    bool failed;         /* it is emptied when the last one has left */
    unsigned users;
    uint64_t used;                              /* when it was looked for last */
    unsigned char *codes;                       /* columns x words */
    float *scales;                              /* scale_columns x groups */
    int32_t *zeros;                             /* likewise; NULL: the tensor has no zero points */
    size_t codes_room, scales_room, zeros_room; /* bytes, which the next stripe takes over */
};

/* Shared by the tensors of a view. */
struct dti_stripes {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t clock;
    size_t room; /* DTI_STRIPE_ROOM; tests have less, from 512 on */
    struct dti_stripe list[DTI_STRIPES];
};
void dti_stripes_init(struct dti_stripes *stripes);
void dti_stripes_free(struct dti_stripes *stripes);

/* Whether each number has a scale in memory of its own. */
static inline bool dti_stripes_spread(const struct dti_scale_map *map)
{
    return map->group_of || map->group_rows < DTI_STRIPE_SHORT;
}

/* What is made of codes. */
struct dti_stripe_use {
    bool scales; /* of scales too, which are loaded */
    size_t size; /* bytes that are made of a code */
    /* Of n codes, one by one down the columns, from a row and column of the stripe on: all are in
     * it. */
    void (*make)(const struct dti_stripe *stripe, size_t row, size_t column, size_t n, void *to,
                 struct dti_dequant_scratch *scratch);
};

/* Numbers. */
enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr);
/* Codes of at most 8 bits, a byte each, flipped. */
enum dti_status dti_stripes_codes(struct dti_stripes *stripes,
                                  const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  unsigned char *codes, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr);

#endif
