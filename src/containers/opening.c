/* SPDX-License-Identifier: MIT
 *
 * Shared by all readers: error reporting, reading, allocation, adding to the container. */
#include "containers/opening.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dti_opening_turn_to(struct dti_opening *opening, struct dti_container_file *file)
{
    opening->file = file;
    opening->label = dti_input_label(&file->input, opening->file_label);
}

bool dti_opening_refuse(struct dti_opening *opening, const char *format, ...)
{
    char text[DTI_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    opening->status = dti_fail(opening->error, DTI_BAD_INPUT, "%s%s", opening->label, text);
    return false;
}

bool dti_opening_refuse_of(struct dti_opening *opening, struct dti_subject subject,
                           const char *format, ...)
{
    char text[DTI_ERROR_TEXT], name[DTI_QUOTE_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dti_opening_refuse(opening, ": %s %s%s", subject.what,
                       dti_quote(name, subject.name, subject.length), text);
    if (subject.argument)
        dti_error_argument(opening->error, subject.name, subject.length);
    return false;
}

bool dti_opening_check_names(struct dti_opening *opening, const void *items, size_t count,
                             struct dti_named named, struct dti_subject subject, const char *text)
{
    size_t again;
    if (!dti_names_repeated(items, count, named, &again))
        return dti_opening_no_memory(opening);
    if (again == SIZE_MAX)
        return true;
    const struct dti_name twice = dti_name_of(items, again, named);
    subject.name = twice.text;
    subject.length = twice.text_length;
    return dti_opening_refuse_of(opening, subject, "%s", text);
}

bool dti_opening_no_memory(struct dti_opening *opening)
{
    opening->status = dti_no_memory(opening->error);
    return false;
}

bool dti_opening_refuse_json(struct dti_opening *opening, const struct dti_json_reader *json,
                             const char *text, size_t offset)
{
    if (json->string.failed)
        return dti_opening_no_memory(opening);
    return dti_opening_refuse(opening, "%s: %s at byte %zu", text, json->problem,
                              (size_t)(json->at - json->start) + offset);
}

bool dti_opening_goes_on(struct dti_opening *opening, enum dti_status status)
{
    opening->status = status;
    return status == DTI_OK;
}

bool dti_opening_read(struct dti_opening *opening, void *buffer, size_t size, uint64_t offset)
{
    return dti_opening_goes_on(
        opening, dti_input_read_at(&opening->file->input, buffer, size, offset, opening->error));
}

void *dti_opening_array(struct dti_opening *opening, size_t count, size_t size)
{
    void *const room = dti_pool_array(opening->pool, count, size);
    if (!room)
        dti_opening_no_memory(opening);
    return room;
}

char *dti_opening_text(struct dti_opening *opening, const char *text, size_t length)
{
    char *const copy = dti_pool_text(opening->pool, text, length);
    if (!copy)
        dti_opening_no_memory(opening);
    return copy;
}

void *dti_opening_copy(struct dti_opening *opening, const void *from, size_t count, size_t size)
{
    void *const copy = dti_opening_array(opening, count, size);
    if (copy && count > 0)
        memcpy(copy, from, count * size);
    return copy;
}

static bool grow(struct dti_pool *pool, void *list, size_t count, size_t more, size_t *capacity,
                 size_t size)
{
    enum { LEAST = 8 };
    if (*capacity > 0 && more <= *capacity - count)
        return true;
    if (more > SIZE_MAX / 2 - *capacity)
        return false;
    size_t larger = *capacity > 0 ? 2 * *capacity : LEAST;
    if (larger < count + more)
        larger = count + more;
    void *old;
    memcpy(&old, list, sizeof old);
    void *const new =
        larger > SIZE_MAX / size ? NULL : dti_pool_grow(pool, old, count * size, larger * size);
    if (!new)
        return false;
    memcpy(list, &new, sizeof new);
    *capacity = larger;
    return true;
}

bool dti_opening_grow(struct dti_opening *opening, void *list, size_t count, size_t more,
                      size_t *capacity, size_t size)
{
    return grow(opening->pool, list, count, more, capacity, size) || dti_opening_no_memory(opening);
}

bool dti_opening_name_length(struct dti_opening *opening, size_t length, struct dti_tensor *tensor)
{
    tensor->name_length = (uint32_t)length;
    return length <= DTI_NAME_MAX ||
           dti_opening_refuse(opening, ": a tensor has a name of %zu bytes, and the limit is %d",
                              length, (int)DTI_NAME_MAX);
}

struct dti_tensor *dti_opening_tensors(struct dti_opening *opening, size_t more)
{
    struct dti_container *const container = opening->container;
    if (!dti_opening_grow(opening, &container->tensors, container->tensor_count, more,
                          &opening->tensor_capacity, sizeof *container->tensors))
        return NULL;
    container->tensor_count += more;
    return container->tensors + (container->tensor_count - more);
}

struct dti_metadata *dti_opening_metadata(struct dti_opening *opening)
{
    struct dti_container *const container = opening->container;
    if (!dti_opening_grow(opening, &container->metadata, container->metadata_count, 1,
                          &opening->metadata_capacity, sizeof *container->metadata))
        return NULL;
    return &container->metadata[container->metadata_count++];
}

bool dti_opening_note(struct dti_opening *opening, const char *code, const char *format, ...)
{
    struct dti_container *const container = opening->container;
    char text[DTI_QUOTE_SIZE + DTI_ERROR_TEXT];
    size_t used = 0;
    va_list args;
    if (opening->note_about)
        used = (size_t)snprintf(text, sizeof text, "%s: ", opening->note_about);
    va_start(args, format);
    (void)vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    const char *const copy = dti_opening_text(opening, text, strlen(text));
    if (!copy || !dti_opening_grow(opening, &container->notes, container->note_count, 1,
                                   &opening->note_capacity, sizeof *container->notes))
        return false;
    container->notes[container->note_count++] = (struct dti_note){.code = code, .text = copy};
    return true;
}

bool dti_opening_unite_metadata(struct dti_opening *opening)
{
    struct dti_container *const container = opening->container;
    struct dti_name_order order;
    size_t count = 0, first;
    if (!dti_name_order_of(&order, container->metadata, container->metadata_count,
                           DTI_NAMED(struct dti_metadata, key)))
        return dti_opening_no_memory(opening);
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata entry = container->metadata[i];
        if (dti_name_order_find(&order, entry.key, entry.key_length, &first) && first == i)
            container->metadata[count++] = entry;
    }
    container->metadata_count = count;
    dti_name_order_free(&order);
    return true;
}
