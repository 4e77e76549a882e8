# SPDX-License-Identifier: MIT
"""Runs a function of LLVM IR on symbolic inputs: every value becomes a term of bit vectors and floats, for all inputs at once.

A scalar is Scalar(bits, poison): what LLVM leaves undefined (an overflow where nsw or nuw stands, a shift too far, a
division that exact forbids) poisons the result; select takes only the chosen arm's poison. Run.undefined collects what must never
happen: a branch on poison, division by zero, access outside of memory, an unreachable place. A theorem holds only if none of it can.
Vectors, arrays and structs are lists of scalars (lane 0 first); floats are their bits. A NaN that an operation makes has any
payload, which is more than the machine does. Memory is bytes under (base, constant offset); constant globals may be read at a
symbolic index. Loops are unrolled; one whose end depends on the input ends where a solver finds that it cannot go on under
Run.assumptions. Source: the LLVM Language Reference Manual."""
import collections
import functools
import struct

import z3

from llvm_text import NotTranslated, Reader, bits_of, offset_of, size_of, stored_size

Scalar = collections.namedtuple("Scalar", "bits poison")
Pointer = collections.namedtuple("Pointer", "base offset poison")
PointerByte = collections.namedtuple("PointerByte", "pointer index poison")  # of a pointer in memory
SORTS = {16: (5, 11), 32: (8, 24), 64: (11, 53)}
NEAREST_EVEN = z3.RNE()
MOST_STEPS = 200000
FREE_TURNS = 100  # of a loop, before a solver is asked whether there can be more


def sort_of(bits):
    return z3.FPSort(*SORTS[bits])


def as_float(bits):
    return z3.fpBVToFP(bits, sort_of(bits.size()))


def either(*conditions):
    """Or, where Python's False and True stay what they are."""
    left = [each for each in conditions if each is not False]
    if any(each is True for each in left):
        return True
    return False if not left else left[0] if len(left) == 1 else z3.Or(*left)


def both(first, second):
    if first is False or second is False:
        return False
    return second if first is True else first if second is True else z3.And(first, second)


def negation(condition):
    return not condition if isinstance(condition, bool) else z3.Not(condition)


def united(paths):
    """Whether one of these holds: two that a branch parted are the path before it again. Paths that met
    earlier without making one whole are an Or; at last they are taken apart, since the missing one may be among the others."""
    for turn in range(3):  # those that leave a loop meet from the last one on
        if turn == 2 and len(paths) > 1:
            paths = [part for path in paths for part in (path.children() if not isinstance(path, bool) and z3.is_or(path) else [path])]
        left = []
        for path in reversed(paths):
            left.append(path)
            while len(left) > 1:
                before = parted(left[-1], left[-2])
                before = parted(left[-2], left[-1]) if before is None else before
                if before is None:
                    break
                left[-2:] = [before]
        paths = left
    return either(*paths)


def parted(one, other):
    """The path that had the condition of `one`, and in `other` its opposite; None if there is none."""
    if isinstance(one, bool) or isinstance(other, bool):
        return None
    if z3.is_not(other) and other.arg(0).eq(one):
        return True
    if all(z3.is_and(each) and each.num_args() == 2 for each in (one, other)) and one.arg(0).eq(other.arg(0)) and (
            z3.is_not(other.arg(1)) and other.arg(1).arg(0).eq(one.arg(1))):
        return one.arg(0)
    return None


def flag(condition):
    """A condition as one bit."""
    if isinstance(condition, bool):
        return z3.BitVecVal(int(condition), 1)
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def constant(bits):
    """The number of a term, or None."""
    simple = z3.simplify(bits)
    return simple.as_long() if z3.is_bv_value(simple) else None


def condition_of(bit):
    """A bit as a condition: True, False, or a term."""
    simple = z3.simplify(bit == 1)
    return True if z3.is_true(simple) else False if z3.is_false(simple) else simple


def settled(condition):
    """The same, as True or False where it is constant."""
    return condition if isinstance(condition, bool) else condition_of(flag(condition))


def merged(condition, first, second):
    """first where the condition holds, else second: of two values of one type."""
    if condition is True or condition is False:
        return first if condition else second
    if isinstance(first, list):
        return [merged(condition, one, other) for one, other in zip(first, second)]
    poison = first.poison if first.poison is second.poison else (
        either(both(condition, first.poison), both(negation(condition), second.poison)))
    if isinstance(first, PointerByte) or isinstance(second, PointerByte):
        if first != second:
            raise NotTranslated("a choice between two pointers in memory")
        return first
    if isinstance(first, Pointer):
        if first.base != second.base:
            raise NotTranslated("a choice between two objects")
        return Pointer(first.base, z3.If(condition, first.offset, second.offset), poison)
    same = first.bits.eq(second.bits)
    return Scalar(first.bits if same else z3.If(condition, first.bits, second.bits), poison)


def join(parts):
    """One term of parts, the lowest first. Neighbouring pieces of one term are joined as such: simplifying would push them
    into its operations."""
    joined = []
    for part in parts:
        if joined and all(each.decl().kind() == z3.Z3_OP_EXTRACT for each in (part, joined[-1])) and (
                part.arg(0).eq(joined[-1].arg(0)) and part.params()[1] == joined[-1].params()[0] + 1):
            part = z3.Extract(part.params()[0], joined.pop().params()[1], part.arg(0))
        joined.append(part)
    parts = [part.arg(0) if part.decl().kind() == z3.Z3_OP_EXTRACT and part.size() == part.arg(0).size() else part for part in joined]
    return z3.Concat(*reversed(parts)) if len(parts) > 1 else parts[0]


def piece(bits, at, count):
    return bits if count == bits.size() else z3.Extract(at + count - 1, at, bits)


def lookup(entries, index, bit):
    """entries[index] as a tree of choices by the bits of the index, highest first. bit: the highest that may be set."""
    if len(entries) == 1:
        return entries[0]
    half = 1 << bit
    if len(entries) <= half:
        return lookup(entries, index, bit - 1)
    low, high = lookup(entries[:half], index, bit - 1), lookup(entries[half:], index, bit - 1)
    return low if low.eq(high) else z3.If(z3.Extract(bit, bit, index) == 1, high, low)


class Run:
    """One execution. axioms: what defines the fresh variables. undefined: conditions that must never hold. calls: functions
    for names of intrinsics that this file does not know, or of functions in place of their own text, called with (run, result
    type, arguments, path)."""

    def __init__(self, module, calls=None):
        self.module, self.calls = module, dict(INTRINSICS, **(calls or {}))
        self.axioms, self.undefined, self.memory, self.assumptions, self.addresses = [], [], {"outside": {}}, [], {}
        self.pointers = {}
        self.count, self.steps = 0, 0

    # What a caller gives and takes.

    def object(self, name, data):
        """New memory with these bytes (terms of 8 bits, or None where nothing was written); a pointer to it."""
        self.memory[name] = dict(enumerate(data))
        return Pointer(name, z3.BitVecVal(0, 64), False)

    def elements(self, name, width, first=0):
        """An object's elements of `width` bits, as terms."""
        stored, step = self.memory[name], width // 8
        return [join([stored[at + i].bits for i in range(step)]) for at in range(first, len(stored) // step * step, step)]

    def call(self, name, arguments, path=True):
        """Runs a function; arguments: terms, Scalars, lists of them, or pointers. Returns its value (None for void)."""
        function = self.module.functions["@" + name]
        return Frame(self, function, [wrapped(each) for each in arguments], path).run()

    # What instructions use.

    def address(self, base):
        """Where an object is: any address, unless addresses names one."""
        if base == "null" or base == "outside":
            return z3.BitVecVal(0, 64)
        if base not in self.addresses:
            self.addresses[base] = self.fresh("address", 64)
        return self.addresses[base]

    def fresh(self, kind, width):
        self.count += 1
        return z3.BitVec("%s!%d" % (kind, self.count), width)

    def float_bits(self, value, width):
        """The bits of a float: a variable that is defined by its value; of a NaN any payload."""
        bits = self.fresh("float", width)
        self.axioms.append(as_float(bits) == value)
        return bits

    def resized_float(self, bits, width):
        """The nearest float of another width."""
        return self.float_bits(z3.fpFPToFP(NEAREST_EVEN, as_float(bits), sort_of(width)), width)

    def possible(self, condition):
        """Whether a condition may hold; asked of a solver, with a limit of time, where it is not constant."""
        if isinstance(condition, bool):
            return condition
        solver = z3.Solver()
        solver.set("timeout", 5000)
        solver.add(condition, *self.assumptions)
        return solver.check() != z3.unsat

    def computed_float(self, value, first, _second):
        """The bits of a sum, difference, product or quotient."""
        return self.float_bits(value, first.size())

    def must_not(self, condition, path):
        wrong = both(path, condition)
        if wrong is not False:
            self.undefined.append(z3.BoolVal(True) if wrong is True else wrong)

    def place(self, pointer, path):
        self.must_not(pointer.poison, path)
        offset = constant(pointer.offset)
        if offset is None:
            raise NotTranslated("an address that depends on the input, in " + str(pointer.base))
        return offset - (1 << 64) if offset >> 63 else offset

    def load(self, kind, pointer, path):
        if isinstance(pointer.base, str) and pointer.base in self.module.globals:
            return self.load_constant(kind, pointer, path)
        at = self.place(pointer, path)
        return self.value_of_bytes(kind, [self.byte(pointer.base, at + i, path) for i in range(stored_size(kind))])

    def byte(self, base, at, path):
        found = self.memory[base].get(at)
        if at not in self.memory[base]:
            self.must_not(True, path)  # outside of the object
            return Scalar(self.fresh("outside", 8), False)
        return Scalar(self.fresh("unwritten", 8), True) if found is None else wrapped(found)

    def store(self, value, kind, pointer, path, mask=True):
        if pointer.base in self.module.globals:
            raise NotTranslated("a write to a constant")
        at, path = self.place(pointer, path), both(path, mask)
        if path is False:
            return
        for i, byte in enumerate(self.bytes_of_value(value, kind)):
            old = self.byte(pointer.base, at + i, path) if path is not True or at + i not in self.memory[pointer.base] else byte
            self.memory[pointer.base][at + i] = merged(path, byte, old)

    def load_constant(self, kind, pointer, path):
        entry = self.module.globals[pointer.base]
        data, step = initial_bytes(entry, self.module.types), stored_size(kind)
        self.must_not(pointer.poison, path)
        known = constant(pointer.offset)
        if known is not None:
            self.must_not(known + step > len(data), path)
            parts = [wrapped(z3.BitVecVal(byte, 8)) for byte in data[known:known + step].ljust(step, b"\0")]
            for at, target in self.constant_pointers(entry).items():
                for i in range(max(at, known), min(at + 8, known + step)):
                    parts[i - known] = PointerByte(target, i - at, False)
            return self.value_of_bytes(kind, parts)
        # Symbolic: only whole elements, all of one size.
        shift = step.bit_length() - 1
        if 1 << shift != step or kind[0] not in ("int", "float"):
            raise NotTranslated("a symbolic read of " + repr(kind))
        entries = [z3.BitVecVal(int.from_bytes(data[i:i + step], "little"), 8 * step) for i in range(0, len(data) - step + 1, step)]
        index = z3.LShR(pointer.offset, shift)
        self.must_not(either(z3.UGE(index, len(entries)), z3.URem(pointer.offset, z3.BitVecVal(step, 64)) != 0), path)
        found = lookup(entries, index, max((len(entries) - 1).bit_length() - 1, 0))
        return Scalar(piece(found, 0, bits_of(kind)), False)

    def constant_pointers(self, entry):
        """{offset: pointer} of a constant global."""
        if entry.name not in self.pointers:
            found = {}
            bytes_of_literal(Reader(entry.words, self.module.types), entry.type, 0, found)
            self.pointers[entry.name] = {at: Pointer(name, z3.BitVecVal(0, 64), False) for at, name in found.items()}
        return self.pointers[entry.name]

    def value_of_bytes(self, kind, parts):
        poison = either(*[part.poison for part in parts])
        if kind[0] in ("int", "float"):
            return Scalar(piece(z3.simplify(join([part.bits for part in parts])), 0, bits_of(kind)), poison)
        if kind[0] == "pointer":
            return pointer_of_bytes(parts)
        if any(isinstance(part, PointerByte) for part in parts) and kind[0] in ("int", "float"):
            if len(parts) > 1:
                raise NotTranslated("a pointer read as a number")
            return parts[0]
        if kind[0] == "struct":
            return [self.value_of_bytes(member, parts[offset_of(kind, i):][:size_of(member)]) for i, member in enumerate(kind[1])]
        if kind[0] == "vector" and bits_of(kind[2]) % 8:
            whole = join([part.bits for part in parts])
            return [Scalar(piece(whole, i * bits_of(kind[2]), bits_of(kind[2])), poison) for i in range(kind[1])]
        step = bits_of(kind[2]) // 8 if kind[0] == "vector" else size_of(kind[2])
        return [self.value_of_bytes(kind[2], parts[i * step:][:step]) for i in range(kind[1])]

    def bytes_of_value(self, value, kind):
        if isinstance(value, Pointer):
            return [PointerByte(value, i, value.poison) for i in range(8)]
        if isinstance(value, PointerByte):
            return [value]
        if isinstance(value, list):
            if kind[0] == "struct":
                found = [wrapped(z3.BitVecVal(0, 8))] * size_of(kind)
                for i, member in enumerate(kind[1]):
                    found[offset_of(kind, i):offset_of(kind, i) + size_of(member)] = self.bytes_of_value(value[i], member)
                return found
            if kind[0] == "vector" and bits_of(kind[2]) % 8:
                value = Scalar(join([lane.bits for lane in value]), either(*[lane.poison for lane in value]))
            else:
                return [byte for lane in value for byte in self.bytes_of_value(lane, kind[2])]
        size = 8 * stored_size(kind)
        bits = value.bits if value.bits.size() >= size else z3.ZeroExt(size - value.bits.size(), value.bits)
        return [Scalar(piece(bits, i, 8), value.poison) for i in range(0, bits.size(), 8)]


def pointer_of_bytes(parts):
    """The pointer that was stored as these bytes, or the null pointer."""
    if all(isinstance(part, PointerByte) and part.index == i and part.pointer is parts[0].pointer for i, part in enumerate(parts)):
        return parts[0].pointer
    if not any(isinstance(part, PointerByte) for part in parts) and all(constant(part.bits) == 0 for part in parts):
        return Pointer("null", z3.BitVecVal(0, 64), either(*[part.poison for part in parts]))
    raise NotTranslated("a pointer that no store made")


def wrapped(value):
    if isinstance(value, (Scalar, Pointer, PointerByte)):
        return value
    return [wrapped(each) for each in value] if isinstance(value, (list, tuple)) else Scalar(value, False)


def initial_bytes(entry, types):
    """The bytes of a constant global."""
    return bytes_of_literal(Reader(entry.words, types), entry.type)


def bytes_of_literal(reader, kind, start=0, pointers=None):
    """pointers: receives {offset: name} of those that are the address of a whole object; start: the offset of this literal."""
    if kind[0] == "pointer":
        depth, words = 0, []
        while depth or reader.peek() not in (",", "]", "}", ">", None):
            words.append(reader.take())
            depth += {"(": 1, ")": -1}.get(words[-1], 0)
        if pointers is not None and words != ["null"]:
            pointers[start] = words[0] if len(words) == 1 else "an address that is computed: " + " ".join(words)
        return bytes(8)
    word, size = reader.take(), size_of(kind)
    if word in ("zeroinitializer", "null"):
        return bytes(size)
    if word.startswith('c"'):
        data, text, i = bytearray(), word[2:-1], 0
        while i < len(text):
            data.append(int(text[i + 1:i + 3], 16) if text[i] == "\\" else ord(text[i]))
            i += 3 if text[i] == "\\" else 1
        return bytes(data)
    if word in ("[", "<", "{"):
        packed = word == "<" and reader.skip("{")
        data, index, close = bytearray(size), 0, {"[": "]", "<": ">", "{": "}"}["{" if packed else word]
        while not reader.skip(close):
            member = reader.type()
            at = offset_of(kind, index) if kind[0] == "struct" else index * size_of(kind[2])
            data[at:at + size_of(member)] = bytes_of_literal(reader, member, start + at, pointers)
            reader.skip(",")
            index += 1
        if packed:
            reader.take(">")
        return bytes(data)
    if word in ("undef", "poison"):
        return bytes(size)
    return literal_bits(word, kind).to_bytes(size, "little")


def literal_bits(word, kind):
    """The bits of a number as it stands in the text."""
    if word in ("true", "false"):
        return int(word == "true")
    if kind[0] == "int":
        return int(word) & ((1 << kind[1]) - 1)
    if word.startswith("0xH") or word.startswith("0xR"):
        return int(word[3:], 16)
    number = struct.unpack("<d", int(word[2:], 16).to_bytes(8, "little"))[0] if word.startswith("0x") else float(word)
    if kind[1] == 64:
        return int(word[2:], 16) if word.startswith("0x") else int.from_bytes(struct.pack("<d", number), "little")
    if number != number:  # a NaN of 32 bits stands in the upper bits of one of 64
        wide = int(word[2:], 16)
        return (wide >> 63 << 31) | 0x7F800000 | (wide >> 29 & 0x7FFFFF)
    return int.from_bytes(struct.pack("<e" if kind[1] == 16 else "<f", number), "little")


class Frame:
    """A call: the values of one function's names."""

    def __init__(self, run, function, arguments, path):
        self.owner, self.function, self.path = run, function, path
        self.values = {name: value for (_, name), value in zip(function.parameters, arguments)}
        self.returned, self.turns = [], 0

    def run(self):
        """Executes the blocks in an order in which every block comes after those that lead to it. A block may be entered again:
        so do loops. An edge keeps the values that it comes with, where another turn may change them."""
        order = {label: at for at, label in enumerate(topological(self.function))}
        entry = next(iter(self.function.blocks))
        loops = any(order[target] <= order[label] for label in order for target in targets_of(self.function.blocks[label][-1]))
        waiting = {entry: [(None, self.path, None)]}
        while waiting:
            label = min(waiting, key=lambda each: order[each])
            edges = waiting.pop(label)
            self.path = united([path for _, path, _ in edges])
            if not isinstance(self.path, bool):
                simple = condition_of(flag(self.path))
                self.path = simple if isinstance(simple, bool) else self.path  # as it is: united() looks at its form
            if self.path is False:
                continue
            self.join_values(edges)
            for target, condition in self.block(label, edges):
                path = both(self.path, condition)
                if loops and not isinstance(path, bool) and not self.goes_on(label, target, order, path):
                    continue
                if path is not False:
                    kept = dict(self.values) if loops and not isinstance(path, bool) else None
                    waiting.setdefault(target, []).append((label, path, kept))
        if not self.returned:
            return None
        value = self.returned[-1][1]
        for path, other in reversed(self.returned[:-1]):
            value = merged(path, other, value) if value is not None else None
        return value

    def goes_on(self, label, target, order, path):
        """Whether an edge may be taken: of a loop a solver is asked, under assumptions at once, else after many turns."""
        if self.owner.assumptions:
            return self.owner.possible(path)
        if order[target] > order[label]:
            return True
        self.turns += 1
        return self.turns < FREE_TURNS or self.owner.possible(path)

    def join_values(self, edges):
        """The values where edges meet, of which some left a loop in an earlier turn than others."""
        if all(kept is None for _, _, kept in edges):
            return
        for name in list(self.values):
            found = [(path, (self.values if kept is None else kept).get(name)) for _, path, kept in edges]
            found = [(path, value) for path, value in found if value is not None]
            if any(value is not found[0][1] for _, value in found):
                try:
                    self.values[name] = functools.reduce(lambda value, each: merged(each[0], each[1], value), found[1:], found[0][1])
                except NotTranslated:
                    del self.values[name]  # two pointers: an error only where it is used
            elif found:
                self.values[name] = found[0][1]

    def block(self, label, edges):
        incoming = {}
        for instruction in self.function.blocks[label]:
            self.owner.steps += 1
            if self.owner.steps > MOST_STEPS:
                raise NotTranslated("too many steps")
            reader = Reader(instruction.words, self.owner.module.types)
            if instruction.name == "phi":
                incoming[instruction.target] = self.phi(reader, edges)
                continue
            self.values.update(incoming)
            incoming = {}
            if instruction.name in ENDS:
                return ENDS[instruction.name](self, reader)
            rule = RULES.get(instruction.name)
            if rule is None:
                raise NotTranslated("no rule for: " + instruction.line)
            value = rule(self, reader, instruction.name)
            if instruction.target:
                self.values[instruction.target] = value
        raise NotTranslated("a block without an end")

    def phi(self, reader, edges):
        strict(reader)
        kind, by_label = reader.type(), {}
        while reader.skip("["):
            at = reader.at
            depth = 0
            while depth or reader.peek() != ",":
                depth += {"(": 1, "<": 1, "[": 1, "{": 1, ")": -1, ">": -1, "]": -1, "}": -1}.get(reader.take(), 0)
            reader.take(",")
            by_label[reader.take()] = at
            reader.take("]")
            reader.skip(",")
        value, present = None, self.values
        for label, path, kept in edges:
            reader.at = by_label[label]
            self.values = present if kept is None else kept
            found = self.operand(reader, kind)
            value = found if value is None else merged(path, found, value)
        self.values = present
        return value

    def operand(self, reader, kind):
        """The value that stands here, of this type."""
        word = reader.take()
        if word.startswith("%"):
            return self.values[word]
        if kind[0] == "pointer":
            return self.pointer(reader, word)
        if kind[0] in ("vector", "array", "struct"):
            members = kind[1] if kind[0] == "struct" else [kind[2]] * kind[1]
            if word in ("zeroinitializer", "undef", "poison"):
                return [self.simple(member, word) for member in members]
            if word == "splat":
                reader.take("(")
                value = self.operand(reader, reader.type())
                reader.take(")")
                return [value] * kind[1]
            if word not in ("<", "[", "{"):
                raise NotTranslated("no constant: " + " ".join(reader.words))
            value = []
            while reader.peek() not in (">", "]", "}"):
                value.append(self.operand(reader, reader.type()))
                reader.skip(",")
            reader.take()
            return value
        return self.simple(kind, word)

    def simple(self, kind, word):
        if kind[0] in ("vector", "array", "struct"):
            return [self.simple(member, word) for member in (kind[1] if kind[0] == "struct" else [kind[2]] * kind[1])]
        width = bits_of(kind)
        if word in ("undef", "poison"):
            return Scalar(self.owner.fresh("undefined", width), word == "poison")
        return Scalar(z3.BitVecVal(0 if word == "zeroinitializer" else literal_bits(word, kind), width), False)

    def pointer(self, reader, word):
        if word.startswith("@"):
            return Pointer(word, z3.BitVecVal(0, 64), False)
        if word in ("null", "undef", "poison"):
            return Pointer("null", z3.BitVecVal(0, 64), word == "poison")
        if word == "getelementptr":
            reader.flags({"inbounds", "nuw", "nusw"})
            reader.take("(")
            value = self.element_pointer(reader)
            reader.take(")")
            return value
        if word == "bitcast":
            reader.take("(")
            value = self.operand(reader, reader.type())
            reader.take("to")
            reader.type()
            reader.take(")")
            return value
        raise NotTranslated("no pointer: " + word)

    def element_pointer(self, reader):
        kind = reader.type()
        reader.take(",")
        start = self.operand(reader, reader.type())
        offset, first = start.offset, True
        while reader.skip(","):
            index = self.operand(reader, reader.type())
            if isinstance(index, list):
                raise NotTranslated("a vector of pointers")
            wide = index.bits if index.bits.size() == 64 else z3.SignExt(64 - index.bits.size(), index.bits)
            if not first and kind[0] == "struct":
                member = constant(wide)
                offset, kind = offset + offset_of(kind, member), kind[1][member]
                continue
            kind, first = (kind if first else kind[2]), False
            offset = offset + wide * size_of(kind)
        return Pointer(start.base, z3.simplify(offset), start.poison)

    def operands(self, reader, count):
        """`count` operands of one type that stands once."""
        kind = reader.type()
        found = [self.operand(reader, kind)]
        for _ in range(count - 1):
            reader.take(",")
            found.append(self.operand(reader, kind))
        return kind, found


FAST = {"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"}


def lanes(function, *values):
    """function for each lane, where the values are vectors."""
    if isinstance(values[0], list):
        return [function(*each) for each in zip(*values)]
    return function(*values)


def binary(frame, reader, name):
    flags = reader.flags({"nuw", "nsw", "exact", "disjoint"})
    _, (first, second) = frame.operands(reader, 2)
    return lanes(lambda a, b: arithmetic(frame, name, flags, a, b), first, second)


def arithmetic(frame, name, flags, a, b):
    x, y, width = a.bits, b.bits, a.bits.size()
    bits = BINARY[name](x, y)
    poison = [a.poison, b.poison]
    if name in ("shl", "lshr", "ashr") and not (constant(y) is not None and constant(y) < width):
        poison.append(z3.UGE(y, width))
    if name in ("udiv", "urem", "sdiv", "srem"):
        frame.owner.must_not(either(b.poison, y == 0), frame.path)
        if name[0] == "s":
            frame.owner.must_not(z3.And(x == 1 << (width - 1), y == -1), frame.path)
    for each in flags:
        poison.append(POISON[name, each](x, y, bits))
    if z3.is_bv_value(x) and z3.is_bv_value(y):  # such as the counter of a loop
        return Scalar(z3.simplify(bits), settled(either(*poison)))
    return Scalar(bits, either(*poison))


def wide(extend, operation):
    """Poison where the result of twice the width differs from the extended one."""
    def differs(x, y, bits):
        n = x.size()
        return operation(extend(n, x), extend(n, y)) != extend(n, bits)
    return differs


BINARY = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
          "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "shl": lambda a, b: a << b, "lshr": z3.LShR,
          "ashr": lambda a, b: a >> b, "udiv": z3.UDiv, "urem": z3.URem, "sdiv": lambda a, b: a / b, "srem": z3.SRem}
POISON = {("shl", "nuw"): lambda x, y, bits: z3.LShR(bits, y) != x, ("shl", "nsw"): lambda x, y, bits: bits >> y != x,
          ("lshr", "exact"): lambda x, y, bits: bits << y != x, ("ashr", "exact"): lambda x, y, bits: bits << y != x,
          ("udiv", "exact"): lambda x, y, bits: bits * y != x, ("sdiv", "exact"): lambda x, y, bits: bits * y != x,
          ("or", "disjoint"): lambda x, y, bits: x & y != 0}
for _name in ("add", "sub", "mul"):
    POISON[_name, "nuw"] = wide(z3.ZeroExt, BINARY[_name])
    POISON[_name, "nsw"] = wide(z3.SignExt, BINARY[_name])

COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "ugt": z3.UGT, "uge": z3.UGE, "ult": z3.ULT, "ule": z3.ULE,
               "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b, "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b}


def integer_comparison(frame, reader, _name):
    reader.flags({"samesign"})
    test = COMPARISONS[reader.take()]
    kind, (first, second) = frame.operands(reader, 2)
    if kind[0] == "pointer":
        if first.base != second.base:
            if "null" not in (first.base, second.base) or test not in (COMPARISONS["eq"], COMPARISONS["ne"]):
                raise NotTranslated("a comparison of two objects")
            return Scalar(flag(test is COMPARISONS["ne"]), either(first.poison, second.poison))
        first, second = [Scalar(each.offset, each.poison) for each in (first, second)]
    return lanes(lambda a, b: Scalar(flag(test(a.bits, b.bits)), either(a.poison, b.poison)), first, second)


def unordered(a, b):
    return z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b))


ORDERED = {"eq": z3.fpEQ, "gt": z3.fpGT, "ge": z3.fpGEQ, "lt": z3.fpLT, "le": z3.fpLEQ,
           "ne": lambda a, b: z3.And(z3.Not(z3.fpEQ(a, b)), z3.Not(unordered(a, b)))}


def float_comparison(frame, reader, _name):
    strict(reader)
    name = reader.take()
    _, (first, second) = frame.operands(reader, 2)

    def compare(a, b):
        x, y = as_float(a.bits), as_float(b.bits)
        if name in ("ord", "uno"):
            found = unordered(x, y) if name == "uno" else z3.Not(unordered(x, y))
        else:
            found = ORDERED[name[1:]](x, y)
            found = z3.Or(found, unordered(x, y)) if name[0] == "u" else found
        return Scalar(flag(found), either(a.poison, b.poison))
    return lanes(compare, first, second)


def strict(reader):
    loose = reader.flags(FAST)
    if loose:
        raise NotTranslated("arithmetic that is not strict: " + " ".join(sorted(loose)))


FLOAT_BINARY = {"fadd": z3.fpAdd, "fsub": z3.fpSub, "fmul": z3.fpMul, "fdiv": z3.fpDiv}


def float_binary(frame, reader, name):
    strict(reader)
    _, (first, second) = frame.operands(reader, 2)
    return lanes(lambda a, b: Scalar(frame.owner.computed_float(
        FLOAT_BINARY[name](NEAREST_EVEN, as_float(a.bits), as_float(b.bits)), a.bits, b.bits), either(a.poison, b.poison)), first, second)


def float_result(run, value, width, *operands):
    return Scalar(run.float_bits(value, width), either(*[each.poison for each in operands]))


def float_negation(frame, reader, _name):
    strict(reader)
    _, (value,) = frame.operands(reader, 1)
    return lanes(lambda a: Scalar(a.bits ^ (1 << (a.bits.size() - 1)), a.poison), value)


def choice(frame, reader, _name):
    strict(reader)
    condition = frame.operand(reader, reader.type())
    found = []
    for _ in range(2):
        reader.take(",")
        found.append(frame.operand(reader, reader.type()))

    def choose(bit, a, b):
        value = merged(condition_of(bit.bits), a, b)
        if bit.poison is False:
            return value
        if isinstance(value, (list, Pointer)):
            raise NotTranslated("a choice by poison")
        return Scalar(value.bits, either(bit.poison, value.poison))
    return lanes(choose, condition, *found) if isinstance(condition, list) else choose(condition, *found)


def conversion(frame, reader, name):
    reader.flags({"nuw", "nsw", "nneg"} | FAST)
    kind = reader.type()
    value = frame.operand(reader, kind)
    reader.take("to")
    target = reader.type()
    if name == "bitcast":
        return recast(frame.owner, value, kind, target)
    if name == "ptrtoint":
        return Scalar(piece(frame.owner.address(value.base) + value.offset, 0, bits_of(target)), value.poison)
    if name == "inttoptr":  # for places that are only prefetched: any access is outside of all objects
        return Pointer("outside", value.bits, value.poison)
    each = target[2] if target[0] == "vector" else target
    return lanes(lambda a: CONVERSIONS[name](frame.owner, a, bits_of(each)), value)


def resized(extend):
    return lambda run, a, width: Scalar(extend(width - a.bits.size(), a.bits), a.poison)


def to_integer(operation, low, high):
    """Poison for NaN, and where the integral part is outside of the integers' range."""
    def convert(run, a, width):
        value, sort = as_float(a.bits), sort_of(a.bits.size())
        least, end = low(width), high(width) + 1
        has_next = abs(least - 1) < 1 << sort.sbits()  # whether the sort has least - 1; otherwise no number is between
        above = z3.fpGT(value, z3.FPVal(least - 1, sort)) if has_next else z3.fpGEQ(value, z3.FPVal(least, sort))
        inside = z3.And(above, z3.fpLT(value, z3.FPVal(end, sort)))
        return Scalar(operation(z3.RTZ(), value, z3.BitVecSort(width)), either(a.poison, z3.Not(inside)))
    return convert


CONVERSIONS = {
    "zext": resized(z3.ZeroExt), "sext": resized(z3.SignExt),
    "trunc": lambda run, a, width: Scalar(z3.Extract(width - 1, 0, a.bits), a.poison),
    "fpext": lambda run, a, width: Scalar(run.resized_float(a.bits, width), a.poison),
    "fptrunc": lambda run, a, width: Scalar(run.resized_float(a.bits, width), a.poison),
    "sitofp": lambda run, a, width: float_result(run, z3.fpSignedToFP(NEAREST_EVEN, a.bits, sort_of(width)), width, a),
    "uitofp": lambda run, a, width: float_result(run, z3.fpUnsignedToFP(NEAREST_EVEN, a.bits, sort_of(width)), width, a),
    "fptosi": to_integer(z3.fpToSBV, lambda n: -(1 << (n - 1)), lambda n: (1 << (n - 1)) - 1),
    "fptoui": to_integer(z3.fpToUBV, lambda n: 0, lambda n: (1 << n) - 1),
}


def recast(run, value, kind, target):
    if kind[0] == "pointer":
        return value
    if kind == target or (kind[0] != "vector" and target[0] != "vector"):
        return value
    if kind[0] == target[0] == "vector" and bits_of(kind[2]) == bits_of(target[2]):
        return value
    parts = value if isinstance(value, list) else [value]
    count, step = (target[1], bits_of(target[2])) if target[0] == "vector" else (1, bits_of(target))
    own = parts[0].bits.size()
    found = []
    for i in range(count):
        of = parts[i * step // own:(i * step + step + own - 1) // own]
        whole = join([part.bits for part in of])
        found.append(Scalar(piece(whole, i * step % own if step < own else 0, step), either(*[part.poison for part in of])))
    return found if target[0] == "vector" else found[0]


def extract(frame, reader, name):
    vector = frame.operand(reader, reader.type())
    if name == "extractvalue":
        while reader.skip(","):
            vector = vector[int(reader.take())]
        return vector
    reader.take(",")
    index = constant(frame.operand(reader, reader.type()).bits)
    if index is None:
        raise NotTranslated("a lane chosen by the input")
    return vector[index]


def insert(frame, reader, name):
    vector = list(frame.operand(reader, reader.type()))
    reader.take(",")
    value = frame.operand(reader, reader.type())
    reader.take(",")
    index = int(reader.take()) if name == "insertvalue" else constant(frame.operand(reader, reader.type()).bits)
    if index is None or reader.peek() is not None:
        raise NotTranslated("an insertion: " + " ".join(reader.words))
    vector[index] = value
    return vector


def shuffle(frame, reader, _name):
    kind = reader.type()
    first = frame.operand(reader, kind)
    reader.take(",")
    second = frame.operand(reader, reader.type())
    reader.take(",")
    mask_kind = reader.type()
    pool, found = first + second, []
    if reader.peek() in ("zeroinitializer", "undef", "poison"):
        return [pool[0]] * mask_kind[1]
    reader.take("<")
    while not reader.skip(">"):
        reader.type()
        word = reader.take()
        found.append(frame.simple(kind[2], "poison") if word in ("undef", "poison") else pool[int(word)])
        reader.skip(",")
    return found


def freeze(frame, reader, _name):
    kind = reader.type()
    return lanes(lambda a: a if a.poison is False else
                 merged(a.poison, Scalar(frame.owner.fresh("frozen", a.bits.size()), False), Scalar(a.bits, False)),
                 frame.operand(reader, kind))


def load(frame, reader, _name):
    kind = reader.type()
    reader.take(",")
    pointer = frame.operand(reader, reader.type())
    aligned(frame, reader, pointer)
    return frame.owner.load(kind, pointer, frame.path)


def store(frame, reader, _name):
    kind = reader.type()
    value = frame.operand(reader, kind)
    reader.take(",")
    pointer = frame.operand(reader, reader.type())
    aligned(frame, reader, pointer)
    frame.owner.store(value, kind, pointer, frame.path)


def aligned(frame, reader, pointer):
    """Of an object whose address is named, an access must have the alignment that it asks for."""
    if reader.skip(",") and reader.skip("align") and pointer.base in frame.owner.addresses:
        place = frame.owner.addresses[pointer.base] + pointer.offset
        frame.owner.must_not(settled(z3.URem(place, z3.BitVecVal(int(reader.take()), 64)) != 0), frame.path)


def allocation(frame, reader, _name):
    size = size_of(reader.type())
    frame.owner.count += 1
    return frame.owner.object("alloca!%d" % frame.owner.count, [None] * size)


def call(frame, reader, _name):
    strict(reader)
    reader.skip_attributes()
    kind = reader.type()
    reader.skip_attributes()
    name, arguments = reader.take(), []
    if name.startswith("%"):  # a function that a pointer names
        name = frame.values[name].base
    reader.take("(")
    while not reader.skip(")"):
        each = reader.type()
        reader.skip_attributes()
        if each[0] == "metadata":
            return None
        arguments.append(frame.operand(reader, each))
        reader.skip(",")
    if name in frame.owner.module.functions and name[1:] not in frame.owner.calls:
        return Frame(frame.owner, frame.owner.module.functions[name], arguments, frame.path).run()
    stem = name[1:]
    while stem not in frame.owner.calls:
        if "." not in stem:
            raise NotTranslated("a call of " + name)
        stem = stem.rsplit(".", 1)[0]
    rule = frame.owner.calls[stem]
    return rule(frame.owner, kind, arguments, frame.path)


def element_pointer(frame, reader, _name):
    reader.flags({"inbounds", "nuw", "nusw"})
    return frame.element_pointer(reader)


RULES = {"icmp": integer_comparison, "fcmp": float_comparison, "fneg": float_negation, "select": choice, "load": load, "store": store,
         "alloca": allocation, "call": call, "getelementptr": element_pointer, "extractelement": extract, "extractvalue": extract,
         "insertelement": insert, "insertvalue": insert, "shufflevector": shuffle, "freeze": freeze,
         "bitcast": conversion, "ptrtoint": conversion, "inttoptr": conversion, **{name: binary for name in BINARY}, **{name: float_binary for name in FLOAT_BINARY},
         **{name: conversion for name in CONVERSIONS}}


def end_return(frame, reader):
    kind = reader.type()
    frame.returned.append((frame.path, None if kind[0] == "void" else frame.operand(reader, kind)))
    return []


def end_branch(frame, reader):
    if reader.skip("label"):
        return [(reader.take(), True)]
    reader.type()
    bit = frame.operand(reader, ("int", 1))
    frame.owner.must_not(bit.poison, frame.path)
    condition, targets = condition_of(bit.bits), []
    for _ in range(2):
        reader.take(",")
        reader.take("label")
        targets.append(reader.take())
    return [(targets[0], condition), (targets[1], negation(condition))]


def end_switch(frame, reader):
    kind = reader.type()
    value = frame.operand(reader, kind)
    frame.owner.must_not(value.poison, frame.path)
    reader.take(",")
    reader.take("label")
    default, found, rest = reader.take(), [], True
    reader.take("[")
    while not reader.skip("]"):
        reader.type()
        test = condition_of(flag(value.bits == literal_bits(reader.take(), kind)))
        reader.take(",")
        reader.take("label")
        found.append((reader.take(), test))
        rest = both(rest, negation(test))
    return found + [(default, rest)]


def end_unreachable(frame, _reader):
    frame.owner.must_not(True, frame.path)
    return []


ENDS = {"ret": end_return, "br": end_branch, "switch": end_switch, "unreachable": end_unreachable}


def targets_of(end):
    """The labels that an instruction may go to."""
    return [end.words[i + 1] for i, word in enumerate(end.words) if word == "label"]


def topological(function):
    """Labels in reverse postorder: of an acyclic graph, each after all that lead to it."""
    seen, order = set(), []
    stack = [(next(iter(function.blocks)), None)]
    while stack:
        label, targets = stack.pop()
        if targets is None:
            if label in seen:
                continue
            seen.add(label)
            targets = targets_of(function.blocks[label][-1])
        if targets:
            stack.append((label, targets[1:]))
            stack.append((targets[0], None))
        else:
            order.append(label)
    return order[::-1]


# Intrinsics: named without their last suffix, the type.


def lane_rule(rule):
    """An intrinsic that works on each lane: rule(run, path, scalars) gives bits."""
    def apply(run, _kind, arguments, path):
        def one(*each):
            return Scalar(rule(run, path, *[scalar.bits for scalar in each]), either(*[scalar.poison for scalar in each]))
        if isinstance(arguments[0], list):
            return [one(*[each[i] if isinstance(each, list) else each for each in arguments]) for i in range(len(arguments[0]))]
        return one(*arguments)
    return apply


def leading_zeros(bits, trailing=False):
    width = bits.size()
    found = z3.BitVecVal(width, width)
    for i in range(width):
        at = width - 1 - i if trailing else i
        found = z3.If(z3.Extract(at, at, bits) == 1, z3.BitVecVal(at if trailing else width - 1 - i, width), found)
    return found


def counted(trailing):
    def rule(run, _kind, arguments, path):
        zero_is_poison = constant(arguments[1].bits) == 1
        return lanes(lambda a: Scalar(leading_zeros(a.bits, trailing),
                                      either(a.poison, a.bits == 0 if zero_is_poison else False)), arguments[0])
    return rule


def population(run, path, x):
    return sum([z3.ZeroExt(x.size() - 1, z3.Extract(i, i, x)) for i in range(1, x.size())], z3.ZeroExt(x.size() - 1, piece(x, 0, 1)))


def funnel(left):
    def rule(run, path, a, b, by):
        width = a.size()
        by = z3.ZeroExt(width, z3.URem(by, z3.BitVecVal(width, width)))
        both_halves = z3.Concat(a, b)
        return z3.Extract(2 * width - 1, width, both_halves << by) if left else z3.Extract(width - 1, 0, z3.LShR(both_halves, by))
    return rule


def saturated(extend, operation, low, high):
    def rule(run, path, a, b):
        n = a.size()
        exact = operation(extend(2, a), extend(2, b))
        least, most = z3.BitVecVal(low(n), n + 2), z3.BitVecVal(high(n), n + 2)
        return z3.Extract(n - 1, 0, z3.If(exact < least, least, z3.If(exact > most, most, exact)))
    return rule


def with_overflow(extend, operation):
    def rule(run, _kind, arguments, path):
        a, b = arguments
        bits, poison = operation(a.bits, b.bits), either(a.poison, b.poison)
        return [Scalar(bits, poison), Scalar(flag(wide(extend, operation)(a.bits, b.bits, bits)), poison)]
    return rule


def rounded(mode):
    return lambda run, path, x: run.float_bits(z3.fpRoundToIntegral(mode, as_float(x)), x.size())


def smaller(test):
    """minnum and maxnum: the number where one is a NaN. Of two zeros of different sign either may come."""
    def rule(run, path, a, b):
        x, y = as_float(a), as_float(b)
        free = run.fresh("zero", 1) == 1
        first = z3.Or(z3.fpIsNaN(y), test(x, y), z3.And(z3.fpEQ(x, y), free))
        return z3.If(z3.fpIsNaN(x), b, z3.If(first, a, b))
    return rule


def magnitude(run, _kind, arguments, path):
    poisoned = constant(arguments[1].bits) == 1
    return lanes(lambda a: Scalar(z3.If(a.bits < 0, -a.bits, a.bits),
                                  either(a.poison, a.bits == 1 << (a.bits.size() - 1) if poisoned else False)), arguments[0])


def reduced(operation):
    def rule(run, _kind, arguments, path):
        value = arguments[-1][0]
        for lane in arguments[-1][1:]:
            value = Scalar(operation(value.bits, lane.bits), either(value.poison, lane.poison))
        return value
    return rule


def assumed(run, _kind, arguments, path):
    run.must_not(either(arguments[0].poison, arguments[0].bits == 0), path)


def masked_load(run, kind, arguments, path):
    pointer, _, mask, other = arguments
    step, found = bits_of(kind[2]) // 8, []
    for i, bit in enumerate(mask):
        here = condition_of(bit.bits)
        value = other[i]
        if here is not False:
            value = merged(here, run.load(kind[2], pointer._replace(offset=pointer.offset + i * step), both(path, here)), value)
        found.append(value)
    return found


def masked_store(run, _kind, arguments, path):
    value, pointer, _, mask = arguments
    step = value[0].bits.size() // 8
    for i, bit in enumerate(mask):
        run.store(value[i], ("int", 8 * step), pointer._replace(offset=pointer.offset + i * step), path, condition_of(bit.bits))


def copied(run, _kind, arguments, path):
    target, source, size = arguments[:3]
    count = constant(size.bits)
    if count is None:
        raise NotTranslated("a copy of a size that depends on the input")
    kind = ("array", count, ("int", 8))
    run.store(run.load(kind, source, path), kind, target, path)


def filled(run, _kind, arguments, path):
    target, byte, size = arguments[:3]
    count = constant(size.bits)
    if count is None:
        raise NotTranslated("memory of a size that depends on the input")
    run.store([byte] * count, ("array", count, ("int", 8)), target, path)


def nothing(_run, _kind, _arguments, _path):
    return None


INTRINSICS = {
    "llvm.umin": lane_rule(lambda run, path, a, b: z3.If(z3.ULT(a, b), a, b)),
    "llvm.umax": lane_rule(lambda run, path, a, b: z3.If(z3.UGT(a, b), a, b)),
    "llvm.smin": lane_rule(lambda run, path, a, b: z3.If(a < b, a, b)),
    "llvm.smax": lane_rule(lambda run, path, a, b: z3.If(a > b, a, b)),
    "llvm.abs": magnitude, "llvm.ctlz": counted(False), "llvm.cttz": counted(True), "llvm.ctpop": lane_rule(population),
    "llvm.bswap": lane_rule(lambda run, path, x: z3.Concat(*[piece(x, i, 8) for i in range(0, x.size(), 8)])),
    "llvm.bitreverse": lane_rule(lambda run, path, x: z3.Concat(*[piece(x, i, 1) for i in range(x.size())])),
    "llvm.fshl": lane_rule(funnel(True)), "llvm.fshr": lane_rule(funnel(False)),
    "llvm.uadd.sat": lane_rule(saturated(z3.ZeroExt, BINARY["add"], lambda n: 0, lambda n: (1 << n) - 1)),
    "llvm.usub.sat": lane_rule(saturated(z3.ZeroExt, BINARY["sub"], lambda n: 0, lambda n: (1 << n) - 1)),
    "llvm.sadd.sat": lane_rule(saturated(z3.SignExt, BINARY["add"], lambda n: -(1 << (n - 1)), lambda n: (1 << (n - 1)) - 1)),
    "llvm.ssub.sat": lane_rule(saturated(z3.SignExt, BINARY["sub"], lambda n: -(1 << (n - 1)), lambda n: (1 << (n - 1)) - 1)),
    **{"llvm.%s%s.with.overflow" % (sign, name): with_overflow(extend, BINARY[name])
       for sign, extend in (("u", z3.ZeroExt), ("s", z3.SignExt)) for name in ("add", "sub", "mul")},
    "llvm.fabs": lane_rule(lambda run, path, x: x & ((1 << (x.size() - 1)) - 1)),
    "llvm.copysign": lane_rule(lambda run, path, a, b: z3.Concat(piece(b, b.size() - 1, 1), piece(a, 0, a.size() - 1))),
    "llvm.fma": lane_rule(lambda run, path, a, b, c: run.float_bits(
        z3.fpFMA(NEAREST_EVEN, as_float(a), as_float(b), as_float(c)), a.size())),
    "llvm.sqrt": lane_rule(lambda run, path, a: run.float_bits(z3.fpSqrt(NEAREST_EVEN, as_float(a)), a.size())),
    "llvm.rint": lane_rule(rounded(z3.RNE())), "llvm.nearbyint": lane_rule(rounded(z3.RNE())),
    "llvm.roundeven": lane_rule(rounded(z3.RNE())),
    "llvm.trunc": lane_rule(rounded(z3.RTZ())), "llvm.floor": lane_rule(rounded(z3.RTN())),
    "llvm.ceil": lane_rule(rounded(z3.RTP())), "llvm.round": lane_rule(rounded(z3.RNA())),
    "llvm.minnum": lane_rule(smaller(z3.fpLT)), "llvm.maxnum": lane_rule(smaller(z3.fpGT)),
    "llvm.vector.reduce.add": reduced(BINARY["add"]), "llvm.vector.reduce.and": reduced(BINARY["and"]),
    "llvm.vector.reduce.or": reduced(BINARY["or"]), "llvm.vector.reduce.xor": reduced(BINARY["xor"]),
    "llvm.vector.reduce.umax": reduced(lambda a, b: z3.If(z3.UGT(a, b), a, b)),
    "llvm.vector.reduce.umin": reduced(lambda a, b: z3.If(z3.ULT(a, b), a, b)),
    "llvm.assume": assumed, "llvm.masked.load": masked_load, "llvm.masked.store": masked_store,
    "llvm.memcpy": copied, "llvm.memset": filled, "llvm.lifetime.start": nothing, "llvm.lifetime.end": nothing, "llvm.experimental.noalias.scope.decl": nothing,
    "llvm.prefetch": nothing, "llvm.dbg.value": nothing, "llvm.dbg.declare": nothing,
}
