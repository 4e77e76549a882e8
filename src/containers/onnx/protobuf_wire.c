/* SPDX-License-Identifier: MIT
 *
 * The stream over protocol buffers: one buffer; a length is accepted only if the enclosing message
 * is long enough. */
#include "containers/onnx/protobuf_wire.h"

#include <inttypes.h>
#include <string.h>

#include "util/little_endian.h"

void dti_wire_seek(struct dti_wire *wire, uint64_t at)
{
    if (at >= wire->buffer_at && at - wire->buffer_at <= wire->have) {
        wire->next = (size_t)(at - wire->buffer_at);
    } else {
        wire->buffer_at = at;
        wire->have = wire->next = 0;
    }
}

static bool truncated(const struct dti_wire *wire, uint64_t end)
{
    return dti_opening_refuse(wire->opening,
                              ": damaged or truncated: the message that ends at byte %" PRIu64
                              " breaks off in the middle of a field",
                              end);
}

/* Refills the buffer at the stream's position, which is before the end of the file. */
static bool refill(struct dti_wire *wire)
{
    const uint64_t at = dti_wire_at(wire), left = wire->opening->file->input.size - at;
    const size_t size = left < sizeof wire->buffer ? (size_t)left : sizeof wire->buffer;
    wire->buffer_at = at;
    wire->have = wire->next = 0;
    if (!dti_opening_read(wire->opening, wire->buffer, size, at))
        return false;
    wire->have = size;
    return true;
}

static bool next_byte(struct dti_wire *wire, uint64_t end, unsigned char *ret)
{
    if (dti_wire_at(wire) >= end)
        return truncated(wire, end);
    if (wire->next == wire->have && !refill(wire))
        return false;
    *ret = wire->buffer[wire->next++];
    return true;
}

bool dti_wire_varint(struct dti_wire *wire, uint64_t end, uint64_t *ret)
{
    const uint64_t at = dti_wire_at(wire);
    uint64_t value = 0;
    for (unsigned i = 0; i < DTI_WIRE_VARINT_MAX; i++) {
        unsigned char byte = 0;
        if (!next_byte(wire, end, &byte))
            return false;
        if (i == DTI_WIRE_VARINT_MAX - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return dti_opening_refuse(
        wire->opening,
        ": damaged: the number at byte %" PRIu64 " is longer than the 64 bits of a varint", at);
}

bool dti_wire_fixed(struct dti_wire *wire, size_t size, uint64_t end, uint64_t *ret)
{
    unsigned char bytes[sizeof *ret];
    for (size_t i = 0; i < size; i++) {
        if (!next_byte(wire, end, &bytes[i]))
            return false;
    }
    *ret = dti_little_get(bytes, size);
    return true;
}

static bool refuse_tag(const struct dti_wire *wire, uint64_t tag, uint64_t at)
{
    const unsigned type = tag & 7;
    if (type == 3 || type == 4)
        return dti_opening_refuse(
            wire->opening, ": not a model: a group at byte %" PRIu64 ", which ONNX never has", at);
    return dti_opening_refuse(wire->opening,
                              ": damaged, or not a model: %" PRIu64 " at byte %" PRIu64
                              " is not the tag of a field",
                              tag, at);
}

bool dti_wire_next(struct dti_wire *wire, uint64_t end, struct dti_wire_field *ret)
{
    const uint64_t start = dti_wire_at(wire);
    uint64_t tag;
    if (!dti_wire_varint(wire, end, &tag))
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->type = (enum dti_wire_type)(tag & 7);
    ret->at = dti_wire_at(wire);
    if (tag > UINT32_MAX || ret->number == 0)
        return refuse_tag(wire, tag, start);
    switch (ret->type) {
    case DTI_WIRE_VARINT:
        return dti_wire_varint(wire, end, &ret->value);
    case DTI_WIRE_FIXED32:
        return dti_wire_fixed(wire, 4, end, &ret->value);
    case DTI_WIRE_FIXED64:
        return dti_wire_fixed(wire, 8, end, &ret->value);
    case DTI_WIRE_BYTES:
        if (!dti_wire_varint(wire, end, &ret->value))
            return false;
        ret->at = dti_wire_at(wire);
        return ret->value <= end - ret->at ||
               dti_opening_refuse(wire->opening,
                                  ": damaged or truncated: the field at byte %" PRIu64
                                  " has %" PRIu64 " bytes, and its message only %" PRIu64 " more",
                                  start, ret->value, end - ret->at);
    default:
        return refuse_tag(wire, tag, start);
    }
}

bool dti_wire_copy(struct dti_wire *wire, uint64_t at, void *ret, size_t size)
{
    const uint64_t skipped = at - wire->buffer_at;
    if (at < wire->buffer_at || skipped > wire->have || size > wire->have - skipped)
        return dti_opening_read(wire->opening, ret, size, at);
    if (size > 0)
        memcpy(ret, wire->buffer + skipped, size);
    return true;
}
