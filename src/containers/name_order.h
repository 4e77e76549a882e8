/* SPDX-License-Identifier: MIT
 *
 * An index of names, to find one of them and those that occur twice. Sorted by a hash first, so
 * that names with long common beginnings are compared quickly; names made to have the same hash
 * cost no more than comparing them. */
#ifndef CONTAINERS_NAME_ORDER_H
#define CONTAINERS_NAME_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dti_name_row {
    uint64_t hash;
    const char *name; /* not copied */
    size_t length;
    size_t index; /* its place in the order of adding */
};
struct dti_name_order {
    struct dti_name_row *rows;
    size_t count;
    unsigned bits;  /* the highest of a hash that say in which bucket a row is */
    size_t *starts; /* of the buckets, and the end of the last */
    uint64_t
        *seen; /* a set of hashes by their lowest bits: most names that are not there end here */
};

/* Room for so many; false: memory ran out. Then add them, then sort, then ask. */
bool dti_name_order_init(struct dti_name_order *ret, size_t capacity);
void dti_name_order_free(struct dti_name_order *order);
void dti_name_order_add(struct dti_name_order *order, const char *name, size_t length);
void dti_name_order_sort(struct dti_name_order *order);

/* Where structs have a name and, in a member of that name and "_length", how long it is. */
struct dti_named {
    size_t size, name, length;
};
#define DTI_NAMED(type, member)                         \
    ((struct dti_named){.size = sizeof(type),           \
                        .name = offsetof(type, member), \
                        .length = offsetof(type, member##_length)})
struct dti_name_row dti_name_of(const void *items, size_t index, struct dti_named named);
/* The names of so many of them, sorted; false: memory ran out. */
bool dti_name_order_of(struct dti_name_order *ret, const void *items, size_t count,
                       struct dti_named named);

/* The index of the first name added that repeats an earlier one; SIZE_MAX: there is none. */
size_t dti_name_order_repeated(const struct dti_name_order *order);
/* The same of structs; false: memory ran out. */
bool dti_names_repeated(const void *items, size_t count, struct dti_named named, size_t *ret_index);
/* The index of a name; the lowest of several. */
bool dti_name_order_find(const struct dti_name_order *order, const char *name, size_t length,
                         size_t *ret_index);

#endif
