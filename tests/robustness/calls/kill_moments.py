#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIGKILL, and the signals that a handler takes, before and during every system call of every command that writes, 1,000 moments a command and
more: the files are the old or the new ones, as dtinfo-cast(1) promises; only SIGKILL leaves a temporary name, and one at
most of an output, which the next run names and removes with --force. "long" takes all moments; otherwise a sample.

    kill_moments.py DTINFO MEASURE CALL_TRACER [long]
"""
import random
import signal
import sys

from survival import QUICK, check, main, require, run
from traced import can_trace, traced
from writers import broken_promise, files_of, fill, is_new, is_temporary, strays, tree, with_links, workplace

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
MOST = 16 if QUICK else 100  # moments of a command
WAYS = [(when, number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
        for when in ("--kill", "--kill-after")]


def moments(row):
    """(option, call, signal): all that an undisturbed run has."""
    fill(row.old)
    done = traced(row.words)
    require(done.code == 0 and tree() == row.new, "an undisturbed run of", row.words, done.code, done.stderr)
    every = [(option, at, number) for at in range(1, done.calls[-1].index + 2) for option, number in WAYS]
    require(len(every) > 1000, "fewer than 1,000 moments", row.words, len(every))
    return every if LONG else random.Random(20240229).sample(every, MOST)


def require_next_run(row, found):
    """It names what is left, and with --force removes it; a part of a run removes what the same part left in any case."""
    if row.words[1].startswith("o/") and row.words[1][2:] not in found:
        return  # the new model has replaced its input
    left, words = strays(found), [word for word in row.words if word != "--force"]
    if "--part" not in words:
        fill(with_links(row, found))
        done = run(words)
        told = [name for name in left if name.encode() in done.stderr and b"--force removes it" in done.stderr]
        if done.code == 0 or not files_of(row.before):
            require(told == left, "not named:", row.words, left, done.code, done.stderr)
        require(strays(tree()) == left, "removed without --force:", row.words, left, sorted(tree()))
    fill(with_links(row, found))
    done = run(words + ["--force"])
    require(done.code == 0 and is_new(row, tree()), "the next run", row.words, sorted(found), done.code, done.stderr)


def judge(row, how, done, seen):
    """Requires what the signal left to be as promised. Returns whether it is new to this test."""
    option, at, number = how
    found = tree()
    left = strays(found)
    require(done.code in (0, 128 + number), "exit status", done.code, row.words, how, done.stderr)
    require(done.code == 0 or done.stderr.count(b"\n") <= row.good.stderr.count(b"\n"), "a message", row.words, how, done.stderr)
    if done.code == 0:
        require(files_of(found) == files_of(row.new), "not complete", row.words, how)
    require(len(left) <= (number == signal.SIGKILL) * row.apart, "left behind", left, row.words, how)
    why = broken_promise(row, {path: data for path, data in found.items() if not is_temporary(path)})
    require(not why, why, row.words, how)
    key = tuple(sorted((path if not is_temporary(path) else path.split(".dtinfo-")[0] + path.split(".dtinfo-")[1][6:], data)
                       for path, data in found.items()))
    if key in seen:
        return False
    seen.add(key)
    return True


@check
def a_signal_at_any_call_leaves_the_old_files_or_the_new_ones():
    with workplace() as rows:
        count = died = met = 0
        for row in rows:
            seen = set()
            every = moments(row)
            for how in every:
                option, at, number = how
                fill(row.old)
                done = traced(row.words, option, at, int(number))
                died += done.code != 0
                if judge(row, how, done, seen):
                    found = tree()
                    met += len(strays(found))
                    require_next_run(row, found)
            count += len(every)
        print("        %d moments of %d commands, %d died, %d kinds of leftovers" % (count, len(rows), died, met))
        require(died > count * 0.9 and met > len(rows) // 2, "hardly a signal met a run at work", died, met)


if __name__ == "__main__":
    sys.exit(main() if can_trace() else 77)
