/* SPDX-License-Identifier: MIT
 *
 * Measurements of matrix products on the CPU: the contents of their tables, and that wrong products
 * are detected. Times are not checked. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench/workloads/matmul_matrices.h"
#include "tile_system.h"

static const enum dti_dtype all_dtypes[] = {DTI_FP32, DTI_BF16, DTI_INT8,      DTI_FP64,
                                            DTI_FP16, DTI_TF32, DTI_FP8_E4M3FN};
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

/* Whether a note is about a kernel that exists but could be faster, not about an unsupported dtype.
 */
static bool tells_of_speed(const char *note)
{
    return strstr(note, " is used instead") || strstr(note, "; the peak is that of ") ||
           strstr(note, ", which is wider");
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
    const enum dti_status status =
        dti_bench_measure(table, &dti_bench_kind_matmul, request, team, &error);
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
    const char *why_not;
    CHECK_SIZE(count_role(table, "quantize"),
               dti_matmul_find(DTI_INT8, request->level, &why_not) ? 1 : 0);
    size_t notes = 0;
    for (size_t i = 0; i < table->note_count; i++)
        notes += !tells_of_speed(table->notes[i]);
    CHECK_SIZE(kernels + notes, request->dtype_count);
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        CHECK_STR(item->device, "cpu");
        if (strcmp(item->role, "quantize") == 0) {
            const uint64_t numbers = request->m * request->k + request->k * request->n;
            CHECK_U64(item->bytes_read, 8 * numbers);
            CHECK_U64(item->bytes_written, numbers);
        }
        if (item->limit || strcmp(item->role, "quantize") == 0)
            continue;
        CHECK(item->has_sum && item->limit_item < table->count &&
              table->items[item->limit_item].limit);
        CHECK(item->operations == 2 * (double)request->m * (double)request->n * (double)request->k);
        CHECK(strcmp(item->dtype, "int8") != 0 || item->error == 0);
        CHECK(item->relative_error < 1e-5);
    }
    CHECK(has_note(table, "tf32: no CPU has instructions for it"));
    CHECK(has_note(table, "fp8_e4m3fn: no CPU has instructions for it"));
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

static void refused_tiles_are_named(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    struct dti_bench_request request = request_of(20, 30, 40);
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!dti_level_present(DTI_LEVEL_AVX512BF16)) {
        printf("skipped: no avx512bf16 here\n");
        free(table);
        return;
    }
    request.level = DTI_LEVEL_AMX;
    dti_cpuid_source = &tile_system;
    tile_answer = EPERM;
    if (CHECK(dti_bench_measure(table, &dti_bench_kind_matmul, &request, NULL, &error) == DTI_OK)) {
        CHECK(has_note(table, "bf16: the system denies this process the tile registers of AMX; "
                              "matmul_bf16_avx512bf16 is used instead"));
        CHECK(has_note(table, "int8: the system denies this process the tile registers of AMX; "
                              "matmul_i8_avx512vbmi is used instead"));
        CHECK(!has_note(table, "fp32: "));
        dti_bench_table_free(table);
    }
    dti_cpuid_source = before;
    free(table);
}

static void a_single_row_has_reading_as_a_limit(void)
{
    struct dti_bench_request request = request_of(1, 256, 300);
    const char *why;
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (CHECK(dti_bench_measure(table, &dti_bench_kind_matmul, &request, NULL, &error) == DTI_OK)) {
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

/* The installed engines; without any, the table has only notes. */
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
        const enum dti_status status =
            dti_bench_measure(table, &dti_bench_kind_matmul, &request, team, &error);
        if (CHECK(status == DTI_OK)) {
            for (size_t at = 0; at < table->count; at++) {
                const struct dti_bench_item *const item = &table->items[at];
                if (strcmp(item->role, "quantize") == 0)
                    continue;
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
    CHECK(dti_bench_check(&dti_bench_kind_matmul, &request, &error) == DTI_USAGE);
    request = request_of(2, 2, 3);
    CHECK(dti_bench_check(&dti_bench_kind_matmul, &request, &error) == DTI_OK);
    const char *why;
    if (!dti_matmul_find(DTI_FP32, request.level, &why))
        return;
    request = request_of(UINT64_MAX, 2, 3);
    CHECK(dti_bench_check(&dti_bench_kind_matmul, &request, &error) == DTI_UNAVAILABLE);
    request = request_of(UINT64_C(1) << 24, UINT64_C(1) << 24, 1);
    CHECK(dti_bench_check(&dti_bench_kind_matmul, &request, &error) == DTI_UNAVAILABLE);
}

/* Tests the verification: exact products pass, and one slightly wrong element does not. */
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
        /* correct one element after the other with the value that the verification reports */
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
        /* change the last element of C by a few units, beyond any rounding */
        c[M * N * size - 1 - (matrices.result == DTI_INT32 ? size - 1 : 1)] ^= 0x40;
        dti_matrices_judge(&errors, &matrices, memory, true, 1);
        CHECK(errors.wrong && errors.row == M - 1 && errors.column == N - 1);
        free(memory);
    }
}

static float fp32_at(const unsigned char *at, uint64_t i)
{
    float number;
    memcpy(&number, at + 4 * i, sizeof number);
    return number;
}

static double int8_at(const unsigned char *at, uint64_t i)
{
    int8_t code;
    memcpy(&code, at + i, sizeof code);
    return code;
}

/* int8 matrices are the fp32 matrices quantized with one scale each. */
static void check_codes(const unsigned char *codes, const unsigned char *numbers, uint64_t n,
                        float scale)
{
    float amax = 0;
    for (uint64_t i = 0; i < n; i++) {
        const float number = fp32_at(numbers, i);
        amax = fmaxf(amax, fabsf(number));
        CHECK(int8_at(codes, i) == (double)rintf(number / scale));
    }
    CHECK(scale == amax / 127);
}

/* Compares the total error with one computed here independently. */
static void the_total_error_is_that_of_the_fp32_numbers(void)
{
    enum { M = 6, N = 40, K = 35 };
    struct dti_matmul_truth *truth;
    struct dti_matrices single, whole;
    struct dti_bench_item item = {.has_sum = false};
    if (!CHECK(dti_matrices_init(&single, DTI_FP32, M, N, K, &error) == DTI_OK &&
               dti_matrices_init(&whole, DTI_INT8, M, N, K, &error) == DTI_OK &&
               dti_matmul_truth_new(&truth, M, N, K, 11, &error) == DTI_OK))
        return;
    unsigned char *const x = malloc((size_t)single.bytes), *const y = malloc((size_t)whole.bytes);
    if (!CHECK(x && y && dti_matrices_fill(&single, x, 11, &error) == DTI_OK &&
               dti_matrices_fill(&whole, y, 11, &error) == DTI_OK))
        return;
    check_codes(y, x, K * N, whole.scales[1]);
    check_codes(y + whole.a_at, x + single.a_at, M * K, whole.scales[0]);
    double squares = 0, exact_squares = 0, largest = 0, errors = 0;
    for (uint64_t row = 0; row < M; row++) {
        for (uint64_t column = 0; column < N; column++) {
            double exact = 0, codes = 0;
            for (uint64_t i = 0; i < K; i++) {
                exact += (double)fp32_at(x + single.a_at, row * K + i) *
                         (double)fp32_at(x, i * N + column);
                codes += int8_at(y + whole.a_at, row * K + i) * int8_at(y, i * N + column);
            }
            const int32_t code = (int32_t)codes;
            memcpy(y + whole.c_at + 4 * (row * N + column), &code, sizeof code);
            const double off = codes * (double)whole.scales[0] * (double)whole.scales[1] - exact;
            squares += off * off;
            exact_squares += exact * exact;
            largest = fmax(largest, fabs(off));
            errors += fabs(off);
        }
    }
    dti_matmul_truth_compare(truth, &item, &whole, y);
    const double relative = sqrt(squares / exact_squares);
    CHECK_U64(item.total.elements, M * N);
    CHECK(fabs(item.total.relative / relative - 1) < 1e-4 && relative > 1e-3 && relative < 0.1);
    CHECK(fabs(item.total.largest / largest - 1) < 1e-4);
    CHECK(fabs(item.total.mean / errors * (double)item.total.elements - 1) < 1e-4);
    CHECK(fabs(item.total.sqnr + 20 * log10(relative)) < 1e-3);
    CHECK(item.scales[0] == whole.scales[0] && item.scales[1] == whole.scales[1]);
    dti_matmul_truth_free(truth);
    free(x);
    free(y);
}

UNIT_MAIN(tables_have_a_product_and_a_peak_for_each_dtype, refused_tiles_are_named,
          a_single_row_has_reading_as_a_limit, members_share_products, other_engines_are_right_too,
          nonsense_is_refused_before_it_is_measured, wrong_elements_are_seen,
          the_total_error_is_that_of_the_fp32_numbers)
