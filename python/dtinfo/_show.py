# SPDX-License-Identifier: MIT
"""Results as text and as HTML: tables, and the pictures of the command line."""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(title, rows):
    """Rows of a label and texts, aligned."""
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0)
              for i in range(max(map(len, rows), default=0))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([title] + lines)


def html_table(title, rows):
    cells = "".join("<tr>%s</tr>" % "".join(
        "<%s style=\"text-align:left\">%s</%s>" % (tag, escape(cell), tag)
        for tag, cell in zip(["th"] + ["td"] * len(row), row)) for row in rows)
    return "<table><caption>%s</caption>%s</table>" % (escape(title), cells)


def count(number):
    return "{:,}".format(number)


def real(number):
    """Six digits of a float or a Fraction."""
    near = float(number) if abs(number) < 1e300 else 0.0
    if near or not number or number != number or isinstance(number, float):
        return "%.6g" % number
    from decimal import Context, Decimal
    digits = Context(prec=6)
    return str(digits.divide(Decimal(number.numerator), Decimal(number.denominator))).lower()


def bits(code, info, kind, tapered):
    """The bits of a code with the names of their fields below, as two lines; one for other layouts."""
    digits = format(code, "0%db" % info["bits"])
    if kind not in ("float", "unsigned float") or tapered:
        return digits, ""
    exponent = info["exponent_bits"]
    sign = info["bits"] - exponent - info["mantissa_bits"]
    names = "s" * sign + "e" * exponent + "m" * info["mantissa_bits"]
    cuts = [0, sign, sign + exponent, info["bits"]]
    fields = [(digits[a:b], names[a:b]) for a, b in zip(cuts, cuts[1:]) if b > a]
    return " ".join(field for field, _ in fields), " ".join(name for _, name in fields)


def number_line(below, above, given, chosen_above, labels):
    """Where a number lies between its neighbours, in three lines."""
    width = 61
    at = int((given - below) / (above - below) * (width - 1) + 0.5)
    at = min(max(at, 1), width - 2)
    line = ["\u2500"] * width
    line[0], line[-1], line[width // 2] = "\u251c", "\u2524", "\u253c"
    line[at] = "\u25cf"
    line[-1 if chosen_above else 0] = "\u25c6"
    left, middle, right = labels
    mark = "chosen -> " + right if chosen_above else right
    left = left + " <- chosen" if not chosen_above else left
    top = left + mark.rjust(max(width - len(left), len(mark) + 1))
    start = min(max(at - len(middle) // 2, 0), max(width - len(middle), 0))
    return [top, "".join(line), " " * start + middle]


def array_text(array):
    """repr() of an Array: its first numbers."""
    shape = "x".join(map(str, array.shape)) or "scalar"
    if array.size <= 64:
        return "Array(%r, dtype=%s)" % (array.tolist(), array.dtype)
    return "Array(%s numbers of %s)" % (shape, array.dtype)
