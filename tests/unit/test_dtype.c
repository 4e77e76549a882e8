/* SPDX-License-Identifier: MIT
 *
 * Names of dtypes: the tables are consistent, and each spelling means the dtype of the system that
 * it comes from. */
#include <ctype.h>

#include "dtype_checks.h"

#ifndef DTI_TEST_DATA
#define DTI_TEST_DATA "tests/data"
#endif

static void equal_spellings_have_equal_meanings(void)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *a = &dti_dtype_names[i];
        for (size_t j = i + 1; j < dti_dtype_name_count; j++) {
            const struct dti_dtype_name *b = &dti_dtype_names[j];
            bool equal = strlen(a->name) == strlen(b->name);
            for (size_t c = 0; equal && a->name[c] != '\0'; c++)
                equal = tolower((unsigned char)a->name[c]) == tolower((unsigned char)b->name[c]);
            if (equal && !CHECK_U64(a->dtype, b->dtype))
                printf("    (%s)\n", a->name);
            if (equal && !CHECK(a->system != b->system))
                printf("    (%s twice in %s)\n", a->name, dti_system_title(a->system));
        }
    }
}

static void numbers_of_a_system_are_different(void)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        for (size_t j = i + 1; j < dti_dtype_name_count; j++) {
            bool same = dti_dtype_names[i].system == dti_dtype_names[j].system &&
                        dti_dtype_names[i].number >= 0;
            CHECK(!same || dti_dtype_names[i].number != dti_dtype_names[j].number);
        }
    }
}

static void every_row_is_found_by_each_of_its_names(void)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        CHECK_U64(format->id, id);
        check_means(format->name, format->name);
    }
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const char *name = dti_dtype_names[i].name;
        const char *canonical = dti_format_get(dti_dtype_names[i].dtype)->name;
        char upper[DTI_NAME_SIZE], lower[DTI_NAME_SIZE];
        size_t c = 0;
        for (; name[c] != '\0'; c++) {
            upper[c] = (char)toupper((unsigned char)name[c]);
            lower[c] = (char)tolower((unsigned char)name[c]);
        }
        upper[c] = lower[c] = '\0';
        check_means(name, canonical);
        check_means(upper, canonical);
        check_means(lower, canonical);
    }
}

static void names_of_other_systems_mean_what_they_mean_there(void)
{
    static const char *const pairs[][2] = {
        {"torch.bfloat16", "bf16"},
        {"torch.half", "fp16"},
        {"torch.float", "fp32"},
        {"torch.double", "fp64"},
        {"torch.int", "int32"},
        {"torch.long", "int64"},
        {"torch.float8_e4m3fn", "fp8_e4m3fn"},
        {"torch.float4_e2m1fn_x2", "fp4_e2m1"},
        {"torch.cfloat", "complex64"},
        {"np.float32", "fp32"},
        {"NumPy.Float16", "fp16"},
        {"np.half", "fp16"},
        {"np.bool_", "bool"},
        {"np.intc", "int32"},
        {"np.byte", "int8"},
        {"numpy.byte", "int8"},
        {"byte", "uint8"},
        {"torch.byte", "uint8"},
        {"char", "int8"},
        {"short", "int16"},
        {"jnp.bfloat16", "bf16"},
        {"jax.numpy.float8_e5m2", "fp8_e5m2"},
        {"ml_dtypes.float8_e4m3", "fp8_e4m3"},
        {"ml_dtypes.float8_e4m3b11", "fp8_e4m3b11fnuz"},
        {"ml_dtypes.float6_e2m3fn", "fp6_e2m3"},
        {"TensorProto.FLOAT16", "fp16"},
        {"onnx.TensorProto.FLOAT8E4M3FN", "fp8_e4m3fn"},
        {"onnx.DOUBLE", "fp64"},
        {"F8_E4M3", "fp8_e4m3fn"},
        {"F8E4M3", "fp8_e4m3"},
        {"f8E4M3FN", "fp8_e4m3fn"},
        {"F4", "fp4_e2m1"},
        {"F6_E3M2", "fp6_e3m2"},
        {"ue8m0", "fp8_e8m0"},
        {"e8m0fnu", "fp8_e8m0"},
        {"__nv_fp8_e4m3", "fp8_e4m3fn"},
        {"PRED", "bool"},
        {"i1", "bool"},
        {"s4", "int4"},
        {"i4", "int4"},
        {"i8", "int8"},
        {"u8", "uint8"},
        {"si16", "int16"},
        {"ui16", "uint16"},
        {"<f4", "fp32"},
        {"=f4", "fp32"},
        {">f8", "fp64"},
        {"<f1", "fp8_e5m2"},
        {"|i1", "int8"},
        {"<i8", "int64"},
        {"<u2", "uint16"},
        {"<c8", "complex64"},
        {"<c16", "complex128"},
        {"|b1", "bool"},
        {"<V2", "bf16"},
        {"|V2", "bf16"},
        {"?", "bool"},
        {"complex<f32>", "complex64"},
        {"C128", "complex128"},
        {"binary16", "fp16"},
        {"single", "fp32"},
        {"float", "fp32"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_means(pairs[i][0], pairs[i][1]);
}

/* tests/data/aliases.tsv: alias, its dtype ("-" if refused), the system that uses it, source. */
static void reviewed_aliases_mean_what_the_table_says(void)
{
    char line[512];
    size_t rows = 0;
    FILE *const file = fopen(DTI_TEST_DATA "/aliases.tsv", "r");
    if (!CHECK(file != NULL))
        return;
    while (fgets(line, sizeof line, file)) {
        char *const tab = strchr(line, '\t');
        if (line[0] == '#' || strncmp(line, "alias\t", 6) == 0)
            continue;
        rows++;
        if (!CHECK(tab != NULL))
            continue;
        *tab = '\0';
        tab[1 + strcspn(tab + 1, "\t")] = '\0';
        struct dti_format format;
        struct dti_error error;
        if (strcmp(tab + 1, "-") != 0)
            check_means(line, tab + 1);
        else
            CHECK_U64(look_up(line, &format, NULL, &error), DTI_WRONG_KIND);
    }
    (void)fclose(file);
    CHECK_SIZE(rows, 114);
}

static void ambiguous_names_list_their_meanings(void)
{
    check_fails("fp8", DTI_AMBIGUOUS_DTYPE,
                "'fp8' names several dtypes; use fp8_e4m3fn or fp8_e5m2");
    check_fails("Float8", DTI_AMBIGUOUS_DTYPE,
                "'Float8' names several dtypes; use fp8_e4m3fn or fp8_e5m2");
    check_fails("|V1", DTI_AMBIGUOUS_DTYPE,
                "'|V1' names several dtypes; use fp8_e4m3fn, fp8_e8m0, fp4_e2m1 or int4");
    check_fails("numpy.uint", DTI_AMBIGUOUS_DTYPE,
                "'numpy.uint' names several dtypes; use uint64 or uint32");
    check_fails("np.float", DTI_AMBIGUOUS_DTYPE,
                "'np.float' names several dtypes; use fp64 or fp32");

    static const char *const names[] = {"fp8", "fp6",  "fp4",  "f8",    "float4",    "V1",
                                        "<V1", "uint", "int_", "p3109", "np.complex"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dti_format format;
        struct dti_error error;
        CHECK_U64(look_up(names[i], &format, NULL, &error), DTI_AMBIGUOUS_DTYPE);
        CHECK_STR(error.argument, names[i]);
        CHECK(error.suggestions[1][0] != '\0');
        for (size_t s = 0; s < DTI_ERROR_SUGGESTIONS && error.suggestions[s][0] != '\0'; s++)
            check_means(error.suggestions[s], error.suggestions[s]);
    }
}

static void unknown_names_get_the_nearest(void)
{
    struct dti_format format;
    struct dti_error error;
    check_fails("bf61", DTI_UNKNOWN_DTYPE, "unknown dtype 'bf61'; did you mean 'bf16'?");
    CHECK_U64(look_up("bf61", &format, NULL, &error), DTI_UNKNOWN_DTYPE);
    CHECK_STR(error.argument, "bf61");
    CHECK_STR(error.suggestions[0], "bf16");

    check_fails("mxfp4", DTI_WRONG_KIND,
                "mxfp4 is a block format (fp4_e2m1 elements, fp8_e8m0 scales)");
    CHECK_U64(look_up("mxfp4", &format, NULL, &error), DTI_WRONG_KIND);
    CHECK(error.remedy == DTI_REMEDY_QUANTIZE_OR_ELEMENTS);
    check_fails("NF4", DTI_WRONG_KIND, "nf4 is a block format (16-entry table, fp32 scales)");
    CHECK_U64(look_up("NF4", &format, NULL, &error), DTI_WRONG_KIND);
    CHECK(error.remedy == DTI_REMEDY_QUANTIZE_BLOCKS);

    static const char *const names[] = {
        "",
        " ",
        "bf16 ",
        "torch.",
        "torch.torch.bf16",
        "e",
        "e4",
        "e4m",
        "em3",
        "e4m3x",
        "e4m3fnfn",
        "e4m3b",
        "e4m3b7b7",
        "<",
        "<f3",
        "u",
        "int-3",
        "int3x",
        "ue4",
        "uue4m3",
        "sint3",
        "f4 ",
        "binary",
        "binary8",
        "binary8p",
        "binary8p3s",
        "binary8p3es",
        "e-4m3",
        "\xff",
        "np.<f9",
        "thisisanameofmorethansixtyfourcharactersthatnobodywouldevergivetoadtype",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!CHECK_U64(look_up(names[i], &format, NULL, &error), DTI_UNKNOWN_DTYPE))
            printf("    (%s)\n", names[i]);
        CHECK(error.text[0] != '\0');
    }
}

static void dangerous_spellings_get_a_note(void)
{
    static const struct {
        const char *name;
        bool noted;
    } wanted[] = {
        {"e4m3", true},         {"F8_E4M3", true},
        {"E4M3", true},         {"f4", true},
        {"fp8_e4m3", true},     {"FP8_E4M3", true},
        {"FP8E4M3", true},      {"F8E4M3", true},
        {"float8_e4m3", true},  {"ml_dtypes.float8_e4m3", true},
        {"ue4m3", false},       {"CUDA_R_8F_UE4M3", false},
        {"FP8E5M2", false},     {"CUDA_R_8F_E4M3", false},
        {"float8e4nv", false},  {"fp8e4m3fn", false},
        {">f4", true},          {"binary8p3", true},
        {"e4m3b11", true},      {"float4_e2m1fn_x2", true},
        {"fp8_e4m3fn", false},  {"e4m3fn", false},
        {"F8E4M3FN", false},    {"<f4", false},
        {"binary8p3se", false}, {"bf16", false},
        {"e6m9", false},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct dti_format format;
        struct dti_error error;
        const char *note = "untouched";
        CHECK_U64(look_up(wanted[i].name, &format, &note, &error), DTI_OK);
        if (!CHECK((note != NULL) == wanted[i].noted))
            printf("    (%s)\n", wanted[i].name);
        CHECK(note == NULL || strchr(note, '\n') == NULL);
    }
}

/* Bytes of a block and bits per weight, computed by hand from the format descriptions. */
static void block_formats_add_up(void)
{
    static const struct {
        const char *name;
        unsigned length, element_bits, scale_bits;
    } wanted[] = {
        {"mxfp8_e4m3", 32, 8, 8}, {"mxfp8_e5m2", 32, 8, 8}, {"mxfp6_e3m2", 32, 6, 8},
        {"mxfp6_e2m3", 32, 6, 8}, {"mxfp4", 32, 4, 8},      {"mxint8", 32, 8, 8},
        {"nvfp4", 16, 4, 8},      {"nf4", 64, 4, 32},       {"fp4_bnb", 64, 4, 32},
        {"q8_0", 32, 8, 16},      {"Q4_0", 32, 4, 16},
    };
    CHECK_SIZE(dti_block_format_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct dti_block_format *block = dti_block_lookup(wanted[i].name);
        struct dti_format format;
        if (!CHECK(block != NULL))
            continue;
        CHECK_U64(block->length, wanted[i].length);
        CHECK_U64(block->bytes,
                  (wanted[i].length * wanted[i].element_bits + wanted[i].scale_bits) / 8);
        format = *dti_format_get(block->scale);
        CHECK_U64(format.width, wanted[i].scale_bits);
        if (dti_format_lookup(block->element, &format, NULL, NULL) == DTI_OK)
            CHECK_U64(format.width, wanted[i].element_bits);
    }
    CHECK(dti_block_lookup("") == NULL);
    CHECK(dti_block_lookup("fp16") == NULL);
}

UNIT_MAIN(equal_spellings_have_equal_meanings, numbers_of_a_system_are_different,
          every_row_is_found_by_each_of_its_names, names_of_other_systems_mean_what_they_mean_there,
          reviewed_aliases_mean_what_the_table_says, ambiguous_names_list_their_meanings,
          unknown_names_get_the_nearest, dangerous_spellings_get_a_note, block_formats_add_up)
