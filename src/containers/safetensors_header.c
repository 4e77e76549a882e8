/* SPDX-License-Identifier: MIT
 *
 * The JSON of a safetensors header: its tokens in one pass, each stored or rejected.
 */
#include <stdio.h>
#include <string.h>

#include "containers/safetensors.h"

enum {
    SHORT_RANK = 8, /* dimensions that nearly all tensors have at most */
    LOOK_BACK = 8,  /* tensors whose shapes are looked at */
};

struct header_reading {
    struct dti_opening *opening;
    struct dti_json_reader json;
    bool has_metadata;
};

static bool next(struct header_reading *reading, enum dti_json_token *ret_token)
{
    return dti_json_next(&reading->json, ret_token) ||
           dti_opening_refuse_json(reading->opening, &reading->json, ": the header is not JSON",
                                   DTI_SAFETENSORS_PREFIX);
}

/* "tensor 'a': WHAT", about an entry of the header. */
static bool fail_tensor(const struct header_reading *reading, const struct dti_tensor *tensor,
                        const char *what)
{
    const struct dti_subject the = {.what = "tensor", tensor->name, tensor->name_length};
    return dti_opening_refuse_of(reading->opening, the, ": %s", what);
}

/* The same with the token read last in quotes. */
static bool fail_token(const struct header_reading *reading, const struct dti_tensor *tensor,
                       const char *what)
{
    char text[DTI_ERROR_TEXT], token[DTI_QUOTE_SIZE];
    snprintf(text, sizeof text, "%s %s", what,
             dti_quote(token, reading->json.token, reading->json.token_length));
    return fail_tensor(reading, tensor, text);
}

/* A copy of the string read last. */
static bool keep_string(struct header_reading *reading, const char **ret_text, size_t *ret_length)
{
    const char *text;
    dti_json_string_value(&reading->json, &text, ret_length);
    return (*ret_text = dti_opening_text(reading->opening, text, *ret_length)) != NULL;
}

/* Whether the number read last is below 10^308 in size: the reference reads even what it ignores,
 * and gives up where an fp64 ends. */
static bool is_moderate(const struct dti_json_reader *json)
{
    const char *at = json->token, *const end = at + json->token_length;
    enum { FAR = 1 << 30 };
    bool started = false, in_fraction = false;
    int64_t top = 0; /* exponent of the first digit that is not 0 */
    for (at += *at == '-'; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            in_fraction = true;
            continue;
        }
        if (started)
            top += !in_fraction;
        else if (*at != '0')
            started = true, top -= in_fraction;
        else
            top -= in_fraction;
    }
    if (!started)
        return true;
    int64_t exponent = 0;
    bool negative = false;
    for (at += at < end; at < end; at++) {
        if (*at == '-')
            negative = true;
        else if (*at != '+' && exponent < FAR)
            exponent = exponent * 10 + (*at - '0');
    }
    return top + (negative ? -exponent : exponent) < 308;
}

/* A member of a tensor that means nothing here: read to its end. */
static bool skip_member(struct header_reading *reading)
{
    const struct dti_json_reader *const json = &reading->json;
    const unsigned outside = json->depth;
    do {
        enum dti_json_token token;
        char number[DTI_QUOTE_SIZE];
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_NUMBER && !is_moderate(json))
            return dti_opening_refuse(reading->opening,
                                      ": the header holds the number %s, which is out of range",
                                      dti_quote(number, json->token, json->token_length));
    } while (json->depth > outside);
    return true;
}

static bool read_dtype(struct header_reading *reading, struct dti_tensor *tensor)
{
    enum dti_json_token token;
    if (!next(reading, &token))
        return false;
    if (token != DTI_JSON_STRING)
        return fail_tensor(reading, tensor, "its dtype is not a string");
    const char *name;
    size_t length;
    dti_json_string_value(&reading->json, &name, &length);
    tensor->format = dti_safetensors_format(name, length, &tensor->stored_as);
    return tensor->format || fail_token(reading, tensor, "unknown dtype");
}

/* Dimensions of the array that was just opened, if it holds what it should: one more than commas.
 */
static size_t count_numbers(const struct dti_json_reader *json)
{
    const size_t left = (size_t)(json->end - json->at);
    const char *const close = memchr(json->at, ']', left);
    const char *const end = close ? close : json->end;
    size_t count = 1;
    for (const char *at = json->at; (at = memchr(at, ',', (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

/* An array of at most `capacity` sizes; *ret_count is how many there were, and is never more. */
static bool read_sizes(struct header_reading *reading, const struct dti_tensor *tensor,
                       const char *member, uint64_t *ret_sizes, size_t capacity, size_t *ret_count)
{
    for (size_t count = 0;;) {
        enum dti_json_token token;
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_ARRAY_END) {
            *ret_count = count;
            return true;
        }
        uint64_t size;
        if (token != DTI_JSON_NUMBER || !dti_json_u64(&reading->json, &size)) {
            char what[64];
            snprintf(what, sizeof what, "%s must hold non-negative integers, not", member);
            return fail_token(reading, tensor, what);
        }
        if (count == capacity)
            return fail_tensor(reading, tensor, "data_offsets must be two numbers");
        ret_sizes[count++] = size;
    }
}

static bool open_array(struct header_reading *reading, const struct dti_tensor *tensor,
                       const char *problem)
{
    enum dti_json_token token;
    return next(reading, &token) &&
           (token == DTI_JSON_ARRAY || fail_tensor(reading, tensor, problem));
}

/* That of one of the tensors before, as neighbours are often alike, or a copy. */
static const uint64_t *keep_shape(struct header_reading *reading, const struct dti_tensor *tensor,
                                  const uint64_t *shape, size_t rank)
{
    const struct dti_tensor *const first = reading->opening->container->tensors;
    for (unsigned i = 1; i <= LOOK_BACK && tensor - first >= (ptrdiff_t)i; i++) {
        const struct dti_tensor *const other = tensor - i;
        if (other->rank == rank && memcmp(other->shape, shape, rank * sizeof *shape) == 0)
            return other->shape;
    }
    return dti_opening_copy(reading->opening, shape, rank, sizeof *shape);
}

static bool read_shape(struct header_reading *reading, struct dti_tensor *tensor)
{
    if (!open_array(reading, tensor, "its shape is not an array"))
        return false;
    uint64_t own[SHORT_RANK];
    const size_t capacity = count_numbers(&reading->json);
    const bool is_short = capacity <= SHORT_RANK;
    uint64_t *const shape =
        is_short ? own : dti_opening_array(reading->opening, capacity, sizeof *shape);
    size_t rank;
    if (!shape || !read_sizes(reading, tensor, "shape", shape, capacity, &rank))
        return false;
    tensor->shape = is_short ? keep_shape(reading, tensor, own, rank) : shape;
    tensor->rank = (unsigned)rank; /* two bytes of header each */
    return tensor->shape != NULL;
}

static bool read_offsets(struct header_reading *reading, struct dti_tensor *tensor)
{
    uint64_t offsets[2];
    size_t count;
    if (!open_array(reading, tensor, "its data_offsets are not an array") ||
        !read_sizes(reading, tensor, "data_offsets", offsets, 2, &count))
        return false;
    if (count != 2)
        return fail_tensor(reading, tensor, "data_offsets must be two numbers");
    tensor->offset = offsets[0];
    tensor->bytes = offsets[1];
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct header_reading *reading, struct dti_tensor *tensor);
} members[] = {
    {"dtype", read_dtype},
    {"shape", read_shape},
    {"data_offsets", read_offsets},
};
enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

static bool read_tensor(struct header_reading *reading, struct dti_tensor *tensor)
{
    enum dti_json_token token;
    char what[64];
    unsigned seen = 0;
    if (!next(reading, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return fail_tensor(reading, tensor, "it must be an object");
    for (;;) {
        unsigned member = 0;
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_OBJECT_END)
            break;
        while (member < MEMBER_COUNT && !dti_json_string_is(&reading->json, members[member].name))
            member++;
        if (member < MEMBER_COUNT && seen >> member & 1) {
            snprintf(what, sizeof what, "it has %s twice", members[member].name);
            return fail_tensor(reading, tensor, what);
        }
        seen |= 1u << member;
        if (!(member < MEMBER_COUNT ? members[member].read(reading, tensor) : skip_member(reading)))
            return false;
    }
    for (unsigned i = 0; i < MEMBER_COUNT; i++) {
        if (!(seen >> i & 1)) {
            snprintf(what, sizeof what, "%s is missing", members[i].name);
            return fail_tensor(reading, tensor, what);
        }
    }
    return true;
}

static bool read_metadata(struct header_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    enum dti_json_token token;
    if (reading->has_metadata)
        return dti_opening_refuse(opening, ": the header has __metadata__ twice");
    reading->has_metadata = true;
    if (!next(reading, &token))
        return false;
    if (token == DTI_JSON_NULL)
        return true;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(opening, ": __metadata__ must be an object of strings");
    for (;;) {
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_OBJECT_END)
            return true;
        struct dti_metadata *const entry = dti_opening_metadata(opening);
        if (!entry)
            return false;
        *entry = (struct dti_metadata){.kind = DTI_METADATA_STRING, .type = "string", .count = 1};
        if (!keep_string(reading, &entry->key, &entry->key_length) || !next(reading, &token))
            return false;
        const struct dti_subject key = {.what = "metadata", entry->key, entry->key_length};
        if (token != DTI_JSON_STRING)
            return dti_opening_refuse_of(opening, key,
                                         " is not a string; safetensors allows only strings");
        if (!keep_string(reading, &entry->value, &entry->value_length))
            return false;
    }
}

static bool read_named(struct header_reading *reading)
{
    struct dti_tensor *const tensor = dti_opening_tensors(reading->opening, 1);
    if (!tensor)
        return false;
    *tensor = (struct dti_tensor){.elements = reading->opening->container->tensor_count};
    return keep_string(reading, &tensor->name, &tensor->name_length) &&
           read_tensor(reading, tensor);
}

static bool read_all(struct header_reading *reading)
{
    enum dti_json_token token;
    if (!next(reading, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(reading->opening, ": the header is not a JSON object");
    for (;;) {
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_OBJECT_END)
            return next(reading, &token); /* nothing but white space */
        if (!(dti_json_string_is(&reading->json, "__metadata__") ? read_metadata(reading)
                                                                 : read_named(reading)))
            return false;
    }
}

bool dti_safetensors_header_read(struct dti_opening *opening, const char *text, size_t length)
{
    struct header_reading reading = {.opening = opening};
    dti_json_reader_init(&reading.json, text, length);
    const bool good = read_all(&reading);
    dti_json_reader_free(&reading.json);
    return good;
}
