/* SPDX-License-Identifier: MIT
 *
 * The result of an input under every mode and policy, in as few lines as say it. */
#include "answers/vectors/vectors_lines.h"

#include <assert.h>
#include <string.h>

#include "core/code/policies.def"
#include "core/code/scalar.h"
#include "core/number/spell.h"

#define NAME(id, name, help) [id] = (name),
#define NOTHING(id, name, help)
static const char *const modes[] = {DTI_ROUNDS(NAME, NOTHING)};
static const char *const overflows[] = {DTI_OVERFLOWS(NAME)};
static const char *const nans[] = {DTI_NANS(NAME)};
enum { OVERFLOWS = sizeof overflows / sizeof *overflows, NANS = sizeof nans / sizeof *nans };

/* The codes of one policy by mode; missing: a NaN where the format has none. */
struct results {
    uint64_t code[DTI_VECTORS_MODES];
    bool missing;
};

enum { PIECE = 1 << 16 };

void dti_vectors_end_line(struct dti_vectors_out *out)
{
    struct dti_buffer *const text = &out->text;
    dti_buffer_append(text, "\n", 1);
    if (text->length < PIECE || text->failed || out->lost)
        return;
    out->lost = out->sink->write(out->sink->context, text->data, text->length) != 0;
    dti_buffer_clear(text);
}

void dti_vectors_code(struct dti_vectors_out *out, const struct dti_format *format, uint64_t code)
{
    char spelled[DTI_TEXT_SIZE];
    dti_buffer_append(&out->text, spelled, dti_spell_code(spelled, code, format->width));
}

static bool wanted(const struct dti_vectors_out *out, unsigned mode)
{
    return !out->what->round_given || out->what->policy.round == (enum dti_round)mode;
}

void dti_vectors_mode_heads(struct dti_vectors_out *out)
{
    dti_buffer_puts(&out->text, "policy");
    for (unsigned mode = 0; mode < DTI_VECTORS_MODES; mode++) {
        if (!wanted(out, mode))
            continue;
        dti_buffer_append(&out->text, "\t", 1);
        dti_buffer_puts(&out->text, modes[mode]);
    }
    dti_vectors_end_line(out);
}

static void compute(const struct dti_vectors_out *out, enum dti_overflow overflow, enum dti_nan nan,
                    const struct dti_value values[DTI_VECTORS_MODES],
                    const struct dti_number *number, struct results *ret)
{
    struct dti_cast cast = {.dst = out->what->target,
                            .policy = {.overflow = overflow, .nan = nan},
                            .round_given = true};
    *ret = (struct results){.missing = false};
    for (unsigned mode = 0; mode < DTI_VECTORS_MODES; mode++) {
        struct dti_scalar scalar;
        cast.policy.round = (enum dti_round)mode;
        dti_scalar_store(&cast, &values[mode], number, 0, &scalar);
        ret->code[mode] = scalar.code;
        if ((scalar.flags & DTI_FLAG_NO_NAN) && overflow == DTI_OVERFLOW_NATIVE)
            ret->missing = true;
    }
}

static bool same(const struct results *a, const struct results *b)
{
    return a->missing == b->missing && memcmp(a->code, b->code, sizeof a->code) == 0;
}

static void put_line(struct dti_vectors_out *out, const char *input, const char *policy,
                     const struct results *results)
{
    dti_buffer_puts(&out->text, input);
    dti_buffer_puts(&out->text, policy);
    for (unsigned mode = 0; mode < DTI_VECTORS_MODES; mode++) {
        if (!wanted(out, mode))
            continue;
        dti_buffer_append(&out->text, "\t", 1);
        if (results->missing)
            dti_buffer_append(&out->text, "-", 1);
        else
            dti_vectors_code(out, &out->what->target, results->code[mode]);
    }
    dti_vectors_end_line(out);
}

void dti_vectors_lines(struct dti_vectors_out *out, const char *input,
                       const struct dti_value values[DTI_VECTORS_MODES],
                       const struct dti_number *number)
{
    const struct dti_vectors *const what = out->what;
    const unsigned policies =
        dti_format_is_integer(&what->target) ? OVERFLOWS : (unsigned)DTI_OVERFLOW_WRAP;
    struct results by_overflow[OVERFLOWS], by_nan[NANS];
    bool overflow_matters = false, nan_matters = false;
    for (unsigned i = 0; i < policies; i++) {
        compute(out, (enum dti_overflow)i, DTI_NAN_QUIET, values, number, &by_overflow[i]);
        overflow_matters = overflow_matters || !same(&by_overflow[i], &by_overflow[0]);
    }
    for (unsigned i = 0; i < NANS; i++) {
        compute(out, DTI_OVERFLOW_NATIVE, (enum dti_nan)i, values, number, &by_nan[i]);
        nan_matters = nan_matters || !same(&by_nan[i], &by_overflow[0]);
    }
    assert(!overflow_matters || !nan_matters); /* a NaN never overflows */
    if (!overflow_matters && !nan_matters)
        put_line(out, input, "any", &by_overflow[0]);
    for (unsigned i = 0; overflow_matters && i < policies; i++) {
        if (!what->overflow_given || what->policy.overflow == (enum dti_overflow)i)
            put_line(out, input, overflows[i], &by_overflow[i]);
    }
    for (unsigned i = 0; nan_matters && i < NANS; i++) {
        if (!what->nan_given || what->policy.nan == (enum dti_nan)i)
            put_line(out, input, nans[i], &by_nan[i]);
    }
}
