/* SPDX-License-Identifier: MIT
 *
 * A container while it or a part of it is being opened: shared by all readers. Their functions
 * return false on failure and store the error here. */
#ifndef CONTAINERS_OPENING_H
#define CONTAINERS_OPENING_H

#include "containers/container.h"
#include "containers/name_order.h"
#include "util/json/json_read.h"
#include "util/run/memory_pool.h"

struct dti_opening {
    struct dti_container *container; /* filled on the way; of no use after a failure */
    struct dti_pool *pool;           /* all memory that the container points at comes from it */
    struct dti_container_options options;
    struct dti_container_file *file; /* whose header is being read */
    const char *label;               /* of it, for messages */
    char file_label[DTI_QUOTE_SIZE];
    const char *note_about; /* NULL, or what the next notes are about, in quotes */
    size_t tensor_capacity, metadata_capacity, note_capacity;
    enum dti_status status;
    struct dti_error *error; /* may be NULL */
};
/* Goes on with that file. */
void dti_opening_turn_to(struct dti_opening *opening, struct dti_container_file *file);

/* What follows returns false, or NULL, on failure. */

/* DTI_BAD_INPUT: the label and the text, which begins with what separates them. */
bool dti_opening_refuse(struct dti_opening *opening, const char *format, ...) DTI_PRINTF(2, 3);
/* The same about something that has a name: "'x.gguf': tensor 'a'" and the text. */
struct dti_subject {
    const char *what, *name;
    size_t length;
    bool argument; /* the name is the error's argument, too */
};
bool dti_opening_refuse_of(struct dti_opening *opening, struct dti_subject subject,
                           const char *format, ...) DTI_PRINTF(3, 4);
/* Refuses the first of those structs whose name is that of an earlier one; the name is left out of
 * the subject. */
bool dti_opening_check_names(struct dti_opening *opening, const void *items, size_t count,
                             struct dti_named named, struct dti_subject subject, const char *text);
/* What the container has from `first` on; NULL: nothing. */
static inline struct dti_tensor *dti_opening_tensors_from(const struct dti_opening *opening,
                                                          size_t first)
{
    const struct dti_container *const container = opening->container;
    return first < container->tensor_count ? &container->tensors[first] : NULL;
}
static inline struct dti_metadata *dti_opening_metadata_from(const struct dti_opening *opening,
                                                             size_t first)
{
    const struct dti_container *const container = opening->container;
    return first < container->metadata_count ? &container->metadata[first] : NULL;
}
bool dti_opening_no_memory(struct dti_opening *opening);
/* Why dti_json_next() or dti_json_skip() failed. The text begins as that of dti_opening_refuse(),
 * and the JSON starts so many bytes after the beginning of the file. */
bool dti_opening_refuse_json(struct dti_opening *opening, const struct dti_json_reader *json,
                             const char *text, size_t offset);
/* Takes over a failure; true for DTI_OK. */
bool dti_opening_goes_on(struct dti_opening *opening, enum dti_status status);
bool dti_opening_read(struct dti_opening *opening, void *buffer, size_t size, uint64_t offset);

/* Memory of the pool: room, a copy of a text with a NUL after it, a copy of anything. */
void *dti_opening_array(struct dti_opening *opening, size_t count, size_t size);
char *dti_opening_text(struct dti_opening *opening, const char *text, size_t length);
void *dti_opening_copy(struct dti_opening *opening, const void *from, size_t count, size_t size);
/* Room for more in a list that at least doubles when it is full; list is the address of a pointer
 * to elements of that size. */
bool dti_opening_grow(struct dti_opening *opening, void *list, size_t count, size_t more,
                      size_t *capacity, size_t size);
/* The first of so many new entries of the container, to be filled. */
struct dti_tensor *dti_opening_tensors(struct dti_opening *opening, size_t more);
struct dti_metadata *dti_opening_metadata(struct dti_opening *opening);
/* Most parts of a model say the same: each key is kept once, as the first one that has it spells
 * it. */
bool dti_opening_unite_metadata(struct dti_opening *opening);
/* Adds a note; code is a literal, the text must be safe for a terminal. */
bool dti_opening_note(struct dti_opening *opening, const char *code, const char *format, ...)
    DTI_PRINTF(3, 4);

#endif
