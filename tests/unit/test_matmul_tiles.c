/* SPDX-License-Identifier: MIT
 *
 * Matrix products with AMX. The kernels' source runs here on a software model of the tile
 * instructions, on any machine. On a processor with AMX, the real kernels are also compared with
 * the definition, bit by bit. Also checks the choice of kernels when the system refuses tiles. */
#define DTI_TILES_IN_C
#include "amx_model.h"

/* Names for the kernels compiled here, distinct from those of the library. */
#define dti_tile_bf16_amx        dti_tile_bf16_modelled
#define dti_tile_i8_amx          dti_tile_i8_modelled
#define dti_peak_bf16_amx        dti_peak_bf16_modelled
#define dti_peak_i8_amx          dti_peak_i8_modelled
#define dti_tile_bf16_avx512bf16 dti_tile_bf16_single
#define dti_tile_i8_avx512vbmi   dti_tile_i8_single
#include "kernels/math/matmul_tile.h"

extern const struct dti_matmul_tile dti_tile_bf16_modelled, dti_tile_i8_modelled,
    dti_tile_bf16_single, dti_tile_i8_single;
double dti_peak_bf16_modelled(uint64_t count);
double dti_peak_i8_modelled(uint64_t count);

#include "../../src/kernels/x86/math/matmul_amx.c"

#include <errno.h>
#include <math.h>

#include "matmul_product.h"
#include "tile_system.h"

/* Single-row products of another level, which require multiples of these. */
enum { ROW_COLUMNS = 16, ROW_K = 8 };

static void row_bf16(unsigned char *c, const unsigned char *a, const unsigned char *b,
                     size_t stride, size_t columns, size_t k)
{
    for (size_t j = 0; j < columns; j++) {
        float sum = 0;
        for (size_t l = 0; l < k; l++)
            sum += amx_number_of_bf16(a + 2 * l) * amx_number_of_bf16(b + l * stride + 2 * j);
        memcpy(c + 4 * j, &sum, sizeof sum);
    }
}

static void row_i8(unsigned char *c, const unsigned char *a, const unsigned char *b, size_t stride,
                   size_t columns, size_t k)
{
    for (size_t j = 0; j < columns; j++) {
        int32_t sum = 0;
        for (size_t l = 0; l < k; l++)
            sum += (int8_t)a[l] * (int8_t)b[l * stride + j];
        memcpy(c + 4 * j, &sum, sizeof sum);
    }
}

const struct dti_matmul_tile dti_tile_bf16_single = {
    .element = 2, .step = 4, .row = row_bf16, .row_columns = ROW_COLUMNS, .row_k = ROW_K};
const struct dti_matmul_tile dti_tile_i8_single = {
    .element = 1, .step = 4, .row = row_i8, .row_columns = ROW_COLUMNS, .row_k = ROW_K};

static const struct dti_matmul_kernel modelled[] = {
    {.name = "bf16 on modelled tiles",
     .dtype = DTI_BF16,
     .result = DTI_FP32,
     .rows = 32,
     .columns = 32,
     .tile = &dti_tile_bf16_modelled,
     .peak = dti_peak_bf16_modelled},
    {.name = "int8 on modelled tiles",
     .dtype = DTI_INT8,
     .result = DTI_INT32,
     .rows = 32,
     .columns = 32,
     .tile = &dti_tile_i8_modelled,
     .peak = dti_peak_i8_modelled},
};
enum { MODELLED = sizeof modelled / sizeof *modelled };

/* Packing requires a little-endian processor, as all processors with tiles are. */
static bool may_pack(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    if (first == 0)
        printf("skipped: a big-endian processor\n");
    return first == 1;
}

static const struct dti_matmul_kernel *row_of(enum dti_dtype dtype, enum dti_level level)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        if (dti_matmul_kernels[i].dtype == dtype && dti_matmul_kernels[i].level == level)
            return &dti_matmul_kernels[i];
    }
    return NULL;
}

/* No faults against the manual, and each configuration was released. */
static bool tiles_are_left(void)
{
    return CHECK(amx.faults == 0) && CHECK(!amx.is_in_use) &&
           CHECK(amx.configurations == amx.releases);
}

static void products_of_whole_numbers_are_exact(void)
{
    static const size_t ms[] = {1, 2, 4, 5, 15, 16, 17, 31, 32, 33, 65};
    static const size_t ns[] = {1, 15, 16, 17, 31, 32, 33, 97};
    static const size_t ks[] = {1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 129};
    for (size_t i = 0; i < MODELLED && may_pack(); i++) {
        const unsigned before = amx.products;
        for (size_t m = 0; m < sizeof ms / sizeof *ms; m++) {
            for (size_t n = 0; n < sizeof ns / sizeof *ns; n++) {
                for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
                    if (!CHECK(is_right(&modelled[i], ms[m], ns[n], ks[k], 1 + (m + n + k) % 3)) ||
                        !tiles_are_left())
                        return;
                }
            }
        }
        CHECK(amx.products > before);
    }
}

/* More than one part of a strip, and one block of k, of columns and of rows. */
static void products_beyond_a_part_are_exact(void)
{
    static const struct {
        size_t m, n, k;
    } shapes[] = {{33, 40, 2049}, {16, 70, 4097}, {3, 1300, 700}, {1, 64, 4100}, {85, 331, 523}};
    for (size_t i = 0; i < MODELLED && may_pack(); i++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            CHECK(is_right(&modelled[i], shapes[s].m, shapes[s].n, shapes[s].k, 1 + s % 2));
        tiles_are_left();
    }
}

static void int8_is_modulo_2_to_the_32(void)
{
    enum { K = 131072 }; /* -128 x -128 x K is 2^31 */
    int8_t *const a = malloc(2 * K), *const b = malloc(K);
    int32_t c[2] = {0, 0};
    struct dti_matmul *matmul = NULL;
    if (may_pack() && CHECK(a && b) &&
        CHECK(dti_matmul_new(&matmul, &modelled[1], 2, 1, K, 1, NULL) == DTI_OK)) {
        memset(a, 0x80, 2 * K);
        memset(b, 0x80, K);
        a[2 * K - 1] = -127;
        dti_matmul_run(matmul, c, a, b, 0);
        CHECK_I64(c[0], INT32_MIN);
        CHECK_I64(c[1], INT32_MAX - 127);
    }
    dti_matmul_free(matmul);
    free(a);
    free(b);
}

/* An element of C computed from the definition, without tiles, parts or blocks. */
static float defined(const unsigned char *a, const unsigned char *b, size_t n, size_t k)
{
    float c = 0;
    for (size_t at = 0; at < k; at += 32) {
        float sums[2] = {0, 0};
        for (size_t i = at; i < at + 32; i++) {
            const float x = i < k ? amx_number_of_bf16(a + 2 * i) : 0;
            const float y = i < k ? amx_number_of_bf16(b + 2 * i * n) : 0;
            sums[i % 2] = amx_fma(x, y, sums[i % 2]);
        }
        c = amx_sum(c, amx_sum(sums[0], sums[1]));
    }
    return c;
}

/* Any sign and fraction, exponents around 0. small: some numbers are so small that they, their
 * products or sums are below the normal range of fp32. */
static void put_any(unsigned char *array, size_t count, bool small)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned exponent = small ? 52 + draw(16) : draw(50) == 0 ? 0 : 117 + draw(20);
        const uint16_t code = (uint16_t)(draw(2) << 15 | exponent << 7 | draw(128));
        memcpy(array + 2 * i, &code, sizeof code);
    }
}

static void sums_are_in_order(const struct dti_matmul_kernel *kernel)
{
    static const struct {
        size_t m, n, k;
    } shapes[] = {{2, 3, 1},    {5, 17, 31},    {33, 34, 32}, {16, 33, 65},
                  {40, 9, 700}, {32, 32, 2051}, {3, 5, 4100}};
    for (size_t s = 0; s < 2 * sizeof shapes / sizeof *shapes; s++) {
        const size_t m = shapes[s / 2].m, n = shapes[s / 2].n, k = shapes[s / 2].k;
        struct product p;
        if (CHECK(product_new(&p, kernel, m, n, k, 1))) {
            put_any(p.a, m * k, s % 2 > 0);
            put_any(p.b, k * n, s % 2 > 0);
            dti_matmul_run(p.matmul, p.c, p.a, p.b, 0);
            for (size_t at = 0; at < m * n; at++) {
                const float want = defined(p.a + at / n * k * 2, p.b + at % n * 2, n, k);
                if (memcmp(p.c + 4 * at, &want, sizeof want) != 0) {
                    CHECK_STR("has sums of another order", kernel->name);
                    printf("  %zux%zux%zu: element %zu, not %a\n", m, k, n, at, (double)want);
                    break;
                }
            }
        }
        product_free(&p);
    }
}

static void bf16_is_summed_as_the_manual_says(void)
{
    if (may_pack())
        sums_are_in_order(&modelled[0]);
    tiles_are_left();
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        if (dti_matmul_kernels[i].dtype == DTI_BF16 &&
            dti_matmul_kernels[i].level == DTI_LEVEL_AMX && may_run(&dti_matmul_kernels[i]))
            sums_are_in_order(&dti_matmul_kernels[i]);
    }
}

/* Infinities in A and B, in the first block of k where the second, shorter block has zero padding,
 * and at the end: stale data of an earlier block must not be used. */
static void an_infinity_stays_in_its_row_or_column(void)
{
    enum { M = 3, N = 5, K = 1029, SECOND = 544 };
    const uint16_t infinity = 0x7f80, one = 0x3f80;
    struct product p = {.kernel = NULL};
    if (may_pack() && CHECK(product_new(&p, &modelled[0], M, N, K, 1))) {
        for (size_t at = K - SECOND - 5; at < K; at += at == SECOND + 5 ? K - SECOND - 45 : 1) {
            for (size_t way = 0; way < 2; way++) {
                unsigned char *const in_a = p.a + 2 * at, *const in_b = p.b + 2 * at * N;
                unsigned char kept[2][2];
                float c[M * N];
                memcpy(kept[0], in_a, 2);
                memcpy(kept[1], in_b, 2);
                memcpy(in_a, way == 0 ? &infinity : &one, 2);
                memcpy(in_b, way == 0 ? &one : &infinity, 2);
                dti_matmul_run(p.matmul, p.c, p.a, p.b, 0);
                memcpy(c, p.c, sizeof c);
                CHECK(c[0] == INFINITY);
                if (!CHECK(fabsf(c[way == 0 ? N : 1]) < 1e6F))
                    printf("  element %zu of k\n", at);
                memcpy(in_a, kept[0], 2);
                memcpy(in_b, kept[1], 2);
            }
        }
    }
    product_free(&p);
}

/* The transfer between C and the tile buffer, with streaming stores or without. Tests the library's
 * own kernels, which need no tile registers for it. */
static void tiles_go_to_their_place_in_c(void)
{
    enum { M = 32, N = 100, WIDE = 128, STRIDE = 512 };
    static unsigned char tiles[M * WIDE * 4];
    const struct dti_matmul_kernel *const kernel = row_of(DTI_INT8, DTI_LEVEL_AMX);
    unsigned char *const c = aligned_alloc(64, (M + 1) * STRIDE);
    if (!kernel || !dti_level_present(DTI_LEVEL_AVX512)) {
        printf("skipped: matmul_i8_amx\n");
        free(c);
        return;
    }
    for (size_t way = 0; CHECK(c) && way < 8; way++) {
        const size_t off = way % 2 * 4, rows = way % 4 / 2 > 0 ? M : 17, bytes = 4 * N;
        for (size_t i = 0; i < sizeof tiles; i++)
            tiles[i] = (unsigned char)draw(256);
        memset(c, GUARD_BYTE, (M + 1) * STRIDE);
        kernel->tile->give(c + off, STRIDE, tiles, rows, bytes, way >= 4);
        bool right = true;
        for (size_t i = 0; i < (M + 1) * STRIDE; i++) {
            const size_t row = i / STRIDE, at = i % STRIDE - off;
            const bool inside = row < rows && i % STRIDE >= off && at < bytes;
            const size_t from = at / 128 * 4096 + row * 128 + at % 128;
            right = right && c[i] == (inside ? tiles[from] : GUARD_BYTE);
        }
        CHECK(right);
        static unsigned char again[sizeof tiles];
        memset(again, 0, sizeof again);
        kernel->tile->take(again, c + off, STRIDE, rows, bytes);
        for (size_t i = 0; i < rows * N; i++) {
            const size_t at = i / N * 128 + i % N / 32 * 4096 + i % N % 32 * 4;
            right = right && memcmp(again + at, tiles + at, 4) == 0;
        }
        CHECK(right);
    }
    free(c);
}

static void peaks_multiply_tiles_and_leave_them(void)
{
    for (size_t i = 0; i < MODELLED && may_pack(); i++) {
        const unsigned before = amx.products;
        CHECK(modelled[i].peak(168) == 0);
        CHECK_U64(amx.products - before, 168);
        tiles_are_left();
    }
}

static void refused_tiles_leave_the_next_row(void)
{
    static const struct {
        int answer;
        const char *why;
    } refusals[] = {{EPERM, "the system denies this process the tile registers of AMX"},
                    {ENOSPC, "a signal stack is too small for the tile registers of AMX"},
                    {EINVAL, "the system cannot hand out the tile registers of AMX"}};
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    const struct dti_matmul_kernel *const tiles = row_of(DTI_BF16, DTI_LEVEL_AMX);
    if (!tiles) {
        printf("skipped: no kernels for AMX\n");
        return;
    }
    dti_cpuid_source = &tile_system;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const char *why = "";
        struct dti_matmul *matmul = NULL;
        struct dti_error error;
        tile_answer = refusals[i].answer;
        CHECK(dti_matmul_find(DTI_BF16, DTI_LEVEL_AMX, &why) ==
              row_of(DTI_BF16, DTI_LEVEL_AVX512BF16));
        CHECK_STR(why, refusals[i].why);
        why = "";
        CHECK(dti_matmul_find(DTI_INT8, DTI_LEVEL_AMX, &why) ==
              row_of(DTI_INT8, DTI_LEVEL_AVX512VBMI));
        CHECK_STR(why, refusals[i].why);
        CHECK(dti_matmul_new(&matmul, tiles, 2, 2, 2, 1, &error) == DTI_UNAVAILABLE);
        CHECK(!matmul && strstr(error.text, refusals[i].why));
    }
    tile_answer = 0;
    const char *why = "";
    CHECK(dti_matmul_find(DTI_BF16, DTI_LEVEL_AMX, &why) == tiles);
    CHECK(dti_matmul_find(DTI_INT8, DTI_LEVEL_AMX, &why) == row_of(DTI_INT8, DTI_LEVEL_AMX));
    CHECK_STR(why, "");
    dti_cpuid_source = before;
}

static void tiles_are_asked_for_only_where_they_would_be_used(void)
{
    const struct dti_cpuid_source *const before = dti_cpuid_source;
    const char *why = "";
    dti_cpuid_source = &tile_system;
    tile_requests = 0;
    CHECK(dti_level_present(DTI_LEVEL_AMX));
    (void)dti_matmul_find(DTI_FP32, DTI_LEVEL_AMX, &why);
    (void)dti_matmul_find(DTI_BF16, DTI_LEVEL_AVX512BF16, &why);
    why = "";
    (void)dti_level_permitted(DTI_LEVEL_AVX512BF16, &why);
    CHECK_U64(tile_requests, 0);
    CHECK_STR(why, "");
    for (size_t i = 0; i < 2; i++) { /* nor if the processor has none */
        tile_processor = false;
        why = "";
        CHECK(!dti_level_permitted(DTI_LEVEL_AMX, &why));
        CHECK_STR(why, "needs the CPU level amx");
        dti_cpuid_source = NULL;
    }
    tile_processor = true;
    CHECK_U64(tile_requests, 0);
    dti_cpuid_source = before;
}

UNIT_MAIN(products_of_whole_numbers_are_exact, products_beyond_a_part_are_exact,
          int8_is_modulo_2_to_the_32, bf16_is_summed_as_the_manual_says,
          an_infinity_stays_in_its_row_or_column, tiles_go_to_their_place_in_c,
          peaks_multiply_tiles_and_leave_them, refused_tiles_leave_the_next_row,
          tiles_are_asked_for_only_where_they_would_be_used)
