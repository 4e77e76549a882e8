/* SPDX-License-Identifier: MIT
 *
 * What a cast of an array lost. Counts and maxima are exact. Sums are the same for every level,
 * thread count and chunking because their order is fixed: an array is cut into tiles of DTI_TILE
 * elements at multiples of DTI_TILE of the global index; within a tile the order of additions is
 * laid down (see loss.c), and tiles are added exactly, by struct dti_exact_sum, and rounded once at
 * the end. They are within 1e-6 of the true sums; where fp64 adds throughout, within 1e-13. */
#ifndef KERNELS_SCAN_LOSS_H
#define KERNELS_SCAN_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/code/scalar.h"
#include "core/code/stack.h"
#include "dtinfo/value.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"
#include "kernels/kernel.h"

enum { DTI_TILE = 2048 };

/* Error of an element: stored - source, where both are finite and the element did not overflow to a
 * special code; clamped elements count with their error. Elements without an error (NaN or
 * infinity on either side) are left out of max and sums, and out of sum_source_squared too. */
struct dti_loss {
    uint64_t elements;
    uint64_t inexact;    /* stored number differs from the source; NaN to NaN does not */
    uint64_t overflowed; /* finite elements beyond dst's range after rounding (DTI_FLAG_OVERFLOW in
                          * any stage), or stored as infinity or NaN unless they are no_code */
    uint64_t to_zero;    /* finite, not zero, stored as zero */
    uint64_t to_subnormal; /* normal in the source dtype, stored as a subnormal; floats only */
    uint64_t nan_in, inf_in;
    uint64_t no_code; /* NaN into a float without NaN; negatives stored as NaN in unsigned floats */
    uint64_t stray;   /* containers with bits set outside the code: tf32, bool, odd widths */
    uint64_t compared;      /* elements with an error, zero errors included: the mean's divisor */
    double max_absolute;    /* 0 when nothing was compared */
    uint64_t max_index;     /* the lowest global index that has it; 0 when max_absolute is 0 */
    double max_relative;    /* of |error| / |source| over sources that are not zero */
    uint64_t first_no_code; /* index; UINT64_MAX for none */
    unsigned flags; /* enum dti_flag of elements: all of them by dti_loss_add_values(), those that
                     * the counts do not give by dti_loss_add_flags() */
    struct dti_exact_sum sum_absolute, sum_squared, sum_source_squared;
};
void dti_loss_init(struct dti_loss *ret);
/* Adds what another part of the same array lost; any order gives the same. */
void dti_loss_merge(struct dti_loss *loss, const struct dti_loss *part);
/* sum |error| / compared; 0 when nothing was compared. NaN where fp64 does not hold the sum. */
double dti_loss_mean_absolute(const struct dti_loss *loss);
/* NaN also where squares of the errors are too large or too small for fp64. */
double dti_loss_root_mean_square(const struct dti_loss *loss);
/* 10 log10(sum source^2 / sum error^2) in dB; +inf when nothing was lost, NaN without a signal. */
double dti_loss_sqnr_db(const struct dti_loss *loss);

/* The arithmetic in which source and stored numbers are compared. */
enum dti_loss_hub {
    DTI_LOSS_HUB32, /* both dtypes decode to fp32 exactly */
    DTI_LOSS_HUB64, /* both decode to fp64 exactly */
    DTI_LOSS_WIDE,  /* anything: by struct dti_value, slow */
};

/* How a plan's loss is counted: thresholds asked of dti_encode() once. */
struct dti_loss_rule {
    enum dti_loss_hub hub;
    struct dti_format src, dst;
    struct dti_policy policy; /* of the last stage, with the rounding that applies to it */
    struct dti_cast cast;     /* all stages: overflow in any of them counts */
    const struct dti_stack_rule *stack; /* --like with a rule that no policy describes, else NULL */
    bool single; /* both dtypes decode to fp32 exactly: whole groups are added in fp32 */
    bool staged; /* what is lost on the way decides: each element is cast again, DTI_LOSS_WIDE */
    /* Finite sources overflow from these magnitudes on, [negative]; infinity when none does. With
     * stochastic rounding they are where overflow is possible, and _sure where it is certain. */
    double overflow_from[2], overflow_sure[2];
    /* As fp64; not used by DTI_LOSS_WIDE. A float without normal numbers has infinity. */
    double src_smallest_normal; /* 0 for integers */
    double dst_smallest_normal; /* 0 for integers: nothing becomes a subnormal */
    bool nan_has_no_code;       /* into dst: a float without NaN */
    bool negative_has_no_code;  /* into dst: an unsigned float */
};
void dti_loss_rule_init(struct dti_loss_rule *ret, const struct dti_format *src,
                        const struct dti_format *dst, const struct dti_policy *policy);
/* The same for a cast with its route; stack (may be NULL): the route and policies are its. */
void dti_loss_rule_init_cast(struct dti_loss_rule *ret, const struct dti_format *src,
                             const struct dti_cast *cast, const struct dti_stack_rule *stack);

/* Adds a tile, or the array's last part of one: n <= DTI_TILE elements whose first has the global
 * index `index`, a multiple of DTI_TILE. source and stored are fp32 or fp64 arrays as rule->hub
 * says, of any alignment. For DTI_LOSS_WIDE they are arrays of uint64_t codes. */
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
/* A cast by one kernel of which the loss is counted on the way: numbers of the rule's hub to codes,
 * or codes to such numbers as they are. */
struct dti_loss_cast {
    const struct dti_kernel *kernel;
    const struct dti_kernel_args *args;
    size_t source_bytes, code_bytes; /* of an element */
    const struct dti_kernel *back;   /* codes to numbers; not used where those are the result */
    const struct dti_kernel_args *back_args;
};
/* Casts n elements, as the kernel does, and adds their loss, tile by tile, as a loss kernel does.
 * stream: as in struct dti_kernel_args. source is aligned like its type. */
typedef void dti_loss_cast_fn(const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                              void *codes, const void *source, size_t n, uint64_t index,
                              bool stream, struct dti_loss *loss);
/* What does that for a kernel and its parameters; NULL: nothing does. */
dti_loss_cast_fn *dti_loss_cast_find(const struct dti_kernel *kernel,
                                     const struct dti_kernel_args *args);

/* The definition: n <= DTI_TILE elements with their exact source values and what was stored. The
 * wide kernel, text input and the reference go through here. */
void dti_loss_add_values(const struct dti_loss_rule *rule, const struct dti_value *source,
                         const uint64_t *stored_codes, size_t n, uint64_t index,
                         struct dti_loss *loss);

/* Adds the flags of a tile that the counts do not give: underflow, and those of NaN and infinities.
 * Numbers as for a kernel of rule->hub, which is not DTI_LOSS_WIDE; one rounding only. */
void dti_loss_add_flags(const struct dti_loss_rule *rule, const void *source, const void *stored,
                        size_t n, struct dti_loss *loss);

/* The best row at the allowed level; never NULL. */
const struct dti_loss_kernel *dti_loss_kernel_find(enum dti_loss_hub hub, enum dti_level allowed);

#endif
