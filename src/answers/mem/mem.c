/* SPDX-License-Identifier: MIT
 *
 * Memory in words, and as JSON. */
#include <string.h>

#include "answers/mem/mem.h"
#include "answers/rows.h"
#include "answers/tensors.h"
#include "devices/machine/machine.h"

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

/* Precomputed values for the rows in mem.def. */
struct mem_options {
    const struct dti_mem *of;
    const char *optimizers[DTI_TRAINING_COUNT];
    size_t optimizer_count;
    const struct dti_mem_cache *cache; /* or NULL */
    const char *kv_dtype, *kv_like;
};
struct mem_tensor {
    const struct dti_mem_item *of;
    const struct dti_tensor *tensor;
    const char *dtype;
};
struct mem_operand {
    const struct dti_mem_operand *of;
    enum dti_container_kind container_kind; /* with a container */
    const struct dti_mem_item *items;
    bool is_shape, listed;
};
struct mem_verdict {
    const struct dti_mem_verdict *of;
    uint64_t left, missing; /* bytes */
    bool counted;           /* the devices are */
};
struct mem_size {
    const struct dti_mem_size *of;
    const char *dtype; /* NULL: as stored */
    uint64_t numbers;
    double bits_per_number, ratio;
    bool compared; /* there is a first dtype to compare with */
    unsigned block_elements;
};
struct mem_part {
    const struct dti_footprint *of;
    const char *name, *dtype;
    uint64_t numbers;
    double each; /* bytes per number */
};
struct mem_training {
    const struct dti_mem_training *of;
    const struct dti_training_row *row;
    const char *dtype;
    uint64_t numbers;
    double each; /* bytes of a number */
    struct dti_buffer rule;
};
struct mem_room {
    const struct dti_mem_capacity *of;
    const char *device; /* or NULL */
    bool known;         /* its total memory is known */
};

struct cache_layers_of {
    const struct dti_mem_cache *cache;
    const struct dti_kv_group *group;
};
struct cache_size_of {
    const struct dti_mem_cache *cache;
    const struct dti_mem_cache_size *size;
};
struct mem_cache_layers {
    const struct dti_kv_group *of;
    const char *kind;
    uint64_t tokens;
    bool is_tokens, windowed;
    char rule[DTI_MEM_RULE];
};
struct mem_cache_size {
    const struct dti_mem_cache_size *of;
    const char *dtype, *state;
    size_t count;
};
struct mem_cache {
    const struct dti_mem_cache *of;
    const char *defaults; /* or NULL */
    bool known;           /* the model says its context */
};
struct mem_total {
    const struct dti_mem_total *of;
    const char *dtype, *cache;
};

DTI_WORDS(kind_words, "count", "shape", "file", "config")
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

enum { EACH_DIGITS = 7 };

static double ratio_of(uint64_t bytes, uint64_t numbers, unsigned per)
{
    return (double)bytes * per / (double)numbers;
}

double dti_mem_against_first(const struct dti_mem *mem, const struct dti_mem_size *size)
{
    const uint64_t first = mem->sizes[0].bytes;
    return first > 0 ? (double)size->bytes / (double)first : -1;
}

const char *dti_mem_each(char buffer[DTI_TEXT_SIZE], uint64_t bytes, uint64_t numbers, unsigned per)
{
    if (numbers == 0)
        memcpy(buffer, "-", 2);
    else
        (void)dti_figure_words(buffer, ratio_of(bytes, numbers, per), EACH_DIGITS);
    return buffer;
}

const char *dti_mem_part_name(const struct dti_training_plan *plan, enum dti_training_part part)
{
    static const char *const names[] = {"weights", "gradients", "master weights"};
    return part < DTI_TRAINING_STATE_1
               ? names[part]
               : dti_training_get(plan->training)->state_name[part - DTI_TRAINING_STATE_1];
}

const char *dti_mem_part_dtype(const struct dti_training_plan *plan, enum dti_training_part part)
{
    const struct dti_training_row *const row = dti_training_get(plan->training);
    const char *const names[] = {dti_stored_name(&plan->weights), plan->gradients.name,
                                 plan->master.name};
    return part < DTI_TRAINING_STATE_1 ? names[part]
           : row->block > 0            ? dti_format_get(row->state)->name
                                       : plan->state.name;
}

void dti_mem_rule(struct dti_buffer *text, const struct dti_mem *mem,
                  const struct dti_mem_training *training)
{
    char each[DTI_TEXT_SIZE];
    uint64_t bytes = 0;
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        if (!dti_training_has(&training->plan, part))
            continue;
        bytes += training->parts[i].bytes;
        dti_buffer_puts(text, i > 0 ? " + " : "");
        dti_buffer_puts(text, dti_mem_part_name(&training->plan, part));
        dti_buffer_puts(text, " ");
        dti_buffer_puts(text, dti_mem_each(each, training->parts[i].bytes, mem->numbers, 1));
    }
    dti_buffer_puts(text, " = ");
    dti_buffer_puts(text, dti_mem_each(each, bytes, mem->numbers, 1));
    dti_buffer_puts(text, " bytes a parameter");
}

static void fill_options(struct mem_options *ret, const struct dti_mem *mem)
{
    ret->of = mem;
    ret->optimizer_count = list_optimizers(mem->train, ret->optimizers);
    ret->cache = mem->cache;
    ret->kv_dtype = mem->cache ? mem->cache->kv_dtype : NULL;
    ret->kv_like = mem->cache ? mem->cache->like : NULL;
}

static void fill_tensor(struct mem_tensor *ret, const struct dti_mem_item *item)
{
    *ret = (struct mem_tensor){item, item->tensor, dti_tensor_dtype(item->tensor)};
}

static void fill_operand(struct mem_operand *ret, const struct operand_of *of)
{
    const struct dti_mem_operand *const operand = of->operand;
    const struct dti_container *const container = operand->container;
    *ret = (struct mem_operand){
        .of = operand,
        .items = of->mem->items ? &of->mem->items[operand->first] : NULL,
        .is_shape = operand->kind == DTI_MEM_SHAPE,
        .listed = container && of->mem->list_tensors,
    };
    if (container)
        ret->container_kind = container->kind;
}

static void fill_verdict(struct mem_verdict *ret, const struct dti_mem_verdict *verdict)
{
    *ret = (struct mem_verdict){
        .of = verdict,
        .left = verdict->fits ? verdict->bytes : 0,
        .missing = verdict->fits ? 0 : verdict->bytes,
        .counted = verdict->asked && verdict->devices > 0,
    };
}

static void fill_size(struct mem_size *ret, const struct size_of *of)
{
    const struct dti_mem_size *const size = of->size;
    *ret = (struct mem_size){
        .of = size,
        .dtype = size->as_stored ? NULL : dti_stored_name(&size->as),
        .numbers = of->mem->numbers,
        .bits_per_number = ratio_of(size->numbers.bytes, of->mem->numbers, 8),
        .ratio = dti_mem_against_first(of->mem, size),
        .compared = of->mem->sizes[0].bytes > 0,
        .block_elements = dti_stored_elements(&size->as),
    };
}

static void make_training(struct mem_training *ret, struct dti_json *json,
                          const struct training_of *of)
{
    const struct dti_mem_training *const training = of->training;
    const uint64_t numbers = of->mem->numbers;
    *ret = (struct mem_training){
        .of = training,
        .row = dti_training_get(training->plan.training),
        .dtype = dti_stored_name(&training->plan.weights),
        .numbers = numbers,
        .each = ratio_of(training->bytes - of->mem->other_bytes, numbers, 1),
    };
    dti_buffer_init(&ret->rule);
    dti_mem_rule(&ret->rule, of->mem, training);
    if (ret->rule.failed)
        dti_json_out_of_memory(json);
}

static void free_training(struct mem_training *training)
{
    dti_buffer_free(&training->rule);
}

static void fill_cache_layers(struct mem_cache_layers *ret, const struct cache_layers_of *of)
{
    const struct dti_kv_group *const group = of->group;
    *ret = (struct mem_cache_layers){
        .of = group,
        .kind = dti_mem_cache_kind(group->kind),
        .tokens = dti_mem_cache_tokens(of->cache, group),
        .is_tokens = !dti_kv_is_state(group->kind),
        .windowed = group->window > 0,
    };
    dti_mem_cache_rule(ret->rule, of->cache, group);
}

static void fill_cache_size(struct mem_cache_size *ret, const struct cache_size_of *of)
{
    const struct dti_mem_cache *const cache = of->cache;
    *ret = (struct mem_cache_size){of->size, dti_stored_name(&of->size->as.as), NULL,
                                   cache->model.count};
    for (size_t i = 0; i < cache->model.count; i++) {
        const struct dti_kv_group *const group = &cache->model.groups[i];
        if (dti_kv_is_state(group->kind) && !group->fp32)
            ret->state = cache->state.name;
    }
}

static void fill_cache(struct mem_cache *ret, const struct dti_mem_cache *cache)
{
    *ret =
        (struct mem_cache){cache, cache->model.defaults[0] != '\0' ? cache->model.defaults : NULL,
                           cache->model.context > 0};
}

static void fill_total(struct mem_total *ret, const struct dti_mem_total *total)
{
    const bool named = total->weights && !total->weights->as_stored;
    *ret = (struct mem_total){total, named ? dti_stored_name(&total->weights->as) : NULL,
                              dti_stored_name(&total->cache->as.as)};
}

static void fill_room(struct mem_room *ret, const struct dti_mem_capacity *capacity)
{
    ret->of = capacity;
    ret->device = capacity->device[0] != '\0' ? capacity->device : NULL;
    ret->known = capacity->all != DTI_UNKNOWN;
}

static void put_parts(struct dti_json *json, const struct mem_training *training);
static void put_notes(struct dti_json *json, const struct dti_mem *mem);

#define DTI_ROWS "answers/mem/mem.def"
#include "answers/rows.h"

static void put_parts(struct dti_json *json, const struct mem_training *training)
{
    const struct dti_training_plan *const plan = &training->of->plan;
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        const struct dti_footprint *const bytes = &training->of->parts[i];
        if (dti_training_has(plan, part))
            dti_put_mem_part(json, NULL,
                             &(struct mem_part){
                                 .of = bytes,
                                 .name = dti_mem_part_name(plan, part),
                                 .dtype = dti_mem_part_dtype(plan, part),
                                 .numbers = training->numbers,
                                 .each = ratio_of(bytes->bytes, training->numbers, 1),
                             });
    }
}

static void put_note(struct dti_json *json, const char *dtype, const char *note)
{
    dti_put_warning(json, NULL, &(struct dti_warning_answer){"dtype_name", dtype, note, 0});
}

static void put_notes(struct dti_json *json, const struct dti_mem *mem)
{
    for (size_t i = 0; i < mem->note_count; i++)
        put_note(json, NULL, mem->notes[i]);
    for (size_t i = 0; i < mem->operand_count; i++)
        dti_put_logical_warnings(json, mem->operands[i].container, mem->words);
    for (size_t i = 0; i < mem->size_count; i++) {
        if (mem->sizes[i].note)
            put_note(json, mem->sizes[i].as.format.name, mem->sizes[i].note);
    }
    for (size_t i = 0; mem->cache && i < mem->cache->note_count; i++) {
        const struct dti_note *const note = &mem->cache->notes[i];
        char buffer[DTI_REMEDY_WORDS];
        const char *const text = mem->words(buffer, note->remedy, note->text);
        dti_put_warning(json, NULL, &(struct dti_warning_answer){note->code, NULL, text, 0});
    }
    for (size_t i = 0; mem->cache && i < mem->cache->size_count; i++) {
        const struct dti_mem_size *const size = &mem->cache->sizes[i].as;
        if (size->note)
            put_note(json, dti_stored_name(&size->as), size->note);
    }
}
