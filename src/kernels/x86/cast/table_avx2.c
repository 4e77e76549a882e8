/* SPDX-License-Identifier: MIT
 *
 * Casts from 8-bit codes by table with AVX2. VPSHUFB looks up a 4-bit index in 16 bytes; a table
 * of 256 takes 16 lookups, from which the upper bits select, pair by pair. Wider results use one
 * table, a plane, per byte. Most planes need fewer lookups:
 *
 *   constant   all entries are equal, mostly zero: no lookup
 *   nibble     the source has at most 4 bits: one VPSHUFB
 *   quarter    the source has at most 6 bits: 4
 *   half       the upper 128 entries differ from the lower ones in the same bits, mostly the sign,
 *              with one exception, mostly a NaN at the code of -0: 8
 *   sign       the same, and the lower 128 are all equal: a comparison
 *   rows       16 rows of 16 entries, which are one row, each with some bits changed; only the
 * first row and the last, of subnormals and of NaNs, may be others, for both signs: 4 whole      16
 *
 * Gather instructions would take eight times as long. Most 8-bit floats convert to fp32 faster
 * through fp16, whose conversion handles subnormals at full speed. 8-bit integers convert through
 * fp32. */
#include "kernels/cast/table_integers.h"
#include "kernels/kernels.h"
#include "kernels/x86/vector.h"

enum plane_kind {
    PLANE_CONSTANT,
    PLANE_NIBBLE,
    PLANE_SIGN,
    PLANE_QUARTER,
    PLANE_ROWS,
    PLANE_HALF,
    PLANE_WHOLE
};

struct plane_avx2 {
    enum plane_kind kind;
    const unsigned char *table;     /* 256 entries */
    __m256i first;                  /* the entry of code 0 */
    __m256i upper;                  /* half, sign: the bits in which the upper entries differ */
    __m256i exception, exceptional; /* half: the code of the exception, and its entry */
    __m256i changes;                /* rows: the bits in which each row differs from its model */
};

/* The row that row number `row` is like, and that describes it if all of its entries differ from
 * those of its model in the same bits. */
static unsigned row_model(unsigned row)
{
    return row % 8 == 0 ? 0 : row % 8 == 7 ? 7 : 1;
}

static bool rows_init(struct plane_avx2 *p)
{
    unsigned char changes[16];
    unsigned same = 0xffff;
    for (unsigned row = 0; row < 16; row++) {
        const unsigned char *const model = p->table + 16 * row_model(row);
        changes[row] = p->table[16 * row] ^ model[0];
        const __m128i wanted = _mm_xor_si128(load128(model), _mm_set1_epi8((char)changes[row]));
        const __m128i equal = _mm_cmpeq_epi8(load128(p->table + 16 * row), wanted);
        same &= (unsigned)_mm_movemask_epi8(equal);
    }
    p->changes = _mm256_broadcastsi128_si256(load128(changes));
    return same == 0xffff;
}

static struct plane_avx2 plane_init(const unsigned char *table, unsigned width)
{
    struct plane_avx2 p = {.kind = PLANE_WHOLE, .table = table};
    unsigned lower_differs = 0, exceptions = 0, exception = 128;
    p.first = _mm256_set1_epi8((char)table[0]);
    p.upper = _mm256_set1_epi8((char)(table[1] ^ table[129]));
    for (unsigned i = 0; i < 128; i += 32) {
        const __m256i low = load256(table + i), high = load256(table + 128 + i);
        const __m256i as_wanted = _mm256_cmpeq_epi8(_mm256_xor_si256(low, high), p.upper);
        const unsigned other = ~(unsigned)_mm256_movemask_epi8(as_wanted);
        lower_differs |= ~(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, p.first));
        if (other != 0) {
            exceptions += (other & (other - 1)) == 0 ? 1 : 2; /* only whether there is more than one
                                                               * matters */
            exception = 128 + i + (unsigned)__builtin_ctz(other);
        }
    }
    p.exception = _mm256_set1_epi8((char)(unsigned char)exception);
    p.exceptional = _mm256_set1_epi8((char)table[exception]);
    if (lower_differs == 0 && exceptions == 0)
        p.kind = table[0] == table[128] ? PLANE_CONSTANT : PLANE_SIGN;
    else if (width <= 4)
        p.kind = PLANE_NIBBLE;
    else if (width <= 6)
        p.kind = PLANE_QUARTER;
    else if (rows_init(&p))
        p.kind = PLANE_ROWS;
    else if (exceptions <= 1)
        p.kind = PLANE_HALF;
    return p;
}

DTI_INLINE __m256i look_up_16(const unsigned char *table, __m256i low)
{
    const __m128i answers = load128(table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(answers), low);
}

/* 64 entries, selected by the low 4 bits, and by bits 4 and 5 moved to the top of each byte. */
DTI_INLINE __m256i look_up_64(const unsigned char *table, __m256i low, __m256i bit4, __m256i bit5)
{
    const __m256i first =
        _mm256_blendv_epi8(look_up_16(table, low), look_up_16(table + 16, low), bit4);
    const __m256i second =
        _mm256_blendv_epi8(look_up_16(table + 32, low), look_up_16(table + 48, low), bit4);
    return _mm256_blendv_epi8(first, second, bit5);
}

DTI_INLINE __m256i look_up_128(const unsigned char *table, __m256i index, __m256i low)
{
    const __m256i bit4 = _mm256_slli_epi16(index, 3), bit5 = _mm256_slli_epi16(index, 2);
    const __m256i bit6 = _mm256_slli_epi16(index, 1);
    return _mm256_blendv_epi8(look_up_64(table, low, bit4, bit5),
                              look_up_64(table + 64, low, bit4, bit5), bit6);
}

DTI_INLINE __m256i look_up_rows(const struct plane_avx2 *p, __m256i index, __m256i low)
{
    const __m256i last = _mm256_set1_epi8(0x70), row = _mm256_and_si256(index, last);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(index, 4), _mm256_set1_epi8(15));
    __m256i answer = look_up_16(p->table + 16, low);
    answer = _mm256_blendv_epi8(answer, look_up_16(p->table, low),
                                _mm256_cmpeq_epi8(row, _mm256_setzero_si256()));
    answer =
        _mm256_blendv_epi8(answer, look_up_16(p->table + 112, low), _mm256_cmpeq_epi8(row, last));
    return _mm256_xor_si256(answer, _mm256_shuffle_epi8(p->changes, high));
}

DTI_INLINE __m256i look_up(const struct plane_avx2 *p, __m256i index)
{
    const __m256i low = _mm256_and_si256(index, _mm256_set1_epi8(15));
    const __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), index);
    __m256i answer;
    switch (p->kind) {
    case PLANE_CONSTANT:
        break;
    case PLANE_NIBBLE:
        return look_up_16(p->table, low);
    case PLANE_SIGN:
        return _mm256_xor_si256(p->first, _mm256_and_si256(negative, p->upper));
    case PLANE_QUARTER:
        return look_up_64(p->table, low, _mm256_slli_epi16(index, 3), _mm256_slli_epi16(index, 2));
    case PLANE_ROWS:
        return look_up_rows(p, index, low);
    case PLANE_HALF:
        answer = look_up_128(p->table, index, low);
        answer = _mm256_xor_si256(answer, _mm256_and_si256(negative, p->upper));
        return _mm256_blendv_epi8(answer, p->exceptional, _mm256_cmpeq_epi8(index, p->exception));
    case PLANE_WHOLE:
        return _mm256_blendv_epi8(look_up_128(p->table, index, low),
                                  look_up_128(p->table + 128, index, low), index);
    }
    return p->first;
}

DTI_INLINE void bytes_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    const struct plane_avx2 *plane = constants;
    for (size_t i = 0; i < 64; i += 32)
        store256(dst + i, look_up(&plane[0], load256(src + i)), stream);
}

/* The same as the next one for planes of rows, whose steps are then shared. */
DTI_INLINE void rows_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    const struct plane_avx2 *plane = constants;
    for (size_t i = 0; i < 64; i += 32) {
        const __m256i index = _mm256_permute4x64_epi64(load256(src + i), 0xd8);
        const __m256i nibble = _mm256_and_si256(index, _mm256_set1_epi8(15));
        const __m256i low = look_up_rows(&plane[0], index, nibble);
        const __m256i high = look_up_rows(&plane[1], index, nibble);
        store256(dst + 2 * i, _mm256_unpacklo_epi8(low, high), stream);
        store256(dst + 2 * i + 32, _mm256_unpackhi_epi8(low, high), stream);
    }
}

/* Permutes the codes first, so that interleaving bytes, which works within 128-bit lanes, gives
 * the results in order. */
DTI_INLINE void halves_block(const void *constants, unsigned char *dst, const unsigned char *src,
                             bool stream)
{
    const struct plane_avx2 *plane = constants;
    for (size_t i = 0; i < 64; i += 32) {
        const __m256i index = _mm256_permute4x64_epi64(load256(src + i), 0xd8);
        const __m256i low = look_up(&plane[0], index), high = look_up(&plane[1], index);
        store256(dst + 2 * i, _mm256_unpacklo_epi8(low, high), stream);
        store256(dst + 2 * i + 32, _mm256_unpackhi_epi8(low, high), stream);
    }
}

DTI_INLINE void words_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    const struct plane_avx2 *plane = constants;
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for (size_t i = 0; i < 64; i += 32) {
        const __m256i index = _mm256_permutevar8x32_epi32(load256(src + i), order);
        const __m256i b0 = look_up(&plane[0], index), b1 = look_up(&plane[1], index);
        const __m256i b2 = look_up(&plane[2], index), b3 = look_up(&plane[3], index);
        const __m256i low0 = _mm256_unpacklo_epi8(b0, b1), low1 = _mm256_unpackhi_epi8(b0, b1);
        const __m256i high0 = _mm256_unpacklo_epi8(b2, b3), high1 = _mm256_unpackhi_epi8(b2, b3);
        store256(dst + 4 * i, _mm256_unpacklo_epi16(low0, high0), stream);
        store256(dst + 4 * i + 32, _mm256_unpackhi_epi16(low0, high0), stream);
        store256(dst + 4 * i + 64, _mm256_unpacklo_epi16(low1, high1), stream);
        store256(dst + 4 * i + 96, _mm256_unpackhi_epi16(low1, high1), stream);
    }
}

DTI_INLINE vector fp32_of_int8(const unsigned char *src)
{
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)src);
    return (vector)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes));
}

DTI_INLINE vector fp32_of_uint8(const unsigned char *src)
{
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)src);
    return (vector)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
}

VECTOR_BLOCK(int8_block, 64, 1, 4, fp32_of_int8)
VECTOR_BLOCK(uint8_block, 64, 1, 4, fp32_of_uint8)

/* Sixteen integers as fp32; mask: the bits that they have after their sign was extended. */
struct numbers {
    __m256 low, high;
};

DTI_INLINE struct numbers numbers_of(const __m256i *mask, const unsigned char *src)
{
    const __m128i codes = load128(src);
    const __m256i low = _mm256_cvtepi8_epi32(codes);
    const __m256i high = _mm256_cvtepi8_epi32(_mm_srli_si128(codes, 8));
    return (struct numbers){_mm256_cvtepi32_ps(_mm256_and_si256(low, *mask)),
                            _mm256_cvtepi32_ps(_mm256_and_si256(high, *mask))};
}

DTI_INLINE void integer_to_fp16(const void *constants, unsigned char *dst, const unsigned char *src,
                                bool stream)
{
    for (size_t i = 0; i < 64; i += 16) {
        const struct numbers x = numbers_of(constants, src + i);
        const __m128i low = _mm256_cvtps_ph(x.low, _MM_FROUND_TO_NEAREST_INT);
        const __m128i high = _mm256_cvtps_ph(x.high, _MM_FROUND_TO_NEAREST_INT);
        store256(dst + 2 * i, join128(low, high), stream);
    }
}

DTI_INLINE void integer_to_bf16(const void *constants, unsigned char *dst, const unsigned char *src,
                                bool stream)
{
    for (size_t i = 0; i < 64; i += 16) {
        const struct numbers x = numbers_of(constants, src + i);
        const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(x.low), 16);
        const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(x.high), 16);
        const __m256i packed = _mm256_packus_epi32(low, high);
        store256(dst + 2 * i, _mm256_permute4x64_epi64(packed, 0xd8), stream);
    }
}

/* 8-bit floats with at most 5 exponent bits, to fp32:
 *
 *   code                     seeeemmm
 *   fp16 with another bias  s0eeeemmm0000000     sign extension leaves the sign in place
 *   fp32                    times 2^(15 - bias), exact */
struct fp8_decode {
    __m128i shift;
    __m256i mask;                 /* sign and magnitude bits of the fp16 */
    __m256i ignored, nan, change; /* if bits | ignored == nan, ^ change makes it an fp16 NaN */
    __m256 scale;
};

DTI_INLINE void fp8_block(const void *constants, unsigned char *dst, const unsigned char *src,
                          bool stream)
{
    const struct fp8_decode *c = constants;
    for (size_t i = 0; i < 64; i += 16) {
        const __m256i wide = _mm256_sll_epi16(_mm256_cvtepi8_epi16(load128(src + i)), c->shift);
        const __m256i bits = _mm256_and_si256(wide, c->mask);
        const __m256i nan = _mm256_cmpeq_epi16(_mm256_or_si256(bits, c->ignored), c->nan);
        const __m256i fp16 = _mm256_xor_si256(bits, _mm256_and_si256(nan, c->change));
        const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(fp16));
        const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(fp16, 1));
        store256(dst + 4 * i, _mm256_castps_si256(_mm256_mul_ps(low, c->scale)), stream);
        store256(dst + 4 * i + 32, _mm256_castps_si256(_mm256_mul_ps(high, c->scale)), stream);
    }
}

/* Whether fp8_block() gives the same results as the table. Finite numbers do; infinity and NaN
 * depend on the policy. */
static bool fp8_init(struct fp8_decode *ret, const struct dti_code_table *table)
{
    const struct dti_format *f = &table->src.format;
    const uint32_t quiet = UINT32_C(0x7fc00000), inf = UINT32_C(0x7f800000);
    const uint32_t sign = UINT32_C(0x80000000);
    if (f->kind != DTI_KIND_FLOAT || f->width != 8 || f->man_bits < 2 || f->bias < 0 ||
        f->bias > 60)
        return false;
    const unsigned shift = 10u - f->man_bits;
    unsigned nan = 0xffff, ignored = 0, change = 0; /* fp16 NaNs stay unchanged */
    switch (f->specials) {
    case DTI_SPECIALS_IEEE:
        if (f->exp_bits != 5 || table->word[0x7c] != inf || table->word[0xfc] != (sign | inf) ||
            table->word[0x7d] != (quiet | 1u << 21) || table->word[0xfe] != (sign | quiet))
            return false;
        break;
    case DTI_SPECIALS_FN:
        if (f->exp_bits > 4 || table->word[0x7f] != quiet || table->word[0xff] != (sign | quiet))
            return false;
        ignored = 0x8000;
        nan = 0x8000 | 0x7fu << shift;
        change = 0x7fu << shift ^ 0x7e00;
        break;
    case DTI_SPECIALS_FNUZ:
        if (f->exp_bits > 4 || table->word[0x80] != quiet)
            return false;
        nan = 0x8000;
        change = 0x8000 ^ 0x7e00;
        break;
    default:
        return false;
    }
    const uint32_t scale = (uint32_t)(127 + 15 - f->bias) << 23;
    ret->shift = _mm_cvtsi32_si128((int)shift);
    ret->mask = _mm256_set1_epi16((short)(0x8000u | 0x7fu << shift));
    ret->ignored = _mm256_set1_epi16((short)ignored);
    ret->nan = _mm256_set1_epi16((short)nan);
    ret->change = _mm256_set1_epi16((short)change);
    ret->scale = _mm256_castsi256_ps(_mm256_set1_epi32((int)scale));
    return true;
}

/* 8-bit integers to fp32, fp16 or bf16; otherwise false. */
static bool from_integer(const struct dti_kernel_args *args, void *dst, const void *src, size_t n)
{
    const enum dti_table_floats to = dti_table_floats_of(args->table);
    const bool is_signed = args->table->src.format.kind == DTI_KIND_INT;
    const __m256i mask = _mm256_set1_epi32(is_signed ? -1 : 255);
    const struct dti_blocks int8 = {int8_block, 64, 1, 4, false};
    const struct dti_blocks uint8 = {uint8_block, 64, 1, 4, false};
    const struct dti_blocks to_fp16 = {integer_to_fp16, 64, 1, 2, false};
    const struct dti_blocks to_bf16 = {integer_to_bf16, 64, 1, 2, false};
    if (to == DTI_TABLE_FP32 && is_signed)
        dti_blocks_run(int8, NULL, dst, src, n, args->stream);
    else if (to == DTI_TABLE_FP32)
        dti_blocks_run(uint8, NULL, dst, src, n, args->stream);
    else if (to == DTI_TABLE_FP16)
        dti_blocks_run(to_fp16, &mask, dst, src, n, args->stream);
    else if (to == DTI_TABLE_BF16)
        dti_blocks_run(to_bf16, &mask, dst, src, n, args->stream);
    return to != DTI_TABLE_OTHER;
}

void dti_table_avx2(const struct dti_kernel_args *args, void *restrict dst,
                    const void *restrict src, size_t n)
{
    const struct dti_code_table *table = args->table;
    struct plane_avx2 planes[4];
    const struct dti_blocks bytes = {bytes_block, 64, 1, 1, true};
    const struct dti_blocks halves = {halves_block, 64, 1, 2, true};
    const struct dti_blocks rows = {rows_block, 64, 1, 2, true};
    const struct dti_blocks words = {words_block, 64, 1, 4, true};
    const struct dti_blocks floats = {fp8_block, 64, 1, 4, false};
    struct fp8_decode fp8;
    if (from_integer(args, dst, src, n))
        return;
    if (dti_table_is_ieee(&table->dst, 8, 23) && fp8_init(&fp8, table)) {
        dti_blocks_run(floats, &fp8, dst, src, n, args->stream);
        return;
    }
    for (unsigned i = 0; i < table->container; i++)
        planes[i] = plane_init(table->plane[i], table->src.format.width);
    if (table->container == 1)
        dti_blocks_run(bytes, planes, dst, src, n, args->stream);
    else if (table->container == 2 && rows_init(&planes[0]) && rows_init(&planes[1]))
        dti_blocks_run(rows, planes, dst, src, n, args->stream);
    else if (table->container == 2)
        dti_blocks_run(halves, planes, dst, src, n, args->stream);
    else
        dti_blocks_run(words, planes, dst, src, n, args->stream);
}
