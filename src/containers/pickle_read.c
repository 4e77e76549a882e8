/* SPDX-License-Identifier: MIT
 *
 * Reads a pickle: takes opcodes one after another from the file and runs them. */
#include <inttypes.h>
#include <stdlib.h>

#include "containers/pickle_parts.h"

enum { PROTOCOL_MAX = 5 };

const struct dti_pickle_opcode dti_pickle_opcodes[256] = {
#define OPCODE(byte, opcode_name, stored, operation, effect) \
    [byte] = {.name = opcode_name,                           \
              .operand = DTI_OPERAND_##stored,               \
              .run = dti_pickle_do_##operation,              \
              .scan = DTI_SCAN_##effect},
#include "containers/pickle_opcodes.def"
#undef OPCODE
};

/* Text, which no binary pickle has. */
bool dti_pickle_do_refused(struct dti_pickle_machine *machine)
{
    return dti_opening_refuse(machine->opening,
                              ": opcode 0x%02x at byte %" PRIu64
                              " of its pickle is none that torch.save() writes",
                              machine->code, machine->opcode_at - machine->start);
}

static bool step(struct dti_pickle_machine *machine)
{
    if (!dti_pickle_fetch(machine))
        return false;
    const struct dti_pickle_opcode *const opcode = &dti_pickle_opcodes[machine->code];
    return opcode->run ? opcode->run(machine) : dti_pickle_do_refused(machine);
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
    struct dti_pickle_machine machine = {.opening = opening, .pickle = ret};
    *ret = (struct dti_pickle){.start = start};
    bool good = dti_pickle_start(&machine, start, limit) && begin(&machine);
    while (good && !machine.stopped)
        good = step(&machine);
    ret->end = machine.at;
    free(machine.buffer);
    return good;
}
