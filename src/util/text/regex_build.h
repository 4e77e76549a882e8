/* SPDX-License-Identifier: MIT
 *
 * Pieces of the automaton, and how they are put together: shared by regex_parse.c, which reads
 * patterns, and regex_build.c. After a failure nothing is done, and what is returned is to be
 * thrown away. */
#ifndef UTIL_TEXT_REGEX_BUILD_H
#define UTIL_TEXT_REGEX_BUILD_H

#include "util/text/regex.h"

/* Nodes with one entry and one exit, a JOIN that leads nowhere yet. */
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

/* Characters: those of ASCII, and all others or none. What comes after the first byte of one that
 * is not ASCII begins no other, so any number of such bytes may follow. */
struct dti_regex_characters {
    uint64_t ascii[2];
    bool others;
};

/* Only the first failure counts. unsupported: "has %s, which is not supported". */
void dti_regex_fail(struct dti_regex_parser *parser, const char *why);
void dti_regex_unsupported(struct dti_regex_parser *parser, const char *what);

uint32_t dti_regex_add_node(struct dti_regex_parser *parser, enum dti_regex_node_kind kind,
                            uint32_t other);

/* One node, one of several characters, or none. */
struct dti_regex_piece dti_regex_single(struct dti_regex_parser *parser,
                                        enum dti_regex_node_kind kind, uint8_t value,
                                        uint32_t other);
struct dti_regex_piece dti_regex_characters(struct dti_regex_parser *parser,
                                            const struct dti_regex_characters *set);
struct dti_regex_piece dti_regex_nothing(struct dti_regex_parser *parser);
/* One after the other, one or the other, one any number of times. */
struct dti_regex_piece dti_regex_then(struct dti_regex_parser *parser, struct dti_regex_piece first,
                                      struct dti_regex_piece second);
struct dti_regex_piece dti_regex_either(struct dti_regex_parser *parser, struct dti_regex_piece one,
                                        struct dti_regex_piece other);
struct dti_regex_piece dti_regex_loop(struct dti_regex_parser *parser,
                                      struct dti_regex_piece piece);

/* The node where patterns begin that are read alike. */
uint32_t dti_regex_root(struct dti_regex_parser *parser, unsigned which);
/* Lets a node that others may follow lead to one more. */
void dti_regex_branch(struct dti_regex_parser *parser, uint32_t from, uint32_t to);
/* What there is before a piece is read. */
struct dti_regex_mark {
    uint32_t nodes, sets;
};
struct dti_regex_mark dti_regex_mark(const struct dti_regex_parser *parser);
/* The node after a piece that was read from `text` on, after node `from`. If the same was read
 * there before, it is the node of then, and this piece is thrown away. */
uint32_t dti_regex_share(struct dti_regex_parser *parser, uint32_t from, struct dti_regex_mark mark,
                         const char *text, struct dti_regex_piece piece);

/* Adds characters of ASCII; all others than those that there are. */
void dti_regex_include(struct dti_regex_characters *set, unsigned low, unsigned high);
void dti_regex_invert(struct dti_regex_characters *set);

#endif
