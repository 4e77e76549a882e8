/* SPDX-License-Identifier: MIT
 *
 * A template for the tiles of a level. Include it once per dtype, after defining:
 *   NAME, HEIGHT      f32_avx512; the rows of the tallest tile, 6, 12 or 14
 *   VECTOR            the type of a register; ELEMENT: bytes of an element of A and B
 *   LOAD(p) STORE(p, v) ADD(v, w)
 *   BROADCAST(p)      a step of a row of A, in all lanes
 *   MULTIPLY(c, a, b) c plus the products of a step
 *   FIRST(v)          lane 0, as a number
 *   PACK_A            the function
 * and optionally, to replace the defaults below:
 *   LEAD BEGIN(p)     bytes of a panel before its first step, and the initial value of a tile; p
 *                     points to these bytes
 *   PACKED            bytes of an element in strips and panels
 *   PACK_B            the function
 *   LOAD_B(p) BROADCAST_A(p)   for a product of one row: as LOAD and BROADCAST, for unpacked
 *                     elements
 *   ROW ROW_COLUMNS ROW_K, if a step has more than one element: a product of one row
 * Defines tiles of two registers per row, dti_tile_NAME and dti_peak_NAME(). */
#ifdef NAME

#ifndef JOIN
#define JOIN_(a, b, c) a##b##_##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#endif

/* elements of C per register: of 8 bytes or of 4 */
#define LANES (sizeof(VECTOR) / (ELEMENT == 8 ? 8 : 4))
#ifndef LEAD
#define LEAD 0
#endif
#ifndef PACKED
#define PACKED ELEMENT
#endif
#ifndef BEGIN
#define BEGIN(p) LOAD(matmul_zeros)
#endif
#ifndef PACK_B
#define PACK_B JOIN(pack_, NAME, b)
static void PACK_B(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 2 * LANES, ELEMENT, 1, ELEMENT,
                       0, NULL);
}
#endif

#if HEIGHT == 14
#define ROWS_ALL(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13)
#elif HEIGHT == 12
#define ROWS_ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#else
#define ROWS_ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#endif

#define ROW_BEGIN(i) VECTOR c##i##a = BEGIN(panel), c##i##b = BEGIN(panel + sizeof(VECTOR));
#define ROW_FETCH(i)                   \
    PREFETCH_TO_WRITE(c + (i)*stride); \
    PREFETCH_TO_WRITE(c + (i)*stride + sizeof(VECTOR));
#define ROW_STEP(i)                                                        \
    {                                                                      \
        const VECTOR x = BROADCAST(strip + (size_t)(i)*DTI_MATMUL_STRIDE); \
        c##i##a = MULTIPLY(c##i##a, x, first);                             \
        c##i##b = MULTIPLY(c##i##b, x, second);                            \
    }
#define ROW_ADD(i)                                \
    c##i##a = ADD(c##i##a, LOAD(c + (i)*stride)); \
    c##i##b = ADD(c##i##b, LOAD(c + (i)*stride + sizeof(VECTOR)));
#define ROW_STORE(i)                \
    STORE(c + (i)*stride, c##i##a); \
    STORE(c + (i)*stride + sizeof(VECTOR), c##i##b);

#define DEFINE_TILE(name, EACH)                                                      \
    static void name(unsigned char *c, size_t stride, const unsigned char *strip,    \
                     const unsigned char *panel, size_t steps, bool add)             \
    {                                                                                \
        EACH(ROW_BEGIN)                                                              \
        EACH(ROW_FETCH)                                                              \
        panel += LEAD;                                                               \
        for (size_t s = 0; s < steps; s++) {                                         \
            const VECTOR first = LOAD(panel), second = LOAD(panel + sizeof(VECTOR)); \
            PREFETCH(panel);                                                         \
            PREFETCH(panel + sizeof(VECTOR));                                        \
            EACH(ROW_STEP)                                                           \
            panel += 2 * sizeof(VECTOR);                                             \
            strip += sizeof(VECTOR) / LANES;                                         \
        }                                                                            \
        if (add) {                                                                   \
            EACH(ROW_ADD)                                                            \
        }                                                                            \
        EACH(ROW_STORE)                                                              \
    }

#ifndef ROWS_8
static const unsigned char matmul_zeros[64] = {0};
#ifdef __aarch64__
#define IN_REGISTER "+w"
#else
#define IN_REGISTER "+v"
#endif
/* hides the value of v from the compiler */
#define KEEP(v)    __asm__ volatile("" : IN_REGISTER(v))
#define ROWS_8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define ROWS_4(DO) DO(0) DO(1) DO(2) DO(3)
#define ROWS_2(DO) DO(0) DO(1)
#define ROWS_1(DO) DO(0)
/* prefetching beyond the end is harmless */
#define PREFETCH(p)          __builtin_prefetch((const void *)((uintptr_t)(p) + 1024), 0, 3)
#define PREFETCH_TO_WRITE(p) __builtin_prefetch((p), 1, 3)
#endif

DEFINE_TILE(JOIN(tile_, NAME, all), ROWS_ALL)
#if HEIGHT > 8
DEFINE_TILE(JOIN(tile_, NAME, 8), ROWS_8)
#else
DEFINE_TILE(JOIN(tile_, NAME, 2), ROWS_2)
#endif
DEFINE_TILE(JOIN(tile_, NAME, 4), ROWS_4)
DEFINE_TILE(JOIN(tile_, NAME, 1), ROWS_1)

#ifndef ROW
#define ROW         JOIN(row_, NAME, one_by_one)
#define ROW_COLUMNS LANES
#define ROW_K       8
#ifndef LOAD_B
#define LOAD_B(p)      LOAD(p)
#define BROADCAST_A(p) BROADCAST(p)
#endif
/* Processes eight rows of B at a time: streams that the hardware prefetcher detects by itself. */
static void ROW(unsigned char *c, const unsigned char *a, const unsigned char *b, size_t stride,
                size_t columns, size_t k)
{
    const size_t step = sizeof(VECTOR) / LANES, end = columns * step;
    memset(c, 0, end);
    for (size_t at = 0; at < k; at += ROW_K, a += ROW_K * ELEMENT, b += ROW_K * stride) {
#define ROW_FACTOR(i)  const VECTOR a##i = BROADCAST_A(a + (i)*ELEMENT);
#define ROW_PRODUCT(i) sum = MULTIPLY(sum, a##i, LOAD_B(b + (i)*stride + j / step * ELEMENT));
        ROWS_8(ROW_FACTOR)
        for (size_t j = 0; j < end; j += sizeof(VECTOR)) {
            VECTOR sum = LOAD(c + j);
            ROWS_8(ROW_PRODUCT)
            STORE(c + j, sum);
        }
    }
}
#endif

const struct dti_matmul_tile JOIN(dti_, tile, NAME) = {
    .element = ELEMENT,
    .group = sizeof(VECTOR) / LANES / PACKED,
    .step = sizeof(VECTOR) / LANES,
    .lead = LEAD,
    .together = 1,
    .pack_a = PACK_A,
    .pack_b = PACK_B,
    .row = ROW,
    .row_columns = ROW_COLUMNS,
    .row_k = ROW_K,
    .shapes = {{HEIGHT, JOIN(tile_, NAME, all)},
#if HEIGHT > 8
               {8, JOIN(tile_, NAME, 8)},
               {4, JOIN(tile_, NAME, 4)},
#else
               {4, JOIN(tile_, NAME, 4)},
               {2, JOIN(tile_, NAME, 2)},
#endif
               {1, JOIN(tile_, NAME, 1)}},
};

#define PEAK_BEGIN(i) VECTOR c##i##a = LOAD(matmul_zeros), c##i##b = LOAD(matmul_zeros);
#define PEAK_STEP(i)                   \
    KEEP(x);                           \
    c##i##a = MULTIPLY(c##i##a, x, y); \
    c##i##b = MULTIPLY(c##i##b, x, z);
#define PEAK_SUM(i) z = ADD(z, ADD(c##i##a, c##i##b));

/* As many sums as a tile has, each depending only on itself. The factors are hidden from the
 * compiler, which would otherwise merge sums with equal factors. */
double JOIN(dti_, peak, NAME)(uint64_t count)
{
    VECTOR x = LOAD(matmul_zeros), y = x, z = x;
    KEEP(y);
    KEEP(z);
    ROWS_ALL(PEAK_BEGIN)
    for (uint64_t done = 0; done < count; done += 2 * HEIGHT) {
        ROWS_ALL(PEAK_STEP)
    }
    ROWS_ALL(PEAK_SUM)
    return FIRST(z);
}

#undef NAME
#undef HEIGHT
#undef VECTOR
#undef LANES
#undef LEAD
#undef LOAD
#undef STORE
#undef ADD
#undef BROADCAST
#undef MULTIPLY
#undef BEGIN
#undef FIRST
#undef ELEMENT
#undef PACKED
#undef PACK_A
#undef PACK_B
#undef LOAD_B
#undef BROADCAST_A
#undef ROW
#undef ROW_COLUMNS
#undef ROW_K
#undef ROW_FACTOR
#undef ROW_PRODUCT
#undef ROWS_ALL

#endif
