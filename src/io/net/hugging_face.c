/* SPDX-License-Identifier: MIT
 *
 * The hub behind hf:// addresses: its endpoint, its token, and the commit of each model. A
 * revision such as "main" may move at any time, so files of a model that are read together are
 * pinned to one commit. */
#include <stdlib.h>
#include <string.h>

#include "io/net/net_state.h"
#include "io/net/remote_file.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"

enum { TOKEN_MOST = 4096 };

static const struct dti_hf_pinned *find(const struct dti_net *net, const char *path)
{
    for (const struct dti_hf_pinned *pin = net->pins; pin; pin = pin->next) {
        if (strncmp(path, pin->model, pin->length) == 0)
            return pin;
    }
    return NULL;
}

/* Length of "hf://org/model@revision", without a slash. */
static size_t model_length(const char *path)
{
    size_t length = strlen("hf://");
    length += strcspn(path + length, "/");
    if (path[length] == '/')
        length += 1 + strcspn(path + length + 1, "/");
    return length;
}

static struct dti_hf_pinned *make(const char *path, const char *commit)
{
    const size_t length = model_length(path);
    struct dti_hf_pinned *const pin = dti_calloc(1, sizeof *pin + length + 1);
    if (pin) {
        memcpy(pin->commit, commit, strlen(commit));
        memcpy(pin->model, path, length);
        pin->model[length] = '/';
        pin->length = length + 1;
    }
    return pin;
}

bool dti_hf_pin(const struct dti_remote *remote, const char *commit)
{
    struct dti_net *const net = dti_net();
    pthread_mutex_lock(&net->lock);
    const struct dti_hf_pinned *const known = find(net, remote->shown);
    const bool same = !known || strcmp(known->commit, commit) == 0;
    struct dti_hf_pinned *const pin = known ? NULL : make(remote->shown, commit);
    if (pin) {
        pin->next = net->pins;
        net->pins = pin;
    }
    pthread_mutex_unlock(&net->lock);
    return same;
}

enum dti_status dti_hf_token(struct dti_remote *remote, struct dti_error *reterr)
{
    const char *const token = dti_environment("HF_TOKEN");
    if (!remote->of_hf || !token || !*token)
        return DTI_OK;
    for (size_t i = 0; token[i] != '\0'; i++) {
        if (token[i] <= ' ' || token[i] > '~' || i == TOKEN_MOST)
            return dti_fail(reterr, DTI_BAD_ENVIRONMENT,
                            "environment variable HF_TOKEN contains what no token does");
    }
    remote->token = dti_strdup(token);
    return remote->token ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_hf_endpoint(const char **ret, struct dti_error *reterr)
{
    const char *endpoint = dti_environment("HF_ENDPOINT");
    struct dti_address address;
    if (!endpoint || !*endpoint)
        endpoint = "https://huggingface.co";
    const char *const why =
        strchr(endpoint, '?') ? "it has a query" : dti_address_parse(&address, endpoint);
    if (why == dti_address_no_memory)
        return dti_no_memory(reterr);
    if (why)
        return dti_fail(reterr, DTI_BAD_ENVIRONMENT,
                        "environment variable HF_ENDPOINT is no address: %s", why);
    dti_address_free(&address);
    *ret = endpoint;
    return DTI_OK;
}

enum dti_status dti_hf_address(struct dti_remote *remote, const char **ret_why,
                               struct dti_error *reterr)
{
    struct dti_net *const net = dti_net();
    const char *endpoint;
    const enum dti_status status = dti_hf_endpoint(&endpoint, reterr);
    if (status != DTI_OK)
        return status;
    pthread_mutex_lock(&net->lock);
    const struct dti_hf_pinned *const pin = find(net, remote->shown);
    pthread_mutex_unlock(&net->lock);
    dti_address_free(&remote->start);
    *ret_why = dti_address_of_hf(&remote->start, remote->shown, endpoint, pin ? pin->commit : NULL);
    return DTI_OK;
}
