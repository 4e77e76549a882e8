/* SPDX-License-Identifier: MIT
 *
 * Measures a model: for each format of the menu `quant` runs as if it wrote the whole model in this
 * format, watched, with nothing written. So bytes and errors are those of what `quant` writes. */
#include <stdio.h>
#include <string.h>

#include "files/advise/advise_loaders.h"
#include "files/advise/tensor_errors.h"
#include "files/config/tied_output.h"
#include "io/input.h"
#include "requests/advise/advise_args.h"
#include "requests/quant/quant_args.h"
#include "util/run/allocate.h"

struct measuring {
    const struct dti_advise_work *work;
    struct dti_measured *measured;
    struct dti_advise *advise; /* of the size; else NULL */
    struct dti_tensor_errors *errors;
    struct dti_error_watch watch;
    size_t format;
};

static void ignore(void *context, const struct dti_note *note)
{
    (void)context;
    (void)note;
}

/* Before the numbers are read: the shapes are known. */
static enum dti_status pass(struct dti_rewrite_job *job, struct dti_rewrite_options *options,
                            struct dti_error *reterr)
{
    struct measuring *const measuring = job->front->context;
    const struct dti_advise_work *const work = measuring->work;
    const enum dti_status status =
        dti_tensor_errors_new(&measuring->errors, job->rewrite->container, reterr);
    if (status != DTI_OK)
        return status;
    measuring->watch.context = measuring->errors;
    return work->pass ? work->pass(job, options, reterr)
                      : dti_rewrite_job_pass(job, options, NULL, reterr);
}

/* The tensors of the new file, as the first format finds them. */
static enum dti_status list_tensors(const struct dti_rewrite *rewrite,
                                    struct dti_measured *measured, struct dti_error *reterr)
{
    const struct dti_container *const container = rewrite->container;
    enum dti_status status = dti_measured_alloc(measured, container->tensor_count, reterr);
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct dti_measured_tensor *const to = &measured->tensors[i];
        to->name = dti_pool_text(&measured->pool, tensor->name, tensor->name_length);
        to->name_length = tensor->name_length;
        to->rank = tensor->rank;
        to->elements = tensor->elements;
        uint64_t *const shape = dti_pool_array(&measured->pool, tensor->rank, sizeof *shape);
        to->bytes = tensor->bytes;
        to->dtype =
            dti_pool_text(&measured->pool, tensor->format->name, strlen(tensor->format->name));
        if (!to->name || !to->dtype || !shape)
            return dti_no_memory(reterr);
        if (tensor->rank > 0)
            memcpy(shape, tensor->shape, tensor->rank * sizeof *shape);
        to->shape = shape;
    }
    return status;
}

/* One tensor in the format. */
static enum dti_status take(const struct measuring *measuring, const struct dti_rewrite *rewrite,
                            size_t at, struct dti_error *reterr)
{
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    struct dti_measured_tensor *const to = &measuring->measured->tensors[tensor->source];
    struct dti_measured_figure *const figure =
        dti_measured_at(measuring->measured, tensor->source, measuring->format);
    const bool taken =
        tensor->fate == DTI_FATE_CHANGED && (tensor->way->type || dti_is_quantized(tensor));
    if (!taken && !to->taken) { /* numbers may be stored in another dtype than they have */
        const char *const dtype = tensor->way->format->name;
        to->bytes = dti_rewrite_bytes(rewrite, at);
        if (strcmp(to->dtype, dtype) != 0)
            to->dtype = dti_pool_text(&measuring->measured->pool, dtype, strlen(dtype));
        if (!to->dtype)
            return dti_no_memory(reterr);
    }
    const struct dti_tensor_error *const error =
        dti_tensor_errors_of(measuring->errors, tensor->source);
    if (!taken || !error->there)
        return DTI_OK;
    const struct dti_rewrite_outcome *const outcome = dti_rewrite_outcome(rewrite, at);
    *figure = (struct dti_measured_figure){
        .there = true,
        .bytes = dti_rewrite_bytes(rewrite, at),
        .clipped = tensor->way->type ? outcome->loss.overflowed : outcome->quantized.count.clipped,
        .to_zero = outcome->loss.to_zero,
        .error = *error,
    };
    if (!to->taken) {
        const struct dti_tensor *const source = &rewrite->container->tensors[tensor->source];
        to->bytes = source->bytes;
        to->taken = true;
    }
    return DTI_OK;
}

static enum dti_status report(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct measuring *const measuring = job->front->context;
    const struct dti_rewrite *const rewrite = job->rewrite;
    enum dti_status status = DTI_OK;
    if (measuring->advise) {
        measuring->advise->bytes = rewrite->output_bytes;
        measuring->advise->file_bytes = rewrite->files.bytes;
        return dti_advise_document(measuring->advise->form, rewrite, &measuring->advise->document,
                                   reterr);
    }
    if (!measuring->errors) /* no tensor is read */
        status = dti_tensor_errors_new(&measuring->errors, rewrite->container, reterr);
    if (status == DTI_OK && !measuring->measured->tensors)
        status = list_tensors(rewrite, measuring->measured, reterr);
    if (status == DTI_OK)
        status = dti_tensor_errors_end(measuring->errors, reterr);
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++)
        status = take(measuring, rewrite, i, reterr);
    dti_tensor_errors_free(measuring->errors);
    measuring->errors = NULL;
    return status;
}

/* The matrices of a safetensors model that the loader loads quantized. GGUF: `quant` knows them. */
static enum dti_status list_named(const struct dti_advise_work *work, struct dti_named_types *ret,
                                  struct dti_error *reterr)
{
    const struct dti_container *const container = work->container;
    ret->list = dti_calloc(container->tensor_count + 1, sizeof *ret->list);
    if (!ret->list)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (dti_advise_takes(work->row, tensor) && !dti_tensor_fits(work->args->keep, tensor) &&
            !(work->tied && dti_is_output_layer(tensor)))
            ret->list[ret->count++] =
                (struct dti_named_type){.name = tensor->name, .length = tensor->name_length};
    }
    (void)dti_named_types_sort(ret);
    return DTI_OK;
}

/* Whether any format of a list "*=int8,*=mxfp4" has no blocks, so that --per means something. */
static bool any_affine(const char *list)
{
    bool any = false;
    for (const char *at = list; at; at = strchr(at, ',')) {
        char word[32] = "";
        at += at > list;
        at += at[0] == '*' ? 2 : 0;
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        any = any || !dti_block_lookup(word);
    }
    return any;
}

/* Runs `quant` without output. types: as of --type, one for each type of the choice. */
static enum dti_status run_quant(struct measuring *measuring,
                                 const struct dti_quant_by_name *choice, const char *dtype,
                                 const char *types, struct dti_error *reterr)
{
    const struct dti_advise_work *const work = measuring->work;
    struct dti_asker asker = *work->asker;
    asker.document = false;
    asker.quiet = true;
    asker.warn = ignore;
    const struct dti_rewrite_front front = {
        .asker = &asker,
        .context = measuring,
        .cx = work->cx,
        .pass = pass,
        .report = report,
    };
    const bool channels = work->row->channels && any_affine(types ? types : dtype);
    const struct quant_args args = {
        .recipe = {.layout = (int)work->row->layout,
                   .per_given = channels,
                   .rules = {.per = channels ? DTI_PER_CHANNEL : 0}},
        .choice = choice,
        .transfer = {.threads = work->args->transfer.threads,
                     .progress = work->args->transfer.progress,
                     .progress_given = work->args->transfer.progress_given},
        .tensors = {.keep = choice->named && work->row->gguf ? NULL : work->args->keep,
                    .max_memory = work->args->max_memory,
                    .dry_run = true},
        .types = types,
    };
    const enum dti_status status =
        dti_quant_file_run(&args, &front, measuring->measured->path, dtype, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_ALLOW_KEEP)
        reterr->remedy = DTI_REMEDY_CORRECT_KEEP; /* the other names an option of quant alone */
    return status;
}

static enum dti_status measure_all(const struct dti_advise_work *work,
                                   struct dti_measured *measured, struct dti_error *reterr)
{
    enum { WORDS = 64 };
    struct measuring measuring = {
        .work = work, .measured = measured, .watch = {.add = dti_tensor_errors_add}};
    struct dti_named_types named = {.list = NULL};
    struct dti_quant_by_name choice = {
        .gguf = work->row->gguf, .skips_unfit = true, .watch = &measuring.watch};
    enum dti_status status = DTI_OK;
    if (!work->row->gguf) {
        status = list_named(work, &named, reterr);
        choice.named = &named;
    }
    for (; measuring.format < measured->format_count && status == DTI_OK; measuring.format++) {
        char types[WORDS];
        const char *const format = measured->formats[measuring.format];
        (void)snprintf(types, sizeof types, "*=%s", format);
        status = run_quant(&measuring, &choice, format, work->row->gguf ? NULL : types, reterr);
    }
    dti_tensor_errors_free(measuring.errors);
    dti_free(named.list);
    return status;
}

/* The digest of the input: of several files, that of their digests. */
static enum dti_status find_digest(const struct dti_container *container, char ret[DTI_DIGEST_TEXT],
                                   struct dti_error *reterr)
{
    const size_t count = dti_digest_count(container);
    struct dti_digest whole, *const digests = dti_calloc(count + 1, sizeof *digests);
    if (!digests)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_digest_files(container, digests, NULL, NULL, reterr);
    if (count == 1)
        whole = digests[0];
    else
        dti_digest_bytes(digests, count * sizeof *digests, &whole);
    if (status == DTI_OK)
        (void)dti_digest_spell(ret, &whole);
    dti_free(digests);
    return status;
}

static bool same_texts(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* Takes the figures of the menu's formats from measurements of the same input. */
static enum dti_status take_file(const struct dti_measured *file, struct dti_measured *measured,
                                 const char *path, struct dti_error *reterr)
{
    const char *const quoted = DTI_QUOTED(path, strlen(path));
    if (strcmp(file->digest, measured->digest) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has the measurements of another input; give the name of a new file",
                        quoted);
    if (strcmp(file->loader, measured->loader) != 0 || !same_texts(file->keep, measured->keep))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has measurements for another --loader or --keep; give the name of a "
                        "new file",
                        quoted);
    enum dti_status status = dti_measured_alloc(measured, file->tensor_count, reterr);
    for (size_t f = 0; f < measured->format_count && status == DTI_OK; f++) {
        size_t from = 0;
        while (from < file->format_count && strcmp(file->formats[from], measured->formats[f]) != 0)
            from++;
        if (from == file->format_count)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s has no measurements of %s; leave it out of --menu, or give the "
                            "name of a new file",
                            quoted, measured->formats[f]);
        for (size_t i = 0; i < file->tensor_count; i++)
            *dti_measured_at(measured, i, f) = *dti_measured_at(file, i, from);
    }
    for (size_t i = 0; i < file->tensor_count && status == DTI_OK; i++) {
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        *tensor = file->tensors[i];
        tensor->taken = false;
        for (size_t f = 0; f < measured->format_count; f++)
            tensor->taken = tensor->taken || dti_measured_at(measured, i, f)->there;
    }
    return status;
}

enum dti_status dti_advise_measure(const struct dti_advise_work *work, struct dti_advise *advise,
                                   struct dti_error *reterr)
{
    struct dti_measured *const measured = &advise->measured;
    const char *const path = work->args->measurements;
    enum dti_status status = path ? find_digest(work->container, measured->digest, reterr) : DTI_OK;
    if (status == DTI_OK && path && dti_input_there(path) == 0) {
        status = dti_measured_read(&advise->file, path, reterr);
        return status == DTI_OK ? take_file(&advise->file, measured, path, reterr) : status;
    }
    if (status == DTI_OK)
        status = measure_all(work, measured, reterr);
    return status == DTI_OK && path && work->save ? work->save(work, measured, reterr) : status;
}

/* A type for each format, in the order of the measurements: "*=int8,*=mxfp4". */
static enum dti_status join_types(const struct dti_measured *measured, struct dti_buffer *ret,
                                  struct dti_error *reterr)
{
    for (size_t i = 0; i < measured->format_count; i++) {
        dti_buffer_puts(ret, i > 0 ? ",*=" : "*=");
        dti_buffer_puts(ret, measured->formats[i]);
    }
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_advise_size(const struct dti_advise_work *work, struct dti_advise *advise,
                                struct dti_error *reterr)
{
    struct dti_measured *const measured = &advise->measured;
    struct measuring measuring = {.work = work, .measured = measured, .advise = advise};
    struct dti_named_types named = {.list =
                                        dti_calloc(measured->tensor_count + 1, sizeof *named.list)};
    const struct dti_quant_by_name choice = {.named = &named, .gguf = work->row->gguf};
    struct dti_buffer types;
    dti_buffer_init(&types);
    enum dti_status status =
        named.list ? join_types(measured, &types, reterr) : dti_no_memory(reterr);
    for (size_t i = 0; i < measured->tensor_count && status == DTI_OK; i++) {
        const struct dti_measured_tensor *const tensor = &measured->tensors[i];
        const size_t format = dti_advise_format_of(advise, i);
        if (format < measured->format_count)
            named.list[named.count++] = (struct dti_named_type){
                .name = tensor->name, .length = tensor->name_length, .type = (uint32_t)format};
    }
    (void)dti_named_types_sort(&named);
    if (status == DTI_OK)
        status = run_quant(&measuring, &choice, measured->formats[0], types.data, reterr);
    dti_buffer_free(&types);
    dti_free(named.list);
    return status;
}
