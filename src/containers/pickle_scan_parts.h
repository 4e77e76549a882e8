/* SPDX-License-Identifier: MIT
 *
 * The parts of pickle_scan.h: one pickle, what it imports, and where the pickles of a file are. */
#ifndef DTINFO_PICKLE_SCAN_PARTS_H
#define DTINFO_PICKLE_SCAN_PARTS_H

#include "containers/pickle_parts.h"
#include "dtinfo/pickle_scan.h"

enum {
    DTI_SCAN_NAME_MAX = 2 * DTI_PICKLE_NAME_MAX + 2,
    DTI_SCAN_SLOTS = 1 << 15, /* of the table of imports */
    DTI_SCAN_IMPORTS_MAX = 10000,
    DTI_SCAN_FAULTS_MAX = 100,
};

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

/* pickle_scan_text.c: texts in place: 'os\x73', \u006f; digits. False: it is written otherwise. */
bool dti_scan_unescape(char *text, size_t *length);
bool dti_scan_unescape_unicode(char *text, size_t *length);
bool dti_scan_number(const unsigned char *text, size_t length, uint64_t *ret);

/* pickle_imports.c: the import of "module.name"; without a text of a name that is computed;
 * module_length: SIZE_MAX: it has none. *ret is SIZE_MAX when there are too many. The last makes
 * the lists of the result complete. False: memory ran out. */
bool dti_scan_import(struct dti_scanning *scanning, const char *text, size_t length,
                     size_t module_length, size_t *ret);
bool dti_scan_fault(struct dti_scanning *scanning, const char *text);
bool dti_scan_finish(struct dti_scanning *scanning);

/* pickle_scan_file.c: dti_pickle_scan() of a file that is open and no index. */
enum dti_status dti_pickle_scan_open(struct dti_pickle_scan *ret, struct dti_container_file *file,
                                     struct dti_error *reterr);

#endif
