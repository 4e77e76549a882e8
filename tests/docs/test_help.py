#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks --help of every command: exit 0, nothing on standard error, and every option and choice
listed. Its examples must run. -h is the short form."""

import os
import re
import shlex
import sys

import pages


def check_help(judge, program, command, options):
    name = command["name"]
    asked = [pages.run(program, name, "--help"), pages.run(program, "--help", name),
             pages.run(program, "help", name)]
    for done in asked:
        judge.check(done.returncode == 0 and done.stderr == "",
                    f"{name}: exit {done.returncode}, stderr {done.stderr!r}")
    text = asked[0].stdout
    judge.check(all(done.stdout == text for done in asked), f"{name}: --help and help differ")
    judge.check(f"usage: dtinfo {name}" in text, f"{name}: no usage line")
    judge.check(re.sub(r"\s+", " ", command["summary"]) in re.sub(r"\s+", " ", text),
                f"{name}: no summary")
    flat = re.sub(r"\s+", " ", text)
    for option in options:
        spelled = (f"-{option['short']}, " if option["short"] else "") + f"--{option['long']}"
        judge.check(re.search(rf"(?<![\w-]){re.escape(spelled)}(?![\w-])", text),
                    f"{name}: no {spelled}")
        judge.check(option["help"] in flat, f"{name}: no text for {spelled}")
        for choice in option["choices"] or []:
            judge.check(re.search(rf"^ +{re.escape(choice['name'])} ", text, re.MULTILINE),
                        f"{name}: no choice {choice['name']} of {spelled}")
    known = {option["long"] for option in options}
    # the section on exit codes is the same for all commands and may name their options
    for long_name in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text.split("\nexit codes\n")[0]):
        judge.check(long_name in known, f"{name}: mentions --{long_name}, which it lacks")
    check_lines(judge, name, text)
    judge.check(text.find("\nexamples\n") < text.find("\nglobal options\n"), f"{name}: examples come late")
    titles = [option["group"] for option in options if option["group"]]
    for title in titles:
        judge.check(f"\n\n  {title}\n" in text, f"{name}: no group '{title}'")
    for option in options:
        judge.check(option["alias"] not in known, f"{name}: --{option['alias']} is an option and an alias")


def check_lines(judge, name, text):
    for line in text.split("\n"):
        judge.check(len(line) <= 100, f"{name}: a line of {len(line)} columns")
        judge.check(line == line.rstrip(), f"{name}: blanks at the end of '{line}'")


def check_short_help(judge, program, command):
    """Checks -h: usage, at most three examples, at most ten options and a pointer to --help, on one screen."""
    name, options = command["name"], command["options"]
    asked = [pages.run(program, name, "-h"), pages.run(program, "-h", name)]
    judge.check(all(done.returncode == 0 and done.stderr == "" for done in asked), f"{name} -h fails")
    text = asked[0].stdout
    judge.check(asked[1].stdout == text, f"{name}: -h differs before and after the command")
    check_lines(judge, name, text)
    judge.check(text.startswith(f"usage: dtinfo {name}"), f"{name} -h: no usage line")
    shown = command["examples"][:3]
    judge.check([line[2:] for line in text.split("\n") if line.startswith("  dtinfo ")] == shown,
                f"{name} -h: not the examples {shown}")
    wanted = [option["long"] for option in options if option["matters"] or len(options) <= 10]
    judge.check(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text, re.MULTILINE) == wanted,
                f"{name} -h: not the options {wanted}")
    judge.check(len(wanted) <= 10 and (not options or len(wanted) >= 1), f"{name} -h: {len(wanted)} options")
    judge.check(f"'dtinfo {name} --help'" in text, f"{name} -h does not say where the rest is")
    judge.check(len(text.split("\n")) <= 32, f"{name} -h: {len(text.splitlines())} lines")


def check_examples(judge, program, command):
    for example in command["examples"]:
        words = shlex.split(example)
        done = pages.run(program, *words[1:])
        judge.check(words[0] == "dtinfo" and done.returncode == 0 and done.stdout != "",
                    f"example '{example}': exit {done.returncode}, {done.stderr}")


def main():
    program = os.path.abspath(sys.argv[1])
    judge = pages.Judge()
    facts = pages.introspect(program)
    public = [command for command in facts["commands"] if not command["hidden"]]
    for command in public:
        check_help(judge, program, command, [*command["options"], *facts["global_options"]])
        check_short_help(judge, program, command)
        with pages.checkpoints():
            check_examples(judge, program, command)
    calc, = (command for command in public if command["name"] == "calc")
    for operation in facts["operations"]:
        judge.check(re.search(rf"(?<!\w){re.escape(operation['name'])}(?!\w)", " ".join(calc["details"])),
                    f"calc --help does not name {operation['name']}")
    overview = pages.run(program, "--help")
    judge.check(overview.returncode == 0 and overview.stderr == "", "dtinfo --help fails")
    judge.check(overview.stdout == pages.run(program, "help").stdout, "--help and help differ")
    for command in facts["commands"]:
        listed = re.search(rf"^ +{re.escape(command['name'])} ", overview.stdout, re.MULTILINE)
        judge.check(bool(listed) != command["hidden"], f"overview and {command['name']}")
    return judge.finish(at_least=100)


if __name__ == "__main__":
    sys.exit(main())
