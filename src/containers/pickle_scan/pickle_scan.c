/* SPDX-License-Identifier: MIT
 *
 * Tracks one pickle the way Python's unpickler would run it. The stack keeps only values that can
 * name something: texts, globals, and results of calling a global. An opcode that would fail in
 * Python is reported, and the rest is still scanned, so that nothing can hide behind it. A name
 * that cannot be tracked is reported as computed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/pickle_scan/pickle_scan_parts.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

/* Texts and numbers as protocol 0 spells them, decoded in place: 'os\x73', \u006f, digits. Forms
 * that Python reads but never writes are not decoded: such a name counts as computed. */

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

/* 'os\x73': ASCII names only; names that Python writes need no other escapes. */
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

/* Only \u0061 and \U00000061 are escapes. */
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

/* Results of a scan: unique imports, and sentences about faults. Their number is bounded, and so is
 * the lookup time. */

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

static bool add_import(struct dti_scanning *scanning, const char *text, size_t length,
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

/* FNV-1a. Names crafted to collide are reported as too many. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Finds or adds the import of "module.name". text NULL: a computed name; module_length SIZE_MAX: no
 * module. *ret is SIZE_MAX if there are too many. False: out of memory. */
static bool find_import(struct dti_scanning *scanning, const char *text, size_t length,
                        size_t module_length, size_t *ret)
{
    enum { PROBES = 64 };
    struct dti_pickle_scan *const scan = scanning->scan;
    const uint32_t hash = text ? hash_of(text, length) : 0;
    for (uint32_t i = 0; i < PROBES && scan->import_count < IMPORTS_MAX; i++) {
        uint32_t *const slot = &scanning->slots[(hash + i) % DTI_SCAN_SLOTS];
        if (*slot == 0) {
            if (!add_import(scanning, text, length, module_length, ret))
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
    NAMES_READ_MAX = 1000000, /* limit on names that are read back to be joined */
    PROTOCOL_MAX = 5,
};

/* A stack value: kind in the lowest 3 bits; a text also has its length and file offset; a global or
 * a result has the index of the import. */
enum { OTHER, TEXT, ESCAPED, UNICODE, GLOBAL, RESULT };
enum { KIND_BITS = 3, LENGTH_BITS = 10, PLACE_SHIFT = KIND_BITS + LENGTH_BITS };
_Static_assert(DTI_PICKLE_NAME_MAX < 1 << LENGTH_BITS, "a length does not fit in a value");

struct scan_run {
    struct dti_scanning *scanning;
    struct dti_pickle_machine machine;
};

static unsigned kind_of(uint64_t value)
{
    return (unsigned)(value & 7u);
}

/* Adds the opening's current error to the faults. */
static void report(struct scan_run *run)
{
    struct dti_opening *const opening = run->machine.opening;
    if (opening->status == DTI_NO_MEMORY || !dti_scan_fault(run->scanning, opening->error->text))
        run->machine.over = true;
}

/* Ends a scan that cannot continue. */
static void end(struct scan_run *run, const char *text)
{
    (void)dti_pickle_refuse(&run->machine, text);
    run->machine.over = true;
}

/* Pops everything above the last mark, and the mark; returns the lowest value, the callee of a
 * call. */
static uint64_t drop_marked(struct scan_run *run)
{
    const uint64_t *values;
    size_t count;
    return dti_pickle_drop_marked(&run->machine, &values, &count) && count > 0 ? *values : OTHER;
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
    (void)dti_pickle_push(&run->machine, fits ? kind | machine->number << KIND_BITS |
                                                    machine->bytes_at << PLACE_SHIFT
                                              : OTHER);
}

static void push_import(struct scan_run *run, const char *text, size_t length, size_t module_length)
{
    size_t index = SIZE_MAX;
    if (!find_import(run->scanning, text, length, module_length, &index))
        run->machine.over = true;
    else if (index == SIZE_MAX)
        end(run, "more imports than are listed");
    (void)dti_pickle_push(&run->machine,
                          index == SIZE_MAX ? OTHER : GLOBAL | (uint64_t)index << KIND_BITS);
}

/* Reads a text back from the file. False: not a text, or not decodable here. */
static bool read_text(struct scan_run *run, uint64_t value, char *buffer, size_t *ret_length)
{
    size_t length = (size_t)(value >> KIND_BITS) & ((1u << LENGTH_BITS) - 1);
    const unsigned kind = kind_of(value);
    if (kind < TEXT || kind > UNICODE)
        return false;
    if (!dti_opening_read(run->machine.opening, buffer, length, value >> PLACE_SHIFT)) {
        run->machine.refused = run->machine.over = true;
        return false;
    }
    *ret_length = length;
    return kind == TEXT ||
           (kind == ESCAPED ? unescape(buffer, ret_length) : unescape_unicode(buffer, ret_length));
}

static void push_global(struct scan_run *run)
{
    const struct dti_pickle_machine *const machine = &run->machine;
    push_import(run, (const char *)machine->bytes, (size_t)machine->number, machine->module_length);
}

static void stack_global(struct scan_run *run)
{
    char text[NAME_SIZE];
    size_t module = 0, length = 0;
    const uint64_t name = dti_pickle_pop(&run->machine), from = dti_pickle_pop(&run->machine);
    if (run->scanning->opcodes[run->machine.code] > NAMES_READ_MAX) {
        end(run, "more imports than are listed");
        return;
    }
    if (read_text(run, from, text, &module) && read_text(run, name, text + module + 1, &length)) {
        text[module] = '.';
        push_import(run, text, module + 1 + length, module);
    } else {
        push_import(run, NULL, 0, 0);
    }
}

static void extension(struct scan_run *run)
{
    char text[32];
    const int length =
        snprintf(text, sizeof text, "extension %" PRIu32, (uint32_t)run->machine.number);
    push_import(run, text, (size_t)length, SIZE_MAX);
}

/* Records a call if the callee has a name; the result carries the same name. */
static uint64_t call(struct scan_run *run, uint64_t callee)
{
    if (kind_of(callee) != GLOBAL && kind_of(callee) != RESULT)
        return OTHER;
    run->scanning->scan->imports[callee >> KIND_BITS].calls++;
    return callee >> KIND_BITS << KIND_BITS | RESULT;
}

static void do_run(struct scan_run *run, enum dti_pickle_effect effect)
{
    struct dti_pickle_machine *const machine = &run->machine;
    const uint64_t *values;
    switch (effect) {
    case DTI_SCAN_GLOBAL:
        push_global(run);
        break;
    case DTI_SCAN_STACK_GLOBAL:
        stack_global(run);
        break;
    case DTI_SCAN_EXTENSION:
        extension(run);
        break;
    case DTI_SCAN_INST:
        (void)drop_marked(run);
        push_global(run);
        (void)dti_pickle_push(machine, call(run, dti_pickle_pop(machine)));
        break;
    case DTI_SCAN_CALL2:
    case DTI_SCAN_CALL3: {
        const bool there = dti_pickle_drop(machine, effect == DTI_SCAN_CALL2 ? 2 : 3, &values);
        (void)dti_pickle_push(machine, there ? call(run, *values) : OTHER);
        break;
    }
    case DTI_SCAN_BUILD:
        (void)dti_pickle_pop(machine);
        (void)call(run, dti_pickle_top(machine));
        break;
    default: /* DTI_SCAN_OBJ */
        (void)dti_pickle_push(machine, call(run, drop_marked(run)));
    }
}

static void do_data(struct scan_run *run, enum dti_pickle_effect effect)
{
    struct dti_pickle_machine *const machine = &run->machine;
    const uint64_t *values;
    switch (effect) {
    case DTI_SCAN_PROTOCOL:
        if (machine->number > PROTOCOL_MAX)
            (void)dti_pickle_refuse(machine, "a protocol that is not known");
        break;
    case DTI_SCAN_STOP:
        (void)dti_pickle_pop(machine);
        machine->stopped = true;
        break;
    case DTI_SCAN_PUT_LINE:
        dti_pickle_put(machine, line_number(run));
        break;
    case DTI_SCAN_GET_LINE:
        dti_pickle_get(machine, line_number(run));
        break;
    case DTI_SCAN_TEXT:
    case DTI_SCAN_ESCAPED:
    case DTI_SCAN_UNICODE:
        push_text(run, TEXT + (effect - DTI_SCAN_TEXT));
        break;
    case DTI_SCAN_DROP1:
    case DTI_SCAN_DROP2:
        (void)dti_pickle_drop(machine, effect - DTI_SCAN_DROP1 + 1, &values);
        (void)dti_pickle_top(machine);
        break;
    case DTI_SCAN_WRAP1:
    case DTI_SCAN_WRAP2:
    case DTI_SCAN_WRAP3:
        (void)dti_pickle_drop(machine, effect - DTI_SCAN_WRAP1 + 1, &values);
        (void)dti_pickle_push(machine, OTHER);
        break;
    case DTI_SCAN_WRAP_MARKED:
        (void)drop_marked(run);
        (void)dti_pickle_push(machine, OTHER);
        break;
    default: /* DTI_SCAN_PUSH */
        (void)dti_pickle_push(machine, OTHER);
    }
}

static bool refuse_code(const struct dti_pickle_machine *machine)
{
    return dti_opening_refuse(machine->opening,
                              ": damaged: 0x%02x at byte %" PRIu64 " of its pickle is no opcode",
                              machine->code, machine->opcode_at - machine->start);
}

static void step(struct scan_run *run)
{
    struct dti_pickle_machine *const machine = &run->machine;
    const bool before = machine->refused;
    const bool taken = dti_pickle_fetch(machine);
    const struct dti_pickle_opcode *const opcode = &dti_pickle_opcodes[machine->code];
    if (taken)
        run->scanning->opcodes[machine->code]++;
    if (!taken || (opcode->name[0] == '\0' && !refuse_code(machine))) {
        report(run); /* more than what the machine has reported */
        machine->over = true;
        return;
    }
    if (opcode->scan >= DTI_SCAN_GLOBAL)
        do_run(run, opcode->scan);
    else if (!dti_pickle_move(machine, opcode->scan))
        do_data(run, opcode->scan);
    if (machine->refused && !before)
        report(run);
}

bool dti_scan_pickle(struct dti_scanning *scanning, uint64_t *at, uint64_t limit, bool *ret_more)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_pool pool = {.chunks = NULL};
    struct scan_run run = {
        .scanning = scanning,
        .machine = {.opening = opening, .pool = &pool, .opcodes = scanning->opcode_count}};
    struct dti_pickle_machine *const machine = &run.machine;
    opening->status = DTI_OK;
    machine->over = !dti_pickle_start(machine, *at, limit);
    machine->start = scanning->base;
    scanning->scan->pickle_count++;
    while (!machine->stopped && !machine->over)
        step(&run);
    *at = machine->at;
    *ret_more = machine->stopped;
    scanning->opcode_count = machine->opcodes;
    dti_free(machine->buffer);
    dti_pool_free(&pool);
    return opening->status != DTI_NO_MEMORY;
}
