#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes text files as C arrays: embed_text.py OUT NAME=FILE..."""
import sys

out_name, *pairs = sys.argv[1:]
with open(out_name, "w", encoding="ascii") as out:
    for pair in pairs:
        name, file_name = pair.split("=", 1)
        with open(file_name, "rb") as file:
            data = file.read()
        out.write(f"static const char {name}[{len(data)}] = {{\n")
        for start in range(0, len(data), 20):
            out.write("    " + " ".join(f"{byte}," for byte in data[start:start + 20]) + "\n")
        out.write("};\n")
