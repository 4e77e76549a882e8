/* SPDX-License-Identifier: MIT
 *
 * The walk through the messages of a model: onnx_fields.def says which fields lead to tensors, and
 * a stack of frames says where in the file we are. Fields may come in any order, and of a single
 * field that comes twice the last one holds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "containers/onnx.h"
#include "dtinfo/ascii.h"

enum { OPSETS_MAX = 256, KEY_SIZE = 512, NUMBER_SIZE = 24, FIELD_MAX = 25 };

/* What a field may look like. */
enum {
    VARINT = 1u << DTI_WIRE_VARINT,
    BYTES = 1u << DTI_WIRE_BYTES,
    NUMBERS = VARINT | BYTES,
};

enum action {
    SKIP,
    ENTER,
    TEXT,
    FIRST,
    INPUT,
    NUMBER,
    INTEGER,
    DIMS,
    SEGMENT,
    STRING,
    RAW,
    LOCATION
};

/* Messages that ENTER names. */
enum {
    OPSET = DTI_ONNX_OPSET,
    PROPERTY = DTI_ONNX_PROPERTY,
    TRAINING = DTI_ONNX_TRAINING,
    FUNCTION = DTI_ONNX_FUNCTION,
    GRAPH = DTI_ONNX_GRAPH,
    NODE = DTI_ONNX_NODE,
    ATTRIBUTE = DTI_ONNX_ATTRIBUTE,
    SPARSE = DTI_ONNX_SPARSE,
    TENSOR = DTI_ONNX_TENSOR,
    EXTERNAL = DTI_ONNX_EXTERNAL,
    VALUE = DTI_ONNX_VALUE,
};

static const struct rule {
    unsigned char wires, action, detail;
} rules[DTI_ONNX_MESSAGE_COUNT][FIELD_MAX + 1] = {
#define FIELD(in, number, wire, what, more) \
    [DTI_ONNX_##in][number] = {.wires = wire, .action = what, .detail = more},
#include "containers/onnx_fields.def"
#undef FIELD
};

static bool enter(struct dti_onnx_reading *reading, struct dti_onnx_frame *frame,
                  const struct rule *rule, const struct dti_wire_field *field)
{
    enum { FIELD_T = 5 };
    const enum dti_onnx_message message = (enum dti_onnx_message)rule->detail;
    if (reading->depth == DTI_ONNX_DEPTH_MAX)
        return dti_opening_refuse(reading->opening,
                                  ": messages are nested deeper than %u at byte %" PRIu64,
                                  (unsigned)DTI_ONNX_DEPTH_MAX, field->at);
    /* a library would merge the two; nobody writes that */
    if (frame->message == DTI_ONNX_ATTRIBUTE && field->number == FIELD_T && frame->number++ > 0)
        return dti_opening_refuse(reading->opening,
                                  ": the attribute at byte %" PRIu64 " has its tensor in two parts",
                                  frame->start);
    if (message == DTI_ONNX_TENSOR)
        reading->draft = (struct dti_onnx_draft){.rank = 0};
    else if (message == DTI_ONNX_SPARSE)
        reading->sparse = (struct dti_onnx_draft){.rank = 0};
    reading->has_graph |= message == DTI_ONNX_GRAPH && frame->message == DTI_ONNX_MODEL;
    struct dti_onnx_frame *const inner = &reading->frames[reading->depth++];
    *inner = (struct dti_onnx_frame){.message = message,
                                     .field = field->number,
                                     .start = field->at,
                                     .end = field->at + field->value,
                                     .place = frame->entered};
    frame->entered += message != DTI_ONNX_VALUE; /* names have numbers of what may hold tensors */
    return dti_onnx_graph(reading, inner, frame->graph);
}

static bool add_dimension(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                          uint64_t size)
{
    struct dti_onnx_draft *const draft =
        frame->message == DTI_ONNX_SPARSE ? &reading->sparse : &reading->draft;
    if (draft->rank == DTI_ONNX_RANK_MAX)
        return dti_opening_refuse(reading->opening,
                                  ": the tensor at byte %" PRIu64 " has more than %u dimensions",
                                  frame->start, (unsigned)DTI_ONNX_RANK_MAX);
    if (size > INT64_MAX)
        return dti_opening_refuse(reading->opening,
                                  ": the tensor at byte %" PRIu64 " has the dimension %" PRId64
                                  ", which is negative",
                                  frame->start, (int64_t)size);
    draft->shape[draft->rank++] = size;
    return true;
}

static bool take_dimensions(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                            const struct dti_wire_field *field)
{
    uint64_t size;
    if (field->type == DTI_WIRE_VARINT)
        return add_dimension(reading, frame, field->value);
    while (dti_wire_at(&reading->wire) < field->at + field->value) {
        if (!dti_wire_varint(&reading->wire, field->at + field->value, &size) ||
            !add_dimension(reading, frame, size))
            return false;
    }
    return true;
}

static bool take(struct dti_onnx_reading *reading, struct dti_onnx_frame *frame,
                 const struct rule *rule, const struct dti_wire_field *field)
{
    struct dti_onnx_draft *const draft = &reading->draft;
    const struct dti_onnx_text text = {field->at, field->value};
    switch ((enum action)rule->action) {
    case ENTER:
        return enter(reading, frame, rule, field);
    case FIRST:
        if (frame->texts[rule->detail].size == 0)
            frame->texts[rule->detail] = text;
        return true;
    case TEXT:
        frame->texts[rule->detail] = text;
        return true;
    case INPUT:
        if (frame->arguments.input_count < DTI_ONNX_INPUTS)
            frame->arguments.inputs[frame->arguments.input_count++] = text;
        return true;
    case NUMBER:
        frame->number = field->value;
        return true;
    case INTEGER:
        frame->integer = (int64_t)field->value;
        frame->has_integer = true;
        return true;
    case DIMS:
        return take_dimensions(reading, frame, field);
    case SEGMENT:
        draft->segment = true;
        return true;
    case STRING:
        draft->string_bytes += field->value; /* within the file */
        return true;
    case RAW:
        draft->has_raw = true;
        draft->raw = text;
        return true;
    case LOCATION:
        draft->external = field->value == 1;
        return true;
    case SKIP:
        break;
    }
    return true;
}

static bool add_metadata(struct dti_onnx_reading *reading, const char *key, size_t key_length,
                         const char *value, size_t value_length)
{
    struct dti_metadata *const entry = dti_opening_metadata(reading->opening);
    if (!entry)
        return false;
    *entry = (struct dti_metadata){.key = key,
                                   .key_length = key_length,
                                   .value = value,
                                   .value_length = value_length,
                                   .kind = DTI_METADATA_STRING,
                                   .type = "string",
                                   .count = 1};
    return true;
}

static bool add_text(struct dti_onnx_reading *reading, const char *key, size_t key_length,
                     struct dti_onnx_text text)
{
    char quoted[DTI_QUOTE_SIZE];
    size_t length;
    char *const value = dti_onnx_text(reading, text, DTI_ONNX_VALUE_MAX, &length);
    return value && add_metadata(reading, key, key_length, value, length) &&
           (length == text.size ||
            dti_opening_note(reading->opening, "metadata_cut",
                             "the value of key %s is truncated: it has %" PRIu64 " bytes",
                             dti_quote(quoted, key, key_length), text.size));
}

/* A pair of metadata_props. */
static bool end_property(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    size_t length;
    if (frame->texts[0].size == 0)
        return dti_opening_refuse(
            reading->opening, ": the key of metadata at byte %" PRIu64 " is empty", frame->start);
    char *const key = dti_onnx_text(reading, frame->texts[0], DTI_ONNX_TEXT_MAX, &length);
    return key && add_text(reading, key, length, frame->texts[1]);
}

static bool add_number(struct dti_onnx_reading *reading, const char *key, uint64_t number)
{
    char text[NUMBER_SIZE];
    const int length = snprintf(text, sizeof text, "%" PRId64, (int64_t)number);
    const char *const name = dti_opening_text(reading->opening, key, strlen(key));
    const char *const value = dti_opening_text(reading->opening, text, (size_t)length);
    return name && value && add_metadata(reading, name, strlen(name), value, (size_t)length);
}

/* The operators' version: of the domain of ONNX, which is named by nothing, or of another. */
static bool end_opset(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    enum { DOMAIN_MAX = KEY_SIZE - 32 };
    const struct dti_onnx_text domain = frame->texts[0];
    char name[DOMAIN_MAX + 1], key[KEY_SIZE];
    const size_t length = domain.size < DOMAIN_MAX ? (size_t)domain.size : DOMAIN_MAX;
    if (reading->opsets++ == OPSETS_MAX)
        return dti_opening_refuse(reading->opening, " has more than %u sets of operators",
                                  (unsigned)OPSETS_MAX);
    if (!dti_wire_copy(&reading->wire, domain.at, name, length))
        return false;
    name[length] = '\0';
    (void)snprintf(key, sizeof key, "onnx.opset%s%s", length > 0 ? "." : "", name);
    return add_number(reading, key, frame->number);
}

static bool end_model(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    static const char *const keys[] = {"onnx.producer_name", "onnx.producer_version"};
    struct dti_opening *const opening = reading->opening;
    char version[NUMBER_SIZE];
    if (!reading->has_graph)
        return dti_opening_refuse(opening, " is not an ONNX model: it has no graph");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (frame->texts[i].size > 0 &&
            !add_text(reading, keys[i], strlen(keys[i]), frame->texts[i]))
            return false;
    }
    const int length = snprintf(version, sizeof version, "%" PRId64, (int64_t)frame->number);
    opening->container->version = dti_opening_text(opening, version, (size_t)length);
    return opening->container->version &&
           dti_opening_check_names(
               opening, opening->container->metadata, opening->container->metadata_count,
               DTI_NAMED(struct dti_metadata, key),
               (struct dti_subject){.what = "the key", .argument = true}, " occurs twice");
}

/* A key and a value of external_data. */
static bool end_external(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    static const char *const ignored[] = {"checksum", "basepath"};
    struct dti_onnx_draft *const draft = &reading->draft;
    char key[16];
    const struct dti_onnx_text name = frame->texts[0], value = frame->texts[1];
    if (name.size >= sizeof key) {
        reading->other_keys++;
        return true;
    }
    if (!dti_wire_copy(&reading->wire, name.at, key, (size_t)name.size))
        return false;
    const size_t length = (size_t)name.size;
    if (dti_text_is(key, length, "location")) {
        draft->location = value;
    } else if (dti_text_is(key, length, "offset")) {
        draft->offset = value;
        draft->has_offset = true;
    } else if (dti_text_is(key, length, "length")) {
        draft->length = value;
        draft->has_length = true;
    } else if (!dti_text_is(key, length, ignored[0]) && !dti_text_is(key, length, ignored[1])) {
        reading->other_keys++;
    }
    return true;
}

/* What a scope's name is made of. */
static bool end_scope(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    for (size_t i = 0; frame->scope && i < DTI_ONNX_TEXTS; i++) {
        if (frame->texts[i].size == 0)
            continue;
        frame->scope->texts[i] = dti_onnx_text(reading, frame->texts[i], DTI_ONNX_TEXT_MAX, NULL);
        if (!frame->scope->texts[i])
            return false;
    }
    return true;
}

static bool end(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    switch (frame->message) {
    case DTI_ONNX_MODEL:
        return end_model(reading, frame);
    case DTI_ONNX_OPSET:
        return end_opset(reading, frame);
    case DTI_ONNX_PROPERTY:
        return end_property(reading, frame);
    case DTI_ONNX_TENSOR:
        return dti_onnx_tensor(reading, frame);
    case DTI_ONNX_SPARSE:
        return dti_onnx_sparse(reading, frame);
    case DTI_ONNX_EXTERNAL:
        return end_external(reading, frame);
    case DTI_ONNX_VALUE:
        return dti_onnx_input(reading, frame);
    case DTI_ONNX_ATTRIBUTE:
        return dti_onnx_attribute(reading, frame) && end_scope(reading, frame);
    case DTI_ONNX_NODE:
        return dti_onnx_node(reading, frame) && end_scope(reading, frame);
    default:
        return end_scope(reading, frame);
    }
}

bool dti_onnx_walk(struct dti_onnx_reading *reading)
{
    struct dti_wire *const wire = &reading->wire;
    reading->frames[0] = (struct dti_onnx_frame){.message = DTI_ONNX_MODEL,
                                                 .end = reading->opening->file->input.size};
    reading->depth = 1;
    while (reading->depth > 0) {
        struct dti_onnx_frame *const frame = &reading->frames[reading->depth - 1];
        struct dti_wire_field field;
        if (dti_wire_at(wire) == frame->end) {
            if (!end(reading, frame))
                return false;
            dti_wire_seek(wire, frame->end);
            reading->depth--;
            continue;
        }
        if (!dti_wire_next(wire, frame->end, &field))
            return false;
        const struct rule none = {.action = SKIP};
        const struct rule *const known =
            field.number <= FIELD_MAX ? &rules[frame->message][field.number] : &none;
        const struct rule *const rule = (known->wires >> field.type & 1) != 0 ? known : &none;
        if (!take(reading, frame, rule, &field))
            return false;
        if (field.type == DTI_WIRE_BYTES && rule->action != ENTER)
            dti_wire_seek(wire, field.at + field.value);
    }
    return true;
}
