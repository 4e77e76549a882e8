# SPDX-License-Identifier: MIT
# fish completion for dtinfo: the program itself says what can follow.
function __dtinfo_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l candidates ($words[1] __complete $words[2..-1] 2>/dev/null)
  if test -n "$candidates"
    printf '%s\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c dtinfo -f -a '(__dtinfo_complete)'
