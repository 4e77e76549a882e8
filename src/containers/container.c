/* SPDX-License-Identifier: MIT
 *
 * The front of the containers: finds out what a file is, hands it to the reader of its kind, and
 * owns what the reader found. */
#include "dtinfo/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "containers/containers.h"
#include "containers/npy.h"
#include "containers/npz.h"
#include "containers/safetensors.h"

bool dti_list_grow(struct dti_pool *pool, void **list, size_t count, size_t *capacity,
                   size_t element_size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity < 8 ? 8 : *capacity;
    if (more > SIZE_MAX / 2 - *capacity)
        return false;
    void *const larger = dti_pool_array(pool, *capacity + more, element_size);
    if (!larger)
        return false;
    if (count > 0)
        memcpy(larger, *list, count * element_size);
    *list = larger;
    *capacity += more;
    return true;
}

bool dti_notes_add(struct dti_notes *notes, const char *code, const char *text)
{
    void *list = notes->notes;
    if (!dti_list_grow(notes->pool, &list, notes->count, &notes->capacity, sizeof *notes->notes))
        return false;
    notes->notes = list;
    const char *const copy = dti_pool_text(notes->pool, text, strlen(text));
    if (!copy)
        return false;
    notes->notes[notes->count++] = (struct dti_note){.code = code, .text = copy};
    return true;
}

static enum dti_status read_safetensors(struct dti_container_whole *whole,
                                        const struct dti_container_options *options,
                                        struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    struct dti_safetensors found;
    const enum dti_status status =
        dti_safetensors_read(&whole->pool, &container->files[0], 0, options, &found, reterr);
    if (status != DTI_OK)
        return status;
    container->tensors = found.tensors;
    container->tensor_count = found.tensor_count;
    container->metadata = found.metadata;
    container->metadata_count = found.metadata_count;
    container->notes = found.notes;
    container->note_count = found.note_count;
    return DTI_OK;
}

/* Readers that find one tensor. */
static enum dti_status read_one(struct dti_container_whole *whole,
                                const struct dti_container_options *options,
                                struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    struct dti_tensor *const tensor = dti_pool_alloc(&whole->pool, sizeof *tensor);
    if (!tensor)
        return dti_no_memory(reterr);
    enum dti_status status;
    if (container->kind == DTI_CONTAINER_RAW)
        status = dti_raw_read(&whole->pool, &container->files[0], options->raw, tensor, reterr);
    else
        status = dti_npy_read(&whole->pool, container, options, tensor, reterr);
    if (status != DTI_OK)
        return status;
    container->tensors = tensor;
    container->tensor_count = 1;
    return DTI_OK;
}

static enum dti_status read_file(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    switch (container->kind) {
    case DTI_CONTAINER_SAFETENSORS:
        return read_safetensors(whole, options, reterr);
    case DTI_CONTAINER_NPZ:
        return dti_npz_open(&whole->pool, container, options, reterr);
    case DTI_CONTAINER_GGUF:
        return dti_gguf_read(&whole->pool, &container->files[0], container, reterr);
    case DTI_CONTAINER_SHARDED:
        container->index_file = container->files[0];
        container->file_count = 0;
        return dti_sharded_open(whole, options, reterr);
    default:
        return read_one(whole, options, reterr);
    }
}

static enum dti_status refuse(const struct dti_input *input, const struct dti_foreign *foreign,
                              struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    enum dti_status status;
    if (foreign)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s %s; %s", label, foreign->is, foreign->remedy);
    else if (input->size == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s is empty", label);
    else
        status = dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_SAY_KIND,
            "%s is none of the kinds that are known by their content (safetensors, npy, "
            "npz, gguf, an index)",
            label);
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
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is not a regular file, and tensors are found by seeking; copy it to a "
                        "file first",
                        dti_input_label(input, label));
    }
    if (options && options->raw) {
        container->kind = DTI_CONTAINER_RAW;
        return read_file(whole, options, reterr);
    }
    unsigned char head[DTI_HEAD_SIZE];
    const size_t size = input->size < sizeof head ? (size_t)input->size : sizeof head;
    const enum dti_status status = dti_input_read_at(input, head, size, 0, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_content content = dti_content_of(input->name, head, size, input->size);
    if (!content.known)
        return refuse(input, content.foreign, reterr);
    container->kind = content.kind;
    return read_file(whole, options, reterr);
}

static enum dti_status open_path(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *const container = &whole->container;
    struct dti_input input;
    const enum dti_status status = dti_input_open_file(&input, container->path, reterr);
    if (status != DTI_OK) {
        struct stat st = {0};
        if (status == DTI_NO_MEMORY || (options && options->raw) ||
            strcmp(container->path, "-") == 0)
            return status;
        if (stat(container->path, &st) != 0)
            return dti_input_fail(&(struct dti_input){.name = container->path}, errno, reterr);
        if (!S_ISDIR(st.st_mode))
            return status;
        container->kind = DTI_CONTAINER_SHARDED;
        return dti_sharded_open(whole, options, reterr);
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
        dti_npz_free(container);
    for (size_t i = 0; i < container->file_count; i++)
        dti_input_close(&container->files[i].input);
    if (container->index_file.path)
        dti_input_close(&container->index_file.input);
    dti_pool_free(&whole->pool);
    free(whole);
}

enum dti_status dti_container_data(struct dti_container *container, size_t tensor,
                                   const struct dti_input **ret_input, uint64_t *ret_offset,
                                   struct dti_error *reterr)
{
    struct dti_container_whole *const whole = (struct dti_container_whole *)container;
    const struct dti_tensor *const wanted = &container->tensors[tensor];
    if (container->kind != DTI_CONTAINER_NPZ) {
        *ret_input = &container->files[wanted->file].input;
        *ret_offset = wanted->offset;
        return DTI_OK;
    }
    if (!whole->data) {
        whole->data = dti_pool_array(&whole->pool, container->tensor_count, sizeof *whole->data);
        if (!whole->data)
            return dti_no_memory(reterr);
        for (size_t i = 0; i < container->tensor_count; i++)
            whole->data[i] = (struct dti_container_data){.known = false};
    }
    struct dti_container_data *const data = &whole->data[tensor];
    if (!data->known) {
        const enum dti_status status =
            dti_npz_data(container, wanted, &data->input, &data->offset, reterr);
        if (status != DTI_OK)
            return status;
        data->known = true;
    }
    *ret_input = &data->input;
    *ret_offset = data->offset;
    return DTI_OK;
}

enum dti_status dti_container_verify(struct dti_container *container,
                                     void (*progress)(void *context, uint64_t done_bytes),
                                     void *context, struct dti_error *reterr)
{
    return container->kind == DTI_CONTAINER_NPZ
               ? dti_npz_verify(container, progress, context, reterr)
               : DTI_OK;
}

/* Whether the bytes are those of a file that dti_container_open() has something to say about. JSON
 * must be an index for that. */
static bool is_head(const char *path, const unsigned char *head, size_t size, uint64_t file_size)
{
    static const char map[] = "\"weight_map\"";
    const struct dti_content content = dti_content_of(path, head, size, file_size);
    if (!content.known)
        return content.foreign != NULL;
    if (content.kind != DTI_CONTAINER_SHARDED)
        return true;
    const size_t length = strlen(path), suffix = strlen(".index.json");
    if (length >= suffix && strcmp(path + length - suffix, ".index.json") == 0)
        return true;
    for (size_t at = 0; at + sizeof map - 1 <= size; at++) {
        if (memcmp(head + at, map, sizeof map - 1) == 0)
            return true;
    }
    return false;
}

bool dti_container_is(const char *path)
{
    unsigned char head[DTI_HEAD_SIZE];
    const bool standard_input = strcmp(path, "-") == 0;
    if (!standard_input && dti_content_of(path, (const unsigned char *)"", 0, 0).known)
        return true;
    struct stat st = {0};
    if ((standard_input ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
        return !standard_input && dti_input_there(path) != ENOENT;
    if (S_ISDIR(st.st_mode))
        return !standard_input;
    if (!S_ISREG(st.st_mode)) /* opening a named pipe would wait for its writer */
        return false;
    struct dti_input input;
    if (dti_input_open_file(&input, path, NULL) != DTI_OK)
        return true; /* dti_container_open() says why */
    const size_t size = input.size < sizeof head ? (size_t)input.size : sizeof head;
    const bool is = input.seekable && (dti_input_read_at(&input, head, size, 0, NULL) != DTI_OK ||
                                       is_head(path, head, size, input.size));
    dti_input_close(&input);
    return is;
}
