#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Full disks, closed files, broken pipes, unusual environments and locales."""
import os
import re
import signal
import subprocess
import sys
import time

from survival import (COMMANDS, PROGRAM, SECONDS, check, environment, main, require,
                       require_json_error, require_one_line, run)


@check
def a_full_disk_is_reported_by_every_command():
    for words in COMMANDS:
        with open("/dev/full", "wb") as full:
            done = run(words, stdout=full)
        line = require_one_line(done, 4)
        require("No space left" in line, "the cause is not told:", words, line)


@check
def a_closed_stdout_is_reported_by_every_command():
    for words in COMMANDS:
        done = run(words, prepare=lambda: os.close(1), stdout=None)
        require_one_line(done, 4)


@check
def a_reader_that_leaves_ends_the_program_by_sigpipe():
    for words in COMMANDS:
        reader, writer = os.pipe()
        os.close(reader)
        done = run(words, stdout=writer)
        os.close(writer)
        require(done.code == 128 + signal.SIGPIPE, "exit code", words, done.code)
        require(done.stderr == b"", "stderr is not empty:", done.stderr)


@check
def an_ignored_sigpipe_gives_exit_4_quietly():
    for words in COMMANDS:
        reader, writer = os.pipe()
        os.close(reader)
        done = run(words, stdout=writer, restore_signals=False,
                   prepare=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        os.close(writer)
        require(done.code == 4, "exit code", words, done.code)
        require(done.stderr == b"", "stderr is not empty:", done.stderr)


@check
def a_stream_ends_when_its_reader_leaves():
    reader, writer = os.pipe()
    child = subprocess.Popen([PROGRAM, "cast", "-", "bf16", "-q"], stdin=subprocess.PIPE,
                             stdout=writer, stderr=subprocess.PIPE, env=environment())
    os.close(writer)
    os.close(reader)
    start = time.monotonic()
    try:
        while time.monotonic() - start < SECONDS:
            child.stdin.write(b"1.5\n" * 10000)
            child.stdin.flush()
    except BrokenPipeError:
        pass
    code = child.wait(SECONDS)
    child.stderr.close()
    require(code == -signal.SIGPIPE, "exit code", code)


@check
def all_standard_files_may_be_closed():
    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)
    for words in COMMANDS + [["cast", "-", "bf16"], ["cast", "x", "bf16"]]:
        done = run(words, stdin=None, stdout=None, stderr=None, prepare=close_all)
        require(done.code in (2, 3, 4), "exit code", words, done.code)


@check
def a_closed_stderr_leaves_the_answer_alone():
    done = run(["cast", "70000", "bf16", "-q"], stderr=None, prepare=lambda: os.close(2))
    require(done.code == 0 and done.stdout == b"70144\n", "answer", done.code, done.stdout)
    done = run(["cast", "x", "bf16"], stderr=None, prepare=lambda: os.close(2))
    require(done.code == 2 and done.stdout == b"", "answer", done.code, done.stdout)


@check
def an_empty_environment_changes_nothing():
    for words in COMMANDS:
        plain, bare = run(words), run(words, env={})
        require(bare.code == 0 and bare.stdout == plain.stdout, "differs:", words, bare.stderr)


BOXES = str.maketrans("\u2500\u2504\u253c\u251c\u2524\u25cf\u25c6\u25c4\u25ba\u2588\u2591", "-.+||*@<>#:")


@check
def a_locale_changes_nothing_but_the_characters_of_pictures():
    locales = ["de_DE.UTF-8", "tr_TR.UTF-8", "fr_FR.UTF-8", "C.UTF-8", "no-such-locale", "\x1b[31m",
               "x" * 10000, ""]
    words_list = COMMANDS + [["cast", "-INFINITY", "fp16"], ["cast", "NAN", "fp16"],
                             ["finfo", "BFLOAT16"], ["iinfo", "INT8"], ["cast", "1.5", "bf61"],
                             ["cast", "1e9", "fp16"], ["finfo", "fp16", "fp64"], ["list", "--ranges"]]
    for words in words_list:
        plain = run(words)
        for name in locales:
            other = run(words, env=environment(LC_ALL=name, LANG=name, LC_NUMERIC=name))
            drawn = other.stdout
            if name.endswith("UTF-8"):
                drawn = drawn.decode().translate(BOXES).encode()
            require((other.code, drawn, other.stderr) ==
                    (plain.code, plain.stdout, plain.stderr), "differs:", words, name)


@check
def a_decimal_point_stays_a_point():
    done = run(["cast", "0.5", "fp32", "-q"], env=environment(LC_ALL="de_DE.UTF-8"))
    require(done.stdout == b"0.5\n", "answer", done.stdout)


@check
def nonsense_in_its_own_variables_is_an_error():
    for name, value in (("DTINFO_CPU", "nonsense"), ("DTINFO_CPU", "\x1b[2J"), ("DTINFO_FOO", "1")):
        env = environment(**{name: value})
        line = require_one_line(run(["cast", "1", "bf16"], env=env), 2)
        require(name in line, "the variable is not named:", line)
        require_json_error(["cast", "1", "bf16"], 2, "bad_environment", env=env)


@check
def colour_is_only_added_when_asked_for():
    for words in COMMANDS[:5]:
        plain = run(words).stdout
        require(b"\x1b" not in plain, "colour in a pipe:", words)
        coloured = run(["--color", "always"] + words).stdout
        require(re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == plain, "colour changes the text:", words)
        require(run(words, env=environment(NO_COLOR="1", TERM="xterm")).stdout == plain, "NO_COLOR")
        forced = run(words, env=environment(CLICOLOR_FORCE="1")).stdout
        require(forced == coloured, "CLICOLOR_FORCE", words)


@check
def an_answer_depends_on_nothing_but_the_question():
    for words in COMMANDS:
        first = run(words)
        elsewhere = run(words, env=environment(COLUMNS="20", HOME="/nonexistent", TERM="dumb"), cwd="/")
        require(first.stdout == elsewhere.stdout == run(words).stdout, "differs:", words)


if __name__ == "__main__":
    sys.exit(main())
