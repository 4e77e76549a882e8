# SPDX-License-Identifier: MIT
"""Hostile pickles: `check --pickle` lists what each would import, as picklescan and Python's pickletools do; commands
that read tensors refuse each in one line; and under strace nothing but the file is opened, and nothing is created, run
or connected.

usage: test_pickle_hostile.py DTINFO

Uses the packages picklescan and fickling if installed (PyPI; they load no pickle), and strace if it works.
"""
import collections
import io
import json
import os
import pathlib
import pickle
import random
import resource
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from harness import QUICK, Tally, have

from make_pickles import MAGIC, VERSION, archive, legacy, name, state, tensor, text

PROGRAM = os.path.abspath(sys.argv[1])
TALLY = Tally()
RANDOM = random.Random(20261125)
SECONDS = 1.5  # of the processor, per process
TARGETS = [("os", "system"), ("posix", "system"), ("nt", "system"), ("builtins", "eval"), ("builtins", "exec"), ("__builtin__", "eval"),
           ("builtins", "compile"), ("builtins", "getattr"), ("builtins", "__import__"), ("builtins", "open"), ("subprocess", "Popen"),
           ("subprocess", "check_output"), ("runpy", "_run_code"), ("runpy", "run_path"), ("torch.hub", "load"), ("torch", "load"),
           ("torch.jit.unsupported_tensor_ops", "execWrapper"), ("torch.storage", "_load_from_bytes"), ("numpy.f2py.crackfortran", "getlincoef"),
           ("numpy.testing._private.utils", "runstring"), ("ctypes", "CDLL"), ("ctypes.util", "find_library"), ("importlib", "import_module"),
           ("pickle", "loads"), ("_pickle", "loads"), ("marshal", "loads"), ("types", "CodeType"), ("types", "FunctionType"),
           ("operator", "attrgetter"), ("operator", "methodcaller"), ("functools", "partial"), ("pty", "spawn"), ("socket", "create_connection"),
           ("urllib.request", "urlopen"), ("http.client", "HTTPSConnection"), ("webbrowser", "open"), ("shutil", "rmtree"), ("sys", "exit"),
           ("cProfile", "run"), ("pdb", "run"), ("timeit", "main"), ("code", "InteractiveInterpreter.runcode"), ("pip", "main"),
           ("asyncio", "create_subprocess_shell"), ("multiprocessing.util", "spawnv_passfds"), ("logging.config", "dictConfig"),
           ("idlelib.run", "Executive.runcode"), ("__main__", "Net"), ("torch", "Tensor.__class__"), ("torch._utils", "_rebuild"),
           ("collections", "OrderedDict.__init__"), ("torch._utilS", "_rebuild_tensor_v2"), ("numpy", "load"), ("bdb", "Bdb.run")]
WORDS = ["touch made", "/bin/sh", "import os; os.system('touch made')", "http://127.0.0.1:9/made", "made"]


def run(*words, **how):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **how)


def short(value):
    """A text in any of the encodings that opcodes have."""
    data = value.encode()
    return RANDOM.choice([
        lambda: b"X" + struct.pack("<I", len(data)) + data, lambda: b"\x8c" + bytes([len(data)]) + data,
        lambda: b"\x8d" + struct.pack("<Q", len(data)) + data, lambda: b"U" + bytes([len(data)]) + data,
        lambda: b"T" + struct.pack("<i", len(data)) + data, lambda: b"V" + data + b"\n", lambda: b"S'" + data + b"'\n",
        lambda: b"V" + b"".join(b"\\u%04x" % c for c in data) + b"\n", lambda: b"S\"" + b"".join(b"\\x%02x" % c for c in data) + b"\"\n",
        lambda: b"V" + b"".join(b"\\U%08x" % c for c in data) + b"\n"])()


def plain_memo(opcodes, index):
    return RANDOM.choice([lambda: opcodes, lambda: opcodes + b"q" + bytes([index]) + b"0h" + bytes([index]),
                          lambda: opcodes + b"p%d\n0g%d\n" % (index, index), lambda: opcodes + b"20", lambda: b"N0" + opcodes,
                          lambda: opcodes + b"(N1", lambda: opcodes + b"\x95" + bytes(8)])()


def imported(target):
    """A global by GLOBAL, or by STACK_GLOBAL with texts built in any way."""
    module, function = target
    if RANDOM.random() < 0.3:
        return plain_memo(name(module, function), 9)
    return plain_memo(plain_memo(short(module), 1) + plain_memo(short(function), 2) + b"\x93", 3)


def called(target):
    """The same, called once by any opcode that calls."""
    word = short(RANDOM.choice(WORDS))
    return RANDOM.choice([
        lambda: imported(target) + b"(" + word + b"tR", lambda: imported(target) + word + b"\x85R",
        lambda: imported(target) + b"(" + word + b"t\x81", lambda: imported(target) + word + b"\x85}\x92",
        lambda: b"(" + word + b"i" + target[0].encode() + b"\n" + target[1].encode() + b"\n",
        lambda: b"(" + imported(target) + word + b"o", lambda: imported(target) + b"}" + word + b"Nsb"])()


def generated():
    """(what, pickle, globals that it imports, or None if Python fails before it has imported all)."""
    for number in range(60 if QUICK else 220):
        targets = RANDOM.sample(TARGETS, RANDOM.randint(1, 4))
        shape = RANDOM.randint(0, 5)
        bodies = [called(target) for target in targets]
        start = b"" if RANDOM.random() < 0.3 else b"\x80" + bytes([RANDOM.randint(0, 5)])
        if shape == 0:
            pickled = start + b"0".join(bodies) + b"."
        elif shape == 1:
            pickled = start + b"](" + b"".join(bodies) + b"e."
        elif shape == 2:
            pickled = state({"k%d" % i: body for i, body in enumerate(bodies)} | {"w": tensor()})
        elif shape == 3:  # a chain: the result of a call is called
            pickled = start + bodies[0] + b"".join(b"(" + body + b"tR" for body in bodies[1:]) + b"."
        elif shape == 4:
            pickled = start + b"(" * 500 + b"".join(bodies) + b"t" * 500 + b"."
        else:  # several pickles, and a truncated end
            pickled = b".".join(start + body for body in bodies) + RANDOM.choice([b".", b"", b"X\xff\xff\xff\xff", b"\xff", b".N"])
        yield "generated %d" % number, pickled, {(module, function) for module, function in targets}

    class Runs:
        def __init__(self, target):
            self.target = target

        def __reduce__(self):
            return self.target, ("touch made",)

    import shutil as other
    for protocol in range(6):
        for target in (os.system, eval, other.rmtree, subprocess.check_output):
            pickled = pickle.dumps([1, {"a": Runs(target), "b": (2.5, "x", b"y", None)}], protocol=protocol)
            old = {"builtins": "__builtin__", "subprocess": "commands"} if protocol < 3 else {}
            module = old.get(target.__module__, target.__module__)
            if module == "commands":
                continue
            yield "Python's own, protocol %d, %s" % (protocol, target.__name__), pickled, {(module, target.__name__)}


def odd():
    """Names that are computed or not plain text, and oversized input: the check fails, whatever globals it names."""
    run_ = name("os", "system") + b"(" + text("touch made") + b"tR"
    seen = {("os", "system")}
    return {
        "a computed module": (b"\x80\4" + text("o") + b"\x85" + text("system") + b"\x93)R.", None),
        "a computed name": (text("os") + name("builtins", "str") + text("system") + b"\x85R\x93)R.", None),
        "bytes as names": (b"C\2osC\6system\x93)R.", None), "a persistent name": (text("os") + b"Pname\n\x93)R.", None),
        "EXT1": (b"\x82\1)R.", None), "EXT2": (b"\x83\1\1)R.", None), "EXT4": (b"\x84\1\1\1\1)R.", None),
        "MEMOIZE counts what is there": (text("benign") + b"q\1" + b"0" + text("os") + b"\x940h\1" + text("system") + b"\x93)R.", seen),
        "a memo of 2^32 - 1": (run_ + b"r\xff\xff\xff\xff.", seen), "a memo of 10^20": (run_ + b"p100000000000000000000\n.", seen),
        "a memo that is not there": (run_ + b"h\5.", seen), "memo bomb": (run_ + b"".join(b"Nr" + struct.pack("<I", i * 4000) for i in range(900)) + b".", seen),
        "LONG4": (run_ + b"\x8b\xff\xff\xff\x7f.", seen), "a negative LONG4": (run_ + b"\x8b\xff\xff\xff\xff.", seen),
        "BINBYTES8": (run_ + b"\x8e" + b"\xff" * 8 + b".", seen), "BYTEARRAY8": (run_ + b"\x96" + b"\xff" * 7 + b"\x7f.", seen),
        "BINUNICODE8": (run_ + b"\x8d" + b"\xff" * 8 + b".", seen), "a FRAME of 2^64 - 1": (b"\x80\4\x95" + b"\xff" * 8 + run_, seen),
        "underflow": (run_ + b"00000R.", seen), "no mark": (run_ + b"tuel.", seen), "first an underflow": (b"0R" + run_ + b".", seen),
        "depth": (run_ + b"]" * 300000 + b"a" * 299999 + b".", seen), "marks": (run_ + b"(" * 1500000, seen),
        "tuples": (run_ + b"\x85" * 900000 + b".", seen), "no STOP": (run_, seen), "nothing after PROTO": (run_ + b".\x80", seen),
        "a global without an end": (run_ + b"cos\nsystem", seen), "a name of 1 MiB": (run_ + b"cos\n" + b"a" * (1 << 20) + b"\n.", seen),
        "20,000 names": (b"".join(b"cm%d\nn\n0" % i for i in range(20000)) + b"N.", {("m%d" % i, "n") for i in range(9000)}),
        "a pickle in bytes": (name("pickle", "loads") + b"B" + struct.pack("<I", len(run_) + 1) + run_ + b".\x85R.", {("pickle", "loads")}),
        "100 pickles": ((b"\x80\2N." * 99) + run_ + b".", seen), "after junk": (b"\x80\2N." + run_ + b".junk", seen),
        "protocol 200": (b"\x80\xc8" + run_ + b".", seen), "a line without an end": (run_ + b"S'" + b"a" * 200000, seen),
        "laughs": (run_ + b"]" + b"(h" * 0 + b"q\0" + (b"0](" + b"h\0" * 10 + b"eq\0") * 200 + b".", seen),
    }


def by_fickling():
    """Plain objects and state dicts into whose pickles fickling injected code."""
    if not have("fickling"):
        TALLY.skip("fickling")
        return
    from fickling.fickle import Pickled
    objects = [{"a": [1, 2.5, None], "b": ("x", {3})}, [], [collections.OrderedDict(c=b"bytes"), "text"]]
    plain = [pickle.dumps(one, protocol) for one in objects for protocol in range(6)] + [state({"w": tensor()})]

    def with_code(pickled, method, *words, **options):
        try:
            made = Pickled.load(pickled)
            getattr(made, method)(*words, **options)
            return [made.dumps()]
        except (NotImplementedError, ValueError):  # for opcodes that it does not know
            return []
    for at, pickled in enumerate(plain):
        for first, result in ((True, False), (False, False), (True, True), (False, True)):
            for module, attr in (("builtins", "exec"), ("os", "system"), ("importlib", "import_module")):
                for made in with_code(pickled, "insert_python", "touch made", module=module, attr=attr, run_first=first,
                                      use_output_as_unpickle_result=result):
                    yield "fickling %d, %s.%s, %d%d" % (at, module, attr, first, result), made, {(module, attr)}
        for compiled in (False, True):
            for made in with_code(pickled, "insert_function_call_on_unpickled_object",
                                  "def f(obj):\n    open('made', 'w')\n    return obj", compile_code=compiled):
                yield "fickling %d, a function, %d" % (at, compiled), made, {("builtins", "eval")}


def scanned(path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("check", "--pickle", path, "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    document = json.loads(done.stdout) if done.stdout else None
    return done.returncode, document["files"][0]["pickle"] if document else {"globals": []}, took, done.stderr


def names_of(found):
    return {(one["module"], one["name"]) for one in found["globals"]}


def by_picklescan(pickled):
    if not have("picklescan"):
        return None
    from picklescan.scanner import _list_globals
    try:
        return {tuple(one) for one in _list_globals(io.BytesIO(pickled))}
    except Exception:  # pylint: disable=broad-except
        return None


def files_of(what, pickled):
    """The pickle alone, and in both formats of torch.save()."""
    yield "x.pkl", pickled
    yield "x.pt", archive(pickled)
    yield "z.pt", archive(pickled, method=zipfile.ZIP_DEFLATED)
    if not what.startswith("generated"):
        return
    yield "y.pth", MAGIC + VERSION + b"\x80\x02}" + text("little_endian") + b"\x88s." + pickled


def judge(what, pickled, want):
    for path, content in files_of(what, pickled):
        pathlib.Path(path).write_bytes(content)
        code, found, took, complaint = scanned(path)
        label = "%s as %s" % (what, path)
        TALLY.check(label + ": exit, nothing said", (code, complaint), (1, b""))
        missing = sorted((want or set()) - names_of(found))
        if not path.endswith(".pth"):  # the older format is five pickles
            TALLY.check(label + ": globals", missing, [])
        TALLY.check(label + ": some global is unknown", any(not one["known"] for one in found["globals"]) or path.endswith(".pth"), True)
        TALLY.check(label + ": soon", took < SECONDS * (5 if "SAN_OPTIONS" in " ".join(os.environ) else 1), True)
    for words in (["inspect", "x.pt"], ["inspect", "x.pkl"], ["cast", "x.pt", "bf16", "-o", "out.safetensors", "--dry-run"]):
        done = run(*words)
        none = b" 0 tensors" in done.stdout     # the value contains no tensor, so no tensor depends on the call
        TALLY.check("%s: %s" % (what, words[0]), (done.returncode, done.stdout and none, done.stderr.count(b"\n")),
                    (0, True, int(words[0] == "cast")) if none else (3, b"", 1))


def against_peer(what, pickled):
    """Every global that picklescan finds is listed."""
    peer = by_picklescan(pickled)
    if peer is None:
        return
    pathlib.Path("x.pkl").write_bytes(pickled)
    found = names_of(scanned("x.pkl")[1])
    readable = {(module, function) for module, function in peer if "unknown" not in (module, function)}
    TALLY.check(what + ": picklescan", sorted(readable - found), [])


def traced(paths):
    """One process over all files: the files that it opens; it must start no process."""
    if not shutil.which("strace"):
        print("without strace")
        return
    for words in (["check", "--pickle", "-q"], ["inspect", "-q"], ["check", "-q"]):
        for part in ([paths] if words[0] == "check" and len(words) == 3 else [[path] for path in paths[::12]]):
            done = subprocess.run(["strace", "-f", "-o", "trace", "-e", "trace=file,process,network", PROGRAM, *words, *part],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if not os.path.exists("trace") or done.returncode > 3:
                print("strace does not work here")
                return
            lines = pathlib.Path("trace").read_text(encoding="utf-8", errors="replace").splitlines()
            # folders and O_PATH are what the sandbox allows: nothing is read from them
            opened = {found[1] for line in lines if (found := re.search(r'\bopen(?:at)?\([^"]*"([^"]*)"', line))
                      and not re.search(" = -1 |O_PATH|O_DIRECTORY", line)}
            others = sorted(path for path in opened if path not in part and not re.match(r"/(lib|usr|etc/ld|proc|sys|dev|nix)|/.*\.so", path))
            TALLY.check("opens %s" % words, others, [])
            bad = [line for line in lines if re.search(r"\b(execve|socket|connect|fork|vfork|unlink|mkdir|rename|creat|symlink)\w*\(", line)
                   or "O_CREAT" in line]
            TALLY.check("runs %s" % words, [line for line in bad[1:] if "O_TMPFILE" not in line], [])


def counts():
    """How often each global is called, and by which opcodes."""
    one = name("m", "f")
    for what, opcodes, calls in (("REDUCE", one + b")R", 1), ("NEWOBJ", one + b")\x81", 1), ("NEWOBJ_EX", one + b")}\x92", 1),
                                 ("OBJ", b"(" + one + b"o", 1), ("INST", b"(im\nf\n", 1), ("BUILD", one + b"}b", 1),
                                 ("REDUCE, BUILD", one + b")R}b", 2), ("a chain", one + b")R)R)R", 3), ("none", one, 0)):
        pathlib.Path("x.pkl").write_bytes(opcodes + b".")
        found = scanned("x.pkl")[1]
        TALLY.check("calls: " + what, [(one["count"], one["imports"]) for one in found["globals"]], [(calls, 1)])


def zip_bomb():
    pathlib.Path("bomb.pt").write_bytes(archive(b"(" * (400 << 20), method=zipfile.ZIP_DEFLATED))
    code, found, took, _ = scanned("bomb.pt")
    TALLY.check("a zip bomb", (code, found["globals"], took < 20), (1, [], True))
    pathlib.Path("nested.zip").write_bytes(archive(b"N.", more=[("archive/other/evil.PKL", name("os", "system") + b")R.")]))
    TALLY.check("a member elsewhere", ("os", "system") in names_of(scanned("nested.zip")[1]), True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    count, paths = 0, []
    for what, pickled, want in generated():
        judge(what, pickled, want)
        against_peer(what, pickled)
        os.makedirs("all", exist_ok=True)
        paths.append("all/%d.pt" % count)
        pathlib.Path(paths[-1]).write_bytes(archive(pickled) if count % 3 else pickled)
        count += 1
    TALLY.part("%d pickles by a generator" % count)
    for what, pickled, want in by_fickling():
        judge(what, pickled, want)
        against_peer(what, pickled)
    TALLY.part("pickles by fickling")
    for what, (pickled, want) in odd().items():
        judge(what, pickled, want)
    TALLY.part("odd pickles")
    traced(paths)
    TALLY.part("strace")
    zip_bomb()
    counts()
    TALLY.check("nothing is made", os.path.exists("made") or os.path.exists("out.safetensors"), False)
    os.chdir("/")
TALLY.finish()
