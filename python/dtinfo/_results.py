# SPDX-License-Identifier: MIT
"""What functions return besides arrays: facts by name, which also show themselves."""
from fractions import Fraction

from . import _dtinfo
from ._numbers import FINITE, ZERO, exact_text, number, spell
from ._show import count, escape, html_table, real, table

FLAGS = {1: "inexact", 2: "overflow", 4: "underflow", 8: "invalid", 16: "saturated", 32: "no_nan"}


def flags_of(mask):
    return frozenset(word for bit, word in FLAGS.items() if mask & bit)


class Record:
    """Facts as attributes. _title() and _rows() are how they are shown."""

    def __init__(self, facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return table(self._title(), self._rows())

    def _repr_html_(self):
        return html_table(self._title(), self._rows())

    def _asdict(self):
        return dict(self.__dict__)


class CastReport(Record):
    """What a cast of an array lost; errors are stored - source."""

    def __init__(self, facts, src, dst):
        super().__init__(facts)
        self.src, self.dst = src, dst

    @property
    def exact(self):
        """Whether every number is what it was."""
        return self.inexact == 0 and self.no_code == 0

    def _title(self):
        return "%s -> %s, %s elements" % (self.src, self.dst, count(self.elements))

    def _rows(self):
        rows = [(word.replace("_", " "), count(getattr(self, word)))
                for word in ("inexact", "overflowed", "to_zero", "to_subnormal", "nan_in", "inf_in", "no_code", "stray")
                if getattr(self, word) or word == "inexact"]
        if self.max_absolute:
            rows += [("max error", real(self.max_absolute) + " at %d" % self.max_index),
                     ("max relative", real(self.max_relative)),
                     ("root mean square", real(self.root_mean_square)),
                     ("SQNR", "%.2f dB" % self.sqnr_db)]
        return rows


class Stats(Record):
    """Statistics of an array."""

    def __init__(self, facts, dtype, fitting, shape):
        super().__init__(facts)
        self.dtype, self.shape, self._fitting = dtype, shape, fitting
        for word in ("min", "max", "absmax"):
            setattr(self, word, number(facts[word]) if self.finite else None)

    def fits(self, dtype):
        """Whether all finite numbers round to finite numbers of a dtype, which has NaN and infinity if need be."""
        return _dtinfo.stats_fit(self._fitting, dtype)

    def _title(self):
        return "%s, %s elements" % (self.dtype, count(self.elements))

    def _rows(self):
        rows = [(word.replace("_", " "), count(getattr(self, word)))
                for word in ("nan", "inf", "zeros", "negative", "subnormals") if getattr(self, word)]
        if self.finite:
            rows += [("min", real(self.min) + " at %d" % self.min_index),
                     ("max", real(self.max) + " at %d" % self.max_index),
                     ("absmax", real(self.absmax) + " at %d" % self.absmax_index),
                     ("mean", real(self.mean)), ("deviation", real(self.deviation))]
        return rows

    def _asdict(self):
        facts = dict(self.__dict__)
        del facts["_fitting"]
        return facts


class Difference(Record):
    """How two arrays differ; the second is the reference."""

    def __init__(self, facts, a, b):
        super().__init__(facts)
        self.dtype_a, self.dtype_b = a, b

    def __bool__(self):
        """Whether they differ."""
        return self.differing > 0

    def _title(self):
        return "%s and %s, %s elements: %s differ" % (self.dtype_a, self.dtype_b, count(self.elements),
                                                      count(self.differing))

    def _rows(self):
        if not self.differing:
            return []
        return [("exceeding", count(self.exceeding)), ("unmatched", count(self.unmatched)),
                ("max error", real(self.max_absolute) + " at %d" % self.max_index),
                ("max relative", real(self.max_relative)), ("max ulp", real(self.max_ulp)),
                ("root mean square", real(self.root_mean_square)), ("SQNR", "%.2f dB" % self.sqnr_db)]


class QuantizeReport(Record):
    """What quantization lost: the error of dequantized - given, and counts of numbers that were clipped or special."""

    def __init__(self, facts, format):
        super().__init__(facts)
        self.format = format

    def _title(self):
        return "%s, %s elements" % (self.format, count(self.elements))

    def _rows(self):
        rows = [(word, count(getattr(self, word))) for word in ("inexact", "clipped", "special")
                if getattr(self, word) or word == "inexact"]
        return rows + [("max error", real(self.max_absolute) + " at %d" % self.max_index),
                       ("root mean square", real(self.root_mean_square)), ("SQNR", "%.2f dB" % self.sqnr_db)]


class CalcReport(Record):
    """What went wrong in an expression: counts, and `first`, the first of it in words."""

    def _title(self):
        return "%s: %s roundings" % (self.format, count(self.roundings))

    def _rows(self):
        rows = [(word.replace("_", " "), count(getattr(self, word)))
                for word in ("overflows", "nans", "divisions_by_zero", "to_zero", "subnormals", "absorbed",
                             "cancellations") if getattr(self, word)]
        if self.first:
            rows.append(("first", self.first))
        if self.has_truth:
            rows.append(("not the true value", "%s, max relative error %s" % (count(self.different),
                                                                             real(self.max_relative))))
        return rows


class BlockFormat(Record):
    """A block format, or a type of GGUF."""

    def _title(self):
        return "%s: %s" % (self.name, self.summary or "type of GGUF")

    def _rows(self):
        rows = [("block", "%d elements, %d bytes" % (self.length, self.bytes))] if self.length else []
        return rows + [(word, str(getattr(self, word))) for word in ("code", "scale") if getattr(self, word)]


_INFO_VALUES = ("max", "lowest", "smallest_normal", "smallest_subnormal", "eps", "epsneg")


class _Info(Record):
    def __init__(self, dtype):
        self.dtype = _dtinfo.dtype(dtype)
        facts = _dtinfo.format_info(self.dtype)
        self._check(self.dtype.kind)
        super().__init__(facts)
        self._values = {word: facts[word] for word in _INFO_VALUES}
        for word, value in facts.items():
            if isinstance(value, tuple):
                setattr(self, word, None if value[0] == ZERO and word not in ("lowest", "max") else number(value))
        self.min = self.lowest
        if not self.has_nan_code:
            self.nan_code = None

    def _asdict(self):
        facts = dict(self.__dict__)
        del facts["_values"]
        return facts

    def _shown(self, word, code=None):
        value = self._values[word]
        if getattr(self, word) is None:
            return []
        # With the digits of fp32, as the command line has them.
        narrow = self.dtype.kind in ("float", "unsigned float") and _dtinfo.holds("fp32", self.dtype)
        cells = [word.replace("_", " "), spell(value, "fp32" if narrow else None) or ""]
        if code is not None:
            cells.append("0x%0*x" % (-(-self.bits // 4), getattr(self, code)))
        return [tuple(cells)]


class finfo(_Info):
    """Limits of a float, exactly: dtinfo.finfo('bf16').max is a Fraction.

    A number that the format lacks is None. Names follow numpy's finfo where it has them; min is the lowest number.
    Raises ArgumentError for a dtype that is not a float; iinfo() is for integers.
    """

    @staticmethod
    def _check(kind):
        if kind in ("int", "uint", "bool"):
            raise _wrong_kind("finfo() is for floats; iinfo() takes integers")

    @property
    def tiny(self):
        return self.smallest_normal

    def _title(self):
        return "%s: %d bits, %d exponent (bias %d), %d mantissa" % (self.dtype, self.bits, self.exponent_bits, self.bias,
                                                                    self.mantissa_bits)

    def _rows(self):
        yes = {True: "yes", False: "no"}
        return (self._shown("max", "max_code") + self._shown("lowest", "lowest_code")
                + self._shown("smallest_normal", "smallest_normal_code")
                + self._shown("smallest_subnormal", "smallest_subnormal_code") + self._shown("eps")
                + [("integers up to", count(self.integers_up_to)),
                   ("inf, nan, -0, subnormals", ", ".join(yes[flag] for flag in (
                       self.has_inf, self.has_nan, self.has_minus_zero, self.has_subnormals)))])


class iinfo(_Info):
    """Limits of an integer: dtinfo.iinfo('int4').min is -8."""

    def __init__(self, dtype):
        super().__init__(dtype)
        self.min = self.lowest = int(self.lowest)
        self.max = int(self.max)

    @staticmethod
    def _check(kind):
        if kind not in ("int", "uint", "bool"):
            raise _wrong_kind("iinfo() is for integers; finfo() takes floats")

    def _title(self):
        return "%s: %d bits" % (self.dtype, self.bits)

    def _rows(self):
        return [("min", str(self.min)), ("max", str(self.max))]


def _wrong_kind(text):
    from ._errors import exception
    return exception("wrong_kind", text)


class Bits(Record):
    """A code and the number that it stands for. picture: its fields, as the command line draws them."""

    def __init__(self, code, dtype):
        self.dtype = _dtinfo.dtype(dtype)
        value = _dtinfo.value_of_code(code, self.dtype)
        self.code = code
        self.value = number(value)
        self.text = spell(value)
        self.exact_text = spell(value, self.dtype, "exact")
        self.hex = spell(value, self.dtype, "hex")
        self.picture = self._draw()
        self.bits, self.fields = (self.picture.split("\n") + [""])[:2]

    def _draw(self):
        return _dtinfo.value_picture(self.code, self.dtype).rstrip("\n")

    def __float__(self):
        return float(self.value)

    def _title(self):
        return "%s 0x%0*x = %s" % (self.dtype, -(-self.dtype.bits // 4), self.code, self.text)

    def _rows(self):
        rows = [("bits", self.bits)] + ([("", self.fields)] if self.fields else [])
        return rows + [("hexfloat", self.hex or ""), ("exact", self.exact_text or "")]


class CastValue(Bits):
    """A number, what is stored of it, and the error, exactly.

    given, stored, error (stored - given), relative (|error| / |given|), ulps (of the spacing at the stored number), below
    and above are Fractions; those that are not finite are floats, those that do not exist None. below and above bracket
    the given number, or are its neighbours if it is a number of the dtype.
    """

    def __init__(self, given, dtype, policies):
        from ._helpers import number_text
        text = number_text(given)
        facts = _dtinfo.value_cast(text, dtype, **policies)
        self._given = facts["given"]
        super().__init__(facts["code"], dtype)
        self.given_text = given if isinstance(given, str) else str(given)
        self.stored = self.value
        self.given = number(facts["given"])
        if self.given is None:
            self.given = Fraction(given) if not isinstance(given, str) else exact_text(given)
        self.flags = flags_of(facts["flags"])
        self.exact, self.direction = facts["exact"], facts["direction"]
        self.below = number(facts["below"]) if facts["has_below"] else None
        self.above = number(facts["above"]) if facts["has_above"] else None
        self.below_code = facts["below_code"] if facts["has_below"] else None
        self.above_code = facts["above_code"] if facts["has_above"] else None
        self._below, self._above = facts["below"], facts["above"]
        self.error = self.relative = self.ulps = None
        if facts["has_error"]:
            self._errors(facts)

    def _errors(self, facts):
        self.error, ulps = number(facts["error"]), number(facts["ulps"])
        self.ulps = None if ulps is None else abs(ulps)
        if self.given is not None:
            self.error = Fraction(self.stored) - Fraction(self.given)
            self.relative = abs(self.error) / abs(Fraction(self.given)) if self.given else None
            if self.ulps is None and facts["error"][0] == FINITE:
                self.ulps = self._spacing_quotient()

    def _spacing_quotient(self):
        """The error in units of the spacing at the stored number, where the library has only its first 128 bits."""
        from ._helpers import number_text
        if self.below is None or self.above is None or not all(
                isinstance(side, Fraction) or side == 0 for side in (self.below, self.above)):
            return None
        facts = _dtinfo.value_cast(number_text(Fraction(self.stored)), self.dtype)
        neighbour = number(facts["above"] if self.stored >= 0 else facts["below"])
        return abs(self.error) / abs(Fraction(neighbour) - Fraction(self.stored)) \
            if isinstance(neighbour, Fraction) else None

    def _title(self):
        words = {0: "exact" if self.exact else "inexact", 1: "rounded up", -1: "rounded down"}
        extra = sorted(self.flags - {"inexact"})
        return "%s -> %s = %s  (%s)" % (self.given_text, self.dtype, self.text,
                                        ", ".join([words[self.direction]] + extra))

    def _rows(self):
        rows = super()._rows()
        if self.error:
            rows.append(("error", "%s, %s ulp" % (real(self.error), real(self.ulps) if self.ulps is not None else "?")))
        for side in ("below", "above"):
            if getattr(self, side) is not None:
                rows.append((side, spell(getattr(self, "_" + side)) or "?"))
        return rows

    def _draw(self):
        return _dtinfo.value_picture(self.code, self.dtype, self._given).rstrip("\n")

    def _line(self):
        """Where the given number lies between its neighbours: the lines of the picture below those of the code."""
        return self.picture.split("\n")[3:]

    def __repr__(self):
        return "\n".join([table(self._title(), self._rows())] + ["  " + line for line in self._line()])

    def _repr_html_(self):
        return html_table(self._title(), self._rows()) + (
            "<pre>%s</pre>" % escape("\n".join(self._line())) if self._line() else "")

    def _asdict(self):
        return {word: value for word, value in self.__dict__.items() if not word.startswith("_")}
