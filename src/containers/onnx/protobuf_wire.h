/* SPDX-License-Identifier: MIT
 *
 * The protocol buffers wire format, read in place: tags, numbers and lengths in sequence, at 64-bit
 * file offsets. Payloads are skipped, not read. A protobuf library would hold whole messages in
 * memory, refuse those of 2 GiB, and recurse into them; here one buffer is enough for a file of any
 * size. Source: protobuf.dev, "Encoding". */
#ifndef CONTAINERS_ONNX_PROTOBUF_WIRE_H
#define CONTAINERS_ONNX_PROTOBUF_WIRE_H

#include "containers/opening.h"

/* The wire type in a tag: the encoding of the bytes that follow. Groups, 3 and 4, are refused. */
enum dti_wire_type {
    DTI_WIRE_VARINT = 0,
    DTI_WIRE_FIXED64 = 1,
    DTI_WIRE_BYTES = 2,
    DTI_WIRE_FIXED32 = 5,
};
enum {
    DTI_WIRE_BUFFER = 1 << 16,
    DTI_WIRE_VARINT_MAX = 10, /* bytes: 64 bits, 7 in each */
};

struct dti_wire_field {
    uint32_t number;
    enum dti_wire_type type;
    uint64_t value; /* the number; for DTI_WIRE_BYTES the byte count */
    uint64_t at;    /* file offset of the number or the bytes */
};

/* Functions return false on failure and store the error in the opening. They read nothing at or
 * after `end`, the end of the current message, which is within the file. */
struct dti_wire {
    struct dti_opening *opening;
    uint64_t buffer_at; /* file offset of the buffer */
    size_t have, next;  /* valid bytes in the buffer; bytes consumed */
    unsigned char buffer[DTI_WIRE_BUFFER];
};

static inline uint64_t dti_wire_at(const struct dti_wire *wire)
{
    return wire->buffer_at + wire->next;
}

/* Moves to this offset; free if it is in the buffer. */
void dti_wire_seek(struct dti_wire *wire, uint64_t at);
bool dti_wire_varint(struct dti_wire *wire, uint64_t end, uint64_t *ret);
/* A little-endian number of 4 or 8 bytes. */
bool dti_wire_fixed(struct dti_wire *wire, size_t size, uint64_t end, uint64_t *ret);
/* Reads the next tag and its number, or the length of its bytes, which is checked against `end`;
 * the stream is then at the first of these bytes. */
bool dti_wire_next(struct dti_wire *wire, uint64_t end, struct dti_wire_field *ret);
/* Copies bytes from elsewhere in the file; the stream position does not change. */
bool dti_wire_copy(struct dti_wire *wire, uint64_t at, void *ret, size_t size);

#endif
