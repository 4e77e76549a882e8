#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpt-oss: experts in MXFP4, as in the published checkpoints, transcoded to floats and back. The floats are the exact
numbers of the codes, in the order of the model's parameters; quantized along the second-last axis and transcoded to
gpt-oss, they are the same numbers again. If transformers is installed, it loads a tiny random model both ways: the
logits must equal those of the model whose parameters are the exact numbers, and those of transformers' own
dequantization. down_proj is square, so a transposed matrix would load without an error.

usage: test_gpt_oss.py DTINFO
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

from harness import Tally, have
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
warnings.simplefilter("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
TALLY = Tally()
np, torch, safetensors, transformers = (have(name) for name in ("numpy", "torch", "safetensors", "transformers"))
if not np:
    print("skipped: needs numpy")
    sys.exit(77)
MODEL = torch and safetensors and transformers and hasattr(transformers, "GptOssConfig")
if MODEL:
    import safetensors.torch
    from transformers import AutoModelForCausalLM, GptOssConfig, GptOssForCausalLM

E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
RANDOM = np.random.default_rng(29)
STEM = "model.layers.0.mlp.experts."
QUANTIZED = {"quant_method": "mxfp4", "modules_to_not_convert": [
    "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    TALLY.check(" ".join(words), (done.returncode, done.stderr.decode()[:300]), (status, done.stderr.decode()[:300]))
    return done


def numbers(blocks, scales):
    """[E, out, in / 32, 16] and [E, out, in / 32], low nibble first -> [E, in, out]."""
    codes = np.stack([blocks & 15, blocks >> 4], -1).reshape(*blocks.shape[:3], 32)
    rows = np.ldexp(E2M1[codes], scales.astype(int)[..., None] - 127)
    return rows.reshape(*blocks.shape[:2], -1).swapaxes(1, 2)


def config_of(folder):
    with open(folder + "/config.json") as file:
        return json.load(file)


def files():
    """Stacks of all shapes, larger than the chunks that are read at once."""
    for experts, inner, outer in ((1, 32, 2), (3, 64, 64), (2, 96, 130), (4, 2880, 384), (2, 384, 5760)):
        blocks = RANDOM.integers(0, 256, (experts, outer, inner // 32, 16), dtype=np.uint8)
        scales = RANDOM.integers(100, 140, (experts, outer, inner // 32), dtype=np.uint8)
        bias = RANDOM.integers(0, 0x4000, (experts, outer), dtype=np.uint16)
        os.makedirs("in", exist_ok=True)
        write_file("in/model.safetensors", {
            STEM + "down_proj_blocks": ("U8", blocks.shape, blocks.tobytes()),
            STEM + "down_proj_scales": ("U8", scales.shape, scales.tobytes()),
            STEM + "down_proj_bias": ("BF16", bias.shape, bias.tobytes())})
        with open("in/config.json", "w") as file:
            json.dump({"model_type": "gpt_oss", "quantization_config": QUANTIZED}, file)
        for words in (("in", "--to", "bf16", "-o", "floats"), ("in", "--to", "gpt-oss", "-o", "same")):
            run("transcode", *words, "--force")
        got = read_file("floats/model.safetensors")
        want = numbers(blocks, scales)
        dtype, shape, raw = got[STEM + "down_proj"]
        floats = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
        TALLY.check("%s: floats" % str(want.shape), (dtype, shape, bool((floats == want).all())), ("BF16", list(want.shape), True))
        TALLY.check("names", sorted(got), [STEM + "down_proj", STEM + "down_proj_bias"])
        TALLY.check("configuration", config_of("floats"), {"model_type": "gpt_oss"})
        TALLY.check("the same", read_file("same/model.safetensors"), read_file("in/model.safetensors"))
        run("quant", "floats", "mxfp4", "--axis", "-2", "--quant-only", "*experts*_proj", "-o", "codes", "--force")
        run("transcode", "codes", "--to", "gpt-oss", "-o", "back", "--force", "--require-lossless")
        parts = read_file("back/model.safetensors")
        TALLY.check("names that came back", sorted(parts), sorted(read_file("in/model.safetensors")))
        shapes = [parts[STEM + "down_proj_" + name][:2] for name in ("blocks", "scales")]
        TALLY.check("shapes", shapes, [("U8", list(blocks.shape)), ("U8", list(scales.shape))])
        again = [np.frombuffer(parts[STEM + "down_proj_" + name][2], np.uint8).reshape(shape[1])
                 for name, shape in zip(("blocks", "scales"), shapes)]
        TALLY.check("%s: numbers that came back" % str(want.shape), bool((numbers(*again) == want).all()), True)
        TALLY.check("its method", config_of("back")["quantization_config"]["quant_method"], "mxfp4")
        for folder in ("floats", "back"):
            done = run("compare", "in", folder)
            TALLY.check("compare", done.stdout[:5], b"equal")
        for layout in ("compressed-tensors", "modelopt"):
            done = run("transcode", "in", "--to", layout, "-o", "none", status=2)
            TALLY.check("none is written", (b"stored transposed" in done.stderr, os.path.exists("none")), (True, False))


def logits(model):
    with torch.no_grad():
        return model(torch.arange(24)[None] * 7 % 128).logits


def load(folder, **words):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager", **words).eval()


def model():
    torch.manual_seed(29)
    config = GptOssConfig(hidden_size=64, intermediate_size=64, num_local_experts=4, num_experts_per_tok=2,
                          num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=32, vocab_size=128,
                          max_position_embeddings=64, sliding_window=16, pad_token_id=0, eos_token_id=1)
    config._attn_implementation = "eager"
    reference = GptOssForCausalLM(config).eval()
    with torch.no_grad():
        for name, parameter in reference.named_parameters():
            parameter.data = parameter.data.to(torch.bfloat16)      # parameters only, not buffers, as loaders do
            if name.endswith("bias") or name.endswith("sinks"):
                parameter.normal_(0, 0.02)
    tensors, wanted = {}, {}
    for name, parameter in reference.state_dict().items():
        if name.endswith("gate_up_proj") or name.endswith("down_proj"):
            experts, inner, outer = parameter.shape
            blocks = torch.randint(0, 256, (experts, outer, inner // 32, 16), dtype=torch.uint8)
            scales = torch.randint(118, 124, (experts, outer, inner // 32), dtype=torch.uint8)
            tensors[name + "_blocks"], tensors[name + "_scales"] = blocks, scales
            wanted[name] = torch.from_numpy(numbers(blocks.numpy(), scales.numpy()).copy())
            parameter.copy_(wanted[name].to(parameter.dtype))
            TALLY.check(name + " is exact in bf16", bool((parameter.double() == wanted[name]).all()), True)
        else:
            tensors[name] = parameter.contiguous().clone()
    exact = logits(reference)
    os.mkdir("oss")
    safetensors.torch.save_file(tensors, "oss/model.safetensors", {"format": "pt"})
    text = json.loads(config.to_json_string())
    with open("oss/config.json", "w") as file:
        json.dump({**text, "architectures": ["GptOssForCausalLM"], "dtype": "bfloat16",
                   "quantization_config": QUANTIZED}, file)
    run("check", "oss", "--quantized")
    run("transcode", "oss", "--to", "bf16", "-o", "floats")
    with open("floats/config.json") as file:
        TALLY.check("no quantization_config", "quantization_config" in json.load(file), False)
    made = safetensors.torch.load_file("floats/model.safetensors")
    TALLY.check("names", sorted(made), sorted(reference.state_dict()))
    for name, want in wanted.items():
        TALLY.check(name, made[name].shape == want.shape and bool((made[name].double() == want).all()), True)
    TALLY.check("logits", bool((logits(load("floats")) == exact).all()), True)
    try:
        own = load("oss", quantization_config=transformers.Mxfp4Config(dequantize=True))
    except Exception as error:      # needs an accelerator, or a library that is missing
        TALLY.skip("transformers' own dequantization: %s" % str(error).splitlines()[0])
    else:
        TALLY.check("logits of transformers' own dequantization", bool((logits(own) == exact).all()), True)
    done = run("compare", "oss", "floats")
    TALLY.check("compare", done.stdout.startswith(b"equal"), True)
    run("quant", "floats", "mxfp4", "--axis", "-2", "--quant-only", "*experts*_proj", "-o", "codes")
    run("transcode", "codes", "--to", "gpt-oss", "-o", "back", "--require-lossless")
    try:
        own = load("back", quantization_config=transformers.Mxfp4Config(dequantize=True))
    except Exception as error:
        TALLY.skip("transformers' own dequantization: %s" % str(error).splitlines()[0])
    else:
        TALLY.check("logits of what was quantized again", bool((logits(own) == exact).all()), True)


with tempfile.TemporaryDirectory(prefix="dtinfo-gpt-oss-") as folder:
    os.chdir(folder)
    files()
    TALLY.part("files")
    if MODEL:
        os.mkdir("model")
        os.chdir("model")
        model()
        TALLY.part("a model")
    else:
        TALLY.skip("a model: needs torch, safetensors and transformers with gpt-oss")
    os.chdir("/")
TALLY.finish()
