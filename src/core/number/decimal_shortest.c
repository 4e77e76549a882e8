/* SPDX-License-Identifier: MIT
 *
 * The shortest decimal inside an interval. Let 10^k <= width of the interval < 10^(k+1). Then at
 * most one multiple of 10^(k+1) is inside, and if there is one it is the result. If not, at least
 * one multiple of 10^k is inside, and the nearest to the number is the result.
 *
 *      lower      number      upper
 *   -----[----+------x----+-----]--------+----    + multiples of 10^k     K = k + 1
 *
 * Two implementations: fixed-point arithmetic with 64 bits after the point, which tracks its error
 * bounds and gives up where they matter; and integers of any length. */
#include "core/number/bignum.h"
#include "core/number/decimal.h"
#include "core/wide.h"

/* floor(x / 2^bits). Most compilers do that for >> of negative numbers, but the standard does
 * not guarantee it. */
static int64_t floor_shift(int64_t x, unsigned bits)
{
    return x >= 0 ? x >> bits : ~(~x >> bits);
}

/* k of the interval. Uses log10(2) and -log10(3/4), times 2^42; correct for all |exponent| <=
 * 2^18 + 2000. */
static int32_t width_log10(const struct dti_interval *interval)
{
    int64_t log = interval->exponent * INT64_C(1323943922167);
    if (interval->quarter_below)
        log -= INT64_C(549486374641);
    return (int32_t)floor_shift(log, 42);
}

/* The result: whole x 10^K, or (10 whole + digit) x 10^(K - 1) with digit up to 10. */
struct answer {
    uint64_t whole;
    unsigned digit;
    bool has_digit;
};

/* Position of the number between two adjacent multiples of a power of ten. */
struct shortest_sides {
    bool lower_inside, upper_inside; /* whether each multiple is in the interval */
    int against_middle; /* the number relative to the midpoint: -1 nearer to the lower multiple */
};

/* Whether a multiple of 10^K is the result; ret->whole is the lower one. 10^K itself has as few
 * digits as the multiples of 10^k below it, so there the nearest of all is taken. */
static bool take_whole(struct answer *ret, const struct shortest_sides *sides)
{
    ret->has_digit = false;
    if (sides->lower_inside)
        return true;
    if (ret->whole == 0 || !sides->upper_inside)
        return false;
    ret->whole++;
    return true;
}

/* Requires at least one of the two multiples of 10^k to be inside. */
static void take_digit(struct answer *ret, const struct shortest_sides *sides, unsigned digit)
{
    bool upper = sides->upper_inside;
    if (sides->lower_inside && sides->upper_inside)
        upper = sides->against_middle > 0 || (sides->against_middle == 0 && digit % 2 != 0);
    ret->has_digit = true;
    ret->digit = digit + upper;
}

/* P x 2^exponent for 10^n: P <= 10^n / 2^exponent < P + 2, or equal if exact. */
struct shortest_power {
    uint64_t high, low;
    int32_t exponent;
    bool exact;
};

enum { POWER_STEP = DTI_POW5_SMALL_MAX + 1, POWER_MIN = -336, POWER_MAX = 336 + POWER_STEP - 1 };

static bool power_of_ten(struct shortest_power *ret, int32_t n)
{
    static const struct {
        uint64_t high, low;
        int32_t exponent;
    } large[] = {
#define POWER_OF_FIVE(n, h, l, e) \
    [((n)-POWER_MIN) / POWER_STEP] = {.high = (h), .low = (l), .exponent = (e)},
#include "core/number/spell_powers.def"
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

/* high:low >>= count, 0 <= count < 128; returns whether set bits were shifted out. */
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

/* Numbers in units of 2^-64 x 10^K, rounded down. */
struct fixed {
    uint64_t whole, fraction; /* of the number */
    uint64_t half, below; /* distance from the number to the upper and the lower end; less than 1 */
    bool exact;           /* nothing was truncated */
};

enum { FAST_BITS = 60 }; /* up to this width the errors stay far below one unit */

static bool set_fixed(struct fixed *ret, const struct dti_interval *interval, int32_t k)
{
    struct shortest_power power;
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

/* The true number is in [number, number + 3) units and an end in [end, end + 2); ten times that
 * after the digit has been split off. */
enum { SLACK = 64 };

/* How far differences of fixed-point numbers can be trusted. */
struct trust {
    uint64_t slack; /* a difference up to this may really be 0 or of the other sign */
    bool is_equal;  /* or is then known to be 0 */
};

/* -1, 0, 1; 0 within the slack. */
static int compare_near(uint64_t a, uint64_t b, uint64_t slack)
{
    if ((a > b ? a - b : b - a) <= slack)
        return 0;
    return a < b ? -1 : 1;
}

/* rest: the distance from the lower multiple, *multiple, to the number. Returns false if the
 * errors leave the result open. */
static bool set_sides_fixed(struct shortest_sides *ret, uint64_t *multiple, uint64_t rest,
                            uint64_t below, uint64_t half, const struct dti_interval *interval,
                            const struct trust *trust)
{
    uint64_t up = 0 - rest; /* to the upper multiple; 0 means the whole distance */
    if (up != 0 && up <= trust->slack) {
        if (!trust->is_equal)
            return false;
        ++*multiple;
        rest = up = 0;
    }
    const int low = compare_near(rest, below, trust->slack);
    const int high = up == 0 ? 1 : compare_near(up, half, trust->slack);
    ret->against_middle = compare_near(rest, UINT64_C(1) << 63, trust->slack);
    if ((low == 0 || high == 0 || ret->against_middle == 0) && !trust->is_equal)
        return false;
    ret->lower_inside = low < 0 || (low == 0 && interval->includes_lower);
    ret->upper_inside = high < 0 || (high == 0 && interval->includes_upper);
    return true;
}

/* A reach beyond 1 exceeds every rest. */
static uint64_t times_ten(uint64_t reach)
{
    uint64_t beyond;
    const uint64_t low = dti_wide_mul_add(reach, 10, 0, 0, &beyond);
    return low | (0 - (uint64_t)(beyond != 0));
}

/* Whether a rest is clearly on one side of both ends. */
static bool is_clear(uint64_t rest, uint64_t below, uint64_t half)
{
    const uint64_t up = 0 - rest, near = UINT64_C(2) * SLACK;
    return (up > SLACK) & (rest - below + SLACK > near) & (up - half + SLACK > near);
}

/* Fast path for nearly all numbers. Which multiple is inside is unpredictable, so both are
 * computed without a branch. */
static bool find_clear(struct answer *ret, const struct fixed *x)
{
    const uint64_t rest = x->fraction, below = times_ten(x->below), half = times_ten(x->half);
    uint64_t digit;
    const uint64_t tenths = dti_wide_mul_add(rest, 10, 0, 0, &digit);
    const uint64_t middle = UINT64_C(1) << 63;
    if (x->whole == 0 || !is_clear(rest, x->below, x->half) || !is_clear(tenths, below, half) ||
        tenths - middle + SLACK <= UINT64_C(2) * SLACK)
        return false;
    const bool lower = rest < x->below, upper = 0 - rest < x->half;
    const bool more = tenths > middle, low = tenths < below, high = 0 - tenths < half;
    ret->whole = x->whole + upper; /* at most one is inside */
    ret->has_digit = !(lower | upper);
    ret->digit = (unsigned)digit + (high & (more | !low));
    return true;
}

/* Other numbers, as far as the error bounds allow a decision. */
static bool find_careful(struct answer *ret, struct fixed x, const struct dti_interval *interval,
                         int32_t k)
{
    struct shortest_sides sides;
    uint64_t digit;
    /* For an integer, everything here is a multiple of 10^-15 / 2, more than 9000 units: nearly
     * equal means equal. */
    const bool integer = interval->exponent >= 1 && k >= 1 && k <= 15;
    const struct trust trust = {.slack = x.exact ? 0 : SLACK, .is_equal = x.exact || integer};

    if (!set_sides_fixed(&sides, &x.whole, x.fraction, x.below, x.half, interval, &trust))
        return false;
    ret->whole = x.whole;
    if (take_whole(ret, &sides))
        return true;
    const uint64_t rest = dti_wide_mul_add(x.fraction, 10, 0, 0, &digit);
    if (!set_sides_fixed(&sides, &digit, rest, times_ten(x.below), times_ten(x.half), interval,
                         &trust))
        return false;
    take_digit(ret, &sides, (unsigned)digit);
    return true;
}

static bool find_fixed(struct answer *ret, const struct dti_interval *interval, int32_t k)
{
    struct fixed x;
    return set_fixed(&x, interval, k) && (find_clear(ret, &x) || find_careful(ret, x, interval, k));
}

/* The same with integers of any length: number, unit (10^K), below and half are scaled by a
 * common factor that makes them integers. */
struct whole_numbers {
    struct dti_big number, unit, below, half;
    struct dti_big quotient, up; /* up: distance from the number to the next unit */
};

static void set_whole(struct whole_numbers *w, const struct dti_interval *interval, int32_t k)
{
    const uint32_t fives = (uint32_t)(k < 0 ? -k : k);
    const int32_t twos = interval->exponent - 2 - k; /* exponent of a quarter of the last place */
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

/* Returns the number of whole units; leaves the remainder in the number. */
static uint64_t split(struct whole_numbers *w, struct shortest_sides *ret,
                      const struct dti_interval *interval)
{
    dti_big_divide(&w->quotient, &w->number, &w->number, &w->unit);
    dti_big_sub(&w->up, &w->unit, &w->number);
    ret->lower_inside = is_inside(&w->number, &w->below, interval->includes_lower);
    ret->upper_inside = is_inside(&w->up, &w->half, interval->includes_upper);
    ret->against_middle = dti_big_compare(&w->number, &w->up);
    return w->quotient.count > 0 ? w->quotient.limb[0] : 0;
}

static void find_whole(struct answer *ret, struct whole_numbers *w,
                       const struct dti_interval *interval, int32_t k)
{
    struct shortest_sides sides;
    set_whole(w, interval, k);
    ret->whole = split(w, &sides, interval);
    if (take_whole(ret, &sides))
        return;
    dti_big_mul_add(&w->number, 10, 0);
    dti_big_mul_add(&w->below, 10, 0);
    dti_big_mul_add(&w->half, 10, 0);
    const uint64_t digit = split(w, &sides, interval);
    take_digit(ret, &sides, (unsigned)digit);
}

static bool find_exactly(struct answer *ret, const struct dti_interval *interval, int32_t k)
{
    struct whole_numbers w;
    struct dti_big *const all[] = {&w.number, &w.unit, &w.below, &w.half, &w.quotient, &w.up};
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
    struct answer answer = {.digit = 0};
    if (!find_fixed(&answer, interval, k) && !find_exactly(&answer, interval, k))
        return false;
    if (answer.digit == 10) {
        answer.whole += answer.has_digit;
        answer.has_digit = false;
    }
    size_t count = answer.whole != 0 ? dti_digits_write(ret_decimal->digit, answer.whole) : 0;
    ret_decimal->digit[count] = (char)('0' + answer.digit);
    count += answer.has_digit;
    ret_decimal->count = (unsigned)count;
    ret_decimal->exponent = k - 1 + (int32_t)count - answer.has_digit;
    dti_decimal_strip(ret_decimal);
    return true;
}
