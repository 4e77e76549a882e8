/* SPDX-License-Identifier: MIT
 *
 * The dtype table: rows of dtypes.def as structs, and the checks that a row adds up. Rows that
 * cannot be right do not compile. */
#include "dtinfo/dtype.h"

#include <assert.h>

static const struct dti_format formats[DTI_DTYPE_COUNT] = {
#define DTYPE(row, row_name, k, w, e, m, b, s, p) \
    [DTI_##row] = {.name = row_name,              \
                   .id = DTI_##row,               \
                   .kind = DTI_KIND_##k,          \
                   .specials = DTI_SPECIALS_##s,  \
                   .width = w,                    \
                   .exp_bits = e,                 \
                   .man_bits = m,                 \
                   .bias = b,                     \
                   .component = DTI_##p},
#include "dtinfo/dtypes.def"
#undef DTYPE
};

/* The bits that are neither exponent nor mantissa: the sign, or the idle ones of a bool's byte. */
#define REST_FLOAT(w)   1
#define REST_UFLOAT(w)  0
#define REST_INT(w)     1
#define REST_UINT(w)    0
#define REST_BOOL(w)    7
#define REST_COMPLEX(w) (w)

#define IS_COMPLEX_FLOAT   0
#define IS_COMPLEX_UFLOAT  0
#define IS_COMPLEX_INT     0
#define IS_COMPLEX_UINT    0
#define IS_COMPLEX_BOOL    0
#define IS_COMPLEX_COMPLEX 1

/* clang-format off */
#define DTYPE(row, row_name, k, w, e, m, b, s, p)                                                  \
    _Static_assert(REST_##k(w) + (e) + (m) == (w), row_name ": sign, exponent and mantissa do not fill the width"); \
    _Static_assert((e) <= DTI_EXPONENT_BITS_MAX, row_name ": exponent field too wide");            \
    _Static_assert(sizeof row_name <= DTI_NAME_SIZE, row_name ": name too long");                  \
    _Static_assert(((w) <= 64) || IS_COMPLEX_##k, row_name ": a code must fit 64 bits");           \
    _Static_assert((DTI_##p != DTI_NONE) == IS_COMPLEX_##k, row_name ": complex and nothing else has parts"); \
    _Static_assert(((e) != 0) == (DTI_SPECIALS_##s != DTI_SPECIALS_NONE), row_name ": floats need specials"); \
    _Static_assert(((e) == 0) || ((b) >= 0 && (b) < (1 << (e)) + 1), row_name ": bias outside the exponent field");
#include "dtinfo/dtypes.def"
#undef DTYPE
/* clang-format on */

const struct dti_format *dti_format_get(enum dti_dtype id)
{
    assert((size_t)id < DTI_DTYPE_COUNT);
    return &formats[id];
}

const struct dti_format *dti_real_format(const struct dti_format *dtype)
{
    return dtype->kind == DTI_KIND_COMPLEX ? dti_format_get(dtype->component) : dtype;
}

const char *dti_kind_name(enum dti_kind kind)
{
    static const char names[][16] = {
        [DTI_KIND_FLOAT] = "float", [DTI_KIND_UFLOAT] = "unsigned_float",
        [DTI_KIND_INT] = "int",     [DTI_KIND_UINT] = "uint",
        [DTI_KIND_BOOL] = "bool",   [DTI_KIND_COMPLEX] = "complex",
    };
    return names[kind];
}
