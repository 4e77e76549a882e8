/* SPDX-License-Identifier: MIT
 *
 * A product of matrices of small integers, for tests: arrays as large as they must be, one element
 * off any alignment, with guards around C. */
#ifndef DTINFO_TESTS_MATMUL_PRODUCT_H
#define DTINFO_TESTS_MATMUL_PRODUCT_H

#include <stdlib.h>

#include "dtinfo/matmul.h"
#include "unit.h"

enum { GUARD = 64, GUARD_BYTE = 0xC3 };

static inline size_t bytes_of(enum dti_dtype dtype)
{
    return dtype == DTI_FP64 ? 8 : dtype == DTI_BF16 ? 2 : dtype == DTI_INT8 ? 1 : 4;
}

static inline void put(unsigned char *at, enum dti_dtype dtype, int value)
{
    const float single = (float)value;
    const double number = value;
    const int8_t byte = (int8_t)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16); /* bf16: exact up to 8 bits */
    switch (dtype) {
    case DTI_FP64:
        memcpy(at, &number, sizeof number);
        break;
    case DTI_BF16:
        memcpy(at, &upper, sizeof upper);
        break;
    case DTI_INT8:
        memcpy(at, &byte, sizeof byte);
        break;
    default:
        memcpy(at, &single, sizeof single);
    }
}

static uint32_t random_state = 1;

static inline unsigned draw(unsigned below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

struct product {
    const struct dti_matmul_kernel *kernel;
    struct dti_matmul *matmul;
    size_t m, n, k;
    int *numbers_a, *numbers_b;
    unsigned char *memory_a, *memory_b, *memory_c; /* as allocated */
    unsigned char *a, *b, *c;
};

static inline unsigned char *fill(unsigned char **ret_memory, int *numbers, size_t count,
                                  enum dti_dtype dtype)
{
    const size_t size = bytes_of(dtype);
    *ret_memory = malloc((count + 1) * size);
    if (!*ret_memory)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        /* all of int8; else so small that sums stay below 2^24 */
        numbers[i] = dtype == DTI_INT8 ? (int)draw(256) - 128 : (int)draw(15) - 7;
        put(*ret_memory + (i + 1) * size, dtype, numbers[i]);
    }
    return *ret_memory + size;
}

static inline bool product_new(struct product *p, const struct dti_matmul_kernel *kernel, size_t m,
                               size_t n, size_t k, size_t threads)
{
    const size_t size = bytes_of(kernel->result);
    *p = (struct product){.kernel = kernel, .m = m, .n = n, .k = k};
    p->numbers_a = malloc(m * k * sizeof *p->numbers_a);
    p->numbers_b = malloc(k * n * sizeof *p->numbers_b);
    p->memory_c = malloc(m * n * size + 2 * GUARD + size);
    if (!p->numbers_a || !p->numbers_b || !p->memory_c)
        return false;
    p->a = fill(&p->memory_a, p->numbers_a, m * k, kernel->dtype);
    p->b = fill(&p->memory_b, p->numbers_b, k * n, kernel->dtype);
    p->c = p->memory_c + GUARD + size;
    memset(p->memory_c, GUARD_BYTE, m * n * size + 2 * GUARD + size);
    return p->a && p->b && dti_matmul_new(&p->matmul, kernel, m, n, k, threads, NULL) == DTI_OK;
}

static inline void product_free(struct product *p)
{
    dti_matmul_free(p->matmul);
    free(p->numbers_a);
    free(p->numbers_b);
    free(p->memory_a);
    free(p->memory_b);
    free(p->memory_c);
}

static inline bool may_run(const struct dti_matmul_kernel *kernel)
{
    if (dti_level_present(kernel->level))
        return true;
    printf("skipped: %s\n", kernel->name);
    return false;
}

#endif
