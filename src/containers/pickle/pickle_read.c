/* SPDX-License-Identifier: MIT
 *
 * Reads a pickle: fetches and runs one opcode after another. Nothing is called: the result of a
 * call is a value, as pickle_globals.def defines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle/pickle_parts.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { PROTOCOL_MAX = 5 };

/* Results of calls. */

/* An OrderedDict written by Python 2: its argument is a list of pairs. They are copied, and the
 * number of copies is bounded by the file size even if many dicts share one list. */
static bool add_pairs(struct dti_pickle_machine *machine, uint32_t dict, uint32_t from)
{
    enum { ITEMS_PER_BYTE = 8 };
    struct dti_pickle *const pickle = machine->pickle;
    const enum dti_pickle_type type = dti_pickle_type(pickle, from);
    if (type != DTI_PICKLE_LIST && type != DTI_PICKLE_TUPLE)
        return true;
    struct dti_pickle_items items = dti_pickle_items(pickle, from);
    uint32_t item, key, value, more;
    while (dti_pickle_next(pickle, &items, &item)) {
        const enum dti_pickle_type kind = dti_pickle_type(pickle, item);
        if (kind != DTI_PICKLE_LIST && kind != DTI_PICKLE_TUPLE)
            return dti_pickle_refuse(machine, "a dict that is not made of pairs");
        struct dti_pickle_items parts = dti_pickle_items(pickle, item);
        if (!dti_pickle_next(pickle, &parts, &key) || !dti_pickle_next(pickle, &parts, &value) ||
            dti_pickle_next(pickle, &parts, &more))
            return dti_pickle_refuse(machine, "a dict that is not made of pairs");
        if (pickle->item_count / ITEMS_PER_BYTE > machine->at - pickle->start)
            return dti_pickle_refuse(machine, "a list that is repeated too often");
        const uint64_t pair[] = {key, value};
        if (!dti_pickle_append(machine, dict, pair, 2))
            return false;
    }
    return true;
}

static bool make_opaque(struct dti_pickle_machine *machine, uint32_t callee, uint32_t *ret)
{
    struct dti_pickle *const pickle = machine->pickle;
    const struct dti_pickle_node name = pickle->nodes[callee];
    if (!dti_pickle_new(machine,
                        (struct dti_pickle_node){
                            .type = DTI_PICKLE_OPAQUE, .count = name.count, .first = name.first},
                        ret))
        return false;
    if (pickle->called == 0)
        pickle->called = *ret;
    return true;
}

/* Bytes in protocol 2, which only has texts: _codecs.encode('\xff', 'latin1'). */
static struct dti_pickle_node bytes_of(const struct dti_pickle *pickle, const uint32_t *items,
                                       size_t count)
{
    struct dti_pickle_node made = {.type = DTI_PICKLE_PLAIN};
    size_t length;
    if (count < 2 || items[0] >= DTI_PICKLE_SMALL ||
        dti_pickle_type(pickle, items[1]) != DTI_PICKLE_TEXT)
        return made;
    const char *const code = dti_pickle_text(pickle, items[1], &length);
    const struct dti_pickle_node text = pickle->nodes[items[0]];
    const bool is_short = text.type == DTI_PICKLE_TEXT && text.last != UINT32_MAX;
    if ((!is_short && (text.type != DTI_PICKLE_PLAIN || text.known != DTI_PICKLE_IS_TEXT)) ||
        (!dti_text_is(code, length, "latin1") && !dti_text_is(code, length, "latin-1")))
        return made;
    const uint64_t at =
        is_short ? pickle->start + text.last : (uint64_t)text.last << 32 | text.first;
    made.type = DTI_PICKLE_BYTES;
    made.known = true;
    made.count = text.count;
    made.first = (uint32_t)at;
    made.last = (uint32_t)(at >> 32);
    return made;
}

/* A class with its source, as in old files: ('module', class, file, source). */
static uint32_t class_of(const struct dti_pickle *pickle, uint32_t callee)
{
    const uint32_t *items;
    size_t count;
    if (dti_pickle_type(pickle, callee) == DTI_PICKLE_PERSISTENT &&
        dti_pickle_tuple(pickle, dti_pickle_arguments(pickle, callee), &items, &count) && count > 1)
        return items[1];
    return callee;
}

static bool make(struct dti_pickle_machine *machine, uint32_t callee, uint32_t arguments,
                 uint32_t *ret)
{
    const struct dti_pickle *const pickle = machine->pickle;
    const uint32_t *items;
    size_t count;
    if (!dti_pickle_tuple(pickle, arguments, &items, &count))
        return dti_pickle_refuse(machine, "a call without a tuple of arguments");
    callee = class_of(pickle, callee);
    const enum dti_pickle_type type = dti_pickle_type(pickle, callee);
    if (type == DTI_PICKLE_OPAQUE)
        return make_opaque(machine, callee, ret);
    if (type != DTI_PICKLE_GLOBAL)
        return dti_pickle_refuse(machine, "a call of what is not a function");
    struct dti_pickle_node made = {.type = DTI_PICKLE_PLAIN};
    const uint32_t first = count > 0 ? items[0] : DTI_PICKLE_NONE;
    switch (dti_pickle_makes(pickle, callee)) {
    case DTI_PICKLE_MAKES_OPAQUE:
        return make_opaque(machine, callee, ret);
    case DTI_PICKLE_MAKES_PLAIN:
        break;
    case DTI_PICKLE_MAKES_BYTES:
        made = bytes_of(pickle, items, count);
        break;
    case DTI_PICKLE_MAKES_DICT:
        made.type = DTI_PICKLE_DICT;
        return dti_pickle_new(machine, made, ret) && add_pairs(machine, *ret, first);
    case DTI_PICKLE_MAKES_LIST:
        made.type = DTI_PICKLE_LIST;
        if (count == 0)
            break;
        *ret = first;
        return true;
    case DTI_PICKLE_MAKES_ARGUMENT:
        *ret = first;
        return true;
    case DTI_PICKLE_MAKES_CALL:
        made =
            (struct dti_pickle_node){.type = DTI_PICKLE_CALL, .count = arguments, .first = callee};
        break;
    }
    return dti_pickle_new(machine, made, ret);
}

/* Opcode handlers. If the machine has refused an opcode, reading fails after it. */

static bool push_new(struct dti_pickle_machine *machine, enum dti_pickle_type type)
{
    uint32_t value;
    return dti_pickle_new(machine, (struct dti_pickle_node){.type = (uint8_t)type}, &value) &&
           dti_pickle_push(machine, value);
}

/* Opcodes that neither make nor use values. */
static bool do_move(struct dti_pickle_machine *machine)
{
    return dti_pickle_move(machine, dti_pickle_opcodes[machine->code].scan);
}

static bool do_stop(struct dti_pickle_machine *machine)
{
    if (machine->mark_count > 0 || machine->stack_count != 1)
        return dti_pickle_refuse(machine, "an end with other than one value");
    machine->pickle->root = (uint32_t)*machine->stack;
    machine->stopped = true;
    return true;
}

static bool do_constant(struct dti_pickle_machine *machine)
{
    enum { NEWTRUE = 0x88, NEWFALSE = 0x89 };
    return dti_pickle_push(machine, machine->code == NEWTRUE    ? DTI_PICKLE_TRUE
                                    : machine->code == NEWFALSE ? DTI_PICKLE_FALSE
                                                                : DTI_PICKLE_NONE);
}

static bool push_int(struct dti_pickle_machine *machine, uint64_t bits)
{
    int64_t number;
    uint32_t value;
    memcpy(&number, &bits, sizeof bits);
    return dti_pickle_new_int(machine, number, &value) && dti_pickle_push(machine, value);
}

static bool do_number(struct dti_pickle_machine *machine)
{
    return push_int(machine, machine->number);
}

/* Little-endian two's complement of minimal length. */
static bool do_large_number(struct dti_pickle_machine *machine)
{
    const size_t size = (size_t)machine->number;
    if (machine->number > 8)
        return push_new(machine, DTI_PICKLE_PLAIN);
    if (size == 0)
        return push_int(machine, 0);
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return push_int(machine, (dti_little_get(machine->bytes, size) ^ sign) - sign);
}

/* An fp64, which is big-endian alone of all operands. */
static bool do_real(struct dti_pickle_machine *machine)
{
    struct dti_pickle_node node = {.type = DTI_PICKLE_PLAIN, .known = DTI_PICKLE_IS_FP64};
    uint64_t bits = 0;
    uint32_t value;
    for (unsigned i = 0; i < 64; i += 8)
        bits |= (machine->number >> i & 0xff) << (56 - i);
    node.first = (uint32_t)bits;
    node.last = (uint32_t)(bits >> 32);
    return dti_pickle_new(machine, node, &value) && dti_pickle_push(machine, value);
}

/* Pushes only the location of bytes that are not kept. */
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
    return dti_pickle_new(machine, node, &value) && dti_pickle_push(machine, value);
}

static bool do_bytes(struct dti_pickle_machine *machine)
{
    return push_place(machine, DTI_PICKLE_BYTES, false);
}

static bool do_text(struct dti_pickle_machine *machine)
{
    const uint64_t at = machine->bytes_at - machine->start;
    uint32_t value;
    if (!machine->bytes)
        return push_place(machine, DTI_PICKLE_PLAIN, true);
    if (!dti_pickle_new_text(machine, DTI_PICKLE_TEXT, (const char *)machine->bytes,
                             (size_t)machine->number, &value))
        return false;
    machine->pickle->nodes[value].last = at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
    return dti_pickle_push(machine, value);
}

static bool push_tuple(struct dti_pickle_machine *machine, const uint64_t *items, size_t count)
{
    uint32_t value;
    return dti_pickle_new_tuple(machine, items, count, &value) && dti_pickle_push(machine, value);
}

static bool do_short_tuple(struct dti_pickle_machine *machine)
{
    enum { TUPLE1 = 0x85, TUPLE3 = 0x87 };
    const size_t count =
        machine->code >= TUPLE1 && machine->code <= TUPLE3 ? machine->code - TUPLE1 + 1 : 0;
    const uint64_t *items;
    return dti_pickle_drop(machine, count, &items) && push_tuple(machine, items, count);
}

static bool do_tuple(struct dti_pickle_machine *machine)
{
    const uint64_t *items = NULL;
    size_t count = 0;
    return dti_pickle_drop_marked(machine, &items, &count) && push_tuple(machine, items, count);
}

static bool do_list(struct dti_pickle_machine *machine)
{
    return push_new(machine, DTI_PICKLE_LIST);
}

static bool do_dict(struct dti_pickle_machine *machine)
{
    return push_new(machine, DTI_PICKLE_DICT);
}

/* Adds items to the value on top. Items of an unknown object are dropped. */
static bool add_value(struct dti_pickle_machine *machine, enum dti_pickle_type type,
                      const uint64_t *items, size_t count)
{
    const uint32_t to = (uint32_t)dti_pickle_top(machine);
    if (type == DTI_PICKLE_DICT && count % 2 != 0)
        return dti_pickle_refuse(machine, "a key without a value");
    const enum dti_pickle_type found = dti_pickle_type(machine->pickle, to);
    if (found == type)
        return dti_pickle_append(machine, to, items, count);
    return found == DTI_PICKLE_OPAQUE || found == DTI_PICKLE_PLAIN ||
           dti_pickle_refuse(machine, "items for a value that takes none");
}

static bool add_marked(struct dti_pickle_machine *machine, enum dti_pickle_type type)
{
    const uint64_t *items = NULL;
    size_t count = 0;
    return dti_pickle_drop_marked(machine, &items, &count) &&
           add_value(machine, type, items, count);
}

static bool do_append(struct dti_pickle_machine *machine)
{
    const uint64_t *items;
    return dti_pickle_drop(machine, 1, &items) && add_value(machine, DTI_PICKLE_LIST, items, 1);
}

static bool do_appends(struct dti_pickle_machine *machine)
{
    return add_marked(machine, DTI_PICKLE_LIST);
}

static bool do_set_item(struct dti_pickle_machine *machine)
{
    const uint64_t *items;
    return dti_pickle_drop(machine, 2, &items) && add_value(machine, DTI_PICKLE_DICT, items, 2);
}

static bool do_set_items(struct dti_pickle_machine *machine)
{
    return add_marked(machine, DTI_PICKLE_DICT);
}

static bool push_global(struct dti_pickle_machine *machine, const char *text, size_t length)
{
    uint32_t value;
    return dti_pickle_new_global(machine, text, length, &value) && dti_pickle_push(machine, value);
}

static bool do_global(struct dti_pickle_machine *machine)
{
    return push_global(machine, (const char *)machine->bytes, (size_t)machine->number);
}

static bool do_stack_global(struct dti_pickle_machine *machine)
{
    char text[DTI_PICKLE_NAME_MAX];
    size_t module_length = 0, length = 0;
    const uint64_t *names;
    if (!dti_pickle_drop(machine, 2, &names))
        return false;
    const uint32_t from = (uint32_t)names[0], to = (uint32_t)names[1];
    const char *const module = dti_pickle_text(machine->pickle, from, &module_length),
                      *const name = dti_pickle_text(machine->pickle, to, &length);
    if (!module || !name || dti_pickle_type(machine->pickle, from) != DTI_PICKLE_TEXT ||
        dti_pickle_type(machine->pickle, to) != DTI_PICKLE_TEXT ||
        module_length + length + 1 > sizeof text)
        return dti_pickle_refuse(machine, "a global without a name, or too long,");
    memcpy(text, module, module_length);
    text[module_length] = '.';
    memcpy(text + module_length + 1, name, length);
    return push_global(machine, text, module_length + 1 + length);
}

static bool do_persistent(struct dti_pickle_machine *machine)
{
    const struct dti_pickle_node node = {.type = DTI_PICKLE_PERSISTENT,
                                         .count = (uint32_t)dti_pickle_pop(machine)};
    uint32_t value;
    machine->pickle->persistent_count++;
    return dti_pickle_new(machine, node, &value) && dti_pickle_push(machine, value);
}

static bool call(struct dti_pickle_machine *machine, uint64_t callee, uint64_t arguments)
{
    uint32_t value;
    return make(machine, (uint32_t)callee, (uint32_t)arguments, &value) &&
           dti_pickle_push(machine, value);
}

static bool do_reduce(struct dti_pickle_machine *machine)
{
    const uint64_t *values;
    return dti_pickle_drop(machine, 2, &values) && call(machine, values[0], values[1]);
}

static bool do_reduce_named(struct dti_pickle_machine *machine)
{
    const uint64_t *values;
    return dti_pickle_drop(machine, 3, &values) && call(machine, values[0], values[1]);
}

/* Keeps the state only for objects that the reader interprets. That of other known objects is
 * irrelevant to tensors, and that of unknown ones has no known meaning. */
static bool do_build(struct dti_pickle_machine *machine)
{
    const uint32_t state = (uint32_t)dti_pickle_pop(machine),
                   value = (uint32_t)dti_pickle_top(machine);
    if (dti_pickle_type(machine->pickle, value) == DTI_PICKLE_CALL)
        machine->pickle->nodes[value].last = state;
    return true;
}

static bool do_instance(struct dti_pickle_machine *machine)
{
    const uint64_t *items = NULL;
    size_t count = 0;
    uint32_t callee, arguments;
    return dti_pickle_drop_marked(machine, &items, &count) &&
           dti_pickle_new_tuple(machine, items, count, &arguments) &&
           dti_pickle_new_global(machine, (const char *)machine->bytes, (size_t)machine->number,
                                 &callee) &&
           call(machine, callee, arguments);
}

static bool do_object(struct dti_pickle_machine *machine)
{
    const uint64_t *items = NULL;
    size_t count = 0;
    uint32_t arguments;
    if (!dti_pickle_drop_marked(machine, &items, &count))
        return false;
    if (count == 0)
        return dti_pickle_refuse(machine, "an object without a class");
    const uint64_t callee = items[0];
    return dti_pickle_new_tuple(machine, items + 1, count - 1, &arguments) &&
           call(machine, callee, arguments);
}

static bool do_extension(struct dti_pickle_machine *machine)
{
    static const char name[] = "a registered extension";
    return push_global(machine, name, sizeof name - 1);
}

/* Text opcodes, which do not occur in binary pickles. */
static bool do_refused(struct dti_pickle_machine *machine)
{
    return dti_opening_refuse(machine->opening,
                              ": opcode 0x%02x at byte %" PRIu64
                              " of its pickle is none that torch.save() writes",
                              machine->code, machine->opcode_at - machine->start);
}

static bool do_protocol(struct dti_pickle_machine *machine)
{
    return machine->number <= PROTOCOL_MAX ||
           dti_opening_refuse(machine->opening,
                              ": its pickle has protocol %" PRIu64
                              "; the newest that is known is %d",
                              machine->number, (int)PROTOCOL_MAX);
}

const struct dti_pickle_opcode dti_pickle_opcodes[256] = {
#define OPCODE(byte, opcode_name, stored, operation, effect) \
    [byte] = {.name = opcode_name, .operand = DTI_OPERAND_##stored, .scan = DTI_SCAN_##effect},
#include "containers/pickle/pickle_opcodes.def"
#undef OPCODE
};

static bool run(struct dti_pickle_machine *machine)
{
    switch (machine->code) {
#define OPCODE(byte, opcode_name, stored, operation, effect) \
    case byte:                                               \
        return do_##operation(machine);
#include "containers/pickle/pickle_opcodes.def"
#undef OPCODE
    default:
        return do_refused(machine);
    }
}

static bool step(struct dti_pickle_machine *machine)
{
    if (!dti_pickle_fetch(machine))
        return false;
    return run(machine) && !machine->refused && !machine->over;
}

/* Creates the constants in the order of their types, so that value and type are equal; and item 0,
 * which is never part of a list. */
static bool begin(struct dti_pickle_machine *machine)
{
    struct dti_pickle *const pickle = machine->pickle;
    uint32_t value;
    for (unsigned type = DTI_PICKLE_NONE; type <= DTI_PICKLE_FALSE; type++) {
        if (!dti_pickle_new(machine, (struct dti_pickle_node){.type = (uint8_t)type}, &value))
            return false;
    }
    if (!dti_pickle_grow(machine, &pickle->items, 0, 1, &pickle->item_capacity,
                         sizeof *pickle->items))
        return false;
    pickle->items[0] = 0;
    pickle->item_count = 1;
    return true;
}

bool dti_pickle_read(struct dti_opening *opening, uint64_t start, uint64_t limit,
                     struct dti_pickle *ret)
{
    struct dti_pickle_machine machine = {.opening = opening, .pickle = ret, .pool = &ret->pool};
    *ret = (struct dti_pickle){.start = start};
    bool good = dti_pickle_start(&machine, start, limit) && begin(&machine);
    while (good && !machine.stopped)
        good = step(&machine);
    ret->end = machine.at;
    dti_free(machine.buffer);
    return good;
}
