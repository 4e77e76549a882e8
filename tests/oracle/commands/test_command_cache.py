#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `mem --context` says of the cache of models, judged by: the tensors in the cache of tiny models of transformers, after a
forward; formulas for public configurations, written here from the models' papers, and published figures; hf-mem, where it covers
them; the sizes that llama.cpp allocates, written here from its key-values. Transformers keeps one token less of a window, since the
newest is added before it is cut; engines that allocate it beforehand have the whole window.

    test_command_cache.py DTINFO
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import warnings

PROGRAM = os.path.abspath(sys.argv[1])
checks = failures = 0


def check(good, *words):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("FAILED:", *words)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def cache_of(path, *words):
    answer = run("mem", path, *words, "--json")
    check(answer.returncode == 0, path, words, answer.stdout[:300])
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def total(path, *words):
    answer = cache_of(path, *words)
    return answer and answer["cache"]["sizes"][0]["bytes"]


def write(folder, config):
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


# Public configurations: the members that their config.json has, as far as a cache depends on them.
PUBLIC = {
    "llama-3.1-8b": dict(model_type="llama", hidden_size=4096, num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8,
                         max_position_embeddings=131072, torch_dtype="bfloat16"),
    "llama-3.1-70b": dict(model_type="llama", hidden_size=8192, num_attention_heads=64, num_hidden_layers=80, num_key_value_heads=8,
                          max_position_embeddings=131072, torch_dtype="bfloat16"),
    "qwen2.5-72b": dict(model_type="qwen2", hidden_size=8192, num_attention_heads=64, num_hidden_layers=80, num_key_value_heads=8,
                        max_position_embeddings=32768, max_window_layers=70, sliding_window=131072, use_sliding_window=False,
                        torch_dtype="bfloat16"),
    "qwen3-30b-a3b": dict(model_type="qwen3_moe", hidden_size=2048, head_dim=128, num_attention_heads=32, num_hidden_layers=48,
                          num_key_value_heads=4, max_position_embeddings=40960, sliding_window=None, use_sliding_window=False,
                          torch_dtype="bfloat16"),
    "gemma-3-27b": dict(model_type="gemma3", torch_dtype="bfloat16", text_config=dict(
        model_type="gemma3_text", head_dim=128, hidden_size=5376, num_attention_heads=32, num_hidden_layers=62, num_key_value_heads=16,
        sliding_window=1024)),
    "gemma-3-4b": dict(model_type="gemma3", torch_dtype="bfloat16", text_config=dict(
        model_type="gemma3_text", hidden_size=2560, num_hidden_layers=34, sliding_window=1024)),
    "deepseek-v3": dict(model_type="deepseek_v3", hidden_size=7168, num_attention_heads=128, num_hidden_layers=61,
                        num_key_value_heads=128, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128,
                        max_position_embeddings=163840, torch_dtype="bfloat16"),
    "mistral-7b-v0.1": dict(model_type="mistral", hidden_size=4096, num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8,
                            max_position_embeddings=32768, sliding_window=4096, torch_dtype="bfloat16"),
    "mistral-7b-v0.3": dict(model_type="mistral", hidden_size=4096, num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8,
                            max_position_embeddings=32768, sliding_window=None, torch_dtype="bfloat16"),
    "gpt-oss-20b": dict(model_type="gpt_oss", hidden_size=2880, head_dim=64, num_attention_heads=64, num_hidden_layers=24,
                        num_key_value_heads=8, sliding_window=128, max_position_embeddings=131072, torch_dtype="bfloat16",
                        layer_types=["sliding_attention", "full_attention"] * 12),
    "qwen3-next-80b": dict(model_type="qwen3_next", hidden_size=2048, head_dim=256, num_attention_heads=16, num_hidden_layers=48,
                           num_key_value_heads=2, linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=16,
                           linear_num_value_heads=32, linear_value_head_dim=128, full_attention_interval=4,
                           max_position_embeddings=262144, torch_dtype="bfloat16"),
}


def kv(layers, tokens, heads, width):
    return 2 * layers * tokens * heads * width * 2


# bytes in bf16 of one sequence of n tokens
FORMULAS = {
    "llama-3.1-8b": lambda n: kv(32, n, 8, 128),
    "llama-3.1-70b": lambda n: kv(80, n, 8, 128),
    "qwen2.5-72b": lambda n: kv(80, n, 8, 128),
    "qwen3-30b-a3b": lambda n: kv(48, n, 4, 128),
    "gemma-3-27b": lambda n: kv(10, n, 16, 128) + kv(52, min(n, 1024), 16, 128),
    "gemma-3-4b": lambda n: kv(5, n, 4, 256) + kv(29, min(n, 1024), 4, 256),
    "deepseek-v3": lambda n: 61 * n * (512 + 64) * 2,
    "mistral-7b-v0.1": lambda n: kv(32, min(n, 4096), 8, 128),
    "mistral-7b-v0.3": lambda n: kv(32, n, 8, 128),
    "gpt-oss-20b": lambda n: kv(12, n, 8, 64) + kv(12, min(n, 128), 8, 64),
    "qwen3-next-80b": lambda n: kv(12, n, 2, 256) + 36 * (2 * (2 * 16 * 128 + 32 * 128) * 4 + 4 * 32 * 128 * 128),
}


def judge_public(folder):
    for name, config in PUBLIC.items():
        path = write(folder, config)
        for tokens, batch in ((1, 1), (100, 1), (1024, 3), (4096, 1), (32768, 4), (128000, 1)):
            said = total(path, "--context", tokens, "--batch", batch)
            check(said == batch * FORMULAS[name](tokens), name, tokens, batch, said, batch * FORMULAS[name](tokens))
        check(total(path, "--context", "32k", "--kv-dtype", "fp8") ==
              total(path, "--context", 32768, "--kv-dtype", "fp8_e5m2"), name, "fp8")
        answer = cache_of(path, "--context", 1000, "--kv-dtype", "bf16,fp8_e4m3fn,q8_0,fp32")["cache"]
        bf16, fp8, q8, fp32 = (size["bytes"] - size["state_bytes"] for size in answer["sizes"])
        check(fp32 == 2 * bf16 and 2 * fp8 == bf16 and q8 * 32 == fp8 * 34, name, bf16, fp8, q8)
    # Hugging Face, "Llama 3.1 - 405B, 70B & 8B with multilinguality and long context": 15.62 GB and 39.06 GB at 128k tokens in FP16
    for name, published in (("llama-3.1-8b", 15.62), ("llama-3.1-70b", 39.06)):
        said = total(write(folder, PUBLIC[name]), "--context", 128000, "--kv-dtype", "fp16") / 2 ** 30
        check(abs(said - published) < 0.01, name, said, published)
    # "Insights into DeepSeek-V3" (ISCA 2025), table 1: 70.272 KB a token; 327.680 KB for Qwen-2.5 72B
    for name, published in (("deepseek-v3", 70272), ("qwen2.5-72b", 327680)):
        check(total(write(folder, PUBLIC[name]), "--context", 1) == published, name, published)
    # "Mistral 7B", section 2: at 32k tokens the rolling buffer takes an eighth
    check(total(write(folder, PUBLIC["mistral-7b-v0.3"]), "--context", "32k") ==
          8 * total(write(folder, PUBLIC["mistral-7b-v0.1"]), "--context", "32k"), "rolling buffer")


def judge_hf_mem(folder):
    try:
        from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size as theirs
    except ImportError:
        print("no hf-mem: not compared")
        return
    for name in ("llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "mistral-7b-v0.3", "gpt-oss-20b"):
        config = {k: v for k, v in PUBLIC[name].items() if v is not None}
        for tokens, batch in ((1000, 1), (32768, 4)):
            there = theirs(config, "BF16", tokens, batch)
            said = total(write(folder, PUBLIC[name]), "--context", tokens, "--batch", batch)
            all_tokens = batch * kv(24, tokens, 8, 64)  # its version 0.5.6 counts windows of mixed models as the whole context
            check(there in (said, all_tokens) if name == "gpt-oss-20b" else there == said, name, tokens, said, "hf-mem", there)


COMMON = dict(vocab_size=64, hidden_size=64, intermediate_size=96, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
              max_position_embeddings=512, pad_token_id=0, bos_token_id=1, eos_token_id=2)
DELTA = dict(head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=8)
MOE = dict(num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16, shared_expert_intermediate_size=16)
MAMBA2 = dict(mamba_n_heads=8, mamba_d_head=16, mamba_d_state=8, mamba_n_groups=2, mamba_chunk_size=8)
MLA = dict(num_key_value_heads=4, kv_lora_rank=32, qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16, q_lora_rank=24,
           n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1, moe_intermediate_size=16, first_k_dense_replace=1)
TINY = {
    "llama": {}, "mistral": dict(sliding_window=16), "mixtral": dict(sliding_window=16, num_local_experts=2, num_experts_per_tok=1),
    "gemma": dict(head_dim=24), "gemma2": dict(head_dim=16, sliding_window=16),
    "gemma3_text": dict(head_dim=16, sliding_window=16, num_hidden_layers=7), "deepseek_v3": MLA,
    "gpt_oss": dict(head_dim=16, sliding_window=16, num_local_experts=2, num_experts_per_tok=1), "qwen3_next": {**DELTA, **MOE},
    "qwen3_5_text": DELTA, "qwen2": dict(use_sliding_window=True, sliding_window=16, max_window_layers=1),
    "qwen3": dict(head_dim=24, use_sliding_window=False, sliding_window=16), "qwen3_moe": {**MOE, "head_dim": 16},
    "jamba": dict(num_experts=2, num_experts_per_tok=1, attn_layer_period=4, attn_layer_offset=2, mamba_d_state=4, mamba_dt_rank=4),
    "mamba": dict(state_size=4), "mamba2": dict(state_size=8, num_heads=8, head_dim=16, n_groups=2, expand=2, chunk_size=8),
    "lfm2": dict(full_attn_idxs=[1, 3], conv_L_cache=3), "bamba": {**MAMBA2, "attn_layer_indices": [1]},
    "granitemoehybrid": {**MAMBA2, "layer_types": ["mamba", "attention", "mamba", "mamba"], "num_local_experts": 2,
                         "num_experts_per_tok": 1, "shared_intermediate_size": 16},
    "gemma3n_text": dict(head_dim=16, sliding_window=16, num_hidden_layers=10, num_kv_shared_layers=5, vocab_size_per_layer_input=64,
                         hidden_size_per_layer_input=8, laurel_rank=4, activation_sparsity_pattern=None, altup_num_inputs=2),
    "llama4_text": dict(head_dim=16, attention_chunk_size=16, num_local_experts=2, num_experts_per_tok=1, intermediate_size_mlp=32),
    "olmo3": dict(sliding_window=16), "cohere2": dict(sliding_window=16), "phi3": dict(sliding_window=16), "olmo2": {},
    "glm4_moe": dict(head_dim=16, n_routed_experts=2, num_experts_per_tok=1, moe_intermediate_size=16, n_group=1, topk_group=1),
    "gpt2": dict(n_embd=64, n_head=4, n_layer=4, n_positions=512, num_key_value_heads=None),
    "starcoder2": dict(sliding_window=16), "smollm3": {},
    "deepseek_v32": {**MLA, "index_head_dim": 16, "index_n_heads": 2, "index_topk": 64}, "ministral3": dict(head_dim=16),
    "nemotron_h": dict(hybrid_override_pattern="M*-M", mamba_num_heads=8, mamba_head_dim=12, ssm_state_size=8, n_groups=2, head_dim=16, conv_kernel=3,
                       chunk_size=8),
    "gemma4_text": dict(head_dim=16, global_head_dim=32, sliding_window=16, num_hidden_layers=8, vocab_size_per_layer_input=64,
                        hidden_size_per_layer_input=8, num_kv_shared_layers=0),
    "qwen2_moe": {**MOE, "use_sliding_window": False}, "exaone4": dict(sliding_window=16, sliding_window_pattern=4),
    "opt": dict(num_key_value_heads=None, ffn_dim=96, word_embed_proj_dim=64),
    "gptj": dict(n_embd=64, n_head=4, n_layer=4, n_positions=512, rotary_dim=8, num_key_value_heads=None),
    "bloom": dict(n_head=4, n_layer=4, num_key_value_heads=None),
    "falcon_h1": dict(mamba_d_ssm=96, mamba_n_heads=8, mamba_d_head=12, mamba_d_state=8, mamba_n_groups=2, mamba_chunk_size=8),
    "glm_moe_dsa": {**MLA, "index_head_dim": 16, "index_n_heads": 2, "index_topk": 64},
    "granite": {}, "gpt_neox": dict(num_key_value_heads=None),
}
SHORT = 12  # tokens: below all windows
LONG = 40


def tensors_of(layer):
    """(tensor, whether it is a state) of a layer of a cache."""
    for name in ("keys", "values", "indexer_keys"):
        if getattr(layer, name, None) is not None:
            yield getattr(layer, name), False
    for name in ("conv_states", "recurrent_states"):
        for tensor in (getattr(layer, name, None) or {}).values():
            if tensor is not None:
                yield tensor, True


def bytes_of(cache, tokens, window):
    """Bytes of the cache, with the whole window."""
    found = 0
    for layer in cache.layers:
        for tensor, state in tensors_of(layer):
            size = tensor.numel() * tensor.element_size()
            if getattr(layer, "is_sliding", False) and not state and tokens >= window:
                check(tensor.shape[-2] == window - 1, "a window of", tensor.shape)
                size = size // (window - 1) * window
            found += size
    return found


def judge_transformers(folder):
    try:
        import torch
        import transformers
    except ImportError:
        print("no transformers: not compared")
        return
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.manual_seed(1)
    done = 0
    for name, members in TINY.items():
        if name not in transformers.CONFIG_MAPPING:
            continue
        config = transformers.CONFIG_MAPPING[name](**{**COMMON, **members}, dtype="bfloat16")
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
        config.save_pretrained(folder)  # the config.json that transformers writes, or the members of those on the hub
        if name in ("gemma4_text", "nemotron_h", "glm_moe_dsa"):
            write(folder, {**COMMON, **members, "model_type": name, "dtype": "bfloat16"})
        window = members.get("sliding_window") or members.get("attention_chunk_size") or 1 << 20
        for tokens, batch in ((SHORT, 1), (LONG, 3)):
            with torch.no_grad():
                out = model(input_ids=torch.randint(3, 60, (batch, tokens)), use_cache=True)
            cache = getattr(out, "past_key_values", None) or getattr(out, "cache_params", None)
            there = bytes_of(cache, tokens, window)
            answer = cache_of(folder / "config.json", "--context", tokens, "--batch", batch, "--kv-dtype", "bf16")
            said = answer and answer["cache"]["sizes"][0]["bytes"]
            check(said == there, name, tokens, batch, said, "transformers keeps", there)
            done += 1
    print(done, "caches of tiny models")
    judge_defaults(transformers)


def judge_defaults(transformers):
    """What a configuration without a member means is what its class takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in ("gemma2", "gemma3_text", "gemma3n_text", "gpt_oss", "mistral", "qwen3_moe", "glm4", "cohere2", "olmo3"):
            given = dict(num_hidden_layers=30, hidden_size=512, num_attention_heads=8)
            config = transformers.CONFIG_MAPPING[kind](**given)
            path = write(folder, {**given, "model_type": kind, "dtype": "bfloat16"})
            answer = cache_of(path, "--context", "1M")
            if not answer:
                continue
            groups = answer["cache"]["layers"]
            heads = config.num_key_value_heads
            width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
            kept = [t for t in transformers.cache_utils.get_layer_types_and_kwargs(config)[0] if t != "dummy"]
            check(all(g["heads"] == heads and g["key"] == g["value"] == width for g in groups), kind, groups, heads, width)
            full = sum(g["layers"] for g in groups if g["window"] is None)
            check(full == kept.count("full_attention") and sum(g["layers"] for g in groups) == len(kept), kind, groups, kept)
            check(all(g["window"] in (None, getattr(config, "sliding_window", None)) for g in groups), kind, groups)


def gguf(folder, arch, pairs):
    """A GGUF with one tensor. pairs: numbers, lists of numbers or of bools."""
    def text(word):
        return struct.pack("<Q", len(word)) + word.encode()

    body = text("general.architecture") + struct.pack("<I", 8) + text(arch)
    for key, value in pairs.items():
        body += text(arch + "." + key)
        if isinstance(value, list):
            flags = isinstance(value[0], bool)
            body += struct.pack("<IIQ", 9, 7 if flags else 5, len(value))
            body += b"".join(struct.pack("<?" if flags else "<i", v) for v in value)
        else:
            body += struct.pack("<II", 4, value)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1 + len(pairs)) + body
    head += text("a") + struct.pack("<IQIQ", 1, 32, 0, 0)
    path = folder / (arch + ".gguf")
    path.write_bytes(head + b"\0" * (-len(head) % 32) + b"\0" * 128)
    return path


def judge_gguf(folder):
    """llama.cpp: n_embd_k_gqa and n_embd_v_gqa elements for each token and layer; n_embd_r and n_embd_s in fp32 for each sequence."""
    n, batch = 5000, 2
    attention = {"attention.head_count": 8, "attention.head_count_kv": 2, "embedding_length": 512, "context_length": 8192}
    window = {"attention.sliding_window": 512}
    ssm = {"ssm.conv_kernel": 4, "ssm.inner_size": 256, "ssm.state_size": 16}
    varied = [0 if i % 8 != 4 else 2 for i in range(16)]
    rows = [
        ("llama", {"block_count": 12, **attention}, 12 * n * 2 * 2 * 64 * 2),
        ("llama", {"block_count": 3, **attention, "attention.head_count_kv": [2, 1, 4]}, 7 * n * 2 * 64 * 2),
        ("llama", {"block_count": 12, **attention, "attention.key_length": 96, "attention.value_length": 32}, 12 * n * 2 * 128 * 2),
        ("qwen3", {"block_count": 12, **attention, "attention.key_length": 128}, 12 * n * 2 * 2 * 128 * 2),
        ("gemma3", {"block_count": 13, **attention, **window}, (2 * n + 11 * 512) * 2 * 2 * 64 * 2),
        ("gemma3", {"block_count": 4, **attention, **window, "attention.sliding_window_pattern": [True, False, False, True]},
         (2 * n + 2 * 512) * 2 * 2 * 64 * 2),
        ("gemma2", {"block_count": 6, **attention}, (3 * n + 3 * 4096) * 2 * 2 * 64 * 2),
        ("gpt-oss", {"block_count": 24, **attention, **window}, (12 * n + 12 * 512) * 2 * 2 * 64 * 2),
        ("gemma3n", {"block_count": 30, **attention, **window}, (4 * n + 16 * 512) * 2 * 2 * 64 * 2),
        ("gemma3n", {"block_count": 10, **attention, **window, "attention.shared_kv_layers": 5}, (n + 4 * 512) * 2 * 2 * 64 * 2),
        ("glm4moe", {"block_count": 47, **attention, "nextn_predict_layers": 1}, 46 * n * 2 * 2 * 64 * 2),
        ("deepseek2", {"block_count": 61, "attention.head_count": 128, "attention.head_count_kv": 1, "embedding_length": 7168,
                       "attention.key_length": 576, "attention.value_length": 512, "attention.key_length_mla": 192,
                       "attention.value_length_mla": 128}, 61 * n * 576 * 2),
        ("deepseek2", {"block_count": 27, "attention.head_count": 16, "attention.head_count_kv": 16, "embedding_length": 2048,
                       "attention.key_length": 192, "attention.value_length": 128}, 27 * n * 16 * 320 * 2),
        ("qwen3next", {"block_count": 48, **attention, "attention.key_length": 256, "ssm.conv_kernel": 4, "ssm.inner_size": 4096,
                       "ssm.state_size": 128, "ssm.group_count": 16}, 12 * n * 2 * 2 * 256 * 2 +
         36 * 4 * (3 * (4096 + 2 * 16 * 128) + 4096 * 128)),
        ("jamba", {"block_count": 16, **attention, "attention.head_count_kv": varied, **ssm},
         2 * n * 2 * 2 * 64 * 2 + 14 * 4 * (3 * 256 + 256 * 16)),
        ("mamba", {"block_count": 16, "context_length": 1 << 20, **ssm}, 16 * 4 * (3 * 256 + 256 * 16)),
        ("lfm2", {"block_count": 16, **attention, "attention.head_count_kv": varied, "shortconv.l_cache": 3},
         2 * n * 2 * 2 * 64 * 2 + 14 * 4 * 512 * 2),
    ]
    for arch, pairs, each in rows:
        path = gguf(folder, arch, pairs)
        said = total(path, "--context", n, "--batch", batch)
        check(said == batch * each, arch, said, batch * each)
        check(cache_of(path, "--context", n)["cache"]["sizes"][0]["dtype"] == "fp16", arch, "llama.cpp's default is f16")
    # "KV self size = 256.00 MiB" and "1024.00 MiB", as llama.cpp logs for Llama 2 7B with 512 tokens and Llama 3 8B with 8192
    for kv_heads, tokens, logged in ((32, 512, 256), (8, 8192, 1024)):
        path = gguf(folder, "llama", {"block_count": 32, "attention.head_count": 32, "attention.head_count_kv": kv_heads,
                                      "embedding_length": 4096, "context_length": 8192})
        check(total(path, "--context", tokens) == logged << 20, kv_heads, tokens)
    path = gguf(folder, "llama", {"block_count": 1, "attention.head_count": 4, "attention.head_count_kv": 1, "embedding_length": 320,
                                  "context_length": 64})
    said = total(path, "--kv-dtype", "q4_0", "--context", 10)
    check(said == 2 * 10 * 3 * 18, "rows of 80 elements are three blocks", said)
    path = gguf(folder, "llama", {"block_count": 1, "attention.head_count": 4, "attention.head_count_kv": 2, "embedding_length": 320})
    said = total(path, "--kv-dtype", "q4_0", "--context", 10)
    check(said == 2 * 10 * 5 * 18, "two heads of 80 elements are one row of five", said)


def judge_errors(folder):
    base = PUBLIC["llama-3.1-8b"]

    def refused(config, words, *more, code=3):
        path = write(folder, config)
        answer = run("mem", path, "--context", 10, *more)
        check(answer.returncode == code and words in answer.stderr and answer.stderr.count("\n") == 1 and not answer.stdout,
              words, answer)

    for member in ("num_hidden_layers", "num_attention_heads", "hidden_size"):
        refused({k: v for k, v in base.items() if k != member}, "it has no " + member)
    refused({**base, "num_hidden_layers": "32"}, "its num_hidden_layers is '\"32\"', not an integer")
    refused({**base, "num_hidden_layers": -1}, "not an integer")
    refused({**base, "num_hidden_layers": 1 << 27}, "more than 65536 layers")
    refused({**base, "hidden_size": 4097}, "not divisible by its 32 heads")
    refused({**base, "model_type": "brandnew"}, "how models of type 'brandnew' keep their context is not known; --kv-like TYPE")
    refused({**base, "model_type": None}, "has no model_type")
    refused({**base, "layer_types": ["full_attention"] * 31}, "its layer_types has 31 elements for 32 layers")
    refused({**base, "layer_types": ["full_attention"] * 31 + ["new_attention"]}, "a layer of type 'new_attention'")
    refused({**base, "layer_types": ["full_attention"] * 31 + ["sliding_attention"]}, "it has no sliding_window")
    refused({**base, "layer_types": ["full_attention"] * 31 + ["mamba"]}, "layers that keep a state")
    refused({**base, "layer_types": "full_attention"}, "not a list of words")
    refused({**base, "torch_dtype": None}, "config.json has no dtype, which its cache is kept in; give --kv-dtype")
    refused({**base, "torch_dtype": "float7"}, "the dtype of config.json is not known: 'float7'")
    refused(base, "did you mean 'llama'?", "--kv-like", "lama", code=2)
    refused({**PUBLIC["deepseek-v3"], "model_type": "glm_moe_dsa", "index_head_dim": 128, "index_topk_freq": 4}, "an index_topk_freq")
    refused({**base, "model_type": "qwen2_moe", "use_sliding_window": True}, "which layers that means is not known")
    refused({**base, "per_layer_config": {"0": {"head_dim": 1}}}, "it has a per_layer_config")
    refused({**PUBLIC["deepseek-v3"], "kv_lora_rank": None}, "it has no kv_lora_rank")
    refused({**PUBLIC["gemma-3-27b"]["text_config"], "num_kv_shared_layers": 99}, "exceeds its num_hidden_layers")
    (folder / "config.json").write_text("[1]")
    check("not a JSON object" in run("mem", folder / "config.json", "--context", 1).stderr, "an array")
    (folder / "config.json").write_text('{"model_type": "llama",')
    check("it is not JSON" in run("mem", folder / "config.json", "--context", 1).stderr, "half a file")
    check(total(write(folder, {**base, "model_type": "brandnew"}), "--context", 10, "--kv-like", "llama") == kv(32, 10, 8, 128),
          "--kv-like")
    for words in (["--context", "0"], ["--context", "32q"], ["--context", "2g"], ["--context", ""], ["--batch", "0"],
                  ["--context", "1k", "--train", "adam"], ["--kv-dtype", "fp4"]):
        answer = run("mem", write(folder, base), *words)
        check(answer.returncode == 2 and answer.stderr.count("\n") == 1, words, answer)
    check(run("mem", "7B", "--context", 10).returncode == 2, "an amount has no cache")
    check("exceeds the 131072 that" in run("mem", folder / "config.json", "--context", "200k").stderr, "a long context")
    check([w["code"] for w in cache_of(folder / "config.json", "--context", "200k")["warnings"]] == ["long_context"], "a long context")
    for quantization, codes in (({"kv_cache_scheme": {"num_bits": 8, "type": "float"}}, ["kv_cache_scheme"]),
                                ({"kv_cache_scheme": None}, []), ({"kv_cache_quant_algo": "FP8"}, ["kv_cache_scheme"])):
        path = write(folder, {**base, "quantization_config": quantization})
        check([w["code"] for w in cache_of(path, "--context", 9)["warnings"]] == codes, quantization)
        check(cache_of(path, "--context", 9, "--kv-dtype", "fp8_e4m3fn")["warnings"] == [], quantization)
    write(folder, base)
    answer = cache_of(folder / "config.json", "--batch", 2)["cache"]
    check(answer["context"] == 131072 and answer["batch"] == 2, "the model's own context")


def judge_weights(folder):
    """--fit counts weights and cache; several devices divide both."""
    header = json.dumps({"w": {"dtype": "BF16", "shape": [1000, 1000], "data_offsets": [0, 2000000]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 2000000)
    write(folder, PUBLIC["llama-3.1-8b"])
    cache = kv(32, 100, 8, 128)
    for place in (folder, folder / "model.safetensors"):
        answer = cache_of(place, "--context", 100)
        check([t["bytes"] for t in answer["totals"]] == [2000000 + cache], place, answer["totals"])
    answer = cache_of(folder, "bf16,mxfp4", "--context", 100, "--kv-dtype", "bf16,q8_0", "--fit", "10MB")
    sums = [w + c for w in (2000000, 1000 * 32 * 17) for c in (cache, cache * 34 // 64)]
    check([t["bytes"] for t in answer["totals"]] == sums, answer["totals"], sums)
    check([t["fits"] for t in answer["totals"]] == [s <= 10000000 for s in sums], answer["totals"])
    several = run("mem", folder, "--context", 100, "--fit", "2x8MB", "--json")
    verdict = json.loads(several.stdout)["totals"][0]
    check(several.returncode == 0 and verdict["left_bytes"] == 16000000 - 2000000 - cache and verdict["devices"] == 2, verdict)
    check(run("mem", folder, "--context", 100, "--fit", "8MB").returncode == 1, "8 MB")
    check(run("mem", folder, "--context", 100, "-q").stdout == "%d\n" % (2000000 + cache), "-q")
    (folder / "config.json").unlink()
    check("there is no config.json next to it" in run("mem", folder, "--context", 100).stderr, "no config.json")


def judge_manual():
    """The manual names all types that have a rule."""
    root = pathlib.Path(__file__).resolve().parents[3]
    manual = (root / "man/dtinfo-mem.1.scd").read_text().replace("\\", "")
    for name, row in (("kv_models.def", "KV_MODEL"), ("kv_ggufs.def", "KV_GGUF")):
        types = re.findall(row + r'\("([^"]+)"', (root / "src/files/cache" / name).read_text())
        check(len(types) > 40 and len(set(types)) == len(types), name, len(types))
        for word in types:
            check("*%s*" % word in manual, "dtinfo-mem(1) does not name", word)


def main():
    judge_manual()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for judge in (judge_public, judge_hf_mem, judge_gguf, judge_errors, judge_weights, judge_transformers):
            judge(folder)
    print("%d checks, %d failures" % (checks, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
