/* SPDX-License-Identifier: MIT
 *
 * Definition of a number format: one row of dtypes.def, or a parsed name (eXmY, intN) in the same
 * form. Everything else in the program (limits, casts, spelling, help) is computed from this
 * struct. */
#ifndef CORE_DTYPE_DTYPE_H
#define CORE_DTYPE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/dtype.h"
#include "util/error.h"

/* The meaning of the topmost codes of a float. */
enum dti_specials {
    DTI_SPECIALS_NONE, /* integers, bool, complex */
    DTI_SPECIALS_IEEE, /* top exponent holds infinity and the NaNs (no NaN without mantissa bits) */
    DTI_SPECIALS_FN,   /* no infinity; the all-ones magnitude is NaN */
    DTI_SPECIALS_FNUZ, /* no infinity, no minus zero; the code of minus zero is the NaN */
    DTI_SPECIALS_FINITE, /* every code is a number */
    DTI_SPECIALS_SCALE,  /* powers of two from 2^-bias; all-ones is NaN; no zero, no subnormals */
    DTI_SPECIALS_P3109E, /* IEEE P3109 extended: one zero; NaN at the code of -0 (signed) or
                          * all-ones (unsigned); infinity at the highest other code of each sign */
    DTI_SPECIALS_P3109F, /* IEEE P3109 finite: the same without infinities */
    DTI_SPECIALS_TAPER,  /* the precision depends on the exponent (tapers.def); one zero; NaN at
                          * the code of -0; infinity is the next number after the largest */
    DTI_SPECIALS_POSIT,  /* likewise, in two's complement; no infinity; NaN (NaR) at the code of the
                          * sign alone; no number but zero is rounded to zero, none beyond the
                          * largest */
};

enum dti_dtype {
#define DTYPE(id, ...) DTI_##id,
#include "core/dtype/dtypes.def"
#undef DTYPE
    DTI_DTYPE_COUNT,           /* also the id of a parsed format, which has no row */
    DTI_NONE = DTI_DTYPE_COUNT /* no dtype */
};

enum { DTI_NAME_SIZE = 32, DTI_EXPONENT_BITS_MAX = 19 };

struct dti_format {
    char name[DTI_NAME_SIZE]; /* the spelling that every command prints */
    enum dti_dtype id;
    enum dti_kind kind;
    enum dti_specials specials;
    uint8_t width;    /* bits of one element: 1 to 64, complex up to 128 */
    uint8_t exp_bits; /* 0 for integers */
    uint8_t man_bits; /* stored mantissa bits; for integers the magnitude bits */
    int32_t bias;
    enum dti_dtype component; /* complex only: the dtype of the two components */
};

/* "float", "unsigned_float", "int", "uint", "bool", "complex". */
const char *dti_kind_name(enum dti_kind kind);

/* The row of a dtype; id < DTI_DTYPE_COUNT. */
const struct dti_format *dti_format_get(enum dti_dtype id);

/* The format whose limits apply: the dtype itself, or the component dtype of a complex one. */
const struct dti_format *dti_real_format(const struct dti_format *dtype);

/* Finds a dtype by canonical name, alias, library-prefixed alias ("torch.bfloat16", "np.float32"),
 * or parses "[u]eXmY[fn|fnuz][bBIAS]", "binaryKpP[s|u][e|f]", "intN" and "uintN". Ignores case.
 * *ret_note (may be NULL) receives a note on names that need one ("e4m3 means fp8_e4m3fn here;
 * ..."), else NULL. Fails with DTI_UNKNOWN_DTYPE, DTI_AMBIGUOUS_DTYPE or, for a block format,
 * DTI_WRONG_KIND, and with suggestions. */
enum dti_status dti_format_lookup(const char *name, struct dti_format *ret_format,
                                  const char **ret_note, struct dti_error *reterr);

/* Calls add() for each dtype name in a comma-separated list. Fails with DTI_UNKNOWN_DTYPE for an
 * empty or overlong name, and as add() does. */
typedef enum dti_status dti_add_dtype_fn(void *context, const char *name, struct dti_error *reterr);
enum dti_status dti_each_dtype(const char *list, dti_add_dtype_fn *add, void *context,
                               struct dti_error *reterr);

/* Names of one dtype in other systems: rows of dtype_names.def. */
enum dti_system {
    DTI_SYSTEM_COMMON, /* spellings that belong to no single system: "f32", "e4m3fn" */
    DTI_SYSTEM_TORCH,
    DTI_SYSTEM_NUMPY,
    DTI_SYSTEM_NPY, /* the descr string of a .npy header */
    DTI_SYSTEM_ML_DTYPES,
    DTI_SYSTEM_XLA,
    DTI_SYSTEM_MLIR,
    DTI_SYSTEM_ONNX,
    DTI_SYSTEM_SAFETENSORS,
    DTI_SYSTEM_GGUF,
    DTI_SYSTEM_CUDA,
    DTI_SYSTEM_TRITON,
    DTI_SYSTEM_COUNT
};

struct dti_dtype_name {
    enum dti_dtype dtype;
    enum dti_system system;
    char name[20]; /* rows hold their text: a pointer would be relocated at each start */
    int number;    /* the system's numeric id (ONNX, GGUF), or -1 */
};
extern const struct dti_dtype_name dti_dtype_names[];
extern const size_t dti_dtype_name_count;
const char *dti_system_title(enum dti_system system); /* "torch", "safetensors", ... */

/* Block formats: elements that share a scale. Rows of blocks.def. */
enum dti_block_family {
    DTI_BLOCKS_MX, /* OCP MX: powers of two */
    DTI_BLOCKS_NV, /* NVFP4: one fp8 scale per block, one fp32 scale for the whole tensor */
    DTI_BLOCKS_NF, /* NF4, FP4 of bitsandbytes: a code table, scaled by the largest magnitude */
    DTI_BLOCKS_Q8, /* ggml's Q8_0 */
    DTI_BLOCKS_Q4, /* ggml's Q4_0 */
};
enum dti_block {
#define BLOCK(id, ...) DTI_BLOCK_##id,
#include "core/dtype/blocks.def"
#undef BLOCK
    DTI_BLOCK_COUNT
};
struct dti_block_format {
    char name[12], aliases[28], summary[48]; /* aliases: comma-separated */
    char element[16]; /* for human-readable output: a dtype's name, "16-entry table" */
    enum dti_block id;
    enum dti_block_family family;
    enum dti_dtype code, scale; /* the dtypes whose encodings the codes and scales use */
    uint16_t length;            /* elements in a block */
    uint16_t bytes;             /* bytes of a block including its scale, with packed codes */
};
extern const struct dti_block_format dti_block_formats[]; /* by enum dti_block */
extern const size_t dti_block_format_count;
const struct dti_block_format *dti_block_lookup(const char *name); /* NULL if not found */

static inline bool dti_format_is_float(const struct dti_format *f)
{
    return f->kind == DTI_KIND_FLOAT || f->kind == DTI_KIND_UFLOAT;
}

static inline bool dti_format_is_integer(const struct dti_format *f)
{
    return f->kind == DTI_KIND_INT || f->kind == DTI_KIND_UINT || f->kind == DTI_KIND_BOOL;
}

/* Whether the precision depends on the exponent. exp_bits and man_bits are then the most that a
 * number has. */
static inline bool dti_format_is_tapered(const struct dti_format *f)
{
    return f->specials == DTI_SPECIALS_TAPER || f->specials == DTI_SPECIALS_POSIT;
}

/* Whether negative numbers exist. */
static inline bool dti_format_is_signed(const struct dti_format *f)
{
    return f->kind == DTI_KIND_FLOAT || f->kind == DTI_KIND_INT;
}

static inline bool dti_format_has_inf(const struct dti_format *f)
{
    return f->specials == DTI_SPECIALS_IEEE || f->specials == DTI_SPECIALS_P3109E ||
           f->specials == DTI_SPECIALS_TAPER;
}

static inline bool dti_format_has_nan(const struct dti_format *f)
{
    return f->specials != DTI_SPECIALS_NONE && f->specials != DTI_SPECIALS_FINITE &&
           !(f->specials == DTI_SPECIALS_IEEE && f->man_bits == 0);
}

static inline bool dti_format_has_minus_zero(const struct dti_format *f)
{
    return f->kind == DTI_KIND_FLOAT &&
           (f->specials == DTI_SPECIALS_IEEE || f->specials == DTI_SPECIALS_FN ||
            f->specials == DTI_SPECIALS_FINITE);
}

/* Whether arrays may pack codes more tightly than one per byte. fp8_ue4m3 has 7 bits, but PTX
 * defines it as a byte whose highest bit is zero. */
static inline bool dti_format_packs(const struct dti_format *f)
{
    return f->width < 8 && f->id != DTI_FP8_UE4M3;
}

/* A mask of the low `bits` bits, 0 <= bits <= 64. */
static inline uint64_t dti_low_bits(unsigned bits)
{
    return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

/* The sign bit of a format that has one, else 0. */
static inline uint64_t dti_format_sign_bit(const struct dti_format *f)
{
    return dti_format_is_signed(f) ? UINT64_C(1) << (f->width - 1) : 0;
}

#endif
