/* SPDX-License-Identifier: MIT
 *
 * Matrix products of bf16 and int8 by AMX: tiles of 16 rows of 64 bytes; four of them hold 32 x
 * 32 elements of C, two are for A and two for B. A step is four bytes of a row of A: a column of
 * a tile of A and a row of a tile of B. 16 steps are processed together; k is padded with zeros.
 *
 * bf16 (Intel SDM vol. 2, TDPBF16PS): for each 32 elements of k, the 16 products at even
 * positions are added from zero, and likewise the 16 at odd positions, each by fused
 * multiply-adds in order; then the sum of both is added to C. Each of these operations rounds to
 * nearest even, and subnormal operands and results are zero, regardless of MXCSR. Parts and
 * blocks end at multiples of such 32 elements, so the result does not depend on how the product
 * is divided.
 *
 * int8 (TDPBSSD): products of signed bytes, added modulo 2^32.
 *
 * The functions between enter() and leave() are called through pointers and store nothing but
 * tiles, so the compiler need not know that tiles are loaded from memory. */
#ifndef DTI_TILES_IN_C /* defined by a test, which has these instructions as functions */
#include <immintrin.h>
#endif

#include "kernels/math/matmul_pack.h"

enum {
    ROWS = 16,      /* of a tile, */
    ROW_BYTES = 64, /* and bytes per row */
    COLUMNS = 32,   /* of C, in two tiles; */
    STEP_BYTES = 4, /* elements of C are as wide as a step */
    PANEL_ROW = 2 * ROW_BYTES,
    TILE_BYTES = 2 * ROWS * PANEL_ROW, /* four tiles of C in a buffer */
    AHEAD = 4096,                      /* prefetch distance in a panel: two times 16 steps */
};

/* Tile register assignment. */
#define C00 0
#define C01 1
#define C10 2
#define C11 3
#define A0  4
#define A1  5
#define B0  6
#define B1  7

/* The operand of LDTILECFG: palette 1, starting at the first row; then the bytes per row of each
 * register, and its number of rows. All rows are full; A and C may have fewer of them. */
struct tile_config {
    uint8_t palette, first_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
#define CONFIG(n)                                                              \
    {                                                                          \
        .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = { \
            [C00] = (n),                                                       \
            [C01] = (n),                                                       \
            [C10] = (n),                                                       \
            [C11] = (n),                                                       \
            [A0] = (n),                                                        \
            [A1] = (n),                                                        \
            [B0] = ROWS,                                                       \
            [B1] = ROWS                                                        \
        }                                                                      \
    }

static void enter(size_t rows)
{
    static const struct tile_config whole = CONFIG(ROWS), four = CONFIG(4), one = CONFIG(1);
    _tile_loadconfig(rows >= ROWS ? &whole : rows == 4 ? &four : &one);
}

static void leave(void)
{
    _tile_release();
}

/* A panel is read once per strip, from the L2 cache. */
MATMUL_INLINE void fetch_rows(const unsigned char *panel)
{
    for (size_t i = 0; i < ROWS * PANEL_ROW; i += ROW_BYTES)
        __builtin_prefetch((const void *)((uintptr_t)panel + AHEAD + i), 0, 3);
}

MATMUL_INLINE void load_panel(const unsigned char *panel)
{
    _tile_loadd(B0, panel, PANEL_ROW);
    _tile_loadd(B1, panel + ROW_BYTES, PANEL_ROW);
}

/* 32 rows, four tiles; and up to 16 rows, two tiles. */
#define DEFINE_TILES(name, multiply)                                                      \
    static void name##_32(unsigned char *c, size_t stride, const unsigned char *strip,    \
                          const unsigned char *panel, size_t steps, bool add)             \
    {                                                                                     \
        unsigned char *const lower = c + ROWS * stride;                                   \
        if (add) {                                                                        \
            _tile_loadd(C00, c, stride);                                                  \
            _tile_loadd(C01, c + ROW_BYTES, stride);                                      \
            _tile_loadd(C10, lower, stride);                                              \
            _tile_loadd(C11, lower + ROW_BYTES, stride);                                  \
        } else {                                                                          \
            _tile_zero(C00);                                                              \
            _tile_zero(C01);                                                              \
            _tile_zero(C10);                                                              \
            _tile_zero(C11);                                                              \
        }                                                                                 \
        for (size_t s = 0; s < steps; s += ROWS) {                                        \
            _tile_loadd(A0, strip, DTI_MATMUL_STRIDE);                                    \
            load_panel(panel);                                                            \
            multiply(C00, A0, B0);                                                        \
            multiply(C01, A0, B1);                                                        \
            _tile_loadd(A1, strip + (size_t)ROWS * DTI_MATMUL_STRIDE, DTI_MATMUL_STRIDE); \
            multiply(C10, A1, B0);                                                        \
            multiply(C11, A1, B1);                                                        \
            fetch_rows(panel);                                                            \
            strip += ROWS * STEP_BYTES;                                                   \
            panel += ROWS * PANEL_ROW;                                                    \
        }                                                                                 \
        _tile_stored(C00, c, stride);                                                     \
        _tile_stored(C01, c + ROW_BYTES, stride);                                         \
        _tile_stored(C10, lower, stride);                                                 \
        _tile_stored(C11, lower + ROW_BYTES, stride);                                     \
    }                                                                                     \
                                                                                          \
    static void name##_16(unsigned char *c, size_t stride, const unsigned char *strip,    \
                          const unsigned char *panel, size_t steps, bool add)             \
    {                                                                                     \
        if (add) {                                                                        \
            _tile_loadd(C00, c, stride);                                                  \
            _tile_loadd(C01, c + ROW_BYTES, stride);                                      \
        } else {                                                                          \
            _tile_zero(C00);                                                              \
            _tile_zero(C01);                                                              \
        }                                                                                 \
        for (size_t s = 0; s < steps; s += ROWS) {                                        \
            _tile_loadd(A0, strip, DTI_MATMUL_STRIDE);                                    \
            load_panel(panel);                                                            \
            multiply(C00, A0, B0);                                                        \
            multiply(C01, A0, B1);                                                        \
            fetch_rows(panel);                                                            \
            strip += ROWS * STEP_BYTES;                                                   \
            panel += ROWS * PANEL_ROW;                                                    \
        }                                                                                 \
        _tile_stored(C00, c, stride);                                                     \
        _tile_stored(C01, c + ROW_BYTES, stride);                                         \
    }                                                                                     \
                                                                                          \
    /* four independent sums: a product takes 52 cycles and can start every 16 */         \
    static void name##_peak(uint64_t count, unsigned char *first)                         \
    {                                                                                     \
        static const unsigned char zeros[ROWS * ROW_BYTES] = {0};                         \
        enter(2 * ROWS);                                                                  \
        _tile_zero(C00);                                                                  \
        _tile_zero(C01);                                                                  \
        _tile_zero(C10);                                                                  \
        _tile_zero(C11);                                                                  \
        _tile_loadd(A0, zeros, ROW_BYTES);                                                \
        _tile_loadd(A1, zeros, ROW_BYTES);                                                \
        _tile_loadd(B0, zeros, ROW_BYTES);                                                \
        _tile_loadd(B1, zeros, ROW_BYTES);                                                \
        for (uint64_t done = 0; done < count; done += 4) {                                \
            multiply(C00, A0, B0);                                                        \
            multiply(C01, A0, B1);                                                        \
            multiply(C10, A1, B0);                                                        \
            multiply(C11, A1, B1);                                                        \
        }                                                                                 \
        _tile_stored(C00, first, ROW_BYTES);                                              \
        leave();                                                                          \
    }

DEFINE_TILES(bf16, _tile_dpbf16ps)
DEFINE_TILES(i8, _tile_dpbssd)

double dti_peak_bf16_amx(uint64_t count)
{
    unsigned char c[ROWS * ROW_BYTES];
    bf16_peak(count, c);
    return (double)matmul_float_at(c);
}

double dti_peak_i8_amx(uint64_t count)
{
    unsigned char c[ROWS * ROW_BYTES];
    i8_peak(count, c);
    return (double)matmul_int32_at(c);
}

static void pack_a_bf16(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                        size_t k)
{
    matmul_pack_rows(strip, a, stride, rows, 2 * k, ROW_BYTES);
}

static void pack_a_i8(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                      size_t k)
{
    matmul_pack_rows(strip, a, stride, rows, k, 1); /* padding is multiplied by zeros of B */
}

/* Adds zeros for the steps missing to a multiple of 16. */
static void fill_panels(unsigned char *panels, size_t columns, size_t steps, size_t panel_bytes)
{
    const size_t over = steps % ROWS;
    for (size_t first = 0; first < columns && over > 0; first += COLUMNS, panels += panel_bytes)
        memset(panels + steps * PANEL_ROW, 0, (ROWS - over) * PANEL_ROW);
}

static void pack_b_bf16(unsigned char *panels, const unsigned char *b, size_t stride,
                        size_t columns, size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, COLUMNS, 2, 2, STEP_BYTES, 0,
                       matmul_step_pairs);
    fill_panels(panels, columns, k / 2 + k % 2, panel_bytes);
}

static void pack_b_i8(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                      size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, COLUMNS, 1, 4, STEP_BYTES, 0,
                       matmul_step_fours);
    fill_panels(panels, columns, k / 4 + (k % 4 > 0), panel_bytes);
}

static void take_sums(unsigned char *tiles, const unsigned char *c, size_t stride, size_t rows,
                      size_t bytes)
{
    for (size_t i = 0; i < rows; i++, c += stride) {
        unsigned char *to = tiles + i * PANEL_ROW;
        size_t at = 0;
        for (; bytes - at >= PANEL_ROW; at += PANEL_ROW, to += TILE_BYTES)
            memcpy(to, c + at, PANEL_ROW);
        memcpy(to, c + at, bytes - at);
    }
}

MATMUL_INLINE void put_row(unsigned char *c, const unsigned char *from, bool stream)
{
#ifndef DTI_TILES_IN_C
    if (stream) {
        _mm512_stream_si512((void *)c, _mm512_loadu_si512(from));
        _mm512_stream_si512((void *)(c + ROW_BYTES), _mm512_loadu_si512(from + ROW_BYTES));
        return;
    }
#endif
    (void)stream;
    memcpy(c, from, PANEL_ROW);
}

static void give(unsigned char *c, size_t stride, const unsigned char *tiles, size_t rows,
                 size_t bytes, bool stream)
{
    stream = stream && ((uintptr_t)c | stride) % ROW_BYTES == 0;
    for (size_t i = 0; i < rows; i++, c += stride) {
        const unsigned char *from = tiles + i * PANEL_ROW;
        size_t at = 0;
        for (; bytes - at >= PANEL_ROW; at += PANEL_ROW, from += TILE_BYTES)
            put_row(c + at, from, stream);
        memcpy(c + at, from, bytes - at);
    }
#ifndef DTI_TILES_IN_C
    if (stream)
        _mm_sfence(); /* before the team continues */
#endif
}

/* A single row is limited by reading B from memory, so it uses the vector code. */
const struct dti_matmul_tile dti_tile_bf16_amx = {
    .element = 2,
    .group = 2,
    .step = STEP_BYTES,
    .together = ROWS,
    .take = take_sums,
    .give = give,
    .pack_a = pack_a_bf16,
    .pack_b = pack_b_bf16,
    .row_of = &dti_tile_bf16_avx512bf16,
    .enter = enter,
    .leave = leave,
    .shapes = {{2 * ROWS, bf16_32}, {ROWS, bf16_16}, {4, bf16_16}, {1, bf16_16}},
};

const struct dti_matmul_tile dti_tile_i8_amx = {
    .element = 1,
    .group = 4,
    .step = STEP_BYTES,
    .together = ROWS,
    .take = take_sums,
    .give = give,
    .pack_a = pack_a_i8,
    .pack_b = pack_b_i8,
    .row_of = &dti_tile_i8_avx512vbmi,
    .enter = enter,
    .leave = leave,
    .shapes = {{2 * ROWS, i8_32}, {ROWS, i8_16}, {4, i8_16}, {1, i8_16}},
};
