/* SPDX-License-Identifier: MIT
 *
 * Finds options of a table by name, and which were given, as stored in the parsed struct, to detect
 * options that exclude each other. */
#include <assert.h>
#include <string.h>

#include "requests/option.h"
#include "util/text/ascii.h"

const struct dti_option *dti_option_find_long(const struct dti_option *options, const char *name,
                                              size_t length)
{
    for (; options && options->kind != DTI_OPTION_END; options++) {
        const char *const own = dti_option_name(options);
        if ((own[0] == name[0] && dti_text_is(name, length, own)) ||
            (options->more && options->more->alias &&
             dti_text_is(name, length, options->more->alias)))
            return options;
    }
    return NULL;
}

/* Options that were not given are still zero. */
static bool is_given(const struct dti_option *option, const char *args)
{
    static const char zeros[sizeof(char *)];
    const bool marked = option->given_offset != DTI_NO_GIVEN;
    const size_t size = marked || option->kind == DTI_OPTION_FLAG ? sizeof(bool)
                        : option->kind == DTI_OPTION_SET          ? sizeof(int)
                                                                  : sizeof(char *);
    return memcmp(args + (marked ? option->given_offset : option->offset), zeros, size) != 0;
}

const char *dti_option_given(const struct dti_option *options, const void *args, const char *names)
{
    for (size_t length; (length = strcspn(names, " ")) > 0;) {
        const struct dti_option *const option = dti_option_find_long(options, names, length);
        assert(option); /* the names are in the code */
        if (is_given(option, args))
            return dti_option_name(option);
        names += length + (names[length] == ' ');
    }
    return NULL;
}
