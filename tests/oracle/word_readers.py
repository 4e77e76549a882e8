# SPDX-License-Identifier: MIT
"""What GPTQModel, AutoAWQ, compressed-tensors and MLX read from a matrix of word_layouts.py. Programs that are not
installed are skipped; the sources of GPTQModel and AutoAWQ on PYTHONPATH suffice, and files of theirs that are not
involved are stubbed out.
"""
import importlib
import importlib.util
import os
import sys
import types
from unittest.mock import MagicMock

import numpy as np
import safetensors.torch
import torch

from harness import Tally
from word_layouts import BRAIN, FLOAT, HALF, whole

TALLY = Tally()


def equal(what, ours, theirs):
    """Compares bit for bit."""
    TALLY.checked += theirs.numel()
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        TALLY.differ(what, (ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
        return
    as_bytes = [part.contiguous().reshape(-1).view(torch.uint8).reshape(*part.shape, -1) for part in (ours, theirs)]
    differ = (as_bytes[0] != as_bytes[1]).any(-1)
    if differ.any():
        at = tuple(differ.nonzero()[0].tolist())
        TALLY.differ("%s at %s (%d of %d)" % (what, at, int(differ.sum()), differ.numel()), ours[at], theirs[at])


def same_numbers(what, ours, theirs):
    """Ignores the sign of zero."""
    equal(what, ours + 0.0, theirs + 0.0)


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


def find_gptqmodel():
    if not bare("gptqmodel", "gptqmodel.utils", "gptqmodel.nn_modules"):
        return None
    for name in ("quantization", "quantization.dtype", "utils.logger", "adapter", "adapter.adapter", "models",
                 "models._const", "utils.backend", "utils.env", "utils.safe"):
        sys.modules["gptqmodel." + name] = MagicMock(__name__="gptqmodel." + name, __path__=[])
    model = importlib.import_module("gptqmodel.utils.model_dequant")
    model._handle_ignored_tensor = lambda *_: None
    model.finalize_for_save = lambda tensor, dtype: tensor.to(dtype)
    return model


try:
    from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
    from compressed_tensors.compressors.naive_quantized.base import IntQuantizationCompressor
    from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32, unpack_from_int32
    from compressed_tensors.quantization import QuantizationConfig
except ImportError:
    PackedQuantizationCompressor = IntQuantizationCompressor = QuantizationConfig = None
GPTQMODEL = find_gptqmodel()
AWQ = importlib.import_module("awq.utils.packing_utils") if bare("awq", "awq.utils") else None
try:
    import mlx.core as mx
except ImportError:
    mx = None
for name, there in (("compressed-tensors", PackedQuantizationCompressor), ("gptqmodel", GPTQMODEL), ("autoawq", AWQ),
                    ("mlx", mx)):
    if not there:
        TALLY.skip(name + " is not there")


# Each compares the written file with the matrix, using the original program's code.
def read_compressed(what, m, tensors, config):
    if not PackedQuantizationCompressor:
        return
    if m.act:       # this version has no weight_g_idx and refuses the option
        args = config["quantization_config"]["config_groups"]["group_0"]["weights"]
        TALLY.check(what + ": actorder", args.get("actorder"), "group")
        equal(what + ": order", tensors["a.weight_g_idx"], whole(m.groups.astype(np.int32)))
        equal(what + ": scales", tensors["a.weight_scale"], m.scales)
        equal(what + ": packed", tensors["a.weight_packed"], pack_to_int32(whole((m.codes - m.middle).astype(np.int8)),
                                                                           m.bits))
        return
    parsed = QuantizationConfig.model_validate(config["quantization_config"])
    scheme = parsed.config_groups["group_0"]
    symmetric = bool((m.zeros == m.middle).all())
    TALLY.check(what + ": symmetric", scheme.weights.symmetric, symmetric)
    TALLY.check(what + ": zero points", "a.weight_zero_point" in tensors, not symmetric)
    state = {name[2:]: part for name, part in tensors.items() if name.startswith("a.")}
    equal(what + ": scales", state["weight_scale"], m.scales)
    if parsed.format == "int-quantized":
        equal(what + ": codes", state["weight"], whole((m.codes - 128).astype(np.int8)))
        way = IntQuantizationCompressor
    else:
        signed = whole((m.codes - m.middle).astype(np.int8))
        equal(what + ": packed", state["weight_packed"], pack_to_int32(signed, m.bits))
        equal(what + ": codes", unpack_from_int32(state["weight_packed"], m.bits, torch.Size(m.codes.shape)), signed)
        if not symmetric:
            equal(what + ": packed zero points", state["weight_zero_point"],
                  pack_to_int32(whole((m.zeros - m.middle).astype(np.int8)), m.bits, packed_dim=0).contiguous())
        way = PackedQuantizationCompressor
    for dtype in (FLOAT, m.dtype):
        state["weight_scale"] = m.scales.to(dtype)
        same_numbers("%s: numbers of %s" % (what, dtype), way.decompress(dict(state), scheme)["weight"],
                     m.numbers().to(dtype))


def accepted(what, config):
    """Through the classes that transformers has for it."""
    try:
        from transformers.quantizers.auto import AutoQuantizationConfig
    except ImportError:
        return
    TALLY.checked += 1
    try:
        AutoQuantizationConfig.from_dict(dict(config))
    except Exception as error:  # any error
        TALLY.differ(what + ": transformers", error, "a configuration")


def read_gptq(what, m, tensors, config):
    config = config["quantization_config"]
    accepted(what, config)
    symmetric = bool((m.zeros == m.middle).all())
    TALLY.check(what + ": configuration", [config[key] for key in ("bits", "group_size", "sym", "desc_act")],
                [m.bits, m.length if m.length < m.columns else -1, symmetric, m.act])
    if not GPTQMODEL:
        return
    safetensors.torch.save_file(tensors, "gptq.safetensors")
    known = dict(config, group_size=m.length, method="gptq", format=config["checkpoint_format"])
    theirs = GPTQMODEL.convert_gptq_file("gptq.safetensors", FLOAT, known, "cpu")["a.weight"]
    same_numbers(what + ": numbers", theirs, m.numbers())


def read_awq(what, m, tensors, config):
    config = config["quantization_config"]
    accepted(what, config)
    TALLY.check(what + ": configuration", [config[key] for key in ("bits", "group_size", "zero_point", "version")],
                [4, m.length if m.length < m.columns else -1, True, "gemm"])
    if not AWQ:
        return
    parts = [tensors["a." + name] for name in ("qweight", "qzeros", "scales")]
    codes, zeros = AWQ.reverse_awq_order(*AWQ.unpack_awq(parts[0], parts[1], 4), 4)
    equal(what + ": codes", (codes & 15).t().to(torch.int32), whole(m.codes.astype(np.int32)))
    equal(what + ": zero points", (zeros & 15).t().to(torch.int32), whole(m.zeros.astype(np.int32)))
    for dtype in (FLOAT, m.dtype):
        theirs = AWQ.dequantize_gemm(parts[0], parts[1], parts[2].to(dtype), 4, m.length)
        same_numbers("%s: numbers of %s" % (what, dtype), theirs.t().contiguous(), m.numbers().to(dtype))


def from_mlx(array):
    return torch.from_numpy(np.array(array.astype(mx.float32)))


def to_mlx(part):
    if part.dtype == torch.uint32:
        return mx.array(part.numpy())
    return mx.array(part.float().numpy()).astype({HALF: mx.float16, BRAIN: mx.bfloat16, FLOAT: mx.float32}[part.dtype])


def read_mlx(what, m, tensors, config, answer):
    for name in ("quantization", "quantization_config"):
        TALLY.check(what + ": configuration", config[name],
                    {"group_size": m.length, "bits": m.bits, "mode": "affine"})
    equal(what + ": scales", tensors["a.scales"], m.scales)
    exact = torch.from_numpy(-m.zeros.astype(np.float64)) * m.scales.double()
    equal(what + ": biases", tensors["a.biases"] + 0.0, exact.to(m.dtype) + 0.0)
    if not mx:
        return
    parts = [to_mlx(tensors["a." + name]) for name in ("weight", "scales", "biases")]
    wanted = m.numbers()
    theirs = from_mlx(mx.dequantize(*parts, group_size=m.length, bits=m.bits))
    right = (theirs + 0.0 == wanted).reshape(m.rows, m.count, m.length).all(-1)
    said, all_of_them = answer["lossless_blocks"], answer["blocks"]
    TALLY.check(what + ": blocks", all_of_them, m.rows * m.count)
    if said > int(right.sum()):     # requires all codes to be right, not only those that occur
        TALLY.differ(what + ": blocks that are the same", said, int(right.sum()))
    if said == all_of_them:
        same_numbers(what + ": numbers", theirs, wanted)
    error = ((theirs.double() - wanted.double()).abs() / wanted.double().abs())
    worst = float(error[wanted != 0].max()) if bool((wanted != 0).any()) else 0.0
    if worst > answer["worst_error"] * (1 + 1e-9):
        TALLY.differ(what + ": worst error", answer["worst_error"], worst)
    if (m.zeros * m.scales.double().numpy() == -tensors["a.biases"].double().numpy()).all():
        # in fp32 arithmetic nothing rounds
        theirs = mx.dequantize(parts[0], parts[1].astype(mx.float32), parts[2].astype(mx.float32),
                               group_size=m.length, bits=m.bits)
        if m.dtype != FLOAT:
            same_numbers(what + ": numbers in fp32", from_mlx(theirs), wanted)
