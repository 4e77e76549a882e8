/* SPDX-License-Identifier: MIT
 *
 * Types of GGUF in options: see type_rules.h. */
#include "requests/rewrite/type_rules.h"

#include <stdio.h>
#include <string.h>

#include "util/text/glob.h"

enum { WORD_MAX = 32, WORDS_MAX = 256 };

static bool is_taken(const struct dti_type_words *words, const struct dti_gguf_type *type)
{
    size_t i = 0;
    while (words->at(i) && words->at(i) != type)
        i++;
    return words->at(i) != NULL;
}

/* "q4_0, q4_1, q8_0" */
static const char *list_words(const struct dti_type_words *words, char text[WORDS_MAX])
{
    size_t used = 0;
    for (size_t i = 0; words->at(i) && used < WORDS_MAX; i++)
        used += (size_t)snprintf(text + used, WORDS_MAX - used, "%s%s", i > 0 ? ", " : "",
                                 words->at(i)->word);
    return text;
}

/* "q4_k_m": what llama-quantize calls a mixture of which most is q4_k. */
static const struct dti_gguf_type *mixture_of(const char *word, size_t length)
{
    char name[WORD_MAX];
    if (length < 3 || length >= sizeof name || word[length - 2] != '_' ||
        !strchr("smlSML", word[length - 1]))
        return NULL;
    memcpy(name, word, length - 2);
    name[length - 2] = '\0';
    return dti_gguf_type_named(name);
}

enum dti_status dti_type_word_read(const struct dti_type_words *words, const char *word,
                                   size_t length, bool numbers, const struct dti_gguf_type **ret,
                                   struct dti_error *reterr)
{
    char name[WORD_MAX], list[WORDS_MAX];
    struct dti_format format;
    const struct dti_gguf_type *type = NULL;
    if (length < sizeof name) {
        memcpy(name, word, length);
        name[length] = '\0';
        type = dti_gguf_type_named(name);
        if (!type && numbers && dti_format_lookup(name, &format, NULL, NULL) == DTI_OK &&
            dti_format_is_float(&format))
            type = dti_gguf_type_storing(format.id);
    }
    if (type && (type->dtype != DTI_NONE || is_taken(words, type))) {
        *ret = type;
        return DTI_OK;
    }
    if (!type && !numbers && length < sizeof name &&
        dti_format_lookup(name, &format, NULL, NULL) == DTI_OK && dti_format_is_float(&format) &&
        dti_gguf_type_storing(format.id))
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_STORE_NUMBERS,
                               "%s is no quantized type of gguf files", format.name);
    const struct dti_gguf_type *const most = mixture_of(word, length);
    if (most)
        return dti_fail_word(reterr, DTI_WRONG_KIND, word, length,
                             "%s is a mixture of types that llama-quantize chooses; use %s, and "
                             "--type 'GLOB=TYPE' for tensors that get another",
                             DTI_QUOTED(word, length), most->word);
    return dti_fail_word(reterr, type ? DTI_WRONG_KIND : DTI_UNKNOWN_DTYPE, word, length,
                         "%s is no type that is %s; use %s%s", DTI_QUOTED(word, length),
                         words->what, list_words(words, list),
                         numbers ? ", fp32, fp16 or bf16" : "");
}

enum dti_status dti_type_rules_read(const struct dti_type_words *words, const char *list,
                                    struct dti_type_rule *rules, size_t *ret_count,
                                    struct dti_error *reterr)
{
    size_t count = 0;
    for (const char *at = list; at;) {
        const size_t length = dti_glob_list_item(at);
        size_t sign = length;
        while (sign > 0 && at[sign - 1] != '=')
            sign--;
        if (sign < 2)
            return dti_fail_word(reterr, DTI_USAGE, at, length,
                                 "--type takes GLOB=TYPE, as in '*.attn_v.weight=q8_0'; got %s",
                                 DTI_QUOTED(at, length));
        if (count == DTI_TYPE_RULES_MAX)
            return dti_fail(reterr, DTI_USAGE, "--type takes at most %d patterns",
                            (int)DTI_TYPE_RULES_MAX);
        const enum dti_status status =
            dti_type_word_read(words, at + sign, length - sign, true, &rules[count].type, reterr);
        if (status != DTI_OK)
            return status;
        rules[count].pattern = at;
        rules[count++].length = sign - 1;
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    *ret_count = count;
    return DTI_OK;
}
