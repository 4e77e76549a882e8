/* SPDX-License-Identifier: MIT
 *
 * A container as its user sees it: a quantized tensor is one tensor (with its name and shape before
 * quantization, and the format of its codes) rather than codes, scales and other parts. Recognises
 * the same tensors as file_dequant.h; an ambiguous tensor stays as stored, and a note gives the
 * reason. Statistics and comparisons of such a container use the dequantized numbers. */
#ifndef FILES_DEQUANT_LOGICAL_TENSORS_H
#define FILES_DEQUANT_LOGICAL_TENSORS_H

#include "containers/container.h"
#include "files/dequant/file_dequant.h"
#include "kernels/cpu.h"

struct dti_logical_options {
    const struct dti_container_options *open; /* NULL: the defaults */
    bool raw;                                 /* show tensors as stored */
    unsigned bits;                            /* these four as in struct dti_file_dequant_request */
    uint64_t block;
    bool reciprocal;
    const char *stated_by;
    enum dti_level level; /* the highest to use for reading numbers */
    bool lint;            /* for dti_lint_new(): always create a view, unless raw */
};

/* Opens PATH. Reads headers, scales of whole tensors, and the file's configuration. (*ret)->stored
 * is the container as stored; NULL if nothing in it is quantized. Fails as dti_container_open() and
 * dti_file_dequant_new() do. */
enum dti_status dti_logical_open(struct dti_container **ret, const char *path,
                                 const struct dti_logical_options *options,
                                 struct dti_error *reterr);
/* The same for a container that is open (options->open has been used), which belongs to the result
 * then, and is closed after a failure too. */
enum dti_status dti_logical_of(struct dti_container **ret, struct dti_container *container,
                               const struct dti_logical_options *options, struct dti_error *reterr);
/* Frees what these opened; NULL is fine. */
void dti_logical_close(struct dti_container *container);

/* Where the elements of a tensor come from: as dti_file_dequant_data(). */
enum dti_status dti_logical_data(struct dti_container *container, size_t tensor,
                                 struct dti_batch_source *ret_source,
                                 const struct dti_input **ret_input, uint64_t *ret_offset,
                                 struct dti_error *reterr);

/* Call it for each tensor before reading its numbers. Fails with DTI_BAD_INPUT, in one line, for
 * codes that lack a part, parts that lack codes, and parts that do not fit. */
enum dti_status dti_logical_refuse(const struct dti_container *container,
                                   const struct dti_tensor *tensor, struct dti_error *reterr);
/* Why it fails; NULL: it does not. */
const char *dti_logical_refusal(const struct dti_container *container,
                                const struct dti_tensor *tensor);
/* Why it is not known how many numbers a tensor that stays as stored holds; NULL: it is known. */
const char *dti_logical_ambiguity(const struct dti_container *container,
                                  const struct dti_tensor *tensor);
/* Same for a name that no tensor has, because it is that of the tensor before quantization.
 */
enum dti_status dti_logical_refuse_named(const struct dti_container *container, const char *name,
                                         size_t length, struct dti_error *reterr);

/* Its layers of ComfyUI by row of comfy_releases.def, those that stay as stored too; NULL: none. */
const size_t *dti_logical_comfy(const struct dti_container *container);

/* How many tensors the file has. */
static inline size_t dti_logical_stored_count(const struct dti_container *container)
{
    return container->stored ? container->stored->tensor_count : container->tensor_count;
}

/* The notes on tensors that stay as stored; they come after those of the file. */
static inline const struct dti_note *dti_logical_notes(const struct dti_container *container,
                                                       size_t *ret_count)
{
    const size_t before = container->stored ? container->stored->note_count : container->note_count;
    *ret_count = container->note_count - before;
    return *ret_count > 0 ? container->notes + before : NULL;
}

/* The bytes of all parts of a quantized tensor except the codes. Where scales are interleaved with
 * the codes (GGUF), those are included. */
uint64_t dti_logical_scale_bytes(const struct dti_dequant_form *form);

#endif
