/* SPDX-License-Identifier: MIT
 *
 * Texts against MPFR in all IEEE-like formats, including narrow and odd ones: mpfr_strtofr() rounds
 * to any precision and mpfr_subnormalize() gives IEEE 754 subnormals. MPFR has no ties-away mode
 * for reading text: that mode is checked by comparing with the exact midpoint.
 * Usage: test_mpfr [COUNT]
 */
#include <stdbool.h>

#include <gmp.h>
#include <mpfr.h>

#include "judged.h"

static const struct {
    mpfr_rnd_t library;
    enum dti_round ours;
    const char *name;
} directions[] = {
    {MPFR_RNDN, DTI_ROUND_NEAREST_EVEN, "nearest-even"},
    {MPFR_RNDNA, DTI_ROUND_NEAREST_AWAY, "nearest-away"},
    {MPFR_RNDZ, DTI_ROUND_ZERO, "zero"},
    {MPFR_RNDU, DTI_ROUND_UP, "up"},
    {MPFR_RNDD, DTI_ROUND_DOWN, "down"},
};

/* Exponent and mantissa bits from the standards; the bias is 2^(exp - 1) - 1. */
static const struct shape {
    const char *name;
    int exp, man;
} shapes[] = {
    {"fp64", 11, 52},   {"fp32", 8, 23},    {"tf32", 8, 10},    {"fp16", 5, 10}, {"bf16", 8, 7},
    {"fp8_e5m2", 5, 2}, {"fp8_e4m3", 4, 3}, {"fp8_e3m4", 3, 4}, {"e6m9", 6, 9},  {"e15m48", 15, 48},
};

enum {
    TEXT_SIZE = 4096,
    DIRECTIONS = sizeof directions / sizeof directions[0],
    DECIMAL_REACH = 1200
};

static int bias_of(const struct shape *shape)
{
    return (1 << (shape->exp - 1)) - 1;
}

/* MPFR's exponents refer to 0.1xxx x 2^e. With subnormals the smallest number is 2^(emin - 1). */
static void set_range(const struct shape *shape)
{
    mpfr_set_emin(1 - bias_of(shape) - shape->man + 1);
    mpfr_set_emax(bias_of(shape) + 1);
}

static void set_widest_range(void)
{
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

/* The IEEE 754 code of a number that the format holds. */
static uint64_t pack(const struct shape *shape, mpfr_srcptr x)
{
    int least = 1 - bias_of(shape);
    uint64_t top = (UINT64_C(1) << shape->exp) - 1;
    uint64_t magnitude = 0;
    if (mpfr_inf_p(x)) {
        magnitude = top << shape->man;
    } else if (!mpfr_zero_p(x)) {
        mpz_t whole;
        mpz_init(whole);
        long weight = (long)mpfr_get_z_2exp(whole, x);
        long exponent = (long)mpfr_get_exp(x) - 1;
        long shift = weight - ((exponent < least ? least : exponent) - shape->man);
        mpz_abs(whole, whole);
        if (shift >= 0)
            mpz_mul_2exp(whole, whole, (mp_bitcnt_t)shift);
        else
            mpz_fdiv_q_2exp(whole, whole, (mp_bitcnt_t)-shift);
        uint64_t field = exponent < least ? 0 : (uint64_t)(exponent - least);
        for (size_t bit = mpz_sizeinbase(whole, 2); bit-- > 0;)
            magnitude |= (uint64_t)mpz_tstbit(whole, bit) << bit;
        magnitude += field << shape->man;
        mpz_clear(whole);
    }
    return magnitude | (uint64_t)(mpfr_signbit(x) != 0) << (shape->exp + shape->man);
}

/* Rounds away from zero if the magnitude reaches the midpoint above its truncation. */
static uint64_t judge_away(const struct shape *shape, const char *text)
{
    mpfr_prec_t precision = shape->man + 1;
    long least = 1 - bias_of(shape) - shape->man; /* weight of the last subnormal bit */
    mpfr_t below, unit, fine;
    mpfr_init2(below, precision);
    mpfr_init2(unit, 2);
    mpfr_init2(fine, precision + 1);
    set_range(shape);
    int ternary = mpfr_strtofr(below, text, NULL, 0, MPFR_RNDZ);
    mpfr_subnormalize(below, ternary, MPFR_RNDZ);
    set_widest_range();
    bool negative = mpfr_signbit(below) != 0;
    long weight = mpfr_zero_p(below) ? least : (long)(mpfr_get_exp(below) - precision);
    if (weight < least)
        weight = least;
    /* fine has one bit more than below, so it is at or above the midpoint exactly when text is */
    mpfr_set_prec(fine, (mpfr_prec_t)(mpfr_zero_p(below) ? 2 : mpfr_get_exp(below) - weight + 1));
    mpfr_strtofr(fine, text, NULL, 0, MPFR_RNDZ);
    mpfr_abs(fine, fine, MPFR_RNDZ);
    mpfr_t middle;
    mpfr_init2(middle, precision + 2);
    mpfr_abs(middle, below, MPFR_RNDZ);
    mpfr_set_ui_2exp(unit, 1, weight - 1, MPFR_RNDZ);
    mpfr_add(middle, middle, unit, MPFR_RNDZ);
    if (mpfr_cmp(fine, middle) >= 0) {
        mpfr_mul_2ui(unit, unit, 1, MPFR_RNDZ);
        mpfr_abs(below, below, MPFR_RNDZ);
        mpfr_add(below, below, unit, MPFR_RNDU);
        if (mpfr_get_exp(below) > bias_of(shape) + 1)
            mpfr_set_inf(below, 1);
        mpfr_setsign(below, below, negative, MPFR_RNDZ);
    }
    uint64_t code = pack(shape, below);
    mpfr_clears(below, unit, fine, middle, (mpfr_ptr)NULL);
    return code;
}

static uint64_t judge(const struct shape *shape, const char *text, mpfr_rnd_t round)
{
    if (round == MPFR_RNDNA)
        return judge_away(shape, text);
    mpfr_t x;
    mpfr_init2(x, shape->man + 1);
    set_range(shape);
    int ternary = mpfr_strtofr(x, text, NULL, 0, round);
    mpfr_subnormalize(x, ternary, round);
    set_widest_range();
    uint64_t code = pack(shape, x);
    mpfr_clear(x);
    return code;
}

static void move(mpz_t number, int side)
{
    if (side > 0)
        mpz_add_ui(number, number, 1);
    else if (side < 0)
        mpz_sub_ui(number, number, 1);
}

/* odd x 2^exponent with one bit more than the format holds there: exactly between two
 * neighbours. Then sometimes moved by one in a digit far to the right. Decimal if that needs at
 * most a thousand digits. */
static void put_midpoint(char *text, const struct shape *shape, uint64_t *state)
{
    int least = 1 - bias_of(shape);
    long exponent = (long)least - shape->man - 2 +
                    (long)(random_u64(state) % (uint64_t)(bias_of(shape) - least + shape->man + 4));
    int bits = shape->man + 1;
    if (exponent < least)
        bits = exponent < least - shape->man ? 0 : (int)(exponent - (least - shape->man)) + 1;
    uint64_t kept = bits > 0;
    if (bits > 1)
        kept = UINT64_C(1) << (bits - 1) | random_u64(state) >> (65 - bits);
    long weight = bits > 0 ? exponent - bits : (long)least - shape->man - 1; /* of the half bit */
    int side = (int)random_below(state, 3) - 1;
    mpz_t digits;
    mpz_init(digits);
    for (int bit = 0; bit < 64; bit++)
        if (kept >> bit & 1)
            mpz_setbit(digits, (mp_bitcnt_t)bit + 1);
    mpz_setbit(digits, 0);
    if (weight > DECIMAL_REACH || weight < -DECIMAL_REACH || random_below(state, 8) == 0) {
        unsigned far = 1 + random_below(state, 200);
        mpz_mul_2exp(digits, digits, far);
        move(digits, side);
        gmp_sprintf(text, "0x%Zxp%ld", digits, weight - (long)far);
    } else {
        mpz_t factor;
        mpz_init(factor);
        unsigned long far = 1 + random_below(state, 60);
        if (weight >= 0)
            mpz_mul_2exp(digits, digits, (mp_bitcnt_t)weight);
        else
            mpz_ui_pow_ui(factor, 5, (unsigned long)-weight);
        if (weight < 0)
            mpz_mul(digits, digits, factor);
        mpz_ui_pow_ui(factor, 10, far);
        mpz_mul(digits, digits, factor);
        move(digits, side);
        gmp_sprintf(text, "%Zde%ld", digits, (weight < 0 ? weight : 0) - (long)far);
        mpz_clear(factor);
    }
    mpz_clear(digits);
}

static void put_text(char *text, const struct shape *shape, uint64_t *state)
{
    static const unsigned lengths[] = {3, 8, 17, 40, 300};
    int least = 1 - bias_of(shape) - shape->man - 3;
    int binade = least + (int)random_below(state, (unsigned)(bias_of(shape) - least + 4));
    if (random_below(state, 4) == 0) /* around the limits of the range */
        binade = (random_below(state, 2) == 0 ? least : bias_of(shape) - 2) +
                 (int)random_below(state, 5);
    if (random_below(state, 2) == 0)
        *text++ = '-';
    unsigned kind = random_below(state, 8);
    if (kind < 3) {
        put_midpoint(text, shape, state);
    } else if (kind == 3) {
        sprintf(text, "0x1.%" PRIx64 "%" PRIx64 "p%d", random_u64(state), random_u64(state),
                binade);
    } else {
        char *end = put_digits(text + 1, 1 + random_below(state, lengths[kind % 5]), state);
        text[0] = text[1];
        text[1] = '.';
        sprintf(end, "e%d", (int)(binade * 0.30103));
    }
}

int main(int argc, char **argv)
{
    static char text[TEXT_SIZE];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    unsigned long wrong = 0;
    uint64_t state = 20260630;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct dti_format format;
        if (dti_format_lookup(shapes[s].name, &format, NULL, NULL) != DTI_OK) {
            printf("no dtype %s\n", shapes[s].name);
            return 1;
        }
        for (unsigned long i = 0; i < count && wrong < 20; i++) {
            put_text(text, &shapes[s], &state);
            struct dti_value value = value_of(text);
            for (size_t d = 0; d < DIRECTIONS; d++) {
                uint64_t theirs = judge(&shapes[s], text, directions[d].library);
                uint64_t ours = code_of(&format, &value, directions[d].ours);
                if (ours == theirs)
                    continue;
                printf("%s %s: %#" PRIx64 ", MPFR %#" PRIx64 ": %s\n", shapes[s].name,
                       directions[d].name, ours, theirs, text);
                wrong++;
            }
        }
        printf("%s: %lu texts in %d directions\n", shapes[s].name, count, (int)DIRECTIONS);
    }
    mpfr_free_cache();
    printf("%lu different\n", wrong);
    return wrong || count == 0;
}
