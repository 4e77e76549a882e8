# SPDX-License-Identifier: MIT
"""What seeded bugs in vector kernels show: the planted kernel on this processor, the program, and exact rationals."""
import ctypes

import vector_rules as rules
import vectors
from seeded import array_cast, native

BYTES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2}


def planted(steps, data):
    """The bytes that planted kernels make of one element, one after the other. steps: (file, level, function, parameters, bytes)."""
    for file, level, function, parameters, size in steps:
        with native(vectors.text_of(file, level), vectors.flags(level)) as library:
            target = ctypes.create_string_buffer(size)
            getattr(library, "proof_" + function)(parameters.decoder, parameters.encoder, parameters.table, parameters.bits,
                                                  int(parameters.high_first), None, target, data, ctypes.c_size_t(1))
            data = target.raw
    return data


def encoding(source, target, mode, steps):
    """shows() of a cast to a float format. steps: a function that gives those of planted()."""
    def shows(inputs, program):
        own, f = rules.formats.FORMATS[source], rules.formats.FORMATS[target]
        kind, negative, value = own.decode(inputs["x"])
        assert kind != rules.formats.NAN, "a NaN"
        data, size = inputs["x"].to_bytes(BYTES[source], "little"), BYTES.get(target, 1)
        exact = rules.formats.encode(f, kind, negative, value, mode)[0].to_bytes(size, "little")
        return planted(steps(), data), array_cast(program, data, source, target, ["--round", mode]), exact
    return shows


def by_table(source, target, steps):
    def shows(inputs, program):
        data = inputs["x"].to_bytes(1, "little")
        exact = rules.code_list(source, target)[inputs["x"]].to_bytes(BYTES[target], "little")
        return planted(steps(), data), array_cast(program, data, source, target), exact
    return shows
