/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of a translated tensor come from: units of a few bytes, each of which follows
 * from a place in the source, so that pieces may begin and end anywhere. And of a quantized tensor
 * what translations ask: how its numbers lie in the file, what its scale is. */
#ifndef FILES_TRANSCODE_TRANSCODE_BYTES_H
#define FILES_TRANSCODE_TRANSCODE_BYTES_H

#include "files/transcode/transcode.h"

enum {
    DTI_TRANSCODE_UNIT = 16,  /* bytes of the largest unit */
    DTI_TRANSCODE_ROOM = 2048 /* units that are made at once */
};

/* Units first to first + count - 1, at most DTI_TRANSCODE_ROOM; memory: DTI_TRANSCODE_SCRATCH bytes
 * of the thread. */
enum { DTI_TRANSCODE_SCRATCH = 64 << 10 };
typedef enum dti_status dti_transcode_fill(const void *context, unsigned char *units,
                                           uint64_t first, size_t count, unsigned char *memory,
                                           struct dti_error *reterr);

/* In the pool of the view. */
struct dti_transcode_units {
    dti_transcode_fill *fill;
    const void *context;
    size_t bytes; /* of a unit */
};
/* False: memory ran out. */
bool dti_transcode_set_units(struct dti_pool *pool, struct dti_transcode_part *part,
                             const struct dti_transcode_units *units);

/* Codes as they are, of so many bits: the first of two in the lowest bits. */
bool dti_transcode_set_codes(struct dti_pool *pool, const struct dti_dequant_found *found,
                             struct dti_transcode_part *part);
/* Scales of a byte in the order of the numbers; scales of any float as they are, or as fp32, for
 * part->dtype. */
bool dti_transcode_set_scales(struct dti_pool *pool, const struct dti_dequant_found *found,
                              struct dti_transcode_part *part);
/* One fp32, as often as the shape has elements. */
bool dti_transcode_set_number(struct dti_pool *pool, float number, struct dti_transcode_part *part);

/* No parts yet; then one after the other. */
void dti_transcode_begin(const struct dti_dequant_found *found, struct dti_transcoded *ret);
struct dti_transcode_part *dti_transcode_add(struct dti_transcoded *ret, const char *suffix,
                                             enum dti_dtype dtype);
/* One fp32 of shape [1], or of rank 0. */
enum dti_status dti_transcode_add_number(struct dti_pool *pool, float number, const char *suffix,
                                         unsigned rank, struct dti_transcoded *ret,
                                         struct dti_error *reterr);

/* A refusal that names the tensor; the remedy is to make numbers of it, or to keep it. */
enum dti_status dti_transcode_refuse(const struct dti_dequant_found *found,
                                     struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(3, 4);
/* The same where something else helps. */
enum dti_status dti_transcode_refuse_for(const struct dti_dequant_found *found,
                                         struct dti_error *reterr, enum dti_remedy remedy,
                                         const char *format, ...) DTI_PRINTF(4, 5);

/* Whether it is stored in plain blocks along its rows: a scale for each, nothing left out. */
bool dti_transcode_has_blocks(const struct dti_dequant_found *found);
/* The part's shape: those rows, with the last dimension divided. */
void dti_transcode_set_shape(const struct dti_dequant_found *found, uint64_t divisor,
                             struct dti_transcode_part *part);
/* transcode_inputs.c: the scale of activations beside a weight. */
struct dti_transcode_input {
    bool there;    /* one fp32, that --keep does not name */
    bool divides;  /* it is a divisor */
    size_t tensor; /* of the container */
};
/* Fills found->form.input_scale too. */
void dti_transcode_find_input(struct dti_file_dequant *dequant, struct dti_dequant_found *found,
                              struct dti_transcode_input *ret);
/* Its reciprocal, by its name in the other layout, as the only part; it counts as a block of the
 * weight. */
enum dti_status dti_transcode_add_input(struct dti_pool *pool,
                                        const struct dti_dequant_found *found,
                                        const struct dti_transcode_input *input,
                                        struct dti_transcoded *plan, struct dti_error *reterr);

/* Whether loaders have a module with such a weight. */
bool dti_transcode_is_module(const struct dti_dequant_found *found);

/* transcode_fp8.c: codes of fp8_e4m3fn with floats as scales, in the order of the file. */
bool dti_transcode_is_fp8(const struct dti_dequant_found *found);
/* For compressed-tensors, with scales of any float; for targets that have one, as X_scale []. */
enum dti_status dti_transcode_compressed_fp8(struct dti_pool *pool,
                                             const struct dti_dequant_found *found,
                                             struct dti_transcoded *ret, struct dti_error *reterr);
enum dti_status dti_transcode_whole_fp8(const struct dti_transcode_target *target,
                                        struct dti_pool *pool,
                                        const struct dti_dequant_found *found,
                                        struct dti_transcoded *ret, struct dti_error *reterr);
/* strategy, scale and group. */
void dti_transcode_fp8_form(const struct dti_dequant_found *found, struct dti_config_form *ret);

/* transcode_blocks.c: as a target's plan(). Tensor scales are divided by where it has form(). */
enum dti_status dti_transcode_blocks(const struct dti_transcode_target *target,
                                     struct dti_pool *pool, struct dti_dequant_found *found,
                                     struct dti_transcoded *ret, struct dti_error *reterr);
enum dti_status dti_transcode_to_nvfp4(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr);

#endif
