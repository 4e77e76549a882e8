/* SPDX-License-Identifier: MIT
 *
 * The JSON documents of commands as rows, which generate the JSON Schemas and the manual page; they
 * come from the same lines as the code that writes the documents (rows.h). A function adds the rows
 * of an object when they are asked for: tables of pointers would be relocated at every start. */
#ifndef ANSWERS_DOCUMENT_H
#define ANSWERS_DOCUMENT_H

#include "report/json.h"

enum dti_member_type {
    DTI_MEMBER_BOOL,
    DTI_MEMBER_UINT,
    DTI_MEMBER_POSITIVE, /* an integer >= 1 */
    DTI_MEMBER_INT,
    DTI_MEMBER_DOUBLE,
    DTI_MEMBER_MEASURE, /* a nonnegative number */
    DTI_MEMBER_TEXT,
    DTI_MEMBER_OBJECT,
    /* Not members: */
    DTI_MEMBERS_OF,       /* the members of another object */
    DTI_MEMBERS_OPTIONAL, /* members up to the end are optional */
    DTI_MEMBERS_OPTIONAL_END
};

enum { DTI_MEMBER_NULLABLE = 1, DTI_MEMBER_LIST = 2, DTI_MEMBER_NULLS = 4 /* in the list */ };

struct dti_object;
/* Adds the members of an object, and names it. */
typedef void dti_object_rows(struct dti_object *ret);

struct dti_member {
    const char *key, *meaning; /* meaning: a sentence without a full stop, or "" */
    enum dti_member_type type; /* of a list: the type of its elements */
    unsigned flags;
    const char *pattern;               /* of texts: a regular expression, or NULL */
    const char *(*word)(size_t index); /* of texts: the possible values, NULL after the last */
    dti_object_rows *object;
};

enum { DTI_OBJECT_MEMBERS_MOST = 64 };
struct dti_object {
    const char *name;
    bool common; /* defined once, shared by all documents */
    size_t count;
    struct dti_member members[DTI_OBJECT_MEMBERS_MOST];
};

struct dti_document {
    const char *name, *schema; /* "cast", "dtinfo.cast/1" */
    const char *meaning;
    dti_object_rows *object;
};

/* Fills in an object from its rows. */
void dti_object_read(struct dti_object *ret, dti_object_rows *rows);
/* For rows: adds a member, whose further fields the caller sets. */
struct dti_member *dti_object_add(struct dti_object *object, const char *key, const char *meaning,
                                  enum dti_member_type type, unsigned flags);

/* The row of a member, including members added by MEMBERS_OF; false if there is none. */
bool dti_object_member(struct dti_member *ret, dti_object_rows *object, const char *key);

/* The document of a schema, "dtinfo.cast/1", or NULL. */
const struct dti_document *dti_document_find(const char *schema);

/* Adds the JSON Schema (draft 2020-12) of each document and, as "common", that of the common
 * objects, as members of the open object. */
void dti_schemas_put(struct dti_json *json);

#endif
