/* SPDX-License-Identifier: MIT
 *
 * What a JSON document under construction is: shared by the two halves of the builder, json.c which
 * adds to the tree and json_write.c which prints it. */
#ifndef DTINFO_REPORT_JSON_TREE_H
#define DTINFO_REPORT_JSON_TREE_H

#include <cjson/cJSON.h>
#include <string.h>

#include "dtinfo/buffer.h"
#include "dtinfo/json.h"
#include "util/json_string.h"

enum { DTI_JSON_DEEPEST = 32, DTI_JSON_ALIGNMENT = 16 };

/* cJSON links the nodes; the lengths beside them save a strlen() for each key and text. */
struct dti_item {
    cJSON node; /* first, so that a pointer to one is a pointer to the other */
    size_t key_length, text_length;
    char text[];
};

struct dti_chunk {
    struct dti_chunk *next;
    size_t size, used; /* of memory */
    _Alignas(DTI_JSON_ALIGNMENT) char memory[];
};

struct dti_json {
    struct dti_chunk *first, *current;
    struct dti_buffer text;                  /* the printed document */
    struct dti_item *open[DTI_JSON_DEEPEST]; /* containers, outermost first */
    size_t depth;
    size_t bound; /* no less than the bytes that printing takes */
    bool failed;
    FILE *stream;        /* where finished elements of an array go, or NULL */
    size_t stream_depth; /* of what is open inside that array: its elements' is one more; or 0 */
    size_t begun;        /* so many of the open containers are out in part, from the outermost on */
    bool has_members[DTI_JSON_DEEPEST]; /* of those: a comma comes before the next one */
};

/* An item in zeroed memory from the arena, without a parent, and with room for so much text. NULL,
 * and `failed`, when memory ran out. */
struct dti_item *dti_json_item(struct dti_json *json, int type, size_t text_size);

/* Copies text as far as its characters stand for themselves in a JSON string; returns how far. Most
 * texts are short and plain to their end, which two loads that may overlap find out. */
static inline size_t dti_json_copy_plain(char *out, const char *text, size_t length)
{
    size_t i = 0;
    if (length >= 8) {
        uint64_t eight;
        for (; i < length - 8; i += 8) {
            memcpy(&eight, text + i, 8);
            memcpy(out + i, &eight, 8);
            if (!dti_json_are_plain(eight))
                break;
        }
        memcpy(&eight, text + length - 8, 8);
        memcpy(out + length - 8, &eight, 8);
        if (i >= length - 8 && dti_json_are_plain(eight))
            return length;
    } else if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        memcpy(out, &first, 4);
        memcpy(out + length - 4, &last, 4);
        if (dti_json_are_plain((uint64_t)first << 32 | last))
            return length;
    }
    for (; i < length && dti_json_is_plain(text[i]); i++)
        out[i] = text[i];
    return i;
}

/* A container was closed: an element of the streamed array, or one that was written in part, or
 * another. */
void dti_json_stream_end(struct dti_json *json);

#endif
