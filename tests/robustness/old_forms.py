#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An old model in a place where a new one is written in the other form: model.safetensors, or an index with shards.
Programs that look for either form first load only the new weights; only the old model's files are removed; a kill at
any rename or removal leaves, for each of these programs, the old weights or the new ones."""
import json
import os
import shutil
import sys

from checkpoint_casts import open_safetensors, read, safetensors, write
from file_casts import folder, strace_works
from make_checkpoint import pack
from output_sets import INDEX, each_kill, name_of, remove, strays
from survival import check, environment, main, require, require_one_line, run

SINGLE = "model.safetensors"
# commands that write the model "in" as bf16, in one form or the other
COMMANDS = [["cast", "in", "bf16"], ["quant", "in", "int8", "--per", "channel"], ["transcode", "in", "--to", "bf16"],
            ["quant", "in", "bf16", "--dequant"]]
FORMS = ["single", "shards"]


def tensors_of(number, names=("a.weight", "b.weight")):
    return [(name, "F32", [2, 64], pack("F32", [number + i] * 128)) for i, name in enumerate(names)]


def write_model(path, form, number, shards=2, config=b"{}\n"):
    """Every model has different numbers."""
    os.makedirs(path, exist_ok=True)
    tensors = tensors_of(number)
    if form == "single":
        write(os.path.join(path, SINGLE), safetensors(tensors))
    else:
        tensors += tensors_of(number + 2, ["c.%d" % i for i in range(shards - 2)])
        places = {tensor[0]: name_of(i, shards) for i, tensor in enumerate(tensors)}
        for i, tensor in enumerate(tensors):
            write(os.path.join(path, name_of(i, shards)), safetensors([tensor]))
        write(os.path.join(path, INDEX), json.dumps({"metadata": {}, "weight_map": places}).encode())
    write(os.path.join(path, "config.json"), config)


def write_quantized(form):
    """The input of --dequant and transcode: codes of "floats", as "in"."""
    write_model("floats", form, 1.5)
    require(run(["quant", "floats", "int8", "--per", "channel", "-o", "in", "-q"]).code == 0, "cannot quantize")


def prepare(words, form):
    remove("in", "floats")
    if words[0] == "transcode" or "--dequant" in words:
        write_quantized(form)
    else:
        write_model("in", form, 1.5)


def load(path, first):
    """The tensors loaded by a program that looks for `first` before the other form: transformers 4.57 and 5 try
    model.safetensors first (modeling_utils.py), programs that follow an index try the shards. None: it finds nothing
    complete."""
    there = os.listdir(path)
    entry = next((name for name in (first, SINGLE, INDEX) if name in there), None)
    if entry is None:
        return None
    if entry == SINGLE:
        names = [SINGLE]
    else:
        names = sorted(set(json.loads(read(os.path.join(path, INDEX)))["weight_map"].values()))
    loaded = {}
    for name in names:
        if not os.path.exists(os.path.join(path, name)):
            return "broken"
        loaded.update({tensor[0]: tensor for tensor in open_safetensors(read(os.path.join(path, name)))[1]})
    return loaded


def weights_there(path):
    return sorted(name for name in os.listdir(path) if name.endswith((".safetensors", ".index.json")))


def require_only(path, wanted, *what):
    """Each program loads what a single run into a new folder makes, and there are no other weights."""
    require(weights_there(path) == weights_there(wanted), "other files", weights_there(path), *what)
    for first in (SINGLE, INDEX):
        require(load(path, first) == load(wanted, first), "other weights for", first, *what)
    done = run(["check", path])
    require(done.code == 0 and done.stdout.startswith(b"ok"), "check", done.stdout, *what)


OLD = {  # the initial contents of the folder
    "single": lambda: write_model("out", "single", -7),
    "two shards": lambda: write_model("out", "shards", -7),
    "five shards": lambda: write_model("out", "shards", -7, 5),
    "both": lambda: (write_model("out", "single", -7), write_model("out", "shards", -9, 3)),
}


@check
def every_old_form_is_replaced_by_every_new_one_with_force_alone():
    walked = 0
    with folder():
        for words in COMMANDS:
            for form in FORMS:
                prepare(words, form)
                remove("wanted")
                require(run(words + ["-o", "wanted", "-q"]).code == 0, "one run", words)
                for old, make in OLD.items():
                    remove("out")
                    make()
                    os.unlink("out/config.json")  # its refusal would come first
                    before = {name: read("out/" + name) for name in os.listdir("out")}
                    for more in ([], ["--dry-run"]):
                        line = require_one_line(run(words + ["-o", "out", "-q"] + more), 4)
                        require("--force" in line and any(name in line for name in before), "not named", line)
                        require({name: read("out/" + name) for name in os.listdir("out")} == before, "changed")
                    said = run(words + ["-o", "out", "--dry-run", "--force", "--json"])
                    replaced = {entry["path"] for entry in json.loads(said.stdout)["output"]["replaced"]}
                    told = run(words + ["-o", "out", "--dry-run", "--force"], env=environment(COLUMNS="1000")).stdout
                    require({name: read("out/" + name) for name in os.listdir("out")} == before, "a dry run changed")
                    done = run(words + ["-o", "out", "--force", "-q"])
                    require(done.code == 0, "with --force", words, form, old, done.stderr)
                    require_only("out", "wanted", words, form, old)
                    gone = {"out/" + name for name in before if not os.path.exists("out/" + name)}
                    require(replaced == gone, "--dry-run lists", replaced, gone)
                    require(all(name.encode() in told for name in gone), "--dry-run says", told)
                    walked += 1
    print("        %d cases" % walked)


@check
def another_users_index_in_a_folder_open_to_all_names_nothing_to_remove():
    if os.geteuid() != 0:
        print("        skipped: not root")
        return
    with folder():
        write_model("in", "single", 1.5)
        for mode, owner, loses in ((0o1777, 65534, False), (0o1777, 0, True), (0o755, 65534, True)):
            remove("out")
            os.mkdir("out")
            write("out/mine.safetensors", b"not of this model")
            write("out/" + INDEX, json.dumps({"metadata": {}, "weight_map": {"a": "mine.safetensors"}}).encode())
            os.chown("out/" + INDEX, owner, owner)
            os.chmod("out", mode)
            done = run(["cast", "in", "bf16", "-o", "out/" + SINGLE, "-q", "--force"])
            require(done.code == 0 and os.path.exists("out/mine.safetensors") != loses, "the file it names", oct(mode), owner, done.stderr)
            require(not os.path.exists("out/" + INDEX), "its index", weights_there("out"))


@check
def one_file_in_another_models_folder_replaces_its_own_index_alone():
    with folder():
        write_model("in", "single", 1.5)
        for name, loses in ((SINGLE, True), ("other.safetensors", False), ("model.npz", False)):
            remove("out")
            write_model("out", "shards", -7, 3)
            done = run(["cast", "in", "bf16", "-o", "out/" + name, "-q"])
            require(done.code == (4 if loses else 0), "without --force", name, done.code, done.stderr)
            require(run(["cast", "in", "bf16", "-o", "out/" + name, "-q", "--force"]).code == 0, "with --force")
            require(os.path.exists("out/" + INDEX) != loses, "the index", name)
            require(os.path.exists("out/" + name_of(0, 3)) != loses, "shards", name)


HOSTILE = ["../mine.safetensors", "/mine.safetensors", "sub/mine.safetensors", "..", ".", "config.json", "sub",
           ".hidden.safetensors", "sub.safetensors", "tokenizer.json", "x\0y.safetensors", SINGLE, "..\\mine.safetensors"]


@check
def an_old_index_removes_nothing_but_its_shards_in_the_folder():
    with folder():
        write_model("in", "single", 1.5)
        for hostile in HOSTILE:
            remove("out", "mine.safetensors")
            write_model("out", "shards", -7)
            for name in ("mine.safetensors", "out/tokenizer.json", "out/.hidden.safetensors"):
                write(name, b"mine")
            os.mkdir("out/sub")
            os.mkdir("out/sub.safetensors")
            write("out/sub/mine.safetensors", b"mine")
            write("out/sub.safetensors/mine", b"mine")
            write("out/" + INDEX, json.dumps({"weight_map": {"a": name_of(0, 2), "b": hostile}}).encode())
            require(run(["cast", "in", "bf16", "-o", "out", "-q", "--force"]).code == 0, "with --force", hostile)
            for name in ("mine.safetensors", "out/tokenizer.json", "out/.hidden.safetensors",
                         "out/sub/mine.safetensors", "out/sub.safetensors/mine", "out/config.json", "out/" + SINGLE):
                require(os.path.exists(name), "removed", name, hostile)
            require(not os.path.exists("out/" + INDEX), "the index stays", hostile)
            require(len(open_safetensors(read("out/" + SINGLE))[1]) == 2, "the new file")


@check
def of_links_the_link_alone_goes_and_never_a_new_file():
    with folder():
        write_model("in", "single", 1.5)
        write_model("store", "shards", -7, 3)
        os.mkdir("out")
        for name in os.listdir("store"):
            os.symlink("../store/" + name, "out/" + name)
        before = {name: read("store/" + name) for name in os.listdir("store") if name != "config.json"}
        require(run(["cast", "in", "bf16", "-o", "out", "-q", "--force"]).code == 0, "links")
        require(weights_there("out") == [SINGLE], "links stay", weights_there("out"))
        require(all(read("store/" + name) == before[name] for name in before), "what links lead to is gone")
        # the new file goes where its name leads: to a file that the old index calls a shard
        remove("out")
        write_model("out", "shards", -7)
        os.symlink(name_of(0, 2), "out/" + SINGLE)
        require(run(["cast", "in", "bf16", "-o", "out", "-q", "--force"]).code == 0, "a link to a shard")
        require(len(open_safetensors(read("out/" + SINGLE))[1]) == 2, "the new file is gone")
        # only the unreadable index is removed; its shards stay
        remove("out")
        write_model("out", "shards", -7)
        write("out/" + INDEX, b"{")
        require(run(["cast", "in", "bf16", "-o", "out", "-q", "--force"]).code == 0, "a broken index")
        require(not os.path.exists("out/" + INDEX) and os.path.exists("out/" + name_of(0, 2)), "a broken index")


@check
def check_and_inspect_name_weights_that_the_index_does_not():
    cases = {SINGLE: "two_models", name_of(0, 3): "stray_shards", "consolidated.safetensors": None,
             "adapter_model.safetensors": None, "model-1-of-3.safetensors": None, "model.bin": None}
    with folder():
        for name, code in cases.items():
            remove("out")
            write_model("out", "shards", -7)
            shutil.copy("out/" + name_of(0, 2), "out/" + name)
            for words in (["inspect", "out"], ["inspect", "--stats", "out"]):
                done = run(words + ["--json"])
                codes = [note["code"] for note in json.loads(done.stdout)["files"][0]["notes"]]
                require(done.code == 0 and codes == ([code] if code else []), "inspect", name, codes)
            for words in (["check"], ["check", "--quantized"]):
                done = run(words + ["out"])
                require(done.code == (1 if code else 0), "check", words, name, done.stdout)
                require(not code or name.encode() in done.stdout, "not named", done.stdout)
            require(run(["check", "--no-nan", "out"]).code == 0, "another assertion", name)


@check
def a_kill_between_leaves_old_or_new_weights_for_every_program():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        for form, old in (("single", "five shards"), ("single", "both"), ("shards", "single")):
            prepare(COMMANDS[0], form)
            remove("wanted")
            require(run(COMMANDS[0] + ["-o", "wanted", "-q"]).code == 0, "one run")
            killed, before = 0, {}

            def make_old():
                remove("out", *strays())
                OLD[old]()
                before.update((first, load("out", first)) for first in (SINGLE, INDEX))
            for ended in each_kill(COMMANDS[0] + ["-o", "out", "-q", "--force"], make_old):
                for first in (SINGLE, INDEX):
                    require(load("out", first) in (before[first], load("wanted", first)), "neither old nor new",
                            form, old, killed, first, weights_there("out"))
                if not ended:
                    continue
                killed += 1
                if weights_there("out") != weights_there("wanted") and SINGLE in weights_there("out") and \
                        INDEX in weights_there("out"):
                    require(run(["check", "out"]).code == 1, "check finds nothing", weights_there("out"))
                require(run(COMMANDS[0] + ["-o", "out", "-q", "--force"]).code == 0, "run again")
                require(set(weights_there("wanted")) <= set(weights_there("out")), "run again")
                require(load("out", SINGLE) == load("out", INDEX) == load("wanted", SINGLE), "run again", form, old, killed)
            print("        %s over %s: %d kills" % (form, old, killed))
            require(killed > 2, "not killed", killed)


sys.exit(main())
