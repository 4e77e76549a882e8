/* SPDX-License-Identifier: MIT
 *
 * safetensors: eight bytes with the length of a JSON header, the header, the data. What is taken
 * and what is refused follows the reference implementation (the Rust crate); beyond it, names and
 * metadata keys that occur twice are refused, and so are a tensor given as an array and a dtype
 * given as an object. */
#ifndef DTINFO_CONTAINERS_SAFETENSORS_H
#define DTINFO_CONTAINERS_SAFETENSORS_H

#include "dtinfo/container.h"
#include "dtinfo/memory_pool.h"

enum { DTI_SAFETENSORS_PREFIX = 8, DTI_SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000 };

/* What a header says. */
struct dti_safetensors {
    size_t tensor_count; /* in the order of their data */
    struct dti_tensor *tensors;
    size_t metadata_count;
    struct dti_metadata *metadata;
    size_t note_count;
    struct dti_note *notes;
};

/* Reads the header of a file that is open already and fills file->header_bytes. All memory comes
 * from pool, also when it fails. options may be NULL. */
enum dti_status dti_safetensors_read(struct dti_pool *pool, struct dti_container_file *file,
                                     unsigned file_index,
                                     const struct dti_container_options *options,
                                     struct dti_safetensors *ret, struct dti_error *reterr);

/* The two halves of it, for data in memory. label is the file's name for messages, in quotes. The
 * first finds the length of the header from the `size` (at most 8) first bytes of a file of
 * file_size bytes; the second judges the header. */
enum dti_status dti_safetensors_header_length(const char *label, const unsigned char *first,
                                              size_t size, uint64_t file_size, uint64_t *ret_length,
                                              struct dti_error *reterr);
enum dti_status dti_safetensors_parse(struct dti_pool *pool, const char *label, const char *header,
                                      size_t length, uint64_t file_size, unsigned file_index,
                                      const struct dti_container_options *options,
                                      struct dti_safetensors *ret, struct dti_error *reterr);

/* The name of a dtype in a header and the dtype of a name (exact spelling); NULL when there is
 * none. */
const char *dti_safetensors_name(const struct dti_format *format);
const struct dti_format *dti_safetensors_format(const char *name, size_t length,
                                                const char **ret_name);
/* How its elements lie in the data; false without a name. dti_safetensors_bits() is of one. */
bool dti_safetensors_stores(const struct dti_format *format, struct dti_layout *ret_layout);
unsigned dti_safetensors_bits(const struct dti_format *format);

/* dti_container_layout() for this kind. Fails with DTI_WRONG_KIND for a dtype without a name and
 * for metadata that is no string, with DTI_BAD_INPUT for names that are not UTF-8, occur twice or
 * are "__metadata__", for elements that do not fill whole bytes, for sizes beyond all limits. */
enum dti_status dti_safetensors_layout(struct dti_new_tensor *tensors, size_t count,
                                       const struct dti_metadata *metadata, size_t metadata_count,
                                       struct dti_buffer *ret_head, uint64_t *ret_size,
                                       struct dti_error *reterr);

#endif
