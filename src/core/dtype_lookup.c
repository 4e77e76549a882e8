/* SPDX-License-Identifier: MIT
 *
 * Finds the dtype for a user's text: library prefixes, spellings that deserve a note, spellings
 * that mean several things, block formats in the wrong place, and the nearest right name when there
 * is none. */
#include <stdio.h>
#include <string.h>

#include "dtinfo/ascii.h"
#include "dtinfo/gguf_type.h"
#include "dtinfo/nearest.h"
#include "dtype_names.h"

/* Spellings that name several dtypes, and what to say instead: both lists separated by blanks. */
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
    {.spellings = "p3109", .meanings = "binary8p3se binary8p4se"},
    {.spellings = "v1 <v1 >v1 =v1 |v1", .meanings = "fp8_e4m3fn fp8_e8m0 fp4_e2m1 int4"},
    {.spellings = "uint uintp np.uint np.uintp np.ulong", .meanings = "uint64 uint32"},
    {.spellings = "int_ intp np.int np.int_ np.intp np.long", .meanings = "int64 int32"},
    {.spellings = "float_ np.float np.float_", .meanings = "fp64 fp32"},
    {.spellings = "complex complex_ np.complex np.complex_", .meanings = "complex64 complex128"},
};

/* Spellings that other systems use for something else, or that have no row here: separated by
 * blanks, and what to say. */
struct remark {
    const char *spellings, *text;
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

#define GGUF_REFUSAL \
    "is a GGUF block format: 'dtinfo quant' writes some of them, to .gguf files only"
#define MIX_REFUSAL \
    "is a mix of GGUF block formats: 'dtinfo quant' writes them one by one, to .gguf files only"
static const struct remark refusals[] = {
    {.spellings = "float8e4b15 fp8e4b15 float8e4b15x4 fp8e4b15x4",
     .text = "is not supported: Triton's format with bias 15, max 1.75, no infinity and no NaN; "
             "e4m3fnb15 differs only in 0x7f and 0xff, which are NaN"},
    {.spellings = "posit posit8 posit16 posit32 posit64",
     .text =
         "is not supported: a posit's exponent has no fixed width; floats are eXmY, as in e5m10"},
    {.spellings = "fp128 float128 f128 binary128 quad fp80 float80 f80 longdouble long_double",
     .text = "is not supported: floats have at most 64 bits here; the widest is fp64"},
    {.spellings = "int128 uint128 i128 u128 int256 uint256",
     .text =
         "is not supported: integers have at most 64 bits here; the widest are int64 and uint64"},
    {.spellings = "decimal32 decimal64 decimal128 decimal",
     .text = "is not supported: all floats here are binary, such as fp32 and fp64"},
    {.spellings = "q3_k_s q3_k_m q3_k_l q4_k_m q4_k_s q5_k_m q5_k_s", .text = MIX_REFUSAL},
    {.spellings = "str string object void", .text = "holds no numbers; give a dtype such as bf16"},
    {.spellings = "text txt csv", .text = "is not a dtype; 'dtinfo cast' reads numbers in text"},
};

/* Prefixes of libraries; own: that with which some rows are spelled out, because their name alone
 * means something else. Longer ones first. */
static const struct prefix {
    const char *text, *own;
} prefixes[] = {
    {"torch.", ""},        {"np.", "np."},     {"numpy.", "np."},           {"jnp.", "np."},
    {"jax.numpy.", "np."}, {"ml_dtypes.", ""}, {"onnx.tensorproto.", ""},   {"onnx.", ""},
    {"tensorproto.", ""},  {"tl.", "tl."},     {"triton.language.", "tl."},
};

static void to_lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = dti_ascii_lower(*text);
}

/* Cuts a library's prefix off a name in lower case. */
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

/* Copies the next word of a list into word and moves *list past it; false at the end. */
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

static const char *find_remark(const struct remark *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (is_among(list[i].spellings, name))
            return list[i].text;
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
    /* integers are nothing without their scales */
    const bool has_dtype = element != DTI_NONE;
    const bool is_float = has_dtype && dti_format_get(element)->kind == DTI_KIND_FLOAT;
    (void)dti_fail(reterr, DTI_WRONG_KIND,
                   "%s is a block format (%s%s, %s scales); use 'dtinfo quant'%s%s", block->name,
                   block->element, has_dtype ? " elements" : "", dti_format_get(block->scale)->name,
                   is_float ? " for it, or its elements' dtype " : " for it",
                   is_float ? block->element : "");
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
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s; 'dtinfo list' shows them all",
                       quoted);
        return DTI_UNKNOWN_DTYPE;
    }
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_DTYPE;
}

enum dti_status dti_format_lookup(const char *name, struct dti_format *ret_format,
                                  const char **ret_note, struct dti_error *reterr)
{
    char whole[2 * DTI_NAME_SIZE], spelled[2 * DTI_NAME_SIZE + 4], quoted[DTI_QUOTE_SIZE];
    size_t length = strlen(name);
    const char *note = NULL;
    (void)dti_quote(quoted, name, length);
    if (length >= sizeof whole) {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s; 'dtinfo list' shows them all",
                       quoted);
        dti_error_argument(reterr, name, length);
        return DTI_UNKNOWN_DTYPE;
    }
    memcpy(whole, name, length + 1);
    to_lower(whole);
    const char *own;
    const char *const bare = without_prefix(whole, &own);
    (void)snprintf(spelled, sizeof spelled, "%s%s", own, bare);

    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < sizeof ambiguous_names / sizeof *ambiguous_names; i++) {
        const char *spellings = ambiguous_names[i].spellings;
        if (is_among(spellings, bare) || is_among(spellings, spelled)) {
            status = fail_ambiguous(ambiguous_names[i].meanings, quoted, reterr);
            break;
        }
    }
    const char *refusal = REMARK_ON(refusals, bare);
    if (!refusal && dti_gguf_type_named(bare) && !dti_block_lookup(bare))
        refusal = GGUF_REFUSAL;
    if (status == DTI_OK && refusal)
        status = dti_fail(reterr, DTI_WRONG_KIND, "%s %s", quoted, refusal);
    if (status != DTI_OK) {
        dti_error_argument(reterr, name, length);
        return status;
    }

    enum dti_dtype id = dti_dtype_find(spelled);
    if (id == DTI_NONE)
        id = dti_dtype_find(bare);
    struct dti_format format;
    if (id != DTI_NONE) {
        format = *dti_format_get(id);
        if (bare[0] == '>')
            note = "'>' means big-endian; byte order is not part of a dtype and is ignored here";
        else
            note = REMARK_ON(notes, bare);
    } else {
        enum dti_parse parsed = dti_format_parse(bare, quoted, &format, &note, reterr);
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
