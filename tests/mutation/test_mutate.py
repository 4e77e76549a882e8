#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/mutate.py on a small program: which places it finds, that no fault changes the program until it is chosen, that each
one does what its operator says, and that reached faults are recorded even if the program is killed with an empty environment."""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import clang.cindex
    INDEX = clang.cindex.Index.create()
except Exception:  # no module, or a module without its library
    print("skipped: no libclang for Python")
    sys.exit(77)

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import mutate_places  # noqa: E402

PROGRAM = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
enum dti_status { DTI_OK, DTI_BAD };
#define TWICE(x) ((x) + (x))
static void note(int *to, int what) { *to = what; }
static enum dti_status judge(int value) { return value ? DTI_BAD : DTI_OK; }
int main(int argc, char **argv) {
    static const int origin = 10 + 3;
    enum { SIZE = 2 + 2 };
    int a = atoi(argv[1]), noted[SIZE + 1] = {0};
    if (a < 5 && !noted[0]) note(noted, a + 1);
    switch (a) {
    case 7: a <<= 2; break;
    default: break;
    }
    printf("%d %d %d %d", noted[0], a, TWICE(3) + origin, (int)judge(a));
    fflush(stdout);
    if (a == 9) kill(0, SIGKILL);
    return 0;
}
"""
# What the fault does: original text, operator, argument, what is printed instead of what.
EFFECTS = [
    ("a < 5", "boundary", "5", "0 5 19 1", "6 5 19 1"),
    ("a < 5 && !noted[0]", "and-or", "6", "0 6 19 1", "7 6 19 1"),
    ("a < 5 && !noted[0]", "negated", "4", "5 4 19 1", "0 4 19 1"),
    ("!noted[0]", "not", "4", "5 4 19 1", "0 4 19 1"),
    ("note(noted, a + 1)", "dropped", "4", "5 4 19 1", "0 4 19 1"),
    ("a + 1", "arithmetic", "4", "5 4 19 1", "3 4 19 1"),
    ("2", "constant", "7", "0 28 19 1", "0 56 19 1"),
    ("a <<= 2", "dropped", "7", "0 28 19 1", "0 7 19 1"),
    ("*to = what", "dropped", "4", "5 4 19 1", "0 4 19 1"),
    ("value ? DTI_BAD : DTI_OK", "status", "4", "5 4 19 1", "5 4 19 0"),
]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, text, program, reached = folder / "small.c", PROGRAM.encode(), folder / "small", folder / "map"
        source.write_bytes(text)
        rows = list(mutate_places.candidates(INDEX, source, [], {os.path.realpath(source): text}))
        places = [(text[row[1]:row[2]].decode(), row[3]) for row in rows]
        assert not [place for place in places if place[0] in ("10 + 3", "2 + 2", "7", "SIZE + 1", "10")], places
        (folder / "mutant.h").write_text(mutate_places.HEADER)
        (folder / "mutant.c").write_text("#define DTI_MUTANTS %d\n%s" % (len(rows), (TOOLS / "mutant.c").read_text()))
        source.write_text('#include "mutant.h"\n' + mutate_places.planted(text, [(number, row[1], row[2], row[4], "+") for number, row in enumerate(rows)]))
        subprocess.run(sys.argv[1:] + ["-o", str(program), str(source), str(folder / "mutant.c")], check=True)

        def run(mutant, argument, *wrapper):
            reached.write_bytes(bytes(1 << 12))
            environment = dict(os.environ, DTI_MUTANT=str(mutant), DTI_MUTANT_MAP=str(reached))
            done = subprocess.run([*wrapper, str(program), argument], env=environment, stdout=subprocess.PIPE, text=True, check=False, start_new_session=True)
            return done.stdout, {number for number, byte in enumerate(reached.read_bytes()) if byte}

        for original, operator, argument, right, wrong in EFFECTS:
            number = places.index((original, operator))
            assert run(-1, argument)[0] == right, (original, operator, run(-1, argument))
            assert run(number, argument)[0] == wrong, (original, operator, run(number, argument))
        shift = places.index(("a <<= 2", "dropped"))
        assert shift not in run(-1, "9")[1] and shift in run(-1, "7")[1]
        bare = ("sh", "-c", 'env -i "$0" "$1"; true')
        assert run(shift, "7", *bare)[0] == "0 7 19 1", "an ancestor's variables count"
        assert run(-1, "9", *bare)[1] == run(-1, "9")[1] != set(), "a killed program has recorded"
    print("%d places, %d effects" % (len(rows), len(EFFECTS)))


main()
