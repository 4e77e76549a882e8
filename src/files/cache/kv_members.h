/* SPDX-License-Identifier: MIT
 *
 * The members of a configuration by name, and the layers that are gathered from them. */
#ifndef FILES_CACHE_KV_MEMBERS_H
#define FILES_CACHE_KV_MEMBERS_H

#include "files/cache/kv_model.h"
#include "util/json/json_read.h"

/* The members of one JSON object: slices of its text. */
struct dti_kv_member {
    const char *name, *value;
    size_t name_length, value_length;
};
struct dti_kv_members {
    const char *label; /* of the file, quoted */
    struct dti_kv_member *list;
    size_t count, capacity;
};

/* Lists the members of the object `text`. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY; free it in any
 * case. */
enum dti_status dti_kv_members_read(struct dti_kv_members *ret, const char *label, const char *text,
                                    size_t length, struct dti_error *reterr);
void dti_kv_members_free(struct dti_kv_members *members);
/* A member that is not null; NULL if there is none. names: alternatives,
 * "num_hidden_layers|n_layer" */
const struct dti_kv_member *dti_kv_find(const struct dti_kv_members *members, const char *names);

/* A number from 0 to 2^28 - 1. Missing: otherwise, or an error if that is DTI_KV_NEEDED. Fails with
 * DTI_BAD_INPUT. */
enum { DTI_KV_NUMBER_BITS = 28 }; /* products of two, times 3, fit in 64 bits */
#define DTI_KV_NEEDED UINT64_MAX
enum dti_status dti_kv_number(const struct dti_kv_members *members, const char *names,
                              uint64_t otherwise, uint64_t *ret, struct dti_error *reterr);
/* The text of a member; "" if it is missing, no string or too long. */
void dti_kv_text(const struct dti_kv_members *members, const char *names, char ret[DTI_KV_WORD]);
/* The same for a text of letters; false if it is missing or too long. */
bool dti_kv_letters(const struct dti_kv_members *members, const char *names, char *ret,
                    size_t size);
bool dti_kv_is_true(const struct dti_kv_members *members, const char *names);

/* Calls take() for each element of an array; *ret_count: how many. A number has a text "". Fails
 * with DTI_BAD_INPUT if the member is not an array of strings and numbers, or as take() does. */
struct dti_kv_element {
    uint64_t number;
    char text[DTI_KV_WORD];
};
enum dti_status dti_kv_each(const struct dti_kv_members *members, const struct dti_kv_member *of,
                            enum dti_status (*take)(void *context, size_t index,
                                                    const struct dti_kv_element *element,
                                                    struct dti_error *reterr),
                            void *context, size_t *ret_count, struct dti_error *reterr);

/* Fails with DTI_BAD_INPUT: "LABEL: TEXT". */
enum dti_status dti_kv_refuse(const char *label, struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(3, 4);

/* Adds a layer to the group that keeps the same. Fails with DTI_BAD_INPUT if there are too many
 * groups. */
enum dti_status dti_kv_add(struct dti_kv_model *model, const char *label,
                           const struct dti_kv_group *layer, struct dti_error *reterr);
/* Records a default that was used. */
void dti_kv_note_default(struct dti_kv_model *model, const char *name, uint64_t value);

#endif
