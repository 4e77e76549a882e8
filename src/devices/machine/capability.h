/* SPDX-License-Identifier: MIT
 *
 * Native support of a device for a dtype: a table by instruction set and compute capability
 * (capabilities.def), each row with its source. */
#ifndef DEVICES_MACHINE_CAPABILITY_H
#define DEVICES_MACHINE_CAPABILITY_H

#include "core/dtype/dtype.h"
#include "devices/machine/machine.h"

/* Ordered: each level includes those before it. */
enum dti_capability {
    DTI_CAPABLE_SOFTWARE,   /* "-": nothing */
    DTI_CAPABLE_CONVERSION, /* "c": instructions that convert */
    DTI_CAPABLE_MATRIX,     /* "n": matrix or dot product units only */
    DTI_CAPABLE_ARITHMETIC, /* "N": adds and multiplies elements */
};
const char *dti_capability_name(enum dti_capability capability); /* "arithmetic" */
char dti_capability_letter(enum dti_capability capability);

/* *ret_source: the source, "Intel SDM vol. 1, 18.5" (static); "" for software. */
enum dti_capability dti_cpu_capability(const struct dti_machine *machine, enum dti_dtype dtype,
                                       const char **ret_source);
enum dti_capability dti_gpu_capability(unsigned major, unsigned minor, enum dti_dtype dtype,
                                       const char **ret_source);

/* The source of one fact; NULL if the table does not state it: for a set of instruction sets (1
 * << enum dti_instruction), and for a compute capability (x 10). */
const char *dti_instruction_fact(uint64_t instructions, enum dti_dtype dtype,
                                 enum dti_capability capability);
const char *dti_compute_fact(unsigned compute, enum dti_dtype dtype,
                             enum dti_capability capability);

/* The columns of the matrix, in order. */
extern const enum dti_dtype dti_capability_dtypes[];
extern const size_t dti_capability_dtype_count;

#endif
