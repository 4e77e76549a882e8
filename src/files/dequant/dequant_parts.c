/* SPDX-License-Identifier: MIT
 *
 * Parts of quantized tensors: naming, reading and refusing them; and what a view creates from them:
 * plans, tables, the tensor as shown.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "util/checked.h"

const char *dti_dequant_shape_words(const struct dti_tensor *tensor,
                                    char buffer[DTI_DEQUANT_SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(buffer, 160, "[");
    for (unsigned i = 0; i < tensor->rank && used < 120; i++)
        used += (size_t)snprintf(buffer + used, 160 - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)tensor->shape[i]);
    (void)snprintf(buffer + used, 160 - used, "]");
    return buffer;
}

enum dti_status dti_dequant_refuse(const struct dti_dequant_part *part, struct dti_error *reterr,
                                   enum dti_remedy remedy, const char *format, ...)
{
    char place[DTI_TENSOR_PLACE], what[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, remedy, "%s: %s",
                           dti_tensor_place(part->container, part->tensor, place), what);
}

enum dti_status dti_dequant_check_part(const struct dti_dequant_part *part,
                                       struct dti_error *reterr)
{
    if (!part->container)
        return DTI_OK;
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    if (dti_tensor_refusal(tensor) || !tensor->format)
        return dti_dequant_refuse(part, reterr, tensor->remedy, "%s",
                                  dti_tensor_refusal(tensor) ? dti_tensor_refusal(tensor)
                                                             : "its dtype is unknown");
    if (tensor->fortran)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_NONE,
                                  "it is in column-major order; the parts of a quantized tensor "
                                  "must be in row-major order");
    if (tensor->rank > DTI_QUANT_RANK_MAX)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_NONE,
                                  "it has %u dimensions, and the limit is %u", tensor->rank,
                                  (unsigned)DTI_QUANT_RANK_MAX);
    return DTI_OK;
}

enum dti_status dti_dequant_read_part(const struct dti_dequant_part *part, void *buffer,
                                      size_t size, uint64_t offset, struct dti_error *reterr)
{
    const struct dti_input *input;
    uint64_t start;
    const enum dti_status status =
        dti_container_data(part->container, part->tensor, &input, &start, reterr);
    return status == DTI_OK ? dti_input_read_at(input, buffer, size, start + offset, reterr)
                            : status;
}

enum dti_status dti_dequant_look(const struct dti_dequant_part *part, struct dti_window *view,
                                 void *buffer, size_t size, uint64_t offset, const void **ret,
                                 struct dti_error *reterr)
{
    const struct dti_input *input;
    uint64_t start;
    const enum dti_status status =
        dti_container_data(part->container, part->tensor, &input, &start, reterr);
    return status == DTI_OK
               ? dti_window_look(view, input, buffer, size, start + offset, ret, reterr)
               : status;
}

enum dti_status dti_dequant_copy(const struct dti_dequant_part *part, struct dti_window *view,
                                 void *buffer, size_t size, uint64_t offset,
                                 struct dti_error *reterr)
{
    const struct dti_input *input;
    uint64_t start;
    const enum dti_status status =
        dti_container_data(part->container, part->tensor, &input, &start, reterr);
    return status == DTI_OK ? dti_window_copy(view, input, buffer, size, start + offset, reterr)
                            : status;
}

enum dti_status dti_dequant_read_all(const struct dti_dequant_part *part, void *buffer, size_t size,
                                     struct dti_error *reterr)
{
    return dti_dequant_read_part(part, buffer, size, 0, reterr);
}

enum dti_status dti_dequant_tensor_scale(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, float *ret,
                                         struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_TENSOR_SCALE];
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    unsigned char raw[8];
    float scale;
    const bool floats = tensor->format->id == DTI_FP32 || tensor->format->id == DTI_FP16 ||
                        tensor->format->id == DTI_BF16;
    if (!floats || tensor->elements != 1)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected one scale for the whole tensor");
    const struct dti_plan *const plan =
        dti_dequant_scale_plan(dequant, tensor->format, &tensor->layout);
    if (!plan)
        return dti_no_memory(reterr);
    enum dti_status status =
        dti_dequant_copy(part, &dequant->scales, raw, (size_t)tensor->bytes, 0, reterr);
    if (status == DTI_OK)
        status = dti_plan_run(plan, &scale, raw, 1, 0, DTI_STORES_CACHED, NULL, reterr);
    if (status != DTI_OK)
        return status;
    if (!(scale > 0) || scale > 3.4028235e38f) {
        dti_dequant_set_rule(group, DTI_LINT_TENSOR_SCALE);
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "a tensor's scale must be a finite number above 0");
    }
    *ret = scale;
    return DTI_OK;
}

/* Shares the shape of one of the tensors found before, or copies it; NULL: out of memory. */
static const uint64_t *keep_shape(struct dti_file_dequant *dequant, unsigned rank,
                                  const uint64_t *shape)
{
    enum { LOOK_BACK = 8 };
    for (size_t i = 1; i <= LOOK_BACK && i <= dequant->settled; i++) {
        const struct dti_tensor *const other = &dequant->view.tensors[dequant->settled - i];
        if (other->rank == rank && rank > 0 &&
            memcmp(other->shape, shape, rank * sizeof *shape) == 0)
            return other->shape;
    }
    uint64_t *const copy = dti_pool_array(&dequant->pool, (size_t)rank + 1, sizeof *copy);
    if (copy && rank > 0)
        memcpy(copy, shape, rank * sizeof *copy);
    return copy;
}

enum dti_status dti_dequant_show(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group, unsigned rank,
                                 const uint64_t *shape, struct dti_dequant_found *ret,
                                 struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const char *const name = group->name == codes->name && group->name_length == codes->name_length
                                 ? codes->name
                                 : dti_pool_text(&dequant->pool, group->name, group->name_length);
    const uint64_t *const kept = keep_shape(dequant, rank, shape);
    if (!kept || !name)
        return dti_no_memory(reterr);
    *ret->shown = *codes;
    ret->shown->rank = rank;
    ret->shown->name = name;
    ret->shown->name_length = (uint32_t)group->name_length;
    ret->shown->shape = kept;
    ret->shown->elements = ret->how.is->elements;
    return dti_dequant_list(dequant, group->part, &ret->form, reterr);
}

enum dti_status dti_dequant_list(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_part parts[DTI_PART_COUNT],
                                 struct dti_dequant_form *ret, struct dti_error *reterr)
{
    enum { LISTS = 128 }; /* one by one they would be rounded up */
    uint32_t listed[DTI_PART_COUNT];
    size_t count = 0;
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        if (!parts[i].container)
            continue;
        ret->is->of[i] = parts[i].container;
        ret->is->stored_bytes += dti_dequant_part_tensor(&parts[i])->bytes;
        ret->part_set = (uint16_t)(ret->part_set | 1u << i);
        listed[count++] = (uint32_t)parts[i].tensor;
    }
    if (dequant->lists_left < count) {
        dequant->lists = dti_pool_array(&dequant->pool, LISTS, sizeof *dequant->lists);
        dequant->lists_left = dequant->lists ? LISTS : 0;
        if (!dequant->lists)
            return dti_no_memory(reterr);
    }
    ret->listed = dequant->lists;
    for (size_t i = 0; i < count; i++)
        *dequant->lists++ = listed[i];
    dequant->lists_left -= count;
    return DTI_OK;
}

size_t dti_form_part_count(const struct dti_dequant_form *form)
{
    return dti_parts_before(form->part_set, DTI_PART_COUNT);
}

const struct dti_tensor *dti_form_part(const struct dti_dequant_form *form, size_t part)
{
    if ((form->part_set >> part & 1) == 0)
        return NULL;
    const size_t before = dti_parts_before(form->part_set, (enum dti_quant_part)part);
    return dti_container_tensor(form->is->of[part], form->listed[before]);
}

struct dti_dequant_tensor *dti_form_how(const struct dti_dequant_form *form)
{
    return &((struct dti_dequant_found *)(uintptr_t)form)->how;
}

struct dti_dequant_found *dti_dequant_found_new(struct dti_file_dequant *dequant)
{
    struct dti_dequant_found *const found = &dequant->found[dequant->settled];
    struct dti_dequant_shared *const shared =
        dequant->spare ? dequant->spare : dti_pool_alloc(&dequant->pool, sizeof *shared);
    if (!shared)
        return NULL;
    dequant->spare = NULL;
    memset(found, 0, sizeof *found);
    memset(shared, 0, sizeof *shared);
    dti_dequant_use(found, shared);
    found->shown = &dequant->view.tensors[dequant->settled];
    *found->shown = (struct dti_tensor){.name = ""};
    shared->how.level = dequant->request.level;
    shared->how.reciprocal = dequant->request.reciprocal;
    shared->how.stripes = &dequant->stripes;
    shared->how.ahead = &dequant->scales;
    shared->how.factor = 1;
    return found;
}

/* By their bytes, of which those between members are 0 (if not, the two are only not shared). */
static bool are_alike(const void *shared, const void *other)
{
    return memcmp(shared, other, sizeof(struct dti_dequant_shared)) == 0;
}

void dti_dequant_share(struct dti_file_dequant *dequant, struct dti_dequant_found *found)
{
    struct dti_dequant_shared *const own = dti_dequant_shared_of(found);
    dequant->settled++;
    for (size_t i = 0; i < DTI_DEQUANT_RECENT && dequant->recent[i]; i++) {
        struct dti_dequant_shared *const other = dequant->recent[i];
        if (other == own)
            return;
        if (!are_alike(own, other))
            continue;
        dti_dequant_use(found, other);
        dequant->spare = own;
        return;
    }
    dequant->recent[dequant->next_recent++ % DTI_DEQUANT_RECENT] = own;
}

const struct dti_block_parts *dti_dequant_block_parts(struct dti_file_dequant *dequant,
                                                      const struct dti_block_format *block)
{
    struct dti_block_parts **const parts = &dequant->block_parts[block->id];
    if (!*parts) {
        *parts = dti_pool_alloc(&dequant->pool, sizeof **parts);
        if (*parts) {
            const struct dti_block_recipe recipe = {.format = block};
            dti_block_parts_init(*parts, &recipe);
        }
    }
    return *parts;
}

/* The plan between those formats, created on first use. */
static const struct dti_plan *find_plan(struct dti_file_dequant *dequant,
                                        const struct dti_request *request)
{
    for (size_t i = 0; i < dequant->plan_count; i++) {
        const struct dti_request *const other = dti_plan_request(dequant->plans[i]);
        if (other->src.id == request->src.id && other->cast.dst.id == request->cast.dst.id &&
            other->src_layout.swapped == request->src_layout.swapped)
            return dequant->plans[i];
    }
    /* there are few scale dtypes, in two byte orders */
    if (dequant->plan_count == DTI_DEQUANT_PLANS_MAX ||
        dti_plan_new(&dequant->plans[dequant->plan_count], request, dequant->request.level, NULL) !=
            DTI_OK)
        return NULL;
    return dequant->plans[dequant->plan_count++];
}

const struct dti_plan *dti_dequant_scale_plan(struct dti_file_dequant *dequant,
                                              const struct dti_format *format,
                                              const struct dti_layout *layout)
{
    const struct dti_request request = {.src = *format,
                                        .src_layout = {.swapped = layout->swapped},
                                        .cast = {.dst = *dti_format_get(DTI_FP32)}};
    return find_plan(dequant, &request);
}

const struct dti_plan *dti_dequant_narrow_plan(struct dti_file_dequant *dequant,
                                               const struct dti_format *format)
{
    const struct dti_request request = {.src = *dti_format_get(DTI_FP32), .cast = {.dst = *format}};
    return find_plan(dequant, &request);
}

struct dti_container *dti_file_dequant_container(struct dti_file_dequant *dequant)
{
    return &dequant->view;
}

const struct dti_metadata *dti_dequant_entry(struct dti_file_dequant *dequant,
                                             const struct dti_dequant_group *group)
{
    const size_t key = sizeof DTI_QUANT_KEY - 1;
    size_t at;
    char *const name = dequant->names.buffer;
    memcpy(name, DTI_QUANT_KEY, key);
    memcpy(name + key, group->name, group->name_length);
    return dti_name_order_find(&dequant->metadata, name, key + group->name_length, &at)
               ? &dequant->container->metadata[at]
               : NULL;
}
