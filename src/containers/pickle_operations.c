/* SPDX-License-Identifier: MIT
 *
 * What the opcodes do to the stack. Every function leaves the stack as it was, or the reading has
 * failed. */
#include <string.h>

#include "containers/pickle_parts.h"
#include "dtinfo/little_endian.h"

static bool push(struct dti_pickle_machine *machine, uint32_t value)
{
    if (machine->stack_count >= DTI_PICKLE_STACK_MAX)
        return dti_pickle_refuse(machine, "a stack of too many values");
    if (!dti_pickle_grow(machine, &machine->stack, machine->stack_count, 1,
                         &machine->stack_capacity, sizeof value))
        return false;
    machine->stack[machine->stack_count++] = value;
    return true;
}

/* How many values there are above the last mark. */
static size_t above(const struct dti_pickle_machine *machine)
{
    const size_t marks = machine->mark_count;
    return machine->stack_count - (marks > 0 ? machine->marks[marks - 1] : 0);
}

static bool need(struct dti_pickle_machine *machine, size_t count)
{
    return above(machine) >= count ||
           dti_pickle_refuse(machine, "an opcode that finds too few values");
}

/* Takes the uppermost values; they stay where they are until the next push. */
static const uint32_t *drop(struct dti_pickle_machine *machine, size_t count)
{
    machine->stack_count -= count;
    return machine->stack + machine->stack_count;
}

/* The same for what is above the last mark, and the mark. */
static bool drop_marked(struct dti_pickle_machine *machine, const uint32_t **ret, size_t *ret_count)
{
    if (machine->mark_count == 0)
        return dti_pickle_refuse(machine, "an opcode that finds no mark");
    *ret_count = above(machine);
    *ret = drop(machine, *ret_count);
    machine->mark_count--;
    return true;
}

static uint32_t *top(const struct dti_pickle_machine *machine)
{
    return &machine->stack[machine->stack_count - 1];
}

static bool push_new(struct dti_pickle_machine *machine, enum dti_pickle_type type)
{
    uint32_t value;
    return dti_pickle_new(machine, (struct dti_pickle_node){.type = (uint8_t)type}, &value) &&
           push(machine, value);
}

bool dti_pickle_do_nothing(struct dti_pickle_machine *machine)
{
    (void)machine;
    return true;
}

bool dti_pickle_do_stop(struct dti_pickle_machine *machine)
{
    if (machine->mark_count > 0 || machine->stack_count != 1)
        return dti_pickle_refuse(machine, "an end with other than one value");
    machine->pickle->root = *top(machine);
    machine->stopped = true;
    return true;
}

bool dti_pickle_do_mark(struct dti_pickle_machine *machine)
{
    if (machine->mark_count >= DTI_PICKLE_STACK_MAX)
        return dti_pickle_refuse(machine, "a stack of too many marks");
    if (!dti_pickle_grow(machine, &machine->marks, machine->mark_count, 1, &machine->mark_capacity,
                         sizeof *machine->marks))
        return false;
    machine->marks[machine->mark_count++] = (uint32_t)machine->stack_count;
    return true;
}

bool dti_pickle_do_pop(struct dti_pickle_machine *machine)
{
    if (above(machine) == 0 && machine->mark_count > 0) {
        machine->mark_count--;
        return true;
    }
    if (!need(machine, 1))
        return false;
    machine->stack_count--;
    return true;
}

bool dti_pickle_do_pop_mark(struct dti_pickle_machine *machine)
{
    const uint32_t *values = NULL;
    size_t count = 0;
    return drop_marked(machine, &values, &count);
}

bool dti_pickle_do_duplicate(struct dti_pickle_machine *machine)
{
    return need(machine, 1) && push(machine, *top(machine));
}

/* Python counts what it memoizes, so an index is no higher than the number of opcodes: memory that
 * is taken for it is proportional to the file. */
static bool put(struct dti_pickle_machine *machine, uint64_t index)
{
    if (!need(machine, 1))
        return false;
    if (index >= machine->opcodes)
        return dti_pickle_refuse(machine, "a memo that is too large");
    if (index >= machine->memo_count) {
        const size_t more = (size_t)index + 1 - machine->memo_count;
        if (!dti_pickle_grow(machine, &machine->memo, machine->memo_count, more,
                             &machine->memo_capacity, sizeof *machine->memo))
            return false;
        memset(machine->memo + machine->memo_count, 0xFF, more * sizeof *machine->memo);
        machine->memo_count += more;
    }
    machine->memo_used += machine->memo[index] == UINT32_MAX;
    machine->memo[index] = *top(machine);
    return true;
}

bool dti_pickle_do_put(struct dti_pickle_machine *machine)
{
    return put(machine, machine->number);
}

bool dti_pickle_do_memoize(struct dti_pickle_machine *machine)
{
    return put(machine, machine->memo_used);
}

bool dti_pickle_do_get(struct dti_pickle_machine *machine)
{
    if (machine->number >= machine->memo_count || machine->memo[machine->number] == UINT32_MAX)
        return dti_pickle_refuse(machine, "a memo that is not there");
    return push(machine, machine->memo[machine->number]);
}

bool dti_pickle_do_constant(struct dti_pickle_machine *machine)
{
    enum { NEWTRUE = 0x88, NEWFALSE = 0x89 };
    return push(machine, machine->code == NEWTRUE    ? DTI_PICKLE_TRUE
                         : machine->code == NEWFALSE ? DTI_PICKLE_FALSE
                                                     : DTI_PICKLE_NONE);
}

static bool push_int(struct dti_pickle_machine *machine, uint64_t bits)
{
    int64_t number;
    uint32_t value;
    memcpy(&number, &bits, sizeof bits);
    return dti_pickle_new_int(machine, number, &value) && push(machine, value);
}

bool dti_pickle_do_number(struct dti_pickle_machine *machine)
{
    return push_int(machine, machine->number);
}

/* Two's complement in the bytes that it needs. */
bool dti_pickle_do_large_number(struct dti_pickle_machine *machine)
{
    const size_t size = (size_t)machine->number;
    if (machine->number > 8)
        return push_new(machine, DTI_PICKLE_PLAIN);
    if (size == 0)
        return push_int(machine, 0);
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return push_int(machine, (dti_little_get(machine->bytes, size) ^ sign) - sign);
}

bool dti_pickle_do_plain(struct dti_pickle_machine *machine)
{
    return push_new(machine, DTI_PICKLE_PLAIN);
}

/* What is not kept: where it is. */
static bool push_place(struct dti_pickle_machine *machine, enum dti_pickle_type type, bool text)
{
    const struct dti_pickle_node node = {.type = (uint8_t)type,
                                         .known = text,
                                         .count = (uint32_t)machine->number,
                                         .first = (uint32_t)machine->bytes_at,
                                         .last = (uint32_t)(machine->bytes_at >> 32)};
    uint32_t value;
    if (machine->number > UINT32_MAX)
        return push_new(machine, DTI_PICKLE_PLAIN);
    return dti_pickle_new(machine, node, &value) && push(machine, value);
}

bool dti_pickle_do_bytes(struct dti_pickle_machine *machine)
{
    return push_place(machine, DTI_PICKLE_BYTES, false);
}

bool dti_pickle_do_text(struct dti_pickle_machine *machine)
{
    const uint64_t at = machine->bytes_at - machine->start;
    uint32_t value;
    if (!machine->bytes)
        return push_place(machine, DTI_PICKLE_PLAIN, true);
    if (!dti_pickle_new_text(machine, DTI_PICKLE_TEXT, (const char *)machine->bytes,
                             (size_t)machine->number, &value))
        return false;
    machine->pickle->nodes[value].last = at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
    return push(machine, value);
}

static bool push_tuple(struct dti_pickle_machine *machine, const uint32_t *items, size_t count)
{
    uint32_t value;
    return dti_pickle_new_tuple(machine, items, count, &value) && push(machine, value);
}

bool dti_pickle_do_short_tuple(struct dti_pickle_machine *machine)
{
    enum { TUPLE1 = 0x85, TUPLE3 = 0x87 };
    const size_t count =
        machine->code >= TUPLE1 && machine->code <= TUPLE3 ? machine->code - TUPLE1 + 1 : 0;
    return need(machine, count) && push_tuple(machine, drop(machine, count), count);
}

bool dti_pickle_do_tuple(struct dti_pickle_machine *machine)
{
    const uint32_t *items = NULL;
    size_t count = 0;
    return drop_marked(machine, &items, &count) && push_tuple(machine, items, count);
}

bool dti_pickle_do_list(struct dti_pickle_machine *machine)
{
    return push_new(machine, DTI_PICKLE_LIST);
}

bool dti_pickle_do_dict(struct dti_pickle_machine *machine)
{
    return push_new(machine, DTI_PICKLE_DICT);
}

/* To what is now on top. What an unknown object takes is gone with it. */
static bool add(struct dti_pickle_machine *machine, enum dti_pickle_type type,
                const uint32_t *items, size_t count)
{
    if (!need(machine, 1))
        return false;
    if (type == DTI_PICKLE_DICT && count % 2 != 0)
        return dti_pickle_refuse(machine, "a key without a value");
    const enum dti_pickle_type found = dti_pickle_type(machine->pickle, *top(machine));
    if (found == type)
        return dti_pickle_append(machine, *top(machine), items, count);
    return found == DTI_PICKLE_OPAQUE || found == DTI_PICKLE_PLAIN ||
           dti_pickle_refuse(machine, "items for a value that takes none");
}

static bool add_marked(struct dti_pickle_machine *machine, enum dti_pickle_type type)
{
    const uint32_t *items = NULL;
    size_t count = 0;
    return drop_marked(machine, &items, &count) && add(machine, type, items, count);
}

bool dti_pickle_do_append(struct dti_pickle_machine *machine)
{
    return need(machine, 2) && add(machine, DTI_PICKLE_LIST, drop(machine, 1), 1);
}

bool dti_pickle_do_appends(struct dti_pickle_machine *machine)
{
    return add_marked(machine, DTI_PICKLE_LIST);
}

bool dti_pickle_do_set_item(struct dti_pickle_machine *machine)
{
    return need(machine, 3) && add(machine, DTI_PICKLE_DICT, drop(machine, 2), 2);
}

bool dti_pickle_do_set_items(struct dti_pickle_machine *machine)
{
    return add_marked(machine, DTI_PICKLE_DICT);
}

static bool push_global(struct dti_pickle_machine *machine, const char *text, size_t length)
{
    uint32_t value;
    return dti_pickle_new_global(machine, text, length, &value) && push(machine, value);
}

bool dti_pickle_do_global(struct dti_pickle_machine *machine)
{
    return push_global(machine, (const char *)machine->bytes, (size_t)machine->number);
}

bool dti_pickle_do_stack_global(struct dti_pickle_machine *machine)
{
    char text[DTI_PICKLE_NAME_MAX];
    size_t module_length = 0, length = 0;
    if (!need(machine, 2))
        return false;
    const uint32_t *const names = drop(machine, 2);
    const char *const module = dti_pickle_text(machine->pickle, names[0], &module_length),
                      *const name = dti_pickle_text(machine->pickle, names[1], &length);
    if (!module || !name || dti_pickle_type(machine->pickle, names[0]) != DTI_PICKLE_TEXT ||
        dti_pickle_type(machine->pickle, names[1]) != DTI_PICKLE_TEXT ||
        module_length + length + 1 > sizeof text)
        return dti_pickle_refuse(machine, "a global without a name, or too long,");
    memcpy(text, module, module_length);
    text[module_length] = '.';
    memcpy(text + module_length + 1, name, length);
    return push_global(machine, text, module_length + 1 + length);
}

bool dti_pickle_do_persistent(struct dti_pickle_machine *machine)
{
    uint32_t value;
    machine->pickle->persistent_count++;
    return need(machine, 1) &&
           dti_pickle_new(
               machine,
               (struct dti_pickle_node){.type = DTI_PICKLE_PERSISTENT, .count = *drop(machine, 1)},
               &value) &&
           push(machine, value);
}

static bool call(struct dti_pickle_machine *machine, uint32_t callee, uint32_t arguments)
{
    uint32_t value;
    return dti_pickle_call(machine, callee, arguments, &value) && push(machine, value);
}

bool dti_pickle_do_reduce(struct dti_pickle_machine *machine)
{
    if (!need(machine, 2))
        return false;
    const uint32_t *const values = drop(machine, 2);
    return call(machine, values[0], values[1]);
}

bool dti_pickle_do_reduce_named(struct dti_pickle_machine *machine)
{
    const uint32_t *const values = need(machine, 3) ? drop(machine, 3) : NULL;
    return values && call(machine, values[0], values[1]);
}

/* Of what the reader looks at, the state is kept. That of other known objects says nothing about
 * tensors, and that of unknown ones is unknown. */
bool dti_pickle_do_build(struct dti_pickle_machine *machine)
{
    if (!need(machine, 2))
        return false;
    const uint32_t state = *drop(machine, 1), value = *top(machine);
    if (dti_pickle_type(machine->pickle, value) == DTI_PICKLE_CALL)
        machine->pickle->nodes[value].last = state;
    return true;
}

bool dti_pickle_do_instance(struct dti_pickle_machine *machine)
{
    const uint32_t *items = NULL;
    size_t count = 0;
    uint32_t callee, arguments;
    return drop_marked(machine, &items, &count) &&
           dti_pickle_new_tuple(machine, items, count, &arguments) &&
           dti_pickle_new_global(machine, (const char *)machine->bytes, (size_t)machine->number,
                                 &callee) &&
           call(machine, callee, arguments);
}

bool dti_pickle_do_object(struct dti_pickle_machine *machine)
{
    const uint32_t *items = NULL;
    size_t count = 0;
    uint32_t arguments;
    if (!drop_marked(machine, &items, &count))
        return false;
    if (count == 0)
        return dti_pickle_refuse(machine, "an object without a class");
    const uint32_t callee = items[0];
    return dti_pickle_new_tuple(machine, items + 1, count - 1, &arguments) &&
           call(machine, callee, arguments);
}

bool dti_pickle_do_extension(struct dti_pickle_machine *machine)
{
    static const char name[] = "a registered extension";
    return push_global(machine, name, sizeof name - 1);
}
