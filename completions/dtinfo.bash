# SPDX-License-Identifier: MIT
# bash completion for dtinfo: the program itself says what can follow.
_dtinfo() {
    # bash splits words at '='; what the program sees must not be split
    local word line i last=-1 words=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $last -ge 0 && ($word == = && ${words[last]} == --* || ${words[last]} == --*=) ]]; then
            words[last]+=$word
        else
            words[++last]=$word
        fi
    done

    # of "--round=ze" bash replaces only what stands behind the '='
    local current=${words[last]} cut=
    if [[ $current == --*=* ]]; then
        cut=${current%%=*}=
    fi

    # nothing has expanded a tilde in the program's name
    local program=${COMP_WORDS[0]/#\~\//$HOME/}

    # what is typed stays as it is; the rest may hold what the shell would take for itself
    local typed=${current#"$cut"} rest
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        line=${line#"$cut"}
        rest=${line#"$typed"}
        if [[ $rest == *[^[:alnum:]_.,:=/@%+-]* ]]; then
            printf -v rest %q "$rest"
        fi
        COMPREPLY+=("$typed$rest")
    done < <("$program" __complete "${words[@]}" 2>/dev/null)
}
complete -o default -F _dtinfo dtinfo
