/* SPDX-License-Identifier: MIT
 *
 * The table of names: a pattern's '#' stands for digits, which the other name repeats. */
#include "files/model/model_names.h"

#include <string.h>

#include "util/text/ascii.h"

enum { PLAIN, NORM, Q, K };
enum { NONE, PERMUTES, SHIFTS };

static const struct {
    const char *name, *classes;
    int changes;
} archs[DTI_MODEL_ARCHS] = {
#define MODEL_ARCH(id, word, what, list) \
    [DTI_MODEL_##id] = {.name = (word), .classes = (list), .changes = (what)},
#include "files/model/model_archs.def"
#undef MODEL_ARCH
};

enum {
#define MODEL_ARCH(id, ...) id = 1 << DTI_MODEL_##id,
#include "files/model/model_archs.def"
#undef MODEL_ARCH
    ALL = (1 << DTI_MODEL_ARCHS) - 1
};

static const struct {
    const char *other, *common;
} prefixes[] = {
#define MODEL_PREFIX(from, to) {.other = (from), .common = (to)},
#define MODEL_COMPUTED(...)
#define MODEL_NAME(...)
#include "files/model/model_names.def"
#undef MODEL_NAME
#undef MODEL_COMPUTED
#undef MODEL_PREFIX
};

static const struct name_row {
    const char *hf, *gguf;
    int kind;
    unsigned archs;
} rows[] = {
#define MODEL_PREFIX(...)
#define MODEL_COMPUTED(...)
#define MODEL_NAME(name, other, what, which) \
    {.hf = (name), .gguf = (other), .kind = (what), .archs = (unsigned)(which)},
#include "files/model/model_names.def"
#undef MODEL_NAME
#undef MODEL_COMPUTED
#undef MODEL_PREFIX
};
enum { ROWS = sizeof rows / sizeof *rows, PREFIXES = sizeof prefixes / sizeof *prefixes };

bool dti_model_name_is_computed(const char *name, size_t length)
{
    static const char *const endings[] = {
#define MODEL_PREFIX(...)
#define MODEL_COMPUTED(ending) (ending),
#define MODEL_NAME(...)
#include "files/model/model_names.def"
#undef MODEL_NAME
#undef MODEL_COMPUTED
#undef MODEL_PREFIX
    };
    bool found = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        found = found || dti_text_ends(name, length, endings[i]);
    return found;
}

const char *dti_model_arch_name(enum dti_model_arch arch)
{
    return archs[arch].name;
}

enum dti_model_arch dti_model_arch_named(const char *name, size_t length)
{
    unsigned i = 0;
    while (i < DTI_MODEL_ARCHS &&
           !(strlen(archs[i].name) == length && memcmp(archs[i].name, name, length) == 0))
        i++;
    return (enum dti_model_arch)i;
}

/* Whether a list with commas has the word. */
static bool lists(const char *list, const char *word, size_t length)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t own = strcspn(at, ",");
        if (own == length && memcmp(at, word, length) == 0)
            return true;
    }
    return false;
}

enum dti_model_arch dti_model_arch_of_class(const char *name, size_t length)
{
    unsigned i = 0;
    while (i < DTI_MODEL_ARCHS && !lists(archs[i].classes, name, length))
        i++;
    return (enum dti_model_arch)i;
}

/* A name taken apart: what the '#' of a pattern matched, and the suffix after the pattern. */
struct name_parts {
    const char *layer, *suffix;
    size_t layer_length, suffix_length;
};

static bool is_suffix(const char *text, size_t length)
{
    static const char *const suffixes[] = {".weight", ".bias", ".scale", ".input_scale"};
    bool found = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        found = found || (strlen(suffixes[i]) == length && memcmp(text, suffixes[i], length) == 0);
    return found;
}

static size_t count_digits(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

static bool match(const char *pattern, const char *name, size_t length, struct name_parts *ret)
{
    *ret = (struct name_parts){.layer = NULL};
    size_t at = 0;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '#') {
            if (at == length || name[at++] != *pattern)
                return false;
            continue;
        }
        ret->layer = name + at;
        ret->layer_length = count_digits(name + at, length - at);
        /* "007" would come back as another name */
        if (ret->layer_length == 0 || (ret->layer_length > 1 && name[at] == '0'))
            return false;
        at += ret->layer_length;
    }
    ret->suffix = name + at;
    ret->suffix_length = length - at;
    return is_suffix(ret->suffix, ret->suffix_length);
}

static bool append(struct dti_model_name *name, const char *text, size_t length)
{
    if (length > DTI_MODEL_NAME_MAX - name->length)
        return false;
    memcpy(name->text + name->length, text, length);
    name->length += length;
    name->text[name->length] = '\0';
    return true;
}

static bool fill(struct dti_model_name *ret, const char *pattern, const struct name_parts *parts)
{
    const size_t before = strcspn(pattern, "#");
    bool fits = append(ret, pattern, before);
    if (pattern[before] == '#')
        fits = fits && append(ret, parts->layer, parts->layer_length) &&
               append(ret, pattern + before + 1, strlen(pattern + before + 1));
    return fits && append(ret, parts->suffix, parts->suffix_length);
}

/* Scales of a whole tensor have no rows. */
static enum dti_model_change change_of(enum dti_model_arch arch, int kind, const char *suffix)
{
    const int changes = archs[arch].changes;
    const bool weight = suffix[1] == 'w', has_rows = weight || suffix[1] == 'b';
    if (changes == SHIFTS && kind == NORM && weight)
        return DTI_MODEL_PLUS_ONE;
    if (changes == PERMUTES && (kind == Q || kind == K) && has_rows)
        return kind == Q ? DTI_MODEL_PERMUTED_Q : DTI_MODEL_PERMUTED_K;
    return DTI_MODEL_SAME;
}

static bool look(struct dti_model_name *ret, enum dti_model_arch arch, const char *name,
                 size_t length, bool to_gguf)
{
    struct name_parts parts;
    for (size_t i = 0; i < ROWS; i++) {
        if (!(rows[i].archs >> arch & 1) ||
            !match(to_gguf ? rows[i].hf : rows[i].gguf, name, length, &parts))
            continue;
        *ret = (struct dti_model_name){.change = change_of(arch, rows[i].kind, parts.suffix)};
        return fill(ret, to_gguf ? rows[i].gguf : rows[i].hf, &parts);
    }
    return false;
}

bool dti_model_name_to_gguf(struct dti_model_name *ret, enum dti_model_arch arch, const char *name,
                            size_t length)
{
    for (size_t i = 0; i < PREFIXES; i++) {
        const size_t own = strlen(prefixes[i].other);
        struct dti_model_name common = {.length = 0};
        if (length > own && memcmp(name, prefixes[i].other, own) == 0)
            return append(&common, prefixes[i].common, strlen(prefixes[i].common)) &&
                   append(&common, name + own, length - own) &&
                   look(ret, arch, common.text, common.length, true);
    }
    return look(ret, arch, name, length, true);
}

bool dti_model_name_from_gguf(struct dti_model_name *ret, enum dti_model_arch arch,
                              const char *name, size_t length)
{
    return look(ret, arch, name, length, false);
}
