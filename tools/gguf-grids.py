#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates src/kernels/gguf/gguf_grids.c, the grids of GGUF's IQ types, from the tables of llama.cpp's Python package `gguf`.

    tools/gguf-grids.py >src/kernels/gguf/gguf_grids.c

A point is encoded as one number. Element 0 is the lowest digit, in base 4 for points of 8 elements and in base 8 for
points of 4.
"""
import importlib.metadata

from gguf import quants

HEAD = """/* SPDX-License-Identifier: MIT
 *
 * The grids of GGUF's IQ types, which are lists of chosen points and have no closed form; made by
 * tools/gguf-grids.py from the tables of the Python package gguf %s.
 *
 * The lists: Copyright (c) 2023 Georgi Gerganov, under the MIT License, whose terms are in LICENSE. */
#include "kernels/gguf/gguf_grids.h"

/* clang-format off */"""
WIDTH = 99


def points(kind):
    kind.init_grid()
    digits = [kind.grid_map.index(int(value)) for value in kind.grid.reshape(-1)]
    length, base = kind.grid_shape[1], {8: 4, 4: 8}[kind.grid_shape[1]]
    return [sum(digit * base ** i for i, digit in enumerate(digits[at:at + length]))
            for at in range(0, len(digits), length)]


print(HEAD % importlib.metadata.version("gguf"))
for name in ("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"):
    numbers = points(getattr(quants, name))
    print("const uint16_t dti_gguf_grid_%s[%d] = {" % (name.lower(), len(numbers)))
    line = ""
    for number in numbers:
        if len(line) + len(str(number)) + 1 > WIDTH:
            print(line)
            line = ""
        line += "%d," % number
    print(line + "};")
print("/* clang-format on */")
