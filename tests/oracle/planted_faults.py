# SPDX-License-Identifier: MIT
"""Mutation test for the oracle tests: each fault below is planted in a copy of the core, the probe is built from it,
and one of the named tests must fail; on the unmodified copy they must pass first. Exit 1 if a fault survives.

Usage: planted_faults.py SOURCE_ROOT [CC]
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

# name, file below the root, original text, replacement text, the tests of which at least one must fail
FAULTS = [
    ("wrong bias in a row", "src/core/dtype/dtypes.def",
     '"fp8_e4m3b11fnuz",  FLOAT,     8,  4,  3,   11',
     '"fp8_e4m3b11fnuz",  FLOAT,     8,  4,  3,   10',
     ("codes", "vectors")),
    ("fn row with an infinity", "src/core/dtype/dtypes.def",
     "8,  4,  3,    7,  FN, ", "8,  4,  3,    7,  IEEE, ", ("codes", "vectors")),
    ("finite row that is extended", "src/core/dtype/dtypes.def",
     '"binary8p4sf",      FLOAT,     8,  4,  3,    8,  P3109F',
     '"binary8p4sf",      FLOAT,     8,  4,  3,    8,  P3109E', ("codes",)),
    ("sticky bit dropped", "src/core/code/encode.c",
     "cut.rest = (high << 1 | low) != 0 || sticky;", "cut.rest = (high << 1 | low) != 0;",
     ("rounding", "vectors")),
    ("low half of the fraction dropped", "src/core/code/encode.c",
     "cut.rest = (high << 1 | low) != 0 || sticky;", "cut.rest = high << 1 != 0 || sticky;",
     ("rounding",)),
    ("ties go up", "src/core/code/encode.c",
     "return cut->half && (cut->rest || odd);", "return cut->half;", ("rounding", "vectors")),
    ("ties to odd", "src/core/code/encode.c",
     "return cut->half && (cut->rest || odd);", "return cut->half && (cut->rest || !odd);",
     ("rounding", "vectors")),
    ("up and down ignore the sign", "src/core/code/encode.c",
     "return inexact && !negative;", "return inexact;", ("rounding",)),
    ("overflow toward zero reaches infinity", "src/core/code/encode.c",
     "    case DTI_ROUND_ZERO:\n    case DTI_ROUND_ODD:\n        break;",
     "    case DTI_ROUND_ZERO:\n        return true;\n    case DTI_ROUND_ODD:\n        break;",
     ("rounding",)),
    ("one random bit fewer", "src/core/code/encode.c",
     "(cut->fraction + bits) >> 32",
     "(cut->fraction + (bits & ~1u)) >> 32",
     ("rounding",)),
    ("Philox with nine rounds", "src/core/code/random.c", "round < 10", "round < 9", ("rounding",)),
    ("saturate keeps infinities", "src/core/code/encode.c",
     "else if (policy->overflow == DTI_OVERFLOW_SATURATE)\n        store_limit",
     "else if (policy->overflow == DTI_OVERFLOW_WRAP)\n        store_limit",
     ("rounding", "vectors")),
    ("P3109 without mantissa bits ties away", "src/core/code/encode.c",
     "bool by_code = f->man_bits == 0", "bool by_code = f->man_bits != 0", ("rounding",)),
    ("overflow decided before rounding", "src/core/code/encode.c",
     "else if (magnitude > max_code)", "else if (magnitude >= max_code)", ("rounding", "codes")),
    ("subnormals with an exponent of their own", "src/core/code/codes.c",
     "exponent = 1; /*", "exponent = 0; /*", ("codes",)),
    ("no minus zero", "src/core/code/codes.c",
     "set_class(ret_value, DTI_CLASS_ZERO, negative);",
     "set_class(ret_value, DTI_CLASS_ZERO, false);", ("codes",)),
    ("NaN payload lost", "src/core/code/encode.c",
     "code |= value->hi >> (64 - f->man_bits);", "code |= 0;", ("codes", "vectors")),
    ("walk stops before infinity", "src/core/code/codes.c",
     "if (!dti_code_inf(f, false, &top))\n        ", "", ("codes",)),
    ("negative into unsigned clamps", "src/core/code/encode.c",
     "bool clamp = policy->overflow == DTI_OVERFLOW_SATURATE ||",
     "bool clamp = policy->overflow != DTI_OVERFLOW_SATURATE ||", ("rounding", "vectors")),
    ("integers clamp one too late", "src/core/code/encode.c",
     "limit = dti_low_bits(f->width - 1u) + value->negative;",
     "limit = dti_low_bits(f->width - 1u) + 1;", ("rounding",)),
    ("digits beyond the first ones forgotten", "src/core/number/number.c",
     "ret->error = rest > 0;", "ret->error = 0;", ("rounding",)),
    ("shortest below a power of two", "src/core/number/spell.c",
     "value->hi == UINT64_C(1) << 63 && value->exponent > dti_format_min_exponent(format);",
     "false;", ("codes",)),
    ("HiFloat8 with exponents down that go up", "src/core/code/tapers.def",
     "2,      24,  0x50, DOWN", "2,      24,  0x50, UP", ("codes", "sweep", "peers")),
    ("the precision of another binade", "src/core/code/encode.c",
     "return cut_at(&steps, -run->man_bits);", "return cut_at(&steps, 1 - run->man_bits);", ("rounding", "sweep")),
    ("a small posit becomes zero", "src/core/code/encode.c",
     "if (posit && place == 0)", "if (posit && place == 1)", ("rounding", "sweep")),
    ("ties of tapered formats away from even places", "src/core/code/encode.c",
     "rounds_away(&cut, (place & 1) != 0,", "rounds_away(&cut, (place & 1) == 0,", ("rounding", "sweep")),
    ("shortest takes ties that go elsewhere", "src/core/number/spell.c",
     "interval.includes_upper = interval.significand % 2 == 0;",
     "interval.includes_upper = true;", ("codes",)),
    ("quant: the quotient's reciprocal is the quotient", "src/core/block/quant_affine.c",
     "dti_fp32_multiply(x, dti_fp32_divide(DTI_FP32_ONE, scale))", "dti_fp32_divide(x, scale)", ("quant",)),
    ("quant: torch's sum does not wrap", "src/core/block/quant_affine.c",
     "return rounded - (INT64_C(1) << 32);", "return INT32_MAX;", ("quant",)),
    ("quant: a wide range overflows", "src/core/block/quant_affine.c",
     "dti_encode(&wide_fp32, &numerator", "dti_encode(dti_format_get(DTI_FP32), &numerator", ("quant",)),
    ("quant: zero points of ONNX are rounded once", "src/core/block/quant_affine.c",
     "dti_fp32_value(dti_fp32_round(&value), &value);", "", ("quant",)),
    ("quant: rceil goes up at the largest element", "src/core/block/quant_block.c",
     "(value.hi > largest.hi)", "(value.hi >= largest.hi)", ("quant",)),
    ("quant: mxint8 has seven bits", "src/core/block/quant_block.c",
     "is_integer(format) ? 6 :", "is_integer(format) ? 7 :", ("quant",)),
    ("quant: shared exponents reach NaN", "src/core/block/quant_block.c",
     "exponent > 127 ? 127", "exponent > 128 ? 128", ("quant",)),
    ("quant: nvfp4's reciprocal is that of the product", "src/core/block/quant_block.c",
     "dti_fp32_divide(dti_fp32_divide(DTI_FP32_ONE, recipe->tensor_scale), scale32)",
     "dti_fp32_divide(DTI_FP32_ONE, product)", ("quant",)),
    ("quant: an infinite reciprocal is used", "src/core/block/quant_block.c",
     "!dti_fp32_is_finite(inverse)", "false", ("quant",)),
    ("quant: bnb_fp4's limits are midpoints", "src/core/block/quant_block.c", "0x3f155550", "0x3f155555", ("quant",)),
    ("quant: nf4's ties go up", "src/core/block/quant_block.c", "&sum) <= 0", "&sum) < 0", ("quant",)),
    ("quant: q8_0's ties go to even", "src/core/block/quant_block.c",
     "DTI_ROUND_NEAREST_AWAY", "DTI_ROUND_NEAREST_EVEN", ("quant",)),
    ("quant: q4_0 takes the last extreme", "src/core/block/quant_block.c",
     "for (size_t i = n; block->amax != 0 && i-- > 0;)", "for (size_t i = 0; block->amax != 0 && i < n; i++)", ("quant",)),
    ("quant: nvfp4's scale of the tensor is forgotten", "src/core/block/quant_block.c",
     "dti_fp32_value(nv_product(recipe, scale32), &factor);", "(void)scale32;", ("quant",)),
    ("arith: what falls off a term is forgotten", "src/core/code/arith.c",
     "lost || (sum[0] | sum[1]) != 0", "(sum[0] | sum[1]) != 0", ("arith",)),
    ("arith: a difference keeps what fell off", "src/core/code/arith.c", "carry = lost;", "carry = 0;",
     ("arith",)),
    ("arith: a product of 64 bits", "src/core/code/arith.c", "product.lo <<= 1;", "product.lo = 0;",
     ("arith",)),
    ("arith: fma rounds its product", "src/core/code/arith.c",
     "const struct exact x = product_of(a, b), y = exact_of(c);",
     "struct exact x = product_of(a, b), y = exact_of(c); x.hi &= ~UINT64_C(0) << 40; x.lo = 0;",
     ("arith",)),
    ("arith: an exact zero ignores the direction", "src/core/code/arith.c",
     "set_special(ret, DTI_CLASS_ZERO, round == DTI_ROUND_DOWN);",
     "set_special(ret, DTI_CLASS_ZERO, false);", ("arith",)),
    ("arith: 0 * inf + NaN is valid", "src/core/code/arith.c", "*ret = product;\n        return flags;",
     "*ret = product;\n        return is_nan(c) ? 0 : flags;", ("arith",)),
    ("arith: odd exponents are halved toward zero", "src/core/code/arith.c",
     "((int64_t)a->exponent - odd) / 2", "(int64_t)a->exponent / 2", ("arith",)),
    ("arith: the second NaN wins", "src/core/code/arith.c", "*ret = is_nan(a) ? *a : *b;",
     "*ret = is_nan(b) ? *b : *a;", ("arith",)),
    ("arith: 1/0 is no division by zero", "src/core/code/arith.c", "by_zero = !is_inf(a);",
     "by_zero = false;", ("arith",)),
    ("arith: negative numbers round up to larger integers", "src/core/code/arith.c",
     "if (a->negative && round == DTI_ROUND_UP)", "if (false)", ("arith",)),
    ("arith: sticky dropped when rounding", "src/core/code/encode.c",
     "cut.rest = (high << 1 | low) != 0 || sticky;", "cut.rest = (high << 1 | low) != 0;", ("arith",)),
    ("arith: ties go up", "src/core/code/encode.c",
     "return cut->half && (cut->rest || odd);", "return cut->half;", ("arith",)),
]
PROBES = {"quant": "quant_probe", "arith": "arith_probe"}

def probe_of(test):
    return PROBES.get(test, "probe")


def build(copy, compiler, kind):
    """Compiles a probe from a copy; returns its path."""
    probe = os.path.join(copy, kind)
    sources = [os.path.join(copy, "tests/oracle", name) for name in (kind + ".c", "request.c")]
    for layer in ("core", "util"):
        sources += sorted(glob.glob(os.path.join(copy, "src", layer, "**", "*.c"), recursive=True))
    command = [compiler, "-std=c11", "-O1", "-w", "-D_POSIX_C_SOURCE=200809L", '-DDTI_VERSION="0"',
               "-I" + os.path.join(copy, "include"), "-I" + os.path.join(copy, "src"), "-o", probe]
    done = subprocess.run(command + sources + ["-lm"], check=False, stderr=subprocess.PIPE)
    if done.returncode != 0:
        print(done.stderr.decode(), file=sys.stderr)
    return probe if done.returncode == 0 else None


def modules(copy):
    """The environment for a test of a copy, with the path of the shared modules."""
    return dict(os.environ, PYTHONPATH=":".join(os.path.join(copy, folder) for folder in ("tests/oracle", "tests/oracle/core")))


def is_green(copy, test, probe):
    """Runs one test, stopping at its first difference."""
    command = [sys.executable, os.path.join(copy, "tests/oracle/core", f"test_{test}.py"), probe]
    if test == "vectors":
        command.append(os.path.join(copy, "tests/data/vectors.tsv"))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=modules(copy)) as run:
        for line in run.stdout:
            if line.startswith(b"DIFFERENT"):
                run.terminate()
                return False
    return run.returncode == 0


def plant(copy, fault):
    """Replaces the text in one place; returns whether it was found."""
    path = os.path.join(copy, fault[1])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(fault[2]) < 1:
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(fault[2], fault[3], 1))
    return True


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: planted_faults.py SOURCE_ROOT [CC]")
    root, compiler = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cc"
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        clean = os.path.join(folder, "clean")
        for part in ("include", "src/core", "src/util", "tests/oracle", "tests/data"):
            shutil.copytree(os.path.join(root, part), os.path.join(clean, part))
        probes = {kind: build(clean, compiler, kind) for kind in ("probe", *PROBES.values())}
        if not all(probes.values()):
            sys.exit("the untouched core does not build")
        for test in ("vectors", "codes", "rounding", *PROBES):
            if not is_green(clean, test, probes[probe_of(test)]):
                sys.exit(f"{test} is red on the untouched core: nothing can be shown")
        print("green on the untouched core")
        for fault in FAULTS:
            copy = os.path.join(folder, "copy")
            shutil.copytree(clean, copy)
            red = []
            if not plant(copy, fault):
                print(f"NOT PLANTED  {fault[0]}: its text is gone from {fault[1]}")
                bad += 1
            else:
                probe = build(copy, compiler, probe_of(fault[4][0]))
                red = [test for test in fault[4] if probe and not is_green(copy, test, probe)]
                verdict = "caught by " + ", ".join(red) if red else "SURVIVED"
                if not probe:
                    verdict = "DOES NOT BUILD"
                bad += not red
                print(f"{verdict}: {fault[0]}", flush=True)
            shutil.rmtree(copy)
    print(f"{len(FAULTS)} faults, {bad} not caught")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
