/* SPDX-License-Identifier: MIT
 *
 * Per-module settings, as in MLX configurations: in addition to the global members "bits",
 * "group_size" and "mode", there is one member for each module that differs. Its key is the
 * module's path; its value is an object with these members, or false for a module that is not
 * quantized. */
#ifndef FILES_CONFIG_QUANT_CONFIG_MODULES_H
#define FILES_CONFIG_QUANT_CONFIG_MODULES_H

#include "containers/name_order.h"
#include "util/error.h"

struct dti_config_reading;

enum { DTI_MODULE_MODE = 16 };
struct dti_module_scheme {
    bool plain;                 /* it is not quantized */
    unsigned bits;              /* 0: not specified */
    uint64_t group_size;        /* 0: not specified */
    char mode[DTI_MODULE_MODE]; /* "affine"; "": not specified */
};

struct dti_config_modules {
    struct dti_config_module {
        const char *path;
        size_t path_length;
        struct dti_module_scheme scheme;
    } * list;
    size_t count, room;
    struct dti_name_order order; /* sorted from last to first: of equal members the last one wins */
};

/* Reads the value of the member just named, whatever its type; skips one that does not describe a
 * module. Fails as the functions of quant_config_block.h do. */
enum dti_status dti_config_read_module(struct dti_config_reading *reading,
                                       struct dti_config_modules *modules,
                                       struct dti_error *reterr);
/* Call after all are read. Returns false if memory ran out. */
bool dti_config_sort_modules(struct dti_config_modules *modules);
/* NULL: the module has no member. */
const struct dti_module_scheme *dti_config_find_module(const struct dti_config_modules *modules,
                                                       const char *path, size_t length);
void dti_config_free_modules(struct dti_config_modules *modules); /* a zeroed struct is fine */

#endif
