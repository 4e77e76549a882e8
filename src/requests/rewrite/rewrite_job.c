/* SPDX-License-Identifier: MIT
 *
 * The work of a rewrite: opens the input, plans, opens the output, rewrites, gives it its final
 * name, reports. */
#include "requests/rewrite/rewrite_job.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/common.h"
#include "requests/amount.h"
#include "requests/rewrite/leftover_words.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

/* Whether the output is GGUF although it has no name. */
static bool makes_gguf(const struct dti_rewrite_job *job)
{
    const struct dti_file_transcode *const transcode = job->request.transcode;
    const struct dti_tensor_args *const args = job->tensors;
    return !job->out_path &&
           (job->model || args->set.count > 0 || args->set_from ||
            job->request.recipe == DTI_RECIPE_ENCODE ||
            (transcode && dti_file_transcode_request(transcode)->layout == DTI_TRANSCODE_GGUF));
}

static enum dti_container_kind form_of(const struct dti_rewrite_job *job)
{
    const struct dti_transfer_args *const args = job->transfer;
    static const enum dti_container_kind kinds[] = {
#define ARRAY_FORM(id, word, kind, ...) [DTI_AS_##id] = DTI_CONTAINER_##kind,
#define FORM                            ARRAY_FORM
#include "requests/rewrite/file_forms.def"
#undef ARRAY_FORM
#undef FORM
    };
    return args->as_given    ? kinds[args->as]
           : makes_gguf(job) ? dti_container_first(DTI_TRAIT_GGML)
                             : DTI_CONTAINER_COUNT;
}

/* Whether the output is the folder of the input. */
static bool is_source(const struct dti_rewrite_job *job)
{
    const char *const first = job->container->files[0].path, *const slash = strrchr(first, '/');
    const char *const to = job->target.folder;
    char *const from = slash ? dti_strndup(first, (size_t)(slash - first) + 1) : dti_strdup(".");
    struct stat input = {0}, output = {0};
    const bool same = from && stat(from, &input) == 0 &&
                      stat(to[0] != '\0' ? to : ".", &output) == 0 &&
                      input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    dti_free(from);
    return same;
}

/* Rejects the name of a model part, and reads --max-shard-size, for GGUF and shards. */
static enum dti_status check_size(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const char *const path = job->out_path;
    const char *const size = job->tensors->shard_size;
    struct dti_gguf_part_name named;
    char quoted[DTI_QUOTE_SIZE];
    if (size && !dti_is_gguf(job->target.kind) && !dti_is_sharded(job->target.kind))
        return dti_fail(reterr, DTI_USAGE,
                        "--max-shard-size is for gguf files and folders of shards; give -o a name "
                        "that ends in %s, or a folder, as in 'out/', or leave it out",
                        dti_container_extension(dti_container_first(DTI_TRAIT_GGML)));
    if (size && (job->request.finish || job->request.part.count > 0))
        return dti_fail(reterr, DTI_USAGE,
                        "%s divides the shards of the input, and --max-shard-size makes others; "
                        "leave one of them out",
                        job->request.finish ? "--finish" : "--part");
    if (path && dti_is_gguf(job->target.kind) && dti_gguf_part_named(dti_path_base(path), &named))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is the name of one part of a model; give -o a name without its "
                        "numbers, and --max-shard-size to write parts",
                        dti_quote(quoted, path, strlen(path)));
    return !size ? DTI_OK
                 : dti_amount_bytes("--max-shard-size", size, strlen(size),
                                    &job->request.most_bytes, reterr);
}

/* Parts are whole shards. */
static enum dti_status check_shared(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const char *const option = job->request.finish ? "--finish" : "--part";
    char quoted[DTI_QUOTE_SIZE];
    if (!job->request.finish && job->request.part.count == 0)
        return DTI_OK;
    if (!dti_container_has(job->container->kind, DTI_TRAIT_FOLDER))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is for folders of shards, and %s is one file; leave it out", option,
                        dti_quote(quoted, job->path, strlen(job->path)));
    if (!dti_is_sharded(job->target.kind))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is for folders of shards, and the output is one file; use -o with a "
                        "folder, as in 'out/'",
                        option);
    if (!job->out_path && job->request.finish)
        return dti_fail(reterr, DTI_USAGE,
                        "missing output; give -o FOLDER, which has the shards of all parts");
    if (job->out_path && is_source(job))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is the folder that all parts read, so none writes there; use -o with "
                        "another name",
                        dti_quote(quoted, job->out_path, strlen(job->out_path)));
    return DTI_OK;
}

static enum dti_status choose_target(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    enum dti_status status =
        dti_file_target_choose(job->container, job->model, job->out_path, form_of(job),
                               (struct dti_target_way){.states = job->verb->states,
                                                       .cuts = job->tensors->shard_size != NULL},
                               &job->target, reterr);
    if (status == DTI_OK)
        status = check_size(job, reterr);
    if (status != DTI_OK)
        return status;
    const bool parts = !dti_container_has(job->target.kind, DTI_TRAIT_BARE | DTI_TRAIT_REMADE);
    if (job->request.recipe != DTI_RECIPE_QUANTIZE || parts)
        return check_shared(job, reterr);
    char endings[DTI_ENDINGS_SIZE];
    return dti_fail(reterr, DTI_USAGE,
                    "%s files do not hold codes and scales; give a name that ends in %s, or use "
                    "--as",
                    dti_container_name(job->target.kind), dti_file_endings(endings, NULL, NULL));
}

/* The file whose metadata the new one takes over. */
static enum dti_status open_template(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const char *const path = job->tensors->model;
    char quoted[DTI_QUOTE_SIZE];
    const enum dti_status status =
        path ? dti_container_open(&job->model, path, NULL, reterr) : DTI_OK;
    if (status != DTI_OK || !path || dti_is_gguf(job->model->kind))
        return status;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "%s is %s, and a template is a gguf file of the same model; leave out "
                    "--template",
                    dti_quote(quoted, path, strlen(path)), dti_container_name(job->model->kind));
}

/* Decides the fate of each tensor and the kind of the new files. */
static enum dti_status plan(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_rewrite_request *const request = &job->request;
    enum dti_status status = open_template(job, reterr);
    if (status == DTI_OK)
        status = choose_target(job, reterr);
    if (status != DTI_OK)
        return status;
    request->only = job->tensors->only;
    request->keep = job->tensors->keep;
    request->select = job->tensors->select;
    request->allow_unmatched = job->tensors->allow_unmatched;
    request->companions = !job->tensors->no_copy;
    request->counted =
        job->shown ||
        ((request->recipe == DTI_RECIPE_QUANTIZE || request->recipe == DTI_RECIPE_ENCODE) &&
         (job->fail_on != 0 || request->watch));
    request->kind = job->target.kind;
    request->path = dti_file_target_path(&job->target, job->out_path);
    request->index = job->target.index;
    request->warn = dti_cast_job_warn;
    request->warn_context = &job->job;
    request->cast.runner = job->job.device.runner;
    struct dti_container *seen = request->transcode
                                     ? dti_file_transcode_container(request->transcode)
                                 : request->dequant ? dti_file_dequant_container(request->dequant)
                                                    : job->container;
    for (size_t i = 0; i < seen->note_count; i++)
        dti_cast_job_warn(&job->job, &seen->notes[i]);
    if (request->finish || request->part.count > 0) {
        if (!dti_rewrite_recipe(job))
            return dti_no_memory(reterr);
        request->part_recipe = job->recipe.data;
    }
    status = dti_gguf_job_apply(job, &seen, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_new(&job->rewrite, seen, request, reterr);
    if (status == DTI_OK)
        dti_cast_device_plans(&job->job.device, job->rewrite);
    if (status != DTI_OK || !job->to_text)
        return status;
    job->rewrite->files.list[0].size = job->rewrite->files.bytes = 0; /* not known */
    if (job->rewrite->tensors[0].way->format->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "complex numbers cannot be written as text; --as npy keeps them");
    return DTI_OK;
}

enum dti_status dti_rewrite_job_pass(struct dti_rewrite_job *job,
                                     const struct dti_rewrite_options *options,
                                     dti_rewrite_text_fn *text, struct dti_error *reterr)
{
    const bool as_text = job->to_text && !job->tensors->dry_run;
    assert(text || !as_text); /* the library has no text */
    const enum dti_status status =
        as_text ? text(job, options, reterr) : dti_rewrite_run(job->rewrite, options, reterr);
    job->losses = status == DTI_OK;
    return job->losses ? dti_rewrite_warn_of_zeros(job->rewrite, options, reterr) : status;
}

static enum dti_status run_rewrite(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    if (job->to_text)
        job->threads = 1;
    else if (job->threads == 0)
        job->threads = dti_cast_device_threads(&job->job.device, 0);
    if (job->threads == 0)
        job->threads = dti_amount_useful_threads(job->rewrite->input_bytes);
    const size_t most = job->front->asker->threads;
    if (most > 0 && job->threads > most)
        job->threads = most;
    enum dti_status status = DTI_OK;
    if (job->threads > 1)
        status = dti_team_new(&team, job->threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_rewrite_options options = {.team = team, .max_memory = job->max_memory};
    status = job->front->pass ? job->front->pass(job, &options, reterr)
                              : dti_rewrite_job_pass(job, &options, NULL, reterr);
    dti_team_free(team);
    return status;
}

/* Reports leftovers of killed runs; removes them with --force. */
static enum dti_status clear(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    const enum dti_status status =
        dti_new_files_leftovers(&job->rewrite->files, job->transfer->force, &leftovers, reterr);
    if (status == DTI_OK)
        dti_output_warn_leftovers(&leftovers, job->out_path, dti_cast_job_warn, &job->job);
    return status;
}

/* Whether the parts have written what they should; "no" is an error. */
static enum dti_status check_parts(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_error error;
    if (!job->request.finish)
        return DTI_OK;
    const enum dti_status status = dti_new_files_complete(
        &job->rewrite->files, job->tensors->check_parts, dti_cast_job_warn, &job->job, &error);
    if (status != DTI_ANSWER_NO) {
        if (status != DTI_OK && reterr)
            *reterr = error;
        return status;
    }
    if (job->front->incomplete)
        return job->front->incomplete(job, &error, reterr);
    if (reterr)
        *reterr = error;
    return DTI_ANSWER_NO;
}

static enum dti_status work(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_new_files *const files = &job->rewrite->files;
    const bool force = job->transfer->force;
    job->output_bytes = files->bytes;
    enum dti_status status = check_parts(job, reterr);
    if (status != DTI_OK)
        return status;
    if (job->tensors->dry_run) {
        if (job->out_path)
            status = dti_new_files_check(files, force, reterr);
        if (status == DTI_OK)
            dti_new_files_warn_old(files, dti_cast_job_warn, &job->job);
        const bool reads = job->fail_on != 0 || job->request.watch;
        return status == DTI_OK && reads ? run_rewrite(job, reterr) : status;
    }
    if (job->front->begin)
        job->front->begin(job);
    if (!job->to_text || !job->to_stdout) { /* text goes through the buffer of stdout */
        status = clear(job, reterr);
        if (status == DTI_OK)
            status = dti_rewrite_open(job->rewrite, force, reterr);
        if (status == DTI_OK)
            dti_new_files_warn_old(files, dti_cast_job_warn, &job->job);
    }
    if (status == DTI_OK)
        status = run_rewrite(job, reterr);
    if (status == DTI_OK && dti_new_files_are_open(files)) {
        status = dti_new_files_commit(files, reterr);
        job->complete = status == DTI_OK;
    }
    if (job->complete && job->front->complete)
        job->front->complete(job);
    return status;
}

static void fill_answer(struct dti_rewrite_job *job)
{
    job->answer = (struct dti_rewrite_answer){
        .path = job->path,
        .out_path = job->out_path,
        .rewrite = job->rewrite,
        .dry_run = job->tensors->dry_run,
        .losses = !job->tensors->dry_run,
        .threads = job->threads,
        .warnings = &job->job.warnings,
        .stream = job->front->stream,
        .text = job->to_text,
        .text_bytes = job->output_bytes,
        .bits = job->view.bits,
        .block = job->view.block,
    };
    if (job->verb->describe)
        job->verb->describe(job);
    dti_rewrite_answer_fill(&job->answer);
}

bool dti_rewrite_aside(const struct dti_rewrite_job *job)
{
    return job->to_stdout && !job->tensors->dry_run;
}

static void end(struct dti_rewrite_job *job)
{
    dti_rewrite_free(job->rewrite); /* freed before the container that it reads */
    dti_file_transcode_free(job->request.transcode);
    dti_model_template_free(&job->match);
    dti_gguf_job_free(&job->gguf);
    dti_file_dequant_free(job->request.dequant);
    dti_container_free(job->container);
    dti_container_free(job->model);
    dti_file_target_free(&job->target);
    dti_buffer_free(&job->recipe);
    dti_cast_job_free(&job->job);
}

enum dti_status dti_rewrite_job_run(struct dti_rewrite_job *job, enum dti_status status,
                                    struct dti_error *reterr)
{
    if (status == DTI_OK)
        status = dti_container_open(&job->container, job->path, &job->source.options, reterr);
    if (status == DTI_OK)
        status = dti_cast_device_open(&job->job.device, reterr);
    if (status == DTI_OK && job->verb->open)
        status = job->verb->open(job, reterr);
    if (status == DTI_OK)
        status = plan(job, reterr);
    if (status == DTI_OK)
        status = work(job, reterr);
    if (status == DTI_OK) {
        dti_cast_device_warn(&job->job);
        fill_answer(job);
        status = job->front->report(job, reterr);
    }
    const bool fails = status == DTI_OK && job->verb->fails(job);
    end(job);
    return fails ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
