/* SPDX-License-Identifier: MIT
 *
 * The verdict on every kind of safetensors header, and its message. */
#include "safetensors_verdict.h"

static void check_verdict(const char *header, size_t length, uint64_t data_bytes, const char *want,
                          int line)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found;
    unit_check_str(verdict(&pool, header, length, data_bytes, NULL, &found), want, header, __FILE__,
                   line);
    dti_pool_free(&pool);
}

#define VERDICT(header, data_bytes, want) \
    check_verdict(header, sizeof header - 1, data_bytes, want, __LINE__)
/* One tensor 'a' with these members, and 8 bytes of data. */
#define TENSOR(members, want) VERDICT("{\"a\":{" members "}}", 8, want)
#define JSON_AT(place, what)  "the header is not JSON: " what " at byte " #place

static void takes_what_the_reference_takes(void)
{
    VERDICT("{}", 0, "");
    VERDICT("{}      ", 0, "");
    VERDICT("{} \t\r\n", 0, "");
    VERDICT(" \r\n\t{}", 0, "");
    VERDICT("{\"__metadata__\":{}}", 0, "");
    VERDICT("{\"__metadata__\":null}", 0, "");
    VERDICT("{\"__metadata__\":{\"format\":\"pt\",\"\":\"\"}}", 0, "");
    TENSOR("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]", "");
    TENSOR("\"data_offsets\":[0,8],\"shape\":[2,1,1],\"dtype\":\"F32\"", "");
    TENSOR("\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]", "");
    TENSOR("\"\\u0064type\":\"F\\u0033\\u0032\",\"shape\":[2],\"data_offsets\":[0,8]", "");
    TENSOR("\"dtype\":\"F4\",\"shape\":[16],\"data_offsets\":[0,8]", "");
    TENSOR("\"x\":{\"dtype\":0},\"x\":[1e307,-0],\"dtype\":\"I64\",\"shape\":[1],"
           "\"data_offsets\":[0,8]",
           "");
    VERDICT("{\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
            "\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[0,9],\"data_offsets\":[0,0]},"
            "\"a\\u0000c\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
            1, "");
    /* products are accumulated in order: 0 times anything is 0 */
    VERDICT("{\"a\":{\"dtype\":\"U8\",\"shape\":[0,18446744073709551615,18446744073709551615],"
            "\"data_offsets\":[0,0]}}",
            0, "");
}

static void refuses_what_is_no_json(void)
{
    VERDICT("", 0, JSON_AT(8, "the text ends where a value is expected"));
    VERDICT("{", 0, JSON_AT(9, "the text ends within an object"));
    VERDICT("{}{}", 0, JSON_AT(10, "unexpected text after the value"));
    VERDICT("{}\0", 0, JSON_AT(10, "unexpected text after the value"));
    VERDICT("\xEF\xBB\xBF{}", 0, JSON_AT(8, "a value is missing"));
    VERDICT("{\"a\xFF\":1}", 0, JSON_AT(11, "not UTF-8"));
    VERDICT("{\"a\xED\xA0\x80\":1}", 0, JSON_AT(11, "not UTF-8"));
    VERDICT("{\"a\n\":1}", 0, JSON_AT(11, "a control character in a string is not escaped"));
    VERDICT("{\"\\ud800\":1}", 0, JSON_AT(10, "an unpaired surrogate"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[2,],\"data_offsets\":[0,8]",
           JSON_AT(39, "a value is missing"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[02],\"data_offsets\":[0,8]",
           JSON_AT(37, "a number has a leading zero"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[2.],\"data_offsets\":[0,8]",
           JSON_AT(39, "a digit is missing"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[NaN],\"data_offsets\":[0,8]",
           JSON_AT(37, "a value is missing"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],",
           JSON_AT(61, "the name of a member is missing"));
    TENSOR("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1.",
           JSON_AT(67, "a digit is missing"));
}

static void refuses_a_wrong_shape_of_the_json(void)
{
    VERDICT("[]", 0, "the header is not a JSON object");
    VERDICT("null", 0, "the header is not a JSON object");
    VERDICT("{\"a\":1}", 0, "tensor 'a': it must be an object");
    VERDICT("{\"a\":null}", 0, "tensor 'a': it must be an object");
    VERDICT("{\"a\":[\"F32\",[2],[0,8]]}", 8, "tensor 'a': it must be an object");
    VERDICT("{\"a\":{}}", 0, "tensor 'a': dtype is missing");
    VERDICT("{\"__metadata__\":[]}", 0, "__metadata__ must be an object of strings");
    VERDICT("{\"__metadata__\":{\"n\":1}}", 0,
            "metadata 'n' is not a string; safetensors allows only strings");
    VERDICT("{\"__metadata__\":{\"n\":null}}", 0,
            "metadata 'n' is not a string; safetensors allows only strings");
    VERDICT("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "the header has __metadata__ twice");
    VERDICT("{\"__metadata__\":null,\"\\u005f_metadata__\":{}}", 0,
            "the header has __metadata__ twice");
}

static void refuses_wrong_members_of_a_tensor(void)
{
#define WHAT(what) "tensor 'a': " what
    TENSOR("\"dtype\":\"F32\",\"shape\":[2]", WHAT("data_offsets is missing"));
    TENSOR("\"dtype\":\"F32\",\"data_offsets\":[0,8]", WHAT("shape is missing"));
    TENSOR("\"dtype\":\"F32\",\"dtype\":\"F32\"", WHAT("it has dtype twice"));
    TENSOR("\"shape\":[2],\"\\u0073hape\":[2]", WHAT("it has shape twice"));
    TENSOR("\"data_offsets\":[0,8],\"data_offsets\":[0,8]", WHAT("it has data_offsets twice"));
    TENSOR("\"dtype\":null", WHAT("its dtype is not a string"));
    TENSOR("\"dtype\":{\"F32\":null}", WHAT("its dtype is not a string"));
    TENSOR("\"dtype\":\"f32\"", WHAT("unknown dtype 'f32'"));
    TENSOR("\"dtype\":\"F32 \"", WHAT("unknown dtype 'F32 '"));
    TENSOR("\"dtype\":\"float32\"", WHAT("unknown dtype 'float32'"));
    TENSOR("\"dtype\":\"\x1b[2J\"", JSON_AT(23, "a control character in a string is not escaped"));
    TENSOR("\"shape\":2", WHAT("its shape is not an array"));
    TENSOR("\"shape\":[\"2\"]", WHAT("shape must hold non-negative integers, not '2'"));
    TENSOR("\"shape\":[2.0]", WHAT("shape must hold non-negative integers, not '2.0'"));
    TENSOR("\"shape\":[1e2]", WHAT("shape must hold non-negative integers, not '1e2'"));
    TENSOR("\"shape\":[-0]", WHAT("shape must hold non-negative integers, not '-0'"));
    TENSOR("\"shape\":[-2]", WHAT("shape must hold non-negative integers, not '-2'"));
    TENSOR("\"shape\":[18446744073709551616]",
           WHAT("shape must hold non-negative integers, not '18446744073709551616'"));
    TENSOR("\"shape\":[[2]]", WHAT("shape must hold non-negative integers, not '['"));
    TENSOR("\"data_offsets\":8", WHAT("its data_offsets are not an array"));
    TENSOR("\"data_offsets\":[]", WHAT("data_offsets must be two numbers"));
    TENSOR("\"data_offsets\":[0]", WHAT("data_offsets must be two numbers"));
    TENSOR("\"data_offsets\":[0,8,8]", WHAT("data_offsets must be two numbers"));
    TENSOR("\"data_offsets\":[0,8.0]",
           WHAT("data_offsets must hold non-negative integers, not '8.0'"));
    VERDICT("{\"a\":{\"x\":1e308}}", 0,
            "the header holds the number '1e308', which is out of range");
    VERDICT("{\"a\":{\"x\":[{\"y\":-1e400}]}}", 0,
            "the header holds the number '-1e400', which is out of range");
    VERDICT("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
            8, "tensor 'a' occurs twice");
    VERDICT("{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, "metadata 'k' occurs twice");
#undef WHAT
}

static void refuses_ranges_that_do_not_fit(void)
{
    TENSOR("\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,4]",
           "tensor 'a': data_offsets [0, 4] hold 4 bytes but I32[2,2] needs 16");
    TENSOR("\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,1]",
           "tensor 'a': data_offsets [0, 1] hold 1 byte but U8[0] needs 0");
    TENSOR("\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,9],\"data_offsets\":[0,8]",
           "tensor 'a': data_offsets [0, 8] hold 8 bytes but U8[1,1,1,1,1,1,1,1,...] needs 9");
    TENSOR("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]",
           "tensor 'a': data_offsets [4, 8] leave a hole; they should begin at 0");
    TENSOR("\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[8,0]",
           "tensor 'a': data_offsets [8, 0] leave a hole; they should begin at 0");
    VERDICT("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,2]}}",
            8, "tensor 'b': data_offsets [4, 2] end before they begin");
    VERDICT("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
            8, "tensor 'b': data_offsets [2, 6] overlap tensor 'a', which ends at 4");
    VERDICT("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
            4, "tensor 'b': data_offsets [0, 4] overlap tensor 'a', which ends at 4");
    VERDICT("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[5,8]}}",
            8, "tensor 'b': data_offsets [5, 8] leave a hole; they should begin at 4");
    TENSOR("\"dtype\":\"F4\",\"shape\":[3,5],\"data_offsets\":[0,8]",
           "tensor 'a': F4[3,5] takes 60 bits, which is not a whole number of bytes");
    TENSOR("\"dtype\":\"F6_E2M3\",\"shape\":[3],\"data_offsets\":[0,8]",
           "tensor 'a': F6_E2M3[3] takes 18 bits, which is not a whole number of bytes");
}

static void products_do_not_wrap(void)
{
#define TOO_MANY(shape)                                                     \
    TENSOR("\"dtype\":\"U8\",\"shape\":[" shape "],\"data_offsets\":[0,8]", \
           "tensor 'a': U8[" shape "] is too large: its size in bits exceeds 64 bits")
    TOO_MANY("2,18446744073709551614");
    TOO_MANY("2,9223372036854775807");
    TOO_MANY("18446744073709551615");
    TOO_MANY("4294967296,4294967296");
    TOO_MANY("2305843009213693952,8");
    TOO_MANY("18446744073709551615,18446744073709551615,0");
#undef TOO_MANY
    TENSOR("\"dtype\":\"U8\",\"shape\":[2305843009213693951],"
           "\"data_offsets\":[0,2305843009213693951]",
           "truncated: the header needs 2305843009213694048 bytes, the file has 105");
    TENSOR("\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]",
           "tensor 'a': F64[2305843009213693952] is too large: its size in bits exceeds 64 bits");
}

static void the_data_ends_with_the_file(void)
{
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    VERDICT(header, 7, "truncated: the header needs 70 bytes, the file has 69");
    VERDICT(header, 0, "truncated: the header needs 70 bytes, the file has 62");
    VERDICT(header, 9, "the tensors end at byte 70, the file has 71");

    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found = {.tensor_count = 0};
    const struct dti_container_options lenient = {.lenient = true};
    CHECK_STR(verdict(&pool, header, sizeof header - 1, 10, &lenient, &found), "");
    if (CHECK_SIZE(found.note_count, 1)) {
        CHECK_STR(found.notes[0].code, "trailing_bytes");
        CHECK_STR(found.notes[0].text, "2 bytes after the data are ignored");
    }
    CHECK_STR(verdict(&pool, header, sizeof header - 1, 7, &lenient, &found),
              "truncated: the header needs 70 bytes, the file has 69");
    dti_pool_free(&pool);
}

static void blanks_before_the_header_are_noted(void)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found = {.tensor_count = 0};
    CHECK_STR(verdict(&pool, "{} ", 3, 0, NULL, &found), "");
    CHECK_SIZE(found.note_count, 0);
    CHECK_STR(verdict(&pool, " {}", 3, 0, NULL, &found), "");
    if (CHECK_SIZE(found.note_count, 1))
        CHECK_STR(found.notes[0].code, "leading_space");
    dti_pool_free(&pool);
}

static void check_length(const void *first, size_t size, uint64_t file_size, const char *want)
{
    struct dti_error error = {.status = DTI_OK};
    uint64_t length = 42;
    struct dti_opening opening = {.label = "'m'", .error = &error};
    const bool good = dti_safetensors_header_length(&opening, first, size, file_size, &length);
    CHECK_STR(error.text, want);
    CHECK_I64(opening.status, want[0] == '\0' ? DTI_OK : DTI_BAD_INPUT);
    CHECK(good == (want[0] == '\0') && (good || length == 42));
}

static void the_length_of_the_header_is_checked_before_anything(void)
{
    check_length("", 0, 0,
                 "'m': truncated: a safetensors file begins with 8 bytes that give the length of "
                 "its header, but this one has 0");
    check_length("1234567", 7, 7,
                 "'m': truncated: a safetensors file begins with 8 bytes that give the length of "
                 "its header, but this one has 7");
    check_length("\0\0\0\0\0\0\0", 8, 8, "");
    check_length("\2\0\0\0\0\0\0", 8, 10, "");
    check_length("\2\0\0\0\0\0\0", 8, 9,
                 "'m': truncated: the header needs 10 bytes, the file has 9");
    check_length("\0\xe1\xf5\x05\0\0\0", 8, 8, /* 100,000,000 */
                 "'m': truncated: the header needs 100000008 bytes, the file has 8");
    check_length("\0\xe1\xf5\x05\0\0\0", 8, 100000008, "");
    check_length("\1\xe1\xf5\x05\0\0\0", 8, UINT64_MAX,
                 "'m': its first 8 bytes announce a header of 100000001 bytes; safetensors allows "
                 "100000000");
    check_length("\xff\xff\xff\xff\xff\xff\xff\xff", 8, 100,
                 "'m': its first 8 bytes announce a header of 18446744073709551615 bytes; "
                 "safetensors allows 100000000");
    check_length("\xf8\xff\xff\xff\xff\xff\xff\xff", 8, 100,
                 "'m': its first 8 bytes announce a header of 18446744073709551608 bytes; "
                 "safetensors allows 100000000");
}

UNIT_MAIN(takes_what_the_reference_takes, refuses_what_is_no_json,
          refuses_a_wrong_shape_of_the_json, refuses_wrong_members_of_a_tensor,
          refuses_ranges_that_do_not_fit, products_do_not_wrap, the_data_ends_with_the_file,
          blanks_before_the_header_are_noted, the_length_of_the_header_is_checked_before_anything)
