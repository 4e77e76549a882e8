/* SPDX-License-Identifier: MIT
 *
 * Sizes and dtypes of `bench`: bytes, elements ("16777216", "2000x2000"), products of matrices
 * ("1000", "1x2048x1024" for MxNxK). */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/bench/bench_page.h"
#include "cli/shared/amount.h"
#include "dtinfo/checked.h"
#include "dtinfo/nearest.h"

enum { FACTORS_MAX = 3 };

/* "2000x1000": up to three numbers above 0. */
static bool parse_factors(const struct bench_word *word, uint64_t factors[FACTORS_MAX],
                          size_t *ret_count)
{
    const char *at = word->text;
    size_t left = word->length;
    for (size_t count = 0; count < FACTORS_MAX; count++) {
        if (!dti_amount_digits(&at, &left, &factors[count]) || factors[count] == 0)
            return false;
        if (left == 0) {
            *ret_count = count + 1;
            return true;
        }
        if (*at != 'x')
            return false;
        at++, left--;
    }
    return false;
}

/* n elements in all, in m rows; or a product of matrices, of which 1000 is a square one. */
static bool parse_shape(const struct bench_word *word, bool product, struct dti_bench_size *ret)
{
    uint64_t factors[FACTORS_MAX], n = 1;
    size_t count;
    if (!parse_factors(word, factors, &count) || (product && count == 2))
        return false;
    for (size_t i = 0; i < count && !product; i++) {
        if (!dti_mul_u64(n, factors[i], &n))
            return false;
    }
    ret->m = product || count > 1 ? factors[0] : 0;
    ret->n = !product ? n : count == 1 ? factors[0] : factors[1];
    ret->k = !product ? 0 : count == 1 ? factors[0] : factors[2];
    return true;
}

/* Of elements the label keeps how they were written. */
enum dti_status dti_bench_take_size(struct bench_job *job, const struct bench_word *word,
                                    struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    if (job->asked.size_count == DTI_BENCH_SIZES_MAX)
        return dti_bench_too_many("sizes", reterr);
    struct dti_bench_size *const ret = &job->asked.sizes[job->asked.size_count++];
    const bool product = job->asked.setup.kind->size_is == DTI_BENCH_PRODUCT;
    if (job->asked.setup.kind->size_is == DTI_BENCH_BYTES) {
        const enum dti_status status =
            dti_amount_bytes("--size", word->text, word->length, &ret->n, reterr);
        if (status == DTI_OK)
            (void)snprintf(ret->label, sizeof ret->label, "%s", dti_bench_bytes(text, ret->n));
        return status;
    }
    if (!parse_shape(word, product, ret))
        return dti_bench_refuse(DTI_USAGE,
                                product ? "--size takes products of matrices, as in 1000 (square) "
                                          "or 1x2048x1024 (MxNxK)"
                                        : "--size takes elements, as in 16777216 or 2000x2000",
                                word, reterr);
    if (product)
        (void)snprintf(ret->label, sizeof ret->label, "%llux%llux%llu", (unsigned long long)ret->m,
                       (unsigned long long)ret->n, (unsigned long long)ret->k);
    else
        (void)snprintf(ret->label, sizeof ret->label, "%.*s%s", (int)word->length, word->text,
                       memchr(word->text, 'x', word->length) ? ""
                       : ret->n == 1                         ? " element"
                                                             : " elements");
    return DTI_OK;
}

/* Whether the kind has a dtype, as its own lists say. */
static bool offers(const struct dti_bench_kind *kind, const char *name)
{
    const char *const lists[] = {kind->dtypes, kind->more};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = lists[i];
        while (list) {
            const struct bench_word word = dti_bench_next_word(&list);
            if (dti_bench_word_is(&word, name))
                return true;
        }
    }
    return false;
}

enum dti_status dti_bench_take_dtype(struct bench_job *job, const struct bench_word *word,
                                     struct dti_error *reterr)
{
    char name[BENCH_NAME_SIZE];
    struct dti_format format = {.id = DTI_NONE};
    struct dti_bench_job *const asked = &job->asked;
    const struct dti_bench_kind *const kind = asked->setup.kind;
    const struct dti_block_format *const block =
        dti_bench_word_copy(name, word) ? dti_block_lookup(name) : NULL;
    const enum dti_status status = block ? DTI_OK : dti_bench_look_up(job, word, &format, reterr);
    if (status != DTI_OK)
        return status;
    const char *const found = block ? block->name : format.name;
    if ((!block && format.id == DTI_NONE) || !offers(kind, found))
        return dti_fail_word(reterr, DTI_WRONG_KIND, word->text, word->length,
                             "'bench %s' has no %s; it measures %s%s%s", kind->name, found,
                             kind->dtypes, kind->more ? "," : "", kind->more ? kind->more : "");
    size_t *const count = block ? &asked->block_count : &asked->dtype_count;
    for (size_t i = 0; i < *count; i++) {
        if (block ? asked->blocks[i] == block->id : asked->dtypes[i] == format.id)
            return DTI_OK;
    }
    if (*count == DTI_BENCH_DTYPES_MAX)
        return dti_bench_too_many("dtypes", reterr);
    if (block)
        asked->blocks[(*count)++] = block->id;
    else
        asked->dtypes[(*count)++] = format.id;
    return DTI_OK;
}
