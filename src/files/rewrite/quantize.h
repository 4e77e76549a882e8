/* SPDX-License-Identifier: MIT
 *
 * Tensors being quantized: one task each, processed in pieces. */
#ifndef FILES_REWRITE_QUANTIZE_H
#define FILES_REWRITE_QUANTIZE_H

#include <pthread.h>

#include "files/rewrite/rewrite_parts.h"

/* A tensor while it is quantized. */
struct dti_quant_task {
    struct dti_rewrite *rewrite;
    size_t at; /* index in rewrite->tensors */
    const struct dti_quant_plan *plan;
    struct dti_rewrite_input input;
    struct dti_quant_stored stored;
    struct dti_quant_sizes sizes;
    size_t item;       /* bytes of an input element */
    uint64_t piece;    /* elements; whole grains */
    unsigned bits;     /* of a code */
    bool flips;        /* signed codes in WORDS */
    uint64_t columns;  /* codes per row (the last dimension), packed here; 0: the plan packs them */
    uint32_t *borders; /* with columns: per piece its first and last word, if shared */
    int8_t *zero_points;              /* of all scales, if packed at the end; else NULL */
    struct dti_quant_stripe *stripes; /* of tiled scales, those that are not complete */
    /* where small parts are gathered; NULL: written to the file directly */
    unsigned char *gathered[DTI_PART_COUNT];
    struct dti_quant_ranges *ranges;
    struct dti_quant_scales *scales;
    struct dti_quant_report report;
    struct dti_fused_set *fused;     /* the set it shares the tensor scale with, or NULL */
    struct dti_fused_member *member; /* its member in that set */
    struct dti_plan *to_fp32;        /* of numbers that are rotated; else NULL */
    const struct dti_quant_kernel *rotate;
    struct dti_quant_plan *range_plan; /* for a task that only finds a range, and whose dtype
                                          differs from the others; else NULL */
};

/* A part that is gathered. */
struct dti_quant_gathered {
    const struct dti_rewrite_part *part;
    size_t file; /* of the output */
    size_t task;
    enum dti_quant_part which;
};

/* A thread's buffers for a piece. */
enum dti_quant_buffer {
    DTI_QUANT_INPUT,
    DTI_QUANT_CODES,
    DTI_QUANT_PACKED, /* words; scales in tiles */
    DTI_QUANT_SCALES,
    DTI_QUANT_SCRATCH,
    DTI_QUANT_ZERO_POINTS, /* int32_t */
    DTI_QUANT_FP32,        /* of numbers that are rotated, before */
    DTI_QUANT_TURNED,      /* and after that */
    DTI_QUANT_BUFFERS
};
/* Bytes of each buffer; DTI_QUANT_NEEDS_MAX: too many. */
#define DTI_QUANT_NEEDS_MAX (SIZE_MAX / 16)
struct dti_quant_needs {
    size_t bytes[DTI_QUANT_BUFFERS];
};

/* Per-thread state. */
struct dti_quant_member {
    unsigned char *memory, *buffer[DTI_QUANT_BUFFERS];
    struct dti_window window;
    struct dti_quant_ranges *ranges; /* part of the ranges of ranges_of, or NULL */
    struct dti_quant_task *ranges_of;
};

/* Quantizes tensors in groups, so that memory does not grow with their number. */
enum { DTI_QUANT_TASKS = 512 };
struct dti_quantize_job {
    struct dti_rewrite_run *run;
    size_t member_count;
    struct dti_quant_member *members;
    uint64_t piece_bytes; /* of input */
    struct dti_quant_needs needs;
    size_t task_count;
    uint64_t task_bytes; /* total input of the tasks */
    struct dti_quant_task tasks[DTI_QUANT_TASKS];
    struct dti_quant_task *const *queued; /* the tasks in the queue */
    unsigned char *gather;                /* memory, or NULL */
    size_t gathered_count;                /* in file order */
    struct dti_quant_gathered gathered[DTI_QUANT_TASKS * DTI_PART_COUNT];
    pthread_mutex_t merging; /* held while a thread merges into a task's ranges or report */
};

/* quantize_task.c: everything about one tensor except its pieces. */
void dti_quant_task_init(struct dti_quant_task *ret, struct dti_rewrite *rewrite, size_t at,
                         uint64_t piece_bytes);
/* Raises `needs` to what the task needs. */
void dti_quant_task_needs(const struct dti_quant_task *task, struct dti_quant_needs *needs);
enum dti_status dti_quant_task_open(struct dti_quant_task *task, uint64_t max_memory,
                                    struct dti_error *reterr);
void dti_quant_task_close(struct dti_quant_task *task);
/* After the ranges: computes the scales, and writes those that are known by now. */
enum dti_status dti_quant_task_scales(struct dti_quant_task *task, struct dti_error *reterr);
/* After the pieces: writes what they could not, and the figures. */
enum dti_status dti_quant_task_end(struct dti_quant_task *task, struct dti_error *reterr);
/* Writes the zero points of the scales from `first` on; modifies numbers. */
enum dti_status dti_quant_task_zero_points(struct dti_quant_task *task, int32_t *numbers,
                                           uint64_t first, size_t n, struct dti_error *reterr);

/* quantize_state.c: parts of flattened tensors. */
/* Before the pieces: writes the state and the code maps. */
enum dti_status dti_quant_task_state(const struct dti_quant_task *task, struct dti_error *reterr);
/* Fills the unused half of the last byte with the code of zero. `end`: number of elements before
 * the end of these codes. */
void dti_quant_task_fill(const struct dti_quant_task *task, unsigned char *codes, uint64_t end,
                         size_t size);
/* Writes scales from `first` on, the start of a nested block, as codes; overwrites scales. own has
 * room for one entry per nested block. */
enum dti_status dti_quant_task_nest(const struct dti_quant_task *task, float *scales, float *own,
                                    uint64_t first, size_t n, struct dti_error *reterr);

/* quantize_biased.c: writes scales and biases from `first` on, as codes of their dtype; overwrites
 * both. */
enum dti_status dti_quant_task_biased(const struct dti_quant_task *task, float *scales,
                                      float *biases, uint64_t first, size_t n,
                                      struct dti_error *reterr);

/* quantize_tiles.c: matrices with a mark. */
/* Bytes of the room for tiles of that many scales; 0: the task has none in tiles. */
uint64_t dti_quant_tiles_room(const struct dti_quant_task *task, uint64_t scales);
/* Writes n scales from `first` on, in tiles. The lock is that of the job. */
enum dti_status dti_quant_task_tiles(struct dti_quant_task *task, pthread_mutex_t *lock,
                                     const unsigned char *scales, uint64_t first, uint64_t n,
                                     unsigned char *room, struct dti_error *reterr);
void dti_quant_stripes_free(struct dti_quant_task *task);
/* Before the pieces: writes the mark. */
enum dti_status dti_quant_task_mark(const struct dti_quant_task *task, struct dti_error *reterr);
/* After the pieces: writes the codes of rows of padding, zeros. */
enum dti_status dti_quant_task_fill_rows(const struct dti_quant_task *task,
                                         struct dti_error *reterr);

/* quantize_fused.c: call after the first pass over the tasks. Merges the ranges of those that share
 * a tensor scale; members that are not tasks are read for their range. */
enum dti_status dti_quant_fuse(struct dti_quantize_job *job, struct dti_error *reterr);

/* quantize_piece.c: runs the pieces of up to DTI_QUANT_TASKS tasks: quantizes them or, with
 * `ranges`, reads those that need a range. Tasks outside the job do not count as progress. */
enum dti_status dti_quant_run_pieces(struct dti_quantize_job *job, struct dti_quant_task *tasks,
                                     size_t count, bool ranges, struct dti_error *reterr);

/* quantize_gather.c: assigns memory to small parts of the tasks; then writes them. */
void dti_quant_gather(struct dti_quantize_job *job);
enum dti_status dti_quant_write_gathered(struct dti_quantize_job *job, struct dti_error *reterr);
/* Writes at an offset of a part, gathered or not. */
enum dti_status dti_quant_task_write(const struct dti_quant_task *task, enum dti_quant_part part,
                                     const void *data, size_t size, uint64_t offset,
                                     struct dti_error *reterr);

/* quantize_pack.c: bit packing for files. Words are little-endian. */
void dti_quant_little(void *array, size_t item, size_t n); /* from this machine's byte order */
/* Adds 2^(bits - 1) to packed signed codes. */
void dti_quant_flip(unsigned char *bytes, size_t n, unsigned bits);
/* Packs n one-byte codes of rows with `columns` columns into words; `first` is the index of the
 * first code, and each row starts a new word. Returns the number of words. flip: codes are signed.
 */
size_t dti_quant_pack_words(unsigned char *words, const unsigned char *codes, uint64_t first,
                            size_t n, uint64_t columns, unsigned bits, bool flip);
/* The index of the word that holds a code. */
uint64_t dti_quant_word_of(uint64_t code, uint64_t columns, unsigned bits);
/* Packs at most 32 / bits rows of codes, each `columns` long, into one row of words. */
void dti_quant_pack_down(unsigned char *words, const int8_t *codes, size_t rows, size_t columns,
                         unsigned bits, bool flip);

#endif
