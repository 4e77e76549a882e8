/* SPDX-License-Identifier: MIT
 *
 * A plan on a device: its chains as launches, made once; and a run of elements in progress in one
 * slot. */
#ifndef CONVERT_DEVICE_PARTS_H
#define CONVERT_DEVICE_PARTS_H

#include "convert/plan_parts.h"
#include "convert/runner_parts.h"

/* One or two steps of the CPU's chain. */
struct dti_device_launch {
    enum dti_gpu_kernel kernel;         /* DTI_GPU_KERNEL_COUNT: the codes are copied */
    struct dti_gpu_cast_args args;      /* without numbers and addresses, but for the table's */
    const struct dti_code_table *table; /* the host's, or NULL */
    unsigned src_bits, dst_bits;        /* of one element in its arrays */
};

struct dti_device_chain {
    struct dti_device_launch *launch;
    size_t count;
};

enum { DTI_DEVICE_TABLES = 8 };

struct dti_device_plan {
    struct dti_runner *runner;
    bool possible;                      /* there are kernels for the cast */
    struct dti_device_launch *launches; /* of all chains */
    size_t launch_count;
    unsigned src_bits, dst_bits; /* of one element as it is stored */
    struct dti_device_chain cast;

    /* The loss, if the device counts it; otherwise the CPU does, from the source. The numbers of
     * the source: `source`; the codes: `core`, from the numbers or from what is stored; their
     * numbers: `stored`; the codes as they are stored: `store`. Each may be empty. A plan that
     * copies has no core, and `store` leads from what is stored to what is stored. */
    bool counts;
    bool copies; /* the stored numbers are those of the source */
    bool core_from_numbers;
    struct dti_device_chain source, core, stored, store;
    unsigned number_bits; /* of the loss rule's hub */
    unsigned code_bits;
    enum dti_gpu_kernel loss_kernel;
    struct dti_gpu_loss_args loss_args;

    const struct dti_code_table *table[DTI_DEVICE_TABLES]; /* that are in the device's memory */
    size_t table_count;
    dti_gpu_address tables;

    unsigned between_bits[2][2]; /* [with loss]: of the arrays between two launches; 0: none */
};

/* NULL is fine. The runner must be there still. */
void dti_device_plan_free(struct dti_device_plan *plan);

/* Where the arrays of a run of elements begin in a slot: bytes from its first. */
struct dti_device_areas {
    uint64_t src, dst, between[2];
    uint64_t numbers, codes, stored, lanes, tiles; /* with a loss */
    uint64_t size;                                 /* of all */
};
/* For so many tiles. `with_loss`: the device counts it. */
void dti_device_areas_init(struct dti_device_areas *ret, const struct dti_device_plan *plan,
                           uint64_t tiles, bool with_loss);

/* Queues the kernels for n elements whose source is in the slot's memory. */
enum dti_status dti_device_launch(const struct dti_device_plan *plan, const struct dti_slot *slot,
                                  const struct dti_device_areas *areas, size_t n, uint64_t index,
                                  bool with_loss, struct dti_error *reterr);

/* A block on the plan's device. False: it is for the CPU, all of it. True: it was done, or, with a
 * runner that was requested explicitly, failed: *ret_status. */
bool dti_device_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                    uint64_t index, struct dti_loss *loss, enum dti_status *ret_status,
                    struct dti_error *reterr);

static inline uint64_t dti_device_tiles(uint64_t n)
{
    return n / DTI_TILE + (n % DTI_TILE != 0);
}

#endif
