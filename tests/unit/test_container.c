/* SPDX-License-Identifier: MIT
 *
 * Container detection: the kind of a file, raw files, and the layout of new files. */
#include "containers/container.h"

#include "folder.h"
#include "unit.h"

static void make_text(const char *name, const char *text)
{
    file_make(name, text, strlen(text));
}

static void refused(const char *path, enum dti_status wanted, const char *message)
{
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_open(&container, path, NULL, &error);
    if (status == DTI_OK)
        dti_container_free(container);
    if (CHECK(status == wanted))
        CHECK_STR(error.text, message);
    else
        printf("    %s\n", path);
}

static const char safetensors[] = "\x40\0\0\0\0\0\0\0"
                                  "{\"t\":{\"dtype\":\"F32\",\"shape\":[1,2],"
                                  "\"data_offsets\":[0,8]}}        "
                                  "12345678";
static const char npy[] = "\x93NUMPY\1\0\x38\0"
                          "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}\n"
                          "12";
static const char onnx[] = "\x08\x0a\x12\1m\x3a\3\x12\1g"; /* a version, a producer, a graph */
static const char gguf[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

static void the_content_tells_the_kind(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum dti_container_kind kind;
    } cases[] = {
        {safetensors, sizeof safetensors - 1, DTI_CONTAINER_SAFETENSORS},
        {npy, sizeof npy - 1, DTI_CONTAINER_NPY},
        {gguf, sizeof gguf, DTI_CONTAINER_GGUF},
        {onnx, sizeof onnx - 1, DTI_CONTAINER_ONNX},
        {"{\"weight_map\":{}}", 17, DTI_CONTAINER_SHARDED},
        {" \n{ \"weight_map\" : {}}", 22, DTI_CONTAINER_SHARDED},
    };
    static const char *const names[] = {"plain", "x.bin", "x.npy", "x.gguf", "x.safetensors"};
    folder_enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            struct dti_container *container;
            struct dti_error error;
            if (cases[i].kind == DTI_CONTAINER_SHARDED && j >= 2)
                continue; /* JSON with the extension of another kind is not an index */
            file_make(names[j], cases[i].bytes, cases[i].size);
            CHECK(dti_container_is(names[j]));
            if (!CHECK(dti_container_open(&container, names[j], NULL, &error) == DTI_OK)) {
                printf("    %s: %s\n", names[j], error.text);
                continue;
            }
            CHECK(container->kind == cases[i].kind);
            CHECK_STR(container->path, names[j]);
            dti_container_free(container);
        }
    }
    folder_leave();
}

static void what_is_not_read_is_told(void)
{
    static const char unrecognized[] =
        "'x' has an unknown file format (known: safetensors, dduf, npy, npz, pytorch, gguf, onnx, "
        "an index)";
    static const char pickle[] =
        "'x' is a Python pickle, which could run code and is never read; load it with "
        "torch.load(weights_only=True) or numpy and save it with Python's safetensors";
    static const char torch_start[] = "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0"
                                      "ab/data.pkl\x80\2}";
    struct dti_error error;
    struct dti_container *container;
    folder_enter();
    make_text("x", "1 2 3\n");
    refused("x", DTI_UNRECOGNIZED, unrecognized);
    CHECK(!dti_container_is("x"));
    file_make("x", "\0\0\x80\x3f", 4);
    refused("x", DTI_UNRECOGNIZED, unrecognized);
    CHECK(!dti_container_is("x"));
    file_make("x", "", 0);
    refused("x", DTI_BAD_INPUT, "'x' is empty");
    CHECK(!dti_container_is("x"));
    file_make("x", "\x80\x02}q\0.", 6);
    refused("x", DTI_BAD_INPUT, pickle);
    CHECK(dti_container_is("x"));
    file_make("x", "\x80\x05}q\0.", 6);
    refused("x", DTI_BAD_INPUT, pickle);
    file_make("x.safetensors", "\x80\x05}q\0.\0\0\0\0\0\0", 12); /* the extension does not help */
    CHECK(dti_container_open(&container, "x.safetensors", NULL, &error) == DTI_BAD_INPUT);
    CHECK(strstr(error.text, "pickle") != NULL);
    file_make("x", "\x80\x02}q\0X\1\0{\0\0\0", 12); /* nor does something like a header */
    refused("x", DTI_BAD_INPUT, pickle);
    file_make("x", torch_start, sizeof torch_start - 1);
    refused("x", DTI_BAD_INPUT,
            "'x': truncated: a zip archive without its end record, or with bytes after it");
    CHECK(dti_container_is("x"));
    char tar[512] = "tensors";
    memcpy(tar + 257, "ustar", 5);
    file_make("x", tar, sizeof tar);
    refused("x", DTI_BAD_INPUT,
            "'x' is a tar archive, as PyTorch wrote before 0.1.10, which dtinfo does not read; "
            "unpack it, or load it with that PyTorch and save it again");
    make_text("x", "\x89HDF\r\n\x1a\n and more");
    refused("x", DTI_BAD_INPUT,
            "'x' is an HDF5 file, which dtinfo does not read; write its arrays as .npy or "
            "safetensors, with h5py for example");
    make_text("x", "\x08\x07\x12\x07pytorch\x1a"); /* incomplete for an ONNX model */
    refused("x", DTI_UNRECOGNIZED, unrecognized);
    make_text("x", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    refused("x", DTI_BAD_INPUT,
            "'x' is a Git LFS pointer, not the file itself; fetch the file with \"git lfs "
            "pull\"");
    make_text("x", "{\"a\": 1}");
    refused("x", DTI_BAD_INPUT, "'x' is not an index: it has no \"weight_map\"");
    CHECK(!dti_container_is("x"));
    CHECK(symlink("x", "link") == 0);
    refused("link", DTI_BAD_INPUT, "'link' is not an index: it has no \"weight_map\"");
    folder_leave();
}

static void broken_files_get_the_verdict_of_their_kind(void)
{
    static const char *const names[] = {
        "x.safetensors", "x.npy", "x.npz", "x.gguf",
        "x.onnx",        "x.pt",  "x.pth", "x.safetensors.index.json"};
    static const char *const contents[] = {"", "x", "1 2 3", "\x10\0\0\0\0\0\0\0{"};
    folder_enter();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dti_container *container;
        struct dti_error error = {.status = DTI_OK};
        CHECK(dti_container_is(names[i])); /* although it does not exist */
        CHECK(dti_container_open(&container, names[i], NULL, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, "No such file") != NULL);
        for (size_t j = 0; j < sizeof contents / sizeof *contents; j++) {
            file_make(names[i], contents[j], j == 3 ? 9 : strlen(contents[j]));
            CHECK(dti_container_is(names[i]));
            CHECK(dti_container_open(&container, names[i], NULL, &error) == DTI_BAD_INPUT);
            CHECK(strstr(error.text, names[i]) != NULL && !strstr(error.text, "none of the kinds"));
        }
    }
    file_make("x", "\xff\xff\xff\xff\xff\xff\xff\xff{\"a\"", 12); /* an absurd length */
    struct dti_error error;
    CHECK(dti_container_open(&(struct dti_container *){NULL}, "x", NULL, &error) == DTI_BAD_INPUT);
    CHECK(strstr(error.text, "18446744073709551615") != NULL);
    folder_leave();
}

static void operands_that_are_no_files(void)
{
    folder_enter();
    CHECK(!dti_container_is("nothing"));
    CHECK(dti_container_is(".")); /* a folder is a checkpoint or an error */
    CHECK(!dti_container_is("/dev/null"));
    refused("nothing", DTI_BAD_INPUT, "cannot read 'nothing': No such file or directory");
    CHECK(mkfifo("pipe", 0644) == 0);
    CHECK(!dti_container_is("pipe")); /* and does not block */
    refused("pipe", DTI_BAD_INPUT,
            "'pipe' is not seekable, which reading tensors requires; copy it to a regular file "
            "first"); /* does not block either, without a writer */
    const int both = open("pipe", O_RDWR);
    CHECK(both >= 0);
    refused(
        "pipe", DTI_BAD_INPUT,
        "'pipe' is not seekable, which reading tensors requires; copy it to a regular file first");
    close(both);
    folder_leave();
}

/* Opens "x" as raw codes. Returns NULL if it fails with the expected message. */
static struct dti_container *open_raw(const struct dti_raw *raw, const char *message)
{
    const struct dti_container_options options = {.raw = raw};
    struct dti_container *container = NULL;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_open(&container, "x", &options, &error);
    if (message) {
        CHECK(status == DTI_BAD_INPUT);
        CHECK_STR(error.text, message);
    } else if (!CHECK(status == DTI_OK)) {
        printf("    %s\n", error.text);
    }
    return container;
}

static void raw_files_are_one_tensor(void)
{
    static const uint64_t shape[] = {2, 3}, huge[] = {UINT64_C(1) << 33, UINT64_C(1) << 33};
    struct dti_raw raw = {.format = *dti_format_get(DTI_FP32)};
    unsigned char bytes[24] = {0};
    folder_enter();
    file_make("x", bytes, 24);
    struct dti_container *container = open_raw(&raw, NULL);
    if (container) {
        const struct dti_tensor *const t = container->tensors;
        CHECK(container->kind == DTI_CONTAINER_RAW && container->tensor_count == 1);
        CHECK_STR(t->name, "data");
        CHECK_STR(t->stored_as, "fp32");
        CHECK(t->rank == 1 && t->shape[0] == 6 && t->elements == 6 && t->bytes == 24);
        CHECK(t->format->id == DTI_FP32 && t->offset == 0 && !dti_tensor_refusal(t));
        dti_container_free(container);
    }
    raw.shaped = true, raw.rank = 2, raw.shape = shape;
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->rank == 2 && container->tensors->shape[1] == 3);
        dti_container_free(container);
    }
    raw.format = *dti_format_get(DTI_FP64);
    open_raw(&raw, "'x': the shape has 6 elements, which are 48 bytes of fp64; the file has 24");
    raw.shape = huge;
    open_raw(&raw, "'x': the shape has too many elements");
    raw.rank = 0;
    raw.format = *dti_format_get(DTI_FP32);
    open_raw(&raw, "'x': the shape has 1 elements, which are 4 bytes of fp32; the file has 24");
    raw = (struct dti_raw){.format = *dti_format_get(DTI_COMPLEX64)};
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 3);
        dti_container_free(container);
    }
    raw.shaped = true, raw.rank = 1, raw.shape = (const uint64_t[]){3};
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 3 && container->tensors->bytes == 24);
        dti_container_free(container);
    }
    raw.shaped = false;
    file_make("x", bytes, 20);
    open_raw(&raw,
             "'x': 20 bytes are 2 complex64 plus 4 extra bytes; wrong dtype, or truncated file?");
    file_make("x", bytes, 0);
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 0 && container->tensors->shape[0] == 0);
        dti_container_free(container);
    }
    folder_leave();
}

static void raw_files_of_packed_codes_end_in_zeros(void)
{
    static const uint64_t seven[] = {7}, eight[] = {8};
    struct dti_raw raw = {.format = *dti_format_get(DTI_FP6_E2M3)};
    const unsigned char bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0x03, 0x00};
    struct dti_container *container;
    folder_enter();
    file_make("x", bytes, 6); /* 48 bits */
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 8);
        dti_container_free(container);
    }
    raw.shaped = true, raw.rank = 1, raw.shape = seven; /* 42 bits; the other 6 are zero */
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 7 && container->tensors->bytes == 6);
        dti_container_free(container);
    }
    raw.layout.packing = DTI_PACKING_HIGH;
    open_raw(&raw, "'x': the last 6 bits are too few for another fp6_e2m3 and are not zero");
    raw.layout.packing = DTI_PACKING_LOW;
    raw.shape = eight;
    file_make("x", bytes, 7);
    open_raw(&raw, "'x': the shape has 8 elements, which are 6 bytes of fp6_e2m3; the file has 7");
    raw.shaped = false;
    file_make("x", bytes + 1, 4); /* 32 bits: 5 elements and 2 bits */
    open_raw(&raw, "'x': the last 2 bits are too few for another fp6_e2m3 and are not zero");
    raw.layout.packing = DTI_PACKING_BYTES;
    container = open_raw(&raw, NULL);
    if (container) {
        CHECK(container->tensors->elements == 4);
        dti_container_free(container);
    }
    folder_leave();
}

static void new_files_of_every_written_kind(void)
{
    static const uint64_t shape[] = {3, 5};
    struct dti_new_head head;
    struct dti_error error;
    uint64_t size;
    dti_new_head_init(&head);
    for (unsigned k = 0; k < DTI_CONTAINER_COUNT; k++) {
        const enum dti_container_kind kind = (enum dti_container_kind)k;
        struct dti_new_tensor tensor = {.name = "data",
                                        .name_length = 4,
                                        .rank = 2,
                                        .shape = shape,
                                        .format = dti_format_get(DTI_FP32)};
        const bool stores = dti_container_stores(kind, tensor.format, &tensor.layout);
        CHECK(stores == dti_container_is_written(kind));
        dti_new_head_free(&head);
        dti_new_head_init(&head);
        const enum dti_status status =
            dti_container_layout(kind, &tensor, 1, NULL, 0, &head, &size, &error);
        const bool remade = dti_container_traits(kind) & DTI_TRAIT_REMADE;
        CHECK(status == (remade ? DTI_WRONG_KIND : stores ? DTI_OK : DTI_USAGE));
        if (stores && !remade)
            CHECK(tensor.bytes == 60 && size == head.text.length + 60);
        if (stores && !(dti_container_traits(kind) & DTI_TRAIT_PLACED))
            CHECK(tensor.offset == head.text.length);
    }
    struct dti_new_tensor two[2] = {{.name = "a", .name_length = 1}};
    CHECK(dti_container_layout(DTI_CONTAINER_RAW, two, 2, NULL, 0, &head, &size, &error) ==
          DTI_BAD_INPUT);
    CHECK_STR(error.text, "a raw file holds one tensor, not 2");
    struct dti_new_tensor packed = {.name = "p",
                                    .name_length = 1,
                                    .rank = 2,
                                    .shape = shape,
                                    .format = dti_format_get(DTI_FP4_E2M1)};
    dti_buffer_clear(&head.text);
    CHECK(dti_container_stores(DTI_CONTAINER_RAW, packed.format, &packed.layout));
    CHECK(dti_container_layout(DTI_CONTAINER_RAW, &packed, 1, NULL, 0, &head, &size, &error) ==
              DTI_OK &&
          size == 8 && head.text.length == 0);
    dti_new_head_free(&head);
}

static void every_kind_is_known_by_its_extension(void)
{
    char path[64];
    for (unsigned k = 0; k < DTI_CONTAINER_COUNT; k++) {
        const enum dti_container_kind kind = (enum dti_container_kind)k;
        (void)snprintf(path, sizeof path, "folder/a%s", dti_container_extension(kind));
        /* a part of a split gguf has the extension of a whole file */
        const enum dti_container_kind named =
            kind == DTI_CONTAINER_SPLIT_GGUF ? DTI_CONTAINER_GGUF : kind;
        CHECK(dti_container_named(path) == named);
        CHECK(dti_container_named(dti_container_extension(kind)) == named);
        path[strlen(path) - 1] = '\0';
        CHECK(dti_container_named(path) == DTI_CONTAINER_COUNT);
    }
    CHECK(dti_container_named("") == DTI_CONTAINER_COUNT);
}

static void traits_tell_what_is_written(void)
{
    static const unsigned traits[DTI_CONTAINER_COUNT] = {
        [DTI_CONTAINER_SAFETENSORS] =
            DTI_TRAIT_TEXTS | DTI_TRAIT_SEVERAL | DTI_TRAIT_CONFIG | DTI_TRAIT_REPLACES,
        [DTI_CONTAINER_SHARDED] = DTI_TRAIT_TEXTS | DTI_TRAIT_SEVERAL | DTI_TRAIT_FOLDER |
                                  DTI_TRAIT_SHARDS | DTI_TRAIT_CONFIG | DTI_TRAIT_REPLACES,
        [DTI_CONTAINER_DDUF] = DTI_TRAIT_SEVERAL | DTI_TRAIT_PLACED | DTI_TRAIT_REMADE,
        [DTI_CONTAINER_NPY] = DTI_TRAIT_NUMPY,
        [DTI_CONTAINER_NPZ] = DTI_TRAIT_NUMPY | DTI_TRAIT_SEVERAL | DTI_TRAIT_PLACED,
        [DTI_CONTAINER_PYTORCH] = DTI_TRAIT_CONFIG,
        [DTI_CONTAINER_SHARDED_PT] = DTI_TRAIT_FOLDER | DTI_TRAIT_CONFIG,
        [DTI_CONTAINER_SPLIT_GGUF] = DTI_TRAIT_FOLDER | DTI_TRAIT_GGML,
        [DTI_CONTAINER_GGUF] = DTI_TRAIT_SEVERAL | DTI_TRAIT_PLACED | DTI_TRAIT_REMADE |
                               DTI_TRAIT_GGML | DTI_TRAIT_REPLACES,
        [DTI_CONTAINER_ONNX] = DTI_TRAIT_GRAPH,
        [DTI_CONTAINER_RAW] = DTI_TRAIT_BARE,
    };
    for (unsigned kind = 0; kind < DTI_CONTAINER_COUNT; kind++)
        CHECK(dti_container_traits((enum dti_container_kind)kind) == traits[kind]);
    CHECK(dti_container_traits(DTI_CONTAINER_COUNT) == 0);
    CHECK(!dti_container_is_written(DTI_CONTAINER_COUNT));
    CHECK(dti_container_first(DTI_TRAIT_NUMPY) == DTI_CONTAINER_NPY);
    CHECK(dti_container_first(DTI_TRAIT_NUMPY | DTI_TRAIT_SEVERAL) == DTI_CONTAINER_NPZ);
    CHECK(dti_container_remakes(DTI_CONTAINER_GGUF, DTI_CONTAINER_SPLIT_GGUF));
    CHECK(!dti_container_remakes(DTI_CONTAINER_GGUF, DTI_CONTAINER_SAFETENSORS));
    CHECK(!dti_container_remakes(DTI_CONTAINER_SAFETENSORS, DTI_CONTAINER_GGUF));
    CHECK(dti_is_array(DTI_CONTAINER_NPY) && !dti_is_array(DTI_CONTAINER_NPZ) &&
          !dti_is_array(DTI_CONTAINER_RAW));
    CHECK(dti_container_words(DTI_CONTAINER_COUNT) == NULL);
    CHECK_STR(dti_container_packed(DTI_CONTAINER_NPZ), "compressed");
}

/* The output kind can always be written; in a stream, it is a kind that needs no seeking. */
static void a_file_becomes_what_can_be_written(void)
{
    static const enum dti_container_kind becomes[DTI_CONTAINER_COUNT] = {
        [DTI_CONTAINER_SHARDED] = DTI_CONTAINER_SHARDED,
        [DTI_CONTAINER_NPY] = DTI_CONTAINER_NPY,
        [DTI_CONTAINER_NPZ] = DTI_CONTAINER_NPZ,
        [DTI_CONTAINER_SHARDED_PT] = DTI_CONTAINER_SHARDED,
        [DTI_CONTAINER_RAW] = DTI_CONTAINER_RAW,
    }; /* all others become safetensors */
    for (unsigned i = 0; i < DTI_CONTAINER_COUNT; i++) {
        const enum dti_container_kind stream =
            dti_container_becomes((enum dti_container_kind)i, true);
        CHECK(dti_container_becomes((enum dti_container_kind)i, false) == becomes[i]);
        CHECK(dti_container_is_written(becomes[i]));
        CHECK(!dti_container_has(stream, DTI_TRAIT_FOLDER | DTI_TRAIT_PLACED));
        CHECK(stream == becomes[i] || stream == DTI_CONTAINER_SAFETENSORS);
    }
}

UNIT_MAIN(every_kind_is_known_by_its_extension, traits_tell_what_is_written,
          a_file_becomes_what_can_be_written, the_content_tells_the_kind, what_is_not_read_is_told,
          broken_files_get_the_verdict_of_their_kind, operands_that_are_no_files,
          raw_files_are_one_tensor, raw_files_of_packed_codes_end_in_zeros,
          new_files_of_every_written_kind)
