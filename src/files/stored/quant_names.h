/* SPDX-License-Identifier: MIT
 *
 * Codes and their scales by names: X or X_packed with X_scale or X_scale_inv, Y.weight with
 * Y.scale, and X with a state, such as X.quant_state.bitsandbytes__nf4. For code that reads them
 * together, or must know that they belong together. */
#ifndef FILES_STORED_QUANT_NAMES_H
#define FILES_STORED_QUANT_NAMES_H

#include "containers/container.h"
#include "containers/name_order.h"
#include "files/stored/quant_layout.h"

struct dti_quant_names {
    const struct dti_container *container;
    struct dti_name_order order; /* of its tensors, sorted */
    char *buffer;                /* for a name with its prefix or suffix */
};
/* False: memory ran out. Names of `own` are those of the container, and nothing is copied. */
bool dti_quant_names_init(struct dti_quant_names *ret, const struct dti_container *container);
void dti_quant_names_free(struct dti_quant_names *names); /* zeros are fine */

/* The tensor whose name is the first `length` bytes of `name`, followed by `suffix`. */
bool dti_quant_names_find(const struct dti_quant_names *names, const char *name, size_t length,
                          const char *suffix, size_t *ret);

struct dti_named_codes {
    size_t name_length; /* of X in the tensor's name */
    bool packed;        /* it is called X_packed */
    bool scaled;        /* there is a tensor of scales: */
    size_t scale;
    bool inverse;                    /* it is called X_scale_inv */
    bool beside;                     /* it is called Y.scale, and the codes are Y.weight */
    const struct dti_quant_row *row; /* not NULL: there is a state, whatever the codes' dtype; its
                                      * name says that it is this row's */
    size_t state;
};
/* False: by dtype and name the tensor holds no codes. */
bool dti_quant_names_codes(const struct dti_quant_names *names, size_t tensor,
                           struct dti_named_codes *ret);

/* Whether its dtype allows codes, whatever the names. */
static inline bool dti_may_be_codes(const struct dti_tensor *tensor)
{
    return tensor->format && (tensor->format->width <= 8 || dti_format_is_integer(tensor->format));
}

/* Whether the name ends so, and has something before it. */
bool dti_quant_name_ends(const char *name, size_t length, const char *suffix);

/* Whether a module is mostly of another class than Linear, by the last component of its name:
 * embeddings and norms. */
bool dti_quant_names_other(const char *module, size_t length);

/* Whether the name may be that of a part of codes that are not there; most are not. */
bool dti_quant_names_part(const struct dti_tensor *tensor);

/* Whether an entry is about a tensor: its name follows DTI_QUANT_KEY. */
bool dti_is_quant_entry(const struct dti_metadata *entry);

#endif
