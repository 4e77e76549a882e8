#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plans of advise, executed by quant, and loaded by the loaders' own code: compressed-tensors and transformers for vllm's
layout, comfy-kitchen for ComfyUI's, gguf-py for GGUF, mlx-lm for MLX's. A plan has several formats, all together have every format of the
loader's menu, each module of the plan belongs to exactly one group of config.json, and the loader's numbers are those of
quant --dequant.

usage: test_advise_loaders.py DTINFO
"""
import json
import os
import sys
import tempfile

os.environ["TQDM_DISABLE"] = "1"
from harness import have
from kitchen_reads import kitchen_reads
from transcode_check import F32, RANDOM, TALLY, equal, np, run, read, torch, write
from tensor_files import read_file

HIDDEN, INNER, WORDS, LAYERS = 128, 256, 96, 3
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "vocab_size": WORDS,
          "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "num_key_value_heads": 2,
          "rms_norm_eps": 1e-6, "max_position_embeddings": 64, "tie_word_embeddings": False, "dtype": "bfloat16"}


def bf16(numbers):
    return (np.ascontiguousarray(numbers, F32).view(np.uint32) >> 16).astype(np.uint16)


def widened(codes):
    return (codes.astype(np.uint32) << 16).view(F32)


def model():
    """A llama of random numbers whose tensors differ in their tails, so that a choice mixes formats."""
    tensors = {"model.norm.weight": np.ones(HIDDEN)}

    def matrix(name, rows, columns, tail):
        tensors[name + ".weight"] = RANDOM.standard_t(tail, (rows, columns)) * np.exp(RANDOM.normal(size=(rows, 1))) * 0.03

    for name in ("model.embed_tokens", "lm_head"):
        matrix(name, WORDS, HIDDEN, 5)
    for layer in range(LAYERS):
        start = "model.layers.%d." % layer
        for name, rows in (("q", HIDDEN), ("k", HIDDEN // 2), ("v", HIDDEN // 2), ("o", HIDDEN)):
            matrix(start + "self_attn.%s_proj" % name, rows, HIDDEN, 3 + layer)
        for name, rows, columns, tail in (("gate", INNER, HIDDEN, 9), ("up", INNER, HIDDEN, 30), ("down", HIDDEN, INNER, 4)):
            matrix(start + "mlp.%s_proj" % name, rows, columns, tail)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[start + name + ".weight"] = np.ones(HIDDEN)
    write("model/model.safetensors", {name: ("BF16", bf16(array)) for name, array in tensors.items()})
    with open("model/config.json", "w") as file:
        json.dump(CONFIG, file)


def planned(loader, menu, out, form=None):
    """Writes the file of a plan with a size in the middle of the menu's, and form.json, the plan in another form; the formats by
    tensor."""
    words = ["advise", "model", "--loader", loader, "--menu", menu, "--measurements", loader + ".json", "--force"]
    if not os.path.exists(loader + ".json"):
        run(*[word for word in words if word not in ("--menu", menu)], "--fit", "1GB", "-q")
    ends = json.loads(run(*words, "--fit", "1GB", "--json"))["frontier"]
    size = str((ends[0]["bytes"] + 2 * ends[-1]["bytes"]) // 3)
    run(*words, "--fit", size, "-o", "plan.json", "-q")
    with open("plan.json") as file:
        formats = {entry["name"]: entry["format"] for entry in json.load(file)["tensors"]}
    run("quant", "model", "--plan", "plan.json", "-o", out, "--force", "-q")
    if form:
        run(*words, "--fit", size, "-o", "form.json", "--as", form, "-q")
    used = set(formats.values()) | ({"stored"} if "stored" in menu else set())
    TALLY.check("%s %s: several formats" % (loader, menu), len(used) > 1, True)
    return formats


def every_format(loader, seen):
    with open(loader + ".json") as file:
        TALLY.check(loader + ": every format of the menu", sorted(seen), sorted(json.load(file)["formats"]))


# vllm: compressed-tensors

CODES = {"F8_E4M3": "float8_e4m3fn", "F32": "float32", "U8": "uint8", "I8": "int8", "I32": "int32", "I64": "int64",
         "BF16": "bfloat16", "F8_E8M0": "uint8"}
WRITTEN = {"float-quantized": "fp8_e4m3fn", "int-quantized": "int8", "mxfp8-quantized": "mxfp8_e4m3",
           "mxfp4-pack-quantized": "mxfp4", "nvfp4-pack-quantized": "nvfp4", "pack-quantized": "int4"}


def schemes_of(what, block, formats):
    """The group of each module of the model, as compressed-tensors matches its names; each in one group or in none."""
    import transformers
    from compressed_tensors.quantization import QuantizationConfig
    from compressed_tensors.utils.match import match_named_modules
    with torch.device("meta"):
        skeleton = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG))
    parsed, found = QuantizationConfig.model_validate(block), {}
    for scheme in parsed.config_groups.values():
        for name, _ in match_named_modules(skeleton, scheme.targets, parsed.ignore):
            found.setdefault(name + ".weight", []).append(scheme)
    TALLY.check(what + ": groups of modules", {name: [WRITTEN[one.format] for one in schemes] for name, schemes in found.items()},
                {name: [one] for name, one in formats.items()})
    others = {name for name, module in skeleton.named_modules() if isinstance(module, torch.nn.Linear)
              and name + ".weight" not in formats}
    TALLY.check(what + ": every other module is ignored, as vLLM wants it", sorted(others - set(parsed.ignore)), [])
    return {name: schemes[0] for name, schemes in found.items()}


def near(what, theirs, own, share):
    TALLY.check(what, (theirs.shape, int((np.abs(own - theirs) > np.abs(own) / share).sum())), (own.shape, 0))


def by_compressors(what, parts, schemes, own):
    """Every group's own decompression, of the parts alone."""
    from compressed_tensors.compressors import BaseCompressor
    for name, scheme in schemes.items():
        stem = name[:-len(".weight")]
        state = {part[len(stem) + 1:]: torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(getattr(torch, CODES[dtype]))
                 .reshape(shape) for part, (dtype, shape, raw) in parts.items() if part.startswith(name)}
        theirs = BaseCompressor.get_value_from_registry(scheme.format).decompress(state, scheme)["weight"].float().numpy()
        if scheme.format.startswith("nvfp4"):   # it computes in bf16
            near("%s: nvfp4 of %s" % (what, name), theirs, own[name], 64)
        else:
            equal("%s: %s of %s" % (what, scheme.format, name), theirs, own[name])


def by_transformers(what, folder, parts, formats, own):
    """The whole model; its weights after the first forward pass, in bf16, to which scales are rounded, too."""
    import transformers
    how = transformers.CompressedTensorsConfig(run_compressed=True)
    loaded, info = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, quantization_config=how,
                                                                     output_loading_info=True)
    TALLY.check(what + ": parts that fit no module", {key: sorted(value) for key, value in info.items() if value}, {})
    loaded(torch.tensor([[1, 2, 3]]))
    theirs = loaded.state_dict()
    for name, (dtype, _, raw) in parts.items():
        if dtype == "BF16":
            equal("%s: %s stays" % (what, name), theirs[name].float().numpy().reshape(-1), widened(np.frombuffer(raw, np.uint16)))
    for name, one in formats.items():
        near("%s: %s of %s loaded" % (what, one, name), theirs[name].float().numpy(), own[name], 64 if one == "nvfp4" else 127)


def vllm():
    if not (torch and have("compressed_tensors") and have("transformers")):
        return TALLY.skip("compressed-tensors and transformers")
    import transformers
    transformers.utils.logging.disable_progress_bar()
    seen = set()
    for menu in ("fp8,nvfp4", "mxfp8,int4", "int8,mxfp4", "stored,int4", "stored,fp8,mxfp8,mxfp4,nvfp4,int8,int4"):
        formats = planned("vllm", menu, "written", "compressed-tensors")
        run("quant", "written", "fp32", "--dequant", "-o", "numbers", "--force", "-q")
        parts, own = read_file("written/model.safetensors"), read("numbers/model.safetensors")
        with open("written/config.json") as file:
            block = json.load(file)["quantization_config"]
        with open("form.json") as file:
            alone = json.load(file)
        schemes_of(menu + " alone", alone, formats)
        TALLY.check(menu + ": --as compressed-tensors is what quant writes, but for the order of groups",
                    *[dict(one, config_groups=sorted(map(json.dumps, one["config_groups"].values()))) for one in (alone, block)])
        by_compressors(menu, parts, schemes_of(menu, block, formats), own)
        by_transformers(menu, "written", parts, formats, own)
        seen.update(formats.values())
    every_format("vllm", seen)
    TALLY.part("plans for vllm")


# --as modelopt: what ModelOpt's exporter says of modules of these formats.
THEIRS = {"fp8_e4m3fn": ("fp8_pc_pt", 0), "nvfp4": ("w4a16_nvfp4", 16), "mxfp8_e4m3": ("mxfp8", 32)}


def scores():
    """The search state that ModelOpt itself writes, as weights."""
    import modelopt.torch.quantization as mtq
    import transformers
    made = transformers.AutoModelForCausalLM.from_pretrained("model", dtype=torch.float32)
    data = [torch.randint(0, WORDS, (2, 8), generator=torch.Generator().manual_seed(turn)) for turn in range(2)]
    state = mtq.auto_quantize(
        made, constraints={"effective_bits": 6.0}, quantization_formats=["INT4_BLOCKWISE_WEIGHT_ONLY_CFG", "FP8_DEFAULT_CFG"], data_loader=data,
        forward_step=lambda made, words: made(words, labels=words), loss_func=lambda output, _: output.loss, num_calib_steps=2,
        num_score_steps=2, checkpoint="state.pth", verbose=False, disabled_layers=["*lm_head*"])[1]
    answer = json.loads(run("advise", "model", "--fit", "1GB", "--measurements", "vllm.json", "--weights", "state.pth", "--json"))
    theirs = {}
    for stats in state["candidate_stats"].values():
        theirs[stats["module_names"][0] + ".weight"] = (len(stats["module_names"]), stats["scores"][stats["costs"].index(min(stats["costs"]))])
    TALLY.check("scores of ModelOpt's groups", {group["tensors"][0]: (len(group["tensors"]), float("%.12g" % group["weight"]))
                                                for group in answer["groups"]},
                {name: (count, float("%.12g" % score)) for name, (count, score) in theirs.items() if name != "lm_head.weight"})


def modelopt():
    if not torch or not have("modelopt"):
        return TALLY.skip("nvidia-modelopt")
    from modelopt.torch.export.quant_utils import process_layer_quant_config
    seen = set()
    for menu in ("fp8,nvfp4", "mxfp8,nvfp4", "fp8,mxfp8,nvfp4"):
        formats, told = planned("vllm", menu, "written", "modelopt"), {}
        for name, one in formats.items():
            stem = name[:-len("weight")]
            told[stem + "quantization"], told[stem + "awq_block_size"] = THEIRS[one]
        with open("form.json") as file:
            alone = json.load(file)
        theirs = process_layer_quant_config(told)
        if theirs["quant_algo"] != "MIXED_PRECISION":
            sys.exit("the menu %s gave one format" % menu)
        TALLY.check("%s: --as modelopt" % menu, alone, theirs)
        seen.update(formats.values())
    TALLY.check("every algorithm", sorted(seen), sorted(THEIRS))
    scores()
    TALLY.part("plans as ModelOpt's layers")


def comfyui():
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen")
    seen = set()
    for menu in ("fp8,nvfp4", "mxfp8,nvfp4", "int8,nvfp4", "stored,fp8,mxfp8,nvfp4,int8"):
        formats = planned("comfyui", menu, "comfy", "comfyui")
        run("quant", "comfy", "fp32", "--dequant", "-o", "numbers", "--force", "-q")
        parts, own = read("comfy/model.safetensors"), read("numbers/model.safetensors")
        marks = {name[:-len("comfy_quant")] + "weight": json.loads(array.tobytes())["format"] for name, array in parts.items()
                 if name.endswith(".comfy_quant")}
        TALLY.check("%s: layers with a mark" % menu, sorted(marks), sorted(formats))
        with open("form.json") as file:
            alone = json.load(file)
        TALLY.check("%s: --as comfyui" % menu, (sorted(alone), alone["format_version"]), (["format_version", "layers"], "1.0"))
        TALLY.check("%s: layers of --as comfyui" % menu, {name + ".weight": json.dumps(mark) for name, mark in alone["layers"].items()},
                    {name: parts[name[:-len("weight")] + "comfy_quant"].tobytes().decode() for name in formats})
        for name, mark in marks.items():
            shape = own[name].shape
            theirs = kitchen_reads(parts, name, mark, shape).dequantize().float().numpy()
            equal("%s: %s of %s" % (menu, mark, name), theirs[:shape[0], :shape[1]], own[name])
        seen.update(formats.values())
    every_format("comfyui", seen)
    TALLY.part("plans for comfyui")


def llama_cpp():
    gguf = have("gguf")
    if not gguf:
        return TALLY.skip("gguf-py")
    seen = set()
    for menu in ("q8_0,q4_k", "q6_k,q3_k", "q5_k,q3_k", "stored,q8_0,q6_k,q5_k,q4_k,q3_k"):
        formats = planned("llama.cpp", menu, "out.gguf")
        run("quant", "out.gguf", "fp32", "--dequant", "-o", "numbers.gguf", "--force", "-q")
        own = {tensor.name: tensor.data for tensor in gguf.GGUFReader("numbers.gguf").tensors}
        there = {tensor.name: tensor for tensor in gguf.GGUFReader("out.gguf").tensors}
        types = {name: tensor.tensor_type.name.lower() for name, tensor in there.items()}
        TALLY.check(menu + ": types", {name: one for name, one in types.items() if one not in ("f32", "bf16")}, formats)
        for name in formats:
            theirs = gguf.quants.dequantize(there[name].data, there[name].tensor_type)
            equal("%s: %s of %s" % (menu, types[name], name), theirs.reshape(own[name].shape), own[name])
        seen.update(formats.values())
    every_format("llama.cpp", seen)
    TALLY.part("plans for llama.cpp")


def mlx():
    """mlx-lm builds each module with the scheme that config.json has for it; MLX's numbers, in bf16, where it computes them."""
    if not (have("mlx.core") and have("mlx_lm")):
        return TALLY.skip("mlx and mlx-lm")
    import pathlib
    import mlx.core as mx
    from mlx_lm.utils import load_model
    mx.set_default_device(mx.cpu)
    words = {(8, "affine"): "uint8", (6, "affine"): "uint6", (5, "affine"): "uint5", (4, "affine"): "uint4", (3, "affine"): "uint3",
             (2, "affine"): "uint2", (8, "mxfp8"): "mxfp8_e4m3", (4, "mxfp4"): "mxfp4", (4, "nvfp4"): "nvfp4"}
    seen = set()
    for menu in ("uint8,uint2", "mxfp8,uint3", "uint6,mxfp4", "uint5,nvfp4", "stored,uint4",
                 "stored,uint8,uint6,uint5,uint4,uint3,uint2,mxfp8,mxfp4,nvfp4"):
        formats = planned("mlx", menu, "mlx")
        run("quant", "mlx", "fp32", "--dequant", "-o", "numbers", "--force", "-q")
        run("verify", "model", "mlx", "--recipe", "plan.json", "-q")
        own = read("numbers/model.safetensors")
        built, _ = load_model(pathlib.Path("mlx"))
        modules = {name: module for name, module in built.named_modules() if hasattr(module, "bits")}
        TALLY.check(menu + ": formats of modules", {name + ".weight": words[module.bits, module.mode] for name, module in
                                                    modules.items()}, formats)
        for name, module in modules.items():
            theirs = mx.dequantize(module.weight, module.scales, module.get("biases"), module.group_size, module.bits,
                                   mode=module.mode)
            near("%s: %s of %s" % (menu, module.mode, name), np.array(theirs.astype(mx.float32)), own[name + ".weight"], 127)
        TALLY.check(menu + ": it runs", bool(mx.isfinite(built(mx.array([[1, 2, 3]]))).all()), True)
        seen.update(formats.values())
    every_format("mlx", seen)
    tied(load_model, mx)
    TALLY.part("plans for mlx")


def tied(load_model, mx):
    """A model with tied embeddings that stores lm_head: it stays, with a warning, and mlx-lm loads what quant makes."""
    import pathlib
    with open("model/config.json", "w") as file:
        json.dump({**CONFIG, "tie_word_embeddings": True}, file)
    report = json.loads(run("advise", "model", "--loader", "mlx", "--menu", "uint4", "--fit", "1GB", "-o", "plan.json", "--force", "--json"))
    TALLY.check("tied: warnings", [(note["code"], "'lm_head.weight'" in note["message"]) for note in report["warnings"]],
                [("tied_output", True)])
    with open("plan.json") as file:
        planned_names = {entry["name"] for entry in json.load(file)["tensors"]}
    TALLY.check("tied: the plan", ("lm_head.weight" in planned_names, "model.embed_tokens.weight" in planned_names), (False, True))
    run("quant", "model", "--plan", "plan.json", "-o", "mlx", "--force", "-q")
    built, _ = load_model(pathlib.Path("mlx"))
    TALLY.check("tied: it runs", bool(mx.isfinite(built(mx.array([[1, 2, 3]]))).all()), True)
    with open("model/config.json", "w") as file:
        json.dump(CONFIG, file)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    model()
    vllm()
    modelopt()
    comfyui()
    llama_cpp()
    mlx()
    os.chdir("/")
TALLY.finish()
