/* SPDX-License-Identifier: MIT
 *
 * Vectors of casts: from codes of a format, from decimal text, and with stochastic rounding. */
#include <string.h>

#include "answers/vectors/vectors_lines.h"
#include "answers/vectors/vectors_points.h"
#include "core/number/spell.h"

/* The lines of an input that is the same number in every mode. */
static void put_cast(struct dti_vectors_out *out, const char *input, const struct dti_value *value,
                     const struct dti_number *number)
{
    struct dti_value values[DTI_VECTORS_MODES];
    for (unsigned mode = 0; mode < DTI_VECTORS_MODES; mode++)
        values[mode] = *value;
    dti_vectors_lines(out, input, values, number);
}

/* A text becomes an input. False if memory ran out. */
static bool put_text(struct dti_vectors_out *out, const struct dti_buffer *text)
{
    struct dti_number number;
    struct dti_value value;
    if (text->failed || dti_number_parse(&number, text->data, text->length - 1, NULL) != DTI_OK)
        return false;
    const bool known = dti_number_value(&number, &value);
    if (known)
        put_cast(out, text->data, &value, &number);
    dti_number_free(&number);
    return known;
}

/* The digits of an expansion without its point and the zeros at both ends, "125"; returns the power
 * of ten of the last one. */
static int64_t take_digits(struct dti_buffer *digits, const char *expansion)
{
    const char *const point = strchr(expansion, '.');
    int64_t exponent = 0;
    dti_buffer_clear(digits);
    for (const char *c = expansion; *c != '\0'; c++) {
        if (*c == '-' || *c == '.' || (*c == '0' && digits->length == 0))
            continue;
        dti_buffer_append(digits, c, 1);
    }
    if (point)
        exponent = -(int64_t)strlen(point + 1);
    while (digits->length > 1 && digits->data[digits->length - 1] == '0') {
        digits->data[--digits->length] = '\0';
        exponent++;
    }
    return exponent;
}

/* "-125e-3" and a tab, to be an input. */
static bool put_digits(struct dti_vectors_out *out, struct dti_buffer *text, bool negative,
                       const struct dti_buffer *digits, int64_t exponent)
{
    const size_t zeros = strspn(digits->data, "0");
    dti_buffer_clear(text);
    dti_buffer_puts(text, negative ? "-" : "");
    dti_buffer_puts(text, digits->data + zeros);
    if (exponent != 0)
        dti_buffer_print(text, "e%lld", (long long)exponent);
    dti_buffer_append(text, "\t", 1);
    return !digits->failed && put_text(out, text);
}

/* A number, and two texts so close to it that fp64 cannot tell them from it. */
static bool put_near(struct dti_vectors_out *out, const struct dti_vectors_item *point,
                     struct dti_buffer *digits, struct dti_buffer *text)
{
    enum { LEAST_DIGITS = 21 };
    const bool negative = point->value.negative;
    dti_buffer_clear(text);
    if (!dti_spell_exact(text, &point->value))
        return false;
    int64_t exponent = take_digits(digits, text->data);
    if (point->value.kind == DTI_CLASS_ZERO)
        return true; /* among the words */
    bool ok = put_digits(out, text, negative, digits, exponent);
    if (!point->near || !ok)
        return ok;
    do {
        dti_buffer_append(digits, "0", 1);
        exponent--;
    } while (digits->length < LEAST_DIGITS && !digits->failed);
    if (digits->failed)
        return false;
    digits->data[digits->length - 1] = '1';
    ok = put_digits(out, text, negative, digits, exponent);
    size_t at = digits->length - 1;
    digits->data[at] = '9';
    while (digits->data[--at] == '0')
        digits->data[at] = '9';
    digits->data[at]--;
    return ok && put_digits(out, text, negative, digits, exponent);
}

static bool cast_text(struct dti_vectors_out *out)
{
    enum { INTEGERS = 64 };
    static const char *const words[] = {"0",      "-0",      "0.0",        "-0e9999",     "1e400",
                                        "-1e400", "1e-400",  "-1e-400",    "1e999",       "-1e999",
                                        "1e-999", "-1e-999", "9e99999999", "9e-99999999", "inf",
                                        "-inf",   "nan",     "-nan"};
    struct dti_vectors_items points;
    struct dti_buffer digits, text;
    dti_buffer_init(&digits);
    dti_buffer_init(&text);
    dti_vectors_points(&points, &out->what->target, INTEGERS);
    bool ok = !points.failed;
    for (size_t i = 0; i < points.count && ok; i++)
        ok = put_near(out, &points.at[i], &digits, &text);
    for (size_t i = 0; i < sizeof words / sizeof *words && ok; i++) {
        dti_buffer_clear(&text);
        dti_buffer_puts(&text, words[i]);
        dti_buffer_append(&text, "\t", 1);
        ok = put_text(out, &text);
    }
    dti_vectors_items_free(&points);
    dti_buffer_free(&digits);
    dti_buffer_free(&text);
    return ok;
}

bool dti_vectors_cast(struct dti_vectors_out *out)
{
    const struct dti_vectors *const what = out->what;
    dti_buffer_puts(&out->text, "input\t");
    dti_vectors_mode_heads(out);
    if (what->from_text)
        return cast_text(out);
    struct dti_vectors_items codes;
    dti_vectors_inputs(&codes, &what->source, &what->target);
    const bool ok = !codes.failed;
    for (size_t i = 0; i < codes.count && ok; i++) {
        char input[DTI_TEXT_SIZE + 1];
        const size_t length = dti_spell_code(input, codes.at[i].code, what->source.width);
        memcpy(input + length, "\t", 2);
        put_cast(out, input, &codes.at[i].value, NULL);
    }
    dti_vectors_items_free(&codes);
    return ok;
}

/* Stochastic rounding: at each index, the inputs around the one that its random word decides. */
struct stochastic {
    struct dti_vectors_out *out;
    struct dti_policy policy;
    uint64_t index;
    bool failed;
};

static void put_stochastic(const struct stochastic *s, const struct dti_vectors_item *input)
{
    const struct dti_vectors *const what = s->out->what;
    struct dti_buffer *const text = &s->out->text;
    struct dti_outcome outcome;
    dti_encode(&what->target, &input->value, &s->policy, s->index, &outcome);
    dti_buffer_print(text, "%llu\t%llu\t0x%08lx\t", (unsigned long long)s->policy.seed,
                     (unsigned long long)s->index,
                     (unsigned long)dti_random_bits(s->policy.seed, 0, s->index));
    dti_vectors_code(s->out, &what->source, input->code);
    dti_buffer_append(text, "\t", 1);
    if ((outcome.flags & DTI_FLAG_NO_NAN) && s->policy.overflow == DTI_OVERFLOW_NATIVE)
        dti_buffer_append(text, "-", 1);
    else
        dti_vectors_code(s->out, &what->target, outcome.code);
    dti_vectors_end_line(s->out);
}

static void put_index(struct stochastic *s, struct dti_vectors_items *codes)
{
    dti_vectors_items_sort(codes);
    for (size_t i = 0; i < codes->count && !codes->failed; i++)
        put_stochastic(s, &codes->at[i]);
    s->failed = s->failed || codes->failed;
    codes->count = 0;
    s->index++;
}

static void take_gap(void *context, const struct dti_format *target, uint64_t code)
{
    struct stochastic *const s = context;
    const uint64_t decides = (UINT64_C(1) << 32) - dti_random_bits(s->policy.seed, 0, s->index);
    struct dti_vectors_items codes = {.at = NULL};
    struct dti_value value;
    if (!dti_vectors_between(target, code, decides, &value))
        return;
    dti_vectors_inputs_near(&codes, &s->out->what->source, &value);
    put_index(s, &codes);
    dti_vectors_items_free(&codes);
}

bool dti_vectors_stochastic(struct dti_vectors_out *out)
{
    /* The second seed and index need all their bits: counters of more than 32 bits differ. */
    static const struct {
        uint64_t seed, index;
    } starts[] = {{0, 0}, {UINT64_C(0x0123456789abcdef), (UINT64_C(1) << 34) + 3}};
    const struct dti_vectors *const what = out->what;
    dti_buffer_puts(&out->text, "seed\tindex\trandom\tinput\tcode");
    dti_vectors_end_line(out);
    struct stochastic s = {.out = out, .policy = what->policy};
    for (size_t i = 0; i < sizeof starts / sizeof *starts && !s.failed; i++) {
        if (!what->seed_given)
            s.policy.seed = starts[i].seed;
        s.index = starts[i].index;
        for (int round = 0; round < 2; round++) {
            dti_vectors_numbers(&what->target, false, take_gap, &s);
            if (dti_format_is_signed(&what->target))
                dti_vectors_numbers(&what->target, true, take_gap, &s);
        }
        struct dti_vectors_items own = {.at = NULL};
        dti_vectors_inputs_own(&own, &what->source);
        put_index(&s, &own);
        dti_vectors_items_free(&own);
    }
    return !s.failed;
}
