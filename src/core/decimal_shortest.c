/* SPDX-License-Identifier: MIT
 *
 * The shortest decimal inside an interval. Let 10^k <= width of the interval < 10^(k+1). Then at
 * most one multiple of 10^(k+1) lies inside, and if one does it is the answer; if not, at least one
 * multiple of 10^k does, and the nearest to the number is.
 *
 *      lower      number      upper
 *   -----[----+------x----+-----]--------+----    + multiples of 10^k     K = k + 1
 *
 * Two ways to look: with fixed-point arithmetic of 64 bits after the point, which knows how wrong
 * it can be and gives up where that would matter; and with integers of any length. */
#include "core/bignum.h"
#include "core/decimal.h"
#include "core/wide.h"

/* floor(x / 2^bits), which >> does for negative numbers on most compilers but not by the standard.
 */
static int64_t floor_shift(int64_t x, unsigned bits)
{
    return x >= 0 ? x >> bits : ~(~x >> bits);
}

/* k of the interval. log10(2) and -log10(3/4), times 2^42; right for all |exponent| <= 2^18 + 2000.
 */
static int32_t width_log10(const struct dti_interval *interval)
{
    int64_t log = interval->exponent * INT64_C(1323943922167);
    if (interval->quarter_below)
        log -= INT64_C(549486374641);
    return (int32_t)floor_shift(log, 42);
}

/* The answer: whole x 10^K, or (10 whole + digit) x 10^(K - 1) with digit up to 10. */
struct answer {
    uint64_t whole;
    unsigned digit;
    bool has_digit;
};

/* Of the two neighbours among the multiples of 10^k, each inside or not, one at least. */
static bool takes_upper(bool lower_inside, bool upper_inside, int against_middle, unsigned digit)
{
    if (lower_inside && upper_inside)
        return against_middle > 0 || (against_middle == 0 && digit % 2 != 0);
    return upper_inside;
}

/* P x 2^exponent for 10^n: P <= 10^n / 2^exponent < P + 2, or equal if exact. */
struct power {
    uint64_t high, low;
    int32_t exponent;
    bool exact;
};

enum { POWER_STEP = DTI_POW5_SMALL_MAX + 1, POWER_MIN = -336, POWER_MAX = 336 + POWER_STEP - 1 };

static bool power_of_ten(struct power *ret, int32_t n)
{
    static const struct {
        uint64_t high, low;
        int32_t exponent;
    } large[] = {
#define POWER_OF_FIVE(n, high, low, exponent) {high, low, exponent},
#include "core/spell_powers.def"
#undef POWER_OF_FIVE
    };
    if (n < POWER_MIN || n > POWER_MAX)
        return false;
    const uint32_t place = (uint32_t)(n - POWER_MIN);
    const unsigned row = place / POWER_STEP;
    const uint64_t factor = dti_pow5_small[place % POWER_STEP];
    const unsigned shift = dti_leading_zeros(factor);
    uint64_t carry;
    const uint64_t lost = dti_wide_mul_add(large[row].low, factor << shift, 0, 0, &carry);
    ret->low = dti_wide_mul_add(large[row].high, factor << shift, carry, 0, &ret->high);
    ret->exponent = large[row].exponent + 64 - (int32_t)shift + n;
    const bool exact_row = row == -POWER_MIN / POWER_STEP || row == -POWER_MIN / POWER_STEP + 1;
    ret->exact = exact_row && lost == 0; /* 5^28 is the last within 128 bits */
    return true;
}

/* high:low >> count, 0 <= count < 128; tells whether ones fell off. */
static bool shift_right(uint64_t *high, uint64_t *low, unsigned count)
{
    uint64_t lost = 0;
    if (count >= 64) {
        lost = *low;
        *low = *high;
        *high = 0;
        count -= 64;
    }
    if (count > 0) {
        lost |= *low << (64 - count);
        *low = *low >> count | *high << (64 - count);
        *high >>= count;
    }
    return lost != 0;
}

/* Numbers in units of 2^-64 x 10^K, rounded down. They are exact, or off by a few units. */
struct fixed {
    uint64_t whole, fraction; /* of the number */
    uint64_t half, below;     /* from the number to the upper and the lower end; less than 1 */
    bool exact;
};

enum { FAST_BITS = 60 }; /* significands up to here leave the errors far below one unit */

static bool set_fixed(struct fixed *ret, const struct dti_interval *interval, int32_t k)
{
    struct power power;
    if (interval->significand >> FAST_BITS != 0 || !power_of_ten(&power, -k))
        return false;
    const unsigned shift = dti_leading_zeros(interval->significand);
    const uint64_t factor = interval->significand << shift;
    const int32_t exponent = interval->exponent + power.exponent;
    uint64_t carry;
    uint64_t lost = dti_wide_mul_add(power.low, factor, 0, 0, &carry);
    ret->fraction = dti_wide_mul_add(power.high, factor, carry, 0, &ret->whole);
    lost |= shift_right(&ret->whole, &ret->fraction, (unsigned)((int32_t)shift - exponent - 128));

    uint64_t none = power.high;
    ret->half = power.low;
    lost |= shift_right(&none, &ret->half, (unsigned)(-exponent - 63));
    ret->below = ret->half;
    if (interval->quarter_below) {
        lost |= ret->half & 1;
        ret->below /= 2;
    }
    ret->exact = power.exact && lost == 0;
    return true;
}

/* Errors. The true number is in [number, number + 3) units, an end in [end, end + 2); ten times
 * that once the digit has been split off. */
enum { SLACK = 64 };

/* -1, 0, 1; what is within the slack counts as equal. */
static int compare_near(uint64_t a, uint64_t b, uint64_t slack)
{
    if ((a > b ? a - b : b - a) <= slack)
        return 0;
    return a < b ? -1 : 1;
}

static uint64_t times_ten(uint64_t x)
{
    return x > UINT64_MAX / 10 ? UINT64_MAX : x * 10;
}

/* False when the errors leave it open. */
static bool find_fixed(struct answer *ret, const struct dti_interval *interval, int32_t k)
{
    struct fixed x;
    if (!set_fixed(&x, interval, k))
        return false;
    const uint64_t slack = x.exact ? 0 : SLACK;
    /* Of an integer everything here is a multiple of 10^-15 / 2, more than 9000 units: what is
     * nearly equal is equal. */
    const bool settled = x.exact || (interval->exponent >= 1 && k >= 1 && k <= 15);

    uint64_t up = 0 - x.fraction; /* to the next multiple of 10^K */
    if (up != 0 && up <= slack) {
        if (!settled)
            return false;
        x.whole++;
        x.fraction = up = 0;
    }
    int low = compare_near(x.fraction, x.below, slack);
    int high = up == 0 ? 1 : compare_near(up, x.half, slack);
    if ((low == 0 || high == 0) && !settled)
        return false;
    ret->has_digit = false;
    ret->whole = x.whole;
    if (low < 0 || (low == 0 && interval->includes_lower))
        return true;
    /* 10^K itself has no more digits than the multiples of 10^k below it: then the nearest wins. */
    if (x.whole != 0 && (high < 0 || (high == 0 && interval->includes_upper))) {
        ret->whole++;
        return true;
    }

    uint64_t digit;
    uint64_t rest = dti_wide_mul_add(x.fraction, 10, 0, 0, &digit);
    up = 0 - rest;
    if (up != 0 && up <= slack) {
        if (!settled)
            return false;
        digit++;
        rest = up = 0;
    }
    low = compare_near(rest, times_ten(x.below), slack);
    high = up == 0 ? 1 : compare_near(up, times_ten(x.half), slack);
    const int against_middle = compare_near(rest, UINT64_C(1) << 63, slack);
    if ((low == 0 || high == 0 || against_middle == 0) && !settled)
        return false;
    const bool lower_inside = low < 0 || (low == 0 && interval->includes_lower);
    const bool upper_inside = high < 0 || (high == 0 && interval->includes_upper);
    ret->has_digit = true;
    ret->digit =
        (unsigned)digit + takes_upper(lower_inside, upper_inside, against_middle, (unsigned)digit);
    return true;
}

/* The same with integers: number, unit (10^K), below and half are all multiplied by what makes them
 * whole. */
struct whole {
    struct dti_big number, unit, below, half;
    struct dti_big quotient, rest, up;
};

static void set_whole(struct whole *w, const struct dti_interval *interval, int32_t k)
{
    const uint32_t fives = (uint32_t)(k < 0 ? -k : k);
    const int32_t twos = interval->exponent - 2 - k; /* of a quarter of the last place */
    dti_big_set(&w->half, 1);
    dti_big_set(&w->unit, 1);
    dti_big_mul_pow5(k < 0 ? &w->half : &w->unit, fives);
    if (twos < 0)
        dti_big_shift_left(&w->unit, (size_t)-twos);
    else
        dti_big_shift_left(&w->half, (size_t)twos);
    dti_big_copy(&w->below, &w->half);
    dti_big_shift_left(&w->half, 1);
    dti_big_copy(&w->number, &w->half);
    dti_big_mul_add(&w->number, interval->significand, 0);
    dti_big_shift_left(&w->number, 1);
    if (!interval->quarter_below)
        dti_big_copy(&w->below, &w->half);
}

static bool is_inside(const struct dti_big *distance, const struct dti_big *reach,
                      bool includes_end)
{
    const int order = dti_big_compare(distance, reach);
    return order < 0 || (order == 0 && includes_end);
}

/* Quotient of a number and the unit; rest and up become the distances to the multiples. */
static uint64_t split(struct whole *w, const struct dti_big *from)
{
    dti_big_divide(&w->quotient, &w->rest, from, &w->unit);
    dti_big_sub(&w->up, &w->unit, &w->rest);
    return w->quotient.count > 0 ? w->quotient.limb[0] : 0;
}

static void find_whole(struct answer *ret, struct whole *w, const struct dti_interval *interval,
                       int32_t k)
{
    set_whole(w, interval, k);
    ret->has_digit = false;
    ret->whole = split(w, &w->number);
    if (is_inside(&w->rest, &w->below, interval->includes_lower))
        return;
    if (ret->whole != 0 && is_inside(&w->up, &w->half, interval->includes_upper)) {
        ret->whole++;
        return;
    }
    dti_big_mul_add(&w->rest, 10, 0);
    dti_big_mul_add(&w->below, 10, 0);
    dti_big_mul_add(&w->half, 10, 0);
    dti_big_copy(&w->number, &w->rest);
    ret->has_digit = true;
    ret->digit = (unsigned)split(w, &w->number);
    ret->digit += takes_upper(is_inside(&w->rest, &w->below, interval->includes_lower),
                              is_inside(&w->up, &w->half, interval->includes_upper),
                              dti_big_compare(&w->rest, &w->up), ret->digit);
}

static bool find_exactly(struct answer *ret, const struct dti_interval *interval, int32_t k)
{
    struct whole w;
    struct dti_big *const all[] = {&w.number,   &w.unit, &w.below, &w.half,
                                   &w.quotient, &w.rest, &w.up};
    bool failed = false;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        dti_big_init(all[i]);
    find_whole(ret, &w, interval, k);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        failed = failed || all[i]->failed;
        dti_big_free(all[i]);
    }
    return !failed;
}

bool dti_decimal_shortest(struct dti_decimal *ret_decimal, const struct dti_interval *interval)
{
    const int32_t k = width_log10(interval) + 1;
    struct answer answer;
    if (!find_fixed(&answer, interval, k) && !find_exactly(&answer, interval, k))
        return false;
    if (answer.has_digit && answer.digit == 10) {
        answer.whole++;
        answer.has_digit = false;
    }
    if (!answer.has_digit) {
        dti_decimal_set(ret_decimal, answer.whole, k);
        return true;
    }
    unsigned count =
        answer.whole != 0 ? (unsigned)dti_digits_write(ret_decimal->digit, answer.whole) : 0;
    ret_decimal->digit[count++] = (char)('0' + answer.digit);
    ret_decimal->count = count;
    ret_decimal->exponent = k - 1 + (int32_t)count - 1;
    dti_decimal_strip(ret_decimal);
    return true;
}
