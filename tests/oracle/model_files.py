# SPDX-License-Identifier: MIT
"""Tiny language models as Hugging Face stores them, one for each architecture that has a table of names; and what
llama.cpp's convert_hf_to_gguf.py makes of them, written down here from its source (conversion/*.py, 2026) with gguf-py:
the keys through the methods of GGUFWriter, which know their types, the names through its map of names.
"""
import json
import math
import pathlib

import gguf
import numpy

import tensor_files

HIDDEN, HEADS, KV_HEADS, LAYERS, INNER, VOCABULARY = 64, 4, 2, 2, 96, 96
HEAD = HIDDEN // HEADS

COMMON = {"hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
          "num_hidden_layers": LAYERS, "intermediate_size": INNER, "vocab_size": VOCABULARY,
          "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16"}
CONFIGS = {
    "llama": {"architectures": ["LlamaForCausalLM"], "rope_theta": 500000.0, "attention_bias": True,
              "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                               "original_max_position_embeddings": 8192, "rope_type": "llama3"}},
    "mistral": {"architectures": ["MistralForCausalLM"], "rope_theta": 1e6, "head_dim": 32, "sliding_window": None},
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "rope_theta": 1000000, "tie_word_embeddings": True,
              "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "head_dim": 32, "rope_theta": 1e6,
              "rope_scaling": {"rope_type": "linear", "factor": 2}},
    "gemma": {"architectures": ["GemmaForCausalLM"], "head_dim": 16, "rope_theta": 10000.0, "rms_norm_eps": 1e-6},
    "gemma2": {"architectures": ["Gemma2ForCausalLM"], "head_dim": 32, "sliding_window": 512,
               "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
    "gemma3": {"architectures": ["Gemma3ForCausalLM"], "head_dim": 32, "sliding_window": 256,
               "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0},
    "phi3": {"architectures": ["Phi3ForCausalLM"], "rope_theta": 10000.0, "sliding_window": None,
             "original_max_position_embeddings": 1024, "partial_rotary_factor": 0.75,
             "rope_scaling": {"type": "longrope", "long_factor": [1.0 + i / 7 for i in range(6)],
                              "short_factor": [1.1] * 6}},
}
ARCHITECTURE = {"mistral": "llama"}      # in GGUF, where it is another word


def config_of(name):
    return COMMON | CONFIGS[name]


def shapes_of(name):
    """Tensors of a model: name -> shape, in the order of a checkpoint."""
    config = config_of(name)
    head = config.get("head_dim") or HEAD
    shapes = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN)}
    gemma = name in ("gemma2", "gemma3")
    for layer in range(LAYERS):
        own = f"model.layers.{layer}."
        shapes[own + "input_layernorm.weight"] = (HIDDEN,)
        if name == "phi3":
            shapes[own + "self_attn.qkv_proj.weight"] = ((HEADS + 2 * KV_HEADS) * head, HIDDEN)
            shapes[own + "mlp.gate_up_proj.weight"] = (2 * INNER, HIDDEN)
        else:
            for letter, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                shapes[own + f"self_attn.{letter}_proj.weight"] = (heads * head, HIDDEN)
                if name == "qwen2" or config.get("attention_bias"):
                    shapes[own + f"self_attn.{letter}_proj.bias"] = (heads * head,)
            shapes[own + "mlp.gate_proj.weight"] = shapes[own + "mlp.up_proj.weight"] = (INNER, HIDDEN)
        if name in ("qwen3", "gemma3"):
            shapes[own + "self_attn.q_norm.weight"] = shapes[own + "self_attn.k_norm.weight"] = (head,)
        shapes[own + "self_attn.o_proj.weight"] = (HIDDEN, HEADS * head)
        shapes[own + "mlp.down_proj.weight"] = (HIDDEN, INNER)
        shapes[own + "post_attention_layernorm.weight"] = (HIDDEN,)
        if gemma:
            shapes[own + "pre_feedforward_layernorm.weight"] = (HIDDEN,)
            shapes[own + "post_feedforward_layernorm.weight"] = (HIDDEN,)
    shapes["model.norm.weight"] = (HIDDEN,)
    if not name.startswith("gemma") and name != "qwen2":
        shapes["lm_head.weight"] = (VOCABULARY, HIDDEN)
    return shapes


def numbers_of(name, dtype="BF16", seed=1):
    """name -> fp32 numbers that the dtype holds exactly."""
    random = numpy.random.default_rng(seed)
    tensors = {}
    for key, shape in shapes_of(name).items():
        array = (random.standard_normal(shape) * 0.1).astype("f4")
        if dtype == "BF16":
            array = (array.view("u4") & 0xFFFF0000).view("f4")
        elif dtype == "F16":
            array = array.astype("f2").astype("f4")
        tensors[key] = array
    return tensors


def stored(array, dtype):
    return ((array.view("u4") >> 16).astype("<u2") if dtype == "BF16" else
            array.astype("<f2") if dtype == "F16" else array.astype("<f4")).tobytes()


def write_safetensors(path, tensors, dtype="BF16"):
    """tensors: name -> fp32 array."""
    tensor_files.write_file(path, {name: (dtype, array.shape, stored(array, dtype)) for name, array in tensors.items()})


def write_model(folder, name, dtype="BF16", config=None, tensors=None):
    """A folder with config.json and model.safetensors; returns the numbers."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = numbers_of(name, dtype) if tensors is None else tensors
    (folder / "config.json").write_text(json.dumps(config_of(name) if config is None else config, indent=1))
    write_safetensors(folder / "model.safetensors", numbers, dtype)
    return numbers


def permuted(array, heads):
    """The order of llama.cpp's rope: of each head, the halves are interleaved."""
    rows = array.shape[0]
    return array.reshape(heads, 2, rows // heads // 2, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


def rope_frequencies(config):
    """Llama 3.1's factors, in double precision."""
    scaling, head = config["rope_scaling"], config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    context, factors = scaling["original_max_position_embeddings"], []
    for i in range(0, head, 2):
        length = 2 * math.pi * config["rope_theta"] ** (i / head)
        if length < context / scaling["high_freq_factor"]:
            factors.append(1.0)
        elif length > context / scaling["low_freq_factor"]:
            factors.append(scaling["factor"])
        else:
            smooth = (context / length - scaling["low_freq_factor"]) / (scaling["high_freq_factor"] - scaling["low_freq_factor"])
            factors.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
    return numpy.array(factors, "f4")


def converted(name, numbers):
    """The tensors in GGUF: name -> fp32 numbers."""
    word = ARCHITECTURE.get(name, name)
    arch = next(arch for arch, own in gguf.MODEL_ARCH_NAMES.items() if own == word)
    names = gguf.get_tensor_name_map(arch, LAYERS)
    config, tensors = config_of(name), {}
    for key, array in numbers.items():
        if word == "llama" and (".q_proj." in key or ".k_proj." in key):
            array = permuted(array, HEADS if ".q_proj." in key else KV_HEADS)
        if word.startswith("gemma") and key.endswith("norm.weight"):
            array = array + numpy.float32(1)
        tensors[names.get_name(key, try_suffixes=(".weight", ".bias"))] = array
    if config.get("rope_scaling", {}).get("rope_type") == "llama3":
        tensors["rope_freqs.weight"] = rope_frequencies(config)
    if name == "phi3":
        tensors["rope_factors_long.weight"] = numpy.array(config["rope_scaling"]["long_factor"], "f4")
        tensors["rope_factors_short.weight"] = numpy.array(config["rope_scaling"]["short_factor"], "f4")
    return tensors


def put_keys(writer, name, file_type):
    """The hyperparameters, with the methods of GGUFWriter."""
    config, word = config_of(name), ARCHITECTURE.get(name, name)
    scaling = config.get("rope_scaling") or {}
    kind, head = scaling.get("rope_type", scaling.get("type")), config.get("head_dim")
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_file_type(file_type)
    writer.add_block_count(LAYERS)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if "rope_theta" in config:
        writer.add_rope_freq_base(config["rope_theta"])
    if head:
        writer.add_key_length(head)
        writer.add_value_length(head)
    if word == "llama":
        writer.add_vocab_size(VOCABULARY)
        writer.add_rope_dimension_count(head or HEAD)
    if word in ("gemma2", "gemma3"):
        writer.add_sliding_window(config["sliding_window"])
    if word == "gemma2":
        writer.add_attn_logit_softcapping(50.0)
        writer.add_final_logit_softcapping(30.0)
    if word == "gemma3":
        writer.add_rope_freq_base_swa(config["rope_local_base_freq"])
    if word == "phi3":
        original = config["original_max_position_embeddings"]
        writer.add_sliding_window(0)
        writer.add_rope_dimension_count(int(0.75 * HIDDEN) // HEADS)
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        scale = config["max_position_embeddings"] / original
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(original)))
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(scaling["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])


def expected_fields(path, name, file_type, version):
    """The fields of a file that GGUFWriter writes with these keys."""
    writer = gguf.GGUFWriter(path, ARCHITECTURE.get(name, name))
    put_keys(writer, name, file_type)
    if version:
        writer.add_quantization_version(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return fields_of(gguf.GGUFReader(path))


def fields_of(reader):
    """key -> (types, bytes of the value)."""
    return {name: (field.types, b"".join(bytes(part) for part in field.parts[3:])) for name, field in reader.fields.items()
            if not name.startswith("GGUF.")}
