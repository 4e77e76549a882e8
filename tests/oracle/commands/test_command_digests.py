#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`inspect --digest` and `check --digest` against hashlib and sha256sum: digests of files of many sizes and of all
files of a checkpoint, digest lists in all forms, and lists that are broken or lack a file.

usage: test_command_digests.py DTINFO
"""
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SHA256SUM = shutil.which("sha256sum")
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:400] for detail in details))


def run(*words, stdin=None, program=PROGRAM):
    return subprocess.run([program, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)


def sha(name):
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def tensors(name, names, rng):
    """A safetensors file of U8 tensors."""
    header = {tensor: {"dtype": "U8", "shape": [100], "data_offsets": [100 * i, 100 * i + 100]}
              for i, tensor in enumerate(names)}
    text = json.dumps(header).encode()
    write(name, struct.pack("<Q", len(text)) + text + rng.randbytes(100 * len(names)))


def files_of_any_size(rng):
    """Sizes around SHA-256 block boundaries and read-chunk boundaries."""
    for size in (1, 55, 56, 57, 63, 64, 65, 119, 128, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3333333):
        write("data", rng.randbytes(size))
        done = run("inspect", "data", "--from", "uint8", "--digest")
        require(done.stdout.decode() == f"{sha('data')}  data\n", size, done.stdout, done.stderr)
        for text, code in ((sha("data"), 0), (sha("data").upper(), 0), (sha("data")[::-1], 1)):
            done = run("check", "data", "--from", "uint8", "--digest", "sha256:" + text)
            require(done.returncode == code, size, done.stdout, done.stderr)
            require(code == 0 or f"is sha256:{sha('data')}".encode() in done.stdout, done.stdout)


def every_byte_counts(rng):
    tensors("one.safetensors", ["a"], rng)
    with open("one.safetensors", "rb") as file:
        data = file.read()
    wanted = "sha256:" + sha("one.safetensors")
    for at in range(data.index(b"}}") + 2, len(data)):
        write("one.safetensors", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        require(run("check", "one.safetensors", "--digest", wanted).returncode == 1, "byte", at)
    write("one.safetensors", data)
    require(run("check", "one.safetensors", "--valid", "--digest", wanted).returncode == 0, "as it was")


def checkpoint(folder, rng):
    os.mkdir(folder)
    names = [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    for i, name in enumerate(names):
        tensors(f"{folder}/{name}", [f"{i}.a", f"{i}.b"], rng)
    weights = {f"{i}.{tensor}": name for i, name in enumerate(names) for tensor in "ab"}
    write(f"{folder}/model.safetensors.index.json",
          json.dumps({"metadata": {"total_size": 600}, "weight_map": weights}))
    return names + ["model.safetensors.index.json"]


def all_files_of_a_checkpoint(rng):
    names = checkpoint("model", rng)
    wanted = "".join(f"{sha('model/' + name)}  model/{name}\n" for name in names)
    for operand in ("model", "model/model.safetensors.index.json"):
        done = run("inspect", operand, "--digest")
        require(done.stdout.decode() == wanted, operand, done.stdout, done.stderr)
    file = json.loads(run("inspect", "model", "--digest", "--json").stdout)["files"][0]
    require([shard["digest"] for shard in file["shards"]] + [file["index_digest"]] ==
            ["sha256:" + sha("model/" + name) for name in names], file["shards"])
    write("model.sha256", wanted)
    require(run("check", "model", "--digest", "model.sha256").returncode == 0, "a list beside the folder")
    write("model/SHA256SUMS", wanted.replace("model/", ""))
    here = os.getcwd()
    os.chdir("/")
    for words in ((f"{here}/model", f"{here}/model/SHA256SUMS"), (f"{here}/./model/../model", f"{here}/model.sha256")):
        done = run("check", words[0], "--digest", words[1])
        require(done.returncode == 0 and b"4 files" in done.stdout, words, done.stdout, done.stderr)
    os.chdir(here)
    for name in names:
        rest = "".join(line for line in wanted.splitlines(True) if name not in line)
        write("model.sha256", rest)
        done = run("check", "model", "--digest", "model.sha256", "--valid")
        require(done.returncode == 3 and name.encode() in done.stderr and b"not in the list" in done.stderr,
                name, done.stderr)
        write("model.sha256", rest + f"{sha('model.sha256')}  model/{name}\n")
        done = run("check", "model", "--digest", "model.sha256")
        require(done.returncode == 1 and sha("model/" + name).encode() in done.stdout and
                name.encode() in done.stdout, name, done.stdout)
    done = run("check", "model", "--digest", "sha256:" + sha("model/" + names[0]))
    require(done.returncode == 2 and b"4 files" in done.stderr, done.stderr)


def names_of_all_kinds(rng):
    for name in ("plain", "with space", " * star", "back\\slash", "new\nline", "both\\n\n", "\\", "caf\u00e9"):
        write(name, rng.randbytes(99))
        done = run("inspect", "--from", "uint8", "--digest", "--", name)
        require(done.returncode == 0 and done.stdout.count(b"\n") == 1, name, done.stdout, done.stderr)
        marked = "\\" if "\\" in name or "\n" in name else ""
        escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
        require(done.stdout.decode() == f"{marked}{sha(name)}  {escaped}\n", name, done.stdout)
        forms = [done.stdout, f"{marked}{sha(name).upper()} *{escaped}".encode(),
                 f"# a comment\n\n{marked}SHA256 ({escaped}) = {sha(name)}\r\n".encode()]
        if SHA256SUM:
            write("list", done.stdout)
            require(run("--check", "list", program=SHA256SUM).returncode == 0, "sha256sum", name)
            forms += [run(*words, "--", name, program=SHA256SUM).stdout for words in ((), ("-b",), ("--tag",))]
        for form in forms:
            write("list", form)
            done = run("check", "--from", "uint8", "--digest", "list", "--", name)
            require(done.returncode == 0, name, form, done.stdout, done.stderr)
            with open("list") as stream, open(name, "rb") as data:
                require(run("check", "--from", "uint8", "--digest", "-", "--", name, stdin=stream).returncode == 0,
                        "the list from standard input")
                require(run("check", "--from", "uint8", "--digest", "list", "-", stdin=data).returncode == 0,
                        "the file from standard input")
    write("esc\x1b[2J", rng.randbytes(9))
    done = run("inspect", "--from", "uint8", "--digest", "esc\x1b[2J")
    require(b"\x1b" not in done.stdout and b"\\x1b[2J" in done.stdout, done.stdout)


def broken_lists(rng):
    write("data", rng.randbytes(9))
    good, other = sha("data"), hashlib.sha256(b"").hexdigest()
    for text in (good, good + " data", good + "  ", good[:-1] + "  data", good + "0  data", "z" + good[1:] + "  data",
                 f"MD5 (data) = {good[:32]}", f"SHA256 (data) = {good}0", f"SHA256 (data)= {good}", f"SHA256 () = {good}",
                 f"\\{good}  da\\ta", f"\\{good}  data\\", f"{good}  data\0x", "data", f" {good}  data"):
        write("list", f"{other}  elsewhere\n{text}\n")
        done = run("check", "data", "--from", "uint8", "--digest", "list")
        require(done.returncode == 3 and b"'list', line 2: " in done.stderr, text, done.stdout, done.stderr)
    write("list", f"{good}  data\n{other}  ./data\n")
    done = run("check", "data", "--from", "uint8", "--digest", "list")
    require(done.returncode == 3 and b"two different digests" in done.stderr, done.stderr)
    write("list", f"{good}  data\n{good}  ./data\n")
    require(run("check", "data", "--from", "uint8", "--digest", "list").returncode == 0, "said twice")
    write("list", b"")
    require(run("check", "data", "--from", "uint8", "--digest", "list").returncode == 3, "an empty list")
    for text, word in (("md5:" + good[:32], b"algorithm"), ("sha512:" + good * 2, b"algorithm"), (good, b"sha256:"),
                       ("sha256:" + good[1:], b"63 digits"), ("sha256:", b"0 digits")):
        done = run("check", "data", "--from", "uint8", "--digest", text)
        require(done.returncode == 2 and word in done.stderr, text, done.stderr)
    require(run("check", "data", "--from", "uint8", "--digest", "SHA256:" + good).returncode == 0, "upper case")
    require(run("check", "data", "--from", "uint8", "--digest", "no-such-list").returncode == 3, "no list")


def many_entries_take_no_square(rng):
    """100,000 lines, each naming a file, must not take quadratic time."""
    write("data", rng.randbytes(9))
    write("list", f"{sha('data')}  data\n" * 100000)
    require(run("check", "data", "--from", "uint8", "--digest", "list").returncode == 0, "a long list")


def main():
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for test in (files_of_any_size, every_byte_counts, all_files_of_a_checkpoint, names_of_all_kinds,
                         broken_lists, many_entries_take_no_square):
                test(rng)
        finally:
            os.chdir("/")
    print(f"{checks} checks passed")


if __name__ == "__main__":
    main()
