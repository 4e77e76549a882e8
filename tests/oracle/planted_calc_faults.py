# SPDX-License-Identifier: MIT
"""Mutation test for the expression tests: faults as in planted_kernel_faults.py, planted in src/calc; each must make
the named test fail. Exit 1 if one survives.

Usage: planted_calc_faults.py SOURCE_ROOT [FAULT...]
"""

import os
import subprocess
import sys
import tempfile

from planted_faults import modules
from planted_kernel_faults import Copy, judge

CALC = "src/calc/"
TARGETS = ("tests/oracle/calc_probe", "tests/unit/test_calc")

# name, file, original text, replacement text, the test that must fail: "judge" is test_calc.py, "run" the unit tests
FAULTS = [
    ("double rounding", CALC + "evaluate/round.c",
     "        dti_encode(format, &e->exact, &recorder->policy, recorder->random, &outcome);",
     """        struct dti_format wide = *format;
        struct dti_value first = e->exact;
        wide.man_bits += format->width < 64 && dti_format_is_float(format);
        wide.width += wide.man_bits - format->man_bits;
        if (wide.man_bits != format->man_bits && first.kind == DTI_CLASS_FINITE) {
            dti_encode(&wide, &first, &recorder->policy, recorder->random, &outcome);
            dti_decode(&wide, outcome.code, &first);
        }
        dti_encode(format, &first, &recorder->policy, recorder->random, &outcome);""", "judge"),
    ("ties go away", CALC + "evaluate/round.c",
     "recorder->policy.stream += (uint32_t)engine->steps;",
     "recorder->policy.round += recorder->policy.round == DTI_ROUND_NEAREST_EVEN;", "judge"),
    ("fused where not asked", CALC + "evaluate/evaluate.c", "if (engine->options->fma)", "if (tree)", "judge"),
    ("dot products fused where not asked", CALC + "evaluate/reduce.c", "r->fma = options->fma &&", "r->fma =", "judge"),
    ("not fused where asked", CALC + "evaluate/evaluate.c", "if (engine->options->fma)", "if (!tree)", "judge"),
    ("flushed where not asked", CALC + "evaluate/round.c", ".flush = engine->options->flush,", ".flush = true,", "judge"),
    ("every step has the same random bits", CALC + "evaluate/round.c",
     "recorder->policy.stream += (uint32_t)engine->steps;", "", "judge"),
    ("pairwise halves of any length", CALC + "evaluate/reduce.c", "half *= 2;", "half += 1;", "judge"),
    ("Kahan adds what is not corrected", CALC + "evaluate/reduce.c",
     "DTI_CALC_ADD, &sum, &corrected, i", "DTI_CALC_ADD, &sum, &next, i", "judge"),
    ("composites do not accumulate", CALC + "evaluate/evaluate.h",
     "engine->options->accumulates && engine->tree->nodes[node].within", "engine->options->accumulates && !node",
     "judge"),
    ("what is absorbed by a subtrahend is missed", CALC + "evaluate/round.c",
     "same_number(stored, b, e->op == DTI_CALC_SUBTRACT)", "same_number(stored, b, false)", "judge"),
    ("linspace ends early", CALC + "evaluate/generate.c",
     "dti_big_mul_add(&ret->r, *ret_count - 1, 0);", "dti_big_mul_add(&ret->r, *ret_count, 0);", "judge"),
    ("linspace forgets the rest", CALC + "evaluate/generate.c", "bool sticky = rest != 0;", "bool sticky = false;\n"
     "    top = bottom = bottom & 0;\n    top = high | UINT64_C(1) << 63;", "judge"),
    ("randn's cosine has the wrong sign", CALC + "evaluate/normal.c", "octant >= 2 && octant <= 5", "octant >= 3", "judge"),
    ("generators share their random numbers", CALC + "evaluate/normal.c",
     "first_stream + (uint32_t)generator", "first_stream + 0 * (uint32_t)generator", "run"),
    ("integers round to nearest", CALC + "evaluate/round.c",
     "policy.round = dti_cast_round(&cast, format);", "policy.round = options->policy.round;", "run"),
    ("a - max(a) is a cancellation", CALC + "evaluate/apply.c", "if (a == b)\n        return true;",
     "if (a == b)\n        return false;", "run"),
    ("any event of a long list is the first", CALC + "evaluate/fast_path.c",
     "counts->first[kind] >= *ret", "counts->first[kind] < *ret", "run"),
]


class CalcCopy(Copy):
    """A copy that builds only what expressions need."""

    def compile(self):
        done = subprocess.run(("ninja", "-C", self.build) + TARGETS, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            print(done.stdout.decode()[-2000:], file=sys.stderr)
        return done.returncode == 0

    def is_green(self, test):
        command = [sys.executable, os.path.join(self.tree, "tests/oracle/calc/test_calc.py"),
                   os.path.join(self.build, TARGETS[0])]
        if test == "run":
            command = [os.path.join(self.build, TARGETS[1]), "calc_run"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, env=modules(self.tree)).returncode == 0


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: planted_calc_faults.py SOURCE_ROOT [FAULT...]")
    bad = 0
    faults = [fault for fault in FAULTS if not sys.argv[2:] or any(w in fault[0] for w in sys.argv[2:])]
    with tempfile.TemporaryDirectory() as folder:
        copy = CalcCopy(sys.argv[1], folder)
        if not copy.compile() or not copy.is_green("judge") or not copy.is_green("run"):
            sys.exit("the untouched tree is red: nothing can be shown")
        for fault in faults:
            verdict, is_bad = judge(copy, fault)
            bad += is_bad
            print(f"{verdict}: {fault[0]}", flush=True)
    print(f"{len(faults)} faults, {bad} not caught")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
