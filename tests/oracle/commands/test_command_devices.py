#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`devices` against lscpu, on this machine and on recorded ones; which files it opens; and its output with the fake
driver.

usage: test_command_devices.py DTINFO [FAKE_CUDA FAKE_NVML]
"""
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINES = ROOT / "tests/data/machines"
SKIPPED = 77
PROGRAM = os.path.abspath(sys.argv[1])
FAKE_CUDA, FAKE_NVML = (sys.argv[2:] + ["", ""])[:2]
failures, checks, skipped = 0, 0, []


def check(good, text):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAILED " + text)


def run(*words, cwd=None, **variables):
    environment = {"PATH": os.defpath, "LC_ALL": "C", **variables}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "MSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.run([PROGRAM, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=60, cwd=cwd)


def cpu_of(*words):
    done = run("devices", "--device", "cpu", "--json", *words)
    check(done.returncode == 0, "devices --json: " + done.stderr)
    return json.loads(done.stdout)["devices"][0]


def lscpu(*words):
    """Fields of lscpu, without nested ones."""
    done = subprocess.run(["lscpu", "-J", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
    fields = {}

    def walk(rows):
        for row in rows:
            if row.get("data") is not None:
                fields.setdefault(row["field"].rstrip(":"), row["data"])
            walk(row.get("children", []))
    if done.returncode == 0:
        walk(json.loads(done.stdout)["lscpu"])
    return fields


def cache_total(text):
    """Parses '96 KiB (2 instances)' into bytes and 2."""
    found = re.match(r"([\d.]+) (\w+)(?: \((\d+) instances?\))?", text)
    units = {"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    return float(found.group(1)) * units[found.group(2)], int(found.group(3) or 0)


def compare(name, device, fields):
    """Fields that both report must agree."""
    cpu, known = device["cpu"], 0

    def same(field, ours, convert=str):
        nonlocal known
        theirs = fields.get(field)
        if theirs in (None, "-", "") or ours is None:
            return
        known += 1
        check(convert(theirs) == ours, "%s: %s is %r to lscpu, %r to dtinfo" % (name, field, theirs, ours))

    same("Architecture", cpu["architecture"])
    same("CPU family", cpu["family"], int)
    same("Model name", device["name"])
    same("Hypervisor vendor", cpu["hypervisor"])
    same("Socket(s)", cpu["sockets"], int)
    same("NUMA node(s)", len(cpu["numa_nodes"]) or None, int)
    if cpu["architecture"] == "x86_64":
        same("Vendor ID", cpu["vendor"])
        same("Model", cpu["model"], int)
        same("Stepping", cpu["stepping"], int)
    if None not in (cpu["sockets"], cpu["cores"]):
        same("Core(s) per socket", cpu["cores"] / cpu["sockets"], float)
    online = fields.get("On-line CPU(s) list", "")
    if online and cpu["threads"]:
        count = sum(int(part.split("-")[-1]) - int(part.split("-")[0]) + 1 for part in online.split(","))
        check(count == cpu["threads"], "%s: %d CPUs to lscpu, %d to dtinfo" % (name, count, cpu["threads"]))
    for label, level, kind in (("L1d cache", 1, "data"), ("L1i cache", 1, "instruction"),
                               ("L2 cache", 2, "unified"), ("L2", 2, "unified"), ("L3 cache", 3, "unified"),
                               ("L1d", 1, "data"), ("L1i", 1, "instruction"), ("L3", 3, "unified")):
        ours = [c for c in cpu["caches"] if c["level"] == level and c["type"] == kind]
        if label not in fields or not ours or not re.match(r"[\d.]+ \w+", fields[label]):
            continue
        total, count = cache_total(fields[label])
        mine = sum(c["size_bytes"] * c["count"] for c in ours)
        known += 1
        check(abs(mine - total) <= 0.06 * total and count in (0, sum(c["count"] for c in ours)),
              "%s: %s is %s to lscpu, %d bytes in %d to dtinfo" % (name, label, fields[label], mine,
                                                                   sum(c["count"] for c in ours)))
    flags = set(fields.get("Flags", "").split())
    if flags:
        named = {"f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512_bf16", "avx512_vnni", "amx_tile",
                 "avx512vbmi", "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2"}
        ours = set(cpu["instructions"]) & named
        check(ours == flags & named, "%s: instruction sets %s" % (name, sorted(ours ^ (flags & named))))
    check(known >= 5, "%s: lscpu and dtinfo have only %d fields in common" % (name, known))


def judge_by_lscpu():
    if not shutil.which("lscpu"):
        skipped.append("lscpu is not here")
        return
    fields = lscpu()
    here = cpu_of()
    if here["cpu"]["hypervisor"] == "QEMU TCG" or here["cpu"]["architecture"] != fields.get("Architecture"):
        skipped.append("the program is emulated, lscpu is not")
    elif fields:
        compare("this machine", here, fields)
    with tempfile.TemporaryDirectory(prefix="dtinfo-machines-") as folder:
        for name in ("zen5_kvm", "sapphire_rapids_two_sockets", "alder_lake_hybrid", "neoverse_n1"):
            machine = os.path.join(folder, name)
            subprocess.run([sys.executable, str(ROOT / "tools/machine.py"), "unpack",
                            str(MACHINES / (name + ".txt")), machine], check=True)
            fields = lscpu("--sysroot", machine)
            if "Architecture" not in fields:
                skipped.append("lscpu does not read recordings")
                return
            fields.pop("Hypervisor vendor", None)  # a property of this machine
            if name == "neoverse_n1":
                fields["Architecture"] = "aarch64"  # uname reports this machine
            compare(name, cpu_of("--sysroot", machine), fields)


def opened(*words):
    """Files that a run opens or tries to open."""
    with tempfile.NamedTemporaryFile() as log:
        done = subprocess.run(["strace", "-f", "-e", "trace=open,openat,execve", "-o", log.name, PROGRAM, *words],
                              env={"PATH": os.defpath}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        text = log.read().decode(errors="replace")
    return done.returncode, text


def judge_by_strace():
    if not shutil.which("strace") or opened("--version")[0] != 0:
        skipped.append("strace is not here, or may not trace")
        return
    libraries = re.compile(r"libcuda|libnvidia|/dev/nvidia|cublas")
    for words in (["devices", "--device", "cpu", "-v"], ["devices", "--device", "cpu", "--json"],
                  ["cast", "70000", "bf16"], ["finfo", "bf16"], ["list"]):
        code, text = opened(*words)
        check(code == 0 and "openat" in text, "%s under strace: exit %d" % (words, code))
        check(not libraries.search(text), "%s asks for a CUDA library" % words)
    check("libcuda" in opened("devices")[1], "devices does not look for the driver, or strace does not see it")


def differences(want, got, name):
    return "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), name, "printed", lineterm=""))


def judge_with_pretend_driver():
    """Two devices next to a recorded CPU: independent of this machine."""
    if not FAKE_CUDA:
        skipped.append("there is no pretend driver here")
        return
    golden = MACHINES / "pretend_driver.golden"
    variables = {"DTINFO_LIBCUDA": "./cuda.so", "DTINFO_LIBNVML": "./nvml.so"}
    cases = [(["--device", "all"], {}), (["--device", "all", "-v", "--ids"], {}), (["--device", "cuda:1"], {}),
             (["--device", "auto"], {}), (["--device", "all", "-q"], {}), (["--device", "cuda:1", "-q"], {}),
             (["--device", "all", "--json"], {}), (["--device", "cuda", "--ids", "--json"], {}),
             (["--device", "cuda:7"], {}), (["--device", "all"], {"FAKE_CUDA": "devices=0"}),
             (["--device", "cuda"], {"FAKE_CUDA": "devices=0"}),
             (["--device", "all"], {"FAKE_CUDA": "version=9000"}),
             (["--device", "cuda", "-v"], {"DTINFO_LIBNVML": "./none.so"})]
    text = ""
    with tempfile.TemporaryDirectory(prefix="dtinfo-machines-") as folder:
        machine = os.path.join(folder, "m")
        subprocess.run([sys.executable, str(ROOT / "tools/machine.py"), "unpack", str(MACHINES / "zen5_kvm.txt"),
                        machine], check=True)
        os.symlink(os.path.abspath(FAKE_CUDA), os.path.join(folder, "cuda.so"))
        os.symlink(os.path.abspath(FAKE_NVML), os.path.join(folder, "nvml.so"))
        if "built without CUDA kernels" in run("devices", "--json", cwd=folder, **variables).stdout:
            skipped.append("this program has no CUDA kernels")
            return
        for words, more in cases:
            done = run("devices", "--sysroot", "m", *words, cwd=folder, **dict(variables, **more))
            shown = [f"{key}={value}" for key, value in more.items()] + ["dtinfo devices"] + words
            text += "$ %s\n%s%s[exit %d]\n" % (" ".join(shown), done.stdout, done.stderr, done.returncode)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    want = golden.read_text(encoding="utf-8")
    check(text == want, "with the pretend driver:\n" + differences(want, text, golden.name))


def main():
    judge_by_lscpu()
    judge_by_strace()
    judge_with_pretend_driver()
    for what in skipped:
        print("skipped: " + what)
    print("%d checks, %d failures" % (checks, failures))
    return 1 if failures else 0 if checks else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
