#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site and reads it: no link leads nowhere, nothing is loaded from elsewhere, everything that the
program has is there. Then breaks pages, and looks whether the checker of links notices.

    test_site.py PROGRAM FOLDER     of the man pages that the build made

Ends with 77 if markdown-it-py, mandoc or the man pages are missing.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "site"), str(ROOT / "tests" / "docs")]
import check_links  # noqa: E402
import pages  # noqa: E402

SKIPPED = 77
# What is put into a page, and what the checker says of it.
BROKEN = [('<a href="nowhere.html">', "nowhere.html: no such page"),
          ('<a href="formats.html#nothing">', "formats.html#nothing: no such anchor"),
          ('<a href="../outside.html">', "../outside.html: no such page"),
          ('<img src="https://example.org/x.png">', "loads https://example.org/x.png from elsewhere"),
          ('<script src="//example.org/x.js"></script>', "loads //example.org/x.js from elsewhere"),
          ('<p id="twice"></p><p id="twice"></p>', "the anchor twice is there twice")]


def ask(program, *words):
    """A document of the program."""
    return json.loads(pages.run(program, *words).stdout)


def check_pages(judge, program, folder, man):
    """Every page of the manual and of docs is there, every dtype and every rule."""
    for page in sorted(man.glob("dtinfo*.[157]")):
        judge.check((folder / "man" / f"{page.name}.html").is_file(), f"no page for {page.name}")
    for page in sorted((ROOT / "docs").glob("*.md")):
        judge.check((folder / f"{page.stem}.html").is_file(), f"no page for {page.name}")
    formats = (folder / "formats.html").read_text(encoding="utf-8")
    listed = ask(program, "list", "--json")
    for row in listed["dtypes"]:
        judge.check(f'<code id="{row["dtype"]}">' in formats, f"formats.html lacks {row['dtype']}")
        judge.check(f'title="{row["max"]["exact"]}"' in formats, f"formats.html lacks the largest {row['dtype']}")
    for row in [*listed["block_formats"], *listed["gguf_types"]]:
        judge.check(f"<code>{row['name']}</code>" in formats, f"formats.html lacks {row['name']}")
    gallery = (folder / "check-gallery.html").read_text(encoding="utf-8")
    for rule in pages.introspect(program)["lint_rules"]:
        judge.check(f"<code>{rule['rule']}</code>" in gallery, f"check-gallery.html lacks {rule['rule']}")
    picture = (folder / "which-dtype.html").read_text(encoding="utf-8")
    judge.check(picture.count('class="normal"') >= 16, "which-dtype.html has no picture")
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        judge.check("<!-- site:" not in text and not re.search(r"\{\{\w+\}\}", text), f"{page.name} has an open marker")


def check_checker(judge, folder):
    """Each defect is found where it was put, and no other."""
    page = folder / "recipes.html"
    whole = page.read_text(encoding="utf-8")
    for text, words in BROKEN:
        page.write_text(whole.replace("<main>", f"<main>{text}"), encoding="utf-8")
        judge.check(check_links.check(folder) == [f"recipes.html: {words}"], f"the checker of links says of {text}: {check_links.check(folder)}")
    page.write_text(whole, encoding="utf-8")


def main():
    program, man = sys.argv[1], pathlib.Path(sys.argv[2])
    judge = pages.Judge()
    with tempfile.TemporaryDirectory(prefix="dtinfo-site-") as name:
        folder = pathlib.Path(name) / "site"
        done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/site/build.py"), "--program", program, "--man", str(man),
                               "--output", str(folder), "--wasm", "never"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", check=False)
        print(done.stdout, end="")
        if done.returncode == SKIPPED:
            sys.exit(SKIPPED)
        judge.check(done.returncode == 0, "the site is not built")
        if done.returncode == 0:
            judge.check(check_links.check(folder) == [], "the checker of links finds something")
            check_pages(judge, program, folder, man)
            check_checker(judge, folder)
    sys.exit(judge.finish(at_least=200 if done.returncode == 0 else 1))


if __name__ == "__main__":
    main()
