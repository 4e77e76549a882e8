# SPDX-License-Identifier: MIT
"""The cases of machine.py: what runs, what it is compared with, and the target of each ratio.

Each function of ROWS takes a machine.Machine, with its options and probes, and yields the cases of a row."""
import collections
import functools
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile

import limits
import peers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "bench"))
import files  # noqa: E402

CORES = len(os.sched_getaffinity(0))

# ours(program) returns figures by name, each of the rivals a figure. ratios: (heading, f(ours, rivals), target);
# f returns None if a rival is missing, and the ratio is left out.
Case = collections.namedtuple("Case", "name ours rivals ratios rounds", defaults=(None,))


def at_least(limit):
    return (">= %g" % limit, lambda value: value >= limit)


def at_most(limit):
    return ("<= %g" % limit, lambda value: value <= limit)


def near(part):
    return ("1 +- %g" % part, lambda value: abs(value - 1) <= part)


def own(name):
    return lambda ours, theirs: ours[name]


def against(name, rival, times=1.0):
    """Our figure divided by a rival's; by_rival() is the inverse."""
    return lambda ours, theirs: times * ours[name] / theirs[rival] if theirs.get(rival) else None


def by_rival(name, rival):
    return lambda ours, theirs: theirs[rival] / ours[name] if theirs.get(rival) else None


def torch_cast(machine, src, dst, size, threads):
    """Returns the seconds of copy_() on huge pages, or None if torch lacks a dtype."""
    torch = machine.torch
    kinds = [getattr(torch, peers.TORCH[name], None) for name in (src, dst)]
    if None in kinds:
        return None
    n = size // peers.BYTES[src]
    torch.set_num_threads(threads)
    memory = [peers.Buffer(n * peers.BYTES[name]) for name in (src, dst)]
    source, target = (torch.frombuffer(part.memory, dtype=kind, count=n)
                      for part, kind in zip(memory, kinds))
    source.view(torch.uint8).fill_(0x3b)
    return machine.run_torch(lambda: target.copy_(source))


def copy_cases(machine):
    """Casts of arrays compared with the probe's best copy and torch, and the limit of bench with the probe's."""
    seconds, best = machine.options.time, machine.options.best
    for size in map(limits.size_of, machine.sizes):
        for threads in range(1, min(CORES, 2) + 1):
            for pair in limits.PAIRS.split(","):
                src, dst = pair.split(":")
                moved = size + size // peers.BYTES[src] * peers.BYTES[dst]

                def ours(program, src=src, dst=dst, size=size, threads=threads, moved=moved):
                    cast, copy = limits.run_bench(program, src, dst, size, threads, seconds, best)
                    return {"cast": cast, "copy": copy, "s": moved / cast * 1e-9 if cast else math.nan}  # no sample in time

                def probe(src=src, dst=dst, size=size, threads=threads):
                    return limits.run_probe(machine.probe, src, dst, size, threads, seconds, best)["copy"][0]
                rivals = {"probe": probe}
                if machine.torch:
                    rivals["torch"] = functools.partial(torch_cast, machine, src, dst, size, threads)
                yield Case("%s %s %dT" % (pair, limits.size_words(size), threads), ours, rivals, [
                    ("GB/s", own("cast"), None),
                    ("% of the best copy", against("cast", "probe", 100), at_least(92)),
                    ("limit of bench / of the probe", against("copy", "probe"), near(0.05)),
                    ("torch copy_ / ours", by_rival("s", "torch"), at_least(1.35))])


def loss_cases(machine):
    """Casts of arrays with the loss report, compared with casts without it in the same run."""
    for size, target in (("64MiB", 1.05), ("1MiB", 1.3)):
        for pair in limits.PAIRS.split(","):
            def ours(program, pair=pair, size=size):
                rows = machine.bench(program, "cast", pair, "--loss", "--threads", "1", "--size", size)
                times = {row["loss_report"]: row[machine.time] for row in rows if row["role"] == "cast"}
                return {"ratio": times[True] / times[False]}
            yield Case("%s %s 1T" % (pair, size), ours, {},
                       [("report on / off", own("ratio"), at_most(target))])


def expsin_cases(machine):
    """exp(sin x) for each dtype, compared with fp64 and with torch."""
    n = 4000000
    dtypes = ("fp64", "fp32", "fp16", "bf16")

    def ours(program):
        rows = machine.bench(program, "expsin", "--dtype", ",".join(dtypes), "--threads", "1", "--size", str(n))
        return {row["dtype"]: row[machine.time] / n * 1e9 for row in rows if row["role"] == "expsin"}

    def theirs(dtype):
        torch = machine.torch
        torch.set_num_threads(1)
        x = torch.rand(n, dtype=torch.float64).to(getattr(torch, peers.TORCH[dtype]))
        out = torch.empty_like(x)

        def call():
            torch.sin(x, out=out)
            torch.exp(out, out=out)
        return machine.run_torch(call) / n * 1e9
    rivals = {dtype: functools.partial(theirs, dtype) for dtype in dtypes} if machine.torch else {}
    ratios = []
    for dtype in dtypes:
        fp32 = dtype == "fp32"
        ratios += [(dtype + " ns", own(dtype), None),
                   (dtype + " / fp64", lambda o, _, dtype=dtype: o[dtype] / o["fp64"],
                    at_most(1 / 3) if fp32 else at_most(1)),
                   (dtype + " / torch", against(dtype, dtype), at_most(0.25) if fp32 else None)]
    yield Case("exp(sin x) 1T", ours, rivals, ratios)


def matmul_cases(machine):
    """Matrix products compared with torch and with the peak that bench measures."""
    n = 2048

    def ours(program, dtype):
        rows = machine.bench(program, "matmul", "--size", str(n), "--threads", "1", "--engine", "dtinfo",
                             "--dtype", dtype)
        rates = {row["role"]: row["operations"] / row[machine.time] for row in rows if row["role"] in
                 ("matmul", "peak")}
        return {"rate": rates["matmul"], "share": 100 * rates["matmul"] / rates["peak"]}

    def theirs(dtype):
        torch = machine.torch
        torch.set_num_threads(1)
        multiply = torch._int_mm if dtype == "int8" else torch.mm
        a, b = (torch.randint(-8, 8, (n, n)).to(getattr(torch, peers.TORCH[dtype])) for _ in range(2))
        return 2 * n ** 3 / machine.run_torch(lambda: multiply(a, b))
    for dtype, target in (("fp32", 0.95), ("bf16", 0.9), ("int8", 0.9)):
        rivals = {"torch": functools.partial(theirs, dtype)} if machine.torch else {}
        yield Case("matmul %s %d 1T" % (dtype, n), functools.partial(ours, dtype=dtype), rivals, [
            ("GFLOP/s", lambda o, _: 1e-9 * o["rate"], None), ("% of the peak of bench", own("share"), at_least(85)),
            ("of torch's rate", against("rate", "torch"), at_least(target))])


def torch_file(machine, source, target):
    """Returns the seconds of the recipe with the import of torch, and without: the import alone is timed right
    after it and subtracted."""
    recipe = files.RECIPES["torch frombuffer (mmap), to, write"]
    whole = machine.run([sys.executable, "-c", recipe, source, target])["s"]
    alone = machine.run([sys.executable, "-c", "import json, mmap, struct, warnings, torch"])["s"]
    return {"with import": whole, "without": max(whole - alone, 1e-9)}


def file_case(machine, folder, size, synced):
    source, target = (os.path.join(folder, name) for name in ("source.safetensors", "target.safetensors"))
    files.write_checkpoint(source, size)
    os.sync()

    def fresh(run):
        def call(*arguments):
            if os.path.exists(target):
                os.unlink(target)
            os.sync()
            return run(*arguments)
        return call

    def ours(program):
        return machine.run([program, "cast", source, "bf16", "-o", target])

    def copy():
        words = ["sh", "-c", 'cp "$1" "$2" && sync "$2"', "sh"] if synced else ["cp"]
        return machine.run([shutil.which(words[0]), *words[1:], source, target])["s"]
    rivals = {"cp": fresh(copy)}
    if machine.torch:
        rivals["torch"] = fresh(functools.partial(torch_file, machine, source, target))
    yield Case("cast %s, %s" % (limits.size_words(size), "disk" if synced else "tmpfs"), fresh(ours), rivals, [
        ("s", own("s"), None), ("MiB", own("MiB"), None),
        ("cp / ours", by_rival("s", "cp"), at_least(1.6)),
        ("torch mmap, no import / ours",
         lambda o, t: t["torch"]["without"] / o["s"] if "torch" in t else None, at_least(1.5)),
        ("torch mmap / ours",
         lambda o, t: t["torch"]["with import"] / o["s"] if "torch" in t else None, at_least(5))])
    for name in (source, target):
        if os.path.exists(name):
            os.unlink(name)


def file_cases(machine):
    """Casts of files compared with cp and torch's best recipe: in memory, and with --large on disk."""
    size = limits.size_of(machine.options.size)
    if os.path.isdir("/dev/shm"):
        with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="dtinfo-machine-") as folder:
            yield from file_case(machine, folder, size, False)
    if machine.options.large:
        yield from file_case(machine, machine.folder, 2 * size, True)


def scan_cases(machine):
    """Commands that read all data, compared with as many threads that map or copy the files and only sum their words."""
    source, copy = machine.path("scan.safetensors"), machine.path("scan-copy.safetensors")
    files.write_checkpoint(source, limits.size_of(machine.options.size))
    shutil.copyfile(source, copy)
    for name, words, read in (("inspect --stats", ["inspect", source, "--stats"], [source]),
                              ("check --no-nan", ["check", source, "--no-nan"], [source]),
                              ("compare", ["compare", source, copy], [source, copy])):
        readers = {how: [machine.reader, how, str(CORES), str(4 << 20), *read] for how in ("map", "sum")}
        yield Case(name, lambda program, words=words: machine.run([program, *words]),
                   {how: lambda reader=reader: machine.run(reader)["s"] for how, reader in readers.items()},
                   [("s", own("s"), None), ("/ a mapped sum", against("s", "map"), at_most(1.1)),
                    ("/ a copied sum", against("s", "sum"), at_most(1.1))])
    os.unlink(source)
    os.unlink(copy)


def on_cpus(count, call):
    """Calls on the first `count` CPUs; programs started there use that many threads."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        return call()
    finally:
        os.sched_setaffinity(0, allowed)


def stream_cases(machine):
    """Millions of records per second, from lines of 17 digits."""
    target, draw = machine.path("lines.npy"), random.Random(3)
    text = ["%.17g\n" % draw.gauss(0, 1) for _ in range(1000000)]
    for name, lines, words, least in (
            ("--jsonl", 100000, ["-", "bf16", "--jsonl"], 1), ("human lines", 250000, ["-", "bf16"], 3),
            ("-q", 1000000, ["-", "bf16", "-q"], 15),
            ("--from text", 1000000, ["SOURCE", "bf16", "--from", "text", "-o", target, "--force"], None)):
        source = machine.path("lines-%d.txt" % lines)
        pathlib.Path(source).write_text("".join(text[:lines]), encoding="ascii")
        whole = ["cast"] + [source if word == "SOURCE" else word for word in words]

        def ours(program, whole=whole, source=source, lines=lines):
            one, every = (on_cpus(cpus, lambda: machine.run([program, *whole], stdin=source))["s"]
                          for cpus in (1, CORES))
            return {"one": lines / one * 1e-6, "all": lines / every * 1e-6, "gain": one / every}
        yield Case(name, ours, {}, [
            ("M records/s, 1 CPU", own("one"), least and at_least(least)),
            ("M records/s, %d CPUs" % CORES, own("all"), None),
            ("%d CPUs / 1" % CORES, own("gain"), at_least(1.7) if CORES > 1 else None)])


def many_cases(machine):
    """100,000 tensors of two numbers each."""
    source, target = machine.path("many.safetensors"), machine.path("many-out.safetensors")
    files.write_many(source, 100000)
    for name, words in (("cast", ["cast", source, "fp16", "-o", target, "--force"]),
                        ("quant", ["quant", source, "int8", "-o", target, "--force"]),
                        ("check --quantized", ["check", target, "--quantized"]),  # what quant has just written
                        ("compare", ["compare", source, source]),
                        ("inspect --stats", ["inspect", source, "--stats"])):
        yield Case("100,000 tensors, " + name, lambda program, words=words: machine.run([program, *words]), {},
                   [("s", own("s"), at_most(0.3)), ("MiB", own("MiB"), at_most(60))])


def start_cases(machine):
    """One answer, run a hundred times, compared with /bin/true."""
    true, runs = shutil.which("true", path="/bin:/usr/bin"), 100
    yield Case("cast 70000 bf16", lambda program: machine.run([program, "cast", "70000", "bf16"], runs),
               {"true": lambda: machine.run([true], runs)["s"]},
               [("ms", lambda o, _: 1e3 * o["s"], None), ("/ /bin/true", against("s", "true"), at_most(1.45)),
                ("MiB", own("MiB"), at_most(3))])


def repeat_cases(machine):
    """Milliseconds of four runs of bench in a row, and whether all their intervals overlap."""
    for pair in limits.PAIRS.split(","):
        def ours(program, pair=pair):
            found = {}
            for run in "1234":
                rows = machine.bench(program, "cast", pair, "--size", "64MiB", "--threads", "1", seconds=5)
                row = next(row for row in rows if row["role"] == "cast")
                ends = [row[name] for name in ("low_seconds", "median_seconds", "high_seconds")]
                found[run] = None if None in ends else tuple(1e3 * end for end in ends)
            known = [ends for ends in found.values() if ends]
            agree = float(max(ends[0] for ends in known) <= min(ends[2] for ends in known)) if len(
                known) == len(found) else math.nan
            return dict(found, agree=agree)
        yield Case(pair, ours, {}, [("run " + run, own(run), None) for run in "1234"] + [
            ("agree", own("agree"), at_least(1))], rounds=1)


ROWS = {"copy": copy_cases, "loss": loss_cases, "expsin": expsin_cases, "matmul": matmul_cases,
        "files": file_cases, "scans": scan_cases, "streams": stream_cases, "many": many_cases,
        "start": start_cases, "repeat": repeat_cases}
