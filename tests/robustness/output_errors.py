#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Error messages for outputs with failing or interrupted calls, a full disk for the report, and other users' links."""
import os
import subprocess
import sys

from checkpoint_casts import cast, folder, read, write
from file_casts import require_failure, strace_works
from make_checkpoint import npy, pack
from output_sets import (INDEX, fill_old, name_of, remove, require_old_or_new, strays, tried,
                         write_shards)
from survival import PROGRAM, check, environment, main, require


def injected(path, calls, error):
    """Makes each of the calls on that path fail."""
    return ("strace", "-f", "-o", "/dev/null", "-P", path, "-e", "trace=" + calls, "-e",
            "inject=%s:error=%s" % (calls, error))


@check
def what_stands_after_a_failure_between_two_names_is_told():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        wanted = write_shards("shards", 6)
        for at in range(1, 8):
            fill_old(wanted)
            done = cast("shards", "bf16", "new/", "--force",
                        prefix=("strace", "-f", "-o", "/dev/null", "-e",
                                "inject=renameat,renameat2,rename:error=EIO:when=%d" % at))
            require_failure(done, 4, "Input/output error")
            require(not strays(), "left behind", strays())
            new = [name for name, result in wanted.items() if read("new/" + name) == result]
            require(new == sorted(wanted)[:at - 1], "which are new", new)
            text = done.stderr.decode()
            if new:
                require(new[0] in text and new[-1] in text and "not" in text, "what stands", text)
                require("the other %d" % (7 - len(new)) in text or len(new) == 6, "how many", text)
            else:
                require("in place" not in text, "what stands", text)
        remove("new")
        done = cast("shards", "bf16", "new/", prefix=(
            "strace", "-f", "-o", "/dev/null", "-e", "inject=renameat2,renameat:error=EIO:when=1"))
        require_failure(done, 4, "Input/output error")
        require(not os.path.exists("new") and not strays(), "a new folder", os.listdir("."))


@check
def other_peoples_links_in_folders_open_to_all_are_not_followed():
    if os.geteuid() != 0:
        print("        skipped: not root")
        return
    with folder():
        wanted = write_shards("shards", 2)
        os.mkdir("st")
        os.mkdir("aim")
        os.symlink("../aim", "st/dirl")
        os.symlink("../aim/l.npy", "st/l.npy")
        os.lchown("st/dirl", 65534, 65534)
        os.lchown("st/l.npy", 65534, 65534)
        write("f.bin", pack("F32", [1.0]))
        os.chmod("st", 0o1777)
        targets = [("shards", "st/dirl", ()), ("shards", "st/dirl/", ()), ("shards", "st/dirl/new", ()),
                   ("shards", "st/dirl/" + INDEX, ()), ("f.bin", "st/l.npy", ("--from", "fp32")),
                   ("f.bin", "st/dirl/out.bin", ("--from", "fp32"))]
        for source, target, more in targets:
            for dry in ((), ("--dry-run",)):
                if dry and more:
                    continue
                done = cast(source, "fp16", target, "--force", *more, *dry)
                require_failure(done, 4, "another user's symbolic link", "world-writable")
                require(not os.listdir("aim"), "written through it", os.listdir("aim"))
        os.lchown("st/dirl", 0, 0)  # the user's own link
        require(cast("shards", "bf16", "st/dirl").code == 0, "one's own link")
        require(sorted(os.listdir("aim")) == sorted(list(wanted) + [INDEX]), "files", os.listdir("aim"))


@check
def what_cannot_be_looked_at_is_not_taken_for_missing():
    if not strace_works():
        print("        skipped: no strace")
        return
    stats, accesses = "stat,newfstatat,statx", "access,faccessat,faccessat2"
    with folder():
        write_shards("shards", 2)
        write("plain", read("shards/" + name_of(0, 2)))
        write("q.npy", npy("<f4", (4,), pack("F32", [8.0, 4.0, -2.0, 1.0])))
        require(tried("quant", "q.npy", "uint8", "-o", "out.npy").code == 0, "quant")
        for error, code, text in (("EIO", 3, "Input/output error"), ("ENOMEM", 5, "Cannot allocate memory"),
                                  ("EACCES", 3, "Permission denied"), ("ELOOP", 3, "Too many levels")):
            for source in ("shards", "plain"):
                done = tried("cast", source, "bf16", "-o", "new", prefix=injected(source, stats, error))
                require_failure(done, code, "cannot read '%s" % source, text)
                done = tried("quant", source, "int8", "-o", "new", prefix=injected(source, stats, error))
                require_failure(done, code, "cannot read '%s'" % source, text)
                done = tried("cast", source, "bf16", "-o", "new", prefix=injected(source, "openat", error))
                require_failure(done, code, "cannot read '%s'" % source, text)
            done = tried("cast", "shards", "bf16", "-o", "new", prefix=injected("shards", "getdents64", error))
            require_failure(done, code, "cannot read 'shards'", text)
            for part in ("out_scale.npy", "out_zero_point.npy"):
                done = tried("quant", "out.npy", "fp32", "--dequant", "-o", "d.npy",
                             prefix=injected(part, accesses, error))
                require_failure(done, code, "cannot read '%s'" % part, text)
            done = tried("cast", "shards", "bf16", "-o", "new", prefix=injected(".", "getdents64", error))
            require_failure(done, 5 if code == 5 else 4, "cannot write 'new'", text)
            done = tried("cast", "shards", "bf16", "-o", "plain.npy/new", prefix=injected("plain.npy", stats, error))
            require_failure(done, 5 if code == 5 else 4, "cannot write 'plain.npy/new'")
            require(not os.path.exists("new") and not strays(), "left behind", os.listdir("."))


@check
def a_report_that_cannot_be_written_leaves_a_complete_output():
    with folder():
        wanted = write_shards("shards", 2)
        write("x.npy", npy("<f4", (4,), pack("F32", [1.0, 2.0, 3.0, 4.0])))
        runs = ((["cast", "shards", "bf16", "-o", "new"], "new"),
                (["cast", "in.bin", "bf16", "--from", "fp32", "-o", "out.bin"], "out.bin"),
                (["quant", "x.npy", "uint8", "-o", "q.npy"], "q.npy"),
                (["quant", "q.npy", "fp32", "--dequant", "-o", "d.npy"], "d.npy"))
        for words, name in runs:
            for more in ([], ["--json"]):
                with open("/dev/full", "wb") as full:
                    done = subprocess.run([PROGRAM] + words + more, env=environment(), stdout=full,
                                          stderr=subprocess.PIPE)
                done.code = done.returncode
                require_failure(done, 4, "cannot write to standard output: No space left on device",
                                "; '%s' is complete" % name)
                require(os.path.exists(name), "it is not", name)
                words = words + ([] if more else ["--force"])
        require(require_old_or_new(wanted, True) == 2, "shards")
        with open("/dev/full", "wb") as full:  # output to a full device is never complete
            done = subprocess.run([PROGRAM, "cast", "x.npy", "bf16", "-o", "-"], env=environment(),
                                  stdout=full, stderr=subprocess.PIPE)
        require(done.returncode == 4 and b"is complete" not in done.stderr, "data", done.stderr)


if __name__ == "__main__":
    sys.exit(main())
