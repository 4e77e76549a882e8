/* SPDX-License-Identifier: MIT
 *
 * Scratch for true values, and how one value becomes another. */
#include "calc/truth_parts.h"

enum {
    FLOATS = sizeof((struct dti_truth_room *)0)->f / sizeof(mpfr_t),
    INTEGERS = sizeof((struct dti_truth_room *)0)->z / sizeof(mpz_t)
};

static void real_init(struct dti_real *real, unsigned precision)
{
    dti_multi.mpq_init(real->own_q);
    dti_multi.mpfr_init2(real->own_low, (mpfr_prec_t)precision);
    dti_multi.mpfr_init2(real->own_high, (mpfr_prec_t)precision);
    dti_real_own_rational(real);
}

static void real_free(struct dti_real *real)
{
    dti_multi.mpq_clear(real->own_q);
    dti_multi.mpfr_clear(real->own_low);
    dti_multi.mpfr_clear(real->own_high);
}

void dti_room_init(struct dti_truth_room *room, unsigned precision, size_t rational_bits)
{
    room->rational_bits = rational_bits;
    for (size_t i = 0; i < 3; i++)
        real_init(&room->operand[i], precision);
    real_init(&room->result, precision);
    real_init(&room->total, precision);
    real_init(&room->product, precision);
    for (size_t i = 0; i < INTEGERS; i++)
        dti_multi.mpz_init(room->z[i]);
    for (size_t i = 0; i < FLOATS; i++)
        dti_multi.mpfr_init2(room->f[i], (mpfr_prec_t)precision);
}

void dti_room_free(struct dti_truth_room *room)
{
    for (size_t i = 0; i < 3; i++)
        real_free(&room->operand[i]);
    real_free(&room->result);
    real_free(&room->total);
    real_free(&room->product);
    for (size_t i = 0; i < INTEGERS; i++)
        dti_multi.mpz_clear(room->z[i]);
    for (size_t i = 0; i < FLOATS; i++)
        dti_multi.mpfr_clear(room->f[i]);
}

void dti_real_plain(struct dti_real *ret, enum dti_truth_class class, bool negative)
{
    ret->class = class;
    ret->negative = negative;
}

void dti_real_own_rational(struct dti_real *ret)
{
    ret->class = DTI_TRUTH_RATIONAL;
    ret->enclosed = false;
    ret->q = ret->own_q;
}

void dti_real_own_interval(struct dti_real *ret)
{
    ret->class = DTI_TRUTH_INTERVAL;
    ret->low = ret->own_low;
    ret->high = ret->own_high;
}

void dti_real_integer(struct dti_real *ret, long num, unsigned long den)
{
    dti_multi.mpq_set_si(ret->own_q, num, den);
    dti_real_own_rational(ret);
}

void dti_real_enclose(struct dti_real *real)
{
    if (real->class != DTI_TRUTH_RATIONAL || real->enclosed)
        return;
    dti_multi.mpfr_set_q(real->own_low, real->q, MPFR_RNDD);
    dti_multi.mpfr_set_q(real->own_high, real->q, MPFR_RNDU);
    real->low = real->own_low;
    real->high = real->own_high;
    real->enclosed = true;
}

size_t dti_rational_bits(size_t count)
{
    const size_t share = count == 0 ? DTI_RATIONAL_BITS : DTI_RATIONAL_BITS_ALL / count;
    if (share > DTI_RATIONAL_BITS)
        return DTI_RATIONAL_BITS;
    return share < DTI_RATIONAL_BITS_LONG ? DTI_RATIONAL_BITS_LONG : share;
}

void dti_real_shorten(struct dti_real *real, size_t bits)
{
    if (real->class != DTI_TRUTH_RATIONAL ||
        (dti_multi.mpz_sizeinbase(mpq_numref(real->q), 2) <= bits &&
         dti_multi.mpz_sizeinbase(mpq_denref(real->q), 2) <= bits))
        return;
    dti_real_enclose(real);
    real->class = DTI_TRUTH_INTERVAL;
}

void dti_integer_set(mpz_ptr ret, int64_t from)
{
    const uint64_t magnitude = from < 0 ? UINT64_C(0) - (uint64_t)from : (uint64_t)from;
    dti_multi.mpz_import(ret, 1, -1, sizeof magnitude, 0, 0, &magnitude);
    if (from < 0)
        dti_multi.mpz_neg(ret, ret);
}
