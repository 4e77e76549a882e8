# SPDX-License-Identifier: MIT
"""Theorems about compiled code, and the solvers that judge them.

A theorem has a name, its family and a function that makes its claim when its turn comes: what the code computes (a Run of
symbolic.py), the inputs, and a goal that must hold for all of them. The judge looks for inputs that break the goal, or that reach
what LLVM leaves undefined: none exists (proved), one does (a counterexample), or the time was not enough (open)."""
import collections
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import z3

from llvm_text import Module
from symbolic import either, negation

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENCODERS = str(ROOT / "build/tests/proof/encoders")  # the program that writes the constants of encoders; run_proofs.py sets it
FLAGS = ["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-ffp-contract=off", "-DNDEBUG", "-std=c11"]

OVERLAYS = []  # folders whose files are included in place of those of src with the same path

Theorem = collections.namedtuple("Theorem", "family name claim")
Claim = collections.namedtuple("Claim", "run inputs goal")  # inputs: {name: term}; goal: a condition
Verdict = collections.namedtuple("Verdict", "answer seconds inputs")  # answer: "proved", "counterexample" or "open"


def clang():
    """The path of a clang, or None."""
    return shutil.which(os.environ.get("DTI_PROOF_CLANG", "clang"))


def include_words():
    return [word for folder in [*OVERLAYS, str(ROOT / "src"), str(ROOT / "include")] for word in ("-I", folder)]


def compiled(text, flags=()):
    """The module that clang makes of C source; it may include the project's headers. flags: more of them, as a tuple."""
    return compiled_with(text, tuple(flags), tuple(OVERLAYS))


@functools.lru_cache(maxsize=None)
def compiled_with(text, flags, _overlays):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source.c"), os.path.join(folder, "source.ll")
        pathlib.Path(source).write_text(text)
        words = [clang(), *FLAGS, *flags, *include_words(), "-S", "-emit-llvm", source, "-o", target]
        done = subprocess.run(words, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode:
            raise RuntimeError("clang: " + done.stderr)
        return Module(pathlib.Path(target).read_text())


def defined(*scalars):
    """That none of these scalars (or lists of them) is poison."""
    flat = [part for each in scalars for part in (each if isinstance(each, list) else [each])]
    wrong = either(*[part.poison for part in flat])
    return z3.BoolVal(not wrong) if isinstance(wrong, bool) else negation(wrong)


def refutation(claim):
    """What a counterexample has to satisfy."""
    return claim.run.axioms + [either(z3.Not(claim.goal), *claim.run.undefined)]


def judge(claim, seconds=120, solver="z3"):
    """Judges a claim with one of SOLVERS. The verdict's seconds are of the processor, the limit is of the clock."""
    started = time.process_time()
    answer, inputs = SOLVERS[solver](claim, seconds)
    return Verdict(answer, time.process_time() - started, inputs)


def judge_z3(claim, seconds):
    solver = z3.Solver()
    solver.set("timeout", int(1000 * seconds))
    solver.add(*refutation(claim))
    found = solver.check()
    if found == z3.unsat:
        return "proved", None
    if found != z3.sat:
        return "open", None
    model = solver.model()
    return "counterexample", {name: model.eval(term, model_completion=True).as_long() for name, term in claim.inputs.items()}


def without_singles(term):
    """A term whose "or" and "and" have two operands at least, as SMT-LIB wants them; z3 takes one, too."""
    singles, waiting, seen = [], [term], set()
    while waiting:
        each = waiting.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        waiting.extend(each.children())
        if each.num_args() == 1 and (z3.is_or(each) or z3.is_and(each)):
            singles.append((each, each.arg(0)))
    for each in sorted(singles, key=lambda pair: pair[0].get_id(), reverse=True):
        term = z3.substitute(term, each)
    return term if not singles else without_singles(term)


def text_of(claim):
    """The refutation in SMT-LIB 2."""
    solver = z3.Solver()
    solver.add(*[without_singles(each) for each in refutation(claim)])
    return "(set-logic QF_BVFP)\n" + solver.to_smt2()


def judge_bitwuzla(claim, seconds):
    import bitwuzla
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * seconds))
    terms = bitwuzla.TermManager()
    parser = bitwuzla.Parser(terms, options)
    text = text_of(claim).replace("(check-sat)", "")
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    found = solver.check_sat()
    if found == bitwuzla.Result.UNSAT:
        return "proved", None
    if found != bitwuzla.Result.SAT:
        return "open", None
    return "counterexample", {name: int(solver.get_value(parser.parse_term(name)).value(2), 2)
                              if "(declare-fun %s " % name in text else 0 for name in claim.inputs}


def judge_cvc5(claim, seconds):
    import cvc5
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(1000 * seconds)))
    solver.setOption("fp-exp", "true")  # floats that are neither fp32 nor fp64
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text_of(claim), "claim")
    symbols = parser.getSymbolManager()
    answer = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer += command.invoke(solver, symbols)
    # An input of a counterexample is z3's to give; this judge confirms proofs.
    return {"unsat": "proved", "sat": "counterexample"}.get(answer.strip(), "open"), None


SOLVERS = {"z3": judge_z3, "bitwuzla": judge_bitwuzla, "cvc5": judge_cvc5}
