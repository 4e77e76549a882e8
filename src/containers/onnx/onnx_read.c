/* SPDX-License-Identifier: MIT
 *
 * ONNX models, *.onnx: the tensors of a protocol buffer and of the external files that it names.
 * Models are read-only: types flow through the graph, so a tensor of another type would need other
 * operators. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/onnx/onnx.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

/* Nodes that dequantize codes: only for these the walk keeps input names and relevant attributes.
 * The tensors they refer to are resolved after everything has been read (onnx_weights.c). */

enum { NONE = DTI_ONNX_INPUTS, NAME_MAX_SIZE = 20 };

/* Indices of their inputs. Sources: Operators.md of onnx 1.23, ContribOperators.md of onnxruntime
 * 1.32. */
static const struct operator_row {
    const char *name;
    bool standard; /* in ONNX as well as in onnxruntime */
    unsigned char codes, scale, zero, order;
} operators[DTI_ONNX_OPERATORS] = {
    [DTI_ONNX_DEQUANTIZE_LINEAR] = {"DequantizeLinear", true, 0, 1, 2, NONE},
    [DTI_ONNX_MATMUL_NBITS] = {"MatMulNBits", false, 1, 2, 3, 4},
    [DTI_ONNX_GATHER_BLOCK_QUANTIZED] = {"GatherBlockQuantized", false, 0, 2, 3, NONE},
};

/* In the order of dti_onnx_arguments.integers; onnx_weights.c uses the same order. */
static const char *const attributes[DTI_ONNX_INTEGERS] = {
    "axis", "block_size", "output_dtype", "quantize_axis", "bits", "N", "K"};

/* Assigns a graph to a message that has started. */
static bool find_graph(struct dti_onnx_reading *reading, struct dti_onnx_frame *frame, size_t outer)
{
    frame->graph = outer;
    if (frame->message != DTI_ONNX_GRAPH && frame->message != DTI_ONNX_FUNCTION)
        return true;
    if (!dti_opening_grow(reading->opening, &reading->graphs, reading->graph_count, 2,
                          &reading->graph_capacity, sizeof *reading->graphs))
        return false;
    if (reading->graph_count == 0) /* index 0 means none */
        reading->graphs[reading->graph_count++] = 0;
    frame->graph = reading->graph_count++;
    reading->graphs[frame->graph] = outer;
    return true;
}

/* Reads a short text to compare with known words; "" if it is too long. */
static bool read_word(struct dti_onnx_reading *reading, struct dti_onnx_text text,
                      char ret[NAME_MAX_SIZE + 1])
{
    const size_t length = text.size <= NAME_MAX_SIZE ? (size_t)text.size : 0;
    ret[length] = '\0';
    return dti_wire_copy(&reading->wire, text.at, ret, length);
}

/* Keeps a finished attribute if it may matter; the same for nodes and graph inputs. */
static bool end_attribute(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    enum { NAME, REFERENCE };
    struct dti_onnx_frame *const node = &reading->frames[reading->depth - 2];
    const bool referred = frame->texts[REFERENCE].size > 0;
    char name[NAME_MAX_SIZE + 1];
    if (node->message != DTI_ONNX_NODE || (!frame->has_integer && !referred))
        return true;
    if (!read_word(reading, frame->texts[NAME], name))
        return false;
    for (unsigned i = 0; i < DTI_ONNX_INTEGERS; i++) {
        if (strcmp(name, attributes[i]) != 0)
            continue;
        node->arguments.integers[i] = frame->integer;
        node->arguments.given |= 1U << i;
        node->arguments.referred |= (referred ? 1U : 0U) << i;
    }
    return true;
}

/* Reads a name that may refer to a tensor. */
static bool read_name(struct dti_onnx_reading *reading, struct dti_onnx_text text,
                      struct dti_onnx_name *ret)
{
    *ret = (struct dti_onnx_name){.text = NULL};
    if (text.size == 0 || text.size > DTI_ONNX_TEXT_MAX)
        return true;
    ret->text = dti_onnx_text(reading, text, DTI_ONNX_TEXT_MAX, &ret->length);
    return ret->text != NULL;
}

static struct dti_onnx_text input_at(const struct dti_onnx_arguments *arguments, unsigned place)
{
    return place < arguments->input_count ? arguments->inputs[place]
                                          : (struct dti_onnx_text){.size = 0};
}

/* *ret NULL: not an operator of the table. */
static bool find_operator(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                          const struct operator_row **ret)
{
    enum { OP = 1, DOMAIN_TEXT = 3 };
    char op[NAME_MAX_SIZE + 1], domain[NAME_MAX_SIZE + 1];
    *ret = NULL;
    for (size_t i = 0; i < DTI_ONNX_OPERATORS; i++) {
        const struct operator_row *const row = &operators[i];
        if (frame->texts[OP].size != strlen(row->name)) /* fast path: nothing is read */
            continue;
        if (!read_word(reading, frame->texts[OP], op) ||
            !read_word(reading, frame->texts[DOMAIN_TEXT], domain))
            return false;
        const bool standard = strcmp(domain, "ai.onnx") == 0 || frame->texts[DOMAIN_TEXT].size == 0;
        if (strcmp(op, row->name) == 0 &&
            ((row->standard && standard) || strcmp(domain, "com.microsoft") == 0))
            *ret = row;
    }
    return true;
}

static bool end_node(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    const struct dti_onnx_arguments *const arguments = &frame->arguments;
    const struct operator_row *row;
    if (!find_operator(reading, frame, &row))
        return false;
    if (!row)
        return true;
    if (reading->node_count == DTI_ONNX_NODES_MAX) {
        reading->nodes_skipped++;
        return true;
    }
    if (!dti_opening_grow(reading->opening, &reading->nodes, reading->node_count, 1,
                          &reading->node_capacity, sizeof *reading->nodes))
        return false;
    struct dti_onnx_node *const node = &reading->nodes[reading->node_count++];
    *node = (struct dti_onnx_node){.op = (enum dti_onnx_operator)(row - operators),
                                   .graph = frame->graph,
                                   .order = input_at(arguments, row->order).size > 0,
                                   .given = arguments->given,
                                   .referred = arguments->referred};
    memcpy(node->integers, arguments->integers, sizeof node->integers);
    node->has_zero = input_at(arguments, row->zero).size > 0;
    return read_name(reading, input_at(arguments, row->codes), &node->codes) &&
           read_name(reading, input_at(arguments, row->scale), &node->scale) &&
           read_name(reading, input_at(arguments, row->zero), &node->zero);
}

/* Inputs shadow names of outer graphs. Inputs of the main graph shadow nothing: an initializer of
 * the same name is their default. */
static bool end_input(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    struct dti_onnx_input input = {.graph = frame->graph};
    if (reading->graphs[frame->graph] == 0)
        return true;
    if (!read_name(reading, frame->texts[0], &input.name))
        return false;
    if (!input.name.text)
        return true;
    if (!dti_opening_grow(reading->opening, &reading->inputs, reading->input_count, 1,
                          &reading->input_capacity, sizeof *reading->inputs))
        return false;
    reading->inputs[reading->input_count++] = input;
    return true;
}

/* The walk: onnx_fields.def lists the fields that lead to tensors; a stack of frames tracks the
 * position in the file. Fields may come in any order; if a singular field is repeated, the last one
 * wins. */

enum { OPSETS_MAX = 256, KEY_SIZE = 512, NUMBER_SIZE = 24, FIELD_MAX = 25 };

/* Accepted wire types of a field. */
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

/* Messages used with ENTER. */
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
#include "containers/onnx/onnx_fields.def"
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
    /* protobuf libraries would merge the two; no known writer emits this */
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
    frame->entered += message != DTI_ONNX_VALUE; /* only messages that may hold tensors */
    return find_graph(reading, inner, frame->graph);
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

static bool take_field(struct dti_onnx_reading *reading, struct dti_onnx_frame *frame,
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
        draft->string_bytes += field->value; /* no overflow: within the file */
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

/* A key and value of metadata_props. */
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

/* An operator set version: of the ONNX domain, whose name is empty, or of another. */
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

/* Reads the texts that make up a scope's name. */
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
        return end_input(reading, frame);
    case DTI_ONNX_ATTRIBUTE:
        return end_attribute(reading, frame) && end_scope(reading, frame);
    case DTI_ONNX_NODE:
        return end_node(reading, frame) && end_scope(reading, frame);
    default:
        return end_scope(reading, frame);
    }
}

/* Reads the whole file. */
static bool walk(struct dti_onnx_reading *reading)
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
        if (!take_field(reading, frame, rule, &field))
            return false;
        if (field.type == DTI_WIRE_BYTES && rule->action != ENTER)
            dti_wire_seek(wire, field.at + field.value);
    }
    return true;
}

static bool add_notes(const struct dti_onnx_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    return (reading->sparse_count == 0 ||
            dti_opening_note(opening, "sparse", "%zu tensor%s sparse: listed, but not read",
                             reading->sparse_count,
                             reading->sparse_count == 1 ? " is" : "s are")) &&
           (reading->nodes_skipped == 0 ||
            dti_opening_note(
                opening, "nodes", "%zu node%s with quantized weights %s ignored; the limit is %u",
                reading->nodes_skipped, reading->nodes_skipped == 1 ? "" : "s",
                reading->nodes_skipped == 1 ? "is" : "are", (unsigned)DTI_ONNX_NODES_MAX)) &&
           (reading->too_long == 0 ||
            dti_opening_note(opening, "external_length",
                             "%zu tensor%s more external data than %s elements need",
                             reading->too_long, reading->too_long == 1 ? " has" : "s have",
                             reading->too_long == 1 ? "its" : "their")) &&
           (reading->other_keys == 0 ||
            dti_opening_note(opening, "external_keys",
                             "%zu unknown key%s of external data %s ignored", reading->other_keys,
                             reading->other_keys == 1 ? "" : "s",
                             reading->other_keys == 1 ? "is" : "are"));
}

/* Header bytes: everything in the model file except tensor data. */
static void count_header(const struct dti_opening *opening)
{
    struct dti_container_file *const file = &opening->container->files[0];
    uint64_t data = 0;
    for (size_t i = 0; i < opening->container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &opening->container->tensors[i];
        if (tensor->file == 0 && !tensor->compressed)
            data += tensor->bytes; /* ranges of the file, so within its size */
    }
    file->header_bytes = file->input.size - data;
}

static bool open_onnx(struct dti_opening *opening)
{
    struct dti_onnx *const own = dti_opening_array(opening, 1, sizeof *own);
    struct dti_onnx_reading *const reading = dti_calloc(1, sizeof *reading);
    bool good = own && (reading || dti_opening_no_memory(opening));
    if (good) {
        reading->opening = reading->wire.opening = opening;
        good = walk(reading) && dti_onnx_name_tensors(reading) && dti_onnx_open_external(reading) &&
               dti_onnx_find_weights(reading) && add_notes(reading);
    }
    if (good) {
        *own = (struct dti_onnx){.tensors = reading->tensors};
        opening->container->own = own;
        count_header(opening);
    }
    dti_free(reading);
    return good;
}

/* A varint of at most 64 bits, if it is complete in the buffer. */
static bool get_varint(const unsigned char *head, size_t size, size_t *at, uint64_t *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < DTI_WIRE_VARINT_MAX && *at < size; i++) {
        const unsigned char byte = head[(*at)++];
        *ret |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Protocol buffers have no magic number. But a model starts with its version, followed by fields of
 * ModelProto up to the end of the file. */
static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    enum { VERSION = DTI_WIRE_VARINT | 1 << 3, MODEL_VERSION = DTI_WIRE_VARINT | 5 << 3 };
    static const unsigned char fields[] = {2, 3, 4, 6, 7, 8, 14, 20, 25, 26}; /* all BYTES */
    enum { ENOUGH = 3, VERSION_MAX = 99 };
    size_t at = 0, count = 0;
    uint64_t tag, value;
    bool graph = false;
    if (!get_varint(head, head_size, &at, &tag) || tag != VERSION ||
        !get_varint(head, head_size, &at, &value) || value == 0 || value > VERSION_MAX)
        return false;
    while (at < head_size) {
        bool known = false;
        if (!get_varint(head, head_size, &at, &tag) || !get_varint(head, head_size, &at, &value))
            return count >= ENOUGH && head_size < file_size;
        if (tag != MODEL_VERSION && (tag & 7) != DTI_WIRE_BYTES)
            return false;
        for (size_t i = 0; i < sizeof fields && !known; i++)
            known = tag == (DTI_WIRE_BYTES | (unsigned)fields[i] << 3);
        if (tag == MODEL_VERSION)
            continue;
        if (!known || value > file_size - at)
            return false;
        graph |= tag == (DTI_WIRE_BYTES | 7 << 3);
        count++;
        if (value > head_size - at)
            return graph || count >= ENOUGH;
        at += (size_t)value;
    }
    return graph || (count >= ENOUGH && head_size < file_size);
}

const struct dti_container_ops dti_onnx_ops = {
    .traits = DTI_TRAIT_GRAPH,
    .packed = "typed field",
    .detect = detect,
    .open = open_onnx,
    .data = dti_onnx_data,
    .free = dti_onnx_free,
};
