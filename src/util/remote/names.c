/* SPDX-License-Identifier: MIT
 *
 * The names of addresses: without the query, which may be a signature. The command line hands all
 * queries in before anything else sees its words, and opening an address finds them here. */
#include "util/remote/names.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/remote.h"

enum { MOST = 64 };

static struct {
    size_t count;
    char *shown[MOST], *whole[MOST]; /* never freed: words of the command line */
} kept;

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
    for (size_t i = 0; i < kept.count; i++) {
        if (strcmp(kept.shown[i], shown) == 0)
            return kept.whole[i];
    }
    return shown;
}

size_t dti_remote_shown_length(const char *address)
{
    return starts(address, "hf://") ? strlen(address) : strcspn(address, "?#");
}

/* "https://...", "--input=https://...", "-ihttps://..." */
static char *find_address(char *word)
{
    char *const equals = strchr(word, '=');
    if (dti_is_address(word))
        return word;
    if (word[0] != '-' || word[1] == '\0')
        return NULL;
    if (word[1] != '-' && dti_is_address(word + 2))
        return word + 2;
    return equals && dti_is_address(equals + 1) ? equals + 1 : NULL;
}

/* Whoever quoted it would show it. */
static bool has_user(const char *address)
{
    const char *const host = strstr(address, "://") + 3;
    return memchr(host, '@', strcspn(host, "/?#")) != NULL;
}

enum dti_status dti_remote_take_query(char *word, struct dti_error *reterr)
{
    char *const address = find_address(word);
    if (address && has_user(address))
        return dti_fail(reterr, DTI_USAGE,
                        "an address contains a user name or a password; leave them out");
    if (!address || address[dti_remote_shown_length(address)] != '?')
        return DTI_OK;
    char *const whole = strdup(address);
    if (!whole)
        return dti_no_memory(reterr);
    address[dti_remote_shown_length(address)] = '\0';
    const char *const known = dti_remote_whole(address);
    const bool again = known != address;
    enum dti_status status = DTI_OK;
    if (again && strcmp(known, whole) != 0)
        status = dti_fail_word(reterr, DTI_USAGE, address, strlen(address),
                               "two addresses differ only in what follows the ? of %s; download "
                               "one of the files first",
                               DTI_QUOTED(address, strlen(address)));
    else if (!again && kept.count == MOST)
        status = dti_fail(reterr, DTI_USAGE, "more than %d addresses with a query", (int)MOST);
    char *const shown = status == DTI_OK && !again ? strdup(address) : NULL;
    if (!shown) {
        free(whole);
        return status != DTI_OK || again ? status : dti_no_memory(reterr);
    }
    kept.shown[kept.count] = shown;
    kept.whole[kept.count++] = whole;
    return DTI_OK;
}
