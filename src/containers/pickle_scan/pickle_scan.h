/* SPDX-License-Identifier: MIT
 *
 * What the pickles of a file would import and call if Python loaded them. Nothing is imported,
 * called or executed, and nothing needs to be readable as tensors: what is damaged is listed up to
 * there, and reported. */
#ifndef CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_H
#define CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_H

#include "containers/container.h"
#include "util/run/memory_pool.h"

/* A global: what follows "from MODULE import NAME". */
struct dti_pickle_import {
    const char *module, *name; /* bytes of the file; both NULL: the pickle computes the name;
                                * without a module "extension 5" of Python's registry */
    size_t module_length, name_length;
    bool known;              /* torch.save() writes it, and calling it is harmless */
    uint64_t imports, calls; /* how often; a call of what a call returned counts, too */
};

/* An opcode that imports or calls. */
struct dti_pickle_run {
    const char *name; /* "REDUCE" */
    uint64_t count;
};

struct dti_pickle_scan {
    enum dti_container_kind kind; /* DTI_CONTAINER_COUNT: nothing but pickles, or unknown */
    size_t file_count, pickle_count;
    size_t import_count, unknown_count, run_count, fault_count;
    struct dti_pickle_import *imports; /* in the order of the file */
    struct dti_pickle_run *runs;
    const char **faults;  /* sentences: where a pickle is broken, what is not looked at */
    struct dti_pool pool; /* all of its memory */
};

/* Looks at PATH: a PyTorch file or another zip archive, a file of pickles, an index or a folder of
 * shards. Other files of tensors hold no pickles, except npy and npz. Free the result in any case.
 * Fails with DTI_BAD_INPUT where a file cannot be opened or is something else, with DTI_NO_MEMORY.
 */
enum dti_status dti_pickle_scan(struct dti_pickle_scan *ret, const char *path,
                                struct dti_error *reterr);
void dti_pickle_scan_free(struct dti_pickle_scan *scan);

#endif
