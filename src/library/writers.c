/* SPDX-License-Identifier: MIT
 *
 * New files of tensors, until their data are written: see dtinfo/file.h. */
#include <string.h>

#include "io/input.h"
#include "library/writer.h"
#include "util/checked.h"
#include "util/run/allocate.h"

/* Whether new files of that kind can be made of tensors alone. */
static bool is_made(enum dti_container_kind kind)
{
    return dti_container_is_written(kind) &&
           !dti_container_has(kind, DTI_TRAIT_REMADE | DTI_TRAIT_FOLDER);
}

static enum dti_status choose_kind(const char *path, const char *word, enum dti_container_kind *ret,
                                   struct dti_error *reterr)
{
    enum { WORDS = 128 };
    char words[WORDS] = "";
    *ret = dti_container_named(path);
    if (!word && is_made(*ret) && !dti_container_has(*ret, DTI_TRAIT_BARE))
        return DTI_OK;
    for (unsigned i = 0; dti_container_words(i); i++) {
        const enum dti_container_kind kind = (enum dti_container_kind)i;
        if (!is_made(kind))
            continue;
        *ret = kind;
        if (word && strcmp(word, dti_container_name(kind)) == 0)
            return DTI_OK;
        if (words[0] != '\0')
            strncat(words, ", ", WORDS - 1 - strlen(words));
        strncat(words, dti_container_name(kind), WORDS - 1 - strlen(words));
    }
    const char *const wrong = word ? word : path;
    return dti_fail_word(reterr, word ? DTI_UNKNOWN_OPTION : DTI_USAGE, wrong, strlen(wrong),
                         word ? "%s is not a container that can be written (%s)"
                              : "the name %s does not say what to write: give the container (%s)",
                         DTI_QUOTED(wrong, strlen(wrong)), words);
}

/* Whether the file could be written, as far as that is known before. */
static enum dti_status check_path(const char *path, bool replace, struct dti_error *reterr)
{
    enum dti_input_kind there;
    if (dti_input_find(path, &there) == 0 && there == DTI_INPUT_SPECIAL)
        return dti_fail_word(reterr, DTI_WRITE_FAILED, path, strlen(path),
                             "%s is not a regular file, and cannot be replaced by one",
                             DTI_QUOTED(path, strlen(path)));
    return dti_output_check(path, replace, reterr);
}

enum dti_status dti_writer_new(struct dti_writer **ret, struct dti_context *context,
                               const char *path, const char *container, bool replace,
                               struct dti_error *reterr)
{
    const char *const safe = strcmp(path, "-") == 0 ? "./-" : path;
    enum dti_container_kind kind;
    struct dti_call call;
    enum dti_status status = choose_kind(path, container, &kind, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &context->caller);
    status = check_path(safe, replace, reterr);
    struct dti_writer *const writer = status == DTI_OK ? dti_calloc(1, sizeof *writer) : NULL;
    if (writer) {
        *writer = (struct dti_writer){.context = context, .kind = kind, .replace = replace};
        dti_new_head_init(&writer->head);
        writer->path = dti_pool_text(&writer->pool, safe, strlen(safe));
    }
    if (status == DTI_OK && (!writer || !writer->path)) {
        dti_free(writer);
        status = dti_no_memory(reterr);
    } else if (status == DTI_OK) {
        *ret = writer;
    }
    dti_call_end(&call);
    return status;
}

enum dti_status dti_writer_check_open(const struct dti_writer *writer, bool declares,
                                      struct dti_error *reterr)
{
    if (writer->has_ended)
        return dti_fail(reterr, DTI_USAGE, "the file is complete, or could not be completed");
    return declares && writer->output
               ? dti_fail(reterr, DTI_USAGE,
                          "tensors and metadata are declared before the first "
                          "one is written")
               : DTI_OK;
}

/* Room for one more in a list; false: out of memory. */
static bool grow(void *list, size_t count, size_t *room, size_t size)
{
    enum { LEAST = 16 };
    void *old, *larger;
    if (count < *room)
        return true;
    const size_t more = *room > 0 ? 2 * *room : LEAST;
    memcpy(&old, list, sizeof old);
    larger = more > SIZE_MAX / size ? NULL : dti_realloc(old, more * size);
    if (!larger)
        return false;
    memcpy(list, &larger, sizeof larger);
    *room = more;
    return true;
}

static bool grow_tensors(struct dti_writer *writer)
{
    size_t room = writer->room;
    return grow(&writer->tensors, writer->count, &room, sizeof *writer->tensors) &&
           grow(&writer->declared, writer->count, &writer->room, sizeof *writer->declared);
}

static enum dti_status declare(struct dti_writer *writer, const struct dti_new_tensor *tensor,
                               struct dti_error *reterr)
{
    struct dti_new_tensor own = *tensor;
    uint64_t elements = 1;
    for (unsigned i = 0; i < own.rank; i++) {
        if (!dti_mul_u64(elements, own.shape[i], &elements))
            return dti_fail(reterr, DTI_USAGE, "tensor %s: its shape has too many elements",
                            DTI_QUOTED(own.name, own.name_length));
    }
    uint64_t *const shape = dti_pool_array(&writer->pool, own.rank, sizeof *shape);
    own.name = dti_pool_text(&writer->pool, tensor->name, tensor->name_length);
    if (!shape || !own.name || !grow_tensors(writer))
        return dti_no_memory(reterr);
    if (own.rank > 0)
        memcpy(shape, own.shape, own.rank * sizeof *shape);
    own.shape = shape;
    own.source = (uint32_t)writer->count;
    writer->declared[writer->count] = (struct dti_declared){.name = own.name,
                                                            .name_length = own.name_length,
                                                            .format = own.format,
                                                            .layout = own.layout,
                                                            .elements = elements};
    writer->tensors[writer->count++] = own;
    return DTI_OK;
}

enum dti_status dti_writer_tensor(struct dti_writer *writer, const char *name, size_t length,
                                  const struct dti_format *format, size_t rank,
                                  const uint64_t *shape, struct dti_error *reterr)
{
    enum { RANK_MOST = 255 };
    struct dti_new_tensor tensor = {
        .name = name, .name_length = (uint32_t)length, .format = format, .shape = shape};
    struct dti_call call;
    enum dti_status status = dti_writer_check_open(writer, true, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_container_stores(writer->kind, format, &tensor.layout))
        return dti_fail(reterr, DTI_WRONG_KIND, "tensor %s: %s files cannot hold %s",
                        DTI_QUOTED(name, length), dti_container_name(writer->kind), format->name);
    if (length > DTI_NAME_MAX)
        return dti_fail(reterr, DTI_USAGE, "a tensor's name has %zu bytes; at most %d are written",
                        length, (int)DTI_NAME_MAX);
    if (rank > RANK_MOST)
        return dti_fail(reterr, DTI_USAGE, "tensor %s has %zu dimensions; at most %d are written",
                        DTI_QUOTED(name, length), rank, RANK_MOST);
    tensor.rank = (unsigned)rank;
    dti_call_begin(&call, &writer->context->caller);
    status = declare(writer, &tensor, reterr);
    dti_call_end(&call);
    return status;
}

enum dti_status dti_writer_metadata(struct dti_writer *writer, const char *key, const char *value,
                                    struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = dti_writer_check_open(writer, true, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_holds_texts(writer->kind))
        return dti_fail(reterr, DTI_USAGE, "%s files have no metadata",
                        dti_container_name(writer->kind));
    dti_call_begin(&call, &writer->context->caller);
    struct dti_metadata entry = {.key = dti_pool_text(&writer->pool, key, strlen(key)),
                                 .key_length = strlen(key),
                                 .value = dti_pool_text(&writer->pool, value, strlen(value)),
                                 .value_length = strlen(value),
                                 .kind = DTI_METADATA_STRING,
                                 .type = "string",
                                 .count = 1};
    if (entry.key && entry.value &&
        grow(&writer->texts, writer->text_count, &writer->text_room, sizeof *writer->texts))
        writer->texts[writer->text_count++] = entry;
    else
        status = dti_no_memory(reterr);
    dti_call_end(&call);
    return status;
}

void dti_writer_free(struct dti_writer *writer)
{
    struct dti_call call;
    if (!writer)
        return;
    dti_call_begin(&call, &writer->context->caller);
    dti_output_discard(writer->output);
    for (size_t i = 0; i < writer->count; i++) {
        dti_plan_free(writer->declared[i].plan);
        dti_spans_free(&writer->declared[i].written);
    }
    dti_new_head_free(&writer->head);
    dti_free(writer->tensors);
    dti_free(writer->declared);
    dti_free(writer->texts);
    dti_free(writer->packed);
    dti_pool_free(&writer->pool);
    dti_free(writer);
    dti_call_end(&call);
}
