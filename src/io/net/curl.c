/* SPDX-License-Identifier: MIT
 *
 * Loads libcurl. */
#include "io/net/curl.h"

#include <stddef.h>

#include "util/run/library.h"
#include "util/run/once.h"

#define FUNCTION(member)                                         \
    {                                                            \
        "curl_" #member, offsetof(struct dti_curl, member), true \
    }
static const struct dti_library_function functions[] = {
    FUNCTION(global_init),   FUNCTION(easy_init),    FUNCTION(easy_setopt),
    FUNCTION(easy_perform),  FUNCTION(easy_getinfo), FUNCTION(easy_cleanup),
    FUNCTION(easy_strerror), FUNCTION(slist_append), FUNCTION(slist_free_all),
};
#undef FUNCTION

/* Of the process: never unloaded, constant once it is loaded. */
static struct {
    struct dti_once once;
    struct dti_library *library;
    struct dti_curl curl;
} state;

static enum dti_status load(struct dti_error *reterr)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    struct dti_error error;
    enum dti_status status = DTI_OK;
    if (!state.library)
        status = dti_library_open(&state.library, names, "DTINFO_LIBCURL", &error);
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    if (status != DTI_OK)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s; install the package libcurl4 or libcurl",
                        error.text);
    const char *const missing = dti_library_find(state.library, functions,
                                                 sizeof functions / sizeof *functions, &state.curl);
    if (missing)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s has no function %s",
                        dti_library_name(state.library), missing);
    if (state.curl.global_init(DTI_CURL_GLOBAL_DEFAULT) != DTI_CURLE_OK)
        return dti_fail(reterr, DTI_UNAVAILABLE, "libcurl cannot be initialized");
    return DTI_OK;
}

enum dti_status dti_curl_load(const struct dti_curl **ret, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (dti_once_begin(&state.once)) {
        status = load(reterr);
        dti_once_end(&state.once, status == DTI_OK);
    }
    if (status == DTI_OK)
        *ret = &state.curl;
    return status;
}
