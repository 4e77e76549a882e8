#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the man pages against the program: the right page describes every feature, and no page claims
a feature that does not exist."""

import json
import pathlib
import re
import subprocess
import sys

import pages

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import checker  # noqa: E402

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT",
            "SEE ALSO"]
# Colour follows the conventions of other programs, so these have no row in the program's tables.
COLOUR_VARIABLES = ["NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM"]
# URLs follow such conventions, too; only dtinfo(1) describes these.
ADDRESS_VARIABLES = ["HF_TOKEN", "HF_ENDPOINT", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"]
LONG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
SHORT = re.compile(r"(?<![\w-])-([a-zA-Z])(?![\w-])")
# Options of other programs that examples use.
FOREIGN_SHORT = {"n", "c", "r"}


def built(path, program):
    """Returns the page as the build completed it, or the source if the build made none."""
    made = pathlib.Path(program).parent / "man" / path.name
    return made if made.exists() else path


def prose(page):
    """Returns the page without its examples, which use options of other programs, and without the exit
    codes, which are the same for all commands."""
    text = "\n".join(page.text(title) for title in page.sections if title != "EXIT STATUS")
    return re.sub(r"```\n.*?```", "", text, flags=re.DOTALL)


def check_options(judge, page, own, known):
    """own: the rows that the page must explain; known: the rows that it may mention."""
    terms = page.terms("OPTIONS")
    for option in own:
        term = f"*--{option['long']}*"
        head = [line for line in terms if term in line]
        judge.check(len(head) == 1, f"{page.name}: OPTIONS explains {term} {len(head)} times")
        text = page.text("OPTIONS")
        if option["short"]:
            judge.check(any(f"*-{option['short']}*" in line for line in head),
                        f"{page.name}: OPTIONS lacks -{option['short']}")
        if option["metavar"]:
            word = re.split(r"\W", option["metavar"])[0]
            judge.check(any(f"_{word}_" in line for line in head),
                        f"{page.name}: OPTIONS lacks {option['metavar']}")
        for choice in option["choices"] or []:
            judge.check(f"- *{choice['name']}*: " in text,
                        f"{page.name}: OPTIONS lacks the choice {choice['name']} of {term}")
    longs = {option["long"] for option in known}
    for name in sorted(set(LONG.findall(prose(page)))):
        judge.check(name in longs, f"{page.name}: mentions --{name}, which does not exist there")
    shorts = {option["short"] for option in known}
    for name in sorted(set(SHORT.findall(prose(page))) - FOREIGN_SHORT):
        judge.check(name in shorts, f"{page.name}: mentions -{name}, which does not exist there")


def check_choices_are_real(judge, page, options):
    """Checks that every listed choice exists in the program."""
    names = {choice["name"] for option in options for choice in option["choices"] or []}
    for line in page.sections.get("OPTIONS", []):
        found = re.match(r"\t- \*(.+?)\*: ", line)
        if found:
            judge.check(pages.unescape(found[1]) in names,
                        f"{page.name}: {found[1]} is no choice of any option")


def check_exit_status(judge, page, statuses):
    text = page.text("EXIT STATUS")
    codes = {str(status["exit"]) for status in statuses}
    first = {status["exit"]: status for status in reversed(statuses)}
    for status in statuses if page.name == "dtinfo.1" else first.values():
        meaning = status["meaning"]
        judge.check(meaning in text or meaning[0].upper() + meaning[1:] in text,
                    f"{page.name}: EXIT STATUS lacks '{meaning}'")
    claimed = {term.strip("*") for term in page.terms("EXIT STATUS")}
    judge.check(claimed == codes | {"128+n"},
                f"{page.name}: EXIT STATUS has {sorted(claimed)}, the program {sorted(codes)}")


def check_environment(judge, page, variables):
    known = {variable["name"] for variable in variables} | set(COLOUR_VARIABLES)
    if page.name == "dtinfo.1":
        known |= set(ADDRESS_VARIABLES)
    text = page.text("ENVIRONMENT")
    claimed = set(re.findall(r"\*([A-Z][A-Z_]+)\*", text))
    judge.check(claimed == known, f"{page.name}: ENVIRONMENT has {sorted(claimed)}, "
                f"the program {sorted(known)}")
    if page.name == "dtinfo.1":
        for variable in variables:
            for choice in variable["choices"] or []:
                judge.check(f"- *{choice['name']}*: " in text,
                            f"{page.name}: {variable['name']} lacks {choice['name']}")


def check_colour_variables(judge, program):
    """Checks that the variables work as documented, in the documented order of precedence."""
    def coloured(*words, **environment):
        return "\x1b[" in pages.run(program, *words, "finfo", "bf16", **environment).stdout

    judge.check(not coloured(), "colour in a pipe")
    judge.check(coloured(FORCE_COLOR="1"), "FORCE_COLOR does nothing")
    judge.check(coloured(CLICOLOR_FORCE="1"), "CLICOLOR_FORCE does nothing")
    judge.check(not coloured(FORCE_COLOR="0"), "FORCE_COLOR=0 forces colour")
    judge.check(not coloured(NO_COLOR="1", FORCE_COLOR="1"), "NO_COLOR does not win")
    judge.check(coloured(NO_COLOR="", FORCE_COLOR="1"), "an empty NO_COLOR counts")
    judge.check(coloured("--color", "always", NO_COLOR="1"), "--color does not win over NO_COLOR")


def check_own_variables(judge, program, variables):
    for variable in variables:
        for choice in variable["choices"] or []:
            done = pages.run(program, "list", **{variable["name"]: choice["name"]})
            judge.check(done.returncode == 0,
                        f"{variable['name']}={choice['name']} gives {done.returncode}")
    done = pages.run(program, "list", DTINFO_NO_SUCH="1")
    judge.check(done.returncode == 2, "an unknown DTINFO variable is no error")


def check_conversions(judge, program, facts):
    """Checks that each conversion names a stack that has its dtype, and that each stack of instructions has one."""
    cast = next(command for command in facts["commands"] if command["name"] == "cast")
    stacks = {choice["name"] for option in cast["options"] if option["long"] == "like"
              for choice in option["choices"]}
    likes = {conversion["like"] for conversion in facts["conversions"]}
    judge.check(likes - {""} <= stacks, f"no stacks: {sorted(likes - stacks)}")
    libraries = {"torch", "torch-2.12", "numpy", "ml_dtypes", "onnx", "onnx-nosat", "cuda"}
    judge.check(stacks - libraries <= likes, f"no conversions: {sorted(stacks - libraries - likes)}")
    for row in facts["conversions"]:
        if row["like"]:
            done = pages.run(program, "cast", "1", row["to"], "--like", row["like"], "-q")
            judge.check(done.returncode == 0, f"{row['instruction']}: {row['like']} has no {row['to']}")


def check_dtypes(judge, page, facts, blocks):
    text = page.text()
    lines = page.lines
    names = {dtype["name"] for dtype in facts["dtypes"]}
    names |= {conversion["instruction"] for conversion in facts["conversions"]}
    titles = {"dtype", "block format", "instruction"}
    rows = {pages.unescape(line[4:-1]) for line in lines if re.match(r"\|\[ \*.+\*$", line)} - titles
    judge.check(rows == names | blocks, f"{page.name}: the tables lack {sorted((names | blocks) - rows)}"
                f" and have {sorted(rows - names - blocks)} too many")
    entries = {}
    for line, following in zip(lines, lines[1:]):
        if line.startswith("*") and following.startswith("\t"):
            entries.setdefault(pages.unescape(line).strip("*"), pages.unescape(following.strip()))
    for dtype in facts["dtypes"]:
        entry = entries.get(dtype["name"], "")
        systems = dict(part.split(": ", 1) for part in entry.split("; ") if ": " in part)
        claimed = {(system, name) for system, listed in systems.items()
                   for name in listed.split(", ")}
        real = {(name["system"], name["name"] + (f" ({name['number']})"
                                                  if name["number"] is not None else ""))
                for name in dtype["names"]}
        judge.check(claimed == real, f"{page.name}: {dtype['name']} is called {sorted(claimed ^ real)}"
                    " in one place only")
    for command in facts["commands"]:
        for option in command["options"]:
            if option["long"] in ("round", "overflow", "nan", "like"):
                for choice in option["choices"]:
                    judge.check(f"*{choice['name']}*\n\t" in text,
                                f"{page.name}: lacks {choice['name']} of --{option['long']}")


def check_json_page(judge, page, program, facts):
    """Checks that the page explains exactly the members of the schemas; tests/schema checks that documents have them."""
    known = set()
    for path in (pathlib.Path(program).parent / "schemas").glob("*.json"):
        if path.name.startswith("check-"):  # of policies
            continue
        known |= checker.members(json.loads(path.read_text(encoding="utf-8")))
    documented = set()
    for term in re.findall(r"^\*([a-z0-9_.\[\]]+)\* \(", page.text(), flags=re.MULTILINE):
        documented |= {part.removesuffix("[]") for part in term.split(".")}
    documented |= {"schema", "dtinfo"}
    judge.check(known == documented, f"{page.name}: lacks {sorted(known - documented)} and explains "
                f"{sorted(documented - known)}, which no document has")
    claimed = set(re.findall(r"^- \*(dtinfo\.\w+/\d+)\*$", page.text(), flags=re.MULTILINE))
    judge.check(claimed == set(facts["schemas"]), f"{page.name}: lists {sorted(claimed)}")
    for name in claimed:
        judge.check(f"\n## {name}\n" in page.text(), f"{page.name}: no section on {name}")


def check_references(judge, page, names):
    for name, section in re.findall(r"\*(dtinfo[\w-]*)\*\((\d)\)", page.text()):
        judge.check(f"{name}.{section}" in names, f"{page.name}: refers to {name}({section})")


def check_readme(judge, program, options):
    """Checks its length, that its options exist, and that setup and test are one line each and name the program."""
    text = pages.README.read_text(encoding="utf-8")
    judge.check(text.count("\n") <= 200, "README: more than 200 lines")
    for name in re.findall(r"`--([a-z][a-z-]*)", text):
        judge.check(name in {option["long"] for option in options}, f"README: mentions --{name}")
    for title in ("setup", "test"):
        found = re.findall(rf"<!-- {title} -->\n```sh\n(.+)\n```\n", text)
        judge.check(len(found) == 1, f"README: not exactly one {title} command")
        for path in re.findall(r"build(/\S+/dtinfo) ", "".join(found)):
            judge.check(str(pathlib.Path(program).resolve()).endswith(path),
                        f"README: the program is not build{path}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge = pages.Judge()
    facts = pages.introspect(program)
    blocks = pages.block_formats(program)
    every = {page.name: page for page in map(pages.Page, [built(path, program) for path in pages.MAN])}
    public = [command for command in facts["commands"] if not command["hidden"]]
    expected = {f"dtinfo-{command['name']}.1" for command in public}
    expected |= {"dtinfo.1", "dtinfo-json.5", "dtinfo-dtypes.7"}
    judge.check(set(every) == expected, f"pages {sorted(set(every) ^ expected)} are missing or have "
                "no command")

    all_options = [*facts["global_options"],
                   *(option for command in public for option in command["options"])]
    check_options(judge, every["dtinfo.1"], facts["global_options"], all_options)
    for command in public:
        page = every[f"dtinfo-{command['name']}.1"]
        known = [*command["options"], *facts["global_options"]]
        check_options(judge, page, command["options"], known)
        check_choices_are_real(judge, page, known)
        summary = command["summary"][0].upper() + command["summary"][1:]
        judge.check(f"*dtinfo-{command['name']}*(1)\n\t{summary}." in
                    every["dtinfo.1"].text("COMMANDS"),
                    f"dtinfo.1: lacks {command['name']} or its summary")
        judge.check(f"*{command['name']}*" in page.text("SYNOPSIS"),
                    f"{page.name}: SYNOPSIS lacks the command")
    for name in ("dtinfo-json.5", "dtinfo-dtypes.7"):
        check_options(judge, every[name], [], all_options)
    for page in every.values():
        if page.name.endswith(".1"):
            for section in SECTIONS:
                judge.check(section in page.sections, f"{page.name}: no section {section}")
            check_exit_status(judge, page, facts["statuses"])
            check_environment(judge, page, facts["environment"])
        check_references(judge, page, every)
    check_colour_variables(judge, program)
    check_own_variables(judge, program, facts["environment"])
    check_dtypes(judge, every["dtinfo-dtypes.7"], facts, blocks)
    check_conversions(judge, program, facts)
    check_json_page(judge, every["dtinfo-json.5"], program, facts)
    check_readme(judge, program, all_options)
    return judge.finish(at_least=200)


if __name__ == "__main__":
    sys.exit(main())
