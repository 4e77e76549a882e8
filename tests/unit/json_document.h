/* SPDX-License-Identifier: MIT
 *
 * Shared helper of the tests of JSON documents: the written text, byte for byte. */
#ifndef DTINFO_UNIT_JSON_DOCUMENT_H
#define DTINFO_UNIT_JSON_DOCUMENT_H

#include <errno.h>
#include <stdlib.h>

#include "report/json.h"
#include "unit.h"

#define HEAD "{\"schema\":\"dtinfo.test/1\",\"dtinfo\":\"" DTI_VERSION "\""

static inline int write_to(void *context, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size ? 0 : errno;
}

static inline struct dti_sink sink_to(FILE *file)
{
    return (struct dti_sink){.write = write_to, .context = file};
}

/* The output of dti_json_write(); the caller frees it. */
static inline char *written(struct dti_json *json)
{
    char *text = NULL;
    size_t length;
    FILE *const stream = open_memstream(&text, &length);
    const struct dti_sink sink = sink_to(stream);
    CHECK(dti_json_write(json, &sink, NULL) == DTI_OK);
    fclose(stream);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static inline void check_document(struct dti_json *json, const char *want)
{
    char *const text = written(json);
    CHECK_STR(text, want);
    free(text);
}

#endif
