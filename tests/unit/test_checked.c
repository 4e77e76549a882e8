/* SPDX-License-Identifier: MIT
 *
 * Sums and products at the limit of 64 bits. */
#include "util/checked.h"

#include "unit.h"

#define MAX UINT64_MAX

static void sums_are_exact_or_refused(void)
{
    uint64_t sum = 7;
    CHECK(dti_add_u64(MAX - 1, 1, &sum));
    CHECK_U64(sum, MAX);
    sum = 7;
    CHECK(!dti_add_u64(MAX, 1, &sum));
    CHECK(!dti_add_u64(1, MAX, &sum));
    CHECK(!dti_add_u64(MAX, MAX, &sum));
    CHECK(!dti_add_u64(UINT64_C(1) << 63, UINT64_C(1) << 63, &sum));
    CHECK_U64(sum, 7);
    CHECK(dti_add_u64(0, MAX, &sum));
    CHECK_U64(sum, MAX);
}

static void products_are_exact_or_refused(void)
{
    uint64_t product = 7;
    CHECK(!dti_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &product));
    CHECK(!dti_mul_u64(MAX, 2, &product));
    CHECK(!dti_mul_u64(2, MAX, &product));
    /* wraps to a plausible product: 2^64 + 4 */
    CHECK(!dti_mul_u64(UINT64_C(0x4000000000000001), 4, &product));
    CHECK_U64(product, 7);
    CHECK(dti_mul_u64(UINT64_C(0xFFFFFFFF), UINT64_C(0x100000001), &product));
    CHECK_U64(product, MAX);
    CHECK(dti_mul_u64(0, MAX, &product));
    CHECK_U64(product, 0);
    CHECK(dti_mul_u64(MAX, 0, &product));
    CHECK_U64(product, 0);
    CHECK(dti_mul_u64(MAX, 1, &product));
    CHECK_U64(product, MAX);
}

UNIT_MAIN(sums_are_exact_or_refused, products_are_exact_or_refused)
