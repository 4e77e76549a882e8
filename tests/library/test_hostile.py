# SPDX-License-Identifier: MIT
"""Files that are broken, that change, and that several threads read, through the public functions of the library: nothing
crashes, nothing is read beyond an end, and every refusal is one line.

    test_hostile.py PROBE TESTS
TESTS is the folder with data, fuzz/seeds and makers.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from probe_files import PROBE, RANDOM, list_of, tally

TESTS = pathlib.Path(sys.argv[2])
AT_ONCE = 400
MUTATIONS = 12


def exercise(paths, how, word="exercise"):
    for at in range(0, len(paths), AT_ONCE):
        some = [str(path) for path in paths[at:at + AT_ONCE]]
        done = subprocess.run([PROBE, word, how, *some], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        tally.check(f"{word} {how} {some[0]} ...", (done.returncode, done.stderr.decode()[-2000:]), (0, ""))
        tally.checked += len(some) - 1


def mutated(data):
    """Bytes changed, cut, or repeated."""
    data = bytearray(data)
    for _ in range(RANDOM.choice((1, 1, 2, 8))):
        at = RANDOM.randrange(len(data)) if RANDOM.random() < 0.5 else RANDOM.randrange(min(len(data), 600))
        kind = RANDOM.randrange(6)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at:at] = data[at:at + RANDOM.randrange(1, 9)]
        elif kind == 2:
            data[at:at + 8] = struct.pack("<Q", RANDOM.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 2**40)))
        else:
            data[at] = RANDOM.choice((0, 0xff, data[at] ^ 1 << RANDOM.randrange(8), RANDOM.randrange(256)))
        if not data:
            break
    return bytes(data)


def make_files(folder):
    """Files of every container."""
    for script, words in (("make_checkpoint.py", (folder,)), ("make_checkpoint.py", (folder, "--others", "--dduf", "--hostile", "--single")), ("make_quantized.py", (folder / "nvfp4", "nvfp4", 2, 32, 64))):
        done = subprocess.run([sys.executable, str(TESTS / "makers" / script), *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        tally.check(script, (done.returncode, done.stdout[-500:] if done.returncode else b""), (0, b""))
    for path in (TESTS / "data").iterdir():
        if path.suffix in (".safetensors", ".onnx", ".pt", ".data"):
            shutil.copy(path, folder)
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < 1 << 20)


def check_seeds(folder):
    seeds = sorted(path for path in (TESTS / "fuzz" / "seeds").rglob("*") if path.is_file())
    paths = list(seeds)
    for path in seeds:
        data = path.read_bytes()
        if path.parent.name == "safetensors":
            paths.append(folder / f"{path.name}.safetensors")
            paths[-1].write_bytes(struct.pack("<Q", len(data)) + data + bytes(range(256)))
        elif path.parent.name in ("files", "dequant"):  # several files, each after a byte and a letter
            for number, piece in enumerate(data.split(b"\xf5")[1:]):
                paths.append(folder / f"{path.name}.{number}")
                paths[-1].write_bytes(piece[1:])
    for how in ("m", "ms", "p", "fl"):
        exercise(paths, how)
    tally.part(f"{len(paths)} seeds")


def check_mutated(folder):
    files, number = make_files(folder), 0
    exercise(files, "p")
    exercise(files, "p", "visit")
    for path in files:
        data, paths = path.read_bytes(), []
        if not data:
            continue
        for _ in range(MUTATIONS):
            paths.append(path.with_name(f"mutated{number}{path.suffix}"))
            paths[-1].write_bytes(mutated(data))
            number += 1
        for how in ("m", "p", "ms", "ml"):
            exercise(paths, how)
        for changed in paths:
            changed.unlink()
    tally.part(f"{len(files)} files, {number} mutated")


class Reading:
    """A file that is open in the probe."""

    def __init__(self, path, how):
        self.process = subprocess.Popen([PROBE, "read", path, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, name, first, count):
        self.process.stdin.write(f"{name.encode().hex()} {first} {count}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode().rstrip("\n").split("\t")
        return self.process.stdout.read(int(line[1])) if line[0] == "codes" else line

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def check_changed(folder):
    """A file that changes, becomes shorter or longer while it is open; one whose name gets another file is what it was."""
    header = b'{"a":{"dtype":"U8","shape":[4000],"data_offsets":[0,4000]}}'
    whole = struct.pack("<Q", len(header)) + header + bytes(i % 251 for i in range(4000))

    def shorter(path):
        os.truncate(path, len(whole) - 1)

    def longer(path):
        with open(path, "ab") as file:
            file.write(b"x")

    def touched(path):
        os.utime(path, ns=(1, 1))

    def replaced(path):
        other = path.with_name("other")
        other.write_bytes(bytes(100))
        os.replace(other, path)

    for how in ("p", "f"):
        for change, word in ((shorter, "changed"), (longer, "changed"), (touched, "changed"), (replaced, None)):
            path = folder / "x.safetensors"
            path.write_bytes(whole)
            reading = Reading(path, how)
            tally.check("before it changes", reading.ask("a", 5, 3), bytes((5, 6, 7)))
            change(path)
            for _ in range(2):
                got = reading.ask("a", 5, 3)
                if word:
                    tally.check(f"{how} {change.__name__}", (got[:2], word in got[2]), (["error", "bad_input"], True))
                else:
                    tally.check(f"{how} {change.__name__}", got, bytes((5, 6, 7)))
            tally.check("the probe ends", reading.end(), 0)
    tally.part("changed files")


def check_alone(folder):
    """What has no name opens no other file: an index, a part of a model, a configuration."""
    header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    (folder / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"a")
    index = folder / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "x.safetensors"}}')
    tally.check("an index", sorted(list_of(index, "p")[0]), ["a"])
    for how in "fm":
        _, lines = list_of(index, how)
        tally.check(f"an index {how}", (lines[0][:2], "needs a file name" in lines[0][2]), (["error", "bad_input"], True))
    reader, writer = os.pipe()
    os.close(writer)
    _, lines = list_of(f"/dev/fd/{reader}", "p")
    tally.check("a pipe", lines[0][0], "error")
    os.close(reader)
    _, lines = list_of(folder, "f")
    tally.check("a folder's descriptor", (lines[0][:2], "regular file" in lines[0][2]), (["error", "bad_input"], True))
    _, lines = list_of("-", "p")
    tally.check("a file named -", (lines[0][0], "'./-'" in lines[0][2]), ("error", True))
    tally.part("alone")


def check_scarce(folder):
    """Each allocation fails in turn, alone and with all that follow."""
    make_files(folder)
    for name in ("model.safetensors.index.json", "deflated.npz", "model.gguf", "torch.pt", "quantized.onnx", "model.dduf",
                 "comfy.safetensors", "nvfp4/model.safetensors.index.json"):
        done = subprocess.run([PROBE, "scarce", str(folder / name), "p", str(folder / "copy.npz")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        tally.check(f"{name}: scarce memory", (done.returncode, done.stderr.decode()), (0, ""))
        print(name, *done.stdout.decode().split())
    tally.part("scarce memory")


def main():
    for part in (check_seeds, check_mutated, check_changed, check_alone, check_scarce):
        with tempfile.TemporaryDirectory() as folder:
            part(pathlib.Path(folder))
    tally.finish()


if __name__ == "__main__":
    main()
