/* SPDX-License-Identifier: MIT
 *
 * Arbitrary bytes as a PyTorch file and as the pickles in one; the first byte selects which. Gives
 * an error that names the file, or tensors inside it whose data can be read. */
#include <string.h>

#include "containers/containers.h"
#include "containers/pickle_scan/pickle_scan_parts.h"
#include "fuzz_arrays.h"
#include "fuzz_build.h"

const char *const dti_fuzz_words[] = {
    "0",
    "1",
    "2",
    "\x80\x02",
    "ctorch._utils\n_rebuild_tensor_v2\n(",
    "ctorch._utils\n_rebuild_tensor_v3\n(",
    "ctorch._utils\n_rebuild_parameter\n(",
    "ctorch._tensor\n_rebuild_from_type_v2\n(",
    "ctorch._utils\n_rebuild_sparse_tensor\n(",
    "(X\7\1\1\1storagectorch\nFloatStorage\nX\1\1\1\1"
    "0X\3\1\1\1cpuK\4tQ",
    "(U\7storagectorch\nFloatStorage\nU\1"
    "0U\3cpuK\4tQ",
    "(U\7storagectorch.storage\nUntypedStorage\nU\1"
    "1U\3cpuK\7tQ",
    "ctorch\nfloat8_e4m3fn\n",
    "ccollections\nOrderedDict\n)R",
    "K\1K\4\x85K\1\x85\x89N",
    "K\2K\2\x86K\1K\2\x86",
    "tR",
    "}(U\1a",
    "u.",
    "](",
    "e.",
    "q\1",
    "h\1",
    "r\xff\xff\xff\xff",
    "cos\nsystem\n",
    "cnumpy._core.multiarray\n_reconstruct\n)R(K\1K\2\x85"
    "cnumpy\ndtype\nU\2i2\x85R(K\3U\1<"
    "tb\x89"
    "C\4abcdtb",
    "cnumpy._core.numeric\n_frombuffer\n(C\4abcdcnumpy\ndtype\nU\2i1\x85R(K\3U\1<tbK\4\x85U\1CtR",
    "c_codecs\nencode\nX\2\1\1\1abU\6latin1\x86R",
    "Vos\nS'system'\n\x93",
    "ios\nsystem\n",
    "g1\np1\n",
    "\x93",
    "\x81",
    "b",
    NULL,
};

enum { RAW = '0', ZIP = '1' };

static void build(struct dti_buffer *out, char form, const char *data, size_t size)
{
    static const char storage[64] = "0123456789abcdef";
    struct build_zip zip;
    if (form == RAW) {
        dti_buffer_append(out, data, size);
    } else if (form == ZIP) {
        build_zip_begin(&zip, out);
        build_zip_member(&zip, "a/data.pkl", 10, data, size);
        build_zip_member(&zip, "a/byteorder", 11, "little", 6);
        build_zip_member(&zip, "a/data/0", 8, storage, 16);
        build_zip_member(&zip, "a/data/1", 8, storage, 7);
        build_zip_member(&zip, "a/data/2", 8, storage, sizeof storage);
        build_zip_end(&zip);
    } else {
        static const char start[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"
                                    "\x80\x02M\xe9\x03.\x80\x02}U\x0dlittle_endian\x88s.";
        dti_buffer_append(out, start, sizeof start - 1);
        dti_buffer_append(out, data, size);
    }
}

/* Scans the same bytes only for the imports of their pickles. */
static void scan(struct dti_container_file *file)
{
    struct dti_pickle_scan found;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_pickle_scan_open(&found, file, &error);
    size_t unknown = 0;
    if (status != DTI_OK)
        check_error(status, &error);
    for (size_t i = 0; i < found.import_count; i++) {
        const struct dti_pickle_import *const import = &found.imports[i];
        REQUIRE(import->imports > 0 && (import->name || (!import->module && !import->known)));
        REQUIRE(!import->name || import->name[import->name_length] == '\0');
        unknown += !import->known;
    }
    REQUIRE(unknown == found.unknown_count);
    for (size_t i = 0; i < found.fault_count; i++)
        REQUIRE(found.faults[i][0] != '\0');
    dti_pickle_scan_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_buffer bytes;
    struct dti_error error = {.status = DTI_OK};
    if (size == 0)
        return 0;
    dti_buffer_init(&bytes);
    build(&bytes, (char)('0' + (data[0] - '0') % 3), (const char *)data + 1, size - 1);
    struct dti_container_file file = {
        .path = "input", .input = fuzz_file((const uint8_t *)bytes.data, bytes.length)};
    scan(&file);
    const struct dti_container_options options = {.lenient = data[0] / 3 % 2 != 0};
    struct dti_container container = {
        .kind = DTI_CONTAINER_PYTORCH, .path = "input", .file_count = 1, .files = &file};
    const enum dti_status status = dti_container_read(&container, &pool, &options, &error);
    if (status == DTI_OK) {
        for (size_t i = 0; i < container.tensor_count; i++) {
            check_array(&container, &container.tensors[i]);
            if (!dti_tensor_refusal(&container.tensors[i]))
                check_data(&container, i);
        }
        dti_container_ops(container.kind)->free(&container);
    } else {
        check_error(status, &error);
        REQUIRE(!container.own);
    }
    dti_pool_free(&pool);
    dti_buffer_free(&bytes);
    return 0;
}
