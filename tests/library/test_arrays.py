# SPDX-License-Identifier: MIT
"""Arrays by the shared library against numpy and ml_dtypes: casts where these round once, arrays of any strides, reports,
statistics, comparisons, and what is refused.

Usage: test_arrays.py LIBRARY [--long]
"""

import ctypes
import math
import random
import struct
from ctypes import byref, c_size_t, c_ssize_t, c_void_p

import harness
from library import BYTES, HIGH, LOW, Difference, Failure, Library, Report, Stats

numpy, ml_dtypes = harness.have("numpy"), harness.have("ml_dtypes")

SMALL = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e3m4", "float8_e4m3")
NAMES = {"float8_e4m3fn": "fp8_e4m3fn", "float8_e5m2": "fp8_e5m2", "float8_e4m3fnuz": "fp8_e4m3fnuz", "float8_e5m2fnuz": "fp8_e5m2fnuz",
         "float8_e4m3b11fnuz": "fp8_e4m3b11fnuz", "float8_e3m4": "fp8_e3m4", "float8_e4m3": "fp8_e4m3", "bfloat16": "bf16",
         "float16": "fp16", "float32": "fp32", "float64": "fp64", "float4_e2m1fn": "fp4_e2m1", "float6_e2m3fn": "fp6_e2m3",
         "float6_e3m2fn": "fp6_e3m2", "float8_e8m0fnu": "fp8_e8m0"}


def dtype(name):
    return numpy.dtype(getattr(ml_dtypes, name, None) or name)


def cast(library, x, name, report=None, **how):
    """A numpy array cast to a dtype of numpy or ml_dtypes, from its own strides."""
    to = dtype(name)
    how.setdefault("dst_packing", BYTES)
    caster = library.caster(NAMES.get(x.dtype.name, x.dtype.name), NAMES.get(name, name), src_packing=BYTES, **how)
    result = numpy.zeros(x.shape, to)
    shape, strides = (c_size_t * 8)(*x.shape), (c_ssize_t * 8)(*x.strides)
    library.call("dti_caster_run_strided", caster, c_void_p(result.ctypes.data), c_void_p(x.ctypes.data), x.ndim, shape, strides,
                 byref(report) if report else None)
    return result


def codes(x):
    return numpy.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def same(got, want):
    """Whether codes are equal, or both NaN."""
    equal = codes(got) == codes(want)
    with numpy.errstate(all="ignore"):
        return bool((equal | ((got != got) & (want != want))).all())


def check_peers(library, tally, rng, long):
    """From fp32, bf16 and fp16, which ml_dtypes and numpy round once."""
    with numpy.errstate(all="ignore"):
        for source in ("bfloat16", "float16"):
            x = numpy.arange(1 << 16, dtype=numpy.uint16).view(dtype(source))
            for name in (*SMALL, "bfloat16", "float16", "float32", "float64", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"):
                if not hasattr(ml_dtypes, name) and name not in ("float16", "float32", "float64"):
                    continue
                if name == "float8_e8m0fnu":
                    continue        # ml_dtypes has a rule of its own: see stacks.def
                want = x.astype(numpy.float32).astype(dtype(name))
                got = cast(library, x, name)
                finite = x == x if name in ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn") else numpy.ones(x.shape, bool)
                tally.checked += x.size
                tally.check(f"all {source} to {name}", same(got[finite], want[finite]), True)
        n = 1 << 24 if long else 1 << 20
        x = numpy.random.default_rng(rng.randrange(1 << 32)).integers(0, 1 << 32, n, dtype=numpy.uint32).view(numpy.float32)
        for name in (*SMALL, "bfloat16", "float16", "float64"):
            tally.checked += n
            tally.check(f"fp32 to {name}", same(cast(library, x, name), x.astype(dtype(name))), True)
        wide = x.astype(numpy.float64) * 1.0000001
        tally.check("fp64 to fp32", same(cast(library, wide, "float32"), wide.astype(numpy.float32)), True)
        tally.check("fp64 to fp16", same(cast(library, wide, "float16"), wide.astype(numpy.float16)), True)
        tally.check("fp64 like ml_dtypes to bf16: through fp32",
                    same(cast(library, wide, "bfloat16", like="ml_dtypes"), wide.astype(numpy.float32).astype(dtype("bfloat16"))), True)
        inside = x[numpy.abs(x) < 2.0**31]
        tally.check("fp32 to int32", same(cast(library, inside, "int32"), inside.astype(numpy.int32)), True)
        whole = numpy.random.default_rng(1).integers(-1 << 63, (1 << 63) - 1, 100000)
        tally.check("int64 to fp64", same(cast(library, whole, "float64"), whole.astype(numpy.float64)), True)
        tally.check("int64 to int16, low bits", same(cast(library, whole, "int16", overflow="wrap"), whole.astype(numpy.int16)), True)
    tally.part("numpy and ml_dtypes")


def views(rng, base):
    """Views of a flat array: random shapes, orders, steps, directions and broadcasts."""
    rank = rng.randrange(0, 7)
    shape = [rng.choice((1, 2, 3, 5, 8, 17)) for _ in range(rank)]
    while math.prod(shape) > base.size:
        shape.pop()
    x = base[:math.prod(shape)].reshape(shape)
    x = x.transpose(rng.sample(range(x.ndim), x.ndim))
    x = x[(..., *(slice(None, None, rng.choice((1, 1, 1, 2, 3, -1, -1, -2))) for _ in range(x.ndim)))]
    if x.ndim < 7 and rng.random() < 0.3:
        at = rng.randrange(x.ndim + 1)
        x = numpy.broadcast_to(numpy.expand_dims(x, at), (*x.shape[:at], rng.randrange(0, 5), *x.shape[at:]))
    return x


def figures(report):
    return [getattr(report, name) for name, _ in report._fields_]


def check_strides(library, tally, rng, long):
    generator = numpy.random.default_rng(rng.randrange(1 << 32))
    base = {name: generator.standard_normal(1 << 22).astype(numpy.float32).astype(dtype(name)) for name in
            ("float32", "float64", "bfloat16", "float8_e4m3fn")}
    for _ in range(4000 if long else 600):
        name = rng.choice(list(base))
        x = views(rng, base[name])
        to = rng.choice(("bfloat16", "float16", "float8_e5m2", "float32"))
        want = numpy.ascontiguousarray(x).astype(numpy.float32 if name != "float64" else numpy.float64)
        want = (want if to != "bfloat16" or name != "float64" else want).astype(dtype(to))
        if name == "float64" and to != "float32" and to != "float16":
            to, want = "float32", numpy.ascontiguousarray(x).astype(numpy.float32)
        report, plain = Report(), Report()
        counted = rng.random() < 0.5
        got = cast(library, x, to, report if counted else None)
        tally.check(f"{name} {x.shape} {x.strides} to {to}", same(got, want.reshape(x.shape)), True)
        if counted:
            cast(library, numpy.ascontiguousarray(x), to, plain)
            tally.check(f"report of {name} {x.shape} {x.strides} to {to}", str(figures(report)), str(figures(plain)))
    tally.part("random strides")
    x = base["float32"]
    large = {"transposed": x.reshape(2048, 2048).T, "transposed, odd": x[:1999 * 2003].reshape(1999, 2003).T,
             "tall": x.reshape(1 << 18, 16).T, "wide": x.reshape(16, 1 << 18).T, "every third": x[::3], "backward": x[::-1],
             "rows": x.reshape(2048, 2048)[:, :1025], "narrow rows": x.reshape(-1, 64)[:, :9], "columns": x.reshape(1024, 4096)[:, ::2].T,
             "reversed": x[:160 ** 3].reshape(160, 160, 160).T, "channels": x[:8 * 3 * 300 * 500].reshape(8, 3, 300, 500).transpose(0, 2, 3, 1),
             "repeated": numpy.broadcast_to(x[:2000, None], (2000, 1500)), "one": numpy.broadcast_to(x[:1], (3000000,)),
             "upside down": x.reshape(2048, 2048)[::-1, ::-1].T}
    wide = base["float64"].view(numpy.complex128)
    for view in (wide[:1001 * 999].reshape(1001, 999).T, wide[:1001 * 999].reshape(1001, 999)[:, :997]):
        caster = library.caster("complex128", "complex64")
        got = numpy.zeros(view.shape, numpy.complex64)
        library.call("dti_caster_run_strided", caster, c_void_p(got.ctypes.data), c_void_p(view.ctypes.data), 2, (c_size_t * 2)(*view.shape),
                     (c_ssize_t * 2)(*view.strides), None)
        tally.check(f"complex128 {view.strides}", bool((got == view.astype(numpy.complex64)).all()), True)
    for what, view in large.items():
        for to in ("bfloat16", "float8_e4m3fn"):
            report, plain = Report(), Report()
            want = numpy.ascontiguousarray(view).astype(dtype(to))
            tally.check(f"{what} to {to}", same(cast(library, view, to), want), True)
            tally.check(f"{what} to {to}, counted", same(cast(library, view, to, report), want), True)
            cast(library, numpy.ascontiguousarray(view), to, plain)
            tally.check(f"{what} to {to}, report", str(figures(report)), str(figures(plain)))
        how = {"round": "stochastic", "seed": 7}
        tally.check(f"{what}, stochastic", same(cast(library, view, "bfloat16", **how),
                                                cast(library, numpy.ascontiguousarray(view), "bfloat16", **how)), True)
    swapped = x[:1 << 20].astype(">f4").reshape(1024, 1024)
    caster = library.caster("fp32", "bf16", src_swapped=True)
    got = numpy.zeros((1024, 1024), dtype("bfloat16"))
    view = swapped.T
    library.call("dti_caster_run_strided", caster, c_void_p(got.ctypes.data), c_void_p(view.ctypes.data), 2, (c_size_t * 2)(*view.shape),
                 (c_ssize_t * 2)(*view.strides), None)
    tally.check("swapped and transposed", same(got, view.astype(numpy.float32).astype(dtype("bfloat16"))), True)
    packed = library.caster("fp32", "fp4_e2m1", dst_packing=LOW)
    for view in (large["transposed, odd"], large["every third"], x[:15].reshape(5, 3).T):
        want = library.cast(packed, numpy.ascontiguousarray(view).tobytes(), view.size)
        room = (ctypes.c_ubyte * len(want))()
        library.call("dti_caster_run_strided", packed, room, c_void_p(view.ctypes.data), view.ndim, (c_size_t * 2)(*view.shape),
                     (c_ssize_t * 2)(*view.strides), None)
        tally.check(f"strided to packed, {view.shape}", bytes(room) == want, True)
    parts = (x[:4000] + 1j * x[4000:8000]).astype(numpy.complex64).reshape(40, 100).T
    caster = library.caster("complex64", "complex32")
    room = numpy.zeros((100, 40, 2), numpy.float16)
    library.call("dti_caster_run_strided", caster, c_void_p(room.ctypes.data), c_void_p(parts.ctypes.data), 2, (c_size_t * 2)(*parts.shape),
                 (c_ssize_t * 2)(*parts.strides), None)
    want = numpy.stack((parts.real, parts.imag), -1).astype(numpy.float16)
    tally.check("complex, transposed", same(room, want), True)
    tally.part("large strides")


def check_reports(library, tally, rng, long):
    generator = numpy.random.default_rng(rng.randrange(1 << 32))
    for n in (0, 1, 5, 2047, 2049, 30000, 3000000):
        for name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"):
            x = (generator.standard_normal(n) * 10.0 ** generator.integers(-6, 6, n)).astype(numpy.float32)
            if n > 4:
                x[generator.integers(0, n, 3)] = [numpy.nan, numpy.inf, -numpy.inf]
            report = Report()
            with numpy.errstate(all="ignore"):
                y = cast(library, x, name, report).astype(numpy.float64)
                want = x.astype(dtype(name)).astype(numpy.float64)
                wide = x.astype(numpy.float64)
            finite = numpy.isfinite(wide) & numpy.isfinite(want)
            error = numpy.abs(want[finite] - wide[finite])
            given = wide[finite]
            subject = f"report of {n} fp32 to {name}: "
            counts = {"elements": n, "nan_in": numpy.isnan(x).sum(), "inf_in": numpy.isinf(x).sum(), "compared": finite.sum(),
                      "inexact": ((want != wide) & ~numpy.isnan(x)).sum(), "overflowed": (numpy.isfinite(x) & ~numpy.isfinite(want)).sum(),
                      "to_zero": ((want == 0) & (x != 0)).sum(), "stray": 0}
            if name == "float8_e4m3fn":     # infinity is out of range, too
                counts["overflowed"] = report.overflowed
                tally.check(subject + "overflowed", report.overflowed >= (numpy.isfinite(x) & ~numpy.isfinite(want)).sum(), True)
            for key, value in counts.items():
                tally.check(subject + key, getattr(report, key), int(value))
            tally.check(subject + "result", bool(((y == want) | (numpy.isnan(y) & numpy.isnan(want))).all()), True)
            largest = error.max() if error.size else 0.0
            tally.check(subject + "max_absolute", report.max_absolute, float(largest))
            if largest > 0:
                where = numpy.flatnonzero(finite)[int(error.argmax())]
                tally.check(subject + "max_index", report.max_index, int(where))
            nonzero = given != 0
            ratio = (error[nonzero] / numpy.abs(given[nonzero])).max() if nonzero.any() else 0.0
            tally.check(subject + "max_relative", report.max_relative, float(ratio))
            mean = math.fsum(error) / len(error) if len(error) else 0.0
            tally.check(subject + "mean", abs(report.mean_absolute - mean) <= 1e-6 * mean, True)
            rms = math.sqrt(math.fsum(error * error) / len(error)) if len(error) else 0.0
            tally.check(subject + "rms", abs(report.root_mean_square - rms) <= 1e-6 * rms, True)
            if rms > 0:
                signal = math.fsum(given * given)
                db = 10 * math.log10(signal / math.fsum(error * error))
                tally.check(subject + "sqnr", abs(report.sqnr_db - db) <= 1e-4, True)
    report = Report()
    report.size = Report.elements.offset + 8       # an older caller: nothing behind is written
    report.inexact = 77
    cast(library, numpy.ones(3, numpy.float32) / 3, "bfloat16", report)
    tally.check("short report", (report.elements, report.inexact), (3, 77))
    report = Report()
    library.cast(library.caster("fp32", "fp4_e2m1", dst_packing=BYTES), struct.pack("=4f", 1, math.nan, 1e9, math.inf), 4, report)
    tally.check("NaN without a code", (report.no_code, report.first_no_code, report.nan_in, report.flags & 8), (1, 1, 1, 8))
    tally.part("reports")


def stats_of(library, name, x, packing=BYTES):
    stats = Stats()
    library.call("dti_array_stats", library.context, library.format(name), packing, c_void_p(x.ctypes.data), x.size, byref(stats))
    return stats


def check_stats(library, tally, rng):
    generator = numpy.random.default_rng(rng.randrange(1 << 32))
    for name in ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "int8", "int32", "uint64", "int64", "bool"):
        for n in (0, 1, 7, 2048, 2049, 65536, 65537, 1000001):
            to = dtype(name)
            x = generator.standard_normal(n) * 50 + 3
            x = numpy.abs(x).astype(to) if to.kind == "u" else x.astype(to) if to.kind != "b" else x > 3
            if to.kind not in "iub" and n > 5:
                x[generator.integers(0, n, 2)] = [numpy.nan, 0]
                if name != "float8_e4m3fn":
                    x[generator.integers(0, n, 2)] = [numpy.inf, -numpy.inf]
            stats = stats_of(library, NAMES.get(name, name), x)
            wide = x.astype(numpy.float64) if to.kind not in "iu" else x
            finite = numpy.isfinite(wide)
            subject = f"statistics of {n} {name}: "
            counts = {"elements": n, "nan": numpy.isnan(wide).sum(), "inf": numpy.isinf(wide).sum(), "negative_inf": (numpy.isinf(wide) & (wide < 0)).sum(),
                      "zeros": (wide == 0).sum(), "negative": (wide < 0).sum(), "finite": finite.sum()}
            for key, value in counts.items():
                tally.check(subject + key, getattr(stats, key), int(value))
            nan = numpy.flatnonzero(numpy.isnan(wide))
            tally.check(subject + "first_nan", stats.first_nan, int(nan[0]) if nan.size else (1 << 64) - 1)
            if not finite.any():
                tally.check(subject + "nothing", (stats.min.kind, stats.max_index, math.isnan(stats.mean)), (0, 0, True))
                continue
            places = numpy.flatnonzero(finite)
            inside = wide[finite]
            size = numpy.abs(inside.astype(object) if to.kind == "i" else inside)
            for key, at in (("min", inside.argmin()), ("max", inside.argmax()), ("absmax", numpy.argmax(size))):
                tally.check(subject + key, getattr(stats, key).number(), abs(inside[at].item()) if key == "absmax" else inside[at].item())
                tally.check(subject + key + "_index", getattr(stats, key + "_index"), int(places[at]))
            exact = inside.astype(numpy.longdouble)
            scale = float(numpy.abs(exact).max()) or 1.0
            tally.check(subject + "mean", abs(stats.mean - float(exact.mean())) <= 1e-12 * scale, True)
            tally.check(subject + "deviation", abs(stats.deviation - float(exact.std())) <= 1e-9 * scale, True)
            for target in ("float8_e4m3fn", "float16", "bfloat16"):
                with numpy.errstate(all="ignore"):
                    fits = bool(numpy.isfinite(inside.astype(numpy.float32).astype(dtype(target)).astype(numpy.float32)).all())
                fits = fits and (target != "float8_e4m3fn" or stats.inf == 0)
                tally.check(f"{subject}fits {target}", library.lib.dti_array_stats_fit(byref(stats), library.format(NAMES[target])), fits)
    small = numpy.array([1e-45, -1e-40, 0.0, -0.0, 1.0], numpy.float32)
    tally.check("subnormals", stats_of(library, "fp32", small).subnormals, 2)
    for packing, data in ((LOW, [0x21, 0x43, 0x05]), (HIGH, [0x12, 0x34, 0x50])):
        x = numpy.array(data, numpy.uint8)
        stats = Stats()
        library.call("dti_array_stats", library.context, library.format("uint4"), packing, c_void_p(x.ctypes.data), 5, byref(stats))
        tally.check(f"packed {packing}", (stats.elements, stats.min.number(), stats.max.number(), stats.max_index, stats.mean), (5, 1, 5, 4, 3.0))
    odd = numpy.zeros(4 * 5000 + 1, numpy.uint8)
    x = generator.standard_normal(5000).astype(numpy.float32)
    odd[1:] = x.view(numpy.uint8)
    stats = Stats()
    library.call("dti_array_stats", library.context, library.format("fp32"), BYTES, c_void_p(odd.ctypes.data + 1), 5000, byref(stats))
    tally.check("unaligned", (stats.max.number(), stats.max_index), (float(x.max()), int(x.argmax())))
    tally.part("statistics")


def compare(library, a, b, x, y, atol=0.0, rtol=0.0):
    difference = Difference()
    library.call("dti_array_compare", library.context, library.format(a), c_void_p(x.ctypes.data), library.format(b), c_void_p(y.ctypes.data),
                 x.size, atol, rtol, byref(difference))
    return difference


def check_comparisons(library, tally, rng):
    generator = numpy.random.default_rng(rng.randrange(1 << 32))
    for a, b in (("float32", "float32"), ("float32", "bfloat16"), ("float16", "float16"), ("float64", "float32"), ("bfloat16", "float8_e4m3fn"),
                 ("int8", "int8"), ("int64", "int64"), ("int64", "float64")):
        for n in (0, 1, 2049, 70000, 700001):
            y = (generator.standard_normal(n) * 30).astype(numpy.float32)
            x = (y * (1 + generator.standard_normal(n).astype(numpy.float32) * 1e-3)).astype(dtype(a))
            y = y.astype(dtype(b))
            if n > 3 and dtype(a).kind not in "iu" and dtype(b).kind not in "iu":
                x[[0, 1]], y[[0, 2]] = numpy.nan, numpy.nan
            atol, rtol = rng.choice(((0.0, 0.0), (1e-3, 0.0), (1e-8, 1e-3)))
            got = compare(library, NAMES.get(a, a), NAMES.get(b, b), x, y, atol, rtol)
            subject = f"{n} {a} {b}: "
            wide, other = x.astype(numpy.float64), y.astype(numpy.float64)
            both = numpy.isnan(wide) & numpy.isnan(other)
            one = numpy.isnan(wide) != numpy.isnan(other)
            inside = ~both & ~one
            error = numpy.abs(wide - other)[inside]
            exceeding = int((error > atol + rtol * numpy.abs(other[inside])).sum() + one.sum())
            differing = ((wide != other) & ~both)
            first = numpy.flatnonzero(differing)
            counts = {"elements": n, "unmatched": one.sum(), "differing": differing.sum(), "compared": inside.sum(), "exceeding": exceeding,
                      "first_differing": first[0] if first.size else (1 << 64) - 1}
            for key, value in counts.items():
                tally.check(subject + key, getattr(got, key), int(value))
            largest = float(error.max()) if error.size else 0.0
            tally.check(subject + "max_absolute", got.max_absolute, largest)
            if largest > 0:
                tally.check(subject + "max_index", got.max_index, int(numpy.flatnonzero(inside)[error.argmax()]))
            if error.size and (wide[inside] ** 2).sum() > 0 and (other[inside] ** 2).sum() > 0:
                p, q = wide[inside].astype(numpy.longdouble), other[inside].astype(numpy.longdouble)
                cosine = float((p * q).sum() / numpy.sqrt((p * p).sum() * (q * q).sum()))
                tally.check(subject + "cosine", abs(got.cosine - cosine) < 1e-6, True)
                nmse = float(((p - q) ** 2).sum() / (p * p).sum())
                tally.check(subject + "nmse", abs(got.nmse - nmse) <= 1e-5 * nmse, True)
                tally.check(subject + "mean", abs(got.mean_absolute - float(numpy.abs(p - q).mean())) <= 1e-6 * largest, True)
            if (a, b) in (("float32", "float32"), ("float16", "float16")) and error.size:
                order = [numpy.where(codes(v).astype(numpy.int64) >> (v.itemsize * 8 - 1), -(codes(v).astype(numpy.int64) & ((1 << v.itemsize * 8 - 1) - 1)),
                                     codes(v).astype(numpy.int64)) for v in (x[inside], y[inside])]
                tally.check(subject + "max_ulp", got.max_ulp, float(numpy.abs(order[0] - order[1]).max()))
            if a in ("int8", "int64"):
                tally.check(subject + "no ulp", math.isnan(got.max_ulp), True)
    tally.part("comparisons")


def refused(library, tally, subject, status, function, *arguments):
    try:
        library.call(function, *arguments)
        tally.check(subject, "no failure", status)
    except Failure as failure:
        tally.check(subject, (failure.status, bool(str(failure))), (status, True))


def refused_caster(library, tally, status, src="fp32", dst="bf16", **how):
    try:
        library.caster(src, dst, **how)
        tally.check(f"{src} {dst} {how}", "no failure", status)
    except Failure as failure:
        tally.check(f"{src} {dst} {how}: {failure}", failure.status, status)


def check_refusals(library, tally, path):
    refused_caster(library, tally, "wrong_kind", src="complex64")
    refused_caster(library, tally, "wrong_kind", dst="complex64")
    refused_caster(library, tally, "unknown_option", like="fortran")
    refused_caster(library, tally, "wrong_kind", dst="int4", like="numpy")
    for member, value in (("src_packing", 3), ("dst_packing", 99), ("via_count", 5)):
        refused_caster(library, tally, "usage", **{member: value})
    for member in ("round", "overflow", "nan"):
        from library import Spec
        spec = Spec(size=ctypes.sizeof(Spec), src=library.format("fp32"), dst=library.format("bf16"))
        setattr(spec, member, 1000)
        refused(library, tally, f"{member} 1000", "usage", "dti_caster_new", byref(c_void_p()), library.context, byref(spec))
    for left_out in ("src", "dst"):
        spec = Spec(size=ctypes.sizeof(Spec), src=library.format("fp32"), dst=library.format("bf16"))
        setattr(spec, left_out, None)
        refused(library, tally, f"no {left_out}", "usage", "dti_caster_new", byref(c_void_p()), library.context, byref(spec))
    caster = library.caster("fp32", "bf16")
    buffer = (ctypes.c_ubyte * 64)()
    big = (1 << 64) - 1
    refused(library, tally, "too many elements", "usage", "dti_caster_run", caster, buffer, buffer, big, None)
    tally.check("bytes of too many", library.lib.dti_caster_src_bytes(caster, big), big)
    tally.check("bytes", (library.lib.dti_caster_src_bytes(caster, 3), library.lib.dti_caster_dst_bytes(caster, 3)), (12, 6))
    one = (c_ssize_t * 9)(*[4] * 9)
    refused(library, tally, "rank 9", "usage", "dti_caster_run_strided", caster, buffer, buffer, 9, (c_size_t * 9)(*[1] * 9), one, None)
    refused(library, tally, "2^66 elements", "usage", "dti_caster_run_strided", caster, buffer, buffer, 3,
            (c_size_t * 3)(*[1 << 22] * 3), one, None)
    packed = library.caster("fp4_e2m1", "fp32", src_packing=LOW)
    refused(library, tally, "packed with strides", "wrong_kind", "dti_caster_run_strided", packed, buffer, buffer, 1, (c_size_t * 1)(4), one, None)
    stats, difference = Stats(), Difference()
    refused(library, tally, "statistics of complex", "wrong_kind", "dti_array_stats", library.context, library.format("complex64"), BYTES,
            buffer, 1, byref(stats))
    refused(library, tally, "statistics, packing 5", "usage", "dti_array_stats", library.context, library.format("fp32"), 5, buffer, 1, byref(stats))
    refused(library, tally, "statistics of 2^63", "usage", "dti_array_stats", library.context, library.format("fp32"), BYTES, buffer, 1 << 63, byref(stats))
    refused(library, tally, "negative tolerance", "usage", "dti_array_compare", library.context, library.format("fp32"), buffer,
            library.format("fp32"), buffer, 1, -1.0, 0.0, byref(difference))
    refused(library, tally, "NaN as tolerance", "usage", "dti_array_compare", library.context, library.format("fp32"), buffer,
            library.format("fp32"), buffer, 1, 0.0, math.nan, byref(difference))
    try:
        Library(path, device=b"cuda")
        tally.skip("a CUDA device is here")
    except Failure as failure:
        tally.check("no CUDA device", failure.status, "unavailable")
    for device in (b"tpu", b"all"):
        try:
            Library(path, device=device)
            tally.check(f"device {device}", "no failure", "unknown_option")
        except Failure as failure:
            tally.check(f"device {device}", failure.status, "unknown_option")
    tally.part("refusals")


def main():
    path, long = harness.arguments()
    tally, rng = harness.Tally(), random.Random(33)
    if not numpy or not ml_dtypes:
        tally.skip("numpy and ml_dtypes")
        tally.finish()
    for threads in (5,) if harness.QUICK else (1, 2, 5):
        library = Library(path, threads=threads)
        check_strides(library, tally, rng, long and threads == 2)
        check_reports(library, tally, rng, long)
        check_stats(library, tally, rng)
        check_comparisons(library, tally, rng)
        library.close()
    library = Library(path)
    check_peers(library, tally, rng, long)
    check_refusals(library, tally, path)
    library.close()
    tally.finish()


if __name__ == "__main__":
    main()
