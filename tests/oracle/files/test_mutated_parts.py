# SPDX-License-Identifier: MIT
"""Small parts of quantized tensors with one changed byte: the states, scales, maps and comfy_quant of bitsandbytes and
ComfyUI. For any byte, all readers give the same verdict in one line; numbers, if any, equal those of an independent
numpy model; and non-finite values are a finding of `check --quantized`.

usage: test_mutated_parts.py DTINFO [--long]
"""
import json
import os
import struct
import sys
import tempfile

from harness import Tally, have

PROGRAM, LONG = os.path.abspath(sys.argv[1]), "--long" in sys.argv
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import E2M1, E4M3, E5M2, Reader, tiles
from tensor_files import read_file

np.seterr(all="ignore")
RANDOM = np.random.default_rng(20261125)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)
NF4 = np.array([-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1], F32)
E5M2_ALL, E4M3_ALL = E5M2.copy(), E4M3.copy()
E5M2_ALL[[0x7c, 0xfc]] = np.inf, -np.inf
STATE = "w.quant_state.bitsandbytes__nf4"


def raw(part):
    return part[1] if isinstance(part, tuple) else part


def text(form):
    return np.frombuffer(json.dumps(form).encode(), np.uint8)


def no_twice(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def bitsandbytes(nested):
    """(parts, the model of their numbers)"""
    shape, block, dtype = (3, 90), 64, "float32"
    count = shape[0] * shape[1]
    blocks = -(-count // block)
    state = {"quant_type": "nf4", "blocksize": block, "dtype": dtype, "shape": list(shape)}
    parts = {"w": RANDOM.integers(0, 256, (count // 2, 1)).astype(np.uint8), "w.quant_map": NF4,
             "w.absmax": RANDOM.uniform(0.5, 2, blocks).astype(F32)}
    if nested:
        parts["w.absmax"] = RANDOM.integers(0, 256, blocks).astype(np.uint8)
        parts["w.nested_absmax"], parts["w.nested_quant_map"] = np.array([0.75], F32), np.linspace(-1, 1, 256).astype(F32)
        state.update(nested_blocksize=256, nested_dtype="float32", nested_offset=1.25)
    parts[STATE] = text(state)

    def model(parts):
        said = json.loads(parts[STATE].tobytes().decode(), object_pairs_hook=no_twice)
        if set(said) != set(state) or said["quant_type"] != "nf4" or said["dtype"] not in ("float32", "float16", "bfloat16"):
            return None
        size, lengths = said["blocksize"], said["shape"]
        if not (type(size) is int and size >= 32 and size & (size - 1) == 0 and all(type(n) is int and n >= 0 for n in lengths)):
            return None
        elements = int(np.prod(lengths, dtype=object))
        scale = parts["w.absmax"]
        if -(-elements // 2) != parts["w"].size or -(-elements // size) != scale.size or not np.array_equal(parts["w.quant_map"], NF4):
            return None
        if nested:
            inner = said["nested_blocksize"]
            if said["nested_dtype"] != "float32" or type(inner) is not int or inner < 32 or inner & (inner - 1) or \
                    -(-scale.size // inner) != 1 or type(said["nested_offset"]) not in (int, float):
                return None
            scale = parts["w.nested_quant_map"][scale] * parts["w.nested_absmax"][0] + F32(said["nested_offset"])
            if not np.isfinite(F32(said["nested_offset"])):
                return None
        codes = np.stack([parts["w"].reshape(-1) >> 4, parts["w"].reshape(-1) & 15], 1).reshape(-1)[:elements]
        numbers = (NF4[codes] * np.repeat(scale, size)[:elements]).reshape(lengths)
        if said["dtype"] == "float16":
            return numbers.astype(np.float16).astype(F32)
        if said["dtype"] == "bfloat16":
            bits = numbers.view(np.uint32).astype(np.uint64)
            rounded = ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(F32)
            return np.where(np.isnan(numbers), numbers, rounded)
        return numbers
    return parts, model


def int8():
    parts = {"w.weight": RANDOM.integers(-128, 128, (4, 6)).astype(np.int8), "w.SCB": RANDOM.uniform(0.5, 2, 4).astype(F32),
             "w.weight_format": np.zeros((), np.uint8)}

    def model(parts):
        if parts["w.weight_format"] != 0:
            return None
        return parts["w.weight"].astype(F32) * parts["w.SCB"][:, None] * F32(0.007874015718698502)
    return parts, model


def said_format(parts):
    """The format in comfy_quant, if it is JSON and names it once."""
    said = json.loads(parts["w.comfy_quant"].tobytes().decode(), object_pairs_hook=no_twice)
    return said.get("format") if isinstance(said, dict) else None


def comfy_fp8(dtype, table, name):
    parts = {"w.weight": (dtype, RANDOM.integers(0, 0x70, (3, 5)).astype(np.uint8)), "w.weight_scale": np.array(0.37, F32),
             "w.comfy_quant": text({"format": name, "full_precision_matrix_mult": True})}
    return parts, lambda parts: table[parts["w.weight"][1]] * parts["w.weight_scale"] if said_format(parts) == name else None


def comfy_int8():
    parts = {"w.weight": RANDOM.integers(-128, 128, (3, 5)).astype(np.int8), "w.weight_scale": RANDOM.uniform(0.5, 2, (3, 1)).astype(F32),
             "w.comfy_quant": text({"format": "int8_tensorwise"})}
    return parts, lambda parts: (parts["w.weight"].astype(F32) * parts["w.weight_scale"]
                                 if said_format(parts) == "int8_tensorwise" else None)


def comfy_nvfp4():
    rows, columns = 128, 64
    scale = RANDOM.integers(1, 0x78, (rows, columns // 16)).astype(np.uint8)
    parts = {"w.weight": RANDOM.integers(0, 256, (rows, columns // 2)).astype(np.uint8), "w.weight_scale": ("F8_E4M3", tiles(scale)),
             "w.weight_scale_2": np.array(0.37, F32), "w.comfy_quant": text({"format": "nvfp4"})}
    places = tiles(np.arange(rows * (columns // 16), dtype=np.int64).reshape(rows, -1)).reshape(-1)

    def model(parts):
        if said_format(parts) != "nvfp4":
            return None
        flat = np.empty(places.size, np.uint8)
        flat[places] = parts["w.weight_scale"][1].reshape(-1)
        codes = np.stack([parts["w.weight"] >> 4, parts["w.weight"] & 15], -1).reshape(rows, columns)
        return np.repeat(E4M3_ALL[flat.reshape(rows, -1)] * parts["w.weight_scale_2"], 16, 1) * E2M1[codes]
    return parts, model


def comfy_old():
    parts = {"p.w.weight": ("F8_E4M3", RANDOM.integers(0, 0x70, (3, 5)).astype(np.uint8)), "p.w.scale_weight": np.array(0.37, F32),
             "p.scaled_fp8": ("F8_E4M3", np.zeros(2, np.uint8))}
    return parts, lambda parts: E4M3_ALL[parts["p.w.weight"][1]] * parts["p.w.scale_weight"]


CASES = {
    "bitsandbytes": bitsandbytes(False), "bitsandbytes, nested": bitsandbytes(True), "bitsandbytes, 8 bits": int8(),
    "comfy fp8": comfy_fp8("F8_E4M3", E4M3_ALL, "float8_e4m3fn"), "comfy fp8_e5m2": comfy_fp8("F8_E5M2", E5M2_ALL, "float8_e5m2"),
    "comfy int8": comfy_int8(), "comfy nvfp4": comfy_nvfp4(), "comfy, old": comfy_old(),
}


def changed(part, at, value):
    array = raw(part)
    data = bytearray(array.tobytes())
    data[at] = value
    new = np.frombuffer(bytes(data), array.dtype).reshape(array.shape)
    return (part[0], new) if isinstance(part, tuple) else new


def masks(number, at, letter, words):
    """XOR masks: for texts, characters with a meaning there; otherwise exponent bits."""
    if not words and not LONG:
        values = [letter ^ (1, 0x80, 0x40, 8)[number % 4]] + ([(0x7f, 0xff)[number % 2]] if at % 4 == 3 else [])
        return [value for value in values if value != letter]
    if LONG:
        return [letter ^ bit for bit in (1, 2, 4, 8, 16, 32, 64, 128)] + [ord(c) for c in '"09{}[],: \\e.-' if ord(c) != letter]
    signs = [letter ^ 1, letter ^ 0x80, letter ^ 0x40, ord('"'), ord("9"), ord(" "), ord(","), letter ^ 8]
    return [sign for sign in (signs[number % 8],) if sign != letter]


def model_of(model, parts):
    try:
        return model(parts)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, UnicodeDecodeError):
        return None


def verdicts(what, want):
    """Whether all readers read it, which must agree. want: numbers or None."""
    name = next(n for n in ("w", "w.weight", "p.w.weight") if n in READER.last)
    done = READER.run("quant", "case/m.safetensors", "fp32", "--dequant", "-o", "case/out.safetensors", "-q")
    TALLY.check(what + ": ends", done.returncode in (0, 2, 3), True)
    TALLY.check(what + ": one line", (done.stderr.count(b"\n") <= 1, done.stderr[:-1].decode().isprintable()), (True, True))
    reads = done.returncode == 0
    checked = READER.run("check", "case/m.safetensors", "--quantized", "--json")
    row = json.loads(checked.stdout)["files"][0]["assertions"][-1]
    form = READER.forms().get(name)
    moved = READER.run("transcode", "case/m.safetensors", "--to", "bf16", "-o", "case/moved.safetensors")
    TALLY.check(what + ": transcode agrees", moved.returncode == 0, reads)
    TALLY.check(what + ": inspect agrees", form is not None, reads)
    if not reads:
        TALLY.check(what + ": check agrees", (checked.returncode, row["ok"]), (1, False))
        if want is not None:
            REFUSED.append((what, done.stderr.decode().strip()))
        return
    if want is None:
        return TALLY.differ(what + ": is read", form, "refused")
    dtype, shape, data = read_file("case/out.safetensors")[name]
    ours = np.frombuffer(data, F32).reshape(shape)
    want = want.astype(F32)
    same = ours.shape == want.shape and np.array_equal(np.isnan(ours), np.isnan(want)) and \
        ours[~np.isnan(ours)].tobytes() == want[~np.isnan(want)].tobytes()
    TALLY.check(what + ": numbers", same, True)
    finite = bool(np.isfinite(want).all())
    COUNTS[finite] += 1
    TALLY.check(what + ": check tells of what is not finite", row["ok"] and not finite, False)
    if not finite:
        TALLY.check(what + ": transcode tells of it", b"all numbers are exact" in moved.stdout and b"nan" not in moved.stdout.lower()
                    and b"inf" not in moved.stdout.lower(), False)


REFUSED, COUNTS = [], [0, 0]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    number = 0
    for what, (parts, model) in CASES.items():
        whole = next(name for name in ("w", "w.weight", "p.w.weight") if name in parts)
        READER.last = parts
        READER.write(parts)
        verdicts(what, model_of(model, parts))
        TALLY.check(what + ": the model reads it", model_of(model, parts) is not None, True)
        for name in parts:
            data = raw(parts[name]).tobytes()
            step = 1 if LONG or len(data) <= 32 or name in (STATE, "w.comfy_quant") else 97 if len(data) > 200 else 5
            for at in range(0, len(data), step if name != whole else max(step, len(data) // 4)):
                number += 1
                for value in masks(number, at, data[at], name in (STATE, "w.comfy_quant")):
                    new = dict(parts, **{name: changed(parts[name], at, value)})
                    READER.write(new)
                    verdicts("%s, %s, byte %d: %d" % (what, name, at, value), model_of(model, new))
        TALLY.part(what)
    os.chdir("/")
for what, why in REFUSED if os.environ.get("DTI_TEST_SHOW") else ():
    print(what, why)
print("%d with numbers, %d with some that are not finite, %d refused that the model could read" % (COUNTS[1], COUNTS[0], len(REFUSED)))
sys.exit(TALLY.finish())
