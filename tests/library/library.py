# SPDX-License-Identifier: MIT
"""The shared library through ctypes, for oracles in Python: structs as in include/dtinfo, formats by name, and errors as
exceptions.
"""

import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_ssize_t
from ctypes import c_uint, c_uint32, c_uint64, c_void_p

STATUSES = {0: "ok", 2: "usage", 4: "unknown_option", 7: "wrong_kind", 13: "not_representable", 15: "unavailable",
            16: "no_memory"}
ROUNDS = ("nearest-even", "nearest-away", "zero", "up", "down", "odd", "stochastic")
OVERFLOWS = ("native", "saturate", "saturate-finite", "wrap")
NANS = ("quiet", "canonical")
LOW, HIGH, BYTES = 0, 1, 2


class Error(Structure):
    _fields_ = [("status", c_int), ("remedy", c_uint32), ("text", c_char * 512), ("argument", c_char * 128),
                ("suggestions", (c_char * 32) * 4)]


class Value(Structure):
    _fields_ = [("kind", c_int), ("negative", c_bool), ("sticky", c_bool), ("exponent", c_int32), ("hi", c_uint64),
                ("lo", c_uint64)]

    def number(self):
        """A Fraction, or a float for infinities and NaN."""
        from fractions import Fraction
        if self.kind == 2:
            return float("-inf" if self.negative else "inf")
        if self.kind == 3:
            return float("nan")
        size = Fraction(self.hi << 64 | self.lo) * Fraction(2) ** (self.exponent - 127) if self.kind else Fraction(0)
        return -size if self.negative else size


class Options(Structure):
    _fields_ = [("size", c_size_t), ("allocate", c_void_p), ("allocate_context", c_void_p), ("run_tasks", c_void_p),
                ("run_tasks_context", c_void_p), ("threads", c_size_t), ("interrupted", c_void_p),
                ("interrupted_context", c_void_p), ("cpu_level", c_char_p), ("device", c_char_p)]


class Spec(Structure):
    _fields_ = [("size", c_size_t), ("src", c_void_p), ("dst", c_void_p), ("via", c_void_p * 4), ("via_count", c_size_t),
                ("round_given", c_bool), ("round", c_int), ("overflow", c_int), ("nan", c_int), ("seed", c_uint64),
                ("like", c_char_p), ("src_packing", c_int), ("dst_packing", c_int), ("src_swapped", c_bool),
                ("dst_swapped", c_bool), ("flags", c_bool)]


class Sized(Structure):
    def __init__(self):
        super().__init__()
        self.size = ctypes.sizeof(self)


class Report(Sized):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in
                ("elements", "inexact", "overflowed", "to_zero", "to_subnormal", "nan_in", "inf_in", "no_code", "stray",
                 "compared")),
                ("max_absolute", c_double), ("max_index", c_uint64), ("max_relative", c_double), ("mean_absolute", c_double),
                ("root_mean_square", c_double), ("sqnr_db", c_double), ("first_no_code", c_uint64), ("flags", c_uint)]


class Stats(Sized):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in
                ("elements", "nan", "inf", "negative_inf", "zeros", "negative", "subnormals", "finite")),
                ("min", Value), ("max", Value), ("absmax", Value),
                *((name, c_uint64) for name in ("min_index", "max_index", "absmax_index", "first_nan", "first_inf")),
                ("mean", c_double), ("deviation", c_double)]


class Difference(Sized):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in
                ("elements", "differing", "unmatched", "exceeding", "compared")),
                ("max_absolute", c_double), ("max_index", c_uint64), ("max_relative", c_double), ("max_ulp", c_double),
                ("first_differing", c_uint64), ("first_unmatched", c_uint64), ("mean_absolute", c_double),
                ("root_mean_square", c_double), ("sqnr_db", c_double), ("nmse", c_double), ("cosine", c_double)]


class Failure(Exception):
    def __init__(self, error):
        super().__init__(error.text.decode())
        self.status = STATUSES.get(error.status, error.status)


SIGNATURES = {
    "dti_context_new": (POINTER(c_void_p), POINTER(Options), POINTER(Error)),
    "dti_context_free": (c_void_p,),
    "dti_context_device": (c_void_p,),
    "dti_format_find": (c_void_p, c_char_p, POINTER(c_void_p), c_void_p, POINTER(Error)),
    "dti_caster_new": (POINTER(c_void_p), c_void_p, POINTER(Spec), POINTER(Error)),
    "dti_caster_free": (c_void_p,),
    "dti_caster_kernels": (c_void_p,),
    "dti_caster_src_bytes": (c_void_p, c_size_t),
    "dti_caster_dst_bytes": (c_void_p, c_size_t),
    "dti_caster_run": (c_void_p, c_void_p, c_void_p, c_size_t, POINTER(Report), POINTER(Error)),
    "dti_caster_run_strided": (c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_size_t), POINTER(c_ssize_t),
                               POINTER(Report), POINTER(Error)),
    "dti_array_stats": (c_void_p, c_void_p, c_int, c_void_p, c_size_t, POINTER(Stats), POINTER(Error)),
    "dti_array_stats_fit": (POINTER(Stats), c_void_p),
    "dti_array_compare": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_double, c_double,
                          POINTER(Difference), POINTER(Error)),
}
RESULTS = {"dti_context_free": None, "dti_context_device": c_char_p, "dti_caster_free": None, "dti_caster_kernels": c_char_p, "dti_caster_src_bytes": c_size_t,
           "dti_caster_dst_bytes": c_size_t, "dti_array_stats_fit": c_bool}


class Library:
    """One context of a library."""

    def __init__(self, path, **options):
        self.lib = ctypes.CDLL(path)
        for name, arguments in SIGNATURES.items():
            function = getattr(self.lib, name)
            function.argtypes, function.restype = arguments, RESULTS.get(name, c_int)
        self.context = c_void_p()
        self.call("dti_context_new", byref(self.context), byref(Options(size=ctypes.sizeof(Options), **options)))
        self.formats, self.casters = {}, {}

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, name)(*arguments, byref(error)) != 0:
            raise Failure(error)

    def format(self, name):
        if name not in self.formats:
            found = c_void_p()
            self.call("dti_format_find", self.context, name.encode(), byref(found), None)
            self.formats[name] = found
        return self.formats[name]

    def caster(self, src, dst, **how):
        """round, overflow and nan as words; via: a list of names; other members of the spec as they are."""
        key = (src, dst, tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in how.items())))
        if key in self.casters:
            return self.casters[key]
        via = [self.format(name) for name in how.pop("via", ())]
        spec = Spec(size=ctypes.sizeof(Spec), src=self.format(src), dst=self.format(dst), via_count=len(via))
        for i, stage in enumerate(via):
            spec.via[i] = stage
        for word, names in (("round", ROUNDS), ("overflow", OVERFLOWS), ("nan", NANS)):
            if word in how:
                setattr(spec, word, names.index(how.pop(word)))
                spec.round_given = spec.round_given or word == "round"
        if how.get("like"):
            how["like"] = how["like"].encode()
        for member, value in how.items():
            setattr(spec, member, value)
        made = c_void_p()
        self.call("dti_caster_new", byref(made), self.context, byref(spec))
        self.casters[key] = made
        return made

    def cast(self, caster, data, n, report=None):
        """data: anything with a buffer; the bytes of the result, behind which nothing may be written."""
        room = self.lib.dti_caster_dst_bytes(caster, n)
        result = (ctypes.c_ubyte * (room + 16))(*[0xa5] * 0)
        ctypes.memset(result, 0xa5, room + 16)
        source = (ctypes.c_ubyte * max(1, len(data))).from_buffer_copy(bytes(data) or b"\0")
        self.call("dti_caster_run", caster, result, source, n, byref(report) if report else None)
        whole = bytes(result)
        assert whole[room:] == b"\xa5" * 16, "bytes behind the result changed"
        return whole[:room]

    def forget(self):
        """Frees the casters; the context still keeps some."""
        for caster in self.casters.values():
            self.lib.dti_caster_free(caster)
        self.casters = {}

    def close(self):
        self.forget()
        self.lib.dti_context_free(self.context)
