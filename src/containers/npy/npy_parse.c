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
 * This is what numpy writes, and a subset of what Python accepts. The parser does not recurse:
 * nested types are on an explicit stack. */
#include <stdlib.h>
#include <string.h>

#include "containers/npy/npy.h"
#include "util/checked.h"
#include "util/run/grown.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

/* Python literals, only as far as headers need them. Nothing is evaluated. */

struct npy_cursor {
    const char *at, *end;
    bool old; /* versions 1 and 2: Latin-1, and 10L is a number, as in Python 2 */
    const char *problem;
};

/* Keeps the first problem; always returns false. The other functions return false once there is a
 * problem. */
static bool fail(struct npy_cursor *cursor, const char *problem)
{
    if (!cursor->problem)
        cursor->problem = problem;
    return false;
}

static void skip_space(struct npy_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\n' || *cursor->at == '\r'))
        cursor->at++;
}

/* Consumes c, and white space before it, if present. */
static bool take_letter(struct npy_cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* Whether any of these characters is next. */
static bool next_is(struct npy_cursor *cursor, const char *any)
{
    skip_space(cursor);
    return cursor->at < cursor->end && *cursor->at != '\0' && strchr(any, *cursor->at) != NULL;
}

/* The length of the escape at `at` (a backslash) and the character it stands for; 0: not an escape.
 */
static size_t read_escape(const char *at, const char *end, uint32_t *ret_point)
{
    static const char named[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v"; /* pairs: letter, character */
    const size_t left = (size_t)(end - at);
    const char letter = left >= 2 ? at[1] : '\0';
    for (size_t i = 0; letter != '\0' && i + 1 < sizeof named; i += 2) {
        if (named[i] == letter) {
            *ret_point = (unsigned char)named[i + 1];
            return 2;
        }
    }
    const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (digits == 0 || left < 2 + digits || !dti_ascii_hex(at + 2, digits, ret_point))
        return 0;
    return *ret_point <= 0x10FFFF ? 2 + digits : 0;
}

/* Appends such a text as UTF-8: decodes escapes and, before version 3, Latin-1. */
static void put_text(const struct npy_cursor *cursor, struct dti_buffer *out, const char *text,
                     size_t length)
{
    const char *at = text, *const end = text + length;
    while (at < end) {
        uint32_t point = (unsigned char)*at;
        char piece[4];
        if (*at == '\\') {
            at += read_escape(at, end, &point);
        } else {
            at++;
            if (point >= 0x80 && !cursor->old) {
                dti_buffer_append(out, at - 1, 1);
                continue;
            }
        }
        dti_buffer_append(out, piece, dti_utf8_encode(point, piece));
    }
}

/* A string in either kind of quotes; returns the raw text between them. */
static bool take_string(struct npy_cursor *cursor, const char **ret_text, size_t *ret_length)
{
    if (!next_is(cursor, "'\""))
        return fail(cursor, "a string is missing");
    const char quote = *cursor->at++;
    const char *const text = cursor->at;
    uint32_t point;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        if ((unsigned char)*cursor->at < ' ')
            return fail(cursor, "a string contains a control character");
        const size_t size = *cursor->at == '\\' ? read_escape(cursor->at, cursor->end, &point) : 1;
        if (size == 0)
            return fail(cursor, "a string has an invalid escape");
        cursor->at += size;
    }
    if (cursor->at == cursor->end)
        return fail(cursor, "a string is not terminated");
    *ret_text = text;
    *ret_length = (size_t)(cursor->at - text);
    cursor->at++;
    return true;
}

/* A dimension: at most INT64_MAX, as in numpy. */
static bool take_number(struct npy_cursor *cursor, uint64_t *ret)
{
    static const char bad[] = "a dimension is not a whole number from 0 to 9223372036854775807";
    skip_space(cursor);
    const char *const start = cursor->at;
    uint64_t value = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        if (!dti_mul_u64(value, 10, &value) ||
            !dti_add_u64(value, (uint64_t)(*cursor->at - '0'), &value) || value > INT64_MAX)
            return fail(cursor, bad);
    }
    if (cursor->at == start || (cursor->at - start > 1 && *start == '0'))
        return fail(cursor, bad);
    if (cursor->old && cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    *ret = value;
    return true;
}

/* A tuple of dimensions; shape has room for DTI_NPY_RANK_MAX. */
static bool take_tuple(struct npy_cursor *cursor, uint64_t *shape, unsigned *ret_rank)
{
    unsigned rank = 0;
    if (!take_letter(cursor, '('))
        return fail(cursor, "'shape' is not a tuple");
    while (!take_letter(cursor, ')')) {
        if (rank == DTI_NPY_RANK_MAX)
            return fail(cursor, "there are more than 64 dimensions");
        if (!take_number(cursor, &shape[rank]))
            return false;
        rank++;
        const bool comma = take_letter(cursor, ',');
        if (!comma && (rank == 1 || !next_is(cursor, ")")))
            return fail(cursor, "a comma is missing in a tuple");
    }
    *ret_rank = rank;
    return true;
}

/* The grammar. */

enum {
    DEPTH_MAX = 32,             /* of nested types */
    ITEM_BYTES_MAX = INT32_MAX, /* numpy's limit */
};

/* The opening parenthesis of a field and its name, with or without a title. */
static bool take_field_name(struct npy_cursor *cursor, const char **ret, size_t *ret_length)
{
    const char *text;
    size_t length;
    if (!take_letter(cursor, '('))
        return fail(cursor, "a field is not a tuple");
    if (take_letter(cursor, '(')) {
        if (!take_string(cursor, &text, &length) || !take_letter(cursor, ',') ||
            !take_string(cursor, &text, &length) || !take_letter(cursor, ')'))
            return fail(cursor, "the name of a field is neither a string nor a pair of strings");
    } else if (!take_string(cursor, &text, &length)) {
        return false;
    }
    *ret = text;
    *ret_length = length;
    return take_letter(cursor, ',') || fail(cursor, "a field has no type");
}

/* A list of fields, or an array of another type, that is still open. */
struct descr_level {
    bool list;
    uint64_t bytes;   /* of the fields so far */
    const char *name; /* of the last field, as spelled */
    size_t name_length;
    size_t first; /* its first nested field */
};
struct nested {
    struct descr_level levels[DEPTH_MAX];
    unsigned depth;
    bool objects;
    struct dti_npy_fields *fields;
};

static bool begin_field(struct npy_cursor *cursor, struct nested *nested)
{
    struct descr_level *const level = &nested->levels[nested->depth - 1];
    level->first = nested->fields->count;
    return take_field_name(cursor, &level->name, &level->name_length);
}

/* Appends the path "a.b" of the open fields; *ret_last: the innermost of them, or NULL. */
static void put_path(const struct npy_cursor *cursor, const struct nested *nested,
                     struct dti_buffer *names, const struct descr_level **ret_last)
{
    *ret_last = NULL;
    for (unsigned i = 0; i < nested->depth; i++) {
        const struct descr_level *const level = &nested->levels[i];
        if (!level->list)
            continue;
        dti_buffer_puts(names, *ret_last ? "." : "");
        put_text(cursor, names, level->name, level->name_length);
        *ret_last = level;
    }
}

/* Ensures room for one more. */
static bool grow(struct dti_npy_fields *fields)
{
    struct dti_npy_field *const list =
        dti_grown(fields->list, fields->count, &fields->capacity, sizeof *list);
    if (list)
        fields->list = list;
    return list != NULL;
}

/* An unnamed void field is padding. */
static bool is_void(const char *descr)
{
    return descr[strchr("<>=|", descr[0]) != NULL] == 'V';
}

/* Adds a leaf field. After a problem no more fields are kept. */
static void add_field(const struct npy_cursor *cursor, const struct nested *nested,
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

/* Applies an array shape to the innermost open level, whose items have *bytes. */
static bool take_extent(struct npy_cursor *cursor, const struct nested *nested, uint64_t *bytes)
{
    struct dti_npy_fields *const fields = nested->fields;
    const struct descr_level *const level = &nested->levels[nested->depth - 1];
    uint64_t shape[DTI_NPY_RANK_MAX];
    unsigned rank = 1;
    if (!(next_is(cursor, "(") ? take_tuple(cursor, shape, &rank) : take_number(cursor, shape)))
        return false;
    if (level->list && level->name_length == 0 && rank > 0)
        fields->count = level->first; /* also padding */
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
            return fail(cursor, "an item takes more than 2147483647 bytes");
    }
    return true;
}

static bool take_simple(struct npy_cursor *cursor, struct nested *nested, uint64_t *ret_bytes)
{
    const char *text;
    size_t length;
    struct dti_npy_type type;
    if (!take_string(cursor, &text, &length))
        return false;
    if (!dti_npy_type(text, length, &type))
        return fail(cursor, "the type of a field is not a numpy type");
    nested->objects |= type.sort == DTI_NPY_OBJECT;
    add_field(cursor, nested, text, length);
    *ret_bytes = type.item_bytes;
    return true;
}

/* Descends to a complete type: a string, or a list without fields. */
static bool descend(struct npy_cursor *cursor, struct nested *nested, uint64_t *ret_bytes)
{
    for (;;) {
        const bool list = next_is(cursor, "[");
        if (!list && !next_is(cursor, "("))
            return take_simple(cursor, nested, ret_bytes);
        if (nested->depth == DEPTH_MAX)
            return fail(cursor, "types are nested more than 32 deep");
        cursor->at++;
        if (list && take_letter(cursor, ']')) {
            *ret_bytes = 0;
            return true;
        }
        nested->levels[nested->depth++] =
            (struct descr_level){.list = list, .first = nested->fields->count};
        if (list && !begin_field(cursor, nested))
            return false;
    }
}

/* Closes the innermost level, given the size of its last type in *bytes, which becomes the size of
 * the level; or starts its next field and sets *ret_more. */
static bool ascend(struct npy_cursor *cursor, struct nested *nested, uint64_t *bytes,
                   bool *ret_more)
{
    struct dti_npy_fields *const fields = nested->fields;
    struct descr_level *const level = &nested->levels[nested->depth - 1];
    *ret_more = false;
    if (take_letter(cursor, ',')) {
        if (!take_extent(cursor, nested, bytes))
            return false;
    } else if (!level->list) {
        return fail(cursor, "an array type has no dimensions");
    }
    if (!take_letter(cursor, ')'))
        return fail(cursor, "a bracket is missing");
    if (level->list) {
        for (size_t at = level->first; at < fields->count; at++)
            fields->list[at].offset += level->bytes;
        level->bytes += *bytes; /* no overflow: at most 2^31 each, at most a million fields */
        const bool comma = take_letter(cursor, ',');
        if (!take_letter(cursor, ']')) {
            *ret_more = true;
            return comma ? begin_field(cursor, nested)
                         : fail(cursor, "a comma is missing in a list");
        }
        *bytes = level->bytes;
    }
    if (*bytes > ITEM_BYTES_MAX)
        return fail(cursor, "an item takes more than 2147483647 bytes");
    nested->depth--;
    return true;
}

static bool take_structured(struct npy_cursor *cursor, struct dti_npy_dictionary *ret,
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

static bool take_descr(struct npy_cursor *cursor, struct dti_npy_dictionary *ret,
                       struct dti_npy_fields *ret_fields)
{
    ret->structured = next_is(cursor, "[(");
    if (!ret->structured)
        return take_string(cursor, &ret->descr, &ret->descr_length);
    ret->descr = cursor->at;
    if (!take_structured(cursor, ret, ret_fields))
        return false;
    ret->descr_length = (size_t)(cursor->at - ret->descr);
    return true;
}

static bool take_bool(struct npy_cursor *cursor, bool *ret)
{
    skip_space(cursor);
    const size_t left = (size_t)(cursor->end - cursor->at);
    const bool is_true = left >= 4 && memcmp(cursor->at, "True", 4) == 0;
    if (!is_true && !(left >= 5 && memcmp(cursor->at, "False", 5) == 0))
        return fail(cursor, "'fortran_order' is neither True nor False");
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

static bool take_member(struct npy_cursor *cursor, unsigned *seen, struct dti_npy_dictionary *ret,
                        struct dti_npy_fields *ret_fields)
{
    const char *name;
    size_t length;
    unsigned key = 0;
    if (!take_string(cursor, &name, &length))
        return false;
    while (key < KEYS && !dti_text_is(name, length, keys[key].name))
        key++;
    if (key == KEYS)
        return fail(cursor, "a key is not descr, fortran_order or shape");
    if (*seen >> key & 1)
        return fail(cursor, "a key occurs twice");
    *seen |= 1u << key;
    if (!take_letter(cursor, ':'))
        return fail(cursor, "a colon is missing after a key");
    return key == KEY_DESCR     ? take_descr(cursor, ret, ret_fields)
           : key == KEY_FORTRAN ? take_bool(cursor, &ret->fortran)
                                : take_tuple(cursor, ret->shape, &ret->rank);
}

static bool take_dictionary(struct npy_cursor *cursor, struct dti_npy_dictionary *ret,
                            struct dti_npy_fields *ret_fields)
{
    unsigned seen = 0;
    if (cursor->at == cursor->end || *cursor->at != '{')
        return fail(cursor, "it does not begin with '{'");
    cursor->at++;
    while (!take_letter(cursor, '}')) {
        if (!take_member(cursor, &seen, ret, ret_fields))
            return false;
        if (!take_letter(cursor, ',') && !next_is(cursor, "}"))
            return fail(cursor, "a comma is missing");
    }
    for (unsigned key = 0; key < KEYS; key++) {
        if (!(seen >> key & 1))
            return fail(cursor, keys[key].missing);
    }
    skip_space(cursor);
    return cursor->at == cursor->end || fail(cursor, "unexpected text after the dictionary");
}

const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret, struct dti_npy_fields *ret_fields)
{
    struct npy_cursor cursor = {.at = text, .end = text + length, .old = major < 3};
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
