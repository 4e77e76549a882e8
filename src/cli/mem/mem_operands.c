/* SPDX-License-Identifier: MIT
 *
 * Reads operands: amounts, files of tensors, dtypes. */
#include <errno.h>
#include <string.h>

#include "cli/mem/mem_job.h"
#include "dtinfo/nearest.h"

/* A dtype, a block format or a type of GGUF. */
static enum dti_status look_up(const char *name, struct dti_mem_size *ret, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    struct dti_error error;
    *ret = (struct dti_mem_size){.note = NULL};
    if (dti_stored_find(name, &ret->as))
        return DTI_OK;
    const enum dti_status status = dti_format_lookup(name, &ret->as.format, &ret->note, &error);
    if (status == DTI_OK)
        return DTI_OK;
    dti_nearest_init(&nearest, name, strlen(name));
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        dti_nearest_offer(&nearest, dti_format_get((enum dti_dtype)id)->name);
    for (size_t i = 0; i < dti_block_format_count; i++)
        dti_nearest_offer(&nearest, dti_block_formats[i].name);
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++)
        dti_nearest_offer(&nearest, dti_gguf_type_of((enum dti_gguf_blocks)i)->word);
    if (status != DTI_UNKNOWN_DTYPE || nearest.count == 0) {
        if (reterr)
            *reterr = error;
        return status;
    }
    (void)dti_fail_word(reterr, status, name, strlen(name), "unknown dtype %s",
                        DTI_QUOTED(name, strlen(name)));
    dti_nearest_suggest(&nearest, reterr);
    return status;
}

/* "bf16,mxfp4" */
static enum dti_status add_dtypes(struct mem_job *job, const char *list, struct dti_error *reterr)
{
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        char name[128] = "";
        struct dti_mem_size size;
        if (length < sizeof name)
            memcpy(name, at, length);
        enum dti_status status = look_up(length < sizeof name ? name : at, &size, reterr);
        if (status != DTI_OK)
            return status;
        if (size.note)
            dti_warn(job->cx, "%s", size.note);
        status = dti_mem_add_size(&job->mem, &size, reterr);
        if (status != DTI_OK)
            return status;
        at += length;
        if (*at == '\0')
            return DTI_OK;
    }
}

/* Whether a word is a list of dtypes, judged by its first name, which may be ambiguous. */
static bool names_dtype(const char *word)
{
    struct dti_mem_size size;
    struct dti_error error;
    char name[128] = "";
    const size_t length = strcspn(word, ",");
    if (length >= sizeof name)
        return false;
    memcpy(name, word, length);
    return look_up(name, &size, &error) != DTI_UNKNOWN_DTYPE;
}

static enum dti_status add_word(struct mem_job *job, const char *word, struct dti_error *reterr)
{
    struct dti_mem *const mem = &job->mem;
    const bool first = mem->operand_count == 0;
    if (dti_mem_is_amount(word))
        return dti_mem_add_amount(mem, word, reterr);
    const bool dtype = names_dtype(word);
    if (dtype && !first)
        return add_dtypes(job, word, reterr);
    if (strchr(word, '/') || dti_input_there(word) != ENOENT || strcmp(word, "-") == 0 ||
        dti_container_is(word))
        return dti_mem_add_file(mem, word, reterr);
    if (!first)
        return add_dtypes(job, word, reterr); /* which reports the error */
    if (dtype)
        return dti_fail(reterr, DTI_USAGE,
                        "the amount is missing before %s; give a count, a shape or a file, as in "
                        "'dtinfo mem 7B bf16'",
                        DTI_QUOTED(word, strlen(word)));
    return dti_fail_word(
        reterr, DTI_BAD_VALUE, word, strlen(word),
        "%s is neither a count (7B, 176e9), nor a shape (32x1024x4096), nor a file",
        DTI_QUOTED(word, strlen(word)));
}

static enum dti_status check_selection(const struct mem_job *job, struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    const struct dti_mem *const mem = &job->mem;
    const char *const option = args->mem.only ? "--only" : args->mem.keep ? "--keep" : NULL;
    bool files = false;
    for (size_t i = 0; i < mem->operand_count; i++)
        files |= mem->operands[i].kind == DTI_MEM_FILE;
    if (option && !files)
        return dti_fail(reterr, DTI_USAGE, "%s is for tensors of files; leave it out", option);
    if (args->mem.only && mem->item_count == 0)
        return dti_fail(reterr, DTI_USAGE, "--only %s matches no tensor",
                        DTI_QUOTED(args->mem.only, strlen(args->mem.only)));
    if (args->train && files && mem->numbers == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "no tensor holds floats: there are no parameters to train");
    return DTI_OK;
}

enum dti_status dti_mem_operands(struct mem_job *job, char **words, int count,
                                 struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    struct dti_mem *const mem = &job->mem;
    enum dti_status status = DTI_OK;
    if (count == 0 && !args->input)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to store; give a count, a shape or a file, as in 'dtinfo mem 7B "
                        "bf16'");
    if (args->input)
        status = dti_mem_add_file(mem, args->input, reterr);
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = add_word(job, words[i], reterr);
    for (size_t i = 0; i < mem->operand_count && status == DTI_OK; i++) {
        if (mem->operands[i].container)
            dti_file_source_warn(job->cx, mem->operands[i].container);
    }
    if (status == DTI_OK)
        status = check_selection(job, reterr);
    if (status == DTI_OK && args->dtype && mem->size_count > 0)
        return dti_fail(reterr, DTI_USAGE, "dtypes are given twice: after %s and with --dtype",
                        mem->amounts ? "the amount" : "the file");
    if (status == DTI_OK && args->dtype)
        status = add_dtypes(job, args->dtype, reterr);
    if (status == DTI_OK && mem->size_count == 0)
        status = dti_mem_add_ladder(mem, reterr);
    return status;
}
