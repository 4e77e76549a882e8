#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo transcode` of fp8, of files from other tools, and of checkpoints that transformers loads; see
test_transcode.py.

usage: test_transcode_files.py DTINFO
"""
import json
import os
import shutil
import sys
import tempfile

from harness import have
from transcode_check import (DATA, F32, NUMPY, RANDOM, TALLY, equal, mx, np, nvfp4, pairs, read, run, shards, torch,
                             transcode, write)
from layout_files import E2M1, E4M3, tiles


def fp8_blocks():
    for rows, columns in ((1, 1), (128, 128), (200, 300), (576, 130), (129, 128)):
        grid = (-(-rows // 128), -(-columns // 128))
        codes = RANDOM.integers(0, 256, (rows, columns)).astype(np.uint8)
        codes[codes & 0x7f == 0x7f] = 0
        scale = RANDOM.uniform(1e-4, 1, grid).astype(F32)
        config = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
        write("ds/m.safetensors", {"a.weight": ("F8_E4M3", codes), "a.weight_scale_inv": ("F32", scale)}, config)
        want = E4M3[codes] * np.repeat(np.repeat(scale, 128, 0)[:rows], 128, 1)[:, :columns]
        said = transcode("ds", "compressed-tensors", "ct")
        TALLY.check("fp8: lossless", said["a.weight"]["lossless"], True)
        out = shards("ct")
        TALLY.check("fp8: parts", sorted(out), ["a.weight", "a.weight_scale"])
        shape = out["a.weight_scale"].shape
        grown = out["a.weight_scale"] if len(shape) == 1 else \
            np.repeat(np.repeat(out["a.weight_scale"], 128, 0)[:rows], 128, 1)[:, :columns]
        equal("fp8 %dx%d" % (rows, columns), E4M3[out["a.weight"]] * grown, want)
        transcode("ct", "deepseek", "back")
        TALLY.check("fp8: and back", {k: v.tobytes() for k, v in shards("back").items()},
                    {k: v.tobytes() for k, v in shards("ds").items()})
        with open("back/config.json") as file:
            TALLY.check("fp8: block size", json.load(file)["quantization_config"]["weight_block_size"], [128, 128])
        if torch and have("compressed_tensors"):
            with open("ct/config.json") as file:
                decoded = compressed(json.load(file)["quantization_config"], out, "a")
            equal("fp8 %dx%d: compressed-tensors" % (rows, columns), decoded, want)
    TALLY.part("fp8 in rectangles")


def compressed(config, parts, stem):
    """The library's decompression, by the configuration."""
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationConfig
    how = QuantizationConfig.model_validate(config)
    for scheme in how.config_groups.values():
        if stem not in scheme.targets and scheme.targets != ["Linear"]:
            continue
        state = {}
        for name, array in parts.items():
            if name.startswith(stem + ".weight"):
                tensor = torch.tensor(array)
                state[name[len(stem) + 1:]] = tensor.view(torch.float8_e4m3fn) if (
                    name.endswith(".weight") or (scheme.format.startswith("nv") and name.endswith("_scale"))) else tensor
        return BaseCompressor.get_value_from_registry(scheme.format).decompress(state, scheme)["weight"].float().numpy()
    return None


def fp8_rows():
    codes = RANDOM.integers(0, 0x7f, (6, 40)).astype(np.uint8)
    cases = {"one": (np.array(0.37, F32), "tensor"), "of rank 1": (np.array([0.37], F32), "tensor"),
             "rows": (RANDOM.uniform(0, 1, (6, 1)).astype(F32), "channel"),
             "rows of rank 1": (RANDOM.uniform(0, 1, 6).astype(F32), "channel")}
    for what, (scale, strategy) in cases.items():
        config = {"quant_method": "modelopt",
                  "quant_algo": "FP8" if strategy == "tensor" else "FP8_PER_CHANNEL_PER_TOKEN"}
        write("one/m.safetensors", {"a.weight": ("F8_E4M3", codes), "a.weight_scale": ("F32", scale)}, config)
        TALLY.check(what, transcode("one", "compressed-tensors", "ct")["a.weight"]["lossless"], True)
        out = shards("ct")
        with open("ct/config.json") as file:
            said = json.load(file)["quantization_config"]
        TALLY.check(what + ": strategy", said["config_groups"]["group_0"]["weights"]["strategy"], strategy)
        grown = scale.reshape(-1, 1) if scale.size > 1 else scale.reshape(1, 1)
        equal(what, E4M3[out["a.weight"]] * out["a.weight_scale"].reshape(-1, 1), E4M3[codes] * grown)
        if torch and have("compressed_tensors"):
            equal(what + ": compressed-tensors", compressed(said, out, "a"), E4M3[codes] * grown)
        if strategy == "channel":
            run("transcode", "ct", "--to", "modelopt", "-o", "no", code=2)
            continue
        for layout, suffix, shape in (("modelopt", "_scale", ()), ("deepseek", "_scale_inv", (1, 1))):
            transcode("ct", layout, "back")
            TALLY.check("%s: %s" % (what, layout), shards("back")["a.weight" + suffix].tobytes(), scale.tobytes())
            TALLY.check("%s: %s: shape" % (what, layout), shards("back")["a.weight" + suffix].shape, shape)
    TALLY.part("fp8 with one scale, or one for each row")


def wider_scales():
    """Powers of two stored as bytes become fp32; bf16 stays where allowed."""
    codes = RANDOM.integers(0, 0x7f, (200, 140)).astype(np.uint8)
    powers = RANDOM.integers(0, 255, (2, 2)).astype(np.uint8)
    config = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    write("v4/m.safetensors", {"a.weight": ("F8_E4M3", codes), "a.scale": ("F8_E8M0", powers)}, config)
    said = transcode("v4", "deepseek", "v3")
    out = shards("v3")
    TALLY.check("powers as fp32", (said["a.weight"]["lossless"], out["a.weight_scale_inv"].tobytes()),
                (True, np.ldexp(1.0, powers.astype(int) - 127).astype(F32).tobytes()))
    halves = (RANDOM.uniform(0, 1, (6, 1)).astype(F32).view(np.uint32) >> 16).astype(np.uint16)
    write("in.safetensors", {"a.weight": ("F8_E4M3", codes[:6]), "a.weight_scale": ("BF16", halves)})
    transcode("in.safetensors", "compressed-tensors", "ct.safetensors")
    TALLY.check("bf16 stays", read("ct.safetensors")["a.weight_scale"].tobytes(), halves.tobytes())
    TALLY.part("dtypes of scales")


# Files from other tools.

def fixtures():
    """The original tool's numbers against those of the transcoded file."""
    numbers = {name: read(os.path.join(DATA, name + "_numbers.safetensors")) for name in ("mlx", "comfy")}
    os.makedirs("mlx", exist_ok=True)
    shutil.copy(os.path.join(DATA, "mlx.safetensors"), "mlx/m.safetensors")
    shutil.copy(os.path.join(DATA, "mlx.json"), "mlx/config.json")
    for layout in ("modelopt", "compressed-tensors"):
        said = transcode("mlx", layout, "out", "--only", "model.layers.1.*")
        out = shards("out")
        for name in ("mxfp4", "mxfp8", "nvfp4", "nvfp4_scaled"):
            stem = "model.layers.1.%s.weight" % name
            codes = out[stem + "_packed"] if stem + "_packed" in out else out[stem]
            got = nvfp4(out, stem, layout) if name.startswith("nv") else \
                mx(E4M3[codes] if name == "mxfp8" else E2M1[pairs(codes)], out[stem + "_scale"])
            if said[stem]["lossless"]:
                equal("mlx %s to %s" % (name, layout), got, numbers["mlx"][stem])
            TALLY.check("mlx %s" % name, said[stem]["lossless"] or name == "nvfp4_scaled", True)
        said = transcode(os.path.join(DATA, "comfy.safetensors"), layout, "out.safetensors", "--only",
                         "model.a.*,model.d.*,model.e.*")
        out = read("out.safetensors")
        if said["model.e.weight"]["lossless"]:  # compressed-tensors divides by the reciprocal of the scale
            equal("comfy nvfp4 to " + layout, nvfp4(out, "model.e.weight", layout), numbers["comfy"]["model.e.weight"])
        TALLY.check("comfy nvfp4 to %s: lossless" % layout, said["model.e.weight"]["lossless"], layout == "modelopt")
        equal("comfy mxfp8 to " + layout, mx(E4M3[out["model.d.weight"]], out["model.d.weight_scale"]),
              numbers["comfy"]["model.d.weight"])
        equal("comfy fp8 to " + layout, E4M3[out["model.a.weight"]] * out["model.a.weight_scale"].reshape(()),
              numbers["comfy"]["model.a.weight"])
    for layout in ("compressed-tensors", "modelopt"):   # their loaders do not support such stacks
        run("transcode", os.path.join(DATA, "gpt_oss.safetensors"), "--to", layout, "-o", "none.safetensors", code=2)
        TALLY.check("gpt-oss to " + layout, os.path.exists("none.safetensors"), False)
    TALLY.part("fixtures of the original tools")


def tiled():
    """Scales in tiles, and the first of two codes in the high bits."""
    for rows, columns in ((128, 64), (130, 96), (16, 16), (300, 1040)):
        codes = RANDOM.integers(0, 16, (rows, columns)).astype(np.uint8)
        scales = RANDOM.integers(0, 0x7f, (rows, columns // 16)).astype(np.uint8)
        marker = np.frombuffer(b'{"format": "nvfp4"}', np.uint8)
        write("in.safetensors", {"a.weight": ("U8", codes[:, ::2] << 4 | codes[:, 1::2]),
                                 "a.weight_scale": ("F8_E4M3", tiles(scales)),
                                 "a.weight_scale_2": ("F32", np.array(0.5, F32)), "a.comfy_quant": ("U8", marker)})
        said = transcode("in.safetensors", "compressed-tensors", "out.safetensors")
        out = read("out.safetensors")
        TALLY.check("tiles %dx%d" % (rows, columns),
                    (said["a.weight"]["lossless"], out["a.weight_scale"].tobytes(), pairs(out["a.weight_packed"]).tobytes(),
                     out["a.weight_global_scale"].tobytes(), sorted(out)),
                    (True, scales.tobytes(), codes.tobytes(), np.array([2], F32).tobytes(),
                     ["a.weight_global_scale", "a.weight_packed", "a.weight_scale"]))
    TALLY.part("scales in tiles")


# Loaders.

def loaders():
    if not (torch and have("transformers") and have("compressed_tensors") and have("safetensors")):
        return TALLY.skip("transformers' loading")
    import transformers
    from compressed_tensors.quantization import QuantizationConfig
    from safetensors.torch import load_file
    from transformers.quantizers import AutoQuantizationConfig
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(20261123)
    config = transformers.LlamaConfig(vocab_size=256, hidden_size=128, intermediate_size=256, num_hidden_layers=1,
                                      num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained("model", max_shard_size="200KB")
    kept = "*embed*,*norm*,lm_head*"
    for what, steps in {"nvfp4": [["nvfp4", "--layout", "modelopt", "--tensor-scale", "0.25"]],
                        "mxfp4": [["mxfp4", "--layout", "modelopt"]], "mxfp8": [["mxfp8_e4m3", "--layout", "modelopt"]],
                        "fp8": [["fp8_e4m3fn", "--layout", "modelopt", "--per", "tensor"]],
                        "two groups": [["nvfp4", "--layout", "modelopt", "--quant-only", "*mlp*", "--tensor-scale", "2"],
                                       ["mxfp4", "--layout", "modelopt", "--quant-only", "*attn*"]]}.items():
        source = "model"
        for i, words in enumerate(steps):
            shutil.rmtree("step%d" % i, ignore_errors=True)
            run("quant", source, *words, "-o", "step%d" % i, "--keep", kept, "-q")
            source = "step%d" % i
        if len(steps) > 1:   # of the last step only
            os.remove(os.path.join(source, "config.json"))
            shutil.copy("model/config.json", source)
        said = transcode(source, "compressed-tensors", "loaded")
        TALLY.check(what + ": lossless", {t["lossless"] for t in said.values()}, {True})
        with open("loaded/config.json") as file:
            block = json.load(file)["quantization_config"]
        QuantizationConfig.model_validate(block)
        TALLY.check(what + ": groups", len(block["config_groups"]), len(steps))
        run("quant", source, "bf16", "--dequant", "-o", "plain.safetensors", "--force", "-q")
        ours = load_file("plain.safetensors")
        # dequantizing loaders support one group; the library itself, at the first forward pass, supports all
        several = len(steps) > 1
        how = transformers.CompressedTensorsConfig(run_compressed=several)
        model = transformers.AutoModelForCausalLM.from_pretrained("loaded", dtype=torch.bfloat16, quantization_config=how)
        if several:
            model(torch.tensor([[1]]))
        theirs = {name: tensor for name, tensor in model.state_dict().items() if not several or "weight_" not in name}
        TALLY.check(what + ": names", sorted(ours), sorted(theirs))
        for name, tensor in ours.items():
            TALLY.checked += tensor.numel()
            if theirs.get(name) is None or not torch.equal(theirs[name].view(torch.int16), tensor.view(torch.int16)):
                TALLY.differ("%s: %s" % (what, name), "other bits", "equal ones")
    run("quant", "model", "fp8_e4m3fn", "--per", "tensor", "-o", "one", "--keep", kept, "--force", "-q")
    transcode("one", "deepseek", "ds")
    with open("ds/config.json") as file:
        TALLY.check("deepseek's configuration",
                    list(AutoQuantizationConfig.from_dict(json.load(file)["quantization_config"]).weight_block_size),
                    [128, 128])
    TALLY.part("loaded by transformers")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fp8_blocks()
        fp8_rows()
        wider_scales()
        fixtures()
        tiled()
        loaders()
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
