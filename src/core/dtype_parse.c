/* SPDX-License-Identifier: MIT
 *
 * Names that say their own encoding: [u]eXmY[fn|fnuz][bBIAS], the binaryKpP names of IEEE P3109,
 * intN and uintN. A spelling whose encoding has a row becomes that row, so that e5m10 and fp16 are
 * one dtype. */
#include "dtype_names.h"

#include <stdio.h>
#include <string.h>

#include "dtinfo/value.h"

enum {
    BIAS_MAX = 1 << 19,
    NUMBER_MAX = 9999999, /* where reading a number stops: beyond every limit below */
    P3109_WIDTH_MIN = 3,
    P3109_WIDTH_MAX = 16,
    WIDTH_MAX = 64,
    WIDTH_MAX_UNSIGNED = 63, /* exponent and mantissa, with or without a sign beside them */
};

/* Reads a decimal number and moves *text past it. False when there is none. */
static bool take_number(const char **text, uint32_t *ret, bool *leading_zero)
{
    const char *p = *text;
    uint32_t number = 0;
    if (*p < '0' || *p > '9')
        return false;
    if (p[0] == '0' && p[1] >= '0' && p[1] <= '9')
        *leading_zero = true;
    for (; *p >= '0' && *p <= '9'; p++)
        number = number > NUMBER_MAX / 10 ? NUMBER_MAX : number * 10 + (uint32_t)(*p - '0');
    *text = p;
    *ret = number;
    return true;
}

static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool same_encoding(const struct dti_format *a, const struct dti_format *b)
{
    return a->kind == b->kind && a->specials == b->specials && a->width == b->width &&
           a->exp_bits == b->exp_bits && a->man_bits == b->man_bits && a->bias == b->bias;
}

/* Replaces a format by the row with its encoding, if there is one. */
static void take_row(struct dti_format *format)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *row = dti_format_get((enum dti_dtype)id);
        if (same_encoding(format, row)) {
            *format = *row;
            return;
        }
    }
}

struct exmy {
    uint32_t exp_bits, man_bits, bias;
    bool is_unsigned, has_bias, leading_zero;
    enum dti_specials specials;
};

static bool read_exmy(const char *text, struct exmy *ret)
{
    struct exmy spec = {.specials = DTI_SPECIALS_IEEE, .is_unsigned = take_word(&text, "u")};
    bool has_suffix = false;
    if (!take_word(&text, "e") || !take_number(&text, &spec.exp_bits, &spec.leading_zero) ||
        !take_word(&text, "m") || !take_number(&text, &spec.man_bits, &spec.leading_zero))
        return false;
    while (*text != '\0') {
        if (!has_suffix && take_word(&text, "fnuz")) {
            spec.specials = DTI_SPECIALS_FNUZ;
            has_suffix = true;
        } else if (!has_suffix && take_word(&text, "fn")) {
            spec.specials = DTI_SPECIALS_FN;
            has_suffix = true;
        } else if (!spec.has_bias && take_word(&text, "b") &&
                   take_number(&text, &spec.bias, &spec.leading_zero)) {
            spec.has_bias = true;
        } else {
            return false;
        }
    }
    *ret = spec;
    return true;
}

static const char *suffix_of(enum dti_specials specials)
{
    return specials == DTI_SPECIALS_FN ? "fn" : specials == DTI_SPECIALS_FNUZ ? "fnuz" : "";
}

/* "e4m3fnb9"; without the bias when it is the usual one and the short name is not taken by a row
 * that is something else ("e3m2" is the finite fp6_e3m2, "e3m2b3" the IEEE-like format). */
static void name_exmy(struct dti_format *format, bool usual_bias)
{
    const char *const sign = format->kind == DTI_KIND_UFLOAT ? "u" : "";
    (void)snprintf(format->name, sizeof format->name, "%se%um%u%s", sign,
                   (unsigned)format->exp_bits, (unsigned)format->man_bits,
                   suffix_of(format->specials));
    if (!usual_bias || dti_dtype_find(format->name) != DTI_NONE)
        (void)snprintf(format->name, sizeof format->name, "%se%um%u%sb%u", sign,
                       (unsigned)format->exp_bits, (unsigned)format->man_bits,
                       suffix_of(format->specials), (unsigned)format->bias);
}

/* Negative numbers become NaN in a float without sign, which must therefore have one. */
static bool unsigned_is_sound(const struct exmy *spec, const char *quoted, struct dti_error *reterr)
{
    if (!spec->is_unsigned)
        return true;
    if (spec->specials == DTI_SPECIALS_FNUZ)
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s: the NaN of fnuz is the code of minus zero, which needs a sign; "
                       "use 'ue%um%ufn'",
                       quoted, (unsigned)spec->exp_bits, (unsigned)spec->man_bits);
    else if (spec->specials == DTI_SPECIALS_IEEE && spec->man_bits == 0)
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has no NaN, which negative numbers would become; use 'ue%um0fn'",
                       quoted, (unsigned)spec->exp_bits);
    else
        return true;
    return false;
}

static enum dti_parse parse_exmy(const struct exmy *spec, const char *quoted,
                                 struct dti_format *ret_format, struct dti_error *reterr)
{
    const uint32_t width = !spec->is_unsigned + spec->exp_bits + spec->man_bits;
    const uint32_t width_max = spec->is_unsigned ? WIDTH_MAX_UNSIGNED : WIDTH_MAX;
    const char *suffix = suffix_of(spec->specials);
    if (spec->leading_zero) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has a number with leading zeros; write '%se%um%u%s'", quoted,
                       spec->is_unsigned ? "u" : "", (unsigned)spec->exp_bits,
                       (unsigned)spec->man_bits, suffix);
        return DTI_PARSE_FAILED;
    }
    if (spec->exp_bits == 0) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has no exponent bits; use intN or uintN for fixed-point numbers",
                       quoted);
        return DTI_PARSE_FAILED;
    }
    if (spec->exp_bits > DTI_EXPONENT_BITS_MAX) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s: exponent fields wider than %d bits (binary256's) are not "
                       "supported; use fewer",
                       quoted, (int)DTI_EXPONENT_BITS_MAX);
        return DTI_PARSE_FAILED;
    }
    if (width > width_max) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s is wider than %u bits; use at most %u mantissa bits", quoted,
                       (unsigned)width_max, 63U - (unsigned)spec->exp_bits);
        return DTI_PARSE_FAILED;
    }
    if (spec->has_bias && spec->bias > BIAS_MAX) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "dtype %s: the bias is out of range (0 to %d)",
                       quoted, (int)BIAS_MAX);
        return DTI_PARSE_FAILED;
    }
    if (!unsigned_is_sound(spec, quoted, reterr))
        return DTI_PARSE_FAILED;

    uint32_t usual = UINT32_C(1) << (spec->exp_bits - 1);
    if (spec->specials != DTI_SPECIALS_FNUZ)
        usual -= 1;
    struct dti_format format = {.id = DTI_NONE,
                                .kind = spec->is_unsigned ? DTI_KIND_UFLOAT : DTI_KIND_FLOAT,
                                .specials = spec->specials,
                                .width = (uint8_t)width,
                                .exp_bits = (uint8_t)spec->exp_bits,
                                .man_bits = (uint8_t)spec->man_bits,
                                .bias = (int32_t)(spec->has_bias ? spec->bias : usual),
                                .component = DTI_NONE};
    uint64_t max = 0;
    if (!dti_code_max(&format, &max) || max == 0) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has no finite value except zero; add a mantissa or exponent bit",
                       quoted);
        return DTI_PARSE_FAILED;
    }
    name_exmy(&format, (uint32_t)format.bias == usual);
    take_row(&format);
    *ret_format = format;
    return DTI_PARSE_DONE;
}

struct binary {
    uint32_t width, precision;
    bool has_letters, is_unsigned, is_finite, leading_zero;
};

/* "binary8p3se", gfloat's "p3109_k8p3se", and "binary8p3" of older drafts. */
static bool read_binary(const char *text, struct binary *ret)
{
    struct binary spec = {.width = 0};
    if (!(take_word(&text, "binary") || take_word(&text, "p3109_k")) ||
        !take_number(&text, &spec.width, &spec.leading_zero) || !take_word(&text, "p") ||
        !take_number(&text, &spec.precision, &spec.leading_zero))
        return false;
    spec.has_letters = *text != '\0';
    if (spec.has_letters) {
        spec.is_unsigned = take_word(&text, "u");
        if (!spec.is_unsigned && !take_word(&text, "s"))
            return false;
        spec.is_finite = take_word(&text, "f");
        if (!spec.is_finite && !take_word(&text, "e"))
            return false;
    }
    *ret = spec;
    return *text == '\0';
}

static enum dti_parse parse_binary(const struct binary *spec, const char *quoted,
                                   struct dti_format *ret_format, struct dti_error *reterr)
{
    uint32_t sign_bits = spec->is_unsigned ? 0 : 1;
    if (spec->leading_zero) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has a number with leading zeros; write 'binary%up%u'", quoted,
                       (unsigned)spec->width, (unsigned)spec->precision);
        return DTI_PARSE_FAILED;
    }
    if (spec->width < P3109_WIDTH_MIN || spec->width > P3109_WIDTH_MAX) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s: only P3109 formats of %d to %d bits are supported", quoted,
                       (int)P3109_WIDTH_MIN, (int)P3109_WIDTH_MAX);
        return DTI_PARSE_FAILED;
    }
    if (spec->precision < 1 || spec->precision > spec->width - sign_bits) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s: the precision of a %u-bit format ranges from p1 to p%u", quoted,
                       (unsigned)spec->width, (unsigned)(spec->width - sign_bits));
        return DTI_PARSE_FAILED;
    }

    uint32_t exp_bits = spec->width - spec->precision + 1 - sign_bits;
    struct dti_format format = {.id = DTI_NONE,
                                .kind = spec->is_unsigned ? DTI_KIND_UFLOAT : DTI_KIND_FLOAT,
                                .specials =
                                    spec->is_finite ? DTI_SPECIALS_P3109F : DTI_SPECIALS_P3109E,
                                .width = (uint8_t)spec->width,
                                .exp_bits = (uint8_t)exp_bits,
                                .man_bits = (uint8_t)(spec->precision - 1),
                                .bias = (int32_t)(UINT32_C(1) << (exp_bits - 1)),
                                .component = DTI_NONE};
    (void)snprintf(format.name, sizeof format.name, "binary%up%u%c%c", (unsigned)spec->width,
                   (unsigned)spec->precision, spec->is_unsigned ? 'u' : 's',
                   spec->is_finite ? 'f' : 'e');
    take_row(&format);
    *ret_format = format;
    return DTI_PARSE_DONE;
}

struct integer {
    const char *word; /* "int" or "uint" */
    uint32_t width;
    bool is_unsigned, leading_zero;
};

/* "int24", "uint24", and the short forms "i24", "u24" and MLIR's "ui24". */
static bool read_integer(const char *text, struct integer *ret)
{
    struct integer spec = {.is_unsigned = take_word(&text, "u")};
    spec.word = spec.is_unsigned ? "uint" : "int";
    if (!(take_word(&text, "int") || take_word(&text, "i") || spec.is_unsigned) ||
        !take_number(&text, &spec.width, &spec.leading_zero) || *text != '\0')
        return false;
    *ret = spec;
    return true;
}

static enum dti_parse parse_integer(const struct integer *spec, const char *quoted,
                                    struct dti_format *ret_format, struct dti_error *reterr)
{
    if (spec->leading_zero) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s has a number with leading zeros; write '%s%u'", quoted, spec->word,
                       (unsigned)spec->width);
        return DTI_PARSE_FAILED;
    }
    if (spec->width < 1 || spec->width > WIDTH_MAX) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "dtype %s: integers have 1 to %d bits, as in '%s%d'", quoted, (int)WIDTH_MAX,
                       spec->word, (int)WIDTH_MAX);
        return DTI_PARSE_FAILED;
    }
    struct dti_format format = {.id = DTI_NONE,
                                .kind = spec->is_unsigned ? DTI_KIND_UINT : DTI_KIND_INT,
                                .specials = DTI_SPECIALS_NONE,
                                .width = (uint8_t)spec->width,
                                .man_bits = (uint8_t)(spec->width - !spec->is_unsigned),
                                .component = DTI_NONE};
    (void)snprintf(format.name, sizeof format.name, "%s%u", spec->word, (unsigned)spec->width);
    take_row(&format);
    *ret_format = format;
    return DTI_PARSE_DONE;
}

enum dti_parse dti_format_parse(const char *lower, const char *quoted,
                                struct dti_format *ret_format, const char **ret_note,
                                struct dti_error *reterr)
{
    struct exmy exmy;
    struct binary binary;
    struct integer integer;
    if (read_integer(lower, &integer))
        return parse_integer(&integer, quoted, ret_format, reterr);
    if (read_exmy(lower, &exmy))
        return parse_exmy(&exmy, quoted, ret_format, reterr);
    if (!read_binary(lower, &binary))
        return DTI_PARSE_OTHER;
    enum dti_parse result = parse_binary(&binary, quoted, ret_format, reterr);
    if (result == DTI_PARSE_DONE && !binary.has_letters)
        *ret_note = "binaryKpP of older P3109 drafts is binaryKpPse today: signed, extended";
    return result;
}
