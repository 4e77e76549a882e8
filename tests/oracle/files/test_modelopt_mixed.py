#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checkpoints of several dtypes in ModelOpt's layout, from --type and from plans: what config.json and hf_quant_config.json
say of each module.

Judges: ModelOpt's own functions, which make both from the format of each module; and a reader of here, which follows the
rules by which vLLM looks up the modules of a model, takes the parts that an algorithm has, and computes the numbers. Those are
compared with quant --dequant, and the files with check and with verify --recipe. A model of vLLM's parameters says what
check --loader vllm has to say of mixtures.

usage: test_modelopt_mixed.py DTINFO
"""
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import QUICK, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
from layout_files import E2M1, E4M3
from tensor_files import read_file, write_file
from transcode_check import F32, PROGRAM, RANDOM, TALLY, equal, np, run, write

HIDDEN, INNER, LAYERS = 64, 96, 2
FUSED = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN}
KEEP = ("--keep", "*embed*,lm_head*,*norm*")


def model(more=()):
    tensors = {"model.embed_tokens": (32, HIDDEN), "lm_head": (32, HIDDEN), "model.norm": (HIDDEN,)}
    for layer in range(LAYERS):
        start = "model.layers.%d." % layer
        tensors.update({start + "self_attn.%s_proj" % one: (HIDDEN, HIDDEN) for one in "qkvo"})
        tensors.update({start + "mlp.gate_proj": (INNER, HIDDEN), start + "mlp.up_proj": (INNER, HIDDEN),
                        start + "mlp.down_proj": (HIDDEN, INNER), start + "input_layernorm": (HIDDEN,)})
    made = {name + ".weight": RANDOM.standard_normal(shape) for name, shape in tensors.items()}
    made.update({name: RANDOM.standard_normal(shape) for name, shape in more})
    write("model/model.safetensors", {name: ("F32", array.astype(F32)) for name, array in made.items()})
    with open("model/config.json", "w") as file:
        json.dump(CONFIG, file, indent=2)
    return made


# What ModelOpt calls the formats; and by an algorithm, the parts of a matrix of r rows and c columns.
THEIRS = {"fp8_e4m3fn tensor": ("fp8", 0), "fp8_e4m3fn channel": ("fp8_pc_pt", 0), "nvfp4": ("w4a16_nvfp4", 16), "mxfp8_e4m3": ("mxfp8", 32)}
PARTS = {
    "FP8": lambda r, c: {"weight": ("F8_E4M3", (r, c)), "weight_scale": ("F32", ())},
    "FP8_PER_CHANNEL_PER_TOKEN": lambda r, c: {"weight": ("F8_E4M3", (r, c)), "weight_scale": ("F32", (r,))},
    "MXFP8": lambda r, c: {"weight": ("F8_E4M3", (r, c)), "weight_scale": ("U8", (r, c // 32))},
    "W4A16_NVFP4": lambda r, c: {"weight": ("U8", (r, c // 2)), "weight_scale": ("F8_E4M3", (r, c // 16)),
                                 "weight_scale_2": ("F32", ())},
    None: lambda r, c: {"weight": ("F32", (r, c))},
}


def numbers(algorithm, parts):
    """The matrix, from its parts, in fp32."""
    def array(name, dtype):
        return np.frombuffer(parts[name][2], dtype).reshape(parts[name][1])
    if algorithm is None:
        return array("weight", F32)
    if algorithm == "W4A16_NVFP4":
        packed = array("weight", np.uint8)
        codes = E2M1[np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)].astype(F32)
        scales = E4M3[array("weight_scale", np.uint8)].astype(F32) * array("weight_scale_2", F32)
        return codes * np.repeat(scales, 16, axis=1)
    codes = E4M3[array("weight", np.uint8)].astype(F32)
    if algorithm == "MXFP8":
        return codes * np.repeat(np.exp2(array("weight_scale", np.uint8).astype(F32) - 127), 32, axis=1)
    scale = array("weight_scale", F32)
    return codes * (scale[:, None] if scale.ndim else scale)


def algorithm_of(layers, module):
    """Rules of vLLM's mixed configuration: the module itself; else the parts that it joins, which must agree."""
    if module in layers:
        return layers[module]["quant_algo"].upper()
    parent, _, last = module.rpartition(".")
    found = {layers[parent + "." + part]["quant_algo"].upper() for part in FUSED.get(last, ()) if parent + "." + part in layers}
    if len(found) > 1:
        raise ValueError("several algorithms in " + module)
    return found.pop() if found else None


def judge(what, formats, folder="out"):
    """formats: by tensor, "DTYPE" or "DTYPE PER" of what was quantized."""
    with open(folder + "/config.json") as file:
        config = json.load(file)
    with open(folder + "/hf_quant_config.json") as file:
        beside = json.load(file)
    block = config.pop("quantization_config")
    TALLY.check(what + ": the rest of config.json", config, CONFIG)
    modules = {name[:-len(".weight")]: one for name, one in formats.items()}
    by_modelopt(what, modules, block, beside)
    TALLY.check(what + ": what both files say", block["quantized_layers"], beside["quantization"]["quantized_layers"])
    TALLY.check(what + ": members", (sorted(block), block["quant_method"], block["kv_cache_scheme"], beside["producer"]["name"]),
                (["ignore", "kv_cache_scheme", "quant_algo", "quant_method", "quantized_layers"], "modelopt", None, "modelopt"))
    parts = read_file(folder + "/model.safetensors")
    run("quant", folder, "fp32", "--dequant", "-o", "back", "--force", "-q")
    own, plain = read_file("back/model.safetensors"), read_file("model/model.safetensors")
    for stem in sorted({name[:-len(".weight")] for name in plain if name.endswith(".weight") and len(plain[name][1]) == 2}):
        algorithm = algorithm_of(block["quantized_layers"], stem)
        TALLY.check("%s: %s has an algorithm" % (what, stem), algorithm is not None, stem in modules)
        there = {name[len(stem) + 1:]: part for name, part in parts.items() if name.startswith(stem + ".")}
        TALLY.check("%s: parts of %s" % (what, stem), {name: (part[0], tuple(part[1])) for name, part in there.items()},
                    PARTS[algorithm](*plain[stem + ".weight"][1]))
        equal("%s: numbers of %s" % (what, stem), np.frombuffer(own[stem + ".weight"][2], F32).reshape(own[stem + ".weight"][1]),
              numbers(algorithm, there))
    for layer in range(LAYERS):
        for fused in ("self_attn.qkv_proj", "mlp.gate_up_proj"):
            algorithm_of(block["quantized_layers"], "model.layers.%d.%s" % (layer, fused))
    TALLY.check(what + ": check --quantized", json.loads(run("check", folder, "--quantized", "--json"))["ok"], True)


def judge_one(what, formats, folder="out"):
    """One algorithm: what both files say, by ModelOpt, and what vLLM's and TensorRT-LLM's rules read of the file alone."""
    with open(folder + "/config.json") as file:
        block = json.load(file)["quantization_config"]
    with open(folder + "/hf_quant_config.json") as file:
        beside = json.load(file)
    told, names = beside["quantization"], [name[:-len(".weight")] for name, part in read_file("model/model.safetensors").items()
                                           if len(part[1]) == 2]
    quantized = {name[:-len(".weight")]: one for name, one in formats.items()}
    TALLY.check(what + ": modules that stay", (sorted(told["exclude_modules"]), sorted(block["ignore"])),
                (sorted(set(names) - set(quantized)),) * 2)
    TALLY.check(what + ": both files", (block["quant_algo"], block.get("group_size"), block["kv_cache_scheme"], block["quant_method"]),
                (told["quant_algo"], told.get("group_size"), told["kv_cache_quant_algo"], beside["producer"]["name"]))
    if "NVFP4" in told["quant_algo"]:  # vLLM stops without these
        TALLY.check(what + ": required", {"group_size", "kv_cache_quant_algo", "exclude_modules"} - set(told), set())
    TALLY.check(what + ": the file alone", alone(folder, quantized), True)
    try:
        from modelopt.torch.export.convert_hf_config import convert_hf_quant_config_format
        from modelopt.torch.export.quant_utils import process_layer_quant_config
    except ImportError:
        return TALLY.skip("nvidia-modelopt")
    layers = {}
    for module in names:
        layers[module + ".quantization"], layers[module + ".awq_block_size"] = THEIRS.get(quantized.get(module), (None, 0))
    theirs = process_layer_quant_config(layers)
    for one in (theirs, told):
        one["exclude_modules"] = [module for module in names if any(fnmatch.fnmatch(module, pattern) for pattern in one["exclude_modules"])]
    theirs = {key: value for key, value in theirs.items() if key != "group_size" or value}
    TALLY.check(what + ": hf_quant_config.json is ModelOpt's", told, theirs)
    converted = convert_hf_quant_config_format(beside)
    TALLY.check(what + ": config.json is ModelOpt's", (block["quant_algo"], block["quant_method"], sorted(block["ignore"])),
                (converted["quant_algo"], converted["quant_method"], sorted(converted["ignore"])))


def alone(folder, quantized):
    """Whether check reads the model by hf_quant_config.json alone, as TensorRT-LLM does."""
    shutil.rmtree("alone", ignore_errors=True)
    shutil.copytree(folder, "alone")
    with open("alone/config.json", "w") as file:
        json.dump(CONFIG, file)
    report = json.loads(run("check", "alone", "--quantized", "--json"))
    shown = json.loads(run("inspect", "alone", "--json"))
    tensors = json.loads(run("inspect", "alone", "--json"))["files"][0]["tensors"]
    return report["ok"] and {one["name"][:-len(".weight")] for one in tensors if one["quantized"]} == set(quantized)


def by_modelopt(what, modules, block, beside):
    try:
        from modelopt.torch.export.convert_hf_config import convert_hf_quant_config_format
        from modelopt.torch.export.quant_utils import process_layer_quant_config
    except ImportError:
        return TALLY.skip("nvidia-modelopt")
    told = {}
    for module, one in modules.items():
        told[module + ".quantization"], told[module + ".awq_block_size"] = THEIRS[one]
    theirs = process_layer_quant_config(told)
    TALLY.check(what + ": hf_quant_config.json is ModelOpt's", beside["quantization"], theirs)
    converted = convert_hf_quant_config_format({"producer": {"name": "modelopt"}, "quantization": theirs})
    TALLY.check(what + ": config.json is ModelOpt's",
                {key: block[key] for key in ("quant_algo", "quantized_layers", "ignore", "quant_method")},
                {key: converted[key] for key in ("quant_algo", "quantized_layers", "ignore", "quant_method")})


def chosen(tensors, choose):
    return {name: choose(name) for name, array in tensors.items()
            if array.ndim == 2 and "embed" not in name and "lm_head" not in name and choose(name)}


def by_types():
    tensors = model()
    for channel in (False, True):
        more = ["--per", "channel"] if channel else []
        run("quant", "model", "nvfp4", "--layout", "modelopt", "--type", "*self_attn*=fp8_e4m3fn,*down*=mxfp8_e4m3", "-o", "out",
            "--force", "-q", *KEEP, *more)
        judge("types " + " ".join(more), chosen(tensors, lambda name: "mxfp8_e4m3" if "down" in name else "nvfp4" if "mlp" in name
                                                 else "fp8_e4m3fn " + ("channel" if channel else "tensor")))
    shutil.rmtree("out")
    run("quant", "model", "nvfp4", "--layout", "modelopt", "--type", "*self_attn*=nvfp4", "-o", "out", "--force", "-q", *KEEP)
    judge_one("two types of one algorithm", chosen(tensors, lambda name: "nvfp4"))
    run("quant", "model", "mxfp8_e4m3", "--layout", "modelopt", "-o", "out", "--force", "-q", "--keep", "*embed*,lm_head*,*norm*,*down*")
    judge_one("one type", chosen(tensors, lambda name: "down" not in name and "mxfp8_e4m3"))
    run("quant", "model", "fp8_e4m3fn", "--per", "channel", "--layout", "modelopt", "-o", "out", "--force", "-q", *KEEP)
    judge_one("one type by channels", chosen(tensors, lambda name: "fp8_e4m3fn channel"))
    run("quant", "model", "mxfp8_e4m3", "-o", "other", "--force", "-q", *KEEP)
    run("transcode", "other", "--to", "modelopt", "-o", "out", "--force", "-q")
    judge_one("one type, translated", chosen(tensors, lambda name: "mxfp8_e4m3"))
    shutil.rmtree("other")
    TALLY.part("types")


def by_plans():
    tensors = model()
    menu = ["fp8_e4m3fn", "nvfp4", "mxfp8_e4m3", None]
    for turn in range(2 if QUICK else 6):
        groups = {}
        formats = chosen(tensors, lambda name: groups.setdefault(
            name.rpartition(".")[0].rpartition(".")[0] if "o_proj" not in name and "down" not in name else name,
            menu[RANDOM.integers(0, 4)] if turn else menu[len(groups) % 4]))
        if len(set(formats.values())) < 2:
            continue
        with open("plan.json", "w") as file:
            json.dump({"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "layout": "modelopt", "per": "tensor",
                       "tensors": [{"name": name, "format": one} for name, one in formats.items()]}, file)
        run("quant", "model", "--plan", "plan.json", "-o", "out", "--force", "-q")
        judge("plan %d" % turn, {name: one + (" tensor" if one == "fp8_e4m3fn" else "") for name, one in formats.items()})
        run("verify", "model", "out", "--recipe", "plan.json")
        shutil.rmtree("parts", ignore_errors=True)
        for words in (["--part", "1/2"], ["--part", "2/2"], ["--finish"]):
            run("quant", "model", "--plan", "plan.json", "-o", "parts", "-q", *words)
        for name in ("config.json", "hf_quant_config.json"):
            with open("parts/" + name) as one, open("out/" + name) as other:
                TALLY.check("plan %d: %s of a divided run" % (turn, name), one.read(), other.read())
    TALLY.part("plans")


def translated():
    """With scales of activations, to compressed-tensors and back: the same algorithms, which vLLM all has."""
    model()
    run("quant", "model", "nvfp4", "--layout", "modelopt", "--type", "*self_attn*=fp8_e4m3fn,*down*=mxfp8_e4m3", "-o", "out",
        "--force", "-q", *KEEP)
    with open("out/config.json") as file:
        config = json.load(file)
    block, parts = config["quantization_config"], read_file("out/model.safetensors")
    for module, told in block["quantized_layers"].items():
        told["quant_algo"] = told["quant_algo"].replace("W4A16_", "")
        if told["quant_algo"] != "MXFP8":
            parts[module + ".input_scale"] = ("F32", (), RANDOM.random(1).astype(F32).tobytes())
    write_file("out/model.safetensors", parts)
    os.remove("out/hf_quant_config.json")
    with open("out/config.json", "w") as file:
        json.dump(config, file)
    run("transcode", "out", "--to", "compressed-tensors", "-o", "other", "-q")
    run("transcode", "other", "--to", "modelopt", "-o", "again", "-q")
    with open("again/config.json") as file:
        told = json.load(file)["quantization_config"]
    TALLY.check("algorithms of a translated model", (told["quant_algo"], told["quantized_layers"]),
                ("MIXED_PRECISION", block["quantized_layers"]))
    again = read_file("again/model.safetensors")
    for stem in block["quantized_layers"]:
        algorithm = algorithm_of(told["quantized_layers"], stem)
        there = {name[len(stem) + 1:]: part for name, part in again.items() if name.startswith(stem + ".")}
        wanted = PARTS[algorithm.replace("NVFP4", "W4A16_NVFP4")](*read_file("model/model.safetensors")[stem + ".weight"][1])
        if algorithm != "MXFP8":
            wanted["input_scale"] = ("F32", ())
        TALLY.check("translated parts of " + stem, {name: (part[0], tuple(part[1])) for name, part in there.items()}, wanted)
        for name, part in there.items():
            want = parts[stem + "." + name][2]
            if name == "input_scale" and algorithm == "NVFP4":  # compressed-tensors stores 1 / scale in fp32
                want = (F32(1) / (F32(1) / np.frombuffer(want, F32))).tobytes()
            TALLY.check("translated %s.%s" % (stem, name), part[2] == want, True)
    TALLY.check("translated: check --quantized", json.loads(run("check", "again", "--quantized", "--json"))["ok"], True)
    TALLY.part("translations")


# The parameters that vLLM makes for a matrix, with their dimensions, by algorithm, in two states of its modelopt.py: 00155cde,
# which knows three of them in a mixture, and that of #54367. All others stay without quantization: they have a weight alone.
KNOWN = {"FP8": {"weight": 2, "weight_scale": 0, "input_scale": 0}, "W4A16_NVFP4": {"weight": 2, "weight_scale": 2, "weight_scale_2": 0},
         "NVFP4": {"weight": 2, "weight_scale": 2, "weight_scale_2": 0, "input_scale": 0}}
NEWER = {**KNOWN, "MXFP8": {"weight": 2, "weight_scale": 2}, "FP8_PB_WO": {"weight": 2, "weight_scale": 4}}
MORE_PARTS = {"FP8_PB_WO": lambda r, c: {"weight": ("F8_E4M3", (r, c)), "weight_scale": ("F32", (r // 128, c // 128))},
              "NVFP4": PARTS["W4A16_NVFP4"]}


def vllm_does(known, algorithm, there):
    """Loading stops at a tensor without a parameter of its dimensions; a parameter without a tensor keeps what is in memory."""
    wanted = known.get(algorithm, {"weight": 2})
    return "refuses" if there.items() - wanted.items() else "misreads" if wanted.items() - there.items() else "loads"


def vllm_is_said_to(folder):
    words = [PROGRAM, "check", folder, "--loader", "vllm", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["files"][0]["assertions"][0]["failures"]


def mixtures():
    """check --loader vllm, with each algorithm next to FP8, with scales of activations and without."""
    config = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "ignore": [], "kv_cache_scheme": None}
    for algorithm in ("FP8", "NVFP4", "nvfp4", "W4A16_NVFP4", "FP8_PER_CHANNEL_PER_TOKEN", "MXFP8", "FP8_PB_WO"):
        for inputs in (False, True):
            shutil.rmtree("mixture", ignore_errors=True)
            os.mkdir("mixture")
            layers, tensors = {"a.up_proj": {"quant_algo": "FP8"}, "a.down_proj": {"quant_algo": algorithm}}, {}
            for module, one in layers.items():
                word = one["quant_algo"].upper()
                parts = dict((MORE_PARTS.get(word) or PARTS[word])(256, 128))
                if inputs or module == "a.up_proj":
                    parts["input_scale"] = ("F32", ())
                for name, (dtype, shape) in parts.items():
                    size = int(np.prod(shape)) * (4 if dtype == "F32" else 1)
                    tensors[module + "." + name] = (dtype, shape, (b"\0\0\x80\x3f" * size)[:size])
            write_file("mixture/model.safetensors", tensors)
            with open("mixture/config.json", "w") as file:
                json.dump({**CONFIG, "quantization_config": {**config, "quantized_layers": layers}}, file)
            if inputs and "input_scale" not in NEWER.get(algorithm.upper(), {"input_scale"}):
                continue  # a scale that no algorithm has: nothing is said of it
            there = {name.rpartition(".")[2]: len(part[1]) for name, part in tensors.items() if name.startswith("a.down")}
            does = {vllm_does(known, algorithm.upper(), there) for known in (KNOWN, NEWER)}
            found = {fail["tensor"]: fail["effect"] for fail in vllm_is_said_to("mixture")}
            TALLY.check("%s in a mixture, inputs %s" % (algorithm, inputs), found,
                        {} if does == {"loads"} else
                        {"a.down_proj.weight": {"refuses": "refuse", "misreads": "misread"}[does.pop()] if len(does) == 1 else "unknown"})
    TALLY.part("mixtures in vLLM")


def odd():
    """Without an algorithm or a module there is no configuration, and a warning says so; names are quoted."""
    model()
    def warned(what, word, *words):
        shutil.rmtree("out", ignore_errors=True)
        report = json.loads(run("quant", "model", "nvfp4", "--layout", "modelopt", "-o", "out", "--force", "--json", *KEEP, *words))
        with open("out/config.json") as file:
            block = "quantization_config" in json.load(file)
        TALLY.check(what, ([word in note["message"] for note in report["warnings"]], block,
                           os.path.exists("out/hf_quant_config.json")), ([True], False, False))
    warned("a dtype that no loader knows", "one of these dtypes", "--type", "*down*=mxfp4,*up*=fp8_e4m3fn")
    model([("model.layers.0.mlp.experts.down_proj", (2, HIDDEN, HIDDEN))])
    warned("a stack of experts", "no module", "--type", "*up*=mxfp8_e4m3")
    report = json.loads(run("quant", "model", "nvfp4", "--layout", "modelopt", "-o", "out", "--force", "--json", "--keep",
                            "*embed*,lm_head*,*norm*,*experts*", "--type", "*up*=fp8_e4m3fn"))
    TALLY.check("fp8 without scales of activations", ([note["code"] for note in report["warnings"]], os.path.exists("out/hf_quant_config.json")),
                (["no_input_scales"], True))
    name = 'a "b"\\ \u00e9.weight'
    made = model([(name, (HIDDEN, HIDDEN))])
    run("quant", "model", "nvfp4", "--layout", "modelopt", "--type", "*a *=mxfp8_e4m3", "-o", "out", "--force", "-q", *KEEP)
    judge("a name of signs", chosen(made, lambda one: "mxfp8_e4m3" if one == name else "nvfp4"))
    TALLY.part("what has no configuration")


with tempfile.TemporaryDirectory(prefix="dtinfo-mixed-") as place:
    os.chdir(place)
    by_types()
    by_plans()
    translated()
    mixtures()
    odd()
    os.chdir("/")
TALLY.finish()
