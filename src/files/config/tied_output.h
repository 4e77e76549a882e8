/* SPDX-License-Identifier: MIT
 *
 * The output layer that a model with tied embeddings stores besides. mlx-lm's sanitize() drops it
 * (models/llama.py and others, 0.32.2), and load_weights() refuses its scales and biases: for MLX
 * it stays as it is. */
#ifndef FILES_CONFIG_TIED_OUTPUT_H
#define FILES_CONFIG_TIED_OUTPUT_H

#include "containers/container.h"
#include "files/stored/quant_layout.h"
#include "util/remedy.h"

/* Whether it is one by its name. */
bool dti_is_output_layer(const struct dti_tensor *tensor);

/* Whether output layers must stay: the container has one that the patterns of `keep` (or NULL) do
 * not name, and its config.json ties the embeddings. Fails as dti_quant_config_read() does. */
enum dti_status dti_tied_output_stays(const struct dti_container *container,
                                      enum dti_quant_layout layout, const char *keep, bool *ret,
                                      struct dti_error *reterr);

/* Says so of a tensor; the text lives in the buffer. */
enum { DTI_TIED_NOTE = DTI_QUOTE_SIZE + 160 };
struct dti_note dti_tied_output_note(const struct dti_tensor *tensor, char buffer[DTI_TIED_NOTE]);

#endif
