# SPDX-License-Identifier: MIT
"""Affine quantization, dti_quantize_affine_scalar() and back: for all numbers, all scales, all zero points and all ranges of codes
that lie in the format, code = clamp(round(x / s) + z, low, high), round to nearest even.

The quotient is taken for what it is: x / s of fp32, x r of fp32, or for the exact division x / s of fp64; the claim holds whatever
32 or 64 bits such an operation gives, NaNs and infinities too, and that the kernel divides the right numbers is part of the claim.
For the exact division one step is on paper: a quotient of 24-bit integers that is not a multiple of 1/2 below 2^18 differs from
each by more than 2^-45 of itself, so its rounding to fp64 leaves it on the same side. What torch does with NaN and beyond int32 is
in the claim as quant.h says it. Not in the claim: the exact division as torch where the
quotient is between 2^31 - 2^17 and 2^31 in size; there the kernel adds the zero point to a multiple of 128 before the sum wraps, and
so gives the other end of the range for some quotients. Back: rounded((code - z) s), by one product of fp32."""
import z3

from family_blocks import SATURATING
from lanes import FORMATS, SOURCES, encoder_bytes, right
from structural import Structural, array, divide, integer, multiply, same, space, written
from symbolic import NEAREST_EVEN, Pointer, as_float, sort_of
from theorem import Claim, Theorem, compiled, defined

FAMILY = "Affine quantization and back: `quant_lanes_affine.c`, all numbers, scales, zero points and ranges of codes"
C = '''
#include "kernels/quant/quant_lanes_affine.c"
#include "core/dtype/storage.c"
#define encode encode_array
#include "kernels/cast/lanes_encode.c"
#undef encode
struct one { float scale, inverse; int32_t zero_point; int32_t low, high; };
void quantize_one(unsigned char *codes, const float *x, struct dti_quant_count *count, const struct one *one, unsigned division,
    unsigned specials, unsigned width, unsigned kind, const struct dti_encoder *encoder)
{
    struct dti_affine affine = {.code = {.id = DTI_NONE, .kind = kind, .width = width}, .low = one->low, .high = one->high,
                                .division = division, .specials = specials};
    if (encoder)
        affine.code = encoder->format;
    const struct dti_affine_args args = {.affine = &affine, .encoder = encoder, .scale = one->scale, .inverse = one->inverse,
                                         .zero_point = one->zero_point};
    dti_quantize_affine_scalar(&args, codes, x, 1, count);
}
void dequantize_one(float *x, const unsigned char *codes, const struct one *one, unsigned width, unsigned kind)
{
    const struct dti_affine affine = {.code = {.id = DTI_NONE, .kind = kind, .width = width}};
    const struct dti_affine_args args = {.affine = &affine, .scale = one->scale, .zero_point = one->zero_point};
    dti_dequantize_affine_scalar(&args, x, codes, 1);
}
'''
INTEGERS = {"int8": (8, 1), "uint8": (8, 0), "int4": (4, 1), "uint4": (4, 0), "int2": (2, 1), "int16": (16, 1), "uint16": (16, 0)}
KINDS = ("FLOAT", "UFLOAT", "INT", "UINT")  # of enum dti_kind
DIVISIONS, SPECIALS = ("x / s", "x (1 / s)", "exact"), ("clamped", "as torch", "as torch by channel")
INFINITY = 0x7f800000


def number(value):
    return z3.BitVecVal(value & 0xffffffff, 32)


def kind_of(name):
    return number(KINDS.index("INT" if INTEGERS[name][1] else "UINT"))


def quotients(code):
    """The quotient in a term of the code: the outermost product or quotient whose meaning is left open."""
    found, stack, seen = {}, [code], set()
    while stack:
        term = stack.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            if term.decl().name() in ("fp.div_32", "fp.mul_32", "fp.div_64"):
                found[term.get_id()] = term
            stack += term.children()
    return list(found.values())


def rounded(q, specials):
    """round(q) as an integer of 64 bits, and whether q is a NaN. Beyond 2^40 any integer that far will do."""
    value, sort = as_float(q), sort_of(q.size())
    nan, far = z3.fpIsNaN(value), z3.FPVal(2 ** 40, sort)
    if specials == 1:  # torch's limits, before rounding
        most, least = z3.FPVal(2147483520, sort), z3.FPVal(-2 ** 31, sort)
        value = z3.If(z3.Or(nan, z3.fpGT(value, most)), most, z3.If(z3.fpLT(value, least), least, value))
    else:
        value = z3.If(nan, z3.FPVal(0, sort), z3.If(z3.fpGT(value, far), far, z3.If(z3.fpLT(value, z3.fpNeg(far)), z3.fpNeg(far), value)))
    return z3.fpToSBV(NEAREST_EVEN, value, z3.BitVecSort(64)), nan


def wanted(q, z, low, high, specials):
    """The code, as an integer of 64 bits, and whether it was clamped."""
    z, low, high = (z3.SignExt(32, each) for each in (z, low, high))
    whole, nan = rounded(q, specials)
    total = whole + z
    if specials == 1:
        total = z3.SignExt(32, z3.Extract(31, 0, total))  # wraps
    code = z3.If(total < low, low, z3.If(total > high, high, total))
    if specials != 1:
        code = z3.If(nan, z if specials == 0 else z3.BitVecVal(0, 64), code)
    return code, z3.And(z3.Not(nan), whole + z != code)


def limits(name, one):
    bits, signed = INTEGERS[name]
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    _, _, z, low, high = one
    return [low >= least, high <= most, low <= z, z <= high]


def memory(run):
    one, pointer = array(run, "one", 5, 32)
    (x,), source = array(run, "x", 1, 32)
    return x, source, one, pointer


def quantized(name, division, specials):
    def claim():
        run = Structural(compiled(C), ("fp.div", "fp.mul"))
        x, source, one, pointer = memory(run)
        scale, inverse, z, low, high = one
        bits = INTEGERS[name][0]
        count = run.object("count", [z3.BitVecVal(0, 8)] * 24)
        run.call("quantize_one", [space(run, "code", (bits + 7) // 8), source, count, pointer, number(division), number(specials),
                                  number(bits), kind_of(name), Pointer("null", z3.BitVecVal(0, 64), False)])
        (code,) = written(run, "code", 8 * ((bits + 7) // 8))
        clipped, special = written(run, "count", 64)[0], written(run, "count", 64)[2]
        (q,) = quotients(code.bits)
        operands = {0: lambda: same(q, divide(x, scale)), 1: lambda: same(q, multiply(x, inverse)),
                    2: lambda: z3.And(*[as_float(operand) == z3.fpFPToFP(NEAREST_EVEN, as_float(each), sort_of(64))
                                        for operand, each in zip(q.children(), (x, scale))])}[division]()
        finite = z3.And(*[z3.ULT(each & 0x7fffffff, INFINITY) for each in (x, scale)])
        if division == 2:  # where no NaN may have another payload
            operands = z3.Implies(finite, operands)
        any_q = z3.BitVec("q", q.size())
        value, beyond = wanted(any_q, z, low, high, specials)
        clamped = z3.And(z3.ULT(x & 0x7fffffff, INFINITY), beyond)
        if specials == 1:  # an infinite quotient of a finite number is not counted
            clamped = z3.And(clamped, z3.Not(z3.fpIsInf(as_float(any_q))))
        one_bit = [z3.If(each, z3.BitVecVal(1, 64), z3.BitVecVal(0, 64)) for each in (clamped, z3.UGE(x & 0x7fffffff, INFINITY))]
        goal = z3.And(defined(code, special), z3.Extract(bits - 1, 0, value) == z3.Extract(bits - 1, 0, code.bits),
                      z3.LShR(code.bits, bits) == 0 if bits < code.bits.size() else z3.BoolVal(True), special.bits == one_bit[1],
                      clipped.bits == one_bit[0] if division < 2 and specials != 1 else z3.BoolVal(True))
        pairs = [(q, any_q)]
        run.undefined = [z3.substitute(each, *pairs) for each in run.undefined]
        run.axioms = [z3.substitute(each, *pairs) for each in run.axioms] + limits(name, one)
        if (division, specials) == (2, 1):  # see above
            size = as_float(any_q & ((1 << 63) - 1))
            run.axioms.append(z3.Or(z3.fpLEQ(size, z3.FPVal(2 ** 31 - 2 ** 17, size.sort())),
                                    z3.Not(z3.fpLT(size, z3.FPVal(2 ** 31, size.sort())))))
        return Claim(run, {str(each): each for each in (x, any_q, *one)}, z3.And(operands, z3.substitute(goal, *pairs)))
    return claim


def encoded(name, division):
    """Codes of floats: the number nearest to the quotient, saturating."""
    def claim():
        run = Structural(compiled(C), ("fp.div", "fp.mul"))
        x, source, one, pointer = memory(run)
        encoder = run.object("encoder", encoder_bytes(FORMATS[name], "nearest-even", SATURATING))
        count = run.object("count", [z3.BitVecVal(0, 8)] * 24)
        run.call("quantize_one", [space(run, "code", 1), source, count, pointer, number(division), number(0), number(8), number(0),
                                  encoder])
        (code,) = written(run, "code", 8)
        (q,) = quotients(code.bits)
        operands = same(q, divide(x, one[0]) if division == 0 else multiply(x, one[1]))
        any_q = z3.BitVec("q", 32)
        run.undefined = [z3.substitute(each, (q, any_q)) for each in run.undefined]
        run.axioms = [z3.substitute(each, (q, any_q)) for each in run.axioms]
        goal = z3.And(defined(code), right(SOURCES["fp32"], FORMATS[name], "nearest-even", any_q, SATURATING, code.bits))
        return Claim(run, {str(each): each for each in (x, any_q)}, z3.And(operands, z3.substitute(goal, (q, any_q))))
    return claim


def back(name):
    def claim():
        run = Structural(compiled(C), ("fp.mul", "to_fp"))
        bits, signed = INTEGERS[name]
        one, pointer = array(run, "one", 5, 32)
        (code,), source = array(run, "code", 1, 8 * ((bits + 7) // 8))
        run.call("dequantize_one", [space(run, "y", 4), source, pointer, number(bits), kind_of(name)])
        (found,) = written(run, "y", 32)
        low = z3.Extract(bits - 1, 0, code)
        value = (z3.SignExt if signed else z3.ZeroExt)(32 - bits, low)
        product = multiply(integer(value - one[2]), one[0])
        nan = z3.UGT(product & 0x7fffffff, INFINITY)
        run.axioms += limits(name, one)
        return Claim(run, {str(each): each for each in (code, one[0], one[2])},
                     z3.And(defined(found), found.bits == z3.If(nan, number(0x7fc00000), product)))
    return claim


def theorems(sample):
    for name in ("int8",) if sample else INTEGERS:
        yield Theorem("affine", "%s back" % name, back(name))
        for division, of in enumerate(DIVISIONS):
            for specials, how in enumerate(SPECIALS):
                if not sample or (division, specials) in ((0, 0), (1, 1)):
                    yield Theorem("affine", "%s, %s, %s" % (name, of, how), quantized(name, division, specials))
    for name in () if sample else ("fp8_e4m3fn", "fp8_e5m2"):
        for division in (0, 1):
            yield Theorem("affine", "%s, %s" % (name, DIVISIONS[division]), encoded(name, division))
