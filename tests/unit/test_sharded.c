/* SPDX-License-Identifier: MIT
 *
 * Sharded checkpoints: an index or a folder, and every inconsistency between the index and the
 * shards. */
#include "containers/container.h"

#include "containers/opening.h"
#include "containers/sharded/sharded.h"
#include "folder.h"
#include "tally.h"
#include "unit.h"

#define A     "model-00001-of-00002.safetensors"
#define B     "model-00002-of-00002.safetensors"
#define INDEX "model.safetensors.index.json"

static void make_shard(const char *name, const char *header, size_t data)
{
    unsigned char bytes[2048] = {(unsigned char)strlen(header),
                                 (unsigned char)(strlen(header) >> 8)};
    memcpy(bytes + 8, header, strlen(header));
    file_make(name, bytes, 8 + strlen(header) + data);
}

/* Two shards: x and y in the first, z in the second. */
static void make_shards(void)
{
    make_shard(A,
               "{\"__metadata__\":{\"format\":\"pt\"},"
               "\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]},"
               "\"y\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}",
               12);
    make_shard(B, "{\"z\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3);
}

static void make_index(const char *text)
{
    file_make(INDEX, text, strlen(text));
}

static const char good_index[] = "{\"metadata\":{\"total_size\":15},\"weight_map\":{"
                                 "\"z\":\"" B "\",\"x\":\"" A "\",\"y\":\"" A "\"}}";

static void refused(const char *path, const char *message)
{
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_open(&container, path, NULL, &error);
    if (status == DTI_OK)
        dti_container_free(container);
    CHECK(status == DTI_BAD_INPUT);
    CHECK_STR(error.text, message);
}

static void check_good(struct dti_container *container, const char *path, const char *index)
{
    CHECK(container->kind == DTI_CONTAINER_SHARDED);
    CHECK_STR(container->path, path);
    CHECK_STR(container->index, index);
    CHECK_SIZE(container->file_count, 2);
    CHECK_SIZE(container->tensor_count, 3);
    if (container->tensor_count == 3) {
        const struct dti_tensor *const t = container->tensors;
        CHECK_STR(t[0].name, "y");
        CHECK_STR(t[1].name, "x");
        CHECK_STR(t[2].name, "z");
        CHECK(t[0].file == 0 && t[1].file == 0 && t[2].file == 1);
        CHECK(t[2].offset == container->files[1].header_bytes && t[2].bytes == 3);
    }
    CHECK(container->metadata_count == 1 && strcmp(container->metadata[0].value, "pt") == 0);
    const struct dti_input *input;
    uint64_t offset;
    unsigned char bytes[3];
    CHECK(dti_container_data(container, 2, &input, &offset, NULL) == DTI_OK);
    CHECK(dti_input_read_at(input, bytes, 3, offset, NULL) == DTI_OK);
}

static void an_index_and_a_folder_give_the_same(void)
{
    static const char *const paths[] = {INDEX, "./model.safetensors.index.json", ".", "./"};
    struct dti_container *container;
    struct dti_error error;
    folder_enter();
    make_shards();
    make_index(good_index);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!CHECK(dti_container_open(&container, paths[i], NULL, &error) == DTI_OK))
            continue;
        check_good(container, paths[i], INDEX);
        CHECK_SIZE(container->note_count, 0);
        dti_container_free(container);
    }
    CHECK(unlink(INDEX) == 0);
    file_make("._" A, "", 0); /* hidden */
    file_make("pytorch_model.bin.index.json", "{}", 2);
    if (CHECK(dti_container_open(&container, ".", NULL, &error) == DTI_OK)) {
        check_good(container, ".", NULL);
        dti_container_free(container);
    }
    folder_leave();
}

static void sizes_that_differ_are_notes(void)
{
    struct dti_container *container;
    folder_enter();
    make_shards();
    make_index("{\"weight_map\":{\"z\":\"" B "\",\"x\":\"" A "\",\"y\":\"" A "\"},\"more\":[{}],"
               "\"metadata\":{\"total_size\":100,\"total_parameters\":7,\"x\":[1,{\"y\":2}]}}");
    if (CHECK(dti_container_open(&container, ".", NULL, NULL) == DTI_OK)) {
        CHECK_SIZE(container->note_count, 2);
        CHECK_STR(container->notes[0].code, "total_size");
        CHECK_STR(container->notes[0].text, "total_size says 100 bytes, but the tensors have 15");
        CHECK_STR(container->notes[1].code, "total_parameters");
        CHECK_STR(container->notes[1].text, "the index counts 7 parameters");
        dti_container_free(container);
    }
    make_index("{\"metadata\":{\"total_size\":1.5e1},\"weight_map\":{\"z\":\"" B "\",\"x\":\"" A
               "\",\"y\":\"" A "\"}}");
    if (CHECK(dti_container_open(&container, ".", NULL, NULL) == DTI_OK)) {
        CHECK_SIZE(container->note_count, 0);
        dti_container_free(container);
    }
    make_index("{\"metadata\":null,\"weight_map\":{}}");
    if (CHECK(dti_container_open(&container, INDEX, NULL, NULL) == DTI_OK)) {
        CHECK(container->file_count == 0 && container->tensor_count == 0);
        dti_container_free(container);
    }
    folder_leave();
}

static void indexes_that_cannot_be(void)
{
    folder_enter();
    make_shards();
    make_index("");
    refused(INDEX, "'" INDEX "' is not JSON: the text ends where a value is expected at byte 0");
    make_index("{\"weight_map\":{}}}");
    refused(INDEX, "'" INDEX "' is not JSON: unexpected text after the value at byte 17");
    make_index("[]");
    refused(INDEX, "'" INDEX "' is not an index: it is not a JSON object");
    make_index("{\"metadata\":{}}");
    refused(INDEX, "'" INDEX "' is not an index: it has no \"weight_map\"");
    make_index("{\"weight_map\":[]}");
    refused(INDEX, "'" INDEX "': its \"weight_map\" is not an object");
    make_index("{\"metadata\":1,\"weight_map\":{}}");
    refused(INDEX, "'" INDEX "': its \"metadata\" is not an object");
    make_index("{\"weight_map\":{},\"weight_map\":{}}");
    refused(INDEX, "'" INDEX "' has two \"weight_map\"");
    make_index("{\"metadata\":{},\"metadata\":{},\"weight_map\":{}}");
    refused(INDEX, "'" INDEX "' has two \"metadata\"");
    make_index("{\"weight_map\":{\"x\":7}}");
    refused(INDEX, "'" INDEX "' maps tensor 'x' to a value that is not a string");
    make_index("{\"weight_map\":{\"x\":\"" A "\",\"y\":\"" A "\",\"\\u0078\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "' lists tensor 'x' twice");
    folder_leave();
}

static void shard_names_are_names_in_the_folder(void)
{
    static const char *const names[] = {"../x.safetensors", "/etc/passwd", "a/b", "..", ".", "",
                                        "a\\\\b",           "a\\u0000b",   "a..b"};
    static const char *const quoted[] = {
        "../x.safetensors", "/etc/passwd", "a/b", "..", ".", "", "a\\b", "a\\x00b", "a..b"};
    folder_enter();
    make_shards();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[256], message[256];
        snprintf(text, sizeof text, "{\"weight_map\":{\"x\":\"%s\"}}", names[i]);
        make_index(text);
        snprintf(message, sizeof message,
                 "'" INDEX "' maps tensor 'x' to '%s'; a shard must be a plain file name, without "
                 "folders or \"..\"",
                 quoted[i]);
        refused(INDEX, message);
    }
    folder_leave();
}

static void index_and_shards_must_agree(void)
{
    folder_enter();
    make_shards();
    make_index("{\"weight_map\":{\"z\":\"c.safetensors\",\"x\":\"" A "\",\"y\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "': cannot open shard 'c.safetensors' of its 2: cannot read "
                   "'c.safetensors': No such file or directory");
    make_index("{\"weight_map\":{\"z\":\"" A "\",\"x\":\"" A "\",\"y\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "': tensor 'z' is not in '" A "'; of the tensors that the index "
                   "lists there, 1 of 3 are in no shard");
    make_index("{\"weight_map\":{\"z\":\"" A "\",\"x\":\"" B "\",\"y\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "': tensor 'z' is in '" B "', not in '" A "' as the index says");
    make_index("{\"weight_map\":{\"z\":\"" B "\",\"x\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "': tensor 'y' is in '" A "', but not in the index");
    make_index("{\"weight_map\":{\"z\":\"" B "\",\"w\":\"" A "\",\"y\":\"" A "\"}}");
    refused(INDEX, "'" INDEX "': tensor 'w' is not in '" A "'; of the tensors that the index "
                   "lists there, 1 of 2 are in no shard");
    make_shard(B, "{}", 0); /* listed, but empty */
    make_index(good_index);
    refused(".", "'./" INDEX "': tensor 'z' is not in '" B "'; of the tensors that the index "
                 "lists there, 1 of 1 are in no shard");
    make_shard(B, "{\"x\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3);
    refused(".", "'./" INDEX "': tensor 'x' is in two shards, '" A "' and '" B "'");
    CHECK(unlink(INDEX) == 0);
    refused(".", "'.': tensor 'x' is in two shards, '" A "' and '" B "'");
    make_shard(B, "{\"x\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 2);
    struct dti_error error;
    struct dti_container *container;
    CHECK(dti_container_open(&container, ".", NULL, &error) == DTI_BAD_INPUT);
    CHECK(strncmp(error.text, "'./" B "'", strlen("'./" B "'")) == 0);
    folder_leave();
}

static void folders_must_tell_what_is_meant(void)
{
    folder_enter();
    refused(
        ".",
        "'.' is a folder without *.safetensors files, without an index and without a split gguf");
    file_make("a.index.json", "{}", 2);
    file_make("b.safetensors.index.json", "{}", 2);
    refused(".", "'.' holds 2 indexes, among them 'a.index.json' and 'b.safetensors.index.json'; "
                 "name one of them");
    make_shards();
    make_index(good_index); /* the usual name takes precedence */
    struct dti_container *container;
    if (CHECK(dti_container_open(&container, ".", NULL, NULL) == DTI_OK)) {
        CHECK_STR(container->index, INDEX);
        dti_container_free(container);
    }
    CHECK(unlink(A) == 0 && mkdir(A, 0755) == 0);
    refused(".", "'./" INDEX "': cannot open shard '" A "' of its 2: cannot read './" A
                 "': Is a directory");
    CHECK(rmdir(A) == 0 && mkfifo(A, 0600) == 0); /* a FIFO without a writer */
    refused(".", "'./" A "' is not a regular file");
    CHECK(unlink(INDEX) == 0 && unlink("b.safetensors.index.json") == 0);
    refused(".", "'./a.index.json' is not an index: it has no \"weight_map\"");
    CHECK(unlink("a.index.json") == 0);
    refused(".", "'./" A "' is not a regular file");
    folder_leave();
}

static void many_shards_open(void)
{
    enum { SHARDS = 300 };
    struct dti_container *container;
    struct dti_error error;
    folder_enter();
    for (unsigned i = 0; i < SHARDS; i++) {
        char name[32], header[128];
        snprintf(name, sizeof name, "s-%03u.safetensors", i);
        snprintf(header, sizeof header,
                 "{\"t%u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", i);
        make_shard(name, header, 1);
    }
    if (CHECK(dti_container_open(&container, ".", NULL, &error) == DTI_OK)) {
        CHECK_SIZE(container->file_count, SHARDS);
        CHECK_SIZE(container->tensor_count, SHARDS);
        CHECK_STR(container->tensors[SHARDS - 1].name, "t299");
        CHECK(container->tensors[SHARDS - 1].file == SHARDS - 1);
        dti_container_free(container);
    }
    folder_leave();
}

static void indexes_are_written_as_transformers_does(void)
{
    static const uint64_t shape[] = {2};
    struct dti_new_tensor tensors[] = {
        {.name = "b\"", .name_length = 2, .rank = 1, .shape = shape, .bytes = 8},
        {.name = "a.b", .name_length = 3, .rank = 1, .shape = shape, .bytes = 2},
        {.name = "a", .name_length = 1, .rank = 1, .shape = shape, .bytes = 4},
    };
    static const char *const shards[] = {"2.safetensors", "1.safetensors", "2.safetensors"};
    struct dti_buffer text;
    struct dti_error error;
    dti_buffer_init(&text);
    CHECK(dti_sharded_index(tensors, shards, 3, &text, &error) == DTI_OK);
    CHECK_STR(text.data, "{\n  \"metadata\": {\n    \"total_size\": 14\n  },\n  \"weight_map\": {\n"
                         "    \"a\": \"2.safetensors\",\n    \"a.b\": \"1.safetensors\",\n"
                         "    \"b\\\"\": \"2.safetensors\"\n  }\n}\n");
    dti_buffer_clear(&text);
    CHECK(dti_sharded_index(tensors, shards, 0, &text, &error) == DTI_OK);
    CHECK_STR(text.data,
              "{\n  \"metadata\": {\n    \"total_size\": 0\n  },\n  \"weight_map\": {}\n}\n");
    dti_buffer_clear(&text);
    tensors[0] = tensors[2];
    CHECK(dti_sharded_index(tensors, shards, 3, &text, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "tensor 'a' occurs twice");
    tensors[0].name = "\xff";
    CHECK(dti_sharded_index(tensors, shards, 3, &text, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "tensor '\\xff' has a name that is not UTF-8, which JSON cannot hold");
    tensors[0].name = "c";
    tensors[0].bytes = UINT64_MAX;
    CHECK(dti_sharded_index(tensors, shards, 3, &text, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "tensor 'c' brings the total size beyond 64 bits");
    CHECK_SIZE(text.length, 0);
    dti_buffer_free(&text);
}

/* An index of files that need not be there: how many there may be is known before one is opened. */
static void make_long_index(size_t count)
{
    enum { LINE = 64 };
    char *const text = malloc(count * LINE + LINE);
    size_t used = (size_t)snprintf(text, LINE, "{\"weight_map\":{");
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, LINE, "%s\"%zu\":\"m-%05zu.safetensors\"",
                                 i > 0 ? "," : "", i, i);
    used += (size_t)snprintf(text + used, LINE, "}}");
    file_make(INDEX, text, used);
    free(text);
}

static void a_model_has_at_most_65535_files(void)
{
    folder_enter();
    make_long_index(65535);
    refused(INDEX, "'" INDEX "': cannot open shard 'm-00000.safetensors' of its 65535: "
                   "cannot read 'm-00000.safetensors': No such file or directory");
    make_long_index(65536);
    refused(INDEX, "'" INDEX "' has 65536 shards, and the limit is 65535");
    folder_leave();
}

static void a_name_has_at_most_2_gib(void)
{
    static const struct {
        size_t length;
        bool fits;
    } lengths[] = {{0, true}, {INT32_MAX, true}, {(size_t)INT32_MAX + 1, false}, {SIZE_MAX, false}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct dti_error error = {.status = DTI_OK};
        struct dti_opening opening = {.label = "'x'", .error = &error};
        struct dti_tensor tensor;
        char message[128];
        (void)snprintf(message, sizeof message,
                       "'x': a tensor has a name of %zu bytes, and the limit is 2147483647",
                       lengths[i].length);
        CHECK(dti_opening_name_length(&opening, lengths[i].length, &tensor) == lengths[i].fits);
        if (lengths[i].fits)
            CHECK_SIZE(tensor.name_length, lengths[i].length);
        else
            CHECK_STR(error.text, message);
    }
}

static enum dti_status open_index(struct dti_error *reterr)
{
    struct dti_container *opened;
    const enum dti_status status = dti_container_open(&opened, INDEX, NULL, reterr);
    if (status == DTI_OK)
        dti_container_free(opened);
    return status;
}

/* With a pool of its own, which needs memory for the first piece. */
static enum dti_status open_two(struct dti_error *reterr)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_opening opening = {.pool = &pool, .error = reterr};
    struct dti_container_file files[] = {{.path = A}, {.path = B}};
    size_t opened = 0;
    const enum dti_status status = dti_open_files(&opening, files, 2, &opened, reterr);
    CHECK(status == DTI_OK ? opened == 2 : opened < 2);
    for (size_t i = 0; i < opened; i++)
        dti_input_close(&files[i].input);
    dti_pool_free(&pool);
    return status;
}

static void memory_that_runs_out_is_told(void)
{
    folder_enter();
    make_shards();
    make_index(good_index);
    tally_fail_each(open_index);
    tally_fail_each(open_two);
    folder_leave();
}

UNIT_MAIN(an_index_and_a_folder_give_the_same, sizes_that_differ_are_notes, indexes_that_cannot_be,
          shard_names_are_names_in_the_folder, index_and_shards_must_agree,
          folders_must_tell_what_is_meant, many_shards_open, a_model_has_at_most_65535_files,
          a_name_has_at_most_2_gib, indexes_are_written_as_transformers_does,
          memory_that_runs_out_is_told)
