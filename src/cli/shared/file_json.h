/* SPDX-License-Identifier: MIT
 *
 * What the answers about files share as JSON: texts that are bytes, and figures. */
#ifndef DTINFO_CLI_FILE_JSON_H
#define DTINFO_CLI_FILE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/container.h"
#include "dtinfo/json.h"

/* A text that may be no UTF-8 (a file's name, a tensor's): the member key holds it with U+FFFD for
 * what is not, and hex_key all bytes in hexadecimal, or null where key tells it all. */
enum dti_status dti_json_bytes(struct dti_json *json, const char *key, const char *hex_key,
                               const char *text, size_t length, struct dti_error *reterr);

/* A figure in the twins of a number, those of the fp64 that it is; null unless there. */
enum dti_status dti_json_figure(struct dti_json *json, const char *key, bool there, double figure,
                                struct dti_error *reterr);

/* Members path and path_hex of a path, which may be NULL. */
enum dti_status dti_json_path(struct dti_json *json, const char *path, struct dti_error *reterr);

/* What was read: path, kind, data_bytes, files. */
enum dti_status dti_json_container(struct dti_json *json, const char *key, const char *path,
                                   const struct dti_container *container, uint64_t data_bytes,
                                   struct dti_error *reterr);

#endif
