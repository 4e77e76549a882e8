/* SPDX-License-Identifier: MIT
 *
 * Measurements of matrix products on the CPU: what is in their tables, and that wrong products are
 * seen. How long anything takes is not judged. */
#include <stdlib.h>

#include "bench/matmul_parts.h"
#include "unit.h"

static const enum dti_dtype all_dtypes[] = {DTI_FP32, DTI_BF16, DTI_INT8,
                                            DTI_FP64, DTI_FP16, DTI_TF32};
static struct dti_error error;

static struct dti_bench_request request_of(uint64_t m, uint64_t n, uint64_t k)
{
    struct dti_bench_request request = {
        .dtypes = all_dtypes,
        .dtype_count = sizeof all_dtypes / sizeof *all_dtypes,
        .m = m,
        .n = n,
        .k = k,
        .engine = "dtinfo",
        .seed = 5,
        .options = {.nanoseconds = 20000000, .sample_nanoseconds = 100000, .seed = 5},
    };
    CHECK(dti_level_choose(NULL, &request.level, NULL) == DTI_OK);
    return request;
}

static bool has_note(const struct dti_bench_table *table, const char *text)
{
    for (size_t i = 0; i < table->note_count; i++) {
        if (strstr(table->notes[i], text))
            return true;
    }
    return false;
}

static size_t count_role(const struct dti_bench_table *table, const char *role)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += strcmp(table->items[i].role, role) == 0;
    return count;
}

static void check_table(const struct dti_bench_request *request, struct dti_team *team)
{
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    const enum dti_status status = dti_bench_kind_matmul.run(table, request, team, &error);
    if (!CHECK(status == DTI_OK)) {
        printf("  %s\n", error.text);
        free(table);
        return;
    }
    size_t kernels = 0;
    for (size_t i = 0; i < request->dtype_count; i++) {
        const char *why;
        kernels += dti_matmul_find(request->dtypes[i], request->level, &why) != NULL;
    }
    CHECK_SIZE(count_role(table, "matmul"), kernels);
    CHECK_SIZE(count_role(table, "peak"), kernels);
    CHECK_SIZE(kernels + table->note_count, request->dtype_count);
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        CHECK_STR(item->device, "cpu");
        if (item->limit)
            continue;
        CHECK(item->has_sum && item->beside < table->count && table->items[item->beside].limit);
        CHECK(item->operations == 2 * (double)request->m * (double)request->n * (double)request->k);
        CHECK(strcmp(item->dtype, "int8") != 0 || item->error == 0);
        CHECK(item->relative_error < 1e-5);
    }
    CHECK(has_note(table, "tf32: no CPU has instructions for it"));
    dti_bench_table_free(table);
    free(table);
}

static void tables_have_a_product_and_a_peak_for_each_dtype(void)
{
    struct dti_bench_request request = request_of(40, 50, 60);
    check_table(&request, NULL);
    request.cache = DTI_BENCH_COLD;
    check_table(&request, NULL);
    request.level = DTI_LEVEL_SCALAR;
    check_table(&request, NULL);
}

static void a_single_row_has_reading_as_a_limit(void)
{
    struct dti_bench_request request = request_of(1, 256, 300);
    const char *why;
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (CHECK(dti_bench_kind_matmul.run(table, &request, NULL, &error) == DTI_OK)) {
        if (dti_matmul_find(DTI_FP32, request.level, &why))
            CHECK(count_role(table, "read") > 0);
        dti_bench_table_free(table);
    }
    free(table);
    check_table(&request, NULL);
}

static void members_share_products(void)
{
    struct dti_team *team;
    const struct dti_bench_request request = request_of(70, 90, 33);
    if (CHECK(dti_team_new(&team, 2, DTI_WAIT_SPIN, true, NULL) == DTI_OK)) {
        check_table(&request, team);
        dti_team_free(team);
    }
}

/* Those that are installed; without them this is a table of notes. */
static void other_engines_are_right_too(void)
{
    static const char *const engines[] = {"onednn", "openblas"};
    struct dti_team *team;
    if (!CHECK(dti_team_new(&team, 2, DTI_WAIT_SPIN, true, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < 4; i++) {
        struct dti_bench_request request = request_of(i < 2 ? 37 : 3, 65, 43);
        request.engine = engines[i % 2];
        struct dti_bench_table *const table = calloc(1, sizeof *table);
        const enum dti_status status = dti_bench_kind_matmul.run(table, &request, team, &error);
        if (CHECK(status == DTI_OK)) {
            for (size_t at = 0; at < table->count; at++) {
                const struct dti_bench_item *const item = &table->items[at];
                CHECK(item->limit ||
                      strncmp(item->engine, request.engine, strlen(request.engine)) == 0);
                CHECK(item->limit || item->has_sum);
            }
            if (count_role(table, "matmul") == 0)
                printf("skipped: %s\n", table->notes[0]);
            CHECK(count_role(table, "matmul") > 0 || has_note(table, request.engine));
            dti_bench_table_free(table);
        } else {
            printf("  %s\n", error.text);
        }
        free(table);
    }
    dti_team_free(team);
}

static void nonsense_is_refused_before_it_is_measured(void)
{
    struct dti_bench_request request = request_of(0, 2, 3);
    CHECK(dti_bench_kind_matmul.check(&request, 1, &error) == DTI_USAGE);
    request = request_of(2, 2, 3);
    CHECK(dti_bench_kind_matmul.check(&request, 1, &error) == DTI_OK);
    const char *why;
    if (!dti_matmul_find(DTI_FP32, request.level, &why))
        return;
    request = request_of(UINT64_MAX, 2, 3);
    CHECK(dti_bench_kind_matmul.check(&request, 1, &error) == DTI_UNAVAILABLE);
    request = request_of(UINT64_C(1) << 24, UINT64_C(1) << 24, 1);
    CHECK(dti_bench_kind_matmul.check(&request, 1, &error) == DTI_UNAVAILABLE);
}

/* The judge itself: exact products pass, and one element that is a little off does not. */
static void wrong_elements_are_seen(void)
{
    for (size_t i = 0; i < sizeof all_dtypes / sizeof *all_dtypes; i++) {
        enum { M = 5, N = 4, K = 8 };
        struct dti_matrices matrices;
        struct dti_matmul_errors errors;
        if (!CHECK(dti_matrices_init(&matrices, all_dtypes[i], M, N, K, &error) == DTI_OK))
            return;
        unsigned char *const memory = malloc((size_t)matrices.bytes);
        if (!CHECK(memory && dti_matrices_fill(&matrices, memory, 3, &error) == DTI_OK))
            return;
        const size_t size = matrices.result_element;
        unsigned char *const c = memory + matrices.c_at;
        memset(c, 0, M * N * size);
        dti_matrices_judge(&errors, &matrices, memory, false, 1);
        CHECK(errors.wrong);
        /* what the judge says is right in one place after the other */
        for (int element = 0; element < M * N && errors.wrong; element++) {
            const double exact = errors.exact;
            const float single = (float)exact;
            const int32_t whole = (int32_t)exact;
            unsigned char *const at = c + (errors.row * N + errors.column) * size;
            if (matrices.result == DTI_FP64)
                memcpy(at, &exact, sizeof exact);
            else if (matrices.result == DTI_INT32)
                memcpy(at, &whole, sizeof whole);
            else
                memcpy(at, &single, sizeof single);
            dti_matrices_judge(&errors, &matrices, memory, false, 1);
        }
        CHECK(!errors.wrong);
        CHECK(matrices.result == DTI_INT32 ? errors.relative == 0 : errors.relative < 1e-7);
        /* the last element of C by a few units in a place that no rounding reaches */
        c[M * N * size - 1 - (matrices.result == DTI_INT32 ? size - 1 : 1)] ^= 0x40;
        dti_matrices_judge(&errors, &matrices, memory, true, 1);
        CHECK(errors.wrong && errors.row == M - 1 && errors.column == N - 1);
        free(memory);
    }
}

UNIT_MAIN(tables_have_a_product_and_a_peak_for_each_dtype, a_single_row_has_reading_as_a_limit,
          members_share_products, other_engines_are_right_too,
          nonsense_is_refused_before_it_is_measured, wrong_elements_are_seen)
