# SPDX-License-Identifier: MIT
"""Mutation test for the array kernel tests: each fault below is planted in a copy of the tree, the copy is rebuilt and
the named test must fail; on the unmodified copy all must pass first. Exit 1 if a fault survives. Faults in levels that
this machine lacks are reported as skipped.

Usage: planted_kernel_faults.py SOURCE_ROOT [FAULT...]
"""

import os
import shutil
import subprocess
import sys
import tempfile

from planted_faults import modules, plant

KERNELS, X86, CONVERT, CALC = "src/kernels/", "src/kernels/x86/", "src/convert/", "src/calc/"

# name, file, original text, replacement text, the test that must fail: arguments of checkkern, "arrays" for
# test_arrays.py, "bulk" or "bulk_sum" for the unit tests of operations on lists
FAULTS = [
    ("lanes: ties go to odd", KERNELS + "lanes.h",
     "return (cut | odd) > UINT32_C(0x80000000);", "return (cut | (odd ^ 1)) > UINT32_C(0x80000000);",
     "rows scalar"),
    ("lanes: fp64 ties go away", KERNELS + "lanes.h",
     "return (cut | odd) > UINT64_C(1) << 63;", "return cut >= UINT64_C(1) << 63;", "rows avx512"),
    ("lanes: up ignores the sign", KERNELS + "lanes.h",
     "return inexact & (negative ^ 1);", "return inexact;", "rows scalar"),
    ("lanes: stochastic one unit late", KERNELS + "lanes.h",
     "return cut + random < cut;", "return cut != 0 && cut - 1 + random < cut - 1;", "rows scalar"),
    ("lanes: stochastic one unit early, fp64", KERNELS + "lanes.h",
     "return ((cut >> 32) + random) >> 32;",
     "return cut == 0 ? 0 : ((cut >> 32) + random + 1) >> 32;", "rows scalar"),
    ("lanes: overflow decided before the carry", KERNELS + "cast/lanes_float.h",
     "code = magnitude > (uint32_t)e->max_magnitude",
     "code = magnitude >= (uint32_t)e->max_magnitude", "rows avx512"),
    ("lanes: infinity taken for a number", KERNELS + "cast/lanes_float.h",
     "code = a == inf ? dti_lane_pick32(e->inf, minus) : code;", "", "rows scalar"),
    ("lanes: NaN payload dropped", KERNELS + "cast/lanes_float.h",
     "return a > inf ? dti_lane_pick32(e->nan, minus) | payload : code;",
     "return a > inf ? dti_lane_pick32(e->nan, minus) | (payload & 0) : code;", "rows scalar"),
    ("lanes: one integer too many", KERNELS + "cast/lanes_integer.h",
     "(uint32_t)e->max_magnitude + negative", "(uint32_t)e->max_magnitude + 1", "rows scalar"),
    ("lanes: wrap takes clamped bits", KERNELS + "cast/lanes_integer.h",
     "code = own >= 127 + 32 ? (clamped & ~wrap) | (low & wrap) : code;",
     "code = own >= 127 + 32 ? clamped : code;", "rows scalar"),
    ("lanes: subnormals decoded as normals", KERNELS + "cast/lanes_decode.h",
     "const uint32_t least = d->format.specials == DTI_SPECIALS_SCALE ? 0 : 1;",
     "const uint32_t least = 0;", "rows scalar"),
    ("pack: high-first order ignored", KERNELS + "cast/pack.c",
     "return high_first ? word >> (64 - 8 * bits) : word & dti_low_bits(8 * bits);",
     "return word & dti_low_bits(8 * bits);", "rows scalar"),
    ("pack: last group forgotten", KERNELS + "cast/pack.c",
     "pack_group(dst + g * bits, src + 8 * g, (rest * bits + 7) / 8, rest, bits, high_first);",
     "(void)rest;", "rows scalar"),
    ("unpack: reads past the end", KERNELS + "cast/pack.c",
     "g + 8 < groups; g++)\n        unpack_group", "g < groups; g++)\n        unpack_group",
     "rows scalar"),
    ("pack: writes past the end", KERNELS + "cast/pack.c",
     "g + 8 < groups; g++)\n        pack_group", "g < groups; g++)\n        pack_group",
     "rows scalar"),
    ("odd: overflow reaches infinity", KERNELS + "cast/lanes_odd.h",
     ".overflow = {(inf_)-1, (sign) + (inf_)-1}", ".overflow = {(inf_), (sign) + (inf_)-1}",
     "rows scalar"),
    ("params: rounding to odd one bit too short", KERNELS + "params.c",
     "f->man_bits + 1u <= precision - 2", "f->man_bits + 1u <= precision", "plans"),
    ("params: minus infinity clamps like plus infinity", KERNELS + "params.c",
     "ret->inf[negative] = ask_class(ret, DTI_CLASS_INF, minus);",
     "ret->inf[negative] = ask_class(ret, DTI_CLASS_INF, false);", "rows scalar"),
    ("registry: a row takes roundings that it does not have", KERNELS + "registry.c",
     "(kernel->rounds >> args->encoder->policy.round & 1) != 0 &&", "", "plans"),
    ("table: policy ignored", KERNELS + "cast/table_scalar.c",
     "dti_encode(dst, &value, policy, 0, &outcome);",
     "dti_encode(dst, &value, &(struct dti_policy){.round = DTI_ROUND_NEAREST_EVEN}, 0, &outcome);",
     "rows scalar"),
    ("x86: bf16 drops NaN", X86 + "cast/bf16_avx512.c",
     "return plain ? _mm512_mask_or_epi32(rounded, nan, bits, quiet)",
     "return plain ? _mm512_mask_or_epi32(rounded, nan, rounded, quiet)", "rows avx512"),
    ("x86: bf16 half up", X86 + "cast/bf16_avx512.c",
     "_mm512_set1_epi32(0x7fff);\n    __m512i sum", "_mm512_set1_epi32(0x8000);\n    __m512i sum",
     "rows avx512"),
    ("x86: small floats keep the wrong sign of zero", X86 + "cast/small_vector.h",
     "c.minus_zero = e->zero[1] != 0;", "c.minus_zero = true;",
     "rows avx512"),
    ("x86: a row claims a rounding too many", X86 + "kernels_avx512.def",
     "FP16,       RNE | RTZ | RUP | RDN,", "FP16,       RNE | RNA | RTZ | RUP | RDN,", "rows avx512"),
    ("x86: AVX2 row claims a rounding too many", X86 + "kernels_avx2.def",
     "FP32,  RNE | RTZ | RUP | RDN, NATIVE", "FP32,  RNE | RNA | RTZ | RUP | RDN, NATIVE", "rows avx2 --row fp64"),
    ("x86: fp64 rounded to odd keeps even neighbours", X86 + "cast/odd_vector.h",
     "step = _mm256_or_si256(step, _mm256_set1_epi64x(1));", "step = _mm256_or_si256(step, lost);", "rows avx2 --row fp64"),
    ("x86: fp64 is cut on its way to fewer bits", X86 + "cast/odd_vector.h",
     "_mm256_add_epi64(_mm256_and_si256(x, below), below)", "_mm256_and_si256(x, below)", "rows avx2 --row fp64"),
    ("x86: fp64 below 2^-126 is rounded twice on its way to bf16", X86 + "cast/bf16_avx2.c",
     "if (odd_normal(between, src))\n        odd_exact(between, src);", "(void)odd_normal(between, src);",
     "rows avx2 --row fp64"),
    ("x86: large fp64 are infinities where those are not clamped", X86 + "cast/small_vector.c",
     "c.normal = e->inf[0] == e->overflow[0] && e->inf[1] == e->overflow[1] &&", "c.normal =", "rows avx2 --row fp64"),
    ("x86: NaNs of fp64 are not 0 in int8", X86 + "cast/integers_vector.c",
     "_mm256_and_pd(_mm256_min_pd(_mm256_set1_pd(255), x), number)",
     "_mm256_min_pd(_mm256_set1_pd(255), _mm256_or_pd(x, number))", "rows avx2 --row fp64"),
    ("x86: the last row of a table is like the others", X86 + "cast/table_avx2.c",
     "look_up_16(p->table + 112, low)", "look_up_16(p->table + 96, low)", "rows avx2 --row dti_table"),
    ("x86: a doubleword of packed codes is lost", X86 + "cast/pack_avx2.c",
     "_mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0)", "_mm256_setr_epi32(0, 1, 2, 4, 5, 7, 0, 0)", "rows avx2 --row dti_pack_avx2"),
    ("reference: the rounding of the policy for integers", CONVERT + "plan.c",
     "stages[i].policy.round = dti_cast_round(cast, &stages[i].format);", "", "plans"),
    ("plan: stages share their random bits", CONVERT + "plan.c",
     "stages[i].policy.stream += 2 * ((uint32_t)i + 1);", "(void)stages;", "plans"),
    ("plan: signalling NaNs copied under the canonical policy", CONVERT + "plan.c",
     "return plain && whole && !changes_nan && !changes_inf;", "return plain && whole && !changes_inf;",
     "arrays"),
    ("plan: infinities copied although they clamp", CONVERT + "plan.c",
     "return plain && whole && !changes_nan && !changes_inf;", "return plain && whole && !changes_nan;",
     "arrays"),
    ("plan: unknown answers of a stack given", CONVERT + "plan.c",
     "(request)) && rule->unknown == 0 && !either;", "(request)) && !either;",
     "rules"),
    ("steps: fp64 to fp32 through rounding to odd", CONVERT + "plan.c",
     "if (hub == HUB64)\n        return encode_hub64(c, encoder);",
     "if (hub == HUB64)\n        return append_decode(c, DTI_OP_ODD_HUB64_HUB32, from);", "plans"),
    ("steps: rounding to odd where it is too narrow", CONVERT + "plan.c",
     "if (dti_encoder_takes_odd_hub32(encoder) && dti_encoder_takes_hub32(&encoder->format) &&\n"
     "        !in_one_pass(c, encoder))",
     "if (dti_encoder_takes_hub32(&encoder->format))", "plans"),
    ("steps: int64 through fp64 where it is too narrow", CONVERT + "plan.c",
     "if (dti_format_is_float(&encoder->format) && dti_encoder_takes_odd_hub64(encoder))",
     "if (dti_format_is_float(&encoder->format) && dti_encoder_takes_hub64(&encoder->format))", "arrays"),
    ("run: every tile has the first index", CONVERT + "run.c",
     "part, index + at, stream && last", "part, index, stream && last", "plans"),
    ("run: members of a team share the first index", CONVERT + "run.c",
     "work->index + begin, work->stores", "work->index, work->stores", "plans"),
    ("run: padding of packed copies kept", CONVERT + "run.c",
     "if (used > 0) {", "if (used > 8) {", "plans"),
    ("loss: every tile has the first index", CONVERT + "run.c",
     "index + at, stream, loss, reterr);", "index, stream, loss, reterr);", "plans"),
    ("loss: infinite results have an error", KERNELS + "scan/loss_tile.h",
     "const unsigned without = special_x | special_y;", "const unsigned without = special_x | m->nan_y;",
     "rows scalar"),
    ("loss: highest index of the largest error", KERNELS + "scan/loss_tile.h",
     "if (loss->max_absolute > 0 && loss->max_index >= index)", "if (loss->max_absolute > 0)",
     "rows scalar"),
    ("loss: overflow decided by one sign", KERNELS + "scan/loss_group.h",
     "const unsigned negative = signbit(x) != 0;", "const unsigned negative = 0;", "rows scalar"),
    ("bulk: sums are rounded twice", KERNELS + "arith/arith_lanes.c", "bits |= above | below;", "", "bulk"),
    ("bulk: fma rounds its product", KERNELS + "arith/arith_lanes.c", "return add_to_odd(x * y, z);",
     "return add_to_odd((double)(float)(x * y), z);", "bulk"),
    ("bulk: an infinity is an overflow", KERNELS + "arith/arith_lanes.c",
     "beyond & finite, &t, &c);", "beyond, &t, &c);", "bulk"),
    ("bulk: zeros absorb", KERNELS + "arith/arith_lanes.c", "no_zero & y_no_zero &", "y_no_zero &", "bulk"),
    ("bulk: what is clamped absorbs", KERNELS + "arith/arith_lanes.c",
     "(overflow | infinite | no_number) ^ 1", "(infinite | no_number) ^ 1", "bulk"),
    ("bulk: a sum forgets that it is inexact", CALC + "evaluate/bulk.c",
     "*rounded |= inexact[i] | terms[i];", "*rounded = inexact[i] | terms[i];", "calc_tiles"),
    ("bulk: differences that leave half of the bits cancel", KERNELS + "arith/arith_lanes.c",
     "> (int64_t)man_bits", ">= (int64_t)man_bits", "calc_tiles"),
    ("matrix products: a product's marks are lost", CALC + "evaluate/bulk_matmul.c",
     "{s->marks + from, product_marks, NULL}", "{s->marks + from, s->marks + from, NULL}", "calc_tiles"),
    ("casts by tiles: limits are not reached", KERNELS + "arith/rounded_lanes.c", "x >= over", "x > over", "calc_tiles"),
    ("casts by tiles: infinities are counted", KERNELS + "arith/rounded_lanes.c",
     "(counter)(x <= under)) & finite", "(counter)(x <= under))", "calc_tiles"),
    ("bulk: NaNs as the processor makes them", CALC + "evaluate/bulk.c", "ret_numbers[i] != ret_numbers[i]",
     "false", "bulk"),
    ("bulk: the last of a kind for the first", CALC + "evaluate/bulk.c",
     "from += found[kind] == 0 ? n / 2 : 0;", "from += n / 2;", "bulk"),
    ("bulk: a chain rounds ties twice", CALC + "evaluate/bulk.c", "if ((bits & below) == below / 2 + 1)",
     "if (false)", "bulk_sum"),
    ("bulk: a chain leaves its binade", CALC + "evaluate/bulk.c", "from * term > 0",
     "sum * term > 0", "bulk_sum"),
    ("bulk: subnormal sums have too many bits", CALC + "evaluate/bulk.c",
     "rounded = sum == 0 ? sum : round_small(target, add_to_odd(a, b));", "", "bulk_sum"),
    ("bulk: halves are joined from the left", CALC + "evaluate/bulk.c",
     "while (p->depth > 1 && p->part[p->depth - 2].length == p->part[p->depth - 1].length)",
     "while (p->depth > 1)", "bulk_sum"),
]


def has_level(checkkern, level):
    return subprocess.run([checkkern, "rows", level, "--quick", "--row", "no such row"],
                          stdout=subprocess.DEVNULL, check=False).returncode != 77


class Copy:
    """The copied tree and its build."""

    def __init__(self, root, folder):
        self.tree, self.build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        ignored = shutil.ignore_patterns(".git", "build*", "__pycache__")
        shutil.copytree(root, self.tree, ignore=ignored)
        subprocess.run(["meson", "setup", self.build, self.tree], check=True,
                       stdout=subprocess.DEVNULL)
        self.checkkern = os.path.join(self.build, "tests/kernels/checkkern")
        self.probe = os.path.join(self.build, "tests/oracle/array_probe")
        self.unit = os.path.join(self.build, "tests/unit/test_calc")

    def compile(self):
        command = ["ninja", "-C", self.build, "tests/kernels/checkkern", "tests/oracle/array_probe",
                   "tests/unit/test_calc"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            print(done.stdout.decode()[-2000:], file=sys.stderr)
        return done.returncode == 0

    def is_green(self, test):
        command = [self.checkkern] + test.split()
        if test == "arrays":
            command = [sys.executable, os.path.join(self.tree, "tests/oracle/kernels/test_arrays.py"),
                       self.probe, os.path.join(self.tree, "tests/data/vectors.tsv")]
        if test.startswith("bulk"):
            command = [self.unit, test]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, env=modules(self.tree))
        return done.returncode in (0, 77)


def judge(copy, fault):
    """(verdict, whether it is a failure)."""
    path = os.path.join(copy.tree, fault[1])
    if not os.path.exists(path):
        return f"NOT PLANTED, no {fault[1]}", True
    kept = path + ".kept"
    shutil.copyfile(path, kept)
    try:
        if not plant(copy.tree, fault):
            return f"NOT PLANTED, its text is gone from {fault[1]}", True
        if not copy.compile():
            return "DOES NOT BUILD", True
        if fault[4].startswith("rows ") and not has_level(copy.checkkern, fault[4].split()[1]):
            return "skipped, the level is not here", False
        if copy.is_green(fault[4]):
            return "SURVIVED", True
        return "caught by " + fault[4], False
    finally:
        shutil.copyfile(kept, path)         # a new mtime, so that it is rebuilt
        os.remove(kept)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: planted_kernel_faults.py SOURCE_ROOT [FAULT...]")
    wanted = sys.argv[2:]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(sys.argv[1], folder)
        if not copy.compile():
            sys.exit("the untouched tree does not build")
        faults = [fault for fault in FAULTS if not wanted or any(w in fault[0] for w in wanted)]
        red = set()
        for test in sorted({fault[4] for fault in faults}):
            if not copy.is_green(test):
                red.add(test)
            print(f"{test}: {'RED' if test in red else 'green'} on the untouched tree", flush=True)
        for fault in faults:
            verdict, is_bad = "NOT SHOWN, its test is red anyway", True
            if fault[4] not in red:
                verdict, is_bad = judge(copy, fault)
            bad += is_bad
            print(f"{verdict}: {fault[0]}", flush=True)
    print(f"{len(faults)} faults, {bad} not caught")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
