/* SPDX-License-Identifier: MIT
 *
 * Addresses in the words of a command line: their queries are removed before anything else sees the
 * words. */
#include <stdlib.h>
#include <string.h>

#include "cli/shell/addresses.h"
#include "io/net/remote.h"
#include "util/run/allocate.h"

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

/* An address with a user name would leak it wherever the address is quoted. */
static bool has_user(const char *address, size_t length)
{
    const size_t host = (size_t)(strstr(address, "://") + 3 - address);
    const size_t end = host + strcspn(address + host, "/?#");
    return memchr(address + host, '@', (end < length ? end : length) - host) != NULL;
}

/* Removes the query from the first `length` characters, and moves up what follows them. */
static enum dti_status take_query(char *address, size_t length, struct dti_error *reterr)
{
    if (has_user(address, length))
        return dti_fail(reterr, DTI_USAGE,
                        "an address contains a user name or a password; leave them out");
    const size_t shown = dti_remote_shown_length(address);
    if (shown >= length || address[shown] != '?')
        return DTI_OK;
    char *const whole = dti_strndup(address, length), *const rest = dti_strdup(address + length);
    if (!whole || !rest) {
        dti_free(whole);
        dti_free(rest);
        return dti_no_memory(reterr);
    }
    address[shown] = '\0';
    const enum dti_status status = dti_remote_keep_query(address, whole, reterr);
    memcpy(address + shown, rest, strlen(rest) + 1);
    dti_free(rest);
    return status;
}

enum dti_status dti_addresses_take_query(char *word, struct dti_error *reterr)
{
    char *const address = find_address(word);
    enum dti_status status = DTI_OK;
    if (address)
        return take_query(address, strlen(address), reterr);
    /* those of an expression: @"https://..." */
    for (char *at = word; *at != '\0' && status == DTI_OK; at++) {
        const char quote[] = {*at, '\0'};
        if ((*at == '"' || *at == '\'') && dti_is_address(at + 1))
            status = take_query(at + 1, strcspn(at + 1, quote), reterr);
    }
    return status;
}
