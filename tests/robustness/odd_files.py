#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bulk casts between files, pipes and links: the right bytes in the right place, in little memory."""
import os
import resource
import stat
import subprocess
import sys
import time

from file_casts import (LARGE, LARGE_CAST, MIB, SMALL, SMALL_CAST, cast, folder, read,
                        require_cast, require_failure, words, write)
from survival import (AT_ONCE, MEASURE, PROGRAM, SANITIZED, SECONDS, check, environment, main, require,
                       require_one_line)


@check
def every_thread_count_gives_the_same_bytes():
    with folder():
        for size in (0, 4, 4 * 2047, 4 * 2048, 4 * 2049, len(SMALL), 3 * MIB + 4, len(LARGE)):
            write("in.bin", LARGE[:size])
            for threads in ("1", "2", "7"):
                done = cast("in.bin", "out.bin", "--force", "--threads", threads)
                require_cast(done, "out.bin", LARGE_CAST[:size // 2])


@check
def pipes_give_the_same_bytes_as_files():
    with folder():
        write("large.bin", LARGE)
        for threads in ("1", "2", "7"):
            for target in ("out.bin", "-"):
                done = cast("-", target, "--force", "--threads", threads, input=LARGE)
                require(done.code == 0, "exit code", done.code, done.stderr)
                got = done.stdout if target == "-" else read("out.bin")
                require(got == LARGE_CAST, "wrong bytes", threads, target, len(got))
            done = cast("large.bin", "-", "--threads", threads)
            require(done.code == 0 and done.stdout == LARGE_CAST, "wrong bytes", threads)
            with open("stdout.bin", "wb") as stdout:
                done = cast("large.bin", "-", "--threads", threads, stdout=stdout)
            require_cast(done, "stdout.bin", LARGE_CAST)
        if not os.path.exists("/proc/self/fd"):
            print("        /dev/stdin is not tried: there is no /proc")
            return
        done = cast("/dev/stdin", "/dev/stdout", "-q", input=SMALL)
        require(done.code == 0 and done.stdout == SMALL_CAST, "wrong bytes", done.code, done.stderr)


@check
def a_writer_of_single_bytes_changes_nothing():
    with folder():
        for target in ("out.bin", "-"):
            child = subprocess.Popen([PROGRAM] + words("-", target, "--force"), env=environment(),
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, bufsize=0)
            for i in range(8194 + 6):
                child.stdin.write(SMALL[i:i + 1])
            stdout, stderr = child.communicate(timeout=SECONDS)
            require(child.returncode == 0, "exit code", child.returncode, stderr)
            got = stdout if target == "-" else read("out.bin")
            require(got == SMALL_CAST[:4100], "wrong bytes", target, len(got))


@check
def a_named_pipe_is_input_and_output():
    with folder():
        os.mkfifo("in.pipe")
        os.mkfifo("out.pipe")
        child = subprocess.Popen([PROGRAM] + words("in.pipe", "out.pipe"), env=environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        writer = os.fork()
        if writer == 0:
            write("in.pipe", SMALL)
            os._exit(0)
        got = read("out.pipe")
        os.waitpid(writer, 0)  # and not the program, whose exit code counts
        require(child.wait(SECONDS) == 0 and got == SMALL_CAST, "wrong bytes", len(got))
        require(stat.S_ISFIFO(os.stat("out.pipe").st_mode), "the pipe was replaced")


@check
def standard_input_is_read_from_where_it_stands():
    with folder():
        with open("in.bin", "rb") as stdin:
            os.lseek(stdin.fileno(), 400, os.SEEK_SET)
            done = cast("-", "out.bin", stdin=stdin)
        require_cast(done, "out.bin", SMALL_CAST[200:])


@check
def what_is_left_over_is_refused_before_anything_is_written():
    with folder():
        write("out.bin", b"old")
        for size, parts in ((7, ("7 bytes", "1 fp32", "3 extra bytes")),
                            (len(SMALL) - 3, ("1 extra byte",))):
            write("in.bin", SMALL[:size])
            require_failure(cast("in.bin", "out.bin", "--force"), 3, "in.bin", *parts)
            require_failure(cast("-", "out.bin", "--force", input=SMALL[:size]), 3,
                            "standard input", *parts)
            done = cast("in.bin", "-")
            require(done.code == 3 and done.stdout == b"", "written:", done.stdout)
            require(read("out.bin") == b"old", "the target was touched")


@check
def an_empty_input_is_an_array_without_elements():
    with folder():
        write("in.bin", b"")
        require_cast(cast(), "out.bin", b"")
        require_cast(cast("-", "second.bin"), "second.bin", b"")


@check
def what_is_no_input_is_refused_at_once():
    with folder():
        os.mkdir("dir")
        os.symlink("loop", "loop")
        for source in ("dir", "none.bin", "loop", "/dev/zero", "/proc/self/mem", "in.bin/x"):
            start = time.monotonic()
            done = cast(source)
            require(done.code in (2, 3), "exit code", source, done.code, done.stderr)
            require_one_line(done, done.code)
            require(time.monotonic() - start < AT_ONCE, "took long")
            require(not os.path.exists("out.bin"), "an output was made")


@check
def an_existing_file_needs_force_and_keeps_its_mode():
    with folder():
        write("out.bin", b"old")
        os.chmod("out.bin", 0o604)
        require_failure(cast(), 4, "out.bin", "--force")
        require(read("out.bin") == b"old", "the target was touched")
        require_cast(cast("in.bin", "out.bin", "--force"), "out.bin", SMALL_CAST)
        require(stat.S_IMODE(os.stat("out.bin").st_mode) == 0o604, "the mode changed")
        for mask in (0o022, 0o077, 0o000):
            target = "new%o.bin" % mask
            require_cast(cast("in.bin", target, preexec_fn=lambda: os.umask(mask)), target,
                         SMALL_CAST)
            mode = stat.S_IMODE(os.stat(target).st_mode)
            require(mode == 0o666 & ~mask, "mode", oct(mode), oct(mask))


@check
def input_and_output_may_be_the_same_file():
    with folder() as path:
        os.mkdir("dir")
        for name in ("in.bin", "./in.bin", "dir/../in.bin", path + "/in.bin", "hard", "soft"):
            for other in ("in.bin", "hard", "soft"):
                if os.path.lexists(other):
                    os.unlink(other)
            write("in.bin", LARGE)
            os.link("in.bin", "hard")
            os.symlink("in.bin", "soft")
            require_failure(cast("in.bin", name), 4, "--force")
            require_cast(cast("in.bin", name, "--force"), name, LARGE_CAST)
            require(os.path.islink("soft"), "the link was replaced")
            untouched = "in.bin" if name == "hard" else "hard"
            require(read(untouched) == LARGE, "the other name lost its content", name)


@check
def standard_output_must_not_be_the_input():
    with folder():
        for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND):
            fd = os.open("in.bin", flags)
            done = cast("in.bin", "-", stdout=fd)
            os.close(fd)
            require_failure(done, 2, "in.bin", "output")
            require(read("in.bin") == SMALL, "the input was touched")


@check
def links_lead_to_what_is_replaced():
    with folder():
        os.mkdir("dir")
        os.symlink("dir/other", "chain")
        os.symlink("../target.bin", "dir/other")
        require_cast(cast("in.bin", "chain"), "target.bin", SMALL_CAST)
        write("target.bin", b"old")
        require_cast(cast("in.bin", "chain", "--force"), "target.bin", SMALL_CAST)
        require(os.path.islink("chain") and os.path.islink("dir/other"), "a link was replaced")
        os.symlink("loop", "loop")
        os.symlink("dir", "folder")
        os.symlink("none/out.bin", "nowhere")
        for target in ("loop", "folder", "dir", "dir/", ".", "nowhere", "in.bin/x", ""):
            done = cast("in.bin", target, "--force")
            require(done.code in (2, 4), "exit code", target, done.code, done.stderr)
            require_one_line(done, done.code)
        require(os.listdir("dir") == ["other"], "left in dir", os.listdir("dir"))


@check
def large_files_take_little_memory():
    if SANITIZED:
        return
    with folder():
        sparse = 1 << 30
        write("sparse.bin", b"")
        os.truncate("sparse.bin", sparse)
        done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM] + words("sparse.bin", "out.bin", "-q"),
                              env=environment(), stdout=subprocess.PIPE, timeout=SECONDS, check=True)
        numbers = done.stdout.splitlines()[-1].split()
        require(int(numbers[4]) == 0, "status", numbers)
        require(os.path.getsize("out.bin") == sparse // 2, "size")
        print("        1 GiB: %d KiB" % int(numbers[3]))
        require(int(numbers[3]) < 64 * 1024, "KiB used:", numbers[3])
        os.unlink("out.bin")

        limit = 400 * MIB
        done = cast("sparse.bin", "out.bin", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (limit, limit)))
        require(done.code == 0, "exit code under a limit", done.code, done.stderr)
        require(os.path.getsize("out.bin") == sparse // 2, "size")


@check
def files_beyond_4_gib_are_read_to_their_end():
    if SANITIZED:
        return
    with folder():
        size = 5 << 30
        with open("sparse.bin", "wb") as file:
            file.truncate(size)
            file.seek(size - 8)
            file.write(b"\0\0\0\0\0\0\xf0\x3f")  # 1.0 as fp64
        done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM, "cast", "sparse.bin", "fp8_e4m3fn",
                               "--from", "fp64", "-o", "out.bin", "-q"], env=environment(),
                              stdout=subprocess.PIPE, timeout=5 * SECONDS, check=True)
        numbers = done.stdout.splitlines()[-1].split()
        require(int(numbers[4]) == 0, "status", numbers)
        require(int(numbers[3]) < 64 * 1024, "KiB used:", numbers[3])
        require(os.path.getsize("out.bin") == size // 8, "size", os.path.getsize("out.bin"))
        with open("out.bin", "rb") as file:
            file.seek(-2, os.SEEK_END)
            last = file.read()
        require(last == b"\0\x38", "the last elements", last)  # 1 is encoded as 0x38


if __name__ == "__main__":
    sys.exit(main())
