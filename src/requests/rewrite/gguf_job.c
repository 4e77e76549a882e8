/* SPDX-License-Identifier: MIT
 *
 * From a checkpoint to a model in GGUF: which architecture it is, its key-values, the names of its
 * tensors. What is stated counts most, then what the template has, then config.json. */
#include "requests/rewrite/gguf_job.h"

#include <stdio.h>
#include <string.h>

#include "files/model/importance.h"
#include "requests/rewrite/rewrite_job.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

static const char label[] = "the new key-values";

void dti_gguf_job_free(struct dti_gguf_job *gguf)
{
    dti_container_free(gguf->given);
    dti_container_free(gguf->pairs);
    dti_model_view_free(gguf->view);
    dti_model_keys_free(&gguf->keys);
    dti_model_config_free(&gguf->config);
    dti_gguf_edits_free(&gguf->stated);
    dti_gguf_edits_free(&gguf->all);
    dti_free(gguf->places);
}

/* What an architecture's word means for the tensors. */
struct gguf_choice {
    const char *word; /* general.architecture */
    size_t length;
    enum dti_model_arch arch; /* whose names they get; DTI_MODEL_ARCHS: they keep theirs */
};

/* Whether a tensor already has a name of GGUF. */
static bool has_gguf_names(const struct dti_container *container, enum dti_model_arch arch)
{
    struct dti_model_name name;
    for (size_t i = 0; i < container->tensor_count; i++) {
        if (dti_model_name_from_gguf(&name, arch, container->tensors[i].name,
                                     container->tensors[i].name_length))
            return true;
    }
    return false;
}

/* Nothing says what the model is. */
static enum dti_status fail_unknown(const struct dti_rewrite_job *job, const char *class,
                                    size_t length, struct dti_error *reterr)
{
    const struct dti_model_config *const config = &job->gguf.config;
    char archs[128] = "";
    size_t used = 0;
    if (length == 0)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_SET_ARCHITECTURE,
                               "a gguf file has the key-values of a model, and %s%s",
                               config->there ? config->label : "there is no config.json next to ",
                               config->there ? " names no architecture" : "the input");
    for (unsigned i = 0; i < DTI_MODEL_ARCHS && used < sizeof archs; i++)
        used += (size_t)snprintf(archs + used, sizeof archs - used, "%s%s", i > 0 ? ", " : "",
                                 dti_model_arch_name((enum dti_model_arch)i));
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_SET_ARCHITECTURE,
                           "%s: no names and keys are known for the architecture %s, only for %s",
                           config->label, DTI_QUOTED(class, length), archs);
}

static bool states_key(const struct dti_gguf_edits *stated, const char *key)
{
    bool found = false;
    for (size_t i = 0; i < stated->count; i++)
        found = found || dti_text_is(stated->text.data + stated->list[i].at,
                                     stated->list[i].key_length, key);
    return found;
}

static enum dti_status choose(struct dti_rewrite_job *job, const struct dti_container *seen,
                              struct gguf_choice *ret, struct dti_error *reterr)
{
    const struct dti_metadata *const stated =
        dti_gguf_pair_of(job->gguf.given, "general.architecture");
    const char *class;
    size_t length;
    const enum dti_model_arch from_config =
        dti_model_config_arch(&job->gguf.config, &class, &length);
    *ret = (struct gguf_choice){.word = "", .arch = DTI_MODEL_ARCHS};
    if (!stated && from_config == DTI_MODEL_ARCHS) /* a template may lack it, too */
        return job->model ? DTI_OK : fail_unknown(job, class, length, reterr);
    if (stated && stated->kind != DTI_METADATA_STRING)
        return dti_fail(reterr, DTI_USAGE, "general.architecture is a string, as in flux");
    ret->word = stated ? stated->value : dti_model_arch_name(from_config);
    ret->length = stated ? stated->value_length : strlen(ret->word);
    const enum dti_model_arch arch = dti_model_arch_named(ret->word, ret->length);
    if (from_config < DTI_MODEL_ARCHS && arch != from_config &&
        !states_key(&job->gguf.stated, "general.architecture"))
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_SET_ARCHITECTURE,
                               "the template is of the architecture %s, and %s says %s",
                               DTI_QUOTED(ret->word, ret->length), job->gguf.config.label,
                               dti_model_arch_name(from_config));
    if (arch == DTI_MODEL_ARCHS)
        return DTI_OK;
    /* a template with tensors may have any names, if both have the same */
    const bool applies = dti_model_names_apply(seen, arch);
    const bool same = job->model && job->model->tensor_count > 0 &&
                      (!applies || dti_model_names_apply(job->model, arch));
    if (!same && (applies || !has_gguf_names(seen, arch)))
        ret->arch = arch;
    return DTI_OK;
}

static void warn(struct dti_rewrite_job *job, const char *code, const char *text,
                 enum dti_remedy remedy)
{
    const struct dti_note note = {.code = code, .text = text, .remedy = remedy};
    dti_cast_job_warn(&job->job, &note);
}

/* llama.cpp takes the number of words from the tokenizer. */
static void warn_of_words(struct dti_rewrite_job *job, const struct dti_container *seen)
{
    const struct dti_metadata *const tokens =
        dti_gguf_pair_of(job->gguf.pairs, "tokenizer.ggml.tokens");
    char text[192];
    for (size_t i = 0; i < seen->tensor_count && tokens; i++) {
        const struct dti_tensor *const tensor = &seen->tensors[i];
        if (!dti_text_is(tensor->name, tensor->name_length, "token_embd.weight") ||
            tensor->rank == 0 || tensor->shape[0] == tokens->count)
            continue;
        (void)snprintf(text, sizeof text,
                       "the tokenizer has %llu tokens and token_embd.weight %llu rows: llama.cpp "
                       "loads no model with other numbers of both",
                       (unsigned long long)tokens->count, (unsigned long long)tensor->shape[0]);
        warn(job, "tokens_differ", text, DTI_REMEDY_ADD_TOKENIZER);
    }
}

static void warn_of_computed(struct dti_rewrite_job *job)
{
    const size_t count = dti_model_view_computed(job->gguf.view);
    char text[128];
    (void)snprintf(text, sizeof text,
                   "%zu tensor%s of rotary embeddings %s left out: llama.cpp computes them", count,
                   count == 1 ? "" : "s", count == 1 ? "is" : "are");
    if (count > 0)
        warn(job, "computed_tensors", text, DTI_REMEDY_NONE);
}

static void warn_of_choice(struct dti_rewrite_job *job, const struct gguf_choice *choice)
{
    char text[DTI_QUOTE_SIZE + 128];
    if (choice->arch == DTI_MODEL_ARCHS && !job->model &&
        dti_model_arch_named(choice->word, choice->length) == DTI_MODEL_ARCHS &&
        !dti_model_is_image(choice->word, choice->length)) {
        (void)snprintf(text, sizeof text,
                       "no names are known for the architecture %s: tensors keep theirs",
                       DTI_QUOTED(choice->word, choice->length));
        warn(job, "unknown_architecture", text, DTI_REMEDY_NONE);
    }
    if (choice->arch < DTI_MODEL_ARCHS &&
        !dti_gguf_pair_of(job->gguf.pairs, "tokenizer.ggml.model"))
        warn(job, "no_tokenizer",
             "the new file has no tokenizer, without which llama.cpp loads no language model",
             DTI_REMEDY_ADD_TOKENIZER);
}

static const char imatrix_file[] = "quantize.imatrix.file";
static const char imatrix_dataset[] = "quantize.imatrix.dataset";
static const char imatrix_entries[] = "quantize.imatrix.entries_count";
static const char imatrix_chunks[] = "quantize.imatrix.chunks_count";

static void put_count(struct dti_gguf_edits *edits, const char *key, uint64_t count)
{
    if (count > 0 && count <= UINT32_MAX)
        dti_gguf_edits_number(edits, key, DTI_GGUF_UINT32, count);
    else
        dti_gguf_edits_remove(edits, key);
}

static void put_text(struct dti_gguf_edits *edits, const char *key, const char *text, size_t length)
{
    if (text && dti_utf8_valid(text, length))
        dti_gguf_edits_string(edits, key, text, length);
    else
        dti_gguf_edits_remove(edits, key);
}

/* The keys by which llama-quantize says what the weights are from, in place of those of an earlier
 * matrix. Of the path only the last part: folders are those of this machine. */
static void put_importance(struct dti_gguf_edits *edits, const struct dti_importance *importance)
{
    if (!importance)
        return;
    const struct dti_importance_facts facts = dti_importance_facts(importance);
    const char *const path = dti_importance_path(importance), *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    put_text(edits, imatrix_file, name, strlen(name));
    put_text(edits, imatrix_dataset, facts.dataset, facts.dataset_length);
    put_count(edits, imatrix_entries, facts.entries);
    put_count(edits, imatrix_chunks, facts.chunks);
}

/* The key-values that no template has. */
static enum dti_status put_keys(struct dti_rewrite_job *job, const struct gguf_choice *choice,
                                struct dti_error *reterr)
{
    struct dti_gguf_job *const gguf = &job->gguf;
    enum dti_status status = DTI_OK;
    if (choice->length > 0 && !(job->model && dti_gguf_pair_of(job->model, "general.architecture")))
        dti_gguf_edits_string(&gguf->all, "general.architecture", choice->word, choice->length);
    if (!job->model) {
        if (choice->arch < DTI_MODEL_ARCHS)
            dti_gguf_edits_string(&gguf->all, "general.type", "model", 5);
        dti_gguf_edits_number(&gguf->all, "general.file_type", DTI_GGUF_UINT32, 0);
    }
    if (choice->arch < DTI_MODEL_ARCHS)
        status = dti_model_keys_read(&gguf->keys, &gguf->config, choice->arch, gguf->given, reterr);
    if (status == DTI_OK)
        dti_gguf_edits_append(&gguf->all, &gguf->keys.edits);
    return status;
}

/* The view of the checkpoint as GGUF has it. With a template whose names are those of the input,
 * there is none: the template says what the tensors are. */
static enum dti_status make_view(struct dti_rewrite_job *job, struct dti_container *seen,
                                 const struct gguf_choice *choice, struct dti_error *reterr)
{
    struct dti_gguf_job *const gguf = &job->gguf;
    const struct dti_model_member *const tied =
        dti_model_config_find(&gguf->config, "tie_word_embeddings");
    const struct dti_model_view_request request = {
        .untied = tied && tied->json[0] == 'f',
        .select = job->tensors->select,
        .arch = choice->arch,
        .word = choice->word,
        .word_length = choice->length,
        .made = gguf->keys.made,
        .made_count = gguf->keys.made_count,
    };
    if (choice->arch == DTI_MODEL_ARCHS && job->model)
        return DTI_OK;
    return dti_model_view_new(&gguf->view, seen, &request, &gguf->all, reterr);
}

/* Makes the key-values of the new file. base: those that are changed, or NULL. */
static enum dti_status make_pairs(struct dti_rewrite_job *job, struct dti_container *base,
                                  struct dti_error *reterr)
{
    struct dti_gguf_job *const gguf = &job->gguf;
    const enum dti_status status =
        dti_gguf_edits_apply(&gguf->all, base, label, &gguf->pairs, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_container *const pairs = gguf->pairs;
    pairs->stored = base;
    pairs->pairs.new_file_type = !base;
    if (states_key(&gguf->stated, "general.file_type")) /* it stays */
        pairs->pairs.file_type_at = 0;
    job->request.model = pairs;
    return DTI_OK;
}

/* The tensors in the order of the template, if it has any. */
static enum dti_status match_template(struct dti_rewrite_job *job, struct dti_container **seen,
                                      struct dti_error *reterr)
{
    struct dti_rewrite_request *const request = &job->request;
    struct dti_gguf_job *const gguf = &job->gguf;
    if (!job->model || (gguf->view && job->model->tensor_count == 0))
        return DTI_OK;
    const enum dti_status status = dti_model_template_init(&job->match, *seen, job->model, reterr);
    if (status != DTI_OK)
        return status;
    const size_t count = job->match.view.tensor_count;
    if (!gguf->view) {
        request->whole = *seen;
        request->places = job->match.places;
    } else {
        gguf->places = dti_calloc(count + 1, sizeof *gguf->places);
        if (!gguf->places)
            return dti_no_memory(reterr);
        for (size_t i = 0; i < count; i++)
            gguf->places[i] = request->places[job->match.places[i]];
        request->places = gguf->places;
        request->model_places = job->match.places;
    }
    *seen = &job->match.view;
    return DTI_OK;
}

static void use_view(struct dti_rewrite_job *job, struct dti_container **seen)
{
    struct dti_rewrite_request *const request = &job->request;
    request->whole = *seen;
    request->places = dti_model_view_places(job->gguf.view);
    request->model_view = job->gguf.view;
    request->select = NULL; /* the view has only what is selected */
    *seen = dti_model_view_container(job->gguf.view);
}

static enum dti_status make_model(struct dti_rewrite_job *job, struct dti_container **seen,
                                  struct dti_error *reterr)
{
    struct dti_gguf_job *const gguf = &job->gguf;
    struct gguf_choice choice;
    enum dti_status status =
        dti_gguf_edits_apply(&gguf->stated, job->model, label, &gguf->given, reterr);
    if (status == DTI_OK)
        status = dti_model_config_read(&gguf->config, job->container, reterr);
    if (status == DTI_OK)
        status = choose(job, *seen, &choice, reterr);
    if (status == DTI_OK)
        status = put_keys(job, &choice, reterr);
    if (status == DTI_OK)
        status = make_view(job, *seen, &choice, reterr);
    if (status != DTI_OK)
        return status;
    put_importance(&gguf->all, job->request.encode.importance);
    dti_gguf_edits_append(&gguf->all, &gguf->stated);
    if (gguf->all.count > 0)
        status = make_pairs(job, job->model, reterr);
    if (status != DTI_OK || !gguf->view)
        return status;
    use_view(job, seen);
    warn_of_choice(job, &choice);
    warn_of_words(job, *seen);
    warn_of_computed(job);
    return dti_model_view_settle(gguf->view, job->request.model, reterr);
}

/* From GGUF to another kind of file: the shapes that GGUF could not hold come back. */
static enum dti_status restore_shapes(struct dti_rewrite_job *job, struct dti_container **seen,
                                      struct dti_error *reterr)
{
    if (!dti_is_gguf(job->container->kind) || job->request.transcode)
        return DTI_OK;
    const enum dti_status status =
        dti_model_view_shapes(&job->gguf.view, *seen, job->tensors->select, reterr);
    if (status == DTI_OK && job->gguf.view)
        use_view(job, seen);
    return status;
}

enum dti_status dti_gguf_job_apply(struct dti_rewrite_job *job, struct dti_container **seen,
                                   struct dti_error *reterr)
{
    struct dti_gguf_job *const gguf = &job->gguf;
    const struct dti_tensor_args *const args = job->tensors;
    const bool states = args->set.count > 0 || args->set_from;
    job->request.model = job->model ? job->model : job->container;
    if (!dti_is_gguf(job->target.kind))
        return !states ? restore_shapes(job, seen, reterr)
                       : dti_fail(reterr, DTI_USAGE,
                                  "--%s is for gguf files; give -o a name that ends in .gguf",
                                  args->set.count > 0 ? "set" : "set-from");
    dti_gguf_edits_init(&gguf->stated);
    dti_gguf_edits_init(&gguf->all);
    enum dti_status status = dti_gguf_settings(&gguf->stated, &args->set, args->set_from, reterr);
    if (status == DTI_OK && !dti_is_gguf(job->container->kind)) {
        status = make_model(job, seen, reterr);
    } else if (status == DTI_OK && (states || job->request.encode.importance)) {
        put_importance(&gguf->all, job->request.encode.importance);
        dti_gguf_edits_append(&gguf->all, &gguf->stated);
        status = make_pairs(job, job->model ? job->model : job->container, reterr);
    }
    return status == DTI_OK ? match_template(job, seen, reterr) : status;
}
