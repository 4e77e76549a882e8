/* SPDX-License-Identifier: MIT
 *
 * Shared declarations of checkkern. A trial is one kernel with its parameters, a whole source array
 * and the expected result. Slices of it run at every length and alignment, between guard bytes and
 * inaccessible pages. The expected result is computed element by element with dti_decode() and
 * dti_encode(), which other tests verify against independent references. */
#ifndef DTINFO_TESTS_KERNELS_CHECK_H
#define DTINFO_TESTS_KERNELS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gguf/gguf_kernel.h"
#include "kernels/kernel.h"
#include "kernels/quant/quant_kernel.h"
#include "kernels/scan/loss.h"

enum { ROUND_COUNT = DTI_ROUND_STOCHASTIC + 1, OVERFLOW_COUNT = DTI_OVERFLOW_WRAP + 1 };

enum effort {
    EFFORT_QUICK, /* a reduced run: emulators, sanitizers */
    EFFORT_PUSH,
    EFFORT_LONG, /* all policies, lengths and alignments */
};

struct check {
    enum effort effort;
    enum dti_level level;
    bool silent;       /* count failures without printing them */
    uint64_t state;    /* of the random generator */
    uint64_t arrays;   /* arrays compared */
    uint64_t failures; /* printed up to a limit per kernel */
    uint64_t told;
};

uint64_t check_random(struct check *check);
size_t check_below(struct check *check, size_t limit);
/* NULL (cached stores) in half of the calls, else a random kind of streaming store. */
const struct dti_streaming *check_streaming(struct check *check);
/* Counts a failure and prints it, up to the limit. */
void check_fail(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "nearest-even native quiet", for messages. */
const char *check_policy_text(const struct dti_policy *policy);

/* Every non-complex row of dtypes.def, then parsed formats, including edge cases. */
size_t check_formats(const struct dti_format **ret_formats);
/* How many of these formats are rows of dtypes.def. */
size_t check_named_formats(void);

/* Source codes that test a cast to dst: all codes up to 16 bits; else every midpoint of dst with
 * its neighbours, limits, powers of two, subnormals, NaN payloads, infinities and random bits. */
struct pool {
    struct dti_format format;
    uint64_t *code;
    struct dti_value *value; /* the decoded codes */
    size_t count;
};
/* Owned by a cache of recent pools: the caller must not free it. Exits the program if memory runs
 * out. */
const struct pool *pool_get(struct check *check, const struct dti_format *src,
                            const struct dti_format *dst);
/* Stores a code in a container of the width that kernels use. */
void put_container(void *array, size_t bytes, size_t at, uint64_t container);
uint64_t get_container(const void *array, size_t bytes, size_t at);
/* Element i starts at bit i x bits, counted from the lowest bit of byte 0 or, with high_first, from
 * the highest. The bits must be zero before. */
void put_packed(uint8_t *packed, size_t i, unsigned bits, bool high_first, unsigned code);

struct trial {
    const char *name; /* name of the kernel */
    dti_kernel_fn *run;
    struct dti_kernel_args args; /* its index is that of the trial's first element */
    const uint8_t *source, *wanted;
    size_t count;                /* elements */
    unsigned src_bits, dst_bits; /* of an element */
    const char *what;            /* formats and policy, for messages */
};
enum { TRIAL_BYTES_MAX = 1 << 20 };

/* Runs slices: the whole array, tile lengths, and all lengths 0 to 257 or a sample. Stops at the
 * first failure and returns false. */
bool trial_run(struct check *check, const struct trial *trial, bool all_lengths);
/* A buffer whose last byte is directly before an inaccessible page. */
enum { EDGE_BUFFERS = 2, EDGE_BYTES_MAX = 1 << 16 };
void *edge_buffer(size_t which, size_t bytes);
/* Runs call(context); true if it accessed protected memory. */
bool touches_foreign_memory(void (*call)(void *context), void *context);

/* A cast under test: from every code of the pool to a code of dst. */
struct job {
    struct check *check;
    const struct dti_kernel *row;
    struct dti_kernel_args args;
    struct dti_format src, dst;
    struct dti_policy policy;
    bool all_lengths;
};
/* False on a wrong result. */
bool check_job(const struct job *job);
/* The same, with several first indices if rounding is stochastic. */
bool check_job_indices(struct job *job);

/* Checks everything that one row claims to support. False on failure. */
bool check_row(struct check *check, const struct dti_kernel *row);
bool check_move_row(struct check *check, const struct dti_kernel *row); /* pack, swap, copy */
bool check_loss_row(struct check *check, const struct dti_loss_kernel *row);
bool check_quant_row(struct check *check, const struct dti_quant_kernel *row);
bool check_gguf_row(struct check *check, const struct dti_gguf_kernels *row);
/* Prints the decoding speed of each type at each level, for types whose name contains `only` unless
 * it is NULL. False if memory runs out. */
bool tell_gguf_speed(const char *only);
/* Compares plans with dti_reference_run() at every available level. */
bool check_plans(struct check *check);
bool check_rules(struct check *check); /* the same with --like */
/* Runs deliberately wrong kernels; false if one of them passes. */
bool check_selftest(struct check *check);
bool check_quant_selftest(struct check *check);

/* Compares every member and prints the first that differs. */
bool same_loss(struct check *check, const struct dti_loss *got, const struct dti_loss *want,
               const char *what);

#endif
