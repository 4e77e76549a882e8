#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bulk casts with full disks, readers that leave, signals, failing system calls and files that change."""
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time

from file_casts import (LARGE, LARGE_CAST, MEDIUM, MEDIUM_CAST, MIB, RANDOM, ROUNDS, SMALL_CAST,
                        calls_at_start, cast, folder, read, require_cast, require_failure,
                        strace_works, words, write)
from survival import AT_ONCE, PROGRAM, SANITIZED, SECONDS, check, environment, main, require


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@check
def a_folder_that_may_not_be_written_is_reported():
    with folder():
        os.mkdir("closed")
        write("closed/out.bin", b"old")
        os.chmod("closed", 0o555)
        os.chmod(".", 0o755)
        root = os.geteuid() == 0
        if root and not os.access(PROGRAM, os.X_OK):
            return
        options = {"preexec_fn": as_nobody} if root else {}
        try:
            done = cast("in.bin", "closed/new.bin", **options)
        except (PermissionError, subprocess.SubprocessError):
            return  # the program is in a folder that other users cannot access
        require_failure(done, 4, "closed/new.bin", "Permission denied")
        require_failure(cast("in.bin", "closed/out.bin", "--force", **options), 4,
                        "Permission denied")
        require(os.listdir("closed") == ["out.bin"] and read("closed/out.bin") == b"old", "touched")
        os.chmod("in.bin", 0o000)
        require_failure(cast("in.bin", "-", **options), 3, "in.bin", "Permission denied")
        os.chmod("closed", 0o755)


@check
def a_full_disk_leaves_the_old_file():
    """Uses a separate file system where permitted. Files fail when space is reserved, pipes at the failing write."""
    script = """mount -t tmpfs -o size=4m none disk || exit 99
        printf old >disk/out.bin
        "$@" "${0%,*}" bf16 --from fp32 -o disk/out.bin --force <"${0#*,}"; code=$?
        test "$(ls -A disk)" = out.bin && test "$(cat disk/out.bin)" = old || exit 98
        exit $code"""
    with folder():
        os.mkdir("disk")
        write("large.bin", LARGE[:12 * MIB])
        for source in ("large.bin,/dev/null", "-,large.bin", "-,large.pipe"):
            feeder = None
            if source.endswith("pipe"):
                os.mkfifo("large.pipe")
                feeder = subprocess.Popen(["sh", "-c", "cat large.bin >large.pipe"],
                                          stderr=subprocess.DEVNULL)
            done = subprocess.run(["unshare", "-rm", "sh", "-c", script, source, PROGRAM, "cast"],
                                  env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=SECONDS)
            if feeder:
                feeder.kill()
                feeder.wait()
            done.code = done.returncode
            if b"unshare:" in done.stderr or b"mount:" in done.stderr:
                print("        skipped: no file system of its own here")
                return
            require_failure(done, 4, "disk/out.bin", "No space left")


def limit_size(bytes_, ignore):
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignore else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))
    return prepare


@check
def the_limit_of_file_sizes_is_a_clean_failure():
    with folder():
        write("out.bin", b"old")
        write("large.bin", LARGE[:8 * MIB])
        for limit in (0, 1, 4096, 3 * MIB):
            for ignore in (False, True):
                for stdin in (None, LARGE[:8 * MIB]):
                    done = cast("-" if stdin else "large.bin", "out.bin", "--force",
                                preexec_fn=limit_size(limit, ignore), restore_signals=False,
                                **({"input": stdin} if stdin else {}))
                    require_failure(done, 4, "out.bin", "File too large")
                    require(read("out.bin") == b"old", "the target was touched")


@check
def full_and_closed_outputs_are_reported():
    with folder():
        require_failure(cast("in.bin", "/dev/full"), 4, "/dev/full", "No space left")
        with open("/dev/full", "wb") as full:
            require_failure(cast("in.bin", "-", stdout=full), 4, "No space left")
        require_failure(cast("in.bin", "-", stdout=None, preexec_fn=lambda: os.close(1)), 4,
                        "Bad file descriptor")
        require_failure(cast("-", "out.bin", preexec_fn=lambda: os.close(0)), 3,
                        "standard input", "Bad file descriptor")
        require(not os.path.exists("out.bin"), "an output was made")


@check
def a_terminal_gets_no_binary_data():
    with folder():
        try:
            master, slave = os.openpty()
            name = os.ttyname(slave)
        except OSError as error:
            print("        skipped: no terminal can be made here: %s" % error)
            return
        require_failure(cast("in.bin", "-", stdout=slave), 2, "terminal")
        require_failure(cast("in.bin", name), 2, "terminal")
        os.close(slave)
        os.close(master)


@check
def a_reader_that_leaves_ends_the_cast():
    with folder():
        write("large.bin", LARGE)
        for source in ("large.bin", "-"):
            for ignore in (False, True):
                feeder = subprocess.Popen(["cat", "large.bin"], stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL)
                handler = signal.SIG_IGN if ignore else signal.SIG_DFL
                child = subprocess.Popen([PROGRAM] + words(source, "-"), env=environment(),
                                         stdin=feeder.stdout, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, restore_signals=False,
                                         preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
                feeder.stdout.close()
                child.stdout.read(100)
                child.stdout.close()
                start = time.monotonic()
                _, stderr = child.communicate(timeout=SECONDS)
                feeder.wait(SECONDS)
                require(child.returncode == (4 if ignore else -signal.SIGPIPE), "exit code",
                        child.returncode, source, stderr)
                require(stderr == b"", "stderr", stderr)
                require(time.monotonic() - start < AT_ONCE, "took long")


@check
def a_silent_pipe_does_not_hide_a_failure():
    """The input's writer stays open and writes nothing: with several threads one waits for it."""
    with folder():
        child = subprocess.Popen([PROGRAM] + words("-", "/dev/full", "--threads", "3"),
                                 env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(LARGE[:16 * MIB])
            child.stdin.flush()
        code = child.wait(AT_ONCE)
        child.stdin = None
        child.communicate()
        require(code == 4, "exit code", code)


@check
def an_input_that_shrinks_is_never_filled_with_zeros():
    with folder():
        failed = 0
        for i in range(25):
            write("large.bin", LARGE)
            child = subprocess.Popen([PROGRAM] + words("large.bin", "out.bin", "--force"),
                                     env=environment(), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(RANDOM.random() * 0.03)
            os.truncate("large.bin", RANDOM.choice((0, 5 * MIB + 1, 40 * MIB)))
            _, stderr = child.communicate(timeout=SECONDS)
            if child.returncode == 0:
                # cast before it shrank, or opened only afterwards
                got = read("out.bin")
                require(got in (LARGE_CAST, LARGE_CAST[:20 * MIB], b""), "wrong bytes", len(got))
                os.unlink("out.bin")
            else:
                require(child.returncode == 3 and stderr.count(b"\n") == 1, "failure",
                        child.returncode, stderr)
                require(not os.path.exists("out.bin"), "an output was made")
                failed += b"shrank" in stderr
        print("        %d of 25 met the change" % failed)


@check
def an_input_that_grows_is_an_error():
    with folder():
        for _ in range(10):
            if os.path.exists("out.bin"):
                os.unlink("out.bin")
            write("large.bin", LARGE)
            child = subprocess.Popen([PROGRAM] + words("large.bin", "out.bin", "--force"),
                                     env=environment(), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(RANDOM.random() * 0.02)
            with open("large.bin", "ab") as file:
                file.write(LARGE[:4 * MIB])
            _, stderr = child.communicate(timeout=SECONDS)
            if child.returncode == 3:
                require(b"changed while it was read" in stderr and not os.path.exists("out.bin"), "error", stderr)
                continue
            require(child.returncode == 0, "exit code", child.returncode, stderr)
            # opened after it had grown, or finished before
            require(read("out.bin") in (LARGE_CAST, LARGE_CAST + LARGE_CAST[:2 * MIB]), "bytes")


def one_death(number, longest):
    """Sends a signal at a random moment: (exit code as in Python, stderr)."""
    write("out.bin", b"old")
    child = subprocess.Popen([PROGRAM] + words("large.bin", "out.bin", "--force"),
                             env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    time.sleep(RANDOM.random() * longest)
    child.send_signal(number)
    _, stderr = child.communicate(timeout=SECONDS)
    return child.returncode, stderr


def duration():
    start = time.monotonic()
    require_cast(cast("large.bin", "out.bin", "--force"), "out.bin", MEDIUM_CAST)
    return time.monotonic() - start


@check
def a_signal_at_any_moment_leaves_the_old_file_or_the_new_one():
    with folder():
        write("large.bin", MEDIUM)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            longest = duration() * 1.1
            died = 0
            for _ in range(ROUNDS):
                code, stderr = one_death(number, longest)
                require(code in (0, -number), "exit code", code, stderr)
                require(b"cannot" not in stderr, "stderr", stderr)
                content = read("out.bin")
                require(content in ((MEDIUM_CAST,) if code == 0 else (b"old", MEDIUM_CAST)),
                        "neither old nor new:", code, len(content))
                names = sorted(os.listdir("."))
                require(names == ["in.bin", "large.bin", "out.bin"], "left behind:", names)
                died += code != 0
            print("        %s: %d of %d died of it" % (signal.Signals(number).name, died, ROUNDS))


@check
def a_kill_leaves_the_old_file_or_the_new_one():
    with folder():
        write("large.bin", MEDIUM)
        longest, strays = duration() * 1.1, 0
        for _ in range(ROUNDS):
            code, stderr = one_death(signal.SIGKILL, longest)
            content = read("out.bin")
            require(code in (0, -signal.SIGKILL), "exit code", code, stderr)
            require(content in ((MEDIUM_CAST,) if code == 0 else (b"old", MEDIUM_CAST)),
                    "neither old nor new:", len(content))
            left = [name for name in os.listdir(".") if name not in ("in.bin", "large.bin", "out.bin")]
            require(len(left) <= 1 and all(name.startswith(".out.bin.dtinfo-") for name in left),
                    "left behind:", left)
            for name in left:
                strays += 1
                os.unlink(name)
        print("        %d of %d left their temporary file" % (strays, ROUNDS))


@check
def interrupted_system_calls_are_repeated():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        write("large.bin", LARGE[:6 * MIB])
        for calls in ("pread64,pwrite64", "read,write", "fsync", "fallocate", "poll"):
            first = calls_at_start(calls) + 1
            prefix = ("strace", "-f", "-o", "/dev/null", "-e",
                      "inject=%s:error=EINTR:when=%d+3" % (calls, first))
            for threads in ("1", "3"):
                done = cast("large.bin", "out.bin", "--force", "--threads", threads, prefix=prefix)
                require_cast(done, "out.bin", LARGE_CAST[:3 * MIB])
                done = cast("-", "-", "--threads", threads, prefix=prefix, input=LARGE[:6 * MIB])
                require(done.code == 0 and done.stdout == LARGE_CAST[:3 * MIB], "pipes", calls,
                        done.code, done.stderr)


@check
def input_is_opened_once_by_name():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        done = cast(prefix=("strace", "-f", "-e", "trace=file", "-o", "trace"))
        require(done.code == 0, "exit code", done.code, done.stderr)
        lines = [line for line in read("trace").decode().splitlines() if '"in.bin"' in line
                 and "execve" not in line]
        opened = [line for line in lines if "open" in line]
        require(len(opened) == 1, "opened", lines)
        at = lines.index(opened[0])
        require(at == len(lines) - 1, "looked at by name after it was opened:", lines)


@check
def scarce_address_space_is_an_answer_or_a_clean_failure():
    if SANITIZED:
        return
    with folder():
        write("large.bin", LARGE)
        for limit in range(2, 40, 2):
            done = cast("large.bin", "out.bin", "--force", preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_AS, (limit * MIB, limit * MIB)))
            if done.code == 0:
                require(read("out.bin") == LARGE_CAST, "wrong bytes")
            elif b"dtinfo" in done.stderr and b"shared" not in done.stderr:
                require_failure(done, 5)


@check
def closed_standard_files_do_not_reach_the_data():
    with folder():
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            def prepare():
                for fd in closed:
                    os.close(fd)
            if os.path.exists("out.bin"):
                os.unlink("out.bin")
            done = cast("in.bin", "out.bin", stdin=None, stdout=None, stderr=None,
                        preexec_fn=prepare)
            require(done.code in (0, 4), "exit code", closed, done.code)
            if done.code == 0 or os.path.exists("out.bin"):
                require(read("out.bin") == SMALL_CAST, "wrong bytes", closed)


if __name__ == "__main__":
    sys.exit(main())
