/* SPDX-License-Identifier: MIT
 *
 * Names that spell out their encoding. Widths and biases are derived by hand from the rules of IEEE
 * 754, LLVM's fn and fnuz suffixes, and IEEE P3109. */
#include "dtype_checks.h"

static void spelled_out_encodings_become_their_rows(void)
{
    static const char *const pairs[][2] = {
        {"e5m10", "fp16"},
        {"E8M7", "bf16"},
        {"e8m23", "fp32"},
        {"e11m52", "fp64"},
        {"e8m10", "tf32"},
        {"e5m10b15", "fp16"},
        {"e4m3", "fp8_e4m3fn"},
        {"e4m3b7", "fp8_e4m3"},
        {"e4m3fnb7", "fp8_e4m3fn"},
        {"e4m3b7fn", "fp8_e4m3fn"},
        {"e4m3fnuzb8", "fp8_e4m3fnuz"},
        {"e4m3b11fnuz", "fp8_e4m3b11fnuz"},
        {"e4m3fnuzb11", "fp8_e4m3b11fnuz"},
        {"e3m2", "fp6_e3m2"},
        {"e2m3", "fp6_e2m3"},
        {"e2m1", "fp4_e2m1"},
        {"e2m1fn", "fp4_e2m1"},
        {"e8m0", "fp8_e8m0"},
        {"e3m4", "fp8_e3m4"},
        {"e5m2", "fp8_e5m2"},
        {"Binary8p3se", "binary8p3se"},
        {"p3109_k8p3se", "binary8p3se"},
        {"p3109_k8p1uf", "binary8p1uf"},
        {"binary8p3", "binary8p3se"},
        {"binary4p2sf", "binary4p2sf"},
        {"ue4m3", "fp8_ue4m3"},
        {"ue4m3fn", "fp8_ue4m3"},
        {"UE5M3", "fp8_ue5m3"},
        {"ue5m3fnb15", "fp8_ue5m3"},
        {"ue8m0", "fp8_e8m0"},
        {"I24", "int24"},
        {"uint1", "uint1"},
        {"i64", "int64"},
        {"ui64", "uint64"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_means(pairs[i][0], pairs[i][1]);
}

static void check_encoding(const char *name, const char *canonical, enum dti_specials specials,
                           unsigned width, unsigned exp_bits, unsigned man_bits, int32_t bias)
{
    struct dti_format format;
    struct dti_error error;
    if (!CHECK_U64(look_up(name, &format, NULL, &error), DTI_OK)) {
        printf("    (%s) %s\n", name, error.text);
        return;
    }
    CHECK_STR(format.name, canonical);
    CHECK_U64(format.id, DTI_NONE);
    CHECK_U64(format.component, DTI_NONE);
    CHECK_U64(format.specials, specials);
    CHECK_U64(format.width, width);
    CHECK_U64(format.exp_bits, exp_bits);
    CHECK_U64(format.man_bits, man_bits);
    CHECK_I64(format.bias, bias);
}

static void formats_without_a_row_are_parsed(void)
{
    check_encoding("e6m9", "e6m9", DTI_SPECIALS_IEEE, 16, 6, 9, 31);
    check_encoding("E6M9B31", "e6m9", DTI_SPECIALS_IEEE, 16, 6, 9, 31);
    check_encoding("e4m3b9fn", "e4m3fnb9", DTI_SPECIALS_FN, 8, 4, 3, 9);
    check_encoding("e6m1fnuz", "e6m1fnuz", DTI_SPECIALS_FNUZ, 8, 6, 1, 32);
    check_encoding("e2m3b1", "e2m3b1", DTI_SPECIALS_IEEE, 6, 2, 3, 1);
    check_encoding("e8m0b127", "e8m0b127", DTI_SPECIALS_IEEE, 9, 8, 0, 127);
    check_encoding("e3m2fnb3", "e3m2fnb3", DTI_SPECIALS_FN, 6, 3, 2, 3);
    check_encoding("e19m44", "e19m44", DTI_SPECIALS_IEEE, 64, 19, 44, 262143);
    check_encoding("e1m62", "e1m62", DTI_SPECIALS_IEEE, 64, 1, 62, 0);
    check_encoding("e4m3b0", "e4m3b0", DTI_SPECIALS_IEEE, 8, 4, 3, 0);
    check_encoding("e4m3b524288", "e4m3b524288", DTI_SPECIALS_IEEE, 8, 4, 3, 524288);
    check_encoding("binary16p11se", "binary16p11se", DTI_SPECIALS_P3109E, 16, 5, 10, 16);
    check_encoding("p3109_k16p8uf", "binary16p8uf", DTI_SPECIALS_P3109F, 16, 9, 7, 256);
    check_encoding("binary3p1", "binary3p1se", DTI_SPECIALS_P3109E, 3, 2, 0, 2);
}

/* No sign bit; otherwise the same as with one. */
static void unsigned_floats_are_parsed(void)
{
    check_encoding("ue3m4", "ue3m4", DTI_SPECIALS_IEEE, 7, 3, 4, 3);
    check_encoding("UE4M3B7", "ue4m3b7", DTI_SPECIALS_IEEE, 7, 4, 3, 7);
    check_encoding("ue5m3b15", "ue5m3b15", DTI_SPECIALS_IEEE, 8, 5, 3, 15);
    check_encoding("ue4m3b8fn", "ue4m3fnb8", DTI_SPECIALS_FN, 7, 4, 3, 8);
    check_encoding("ue8m0fn", "ue8m0fn", DTI_SPECIALS_FN, 8, 8, 0, 127);
    check_encoding("ue1m62", "ue1m62", DTI_SPECIALS_IEEE, 63, 1, 62, 0);
    struct dti_format format;
    struct dti_error error;
    CHECK_U64(look_up("ue3m4", &format, NULL, &error), DTI_OK);
    CHECK(format.kind == DTI_KIND_UFLOAT);
}

static void integers_of_any_width_are_parsed(void)
{
    for (unsigned width = 1; width <= 64; width++) {
        char name[DTI_NAME_SIZE];
        struct dti_format format;
        struct dti_error error;
        for (unsigned is_signed = 0; is_signed < 2; is_signed++) {
            const bool row = (width & (width - 1)) == 0;
            (void)snprintf(name, sizeof name, "%sint%u", is_signed ? "" : "u", width);
            if (!CHECK_U64(look_up(name, &format, NULL, &error), DTI_OK))
                continue;
            CHECK_STR(format.name, name);
            CHECK((format.id != DTI_NONE) == row);
            CHECK_U64(format.kind, is_signed ? DTI_KIND_INT : DTI_KIND_UINT);
            CHECK_U64(format.specials, DTI_SPECIALS_NONE);
            CHECK_U64(format.component, DTI_NONE);
            CHECK_U64(format.width, width);
            CHECK_U64(format.exp_bits, 0);
            CHECK_U64(format.man_bits, width - is_signed);
        }
    }
}

/* For each exponent, mantissa and suffix: the canonical name parses to the same encoding. */
static void canonical_names_lead_back(void)
{
    static const char *const suffixes[] = {"", "fn", "fnuz", "b5", "fnb5", "fnuzb5"};
    enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };
    unsigned formats = 0;
    for (unsigned e = 1; e <= 19; e++) {
        for (unsigned m = 0; 1 + e + m <= 64; m += m < 12 ? 1 : 7) {
            for (size_t s = 0; s < 2 * SUFFIXES; s++) {
                char name[DTI_NAME_SIZE];
                struct dti_format first, second;
                struct dti_error error;
                (void)snprintf(name, sizeof name, "%se%um%u%s", s < SUFFIXES ? "" : "u", e, m,
                               suffixes[s % SUFFIXES]);
                if (look_up(name, &first, NULL, &error) != DTI_OK)
                    continue;
                formats++;
                if (!CHECK_U64(look_up(first.name, &second, NULL, &error), DTI_OK) ||
                    !CHECK_STR(second.name, first.name) || !CHECK(first.bias == second.bias) ||
                    !CHECK(first.specials == second.specials) || !CHECK(first.id == second.id) ||
                    !CHECK(first.width == second.width) || !CHECK(first.kind == second.kind) ||
                    !CHECK(first.exp_bits == second.exp_bits))
                    printf("    (%s)\n", name);
            }
        }
    }
    CHECK(formats > 2500);
}

static void impossible_formats_say_why(void)
{
    check_fails("e04m3", DTI_UNKNOWN_DTYPE,
                "dtype 'e04m3' has a number with leading zeros; write 'e4m3'");
    check_fails("e0m3", DTI_UNKNOWN_DTYPE,
                "dtype 'e0m3' has no exponent bits; use intN or uintN for fixed-point numbers");
    check_fails("e20m3", DTI_UNKNOWN_DTYPE,
                "dtype 'e20m3': exponent fields wider than 19 bits (binary256's) are not "
                "supported; use fewer");
    check_fails("E15M112", DTI_UNKNOWN_DTYPE,
                "dtype 'E15M112' is wider than 64 bits; use at most 48 mantissa bits");
    check_fails(
        "e4m99999999999999999999", DTI_UNKNOWN_DTYPE,
        "dtype 'e4m99999999999999999999' is wider than 64 bits; use at most 59 mantissa bits");
    check_fails("e4m3b524289", DTI_UNKNOWN_DTYPE,
                "dtype 'e4m3b524289': the bias is out of range (0 to 524288)");
    check_fails("e1m0", DTI_UNKNOWN_DTYPE,
                "dtype 'e1m0' has no finite value except zero; add a mantissa or exponent bit");
    check_fails("ue04m3", DTI_UNKNOWN_DTYPE,
                "dtype 'ue04m3' has a number with leading zeros; write 'ue4m3'");
    check_fails("ue4m3fnuz", DTI_UNKNOWN_DTYPE,
                "dtype 'ue4m3fnuz': the NaN of fnuz is the code of minus zero, which needs a sign; "
                "use 'ue4m3fn'");
    check_fails("ue5m0", DTI_UNKNOWN_DTYPE,
                "dtype 'ue5m0' has no NaN, which negative numbers would become; use 'ue5m0fn'");
    check_fails("ue11m53", DTI_UNKNOWN_DTYPE,
                "dtype 'ue11m53' is wider than 63 bits; use at most 52 mantissa bits");
    check_fails("int0", DTI_UNKNOWN_DTYPE,
                "dtype 'int0': integers have 1 to 64 bits, as in 'int64'");
    check_fails("uint65", DTI_UNKNOWN_DTYPE,
                "dtype 'uint65': integers have 1 to 64 bits, as in 'uint64'");
    check_fails("i99999999999999999999", DTI_UNKNOWN_DTYPE,
                "dtype 'i99999999999999999999': integers have 1 to 64 bits, as in 'int64'");
    check_fails("int012", DTI_UNKNOWN_DTYPE,
                "dtype 'int012' has a number with leading zeros; write 'int12'");
    check_fails("binary2p1se", DTI_UNKNOWN_DTYPE,
                "dtype 'binary2p1se': only P3109 formats of 3 to 16 bits are supported");
    check_fails("binary8p8se", DTI_UNKNOWN_DTYPE,
                "dtype 'binary8p8se': the precision of a 8-bit format ranges from p1 to p7");
    check_fails("binary8p0se", DTI_UNKNOWN_DTYPE,
                "dtype 'binary8p0se': the precision of a 8-bit format ranges from p1 to p7");
}

UNIT_MAIN(spelled_out_encodings_become_their_rows, formats_without_a_row_are_parsed,
          unsigned_floats_are_parsed, integers_of_any_width_are_parsed, canonical_names_lead_back,
          impossible_formats_say_why)
