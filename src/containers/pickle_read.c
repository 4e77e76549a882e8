/* SPDX-License-Identifier: MIT
 *
 * Reads a pickle: takes opcodes and their operands from the file and runs them. Lengths are checked
 * against what is left of the file before anything is taken. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle_parts.h"
#include "dtinfo/little_endian.h"

enum { BUFFER = 2 * DTI_PICKLE_TEXT_MAX, PROTOCOL_MAX = 5 };

static const struct opcode {
    const char *name;
    enum dti_pickle_operand operand;
    bool (*run)(struct dti_pickle_machine *machine);
} opcodes[256] = {
#define OPCODE(byte, opcode_name, stored, operation) \
    [byte] = {                                       \
        .name = opcode_name, .operand = DTI_OPERAND_##stored, .run = dti_pickle_do_##operation},
#include "containers/pickle_opcodes.def"
#undef OPCODE
};

bool dti_pickle_refuse(struct dti_pickle_machine *machine, const char *text)
{
    return dti_opening_refuse(machine->opening, ": damaged: %s at byte %" PRIu64 " of its pickle",
                              text, machine->opcode_at - machine->pickle->start);
}

static uint64_t left(const struct dti_pickle_machine *machine)
{
    return machine->limit - machine->at;
}

/* Has as many bytes in the buffer as there are, up to `size` of them. */
static bool fill(struct dti_pickle_machine *machine, size_t size)
{
    const size_t there = machine->used - machine->begin;
    if (there >= size || there >= left(machine))
        return true;
    if (there > 0)
        memmove(machine->buffer, machine->buffer + machine->begin, there);
    const uint64_t more = left(machine) - there;
    const size_t read = more < BUFFER - there ? (size_t)more : BUFFER - there;
    machine->begin = 0;
    machine->used = there + read;
    return dti_opening_read(machine->opening, machine->buffer + there, read, machine->at + there);
}

static void skip(struct dti_pickle_machine *machine, uint64_t size)
{
    const size_t there = machine->used - machine->begin;
    machine->begin = size < there ? machine->begin + (size_t)size : machine->used;
    machine->at += size;
}

static bool refuse_end(struct dti_pickle_machine *machine)
{
    return dti_pickle_refuse(machine, "it ends in the middle of an opcode");
}

/* size <= BUFFER; valid until the next call. */
static bool take(struct dti_pickle_machine *machine, size_t size, const unsigned char **ret)
{
    if (size > left(machine))
        return refuse_end(machine);
    if (!fill(machine, size))
        return false;
    *ret = machine->buffer + machine->begin;
    skip(machine, size);
    return true;
}

static bool take_number(struct dti_pickle_machine *machine, size_t size)
{
    const unsigned char *bytes = NULL;
    if (!take(machine, size, &bytes))
        return false;
    machine->number = dti_little_get(bytes, size);
    return true;
}

static bool take_counted(struct dti_pickle_machine *machine, size_t size)
{
    machine->bytes = NULL;
    if (!take_number(machine, size))
        return false;
    if (machine->number > left(machine))
        return refuse_end(machine);
    if (machine->number <= DTI_PICKLE_TEXT_MAX)
        return take(machine, (size_t)machine->number, &machine->bytes);
    skip(machine, machine->number);
    return true;
}

/* Module and name become one text with a dot between them. */
static bool take_lines(struct dti_pickle_machine *machine)
{
    if (!fill(machine, DTI_PICKLE_NAME_MAX))
        return false;
    unsigned char *const text = machine->buffer + machine->begin;
    const size_t there = machine->used - machine->begin,
                 most = there < DTI_PICKLE_NAME_MAX ? there : DTI_PICKLE_NAME_MAX;
    unsigned char *const line = memchr(text, '\n', most);
    unsigned char *const end =
        line ? memchr(line + 1, '\n', most - (size_t)(line + 1 - text)) : NULL;
    if (!end)
        return dti_pickle_refuse(machine, "a global without an end, or too long,");
    *line = '.';
    machine->bytes = text;
    machine->number = (uint64_t)(end - text);
    skip(machine, machine->number + 1);
    return true;
}

static bool take_operand(struct dti_pickle_machine *machine, enum dti_pickle_operand operand)
{
    switch (operand) {
    case DTI_OPERAND_NONE:
        return true;
    case DTI_OPERAND_U1:
        return take_number(machine, 1);
    case DTI_OPERAND_U2:
        return take_number(machine, 2);
    case DTI_OPERAND_U4:
        return take_number(machine, 4);
    case DTI_OPERAND_U8:
        return take_number(machine, 8);
    case DTI_OPERAND_I4:
        if (!take_number(machine, 4))
            return false;
        if (machine->number > INT32_MAX)
            machine->number |= ~UINT64_C(0) << 32;
        return true;
    case DTI_OPERAND_COUNTED1:
        return take_counted(machine, 1);
    case DTI_OPERAND_COUNTED4:
        return take_counted(machine, 4);
    case DTI_OPERAND_COUNTED8:
        return take_counted(machine, 8);
    case DTI_OPERAND_LINES:
        return take_lines(machine);
    }
    return false;
}

static bool step(struct dti_pickle_machine *machine)
{
    const unsigned char *byte = NULL;
    machine->opcode_at = machine->at;
    if (left(machine) == 0)
        return dti_pickle_refuse(machine, "it ends without STOP");
    if (++machine->opcodes > DTI_PICKLE_OPCODES_MAX)
        return dti_opening_refuse(machine->opening, ": its pickle has more than %d opcodes",
                                  (int)DTI_PICKLE_OPCODES_MAX);
    if (!take(machine, 1, &byte))
        return false;
    const struct opcode *const opcode = &opcodes[*byte];
    machine->code = *byte;
    if (!opcode->run)
        return dti_opening_refuse(machine->opening,
                                  ": opcode 0x%02x at byte %" PRIu64
                                  " of its pickle is none that torch.save() writes",
                                  machine->code, machine->opcode_at - machine->pickle->start);
    return take_operand(machine, opcode->operand) && opcode->run(machine);
}

/* The values that have no parts of their own, in the order of their types, so that their type is
 * their number; and an item that is never one of a list. */
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

bool dti_pickle_do_protocol(struct dti_pickle_machine *machine)
{
    return machine->number <= PROTOCOL_MAX ||
           dti_opening_refuse(machine->opening,
                              ": its pickle has protocol %" PRIu64
                              "; the newest that is known is %d",
                              machine->number, (int)PROTOCOL_MAX);
}

bool dti_pickle_read(struct dti_opening *opening, uint64_t start, uint64_t limit,
                     struct dti_pickle *ret)
{
    if (limit - start > DTI_PICKLE_BYTES_MAX)
        limit = start + DTI_PICKLE_BYTES_MAX;
    struct dti_pickle_machine machine = {
        .opening = opening, .pickle = ret, .buffer = malloc(BUFFER), .at = start, .limit = limit};
    *ret = (struct dti_pickle){.start = start};
    bool good = machine.buffer ? begin(&machine) : dti_opening_no_memory(opening);
    while (good && !machine.stopped)
        good = step(&machine);
    ret->end = machine.at;
    free(machine.buffer);
    return good;
}
