#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The number of requests that commands send for files behind URLs, and the bytes they fetch, per file format. The
limits are those of a reader that requests nothing twice.

    test_command_requests.py DTINFO
"""
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import range_server as srv
from range_server import check

PROGRAM = os.path.abspath(sys.argv[1])
KIB = 1024
DATA = 4 << 20  # data bytes per file, so that header requests are not the whole file


def safetensors(tensors):
    header, at = {}, 0
    for name, data in tensors.items():
        header[name] = {"dtype": "F32", "shape": [len(data) // 4], "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(tensors.values())


def gguf(data, name=b"a", part=None):
    """part: (its number, from 0; the number of parts)."""
    def text(word):
        return struct.pack("<Q", len(word)) + word

    pairs = [] if part and part[0] else [text(b"general.architecture") + struct.pack("<I", 8) + text(b"x")]
    if part:
        pairs += [text(b"split.no") + struct.pack("<IH", 2, part[0]), text(b"split.count") + struct.pack("<IH", 2, part[1]),
                  text(b"split.tensors.count") + struct.pack("<Ii", 5, part[1])]
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs)
    head += text(name) + struct.pack("<IQIQ", 1, len(data) // 4, 0, 0)
    return head + bytes(-len(head) % 32) + data


def make_files():
    """{name: bytes}; files whose library is not installed are left out."""
    data = b"\0\0\x80\x3f" * (DATA // 4)
    files = {"small.safetensors": safetensors({"a": data}),
             "wide.safetensors": safetensors({**{"t%05d" % i: b"\0\0\x80\x3f" for i in range(5000)}, "a": data}),
             "model.gguf": gguf(data)}
    files.update({"split-%05d-of-00003.gguf" % (no + 1): gguf(data, b"t%d" % no, (no, 3)) for no in range(3)})
    files["blob"] = files["small.safetensors"]
    parts = {"model-%d.safetensors" % i: {"t%d" % i: data} for i in range(3)}
    index = {"metadata": {}, "weight_map": {t: name for name, tensors in parts.items() for t in tensors}}
    files.update({name: safetensors(tensors) for name, tensors in parts.items()})
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    codes = b"\x01" * (DATA // 4)
    head = json.dumps({"q.weight": {"dtype": "I8", "shape": [512, len(codes) // 512], "data_offsets": [0, len(codes)]},
                       "q.weight_scale": {"dtype": "F32", "shape": [512, 1],
                                          "data_offsets": [len(codes), len(codes) + 2048]}}).encode()
    head += b" " * (-len(head) % 8)
    files["quantized.safetensors"] = struct.pack("<Q", len(head)) + head + codes + b"\0\0\x80\x3f" * 512
    try:
        import numpy
    except ImportError:
        return files
    array, out = numpy.frombuffer(data, "<f4"), io.BytesIO()
    numpy.save(out, array)
    files["array.npy"], out = out.getvalue(), io.BytesIO()
    numpy.savez(out, a=array, b=array, c=array)
    files["arrays.npz"] = out.getvalue()
    try:
        import onnx
        weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [0], b"", raw=True)
        del weight.dims[:]
        weight.dims.append(len(array))
        weight.ClearField("raw_data")
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", str(len(data)))):
            weight.external_data.add(key=key, value=value)
        graph = onnx.helper.make_graph([], "g", [], [], initializer=[weight])
        files["model.onnx"] = onnx.helper.make_model(graph).SerializeToString()
        files["weights.bin"] = data
    except ImportError:
        pass
    try:
        import torch
        out = io.BytesIO()
        torch.save({"a": torch.ones(DATA // 4), "b": torch.ones(DATA // 4)}, out)
        files["model.pt"] = out.getvalue()
    except ImportError:
        pass
    return files


COMMANDS = {"inspect": ["inspect", "ADDRESS"], "mem": ["mem", "ADDRESS"],
            "cast --dry-run": ["cast", "ADDRESS", "fp16", "--dry-run"], "check": ["check", "ADDRESS"],
            "inspect --stats": ["inspect", "ADDRESS", "--stats"], "cast": ["cast", "ADDRESS", "fp16", "-o", "OUT"]}
HEADERS = ("inspect", "mem", "cast --dry-run")
# Limits for a command that reads headers only, and for one that casts: `cast` also requests config.json.
MOST = {"small.safetensors": (1, 10), "blob": (1, 10), "wide.safetensors": (2, 12), "quantized.safetensors": (5, 10),
        "model.gguf": (1, 10), "model.safetensors.index.json": (5, 24), "array.npy": (1, 10), "arrays.npz": (4, 20),
        "model.onnx": (2, 12), "model.pt": (3, 16), **{"split-%05d-of-00003.gguf" % no: (3, 24) for no in (1, 2, 3)}}


class Bench:
    def __init__(self, folder):
        made = srv.make_certificate(pathlib.Path(folder))
        context, certificate = made if made else (None, None)
        self.folder, self.server = folder, srv.Server(context)
        self.environment = {**srv.environment(certificate), "HF_ENDPOINT": self.server.base()}

    def run(self, *words):
        """The run, and the requests it sent."""
        self.server.take()
        run = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, env=self.environment, text=True,
                             timeout=240, cwd=self.folder)
        return run, self.server.take()


def judge_counts(b, prefix, name, header, cast):
    """No byte is requested twice, and the first request of a file returns its size and 64 KiB."""
    cells = []
    for title, words in COMMANDS.items():
        if title == "cast" and name in ("arrays.npz", "array.npy"):
            words = words + ["--as", "npz"]
        out = "out%d" % srv.checks + ("/" if name.endswith("json") else ".npz" if "npz" in words else ".safetensors")
        run, asked = b.run(*({"ADDRESS": prefix + name, "OUT": out}.get(word, word) for word in words))
        ranges = [(r.path, r.first, r.sent) for r in asked]
        cells.append("%3d %6d" % (len(asked), sum(r.sent for r in asked) // KIB))
        check(run.returncode == 0 and asked, title, name, run.returncode, run.stderr.strip())
        first = [r.path for r in asked if r.first == 0]
        check(len(set(first)) == len(first), title, name, "asks again:", first)
        if title in HEADERS:
            check(len(asked) <= header, title, name, "sends", len(asked), "requests:", ranges)
        if title == "cast":
            check(len(asked) <= cast, title, name, "sends", len(asked), "requests:", ranges)
    print("%-36s %s" % (("hf://" if prefix.startswith("hf") else "") + name, "  ".join(cells)))


def judge_commits(b, files):
    """A model that changes on the hub while it is read stays at the commit of the first answer."""
    old, new = "1" * 40, "2" * 40
    names = [name for name in files if name.startswith("model") and "safetensors" in name]

    def publish(commit, change, headers=True, at=("main",)):
        for name in names:
            content = files[name]
            if change and not name.endswith("json"):
                content = content[:-DATA] + b"\0\0\0\x40" * (DATA // 4)
            for revision in at:
                resource = srv.Resource(content, tag='"%s%s"' % (commit[0], name))
                resource.headers = {"X-Repo-Commit": commit} if headers else {}
                b.server.resources["/org/pushed/resolve/%s/%s" % (revision, name)] = resource

    def push(*_):
        publish(new, True)
        return False

    address = "hf://org/pushed/model.safetensors.index.json"
    first = "/org/pushed/resolve/main/model.safetensors.index.json"
    b.server.resources[first.replace("index", "none")] = None
    publish(old, False, at=("main", old))
    local = b.run("inspect", address, "--stats")[0].stdout
    b.server.resources[first].hooks = [push]
    run, asked = b.run("inspect", address, "--stats")
    check(run.returncode == 0 and run.stdout == local, "two commits are mixed", run.stderr, run.stdout)
    check(all("/" + old + "/" in r.path for r in asked[1:]) and asked[0].path == first, "commit", [r.path for r in asked])
    run, asked = b.run("inspect", address, "--stats")
    check(run.returncode == 3, "a commit that is not there is read", run)
    publish(new, True, at=("main", new))
    run, asked = b.run("inspect", address, "--stats")
    check(run.returncode == 0 and run.stdout != local, "the next run reads the old commit", run)
    publish(old, False, at=(new,))
    run, _ = b.run("inspect", address)
    check(run.returncode == 3 and "the model changed on the hub while it was read" in run.stderr, run)
    for commit in ("../../evil", "../" + "3" * 37, "3" * 39, "3" * 41, "", "G" * 40):
        publish(commit or "x", False)
        for name in names:
            b.server.resources["/org/pushed/resolve/main/" + name].headers = {"X-Repo-Commit": commit}
        run, asked = b.run("inspect", address)
        check(run.returncode == 3 and "X-Repo-Commit that is not a commit" in run.stderr and all("/main/" in r.path for r in asked),
              "a commit that is none is accepted", commit, run.stderr)


def judge_neighbours(b, files):
    """Each model has a commit of its own, also where one name is the other but for its last letter, or longer."""
    commits = {"near": "1" * 40, "neat": "2" * 40, "nearer": "3" * 40}
    for model, commit in commits.items():
        for revision in ("main", commit):
            resource = b.server.resources["/org/%s/resolve/%s/a.safetensors" % (model, revision)] = srv.Resource(files["small.safetensors"])
            resource.headers = {"X-Repo-Commit": commit}
    run, asked = b.run("check", "--no-nan", *("hf://org/%s/a.safetensors" % model for model in commits))
    check(run.returncode == 0, "models are taken for each other", run)
    for model, commit in commits.items():
        of = [r.path.split("/")[4] for r in asked if r.path.startswith("/org/%s/" % model)]
        check(of[:1] == ["main"] and set(of[1:]) == {commit}, "commit of", model, of)


def judge_names(b, files):
    """External data with an escaped name; a name that leads out of the folder is refused as in local files."""
    if "model.onnx" not in files:
        return
    for name, path in (("we ights.bi", "we%20ights.bi"), ("sub/a?b.bin", "sub/a%3Fb.bin"), ("%41.bin12345", "%2541.bin12345")):
        model = files["model.onnx"].replace(b"weights.bin", name.encode()[:11].ljust(11, b"_"))
        path = path[:len(path) - len(name) + 11] if len(name) > 11 else path + "_" * (11 - len(name))
        b.server.resources["/odd/model.onnx"] = srv.Resource(model)
        b.server.resources["/odd/" + path] = srv.Resource(files["weights.bin"])
        run, asked = b.run("inspect", b.server.base() + "/odd/model.onnx", "--stats")
        check(run.returncode == 0 and asked[1].path == "/odd/" + path, run.stderr, [r.path for r in asked])
    b.server.resources["/odd/model.onnx"] = srv.Resource(files["model.onnx"].replace(b"weights.bin", b"../ights.bi"))
    run, asked = b.run("inspect", b.server.base() + "/odd/model.onnx")
    check(run.returncode == 3 and len(asked) == 1, run.stderr, [r.path for r in asked])


def judge_queries(b, files):
    """In expressions, too, query strings are sent but not shown."""
    for path in ("/signed?sig=SECRET&a='b", "/other?sig=SECRET"):
        b.server.resources[path] = srv.Resource(files["arrays.npz"])
    one, other = b.server.base() + "/signed?sig=SECRET&a='b", b.server.base() + "/other?sig=SECRET"
    text = "max(@\"%s\":a) + max(@'%s':b) + max(@\"%s\":c)" % (one, other, one)
    for more in ([], ["--json"], ["--steps"]):
        run, asked = b.run("calc", text, "fp32", *more)
        check(run.returncode == 0 and "3" in run.stdout and "SECRET" not in run.stdout + run.stderr, more, run)
        check({r.path for r in asked} == {"/signed?sig=SECRET&a='b", "/other?sig=SECRET"}, [r.path for r in asked])
    for wrong in ("max(@\"%s\":none)" % one, "max(@\"%s\"" % one, "max(@\"%s" % one, "max(@%s:a)" % one, "x + @'%s'" % other):
        for more in ([], ["--json"]):
            run, _ = b.run("calc", wrong, "fp32", *more)
            check(run.returncode != 0 and "SECRET" not in run.stdout + run.stderr and run.stderr.count("\n") == 1, wrong, run)
    check("an address needs quotation marks" in b.run("calc", "max(@%s:a)" % one, "fp32")[0].stderr, "unquoted")
    for words in (["cast", one, "fp16", "--dry-run", "--json"], ["compare", one, other, "--json"], ["explain", one, other]):
        run, _ = b.run(*words)
        check("SECRET" not in run.stdout + run.stderr, words, run)


def main():
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(folder)
        probe, _ = b.run("inspect", b.server.base() + "/none")
        if probe.returncode == 5 and "libcurl" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            return 77
        files = make_files()
        for name, content in files.items():
            b.server.resources["/" + name] = b.server.resources["/org/model/resolve/main/" + name] = srv.Resource(content)
        print("requests, KiB sent %19s" % "" + "  ".join("%10s" % title[-10:] for title in COMMANDS))
        for name, most in MOST.items():
            if name in files:
                judge_counts(b, b.server.base() + "/", name, *most)
        judge_counts(b, "hf://org/model/", "model.safetensors.index.json", *MOST["model.safetensors.index.json"])
        judge_commits(b, files)
        judge_neighbours(b, files)
        judge_names(b, files)
        if "arrays.npz" in files:
            judge_queries(b, files)
    return srv.end()


if __name__ == "__main__":
    sys.exit(main())
