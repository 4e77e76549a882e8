#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where tools/mutate.py can plant a fault in a C file, and the text of the file with faults in it."""
import collections
import os
import re

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
         "&&": "||", "||": "&&"}
HEADER = """#ifndef DTI_MUTANT_H
#define DTI_MUTANT_H
#if defined(__NVPTX__) || defined(__CUDA_ARCH__)
#define dti_mutant(id) 0
#else
extern int dti_mutant_chosen;
extern unsigned char *dti_mutant_reached;
static inline int dti_mutant(int id) {
    if (!dti_mutant_reached[id]) dti_mutant_reached[id] = 1;
    return dti_mutant_chosen == id;
}
#endif
#endif
"""
def operands(cursor):
    return list(cursor.get_children())


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


class Finder:
    """Collects what can be planted in the functions of one file: (start, end, operator, text with \\0 for the original)."""

    def __init__(self, kinds, text, macros):
        self.kinds, self.text, self.macros, self.found = kinds, text, macros, []

    def part(self, cursor):
        start, end = span(cursor)
        return self.text[start:end].decode("utf-8", "replace")

    def add(self, cursor, operator, changed):
        start, end = span(cursor)
        if start < end and not any(low <= start and end <= high for low, high in self.macros):
            self.found.append((start, end, operator, changed))

    def binary(self, cursor):
        left, right = operands(cursor)
        between = self.text[span(left)[1]:span(right)[0]].decode("utf-8", "replace")
        sign = re.sub(r"/\*.*?\*/|\\\n|\s", "", between, flags=re.DOTALL).strip("()")
        if sign in SWAPS and cursor.type.kind.name != "POINTER":
            kind = {"&&": "and-or", "||": "and-or", "==": "equality", "!=": "equality"}.get(sign, "boundary" if sign[0] in "<>" and len(sign.strip("=")) == 1 else "arithmetic")
            at = span(left)[1] + between.index(sign) - span(cursor)[0]
            self.add(cursor, kind, ("swap", at, sign, SWAPS[sign]))

    def statement(self, cursor):
        name = cursor.kind.name
        if name == "CALL_EXPR" and cursor.type.kind.name == "VOID" or name == "COMPOUND_ASSIGNMENT_OPERATOR":
            self.add(cursor, "dropped", ("drop",))
        elif name == "BINARY_OPERATOR":
            left, right = operands(cursor)
            if self.text[span(left)[1]:span(right)[0]].strip(b" \n()") == b"=":
                self.add(cursor, "dropped", ("drop",))

    def node(self, cursor, parent, result):
        name, children = cursor.kind.name, operands(cursor)
        if name in ("STRUCT_DECL", "UNION_DECL", "ENUM_DECL", "STATIC_ASSERT", "CXX_UNARY_EXPR") or (name == "VAR_DECL" and cursor.storage_class.name == "STATIC"):
            return
        if name == "BINARY_OPERATOR" and len(children) == 2:
            self.binary(cursor)
        elif name == "UNARY_OPERATOR" and self.part(cursor).startswith("!"):
            self.add(cursor, "not", ("not",))
        elif name in ("IF_STMT", "WHILE_STMT", "CONDITIONAL_OPERATOR") and children:
            self.add(children[0], "negated", ("negate",))
        elif name == "INTEGER_LITERAL" and self.part(cursor)[:1].isdigit():
            self.add(cursor, "constant", ("constant",))
        elif name == "RETURN_STMT" and children and result == "enum dti_status" and self.part(children[0]) != "DTI_OK":
            self.add(children[0], "status", ("ok",))
        for index, child in enumerate(children):
            if name == "COMPOUND_STMT" or index == len(children) - 1 and name in ("IF_STMT", "FOR_STMT", "WHILE_STMT", "CASE_STMT", "DEFAULT_STMT"):
                self.statement(child)
            sized = name == "VAR_DECL" and b"=" not in self.text[cursor.location.offset:span(child)[0]]
            literal = name == "COMPOUND_LITERAL_EXPR" and child.kind.name != "INIT_LIST_EXPR"
            zeroed = name == "INIT_LIST_EXPR" and self.part(cursor).replace(" ", "") == "{0}"
            if not (sized or literal or zeroed or name == "CASE_STMT" and index == 0):
                self.node(child, cursor, result)


def candidates(index, path, arguments, wanted):
    """Yields (file, start, end, operator, change) for the functions that a translation unit has in the wanted files."""
    import clang.cindex as clang
    unit = index.parse(str(path), arguments, options=clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    macros, bodies = collections.defaultdict(list), []
    for cursor in unit.cursor.get_children():
        file = cursor.location.file and os.path.realpath(cursor.location.file.name)
        if file in wanted and cursor.kind.name == "MACRO_INSTANTIATION":
            macros[file].append(span(cursor))
        elif file in wanted and cursor.kind.name == "FUNCTION_DECL" and cursor.is_definition():
            bodies.append((file, cursor))
    for file, cursor in bodies:
        if any(low <= span(cursor)[0] and span(cursor)[1] <= high for low, high in macros[file]):
            continue
        low, high = span(cursor)
        finder = Finder(clang, wanted[file], [at for at in macros[file] if low <= at[0] < high])
        for child in operands(cursor):
            if child.kind.name == "COMPOUND_STMT":
                finder.node(child, cursor, cursor.result_type.spelling)
        yield from ((file, *found) for found in finder.found)


def changed_text(change, inner, number, draw):
    """The expression with the fault in it. inner(start, end) renders a part of the original."""
    ask, whole = "dti_mutant(%d)" % number, inner(0, None)
    if change[0] == "swap":
        at, sign = change[1], change[2]
        return "(%s ? (%s%s%s) : (%s))" % (ask, inner(0, at), change[3], inner(at + len(sign), None), whole)
    if change[0] == "drop":
        return "(%s ? (void)0 : (void)(%s))" % (ask, whole)
    if change[0] == "ok":
        return "(%s ? ((void)(%s), DTI_OK) : (%s))" % (ask, whole, whole)
    if change[0] == "constant":
        return "(%s ? ((%s) %s 1) : (%s))" % (ask, whole, draw, whole)
    return "(%s ^ !!(%s))" % (ask, whole)


def planted(text, faults):
    """The text of a file with faults in it: rows (id, start, end, change, draw), nested or apart."""
    def render(low, high, rows):
        out, at = [], low
        while rows:
            row = rows[0]
            within = [other for other in rows[1:] if other[2] <= row[2]]
            rows = [other for other in rows[1:] if other[2] > row[2]]
            number, start, end, change, draw = row

            def inner(first, last, start=start, end=end, within=within):
                low, high = start + first, end if last is None else start + last
                return render(low, high, [other for other in within if low <= other[1] and other[2] <= high])
            out += [text[at:start].decode(), changed_text(change, inner, number, draw)]
            at = end
        return "".join(out + [text[at:high].decode()])
    return render(0, len(text), sorted(faults, key=lambda row: (row[1], -row[2])))
