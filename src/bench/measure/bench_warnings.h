/* SPDX-License-Identifier: MIT
 *
 * Notes that a table gets where its figures are worse than this CPU has to give. */
#ifndef DTINFO_BENCH_WARNINGS_H
#define DTINFO_BENCH_WARNINGS_H

#include "dtinfo/bench_table.h"
#include "dtinfo/machine.h"
#include "dtinfo/matmul.h"

/* The fastest unit among `has` for products of a dtype, if it is faster than the one of an
 * instruction in use ("vdpbf16ps zmm"; NULL: none); else NULL. */
const char *dti_unit_unused(const bool has[DTI_INSTRUCTION_COUNT], enum dti_dtype dtype,
                            const char *instruction);
/* A note if this CPU has such a unit; kernel: the one in use, or NULL. */
void dti_bench_warn_unit(struct dti_bench_table *table, const struct dti_bench_request *request,
                         enum dti_dtype dtype, const struct dti_matmul_kernel *kernel);
/* Notes on our own computations that take clearly longer than the same with a wider dtype. */
void dti_bench_warn_narrow(struct dti_bench_table *table);

#endif
