/* SPDX-License-Identifier: MIT
 *
 * The parts of pickle_scan.h: one pickle, what it imports, and where the pickles of a file are. */
#ifndef CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_PARTS_H
#define CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_PARTS_H

#include "containers/pickle/pickle_parts.h"
#include "containers/pickle_scan/pickle_scan.h"

enum { DTI_SCAN_SLOTS = 1 << 15 }; /* of the table of imports */

struct dti_scanning {
    struct dti_opening *opening; /* its pool is that of the result */
    struct dti_pickle_scan *scan;
    uint64_t base;         /* where the file, or the member of an archive, begins */
    uint64_t opcodes[256]; /* how often */
    uint32_t opcode_count; /* of all pickles */
    size_t import_capacity, fault_capacity;
    uint32_t *slots; /* by the hash of a name: an index of imports + 1, or 0 */
};

/* pickle_scan.c: one pickle of the opening's file; *at moves to its end. *ret_more: what follows it
 * may be another one. False: memory ran out. */
bool dti_scan_pickle(struct dti_scanning *scanning, uint64_t *at, uint64_t end, bool *ret_more);

/* Adds a sentence about what is broken; makes the lists of the result complete. False: memory ran
 * out. */
bool dti_scan_fault(struct dti_scanning *scanning, const char *text);
bool dti_scan_finish(struct dti_scanning *scanning);

/* pickle_scan_file.c: dti_pickle_scan() of a file that is open and no index. */
enum dti_status dti_pickle_scan_open(struct dti_pickle_scan *ret, struct dti_container_file *file,
                                     struct dti_error *reterr);

#endif
