/* SPDX-License-Identifier: MIT
 *
 * What a scan of pickles has found: imports, each once, and sentences about what is broken. Their
 * number is bounded, and so is the time to find one. */
#include <string.h>

#include "containers/pickle_scan_parts.h"

bool dti_scan_fault(struct dti_scanning *scanning, const char *text)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    if (scan->fault_count == DTI_SCAN_FAULTS_MAX)
        return true;
    if (!dti_opening_grow(scanning->opening, &scan->faults, scan->fault_count, 1,
                          &scanning->fault_capacity, sizeof *scan->faults))
        return false;
    const char *const copy = dti_opening_text(scanning->opening, text, strlen(text));
    if (copy)
        scan->faults[scan->fault_count++] = copy;
    return copy != NULL;
}

static bool add(struct dti_scanning *scanning, const char *text, size_t length,
                size_t module_length, size_t *ret)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    struct dti_pickle_import made = {.module = NULL};
    const char *const copy = text ? dti_opening_text(scanning->opening, text, length) : NULL;
    if ((text && !copy) || !dti_opening_grow(scanning->opening, &scan->imports, scan->import_count,
                                             1, &scanning->import_capacity, sizeof *scan->imports))
        return false;
    if (copy && module_length == SIZE_MAX) {
        made.name = copy;
        made.name_length = length;
    } else if (copy) {
        made.module = copy;
        made.module_length = module_length;
        made.name = copy + module_length + 1;
        made.name_length = length - module_length - 1;
        made.known = dti_pickle_is_known(text, length, module_length);
    }
    scan->unknown_count += !made.known;
    *ret = scan->import_count;
    scan->imports[scan->import_count++] = made;
    return true;
}

static bool is_called(const struct dti_pickle_import *import, const char *text, size_t length,
                      size_t module_length)
{
    if (!text || !import->name)
        return !text && !import->name;
    if (!import->module || module_length == SIZE_MAX)
        return !import->module && module_length == SIZE_MAX && import->name_length == length &&
               memcmp(import->name, text, length) == 0;
    return import->module_length == module_length &&
           module_length + 1 + import->name_length == length &&
           memcmp(import->module, text, length) == 0;
}

/* FNV-1a. Names that are made to have one hash are reported as too many. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

bool dti_scan_import(struct dti_scanning *scanning, const char *text, size_t length,
                     size_t module_length, size_t *ret)
{
    enum { PROBES = 64 };
    struct dti_pickle_scan *const scan = scanning->scan;
    const uint32_t hash = text ? hash_of(text, length) : 0;
    for (uint32_t i = 0; i < PROBES && scan->import_count < DTI_SCAN_IMPORTS_MAX; i++) {
        uint32_t *const slot = &scanning->slots[(hash + i) % DTI_SCAN_SLOTS];
        if (*slot == 0) {
            if (!add(scanning, text, length, module_length, ret))
                return false;
            *slot = (uint32_t)scan->import_count;
        }
        if (is_called(&scan->imports[*slot - 1], text, length, module_length)) {
            *ret = *slot - 1;
            scan->imports[*ret].imports++;
            return true;
        }
    }
    *ret = SIZE_MAX;
    return true;
}

bool dti_scan_finish(struct dti_scanning *scanning)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    scan->runs = dti_opening_array(scanning->opening, 256, sizeof *scan->runs);
    for (unsigned code = 0; scan->runs && code < 256; code++) {
        if (scanning->opcodes[code] > 0 && dti_pickle_opcodes[code].scan >= DTI_SCAN_GLOBAL)
            scan->runs[scan->run_count++] = (struct dti_pickle_run){
                .name = dti_pickle_opcodes[code].name, .count = scanning->opcodes[code]};
    }
    return scan->runs != NULL;
}
