/* SPDX-License-Identifier: MIT
 *
 * Key-values of a new GGUF file: new ones, alone or in place of those of another file. They become
 * a container in memory, from which dti_container_layout() copies them as from any file. */
#ifndef CONTAINERS_GGUF_GGUF_EDITS_H
#define CONTAINERS_GGUF_GGUF_EDITS_H

#include "containers/container.h"
#include "util/buffer.h"

/* The types of values, with the numbers of GGUF. */
enum dti_gguf_value {
    DTI_GGUF_UINT8,
    DTI_GGUF_INT8,
    DTI_GGUF_UINT16,
    DTI_GGUF_INT16,
    DTI_GGUF_UINT32,
    DTI_GGUF_INT32,
    DTI_GGUF_FLOAT32,
    DTI_GGUF_BOOL,
    DTI_GGUF_STRING,
    DTI_GGUF_ARRAY,
    DTI_GGUF_UINT64,
    DTI_GGUF_INT64,
    DTI_GGUF_FLOAT64,
    DTI_GGUF_VALUES
};
/* Of a scalar, element is the same as type. DTI_GGUF_VALUES: not stated. */
struct dti_gguf_typed {
    enum dti_gguf_value type, element;
};

/* "u32", "str", "arr[i32]", also as GGUF spells them ("uint32"); ignores case. False: no type. */
bool dti_gguf_value_named(const char *word, size_t length, struct dti_gguf_typed *ret);
/* "u8, i8, ... str, arr[...]", for messages. */
const char *dti_gguf_value_words(void);
/* The type of a key that the table has. False: it has none. */
bool dti_gguf_key_type(const char *key, size_t length, struct dti_gguf_typed *ret);

/* A list of key-values. A zeroed one is empty; data is owned. */
struct dti_gguf_edit {
    size_t at, key_length, length; /* in the text: the key, then type and value */
};
struct dti_gguf_edits {
    struct dti_gguf_edit *list;
    size_t count, capacity;
    struct dti_buffer text;
    bool failed; /* memory ran out */
};
void dti_gguf_edits_init(struct dti_gguf_edits *ret);
void dti_gguf_edits_free(struct dti_gguf_edits *edits);

/* Adds a key; what is appended to edits->text until dti_gguf_edits_end() is its value. Of keys that
 * are there twice, the last counts. */
void dti_gguf_edits_begin(struct dti_gguf_edits *edits, const char *key, size_t length);
void dti_gguf_edits_end(struct dti_gguf_edits *edits);
/* A key that the new file does not have. */
void dti_gguf_edits_remove(struct dti_gguf_edits *edits, const char *key);
/* Adds all edits of another list. */
void dti_gguf_edits_append(struct dti_gguf_edits *edits, const struct dti_gguf_edits *more);
/* Whole values. */
void dti_gguf_edits_number(struct dti_gguf_edits *edits, const char *key, enum dti_gguf_value type,
                           uint64_t code);
void dti_gguf_edits_string(struct dti_gguf_edits *edits, const char *key, const char *text,
                           size_t length);

/* Appends type and value, from JSON (a number, a string, true, false, an array of one of these) or,
 * where that is no JSON, from a plain text. type: as stated, or what the table has, or else
 * inferred: integers become uint32 or int32, or 64 bits if they need them, other numbers float32,
 * true and false bool, the rest strings. Numbers are exact or, as floats, rounded once. Fails with
 * DTI_BAD_VALUE in one line that begins with the value. */
enum dti_status dti_gguf_value_json(struct dti_buffer *ret, const struct dti_gguf_typed *type,
                                    const char *json, size_t length, struct dti_error *reterr);
enum dti_status dti_gguf_value_text(struct dti_buffer *ret, const struct dti_gguf_typed *type,
                                    const char *text, size_t length, struct dti_error *reterr);

/* Appends type and value of an array of integers. */
void dti_gguf_value_array(struct dti_buffer *ret, enum dti_gguf_value element,
                          const uint64_t *codes, size_t count);

/* A container without tensors that has the key-values of `base` (a GGUF file, little-endian; NULL:
 * none) with these in their places, then the others. path: its name in messages; must live as long,
 * as base must. Fails as reading a GGUF file does. */
enum dti_status dti_gguf_edits_apply(const struct dti_gguf_edits *edits,
                                     const struct dti_container *base, const char *path,
                                     struct dti_container **ret, struct dti_error *reterr);

/* The value of an integer key in a container's metadata, and of a string. False: none, or of
 * another type. */
bool dti_gguf_integer_of(const struct dti_container *container, const char *key, uint64_t *ret);
const struct dti_metadata *dti_gguf_pair_of(const struct dti_container *container, const char *key);

#endif
