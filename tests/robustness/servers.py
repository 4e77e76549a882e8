#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading URLs, from local servers: how many requests and bytes it takes, whether the bytes are those of the file,
what happens when servers fail, lie or redirect, and which data go to which server.

    servers.py DTINFO MEASURE [long]
"""
import concurrent.futures
import ipaddress
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import range_server as srv
from range_server import check

PROGRAM, MEASURE = map(os.path.abspath, sys.argv[1:3])
LONG = "long" in sys.argv[2:]
TOKEN = "hf_" + "secretSECRET0123456789"


class Bench:
    def __init__(self, folder, made):
        self.folder = folder
        context, certificate = made if made else (None, None)
        self.main, self.other = srv.Server(context), srv.Server(context)
        self.plain = srv.Server()
        self.stranger = certificate and srv.make_certificate(folder, "stranger")[1]
        self.environment = srv.environment(certificate)

    def run(self, *words, **more):
        environment = {**self.environment, **more}
        return subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, env=environment,
                              text=True, timeout=300, cwd=self.folder)

    def serve(self, path, resource, server=None):
        server = server or self.main
        server.resources[path] = resource
        server.take()
        return server.base() + path

    def refused(self, address, words, **more):
        run = self.run("inspect", address, **more)
        check(run.returncode == 3 and words in run.stderr and run.stderr.count("\n") == 1 and not run.stdout, address,
              "gives", run.returncode, run.stderr, "instead of", words)
        return run


def safetensors(tensors, size=None):
    """tensors: {name: bytes of fp32 numbers}; size: of one tensor whose data are not generated."""
    header, at = {}, 0
    for name, data in tensors.items():
        length = size if data is None else len(data)
        header[name] = {"dtype": "F32", "shape": [length // 4], "data_offsets": [at, at + length]}
        at += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data or b"" for data in tensors.values())


def numbers(count, seed):
    random.seed(seed)
    pieces = [random.randbytes(4096) for _ in range(64)]
    data = bytearray(b"".join(random.choice(pieces) for _ in range(count * 4 // 4096)))
    data[3::4] = b"\x3f" * (len(data) // 4)  # near 1: no NaN
    return bytes(data)


def judge_requests(b):
    """A header takes one or two requests, and a few KiB."""
    small = safetensors({"a": numbers(4096, 1), "b": numbers(1024, 2)})
    wide = safetensors({"t%05d" % i: b"1234" for i in range(5000)})
    for name, content in (("small", small), ("wide", wide)):
        address = b.serve("/%s.safetensors" % name, srv.Resource(content))
        (b.folder / "local.safetensors").write_bytes(content)
        local = b.run("inspect", "local.safetensors")
        for command in (["inspect"], ["mem"], ["cast", "--dry-run"]):
            run = b.run(command[0], address, *(["bf16"] if command[0] == "cast" else []), *command[1:])
            asked = [r for r in b.main.take() if r.path.endswith(".safetensors")]
            check(run.returncode == 0, command, name, run.stderr)
            check(len(asked) <= 2 and sum(r.sent for r in asked) <= len(content) + 65536, command, name, len(asked))
            check(asked[0].last - asked[0].first + 1 <= 65536, "the first request is large")
            check(all(r.headers.get("Accept-Encoding") == "identity" for r in asked), "an encoding is accepted")
        shown = b.run("inspect", address).stdout.replace(address, "local.safetensors")
        check(shown == local.stdout, name, "is another file")
    with open(b.folder / "sparse", "wb+") as file:
        data = 20 * 10 ** 9
        head = safetensors({"large": None}, data)
        file.write(head)
        file.truncate(len(head) + data)
        address = b.serve("/sparse.safetensors", srv.Resource(file))
        for command in (["inspect", address], ["mem", address], ["cast", address, "bf16", "--dry-run"]):
            run = b.run(*command)
            asked = [r for r in b.main.take() if r.path == "/sparse.safetensors"]
            check(run.returncode == 0 and ("18.6" in run.stdout or "20000000000" in run.stdout), run)
            check(len(asked) <= 2 and sum(r.sent for r in asked) <= 128 << 10, command, len(asked))


def cast_as_local(b, address, content, words, **more):
    (b.folder / "local.safetensors").write_bytes(content)
    for name in ("remote.out", "local.out"):
        (b.folder / name).unlink(missing_ok=True)
    local = b.run("cast", "local.safetensors", "bf16", "--as", "safetensors", "-o", "local.out")
    start = time.monotonic()
    run = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM, "cast", address, "bf16", "--as", "safetensors", "-o", "remote.out"],
                         cwd=b.folder, env={**b.environment, **more}, capture_output=True, text=True, timeout=240)
    _, _, _, peak, state = run.stdout.split()[:5]
    check(local.returncode == 0 and state == "0", words, run.stderr)
    same = state == "0" and (b.folder / "remote.out").read_bytes() == (b.folder / "local.out").read_bytes()
    check(same, words, "gives other bytes")
    return time.monotonic() - start, int(peak) >> 10


def judge_streams(b):
    """All bytes arrive despite failing connections, in bounded memory."""
    content = safetensors({"t%d" % i: numbers(4 << 20, i) for i in range(16)})
    address = b.serve("/large.safetensors", srv.Resource(content, hooks=[srv.times(10, srv.cut_after(700001))]))
    seconds, peak = cast_as_local(b, address, content, "256 MiB, cut ten times")
    asked = b.main.take()
    check(sum(r.sent for r in asked) < len(content) * 1.1, "bytes are asked for again:", sum(r.sent for r in asked))
    print("%d MiB in %d requests and %.1f s, %d MiB of memory" % (len(content) >> 20, len(asked), seconds, peak))
    check(peak < 100 or "ASAN_OPTIONS" in os.environ, peak, "MiB of memory")
    content = safetensors({"t%d" % i: numbers(1024 + 1024 * (i % 7), i) for i in range(300)})
    hooks = {"cut": srv.times(10, srv.cut_after(3000)), "slow": srv.times(2, srv.slowly(0.2, 5)),
             "429": srv.times(1, srv.status(429, Retry_After=1)), "500": srv.times(3, srv.status(500)),
             "503 later": srv.after(2, srv.times(2, srv.status(503)))}
    for name, hook in hooks.items():
        address = b.serve("/small.safetensors", srv.Resource(content, hooks=[hook]))
        seconds, _ = cast_as_local(b, address, content, name)
        check(name != "429" or seconds >= 1, "Retry-After is not waited for")
    b.serve("/small.safetensors", srv.Resource(content, tag=None))
    cast_as_local(b, address, content, "no ETag")
    for words in (["inspect", "--stats"], ["check", "--no-nan"], ["inspect", "--digest"], ["compare", "local.safetensors"]):
        remote, local = (b.run(words[0], *words[1:], path) for path in (address, "local.safetensors"))
        text = (remote.stdout + remote.stderr).replace(address, "local.safetensors")
        check(text == local.stdout + local.stderr and remote.returncode == local.returncode, words, remote, local)
    raw = numbers(1 << 20, 3)
    (b.folder / "raw").write_bytes(raw)
    address = b.serve("/raw", srv.Resource(raw))
    for path, out in ((address, "remote.out"), ("raw", "local.out")):
        check(b.run("cast", path, "bf16", "--from", "fp32", "-o", out, "--force").returncode == 0, path)
    check((b.folder / "remote.out").read_bytes() == (b.folder / "local.out").read_bytes(), "raw codes differ")


def judge_failures(b):
    """Every failure has its own message."""
    content = safetensors({"a": numbers(1 << 20, 5)})

    def header(name, value):
        return lambda headers, first, last, size: headers.__setitem__(
            name, value(first, last, size) if callable(value) else value)

    def bad(hooks, words, **more):
        return b.refused(b.serve("/bad.safetensors", srv.Resource(content, hooks=[hooks])), words, **more)

    bad(srv.lie(lambda *_: 200), "does not serve ranges; download it first")
    bad(srv.lie(header("Content-Range", lambda f, l, s: "bytes %d-%d/%d" % (f + 1, l, s))), "other bytes than")
    bad(srv.lie(header("Content-Range", lambda f, l, s: "bytes %d-%d/%d" % (f, l + 1, s))), "other bytes than")
    bad(srv.lie(header("Content-Range", lambda f, l, s: "bytes %d-%d/*" % (f, l))), "Content-Range that is not valid")
    bad(srv.lie(header("Content-Range", "bytes 5-3/10")), "Content-Range that is not valid")
    bad(srv.lie(header("Content-Range", "bytes 0-9/9999999999999999999999")), "Content-Range that is not valid")
    bad(srv.lie(lambda h, *_: h.pop("Content-Range") and None), "does not say which bytes")
    bad(srv.lie(header("Content-Length", lambda f, l, s: l - f)), "Content-Length contradicts")
    bad(srv.lie(header("Content-Length", "12x")), "Content-Length")
    bad(srv.lie(header("Content-Encoding", "gzip")), "encodes what it sends")
    bad(srv.lie(header("X-Long", "x" * 70000)), "")
    bad(srv.lie(lambda h, *_: h.update({"X-%d" % i: "y" for i in range(300)})), "too long a head")
    bad(srv.lie(header("ETag", '"' + "x" * 400 + '"')), "too long a head")
    bad(srv.status(404), "answers 404 (not found)")
    for status, words in ((403, "answers 403 (forbidden)"), (401, "answers 401 (not authorized)")):
        check("HF_TOKEN" not in bad(srv.status(status), words).stderr, "another host has nothing to do with the hub")
    bad(srv.status(418), "answers 418")
    address = b.serve("/model/model.safetensors", srv.Resource(content))
    for status, told in ((404, False), (410, False), (401, False), (403, False), (418, True)):  # of an optional file
        b.serve("/model/config.json", lambda handler, status=status: handler.answer(status))
        run = b.run("check", "--quantized", address)
        check(("answers %d" % status in run.stdout + run.stderr) == told, status, run)
    bad(srv.status(429, Retry_After=3600), "asks to wait for 3600 seconds")
    start = time.monotonic()
    bad(srv.status(500), "answers 500 (internal server error), 6 times in a row")
    check(5 < time.monotonic() - start < 60 and len(b.main.take()) == 6, "retries without pauses")

    def late(hook, words):
        address = b.serve("/bad.safetensors", srv.Resource(content, hooks=[srv.after(1, hook)]))
        run = b.run("cast", address, "bf16", "-o", "late.safetensors")
        check(run.returncode == 3 and words in run.stderr and run.stderr.count("\n") == 1, words, run)
        check(not (b.folder / "late.safetensors").exists(), "a file is left behind")

    late(srv.lie(header("ETag", '"two"')), "it changed on the server while it was read")
    late(srv.lie(lambda h, *_: h.pop("ETag") and None), "it changed on the server while it was read")
    late(srv.lie(header("Content-Range", lambda f, l, s: "bytes %d-%d/%d" % (f, l, s + 1))), "it changed on the server")
    late(srv.lie(lambda *_: 200), "does not serve ranges")
    late(srv.status(404), "answers 404")
    address = b.serve("/raw", srv.Resource(content, hooks=[srv.after(1, srv.status(404))]))
    run = b.run("cast", address, "bf16", "--from", "fp32", "--as", "text", "-o", "late.bin")
    check(run.returncode == 3 and "answers 404" in run.stderr, "raw codes", run)
    check(not (b.folder / "late.bin").exists(), "a file of raw codes is left behind")
    bad(srv.cut_after(100), "6 times in a row")
    check(len(b.main.take()) == 7, "pieces of 100 bytes count as progress")
    run = b.run("inspect", "http://127.0.0.1:1/x.safetensors")
    check(run.returncode == 3 and "cannot be reached" in run.stderr, run)
    run = b.run("inspect", b.main.base() + "/x", DTINFO_LIBCURL="/nonexistent/libcurl.so.4")
    check(run.returncode == 5 and "needs libcurl" in run.stderr and "libcurl4" in run.stderr, run)
    address = b.serve("/empty.npy", srv.Resource(b""))
    check("there are 0" in b.run("inspect", address).stderr, "an empty file")
    if LONG:
        address = b.serve("/silent.safetensors", srv.Resource(content, hooks=[srv.times(1, srv.silence(45))]))
        seconds, _ = cast_as_local(b, address, content, "silence")
        check(29 < seconds < 44, "a server that is silent is waited for:", seconds)
        address = b.serve("/alive.safetensors", srv.Resource(content, hooks=[srv.times(1, srv.slowly(10, 5))]))
        seconds, _ = cast_as_local(b, address, content, "a server that is slow")
        check(len([r for r in b.main.take() if r.first == 0]) == 1 and seconds > 39, "a slow server is cut:", seconds)
        start = time.monotonic()
        bad(srv.trickle(20), "sent less than 30 bytes a second, for 30 seconds, 6 times in a row")
        check(180 < time.monotonic() - start < 290, "a server that trickles is waited for:", time.monotonic() - start)
        judge_drops(b, content)


def judge_drops(b, content):
    """A server that sends a few bytes each second, to every command concurrently."""
    for count in (1, 20):
        address = b.serve("/drops.safetensors", srv.Resource(content, hooks=[srv.drops(count)]))
        start = time.monotonic()
        runs = [subprocess.Popen([PROGRAM, command, address, *more], cwd=b.folder, env=b.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for command, *more in (["inspect"], ["check"], ["cast", "bf16", "-o", "drops.safetensors"])]
        for run in runs:
            out, error = run.communicate(timeout=400)
            told = out if "FAIL" in out else error
            check(run.returncode in (1, 3) and "sent less than 30 bytes a second" in told and told.count("\n") == 1, run.args, told)
        check(180 < time.monotonic() - start < 290, count, "bytes a second are waited for:", time.monotonic() - start)
        check(not (b.folder / "drops.safetensors").exists(), "a file of drops")


def inside_name():
    """A name that only a DNS lookup reveals as private: /etc/hosts often has one."""
    for name in (socket.gethostname(), "ip6-allnodes", "ip6-mcastprefix"):
        try:
            found = ipaddress.ip_address(socket.getaddrinfo(name, 443)[0][4][0].split("%")[0])
        except OSError:
            continue
        if not found.is_global or found.is_multicast:
            if not found.is_loopback and not name[-1].isdigit():
                return name
    return None


def judge_redirects(b, secure):
    content = safetensors({"a": numbers(1 << 18, 5)})
    b.serve("/file.safetensors", srv.Resource(content))
    b.serve("/file.safetensors", srv.Resource(content), b.other)
    base, other = b.main.base(), b.other.base("localhost")
    for name, location in (("absolute", other + "/file.safetensors"), ("path", "/file.safetensors"),
                           ("relative", "file.safetensors"), ("fragment", "/file.safetensors#x")):
        address = b.serve("/to-" + name, srv.redirect(location))
        cast_as_local(b, address, content, name)
    for i in range(6):
        b.serve("/hop%d" % i, srv.redirect("/hop%d" % (i - 1) if i else "/file.safetensors", (301, 302, 303, 307, 308, 302)[i]))
    cast_as_local(b, base + "/hop4", content, "five redirects")
    b.refused(base + "/hop5", "redirects more than 5 times")
    b.refused(b.serve("/loop", srv.redirect("/loop")), "redirects more than 5 times")
    for host in ("169.254.169.254", "[fe80::1]", "10.0.0.1", "192.168.1.1", "[fd00::1]", "[::ffff:169.254.1.1]"):
        b.refused(b.serve("/inside", srv.redirect("https://%s/x" % host)), "an address of a private network")
    name = inside_name()
    if name:
        b.refused(b.serve("/inside", srv.redirect("https://%s/x" % name)), "an address of a private network")
    b.environment["https_proxy"], b.environment["no_proxy"] = "http://127.0.0.1:1", "127.0.0.1,localhost"
    b.refused(b.serve("/inside", srv.redirect("https://10.0.0.1/x")), "an address of a private network")
    b.refused(b.serve("/outside", srv.redirect("https://name.example/x")), "cannot be reached")  # through the proxy
    del b.environment["https_proxy"], b.environment["no_proxy"]
    b.refused(b.serve("/user", srv.redirect("https://a:b@localhost/x")), "a user name or a password")
    b.refused(b.serve("/nowhere", lambda handler: handler.answer(302)), "redirects to no address")
    b.refused(b.serve("/file-scheme", srv.redirect("file:///etc/passwd")), "")
    if secure:
        b.serve("/file.safetensors", srv.Resource(content), b.plain)
        b.refused(b.serve("/down", srv.redirect(b.plain.base() + "/file.safetensors")), "that is not https://")
        check(not b.plain.take(), "http:// is asked after https://")
        b.refused(base + "/file.safetensors", "certificate is not trusted", SSL_CERT_FILE=str(b.stranger))
    b.main.resources["/signed.safetensors?sig=SECRET"] = srv.Resource(content)
    for words in (["inspect"], ["inspect", "--json"], ["mem"], ["cast", "bf16", "--dry-run"], ["check", "--no-nan"]):
        run = b.run(words[0], base + "/signed.safetensors?sig=SECRET", *words[1:])
        check(run.returncode == 0 and "SECRET" not in run.stdout + run.stderr, words, run)
    run = b.run("inspect", base + "/none.safetensors?sig=SECRET")
    check("none.safetensors': the server answers 404" in run.stderr and "SECRET" not in run.stderr, run)


def judge_hub(b):
    """hf://: the token is sent to the endpoint only; storage is requested directly until its URL expires."""
    content = safetensors({"a": numbers(1 << 20, 5)})
    data, size = "/org/model/resolve/%s/%s", len(content)
    storage = b.serve("/storage?sig=1", srv.Resource(content), b.other).replace("127.0.0.1", "localhost")
    linked = dict(X_Linked_Size=size, X_Linked_ETag='"hub"')
    b.serve(data % ("main", "model.safetensors"), srv.redirect(storage, **linked))
    b.serve(data % ("v1.0", "sub/a%20b.safetensors"), srv.redirect("/moved", **linked))
    b.serve("/moved", srv.Resource(content))
    hub = {"HF_ENDPOINT": b.main.base(), "HF_TOKEN": TOKEN}
    cast_as_local(b, "hf://org/model/model.safetensors", content, "hf://", **hub)
    asked, elsewhere = b.main.take(), b.other.take()
    check(asked and all(r.token() == "Bearer " + TOKEN for r in asked), "the hub gets no token")
    check(elsewhere and not any(r.token() for r in elsewhere), "another host gets the token")
    check(len([r for r in asked if r.path.endswith("model.safetensors")]) == 1, "the hub is asked again and again")
    run = b.run("inspect", "hf://org/model@v1.0/sub/a b.safetensors", **hub)
    asked = b.main.take()
    check(run.returncode == 0 and all(r.token() for r in asked), "revision", run.stderr)
    run = b.run("inspect", b.main.base() + "/moved", **hub)
    check(run.returncode == 0 and not any(r.token() for r in b.main.take()), "https:// gets the token")
    b.other.resources["/storage?sig=1"].hooks = [srv.after(1, srv.times(1, srv.status(403)))]
    cast_as_local(b, "hf://org/model/model.safetensors", content, "an address that expires", **hub)
    b.serve(data % ("main", "model.safetensors"), srv.redirect(storage, **{**linked, "X_Linked_Size": size + 1}))
    b.refused("hf://org/model/model.safetensors", "announces another size", **hub)
    b.serve(data % ("main", "gated.safetensors"), lambda handler: handler.answer(401))
    del hub["HF_TOKEN"]
    b.refused("hf://org/model/gated.safetensors", "set HF_TOKEN to a token that may read it", **hub)
    run = b.refused("hf://org/model/gated.safetensors", "the token of HF_TOKEN may not read it", HF_TOKEN=TOKEN, **hub)
    check(TOKEN not in run.stderr, "the token is shown")
    for name, value in (("HF_TOKEN", "a\nX-Evil: 1"), ("HF_ENDPOINT", "http://example.com")):
        run = b.run("inspect", "hf://org/model/model.safetensors", **{**hub, name: value})
        check(run.returncode == 2 and name in run.stderr and "Evil" not in run.stderr, run)
    judge_shards(b, hub)


def judge_shards(b, hub):
    folder = b.folder / "sharded"
    folder.mkdir()
    parts = {"model-%d.safetensors" % i: {"t%d" % i: numbers(1 << 18, i)} for i in range(3)}
    for name, tensors in parts.items():
        (folder / name).write_bytes(safetensors(tensors))
    index = {"metadata": {}, "weight_map": {t: name for name, tensors in parts.items() for t in tensors}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text("{\"model_type\": \"x\"}")
    for file in folder.iterdir():
        for prefix in ("/org/model/resolve/main/", "/files/"):
            b.serve(prefix + file.name, srv.Resource(file.read_bytes()))
    for address in ("hf://org/model/model.safetensors.index.json", b.main.base() + "/files/model.safetensors.index.json"):
        run, local = b.run("inspect", address, **hub), b.run("inspect", "sharded/model.safetensors.index.json")
        there, here = address.rsplit("/", 1)[0] + "/", "sharded/"
        check(run.returncode == 0, run.stderr)
        check(run.stdout.replace(there, here) == local.stdout, address, "is another checkpoint")
        cast = b.run("cast", address, "bf16", "-o", "from-remote/", "--force", **hub)
        check(cast.returncode == 0, address, cast)
        check(b.run("cast", "sharded", "bf16", "-o", "from-local/", "--force").returncode == 0, "sharded")
        names = sorted(os.listdir(b.folder / "from-local"))
        check(names == sorted(os.listdir(b.folder / "from-remote")) and "config.json" in names, names)
        for name in names:
            check((b.folder / "from-local" / name).read_bytes() == (b.folder / "from-remote" / name).read_bytes(), name)


def describe(b, names, revision="main", siblings=None):
    """The hub's description of org/model."""
    listed = [{"rfilename": name, "size": 1} for name in names] if siblings is None else siblings
    body = json.dumps({"id": "org/model", "sha": "0" * 40, "tags": ["x"], "siblings": listed, "config": {"a": [1, {}]}}).encode()
    b.main.resources["/api/models/org/model/revision/" + revision] = lambda handler: handler.answer(200, body=body)


def judge_models(b):
    """hf://org/model without a file: the file is found, said, and its answers are those of the file itself."""
    hub = {"HF_ENDPOINT": b.main.base(), "HF_TOKEN": TOKEN}
    data = "/org/model/resolve/%s/"
    content = safetensors({"a": numbers(1 << 12, 5)})
    stray = ["README.md", "onnx/model.onnx", "config.json", "x/model.safetensors", "b.bin", "model.bin.index.json.txt"]
    for name in ("model.safetensors", "pytorch_model.bin", "other.safetensors", "a.gguf", "UD/a-00001-of-00002.gguf"):
        b.serve(data % "main" + name, srv.Resource(content))  # its content decides what it is
    parts = ["UD/a-00001-of-00002.gguf", "UD/a-00002-of-00002.gguf"]
    for names, taken in ((["other.safetensors", "model.safetensors", "a.gguf"], "model.safetensors"),
                         (["other.safetensors", "a.gguf", "pytorch_model.bin"], "other.safetensors"),
                         (["pytorch_model.bin", "training_args.bin", "a.gguf"], "pytorch_model.bin"),
                         (["a.gguf"], "a.gguf"), (parts, parts[0])):
        describe(b, stray + names)
        b.main.take()
        run, there = b.run("inspect", "hf://org/model", **hub), b.run("inspect", "hf://org/model/" + taken, **hub)
        asked = b.main.take()
        check(run.returncode == 0 and "'%s' is read, of %d files of the model" % (taken, len(stray + names)) in run.stdout + run.stderr,
              taken, run)
        check("hf://org/model/" + taken in run.stdout and there.returncode == 0, taken, run)
        check(all(r.token() == "Bearer " + TOKEN for r in asked) and len(asked) <= 6, taken, [r.path for r in asked])
    for names, words in ((["a.safetensors", "b.safetensors"], "has 2 safetensors files without an index; name one of them: "
                          "'a.safetensors', 'b.safetensors'"),
                         (["q4/a.gguf", "b.gguf"], "has 2 gguf models; name one of them: 'q4/a.gguf', 'b.gguf'"),
                         (["q%d.gguf" % i for i in range(90)], "has 90 gguf models; name one of them: 'q0.gguf', "),
                         (["a.safetensors.index.json", "b.safetensors.index.json"], "has 2 indexes; name one of them"),
                         ([], "no gguf file; name one of its 6 files: 'README.md', 'onnx/model.onnx'")):
        describe(b, stray + names)
        run = b.refused("hf://org/model", words, **hub)
        check(len(run.stderr) < 700 and (len(names) < 90 or " and 78 more" in run.stderr), run.stderr)
    describe(b, [])
    b.refused("hf://org/model", "has no files", **hub)
    for siblings in ({"rfilename": "a"}, [1], [{"rfilename": 1}], "x"):
        describe(b, [], siblings=siblings)
        b.refused("hf://org/model", "no list of files", **hub)
    describe(b, [], siblings=[{"rfilename": "../../x.safetensors"}, {"rfilename": "\x1b.safetensors"}, {"x": "y.safetensors"}])
    b.refused("hf://org/model", "no gguf file", **hub)
    judge_answers(b, hub, content)
    judge_parallel(b, hub)
    judge_split(b, hub)


def judge_answers(b, hub, content):
    """Errors of the list, and revisions."""
    path = "/api/models/org/model/revision/main"

    def answers(words, status, headers=None, body=b"{}", **environment):
        b.main.resources[path] = lambda handler: handler.answer(status, headers, body)
        return b.refused("hf://org/model", words, **{**hub, **environment})

    answers("answers 404 (not found); the hub has no such model or revision", 404)
    answers("the hub has no such model, or wants HF_TOKEN", 401, HF_TOKEN="")
    answers("the token of HF_TOKEN may not read it", 401)
    answers("asks to wait for 3600 seconds", 429, {"Retry-After": 3600})
    answers("is not JSON", 200, body=b"{\"siblings\": [")
    answers("encodes what it sends", 200, {"Content-Encoding": "gzip"})
    answers("no list of files", 200, body=b"[]")
    answers("answer is too large", 200, {"Content-Length": 1 << 40})

    def unannounced(handler):
        handler.close_connection = True
        handler.begin(200, {"Connection": "close"})
        handler.wfile.write(b" " * ((32 << 20) + 1))  # one byte more than is read

    b.main.resources[path] = unannounced
    b.refused("hf://org/model", "answer is too large", **hub)
    run = b.run("inspect", "hf://org/model", DTINFO_LIBCURL="/nonexistent/libcurl.so.4", **hub)
    check(run.returncode == 5 and "needs libcurl" in run.stderr, run)
    b.refused("hf://org", "name a file of the model", **hub)
    b.refused("hf://org/", "expected hf://org/model", **hub)
    b.main.resources["/api/models/org/moved/revision/main"] = srv.redirect("/api/models/org/model/revision/main", 307)
    describe(b, ["model.safetensors"])
    b.serve("/org/moved/resolve/main/model.safetensors", srv.Resource(content))
    check(b.run("check", "hf://org/moved", **hub).returncode == 0, "a model that was renamed")
    describe(b, ["model.safetensors"], "v1.0")
    b.serve("/org/model/resolve/v1.0/model.safetensors", srv.Resource(content))
    (b.folder / "local.safetensors").write_bytes(content)
    for words in (["mem", "-q"], ["check", "-q"], ["inspect", "-q"]):
        run, local = b.run(*words, "hf://org/model@v1.0/", **hub), b.run(*words, "local.safetensors")
        check(run.returncode == 0 and run.stdout.replace("hf://org/model@v1.0/model.", "local.") == local.stdout, words, run, local)
    for words in (["inspect"], ["check"], ["check", "--no-nan"], ["mem"], ["compare", "local.safetensors"], ["cast", "bf16", "--dry-run"],
                  ["quant", "int8", "--dry-run"], ["explain", "local.safetensors"]):
        run = b.run(words[0], "hf://org/model@v1.0", *words[1:], **hub)
        check(run.returncode == 0 and "'model.safetensors' is read, of 1 file of the model" in run.stdout + run.stderr, words, run)
    config = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
              "torch_dtype": "bfloat16"}
    b.serve("/org/model/resolve/v1.0/config.json", srv.Resource(json.dumps(config).encode()))
    for address, weights in (("hf://org/model@v1.0", len(content) - 8 - int.from_bytes(content[:8], "little")),
                             ("hf://org/model@v1.0/config.json", 0)):
        run = b.run("mem", address, "--context", 100, "-q", **hub)
        check(run.stdout == "%d\n" % (weights + 2 * 100 * 2 * 2 * 16 * 2), address, run)
    answer = json.loads(b.run("mem", "hf://org/model@v1.0", "--json", **hub).stdout)
    check([w["code"] for w in answer["warnings"]] == ["hub_file"], answer["warnings"])


def judge_parallel(b, hub):
    """Shards are opened several at a time, with few connections, and give the same answer; one that is missing is named."""
    count, busy, most, change, patience = 60, [0], [0], threading.Condition(), [5]

    def hook(*_):
        """Holds the first requests until three are there, so that no fast server hides that they come together; for
        five seconds in all, if they come one by one."""
        with change:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
            change.notify_all()
            if most[0] < 3 and patience[0] > 0:
                patience[0] -= not change.wait_for(lambda: most[0] > 2, 1)
        time.sleep(0.02)
        with change:
            busy[0] -= 1
        return False
    folder = b.folder / "many"
    folder.mkdir()
    files, index = {}, {}
    for i in range(count):
        name = "model-%05d-of-%05d.safetensors" % (i + 1, count)
        names = ["layer%d.%d" % (i, k) for k in range(1200 if i % 3 == 0 else 5)]  # some headers are longer than one request
        files[name] = safetensors({n: b"1234" for n in names})
        index.update({n: name for n in names})
    files["model.safetensors.index.json"] = json.dumps({"metadata": {}, "weight_map": index}).encode()
    for name, content in files.items():
        b.serve("/org/model/resolve/main/" + name, srv.Resource(content, hooks=[hook]))
        (folder / name).write_bytes(content)
    describe(b, files)
    b.main.take()
    run, local = b.run("mem", "hf://org/model", "-q", "bf16", **hub), b.run("mem", "many", "-q", "bf16")
    asked = [r for r in b.main.take() if r.path.endswith(".safetensors")]
    check(run.returncode == 0 and run.stdout == local.stdout, run, local)
    check(len(asked) == count + count // 3, len(asked), "requests of", count, "shards")
    check(2 < most[0] <= 8, most[0], "requests at a time")
    for missing in (0, 30, count - 1):
        name = "/org/model/resolve/main/model-%05d-of-%05d.safetensors" % (missing + 1, count)
        kept = b.main.resources.pop(name)
        b.refused("hf://org/model", "cannot open shard 'model-%05d-of-%05d.safetensors' of its 60" % (missing + 1, count), **hub)
        b.main.resources[name] = kept


def judge_split(b, hub):
    """Parts of a GGUF are opened several at a time."""
    count = 24

    def text(word):
        return struct.pack("<Q", len(word)) + word.encode()

    def slow(*_):
        time.sleep(0.02)
        return False
    names = ["m-%05d-of-%05d.gguf" % (i + 1, count) for i in range(count)]
    for i, name in enumerate(names):
        pairs = [text("split.no") + struct.pack("<IH", 2, i), text("split.count") + struct.pack("<IH", 2, count),
                 text("split.tensors.count") + struct.pack("<Ii", 5, count)]
        pairs += [] if i else [text("general.architecture") + struct.pack("<I", 8) + text("x")]
        head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + text("t%d" % i) + struct.pack("<IQIQ", 1, 32, 0, 0)
        b.serve("/org/model/resolve/main/" + name, srv.Resource(head + b"\0" * (-len(head) % 32) + b"\0" * 128, hooks=[slow]))
    describe(b, names)
    b.main.take()
    start = time.monotonic()
    run = b.run("mem", "hf://org/model", "-q", "fp16", **hub)
    asked = [r for r in b.main.take() if r.path.endswith(".gguf")]
    check(run.stdout == "%d\n" % (count * 64) and len(asked) == count, run, len(asked))
    print("%d parts of a GGUF in %.2f s" % (count, time.monotonic() - start))
    kept = b.main.resources.pop("/org/model/resolve/main/" + names[7])
    b.refused("hf://org/model", "cannot open part '%s' of its 24" % names[7], **hub)
    b.main.resources["/org/model/resolve/main/" + names[7]] = kept


def judge_start(b):
    """Without a URL no network library is loaded."""
    (b.folder / "local.safetensors").write_bytes(safetensors({"a": b"1234"}))
    run = b.run("inspect", "local.safetensors", LD_DEBUG="libs")
    check(run.returncode == 0 and "curl" not in run.stderr, "libcurl is loaded without an address")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = srv.make_certificate(folder)
        b = Bench(folder, made)
        run = b.run("inspect", b.plain.base() + "/none")
        if run.returncode == 5 and "libcurl" in run.stderr:
            print("skipped:", run.stderr.strip())
            return 77
        if not made:
            print("no openssl(1): http:// on this machine alone")
        judge_start(b)
        # most of the time is spent in pauses between retries: each with servers and a folder of its own
        with concurrent.futures.ThreadPoolExecutor() as pool:
            running = [pool.submit(judge, Bench(pathlib.Path(tempfile.mkdtemp(dir=folder)), made), *more) for judge, *more in (
                (judge_requests,), (judge_streams,), (judge_failures,), (judge_redirects, made is not None), (judge_hub,),
                (judge_models,))]
            for judge in running:
                judge.result()
    return srv.end()


if __name__ == "__main__":
    sys.exit(main())
