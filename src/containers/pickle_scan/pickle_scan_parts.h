/* SPDX-License-Identifier: MIT
 *
 * The parts of pickle_scan.h: scanning one pickle, recording imports, locating the pickles of a
 * file. */
#ifndef CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_PARTS_H
#define CONTAINERS_PICKLE_SCAN_PICKLE_SCAN_PARTS_H

#include "containers/pickle/pickle_parts.h"
#include "containers/pickle_scan/pickle_scan.h"

enum { DTI_SCAN_SLOTS = 1 << 15 }; /* size of the import hash table */

struct dti_scanning {
    struct dti_opening *opening; /* its pool is that of the result */
    struct dti_pickle_scan *scan;
    uint64_t base;         /* start of the file, or of the archive member */
    uint64_t opcodes[256]; /* counts by opcode */
    uint32_t opcode_count; /* total over all pickles */
    size_t import_capacity, fault_capacity;
    uint32_t *slots; /* hash table of names: an index of imports + 1, or 0 */
};

/* pickle_scan.c: scans one pickle of the opening's file; *at moves to its end. *ret_more: another
 * pickle may follow. False: out of memory. */
bool dti_scan_pickle(struct dti_scanning *scanning, uint64_t *at, uint64_t end, bool *ret_more);

/* dti_scan_fault() adds a sentence about what is broken; dti_scan_finish() completes the lists of
 * the result. False: out of memory. */
bool dti_scan_fault(struct dti_scanning *scanning, const char *text);
bool dti_scan_finish(struct dti_scanning *scanning);

/* pickle_scan_file.c: dti_pickle_scan() for an open file that is not an index. */
enum dti_status dti_pickle_scan_open(struct dti_pickle_scan *ret, struct dti_container_file *file,
                                     struct dti_error *reterr);

#endif
