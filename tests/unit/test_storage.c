/* SPDX-License-Identifier: MIT
 *
 * Storage of codes in memory: bytes written out by hand from the descriptions of the file formats.
 */
#include "core/dtype/storage.h"

#include "unit.h"

static const struct dti_layout low = {.packing = DTI_PACKING_LOW};
static const struct dti_layout high = {.packing = DTI_PACKING_HIGH};
static const struct dti_layout apart = {.packing = DTI_PACKING_BYTES};

static struct dti_format format(const char *name)
{
    struct dti_format ret = {.width = 0};
    struct dti_error error = {0};
    const char *note;
    CHECK(dti_format_lookup(name, &ret, &note, &error) == DTI_OK);
    return ret;
}

static void check_bytes(const char *name, const struct dti_layout *layout, const uint64_t *codes,
                        size_t n, const unsigned char *bytes, size_t size)
{
    const struct dti_format f = format(name);
    unsigned char array[64] = {0};
    uint64_t needed = 0;
    CHECK(dti_format_bytes(&f, layout, n, &needed));
    CHECK_U64(needed, size);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(&f, layout, array, i, codes[i]);
    CHECK(memcmp(array, bytes, size) == 0);
    for (size_t i = 0; i < n; i++)
        CHECK_U64(dti_storage_get(&f, layout, bytes, i), codes[i]);
}

static void containers_are_the_next_machine_size(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } rows[] = {{"int1", 1},  {"fp4_e2m1", 1}, {"fp6_e3m2", 1}, {"fp8_e8m0", 1}, {"e4m4", 2},
                {"bf16", 2},  {"e8m9", 4},     {"tf32", 4},     {"fp32", 4},     {"e8m24", 8},
                {"fp64", 8},  {"bool", 1},     {"uint64", 8},   {"int7", 1},     {"int12", 2},
                {"int24", 4}, {"uint48", 8},   {"fp8_ue4m3", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dti_format f = format(rows[i].name);
        CHECK_SIZE(dti_format_container(&f), rows[i].bytes);
    }
}

static void four_bits_low_first_as_onnx_packs_them(void)
{
    const uint64_t codes[] = {0x1, 0xa, 0xf, 0x0, 0x7};
    const unsigned char bytes[] = {0xa1, 0x0f, 0x07};
    check_bytes("fp4_e2m1", &low, codes, 5, bytes, sizeof bytes);
}

static void four_bits_high_first_as_bitsandbytes_packs_them(void)
{
    const uint64_t codes[] = {0x1, 0xa, 0xf, 0x0, 0x7};
    const unsigned char bytes[] = {0x1a, 0xf0, 0x70};
    check_bytes("fp4_e2m1", &high, codes, 5, bytes, sizeof bytes);
}

static void one_a_byte_when_not_packed(void)
{
    const uint64_t codes[] = {0x1, 0xa, 0xf};
    const unsigned char bytes[] = {0x01, 0x0a, 0x0f};
    check_bytes("fp4_e2m1", &apart, codes, 3, bytes, sizeof bytes);
}

/* 000001 100000 111111 010101: packed from the low end, or from the high end. */
static void six_bits_cross_bytes(void)
{
    const uint64_t codes[] = {0x01, 0x20, 0x3f, 0x15};
    const unsigned char low_bytes[] = {0x01, 0xf8, 0x57}, high_bytes[] = {0x06, 0x0f, 0xd5};
    check_bytes("fp6_e3m2", &low, codes, 4, low_bytes, 3);
    check_bytes("fp6_e3m2", &high, codes, 4, high_bytes, 3);
}

static void one_and_two_bits(void)
{
    const uint64_t ones[] = {1, 0, 0, 0, 0, 0, 0, 1, 1}, twos[] = {1, 2, 3, 0, 2};
    check_bytes("uint1", &low, ones, 9, (const unsigned char[]){0x81, 0x01}, 2);
    check_bytes("uint1", &high, ones, 9, (const unsigned char[]){0x81, 0x80}, 2);
    check_bytes("uint2", &low, twos, 5, (const unsigned char[]){0x39, 0x02}, 2);
    check_bytes("uint2", &high, twos, 5, (const unsigned char[]){0x6c, 0x80}, 2);
}

/* 001 110 101 111 010: packed from the low end, or from the high end. */
static void three_bits_cross_bytes(void)
{
    const uint64_t codes[] = {1, 6, 5, 7, 2};
    check_bytes("int3", &low, codes, 5, (const unsigned char[]){0x71, 0x2f}, 2);
    check_bytes("uint3", &high, codes, 5, (const unsigned char[]){0x3a, 0xf4}, 2);
}

/* In the low bits of two bytes with zeros above, for negative numbers, too. */
static void twelve_bits_have_two_bytes(void)
{
    const uint64_t codes[] = {0x001, 0xfff};
    const uint16_t words[] = {0x0001, 0x0fff};
    check_bytes("int12", &low, codes, 2, (const unsigned char *)words, 4);
}

/* PTX: seven bits per byte with the highest bit zero, regardless of the packing of other formats.
 */
static void ue4m3_is_a_byte(void)
{
    const uint64_t codes[] = {0x7e, 0x00, 0x7f};
    check_bytes("fp8_ue4m3", &low, codes, 3, (const unsigned char[]){0x7e, 0x00, 0x7f}, 3);
    check_bytes("ue4m3b7", &low, codes, 3, (const unsigned char[]){0x7e, 0xc0, 0x1f}, 3);
    const struct dti_format f = format("fp8_ue4m3");
    const unsigned char bytes[] = {0xb8, 0x38, 0xff};
    CHECK_U64(dti_storage_get(&f, &low, bytes, 0), 0x38);
    CHECK_SIZE(dti_storage_stray(&f, &low, bytes, 3), 2);
}

static void packing_is_nothing_to_wider_formats(void)
{
    const struct dti_format f = format("fp16");
    CHECK_SIZE(dti_format_stored_bits(&f, &high), 16);
    CHECK_SIZE(dti_format_stored_bits(&f, &low), 16);
}

static void containers_have_the_byte_order_of_the_machine_or_the_other(void)
{
    const struct dti_format f = format("fp32");
    const struct dti_layout swapped = {.swapped = true};
    const uint32_t number = UINT32_C(0x3f800001), reversed = UINT32_C(0x0100803f);
    CHECK_U64(dti_storage_get(&f, &low, &number, 0), number);
    CHECK_U64(dti_storage_get(&f, &swapped, &reversed, 0), number);
    uint32_t written = 0;
    dti_storage_put(&f, &swapped, &written, 0, number);
    CHECK_U64(written, reversed);
}

/* The top 19 bits, so that the same 32 bits as fp32 have the same value. */
static void tf32_stands_where_fp32_has_its_bits(void)
{
    const struct dti_format f = format("tf32");
    const uint32_t one = UINT32_C(0x3f800000), noise = UINT32_C(0x3f801fff);
    uint32_t written = 0;
    CHECK_SIZE(dti_format_code_shift(&f), 13);
    CHECK_U64(dti_storage_get(&f, &low, &one, 0), 0x1fc00);
    CHECK_U64(dti_storage_get(&f, &low, &noise, 0), 0x1fc00);
    dti_storage_put(&f, &low, &written, 0, 0x1fc00);
    CHECK_U64(written, one);
}

static void put_leaves_the_neighbours_alone(void)
{
    const struct dti_format f = format("fp6_e3m2");
    unsigned char array[] = {0xff, 0xff, 0xff, 0xff};
    dti_storage_put(&f, &low, array, 1, 0x00);
    CHECK(memcmp(array, (const unsigned char[]){0x3f, 0xf0, 0xff, 0xff}, 4) == 0);
    dti_storage_put(&f, &low, array, 1, 0xffff); /* bits above the width are dropped */
    CHECK(memcmp(array, (const unsigned char[]){0xff, 0xff, 0xff, 0xff}, 4) == 0);
}

static void sizes_that_do_not_fit_are_refused(void)
{
    const struct dti_format fp64 = format("fp64"), fp4 = format("fp4_e2m1"),
                            fp6 = format("fp6_e2m3");
    uint64_t bytes = 7;
    CHECK(!dti_format_bytes(&fp64, &low, UINT64_C(1) << 61, &bytes));
    CHECK_U64(bytes, 7);
    CHECK(dti_format_bytes(&fp64, &low, (UINT64_C(1) << 61) - 1, &bytes));
    CHECK_U64(bytes, UINT64_MAX - 7);
    CHECK(dti_format_bytes(&fp4, &low, UINT64_MAX, &bytes));
    CHECK_U64(bytes, UINT64_C(1) << 63);
    CHECK(dti_format_bytes(&fp6, &low, 5, &bytes));
    CHECK_U64(bytes, 4);
    CHECK(dti_format_bytes(&fp6, &low, 0, &bytes));
    CHECK_U64(bytes, 0);
}

static void counts_beyond_64_bits_are_refused(void)
{
    const struct dti_format int1 = format("int1");
    const uint64_t most = (UINT64_C(1) << 61) - 3; /* bytes, each of which has 8 elements */
    struct dti_error error = {0};
    uint64_t elements = 0;
    unsigned padding = 9;
    CHECK(dti_storage_count(&int1, 1, most, "x.bin", &elements, &padding, &error) == DTI_OK);
    CHECK_U64(elements, UINT64_MAX - 23);
    CHECK_SIZE(padding, 0);
    CHECK(dti_storage_count(&int1, 1, UINT64_MAX, "x.bin", &elements, &padding, &error) ==
          DTI_BAD_INPUT);
    CHECK_STR(error.text, "x.bin: too many elements");
}

static void stray_bits_are_told(void)
{
    const struct dti_format truth = format("bool"), tf32 = format("tf32"), fp4 = format("fp4_e2m1"),
                            fp8 = format("fp8_e5m2");
    const struct dti_layout bytes = {.packing = DTI_PACKING_BYTES, .swapped = false};
    const struct dti_layout swapped = {.packing = DTI_PACKING_LOW, .swapped = true};
    const unsigned char array[] = {0, 1, 2, 0xff, 0x0f, 0x10};
    CHECK_SIZE(dti_storage_stray(&truth, &low, array, 6), 4);
    CHECK_SIZE(dti_storage_stray(&fp4, &bytes, array, 6), 2);
    CHECK_SIZE(dti_storage_stray(&fp4, &low, array, 12), 0);
    CHECK_SIZE(dti_storage_stray(&fp8, &low, array, 6), 0);
    const uint32_t words[] = {UINT32_C(0x7f800001), UINT32_C(0x7f802000), UINT32_C(0x00100000)};
    CHECK_SIZE(dti_storage_stray(&tf32, &low, words, 3), 1);
    CHECK_SIZE(dti_storage_stray(&tf32, &swapped, words, 3), 3);
}

UNIT_MAIN(containers_are_the_next_machine_size, four_bits_low_first_as_onnx_packs_them,
          four_bits_high_first_as_bitsandbytes_packs_them, one_a_byte_when_not_packed,
          six_bits_cross_bytes, one_and_two_bits, three_bits_cross_bytes,
          twelve_bits_have_two_bytes, ue4m3_is_a_byte, packing_is_nothing_to_wider_formats,
          containers_have_the_byte_order_of_the_machine_or_the_other,
          tf32_stands_where_fp32_has_its_bits, put_leaves_the_neighbours_alone,
          sizes_that_do_not_fit_are_refused, counts_beyond_64_bits_are_refused, stray_bits_are_told)
