# SPDX-License-Identifier: MIT
"""Array casts at every level against NumPy's and ml_dtypes' astype: all 16-bit codes, random fp32 and
fp64, integers. Differences between the libraries and the specification are those that
test_peers.py states; inputs on which they show are left out.
Usage: test_array_peers.py ARRAY_PROBE [--long]
"""

import arrays
from formats import FORMATS
from harness import Tally, arguments
from test_peers import ML_FLOATS, NUMPY_FLOATS, optional

BITS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


class Peers:
    def __init__(self, probe, np, ml, tally):
        self.probe, self.np, self.ml, self.tally = probe, np, ml, tally
        self.levels = arrays.levels(probe)
        self.floats = {name: np.dtype(theirs) for name, theirs in NUMPY_FLOATS.items()}
        for name, theirs in ML_FLOATS.items():
            if ml is not None and hasattr(ml, theirs):
                self.floats[name] = np.dtype(getattr(ml, theirs))

    def bits(self, name):
        return BITS[arrays.container(FORMATS[name])]

    def is_nan(self, name, codes):
        fmt, np = FORMATS[name], self.np
        if not fmt.is_float or not fmt.nan:
            return np.zeros(codes.shape, bool)
        if fmt.ieee:
            return (codes & self.np.array((1 << fmt.width) - 1 ^ fmt.sign_bit, codes.dtype)
                    > self.np.array(fmt.inf[0], codes.dtype))
        return np.isin(codes, np.array(list(fmt.nan), codes.dtype))

    def compare(self, source, name, codes, theirs, policy=("nearest-even", "native", "quiet")):
        """codes: source codes; theirs: the codes that the library stored."""
        np = self.np
        for level in self.levels:
            data = arrays.cast_bytes(self.probe, level, source, name, codes.tobytes(),
                                     policy=policy)
            ours = np.frombuffer(data, self.bits(name))
            self.tally.checked += len(codes)
            both_nan = self.is_nan(name, ours) & self.is_nan(name, theirs)
            for at in np.nonzero((ours != theirs) & ~both_nan)[0][:20].tolist():
                self.tally.differ(f"{level} {source} {int(codes[at]):#x} -> {name}",
                                  hex(int(ours[at])), hex(int(theirs[at])))

    def from_floats(self, source, codes, name):
        """A float source with values that fp32 holds, or fp64 into dtypes that NumPy has itself."""
        np, fmt = self.np, FORMATS[name]
        with np.errstate(all="ignore"):
            values = codes.view(self.floats[source])
            entered = values if source == "fp64" else values.astype(np.float32)
            stored = entered.astype(self.floats[name]).view(self.bits(name))
            keep = np.ones(len(codes), bool)
            if not fmt.nan:
                keep = ~np.isnan(entered)
            if fmt.scale:
                keep = entered >= 2.0 ** -126
        self.compare(source, name, codes[keep], stored[keep])

    def into_integers(self, source, codes, name):
        """C truncates numbers in range."""
        np, fmt = self.np, FORMATS[name]
        with np.errstate(all="ignore"):
            values = codes.view(self.floats[source]).astype(np.float64)
            limit = 2.0 ** (fmt.width - (1 if fmt.signed else 0))
            keep = (values > (-limit if fmt.signed else -1)) & (values < limit)
            stored = values[keep].astype(name).view(self.bits(name))
        self.compare(source, name, codes[keep], stored, policy=("zero", "native", "quiet"))

    def from_integers(self, source, codes):
        np = self.np
        values = codes.view(source)
        for name in ("fp64", "fp32"):
            self.compare(source, name, codes, values.astype(self.floats[name]).view(self.bits(name)))
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            if name != source:
                self.compare(source, name, codes, values.astype(name).view(self.bits(name)),
                             policy=("zero", "wrap", "quiet"))
        if FORMATS[source].width <= 16:     # fp32 holds them, and ml_dtypes casts through fp32
            singles = values.astype(np.float32)
            for name, dtype in self.floats.items():
                if name not in ("fp64", "fp32") and not FORMATS[name].scale:
                    with np.errstate(over="ignore"):
                        stored = singles.astype(dtype).view(self.bits(name))
                    self.compare(source, name, codes, stored)


def sources(np, rng, count):
    """fp32 codes: random bits, the range of the small formats, and ties of bf16 and fp16."""
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    exponents = rng.integers(127 - 27, 127 + 19, count, dtype=np.uint32)
    near = bits & np.uint32(0x807fffff) | exponents << np.uint32(23)
    kept = rng.integers(0, 24, count, dtype=np.uint32)
    ties = near >> kept << kept
    ties = ties + rng.integers(-1, 2, count).astype(np.uint32)
    return np.concatenate([bits, near, ties])


def run(peers, np, rng, count):
    singles = sources(np, rng, count)
    halves = np.arange(1 << 16, dtype=np.uint16)
    for name in peers.floats:
        if name == "fp64":
            continue
        if name != "fp32":
            peers.from_floats("fp32", singles, name)
        for source in ("fp16", "bf16"):
            if source in peers.floats and source != name:
                peers.from_floats(source, halves, name)
    peers.tally.part("floats into floats")
    for source in peers.floats:
        if FORMATS[source].width <= 16:
            codes = np.arange(1 << FORMATS[source].width, dtype=peers.bits(source))
            peers.from_floats(source, codes, "fp32")
            with np.errstate(invalid="ignore"):
                values = codes.view(peers.floats[source]).astype(np.float32).astype(np.float64)
            peers.compare(source, "fp64", codes, values.view(np.uint64))
    peers.tally.part("narrow floats into fp32 and fp64")
    doubles = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    wide = singles.view(np.float32)
    with np.errstate(all="ignore"):
        wide = wide.astype(np.float64).view(np.uint64)
    doubles = np.concatenate([doubles, wide, wide + np.uint64(1), wide - np.uint64(1)])
    for name in ("fp32", "fp16"):
        peers.from_floats("fp64", doubles, name)
    peers.tally.part("fp64 into fp32 and fp16")
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        for source, codes in (("fp32", singles), ("fp64", doubles), ("fp16", halves)):
            peers.into_integers(source, codes, name)
        width = FORMATS[name].width
        codes = rng.integers(0, 1 << 64, count, dtype=np.uint64)
        codes = (codes >> rng.integers(0, 64, count, dtype=np.uint64)).astype(f"uint{width}")
        if width <= 16:
            codes = np.arange(1 << width, dtype=f"uint{width}")
        peers.from_integers(name, codes)
    peers.tally.part("integers")


def main():
    probe, long = arguments()
    tally = Tally()
    np, ml = optional("numpy"), optional("ml_dtypes")
    if np is None:
        tally.skip("numpy")
        tally.finish()
    if ml is None:
        tally.skip("ml_dtypes")
    peers = Peers(probe, np, ml, tally)
    print("levels: " + " ".join(peers.levels))
    run(peers, np, np.random.default_rng(20260703), 3000000 if long else 20000)
    tally.finish()


if __name__ == "__main__":
    main()
