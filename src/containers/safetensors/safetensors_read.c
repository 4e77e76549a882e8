/* SPDX-License-Identifier: MIT
 *
 * Reads a safetensors file: checks its length against header and data, and converts the header into
 * tensors. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors/safetensors.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

/* Checks that the tensors fill the data from its start without gaps, each with as many bytes as its
 * shape needs: the reference's checks in the reference's order, preceded by a check for duplicate
 * names. */

/* "F32[2,3]"; a long shape is truncated. */
enum { SHAPE_TEXT = 256 };
static const char *spell(char buffer[SHAPE_TEXT], const struct dti_tensor *tensor)
{
    enum { SHOWN = 8 };
    const unsigned shown = tensor->rank > SHOWN ? SHOWN : tensor->rank;
    int used = snprintf(buffer, SHAPE_TEXT, "%s[", tensor->stored_as);
    for (unsigned i = 0; i < shown; i++)
        used += snprintf(buffer + used, SHAPE_TEXT - (size_t)used, "%s%" PRIu64, i > 0 ? "," : "",
                         tensor->shape[i]);
    snprintf(buffer + used, SHAPE_TEXT - (size_t)used, tensor->rank > SHOWN ? ",...]" : "]");
    return buffer;
}

static struct dti_subject the(const struct dti_tensor *tensor)
{
    return (struct dti_subject){.what = "tensor", tensor->name, tensor->name_length};
}

static bool fail_offsets(struct dti_opening *opening, const struct dti_tensor *tensor,
                         const char *what)
{
    return dti_opening_refuse_of(opening, the(tensor),
                                 ": data_offsets [%" PRIu64 ", %" PRIu64 "] %s", tensor->offset,
                                 tensor->bytes, what);
}

/* By data_offsets, then in header order. */
static int compare(const void *a, const void *b)
{
    const struct dti_tensor *const left = a, *const right = b;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? -1 : 1;
    return left->elements < right->elements ? -1 : left->elements > right->elements;
}

static void sort(struct dti_tensor *tensors, size_t count)
{
    bool sorted = true; /* most files are */
    for (size_t i = 1; sorted && i < count; i++)
        sorted = compare(&tensors[i - 1], &tensors[i]) < 0;
    if (!sorted)
        qsort(tensors, count, sizeof *tensors, compare);
}

static bool check_place(struct dti_opening *opening, const struct dti_tensor *tensor,
                        const struct dti_tensor *before)
{
    const uint64_t start = before ? before->bytes : 0;
    char name[DTI_QUOTE_SIZE], what[DTI_QUOTE_SIZE + 64];
    if (before && tensor->offset < start) {
        snprintf(what, sizeof what, "overlap tensor %s, which ends at %" PRIu64,
                 dti_quote(name, before->name, before->name_length), start);
        return fail_offsets(opening, tensor, what);
    }
    if (tensor->offset != start) {
        snprintf(what, sizeof what, "leave a hole; they should begin at %" PRIu64, start);
        return fail_offsets(opening, tensor, what);
    }
    return tensor->bytes >= tensor->offset ||
           fail_offsets(opening, tensor, "end before they begin");
}

static bool check_size(struct dti_opening *opening, struct dti_tensor *tensor)
{
    const uint64_t held = tensor->bytes - tensor->offset;
    uint64_t bits;
    char what[SHAPE_TEXT + 64], type[SHAPE_TEXT];
    if (!dti_safetensors_measure(tensor->format, tensor->shape, tensor->rank, &tensor->elements,
                                 &bits))
        return dti_opening_refuse_of(opening, the(tensor),
                                     ": %s is too large: its size in bits exceeds 64 bits",
                                     spell(type, tensor));
    if (bits % 8 != 0)
        return dti_opening_refuse_of(opening, the(tensor),
                                     ": %s takes %" PRIu64
                                     " bits, which is not a whole number of bytes",
                                     spell(type, tensor), bits);
    if (held == bits / 8)
        return true;
    snprintf(what, sizeof what, "hold %" PRIu64 " byte%s but %s needs %" PRIu64, held,
             held == 1 ? "" : "s", spell(type, tensor), bits / 8);
    return fail_offsets(opening, tensor, what);
}

/* Refuses tensors and metadata of a header, from these indices on, with duplicate names,
 * overlapping data_offsets or mismatched shapes. Sorts the tensors by the order of their data, and
 * sets elements. */
static bool check_header(struct dti_opening *opening, size_t first_tensor, size_t first_metadata)
{
    const struct dti_container *const container = opening->container;
    const size_t count = container->tensor_count - first_tensor;
    const size_t metadata_count = container->metadata_count - first_metadata;
    struct dti_tensor *const tensors = dti_opening_tensors_from(opening, first_tensor);
    if (!dti_opening_check_names(opening, dti_opening_metadata_from(opening, first_metadata),
                                 metadata_count, DTI_NAMED(struct dti_metadata, key),
                                 (struct dti_subject){.what = "metadata"}, " occurs twice") ||
        !dti_opening_check_names(opening, tensors, count, DTI_NAMED(struct dti_tensor, name),
                                 (struct dti_subject){.what = "tensor"}, " occurs twice"))
        return false;
    assert(tensors || count == 0);
    sort(tensors, count);
    for (size_t i = 0; i < count; i++) {
        if (!check_place(opening, &tensors[i], i > 0 ? &tensors[i - 1] : NULL) ||
            !check_size(opening, &tensors[i]))
            return false;
    }
    return true;
}

/* Parses the JSON of the header in one pass; each token is stored or rejected. */

enum {
    SHORT_RANK = 8, /* nearly all tensors have at most this rank */
    LOOK_BACK = 8,  /* previous tensors whose shapes are compared */
};

struct header_reading {
    struct dti_opening *opening;
    struct dti_json_reader json;
    bool has_metadata;
    char *spent; /* the text up to here has been given back; NULL: it is the caller's */
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
    return dti_opening_refuse_of(reading->opening, the(tensor), ": %s", what);
}

/* The same, with the last token in quotes. */
static bool fail_token(const struct header_reading *reading, const struct dti_tensor *tensor,
                       const char *what)
{
    char text[DTI_ERROR_TEXT], token[DTI_QUOTE_SIZE];
    snprintf(text, sizeof text, "%s %s", what,
             dti_quote(token, reading->json.token, reading->json.token_length));
    return fail_tensor(reading, tensor, text);
}

/* Copies the last string. */
static bool keep_string(struct header_reading *reading, const char **ret_text, size_t *ret_length)
{
    const char *text;
    dti_json_string_value(&reading->json, &text, ret_length);
    return (*ret_text = dti_opening_text(reading->opening, text, *ret_length)) != NULL;
}

/* Whether the last number is below 10^308 in magnitude: the reference parses even what it ignores,
 * and fails where an fp64 overflows. */
static bool is_moderate(const struct dti_json_reader *json)
{
    const char *at = json->token, *const end = at + json->token_length;
    enum { FAR = 1 << 30 };
    bool started = false, in_fraction = false;
    int64_t top = 0; /* exponent of the first nonzero digit */
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

/* Skips a tensor member that has no meaning here. */
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

/* Upper bound on the items of the array just opened: one more than its commas. */
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

/* Reads an array of at most `capacity` sizes; *ret_count is their number. */
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

/* Shares the shape of one of the previous tensors, since neighbours are often alike, or copies it.
 */
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
    tensor->rank = (unsigned)rank; /* no overflow: two header bytes per dimension */
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

/* Moves *at behind a text, if it is there. */
static bool take_text(const char **at, const char *end, const char *text, size_t length)
{
    if ((size_t)(end - *at) < length || memcmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}
#define TAKE(at, end, literal) take_text(at, end, literal, sizeof(literal) - 1)

/* The same for a number without a sign; false for those that might not fit. */
static bool take_size(const char **at, const char *end, uint64_t *ret)
{
    enum { DIGITS = 19 };
    const char *const start = *at, *const most = end - start > DIGITS ? start + DIGITS + 1 : end;
    const char *next = start;
    uint64_t value = 0;
    for (unsigned digit; next < most && (digit = (unsigned)*next - '0') <= 9; next++)
        value = 10 * value + digit;
    *at = next;
    *ret = value;
    return next > start && next - start <= DIGITS && (*start != '0' || next - start == 1);
}

/* Reads a tensor whose members are spelled as by the reference, which takes a third of the time:
 * {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}. False: they are not, or memory ran out. */
static bool read_usual(struct header_reading *reading, struct dti_tensor *tensor)
{
    const char *at = reading->json.at, *const end = reading->json.end;
    uint64_t shape[SHORT_RANK];
    unsigned rank = 0;
    if (!TAKE(&at, end, DTI_SAFETENSORS_DTYPE))
        return false;
    const char *const name = at, *const quote = memchr(at, '"', (size_t)(end - at));
    tensor->format =
        quote ? dti_safetensors_format(name, (size_t)(quote - name), &tensor->stored_as) : NULL;
    at = quote;
    if (!tensor->format || !TAKE(&at, end, DTI_SAFETENSORS_SHAPE))
        return false;
    for (bool more = at < end && *at != ']'; more; more = TAKE(&at, end, ",")) {
        if (rank == SHORT_RANK || !take_size(&at, end, &shape[rank++]))
            return false;
    }
    if (!TAKE(&at, end, DTI_SAFETENSORS_OFFSETS) || !take_size(&at, end, &tensor->offset) ||
        !TAKE(&at, end, ",") || !take_size(&at, end, &tensor->bytes) ||
        !TAKE(&at, end, DTI_SAFETENSORS_END))
        return false;
    tensor->rank = rank;
    tensor->shape = keep_shape(reading, tensor, shape, rank);
    dti_json_value_ends(&reading->json, at);
    return tensor->shape != NULL;
}

static bool read_members(struct header_reading *reading, struct dti_tensor *tensor)
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
    size_t length;
    if (!keep_string(reading, &tensor->name, &length))
        return false;
    tensor->name_length = (uint32_t)length; /* a header is shorter than DTI_NAME_MAX */
    return read_usual(reading, tensor) ||
           (reading->opening->status == DTI_OK && read_members(reading, tensor));
}

/* Gives back the memory of what has been read: the tensors take as much as the text. */
static void spend(struct header_reading *reading)
{
    enum { OFTEN = DTI_HUGE_PAGE };
    if (!reading->spent || reading->json.at - reading->spent < OFTEN)
        return;
    dti_pages_drop(reading->spent, OFTEN);
    reading->spent += OFTEN;
}

static bool read_all(struct header_reading *reading)
{
    enum dti_json_token token;
    if (!next(reading, &token))
        return false;
    if (token != DTI_JSON_OBJECT)
        return dti_opening_refuse(reading->opening, ": the header is not a JSON object");
    for (;;) {
        spend(reading);
        if (!next(reading, &token))
            return false;
        if (token == DTI_JSON_OBJECT_END)
            return next(reading, &token); /* only white space may follow */
        if (!(dti_json_string_is(&reading->json, "__metadata__") ? read_metadata(reading)
                                                                 : read_named(reading)))
            return false;
    }
}

/* Parses the JSON into the container. The tensors are incomplete: offset and bytes hold
 * data_offsets, elements the position in the header; layout and file are not set. */
static bool read_json(struct dti_opening *opening, const char *text, size_t length, char *own)
{
    struct header_reading reading = {.opening = opening, .spent = own};
    dti_json_reader_init(&reading.json, text, length);
    const bool good = read_all(&reading);
    dti_json_reader_free(&reading.json);
    return good;
}

bool dti_safetensors_header_length(struct dti_opening *opening, const unsigned char *first,
                                   size_t size, uint64_t file_size, uint64_t *ret_length)
{
    if (size < DTI_SAFETENSORS_PREFIX)
        return dti_opening_refuse(opening,
                                  ": truncated: a safetensors file begins with 8 bytes that give "
                                  "the length of its header, but this one has %zu",
                                  size);
    const uint64_t length = dti_little_get(first, DTI_SAFETENSORS_PREFIX);
    if (length > DTI_SAFETENSORS_HEADER_MAX)
        return dti_opening_refuse(opening,
                                  ": its first 8 bytes announce a header of %" PRIu64
                                  " bytes; safetensors allows %d",
                                  length, (int)DTI_SAFETENSORS_HEADER_MAX);
    if (length + DTI_SAFETENSORS_PREFIX > file_size)
        return dti_opening_refuse(
            opening, ": truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64,
            length + DTI_SAFETENSORS_PREFIX, file_size);
    *ret_length = length;
    return true;
}

/* Whether the file ends exactly data_bytes after the header. */
static bool check_end(struct dti_opening *opening, uint64_t header_bytes, uint64_t data_bytes,
                      uint64_t file_size)
{
    uint64_t need;
    if (!dti_add_u64(header_bytes, data_bytes, &need))
        return dti_opening_refuse(opening,
                                  ": truncated: the tensors need %" PRIu64
                                  " bytes after the header, the file has %" PRIu64,
                                  data_bytes, file_size - header_bytes);
    if (need > file_size)
        return dti_opening_refuse(
            opening, ": truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64, need,
            file_size);
    const uint64_t rest = file_size - need;
    if (rest > 0 && !opening->options.lenient)
        return dti_opening_goes_on(opening, dti_fail_remedy(opening->error, DTI_BAD_INPUT,
                                                            DTI_REMEDY_ACCEPT_TRAILING,
                                                            "%s: the tensors end at byte %" PRIu64
                                                            ", the file has %" PRIu64,
                                                            opening->label, need, file_size));
    return rest == 0 || dti_opening_note(opening, "trailing_bytes",
                                         "%" PRIu64 " byte%s after the data %s ignored", rest,
                                         rest == 1 ? "" : "s", rest == 1 ? "is" : "are");
}

/* own: the text, if it is given back while it is read; or NULL. */
static bool parse(struct dti_opening *opening, const char *text, size_t length, uint64_t file_size,
                  unsigned file_index, char *own)
{
    const struct dti_container *const container = opening->container;
    const size_t first_metadata = container->metadata_count;
    const size_t first = container->tensor_count;
    const uint64_t start = DTI_SAFETENSORS_PREFIX + (uint64_t)length;
    const bool bare = length == 0 || text[0] == '{';
    uint64_t data_end = 0;
    if (!read_json(opening, text, length, own) || !check_header(opening, first, first_metadata))
        return false;
    for (size_t i = first; i < container->tensor_count; i++) {
        struct dti_tensor *const tensor = &container->tensors[i];
        data_end = tensor->bytes;
        tensor->bytes -= tensor->offset;
        tensor->offset += start;
        tensor->file = (uint16_t)file_index;
        tensor->layout = dti_file_layout(tensor->format, opening->options.packing, false);
    }
    return (bare ||
            dti_opening_note(opening, "leading_space",
                             "white space precedes the header, which should begin with {")) &&
           check_end(opening, start, data_end, file_size);
}

bool dti_safetensors_parse(struct dti_opening *opening, const char *text, size_t length,
                           uint64_t file_size, unsigned file_index)
{
    return parse(opening, text, length, file_size, file_index, NULL);
}

bool dti_safetensors_read_at(struct dti_opening *opening, unsigned file_index, uint64_t begin,
                             uint64_t file_size, uint64_t *ret_start)
{
    const size_t before = opening->container->tensor_count;
    unsigned char first[DTI_SAFETENSORS_PREFIX];
    const size_t size = file_size < sizeof first ? (size_t)file_size : sizeof first;
    uint64_t length;
    if (!dti_opening_read(opening, first, size, begin) ||
        !dti_safetensors_header_length(opening, first, size, file_size, &length))
        return false;
    char *const header = dti_malloc((size_t)length + 1);
    if (!header)
        return dti_opening_no_memory(opening);
    dti_pages_use(header, (size_t)length);
    *ret_start = sizeof first + length;
    const bool good = dti_opening_read(opening, header, (size_t)length, begin + sizeof first) &&
                      parse(opening, header, (size_t)length, file_size, file_index, header);
    dti_free(header);
    for (size_t i = before; i < opening->container->tensor_count && good; i++)
        opening->container->tensors[i].offset += begin;
    return good;
}

bool dti_safetensors_read(struct dti_opening *opening, unsigned file_index)
{
    return dti_safetensors_read_at(opening, file_index, 0, opening->file->input.size,
                                   &opening->file->header_bytes);
}

/* A plausible header length, then JSON. This is unambiguous: in the other kinds these bytes never
 * form such a length, which needs four zero bytes. */
static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    if (head_size <= DTI_SAFETENSORS_PREFIX ||
        dti_little_get(head, DTI_SAFETENSORS_PREFIX) > DTI_SAFETENSORS_HEADER_MAX)
        return false;
    const size_t first = dti_skip_space(head, head_size, DTI_SAFETENSORS_PREFIX);
    return first < head_size ? head[first] == '{' : file_size > head_size;
}

/* JSON, whatever its length. */
static bool resembles(const unsigned char *head, size_t head_size)
{
    return head_size > DTI_SAFETENSORS_PREFIX && head[DTI_SAFETENSORS_PREFIX] == '{' &&
           head[0] != '{';
}

static bool open_one(struct dti_opening *opening)
{
    return dti_safetensors_read(opening, 0);
}

const struct dti_container_ops dti_safetensors_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_TEXTS | DTI_TRAIT_CONFIG | DTI_TRAIT_REPLACES,
    .detect = detect,
    .resembles = resembles,
    .open = open_one,
    .stores = dti_safetensors_stores,
    .layout = dti_safetensors_layout,
};
