#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which libraries the program loads, when, and from where; and drivers that hang.
usage: hostile_libraries.py DTINFO MEASURE PRETEND_FOLDER"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from survival import (AT_ONCE, COMMANDS, PROGRAM, SANITIZED, check, environment, main, require,
                       require_one_line, run)

PRETEND = os.path.abspath(sys.argv.pop(3))
DRIVER = os.path.join(PRETEND, "libfake_cuda.so")
NVML = os.path.join(PRETEND, "libfake_nvml.so")
HOSTILE = os.path.join(PRETEND, "hostile_library.so")
OTHERS = re.compile(r"cuda|cublas|nvidia|nvml|dnnl|openblas|mkl", re.IGNORECASE)


def opened(words):
    """The files that a run opens, or None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as log:
        traced = subprocess.run(["strace", "-f", "-e", "trace=open,openat", "-o", log.name, PROGRAM] + words,
                                env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, check=False)
        text = log.read()
    if "+++ exited" not in text and "exited with" not in text:
        print("        strace does not work here:", traced.stderr[:100])
        return None
    return re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)"', text)


@check
def commands_that_need_no_device_load_no_library_of_one():
    for words in COMMANDS + [["bench", "--list"], ["cast", "70000", "bf16", "--device", "cpu"], ["devices", "--help"]]:
        files = opened(words)
        if files is None:
            print("        skipped: no strace")
            return
        require(len(files) > 0, "nothing was opened by", words)
        wrong = [file for file in files if OTHERS.search(os.path.basename(file))]
        require(not wrong, "opened", wrong, "by", words)


@check
def the_driver_is_looked_for_when_devices_are_listed():
    files = opened(["devices"])
    if files is not None:
        require(any("libcuda.so.1" in file for file in files), "libcuda.so.1 was not looked for", files)


@check
def nothing_is_loaded_from_the_current_folder():
    with tempfile.TemporaryDirectory() as folder:
        marker = os.path.join(folder, "marker")
        for name in ["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1", "libcublasLt.so.13", "libcublasLt.so.12",
                     "libcublasLt.so.11", "libdnnl.so.3", "libdnnl.so.2", "libopenblas.so.0"]:
            shutil.copy(HOSTILE, os.path.join(folder, name))
        env = environment(HOSTILE_MARKER=marker)
        for words in [["devices"], ["cast", "70000", "bf16", "--device", "auto"]]:
            run(words, env=env, cwd=folder)
            require(not os.path.exists(marker), "a library of the current folder was loaded by", words)
        run(["devices"], env=dict(env, DTINFO_LIBCUDA="./libcuda.so.1"), cwd=folder)
        require(os.path.exists(marker), "the library was not loaded when it was asked for")


@check
def nothing_is_loaded_with_privileges_of_another_user():
    if os.geteuid() != 0 or SANITIZED:
        print("        skipped: needs root, and no sanitizer")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        program, marker = os.path.join(folder, "dtinfo"), os.path.join(folder, "marker")
        shutil.copy(PROGRAM, program)
        env = environment(DTINFO_LIBCUDA=HOSTILE, HOSTILE_MARKER=marker)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        done = subprocess.run([program, "devices"], env=env, stdout=subprocess.PIPE, check=False)
        if b"privileges" not in done.stdout and os.path.exists(marker):
            mounted = subprocess.run(["findmnt", "-no", "OPTIONS", "-T", folder], stdout=subprocess.PIPE, check=False)
            require(b"nosuid" in mounted.stdout, "a library was loaded with another user's privileges")
            print("        skipped: setuid has no effect here")
            return
        require(not os.path.exists(marker), "a library was loaded with another user's privileges")
        require(b"another user's privileges" in done.stdout, "not reported:", done.stdout)


@check
def the_program_has_no_search_path_of_its_own():
    if not shutil.which("readelf"):
        print("        skipped: no readelf")
        return
    text = subprocess.run(["readelf", "-d", PROGRAM], stdout=subprocess.PIPE, check=True).stdout
    require(b"RPATH" not in text and b"RUNPATH" not in text, "a search path is built in", text)


@check
def a_driver_that_hangs_is_given_up_and_left():
    env = environment(DTINFO_LIBCUDA=DRIVER, DTINFO_LIBNVML=NVML, DTINFO_CUDA_TIMEOUT="0.2")
    for hang in ["cuInit:1", "cuDeviceGetCount:1", "cuDeviceGetName:2"]:
        start = time.monotonic()
        done = run(["devices"], env=dict(env, FAKE_CUDA="hang=" + hang))
        require(done.code == 0, "exit code", done.code, done.stderr)
        require(b"did not answer within 0.2 s" in done.stdout, "not told:", done.stdout)
        require(time.monotonic() - start < AT_ONCE, "that took long")
    done = run(["cast", "70000", "bf16", "--device", "cuda"], env=dict(env, FAKE_CUDA="hang=cuInit:1"))
    require("did not answer within 0.2 s" in require_one_line(done, 5), "not told:", done.stderr)
    done = run(["cast", "-q", "70000", "bf16", "--device", "auto"], env=dict(env, FAKE_CUDA="hang=cuInit:1"))
    require(done.code == 0 and done.stdout == b"70144\n", "not the CPU's answer:", done.stdout, done.stderr)


@check
def a_library_that_hangs_while_it_is_loaded_ends_the_program():
    """The loader is then blocked, so that the CPU path cannot start threads either."""
    env = environment(DTINFO_LIBCUDA=HOSTILE, DTINFO_CUDA_TIMEOUT="0.2", HOSTILE_HANG="1")
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "source"), os.path.join(folder, "result")
        with open(source, "wb") as file:
            file.write(bytes(4096))
        for words in [["cast", source, "bf16", "--from", "fp32", "-o", result, "--device", "auto"],
                      ["cast", source, "bf16", "--from", "fp32", "-o", result, "--device", "cuda"],
                      ["bench", "dot", "--time", "0.1", "--device", "auto"]]:
            done = run(words, env=env)
            require("did not answer within 0.2 s" in require_one_line(done, 5), "not told:", done.stderr)
        require(os.listdir(folder) == ["source"], "left behind:", os.listdir(folder))


@check
def what_is_no_file_is_no_library():
    with tempfile.TemporaryDirectory() as folder:
        source, result, pipe = (os.path.join(folder, name) for name in ("source", "result", "libcuda.so.1"))
        os.mkfifo(pipe)
        with open(source, "wb") as file:
            file.write(bytes(4096))
        words = ["cast", source, "bf16", "--from", "fp32", "-o", result, "--device"]
        done = run(words + ["cuda"], env=environment(DTINFO_LIBCUDA=pipe))
        require("not a regular file" in require_one_line(done, 5), "not told:", done.stderr)
        done = run(words + ["auto"], env=environment(DTINFO_LIBCUDA=pipe))
        require(done.code == 0 and os.path.getsize(result) == 2048, "no answer of the CPU:", done.stderr)


@check
def output_that_cannot_be_written_is_found_with_a_driver_that_hangs_too():
    env = environment(DTINFO_LIBCUDA=DRIVER, DTINFO_CUDA_TIMEOUT="0.2", FAKE_CUDA="hang=cuInit:1")
    with open("/dev/full", "wb") as full:
        done = run(["devices"], env=env, stdout=full)
    require(done.code == 4 and b"No space left" in done.stderr, "lost without a word:", done.code, done.stderr)


@check
def a_signal_ends_the_program_while_the_driver_hangs():
    env = environment(DTINFO_LIBCUDA=DRIVER, FAKE_CUDA="hang=cuInit:1")
    for number in [signal.SIGINT, signal.SIGTERM]:
        process = subprocess.Popen([PROGRAM, "devices"], env=env, stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        require(process.poll() is None, "it did not wait for the driver")
        process.send_signal(number)
        require(process.wait(timeout=AT_ONCE) == -number, "ended otherwise:", process.returncode)


if __name__ == "__main__":
    sys.exit(main())
