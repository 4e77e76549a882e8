#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation site, without a network, into a folder that any web server can serve.

    tools/site/build.py --program build/dtinfo [--output build-site] [--man build/man] [--wasm auto|always|never]

Needs markdown-it-py (Debian: python3-markdown-it) and mandoc, and the man pages that the build made. For the page that
computes, wasm/build.py names what it needs; with `auto` the site has no such page where that is missing. Pages, tables
and pictures come from README.md, docs, man and from what the program says of itself; templates, CSS and JavaScript are
in docs/site. Ends with 77 if something is missing, and says what.
"""

import argparse
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

import bodies
import check_links
import facts

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ROOT / "docs" / "site"
SKIPPED = 77
COPIED = ["style.css", "wasi.js", "worker.js", "compute.js"]
# Where a Markdown file goes that does not become NAME.html.
HOMES = {"README.md": "index.html", "LICENSE": "license.html"}
# The head of each page: what it says, and the page.
MENU = [("dtinfo", "index.html"), ("Compute", "compute.html"), ("Which dtype", "which-dtype.html"), ("Formats", "formats.html"),
        ("Recipes", "recipes.html"), ("Manual", "manual.html"), ("C", "library.html"), ("Python", "python.html")]
RECIPES = ["tour", "any-to-bf16", "which-dtype", "silent-casts", "check-gallery", "quantized-checks", "loaders",
           "pipelines", "agents", "vectors", "vectors-peers", "advise",
           "soundness"]


class Site:
    """The pages, as they are made: {path in the site: (title, body)}, and files that are copied as they are."""

    def __init__(self, program, man):
        self.facts = facts.Facts(program)
        self.man, self.bodies, self.files, self.sources = man, {}, {}, {}
        self.computes = False

    def home(self, source):
        """The path in the site of a file or folder of the project, which becomes a part of the site."""
        name = str(source.relative_to(ROOT))
        if source in self.sources:
            return self.sources[source]
        if source.suffix == ".scd":
            path = f"man/{source.stem}.html"
        elif name in HOMES:
            path = HOMES[name]
        elif source.suffix == ".md":
            path = f"{source.stem.lower()}.html" if source.parent in (ROOT, ROOT / "docs") else f"files/{name[:-3]}.html"
        elif source.is_dir():
            path = f"files/{name}/index.html"
        else:
            path = f"files/{name}"
        self.sources[source] = path
        if source.suffix == ".md":
            self.add_markdown(source, path)
        elif name == "LICENSE":
            self.bodies[path] = ("Licence", f"<h1>Licence</h1>\n<pre>{html.escape(source.read_text(encoding='utf-8'))}</pre>")
        elif source.is_dir():
            self.add_folder(source, path)
        elif source.suffix != ".scd":
            self.files[path] = source
        return path

    def add_markdown(self, source, path):
        """A page of a Markdown file, and all that it links to."""
        title, body = bodies.markdown(source.read_text(encoding="utf-8"), self.facts.markers,
                                     lambda link: self.target(source, path, link))
        self.bodies[path] = (title, body)

    def add_folder(self, folder, path):
        """A list of a folder's files, which are copied."""
        name = folder.relative_to(ROOT)
        listed = sorted(item for item in folder.iterdir() if item.is_file() and not item.name.startswith("."))
        rows = "\n".join(f'<li><a href="{os.path.relpath(self.home(item), os.path.dirname(path))}">{item.name}</a></li>'
                         for item in listed)
        self.bodies[path] = (str(name), f"<h1>{name}</h1>\n<ul>\n{rows}\n</ul>")

    def target(self, source, path, link):
        """A link in a file of the project, as it is in the site."""
        name, mark, anchor = link.partition("#")
        if not name or re.match(r"[a-z]+:", link):
            return link
        found = (source.parent / name).resolve()
        if not found.exists() or ROOT not in found.parents:
            sys.exit(f"{source.relative_to(ROOT)}: there is no {link}")
        return os.path.relpath(self.home(found), os.path.dirname(path)) + mark + anchor

    def add_manual(self):
        """The man pages, which name each other, and their list."""
        made = sorted(path for path in self.man.iterdir() if re.fullmatch(r"dtinfo.*\.[157]", path.name))
        names = {path.name for path in made}
        rows = []
        for path in made:
            title, summary, body = bodies.manual(path, names)
            self.bodies[f"man/{path.name}.html"] = (title, body)
            rows.append(f'<tr><td><a href="man/{path.name}.html">{title}</a></td><td>{html.escape(summary)}</td></tr>')
        self.bodies["manual.html"] = ("Manual", "<h1>Manual</h1>\n<div class=\"scroll\"><table>\n" + "\n".join(rows) + "\n</table></div>")

    def add_recipes(self):
        """The list of pages that show how something is done."""
        rows = []
        for name in RECIPES:
            path = self.home(ROOT / "docs" / f"{name}.md")
            title, body = self.bodies[path]
            rows.append(f'<li><a href="{path}"><b>{html.escape(title)}</b></a><br>{bodies.first_words(body)}</li>')
        self.bodies["recipes.html"] = ("Recipes", "<h1>Recipes</h1>\n<ul class=\"cards\">\n" + "\n".join(rows) + "\n</ul>")

    def write(self, output):
        """Writes the pages into their frame, and copies the files."""
        frame = (PARTS / "page.html").read_text(encoding="utf-8")
        for path, (title, body) in self.bodies.items():
            up = os.path.relpath(".", os.path.dirname(path) or ".")
            menu = " ".join(f'<a href="{up}/{to}"{" class=here" if to == path else ""}>{word}</a>' for word, to in MENU
                            if to in self.bodies)
            body = bodies.with_commands(body, f"{up}/compute.html" if self.computes else None)
            text = frame
            for mark, part in (("title", html.escape(title)), ("up", up), ("menu", menu), ("version", self.facts.version),
                               ("body", body)):
                text = text.replace("{{" + mark + "}}", part)
            target = output / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        for path, source in self.files.items():
            (output / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, output / path)


def missing(man):
    """What is not here, in words, or None."""
    if not bodies.can_markdown():
        return f"markdown-it-py is missing from {sys.executable}"
    if not shutil.which("mandoc"):
        return "mandoc is missing"
    if not man.is_dir() or not any(man.glob("*.1")):
        return f"no man pages in {man}: scdoc makes them in a build"
    return None


def make_wasm(output, when):
    """Compiles the page that computes; returns whether it is there."""
    if when == "never":
        return False
    done = subprocess.run([sys.executable, str(PARTS.parents[1] / "tools/site/wasm/build.py"), str(output / "dtinfo.wasm"),
                           "--objects", str(output.parent / f"{output.name}-wasm")], check=False)
    if done.returncode not in (0, SKIPPED) or (done.returncode == SKIPPED and when == "always"):
        sys.exit(done.returncode)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build-site")
    parser.add_argument("--man", type=pathlib.Path, help="folder of the man pages; by default that next to the program")
    parser.add_argument("--wasm", choices=["auto", "always", "never"], default="auto")
    args = parser.parse_args()
    man = args.man or args.program.resolve().parent / "man"
    why = missing(man)
    if why:
        print(f"no site: {why}")
        sys.exit(SKIPPED)
    output = args.output.resolve()
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    site = Site(args.program.resolve(), man)
    site.computes = make_wasm(output, args.wasm)
    site.add_manual()
    site.home(ROOT / "README.md")
    site.add_recipes()
    site.bodies["formats.html"] = ("Formats", site.facts.formats())
    if site.computes:
        site.bodies["compute.html"] = ("Compute", bodies.marked((PARTS / "compute.html").read_text(encoding="utf-8"), site.facts.markers))
    site.files |= {name: PARTS / name for name in COPIED if site.computes or name.endswith(".css")}
    site.write(output)
    wrong = check_links.check(output)
    print("\n".join(wrong) or f"{output}: {len(site.bodies)} pages")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
