/* SPDX-License-Identifier: MIT
 *
 * Names of pairs: by rules of a file, which apply to both sides, or by the names that a
 * checkpoint's tensors have in its GGUF. */
#include "answers/compare/compare_map.h"

#include <string.h>

#include "containers/name_order.h"
#include "io/input.h"
#include "util/run/allocate.h"
#include "util/run/memory_pool.h"
#include "util/text/glob.h"
#include "util/text/renames.h"

enum { SIDES = 2, RULES_MOST = 16 << 20 };

struct dti_compare_map {
    struct dti_compare_name *names[SIDES];
    struct dti_pool pool;
    bool models;   /* one side is a GGUF: */
    unsigned gguf; /* the index of that side */
    struct dti_model_heads heads;
};

static struct dti_container *container_of(const struct dti_compare *compare, unsigned side)
{
    return side == 0 ? compare->a : compare->b;
}

void dti_compare_map_free(struct dti_compare_map *map)
{
    if (!map)
        return;
    dti_free(map->names[0]);
    dti_free(map->names[1]);
    dti_pool_free(&map->pool);
    dti_free(map);
}

const struct dti_compare_name *dti_compare_map_names(const struct dti_compare_map *map,
                                                     unsigned side)
{
    return map->names[side];
}

static enum dti_status rename_by_rules(struct dti_compare_map *map, struct dti_renames *renames,
                                       const struct dti_container *container, unsigned side,
                                       struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    struct dti_buffer name;
    dti_buffer_init(&name);
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct dti_compare_name *const to = &map->names[side][i];
        struct dti_error why;
        size_t line;
        dti_buffer_clear(&name);
        status = dti_renames_apply(renames, tensor->name, tensor->name_length, &name, &line, &why);
        if (status == DTI_BAD_INPUT)
            return dti_buffer_free(&name),
                   dti_fail(reterr, status, "tensor %s: %s",
                            DTI_QUOTED(tensor->name, tensor->name_length), why.text);
        if (status != DTI_OK) {
            *reterr = why;
        } else if (line > 0) {
            to->name = dti_pool_text(&map->pool, name.data, name.length);
            to->name_length = name.length;
            to->renamed = name.length != tensor->name_length ||
                          memcmp(name.data, tensor->name, name.length) != 0;
            status = to->name ? DTI_OK : dti_no_memory(reterr);
        }
    }
    dti_buffer_free(&name);
    return status;
}

static enum dti_status use_rules(struct dti_compare_map *map, const struct dti_compare *compare,
                                 struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    struct dti_renames *renames = NULL;
    struct dti_input input;
    struct dti_buffer text;
    enum dti_status status = dti_input_open(&input, compare->map, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    status = dti_input_read_all(&input, RULES_MOST, "a table of names", &text, reterr);
    if (status == DTI_OK)
        status = dti_renames_read(&renames, text.data, text.length, dti_input_label(&input, label),
                                  reterr);
    dti_buffer_free(&text);
    dti_input_close(&input);
    for (unsigned side = 0; side < SIDES && status == DTI_OK; side++)
        status = rename_by_rules(map, renames, container_of(compare, side), side, reterr);
    dti_renames_free(renames);
    return status;
}

static enum dti_status use_models(struct dti_compare_map *map, const struct dti_compare *compare,
                                  struct dti_error *reterr)
{
    const bool is_gguf[SIDES] = {dti_is_gguf(compare->a->kind), dti_is_gguf(compare->b->kind)};
    const char *name;
    size_t length;
    if (is_gguf[0] == is_gguf[1])
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "the map hf-gguf is for a checkpoint and a GGUF, and %s of the files is a "
                        "GGUF; give a file of rules",
                        is_gguf[0] ? "each" : "neither");
    map->models = true;
    map->gguf = is_gguf[0] ? 0 : 1;
    const struct dti_container *const gguf = container_of(compare, map->gguf);
    const struct dti_container *const checkpoint = container_of(compare, 1 - map->gguf);
    struct dti_compare_name *const names = map->names[1 - map->gguf];
    const enum dti_model_arch arch = dti_model_arch_of(gguf, &name, &length);
    if (!name)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has no general.architecture, which the map hf-gguf needs; give a file "
                        "of rules",
                        DTI_QUOTED(gguf->path, strlen(gguf->path)));
    if (arch == DTI_MODEL_ARCHS)
        return dti_fail(
            reterr, DTI_BAD_INPUT,
            "the map hf-gguf has no names for the architecture %s; give a file of rules",
            DTI_QUOTED(name, length));
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const struct dti_tensor *const tensor = &checkpoint->tensors[i];
        struct dti_model_name other;
        if (!dti_model_name_to_gguf(&other, arch, tensor->name, tensor->name_length))
            continue;
        names[i] = (struct dti_compare_name){
            .name = dti_pool_text(&map->pool, other.text, other.length),
            .name_length = other.length,
            .renamed = true,
            .change = other.change,
        };
        if (!names[i].name)
            return dti_no_memory(reterr);
    }
    return dti_model_heads_read(&map->heads, gguf, arch, checkpoint, reterr);
}

/* No two tensors of a side may be paired by one name. */
static enum dti_status check_names(const struct dti_compare_map *map,
                                   const struct dti_container *container, unsigned side,
                                   struct dti_error *reterr)
{
    const struct dti_compare_name *const names = map->names[side];
    struct dti_name_order order = {0};
    size_t one, other;
    if (!dti_name_order_of(&order, names, container->tensor_count,
                           DTI_NAMED(struct dti_compare_name, name))) {
        dti_name_order_free(&order);
        return dti_no_memory(reterr);
    }
    other = dti_name_order_repeated(&order);
    const bool twice = other != SIZE_MAX && dti_name_order_find(&order, names[other].name,
                                                                names[other].name_length, &one);
    dti_name_order_free(&order);
    if (!twice)
        return DTI_OK;
    const struct dti_tensor *const first = &container->tensors[one];
    const struct dti_tensor *const second = &container->tensors[other];
    return dti_fail(
        reterr, DTI_BAD_INPUT, "tensors %s and %s of %s would both be called %s; change the rules",
        DTI_QUOTED(first->name, first->name_length), DTI_QUOTED(second->name, second->name_length),
        DTI_QUOTED(container->path, strlen(container->path)),
        DTI_QUOTED(names[other].name, names[other].name_length));
}

enum dti_status dti_compare_map_new(struct dti_compare *compare, struct dti_error *reterr)
{
    struct dti_compare_map *const map = dti_calloc(1, sizeof *map);
    compare->mapping = map;
    if (!map)
        return dti_no_memory(reterr);
    for (unsigned side = 0; side < SIDES; side++) {
        const struct dti_container *const container = container_of(compare, side);
        map->names[side] = dti_calloc(container->tensor_count + 1, sizeof *map->names[side]);
        if (!map->names[side])
            return dti_no_memory(reterr);
        for (size_t i = 0; i < container->tensor_count; i++) {
            map->names[side][i].name = container->tensors[i].name;
            map->names[side][i].name_length = container->tensors[i].name_length;
        }
    }
    enum dti_status status = strcmp(compare->map, DTI_COMPARE_HF_GGUF) == 0
                                 ? use_models(map, compare, reterr)
                                 : use_rules(map, compare, reterr);
    for (unsigned side = 0; side < SIDES && status == DTI_OK; side++)
        status = check_names(map, container_of(compare, side), side, reterr);
    return status;
}

/* The rows of one head of a permuted tensor. Sets the reason if they are not known. */
static uint64_t head_rows_of(const struct dti_compare_map *map, enum dti_model_change change,
                             const struct dti_tensor *tensor, struct dti_compare_result *result)
{
    const uint64_t heads = change == DTI_MODEL_PERMUTED_Q ? map->heads.heads : map->heads.kv_heads;
    const uint64_t rows = tensor->rank > 0 ? tensor->shape[0] : 0;
    result->heads = heads;
    if (map->heads.differ)
        result->why = "its layers have different numbers of heads, which order its rows";
    else if (heads == 0)
        result->why = "the number of heads, which orders its rows, is in neither file";
    else if (rows % heads != 0)
        result->why = "has rows that are not those of its heads";
    return result->why ? 0 : rows / heads;
}

void dti_compare_map_apply(const struct dti_compare *compare, struct dti_compare_result *result)
{
    const struct dti_compare_map *const map = compare->mapping;
    const bool b_is_gguf = map->models && map->gguf == 1;
    const enum dti_model_change change = !map->models ? DTI_MODEL_SAME
                                         : b_is_gguf  ? map->names[0][result->a].change
                                                      : map->names[1][result->b].change;
    const struct dti_tensor *const a = &compare->a->tensors[result->a];
    const struct dti_tensor *const b = &compare->b->tensors[result->b];
    if (change == DTI_MODEL_SAME || !dti_tensor_same_shape(a, b))
        return;
    if (change == DTI_MODEL_PLUS_ONE)
        (b_is_gguf ? &result->change_a : &result->change_b)->plus_one = true;
    else
        result->change_b.head_rows = head_rows_of(map, change, b, result);
    result->change_b.from_gguf = b_is_gguf;
    if (!result->why && result->change_b.head_rows > 0 && a->fortran)
        result->why = "is in Fortran order, in which rows cannot be put in another order";
    if (!result->why && dti_scan_changes(&result->change_a, a, &result->why))
        (void)dti_scan_changes(&result->change_b, b, &result->why);
}

bool dti_compare_map_matches(const struct dti_compare *compare,
                             const struct dti_compare_result *result, const char *only)
{
    const size_t at[SIDES] = {result->a, result->b};
    for (unsigned side = 0; side < SIDES; side++) {
        if (result->way == (side == 0 ? DTI_COMPARE_ONLY_B : DTI_COMPARE_ONLY_A))
            continue;
        const struct dti_tensor *const tensor = &container_of(compare, side)->tensors[at[side]];
        const struct dti_compare_name *const name = &compare->mapping->names[side][at[side]];
        if (dti_glob_list_match(only, tensor->name, tensor->name_length) ||
            dti_glob_list_match(only, name->name, name->name_length))
            return true;
    }
    return false;
}

void dti_compare_map_count(struct dti_compare *compare)
{
    struct dti_compare_mapped *const mapped = &compare->mapped;
    for (size_t i = 0; i < compare->result_count; i++) {
        const struct dti_compare_result *const result = &compare->results[i];
        const bool a = result->way != DTI_COMPARE_ONLY_B, b = result->way != DTI_COMPARE_ONLY_A;
        mapped->renamed += a && compare->mapping->names[0][result->a].renamed;
        mapped->renamed += b && compare->mapping->names[1][result->b].renamed;
        mapped->reordered += result->change_b.head_rows > 0;
        mapped->plus_one += result->change_a.plus_one || result->change_b.plus_one;
    }
}
