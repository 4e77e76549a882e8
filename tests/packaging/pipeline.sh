#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The hook of pre-commit and the steps of the GitHub Action, on a small repository with a good file, a bad one and a Git
# LFS pointer. The steps run as they stand in action.yml, which Python reads with a YAML library.
#
#   tests/packaging/pipeline.sh DTINFO [PYTHON]     PYTHON: with yaml, and pre-commit beside it
set -eu
program=$(realpath "$1") python=${2:-python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" && ln -s "$program" "$folder/bin/dtinfo"
export PATH=$folder/bin:$PATH HOME=$folder GIT_CONFIG_NOSYSTEM=1
git init -q "$folder/models" && cd "$folder/models"
git config user.name tester && git config user.email tester@example.org
cp "$root/docs/sample/model.safetensors" "a good one.safetensors"
git add -A && git commit -q -m first
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345\n' 0 >pointer.gguf
head -c 100 "a good one.safetensors" >broken.safetensors
echo text >notes.txt
failures=0
expect() { # expect WORDS CODE TEXT COMMAND...: the exit code, and a text in the output
    local words=$1 code=$2 text=$3 status=0
    shift 3
    "$@" >"$folder/output" 2>&1 || status=$?
    if [ "$status" = "$code" ] && grep -qF -- "$text" "$folder/output"; then
        echo "ok    $words"
    else
        echo "FAIL  $words: exit $status, not $code with '$text'"
        cat "$folder/output"
        failures=$((failures + 1))
    fi
}
hook=$root/packaging/ci/check-changed.sh
expect "a pointer alone" 0 "no checkpoint to check" "$hook" pointer.gguf
expect "a pointer is skipped in words" 0 "skipped  pointer.gguf" "$hook" pointer.gguf "a good one.safetensors"
expect "a broken file" 1 FAIL "$hook" broken.safetensors "a good one.safetensors"
expect "options" 1 "FAIL  max-abs" "$hook" --option --max-abs=0.0001 "a good one.safetensors"
expect "an unknown option" 2 "use --option" "$hook" --no-nan "a good one.safetensors"
git add -A && git commit -q -m second
expect "what changed" 1 "broken.safetensors" "$hook" --since HEAD~1
expect "nothing changed" 0 "no checkpoint to check" "$hook" --since HEAD
expect "an unknown revision" 3 "fetch it" "$hook" --since nowhere

# step NAME: prints the `run` of a step of the Action
step() {
    "$python" -c 'import sys, yaml
steps = yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]
print(next(each["run"] for each in steps if each["name"] == sys.argv[2]))' "$root/packaging/ci/action.yml" "$1"
}
if "$python" -c 'import yaml' 2>/dev/null; then
    step Check >"$folder/check.sh" && step "Install dtinfo" >"$folder/install.sh"
    export GITHUB_ACTION_PATH=$root/packaging/ci
    expect "the Action's check" 1 "::error" env SINCE=HEAD~1 OPTIONS=--valid bash -e "$folder/check.sh"
    expect "the Action's check of no change" 0 "no checkpoint" env SINCE=HEAD OPTIONS= bash -e "$folder/check.sh"
    expect "the Action finds a program that is there" 0 dtinfo bash -e "$folder/install.sh"
    # a release, from a folder
    mkdir -p "$folder/releases/v0.0.1/dtinfo-0.0.1-linux-$(uname -m)/bin" && cd "$folder/releases/v0.0.1"
    cp "$program" "dtinfo-0.0.1-linux-$(uname -m)/bin/dtinfo" && tar -cJf "dtinfo-0.0.1-linux-$(uname -m).tar.xz" "dtinfo-0.0.1-linux-$(uname -m)"
    sha256sum ./*.tar.xz | sed 's|\./||' >SHA256SUMS
    install_from() { env PATH=/usr/bin:/bin VERSION=v0.0.1 RELEASES="file://$folder/releases" GITHUB_PATH="$folder/path" bash -e "$folder/install.sh"; }
    if env PATH=/usr/bin:/bin sh -c 'command -v curl && ! command -v dtinfo' >/dev/null; then
        expect "the Action installs a release" 0 OK install_from
        "$(cat "$folder/path")/dtinfo" --version >/dev/null || failures=$((failures + 1))
        sed -i -e 's/^e/f/;t' -e 's/^./e/' SHA256SUMS # another first digit
        expect "the Action refuses another digest" 1 FAILED install_from
    fi
    cd "$folder/models"
else
    echo "skip  the Action: $python has no yaml"
fi
if "$python" -c 'import pre_commit' 2>/dev/null; then
    clone=$folder/hooks
    git clone -q "$root" "$clone"
    expect "pre-commit: a good file and a pointer" 0 Passed \
        "$python" -m pre_commit try-repo "$clone" dtinfo-check --files "a good one.safetensors" pointer.gguf
    expect "pre-commit: a broken file" 1 "FAIL" "$python" -m pre_commit try-repo "$clone" dtinfo-check --files broken.safetensors
else
    echo "skip  pre-commit: $python lacks it"
fi
[ "$failures" = 0 ]
