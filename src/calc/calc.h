/* SPDX-License-Identifier: MIT
 *
 * Arithmetic in a dtype: an expression whose literals and operations are each rounded once to the
 * dtype, beside what it is in truth, and what went wrong on the way. */
#ifndef CALC_CALC_H
#define CALC_CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/dtype.h"
#include "dtinfo/error.h"
#include "dtinfo/value.h"
#include "util/buffer.h"

enum dti_calc_op {
#define OPERATION(id, ...) DTI_CALC_##id,
#define COMPOSITE(id, ...) DTI_CALC_##id,
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
    DTI_CALC_OP_COUNT
};

/* A row of calc_operations.def, for help and completion. */
struct dti_calc_op_row {
    const char *name, *help;
    const char *body; /* of a composite, else NULL */
    unsigned least, most;
};
const struct dti_calc_op_row *dti_calc_op_get(enum dti_calc_op op);
/* By its name; false: no operation is called so. */
bool dti_calc_op_find(const char *name, size_t length, enum dti_calc_op *ret);

enum { DTI_CALC_RANK_MAX = 8 };

/* An array of numbers of one dtype: codes in native byte order, each in the fewest of 1, 2, 4 or 8
 * bytes that hold it. Rank 0 is one number. */
struct dti_calc_array {
    struct dti_format format;
    unsigned rank;
    uint64_t shape[DTI_CALC_RANK_MAX];
    size_t count;
    void *codes;
};
void dti_calc_array_free(struct dti_calc_array *array);
uint64_t dti_calc_code(const struct dti_calc_array *array, size_t index);
void dti_calc_put(struct dti_calc_array *array, size_t index, uint64_t code);
unsigned dti_calc_code_bytes(const struct dti_format *format); /* 1, 2, 4 or 8 */

/* An expression, parsed. Fails with DTI_BAD_VALUE in one line that quotes where it went wrong, with
 * DTI_NO_MEMORY. */
struct dti_calc_tree;
enum dti_status dti_calc_parse(struct dti_calc_tree **ret, const char *text, size_t length,
                               struct dti_error *reterr);
void dti_calc_tree_free(struct dti_calc_tree *tree);

/* What the rows of calc_operations.def leave open:
 * - A sign directly in front of a number belongs to it; so do the numbers of a list and of a
 *   generator: no rounding comes in between, and they are no steps of their own.
 * - linspace and arange round the exact a + i (b - a)/(n - 1), a + i step once; an argument that is
 *   no literal is the number of the dtype that it came to. Lengths are literals.
 * - rand is the first bits, as many as the dtype's significand has, of 64 random ones; randn is Box
 *   and Muller's transform of two times 60 bits, true to some 60 bits, rounded once. Element i of
 *   the k-th generator takes words 2i and 2i + 1 (randn: 4 for two elements) of dti_random_bits()
 *   with stream 2^31 + k. Both are their own true values, as the numbers of files are.
 * - Stochastic rounding: the i-th rounding of the k-th step takes word i of stream k.
 * - --fma contracts a product that is used once; of two products the first; dot and matmul in
 *   sequential and blocked order, where the first product of each is rounded.
 * - row... of a list without rows takes all of it and makes one number. */

/* How a list is added up. */
enum dti_calc_order {
    DTI_CALC_SEQUENTIAL, /* from the first element to the last */
    DTI_CALC_PAIRWISE,   /* halves, the first of them the largest power of two below the length */
    DTI_CALC_BLOCKED,    /* blocks of `block` elements sequentially, then their sums */
    DTI_CALC_KAHAN,      /* sequentially, with Kahan's compensation */
};

enum {
    DTI_CALC_ELEMENTS_MAX = 1 << 28, /* of all arrays that are alive together, */
    DTI_CALC_BYTES_MAX = 1 << 30,    /* and the bytes of their codes */
    DTI_CALC_TRUTH_MAX = 1 << 16,    /* elements of the longest list for which true values are
                                      * computed without being asked for */
};

struct dti_calc_options {
    struct dti_policy policy; /* its seed is that of rand and randn, too */
    bool round_given;         /* otherwise quotients of integers truncate, as casts to them do */
    bool flush;               /* subnormal results, literals too, become zeros of their sign */
    bool fma;                 /* a*b + c, a*b - c, c - a*b, dot and matmul round once */
    bool accumulates;         /* reductions and composites compute in `accumulate`; their results */
    struct dti_format accumulate; /* are rounded to the dtype once */
    enum dti_calc_order order;
    uint64_t block; /* of DTI_CALC_BLOCKED, at least 1 */
    enum dti_calc_truths {
        DTI_CALC_TRUTH_AUTO, /* up to DTI_CALC_TRUTH_MAX elements */
        DTI_CALC_TRUTH_NO,
        DTI_CALC_TRUTH_YES,
    } truth;
    bool steps; /* keep a step for each operation */
    /* Reads a file's tensor (tensor may be NULL: its only one) as numbers: *ret has the dtype that
     * the file has. */
    enum dti_status (*load)(void *context, const char *path, const char *tensor,
                            struct dti_calc_array *ret, struct dti_error *reterr);
    void *load_context;
};

/* What went wrong with one operation on numbers that were there to be computed with. */
enum dti_calc_event_kind {
    DTI_CALC_OVERFLOW, /* beyond the largest finite number */
    DTI_CALC_NAN,      /* NaN from operands that are none */
    DTI_CALC_DIVIDE_BY_ZERO,
    DTI_CALC_TO_ZERO,      /* zero, where the exact result is not */
    DTI_CALC_SUBNORMAL,    /* an inexact subnormal: bits are missing */
    DTI_CALC_ABSORBED,     /* a + b = a, where b is not zero */
    DTI_CALC_CANCELLATION, /* a - b of rounded operands: half or more of the leading bits cancel;
                            * not looked for in lists of more than DTI_CALC_TRUTH_MAX elements, nor
                            * where a is chosen from b, as in a - max(a) */
    DTI_CALC_EVENT_COUNT
};
const char *dti_calc_event_name(enum dti_calc_event_kind kind); /* "overflow", "to_zero" */

/* One operation on one element: operands and exact result as values, the stored code. */
struct dti_calc_event {
    enum dti_calc_event_kind kind;
    enum dti_calc_op op;  /* OP_COUNT: a literal, a number of a list or file, a cast */
    size_t step, element; /* its step; its place in the result, or of the right operand in a
                           * reduction's list, row or inner dimension */
    unsigned operand_count;
    struct dti_value operand[3];
    struct dti_value exact; /* before rounding */
    uint64_t code;          /* after it, in the step's dtype */
    unsigned bits;          /* CANCELLATION: how many of the significand's bits cancelled */
};
/* Appends what an event says: "256 + 1 = 256 (spacing 2)", "1e+08 > 65504", "exp(-20) < 2^-25". */
struct dti_calc_step;
void dti_calc_event_text(struct dti_buffer *buffer, const struct dti_calc_step *step,
                         const struct dti_calc_event *event);

/* One operation of the expression on all its elements, in the order of execution. Literals are
 * steps as well. */
struct dti_calc_step {
    const char *text; /* in the tree, which must outlive it, `length` bytes: "x*x" */
    size_t length;
    const char *within; /* the composite that it is a part of, "softmax", else NULL */
    const char *op;     /* "*", "exp", "literal", "list", "file" */
    struct dti_format format;
    unsigned rank;
    uint64_t shape[DTI_CALC_RANK_MAX];
    size_t count;
    uint64_t inexact;                      /* results that were rounded */
    uint64_t events[DTI_CALC_EVENT_COUNT]; /* how many */
    /* The element with the largest relative error of this operation alone, or the only one. Not
     * of reductions, whose many roundings have no single exact result. */
    bool has_worst;
    size_t worst;
    unsigned operand_count;
    struct dti_value operand[3], exact;
    uint64_t code; /* of the worst element, or the only one */
};

/* A true value as text, rounded to nothing: "1/3", "0.333333333333333333333333333333",
 * "nan"; and how far off the stored number is. */
struct dti_calc_true {
    bool known;             /* false: no precision decided it, or it was not computed */
    bool exact;             /* text is the value itself, not its first 30 digits */
    bool undefined;         /* inf - inf and the like */
    struct dti_value value; /* 128 bits and sticky */
    bool has_error;
    struct dti_value absolute, relative; /* stored - true; relative is NAN where true is 0 */
};

/* What became of an expression in one dtype. */
struct dti_calc_result {
    struct dti_calc_array value;
    size_t step_count; /* without options.steps: 0 */
    struct dti_calc_step *steps;
    uint64_t operations; /* roundings, over all elements */
    uint64_t events[DTI_CALC_EVENT_COUNT];
    unsigned flags;  /* enum dti_flag over all operations */
    bool went_wrong; /* there is a first event: OVERFLOW, NAN, DIVIDE_BY_ZERO, TO_ZERO, */
    struct dti_calc_event first; /* ABSORBED or CANCELLATION, in the order of execution */
    struct dti_calc_step first_step;
    struct dti_calc_truth_list *truth; /* one for each element of value; NULL: not computed */
    const char *truth_reason; /* why it was not computed: "more than 65536 elements", or NULL */
};
void dti_calc_result_free(struct dti_calc_result *result);

/* Computes. Fails with DTI_BAD_VALUE (shapes that do not match, a count that is no integer, more
 * elements than DTI_CALC_ELEMENTS_MAX, which the message names), DTI_WRONG_KIND (complex dtypes),
 * DTI_UNAVAILABLE (a function without libmpfr), DTI_NO_MEMORY, or as options.load does. */
enum dti_status dti_calc_run(const struct dti_calc_tree *tree, const struct dti_format *format,
                             const struct dti_calc_options *options, struct dti_calc_result *ret,
                             struct dti_error *reterr);

/* Calls `compute`, which may call all functions of this header in the calling thread, and returns
 * what it returns. GMP and MPFR cannot report that memory ran out: without this the process ends
 * there; with it, DTI_NO_MEMORY is returned, what `compute` has allocated is lost, and nothing of
 * this header may be called any more. */
enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr);

/* The true value of an element, and its text: the value itself where it is a decimal of at most 60
 * digits or a quotient of at most 40, else its first 30 significant digits. False: out of memory.
 */
void dti_calc_true_get(const struct dti_calc_result *result, size_t element,
                       struct dti_calc_true *ret);
bool dti_calc_true_text(const struct dti_calc_result *result, size_t element,
                        struct dti_buffer *ret);
/* The element with the largest relative error, and how many differ from the true value at all.
 * False: no truth. */
bool dti_calc_worst(const struct dti_calc_result *result, size_t *ret_element,
                    uint64_t *ret_different);

#endif
