/* SPDX-License-Identifier: MIT
 *
 * Vectors of arithmetic: all operands up to 8 bits, else chosen and random ones, with one rounding
 * of the exact result; and of decoding: all codes. */
#include <string.h>

#include "answers/vectors/vectors_lines.h"
#include "answers/vectors/vectors_points.h"
#include "core/code/arith.h"
#include "core/code/scalar.h"
#include "core/number/spell.h"

enum { NARROW = 8, TINY = 4, MOST_CODES = 16, FULL = 1 << NARROW, MOST_OPERANDS = 3 };

struct operands {
    uint64_t code[MOST_OPERANDS];
    unsigned count;
};

static void apply(enum dti_vectors_operation operation, const struct dti_value *v,
                  enum dti_round round, struct dti_value *ret)
{
    switch (operation) {
    case DTI_VECTORS_ADD:
        (void)dti_value_add(ret, &v[0], &v[1], round);
        break;
    case DTI_VECTORS_SUB:
        (void)dti_value_subtract(ret, &v[0], &v[1], round);
        break;
    case DTI_VECTORS_MUL:
        (void)dti_value_multiply(ret, &v[0], &v[1]);
        break;
    case DTI_VECTORS_DIV:
        (void)dti_value_divide(ret, &v[0], &v[1]);
        break;
    case DTI_VECTORS_SQRT:
        (void)dti_value_sqrt(ret, &v[0]);
        break;
    case DTI_VECTORS_FMA:
        (void)dti_value_fma(ret, &v[0], &v[1], &v[2], round);
        break;
    case DTI_VECTORS_OPERATION_COUNT:
        break;
    }
}

static void put_operands(struct dti_vectors_out *out, const struct operands *operands)
{
    const struct dti_vectors *const what = out->what;
    struct dti_value decoded[MOST_OPERANDS], results[DTI_VECTORS_MODES];
    char input[MOST_OPERANDS * (DTI_TEXT_SIZE + 1) + 1];
    size_t length = 0;
    for (unsigned i = 0; i < operands->count; i++) {
        dti_decode(&what->target, operands->code[i], &decoded[i]);
        length += dti_spell_code(input + length, operands->code[i], what->target.width);
        input[length++] = '\t';
    }
    input[length] = '\0';
    for (unsigned mode = 0; mode < DTI_VECTORS_MODES; mode++)
        apply(what->operation, decoded, (enum dti_round)mode, &results[mode]);
    dti_vectors_lines(out, input, results, NULL);
}

/* Codes for all operands: every one, or those that the pairs of wide formats are made of. */
static bool choose_codes(struct dti_vectors_items *codes, const struct dti_format *f,
                         unsigned operands)
{
    enum { RANDOM = 12, TRIPLE_RANDOM = 4 };
    static const struct {
        uint64_t significand;
        int exponent;
    } numbers[] = {{1, 0}, {3, -1}, {3, 0}, {1, -1}, {1, 1}, {7, 0}};
    *codes = (struct dti_vectors_items){.at = NULL};
    const unsigned every = operands == 1 ? MOST_CODES : operands == 2 ? NARROW : TINY;
    if (f->width <= every) {
        for (uint64_t code = 0; code <= dti_low_bits(f->width); code++)
            dti_vectors_items_code(codes, f, code);
        return !codes->failed;
    }
    uint64_t code;
    for (int negative = 0; negative <= dti_format_is_signed(f); negative++) {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct dti_value value;
            struct dti_outcome outcome;
            dti_value_set(&value, negative, numbers[i].significand, numbers[i].exponent);
            dti_encode(f, &value, &(struct dti_policy){.round = DTI_ROUND_ZERO}, 0, &outcome);
            dti_vectors_items_code(codes, f, outcome.code);
            if (i == 0 && dti_code_next(f, outcome.code, true, &code))
                dti_vectors_items_code(codes, f, code);
            if (i == 0 && dti_code_next(f, outcome.code, false, &code))
                dti_vectors_items_code(codes, f, code);
        }
        const uint64_t sign = negative ? dti_format_sign_bit(f) : 0;
        if (dti_code_smallest_subnormal(f, &code))
            dti_vectors_items_code(codes, f, code | sign);
        if (dti_code_smallest_normal(f, &code)) {
            dti_vectors_items_code(codes, f, code | sign);
            dti_vectors_items_code(codes, f, (code - 1) | sign);
        }
        dti_vectors_items_code(codes, f, sign); /* zero, or NaN */
        if (dti_code_inf(f, negative, &code))
            dti_vectors_items_code(codes, f, code);
        if (negative ? dti_code_lowest(f, &code) : dti_code_max(f, &code))
            dti_vectors_items_code(codes, f, code);
    }
    if (dti_code_nan(f, &code))
        dti_vectors_items_code(codes, f, code);
    for (unsigned i = 0; i < (operands == 3 ? TRIPLE_RANDOM : RANDOM); i++)
        dti_vectors_items_code(codes, f, dti_vectors_random(4, i) & dti_low_bits(f->width));
    dti_vectors_items_sort(codes);
    return !codes->failed;
}

/* Whether a combination repeats another one: the operands of a sum and a product can be swapped,
 * unless one is NaN. */
static bool is_swapped(enum dti_vectors_operation operation, const struct dti_format *f,
                       const struct operands *operands)
{
    struct dti_value a, b;
    if (operation != DTI_VECTORS_ADD && operation != DTI_VECTORS_MUL)
        return false;
    dti_decode(f, operands->code[0], &a);
    dti_decode(f, operands->code[1], &b);
    if (a.kind == DTI_CLASS_NAN || b.kind == DTI_CLASS_NAN)
        return false;
    return operands->code[0] > operands->code[1];
}

/* Every combination of chosen codes. */
static void put_product(struct dti_vectors_out *out, const struct dti_vectors_items *codes,
                        unsigned count)
{
    uint64_t total = 1;
    for (unsigned i = 0; i < count; i++)
        total *= codes->count;
    for (uint64_t at = 0; at < total; at++) {
        struct operands operands = {.count = count};
        uint64_t rest = at;
        for (unsigned i = count; i-- > 0; rest /= codes->count)
            operands.code[i] = codes->at[rest % codes->count].code;
        if (!is_swapped(out->what->operation, &out->what->target, &operands))
            put_operands(out, &operands);
    }
}

/* Random operands; for fma, c is often the rounded -a x b, or close to it, so that the low bits of
 * the product remain. */
static struct operands random_operands(const struct dti_format *f, unsigned count, unsigned index)
{
    const uint64_t mask = dti_low_bits(f->width);
    struct operands ret = {.count = count};
    struct dti_value a, b, product;
    struct dti_outcome outcome;
    for (unsigned k = 0; k < count; k++)
        ret.code[k] = dti_vectors_random(5 + k, index) & mask;
    if (count < 3 || index % 4 == 0)
        return ret;
    dti_decode(f, ret.code[0], &a);
    dti_decode(f, ret.code[1], &b);
    (void)dti_value_multiply(&product, &a, &b);
    product.negative = !product.negative;
    dti_encode(f, &product, &(struct dti_policy){.round = DTI_ROUND_NEAREST_EVEN}, 0, &outcome);
    ret.code[2] = (outcome.code + index % 4 - 2) & mask;
    return ret;
}

/* Whether operands are among those of put_product(), or of the `count` before them. */
static bool is_repeated(const struct operands *operands, const struct operands *before,
                        unsigned count, const struct dti_vectors_items *codes)
{
    unsigned chosen = 0;
    for (unsigned k = 0; k < operands->count; k++) {
        size_t i = 0;
        while (i < codes->count && codes->at[i].code != operands->code[k])
            i++;
        chosen += i < codes->count;
    }
    for (unsigned i = 0; i < count && chosen < operands->count; i++) {
        if (memcmp(before[i].code, operands->code, sizeof operands->code) == 0)
            return true;
    }
    return chosen == operands->count;
}

static void put_random(struct dti_vectors_out *out, const struct dti_vectors_items *codes,
                       unsigned count)
{
    enum { RANDOM = 1024 };
    struct operands made[RANDOM];
    for (unsigned i = 0; i < RANDOM; i++) {
        made[i] = random_operands(&out->what->target, count, i);
        if (!is_repeated(&made[i], made, i, codes))
            put_operands(out, &made[i]);
    }
}

bool dti_vectors_arith(struct dti_vectors_out *out)
{
    static const unsigned counts[] = {
#define ROW(id, name, operands) [DTI_VECTORS_##id] = (operands),
        DTI_VECTORS_OPERATIONS(ROW)
#undef ROW
    };
    const struct dti_vectors *const what = out->what;
    const unsigned count = counts[what->operation];
    struct dti_vectors_items codes;
    dti_buffer_puts(&out->text, count == 1 ? "a\t" : count == 2 ? "a\tb\t" : "a\tb\tc\t");
    dti_vectors_mode_heads(out);
    const bool ok = choose_codes(&codes, &what->target, count);
    if (ok)
        put_product(out, &codes, count);
    if (ok && what->target.width > (count == 3 ? TINY : count == 2 ? NARROW : MOST_CODES))
        put_random(out, &codes, count);
    dti_vectors_items_free(&codes);
    return ok;
}

bool dti_vectors_decode(struct dti_vectors_out *out)
{
    const struct dti_format *const f = &out->what->target;
    dti_buffer_puts(&out->text, "code\tclass\tdecimal\thexfloat");
    dti_vectors_end_line(out);
    const uint64_t last = f->kind == DTI_KIND_BOOL ? 1 : dti_low_bits(f->width);
    for (uint64_t code = 0; code <= last; code++) {
        char text[DTI_TEXT_SIZE];
        struct dti_value value;
        dti_decode(f, code, &value);
        dti_vectors_code(out, f, code);
        dti_buffer_append(&out->text, "\t", 1);
        dti_buffer_puts(&out->text, dti_number_class_name(dti_code_class(f, code)));
        dti_buffer_append(&out->text, "\t", 1);
        dti_buffer_append(&out->text, text, dti_spell_text(text, &value));
        dti_buffer_append(&out->text, "\t", 1);
        dti_buffer_append(&out->text, text, dti_spell_hexfloat(text, &value));
        dti_vectors_end_line(out);
    }
    return true;
}
