/* SPDX-License-Identifier: MIT
 *
 * Tensors being quantized: one task each, done in pieces. */
#ifndef FILES_REWRITE_QUANTIZE_H
#define FILES_REWRITE_QUANTIZE_H

#include <pthread.h>

#include "files/rewrite/rewrite_parts.h"

/* One tensor while it is quantized. */
struct dti_quant_task {
    struct dti_rewrite *rewrite;
    size_t at; /* of rewrite->tensors */
    const struct dti_quant_plan *plan;
    struct dti_rewrite_input input;
    struct dti_quant_stored stored;
    struct dti_quant_sizes sizes;
    size_t item;         /* bytes of an element in the input */
    uint64_t piece;      /* elements; whole grains */
    unsigned bits;       /* of a code */
    bool flips;          /* WORDS of signed codes */
    uint64_t columns;    /* codes in a row (the last dimension) that are packed here; 0: the plan
                          * packs them */
    uint32_t *borders;   /* with columns: of each piece its first and its last word, where it shares
                          * them with its neighbours */
    int8_t *zero_points; /* of all scales, where they are packed at the end; else NULL */
    /* where small parts are gathered; NULL: written to the file at once */
    unsigned char *gathered[DTI_PART_COUNT];
    struct dti_quant_ranges *ranges;
    struct dti_quant_scales *scales;
    struct dti_quant_report report;
    struct dti_fused_set *fused;       /* with which it shares the tensor scale, or NULL */
    struct dti_fused_member *member;   /* which one of them it is */
    struct dti_quant_plan *range_plan; /* where only its range is looked for, and it is not of the
                                        * dtype of the others; else NULL */
};

/* A part that is gathered. */
struct dti_quant_gathered {
    const struct dti_rewrite_part *part;
    size_t task;
    enum dti_quant_part which;
};

/* What a thread has for a piece. */
enum dti_quant_buffer {
    DTI_QUANT_INPUT,
    DTI_QUANT_CODES,
    DTI_QUANT_PACKED, /* words */
    DTI_QUANT_SCALES,
    DTI_QUANT_SCRATCH,
    DTI_QUANT_ZERO_POINTS, /* int32_t */
    DTI_QUANT_BUFFERS
};
/* Bytes of each; DTI_QUANT_NEEDS_MAX: too many. */
#define DTI_QUANT_NEEDS_MAX (SIZE_MAX / 16)
struct dti_quant_needs {
    size_t bytes[DTI_QUANT_BUFFERS];
};

/* A thread's own things. */
struct dti_quant_member {
    unsigned char *memory, *buffer[DTI_QUANT_BUFFERS];
    struct dti_window window;
    struct dti_quant_ranges *ranges; /* a part of ranges_of's, or NULL */
    struct dti_quant_task *ranges_of;
};

/* Tensors that are quantized together: what they keep in memory does not grow with their number. */
enum { DTI_QUANT_TASKS = 512 };
struct dti_quantizer {
    struct dti_rewrite_run *run;
    size_t member_count;
    struct dti_quant_member *members;
    uint64_t piece_bytes; /* of input */
    struct dti_quant_needs needs;
    size_t task_count;
    uint64_t task_bytes; /* of their input */
    struct dti_quant_task tasks[DTI_QUANT_TASKS];
    struct dti_quant_task *const *queued; /* the tasks in the queue */
    unsigned char *gather;                /* memory, or NULL */
    size_t gathered_count;                /* in the order of the files */
    struct dti_quant_gathered gathered[DTI_QUANT_TASKS * DTI_PART_COUNT];
    pthread_mutex_t merging; /* held while a member adds to a task's ranges or report */
};

/* quantize_task.c: all about one tensor but its pieces. */
void dti_quant_task_init(struct dti_quant_task *ret, struct dti_rewrite *rewrite, size_t at,
                         uint64_t piece_bytes);
/* Raises `needs` to what the task needs. */
void dti_quant_task_needs(const struct dti_quant_task *task, struct dti_quant_needs *needs);
enum dti_status dti_quant_task_open(struct dti_quant_task *task, uint64_t max_memory,
                                    struct dti_error *reterr);
void dti_quant_task_close(struct dti_quant_task *task);
/* After the ranges: scales are made, and written where they are known now. */
enum dti_status dti_quant_task_scales(struct dti_quant_task *task, struct dti_error *reterr);
/* After the pieces: what they could not write, and the figures. */
enum dti_status dti_quant_task_end(struct dti_quant_task *task, struct dti_error *reterr);
/* Zero points of the scales from `first` on; numbers is changed. */
enum dti_status dti_quant_task_zero_points(struct dti_quant_task *task, int32_t *numbers,
                                           uint64_t first, size_t n, struct dti_error *reterr);

/* quantize_state.c: parts of flattened tensors. */
/* Before the pieces: the state, and the maps of codes. */
enum dti_status dti_quant_task_state(const struct dti_quant_task *task, struct dti_error *reterr);
/* The half of the last byte that no element has is the code of zero. `end`: how many elements
 * precede the end of these codes. */
void dti_quant_task_fill(const struct dti_quant_task *task, unsigned char *codes, uint64_t end,
                         size_t size);
/* Writes scales from `first` on, which begins a nested block, as codes; scales is changed, own is
 * room for as many as there are nested blocks. */
enum dti_status dti_quant_task_nest(const struct dti_quant_task *task, float *scales, float *own,
                                    uint64_t first, size_t n, struct dti_error *reterr);

/* quantize_fused.c: after the first pass over the tasks. The ranges of those that share a tensor
 * scale become that of their set; members that are no tasks are read for it. */
enum dti_status dti_quant_fuse(struct dti_quantizer *job, struct dti_error *reterr);

/* quantize_piece.c: pieces of so many tasks (DTI_QUANT_TASKS at most): all are quantized, or with
 * `ranges` those that need one are read for it. Of tasks that are not the job's progress counts
 * nothing. */
enum dti_status dti_quant_run_pieces(struct dti_quantizer *job, struct dti_quant_task *tasks,
                                     size_t count, bool ranges, struct dti_error *reterr);

/* quantize_gather.c: gives small parts of the tasks their places in memory; then writes them. */
void dti_quant_gather(struct dti_quantizer *job);
enum dti_status dti_quant_write_gathered(struct dti_quantizer *job, struct dti_error *reterr);
/* Writes to a place in a part, gathered or not. */
enum dti_status dti_quant_task_write(const struct dti_quant_task *task, enum dti_quant_part part,
                                     const void *data, size_t size, uint64_t offset,
                                     struct dti_error *reterr);

/* quantize_pack.c: bits that go into files. Words are little-endian. */
void dti_quant_little(void *array, size_t item, size_t n); /* from this machine's byte order */
/* Adds 2^(bits - 1) to packed signed codes. */
void dti_quant_flip(unsigned char *bytes, size_t n, unsigned bits);
/* n codes, a byte each, of rows of so many columns, the first of them being number `first` of all;
 * to words, and rows begin with new ones. Returns how many words. flip: codes are signed. */
size_t dti_quant_pack_words(unsigned char *words, const unsigned char *codes, uint64_t first,
                            size_t n, uint64_t columns, unsigned bits, bool flip);
/* The word that holds a code. */
uint64_t dti_quant_word_of(uint64_t code, uint64_t columns, unsigned bits);
/* At most 32 / bits rows of codes, so many columns each, to one row of words. */
void dti_quant_pack_down(unsigned char *words, const int8_t *codes, size_t rows, size_t columns,
                         unsigned bits, bool flip);

#endif
