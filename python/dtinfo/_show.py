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


def array_text(array):
    """repr() of an Array: its first numbers."""
    shape = "x".join(map(str, array.shape)) or "scalar"
    if array.size <= 64:
        return "Array(%r, dtype=%s)" % (array.tolist(), array.dtype)
    return "Array(%s numbers of %s)" % (shape, array.dtype)
