/* SPDX-License-Identifier: MIT
 *
 * What the options say of files of tensors. */
#include "cli/shared/file_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shared/amount.h"
#include "cli/shared/dtype_operands.h"

static void skip_blanks(const char **text, size_t *length)
{
    while (*length > 0 && **text == ' ')
        (*text)++, (*length)--;
}

bool dti_shape_parse(const char *text, size_t length, uint64_t shape[DTI_RANK_MAX],
                     unsigned *ret_rank)
{
    unsigned rank = 0;
    skip_blanks(&text, &length);
    const bool bracket = length > 0 && *text == '[';
    if (bracket) {
        if (length < 2 || text[length - 1] != ']')
            return false;
        text++, length -= 2;
        skip_blanks(&text, &length);
    }
    while (length > 0) {
        if (rank == DTI_RANK_MAX || !dti_amount_digits(&text, &length, &shape[rank]))
            return false;
        rank++;
        skip_blanks(&text, &length);
        if (length == 0)
            break;
        if (*text != ',' && *text != 'x')
            return false;
        const bool comma = *text == ',';
        text++, length--;
        skip_blanks(&text, &length);
        if (length == 0 && !(comma && rank == 1)) /* "(5,)" is how Python writes one dimension */
            return false;
    }
    *ret_rank = rank;
    return true;
}

static enum dti_status read_dtype(struct dti_file_source *source, const char *name,
                                  const struct dti_context *cx, struct dti_format *ret,
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

static bool is_big_endian(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

static enum dti_status refuse_without_from(const struct dti_file_args *args,
                                           struct dti_error *reterr)
{
    const char *const option = args->shape ? "--shape" : args->endian_given ? "--endian" : NULL;
    if (args->packing_given && args->packing == DTI_PACKING_BYTES)
        return dti_fail(reterr, DTI_USAGE,
                        "--packing bytes is of raw codes; say with --from what they are, or say "
                        "low or high of safetensors");
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is of raw codes; say with --from what they are, or leave it out", option);
}

static enum dti_status read_raw(struct dti_file_source *source, const struct dti_file_args *args,
                                const struct dti_context *cx, struct dti_error *reterr)
{
    struct dti_raw *const raw = &source->raw;
    char quoted[DTI_QUOTE_SIZE];
    const enum dti_status status = read_dtype(source, args->from, cx, &raw->format, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_format *const part = dti_real_format(&raw->format);
    if (args->packing_given && part->width >= 8)
        return dti_fail(reterr, DTI_USAGE,
                        "--packing is for codes of less than 8 bits, and %s has %u: leave it out",
                        part->name, (unsigned)part->width);
    raw->layout.packing = (enum dti_packing)args->packing;
    raw->layout.swapped =
        dti_format_container(part) > 1 && (args->endian == (int)DTI_ENDIAN_BIG) != is_big_endian();
    raw->shaped = args->shape != NULL;
    raw->shape = source->shape;
    if (raw->shaped &&
        !dti_shape_parse(args->shape, strlen(args->shape), source->shape, &raw->rank)) {
        (void)dti_fail(reterr, DTI_USAGE, "--shape takes dimensions, as in 2,3 or 2x3; %s is not",
                       dti_quote(quoted, args->shape, strlen(args->shape)));
        dti_error_argument(reterr, args->shape, strlen(args->shape));
        return DTI_USAGE;
    }
    source->options.raw = raw;
    return DTI_OK;
}

enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_context *cx, struct dti_error *reterr)
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
    return status;
}

void dti_json_source_notes(struct dti_json *json, const struct dti_file_source *source)
{
    dti_json_array(json, "warnings");
    for (size_t i = 0; i < source->note_count; i++)
        dti_json_warning(json, "dtype_name", NULL, 0, source->notes[i]);
    dti_json_end(json);
}

enum dti_status dti_file_scan_init(struct dti_file_scan *ret, const struct dti_file_args *args,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    memset(ret, 0, sizeof *ret);
    if (args->threads && strcmp(args->threads, "all") != 0)
        status = dti_amount_threads(args->threads, strlen(args->threads), &ret->wanted, reterr);
    if (status == DTI_OK && args->max_memory)
        status = dti_amount_bytes("--max-memory", args->max_memory, strlen(args->max_memory),
                                  &ret->options.max_memory, reterr);
    if (status == DTI_OK)
        status = dti_level_choose(getenv("DTINFO_CPU"), &ret->options.level, reterr);
    return status;
}

void dti_file_progress_start(struct dti_progress *ret, const struct dti_context *cx, uint64_t bytes)
{
    const bool bar = !cx->quiet && isatty(STDERR_FILENO);
    dti_progress_start(ret, bar ? cx->err : NULL, bytes, "bytes");
}

void dti_file_progress_show(void *context, uint64_t done)
{
    dti_progress_show(context, done);
}

enum dti_status dti_file_scan_start(struct dti_file_scan *scan, const struct dti_context *cx,
                                    uint64_t bytes, struct dti_error *reterr)
{
    const size_t threads = scan->wanted > 0 ? scan->wanted : dti_amount_useful_threads(bytes);
    if (threads > 1) {
        const enum dti_status status =
            dti_team_new(&scan->options.team, threads, DTI_WAIT_SLEEP, false, reterr);
        if (status != DTI_OK)
            return status;
    }
    scan->threads = threads;
    dti_file_progress_start(&scan->progress, cx, bytes);
    scan->options.progress = dti_file_progress_show;
    scan->options.progress_context = &scan->progress;
    return DTI_OK;
}

void dti_file_scan_end(struct dti_file_scan *scan)
{
    dti_progress_end(&scan->progress);
    dti_team_free(scan->options.team);
    scan->options.team = NULL;
}
