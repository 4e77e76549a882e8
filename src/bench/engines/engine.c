/* SPDX-License-Identifier: MIT
 *
 * Common code of engines. */
#include "bench/engines/engine.h"

#include <stdio.h>
#include <string.h>

enum dti_status dti_engine_open(struct dti_engine *engine, const char *const *libraries,
                                size_t count, struct dti_error *reterr)
{
    const enum dti_status status = dti_library_open(&engine->library, libraries, NULL, reterr);
    if (status != DTI_OK)
        return status;
    const char *const missing =
        dti_library_find(engine->library, engine->functions, count, engine->symbols);
    if (!missing)
        return DTI_OK;
    (void)dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no %s", dti_library_name(engine->library),
                   missing);
    dti_engine_close(engine);
    return DTI_UNAVAILABLE;
}

const char *dti_engine_function(const struct dti_engine *engine, enum dti_dtype dtype)
{
    for (size_t i = 0; i < DTI_ENGINE_DTYPES; i++) {
        const struct dti_engine_row *const row = &engine->rows[i];
        if (row->dtype == dtype)
            return engine->symbols[row->symbol] ? engine->functions[row->symbol].name : NULL;
    }
    return NULL;
}

void dti_engine_words(char *ret, size_t size, const char *text)
{
    size_t length = 0;
    for (size_t i = 0; text && text[i] != '\0' && length + 1 < size; i++) {
        const char c = text[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                           (c >= 'a' && c <= 'z') || strchr(" ._-+/()", c);
        ret[length++] = plain ? c : '?';
    }
    ret[length] = '\0';
}

void dti_engine_close(struct dti_engine *engine)
{
    dti_library_close(engine->library);
    engine->library = NULL;
}
