/* SPDX-License-Identifier: MIT
 *
 * A plan in the form of llama-quantize's --tensor-type-file: "REGEX=TYPE" between blanks, where
 * std::regex_search() finds the expression, in lower case, in the name of a tensor (llama.cpp's
 * tools/quantize/quantize.cpp). So names are anchored at both ends, and dots escaped. */
#include <string.h>

#include "answers/advise/advise.h"
#include "util/text/ascii.h"

/* False: a name that a pattern in lower case without blanks cannot say. */
static bool put_name(struct dti_buffer *text, const struct dti_measured_tensor *tensor)
{
    dti_buffer_puts(text, "^");
    for (size_t i = 0; i < tensor->name_length; i++) {
        const char c = tensor->name[i];
        if (c <= ' ' || c >= 0x7f || c == '=' || dti_ascii_lower(c) != c)
            return false;
        if (strchr(".[]{}()*+?^$|\\", c))
            dti_buffer_puts(text, "\\");
        dti_buffer_append(text, &c, 1);
    }
    dti_buffer_puts(text, "$=");
    return true;
}

/* ggml's name of a dtype. */
static const char *stored_type(const char *dtype)
{
    return strcmp(dtype, "fp32") == 0 ? "f32" : strcmp(dtype, "fp16") == 0 ? "f16" : dtype;
}

enum dti_status dti_advise_tensor_types(const struct dti_advise *advise, struct dti_buffer *ret,
                                        struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < advise->measured.tensor_count; i++) {
        const struct dti_measured_tensor *const tensor = &advise->measured.tensors[i];
        const size_t format = dti_advise_format_of(advise, i);
        if (advise->group_of[i] == UINT32_MAX)
            continue;
        if (!put_name(ret, tensor))
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "llama-quantize takes no pattern for the name of tensor %s",
                            dti_quote(name, tensor->name, tensor->name_length));
        dti_buffer_puts(ret, format < advise->measured.format_count
                                 ? advise->measured.formats[format]
                                 : stored_type(tensor->dtype));
        dti_buffer_puts(ret, "\n");
    }
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}
