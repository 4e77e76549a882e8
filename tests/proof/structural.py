# SPDX-License-Identifier: MIT
"""Runs in which chosen operations on floats stay unexplained, and arrays of symbolic elements.

A Structural run gives fp.mul, fp.div and their kin no meaning: each is a function of its operands' bits of which nothing is known
but that equal operands give equal results. What is proved this way holds for any such function, so also for the one of IEEE 754;
it is proved that code and formula do the same operations on the same numbers in the same order, and that all around them is right."""
import z3

from llvm_text import stored_size
from symbolic import Run, Scalar, as_float, constant, either, join, lookup, piece, wrapped

ONES = {32: 0x3f800000, 64: 0x3ff << 52}
OPERATIONS = ("fp.mul", "fp.div", "fp.add", "fp.sub", "to_fp", "to_fp_unsigned")


def operation(name, width, *operands):
    """An unexplained operation on bits, of as many operands as there are; products and sums do not depend on their order."""
    if name in ("fp.mul", "fp.add"):
        a, b = sorted(operands, key=lambda each: each.decl().name())
        if a.decl().name() == b.decl().name():
            a, b = z3.If(z3.ULE(a, b), a, b), z3.If(z3.ULE(a, b), b, a)
        operands = (a, b)
    sorts = [operand.sort() for operand in operands] + [z3.BitVecSort(width)]
    return z3.Function("%s_%d" % (name, width), *sorts)(*operands)


def multiply(a, b):
    return operation("fp.mul", a.size(), a, b)


def divide(a, b):
    return operation("fp.div", a.size(), a, b)


def subtract(a, b):
    return operation("fp.sub", a.size(), a, b)


def add(a, b):
    return operation("fp.add", a.size(), a, b)


def integer(number, width=32, signed=True):
    """An integer as a float."""
    if number.size() < 64:
        number = (z3.SignExt if signed else z3.ZeroExt)(64 - number.size(), number)
    return operation("integer", width, number)


def same(one, other):
    """That two results come from the same operations on equal operands: enough for them to be equal."""
    if one.eq(other):
        return z3.BoolVal(True)
    if one.num_args() and one.decl().eq(other.decl()) and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        return z3.And(*[same(a, b) for a, b in zip(one.children(), other.children())])
    return one == other


class Structural(Run):
    """names: the operations without a meaning, of OPERATIONS."""

    def __init__(self, module, names=OPERATIONS, calls=None):
        super().__init__(module, calls)
        self.names = names

    def float_bits(self, value, width):
        name, children = value.decl().name(), value.children()
        if name not in self.names:
            return super().float_bits(value, width)
        if name.startswith("to_fp") and z3.is_bv(children[1]):
            return integer(children[1], width, name == "to_fp")
        operands = [bits_of_float(child) for child in children if z3.is_fp(child)]
        # Times 1, or by 1: of a NaN any payload.
        if name in ("fp.mul", "fp.div") and constant(operands[1]) == ONES.get(width):
            return operands[0]
        if name == "fp.mul" and constant(operands[0]) == ONES.get(width):
            return operands[1]
        return operation(name, width, *operands)

    def load(self, kind, pointer, path):
        """Also of an object at an address that depends on the input: of its elements of that size, one after another."""
        if constant(pointer.offset) is not None or pointer.base not in self.memory or kind[0] not in ("int", "float"):
            return super().load(kind, pointer, path)
        step, stored = stored_size(kind), self.memory[pointer.base]
        values = [self.value_of_bytes(kind, [wrapped(stored[at + i]) for i in range(step)]).bits
                  for at in range(0, len(stored) // step * step, step)]
        shift = step.bit_length() - 1
        index = z3.LShR(pointer.offset, shift)
        self.must_not(either(pointer.poison, z3.UGE(index, len(values)), pointer.offset != index << shift), path)
        return Scalar(lookup(values, index, (len(values) - 1).bit_length() - 1), False)


def bits_of_float(value):
    """The bits from which a float was made."""
    if value.decl().name() == "to_fp" and value.num_args() == 1:
        return value.arg(0)
    raise ValueError("not from bits: %s" % value)


def array(run, name, count, width):
    """An object of `count` symbolic elements: their terms, and a pointer."""
    terms = [z3.BitVec("%s%d" % (name, i), width) for i in range(count)]
    return terms, run.object(name, [piece(term, at, 8) for term in terms for at in range(0, width, 8)])


def space(run, name, count):
    """An object of bytes that nothing has written."""
    return run.object(name, [None] * count)


def written(run, name, width, count=None):
    """What was written: scalars of `width` bits, in which a byte never written is poison."""
    stored, step, found = run.memory[name], width // 8, []
    for at in range(0, (len(stored) if count is None else count * step), step):
        parts = [stored[at + i] for i in range(step)]
        if any(part is None for part in parts):
            found.append(Scalar(z3.BitVecVal(0, width), True))
            continue
        parts = [part if isinstance(part, Scalar) else Scalar(part, False) for part in parts]
        found.append(Scalar(join([part.bits for part in parts]), either(*[part.poison for part in parts])))
    return found


def equal(found, wanted):
    """That what was written is what is wanted, for each element; `found` are scalars."""
    assert len(found) == len(wanted)
    return z3.And(z3.BoolVal(True), *[same(one.bits, other) for one, other in zip(found, wanted)])


class Uniform:
    """Claims about the elements of an array that all are treated alike: an element's claim, with its own number renamed, is found
    to be the same term for most of them, and is judged once. replaced: [(term, variable)], a generalisation, made first."""

    def __init__(self, numbers, name, replaced=()):
        self.number = z3.BitVec(name, numbers[0].size())
        self.numbers, self.replaced, self.goals = numbers, list(replaced), {}

    def general(self, term):
        return z3.substitute(term, *self.replaced) if self.replaced else term

    def add(self, index, goal):
        """goal: of the element at this index."""
        goal = z3.substitute(self.general(goal), (self.numbers[index], self.number))
        self.goals.setdefault(goal.get_id(), goal)

    def goal(self):
        return z3.And(*self.goals.values())


def explained(run, goals, rules):
    """Gives unexplained operations their meaning again, in these goals: rules are {name: rule}, where rule(operands) gives the
    result as a float."""
    found, stack, seen = [], [(goal, False) for goal in goals], set()
    while stack:  # operands come before what uses them
        term, again = stack.pop()
        if again:
            found.append(term)
        elif term.get_id() not in seen:
            seen.add(term.get_id())
            if term.decl().name() in rules:
                stack.append((term, True))
            stack += [(child, False) for child in term.children()]
    pairs = []
    for term in found:
        bits = run.fresh("float", term.size())
        operands = [z3.substitute(child, *pairs) if pairs else child for child in term.children()]
        run.axioms.append(as_float(bits) == rules[term.decl().name()](*operands))
        pairs.append((term, bits))
    return [z3.substitute(goal, *pairs) if pairs else goal for goal in goals]


def operations(term, name, operand):
    """The results of an operation on this operand, in a term."""
    found, stack, seen = {}, [term], set()
    while stack:
        each = stack.pop()
        if each.get_id() not in seen:
            seen.add(each.get_id())
            stack += each.children()
            if each.decl().name() == name and any(child.eq(operand) for child in each.children()):
                found[each.get_id()] = each
    return list(found.values())
