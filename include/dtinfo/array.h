/* SPDX-License-Identifier: MIT
 *
 * Arrays in memory: casts with one rounding, packing, statistics, comparison, and expressions. All
 * figures are the same for every CPU level, thread count and way to cut an array into pieces. */
#ifndef DTINFO_ARRAY_H
#define DTINFO_ARRAY_H

#include "dtinfo/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DTI_RANK_MAX = 8 }; /* dimensions of an array */

/* A planned cast. Constant after dti_caster_new(): threads may share it. */
struct dti_caster;

/* What a cast of an array lost. The error of an element is stored - source, if both are finite and
 * the element did not overflow to a special code; other elements count in neither maxima nor means.
 * Complex numbers count as two elements. */
struct dti_cast_report {
    size_t size; /* sizeof(struct dti_cast_report) */
    uint64_t elements;
    uint64_t inexact;      /* the stored number differs; NaN to NaN does not count */
    uint64_t overflowed;   /* finite, but out of range after rounding, in any stage */
    uint64_t to_zero;      /* finite and not zero, but stored as zero */
    uint64_t to_subnormal; /* normal in src, but stored as a subnormal */
    uint64_t nan_in, inf_in;
    uint64_t no_code;  /* NaN to a float without NaN; negatives stored as NaN in unsigned floats */
    uint64_t stray;    /* containers of src with bits set outside the code, which are ignored */
    uint64_t compared; /* elements with an error, including zero errors */
    double max_absolute;
    uint64_t max_index;  /* the lowest index where it occurs; 0 if max_absolute is 0 */
    double max_relative; /* largest |error| / |source| over nonzero sources */
    double mean_absolute, root_mean_square;
    double sqnr_db;         /* 10 log10(sum source^2 / sum error^2); inf without loss */
    uint64_t first_no_code; /* index; UINT64_MAX if none */
    unsigned flags;         /* enum dti_flag, with dti_cast_spec.flags: all of them */
};

/* Plans a cast of arrays; *spec and the formats that it names are copied. A context keeps the plans
 * that it made last (a few dozen; of the same cast with different seeds, four): to ask again for
 * one of these costs less than 0.1 microseconds, and a new one tens of them.
 *
 * Both formats complex: their parts are cast, as an array of twice as many elements; one of them
 * complex: DTI_WRONG_KIND. src and dst the same format, without via, like, and policies that change
 * infinities or NaNs: codes are copied unchanged, NaN payloads and signalling NaNs included, so
 * that a caster also packs, unpacks and swaps bytes. (Not for bool, whose codes become 0 or 1. tf32
 * loses the bits of its containers that are not its own.) All other casts quiet NaNs.
 *
 * A context for "cuda" casts there, whatever the size, from and to memory of the host; one for
 * "auto" does so if there is a kernel. The bytes are the same.
 *
 * Fails with DTI_WRONG_KIND (also if the library of `like` lacks dst), DTI_UNKNOWN_OPTION (`like`),
 * DTI_USAGE (an enumerator out of range, a format missing, policies given with `like`),
 * DTI_UNAVAILABLE (a context for "cuda" without a kernel for this cast), DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_caster_new(struct dti_caster **ret, struct dti_context *context,
                                          const struct dti_cast_spec *spec,
                                          struct dti_error *reterr);
DTI_PUBLIC void dti_caster_free(struct dti_caster *caster); /* NULL is fine */
/* Names of its kernels in order, joined by " + ": "fp32_to_bf16_avx512"; "encode" is element by
 * element. Lives as long as the caster. */
DTI_PUBLIC const char *dti_caster_kernels(const struct dti_caster *caster);
/* Bytes of n elements of each side, rounded up to whole bytes; SIZE_MAX if that overflows. */
DTI_PUBLIC size_t dti_caster_src_bytes(const struct dti_caster *caster, size_t n);
DTI_PUBLIC size_t dti_caster_dst_bytes(const struct dti_caster *caster, size_t n);

/* Casts n elements. Buffers have any alignment and must not overlap; with n = 0 they may be NULL.
 * Elements that are not packed are stored in the smallest of 1, 2, 4 or 8 bytes that holds them
 * (complex: two of these), in the low bits, except for tf32, which is stored like the fp32 of the
 * same value. Padding bits of dst's last byte become zero; those of src are ignored. Large arrays
 * are cast by the context's threads (from about 4 MiB on, or 1 MiB with a report) and written past
 * the caches; small ones by the calling thread, without a lock or memory of the heap.
 *
 * ret_report (NULL: not counted, which is three to ten times faster): its `size` is set by the
 * caller. The first report of a caster takes a tenth of a millisecond longer. A NaN without a code
 * becomes a placeholder and counts in no_code: who refuses that looks at it.
 *
 * Fails with DTI_USAGE (more bytes than size_t counts), DTI_NOT_REPRESENTABLE (`like`, for an
 * element whose result is unknown), DTI_CANCELLED, DTI_DEVICE_FAILED, DTI_NO_MEMORY; dst is then
 * undefined. */
DTI_PUBLIC enum dti_status dti_caster_run(const struct dti_caster *caster, void *dst,
                                          const void *src, size_t n,
                                          struct dti_cast_report *ret_report,
                                          struct dti_error *reterr);
/* The same from an array of any order to a contiguous one in row-major order: element (i, j, ...)
 * is at src + i strides[0] + j strides[1] + ... bytes; strides may be negative, 0, or no multiple
 * of an element. rank 0: one element; shape and strides may then be NULL. Random numbers and the
 * report's indices are those of the contiguous array. dst may be packed. Fails also with
 * DTI_USAGE for more than DTI_RANK_MAX dimensions (join some, or call it for each part) or more
 * elements than size_t counts, and with DTI_WRONG_KIND for a packed source, whose elements have no
 * addresses. */
DTI_PUBLIC enum dti_status dti_caster_run_strided(const struct dti_caster *caster, void *dst,
                                                  const void *src, size_t rank, const size_t *shape,
                                                  const ptrdiff_t *strides,
                                                  struct dti_cast_report *ret_report,
                                                  struct dti_error *reterr);

/* Statistics of an array. */
struct dti_array_stats {
    size_t size; /* sizeof(struct dti_array_stats) */
    uint64_t elements;
    uint64_t nan, inf, negative_inf;             /* inf: both signs */
    uint64_t zeros;                              /* of either sign */
    uint64_t negative;                           /* less than zero, including -infinity */
    uint64_t subnormals;                         /* in the array's own format; 0 for integers */
    uint64_t finite;                             /* everything below refers to these */
    struct dti_value min, max, absmax;           /* zero if finite is 0 */
    uint64_t min_index, max_index, absmax_index; /* the lowest index of each */
    uint64_t first_nan, first_inf;               /* index; UINT64_MAX if none */
    double mean, deviation;                      /* of the population; NaN if finite is 0 */
};
/* Codes of n elements in native byte order, packed as `packing` says if the format packs. Figures
 * do not depend on threads; counts, extremes and indices are exact, mean and deviation within 1e-12
 * of the largest magnitude. ret->size is set by the caller. Fails with DTI_WRONG_KIND (a complex
 * format: pass its parts, twice as many), DTI_USAGE, DTI_CANCELLED, DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_array_stats(struct dti_context *context,
                                           const struct dti_format *format,
                                           enum dti_packing packing, const void *codes, size_t n,
                                           struct dti_array_stats *ret, struct dti_error *reterr);
/* Whether all finite numbers of these statistics round to finite numbers of a format (to nearest
 * even; integers: truncated); NaNs and infinities fit only if it has them. */
DTI_PUBLIC bool dti_array_stats_fit(const struct dti_array_stats *stats,
                                    const struct dti_format *format);

/* How two arrays differ; b is the reference. NaNs match, and so do equal infinities. */
struct dti_array_difference {
    size_t size; /* sizeof(struct dti_array_difference) */
    uint64_t elements;
    uint64_t differing; /* pairs of different numbers, `unmatched` included */
    uint64_t unmatched; /* NaN or infinity on one side, or infinities of opposite signs */
    uint64_t exceeding; /* pairs beyond atol + rtol |b|, `unmatched` included */
    uint64_t compared;  /* pairs of finite numbers */
    double max_absolute;
    uint64_t max_index; /* the lowest index where it occurs */
    double max_relative;
    double max_ulp; /* distance in numbers of the format with fewer mantissa bits; NaN if one of
                       them is an integer, or has a precision that varies (posits) */
    uint64_t first_differing, first_unmatched; /* index; UINT64_MAX if none */
    double mean_absolute, root_mean_square, sqnr_db, nmse, cosine;
};
/* Arrays of n unpacked codes (DTI_PACKING_BYTES below 8 bits) in native byte order, of formats that
 * are not complex. Differences are exact before they are rounded to double. ret->size is set by the
 * caller. Fails with DTI_WRONG_KIND (a complex format), DTI_USAGE (a tolerance that is negative or
 * NaN), DTI_CANCELLED, DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_array_compare(struct dti_context *context,
                                             const struct dti_format *format_a, const void *a,
                                             const struct dti_format *format_b, const void *b,
                                             size_t n, double atol, double rtol,
                                             struct dti_array_difference *ret,
                                             struct dti_error *reterr);

/* An array of numbers of a format that is not complex: unpacked codes in native byte order, as
 * dti_caster_run() stores them with DTI_PACKING_BYTES, row-major. */
struct dti_operand {
    size_t size;      /* sizeof(struct dti_operand) */
    const char *name; /* as the expression names it, "x": letters, digits and _, no function's */
    const struct dti_format *format;
    size_t rank; /* 0: one number */
    uint64_t shape[DTI_RANK_MAX];
    const void *codes; /* may be NULL without elements */
};

/* How an expression is evaluated: in `format`, with one rounding for each literal and operation.
 * Zeros are the defaults of `dtinfo calc`. */
struct dti_calc_spec {
    size_t size;                        /* sizeof(struct dti_calc_spec) */
    const struct dti_format *format;    /* not complex */
    const struct dti_operand *operands; /* each of operands[0].size bytes */
    size_t operand_count;
    bool round_given; /* false: to nearest even; division of integers truncates */
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_nan nan;
    uint64_t seed;                       /* of stochastic rounding, rand() and randn() */
    const struct dti_format *accumulate; /* reductions compute in it; NULL: in `format` */
    const char *order; /* of sums: "sequential", "pairwise", "blocked:16" or "kahan"; NULL:
                          sequential */
    bool flush;        /* subnormal results become zero */
    bool fma;          /* a*b + c, dot and matmul round once */
    bool truth;        /* also compute true values, of up to 2^22 elements (needs libmpfr) */
};

/* A result; free it with dti_calc_free(). */
struct dti_calc_output {
    size_t size; /* sizeof(struct dti_calc_output) */
    const struct dti_format *format;
    size_t rank;
    uint64_t shape[DTI_RANK_MAX];
    size_t count;
    void *codes;        /* as in an operand; not NULL */
    uint64_t roundings; /* over all elements and operations; of these: */
    uint64_t overflows, nans, divisions_by_zero, to_zero, subnormals, absorbed, cancellations;
    unsigned flags; /* enum dti_flag, over all operations */
    char *first; /* what went wrong first: "absorbed: 256 + 1 = 256 (spacing 2)"; NULL: nothing */
    bool has_truth;      /* true values were computed: */
    uint64_t different;  /* results that differ from their true value */
    size_t worst;        /* the element with the largest relative error, */
    double max_relative; /* and its magnitude; infinite where one of the two is no number or zero */
    char *worst_truth;   /* the true value there: "1/3", or 30 digits; NULL if there is none */
};
/* Evaluates an expression in the language of `dtinfo calc` (operators, functions, sums, matmul
 * ...; `man dtinfo-calc`), in which operands are names. Files are not read. `length` bytes, or up
 * to the NUL for SIZE_MAX; ret->size is set by the caller. An overflow and the like is no failure.
 * Fails with DTI_BAD_VALUE, which quotes the place; DTI_USAGE (a name that an expression cannot
 * contain; an enumerator out of range); DTI_WRONG_KIND (a complex format, an accumulator without
 * fractions); DTI_UNAVAILABLE (a function needs libmpfr); DTI_CANCELLED; DTI_NO_MEMORY:
 * GMP and MPFR cannot give back what they had when memory ran out, a few KiB of the C library's. */
DTI_PUBLIC enum dti_status dti_calc_evaluate(struct dti_context *context, const char *expression,
                                             size_t length, const struct dti_calc_spec *spec,
                                             struct dti_calc_output *ret, struct dti_error *reterr);
/* Frees the texts and codes of a result; NULL and a zeroed one are fine. */
DTI_PUBLIC void dti_calc_free(struct dti_context *context, struct dti_calc_output *output);

#ifdef __cplusplus
}
#endif
#endif
