/* SPDX-License-Identifier: MIT
 *
 * Faster ways to the same results: dti_bulk_compute() for plain operations,
 * dti_function_quick() for functions, and a cache of results per code for dtypes with few codes.
 * The first element that went wrong is recomputed by the exact path, because only that has the
 * details.
 */
#include "calc/evaluate/fast_path.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/truth/truth.h"
#include "util/run/allocate.h"
#include "util/run/mathematics.h"

/* Functions use the C library's fp64 result and an error margin. The library is assumed to be
 * accurate to MARGIN units in the last place for the arguments it gets: glibc, musl and the BSD
 * libraries document or measure 1 to 4, and the compositions below add less than 40. The test
 * truth_quick checks this against MPFR. If both ends round to the same code, that is the
 * correctly rounded result on every machine; otherwise dti_function_value() decides. */
enum { MARGIN = 64 };

/* Whether the result may be exact: nearly always at zero, and at powers of two where the result
 * is an integer or a power of two. */
static bool may_be_exact(enum dti_calc_op op, double x)
{
    int exponent;
    switch (op) {
    case DTI_CALC_EXP2:
        return x == floor(x);
    case DTI_CALC_LOG:
        return x == 1;
    case DTI_CALC_LOG2:
    case DTI_CALC_RSQRT:
        return fabs(frexp(x, &exponent)) == 0.5;
    default:
        return x == 0;
    }
}

typedef double function_fn(double x);

static function_fn *function_of(const struct dti_mathematics *library, enum dti_calc_op op)
{
    function_fn *const functions[] = {
        [DTI_CALC_EXP] = library->exp,     [DTI_CALC_EXP2] = library->exp2,
        [DTI_CALC_EXPM1] = library->expm1, [DTI_CALC_LOG] = library->log,
        [DTI_CALC_LOG2] = library->log2,   [DTI_CALC_LOG1P] = library->log1p,
        [DTI_CALC_SIN] = library->sin,     [DTI_CALC_COS] = library->cos,
        [DTI_CALC_TAN] = library->tan,     [DTI_CALC_TANH] = library->tanh,
        [DTI_CALC_ERF] = library->erf,
    };
    return (size_t)op < sizeof functions / sizeof *functions ? functions[op] : NULL;
}

/* NAN if the library cannot be used. */
static double approximate(enum dti_calc_op op, double x)
{
    const struct dti_mathematics *library;
    if (dti_mathematics_get(&library, NULL) != DTI_OK)
        return NAN;
    function_fn *const function = function_of(library, op);
    switch (op) {
    case DTI_CALC_RSQRT:
        return 1 / sqrt(x);
    case DTI_CALC_SIGMOID:
        return 1 / (1 + library->exp(-x));
    case DTI_CALC_SILU:
        return x / (1 + library->exp(-x));
    case DTI_CALC_GELU: /* further left, the rounding of erfc's argument has too much weight */
        return x > -4 ? x * library->erfc(x * -0x1.6a09e667f3bcdp-1) / 2 : NAN;
    case DTI_CALC_SIN:
    case DTI_CALC_COS:
    case DTI_CALC_TAN:
        return fabs(x) < 0x1p20 ? function(x) : NAN;
    default:
        return function ? function(x) : NAN;
    }
}

/* Moves a normal number by `units` in the last place; magnitudes are ordered like their codes. */
static double move(double x, int64_t units)
{
    uint64_t code;
    memcpy(&code, &x, sizeof code);
    code += (uint64_t)units;
    memcpy(&x, &code, sizeof x);
    return x;
}

bool dti_function_quick(enum dti_calc_op op, double x, double *ret_low, double *ret_high)
{
    if (!isfinite(x) || may_be_exact(op, x))
        return false;
    const double y = approximate(op, x);
    /* well inside the normal range; also rejects NaN */
    if (!(fabs(y) > 0x1p-1020 && fabs(y) < 0x1p1023))
        return false;
    *ret_low = move(y, y < 0 ? MARGIN : -MARGIN);
    *ret_high = move(y, y < 0 ? -MARGIN : MARGIN);
    return true;
}

enum {
    FUNCTIONS_LEAST = 1024, /* shorter lists keep all bits of each step's exact result */
    KNOWN_LEAST = 4096,
    ROW_LEAST = 16,
    WORTH_LEAST = 1024,
    KNOWN_BITS = 16, /* maximum code width */
    KNOWN = 1 << 30,
    KNOWN_INEXACT = 1 << 29,
    KNOWN_KINDS = 16, /* shift of the event kinds, above the code */
};

bool dti_calc_is_long(size_t count)
{
    return count > DTI_CALC_TRUTH_MAX;
}

bool dti_calc_is_worth(uint64_t count)
{
    return count >= WORTH_LEAST;
}

const uint8_t *dti_calc_marks_from(const struct dti_calc_slot *slot, size_t first, bool *ret_all)
{
    *ret_all = slot->rounded && !slot->marks;
    return slot->rounded && slot->marks ? slot->marks + first : NULL;
}

bool dti_calc_has_marks(const struct dti_calc_slot *slot, size_t first, size_t count)
{
    return slot->rounded && (!slot->marks || memchr(slot->marks + first, 1, count));
}

void dti_calc_marks_take(struct dti_calc_slot *slot, uint8_t *marks)
{
    slot->rounded = memchr(marks, 1, slot->array.count) != NULL;
    slot->marks = slot->rounded ? marks : NULL;
    if (!slot->rounded)
        dti_free(marks);
}

/* The flags of a number that overflows, but INEXACT. */
static unsigned overflow_flags(const struct dti_calc_recorder *recorder)
{
    struct dti_value huge;
    struct dti_outcome outcome;
    dti_value_set(&huge, false, 1, DTI_EXPONENT_LIMIT - 1);
    dti_encode(&recorder->format, &huge, &recorder->policy, 0, &outcome);
    return outcome.flags & ~(unsigned)DTI_FLAG_INEXACT;
}

void dti_calc_add_counts(struct dti_calc_recorder *recorder,
                         const struct dti_calc_bulk_counts *counts, uint64_t operations)
{
    for (size_t kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++)
        recorder->step.events[kind] += counts->events[kind];
    recorder->step.inexact += counts->inexact;
    recorder->operations += operations;
    recorder->flags |= counts->inexact ? DTI_FLAG_INEXACT : 0;
    recorder->flags |= counts->events[DTI_CALC_OVERFLOW] ? overflow_flags(recorder) : 0;
    if (counts->events[DTI_CALC_DIVIDE_BY_ZERO] && !dti_format_has_inf(&recorder->format))
        recorder->flags |= overflow_flags(recorder);
    if (counts->events[DTI_CALC_NAN] && !dti_format_has_nan(&recorder->format))
        recorder->flags |= DTI_FLAG_INVALID | DTI_FLAG_NO_NAN;
    recorder->flags |= counts->events[DTI_CALC_TO_ZERO] || counts->events[DTI_CALC_SUBNORMAL]
                           ? DTI_FLAG_UNDERFLOW
                           : 0;
}

bool dti_calc_first_wrong(const struct dti_calc_recorder *recorder,
                          const struct dti_calc_bulk_counts *counts, size_t *ret)
{
    bool found = false;
    if (recorder->has_first || recorder->engine->result->went_wrong)
        return false;
    for (size_t kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++) {
        if (counts->events[kind] == 0 || kind == DTI_CALC_SUBNORMAL ||
            (found && counts->first[kind] >= *ret))
            continue;
        *ret = counts->first[kind];
        found = true;
    }
    return found;
}

struct dti_bulk *dti_calc_bulk_of(struct dti_calc_engine *engine, const struct dti_format *format)
{
    const bool own = dti_calc_same_format(format, engine->dtype);
    const size_t i = own ? 0 : 1;
    if (!engine->bulk_tried[i])
        engine->bulk[i] =
            dti_bulk_open(own ? engine->dtype : &engine->options->accumulate, engine->options);
    engine->bulk_tried[i] = true;
    return engine->bulk[i];
}

/* Adds the counts of a part of the list that starts at `offset`. */
static void add_part(struct dti_calc_bulk_counts *counts, const struct dti_calc_bulk_counts *part,
                     size_t offset)
{
    for (size_t kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++) {
        if (counts->events[kind] == 0)
            counts->first[kind] = offset + part->first[kind];
        counts->events[kind] += part->events[kind];
    }
    counts->inexact += part->inexact;
}

/* An elementwise operation while it is computed, row by row if operands are broadcast. */
struct rows {
    struct dti_bulk *bulk;
    enum dti_calc_op op;
    const size_t *operands;
    unsigned count;
    size_t length; /* of a row */
    bool selects;
    uint8_t *marks; /* of the result; NULL: not kept */
};

static bool compute_rows(const struct rows *r, struct dti_calc_engine *engine,
                         struct dti_calc_slot *slot, struct dti_calc_bulk_counts *counts)
{
    const size_t width = dti_calc_code_bytes(&slot->array.format);
    struct dti_calc_bulk_marks marks = {.selects = r->selects};
    struct dti_calc_walk walk;
    bool scalar[3];
    dti_calc_walk_begin(&walk, engine, r->operands, r->count, slot->array.rank, slot->array.shape);
    for (unsigned i = 0; i < r->count; i++)
        scalar[i] = r->length == slot->array.count ? engine->slots[r->operands[i]].array.count == 1
                                                   : walk.stride[i][walk.rank - 1] == 0;
    *counts = (struct dti_calc_bulk_counts){.inexact = 0};
    for (size_t done = 0; done < slot->array.count; done += r->length) {
        struct dti_calc_bulk_counts part;
        const void *codes[3];
        dti_calc_walk_to(&walk, done);
        for (unsigned i = 0; i < r->count; i++) {
            const struct dti_calc_slot *const from = &engine->slots[r->operands[i]];
            codes[i] = (const char *)from->array.codes + walk.offset[i] * width;
            marks.operand[i] = dti_calc_marks_from(from, walk.offset[i], &marks.all[i]);
        }
        marks.ret = r->marks ? r->marks + done : NULL;
        if (!dti_bulk_compute(r->bulk, r->op, (char *)slot->array.codes + done * width, codes,
                              scalar, r->length, r->marks ? &marks : NULL,
                              &part)) /* operation not supported */
            return false;
        add_part(counts, &part, done);
    }
    return true;
}

bool dti_calc_fast_path(struct dti_calc_recorder *recorder, enum dti_calc_op op,
                        const size_t *operands, unsigned count, struct dti_calc_slot *slot,
                        struct dti_calc_bulk_counts *counts)
{
    struct dti_calc_engine *const engine = recorder->engine;
    struct rows rows = {.op = op,
                        .operands = operands,
                        .count = count,
                        .length = slot->array.count,
                        .selects = recorder->selects};
    if (!recorder->is_long && (recorder->finds_worst || !dti_calc_is_worth(slot->array.count)))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct dti_calc_array *const array = &engine->slots[operands[i]].array;
        if (!dti_calc_same_format(&array->format, &recorder->format))
            return false;
        if (array->count != 1 && array->count != slot->array.count)
            rows.length = (size_t)slot->array.shape[slot->array.rank - 1];
    }
    rows.bulk = dti_calc_bulk_of(engine, &recorder->format);
    if (!rows.bulk || rows.length < ROW_LEAST)
        return false;
    if (!recorder->is_long && !(rows.marks = dti_calloc(slot->array.count, 1)))
        return false;
    if (!compute_rows(&rows, engine, slot, counts)) {
        dti_free(rows.marks);
        return false;
    }
    dti_calc_add_counts(recorder, counts, slot->array.count);
    if (rows.marks) {
        dti_calc_marks_take(slot, rows.marks);
        return true;
    }
    slot->rounded = counts->inexact > 0;
    for (unsigned i = 0; i < count; i++)
        slot->rounded |= engine->slots[operands[i]].rounded;
    return true;
}

bool dti_calc_function_soon(const struct dti_calc_recorder *recorder, size_t count,
                            struct dti_calc_element *e)
{
    const struct dti_format *const fp64 = dti_format_get(DTI_FP64);
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome, other;
    struct dti_value ends[2];
    double x, low, high;
    uint64_t bits;
    if (count < FUNCTIONS_LEAST || recorder->format.man_bits > 24 ||
        recorder->policy.round == DTI_ROUND_STOCHASTIC || e->operand[0].kind != DTI_CLASS_FINITE ||
        e->operand[0].exponent < -1022 || e->operand[0].exponent > 1023)
        return false;
    dti_encode(fp64, &e->operand[0], &nearest, 0, &outcome);
    memcpy(&x, &outcome.code, sizeof x);
    if (outcome.flags || !dti_function_quick(e->op, x, &low, &high))
        return false;
    memcpy(&bits, &low, sizeof bits);
    dti_decode(fp64, bits, &ends[0]);
    memcpy(&bits, &high, sizeof bits);
    dti_decode(fp64, bits, &ends[1]);
    dti_encode(&recorder->format, &ends[0], &recorder->policy, 0, &outcome);
    dti_encode(&recorder->format, &ends[1], &recorder->policy, 0, &other);
    if (outcome.code != other.code ||
        ((outcome.flags ^ other.flags) & (unsigned)~DTI_FLAG_INEXACT) != 0)
        return false;
    e->exact = ends[ends[0].negative]; /* the end closer to zero, made sticky */
    e->exact.sticky = true;
    e->arith = 0;
    return true;
}

uint32_t *dti_calc_known_new(const struct dti_calc_recorder *recorder,
                             const struct dti_format *operand, size_t count)
{
    if (operand->width > KNOWN_BITS || recorder->format.width > KNOWN_BITS || count < KNOWN_LEAST ||
        recorder->policy.round == DTI_ROUND_STOCHASTIC)
        return NULL;
    return dti_calloc((size_t)1 << operand->width, sizeof(uint32_t));
}

void dti_calc_known_set(uint32_t *known, const struct dti_calc_rounded *rounded)
{
    *known = KNOWN | (rounded->inexact ? KNOWN_INEXACT : 0) | rounded->kinds << KNOWN_KINDS |
             (uint32_t)rounded->code;
}

bool dti_calc_known_get(struct dti_calc_recorder *recorder, uint32_t known,
                        struct dti_calc_rounded *ret)
{
    const unsigned kinds = known >> KNOWN_KINDS & ((1 << DTI_CALC_EVENT_COUNT) - 1);
    if (!(known & KNOWN) || ((kinds & ~(1U << DTI_CALC_SUBNORMAL)) && !recorder->has_first))
        return false;
    ret->code = known & 0xFFFF;
    ret->inexact = known & KNOWN_INEXACT;
    ret->kinds = kinds;
    recorder->step.inexact += ret->inexact;
    recorder->operations++;
    for (unsigned kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++)
        recorder->step.events[kind] += kinds >> kind & 1;
    return true;
}
