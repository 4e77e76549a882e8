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

/* Plans a cast of arrays; *spec and the formats that it names are copied or outlive the context.
 * Both formats complex: their parts are cast; one of them complex: DTI_WRONG_KIND. A plan that the
 * context has made before costs less than a microsecond. Fails with DTI_WRONG_KIND,
 * DTI_UNKNOWN_OPTION (`like`), DTI_USAGE (an enumerator out of range), DTI_UNAVAILABLE (a context
 * for "cuda" without a kernel for this cast), DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_caster_new(struct dti_caster **ret, struct dti_context *context,
                                          const struct dti_cast_spec *spec,
                                          struct dti_error *reterr);
DTI_PUBLIC void dti_caster_free(struct dti_caster *caster); /* NULL is fine */
/* Names of its kernels in order, joined by " + ": "fp32_to_bf16_avx512". */
DTI_PUBLIC const char *dti_caster_kernels(const struct dti_caster *caster);
/* Bytes of n elements of each side; SIZE_MAX if that overflows. */
DTI_PUBLIC size_t dti_caster_src_bytes(const struct dti_caster *caster, size_t n);
DTI_PUBLIC size_t dti_caster_dst_bytes(const struct dti_caster *caster, size_t n);

/* Casts n elements, with the context's threads if that pays. Buffers have any alignment and must
 * not overlap; padding bits of the last byte are set to zero. ret_report (NULL: not counted, which
 * is faster): its `size` is set by the caller. A NaN without a code becomes a placeholder and
 * counts in no_code: with DTI_NOT_REPRESENTABLE as the result if refuse_no_code is wanted, look at
 * it. Fails with DTI_NOT_REPRESENTABLE (`like`, for an element whose result is unknown),
 * DTI_CANCELLED, DTI_DEVICE_FAILED, DTI_NO_MEMORY; dst is then undefined. */
DTI_PUBLIC enum dti_status dti_caster_run(const struct dti_caster *caster, void *dst,
                                          const void *src, size_t n,
                                          struct dti_cast_report *ret_report,
                                          struct dti_error *reterr);
/* The same from an array of any order to a contiguous one in row-major order: element (i, j, ...)
 * is at src + i strides[0] + j strides[1] + ... bytes; strides may be negative or 0. rank 0: one
 * element. Not for packed sources (DTI_WRONG_KIND). */
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
/* Codes of n elements of a format that is not complex, packed as `packing` says. */
DTI_PUBLIC enum dti_status dti_array_stats(struct dti_context *context,
                                           const struct dti_format *format,
                                           enum dti_packing packing, const void *codes, size_t n,
                                           struct dti_array_stats *ret, struct dti_error *reterr);
/* Whether all finite numbers of these statistics round to finite numbers of a format; NaNs and
 * infinities fit only if it has them. */
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
    double max_ulp; /* distance in numbers of the narrower of the two formats; NaN: two integers */
    uint64_t first_differing, first_unmatched; /* index; UINT64_MAX if none */
    double mean_absolute, root_mean_square, sqnr_db, nmse, cosine;
};
/* Arrays of n unpacked codes (DTI_PACKING_BYTES below 8 bits) of formats that are not complex. */
DTI_PUBLIC enum dti_status dti_array_compare(struct dti_context *context,
                                             const struct dti_format *format_a, const void *a,
                                             const struct dti_format *format_b, const void *b,
                                             size_t n, double atol, double rtol,
                                             struct dti_array_difference *ret,
                                             struct dti_error *reterr);

/* An array of numbers of a format that is not complex: unpacked codes in native byte order, as
 * dti_caster_run() stores them with DTI_PACKING_BYTES, row-major. */
enum { DTI_RANK_MAX = 8 };
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
 * fractions); DTI_UNAVAILABLE (a function needs libmpfr); DTI_CANCELLED; DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_calc_evaluate(struct dti_context *context, const char *expression,
                                             size_t length, const struct dti_calc_spec *spec,
                                             struct dti_calc_output *ret, struct dti_error *reterr);
/* Frees the texts and codes of a result; NULL and a zeroed one are fine. */
DTI_PUBLIC void dti_calc_free(struct dti_context *context, struct dti_calc_output *output);

#ifdef __cplusplus
}
#endif
#endif
