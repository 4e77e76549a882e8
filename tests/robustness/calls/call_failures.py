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

from survival import QUICK, SANITIZED, check, main, require, run
from traced import can_trace, traced
from verdicts import fault_of_end, sample, tell
from writers import fill, others, tree, workplace

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
MOST = 10 ** 9 if LONG else 500 if QUICK else 6000  # runs of a check

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


def options_of(how, call):
    """The words of the tracer."""
    if how == "cut":
        return ["--cut", call.name, call.at]
    number = getattr(errno, how.strip("!+"))
    return ["--after" if how[0] == "!" else "--fail", call.name, call.at, number] + (["--stays"] if how[-1] == "+" else [])


def only_opens(call):
    """An openat() that makes no file."""
    return call.name == "openat" and not call.arguments[2] & (os.O_CREAT | os.O_TMPFILE & ~os.O_DIRECTORY)


def positions(row, sandbox):
    """(call, how) of all that can fail in a run of this command."""
    fill(row.old)
    done = traced(row.words + ["--sandbox", sandbox])
    require(done.code == 0 and tree() == row.new, "an undisturbed run of", row.words, sandbox, done.code, done.stderr)
    row.written = {steady(call.files[0].path) for call in done.calls if call.name == "openat" and call.made and not call.files[0].inode}
    unknown = {call.name for call in done.calls} - set(ERRORS)
    require(not unknown, "what can happen to these calls is not decided:", sorted(unknown))
    return [(call, how) for call in done.calls for how in ERRORS[call.name].split()
            if not (SANITIZED and call.name in OF_SANITIZERS) and not (how == "ENOSPC" and only_opens(call))]


def steady(path):
    """Without the random letters."""
    return re.sub(r"(\.dtinfo-)\w{6}", r"\1", path)


def loses_data(row, call, how):
    """Whether a new file may be incomplete after this."""
    lost = how.strip("!+") in ("EIO", "ENOSPC", "EDQUOT") and call.name in ("pwrite64", "write", "fsync", "close", "ftruncate")
    return lost and (call.name == "fsync" or steady(call.files[0].path) in row.written)


def tells_cause(done, call, how):
    """Whether the error that was made is named. pthread_create() has one error for all, and after access() the file is opened."""
    text, said = os.strerror(getattr(errno, how.strip("!+"))), done.stderr.decode() + done.stdout.decode("utf-8", "replace")
    other = "--sandbox always" in said or "threads could be started" in said or call.name == "access"
    return other or text in said or how.startswith("ENOMEM") and "out of memory" in said


def fault(row, done, call, how):
    if done.code == 0 and loses_data(row, call, how):
        return "exit status 0, though the data may be lost"
    if done.code and not tells_cause(done, call, how):
        return "the cause is not told"
    name = "write to standard error" if call.name == "write" and call.arguments[0] == 2 else call.name
    return fault_of_end(row, done, name, call.files[0].path, how != "cut" and how.strip("!+") != "EINTR")


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
    with workplace(*others()) as rows:
        faults, counts = [], collections.Counter()
        has_sandbox = run(["inspect", "nowhere.npy", "--sandbox", "always"]).code != 5
        modes = ["never"] if not has_sandbox else ["always", "never"] if LONG else ["always"]
        for row in rows:
            for sandbox in modes:
                fail_each(row, sandbox, max(1, MOST // len(rows)), faults, counts)
        print("        %d failed, %d went on, %d not met" % (counts["failed"], counts["went on"], counts["not met"]))
        tell(faults)
        require(counts["failed"] > MOST // 10 or LONG and counts["failed"] > 3000, "hardly a run failed", counts)


if __name__ == "__main__":
    sys.exit(main() if can_trace() else 77)
