/* SPDX-License-Identifier: MIT
 *
 * Parses a safetensors header in memory and returns the verdict. */
#ifndef DTINFO_TESTS_SAFETENSORS_VERDICT_H
#define DTINFO_TESTS_SAFETENSORS_VERDICT_H

#include <stdlib.h>
#include <string.h>

#include "containers/safetensors/safetensors.h"
#include "unit.h"

/* Parses a header that data_bytes of data follow. Returns "" if it is accepted, else the error
 * without the file's name, valid until the next call. The container is allocated in the pool. */
static inline const char *verdict(struct dti_pool *pool, const char *header, size_t length,
                                  uint64_t data_bytes, const struct dti_container_options *options,
                                  struct dti_container *found)
{
    static struct dti_error error;
    /* exact size: a read past the header is caught */
    char *const exact = malloc(length > 0 ? length : 1);
    if (!CHECK(exact))
        return "no memory";
    memcpy(exact, header, length);
    error = (struct dti_error){.status = DTI_OK};
    struct dti_opening opening = {
        .container = found, .pool = pool, .label = "'m'", .error = &error};
    if (options)
        opening.options = *options;
    *found = (struct dti_container){.kind = DTI_CONTAINER_SAFETENSORS};
    const bool good = dti_safetensors_parse(&opening, exact, length,
                                            DTI_SAFETENSORS_PREFIX + length + data_bytes, 3);
    free(exact);
    CHECK(good == (opening.status == DTI_OK));
    if (good)
        return "";
    CHECK_I64(opening.status, DTI_BAD_INPUT);
    CHECK(strncmp(error.text, "'m': ", 5) == 0);
    return error.text + 5;
}

#endif
