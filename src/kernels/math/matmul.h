/* SPDX-License-Identifier: MIT
 *
 * C = A B with packed micro-kernels: rows of matmul_kernels.def, one per dtype and level with
 * suitable instructions. There is no slow fallback: a dtype without a row is reported as such. */
#ifndef KERNELS_MATH_MATMUL_H
#define KERNELS_MATH_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "kernels/cpu.h"
#include "util/error.h"
#include "util/run/parallel.h"

struct dti_matmul_kernel {
    const char *name;        /* "matmul_bf16_avx512bf16" */
    enum dti_dtype dtype;    /* of A and B: FP64, FP32, BF16, FP16, INT8 (A uint8: see matmul.c) */
    enum dti_dtype result;   /* of C, and of the sums: FP64, FP32, INT32 */
    const char *instruction; /* "vdpbf16ps" */
    unsigned rows, columns;  /* of the tile of C kept in registers */
    double per_instruction;  /* operations per instruction (a multiplication and an addition
                              * count as two) */
    enum dti_level level;
    enum dti_unit unit;
    /* The micro-kernel's implementation; see matmul.c. */
    const struct dti_matmul_tile *tile;
    /* Runs enough independent multiply-adds to keep the units busy, without memory access:
     * `count` of the instruction. Returns a value that depends on all of them. */
    double (*peak)(uint64_t count);
};
extern const struct dti_matmul_kernel dti_matmul_kernels[];
extern const size_t dti_matmul_kernel_count;
/* The first row for a dtype at a level. If there is none, returns NULL and *ret_why says what is
 * missing: "needs the CPU level avx2". Skips a row whose unit the CPU lacks, or whose registers
 * the system does not permit; *ret_why then has that reason. */
const struct dti_matmul_kernel *dti_matmul_find(enum dti_dtype dtype, enum dti_level allowed,
                                                const char **ret_why);

/* Row-major matrices without padding: A m x k, B k x n, C m x n. */
struct dti_matmul;
/* Allocates the memory for packed panels. Fails with DTI_NO_MEMORY, or with DTI_UNAVAILABLE if
 * the CPU lacks the kernel's unit or the system does not permit its registers. */
enum dti_status dti_matmul_new(struct dti_matmul **ret, const struct dti_matmul_kernel *kernel,
                               uint64_t m, uint64_t n, uint64_t k, size_t threads,
                               struct dti_error *reterr);
void dti_matmul_free(struct dti_matmul *matmul); /* NULL is fine */
/* Computes one member's share of a product, including packing. Each member of a team of the size
 * given to dti_matmul_new() calls it once, in any order. */
void dti_matmul_run(struct dti_matmul *matmul, void *c, const void *a, const void *b,
                    size_t member);

#endif
