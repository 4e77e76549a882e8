/* SPDX-License-Identifier: MIT
 *
 * An index of names: finds a name, and duplicates. Sorted by hash first, so names with long common
 * prefixes compare quickly. Deliberate hash collisions cost no more than comparing the names. */
#ifndef CONTAINERS_NAME_ORDER_H
#define CONTAINERS_NAME_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a struct, and the offsets of its name and of the name's length (a member
 * NAME_length, of type size_t or uint32_t). */
struct dti_named {
    size_t size, name, length;
    bool is_short; /* the length is a uint32_t */
};
#define DTI_NAMED(type, member)                                    \
    ((struct dti_named){.size = sizeof(type),                      \
                        .name = offsetof(type, member),            \
                        .length = offsetof(type, member##_length), \
                        .is_short = sizeof(((type *)NULL)->member##_length) == sizeof(uint32_t)})
struct dti_name {
    const char *text;
    size_t text_length;
};
struct dti_name dti_name_of(const void *items, size_t index, struct dti_named named);

struct dti_name_row {
    uint32_t hash;  /* the upper half */
    uint32_t index; /* position in insertion order */
};
struct dti_name_order {
    struct dti_name_row *rows;
    size_t count;
    const void *items; /* where the names are */
    struct dti_named named;
    struct dti_name *own; /* names that were added: then these are the items; or NULL */
    unsigned bits;        /* the top bits of a hash that select a row's bucket */
    uint32_t *starts;     /* start of each bucket, then the end of the last */
    uint64_t *seen; /* bit set indexed by the low hash bits: rejects most absent names at once */
};

/* Allocates room for `capacity` names; false: out of memory, or 2^32 names. Then add, sort, and
 * query, in this order. Texts are not copied. */
bool dti_name_order_init(struct dti_name_order *ret, size_t capacity);
void dti_name_order_free(struct dti_name_order *order);
void dti_name_order_add(struct dti_name_order *order, const char *name, size_t length);
void dti_name_order_sort(struct dti_name_order *order);

/* Indexes the names of `count` structs, sorted; false: out of memory. */
bool dti_name_order_of(struct dti_name_order *ret, const void *items, size_t count,
                       struct dti_named named);
/* The same in a third of the memory: the structs must stay where and as they are. */
bool dti_name_order_over(struct dti_name_order *ret, const void *items, size_t count,
                         struct dti_named named);

/* The index of the first name added that repeats an earlier one; SIZE_MAX: there is none. */
size_t dti_name_order_repeated(const struct dti_name_order *order);
/* The same for an array of structs; false: out of memory. */
bool dti_names_repeated(const void *items, size_t count, struct dti_named named, size_t *ret_index);
/* Finds the index of a name; the lowest one if there are duplicates. */
bool dti_name_order_find(const struct dti_name_order *order, const char *name, size_t length,
                         size_t *ret_index);

#endif
