/* SPDX-License-Identifier: MIT
 *
 * Where the elements of a tensor come from, and how they become the numbers that kernels look at:
 * what the scans of statistics and of differences share. */
#ifndef DTINFO_FILES_SCAN_SIDE_H
#define DTINFO_FILES_SCAN_SIDE_H

#include "dtinfo/plan.h"
#include "dtinfo/scan.h"

enum { DTI_SCAN_NUMBERS = DTI_TILE * sizeof(uint64_t) }; /* bytes of a tile of numbers, at most */

struct dti_scan_side {
    const struct dti_input *input;
    uint64_t offset;                 /* of the first element in the input */
    uint64_t elements;               /* of a complex tensor: parts */
    const struct dti_format *format; /* of an element: complex ones are their parts */
    struct dti_layout layout;
    unsigned bits;               /* of an element in the file */
    const struct dti_plan *plan; /* to numbers; NULL: they are numbers as they stand, or, if wide,
                                  * codes are taken one by one */
    bool wide;
};

/* Plans from dtypes to numbers, one for each that was asked for. */
struct dti_scan_plans {
    struct dti_scan_plan *first;
    enum dti_level level;
};
void dti_scan_plans_free(struct dti_scan_plans *plans);

/* The dtype of a tensor's elements. */
const struct dti_format *dti_scan_format(const struct dti_tensor *tensor);

/* hub: the format of the numbers; NULL for codes in uint64_t. Unpacks what is compressed. */
enum dti_status dti_scan_side_init(struct dti_scan_side *ret, struct dti_container *container,
                                   size_t tensor, const struct dti_format *hub,
                                   struct dti_scan_plans *plans, struct dti_error *reterr);

/* The bytes of n elements; n is bounded by a block. */
static inline size_t dti_scan_bytes(const struct dti_scan_side *side, uint64_t n)
{
    return (size_t)((n * side->bits + 7) / 8);
}

/* Reads elements first to first + n - 1; first is a multiple of DTI_TILE. */
enum dti_status dti_scan_read(const struct dti_scan_side *side, void *buffer, uint64_t first,
                              size_t n, struct dti_error *reterr);

/* The numbers of a tile of n elements that stands at raw: there, or in buffer (of DTI_SCAN_NUMBERS
 * bytes). Returned on success only. */
enum dti_status dti_scan_numbers(const struct dti_scan_side *side, const void *raw, void *buffer,
                                 size_t n, uint64_t index, const void **ret_numbers,
                                 struct dti_error *reterr);

/* Memory for the members of a team: each has room for a block and for two tiles of numbers. */
struct dti_scan_memory {
    size_t members;
    size_t block_bytes;  /* of all sides of a block together */
    size_t member_bytes; /* a multiple of a cache line */
    unsigned char *bytes;
};
/* bits: the most that an element takes in all its sides together. */
enum dti_status dti_scan_memory_init(struct dti_scan_memory *ret,
                                     const struct dti_scan_options *options, unsigned bits,
                                     struct dti_error *reterr);
void dti_scan_memory_free(struct dti_scan_memory *memory);

/* Elements in a block of a part: whole tiles, at least one. */
uint64_t dti_scan_block(const struct dti_scan_memory *memory, unsigned bits);

/* A member's own memory. */
struct dti_scan_buffers {
    void *numbers[2];   /* DTI_SCAN_NUMBERS each */
    unsigned char *raw; /* the block */
};
struct dti_scan_buffers dti_scan_buffers(const struct dti_scan_memory *memory, size_t member);

#endif
