#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a built site: every link and anchor inside it exists, no page loads anything from elsewhere, anchors are unique.

    check_links.py FOLDER
"""

import pathlib
import re
import sys
import urllib.parse
from html.parser import HTMLParser

LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "srcset"), ("iframe", "src"), ("object", "data")}
# Parts that a page makes of its anchor itself.
OPEN = {"compute.html"}


class Reader(HTMLParser):
    """Collects what a page links to, what it loads, and its anchors."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.anchors, self.twice = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                if value in self.anchors:
                    self.twice.append(value)
                self.anchors.add(value)
            elif (tag, name) in LOADS:
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def read(path):
    """What a page has."""
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def is_elsewhere(link):
    """Whether a link leaves the site."""
    return re.match(r"[a-z]+:|//", link) is not None


def wrong_link(folder, path, link, found):
    """What is wrong with a link of a page, or None."""
    name, _, anchor = link.partition("#")
    target = (path.parent / urllib.parse.unquote(name)).resolve() if name else path
    if not target.is_file() or folder not in target.parents:
        return "no such page"
    place = str(target.relative_to(folder))
    if anchor and place not in OPEN and (place not in found or urllib.parse.unquote(anchor) not in found[place].anchors):
        return "no such anchor"
    return None


def check(folder):
    """Returns a line for everything that is wrong."""
    folder = folder.resolve()
    found = {str(path.relative_to(folder)): read(path) for path in sorted(folder.rglob("*.html"))}
    wrong = [] if found else [f"{folder}: no pages"]
    for place, page in found.items():
        wrong += [f"{place}: the anchor {name} is there twice" for name in page.twice]
        wrong += [f"{place}: loads {link} from elsewhere" for link in page.loads
                  if is_elsewhere(link) and not link.startswith("data:")]
        for link in [*page.links, *page.loads]:
            why = None if is_elsewhere(link) else wrong_link(folder, folder / place, link, found)
            wrong += [f"{place}: {link}: {why}"] if why else []
    for path in sorted(folder.glob("*.css")):
        wrong += [f"{path.name}: loads {link}" for link in re.findall(r"url\(([^)]*)\)|@import", path.read_text(encoding="utf-8"))]
    return wrong


def main():
    wrong = check(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) or "all links exist")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
