# SPDX-License-Identifier: MIT
"""What the x86 instructions compute that LLVM knows only by name, lane by lane: a table for symbolic.Run(calls=X86).

Source: Intel's Software Developer's Manual, volume 2, the pseudo-code of each instruction. Rounding and NaNs as SDM volume 1,
4.8.4 and 4.8.3.5: a conversion keeps sign and upper payload of a NaN and makes it quiet. The current mode (MXCSR) is taken to be
nearest even without flushing of subnormals, as the program leaves it. test_x86.py compares each model with the processor's own
instruction. Only what the kernels use is here; other immediates raise NotTranslated."""
import z3

from llvm_text import NotTranslated
from symbolic import Run, Scalar, as_float, constant, either, join, lookup, merged, condition_of, flag, piece, sort_of

MODES = {0: z3.RNE(), 1: z3.RTN(), 2: z3.RTP(), 3: z3.RTZ()}
CURRENT = 4


def mode_of(immediate):
    """The rounding mode of an immediate: bit 2 chooses the current one; bit 3 suppresses exceptions."""
    number = constant(immediate.bits)
    if number is None or number > 15:
        raise NotTranslated("a rounding mode that is not constant")
    return MODES[0] if number & CURRENT else MODES[number & 3]


# Floats.


def quieted(bits, width):
    """A NaN's bits in another width: sign, upper payload, quiet."""
    have, field = bits.size(), {16: 10, 32: 23, 64: 52}
    own, wanted = field[have], field[width]
    payload = piece(bits, 0, own)
    if wanted > own:
        payload = z3.Concat(payload, z3.BitVecVal(0, wanted - own))
    elif wanted < own:
        payload = piece(payload, own - wanted, wanted)
    ones = z3.BitVecVal((1 << (width - wanted - 1)) - 1, width - wanted - 1)
    return z3.Concat(piece(bits, have - 1, 1), ones, payload | (1 << (wanted - 1)))


def converted(run, mode, bits, width):
    """A float in another width."""
    x = as_float(bits)
    number = run.float_bits(z3.fpFPToFP(mode, x, sort_of(width)), width)
    return z3.If(z3.fpIsNaN(x), quieted(bits, width), number)


class X86Run(Run):
    """A run that also knows what x86 does with NaNs in fpext, fptrunc and arithmetic, whose payload LLVM leaves open."""

    def __init__(self, module):
        super().__init__(module, X86)

    def resized_float(self, bits, width):
        return converted(self, MODES[0], bits, width)

    def computed_float(self, value, first, second):
        """Of one NaN and a number that NaN, quiet; of two either may be the processor's first, so any."""
        quiet = 1 << {16: 9, 32: 22, 64: 51}[first.size()]
        nan, other = z3.fpIsNaN(as_float(first)), z3.fpIsNaN(as_float(second))
        bits = self.float_bits(value, first.size())
        return z3.If(z3.And(nan, z3.Not(other)), first | quiet, z3.If(z3.And(other, z3.Not(nan)), second | quiet, bits))


def to_signed(mode, bits, width):
    """Beyond the range, and for NaN: the lowest integer. Only for sources whose numbers near the limits are integers."""
    x = as_float(bits)
    sort = x.sort()
    inside = z3.And(z3.fpGEQ(x, z3.FPVal(-(2 ** (width - 1)), sort)), z3.fpLT(x, z3.FPVal(2 ** (width - 1), sort)))
    return z3.If(inside, z3.fpToSBV(mode, x, z3.BitVecSort(width)), z3.BitVecVal(1 << (width - 1), width))


def to_unsigned(mode, bits, width):
    """Beyond the range after rounding, and for NaN: all ones."""
    x = z3.fpRoundToIntegral(mode, as_float(bits))
    inside = z3.And(z3.fpGEQ(x, z3.FPVal(0, x.sort())), z3.fpLT(x, z3.FPVal(2 ** width, x.sort())))
    return z3.If(inside, z3.fpToUBV(MODES[3], x, z3.BitVecSort(width)), z3.BitVecVal((1 << width) - 1, width))


def least(run, a, b):
    """MINPS: the second where one is a NaN or both are zeros."""
    return z3.If(z3.fpLT(as_float(a), as_float(b)), a, b)


def most(run, a, b):
    return z3.If(z3.fpGT(as_float(a), as_float(b)), a, b)


def smaller_magnitude(a, b):
    """VRANGEPS with immediate 10: the number of smaller magnitude, its sign cleared; of a number and a quiet NaN the
    number; a signaling NaN is returned, quiet and with its sign."""
    clear, quiet = (1 << 31) - 1, 1 << 22

    def nan(x):
        return z3.fpIsNaN(as_float(x))

    def signaling(x):
        return z3.And(nan(x), piece(x, 22, 1) == 0)
    x = z3.If(z3.ULE(a & clear, b & clear), a, b)
    x = z3.If(nan(b), a, z3.If(nan(a), b, x)) & clear
    return z3.If(signaling(a), a | quiet, z3.If(signaling(b), b | quiet, x))


def bfloat(bits):
    """VCVTNE2PS2BF16 on one number: to nearest even, subnormals as zeros, whatever MXCSR says."""
    x, upper = as_float(bits), piece(bits, 16, 16)
    rounded = piece(bits + 0x7FFF + z3.ZeroExt(31, piece(bits, 16, 1)), 16, 16)
    tiny = piece(bits, 23, 8) == 0
    return z3.If(tiny, upper & 0x8000, z3.If(z3.fpIsNaN(x), upper | 0x40, z3.If(z3.fpIsInf(x), upper, rounded)))


def class_of(bits, wanted):
    """VFPCLASSPS: whether a number is in one of the classes."""
    exponent, fraction, negative = piece(bits, 23, 8), piece(bits, 0, 23), piece(bits, 31, 1) == 1
    top, zero, none = exponent == 255, exponent == 0, fraction == 0
    quiet = piece(bits, 22, 1) == 1
    tests = [z3.And(top, z3.Not(none), quiet), z3.And(zero, none, z3.Not(negative)), z3.And(zero, none, negative),
             z3.And(top, none, z3.Not(negative)), z3.And(top, none, negative), z3.And(zero, z3.Not(none)),
             z3.And(negative, z3.Not(top), z3.Not(z3.And(zero, none))), z3.And(top, z3.Not(none), z3.Not(quiet))]
    return either(*[test for i, test in enumerate(tests) if wanted >> i & 1])


# Rules of the table: functions of (run, result type, arguments, path), as in symbolic.INTRINSICS.


def each_lane(rule, operands=1):
    """rule(run, bits..., immediate) on each lane; what follows the operands are a mask's source, a mask, and an immediate,
    whichever the intrinsic has: named by the rule through `masked` below."""
    def apply(run, _kind, arguments, _path):
        found = []
        for lane in zip(*arguments[:operands]):
            found.append(Scalar(rule(run, *[each.bits for each in lane], *arguments[operands:]), either(*[each.poison for each in lane])))
        return found
    return apply


def mask_bits(mask, count):
    """A mask's conditions, lane by lane: an integer, or a vector of bits."""
    if isinstance(mask, list):
        return [condition_of(bit.bits) for bit in mask]
    return [condition_of(piece(mask.bits, i, 1)) for i in range(count)]


def masked(rule, operands=1):
    """Arguments: operands, the source of the lanes that the mask leaves out, the mask, immediates."""
    def apply(run, _kind, arguments, _path):
        found, other = [], arguments[operands]
        conditions = mask_bits(arguments[operands + 1], len(arguments[0]))
        for i, lane in enumerate(zip(*arguments[:operands])):
            bits = rule(run, *[each.bits for each in lane], *arguments[operands + 2:])
            found.append(merged(conditions[i], Scalar(bits, either(*[each.poison for each in lane])), other[i]))
        return found + other[len(found):]
    return apply


def parts(values, width):
    """The 128-bit parts of vectors of lanes."""
    step = 128 // width
    for at in range(0, len(values[0]), step):
        yield [value[at:at + step] for value in values]


def clamped(bits, low, high, width):
    wide = bits.size()
    return piece(z3.If(bits < z3.BitVecVal(low, wide), z3.BitVecVal(low, wide),
                       z3.If(bits > z3.BitVecVal(high, wide), z3.BitVecVal(high, wide), bits)), 0, width)


def packed(signed):
    """PACKSS and PACKUS: both vectors, narrowed with saturation within each 128 bits."""
    def apply(_run, _kind, arguments, _path):
        width = arguments[0][0].bits.size()
        half, found = width // 2, []
        low, high = (-(1 << (half - 1)), (1 << (half - 1)) - 1) if signed else (0, (1 << half) - 1)
        for first, second in parts(arguments[:2], width):
            found += [Scalar(clamped(lane.bits, low, high, half), lane.poison) for lane in first + second]
        return found
    return apply


def multiplied(extend_first, saturate):
    """PMADDWD and PMADDUBSW: sums of neighbouring products; the second is signed."""
    def apply(_run, _kind, arguments, _path):
        first, second = arguments
        width = first[0].bits.size()
        found = []
        for i in range(0, len(first), 2):
            exact = sum([extend_first(width + 2, first[i + k].bits) * z3.SignExt(width + 2, second[i + k].bits) for k in (1,)],
                        extend_first(width + 2, first[i].bits) * z3.SignExt(width + 2, second[i].bits))
            bits = clamped(exact, -(1 << (2 * width - 1)), (1 << (2 * width - 1)) - 1, 2 * width) if saturate else piece(exact, 0, 2 * width)
            found.append(Scalar(bits, either(*[each.poison for each in first[i:i + 2] + second[i:i + 2]])))
        return found
    return apply


def shifted(operation):
    """PSLLW, PSRLW, PSRLQ: all lanes by the lowest 64 bits of the second; zero if that is the width or more."""
    def apply(_run, _kind, arguments, _path):
        value, count = arguments
        width = value[0].bits.size()
        low = count[:64 // count[0].bits.size()]
        by, poison = join([lane.bits for lane in low]), either(*[lane.poison for lane in low])
        amount = z3.BitVecVal(constant(by), width) if constant(by) is not None and constant(by) < width else piece(by, 0, width)
        return [Scalar(z3.If(z3.UGE(by, width), z3.BitVecVal(0, width), operation(lane.bits, amount)), either(lane.poison, poison))
                for lane in value]
    return apply


def chosen(entries, index):
    """entries[index] of scalars, a number of them that is a power of two."""
    known = constant(index.bits)
    if known is not None:
        return entries[known]._replace(poison=either(entries[known].poison, index.poison))
    bits = lookup([entry.bits for entry in entries], index.bits, max((len(entries) - 1).bit_length() - 1, 0))
    return Scalar(bits, either(index.poison, *[entry.poison for entry in entries]))


def low_bits(scalar, count):
    return Scalar(piece(scalar.bits, 0, count), scalar.poison)


def shuffled_bytes(_run, _kind, arguments, _path):
    """PSHUFB: within each 128 bits; zero where the index has its top bit."""
    found = []
    for source, index in parts(arguments, 8):
        for each in index:
            value = chosen(source, low_bits(each, 4))
            found.append(merged(condition_of(piece(each.bits, 7, 1)), Scalar(z3.BitVecVal(0, 8), each.poison), value))
    return found


def permuted(_run, _kind, arguments, _path):
    """VPERMB and VPERMQ with indices in a vector: source, index."""
    source, index = arguments
    return [chosen(source, low_bits(each, (len(source) - 1).bit_length())) for each in index]


def permuted_two(_run, _kind, arguments, _path):
    """VPERMI2B and VPERMI2W: first, index, second."""
    first, index, second = arguments
    return [chosen(first + second, low_bits(each, len(first).bit_length())) for each in index]


def blended_bytes(_run, _kind, arguments, _path):
    """VPBLENDVB: the second where the mask's byte has its top bit."""
    return [merged(condition_of(piece(mask.bits, 7, 1)), b, a)._replace(poison=either(mask.poison, a.poison, b.poison))
            for a, b, mask in zip(*arguments)]


def ternary(_run, _kind, arguments, _path):
    """VPTERNLOG: each bit by a table of eight, indexed by the bits of the three."""
    table, found = constant(arguments[3].bits), []
    for lane in zip(*arguments[:3]):
        a, b, c = [each.bits for each in lane]
        bits = z3.BitVecVal(0, a.size())
        for i in range(8):
            if table >> i & 1:
                bits |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        found.append(Scalar(bits, either(*[each.poison for each in lane])))
    return found


def multishifted(_run, _kind, arguments, _path):
    """VPMULTISHIFTQB: control bytes, then quadwords as bytes: 8 bits from the offset of the control on, around the end."""
    control, value = arguments
    found = []
    for at in range(0, len(control), 8):
        whole = join([each.bits for each in value[at:at + 8]])
        poison = either(*[each.poison for each in value[at:at + 8]])
        for each in control[at:at + 8]:
            by = z3.ZeroExt(58, piece(each.bits, 0, 6))
            known = constant(by)
            bits = piece(z3.RotateRight(whole, known if known is not None else by), 0, 8)
            found.append(Scalar(bits, either(poison, each.poison)))
    return found


def compressed(_run, _kind, arguments, _path):
    """VPCOMPRESSB: the bytes of the mask, together."""
    value, other, mask = arguments
    kept = []
    for lane, condition in zip(value, mask_bits(mask, len(value))):
        if not isinstance(condition, bool):
            raise NotTranslated("a compression whose mask depends on the input")
        kept += [lane] if condition else []
    return kept + other[len(kept):]


def bfloats(_run, _kind, arguments, _path):
    """VCVTNE2PS2BF16: the second vector's results are the lower half."""
    return [Scalar(bfloat(lane.bits), lane.poison) for lane in arguments[1] + arguments[0]]


def classes(_run, _kind, arguments, _path):
    wanted = constant(arguments[1].bits)
    return [Scalar(flag(class_of(lane.bits, wanted)), lane.poison) for lane in arguments[0]]


def ranged(run, a, b, *immediates):
    return smaller_magnitude(a, b)


def range_rule(run, kind, arguments, path):
    if constant(arguments[2].bits) != 10:
        raise NotTranslated("VRANGEPS with another immediate")
    return masked(ranged, 2)(run, kind, arguments[:2] + arguments[3:], path)


def half_precision(run, kind, arguments, path):
    """VCVTPS2PH with a mask: value, immediate, the source of other lanes, the mask."""
    value, immediate, other, mask = arguments
    return masked(narrow(16))(run, kind, [value, other, mask, immediate], path)


def narrow(width):
    return lambda run, a, immediate: converted(run, mode_of(immediate), a, width)


def added(run, a, b, immediate):
    return run.float_bits(z3.fpAdd(mode_of(immediate), as_float(a), as_float(b)), a.size())


def fused(run, a, b, c, immediate):
    """VFMADD...PS; of a NaN any payload."""
    return run.float_bits(z3.fpFMA(mode_of(immediate), as_float(a), as_float(b), as_float(c)), a.size())


def accumulated(run, kind, arguments, path):
    """VPDPWSSD: sums of neighbouring products of signed words, added."""
    count = len(arguments[0])
    words = [[Scalar(piece(lane.bits, at, 16), lane.poison) for lane in each for at in (0, 16)] for each in arguments[1:]]
    products = multiplied(z3.SignExt, False)(run, kind, words, path)
    return [Scalar(arguments[0][i].bits + products[i].bits, either(arguments[0][i].poison, products[i].poison)) for i in range(count)]


def from_integer(convert):
    return lambda run, a, immediate: run.float_bits(convert(mode_of(immediate), a, sort_of(a.size())), a.size())


def integral(run, a, immediate):
    """ROUNDPS; of a NaN any payload."""
    return run.float_bits(z3.fpRoundToIntegral(mode_of(immediate), as_float(a)), a.size())


def toward_zero(rule, width):
    """Conversions that truncate; their immediate only concerns exceptions."""
    return lambda run, a, *_: rule(MODES[3], a, width)


def rounded_to(rule, width):
    return lambda run, a, immediate: rule(mode_of(immediate), a, width)


X86 = {
    "llvm.x86.avx.cvt.pd2.ps.256": each_lane(lambda run, a: converted(run, MODES[0], a, 32)),
    "llvm.x86.avx.cvtt.ps2dq.256": each_lane(toward_zero(to_signed, 32)),
    "llvm.x86.avx.min.ps.256": each_lane(least, 2), "llvm.x86.avx.max.ps.256": each_lane(most, 2),
    "llvm.x86.avx.round.ps.256": each_lane(integral),
    "llvm.x86.vcvtps2ph.256": each_lane(narrow(16)),
    **{"llvm.x86.%s" % name: packed(signed) for signed, names in (
        (True, ("avx2.packssdw", "avx2.packsswb", "avx512.packssdw.512", "avx512.packsswb.512")),
        (False, ("avx2.packusdw", "avx2.packuswb", "avx512.packusdw.512", "avx512.packuswb.512"))) for name in names},
    **{"llvm.x86.%s" % name: multiplied(z3.SignExt, False) for name in ("avx2.pmadd.wd", "avx512.pmaddw.d.512")},
    **{"llvm.x86.%s" % name: multiplied(z3.ZeroExt, True) for name in ("avx2.pmadd.ub.sw", "avx512.pmaddubs.w.512")},
    **{"llvm.x86.%s" % name: shuffled_bytes for name in ("avx2.pshuf.b", "avx512.pshuf.b.512")},
    "llvm.x86.avx2.psll.w": shifted(lambda a, by: a << by), "llvm.x86.avx2.psrl.w": shifted(z3.LShR),
    "llvm.x86.avx2.psrl.d": shifted(z3.LShR), "llvm.x86.avx512.psrl.d.512": shifted(z3.LShR),
    "llvm.x86.avx512.psrl.w.512": shifted(z3.LShR), "llvm.x86.avx512.psrl.q.512": shifted(z3.LShR),
    "llvm.x86.avx2.pblendvb": blended_bytes,
    "llvm.x86.avx512.permvar.qi.512": permuted, "llvm.x86.avx512.permvar.di.512": permuted,
    "llvm.x86.avx512.vpermi2var.hi.512": permuted_two, "llvm.x86.avx512.vpermi2var.qi.512": permuted_two,
    "llvm.x86.avx512.pternlog.d.512": ternary, "llvm.x86.avx512.pternlog.q.512": ternary,
    "llvm.x86.avx512.pmultishift.qb.512": multishifted, "llvm.x86.avx512.mask.compress": compressed,
    "llvm.x86.avx512.add.ps.512": each_lane(added, 2), "llvm.x86.avx512.vfmadd.ps.512": each_lane(fused, 3),
    "llvm.x86.avx512.vpdpwssd.512": accumulated,
    "llvm.x86.avx512.min.ps.512": each_lane(lambda run, a, b, _: least(run, a, b), 2),
    "llvm.x86.avx512.max.ps.512": each_lane(lambda run, a, b, _: most(run, a, b), 2),
    "llvm.x86.avx512.mask.range.ps.512": range_rule,
    "llvm.x86.avx512.mask.cvtps2dq.512": masked(rounded_to(to_signed, 32)),
    "llvm.x86.avx512.mask.cvtps2udq.512": masked(rounded_to(to_unsigned, 32)),
    "llvm.x86.avx512.mask.cvtpd2ps.512": masked(narrow(32)),
    "llvm.x86.avx512.mask.cvttpd2qq.512": masked(toward_zero(to_signed, 64)),
    "llvm.x86.avx512.mask.cvttpd2uqq.512": masked(toward_zero(to_unsigned, 64)),
    "llvm.x86.avx512.mask.vcvtps2ph.512": half_precision,
    "llvm.x86.avx512.sitofp.round": each_lane(from_integer(z3.fpSignedToFP)),
    "llvm.x86.avx512.uitofp.round": each_lane(from_integer(z3.fpUnsignedToFP)),
    "llvm.x86.avx512bf16.cvtne2ps2bf16.512": bfloats,
    "llvm.x86.avx512.fpclass.ps.512": classes,
}
