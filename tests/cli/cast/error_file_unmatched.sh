# A misspelt pattern would leave a tensor uncast, or cast one that must not be: no file is written.
python3 "$MAKERS/make_checkpoint.py" model --single
try() { dtinfo cast model/model.safetensors bf16 "$@" 2>&1; echo "exit $?"; }
try -o a.safetensors --keep 'zzz*'
try -o a.safetensors --keep '*norm*,zzz*'
try -o a.safetensors --only '*nrom*' --json
try -o a.safetensors --select 'lm_head.*,*x'
try -o a.safetensors --select 'zzz' --allow-unmatched
try --dry-run --keep 'zzz*'
try -o a.safetensors --keep '*norm*,zzz*' --allow-unmatched
ls
