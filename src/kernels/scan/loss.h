/* SPDX-License-Identifier: MIT
 *
 * The loss of a cast of an array. Counts and maxima are exact. Sums are the same for every
 * level, thread count and chunking because their order is fixed: an array is split into tiles of
 * DTI_TILE elements at multiples of DTI_TILE of the global index; the order of additions within
 * a tile is defined in loss.c; and tiles are added exactly, with struct dti_exact_sum, and
 * rounded once at the end. Sums are within 1e-6 of the true sums, relatively; if all additions
 * use fp64, within 1e-13. */
#ifndef KERNELS_SCAN_LOSS_H
#define KERNELS_SCAN_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/code/scalar.h"
#include "core/code/stack.h"
#include "core/value.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"
#include "kernels/kernel.h"

enum { DTI_TILE = 2048 };

/* The error of an element is stored - source, if both are finite and the element did not
 * overflow to a special code; clamped elements count with their error. Elements without an error
 * (NaN or infinity on either side) do not count in maxima and sums, nor in sum_source_squared. */
struct dti_loss {
    uint64_t elements;
    uint64_t inexact;      /* stored number differs from the source; NaN to NaN does not count */
    uint64_t overflowed;   /* finite elements outside dst's range after rounding (DTI_FLAG_OVERFLOW
                            * in any stage), or stored as infinity or NaN, unless counted in
                            * no_code */
    uint64_t to_zero;      /* finite and not zero, but stored as zero */
    uint64_t to_subnormal; /* normal in the source dtype, but stored as a subnormal; floats only */
    uint64_t nan_in, inf_in;
    uint64_t no_code;  /* NaN to a float without NaN; negatives stored as NaN in unsigned floats */
    uint64_t stray;    /* containers with bits set outside the code: tf32, bool, odd widths */
    uint64_t compared; /* elements with an error, including zero errors: the divisor of the
                        * mean */
    double max_absolute;    /* 0 if nothing was compared */
    uint64_t max_index;     /* the lowest global index where it occurs; 0 if max_absolute is 0 */
    double max_relative;    /* largest |error| / |source| over nonzero sources */
    uint64_t first_no_code; /* index; UINT64_MAX if none */
    unsigned flags;         /* set of enum dti_flag: dti_loss_add_values() sets all of them,
                             * dti_loss_add_flags() those that cannot be derived from the counts */
    struct dti_exact_sum sum_absolute, sum_squared, sum_source_squared;
};
void dti_loss_init(struct dti_loss *ret);
/* Adds the loss of another part of the same array; the order does not matter. */
void dti_loss_merge(struct dti_loss *loss, const struct dti_loss *part);
/* sum |error| / compared; 0 if nothing was compared. NaN if fp64 cannot hold the sum. */
double dti_loss_mean_absolute(const struct dti_loss *loss);
/* Also NaN if squares of the errors are too large or too small for fp64. */
double dti_loss_root_mean_square(const struct dti_loss *loss);
/* 10 log10(sum source^2 / sum error^2) in dB; +inf without loss, NaN without a signal. */
double dti_loss_sqnr_db(const struct dti_loss *loss);

/* The arithmetic in which source and stored numbers are compared. */
enum dti_loss_hub {
    DTI_LOSS_HUB32, /* both dtypes decode to fp32 exactly */
    DTI_LOSS_HUB64, /* both decode to fp64 exactly */
    DTI_LOSS_WIDE,  /* anything else: uses struct dti_value, slow */
};

/* How to count the loss of a plan: thresholds determined once with dti_encode(). */
struct dti_loss_rule {
    enum dti_loss_hub hub;
    struct dti_format src, dst;
    struct dti_policy policy; /* of the last stage, with the rounding mode that applies to it */
    struct dti_cast cast;     /* all stages: overflow in any of them counts */
    const struct dti_stack_rule *stack; /* --like with a rule that no policy can describe, else
                                         * NULL */
    bool single; /* both dtypes decode to fp32 exactly: whole groups are summed in fp32 */
    bool staged; /* loss in intermediate stages matters: each element is cast again,
                  * DTI_LOSS_WIDE */
    /* Finite sources overflow from these magnitudes on, [negative]; infinity if none does. With
     * stochastic rounding, overflow is possible from overflow_from on, and certain from
     * overflow_sure on. */
    double overflow_from[2], overflow_sure[2];
    /* In fp64; not used by DTI_LOSS_WIDE. Infinity for a float without normal numbers. */
    double src_smallest_normal; /* 0 for integers */
    double dst_smallest_normal; /* 0 for integers: nothing becomes subnormal */
    bool nan_has_no_code;       /* dst is a float without NaN */
    bool negative_has_no_code;  /* dst is an unsigned float */
};
void dti_loss_rule_init(struct dti_loss_rule *ret, const struct dti_format *src,
                        const struct dti_format *dst, const struct dti_policy *policy);
/* The same for a cast with its route; if stack is not NULL, it determines route and policies. */
void dti_loss_rule_init_cast(struct dti_loss_rule *ret, const struct dti_format *src,
                             const struct dti_cast *cast, const struct dti_stack_rule *stack);

/* Adds a tile, or the last part of the array: n <= DTI_TILE elements, the first of which has the
 * global index `index`, a multiple of DTI_TILE. source and stored are fp32 or fp64 arrays
 * according to rule->hub, with any alignment. For DTI_LOSS_WIDE they are arrays of uint64_t
 * codes. */
typedef void dti_loss_fn(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss);

struct dti_loss_kernel {
    const char *name;
    dti_loss_fn *run;
    enum dti_loss_hub hub;
    enum dti_level level;
};
extern const struct dti_loss_kernel dti_loss_kernels[];
extern const size_t dti_loss_kernel_count;
/* A cast by one kernel that also counts its loss: from numbers of the rule's hub to codes, or
 * from codes to such numbers. */
struct dti_loss_cast {
    const struct dti_kernel *kernel;
    const struct dti_kernel_args *args;
    size_t source_bytes, code_bytes; /* per element */
    const struct dti_kernel *back;   /* decodes codes to numbers; unused if numbers are the
                                      * result */
    const struct dti_kernel_args *back_args;
};
/* Casts n elements like the kernel does and adds their loss, tile by tile, like a loss kernel
 * does. stream: as in struct dti_kernel_args. source is aligned for its type. */
typedef void dti_loss_cast_fn(const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                              void *codes, const void *source, size_t n, uint64_t index,
                              bool stream, struct dti_loss *loss);
/* The function that does this for a kernel and its parameters; NULL if there is none. */
dti_loss_cast_fn *dti_loss_cast_find(const struct dti_kernel *kernel,
                                     const struct dti_kernel_args *args);

/* The definition: n <= DTI_TILE elements with their exact source values and stored codes. Used
 * by the wide kernel, text input and the reference. */
void dti_loss_add_values(const struct dti_loss_rule *rule, const struct dti_value *source,
                         const uint64_t *stored_codes, size_t n, uint64_t index,
                         struct dti_loss *loss);

/* Adds the flags of a tile that cannot be derived from the counts: underflow, and those of NaNs
 * and infinities. Numbers as for a kernel of rule->hub, which is not DTI_LOSS_WIDE; casts with
 * one rounding only. */
void dti_loss_add_flags(const struct dti_loss_rule *rule, const void *source, const void *stored,
                        size_t n, struct dti_loss *loss);

/* The first row at the allowed level; never NULL. */
const struct dti_loss_kernel *dti_loss_kernel_find(enum dti_loss_hub hub, enum dti_level allowed);

#endif
