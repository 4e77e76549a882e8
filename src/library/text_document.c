/* SPDX-License-Identifier: MIT
 *
 * Documents that become a text of the caller. */
#include "library/text_document.h"

#include "io/input.h"
#include "util/run/allocate.h"

enum dti_status dti_text_document_open(struct dti_text_document *ret, struct dti_error *reterr)
{
    *ret = (struct dti_text_document){.json = dti_json_new()};
    dti_buffer_init(&ret->text);
    ret->sink = dti_sink_to_buffer(&ret->text);
    return ret->json ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_text_document_give(struct dti_text_document *document, char **ret,
                                       struct dti_error *reterr)
{
    enum dti_status status = dti_inputs_unchanged(reterr);
    if (status == DTI_OK)
        status = dti_json_write(document->json, &document->sink, reterr);
    if (status == DTI_WRITE_FAILED || (status == DTI_OK && document->text.failed))
        status = dti_no_memory(reterr); /* a buffer fails for no other reason */
    if (status == DTI_OK) {
        *ret = document->text.data;
        dti_buffer_init(&document->text);
    }
    return status;
}

void dti_text_document_end(struct dti_text_document *document)
{
    dti_buffer_free(&document->text);
    dti_json_free(document->json);
}
