/* SPDX-License-Identifier: MIT
 *
 * The JSON of a safetensors header: its tokens in one pass, each put where it belongs or refused.
 */
#include <stdio.h>
#include <string.h>

#include "containers/safetensors_parts.h"
#include "dtinfo/json_read.h"

struct header_reading {
    struct dti_pool *pool, *scratch;
    const char *label;
    struct dti_json_reader json;
    struct dti_safetensors_header header;
    size_t record_capacity, metadata_capacity;
    bool has_metadata;
    struct dti_error *error; /* where errors go; may be NULL */
};

static enum dti_status fail_json(const struct header_reading *reading)
{
    if (reading->json.string.failed)
        return dti_no_memory(reading->error);
    return dti_fail(reading->error, DTI_BAD_INPUT, "%s: the header is not JSON: %s at byte %zu",
                    reading->label, reading->json.problem,
                    (size_t)(reading->json.at - reading->json.start) + DTI_SAFETENSORS_PREFIX);
}

static enum dti_status next(struct header_reading *reading, enum dti_json_token *ret_token)
{
    return dti_json_next(&reading->json, ret_token) ? DTI_OK : fail_json(reading);
}

/* "tensor 'a': WHAT", of what stands in the header. */
static enum dti_status fail_tensor(const struct header_reading *reading,
                                   const struct dti_safetensors_record *record, const char *what)
{
    char name[DTI_QUOTE_SIZE];
    return dti_fail(reading->error, DTI_BAD_INPUT, "%s: tensor %s: %s", reading->label,
                    dti_quote(name, record->name, record->name_length), what);
}

/* The same with the token read last in quotes. */
static enum dti_status fail_token(const struct header_reading *reading,
                                  const struct dti_safetensors_record *record, const char *what)
{
    char name[DTI_QUOTE_SIZE], token[DTI_QUOTE_SIZE];
    return dti_fail(reading->error, DTI_BAD_INPUT, "%s: tensor %s: %s %s", reading->label,
                    dti_quote(name, record->name, record->name_length), what,
                    dti_quote(token, reading->json.token, reading->json.token_length));
}

/* A copy of the string read last. */
static bool keep_string(struct header_reading *reading, const char **ret_text, size_t *ret_length)
{
    const char *text;
    dti_json_string_value(&reading->json, &text, ret_length);
    return (*ret_text = dti_pool_text(reading->pool, text, *ret_length)) != NULL;
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
static enum dti_status skip_member(struct header_reading *reading)
{
    const unsigned outside = reading->json.depth;
    do {
        enum dti_json_token token;
        const enum dti_status status = next(reading, &token);
        if (status != DTI_OK)
            return status;
        if (token == DTI_JSON_NUMBER && !is_moderate(&reading->json)) {
            char number[DTI_QUOTE_SIZE];
            dti_quote(number, reading->json.token, reading->json.token_length);
            return dti_fail(reading->error, DTI_BAD_INPUT,
                            "%s: the header holds the number %s, which is out of range",
                            reading->label, number);
        }
    } while (reading->json.depth > outside);
    return DTI_OK;
}

static enum dti_status read_dtype(struct header_reading *reading,
                                  struct dti_safetensors_record *record)
{
    enum dti_json_token token;
    const enum dti_status status = next(reading, &token);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_STRING)
        return fail_tensor(reading, record, "its dtype is no string");
    const char *name;
    size_t length;
    dti_json_string_value(&reading->json, &name, &length);
    record->format = dti_safetensors_format(name, length, &record->type);
    return record->format ? DTI_OK : fail_token(reading, record, "unknown dtype");
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

/* an array of at most `capacity` sizes; *ret_count tells how many were there, and is never more. */
static enum dti_status read_sizes(struct header_reading *reading,
                                  const struct dti_safetensors_record *record, const char *member,
                                  uint64_t *ret_sizes, size_t capacity, size_t *ret_count)
{
    for (size_t count = 0;;) {
        enum dti_json_token token;
        const enum dti_status status = next(reading, &token);
        if (status != DTI_OK)
            return status;
        if (token == DTI_JSON_ARRAY_END) {
            *ret_count = count;
            return DTI_OK;
        }
        uint64_t size;
        char what[64];
        snprintf(what, sizeof what, "%s must hold integers from 0 on, not", member);
        if (token != DTI_JSON_NUMBER || !dti_json_u64(&reading->json, &size))
            return fail_token(reading, record, what);
        if (count == capacity)
            return fail_tensor(reading, record, "data_offsets must be two numbers");
        ret_sizes[count++] = size;
    }
}

static enum dti_status open_array(struct header_reading *reading,
                                  const struct dti_safetensors_record *record, const char *problem)
{
    enum dti_json_token token;
    const enum dti_status status = next(reading, &token);
    if (status != DTI_OK)
        return status;
    return token == DTI_JSON_ARRAY ? DTI_OK : fail_tensor(reading, record, problem);
}

static enum dti_status read_shape(struct header_reading *reading,
                                  struct dti_safetensors_record *record)
{
    enum dti_status status = open_array(reading, record, "its shape is no array");
    if (status != DTI_OK)
        return status;
    const size_t capacity = count_numbers(&reading->json);
    uint64_t *const shape = dti_pool_array(reading->pool, capacity, sizeof *shape);
    if (!shape)
        return dti_no_memory(reading->error);
    size_t rank;
    status = read_sizes(reading, record, "shape", shape, capacity, &rank);
    if (status != DTI_OK)
        return status;
    record->shape = shape;
    record->rank = (unsigned)rank; /* two bytes of header each */
    return DTI_OK;
}

static enum dti_status read_offsets(struct header_reading *reading,
                                    struct dti_safetensors_record *record)
{
    enum dti_status status = open_array(reading, record, "its data_offsets are no array");
    if (status != DTI_OK)
        return status;
    uint64_t offsets[2];
    size_t count;
    status = read_sizes(reading, record, "data_offsets", offsets, 2, &count);
    if (status != DTI_OK)
        return status;
    if (count != 2)
        return fail_tensor(reading, record, "data_offsets must be two numbers");
    record->begin = offsets[0];
    record->end = offsets[1];
    return DTI_OK;
}

static const struct {
    const char *name;
    enum dti_status (*read)(struct header_reading *reading, struct dti_safetensors_record *record);
} members[] = {
    {"dtype", read_dtype},
    {"shape", read_shape},
    {"data_offsets", read_offsets},
};
enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

/* Index of the member whose name was read last, or MEMBER_COUNT. */
static unsigned find_member(const struct dti_json_reader *json)
{
    const char *name;
    size_t length;
    dti_json_string_value(json, &name, &length);
    unsigned i = 0;
    while (i < MEMBER_COUNT &&
           (strlen(members[i].name) != length || memcmp(members[i].name, name, length) != 0))
        i++;
    return i;
}

static enum dti_status read_tensor(struct header_reading *reading,
                                   struct dti_safetensors_record *record)
{
    enum dti_json_token token;
    enum dti_status status = next(reading, &token);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT)
        return fail_tensor(reading, record, "it must be an object");
    char what[64];
    unsigned seen = 0;
    for (;;) {
        status = next(reading, &token);
        if (status != DTI_OK)
            return status;
        if (token == DTI_JSON_OBJECT_END)
            break;
        const unsigned member = find_member(&reading->json);
        if (member < MEMBER_COUNT && seen >> member & 1) {
            snprintf(what, sizeof what, "it has %s twice", members[member].name);
            return fail_tensor(reading, record, what);
        }
        seen |= 1u << member;
        status =
            member < MEMBER_COUNT ? members[member].read(reading, record) : skip_member(reading);
        if (status != DTI_OK)
            return status;
    }
    for (unsigned i = 0; i < MEMBER_COUNT; i++) {
        if (!(seen >> i & 1)) {
            snprintf(what, sizeof what, "%s is missing", members[i].name);
            return fail_tensor(reading, record, what);
        }
    }
    return DTI_OK;
}

static enum dti_status read_metadata(struct header_reading *reading)
{
    if (reading->has_metadata)
        return dti_fail(reading->error, DTI_BAD_INPUT, "%s: the header has __metadata__ twice",
                        reading->label);
    reading->has_metadata = true;
    enum dti_json_token token;
    enum dti_status status = next(reading, &token);
    if (status != DTI_OK || token == DTI_JSON_NULL)
        return status;
    if (token != DTI_JSON_OBJECT)
        return dti_fail(reading->error, DTI_BAD_INPUT,
                        "%s: __metadata__ must be an object of strings", reading->label);
    struct dti_safetensors_header *const header = &reading->header;
    for (;;) {
        status = next(reading, &token);
        if (status != DTI_OK || token == DTI_JSON_OBJECT_END)
            return status;
        void *list = header->metadata;
        struct dti_metadata entry = {.kind = DTI_METADATA_STRING, .type = "string", .count = 1};
        if (!keep_string(reading, &entry.key, &entry.key_length) ||
            !dti_list_grow(reading->pool, &list, header->metadata_count,
                           &reading->metadata_capacity, sizeof entry))
            return dti_no_memory(reading->error);
        header->metadata = list;
        status = next(reading, &token);
        if (status != DTI_OK)
            return status;
        if (token != DTI_JSON_STRING) {
            char key[DTI_QUOTE_SIZE];
            return dti_fail(reading->error, DTI_BAD_INPUT,
                            "%s: metadata %s is no string, which is all that safetensors allows",
                            reading->label, dti_quote(key, entry.key, entry.key_length));
        }
        if (!keep_string(reading, &entry.value, &entry.value_length))
            return dti_no_memory(reading->error);
        header->metadata[header->metadata_count++] = entry;
    }
}

static enum dti_status read_member(struct header_reading *reading)
{
    static const char metadata[] = "__metadata__";
    const char *name;
    size_t length;
    dti_json_string_value(&reading->json, &name, &length);
    if (length == sizeof metadata - 1 && memcmp(name, metadata, length) == 0)
        return read_metadata(reading);

    struct dti_safetensors_header *const header = &reading->header;
    struct dti_safetensors_record record = {.rank = 0};
    void *list = header->records;
    if (!keep_string(reading, &record.name, &record.name_length) ||
        !dti_list_grow(reading->scratch, &list, header->count, &reading->record_capacity,
                       sizeof record))
        return dti_no_memory(reading->error);
    header->records = list;
    const enum dti_status status = read_tensor(reading, &record);
    if (status == DTI_OK)
        header->records[header->count++] = record;
    return status;
}

static enum dti_status read_all(struct header_reading *reading)
{
    enum dti_json_token token;
    enum dti_status status = next(reading, &token);
    if (status != DTI_OK)
        return status;
    if (token != DTI_JSON_OBJECT)
        return dti_fail(reading->error, DTI_BAD_INPUT, "%s: the header is no JSON object",
                        reading->label);
    for (;;) {
        status = next(reading, &token);
        if (status != DTI_OK)
            return status;
        if (token == DTI_JSON_OBJECT_END)
            return next(reading, &token); /* nothing but white space */
        status = read_member(reading);
        if (status != DTI_OK)
            return status;
    }
}

enum dti_status dti_safetensors_header_read(struct dti_pool *pool, struct dti_pool *scratch,
                                            const char *label, const char *text, size_t length,
                                            struct dti_safetensors_header *ret,
                                            struct dti_error *reterr)
{
    struct header_reading reading = {
        .pool = pool, .scratch = scratch, .label = label, .error = reterr};
    dti_json_reader_init(&reading.json, text, length);
    const enum dti_status status = read_all(&reading);
    if (status == DTI_OK)
        *ret = reading.header;
    dti_json_reader_free(&reading.json);
    return status;
}
