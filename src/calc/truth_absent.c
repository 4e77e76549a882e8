/* SPDX-License-Identifier: MIT
 *
 * In place of the truth where the program was built without the headers of MPFR: loading says so,
 * and nothing else is called after that. */
#include "calc/truth.h"
#include "dtinfo/calc.h"

enum dti_status dti_multi_load(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "true values and functions: not built in; build with libmpfr-dev installed");
}

enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr)
{
    return compute(context, reterr);
}

struct dti_calc_truth_list *dti_truth_new(size_t count, unsigned precision)
{
    (void)count, (void)precision;
    return NULL;
}

void dti_truth_free(struct dti_calc_truth_list *list)
{
    (void)list;
}

size_t dti_truth_count(const struct dti_calc_truth_list *list)
{
    (void)list;
    return 0;
}

bool dti_truth_failed(const struct dti_calc_truth_list *list)
{
    (void)list;
    return true;
}

void dti_truth_set_number(struct dti_calc_truth_list *ret, size_t i, const struct dti_number *from)
{
    (void)ret, (void)i, (void)from;
}

void dti_truth_set_value(struct dti_calc_truth_list *ret, size_t i, const struct dti_value *from)
{
    (void)ret, (void)i, (void)from;
}

void dti_truth_set_quotient(struct dti_calc_truth_list *ret, size_t i, int64_t num, uint64_t den)
{
    (void)ret, (void)i, (void)num, (void)den;
}

void dti_truth_copy(struct dti_calc_truth_list *ret, size_t i,
                    const struct dti_calc_truth_list *from, size_t j)
{
    (void)ret, (void)i, (void)from, (void)j;
}

void dti_truth_apply(struct dti_calc_truth_list *ret, size_t i, enum dti_calc_op op, int64_t power,
                     const struct dti_truth_operand *operands)
{
    (void)ret, (void)i, (void)op, (void)power, (void)operands;
}

void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count)
{
    (void)ret, (void)i, (void)a, (void)a_first, (void)a_step, (void)b, (void)b_first, (void)b_step;
    (void)count;
}

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i)
{
    (void)list, (void)i;
    return false;
}

unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i)
{
    (void)list, (void)i;
    return 0;
}

bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret)
{
    (void)list, (void)i, (void)ret;
    return false;
}

bool dti_truth_error(const struct dti_calc_truth_list *list, size_t i,
                     const struct dti_value *stored, struct dti_value *ret_absolute,
                     struct dti_value *ret_relative)
{
    (void)list, (void)i, (void)stored, (void)ret_absolute, (void)ret_relative;
    return false;
}

bool dti_truth_text(const struct dti_calc_truth_list *list, size_t i, struct dti_buffer *ret)
{
    (void)list, (void)i, (void)ret;
    return false;
}

bool dti_truth_text_is_exact(const struct dti_calc_truth_list *list, size_t i)
{
    (void)list, (void)i;
    return false;
}

unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x)
{
    (void)op, (void)power, (void)x;
    *ret = (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    return 0;
}
