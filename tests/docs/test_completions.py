#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that completion offers every command, option, choice and dtype, in `dtinfo __complete` and in
bash, fish and zsh with the shipped scripts. zsh runs in a pseudo-terminal with its own completion system,
as users run it. Shells that are not installed are reported as skipped."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pages

VALUES = ("value_dtype", "value_format")  # kinds of operands: values, then a dtype
SCRIPTS = {"bash": "dtinfo.bash", "zsh": "_dtinfo", "fish": "dtinfo.fish"}


def ask_program(program, words):
    lines = pages.run(program, "__complete", *words).stdout.splitlines()
    return {line.split("\t")[0] for line in lines}


def ask_bash(program, words, name="dtinfo"):
    """Calls the function as bash does: words are split at '=', and COMPREPLY has the answer."""
    split = [name]
    for word in words:
        option, equals, value = word.partition("=")
        split += [option, "="] + ([value] if value else []) if equals else [word]
    if words[-1].endswith("="):
        split.append("")
    script = ('source "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dtinfo;'
              ' printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *split],
                          stdout=subprocess.PIPE, encoding="utf-8", timeout=60,
                          env=pages.plain_environment(program, HOME=os.path.dirname(program), SCRIPT=str(
                              pages.ROOT / "completions/dtinfo.bash")))
    return {line.rstrip() for line in done.stdout.splitlines()}


def bash_can():
    """Whether bash is installed and has process substitution, which needs a mounted /dev/fd."""
    if not shutil.which("bash"):
        return False
    done = subprocess.run(["bash", "--norc", "-c", "cat < <(echo can)"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout == b"can\n"


def ask_fish(program, words, name="dtinfo"):
    script = f"source {pages.ROOT}/completions/dtinfo.fish; complete -C \"$LINE\""
    done = subprocess.run(["fish", "--no-config", "-c", script], stdout=subprocess.PIPE,
                          encoding="utf-8", timeout=60,
                          env=pages.plain_environment(program, HOME=os.path.dirname(program),
                                                      LINE=" ".join([name, *words])))
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


# Runs an interactive zsh in a pseudo-terminal of zsh/zpty. The script types a line; ^G lists the candidates
# and prints a mark. Without LISTMAX, zsh would ask before it shows a long list.
ZSH = r"""
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
until_mark() {
    local all= part
    while [[ $all != *"$1"* ]] && zpty -r shell part; do all+=$part; done
    print -rn -- "$all"
}
say 'stty -echo cols 200 rows 1000; PS1= PS2= LISTMAX=10000 TERM=dumb; unsetopt zle_bracketed_paste prompt_cr'
say "$LOAD"
say 'ask() { zle list-choices; zle -R; print -r "==$((++marks))==" }; zle -N ask; bindkey "^G" ask'
say 'print READ""Y'
until_mark READY >/dev/null
for line in "${(@f)LINES_ASKED}"; do
    zpty -n -w shell "$line"$'\x07'
    until_mark "==$((++asked))=="
    zpty -n -w shell $'\x15'
done
zpty -d shell
"""


def ask_zsh(program, load, lines):
    """Returns the candidates that zsh lists for each line, or None without zsh/zpty."""
    done = subprocess.run(["zsh", "-f", "-c", ZSH], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace", timeout=120,
                          env=pages.plain_environment(program, LOAD=load, LINES_ASKED="\n".join(lines),
                                                      HOME=os.path.dirname(program),
                                                      COMPLETIONS=str(pages.ROOT / "completions")))
    if done.returncode == 77:
        return None
    screens = re.split(r"==\d+==", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07\x08]", "", done.stdout))
    return [{re.split(r" +-- ", line.strip())[0] for line in screen.split("\n")} for screen in screens]


def check_zsh(judge, program, facts):
    """Checks options, choices, dtypes and commands, for each way to load the script."""
    cast = next(command for command in facts["commands"] if command["name"] == "cast")
    options = {"--" + option["long"] for option in cast["options"] + facts["global_options"]}
    dtypes = {dtype["name"] for dtype in facts["dtypes"]}
    rounds = next(option for option in cast["options"] if option["long"] == "round")["choices"]
    asked = [("dtinfo cast --", options),
             ("~/dtinfo cast --", options),
             ("dtinfo cast 1 ", dtypes),
             ("dtinfo cast 1 bf16,fp8_e", {"bf16," + name for name in dtypes if name.startswith("fp8_e")}),
             ("dtinfo cast --round ", {choice["name"] for choice in rounds}),
             ("dtinfo cast --round=", {"--round=" + choice["name"] for choice in rounds}),
             ("dtinfo finfo ", {name for name in dtypes if name.startswith("fp")}),
             ("dtinfo ", {command["name"] for command in facts["commands"] if not command["hidden"]})]
    init = "autoload -U compinit; compinit -u -D"
    for load in ("fpath=($COMPLETIONS $fpath); " + init,
                 init + "; source <(dtinfo completion zsh)",
                 init + "; source $COMPLETIONS/_dtinfo"):
        listed = ask_zsh(program, load, [line for line, _ in asked])
        if listed is None:
            print("skipped: zsh has no zpty; its script is not run")
            return
        judge.check(len(listed) > len(asked), f"zsh after {load}: {len(listed)} answers")
        for (line, wanted), words in zip(asked, listed):
            judge.check(wanted <= words, f"zsh after {load}: '{line}' lacks {sorted(wanted - words)[:9]}")


def tensor_questions(command, option):
    """Yields questions for the tensor names of the file given before, in the folder of pages.checkpoints()."""
    names = {name for name, *_ in pages.make_checkpoint.model()}
    before = [command["name"], "model.safetensors"]
    before += ["bf16"] if command["operands"] in VALUES else []
    yield [*before, option, ""], names
    yield [*before, option + "=lm"], {option + "=lm_head.weight"}
    yield [*before, option, "*norm*,lm"], {"*norm*,lm_head.weight"}
    yield [command["name"], "none.safetensors", option, ""], set()
    yield [command["name"], option, ""], set()


def questions(facts, blocks, encoded):
    """Yields (words, answers that must be offered)."""
    public = [command for command in facts["commands"] if not command["hidden"]]
    dtypes = {dtype["name"] for dtype in facts["dtypes"]}
    shared = {"--" + option["long"] for option in facts["global_options"]}
    names = {command["name"] for command in public}
    yield [""], names
    yield ["help", ""], names | {"dtypes", "exit-codes", "json"}
    yield ["completion", ""], set(SCRIPTS)
    for command in public:
        yield [command["name"], "--"], shared | {"--" + o["long"] for o in command["options"]}
        for option in [*command["options"], *facts["global_options"]]:
            words = {choice["name"] for choice in option["choices"] or []}
            if option["kind"] == "dtype":
                words = dtypes | words
            if not words:
                continue
            long_name = "--" + option["long"]
            yield [command["name"], long_name, ""], words
            yield [command["name"], long_name + "="], {f"{long_name}={word}" for word in words}
            if option["short"]:
                yield [command["name"], "-" + option["short"], ""], words
        if command["operands"] == "dtypes":
            yield [command["name"], ""], dtypes
        elif command["operands"] in VALUES:
            yield [command["name"], "1.5", ""], dtypes | (
                (blocks if command["operands"] == "value_format" else set()) |
                (encoded if command["name"] == "quant" else set()))
        elif command["operands"] == "files":
            yield [command["name"], ""], set()  # the shell completes file names itself
        for option in command["options"]:
            if option["kind"] == "glob":
                yield from tensor_questions(command, "--" + option["long"])
    yield ["cast", "1", "bf16,fp8_e8"], {"bf16,fp8_e8m0"}
    yield ["quant", "1", "int8,mxfp"], {"int8,mxfp4", "int8,mxfp8_e4m3"}
    yield ["cast", "--fail-on", "inexact,ov"], {"inexact,overflow"}
    yield ["finfo", "--field", "max,ep"], {"max,eps", "max,epsneg"}
    yield ["iinfo", "--field=si"], {"--field=signed"}
    yield ["info", "--field", "si"], {"sign_bits", "signed"}
    yield ["iinfo", "--field", ""], {"dtype", "bits", "kind", "signed", "min", "max", "names"}
    yield ["list", "--field", "max"], {"max"}
    yield ["bits", "--field", "valu"], {"value"}


def check_hostile_names(judge, program):
    """Checks that names unsafe for terminals are not offered, and that pattern characters are escaped."""
    with tempfile.TemporaryDirectory() as folder:
        pages.make_checkpoint.write_hostile(pathlib.Path(folder))
        for name in ("hostile.safetensors", "hostile.npz", "hostile.gguf"):
            words = ["check", f"{folder}/{name}", "--only", ""]
            done = subprocess.run([program, "__complete", *words], stdout=subprocess.PIPE,
                                  env=pages.plain_environment(program))
            judge.check(not re.search(rb"[^\t\n -~\x80-\xff]", done.stdout), f"{name}: raw bytes")
            offered = {line.split("\t")[0] for line in done.stdout.decode().splitlines()}
            judge.check("comma\\,star\\*\\?\\[x]" in offered, f"{name}: {sorted(offered)}")
            judge.check(not any(word.startswith(("esc", "rtl", "bad")) for word in offered),
                        f"{name}: {sorted(offered)}")
            for pattern in offered & {"comma\\,star\\*\\?\\[x]", "quote\"back\\\\slash"}:
                done = pages.run(program, "check", f"{folder}/{name}", "--only", pattern)
                judge.check(done.returncode == 0, f"--only {pattern}: {done.stderr}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge = pages.Judge()
    with pages.checkpoints():
        check_all(judge, program)
    check_hostile_names(judge, program)
    return judge.finish(at_least=60)


def check_all(judge, program):
    facts = pages.introspect(program)
    hidden = {command["name"] for command in facts["commands"] if command["hidden"]}
    asked = list(questions(facts, pages.block_formats(program), pages.encoded_types(program)))
    for words, wanted in asked:
        offered = ask_program(program, words)
        judge.check(wanted <= offered, f"__complete {words} lacks {sorted(wanted - offered)}")
        judge.check(not offered & hidden, f"__complete {words} offers {sorted(offered & hidden)}")
        if words[-1] in ("", "--") or words[-1].endswith("="):
            judge.check(offered == wanted, f"__complete {words} offers {sorted(offered - wanted)} "
                        "beside what there is")
    judge.check(not ask_program(program, ["cast", "1", "zz"]), "candidates for a wrong beginning")
    judge.check(not ask_program(program, ["nonsense", ""]), "candidates for an unknown command")

    some = asked if os.environ.get("TEST_LONG") else asked[::3] + asked[-2:]
    if not bash_can():
        print("skipped: no bash, or no /dev/fd for it; its script is not run")
    else:
        for words, wanted in some:
            # bash replaces only the part after the '='
            wanted = {word.partition("=")[2] if "=" in words[-1] else word for word in wanted}
            offered = ask_bash(program, words)
            judge.check(wanted <= offered, f"bash {words} lacks {sorted(wanted - offered)}")
        judge.check(ask_bash(program, ["list", "--na"], "~/dtinfo") == {"--names"}, "bash and a tilde")
    if shutil.which("fish"):
        for words, wanted in [asked[0], asked[3], asked[-2]]:
            offered = ask_fish(program, words)
            judge.check(wanted <= offered, f"fish {words} lacks {sorted(wanted - offered)}")
        judge.check("--names" in ask_fish(program, ["list", "--na"], "~/dtinfo"), "fish and a tilde")
    if shutil.which("zsh"):
        check_zsh(judge, program, facts)
    for shell, script in SCRIPTS.items():
        path = pages.ROOT / "completions" / script
        judge.check(pages.run(program, "completion", shell).stdout ==
                    path.read_text(encoding="utf-8"), f"completion {shell} is not {script}")
        if not shutil.which(shell):
            print(f"skipped: {shell} is not installed")
            continue
        done = subprocess.run([shell, "-n", str(path)], stderr=subprocess.PIPE, encoding="utf-8")
        judge.check(done.returncode == 0 and not done.stderr, f"{shell} -n: {done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
