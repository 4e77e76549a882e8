/* SPDX-License-Identifier: MIT
 *
 * The view of a transcoded file: the tensors of the dequantization's view, with quantized ones
 * replaced by the parts of the target layout. */
#include "files/transcode/file_transcode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "files/transcode/transcode_gguf.h"
#include "files/transcode/transcode_view.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

static const char *const names[DTI_TRANSCODE_COUNT] = {
#define TRANSCODE_LAYOUT(id, name, help) [DTI_TRANSCODE_##id] = name,
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_LAYOUT
};

const char *dti_transcode_layout_name(enum dti_transcode_layout layout)
{
    return names[layout];
}

const char *dti_transcode_mode_name(enum dti_block mode)
{
    static const char *const modes[DTI_BLOCK_COUNT + 1] = {
#define TRANSCODE_MODE(id, name, help) [DTI_BLOCK_##id] = name,
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_MODE
    };
    return modes[mode];
}

/* NULL: none. */
static const struct dti_transcode_target *target_of(enum dti_transcode_layout layout,
                                                    enum dti_transcode_takes takes)
{
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (const struct dti_transcode_target *const *of = (*row)->targets; *of; of++) {
            if ((*of)->takes == takes && strcmp((*of)->name, names[layout]) == 0)
                return *of;
        }
    }
    return NULL;
}

bool dti_transcode_layout_has_nvfp4(enum dti_transcode_layout layout)
{
    return target_of(layout, DTI_TAKES_FOR_NVFP4) != NULL;
}

bool dti_transcode_layout_has_integers(enum dti_transcode_layout layout)
{
    return target_of(layout, DTI_TAKES_INTEGERS) != NULL;
}

/* Whether codes become those of the mode that is asked for. */
static bool is_in_mode(const struct dti_file_transcode_request *request,
                       const struct dti_dequant_found *found)
{
    const struct dti_block_format *const block = found->how.is->block;
    if (!request->moded)
        return true;
    if (!block)
        return request->mode == DTI_BLOCK_COUNT &&
               !dti_format_is_float(&found->how.is->affine.code);
    return block->id == request->mode || (request->nvfp4 && block->id == DTI_BLOCK_MXFP4);
}

/* The target for a tensor, chosen by its codes. */
static enum dti_status find_target(const struct dti_file_transcode *transcode,
                                   const struct dti_dequant_found *found,
                                   const struct dti_transcode_target **ret,
                                   struct dti_error *reterr)
{
    const enum dti_transcode_layout layout = transcode->request.layout;
    const struct dti_transcode_target *const integers = transcode->of_layout[DTI_TAKES_INTEGERS];
    if (found->how.is->rotation > 0 && !(integers && integers->marks))
        return dti_transcode_refuse(found, reterr,
                                    "its codes are those of rotated weights (ConvRot), and %s "
                                    "cannot say so",
                                    names[layout]);
    const bool blocks = found->how.is->block || dti_format_is_float(&found->how.is->affine.code);
    *ret = transcode->of_layout[!blocks                    ? DTI_TAKES_INTEGERS
                                : transcode->request.nvfp4 ? DTI_TAKES_FOR_NVFP4
                                                           : DTI_TAKES_BLOCKS];
    if (blocks && found->how.is->matrix > 0 && !(*ret && (*ret)->experts))
        return dti_transcode_refuse(found, reterr,
                                    "it is a stack of experts of %s, stored transposed; no program "
                                    "that reads %s has such experts",
                                    found->form.is->layout, names[layout]);
    if (!is_in_mode(&transcode->request, found))
        return dti_transcode_refuse(found, reterr, "it is %s of %s, and mode %s has other codes",
                                    found->form.is->dtype, found->form.is->layout,
                                    dti_transcode_mode_name(transcode->request.mode));
    if (*ret)
        return DTI_OK;
    return dti_transcode_refuse(found, reterr, "it is %s of %s, which cannot be translated to %s",
                                found->form.is->dtype, found->form.is->layout, names[layout]);
}

/* Makes a tensor of bytes one of blocks; returns their bytes. */
static uint64_t set_blocks(struct dti_tensor *tensor, const struct dti_gguf_type *type)
{
    dti_tensor_set_gguf(tensor, type);
    tensor->format = dti_container_blocks(dti_container_first(DTI_TRAIT_GGML), type);
    tensor->stored_as = type->name;
    tensor->bytes = tensor->elements / type->elements * type->bytes;
    return tensor->bytes;
}

/* Keeps where the bytes of a part come from, unless they are numbers; false: out of memory. */
static bool keep_source(struct dti_transcode_tensors *tensors,
                        const struct dti_transcode_part *part, struct dti_transcode_like *like,
                        struct dti_transcode_entry *entry)
{
    like->copied = part->copied.container != NULL; /* that of the view: it has no other parts */
    like->number = !like->copied && dti_transcode_is_number(&part->source);
    like->made = !like->copied && !part->numbers && !like->number;
    if (like->copied)
        entry->from.index = (uint32_t)part->copied.tensor;
    else if (like->number)
        memcpy(entry->from.number, part->number, sizeof entry->from.number);
    return !like->made || dti_shared_list_add(&tensors->sources, &part->source, sizeof part->source,
                                              &entry->from.index);
}

/* A part's shape: that of the numbers or of a tensor added before, or a copy; NULL: out of
 * memory. */
static const uint64_t *keep_shape(struct dti_file_transcode *transcode,
                                  const struct dti_tensor *shown,
                                  const struct dti_transcode_part *part)
{
    const size_t bytes = part->rank * sizeof *part->shape;
    if (bytes > 0 && shown->rank == part->rank && memcmp(shown->shape, part->shape, bytes) == 0)
        return shown->shape;
    const uint64_t *const recent =
        dti_transcode_recent_shape(&transcode->tensors, part->rank, part->shape);
    if (recent)
        return recent;
    uint64_t *const copy = dti_pool_array(&transcode->pool, (size_t)part->rank + 1, sizeof *copy);
    if (copy)
        memcpy(copy, part->shape, bytes);
    return copy;
}

/* The name of a part: that of the tensor, or of the one that it is copied from, or a new one; NULL:
 * out of memory. */
static const char *keep_name(struct dti_pool *pool, const struct dti_tensor *shown, size_t stem,
                             const struct dti_transcode_part *part)
{
    const size_t more = strlen(part->suffix), length = stem + more;
    const struct dti_tensor *const copied =
        part->copied.container ? dti_container_tensor(part->copied.container, part->copied.tensor)
                               : shown;
    const struct dti_tensor *const own[] = {shown, copied};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i]->name_length == length && memcmp(own[i]->name, shown->name, stem) == 0 &&
            memcmp(own[i]->name + stem, part->suffix, more) == 0)
            return own[i]->name;
    }
    char *const name = dti_pool_alloc(pool, length + 1);
    if (!name)
        return NULL;
    memcpy(name, shown->name, stem);
    memcpy(name + stem, part->suffix, more + 1);
    return name;
}

/* Fills the tensor that a part becomes; *ret_written: its bytes in the new file. False: they exceed
 * 2^64. */
static bool fill_tensor(const struct dti_transcode_part *part, const uint64_t *shape,
                        struct dti_tensor *tensor, uint64_t *ret_written)
{
    const struct dti_format *const written = dti_format_get(part->dtype);
    bool fits = true;
    tensor->name = NULL;
    tensor->name_length = 0;
    tensor->format = part->numbers ? dti_format_get(DTI_FP32) : written;
    tensor->stored_as = tensor->format->name;
    tensor->layout = (struct dti_layout){.swapped = false};
    tensor->rank = part->rank;
    tensor->shape = shape;
    tensor->elements = 1;
    for (unsigned i = 0; i < part->rank; i++)
        fits = fits && dti_mul_u64(tensor->elements, shape[i], &tensor->elements);
    fits = fits &&
           dti_format_bytes(tensor->format, &tensor->layout, tensor->elements, &tensor->bytes) &&
           dti_format_bytes(written, &tensor->layout, tensor->elements, ret_written);
    if (part->blocks)
        *ret_written = set_blocks(tensor, part->blocks);
    return fits;
}

/* Adds a tensor of the view for a part, and its source; adds the bytes of the new file. */
/* Most files have no marks, and no memory for them. */
static bool keep_mark(struct dti_file_transcode *transcode, size_t at, const char *mark)
{
    if (!transcode->marks)
        transcode->marks = dti_calloc(transcode->most, sizeof *transcode->marks);
    if (transcode->marks)
        transcode->marks[at] = dti_pool_text(&transcode->pool, mark, strlen(mark));
    return transcode->marks && transcode->marks[at];
}

static enum dti_status add_part(struct dti_file_transcode *transcode, size_t origin,
                                const struct dti_transcoded *plan,
                                const struct dti_transcode_part *part, uint64_t *bytes,
                                struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = dti_transcode_found(transcode, origin);
    const size_t stem = plan->stem_length - part->less;
    const size_t at = transcode->view.tensor_count++;
    struct dti_transcode_entry *const entry = &transcode->entries[at];
    const uint64_t *const shape = keep_shape(transcode, found->shown, part);
    const char *const name = keep_name(&transcode->pool, found->shown, stem, part);
    struct dti_transcode_like like;
    uint64_t written = 0;
    memset(&like, 0, sizeof like);
    memcpy(&like.tensor, found->shown, sizeof like.tensor);
    like.cast = part->numbers ? part->dtype : DTI_NONE;
    if (!shape || !name || !keep_source(&transcode->tensors, part, &like, entry))
        return dti_no_memory(reterr);
    const bool fits = fill_tensor(part, shape, &like.tensor, &written);
    *bytes += written;
    if (!fits)
        return dti_transcode_refuse(found, reterr, "its parts would exceed 2^64 bytes");
    if (part->copied.container &&
        dti_dequant_part_tensor(&part->copied)->bytes != like.tensor.bytes)
        return dti_fail(reterr, DTI_BUG, "a part has other bytes than it is copied from");
    entry->name = name;
    entry->name_length = (uint32_t)(stem + strlen(part->suffix));
    entry->origin = (uint32_t)origin;
    if (part->less > 0 && !keep_mark(transcode, at, plan->mark))
        return dti_no_memory(reterr);
    return dti_shared_list_share(&transcode->tensors.likes, &like, sizeof like, &entry->like)
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* Adds the metadata entry for a tensor whose parts leave something open. */
static enum dti_status tell(struct dti_file_transcode *transcode,
                            const struct dti_dequant_found *found,
                            const struct dti_transcoded *plan, struct dti_error *reterr)
{
    const size_t key = sizeof DTI_QUANT_KEY - 1, length = key + found->shown->name_length;
    char *const name = dti_pool_alloc(&transcode->pool, length + 1);
    char *const value = dti_pool_text(&transcode->pool, plan->entry, strlen(plan->entry));
    if (!name || !value)
        return dti_no_memory(reterr);
    memcpy(name, DTI_QUANT_KEY, key);
    memcpy(name + key, found->shown->name, found->shown->name_length + 1);
    transcode->view.metadata[transcode->view.metadata_count++] =
        (struct dti_metadata){.key = name,
                              .key_length = length,
                              .value = value,
                              .value_length = strlen(value),
                              .kind = DTI_METADATA_STRING,
                              .type = "string",
                              .count = 1};
    return DTI_OK;
}

static void set_replaced(const struct dti_file_transcode *transcode, size_t stored)
{
    transcode->replaced[stored / 8] |= (unsigned char)(1u << stored % 8);
}

static bool is_replaced(const struct dti_file_transcode *transcode, size_t stored)
{
    return (transcode->replaced[stored / 8] >> stored % 8 & 1) != 0;
}

/* The scale of activations of a weight that becomes nvfp4: layouts differ in its meaning. */
static void find_input(struct dti_file_transcode *transcode, size_t origin)
{
    struct dti_dequant_found *const found = dti_transcode_found(transcode, origin);
    struct dti_transcode_input *const input = &transcode->inputs[origin];
    const enum dti_transcode_layout layout = transcode->request.layout;
    const struct dti_transcode_target *const target =
        transcode->of_layout[layout == DTI_TRANSCODE_GGUF ? DTI_TAKES_BLOCKS : DTI_TAKES_FOR_NVFP4];
    dti_transcode_find_input(transcode->dequant, found, input);
    if (target && target->no_inputs && input->there) {
        set_replaced(transcode, input->tensor);
        transcode->inputs_left_out++;
        input->there = false;
        return;
    }
    const bool nvfp4 = transcode->request.nvfp4 ||
                       (found->how.is->block && found->how.is->block->id == DTI_BLOCK_NVFP4);
    if (!nvfp4 || !target || input->divides == (target->form != NULL))
        input->there = false;
    if (input->there)
        set_replaced(transcode, input->tensor);
}

static enum dti_status translate(struct dti_file_transcode *transcode, size_t origin,
                                 struct dti_error *reterr)
{
    struct dti_dequant_found *const found = dti_transcode_found(transcode, origin);
    struct dti_transcode_outcome *const outcome = &transcode->outcomes[origin];
    struct dti_transcode_verdict verdict;
    const struct dti_transcode_target *target = NULL;
    struct dti_transcoded plan = {.count = 0};
    assert(found); /* the others are not translated */
    const struct dti_type_rule *const rule =
        dti_type_rule_of(transcode->request.types, transcode->request.type_count, found->shown);
    found->form.narrow =
        (unsigned char)(transcode->request.narrow ? transcode->request.scale : DTI_NONE);
    found->form.gguf_row =
        (uint8_t)(rule && rule->type->dtype == DTI_NONE ? rule->type->blocks + 1 : 0);
    enum dti_status status = find_target(transcode, found, &target, reterr);
    if (status == DTI_OK && rule && rule->type->dtype != DTI_NONE)
        dti_gguf_numbers(found, rule->type->dtype, &plan);
    else if (status == DTI_OK)
        status = target->plan(target, &transcode->pool, found, &plan, reterr);
    if (status == DTI_OK && plan.part[0].numbers)
        status = dti_transcode_count_numbers(transcode, origin, &plan, reterr);
    struct dti_transcoded input = plan;
    if (status == DTI_OK && transcode->inputs[origin].there)
        status = dti_transcode_add_input(found, &transcode->inputs[origin], &input, reterr);
    if (status == DTI_OK)
        status = dti_transcode_require_lossless(transcode->request.lossless, found, input.blocks,
                                                input.lossless, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_FLOATS_OR_KEEP &&
        transcode->request.layout == DTI_TRANSCODE_GGUF)
        reterr->remedy = DTI_REMEDY_TYPE_OF_FLOATS; /* its parts have no place in the file */
    if (status != DTI_OK)
        return status;
    const bool mx = found->how.is->block && found->how.is->block->id == DTI_BLOCK_MXFP4;
    memset(&verdict, 0, sizeof verdict);
    verdict.changed = true;
    verdict.dtype = plan.dtype                       ? plan.dtype
                    : transcode->request.nvfp4 && mx ? "nvfp4"
                                                     : found->form.is->dtype;
    verdict.blocks = input.blocks;
    verdict.lossless = input.lossless;
    verdict.worst = input.worst;
    verdict.count = (uint32_t)(plan.count + transcode->inputs[origin].there);
    verdict.target = target;
    outcome->first = (uint32_t)transcode->view.tensor_count;
    for (size_t i = 0; i < plan.count && status == DTI_OK; i++)
        status = add_part(transcode, origin, &plan, &plan.part[i], &verdict.bytes, reterr);
    if (status == DTI_OK && transcode->inputs[origin].there)
        status = add_part(transcode, origin, &input, &input.part[0], &verdict.bytes, reterr);
    if (status == DTI_OK && !dti_shared_list_share(&transcode->tensors.verdicts, &verdict,
                                                   sizeof verdict, &outcome->verdict))
        return dti_no_memory(reterr);
    return status == DTI_OK && plan.entry[0] != '\0' ? tell(transcode, found, &plan, reterr)
                                                     : status;
}

/* Copies a tensor that is not quantized; a type of floats widens it. */
static enum dti_status add_plain(struct dti_file_transcode *transcode, size_t origin,
                                 struct dti_error *reterr)
{
    const struct dti_container *const numbers = dti_file_dequant_container(transcode->dequant);
    const struct dti_tensor *const tensor = &numbers->tensors[origin];
    const size_t at = transcode->view.tensor_count++;
    const struct dti_type_rule *const rule =
        dti_type_rule_of(transcode->request.types, transcode->request.type_count, tensor);
    const enum dti_dtype to = rule ? rule->type->dtype : DTI_NONE;
    char place[DTI_TENSOR_PLACE];
    struct dti_transcode_like like;
    transcode->entries[at] = (struct dti_transcode_entry){.name = tensor->name,
                                                          .name_length = tensor->name_length,
                                                          .origin = (uint32_t)origin,
                                                          .like = UINT32_MAX};
    if (to == DTI_NONE || !tensor->format || !dti_format_is_float(tensor->format) ||
        tensor->format->id == to)
        return DTI_OK;
    if (to != DTI_FP32 || (tensor->format->id != DTI_BF16 && tensor->format->id != DTI_FP16))
        return dti_fail_remedy(
            reterr, DTI_WRONG_KIND, DTI_REMEDY_NONE,
            "%s is %s and not quantized, and %s does not hold all its numbers; it becomes fp32, or "
            "stays as it is",
            dti_tensor_place(transcode->dequant->container,
                             transcode->dequant->view.stored_at[origin], place),
            tensor->format->name, dti_format_get(to)->name);
    memset(&like, 0, sizeof like);
    memcpy(&like.tensor, tensor, sizeof like.tensor);
    like.cast = to;
    return dti_shared_list_share(&transcode->tensors.likes, &like, sizeof like,
                                 &transcode->entries[at].like)
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* A tensor that is not quantized stays, or is replaced. */
static enum dti_status leave(struct dti_file_transcode *transcode, size_t origin, bool stays,
                             struct dti_error *reterr)
{
    struct dti_transcode_outcome *const outcome = &transcode->outcomes[origin];
    struct dti_transcode_verdict verdict;
    memset(&verdict, 0, sizeof verdict);
    verdict.count = stays;
    outcome->first = (uint32_t)transcode->view.tensor_count;
    if (!dti_shared_list_share(&transcode->tensors.verdicts, &verdict, sizeof verdict,
                               &outcome->verdict))
        return dti_no_memory(reterr);
    return stays ? add_plain(transcode, origin, reterr) : DTI_OK;
}

static enum dti_status make(struct dti_file_transcode *transcode, struct dti_error *reterr)
{
    const struct dti_container *const numbers = dti_file_dequant_container(transcode->dequant);
    const size_t count = numbers->tensor_count,
                 most = count + DTI_TRANSCODE_PARTS * transcode->dequant->found_count;
    struct dti_pool *const pool = &transcode->pool;
    transcode->view = *numbers;
    transcode->view.tensor_count = 0;
    transcode->view.tensors = NULL;
    transcode->view.make = dti_transcode_make_tensor;
    transcode->view.alike = dti_transcode_alike;
    transcode->view.named = DTI_NAMED(struct dti_transcode_entry, name);
    transcode->view.own = transcode;
    transcode->view.stored_at = NULL;
    transcode->most = most;
    transcode->entries = dti_pool_array(pool, most + 1, sizeof *transcode->entries);
    transcode->view.names = transcode->entries;
    transcode->outcomes = dti_pool_array(pool, count + 1, sizeof *transcode->outcomes);
    transcode->inputs = dti_calloc(count + 1, sizeof *transcode->inputs);
    const size_t stored = transcode->dequant->container->tensor_count;
    transcode->replaced = dti_calloc(stored / 8 + 1, sizeof *transcode->replaced);
    struct dti_metadata *const metadata = dti_pool_array(
        pool, numbers->metadata_count + transcode->dequant->found_count + 1, sizeof *metadata);
    if (!metadata || !transcode->entries || !transcode->outcomes || !transcode->inputs ||
        !transcode->replaced)
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    if (numbers->metadata_count > 0)
        memcpy(metadata, numbers->metadata, numbers->metadata_count * sizeof *metadata);
    transcode->view.metadata = metadata;
    for (size_t i = 0; i < count; i++) {
        if (dti_transcode_found(transcode, i))
            find_input(transcode, i);
    }
    dti_quant_names_free(&transcode->dequant->names);      /* they take much memory */
    if (transcode->request.layout != DTI_TRANSCODE_GGUF && /* for that it is read in other ways */
        !dti_container_take_less(transcode->dequant->container))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const bool replaced = is_replaced(transcode, numbers->stored_at[i]);
        if (dti_transcode_found(transcode, i)) {
            status = translate(transcode, i, reterr);
        } else {
            status = leave(transcode, i, !replaced, reterr);
        }
    }
    dti_free(transcode->inputs);
    dti_free(transcode->replaced);
    transcode->inputs = NULL;
    transcode->replaced = NULL;
    if (status != DTI_OK)
        return status;
    if (transcode->request.layout == DTI_TRANSCODE_GGUF) /* their names change once more */
        return dti_transcode_make_tensors(transcode) ? DTI_OK : dti_no_memory(reterr);
    return DTI_OK;
}

/* A layout requires tensor names, and GGUF blocks contain both codes and scales. */
static enum dti_status check_input(const struct dti_file_transcode *transcode,
                                   struct dti_error *reterr)
{
    const struct dti_container *const container = transcode->dequant->container;
    char label[DTI_QUOTE_SIZE];
    if (dti_holds_texts(container->kind))
        return DTI_OK;
    return dti_fail_remedy(
        reterr, DTI_WRONG_KIND, transcode->request.reconcile ? DTI_REMEDY_NONE : DTI_REMEDY_FLOATS,
        transcode->request.reconcile ? "%s is %s, and scales are reconciled in safetensors"
                                     : "%s is %s, and layouts are translated from safetensors",
        dti_quote(label, container->path, strlen(container->path)),
        dti_container_name(container->kind));
}

enum dti_status dti_file_transcode_new(struct dti_file_transcode **ret,
                                       struct dti_file_dequant *dequant,
                                       const struct dti_file_transcode_request *request,
                                       struct dti_error *reterr)
{
    struct dti_file_transcode *const transcode = dti_calloc(1, sizeof *transcode);
    if (!transcode)
        return dti_no_memory(reterr);
    transcode->request = *request;
    transcode->dequant = dequant;
    for (unsigned takes = 0; takes < DTI_TAKES_COUNT && !request->reconcile; takes++)
        transcode->of_layout[takes] = target_of(request->layout, (enum dti_transcode_takes)takes);
    enum dti_status status = check_input(transcode, reterr);
    if (status == DTI_OK &&
        dequant->container->tensor_count > UINT32_MAX / (DTI_TRANSCODE_PARTS + 2))
        status = dti_no_memory(reterr); /* see struct dti_transcode_entry */
    if (status == DTI_OK)
        status = request->reconcile ? dti_transcode_reconcile(transcode, reterr)
                                    : make(transcode, reterr);
    dti_window_free(&dequant->scales);
    if (status == DTI_OK)
        *ret = transcode;
    else
        dti_file_transcode_free(transcode);
    return status;
}

void dti_file_transcode_free(struct dti_file_transcode *transcode)
{
    if (!transcode)
        return;
    dti_free(transcode->inputs);
    dti_free(transcode->replaced);
    dti_free(transcode->marks);
    dti_transcode_tensors_free(&transcode->tensors);
    dti_pool_free(&transcode->pool);
    dti_free(transcode);
}

struct dti_container *dti_file_transcode_container(struct dti_file_transcode *transcode)
{
    return &transcode->view;
}

enum dti_status dti_file_transcode_data(struct dti_file_transcode *transcode, size_t tensor,
                                        struct dti_batch_source *ret_source,
                                        const struct dti_input **ret_input, uint64_t *ret_offset,
                                        struct dti_error *reterr)
{
    const struct dti_transcode_entry *const entry = &transcode->entries[tensor];
    const struct dti_transcode_like *const like = dti_transcode_like_of(transcode, tensor);
    const bool made = like && like->made, number = like && like->number;
    const struct dti_batch_source *const sources = transcode->tensors.sources.items;
    *ret_source = made     ? sources[entry->from.index]
                  : number ? dti_transcode_number(entry->from.number)
                           : (struct dti_batch_source){.read = NULL};
    if (number)
        return DTI_OK;
    if (made)
        return dti_dequant_open(&dti_transcode_found(transcode, entry->origin)->how, reterr);
    if (like && like->copied)
        return dti_container_data(transcode->dequant->container, entry->from.index, ret_input,
                                  ret_offset, reterr);
    return dti_file_dequant_data(transcode->dequant, entry->origin, ret_source, ret_input,
                                 ret_offset, reterr);
}

bool dti_file_transcode_has_marks(const struct dti_file_transcode *transcode)
{
    return transcode->marks != NULL;
}

const char *dti_file_transcode_mark(const struct dti_file_transcode *transcode, size_t tensor)
{
    return transcode->marks ? transcode->marks[tensor] : NULL;
}

enum dti_dtype dti_file_transcode_cast(const struct dti_file_transcode *transcode, size_t tensor)
{
    const struct dti_transcode_like *const like = dti_transcode_like_of(transcode, tensor);
    return like ? like->cast : DTI_NONE;
}

size_t dti_file_transcode_origin(const struct dti_file_transcode *transcode, size_t tensor)
{
    return transcode->entries[tensor].origin;
}

const struct dti_transcode_verdict *dti_file_transcode_verdict(
    const struct dti_file_transcode *transcode, size_t origin)
{
    const struct dti_transcode_verdict *const verdicts = transcode->tensors.verdicts.items;
    return &verdicts[transcode->outcomes[origin].verdict];
}

size_t dti_file_transcode_first(const struct dti_file_transcode *transcode, size_t origin)
{
    return transcode->outcomes[origin].first;
}

size_t dti_file_transcode_inputs_left_out(const struct dti_file_transcode *transcode)
{
    return transcode->inputs_left_out;
}

const struct dti_file_transcode_request *dti_file_transcode_request(
    const struct dti_file_transcode *transcode)
{
    return &transcode->request;
}

const struct dti_tensor *dti_file_transcode_numbers(const struct dti_file_transcode *transcode,
                                                    size_t origin)
{
    const struct dti_container *const numbers = &transcode->dequant->view;
    return origin < numbers->tensor_count
               ? &numbers->tensors[origin]
               : &transcode->view.tensors[origin - numbers->tensor_count];
}

const struct dti_dequant_form *dti_file_transcode_form(const struct dti_file_transcode *transcode,
                                                       size_t origin)
{
    return origin < transcode->dequant->view.tensor_count
               ? dti_file_dequant_form(transcode->dequant, origin)
               : &transcode->dequant->none;
}

const struct dti_reconciled *dti_file_transcode_reconciled(
    const struct dti_file_transcode *transcode)
{
    return &transcode->reconciled;
}

bool dti_file_transcode_names_whole(const struct dti_file_transcode *transcode, const char *list,
                                    size_t tensor)
{
    const size_t whole = transcode->wholes[tensor];
    return whole != SIZE_MAX && dti_tensor_fits(list, &transcode->dequant->view.tensors[whole]);
}

bool dti_file_transcode_fits(const struct dti_file_transcode *transcode, const char *pattern,
                             size_t length)
{
    const struct dti_container *const numbers = dti_file_dequant_container(transcode->dequant);
    for (size_t i = 0; i < numbers->tensor_count; i++) {
        if (dti_glob_match(pattern, length, numbers->tensors[i].name,
                           numbers->tensors[i].name_length))
            return true;
    }
    return dti_dequant_fits(transcode->dequant, pattern, length);
}
