/* SPDX-License-Identifier: MIT
 *
 * A plan on a device: its chains compiled to kernel launches; and a run of elements in one slot. */
#ifndef CONVERT_DEVICE_PARTS_H
#define CONVERT_DEVICE_PARTS_H

#include "convert/plan_parts.h"
#include "convert/runner_parts.h"

/* One or two fused steps of the CPU's chain. */
struct dti_device_launch {
    enum dti_gpu_kernel kernel;         /* DTI_GPU_KERNEL_COUNT: copy the codes */
    struct dti_gpu_cast_args args;      /* without counts and addresses, except the table's */
    const struct dti_code_table *table; /* in host memory, or NULL */
    unsigned src_bits, dst_bits;        /* bits of an element in its array */
};

struct dti_device_chain {
    struct dti_device_launch *launch;
    size_t count;
};

enum { DTI_DEVICE_TABLES = 8 };

struct dti_device_plan {
    struct dti_runner *runner;
    bool possible;                      /* all steps of the cast have kernels */
    struct dti_device_launch *launches; /* of all chains */
    size_t launch_count;
    unsigned src_bits, dst_bits; /* bits of a stored element */
    struct dti_device_chain cast;

    /* Loss, if the device counts it; otherwise the CPU does, from the source. Chains: `source`
     * makes the source's numbers; `core` makes the codes, from the numbers or from the stored
     * source; `stored` converts codes back to numbers; `store` stores the codes. Each may be
     * empty. A plan that copies has no core; its `store` goes from stored source to stored
     * destination. */
    bool counts;
    bool copies; /* stored numbers equal the source's */
    bool core_from_numbers;
    struct dti_device_chain source, core, stored, store;
    unsigned number_bits; /* width of the loss rule's hub */
    unsigned code_bits;
    enum dti_gpu_kernel loss_kernel;
    struct dti_gpu_loss_args loss_args;

    const struct dti_code_table *table[DTI_DEVICE_TABLES]; /* tables copied to device memory */
    size_t table_count;
    dti_gpu_address tables;

    unsigned between_bits[2][2]; /* [with loss]: bits of the ping-pong arrays between launches; 0:
                                    none */
};

/* NULL is fine. The runner must still be open. */
void dti_device_plan_free(struct dti_device_plan *plan);

/* Offsets in bytes of the arrays in a slot. */
struct dti_device_areas {
    uint64_t src, dst, between[2];
    uint64_t numbers, codes, stored, lanes, tiles; /* only with a loss */
    uint64_t size;                                 /* total size */
};
/* Lays out arrays for that many tiles. `with_loss`: the device counts the loss. */
void dti_device_areas_init(struct dti_device_areas *ret, const struct dti_device_plan *plan,
                           uint64_t tiles, bool with_loss);

/* Enqueues the kernels for n elements whose source is in the slot's memory. */
enum dti_status dti_device_launch(const struct dti_device_plan *plan, const struct dti_slot *slot,
                                  const struct dti_device_areas *areas, size_t n, uint64_t index,
                                  bool with_loss, struct dti_error *reterr);

/* Runs a block on the plan's device. Returns false if the CPU must do the whole block. Returns
 * true if it is done, or has failed on an explicitly requested device: *ret_status. */
bool dti_device_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                    uint64_t index, struct dti_loss *loss, enum dti_status *ret_status,
                    struct dti_error *reterr);

static inline uint64_t dti_device_tiles(uint64_t n)
{
    return n / DTI_TILE + (n % DTI_TILE != 0);
}

#endif
