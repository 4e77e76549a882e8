/* SPDX-License-Identifier: MIT
 *
 * Lists of true values: storage, loading and storing of elements, and conversions between
 * classes. truth_parts.h describes the representation and the bounds on memory. */
#include <stdlib.h>
#include <string.h>

#include "calc/truth/truth_parts.h"
#include "core/wide.h"
#include "util/run/allocate.h"

enum {
    FLOATS = sizeof((struct dti_truth_arena *)0)->f / sizeof(mpfr_t),
    INTEGERS = sizeof((struct dti_truth_arena *)0)->z / sizeof(mpz_t)
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

void dti_arena_init(struct dti_truth_arena *room, unsigned precision, size_t rational_bits)
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

void dti_arena_free(struct dti_truth_arena *room)
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
    ret->kind = class;
    ret->negative = negative;
}

void dti_real_own_rational(struct dti_real *ret)
{
    ret->kind = DTI_TRUTH_RATIONAL;
    ret->enclosed = false;
    ret->q = ret->own_q;
}

void dti_real_own_interval(struct dti_real *ret)
{
    ret->kind = DTI_TRUTH_INTERVAL;
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
    if (real->kind != DTI_TRUTH_RATIONAL || real->enclosed)
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
    if (real->kind != DTI_TRUTH_RATIONAL ||
        (dti_multi.mpz_sizeinbase(mpq_numref(real->q), 2) <= bits &&
         dti_multi.mpz_sizeinbase(mpq_denref(real->q), 2) <= bits))
        return;
    dti_real_enclose(real);
    real->kind = DTI_TRUTH_INTERVAL;
}

void dti_integer_set(mpz_ptr ret, int64_t from)
{
    const uint64_t magnitude = from < 0 ? UINT64_C(0) - (uint64_t)from : (uint64_t)from;
    dti_multi.mpz_import(ret, 1, -1, sizeof magnitude, 0, 0, &magnitude);
    if (from < 0)
        dti_multi.mpz_neg(ret, ret);
}

struct dti_calc_truth_list *dti_truth_new(size_t count, unsigned precision)
{
    if (count > (SIZE_MAX - sizeof(struct dti_calc_truth_list)) / sizeof(struct dti_truth_element))
        return NULL;
    struct dti_calc_truth_list *const list =
        dti_calloc(1, sizeof *list + count * sizeof *list->elements);
    if (!list)
        return NULL;
    list->count = count;
    list->precision = precision;
    dti_arena_init(&list->room, precision, dti_rational_bits(count));
    return list;
}

struct dti_calc_truth_list *dti_truth_scratch(unsigned precision)
{
    struct dti_calc_truth_list *const list = dti_truth_new(1, precision);
    if (!list)
        dti_multi_out_of_memory();
    return list;
}

static void drop(struct dti_truth_element *element)
{
    if (element->kind == DTI_TRUTH_RATIONAL)
        dti_free(element->as.rational);
    if (element->kind == DTI_TRUTH_INTERVAL)
        dti_free(element->as.interval);
    memset(element, 0, sizeof *element);
}

void dti_truth_free(struct dti_calc_truth_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        drop(&list->elements[i]);
    dti_arena_free(&list->room);
    dti_free(list);
}

size_t dti_truth_count(const struct dti_calc_truth_list *list)
{
    return list->count;
}

bool dti_truth_failed(const struct dti_calc_truth_list *list)
{
    return list->failed;
}

static void set_magnitude(mpz_ptr ret, uint64_t from)
{
    dti_multi.mpz_import(ret, 1, -1, sizeof from, 0, 0, &from);
}

static void load_dyadic(struct dti_real *ret, const struct dti_truth_element *from)
{
    mpz_ptr const num = mpq_numref(ret->own_q), den = mpq_denref(ret->own_q);
    set_magnitude(num, from->as.significand);
    dti_multi.mpz_set_ui(den, 1);
    if (from->exponent > 0)
        dti_multi.mpz_mul_2exp(num, num, (mp_bitcnt_t)from->exponent);
    if (from->exponent < 0)
        dti_multi.mpz_mul_2exp(den, den, (mp_bitcnt_t)-from->exponent);
    if (from->negative)
        dti_multi.mpz_neg(num, num);
    dti_real_own_rational(ret);
}

void dti_real_load(struct dti_real *ret, const struct dti_calc_truth_list *list, size_t i)
{
    const struct dti_truth_element *const from = &list->elements[i];
    ret->enclosed = false;
    switch ((enum dti_truth_class)from->kind) {
    case DTI_TRUTH_DYADIC:
        load_dyadic(ret, from);
        return;
    case DTI_TRUTH_RATIONAL:
        ret->q = &from->as.rational->q;
        break;
    case DTI_TRUTH_INTERVAL:
        ret->low = &from->as.interval->low;
        ret->high = &from->as.interval->high;
        break;
    case DTI_TRUTH_INFINITE:
    case DTI_TRUTH_UNDEFINED:
    case DTI_TRUTH_UNDECIDED:
        break;
    }
    ret->kind = (enum dti_truth_class)from->kind;
    ret->negative = from->negative;
}

static void set_plain(struct dti_truth_element *element, enum dti_truth_class class, bool negative)
{
    drop(element);
    element->kind = (uint8_t) class;
    element->negative = negative;
}

/* Allocates a block; on failure the element becomes undecided. */
static void *room_for(struct dti_calc_truth_list *list, struct dti_truth_element *element,
                      size_t size)
{
    void *const block = dti_malloc(size);
    set_plain(element, DTI_TRUTH_UNDECIDED, false);
    list->failed = list->failed || !block;
    return block;
}

/* sign x significand x 2^exponent with an odd significand; exponents are within +-2^16 */
static void set_dyadic(struct dti_truth_element *element, bool negative, uint64_t significand,
                       int64_t exponent)
{
    set_plain(element, DTI_TRUTH_DYADIC, negative);
    if (significand == 0)
        return;
    const unsigned zeros = dti_trailing_zeros(significand);
    element->as.significand = significand >> zeros;
    element->exponent = (int32_t)(exponent + zeros);
}

static uint64_t low_word(mpz_srcptr z)
{
    uint64_t word = 0;
    if (z->_mp_size != 0)
        dti_multi.mpz_export(&word, NULL, -1, sizeof word, 0, 0, z);
    return word;
}

static bool store_dyadic(struct dti_calc_truth_list *list, struct dti_truth_element *element,
                         mpq_srcptr q)
{
    mpz_srcptr const num = mpq_numref(q), den = mpq_denref(q);
    if (num->_mp_size == 0) {
        set_plain(element, DTI_TRUTH_DYADIC, false);
        return true;
    }
    const size_t down = dti_multi.mpz_scan1(den, 0);
    const size_t up = dti_multi.mpz_scan1(num, 0);
    if (down + 1 != dti_multi.mpz_sizeinbase(den, 2) || dti_multi.mpz_sizeinbase(num, 2) - up > 64)
        return false;
    dti_multi.mpz_fdiv_q_2exp(list->room.z[0], num, up);
    list->room.z[0]->_mp_size = abs(list->room.z[0]->_mp_size);
    set_dyadic(element, num->_mp_size < 0, low_word(list->room.z[0]), (int64_t)up - (int64_t)down);
    return true;
}

static void put_limbs(mpz_ptr ret, mp_limb_t *limbs, mpz_srcptr from)
{
    memcpy(limbs, from->_mp_d, (size_t)abs(from->_mp_size) * sizeof *limbs);
    ret->_mp_alloc = 0; /* read-only, and must not be freed */
    ret->_mp_size = from->_mp_size;
    ret->_mp_d = limbs;
}

static void store_rational(struct dti_calc_truth_list *list, struct dti_truth_element *element,
                           mpq_srcptr q)
{
    mpz_srcptr const num = mpq_numref(q), den = mpq_denref(q);
    const size_t num_limbs = (size_t)abs(num->_mp_size), den_limbs = (size_t)abs(den->_mp_size);
    struct dti_truth_rational *const block =
        room_for(list, element, sizeof *block + (num_limbs + den_limbs) * sizeof *block->limbs);
    if (!block)
        return;
    put_limbs(mpq_numref(&block->q), block->limbs, num);
    put_limbs(mpq_denref(&block->q), block->limbs + num_limbs, den);
    element->kind = DTI_TRUTH_RATIONAL;
    element->as.rational = block;
}

static void store_interval(struct dti_calc_truth_list *list, struct dti_truth_element *element,
                           mpfr_srcptr low, mpfr_srcptr high)
{
    const size_t limbs = (list->precision + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS;
    struct dti_truth_interval *const block =
        room_for(list, element, sizeof *block + 2 * limbs * sizeof *block->limbs);
    if (!block)
        return;
    const mpfr_prec_t precision = (mpfr_prec_t)list->precision;
    dti_multi.mpfr_custom_init_set(&block->low, MPFR_ZERO_KIND, 0, precision, block->limbs);
    dti_multi.mpfr_custom_init_set(&block->high, MPFR_ZERO_KIND, 0, precision,
                                   block->limbs + limbs);
    dti_multi.mpfr_set(&block->low, low, MPFR_RNDD);
    dti_multi.mpfr_set(&block->high, high, MPFR_RNDU);
    element->kind = DTI_TRUTH_INTERVAL;
    element->as.interval = block;
}

void dti_real_store(struct dti_calc_truth_list *list, size_t i, struct dti_real *from)
{
    struct dti_truth_element *const element = &list->elements[i];
    dti_real_shorten(from, list->room.rational_bits);
    if (from->kind == DTI_TRUTH_INTERVAL) {
        store_interval(list, element, from->low, from->high);
    } else if (from->kind == DTI_TRUTH_RATIONAL) {
        if (!store_dyadic(list, element, from->q))
            store_rational(list, element, from->q);
    } else {
        set_plain(element, from->kind, from->negative);
    }
}

void dti_truth_copy(struct dti_calc_truth_list *ret, size_t i,
                    const struct dti_calc_truth_list *from, size_t j)
{
    if (from->elements[j].kind == DTI_TRUTH_DYADIC) {
        drop(&ret->elements[i]);
        ret->elements[i] = from->elements[j];
        return;
    }
    if (ret == from && i == j)
        return;
    dti_real_load(&ret->room.result, from, j);
    dti_real_store(ret, i, &ret->room.result);
}

/* Conversions between 128-bit values and MPFR numbers. */

static const mpfr_prec_t VALUE_BITS = 128;

void dti_mpfr_arena(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS])
{
    dti_multi.mpfr_custom_init_set(ret, MPFR_NAN_KIND, 0, VALUE_BITS, limbs);
}

void dti_mpfr_from_value(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS],
                         const struct dti_value *value)
{
    static const int kinds[] = {
        [DTI_CLASS_ZERO] = MPFR_ZERO_KIND,
        [DTI_CLASS_FINITE] = MPFR_REGULAR_KIND,
        [DTI_CLASS_INF] = MPFR_INF_KIND,
        [DTI_CLASS_NAN] = MPFR_NAN_KIND,
    };
    const int kind = kinds[value->kind];
    for (unsigned i = 0; i < DTI_VALUE_LIMBS; i++) {
        const uint64_t word = i < DTI_VALUE_LIMBS / 2 ? value->lo : value->hi;
        limbs[i] = (mp_limb_t)(word >> (i * GMP_NUMB_BITS % 64));
    }
    dti_multi.mpfr_custom_init_set(ret, value->negative ? -kind : kind,
                                   (mpfr_exp_t)value->exponent + 1, VALUE_BITS, limbs);
}

void dti_mpfr_to_value(struct dti_value *ret, mpfr_srcptr x, bool sticky)
{
    const bool negative = dti_multi.mpfr_signbit(x) != 0;
    uint64_t words[2] = {0, 0};
    if (dti_multi.mpfr_nan_p(x)) {
        *ret = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    } else if (dti_multi.mpfr_inf_p(x)) {
        *ret = (struct dti_value){.kind = DTI_CLASS_INF, .negative = negative};
    } else if (dti_multi.mpfr_zero_p(x) && sticky) { /* below MPFR's range */
        dti_value_set_wide(ret, negative, 1, 0, true, -(INT64_C(1) << 40));
    } else if (dti_multi.mpfr_zero_p(x)) {
        *ret = (struct dti_value){.kind = DTI_CLASS_ZERO, .negative = negative};
    } else {
        for (unsigned i = 0; i < DTI_VALUE_LIMBS; i++)
            words[i * GMP_NUMB_BITS / 64] |= (uint64_t)x->_mpfr_d[i] << (i * GMP_NUMB_BITS % 64);
        dti_value_set_wide(ret, negative, words[1], words[0], sticky,
                           (int64_t)dti_multi.mpfr_get_exp(x) - VALUE_BITS);
    }
}

bool dti_between_to_value(struct dti_value *ret, mpfr_srcptr near, mpfr_srcptr far)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    const bool negative = dti_multi.mpfr_signbit(far) != 0;
    const int64_t beyond = (int64_t)DTI_EXPONENT_LIMIT + 1;
    if (!dti_multi.mpfr_zero_p(near) && dti_multi.mpfr_get_exp(near) > beyond) {
        dti_value_set_wide(ret, negative, 1, 0, true, 2 * beyond);
        return true;
    }
    if (dti_multi.mpfr_inf_p(far))
        return false;
    if (dti_multi.mpfr_get_exp(far) < -beyond) {
        dti_value_set_wide(ret, negative, 1, 0, true, -2 * beyond);
        return true;
    }
    if (dti_multi.mpfr_zero_p(near))
        return false;
    dti_mpfr_arena(first, limbs);
    (void)dti_multi.mpfr_set(first, near, MPFR_RNDZ);
    dti_mpfr_to_value(ret, first, true);
    if (negative)
        dti_multi.mpfr_nextbelow(first);
    else
        dti_multi.mpfr_nextabove(first);
    return dti_multi.mpfr_cmpabs(far, first) <= 0;
}

void dti_truth_set_value(struct dti_calc_truth_list *ret, size_t i, const struct dti_value *from)
{
    struct dti_truth_element *const element = &ret->elements[i];
    const int64_t lowest = (int64_t)from->exponent - (from->lo ? 127 : 63);
    mp_limb_t near_limbs[DTI_VALUE_LIMBS], far_limbs[DTI_VALUE_LIMBS];
    mpfr_t near, far;
    if (from->kind == DTI_CLASS_NAN) {
        set_plain(element, DTI_TRUTH_UNDEFINED, false);
    } else if (from->kind == DTI_CLASS_INF) {
        set_plain(element, DTI_TRUTH_INFINITE, from->negative);
    } else if (from->kind == DTI_CLASS_ZERO) {
        set_plain(element, DTI_TRUTH_DYADIC, false);
    } else if (from->lo == 0 && !from->sticky && lowest > -DTI_RATIONAL_BITS &&
               from->exponent < DTI_RATIONAL_BITS) {
        set_dyadic(element, from->negative, from->hi, lowest);
    } else {
        struct dti_real *const real = &ret->room.result;
        dti_mpfr_from_value(near, near_limbs, from);
        dti_mpfr_from_value(far, far_limbs, from);
        if (from->sticky && from->negative)
            dti_multi.mpfr_nextbelow(far);
        else if (from->sticky)
            dti_multi.mpfr_nextabove(far);
        dti_multi.mpfr_set(real->own_low, from->negative ? far : near, MPFR_RNDD);
        dti_multi.mpfr_set(real->own_high, from->negative ? near : far, MPFR_RNDU);
        dti_real_own_interval(real);
        dti_real_store(ret, i, real);
    }
}

void dti_truth_set_quotient(struct dti_calc_truth_list *ret, size_t i, int64_t num, uint64_t den)
{
    struct dti_real *const real = &ret->room.result;
    dti_integer_set(mpq_numref(real->own_q), num);
    set_magnitude(mpq_denref(real->own_q), den);
    dti_multi.mpq_canonicalize(real->own_q);
    dti_real_own_rational(real);
    dti_real_store(ret, i, real);
}
