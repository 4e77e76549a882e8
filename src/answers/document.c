/* SPDX-License-Identifier: MIT
 *
 * The members of an object, as its rows add them. */
#include "answers/document.h"

#include <assert.h>
#include <string.h>

void dti_object_read(struct dti_object *ret, dti_object_rows *rows)
{
    ret->count = 0;
    rows(ret);
}

struct dti_member *dti_object_add(struct dti_object *object, const char *key, const char *meaning,
                                  enum dti_member_type type, unsigned flags)
{
    assert(object->count < DTI_OBJECT_MEMBERS_MOST);
    struct dti_member *const member = &object->members[object->count++];
    *member = (struct dti_member){.key = key, .meaning = meaning, .type = type, .flags = flags};
    return member;
}

bool dti_object_member(struct dti_member *ret, dti_object_rows *rows, const char *key)
{
    struct dti_object object;
    bool found = false;
    dti_object_read(&object, rows);
    for (size_t i = 0; i < object.count && !found; i++) {
        const struct dti_member *const member = &object.members[i];
        if (member->type == DTI_MEMBERS_OF) {
            found = dti_object_member(ret, member->object, key);
        } else if (member->key && strcmp(member->key, key) == 0) {
            *ret = *member;
            found = true;
        }
    }
    return found;
}
