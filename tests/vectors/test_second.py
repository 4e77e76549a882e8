# SPDX-License-Identifier: MIT
"""Every output column of the test vectors, computed again by an implementation that shares nothing with the program, and
whether the promised inputs are there.

Usage: test_second.py PROGRAM             a sample of the pairs
       test_second.py PROGRAM --long      all files of the set, as the program prints them
       test_second.py FOLDER              a published set
"""

import importlib.util
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "oracle")]

from coverage import missing_inputs     # noqa: E402
from harness import Tally     # noqa: E402
from philox import check_philox     # noqa: E402
from regenerate import VectorFile, differences, policy_gaps     # noqa: E402

SHOWN = 3       # differences shown of one file


def check_file(tally, text, name):
    """Compares one file; a difference names the row, the column and what the second implementation says."""
    try:
        file = VectorFile(text, name)
    except (ValueError, KeyError, IndexError) as error:
        tally.differ(name, "a file", str(error))
        return
    cells, found = differences(file)
    tally.checked += cells
    for count, (row, column, got, want) in enumerate(found):
        if count < SHOWN:
            tally.differ(f"{name}: {' '.join(f'{k}={v}' for k, v in row.items())[:400]}: {column}", got, want)
        else:
            tally.differences += 1
    if file.kind in ("cast", "arith"):
        tally.check(f"{name}: one line for each choice of policies", policy_gaps(file)[:SHOWN], [])
    missing = missing_inputs(file)
    tally.check(f"{name}: promised inputs that are missing ({len(missing)})", missing[:SHOWN], [])


SAMPLE = ("fp32:fp8_e4m3fn", "fp64:fp4_e2m1", "int64:fp8_e5m2", "text:fp8_e8m0", "fp64:posit8", "bf16:fp8_e4m3fnuz",
          "fp32:fp8_ue4m3", "text:fp16", "fp16:hif8", "fp64:binary8p1se", "int64:int8", "fp32:fp6_e2m3",
          "fp64:bf16", "fp8_e4m3fn:text", "hif8:text", "fp16:text", "add:fp4_e2m1", "div:fp6_e3m2",
          "sqrt:fp8_e4m3fn", "fma:fp4_e2m1", "fp32:mxfp4", "fp32:nvfp4", "fp32:q4_0",
          "--round stochastic fp32:fp8_e5m2")


def vectors_of(program, *words):
    done = subprocess.run([program, "vectors", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False)
    if done.returncode:
        sys.exit(f"vectors {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[:300]}")
    return done.stdout.decode()


def published_tables():
    """Path and text of the set's tables of the OCP and P3109, which tools/make-vectors.py makes without the program."""
    path = pathlib.Path(__file__).resolve().parents[2] / "tools/make-vectors.py"
    spec = importlib.util.spec_from_file_location("make_vectors", path)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker.published()


def main():
    check_philox()
    tally = Tally()
    words = [word for word in sys.argv[1:] if word != "--long"]
    place = pathlib.Path(words[0])
    if place.is_dir():
        for path in sorted(place.glob("**/*.tsv")):
            check_file(tally, path.read_text(), str(path.relative_to(place)))
            tally.part(str(path.relative_to(place)))
    else:
        listed = vectors_of(words[0], "--list").splitlines() if "--long" in sys.argv else []
        for pair in [line.split("\t")[1] for line in listed] or SAMPLE:
            check_file(tally, vectors_of(words[0], *pair.split(" ")), pair)
        for path, text in published_tables():
            check_file(tally, text, "published/" + path)
    tally.finish()


if __name__ == "__main__":
    main()
