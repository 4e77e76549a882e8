#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden tests of the command line.

A case is tests/cli/<command>/<case>.sh. sh runs it in an empty directory with `dtinfo` in the PATH and a
minimal environment, where $TESTS is this folder, $MAKERS is tests/makers, and $PRETEND is the folder of the
pretend libraries of tests/fake (cases that use it are skipped without --pretend). Files next to the case
hold its expected output, byte for byte:

    <case>.stdout   <case>.stderr   absent: nothing may be printed there
    <case>.exit                     absent: 0

A line "# needs /proc/meminfo" in a case skips it if there is no such file, "# needs mpfr" if the program
cannot compute functions, "# needs avx2" or "# needs matmul" if it runs on a CPU without these kernels, "# needs 64-bit" if its
addresses are of 32 bits. "# native: REASON" skips it with --wrapper.

If the output depends on the machine, <case>.stdout.glob (or .stderr.glob) replaces the file: `*` matches
anything within a line, and a line of three dots matches any number of lines.

    run.py build/dtinfo              all cases
    run.py build/dtinfo cast/ nan    the cases whose name contains one of these
    run.py build/dtinfo --skip bench/
    run.py --update build/dtinfo     write what is printed now into the files; read the diff
"""
import argparse
import concurrent.futures
import contextlib
import difflib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 600 if "ASAN_OPTIONS" in os.environ else 120  # a case may start hundreds of programs
SLOWER = 20  # times, under an emulator or valgrind
SLOWEST = 10  # cases, whose seconds are printed with --wrapper
# commands that succeed where the program has what a case needs
NEEDS = {"mpfr": ["calc", "exp(1)", "fp16"],
         "avx2": ["bench", "cast", "fp32:bf16", "--level", "avx2", "--size", "1KiB", "--time", "0.01"],
         "matmul": ["bench", "matmul", "--engine", "dtinfo", "--dtype", "fp64", "--size", "2", "--time", "0.01"]}
LEAKS = 4  # with DTI_TEST_SPARSE leaks are looked for in one case of so many: that takes longer than what most cases do
KEPT_VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "MSAN_OPTIONS")
RUNNING = set()  # shells of cases, each the first of a session of its own, which no signal for this one reaches


def sibling(script, suffix):
    return script.with_name(script.stem + suffix)


def make_path(program, wrapper, directory):
    """Puts `dtinfo` into an otherwise empty directory. Returns a PATH that begins with it."""
    entry = directory / "dtinfo"
    if wrapper:
        entry.write_text('#!/bin/sh\nexec %s "%s" "$@"\n' % (wrapper, program))
        entry.chmod(0o755)
    else:
        entry.symlink_to(program)
    return "%s:/usr/bin:/bin" % directory


def end_group(shell):
    """Kills a shell with all that it started. Its number is its group's as long as no one has waited for it."""
    if shell.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)


def run_group(command, seconds, **options):
    """What a command prints on both outputs, and its exit code, or minus the signal. After so many seconds it is killed, and
    with it every process that it started."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, **options) as shell:
        RUNNING.add(shell)
        try:
            return (*shell.communicate(timeout=seconds), shell.returncode)
        except subprocess.TimeoutExpired:
            end_group(shell)
            return b"", b"(killed after %g s)\n" % seconds, -signal.SIGKILL
        finally:
            RUNNING.discard(shell)


def leak_cases(names):
    """The cases in which AddressSanitizer looks for leaks if DTI_TEST_SPARSE asks for samples: always the same ones, and one of each
    command at least."""
    chosen, least = set(), {}
    for name in names:
        number = zlib.crc32(name.encode())
        if number % LEAKS == 0:
            chosen.add(name)
        folder = name.partition("/")[0]
        least[folder] = min(least.get(folder, (number, name)), (number, name))
    return chosen | {name for _, name in least.values()}


def run_case(script, path, pretend, seconds, leaks=True):
    environment = {"PATH": path, "LC_ALL": "C", "TZ": "UTC", "TESTS": str(HERE), "MAKERS": str(HERE.parent / "makers"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    if pretend:
        environment["PRETEND"] = str(pretend)
    environment.update({name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ})
    if not leaks:
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    scratch = tempfile.mkdtemp(prefix="dtinfo-case-")
    environment["HOME"] = scratch
    begin = time.monotonic()
    try:
        out, err, code = run_group(["/bin/sh", str(script)], seconds, cwd=scratch, env=environment)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {".stdout": out, ".stderr": err, ".exit": code if code >= 0 else 128 - code, "seconds": time.monotonic() - begin}


def glob_pattern(text):
    """Returns the regular expression of a .glob file; only `*` and a line of three dots are special."""
    parts = []
    for line in text.splitlines(keepends=True):
        if line.rstrip("\n") == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*".join(re.escape(piece) for piece in line.split("*")))
    return "".join(parts)


def difference(want, got, name):
    lines = difflib.unified_diff(want.decode("utf-8", "backslashreplace").splitlines(keepends=True),
                                 got.decode("utf-8", "backslashreplace").splitlines(keepends=True),
                                 name + " (expected)", name + " (printed)")
    return "".join(line if line.endswith("\n") else line + "\n\\ no newline at the end\n"
                   for line in lines)


def compare(script, got):
    """Returns all differences as text; empty if the case passes."""
    wrong = []
    for suffix in (".stdout", ".stderr"):
        pattern_file = sibling(script, suffix + ".glob")
        if pattern_file.exists():
            pattern = pattern_file.read_bytes()
            if not re.fullmatch(glob_pattern(pattern.decode()), got[suffix].decode("utf-8", "replace")):
                wrong.append(difference(pattern, got[suffix], script.stem + suffix))
            continue
        golden = sibling(script, suffix)
        want = golden.read_bytes() if golden.exists() else b""
        if want != got[suffix]:
            wrong.append(difference(want, got[suffix], script.stem + suffix))
    golden = sibling(script, ".exit")
    want = int(golden.read_text()) if golden.exists() else 0
    if want != got[".exit"]:
        wrong.append("exit code: expected %d, got %d\n" % (want, got[".exit"]))
    return "".join(wrong)


def update(script, got):
    for suffix in (".stdout", ".stderr"):
        if sibling(script, suffix + ".glob").exists():
            continue
        golden = sibling(script, suffix)
        if got[suffix]:
            golden.write_bytes(got[suffix])
        elif golden.exists():
            golden.unlink()
    golden = sibling(script, ".exit")
    if got[".exit"]:
        golden.write_text("%d\n" % got[".exit"])
    elif golden.exists():
        golden.unlink()


def orphans():
    """Returns golden files without a script, which look like a test but test nothing."""
    found = []
    for suffix in (".stdout", ".stderr", ".exit", ".stdout.glob", ".stderr.glob"):
        for golden in HERE.glob("*/*" + suffix):
            if not golden.with_name(golden.name[:-len(suffix)] + ".sh").exists():
                found.append(golden)
    return sorted(found)


@functools.lru_cache(maxsize=None)
def has(what, program, wrapper):
    """Whether there is a file of this name or the program has it."""
    if what == "64-bit":
        with open(program, "rb") as file:
            return file.read(5)[4] == 2  # the class of an ELF file
    if what not in NEEDS:
        return os.path.exists(what)
    return subprocess.run([*wrapper.split(), program, *NEEDS[what]], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def lacks(script, pretend, program, wrapper):
    """Returns why the case cannot be run on this machine or by this call, or None."""
    text = script.read_text()
    if not pretend and "$PRETEND" in text:
        return "there is no --pretend"
    native = re.search(r"^# native: (.+)$", text, flags=re.MULTILINE)
    if wrapper and native:
        return "%s/%s: %s" % (script.parent.name, script.stem, native[1])
    for what in re.findall(r"^# needs (\S+)$", text, flags=re.MULTILINE):
        if not has(what, program, wrapper):
            return "there is no " + what
    return None


def run_all(run, scripts, jobs):
    """Yields each script and what came of it, as they end. If that is interrupted, nothing that was started is left."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        scripts = {pool.submit(run, script): script for script in scripts}
        try:
            for done in concurrent.futures.as_completed(scripts):
                yield scripts[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(done.done() for done in scripts):
                for shell in list(RUNNING):
                    end_group(shell)
                time.sleep(0.01)
            raise


def main():
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background, and cases would inherit that
    parser = argparse.ArgumentParser(description="golden tests of the command line")
    parser.add_argument("program", type=pathlib.Path, help="the dtinfo to test")
    parser.add_argument("filters", nargs="*", help="run the cases whose name contains one of these")
    parser.add_argument("--skip", action="append", default=[], help="leave out the cases whose name contains this")
    parser.add_argument("--update", action="store_true", help="rewrite the golden files")
    parser.add_argument("--pretend", type=pathlib.Path, help="the folder of the pretend libraries")
    parser.add_argument("--wrapper", default="", help="run dtinfo through this, as in 'valgrind -q'")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        parser.error("%s is no program" % options.program)

    names = {script: "%s/%s" % (script.parent.name, script.stem) for script in sorted(HERE.glob("*/*.sh"))}
    scripts = [script for script, name in names.items() if (not options.filters or any(word in name for word in options.filters))
               and not any(word in name for word in options.skip)]
    missing = {script: what for script in scripts if (what := lacks(script, options.pretend, options.program.resolve(),
                                                                      options.wrapper))}
    scripts = [script for script in scripts if script not in missing]
    sampled = leak_cases(names.values()) if "DTI_TEST_SPARSE" in os.environ else set(names.values())
    failed = 0
    seconds = TIMEOUT_SECONDS * (SLOWER if options.wrapper else 1)
    spent = []
    with tempfile.TemporaryDirectory(prefix="dtinfo-path-") as directory:
        path = make_path(options.program.resolve(), options.wrapper, pathlib.Path(directory))
        ends = run_all(lambda script: run_case(script, path, options.pretend, seconds, names[script] in sampled), scripts, options.jobs)
        with contextlib.closing(ends):
            for script, got in ends:
                name = names[script]
                spent.append((got["seconds"], name))
                if options.update:
                    update(script, got)
                wrong = compare(script, got)
                if wrong:
                    failed += 1
                    print("FAILED %s\n%s" % (name, wrong), flush=True)
    if options.wrapper:
        print("the slowest, in seconds: " + ", ".join("%s %.0f" % (name, taken) for taken, name in sorted(spent)[:-SLOWEST - 1:-1]))
    passed = len(scripts) - failed
    for golden in orphans():
        failed += 1
        print("FAILED %s/%s: there is no script for it" % (golden.parent.name, golden.name))
    if not scripts:
        failed += 1
        print("FAILED: no case matches")
    for what in sorted(set(missing.values())):
        print("%d skipped: %s" % (list(missing.values()).count(what), what))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
