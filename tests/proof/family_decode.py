# SPDX-License-Identifier: MIT
"""Decoding to the hubs fp32, fp64 and int64: each format that the hub holds, all containers, those with stray bits around the code
included. Formats of 8 bits and less by their tables of values, others in SMT-LIB's floats. A NaN becomes quiet; it keeps sign and
payload where the format is IEEE's, the sign where it has one of each sign."""
from lanes import INF, Run, Source, bytes_of, constants, container, formats, lookup, module, z3
from lanes_shown import decoding
from seeded import Bug
from theorem import Claim, Theorem, defined

FAMILY = "Every code of every format to fp32, fp64 or int64: `lanes_decode.c`, for all containers"
HUBS = {"f32": Source("fp32"), "f64": Source("fp64")}


def expected(fmt, hub, code):
    """The bits of one code in a hub, as the oracle decodes it."""
    kind, negative, value = fmt.decode(code)
    sign = negative << (hub.width - 1)
    if kind == INF:
        return sign | hub.infinity()
    if kind == "nan":
        quiet = hub.infinity() | 1 << (hub.format.man - 1)
        signed = fmt.signed and code & ~fmt.sign_bit in fmt.nan
        payload = (code & ((1 << fmt.man) - 1)) << (hub.format.man - fmt.man) if fmt.ieee else 0
        return quiet | payload | (sign if signed else 0)
    pattern = hub.pattern(value, False)
    assert hub.format.magnitude(pattern) == value
    return sign | pattern


def by_sort(fmt, hub, code, bits):
    """Whether the bits are the number of an IEEE format's code."""
    number = z3.fpBVToFP(code, z3.FPSort(fmt.exp, fmt.man + 1))
    inf, place = hub.infinity(), hub.format.man - fmt.man
    mantissa = z3.ZeroExt(hub.width - fmt.man, z3.Extract(fmt.man - 1, 0, code)) << place
    sign = z3.ZeroExt(hub.width - 1, z3.Extract(fmt.width - 1, fmt.width - 1, code)) << (hub.width - 1)
    quiet = bits == sign | inf | 1 << (hub.format.man - 1) | mantissa
    return z3.If(z3.fpIsNaN(number), quiet, z3.fpBVToFP(bits, hub.sort()) == z3.fpFPToFP(z3.RNE(), number, hub.sort()))


def integer(fmt, code, hub, bits):
    """Whether the bits are an integer code's number."""
    if fmt.kind == "bool":
        value = z3.If(code != 0, z3.BitVecVal(1, 64), z3.BitVecVal(0, 64))
    elif fmt.width == 64:
        value = code
    else:
        value = (z3.SignExt if fmt.signed else z3.ZeroExt)(64 - fmt.width, code)
    return bits == value if hub is None else z3.fpBVToFP(bits, hub.sort()) == z3.fpSignedToFP(z3.RNE(), value, hub.sort())


def claim(fmt, lane, lane_bits, hub):
    run, (width, shift) = Run(module()), container(fmt)
    x = z3.BitVec("x", width)
    decoder = run.object("decoder", [z3.BitVecVal(byte, 8) for byte in constants()["decoder", fmt.name]])
    size = 64 if hub is None else hub.width
    target = run.object("target", [None] * (size // 8))
    run.call("of_" + lane, [decoder, target, run.object("source", bytes_of(x if width == lane_bits else z3.ZeroExt(lane_bits - width, x)))])
    stored = run.value_of_bytes(("int", size), [run.memory["target"][i] for i in range(size // 8)])
    code = z3.Extract(shift + fmt.width - 1, shift, x)
    if not fmt.is_float:
        goal = integer(fmt, code, hub, stored.bits)
    elif fmt.width <= 8:
        values = [z3.BitVecVal(expected(fmt, hub, each), size) for each in range(1 << fmt.width)]
        goal = stored.bits == lookup(values, code, fmt.width - 1)
    else:
        goal = by_sort(fmt, hub, code, stored.bits)
    return Claim(run, {"x": x}, z3.And(defined(stored), goal))


def fits(fmt, hub):
    """Whether every number of a float is one of the hub."""
    wide, least = hub.format, fmt.magnitude(0 if fmt.scale else 1)
    return (fmt.man <= wide.man and fmt.magnitude(fmt.max_index) <= wide.magnitude(wide.max_index)
            and wide.magnitude(hub.pattern(least, False)) == least)


def rows():
    """(format, lane, bits of what the lane reads, hub or None for int64)."""
    for fmt in formats(("float", "ufloat")):
        if fits(fmt, HUBS["f32"]):
            yield fmt, "floats_f32", 32, HUBS["f32"]
            yield fmt, "narrow_floats_f64", 32, HUBS["f64"]
        yield fmt, "floats_f64", 64, HUBS["f64"]
    for fmt in formats(("int", "uint", "bool")):
        magnitude = fmt.width - fmt.signed if fmt.kind != "bool" else 1
        if magnitude <= 24:
            yield fmt, "integers_f32", 32, HUBS["f32"]
        if magnitude <= 51:
            yield fmt, "integers_f64", 64, HUBS["f64"]
        if fmt.name != "uint64":
            yield fmt, "integers_i64", 64, None


def theorems(sample):
    for count, (fmt, lane, bits, hub) in enumerate(rows()):
        if not sample or count % 10 == 0:
            yield Theorem("decode", "%s, %s" % (fmt.name, lane), lambda row=(fmt, lane, bits, hub): claim(*row))


SEEDED = (
    Bug("the code of minus zero is zero", "kernels/cast/lanes_decode.h", "return code == (uint32_t)d->nan && d->nan != 0 ?", "return 0 ?",
        "fp8_e4m3fnuz, floats_f32", {}, decoding("fp8_e4m3fnuz", "floats_f32", 4, 32)),
    Bug("a scale of field 0 is a subnormal", "kernels/cast/lanes_decode.h", "DTI_SPECIALS_SCALE ? 0 : 1;", "DTI_SPECIALS_SCALE ? 1 : 1;",
        "fp8_e8m0, floats_f32", {}, decoding("fp8_e8m0", "floats_f32", 4, 32)),
)
