/* SPDX-License-Identifier: MIT
 *
 * The pickle machine: a stack with marks, and a memo. It builds values, or only tracks a pickle.
 * Each opcode is a row of pickle_opcodes.def: the encoding of its operand, its effect on the stack,
 * and its handler. */
#ifndef CONTAINERS_PICKLE_PICKLE_PARTS_H
#define CONTAINERS_PICKLE_PICKLE_PARTS_H

#include "containers/pickle/pickle.h"

struct dti_pickle_node {
    uint8_t type;  /* enum dti_pickle_type */
    uint8_t known; /* GLOBAL: its row, or 0; BYTES: 1 if encoded; PLAIN: DTI_PICKLE_IS_... */
    bool visited;
    uint32_t count; /* of items or text bytes; CALL: its arguments */
    uint32_t first; /* item, first text byte, callee; INT: low half */
    uint32_t last;  /* LIST, DICT: last segment; INT: high half; CALL: state; TEXT: offset */
    /* PLAIN fp64: its bits, as of an INT */
    /* BYTES, PLAIN text: count bytes at the offset with low half `first` and high half `last` */
};

enum { DTI_PICKLE_IS_TEXT = 1, DTI_PICKLE_IS_FP64 }; /* what is known of a PLAIN value */

/* Small integers need no node: their values start here. */
#define DTI_PICKLE_SMALL UINT32_C(0x80000000)

/* How the operand of an opcode is encoded. */
enum dti_pickle_operand {
    DTI_OPERAND_NONE,
    DTI_OPERAND_U1,
    DTI_OPERAND_U2,
    DTI_OPERAND_I4,
    DTI_OPERAND_U4,
    DTI_OPERAND_U8,
    DTI_OPERAND_COUNTED1, /* bytes preceded by their count, in 1, 4 or 8 bytes */
    DTI_OPERAND_COUNTED4,
    DTI_OPERAND_COUNTED8,
    DTI_OPERAND_LINE,
    DTI_OPERAND_LINES, /* two lines */
};
/* The effect of an opcode on the stack. */
enum dti_pickle_effect {
    DTI_SCAN_UNKNOWN,
    DTI_SCAN_NOTHING,
    DTI_SCAN_PROTOCOL,
    DTI_SCAN_STOP,
    DTI_SCAN_MARK,
    DTI_SCAN_POP,      /* a value, or a mark */
    DTI_SCAN_POP_MARK, /* everything above the last mark, and the mark */
    DTI_SCAN_DUP,
    DTI_SCAN_PUT,
    DTI_SCAN_PUT_LINE,
    DTI_SCAN_MEMOIZE,
    DTI_SCAN_GET,
    DTI_SCAN_GET_LINE,
    DTI_SCAN_PUSH,    /* a value that cannot be a name */
    DTI_SCAN_TEXT,    /* a text that may be a name */
    DTI_SCAN_ESCAPED, /* the same with Python 2 escapes: 'a\n' */
    DTI_SCAN_UNICODE, /* with escapes like \u0061 */
    DTI_SCAN_DROP1,   /* pops values and adds them to the one below */
    DTI_SCAN_DROP2,
    DTI_SCAN_WRAP1, /* replaces values with one */
    DTI_SCAN_WRAP2,
    DTI_SCAN_WRAP3,
    DTI_SCAN_WRAP_MARKED,
    /* imports */
    DTI_SCAN_GLOBAL,
    DTI_SCAN_STACK_GLOBAL,
    DTI_SCAN_EXTENSION,
    DTI_SCAN_INST, /* also calls */
    /* calls */
    DTI_SCAN_CALL2, /* calls the lowest of this many values */
    DTI_SCAN_CALL3,
    DTI_SCAN_BUILD,
    DTI_SCAN_OBJ,
};

struct dti_pickle_machine {
    struct dti_opening *opening;
    struct dti_pickle *pickle; /* NULL: only tracked, no values are built */
    struct dti_pool *pool;     /* for the stack, the marks and the memo */
    unsigned char *buffer;
    size_t begin, used; /* of the buffer: the unconsumed part */
    uint64_t start, at; /* file offsets: of the pickle, and of the next byte */
    uint64_t limit;     /* where reading stops, not counting skipped bytes; at most end */
    uint64_t end;
    uint64_t opcode_at, bytes_at; /* file offsets, of the opcode and of the operand's bytes */
    uint32_t opcodes;
    uint64_t *stack, *memo;
    uint32_t *marks;
    size_t stack_count, mark_count, memo_count;
    size_t memo_used; /* number of memo entries in use, as MEMOIZE counts them */
    size_t stack_capacity, mark_capacity, memo_capacity;
    unsigned code; /* the opcode */
    /* its operand */
    uint64_t number;            /* or its byte count */
    const unsigned char *bytes; /* NULL: too long to keep; for two lines "module.name" */
    size_t module_length;       /* the module's length in it */
    bool stopped;               /* by STOP */
    bool refused;               /* Python would fail here */
    bool over;                  /* cannot continue: a limit was hit, or out of memory */
};

struct dti_pickle_opcode {
    char name[20]; /* "": undefined opcode */
    enum dti_pickle_operand operand;
    enum dti_pickle_effect scan;
};
extern const struct dti_pickle_opcode dti_pickle_opcodes[256]; /* pickle_read.c */

/* pickle_machine.c: starts at `start` of the opening's file; the caller frees the buffer.
 * dti_pickle_fetch() reads the next opcode and its operand. */
bool dti_pickle_start(struct dti_pickle_machine *machine, uint64_t start, uint64_t end);
bool dti_pickle_fetch(struct dti_pickle_machine *machine);

/* Reports the opcode as invalid, unless one was reported before; returns false. */
bool dti_pickle_refuse(struct dti_pickle_machine *machine, const char *text);
/* Grows a list in the machine's pool; false: out of memory. */
bool dti_pickle_grow(struct dti_pickle_machine *machine, void *list, size_t count, size_t more,
                     size_t *capacity, size_t size);

/* Stack operations. False: refused or over. */
bool dti_pickle_push(struct dti_pickle_machine *machine, uint64_t value);
/* Pops `count` values, or those above the last mark plus the mark. The values stay in place until
 * the next push. */
bool dti_pickle_drop(struct dti_pickle_machine *machine, size_t count, const uint64_t **ret);
bool dti_pickle_drop_marked(struct dti_pickle_machine *machine, const uint64_t **ret,
                            size_t *ret_count);
/* 0, refused: the stack is empty. */
uint64_t dti_pickle_pop(struct dti_pickle_machine *machine);
uint64_t dti_pickle_top(struct dti_pickle_machine *machine);
/* Stores the top value in the memo; pushes a memo entry, or 0, refused. */
void dti_pickle_put(struct dti_pickle_machine *machine, uint64_t index);
void dti_pickle_get(struct dti_pickle_machine *machine, uint64_t index);
/* Runs an opcode that only moves values, neither making nor using any; false: another effect. */
bool dti_pickle_move(struct dti_pickle_machine *machine, enum dti_pickle_effect effect);

/* pickle_values.c: creates values; false: out of memory. */
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
