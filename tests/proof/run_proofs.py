#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves the theorems of the files family_*.py beside this one.

Usage: run_proofs.py [--family NAME]... [--name GLOB] [--sample] [--solver NAME]... [--seconds S] [--jobs N] [--encoders PROGRAM]
                     [--tsv OUT] [--list] | --markdown TSV... [--into PAGE]

A family is a module with FAMILY, a sentence that says what is proved, and theorems(sample), which gives Theorems; with `sample` a few
of them. A theorem is judged by the first solver that is installed, and by the next one if that one did not decide; with
--solver by each that is named. Exit 0: all are proved; 1: a counterexample, or an open theorem; 77: z3 or clang is missing.
--markdown writes the table of families from what earlier runs wrote with --tsv; `--into docs/soundness.md` renews the page."""
import argparse
import concurrent.futures
import fnmatch
import importlib
import importlib.metadata
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
PREFERRED = ("bitwuzla", "z3", "cvc5")
COLUMNS = ("theorem", "family", "answer", "seconds", "solver")
ALL = []  # what the workers, which are forked, find by index


def installed(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def families(chosen):
    """{name: module} of the families that are wanted."""
    names = sorted(path.stem[len("family_"):] for path in HERE.glob("family_*.py"))
    unknown = [name for name in chosen if name not in names]
    if unknown:
        sys.exit("no such family: %s; there are: %s" % (", ".join(unknown), ", ".join(names)))
    return {name: importlib.import_module("family_" + name) for name in names if not chosen or name in chosen}


def judged(index, solvers, each, seconds):
    """[(solver, verdict)] of one theorem; the answer is a text of what went wrong where it could not be judged."""
    from llvm_text import NotTranslated
    from theorem import Verdict, judge
    started, found = time.process_time(), []
    try:
        claim = ALL[index].claim()
        built = time.process_time() - started
        for solver in solvers:
            verdict = judge(claim, seconds, solver)
            found.append((solver, verdict._replace(seconds=verdict.seconds + built)))
            built = 0.0
            if not each and verdict.answer != "open":
                break
    except NotTranslated as reason:
        found.append(("", Verdict("not translated: %s" % reason, 0.0, None)))
    except Exception as reason:  # one theorem that fails does not hide the others
        found.append(("", Verdict("failed: %s %s" % (type(reason).__name__, reason), 0.0, None)))
    return found if each else found[-1:]


def work(job):
    return job[0], judged(*job)


def told(theorem, solver, verdict):
    """A line about a theorem that is not proved."""
    inputs = ", ".join("%s = %#x" % pair for pair in (verdict.inputs or {}).items())
    return "%s %s: %s%s%s" % (theorem.family, theorem.name, verdict.answer, " by " + solver if solver else "",
                              " where " + inputs if inputs else "")


def version(name):
    try:
        return importlib.metadata.version("z3-solver" if name == "z3" else name)
    except importlib.metadata.PackageNotFoundError:
        return "?"


def table(paths):
    """The table of families, in Markdown, of what --tsv wrote."""
    rows = [line.split("\t") for path in paths for line in pathlib.Path(path).read_text().splitlines()[1:]]
    lines = ["| family | what is proved | theorems | proved | seconds | the slowest | by |", "|---|---|---:|---:|---:|---:|---|"]
    for family, module in families([]).items():
        mine = [row for row in rows if row[1] == family]
        count = sum(1 for _ in module.theorems(False))
        if not mine:
            lines.append("| `%s` | %s | %d | not in this run | | | |" % (family, module.FAMILY, count))
            continue
        names, seconds = {row[0] for row in mine}, [float(row[3]) for row in mine]
        unproved = {row[0] for row in mine if row[2] != "proved"}
        lines.append("| `%s` | %s | %d | %d | %.0f | %.1f | %s |" % (
            family, module.FAMILY, count, len(names - unproved), sum(seconds), max(seconds), ", ".join(sorted({row[4] for row in mine}))))
    total = {(row[1], row[0]) for row in rows if row[2] == "proved"}
    solvers = ", ".join("%s %s" % (name, version(name)) for name in sorted({row[4] for row in rows if row[4]}))
    return lines + ["", "%d theorems proved in %.0f seconds of one processor; %s; %s." % (
        len(total), sum(float(row[3]) for row in rows), solvers, clang_version())]


def clang_version():
    from theorem import clang
    return subprocess.run([clang(), "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()[0]


def markdown(paths, into):
    """Prints the table, or puts it into a page, in place of the one that stands there between its marks."""
    lines, begin, end = table(paths), "<!-- proofs -->", "<!-- end of proofs -->"
    if not into:
        print("\n".join(lines))
        return
    page = pathlib.Path(into)
    before, _, rest = page.read_text().partition(begin + "\n")
    page.write_text(before + "\n".join([begin, *lines, end]) + rest.partition(end)[2])


def options():
    parser = argparse.ArgumentParser(description="Proves theorems about the code that clang makes of this project.")
    parser.add_argument("--family", action="append", default=[], help="only this family; may be repeated")
    parser.add_argument("--name", default="*", help="only theorems whose name matches")
    parser.add_argument("--sample", action="store_true", help="a few theorems of each family, for each push")
    parser.add_argument("--solver", action="append", default=[], choices=PREFERRED, help="judge by this solver; may be repeated")
    parser.add_argument("--seconds", type=float, default=300, help="for a theorem and a solver (default 300)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--encoders", help="the program tests/proof/encoders, as it was built")
    parser.add_argument("--tsv", help="write a line for each theorem and solver")
    parser.add_argument("--list", action="store_true", help="only name the theorems")
    parser.add_argument("--markdown", metavar="TSV", nargs="+", help="only write the table of families from these files")
    parser.add_argument("--into", metavar="PAGE", help="with --markdown: put the table into this page, between its marks")
    return parser.parse_args()


def missing(solvers):
    """What is not there to prove anything, in words, or None."""
    if not installed("z3"):
        return "z3-solver is not installed for %s: nothing is proved" % sys.executable
    from theorem import clang
    if clang() is None:
        return "there is no clang: nothing is proved"
    absent = [name for name in solvers if not installed(name)]
    return "not installed: " + ", ".join(absent) if absent else None


def main():
    arguments = options()
    reason = missing(arguments.solver)
    if reason:
        print("skipped:", reason)
        return 77
    if arguments.markdown:
        markdown(arguments.markdown, arguments.into)
        return 0
    import theorem as theory
    theory.ENCODERS = arguments.encoders or theory.ENCODERS
    solvers = arguments.solver or [name for name in PREFERRED if installed(name)]
    for module in families(arguments.family).values():
        ALL.extend(each for each in module.theorems(arguments.sample) if fnmatch.fnmatchcase(each.name, arguments.name))
    if arguments.list:
        print("\n".join("%s\t%s" % (each.family, each.name) for each in ALL))
        return 0
    return run(arguments, solvers)


def run(arguments, solvers):
    started, bad = time.monotonic(), 0
    rows = open(arguments.tsv or os.devnull, "w", buffering=1)
    rows.write("\t".join(COLUMNS) + "\n")
    jobs = [(index, solvers, bool(arguments.solver), arguments.seconds) for index in range(len(ALL))]
    counts = {}
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("fork")) as pool:
        for done in concurrent.futures.as_completed([pool.submit(work, job) for job in jobs]):  # ends if a process is killed
            index, found = done.result()
            theorem = ALL[index]
            good = all(verdict.answer == "proved" for _, verdict in found)
            counts.setdefault(theorem.family, [0, 0, 0.0])
            for i, more in enumerate((1, good, sum(verdict.seconds for _, verdict in found))):
                counts[theorem.family][i] += more
            bad += not good
            for solver, verdict in found:
                rows.write("\t".join((theorem.name, theorem.family, verdict.answer, "%.3f" % verdict.seconds, solver)) + "\n")
                if verdict.answer != "proved":
                    print(told(theorem, solver, verdict), flush=True)
    rows.close()
    for family, (all_of, proved, seconds) in sorted(counts.items()):
        print("%s: %d of %d theorems proved in %.1f s of the processor" % (family, proved, all_of, seconds))
    print("%d of %d proved by %s in %.1f s" % (len(ALL) - bad, len(ALL), " or ".join(solvers), time.monotonic() - started))
    return 1 if bad or not ALL else 0


if __name__ == "__main__":
    sys.exit(main())
