/* SPDX-License-Identifier: MIT
 *
 * The hub's description of a model, which lists its files: the one document that is read whole, not
 * in ranges. */
#include <string.h>

#include "io/net/net_state.h"
#include "io/net/remote.h"
#include "io/net/remote_file.h"
#include "util/run/allocate.h"

enum { DESCRIPTION_MOST = 32 << 20 }; /* bytes: models with 100,000 files have a few MB */

/* Everything that a request of the description needs; its error is final. */
static enum dti_status prepare(struct dti_remote *remote, const char *model,
                               struct dti_error *reterr)
{
    struct dti_error error;
    const char *endpoint, *why = NULL;
    size_t length = strlen(model);
    length -= length > 0 && model[length - 1] == '/';
    remote->shown = dti_strndup(model, length);
    remote->of_hf = true;
    if (!remote->shown)
        return dti_no_memory(reterr);
    enum dti_status status = dti_hf_endpoint(&endpoint, reterr);
    if (status == DTI_OK)
        why = dti_address_of_hub(&remote->start, remote->shown, endpoint);
    if (why == dti_address_no_memory)
        return dti_no_memory(reterr);
    if (why)
        return dti_remote_fail(remote, why, reterr);
    if (status == DTI_OK)
        status = dti_hf_token(remote, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_curl_load(&remote->curl, &error);
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    return status == DTI_OK
               ? DTI_OK
               : dti_fail(reterr, status, "reading addresses needs libcurl: %s", error.text);
}

enum dti_status dti_hub_describe(const char *model, struct dti_buffer *ret,
                                 struct dti_error *reterr)
{
    struct dti_remote *const remote = dti_net_make() ? dti_calloc(1, sizeof *remote) : NULL;
    size_t size = 0;
    if (!remote)
        return dti_no_memory(reterr);
    pthread_mutex_init(&remote->lock, NULL);
    remote->file.size = remote->linked.size = UINT64_MAX;
    enum dti_status status = prepare(remote, model, reterr);
    if (status == DTI_OK && !dti_buffer_reserve(ret, DESCRIPTION_MOST))
        status = dti_no_memory(reterr);
    struct dti_call call;
    dti_call_keep(&call);
    if (status == DTI_OK)
        status =
            dti_remote_document(remote, ret->data + ret->length, DESCRIPTION_MOST, &size, reterr);
    dti_call_leave(&call);
    if (status == DTI_OK)
        ret->length += size;
    dti_remote_free(remote);
    return status;
}
