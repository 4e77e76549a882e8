#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hours of work in the same processes: two runs of the program that read standard input without end, and the Python module,
which does all that it can do with arrays and files; between them commands that write files. Inputs are random, by a seed;
what comes out is compared with what other code expects. Memory is flat if, after the first quarter, the most that a
process uses in the second half of the passes is not more than in the first: descriptors, threads, mappings, and resident
memory but for SLACK; of the module, also the bytes that malloc() has given out.

    soak.py DTINFO MEASURE [hours=N] [minutes=N] [seed=N]         6 hours without a number
"""
import collections
import gc
import json
import os
import random
import select
import selectors
import struct
import subprocess
import sys
import time

PASS_VALUES, PASS_CODES = 2000, 1 << 16
SLACK = {"values": 256, "stream": 256, "module": 2048}  # KiB of resident memory
ALLOCATED_SLACK = 32 << 10  # bytes
WARM = 0.25  # of the passes: until then anything may grow


def nearest_bf16(code):
    """The bf16 of fp32 codes, as both are stored; ties to even. No NaN."""
    return code + 0x7FFF + (code >> 16 & 1) >> 16


def random_codes(draw, count):
    """fp32 codes of finite numbers that are finite in bf16, too."""
    return [draw.getrandbits(1) << 31 | draw.randrange(0x7F000000) for _ in range(count)]


# The module's part: a process of its own, which gets a seed a line and answers with the bytes of malloc().

def given_out():
    import ctypes
    fields = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")

    class Mallinfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in fields]
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    gc.collect()
    found = mallinfo()
    return found.uordblks + found.hblkhd


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def tensors_of(path):
    """{name: (dtype, bytes)} of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in header.items()}


def with_arrays(dtinfo, np, ml_dtypes, x):
    expect(np.asarray(dtinfo.cast(x, "bf16")).tobytes() == x.astype(ml_dtypes.bfloat16).tobytes(), "cast")
    codes, report = dtinfo.cast(x, "fp16", report=True)
    with np.errstate(over="ignore"):
        half = x.astype(np.float16)
    expect(np.asarray(codes).tobytes() == half.tobytes(), "cast to fp16")
    expect(report.inexact == int((half.astype(np.float32) != x).sum()), "report")
    expect(dtinfo.stats(x).elements == x.size, "stats")
    back = np.asarray(dtinfo.quantize(x, "int8", per="channel").dequantize())
    most = np.abs(x).max(axis=1, keepdims=True)
    expect((np.abs(back - x) <= most / 127 * 0.5001).all(), "quantize")
    doubled = np.asarray(dtinfo.calc("x*2", "fp32", x=x))
    expect(doubled.tobytes() == (x * 2).tobytes(), "calc")
    expect(dtinfo.compare(x, x).equal if hasattr(dtinfo.compare(x, x), "equal") else True, "compare")
    for wrong in (lambda: dtinfo.cast(x, "bf17"), lambda: dtinfo.quantize(x, "nonsense"), lambda: dtinfo.open("none.npy")):
        try:
            wrong()
        except dtinfo.Error:
            continue
        raise AssertionError("no error")


def with_files(dtinfo, np, ml_dtypes, x):
    dtinfo.save("w.safetensors", {"a.weight": x, "b.weight": x[::-1].copy(), "ids": np.arange(4)}, force=True)
    with dtinfo.open("w.safetensors") as file:
        expect(np.asarray(file["a.weight"].read()).tobytes() == x.tobytes(), "open")
    dtinfo.cast_file("w.safetensors", "bf16", "w_bf16.safetensors", force=True)
    expect(tensors_of("w_bf16.safetensors")["a.weight"] == ("BF16", x.astype(ml_dtypes.bfloat16).tobytes()), "cast_file")
    dtinfo.quantize_file("w.safetensors", "fp8_e4m3fn", "w_q.safetensors", force=True, layout="compressed-tensors")
    dtinfo.transcode("w_q.safetensors", "comfy", "w_t.safetensors", force=True)
    dtinfo.dequantize_file("w_q.safetensors", "fp32", "w_d.safetensors", force=True)
    dtinfo.dequantize_file("w_t.safetensors", "fp32", "w_e.safetensors", force=True)
    numbers = np.frombuffer(tensors_of("w_d.safetensors")["a.weight"][1], np.float32).reshape(x.shape)
    expect((np.abs(numbers - x) <= np.abs(x) / 15 + np.abs(x).max() / 448 / 500).all(), "quantize_file")
    expect(tensors_of("w_d.safetensors")["a.weight"] == tensors_of("w_e.safetensors")["a.weight"], "transcode")
    expect(dtinfo.inspect("w.safetensors")["files"][0]["tensors"][0]["name"] == "a.weight", "inspect")
    expect(dtinfo.compare("w.safetensors", "w.safetensors").ok and not dtinfo.compare("w.safetensors", "w_bf16.safetensors").ok, "compare")
    expect(dtinfo.check("w.safetensors", no_nan=True).ok and dtinfo.explain("w.safetensors", "w_bf16.safetensors").ok, "check")
    try:
        dtinfo.cast_file("w.safetensors", "bf16", "w_bf16.safetensors")
    except dtinfo.WriteError:
        return
    raise AssertionError("replaced without force")


def work():
    import dtinfo
    import ml_dtypes
    import numpy as np
    print("ready", flush=True)
    for line in sys.stdin:
        draw = np.random.default_rng(int(line))
        x = (draw.standard_normal((int(draw.integers(1, 64)), 64)) * 10.0 ** float(draw.integers(-3, 3))).astype(np.float32)
        for _ in range(10):
            with_arrays(dtinfo, np, ml_dtypes, x)
        with_files(dtinfo, np, ml_dtypes, x)
        del x, draw
        print(given_out(), flush=True)


# The other part: the processes, their work and what they use.

class Process:
    """A process that works all the time, and what it used after each pass."""

    def __init__(self, name, words):
        self.name, self.wanted, self.got = name, b"", b""
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.samples = collections.defaultdict(list)

    def sample(self, **more):
        base = "/proc/%d/" % self.child.pid
        with open(base + "status") as file:
            status = dict(line.split(":", 1) for line in file)
        with open(base + "maps") as file:
            more["mappings"] = sum(1 for _ in file)
        more.update(resident=int(status["VmRSS"].split()[0]), threads=int(status["Threads"]), descriptors=len(os.listdir(base + "fd")))
        for name, value in more.items():
            self.samples[name].append(value)

    def pump(self, data):
        """Writes all of the data and takes what comes."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdin, selectors.EVENT_WRITE)
            selector.register(self.child.stdout, selectors.EVENT_READ)
            while data:
                for key, _ in selector.select(SECONDS):
                    if key.fileobj is self.child.stdout:
                        some = os.read(self.child.stdout.fileno(), 1 << 16)
                        require(some, self.name, "ended", self.child.poll())
                        self.got += some
                    else:
                        data = data[os.write(self.child.stdin.fileno(), data[:select.PIPE_BUF]):]

    def end(self):
        self.child.stdin.close()
        self.got += self.child.stdout.read()
        require(self.child.wait(SECONDS) == 0, self.name, "exit status", self.child.returncode)

    def growth(self):
        """What is not flat: (process, what, before, after)."""
        found = []
        for what, values in self.samples.items():
            slack = {"resident": SLACK[self.name], "allocated": ALLOCATED_SLACK}.get(what, 0)
            warm = values[int(len(values) * WARM):]
            before, after = max(warm[:len(warm) // 2], default=0), max(warm[len(warm) // 2:], default=0)
            if after > before + slack:
                found.append((self.name, what, before, after))
        return found


class Values(Process):
    """A number a line; out comes the spelling of its bf16."""

    def __init__(self, program):
        super().__init__("values", [program, "cast", "-", "bf16", "-q"])
        self.codes = collections.deque()

    def work(self, draw):
        codes = random_codes(draw, PASS_VALUES)
        self.codes.extend(codes)
        self.pump("".join(struct.unpack("<f", struct.pack("<I", code))[0].hex() + "\n" for code in codes).encode())
        self.judge()

    def judge(self):
        *lines, self.got = self.got.split(b"\n")
        for line in lines:
            code = self.codes.popleft()
            got, = struct.unpack("<I", struct.pack("<f", float(line)))
            require(nearest_bf16(got) == nearest_bf16(code), "another number", hex(code), line)


class Stream(Process):
    """Codes of fp32; out come those of bf16."""

    def __init__(self, program):
        super().__init__("stream", [program, "cast", "-", "bf16", "--from", "fp32", "-o", "-", "-q"])

    def work(self, draw):
        codes = random_codes(draw, PASS_CODES)
        self.wanted += struct.pack("<%dH" % PASS_CODES, *map(nearest_bf16, codes))
        self.pump(struct.pack("<%dI" % PASS_CODES, *codes))
        self.judge()

    def judge(self):
        size = len(self.got)
        require(self.got == self.wanted[:size], "other codes")
        self.wanted, self.got = self.wanted[size:], b""


class Module(Process):
    """The Python module; see work()."""

    def __init__(self):
        super().__init__("module", [sys.executable, os.path.abspath(__file__), "work"])
        require(self.child.stdout.readline() == b"ready\n", "the module does not load")

    def work(self, draw):
        self.child.stdin.write(b"%d\n" % draw.getrandbits(32))
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        require(answer.strip().isdigit(), "the module", answer, self.child.poll())
        self.allocated = int(answer)

    def judge(self):
        pass

    def sample(self, **more):
        super().sample(allocated=self.allocated, **more)


def run_commands(draw, rows):
    """A command of each kind now and then, and one with random input."""
    row = draw.choice(rows)
    fill(row.old)
    done = run(row.words)
    require(done.code == 0 and tree() == row.new, "a command", row.words, done.code, done.stderr, sorted(tree()))
    source, wanted = arrays(draw.randrange(1, 200000))
    with open("o/in.bin", "wb") as file:
        file.write(source)
    done = run("cast o/in.bin bf16 --from fp32 -o o/out.bin -q --force".split())
    require(done.code == 0 and tree()["out.bin"] == wanted, "a random array", done.code, done.stderr)
    require(not os.listdir("t"), "left in TMPDIR", os.listdir("t"))


def soak(seconds, seed):
    draw = random.Random(seed)
    with workplace() as rows:
        processes = [Values(PROGRAM), Stream(PROGRAM)] + ([Module()] if has_module() else [])
        begin, passes = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            for process in processes:
                process.work(draw)
                process.sample()
            run_commands(draw, rows)
            passes += 1
        for process in processes:
            process.end()
            process.judge()
            require(not getattr(process, "codes", None) and not process.wanted, process.name, "gave less than it got")
            print("        %-7s %s" % (process.name, ", ".join("%s %d to %d" % (what, min(values), max(values))
                                                                for what, values in process.samples.items())))
        print("        %d passes in %d s, seed %d" % (passes, seconds, seed))
        growth = [each for process in processes for each in process.growth()]
        require(not growth, "not flat (process, what, before, after):", *growth)
        require(passes > 20, "hardly a pass")


def has_module():
    found = subprocess.run([sys.executable, "-c", "import dtinfo, numpy, ml_dtypes"], stderr=subprocess.DEVNULL).returncode == 0
    if not found:
        print("        without the Python module, which is not built, or lacks numpy or ml_dtypes")
    return found


def seconds_and_seed():
    """Takes its words from the command line."""
    seconds, seed = 6 * 3600, 20240229
    for word in sys.argv[3:]:
        what, _, number = word.partition("=")
        if what == "seed":
            seed = int(number)
        else:
            seconds = float(number) * {"hours": 3600, "minutes": 60}[what]
    del sys.argv[3:]
    return seconds, seed


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
        sys.exit()
    SECONDS_OF_WORK, SEED = seconds_and_seed()
    from file_casts import arrays
    from survival import PROGRAM, SECONDS, check, main, require, run
    from writers import fill, tree, workplace

    @check
    def memory_is_flat():
        soak(SECONDS_OF_WORK, SEED)
    sys.exit(main())
