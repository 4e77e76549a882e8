/* SPDX-License-Identifier: MIT
 *
 * ONNX: the content of valid models, decoding of typed fields, and files with external data. */
#include <sys/stat.h>
#include <unistd.h>

#include "containers/container.h"

#include "folder.h"
#include "unit.h"

/* A file under construction. */
static unsigned char made[1 << 12];
static size_t made_length;

static void put(const void *bytes, size_t size)
{
    memcpy(made + made_length, bytes, size);
    made_length += size;
}

static void put_byte(unsigned byte)
{
    made[made_length++] = (unsigned char)byte;
}

/* A field of at most 127 bytes. */
static void put_block(unsigned field, const void *bytes, size_t size)
{
    put_byte(field << 3 | 2);
    put_byte((unsigned)size);
    put(bytes, size);
}

static void put_text(unsigned field, const char *text)
{
    put_block(field, text, strlen(text));
}

static void put_small(unsigned field, unsigned number)
{
    put_byte(field << 3);
    put_byte(number);
}

/* Everything put between begin() and end() forms a message of at most 127 bytes. */
static size_t begin(unsigned field)
{
    put_byte(field << 3 | 2);
    put_byte(0);
    return made_length;
}

static void end(size_t start)
{
    made[start - 1] = (unsigned char)(made_length - start);
}

static size_t start_tensor(const char *name, unsigned type, unsigned size)
{
    const size_t start = begin(5);
    put_text(8, name);
    put_small(2, type);
    put_small(1, size);
    return start;
}

static void start_model(void)
{
    made_length = 0;
    put_small(1, 10);
    put_text(2, "unit");
}

static enum dti_status open_made(struct dti_container **ret, struct dti_error *reterr)
{
    file_make("x.onnx", made, made_length);
    return dti_container_open(ret, "x.onnx", NULL, reterr);
}

static void has_data(struct dti_container *container, size_t at, const char *name,
                     const void *bytes, size_t size)
{
    unsigned char got[64] = {0};
    const struct dti_tensor *const tensor = &container->tensors[at];
    const struct dti_input *input;
    uint64_t offset;
    struct dti_error error;
    CHECK_STR(tensor->name, name);
    CHECK_SIZE(tensor->bytes, size);
    if (CHECK(dti_container_data(container, at, &input, &offset, &error) == DTI_OK) &&
        CHECK(dti_input_read_at(input, got, size, offset, &error) == DTI_OK))
        CHECK(memcmp(got, bytes, size) == 0);
}

static void numbers_are_decoded(void)
{
    struct dti_container *container;
    struct dti_error error;
    folder_enter();
    start_model();
    size_t graph = begin(7), tensor = start_tensor("raw", 1, 1);
    put_block(9, "\0\0\x80\x3f", 4);
    end(tensor);
    tensor = start_tensor("mixed", 5, 4); /* int16: single, packed, an empty run, single */
    put("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11);
    put_block(5, "\xac\2\1", 3);
    put_block(5, "", 0);
    put("\x28\2", 2);
    end(tensor);
    end(graph); /* a graph in two parts is one graph */
    graph = begin(7);
    tensor = start_tensor("together", 11, 1);
    put_block(10, "12345678", 8);
    end(tensor);
    tensor = start_tensor("apart", 1, 2);
    put("\x25"
        "abcd\x25"
        "efgh",
        10);
    end(tensor);
    tensor = start_tensor("six", 27, 5);
    put_block(5, "\x08\x3f\1\x10\4", 5);
    end(tensor);
    tensor = start_tensor("four", 22, 3);
    put_block(5, "\xe1\1\3", 3);
    end(tensor);
    end(graph);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        CHECK(container->kind == DTI_CONTAINER_ONNX && container->tensor_count == 6);
        CHECK_STR(container->version, "10");
        has_data(container, 0, "raw", "\0\0\x80\x3f", 4);
        has_data(container, 1, "mixed", "\xff\xff\x2c\1\1\0\2\0", 8);
        has_data(container, 2, "together", "12345678", 8);
        has_data(container, 3, "apart", "abcdefgh", 8);
        has_data(container, 4, "six", "\xc8\x1f\x40\4", 4);
        has_data(container, 5, "four", "\xe1\3", 2);
        has_data(container, 1, "mixed", "\xff\xff\x2c\1\1\0\2\0", 8); /* a second read */
        CHECK(!container->tensors[0].compressed && container->tensors[1].compressed);
        CHECK(!container->tensors[2].compressed && container->tensors[3].compressed);
        dti_container_free(container);
    }
    folder_leave();
}

static void put_entry(const char *key, const char *value)
{
    const size_t entry = begin(13);
    put_text(1, key);
    put_text(2, value);
    end(entry);
}

/* A model with one tensor of 2 floats in another file. */
static void make_external(const char *location, const char *offset)
{
    start_model();
    const size_t graph = begin(7), tensor = start_tensor("w", 1, 2);
    put_entry("location", location);
    if (offset)
        put_entry("offset", offset);
    put_byte(14 << 3);
    put_byte(1);
    end(tensor);
    end(graph);
}

static void is_refused(const char *location, const char *offset, const char *text)
{
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    make_external(location, offset);
    if (CHECK(open_made(&container, &error) == DTI_BAD_INPUT))
        CHECK_STR(error.text, text);
}

static void is_read(const char *path, const char *bytes)
{
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    if (!CHECK(dti_container_open(&container, path, NULL, &error) == DTI_OK)) {
        printf("    %s\n", error.text);
        return;
    }
    CHECK_SIZE(container->file_count, 2);
    has_data(container, 0, "w", bytes, 8);
    dti_container_free(container);
}

static void other_files_are_read_in_the_folder(void)
{
    folder_enter();
    CHECK(mkdir("sub", 0700) == 0 && mkdir("cache", 0700) == 0 && mkdir("model", 0700) == 0);
    file_make("w.bin", "0123456789", 10);
    file_make("sub/w.bin", "abcdefgh", 8);
    make_external("./w.bin", "2");
    file_make("x.onnx", made, made_length);
    is_read("x.onnx", "23456789");
    make_external("sub//w.bin", NULL);
    file_make("x.onnx", made, made_length);
    is_read("x.onnx", "abcdefgh");
    CHECK(symlink("sub/w.bin", "link") == 0 && symlink("sub", "way") == 0);
    make_external("way/w.bin", NULL);
    file_make("x.onnx", made, made_length);
    is_read("x.onnx", "abcdefgh");
    make_external("link", NULL);
    file_make("x.onnx", made, made_length);
    is_read("x.onnx", "abcdefgh");
    file_make("cache/1", made, made_length); /* both will be links into one folder */
    file_make("cache/2", "ABCDEFGH", 8);
    CHECK(symlink("../cache/1", "model/x.onnx") == 0 && symlink("../cache/2", "model/link") == 0);
    is_read("model/x.onnx", "ABCDEFGH");
    CHECK(unlink("model/x.onnx") == 0);
    file_make("model/x.onnx", made, made_length); /* now only the data is a link */
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    CHECK(dti_container_open(&container, "model/x.onnx", NULL, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'model/x.onnx': the data of tensor 'w': 'model/link' is a symbolic link "
                          "that leads out of the folder");
    CHECK(unlink("sub/w.bin") == 0 && unlink("cache/1") == 0 && unlink("cache/2") == 0);
    CHECK(unlink("model/x.onnx") == 0 && unlink("model/link") == 0);
    CHECK(rmdir("sub") == 0 && rmdir("cache") == 0 && rmdir("model") == 0);
    folder_leave();
}

static void other_files_are_refused_outside(void)
{
    folder_enter();
    CHECK(mkdir("sub", 0700) == 0 && mkfifo("fifo", 0600) == 0);
    file_make("w.bin", "0123456789", 10);
    CHECK(symlink("/etc/passwd", "out") == 0 && symlink("/", "root") == 0);
    CHECK(symlink("loop", "loop") == 0);
    is_refused("../w.bin", NULL,
               "'x.onnx': tensor 'w': the location of its external data, '../w.bin', leads out of "
               "the model's folder; it must be a file in the model's folder");
    is_refused(
        "nothing", NULL,
        "'x.onnx': the data of tensor 'w': cannot read 'nothing': No such file or directory");
    is_refused("w.bin/x", NULL,
               "'x.onnx': the data of tensor 'w': cannot read 'w.bin/x': Not a directory");
    is_refused("sub", NULL, "'x.onnx': the data of tensor 'w': 'sub' is not a regular file");
    is_refused("fifo", NULL, "'x.onnx': the data of tensor 'w': 'fifo' is not a regular file");
    is_refused("out", NULL,
               "'x.onnx': the data of tensor 'w': 'out' is a symbolic link that leads out of the "
               "folder");
    is_refused("root/etc/passwd", NULL,
               "'x.onnx': the data of tensor 'w': 'root/etc/passwd' is a symbolic link that leads "
               "out of the folder");
    is_refused("loop", NULL,
               "'x.onnx': the data of tensor 'w': cannot read 'loop': Too many levels of symbolic "
               "links");
    is_refused("w.bin", "3",
               "'x.onnx': tensor 'w': truncated: it has 8 bytes from byte 3 of 'w.bin' on, which "
               "has 10");
    is_refused("w.bin", "9223372036854775808",
               "'x.onnx': tensor 'w': the offset of its external data, '9223372036854775808', is "
               "not a number below 2^63");
    CHECK(rmdir("sub") == 0);
    folder_leave();
}

UNIT_MAIN(numbers_are_decoded, other_files_are_read_in_the_folder, other_files_are_refused_outside)
