/* SPDX-License-Identifier: MIT
 *
 * The table of gpu_kernels.def, lookup of the row for one or two operations, and its arguments. */
#include "devices/gpu/gpu_kernels.h"

#include "kernels/policy_words.h"

const struct dti_gpu_row dti_gpu_rows[DTI_GPU_KERNEL_COUNT] = {
#define GPU_CAST(id, name_, op_, then_, domain_, rounds_, overflows_) \
    [DTI_GPU_##id] = {.name = "dti_gpu_" #name_,                      \
                      .cast = true,                                   \
                      .op = DTI_OP_##op_,                             \
                      .then = DTI_OP_##then_,                         \
                      .domain = DTI_DOMAIN_##domain_,                 \
                      .rounds = (rounds_),                            \
                      .overflows = (overflows_),                      \
                      .args_size = sizeof(struct dti_gpu_cast_args)},
#define GPU_OTHER(id, name_, type)               \
    [DTI_GPU_##id] = {.name = "dti_gpu_" #name_, \
                      .op = DTI_OP_COUNT,        \
                      .then = DTI_OP_COUNT,      \
                      .args_size = sizeof(struct type)},
#include "devices/gpu/gpu_kernels.def"
#undef GPU_CAST
#undef GPU_OTHER
};

static bool encodes(enum dti_operation op)
{
    return op == DTI_OP_ENCODE_HUB32 || op == DTI_OP_ENCODE_HUB64 || op == DTI_OP_ENCODE_I64 ||
           op == DTI_OP_ENCODE_U64;
}

/* Whether the row's operation supports args. The domain and policies of a fused pair are those
 * of its encoding operation. */
static bool fits(const struct dti_gpu_row *row, enum dti_operation op,
                 const struct dti_kernel_args *args)
{
    const bool governed = row->then == DTI_OP_COUNT || encodes(op);
    const struct dti_kernel as = {.op = op,
                                  .domain = governed ? row->domain : DTI_DOMAIN_ANY,
                                  .rounds = row->rounds,
                                  .overflows = row->overflows};
    return dti_kernel_fits(&as, op, args);
}

enum dti_gpu_kernel dti_gpu_kernel_find(enum dti_operation op, enum dti_operation then,
                                        const struct dti_kernel_args *args,
                                        const struct dti_kernel_args *then_args)
{
    for (unsigned i = 0; i < DTI_GPU_KERNEL_COUNT; i++) {
        const struct dti_gpu_row *const row = &dti_gpu_rows[i];
        if (row->cast && row->op == op && row->then == then && fits(row, op, args) &&
            (then == DTI_OP_COUNT || fits(row, then, then_args)))
            return (enum dti_gpu_kernel)i;
    }
    return DTI_GPU_KERNEL_COUNT;
}

static void add_args(struct dti_gpu_cast_args *ret, const struct dti_kernel_args *args)
{
    if (args->decoder)
        ret->decoder = *args->decoder;
    if (args->encoder)
        ret->encoder = *args->encoder;
    if (args->bits != 0) {
        ret->bits = args->bits;
        ret->high_first = args->high_first;
    }
}

void dti_gpu_cast_args_init(struct dti_gpu_cast_args *ret, const struct dti_kernel_args *args,
                            const struct dti_kernel_args *then_args)
{
    *ret = (struct dti_gpu_cast_args){.n = 0};
    add_args(ret, args);
    if (then_args)
        add_args(ret, then_args);
}

/* A thread starts with a 16-byte chunk of the wider array, or a group of eight packed elements.
 * Fewer threads work too, in a loop; additional ones would be idle. */
uint64_t dti_gpu_cast_items(enum dti_gpu_kernel kernel, uint64_t n)
{
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    uint64_t per = 1;
    switch (row->op) {
    case DTI_OP_UNPACK:
    case DTI_OP_PACK:
        per = 8;
        break;
    case DTI_OP_TABLE:
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
        per = row->then == DTI_OP_PACK ? 8 : 2;
        break;
    case DTI_OP_ENCODE_HUB32:
    case DTI_OP_DECODE_HUB32:
        per = row->then == DTI_OP_PACK ? 8 : row->domain != DTI_DOMAIN_ANY ? 4 : 1;
        break;
    case DTI_OP_ENCODE_HUB64:
    case DTI_OP_DECODE_HUB64:
    case DTI_OP_ODD_HUB64_HUB32:
        per = row->domain != DTI_DOMAIN_ANY ? 2 : 1;
        break;
    case DTI_OP_DECODE_I64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
    case DTI_OP_ODD_I64_HUB64:
    case DTI_OP_ODD_U64_HUB64:
    case DTI_OP_COUNT:
        break;
    }
    return n / per + (n % per != 0);
}
