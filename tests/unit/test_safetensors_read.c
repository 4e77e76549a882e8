/* SPDX-License-Identifier: MIT
 *
 * The content of a valid safetensors header, and files on disk. */
#include <string.h>

#include "folder.h"
#include "safetensors_verdict.h"

static void tells_all_there_is_in_the_order_of_the_data(void)
{
    static const char header[] =
        " {\"last\":{\"dtype\":\"BF16\",\"shape\":[1,3],\"data_offsets\":[12,18]},"
        "\"__metadata__\":{\"z\":\"1\\u0000\",\"a\":\"\\\"\"},"
        "\"empty 2\":{\"dtype\":\"F64\",\"shape\":[5,0],\"data_offsets\":[8,8]},"
        "\"c\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[0,8]},"
        "\"f\":{\"dtype\":\"F4\",\"shape\":[2,4],\"data_offsets\":[8,12]},"
        "\"empty 1\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]}}";
    const uint64_t start = 8 + sizeof header - 1;
    static const struct {
        const char *name, *type;
        enum dti_dtype dtype;
        unsigned rank;
        uint64_t shape[2], elements, bytes, offset;
    } want[] = {
        {"c", "C64", DTI_COMPLEX64, 0, {0}, 1, 8, 0},
        {"empty 2", "F64", DTI_FP64, 2, {5, 0}, 0, 0, 8},
        {"empty 1", "F32", DTI_FP32, 1, {0}, 0, 0, 8},
        {"f", "F4", DTI_FP4_E2M1, 2, {2, 4}, 8, 4, 8},
        {"last", "BF16", DTI_BF16, 2, {1, 3}, 3, 6, 12},
    };
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found = {.tensor_count = 0};
    CHECK_STR(verdict(&pool, header, sizeof header - 1, 18, NULL, &found), "");
    if (!CHECK_SIZE(found.tensor_count, 5) || !CHECK_SIZE(found.metadata_count, 2))
        return;
    for (size_t i = 0; i < 5; i++) {
        const struct dti_tensor *const tensor = &found.tensors[i];
        CHECK_STR(tensor->name, want[i].name);
        CHECK_SIZE(tensor->name_length, strlen(want[i].name));
        CHECK_STR(tensor->stored_as, want[i].type);
        CHECK(tensor->format == dti_format_get(want[i].dtype));
        CHECK(!dti_tensor_block(tensor) && !dti_tensor_refusal(tensor) && !tensor->fortran &&
              !tensor->compressed);
        if (CHECK_U64(tensor->rank, want[i].rank))
            CHECK(memcmp(tensor->shape, want[i].shape, want[i].rank * sizeof *tensor->shape) == 0);
        CHECK_U64(tensor->elements, want[i].elements);
        CHECK_U64(tensor->bytes, want[i].bytes);
        CHECK_U64(tensor->offset, start + want[i].offset);
        CHECK_U64(tensor->file, 3);
        CHECK_I64(tensor->layout.packing, DTI_PACKING_LOW);
        const uint16_t one = 1;
        const bool is_big = *(const unsigned char *)&one == 0;
        CHECK(tensor->layout.swapped == (is_big && want[i].dtype != DTI_FP4_E2M1));
    }
    const struct dti_metadata *const metadata = found.metadata;
    CHECK_STR(metadata[0].key, "z");
    CHECK(metadata[0].value_length == 2 && memcmp(metadata[0].value, "1\0", 3) == 0);
    CHECK_STR(metadata[1].key, "a");
    CHECK_STR(metadata[1].value, "\"");
    CHECK_I64(metadata[1].kind, DTI_METADATA_STRING);
    CHECK_STR(metadata[1].type, "string");
    CHECK_U64(metadata[1].count, 1);
    dti_pool_free(&pool);
}

static void every_dtype_of_the_format_is_known(void)
{
    static const char *const types[] = {
        "BOOL",    "F4",          "F6_E2M3",     "F6_E3M2", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
        "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",     "U16", "F16", "BF16",    "I32",
        "U32",     "F32",         "C64",         "F64",     "I64", "U64",
    };
    static const unsigned bits[] = {8,  4,  6,  6,  8,  8,  8,  8,  8,  8,  8,
                                    16, 16, 16, 16, 32, 32, 32, 64, 64, 64, 64};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *name = NULL;
        const struct dti_format *const format =
            dti_safetensors_format(types[i], strlen(types[i]), &name);
        struct dti_layout layout;
        if (!unit_check(format != NULL, types[i], __FILE__, __LINE__))
            continue;
        CHECK_STR(name, types[i]);
        CHECK_STR(dti_safetensors_name(format), types[i]);
        CHECK_U64(dti_safetensors_bits(format), bits[i]);
        CHECK(dti_safetensors_stores(format, &layout));
    }
    struct dti_format parsed;
    struct dti_layout layout;
    CHECK(dti_format_lookup("e3m4", &parsed, NULL, NULL) == DTI_OK);
    CHECK(!dti_safetensors_stores(&parsed, &layout));
    CHECK(!dti_safetensors_stores(dti_format_get(DTI_INT4), &layout));
    CHECK(!dti_safetensors_stores(dti_format_get(DTI_TF32), &layout));
}

/* A file cut at every length: only the complete file is accepted. */
static void every_prefix_of_a_file_is_refused(void)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                 "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                                 "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}}";
    unsigned char file[8 + sizeof header - 1 + 11] = {sizeof header - 1};
    memcpy(file + 8, header, sizeof header - 1);
    folder_enter();
    for (size_t size = 0; size <= sizeof file; size++) {
        struct dti_pool pool = {.chunks = NULL};
        struct dti_container_file opened = {.path = "m.safetensors"};
        struct dti_container found = {
            .kind = DTI_CONTAINER_SAFETENSORS, .files = &opened, .file_count = 1};
        struct dti_error error = {.status = DTI_OK};
        file_make("m.safetensors", file, size);
        if (!CHECK(dti_input_open(&opened.input, opened.path, NULL) == DTI_OK))
            break;
        const enum dti_status status = dti_container_read(&found, &pool, NULL, &error);
        dti_input_close(&opened.input);
        if (size == sizeof file) {
            CHECK_I64(status, DTI_OK);
            CHECK_SIZE(found.tensor_count, 2);
            CHECK_U64(opened.header_bytes, 8 + sizeof header - 1);
        } else {
            CHECK_I64(status, DTI_BAD_INPUT);
            CHECK(strncmp(error.text, "'m.safetensors': truncated: ", 28) == 0);
        }
        dti_pool_free(&pool);
    }
    CHECK_U64(folder_leave(), 1);
}

static void a_shape_of_a_million_dimensions_is_read(void)
{
    enum { RANK = 1000000 };
    static const char front[] = "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1],\"shape\":[";
    static char header[sizeof front + 2 * RANK + 3];
    size_t length = sizeof front - 1;
    memcpy(header, front, length);
    for (size_t i = 0; i < RANK; i++) {
        header[length++] = '1';
        header[length++] = i + 1 < RANK ? ',' : ']';
    }
    header[length++] = '}';
    header[length++] = '}';
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found = {.tensor_count = 0};
    CHECK_STR(verdict(&pool, header, length, 1, NULL, &found), "");
    if (CHECK_SIZE(found.tensor_count, 1))
        CHECK_U64(found.tensors[0].rank, RANK);
    dti_pool_free(&pool);
}

UNIT_MAIN(tells_all_there_is_in_the_order_of_the_data, every_dtype_of_the_format_is_known,
          every_prefix_of_a_file_is_refused, a_shape_of_a_million_dimensions_is_read)
