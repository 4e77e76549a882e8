/* SPDX-License-Identifier: MIT
 *
 * The entry point of the containers: detects the format of a file, calls its reader, and owns what
 * the reader found. */
#include "dtinfo/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "containers/containers.h"

/* A container with the memory that belongs to it. */
struct dti_container_whole {
    struct dti_container container; /* first: a pointer to it is one to the whole */
    struct dti_pool pool;
};

struct dti_layout dti_file_layout(const struct dti_format *format, enum dti_packing packing,
                                  bool file_is_big_endian)
{
    const struct dti_format *const part =
        format->kind == DTI_KIND_COMPLEX ? dti_format_get(format->component) : format;
    return (struct dti_layout){
        .packing = packing,
        .swapped = dti_format_container(part) > 1 && dti_is_swapped(file_is_big_endian),
    };
}

/* "safetensors, npy, npz, gguf": the kinds that have a mark of their own. */
static const char *detected_kinds(char *text, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < DTI_CONTAINER_COUNT; i++) {
        const enum dti_container_kind kind = (enum dti_container_kind)i;
        if (dti_container_ops(kind)->detect && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     dti_container_name(kind));
    }
    return text;
}

static enum dti_status refuse(const struct dti_input *input, const struct dti_foreign *foreign,
                              struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE], kinds[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    enum dti_status status;
    if (foreign)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s %s; %s", label, foreign->is, foreign->remedy);
    else if (input->size == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s is empty", label);
    else
        status = dti_fail_remedy(reterr, DTI_UNRECOGNIZED, DTI_REMEDY_SAY_KIND,
                                 "%s has an unknown file format (known: %s, an index)", label,
                                 detected_kinds(kinds, sizeof kinds));
    dti_error_argument(reterr, input->name, strlen(input->name));
    return status;
}

/* Finds out what the file is and reads it; files[0].input is open. */
static enum dti_status open_file(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    const struct dti_input *const input = &container->files[0].input;
    if (!input->seekable) {
        char label[DTI_QUOTE_SIZE];
        return dti_fail(
            reterr, DTI_BAD_INPUT,
            "%s is not seekable, which reading tensors requires; copy it to a regular file first",
            dti_input_label(input, label));
    }
    if (options && options->raw) {
        container->kind = DTI_CONTAINER_RAW;
        return dti_container_read(container, &whole->pool, options, reterr);
    }
    unsigned char head[DTI_HEAD_SIZE];
    const size_t size = input->size < sizeof head ? (size_t)input->size : sizeof head;
    const enum dti_status status = dti_input_read_at(input, head, size, 0, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_foreign *foreign;
    container->kind = dti_content_of(input->name, head, size, input->size, &foreign);
    if (container->kind == DTI_CONTAINER_COUNT)
        return refuse(input, foreign, reterr);
    return dti_container_read(container, &whole->pool, options, reterr);
}

static enum dti_status open_path(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    struct dti_input input;
    const enum dti_status status = dti_input_open_file(&input, container->path, reterr);
    if (status != DTI_OK) {
        enum dti_input_kind kind;
        if (status == DTI_NO_MEMORY || (options && options->raw) ||
            strcmp(container->path, "-") == 0 || dti_input_find(container->path, &kind) != 0 ||
            kind != DTI_INPUT_FOLDER)
            return status;
        container->kind = DTI_CONTAINER_SHARDED;
        return dti_container_read(container, &whole->pool, options, reterr);
    }
    container->files = dti_pool_alloc(&whole->pool, sizeof *container->files);
    if (!container->files) {
        dti_input_close(&input);
        return dti_no_memory(reterr);
    }
    container->files[0] = (struct dti_container_file){.path = container->path, .input = input};
    container->file_count = 1;
    return open_file(whole, options, reterr);
}

enum dti_status dti_container_open(struct dti_container **ret, const char *path,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr)
{
    struct dti_container_whole *const whole = calloc(1, sizeof *whole);
    if (!whole)
        return dti_no_memory(reterr);
    whole->container.path = dti_pool_text(&whole->pool, path, strlen(path));
    const enum dti_status status =
        whole->container.path ? open_path(whole, options, reterr) : dti_no_memory(reterr);
    if (status != DTI_OK)
        dti_container_free(&whole->container);
    else
        *ret = &whole->container;
    return status;
}

void dti_container_free(struct dti_container *container)
{
    if (!container)
        return;
    struct dti_container_whole *const whole = (struct dti_container_whole *)container;
    if (container->own)
        dti_container_ops(container->kind)->free(container);
    for (size_t i = 0; i < container->file_count; i++)
        dti_input_close(&container->files[i].input);
    if (container->index_file.path)
        dti_input_close(&container->index_file.input);
    dti_pool_free(&whole->pool);
    free(whole);
}

/* Whether the bytes are those of a file that dti_container_open() has something to say about. JSON
 * must be an index, unless the name has already decided. */
static bool is_head(const char *path, const unsigned char *head, size_t size, uint64_t file_size)
{
    static const char map[] = "\"weight_map\"";
    const struct dti_foreign *foreign;
    const enum dti_container_kind kind = dti_content_of(path, head, size, file_size, &foreign);
    if (kind != DTI_CONTAINER_SHARDED)
        return kind != DTI_CONTAINER_COUNT || foreign;
    for (size_t at = 0; at + sizeof map - 1 <= size; at++) {
        if (memcmp(head + at, map, sizeof map - 1) == 0)
            return true;
    }
    return false;
}

static bool has_head(const char *path)
{
    unsigned char head[DTI_HEAD_SIZE];
    struct dti_input input;
    if (dti_input_open_file(&input, path, NULL) != DTI_OK)
        return true; /* dti_container_open() says why */
    const size_t size = input.size < sizeof head ? (size_t)input.size : sizeof head;
    const bool is = input.seekable && (dti_input_read_at(&input, head, size, 0, NULL) != DTI_OK ||
                                       is_head(path, head, size, input.size));
    dti_input_close(&input);
    return is;
}

bool dti_container_is(const char *path)
{
    struct stat st = {0};
    const struct dti_foreign *foreign;
    enum dti_input_kind kind;
    if (strcmp(path, "-") == 0)
        return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && has_head(path);
    if (dti_content_of(path, (const unsigned char *)"", 0, 0, &foreign) != DTI_CONTAINER_COUNT)
        return true;
    if (dti_input_find(path, &kind) != 0)
        return dti_input_there(path) != ENOENT;
    /* opening a named pipe would wait for its writer */
    return kind == DTI_INPUT_FOLDER || (kind == DTI_INPUT_REGULAR && has_head(path));
}
