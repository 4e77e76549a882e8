/* SPDX-License-Identifier: MIT
 *
 * One pickle, followed as Python's unpickler goes through it, with a stack of values of which only
 * those matter that name something: texts, globals, and what a call of one returned. An opcode that
 * Python would fail at is reported, and the rest is followed all the same: nothing is hidden behind
 * it. A name that cannot be followed is one that the pickle computes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle_scan_parts.h"
#include "dtinfo/ascii.h"

/* Texts and numbers as pickles of protocol 0 spell them, in place: 'os\x73', \u006f, digits. What
 * Python reads and does not write is not read here: such a name is then one that is computed. */

static bool read_number(const unsigned char *text, size_t length, uint64_t *ret)
{
    enum { DIGITS = 9 };
    uint64_t number = 0;
    if (length == 0 || length > DIGITS)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!dti_ascii_digit((char)text[i]))
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    *ret = number;
    return true;
}

/* 'os\x73': names of ASCII alone; other escapes than these occur in no name that anyone writes. */
static bool unescape(char *text, size_t *length)
{
    size_t to = 0;
    uint32_t point;
    if (*length < 2 || text[0] != text[*length - 1] || (text[0] != '\'' && text[0] != '"'))
        return false;
    for (size_t i = 1; i + 1 < *length; i++) {
        if (text[i] == '\\') {
            if (i + 4 >= *length || text[i + 1] != 'x' || !dti_ascii_hex(text + i + 2, 2, &point))
                return false;
            text[to++] = (char)point;
            i += 3;
        } else {
            text[to++] = text[i];
        }
    }
    *length = to;
    return true;
}

/* Only \u0061 and \U00000061 mean something. */
static bool unescape_unicode(char *text, size_t *length)
{
    size_t to = 0;
    for (size_t i = 0; i < *length; i++) {
        uint32_t point = (unsigned char)text[i];
        if (point == '\\') {
            const char letter = i + 1 < *length ? text[i + 1] : '\0';
            const size_t digits = letter == 'u' ? 4 : 8;
            if ((letter != 'u' && letter != 'U') || *length - i < 2 + digits ||
                !dti_ascii_hex(text + i + 2, digits, &point))
                return false;
            i += 1 + digits;
        }
        if (point >= 0x80)
            return false;
        text[to++] = (char)point;
    }
    *length = to;
    return true;
}

/* What a scan of pickles has found: imports, each once, and sentences about what is broken. Their
 * number is bounded, and so is the time to find one. */

enum {
    NAME_SIZE = 2 * DTI_PICKLE_NAME_MAX + 2,
    IMPORTS_MAX = 10000,
    FAULTS_MAX = 100,
};

bool dti_scan_fault(struct dti_scanning *scanning, const char *text)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    if (scan->fault_count == FAULTS_MAX)
        return true;
    if (!dti_opening_grow(scanning->opening, &scan->faults, scan->fault_count, 1,
                          &scanning->fault_capacity, sizeof *scan->faults))
        return false;
    const char *const copy = dti_opening_text(scanning->opening, text, strlen(text));
    if (copy)
        scan->faults[scan->fault_count++] = copy;
    return copy != NULL;
}

static bool add(struct dti_scanning *scanning, const char *text, size_t length,
                size_t module_length, size_t *ret)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    struct dti_pickle_import made = {.module = NULL};
    const char *const copy = text ? dti_opening_text(scanning->opening, text, length) : NULL;
    if ((text && !copy) || !dti_opening_grow(scanning->opening, &scan->imports, scan->import_count,
                                             1, &scanning->import_capacity, sizeof *scan->imports))
        return false;
    if (copy && module_length == SIZE_MAX) {
        made.name = copy;
        made.name_length = length;
    } else if (copy) {
        made.module = copy;
        made.module_length = module_length;
        made.name = copy + module_length + 1;
        made.name_length = length - module_length - 1;
        made.known = dti_pickle_is_known(text, length, module_length);
    }
    scan->unknown_count += !made.known;
    *ret = scan->import_count;
    scan->imports[scan->import_count++] = made;
    return true;
}

static bool is_called(const struct dti_pickle_import *import, const char *text, size_t length,
                      size_t module_length)
{
    if (!text || !import->name)
        return !text && !import->name;
    if (!import->module || module_length == SIZE_MAX)
        return !import->module && module_length == SIZE_MAX && import->name_length == length &&
               memcmp(import->name, text, length) == 0;
    return import->module_length == module_length &&
           module_length + 1 + import->name_length == length &&
           memcmp(import->module, text, length) == 0;
}

/* FNV-1a. Names that are made to have one hash are reported as too many. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* The import of "module.name"; without a text of a name that is computed; module_length: SIZE_MAX:
 * it has none. *ret is SIZE_MAX when there are too many. False: memory ran out. */
static bool find_import(struct dti_scanning *scanning, const char *text, size_t length,
                        size_t module_length, size_t *ret)
{
    enum { PROBES = 64 };
    struct dti_pickle_scan *const scan = scanning->scan;
    const uint32_t hash = text ? hash_of(text, length) : 0;
    for (uint32_t i = 0; i < PROBES && scan->import_count < IMPORTS_MAX; i++) {
        uint32_t *const slot = &scanning->slots[(hash + i) % DTI_SCAN_SLOTS];
        if (*slot == 0) {
            if (!add(scanning, text, length, module_length, ret))
                return false;
            *slot = (uint32_t)scan->import_count;
        }
        if (is_called(&scan->imports[*slot - 1], text, length, module_length)) {
            *ret = *slot - 1;
            scan->imports[*ret].imports++;
            return true;
        }
    }
    *ret = SIZE_MAX;
    return true;
}

bool dti_scan_finish(struct dti_scanning *scanning)
{
    struct dti_pickle_scan *const scan = scanning->scan;
    scan->runs = dti_opening_array(scanning->opening, 256, sizeof *scan->runs);
    for (unsigned code = 0; scan->runs && code < 256; code++) {
        if (scanning->opcodes[code] > 0 && dti_pickle_opcodes[code].scan >= DTI_SCAN_GLOBAL)
            scan->runs[scan->run_count++] = (struct dti_pickle_run){
                .name = dti_pickle_opcodes[code].name, .count = scanning->opcodes[code]};
    }
    return scan->runs != NULL;
}

/* The walk. */

enum {
    MEMO_MAX = 1 << 22,
    NAMES_READ_MAX = 1000000, /* that are read again to be put together */
    PROTOCOL_MAX = 5,
};

/* A value: its kind in the lowest 3 bits; of a text its length and where it is in the file; of a
 * global or a result the index of the import. */
enum { OTHER, TEXT, ESCAPED, UNICODE, GLOBAL, RESULT, MISSING };
enum { KIND_BITS = 3, LENGTH_BITS = 10, PLACE_SHIFT = KIND_BITS + LENGTH_BITS };
_Static_assert(DTI_PICKLE_NAME_MAX < 1 << LENGTH_BITS, "a length does not fit in a value");

struct scan_run {
    struct dti_scanning *scanning;
    struct dti_pickle_machine machine;
    struct dti_pool pool; /* of what follows */
    uint64_t *stack, *memo;
    uint32_t *marks;
    size_t count, capacity, mark_count, mark_capacity, memo_count, memo_capacity, memo_used;
    bool faulty;    /* it has been reported */
    bool no_memory; /* or another failure of the program */
    bool ended;
};

static unsigned kind_of(uint64_t value)
{
    return (unsigned)(value & 7u);
}

/* The first one of a pickle. What cannot be followed any further ends it. */
static void fault(struct scan_run *run, const char *text)
{
    struct dti_opening *const opening = run->scanning->opening;
    if (run->faulty)
        return;
    run->faulty = true;
    if (text)
        (void)dti_pickle_refuse(&run->machine, text);
    if (opening->status == DTI_NO_MEMORY || !dti_scan_fault(run->scanning, opening->error->text))
        run->no_memory = true;
}

static void end(struct scan_run *run, const char *text)
{
    fault(run, text);
    run->ended = true;
}

static bool grow(struct scan_run *run, void *list, size_t count, size_t more, size_t *capacity,
                 size_t size)
{
    struct dti_opening *const opening = run->machine.opening;
    struct dti_pool *const pool = opening->pool;
    opening->pool = &run->pool;
    run->no_memory |= !dti_opening_grow(opening, list, count, more, capacity, size);
    opening->pool = pool;
    return !run->no_memory;
}

static void push(struct scan_run *run, uint64_t value)
{
    if (run->count >= DTI_PICKLE_STACK_MAX)
        end(run, "a stack of too many values");
    else if (grow(run, &run->stack, run->count, 1, &run->capacity, sizeof value))
        run->stack[run->count++] = value;
}

static size_t above(const struct scan_run *run)
{
    return run->count - (run->mark_count > 0 ? run->marks[run->mark_count - 1] : 0);
}

static uint64_t pop(struct scan_run *run)
{
    if (above(run) == 0) {
        fault(run, "an opcode that finds too few values");
        return OTHER;
    }
    return run->stack[--run->count];
}

static uint64_t top(struct scan_run *run)
{
    const uint64_t value = pop(run);
    push(run, value);
    return value;
}

static void drop(struct scan_run *run, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)pop(run);
}

/* What is above the last mark, and the mark; the first of those, which a call is of. */
static uint64_t drop_marked(struct scan_run *run)
{
    if (run->mark_count == 0) {
        fault(run, "an opcode that finds no mark");
        return OTHER;
    }
    const size_t count = above(run);
    run->count -= count;
    run->mark_count--;
    return count > 0 ? run->stack[run->count] : OTHER;
}

static void mark(struct scan_run *run)
{
    if (run->mark_count >= DTI_PICKLE_STACK_MAX)
        end(run, "a stack of too many marks");
    else if (grow(run, &run->marks, run->mark_count, 1, &run->mark_capacity, sizeof *run->marks))
        run->marks[run->mark_count++] = (uint32_t)run->count;
}

static void put(struct scan_run *run, uint64_t index)
{
    const uint64_t value = top(run);
    if (index >= MEMO_MAX) {
        end(run, "a memo that is too large");
        return;
    }
    if (index >= run->memo_count) {
        const size_t more = (size_t)index + 1 - run->memo_count;
        if (!grow(run, &run->memo, run->memo_count, more, &run->memo_capacity, sizeof value))
            return;
        for (size_t i = run->memo_count; i <= index; i++)
            run->memo[i] = MISSING;
        run->memo_count += more;
    }
    run->memo_used += run->memo[index] == MISSING;
    run->memo[index] = value;
}

static void get(struct scan_run *run, uint64_t index)
{
    const bool there = index < run->memo_count && run->memo[index] != MISSING;
    if (!there)
        fault(run, "a memo that is not there");
    push(run, there ? run->memo[index] : OTHER);
}

static uint64_t line_number(struct scan_run *run)
{
    const struct dti_pickle_machine *const machine = &run->machine;
    uint64_t number = UINT64_MAX;
    if (!machine->bytes || !read_number(machine->bytes, (size_t)machine->number, &number))
        end(run, "a memo that is no number");
    return number;
}

static void push_text(struct scan_run *run, unsigned kind)
{
    const struct dti_pickle_machine *const machine = &run->machine;
    const bool fits =
        machine->number <= DTI_PICKLE_NAME_MAX && machine->bytes_at >> (64 - PLACE_SHIFT) == 0;
    push(run,
         fits ? kind | machine->number << KIND_BITS | machine->bytes_at << PLACE_SHIFT : OTHER);
}

static void push_import(struct scan_run *run, unsigned kind, const char *text, size_t length,
                        size_t module_length)
{
    size_t index = SIZE_MAX;
    if (!find_import(run->scanning, text, length, module_length, &index))
        run->no_memory = true;
    else if (index == SIZE_MAX)
        end(run, "more imports than are listed");
    push(run, index == SIZE_MAX ? OTHER : kind | (uint64_t)index << KIND_BITS);
}

/* Reads a text again. False: the value is none, or none whose meaning is known here. */
static bool read_text(struct scan_run *run, uint64_t value, char *buffer, size_t *ret_length)
{
    size_t length = (size_t)(value >> KIND_BITS) & ((1u << LENGTH_BITS) - 1);
    const unsigned kind = kind_of(value);
    if (kind < TEXT || kind > UNICODE)
        return false;
    if (!dti_opening_read(run->machine.opening, buffer, length, value >> PLACE_SHIFT)) {
        end(run, NULL);
        return false;
    }
    *ret_length = length;
    return kind == TEXT ||
           (kind == ESCAPED ? unescape(buffer, ret_length) : unescape_unicode(buffer, ret_length));
}

static void stack_global(struct scan_run *run)
{
    char text[NAME_SIZE];
    size_t module = 0, length = 0;
    const uint64_t name = pop(run), from = pop(run);
    if (run->scanning->opcodes[run->machine.code] > NAMES_READ_MAX) {
        end(run, "more imports than are listed");
        return;
    }
    if (read_text(run, from, text, &module) && read_text(run, name, text + module + 1, &length)) {
        text[module] = '.';
        push_import(run, GLOBAL, text, module + 1 + length, module);
    } else {
        push_import(run, GLOBAL, NULL, 0, 0);
    }
}

static void extension(struct scan_run *run)
{
    char text[32];
    const int length =
        snprintf(text, sizeof text, "extension %" PRIu32, (uint32_t)run->machine.number);
    push_import(run, GLOBAL, text, (size_t)length, SIZE_MAX);
}

/* A call of it, if it has a name; what it returns is of that name, too. */
static uint64_t call(struct scan_run *run, uint64_t callee)
{
    if (kind_of(callee) != GLOBAL && kind_of(callee) != RESULT)
        return OTHER;
    run->scanning->scan->imports[callee >> KIND_BITS].calls++;
    return callee >> KIND_BITS << KIND_BITS | RESULT;
}

static void instance(struct scan_run *run)
{
    const struct dti_pickle_machine *const machine = &run->machine;
    (void)drop_marked(run);
    push_import(run, GLOBAL, (const char *)machine->bytes, (size_t)machine->number,
                machine->module_length);
    push(run, call(run, pop(run)));
}

static void do_run(struct scan_run *run, enum dti_pickle_effect effect)
{
    switch (effect) {
    case DTI_SCAN_GLOBAL:
        push_import(run, GLOBAL, (const char *)run->machine.bytes, (size_t)run->machine.number,
                    run->machine.module_length);
        break;
    case DTI_SCAN_STACK_GLOBAL:
        stack_global(run);
        break;
    case DTI_SCAN_EXTENSION:
        extension(run);
        break;
    case DTI_SCAN_INST:
        instance(run);
        break;
    case DTI_SCAN_CALL2:
    case DTI_SCAN_CALL3:
        drop(run, effect == DTI_SCAN_CALL2 ? 1 : 2);
        push(run, call(run, pop(run)));
        break;
    case DTI_SCAN_BUILD:
        drop(run, 1);
        (void)call(run, top(run));
        break;
    default: /* DTI_SCAN_OBJ */
        push(run, call(run, drop_marked(run)));
    }
}

static void do_data(struct scan_run *run, enum dti_pickle_effect effect)
{
    switch (effect) {
    case DTI_SCAN_TEXT:
        push_text(run, TEXT);
        break;
    case DTI_SCAN_ESCAPED:
        push_text(run, ESCAPED);
        break;
    case DTI_SCAN_UNICODE:
        push_text(run, UNICODE);
        break;
    case DTI_SCAN_DROP1:
    case DTI_SCAN_DROP2:
        drop(run, effect == DTI_SCAN_DROP1 ? 1 : 2);
        (void)top(run);
        break;
    case DTI_SCAN_WRAP1:
    case DTI_SCAN_WRAP2:
    case DTI_SCAN_WRAP3:
        drop(run, effect - DTI_SCAN_WRAP1 + 1);
        push(run, OTHER);
        break;
    case DTI_SCAN_WRAP_MARKED:
        (void)drop_marked(run);
        push(run, OTHER);
        break;
    default: /* DTI_SCAN_PUSH */
        push(run, OTHER);
    }
}

static void do_stack(struct scan_run *run, enum dti_pickle_effect effect)
{
    switch (effect) {
    case DTI_SCAN_NOTHING:
        break;
    case DTI_SCAN_PROTOCOL:
        if (run->machine.number > PROTOCOL_MAX)
            fault(run, "a protocol that is not known");
        break;
    case DTI_SCAN_STOP:
        (void)pop(run);
        run->ended = true;
        break;
    case DTI_SCAN_MARK:
        mark(run);
        break;
    case DTI_SCAN_POP:
        if (above(run) == 0 && run->mark_count > 0)
            run->mark_count--;
        else
            (void)pop(run);
        break;
    case DTI_SCAN_POP_MARK:
        (void)drop_marked(run);
        break;
    case DTI_SCAN_DUP:
        push(run, top(run));
        break;
    case DTI_SCAN_PUT:
        put(run, run->machine.number);
        break;
    case DTI_SCAN_PUT_LINE:
        put(run, line_number(run));
        break;
    case DTI_SCAN_MEMOIZE:
        put(run, run->memo_used);
        break;
    case DTI_SCAN_GET:
        get(run, run->machine.number);
        break;
    case DTI_SCAN_GET_LINE:
        get(run, line_number(run));
        break;
    default:
        do_data(run, effect);
    }
}

static void step(struct scan_run *run)
{
    struct dti_opening *const opening = run->machine.opening;
    if (!dti_pickle_fetch(&run->machine)) {
        run->faulty = false; /* that is more than what has been reported */
        end(run, NULL);
        return;
    }
    const struct dti_pickle_opcode *const opcode = &dti_pickle_opcodes[run->machine.code];
    run->scanning->opcodes[run->machine.code]++;
    if (!opcode->name) {
        (void)dti_opening_refuse(opening,
                                 ": damaged: 0x%02x at byte %" PRIu64 " of its pickle is no opcode",
                                 run->machine.code, run->machine.opcode_at - run->machine.start);
        run->faulty = false;
        end(run, NULL);
    } else if (opcode->scan >= DTI_SCAN_GLOBAL) {
        do_run(run, opcode->scan);
    } else {
        do_stack(run, opcode->scan);
    }
    if (opcode->scan == DTI_SCAN_STOP)
        run->machine.stopped = true;
}

bool dti_scan_pickle(struct dti_scanning *scanning, uint64_t *at, uint64_t limit, bool *ret_more)
{
    struct dti_opening *const opening = scanning->opening;
    struct scan_run run = {.scanning = scanning,
                           .machine = {.opening = opening, .opcodes = scanning->opcode_count}};
    opening->status = DTI_OK;
    run.no_memory = !dti_pickle_start(&run.machine, *at, limit);
    run.machine.start = scanning->base;
    scanning->scan->pickle_count++;
    while (!run.ended && !run.no_memory)
        step(&run);
    *at = run.machine.at;
    *ret_more = run.machine.stopped;
    scanning->opcode_count = run.machine.opcodes;
    free(run.machine.buffer);
    dti_pool_free(&run.pool);
    return !run.no_memory;
}
