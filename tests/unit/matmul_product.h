/* SPDX-License-Identifier: MIT
 *
 * A product of matrices of small integers, for tests: exactly sized arrays, one element off any
 * alignment, with guards around C. */
#ifndef DTINFO_TESTS_MATMUL_PRODUCT_H
#define DTINFO_TESTS_MATMUL_PRODUCT_H

#include <stdlib.h>

#include "kernels/math/matmul.h"
#include "unit.h"

enum { GUARD = 64, GUARD_BYTE = 0xC3 };

static inline size_t bytes_of(enum dti_dtype dtype)
{
    return dtype == DTI_FP64                        ? 8
           : dtype == DTI_BF16 || dtype == DTI_FP16 ? 2
           : dtype == DTI_INT8                      ? 1
                                                    : 4;
}

/* The fp16 code of an integer below 2048. */
static inline uint16_t fp16_of(int value)
{
    const unsigned sign = value < 0 ? 0x8000 : 0,
                   magnitude = (unsigned)(value < 0 ? -value : value);
    unsigned exponent = 0;
    while (magnitude >> exponent > 1)
        exponent++;
    return (uint16_t)(magnitude == 0
                          ? sign
                          : sign | (15 + exponent) << 10 | (magnitude << 10 >> exponent & 0x3ff));
}

static inline void put(unsigned char *at, enum dti_dtype dtype, int value)
{
    const float single = (float)value;
    const double number = value;
    const int8_t byte = (int8_t)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16); /* bf16: exact up to 8 bits */
    const uint16_t half = fp16_of(value);
    switch (dtype) {
    case DTI_FP64:
        memcpy(at, &number, sizeof number);
        break;
    case DTI_BF16:
        memcpy(at, &upper, sizeof upper);
        break;
    case DTI_FP16:
        memcpy(at, &half, sizeof half);
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
        /* int8: full range; else small enough that sums stay below 2^24 */
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

static inline bool equals(const unsigned char *at, enum dti_dtype dtype, int64_t want)
{
    double number;
    float single;
    int32_t whole;
    switch (dtype) {
    case DTI_FP64:
        memcpy(&number, at, sizeof number);
        return number == (double)want;
    case DTI_INT32:
        memcpy(&whole, at, sizeof whole);
        return whole == want;
    default:
        memcpy(&single, at, sizeof single);
        return single == (float)want;
    }
}

static inline bool product_check(const struct product *p)
{
    const size_t size = bytes_of(p->kernel->result);
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            int64_t want = 0;
            for (size_t l = 0; l < p->k; l++)
                want += (int64_t)p->numbers_a[i * p->k + l] * p->numbers_b[l * p->n + j];
            if (!equals(p->c + (i * p->n + j) * size, p->kernel->result, want)) {
                printf("  %s, %zux%zux%zu: element %zu,%zu is wrong\n", p->kernel->name, p->m, p->k,
                       p->n, i, j);
                return false;
            }
        }
    }
    const unsigned char *const end = p->c + p->m * p->n * size;
    for (size_t i = 0; i < GUARD; i++) {
        if (end[i] != GUARD_BYTE || p->c[-1 - (ptrdiff_t)i] != GUARD_BYTE) {
            printf("  %s, %zux%zux%zu: wrote beyond C\n", p->kernel->name, p->m, p->k, p->n);
            return false;
        }
    }
    return true;
}

/* Runs the members one after another; none waits for another. */
static inline bool is_right(const struct dti_matmul_kernel *kernel, size_t m, size_t n, size_t k,
                            size_t threads)
{
    struct product p;
    bool right = product_new(&p, kernel, m, n, k, threads);
    if (right) {
        for (size_t pass = 0; pass < 2; pass++) { /* leftovers of the first pass must not matter */
            for (size_t member = threads; member-- > 0;)
                dti_matmul_run(p.matmul, p.c, p.a, p.b, member);
        }
        right = product_check(&p);
    }
    product_free(&p);
    return right;
}

static inline bool may_run(const struct dti_matmul_kernel *kernel)
{
    const char *why;
    if (dti_level_present(kernel->level) && dti_unit_present(kernel->unit) &&
        dti_level_permitted(kernel->level, &why))
        return true;
    printf("skipped: %s\n", kernel->name);
    return false;
}

#endif
