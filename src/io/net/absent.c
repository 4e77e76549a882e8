/* SPDX-License-Identifier: MIT
 *
 * Stubs for a build without support for addresses. */
#include <errno.h>
#include <string.h>

#include "io/net/names.h"
#include "io/net/remote.h"

void dti_remote_prepare(void)
{
}

enum dti_status dti_remote_open(struct dti_input *ret, const char *path, int *ret_absent,
                                struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    (void)ret;
    *ret_absent = EIO;
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "cannot read %s: this build reads no addresses; download the file first",
                    dti_quote(label, path, dti_remote_shown_length(path)));
}

enum dti_status dti_remote_open_sibling(struct dti_input *ret, const char *anchor, const char *name,
                                        struct dti_error *reterr)
{
    int absent;
    (void)name;
    return dti_remote_open(ret, anchor, &absent, reterr);
}

enum dti_status dti_hub_describe(const char *model, struct dti_buffer *ret,
                                 struct dti_error *reterr)
{
    struct dti_input input;
    int absent;
    (void)ret;
    return dti_remote_open(&input, model, &absent, reterr);
}

void dti_remote_want(const struct dti_input *input, size_t size)
{
    (void)input;
    (void)size;
}
