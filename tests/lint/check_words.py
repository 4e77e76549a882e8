#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Words that make a reader stumble: words.tsv says how often the sources may still have each, and that only falls."""
import collections
import re
import sys

import tree

TABLE = tree.ROOT / "tests/lint/words.tsv"


def main():
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    # names of several words count as those words
    text = "\n".join(path.read_text(encoding="utf-8").lower().replace("_", " ") for path in tree.files(".c", ".h", ".def")
                     if tree.name_of(path).startswith(("src/", "include/")))
    text = re.sub(r"\s+(?:\* )?", " ", text)
    counts = collections.Counter(re.findall(r"\b(%s)\b" % "|".join(word for word, *_ in rows), text))
    problems = []
    for word, most, instead in rows:
        found = counts[word]
        if found > int(most):
            problems.append("'%s' is there %d times, at most %s: write %s" % (word, found, most, instead))
        elif found < int(most):
            problems.append("'%s' is there %d times only: lower its number in words.tsv" % (word, found))
    return tree.report(problems, "words, %d of them" % len(rows))


if __name__ == "__main__":
    sys.exit(main())
