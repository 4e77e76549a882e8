/* SPDX-License-Identifier: MIT
 *
 * Finds the dtype for a user's text: handles library prefixes, spellings that need a note,
 * ambiguous spellings, block formats in the wrong place, and suggests the nearest valid name.
 *
 * Some names define their encoding: [u]eXmY[fn|fnuz][bBIAS], IEEE P3109's binaryKpP names, intN
 * and uintN. If a row has that encoding, the name resolves to the row, so e5m10 and fp16 are one
 * dtype. */
#include <stdio.h>
#include <string.h>

#include "core/dtype/dtype_names.h"
#include "core/dtype/gguf_type.h"
#include "core/dtype/named_format.h"
#include "core/value.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

enum {
    BIAS_MAX = 1 << 19,
    NUMBER_MAX = 9999999, /* numbers are read up to this value, above every limit below */
    P3109_WIDTH_MIN = 3,
    P3109_WIDTH_MAX = 16,
    WIDTH_MAX = 64,
    WIDTH_MAX_UNSIGNED = 63, /* exponent plus mantissa, with or without a separate sign */
};

/* Reads a decimal number and advances *text past it. Returns false if there is none. */
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

/* Replaces a format by the row with the same encoding, if any. */
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

/* Makes a name such as "e4m3fnb9"; omits the bias if it is the usual one and no different row
 * has the short name ("e3m2" is the finite fp6_e3m2, "e3m2b3" the IEEE-like format). */
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

/* An unsigned float encodes negative numbers as NaN, so it must have a NaN. */
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

static enum dti_parse format_parse(const char *lower, const char *quoted,
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

/* Ambiguous spellings, and the names to use instead: both are blank-separated lists. */
struct ambiguous {
    const char *spellings, *meanings;
};

static const struct ambiguous ambiguous_names[] = {
    {.spellings = "fp", .meanings = "fp32 fp16"},
    {.spellings = "fp8 float8 f8", .meanings = "fp8_e4m3fn fp8_e5m2"},
    {.spellings = "fp6 float6 f6", .meanings = "fp6_e3m2 fp6_e2m3"},
    {.spellings = "fp4 float4", .meanings = "fp4_e2m1 binary4p2sf"},
    {.spellings = "mxfp8", .meanings = "mxfp8_e4m3 mxfp8_e5m2"},
    {.spellings = "mxfp6", .meanings = "mxfp6_e3m2 mxfp6_e2m3"},
    {.spellings = "q4", .meanings = "q4_0 int4"},
    {.spellings = "q8", .meanings = "q8_0 int8"},
    {.spellings = "posit", .meanings = "posit8 posit16"},
    {.spellings = "p3109", .meanings = "binary8p3se binary8p4se"},
    {.spellings = "v1 <v1 >v1 =v1 |v1", .meanings = "fp8_e4m3fn fp8_e8m0 fp4_e2m1 int4"},
    {.spellings = "uint uintp np.uint np.uintp np.ulong", .meanings = "uint64 uint32"},
    {.spellings = "int_ intp np.int np.int_ np.intp np.long", .meanings = "int64 int32"},
    {.spellings = "float_ np.float np.float_", .meanings = "fp64 fp32"},
    {.spellings = "complex complex_ np.complex np.complex_", .meanings = "complex64 complex128"},
};

/* Spellings that mean something else in other systems, or that have no row here:
 * blank-separated, with a remark. */
struct remark {
    const char *spellings, *text;
    enum dti_remedy remedy;
};

static const struct remark notes[] = {
    {.spellings = "fp8_e4m3 float8_e4m3 f8e4m3",
     .text = "fp8_e4m3 is the IEEE-like e4m3 with max 240 (ml_dtypes, XLA, MLIR); OCP's e4m3 with "
             "max 448, also called fp8_e4m3, is fp8_e4m3fn"},
    {.spellings = "fp8e4m3",
     .text = "FP8E4M3 means fp8_e4m3fn here (OCP, max 448); the IEEE-like e4m3 of ml_dtypes with "
             "max 240 is fp8_e4m3"},
    {.spellings = "e4m3",
     .text = "e4m3 means fp8_e4m3fn here (OCP, max 448); the IEEE-like e4m3 of ml_dtypes with max "
             "240 is fp8_e4m3"},
    {.spellings = "f8_e4m3",
     .text = "F8_E4M3 is safetensors' name of fp8_e4m3fn (max 448); F8E4M3 of XLA and MLIR is "
             "fp8_e4m3 (max 240)"},
    {.spellings = "f4",
     .text = "F4 is safetensors' name of fp4_e2m1; numpy's f4, which counts bytes, is fp32"},
    {.spellings = "e4m3b11",
     .text = "e4m3b11 is the old ml_dtypes name of fp8_e4m3b11fnuz; it has no infinity"},
    {.spellings = "float4_e2m1fn_x2",
     .text = "float4_e2m1fn_x2 packs two fp4_e2m1 into a byte; this shows a single one"},
};

static const struct remark gguf_refusal = {.text = "is a GGUF block format",
                                           .remedy = DTI_REMEDY_QUANTIZE_GGUF};
static const struct remark refusals[] = {
    {.spellings = "float8e4b15 fp8e4b15 float8e4b15x4 fp8e4b15x4",
     .text = "is not supported: Triton's format with bias 15, max 1.75, no infinity and no NaN; "
             "e4m3fnb15 differs only in 0x7f and 0xff, which are NaN"},
    {.spellings = "posit32 posit64",
     .text = "is not supported: posits of 8 and 16 bits are, as posit8 and posit16"},
    {.spellings = "int128 uint128 i128 u128 int256 uint256",
     .text =
         "is not supported: integers have at most 64 bits here; the widest are int64 and uint64"},
    {.spellings = "decimal32 decimal64 decimal128 decimal",
     .text = "is not supported: all floats here are binary, such as fp32 and fp64"},
    {.spellings = "q3_k_s q3_k_m q3_k_l q4_k_m q4_k_s q5_k_m q5_k_s",
     .text = "is a mix of GGUF block formats",
     .remedy = DTI_REMEDY_QUANTIZE_MIX},
    {.spellings = "str string object void", .text = "holds no numbers; give a dtype such as bf16"},
    {.spellings = "text txt csv", .text = "is not a dtype", .remedy = DTI_REMEDY_READ_TEXT},
};

/* Library prefixes, longest first. own: the prefix under which some rows are listed, because
 * their bare name means something else. */
static const struct prefix {
    const char *text, *own;
} prefixes[] = {
    {"torch.", ""},
    {"np.", "np."},
    {"numpy.", "np."},
    {"jnp.", "np."},
    {"jax.numpy.", "np."},
    {"ml_dtypes.", ""},
    {"onnx.tensorproto.", ""},
    {"torch_npu.", ""},
    {"en_dtypes.", ""},
    {"onnx.", ""},
    {"tensorproto.", ""},
    {"tl.", "tl."},
    {"triton.language.", "tl."},
};

static void to_lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = dti_ascii_lower(*text);
}

/* Strips a library's prefix from a lower-case name. */
static const char *without_prefix(const char *name, const char **ret_own)
{
    *ret_own = "";
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i].text);
        if (strncmp(name, prefixes[i].text, length) == 0) {
            *ret_own = prefixes[i].own;
            return name + length;
        }
    }
    return name;
}

/* Copies a list's next word to `word` and advances *list past it; false at the end. */
static bool next_word(const char **list, char word[DTI_NAME_SIZE])
{
    size_t length = strcspn(*list, " ");
    if (length == 0)
        return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    *list += strspn(*list, " ");
    return true;
}

static bool is_among(const char *list, const char *name)
{
    char word[DTI_NAME_SIZE];
    while (next_word(&list, word)) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

static const struct remark *find_remark(const struct remark *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (is_among(list[i].spellings, name))
            return &list[i];
    }
    return NULL;
}

#define REMARK_ON(list, name) find_remark(list, sizeof(list) / sizeof *(list), name)

static enum dti_status fail_ambiguous(const char *meanings, const char *quoted,
                                      struct dti_error *reterr)
{
    char text[5 * DTI_NAME_SIZE] = "";
    char word[DTI_NAME_SIZE];
    size_t length = 0;
    for (const char *rest = meanings; next_word(&rest, word);) {
        const char *joint = length == 0 ? "" : *rest == '\0' ? " or " : ", ";
        int written = snprintf(text + length, sizeof text - length, "%s%s", joint, word);
        if (written > 0 && (size_t)written < sizeof text - length)
            length += (size_t)written;
    }
    (void)dti_fail(reterr, DTI_AMBIGUOUS_DTYPE, "%s names several dtypes; use %s", quoted, text);
    for (const char *rest = meanings; next_word(&rest, word);)
        dti_error_suggest(reterr, word);
    return DTI_AMBIGUOUS_DTYPE;
}

static enum dti_status fail_block(const struct dti_block_format *block, struct dti_error *reterr)
{
    const enum dti_dtype element = dti_dtype_find(block->element);
    /* integer elements are useless without their scales */
    const bool has_dtype = element != DTI_NONE;
    const bool is_float = has_dtype && dti_format_get(element)->kind == DTI_KIND_FLOAT;
    (void)dti_fail_remedy(reterr, DTI_WRONG_KIND,
                          is_float ? DTI_REMEDY_QUANTIZE_OR_ELEMENTS : DTI_REMEDY_QUANTIZE_BLOCKS,
                          "%s is a block format (%s%s, %s scales)", block->name, block->element,
                          has_dtype ? " elements" : "", dti_format_get(block->scale)->name);
    if (is_float)
        dti_error_suggest(reterr, block->element);
    return DTI_WRONG_KIND;
}

static enum dti_status fail_unknown(const char *name, const char *quoted, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    if (strchr(name, ','))
        return dti_fail(reterr, DTI_UNKNOWN_DTYPE, "%s is a list; give one dtype", quoted);
    (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s", quoted);
    dti_nearest_init(&nearest, name, strlen(name));
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        dti_nearest_offer(&nearest, dti_format_get((enum dti_dtype)id)->name);
    if (nearest.count == 0) {
        for (size_t i = 0; i < dti_dtype_name_count; i++) {
            if (dti_dtype_names[i].system != DTI_SYSTEM_NPY)
                dti_nearest_offer(&nearest, dti_dtype_names[i].name);
        }
    }
    if (nearest.count == 0) {
        (void)dti_fail_remedy(reterr, DTI_UNKNOWN_DTYPE, DTI_REMEDY_LIST_DTYPES, "unknown dtype %s",
                              quoted);
        return DTI_UNKNOWN_DTYPE;
    }
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_DTYPE;
}

/* Names of several dtypes, and names that are known and name none. bare: in lower case and without
 * the library's prefix; spelled: with that prefix; id: the dtype of the name, or DTI_NONE. */
static enum dti_status refuse_name(const char *bare, const char *spelled, enum dti_dtype id,
                                   const char *quoted, struct dti_error *reterr)
{
    for (size_t i = 0; i < sizeof ambiguous_names / sizeof *ambiguous_names; i++) {
        const char *const spellings = ambiguous_names[i].spellings;
        if (is_among(spellings, bare) || is_among(spellings, spelled))
            return fail_ambiguous(ambiguous_names[i].meanings, quoted, reterr);
    }
    const struct remark *refusal = REMARK_ON(refusals, bare);
    const struct dti_named_format *const named =
        id == DTI_NONE && !refusal ? dti_named_format_find(bare) : NULL;
    if (named)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s is not a dtype here: %s; %s", quoted,
                        named->what, named->here);
    if (!refusal && id == DTI_NONE && dti_gguf_type_named(bare) && !dti_block_lookup(bare))
        refusal = &gguf_refusal;
    if (!refusal)
        return DTI_OK;
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, refusal->remedy, "%s %s", quoted, refusal->text);
}

enum dti_status dti_format_lookup(const char *name, struct dti_format *ret_format,
                                  const char **ret_note, struct dti_error *reterr)
{
    char whole[2 * DTI_NAME_SIZE], spelled[2 * DTI_NAME_SIZE + 4], quoted[DTI_QUOTE_SIZE];
    size_t length = strlen(name);
    const char *note = NULL;
    const struct remark *known;
    (void)dti_quote(quoted, name, length);
    if (length >= sizeof whole) {
        (void)dti_fail_remedy(reterr, DTI_UNKNOWN_DTYPE, DTI_REMEDY_LIST_DTYPES, "unknown dtype %s",
                              quoted);
        dti_error_argument(reterr, name, length);
        return DTI_UNKNOWN_DTYPE;
    }
    memcpy(whole, name, length + 1);
    to_lower(whole);
    const char *own;
    const char *const bare = without_prefix(whole, &own);
    (void)snprintf(spelled, sizeof spelled, "%s%s", own, bare);

    enum dti_dtype id = dti_dtype_find(spelled);
    if (id == DTI_NONE)
        id = dti_dtype_find(bare);
    enum dti_status status = refuse_name(bare, spelled, id, quoted, reterr);
    if (status != DTI_OK) {
        dti_error_argument(reterr, name, length);
        return status;
    }

    struct dti_format format;
    if (id != DTI_NONE) {
        format = *dti_format_get(id);
        if (bare[0] == '>')
            note = "'>' means big-endian; byte order is not part of a dtype and is ignored here";
        else if ((known = REMARK_ON(notes, bare)))
            note = known->text;
    } else {
        enum dti_parse parsed = format_parse(bare, quoted, &format, &note, reterr);
        const struct dti_block_format *block = dti_block_lookup(bare);
        if (parsed == DTI_PARSE_FAILED)
            status = DTI_UNKNOWN_DTYPE;
        else if (parsed == DTI_PARSE_OTHER && block)
            status = fail_block(block, reterr);
        else if (parsed == DTI_PARSE_OTHER)
            status = fail_unknown(bare, quoted, reterr);
        if (status != DTI_OK) {
            dti_error_argument(reterr, name, length);
            return status;
        }
    }
    *ret_format = format;
    if (ret_note)
        *ret_note = note;
    return DTI_OK;
}

enum dti_status dti_each_dtype(const char *list, dti_add_dtype_fn *add, void *context,
                               struct dti_error *reterr)
{
    char name[128];
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0)
            return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, list, strlen(list),
                                 "%s has a comma without a dtype next to it",
                                 DTI_QUOTED(list, strlen(list)));
        if (length >= sizeof name)
            return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, at, length, "unknown dtype %s",
                                 DTI_QUOTED(at, length));
        memcpy(name, at, length);
        name[length] = '\0';
        const enum dti_status status = add(context, name, reterr);
        at += length;
        if (status != DTI_OK || *at == '\0')
            return status;
    }
}
