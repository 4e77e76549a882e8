# SPDX-License-Identifier: MIT
"""Talks to quantize_probe, which quantizes arrays with the public functions of the library."""
import itertools
import subprocess

import numpy as np

PARTS = ("codes", "scales", "zero_points", "nested_scales", "nested_map")


class Failed(Exception):
    """What the library says instead of an answer."""

    def __init__(self, line):
        head, _, rest = line.partition("|")
        _, self.status, self.code = head.split()
        self.text, *self.suggestions = rest.split("|")
        super().__init__(f"{self.code}: {self.text}")


class Answer:
    """parts[name]: bytes; back: bytes; other members: those of the answer's line."""

    def __init__(self, words):
        self.parts, self.back = {}, b""
        for word in words:
            key, _, value = word.partition("=")
            setattr(self, key, value)

    def shape(self, name):
        text = getattr(self, name)
        return tuple(int(x) for x in text.split(",")) if text else ()

    def part(self, name, dtype):
        return np.frombuffer(self.parts[name], dtype)


class Probe:
    """One process for many requests."""

    def __init__(self, path, threads=1, level="", bad=False):
        self.process = subprocess.Popen([path, str(threads), level] + (["bad"] if bad else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, op, data, **words):
        shape = words.pop("shape")
        line = " ".join([f"op={op}", "shape=" + ",".join(map(str, shape))] +
                        [f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in words.items()
                         if value is not None] + [f"bytes={len(data)}"])
        self.process.stdin.write(line.encode() + b"\n" + data)
        self.process.stdin.flush()
        reply = self.process.stdout.readline().decode().rstrip("\n")
        if not reply.startswith("done "):
            if not reply.startswith("failed "):
                raise SystemExit(f"the probe ended: {line}")
            raise Failed(reply)
        answer = Answer(reply.split()[1:])
        for name in PARTS if op == "run" else ():
            answer.parts[name] = self.process.stdout.read(int(getattr(answer, name)))
        if op == "back":
            for name in PARTS:
                self.process.stdout.read(int(getattr(answer, name)))
        if words.get("back"):
            size = int(answer.elements) * words.get("_item", 4)
            answer.back = self.process.stdout.read(size)
        return answer

    def run(self, format, x, **words):
        """Quantizes an array; with back=1 and back again."""
        words.setdefault("back", 1)
        words.setdefault("report", 1)
        x = np.ascontiguousarray(x) if x.ndim else x
        return self.ask("run", x.tobytes(), format=format, shape=x.shape, _item=x.dtype.itemsize, **words)

    def read(self, format, shape, parts, item=4, **words):
        """Numbers from the bytes of parts."""
        return self.ask("back", parts, format=format, shape=shape, back=1, _item=item, **words).back

    def blocks(self):
        self.process.stdin.write(b"op=list\n")
        self.process.stdin.flush()
        rows = []
        while len(rows) < 38:
            rows.append(self.process.stdout.readline().decode().split())
        return rows

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"the probe ended with status {self.process.returncode}")


def groups_of(shape, axis, group):
    """The indices of the elements of each group along an axis, in the order of the scales."""
    axis %= len(shape)
    count = -(-shape[axis] // group) if shape[axis] else 0
    for place in itertools.product(*(range(count if i == axis else n) for i, n in enumerate(shape))):
        along = range(place[axis] * group, min((place[axis] + 1) * group, shape[axis]))
        yield place, [place[:axis] + (k,) + place[axis + 1:] for k in along]
