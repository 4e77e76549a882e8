/* SPDX-License-Identifier: MIT
 *
 * The one place that gives the writer of documents a stream in memory. */
#include "library/text_document.h"

#include <stdlib.h>

#include "io/input.h"
#include "util/run/allocate.h"

enum dti_status dti_text_document_open(struct dti_text_document *ret, struct dti_error *reterr)
{
    *ret = (struct dti_text_document){.json = dti_json_new()};
    if (ret->json)
        ret->stream = open_memstream(&ret->text, &ret->length);
    return ret->stream ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_text_document_give(struct dti_text_document *document, char **ret,
                                       struct dti_error *reterr)
{
    enum dti_status status = dti_inputs_unchanged(reterr);
    if (status == DTI_OK)
        status = dti_json_write(document->json, document->stream, reterr);
    if (status == DTI_WRITE_FAILED || (status == DTI_OK && fflush(document->stream) != 0))
        status = dti_no_memory(reterr); /* a stream in memory fails for no other reason */
    char *const text = status == DTI_OK ? dti_malloc(document->length + 1) : NULL;
    if (status != DTI_OK)
        return status;
    if (!text)
        return dti_no_memory(reterr);
    memcpy(text, document->text, document->length + 1);
    *ret = text;
    return DTI_OK;
}

void dti_text_document_end(struct dti_text_document *document)
{
    if (document->stream)
        (void)fclose(document->stream);
    free(document->text);
    dti_json_free(document->json);
}
