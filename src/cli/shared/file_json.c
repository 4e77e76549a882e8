/* SPDX-License-Identifier: MIT
 *
 * Texts that are bytes, and figures, as JSON. */
#include "cli/shared/file_json.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/number_json.h"
#include "dtinfo/utf8.h"

enum dti_status dti_json_bytes(struct dti_json *json, const char *key, const char *hex_key,
                               const char *text, size_t length, struct dti_error *reterr)
{
    static const char digits[] = "0123456789abcdef";
    dti_json_text(json, key, text, length);
    if (dti_utf8_valid(text, length)) {
        dti_json_null(json, hex_key);
        return DTI_OK;
    }
    char *const hex = malloc(2 * length + 1);
    if (!hex)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < length; i++) {
        hex[2 * i] = digits[(unsigned char)text[i] >> 4];
        hex[2 * i + 1] = digits[text[i] & 15];
    }
    hex[2 * length] = '\0';
    dti_json_text(json, hex_key, hex, 2 * length);
    free(hex);
    return DTI_OK;
}

enum dti_status dti_json_figure(struct dti_json *json, const char *key, bool there, double figure,
                                struct dti_error *reterr)
{
    uint64_t code;
    memcpy(&code, &figure, sizeof code);
    return dti_json_code(json, key, dti_format_get(DTI_FP64), there, code, reterr);
}

enum dti_status dti_json_path(struct dti_json *json, const char *path, struct dti_error *reterr)
{
    if (path)
        return dti_json_bytes(json, "path", "path_hex", path, strlen(path), reterr);
    dti_json_null(json, "path");
    dti_json_null(json, "path_hex");
    return DTI_OK;
}

enum dti_status dti_json_container(struct dti_json *json, const char *key, const char *path,
                                   const struct dti_container *container, uint64_t data_bytes,
                                   struct dti_error *reterr)
{
    const char *const kind = dti_container_name(container->kind);
    dti_json_object(json, key);
    enum dti_status status = dti_json_path(json, path, reterr);
    dti_json_string(json, "kind", kind);
    dti_json_uint(json, "data_bytes", data_bytes);
    dti_json_array(json, "files");
    for (size_t i = 0; i < container->file_count && status == DTI_OK; i++) {
        dti_json_object(json, NULL);
        status = dti_json_path(json, container->files[i].path, reterr);
        dti_json_uint(json, "bytes", container->files[i].input.size);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
    return status;
}
