/* SPDX-License-Identifier: MIT
 *
 * safetensors: the header length in eight bytes, a JSON header, the data. Validation follows the
 * reference implementation (the Rust crate); in addition, duplicate names and metadata keys are
 * refused, as are a tensor given as an array and a dtype given as an object. */
#ifndef CONTAINERS_SAFETENSORS_SAFETENSORS_H
#define CONTAINERS_SAFETENSORS_SAFETENSORS_H

#include "containers/containers.h"

enum { DTI_SAFETENSORS_PREFIX = 8, DTI_SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000 };

/* The members of a tensor in a header as the reference writes them, and so do we; between these are
 * its dtype, its sizes, and two offsets. */
#define DTI_SAFETENSORS_DTYPE   "{\"dtype\":\""
#define DTI_SAFETENSORS_SHAPE   "\",\"shape\":["
#define DTI_SAFETENSORS_OFFSETS "],\"data_offsets\":["
#define DTI_SAFETENSORS_END     "]}"

/* Reads the header of the opening's file and adds its contents to the container, as tensors of file
 * `file_index`. */
bool dti_safetensors_read(struct dti_opening *opening, unsigned file_index);
/* The same for a range of `size` bytes from `begin` on; its name is the opening's label.
 * *ret_start: the number of bytes before its data. */
bool dti_safetensors_read_at(struct dti_opening *opening, unsigned file_index, uint64_t begin,
                             uint64_t size, uint64_t *ret_start);

/* The two steps of it, for data in memory. The first gets the header length from the first `size`
 * (at most 8) bytes of a file of file_size bytes; the second parses and validates the header. */
bool dti_safetensors_header_length(struct dti_opening *opening, const unsigned char *first,
                                   size_t size, uint64_t file_size, uint64_t *ret_length);
bool dti_safetensors_parse(struct dti_opening *opening, const char *header, size_t length,
                           uint64_t file_size, unsigned file_index);

/* Maps a dtype to its name in a header, and a name (exact spelling) to its dtype; NULL if there is
 * none. */
const char *dti_safetensors_name(const struct dti_format *format);
const struct dti_format *dti_safetensors_format(const char *name, size_t length,
                                                const char **ret_name);
/* The layout of its elements in the data; false if the dtype has no name. dti_safetensors_bits():
 * bits of one element. */
bool dti_safetensors_stores(const struct dti_format *format, struct dti_layout *ret_layout);
unsigned dti_safetensors_bits(const struct dti_format *format);
/* Elements and bits of a shape; false: 64-bit overflow. */
bool dti_safetensors_measure(const struct dti_format *format, const uint64_t *shape, unsigned rank,
                             uint64_t *ret_elements, uint64_t *ret_bits);

/* dti_container_layout() for this kind. Fails with DTI_WRONG_KIND for a dtype without a name and
 * for metadata that is not a string; with DTI_BAD_INPUT for names that are not UTF-8, duplicate, or
 * "__metadata__", for elements that do not fill whole bytes, and for sizes over the limits. */
enum dti_status dti_safetensors_layout(struct dti_new_tensor *tensors, size_t count,
                                       const struct dti_metadata *metadata, size_t metadata_count,
                                       struct dti_new_head *ret_head, uint64_t *ret_size,
                                       struct dti_error *reterr);
/* The same for tensors that cannot be sorted. *ret_aligned: false: they would have to be, and the
 * head is not made. */
enum dti_status dti_safetensors_layout_each(const struct dti_new_source *source,
                                            const struct dti_metadata *metadata,
                                            size_t metadata_count, struct dti_new_head *ret_head,
                                            uint64_t *ret_size, bool *ret_aligned,
                                            struct dti_error *reterr);

#endif
