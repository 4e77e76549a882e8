# SPDX-License-Identifier: MIT
"""The core against other libraries: NumPy, ml_dtypes, en_dtypes, gfloat and torch, each optional. Bits are compared, NaN by
class. If a library is known to differ from the specification, the difference is listed here and those inputs are
excluded, never compared with a tolerance:

  ml_dtypes  NaN into a format without NaN: code 0x20 or 0x08 by sign; here the largest finite.
  ml_dtypes  e8m0: below 2^-127 NaN or 0x00, and 2^-127 < x < 2^-126 always rounds up.
  ml_dtypes  array casts of fp64 go through fp32, so only inputs that fp32 holds are used.
  en_dtypes  hif8: ties go away from zero and nothing else is offered, so only --round nearest-away is compared.
  gfloat     e8m0 ties go to the even code; negative numbers into unsigned formats have no rule.
  gfloat     ties away: adds 1/2 in fp64, which itself rounds; only inputs that fp32 holds are used.
  gfloat     raises where a format has neither infinity nor NaN.
"""

import decimal
import importlib
import math
import random

import formats
import philox
from formats import FORMATS
from harness import Tally, arguments, ask

NUMPY_FLOATS = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}
ML_FLOATS = {
    "bf16": "bfloat16", "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn",
    "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3fnuz": "float8_e4m3fnuz",
    "fp8_e4m3": "float8_e4m3", "fp8_e3m4": "float8_e3m4",
    "fp8_e4m3b11fnuz": "float8_e4m3b11fnuz", "fp8_e8m0": "float8_e8m0fnu",
    "fp6_e3m2": "float6_e3m2fn", "fp6_e2m3": "float6_e2m3fn", "fp4_e2m1": "float4_e2m1fn",
}
ML_INTS = ("int1", "int2", "int4", "uint1", "uint2", "uint4")
GFLOAT_FLOATS = {
    "fp64": "binary64", "fp32": "binary32", "fp16": "binary16", "bf16": "bfloat16",
    "fp8_e5m2": "ocp_e5m2", "fp8_e4m3fn": "ocp_e4m3", "fp6_e2m3": "ocp_e2m3",
    "fp6_e3m2": "ocp_e3m2", "fp4_e2m1": "ocp_e2m1", "fp8_e8m0": "ocp_e8m0",
}
TORCH_FLOATS = {
    "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16",
    "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn",
    "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3fnuz": "float8_e4m3fnuz",
    "fp8_e8m0": "float8_e8m0fnu",
}


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def our_values(probe, name):
    """{code: float} for a format up to 16 bits, from its exact spelling."""
    fmt = FORMATS[name]
    lines = ask(probe, [f"codes {name} 0 {(1 << fmt.width) - 1:x}"])
    words = [line.split(" ") for line in lines]
    return {int(w[0], 16): float(w[11]) for w in words}


def same(a, b):
    """Equal as numbers, including the sign of zero; any two NaNs are equal."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def check_values(tally, who, name, ours, theirs):
    tally.check(f"{who} {name} codes", len(theirs), len(ours))
    for code, value in ours.items():
        tally.checked += 1
        if not same(value, float(theirs[code])):
            tally.differ(f"{who} {name} {code:#x}", value, float(theirs[code]))


def convert_all(probe, source, codes, destination, policy):
    requests = [f"convert {source} {code:x} {destination} {policy} 0 0" for code in codes]
    return [int(line.split()[0], 16) for line in ask(probe, requests)]


def is_nan(fmt, code):
    return fmt.is_float and code in fmt.nan


def check_converted(tally, who, source, inputs, destination, ours, theirs):
    """Compares the codes of one destination; NaN compares as a class."""
    fmt = FORMATS[destination]
    for code, got, want in zip(inputs, ours, theirs, strict=True):
        tally.checked += 1
        if got != want and not (is_nan(fmt, got) and is_nan(fmt, want)):
            tally.differ(f"{who} {source} {code:#x} -> {destination}", hex(got), hex(want))


def fp64_codes(rng, count, low=-1080, high=1026):
    """fp64 codes with binades spread over the exponent range that matters for a destination."""
    found = []
    for _ in range(count):
        exponent = min(max(rng.randrange(low, high) + 1023, 0), 2046)
        mantissa = rng.getrandbits(52)
        if rng.random() < 0.5:      # near a tie of a narrower format
            kept = rng.randrange(53)
            mantissa = (mantissa >> kept << kept) + rng.choice((-1, 0, 1)) & (1 << 52) - 1
        found.append(rng.getrandbits(1) << 63 | exponent << 52 | mantissa)
    return found


def numpy_part(tally, probe, np, rng, count):
    """fp16 decode; fp64 -> fp32 and fp16, fp32 -> fp16, integers both ways: one rounding each."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    check_values(tally, "numpy", "fp16", our_values(probe, "fp16"), halves.astype(np.float64))

    for name, bits, low, high in (("fp32", np.uint32, -152, 131), ("fp16", np.uint16, -28, 19)):
        codes = fp64_codes(rng, count, low, high) + [0, 1 << 63, 0x7ff << 52, 0xfff << 52]
        doubles = np.array(codes, dtype=np.uint64).view(np.float64)
        with np.errstate(all="ignore"):
            theirs = doubles.astype(NUMPY_FLOATS[name]).view(bits).tolist()
        ours = convert_all(probe, "fp64", codes, name, "nearest-even native quiet")
        check_converted(tally, "numpy", "fp64", codes, name, ours, theirs)

    for name, bits in (("fp16", np.uint16), ("fp32", np.uint32)):   # the shortest decimals
        width = FORMATS[name].width
        codes = [rng.getrandbits(width) for _ in range(count)]
        values = np.array(codes, bits).view(NUMPY_FLOATS[name])
        lines = ask(probe, [f"shortest {name} {code:x}" for code in codes])
        for code, value, line in zip(codes, values, lines, strict=True):
            if np.isfinite(value):
                want = decimal.Decimal(np.format_float_scientific(value, unique=True))
                tally.check(f"numpy {name} {code:#x} shortest", decimal.Decimal(line), want)

    singles = [rng.getrandbits(32) for _ in range(count)]
    singles += [rng.randrange(0x33000000, 0x47800000) for _ in range(count)]
    with np.errstate(all="ignore"):
        theirs = np.array(singles, np.uint32).view(np.float32).astype(np.float16).view(np.uint16)
    ours = convert_all(probe, "fp32", singles, "fp16", "nearest-even native quiet")
    check_converted(tally, "numpy", "fp32", singles, "fp16", ours, theirs.tolist())

    for source in ("int64", "uint64", "int32"):
        width = FORMATS[source].width
        codes = [rng.getrandbits(width) >> rng.randrange(width) for _ in range(count)]
        codes += [(1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1, 0]
        array = np.array(codes, f"uint{width}").view(source)
        for name, bits in (("fp64", np.uint64), ("fp32", np.uint32)):
            theirs = array.astype(NUMPY_FLOATS[name]).view(bits).tolist()
            ours = convert_all(probe, source, codes, name, "nearest-even native quiet")
            check_converted(tally, "numpy", source, codes, name, ours, theirs)
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            theirs = array.astype(name).view(f"uint{FORMATS[name].width}").tolist()
            ours = convert_all(probe, source, codes, name, "zero wrap quiet")
            check_converted(tally, "numpy", source, codes, name, ours, theirs)

    for name in ("int32", "int64", "int8", "uint16", "uint64"):     # in range: C truncates
        fmt = FORMATS[name]
        codes = fp64_codes(rng, count, -3, fmt.width - 1)
        if not fmt.signed:
            codes = [code & (1 << 63) - 1 for code in codes]
        doubles = np.array(codes, np.uint64).view(np.float64)
        theirs = doubles.astype(name).view(f"uint{fmt.width}").tolist()
        if fmt.signed:              # binade width - 1 holds only one number of the type
            keep = [i for i, x in enumerate(doubles) if abs(x) < 2.0 ** (fmt.width - 1)]
            codes, theirs = [codes[i] for i in keep], [theirs[i] for i in keep]
        ours = convert_all(probe, "fp64", codes, name, "zero native quiet")
        check_converted(tally, "numpy", "fp64", codes, name, ours, theirs)


def single_codes(rng, count):
    """fp32 inputs: every upper half with both neighbours of the middle, and random ones."""
    tails = (0, 0x8000, 0x7fff, 0x8001, 0xffff)
    step = max(1, (1 << 16) * len(tails) // (4 * count))
    found = [high << 16 | tail for high in range(0, 1 << 16, step) for tail in tails]
    # fp8 and smaller formats lie between 2^-20 and 2^17: their midpoints have few bits
    for _ in range(count):
        exponent = rng.randrange(127 - 24, 127 + 19)
        mantissa = rng.getrandbits(6) << 17
        found.append(rng.getrandbits(1) << 31 | exponent << 23 | (mantissa + rng.choice((-1, 0, 1)))
                     & 0x7fffff)
    return found


def ml_dtypes_part(tally, probe, np, ml, rng, count):
    for name, theirs in ML_FLOATS.items():
        if not hasattr(ml, theirs):
            tally.skip(f"ml_dtypes has no {theirs}")
            continue
        fmt, dtype = FORMATS[name], np.dtype(getattr(ml, theirs))
        bits = np.uint16 if fmt.width == 16 else np.uint8
        codes = np.arange(1 << fmt.width, dtype=bits)
        with np.errstate(invalid="ignore"):
            values = codes.view(dtype).astype(np.float64)
        check_values(tally, "ml_dtypes", name, our_values(probe, name), values)

        inputs = single_codes(rng, count)
        with np.errstate(all="ignore"):
            singles = np.array(inputs, np.uint32).view(np.float32)
            stored = singles.astype(dtype).view(bits).tolist()
        if not fmt.nan or fmt.scale:
            keep = [i for i, x in enumerate(singles)
                    if not math.isnan(x) and (not fmt.scale or x >= 2.0 ** -126)]
            inputs, stored = [inputs[i] for i in keep], [stored[i] for i in keep]
        ours = convert_all(probe, "fp32", inputs, name, "nearest-even native quiet")
        check_converted(tally, "ml_dtypes", "fp32", inputs, name, ours, stored)
    for name in ML_INTS:
        if not hasattr(ml, name):
            tally.skip(f"ml_dtypes has no {name}")
            continue
        fmt, dtype = FORMATS[name], np.dtype(getattr(ml, name))
        codes = np.arange(1 << fmt.width, dtype=np.uint8)
        check_values(tally, "ml_dtypes", name, our_values(probe, name),
                     codes.view(dtype).astype(np.float64))
        wide = np.arange(-300, 300, dtype=np.int32)
        theirs = [int(x) & (1 << fmt.width) - 1 for x in wide.astype(dtype).astype(np.int32)]
        inputs = wide.view(np.uint32).tolist()
        ours = convert_all(probe, "int32", inputs, name, "zero wrap quiet")
        check_converted(tally, "ml_dtypes", "int32", inputs, name, ours, theirs)


# Unsigned formats that gfloat does not name: bits, precision, bias, extended, high NaNs.
GFLOAT_MADE = {
    "fp8_ue4m3": (7, 4, 7, False, 1), "fp8_ue5m3": (8, 4, 15, False, 1),
    "ue2m3fn": (5, 4, 1, False, 1), "ue3m4": (7, 5, 3, True, 15), "ue6m10": (16, 11, 31, True, 1023),
}


def gfloat_format(gfloat, fmts, name):
    if name in GFLOAT_FLOATS:
        return getattr(fmts, "format_info_" + GFLOAT_FLOATS[name])
    if name in GFLOAT_MADE:
        k, p, bias, extended, nans = GFLOAT_MADE[name]
        domain = gfloat.Domain.Extended if extended else gfloat.Domain.Finite
        return gfloat.FormatInfo(name, k, p, bias=bias, is_signed=False, domain=domain, has_nz=False,
                                 num_high_nans=nans, has_subnormals=True, is_twos_complement=False)
    if not name.startswith("binary"):
        return None
    k, p = name[6:-2].split("p")
    signed = gfloat.Signedness.Signed if name[-2] == "s" else gfloat.Signedness.Unsigned
    domain = gfloat.Domain.Extended if name[-1] == "e" else gfloat.Domain.Finite
    return fmts.format_info_p3109(int(k), int(p), signed, domain)


def gfloat_inputs(fmt, rng, count):
    """Doubles at, next to and between the format's values, beyond them, and the infinities."""
    top = fmt.max_index
    found = []
    for _ in range(count):
        low = rng.randrange(top + 1)
        here, there = float(fmt.magnitude(low)), float(fmt.magnitude(low + 1))
        middle = (here + there) / 2
        found += [here, middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf),
                  rng.uniform(here, there)]
    last = float(fmt.magnitude(top + 1))
    found += [last, last * 1.5, last * 2 ** 20, math.inf, math.nan, 0.0]
    if not fmt.scale:
        found += [float(fmt.magnitude(1)) * x for x in (0.5, 0.25, 0.75, 2.0 ** -40)]
    if fmt.scale:
        found = [x for x in found if not x < 2.0 ** -127]
    return found + ([-x for x in found] if fmt.signed else [])


def en_dtypes_part(tally, probe, np, en, rng, count):
    """HiFloat8 as Huawei's package stores it: every code, all 2^16 fp16 and bf16 codes, and many fp32."""
    dtype = np.dtype(en.hifloat8)
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    check_values(tally, "en_dtypes", "hif8", our_values(probe, "hif8"), values)
    every = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        halves = every.view(np.float16).astype(np.float32).view(np.uint32).tolist()
    inputs = halves + (every.astype(np.uint32) << 16).tolist() + single_codes(rng, count)
    with np.errstate(all="ignore"):
        stored = np.array(inputs, np.uint32).view(np.float32).astype(dtype).view(np.uint8).tolist()
    ours = convert_all(probe, "fp32", inputs, "hif8", "nearest-away native quiet")
    check_converted(tally, "en_dtypes", "fp32", inputs, "hif8", ours, stored)


def gfloat_part(tally, probe, np, gfloat, rng, count):
    fmts = importlib.import_module("gfloat.formats")
    mode = gfloat.RoundMode
    modes = {"nearest-even": mode.TiesToEven, "nearest-away": mode.TiesToAway,
             "zero": mode.TowardZero, "up": mode.TowardPositive, "down": mode.TowardNegative,
             "stochastic": mode.StochasticFastest}
    for fmt in formats.floats(16):
        info = gfloat_format(gfloat, fmts, fmt.name)
        if info is None:
            continue
        theirs = [gfloat.decode_float(info, code).fval for code in range(1 << fmt.width)]
        check_values(tally, "gfloat", fmt.name, our_values(probe, fmt.name), theirs)

        inputs = gfloat_inputs(fmt, rng, count)
        codes = np.array(inputs, np.float64).view(np.uint64).tolist()
        for name, theirs in modes.items():
            if fmt.scale and name in ("nearest-even", "stochastic"):
                continue
            for overflow in ("native", "saturate"):
                gfloat_compare(tally, probe, gfloat, fmt, info, inputs, codes, name, theirs,
                               overflow)


def gfloat_compare(tally, probe, gfloat, fmt, info, inputs, codes, name, mode, overflow):
    seed = 42
    if name == "nearest-away":
        keep = [i for i, code in enumerate(codes) if code & 0x1fffffff == 0]
        inputs, codes = [inputs[i] for i in keep], [codes[i] for i in keep]
    requests = [f"convert fp64 {code:x} {fmt.name} {name} {overflow} quiet {seed:x} {i}"
                for i, code in enumerate(codes)]
    for i, (x, line) in enumerate(zip(inputs, ask(probe, requests), strict=True)):
        try:
            bits = philox.random_bits(seed, i) if name == "stochastic" else -1
            rounded = gfloat.round_float(info, x, mode, sat=overflow == "saturate", srbits=bits,
                                         srnumbits=32)
        except ValueError:
            continue
        cls, negative, value = fmt.decode(int(line.split()[0], 16))
        got = math.nan if cls == formats.NAN else math.inf if cls == formats.INF else float(value)
        got = -got if negative else got
        tally.checked += 1
        if not same(got, rounded):
            tally.differ(f"gfloat {x.hex()} -> {fmt.name} {name} {overflow}", got, rounded)


def torch_part(tally, probe, np, torch, rng, count):
    for name, theirs in TORCH_FLOATS.items():
        if not hasattr(torch, theirs):
            tally.skip(f"torch has no {theirs}")
            continue
        fmt, dtype = FORMATS[name], getattr(torch, theirs)
        if fmt.width <= 16:
            carrier = torch.uint8 if fmt.width == 8 else torch.int16
            raw = np.arange(1 << fmt.width, dtype=np.uint16 if fmt.width == 16 else np.uint8)
            if fmt.width == 16:
                raw = raw.view(np.int16)
            values = torch.from_numpy(raw.copy()).to(carrier).view(dtype).to(torch.float64)
            check_values(tally, "torch", name, our_values(probe, name), values.tolist())
        if name in ("fp16", "bf16"):        # fp32 -> 16 bits is a single rounding there
            inputs = single_codes(rng, count)
            singles = torch.from_numpy(np.array(inputs, np.uint32).view(np.float32))
            stored = singles.to(dtype).view(torch.int16).numpy().view(np.uint16).tolist()
            ours = convert_all(probe, "fp32", inputs, name, "nearest-even native quiet")
            check_converted(tally, "torch", "fp32", inputs, name, ours, stored)


def main():
    probe, long = arguments()
    rng = random.Random(20260628)
    tally = Tally()
    np = optional("numpy")
    if np is None:
        tally.skip("numpy, and with it every other library")
        tally.finish()
    numpy_part(tally, probe, np, rng, 400000 if long else 8000)
    tally.part("numpy " + np.__version__)
    for name, part, count in (("ml_dtypes", ml_dtypes_part, 60000 if long else 5000),
                              ("en_dtypes", en_dtypes_part, 200000 if long else 5000),
                              ("gfloat", gfloat_part, 4000 if long else 70),
                              ("torch", torch_part, 200000 if long else 8000)):
        module = optional(name)
        if module is None:
            tally.skip(name)
            continue
        part(tally, probe, np, module, rng, count)
        tally.part(name)
    tally.finish()


if __name__ == "__main__":
    main()
