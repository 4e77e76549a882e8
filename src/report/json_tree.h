/* SPDX-License-Identifier: MIT
 *
 * What a JSON document under construction is: shared by the two halves of the builder, json.c which
 * adds to the tree and json_write.c which prints it. */
#ifndef DTINFO_REPORT_JSON_TREE_H
#define DTINFO_REPORT_JSON_TREE_H

#include <cjson/cJSON.h>

#include "dtinfo/buffer.h"
#include "dtinfo/json.h"

enum { DTI_JSON_DEEPEST = 32, DTI_JSON_ALIGNMENT = 16 };

/* cJSON links the nodes; the lengths beside them save a strlen() for each key and text. */
struct dti_item {
    cJSON node; /* first, so that a pointer to one is a pointer to the other */
    size_t key_length, text_length;
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

/* An item in zeroed memory from the arena, without a parent. NULL, and `failed`, as below. */
struct dti_item *dti_json_item(struct dti_json *json, int type);

/* Memory from the arena; NULL, and `failed`, when there is none. */
void *dti_json_take(struct dti_json *json, size_t size);

/* A container was closed: an element of the streamed array, or one that was written in part, or
 * another. */
void dti_json_stream_end(struct dti_json *json);

#endif
