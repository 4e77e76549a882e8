/* SPDX-License-Identifier: MIT
 *
 * Names of the tensors of language models, in Hugging Face's checkpoints and in llama.cpp's GGUF,
 * in both directions, and how the numbers differ between the two. */
#ifndef FILES_MODEL_MODEL_NAMES_H
#define FILES_MODEL_MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dti_model_arch {
#define MODEL_ARCH(id, ...) DTI_MODEL_##id,
#include "files/model/model_archs.def"
#undef MODEL_ARCH
    DTI_MODEL_ARCHS
};

/* The name in GGUF: "llama". */
const char *dti_model_arch_name(enum dti_model_arch arch);
/* The architecture of general.architecture, or of a class in config.json's "architectures";
 * DTI_MODEL_ARCHS: not in the table. */
enum dti_model_arch dti_model_arch_named(const char *name, size_t length);
enum dti_model_arch dti_model_arch_of_class(const char *name, size_t length);

/* How the numbers in GGUF differ from those of the checkpoint. */
enum dti_model_change {
    DTI_MODEL_SAME,
    DTI_MODEL_PERMUTED_Q, /* rows are permuted: dti_model_permuted_row() with the number of heads */
    DTI_MODEL_PERMUTED_K, /* the same, with the number of key-value heads */
    DTI_MODEL_PLUS_ONE,   /* 1 is added to each */
};

enum { DTI_MODEL_NAME_MAX = 127 }; /* bytes of a name in the table, with its layer */
struct dti_model_name {
    char text[DTI_MODEL_NAME_MAX + 1];
    size_t length;
    enum dti_model_change change;
};
/* The name in GGUF of a tensor of a checkpoint, and the other way round. False: the table has none
 * for this architecture. A checkpoint's name comes back in its common form, "model.layers.0...". */
bool dti_model_name_to_gguf(struct dti_model_name *ret, enum dti_model_arch arch, const char *name,
                            size_t length);
bool dti_model_name_from_gguf(struct dti_model_name *ret, enum dti_model_arch arch,
                              const char *name, size_t length);

/* Whether llama.cpp computes a tensor of this name in a checkpoint, so that GGUF has none. */
bool dti_model_name_is_computed(const char *name, size_t length);

/* The row of the checkpoint's matrix that is row `row` in GGUF. Checkpoints keep the two halves of
 * a head apart (rows i and i + half are a pair of rope), GGUF has the pairs next to each other.
 * head_rows: of one head, even. */
static inline uint64_t dti_model_permuted_row(uint64_t row, uint64_t head_rows)
{
    const uint64_t head = row / head_rows, at = row % head_rows;
    return head * head_rows + at % 2 * (head_rows / 2) + at / 2;
}

#endif
