/* SPDX-License-Identifier: MIT
 *
 * The machine that reads or follows a pickle: a stack, marks in it, and a memo. An opcode is a row
 * of pickle_opcodes.def: how its operand is stored, what it does to the stack, and the function
 * that reads it. */
#ifndef CONTAINERS_PICKLE_PICKLE_PARTS_H
#define CONTAINERS_PICKLE_PICKLE_PARTS_H

#include "containers/pickle/pickle.h"

struct dti_pickle_node {
    uint8_t type;  /* enum dti_pickle_type */
    uint8_t known; /* of a GLOBAL: its row, or 0; of BYTES: 1, encoded; of PLAIN: 1, a text */
    bool visited;
    uint32_t count; /* of items or bytes of text; of a CALL its arguments */
    uint32_t first; /* item, first byte of the text (INT: the low half), callee */
    uint32_t last;  /* of a LIST or DICT: its last segment (INT: the high half); of a CALL its
                     * state; of a TEXT where it is, from the start on */
    /* BYTES, a PLAIN text: count bytes, at first and last, the low and the high half */
};

/* Small numbers need no node: their values begin here. */
#define DTI_PICKLE_SMALL UINT32_C(0x80000000)

/* How the operand of an opcode is stored. */
enum dti_pickle_operand {
    DTI_OPERAND_NONE,
    DTI_OPERAND_U1,
    DTI_OPERAND_U2,
    DTI_OPERAND_I4,
    DTI_OPERAND_U4,
    DTI_OPERAND_U8,
    DTI_OPERAND_COUNTED1, /* bytes after their number, in 1, 4 or 8 bytes */
    DTI_OPERAND_COUNTED4,
    DTI_OPERAND_COUNTED8,
    DTI_OPERAND_LINE,
    DTI_OPERAND_LINES, /* two lines */
};
/* What an opcode does to the stack. */
enum dti_pickle_effect {
    DTI_SCAN_UNKNOWN,
    DTI_SCAN_NOTHING,
    DTI_SCAN_PROTOCOL,
    DTI_SCAN_STOP,
    DTI_SCAN_MARK,
    DTI_SCAN_POP,      /* a value, or a mark */
    DTI_SCAN_POP_MARK, /* what is above the last mark, and the mark */
    DTI_SCAN_DUP,
    DTI_SCAN_PUT,
    DTI_SCAN_PUT_LINE,
    DTI_SCAN_MEMOIZE,
    DTI_SCAN_GET,
    DTI_SCAN_GET_LINE,
    DTI_SCAN_PUSH,    /* a value that names nothing */
    DTI_SCAN_TEXT,    /* one that may */
    DTI_SCAN_ESCAPED, /* the same as Python 2 writes it: 'a\n' */
    DTI_SCAN_UNICODE, /* with \u0061 in it */
    DTI_SCAN_DROP1,   /* the upper values go into the one below */
    DTI_SCAN_DROP2,
    DTI_SCAN_WRAP1, /* they become one */
    DTI_SCAN_WRAP2,
    DTI_SCAN_WRAP3,
    DTI_SCAN_WRAP_MARKED,
    /* imports */
    DTI_SCAN_GLOBAL,
    DTI_SCAN_STACK_GLOBAL,
    DTI_SCAN_EXTENSION,
    DTI_SCAN_INST, /* calls, too */
    /* calls */
    DTI_SCAN_CALL2, /* of so many values the lowest */
    DTI_SCAN_CALL3,
    DTI_SCAN_BUILD,
    DTI_SCAN_OBJ,
};

struct dti_pickle_machine {
    struct dti_opening *opening;
    struct dti_pickle *pickle; /* NULL: it is followed, and not read */
    struct dti_pool *pool;     /* of the stack, the marks and the memo */
    unsigned char *buffer;
    size_t begin, used; /* of the buffer: what is still to be taken */
    uint64_t start, at; /* in the file: of the pickle, and of the next byte */
    uint64_t limit;     /* how far it is read, without what has been skipped; at most end */
    uint64_t end;
    uint64_t opcode_at, bytes_at; /* likewise, of the operand's bytes */
    uint32_t opcodes;
    uint64_t *stack, *memo;
    uint32_t *marks;
    size_t stack_count, mark_count, memo_count;
    size_t memo_used; /* of those: what MEMOIZE counts */
    size_t stack_capacity, mark_capacity, memo_capacity;
    unsigned code; /* the opcode */
    /* its operand */
    uint64_t number;            /* or how many bytes there are */
    const unsigned char *bytes; /* NULL: too many to be kept; of two lines "module.name" */
    size_t module_length;       /* of that */
    bool stopped;               /* by STOP */
    bool refused;               /* Python would have failed */
    bool over;                  /* it cannot go on: a bound was met, or memory ran out */
};

struct dti_pickle_opcode {
    const char *name; /* NULL: there is none */
    enum dti_pickle_operand operand;
    bool (*run)(struct dti_pickle_machine *machine);
    enum dti_pickle_effect scan;
};
extern const struct dti_pickle_opcode dti_pickle_opcodes[256]; /* pickle_read.c */

/* pickle_machine.c: begins at `start` of the opening's file; the buffer is to be freed. Takes the
 * next opcode with its operand. */
bool dti_pickle_start(struct dti_pickle_machine *machine, uint64_t start, uint64_t end);
bool dti_pickle_fetch(struct dti_pickle_machine *machine);

/* Refuses an opcode, if it is the first one; returns false. */
bool dti_pickle_refuse(struct dti_pickle_machine *machine, const char *text);
/* Grows a list in the machine's pool; false: memory ran out. */
bool dti_pickle_grow(struct dti_pickle_machine *machine, void *list, size_t count, size_t more,
                     size_t *capacity, size_t size);

/* The stack. False: refused, or over. */
bool dti_pickle_push(struct dti_pickle_machine *machine, uint64_t value);
/* Takes the uppermost values, which stay where they are until the next push: so many, or those
 * above the last mark and the mark. */
bool dti_pickle_drop(struct dti_pickle_machine *machine, size_t count, const uint64_t **ret);
bool dti_pickle_drop_marked(struct dti_pickle_machine *machine, const uint64_t **ret,
                            size_t *ret_count);
/* 0, refused: there is none. */
uint64_t dti_pickle_pop(struct dti_pickle_machine *machine);
uint64_t dti_pickle_top(struct dti_pickle_machine *machine);
/* Puts the uppermost value into the memo; pushes one from there, or 0, refused. */
void dti_pickle_put(struct dti_pickle_machine *machine, uint64_t index);
void dti_pickle_get(struct dti_pickle_machine *machine, uint64_t index);
/* What an opcode of that effect does, if it moves values and neither makes nor uses any; false: it
 * is another one. */
bool dti_pickle_move(struct dti_pickle_machine *machine, enum dti_pickle_effect effect);

/* pickle_values.c: new values; false: memory ran out. */
bool dti_pickle_new(struct dti_pickle_machine *machine, struct dti_pickle_node node, uint32_t *ret);
bool dti_pickle_new_text(struct dti_pickle_machine *machine, enum dti_pickle_type type,
                         const char *text, size_t length, uint32_t *ret);
bool dti_pickle_new_int(struct dti_pickle_machine *machine, int64_t number, uint32_t *ret);
bool dti_pickle_new_tuple(struct dti_pickle_machine *machine, const uint64_t *items, size_t count,
                          uint32_t *ret);
bool dti_pickle_append(struct dti_pickle_machine *machine, uint32_t list, const uint64_t *items,
                       size_t count);
bool dti_pickle_new_global(struct dti_pickle_machine *machine, const char *text, size_t length,
                           uint32_t *ret);
enum dti_pickle_makes dti_pickle_makes(const struct dti_pickle *pickle, uint32_t global);

#endif
