/* SPDX-License-Identifier: MIT
 *
 * The pickle machine: fetches opcodes and their operands from the file, checking lengths against
 * the remaining bytes first, and maintains the stack, the marks and the memo. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle/pickle_parts.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum {
    BUFFER = 2 * DTI_PICKLE_TEXT_MAX,
    MEMO_MAX = 1 << 22, /* if the pickle is only tracked */
};
static const uint64_t missing = UINT64_MAX; /* in the memo */

static bool refuse(const struct dti_pickle_machine *machine, const char *text)
{
    return dti_opening_refuse(machine->opening, ": damaged: %s at byte %" PRIu64 " of its pickle",
                              text, machine->opcode_at - machine->start);
}

static uint64_t left(const struct dti_pickle_machine *machine)
{
    return machine->limit - machine->at;
}

/* Ensures that the buffer holds `size` bytes, or all that are left. */
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
    return refuse(machine, "it ends in the middle of an opcode");
}

/* size <= BUFFER; valid until the next call. */
static bool take_bytes(struct dti_pickle_machine *machine, size_t size, const unsigned char **ret)
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
    if (!take_bytes(machine, size, &bytes))
        return false;
    assert(bytes); /* which it has set */
    machine->number = dti_little_get(bytes, size);
    return true;
}

/* Extends the limit, since skipped bytes do not count towards it. */
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
        return take_bytes(machine, (size_t)machine->number, &machine->bytes);
    if (machine->number > machine->end - machine->at)
        return refuse_end(machine);
    skip(machine, machine->number);
    set_limit(machine, machine->number);
    return true;
}

/* A line of any length, without its newline. */
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

/* Joins the two lines, module and name, with a dot. */
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
        return refuse(machine, "a global without an end, or too long,");
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
    machine->buffer = dti_malloc(end - start < BUFFER ? (size_t)(end - start) + 1 : BUFFER);
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
        return refuse(machine, "it ends without STOP");
    if (++machine->opcodes > DTI_PICKLE_OPCODES_MAX)
        return dti_opening_refuse(machine->opening, ": its pickle has more than %d opcodes",
                                  (int)DTI_PICKLE_OPCODES_MAX);
    if (!take_bytes(machine, 1, &byte))
        return false;
    machine->code = *byte;
    return take_operand(machine, dti_pickle_opcodes[machine->code].operand);
}

bool dti_pickle_refuse(struct dti_pickle_machine *machine, const char *text)
{
    if (!machine->refused)
        (void)refuse(machine, text);
    machine->refused = true;
    return false;
}

/* The same for an exceeded limit, which also stops the machine. */
static bool end(struct dti_pickle_machine *machine, const char *text)
{
    machine->over = true;
    return dti_pickle_refuse(machine, text);
}

bool dti_pickle_grow(struct dti_pickle_machine *machine, void *list, size_t count, size_t more,
                     size_t *capacity, size_t size)
{
    struct dti_opening *const opening = machine->opening;
    struct dti_pool *const pool = opening->pool;
    opening->pool = machine->pool;
    const bool good = dti_opening_grow(opening, list, count, more, capacity, size);
    opening->pool = pool;
    machine->over |= !good;
    return good;
}

bool dti_pickle_push(struct dti_pickle_machine *machine, uint64_t value)
{
    if (machine->stack_count >= DTI_PICKLE_STACK_MAX)
        return end(machine, "a stack of too many values");
    if (!dti_pickle_grow(machine, &machine->stack, machine->stack_count, 1,
                         &machine->stack_capacity, sizeof value))
        return false;
    machine->stack[machine->stack_count++] = value;
    return true;
}

/* The number of values above the last mark. */
static size_t above(const struct dti_pickle_machine *machine)
{
    const size_t marks = machine->mark_count;
    return machine->stack_count - (marks > 0 ? machine->marks[marks - 1] : 0);
}

bool dti_pickle_drop(struct dti_pickle_machine *machine, size_t count, const uint64_t **ret)
{
    const size_t there = above(machine);
    machine->stack_count -= count < there ? count : there;
    *ret = machine->stack ? machine->stack + machine->stack_count : NULL;
    return count <= there || dti_pickle_refuse(machine, "an opcode that finds too few values");
}

bool dti_pickle_drop_marked(struct dti_pickle_machine *machine, const uint64_t **ret,
                            size_t *ret_count)
{
    if (machine->mark_count == 0)
        return dti_pickle_refuse(machine, "an opcode that finds no mark");
    *ret_count = above(machine);
    (void)dti_pickle_drop(machine, *ret_count, ret);
    machine->mark_count--;
    return true;
}

uint64_t dti_pickle_pop(struct dti_pickle_machine *machine)
{
    const uint64_t *values;
    if (!dti_pickle_drop(machine, 1, &values))
        return 0;
    assert(values); /* where a value was dropped, there is a stack */
    return *values;
}

uint64_t dti_pickle_top(struct dti_pickle_machine *machine)
{
    const uint64_t value = dti_pickle_pop(machine);
    (void)dti_pickle_push(machine, value);
    return value;
}

static void mark(struct dti_pickle_machine *machine)
{
    if (machine->mark_count >= DTI_PICKLE_STACK_MAX)
        (void)end(machine, "a stack of too many marks");
    else if (dti_pickle_grow(machine, &machine->marks, machine->mark_count, 1,
                             &machine->mark_capacity, sizeof *machine->marks))
        machine->marks[machine->mark_count++] = (uint32_t)machine->stack_count;
}

/* Python numbers memo entries consecutively, so an index is at most the number of opcodes. This
 * bounds the memo's memory by the file size. */
void dti_pickle_put(struct dti_pickle_machine *machine, uint64_t index)
{
    const uint64_t value = dti_pickle_top(machine);
    if (index >= (machine->pickle ? machine->opcodes : MEMO_MAX)) {
        (void)end(machine, "a memo that is too large");
        return;
    }
    if (index >= machine->memo_count) {
        const size_t more = (size_t)index + 1 - machine->memo_count;
        if (!dti_pickle_grow(machine, &machine->memo, machine->memo_count, more,
                             &machine->memo_capacity, sizeof value))
            return;
        for (size_t i = machine->memo_count; i <= index; i++)
            machine->memo[i] = missing;
        machine->memo_count += more;
    }
    machine->memo_used += machine->memo[index] == missing;
    machine->memo[index] = value;
}

void dti_pickle_get(struct dti_pickle_machine *machine, uint64_t index)
{
    const bool there = index < machine->memo_count && machine->memo[index] != missing;
    if (!there)
        (void)dti_pickle_refuse(machine, "a memo that is not there");
    (void)dti_pickle_push(machine, there ? machine->memo[index] : 0);
}

bool dti_pickle_move(struct dti_pickle_machine *machine, enum dti_pickle_effect effect)
{
    const uint64_t *values;
    size_t count;
    switch (effect) {
    case DTI_SCAN_NOTHING:
        return true;
    case DTI_SCAN_MARK:
        mark(machine);
        return true;
    case DTI_SCAN_POP:
        if (above(machine) == 0 && machine->mark_count > 0)
            machine->mark_count--;
        else
            (void)dti_pickle_pop(machine);
        return true;
    case DTI_SCAN_POP_MARK:
        (void)dti_pickle_drop_marked(machine, &values, &count);
        return true;
    case DTI_SCAN_DUP:
        (void)dti_pickle_push(machine, dti_pickle_top(machine));
        return true;
    case DTI_SCAN_PUT:
        dti_pickle_put(machine, machine->number);
        return true;
    case DTI_SCAN_MEMOIZE:
        dti_pickle_put(machine, machine->memo_used);
        return true;
    case DTI_SCAN_GET:
        dti_pickle_get(machine, machine->number);
        return true;
    default:
        return false;
    }
}
