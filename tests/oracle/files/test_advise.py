#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advise: bytes and errors of every tensor in every format of each loader's menu, against files that quant wrote, read
and dequantized by numpy and gguf-py; groups that must share a format; the choice, against all choices of a small menu;
plans executed by quant; sizes against mem and the files; weights from tables and importance matrices; files of
measurements.

usage: test_advise.py DTINFO
"""
import fnmatch
import itertools
import json
import math
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import types
import zipfile

import harness

numpy, ml_dtypes, gguf = (harness.have(name) for name in ("numpy", "ml_dtypes", "gguf"))
if numpy is None or ml_dtypes is None:
    print("skipped: needs numpy and ml_dtypes")
    sys.exit(77)
DTINFO = os.path.abspath(sys.argv[1])
CLOSE = 1e-12
E2M1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], numpy.float32)
DTYPES = {"BF16": ml_dtypes.bfloat16, "F16": numpy.float16, "F32": numpy.float32, "U8": numpy.uint8, "I8": numpy.int8,
          "I32": numpy.int32, "I64": numpy.int64, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
          "F8_E8M0": ml_dtypes.float8_e8m0fnu}
CHECKED = [0]


def require(holds, what, *seen):
    CHECKED[0] += 1
    if not holds:
        sys.exit("%s: %s" % (what, ", ".join(map(repr, seen))))


def close(what, ours, theirs):
    require(abs(ours - theirs) <= CLOSE * abs(theirs), what, ours, theirs)


def run(*words, code=0):
    done = subprocess.run([DTINFO, *map(str, words)], capture_output=True, text=True)
    require(done.returncode == code, "exit code of %s" % (words,), done.returncode, done.stderr)
    return done


def ask(*words):
    return json.loads(run(*words, "--json").stdout)


def write(path, tensors):
    head, data = {}, b""
    for name, array in tensors.items():
        dtype = next(key for key, value in DTYPES.items() if value == array.dtype)
        head[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    head, data = json.loads(data[8:8 + length]), data[8 + length:]
    head.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])], DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in head.items()}


def model(folder, layers=2, seed=1):
    """A small language model whose tensors differ in their distribution, and a mixture of experts."""
    random = numpy.random.default_rng(seed)
    hidden, inner, words = 256, 512, 72

    def matrix(rows, columns, tail):
        numbers = random.standard_t(tail, size=(rows, columns)) * numpy.exp(random.standard_normal((rows, 1)))
        return (numbers * 0.03).astype(ml_dtypes.bfloat16)

    tensors = {"model.embed_tokens.weight": matrix(words, hidden, 5)}
    for layer in range(layers):
        start = "model.layers.%d." % layer
        for name, rows in (("q", hidden), ("k", hidden // 2), ("v", hidden // 2), ("o", hidden)):
            tensors[start + "self_attn.%s_proj.weight" % name] = matrix(rows, hidden, 3 + layer)
        tensors[start + "mlp.gate_proj.weight"] = matrix(inner, hidden, 9)
        tensors[start + "mlp.up_proj.weight"] = matrix(inner, hidden, 30)
        tensors[start + "mlp.down_proj.weight"] = matrix(hidden, inner, 4)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[start + name + ".weight"] = numpy.ones(hidden, ml_dtypes.bfloat16)
    tensors["model.norm.weight"] = numpy.ones(hidden, ml_dtypes.bfloat16)
    tensors["lm_head.weight"] = matrix(words, hidden, 5)
    folder.mkdir()
    write(folder / "model.safetensors", tensors)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "vocab_size": words,
              "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": 4,
              "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "max_position_embeddings": 128}
    (folder / "config.json").write_text(json.dumps(config))
    return tensors


def e8m0(codes):
    return numpy.ldexp(numpy.float32(1), codes.view(numpy.uint8).astype(numpy.int32) - 127).astype(numpy.float32)


def untile(scales, rows, blocks):
    """Scales in tiles of 128 rows and 4 blocks, as cuBLAS has them."""
    r, b = numpy.meshgrid(numpy.arange(rows), numpy.arange(blocks), indexing="ij")
    tiles = (blocks + 3) // 4
    at = ((r // 128 * tiles + b // 4) * 512) + r % 32 * 16 + r % 128 // 32 * 4 + b % 4
    return scales.reshape(-1)[at]


def spread(scales, columns):
    return numpy.repeat(scales, columns // scales.shape[-1], axis=-1)


def dequantize(parts, name, shape, marked):
    """The numbers of a tensor of a file by numpy, in fp32, from the parts' definitions."""
    rows, columns = shape
    packed = name + "_packed" in parts
    codes = parts[name + "_packed"] if packed else parts[name]
    scale = parts[name + "_scale"]
    if codes.dtype == numpy.int32:                                  # int4 in words
        shifts = numpy.arange(8, dtype=numpy.uint32) * 4
        numbers = (codes.view(numpy.uint32)[..., None] >> shifts & 15).astype(numpy.int32).reshape(rows, -1)[:, :columns]
        return (numbers - 8).astype(numpy.float32) * scale.reshape(-1, 1) if scale.size > 1 else \
            (numbers - 8).astype(numpy.float32) * scale.reshape(())
    if codes.dtype == numpy.uint8:                                  # fp4, two in a byte
        first, second = (codes >> 4, codes & 15) if marked else (codes & 15, codes >> 4)
        numbers = E2M1[numpy.stack([first, second], axis=-1).reshape(codes.shape[0], -1)][:rows, :columns]
        if name + "_global_scale" in parts:
            factor = numpy.float32(1) / parts[name + "_global_scale"].reshape(())
            exact = scale.astype(numpy.float64) / parts[name + "_global_scale"].astype(numpy.float64).reshape(())
            return numbers * spread(exact.astype(numpy.float32), columns), factor
        if name + "_scale_2" in parts:
            scales = untile(scale.astype(numpy.float32), rows, columns // 16) if marked else scale.astype(numpy.float32)
            return numbers * spread(scales * parts[name + "_scale_2"].reshape(()), columns)
        return numbers * spread(e8m0(scale), columns)
    numbers = codes.astype(numpy.float32)[:rows, :columns]
    if scale.dtype in (numpy.uint8, ml_dtypes.float8_e8m0fnu):      # mxfp8
        scales = untile(e8m0(scale), rows, columns // 32) if marked else e8m0(scale)
        return numbers * spread(scales, columns)
    return numbers * (scale.reshape(()) if scale.size == 1 else scale.reshape(-1, 1))


def own_parts(name, parts):
    module = name[:-len("weight")]
    return sum(array.nbytes for key, array in parts.items()
               if key == name or key.startswith(name + "_") or key == module + "comfy_quant")


def judge_figure(what, figure, numbers, stored):
    numbers, stored = numbers.astype(numpy.float64), stored.astype(numpy.float64)
    squares, signals = (stored - numbers) ** 2, numbers ** 2
    close(what + ": squared error", figure["squared_error"], math.fsum(squares.reshape(-1)))
    close(what + ": signal", figure["signal"], math.fsum(signals.reshape(-1)))
    require(figure["to_zero"] == int(((numbers != 0) & (stored == 0)).sum()), what + ": to zero", figure["to_zero"])
    shares = [math.fsum(square) / math.fsum(signal) for square, signal in zip(squares, signals)]
    close(what + ": worst row's error", figure["worst_error"], max(shares))
    close(what + ": the worst row", shares[figure["worst_row"]], max(shares))


def judge_safetensors(folder, tensors, loader, out):
    """All formats of a loader: each alone is a plan, which this test writes."""
    measurements = out / (loader + ".json")
    answer = ask("advise", folder, "--fit", "1GB", "--loader", loader, "--measurements", measurements)
    measured = json.loads(measurements.read_text())
    layout = {"vllm": "compressed-tensors", "comfyui": "comfy"}[loader]
    for form in measured["formats"]:
        taken = [entry for entry in measured["tensors"] if any(one["format"] == form for one in entry["figures"])]
        require(len(taken) >= 14, "tensors that are quantized", len(taken))
        plan, written = out / "plan.json", out / ("%s-%s.safetensors" % (loader, form))
        plan.write_text(json.dumps({"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "layout": layout,
                                    "per": "channel" if loader == "vllm" else "tensor",
                                    "tensors": [{"name": entry["name"], "format": form} for entry in taken]}))
        run("quant", folder / "model.safetensors", "--plan", plan, "-o", written, "-q")
        parts = read(written)
        for entry in taken:
            name, what = entry["name"], "%s %s" % (form, entry["name"])
            figure = next(one for one in entry["figures"] if one["format"] == form)
            stored = dequantize(parts, name, tensors[name].shape, layout == "comfy")
            stored = stored[0] if isinstance(stored, tuple) else stored
            judge_figure(what, figure, tensors[name], stored)
            require(figure["bytes"] == own_parts(name, parts), what + ": bytes", figure["bytes"], own_parts(name, parts))
    return answer, measured


def judge_gguf(folder, out):
    if gguf is None:
        print("skipped: gguf")
        return
    measurements = out / "gguf.json"
    run("advise", folder, "--fit", "1GB", "--loader", "llama.cpp", "--measurements", measurements, "-q")
    measured = json.loads(measurements.read_text())
    plain = out / "plain.gguf"
    run("cast", folder, "fp32", "-o", plain, "-q")
    sources = {tensor.name: tensor.data for tensor in gguf.GGUFReader(plain).tensors}
    taken = [entry for entry in measured["tensors"] if entry["figures"]]
    require(len(taken) == 16, "tensors of gguf that are quantized", len(taken))
    for form in measured["formats"]:
        plan, written = out / "plan.json", out / ("%s.gguf" % form)
        plan.write_text(json.dumps({"schema": "dtinfo.advise_plan/1", "writes": "gguf", "layout": None,
                                    "tensors": [{"name": entry["name"], "format": form} for entry in taken]}))
        run("quant", folder, "--plan", plan, "-o", written, "-q")
        read_back = {tensor.name: tensor for tensor in gguf.GGUFReader(written).tensors}
        for entry in taken:
            tensor, what = read_back[entry["name"]], "%s %s" % (form, entry["name"])
            require(tensor.tensor_type.name.lower() == form, what + ": type", tensor.tensor_type.name)
            figure = next(one for one in entry["figures"] if one["format"] == form)
            shape = sources[entry["name"]].shape
            judge_figure(what, figure, sources[entry["name"]],
                         gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape))
            require(figure["bytes"] == tensor.n_bytes, what + ": bytes", figure["bytes"], tensor.n_bytes)


def best_of_all(measured, groups, menu, kept, budget, weights):
    """The least error of all mixtures: each group in each format of a small menu."""
    figures = {entry["name"]: {one["format"]: one for one in entry["figures"]} for entry in measured["tensors"]}
    choices = [[(sum(figures[name][form]["bytes"] for name in group),
                 sum(weights[name] * figures[name][form]["squared_error"] / figures[name][form]["signal"]
                     for name in group)) for form in menu] for group in groups]
    best = math.inf
    for picks in itertools.product(*choices):
        if kept + sum(pick[0] for pick in picks) <= budget:
            best = min(best, math.fsum(pick[1] for pick in picks))
    return best, kept + sum(min(choice)[0] for choice in choices)


def judge_choice(folder, tensors, measured, out):
    menu = ["fp8_e4m3fn", "nvfp4", "mxfp4"]
    words = ("advise", folder, "--measurements", out / "vllm.json", "--menu", ",".join(menu))
    whole = ask(*words, "--fit", "1GB")
    groups = [group["tensors"] for group in whole["groups"]]
    for group in groups:
        fused = {"q_proj": 3, "k_proj": 3, "v_proj": 3, "gate_proj": 2, "up_proj": 2}.get(group[0].split(".")[-2], 1)
        require(len(group) == fused, "modules that are stored as one matrix", group)
    require(sorted(sum(groups, [])) == sorted(entry["name"] for entry in measured["tensors"] if entry["figures"]),
            "every tensor is in one group", groups)
    counts = {name: tensor.size for name, tensor in tensors.items()}
    kept = sum(entry["bytes"] for entry in measured["tensors"] if not entry["figures"])
    least = whole["frontier"][0]["bytes"]
    for budget in (least, least + 5000, least + 70001, least + 300000, least + 444444, whole["bytes"] - 1):
        answer = ask(*words, "--fit", budget)
        error, needed = best_of_all(measured, groups, menu, kept, budget, counts)
        require(needed == least, "the smallest choice", needed, least)
        close("the least error for %d bytes" % budget, answer["error"], error)
        require(answer["proved"] and answer["bytes"] <= budget, "the choice for %d bytes" % budget, answer["bytes"])
        require(answer["bytes"] == kept + sum(group["bytes"] for group in answer["groups"]), "sum of bytes")
    refused = run(*words, "--fit", least - 1, code=1)
    require(str(least) in refused.stderr, "the least size is named", refused.stderr)
    table = out / "weights.csv"
    table.write_text("# weights\n*q_proj*,100\nmodel.layers.1.mlp.down_proj.weight,7.5e2\n*,1\n")
    weights = {name: 750 if name == "model.layers.1.mlp.down_proj.weight" else 100 if fnmatch.fnmatch(name, "*q_proj*")
               else 1 for name in tensors}
    budget = least + 200000
    answer = ask(*words, "--fit", budget, "--weights", table)
    close("the least weighted error", answer["error"], best_of_all(measured, groups, menu, kept, budget, weights)[0])
    table.write_text("*q_proj*,100\n")
    run(*words, "--fit", budget, "--weights", table, code=3)
    judge_divergences(words, groups, counts, budget, out, lambda by: best_of_all(measured, groups, menu, kept, budget, by)[0])
    judge_scores(words, groups, counts, budget, out, lambda by: best_of_all(measured, groups, menu, kept, budget, by)[0])


def judge_divergences(words, groups, counts, budget, out, best):
    """exllamav3's measurement: what the divergence falls by with the most bits, divided by the numbers of elements."""
    random, weights, written = numpy.random.default_rng(9), {}, []
    for index, group in enumerate(groups):
        parts = [group[:1], group[1:]] if len(group) == 3 else [group]          # its groups need not be ours
        for part in parts:
            falls = list(-10.0 ** random.uniform(-5, 0, 2)) if index != 2 else [-0.01, 0.01]
            turned = [{"dkld": fall, "dbits": bits} for fall, bits in zip(falls, (4096, 8192))]
            written.append({"idx": index, "layers": [name[:-len(".weight")] for name in part],
                            "candidates": turned if index % 2 else turned[::-1]})
            for name in part:
                weights[name] = max(0, -falls[1]) * counts[name] / sum(counts[other] for other in part)
    path = out / "measurement.json"
    path.write_text(json.dumps({"base": {"dir": "x", "bpw": 3.0}, "groups": written, "base_kld": 0.5}, indent=4))
    answer = ask(*words, "--fit", budget, "--weights", path)
    close("the least error weighted by divergences", answer["error"], best(weights))
    for group in answer["groups"]:
        close("weight by divergences of " + group["tensors"][0], group["weight"], sum(weights[name] for name in group["tensors"]))


def torch_file(path, value, protocol):
    """A file as torch.save() writes it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("state/data.pkl", pickle.dumps(value, protocol))
        archive.writestr("state/byteorder", "little")


def judge_scores(words, groups, counts, budget, out, best):
    """The search state of ModelOpt: the score of the format that takes least, divided by the numbers of elements. Formats are
    objects of its own."""
    name = "modelopt.torch.quantization.algorithms"
    for package in ("modelopt", "modelopt.torch", "modelopt.torch.quantization", name):  # pickle imports each of them
        sys.modules.setdefault(package, types.ModuleType(package))
    module = sys.modules[name]
    module.QuantRecipe = type("QuantRecipe", (), {"__module__": name})
    random, weights, stats = numpy.random.default_rng(10), {}, {}
    for index, group in enumerate(groups):
        parts = [group[:1], group[1:]] if len(group) == 3 else [group]
        for part in parts:
            order = list(random.permutation(3))
            scores = sorted(map(float, 10.0 ** random.uniform(-8, 2, 2)), reverse=True) + [0]
            scores = [-1e-9, -1e-9, 0] if index == 1 else scores
            costs = [512.0, 1024, 1 << 40]
            formats = [module.QuantRecipe() for _ in order]
            for one in formats:
                one.compression = 0.25
            names = [name[:-len(".weight")] for name in part]
            stats[names[0] + ".quant_recipe"] = {
                "formats": formats, "scores": [scores[at] for at in order], "costs": [costs[at] for at in order],
                "module_names": names, "quantizer_attrs": {name: ("weight_quantizer",) for name in names}, "is_fixed": False}
            for name in part:
                weights[name] = max(0, scores[0]) * counts[name] / sum(counts[other] for other in part)
    state = {"method": "gradient", "candidate_stats": stats, "best": {"score": math.inf}}
    for name, protocol in (("state.pth", 2), ("state.pt", 4)):
        torch_file(out / name, state, protocol)
        answer = ask(*words, "--fit", budget, "--weights", out / name)
        close("the least error weighted by scores", answer["error"], best(weights))
        for group in answer["groups"]:
            close("weight by scores of " + group["tensors"][0], group["weight"], sum(weights[name] for name in group["tensors"]))
    some = next(iter(stats.values()))
    for what, change in (("a NaN", {"scores": [math.nan, 1.0, 0]}), ("one score too few", {"scores": [1.0, 0.5]}),
                         ("a text", {"costs": ["1", 2.0, 3.0]}), ("no names", {"module_names": None}),
                         ("a name twice", {"module_names": 2 * some["module_names"]}), ("other names", {"module_names": ["x"]})):
        torch_file(out / "state.pth", dict(state, candidate_stats=dict(stats, **{next(iter(stats)): dict(some, **change)})), 2)
        refused = run(*words, "--fit", budget, "--weights", out / "state.pth", code=3)
        require(refused.stderr.count("\n") == 2 and "state.pth" in refused.stderr, "refuses " + what, refused.stderr)
    for what, broken in (("a state without scores", dict(state, candidate_stats={})), ("another dict", {"a": 1}), ("a list", [1, 2])):
        torch_file(out / "state.pth", broken, 2)
        refused = run(*words, "--fit", budget, "--weights", out / "state.pth", code=3)
        require(refused.stderr.count("\n") == 2 and "state.pth" in refused.stderr, "refuses " + what, refused.stderr)


def judge_plan(folder, out, loader, target):
    """The plan is what is written, mem and the files agree on its bytes, and a loss of a tensor is that of its format."""
    plan = out / (loader + "-plan.json")
    whole = ask("advise", folder, "--fit", "1GB", "--loader", loader)
    budget = (4 * whole["frontier"][0]["bytes"] + whole["frontier"][-1]["bytes"]) // 5
    answer = ask("advise", folder, "--fit", budget, "--loader", loader, "-o", plan)
    formats = {entry["name"]: entry["format"] for entry in json.loads(plan.read_text())["tensors"]}
    require(len(set(formats.values())) > 1, "a plan with several formats", formats)
    report = ask("quant", folder, "--plan", plan, "-o", target)
    path = str(target).rstrip("/")
    stored = next(size for size in ask("mem", path)["sizes"] if size["dtype"] is None)
    require(stored["bytes"] == answer["bytes"] <= budget, "bytes that mem counts", stored["bytes"], answer["bytes"])
    files = [target] if os.path.isfile(path) else [pathlib.Path(path, name) for name in os.listdir(path)]
    size = sum(os.path.getsize(one) for one in files)
    require(size == answer["file_bytes"], "bytes of the files", size, answer["file_bytes"])
    quantized = {entry["name"]: entry for entry in report["tensors"] if entry["name"] in formats}
    require(set(quantized) == set(formats), "tensors of the plan", sorted(set(formats) - set(quantized)))
    total = 0
    for name, entry in quantized.items():
        require(entry["fate"] == "quantized" and entry["to"] == formats[name], "a tensor of the plan", entry)
        total += entry["elements"] * 10 ** (-entry["loss"]["sqnr_db"]["value"] / 10)
    stored = [group for group in answer["groups"] if group["format"] == "stored"]
    require(all(group["error"] == 0 for group in stored), "tensors as they are have no error", stored)
    require(abs(total - answer["error"]) <= 1e-5 * total, "the error of what is written", total, answer["error"])
    for entry in report["tensors"]:
        require(entry["name"] in formats or entry["fate"] != "quantized" or entry["to"] == "fp32", "a tensor that stays", entry)


def judge_importance(folder, out):
    """With an importance matrix a weight is the signal times the mean importance; without an entry, the mean of those."""
    measured = json.loads((out / "gguf.json").read_text())
    taken = [entry for entry in measured["tensors"] if entry["figures"]]
    random, means = numpy.random.default_rng(5), {}
    data = struct.pack("<i", len(taken) - 1)
    for entry in taken[1:]:
        values = random.random(entry["shape"][-1]).astype("<f4") * 3
        means[entry["name"]] = math.fsum(map(float, values / numpy.float32(2))) / len(values)
        name = entry["name"].encode()
        data += struct.pack("<i", len(name)) + name + struct.pack("<ii", 2, len(values)) + values.tobytes()
    matrix = out / "importance.dat"
    matrix.write_bytes(data + struct.pack("<ii", 2, 1) + b"x")
    means[taken[0]["name"]] = math.fsum(means.values()) / len(means)
    answer = ask("advise", folder, "--fit", "1GB", "--loader", "llama.cpp", "--weights", matrix,
                 "--measurements", out / "gguf.json")
    for group in answer["groups"]:
        entry = next(one for one in taken if one["name"] == group["tensors"][0])
        wanted = means[entry["name"]] * entry["figures"][0]["signal"]
        require(abs(group["weight"] - wanted) <= 1e-6 * wanted, "weight of " + entry["name"], group["weight"], wanted)


def judge_experts(out):
    """Experts of a layer share a format, whatever they are called."""
    random, tensors = numpy.random.default_rng(7), {}
    for layer in range(2):
        for expert in range(3):
            for name in ("w1", "w2", "w3"):
                array = random.standard_normal((64, 64)) * 10.0 ** -expert
                tensors["model.layers.%d.mlp.experts.%d.%s.weight" % (layer, expert, name)] = \
                    array.astype(ml_dtypes.bfloat16)
        tensors["model.layers.%d.mlp.gate.weight" % layer] = numpy.ones((8, 64), ml_dtypes.bfloat16)
    path = out / "experts.safetensors"
    write(path, tensors)
    answer = ask("advise", path, "--fit", "100kB")
    require(sorted(len(group["tensors"]) for group in answer["groups"]) == [9, 9], "groups of experts", answer["groups"])
    require(answer["kept_tensors"] == 2, "routers stay", answer["kept_tensors"])
    answer = ask("advise", path, "--fit", "200kB", "--keep", "*layers.0*experts.1.w2*")
    require(sorted(len(group["tensors"]) for group in answer["groups"]) == [9], "a kept expert keeps its layer")
    run("advise", path, "--fit", "10kB", code=1)
    single = ask("advise", path, "--fit", "100kB", "--loader", "comfyui")
    require(all(len(group["tensors"]) == 1 for group in single["groups"]), "comfyui has no groups", len(single["groups"]))


def judge_measurements(folder, out):
    words = ("advise", folder, "--fit", "700kB")
    fresh = ask(*words, "--threads", "1")
    require(fresh == ask(*words, "--threads", "3", "--max-memory", "1MiB"), "any number of threads")
    require(fresh == ask(*words, "--measurements", out / "vllm.json"), "measurements from a file")
    other = out / "other"
    model(other, seed=2)
    run("advise", other, "--fit", "700kB", "--measurements", out / "vllm.json", code=3)
    run(*words, "--measurements", out / "vllm.json", "--menu", "nf4", code=3)
    run(*words, "--measurements", out / "vllm.json", "--keep", "*q_proj*", code=3)


def judge_bytes_of_names(out):
    """Names that are not UTF-8 keep their bytes in groups, plan and frontier; the last one of four looks like the first."""
    names = [b"k\xff.weight", b"k.weight", b"\xc3\xa9.weight", b"k\xfe.weight"]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(names), 0)
    for at, name in enumerate(names):
        head += struct.pack("<Q", len(name)) + name + struct.pack("<IQQIQ", 2, 32, 32, 1, 2048 * at)
    data = numpy.random.default_rng(5).normal(size=1024 * len(names)).astype(numpy.float16).tobytes()
    (out / "names.gguf").write_bytes(head + bytes(-len(head) % 32) + data)
    words = ("advise", out / "names.gguf", "--loader", "llama.cpp", "--menu", "stored,q8_0")
    document = ask(*words, "--fit", "6kB")

    def spelled(text, digits):
        require((digits is None) == ("\ufffd" not in text), "hexadecimal only where the name is not UTF-8", text, digits)
        return text.encode() if digits is None else bytes.fromhex(digits)

    found = []
    for group in document["groups"]:
        twins = group["tensors_hex"]
        require(twins is None or (len(twins) == len(group["tensors"]) and any(twins)), "tensors_hex", group)
        found += map(spelled, group["tensors"], twins or [None] * len(group["tensors"]))
    require(found == names, "names of groups", found)
    require({spelled(point["tensor"], point["tensor_hex"]) for point in document["frontier"] if point["tensor"]} <= set(names),
            "names of the frontier", document["frontier"])
    run(*words, "--fit", "6kB", "-o", out / "names.json", "-q")
    plan = json.loads((out / "names.json").read_text())
    require({spelled(entry["name"], entry["name_hex"]) for entry in plan["tensors"]} <= set(names), "names of the plan", plan)


def main():
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place)
        folder = out / "model"
        tensors = model(folder)
        _, measured = judge_safetensors(folder, tensors, "vllm", out)
        judge_safetensors(folder, tensors, "comfyui", out)
        judge_gguf(folder, out)
        if gguf is not None:
            judge_importance(folder, out)
        judge_choice(folder, tensors, measured, out)
        judge_plan(folder, out, "vllm", str(out / "written") + "/")
        judge_plan(folder, out, "llama.cpp", out / "written.gguf")
        judge_experts(out)
        judge_bytes_of_names(out)
        judge_measurements(folder, out)
    print("%d comparisons" % CHECKED[0])


main()
