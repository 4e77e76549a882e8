/* SPDX-License-Identifier: MIT
 *
 * The kernels of CUDA devices: rows of gpu_kernels.def, and their parameters. Device code is
 * CUDA C that shares the lane functions of the portable kernels (kernels/lanes_*.h). The build
 * compiles it to PTX, and also for the host for the tests. A launch takes one struct; addresses
 * in it are device addresses. */
#ifndef DEVICES_GPU_GPU_KERNELS_H
#define DEVICES_GPU_GPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernel.h"
#include "kernels/scan/loss.h"

enum dti_gpu_kernel {
#define GPU_CAST(id, ...)  DTI_GPU_##id,
#define GPU_OTHER(id, ...) DTI_GPU_##id,
#include "devices/gpu/gpu_kernels.def"
#undef GPU_CAST
#undef GPU_OTHER
    DTI_GPU_KERNEL_COUNT
};

/* One or two operations on arrays, the second fused in registers. */
struct dti_gpu_cast_args {
    uint64_t src, dst, n;
    uint64_t index; /* of the first element; a multiple of DTI_TILE */
    uint64_t table; /* TABLE: a struct dti_code_table in device memory */
    struct dti_decoder decoder;
    struct dti_encoder encoder;
    uint32_t bits;       /* as in struct dti_kernel_args */
    uint32_t high_first; /* 0 or 1 */
};

/* The loss of tiles, in two kernels: LOSS_HUB32 or LOSS_HUB64 writes 16 lanes per tile,
 * LOSS_FOLD reduces them to a struct dti_gpu_loss_tile. n elements; x, y: source and stored
 * numbers in the hub. */
struct dti_gpu_loss_args {
    uint64_t x, y, n;
    uint64_t index;
    uint64_t lanes; /* struct dti_gpu_loss_lane[16 * tiles] */
    uint64_t tiles; /* struct dti_gpu_loss_tile[tiles], written by LOSS_FOLD */
    double overflow_from[2], overflow_sure[2];
    double src_smallest_normal, dst_smallest_normal;
    uint32_t nan_has_no_code, negative_has_no_code;
};
struct dti_gpu_loss_lane {
    double absolute, squared, source_squared;
    double max_absolute, max_relative;
    uint64_t max_index, first_no_code;
    uint32_t inexact, overflowed, to_zero, to_subnormal, nan_in, inf_in, no_code, compared;
    uint32_t doubtful; /* stochastic: overflow of an element is undecided; the host counts the tile
                          again */
    uint32_t padding;
};
struct dti_gpu_loss_tile {
    struct dti_gpu_loss_lane sum; /* the lanes, reduced by the fixed tree (tile_sum.h) */
};

/* exp(sin x) of n elements of a dtype (enum dti_dtype: FP64, FP32, FP16, BF16), from a to dst;
 * NaN beyond 2^20. Sums of a, and dot products of a and b: `parts` partial sums in dst (fp64 for
 * FP64, else fp32), one thread each. Only n, the dtype and `parts` determine which elements go
 * to which sum. */
struct dti_gpu_math_args {
    uint64_t a, b, dst, n;
    uint32_t dtype, parts;
};

/* A row of gpu_kernels.def. The domain and policies of a fused pair are those of its encoding
 * operation. */
struct dti_gpu_row {
    char name[44];                 /* entry point in the PTX: "dti_gpu_encode_f32" */
    size_t args_size;              /* of its parameter struct */
    bool cast;                     /* GPU_CAST; the members below are only for these: */
    enum dti_operation op, then;   /* then == DTI_OP_COUNT: one operation */
    enum dti_kernel_domain domain; /* of the destination; of the source if nothing is encoded */
    unsigned rounds, overflows;
};
extern const struct dti_gpu_row dti_gpu_rows[DTI_GPU_KERNEL_COUNT];

/* The first row that does `op` (and then `then`, or DTI_OP_COUNT for none) with these
 * parameters; DTI_GPU_KERNEL_COUNT if there is none. args as for the CPU's kernels, for both
 * operations. */
enum dti_gpu_kernel dti_gpu_kernel_find(enum dti_operation op, enum dti_operation then,
                                        const struct dti_kernel_args *args,
                                        const struct dti_kernel_args *then_args);
/* Fills the parameters of a cast kernel, except addresses and counts. */
void dti_gpu_cast_args_init(struct dti_gpu_cast_args *ret, const struct dti_kernel_args *args,
                            const struct dti_kernel_args *then_args);
/* Number of threads with work: elements, or groups that a thread processes at once. */
uint64_t dti_gpu_cast_items(enum dti_gpu_kernel kernel, uint64_t n);

/* Fills the loss parameters of a run of whole tiles (the last one may be short). */
void dti_gpu_loss_args_init(struct dti_gpu_loss_args *ret, const struct dti_loss_rule *rule);
/* Adds a tile of n elements to a loss, as the CPU's kernels do. Returns false if the tile is
 * doubtful. */
bool dti_gpu_loss_add(struct dti_loss *loss, const struct dti_gpu_loss_tile *tile, size_t n);

/* The program for a compute capability and a driver: NUL-terminated PTX. NULL if none was built
 * in, or the device or driver is too old; *ret_why is then what is missing. */
const char *dti_gpu_program(unsigned major, unsigned minor, unsigned cuda_version,
                            const char **ret_why);

/* Runs the device code on the host, for tests and the mock driver (a separate library, linked
 * only by tests): all `size` threads of a grid, one after the other. */
void dti_gpu_host_run(enum dti_gpu_kernel kernel, const void *args, uint64_t size);

#endif
