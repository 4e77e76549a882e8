/* SPDX-License-Identifier: MIT
 *
 * Shared by the walk and the tensors: texts of the file, the scope of a tensor, and its name in
 * errors. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "containers/onnx/onnx.h"

char *dti_onnx_text(struct dti_onnx_reading *reading, struct dti_onnx_text text, size_t most,
                    size_t *ret_length)
{
    const size_t length = text.size < most ? (size_t)text.size : most;
    char *const copy = dti_opening_array(reading->opening, length + 1, 1);
    if (!copy || !dti_wire_copy(&reading->wire, text.at, copy, length))
        return NULL;
    copy[length] = '\0';
    if (ret_length)
        *ret_length = length;
    return copy;
}

/* Scopes are created lazily, only around tensors: most nodes contain none. */
bool dti_onnx_scope(struct dti_onnx_reading *reading, size_t depth,
                    const struct dti_onnx_scope **ret)
{
    const struct dti_onnx_scope *parent = NULL;
    for (size_t i = 1; i < depth; i++) {
        struct dti_onnx_frame *const frame = &reading->frames[i];
        if (frame->message == DTI_ONNX_GRAPH && i == 1)
            continue;
        if (!frame->scope) {
            frame->scope = dti_opening_array(reading->opening, 1, sizeof *frame->scope);
            if (!frame->scope)
                return false;
            *frame->scope = (struct dti_onnx_scope){.parent = parent,
                                                    .message = frame->message,
                                                    .field = frame->field,
                                                    .place = frame->place};
        }
        parent = frame->scope;
    }
    *ret = parent;
    return true;
}

bool dti_onnx_refuse(struct dti_onnx_reading *reading, const struct dti_tensor *tensor,
                     uint64_t start, const char *format, ...)
{
    char text[DTI_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (tensor->name_length == 0) /* a constant: the name is on its node */
        return dti_opening_refuse(reading->opening, ": the tensor at byte %" PRIu64 "%s", start,
                                  text);
    const struct dti_subject the = {"tensor", tensor->name, tensor->name_length, .argument = true};
    return dti_opening_refuse_of(reading->opening, the, "%s", text);
}
