/* SPDX-License-Identifier: MIT
 *
 * GGUF reader probe for the oracle tests. Standard input: files, each preceded by its length in
 * 4 bytes, little-endian. Answers are lines of JSON; texts of files are in hexadecimal:
 *
 *     {"ok":true,"version":"3","tensors":[[NAME,"F32","fp32",[2,3],OFFSET,BYTES]],
 *      "metadata":[[KEY,"uint32",COUNT,TOKEN]],"notes":["big_endian"]}
 *     {"ok":false,"error":"..."}
 *
 * TOKEN is a JSON value; for strings, a list with their hexadecimal digits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "containers/containers.h"
#include "io/scratch.h"

static void put_hex(const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        putchar(digits[(unsigned char)text[i] >> 4]);
        putchar(digits[(unsigned char)text[i] & 15]);
    }
    putchar('"');
}

static void put_tensor(const struct dti_tensor *tensor)
{
    putchar('[');
    put_hex(tensor->name, tensor->name_length);
    printf(",\"%s\",\"%s\",[", tensor->stored_as,
           tensor->format             ? tensor->format->name
           : dti_tensor_block(tensor) ? dti_tensor_block(tensor)->name
                                      : "");
    for (unsigned i = 0; i < tensor->rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", tensor->shape[i]);
    printf("],%" PRIu64 ",%" PRIu64 "]", tensor->offset, tensor->bytes);
}

static void put_metadata(const struct dti_metadata *metadata)
{
    putchar('[');
    put_hex(metadata->key, metadata->key_length);
    printf(",\"%s\",%" PRIu64 ",", metadata->type, metadata->count);
    if (metadata->kind == DTI_METADATA_STRING) {
        putchar('[');
        put_hex(metadata->value, metadata->value_length);
        putchar(']');
    } else {
        fwrite(metadata->value, 1, metadata->value_length, stdout);
    }
    putchar(']');
}

static void put_container(const struct dti_container *container)
{
    printf("{\"ok\":true,\"version\":\"%s\",\"tensors\":[", container->version);
    for (size_t i = 0; i < container->tensor_count; i++) {
        printf("%s", i > 0 ? "," : "");
        put_tensor(&container->tensors[i]);
    }
    printf("],\"metadata\":[");
    for (size_t i = 0; i < container->metadata_count; i++) {
        printf("%s", i > 0 ? "," : "");
        put_metadata(&container->metadata[i]);
    }
    printf("],\"notes\":[");
    for (size_t i = 0; i < container->note_count; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", container->notes[i].code);
    puts("]}");
}

/* Messages have no control characters. */
static void put_error(const char *text)
{
    printf("{\"ok\":false,\"error\":\"");
    for (; *text != '\0'; text++)
        printf("%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    puts("\"}");
}

static void judge(struct dti_input *input, const unsigned char *data, size_t size)
{
    struct dti_error error;
    input->size = 0;
    if (ftruncate(input->fd, 0) != 0 || dti_scratch_append(input, data, size, &error) != DTI_OK)
        exit(1);
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container_file file = {.path = "x", .input = *input};
    struct dti_container container = {.kind = DTI_CONTAINER_GGUF, .files = &file, .file_count = 1};
    if (dti_container_read(&container, &pool, NULL, &error) == DTI_OK)
        put_container(&container);
    else
        put_error(error.text);
    dti_pool_free(&pool);
}

int main(void)
{
    struct dti_input input;
    unsigned char prefix[4];
    if (dti_scratch_open(&input, "x", 0, NULL) != DTI_OK)
        return 1;
    while (fread(prefix, 1, sizeof prefix, stdin) == sizeof prefix) {
        const size_t size = (size_t)prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 |
                            (size_t)prefix[3] << 24;
        unsigned char *const data = malloc(size > 0 ? size : 1);
        if (!data || fread(data, 1, size, stdin) != size)
            return 1;
        judge(&input, data, size);
        free(data);
        (void)fflush(stdout);
    }
    return ferror(stdout) ? 1 : 0;
}
