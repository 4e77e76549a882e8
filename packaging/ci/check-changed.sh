#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs `dtinfo check` on the checkpoints among FILEs, or on those that changed since a revision. What a clone without Git
# LFS has in their place is skipped, in words. The exit code is that of `dtinfo check`; 0 if there is nothing to check.
#
#   check-changed.sh [--option OPTION]... FILE...             for pre-commit, which names the files
#   check-changed.sh --since origin/main [--option OPTION]...
#
# Each --option is passed on to `dtinfo check`, as in --option --no-nan --option --policy=checks.json.
set -eu
suffixes=(gguf safetensors pt pth bin onnx npz npy dduf)
options=() files=() since=''
while [ $# -gt 0 ]; do
    case $1 in
    --since) since=${2:?--since needs a revision} && shift ;;
    --option) options+=("${2:?--option needs an option}") && shift ;;
    --) shift && files+=("$@") && break ;;
    -*) echo "check-changed.sh: unknown option '$1'; use --option '$1' to pass it to 'dtinfo check'" >&2 && exit 2 ;;
    *) files+=("$1") ;;
    esac
    shift
done
command -v dtinfo >/dev/null || { echo "check-changed.sh: dtinfo is not in PATH; docs/install.md says how to install it" >&2; exit 5; }
if [ -n "$since" ]; then
    base=$(git merge-base "$since" HEAD) || { echo "check-changed.sh: no revision '$since' here; fetch it" >&2; exit 3; }
    while IFS= read -r -d '' file; do
        files+=("$file")
    done < <(git diff --name-only -z --diff-filter=d "$base" -- "${suffixes[@]/#/*.}")
fi
checked=()
for file in "${files[@]}"; do
    if [ -f "$file" ] && [ "$(head -c 42 -- "$file" | tr -d '\0')" = "version https://git-lfs.github.com/spec/v1" ]; then
        printf 'skipped  %q: a Git LFS pointer, not the file; "git lfs pull" fetches it\n' "$file"
    else
        checked+=("$file")
    fi
done
[ ${#checked[@]} -gt 0 ] || { echo "no checkpoint to check"; exit 0; }
exec dtinfo check "${options[@]}" -- "${checked[@]}"
