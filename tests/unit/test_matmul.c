/* SPDX-License-Identifier: MIT
 *
 * Compares every matrix product with plain integer loops. With small integers as elements, each
 * product is exact in every dtype. */
#include "kernels/cpuid.h"
#include "kernels/math/dot.h"
#include "matmul_product.h"
#include "tally.h"

static void products_of_all_small_shapes_are_exact(void)
{
    static const size_t ms[] = {1, 2, 3, 4, 5, 7, 13, 14, 15, 29};
    static const size_t ns[] = {1, 3, 4, 8, 15, 16, 17, 31, 32, 33, 64, 97};
    static const size_t ks[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 35};
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        if (!may_run(&dti_matmul_kernels[i]))
            continue;
        for (size_t m = 0; m < sizeof ms / sizeof *ms; m++) {
            for (size_t n = m % unit_each(3); n < sizeof ns / sizeof *ns; n += unit_each(3)) {
                for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
                    if (!CHECK(is_right(&dti_matmul_kernels[i], ms[m], ns[n], ks[k],
                                        1 + (m + n + k) % 3)))
                        return;
                }
            }
        }
    }
}

/* More than one block of k, of columns and of rows; a single row of C that is longer than its
 * steps. */
static void products_beyond_a_block_are_exact(void)
{
    static const struct {
        size_t m, n, k;
    } shapes[] = {{30, 40, 2049}, {16, 70, 4097}, {3, 1300, 700}, {1, 2100, 333},
                  {1, 64, 4100},  {200, 1, 64},   {1, 1, 5000},   {85, 331, 523}};
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        if (!may_run(&dti_matmul_kernels[i]))
            continue;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (size_t threads = 1; threads <= 7; threads += threads == 3 ? 4 : 1) {
                if ((s + threads) % unit_each(2) != 0)
                    continue;
                CHECK(is_right(&dti_matmul_kernels[i], shapes[s].m, shapes[s].n, shapes[s].k,
                               threads));
            }
        }
    }
}

static void run_member(void *context, size_t member, size_t size)
{
    const struct product *const p = context;
    (void)size;
    dti_matmul_run(p->matmul, p->c, p->a, p->b, member);
}

static void members_of_a_team_share_a_product(void)
{
    struct dti_team *team;
    if (!CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        struct product p;
        if (!may_run(&dti_matmul_kernels[i]))
            continue;
        if (CHECK(product_new(&p, &dti_matmul_kernels[i], 50, 120, 300, 3))) {
            dti_team_run(team, run_member, &p);
            CHECK(product_check(&p));
        }
        product_free(&p);
    }
    dti_team_free(team);
}

/* Partial sums that pass through -2^31 and 2^31 - 1 give the right result; sums that overflow wrap
 * modulo 2^32. */
static void int8_is_exact_where_sums_are_largest(void)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        if (kernel->dtype != DTI_INT8 || !may_run(kernel))
            continue;
        enum { K = 131072 }; /* -128 x -128 x K is 2^31 */
        int8_t *const a = malloc(2 * K), *const b = malloc(K);
        int32_t c[2] = {0, 0};
        struct dti_matmul *matmul = NULL;
        if (CHECK(a && b) && CHECK(dti_matmul_new(&matmul, kernel, 2, 1, K, 1, NULL) == DTI_OK)) {
            memset(a, 0x80, 2 * K);
            memset(b, 0x80, K);
            a[2 * K - 1] = -127;
            dti_matmul_run(matmul, c, a, b, 0);
            CHECK_I64(c[0], INT32_MIN); /* 2^31, modulo 2^32 */
            CHECK_I64(c[1], INT32_MAX - 127);
            for (size_t j = 0; j < K; j++)
                b[j] = 127;
            dti_matmul_run(matmul, c, a, b, 0);
            CHECK_I64(c[0], INT64_C(-128) * 127 * K);
        }
        dti_matmul_free(matmul);
        free(a);
        free(b);
    }
}

static void rows_are_found_by_dtype_and_level(void)
{
    const char *why = NULL;
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        const struct dti_matmul_kernel *const found =
            dti_matmul_find(kernel->dtype, kernel->level, &why);
        if (dti_level_permitted(kernel->level, &why))
            CHECK(found && found->level == kernel->level);
        if (may_run(kernel))
            CHECK(kernel->peak(168) == 0); /* zeros times zeros */
        CHECK(!dti_matmul_find(kernel->dtype, DTI_LEVEL_SCALAR, &why));
        CHECK(strstr(why, "needs the CPU level "));
    }
    CHECK(!dti_matmul_find(DTI_TF32, DTI_LEVEL_AVX512BF16, &why));
    CHECK_STR(why, "no CPU has instructions for it");
    CHECK(!dti_matmul_find(DTI_FP8_E5M2, DTI_LEVEL_AVX512BF16, &why));
    CHECK_STR(why, "no kernel on this CPU");
    if (dti_matmul_find(DTI_BF16, DTI_LEVEL_AVX512BF16, &why)) {
        CHECK(!dti_matmul_find(DTI_BF16, DTI_LEVEL_AVX512VBMI, &why));
        CHECK_STR(why, "needs the CPU level avx512bf16");
    }
}

static const struct dti_matmul_kernel *row_with(enum dti_unit unit)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        if (dti_matmul_kernels[i].unit == unit)
            return &dti_matmul_kernels[i];
    }
    return NULL;
}

/* All feature bits of a processor with AVX2 and AVX-VNNI but without AVX-512. */
static struct dti_cpuid with_avx_vnni(uint32_t leaf, uint32_t subleaf)
{
    if (leaf == 0)
        return (struct dti_cpuid){.eax = 32};
    if (leaf == 1)
        return (struct dti_cpuid){.ecx = 0x7ffafbbf};
    if (leaf == 7 && subleaf == 0)
        return (struct dti_cpuid){.eax = 1, .ebx = 0x239c27eb};
    return (struct dti_cpuid){.eax = leaf == 7 && subleaf == 1 ? 0x10 : 0};
}

static uint64_t with_ymm(void)
{
    return 7;
}

static void a_row_whose_unit_is_missing_is_passed_over(void)
{
    static const struct dti_cpuid_source alder_lake = {.cpuid = with_avx_vnni, .xgetbv = with_ymm};
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    const struct dti_matmul_kernel *const row = row_with(DTI_UNIT_AVX_VNNI);
    const char *why = "";
    struct dti_matmul *matmul = NULL;
    struct dti_error error;
    if (!row) {
        printf("skipped: no kernel for AVX-VNNI\n");
        return;
    }
    dti_cpuid_source = &alder_lake;
    CHECK(dti_matmul_find(row->dtype, DTI_LEVEL_AVX2, &why) == row);
    CHECK(dti_dot_find(row->dtype, DTI_LEVEL_AVX2)->unit == DTI_UNIT_AVX_VNNI);
    CHECK(dti_matmul_new(&matmul, row, 2, 2, 2, 1, &error) == DTI_OK);
    dti_matmul_free(matmul);
    matmul = NULL;
    dti_cpuid_source = NULL;
    const struct dti_matmul_kernel *const other = dti_matmul_find(row->dtype, row->level, &why);
    CHECK(other && other->unit == DTI_UNIT_NONE && other->level == row->level);
    CHECK(dti_dot_find(row->dtype, DTI_LEVEL_AVX2)->unit == DTI_UNIT_NONE);
    CHECK_STR(why, "");
    CHECK(dti_matmul_new(&matmul, row, 2, 2, 2, 1, &error) == DTI_UNAVAILABLE && !matmul);
    CHECK_STR(error.text, "matmul_i8_avxvnni: needs AVX-VNNI");
    dti_cpuid_source = before;
}

static void products_without_elements_and_too_large_ones_are_refused(void)
{
    struct dti_matmul *matmul = NULL;
    struct dti_error error;
    if (dti_matmul_kernel_count == 0) {
        printf("skipped: no kernel\n");
        return;
    }
    const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[0];
    CHECK(dti_matmul_new(&matmul, kernel, 0, 2, 3, 1, &error) == DTI_USAGE);
    CHECK_STR(error.text, "the product of 0x3 and 3x2 has no elements");
    CHECK(dti_matmul_new(&matmul, kernel, 1, 2, 0, 1, &error) == DTI_USAGE);
    CHECK(dti_matmul_new(&matmul, kernel, UINT64_MAX, 2, 3, 1, &error) == DTI_NO_MEMORY);
    CHECK(dti_matmul_new(&matmul, kernel, UINT64_C(1) << 40, 2, UINT64_C(1) << 40, 1, &error) ==
          DTI_NO_MEMORY);
    CHECK(!matmul);
    dti_matmul_free(NULL);
}

static void memory_that_runs_out_is_no_product(void)
{
    struct dti_matmul *matmul = NULL;
    struct dti_error error = {0};
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_call call;
    size_t may = 0;
    while (may < dti_matmul_kernel_count && !may_run(&dti_matmul_kernels[may]))
        may++;
    if (may == dti_matmul_kernel_count) {
        printf("skipped: no kernel\n");
        return;
    }
    dti_call_begin(&call, &caller);
    for (tally.fails_at = 1; tally.fails_at <= 2; tally.fails_at++) {
        tally.calls = 0;
        CHECK(dti_matmul_new(&matmul, &dti_matmul_kernels[may], 5, 6, 7, 2, &error) ==
              DTI_NO_MEMORY);
        CHECK(!matmul);
    }
    tally.calls = 0;
    CHECK(dti_matmul_new(&matmul, &dti_matmul_kernels[may], 5, 6, 7, 2, &error) == DTI_OK);
    dti_matmul_free(matmul);
    dti_call_end(&call);
    CHECK(tally_is_even(&caller, &tally));
}

UNIT_MAIN(products_of_all_small_shapes_are_exact, products_beyond_a_block_are_exact,
          members_of_a_team_share_a_product, int8_is_exact_where_sums_are_largest,
          rows_are_found_by_dtype_and_level, a_row_whose_unit_is_missing_is_passed_over,
          products_without_elements_and_too_large_ones_are_refused,
          memory_that_runs_out_is_no_product)
