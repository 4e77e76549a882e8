/* SPDX-License-Identifier: MIT
 *
 * The list of documents, and what they have. */
#include <string.h>

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

const struct dti_member *dti_object_member(const struct dti_object *object, const char *key)
{
    const struct dti_member *found = NULL;
    for (size_t i = 0; i < object->count && !found; i++) {
        const struct dti_member *const member = &object->members[i];
        if (member->type == DTI_MEMBERS_OF)
            found = dti_object_member(member->object, key);
        else if (member->key && strcmp(member->key, key) == 0)
            found = member;
    }
    return found;
}
