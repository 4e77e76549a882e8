#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading GPTQ and AWQ: random matrices, laid out bit by bit as GPTQModel 7.7 and AutoAWQ 0.2.9 store them, against
scale x (code - zero point), which is exact here. Then files made by these programs' own functions, and what they and
compressed-tensors' converter read. They need not be installed with their dependencies: their sources on PYTHONPATH
suffice, and files of theirs that are not involved are stubbed out.

usage: test_gptq.py DTINFO [--all]
"""
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
from unittest.mock import MagicMock

from harness import QUICK, Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
np, torch, safetensors = (have(name) for name in ("numpy", "torch", "safetensors"))
if not (np and torch and safetensors):
    print("skipped: needs numpy, torch and safetensors")
    sys.exit(77)
import safetensors.torch

ALL = "--all" in sys.argv
TALLY = Tally()
RANDOM = np.random.default_rng(20261123)
ORDER = [0, 2, 4, 6, 1, 3, 5, 7]    # column order in an AWQ word


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(words), done.stderr.decode()))
    return done.stdout.decode()


def same(what, ours, theirs):
    """Bit for bit, except that any NaN matches any NaN."""
    TALLY.checked += theirs.numel()
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        TALLY.differ(what, (ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
        return
    words = {2: torch.int16, 4: torch.int32}[ours.element_size()]
    ours, theirs = (torch.where(part.isnan(), torch.full_like(part, float("nan")), part).contiguous()
                    for part in (ours, theirs))
    if not torch.equal(ours.view(words), theirs.view(words)):
        at = (ours.view(words) != theirs.view(words)).nonzero()
        first = tuple(at[0].tolist())
        TALLY.differ("%s at %s (%d of %d)" % (what, first, len(at), ours.numel()), ours[first], theirs[first])


def words_along(fields, bits):
    """Each row of fields as a bit stream, the lowest first, padded to whole words."""
    rows, count = fields.shape
    stream = ((fields[:, :, None] >> np.arange(bits)) & 1).reshape(rows, count * bits).astype(np.uint8)
    stream = np.pad(stream, ((0, 0), (0, -count * bits % 32)))
    return np.packbits(stream, axis=1, bitorder="little").view("<i4").reshape(rows, stream.shape[1] // 32)


def gptq_parts(codes, zeros, bits):
    return {"qweight": np.ascontiguousarray(words_along(np.ascontiguousarray(codes.T), bits).T),
            "qzeros": words_along(zeros % 2 ** bits, bits)}


def awq_parts(codes, zeros):
    def packed(fields):
        rows, columns = fields.shape
        return words_along(fields.reshape(rows, columns // 8, 8)[:, :, ORDER].reshape(rows, columns), 4)
    return {"qweight": packed(codes), "qzeros": packed(zeros)}


def make_scales(shape, dtype, special):
    scales = (torch.from_numpy(RANDOM.standard_normal(shape)) * 10.0 ** float(RANDOM.integers(-6, 3))).to(dtype)
    if special:
        values = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 6e-8, 1e-40], dtype=dtype)
        places = torch.from_numpy(RANDOM.random(shape) < 0.2)
        scales[places] = values[torch.from_numpy(RANDOM.integers(0, len(values), int(places.sum())))]
    return scales


def numbers_of(codes, zeros, scales, groups):
    """Exact in fp64, then rounded once."""
    whole = torch.from_numpy((codes - zeros[groups]).astype(np.float64))
    return (whole * scales.double()[torch.from_numpy(groups)]).float().t().contiguous()


def read(name, dtype="fp32", *words):
    run("quant", name, dtype, "--dequant", "-o", "out.safetensors", "--force", "-q", *words)
    return safetensors.torch.load_file("out.safetensors")


def check_file(what, tensors, config, wanted):
    """tensors: of the file; wanted: the expected numbers by name."""
    with open("config.json", "w") as file:
        json.dump({"quantization_config": config}, file)
    safetensors.torch.save_file(tensors, "in.safetensors")
    bits = {name: dict(fp32=number, bf16=number.bfloat16(), fp16=number.half()) for name, number in wanted.items()}
    for threads, dtype in ((1, "fp32"), (2, "fp32"), (2, "bf16"), (1, "fp16")):
        got = read("in.safetensors", dtype, "--threads", str(threads))
        TALLY.check(what + ": names", sorted(got), sorted(wanted))
        for name in wanted:
            same("%s: %s of %s, %d threads" % (what, dtype, name, threads), got[name], bits[name][dtype])
    read("in.safetensors")
    answer = json.loads(run("compare", "in.safetensors", "out.safetensors", "--json"))
    TALLY.check(what + ": compared with itself",
                (answer["outcome"], answer["counts"]["equal"], answer["total"]["elements"]),
                ("equal", len(wanted), sum(number.numel() for number in wanted.values())))


def check_stats(what, wanted):
    """Checks the statistics of the current file."""
    answer = json.loads(run("inspect", "in.safetensors", "--stats", "--json"))
    for tensor in answer["files"][0]["tensors"]:
        numbers = wanted[tensor["name"]].double()
        finite = numbers[numbers.isfinite()]
        stats = tensor["stats"]
        TALLY.check(what + ": stats", [float(stats["min"]["value"]), float(stats["max"]["value"]), stats["nan"]],
                    [finite.min().item(), finite.max().item(), int(numbers.isnan().sum())])


def random_matrix(layout, bits, rows, columns, length, act, special, dtype):
    """Parts, configuration, numbers."""
    groups = np.arange(rows) // length
    count = int(groups[-1]) + 1
    if act:
        groups = RANDOM.integers(0, count, rows)
    codes = RANDOM.integers(0, 2 ** bits, (rows, columns))
    zeros = RANDOM.integers(0, 2 ** bits, (count, columns))
    scales = make_scales((count, columns), dtype, special)
    wanted = numbers_of(codes, zeros, scales, groups)
    if layout == "awq":
        parts, method = awq_parts(codes, zeros), {"quant_method": "awq", "version": "GEMM", "w_bit": 4,
                                                  "q_group_size": length}
    else:
        parts = gptq_parts(codes, zeros - (layout == "gptq"), bits)
        method = {"quant_method": "gptq", "bits": bits, "group_size": length, "checkpoint_format": layout,
                  "desc_act": act}
        if act or RANDOM.random() < 0.5 or rows * bits % 32:
            parts["g_idx"] = groups.astype(np.int32)
    if length >= rows:
        method["q_group_size" if layout == "awq" else "group_size"] = -1
    parts = {name: torch.from_numpy(part) for name, part in parts.items()}
    return dict(parts, scales=scales), method, wanted


def random_matrices():
    for layout, bits in [("gptq", b) for b in (2, 3, 4, 8)] + [("gptq_v2", b) for b in (2, 3, 4, 8)] + [("awq", 4)]:
        for i in range(8 if ALL else 3 if QUICK else 5):
            rows, columns = int(RANDOM.integers(1, 300)), int(RANDOM.integers(1, 40)) * 8
            if i % 2:   # whole words
                rows, columns = rows * 32, (columns + 31) // 32 * 32
            columns = max(columns, 32)  # fewer columns would be ambiguous in width, which dtinfo reports
            length = [rows, 1, 32, 17, 64, 128][i % 6]
            act = layout != "awq" and i % 3 == 1
            dtype = (torch.float16, torch.bfloat16, torch.float32)[i % 3]
            parts, method, wanted = random_matrix(layout, bits, rows, columns, length, act, i % 4 == 3, dtype)
            what = "%s of %d bits, %d x %d, groups of %d%s" % (layout, bits, rows, columns, length, ", g_idx" * act)
            check_file(what, {"a.b." + name: part for name, part in parts.items()}, method, {"a.b.weight": wanted})
            if i == 2:
                check_stats(what, {"a.b.weight": wanted})


def large_matrices():
    """More than one stripe of a matrix, in both directions; several matrices per file, whose stripes interleave."""
    for layout, rows, columns in (("gptq", 32, 9216), ("gptq_v2", 8192, 4224), ("awq", 64, 8200)) + (
            () if not ALL else (("gptq", 2 ** 21 + 64, 8), ("awq", 2 ** 21 + 8, 8))):
        parts, method, wanted = random_matrix(layout, 4, rows, columns, 32, False, False, torch.float16)
        small, _, other = random_matrix(layout, 4, 96, 64, 32, False, False, torch.float16)
        tensors = {"a." + name: part for name, part in parts.items()}
        tensors.update({"b." + name: part for name, part in small.items()})
        check_file("%s %d x %d" % (layout, rows, columns), tensors, method, {"a.weight": wanted, "b.weight": other})


def parts_in_several_files():
    for layout in ("gptq", "awq"):
        parts, method, wanted = random_matrix(layout, 4, 160, 64, 32, layout == "gptq", False, torch.float16)
        os.makedirs("model", exist_ok=True)
        with open("model/config.json", "w") as file:
            json.dump({"quantization_config": method}, file)
        where = {}
        for i, (name, part) in enumerate(parts.items()):
            where["a." + name] = "model-%05d-of-%05d.safetensors" % (i + 1, len(parts))
            safetensors.torch.save_file({"a." + name: part}, "model/" + where["a." + name])
        with open("model/model.safetensors.index.json", "w") as file:
            json.dump({"weight_map": where}, file)
        run("quant", "model", "fp32", "--dequant", "-o", "out.safetensors", "--as", "safetensors", "--force", "-q")
        same(layout + " in several files", safetensors.torch.load_file("out.safetensors")["a.weight"], wanted)


def words_of_auto_round():
    """The terms of AutoRound for the same settings."""
    for packing, layout in (("auto_round:auto_gptq", "gptq"), ("auto_round:gptqmodel", "gptq_v2"),
                            ("auto_round:auto_awq", "awq")):
        parts, _, wanted = random_matrix(layout, 4, 64, 64, 32, False, False, torch.float16)
        check_file(packing, {"a." + name: part for name, part in parts.items()},
                   {"quant_method": "auto-round", "bits": 4, "group_size": 32, "packing_format": packing},
                   {"a.weight": wanted})


def symmetric_ones_need_no_configuration():
    for bits in (2, 3, 4, 8):
        for offset in (0, 1):
            codes, middle = RANDOM.integers(0, 2 ** bits, (64, 96)), 2 ** (bits - 1)
            scales = make_scales((2, 96), torch.float16, False)
            zeros = np.full((2, 96), middle)
            parts = gptq_parts(codes, zeros - offset, bits)
            tensors = {"a." + name: torch.from_numpy(part) for name, part in parts.items()}
            check_file("symmetric, %d bits, minus %d" % (bits, offset), dict(tensors, **{"a.scales": scales}), {},
                       {"a.weight": numbers_of(codes, zeros, scales, np.arange(64) // 32)})


def bare(*names):
    """Packages whose __init__.py is not run, only located."""
    for name in names:
        parent, _, last = name.rpartition(".")
        module = types.ModuleType(name)
        if parent:
            module.__path__ = [os.path.join(path, last) for path in sys.modules[parent].__path__]
        else:
            found = importlib.util.find_spec(name)
            if not found:
                return False
            module.__path__ = list(found.submodule_search_locations)
        sys.modules[name] = module
    return True


def left_out(*names):
    for name in names:
        sys.modules[name] = MagicMock(__name__=name, __path__=[])


def gptqmodel_says():
    """GPTQModel's pack_original(), and its file dequantizer."""
    if not bare("gptqmodel", "gptqmodel.utils", "gptqmodel.nn_modules"):
        TALLY.skip("gptqmodel is not there")
        return
    left_out(*("gptqmodel." + name for name in (
        "quantization", "quantization.dtype", "utils.logger", "adapter", "adapter.adapter", "models", "models._const",
        "utils.backend", "utils.env", "utils.safe")))
    model = importlib.import_module("gptqmodel.utils.model_dequant")
    linear = importlib.import_module("gptqmodel.nn_modules.qlinear").PackableQuantLinear
    model._handle_ignored_tensor = lambda *_: None
    for bits, layout, act, rows, columns in ((b, f, a, r, c) for b in (2, 3, 4, 8) for f in ("gptq", "gptq_v2")
                                             for a in (False, True) for r, c in ((64, 32), (160, 96))):
        count = rows // 32
        groups = torch.arange(rows) // 32
        groups = groups[torch.randperm(rows)] if act else groups
        scales = torch.rand(columns, count) * 0.1 + 0.01
        zeros = torch.randint(1, 2 ** bits, (columns, count)).float()
        own = types.SimpleNamespace(bits=bits, maxq=2 ** bits - 1, planar=False, pack_dtype_bits=32,
                                    pack_factor=32 // bits, pack_dtype=torch.int32, pack_np_math_dtype=np.uint32,
                                    pack_np_dtype=np.int32, g_idx=groups)
        own.register_buffer = lambda name, value, own=own: setattr(own, name, value)
        weight = types.SimpleNamespace(weight=types.SimpleNamespace(data=torch.randn(columns, rows)), bias=None)
        linear.pack_original(own, weight, scales, zeros, groups.to(torch.int32))
        qzeros = own.qzeros if layout == "gptq_v2" else model._revert_gptq_v1_qzeros_correction(own.qzeros, bits)
        tensors = {"a.qweight": own.qweight, "a.qzeros": qzeros, "a.scales": own.scales, "a.g_idx": own.g_idx}
        config = {"quant_method": "gptq", "bits": bits, "group_size": 32, "desc_act": act,
                  "checkpoint_format": layout, "format": layout, "method": "gptq"}
        with open("config.json", "w") as file:
            json.dump({"quantization_config": config}, file)
        safetensors.torch.save_file({name: part.contiguous() for name, part in tensors.items()}, "in.safetensors")
        for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)):
            model.finalize_for_save = lambda tensor, dtype: tensor.to(dtype)
            theirs = model.convert_gptq_file("in.safetensors", dtype, config, "cpu")
            what = "gptqmodel: %s, %d bits%s, to %s" % (layout, bits, ", desc_act" * act, name)
            same(what, read("in.safetensors", name)["a.weight"], theirs["a.weight"])


def autoawq_says():
    """AutoAWQ's dequantize_gemm() of words, in fp16, and compressed-tensors' converter for them."""
    parts, method, wanted = random_matrix("awq", 4, 256, 192, 64, False, False, torch.float16)
    with open("config.json", "w") as file:
        json.dump({"quantization_config": method}, file)
    safetensors.torch.save_file({"a." + name: part for name, part in parts.items()}, "in.safetensors")
    ours = read("in.safetensors", "fp16")["a.weight"]
    if bare("awq", "awq.utils"):
        packing = importlib.import_module("awq.utils.packing_utils")
        theirs = packing.dequantize_gemm(parts["qweight"], parts["qzeros"], parts["scales"], 4, 64)
        same("autoawq", ours, theirs.t().contiguous())
    else:
        TALLY.skip("autoawq is not there")
    try:
        from compressed_tensors.entrypoints.convert.converters.autoawq import AutoAWQConverter
    except ImportError:
        TALLY.skip("compressed-tensors' converter of AWQ is not there")
        return
    for zero_point in (True, False):
        tensors = {"a." + name: part for name, part in parts.items() if zero_point or name != "qzeros"}
        safetensors.torch.save_file(tensors, "in.safetensors")
        method["zero_point"] = zero_point
        with open("config.json", "w") as file:
            json.dump({"quantization_config": method}, file)
        ours = read("in.safetensors")["a.weight"]
        converter = AutoAWQConverter(group_size=64, zero_point=zero_point)
        safetensors.torch.save_file(converter.process(dict(tensors)), "converted.safetensors")
        with open("config.json", "w") as file:
            json.dump({"quantization_config": {
                "quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {
                    "targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 64,
                                                       "symmetric": not zero_point}}}}}, file)
        theirs = read("converted.safetensors")["a.weight"]
        same("converted, zero points %s" % zero_point, ours, theirs)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    torch.manual_seed(20261123)
    random_matrices()
    TALLY.part("random matrices")
    large_matrices()
    TALLY.part("large ones")
    parts_in_several_files()
    words_of_auto_round()
    symmetric_ones_need_no_configuration()
    TALLY.part("configurations")
    gptqmodel_says()
    TALLY.part("gptqmodel")
    autoawq_says()
    TALLY.part("autoawq, compressed-tensors")
    os.chdir("/")
TALLY.finish()
