/* SPDX-License-Identifier: MIT
 *
 * Arithmetic in a dtype: evaluates an expression, rounding every literal and operation once to
 * the dtype; compares the result with the true value, and reports what went wrong on the way. */
#ifndef CALC_CALC_H
#define CALC_CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "core/dtype/storage.h"
#include "core/value.h"
#include "util/buffer.h"
#include "util/error.h"

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
    char name[12];
    unsigned char least, most;
    uint16_t texts; /* see the functions below */
};
const char *dti_calc_op_help(const struct dti_calc_op_row *row);
/* The definition of a composite, else "". */
const char *dti_calc_op_body(const struct dti_calc_op_row *row);
const struct dti_calc_op_row *dti_calc_op_get(enum dti_calc_op op);
/* Looks up an operation by name; false if there is none. */
bool dti_calc_op_find(const char *name, size_t length, enum dti_calc_op *ret);

enum { DTI_CALC_RANK_MAX = 8 };

/* An array of numbers of one dtype: codes in native byte order, each in the smallest of 1, 2, 4
 * or 8 bytes that holds it. Rank 0 is a single number. */
struct dti_calc_array {
    struct dti_format format;
    unsigned rank;
    uint64_t shape[DTI_CALC_RANK_MAX];
    size_t count;
    void *codes;
};
/* Memory for the codes of an array, which dti_calc_array_free() frees; NULL if there is none. */
void *dti_calc_codes_new(const struct dti_format *format, size_t count);
void dti_calc_array_free(struct dti_calc_array *array);
uint64_t dti_calc_code(const struct dti_calc_array *array, size_t index);
void dti_calc_put(struct dti_calc_array *array, size_t index, uint64_t code);
unsigned dti_calc_code_bytes(const struct dti_format *format); /* 1, 2, 4 or 8 */
/* Whether a stored array has the bytes of codes; not for bool, of which any byte is read. */
bool dti_calc_codes_are_stored(const struct dti_format *format, const struct dti_layout *layout);

/* Takes the codes of an array while they are read. */
struct dti_calc_taker {
    /* array: without its codes. False: it is wanted as a whole. */
    bool (*begin)(struct dti_calc_taker *taker, const struct dti_calc_array *array);
    /* The next n codes, in order. False: the call is cancelled. */
    bool (*take)(struct dti_calc_taker *taker, const void *codes, size_t n);
};

/* A parsed expression. Parsing fails with DTI_BAD_VALUE, with a one-line message that quotes the
 * position, or with DTI_NO_MEMORY. */
struct dti_calc_tree;
enum dti_status dti_calc_parse(struct dti_calc_tree **ret, const char *text, size_t length,
                               struct dti_error *reterr);
/* The same for an expression in which some names, NULL after the last, stand for arrays that
 * options.load reads by these names; files are refused. Fails with DTI_USAGE for a name that no
 * expression can contain, that has a meaning of its own, or that is given twice. */
enum dti_status dti_calc_parse_bound(struct dti_calc_tree **ret, const char *text, size_t length,
                                     const char *const *names, struct dti_error *reterr);
void dti_calc_tree_free(struct dti_calc_tree *tree);

/* Semantics that the rows of calc_operations.def leave open:
 * - A sign directly in front of a number belongs to it, also in lists and in arguments of
 * generators: it is not rounded separately and is not a step of its own.
 * - linspace and arange round the exact a + i (b - a)/(n - 1) or a + i step once. An argument
 * that is not a literal has its value rounded to the dtype. Lengths are literals.
 * - rand takes the leading bits of 64 random bits, as many as the dtype's significand has. randn
 * is the Box-Muller transform of two 60-bit uniforms, accurate to about 60 bits, rounded once.
 * Element i of the k-th generator takes words 2i and 2i + 1 (randn: 4 words for two elements) of
 * dti_random_bits() with stream 2^31 + k. Both are their own true values, like numbers from
 * files.
 * - Stochastic rounding: the i-th rounding of the k-th step takes word i of stream k.
 * - --fma contracts a product that is used only once; of two products, the first. It also
 * applies to dot and matmul in sequential and blocked order, where the first product of each sum
 * is still rounded.
 * - row... operations treat a list without rows as one row and return a single number. */

/* The order of additions in a sum. */
enum dti_calc_order {
    DTI_CALC_SEQUENTIAL, /* from first to last element */
    DTI_CALC_PAIRWISE,   /* recursive halves; the first is the largest power of two below the
                          * length */
    DTI_CALC_BLOCKED,    /* blocks of `block` elements sequentially, then their sums */
    DTI_CALC_KAHAN,      /* sequential with Kahan's compensation */
};
/* Reads "sequential", "pairwise", "kahan" or "blocked:16"; false if it is not one of them. */
bool dti_calc_order_read(const char *text, enum dti_calc_order *ret_order, uint64_t *ret_block);

/* Whether sums of floats would be truncated at every step. */
static inline bool dti_calc_drops_fractions(const struct dti_format *format,
                                            const struct dti_format *accumulate)
{
    return dti_format_is_float(format) && !dti_format_is_float(accumulate);
}

enum {
    DTI_CALC_ELEMENTS_MAX = 1 << 28, /* elements of all live arrays together, */
    DTI_CALC_BYTES_MAX = 1 << 30,    /* and the bytes of their codes */
    DTI_CALC_TRUTH_MAX = 1 << 16,    /* the longest list for which true values are computed by
                                      * default */
};

struct dti_calc_options {
    struct dti_policy policy; /* its seed is also that of rand and randn */
    bool round_given;         /* else integer division truncates, like casts to integers */
    bool flush;               /* flush subnormal results, and literals, to zeros of the same sign */
    bool fma;                 /* round a*b + c, a*b - c, c - a*b, dot and matmul once */
    bool accumulates;         /* reductions and composites compute in `accumulate`, and their
                               * results */
    struct dti_format accumulate; /* are rounded to the dtype once */
    enum dti_calc_order order;
    uint64_t block; /* for DTI_CALC_BLOCKED; at least 1 */
    enum dti_calc_truths {
        DTI_CALC_TRUTH_AUTO, /* if no list is longer than DTI_CALC_TRUTH_MAX */
        DTI_CALC_TRUTH_NO,
        DTI_CALC_TRUTH_YES,
    } truth;
    bool steps; /* record a step for each operation */
    /* Reads a tensor of a file as numbers; tensor may be NULL if there is only one. *ret has the
     * file's dtype, and no codes if they were given to the taker, which may be NULL. */
    enum dti_status (*load)(void *context, const char *path, const char *tensor,
                            struct dti_calc_taker *taker, struct dti_calc_array *ret,
                            struct dti_error *reterr);
    void *load_context;
    /* NULL, or called now and then: how far a step is that takes long: `done` of `total` elements.
     */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

/* What can go wrong in one operation on valid operands. */
enum dti_calc_event_kind {
    DTI_CALC_OVERFLOW, /* beyond the largest finite number */
    DTI_CALC_NAN,      /* NaN although no operand is NaN */
    DTI_CALC_DIVIDE_BY_ZERO,
    DTI_CALC_TO_ZERO,      /* zero although the exact result is not */
    DTI_CALC_SUBNORMAL,    /* an inexact subnormal: bits are lost */
    DTI_CALC_ABSORBED,     /* a + b = a although b is not zero */
    DTI_CALC_CANCELLATION, /* a - b of rounded operands cancels half or more of the leading bits;
                            * not detected in lists of more than DTI_CALC_TRUTH_MAX elements, nor
                            * if a is chosen from b, as in a - max(a) */
    DTI_CALC_EVENT_COUNT
};
const char *dti_calc_event_name(enum dti_calc_event_kind kind); /* "overflow", "to_zero" */

/* One operation on one element: operands and exact result as values, and the stored code. */
struct dti_calc_event {
    enum dti_calc_event_kind kind;
    enum dti_calc_op op;  /* OP_COUNT: a literal, a number from a list or file, or a cast */
    size_t step, element; /* step index; element index in the result, or that of the right
                           * operand in a reduction's list, row or inner dimension */
    unsigned operand_count;
    struct dti_value operand[3];
    struct dti_value exact; /* before rounding */
    uint64_t code;          /* after rounding, in the step's dtype */
    unsigned bits;          /* CANCELLATION: number of cancelled significand bits */
};
/* Appends a description of an event: "256 + 1 = 256 (spacing 2)", "1e+08 > 65504", "exp(-20) <
 * 2^-25". */
struct dti_calc_step;
void dti_calc_event_text(struct dti_buffer *buffer, const struct dti_calc_step *step,
                         const struct dti_calc_event *event);

/* One operation of the expression on all its elements, in execution order. Literals are steps
 * too. */
struct dti_calc_step {
    const char *text; /* "x*x", `length` bytes; points into the tree, which must outlive it */
    size_t length;
    const char *within; /* name of the composite it belongs to, "softmax", else NULL */
    const char *op;     /* "*", "exp", "literal", "list", "file" */
    struct dti_format format;
    unsigned rank;
    uint64_t shape[DTI_CALC_RANK_MAX];
    size_t count;
    uint64_t inexact;                      /* number of inexact results */
    uint64_t events[DTI_CALC_EVENT_COUNT]; /* count of each kind */
    /* The element with the largest relative error of this operation alone, or the only element.
     * Absent for reductions, whose many roundings have no single exact result. */
    bool has_worst;
    size_t worst;
    unsigned operand_count;
    struct dti_value operand[3], exact;
    uint64_t code; /* of the worst element, or the only one */
};

/* A true value as exact text: "1/3", "0.333333333333333333333333333333", "nan"; and the error of
 * the stored number. */
struct dti_calc_true {
    bool known;             /* false: undecided at any precision, or not computed */
    bool exact;             /* text is the value itself, not its first 30 digits */
    bool undefined;         /* inf - inf and the like */
    struct dti_value value; /* 128 bits and a sticky bit */
    bool has_error;
    struct dti_value absolute, relative; /* stored - true; relative is NaN if true is 0 */
};

/* The result of an expression in one dtype. */
struct dti_calc_result {
    struct dti_calc_array value;
    size_t step_count; /* 0 without options.steps */
    struct dti_calc_step *steps;
    uint64_t operations; /* number of roundings, over all elements */
    uint64_t events[DTI_CALC_EVENT_COUNT];
    unsigned flags;  /* enum dti_flag over all operations */
    bool went_wrong; /* `first` is valid: the first OVERFLOW, NAN, DIVIDE_BY_ZERO, TO_ZERO, */
    struct dti_calc_event first; /* ABSORBED or CANCELLATION in execution order */
    struct dti_calc_step first_step;
    struct dti_calc_truth_list *truth; /* one per element of value; NULL: not computed */
    const char *truth_reason; /* why there is no truth: "more than 65536 elements", or NULL */
};
void dti_calc_result_free(struct dti_calc_result *result);

/* Evaluates. Fails with DTI_BAD_VALUE (mismatched shapes, a count that is not an integer, more
 * elements than DTI_CALC_ELEMENTS_MAX; the message has details), DTI_WRONG_KIND (complex
 * dtypes), DTI_USAGE (a policy that does not exist), DTI_CANCELLED, DTI_UNAVAILABLE (a function
 * needs libmpfr), DTI_NO_MEMORY, or as options.load does. */
enum dti_status dti_calc_run(const struct dti_calc_tree *tree, const struct dti_format *format,
                             const struct dti_calc_options *options, struct dti_calc_result *ret,
                             struct dti_error *reterr);

/* Calls `compute` and returns its status; `compute` may call all functions of this header in the
 * calling thread. GMP and MPFR cannot report that memory ran out. Unguarded, the process then
 * ends; guarded, this returns DTI_NO_MEMORY. What `compute` allocated is then freed, except GMP's
 * own numbers, which are small; for the process itself all of it leaks. So `compute` hands out
 * memory only when it succeeds, and when it fails it has freed its own. */
enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr);

/* The true value of an element, and its text: the value itself if it is a decimal of at most 60
 * digits or a quotient of at most 40, else its first 30 significant digits. False: out of
 * memory. */
void dti_calc_true_get(const struct dti_calc_result *result, size_t element,
                       struct dti_calc_true *ret);
bool dti_calc_true_text(const struct dti_calc_result *result, size_t element,
                        struct dti_buffer *ret);
/* The element with the largest relative error, and the number of elements that differ from their
 * true value. False if there is no truth. */
bool dti_calc_worst(const struct dti_calc_result *result, size_t *ret_element,
                    uint64_t *ret_different);

#endif
