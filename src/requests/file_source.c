/* SPDX-License-Identifier: MIT
 *
 * Options of files of tensors. */
#include "requests/file_source.h"

#include <string.h>

#include "containers/containers.h"
#include "requests/amount.h"

static enum dti_status read_dtype(struct dti_file_source *source, const char *name,
                                  const struct dti_asker *asker, struct dti_format *ret,
                                  struct dti_error *reterr)
{
    struct dti_dtype_operand operand;
    const enum dti_status status = dti_asker_dtype(asker, name, &operand, reterr);
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
                                const struct dti_asker *asker, struct dti_error *reterr)
{
    struct dti_raw *const raw = &source->raw;
    const enum dti_status status = read_dtype(source, args->from, asker, &raw->format, reterr);
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
                                    const struct dti_file_args *args, const struct dti_asker *asker,
                                    struct dti_error *reterr)
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
    return dti_level_choose(asker->cpu_level, &source->logical.level, reterr);
}

void dti_file_source_warn(const struct dti_asker *asker, const struct dti_container *container)
{
    size_t count;
    const struct dti_note *const notes = dti_logical_notes(container, &count);
    const struct dti_note *const hub = dti_container_hub_note(container);
    if (hub)
        dti_asker_warn(asker, hub);
    for (size_t i = 0; i < count; i++)
        dti_asker_warn(asker, &notes[i]);
}

enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_asker *asker, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->options.lenient = args->lenient;
    if (args->packing_given)
        ret->options.packing = (enum dti_packing)args->packing;
    enum dti_status status =
        args->from ? read_raw(ret, args, asker, reterr) : refuse_without_from(args, reterr);
    if (status == DTI_OK && args->assume) {
        status = read_dtype(ret, args->assume, asker, &ret->assume, reterr);
        ret->options.assume = &ret->assume;
    }
    return status == DTI_OK ? read_logical(ret, args, asker, reterr) : status;
}

enum dti_status dti_file_reading_init(struct dti_reading *ret, const struct dti_file_args *args,
                                      const struct dti_asker *asker, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    *ret = (struct dti_reading){.most_threads = asker->threads};
    if (args->threads && strcmp(args->threads, "all") != 0)
        status = dti_amount_threads(args->threads, strlen(args->threads), &ret->threads, reterr);
    if (status == DTI_OK && args->max_memory)
        status = dti_amount_bytes("--max-memory", args->max_memory, strlen(args->max_memory),
                                  &ret->options.max_memory, reterr);
    if (status == DTI_OK)
        status = dti_level_choose(asker->cpu_level, &ret->options.level, reterr);
    return status;
}
