#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates a man page. Standard input is its scdoc source; the first argument is the scdoc program.

scdoc starts a paragraph at every blank line, indents examples by eleven columns, and separates table
columns by three. This script drops the empty paragraphs, which mandoc -T lint reports, indents examples by
two columns, so that program output of 78 columns fits a terminal of 80, narrows tables, and disables
hyphenation, which would split names.
"""

import re
import subprocess
import sys


def tidy(lines):
    out = [""]
    for line in lines:
        if line == ".RE" and out[-1] == ".P":
            # the space between two list entries belongs after the end of the first one
            out[-1:] = [".RE", ".P"]
            continue
        if re.match(r"\.(P|SH|SS)\b", line) and out[-1] == ".P":
            out.pop()
        if line == ".P" and re.match(r"\.(SH|SS)\b", out[-1]):
            continue
        if re.fullmatch(r"[lrc]( [lrc])*\.?", line):
            line = line.replace(" ", "2 ")
        if line == ".RS 4" and out[-1] == ".nf":
            line = ".RS -5"
        if line.startswith(".TH "):
            title, rest = re.match(r'\.TH "([^"]+)"(.*)', line).groups()
            # groff's .TH enables hyphenation again, which would split names
            line = f'.TH "{title.upper()}"{rest}\n.nh'
        out.append(line)
    while out[-1] in (".P", ""):
        out.pop()
    return out[1:]


def main():
    page = subprocess.run([sys.argv[1]], stdin=sys.stdin, stdout=subprocess.PIPE, encoding="utf-8")
    if page.returncode != 0:
        sys.exit(page.returncode)
    # a short cell does not need a text block, whose width tbl guesses from the number of columns
    print(re.sub(r"T\{\n([^.'\n].{,24})\nT\}", r"\1", "\n".join(tidy(page.stdout.split("\n")))))


if __name__ == "__main__":
    main()
