#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which group of a configuration a module belongs to, according to the projects that define the configurations: random
targets, ignore lists and names, resolved by compressed-tensors' own functions (match_named_modules, match_targets), by
transformers' should_convert_module and by GPTQModel's dynamic_get, run from its source.

usage: test_config_rules.py CONFIG_PROBE [--long]
"""
import ast
import collections
import copy
import json
import logging
import os
import random
import re
import struct
import subprocess
import sys
import warnings

from harness import Tally, have

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
PROBE, LONG = sys.argv[1], "--long" in sys.argv
COUNT = 20000 if LONG else 1500
TALLY = Tally()
random.seed(18)

PARTS = {"model": ["layers", "embed_tokens", "norm"], "layers": ["0", "1", "10"], "0": ["self_attn", "mlp"],
         "self_attn": ["q_proj", "k_proj", "o_proj"], "mlp": ["gate", "up_proj", "down_proj", "experts"], "experts": ["0x", "1x"]}


def paths(part="", depth=5):
    """Names of modules, and whether they have submodules."""
    name = part.rsplit(".", 1)[-1] or "model"
    more = PARTS.get("0" if name.isdigit() else name, ["w1", "w2"] if name.endswith("x") else [])
    if not more or depth == 0:
        return [(part, False)]
    found = [(part, True)] if part else []
    for other in random.sample(more, random.randint(1, len(more))):
        found += paths(part + "." + other if part else other, depth - 1)
    return found


def pattern(names):
    """A regular expression built from one name or matching many."""
    name = random.choice(names)
    kind = random.random()
    if kind < 0.25:
        return ".*" + re.escape(name.rsplit(".", 1)[-1]) + random.choice(["", "$", ".*"])
    if kind < 0.4:
        return re.sub(r"\d+", lambda _: r"\d+", name.replace(".", r"\."))
    if kind < 0.5:
        return name[:random.randint(1, len(name))]
    if kind < 0.6:
        return name[random.randint(0, len(name) - 1):]
    if kind < 0.7:
        return ".*(" + "|".join(other.rsplit(".", 1)[-1] for other in random.sample(names, min(2, len(names)))) + ")" + random.choice(["", "$"])
    if kind < 0.8:
        return "^" + re.escape(name) + random.choice(["", "$"])
    return random.choice([".*", "model", "layers", r".*\.mlp\..*", r"model\.layers\.[0-9]\..*", ".*self_attn", "(?:model|other).*proj$",
                          r"re:x", "", "lm_head", r".*layers\.1\.", "[a-m].*"])


def ask(requests):
    data = b""
    for config, names in requests:
        text = json.dumps(config).encode()
        data += struct.pack("<I", len(text)) + text + struct.pack("<H", len(names))
        data += b"".join(struct.pack("<H", len(name)) + name.encode() for name in names)
    done = subprocess.run([PROBE], input=data, stdout=subprocess.PIPE, check=True)
    lines = iter(done.stdout.decode().splitlines())
    answers = []
    for _, names in requests:
        first = next(lines)
        answers.append([first] if first.startswith("E") else [first] + [next(lines) for _ in names[1:]])
    return answers


def compressed_tensors():
    torch = have("torch")
    if not (torch and have("compressed_tensors")):
        return TALLY.skip("compressed-tensors is not there")
    from compressed_tensors.utils.match import is_match, match_named_modules, match_targets
    leaves = {"Linear": torch.nn.Linear(1, 1), "Embedding": torch.nn.Embedding(1, 1), "LayerNorm": torch.nn.LayerNorm(1)}

    def model_of(modules):
        """A model in which every module has its class."""
        root = torch.nn.Module()
        for name, class_name in modules.items():
            at = root
            for part in name.split(".")[:-1]:
                if part not in dict(at.named_children()):
                    at.add_module(part, torch.nn.Module())
                at = getattr(at, part)
            at.add_module(name.rsplit(".", 1)[-1], copy.copy(leaves[class_name]))
        return root

    requests, wanted = [], []
    for _ in range(COUNT):
        names = [name for name, inner in paths() if not inner] + ["lm_head"] * random.randint(0, 1)
        modules = {name: random.choice(["Linear", "Linear", "Linear", "Embedding", "LayerNorm"]) for name in names}

        def entry():
            kind = random.random()
            return (random.choice(names) if kind < 0.35 else "re:" + pattern(names) if kind < 0.8 else
                    random.choice(["Linear", "Linear", "Embedding"]) if kind < 0.9 else random.choice(names).rsplit(".", 1)[0])
        groups = [[entry() for _ in range(random.randint(1, 3))] for _ in range(random.randint(1, 3))]
        ignore = [entry() for _ in range(random.randint(0, 2))]
        ignore = [one for one in ignore if one not in leaves]    # classes are not known from names
        target_to_scheme = collections.OrderedDict()
        for index, targets in enumerate(groups):
            for target in targets:
                target_to_scheme[target] = 16 * (index + 1)
        model = model_of(modules)
        matched = dict(match_named_modules(model, target_to_scheme, ignore))
        schemes = {}
        for name, module in model.named_modules():
            if name in modules:
                targets = match_targets(name, module, target_to_scheme) if name in matched else []
                ignored = is_match(name, module, ignore) if ignore else False
                schemes[name] = ignored, (targets[0], target_to_scheme[targets[0]]) if targets else None
        config = {"quantization_config": {
            "quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ignore,
            "config_groups": {"group_%d" % i: {"targets": targets, "weights": {"num_bits": 4, "group_size": 16 * (i + 1)}}
                              for i, targets in enumerate(groups)}}}
        requests.append((config, names))
        wanted.append((modules, schemes, target_to_scheme))
    for (config, names), (modules, schemes, target_to_scheme), answers in zip(requests, wanted, ask(requests)):
        block = config["quantization_config"]
        for name, answer in zip(names, answers):
            ignored, scheme = schemes[name]
            what = "compressed-tensors, %s (%s) by %s, ignoring %s" % (
                name, modules[name], [g["targets"] for g in block["config_groups"].values()], block["ignore"])
            words = answer.split()
            lengths = [int(word) for word in words[3:] if word != "by"]
            others = [length for target, length in target_to_scheme.items() if target in leaves]
            if ignored:
                TALLY.check(what, answer, "I")
            elif scheme and scheme[0] not in leaves:    # matched by name: vLLM's first group may be another
                TALLY.check(what, (words[0], lengths[-1:]), ("Q", [scheme[1]]))
            elif scheme:
                TALLY.check(what, (words[0], scheme[1] in lengths), ("Q", True))
            elif others:    # a group targets modules of another class
                TALLY.check(what, (words[0], sorted(set(lengths)), words[-1] == "by"), ("Q", sorted(set(others)), False))
            else:
                TALLY.check(what, answer, "N")


def should_convert():
    if not have("transformers"):
        return TALLY.skip("transformers is not there")
    from transformers.quantizers.quantizers_utils import should_convert_module
    requests, wanted = [], []
    for number in range(COUNT):
        names = [name for name, _ in paths()] + ["lm_head"]
        patterns = [random.choice([random.choice(names), random.choice(names).rsplit(".", 1)[-1], pattern(names).replace("re:", "")]) or "x"
                    for _ in range(random.randint(1, 3))]
        method = ["awq", "mxfp4"][number % 2]
        requests.append(({"quantization_config": {"quant_method": method, "bits": 4, "modules_to_not_convert": patterns}}, names))
        wanted.append([should_convert_module(name, patterns) for name in names])
    for (config, names), converted, answers in zip(requests, wanted, ask(requests)):
        for name, right, answer in zip(names, converted, answers):
            TALLY.check("transformers, %s but for %s" % (name, config["quantization_config"]["modules_to_not_convert"]), answer[0],
                        "Q" if right else "I")


def original_dynamic_get():
    """From GPTQModel's source: the function and the module-level names it needs; nothing else of it is run."""
    path = next((p for p in (os.path.join(base, "gptqmodel/quantization/config.py") for base in sys.path) if os.path.exists(p)), None)
    if not path:
        return None
    with open(path) as file:
        tree = ast.parse(file.read())
    nodes = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            nodes[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                nodes[getattr(target, "id", "")] = node
    space = {"pcre": re, "log": logging.getLogger(), "__name__": "gptqmodel"}
    needed = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) and
              (node.module if isinstance(node, ast.ImportFrom) and not node.level else node.names[0].name if isinstance(node, ast.Import)
               else "").split(".")[0] in sys.stdlib_module_names]
    queue = ["dynamic_get"]
    while queue:
        name = queue.pop()
        node = nodes.get(name)
        if node is None or node in needed or name in space:
            continue
        needed.append(node)
        queue += [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    module = ast.Module(sorted(needed, key=lambda node: node.lineno), [])
    exec(compile(module, path, "exec"), space)
    return space["dynamic_get"]


def gptqmodel():
    dynamic_get = original_dynamic_get()
    if not dynamic_get:
        return TALLY.skip("GPTQModel's source is not on PYTHONPATH")
    requests, wanted = [], []
    for _ in range(COUNT):
        names = [name for name, _ in paths()] + ["lm_head"]
        dynamic = {}
        for _ in range(random.randint(1, 4)):
            key = random.choice(["-:", "+:", ""]) + pattern(names).replace("re:", "")
            dynamic[key] = {} if key.startswith("-:") else random.choice([{"bits": 8}, {"bits": 2, "group_size": 32}, {"group_size": 64}, {}])
        requests.append(({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": dynamic}}, names))
        wanted.append([dynamic_get(dynamic, name) for name in names])
    for (config, names), theirs, answers in zip(requests, wanted, ask(requests)):
        for name, override, answer in zip(names, theirs, answers):
            right = ["I"] if override is False else ["Q", str((override or {}).get("bits", 4)), str((override or {}).get("group_size", 128))]
            TALLY.check("GPTQModel, %s by %s" % (name, config["quantization_config"]["dynamic"]),
                        [word for word in answer.split() if word != "by"], right)


for judge in (compressed_tensors, should_convert, gptqmodel):
    judge()
    TALLY.part(judge.__name__)
sys.exit(TALLY.finish())
