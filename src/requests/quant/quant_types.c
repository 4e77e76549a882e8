/* SPDX-License-Identifier: MIT
 *
 * --type of `quant` for files that are not GGUF: dtypes of tensors by patterns, so that one file
 * has several. Each dtype gets the same options as the dtype that the command names. */
#include <string.h>

#include "files/stored/quant_marks.h"
#include "requests/quant/quant_args.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

enum { RULES_MAX = 1024 };

/* The dtype that a layout calls `word`, as ComfyUI calls mxfp8_e4m3 mxfp8; else the word. */
static void put_dtype(struct dti_buffer *out, int layout, const char *word, size_t length)
{
    for (size_t i = 0; i < dti_quant_mark_count; i++) {
        const struct dti_quant_mark *const mark = &dti_quant_marks[i];
        if ((int)mark->layout == layout && strlen(mark->word) == length &&
            memcmp(mark->word, word, length) == 0) {
            dti_buffer_puts(out, mark->dtype);
            return;
        }
    }
    dti_buffer_append(out, word, length);
}

/* The length of "GLOB=" in an item "GLOB=DTYPE"; 0: there is no sign. */
static size_t sign_of(const char *item, size_t length)
{
    while (length > 0 && item[length - 1] != '=')
        length--;
    return length;
}

/* The dtypes between commas: that of the command, then one for each pattern. */
static enum dti_status join(const struct quant_args *args, const char *dtype,
                            struct dti_buffer *ret, size_t *ret_rules, struct dti_error *reterr)
{
    size_t rules = 0;
    put_dtype(ret, args->recipe.layout, dtype, strlen(dtype));
    for (const char *at = args->types; at; rules++) {
        const size_t length = dti_glob_list_item(at), sign = sign_of(at, length);
        if (sign < 2 || sign == length)
            return dti_fail_word(reterr, DTI_USAGE, at, length,
                                 "--type takes GLOB=DTYPE, as in '*.attn.*.weight=fp8_e4m3fn'; got "
                                 "%s",
                                 DTI_QUOTED(at, length));
        if (rules == RULES_MAX)
            return dti_fail(reterr, DTI_USAGE, "--type takes at most %d patterns", (int)RULES_MAX);
        dti_buffer_puts(ret, ",");
        put_dtype(ret, args->recipe.layout, at + sign, length - sign);
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    *ret_rules = rules;
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status add_rules(struct dti_quant_types *types, const struct quant_args *args,
                                 const struct dti_quant_target *const *of, size_t count,
                                 struct dti_error *reterr)
{
    types->rules = dti_calloc(count + 1, sizeof *types->rules);
    if (!types->rules)
        return dti_no_memory(reterr);
    for (const char *at = args->types; at;) {
        const size_t length = dti_glob_list_item(at);
        struct dti_quantize_rule *const rule = &types->rules[types->count];
        struct dti_rewrite_request request = {.path = NULL};
        dti_recipe_request_quant(&request, &args->recipe, of[++types->count]);
        *rule = (struct dti_quantize_rule){
            .pattern = at, .length = sign_of(at, length) - 1, .recipe = request.quantize};
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    return DTI_OK;
}

/* Reads distinct dtypes once: there may be many patterns. */
static enum dti_status read_targets(struct dti_quant_types *types, const struct quant_args *args,
                                    const struct dti_asker *asker, char *names, size_t count,
                                    struct dti_error *reterr)
{
    const char **const words = dti_calloc(count + 1, sizeof(const char *));
    size_t *const which = dti_calloc(count + 1, sizeof *which);
    const struct dti_quant_target **const of =
        dti_calloc(count + 1, sizeof(const struct dti_quant_target *));
    struct dti_buffer distinct;
    size_t used = 0;
    dti_buffer_init(&distinct);
    enum dti_status status = words && which && of ? DTI_OK : dti_no_memory(reterr);
    char *at = names;
    for (size_t i = 0; i <= count && status == DTI_OK; i++) {
        char *const comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        which[i] = 0;
        while (which[i] < used && strcmp(words[which[i]], at) != 0)
            which[i]++;
        if (which[i] == used) {
            dti_buffer_puts(&distinct, used > 0 ? "," : "");
            dti_buffer_puts(&distinct, at);
            words[used++] = at;
        }
        at = comma ? comma + 1 : at;
    }
    if (status == DTI_OK && distinct.failed)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_quant_targets_read(args, asker, distinct.data, &types->targets, &used, reterr);
    for (size_t i = 0; i <= count && status == DTI_OK; i++)
        of[i] = &types->targets[which[i]];
    if (status == DTI_OK)
        status = add_rules(types, args, of, count, reterr);
    types->distinct = used;
    dti_buffer_free(&distinct);
    dti_free((void *)words);
    dti_free(which);
    dti_free((void *)of);
    return status;
}

enum dti_status dti_quant_types_read(struct dti_quant_types *ret, const struct quant_args *args,
                                     const struct dti_asker *asker, const char *dtype,
                                     struct dti_error *reterr)
{
    struct dti_buffer names;
    char quoted[DTI_QUOTE_SIZE];
    size_t rules = 0;
    if (strchr(dtype, ','))
        return dti_fail(reterr, DTI_USAGE, "a file goes to one dtype; got %s",
                        dti_quote(quoted, dtype, strlen(dtype)));
    dti_buffer_init(&names);
    enum dti_status status = join(args, dtype, &names, &rules, reterr);
    if (status == DTI_OK)
        status = read_targets(ret, args, asker, names.data, rules, reterr);
    dti_buffer_free(&names);
    return status;
}

void dti_quant_types_free(struct dti_quant_types *types)
{
    dti_free(types->targets);
    dti_free(types->rules);
}
