#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the JSON Schema of every document that the program prints, and of policies, into a folder.

    make-schemas.py PROGRAM FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    made = subprocess.run([program, "__schemas"], stdout=subprocess.PIPE, check=True,
                          env={"PATH": os.defpath, "LC_ALL": "C"})
    schemas = {schema["$id"]: schema for schema in json.loads(made.stdout).values()}
    folder.mkdir(exist_ok=True)
    for name, schema in schemas.items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
