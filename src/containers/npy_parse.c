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
#include <string.h>

#include "containers/npy.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/utf8.h"

enum {
    DEPTH_MAX = 32,             /* of nested types */
    ITEM_BYTES_MAX = INT32_MAX, /* numpy's */
};

struct cursor {
    const char *at, *end;
    bool long_suffix; /* 10L is a number: Python 2 wrote it in versions 1 and 2 */
    const char *problem;
};

static bool fail(struct cursor *cursor, const char *problem)
{
    if (!cursor->problem)
        cursor->problem = problem;
    return false;
}

static void skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\n' || *cursor->at == '\r'))
        cursor->at++;
}

/* Takes c, and white space before it, if it is there. */
static bool take(struct cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool next_is(struct cursor *cursor, const char *any)
{
    skip_space(cursor);
    return cursor->at < cursor->end && *cursor->at != '\0' && strchr(any, *cursor->at) != NULL;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The escape after a backslash. */
static bool skip_escape(struct cursor *cursor)
{
    static const char long_escapes[] = "xuU";
    static const unsigned char digits[] = {2, 4, 8};
    if (cursor->at == cursor->end)
        return false;
    const char c = *cursor->at++;
    const char *const is_long = c == '\0' ? NULL : strchr(long_escapes, c);
    if (!is_long)
        return c != '\0' && strchr("\\'\"abfnrtv", c) != NULL;
    const size_t count = digits[is_long - long_escapes];
    for (size_t i = 0; i < count; i++) {
        if (cursor->at == cursor->end || !is_hex(*cursor->at))
            return false;
        /* nothing above U+10FFFF: 00 before, then 0 or 10 */
        if (count == 8 && ((i < 2 && *cursor->at != '0') || (i == 2 && *cursor->at > '1') ||
                           (i == 3 && *cursor->at != '0' && cursor->at[-1] == '1')))
            return false;
        cursor->at++;
    }
    return true;
}

/* A string in either kind of quotes; the text between them, unchanged. */
static bool take_string(struct cursor *cursor, const char **ret_text, size_t *ret_length)
{
    if (!next_is(cursor, "'\""))
        return fail(cursor, "a string is missing");
    const char quote = *cursor->at++;
    const char *const text = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        if ((unsigned char)*cursor->at < ' ')
            return fail(cursor, "a string contains a control character");
        if (*cursor->at++ == '\\' && !skip_escape(cursor))
            return fail(cursor, "a string has an invalid escape");
    }
    if (cursor->at == cursor->end)
        return fail(cursor, "a string is not terminated");
    *ret_text = text;
    *ret_length = (size_t)(cursor->at - text);
    cursor->at++;
    return true;
}

/* A dimension: an index of numpy is a signed number of 64 bits. */
static bool take_number(struct cursor *cursor, uint64_t *ret)
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
    if (cursor->long_suffix && cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    *ret = value;
    return true;
}

static bool take_tuple(struct cursor *cursor, uint64_t shape[DTI_NPY_RANK_MAX], unsigned *ret_rank)
{
    unsigned rank = 0;
    if (!take(cursor, '('))
        return fail(cursor, "'shape' is not a tuple");
    while (!take(cursor, ')')) {
        if (rank == DTI_NPY_RANK_MAX)
            return fail(cursor, "there are more than 64 dimensions");
        if (!take_number(cursor, &shape[rank]))
            return false;
        rank++;
        const bool comma = take(cursor, ',');
        if (!comma && (rank == 1 || !next_is(cursor, ")")))
            return fail(cursor, "a comma is missing in a tuple");
    }
    *ret_rank = rank;
    return true;
}

/* Multiplies *bytes by the elements of an array within a type. */
static bool take_extent(struct cursor *cursor, uint64_t *bytes)
{
    uint64_t shape[DTI_NPY_RANK_MAX];
    unsigned rank = 1;
    if (!(next_is(cursor, "(") ? take_tuple(cursor, shape, &rank) : take_number(cursor, shape)))
        return false;
    for (unsigned i = 0; i < rank; i++) {
        if (!dti_mul_u64(*bytes, shape[i], bytes) || *bytes > ITEM_BYTES_MAX)
            return fail(cursor, "an item takes more than 2147483647 bytes");
    }
    return true;
}

/* The opening of a field and its name, with a title or without. */
static bool take_field_name(struct cursor *cursor, const char **ret, size_t *ret_length)
{
    const char *text;
    size_t length;
    if (!take(cursor, '('))
        return fail(cursor, "a field is not a tuple");
    if (take(cursor, '(')) {
        if (!take_string(cursor, &text, &length) || !take(cursor, ',') ||
            !take_string(cursor, &text, &length) || !take(cursor, ')'))
            return fail(cursor, "the name of a field is neither a string nor a pair of strings");
    } else if (!take_string(cursor, &text, &length)) {
        return false;
    }
    *ret = text;
    *ret_length = length;
    return take(cursor, ',') || fail(cursor, "a field has no type");
}

/* A list of fields, or an array of another type, that has been begun. */
struct descr_level {
    bool list;
    uint64_t bytes; /* of the fields so far */
};
struct nested {
    struct descr_level levels[DEPTH_MAX];
    unsigned depth;
    bool objects;
    struct dti_npy_dictionary *ret; /* for its fields */
};

/* Padding is a field without a name. */
static bool begin_field(struct cursor *cursor, struct nested *nested)
{
    struct dti_npy_field field = {.offset = nested->levels[nested->depth - 1].bytes};
    if (!take_field_name(cursor, &field.name, &field.name_length))
        return false;
    field.type = cursor->at;
    if (nested->depth == 1 && field.name_length > 0 && nested->ret->field_count++ < DTI_NPY_FIELDS)
        nested->ret->fields[nested->ret->field_count - 1] = field;
    return true;
}

/* The type of the last field that was begun ends here, if it has not ended. */
static void end_field(const struct cursor *cursor, const struct nested *nested)
{
    const size_t count = nested->ret->field_count;
    if (nested->depth != 1 || count == 0 || count > DTI_NPY_FIELDS)
        return;
    struct dti_npy_field *const field = &nested->ret->fields[count - 1];
    if (field->type_length == 0)
        field->type_length = (size_t)(cursor->at - field->type);
}

static bool take_simple(struct cursor *cursor, bool *objects, uint64_t *ret_bytes)
{
    const char *text;
    size_t length;
    struct dti_npy_type type;
    if (!take_string(cursor, &text, &length))
        return false;
    if (!dti_npy_type(text, length, &type))
        return fail(cursor, "the type of a field is not a numpy type");
    *objects |= type.sort == DTI_NPY_OBJECT;
    *ret_bytes = type.item_bytes;
    return true;
}

/* Goes down to a type that is complete: a string, or a list without fields. */
static bool descend(struct cursor *cursor, struct nested *nested, uint64_t *ret_bytes)
{
    for (;;) {
        const bool list = next_is(cursor, "[");
        if (!list && !next_is(cursor, "("))
            return take_simple(cursor, &nested->objects, ret_bytes);
        if (nested->depth == DEPTH_MAX)
            return fail(cursor, "types are nested more than 32 deep");
        cursor->at++;
        if (list && take(cursor, ']')) {
            *ret_bytes = 0;
            return true;
        }
        nested->levels[nested->depth++] = (struct descr_level){.list = list};
        if (list && !begin_field(cursor, nested))
            return false;
    }
}

/* Ends the innermost level with a type of *bytes, which becomes that of the whole level; or begins
 * its next field, and *ret_more is true. */
static bool ascend(struct cursor *cursor, struct nested *nested, uint64_t *bytes, bool *ret_more)
{
    struct descr_level *const level = &nested->levels[nested->depth - 1];
    *ret_more = false;
    if (take(cursor, ',')) {
        if (!take_extent(cursor, bytes))
            return false;
    } else if (!level->list) {
        return fail(cursor, "an array type has no dimensions");
    }
    end_field(cursor, nested);
    if (!take(cursor, ')'))
        return fail(cursor, "a bracket is missing");
    if (level->list) {
        level->bytes += *bytes; /* at most 2^31 each, of at most a million fields */
        const bool comma = take(cursor, ',');
        if (!take(cursor, ']')) {
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

static bool take_structured(struct cursor *cursor, struct dti_npy_dictionary *ret)
{
    struct nested nested = {.ret = ret};
    uint64_t bytes;
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

static bool take_descr(struct cursor *cursor, struct dti_npy_dictionary *ret)
{
    ret->structured = next_is(cursor, "[(");
    if (!ret->structured)
        return take_string(cursor, &ret->descr, &ret->descr_length);
    ret->descr = cursor->at;
    if (!take_structured(cursor, ret))
        return false;
    ret->descr_length = (size_t)(cursor->at - ret->descr);
    return true;
}

static bool take_bool(struct cursor *cursor, bool *ret)
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

static bool take_member(struct cursor *cursor, unsigned *seen, struct dti_npy_dictionary *ret)
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
    if (!take(cursor, ':'))
        return fail(cursor, "a colon is missing after a key");
    return key == KEY_DESCR     ? take_descr(cursor, ret)
           : key == KEY_FORTRAN ? take_bool(cursor, &ret->fortran)
                                : take_tuple(cursor, ret->shape, &ret->rank);
}

static bool take_dictionary(struct cursor *cursor, struct dti_npy_dictionary *ret)
{
    unsigned seen = 0;
    if (cursor->at == cursor->end || *cursor->at != '{')
        return fail(cursor, "it does not begin with '{'");
    cursor->at++;
    while (!take(cursor, '}')) {
        if (!take_member(cursor, &seen, ret))
            return false;
        if (!take(cursor, ',') && !next_is(cursor, "}"))
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
                          struct dti_npy_dictionary *ret)
{
    struct cursor cursor = {.at = text, .end = text + length, .long_suffix = major < 3};
    struct dti_npy_dictionary dictionary = {.rank = 0};
    if (major >= 3 && !dti_utf8_valid(text, length))
        return "it is not UTF-8";
    if (!take_dictionary(&cursor, &dictionary))
        return cursor.problem ? cursor.problem : "it is not a Python dictionary";
    *ret = dictionary;
    return NULL;
}
