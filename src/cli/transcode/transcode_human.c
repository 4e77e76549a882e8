/* SPDX-License-Identifier: MIT
 *
 * transcode: the report for people. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/transcode/transcode_job.h"

enum { MOST = 5 }; /* tensors with other numbers that are listed without -v */

/* The parts of a tensor in the new file, in bytes. */
static uint64_t bytes_of(const struct dti_rewrite *rewrite,
                         const struct dti_transcode_verdict *verdict)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < verdict->count; i++)
        bytes += rewrite->container->tensors[verdict->first + i].bytes;
    return bytes;
}

static bool put_kind(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind)
{
    const struct dti_translated one = dti_translated_of(job->rewrite, at);
    const struct dti_transcode_verdict *const verdict = one.verdict;
    if (!one.first || !verdict->changed)
        return one.first;
    kind->first = true;
    kind->from = one.form->dtype;
    kind->to = strcmp(one.form->dtype, verdict->dtype) == 0 ? NULL : verdict->dtype;
    kind->same_bytes = false;
    kind->input = one.form->stored_bytes;
    kind->output = bytes_of(job->rewrite, verdict);
    (void)snprintf(kind->words, sizeof kind->words, "%s -> %s", one.form->layout,
                   job->answer.layout);
    return true;
}

/* "  lossless: 3 of 4 tensors, 96 of 128 blocks   worst relative error 1.19e-07" */
static void put_totals(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_transcode_totals *const totals = &job->answer.transcode;
    char text[DTI_TEXT_SIZE];
    if (job->rewrite->request.finish)
        return;
    dti_line_print(line, totals->lossy ? DTI_STYLE_WARN : DTI_STYLE_PLAIN,
                   "  lossless: %zu of %zu tensors, %llu of %llu blocks", totals->lossless,
                   totals->translated, (unsigned long long)totals->lossless_blocks,
                   (unsigned long long)totals->blocks);
    if (totals->lossy)
        dti_line_print(line, DTI_STYLE_PLAIN, "   worst relative error %s",
                       dti_figure_words(text, totals->worst, 3));
    dti_line_end(line);
}

/* Translated tensors: with -v all, else the first ones whose numbers are not all the same. */
static enum dti_status put_tensors(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "blocks", "lossless", "worst"};
    const struct dti_rewrite *const rewrite = job->rewrite;
    struct dti_table *const table =
        dti_rewrite_table_new(heads, sizeof heads / sizeof *heads, "965786");
    size_t rows = 0, others = 0;
    bool whole = true;
    for (size_t i = 0; i < rewrite->tensor_count && whole; i++) {
        const struct dti_translated one = dti_translated_of(rewrite, i);
        const struct dti_transcode_verdict *const verdict = one.verdict;
        char text[DTI_TEXT_SIZE];
        if (!one.first || !verdict->changed || (one.lossless && !job->cx->verbose))
            continue;
        others += !one.lossless;
        if (!job->cx->verbose && others > MOST)
            continue;
        const char *const from = one.form->dtype;
        whole = dti_rewrite_cells(table, one.numbers, from,
                                  strcmp(from, verdict->dtype) == 0 ? NULL : verdict->dtype);
        dti_number_cell(table, verdict->blocks);
        dti_number_cell(table, verdict->lossless);
        dti_table_cell(table, DTI_STYLE_PLAIN,
                       one.lossless ? "" : dti_figure_words(text, verdict->worst, 3));
        rows++;
    }
    if (rows == 0) {
        dti_table_free(table);
        return whole ? DTI_OK : dti_no_memory(reterr);
    }
    const enum dti_status status = dti_rewrite_table_end(job, table, whole, reterr);
    if (status == DTI_OK && !job->cx->verbose && others > MOST)
        (void)fprintf(job->cx->out, "  the first %d of %zu tensors; -v shows all\n", (int)MOST,
                      others);
    return status;
}

const struct dti_rewrite_page dti_transcode_page = {
    .kind = put_kind,
    .loss = put_totals,
    .tables = put_tensors,
};
