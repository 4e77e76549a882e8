/* SPDX-License-Identifier: MIT
 *
 * From what a person wrote to a dtype: library prefixes, spellings that deserve a note, spellings
 * that mean several things, block formats in the wrong place, and the nearest right name when there
 * is none. */
#include <stdio.h>
#include <string.h>

#include "dtinfo/ascii.h"
#include "dtinfo/nearest.h"
#include "dtype_names.h"

/* Spellings that name several dtypes, and what to say instead: both lists separated by blanks. */
struct ambiguous {
    const char *spellings, *meanings;
};

static const struct ambiguous ambiguous_names[] = {
    {.spellings = "fp8 float8 f8", .meanings = "fp8_e4m3fn fp8_e5m2"},
    {.spellings = "fp6 float6 f6", .meanings = "fp6_e3m2 fp6_e2m3"},
    {.spellings = "fp4 float4", .meanings = "fp4_e2m1 binary4p2sf"},
    {.spellings = "p3109", .meanings = "binary8p3se binary8p4se"},
    {.spellings = "v1 <v1 >v1 =v1 |v1", .meanings = "fp8_e4m3fn fp8_e8m0 fp4_e2m1 int4"},
    {.spellings = "uint uintp np.uint np.uintp np.ulong", .meanings = "uint64 uint32"},
    {.spellings = "int_ intp np.int np.int_ np.intp np.long", .meanings = "int64 int32"},
    {.spellings = "float_ np.float np.float_", .meanings = "fp64 fp32"},
    {.spellings = "complex complex_ np.complex np.complex_", .meanings = "complex64 complex128"},
};

/* Spellings that other systems use for something else. */
struct noted {
    const char *spelling, *note;
};

static const struct noted noted_names[] = {
    {.spelling = "e4m3",
     .note = "e4m3 means fp8_e4m3fn here (OCP, max 448); the IEEE-like e4m3 of ml_dtypes with max "
             "240 is fp8_e4m3"},
    {.spelling = "f8_e4m3",
     .note = "F8_E4M3 is safetensors' name of fp8_e4m3fn (max 448); F8E4M3 of XLA and MLIR is "
             "fp8_e4m3 (max 240)"},
    {.spelling = "f4",
     .note = "F4 is safetensors' name of fp4_e2m1; numpy's f4, which counts bytes, is fp32"},
    {.spelling = "e4m3b11",
     .note = "e4m3b11 is the old ml_dtypes name of fp8_e4m3b11fnuz; it has no infinity"},
    {.spelling = "float4_e2m1fn_x2",
     .note = "float4_e2m1fn_x2 packs two fp4_e2m1 into a byte; this is about one"},
};

static const char *const prefixes[] = {
    "torch.", "np.", "numpy.", "jnp.", "jax.numpy.", "ml_dtypes.", "onnx.", "tensorproto.",
};

static void to_lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = dti_ascii_lower(*text);
}

/* Cuts library prefixes off a name in lower case. "numpy." becomes "np.", which some rows spell out
 * because the name alone means something else. */
static const char *without_prefix(const char *name, bool *ret_numpy)
{
    *ret_numpy = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            bool nested = false;
            bool numpy =
                strstr(prefixes[i], "np.") != NULL || strstr(prefixes[i], "numpy.") != NULL;
            name = strcmp(prefixes[i], "onnx.") == 0 ? without_prefix(name + length, &nested)
                                                     : name + length;
            *ret_numpy = numpy;
            return name;
        }
    }
    return name;
}

/* Copies the next word of a list into word and moves *list behind it; false at the end. */
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
    (void)dti_fail(reterr, DTI_AMBIGUOUS_DTYPE, "%s names several dtypes; say %s", quoted, text);
    for (const char *rest = meanings; next_word(&rest, word);)
        dti_error_suggest(reterr, word);
    return DTI_AMBIGUOUS_DTYPE;
}

static enum dti_status fail_block(const struct dti_block_format *block, struct dti_error *reterr)
{
    bool has_dtype = dti_dtype_find(block->element) != DTI_NONE;
    (void)dti_fail(reterr, DTI_WRONG_KIND,
                   "%s is a block format (%s%s, %s scales); 'dtinfo quant' makes its blocks%s%s",
                   block->name, block->element, has_dtype ? " elements" : "",
                   dti_format_get(block->scale)->name, has_dtype ? ", its elements are " : "",
                   has_dtype ? block->element : "");
    if (has_dtype)
        dti_error_suggest(reterr, block->element);
    return DTI_WRONG_KIND;
}

static enum dti_status fail_unknown(const char *name, const char *quoted, struct dti_error *reterr)
{
    struct dti_nearest nearest;
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
    char whole[2 * DTI_NAME_SIZE], with_np[2 * DTI_NAME_SIZE + 4], quoted[DTI_QUOTE_SIZE];
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
    bool numpy = false;
    const char *bare = without_prefix(whole, &numpy);
    (void)snprintf(with_np, sizeof with_np, "np.%s", bare);

    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < sizeof ambiguous_names / sizeof *ambiguous_names; i++) {
        const char *spellings = ambiguous_names[i].spellings;
        if (is_among(spellings, bare) || (numpy && is_among(spellings, with_np))) {
            status = fail_ambiguous(ambiguous_names[i].meanings, quoted, reterr);
            break;
        }
    }
    if (status != DTI_OK) {
        dti_error_argument(reterr, name, length);
        return status;
    }

    enum dti_dtype id = numpy ? dti_dtype_find(with_np) : DTI_NONE;
    if (id == DTI_NONE)
        id = dti_dtype_find(bare);
    struct dti_format format;
    if (id != DTI_NONE) {
        format = *dti_format_get(id);
        if (bare[0] == '>')
            note = "'>' says big-endian; the byte order is no part of a dtype and is left out here";
        for (size_t i = 0; i < sizeof noted_names / sizeof *noted_names; i++) {
            if (strcmp(noted_names[i].spelling, bare) == 0)
                note = noted_names[i].note;
        }
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
