/* SPDX-License-Identifier: MIT
 *
 * Errors for ambiguous or unsupported quantized tensors: what was expected, and what else they may
 * be. */
#include <stdio.h>

#include "files/dequant/dequant_find.h"

/* "3, 4 or 5" */
static void list_widths(unsigned widths, char buffer[32])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned bits = 1; widths >> bits != 0; bits++) {
        if ((widths >> bits & 1) == 0)
            continue;
        const char *const between = used == 0 ? "" : widths >> (bits + 1) == 0 ? " or " : ", ";
        used += (size_t)snprintf(buffer + used, 32 - used, "%s%u", between, bits);
    }
}

enum dti_status dti_dequant_refuse_doubt(const struct dti_dequant_group *group,
                                         const struct dti_dequant_doubt *doubt,
                                         struct dti_error *reterr)
{
    char text[160];
    if (doubt->widths > 0) {
        list_widths(doubt->widths, text);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_SAY_BITS,
            "its words may hold codes of %s bits, and neither metadata nor config.json says which",
            text);
    }
    if (doubt->crossing)
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "its rows fill their words whether codes cross words, as compressed-tensors packs them "
            "since June 2026, or each word has whole ones, as before, and nothing says which");
    if (doubt->lengths.other > 0)
        return dti_dequant_refuse(
            &group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_SAY_BLOCK,
            "its shape %s allows groups of %llu or %llu elements along axis "
            "%u, and neither metadata nor config.json says which",
            dti_dequant_shape_words(dti_dequant_of(group, DTI_PART_SCALE), text),
            (unsigned long long)doubt->lengths.length, (unsigned long long)doubt->lengths.other,
            doubt->axis);
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_READ_8_BITS,
        "it may hold uint8 or several narrower codes a byte: it has no zero points");
}

enum dti_status dti_dequant_refuse_two(const struct dti_dequant_group *group, const char *one,
                                       const char *other, struct dti_error *reterr)
{
    if (!one)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr,
                                  DTI_REMEDY_SAY_BITS_OR_BLOCK,
                                  "its shape fits several groups of config.json");
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_CHOOSE_BITS,
        "may hold %s or %s: dtypes and shapes allow both, and the metadata has no entry '%s...'",
        one, other, DTI_QUANT_KEY);
}

enum dti_status dti_dequant_refuse_hints(const struct dti_dequant_group *group,
                                         const struct dti_dequant_knowledge *known,
                                         struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_dequant_of(group, DTI_PART_SCALE);
    char codes_shape[160], scale_shape[160], said[DTI_QUANT_HINT_TEXT];
    char more[DTI_QUOTE_SIZE + 16] = "";
    if (known->count > 1)
        (void)snprintf(more, sizeof more, " (or its %zu other groups)", known->count - 1);
    else if (known->rule)
        (void)snprintf(more, sizeof more, " (target %s)",
                       DTI_QUOTED(known->rule, known->rule_length));
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr,
                              known->configured    ? DTI_REMEDY_OVERRIDE_CONFIG
                              : group->layout_read ? DTI_REMEDY_KEEP
                                                   : DTI_REMEDY_NONE,
                              "its shape %s with %s codes of shape %s contradicts %s: %s%s",
                              dti_dequant_shape_words(scale, scale_shape), codes->format->name,
                              dti_dequant_shape_words(codes, codes_shape), known->source,
                              dti_quant_hint_words(&known->hints[0], said), more);
}

enum dti_status dti_dequant_refuse_shapes(const struct dti_dequant_group *group, bool dtypes,
                                          bool shape, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_dequant_of(group, DTI_PART_SCALE);
    char codes_shape[160], scale_shape[160];
    if (!dtypes)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "holds %s, which cannot be scales of %s codes%s%s",
                                  scale->format->name, codes->format->name,
                                  group->told ? " of " : "", group->told ? group->told_dtype : "");
    if (codes->format->id == DTI_INT32 && !shape) {
        dti_dequant_blame(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "packed codes need a tensor '..._shape' with their original dimensions");
    }
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                              "its shape %s does not fit %s codes of shape %s: expected one scale, "
                              "one per index of an axis or one per group of equal length",
                              dti_dequant_shape_words(scale, scale_shape), codes->format->name,
                              dti_dequant_shape_words(codes, codes_shape));
}
