/* SPDX-License-Identifier: MIT
 *
 * What a product of quantized matrices costs before it: both are quantized from fp32, where they
 * are. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/workloads/matmul_parts.h"

/* The matrices as fp32, of which C is not used. */
static enum dti_status numbers_of(struct dti_matrices *ret, const struct dti_matrices *matrices,
                                  struct dti_error *reterr)
{
    return dti_matrices_init(ret, DTI_FP32, matrices->m, matrices->n, matrices->k, reterr);
}

uint64_t dti_matmul_numbers_bytes(const struct dti_matrices *matrices)
{
    struct dti_matrices numbers;
    if (!dti_operands_are_scaled(matrices->dtype))
        return 0;
    return numbers_of(&numbers, matrices, NULL) == DTI_OK ? numbers.c_at : UINT64_MAX;
}

static enum dti_status make_numbers(struct dti_matmul_product *product, struct dti_team *team,
                                    struct dti_matrices *ret, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = product->all->request;
    enum dti_status status = numbers_of(ret, &product->matrices, reterr);
    if (status == DTI_OK)
        status =
            dti_bench_memory_new(&product->numbers, 1, ret->c_at, request->cache, team, reterr);
    if (status != DTI_OK)
        return status;
    unsigned char *const first = dti_bench_memory_at(product->numbers, 0, 0);
    status = dti_matrices_fill(ret, first, request->seed, reterr);
    for (size_t set = 1; set < dti_bench_memory_sets(product->numbers) && status == DTI_OK; set++)
        memcpy(dti_bench_memory_at(product->numbers, set, 0), first, (size_t)ret->c_at);
    return status;
}

enum dti_status dti_matmul_add_quantizing(struct dti_matmul_product *product, struct dti_team *team,
                                          struct dti_error *reterr)
{
    struct dti_matmuls *const all = product->all;
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_matrices numbers;
    if (!dti_operands_are_scaled(matrices->dtype))
        return DTI_OK;
    enum dti_status status = make_numbers(product, team, &numbers, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_quantizing_place from[2] = {{product->numbers, 0, numbers.a_at},
                                                 {product->numbers, 0, 0}};
    const struct dti_quantizing_place to[2] = {{product->memory, 0, matrices->a_at},
                                               {product->memory, 0, 0}};
    const uint64_t elements[2] = {matrices->m * matrices->k, matrices->k * matrices->n};
    status = dti_quantizing_init(&product->quantizing, matrices->dtype, from, to, elements,
                                 all->request->level, team, reterr);
    if (status != DTI_OK)
        return status;
    all->passes[all->table->count] = (struct dti_matmul_pass){.product = product};
    dti_quantizing_add(&product->quantizing, all->table, all->candidates);
    return DTI_OK;
}

enum dti_status dti_matmul_verify_quantizing(struct dti_matmul_product *product,
                                             struct dti_error *reterr)
{
    struct dti_matrices matrices = product->matrices;
    if (!product->numbers)
        return DTI_OK;
    unsigned char *const memory = malloc((size_t)matrices.c_at);
    if (!memory)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    enum dti_status status =
        dti_matrices_fill(&matrices, memory, product->all->request->seed, reterr);
    const unsigned char *const got = dti_bench_memory_at(product->memory, 0, 0);
    if (status == DTI_OK &&
        (memcmp(memory, got, (size_t)matrices.b_bytes) != 0 ||
         memcmp(memory + matrices.a_at, got + matrices.a_at, (size_t)matrices.a_bytes) != 0))
        status = dti_fail(reterr, DTI_BUG,
                          "matrices were not quantized as it is defined; please report it");
    free(memory);
    return status;
}
