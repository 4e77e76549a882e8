/* SPDX-License-Identifier: MIT
 *
 * Matrices that are stored transposed, read in the order in which they are wanted. A stripe of a
 * matrix, some of its stored columns, is read row by row; its codes are kept in the other order,
 * and its scales and zero points beside them. The pieces that callers ask for are computed from it.
 * Threads that want the same stripe load it together. */
#ifndef DTINFO_FILES_DEQUANT_STRIPES_H
#define DTINFO_FILES_DEQUANT_STRIPES_H

#include <pthread.h>

#include "files/dequant_piece.h"

enum {
    DTI_STRIPES = 3,            /* in memory */
    DTI_STRIPE_CODES = 8 << 20, /* in each: bytes; scales take half of that at most */
    DTI_STRIPE_WIDEST = 4096,   /* columns */
    DTI_STRIPE_ROWS = 32,       /* that a thread loads at once */
    DTI_STRIPE_SCRATCH = DTI_STRIPE_ROWS * DTI_STRIPE_WIDEST, /* bytes */
};

struct dti_stripe {
    const struct dti_dequant_tensor *tensor; /* NULL: it is empty */
    uint64_t row, column;                    /* stored: of its first code; rows of all matrices */
    size_t rows, columns;
    uint64_t group, scale_column; /* of the first scale: see struct dti_scale_map */
    size_t groups, scale_columns;
    size_t next, loaded; /* pieces of work: begun by some thread, and done */
    bool failed;         /* it is emptied when the last one has left */
    unsigned users;
    uint64_t used;        /* when it was looked for last */
    unsigned char *codes; /* columns x rows */
    float *scales;        /* groups x scale_columns */
    int32_t *zeros;
};

/* Shared by the tensors of a view. */
struct dti_stripes {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t clock;
    struct dti_stripe list[DTI_STRIPES];
};
void dti_stripes_init(struct dti_stripes *stripes);
void dti_stripes_free(struct dti_stripes *stripes);

/* n numbers of a tensor with how.matrix > 0, from `first` on, counted in the order in which it is
 * shown; n <= DTI_DEQUANT_CHUNK. By any thread, with its own scratch, which is followed by
 * DTI_STRIPE_SCRATCH bytes. */
enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr);

#endif
