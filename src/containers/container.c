/* SPDX-License-Identifier: MIT
 *
 * Entry point of the containers: detects the format of a file from its first bytes, calls the
 * reader of its row in the table of kinds, and owns the result. */
#include "containers/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "containers/containers.h"
#include "io/input_memory.h"
#include "io/net/remote.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static const struct {
    const char *name, *extension;
    const struct dti_container_ops *ops;
} kinds[DTI_CONTAINER_COUNT] = {
#define CONTAINER(id, kind_name, kind_extension, kind_ops) \
    [DTI_CONTAINER_##id] = {.name = kind_name, .extension = kind_extension, .ops = &kind_ops},
#include "containers/containers.def"
#undef CONTAINER
};

const struct dti_container_ops *dti_container_ops(enum dti_container_kind kind)
{
    return kinds[kind].ops;
}

unsigned dti_container_traits(enum dti_container_kind kind)
{
    return dti_container_is_known(kind) ? kinds[kind].ops->traits : 0;
}

enum dti_container_kind dti_container_first(unsigned traits)
{
    enum dti_container_kind kind = 0;
    while (kind < DTI_CONTAINER_COUNT && (kinds[kind].ops->traits & traits) != traits)
        kind++;
    return kind;
}

enum dti_container_kind dti_container_becomes(enum dti_container_kind kind, bool stream)
{
    const enum dti_container_kind ret = kinds[kind].ops->becomes;
    return stream && dti_container_has(ret, DTI_TRAIT_FOLDER | DTI_TRAIT_PLACED)
               ? DTI_CONTAINER_SAFETENSORS
               : ret;
}

bool dti_container_remakes(enum dti_container_kind kind, enum dti_container_kind from)
{
    return dti_container_has(kind, DTI_TRAIT_REMADE) && kinds[from].ops->remade == kind;
}

const char *dti_container_packed(enum dti_container_kind kind)
{
    return kinds[kind].ops->packed ? kinds[kind].ops->packed : "compressed";
}

const char *dti_container_words(size_t index)
{
    return index < DTI_CONTAINER_COUNT ? kinds[index].name : NULL;
}

const char *dti_container_name(enum dti_container_kind kind)
{
    return kinds[kind].name;
}

const char *dti_container_extension(enum dti_container_kind kind)
{
    return kinds[kind].extension;
}

char *dti_path_sibling(const char *path, enum dti_container_kind kind, const char *suffix,
                       bool *ret_named)
{
    const char *const extension = dti_container_extension(kind);
    const size_t length = strlen(path), end = strlen(extension);
    const bool named = dti_text_ends(path, length, extension);
    const size_t size = length + strlen(suffix) + 1;
    char *const sibling = dti_malloc(size);
    if (sibling)
        (void)snprintf(sibling, size, "%.*s%s%s", (int)(named ? length - end : length), path,
                       suffix, named ? extension : "");
    if (ret_named)
        *ret_named = named;
    return sibling;
}

enum dti_container_kind dti_container_named(const char *path)
{
    enum dti_container_kind kind = 0;
    while (kind < DTI_CONTAINER_COUNT && !dti_text_ends(path, strlen(path), kinds[kind].extension))
        kind++;
    return kind;
}

bool dti_container_is_written(enum dti_container_kind kind)
{
    return dti_container_is_known(kind) && kinds[kind].ops->layout;
}

const struct dti_format *dti_container_blocks(enum dti_container_kind kind,
                                              const struct dti_gguf_type *type)
{
    return kinds[kind].ops->blocks ? kinds[kind].ops->blocks(type) : NULL;
}

bool dti_container_stores(enum dti_container_kind kind, const struct dti_format *format,
                          struct dti_layout *ret_layout)
{
    return dti_container_is_written(kind) && kinds[kind].ops->stores(format, ret_layout);
}

enum dti_status dti_container_layout(enum dti_container_kind kind, struct dti_new_tensor *tensors,
                                     size_t count, const struct dti_metadata *metadata,
                                     size_t metadata_count, struct dti_new_head *ret_head,
                                     uint64_t *ret_size, struct dti_error *reterr)
{
    if (!dti_container_is_written(kind))
        return dti_fail(reterr, DTI_USAGE, "%s files can be read but not written",
                        kinds[kind].name);
    return kinds[kind].ops->layout(tensors, count, metadata, metadata_count, ret_head, ret_size,
                                   reterr);
}

enum dti_status dti_container_read(struct dti_container *container, struct dti_pool *pool,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr)
{
    struct dti_opening opening = {.container = container, .pool = pool, .error = reterr};
    if (options)
        opening.options = *options;
    if (container->file_count > 0)
        dti_opening_turn_to(&opening, &container->files[0]);
    return kinds[container->kind].ops->open(&opening) ? DTI_OK : opening.status;
}

enum dti_status dti_container_data(struct dti_container *container, size_t tensor,
                                   const struct dti_input **ret_input, uint64_t *ret_offset,
                                   struct dti_error *reterr)
{
    const struct dti_container_ops *const ops = kinds[container->kind].ops;
    if (container->stored)
        return dti_container_data(container->stored, container->stored_at[tensor], ret_input,
                                  ret_offset, reterr);
    if (ops->data)
        return ops->data(container, tensor, ret_input, ret_offset, reterr);
    const struct dti_tensor *const place = dti_container_tensor(container, tensor);
    *ret_input = &container->files[place->file].input;
    *ret_offset = place->offset;
    return DTI_OK;
}

enum dti_status dti_container_verify(struct dti_container *container,
                                     void (*progress)(void *context, uint64_t done_bytes),
                                     void *context, struct dti_error *reterr)
{
    struct dti_container *const stored = container->stored ? container->stored : container;
    const struct dti_container_ops *const ops = kinds[stored->kind].ops;
    return ops->verify ? ops->verify(stored, progress, context, reterr) : DTI_OK;
}

/* Detection of a file's kind. The name decides only if the bytes do not: a damaged
 * model.safetensors still gets the error of the safetensors reader. */

#define ANYWHERE SIZE_MAX
static const struct foreign_row {
    size_t at;
    char magic[24]; /* must not contain NUL; "": any */
    char ending[12];
    struct dti_foreign foreign;
} magics[] = {
#define FOREIGN(position, bytes, end, what, advice) \
    {position, bytes, end, {.is = what, .remedy = advice}},
#include "containers/foreign.def"
#undef FOREIGN
};

static bool holds_magic(const struct foreign_row *row, const unsigned char *head, size_t size)
{
    const size_t length = strlen(row->magic);
    const size_t last = row->at != ANYWHERE ? row->at : size;
    for (size_t at = row->at == ANYWHERE ? 0 : last; at <= last; at++) {
        if (length <= size && at <= size - length && memcmp(head + at, row->magic, length) == 0)
            return true;
    }
    return false;
}

/* The last row that fits, of those with or without a magic and an ending. */
static const struct dti_foreign *find_foreign(const char *name, const unsigned char *head,
                                              size_t size, bool magic, bool ending)
{
    const struct dti_foreign *found = NULL;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const struct foreign_row *const row = &magics[i];
        if ((row->magic[0] != '\0') == magic && (row->ending[0] != '\0') == ending &&
            holds_magic(row, head, size) && dti_text_ends(name, strlen(name), row->ending))
            found = &row->foreign;
    }
    return found;
}

static const struct dti_foreign tar = {
    .is = "is a tar archive, as PyTorch wrote before 0.1.10, which dtinfo does not read",
    .remedy = "unpack it, or load it with that PyTorch and save it again",
};

bool dti_begins(const unsigned char *head, size_t head_size, const char *magic)
{
    const size_t length = strlen(magic);
    return head_size >= length && memcmp(head, magic, length) == 0;
}

size_t dti_skip_space(const unsigned char *head, size_t size, size_t at)
{
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == '\r'))
        at++;
    return at;
}

bool dti_is_zip(const unsigned char *head, size_t size, const char *first)
{
    enum { HEADER = 30, NAME_LENGTH = 26 };
    if (!dti_begins(head, size, "PK\x03\x04") && !dti_begins(head, size, "PK\x05\x06") &&
        !dti_begins(head, size, "PK\x06\x06"))
        return false;
    const size_t length =
        size < HEADER ? 0 : (size_t)head[NAME_LENGTH] | (size_t)head[NAME_LENGTH + 1] << 8;
    return length == 0 || length > size - HEADER
               ? first[0] == '\0'
               : dti_text_ends((const char *)head + HEADER, length, first);
}

/* Whether the name identifies the kind. A kind without any signature matches no name. */
static bool is_named(const char *name, enum dti_container_kind kind)
{
    const struct dti_container_ops *const ops = dti_container_ops(kind);
    const size_t length = strlen(name);
    return (ops->detect || ops->resembles) &&
           (dti_text_ends(name, length, dti_container_extension(kind)) ||
            (ops->other_extension && dti_text_ends(name, length, ops->other_extension)));
}

/* Foreign files that bytes and name tell together, then definite signatures, then the name, then
 * possible signatures. */
enum dti_container_kind dti_content_of(const char *name, const unsigned char *head, size_t size,
                                       uint64_t file_size, const struct dti_foreign **ret_foreign)
{
    enum { TAR_AT = 257 };
    static const char tar_magic[] = "ustar";
    enum dti_container_kind kind;
    *ret_foreign = find_foreign(name, head, size, true, true);
    if (*ret_foreign)
        return DTI_CONTAINER_COUNT;
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        const struct dti_container_ops *const ops = dti_container_ops(kind);
        if (ops->detect && ops->detect(head, size, file_size))
            return kind;
    }
    if (size >= TAR_AT + strlen(tar_magic) &&
        memcmp(head + TAR_AT, tar_magic, strlen(tar_magic)) == 0)
        *ret_foreign = &tar;
    const struct dti_foreign *const known = find_foreign(name, head, size, true, false);
    *ret_foreign = known ? known : *ret_foreign;
    if (*ret_foreign)
        return DTI_CONTAINER_COUNT;
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        if (is_named(name, kind))
            return kind;
    }
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        const struct dti_container_ops *const ops = dti_container_ops(kind);
        if (ops->resembles && ops->resembles(head, size))
            return kind;
    }
    *ret_foreign = find_foreign(name, head, size, false, true);
    return DTI_CONTAINER_COUNT;
}

/* A container with the memory it owns. */
struct dti_container_whole {
    struct dti_container container; /* must be first: pointers are cast between the two */
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

/* "safetensors, npy, npz, gguf": the kinds with a signature. */
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

bool dti_tensor_is_read(const struct dti_tensor *tensor)
{
    return tensor->format && !dti_tensor_refusal(tensor);
}

bool dti_tensor_same_shape(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static enum dti_status refuse(const struct dti_input *input, const struct dti_foreign *foreign,
                              struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE], known[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    enum dti_status status;
    if (foreign)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s %s; %s", label, foreign->is, foreign->remedy);
    else if (input->size == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s is empty", label);
    else
        status = dti_fail_remedy(reterr, DTI_UNRECOGNIZED, DTI_REMEDY_SAY_KIND,
                                 "%s has an unknown file format (known: %s, an index)", label,
                                 detected_kinds(known, sizeof known));
    dti_error_argument(reterr, input->name, strlen(input->name));
    return status;
}

/* Detects the kind and reads the file; files[0].input is open. */
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
    enum dti_status status = DTI_OK;
    container->alone = strcmp(container->path, "-") == 0;
    if (dti_is_hub_model(container->path))
        status = dti_hub_choose(container, &whole->pool, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_input_open_file(&input, container->path, reterr);
    if (status != DTI_OK) {
        enum dti_input_kind kind;
        if (status == DTI_NO_MEMORY || (options && options->raw) || container->alone)
            return status;
        const int error = dti_input_find(container->path, &kind);
        if (error != 0 && error != ENOENT)
            return dti_input_fail(&(struct dti_input){.name = container->path}, error, reterr);
        if (error != 0 || kind != DTI_INPUT_FOLDER)
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
    struct dti_container_whole *const whole = dti_calloc(1, sizeof *whole);
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

enum dti_status dti_container_open_input(struct dti_container **ret, struct dti_input *input,
                                         const struct dti_container_options *options,
                                         struct dti_error *reterr)
{
    struct dti_container_whole *const whole = dti_calloc(1, sizeof *whole);
    struct dti_container_file *const file =
        whole ? dti_pool_alloc(&whole->pool, sizeof *file) : NULL;
    if (!file) {
        dti_input_close(input);
        dti_container_free(whole ? &whole->container : NULL);
        return dti_no_memory(reterr);
    }
    *file = (struct dti_container_file){.path = input->name, .input = *input};
    whole->container.path = input->name;
    whole->container.alone = true;
    whole->container.files = file;
    whole->container.file_count = 1;
    const enum dti_status status = open_file(whole, options, reterr);
    if (status != DTI_OK)
        dti_container_free(&whole->container);
    else
        *ret = &whole->container;
    return status;
}

enum dti_status dti_container_open_bytes(struct dti_container **ret, const char *path,
                                         const char *bytes, size_t size, struct dti_error *reterr)
{
    struct dti_input input;
    char *const copy = dti_malloc(size + 1);
    if (!copy)
        return dti_no_memory(reterr);
    memcpy(copy, bytes, size);
    dti_input_of_bytes(&input, copy, size, path, true);
    return dti_container_open_input(ret, &input, NULL, reterr);
}

const struct dti_note *dti_container_hub_note(const struct dti_container *container)
{
    return container->note_count > 0 && strcmp(container->notes[0].code, DTI_HUB_NOTE) == 0
               ? &container->notes[0]
               : NULL;
}

bool dti_container_take_less(struct dti_container *container)
{
    const bool can = container->tensors && container->tensor_count > 0 && !container->stored &&
                     !container->weights && !kinds[container->kind].ops->data;
    return !can ||
           dti_container_compact(container, &((struct dti_container_whole *)container)->pool);
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
    dti_free(container->likes);
    dti_pool_free(&whole->pool);
    dti_free(whole);
}

/* Whether dti_container_open() recognizes the bytes, as a container or as a foreign format. JSON
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
        return true; /* dti_container_open() reports the reason */
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
    if (dti_is_hub_model(path))
        return true;
    if (dti_input_find(path, &kind) != 0)
        return dti_input_there(path) != ENOENT;
    /* opening a named pipe would block until it has a writer */
    return kind == DTI_INPUT_FOLDER || (kind == DTI_INPUT_REGULAR && has_head(path));
}
