/* SPDX-License-Identifier: MIT
 *
 * The values of a pickle: nodes in one array, their items in another, texts in a third, all linked
 * by index. A list grows in segments within the item array: item count, index of the next segment,
 * items. */
#include <assert.h>
#include <string.h>

#include "containers/pickle/pickle_parts.h"
#include "util/text/ascii.h"

enum { SEGMENT_HEAD = 2 };

static const struct {
    char name[60];
    unsigned char module_length;
    enum dti_pickle_makes makes;
    enum dti_pickle_meaning meaning;
} globals[] = {
    {"", 0, DTI_PICKLE_MAKES_OPAQUE, DTI_GLOBAL_UNKNOWN},
#define GLOBAL(module, name, makes, meaning) \
    {module "." name, sizeof module - 1, DTI_PICKLE_MAKES_##makes, DTI_GLOBAL_##meaning},
#include "containers/pickle/pickle_globals.def"
#undef GLOBAL
#define STORAGE(name, ...)                                                            \
    {"torch." name, sizeof "torch" - 1, DTI_PICKLE_MAKES_OPAQUE, DTI_GLOBAL_STORAGE}, \
        {"torch.cuda." name, sizeof "torch.cuda" - 1, DTI_PICKLE_MAKES_OPAQUE,        \
         DTI_GLOBAL_STORAGE},
#include "containers/pickle/torch_storages.def"
#undef STORAGE
};
enum { GLOBALS = sizeof globals / sizeof *globals };
_Static_assert(GLOBALS <= UINT8_MAX, "a row does not fit in a node");

bool dti_pickle_new(struct dti_pickle_machine *machine, struct dti_pickle_node node, uint32_t *ret)
{
    struct dti_pickle *const pickle = machine->pickle;
    if (!dti_pickle_grow(machine, &pickle->nodes, pickle->node_count, 1, &pickle->node_capacity,
                         sizeof node))
        return false;
    *ret = (uint32_t)pickle->node_count;
    pickle->nodes[pickle->node_count++] = node;
    return true;
}

bool dti_pickle_new_text(struct dti_pickle_machine *machine, enum dti_pickle_type type,
                         const char *text, size_t length, uint32_t *ret)
{
    struct dti_pickle *const pickle = machine->pickle;
    if (!dti_pickle_grow(machine, &pickle->texts, pickle->text_count, length + 1,
                         &pickle->text_capacity, 1))
        return false;
    const size_t first = pickle->text_count;
    if (length > 0)
        memcpy(pickle->texts + first, text, length);
    pickle->texts[first + length] = '\0';
    pickle->text_count += length + 1;
    return dti_pickle_new(machine,
                          (struct dti_pickle_node){.type = (uint8_t)type,
                                                   .count = (uint32_t)length,
                                                   .first = (uint32_t)first},
                          ret);
}

bool dti_pickle_new_int(struct dti_pickle_machine *machine, int64_t number, uint32_t *ret)
{
    const uint64_t bits = (uint64_t)number;
    if (bits < DTI_PICKLE_SMALL) {
        *ret = DTI_PICKLE_SMALL + (uint32_t)bits;
        return true;
    }
    return dti_pickle_new(machine,
                          (struct dti_pickle_node){.type = DTI_PICKLE_INT,
                                                   .first = (uint32_t)bits,
                                                   .last = (uint32_t)(bits >> 32)},
                          ret);
}

/* Appends to the item array; `items` must not point into it. */
static bool add_items(struct dti_pickle_machine *machine, const uint64_t *items, size_t count)
{
    struct dti_pickle *const pickle = machine->pickle;
    if (!dti_pickle_grow(machine, &pickle->items, pickle->item_count, count, &pickle->item_capacity,
                         sizeof *pickle->items))
        return false;
    for (size_t i = 0; i < count; i++)
        pickle->items[pickle->item_count++] = (uint32_t)items[i];
    return true;
}

bool dti_pickle_new_tuple(struct dti_pickle_machine *machine, const uint64_t *items, size_t count,
                          uint32_t *ret)
{
    const size_t first = machine->pickle->item_count;
    return add_items(machine, items, count) &&
           dti_pickle_new(machine,
                          (struct dti_pickle_node){.type = DTI_PICKLE_TUPLE,
                                                   .count = (uint32_t)count,
                                                   .first = (uint32_t)first},
                          ret);
}

/* Extends the last segment in place if nothing follows it. */
bool dti_pickle_append(struct dti_pickle_machine *machine, uint32_t list, const uint64_t *items,
                       size_t count)
{
    struct dti_pickle *const pickle = machine->pickle;
    struct dti_pickle_node *const node = &pickle->nodes[list];
    const uint32_t last = node->last;
    if (count == 0)
        return true;
    if (node->count > 0 && last + SEGMENT_HEAD + pickle->items[last] == pickle->item_count) {
        if (!add_items(machine, items, count))
            return false;
        pickle->items[last] += (uint32_t)count;
    } else {
        const uint64_t head[SEGMENT_HEAD] = {count, 0};
        const uint32_t segment = (uint32_t)pickle->item_count;
        if (!add_items(machine, head, SEGMENT_HEAD) || !add_items(machine, items, count))
            return false;
        if (node->count > 0)
            pickle->items[last + 1] = segment;
        else
            node->first = segment;
        node->last = segment;
    }
    node->count += (uint32_t)count;
    return true;
}

/* The row of "module.name"; 0: there is none. */
static size_t known_row(const char *text, size_t length)
{
    size_t known = GLOBALS - 1;
    while (known > 0 && !dti_text_is(text, length, globals[known].name))
        known--;
    return known;
}

const struct dti_format *dti_pickle_dtype(const char *name, size_t length)
{
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        if (dti_dtype_names[i].system == DTI_SYSTEM_TORCH &&
            dti_text_is(name, length, dti_dtype_names[i].name))
            return dti_format_get(dti_dtype_names[i].dtype);
    }
    return NULL;
}

bool dti_pickle_is_known(const char *text, size_t length, size_t module_length)
{
    static const char torch[] = "torch";
    const size_t row = known_row(text, length);
    if (row > 0)
        return globals[row].module_length == module_length;
    return module_length == sizeof torch - 1 && memcmp(text, torch, module_length) == 0 &&
           dti_pickle_dtype(text + module_length + 1, length - module_length - 1);
}

bool dti_pickle_new_global(struct dti_pickle_machine *machine, const char *text, size_t length,
                           uint32_t *ret)
{
    if (!dti_pickle_new_text(machine, DTI_PICKLE_GLOBAL, text, length, ret))
        return false;
    machine->pickle->nodes[*ret].known = (uint8_t)known_row(text, length);
    return true;
}

enum dti_pickle_makes dti_pickle_makes(const struct dti_pickle *pickle, uint32_t global)
{
    return globals[pickle->nodes[global].known].makes;
}

void dti_pickle_free(struct dti_pickle *pickle)
{
    dti_pool_free(&pickle->pool);
    *pickle = (struct dti_pickle){.root = 0};
}

enum dti_pickle_type dti_pickle_type(const struct dti_pickle *pickle, uint32_t value)
{
    return value >= DTI_PICKLE_SMALL ? DTI_PICKLE_INT
                                     : (enum dti_pickle_type)pickle->nodes[value].type;
}

bool dti_pickle_int(const struct dti_pickle *pickle, uint32_t value, int64_t *ret)
{
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_INT)
        return false;
    if (value >= DTI_PICKLE_SMALL) {
        *ret = (int64_t)(value - DTI_PICKLE_SMALL);
        return true;
    }
    const struct dti_pickle_node *const node = &pickle->nodes[value];
    const uint64_t bits = (uint64_t)node->last << 32 | node->first;
    memcpy(ret, &bits, sizeof bits);
    return true;
}

bool dti_pickle_double(const struct dti_pickle *pickle, uint32_t value, double *ret)
{
    int64_t number;
    if (dti_pickle_int(pickle, value, &number)) {
        *ret = (double)number;
        return true;
    }
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_PLAIN ||
        pickle->nodes[value].known != DTI_PICKLE_IS_FP64)
        return false;
    const struct dti_pickle_node *const node = &pickle->nodes[value];
    const uint64_t bits = (uint64_t)node->last << 32 | node->first;
    memcpy(ret, &bits, sizeof bits);
    return true;
}

bool dti_pickle_size(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret)
{
    int64_t number;
    if (!dti_pickle_int(pickle, value, &number) || number < 0)
        return false;
    *ret = (uint64_t)number;
    return true;
}

const char *dti_pickle_text(const struct dti_pickle *pickle, uint32_t value, size_t *ret_length)
{
    const enum dti_pickle_type type = dti_pickle_type(pickle, value);
    if (type != DTI_PICKLE_TEXT && type != DTI_PICKLE_GLOBAL && type != DTI_PICKLE_OPAQUE)
        return NULL;
    *ret_length = pickle->nodes[value].count;
    return pickle->texts + pickle->nodes[value].first;
}

enum dti_pickle_meaning dti_pickle_meaning(const struct dti_pickle *pickle, uint32_t value)
{
    static const char torch[] = "torch.";
    const size_t module = sizeof torch - 1;
    size_t length = 0;
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_GLOBAL)
        return DTI_GLOBAL_UNKNOWN;
    const char *const name = dti_pickle_text(pickle, value, &length);
    assert(name); /* a global has a text */
    const enum dti_pickle_meaning meaning = globals[pickle->nodes[value].known].meaning;
    if (meaning == DTI_GLOBAL_UNKNOWN && length > module && memcmp(name, torch, module) == 0 &&
        !memchr(name + module, '.', length - module))
        return DTI_GLOBAL_DTYPE;
    return meaning;
}

bool dti_pickle_tuple(const struct dti_pickle *pickle, uint32_t value, const uint32_t **ret_items,
                      size_t *ret_count)
{
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_TUPLE)
        return false;
    *ret_items = pickle->items + pickle->nodes[value].first;
    *ret_count = pickle->nodes[value].count;
    return true;
}

uint32_t dti_pickle_arguments(const struct dti_pickle *pickle, uint32_t value)
{
    return pickle->nodes[value].count;
}

uint32_t dti_pickle_callee(const struct dti_pickle *pickle, uint32_t value)
{
    return pickle->nodes[value].first;
}

uint32_t dti_pickle_state(const struct dti_pickle *pickle, uint32_t value)
{
    return pickle->nodes[value].last;
}

bool dti_pickle_bytes(const struct dti_pickle *pickle, uint32_t value, uint64_t *ret_at,
                      uint64_t *ret_size, bool *ret_encoded)
{
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_BYTES)
        return false;
    const struct dti_pickle_node *const node = &pickle->nodes[value];
    *ret_at = (uint64_t)node->last << 32 | node->first;
    *ret_size = node->count;
    *ret_encoded = node->known;
    return true;
}

bool dti_pickle_visit(struct dti_pickle *pickle, uint32_t value)
{
    const bool before = pickle->nodes[value].visited;
    pickle->nodes[value].visited = true;
    return before;
}

struct dti_pickle_items dti_pickle_items(const struct dti_pickle *pickle, uint32_t value)
{
    const struct dti_pickle_node *const node = &pickle->nodes[value];
    if (node->count == 0)
        return (struct dti_pickle_items){.left = 0};
    if (node->type == DTI_PICKLE_TUPLE)
        return (struct dti_pickle_items){.at = node->first, .left = node->count};
    return (struct dti_pickle_items){.next = node->first};
}

bool dti_pickle_next(const struct dti_pickle *pickle, struct dti_pickle_items *items, uint32_t *ret)
{
    if (items->left == 0) {
        if (items->next == 0)
            return false;
        const uint32_t *const segment = pickle->items + items->next;
        items->at = items->next + SEGMENT_HEAD;
        items->left = segment[0];
        items->next = segment[1];
    }
    *ret = pickle->items[items->at++];
    items->left--;
    return true;
}
