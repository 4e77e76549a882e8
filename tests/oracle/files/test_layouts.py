# SPDX-License-Identifier: MIT
"""Every layout of quantized tensors that dtinfo reads, compared with the numbers of the original tools: what inspect
shows, what --stats finds, and the dequantized numbers, each counted, as a table; then what transcode makes of it.

usage: test_layouts.py DTINFO DATA
DATA has LAYOUT.safetensors and LAYOUT_numbers.safetensors, both made by the tool whose layout it is (make_....py).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import Tally, have

PROGRAM, DATA = map(os.path.abspath, sys.argv[1:3])
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import E2M1, E4M3, part
from tensor_files import read_file, write_file

RANDOM = np.random.default_rng(18)
F32 = np.float32
NUMPY = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "U8": "u1", "I32": "<i4", "I64": "<i8"}
TALLY = Tally()


def config(**said):
    return {"model_type": "llama", "quantization_config": said}


# The config.json for each of the files in DATA.
CONFIGS = {
    "awq": config(quant_method="awq", bits=4, group_size=32, version="gemm", zero_point=True),
    "bitnet": config(quant_method="bitnet", linear_class="bitlinear"),
    "bitsandbytes": None,
    "bitsandbytes_int8": None,
    "comfy": None,
    "gpt_oss": config(quant_method="mxfp4"),
    "gptq": config(quant_method="gptq", checkpoint_format="gptq"),
    "mlx": json.load(open(os.path.join(DATA, "mlx.json"))),
    "modelopt_awq": config(quant_method="modelopt", quant_algo="W4A16_AWQ", group_size=16),
    "quark": config(quant_method="quark", export={"pack_method": "reorder"}, global_quant_config={
        "weight": {"dtype": "int4", "qscheme": "per_group", "group_size": 16}}),
    "torchao": None,
}


def numbers_of(dtype, shape, raw):
    """As fp32, or fp64."""
    if dtype == "BF16":
        return (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return np.frombuffer(raw, NUMPY[dtype]).reshape(shape)


def to_bf16(numbers):
    """The bf16 bits: to nearest, ties to even; a NaN becomes the one with only the highest fraction bit set."""
    bits = numbers.astype("<f4").view("<u4").astype(np.uint64)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("<u2")
    return np.where(np.isnan(numbers), (bits >> 16 | 0x40).astype("<u2"), rounded)


def nibbles(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def words(codes, bits):
    """Non-negative integers in 32-bit words along rows."""
    per = 32 // bits
    codes = codes.astype(np.uint32).reshape(*codes.shape[:-1], -1, per)
    return (codes << np.arange(0, 32, bits, dtype=np.uint32)).sum(-1, dtype=np.uint32).view(np.int32)


def powers(low, high, *shape):
    """Powers of two as scales, so that products are exact in any order."""
    return np.ldexp(F32(1), RANDOM.integers(low, high, shape)).astype(F32)


def compressed(number, **weights):
    return config(quant_method="compressed-tensors", format=number, quantization_status="compressed", ignore=[],
                  config_groups={"group_0": {"targets": ["Linear"], "weights": weights, "format": number}})


def made():
    """Layouts whose definition is a formula: (name, parts of m.weight, config, numbers)."""
    codes = RANDOM.integers(-128, 128, (6, 96)).astype(np.int8)
    scale = powers(-9, 3, 6, 1)
    yield ("compressed-tensors int8", {"m.weight": codes, "m.weight_scale": scale},
           compressed("int-quantized", num_bits=8, type="int", strategy="channel", symmetric=True), codes * scale)
    codes, zeros, scale = RANDOM.integers(0, 16, (8, 128)), RANDOM.integers(0, 16, (8, 4)), powers(-9, 3, 8, 4)
    yield ("compressed-tensors int4", {
        "m.weight_packed": words(codes, 4), "m.weight_scale": scale, "m.weight_shape": np.array([8, 128], np.int64),
        "m.weight_zero_point": words(zeros.T, 4).T.copy()},
        compressed("pack-quantized", num_bits=4, type="int", strategy="group", group_size=32, symmetric=False),
        ((codes.reshape(8, 4, 32) - zeros[..., None]) * scale[..., None]).reshape(8, 128).astype(F32))
    codes, scale = RANDOM.integers(0, 16, (8, 64)), RANDOM.integers(0x28, 0x50, (8, 4)).astype(np.uint8)
    numbers = (E2M1[codes].reshape(8, 4, 16) * E4M3[scale][..., None]).reshape(8, 64)
    whole = F32(1 / 64)
    yield ("compressed-tensors nvfp4", {
        "m.weight_packed": nibbles(codes), "m.weight_scale": ("F8_E4M3", scale),
        "m.weight_global_scale": np.array([1 / whole], F32)},
        compressed("nvfp4-pack-quantized", num_bits=4, type="float", strategy="tensor_group", group_size=16,
                   symmetric=True), numbers * whole)
    yield ("modelopt nvfp4", {
        "m.weight": nibbles(codes), "m.weight_scale": ("F8_E4M3", scale), "m.weight_scale_2": np.array(whole, F32)},
        config(quant_method="modelopt", quant_algo="NVFP4", group_size=16, ignore=[]), numbers * whole)
    scale = RANDOM.integers(120, 132, (8, 2)).astype(np.uint8)
    yield ("compressed-tensors mxfp4", {"m.weight_packed": nibbles(codes), "m.weight_scale": scale},
           compressed("mxfp4-pack-quantized", num_bits=4, type="float", strategy="group", group_size=32, symmetric=True),
           (E2M1[codes].reshape(8, 2, 32) * np.ldexp(F32(1), scale.astype(int) - 127)[..., None]).reshape(8, 64))
    codes = RANDOM.integers(0, 256, (256, 384)).astype(np.uint8)
    codes[codes & 0x7f == 0x7f] = 0
    scale = powers(-9, 3, 2, 3)
    numbers = E4M3[codes] * np.repeat(np.repeat(scale, 128, 0), 128, 1)
    yield ("deepseek fp8", {"m.weight": ("F8_E4M3", codes), "m.weight_scale_inv": scale},
           config(quant_method="fp8", fmt="e4m3", activation_scheme="dynamic", weight_block_size=[128, 128]), numbers)
    yield ("modelopt fp8 by blocks", {"m.weight": ("F8_E4M3", codes), "m.weight_scale": scale.reshape(2, 1, 3, 1)},
           config(quant_method="modelopt", quant_algo="fp8_pb_wo", ignore=[]), numbers)
    yield ("modelopt fp8", {"m.weight": ("F8_E4M3", codes), "m.weight_scale": np.array(scale[0, 0])},
           config(quant_method="modelopt", quant_algo="FP8", ignore=[]), E4M3[codes] * scale[0, 0])


def layouts():
    """(name, stored tensors, metadata, config, numbers by name)"""
    for name, said in CONFIGS.items():
        path = os.path.join(DATA, name + ".safetensors")
        numbers = read_file(os.path.join(DATA, name + "_numbers.safetensors"))
        yield name, path, said, {key: numbers_of(*value) for key, value in numbers.items()}
    for name, tensors, said, numbers in made():
        write_file("made.safetensors", {key: part(value) for key, value in tensors.items()})
        yield name, "made.safetensors", said, {"m.weight": numbers.astype(F32)}


def run(*said):
    return subprocess.run([PROGRAM, *said], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Column:
    """Checks of one command for one layout."""

    def __init__(self):
        self.checked, self.differences, self.words = 0, 0, ""

    def check(self, what, got, want, count=1):
        self.checked += count
        TALLY.checked += count
        if got != want:
            self.differences += 1
            TALLY.differ(what, got, want)

    def __str__(self):
        return self.words or "%d, %d" % (self.checked, self.differences)


def inspect(name, path, numbers):
    column, stats = Column(), Column()
    done = run("inspect", path, "--stats", "--json")
    shown = {tensor["name"]: tensor for tensor in json.loads(done.stdout)["files"][0]["tensors"]}
    for key, want in numbers.items():
        column.check("%s: inspect %s" % (name, key), shown.get(key, {}).get("shape"), list(want.shape))
        found = shown.get(key, {}).get("stats") or {}
        finite = want[np.isfinite(want)]
        expected = {"elements": want.size, "nan": int(np.isnan(want).sum()), "inf": int((want == np.inf).sum()),
                    "zeros": int((want == 0).sum()), "finite": finite.size}
        for figure, value in expected.items():
            stats.check("%s: --stats %s: %s" % (name, key, figure), found.get(figure), value)
        if finite.size and want.dtype == F32:
            ends = [float(found[end]["hexfloat"] and float.fromhex(found[end]["hexfloat"])) for end in ("min", "max")]
            stats.check("%s: --stats %s: ends" % (name, key), ends, [float(finite.min()), float(finite.max())], 2)
    return column, stats


def dequantize(name, path, numbers, dtype, expect):
    column = Column()
    done = run("quant", path, dtype, "--dequant", "-o", "out.safetensors", "--force", "-q")
    if done.returncode:
        column.check("%s: --dequant %s" % (name, dtype), done.stderr.decode(), "")
        return column
    back = read_file("out.safetensors")
    for key, want in numbers.items():
        if key not in back or want.dtype.kind != "f":
            column.check("%s: there is %s" % (name, key), key in back, True)
            continue
        raw = np.frombuffer(back[key][2], np.uint8)
        column.check("%s: %s as %s" % (name, key, dtype), raw.tobytes() == expect(want).tobytes(), True, want.size)
    return column


OWN = {"awq": "awq", "gptq": "gptq", "mlx": "mlx", "modelopt": "modelopt", "deepseek": "deepseek"}


def plain(done):
    """The reason for a refusal."""
    return done.stderr.decode().strip().split(": tensor ", 1)[-1].split("; --to bf16")[0]


def floats_of(folder, key, dtype):
    """A dequantized tensor, or the reason for a failure."""
    done = run("quant", folder, dtype, "--dequant", "--select", key, "-o", "floats.safetensors", "--force", "-q")
    if done.returncode:
        return done.stderr.decode()
    _, shape, raw = read_file("floats.safetensors")[key]
    return np.frombuffer(raw, "<f2" if dtype == "fp16" else "<f4").reshape(shape)


def translate(name, numbers, reasons):
    """Converts each tensor alone to compressed-tensors and back: to numbers, and to its original parts."""
    there, back = Column(), Column()
    own = next((OWN[word] for word in OWN if name.startswith(word)), None)
    stored = read_file("in/model.safetensors")
    for key, want in numbers.items():
        if key in stored and stored[key][0] in ("F32", "F16", "BF16"):
            continue
        for folder in ("ct", "back"):
            shutil.rmtree(folder, ignore_errors=True)
        done = run("transcode", "in", "--to", "compressed-tensors", "--select", key, "-o", "ct", "--json", "-q")
        if done.returncode:
            reasons.setdefault(name, []).append(plain(done))
            continue
        verdict = json.loads(done.stdout)["translated"][0]
        if not verdict["lossless"]:
            reasons.setdefault(name, []).append("%s: %d of %d blocks lossless, worst error %g" % (
                key, verdict["lossless_blocks"], verdict["blocks"], verdict["worst_error"]["value"]
                if isinstance(verdict["worst_error"], dict) else verdict["worst_error"]))
            continue
        dtype, kind = ("fp16", "<f2") if want.dtype == np.float16 else ("fp32", "<f4")
        floats = floats_of("ct", key, dtype)
        if not isinstance(floats, str) and floats.shape != want.shape:  # experts in storage order
            floats = floats.swapaxes(-1, -2)
        there.check("%s: %s in compressed-tensors is the same" % (name, key), floats if isinstance(floats, str)
                    else (floats.shape, floats.tobytes() == want.astype(kind).tobytes()), (want.shape, True), want.size)
        if not own:
            continue
        done = run("transcode", "ct", "--to", own, "--select", key, "-o", "back", "-q")
        if done.returncode:
            reasons.setdefault(name, []).append("back: " + plain(done))
            continue
        again = read_file("back/model.safetensors")
        stem = key[:-len(".weight")] if key.endswith(".weight") else key
        for part_name, (dtype, _, raw) in stored.items():
            if part_name.startswith(stem + ".") and part_name in again:
                back.check("%s: %s is the same again" % (name, part_name), again[part_name][2] == raw, True, len(raw))
    return there if there.checked else "-", back if back.checked else "-"


def main():
    heads, reasons = ("inspect", "stats", "to fp32", "to bf16", "to c.-t.", "and back"), {}
    print("checks, differences; of bytes in the last column")
    print("%-26s" % "layout" + "".join("%14s" % head for head in heads))
    for name, path, said, numbers in layouts():
        shutil.rmtree("in", ignore_errors=True)
        os.mkdir("in")
        shutil.copy(path, "in/model.safetensors")
        if said:
            with open("in/config.json", "w") as file:
                json.dump(said, file)
        path = "in/model.safetensors"
        columns = [*inspect(name, path, numbers)]
        if all(want.dtype != np.float16 for want in numbers.values()):
            columns += [dequantize(name, path, numbers, "fp32", lambda x: x.astype("<f4")),
                        dequantize(name, path, numbers, "bf16", to_bf16)]
        else:  # the tool computes in fp16
            columns += [dequantize(name, path, numbers, "fp16", lambda x: x.astype("<f2")), "(fp16)"]
        columns += translate(name, numbers, reasons)
        print("%-26s" % name + "".join("%14s" % column for column in columns), flush=True)
    print("not to compressed-tensors, or not with the same numbers:")
    for name, lines in reasons.items():
        print("  %s:\n    %s" % (name, "\n    ".join(lines)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
    TALLY.finish()
