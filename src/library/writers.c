/* SPDX-License-Identifier: MIT
 *
 * Writes new files of tensors: see dtinfo/file.h. The file is laid out at the first write, under a
 * temporary name, and gets its own when everything has been written. */
#include <string.h>

#include "containers/container.h"
#include "convert/plan.h"
#include "dtinfo/file.h"
#include "io/input.h"
#include "library/context.h"
#include "library/spans.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/memory_pool.h"

enum {
    GROUP = 8,              /* elements that fill whole bytes, whatever their width */
    PIECE = 512 * DTI_TILE, /* elements that are packed at once */
    CACHE_LINE = 64,
};

/* What was declared, by its number. */
struct declared {
    const char *name;
    size_t name_length;
    const struct dti_format *format;
    struct dti_layout layout; /* in the file */
    uint64_t elements;
    uint64_t offset; /* in the file, once that is laid out */
    struct dti_spans written;
    struct dti_plan *plan; /* from given codes to stored ones; NULL: none needed, or none yet */
};

struct dti_writer {
    struct dti_context *context;
    enum dti_container_kind kind;
    const char *path;
    bool replace;
    struct dti_pool pool; /* names, shapes, metadata */
    size_t count, room;
    struct dti_new_tensor *tensors; /* source: the number; their order changes in the layout */
    struct declared *declared;
    size_t text_count, text_room;
    struct dti_metadata *texts;
    struct dti_new_head head;
    struct dti_output_file *output; /* NULL: not laid out, or ended */
    unsigned char *packed;          /* a piece of stored codes */
    bool has_ended;
};

static enum dti_status choose_kind(const char *path, const char *word, enum dti_container_kind *ret,
                                   struct dti_error *reterr)
{
    enum { WORDS = 128 };
    char words[WORDS] = "";
    enum dti_container_kind kind = 0;
    if (!word) {
        kind = dti_container_named(path);
        if (kind == DTI_CONTAINER_RAW)
            kind = DTI_CONTAINER_COUNT;
    }
    while (word && kind < DTI_CONTAINER_COUNT && strcmp(word, dti_container_name(kind)) != 0)
        kind++;
    *ret = kind;
    if (dti_container_is_written(kind) &&
        !dti_container_has(kind, DTI_TRAIT_REMADE | DTI_TRAIT_FOLDER))
        return DTI_OK;
    for (unsigned i = 0; i < DTI_CONTAINER_COUNT; i++) {
        const enum dti_container_kind known = (enum dti_container_kind)i;
        if (!dti_container_is_written(known) ||
            dti_container_has(known, DTI_TRAIT_REMADE | DTI_TRAIT_FOLDER))
            continue;
        if (words[0] != '\0')
            strncat(words, ", ", WORDS - 1 - strlen(words));
        strncat(words, dti_container_name(known), WORDS - 1 - strlen(words));
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

static enum dti_status check_open(const struct dti_writer *writer, bool declares,
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
    own.source = writer->count;
    writer->declared[writer->count] = (struct declared){.name = own.name,
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
        .name = name, .name_length = length, .format = format, .shape = shape};
    struct dti_call call;
    enum dti_status status = check_open(writer, true, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_container_stores(writer->kind, format, &tensor.layout))
        return dti_fail(reterr, DTI_WRONG_KIND, "tensor %s: %s files cannot hold %s",
                        DTI_QUOTED(name, length), dti_container_name(writer->kind), format->name);
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
    enum dti_status status = check_open(writer, true, reterr);
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

/* Leaves nothing behind; nothing can be written any more. */
static void end_writing(struct dti_writer *writer)
{
    dti_output_discard(writer->output);
    writer->output = NULL;
    writer->has_ended = true;
}

/* Opens the file with everything in it but the data. */
static enum dti_status lay_out(struct dti_writer *writer, struct dti_error *reterr)
{
    uint64_t size = 0;
    dti_new_head_free(&writer->head);
    dti_new_head_init(&writer->head);
    enum dti_status status =
        dti_container_layout(writer->kind, writer->tensors, writer->count, writer->texts,
                             writer->text_count, &writer->head, &size, reterr);
    for (size_t i = 0; i < writer->count && status == DTI_OK; i++)
        writer->declared[writer->tensors[i].source].offset = writer->tensors[i].offset;
    if (status == DTI_OK)
        status = dti_output_open(&writer->output, writer->path, writer->replace, size, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_output_seekable(writer->output)
                 ? dti_new_head_write(&writer->head, writer->output, reterr)
                 : dti_fail(reterr, DTI_WRITE_FAILED, "%s is not a regular file",
                            DTI_QUOTED(writer->path, strlen(writer->path)));
    if (status != DTI_OK)
        end_writing(writer);
    return status;
}

/* A range of a tensor that is written. */
struct piece {
    struct declared *tensor;
    uint64_t first, count;
    const unsigned char *codes;
};

/* Plans how given codes become stored ones, if they differ. */
static enum dti_status make_plan(struct dti_writer *writer, const struct piece *piece,
                                 struct dti_error *reterr)
{
    const struct dti_layout *const layout = &piece->tensor->layout;
    const struct dti_format *const format = dti_real_format(piece->tensor->format);
    const bool packed = dti_format_packs(format) && layout->packing != DTI_PACKING_BYTES;
    const struct dti_request request = {.src = *format,
                                        .src_layout = {.packing = DTI_PACKING_BYTES},
                                        .dst_layout = *layout,
                                        .cast = {.dst = *format}};
    if (piece->tensor->plan || (!packed && !layout->swapped))
        return DTI_OK;
    if (!writer->packed)
        writer->packed = dti_malloc_aligned(CACHE_LINE, (size_t)PIECE * 2 * sizeof(uint64_t));
    if (!writer->packed)
        return dti_no_memory(reterr);
    return dti_plan_new(&piece->tensor->plan, &request, writer->context->level, reterr);
}

static enum dti_status write_piece(struct dti_writer *writer, const struct piece *piece,
                                   struct dti_error *reterr)
{
    const struct dti_format *const format = piece->tensor->format;
    const struct dti_plan *const plan = piece->tensor->plan;
    const size_t item = dti_format_item(format), parts = format->kind == DTI_KIND_COMPLEX ? 2 : 1;
    enum dti_status status = DTI_OK;
    if (!plan)
        return dti_output_write_at(writer->output, piece->codes, (size_t)(piece->count * item),
                                   piece->tensor->offset + piece->first * item, reterr);
    for (uint64_t done = 0; done < piece->count && status == DTI_OK; done += PIECE) {
        const uint64_t left = piece->count - done;
        const size_t n = left < PIECE ? (size_t)left : PIECE;
        uint64_t begin = 0, bytes = 0;
        (void)dti_plan_dst_bytes(plan, (piece->first + done) * parts, &begin);
        (void)dti_plan_dst_bytes(plan, n * parts, &bytes);
        status = dti_plan_run(plan, writer->packed, piece->codes + done * item, n * parts, 0,
                              DTI_STORES_CACHED, NULL, reterr);
        if (status == DTI_OK)
            status = dti_output_write_at(writer->output, writer->packed, (size_t)bytes,
                                         piece->tensor->offset + begin, reterr);
    }
    return status;
}

static enum dti_status check_piece(const struct piece *piece, struct dti_error *reterr)
{
    const struct dti_format *const format = piece->tensor->format;
    const uint64_t elements = piece->tensor->elements;
    char name[DTI_QUOTE_SIZE];
    uint64_t bytes;
    dti_quote(name, piece->tensor->name, piece->tensor->name_length);
    if (piece->first > elements || piece->count > elements - piece->first ||
        !dti_mul_u64(piece->count, dti_format_item(format), &bytes))
        return dti_fail(reterr, DTI_USAGE,
                        "tensor %s has %llu elements; %llu from element %llu on are beyond its end",
                        name, (unsigned long long)elements, (unsigned long long)piece->count,
                        (unsigned long long)piece->first);
    const bool packed =
        dti_format_packs(format) && piece->tensor->layout.packing != DTI_PACKING_BYTES;
    if (packed && (piece->first % GROUP != 0 ||
                   (piece->count % GROUP != 0 && piece->first + piece->count != elements)))
        return dti_fail(reterr, DTI_USAGE,
                        "tensor %s: %s shares bytes, and is written in multiples of %d elements",
                        name, format->name, GROUP);
    if (dti_spans_overlap(&piece->tensor->written, piece->first, piece->count))
        return dti_fail(reterr, DTI_USAGE, "tensor %s: an element is written twice", name);
    return DTI_OK;
}

enum dti_status dti_writer_write(struct dti_writer *writer, size_t tensor, uint64_t first,
                                 uint64_t count, const void *codes, struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = check_open(writer, false, reterr);
    if (status == DTI_OK && tensor >= writer->count)
        status = dti_fail(reterr, DTI_USAGE, "no tensor %zu was declared", tensor);
    if (status != DTI_OK)
        return status;
    struct piece piece = {
        .tensor = &writer->declared[tensor], .first = first, .count = count, .codes = codes};
    dti_call_begin(&call, &writer->context->caller);
    if (!writer->output)
        status = lay_out(writer, reterr);
    if (status == DTI_OK)
        status = check_piece(&piece, reterr);
    if (status == DTI_OK)
        status = make_plan(writer, &piece, reterr);
    if (status == DTI_OK && count > 0) {
        status = write_piece(writer, &piece, reterr);
        if (status == DTI_OK && !dti_spans_add(&piece.tensor->written, first, count))
            status = dti_no_memory(reterr);
        if (status != DTI_OK) /* some bytes of the piece may be there */
            end_writing(writer);
    }
    dti_call_end(&call);
    return status;
}

static enum dti_status check_complete(const struct dti_writer *writer, struct dti_error *reterr)
{
    for (size_t i = 0; i < writer->count; i++) {
        const struct declared *const tensor = &writer->declared[i];
        if (tensor->written.total != tensor->elements)
            return dti_fail(reterr, DTI_USAGE, "tensor %s: %llu of %llu elements were not written",
                            DTI_QUOTED(tensor->name, tensor->name_length),
                            (unsigned long long)(tensor->elements - tensor->written.total),
                            (unsigned long long)tensor->elements);
    }
    return DTI_OK;
}

enum dti_status dti_writer_commit(struct dti_writer *writer, struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = check_open(writer, false, reterr);
    if (status == DTI_OK)
        status = check_complete(writer, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &writer->context->caller);
    if (!writer->output)
        status = lay_out(writer, reterr);
    if (status == DTI_OK)
        status = dti_new_head_finish(&writer->head, writer->output, reterr);
    if (status == DTI_OK) {
        status = dti_output_commit(writer->output, reterr);
        writer->output = NULL;
    }
    end_writing(writer);
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
