#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Casts of checkpoints against the frameworks that train and serve them: the results of torch and ml_dtypes for the
same tensors, bit by bit, in files that safetensors and numpy open. Packages that are not installed are skipped.

usage: test_command_checkpoints.py DTINFO
"""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import make_checkpoint

SKIPPED = 77
PROGRAM = os.path.abspath(sys.argv[1])
RANDOM = random.Random(20240315)
try:
    import numpy
    import safetensors
    import safetensors.numpy
except ImportError:
    print("skipped: needs numpy and safetensors")
    sys.exit(SKIPPED)
try:
    import torch
    import safetensors.torch
except ImportError:
    torch = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# our name, the names in safetensors, torch, ml_dtypes
DTYPES = [("bf16", "BF16", "bfloat16", "bfloat16"), ("fp16", "F16", "float16", "float16"),
          ("fp8_e4m3fn", "F8_E4M3", "float8_e4m3fn", "float8_e4m3fn"),
          ("fp8_e5m2", "F8_E5M2", "float8_e5m2", "float8_e5m2"), ("fp64", "F64", "float64", "float64"),
          ("int8", "I8", "int8", "int8")]
checked = different = 0


def judge(what, got, want):
    global checked, different
    checked += 1
    if got != want:
        different += 1
        print("DIFFERENT %s" % what)


def cast(source, dtype, target, *more):
    done = subprocess.run([PROGRAM, "cast", source, dtype, "-o", target, "-q", "--force", *more],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("dtinfo failed: %s" % done.stderr.decode())


def fp32_codes(count):
    """Numbers of every kind: all exponents, few and many bits, ties and their neighbours, specials."""
    codes = [0, 1 << 31, 0x7F800000, 0xFF800000, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF]
    while len(codes) < count:
        code = RANDOM.getrandbits(32)
        keep = RANDOM.choice((3, 4, 8, 11, 12, 24))
        code = code >> (32 - keep - 8) << (32 - keep - 8) if keep < 24 else code
        codes += [code, code ^ 1] if code >> 23 & 255 != 255 else []
    return codes[:count]


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def judge_torch(source, target, dtype):
    """torch's own .to() on tensors that safetensors loads."""
    before = safetensors.torch.load_file(source)
    after = safetensors.torch.load_file(target)
    judge("names for torch", sorted(after), sorted(before))
    for name, tensor in before.items():
        want = tensor.to(dtype) if tensor.is_floating_point() else tensor
        judge("%s of torch, %s" % (name, dtype), (after[name].dtype, after[name].shape, raw(after[name])),
              (want.dtype, want.shape, raw(want)))


def judge_random(folder, dtype, ml_name):
    """A tensor of numbers of every kind against numpy's astype(), which ml_dtypes extends."""
    codes = fp32_codes(200000)
    data = struct.pack("<%dI" % len(codes), *codes)
    name = "random.safetensors"
    (folder / name).write_bytes(make_checkpoint.safetensors([("x", "F32", [len(codes)], data)]))
    cast(str(folder / name), dtype, str(folder / "x.npy"))
    cast(str(folder / name), dtype, str(folder / "x.bin"))
    kind = numpy.dtype(getattr(ml_dtypes, ml_name, None) or ml_name)
    with numpy.errstate(all="ignore"):
        want = numpy.frombuffer(data, "<f4").astype(kind)
    judge("%s of ml_dtypes" % dtype, (folder / "x.bin").read_bytes(), want.tobytes())
    array = numpy.load(folder / "x.npy")
    judge("%s in an npy file" % dtype, (array.dtype.itemsize, array.shape, array.tobytes()),
          (kind.itemsize, (len(codes),), want.tobytes()))


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-judge-") as name:
        folder = pathlib.Path(name)
        make_checkpoint.write_single(folder)
        make_checkpoint.write_sharded(folder)
        single, index = str(folder / "model.safetensors"), str(folder / "model.safetensors.index.json")
        for dtype, stored, torch_name, ml_name in DTYPES:
            if ml_dtypes and not dtype.startswith("int"):
                judge_random(folder, dtype, ml_name)
            target = str(folder / "out.safetensors")
            for source in (single, index):
                cast(source, dtype, target)
                with safetensors.safe_open(target, "np") as file:
                    judge("metadata", file.metadata(), {"format": "pt"})
                    kinds = {file.get_slice(key).get_dtype() for key in file.keys()}
                    judge("dtypes, %s" % dtype, kinds, {stored, "I64"})
                if torch and hasattr(torch, torch_name):
                    judge_torch(single, target, getattr(torch, torch_name))
        cast(index, "bf16", str(folder / "new/"))
        if torch:
            both = {}
            for shard in sorted((folder / "new").glob("*.safetensors")):
                both.update(safetensors.torch.load_file(str(shard)))
            cast(single, "bf16", str(folder / "out.safetensors"))
            whole = safetensors.torch.load_file(str(folder / "out.safetensors"))
            judge("shards", {key: raw(value) for key, value in both.items()},
                  {key: raw(value) for key, value in whole.items()})
    for module, what in ((torch, "torch"), (ml_dtypes, "ml_dtypes")):
        if not module:
            print("skipped: %s is not installed" % what)
    print("%d checks, %d different" % (checked, different))
    return 1 if different or checked < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
