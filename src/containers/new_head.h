/* SPDX-License-Identifier: MIT
 *
 * Everything in a new file but its data, as dti_container_layout() makes it. */
#ifndef CONTAINERS_NEW_HEAD_H
#define CONTAINERS_NEW_HEAD_H

#include "io/output.h"
#include "util/buffer.h"

/* Text of the head that is elsewhere than before the data. */
struct dti_head_piece {
    uint64_t offset; /* in the file */
    size_t length;
};

struct dti_zip_sums; /* containers/zip/zip_write.c */
struct dti_container;

/* A number of the metadata that is not what it was where they come from. */
struct dti_head_change {
    const char *key;
    bool added; /* there was none */
    uint32_t from, to;
};
enum { DTI_HEAD_CHANGES = 2 };

/* Which file of a split GGUF it is, from 0 on, and all tensors of all of them. */
struct dti_new_tensor;
struct dti_head_part {
    uint32_t no, count; /* count 0: it is the whole */
    const struct dti_new_tensor *tensors;
    size_t tensor_count;
};

struct dti_new_head {
    const struct dti_container *from; /* whose metadata it takes over as they are; or NULL */
    bool encodes;                     /* some tensors become blocks of GGUF */
    struct dti_head_part part;        /* GGUF */
    size_t change_count;              /* but for these */
    struct dti_head_change changes[DTI_HEAD_CHANGES];
    struct dti_buffer text; /* its pieces, one after another */
    size_t count;           /* 0: all of it precedes the data */
    struct dti_head_piece *pieces;
    struct dti_zip_sums *sums; /* NULL, or what the text will have of the data */
};
void dti_new_head_init(struct dti_new_head *ret);
void dti_new_head_free(struct dti_new_head *head);

/* Before the data: writes the text; or, where it will have sums of them, watches what is written
 * with dti_output_write_at() until dti_new_head_finish(). */
enum dti_status dti_new_head_write(struct dti_new_head *head, struct dti_output_file *output,
                                   struct dti_error *reterr);
/* After the data: writes what had to wait for them. Each of their bytes was written once. */
enum dti_status dti_new_head_finish(struct dti_new_head *head, struct dti_output_file *output,
                                    struct dti_error *reterr);

#endif
