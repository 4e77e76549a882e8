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
static bool has_user(const char *address, size_t length)
{
    const size_t host = (size_t)(strstr(address, "://") + 3 - address);
    const size_t end = host + strcspn(address + host, "/?#");
    return memchr(address + host, '@', (end < length ? end : length) - host) != NULL;
}

/* Keeps an address with its query; takes the memory of `whole`. */
static enum dti_status keep(const char *address, char *whole, struct dti_error *reterr)
{
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

/* Takes the query out of the first `length` letters. What follows them moves up. */
static enum dti_status take(char *address, size_t length, struct dti_error *reterr)
{
    if (has_user(address, length))
        return dti_fail(reterr, DTI_USAGE,
                        "an address contains a user name or a password; leave them out");
    const size_t shown = dti_remote_shown_length(address);
    if (shown >= length || address[shown] != '?')
        return DTI_OK;
    char *const whole = strndup(address, length), *const rest = strdup(address + length);
    if (!whole || !rest) {
        free(whole);
        free(rest);
        return dti_no_memory(reterr);
    }
    address[shown] = '\0';
    const enum dti_status status = keep(address, whole, reterr);
    memcpy(address + shown, rest, strlen(rest) + 1);
    free(rest);
    return status;
}

enum dti_status dti_remote_take_query(char *word, struct dti_error *reterr)
{
    char *const address = find_address(word);
    enum dti_status status = DTI_OK;
    if (address)
        return take(address, strlen(address), reterr);
    /* those of an expression: @"https://..." */
    for (char *at = word; *at != '\0' && status == DTI_OK; at++) {
        const char quote[] = {*at, '\0'};
        if ((*at == '"' || *at == '\'') && dti_is_address(at + 1))
            status = take(at + 1, strcspn(at + 1, quote), reterr);
    }
    return status;
}
