# SPDX-License-Identifier: MIT
"""Arrays through the array probe: raw bytes in and out, at a given level. NumPy is optional: codes are plain integers,
packed with struct.
"""

import functools
import struct
import subprocess
import sys

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def levels(probe):
    done = subprocess.run([probe, "levels"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split()


@functools.lru_cache(maxsize=None)
def order(probe):
    """The byte order of the machine that the probe runs on, as a struct prefix."""
    return subprocess.run([probe, "order"], stdout=subprocess.PIPE, check=True).stdout.decode()[0]


def container(fmt):
    """Bytes per unpacked element."""
    return next(size for size in (1, 2, 4, 8) if fmt.width <= 8 * size)


def shift(fmt):
    """tf32 occupies the top bits of an fp32."""
    return 13 if fmt.name == "tf32" else 0


def cast_bytes(probe, level, source, destination, data, policy=("nearest-even", "native", "quiet"),
               seed=0, index=0, via=()):
    command = [probe, "cast", level, source, destination, *policy, f"{seed:x}", str(index), *via]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"the array probe ended with status {done.returncode}: {' '.join(command)}")
    return done.stdout


def cast_codes(probe, level, source, destination, codes, **how):
    """Casts many source codes and returns the stored codes; source and destination are keys of formats.FORMATS."""
    data = struct.pack(f"{order(probe)}{len(codes)}{LETTERS[container(source)]}",
                       *(code << shift(source) for code in codes))
    result = cast_bytes(probe, level, source.name, destination.name, data, **how)
    stored = struct.unpack(f"{order(probe)}{len(codes)}{LETTERS[container(destination)]}", result)
    return [code >> shift(destination) for code in stored]


def nan_code(source, code, destination):
    """The code that a NaN is stored as: sign, quiet bit and top payload bits between IEEE formats; otherwise the sign,
    if the destination has NaNs of both signs."""
    negative = bool(code & source.sign_bit)
    wanted = destination.canonical_nan()
    if wanted is None:
        return destination.max_code()
    if destination.ieee and source.ieee:
        payload = code & ((1 << source.man) - 1)
        places = destination.man - source.man
        wanted |= payload << places if places >= 0 else payload >> -places
    if negative and (wanted | destination.sign_bit) in destination.nan and destination.minus_zero:
        wanted |= destination.sign_bit
    return wanted
