/* SPDX-License-Identifier: MIT
 *
 * Finds codes and their scales by name: X or X_packed with X_scale or X_scale_inv, Y.weight with
 * Y.scale, and X with a state, such as X.quant_state.bitsandbytes__nf4. For code that reads them
 * together or must know that they belong together. */
#ifndef FILES_STORED_QUANT_NAMES_H
#define FILES_STORED_QUANT_NAMES_H

#include <string.h>

#include "containers/container.h"
#include "containers/name_order.h"
#include "files/stored/quant_layout.h"

/* How names end: one bit for each hash of their last 4 bytes, and one for each of their last 8.
 * Models have few different ends, so that most suffixes are known to be absent without a look at
 * the names. */
enum { DTI_NAME_ENDS = 4096 };
struct dti_name_ends {
    uint64_t four[DTI_NAME_ENDS / 64], eight[DTI_NAME_ENDS / 64];
};

struct dti_quant_names {
    const struct dti_container *container;
    struct dti_name_order order; /* the container's tensors, sorted by name */
    struct dti_name_ends ends;   /* of their names */
    char *buffer;                /* for a name plus prefix or suffix */
    size_t *last;                /* the tensor found last: parts are mostly next to each other */
};
/* Returns false if memory ran out. The names in `order` point into the container; nothing is
 * copied. */
bool dti_quant_names_init(struct dti_quant_names *ret, const struct dti_container *container);
void dti_quant_names_free(struct dti_quant_names *names); /* a zeroed struct is fine */

/* Finds the tensor whose name is the first `length` bytes of `name` plus `suffix`. */
bool dti_quant_names_find(const struct dti_quant_names *names, const char *name, size_t length,
                          const char *suffix, size_t *ret);

struct dti_named_codes {
    size_t name_length; /* length of X in the tensor's name */
    bool packed;        /* the name is X_packed */
    bool scaled;        /* a scales tensor exists: */
    size_t scale;
    bool inverse;                    /* it is named X_scale_inv */
    bool sibling_scale;              /* it is named Y.scale, and the codes are Y.weight */
    const struct dti_quant_row *row; /* not NULL: a state exists, whatever the dtype of the codes;
                                      * its name gives the row */
    size_t state;
};
/* Returns false if the tensor's dtype and name rule out codes. */
bool dti_quant_names_codes(const struct dti_quant_names *names, size_t tensor,
                           struct dti_named_codes *ret);

/* Whether its dtype allows codes, regardless of names. */
static inline bool dti_may_be_codes(const struct dti_tensor *tensor)
{
    return tensor->format && (tensor->format->width <= 8 || dti_format_is_integer(tensor->format));
}

/* Whether the name ends with the suffix and has something before it. */
static inline bool dti_quant_name_ends(const char *name, size_t length, const char *suffix)
{
    const size_t wanted = strlen(suffix);
    return length > wanted && (wanted == 0 || name[length - 1] == suffix[wanted - 1]) &&
           memcmp(name + length - wanted, suffix, wanted) == 0;
}

/* Whether the module's class is probably not Linear, by the last component of its name: embeddings
 * and norms. */
bool dti_quant_names_other(const char *module, size_t length);

/* Whether the name could be that of a part whose codes are missing. False for most tensors. */
bool dti_quant_names_part(const struct dti_tensor *tensor);

/* Whether the metadata entry describes a tensor, whose name follows DTI_QUANT_KEY. */
bool dti_is_quant_entry(const struct dti_metadata *entry);

#endif
