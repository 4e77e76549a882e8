/* SPDX-License-Identifier: MIT
 *
 * The bytes of a transcoded tensor: units of a few bytes, each computed from a position in the
 * source, so that reads may start and end anywhere. Also queries about a quantized tensor that
 * transcoding needs: how its numbers are stored, and what its scale is. */
#ifndef FILES_TRANSCODE_TRANSCODE_BYTES_H
#define FILES_TRANSCODE_TRANSCODE_BYTES_H

#include "files/transcode/transcode.h"

enum {
    DTI_TRANSCODE_UNIT = 64,  /* bytes of the largest unit */
    DTI_TRANSCODE_ROOM = 2048 /* units computed at once */
};

/* Computes units first to first + count - 1, at most DTI_TRANSCODE_ROOM; memory:
 * DTI_TRANSCODE_SCRATCH bytes per thread. */
enum { DTI_TRANSCODE_SCRATCH = 64 << 10 };
typedef enum dti_status dti_transcode_fill(const void *context, unsigned char *units,
                                           uint64_t first, size_t count, unsigned char *memory,
                                           struct dti_error *reterr);

/* Allocated in the view's pool. */
struct dti_transcode_units {
    dti_transcode_fill *fill;
    const void *context;
    size_t bytes; /* per unit */
};
/* Returns false if memory ran out. */
bool dti_transcode_set_units(struct dti_pool *pool, struct dti_transcode_part *part,
                             const struct dti_transcode_units *units);

/* Codes unchanged, with the first of two in the low bits. */
bool dti_transcode_set_codes(struct dti_pool *pool, const struct dti_dequant_found *found,
                             struct dti_transcode_part *part);
/* One-byte scales in the order of the numbers; float scales unchanged or converted to fp32,
 * depending on part->dtype. */
bool dti_transcode_set_scales(struct dti_pool *pool, const struct dti_dequant_found *found,
                              struct dti_transcode_part *part);
/* Fills units of one byte: scales in the order of the numbers, also of tiles. The context is a
 * struct dti_dequant_tensor. */
dti_transcode_fill dti_transcode_fill_scales;
/* Opens the tensor, and counts its blocks by their one-byte scales. */
enum dti_status dti_transcode_count_scales(struct dti_dequant_tensor *how, uint64_t ret[256],
                                           struct dti_error *reterr);
/* One fp32, repeated for all elements of the shape. */
void dti_transcode_set_number(float number, struct dti_transcode_part *part);

/* Such a source, and whether a source is one, of the number in its part; bytes: the number,
 * little-endian. */
struct dti_batch_source dti_transcode_number(const unsigned char *bytes);
bool dti_transcode_is_number(const struct dti_batch_source *source);

/* dti_transcode_begin(): starts without parts. dti_transcode_add(): appends one. */
void dti_transcode_begin(const struct dti_dequant_found *found, struct dti_transcoded *ret);
struct dti_transcode_part *dti_transcode_add(struct dti_transcoded *ret, const char *suffix,
                                             enum dti_dtype dtype);
/* Adds one fp32 of shape [1], or of rank 0. */
void dti_transcode_add_number(float number, const char *suffix, unsigned rank,
                              struct dti_transcoded *ret);

/* Fails with a message that names the tensor; the remedy is to dequantize or keep it. */
enum dti_status dti_transcode_refuse(const struct dti_dequant_found *found,
                                     struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(3, 4);
/* Same with another remedy. */
enum dti_status dti_transcode_refuse_for(const struct dti_dequant_found *found,
                                         struct dti_error *reterr, enum dti_remedy remedy,
                                         const char *format, ...) DTI_PRINTF(4, 5);

/* Fails with DTI_ANSWER_NO if a lossless result is required, and not all blocks are lossless. */
enum dti_status dti_transcode_require_lossless(bool required, const struct dti_dequant_found *found,
                                               uint64_t blocks, uint64_t lossless,
                                               struct dti_error *reterr);
/* Whether it has plain codes of 8 bits of this dtype along its rows, multiplied by float scales
 * alone. */
bool dti_transcode_is_plain(const struct dti_dequant_found *found, enum dti_dtype code);
/* What shares a scale in such a tensor. */
enum dti_transcode_sharing {
    DTI_SHARED_OTHERWISE,
    DTI_SHARED_BY_TENSOR,
    DTI_SHARED_BY_ROW,
    DTI_SHARED_BY_RECTANGLE,
};
enum dti_transcode_sharing dti_transcode_sharing(const struct dti_dequant_found *found);

/* Whether it is stored in plain blocks along its rows: one scale each, no padding. */
bool dti_transcode_has_blocks(const struct dti_dequant_found *found);
/* Sets the part's shape to that of the numbers, with the last dimension divided. */
void dti_transcode_set_shape(const struct dti_dequant_found *found, uint64_t divisor,
                             struct dti_transcode_part *part);
/* transcode_inputs.c: the scale of activations stored with a weight. */
struct dti_transcode_input {
    bool there;      /* one fp32, not named by --keep */
    bool divides;    /* it is a divisor */
    uint32_t tensor; /* index in the container */
};
/* Also sets found->form.input_scale. */
void dti_transcode_find_input(struct dti_file_dequant *dequant, struct dti_dequant_found *found,
                              struct dti_transcode_input *ret);
/* Adds its reciprocal, under its name in the other layout, as the only part; it counts as a block
 * of the weight. */
enum dti_status dti_transcode_add_input(const struct dti_dequant_found *found,
                                        const struct dti_transcode_input *input,
                                        struct dti_transcoded *plan, struct dti_error *reterr);

/* Whether loaders have a module with such a weight. */
bool dti_transcode_is_module(const struct dti_dequant_found *found);

/* transcode_fp8.c: fp8_e4m3fn codes with float scales, in file order. */
bool dti_transcode_is_fp8(const struct dti_dequant_found *found);
/* Such codes with one scale, and that scale. */
bool dti_transcode_is_whole_fp8(const struct dti_dequant_found *found);
enum dti_status dti_transcode_read_scale(const struct dti_dequant_found *found, float *ret,
                                         struct dti_error *reterr);
/* For compressed-tensors, with scales of any float; and for targets with a single scale, X_scale
 * []. */
enum dti_status dti_transcode_compressed_fp8(struct dti_pool *pool,
                                             const struct dti_dequant_found *found,
                                             struct dti_transcoded *ret, struct dti_error *reterr);
enum dti_status dti_transcode_whole_fp8(const struct dti_transcode_target *target,
                                        const struct dti_dequant_found *found,
                                        struct dti_transcoded *ret, struct dti_error *reterr);
/* Sets strategy, scale and group. */
void dti_transcode_fp8_form(const struct dti_dequant_found *found, struct dti_config_form *ret);

/* transcode_blocks.c: implement a target's plan(). Targets with form() divide by the tensor
 * scale. */
enum dti_status dti_transcode_blocks(const struct dti_transcode_target *target,
                                     struct dti_pool *pool, struct dti_dequant_found *found,
                                     struct dti_transcoded *ret, struct dti_error *reterr);
enum dti_status dti_transcode_to_nvfp4(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr);
/* For nvfp4 with unchanged scales of blocks, and a tensor scale that is applied by another rule:
 * counts the blocks whose numbers change in *ret. Reads scales if any can. */
enum dti_status dti_transcode_count_nv(struct dti_dequant_found *found, struct dti_nv_tensor new,
                                       struct dti_transcoded *ret, struct dti_error *reterr);

#endif
