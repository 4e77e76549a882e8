/* SPDX-License-Identifier: MIT
 *
 * A JSON document in memory. */
#ifndef LIBRARY_TEXT_DOCUMENT_H
#define LIBRARY_TEXT_DOCUMENT_H

#include "report/json.h"
#include "util/buffer.h"
#include "util/sink.h"

/* Zeros: nothing is open. Must not be moved while it is open. */
struct dti_text_document {
    struct dti_json *json;
    struct dti_sink sink; /* for finished elements */
    struct dti_buffer text;
};

/* Fails with DTI_NO_MEMORY. Always end it. */
enum dti_status dti_text_document_open(struct dti_text_document *ret, struct dti_error *reterr);
/* Gives the document to the caller, as text for dti_text_free(), unless a file changed while it was
 * read. Fails with DTI_BAD_INPUT for that, and with DTI_NO_MEMORY. */
enum dti_status dti_text_document_give(struct dti_text_document *document, char **ret,
                                       struct dti_error *reterr);
void dti_text_document_end(struct dti_text_document *document);

#endif
