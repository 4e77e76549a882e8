/* SPDX-License-Identifier: MIT
 *
 * A file that is being written, as the functions of dtinfo/file.h share it. */
#ifndef LIBRARY_WRITER_H
#define LIBRARY_WRITER_H

#include "containers/container.h"
#include "convert/plan.h"
#include "dtinfo/file.h"
#include "library/context.h"
#include "library/spans.h"
#include "util/run/memory_pool.h"

/* What was declared, by its number. */
struct dti_declared {
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
    struct dti_declared *declared;
    size_t text_count, text_room;
    struct dti_metadata *texts;
    struct dti_new_head head;
    struct dti_output_file *output; /* NULL: not laid out, or ended */
    unsigned char *packed;          /* a piece of stored codes */
    bool has_ended;
};

/* Whether tensors can be written, or declared. Fails with DTI_USAGE. */
enum dti_status dti_writer_check_open(const struct dti_writer *writer, bool declares,
                                      struct dti_error *reterr);

#endif
