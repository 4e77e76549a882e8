/* SPDX-License-Identifier: MIT
 *
 * Container reader probe for the oracle tests. Answers are lines of JSON:
 *
 *     {"ok":true,"tensors":[{"name":HEX,"dtype":"F32","shape":[2],"file":0,"offset":N,"bytes":N}],
 *      "metadata":[[HEX,HEX]],"notes":["leading_space"],"head":HEX}
 *     {"ok":false,"status":"bad_input","error":"..."}
 *
 *     container_probe safetensors   standard input: files, each behind its length in 4 bytes, low
 *                                   byte first; head is what a file of the same tensors, in their
 *                                   order and with all metadata, would begin with
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors/safetensors.h"

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

/* Message text: ASCII and UTF-8 without control characters. */
static void put_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void put_error(const struct dti_error *error)
{
    printf("{\"ok\":false,\"status\":\"%s\",\"error\":", dti_status_code(error->status));
    put_text(error->text);
    puts("}");
}

static void put_tensor(const struct dti_tensor *tensor)
{
    printf("{\"name\":");
    put_hex(tensor->name, tensor->name_length);
    printf(",\"dtype\":");
    put_text(tensor->stored_as);
    printf(",\"shape\":[");
    for (unsigned i = 0; i < tensor->rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", tensor->shape[i]);
    printf("],\"file\":%u,\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", tensor->file,
           tensor->offset, tensor->bytes);
}

/* Everything but the closing brace. */
static void put_found(const struct dti_container *found)
{
    printf("{\"ok\":true,\"tensors\":[");
    for (size_t i = 0; i < found->tensor_count; i++) {
        printf("%s", i > 0 ? "," : "");
        put_tensor(&found->tensors[i]);
    }
    printf("],\"metadata\":[");
    for (size_t i = 0; i < found->metadata_count; i++) {
        printf("%s[", i > 0 ? "," : "");
        put_hex(found->metadata[i].key, found->metadata[i].key_length);
        putchar(',');
        put_hex(found->metadata[i].value, found->metadata[i].value_length);
        putchar(']');
    }
    printf("],\"notes\":[");
    for (size_t i = 0; i < found->note_count; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", found->notes[i].code);
    printf("]");
}

static void put_head(const struct dti_container *found)
{
    struct dti_new_tensor *const tensors = calloc(found->tensor_count + 1, sizeof *tensors);
    struct dti_new_head head;
    uint64_t size;
    struct dti_error error;
    dti_new_head_init(&head);
    for (size_t i = 0; tensors && i < found->tensor_count; i++)
        tensors[i] = (struct dti_new_tensor){
            .name = found->tensors[i].name,
            .name_length = found->tensors[i].name_length,
            .format = found->tensors[i].format,
            .layout = found->tensors[i].layout,
            .rank = found->tensors[i].rank,
            .shape = found->tensors[i].shape,
        };
    if (!tensors || dti_safetensors_layout(tensors, found->tensor_count, found->metadata,
                                           found->metadata_count, &head, &size, &error) != DTI_OK) {
        (void)fprintf(stderr, "what was read cannot be written: %s\n", error.text);
        exit(1);
    }
    printf(",\"size\":%" PRIu64 ",\"head\":", size);
    put_hex(head.text.data, head.text.length);
    dti_new_head_free(&head);
    free(tensors);
}

static void judge(const unsigned char *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found = {.kind = DTI_CONTAINER_SAFETENSORS};
    struct dti_error error;
    struct dti_opening opening = {
        .container = &found, .pool = &pool, .label = "'x'", .error = &error};
    uint64_t length;
    const size_t first = size < DTI_SAFETENSORS_PREFIX ? size : DTI_SAFETENSORS_PREFIX;
    if (dti_safetensors_header_length(&opening, data, first, size, &length) &&
        dti_safetensors_parse(&opening, (const char *)data + first, (size_t)length, size, 0)) {
        put_found(&found);
        put_head(&found);
        puts("}");
    } else {
        put_error(&error);
    }
    dti_pool_free(&pool);
}

static void judge_frames(void)
{
    unsigned char prefix[4];
    while (fread(prefix, 1, sizeof prefix, stdin) == sizeof prefix) {
        const size_t size = (size_t)prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 |
                            (size_t)prefix[3] << 24;
        unsigned char *const data = malloc(size > 0 ? size : 1);
        if (!data || fread(data, 1, size, stdin) != size)
            exit(1);
        judge(data, size);
        free(data);
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "safetensors") != 0) {
        (void)fprintf(stderr, "usage: %s safetensors\n", argv[0]);
        return 2;
    }
    judge_frames();
    return ferror(stdout) ? 1 : 0;
}
