/* SPDX-License-Identifier: MIT
 *
 * The cast of a file as JSON: see cast_tensors.h. Tensors are written one after another, so memory
 * does not grow with their number. */
#include "answers/cast_tensors.h"

#include <string.h>

#include "answers/common.h"
#include "answers/rows.h"

DTI_WORDS(written_words, "safetensors", "sharded safetensors", "npy", "npz", "gguf", "raw", "text")

DTI_WORDS(fate_words, [DTI_FATE_CHANGED] = "cast", [DTI_FATE_SAME] = "same_dtype",
          [DTI_FATE_KEEP] = "keep", [DTI_FATE_ONLY] = "not_only", [DTI_FATE_INTEGER] = "integer",
          [DTI_FATE_COMPLEX] = "complex", [DTI_FATE_PART] = "part", [DTI_FATE_PART + 1] = "blocks")

static const char *fate_word(enum dti_fate fate)
{
    return fate_words(fate == DTI_FATE_BLOCKS ? DTI_FATE_PART + 1 : fate);
}

static size_t path_length(const char *path)
{
    return path ? strlen(path) : 0;
}

#define DTI_ROWS "answers/cast_tensors.def"
#include "answers/rows.h"
