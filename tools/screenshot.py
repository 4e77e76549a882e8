#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the screenshot of README.md, in a light and a dark theme, from the colour output of the program.

    tools/screenshot.py --program build/dtinfo            writes docs/screenshot-*.svg
    tools/screenshot.py --program build/dtinfo --check    fails if they show something else
"""

import argparse
import html
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ["dtinfo cast 70000 bf16", "dtinfo cast 70000 fp32,fp16,bf16,fp8_e5m2"]
# page, frame, text and dim text, then black, red, green, yellow, blue, magenta, cyan, white
THEMES = {
    "light": ("#ffffff", "#d0d7de", "#1f2328", "#59636e", "#1f2328", "#cf222e", "#116329",
              "#7d4e00", "#0550ae", "#8250df", "#1b7c83", "#59636e"),
    "dark": ("#0d1117", "#3d444d", "#e6edf3", "#9198a1", "#9198a1", "#ff7b72", "#3fb950",
             "#d29922", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"),
}
WIDTH, HEIGHT, MARGIN = 8.4, 19, 16  # in pixels: width of a character of size 14, height of a line


def lines(program):
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    for number, command in enumerate(COMMANDS):
        if number:
            yield ""
        yield "\x1b[2m$\x1b[0m " + command
        run = subprocess.run([program, *command.split()[1:], "--color", "always"], check=True,
                             stdout=subprocess.PIPE, env=environment, encoding="utf-8")
        yield from run.stdout.rstrip("\n").split("\n")


def styled(codes, ret_style):
    """Applies an escape sequence for colour or weight to ret_style."""
    for code in (int(part or 0) for part in codes.split(";")):
        if code == 0:
            ret_style.clear()
        elif code == 1:
            ret_style["bold"] = True
        elif code == 2:
            ret_style["colour"] = 3
        elif code in (3, 4, 22, 23, 24):
            pass
        elif code == 39:
            ret_style.pop("colour", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            ret_style["colour"] = 4 + code % 10
        else:
            sys.exit(f"no rule for the escape code {code}")


def pieces(line, style):
    """Yields (column, text, style) for each part of a line. Words separated by one blank stay in one part.
    Each part has its own position, so that columns align in any font. As in a terminal, a style continues
    on the next line until it is reset."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            styled(part[2:-1], style)
            continue
        for found in re.finditer(r"\S+(?: \S+)*", part):
            yield column + found.start(), found[0], dict(style)
        column += len(part)


def picture(text, theme):
    colours = THEMES[theme]
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in text)
    width, height = round(columns * WIDTH + 2 * MARGIN), len(text) * HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-size="14" '
           'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,\'DejaVu Sans Mono\',monospace">',
           f'<title>{html.escape("; ".join(COMMANDS))}</title>',
           f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6" '
           f'fill="{colours[0]}" stroke="{colours[1]}"/>']
    current = {}
    for row, line in enumerate(text):
        for column, words, style in pieces(line, current):
            weight = ' font-weight="bold"' if "bold" in style else ""
            out.append(f'<text x="{MARGIN + column * WIDTH:.1f}" y="{MARGIN + (row + 0.75) * HEIGHT:.1f}"'
                       f' textLength="{len(words) * WIDTH:.1f}"'
                       f' fill="{colours[style.get("colour", 2)]}"{weight}>{html.escape(words)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(ROOT / "build/dtinfo"))
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    args = parser.parse_args()
    text = list(lines(args.program))
    for theme in THEMES:
        path, new = ROOT / f"docs/screenshot-{theme}.svg", picture(text, theme)
        if not args.check:
            path.write_text(new, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != new:
            sys.exit(f"{path.relative_to(ROOT)} is stale; run tools/screenshot.py")


if __name__ == "__main__":
    main()
