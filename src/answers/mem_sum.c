/* SPDX-License-Identifier: MIT
 *
 * Sums over all arrays: what their numbers take as each dtype, and what training takes. */
#include <stdlib.h>

#include "answers/mem.h"
#include "dtinfo/checked.h"

static enum dti_status too_large(const struct dti_mem *mem, const char *dtype,
                                 struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_VALUE, "%llu numbers take more bytes in %s than 64 bits count",
                    (unsigned long long)mem->numbers, dtype);
}

static bool sum_size(const struct dti_mem *mem, struct dti_mem_size *size)
{
    if (size->as_stored) {
        size->numbers.bytes = mem->stored_bytes - mem->other_bytes;
        size->bytes = mem->stored_bytes;
        return true;
    }
    for (size_t i = 0; i < mem->item_count; i++) {
        const struct dti_mem_item *const item = &mem->items[i];
        struct dti_footprint footprint;
        if (item->takes_dtype && (!dti_footprint_of(&size->as, &item->extent, &footprint) ||
                                  !dti_footprint_add(&size->numbers, &footprint)))
            return false;
    }
    return dti_add_u64(size->numbers.bytes, mem->other_bytes, &size->bytes);
}

enum dti_status dti_mem_sum(struct dti_mem *mem, struct dti_error *reterr)
{
    for (size_t i = 0; i < mem->size_count; i++) {
        if (!sum_size(mem, &mem->sizes[i]))
            return too_large(mem, dti_stored_name(&mem->sizes[i].as), reterr);
    }
    return DTI_OK;
}

enum dti_status dti_mem_add_training(struct dti_mem *mem, const struct dti_training_plan *plan,
                                     struct dti_error *reterr)
{
    struct dti_mem_training training = {.plan = *plan, .bytes = mem->other_bytes};
    bool fits = true;
    for (size_t i = 0; i < mem->item_count && fits; i++)
        fits = !mem->items[i].takes_dtype ||
               dti_training_add(plan, &mem->items[i].extent, training.parts);
    for (unsigned part = 0; part < DTI_TRAINING_PARTS && fits; part++)
        fits = dti_add_u64(training.bytes, training.parts[part].bytes, &training.bytes);
    if (!fits)
        return too_large(mem, "training", reterr);
    struct dti_mem_training *const larger =
        realloc(mem->trainings, (mem->training_count + 1) * sizeof *larger);
    if (!larger)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    mem->trainings = larger;
    larger[mem->training_count++] = training;
    return DTI_OK;
}
