/* SPDX-License-Identifier: MIT
 *
 * The list of documents. */
#include "answers/document.h"

#define DOCUMENT_NAMED(name) extern const struct dti_document dti_schema_##name;
#include "answers/documents.def"
#undef DOCUMENT_NAMED

const struct dti_document *const dti_documents[] = {
#define DOCUMENT_NAMED(name) &dti_schema_##name,
#include "answers/documents.def"
#undef DOCUMENT_NAMED
};
const size_t dti_document_count = sizeof dti_documents / sizeof *dti_documents;
