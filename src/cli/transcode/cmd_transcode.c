/* SPDX-License-Identifier: MIT
 *
 * dtinfo transcode: quantized checkpoints from one layout to another, or to plain floats. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/rewrite/dequant_report.h"
#include "cli/rewrite/rewrite_page.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "requests/transcode/transcode_request.h"

enum { MOST = 5 }; /* tensors with changed numbers that are listed without -v */

static bool put_kind(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind)
{
    const struct dti_translated one = dti_translated_of(job->rewrite, at);
    const struct dti_transcode_verdict *const verdict = one.verdict;
    if (!one.first || !verdict->changed)
        return one.first;
    kind->first = true;
    kind->from = one.form->is->dtype;
    kind->to = strcmp(one.form->is->dtype, verdict->dtype) == 0 ? NULL : verdict->dtype;
    kind->same_bytes = false;
    kind->input = one.form->is->stored_bytes;
    kind->output = verdict->bytes;
    kind->same_bytes = job->answer.reconciled != NULL;
    if (job->answer.reconciled)
        (void)snprintf(kind->words, sizeof kind->words, "%s, one scale for fused modules",
                       one.form->is->layout);
    else
        (void)snprintf(kind->words, sizeof kind->words, "%s -> %s", one.form->is->layout,
                       job->answer.layout);
    return true;
}

/* "  tensor scales: differ in 8563 of 12384 fused matrices, up to 10 times; the largest is now that
 * of all" */
static void put_tally(const struct dti_fused_tally *tally, const char *what, struct dti_line *line)
{
    char text[DTI_TEXT_SIZE];
    const char *const matrices = tally->matrices == 1 ? "matrix" : "matrices";
    dti_line_print(line, DTI_STYLE_PLAIN, "  %s: ", what);
    if (tally->differing == 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "one for each of %llu fused %s",
                       (unsigned long long)tally->matrices, matrices);
    else
        dti_line_print(line, DTI_STYLE_PLAIN,
                       "differ in %llu of %llu fused %s, up to %s times; each gets its largest",
                       (unsigned long long)tally->differing, (unsigned long long)tally->matrices,
                       matrices, dti_figure_words(text, tally->worst, 3));
    dti_line_end(line);
}

static void put_reconciled(const struct dti_reconciled *reconciled, struct dti_line *line)
{
    put_tally(&reconciled->weights, "tensor scales", line);
    if (reconciled->inputs.differing > 0)
        put_tally(&reconciled->inputs, "scales of activations", line);
    if (reconciled->left > 0) {
        dti_line_print(line, DTI_STYLE_WARN,
                       "  left as they are by patterns: %zu of these matrices", reconciled->left);
        dti_line_end(line);
    }
}

/* "  lossless: 3 of 4 tensors, 96 of 128 blocks   worst relative error 1.19e-07" */
static void put_totals(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_transcode_totals *const totals = &job->answer.transcode;
    char text[DTI_TEXT_SIZE];
    if (job->rewrite->request.finish)
        return;
    if (job->answer.reconciled)
        put_reconciled(job->answer.reconciled, line);
    dti_line_print(line, totals->lossy ? DTI_STYLE_WARN : DTI_STYLE_PLAIN,
                   "  lossless: %zu of %zu tensors, %llu of %llu blocks", totals->lossless,
                   totals->translated, (unsigned long long)totals->lossless_blocks,
                   (unsigned long long)totals->blocks);
    if (totals->lossy)
        dti_line_print(line, DTI_STYLE_PLAIN, "   worst relative error %s",
                       dti_figure_words(text, totals->worst, 3));
    dti_line_end(line);
}

/* Translated tensors: with -v all, else the first ones with changed numbers. */
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
        if (!one.first || !verdict->changed || (one.lossless && !job->front->cx->verbose))
            continue;
        others += !one.lossless;
        if (!job->front->cx->verbose && others > MOST)
            continue;
        const char *const from = one.form->is->dtype;
        whole = dti_rewrite_cells(table, one.numbers, from,
                                  strcmp(from, verdict->dtype) == 0 ? NULL : verdict->dtype);
        dti_number_cell(table, verdict->blocks);
        dti_number_cell(table, verdict->lossless);
        dti_text_cell(table, one.lossless ? "" : dti_figure_words(text, verdict->worst, 3));
        rows++;
    }
    if (rows == 0) {
        dti_table_free(table);
        return whole ? DTI_OK : dti_no_memory(reterr);
    }
    const enum dti_status status = dti_rewrite_table_end(job, table, whole, reterr);
    if (status == DTI_OK && !job->front->cx->verbose && others > MOST)
        (void)fprintf(job->front->cx->out, "  the first %d of %zu tensors; -v shows all\n",
                      (int)MOST, others);
    return status;
}

/* A line per form in which tensors were stored, what stayed the same, and the changed tensors, with
 * -v all of them. */
#define PAGE(verb_, example_)                                                                   \
    {                                                                                           \
        .verb = verb_, .example = example_, .no_file = "no file to read",                       \
        .kept = dti_transcode_kept, .kind = put_kind, .loss = put_totals, .tables = put_tensors \
    }
static const struct dti_rewrite_page page = PAGE("translated", DTI_TRANSCODE_EXAMPLE);
static const struct dti_rewrite_page reconciled_page =
    PAGE("reconciled", "as in 'dtinfo transcode model --reconcile -o out'");

static enum dti_status run_transcode(const void *all_args, char **operands, int count,
                                     struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct transcode_args *const args = all_args;
    const bool floats = !args->reconcile && dti_transcode_to_floats(args);
    const struct dti_rewrite_front front = dti_rewrite_front(cx, args->reconcile ? &reconciled_page
                                                                 : floats        ? &dti_floats_page
                                                                                 : &page);
    const char *path = NULL;
    const enum dti_status status = dti_rewrite_operands(front.page, args->transfer.input, !floats,
                                                        operands, count, &path, NULL, reterr);
    return status == DTI_OK ? dti_transcode_file_run(args, &front, path, reterr) : status;
}

const struct dti_command dti_command_transcode = {
    .name = "transcode",
    .group = "files",
    .summary = "translate quantized checkpoints to another layout",
    .reads = true,
    .writes = true,
    .writes_only = DTI_TRAIT_TEXTS | DTI_TRAIT_GGML,
    .synopsis = "FILE --to LAYOUT|--reconcile -o OUT",
    .details = "FILE is a safetensors file or a folder of shards with quantized tensors in\n"
               "any layout that dtinfo reads. Codes and scales are carried over, without\n"
               "quantizing again: each tensor tells how many of its blocks have exactly\n"
               "the same numbers as before, and the worst error of the others. What a\n"
               "layout cannot hold is an error that names the tensor. In a folder,\n"
               "config.json gets the quantization_config of the new layout, and the other\n"
               "small files are copied. --to gguf makes blocks of GGUF of them, with names and\n"
               "key-values as 'dtinfo cast' makes them. With a dtype, --to makes plain floats.\n"
               "--reconcile repairs tensors whose loader fuses them (q, k and v; gate and up;\n"
               "w1 and w3 of each expert) and takes one tensor scale for all: each gets the\n"
               "largest, scales of blocks are rounded once, and codes of nvfp4 stay as they are:\n"
               "dtinfo transcode model --to compressed-tensors -o out\n"
               "dtinfo transcode model --to modelopt --dtype nvfp4 --require-lossless -o out\n"
               "dtinfo transcode model --to mlx --mode mxfp4 -o out\n"
               "dtinfo transcode model --to gguf -o model.gguf\n"
               "dtinfo transcode model --to bf16 -o out\n"
               "dtinfo transcode model --reconcile -o out",
    .schema = "dtinfo.transcode/1",
    .other_schemas = {"dtinfo.dequant/1"},
    .operands = DTI_OPERANDS_FILES,
    .options = dti_transcode_options,
    .args_size = sizeof(struct transcode_args),
    .run = run_transcode,
};
