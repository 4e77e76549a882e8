/* SPDX-License-Identifier: MIT
 *
 * Probe of the .npy and .npz readers, for comparison with numpy. Standard input: files, each
 * preceded by its length in 4 bytes, little-endian. An argument is the dtype to assume for lost
 * types. Answers are lines of JSON:
 *
 *     {"ok":true,"version":"1.0","notes":["trailing_bytes"],"tensors":[{"name":HEX,"type":"<f4",
 *      "format":"fp32","shape":[2,3],"fortran":false,"big":false,"packed":false,"elements":6,
 *      "bytes":24,"refusal":null,"data":HEX,"error":null,"head":HEX}]}
 *     {"ok":false,"error":"..."}
 *
 * data are the first 2^20 bytes, or null with the reason in error; head is the header that we would
 * write, or null.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "io/scratch.h"

enum { DATA_MAX = 1 << 20 };

static void put_hex(const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    putchar('"');
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

/* Message text: no control characters, but possibly invalid UTF-8. */
static void put_text(const char *text)
{
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void put_data(struct dti_container *container, const struct dti_tensor *tensor)
{
    static unsigned char data[DATA_MAX];
    const size_t size = tensor->bytes < sizeof data ? (size_t)tensor->bytes : sizeof data;
    const struct dti_input *input;
    uint64_t offset;
    struct dti_error error;
    enum dti_status status = dti_container_data(container, (size_t)(tensor - container->tensors),
                                                &input, &offset, &error);
    if (status == DTI_OK)
        status = dti_input_read_at(input, data, size, offset, &error);
    printf(",\"data\":");
    if (status == DTI_OK)
        put_hex(data, size);
    else
        put_text(NULL);
    printf(",\"error\":");
    put_text(status == DTI_OK ? NULL : error.text);
}

static void put_head(const struct dti_tensor *tensor)
{
    struct dti_new_tensor new = {.name = "x",
                                 .name_length = 1,
                                 .format = tensor->format,
                                 .rank = tensor->rank,
                                 .shape = tensor->shape,
                                 .fortran = tensor->fortran};
    struct dti_new_head head;
    uint64_t size;
    dti_new_head_init(&head);
    printf(",\"head\":");
    if (tensor->format && dti_npy_stores(new.format, &new.layout) &&
        dti_npy_layout(&new, 1, NULL, 0, &head, &size, NULL) == DTI_OK &&
        size == head.text.length + tensor->bytes)
        put_hex(head.text.data, head.text.length);
    else
        put_text(NULL);
    dti_new_head_free(&head);
}

static void put_tensor(struct dti_container *container, const struct dti_tensor *tensor)
{
    static const char *const words[] = {"false", "true"};
    printf("{\"name\":");
    put_hex(tensor->name, tensor->name_length);
    printf(",\"type\":");
    put_text(tensor->stored_as);
    printf(",\"format\":");
    put_text(tensor->format ? tensor->format->name : NULL);
    printf(",\"shape\":[");
    for (unsigned i = 0; i < tensor->rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", tensor->shape[i]);
    printf("],\"fortran\":%s,\"big\":%s,\"packed\":%s,\"elements\":%" PRIu64 ",\"bytes\":%" PRIu64,
           words[tensor->fortran], words[tensor->layout.swapped != dti_is_swapped(false)],
           words[tensor->compressed], tensor->elements, tensor->bytes);
    printf(",\"refusal\":");
    put_text(dti_tensor_refusal(tensor));
    put_data(container, tensor);
    put_head(tensor);
    printf("}");
}

static void put_container(struct dti_container *container)
{
    printf("{\"ok\":true,\"version\":");
    put_text(container->version);
    printf(",\"notes\":[");
    for (size_t i = 0; i < container->note_count; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", container->notes[i].code);
    printf("],\"tensors\":[");
    for (size_t i = 0; i < container->tensor_count; i++) {
        printf("%s", i > 0 ? "," : "");
        put_tensor(container, &container->tensors[i]);
    }
    puts("]}");
}

static void judge(const struct dti_input *input, const struct dti_format *assume)
{
    struct dti_container_file file = {.path = "x", .input = *input};
    struct dti_container container = {.path = "x", .file_count = 1, .files = &file};
    const struct dti_container_options options = {.assume = assume};
    struct dti_pool pool = {.chunks = NULL};
    struct dti_error error = {.status = DTI_OK};
    unsigned char head[2] = {0, 0};
    (void)dti_input_read_at(input, head, input->size < 2 ? 0 : 2, 0, NULL);
    container.kind = memcmp(head, "PK", 2) == 0 ? DTI_CONTAINER_NPZ : DTI_CONTAINER_NPY;
    if (dti_container_read(&container, &pool, &options, &error) == DTI_OK) {
        put_container(&container);
    } else {
        printf("{\"ok\":false,\"error\":");
        put_text(error.text);
        puts("}");
    }
    if (container.own)
        dti_container_ops(container.kind)->free(&container);
    dti_pool_free(&pool);
}

int main(int argc, char **argv)
{
    struct dti_format assume;
    struct dti_input input;
    unsigned char prefix[4];
    if (argc > 2 || (argc == 2 && dti_format_lookup(argv[1], &assume, NULL, NULL) != DTI_OK)) {
        (void)fprintf(stderr, "usage: %s [DTYPE]\n", argv[0]);
        return 2;
    }
    while (fread(prefix, 1, sizeof prefix, stdin) == sizeof prefix) {
        const size_t size = (size_t)prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 |
                            (size_t)prefix[3] << 24;
        unsigned char *const data = malloc(size + 1);
        if (!data || fread(data, 1, size, stdin) != size ||
            dti_scratch_open(&input, "x", 0, NULL) != DTI_OK ||
            dti_scratch_append(&input, data, size, NULL) != DTI_OK)
            return 1;
        judge(&input, argc == 2 ? &assume : NULL);
        dti_input_close(&input);
        free(data);
        (void)fflush(stdout);
    }
    return ferror(stdout) ? 1 : 0;
}
