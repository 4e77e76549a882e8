# SPDX-License-Identifier: MIT
"""For test_parts.py: a small healthy checkpoint of each readable layout, the quantized tensor in it to break, and the
parts of that tensor."""
import copy
import json

import numpy as np
import lint_files
from lint_files import LINEARS, array, f32, fp8, model, nvfp4, plain, quantization
from tensor_files import read_file

UP = "model.layers.0.mlp.up_proj."


class Base:
    """tensors and metadata of a file, configurations {file name: object}; stem: common prefix of the tensor's part
    names; numbers: its name before quantization; codes: the name of its codes."""

    def __init__(self, tensors, files, stem=UP, numbers="weight", codes=None, metadata=None):
        self.tensors, self.files, self.stem, self.metadata = tensors, files, stem, metadata
        self.parts = sorted(name[len(stem):] for name in tensors if name.startswith(stem) and not name.endswith("bias"))
        self.numbers = stem + numbers
        self.codes = stem + (codes or next(p for p in (numbers + "_packed", "qweight", numbers + "_blocks", numbers) if p in self.parts))

    def added(self, part):
        """The name of an added part of the tensor, which in gpt-oss is not named weight."""
        return self.numbers + part[len("weight"):] if part.startswith("weight") else self.stem + part

    def copy(self):
        return copy.deepcopy(self.tensors)


def config(block):
    return {"config.json": block} if block else {}


def of_lint():
    stems = {"integers": "model.layers.0.self_attn.q_proj.", "fp8 of powers of two": "layers.0.attn.wq_a.",
             "gpt-oss": "model.layers.0.mlp.experts."}
    made = {}
    for name, (tensors, block) in lint_files.checkpoints().items():
        if name in ("two groups", "tied embeddings"):
            continue
        if name == "integers":      # the model's bias belongs to this module
            tensors.pop("model.layers.0.self_attn.q_proj.bias")
        numbers = "down_proj" if name == "gpt-oss" else "weight"
        made[name] = Base(tensors, config(block), stems.get(name, UP), numbers)
    made["gptq of desc_act"] = Base(*copy.deepcopy((made["gptq"].tensors, made["gptq"].files)))
    made["gptq of desc_act"].files["config.json"]["quantization_config"]["desc_act"] = True
    return made


def of_data(folder, name, stem, block=None, others=(), metadata=None, **more):
    """A tensor of a file made by its own program, with some others."""
    tensors = {n: t for n, t in read_file(folder / (name + ".safetensors")).items() if n.startswith((stem, *others))}
    return Base(tensors, config(block), stem, metadata=metadata, **more)


def metadata_of(path):
    with open(path, "rb") as file:
        content = file.read()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8:8 + length]).get("__metadata__")


def comfy():
    marker = ("F8_E4M3", [2], b"\0\0")
    say = array(np.frombuffer(json.dumps({"format": "float8_e4m3fn"}).encode(), np.uint8))
    entry = {"_quantization_metadata": json.dumps({"layers": {UP[:-1]: {"format": "float8_e4m3fn"}}})}
    old = {UP + "weight": fp8()["weight"], UP + "scale_weight": f32(0.001, shape=()), "scaled_fp8": marker, "norm.weight": plain(1, 8)}
    new = {UP + "weight": fp8()["weight"], UP + "weight_scale": f32(0.001, shape=()), "norm.weight": plain(1, 8)}
    return {"comfy, scaled_fp8": Base(old, {}), "comfy": Base(dict(new, **{UP + "comfy_quant": say}), {}),
            "comfy in the metadata": Base(new, {}, metadata=entry)}


def bases(data):
    """All bases in order; data: tests/data."""
    made = of_lint()
    one = {name: fp8(scale=f32(0.0001, shape=())) for name in LINEARS}
    told = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": None, "exclude_modules": ["lm_head"]}}
    made["fp8 of ModelOpt"] = Base(model(one, None)[0], {"hf_quant_config.json": told})
    for name in ("fp8", "fp8 blocks", "nvfp4", "nvfp4 of ModelOpt", "mxfp4"):
        tensors = dict(made[name].tensors)
        if name == "fp8 blocks":    # another tensor to resolve the ambiguity; no other rectangles have these shapes
            tensors = {module + part: t for module in (UP, "model.layers.0.mlp.gate_proj.") for part, t in
                       fp8(251, 131, f32(*[0.0001] * 4, shape=(2, 2)), "weight_scale_inv").items()}
        made[name + ", no configuration"] = Base(tensors, {})
    made["fp8, activations"] = Base(model({"mlp.up_proj": dict(fp8(), input_scale=f32(0.5, shape=()))}, None)[0], {})
    made.update(comfy())
    block = {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}}
    made["bitsandbytes nf4"] = of_data(data, "bitsandbytes", "nested.", block)
    made["bitsandbytes fp4"] = of_data(data, "bitsandbytes", "fp4.")
    block = {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}
    made["bitsandbytes int8"] = of_data(data, "bitsandbytes_int8", "a.", block)
    made["bitsandbytes int8, no configuration"] = of_data(data, "bitsandbytes_int8", "a.", None, ("model.b.",))
    for stem in "bde":
        made["torchao, " + stem] = of_data(data, "torchao", stem + ".", codes="_weight_qdata", metadata={
            k: v for k, v in metadata_of(data / "torchao.safetensors").items() if k in ("format", "tensor_names") or k.startswith(stem)})
    made["quark"] = of_data(data, "quark", "q.", {"quantization_config": {
        "quant_method": "quark", "export": {"pack_method": "reorder"},
        "global_quant_config": {"weight": {"dtype": "int4", "qscheme": "per_group", "group_size": 16}}}})
    made["bitnet"] = of_data(data, "bitnet", "n.", {"quantization_config": {"quant_method": "bitnet", "linear_class": "autobitlinear"}})
    made["awq of ModelOpt"] = of_data(data, "modelopt_awq", "n.")
    made["awq of ModelOpt"].parts.remove("pre_quant_scale")
    return made


# Changes to a part: functions of the tensors.

def remove(tensors, base, part):
    del tensors[base.stem + part]


def retype(tensors, base, part):
    dtype, shape, _ = tensors[base.stem + part]
    count = int(np.prod(shape))
    tensors[base.stem + part] = ("F32", shape, np.ones(count, np.float32).tobytes()) if dtype == "I64" else (
        "I64", shape, np.ones(count, np.int64).tobytes())


def unpack(tensors, base, part):
    """Turns codes into plain floats."""
    _, shape, _ = tensors[base.stem + part]
    tensors[base.stem + part] = "BF16", shape, b"\0\x3f" * int(np.prod(shape))


def reshape(tensors, base, part):
    """Adds one element along the last dimension."""
    dtype, shape, raw = tensors[base.stem + part]
    longer = [*shape[:-1], shape[-1] + 1] if shape else [2]
    size = len(raw) // max(1, int(np.prod(shape)))
    rows = int(np.prod(shape[:-1])) if shape else 1
    row = len(raw) // rows
    tensors[base.stem + part] = dtype, longer, b"".join(raw[i * row:(i + 1) * row] + raw[:size] for i in range(rows))


def add(tensors, base, part):
    """Adds a part that the layout does not have: a copy of its scales, or ones."""
    scale = next((tensors[base.stem + p] for p in ("weight_scale", "weight_scale_inv", "scales", "scale", "SCB") if base.stem + p in tensors),
                 f32(1.0, shape=()))
    tensors[base.added(part)] = scale


def plain_files():
    """Files with unscaled codes that are plain numbers, so nothing is missing: {name: (tensors, files)}."""
    codes, scaled = fp8()["weight"], {UP + part: value for part, value in fp8().items()}
    alone, gate = {UP + "weight": codes}, "model.layers.0.mlp.gate_proj."
    both = dict(scaled, **{gate + "weight": codes})
    group = {"targets": ["re:.*up_proj"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}
    block = {"quant_method": "compressed-tensors", "format": "float-quantized", "config_groups": {"group_0": group}}
    linear = dict(block, config_groups={"group_0": dict(group, targets=["Linear"])}, ignore=[gate[:-1]])
    deepseek = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128],
                "modules_to_not_convert": [gate[:-1]]}
    return {
        "fp8 without scales": (alone, {}),
        "fp8 without scales, a configuration of something else": (alone, {"config.json": {"dtype": "bfloat16"}}),
        "an embedding of fp8": (dict(scaled, **{"model.embed_tokens.weight": codes, "model.norm.weight": codes}), {}),
        "a vector of fp8": (dict(scaled, **{"model.layers.0.mlp.down_proj.weight": ("F8_E4M3", [16], bytes(16))}), {}),
        "no group is for it": (both, config(quantization(**block))),
        "it is ignored": (both, config(quantization(**linear))),
        "it is not converted": (dict(alone, **{gate + "weight": codes, UP + "weight_scale_inv": f32(.5, shape=(1, 1))}), config(quantization(**deepseek))),
        "codes of int8 beside scaled fp8": (dict(scaled, **{gate + "weight": array(np.ones((8, 16), np.int8))}), {}),
    }


SURPLUS = ("weight_scale", "weight_scale_inv", "weight_zero_point", "weight_scale_2", "weight_global_scale", "scales")
