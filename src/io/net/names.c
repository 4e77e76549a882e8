/* SPDX-License-Identifier: MIT
 *
 * Display names of addresses: without the query, which may hold a signature. Code that receives
 * addresses registers their queries here; opening an address looks them up. */
#include "io/net/names.h"

#include <stdlib.h>
#include <string.h>

#include "io/net/remote.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

enum { MOST = 64 };

/* Of the current caller. */
struct names {
    struct dti_caller_state state;
    size_t count;
    char *shown[MOST], *whole[MOST];
};

static void end(struct dti_caller_state *state)
{
    struct names *const names = (struct names *)(void *)state;
    for (size_t i = 0; i < names->count; i++) {
        dti_free(names->shown[i]);
        dti_free(names->whole[i]);
    }
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool dti_is_address(const char *path)
{
    return starts(path, "https://") || starts(path, "http://") || starts(path, "hf://");
}

const char *dti_remote_whole(const char *shown)
{
    const struct names *const names = dti_caller_state_there(DTI_STATE_NAMES);
    for (size_t i = 0; names && i < names->count; i++) {
        if (strcmp(names->shown[i], shown) == 0)
            return names->whole[i];
    }
    return shown;
}

bool dti_is_hub_model(const char *path)
{
    if (!starts(path, "hf://"))
        return false;
    const char *const model = path + strlen("hf://") + strcspn(path + strlen("hf://"), "/");
    const size_t length = *model == '/' ? strcspn(model + 1, "/") : 0;
    const char *const rest = length > 0 ? model + 1 + length : "/file";
    return strcmp(rest, "") == 0 || strcmp(rest, "/") == 0;
}

size_t dti_remote_shown_length(const char *address)
{
    return starts(address, "hf://") ? strlen(address) : strcspn(address, "?#");
}

enum dti_status dti_remote_keep_query(const char *address, char *whole, struct dti_error *reterr)
{
    const char *const known = dti_remote_whole(address);
    const bool again = known != address;
    struct names *const names = dti_caller_state(DTI_STATE_NAMES, sizeof *names, NULL, end);
    enum dti_status status = names ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK && again && strcmp(known, whole) != 0)
        status = dti_fail_word(reterr, DTI_USAGE, address, strlen(address),
                               "two addresses differ only in what follows the ? of %s; download "
                               "one of the files first",
                               DTI_QUOTED(address, strlen(address)));
    else if (status == DTI_OK && !again && names->count == MOST)
        status = dti_fail(reterr, DTI_USAGE, "more than %d addresses with a query", (int)MOST);
    char *const shown = status == DTI_OK && !again ? dti_strdup(address) : NULL;
    if (!shown) {
        dti_free(whole);
        return status != DTI_OK || again ? status : dti_no_memory(reterr);
    }
    names->shown[names->count] = shown;
    names->whole[names->count++] = whole;
    return DTI_OK;
}
