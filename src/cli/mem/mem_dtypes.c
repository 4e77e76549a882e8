/* SPDX-License-Identifier: MIT
 *
 * Dtypes, block formats and types of GGUF as operands and options of mem name them. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "util/text/nearest.h"

enum dti_status dti_mem_look_up(const char *name, struct dti_mem_size *ret,
                                struct dti_error *reterr)
{
    struct dti_nearest nearest;
    struct dti_error error;
    *ret = (struct dti_mem_size){.note = NULL};
    if (dti_stored_find(name, &ret->as))
        return DTI_OK;
    const enum dti_status status = dti_format_lookup(name, &ret->as.format, &ret->note, &error);
    if (status == DTI_OK)
        return DTI_OK;
    dti_nearest_init(&nearest, name, strlen(name));
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        dti_nearest_offer(&nearest, dti_format_get((enum dti_dtype)id)->name);
    for (size_t i = 0; i < dti_block_format_count; i++)
        dti_nearest_offer(&nearest, dti_block_formats[i].name);
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++)
        dti_nearest_offer(&nearest, dti_gguf_type_of((enum dti_gguf_blocks)i)->word);
    if (status != DTI_UNKNOWN_DTYPE || nearest.count == 0) {
        if (reterr)
            *reterr = error;
        return status;
    }
    (void)dti_fail_word(reterr, status, name, strlen(name), "unknown dtype %s",
                        DTI_QUOTED(name, strlen(name)));
    dti_nearest_suggest(&nearest, reterr);
    return status;
}

enum dti_status dti_mem_each_dtype(const struct mem_job *job, const char *list,
                                   enum dti_status (*add)(struct dti_mem *mem,
                                                          const struct dti_mem_size *size,
                                                          struct dti_error *reterr),
                                   struct dti_mem *mem, struct dti_error *reterr)
{
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        char name[128] = "";
        struct dti_mem_size size;
        if (length < sizeof name)
            memcpy(name, at, length);
        enum dti_status status = dti_mem_look_up(length < sizeof name ? name : at, &size, reterr);
        if (status != DTI_OK)
            return status;
        if (size.note)
            dti_warn(job->cx, "%s", size.note);
        status = add(mem, &size, reterr);
        if (status != DTI_OK)
            return status;
        at += length;
        if (*at == '\0')
            return DTI_OK;
    }
}
