#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Old GGUF files in a place where a new GGUF of the same name is written in another form: a single file, or a
different number of parts. Whatever name a program is given, it then loads the new weights or finds none; nothing else
is removed, and no input is."""
import json
import os
import re
import shutil
import sys

from checkpoint_casts import read, safetensors, write
from file_casts import folder, strace_works
from make_checkpoint import gguf, pack
from output_sets import each_kill, remove, strays
from survival import check, environment, main, require, require_one_line, run

SETTINGS = [("general.architecture", "string", "llama")]
NAMES = ["t.%d.weight" % i for i in range(6)]
WHOLE = "m.gguf"
PARTS = ["--max-shard-size", "700"]  # several parts, of 1 or 2 tensors
COMMANDS = [["cast", "in.gguf", "fp32"], ["cast", "in.gguf", "bf16"], ["quant", "in.gguf", "q8_0"],
            ["quant", "blocks.gguf", "fp32", "--dequant"], ["cast", "in.safetensors", "fp16", "--template", "in.gguf"],
            ["quant", "in.safetensors", "q4_0", "--template", "in.gguf"]]


def part_name(no, count, stem="m"):
    return "%s-%05d-of-%05d.gguf" % (stem, no, count)


def set_of(count, stem="m"):
    return [part_name(no, count, stem) for no in range(1, count + 1)]


def numbers(of):
    return [(name, [4, 64], pack("F32", [of + i] * 256)) for i, name in enumerate(NAMES)]


def write_inputs():
    write("in.gguf", gguf(SETTINGS, [(name, "F32", shape, data) for name, shape, data in numbers(1.5)]))
    write("in.safetensors", safetensors([(name, "F32", shape, data) for name, shape, data in numbers(1.5)]))
    require(run(["quant", "in.gguf", "q8_0", "-o", "blocks.gguf", "-q"]).code == 0, "blocks.gguf")


def write_old(*names):
    """Writes files with numbers that no input has; a file named as a part also gets the split keys."""
    os.makedirs("out", exist_ok=True)
    for name in names:
        split = re.search(r"-(\d{5})-of-(\d{5})\.gguf$", name)
        said = [("split.no", "uint16", int(split[1]) - 1), ("split.count", "uint16", int(split[2])),
                ("split.tensors.count", "int32", int(split[2]))] if split else []
        first = not split or int(split[1]) == 1
        tensors = [("old.%s" % name, "F32", [64], pack("F32", [-7.0] * 64))]
        write("out/" + name, gguf((SETTINGS if first else []) + said, tensors))


OLD = {"one file": [WHOLE], "two parts": set_of(2), "seven parts": set_of(7), "one part of one": set_of(1),
       "all of them": [WHOLE] + set_of(2) + set_of(7), "parts without the first": set_of(9)[3:], "many parts": set_of(300)}


def bytes_in(path):
    return {name: read(os.path.join(path, name)) for name in os.listdir(path)}


@check
def every_old_form_is_replaced_by_every_new_one_with_force_alone():
    walked, counts = 0, set()
    with folder():
        write_inputs()
        for words in COMMANDS:
            for more in ([], PARTS):
                remove("wanted")
                os.mkdir("wanted")
                require(run(words + more + ["-o", "wanted/" + WHOLE, "-q"]).code == 0, "one run", words)
                wanted = bytes_in("wanted")
                counts.add(len(wanted))
                require(set(wanted) in ({WHOLE}, set(set_of(len(wanted)))), "new files", set(wanted))
                for old, names in OLD.items():
                    remove("out")
                    write_old(*names)
                    before = bytes_in("out")
                    new = words + more + ["-o", "out/" + WHOLE]
                    for dry in ([], ["--dry-run"]):
                        line = require_one_line(run(new + ["-q"] + dry), 4)
                        require("--force" in line and any("'out/%s'" % name in line for name in before), "not named", line)
                        require(bytes_in("out") == before, "changed")
                    said = run(new + ["--dry-run", "--force", "--json"])
                    replaced = [entry["path"] for entry in json.loads(said.stdout)["output"]["replaced"]]
                    told = run(new + ["--dry-run", "--force"], env=environment(COLUMNS="100000")).stdout
                    require(bytes_in("out") == before, "a dry run changed")
                    done = run(new + ["--force", "-q"])
                    require(done.code == 0, "with --force", words, more, old, done.stderr)
                    require(bytes_in("out") == wanted, "other files", words, more, old, os.listdir("out"))
                    gone = {"out/" + name for name in before if name not in wanted}
                    require(set(replaced) == gone and len(replaced) == len(gone), "--dry-run lists", replaced, gone)
                    require(all(name.encode() in told for name in gone), "--dry-run says", told)
                    require(run(["check", "out/" + min(wanted)]).code == 0, "check")
                    walked += 1
    require(len(counts) > 2, "one count of parts alone", counts)
    print("        %d cases, files written: %s" % (walked, sorted(counts)))


# not parts of m.gguf, by their names
OTHERS = [part_name(3, 2), part_name(0, 2), part_name(1, 2, "mm"), part_name(1, 2, "m-x"), part_name(1, 2, ""), part_name(1, 2, "M"),
          part_name(1, 2, ".m"), part_name(1, 2) + ".bak", "m-1-of-2.gguf", "m-000001-of-000002.gguf", "m-00001-of-70000.gguf",
          "m-00001-of-00002.GGUF", "m-00001_of-00002.gguf", "m-0000x-of-00002.gguf", "m-00001-of-00002.safetensors", "m.gguf.bak",
          "m", "n.gguf", "m.safetensors", part_name(1, 2, part_name(1, 2)[:-5]), "m-+0001-of-00002.gguf"]


@check
def other_names_folders_and_pipes_stay():
    with folder():
        write_inputs()
        for more in ([], PARTS):
            remove("out")
            os.makedirs("out/sub")
            for name in OTHERS + ["sub/" + WHOLE, "sub/" + part_name(1, 2)]:
                write("out/" + name, b"mine")
            os.mkdir("out/" + part_name(1, 8))
            write("out/%s/mine" % part_name(1, 8), b"mine")
            os.mkfifo("out/" + part_name(2, 8))
            there = set(os.listdir("out"))
            for force in ([], ["--force"]):
                done = run(["cast", "in.gguf", "bf16", "-o", "out/" + WHOLE, "-q"] + more + force)
                require(done.code == 0, "refused", more, force, done.stderr)
                require(there <= set(os.listdir("out")), "removed", there - set(os.listdir("out")))
                require(all(read("out/" + name) == b"mine" for name in OTHERS), "changed")
                require(os.listdir("out/sub") and os.listdir("out/" + part_name(1, 8)), "removed inside")


@check
def of_links_the_link_alone_goes_and_never_a_new_file():
    with folder():
        write_inputs()
        write_old(*set_of(3))
        os.rename("out", "store")
        os.mkdir("out")
        for name in set_of(3):
            os.symlink("../store/" + name, "out/" + name)
        os.symlink("nowhere", "out/" + part_name(1, 4))
        before = bytes_in("store")
        require(run(["cast", "in.gguf", "bf16", "-o", "out/" + WHOLE, "-q"]).code == 4, "without --force")
        require(run(["cast", "in.gguf", "bf16", "-o", "out/" + WHOLE, "-q", "--force"]).code == 0, "links")
        require(os.listdir("out") == [WHOLE] and bytes_in("store") == before, "links stay", os.listdir("out"))
        # the new file goes where its name leads: to an old part
        remove("out")
        write_old(*set_of(3))
        os.symlink(part_name(2, 3), "out/" + WHOLE)
        require(run(["cast", "in.gguf", "bf16", "-o", "out/" + WHOLE, "-q", "--force"]).code == 0, "a link to a part")
        require(sorted(os.listdir("out")) == [part_name(2, 3), WHOLE], "a link to a part", os.listdir("out"))
        require(run(["compare", "in.gguf", "out/" + WHOLE]).code == 0, "the new file is gone")


def require_kept(words, input_names, others, more=(), code="input_kept"):
    """Input bytes never change; other old files are refused, or removed with --force; a warning names one of the
    inputs."""
    before = bytes_in("out")
    done = run(words + ["-o", "out/" + WHOLE, "-q", *more])
    require(done.code == (4 if others else 0), "without --force", words, done.code, done.stderr)
    require(not others or "'out/%s'" % others[0] in require_one_line(done, 4), "not named", done.stderr)
    for dry in (["--dry-run"], []):
        done = run(words + ["-o", "out/" + WHOLE, "--force", "--json", *more, *dry])
        require(done.code == 0, "with --force", words, done.stderr)
        document = json.loads(done.stdout)
        told = [w["message"] for w in document["warnings"] if w["code"] == code]
        require(len(told) == 1 and "'out/%s'" % min(input_names) in told[0] and "-o" in told[0], "warning", document["warnings"])
        require({f["path"] for f in document["output"]["replaced"]} == {"out/" + name for name in others}, "replaced", document)
    after = bytes_in("out")
    require(all(after[name] == before[name] for name in input_names), "the input is gone", words, sorted(after))
    require(not set(others) & set(after), "an old form stays", sorted(after))


@check
def what_is_read_stays_beside_the_new_files():
    with folder():
        write_inputs()
        for others in ([], set_of(4)):
            for read_as in (part_name(1, 3), part_name(3, 3)):
                for words in (["cast", "out/" + read_as, "bf16"], ["quant", "out/" + read_as, "q8_0"],
                              ["quant", "out/" + read_as, "fp16", "--dequant"],
                              ["cast", "in.safetensors", "bf16", "--template", "out/" + read_as],
                              ["quant", "in.safetensors", "q8_0", "--template", "out/" + read_as]):
                    remove("out")
                    source = "blocks.gguf" if "--dequant" in words else "in.gguf"
                    size = ["--max-shard-size", "1000" if "--dequant" in words else "3000"]
                    os.mkdir("out")
                    require(run(["cast", source, "fp32", "-o", "out/" + WHOLE, "-q"] + size).code == 0, "parts")
                    require(sorted(os.listdir("out")) == set_of(3), "parts", source, os.listdir("out"))
                    write_old(*others)
                    require_kept(words, set_of(3), others)
        for others in ([], set_of(4)):
            remove("out")
            write_old(*others)
            shutil.copy("in.gguf", "out/" + WHOLE)
            require_kept(["cast", "out/" + WHOLE, "bf16"], [WHOLE], others, PARTS)
        # under another name: a symlink to an input, and a hard link of it
        for link in (os.symlink, os.link):
            remove("out")
            write_old(*set_of(4))
            link(os.path.abspath("in.gguf"), "out/" + part_name(1, 2))
            require_kept(["cast", "in.gguf", "bf16"], [part_name(1, 2)], set_of(4))


def load(name):
    """What a program given this name loads: the bytes of all files, or None if some or all are missing."""
    split = re.search(r"-(\d{5})-of-(\d{5})\.gguf$", name)
    names = set_of(int(split[2])) if split else [name]
    if not all(os.path.exists("out/" + each) for each in names):
        return None
    return [read("out/" + each) for each in names]


@check
def a_kill_between_leaves_old_or_new_weights_under_every_name():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        write_inputs()
        for more, old in (([], set_of(7)), (PARTS, [WHOLE]), (PARTS, [WHOLE] + set_of(2)), ([], set_of(2) + set_of(3))):
            new = ["cast", "in.gguf", "fp32", "-o", "out/" + WHOLE, "-q", "--force"] + more
            remove("out")
            os.mkdir("out")
            require(run(new).code == 0, "one run")
            wanted = bytes_in("out")
            given = [WHOLE] + [part_name(1, count) for count in (2, 3, 7, len(wanted)) if count > 1]
            loaded = {name: load(name) for name in given}
            killed, before = 0, {}

            def make_old():
                remove("out", *strays())
                write_old(*old)
                before.update((name, load(name)) for name in given)
            for ended in each_kill(new, make_old):
                for name in given:
                    require(load(name) in (None, before[name], loaded[name]), "neither old nor new", more, old, killed, name)
                if ended:
                    killed += 1
                    require(run(new).code == 0, "run again")
                require(wanted.items() <= bytes_in("out").items() and not (set(old) - set(wanted)) & set(os.listdir("out")),
                        "not complete", os.listdir("out"))
            print("        %d files over %d: %d kills" % (len(wanted), len(old), killed))
            require(killed > len(old), "not killed", killed)


@check
def a_folder_that_may_not_be_listed_is_told():
    with folder() as path:
        write_inputs()
        write_old(*set_of(2))
        nobody = 65534 if os.geteuid() == 0 else os.geteuid()
        os.chmod(path, 0o755)
        os.chmod("in.gguf", 0o644)
        if nobody != os.geteuid():
            os.chown("out", nobody, nobody)
        os.chmod("out", 0o300)

        def become_nobody():
            if nobody != os.geteuid():
                os.setgroups([])
                os.setgid(nobody)
                os.setuid(nobody)
        try:
            done = run(["cast", "in.gguf", "bf16", "-o", "out/" + WHOLE, "--json"], prepare=become_nobody)
        except PermissionError:
            print("        skipped: others may not run the program")
            return
        finally:
            os.chmod("out", 0o700)
        require(done.code == 0, "not written", done.stderr)
        codes = [warning["code"] for warning in json.loads(done.stdout)["warnings"]]
        require(codes == ["folder_unlisted"] and b"out/m.gguf" in done.stderr, "not told", codes, done.stderr)


sys.exit(main())
