/* SPDX-License-Identifier: MIT
 *
 * What the configuration says of one quantized tensor. A loader would read one that is not to be
 * quantized as plain numbers, without its scales: that is refused. */
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/dequant/dequant_layouts.h"

const struct dti_quant_config *dti_dequant_config(struct dti_file_dequant *dequant)
{
    struct dti_error why;
    if (!dequant->has_config) {
        struct dti_error *const error = &dequant->config_error;
        enum dti_status status = dti_quant_config_read(dequant->container, &dequant->config, error);
        if (status == DTI_OK && dequant->config.conflict[0] != '\0') {
            status = dti_fail_remedy(error, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG, "%s",
                                     dequant->config.conflict);
        } else if (status == DTI_OK) {
            status = dti_quant_config_judge(&dequant->config, dequant->container, &why);
            if (status == DTI_BAD_INPUT)
                (void)dti_fail_remedy(error, status, DTI_REMEDY_OVERRIDE_CONFIG, "%s: %s",
                                      dequant->config.file, why.text);
            else if (status != DTI_OK)
                *error = why;
        }
        dequant->config_status = status;
        dequant->has_config = true;
    }
    return dequant->config_status == DTI_OK ? &dequant->config : NULL;
}

static enum dti_status refuse_format(const struct dti_dequant_group *group, const char *file,
                                     const char *format, struct dti_error *reterr)
{
    dti_dequant_blame(group, DTI_LINT_UNSUPPORTED);
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "%s says that its format is %s, which is not supported", file,
                              DTI_QUOTED(format, strlen(format)));
}

static const char *unread_format(const struct dti_quant_module *module)
{
    const char *format = NULL;
    for (size_t i = 0; i < module->count; i++) {
        if (!module->hints[i].format || dti_quant_config_reads(module->hints[i].format))
            return NULL;
        format = module->hints[i].format;
    }
    return format;
}

enum dti_status dti_dequant_configured(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       struct dti_quant_module *ret, struct dti_error *reterr)
{
    const struct dti_quant_config *const config = dti_dequant_config(dequant);
    const bool asked = dequant->request.bits > 0 || dequant->request.block > 0;
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    size_t length = group->name_length;
    if (!config) {
        dequant->blame = DTI_LINT_CONFIG_UNREADABLE;
        *reterr = dequant->config_error;
        return dequant->config_status;
    }
    if (config->unread[0] != '\0')
        return refuse_format(group, config->file, config->unread, reterr);
    while (length > 0 && group->name[length - 1] != '.')
        length--;
    length -= length > 0;
    const enum dti_status status =
        dti_quant_config_module(config, group->name, length, ret, reterr);
    if (status != DTI_OK)
        return status;
    if (!asked && ret->said == DTI_SAID_IGNORED) {
        dti_dequant_blame(group, DTI_LINT_IGNORED);
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP_OR_OVERRIDE,
                                  "it has scales, but %s says by %s that module %s is not "
                                  "quantized",
                                  config->file, DTI_QUOTED(ret->rule, ret->rule_length),
                                  DTI_QUOTED(group->name, length));
    }
    if (!asked && ret->said == DTI_SAID_NOTHING) {
        dti_dequant_blame(group, DTI_LINT_NOT_COVERED);
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP_OR_OVERRIDE,
                                  "it has scales, but no group of %s names module %s", config->file,
                                  DTI_QUOTED(group->name, length));
    }
    const char *const format = unread_format(ret);
    return format ? refuse_format(group, config->file, format, reterr) : DTI_OK;
}
