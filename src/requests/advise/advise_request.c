/* SPDX-License-Identifier: MIT
 *
 * The work of `advise`: the menu, the measurements, the weights, the choice, the plan. */
#include <stdio.h>
#include <string.h>

#include "files/config/tied_output.h"
#include "files/scan/file_digest.h"
#include "files/stored/tensor_choice.h"
#include "requests/advise/advise_args.h"
#include "requests/fit_bytes.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static const struct dti_choice loader_choices[] = {
#define ADVISE_LOADER(id, name_, written, layout, channels, modules, experts, stacks, kept, menu, \
                      help_)                                                                      \
    {.name = name_, .value = DTI_ADVISE_##id, .help = help_},
#include "files/advise/advise_loaders.def"
    {.name = NULL},
};

/* Words of --menu that name several dtypes of `quant`. */
static const struct {
    char word[8], format[12];
} menu_words[] = {{"fp8", "fp8_e4m3fn"}, {"mxfp8", "mxfp8_e4m3"}};

const struct dti_option dti_advise_options[] = {
    OPT_TEXT(0, "fit", struct advise_args, fit, "SIZE",
             "the tensors of the new file must fit into that many bytes: 24GB, 24GiB",
             .matters = true),
    OPT_CHOICE(0, "loader", struct advise_args, loader, loader_given, "LOADER", loader_choices,
               "the program that will load the model; by default llama.cpp for gguf, else vllm",
               .matters = true),
    OPT_TEXT(0, "menu", struct advise_args, menu, "FORMAT,...",
             "the formats to choose from: those of quant, and 'stored' or the dtype of the input",
             .matters = true),
    OPT_GLOB(0, "keep", struct advise_args, keep, "GLOB,...", "tensors that stay as they are",
             .matters = true),
    OPT_FILE(0, "weights", struct advise_args, weights, "FILE",
             "weights of errors: an importance matrix, a .csv of NAME,NUMBER, the .json of "
             "exllamav3's measurement, or the .pth of ModelOpt's auto_quantize"),
    OPT_FILE(0, "measurements", struct advise_args, measurements, "FILE",
             "take the measurements from this file; if it does not exist, write them"),
    OPT_FILE('o', "output", struct advise_args, transfer.output, "FILE",
             "the plan to write, which dtinfo quant executes", .matters = true),
    OPT_FILE(0, "svg", struct advise_args, svg, "FILE", "write the picture of all sizes as SVG"),
    OPT_TEXT(0, "as", struct advise_args, form, "FORM",
             "what -o writes: plan (the default), or what another program reads: llama-quantize, "
             "modelopt, compressed-tensors or comfyui"),
    DTI_ROW_FORCE(struct advise_args, transfer.force, ""),
    OPT_TEXT(0, "threads", struct advise_args, transfer.threads, "N",
             "threads, or all: one on each CPU (the default)"),
    DTI_ROW_MAX_MEMORY(struct advise_args, max_memory, "", ""),
    OPT_CHOICE(0, "progress", struct advise_args, transfer.progress, transfer.progress_given,
               "WHEN", dti_choice_progress, "show a progress bar on standard error"),
    OPT_END,
};

/* To the caller, and into the answer. */
static void warn(struct dti_advise *advise, const struct dti_advise_work *work, const char *code,
                 const char *text)
{
    dti_asker_warn(work->asker, &(struct dti_note){.code = code, .text = text});
    dti_warnings_add(&advise->warnings, code, NULL, 0, text);
}

static enum dti_status read_fit(struct dti_advise *advise, const struct dti_advise_work *work,
                                struct dti_error *reterr)
{
    const char *const fit = work->args->fit;
    if (!fit)
        return dti_fail(reterr, DTI_USAGE, "missing size; give --fit 24GB or --fit 24GiB");
    if (!dti_fit_bytes(fit, &advise->budget))
        return dti_fail_word(reterr, DTI_USAGE, fit, strlen(fit),
                             "--fit takes bytes, as in 24GB or 24GiB; got %s",
                             DTI_QUOTED(fit, strlen(fit)));
    if (dti_fit_lacks_unit(fit, advise->budget))
        warn(advise, work, "small_size", "--fit has no unit: it is bytes");
    return DTI_OK;
}

/* Numbers of a float dtype stay as they are: the input must have it. */
static bool takes_stored(struct dti_advise *advise, const char *text, size_t length)
{
    static const char words[][8] = {"stored", "bf16", "fp16", "fp32"};
    enum { WORDS = sizeof words / sizeof *words };
    size_t word = 0;
    while (word < WORDS && !dti_text_is(text, length, words[word]))
        word++;
    if (word == WORDS)
        return false;
    advise->stored = true;
    if (word > 0)
        advise->stored_as = words[word];
    return true;
}

static enum dti_status check_stored(const struct dti_advise *advise, struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < advise->measured.tensor_count && advise->stored_as; i++) {
        const struct dti_measured_tensor *const tensor = &advise->measured.tensors[i];
        if (tensor->taken && strcmp(tensor->dtype, advise->stored_as) != 0)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "tensor %s is %s, and --menu has %s; give 'stored' in its place, or "
                            "cast the model first",
                            dti_quote(name, tensor->name, tensor->name_length), tensor->dtype,
                            advise->stored_as);
    }
    return DTI_OK;
}

static enum dti_status add_format(struct dti_advise *advise, const char *text, size_t length,
                                  struct dti_error *reterr)
{
    struct dti_measured *const measured = &advise->measured;
    enum { WORDS = sizeof menu_words / sizeof *menu_words };
    size_t word = 0;
    while (word < WORDS && !dti_text_is(text, length, menu_words[word].word))
        word++;
    if (takes_stored(advise, text, length))
        return DTI_OK;
    if (word < WORDS) {
        text = menu_words[word].format;
        length = strlen(text);
    }
    if (length == 0)
        return dti_fail(reterr, DTI_USAGE, "--menu has an empty word between commas");
    for (size_t i = 0; i < measured->format_count; i++) {
        if (dti_text_is(text, length, measured->formats[i]))
            return dti_fail_word(reterr, DTI_USAGE, text, length, "--menu has %s twice",
                                 DTI_QUOTED(text, length));
    }
    const char *const copy = dti_pool_text(&measured->pool, text, length);
    if (!copy)
        return dti_no_memory(reterr);
    measured->formats[measured->format_count++] = copy;
    return DTI_OK;
}

static enum dti_status read_menu(struct dti_advise *advise, const char *menu,
                                 struct dti_error *reterr)
{
    enum { MOST = 32 };
    size_t words = 1;
    enum dti_status status = DTI_OK;
    for (const char *at = menu; *at != '\0'; at++)
        words += *at == ',';
    advise->measured.formats = dti_calloc(words, sizeof(const char *));
    if (!advise->measured.formats)
        return dti_no_memory(reterr);
    if (words > MOST)
        return dti_fail(reterr, DTI_USAGE, "--menu takes at most %d formats", (int)MOST);
    for (const char *at = menu; at && status == DTI_OK;) {
        const size_t length = strcspn(at, ",");
        status = add_format(advise, at, length, reterr);
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    if (status == DTI_OK && advise->measured.format_count == 0)
        return dti_fail(reterr, DTI_USAGE, "--menu has no format that quantizes");
    return status;
}

static enum dti_status read_form(struct dti_advise *advise, const char *word,
                                 struct dti_error *reterr)
{
    enum dti_advise_form form = DTI_ADVISE_AS_PLAN;
    while (word && form < DTI_ADVISE_FORMS && strcmp(dti_advise_form_row(form)->word, word) != 0)
        form++;
    if (form == DTI_ADVISE_FORMS)
        return dti_fail_word(reterr, DTI_USAGE, word, strlen(word),
                             "--as takes plan, llama-quantize, modelopt, compressed-tensors or "
                             "comfyui; got %s",
                             DTI_QUOTED(word, strlen(word)));
    advise->form = form;
    return DTI_OK;
}

static enum dti_status check_form(const struct dti_advise *advise,
                                  const struct dti_advise_work *work, struct dti_error *reterr)
{
    const struct dti_advise_form_row *const form = dti_advise_form_row(advise->form);
    if (form->loader == DTI_ADVISE_LOADERS)
        return DTI_OK;
    const struct dti_advise_row *const row = dti_advise_row_of(form->loader);
    if (row == work->row && work->args->transfer.output)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "--as %s is for -o FILE and --loader %s; give those",
                    form->word, row->name);
}

/* Before anything is measured. */
static enum dti_status check_algorithms(const struct dti_advise *advise, struct dti_error *reterr)
{
    const struct dti_measured *const measured = &advise->measured;
    const struct dti_advise_form_row *const form = dti_advise_form_row(advise->form);
    const enum dti_quant_per per = advise->row->channels ? DTI_PER_CHANNEL : DTI_PER_TENSOR;
    for (size_t i = 0; i < measured->format_count && advise->form == DTI_ADVISE_AS_ALGORITHMS;
         i++) {
        if (!dti_advise_has_algorithm(measured->formats[i], per))
            return dti_fail(
                reterr, DTI_USAGE, "%s has no algorithm for %s; give --menu %s, or leave out --as",
                form->word, DTI_QUOTED(measured->formats[i], strlen(measured->formats[i])),
                form->menu);
    }
    return DTI_OK;
}

static enum dti_status check_input(const struct dti_advise_work *work, struct dti_error *reterr)
{
    const struct dti_container *const container = work->container;
    for (size_t i = 0; i < container->tensor_count; i++) {
        char place[DTI_TENSOR_PLACE];
        if (dti_tensor_gguf(&container->tensors[i]))
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s is quantized already; give the model that it was made from",
                            dti_tensor_place(container, i, place));
    }
    if (dti_is_gguf(container->kind) && !work->row->gguf)
        return dti_fail(reterr, DTI_USAGE,
                        "%s loads no gguf files; leave out --loader, or give the safetensors model",
                        work->row->name);
    return DTI_OK;
}

/* Finds out whether the output layer of a tied model stays, and says so if it is stored. */
static enum dti_status find_tied(struct dti_advise *advise, struct dti_advise_work *work,
                                 struct dti_error *reterr)
{
    const struct dti_container *const container = work->container;
    char text[DTI_TIED_NOTE];
    const enum dti_status status =
        dti_tied_output_stays(container, work->row->layout, work->args->keep, &work->tied, reterr);
    for (size_t i = 0; i < container->tensor_count && work->tied; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (!dti_advise_takes(work->row, tensor) || !dti_is_output_layer(tensor))
            continue;
        const struct dti_note note = dti_tied_output_note(tensor, text);
        warn(advise, work, note.code, note.text);
        break;
    }
    return status;
}

static enum dti_status find_groups(struct dti_advise *advise, const struct dti_advise_work *work,
                                   struct dti_error *reterr)
{
    struct dti_measured *const measured = &advise->measured;
    uint32_t *groups;
    for (size_t i = 0; i < measured->tensor_count; i++)
        measured->tensors[i].group = (uint32_t)i;
    if (work->row->gguf)
        return DTI_OK;
    if (measured->tensor_count != work->container->tensor_count)
        return dti_fail(reterr, DTI_BAD_INPUT, "the measurements are of other tensors");
    groups = dti_calloc(measured->tensor_count + 1, sizeof *groups);
    if (!groups)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_advise_groups(work->row, work->container, groups, reterr);
    for (size_t i = 0; i < measured->tensor_count && status == DTI_OK; i++)
        measured->tensors[i].group = groups[i];
    dti_free(groups);
    return status;
}

/* Not even the smallest choice fits: says what is needed. */
static enum dti_status refuse_size(const struct dti_advise *advise, uint64_t needed,
                                   struct dti_error *reterr)
{
    return dti_fail(
        reterr, DTI_ANSWER_NO,
        "nothing of the menu fits into %s: the smallest choice takes %llu bytes, of "
        "which %llu stay as they are; give a larger size or a menu with smaller formats",
        advise->fit, (unsigned long long)needed, (unsigned long long)advise->kept_bytes);
}

static enum dti_status choose(struct dti_advise *advise, const struct dti_advise_work *work,
                              struct dti_error *reterr)
{
    const struct dti_choice_set set = dti_advise_set(advise);
    const uint64_t kept = advise->kept_bytes;
    const uint64_t room = advise->budget > kept ? advise->budget - kept : 0;
    enum dti_status status = dti_choose(&set, room, advise->picks, &advise->chosen, reterr);
    if (status == DTI_ANSWER_NO || (status == DTI_OK && kept > advise->budget))
        return refuse_size(advise, kept + advise->chosen.bytes, reterr);
    if (status == DTI_OK)
        status = dti_frontier(&set, &advise->frontier, &advise->frontier_count, reterr);
    if (status == DTI_OK)
        status = dti_advise_mix(advise, reterr);
    return status == DTI_OK ? dti_advise_size(work, advise, reterr) : status;
}

enum dti_status dti_advise_run(struct dti_advise *ret, struct dti_advise_work *work,
                               const char *path, struct dti_error *reterr)
{
    const struct advise_args *const args = work->args;
    struct dti_container *container = NULL;
    *ret = (struct dti_advise){
        .path = path, .fit = args->fit, .weights = args->weights, .plan = args->transfer.output};
    ret->measured.path = path;
    ret->measured.keep = args->keep;
    dti_buffer_init(&ret->document);
    enum dti_status status = read_fit(ret, work, reterr);
    if (status == DTI_OK)
        status = read_form(ret, args->form, reterr);
    if (status == DTI_OK)
        status = dti_container_open(&container, path, NULL, reterr);
    if (status != DTI_OK)
        return status;
    work->container = container;
    work->row = ret->row =
        dti_advise_row_of(args->loader_given             ? (enum dti_advise_loader)args->loader
                          : dti_is_gguf(container->kind) ? DTI_ADVISE_LLAMA_CPP
                                                         : DTI_ADVISE_VLLM);
    ret->measured.loader = ret->row->name;
    status = check_input(work, reterr);
    if (status == DTI_OK)
        status = check_form(ret, work, reterr);
    if (status == DTI_OK)
        status = find_tied(ret, work, reterr);
    const char *const own = dti_advise_form_row(ret->form)->menu;
    if (status == DTI_OK)
        status = read_menu(ret,
                           args->menu    ? args->menu
                           : own[0] != 0 ? own
                                         : ret->row->menu,
                           reterr);
    if (status == DTI_OK)
        status = check_algorithms(ret, reterr);
    if (status == DTI_OK)
        status = dti_advise_measure(work, ret, reterr);
    if (status == DTI_OK)
        status = check_stored(ret, reterr);
    if (status == DTI_OK)
        status = find_groups(ret, work, reterr);
    if (status == DTI_OK)
        status = dti_advise_weigh(&ret->measured, args->weights, reterr);
    if (status == DTI_OK)
        status = dti_advise_prepare(ret, reterr);
    if (status == DTI_OK)
        status = choose(ret, work, reterr);
    dti_container_free(container);
    work->container = NULL;
    return status;
}
