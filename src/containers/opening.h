/* SPDX-License-Identifier: MIT
 *
 * A container, or a part of it, while it is being opened: shared by all readers. The functions
 * return false on failure and store the error here. */
#ifndef CONTAINERS_OPENING_H
#define CONTAINERS_OPENING_H

#include "containers/container.h"
#include "containers/name_order.h"
#include "util/json/json_read.h"
#include "util/run/memory_pool.h"

struct dti_opening {
    struct dti_container *container; /* filled incrementally; unusable after a failure */
    struct dti_pool *pool;           /* owns all memory that the container points to */
    struct dti_container_options options;
    struct dti_container_file *file; /* the file whose header is being read */
    const char *label;               /* its name in messages */
    char file_label[DTI_QUOTE_SIZE];
    const char *note_about; /* NULL, or what the next notes are about, quoted */
    size_t tensor_capacity, metadata_capacity, note_capacity;
    enum dti_status status;
    struct dti_error *error; /* may be NULL */
};
/* Switches to that file. */
void dti_opening_turn_to(struct dti_opening *opening, struct dti_container_file *file);

/* The following functions return false, or NULL, on failure. */

/* Fails with DTI_BAD_INPUT and a message: the label, then the text, which starts with its own
 * separator. */
bool dti_opening_refuse(struct dti_opening *opening, const char *format, ...) DTI_PRINTF(2, 3);
/* The same for a named item: "'x.gguf': tensor 'a'", then the text. */
struct dti_subject {
    const char *what, *name;
    size_t length;
    bool argument; /* the name is also the error's argument */
};
bool dti_opening_refuse_of(struct dti_opening *opening, struct dti_subject subject,
                           const char *format, ...) DTI_PRINTF(3, 4);
/* Refuses the first of these structs that repeats an earlier name; the caller leaves the name out
 * of `subject`. */
bool dti_opening_check_names(struct dti_opening *opening, const void *items, size_t count,
                             struct dti_named named, struct dti_subject subject, const char *text);
/* The container's tensors from `first` on; NULL if there are none. */
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
/* Reports why dti_json_next() or dti_json_skip() failed. The text starts with a separator as for
 * dti_opening_refuse(); offset: where the JSON starts in the file. */
bool dti_opening_refuse_json(struct dti_opening *opening, const struct dti_json_reader *json,
                             const char *text, size_t offset);
/* Stores a failed status; true for DTI_OK. */
bool dti_opening_goes_on(struct dti_opening *opening, enum dti_status status);
bool dti_opening_read(struct dti_opening *opening, void *buffer, size_t size, uint64_t offset);

/* Allocations from the pool: an array, a NUL-terminated copy of a text, a copy of any bytes. */
void *dti_opening_array(struct dti_opening *opening, size_t count, size_t size);
char *dti_opening_text(struct dti_opening *opening, const char *text, size_t length);
void *dti_opening_copy(struct dti_opening *opening, const void *from, size_t count, size_t size);
/* Ensures room for `more` elements in a list, at least doubling it when it is full. list is the
 * address of a pointer to elements of that size. */
bool dti_opening_grow(struct dti_opening *opening, void *list, size_t count, size_t more,
                      size_t *capacity, size_t size);
/* Sets the length of a tensor's name; fails if it is over DTI_NAME_MAX. */
bool dti_opening_name_length(struct dti_opening *opening, size_t length, struct dti_tensor *tensor);
/* Appends `more` entries to the container and returns the first, for the caller to fill. */
struct dti_tensor *dti_opening_tensors(struct dti_opening *opening, size_t more);
struct dti_metadata *dti_opening_metadata(struct dti_opening *opening);
/* Deduplicates metadata, since most parts of a model repeat it: each key is kept once, with its
 * first value. */
bool dti_opening_unite_metadata(struct dti_opening *opening);
/* Adds a note. code is a literal; the text must be safe for a terminal. */
bool dti_opening_note(struct dti_opening *opening, const char *code, const char *format, ...)
    DTI_PRINTF(3, 4);

#endif
