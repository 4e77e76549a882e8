#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing: plants small faults into a copy of the sources and counts those that the push suite finds.

    mutate.py plant WORK [--count N] [--seed N] [-- OPTION...]    copy, plant and build; the options go to meson setup
    mutate.py reach WORK                                           which test reaches which fault, and how long it takes
    mutate.py run WORK [--jobs N] [--budget S] [--longest S] [--sample N] [--only ID,...]
                                                                   run the tests that reach a fault until one fails
    mutate.py report WORK [--sample N] [--survivors FILE]          the score by room, survivors, what each test found first

One build holds all faults: `a < b` becomes `(dti_mutant(7) ? (a <= b) : (a < b))`, and the variable DTI_MUTANT, which only
this copy reads, chooses one. Each run continues where the last one stopped. Needs libclang for Python (`pip install libclang`).
"""
import argparse
import collections
import csv
import ctypes
import importlib.util
import json
import os
import pathlib
import random
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time

from mutate_places import HEADER, candidates, planted

ROOT = pathlib.Path(__file__).resolve().parent.parent
# caught; caught by the build with sanitizers of .ci/run; no change of what the program does; another way to the same; what only a
# sanitizer could see; code of another machine; no test sees it; not all tests that reach it have run
STATES = ("caught", "sanitized", "same", "slower", "memory", "absent", "gap", "open")
CAUGHT = STATES[:2]
# Faults for each room; what one room lacks goes to no other one.
ROOMS = {"core": 210, "kernels": 260, "containers": 250, "files": 350, "convert": 140, "answers": 130, "requests": 60, "calc": 90, "io": 60}
# ---- plant

def read_table(path):
    if not path:
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_table(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def all_candidates(tree, build):
    import clang.cindex as clang
    wanted = {os.path.realpath(path): path.read_bytes() for room in ROOMS for path in (tree / "src" / room).rglob("*.[ch]")}
    resources = subprocess.run(["clang", "-print-resource-dir"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    index, seen, found = clang.Index.create(), set(), {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.realpath(os.path.join(command["directory"], command["file"]))
        if path in seen or path not in wanted:
            continue
        seen.add(path)
        flags = [word for word in shlex.split(command["command"]) if re.match(r"-[DUIm]|-std", word)]
        flags = ["-I" + os.path.join(command["directory"], word[2:]) if word.startswith("-I") else word for word in flags]
        for row in candidates(index, path, flags + ["-I" + resources + "/include"], wanted):
            found.setdefault(row[:4], row)
    return wanted, sorted(found.values(), key=lambda row: row[:4])


def sample(rows, tree, count, seed):
    """Draws for each room its share, from each operator alike, and at most one fault a line."""
    draw, chosen = random.Random(seed), []
    for room, share in ROOMS.items():
        mine = collections.defaultdict(list)
        for row in rows:
            if row[0].startswith(str(tree / "src" / room) + "/"):
                mine[row[3]].append(row)
        for _, kind in sorted(mine.items()):
            draw.shuffle(kind)
        lines, wanted = set(), share * count // sum(ROOMS.values())
        while wanted and any(mine.values()):
            for kind in sorted(mine):
                if wanted and mine[kind]:
                    row = mine[kind].pop()
                    line = (row[0], pathlib.Path(row[0]).read_bytes()[:row[1]].count(b"\n") + 1)
                    if line not in lines:
                        lines.add(line)
                        chosen.append((*row, line[1], draw.choice("+-")))
                        wanted -= 1
    return chosen


def plant(options):
    work = options.work.resolve()
    tree, build = work / "tree", work / "build"
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    subprocess.run(["meson", "setup", str(build), str(tree), "--buildtype=debugoptimized", "-Doptimization=1", "-Ddebug=false"] + options.rest, check=True)
    wanted, rows = all_candidates(tree, build)
    chosen = sample(rows, tree, options.count, options.seed)
    print("%d places, %d faults drawn" % (len(rows), len(chosen)), flush=True)
    (tree / "src/util/mutant.h").write_text(HEADER)
    source = "#define DTI_MUTANTS %d\n%s" % (len(chosen) + 1, (ROOT / "tools/mutant.c").read_text())
    (tree / "src/util/mutant.c").write_text(source)
    listing = tree / "src/util/meson.build"
    listing.write_text(listing.read_text().replace("'buffer.c'", "'mutant.c', 'buffer.c'", 1))
    dropped = set()
    while True:
        for file, text in wanted.items():
            mine = [(number, row[1], row[2], row[4], row[6]) for number, row in enumerate(chosen) if row[0] == file and number not in dropped]
            changed = '#include "%s"\n' % (tree / "src/util/mutant.h") + planted(text, mine) if mine else text.decode()
            if pathlib.Path(file).read_text() != changed:
                pathlib.Path(file).write_text(changed)
        done = subprocess.run(["ninja", "-C", str(build), "-k", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        (work / "build.log").write_text(done.stdout)
        if done.returncode == 0:
            break
        wrong = set()  # faults in a line that does not compile, as in a constant expression that looks like another one
        for name, line in re.findall(r"^(\S+?\.[ch]):(\d+):\d+: (?:error|note)", done.stdout, flags=re.MULTILINE) + re.findall(r"from (\S+?\.[ch]):(\d+)", done.stdout):
            path = os.path.realpath(build / name)
            if path in wanted:
                wrong.update(map(int, re.findall(r"dti_mutant\((\d+)\)", pathlib.Path(path).read_text().split("\n")[int(line) - 1])))
        if not wrong - dropped:
            sys.exit("the copy does not build; see %s" % (work / "build.log"))
        dropped |= wrong
        print("%d faults that do not compile are left out" % len(dropped), flush=True)
    write_table(work / "mutants.tsv", [
        {"id": number, "room": os.path.relpath(row[0], tree / "src").split("/")[0], "operator": row[3], "file": os.path.relpath(row[0], tree), "line": row[5],
         "original": " ".join(wanted[row[0]][row[1]:row[2]].decode().split()), "fault": {"swap": " ".join(map(str, row[4][2:])), "constant": row[6] + "1"}.get(row[4][0], row[4][0])}
        for number, row in enumerate(chosen) if number not in dropped])


# ---- tests

def suite(work):
    """The tests of the push suite, without those that only read the sources; golden cases one by one."""
    out = subprocess.run(["meson", "introspect", "--tests", str(work / "build")], stdout=subprocess.PIPE, text=True, check=True).stdout
    tests, tree = {}, work / "tree"
    modules = ":".join(str(tree / "tests" / name) for name in ("oracle", "oracle/core", "makers", "cli"))
    for row in json.loads(out):
        if not {name.rpartition(":")[2] for name in row["suite"]} & {"long", "packaging", "lint"} and row["name"] != "golden":
            tests[row["name"]] = {"argv": row["cmd"], "cwd": row["workdir"] or str(work / "build"),
                                  "env": {"DTI_TEST_QUICK": "1", "PYTHONPATH": modules, **row["env"]}}
    for script in sorted((tree / "tests/cli").glob("*/*.sh")):
        tests["golden:%s/%s" % (script.parent.name, script.stem)] = {"script": script}
    return tests


def golden(work):
    spec = importlib.util.spec_from_file_location("run", work / "tree/tests/cli/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Slot:
    """Runs one test at a time, and ends all that it left behind."""

    def __init__(self, work, number):
        self.work, self.folder, self.cases = work, work / ("slot%s" % number), golden(work)
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come to this process
        self.pretend = work / "build/tests/fake"
        self.map = self.folder / "map"

    def child(self, test, mutant, records):
        os.setsid()
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)  # as a person's shell leaves them, whatever this process was given
        resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, source in ((0, os.open("/dev/null", os.O_RDONLY)), (1, log), (2, log)):
            os.dup2(source, number)
        os.environ.update({"DTI_MUTANT": str(mutant), "DTI_MUTANT_MAP": str(self.map) if records else "", "TMPDIR": str(self.folder / "tmp"),
                           "MALLOC_PERTURB_": "165", **test.get("env", {})})
        if "argv" in test:
            os.chdir(test["cwd"])
            os.execvp(test["argv"][0], test["argv"])
        self.cases.KEPT_VARIABLES += ("DTI_MUTANT", "DTI_MUTANT_MAP")
        self.cases.tempfile.tempdir = str(self.folder / "tmp")
        if self.cases.lacks(test["script"], self.pretend, self.work / "build/dtinfo"):
            os._exit(77)
        path = self.cases.make_path(self.work / "build/dtinfo", "", pathlib.Path(self.cases.tempfile.mkdtemp()))
        wrong = self.cases.compare(test["script"], self.cases.run_case(test["script"], path, self.pretend))
        print(wrong, flush=True)
        os._exit(1 if wrong else 0)

    def end_children(self):
        while True:
            children = pathlib.Path("/proc/self/task/%d/children" % os.getpid()).read_text().split()
            for pid in map(int, children):
                os.kill(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, 0):
                    pass
            except ChildProcessError:
                return

    def execute(self, test, mutant, limit, records=False):
        """Returns ("pass", "fail", "signal", "timeout" or "skip", seconds)."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "tmp").mkdir(parents=True)
        self.map.write_bytes(bytes(1 << 16))
        begin = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                self.child(test, mutant, records)
            finally:
                os._exit(126)
        handle = os.pidfd_open(pid)
        in_time = bool(select.select([handle], [], [], limit)[0])
        os.close(handle)
        seconds = time.monotonic() - begin
        if not in_time:
            os.killpg(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        self.end_children()
        code = os.waitstatus_to_exitcode(status)
        word = "timeout" if not in_time else "signal" if code < 0 else {0: "pass", 77: "skip"}.get(code, "fail")
        return word, seconds


def reach(options):
    work = options.work.resolve()
    tests, slot, path = suite(work), Slot(work, "-reach"), work / "reach.tsv"
    known = {row["test"] for row in read_table(path)} if path.exists() else set()
    with open(path, "a", encoding="utf-8") as out:
        if not known:
            out.write("test\tresult\tseconds\treached\n")
        for name, test in sorted(tests.items(), key=lambda item: not item[0].startswith(("unit_", "golden:", "fuzz_"))):
            if name not in known:
                word, seconds = slot.execute(test, -1, 900, records=True)
                hit = [number for number, byte in enumerate(slot.map.read_bytes()) if byte]
                if word == "fail":  # a test may watch which files a program opens
                    word, seconds = slot.execute(test, -1, 900)
                out.write("%s\t%s\t%.3f\t%s\n" % (name, word, seconds, ",".join(map(str, hit))))
                out.flush()


# ---- run

def load(work):
    mutants = {int(row["id"]): row for row in read_table(work / "mutants.tsv")}
    tests, reached = {}, collections.defaultdict(list)
    for row in read_table(work / "reach.tsv"):
        tests[row["test"]] = row
        for number in filter(None, (row["reached"] or "").split(",")):
            if row["result"] == "pass" and int(number) in mutants:
                reached[int(number)].append(row["test"])
    runs = [row for path in sorted(work.glob("runs*.tsv")) for row in read_table(path) if row["seconds"]]
    return mutants, tests, reached, runs


def order_of(mutants):
    """Any beginning of this order is a sample of all."""
    return sorted(mutants, key=lambda one: random.Random(one).random())


def worker(options, number):
    work = options.work.resolve()
    mutants, rows, reached, runs = load(work)
    tests, slot = suite(work), Slot(work, number)
    done, ran, caught = collections.defaultdict(set), collections.Counter(), collections.Counter()
    for row in runs:
        done[int(row["id"])].add("*" if row["result"] != "pass" else row["test"])
        ran[row["test"]] += 1
        caught[row["test"]] += row["result"] != "pass"
    breadth = {name: len(row["reached"] or "") ** 0.5 for name, row in rows.items()}
    order = [int(one) for one in options.only.split(",")] if options.only else order_of(mutants)[:options.sample]
    path = work / ("runs%d.tsv" % number)
    with open(path, "a", encoding="utf-8") as out:
        if not out.tell():
            out.write("id\ttest\tresult\tseconds\n")
        for mutant in order[number::options.jobs]:
            left = {name for name in set(reached[mutant]) - done[mutant] if float(rows[name]["seconds"]) <= options.longest}
            spent = 0.0
            while left and "*" not in done[mutant] and spent < options.budget:
                # The test that is likeliest to find it for its time: it found others, and does little else.
                name = min(left, key=lambda one: (float(rows[one]["seconds"]) + 0.02) * (ran[one] + 4) / (caught[one] + 1) * breadth[one])
                left.remove(name)
                word, seconds = slot.execute(tests[name], mutant, 10 * float(rows[name]["seconds"]) + 5)
                word = "pass" if word == "skip" else word
                out.write("%d\t%s\t%s\t%.2f\n" % (mutant, name, word, seconds))
                out.flush()
                spent += seconds
                ran[name] += 1
                caught[name] += word != "pass"
                if word != "pass":
                    break


def run(options):
    children = []
    for number in range(options.jobs):
        pid = os.fork()
        if pid == 0:
            worker(options, number)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def report(options):
    work = options.work.resolve()
    mutants, tests, reached, runs = load(work)
    killers = {int(row["id"]): row["test"] for row in runs if row["result"] != "pass"}
    done = collections.defaultdict(set)
    for row in runs:
        done[int(row["id"])].add(row["test"])
    key = ("file", "original", "fault")  # numbers and lines change with the sources
    reasons = {tuple(row[name] for name in key): row for row in read_table(options.survivors)}
    chosen = set(order_of(mutants)[:options.sample])
    states, lines = collections.defaultdict(collections.Counter), []
    for one, row in sorted(mutants.items()):
        if one not in chosen:
            continue
        reason = reasons.get(tuple(row[name] for name in key), {"kind": "", "reason": ""})
        left = len(set(reached[one]) - done[one])
        state = "caught" if one in killers else reason["kind"] or ("gap" if not left else "open")
        for room in (row["room"], "all"):
            states[room][state] += 1
        if state != "caught":
            lines.append("\t".join([state, *row.values(), reason["reason"] or "%d of %d tests left" % (left, len(reached[one]))]))
    print("\t".join(("room", "faults", *STATES, "score")))
    for room in [*ROOMS, "all"]:
        mine = states[room]
        matter = sum(mine.values()) - sum(mine[word] for word in ("same", "slower", "absent"))
        print("\t".join(map(str, (room, sum(mine.values()), *(mine[word] for word in STATES), "%.1f %%" % (100 * sum(mine[word] for word in CAUGHT) / max(1, matter))))))
    print("\n".join(lines))
    firsts = collections.Counter(killers.values())
    for name, row in sorted(tests.items(), key=lambda item: -float(item[1]["seconds"])):
        print("test\t%s\t%s\t%s s\tfirst to find %d" % (name, row["result"], row["seconds"], firsts[name]))


def main():
    parser = argparse.ArgumentParser(description="mutation testing", usage=__doc__)
    parser.add_argument("what", choices=["plant", "reach", "run", "report"])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=sum(ROOMS.values()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=1e9, help="seconds for one fault in this run")
    parser.add_argument("--longest", type=float, default=1e9, help="leave longer tests for another run")
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, help="run and report the first N faults of an order by chance")
    parser.add_argument("--survivors", type=pathlib.Path)
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:cut])
    options.rest = words[cut + 1:]
    {"plant": plant, "reach": reach, "run": run, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
