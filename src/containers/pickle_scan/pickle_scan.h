/* SPDX-License-Identifier: MIT
 *
 * Lists what the pickles of a file would import and call if Python loaded them. Nothing is
 * imported, called or executed, and the file need not be readable as tensors. A damaged pickle is
 * listed up to the damage, which is reported. */
#ifndef CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_H
#define CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_H

#include "containers/container.h"
#include "util/run/memory_pool.h"

/* A global: "from MODULE import NAME". */
struct dti_pickle_import {
    const char *module, *name; /* bytes of the file; both NULL: the pickle computes the name; only
                                  module NULL: "extension 5" of Python's registry */
    size_t module_length, name_length;
    bool known;              /* written by torch.save(), and harmless to call */
    uint64_t imports, calls; /* counts; calling the result of a call also counts */
};

/* An opcode that imports or calls. */
struct dti_pickle_run {
    const char *name; /* "REDUCE" */
    uint64_t count;
};

struct dti_pickle_scan {
    enum dti_container_kind kind; /* DTI_CONTAINER_COUNT: bare pickles, or unknown */
    size_t file_count, pickle_count;
    size_t import_count, unknown_count, run_count, fault_count;
    struct dti_pickle_import *imports; /* in file order */
    struct dti_pickle_run *runs;
    const char **faults;  /* sentences: where a pickle is broken, what was not examined */
    struct dti_pool pool; /* owns all memory */
};

/* Scans PATH: a PyTorch file or another zip archive, a file of pickles, an index or a folder of
 * shards. Of the other tensor formats only npy and npz can hold pickles. Free the result in any
 * case. Fails with DTI_BAD_INPUT if a file cannot be opened or is something else, with
 * DTI_NO_MEMORY. */
enum dti_status dti_pickle_scan(struct dti_pickle_scan *ret, const char *path,
                                struct dti_error *reterr);
void dti_pickle_scan_free(struct dti_pickle_scan *scan);

#endif
