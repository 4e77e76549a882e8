# SPDX-License-Identifier: MIT
"""Reads LLVM IR as text (LLVM 14 to 19): constant globals and functions, each a dict of blocks of instructions.

Types are tuples: ("int", bits), ("float", bits), ("pointer",), ("vector", count, type), ("array", count, type),
("struct", [types], packed), ("void",). An instruction is an Instruction; what follows its name stays a list of words for
symbolic.py, which knows the grammar of each. Source: the LLVM Language Reference Manual."""
import collections
import re

Instruction = collections.namedtuple("Instruction", "target name words line")
Function = collections.namedtuple("Function", "name result parameters blocks")
Global = collections.namedtuple("Global", "name type words")
WORD = re.compile(r'''c"(?:[^"]*)" | [%@!]"[^"]*" | "[^"]*" | [%@]?[-+\w.$]+ | \.\.\. | [(),<>{}\[\]=*:!#|&]''', re.X)
FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
# Words between types and operands that change nothing about the value.
ATTRIBUTES = re.compile(r'''^(noundef|nonnull|nocapture|readonly|readnone|writeonly|noalias|zeroext|signext|inreg|returned|immarg|dso_local
    |local_unnamed_addr|unnamed_addr|tail|musttail|notail|fastcc|ccc|hidden|internal|private|external|volatile|inbounds|noinline|writable
    |captures|nofpclass|range|initializes|dead_on_unwind|\#\d+)$''', re.X)


class NotTranslated(Exception):
    """The text holds something that the translation has no rule for."""


def words_of(line):
    """The words of a line without comments and metadata."""
    line = re.sub(r";.*$", "", line) if '"' not in line else line
    line = re.sub(r",\s*![\w.]+( !\d+|\s*!\{.*\})?", "", line)
    return WORD.findall(line)


class Reader:
    """Takes words one after another."""

    def __init__(self, words, types):
        self.words, self.at, self.types = words, 0, types

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else None

    def take(self, wanted=None):
        word = self.peek()
        if word is None or wanted not in (None, word):
            raise NotTranslated("%r where %r was expected in: %s" % (word, wanted, " ".join(self.words)))
        self.at += 1
        return word

    def skip(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def flags(self, known):
        """Takes the words of `known` that stand here."""
        found = set()
        while self.peek() in known:
            found.add(self.take())
        return found

    def skip_attributes(self):
        """Attributes of parameters and calls: a word, or a word with parentheses."""
        while self.peek() is not None:
            word = self.peek()
            if word in ("align", "dereferenceable", "dereferenceable_or_null", "addrspace"):
                self.at += 1
                if self.skip("("):
                    while self.take() != ")":
                        pass
                else:
                    self.take()
            elif ATTRIBUTES.match(word):
                self.at += 1
                if word in ("captures", "nofpclass", "range", "initializes") and self.skip("("):
                    depth = 1
                    while depth:
                        depth += {"(": 1, ")": -1}.get(self.take(), 0)
            else:
                return

    def type(self):
        word = self.take()
        if re.match(r"i\d+$", word):
            found = ("int", int(word[1:]))
        elif word in FLOATS:
            found = ("float", FLOATS[word])
        elif word == "ptr":
            found = ("pointer",)
        elif word in ("void", "metadata", "label"):
            found = (word,)
        elif word == "<" and self.peek() == "{":
            found = self.struct(True)
            self.take(">")
        elif word in ("<", "["):
            count = int(self.take())
            self.take("x")
            found = ("vector" if word == "<" else "array", count, self.type())
            self.take(">" if word == "<" else "]")
        elif word == "{":
            self.at -= 1
            found = self.struct(False)
        elif word.startswith("%"):
            # what a pointer points to may be defined later
            found = ("opaque",) if self.peek() == "*" else self.types[word]
        else:
            raise NotTranslated("no type: %s in: %s" % (word, " ".join(self.words)))
        while self.peek() in ("*", "("):
            if self.skip("("):  # a function type, as calls through old pointers spell it
                depth = 1
                while depth:
                    depth += {"(": 1, ")": -1}.get(self.take(), 0)
            else:
                self.take("*")
                found = ("pointer",)
        return found

    def struct(self, packed):
        self.take("{")
        members = []
        while not self.skip("}"):
            members.append(self.type())
            self.skip(",")
        return ("struct", members, packed)


def size_of(kind):
    """Bytes of a type in memory, with x86-64's and AArch64's alignment."""
    if kind[0] in ("int", "float"):
        return 1 << max((kind[1] - 1).bit_length() - 3, 0)
    if kind[0] == "pointer":
        return 8
    if kind[0] == "vector":
        return (kind[1] * bits_of(kind[2]) + 7) // 8
    if kind[0] == "array":
        return kind[1] * size_of(kind[2])
    if kind[0] == "struct":
        end = offset_of(kind, len(kind[1]))
        step = align_of(kind)
        return (end + step - 1) // step * step
    raise NotTranslated("no size: %r" % (kind,))


def stored_size(kind):
    """Bytes that a load or store touches: of i24 three, where an array of them has four for each."""
    return (kind[1] + 7) // 8 if kind[0] == "int" else size_of(kind)


def bits_of(kind):
    return kind[1] if kind[0] in ("int", "float") else 8 * size_of(kind)


def align_of(kind):
    if kind[0] == "array":
        return align_of(kind[2])
    if kind[0] == "struct":
        return 1 if kind[2] else max([align_of(member) for member in kind[1]] + [1])
    return size_of(kind)


def offset_of(kind, member):
    """The offset of a struct's member; of the one after the last: where the members end."""
    at = 0
    for index, each in enumerate(kind[1]):
        step = 1 if kind[2] else align_of(each)
        at = (at + step - 1) // step * step
        if index == member:
            return at
        at += size_of(each)
    return at


class Types(dict):
    """Named types, each read when it is first used: a text may use them before it defines them."""

    def __init__(self):
        super().__init__()
        self.words = {}

    def __missing__(self, name):
        if name not in self.words:
            raise NotTranslated("no type: " + name)
        self[name] = ("opaque",)  # a pointer to it inside of it needs no more
        reader = Reader(self.words[name], self)
        if reader.peek() != "opaque":
            self[name] = reader.type()
        return self[name]


class Module:
    """types, globals and functions of a text, by name ("%struct.x", "@table", "@function")."""

    def __init__(self, text):
        self.types, self.globals, self.functions = Types(), {}, {}
        for line in re.findall(r"^%.* = type .*$", text, re.M):
            words = words_of(line)
            self.types.words[words[0]] = words[3:]
        lines = iter(text.split("\n"))
        for line in lines:
            if line.startswith("define"):
                self.read_function(line, lines)
            elif line.startswith("@"):
                self.read_definition(line)

    def read_definition(self, line):
        words = words_of(line)
        if "constant" in words:
            reader = Reader(words[words.index("constant") + 1:], self.types)
            kind = reader.type()
            self.globals[words[0]] = Global(words[0], kind, reader.words[reader.at:])

    def read_function(self, line, lines):
        words = words_of(line)
        name = next(word for word in words if word.startswith("@"))
        at = words.index(name)
        reader = Reader(words[1:at], self.types)
        reader.skip_attributes()
        result = reader.type()
        reader, parameters = Reader(words[at + 1:], self.types), []
        reader.take("(")
        while not reader.skip(")"):
            kind = reader.type()
            reader.skip_attributes()
            parameters.append((kind, reader.take() if (reader.peek() or "").startswith("%") else "%" + str(len(parameters))))
            reader.skip(",")
        label = "%" + str(sum(word[1:].isdigit() for _, word in parameters))
        blocks = collections.OrderedDict()
        pending = ""
        for line in lines:
            if line.startswith("}"):
                break
            found = re.match(r'("[^"]*"|[-\w.$]+):', line)
            if found:
                label = "%" + found[1]
                continue
            pending += line
            if line.rstrip().endswith("[") or pending.count("[") > pending.count("]"):
                pending += " "  # a switch spans lines
                continue
            words, pending = words_of(pending), ""
            if not words:
                continue
            target = words[0] if len(words) > 1 and words[1] == "=" else None
            body = words[2:] if target else words
            while ATTRIBUTES.match(body[0]):
                body = body[1:]
            blocks.setdefault(label, []).append(Instruction(target, body[0], body[1:], line.strip()))
        self.functions[name] = Function(name, result, parameters, blocks)
