/* SPDX-License-Identifier: MIT
 *
 * Sums of true values. While all terms are dyadic, as the numbers of a dtype are, they are added
 * as integers over one power of two, which needs no greatest common divisors. */
#include "calc/truth_parts.h"

struct place {
    const struct dti_calc_truth_list *list;
    size_t index, step;
};

/* room->z[0] x 2^*exponent += the number, or the product of two */
static void add_dyadic(struct dti_truth_room *room, int64_t *exponent,
                       const struct dti_truth_element *a, const struct dti_truth_element *b)
{
    mpz_ptr const sum = room->z[0], term = room->z[1], factor = room->z[2];
    int64_t scale = a->exponent;
    bool negative = a->negative;
    dti_multi.mpz_import(term, 1, -1, sizeof a->as.significand, 0, 0, &a->as.significand);
    if (b) {
        dti_multi.mpz_import(factor, 1, -1, sizeof b->as.significand, 0, 0, &b->as.significand);
        dti_multi.mpz_mul(term, term, factor);
        scale += b->exponent;
        negative ^= b->negative;
    }
    if (term->_mp_size == 0)
        return;
    if (sum->_mp_size == 0)
        *exponent = scale;
    if (scale > *exponent) {
        dti_multi.mpz_mul_2exp(term, term, (mp_bitcnt_t)(scale - *exponent));
    } else if (scale < *exponent) {
        dti_multi.mpz_mul_2exp(sum, sum, (mp_bitcnt_t)(*exponent - scale));
        *exponent = scale;
    }
    if (negative)
        dti_multi.mpz_sub(sum, sum, term);
    else
        dti_multi.mpz_add(sum, sum, term);
}

static const struct dti_truth_element *next(struct place *place)
{
    const struct dti_truth_element *const element = &place->list->elements[place->index];
    place->index += place->step;
    return element;
}

/* Adds terms as long as they are dyadic; returns how many are left. */
static size_t sum_dyadic(struct dti_truth_room *room, struct dti_real *ret, struct place *a,
                         struct place *b, size_t count)
{
    int64_t exponent = 0;
    dti_multi.mpz_set_ui(room->z[0], 0);
    for (; count > 0; count--) {
        struct place next_a = *a, next_b = *b;
        const struct dti_truth_element *const x = next(&next_a);
        const struct dti_truth_element *const y = b->list ? next(&next_b) : NULL;
        if (x->class != DTI_TRUTH_DYADIC || (y && y->class != DTI_TRUTH_DYADIC))
            break;
        add_dyadic(room, &exponent, x, y);
        *a = next_a;
        *b = next_b;
    }
    dti_real_integer(ret, 0, 1);
    dti_multi.mpz_set(mpq_numref(ret->own_q), room->z[0]);
    mpz_ptr const scaled = exponent < 0 ? mpq_denref(ret->own_q) : mpq_numref(ret->own_q);
    dti_multi.mpz_mul_2exp(scaled, scaled, (mp_bitcnt_t)(exponent < 0 ? -exponent : exponent));
    dti_multi.mpq_canonicalize(ret->own_q);
    return count;
}

void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count)
{
    struct dti_truth_room *const room = &ret->room;
    struct place place_a = {a, a_first, a_step}, place_b = {b, b_first, b_step};
    struct dti_real *total = &room->total, *other = &room->result;
    const size_t bits = dti_rational_bits(count);
    if (ret->failed)
        return;
    count = sum_dyadic(room, total, &place_a, &place_b, count);
    for (; count > 0; count--) {
        struct dti_real *term = &room->operand[0];
        dti_real_load(&room->operand[0], a, place_a.index);
        (void)next(&place_a);
        if (b) {
            struct dti_real *const factors[] = {&room->operand[0], &room->operand[1]};
            dti_real_load(&room->operand[1], b, place_b.index);
            (void)next(&place_b);
            dti_real_apply(room, &room->product, DTI_CALC_MULTIPLY, 0, factors);
            term = &room->product;
        }
        struct dti_real *const terms[] = {total, term};
        dti_real_shorten(total, bits);
        dti_real_apply(room, other, DTI_CALC_ADD, 0, terms);
        struct dti_real *const sum = other;
        other = total;
        total = sum;
    }
    dti_real_store(ret, i, total);
}
