/* SPDX-License-Identifier: MIT
 *
 * What the parts of checkkern share. A trial is one kernel with its parameters, a whole source
 * array and the array that must come out; slices of it are run at every length and alignment
 * between guard bytes and pages that must not be touched. What must come out is computed element by
 * element by dti_decode() and dti_encode(), which other tests hold against judges that are not
 * ours. */
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
    EFFORT_QUICK, /* a thinned-out walk: emulators, sanitizers */
    EFFORT_PUSH,
    EFFORT_LONG, /* all policies, lengths and alignments */
};

struct check {
    enum effort effort;
    enum dti_level level;
    bool silent;       /* failures are counted but not told */
    uint64_t state;    /* of the random numbers */
    uint64_t arrays;   /* compared */
    uint64_t failures; /* told up to a limit for each kernel */
    uint64_t told;
};

uint64_t check_random(struct check *check);
size_t check_below(struct check *check, size_t limit);
/* NULL, as often as a way of streaming. */
const struct dti_streaming *check_streaming(struct check *check);
/* Counts a failure and tells it unless there were many. */
void check_fail(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "nearest-even native quiet", for messages. */
const char *check_policy_text(const struct dti_policy *policy);

/* Every non-complex row of dtypes.def, then names that are parsed, the edges among them. */
size_t check_formats(const struct dti_format **ret_formats);
/* How many of them are rows of dtypes.def. */
size_t check_named_formats(void);

/* Codes of a source format that a cast to dst has to get right: all of them up to 16 bits; else
 * every midpoint of dst with its neighbours, limits, powers of two, subnormals, NaN payloads,
 * infinities and random bits. */
struct pool {
    struct dti_format format;
    uint64_t *code;
    struct dti_value *value; /* what the codes decode to */
    size_t count;
};
/* Keeps the last pools; the caller does not free. Ends the program without memory. */
const struct pool *pool_get(struct check *check, const struct dti_format *src,
                            const struct dti_format *dst);
/* Puts a code into the container that kernels take. */
void put_container(void *array, size_t bytes, size_t at, uint64_t container);
uint64_t get_container(const void *array, size_t bytes, size_t at);
/* Element i has its bits at i x bits: counted from the lowest bit of byte 0, or, with high_first,
 * from the highest. They were zero. */
void put_packed(uint8_t *packed, size_t i, unsigned bits, bool high_first, unsigned code);

struct trial {
    const char *name; /* of the kernel */
    dti_kernel_fn *run;
    struct dti_kernel_args args; /* its index is that of the first element */
    const uint8_t *source, *wanted;
    size_t count;                /* elements */
    unsigned src_bits, dst_bits; /* of an element */
    const char *what;            /* formats and policy, for messages */
};
enum { TRIAL_BYTES_MAX = 1 << 20 };

/* Runs slices: the whole, tile lengths, and all lengths 0 to 257 or a sample of them. False when
 * something was wrong; stops at the first. */
bool trial_run(struct check *check, const struct trial *trial, bool all_lengths);
/* Memory with a page behind it that must not be touched: the last `bytes` before that page. */
enum { EDGE_BUFFERS = 2, EDGE_BYTES_MAX = 1 << 16 };
void *edge_buffer(size_t which, size_t bytes);
/* Runs call(context) and tells whether it touched memory that it must not. */
bool touches_foreign_memory(void (*call)(void *context), void *context);

/* A cast that a kernel must do: from every code of the pool to a code of dst. */
struct job {
    struct check *check;
    const struct dti_kernel *row;
    struct dti_kernel_args args;
    struct dti_format src, dst;
    struct dti_policy policy;
    bool all_lengths;
};
/* False when a result was wrong. */
bool check_job(const struct job *job);
/* The same, with several first indices where rounding is stochastic. */
bool check_job_indices(struct job *job);

/* One row in all that it claims. False when it failed. */
bool check_row(struct check *check, const struct dti_kernel *row);
bool check_move_row(struct check *check, const struct dti_kernel *row); /* pack, swap, copy */
bool check_loss_row(struct check *check, const struct dti_loss_kernel *row);
bool check_quant_row(struct check *check, const struct dti_quant_kernel *row);
bool check_gguf_row(struct check *check, const struct dti_gguf_kernels *row);
/* Prints how fast the decoders of each type are at each level, of types whose name contains `only`
 * where it is not NULL. False without memory. */
bool tell_gguf_speed(const char *only);
/* Plans against dti_reference_run() at every level that is present. */
bool check_plans(struct check *check);
bool check_rules(struct check *check); /* the same with --like */
/* Deliberately wrong kernels; false when one passes. */
bool check_selftest(struct check *check);
bool check_quant_selftest(struct check *check);

/* Compares every member; tells the first that differs. */
bool same_loss(struct check *check, const struct dti_loss *got, const struct dti_loss *want,
               const char *what);

#endif
