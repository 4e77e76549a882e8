/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE TYPE -o OUT.gguf: blocks of GGUF, in a file that holds nothing else quantized.
 * A view of the input dequantizes what is quantized; its tensors are then encoded. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_files.h"
#include "cli/shared/dequant_report.h"
#include "dtinfo/ascii.h"
#include "dtinfo/gguf_kernel.h"
#include "dtinfo/glob.h"

enum { RULES_MAX = 1024, WORD_MAX = 32 };

struct gguf_job {
    struct quant_file file; /* first: the report finds it */
    struct dti_quant_target target;
    struct dti_encode_rule rules[RULES_MAX];
};

static bool is_encoded(const struct dti_gguf_type *type)
{
    size_t i = 0;
    while (dti_gguf_encoded(i) && dti_gguf_encoded(i) != type)
        i++;
    return dti_gguf_encoded(i) != NULL;
}

bool dti_quant_is_gguf(const struct quant_args *args, char **operands, int count)
{
    const int files = args->transfer.input ? 0 : 1;
    if (args->transfer.output)
        return dti_is_gguf(dti_container_named(args->transfer.output)) && !args->transfer.as_given;
    return args->tensors.model || args->types ||
           (count > files && dti_gguf_type_named(operands[files]) &&
            !dti_block_lookup(operands[files]));
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

/* A type of GGUF: blocks, or where `numbers` says so those of a dtype. */
static enum dti_status read_type(const char *word, size_t length, bool numbers,
                                 const struct dti_gguf_type **ret, struct dti_error *reterr)
{
    char name[WORD_MAX], words[DTI_GGUF_ENCODED_WORDS];
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
    if (type && (type->dtype != DTI_NONE || is_encoded(type))) {
        *ret = type;
        return DTI_OK;
    }
    const struct dti_gguf_type *const most = mixture_of(word, length);
    if (most)
        return dti_fail_word(reterr, DTI_WRONG_KIND, word, length,
                             "%s is a mixture of types that llama-quantize chooses; use %s, and "
                             "--type 'GLOB=TYPE' for tensors that get another",
                             DTI_QUOTED(word, length), most->word);
    return dti_fail_word(reterr, type ? DTI_WRONG_KIND : DTI_UNKNOWN_DTYPE, word, length,
                         "%s is no type that is encoded in gguf files; use %s%s",
                         DTI_QUOTED(word, length), dti_gguf_encoded_words(words),
                         numbers ? ", fp32, fp16 or bf16" : "");
}

/* "GLOB=TYPE,..." */
static enum dti_status read_rules(const char *list, struct dti_encode_rule *rules,
                                  size_t *ret_count, struct dti_error *reterr)
{
    size_t count = 0;
    for (const char *at = list; at;) {
        const size_t length = dti_glob_list_item(at);
        size_t sign = length;
        while (sign > 0 && at[sign - 1] != '=')
            sign--;
        if (sign < 2)
            return dti_fail_word(reterr, DTI_USAGE, at, length,
                                 "--type takes GLOB=TYPE, as in '*.attn_v.weight=q6_k'; got %s",
                                 DTI_QUOTED(at, length));
        if (count == RULES_MAX)
            return dti_fail(reterr, DTI_USAGE, "--type takes at most %d patterns", (int)RULES_MAX);
        const enum dti_status status =
            read_type(at + sign, length - sign, true, &rules[count].type, reterr);
        if (status != DTI_OK)
            return status;
        rules[count].pattern = at;
        rules[count++].length = sign - 1;
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    *ret_count = count;
    return DTI_OK;
}

static bool stays(const void *context, const struct dti_tensor *tensor)
{
    const struct dti_rewrite_job *const job = context;
    return dti_encode_keeps(&job->request.encode, job->tensors->keep, job->tensors->only, tensor);
}

/* --bits and --block are about codes of the input; blocks of GGUF say themselves what they are. */
static enum dti_status check_hints(const struct quant_args *args, struct dti_file_dequant *dequant,
                                   struct dti_error *reterr)
{
    const char *const option = dti_quant_given(args, "bits block");
    const size_t count = dti_file_dequant_container(dequant)->tensor_count;
    bool open = !option;
    for (size_t i = 0; i < count && !open; i++) {
        const struct dti_dequant_form *const form = dti_file_dequant_form(dequant, i);
        open = form->dtype && strcmp(form->layout, "gguf") != 0;
    }
    if (open)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--%s tells what the codes of the input are, which has none; types of gguf "
                    "files have no such choice",
                    option);
}

/* Where nothing is quantized, the view is the file. */
static enum dti_status open_view(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_tensor_args *const tensors = job->tensors;
    const struct quant_args *const args = ((const struct quant_file *)job->args)->args;
    const struct dti_file_dequant_request request = {
        .bits = (unsigned)args->bits,
        .block = args->recipe.rules.block,
        .said_by = "--bits or --block",
        .only = tensors->only,
        .keep = tensors->keep,
        .select = tensors->select,
        .level = job->request.level,
        .open = job->source.options,
        .stays = stays,
        .stays_context = job,
    };
    const enum dti_status status =
        dti_file_dequant_new(&job->request.dequant, job->container, &request, reterr);
    return status == DTI_OK ? check_hints(args, job->request.dequant, reterr) : status;
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_NARROW] = "kept: less than 8 bits",
    [DTI_FATE_SCALAR] = "kept: a single number",
    [DTI_FATE_BLOCKS] = "as it is",
    [DTI_FATE_CONVENTION] = "kept: as llama-quantize does",
};

static const struct dti_rewrite_command command = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.gguf q8_0 -o model.q8_0.gguf'",
    .no_file = "no file to quantize",
    .regular = true,
    .kept = kept,
    .open = open_view,
    .describe = dti_quant_file_describe,
    .document = dti_document_quant_file,
    .page = &dti_quant_page,
    .fails = dti_quant_file_fails,
};

static enum dti_status check_options(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale axis symmetric affine symmetry division like "
              "mx-scale nv-scale per pad packing layout nested-absmax");
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--%s is not for gguf files, whose types say how numbers are quantized; leave "
                    "it out",
                    option);
}

static enum dti_status read_recipe(struct gguf_job *gguf, const char *word,
                                   struct dti_error *reterr)
{
    struct dti_rewrite_job *const job = &gguf->file.job;
    struct dti_encode_recipe *const recipe = &job->request.encode;
    job->request.recipe = DTI_RECIPE_ENCODE;
    job->request.cast.cast.dst = *dti_format_get(DTI_FP32); /* of --type; each has its own */
    enum dti_status status = read_type(word, strlen(word), false, &recipe->type, reterr);
    if (status == DTI_OK)
        status = read_rules(gguf->file.args->types, gguf->rules, &recipe->count, reterr);
    if (status != DTI_OK)
        return status;
    recipe->rules = gguf->rules;
    gguf->target = (struct dti_quant_target){
        .name = recipe->type->word,
        .scheme = {.per = DTI_PER_GROUP, .group = recipe->type->group},
        .gguf = true,
    };
    gguf->file.target = &gguf->target;
    return DTI_OK;
}

enum dti_status dti_quant_gguf(const struct quant_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct gguf_job *const gguf = calloc(1, sizeof *gguf);
    const char *word = NULL;
    if (!gguf)
        return dti_no_memory(reterr);
    struct dti_rewrite_job *const job = &gguf->file.job;
    dti_rewrite_job_init(job, &command, &args->transfer, &args->tensors, cx);
    gguf->file.args = args;
    job->args = &gguf->file;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = dti_rewrite_operands(job, operands, count, &word, reterr);
    if (status == DTI_OK)
        status = check_options(args, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(job, NULL, reterr);
    if (status == DTI_OK)
        status = read_recipe(gguf, word, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(job, reterr);
    status = dti_rewrite_job_run(job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* there is no --from */
    free(gguf);
    return status;
}
