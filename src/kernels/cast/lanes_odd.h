/* SPDX-License-Identifier: MIT
 *
 * The two hubs as destinations of rounding to odd: constants that the compiler folds into the
 * loops. A test compares them with dti_encoder_init(). */
#ifndef KERNELS_CAST_LANES_ODD_H
#define KERNELS_CAST_LANES_ODD_H

#include "kernels/lanes.h"

/* An IEEE 754 binary format; overflow when rounding to odd gives the largest finite number. inf
 * and sign are codes. */
#define DTI_LANES_ODD(width_, exp, man, inf_, sign)                                             \
    {                                                                                           \
        .format = {.kind = DTI_KIND_FLOAT,                                                      \
                   .specials = DTI_SPECIALS_IEEE,                                               \
                   .width = (width_),                                                           \
                   .exp_bits = (exp),                                                           \
                   .man_bits = (man),                                                           \
                   .bias = (1 << ((exp)-1)) - 1},                                               \
        .policy = {.round = DTI_ROUND_ODD}, .container = (width_) / 8, .man_bits = (man),       \
        .bias = (1 << ((exp)-1)) - 1, .min_exponent = 2 - (1 << ((exp)-1)), .sign_bit = (sign), \
        .max_magnitude = (inf_)-1, .overflow = {(inf_)-1, (sign) + (inf_)-1},                   \
        .inf = {(inf_), (sign) + (inf_)},                                                       \
        .nan = {(inf_) + (UINT64_C(1) << ((man)-1)),                                            \
                (sign) + (inf_) + (UINT64_C(1) << ((man)-1))},                                  \
        .nan_payload = (UINT64_C(1) << ((man)-1)) - 1, .zero = {                                \
            0,                                                                                  \
            (sign)                                                                              \
        }                                                                                       \
    }

#define DTI_LANES_ODD_FP32 DTI_LANES_ODD(32, 8, 23, UINT64_C(0x7f800000), UINT64_C(0x80000000))
#define DTI_LANES_ODD_FP64 \
    DTI_LANES_ODD(64, 11, 52, UINT64_C(0x7ff0000000000000), UINT64_C(0x8000000000000000))

#endif
