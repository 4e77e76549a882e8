/* SPDX-License-Identifier: MIT
 *
 * The configuration of NVIDIA's ModelOpt, as quantization_config of config.json and as
 * hf_quant_config.json: one "quant_algo" for all modules, or MIXED_PRECISION and one for each of
 * "quantized_layers". The functions are in layouts/modelopt.c. */
#ifndef FILES_CONFIG_QUANT_CONFIG_LAYERS_H
#define FILES_CONFIG_QUANT_CONFIG_LAYERS_H

#include "files/config/quant_config_forms.h"
#include "kernels/quant/quant_kernel.h"
#include "util/buffer.h"

/* An algorithm, and the length of its groups; 0: none. name NULL: ModelOpt has no word for it. */
struct dti_config_algorithm {
    const char *name;
    unsigned group;
};
/* The algorithm of matrices whose scales of activations are not stored. block NULL: codes of
 * `number`, with scales as `per` says. */
struct dti_config_algorithm dti_config_algorithm_of(const struct dti_block_format *block,
                                                    enum dti_dtype number, enum dti_quant_per per);
/* Whether loaders need scales of activations, which are not stored. */
bool dti_config_needs_inputs(const struct dti_config_algorithm *algorithm);

/* Modules with their algorithms; or the first algorithm alone, of all modules. */
struct dti_config_layers {
    struct dti_buffer members; /* of quantized_layers */
    struct dti_config_algorithm first;
    bool several; /* algorithms */
};
void dti_config_layers_init(struct dti_config_layers *layers);
void dti_config_layers_free(struct dti_config_layers *layers);
/* Adds the module of a matrix, whose name ends in ".weight". Returns false if it does not, or
 * without an algorithm. */
bool dti_config_add_layer(struct dti_config_layers *layers, const char *name, size_t length,
                          const struct dti_config_algorithm *algorithm);
/* The value of quantization_config, and the text of hf_quant_config.json. kept: a JSON array of the
 * modules whose matrices stay as they are, indented as a member. ModelOpt lists none next to
 * quantized_layers: modules that are not in it stay. */
void dti_config_put_layers(struct dti_config_texts *out, const struct dti_config_layers *layers,
                           const char *kept);
/* The same as quant_cfg.json, which older releases of TensorRT-LLM read. */
void dti_config_put_layers_alone(struct dti_buffer *out, const struct dti_config_layers *layers);

#endif
