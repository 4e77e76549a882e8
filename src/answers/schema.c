/* SPDX-License-Identifier: MIT
 *
 * JSON Schema (draft 2020-12) of the documents, from their tables. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "answers/common.h"

#define DOCUMENT_NAMED(name) extern const struct dti_document dti_schema_##name;
#include "answers/documents.def"
#undef DOCUMENT_NAMED
static const struct dti_document *const documents[] = {
#define DOCUMENT_NAMED(name) &dti_schema_##name,
#include "answers/documents.def"
#undef DOCUMENT_NAMED
};
static dti_object_rows *const common_objects[] = {
    dti_object_number, dti_object_neighbour, dti_object_fields, dti_object_name, dti_object_warning,
};

enum { OBJECTS_MAX = 64 }; /* most objects of one document that are not common */

/* The objects a document refers to, in the order of first use. */
struct objects {
    dti_object_rows *list[OBJECTS_MAX];
    size_t count;
};

static const char *const type_names[] = {
    [DTI_MEMBER_BOOL] = "boolean",     [DTI_MEMBER_UINT] = "integer",
    [DTI_MEMBER_POSITIVE] = "integer", [DTI_MEMBER_INT] = "integer",
    [DTI_MEMBER_DOUBLE] = "number",    [DTI_MEMBER_MEASURE] = "number",
    [DTI_MEMBER_TEXT] = "string",      [DTI_MEMBER_OBJECT] = "object",
};

/* The unit is the suffix of the key. */
static const char *unit_of(const char *key)
{
    static const struct {
        const char *ending, *unit;
    } units[] = {
        {"bytes_per_second", "bytes/s"},
        {"seconds", "s"},
        {"bytes", "bytes"},
        {"bits", "bits"},
        {"_db", "dB"},
        {"_mhz", "MHz"},
        {"_ms", "ms"},
        {"_percent", "%"},
    };
    const size_t length = strlen(key);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t ending = strlen(units[i].ending);
        if (length >= ending && strcmp(key + length - ending, units[i].ending) == 0)
            return units[i].unit;
    }
    return NULL;
}

/* Nothing for NULL. */
static void put_text(struct dti_json *json, const char *key, const char *text)
{
    if (text)
        dti_json_string(json, key, text);
}

static void remember(struct objects *objects, dti_object_rows *object)
{
    for (size_t i = 0; i < objects->count; i++) {
        if (objects->list[i] == object)
            return;
    }
    assert(objects->count < OBJECTS_MAX);
    objects->list[objects->count++] = object;
}

static void put_reference(struct dti_json *json, dti_object_rows *rows, struct objects *objects)
{
    struct dti_object object;
    char text[128];
    dti_object_read(&object, rows);
    (void)snprintf(text, sizeof text, "%s#/$defs/%s",
                   object.common && objects ? "common.schema.json" : "", object.name);
    dti_json_string(json, "$ref", text);
    assert(object.common || objects); /* common definitions refer only to each other */
    if (!object.common)
        remember(objects, rows);
}

static void put_null(struct dti_json *json)
{
    dti_json_object(json, NULL);
    dti_json_string(json, "type", "null");
    dti_json_end(json);
}

static void put_type(struct dti_json *json, const char *type, bool nullable)
{
    if (!nullable) {
        dti_json_string(json, "type", type);
        return;
    }
    dti_json_array(json, "type");
    dti_json_string(json, NULL, type);
    dti_json_string(json, NULL, "null");
    dti_json_end(json);
}

/* One value: of a member, or of an element of its list. */
static void put_value(struct dti_json *json, const struct dti_member *member, bool nullable,
                      struct objects *objects)
{
    if (member->type == DTI_MEMBER_OBJECT && !nullable) {
        put_reference(json, member->object, objects);
    } else if (member->type == DTI_MEMBER_OBJECT) {
        dti_json_array(json, "anyOf");
        dti_json_object(json, NULL);
        put_reference(json, member->object, objects);
        dti_json_end(json);
        put_null(json);
        dti_json_end(json);
    } else if (member->word) {
        dti_json_array(json, "enum");
        for (size_t i = 0; member->word(i); i++)
            dti_json_string(json, NULL, member->word(i));
        if (nullable)
            dti_json_null(json, NULL);
        dti_json_end(json);
    } else {
        put_type(json, type_names[member->type], nullable);
        put_text(json, "pattern", member->pattern);
    }
    if (member->type == DTI_MEMBER_UINT || member->type == DTI_MEMBER_MEASURE)
        dti_json_uint(json, "minimum", 0);
    if (member->type == DTI_MEMBER_POSITIVE)
        dti_json_uint(json, "minimum", 1);
}

static void put_member(struct dti_json *json, const struct dti_member *member,
                       struct objects *objects)
{
    const bool nullable = member->flags & DTI_MEMBER_NULLABLE;
    dti_json_object(json, member->key);
    if (member->flags & DTI_MEMBER_LIST) {
        put_type(json, "array", nullable);
        dti_json_object(json, "items");
        put_value(json, member, member->flags & DTI_MEMBER_NULLS, objects);
        dti_json_end(json);
    } else {
        put_value(json, member, nullable, objects);
    }
    put_text(json, "description", member->meaning[0] != '\0' ? member->meaning : NULL);
    if (member->type < DTI_MEMBER_TEXT)
        put_text(json, "unit", unit_of(member->key));
    dti_json_end(json);
}

static void put_properties(struct dti_json *json, dti_object_rows *rows, struct objects *objects)
{
    struct dti_object object;
    dti_object_read(&object, rows);
    for (size_t i = 0; i < object.count; i++) {
        const struct dti_member *const member = &object.members[i];
        if (member->key)
            put_member(json, member, objects);
        else if (member->type == DTI_MEMBERS_OF)
            put_properties(json, member->object, objects);
    }
}

static void put_required(struct dti_json *json, dti_object_rows *rows, bool optional)
{
    struct dti_object object;
    dti_object_read(&object, rows);
    for (size_t i = 0; i < object.count; i++) {
        const struct dti_member *const member = &object.members[i];
        if (member->type == DTI_MEMBERS_OPTIONAL || member->type == DTI_MEMBERS_OPTIONAL_END)
            optional = member->type == DTI_MEMBERS_OPTIONAL;
        else if (member->type == DTI_MEMBERS_OF && !optional)
            put_required(json, member->object, false);
        else if (member->key && !optional)
            dti_json_string(json, NULL, member->key);
    }
}

/* schema: that of a document, whose first members have no rows, or NULL. */
static void put_object(struct dti_json *json, dti_object_rows *object, const char *schema,
                       struct objects *objects)
{
    dti_json_string(json, "type", "object");
    dti_json_array(json, "required");
    if (schema) {
        dti_json_string(json, NULL, "schema");
        dti_json_string(json, NULL, "dtinfo");
    }
    put_required(json, object, false);
    dti_json_end(json);
    dti_json_object(json, "properties");
    if (schema) {
        dti_json_object(json, "schema");
        dti_json_string(json, "const", schema);
        dti_json_end(json);
        dti_json_object(json, "dtinfo");
        dti_json_string(json, "type", "string");
        dti_json_string(json, "pattern", "^[0-9]+\\.[0-9]+\\.[0-9]+");
        dti_json_string(json, "description", "the version of dtinfo that wrote the document");
        dti_json_end(json);
    }
    put_properties(json, object, objects);
    dti_json_end(json);
}

static void put_definition(struct dti_json *json, dti_object_rows *rows, struct objects *objects)
{
    struct dti_object object;
    dti_object_read(&object, rows);
    dti_json_object(json, object.name);
    put_object(json, rows, NULL, objects);
    dti_json_end(json);
}

static void put_head(struct dti_json *json, const char *name, const char *file, const char *title,
                     const char *meaning)
{
    dti_json_object(json, name);
    dti_json_string(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    dti_json_string(json, "$id", file);
    dti_json_string(json, "title", title);
    put_text(json, "description", meaning);
}

static void put_document(struct dti_json *json, const struct dti_document *document)
{
    struct objects objects = {.count = 0};
    char file[64];
    (void)snprintf(file, sizeof file, "dtinfo.%s.schema.json", document->name);
    put_head(json, document->name, file, document->schema, document->meaning);
    put_object(json, document->object, document->schema, &objects);
    if (objects.count > 0) {
        dti_json_object(json, "$defs");
        for (size_t i = 0; i < objects.count; i++) { /* which may add more */
            put_definition(json, objects.list[i], &objects);
        }
        dti_json_end(json);
    }
    dti_json_end(json);
}

void dti_schemas_put(struct dti_json *json)
{
    put_head(json, "common", "common.schema.json", "definitions shared by the documents of dtinfo",
             NULL);
    dti_json_object(json, "$defs");
    for (size_t i = 0; i < sizeof common_objects / sizeof *common_objects; i++) {
        put_definition(json, common_objects[i], NULL);
    }
    dti_json_end(json);
    dti_json_end(json);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        put_document(json, documents[i]);
}

const struct dti_document *dti_document_find(const char *schema)
{
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        if (strcmp(documents[i]->schema, schema) == 0)
            return documents[i];
    }
    return NULL;
}
