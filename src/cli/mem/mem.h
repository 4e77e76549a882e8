/* SPDX-License-Identifier: MIT
 *
 * The parts of the mem command: what is to be stored (numbers: a count, an array, the tensors of
 * files), as what, what training adds, and the memory that it is to fit into. */
#ifndef DTINFO_CLI_MEM_H
#define DTINFO_CLI_MEM_H

#include "cli/shared/file_source.h"
#include "dtinfo/footprint.h"
#include "dtinfo/spell.h"
#include "dtinfo/training.h"

struct mem_args {
    struct dti_file_args file;
    const char *input, *only, *keep, *dtype, *gradients, *master, *states, *fit;
    int train; /* set of 1 << enum dti_training */
};

/* An array: a count is one of one dimension. */
struct mem_item {
    struct dti_extent extent;
    const struct dti_tensor *tensor; /* NULL: not of a file */
    bool takes_dtype;                /* floats; else it stays as it is stored */
    uint64_t stored_bytes;
};

struct mem_operand {
    const char *text;
    enum { MEM_COUNT, MEM_SHAPE, MEM_FILE } kind;
    unsigned rank;
    uint64_t shape[DTI_RANK_MAX];
    struct dti_container *container;
    size_t first, count;        /* its items */
    uint64_t elements, numbers; /* numbers: those that take a dtype */
    uint64_t stored_bytes;      /* files */
};

/* Whether it fits: left, or what is missing. */
struct mem_verdict {
    bool fits;
    uint64_t bytes;
};

/* The numbers as one dtype. */
struct mem_size {
    struct dti_stored as;
    bool as_stored;   /* as the files have them; `as` is nothing */
    const char *note; /* what the dtype's name deserves to have said about it */
    struct dti_footprint numbers;
    uint64_t bytes; /* and with what keeps its own */
    struct mem_verdict verdict;
};

/* Training in one dtype with one optimizer. */
struct mem_training {
    struct dti_training_plan plan;
    struct dti_footprint parts[DTI_TRAINING_PARTS];
    uint64_t bytes;
    struct mem_verdict verdict;
};

/* What --fit asks for. */
struct mem_capacity {
    bool asked;
    char device[DTI_QUOTE_SIZE]; /* "cpu", "cuda:0", empty for bytes */
    uint64_t bytes;              /* free, or given */
    uint64_t all;                /* of the device; UINT64_MAX: unknown */
};

struct mem_job {
    const struct mem_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct mem_operand *operands;
    size_t operand_count;
    struct mem_item *items;
    size_t item_count, item_capacity;
    uint64_t elements, numbers, others, other_bytes, stored_bytes;
    bool files; /* all operands are files: stored_bytes tells all */
    struct mem_size *sizes;
    size_t size_count, size_capacity;
    bool ladder; /* no dtype was asked for */
    struct mem_training *trainings;
    size_t training_count;
    struct mem_capacity capacity;
};

/* mem_count.c. Whether a word is meant to be an amount of numbers, right or wrong. */
bool dti_mem_is_amount(const char *text);
/* "7B", "1.5e9", "2^20", "32x1024x4096", "[32, 1024]": rank 1 and the kind tells. Fails with
 * DTI_BAD_VALUE. */
enum dti_status dti_mem_amount(struct mem_operand *ret, const char *text, struct dti_error *reterr);
/* "80GB", "24GiB", "1.5TB", "4096". */
enum dti_status dti_mem_bytes(const char *option, const char *text, uint64_t *ret_bytes,
                              struct dti_error *reterr);

/* mem_operands.c: fills operands, items and sizes (dtypes alone); opens files. */
enum dti_status dti_mem_operands(struct mem_job *job, char **words, int count,
                                 struct dti_error *reterr);
void dti_mem_free(struct mem_job *job);

/* mem_sum.c: the bytes of all sizes and trainings. */
enum dti_status dti_mem_sum(struct mem_job *job, struct dti_error *reterr);
enum dti_status dti_mem_train(struct mem_job *job, struct dti_error *reterr);
/* mem_fit.c: how much memory there is; then the verdicts. *ret_none: nothing fits. */
enum dti_status dti_mem_capacity(struct mem_job *job, struct dti_error *reterr);
bool dti_mem_judge(struct mem_job *job);

/* mem_words.c */
const char *dti_mem_decimal(char buffer[DTI_TEXT_SIZE], uint64_t bytes); /* "352.00 GB" */
/* bytes / numbers: "2", "1.015625"; for each of `per` numbers' bits: 8. "-" for no numbers. */
const char *dti_mem_each(char buffer[DTI_TEXT_SIZE], uint64_t bytes, uint64_t numbers,
                         unsigned per);
double dti_mem_ratio(uint64_t bytes, uint64_t numbers, unsigned per);
const char *dti_mem_part_name(const struct dti_training_plan *plan, enum dti_training_part part);
const char *dti_mem_part_dtype(const struct dti_training_plan *plan, enum dti_training_part part);
/* "weights 2 + gradients 2 + master weights 4 = 8 bytes a parameter" */
void dti_mem_rule(struct dti_buffer *text, const struct mem_job *job,
                  const struct mem_training *training);
/* "176000000000 x 2 bytes", "5500000 blocks x 17 bytes + 4 bytes" */
void dti_mem_product(struct dti_buffer *text, const struct mem_job *job,
                     const struct mem_size *size);

enum dti_status dti_mem_human(const struct mem_job *job, struct dti_error *reterr);
enum dti_status dti_mem_json(const struct mem_job *job, struct dti_error *reterr);

#endif
