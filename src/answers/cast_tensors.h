/* SPDX-License-Identifier: MIT
 *
 * The answer of a cast of a file: input, output, the fate of each tensor, and losses. */
#ifndef DTINFO_ANSWERS_CAST_TENSORS_H
#define DTINFO_ANSWERS_CAST_TENSORS_H

#include "answers/common.h"
#include "dtinfo/rewrite.h"

struct dti_written_file {
    const char *path; /* NULL where no output was given */
    bool known;       /* its bytes are */
    uint64_t bytes;
};

/* The output, written or planned. */
struct dti_cast_output {
    const char *path; /* as given; NULL without one */
    const struct dti_rewrite *rewrite;
    bool dry_run;
    bool losses; /* are known */
    bool text;   /* output as text, and its bytes */
    uint64_t text_bytes;
};

/* Members of the total losses; null unless present. */
struct dti_cast_loss {
    const struct dti_rewrite *rewrite;
    bool there;
};

struct dti_cast_tensor {
    const struct dti_cast_output *output;
    size_t at; /* place in the output */
};

struct dti_cast_file_answer {
    struct dti_container_answer input;
    struct dti_cast_output output;
    struct dti_policies_answer options;
    const char *device, *device_reason; /* the reason may be NULL */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* the stream for finished tensors: see dti_json_stream() */
};
void dti_document_cast_file(struct dti_json *json, const struct dti_cast_file_answer *file);

#endif
