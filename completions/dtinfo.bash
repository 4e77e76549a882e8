# SPDX-License-Identifier: MIT
# bash completion for dtinfo: the program lists the candidates.
_dtinfo() {
    # bash splits words at '=', and addresses at ':'; join them again for the program
    local word line i last=-1 words=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $last -ge 0 && ($word == = && ${words[last]} == --* || ${words[last]} == --*=) ]]; then
            words[last]+=$word
        elif [[ $last -ge 0 && ($word == :* && ${words[last]} =~ ^(https?|hf)$ || ${words[last]} =~ ^(https?|hf):$) ]]; then
            words[last]+=$word
        else
            words[++last]=$word
        fi
    done

    # in "--round=ze" bash replaces only the part after the '='
    local current=${words[last]} cut=
    if [[ $current == --*=* ]]; then
        cut=${current%%=*}=
    fi

    # expand a tilde in the program's name
    local program=${COMP_WORDS[0]/#\~\//$HOME/}

    # keep the typed text; quote special characters in the rest
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
