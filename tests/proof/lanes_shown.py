# SPDX-License-Identifier: MIT
"""What seeded bugs in the lanes show: the planted lane, the program and exact rationals for one number."""
import ctypes

from lanes import C, FORMATS, INF, POLICIES, SOURCES, constants, container, encode, lane
from philox import random_bits  # beside formats.py
from seeded import array_cast, native

SEED = 3
RANDOM = random_bits(SEED, 0)  # of element 0


def exact_code(source, fmt, mode, x, policy):
    """By rationals; not for NaN."""
    kind, negative, value = source.format.decode(x)
    assert kind == INF or value is not None, "a NaN"
    return encode(fmt, kind, negative, value, mode, POLICIES[policy][0], SEED, 0)[0]


def planted_code(source, fmt, mode, x, policy, steps=()):
    """By the planted code. steps: functions (destination, source) that come first, with the bytes that each makes."""
    size = container(fmt)[0] // 8
    with native(C) as library:
        data = x.to_bytes(source.width // 8, "little")
        hub = source.hub
        for name, count, hub in steps:
            target = ctypes.create_string_buffer(count)
            getattr(library, name)(target, data)
            data = target.raw
        encoder = constants()["encoder", fmt.name, mode][policy]
        target = ctypes.create_string_buffer(8)
        if mode == "stochastic":
            getattr(library, "draw_" + lane(fmt, hub))(encoder, target, data, RANDOM.to_bytes(4, "little"))
        else:
            getattr(library, "of_" + lane(fmt, hub))(encoder, target, data)
        return target.raw[:size]


def encoding(name, to, mode, steps=(), options=()):
    """shows() of a bug in encoding; options: more of the program's, for what it shows beside."""
    source, fmt = SOURCES[name], FORMATS[to]

    def shows(inputs, program):
        x, policy = inputs["x"], inputs.get("policy", 0)
        words = ["--round", mode, "--overflow", POLICIES[policy][0], "--nan", POLICIES[policy][1]]
        words += ["--seed", str(SEED)] if mode == "stochastic" else []
        size, shift = container(fmt)
        ours = array_cast(program, x.to_bytes(source.width // 8, "little"), source.name, fmt.name, words)
        exact = (exact_code(source, fmt, mode, x, policy) << shift).to_bytes(size // 8, "little")
        planted = planted_code(source, fmt, mode, x, policy, steps)
        if options:  # the program does the same wrong thing where it is asked to
            same = array_cast(program, x.to_bytes(source.width // 8, "little"), source.name, fmt.name, words + list(options))
            assert same == planted, (same, planted)
        return planted, ours, exact
    return shows


def decoding(name, function, lane_bytes, bits):
    """shows() of a bug in decoding to fp32 or fp64."""
    fmt, hub = FORMATS[name], SOURCES["fp32" if bits == 32 else "fp64"]

    def shows(inputs, program):
        from family_decode import expected
        size = container(fmt)[0] // 8
        ours = array_cast(program, inputs["x"].to_bytes(size, "little"), name, hub.name)
        with native(C) as library:
            target = ctypes.create_string_buffer(bits // 8)
            getattr(library, "of_" + function)(constants()["decoder", name], target, inputs["x"].to_bytes(lane_bytes, "little"))
        return target.raw, ours, expected(fmt, hub, inputs["x"]).to_bytes(bits // 8, "little")
    return shows
