/* SPDX-License-Identifier: MIT
 *
 * What GPTQ stores as zero points: themselves, or themselves minus one. A checkpoint's format says
 * which, else an entry of the metadata, and words of symmetric quantization, whose zero points are
 * all in the middle of the codes, tell by themselves. */
#include "files/dequant/dequant_gptq.h"

#include <string.h>

#include "dtinfo/little_endian.h"

enum { AT_ONCE = 4096, FEW = 16384 }; /* bytes; the latter is enough of a glance */

/* The fields of zero points: whether all are equal to `first`, and whether any has all bits. */
struct zero_fields {
    bool equal, ones;
    unsigned first;
    uint64_t count;
};

static void look_at_field(struct zero_fields *fields, unsigned field, unsigned bits)
{
    if (fields->count++ == 0)
        fields->first = field;
    fields->equal = field == fields->first && (fields->equal || fields->count == 1);
    fields->ones = fields->ones || field == (1U << bits) - 1;
}

/* Rows end with whole words. */
static enum dti_status look_at(const struct dti_dequant_group *group, unsigned bits, uint64_t most,
                               struct zero_fields *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    const uint64_t columns = dti_dequant_of(group, DTI_PART_SCALE)->shape[1];
    const uint64_t size = zeros->bytes < most ? zeros->bytes : most;
    struct zero_fields fields = {.count = 0};
    unsigned char raw[AT_ONCE];
    uint64_t window = 0, left = columns, words = zeros->shape[1];
    unsigned filled = 0;
    for (uint64_t done = 0; done < size; done += sizeof raw) {
        const size_t n = size - done < sizeof raw ? (size_t)(size - done) : sizeof raw;
        const enum dti_status status =
            dti_dequant_read_part(&group->part[DTI_PART_ZERO_POINT], raw, n, done, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i + 4 <= n; i += 4) {
            window |= dti_little_get(raw + i, 4) << filled;
            for (filled += 32; filled >= bits && left > 0; filled -= bits, window >>= bits, left--)
                look_at_field(&fields, (unsigned)window & ((1U << bits) - 1), bits);
            if (--words == 0) { /* of this row */
                window = filled = 0;
                left = columns;
                words = zeros->shape[1];
            }
        }
    }
    *ret = fields;
    return DTI_OK;
}

/* Things that are read as they are said to be, and look as if something else was meant. */
static enum dti_status warn(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                            const struct dti_quant_config *config, unsigned bits, int32_t offset,
                            const struct zero_fields *fields, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ZERO_POINT];
    const unsigned middle = 1U << (bits - 1), other = offset > 0 ? middle : middle - 1;
    char buffer[DTI_TENSOR_PLACE];
    const char *const place = dti_tensor_place(part->container, part->tensor, buffer);
    if (fields->equal && fields->first == other)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_LABEL, "zero_points_label", reterr,
            "%s: all zero points are stored as %u, as in symmetric checkpoints of the format %s, "
            "but %s says %s, by which they are %u",
            place, fields->first, offset > 0 ? "gptq_v2" : "gptq", config->file,
            offset > 0 ? "gptq" : "gptq_v2", fields->first + (offset > 0 ? 1 : 0));
    if (offset > 0 && fields->ones)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_WRAP, "zero_points_wrapped", reterr,
            "%s: zero points minus one are stored as %u, which is read as zero point 0; programs "
            "differ here, some read %u",
            place, (1U << bits) - 1, 1U << bits);
    return DTI_OK;
}

/* By the metadata, which dtinfo writes: "gptq" or "gptq_v2"; NULL: it says nothing. */
static const char *told_of(struct dti_file_dequant *dequant, const struct dti_dequant_group *group)
{
    static const char *const formats[] = {"gptq", "gptq_v2"};
    const struct dti_metadata *const entry = dti_dequant_told(dequant, group);
    for (size_t i = 0; i < 2 && entry; i++) {
        if (entry->value_length == strlen(formats[i]) &&
            memcmp(entry->value, formats[i], entry->value_length) == 0)
            return formats[i];
    }
    return NULL;
}

enum dti_status dti_gptq_zero_offset(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config, unsigned bits,
                                     int32_t *ret, struct dti_error *reterr)
{
    const unsigned middle = 1U << (bits - 1);
    const bool said = strcmp(config->method, "gptq") == 0;
    const bool glance = said && dequant->request.logical && !dequant->request.lint;
    const char *const format = !said                                               ? ""
                               : strcmp(config->checkpoint_format, "gptq_v2") == 0 ? "gptq_v2"
                                                                                   : "gptq";
    const char *const told = told_of(dequant, group);
    struct zero_fields fields;
    if (said && told && strcmp(told, format) != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
                                  "%s says checkpoint_format %s, and the file's own metadata %s",
                                  config->file, format, told);
    const enum dti_status status = look_at(group, bits, glance ? FEW : UINT64_MAX, &fields, reterr);
    if (status != DTI_OK)
        return status;
    if (said) {
        *ret = strcmp(format, "gptq_v2") == 0 ? 0 : 1;
        return warn(dequant, group, config, bits, *ret, &fields, reterr);
    }
    if (told) {
        *ret = strcmp(told, "gptq_v2") == 0 ? 0 : 1;
        return DTI_OK;
    }
    if (fields.equal && (fields.first == middle || fields.first == middle - 1)) {
        *ret = fields.first == middle ? 0 : 1;
        return DTI_OK;
    }
    dti_dequant_blame(group, DTI_LINT_AMBIGUOUS);
    return dti_dequant_refuse(
        &group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
        "it holds zero points, or zero points minus one, and no configuration says which: give it "
        "a config.json whose quantization_config has quant_method gptq, and checkpoint_format gptq "
        "if they are minus one, gptq_v2 if not");
}
