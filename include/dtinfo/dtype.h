/* SPDX-License-Identifier: MIT
 *
 * Number formats, and single numbers: text, value and code. Integer arithmetic only; the results
 * are the same on every machine. */
#ifndef DTINFO_DTYPE_H
#define DTINFO_DTYPE_H

#include "dtinfo/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number format: a row of the table of dtypes, which lives forever, or one that was made of a
 * name such as "e5m3" and lives as long as its context. One format has one address in a context. */
struct dti_format;

enum dti_kind {
    DTI_KIND_FLOAT = 0,   /* sign, exponent, mantissa */
    DTI_KIND_UFLOAT = 1,  /* exponent, mantissa: no sign, no negative numbers */
    DTI_KIND_INT = 2,     /* two's complement */
    DTI_KIND_UINT = 3,    /* no sign */
    DTI_KIND_BOOL = 4,    /* 0 or 1 in one byte */
    DTI_KIND_COMPLEX = 5, /* two floats, real part first */
};

/* How codes below 8 bits are stored in an array. */
enum dti_packing {
    DTI_PACKING_LOW = 0,   /* element 0 in the lowest bits of byte 0 (ONNX, torch, safetensors) */
    DTI_PACKING_HIGH = 1,  /* element 0 in the highest bits of byte 0 (bitsandbytes) */
    DTI_PACKING_BYTES = 2, /* one element per byte, in its low bits (ml_dtypes, numpy) */
};

/* Finds a format by its name, by a name of another system ("torch.bfloat16", "F8_E4M3", "<f4"), or
 * by a name that defines it: "[u]eXmY[fn|fnuz][bBIAS]", "binaryKpP[s|u][e|f]", "intN", "uintN".
 * Ignores case. *ret_note (may be NULL): a remark on a name that needs one ("e4m3 means fp8_e4m3fn
 * here; ..."), else NULL. Fails with DTI_UNKNOWN_DTYPE and DTI_AMBIGUOUS_DTYPE, with suggestions;
 * with DTI_WRONG_KIND for a block format (block.h); with DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_format_find(struct dti_context *context, const char *name,
                                           const struct dti_format **ret, const char **ret_note,
                                           struct dti_error *reterr);
/* The rows of the table in order: the first one for NULL; NULL after the last. */
DTI_PUBLIC const struct dti_format *dti_format_next(const struct dti_format *format);
DTI_PUBLIC const char *dti_format_name(const struct dti_format *format); /* "bf16" */
/* Its names in another system, by index from 0: "torch" gives "bfloat16". system: "torch",
 * "numpy", "npy", "ml_dtypes", "xla", "mlir", "onnx", "safetensors", "gguf", "cuda", "triton", or
 * "common" for names that belong to none. NULL after the last one. */
DTI_PUBLIC const char *dti_format_alias(const struct dti_format *format, const char *system,
                                        size_t index);
/* The libraries and instruction sets whose casts can be imitated, by index from 0: "torch",
 * "numpy", ...; NULL after the last. */
DTI_PUBLIC const char *dti_stack_word(size_t index);

/* A number, exactly. This struct never changes. */
enum dti_class { DTI_CLASS_ZERO, DTI_CLASS_FINITE, DTI_CLASS_INF, DTI_CLASS_NAN };

/* FINITE: (-1)^negative x 1.xxx x 2^exponent, where hi:lo is the 128-bit significand with its
 * leading one at bit 63 of hi. sticky: the true magnitude lies strictly between this significand
 * and the next one up, so the value is known well enough for one correct rounding to up to 126
 * bits. NAN: hi is the mantissa field, left-aligned (bit 63 is the quiet bit); lo, exponent, sticky
 * are 0. */
struct dti_value {
    enum dti_class kind;
    bool negative;
    bool sticky;
    int32_t exponent;
    uint64_t hi, lo;
};

enum dti_round {
    DTI_ROUND_NEAREST_EVEN = 0, /* IEEE 754-2019 4.3.1 roundTiesToEven */
    DTI_ROUND_NEAREST_AWAY = 1, /* roundTiesToAway */
    DTI_ROUND_ZERO = 2,         /* 4.3.2 roundTowardZero */
    DTI_ROUND_UP = 3,           /* roundTowardPositive */
    DTI_ROUND_DOWN = 4,         /* roundTowardNegative */
    DTI_ROUND_ODD = 5,          /* inexact results take the neighbour with the odd significand */
    DTI_ROUND_STOCHASTIC = 6,   /* up or down with a probability proportional to the distance, from
                                 * 32 bits of Philox4x32-10 by seed and index of the element */
};

enum dti_overflow {
    DTI_OVERFLOW_NATIVE = 0,   /* infinity, else NaN, else the largest finite; integers clamp */
    DTI_OVERFLOW_SATURATE = 1, /* clamp to the largest finite, infinities too */
    DTI_OVERFLOW_SATURATE_FINITE = 2, /* clamp, but infinities stay native */
    DTI_OVERFLOW_WRAP = 3,            /* integers keep their low bits; floats as native */
};

enum dti_nan {
    DTI_NAN_QUIET = 0,     /* sign and top payload bits kept, quieted */
    DTI_NAN_CANONICAL = 1, /* the format's positive NaN without payload */
};

enum dti_flag {
    DTI_FLAG_INEXACT = 1,   /* the stored number differs from the given one */
    DTI_FLAG_OVERFLOW = 2,  /* beyond the largest finite when rounded, or infinity without a code */
    DTI_FLAG_UNDERFLOW = 4, /* inexact; stored: zero, a subnormal, e8m0's 2^-127 from below */
    DTI_FLAG_INVALID = 8,   /* NaN or infinity into an integer, NaN or a negative without a code */
    DTI_FLAG_SATURATED = 16, /* the stored number is the largest or lowest because of clamping */
    DTI_FLAG_NO_NAN = 32,    /* NaN into a format without NaN: the code is a placeholder */
};

/* What a format can hold: finfo and iinfo. A number that the format lacks is zero, and has
 * `has_...` false where zero could be its value. Integers have max, lowest and their codes, and the
 * counts and digits at the end. */
struct dti_format_info {
    size_t size; /* sizeof(struct dti_format_info) */
    enum dti_kind kind;
    const struct dti_format *component; /* complex: the format of its parts, whose limits follow */
    unsigned bits;                      /* of one element; for complex of both parts */
    unsigned container_bits;            /* of one element that is not packed: 8, 16, 32, 64, 128 */
    bool packs;                         /* arrays may store its codes without gaps */
    unsigned exponent_bits, mantissa_bits; /* 0 for integers, whose magnitude has mantissa_bits */
    int32_t bias;
    bool is_signed, has_inf, has_nan, has_minus_zero, has_subnormals;
    bool has_nan_code;
    struct dti_value max, lowest, smallest_normal, smallest_subnormal;
    struct dti_value eps;           /* from 1 to the next larger number */
    struct dti_value epsneg;        /* from 1 to the next smaller number */
    struct dti_value step_at_max;   /* from the number below max to max */
    struct dti_value overflow_from; /* the least magnitude that nearest-even rounds beyond max; */
    bool overflow_inclusive;        /* false: the largest that it does not */
    struct dti_value to_zero_up_to; /* the largest magnitude that nearest-even rounds to zero; */
    bool to_zero_inclusive;         /* false: the least that it does not */
    uint64_t max_code, lowest_code, smallest_normal_code, smallest_subnormal_code, nan_code;
    uint64_t integers_up_to;            /* every integer from 1 to this is exact; 0 if 1 is not */
    int32_t min_exponent, max_exponent; /* numpy's minexp and maxexp; 0 for integers */
    unsigned precision;    /* significant bits, the hidden one included; integers: magnitude bits */
    unsigned digits10;     /* decimal digits that survive text -> dtype -> text */
    unsigned max_digits10; /* decimal digits that distinguish all numbers */
    uint64_t nan_codes, inf_codes, finite_codes; /* UINT64_MAX: 2^64 */
};
/* Fills the first ret->size bytes of *ret, whose `size` the caller sets. Takes about a microsecond.
 */
DTI_PUBLIC void dti_format_describe(const struct dti_format *format, struct dti_format_info *ret);

/* Whether every number of src is a number of dst, infinities, NaN and minus zero included: whether
 * a cast can never change a number. What a NaN carries (sign, payload) does not count. A real
 * number is also a complex one. */
DTI_PUBLIC bool dti_format_holds(const struct dti_format *dst, const struct dti_format *src);

/* The number that a code stands for, exactly; bits above the format's width are ignored. Not for
 * complex formats (zero then). */
DTI_PUBLIC void dti_value_of_code(const struct dti_format *format, uint64_t code,
                                  struct dti_value *ret);

/* Reads a number: decimal, hexfloat, 0b binary, inf, nan, snan, or a quotient of two, "1/3". No
 * blanks, no locale. `length` bytes, or up to the NUL for SIZE_MAX. Fails with DTI_BAD_VALUE. */
DTI_PUBLIC enum dti_status dti_value_read(struct dti_context *context, const char *text,
                                          size_t length, struct dti_value *ret,
                                          struct dti_error *reterr);

enum dti_spelling {
    DTI_SPELL_SHORTEST = 0, /* the fewest digits that read back as this number: 0.1 */
    DTI_SPELL_EXACT = 1,    /* all digits, no exponent: 0.0999755859375 */
    DTI_SPELL_HEX = 2,      /* C's %a with the fewest digits: 0x1.998p-4 */
};
/* Writes a number and a NUL, cut to `capacity` bytes, and returns the length of the whole text
 * without the NUL, like snprintf(); buffer may be NULL if capacity is 0. format: in which SHORTEST
 * reads back, laid out like C's %.*g ("6.55e+04"). NULL: the number is rounded to fp64 first, or
 * beyond its range to 64 significant bits (to 17 digits beyond 2^+-264000, where no format has
 * numbers), and laid out like Python's repr ("65504"); integers of up to 64 bits have all digits.
 * Returns 0 if there is no such text: the value is no number of the
 * format; an exact expansion of more than two million digits; EXACT or HEX of a value with
 * `sticky`; or if memory ran out. */
DTI_PUBLIC size_t dti_value_spell(struct dti_context *context, const struct dti_value *value,
                                  const struct dti_format *format, enum dti_spelling spelling,
                                  char *buffer, size_t capacity);

/* A cast of numbers, one or many. */
enum { DTI_ROUTE_MAX = 4 };
struct dti_cast_spec {
    size_t size;                  /* sizeof(struct dti_cast_spec) */
    const struct dti_format *src; /* ignored for a single number, which is exact */
    const struct dti_format *dst;
    const struct dti_format *via[DTI_ROUTE_MAX]; /* stages on the way, one rounding each */
    size_t via_count;
    bool round_given; /* false: to nearest even; toward zero into integers */
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_nan nan;
    uint64_t seed;    /* stochastic rounding */
    const char *like; /* a word of dti_stack_word(): route and policies of that library, in place
                         of those above, which must be zero; NULL: none */
    /* of arrays: */
    enum dti_packing src_packing, dst_packing; /* of formats that pack */
    bool src_swapped,
        dst_swapped; /* elements have the byte order that this machine does not have */
    bool flags;      /* also report flags that counts do not imply; slower */
};

/* What became of a number. */
struct dti_cast_facts {
    size_t size;    /* sizeof(struct dti_cast_facts) */
    uint64_t code;  /* what is stored */
    unsigned flags; /* enum dti_flag */
    bool exact;     /* the stored number is the given one */
    int direction;  /* -1: rounded down, 1: rounded up, 0: exact, or not comparable */
    struct dti_value given, stored;
    struct dti_value step;     /* the spacing of dst at the stored number, if that is finite */
    bool has_error;            /* both numbers are finite, and the given one has no `sticky`: */
    struct dti_value error;    /* stored - given; with `sticky` if it has more than 128 bits */
    struct dti_value relative; /* error / |given|, likewise; NaN if given is zero */
    struct dti_value ulps;     /* error in units of `step` */
    /* The numbers of dst that bracket the given one (infinities count); if it is stored exactly,
     * the next ones on either side. A number of dst that was lost on the way is both. */
    bool has_below, has_above;
    uint64_t below_code, above_code;
    struct dti_value below, above;
};
/* Casts the number that a text stands for, with one rounding (or one for each stage), however many
 * digits it has; or, with text NULL, *value. Text as for dti_value_read(); `given` then has
 * `sticky` if the number has more than 128 bits, and the error is still that of the whole number.
 * With `like`, a text without point and exponent enters as int64 if it fits, all else as fp64, as
 * Python's numbers do. Not for complex formats. ret->size is set by the caller. Fails with
 * DTI_BAD_VALUE (also a value that is not normalized), DTI_UNKNOWN_OPTION (`like`), DTI_USAGE (an
 * enumerator out of range; policies and `like`), DTI_WRONG_KIND (complex; that library lacks the
 * format), DTI_NOT_REPRESENTABLE (the result of that library is unknown), DTI_NO_MEMORY. A NaN that
 * the format has no code for is no failure: it has DTI_FLAG_NO_NAN. */
DTI_PUBLIC enum dti_status dti_value_cast(struct dti_context *context,
                                          const struct dti_cast_spec *spec, const char *text,
                                          size_t length, const struct dti_value *value,
                                          struct dti_cast_facts *ret, struct dti_error *reterr);

/* Draws a code as `dtinfo bits` and `dtinfo cast` do, without colours: the fields of the code, and
 * below them their names, s for sign, e, d (the prefix of a tapered exponent) and m; an integer is
 * one field. With `given`, a number that the code is the rounded form of (NULL: none), also an
 * empty line, and the number on a line between its neighbours in the format:
 *
 *     0 01111011 1001101
 *     s eeeeeeee mmmmmmm
 *
 *     0.099609375                               chosen -> 0.10009765625
 *     |-------------------------------+------------------*------------@
 *                                                       0.1
 *
 * width: columns at most (0: 80); there is no line of numbers below 41 of them, nor if the number
 * is stored exactly. A value at the limit of struct dti_value is "over 1e+5000000". ascii: as
 * here; otherwise in box-drawing characters. Returns the length and cuts to capacity, as
 * dti_value_spell() does; 0 for complex formats, a value that is not normalized, or if memory ran
 * out. */
DTI_PUBLIC size_t dti_value_picture(struct dti_context *context, const struct dti_format *format,
                                    uint64_t code, const struct dti_value *given, size_t width,
                                    bool ascii, char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
