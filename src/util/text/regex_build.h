/* SPDX-License-Identifier: MIT
 *
 * Pieces of the NFA and how to combine them: shared by regex_parse.c, which reads patterns, and
 * regex_build.c. After a failure all calls do nothing; discard what they return. */
#ifndef UTIL_TEXT_REGEX_BUILD_H
#define UTIL_TEXT_REGEX_BUILD_H

#include "util/text/regex.h"

/* Nodes with one entry and one exit. The exit is a JOIN that leads nowhere yet. */
struct dti_regex_piece {
    uint32_t in, out;
};
struct dti_regex_parser {
    struct dti_regex_program *program;
    const char *at, *end;
    unsigned depth;
    struct dti_error *reterr;
    enum dti_status status;
};

/* A set of characters: ASCII ones individually, non-ASCII ones all or none. A UTF-8 continuation
 * byte never starts a character, so any number of them may follow the first byte. */
struct dti_regex_characters {
    uint64_t ascii[2];
    bool others;
};

/* Only the first failure is kept. unsupported: "has %s, which is not supported". */
void dti_regex_fail(struct dti_regex_parser *parser, const char *why);
void dti_regex_unsupported(struct dti_regex_parser *parser, const char *what);

uint32_t dti_regex_add_node(struct dti_regex_parser *parser, enum dti_regex_node_kind kind,
                            uint32_t other);

/* Makes a single node, a character set, or an empty piece. */
struct dti_regex_piece dti_regex_single(struct dti_regex_parser *parser,
                                        enum dti_regex_node_kind kind, uint8_t value,
                                        uint32_t other);
struct dti_regex_piece dti_regex_characters(struct dti_regex_parser *parser,
                                            const struct dti_regex_characters *set);
struct dti_regex_piece dti_regex_nothing(struct dti_regex_parser *parser);
/* Concatenation, alternation, repetition (zero or more). */
struct dti_regex_piece dti_regex_then(struct dti_regex_parser *parser, struct dti_regex_piece first,
                                      struct dti_regex_piece second);
struct dti_regex_piece dti_regex_either(struct dti_regex_parser *parser, struct dti_regex_piece one,
                                        struct dti_regex_piece other);
struct dti_regex_piece dti_regex_loop(struct dti_regex_parser *parser,
                                      struct dti_regex_piece piece);

/* The start node for patterns with the same syntax. */
uint32_t dti_regex_root(struct dti_regex_parser *parser, unsigned which);
/* Adds a transition to a node that may already have some. */
void dti_regex_branch(struct dti_regex_parser *parser, uint32_t from, uint32_t to);
/* The size of the program before a piece is read, to undo the read. */
struct dti_regex_mark {
    uint32_t nodes, sets;
};
struct dti_regex_mark dti_regex_mark(const struct dti_regex_parser *parser);
/* The node after the piece that begins at `text`, read at node `from`. If the same text was read
 * there before, returns that node and discards this piece. */
uint32_t dti_regex_share(struct dti_regex_parser *parser, uint32_t from, struct dti_regex_mark mark,
                         const char *text, struct dti_regex_piece piece);

/* Adds a range of ASCII characters; complements the set. */
void dti_regex_include(struct dti_regex_characters *set, unsigned low, unsigned high);
void dti_regex_invert(struct dti_regex_characters *set);

#endif
