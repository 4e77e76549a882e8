#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints members of the JSON document on standard input, on one line: json_members.py .files[0].notes [PATH...]

Several paths give an array. Golden cases use it so that they do not depend on other programs.
"""
import json
import re
import sys


def member(value, path):
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = value[key] if key else value[int(index)]
    return value


def main():
    document = json.load(sys.stdin)
    found = [member(document, path) for path in sys.argv[1:]]
    print(json.dumps(found if len(found) > 1 else found[0], separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()
