/* SPDX-License-Identifier: MIT
 *
 * Opens files of tensors and describes what is in them: see dtinfo/file.h. */
#include <stdio.h>
#include <string.h>

#include "library/file.h"
#include "util/run/allocate.h"

enum { NAME_ROOM = 32 };

const char *dti_file_refusal(const struct dti_file *file, size_t tensor)
{
    const struct dti_tensor *const shown = &file->container->tensors[tensor];
    const char *const broken = dti_logical_refusal(file->container, shown);
    if (broken)
        return broken;
    if (dti_tensor_refusal(shown))
        return dti_tensor_refusal(shown);
    if (shown->format)
        return NULL;
    if (shown->undefined)
        return "its type is not defined by the file format";
    return shown->block_row > 0 || shown->gguf_row > 0 ? "it is shown as stored, in blocks"
                                                       : "its codes have no dtype that is known";
}

/* What is opened. */
struct subject {
    const char *path; /* NULL: an input that is open */
    struct dti_input *input;
    struct dti_file_options options;
};

static enum dti_status take_options(struct dti_file_options *ret,
                                    const struct dti_file_options *given, struct dti_error *reterr)
{
    *ret = (struct dti_file_options){.size = sizeof *ret};
    if (given && !dti_struct_take(ret, sizeof *ret, given))
        return dti_struct_newer(reterr, "dti_file_options");
    return DTI_OK;
}

static enum dti_status open_container(struct dti_file *file, const struct subject *subject,
                                      struct dti_error *reterr)
{
    const struct dti_container_options open = {.assume = subject->options.assume,
                                               .lenient = subject->options.lenient};
    const struct dti_logical_options options = {.open = &open,
                                                .raw = subject->options.stored,
                                                .bits = subject->options.bits,
                                                .block = subject->options.block,
                                                .level = file->context->level};
    struct dti_container *container = NULL;
    if (subject->path)
        return dti_logical_open(&file->container, subject->path, &options, reterr);
    const enum dti_status status =
        dti_container_open_input(&container, subject->input, &open, reterr);
    return status == DTI_OK ? dti_logical_of(&file->container, container, &options, reterr)
                            : status;
}

static enum dti_status note_states(struct dti_file *file, struct dti_error *reterr)
{
    const struct dti_container *const container = file->container;
    file->states = dti_calloc(container->file_count, sizeof *file->states);
    if (!file->states)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->file_count; i++)
        dti_input_state(&container->files[i].input, &file->states[i]);
    return DTI_OK;
}

/* In the frame of a call. Takes the subject's input, also on failure; file has the name. */
static enum dti_status open_subject(struct dti_file **ret, struct dti_file *file,
                                    const struct subject *subject, struct dti_error *reterr)
{
    enum dti_status status = open_container(file, subject, reterr);
    if (status == DTI_OK)
        status = note_states(file, reterr);
    if (status == DTI_OK)
        *ret = file;
    else
        dti_file_close(file);
    return status;
}

/* A file with the name that messages call it; NULL: out of memory. */
static struct dti_file *new_file(struct dti_context *context, const char *name)
{
    struct dti_file *const file = dti_calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->context = context;
    file->name = dti_strdup(name);
    if (file->name)
        return file;
    dti_free(file);
    return NULL;
}

enum dti_status dti_file_open(struct dti_file **ret, struct dti_context *context, const char *path,
                              const struct dti_file_options *options, struct dti_error *reterr)
{
    struct subject subject = {.path = strcmp(path, "-") == 0 ? "./-" : path};
    struct dti_call call;
    enum dti_status status = take_options(&subject.options, options, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &context->caller);
    struct dti_file *const file = new_file(context, path);
    status = file ? open_subject(ret, file, &subject, reterr) : dti_no_memory(reterr);
    dti_call_end(&call);
    return status;
}

enum dti_status dti_file_open_fd(struct dti_file **ret, struct dti_context *context, int fd,
                                 const char *name, const struct dti_file_options *options,
                                 struct dti_error *reterr)
{
    char number[NAME_ROOM];
    struct dti_input input;
    struct subject subject = {.input = &input};
    struct dti_call call;
    enum dti_status status = take_options(&subject.options, options, reterr);
    if (status != DTI_OK)
        return status;
    (void)snprintf(number, sizeof number, "descriptor %d", fd);
    dti_call_begin(&call, &context->caller);
    struct dti_file *const file = new_file(context, name ? name : number);
    status = file ? dti_input_duplicate(&input, fd, file->name, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = open_subject(ret, file, &subject, reterr);
    else
        dti_file_close(file);
    dti_call_end(&call);
    return status;
}

enum dti_status dti_file_open_memory(struct dti_file **ret, struct dti_context *context,
                                     const void *bytes, size_t length, const char *name,
                                     const struct dti_file_options *options,
                                     struct dti_error *reterr)
{
    struct dti_input input;
    struct subject subject = {.input = &input};
    struct dti_call call;
    enum dti_status status = take_options(&subject.options, options, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &context->caller);
    struct dti_file *const file = new_file(context, name ? name : "bytes in memory");
    if (file)
        dti_input_of_bytes(&input, bytes, length, file->name, false);
    status = file ? open_subject(ret, file, &subject, reterr) : dti_no_memory(reterr);
    dti_call_end(&call);
    return status;
}

void dti_file_close(struct dti_file *file)
{
    struct dti_call call;
    if (!file)
        return;
    dti_call_begin(&call, &file->context->caller);
    for (size_t i = 0; file->rows && i < file->container->tensor_count; i++) {
        if (file->rows[i].seekable)
            dti_input_close(&file->rows[i]);
    }
    dti_free(file->rows);
    if (file->is_named)
        dti_name_order_free(&file->names);
    dti_logical_close(file->container);
    dti_free(file->states);
    dti_free(file->name);
    dti_free(file);
    dti_call_end(&call);
}

void dti_file_describe(const struct dti_file *file, struct dti_file_info *ret)
{
    const struct dti_container *const container = file->container;
    const struct dti_file_info info = {.size = sizeof info,
                                       .container = dti_container_name(container->kind),
                                       .version = container->version,
                                       .file_count = container->file_count,
                                       .tensor_count = container->tensor_count,
                                       .metadata_count = container->metadata_count,
                                       .note_count = container->note_count};
    dti_struct_give(ret, &info, sizeof info);
}

/* Where its codes lie as they are read; NULL: nowhere. */
static const char *place_of(const struct dti_file *file, const struct dti_tensor *tensor)
{
    const struct dti_container_file *const in = &file->container->files[tensor->file];
    const bool local = in->input.fd >= 0 && !in->input.source && !file->container->alone;
    const bool plain = !dti_tensor_form(tensor) && !tensor->compressed && !tensor->strided &&
                       !tensor->fortran && !tensor->layout.swapped && !tensor->pickled;
    return local && plain ? in->path : NULL;
}

void dti_file_tensor(const struct dti_file *file, size_t index, struct dti_tensor_info *ret)
{
    const struct dti_tensor *const tensor = &file->container->tensors[index];
    const struct dti_dequant_form *const form = dti_tensor_form(tensor);
    const char *const refusal = dti_file_refusal(file, index);
    const char *const path = refusal ? NULL : place_of(file, tensor);
    const struct dti_tensor_info info = {.size = sizeof info,
                                         .name = tensor->name,
                                         .name_length = tensor->name_length,
                                         .stored_as = tensor->stored_as,
                                         .format = refusal ? NULL : tensor->format,
                                         .refusal = refusal,
                                         .rank = tensor->rank,
                                         .shape = tensor->shape,
                                         .elements = tensor->elements,
                                         .stored_bytes = tensor->bytes,
                                         .quantized = form ? form->is->dtype : NULL,
                                         .layout = form ? form->is->layout : NULL,
                                         .path = path,
                                         .offset = path ? tensor->offset : 0,
                                         .packing = tensor->layout.packing};
    dti_struct_give(ret, &info, sizeof info);
}

/* Without memory for an index, every name is compared. */
static size_t find_slowly(const struct dti_container *container, const char *name, size_t length)
{
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (tensor->name_length == length && memcmp(tensor->name, name, length) == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t dti_file_find(struct dti_file *file, const char *name, size_t length)
{
    const struct dti_container *const container = file->container;
    struct dti_call call;
    size_t at;
    if (!file->is_named) {
        dti_call_begin(&call, &file->context->caller);
        file->is_named =
            dti_name_order_of(&file->names, container->tensors, container->tensor_count,
                              DTI_NAMED(struct dti_tensor, name));
        dti_call_end(&call);
    }
    if (!file->is_named)
        return find_slowly(container, name, length);
    return dti_name_order_find(&file->names, name, length, &at) ? at : SIZE_MAX;
}

void dti_file_metadata(const struct dti_file *file, size_t index, struct dti_pair *ret)
{
    const struct dti_metadata *const entry = &file->container->metadata[index];
    *ret = (struct dti_pair){.key = entry->key,
                             .value = entry->value,
                             .key_length = entry->key_length,
                             .value_length = entry->value_length,
                             .kind = (int)entry->kind};
}

const char *dti_file_note(const struct dti_file *file, size_t index)
{
    return file->container->notes[index].text;
}
