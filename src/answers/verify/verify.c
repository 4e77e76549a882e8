/* SPDX-License-Identifier: MIT
 *
 * A verification as JSON. Pairs tensors with their recipes, and makes those that share a recipe
 * together, a limited number at a time. */
#include "answers/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "answers/rows.h"
#include "answers/tensors.h"
#include "containers/name_order.h"

void dti_verify_free(struct dti_verify *verify)
{
    dti_logical_close(verify->a);
    dti_logical_close(verify->b);
}

static void put_warnings(struct dti_json *json, const struct dti_verify *verify)
{
    dti_put_logical_warnings(json, verify->a, verify->remedy_words);
    dti_put_logical_warnings(json, verify->b, verify->remedy_words);
}

#define DTI_ROWS "answers/verify/verify.def"
#include "answers/rows.h"
#include "util/run/allocate.h"

enum { TOGETHER = 256 << 20 }; /* bytes made before results are reported */

struct verify_work {
    const struct dti_recipe *recipe;
    struct dti_recipe_pair pair;
};

struct verify_run {
    struct dti_verify *verify;
    struct dti_recipe_files files;
    struct dti_name_order rows, names; /* rows: of recipes; names: of the first file's tensors */
    struct verify_work *work;
    size_t count;
    struct dti_recipe_pair *pairs;
    struct dti_verdict *verdicts;
};

static enum dti_status report(struct dti_verify *verify, const char *name, size_t length,
                              const char *why)
{
    (void)snprintf(verify->why, sizeof verify->why, "%s", why);
    verify->found =
        (struct dti_verify_problem){.name = name, .name_length = length, .reason = verify->why};
    verify->problem = &verify->found;
    return DTI_OK;
}

static enum dti_status report_tensor(struct verify_run *job, size_t b, const char *why)
{
    const struct dti_tensor *const tensor = &job->verify->b->tensors[b];
    return report(job->verify, tensor->name, tensor->name_length, why);
}

static enum dti_status report_verdict(struct verify_run *job, size_t b,
                                      const struct dti_verdict *verdict)
{
    struct dti_verify *const verify = job->verify;
    const struct dti_container *const other = job->files.other.container;
    char why[DTI_EXPLAIN_REASON];
    verify->verdict = *verdict;
    verify->difference = (struct dti_byte_difference){other, &verify->verdict};
    (void)report_tensor(job, b, dti_verdict_reason(why, other, verdict));
    if (verdict->kind == DTI_VERDICT_BYTES) {
        verify->found.reason = NULL;
        verify->found.difference = &verify->difference;
    }
    return DTI_OK;
}

static enum dti_status add_tensor(struct verify_run *job, size_t b)
{
    struct dti_verify *const verify = job->verify;
    const struct dti_tensor *const tensor = &verify->b->tensors[b];
    const bool alone = verify->a->tensor_count == 1 && verify->b->tensor_count == 1;
    const struct dti_recipe *recipe = verify->all;
    char why[DTI_EXPLAIN_REASON], one[DTI_SHAPE_SIZE], two[DTI_SHAPE_SIZE];
    size_t row, a = 0;
    if (dti_name_order_find(&job->rows, tensor->name, tensor->name_length, &row))
        recipe = verify->rows[row].recipe;
    if (!recipe)
        return report_tensor(job, b, "there is no recipe for it");
    if (!alone && !dti_name_order_find(&job->names, tensor->name, tensor->name_length, &a))
        return report_tensor(job, b, "the first file lacks it");
    if (!dti_tensor_same_shape(&verify->a->tensors[a], tensor) &&
        recipe->arrangement != DTI_ARRANGED_TRANSPOSED) {
        (void)snprintf(why, sizeof why, "the shapes %s and %s differ",
                       dti_shape_words(one, &verify->a->tensors[a]), dti_shape_words(two, tensor));
        return report_tensor(job, b, why);
    }
    job->work[job->count++] = (struct verify_work){.recipe = recipe, .pair = {.a = a, .b = b}};
    return DTI_OK;
}

/* Checks for recipes of tensors that the second file lacks. */
static enum dti_status check_rows(struct verify_run *job, struct dti_error *reterr)
{
    struct dti_verify *const verify = job->verify;
    struct dti_name_order there = {0};
    const size_t again = dti_name_order_repeated(&job->rows);
    size_t at;
    if (again != SIZE_MAX) {
        const struct dti_verify_row *const row = &verify->rows[again];
        return dti_fail(reterr, DTI_BAD_INPUT, "there are two recipes for the tensor %s",
                        DTI_QUOTED(row->name, row->name_length));
    }
    if (!dti_name_order_of(&there, verify->b->tensors, verify->b->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < verify->row_count && !verify->problem; i++) {
        const struct dti_verify_row *const row = &verify->rows[i];
        if (row->recipe && !dti_name_order_find(&there, row->name, row->name_length, &at))
            (void)report(verify, row->name, row->name_length, "the second file lacks it");
    }
    dti_name_order_free(&there);
    return DTI_OK;
}

/* Sorts by the address of the recipe, which keeps the order of the caller's list: that of the
 * file. */
static int by_recipe(const void *a, const void *b)
{
    const struct verify_work *const x = a, *const y = b;
    if (x->recipe != y->recipe)
        return x->recipe < y->recipe ? -1 : 1;
    return (x->pair.b > y->pair.b) - (x->pair.b < y->pair.b);
}

/* *ret_refused: the recipe does not fit one of several, which remains to be found. */
static enum dti_status judge(struct verify_run *job, const struct verify_work *work, size_t count,
                             bool *ret_refused, struct dti_error *reterr)
{
    struct dti_verify *const verify = job->verify;
    const struct dti_scan_options *const options = &verify->reading.options;
    const struct dti_judge_options how = {.team = options->team, .max_memory = options->max_memory};
    struct dti_error error;
    bool refused = false;
    *ret_refused = false;
    for (size_t i = 0; i < count; i++)
        job->pairs[i] = work[i].pair;
    const enum dti_status status = dti_recipe_judge(&job->files, work->recipe, job->pairs, count,
                                                    &how, job->verdicts, &refused, &error);
    if (status != DTI_OK) {
        *reterr = error;
        return status;
    }
    *ret_refused = refused && count > 1;
    if (refused)
        return *ret_refused ? DTI_OK : report_tensor(job, work->pair.b, error.text);
    for (size_t i = 0; i < count; i++) {
        const struct dti_verdict *const verdict = &job->verdicts[i];
        verify->tensors++;
        verify->bytes += verify->b->tensors[work[i].pair.b].bytes;
        if (verdict->kind == DTI_VERDICT_SAME)
            continue;
        return report_verdict(job, work[i].pair.b, verdict);
    }
    return DTI_OK;
}

static enum dti_status judge_all(struct verify_run *job, struct dti_error *reterr)
{
    struct dti_verify *const verify = job->verify;
    struct dti_reading *const reading = &verify->reading;
    const size_t most = dti_recipe_pairs_most(&job->files);
    enum dti_status status = DTI_OK;
    for (size_t i = 0, next; i < job->count && status == DTI_OK; i = next) {
        uint64_t bytes = 0;
        for (next = i; next < job->count && next - i < most; next++) {
            const struct verify_work *const work = &job->work[next];
            const uint64_t more = verify->a->tensors[work->pair.a].bytes;
            if (next > i && (work->recipe != job->work[i].recipe || more > TOGETHER - bytes))
                break;
            bytes += more < TOGETHER ? more : TOGETHER;
        }
        bool refused;
        status = judge(job, job->work + i, next - i, &refused, reterr);
        /* once more at most, one by one */
        for (size_t j = i; refused && j < next && status == DTI_OK && !verify->problem; j++) {
            bool alone;
            status = judge(job, job->work + j, 1, &alone, reterr);
        }
        reading->done += bytes;
        if (reading->show)
            reading->show(reading->context, reading->done);
        if (verify->problem)
            break;
    }
    return status;
}

static enum dti_status prepare(struct verify_run *job, struct dti_error *reterr)
{
    struct dti_verify *const verify = job->verify;
    enum dti_status status = dti_recipe_files_init(&job->files, verify->a, verify->b,
                                                   verify->reading.options.level, reterr);
    if (status != DTI_OK)
        return status;
    const size_t count = verify->b->tensor_count, most = dti_recipe_pairs_most(&job->files);
    const size_t room = count < most ? count : most;
    job->work = dti_calloc(count + 1, sizeof *job->work);
    job->pairs = dti_calloc(room + 1, sizeof *job->pairs);
    job->verdicts = dti_calloc(room + 1, sizeof *job->verdicts);
    if (!job->work || !job->pairs || !job->verdicts ||
        !dti_name_order_of(&job->rows, verify->rows, verify->row_count,
                           DTI_NAMED(struct dti_verify_row, name)) ||
        !dti_name_order_of(&job->names, verify->a->tensors, verify->a->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_no_memory(reterr);
    status = check_rows(job, reterr);
    for (size_t i = 0; i < count && status == DTI_OK && !verify->problem; i++)
        status = add_tensor(job, i);
    if (job->count > 0)
        qsort(job->work, job->count, sizeof *job->work, by_recipe);
    return status;
}

enum dti_status dti_verify_run(struct dti_verify *verify, struct dti_error *reterr)
{
    struct verify_run job = {.verify = verify};
    uint64_t bytes = 0;
    enum dti_status status = prepare(&job, reterr);
    for (size_t i = 0; i < job.count; i++)
        bytes += verify->a->tensors[job.work[i].pair.a].bytes;
    if (status == DTI_OK && !verify->problem) {
        status = dti_reading_start(&verify->reading, bytes, reterr);
        if (status == DTI_OK) {
            status = judge_all(&job, reterr);
            dti_reading_end(&verify->reading);
        }
    }
    dti_name_order_free(&job.rows);
    dti_name_order_free(&job.names);
    dti_recipe_files_free(&job.files);
    dti_free(job.work);
    dti_free(job.pairs);
    dti_free(job.verdicts);
    return status;
}
