# SPDX-License-Identifier: MIT
"""Runs whole kernels of src/kernels/x86/cast on symbolic arrays, for the families about vectors.

A kernel is called as it ships, with its parameters: the bytes of the encoder or table that src/kernels/params.c makes. Every
element of the source is one input. Each unit of the result becomes a term; terms that are the same but for the names of
their inputs are judged once, with the inputs of all other lanes free. So a claim holds for all inputs of all lanes at once."""
import collections
import ctypes
import functools
import os
import pathlib
import re
import subprocess
import tempfile

import z3

from symbolic import Pointer, Scalar, join
from theorem import ROOT, Claim, clang, compiled
from x86 import X86Run

CAST = "kernels/x86/cast/"
ROUNDS = ("nearest-even", "nearest-away", "zero", "up", "down", "odd")
OVERFLOWS = ("native", "saturate", "saturate-finite", "wrap")
NANS = ("quiet", "canonical")

# What a kernel is called with: bytes of an encoder, decoder or table; numbers.
Parameters = collections.namedtuple("Parameters", "encoder decoder table bits high_first")
NO_PARAMETERS = Parameters(None, None, None, 0, False)
Outcome = collections.namedtuple("Outcome", "run inputs outputs")  # terms of the source's units, Scalars of the result's

WRAPPER = """
void proof_%s(const struct dti_decoder *decoder, const struct dti_encoder *encoder, const struct dti_code_table *table,
                unsigned bits, int high_first, const struct dti_streaming *stream, void *dst, const void *src, size_t n)
{
    const struct dti_kernel_args args = {.decoder = decoder, .encoder = encoder, .table = table, .bits = bits,
                                         .high_first = high_first != 0, .stream = stream};
    %s(&args, dst, src, n);
}
"""
FUNCTIONS = {  # of each file the kernels that are proved, and the level whose flags it is compiled with
    "bf16_avx2": ("dti_fp32_to_bf16", "dti_bf16_to_fp32"), "bf16_avx512": ("dti_fp32_to_bf16", "dti_bf16_to_fp32"),
    "bf16_avx512bf16": ("dti_fp32_to_bf16",), "wide_vector": ("dti_int64_to_fp64_odd", "dti_uint64_to_fp64_odd", "dti_int32_to_fp64"),
    "hardware_vector": ("dti_fp32_to_fp16", "dti_fp16_to_fp32", "dti_fp64_to_fp32", "dti_fp32_to_fp64"),
    "integers_vector": ("dti_fp32_to_integer",), "small_vector": ("dti_fp32_to_small",),
    "small_avx512vbmi": ("dti_fp32_to_small",), "bytes_vector": ("dti_unpack4", "dti_pack4", "dti_swap_bytes", "dti_copy_bytes"),
    "table_avx2": ("dti_table",), "table_avx512vbmi": ("dti_table",), "pack_avx512vbmi": ("dti_unpack", "dti_pack"),
}

PARAMETERS = """
#include "core/dtype/dtype.h"
#include "kernels/kernel.h"
static struct dti_format format_of(const char *name)
{
    struct dti_format found = {0};
    struct dti_error error;
    dti_format_lookup(name, &found, NULL, &error);
    return found;
}
size_t proof_encoder(void *ret, const char *name, int round, int overflow, int nan)
{
    const struct dti_policy policy = {.round = round, .overflow = overflow, .nan = nan};
    const struct dti_format format = format_of(name);
    dti_encoder_init(ret, &format, &policy);
    return format.width == 0 ? 0 : sizeof(struct dti_encoder);
}
size_t proof_decoder(void *ret, const char *name)
{
    const struct dti_format format = format_of(name);
    dti_decoder_init(ret, &format);
    return format.width == 0 ? 0 : sizeof(struct dti_decoder);
}
size_t proof_table(void *ret, const char *from, const char *to, int overflow, int nan)
{
    const struct dti_policy policy = {.overflow = overflow, .nan = nan};
    const struct dti_format src = format_of(from), dst = format_of(to);
    dti_code_table_init(ret, &src, &dst, &policy);
    return src.width == 0 || dst.width == 0 ? 0 : sizeof(struct dti_code_table);
}
"""
PARAMETER_SOURCES = (
    "kernels/params.c", "kernels/cast/table_scalar.c", "core/code/encode.c", "core/code/codes.c", "core/code/taper.c", "core/code/random.c",
    "core/dtype/dtype.c", "core/dtype/dtype_lookup.c", "core/dtype/named_formats.c", "core/dtype/storage.c", "core/dtype/gguf_types.c",
    "util/error.c", "util/text/quote.c", "util/text/nearest.c")


@functools.lru_cache(maxsize=None)
def parameter_library():
    """params.c and what it needs, built for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "parameters.c"), os.path.join(folder, "parameters.so")
        pathlib.Path(source).write_text(PARAMETERS)
        sources = [str(ROOT / "src" / each) for each in PARAMETER_SOURCES]
        subprocess.run([clang(), "-std=c11", "-O1", "-fPIC", "-shared", "-I", str(ROOT / "src"), "-I", str(ROOT / "include"), source,
                        *sources, "-o", target], check=True)
        return ctypes.CDLL(target, mode=os.RTLD_LAZY)  # lazy: what says that a name is wrong is not needed here


def parameter_bytes(function, *arguments):
    buffer = ctypes.create_string_buffer(1 << 14)
    size = getattr(parameter_library(), function)(buffer, *[each.encode() if isinstance(each, str) else each for each in arguments])
    if not size:
        raise KeyError("no such format: %r" % (arguments,))
    return buffer.raw[:size]


def encoder(name, round="nearest-even", overflow="native", nan="quiet"):
    return NO_PARAMETERS._replace(
        encoder=parameter_bytes("proof_encoder", name, ROUNDS.index(round), OVERFLOWS.index(overflow), NANS.index(nan)))


def decoder(name):
    return NO_PARAMETERS._replace(decoder=parameter_bytes("proof_decoder", name))


def table(source, target, overflow="native", nan="quiet"):
    return NO_PARAMETERS._replace(
        table=parameter_bytes("proof_table", source, target, OVERFLOWS.index(overflow), NANS.index(nan)))


@functools.lru_cache(maxsize=None)
def flags(level):
    """The flags that the kernels of a level are compiled with: rows of meson.build."""
    text = (ROOT / "src/kernels/meson.build").read_text() + (ROOT / "src/kernels/x86/meson.build").read_text()
    base = re.search(r"avx512_flags = \[(.*?)\]", text, re.S)[1]
    row = re.search(r"x86_flags = \{.*?'%s': (.*?),?\n" % level, text, re.S)[1]
    return tuple(re.findall(r"'(-m[^']*)'", (base if row.startswith("avx512_flags") else "") + row))


def functions_of(file, level):
    odd = ("dti_fp64_to_fp32_odd",) if file == odd_file(level) else ()
    return ["%s_%s" % (stem, level) for stem in FUNCTIONS[file] + odd]


def odd_file(level):
    """Where fp64 is rounded to odd to fp32."""
    return "hardware_vector" if level == "avx2" else "wide_vector"


def text_of(file, level):
    """C that includes the kernel's source file, and calls its kernels."""
    return '#include "%s%s.c"' % (CAST, file) + "".join(WRAPPER % (name, name) for name in functions_of(file, level))


def module(file, level):
    return compiled(text_of(file, level), flags(level))


def units(name, count, width):
    return [z3.BitVec("%s%d" % (name, i), width) for i in range(count)]


def bytes_of(terms):
    return [z3.Extract(at + 7, at, term) for term in terms for at in range(0, term.size(), 8)]


def run_kernel(code, function, n, source_bits, target_bits, parameters=NO_PARAMETERS, per_unit=1, streaming=None, misaligned=0,
               source_units=None, target_units=None):
    """Calls a kernel for n elements in arrays of exactly that many units, of per_unit elements each, or of the given numbers.
    streaming: (prefetch distance, streams, bytes from one to the next). misaligned: bytes of the result's address beyond a multiple of 64."""
    run = X86Run(code)
    inputs = units("x", n // per_unit if source_units is None else source_units, source_bits)
    source = run.object("source", bytes_of(inputs))
    target = run.object("target", [None] * ((n // per_unit if target_units is None else target_units) * target_bits // 8))
    run.addresses.update(source=z3.BitVecVal(1 << 40, 64), target=z3.BitVecVal((1 << 41) + misaligned, 64))
    null = Pointer("null", z3.BitVecVal(0, 64), False)

    def constant_object(name, data):
        return null if data is None else run.object(name, [z3.BitVecVal(byte, 8) for byte in data])
    stream = None
    if streaming:
        stream = streaming_bytes(streaming)
    run.call("proof_" + function, [
        constant_object("decoder", parameters.decoder), constant_object("encoder", parameters.encoder),
        constant_object("table", parameters.table), z3.BitVecVal(parameters.bits, 32),
        z3.BitVecVal(int(parameters.high_first), 32), constant_object("streaming", stream), target, source, z3.BitVecVal(n, 64)])
    return Outcome(run, inputs, results(run, target_bits))


def streaming_bytes(streaming):
    """struct dti_streaming; nobody reads its two texts."""
    return bytes(16) + b"".join(each.to_bytes(4, "little") for each in streaming) + bytes(4)


def results(run, width):
    """The result's units, as Scalars; of one that was not wholly written None."""
    stored, step, found = run.memory["target"], width // 8, []
    for at in range(0, len(stored), step):
        part = [stored[at + i] for i in range(step)]
        found.append(None if None in part else run.value_of_bytes(("int", width), part))
    return found


class Part:
    """Of a run what one term needs: as Claim.run."""

    def __init__(self, axioms, undefined):
        self.axioms, self.undefined = axioms, undefined


def walked(terms):
    """Every part of terms once, as (raw term, raw parts), by the C functions: terms are large, and z3's Python slow."""
    library, context = z3.z3core, z3.main_ctx().ref()
    seen, waiting = set(), [term.as_ast() for term in terms]
    while waiting:
        each = waiting.pop()
        number = library.Z3_get_ast_id(context, each)
        if number in seen:
            continue
        seen.add(number)
        parts = []
        if library.Z3_get_ast_kind(context, each) == z3.Z3_APP_AST:
            parts = [library.Z3_get_app_arg(context, each, i) for i in range(library.Z3_get_app_num_args(context, each))]
        yield each, parts
        waiting.extend(parts)


def variables(terms):
    """The variables of terms, in an order that only depends on their form."""
    library, context, found = z3.z3core, z3.main_ctx().ref(), []
    for each, parts in walked(terms):
        if not parts and library.Z3_get_ast_kind(context, each) == z3.Z3_APP_AST:
            if library.Z3_get_decl_kind(context, library.Z3_get_app_decl(context, each)) == z3.Z3_OP_UNINTERPRETED:
                found.append(z3.z3._to_expr_ref(each, z3.main_ctx()))
    return found


def with_definitions(terms, defined):
    """The variables of terms and of what defines them, and those definitions."""
    names, axioms, new, known = [], [], variables(terms), set()
    while new:
        names += new
        known |= {name.decl().name() for name in new}
        more = [defined[name.decl().name()] for name in new if name.decl().name() in defined]
        axioms += more
        new = [name for name in variables(more) if name.decl().name() not in known] if more else []
    return names, axioms


class Dependence:
    """Which inputs the terms of a run depend on: a number with a bit for each input."""

    def __init__(self, outcome):
        self.defined = {axiom.arg(0).arg(0).decl().name(): axiom for axiom in outcome.run.axioms}
        self.kept, self.bits = [], {}  # terms stay alive: their numbers would be used again
        for i, term in enumerate(outcome.inputs):
            self.kept.append(term)
            self.bits[term.get_id()] = 1 << i

    def parts(self, term):
        if z3.is_const(term):
            axiom = self.defined.get(term.decl().name()) if term.decl().kind() == z3.Z3_OP_UNINTERPRETED else None
            return [] if axiom is None else [axiom.arg(1)]
        return term.children()

    def of(self, term):
        waiting = [(term, None)]
        while waiting:
            each, parts = waiting.pop()
            if parts is None:
                if each.get_id() in self.bits:
                    continue
                parts = self.parts(each)
                waiting.append((each, parts))
                waiting.extend((part, None) for part in parts if part.get_id() not in self.bits)
            elif each.get_id() not in self.bits:
                self.kept.append(each)
                found = 0
                for part in parts:
                    found |= self.bits[part.get_id()]
                self.bits[each.get_id()] = found
        return self.bits[term.get_id()]

    def foreign(self, term, own):
        """The largest parts of a term that depend on inputs, but not on the input number `own`."""
        found, seen, waiting = [], set(), [term]
        while waiting:
            each = waiting.pop()
            if each.get_id() in seen:
                continue
            seen.add(each.get_id())
            bits = self.of(each)
            if bits >> own & 1:
                waiting.extend(self.parts(each))
            elif bits:
                found.append(each)
        return found


def canonical(outcome, index, dependence):
    """A unit's term with names that do not tell its place: (bits, poison, axioms). What depends on other units alone becomes a
    variable, which is more than can happen."""
    value, own = outcome.outputs[index], outcome.inputs[index]
    bits, poison = value.bits, z3.BoolVal(value.poison) if isinstance(value.poison, bool) else value.poison
    if dependence.of(bits) & ~(1 << index):
        others = [(each, z3.FreshConst(each.sort(), "other")) for each in dependence.foreign(bits, index)]
        bits = z3.substitute(bits, *others)
    names, axioms = with_definitions([bits, poison], dependence.defined)
    pairs = [(name, z3.Const("x" if name.eq(own) else "v%d" % i, name.sort())) for i, name in enumerate(names)]
    return [z3.substitute(each, *pairs) for each in (bits, poison)] + [[z3.substitute(each, *pairs) for each in axioms]]


def forms(*outcomes):
    """The distinct terms of the results' units: [(bits, poison, axioms)], and whether every unit was written."""
    found, whole = {}, True
    for outcome in outcomes:
        dependence = Dependence(outcome)
        for i, value in enumerate(outcome.outputs):
            if value is None:
                whole = False
                continue
            form = canonical(outcome, i, dependence)
            found[(form[0].get_id(), form[1].get_id(), tuple(each.get_id() for each in form[2]))] = form
    return list(found.values()), whole


def claim(outcomes, good):
    """That each unit of the results is good(x, code): a condition about its own unit x of the source. The last result is not empty."""
    distinct, whole = forms(*outcomes)
    undefined = [each for outcome in outcomes for each in outcome.run.undefined]
    return claim_of_forms(outcomes[-1].inputs[0].size(), distinct, whole, undefined, good)


def claim_of_forms(width, distinct, whole, undefined, good):
    x, axioms, goals = z3.BitVec("x", width), [], [z3.BoolVal(whole), z3.BoolVal(True)]
    for i, (bits, poison, own) in enumerate(distinct):
        # The names v0, v1, ... of several forms must not meet.
        pairs = [(name, z3.Const("%s_%d" % (name, i), name.sort())) for name in variables([bits, poison] + own) if not name.eq(x)]
        bits, poison, *own = [z3.substitute(each, *pairs) if pairs else each for each in [bits, poison] + own]
        goals += [z3.Not(poison), good(x, bits)]
        axioms += own
    return Claim(Part(axioms, undefined), {"x": x}, z3.And(*goals))


def twice(first, second, good):
    """That the second cast of the first one's results is good."""
    pairs, whole = [], True
    for bits, poison, axioms in forms(first)[0]:
        names = [(name, z3.Const("first_%s" % name, name.sort())) for name in variables([bits, poison] + axioms) if str(name) != "x"]
        bits, poison, *axioms = [z3.substitute(each, *names) if names else each for each in [bits, poison] + axioms]
        for code, more_poison, more in forms(second)[0]:
            x = z3.BitVec("x", bits.size())
            code, more_poison, *more = [z3.substitute(each, (x, bits)) for each in [code, more_poison] + more]
            pairs.append((code, z3.Or(poison, more_poison), axioms + more))
    for each in (first, second):
        whole = whole and forms(each)[1]
    return claim_of_forms(first.inputs[0].size(), pairs, whole, first.run.undefined + second.run.undefined, good)


def run_bytes(code, function, n, source, target, parameters, streaming=None, misaligned=0):
    """A kernel whose units are single bytes: (Outcome, whose outputs are None where a byte was not written)."""
    return run_kernel(code, function, n, 8, 8, parameters, source_units=source, target_units=target, streaming=streaming,
                      misaligned=misaligned)
