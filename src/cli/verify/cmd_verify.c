/* SPDX-License-Identifier: MIT
 *
 * dtinfo verify: whether a file was made from another by given recipes. */
#include <string.h>

#include "answers/attest.h"
#include "answers/tensors.h"
#include "cli/shared/made_words.h"
#include "cli/verify/verify_job.h"
#include "dtinfo/output.h"

/* Points into itself: it must not be copied. */
struct verify_job {
    const struct verify_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct recipe_file recipes;
    struct dti_verify verify;
    struct dti_output_file *attestation; /* or NULL */
};

static enum dti_status check_operands(const struct verify_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo verify model.safetensors "
                        "half.safetensors --recipe half.json'");
    if (count > 2)
        return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                             "verifies one file by another; %s is one operand too many",
                             DTI_QUOTED(operands[2], strlen(operands[2])));
    if (!args->recipe)
        return dti_fail(reterr, DTI_USAGE,
                        "missing recipe; give --recipe FILE, which 'dtinfo explain --json' writes");
    return DTI_OK;
}

static enum dti_status open_files(struct verify_job *job, char **operands, struct dti_error *reterr)
{
    struct dti_verify *const verify = &job->verify;
    enum dti_status status = dti_recipe_file_read(&job->recipes, job->args->recipe, reterr);
    verify->rows = job->recipes.rows;
    verify->row_count = job->recipes.count;
    verify->all = job->recipes.all;
    if (status == DTI_OK)
        status = dti_logical_open(&verify->a, operands[0], &verify->options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&verify->b, operands[1], &verify->options, reterr);
    if (status != DTI_OK)
        return status;
    dti_file_source_warn(job->cx, verify->a);
    dti_file_source_warn(job->cx, verify->b);
    return DTI_OK;
}

/* Before anything is read; it is there only if all is verified. */
static enum dti_status open_attestation(struct verify_job *job, struct dti_error *reterr)
{
    const char *const path = job->args->attest;
    if (!path)
        return DTI_OK;
    if (dti_output_is_standard(path))
        return dti_fail(reterr, DTI_USAGE,
                        "--attest writes a file, beside the answer; give another name");
    dti_output_guard_signals();
    const enum dti_status status = dti_output_open(&job->attestation, path, false, 0, reterr);
    if (status != DTI_OK && reterr->remedy == DTI_REMEDY_REPLACE) /* it may be an input */
        return dti_fail(reterr, status, "%s exists; remove it, or give another name",
                        DTI_QUOTED(path, strlen(path)));
    return status;
}

static enum dti_status attest(struct verify_job *job, struct dti_json *json,
                              struct dti_error *reterr)
{
    struct dti_buffer text;
    if (!job->attestation || job->verify.problem)
        return DTI_OK;
    dti_buffer_init(&text);
    enum dti_status status = dti_attest(json, &job->verify, &text, reterr);
    if (status == DTI_OK)
        status = dti_output_write(job->attestation, text.data, text.length, reterr);
    dti_buffer_free(&text);
    if (status != DTI_OK)
        return status;
    status = dti_output_commit(job->attestation, reterr);
    job->attestation = NULL;
    if (status == DTI_OK)
        dti_output_is_complete(job->args->attest);
    return status;
}

static enum dti_status verify_init(struct verify_job *ret, const struct verify_args *args,
                                   const struct dti_context *cx, char **operands, int count,
                                   struct dti_error *reterr)
{
    *ret = (struct verify_job){
        .args = args,
        .cx = cx,
        .verify = {.remedy_words = dti_remedy_words,
                   .words = dti_made_words,
                   .recipe_path = args->recipe},
    };
    dti_buffer_init(&ret->recipes.texts);
    enum dti_status status = check_operands(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&ret->verify.reading, &ret->bar, &args->file, cx, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, cx, reterr);
    ret->verify.options = ret->source.logical;
    if (status == DTI_OK)
        status = open_files(ret, operands, reterr);
    return status == DTI_OK ? open_attestation(ret, reterr) : status;
}

/* "differs: w at [0, 3]: expected 1 (0x3f80), found 2 (0x4000)" */
static void put_difference(const struct dti_byte_difference *difference, struct dti_line *line)
{
    const struct dti_verdict *const verdict = difference->verdict;
    const struct dti_tensor *const tensor = &difference->other->tensors[verdict->tensor];
    char place[DTI_SHAPE_SIZE], expected[DTI_TEXT_SIZE], found[DTI_TEXT_SIZE];
    (void)dti_line_safe(line, DTI_STYLE_PLAIN, tensor->name, tensor->name_length);
    if (!verdict->format) {
        dti_line_print(line, DTI_STYLE_PLAIN, " at byte %llu", (unsigned long long)verdict->first);
        return;
    }
    dti_line_print(line, DTI_STYLE_PLAIN, " at %s", dti_place_words(place, tensor, verdict->first));
    struct dti_value made, there;
    dti_decode(verdict->format, verdict->expected, &made);
    dti_decode(verdict->format, verdict->found, &there);
    dti_spell_stored(expected, verdict->format, verdict->expected, &made);
    dti_spell_stored(found, verdict->format, verdict->found, &there);
    dti_line_print(line, DTI_STYLE_PLAIN, ": expected %s (0x%llx), found %s (0x%llx)", expected,
                   (unsigned long long)verdict->expected, found,
                   (unsigned long long)verdict->found);
}

static void human(const struct verify_job *job)
{
    const struct dti_verify *const verify = &job->verify;
    const struct dti_verify_problem *const problem = verify->problem;
    struct dti_line line = {.out = job->cx->out, .colour = job->cx->colour};
    if (!problem) {
        dti_line_print(&line, DTI_STYLE_GOOD, "verified: %zu tensor%s, %llu bytes", verify->tensors,
                       verify->tensors == 1 ? "" : "s", (unsigned long long)verify->bytes);
    } else {
        dti_line_put(&line, DTI_STYLE_BAD, "differs: ");
        if (problem->difference) {
            put_difference(problem->difference, &line);
        } else {
            (void)dti_line_safe(&line, DTI_STYLE_PLAIN, problem->name, problem->name_length);
            dti_line_print(&line, DTI_STYLE_PLAIN, ": %s", problem->reason);
        }
    }
    dti_line_end(&line);
}

static const struct dti_option options[] = {
    OPT_FILE(0, "recipe", struct verify_args, recipe, "FILE",
             "the recipes: a document of 'dtinfo explain --json'", .matters = true),
    OPT_FILE(0, "attest", struct verify_args, attest, "FILE",
             "if all is verified, write an in-toto statement of it", .matters = true),
    DTI_LOGICAL_OPTIONS(struct verify_args, file),
    DTI_LIKE_OPTION(struct verify_args, file),
    DTI_SOURCE_OPTIONS(struct verify_args, file),
    DTI_SHAPE_OPTION(struct verify_args, file),
    DTI_SCAN_OPTIONS(struct verify_args, file),
    OPT_END,
};

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct verify_job job;
    const struct dti_verify *const verify = &job.verify;
    enum dti_status status = verify_init(&job, args, cx, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = dti_verify_run(&job.verify, reterr);
    if (status == DTI_OK)
        status = attest(&job, cx->json, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, verify, verify, reterr);
    else if (status == DTI_OK && !cx->quiet)
        human(&job);
    const bool verified = !verify->problem;
    dti_output_discard(job.attestation);
    dti_verify_free(&job.verify);
    dti_recipe_file_free(&job.recipes);
    return status == DTI_OK && !verified ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}

const struct dti_command dti_command_verify = {
    .name = "verify",
    .group = "files",
    .summary = "check that a file was made from another by given recipes",
    .reads = true,
    .synopsis = "A B --recipe FILE",
    .details = "Makes the tensors of B from those of A again, by the recipes in FILE, and\n"
               "compares every byte. The exit code is 0 if all are the same, and 1 at the\n"
               "first difference. Metadata is not compared. FILE is what 'dtinfo explain\n"
               "--json' writes, or a shorter document written by hand: see the manual.",
    .examples = NULL,
    .schema = "dtinfo.verify/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct verify_args),
    .run = run,
};
