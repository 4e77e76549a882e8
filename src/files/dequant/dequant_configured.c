/* SPDX-License-Identifier: MIT
 *
 * What the configuration says about one quantized tensor. A loader would read a tensor that is
 * excluded from quantization as plain numbers, without its scales: that is refused. */
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/dequant/dequant_layouts.h"
#include "files/dequant/dequant_names.h"

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
    dti_dequant_set_rule(group, DTI_LINT_UNSUPPORTED);
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
        dequant->refusal_rule = DTI_LINT_CONFIG_UNREADABLE;
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
    if (!asked && ret->stated == DTI_STATED_IGNORED) {
        dti_dequant_set_rule(group, DTI_LINT_IGNORED);
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP_OR_OVERRIDE,
                                  "it has scales, but %s says by %s that module %s is not "
                                  "quantized",
                                  config->file, DTI_QUOTED(ret->rule, ret->rule_length),
                                  DTI_QUOTED(group->name, length));
    }
    if (!asked && ret->stated == DTI_STATED_NOTHING) {
        dti_dequant_set_rule(group, DTI_LINT_NOT_COVERED);
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP_OR_OVERRIDE,
                                  "it has scales, but no group of %s names module %s", config->file,
                                  DTI_QUOTED(group->name, length));
    }
    const char *const format = unread_format(ret);
    return format ? refuse_format(group, config->file, format, reterr) : DTI_OK;
}

enum dti_dequant_statement dti_dequant_statement(struct dti_file_dequant *dequant,
                                                 const struct dti_tensor *tensor,
                                                 struct dti_quant_module *ret)
{
    const struct dti_quant_config *const config = dti_dequant_config(dequant);
    struct dti_error ignored; /* patterns took too long; the code that requires them reports it */
    if (!config || (config->count == 0 && config->method[0] == '\0' && !config->modules))
        return DTI_MODULE_OPEN;
    if (config->unread[0] != '\0')
        return DTI_MODULE_PLAIN;
    if (dti_quant_config_module(config, tensor->name, dti_module_length(tensor), ret, &ignored) !=
        DTI_OK)
        return DTI_MODULE_OPEN;
    if (ret->stated != DTI_STATED_QUANTIZED)
        return DTI_MODULE_PLAIN;
    for (size_t i = 0; i < ret->count; i++) {
        const char *const format = ret->hints[i].format;
        if (format && !dti_quant_config_reads(format))
            return DTI_MODULE_PLAIN; /* for example "dense": weights are unquantized */
    }
    return DTI_MODULE_QUANTIZED;
}

const char *dti_dequant_scale_name(const struct dti_quant_config *config,
                                   const struct dti_quant_module *module, int class)
{
    const struct dti_layout_ops *const layout = dti_layout_of_method(config->method);
    if (strcmp(config->method, "fp8") == 0)
        return class != DTI_CODES_FP8 ? NULL
               : module->count > 0 && module->hints[0].strategy == DTI_STRATEGY_BLOCK
                   ? ".weight_scale_inv"
                   : ".weight_scale";
    if (strcmp(config->method, "bitsandbytes") == 0)
        return class == DTI_CODES_INT8    ? ".SCB"
               : class == DTI_CODES_UINT8 ? ".weight.quant_state.*"
                                          : NULL;
    if (layout && layout->scale)
        return layout->scale;
    return config->method[0] == '\0' && module->count > 0 ? ".weight_scale" : NULL;
}

bool dti_dequant_is_quantized(struct dti_file_dequant *dequant)
{
    if (dequant->any_found || dequant->ambiguities.count > 0)
        return true;
    const struct dti_quant_config *const config = dti_dequant_config(dequant);
    return config && (config->count > 0 || config->method[0] != '\0' || config->mlx);
}
