/* SPDX-License-Identifier: MIT
 *
 * The options of mem for the cache of a model. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "util/checked.h"
#include "util/text/ascii.h"

bool dti_mem_is_config(const char *word)
{
    static const char name[] = "config.json";
    const size_t length = strlen(word), end = sizeof name - 1;
    return dti_text_ends(word, length, name) && (length == end || word[length - end - 1] == '/');
}

/* "32768", "32k", "1M": k and M are 1024 and 1024 x 1024, as contexts are counted. */
static enum dti_status read_context(const char *text, uint64_t *ret, struct dti_error *reterr)
{
    enum { MOST = 1 << 30 };
    size_t length = strlen(text);
    const char *at = text;
    uint64_t tokens = 0;
    bool good = length > 0 && dti_ascii_digit(*at);
    for (; good && length > 0 && dti_ascii_digit(*at); at++, length--)
        good = dti_mul_u64(tokens, 10, &tokens) &&
               dti_add_u64(tokens, (uint64_t)(*at - '0'), &tokens) && tokens <= MOST;
    const char unit = length == 1 ? dti_ascii_lower(*at) : '\0';
    if (unit == 'k' || unit == 'm')
        tokens *= unit == 'k' ? 1 << 10 : 1 << 20;
    if (!good || (length > 0 && unit != 'k' && unit != 'm') || tokens == 0 || tokens > MOST)
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "--context takes a number of tokens up to 2^30, as in 4096, 32k or 1M "
                             "(k is 1024); got %s",
                             DTI_QUOTED(text, strlen(text)));
    *ret = tokens;
    return DTI_OK;
}

/* fp8 alone has no dtype elsewhere, since its kinds differ. In a cache it takes a byte in any case.
 */
static enum dti_status add_dtypes(struct mem_job *job, const char *list, struct dti_error *reterr)
{
    struct dti_mem_size size = {
        .as.format = *dti_format_get(DTI_FP8_E4M3FN),
        .note = "fp8 of a cache is fp8_e4m3fn, as in vLLM; fp8_e5m2 takes the same memory"};
    if (strcmp(list, "fp8") != 0)
        return dti_mem_each_dtype(job, list, dti_mem_add_cache_size, &job->mem, reterr);
    dti_warn(job->cx, "%s", size.note);
    return dti_mem_add_cache_size(&job->mem, &size, reterr);
}

enum dti_status dti_mem_read_cache(struct mem_job *job, struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    struct dti_mem_cache *const cache = &job->cache;
    enum dti_status status = DTI_OK;
    if (!args->context && !args->batch_given && !args->kv_dtype && !args->kv_like)
        return DTI_OK;
    if (args->train)
        return dti_fail(reterr, DTI_USAGE,
                        "training keeps no cache; leave out --train, or --context, --batch and "
                        "--kv-dtype");
    job->mem.cache = cache;
    cache->like = args->kv_like;
    cache->kv_dtype = args->kv_dtype;
    cache->batch = args->batch_given ? args->batch : 1;
    cache->batch_given = args->batch_given;
    cache->context_given = args->context != NULL;
    if (args->context)
        status = read_context(args->context, &cache->context, reterr);
    return status == DTI_OK && args->kv_dtype ? add_dtypes(job, args->kv_dtype, reterr) : status;
}

enum dti_status dti_mem_sum_cache(struct mem_job *job, struct dti_error *reterr)
{
    const struct dti_mem *const mem = &job->mem;
    const struct dti_mem_cache *const cache = mem->cache;
    if (!cache)
        return DTI_OK;
    if (mem->operand_count != 1 ||
        (mem->operands[0].kind != DTI_MEM_FILE && mem->operands[0].kind != DTI_MEM_CONFIG))
        return dti_fail(reterr, DTI_USAGE,
                        "a cache is that of one model; give its folder, its index, its gguf or its "
                        "config.json alone");
    if (strcmp(mem->operands[0].text, "-") == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "the cache of standard input is not known: its config.json is found by its "
                        "name; give the name of the file");
    const enum dti_status status = dti_mem_cache_sum(&job->mem, reterr);
    for (size_t i = 0; i < cache->note_count && status == DTI_OK; i++)
        dti_warn(job->cx, "%s", dti_note_words((char[DTI_REMEDY_WORDS]){""}, &cache->notes[i]));
    return status;
}
