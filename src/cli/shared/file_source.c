/* SPDX-License-Identifier: MIT
 *
 * Options of files of tensors. */
#include "cli/shared/file_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shared/amount.h"
#include "cli/shared/operand_kinds.h"
#include "containers/containers.h"

static enum dti_status read_dtype(struct dti_file_source *source, const char *name,
                                  const struct dti_command_context *cx, struct dti_format *ret,
                                  struct dti_error *reterr)
{
    struct dti_dtype_operand operand;
    const enum dti_status status = dti_dtype_operand_read(name, NULL, cx, &operand, reterr);
    if (status != DTI_OK)
        return status;
    *ret = operand.format;
    if (operand.note)
        source->notes[source->note_count++] = operand.note;
    return DTI_OK;
}

static enum dti_status refuse_without_from(const struct dti_file_args *args,
                                           struct dti_error *reterr)
{
    const char *const option = args->shape ? "--shape" : args->endian_given ? "--endian" : NULL;
    if (args->packing_given && args->packing == DTI_PACKING_BYTES)
        return dti_fail(reterr, DTI_USAGE,
                        "--packing bytes is for raw codes; give --from DTYPE, or use low or high "
                        "for safetensors");
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "%s is for raw codes; give --from DTYPE, or leave it out",
                    option);
}

static enum dti_status read_raw(struct dti_file_source *source, const struct dti_file_args *args,
                                const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_raw *const raw = &source->raw;
    const enum dti_status status = read_dtype(source, args->from, cx, &raw->format, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_format *const part = dti_real_format(&raw->format);
    if (args->packing_given && !dti_format_packs(part))
        return dti_fail(reterr, DTI_USAGE,
                        "--packing is for codes of less than 8 bits, and %s takes %u: leave it out",
                        part->name, 8 * (unsigned)dti_format_container(part));
    raw->layout = dti_file_layout(&raw->format, (enum dti_packing)args->packing,
                                  args->endian == (int)DTI_ENDIAN_BIG);
    raw->shaped = args->shape != NULL;
    raw->shape = source->shape;
    if (raw->shaped &&
        !dti_shape_parse(args->shape, strlen(args->shape), source->shape, &raw->rank)) {
        return dti_fail_word(reterr, DTI_USAGE, args->shape, strlen(args->shape),
                             "--shape takes dimensions, as in 2,3 or 2x3; got %s",
                             DTI_QUOTED(args->shape, strlen(args->shape)));
    }
    source->options.raw = raw;
    return DTI_OK;
}

const struct dti_choice dti_like_readers[] = {{"vllm", 0, DTI_LIKE_VLLM_HELP}, {.name = NULL}};

static enum dti_status read_logical(struct dti_file_source *source,
                                    const struct dti_file_args *args, struct dti_error *reterr)
{
    const char *const other = args->bits_given    ? "--bits"
                              : args->block_given ? "--block"
                              : args->like_given  ? "--like"
                                                  : NULL;
    if (args->raw && other)
        return dti_fail(reterr, DTI_USAGE, "--raw does not dequantize; leave out --raw or %s",
                        other);
    source->logical = (struct dti_logical_options){.open = &source->options,
                                                   .raw = args->raw,
                                                   .bits = (unsigned)args->bits,
                                                   .block = args->block,
                                                   .reciprocal = args->like_given,
                                                   .stated_by = "--bits or --block"};
    return dti_level_choose(getenv("DTINFO_CPU"), &source->logical.level, reterr);
}

void dti_file_source_warn(const struct dti_command_context *cx,
                          const struct dti_container *container)
{
    size_t count;
    const struct dti_note *const notes = dti_logical_notes(container, &count);
    const struct dti_note *const hub = dti_container_hub_note(container);
    char words[DTI_REMEDY_WORDS];
    if (hub)
        dti_warn(cx, "%s", hub->text);
    for (size_t i = 0; i < count; i++)
        dti_warn(cx, "%s", dti_note_words(words, &notes[i]));
}

enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_command_context *cx, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->options.lenient = args->lenient;
    if (args->packing_given)
        ret->options.packing = (enum dti_packing)args->packing;
    enum dti_status status =
        args->from ? read_raw(ret, args, cx, reterr) : refuse_without_from(args, reterr);
    if (status == DTI_OK && args->assume) {
        status = read_dtype(ret, args->assume, cx, &ret->assume, reterr);
        ret->options.assume = &ret->assume;
    }
    return status == DTI_OK ? read_logical(ret, args, reterr) : status;
}

static void list_bar(void *context, const struct dti_tensor *const *tensors, size_t count)
{
    struct dti_file_bar *const bar = context;
    bar->tensors = tensors;
    bar->count = count;
    bar->at = 0;
    bar->before = 0;
}

static const char *name_at_hand(void *context, uint64_t done, size_t *ret_length)
{
    struct dti_file_bar *const bar = context;
    for (; bar->at < bar->count; bar->at++) {
        const struct dti_tensor *const tensor = bar->tensors[bar->at];
        const uint64_t bytes = dti_reading_bytes(tensor);
        if (bar->before + bytes > done) {
            *ret_length = tensor->name_length;
            return tensor->name;
        }
        bar->before += bytes;
    }
    return NULL;
}

static void begin_bar(void *context, uint64_t bytes)
{
    struct dti_file_bar *const bar = context;
    dti_progress_start(&bar->progress, bar->out, bytes, "bytes");
    bar->progress.name = bar->tensors ? name_at_hand : NULL;
    bar->progress.name_context = bar;
}

static void show_bar(void *context, uint64_t done)
{
    struct dti_file_bar *const bar = context;
    dti_progress_show(&bar->progress, done);
}

static void end_bar(void *context)
{
    struct dti_file_bar *const bar = context;
    dti_progress_end(&bar->progress);
    bar->tensors = NULL;
}

enum dti_status dti_file_reading_init(struct dti_reading *ret, struct dti_file_bar *bar,
                                      const struct dti_file_args *args,
                                      const struct dti_command_context *cx,
                                      struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    const enum dti_progress_when when = (enum dti_progress_when)args->progress;
    bar->tensors = NULL;
    bar->out = dti_progress_wanted(when, cx, false) ? cx->err : NULL;
    *ret = (struct dti_reading){
        .begin = begin_bar, .show = show_bar, .end = end_bar, .list = list_bar, .context = bar};
    if (args->threads && strcmp(args->threads, "all") != 0)
        status = dti_amount_threads(args->threads, strlen(args->threads), &ret->threads, reterr);
    if (status == DTI_OK && args->max_memory)
        status = dti_amount_bytes("--max-memory", args->max_memory, strlen(args->max_memory),
                                  &ret->options.max_memory, reterr);
    if (status == DTI_OK)
        status = dti_level_choose(getenv("DTINFO_CPU"), &ret->options.level, reterr);
    return status;
}
