# SPDX-License-Identifier: MIT
"""Plans that cast in two steps: rounding to odd to a hub, and then to the format, gives what one rounding gives. The kernel that
rounds to odd and the lane that rounds again run one after the other; what comes out is compared with one rounding of the source."""
import z3

from family_encode_integer import right as integer_right
from lanes import POLICIES, ROUNDS, SOURCES, Run, bytes_of, chosen, constants, container, encoder_bytes, formats, lane, module, right
from lanes_shown import encoding
from seeded import Bug
from theorem import Claim, Theorem, defined

FAMILY = "Rounding to odd to a hub, then to the format, is one rounding: `lanes_odd.c` before `lanes_encode.c`"
STEPS = (("fp64", "odd_f64", 32, "f32", "odd32"), ("int64", "odd_i64", 64, "f64", "odd64"), ("uint64", "odd_u64", 64, "f64", "odd64"))


def through_hub(name, width):
    """(run, input, the hub's memory) after rounding to odd."""
    run, source = Run(module()), SOURCES[name]
    x = z3.BitVec("x", source.width)
    hub = run.object("hub", [None] * (width // 8))
    return run, x, hub, run.object("source", bytes_of(x))


def hub_claim(name, kernel, width):
    """The hub itself: an IEEE format under its own policy, native and quiet."""
    run, x, hub, given = through_hub(name, width)
    run.call(kernel, [hub, given])
    stored = run.value_of_bytes(("int", width), [run.memory["hub"][i] for i in range(width // 8)])
    fmt = SOURCES["fp32" if width == 32 else "fp64"].format
    policy = z3.BitVecVal(POLICIES.index(("native", "quiet")), 3)
    return Claim(run, {"x": x}, z3.And(defined(stored), right(SOURCES[name], fmt, "odd", x, policy, stored.bits)))


def claim(name, kernel, width, hub_name, fmt, mode):
    run, x, hub, given = through_hub(name, width)
    run.call(kernel, [hub, given])
    policy, size = z3.BitVec("policy", 3), container(fmt)[0]
    target = run.object("target", [None] * (size // 8))
    run.call("of_" + lane(fmt, hub_name), [run.object("encoder", encoder_bytes(fmt, mode, policy)), target, hub])
    stored = run.value_of_bytes(("int", size), [run.memory["target"][i] for i in range(size // 8)])
    wanted = (right if fmt.is_float else integer_right)(SOURCES[name], fmt, mode, x, policy, stored.bits)
    if fmt.kind in ("int", "uint"):  # plans that keep the low bits go without a hub
        wanted = z3.Or(chosen(policy, [int(overflow == "wrap") for overflow, _ in POLICIES], 1) == 1, wanted)
    return Claim(run, {"x": x, "policy": policy}, z3.And(defined(stored), wanted))


def theorems(sample):
    for name, kernel, width, hub, needed in STEPS:
        yield Theorem("odd", "%s to the hub %s" % (name, hub), lambda row=(name, kernel, width): hub_claim(*row))
        for count, fmt in enumerate(each for each in formats(("float", "ufloat", "int", "uint", "bool"))
                                    if constants()["takes", each.name][needed]):
            # Integers become integers without a hub.
            if name != "fp64" and not fmt.is_float:
                continue
            rounds = ROUNDS[:1] if fmt.kind == "bool" else ROUNDS[::4] if fmt.name.startswith("binary") else ROUNDS
            for at, mode in enumerate(rounds):
                if not sample or (count % 20 == 0 and at == count // 20 % len(rounds)):
                    yield Theorem("odd", "%s by %s to %s, %s" % (name, hub, fmt.name, mode),
                                  lambda row=(name, kernel, width, hub, fmt, mode): claim(*row))


SEEDED = (
    Bug("the hub is cut, not rounded to odd", "kernels/lanes.h", "return inexact & (odd ^ 1);\n    case DTI_ROUND_STOCHASTIC:\n        return ((cut",
        "return 0;\n    case DTI_ROUND_STOCHASTIC:\n        return ((cut", "fp64 by f32 to fp16, nearest-even", {"policy": 0},
        encoding("fp64", "fp16", "nearest-even", steps=(("odd_f64", 4, "f32"),))),
)
