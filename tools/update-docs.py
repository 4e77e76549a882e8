#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rewrites the generated parts of the man pages and Markdown files from the program's own tables.

    tools/update-docs.py --program build/dtinfo            rewrites
    tools/update-docs.py --program build/dtinfo --check    fails on a difference

A generated part begins with a line `; generated: NAME [WORD...]` and ends with `; end generated` (scdoc;
an HTML comment in Markdown). NAME is a method of Tables. The facts come from `dtinfo __introspect` and
`dtinfo list --json`, so that each has a single source.
"""

import argparse
import decimal
import difflib
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

from document_members import Schemas, bold, scd

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKDOWN = ["README.md", "docs/agents.md", "docs/loaders.md", "docs/quantized-checks.md"]
BEGIN = re.compile(r"^(?:; |<!-- )generated: ([a-z-]+)((?: [\w-]+)*)(?: -->)?$")
# A part that is not stored in the source: the build inserts it, with --page.
MADE = re.compile(r"^; made: ([a-z-]+)((?: [\w-]+)*)$")
END = re.compile(r"^(?:; |<!-- )end generated(?: -->)?$")


# What a program does with a checkpoint that breaks a rule of check --quantized.
OUTCOMES = {"none": "loaded right by", "slow": "slow in", "refuse": "refused by", "misread": "misread by"}
# Option help that begins with literal words, as in `cpu, cuda ...` or `cast, copy: ...`, is not capitalized.
TYPED = re.compile(r"(cpu|cast|copy|expsin|dot|matmul|quant)[,:]")


def sentence(text):
    if not TYPED.match(text):
        text = text[0].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def choice_lines(choices):
    return [f"\t- {bold(choice['name'])}: {scd(choice['help'])}" for choice in choices] + [""] * bool(choices)


def synopsis_words(text):
    """Underlines the placeholders in VALUE... DTYPE[,DTYPE...]."""
    return re.sub(r"[A-Z]+", r"_\g<0>_", text.replace("[", "\\["))


def table(titles, rows, right=()):
    """Formats a scdoc table without borders; right: the columns to align right."""
    out = []
    for row in [[bold(title) for title in titles], *rows]:
        for column, text in enumerate(row):
            out.append(f"{':' if column else '|'}{']' if column in right else '['} {text}".rstrip())
    return out


def power_of_two(hexfloat):
    """Formats 0x1p-133 as 2^-133."""
    if not re.fullmatch(r"0x1p[+-]\d+", hexfloat):
        raise ValueError(f"{hexfloat} is no power of two")
    return f"2^{int(hexfloat[4:])}"


def releases(row):
    """The releases of a rule of check --loader: " (0.6.4, until 0.24.0)"."""
    known = [row["has"]] * (row["has"] not in ("", "0")) + [f"not {row['lacks']}"] * bool(row["lacks"]) + [f"until {row['gone']}"] * bool(row["gone"])
    return f" ({', '.join(known)})" if known else ""


def few_digits(text):
    """Rounds texts of more than ten characters to five significant digits, in decimal."""
    return text if len(text) <= 10 else f"{decimal.Decimal(text):.4e}"


class Tables:
    """The program's description of itself, and the parts generated from it."""

    def __init__(self, program):
        environment = {"PATH": os.defpath, "LC_ALL": "C"}

        def ask(*words):
            run = subprocess.run([program, *words], stdout=subprocess.PIPE, check=True,
                                 env=environment)
            return json.loads(run.stdout)

        self.facts = ask("__introspect")
        self.list = ask("list", "--json")
        self.told = ()  # documents with a section in the text of the current page
        self.documents = Schemas(pathlib.Path(program).resolve().parent / "schemas")
        self.commands = [c for c in self.facts["commands"] if not c["hidden"]]

    def command(self, name):
        return next(c for c in self.commands if c["name"] == name)

    def option_rows(self, options):
        out = []
        for option in options:
            if option["group"]:
                out += ["## " + option["group"].upper(), ""]
            head = f"*-{option['short']}*, " if option["short"] else ""
            head += bold("--" + option["long"])
            if option["metavar"]:
                head += " " + re.sub(r"[A-Z]+", r"_\g<0>_", option["metavar"])
            text = scd(sentence(option["help"]))
            if option["kind"] == "uint" and option["maximum"] < 2**64 - 1:
                text += f" From {option['minimum']} to {option['maximum']}."
            out += [head, "\t" + text, ""]
            out += choice_lines(option["choices"] or [])
        return out[:-1]

    # Each of the following methods generates the part of the same name.

    def synopsis(self, name):
        command = self.command(name)
        options = " \\[_options_\\]" if command["options"] else ""
        words = synopsis_words(command["synopsis"])
        return [f"*dtinfo* \\[_global options_\\] *{name}*{options} {words}".rstrip()]

    def options(self, name):
        return self.option_rows(self.command(name)["options"])

    def global_options(self):
        return self.option_rows(self.facts["global_options"])

    def choices(self, name, long_name):
        option = next(o for o in self.command(name)["options"] if o["long"] == long_name)
        out = []
        for choice in option["choices"]:
            out += [bold(choice["name"]), "\t" + scd(choice["help"]), ""]
        return out[:-1]

    def commands_list(self):
        out = []
        for command in self.commands:
            out += [f"*dtinfo-{command['name']}*(1)", "\t" + scd(sentence(command["summary"])), ""]
        return out[:-1]

    def exit_status(self, detail=None):
        """The meaning of each exit code: that of its first status, or with `all` those of all its statuses."""
        meanings = {}
        for status in self.facts["statuses"]:
            meanings.setdefault(status["exit"], []).append(status["meaning"])
        out = []
        for code, texts in meanings.items():
            text = "; ".join(texts if detail == "all" else texts[:1])
            out += [f"*{code}*", "\t" + scd(sentence(text)), ""]
        return out + ["*128+n*", "\tKilled by signal n."]

    def error_codes(self):
        rows = [[bold(s["code"]), str(s["exit"]), scd(s["meaning"])]
                for s in self.facts["statuses"] if s["code"] not in ("ok", "answer_no")]
        return table(["code", "exit", "meaning"], rows, right=(1,))

    def environment(self):
        out = []
        for variable in self.facts["environment"]:
            out += [bold(variable["name"]), "\t" + scd(sentence(variable["help"])), ""]
            out += choice_lines(variable["choices"] or [])
        return out[:-1]

    def schemas(self):
        return [f"- {bold(name)}" for name in self.facts["schemas"]]

    def members(self, name):
        home = f"dtinfo.{name}.schema.json"
        return self.documents.lines(self.documents.files[home], home)

    def other_documents(self):
        """Sections for the documents without one in the page's own text."""
        others = [name for name in dict.fromkeys(self.facts["schemas"]) if name not in self.told]
        return [line for name in others
                for line in ("## " + name, "", *self.members(name.split(".")[1].split("/")[0]), "")][:-1]

    def shared_members(self, name):
        home = "common.schema.json"
        return self.documents.lines(self.documents.files[home]["$defs"][name], home)

    def float_dtypes(self):
        rows = []
        for dtype in self.list["dtypes"]:
            if dtype["kind"] in ("float", "unsigned_float"):
                layout = "/".join(str(dtype[key + "_bits"]) for key in ("sign", "exponent", "mantissa"))
                tapered = dtype["bias"] is None     # the number decides how many bits each field has
                rows.append([bold(dtype["dtype"]), str(dtype["bits"]), "tapered" if tapered else layout,
                             "-" if tapered else str(dtype["bias"]), few_digits(dtype["max"]["text"]),
                             power_of_two(dtype["smallest"]["hexfloat"]),
                             " ".join(self.specials(dtype))])
        return table(["dtype", "bits", "s/e/m", "bias", "max", "smallest", "specials"], rows, right=(1, 3))

    def specials(self, dtype):
        return [text for text, key in (("inf", "has_inf"), ("nan", "has_nan"),
                                       ("-0", "has_minus_zero")) if dtype[key]]

    def integer_dtypes(self):
        rows = [[bold(dtype["dtype"]), str(dtype["bits"]), dtype["lowest"]["text"], dtype["max"]["text"]]
                for dtype in self.list["dtypes"] if dtype["kind"] in ("int", "uint", "bool")]
        return table(["dtype", "bits", "lowest", "max"], rows, right=(1, 2, 3))

    def complex_dtypes(self):
        rows = [[bold(dtype["dtype"]), str(dtype["bits"]), bold(dtype["part"])]
                for dtype in self.list["dtypes"] if dtype["kind"] == "complex"]
        return table(["dtype", "bits", "parts"], rows, right=(1,))

    def block_formats(self):
        rows = [[bold(block["name"]), scd(block["element"]), scd(block["scale"]), str(block["block_elements"]),
                 str(block["block_bytes"]), str(block["bits_per_weight"])]
                for block in self.list["block_formats"]]
        return table(["block format", "elements", "scale", "block", "bytes", "bits/weight"], rows, right=(3, 4, 5))

    def conversions(self):
        rows = [[bold(row["instruction"]), *map(scd, list(row.values())[1:])]
                for row in self.facts["conversions"]]
        return table(["instruction", "to", "round", "over", "tiny", "NaN", "--like"], rows)

    def effects_of(self, rule):
        return [row for row in self.facts["lint_effects"] if row["rule"] == rule and row["outcome"] != "unknown"]

    def lint_rules(self):
        def known(rule):
            names = {}
            for row in self.effects_of(rule):
                names.setdefault(row["outcome"], []).append(row["loader"])
            return "; ".join(f"{OUTCOMES[outcome]} {', '.join(loaders)}" for outcome, loaders in names.items())
        return sum(([bold(row["rule"]), "\t" + scd(f"{sentence(row['about'])} {sentence(row['remedy'])}"), "",
                     "\t" + scd(sentence(known(row["rule"]) or "what programs do is unknown")), ""]
                    for row in self.facts["lint_rules"]), [])[:-1]

    def lint_effects(self):
        """The rules in Markdown, with what each program does and the source of that fact."""
        out = []
        for rule in self.facts["lint_rules"]:
            out += [f"### {rule['rule']}", "", f"{sentence(rule['about'])} {sentence(rule['remedy'])}", ""]
            rows = self.effects_of(rule["rule"])
            out += ["| program | effect | what happens | source |", "|---|---|---|---|"] if rows else ["Every program: unknown."]
            out += [f"| {row['loader']} | {row['outcome']} | {row['about']} | {row['source']} |" for row in rows] + [""]
        return out[:-1]

    def rules_of(self, loader):
        return [row for row in self.facts["loader_rules"] if row["loader"] == loader]

    def loaders(self):
        """Each program's rules in short: a paragraph for each verdict."""
        words = {"loads": "Loads", "refuses": "Refuses", "misreads": "Misreads", "unknown": "Depends, or not known"}
        topics = {"kind": "files", "config": "configuration", "method": "quant_method", "layout": "layouts", "dtype": "dtypes",
                  "gguf": "types of GGUF", "arch": "architectures of GGUF"}
        out = []
        for loader in self.facts["loaders"]:
            out += [f"{bold(loader['name'])}, rules without a release: {loader['examined']}"]
            for verdict, word in words.items():
                parts = {}
                for row in self.rules_of(loader["name"]):
                    if row["verdict"] == verdict:
                        subject = re.sub(r"(^|,)\* ", r"\1", row["subject"]) if row["topic"] == "gguf" else row["subject"]
                        parts.setdefault(topics[row["topic"]], []).append(subject.replace(",", ", ") + releases(row))
                if parts:
                    text = "; ".join(f"{topic}: {', '.join(subjects)}" for topic, subjects in parts.items())
                    out += ["\t" + scd(f"{word}: {text}."), ""]
            out += ["\t" + scd(f"No rule: {self.without_rule(loader['name'])}."), ""] * bool(self.without_rule(loader["name"]))
        return out[:-1]

    def without_rule(self, loader):
        """The layouts that dtinfo reads without a rule of a program for any of their dtypes."""
        rows = [row["subject"] for row in self.rules_of(loader) if row["topic"] == "layout"]
        known = [pattern.split(" ")[0] for row in rows for pattern in row.split(",")]
        return ", ".join(name for name in self.facts["layouts"] if rows and name not in ("gguf", "onnx")
                         and not (loader == "comfyui" and name == "comfy")
                         and not any(fnmatch.fnmatchcase(name, pattern) for pattern in known))

    def loader_rules(self):
        """All rules in Markdown, with their sources."""
        out = []
        for loader in self.facts["loaders"]:
            out += [f"## {loader['name']}", "", f"Rules without a release are about {loader['program']} {loader['examined']}.", "",
                    "| topic | subject | verdict | what happens, or what to do | source |", "|---|---|---|---|---|"]
            out += [f"| {row['topic']} | `{row['subject'].replace(',', ', ')}` | {row['verdict']}{releases(row)} | {row['note']} | {row['source']} |"
                    for row in self.rules_of(loader["name"])] + [""]
            out += [f"Layouts without a rule: {self.without_rule(loader['name'])}.", ""] * bool(self.without_rule(loader["name"]))
        return out[:-1]

    def instruction_sets(self):
        return sum(([bold(row["name"]), "\t" + scd(f"{row['note']} Source: {row['source']}."), ""]
                    for row in self.facts["instruction_sets"]), [])[:-1]

    def names(self):
        out = []
        for dtype in self.list["dtypes"]:
            systems = {}
            for name in dtype["names"]:
                number = "" if name["number"] is None else f" ({name['number']})"
                systems.setdefault(name["system"], []).append(scd(name["name"]) + number)
            if systems:
                text = "; ".join(f"{scd(system)}: {', '.join(names)}"
                                 for system, names in systems.items())
                out += [bold(dtype["dtype"]), "\t" + text, ""]
        return out[:-1]

    def operations(self):
        """The operations of expressions, with the definition of composite ones."""
        rows = [[bold(row["name"]), scd(row["help"] + (f": {row['body']}" if row["body"] else ""))]
                for row in self.facts["operations"]]
        return table(["operation", "what it is"], rows)

    def file_kinds(self):
        return [f"- {bold(kind['name'])}, {scd(kind['extension'])}: read" + " and written" * kind["written"]
                for kind in self.facts["kinds"]]

    def readme_kinds(self):
        read, written = (", ".join(kind["name"] for kind in self.facts["kinds"] if kind["written"] or every)
                         for every in (True, False))
        return [f"Files of tensors that are read: {read}.", f"Written: {written}."]

    def readme_commands(self):
        rows = [(f"dtinfo {c['name']} {c['synopsis']}".strip().replace("|", "\\|"), c["summary"]) for c in self.commands]
        return ["| command | |", "|---|---|"] + [f"| `{usage}` | {summary} |" for usage, summary in rows]

    def agents_exit_codes(self):
        """Exit codes in Markdown, with the codes of the errors that end so."""
        codes = {}
        for status in self.facts["statuses"]:
            codes.setdefault(status["exit"], []).append(status)
        return ["| exit | when | `error.code` |", "|---:|---|---|"] + [
            f"| {number} | {statuses[0]['meaning']} | {', '.join(status['code'] for status in statuses)} |"
            for number, statuses in codes.items()]

    def agents_commands(self):
        out = []
        for command in self.commands:
            out += [f"### dtinfo {command['name']} {command['synopsis']}".rstrip(), "", sentence(command["summary"]), ""]
            if command["schema"]:
                out += [f"Document: `{command['schema']}`.", ""]
            if command["options"]:
                out += ["Options: " + ", ".join(f"`--{option['long']}`" for option in command["options"]) + ".", ""]
            out += ["```sh", *command["examples"], "```", ""] if command["examples"] else []
        return out[:-1]

    def agents_documents(self):
        out = ["| document | members |", "|---|---|"]
        for name in dict.fromkeys(self.facts["schemas"]):
            home = f"dtinfo.{name.split('.')[1].split('/')[0]}.schema.json"
            members = [f"`{path}` ({words})" for path, words, _ in self.documents.members(self.documents.files[home], home)
                       if "." not in path and path not in ("schema", "dtinfo")]
            out.append(f"| `{name}` | {', '.join(members)} |".replace("\\_", "_").replace("\\*", "*"))
        return out


PARTS = {"agents-commands", "agents-documents", "agents-exit-codes", "synopsis", "options", "global-options", "choices", "commands-list", "exit-status", "error-codes",
         "environment", "schemas", "members", "other-documents", "shared-members", "float-dtypes", "integer-dtypes", "complex-dtypes",
         "block-formats", "conversions", "instruction-sets", "lint-rules", "lint-effects", "loaders", "loader-rules", "names", "operations", "readme-commands", "file-kinds", "readme-kinds"}


def part_of(where, mark, tables):
    if mark[1] not in PARTS:
        sys.exit(f"{where}: no generated part is called '{mark[1]}'")
    return getattr(tables, mark[1].replace("-", "_"))(*mark[2].split())


def page(path, tables):
    """Returns the page with the parts that the build inserts."""
    out, text = [], path.read_text(encoding="utf-8")
    tables.told = re.findall(r"^## (dtinfo\..*)$", text, flags=re.MULTILINE)
    for number, line in enumerate(text.split("\n"), 1):
        mark = MADE.match(line)
        out += part_of(f"{path}:{number}", mark, tables) if mark else [line]
    return "\n".join(out)


def rewrite(path, text, tables):
    """Returns the text with its generated parts replaced, and the number of parts."""
    out, inside, count = [], False, 0
    for number, line in enumerate(text.split("\n"), 1):
        begin = BEGIN.match(line)
        if inside:
            if begin:
                sys.exit(f"{path}:{number}: a generated part inside another one")
            if not END.match(line):
                continue
            inside = False
        elif END.match(line):
            sys.exit(f"{path}:{number}: an end without its beginning")
        out.append(line)
        if begin:
            part = part_of(f"{path}:{number}", begin, tables)
            # scdoc needs blank lines around lists and tables; Markdown allows them
            out += ["", *part, ""]
            inside = True
            count += 1
    if inside:
        sys.exit(f"{path}: a generated part has no end")
    return "\n".join(out), count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(ROOT / "build/dtinfo"),
                        help="the dtinfo that is asked (default: build/dtinfo)")
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE",
                        help="print this page with the parts that the build makes; change nothing")
    args = parser.parse_args()
    tables = Tables(args.program)
    if args.page:
        sys.stdout.write(page(args.page, tables))
        return
    total, stale = 0, 0
    for path in [*sorted((ROOT / "man").glob("*.scd")), *(ROOT / name for name in MARKDOWN)]:
        old = path.read_text(encoding="utf-8")
        new, count = rewrite(path, old, tables)
        total += count
        if new == old:
            continue
        stale += 1
        name = str(path.relative_to(ROOT))
        if args.check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), name, name + " (as the program has it)"))
        else:
            path.write_text(new, encoding="utf-8")
            print("rewrote", name)
    if total == 0:
        sys.exit("no generated part was found")
    if args.check and stale:
        sys.exit(f"{stale} files are stale; run tools/update-docs.py")


if __name__ == "__main__":
    main()
