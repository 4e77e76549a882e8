/* SPDX-License-Identifier: MIT
 *
 * Numbers for fp64 readers, hexfloats, codes. The fp64 texts are Python 3.11's repr() without a
 * trailing ".0", with one or two random numbers for every row of the table of powers. */
#include "core/number/spell.h"
#include "unit.h"

static struct dti_value decode(enum dti_dtype dtype, uint64_t code)
{
    struct dti_value value;
    dti_decode(dti_format_get(dtype), code, &value);
    return value;
}

static struct dti_format parsed(const char *name)
{
    struct dti_format format;
    struct dti_error error;
    CHECK(dti_format_lookup(name, &format, NULL, &error) == DTI_OK);
    return format;
}

static const char *text_of(const struct dti_value *value)
{
    static char text[DTI_TEXT_SIZE];
    const size_t length = dti_spell_text(text, value);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static const char *hexfloat_of(const struct dti_value *value)
{
    static char text[DTI_TEXT_SIZE];
    const size_t length = dti_spell_hexfloat(text, value);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static void fp64_is_spelled_like_pythons_repr(void)
{
    static const struct {
        uint64_t code;
        const char *text;
    } cases[] = {
        {UINT64_C(0x0000000000000000), "0"},
        {UINT64_C(0x8000000000000000), "-0"},
        {UINT64_C(0x3ff0000000000000), "1"},
        {UINT64_C(0xbff0000000000000), "-1"},
        {UINT64_C(0x3fb999999999999a), "0.1"},
        {UINT64_C(0xbfe0000000000000), "-0.5"},
        {UINT64_C(0x40f1200000000000), "70144"},
        {UINT64_C(0x3fb9a00000000000), "0.10009765625"},
        {UINT64_C(0x3fd5600000000000), "0.333984375"},
        {UINT64_C(0x43b0200000000000), "1.161928703861588e+18"},
        {UINT64_C(0x433fffffffffffff), "9007199254740991"},
        {UINT64_C(0x4340000000000000), "9007199254740992"},
        {UINT64_C(0x4340000000000001), "9007199254740994"},
        {UINT64_C(0x4340000000000002), "9007199254740996"},
        {UINT64_C(0x4341c37937e07fff), "9999999999999998"},
        {UINT64_C(0x4341c37937e08000), "1e+16"},
        {UINT64_C(0x430c6bf526340000), "1000000000000000"},
        {UINT64_C(0x437b69b4ba630f35), "1.2345678901234568e+17"},
        {UINT64_C(0x4415af1d78b58c40), "1e+20"},
        {UINT64_C(0x4480f0cf064dd592), "1e+22"},
        {UINT64_C(0x44b52d02c7e14af6), "1e+23"},
        {UINT64_C(0x447c7e83209e90b2), "8.41e+21"},
        {UINT64_C(0x3f1a36e2eb1c432d), "0.0001"},
        {UINT64_C(0x3ee4f8b588e368f1), "1e-05"},
        {UINT64_C(0x3eef75104d551d69), "1.5e-05"},
        {UINT64_C(0x3eb0000000000000), "9.5367431640625e-07"},
        {UINT64_C(0x0000000000000001), "5e-324"},
        {UINT64_C(0x0000000000000002), "1e-323"},
        {UINT64_C(0x000fffffffffffff), "2.225073858507201e-308"},
        {UINT64_C(0x0010000000000000), "2.2250738585072014e-308"},
        {UINT64_C(0x7fefffffffffffff), "1.7976931348623157e+308"},
        {UINT64_C(0x4011666666666666), "4.35"},
        {UINT64_C(0x4004000000000000), "2.5"},
        {UINT64_C(0x3fd3333333333333), "0.3"},
        {UINT64_C(0x3d30000000000000), "5.684341886080802e-14"},
        {UINT64_C(0x0000000000000002), "1e-323"},
        {UINT64_C(0x0010000000000000), "2.2250738585072014e-308"},
        {UINT64_C(0x0020000000000000), "4.450147717014403e-308"},
        {UINT64_C(0x3d30000000000000), "5.684341886080802e-14"},
        {UINT64_C(0x4350000000000000), "1.8014398509481984e+16"},
        {UINT64_C(0x4360000000000000), "3.602879701896397e+16"},
        {UINT64_C(0x43b0000000000000), "1.152921504606847e+18"},
        {UINT64_C(0x4580000000000000), "6.189700196426902e+26"},
        {UINT64_C(0x4590000000000000), "1.2379400392853803e+27"},
        {UINT64_C(0x7fe0000000000000), "8.98846567431158e+307"},
        {UINT64_C(0x7ed8508126b563b1), "1.0421265849833283e+303"},
        {UINT64_C(0x7d956b8be7ca430e), "8.755426524045473e+296"},
        {UINT64_C(0x7d6d040469599354), "1.4825136212565918e+296"},
        {UINT64_C(0x77c26677fe6c2b03), "7.594344686872148e+268"},
        {UINT64_C(0x76fa366320050ed3), "1.3206380842017412e+265"},
        {UINT64_C(0x71fe617d94a67f00), "1.2661235164913114e+241"},
        {UINT64_C(0x6f1664e4356a4152), "1.3262655857014843e+227"},
        {UINT64_C(0x6c2a850c55e7d67e), "1.1159786281109666e+213"},
        {UINT64_C(0x694fbf64d775f593), "1.8985345076522793e+199"},
        {UINT64_C(0x66529b5e67a9b05c), "7.906269147362147e+184"},
        {UINT64_C(0x64e7c3b992bde31c), "1.203752096655338e+178"},
        {UINT64_C(0x6086754708fc2081), "9.635651024894697e+156"},
        {UINT64_C(0x5fb6173e1570bc62), "1.1569886083027413e+153"},
        {UINT64_C(0x5ab91234c3b1b366), "1.0861551254116845e+129"},
        {UINT64_C(0x58a83790b0b4362e), "1.2213765313955208e+119"},
        {UINT64_C(0x54e88fcc05f9eb87), "1.0744522243428316e+101"},
        {UINT64_C(0x50270780d756a407), "1.3333059425169705e+78"},
        {UINT64_C(0x4f179a2b92ed2607), "1.0425381544541778e+73"},
        {UINT64_C(0x4ea8f0d44cfdb1e7), "8.606732870059102e+70"},
        {UINT64_C(0x494abf58a5998165), "1.1929759734854332e+45"},
        {UINT64_C(0x452e5101b8a6acd6), "1.8325159012903787e+25"},
        {UINT64_C(0x4374e57ce810b08a), "9.410918666122256e+16"},
        {UINT64_C(0x3f1dda53d532b79f), "0.00011387955355487846"},
        {UINT64_C(0x3da544fd281f772f), "9.67224326138637e-12"},
        {UINT64_C(0x3af3df84dcf8bef6), "1.0274162793249774e-24"},
        {UINT64_C(0x37d4018ab096ebf5), "9.18631500687244e-40"},
        {UINT64_C(0x32adb6ad94929216), "1.41073685015027e-64"},
        {UINT64_C(0x32072b33584355b8), "1.0742209774731546e-67"},
        {UINT64_C(0x313df74a31826e0a), "1.6960141287126577e-71"},
        {UINT64_C(0x2c33acb214bc028a), "9.211007356061963e-96"},
        {UINT64_C(0x26d9642de25bd3ab), "1.5364100067959138e-121"},
        {UINT64_C(0x266cddf7bad32fc0), "1.3646282741838321e-123"},
        {UINT64_C(0x23454044aad71c97), "8.922619134099509e-139"},
        {UINT64_C(0x209067d0556205aa), "7.830910587293938e-152"},
        {UINT64_C(0x1ff2fc011bcd4b53), "8.849503967720238e-155"},
        {UINT64_C(0x1ac83be555311d24), "1.1680384222325277e-179"},
        {UINT64_C(0x1666388706f2f0d0), "9.071785932265329e-201"},
        {UINT64_C(0x14f50290031c7c21), "1.0225139897794208e-207"},
        {UINT64_C(0x14c452fde570d89a), "1.2364204745896618e-208"},
        {UINT64_C(0x0f29fcabe454625d), "1.2770547432491496e-235"},
        {UINT64_C(0x095d68412043d6bb), "1.4592111123256941e-263"},
        {UINT64_C(0x09537ec046691269), "9.673636199066964e-264"},
        {UINT64_C(0x06a6f9df19403c6a), "1.296132972844004e-276"},
        {UINT64_C(0x038652353d63c719), "1.118382305853847e-291"},
        {UINT64_C(0x00031c5939f4faf9), "4.32601152333001e-309"},
        {UINT64_C(0x000403114d29c46d), "5.57934870931641e-309"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value value = decode(DTI_FP64, cases[i].code);
        CHECK_STR(text_of(&value), cases[i].text);
        CHECK(dti_value_fits_json(&value));
    }
}

static void classes_without_digits_are_words(void)
{
    struct dti_value value = decode(DTI_FP32, 0x7f800000);
    CHECK_STR(text_of(&value), "inf");
    CHECK_STR(hexfloat_of(&value), "inf");
    CHECK(!dti_value_fits_json(&value));
    value = decode(DTI_FP32, 0xff800000);
    CHECK_STR(text_of(&value), "-inf");
    value = decode(DTI_FP32, 0xffc00000);
    CHECK_STR(text_of(&value), "nan");
    CHECK(!dti_value_fits_json(&value));
}

static void numbers_beyond_fp64_keep_all_their_bits(void)
{
    struct dti_value value = decode(DTI_UINT64, UINT64_MAX);
    CHECK_STR(text_of(&value), "18446744073709551615");
    CHECK(dti_value_fits_json(&value));
    value = decode(DTI_INT64, UINT64_C(0x8000000000000001));
    CHECK_STR(text_of(&value), "-9223372036854775807");
    value = decode(DTI_INT64, UINT64_C(1) << 63); /* exact in fp64 */
    CHECK_STR(text_of(&value), "-9.223372036854776e+18");

    struct dti_format format = parsed("e15m48");
    dti_decode(&format, 1, &value);
    CHECK_STR(text_of(&value), "1.1944589826072492778e-4946");
    CHECK(!dti_value_fits_json(&value));

    format = parsed("e2m61");
    dti_decode(&format, UINT64_C(0x5fffffffffffffff), &value); /* 4 - 2^-60 */
    CHECK_STR(text_of(&value), "3.9999999999999999991");
    CHECK(!dti_value_fits_json(&value));
}

static void json_takes_what_fp64_holds_and_64_bit_integers(void)
{
    struct dti_value value;
    dti_value_set(&value, false, 1, -1074);
    CHECK(dti_value_fits_json(&value));
    dti_value_set(&value, false, 3, -1075);
    CHECK(!dti_value_fits_json(&value));
    dti_value_set(&value, false, 1, 1023);
    CHECK(dti_value_fits_json(&value));
    dti_value_set(&value, false, 1, 1024);
    CHECK(!dti_value_fits_json(&value));
    dti_value_set(&value, false, (UINT64_C(1) << 53) + 1, 0);
    CHECK(dti_value_fits_json(&value)); /* an integer */
    dti_value_set(&value, false, (UINT64_C(1) << 53) + 1, -1);
    CHECK(!dti_value_fits_json(&value));
    dti_value_set(&value, false, 1, 0);
    value.sticky = true;
    CHECK(!dti_value_fits_json(&value));
    value.sticky = false;
    value.lo = 1;
    CHECK(!dti_value_fits_json(&value));
}

static void derived_figures_are_rounded_to_fp64(void)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_value_set(&value, false, UINT64_C(0xaaaaaaaaaaaaaaaa), -65); /* just below 1/3 */
    CHECK_SIZE(dti_spell_rounded(text, &value), 18);
    CHECK_STR(text, "0.3333333333333333");
    dti_value_set(&value, true, (UINT64_C(1) << 53) + 1, 0); /* a tie */
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "-9007199254740992");
    value.sticky = true;
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "-9007199254740994");
    dti_value_set(&value, false, (UINT64_C(1) << 53) + 3, 0); /* to the even one, upward */
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "9007199254740996");
    dti_value_set(&value, false, UINT64_MAX, 0); /* carries into the next binade */
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "1.8446744073709552e+19");
    dti_value_set(&value, false, 1, 1024);
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "inf");
    dti_value_set(&value, false, 1, -1100);
    dti_spell_rounded(text, &value);
    CHECK_STR(text, "0");
}

static void hexfloats_start_with_one(void)
{
    static const struct {
        uint64_t code;
        const char *text;
    } cases[] = {
        /* float.hex() without trailing zeros, subnormals normalised */
        {UINT64_C(0x3ff0000000000000), "0x1p+0"},
        {UINT64_C(0xbff0000000000000), "-0x1p+0"},
        {UINT64_C(0x40f1200000000000), "0x1.12p+16"},
        {UINT64_C(0x0000000000000001), "0x1p-1074"},
        {UINT64_C(0x3fb999999999999a), "0x1.999999999999ap-4"},
        {UINT64_C(0x7fefffffffffffff), "0x1.fffffffffffffp+1023"},
        {UINT64_C(0x800fffffffffffff), "-0x1.ffffffffffffep-1023"},
        {UINT64_C(0x0000000000000000), "0x0p+0"},
        {UINT64_C(0x8000000000000000), "-0x0p+0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_value value = decode(DTI_FP64, cases[i].code);
        CHECK_STR(hexfloat_of(&value), cases[i].text);
    }
    const struct dti_value longest = {.kind = DTI_CLASS_FINITE,
                                      .negative = true,
                                      .exponent = -DTI_EXPONENT_LIMIT,
                                      .hi = UINT64_C(0x8123456789abcdef),
                                      .lo = UINT64_C(0xfedcba9876543211)};
    CHECK_STR(hexfloat_of(&longest), "-0x1.02468acf13579bdffdb97530eca86422p-16777216");
}

static void codes_and_integers_are_written_in_full(void)
{
    char text[72];
    CHECK_SIZE(dti_spell_code(text, 0x4789, 16), 6);
    CHECK_STR(text, "0x4789");
    dti_spell_code(text, 0x7, 19);
    CHECK_STR(text, "0x00007");
    dti_spell_code(text, 0x1f, 4);
    CHECK_STR(text, "0xf");
    dti_spell_code(text, UINT64_C(0xfedcba9876543210), 64);
    CHECK_STR(text, "0xfedcba9876543210");
    CHECK_SIZE(dti_spell_binary(text, 0x4789, 16), 16);
    CHECK_STR(text, "0100011110001001");
    CHECK_SIZE(dti_spell_binary(text, 1, 64), 64);
    CHECK_STR(text, "0000000000000000000000000000000000000000000000000000000000000001");
    CHECK_SIZE(dti_spell_u64(text, 0), 1);
    CHECK_STR(text, "0");
    dti_spell_u64(text, 99999999);
    CHECK_STR(text, "99999999");
    dti_spell_u64(text, 100000000);
    CHECK_STR(text, "100000000");
    dti_spell_u64(text, 10000000000000000);
    CHECK_STR(text, "10000000000000000");
    CHECK_SIZE(dti_spell_u64(text, UINT64_MAX), 20);
    CHECK_STR(text, "18446744073709551615");
}

/* All codes that use only the upper 16 bits, and some others, compared with the functions that
 * write one text at a time. */
static void both_texts_of_fp64_at_once_are_the_same(void)
{
    const struct dti_format *const fp64 = dti_format_get(DTI_FP64);
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t code = i < 65536 ? i << 48 : i * UINT64_C(0x9E3779B97F4A7C15);
        char text[DTI_TEXT_SIZE], shortest[DTI_TEXT_SIZE], want[DTI_TEXT_SIZE];
        struct dti_value value;
        dti_decode(fp64, code, &value);
        const bool spelled = dti_spell_fp64_texts(text, shortest, &value);
        if (!CHECK(spelled == (value.kind == DTI_CLASS_FINITE)) || !spelled)
            continue;
        dti_spell_text(want, &value);
        CHECK_STR(text, want);
        dti_spell_shortest(want, fp64, code);
        CHECK_STR(shortest, want);
    }
    for (int64_t i = 1; i < 2000; i++) { /* integers */
        char text[DTI_TEXT_SIZE], shortest[DTI_TEXT_SIZE], want[DTI_TEXT_SIZE];
        struct dti_value value;
        dti_value_set(&value, false, (uint64_t)(i * i * i * i), 0);
        CHECK(dti_spell_fp64_texts(text, shortest, &value));
        dti_spell_text(want, &value);
        CHECK_STR(text, want);
        dti_spell_shortest_value(want, fp64, &value);
        CHECK_STR(shortest, want);
    }
    struct dti_value wide;
    char text[DTI_TEXT_SIZE], shortest[DTI_TEXT_SIZE];
    dti_value_set(&wide, false, UINT64_C(0x8000000000000001), 0);
    CHECK(!dti_spell_fp64_texts(text, shortest, &wide));
}

UNIT_MAIN(fp64_is_spelled_like_pythons_repr, both_texts_of_fp64_at_once_are_the_same,
          classes_without_digits_are_words, numbers_beyond_fp64_keep_all_their_bits,
          json_takes_what_fp64_holds_and_64_bit_integers, derived_figures_are_rounded_to_fp64,
          hexfloats_start_with_one, codes_and_integers_are_written_in_full)
