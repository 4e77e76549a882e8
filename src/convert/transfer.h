/* SPDX-License-Identifier: MIT
 *
 * What the two halves of a transfer share: transfer.c prepares a job, transfer_blocks.c does it. */
#ifndef DTINFO_CONVERT_TRANSFER_H
#define DTINFO_CONVERT_TRANSFER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/chunk_order.h"
#include "dtinfo/convert.h"
#include "dtinfo/window.h"

/* One thread's own things. */
struct dti_transfer_member {
    void *memory;
    unsigned char *src, *dst; /* a block each, in memory */
    struct dti_window window; /* of a file */
    const void *from;         /* the block: src, or in the window */
    struct dti_loss loss;
};

/* Blocks are numbered in the order of the array. */
struct dti_transfer_job {
    const struct dti_plan *plan;
    const struct dti_transfer *transfer;
    bool parallel_read, parallel_write; /* any block at any time; otherwise in order */
    bool with_loss;
    uint64_t elements;           /* may be DTI_UNTIL_END unless parallel_read */
    uint64_t block_elements;     /* a multiple of DTI_TILE */
    size_t block_src, block_dst; /* bytes */
    unsigned src_bits, dst_bits; /* of an element */
    size_t member_count;
    struct dti_transfer_member *members;

    pthread_mutex_t reading; /* held while the next block is taken, and read from a pipe */
    bool at_end;
    uint64_t next_block;
    struct dti_chunk_order order;
};

/* The work of one member, in the form that dti_team_run() wants; context is the job. */
void dti_transfer_work(void *context, size_t member, size_t size);

#endif
