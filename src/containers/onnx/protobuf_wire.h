/* SPDX-License-Identifier: MIT
 *
 * The wire format of protocol buffers, read in place: tags, numbers and lengths, one after another,
 * at 64-bit offsets of a file. Payloads are skipped, not read. A protobuf library would hold each
 * message in memory as a whole, refuse those of 2 GiB, and recurse into them; here a file of any
 * size takes one buffer. Source: protobuf.dev, "Encoding". */
#ifndef CONTAINERS_ONNX_PROTOBUF_WIRE_H
#define CONTAINERS_ONNX_PROTOBUF_WIRE_H

#include "containers/opening.h"

/* What a tag says of the bytes that follow it. Groups, 3 and 4, are refused. */
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
    uint64_t value; /* the number; of DTI_WIRE_BYTES their count */
    uint64_t at;    /* where in the file the number or the bytes begin */
};

/* Functions return false when they have failed; the error is the opening's. Nothing is read from
 * `end` on, which is that of the message at hand and within the file. */
struct dti_wire {
    struct dti_opening *opening;
    uint64_t buffer_at; /* where in the file the buffer begins */
    size_t have, next;  /* bytes in the buffer, and of those taken */
    unsigned char buffer[DTI_WIRE_BUFFER];
};

static inline uint64_t dti_wire_at(const struct dti_wire *wire)
{
    return wire->buffer_at + wire->next;
}

/* Goes on at that offset; free where the buffer has it. */
void dti_wire_seek(struct dti_wire *wire, uint64_t at);
bool dti_wire_varint(struct dti_wire *wire, uint64_t end, uint64_t *ret);
/* A little-endian number of 4 or 8 bytes. */
bool dti_wire_fixed(struct dti_wire *wire, size_t size, uint64_t end, uint64_t *ret);
/* The next tag, and its number or the length of its bytes, which are there: the stream then stands
 * at the first of them. */
bool dti_wire_next(struct dti_wire *wire, uint64_t end, struct dti_wire_field *ret);
/* Bytes from elsewhere in the file; the stream's position stays. */
bool dti_wire_copy(struct dti_wire *wire, uint64_t at, void *ret, size_t size);

#endif
