/* SPDX-License-Identifier: MIT
 *
 * What a configuration says of single modules, as MLX does: beside the members "bits", "group_size"
 * and "mode" of all of them it has one for each module that differs, called like its path, which is
 * an object with these members, or false for a module that is not quantized. */
#ifndef FILES_CONFIG_QUANT_CONFIG_MODULES_H
#define FILES_CONFIG_QUANT_CONFIG_MODULES_H

#include "containers/name_order.h"
#include "dtinfo/error.h"

struct dti_config_reading;

enum { DTI_MODULE_MODE = 16 };
struct dti_module_scheme {
    bool plain;                 /* it is not quantized */
    unsigned bits;              /* 0: not said */
    uint64_t group_size;        /* likewise */
    char mode[DTI_MODULE_MODE]; /* "affine"; "": likewise */
};

struct dti_config_modules {
    struct dti_config_module {
        const char *path;
        size_t path_length;
        struct dti_module_scheme scheme;
    } * list;
    size_t count, room;
    struct dti_name_order order; /* from the last one to the first: of equal members the last
                                  * counts */
};

/* The value of a member that was just named, whatever it is; one that says nothing of a module is
 * skipped. Fails as the functions of quant_config_block.h. */
enum dti_status dti_config_read_module(struct dti_config_reading *reading,
                                       struct dti_config_modules *modules,
                                       struct dti_error *reterr);
/* When all are read. False: memory ran out. */
bool dti_config_sort_modules(struct dti_config_modules *modules);
/* NULL: nothing is said of that one. */
const struct dti_module_scheme *dti_config_find_module(const struct dti_config_modules *modules,
                                                       const char *path, size_t length);
void dti_config_free_modules(struct dti_config_modules *modules); /* zeros are fine */

#endif
