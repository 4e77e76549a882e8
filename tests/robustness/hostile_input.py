#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Huge, malformed and hostile input: an answer or one clear line, in bounded time and memory."""
import json
import os
import re
import resource
import sys

from survival import (MEMORY_KIB, SANITIZED, check, cpu_seconds, main, peak_kib, require, require_json_error,
                       require_one_line, run)


@check
def a_million_digits_from_stdin_are_cast_exactly():
    digits = b"1" + b"0" * 400000 + b"1" * 599999
    cases = [(b"0." + digits + b"\n", b"0.1000000000000000055511151231257827"),
             (digits + b"e-1000000\n", b"0.1000000000000000055511151231257827"),
             (b"1.00048828125" + b"0" * 1000000 + b"1\n", None)]
    for text, _ in cases:
        start = cpu_seconds()
        done = run(["cast", "-", "fp16", "-q"], text)
        require(done.code == 0, "exit code", done.code, done.stderr[:200])
        require(cpu_seconds() - start < 20, "took too long")
    # a single digit a million places after a tie decides it
    require(done.stdout == b"1.0009765625\n", "the last digit was lost:", done.stdout)
    tie = run(["cast", "-", "fp16", "-q"], b"1.00048828125" + b"0" * 1000000 + b"\n")
    require(tie.stdout == b"1\n", "the tie", tie.stdout)


@check
def a_million_digits_are_shown_in_full_with_bounded_memory():
    text = b"0." + b"123456789" * 111111 + b"\n"
    for words in (["cast", "-", "fp64", "--json"], ["cast", "-", "fp64"], ["cast", "-", "fp64", "-q"]):
        code, peak, seconds = peak_kib(words, text)
        require(code == 0, "exit code", words, code)
        require(seconds < 30, "took", words, seconds)
        require(SANITIZED or peak < MEMORY_KIB, "used KiB:", words, peak)


@check
def the_longest_argument_is_a_number_like_any_other():
    text = "0." + "3" * 131000
    done = run(["cast", text, "fp32", "-q"])
    require(done.code == 0 and done.stdout.startswith(b"0.3333333"), "answer", done.code,
            done.stdout, done.stderr[:200])
    for words in (["cast", "x" * 131000, "fp32"], ["cast", "1", "y" * 131000],
                  ["z" * 131000], ["cast", "--" + "o" * 131000], ["finfo", "e" * 131000],
                  ["bits", "0x" + "f" * 131000, "fp32"], ["cast", "1", "bf16", "--round=" + "u" * 131000],
                  ["calc", "1+" * 65000 + "1", "fp16"], ["calc", "(" * 131000, "fp16"],
                  ["calc", "n" * 131000, "fp16"]):
        line = require_one_line(run(words), 2)
        require(len(line) < 1000, "the line is long:", len(line))


@check
def absurd_exponents_cost_nothing():
    for text in ("1e99999999999", "-1e99999999999999999999999", "1e-99999999999", "0x1p99999999999",
                 "1e99999999999/1e99999999999", "0e99999999999", "1/1e-99999999999999999999"):
        for words in (["cast", text, "fp64"], ["cast", text, "all", "--json"]):
            start = cpu_seconds()
            done = run(words)
            require(done.code in (0, 2), "exit code", words, done.code, done.stderr)
            require(cpu_seconds() - start < 10, "took too long:", words)


@check
def a_hundred_thousand_operands_are_answered():
    words = ["cast"] + ["%d.5" % number for number in range(100000)] + ["fp32", "-q"]
    done = run(words)
    lines = done.stdout.decode("ascii").splitlines()
    require(done.code == 0 and len(lines) == 100000, "answers", done.code, len(lines), done.stderr)
    require(lines[777] == "777.5" and lines[-1] == "99999.5", "answers", lines[777], lines[-1])
    done = run(words[:-1] + ["--json"])
    document = json.loads(done.stdout.decode("ascii"))
    require(len(document["results"]) == 100000, "results", len(document["results"]))


@check
def memory_does_not_grow_with_the_input():
    if SANITIZED:
        return
    for words in (["cast", "-", "bf16", "-q"], ["cast", "-", "bf16", "--jsonl"],
                  ["cast", "-", "bf16", "--json"], ["cast", "-", "fp16"]):
        # enough to fill each buffer, and six times as much; the least of three, since the kernel sometimes maps much
        # more of the program's file than is used
        runs = [[peak_kib(words, b"1.1\n" * count) for _ in range(3)] for count in (50000, 300000)]
        require(all(code == 0 for code, _, _ in runs[0] + runs[1]), "exit codes:", words, runs)
        small, large = (min(peak for _, peak, _ in some) for some in runs)
        require(large < small + 1024, "KiB for 250,000 numbers more:", words, small, large)


@check
def an_empty_stdin_is_an_input_error():
    for stdin in (b"",):
        require_one_line(run(["cast", "-", "bf16"], stdin), 3)
        require_json_error(["cast", "-", "bf16"], 3, "bad_input", stdin)


@check
def a_bad_line_is_named_and_the_others_are_answered():
    lines = b"1\nx\n3\n7,5\n\n6"
    done = run(["cast", "-", "fp16", "-q"], lines)
    require(done.code == 3, "exit code", done.code)
    require(done.stdout == b"1\n\n3\n\n\n6\n", "answers", done.stdout)
    told = [int(number) for number in re.findall(rb"line (\d+)", done.stderr)]
    require(told == [2, 4, 5], "lines told:", told, done.stderr)
    done = run(["cast", "-", "fp16", "--jsonl"], lines)
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    require([d["schema"] for d in documents] == ["dtinfo.cast/1", "dtinfo.error/1", "dtinfo.cast/1",
                                                 "dtinfo.error/1", "dtinfo.error/1", "dtinfo.cast/1"],
            "documents", documents)
    require(documents[1]["error"]["line"] == 2 and done.code == 3, "line", documents[1], done.code)


@check
def lines_may_end_as_on_other_systems():
    done = run(["cast", "-", "fp16", "-q"], b"1\r\n2\r\n3")
    require(done.code == 0 and done.stdout == b"1\n2\n3\n", "answer", done.code, done.stdout)


@check
def a_directory_as_stdin_is_an_input_error():
    fd = os.open("/", os.O_RDONLY)
    done = run(["cast", "-", "bf16"], stdin=None, prepare=lambda: os.dup2(fd, 0))
    os.close(fd)
    require_one_line(done, 3)


@check
def hostile_bytes_never_reach_the_terminal():
    hostile = ["\x1b[31mred", "\x1b]0;title\x07", "a\nb", "\u202e321", "\x7f", "\u009b31m", "tab\there",
               b"\xff\xfe", b"\xc3", "caf\u00e9", "'quoted'", "\u200b", "100%s%n"]
    for text in hostile:
        for words in ([["cast"], [text], ["bf16"]], [["cast"], ["1"], [text]], [["finfo"], [text]],
                      [["bits"], [text], ["fp16"]], [[text]], [["help"], [text]],
                      [["completion"], [text]], [["calc"], [text], ["bf16"]], [["calc"], ["1"], [text]], [["cast"], ["1"], ["bf16"], ["--round"], [text]]):
            flat = [word for part in words for word in part]
            done = run(flat)
            require_one_line(done, 2)
            require(done.stdout == b"", "stdout is not empty:", flat, done.stdout)
            done = run(flat + ["--json"])
            require(json.loads(done.stdout.decode("utf-8"))["schema"] == "dtinfo.error/1", "no error")
            require(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", done.stdout), "raw bytes:", done.stdout)


@check
def hostile_bytes_in_a_stream_are_quoted_too():
    for text in (b"\x00", b"1\x002", b"\x1b[31m", b"\xff", b"1.5\x00"):
        done = run(["cast", "-", "bf16", "--jsonl"], text + b"\n")
        require_one_line(done, 3)
        document = json.loads(done.stdout.decode("utf-8"))
        require(document["error"]["line"] == 1, "line", document)


@check
def mistakes_get_one_line_and_a_json_error():
    cases = [
        (["cast", "1", "bf61"], "unknown_dtype"), (["cast", "1", ""], "unknown_dtype"),
        (["cast", "1", "fp8"], "ambiguous_dtype"), (["cast", "1", "fp4"], "ambiguous_dtype"),
        (["finfo", "int8"], "wrong_kind"), (["iinfo", "bf16"], "wrong_kind"),
        (["cast", "7,5", "bf16"], "bad_value"), (["cast", "", "bf16"], "bad_value"),
        (["cast", " 1", "bf16"], "bad_value"), (["cast", "1 ", "bf16"], "bad_value"),
        (["cast", "1.5x", "bf16"], "bad_value"), (["cast", "0x", "bf16"], "bad_value"),
        (["cast", "1/0", "bf16"], "bad_value"), (["cast", "1__0", "bf16"], "bad_value"),
        (["bits", "0x12345", "fp16"], "bad_pattern"), (["bits", "0b2", "fp16"], None),
        (["cast"], "usage"), (["cast", "70000"], "usage"), (["bits"], "usage"), ([], "usage"),
        (["csat"], "unknown_command"), (["cast", "1", "bf16", "--ronud"], "unknown_option"),
        (["cast", "1", "bf16", "-Z"], "unknown_option"), (["list", "operand"], "usage"),
        (["cast", "1", "bf16", "--round"], "usage"), (["cast", "1", "bf16", "--round=sideways"], "usage"),
        (["cast", "1", "bf16", "--digits", "-1"], "usage"), (["cast", "1", "bf16", "--digits", "1e9"], "usage"),
        (["cast", "1", "bf16", "--seed", "18446744073709551616"], "usage"),
        (["cast", "1", "bf16", "--via", "nonsense"], "unknown_dtype"),
        (["cast", "1", "bf16", "--fail-on", "inexact,nonsense"], "usage"),
        (["completion", "tcsh"], None), (["help", "csat"], "unknown_command"),
        (["cast", "1", "bf16", "--json=yes"], "usage"), (["finfo", "bf16,"], None),
    ]
    for words, name in cases:
        done = run(words + ["--json"])
        document = json.loads(done.stdout.decode("utf-8"))
        require(name is None or document["error"]["code"] == name, "code", words, document["error"])
        require(done.code == 2, "exit code", words, done.code)
        if words:
            require_one_line(run(words), 2)


@check
def nan_without_a_code_is_refused_and_counted():
    done = run(["cast", "nan", "fp4_e2m1"])
    require_one_line(done, 3)
    require_json_error(["cast", "nan", "fp4_e2m1"], 3, "not_representable")
    require(run(["cast", "nan", "int8", "-q"]).stdout == b"0\n", "nan as int8")


@check
def json_stays_json_whatever_the_words_around_it():
    for words in (["--json", "cast", "1", "bf61"], ["cast", "--nonsense", "--json"],
                  ["--json", "--nonsense"], ["--json"], ["cast", "--jsonl", "1", "x"]):
        done = run(words)
        require(done.code == 2, "exit code", words, done.code)
        require(json.loads(done.stdout.decode("utf-8"))["schema"] == "dtinfo.error/1", "no error", words)


@check
def little_address_space_is_enough_or_said_to_be_too_little():
    if SANITIZED:
        return

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))
    done = run(["cast", "70000", "bf16", "-q"], prepare=limit)
    require(done.code == 0 and done.stdout == b"70144\n", "answer", done.code, done.stderr)
    done = run(["cast", "-", "fp64", "--json"], b"0." + b"7" * 30000000 + b"\n", prepare=limit)
    require(done.code in (0, 3, 5), "exit code", done.code, done.stderr[:200])
    json.loads(done.stdout.decode("utf-8"))


if __name__ == "__main__":
    sys.exit(main())
