/* SPDX-License-Identifier: MIT
 *
 * Takes the opcodes of a pickle and their operands from the file. Lengths are checked against what
 * is left of the file before anything is taken. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle_parts.h"
#include "dtinfo/little_endian.h"

enum { BUFFER = 2 * DTI_PICKLE_TEXT_MAX };

bool dti_pickle_refuse(struct dti_pickle_machine *machine, const char *text)
{
    return dti_opening_refuse(machine->opening, ": damaged: %s at byte %" PRIu64 " of its pickle",
                              text, machine->opcode_at - machine->start);
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

/* Bytes that are skipped do not count as those of the pickle. */
static void set_limit(struct dti_pickle_machine *machine, uint64_t more)
{
    const uint64_t after = machine->end - machine->limit;
    machine->limit += more < after ? more : after;
}

static bool take_counted(struct dti_pickle_machine *machine, size_t size)
{
    machine->bytes = NULL;
    if (!take_number(machine, size))
        return false;
    machine->bytes_at = machine->at;
    if (machine->number <= DTI_PICKLE_TEXT_MAX)
        return take(machine, (size_t)machine->number, &machine->bytes);
    if (machine->number > machine->end - machine->at)
        return refuse_end(machine);
    skip(machine, machine->number);
    set_limit(machine, machine->number);
    return true;
}

/* A line of any length, without its end. */
static bool take_line(struct dti_pickle_machine *machine)
{
    machine->number = 0;
    machine->bytes_at = machine->at;
    for (;;) {
        if (!fill(machine, DTI_PICKLE_TEXT_MAX))
            return false;
        const unsigned char *const text = machine->buffer + machine->begin;
        const size_t there = machine->used - machine->begin;
        const unsigned char *const end = there > 0 ? memchr(text, '\n', there) : NULL;
        const size_t length = end ? (size_t)(end - text) : there;
        if (there == 0)
            return refuse_end(machine);
        machine->bytes = machine->number == 0 && end ? text : NULL;
        machine->number += length;
        skip(machine, length + (end != NULL));
        if (end)
            return true;
    }
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
    machine->module_length = (size_t)(line - text);
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
    case DTI_OPERAND_LINE:
        return take_line(machine);
    case DTI_OPERAND_LINES:
        return take_lines(machine);
    }
    return false;
}

bool dti_pickle_start(struct dti_pickle_machine *machine, uint64_t start, uint64_t end)
{
    machine->buffer = malloc(end - start < BUFFER ? (size_t)(end - start) + 1 : BUFFER);
    machine->at = machine->start = machine->limit = start;
    machine->end = end;
    set_limit(machine, DTI_PICKLE_BYTES_MAX);
    return machine->buffer || dti_opening_no_memory(machine->opening);
}

bool dti_pickle_fetch(struct dti_pickle_machine *machine)
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
    machine->code = *byte;
    return take_operand(machine, dti_pickle_opcodes[machine->code].operand);
}
