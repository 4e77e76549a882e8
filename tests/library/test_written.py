# SPDX-License-Identifier: MIT
"""New files through the public functions of the library: tensors written in pieces and in any order are what safetensors
and numpy read; a file appears complete or not at all.

    test_written.py PROBE
"""
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from probe_files import PROBE, RANDOM, have, list_of, read, run, tally

PACKED = {"fp4_e2m1": 4, "int4": 4, "uint2": 2, "fp6_e2m3": 6}
SIZES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "uint64": 8,
         "uint32": 4, "uint16": 2, "bool": 1, "fp8_e4m3fn": 1, "fp8_e5m2": 1, "fp8_e8m0": 1, "complex64": 8,
         "complex128": 16}


def write(path, container, script, codes, replace="0"):
    """The probe's last line."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(codes)
        file.flush()
        return run("write", path, container, replace, file.name, text="\n".join(script).encode() + b"\n").decode().strip()


def left(folder):
    return sorted(os.listdir(folder))


def spelled(shape):
    return "x".join(map(str, shape)) or "-"


def codes_of(form, count):
    if form in PACKED:
        return bytes(RANDOM.randrange(1 << PACKED[form]) for _ in range(count))
    if form == "bool":
        return bytes(RANDOM.choices((0, 1), k=count))
    return RANDOM.randbytes(count * SIZES[form])


def pieces_of(number, form, count, start):
    """Lines that write all elements in pieces."""
    item, step, at, lines = SIZES.get(form, 1), 8 if form in PACKED else 1, 0, []
    while at < count:
        n = min(count - at, step * RANDOM.randint(1, max(1, count // (3 * step))))
        lines.append(f"write {number} {at} {n} {start + at * item}")
        at += n
    return lines


def plan(forms, shapes):
    """A script without its commit, the codes, and what is expected."""
    script, lines, codes, expected = [], [], b"", {}
    kinds = [(form, shape) for form, shape in itertools.product(forms, shapes)
             if form not in PACKED or (shape and shape[-1] % 8 == 0) or len(shapes) == 1]
    for number, (form, shape) in enumerate(kinds):
        count = 1
        for size in shape:
            count *= size
        name, raw = f"{form}.{number}", codes_of(form, count)
        script.append(f"tensor {name} {form} {spelled(shape)}")
        lines += pieces_of(number, form, count, len(codes))
        codes += raw
        expected[name] = (form, shape, raw)
    RANDOM.shuffle(lines)
    return script + lines, codes, expected


def check_read(path, expected):
    """By the library itself."""
    tensors, _ = list_of(path, "p")
    wanted = [(name, 0, len(raw) // SIZES.get(form, 1)) for name, (form, _, raw) in expected.items()]
    if len(tensors) == 1:
        wanted = [(next(iter(tensors)), *wanted[0][1:])]
    for (name, (_, _, raw)), got in zip(expected.items(), read(path, "p", wanted)):
        tally.check(f"{path} {name}: read back", got, raw)


def check_safetensors(folder):
    names = [form for form in SIZES if form != "complex128"]
    script, codes, expected = plan([*names, "fp4_e2m1", "fp6_e2m3"], [(), (3, 0), (40,), (8, 25), (3, 8), (16, 504)])
    path = folder / "all.safetensors"
    tally.check("safetensors: written", write(path, "-", ["pair made here", *script, "commit"], codes), "done")
    check_read(path, expected)
    if not have("torch") or not have("safetensors"):
        return tally.skip("safetensors is not there")
    import torch
    from safetensors import safe_open
    with safe_open(path, "pt") as file:
        tally.check("safetensors: metadata", file.metadata(), {"made": "here"})
        tally.check("safetensors: names", sorted(file.keys()), sorted(expected))
        for name, (form, shape, raw) in expected.items():
            if form in PACKED and form != "fp4_e2m1":
                continue  # torch has no such dtype
            tensor = file.get_tensor(name)
            got = bytes(tensor.contiguous().flatten().view(torch.uint8).numpy()) if tensor.numel() else b""
            if form == "fp4_e2m1":
                got = bytes(itertools.chain.from_iterable((byte & 15, byte >> 4) for byte in got))
                shape = (*shape[:-1], shape[-1] // 2)
            tally.check(f"safetensors {name}", (tuple(tensor.shape), got), (shape, raw))
    tally.part("safetensors")


def check_numpy(folder):
    numpy = have("numpy")
    forms = [form for form in SIZES if not form.startswith(("fp8", "bf16"))]
    script, codes, expected = plan(forms, [(), (3, 0), (40,), (8, 25), (16, 500)])
    path = folder / "all.npz"
    tally.check("npz: written", write(path, "-", [*script, "commit"], codes), "done")
    check_read(path, expected)
    if numpy:
        back = numpy.load(path)
        for name, (_, shape, raw) in expected.items():
            tally.check(f"npz {name}", (back[name].shape, back[name].tobytes()), (shape, raw))
    for form, shape in (("fp32", (4, 6)), ("int16", ()), ("complex128", (7,)), ("bf16", (9, 2)), ("int4", (3, 5)),
                        ("uint8", (0,))):
        script, codes, expected = plan([form], [shape])
        path = folder / f"{form}.npy"
        tally.check(f"npy {form}: written", write(path, "npy", [*script, "commit"], codes), "done")
        if numpy and form in SIZES:
            back = numpy.load(path)
            tally.check(f"npy {form}", (back.shape, back.tobytes()), (shape, codes))
    script, codes, _ = plan(["bf16"], [(4, 6)])
    tally.check("raw: written", write(folder / "x.bin", "raw", [*script, "commit"], codes), "done")
    tally.check("raw: codes", (folder / "x.bin").read_bytes(), codes)
    tally.part("numpy")


def check_refusals(folder):
    """Nothing is left, and what was there stays."""
    codes = bytes(64)
    tensor = ["tensor a fp32 2x4", "tensor b fp4_e2m1 16"]
    whole = [*tensor, "write 0 0 8 0"]
    for what, path, container, script, word in (
            ("an element is missing", "x.npz", "-", [*tensor, "write 0 0 7 0", "write 1 0 16 0", "commit"], "usage"),
            ("nothing is written", "x.safetensors", "-", [tensor[0], "commit"], "usage"),
            ("twice", "x.safetensors", "-", [tensor[0], "write 0 0 4 0", "write 0 3 1 0"], "usage"),
            ("beyond the end", "x.safetensors", "-", [tensor[0], "write 0 7 2 0"], "usage"),
            ("far beyond the end", "x.safetensors", "-", [tensor[0], "write 0 1 18446744073709551615 0"], "usage"),
            ("no such tensor", "x.safetensors", "-", [tensor[0], "write 1 0 1 0"], "usage"),
            ("declared too late", "x.safetensors", "-", [tensor[0], "write 0 0 1 0", tensor[0]], "usage"),
            ("a name twice", "x.safetensors", "-", [tensor[0], tensor[0], "write 0 0 8 0"], "bad_input"),
            ("two in a npy", "x.npy", "-", [*whole, "write 1 0 16 0", "commit"], "bad_input"),
            ("metadata of npy", "x.npy", "-", ["pair a b"], "usage"),
            ("no extension", "x.what", "-", [], "usage"),
            ("no such container", "x.safetensors", "safe", [], "unknown_option"),
            ("a container that is not made", "x.gguf", "gguf", [], "unknown_option"),
            ("a folder that is not there", "no/x.npy", "-", [*tensor[:1], "write 0 0 8 0"], "write_failed"),
            ("no name for it", "x.safetensors", "-", ["tensor a e5m3 4"], "wrong_kind"),
            ("too many elements", "x.safetensors", "-", ["tensor a fp32 4294967296x4294967296"], "usage"),
            ("not committed", "x.safetensors", "-", whole, None)):
        got = write(folder / path, container, script, codes).split("\t")
        tally.check(f"refused: {what}", got[:2], ["error", word] if word else ["done"])
        tally.check(f"refused: {what}: nothing is left", left(folder), [])
    path = folder / "x.npy"
    path.write_bytes(b"old")
    got = write(path, "-", [tensor[0], "write 0 0 8 0", "commit"], codes).split("\t")
    tally.check("an existing file stays", (got[:2], path.read_bytes()), (["error", "write_failed"], b"old"))
    got = write(path, "-", [tensor[0], "write 0 0 8 0"], codes, "1")
    tally.check("until the commit", (got, path.read_bytes(), left(folder)), ("done", b"old", ["x.npy"]))
    got = write(path, "-", [tensor[0], "write 0 0 8 0", "commit"], codes, "1")
    tally.check("an existing file is replaced", (got, path.stat().st_size, left(folder)), ("done", 128 + 32, ["x.npy"]))
    os.mkfifo(folder / "pipe.npy")
    got = write(folder / "pipe.npy", "-", [], codes, "1").split("\t")
    tally.check("a pipe is refused", got[:2], ["error", "write_failed"])
    tally.part("refusals")


def check_killed(folder):
    """Nothing is visible under the name until the commit; a killed process leaves no part of it there."""
    path = folder / "x.npy"
    with subprocess.Popen([PROBE, "write", path, "-", "0", __file__], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdin.write(b"tensor a fp32 2x4\nwrite 0 0 4 0\nwait\n")
        process.stdin.flush()
        tally.check("it waits", process.stdout.readline(), b"waiting\n")
        tally.check("nothing has the name yet", path.exists(), False)
        process.send_signal(signal.SIGKILL)
    names = left(folder)
    tally.check("killed: nothing has the name", [name for name in names if not name.startswith(".x.npy.dtinfo-")], [])
    tally.part("killed")


def main():
    for part in (check_safetensors, check_numpy, check_refusals, check_killed):
        with tempfile.TemporaryDirectory() as folder:
            part(pathlib.Path(folder))
    tally.finish()


if __name__ == "__main__":
    main()
