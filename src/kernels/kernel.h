/* SPDX-License-Identifier: MIT
 *
 * Array kernels: rows of kernels.def. A cast is a chain of at most a few of them, each from one
 * array to the next: unpack, decode to a hub, encode from the hub, pack. Hubs are the four
 * machine types that represent every smaller dtype exactly; the only rounding is in the
 * encoding. The operation says what a kernel does, and the row for which formats. Its parameters
 * are derived from format rows and policies when a plan is made, never from names. */
#ifndef KERNELS_KERNEL_H
#define KERNELS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/storage.h"
#include "core/value.h"
#include "kernels/cpu.h"
#include "kernels/streaming.h"

enum dti_operation {
    DTI_OP_TABLE,           /* 1-byte containers -> any container, by a table of 256 codes */
    DTI_OP_DECODE_HUB32,    /* codes of a float or integer format that fp32 holds exactly -> fp32 */
    DTI_OP_DECODE_HUB64,    /* the same for fp64 */
    DTI_OP_DECODE_I64,      /* int8..int64, uint8..uint32, bool -> int64 */
    DTI_OP_ENCODE_HUB32,    /* fp32 -> codes of any float, integer or bool format; floats must not
                             * have smaller exponents than fp32 (dti_encoder_takes_hub32) */
    DTI_OP_ENCODE_HUB64,    /* fp64 -> codes of any format within the range of fp64 */
    DTI_OP_ENCODE_I64,      /* int64 -> codes of any format */
    DTI_OP_ENCODE_U64,      /* uint64 -> codes of any format */
    DTI_OP_ODD_HUB64_HUB32, /* fp64 -> fp32 rounded to odd: a later rounding to at most 22 bits
                             * of precision, with exponents from -126, is then equivalent to a
                             * single rounding */
    DTI_OP_ODD_I64_HUB64,   /* int64 -> fp64 rounded to odd */
    DTI_OP_ODD_U64_HUB64,
    DTI_OP_UNPACK, /* packed codes of 1 to 7 bits -> one per byte */
    DTI_OP_PACK,   /* one per byte -> packed; the last byte is padded with zeros */
    DTI_OP_SWAP,   /* reverses the bytes of 2-, 4- or 8-byte containers */
    DTI_OP_COPY,
    DTI_OP_COUNT
};
const char *dti_operation_name(enum dti_operation op); /* "encode_f32" */

/* Parameters to decode a format, set by dti_decoder_init(). */
struct dti_decoder {
    struct dti_format format;
    unsigned container, code_shift;
    unsigned man_bits;
    int32_t bias, min_exponent; /* of the smallest normal */
    uint64_t sign_bit;          /* mask; 0: unsigned */
    uint64_t max_magnitude;     /* code of the largest finite number */
    uint64_t inf, nan;          /* codes: infinity (0: none); -0 as NaN (FNUZ, P3109) */
};
void dti_decoder_init(struct dti_decoder *ret, const struct dti_format *format);

/* Parameters to encode a format under a policy, set by dti_encoder_init(). All codes come from
 * dti_encode() and are indexed by [negative]. */
struct dti_encoder {
    struct dti_format format;
    struct dti_policy policy; /* with the rounding mode that applies to this format */
    unsigned container, code_shift;
    unsigned man_bits;
    int32_t bias, min_exponent;
    uint64_t sign_bit;      /* 0: no negative numbers */
    uint64_t max_magnitude; /* code of the largest finite number or integer */
    uint64_t overflow[2];   /* for finite magnitudes beyond max_magnitude after rounding */
    uint64_t inf[2];
    uint64_t nan[2];        /* without payload */
    uint64_t nan_payload;   /* mask of the bits below the quiet bit that receive the payload, or
                             * 0 */
    uint64_t zero[2];       /* for +0 and -0, and what rounds to them */
    uint64_t negative;      /* unsigned floats: code for negative numbers that do not round to
                             * zero */
    bool negative_zero_bad; /* e8m0: also for those that would round to zero */
    bool parity_of_code;    /* ties use the parity of the code, not of the significand: P3109
                             * without mantissa */
    bool scale;             /* e8m0: no zero; code 0 is 2^-bias */
};
void dti_encoder_init(struct dti_encoder *ret, const struct dti_format *format,
                      const struct dti_policy *policy);

/* Whether DTI_OP_ENCODE_HUB32 supports a format: integers and bool, and floats with smallest
 * normal >= 2^-126, largest number < 2^128 and at most 23 mantissa bits. */
bool dti_encoder_takes_hub32(const struct dti_format *format);
/* Likewise for DTI_OP_ENCODE_HUB64: smallest normal >= 2^-1022, largest < 2^1024, 52 bits. */
bool dti_encoder_takes_hub64(const struct dti_format *format);
/* Whether rounding to odd in fp32 (fp64) may precede the rounding to the format: requires a
 * deterministic mode, and a last place at least two bits above that of fp32 (fp64) in its whole
 * range. */
bool dti_encoder_takes_odd_hub32(const struct dti_encoder *encoder);
bool dti_encoder_takes_odd_hub64(const struct dti_encoder *encoder);
/* Whether fp32 (fp64) can represent every number of the format. */
bool dti_format_fits_hub32(const struct dti_format *format);
bool dti_format_fits_hub64(const struct dti_format *format);

/* DTI_OP_TABLE: a complete cast from a format of at most 8 bits, precomputed with dti_encode(). */
struct dti_code_table {
    unsigned container;     /* bytes per destination container: 1, 2, 4 or 8 */
    unsigned planes;        /* number of byte planes, from the highest, that are not all zero */
    uint64_t word[256];     /* destination container for each source code */
    uint8_t plane[8][256];  /* byte i of word[], i = 0 the lowest */
    struct dti_decoder src; /* for kernels that compute instead of looking up */
    struct dti_format dst;
};
void dti_code_table_init(struct dti_code_table *ret, const struct dti_format *src,
                         const struct dti_format *dst, const struct dti_policy *policy);

/* The parameters of one kernel in a plan; the operation determines which members are set. */
struct dti_kernel_args {
    const struct dti_decoder *decoder;  /* DECODE_* */
    const struct dti_encoder *encoder;  /* ENCODE_* */
    const struct dti_code_table *table; /* TABLE */
    unsigned bits;                      /* UNPACK, PACK: 1 to 7; SWAP: bytes per container; COPY:
                                         * bytes per element */
    bool high_first;                    /* UNPACK, PACK: DTI_PACKING_HIGH */
    const struct dti_streaming *stream; /* use streaming stores (a hint); call dti_stores_order()
                                         * before other threads read the result. NULL: cached
                                         * stores */
    uint64_t index;                     /* index of the first element (stochastic rounding) */
};

/* Processes n elements from src to dst; any alignment; no overlap. Reads and writes exactly the
 * bytes of n elements (PACK and UNPACK: rounded up to bytes), but may prefetch beyond. */
typedef void dti_kernel_fn(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n);

/* The formats that a row supports: the encoded or decoded format; for TABLE the destination. */
enum dti_kernel_domain {
    DTI_DOMAIN_ANY,     /* all that the operation supports; tapered formats only for TABLE */
    DTI_DOMAIN_TAPERED, /* formats whose precision depends on the exponent */
    DTI_DOMAIN_FP32,    /* this format, or one with the same encoding */
    DTI_DOMAIN_FP16,
    DTI_DOMAIN_BF16,
    DTI_DOMAIN_SMALL,      /* signed floats within fp32 of at most 8 bits, with a mantissa, below
                            * 2^65: fp8, fp6, fp4 */
    DTI_DOMAIN_INT8,       /* int8 and uint8 */
    DTI_DOMAIN_INT32,      /* int32 and uint32 */
    DTI_DOMAIN_INT8_TO_32, /* int8, int16, int32, uint8, uint16, uint32 */
    DTI_DOMAIN_BYTES,      /* TABLE: 1-, 2- and 4-byte containers */
    DTI_DOMAIN_BITS4,      /* UNPACK, PACK: codes of 4 bits */
};

struct dti_kernel {
    const char *name; /* name of the function */
    dti_kernel_fn *run;
    enum dti_operation op;
    enum dti_kernel_domain domain;
    unsigned rounds;    /* ENCODE_*: set of 1 << enum dti_round; otherwise 0 */
    unsigned overflows; /* ENCODE_*: set of 1 << enum dti_overflow; otherwise 0 */
    enum dti_level level;
};
extern const struct dti_kernel dti_kernels[];
extern const size_t dti_kernel_count;

/* A kernel's display name, without the prefix of C symbols. */
const char *dti_kernel_title(const char *name);

/* Whether a row supports args (args->encoder, decoder or table is set as op requires). */
bool dti_kernel_fits(const struct dti_kernel *kernel, enum dti_operation op,
                     const struct dti_kernel_args *args);

/* The first row that fits and is included in `allowed`. Never NULL for valid plans: the portable
 * rows at the end support everything that the operation does. */
const struct dti_kernel *dti_kernel_find(enum dti_operation op, const struct dti_kernel_args *args,
                                         enum dti_level allowed);

#endif
