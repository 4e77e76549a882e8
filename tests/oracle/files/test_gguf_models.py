#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GGUF from checkpoints without a template: key-values from config.json, names, the order of rows of q and k, norms,
tensors of rope; --set and --set-from; ComfyUI's shapes; split files. Judged by gguf-py, its map of names, and
model_files.py, which is written from llama.cpp's convert_hf_to_gguf.py.

usage: test_gguf_models.py DTINFO [SOURCES]
"""
import fnmatch
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import harness

gguf, numpy = harness.have("gguf"), harness.have("numpy")
if gguf is None or numpy is None:
    print("skipped: needs gguf and numpy")
    sys.exit(77)
import model_files                                       # noqa: E402  (needs gguf)
import tensor_files                                      # noqa: E402

DTINFO = os.path.abspath(sys.argv[1])
TYPES = gguf.GGMLQuantizationType
FILE_TYPES = {"F32": 0, "F16": 1, "Q8_0": 7, "BF16": 32, "Q4_K": 15}


def run(*words):
    return subprocess.run([DTINFO, *(word if isinstance(word, bytes) else str(word) for word in words)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, text=True, check=False)


def require(*words):
    done = run(*words)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.returncode}: {done.stderr}")
    return done


def read(path):
    """name -> (type, shape, bytes); and the fields."""
    reader = gguf.GGUFReader(path)
    return ({t.name: (t.tensor_type.name, tuple(int(n) for n in t.shape[::-1]), t.data.tobytes()) for t in reader.tensors},
            model_files.fields_of(reader))


def encoded(array, kind):
    return gguf.quants.quantize(numpy.ascontiguousarray(array), TYPES[kind]).tobytes()


def is_held(name, array):
    return array.ndim <= 1 or name.endswith("_norm.weight")


def check_tensors(tally, subject, got, want, kind):
    tally.check(f"{subject}: names", sorted(got), sorted(want))
    for name, array in want.items():
        own = "F32" if is_held(name, array) else kind
        if name in got:
            # the factors of rope come from pow(), which may differ in the last bit
            exact = not name.startswith("rope_freqs")
            tally.check(f"{subject}: {name}", got[name][:2], (own, array.shape))
            if exact:
                tally.check(f"{subject}: bytes of {name}", got[name][2] == encoded(array, own), True)
            else:
                tally.check(f"{subject}: {name}", bool(numpy.allclose(numpy.frombuffer(got[name][2], "<f4"), array,
                                                                      rtol=2e-7, atol=0)), True)


def check_models(tally, folder):
    for name in model_files.CONFIGS:
        model = folder / name
        numbers = model_files.write_model(model, name)
        want = model_files.converted(name, numbers)
        runs = [("q8_0", "Q8_0", ["quant", model, "q8_0"]), ("bf16", "BF16", ["cast", model, "bf16"]),
                ("fp16", "F16", ["cast", model, "fp16"]), ("fp32", "F32", ["cast", model, "fp32"])]
        for word, kind, command in runs:
            out = folder / f"{name}.{word}.gguf"
            require(*command, "-o", out, "--threads", "3")
            got, fields = read(out)
            check_tensors(tally, f"{name} {word}", got, want, kind)
            expected = model_files.expected_fields(folder / "expected.gguf", name, FILE_TYPES[kind], kind == "Q8_0")
            tally.check(f"{name} {word}: keys", sorted(fields), sorted(expected))
            for key in expected:
                if key.endswith("attn_factor"):
                    near = numpy.isclose(*(numpy.frombuffer(f[key][1], "<f4") for f in (fields, expected)), rtol=2e-7)
                    tally.check(f"{name} {word}: {key}", bool(near), True)
                else:
                    tally.check(f"{name} {word}: {key}", fields.get(key), expected[key])
    tally.part("architectures")


def check_sources(tally, folder):
    """Other dtypes, shards, prefixes, and chunks smaller than a head."""
    for dtype in ("F32", "F16"):
        for name in ("llama", "gemma2"):
            numbers = model_files.write_model(folder / dtype / name, name, dtype)
            out = folder / f"{name}.{dtype}.gguf"
            require("quant", folder / dtype / name, "q8_0", "-o", out, "--max-memory", "64KiB", "--threads", "1")
            check_tensors(tally, f"{name} of {dtype}", read(out)[0], model_files.converted(name, numbers), "Q8_0")
    numbers = model_files.numbers_of("gemma3")
    config = model_files.config_of("gemma3")
    text = {key: config.pop(key) for key in list(config) if key != "architectures"}
    model_files.write_model(folder / "text", "gemma3", config=config | {"text_config": text},
                            tensors={"language_model." + name: array for name, array in numbers.items()})
    require("cast", folder / "text", "bf16", "-o", folder / "text.gguf")
    check_tensors(tally, "text_config", read(folder / "text.gguf")[0], model_files.converted("gemma3", numbers), "BF16")
    numbers = model_files.numbers_of("llama")
    names = list(numbers)
    shards = folder / "shards"
    model_files.write_model(shards, "llama", tensors={name: numbers[name] for name in names[:9]})
    (shards / "model.safetensors").rename(shards / "a.safetensors")
    model_files.write_safetensors(shards / "b.safetensors", {name: numbers[name] for name in names[9:]})
    (shards / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {
        name: "a.safetensors" if i < 9 else "b.safetensors" for i, name in enumerate(names)}}))
    require("quant", shards, "q8_0", "-o", folder / "shards.gguf")
    check_tensors(tally, "shards", read(folder / "shards.gguf")[0], model_files.converted("llama", numbers), "Q8_0")
    torch = harness.have("torch")
    if torch is None:
        tally.skip("PyTorch files: no torch")
    else:
        # the rows of a transposed matrix are not next to each other in the file
        numbers = model_files.numbers_of("llama")
        state = {name: torch.from_numpy(array.copy()).bfloat16() for name, array in numbers.items()}
        for name in state:
            if name.endswith("q_proj.weight"):
                state[name] = state[name].t().contiguous().t()
        model_files.write_model(folder / "torch", "llama")
        (folder / "torch" / "model.safetensors").unlink()
        torch.save(state, folder / "torch" / "pytorch_model.bin")
        require("cast", folder / "torch" / "pytorch_model.bin", "fp16", "-o", folder / "torch.gguf")
        check_tensors(tally, "PyTorch", read(folder / "torch.gguf")[0], model_files.converted("llama", numbers), "F16")
    tally.part("other inputs")


def check_quantized(tally, folder):
    """A quantized checkpoint: its numbers are permuted while they are dequantized."""
    for name, dtype in (("llama", "int8"), ("gemma2", "mxfp4")):
        model, codes = folder / name, folder / (name + ".codes")
        model_files.write_model(model, name)
        codes.mkdir()
        (codes / "config.json").write_text((model / "config.json").read_text())
        require("quant", model / "model.safetensors", dtype, "-o", codes / "model.safetensors", "--keep", "*norm*,*bias*",
                "--allow-unmatched")
        require("quant", codes, "fp32", "--dequant", "-o", folder / "plain.safetensors", "--force")
        numbers = {key: numpy.frombuffer(raw, "<f4").reshape(shape)
                   for key, (_, shape, raw) in tensor_files.read_file(folder / "plain.safetensors").items()}
        want = model_files.converted(name, numbers)
        for command, kind in ((["q8_0"], "Q8_0"), (["fp32", "--dequant"], "F32"), (["fp16", "--dequant", "--threads", "2"], "F16")):
            require("quant", codes, *command, "-o", folder / "q.gguf", "--force", "--max-memory", "64KiB")
            check_tensors(tally, f"{dtype} of {name} to {kind}", read(folder / "q.gguf")[0], want, kind)
    tally.part("quantized inputs")


def check_options(tally, folder):
    model = folder / "llama"
    numbers = model_files.write_model(model, "llama")
    want = model_files.converted("llama", numbers)
    require("quant", model, "q8_0", "-o", folder / "types.gguf", "--type", "output.weight=bf16", "--keep", "token_embd*")
    got = read(folder / "types.gguf")[0]
    tally.check("--type", got["output.weight"][::2], ("BF16", encoded(want["output.weight"], "BF16")))
    tally.check("--keep", got["token_embd.weight"][::2], ("BF16", encoded(want["token_embd.weight"], "BF16")))
    writer = gguf.GGUFWriter(folder / "qwen.gguf", "qwen2")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    old = dict(numbers) | {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": numpy.ones(8, "f4") for i in range(2)}
    model_files.write_model(folder / "old", "llama", tensors=old)
    done = run("quant", folder / "old", "q8_0", "-o", folder / "old.gguf")
    tally.check("computed tensors", (done.returncode, "2 tensors of rotary embeddings are left out" in done.stderr), (0, True))
    check_tensors(tally, "an old checkpoint", read(folder / "old.gguf")[0], want, "Q8_0")
    # a template gives the tokenizer, the order and all keys; its names are GGUF's, those of the input are not
    writer = gguf.GGUFWriter(folder / "template.gguf", "llama")
    model_files.put_keys(writer, "llama", 0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(["a", "b"])
    for name, array in reversed(want.items()):
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    done = run("quant", model, "q8_0", "-o", folder / "from.gguf", "--template", folder / "template.gguf",
               "--set", "general.name=tiny", "--set", "llama.rope.freq_base=1e4")
    tally.check("--template", (done.returncode, "has no tokenizer" in done.stderr), (0, False))
    got, fields = read(folder / "from.gguf")
    check_tensors(tally, "--template", got, want, "Q8_0")
    tally.check("the template's order", list(got), list(reversed(want)))
    tally.check("the template's tokenizer", fields["tokenizer.ggml.model"][1][8:], b"llama")
    tally.check("a key in place of the template's", struct.unpack("<f", fields["llama.rope.freq_base"][1]), (1e4,))
    tally.check("fewer tokens than rows", "2 tokens and token_embd.weight 96 rows" in done.stderr, True)
    done = run("quant", folder / "llama", "q8_0", "-o", folder / "no.gguf", "--template", folder / "qwen.gguf")
    tally.check("a template of another architecture", (done.returncode, "the template is of the architecture 'qwen2'" in done.stderr), (2, True))
    # a vocabulary without tensors
    writer = gguf.GGUFWriter(folder / "vocabulary.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    require("quant", model, "q8_0", "-o", folder / "v.gguf", "--template", folder / "vocabulary.gguf")
    got, fields = read(folder / "v.gguf")
    check_tensors(tally, "a vocabulary", got, want, "Q8_0")
    tally.check("a vocabulary's keys", (fields["tokenizer.ggml.model"][1][8:], "llama.block_count" in fields), (b"gpt2", True))
    tally.part("options")


KEYS = [("general.architecture=flux", "STRING", "flux"), ("general.alignment=64", "UINT32", 64),
        ("a=5", "UINT32", 5), ("b=-5", "INT32", -5), ("c=4294967296", "UINT64", 1 << 32), ("d=-2147483649", "INT64", -(1 << 31) - 1),
        ("e=1e-5", "FLOAT32", float(numpy.float32("1e-5"))), ("f=true", "BOOL", True), ("g=hello world", "STRING", "hello world"),
        ("h:u64=18446744073709551615", "UINT64", (1 << 64) - 1), ("i:f64=0.1", "FLOAT64", 0.1), ("j:str=5", "STRING", "5"),
        ("k:u8=255", "UINT8", 255), ("l:i8=-128", "INT8", -128), ("m:u16=65535", "UINT16", 65535), ("n:i16=-32768", "INT16", -32768),
        ("o:arr[i32]=1,2,-3", ("ARRAY", "INT32"), [1, 2, -3]), ("p=[1,2,3]", ("ARRAY", "INT32"), [1, 2, 3]),
        ("q=[0.5,1]", ("ARRAY", "FLOAT32"), [0.5, 1.0]), ('r=["a","b,c"]', ("ARRAY", "STRING"), ["a", "b,c"]),
        ("s:arr[str]=x,y", ("ARRAY", "STRING"), ["x", "y"]), ("t:arr[u64]=18446744073709551615", ("ARRAY", "UINT64"), [(1 << 64) - 1]),
        ("u=[true,false]", ("ARRAY", "BOOL"), [True, False]), ("v=a=b", "STRING", "a=b"), ("w:f32=16777217", "FLOAT32", 16777216.0),
        ("x=", "STRING", ""), ("llama.rope.freq_base=10000", "FLOAT32", 10000.0), ("tokenizer.ggml.bos_token_id=1", "UINT32", 1),
        ("y:arr[f32]=", ("ARRAY", "FLOAT32"), []), ("z=\u00e9", "STRING", "\u00e9"), ("aa:F32=0.30000001192092896", "FLOAT32", float(numpy.float32(0.3)))]


def check_set(tally, folder):
    source = folder / "plain.safetensors"
    model_files.write_safetensors(source, {"x.weight": numpy.ones((4, 64), "f4")}, "F32")
    def judge(subject, path):
        fields = gguf.GGUFReader(path).fields
        for text, kind, value in KEYS:
            key = text.split("=")[0].split(":")[0]
            field = fields.get(key)
            if field is None:
                tally.check(f"{subject}: {text}", None, value)
                continue
            tally.check(f"{subject}: {text}", (tuple(t.name for t in field.types), field.contents() if field.data else []),
                        ((kind,) if isinstance(kind, str) else kind[:2 if value else 1], value))
        tally.check(f"{subject}: number of keys", len([k for k in fields if not k.startswith("GGUF.")]), len(KEYS) + 1)
    arguments = [word for text, _, _ in KEYS for word in ("--set", text)]
    require("cast", source, "fp16", "-o", folder / "set.gguf", *arguments)
    judge("--set", folder / "set.gguf")
    words = {"UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT16": "i16", "UINT64": "u64", "FLOAT64": "f64", "FLOAT32": "f32"}
    members = []
    for text, kind, value in KEYS:
        name, _, plain = text.partition("=")
        key, _, stated = name.partition(":")
        if isinstance(kind, tuple) and stated:
            members.append(f'{json.dumps(name)}: {json.dumps(value)}')
        elif kind == "STRING":
            members.append(f'{json.dumps(key)}: {json.dumps(value)}')
        elif kind == "BOOL" or isinstance(kind, tuple):
            members.append(f'{json.dumps(key)}: {plain}')
        else:
            members.append(f'{json.dumps(key + (":" + words[kind] if stated else ""))}: {plain}')
    (folder / "keys.json").write_text("{" + ",\n".join(members) + "}", encoding="utf-8")
    require("cast", source, "fp16", "-o", folder / "from.gguf", "--set-from", folder / "keys.json")
    judge("--set-from", folder / "from.gguf")
    require("cast", folder / "from.gguf", "fp32", "-o", folder / "again.gguf", "--set", "general.name=new", "--set", "a:i64=7")
    fields = gguf.GGUFReader(folder / "again.gguf").fields
    tally.check("a gguf's own keys", (fields["general.name"].contents(), fields["a"].contents(), fields["a"].types[0].name,
                                      fields["general.architecture"].contents(), fields["z"].contents()),
                ("new", 7, "INT64", "flux", "\u00e9"))
    tally.part("--set")


WRONG = [(["--set", "a=1", "--set", "a=2"], 2, "there twice"), (["--set", "novalue"], 2, "KEY=VALUE"), (["--set", "=1"], 2, "KEY=VALUE"),
         (["--set", "a:u8=256"], 2, "out of range"), (["--set", "a:u32=1.5"], 2, "fraction"), (["--set", "a:u32=x"], 2, "'x'"),
         (["--set", "a:what=1"], 2, "no type of a key"), (["--set", "general.alignment=3"], 3, "power of two"),
         (["--set", "general.alignment:str=x"], 3, "general.alignment"), (["--set", "split.no:u16=0"], 2, "--max-shard-size"),
         (["--set", "a:f32=1e39"], 2, "out of range"), (["--set", "a:arr[u8]=1,300"], 2, "out of range"), (["--set", "a=[1,\"b\"]"], 2, "several kinds"),
         (["--set", "a=[]"], 2, "several kinds or none"), (["--set", "a:bool=1"], 2, "no bool"), (["--set", b"a=\xff"], 2, "not UTF-8"),
         (["--set", b"\xff=1"], 2, "not UTF-8"), (["--set", "k" * 65536 + "=1"], 2, "65535"), (["--set", "a=[1,[2]]"], 2, "no JSON array of scalars"),
         (["--set-from", "bad.json"], 3, "byte"), (["--set-from", "twice.json"], 3, "there twice"), (["--set-from", "nested.json"], 3, "an object"),
         (["--set-from", "null.json"], 3, "null"), (["--set-from", "missing.json"], 3, "missing.json"), (["--set-from", "list.json"], 3, "JSON object")]


def check_errors(tally, folder):
    files = {"bad.json": '{"a": 1,}', "twice.json": '{"a": 1, "a": 2}', "nested.json": '{"a": {"b": 1}}', "null.json": '{"a": null}',
             "list.json": "[1]"}
    for name, text in files.items():
        (folder / name).write_text(text)
    source, out = folder / "plain.safetensors", folder / "no.gguf"
    for options, code, words in WRONG:
        options = [folder / word if isinstance(word, str) and word.endswith(".json") else word for word in options]
        done = run("cast", source, "fp16", "-o", out, "--set", "general.architecture=flux", *options)
        tally.check(f"error {options}"[:80], (done.returncode, words in done.stderr, out.exists(), done.stderr.count("\n")),
                    (code, True, False, 1))
    model = folder / "broken"
    numbers = model_files.numbers_of("llama")
    def refused(subject, words, code=3, config=None, tensors=None, options=(), name="llama"):
        model_files.write_model(model, name, config=config, tensors=tensors)
        done = run("quant", model, "q8_0", "-o", out, *options)
        tally.check(f"error {subject}", (done.returncode, all(w in done.stderr for w in words), out.exists()), (code, True, False))
        if not all(w in done.stderr for w in words):
            print(done.stderr)
    config = model_files.config_of("llama")
    refused("no config.json's class", ["MixtralForCausalLM", "--set general.architecture"], 2,
            config | {"architectures": ["MixtralForCausalLM"]})
    refused("no class", ["names no architecture", "--set general.architecture"], 2, {})
    for member in ("num_hidden_layers", "hidden_size", "num_attention_heads", "rms_norm_eps", "vocab_size", "max_position_embeddings"):
        refused(f"without {member}", [member, "--set"], 3, {k: v for k, v in config.items() if k != member})
    refused("a string", ["hidden_size", "'x'"], 3, config | {"hidden_size": "x"})
    refused("rope scaling", ["dynamic"], 3, config | {"rope_scaling": {"type": "dynamic", "factor": 2}})
    refused("another tensor", ["model.layers.0.extra.weight", "no name in llama.cpp's llama", "--select"], 2,
            tensors=numbers | {"model.layers.0.extra.weight": numpy.ones((2, 32), "f4")})
    refused("no output", ["lm_head.weight"], 3, config | {"tie_word_embeddings": False},
            {k: v for k, v in numbers.items() if k != "lm_head.weight"})
    refused("heads", ["heads"], 3, config | {"num_attention_heads": 3})
    refused("layers", ["layers"], 3, config | {"num_hidden_layers": 3})
    refused("a name twice", ["both become", "blk.0.attn_norm.weight"], 3,
            tensors=numbers | {"layers.0.input_layernorm.weight": numpy.ones(64, "f4")})
    refused("a pattern of the old name", ["matches no tensor"], 2, options=["--keep", "model.embed_tokens.weight"])
    refused("phi3 without context", ["original_max_position_embeddings"], 3,
            {k: v for k, v in model_files.config_of("phi3").items() if k != "original_max_position_embeddings"}, name="phi3")
    (model / "config.json").unlink()
    done = run("quant", model, "q8_0", "-o", out)
    tally.check("error no config.json", (done.returncode, "no config.json next to" in done.stderr), (2, True))
    # what is missing can be stated
    model_files.write_model(model, "llama", config={k: v for k, v in config.items() if k != "num_hidden_layers"})
    require("quant", model, "q8_0", "-o", out, "--set", "llama.block_count=2")
    check_tensors(tally, "a stated key", read(out)[0], model_files.converted("llama", numbers), "Q8_0")
    tally.part("errors")


def check_mutations(tally, folder):
    """Bytes of config.json and of a file of --set-from are changed at random: an answer or a message, never a crash."""
    random = numpy.random.default_rng(3)
    names = ["llama", "qwen2", "phi3", "gemma2"]
    for name in names:
        model_files.write_model(folder / name, name)
    for i in range(40 if harness.QUICK else 200):
        model = folder / names[i % len(names)]
        if i % 5 == 4:
            path, options = folder / "keys.json", ["--set-from", folder / "keys.json"]
            text = bytearray(b'{"general.name": "x", "a:arr[i32]": [1, 2, -3], "b": 1.5e-3, "c": ["\\u00e9", "y"], "d:u64": 5}')
        else:
            path, options = model / "config.json", []
            text = bytearray(json.dumps(model_files.config_of(model.name)).encode())
        for at in random.integers(0, len(text), random.integers(1, 4)):
            text[at] = random.choice(list(b'{}[]",:0123456789.-+eEnul \\x'))
        path.write_bytes(text)
        done = run("quant", model, "q8_0", "-o", folder / "out.gguf", "--force", *options)
        lines = [line for line in done.stderr.splitlines() if "no tokenizer" not in line]
        tally.check(f"mutation {i} of {path.name}: {done.stderr[-200:]}", (done.returncode in (0, 2, 3), len(lines) <= 1), (True, True))
        model_files.write_model(model, model.name)
    tally.part("mutations")


def check_images(tally, folder):
    random = numpy.random.default_rng(5)
    tensors = {"patch_embedding.weight": random.standard_normal((8, 4, 1, 2, 2)).astype("f4"),
               "blocks.0.attn.weight": random.standard_normal((64, 64)).astype("f4"),
               "blocks.0.modulation": random.standard_normal((1, 6, 512)).astype("f4"),
               "blocks.0.norm.weight": random.standard_normal(64).astype("f4"), "blocks.0.small.weight": numpy.ones((16, 64), "f4"),
               "conv.weight": random.standard_normal((64, 32, 3, 3)).astype("f4")}
    tensors = {name: (array.view("u4") & 0xFFFF0000).view("f4") for name, array in tensors.items()}
    model_files.write_safetensors(folder / "wan.safetensors", tensors, "BF16")
    for command, kind in ((["quant", "q8_0"], "Q8_0"), (["cast", "bf16"], "BF16")):
        out = folder / "wan.gguf"
        done = run(command[0], folder / "wan.safetensors", command[1], "-o", out, "--force", "--set", "general.architecture=wan")
        tally.check("wan", (done.returncode, done.stderr), (0, ""))
        got, fields = read(out)
        want = {"patch_embedding.weight": ("F32", (32, 1, 2, 2)), "blocks.0.attn.weight": (kind, (64, 64)),
                "blocks.0.modulation": ("F32", (1, 6, 512)), "blocks.0.norm.weight": ("F32", (64,)),
                "blocks.0.small.weight": ("F32", (16, 64)), "conv.weight": ("BF16", (64, 32, 3, 3))}
        for name, (own, shape) in want.items():
            array = tensors[name].reshape(shape)
            tally.check(f"wan {command[1]}: {name}", (got[name][:2], got[name][2] == encoded(array, own)), ((own, shape), True))
        # as ComfyUI-GGUF's loader reads it: an array of int32
        types, value = fields["comfy.gguf.orig_shape.patch_embedding.weight"]
        tally.check("orig_shape", ([t.name for t in types], value), (["ARRAY", "INT32"], struct.pack("<IQ5i", 5, 5, 8, 4, 1, 2, 2)))
        # and back: the shape returns
        require("quant", out, "fp32", "--dequant", "-o", folder / "back.safetensors", "--force") if kind == "Q8_0" else \
            require("cast", out, "fp32", "-o", folder / "back.safetensors", "--force")
        back = tensor_files.read_file(folder / "back.safetensors")["patch_embedding.weight"]
        tally.check("the shape returns", (back[1], back[2] == tensors["patch_embedding.weight"].tobytes()), ([8, 4, 1, 2, 2], True))
    done = run("cast", folder / "wan.safetensors", "fp16", "-o", folder / "new.gguf", "--set", "general.architecture=brand_new")
    tally.check("an unknown architecture", (done.returncode, "no names are known" in done.stderr), (0, True))
    tally.part("image models")


def check_split(tally, folder):
    model = folder / "llama"
    whole, parts = folder / "whole.gguf", folder / "parts"
    parts.mkdir()
    require("quant", model, "q8_0", "-o", whole)
    size = (whole.stat().st_size + 2) // 3 + 3000
    require("quant", model, "q8_0", "-o", parts / "m.gguf", "--max-shard-size", str(size))
    names = sorted(path.name for path in parts.iterdir())
    tally.check("three parts", names, [f"m-0000{i}-of-00003.gguf" for i in (1, 2, 3)])
    together, want = {}, read(whole)
    for i, name in enumerate(names):
        tensors, fields = read(parts / name)
        together |= tensors
        number = {key: int.from_bytes(fields[key][1], "little") for key in fields if key.startswith("split.")}
        tally.check(f"split keys of {name}", number, {"split.no": i, "split.count": 3, "split.tensors.count": len(want[0])})
        if i == 0:
            tally.check("keys of the first part", {k: v for k, v in fields.items() if not k.startswith("split.")}, want[1])
    tally.check("tensors of all parts", together, want[0])
    require("cast", parts / names[1], "fp32", "-o", folder / "joined.gguf", "--keep", "*")
    tally.check("read again", read(folder / "joined.gguf")[0], want[0])
    require("cast", model, "fp16", "-o", parts / "a.gguf", "--max-shard-size", "60KiB", "--set", "general.alignment=256")
    others = sorted(parts.glob("a-*.gguf"))
    tally.check("several parts", len(others) > 2, True)
    for path in others:
        reader = gguf.GGUFReader(path)
        tally.check(f"alignment of {path.name}", (reader.alignment, all(t.data_offset % 256 == 0 for t in reader.tensors)), (256, True))
    answer = json.loads(require("inspect", parts / names[0], "--json").stdout)
    tally.check("inspect", (len(answer["files"][0]["shards"]), answer["files"][0]["tensor_count"]), (3, len(want[0])))
    tally.part("split files")


def rows(name, word):
    """The rows of a table: lists of what is between commas, quotes removed."""
    text = (pathlib.Path(sys.argv[2]) / name).read_text()
    return [[part.strip().strip('"') for part in re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", row)]
            for row in re.findall(rf'^{word}\((.*)\)$', text, re.M)]


def check_tables(tally, _):
    """Names against gguf-py's map of names, types of keys against the methods of its writer."""
    if len(sys.argv) < 3:
        return
    archs = {row[0]: row[1] for row in rows("files/model/model_archs.def", "MODEL_ARCH")}
    sets = {name: 1 << i for i, name in enumerate(archs)} | {"ALL": (1 << len(archs)) - 1}
    for name, word in archs.items():
        arch = next(arch for arch, own in gguf.MODEL_ARCH_NAMES.items() if own == word)
        names = gguf.get_tensor_name_map(arch, 40)
        tensors = [gguf.TENSOR_NAMES[tensor].format(bid=37) for tensor in gguf.MODEL_TENSORS[arch]]
        for hf, own, _, which in rows("files/model/model_names.def", "MODEL_NAME"):
            if eval(which, {}, sets) & sets[name]:       # pylint: disable=eval-used
                tally.check(f"{word}: {hf}", own.replace("#", "37"), names.get_name(hf.replace("#", "37")))
                tally.check(f"{word} has {own}", own.replace("#", "37") in tensors, True)
        missing = set(tensors) - {own.replace("#", "37") for _, own, _, which in rows("files/model/model_names.def", "MODEL_NAME")
                                  if eval(which, {}, sets) & sets[name]}   # pylint: disable=eval-used
        # computed, or of models with experts, or of files with rotary embeddings that no checkpoint has
        known = {"rope_freqs", "rope_factors_long", "rope_factors_short"}
        missing = {m for m in missing - known if "exps" not in m and "gate_inp" not in m and "rot_embd" not in m}
        # phi3's fused projections; tied embeddings
        allowed = {"phi3": {"blk.37.attn_q", "blk.37.attn_k", "blk.37.attn_v"}}.get(word, set())
        tally.check(f"{word}: names that the table lacks", missing - allowed, set())
    globs = rows("containers/gguf/gguf_keys.def", "GGUF_KEY")
    source = pathlib.Path(gguf.__file__).with_name("gguf_writer.py").read_text()
    for kind, key in re.findall(r"self\.add_(uint32|uint64|float32|bool|string|array|key_value)\(Keys\.([\w.]+)", source):
        value = gguf.Keys
        for part in key.split("."):
            value = getattr(value, part, None)
        if not isinstance(value, str):
            continue
        text = value.replace("{arch}", "llama").replace("{id}", "0")
        row = next((row for row in globs if re.fullmatch(fnmatch.translate(row[0]), text)), None)
        if row and kind != "key_value" and "{" not in text:
            tally.check(f"type of {text}", row[1], kind.upper())
    tally.part("tables")


def main():
    tally = harness.Tally()
    for part in (check_tables, check_models, check_sources, check_quantized, check_options, check_set, check_errors, check_mutations, check_images, check_split):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if part in (check_split,):
                model_files.write_model(folder / "llama", "llama")
            if part is check_errors:
                model_files.write_safetensors(folder / "plain.safetensors", {"x.weight": numpy.ones((4, 64), "f4")}, "F32")
            part(tally, folder)
    tally.finish()


main()
