/* SPDX-License-Identifier: MIT
 *
 * What memory numbers take, as JSON. */
#include "answers/mem.h"

#include <string.h>

#include "answers/common.h"
#include "answers/rows.h"
#include "answers/tensors.h"
#include "dtinfo/machine.h"

struct operand_of {
    const struct dti_mem *mem;
    const struct dti_mem_operand *operand;
};

struct size_of {
    const struct dti_mem *mem;
    const struct dti_mem_size *size;
};

struct training_of {
    const struct dti_mem *mem;
    const struct dti_mem_training *training;
};

struct part_of {
    const struct dti_mem_training *training;
    enum dti_training_part part;
    uint64_t numbers;
};

DTI_WORDS(kind_words, "count", "shape", "file")
DTI_WORDS(part_words, "weights", "gradients", "master weights", "first moment", "second moment",
          "momentum")

static size_t list_optimizers(unsigned set, const char *ret[DTI_TRAINING_COUNT])
{
    size_t count = 0;
    for (unsigned i = 0; i < DTI_TRAINING_COUNT; i++) {
        if (set >> i & 1)
            ret[count++] = dti_training_get((enum dti_training)i)->name;
    }
    return count;
}

#define DTI_ROWS "answers/mem.def"
#include "answers/rows.h"
