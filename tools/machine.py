#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records machines for tests, each in one text file.

    machine.py record > FILE            this machine's CPUID (x86, where there is a C compiler) and the files
                                        of the kernel on processors, caches and memory
    machine.py unpack FILE FOLDER       into a folder for `dtinfo devices --sysroot FOLDER`

A recording has no host names, user names, serial numbers or addresses. In FILE, a line "### its/name"
precedes the contents of each file, whose lines must not begin with "###".
"""
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

MARK = "### "
# lscpu, the reference in tests, needs the maps and the ids.
FILES = ["proc/cpuinfo", "proc/meminfo",
         "sys/devices/system/cpu/online", "sys/devices/system/cpu/possible", "sys/devices/system/cpu/present",
         "sys/devices/cpu_core/cpus", "sys/devices/cpu_atom/cpus",
         "sys/devices/system/cpu/cpu[0-9]*/topology/core_cpus_list",
         "sys/devices/system/cpu/cpu[0-9]*/topology/package_cpus_list",
         "sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings",
         "sys/devices/system/cpu/cpu[0-9]*/topology/core_siblings",
         "sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id",
         "sys/devices/system/cpu/cpu[0-9]*/topology/core_id",
         "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
         "sys/devices/system/cpu/cpu[0-9]*/cpufreq/base_frequency",
         "sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/level",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/type",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/size",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/shared_cpu_list",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/shared_cpu_map",
         "sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/coherency_line_size",
         "sys/devices/system/node/online",
         "sys/devices/system/node/node[0-9]*/cpulist", "sys/devices/system/node/node[0-9]*/cpumap",
         "sys/devices/system/node/node[0-9]*/meminfo"]
PRIVATE = ("serial", "hardware", "machine")  # keys of cpuinfo that identify a single-board computer


def cpuid():
    """Returns the output of CPUID, or None without that instruction or a compiler."""
    source = pathlib.Path(__file__).resolve().parent / "record-cpuid.c"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "record-cpuid")
        try:
            subprocess.run([os.environ.get("CC", "cc"), "-o", program, str(source)], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout.decode()
        except (OSError, subprocess.CalledProcessError):
            print("machine.py: no CPUID; using the flags of /proc/cpuinfo", file=sys.stderr)
            return None


def clean(name, text):
    if name != "proc/cpuinfo":
        return text
    lines = [line for line in text.split("\n") if not line.lower().startswith(PRIVATE)]
    return "\n".join(lines)


def record(out):
    found = cpuid()
    if found:
        out.write(f"{MARK}cpuid\n{found}")
    for pattern in FILES:
        for path in sorted(glob.glob("/" + pattern)):
            try:
                text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            name = path.lstrip("/")
            text = clean(name, text)
            out.write(f"{MARK}{name}\n{text}" + ("" if text.endswith("\n") or not text else "\n"))


def unpack(source, folder):
    file = None
    for line in pathlib.Path(source).read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith(MARK):
            path = pathlib.Path(folder, line[len(MARK):].strip())
            if ".." in path.parts or line[len(MARK):].startswith("/"):
                sys.exit(f"machine.py: {source}: a name points outside the folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            if file:
                file.close()
            file = path.open("w", encoding="utf-8")
        elif file:
            file.write(line)
    if not file:
        sys.exit(f"machine.py: {source}: not a recording of a machine")
    file.close()


def main():
    words = sys.argv[1:]
    if words == ["record"]:
        record(sys.stdout)
    elif len(words) == 3 and words[0] == "unpack":
        unpack(words[1], words[2])
    else:
        sys.exit("usage: machine.py record > FILE\n       machine.py unpack FILE FOLDER")


if __name__ == "__main__":
    main()
