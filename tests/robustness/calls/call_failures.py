#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every system call of every command that writes fails once, at each position, with each error that it can have there: the
answer is the right file, or the documented exit status, one line that names the file, and the old files. Those that the C
library makes count as well, and the sandbox is on or off. "long" takes all positions; otherwise a sample.

    call_failures.py DTINFO MEASURE CALL_TRACER [long]
"""
import collections
import errno
import os
import re
import sys

from survival import QUICK, SANITIZED, check, main, require
from traced import can_trace, traced
from writers import INDEX, RECORD, broken_promise, files_of, fill, is_new, is_temporary, strays, tree, workplace

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
MOST = 10 ** 9 if LONG else 700 if QUICK else 6000  # runs of a check
TOLD = 12  # faults that are printed

# How each call can fail: an error; after "!" although the call was made; with "+" from then on; "cut": half of the bytes.
# A call without a row here is a failure of the test: decide what can happen to it. Empty: it cannot fail. No handler of a
# signal returns, so nothing interrupts the writing of a report.
ERRORS = {
    "read": "EIO EINTR cut", "pread64": "EIO EIO+ EINTR cut", "write": "EIO ENOSPC EAGAIN cut",
    "pwrite64": "EIO ENOSPC ENOSPC+ EDQUOT EINTR cut", "lseek": "EIO",
    "open": "EIO EACCES EMFILE ENOMEM EINTR", "openat": "EIO EACCES EMFILE EMFILE+ ENOMEM ENOSPC EINTR", "close": "!EIO !ENOSPC !EINTR",
    "dup": "EMFILE", "fcntl": "EMFILE EINVAL", "flock": "ENOLCK EINTR EAGAIN",
    "stat": "EIO ENOMEM EACCES", "lstat": "EIO ENOMEM EACCES", "newfstatat": "EIO ENOMEM EACCES", "fstat": "EIO ENOMEM",
    "statx": "EIO ENOMEM EACCES ENOSYS", "statfs": "EIO ENOSYS", "fstatfs": "EIO ENOSYS",
    "access": "EIO ENOMEM EACCES", "faccessat": "EIO ENOMEM EACCES", "faccessat2": "EIO ENOMEM EACCES ENOSYS",
    "readlink": "EIO ENOMEM", "readlinkat": "EIO ENOMEM", "getcwd": "ENOMEM ENOENT",
    "getdents64": "EIO ENOMEM", "mkdirat": "EACCES EIO ENOSPC", "unlink": "EIO EACCES", "unlinkat": "EIO EACCES",
    "linkat": "EIO ENOSPC EPERM", "renameat": "EIO ENOSPC EACCES", "renameat2": "EIO ENOSPC EACCES ENOSYS EINVAL",
    "ftruncate": "EIO ENOSPC EINTR", "fallocate": "ENOSPC EDQUOT EFBIG EOPNOTSUPP EINTR EIO", "fadvise64": "EINVAL",
    "fsync": "EIO ENOSPC EDQUOT EINTR", "fdatasync": "EIO ENOSPC EDQUOT EINTR", "sync_file_range": "EIO ENOSPC",
    "fchmod": "EPERM EIO", "fchown": "EPERM", "ioctl": "ENOTTY EIO",
    "mmap": "ENOMEM ENOMEM+", "munmap": "ENOMEM", "mprotect": "ENOMEM", "mremap": "ENOMEM", "madvise": "ENOMEM EINVAL",
    "brk": "ENOMEM ENOMEM+", "clone": "EAGAIN ENOMEM", "clone3": "EAGAIN ENOMEM ENOSYS",
    "sched_getaffinity": "EINVAL", "prctl": "EINVAL", "sigaltstack": "ENOMEM", "prlimit64": "EPERM", "sysinfo": "EFAULT",
    "getrandom": "EAGAIN ENOSYS EINTR", "poll": "EINTR ENOMEM", "ppoll": "EINTR ENOMEM",
    "landlock_create_ruleset": "ENOSYS EOPNOTSUPP ENOMEM EMFILE", "landlock_add_rule": "ENOMEM EINVAL",
    "landlock_restrict_self": "E2BIG EPERM", "seccomp": "EINVAL ENOMEM EACCES",
    # these fail only for wrong arguments, or wait for others, which must then be woken
    "futex": "", "set_robust_list": "", "rseq": "", "gettid": "", "getpid": "", "geteuid": "", "getuid": "", "sched_yield": "", "exit": "",
    "exit_group": "", "rt_sigaction": "", "rt_sigprocmask": "", "rt_sigreturn": "", "arch_prctl": "", "uname": "", "clock_gettime": "",
}
# A sanitizer ends the process if its own memory fails.
OF_SANITIZERS = ("mmap", "munmap", "mprotect", "mremap", "madvise", "brk", "sigaltstack")
LINE = re.compile(r"dtinfo( [a-z]+)?: ")
STANDS = re.compile(r"\bwrote |\bare written\b|\bin place\b|\bis complete\b")  # what is new


def options_of(how, call):
    """The words of the tracer."""
    if how == "cut":
        return ["--cut", call.name, call.at]
    number = getattr(errno, how.strip("!+"))
    return ["--after" if how[0] == "!" else "--fail", call.name, call.at, number] + (["--stays"] if how[-1] == "+" else [])


def positions(row, sandbox):
    """(call, how) of all that can fail in a run of this command."""
    fill(row.old)
    done = traced(row.words + ["--sandbox", sandbox])
    require(done.code == 0 and tree() == row.new, "an undisturbed run of", row.words, sandbox, done.code, done.stderr)
    row.written = {steady(call.files[0].path) for call in done.calls if call.name == "openat" and call.made and not call.files[0].inode}
    unknown = {call.name for call in done.calls} - set(ERRORS)
    require(not unknown, "what can happen to these calls is not decided:", sorted(unknown))
    return [(call, how) for call in done.calls for how in ERRORS[call.name].split()
            if not (SANITIZED and call.name in OF_SANITIZERS)]


def steady(path):
    """Without the random letters."""
    return re.sub(r"(\.dtinfo-)\w{6}", r"\1", path)


def loses_data(row, call, how):
    """Whether a new file may be incomplete after this."""
    lost = how.strip("!+") in ("EIO", "ENOSPC", "EDQUOT") and call.name in ("pwrite64", "write", "fsync", "close", "ftruncate")
    return lost and (call.name == "fsync" or steady(call.files[0].path) in row.written)


def new_lines(done, row):
    """What it says that an undisturbed run does not."""
    known = row.good.stderr.decode().splitlines()
    return [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line not in known]


def is_old_form(row, files, call, lines):
    """Whether only an old form is left that could not be found: for a reason that is told, or by an index that could not be
    read, as dtinfo-cast(1) says."""
    told = any("would stay" in line for line in lines)
    return is_new(row, files, "") if told else is_new(row, files) and call.files[0].path.endswith("/o/new/" + INDEX)


def fault_of_success(row, done, found, call):
    """The right files, and an answer that is complete or said not to be."""
    lines, left = new_lines(done, row), strays(found)
    files = files_of({path: data for path, data in found.items() if not is_temporary(path)})
    if files != files_of(row.new) and not is_old_form(row, files, call, lines):
        return "exit status 0, but other files"
    if left and call.name != "unlinkat":
        return "exit status 0, and a temporary file is left"
    if not all(LINE.match(line) for line in lines):
        return "exit status 0, and another text"
    if files == files_of(row.new) and done.stdout != row.good.stdout and not lines:
        return "exit status 0, but another report without a word"
    return None


def fault_of_failure(row, done, found, call):
    """The exit status and the line fit the call; the files are the old ones, or the line says which are new."""
    lines = new_lines(done, row)
    if len(lines) != 1 or not LINE.match(lines[0]):
        told = call.name == "write" and call.arguments[0] == 2
        return None if told else "exit status %d without one line" % done.code
    if done.code not in (3, 4, 5):
        return "exit status %d" % done.code
    if "'" not in lines[0] and "standard output" not in lines[0] and done.code != 5:
        return "the line names no file"
    left = strays(found)
    if left and call.name != "unlinkat":
        return "left behind: %s" % left
    visible = {path: data for path, data in found.items() if not is_temporary(path)}
    why = broken_promise(row, visible)
    if why:
        return why
    is_old = files_of(visible) in (files_of(row.old), {path: data for path, data in files_of(row.old).items() if not path.endswith(RECORD)})
    if not is_old and not STANDS.search(lines[0]):
        return "new files are there without a word"
    if is_old and STANDS.search(lines[0]):
        return "it is not complete"
    return None


def fault(row, done, call, how):
    found = tree()
    if os.listdir("t"):
        return "left in TMPDIR: %s" % os.listdir("t")
    if done.code == 0 and loses_data(row, call, how):
        return "exit status 0, though the data may be lost"
    if done.code == 0:
        return fault_of_success(row, done, found, call)
    if how == "cut" or how.strip("!+") == "EINTR":
        return "exit status %d, though it only had to go on" % done.code
    if done.code > 5:
        return "exit status %d" % done.code
    return fault_of_failure(row, done, found, call)


def sample(places, most):
    """Evenly spread, at the same places each time."""
    step = max(1, len(places) / most)
    return [places[int(at * step)] for at in range(int(len(places) / step))]


def fail_each(row, sandbox, most, faults, counts):
    for call, how in sample(positions(row, sandbox), most):
        fill(row.old)
        done = traced(row.words + ["--sandbox", sandbox], *options_of(how, call))
        if not done.calls:
            counts["not met"] += 1  # another order of threads
            continue
        counts["failed" if done.code else "went on"] += 1
        what = fault(row, done, done.calls[0], how)
        if what:
            faults.append((what, row.name, how, "%s #%d %s" % (call.name, call.at, done.calls[0].files[0].path), done.stderr.decode()))


@check
def any_system_call_may_fail():
    with workplace() as rows:
        faults, counts = [], collections.Counter()
        modes = ["always", "never"] if LONG else ["always"]
        for row in rows:
            for sandbox in modes:
                fail_each(row, sandbox, max(1, MOST // len(rows)), faults, counts)
        print("        %d failed, %d went on, %d not met" % (counts["failed"], counts["went on"], counts["not met"]))
        for what, count in collections.Counter(what for what, *_ in faults).items():
            print("        %d of: %s" % (count, what))
        for each in faults if os.environ.get("SHOW") else faults[:TOLD]:
            print("        %s" % (each,))
        require(not faults, "faults", len(faults))
        require(counts["failed"] > MOST // 10 or LONG and counts["failed"] > 3000, "hardly a run failed", counts)


if __name__ == "__main__":
    sys.exit(main() if can_trace() else 77)
