/* SPDX-License-Identifier: MIT
 *
 * Reading .npy: what is accepted, how it is interpreted, and every refusal. */
#include "npy_make.h"

#define DICT(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void make(unsigned major, const char *header, size_t data_size)
{
    const struct bytes npy = npy_make(major, header, strlen(header), data_size);
    file_make("x.npy", npy.data, npy.length);
}

/* A version 1 header that must be refused, whatever the data. */
static void refused(const char *header, const char *problem)
{
    char want[DTI_QUOTE_SIZE];
    snprintf(want, sizeof want, "'x.npy': %s", problem);
    make(1, header, 64);
    container_is_refused("x.npy", want);
}

/* As text: name, stored type, format or "-", shape as "[2,3]", elements, bytes, offset, flags. */
static void spell_tensor(const struct dti_tensor *tensor, char text[256])
{
    size_t used =
        (size_t)snprintf(text, 256, "%.*s %s %s [", (int)tensor->name_length, tensor->name,
                         tensor->stored_as, tensor->format ? tensor->format->name : "-");
    for (unsigned i = 0; i < tensor->rank && used < 200; i++)
        used += (size_t)snprintf(text + used, 256 - used, "%s%llu", i > 0 ? "," : "",
                                 (unsigned long long)tensor->shape[i]);
    const uint16_t one = 1;
    const bool big_machine = *(const unsigned char *)&one == 0;
    const bool wide = tensor->format && tensor->format->width > 8;
    snprintf(text + used, 256 - used, "] %llu %llu @%llu%s%s%s",
             (unsigned long long)tensor->elements, (unsigned long long)tensor->bytes,
             (unsigned long long)tensor->offset, tensor->fortran ? " fortran" : "",
             wide && tensor->layout.swapped != big_machine ? " big" : "",
             tensor->layout.packing == DTI_PACKING_BYTES ? " bytes" : "");
}

static void is_with(unsigned major, const char *header, size_t data_size,
                    const struct dti_format *assume, const char *want)
{
    const struct dti_container_options options = {.assume = assume};
    char got[256];
    make(major, header, data_size);
    if (!container_opens("x.npy", &options))
        return;
    CHECK(container->kind == DTI_CONTAINER_NPY && container->tensor_count == 1);
    spell_tensor(&container->tensors[0], got);
    CHECK_STR(got, want);
    CHECK(container->tensors[0].offset == container->files[0].header_bytes);
    CHECK((container->tensors[0].format == NULL) ==
          (dti_tensor_refusal(&container->tensors[0]) != NULL));
    dti_container_free(container);
}

static void is(const char *header, size_t data_size, const char *want)
{
    is_with(1, header, data_size, NULL, want);
}

static void the_dictionary_is_read_however_it_is_written(void)
{
    folder_enter();
    is(DICT("'<f4'", "False", "(2, 3)"), 24, "data <f4 fp32 [2,3] 6 24 @69");
    is("{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}", 24,
       "data <f4 fp32 [2,3] 6 24 @67");
    is("{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3)}   \n", 24,
       "data <f4 fp32 [2,3] 6 24 @65");
    is("{ 'descr'\t: '<f4' ,\n 'fortran_order' :False\r,'shape':( 2 , 3 , ) , } ", 24,
       "data <f4 fp32 [2,3] 6 24 @79");
    is(DICT("'<f8'", "False", "()"), 8, "data <f8 fp64 [] 1 8 @65");
    is(DICT("'<f8'", "False", "( )"), 8, "data <f8 fp64 [] 1 8 @66");
    is(DICT("'<f8'", "False", "(1,)"), 8, "data <f8 fp64 [1] 1 8 @67");
    is(DICT("'<f8'", "False", "(0, 7)"), 0, "data <f8 fp64 [0,7] 0 0 @69");
    is(DICT("'<i2'", "False", "(10L, 1L)"), 20, "data <i2 int16 [10,1] 10 20 @72");
    is_with(2, DICT("'<f4'", "False", "(3L,)"), 12, NULL, "data <f4 fp32 [3] 3 12 @70");
    is_with(3, DICT("'<f4'", "False", "(3,)"), 12, NULL, "data <f4 fp32 [3] 3 12 @69");
    folder_leave();
}

static void every_type_is_known(void)
{
    static const struct {
        const char *descr, *want;
        size_t bytes;
    } types[] = {
        {"'<f2'", "<f2 fp16 [2] 2 4 @67", 4},
        {"'<f4'", "<f4 fp32 [2] 2 8 @67", 8},
        {"'>f8'", ">f8 fp64 [2] 2 16 @67 big", 16},
        {"'|i1'", "|i1 int8 [2] 2 2 @67", 2},
        {"'|u1'", "|u1 uint8 [2] 2 2 @67", 2},
        {"'|b1'", "|b1 bool [2] 2 2 @67", 2},
        {"'<u2'", "<u2 uint16 [2] 2 4 @67", 4},
        {"'>i4'", ">i4 int32 [2] 2 8 @67 big", 8},
        {"'=i8'", "=i8 int64 [2] 2 16 @67", 16},
        {"'i8'", "i8 int64 [2] 2 16 @66", 16},
        {"'|u8'", "|u8 uint64 [2] 2 16 @67", 16},
        {"'<c8'", "<c8 complex64 [2] 2 16 @67", 16},
        {"'>c16'", ">c16 complex128 [2] 2 32 @68 big", 32},
        {"'float32'", "float32 fp32 [2] 2 8 @71", 8},
        {"'bfloat16'", "bfloat16 bf16 [2] 2 4 @72", 4},
        {"'float8_e4m3fn'", "float8_e4m3fn fp8_e4m3fn [2] 2 2 @77", 2},
        {"'float4_e2m1fn'", "float4_e2m1fn fp4_e2m1 [2] 2 2 @77 bytes", 2},
        {"'int4'", "int4 int4 [2] 2 2 @68 bytes", 2},
        {"'<f1'", "<f1 fp8_e5m2 [2] 2 2 @67", 2},
        {"'|V2'", "V2 - [2] 2 4 @67", 4},
        {"'<V1'", "V1 - [2] 2 2 @67", 2},
        {"'<g2'", "g2 - [2] 2 4 @67", 4},
        {"'|V0'", "V0 - [2] 2 0 @67", 0},
        {"'<U5'", "<U5 - [2] 2 40 @67", 40},
        {"'|S3'", "|S3 - [2] 2 6 @67", 6},
        {"'<M8[ns]'", "<M8[ns] - [2] 2 16 @71", 16},
        {"'<m8'", "<m8 - [2] 2 16 @67", 16},
        {"'<m8[25us]'", "<m8[25us] - [2] 2 16 @73", 16},
        {"'<f16'", "<f16 - [2] 2 32 @68", 32},
        {"'|O'", "|O - [2] 2 33 @66", 33},
        {"('<f4', (2,))", "structured - [2] 2 16 @75", 16},
        {"[]", "structured - [2] 2 0 @64", 0},
        {"[('', '|V4'), (\"\\u00e9'\", '|O')]", "structured - [2] 2 9 @94", 9},
    };
    folder_enter();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char header[256], want[256];
        snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }",
                 types[i].descr);
        snprintf(want, sizeof want, "data %s", types[i].want);
        is(header, types[i].bytes, want);
    }
    folder_leave();
}

/* The tensors, separated by "; "; an asterisk marks strided ones. */
static void has_fields(const char *descr, const char *order, const char *shape, size_t bytes,
                       const char *want)
{
    char header[512], got[1024] = "", one[256];
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s}", descr, order,
             shape);
    make(1, header, bytes);
    if (!container_opens("x.npy", NULL))
        return;
    const uint64_t start = container->files[0].header_bytes;
    for (size_t i = 0; i < container->tensor_count; i++) {
        struct dti_tensor tensor = container->tensors[i];
        tensor.offset -= start;
        spell_tensor(&tensor, one);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s", i > 0 ? "; " : "", one,
                 tensor.strided ? "*" : "");
    }
    CHECK_STR(got, want);
    dti_container_free(container);
}

static void fields_are_tensors(void)
{
    folder_enter();
    has_fields("[('a', '<f4'), ('b', '>i2', (3,))]", "False", "(2,)", 20,
               "data.a <f4 fp32 [2] 2 8 @0*; data.b >i2 int16 [2,3] 6 12 @4 big*");
    has_fields("[('a', '|u1'), ('', '|V3'), (('t', 'b'), [('c', '<i2', 3), ('d', '|S5')], (2,))]",
               "True", "(2, 3)", 156,
               "data.a |u1 uint8 [2,3] 6 6 @0*; data.b.c <i2 int16 [2,3,2,3] 36 72 @4*; "
               "data.b.d |S5 - [2,3,2] 12 60 @10*");
    has_fields("[('a', '<f4')]", "False", "(4,)", 16, "data.a <f4 fp32 [4] 4 16 @0");
    has_fields("[('a', '<f4'), ('b', '<f8')]", "False", "()", 12,
               "data.a <f4 fp32 [] 1 4 @0; data.b <f8 fp64 [] 1 8 @4");
    has_fields("[('a', '<f4'), ('b', '<f8')]", "False", "(0, 1000000000)", 0,
               "data.a <f4 fp32 [0,1000000000] 0 0 @0; "
               "data.b <f8 fp64 [0,1000000000] 0 0 @0");
    has_fields("[('\\xe9\xe9\\u4e2d', '<f4'), ('', '<i2', (2,))]", "False", "(1,)", 8,
               "data.\xc3\xa9\xc3\xa9\xe4\xb8\xad <f4 fp32 [1] 1 4 @0");
    make(1, "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 8);
    container_is_refused("x.npy", "'x.npy': field 'data.a' occurs twice");
    folder_leave();
}

static void expect_refusal(const char *descr, const char *assume, const char *want,
                           enum dti_remedy remedy)
{
    struct dti_format format;
    struct dti_container_options options = {.assume = NULL};
    char header[256];
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }",
             descr);
    make(1, header, 100);
    if (assume && CHECK(dti_format_lookup(assume, &format, NULL, NULL) == DTI_OK))
        options.assume = &format;
    if (!container_opens("x.npy", &options))
        return;
    CHECK_STR(dti_tensor_refusal(&container->tensors[0]), want);
    CHECK(container->tensors[0].remedy == remedy);
    CHECK((dti_tensor_refusal(&container->tensors[0]) == NULL) ==
          (container->tensors[0].format != NULL));
    dti_container_free(container);
}

static void what_cannot_be_read_says_why(void)
{
    folder_enter();
    expect_refusal("'|V2'", NULL, "is 2-byte void, the dtype is lost", DTI_REMEDY_ASSUME_2_BYTES);
    expect_refusal("'<V1'", NULL, "is 1-byte void, the dtype is lost", DTI_REMEDY_ASSUME_1_BYTE);
    expect_refusal("'|V4'", NULL, "is 4-byte void, the dtype is lost", DTI_REMEDY_ASSUME_4_BYTES);
    expect_refusal("'|V8'", NULL, "is 8-byte void, the dtype is lost", DTI_REMEDY_ASSUME_8_BYTES);
    expect_refusal("'|V1'", "bf16", "is 1-byte void (the dtype is lost), but bf16 has 2 bytes",
                   DTI_REMEDY_NONE);
    expect_refusal("'|V3'", "bf16", "is 3-byte void, and no dtype has that size", DTI_REMEDY_NONE);
    expect_refusal("'O'", NULL, "holds Python objects (pickle), which is never read",
                   DTI_REMEDY_NONE);
    expect_refusal("'<U5'", NULL, "holds text, which is not supported", DTI_REMEDY_NONE);
    expect_refusal("'<M8[D]'", NULL, "holds dates, which are not supported", DTI_REMEDY_NONE);
    expect_refusal("'<m8[generic]'", NULL, "holds time spans, which are not supported",
                   DTI_REMEDY_NONE);
    expect_refusal("'<c32'", NULL,
                   "is numpy's long double, which differs between machines and is not supported",
                   DTI_REMEDY_NONE);
    expect_refusal("('<f4', (2,))", NULL, "has the type '('<f4', (2,))', which is not supported",
                   DTI_REMEDY_NONE);
    expect_refusal("[('x', [('y', '|O')])]", NULL,
                   "holds Python objects (pickle), which is never read", DTI_REMEDY_NONE);
    expect_refusal("[('x', '|O'), ('y', '<f4')]", NULL,
                   "holds Python objects (pickle), which is never read", DTI_REMEDY_NONE);
    expect_refusal("'<f4'", "int32", NULL, DTI_REMEDY_NONE);
    folder_leave();
}

static void lost_types_can_be_told(void)
{
    static const struct {
        const char *descr, *assume, *want;
    } types[] = {
        {"'|V2'", "bf16", "V2 bf16 [2] 2 4 @67"},
        {"'>V2'", "fp16", "V2 fp16 [2] 2 4 @67 big"},
        {"'<V1'", "fp8_e4m3fn", "V1 fp8_e4m3fn [2] 2 2 @67"},
        {"'|V1'", "fp4_e2m1", "V1 fp4_e2m1 [2] 2 2 @67 bytes"},
        {"'<f1'", "fp8_e4m3", "<f1 fp8_e4m3 [2] 2 2 @67"},
        {"'<f1'", "bf16", "<f1 fp8_e5m2 [2] 2 2 @67"},
        {"'<V2'", "e5m6", "V2 e5m6 [2] 2 4 @67"},
        {"'<W4'", "complex32", "W4 complex32 [2] 2 8 @67"},
        {"'|V16'", "complex128", "V16 - [2] 2 32 @68"},
    };
    folder_enter();
    for (size_t i = 0; i + 1 < sizeof types / sizeof *types; i++) {
        struct dti_format format;
        char header[256], want[256];
        size_t bytes = 0;
        CHECK(dti_format_lookup(types[i].assume, &format, NULL, NULL) == DTI_OK);
        snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }",
                 types[i].descr);
        snprintf(want, sizeof want, "data %s", types[i].want);
        CHECK(sscanf(strchr(types[i].want, ']'), "] 2 %zu", &bytes) == 1);
        is_with(1, header, bytes, &format, want);
    }
    folder_leave();
}

static void fortran_order_is_told_where_it_matters(void)
{
    folder_enter();
    is(DICT("'|u1'", "True", "(2, 3)"), 6, "data |u1 uint8 [2,3] 6 6 @68 fortran");
    is(DICT("'|u1'", "True", "(6,)"), 6, "data |u1 uint8 [6] 6 6 @66");
    is(DICT("'|u1'", "True", "(1, 6, 1)"), 6, "data |u1 uint8 [1,6,1] 6 6 @71");
    is(DICT("'|u1'", "True", "(2, 1, 3)"), 6, "data |u1 uint8 [2,1,3] 6 6 @71 fortran");
    is(DICT("'|u1'", "True", "(2, 0, 3)"), 0, "data |u1 uint8 [2,0,3] 0 0 @71");
    is(DICT("'|u1'", "True", "()"), 1, "data |u1 uint8 [] 1 1 @64");
    folder_leave();
}

static void bad_headers_are_refused(void)
{
    static const struct {
        const char *header, *problem;
    } cases[] = {
        {"", "bad header: it does not begin with '{'"},
        {" " DICT("'<f4'", "False", "(1,)"), "bad header: it does not begin with '{'"},
        {"{}", "bad header: the key 'descr' is missing"},
        {"{'descr': '<f4', 'shape': (1,)}", "bad header: the key 'fortran_order' is missing"},
        {"{'descr': '<f4', 'fortran_order': False}", "bad header: the key 'shape' is missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
         "bad header: a key occurs twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
         "bad header: a key is not descr, fortran_order or shape"},
        {"{'descr' '<f4'}", "bad header: a colon is missing after a key"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
         "bad header: a comma is missing"},
        {"{, }", "bad header: a string is missing"},
        {"{descr: '<f4'}", "bad header: a string is missing"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
         "bad header: 'fortran_order' is neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': Tru", "bad header: 'fortran_order' is neither True "
                                                  "nor False"},
        {DICT("'<f4'", "False", "(1,)") " x", "bad header: unexpected text after the dictionary"},
        {DICT("'<f4'", "False", "(1,)") "#", "bad header: unexpected text after the dictionary"},
        {DICT("'<f4'", "False", "[1]"), "bad header: 'shape' is not a tuple"},
        {DICT("'<f4'", "False", "3"), "bad header: 'shape' is not a tuple"},
        {DICT("'<f4'", "False", "(3)"), "bad header: a comma is missing in a tuple"},
        {DICT("'<f4'", "False", "(2, 3 4)"), "bad header: a comma is missing in a tuple"},
        {DICT("'<f4'", "False", "(2 3,)"), "bad header: a comma is missing in a tuple"},
        {DICT("'<f4", "False", "(2,)"), "bad header: a comma is missing"},
        {DICT("'<f4\x01'", "False", "(2,)"), "bad header: a string contains a control character"},
        {DICT("'<f4\\q'", "False", "(2,)"), "bad header: a string has an invalid escape"},
        {DICT("'\\xg0'", "False", "(2,)"), "bad header: a string has an invalid escape"},
        {DICT("'\\U00110000'", "False", "(2,)"), "bad header: a string has an invalid escape"},
        {"{'descr': '<f4", "bad header: a string is not terminated"},
        {"{'descr': '<f4\\", "bad header: a string has an invalid escape"},
        {DICT("''", "False", "(2,)"), "bad header: descr '' is not a numpy type"},
        {DICT("'<'", "False", "(2,)"), "bad header: descr '<' is not a numpy type"},
        {DICT("'<f04'", "False", "(2,)"), "bad header: descr '<f04' is not a numpy type"},
        {DICT("'|S03'", "False", "(2,)"), "bad header: descr '|S03' is not a numpy type"},
        {DICT("'<f4 '", "False", "(2,)"), "bad header: descr '<f4 ' is not a numpy type"},
        {DICT("'z4'", "False", "(2,)"), "bad header: descr 'z4' is not a numpy type"},
        {DICT("'<E2'", "False", "(2,)"), "bad header: descr '<E2' is not a numpy type"},
        {DICT("'<f3'", "False", "(2,)"), "bad header: descr '<f3' is not a numpy type"},
        {DICT("'<i16'", "False", "(2,)"), "bad header: descr '<i16' is not a numpy type"},
        {DICT("'<M4'", "False", "(2,)"), "bad header: descr '<M4' is not a numpy type"},
        {DICT("'<M8[xs]'", "False", "(2,)"), "bad header: descr '<M8[xs]' is not a numpy type"},
        {DICT("'|V99999999999'", "False", "(2,)"),
         "bad header: descr '|V99999999999' is not a numpy type"},
        {DICT("'np.byte'", "False", "(2,)"), "bad header: descr 'np.byte' is not a numpy type"},
        {DICT("'<f4, <f4'", "False", "(2,)"), "bad header: descr '<f4, <f4' is not a numpy type"},
        {DICT("[('a')]", "False", "(2,)"), "bad header: a field has no type"},
        {DICT("['<f4']", "False", "(2,)"), "bad header: a field is not a tuple"},
        {DICT("[(1, '<f4')]", "False", "(2,)"), "bad header: a string is missing"},
        {DICT("[('a', '<f4')('b', '<f4')]", "False", "(2,)"),
         "bad header: a comma is missing in a list"},
        {DICT("[('a', '<f4', 'b')]", "False", "(2,)"),
         "bad header: a dimension is not a whole number from 0 to 9223372036854775807"},
        {DICT("[('a', '<f4', 2]", "False", "(2,)"), "bad header: a bracket is missing"},
        {DICT("[('a', '<q9q')]", "False", "(2,)"),
         "bad header: the type of a field is not a numpy type"},
        {DICT("('<f4')", "False", "(2,)"), "bad header: an array type has no dimensions"},
        {DICT("[('a', '|V2147483647'), ('b', '|u1')]", "False", "(0,)"),
         "bad header: an item takes more than 2147483647 bytes"},
        {DICT("[('a', '<f8', (65536, 65536))]", "False", "(0,)"),
         "bad header: an item takes more than 2147483647 bytes"},
    };
    folder_enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].header, cases[i].problem);
    folder_leave();
}

static void dimensions_are_whole_numbers_that_fit(void)
{
    static const char *const bad[] = {"(-1,)",
                                      "(1.0,)",
                                      "(1e2,)",
                                      "(0x10,)",
                                      "(01,)",
                                      "(+1,)",
                                      "(1_0,)",
                                      "(True,)",
                                      "('1',)",
                                      "(,)",
                                      "(10l,)",
                                      "(9223372036854775808,)",
                                      "(18446744073709551617,)"};
    folder_enter();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char header[256];
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                 bad[i]);
        make(1, header, 64);
        CHECK(dti_container_open(&container, "x.npy", NULL, &error) == DTI_BAD_INPUT);
        CHECK(strncmp(error.text, "'x.npy': bad header: a ", 23) == 0);
    }
    make(3, DICT("'<f4'", "False", "(10L,)"), 40);
    container_is_refused("x.npy", "'x.npy': bad header: a comma is missing in a tuple");
    refused(DICT("'<f4'", "False", "(2, 9223372036854775807)"),
            "an array of shape (2, 9223372036854775807) and type '<f4' is too large");
    refused(DICT("'<f4'", "False", "(4294967296, 4294967296)"),
            "an array of shape (4294967296, 4294967296) and type '<f4' is too large");
    refused(DICT("'<f4'", "False", "(9223372036854775807, 9223372036854775807, 0)"),
            "an array of shape (9223372036854775807, 9223372036854775807, 0) and type '<f4' is too "
            "large");
    refused(DICT("'<u2'", "False", "(4611686018427387904,)"),
            "an array of shape (4611686018427387904,) and type '<u2' is too large");
    refused(DICT("'|u1'", "False", "(9223372036854775807,)"),
            "truncated: 9223372036854775807 elements of type |u1 need 9223372036854775807 bytes, "
            "but there are 64");
    folder_leave();
}

UNIT_MAIN(the_dictionary_is_read_however_it_is_written, every_type_is_known, fields_are_tensors,
          what_cannot_be_read_says_why, lost_types_can_be_told,
          fortran_order_is_told_where_it_matters, bad_headers_are_refused,
          dimensions_are_whole_numbers_that_fit)
