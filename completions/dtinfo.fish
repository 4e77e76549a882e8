# SPDX-License-Identifier: MIT
# fish completion for dtinfo: the program lists the candidates.
function __dtinfo_complete
  set -l words (commandline -opc) (commandline -ct)
  # expand a tilde in the program's name
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  set -l candidates ($program __complete $words[2..-1] 2>/dev/null)
  if test -n "$candidates"
    printf '%s\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c dtinfo -f -a '(__dtinfo_complete)'
