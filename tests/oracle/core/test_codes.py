# SPDX-License-Identifier: MIT
"""Every code of every format up to 16 bits (random codes of wider ones): its decoded value, encoding back, its
neighbours, and its four spellings. Values come from formats.py and `text` from Python's repr; `shortest` is checked by
a search over all decimals of each length.
"""

import decimal
import random
import struct
from fractions import Fraction

import formats
from formats import FORMATS, INF, NAN, OVERFLOW, encode, floor_log2, power_of_two
from harness import QUICK, Tally, arguments, ask

BLOCK = 8192        # codes per request


class Line:
    """One answer line of the probe's "codes"."""

    def __init__(self, text):
        words = text.split(" ")
        self.code, self.reencoded = int(words[0], 16), int(words[1], 16)
        self.cls, self.negative = words[2], words[3] == "-"
        self.significand = (int(words[4], 16) << 64) | int(words[5], 16)
        self.exponent = int(words[6])
        self.up, self.down = (None if w == "none" else int(w, 16) for w in words[7:9])
        self.text, self.shortest, self.exact, self.hexfloat = words[9:]

    def value(self):
        if self.cls == "zero":
            return Fraction(0)
        return self.significand * power_of_two(self.exponent - 127)


def codes_of(fmt, long, rng):
    """Ranges (first, last) of codes."""
    top = (1 << fmt.width) - 1
    if fmt.width <= 16:
        return [(a, min(a + BLOCK - 1, top)) for a in range(0, top + 1, BLOCK)]
    starts = {0, top - 40, (1 << fmt.width - 1) - 20}
    if fmt.is_float:
        starts |= {max(fmt.max_index - 20, 0), max((1 << fmt.man) - 20, 0)}
        starts |= {(rng.randrange(1, 1 << fmt.exp) << fmt.man) - 10 for _ in range(30 if fmt.exp < 15 else 10)}
    count = 100 if fmt.exp < 15 else 10     # long digit strings are slow
    starts |= {rng.randrange(top - 40) for _ in range(2000 if long else count)}
    return [(a, a + 40) for a in sorted(starts)]


def kept_code(fmt, code, cls):
    """The code that a decoded code re-encodes to."""
    if cls == NAN:
        if not fmt.ieee:
            return code
        return code | 1 << fmt.man - 1                      # quieted; sign and payload kept
    return code


def check_decode(tally, fmt, line):
    cls, negative, value = fmt.decode(line.code)
    name = f"{fmt.name} {line.code:#x}"
    tally.check(f"{name} class", line.cls, cls)
    if cls in ("zero", "finite"):
        tally.check(f"{name} value", (line.negative, line.value()), (negative, value))
        if cls == "finite":
            tally.check(f"{name} leading bit", line.significand >> 127, 1)
    elif cls == INF:
        tally.check(f"{name} sign", line.negative, negative)
    elif fmt.ieee:
        payload = (line.code & (1 << fmt.man) - 1) << (128 - fmt.man)
        tally.check(f"{name} payload", (line.negative, line.significand), (negative, payload))
    want = kept_code(fmt, line.code, cls) if fmt.kind != "bool" else int(line.code != 0)
    tally.check(f"{name} encoded again", line.reencoded, want)


def python_text(cls, negative, value):
    """repr without ".0"; None if fp64 cannot hold the value and it is not a 64-bit integer."""
    sign = "-" if negative else ""
    if cls == NAN:
        return NAN
    if cls == INF:
        return sign + INF
    try:
        near = float(value)
    except OverflowError:
        return None
    if Fraction(near) == value:
        text = repr(near)
        return sign + (text[:-2] if text.endswith(".0") else text)
    if value.denominator == 1 and value < 1 << 64:
        return sign + str(value)
    return None


def python_hex(value):
    """C99 %a: a leading 1 and the fewest hexadecimal digits that hold the rest."""
    if value == 0:
        return "0x0p+0"
    exponent = floor_log2(value)
    rest, digits = value / power_of_two(exponent) - 1, ""
    while rest:
        rest *= 16
        digits += "0123456789abcdef"[rest // 1]
        rest -= rest // 1
    return f"0x1{'.' + digits if digits else ''}p{exponent:+d}"


def plain_decimal(value):
    """The full expansion without an exponent."""
    text = formats.decimal_text(value)
    digits, _, places = text.partition("e-")
    if not places:
        return digits
    digits = digits.rjust(int(places) + 1, "0")
    return digits[:-int(places)] + "." + digits[-int(places):]


def spelled(text):
    """(negative, Fraction, significant digits) of a decimal."""
    negative, text = text.startswith("-"), text.lstrip("-")
    digits = text.partition("e")[0].replace(".", "").strip("0")
    return negative, Fraction(text), max(len(digits), 1)


def decimals_near(value, digits):
    """The decimals of this many digits just below and just above (or at) a value."""
    exponent = 0
    while Fraction(10) ** exponent <= value:
        exponent += 1
    while Fraction(10) ** (exponent - 1) > value:
        exponent -= 1
    unit = Fraction(10) ** (exponent - digits)
    return value // unit * unit, -(-value // unit) * unit


def even_last_digit(value, digits):
    unit = Fraction(1)
    while value >= unit * 10 ** digits:
        unit *= 10
    while value < unit * 10 ** (digits - 1):
        unit /= 10
    return (value / unit) % 2 == 0


def check_shortest(tally, fmt, line, magnitude):
    """It reads back, fewer digits would not, and no decimal of the same length is nearer."""
    name = f"{fmt.name} {line.code:#x} shortest {line.shortest}"
    negative, value, digits = spelled(line.shortest)
    tally.check(f"{name} sign", negative, line.negative)

    def reads_back(x):
        # By rounding, not clamping: 30 is beyond fp6_e3m2 although it would be stored as 28.
        code, flags = encode(fmt, "finite", False, x)
        return code == fmt.unsigned(line.code) and not flags & OVERFLOW

    tally.check(f"{name} reads back", reads_back(value), True)
    for fewer in range(1, digits):
        shorter = [x for x in decimals_near(magnitude, fewer) if reads_back(x)]
        tally.check(f"{name} with {fewer} digits", [str(x) for x in shorter], [])
    if fmt.exp < 12:
        tally.check(f"{name} layout", line.shortest.lstrip("-"), f"{float(value):.{digits}g}")
    good = [x for x in decimals_near(magnitude, digits) if reads_back(x)]
    best = min(abs(x - magnitude) for x in good)
    nearest = [x for x in good if abs(x - magnitude) == best]
    if len(set(nearest)) == 2:                  # halfway: the even digit, as in repr and %g
        nearest = [x for x in nearest if even_last_digit(x, digits)]
    tally.check(f"{name} nearest", value, nearest[0])


def check_spelling(tally, fmt, line, thorough):
    cls, negative, value = fmt.decode(line.code)
    name = f"{fmt.name} {line.code:#x}"
    sign = "-" if negative and cls != NAN else ""
    text = python_text(cls, negative and cls != NAN, value)
    if text is not None:
        tally.check(f"{name} text", line.text, text)
    if cls in (NAN, INF):
        for how in ("shortest", "exact", "hexfloat"):
            tally.check(f"{name} {how}", getattr(line, how), sign + cls)
        return
    tally.check(f"{name} hexfloat", line.hexfloat, sign + python_hex(value))
    tally.check(f"{name} exact", line.exact, sign + plain_decimal(value))
    if value == 0 or not fmt.is_float:
        tally.check(f"{name} shortest", line.shortest, sign + plain_decimal(value))
    elif thorough:
        check_shortest(tally, fmt, line, value)


def check_read_back(tally, probe, fmt, lines):
    """Every spelling, read by the core, gives the code again."""
    requests, wants = [], []
    for line in lines:
        if fmt.kind == "bool" or line.cls == NAN:
            continue
        for how in ("text", "shortest", "exact", "hexfloat"):
            if how == "text" and not fmt.is_float:
                continue                    # meant for fp64 readers, as in python_text()
            spelling = getattr(line, how)
            requests.append(f"encode {fmt.name} nearest-even native quiet 0 0 {spelling}")
            wants.append(line.code)
    if requests:
        for request, want, got in zip(requests, wants, ask(probe, requests), strict=True):
            tally.check(request, int(got.split()[0], 16), want)


def check_counted_digits(tally, probe, rng, count):
    """A chosen number of digits, as in C's %g, %e and %f: Python rounds exactly, ties to even."""
    requests, wants = [], []
    for _ in range(count):
        name = rng.choice(("fp64", "fp64", "fp32", "fp16", "bf16", "fp8_e4m3fn"))
        fmt = FORMATS[name]
        code = rng.getrandbits(fmt.width)
        if rng.random() < 0.3:          # few bits: many exact ties
            code = code >> fmt.man - 1 << fmt.man - 1
        cls, negative, value = fmt.decode(code)
        if cls in (NAN, INF):
            continue
        number = -float(value) if negative else float(value)
        digits, decimals = rng.randrange(1, 18), rng.choice((0, 1, 2, 5, 17, 60, 300))
        for how, n, form in (("digits", digits, "g"), ("scientific", digits - 1, "e"),
                             ("fixed", decimals, "f")):
            requests.append(f"{how} {n} {name} {code:x}")
            wants.append(f"{number:.{n}{form}}")
    for request, got, want in zip(requests, ask(probe, requests), wants, strict=True):
        tally.check(request, got, want)


def check_reprs(tally, probe, rng, count):
    """The fp64 spellings against Python's repr, which is the shortest and the nearest of those."""
    codes = [rng.getrandbits(64) for _ in range(count)]
    codes += [rng.getrandbits(1) << 63 | rng.randrange(2047) << 52 for _ in range(count // 10)]
    codes += [rng.getrandbits(rng.randrange(1, 53)) for _ in range(count // 10)]
    codes += [struct.unpack("<Q", struct.pack("<d", rng.choice((1, 10, 1e5, 1e16, 1e17))
                                              * rng.randrange(10 ** rng.randrange(1, 17))))[0]
              for _ in range(count // 5)]
    codes = [code for code in codes if code >> 52 & 0x7ff != 0x7ff]
    for how in ("text", "shortest"):
        requests = [f"{how} fp64 {code:x}" for code in codes]
        for code, got in zip(codes, ask(probe, requests), strict=True):
            number = struct.unpack("<d", struct.pack("<Q", code))[0]
            if how == "text":
                tally.check(f"text fp64 {code:#x}", got, repr(number).removesuffix(".0"))
            else:
                want = decimal.Decimal(repr(number))
                tally.check(f"shortest fp64 {code:#x}", decimal.Decimal(got), want)


def order(fmt):
    """The codes of all numbers in ascending order, including infinities, with a single zero."""
    if fmt.kind == "bool":
        return [0, 1]
    ranks = fmt.values()
    found = [ranks[v] for v in sorted(ranks)]
    if fmt.inf:
        found.append(fmt.inf[0])
        if len(fmt.inf) > 1:
            found.insert(0, fmt.inf[1])
    return found


def check_neighbours(tally, fmt, lines):
    """Stepping up and down visits the sorted values."""
    codes = order(fmt)
    place = {code: i for i, code in enumerate(codes)}
    if fmt.minus_zero:
        place[fmt.sign_bit] = place[0]
    for line in lines:
        if line.code not in place:          # NaN; a byte of bool other than 0 and 1
            continue
        i = place[line.code]
        up = codes[i + 1] if i + 1 < len(codes) else None
        down = codes[i - 1] if i > 0 else None
        tally.check(f"{fmt.name} {line.code:#x} neighbours", (line.up, line.down), (up, down))


def check_landmarks(tally, probe, fmt):
    if fmt.is_float:
        index = fmt.max_index
        normal = fmt.normal_index()
        want = [fmt.max_code(), fmt.lowest_code(), fmt.code_at(normal) if normal <= index else None,
                1 if fmt.man > 0 and index > 0 and not fmt.posit else None,
                fmt.inf[0] if fmt.inf else None, fmt.inf[1] if len(fmt.inf) > 1 else None,
                fmt.canonical_nan()]
    else:
        want = [fmt.max_code(), fmt.lowest_code(), None, None, None, None, None]
    got = ask(probe, [f"landmarks {fmt.name}"])[0].split()
    tally.check(f"{fmt.name} landmarks", got, ["none" if w is None else f"{w:x}" for w in want])


def main():
    probe, long = arguments()
    rng = random.Random(20260627)
    tally = Tally()
    for fmt in FORMATS.values():
        check_landmarks(tally, probe, fmt)
        ranges = codes_of(fmt, long, rng)
        requests = [f"codes {fmt.name} {first:x} {last:x}" for first, last in ranges]
        lines = [Line(text) for text in ask(probe, requests)]
        tally.check(f"{fmt.name} lines", len(lines), sum(b - a + 1 for a, b in ranges))
        for line in lines:
            if fmt.width <= 8 or not QUICK or rng.random() < 0.05:
                check_decode(tally, fmt, line)
            few = fmt.width <= 8 or long or rng.random() < 0.03
            if fmt.width <= 8 or long or rng.random() < (0.03 if QUICK else 0.12):
                check_spelling(tally, fmt, line, few)
        if fmt.width <= 16:
            check_neighbours(tally, fmt, lines)
        check_read_back(tally, probe, fmt, lines if long else lines[::29 if QUICK else 7] + lines[-9:])
        tally.part(fmt.name)
    check_counted_digits(tally, probe, rng, 200000 if long else 2000 if QUICK else 10000)
    tally.part("counted digits")
    check_reprs(tally, probe, rng, 2000000 if long else 6000 if QUICK else 30000)
    tally.part("Python's repr")
    tally.finish()


if __name__ == "__main__":
    main()
