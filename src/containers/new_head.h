/* SPDX-License-Identifier: MIT
 *
 * Everything in a new file except the data, as made by dti_container_layout(). */
#ifndef CONTAINERS_NEW_HEAD_H
#define CONTAINERS_NEW_HEAD_H

#include "containers/name_order.h"
#include "io/output.h"
#include "util/buffer.h"

/* A piece of the head that is not located before the data. */
struct dti_head_piece {
    uint64_t offset; /* in the file */
    size_t length;
};

struct dti_zip_sums; /* containers/zip/zip_write.c */
struct dti_container;

/* A metadata number that differs from its value in the source. */
struct dti_head_change {
    const char *key;
    bool added; /* it was absent */
    uint32_t from, to;
};
enum { DTI_HEAD_CHANGES = 2 };

/* Which file of a split GGUF this is, from 0 on, and the tensors of all its files. */
struct dti_new_tensor;
struct dti_head_part {
    uint32_t no, count; /* count 0: not split */
    const struct dti_new_tensor *tensors;
    size_t tensor_count;
};

/* The tensors of a new file, one by one: of an array, or made when they are asked for, which takes
 * no memory. */
struct dti_new_source {
    size_t count;
    void (*get)(const void *context, size_t at, struct dti_new_tensor *ret);
    void (*set)(void *context, size_t at, uint64_t bytes, uint64_t offset); /* get() returns them
                                                                             * from then on */
    void (*shift)(void *context, size_t count, uint64_t bytes); /* adds to the offsets of all */
    void *context;
    const void *items; /* structs with their names, in the same order */
    struct dti_named named;
};
/* Of an array, which must stay. */
struct dti_new_source dti_new_source_of(struct dti_new_tensor *tensors, size_t count);

/* Text that follows `text` and is long: an item a tensor, which put() appends, then `end`. */
struct dti_new_head;
struct dti_head_rest {
    void (*put)(const struct dti_new_head *head, size_t at, struct dti_buffer *out); /* or NULL */
    struct dti_new_source source;
    uint64_t bytes; /* in all */
    char end[16];
};

struct dti_new_head {
    bool waits; /* set by the caller: the source of the tensors lives until the head is written, and
                 * the rest may be made only then */
    const struct dti_container *from; /* whose metadata it copies unchanged, or NULL */
    bool encodes;                     /* some tensors become GGUF blocks */
    struct dti_head_part part;        /* GGUF */
    size_t change_count;              /* the exceptions: changed numbers */
    struct dti_head_change changes[DTI_HEAD_CHANGES];
    struct dti_buffer text; /* all pieces, concatenated */
    struct dti_head_rest rest;
    size_t count; /* 0: the whole text precedes the data */
    struct dti_head_piece *pieces;
    struct dti_zip_sums *sums; /* NULL, or the data checksums to be filled into the text */
};
void dti_new_head_init(struct dti_new_head *ret);
void dti_new_head_free(struct dti_new_head *head);

/* Before the data: writes the text. If the text contains checksums of the data, instead observes
 * what is written with dti_output_write_at() until dti_new_head_finish(). */
enum dti_status dti_new_head_write(struct dti_new_head *head, struct dti_output_file *output,
                                   struct dti_error *reterr);
/* After the data: writes the pieces that depend on them. Requires that each data byte was written
 * exactly once. */
enum dti_status dti_new_head_finish(struct dti_new_head *head, struct dti_output_file *output,
                                    struct dti_error *reterr);

#endif
