/* SPDX-License-Identifier: MIT
 *
 * The grammar of .npy headers:
 *
 *     header = "{" [member {"," member} [","]] "}"      with each key once
 *     member = 'descr' ":" type | 'fortran_order' ":" (True | False) | 'shape' ":" tuple
 *     type   = string | "[" [field {"," field} [","]] "]" | "(" type "," extent ")"
 *     field  = "(" name "," type ["," extent] ")"       name = string | "(" string "," string ")"
 *     extent = number | tuple                           tuple = "()" | "(3,)" | "(2, 3)"
 *
 * which is what numpy writes, and less than Python would take. No recursion: nested types are on a
 * separate stack. */
#include <stdlib.h>
#include <string.h>

#include "containers/npy.h"
#include "containers/npy_literal.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/utf8.h"

enum {
    DEPTH_MAX = 32,             /* of nested types */
    ITEM_BYTES_MAX = INT32_MAX, /* numpy's */
};

/* The opening of a field and its name, with a title or without. */
static bool take_field_name(struct dti_npy_cursor *cursor, const char **ret, size_t *ret_length)
{
    const char *text;
    size_t length;
    if (!dti_npy_take(cursor, '('))
        return dti_npy_fail(cursor, "a field is not a tuple");
    if (dti_npy_take(cursor, '(')) {
        if (!dti_npy_take_string(cursor, &text, &length) || !dti_npy_take(cursor, ',') ||
            !dti_npy_take_string(cursor, &text, &length) || !dti_npy_take(cursor, ')'))
            return dti_npy_fail(cursor,
                                "the name of a field is neither a string nor a pair of strings");
    } else if (!dti_npy_take_string(cursor, &text, &length)) {
        return false;
    }
    *ret = text;
    *ret_length = length;
    return dti_npy_take(cursor, ',') || dti_npy_fail(cursor, "a field has no type");
}

/* A list of fields, or an array of another type, that has been begun. */
struct descr_level {
    bool list;
    uint64_t bytes;   /* of the fields so far */
    const char *name; /* of the last field, as spelled */
    size_t name_length;
    size_t first; /* of the fields within it */
};
struct nested {
    struct descr_level levels[DEPTH_MAX];
    unsigned depth;
    bool objects;
    struct dti_npy_fields *fields;
};

static bool begin_field(struct dti_npy_cursor *cursor, struct nested *nested)
{
    struct descr_level *const level = &nested->levels[nested->depth - 1];
    level->first = nested->fields->count;
    return take_field_name(cursor, &level->name, &level->name_length);
}

/* Appends "a.b", of the fields that have been begun; *ret_last: the innermost of them, or NULL. */
static void put_path(const struct dti_npy_cursor *cursor, const struct nested *nested,
                     struct dti_buffer *names, const struct descr_level **ret_last)
{
    *ret_last = NULL;
    for (unsigned i = 0; i < nested->depth; i++) {
        const struct descr_level *const level = &nested->levels[i];
        if (!level->list)
            continue;
        dti_buffer_puts(names, *ret_last ? "." : "");
        dti_npy_put_text(cursor, names, level->name, level->name_length);
        *ret_last = level;
    }
}

/* Room for one more. */
static bool grow(struct dti_npy_fields *fields)
{
    if (fields->count < fields->capacity)
        return true;
    const size_t capacity = fields->capacity > 0 ? 2 * fields->capacity : 16;
    struct dti_npy_field *const list = realloc(fields->list, capacity * sizeof *list);
    if (!list)
        return false;
    fields->list = list;
    fields->capacity = capacity;
    return true;
}

/* Without a name it is padding. */
static bool is_void(const char *descr)
{
    return descr[strchr("<>=|", descr[0]) != NULL] == 'V';
}

/* A field of a type that is not structured. Once there is a problem, no more are kept. */
static void add_field(const struct dti_npy_cursor *cursor, const struct nested *nested,
                      const char *descr, size_t length)
{
    struct dti_npy_fields *const fields = nested->fields;
    struct dti_buffer *const names = &fields->names;
    const size_t name_at = names->length;
    const struct descr_level *last;
    if (fields->problem)
        return;
    put_path(cursor, nested, names, &last);
    if (!last || (last->name_length == 0 && is_void(descr)))
        return;
    if (names->length - name_at > DTI_NPY_FIELD_NAME)
        fields->problem = "has a field with a name of more than 1024 bytes";
    else if (fields->count == DTI_NPY_FIELDS_MAX)
        fields->problem = "has more than 4096 fields";
    else if (!grow(fields))
        names->failed = true;
    else
        fields->list[fields->count++] =
            (struct dti_npy_field){.name_at = name_at,
                                   .name_length = names->length - name_at,
                                   .descr = descr,
                                   .descr_length = length};
}

/* What has been begun is an array of that shape, of items of *bytes. */
static bool take_extent(struct dti_npy_cursor *cursor, const struct nested *nested, uint64_t *bytes)
{
    struct dti_npy_fields *const fields = nested->fields;
    const struct descr_level *const level = &nested->levels[nested->depth - 1];
    uint64_t shape[DTI_NPY_RANK_MAX];
    unsigned rank = 1;
    if (!(dti_npy_next_is(cursor, "(") ? dti_npy_take_tuple(cursor, shape, &rank)
                                       : dti_npy_take_number(cursor, shape)))
        return false;
    if (level->list && level->name_length == 0 && rank > 0)
        fields->count = level->first; /* padding, too */
    for (unsigned i = rank; i-- > 0;) {
        for (size_t at = level->first; at < fields->count; at++) {
            struct dti_npy_field *const field = &fields->list[at];
            if (field->rank == DTI_NPY_FIELD_RANK) {
                fields->problem = "has a field of more than 8 dimensions";
                continue;
            }
            field->shape[field->rank] = shape[i];
            field->strides[field->rank++] = *bytes;
        }
        if (!dti_mul_u64(*bytes, shape[i], bytes) || *bytes > ITEM_BYTES_MAX)
            return dti_npy_fail(cursor, "an item takes more than 2147483647 bytes");
    }
    return true;
}

static bool take_simple(struct dti_npy_cursor *cursor, struct nested *nested, uint64_t *ret_bytes)
{
    const char *text;
    size_t length;
    struct dti_npy_type type;
    if (!dti_npy_take_string(cursor, &text, &length))
        return false;
    if (!dti_npy_type(text, length, &type))
        return dti_npy_fail(cursor, "the type of a field is not a numpy type");
    nested->objects |= type.sort == DTI_NPY_OBJECT;
    add_field(cursor, nested, text, length);
    *ret_bytes = type.item_bytes;
    return true;
}

/* Goes down to a type that is complete: a string, or a list without fields. */
static bool descend(struct dti_npy_cursor *cursor, struct nested *nested, uint64_t *ret_bytes)
{
    for (;;) {
        const bool list = dti_npy_next_is(cursor, "[");
        if (!list && !dti_npy_next_is(cursor, "("))
            return take_simple(cursor, nested, ret_bytes);
        if (nested->depth == DEPTH_MAX)
            return dti_npy_fail(cursor, "types are nested more than 32 deep");
        cursor->at++;
        if (list && dti_npy_take(cursor, ']')) {
            *ret_bytes = 0;
            return true;
        }
        nested->levels[nested->depth++] =
            (struct descr_level){.list = list, .first = nested->fields->count};
        if (list && !begin_field(cursor, nested))
            return false;
    }
}

/* Ends the innermost level with a type of *bytes, which becomes that of the whole level; or begins
 * its next field, and *ret_more is true. */
static bool ascend(struct dti_npy_cursor *cursor, struct nested *nested, uint64_t *bytes,
                   bool *ret_more)
{
    struct dti_npy_fields *const fields = nested->fields;
    struct descr_level *const level = &nested->levels[nested->depth - 1];
    *ret_more = false;
    if (dti_npy_take(cursor, ',')) {
        if (!take_extent(cursor, nested, bytes))
            return false;
    } else if (!level->list) {
        return dti_npy_fail(cursor, "an array type has no dimensions");
    }
    if (!dti_npy_take(cursor, ')'))
        return dti_npy_fail(cursor, "a bracket is missing");
    if (level->list) {
        for (size_t at = level->first; at < fields->count; at++)
            fields->list[at].offset += level->bytes;
        level->bytes += *bytes; /* at most 2^31 each, of at most a million fields */
        const bool comma = dti_npy_take(cursor, ',');
        if (!dti_npy_take(cursor, ']')) {
            *ret_more = true;
            return comma ? begin_field(cursor, nested)
                         : dti_npy_fail(cursor, "a comma is missing in a list");
        }
        *bytes = level->bytes;
    }
    if (*bytes > ITEM_BYTES_MAX)
        return dti_npy_fail(cursor, "an item takes more than 2147483647 bytes");
    nested->depth--;
    return true;
}

static bool take_structured(struct dti_npy_cursor *cursor, struct dti_npy_dictionary *ret,
                            struct dti_npy_fields *ret_fields)
{
    struct nested nested = {.fields = ret_fields};
    uint64_t bytes = 0;
    bool more;
    do {
        more = false;
        if (!descend(cursor, &nested, &bytes))
            return false;
        while (nested.depth > 0 && !more) {
            if (!ascend(cursor, &nested, &bytes, &more))
                return false;
        }
    } while (more);
    ret->objects = nested.objects;
    ret->item_bytes = bytes;
    return true;
}

static bool take_descr(struct dti_npy_cursor *cursor, struct dti_npy_dictionary *ret,
                       struct dti_npy_fields *ret_fields)
{
    ret->structured = dti_npy_next_is(cursor, "[(");
    if (!ret->structured)
        return dti_npy_take_string(cursor, &ret->descr, &ret->descr_length);
    ret->descr = cursor->at;
    if (!take_structured(cursor, ret, ret_fields))
        return false;
    ret->descr_length = (size_t)(cursor->at - ret->descr);
    return true;
}

static bool take_bool(struct dti_npy_cursor *cursor, bool *ret)
{
    dti_npy_skip_space(cursor);
    const size_t left = (size_t)(cursor->end - cursor->at);
    const bool is_true = left >= 4 && memcmp(cursor->at, "True", 4) == 0;
    if (!is_true && !(left >= 5 && memcmp(cursor->at, "False", 5) == 0))
        return dti_npy_fail(cursor, "'fortran_order' is neither True nor False");
    cursor->at += is_true ? 4 : 5;
    *ret = is_true;
    return true;
}

enum { KEY_DESCR, KEY_FORTRAN, KEY_SHAPE, KEYS };
static const struct {
    const char *name, *missing;
} keys[KEYS] = {
    [KEY_DESCR] = {.name = "descr", .missing = "the key 'descr' is missing"},
    [KEY_FORTRAN] = {.name = "fortran_order", .missing = "the key 'fortran_order' is missing"},
    [KEY_SHAPE] = {.name = "shape", .missing = "the key 'shape' is missing"},
};

static bool take_member(struct dti_npy_cursor *cursor, unsigned *seen,
                        struct dti_npy_dictionary *ret, struct dti_npy_fields *ret_fields)
{
    const char *name;
    size_t length;
    unsigned key = 0;
    if (!dti_npy_take_string(cursor, &name, &length))
        return false;
    while (key < KEYS && !dti_text_is(name, length, keys[key].name))
        key++;
    if (key == KEYS)
        return dti_npy_fail(cursor, "a key is not descr, fortran_order or shape");
    if (*seen >> key & 1)
        return dti_npy_fail(cursor, "a key occurs twice");
    *seen |= 1u << key;
    if (!dti_npy_take(cursor, ':'))
        return dti_npy_fail(cursor, "a colon is missing after a key");
    return key == KEY_DESCR     ? take_descr(cursor, ret, ret_fields)
           : key == KEY_FORTRAN ? take_bool(cursor, &ret->fortran)
                                : dti_npy_take_tuple(cursor, ret->shape, &ret->rank);
}

static bool take_dictionary(struct dti_npy_cursor *cursor, struct dti_npy_dictionary *ret,
                            struct dti_npy_fields *ret_fields)
{
    unsigned seen = 0;
    if (cursor->at == cursor->end || *cursor->at != '{')
        return dti_npy_fail(cursor, "it does not begin with '{'");
    cursor->at++;
    while (!dti_npy_take(cursor, '}')) {
        if (!take_member(cursor, &seen, ret, ret_fields))
            return false;
        if (!dti_npy_take(cursor, ',') && !dti_npy_next_is(cursor, "}"))
            return dti_npy_fail(cursor, "a comma is missing");
    }
    for (unsigned key = 0; key < KEYS; key++) {
        if (!(seen >> key & 1))
            return dti_npy_fail(cursor, keys[key].missing);
    }
    dti_npy_skip_space(cursor);
    return cursor->at == cursor->end ||
           dti_npy_fail(cursor, "unexpected text after the dictionary");
}

const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret, struct dti_npy_fields *ret_fields)
{
    struct dti_npy_cursor cursor = {.at = text, .end = text + length, .old = major < 3};
    struct dti_npy_dictionary dictionary = {.rank = 0};
    if (major >= 3 && !dti_utf8_valid(text, length))
        return "it is not UTF-8";
    ret_fields->count = 0;
    ret_fields->problem = NULL;
    dti_buffer_clear(&ret_fields->names);
    if (!take_dictionary(&cursor, &dictionary, ret_fields))
        return cursor.problem ? cursor.problem : "it is not a Python dictionary";
    *ret = dictionary;
    return NULL;
}
