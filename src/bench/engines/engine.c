/* SPDX-License-Identifier: MIT
 *
 * What engines have in common. */
#include "bench/engines/engine.h"

#include <stdio.h>
#include <string.h>

bool dti_engine_symbols(struct dti_engine *engine, const char *const *names, size_t count,
                        size_t needed, const char **ret_missing)
{
    for (size_t i = 0; i < count; i++) {
        void *const found = dti_library_symbol(engine->library, names[i]);
        /* data and functions have pointers of one size wherever there are such libraries */
        memcpy(&engine->symbols[i], &found, sizeof found);
        if (!found && i < needed) {
            *ret_missing = names[i];
            return false;
        }
    }
    return true;
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
