/* SPDX-License-Identifier: MIT
 *
 * Array kernels: rows of kernels.def. A cast is made of at most a few of them in a chain, each from
 * one array to the next: unpack, decode to a hub, encode from the hub, pack. Hubs are the four
 * machine types that hold every smaller dtype exactly; there is one rounding, in the encoding. What
 * a kernel does is its operation; what formats it does it for is its row; its parameters are
 * derived from the format rows and policies when a plan is made, never from names. */
#ifndef KERNELS_KERNEL_H
#define KERNELS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/storage.h"
#include "dtinfo/value.h"
#include "kernels/cpu.h"
#include "kernels/streaming.h"

enum dti_operation {
    DTI_OP_TABLE,        /* 1-byte containers -> any container, by a table of 256 codes */
    DTI_OP_DECODE_HUB32, /* codes of a float or integer format that fp32 holds exactly -> fp32 */
    DTI_OP_DECODE_HUB64, /* the same for fp64 */
    DTI_OP_DECODE_I64,   /* int8..int64, uint8..uint32, bool -> int64 */
    DTI_OP_ENCODE_HUB32, /* fp32 -> codes of any float, integer or bool format; floats: no smaller
                          * exponents than fp32 (dti_encoder_takes_hub32) */
    DTI_OP_ENCODE_HUB64, /* fp64 -> codes of any format whose range lies within fp64's */
    DTI_OP_ENCODE_I64,   /* int64 -> codes of any format */
    DTI_OP_ENCODE_U64,   /* uint64 -> codes of any format */
    DTI_OP_ODD_HUB64_HUB32, /* fp64 -> fp32 rounded to odd: keeps every later rounding to 22 bits of
                             * precision or less, with exponents from -126, the one rounding */
    DTI_OP_ODD_I64_HUB64,   /* int64 -> fp64 rounded to odd */
    DTI_OP_ODD_U64_HUB64,
    DTI_OP_UNPACK, /* packed codes of 1 to 7 bits -> one a byte */
    DTI_OP_PACK,   /* one a byte -> packed; the last byte's padding is zero */
    DTI_OP_SWAP,   /* reverses the bytes of 2-, 4- or 8-byte containers */
    DTI_OP_COPY,
    DTI_OP_COUNT
};
const char *dti_operation_name(enum dti_operation op); /* "encode_f32" */

/* What a kernel needs to know to decode a format. Filled by dti_decoder_init(). */
struct dti_decoder {
    struct dti_format format;
    unsigned container, code_shift;
    unsigned man_bits;
    int32_t bias, min_exponent; /* of the smallest normal */
    uint64_t sign_bit;          /* in the code; 0: unsigned */
    uint64_t max_magnitude;     /* the code of the largest finite number */
    uint64_t inf, nan;          /* codes, of infinity (0: none) and of -0 as NaN (FNUZ, P3109) */
};
void dti_decoder_init(struct dti_decoder *ret, const struct dti_format *format);

/* What a kernel needs to know to encode into a format under a policy. All codes here were asked of
 * dti_encode(), indexed by [negative]. Filled by dti_encoder_init(). */
struct dti_encoder {
    struct dti_format format;
    struct dti_policy policy; /* with the rounding that applies to this format */
    unsigned container, code_shift;
    unsigned man_bits;
    int32_t bias, min_exponent;
    uint64_t sign_bit;      /* 0: no negative numbers */
    uint64_t max_magnitude; /* floats: code of the largest finite; integers: of the largest */
    uint64_t overflow[2];   /* a finite magnitude beyond max_magnitude after rounding */
    uint64_t inf[2];
    uint64_t nan[2];        /* without payload */
    uint64_t nan_payload;   /* mask of the bits below the quiet bit that take the payload, or 0 */
    uint64_t zero[2];       /* of +0 and -0, and of what rounds to them */
    uint64_t negative;      /* unsigned floats: a negative that does not round to zero */
    bool negative_zero_bad; /* e8m0: so is a negative that would */
    bool parity_of_code;    /* ties look at the code, not the significand: P3109 without mantissa */
    bool scale;             /* e8m0: no zero; code 0 is 2^-bias */
};
void dti_encoder_init(struct dti_encoder *ret, const struct dti_format *format,
                      const struct dti_policy *policy);

/* Whether DTI_OP_ENCODE_HUB32 takes the format: integers and bool, and floats whose smallest normal
 * is 2^-126 or more, whose largest is below 2^128 and that have 23 mantissa bits or less. */
bool dti_encoder_takes_hub32(const struct dti_format *format);
/* The same of DTI_OP_ENCODE_HUB64: smallest normal at least 2^-1022, largest below 2^1024, 52 bits.
 */
bool dti_encoder_takes_hub64(const struct dti_format *format);
/* Whether rounding to odd in fp32 (in fp64) may precede the rounding into the format: deterministic
 * modes, and a last bit at least two places above that of fp32 (fp64) everywhere in its range. */
bool dti_encoder_takes_odd_hub32(const struct dti_encoder *encoder);
bool dti_encoder_takes_odd_hub64(const struct dti_encoder *encoder);
/* Whether every number of the format is one of fp32 (fp64). */
bool dti_format_fits_hub32(const struct dti_format *format);
bool dti_format_fits_hub64(const struct dti_format *format);

/* DTI_OP_TABLE: a whole cast from a format of 8 bits or less, as dti_encode() answers it. */
struct dti_code_table {
    unsigned container;     /* of the destination: 1, 2, 4 or 8 bytes */
    unsigned planes;        /* how many byte planes, from the highest, are not all zero */
    uint64_t word[256];     /* destination container by source code */
    uint8_t plane[8][256];  /* byte i of word[], i = 0 the lowest */
    struct dti_decoder src; /* for kernels that rather compute than look up */
    struct dti_format dst;
};
void dti_code_table_init(struct dti_code_table *ret, const struct dti_format *src,
                         const struct dti_format *dst, const struct dti_policy *policy);

/* The parameters of one kernel in one plan; which member is set follows from the operation. */
struct dti_kernel_args {
    const struct dti_decoder *decoder;  /* DECODE_* */
    const struct dti_encoder *encoder;  /* ENCODE_* */
    const struct dti_code_table *table; /* TABLE */
    unsigned bits;                      /* UNPACK, PACK: 1 to 7; SWAP: bytes of a container; COPY:
                                         * bytes of an element */
    bool high_first;                    /* UNPACK, PACK: DTI_PACKING_HIGH */
    const struct dti_streaming *stream; /* results go to memory past the caches (a hint); before
                                         * other threads look: dti_stores_order(). NULL: cached */
    uint64_t index;                     /* of the first element (stochastic rounding) */
};

/* n elements from src to dst; any alignment; the two do not overlap. Reads and writes exactly the
 * bytes of n elements (PACK and UNPACK: rounded up to bytes), though it may prefetch beyond. */
typedef void dti_kernel_fn(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n);

/* Which formats a row is for: those that are encoded or decoded; for TABLE the destination. */
enum dti_kernel_domain {
    DTI_DOMAIN_ANY,  /* all that the operation takes */
    DTI_DOMAIN_FP32, /* just this format: rows equal to its encoding count too */
    DTI_DOMAIN_FP16,
    DTI_DOMAIN_BF16,
    DTI_DOMAIN_SMALL, /* signed floats of 8 bits or less with a mantissa, the largest number below
                       * 2^65: fp8, fp6, fp4 */
    DTI_DOMAIN_INT8,  /* int8 and uint8 */
    DTI_DOMAIN_INT32, /* int32 and uint32 */
    DTI_DOMAIN_INT8_TO_32, /* int8, int16, int32, uint8, uint16, uint32 */
    DTI_DOMAIN_BYTES,      /* TABLE: 1-, 2- and 4-byte containers */
    DTI_DOMAIN_BITS4,      /* UNPACK, PACK: codes of 4 bits */
};

struct dti_kernel {
    const char *name; /* the function's own name */
    dti_kernel_fn *run;
    enum dti_operation op;
    enum dti_kernel_domain domain;
    unsigned rounds;    /* ENCODE_*: set of 1 << enum dti_round; 0 elsewhere */
    unsigned overflows; /* ENCODE_*: set of 1 << enum dti_overflow; 0 elsewhere */
    enum dti_level level;
};
extern const struct dti_kernel dti_kernels[];
extern const size_t dti_kernel_count;

/* A kernel's name for people, without the prefix of C symbols. */
const char *dti_kernel_title(const char *name);

/* Whether a row does what args ask for (args->encoder, decoder or table is set as op needs). */
bool dti_kernel_fits(const struct dti_kernel *kernel, enum dti_operation op,
                     const struct dti_kernel_args *args);

/* The first row that fits and that `allowed` includes. Never NULL for what the plan may ask: the
 * portable rows, last, take everything that the operation takes. */
const struct dti_kernel *dti_kernel_find(enum dti_operation op, const struct dti_kernel_args *args,
                                         enum dti_level allowed);

#endif
