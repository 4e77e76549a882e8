# The data is read: what would be lost is known, and nothing is written.
python3 "$MAKERS/make_checkpoint.py" model
try() { dtinfo cast model "$@" 2>&1; echo "exit $?"; }
try fp8_e4m3fn --dry-run --fail-on underflow
try fp8_e4m3fn --dry-run --fail-on overflow -o new/
try fp8_e4m3fn --dry-run --fail-on underflow --select '*norm*' --threads 2
try fp64 --dry-run --fail-on inexact
try fp16 --dry-run --fail-on inexact -o x.txt --as text --select lm_head.weight
dtinfo cast model fp8_e4m3fn --dry-run --fail-on underflow --json >dry.json
echo "exit $?"
dtinfo cast model fp8_e4m3fn -o out/ --json >written.json
for answer in dry written; do
    grep -o '"totals".*"warnings"' $answer.json >$answer
done
cmp dry written && ls
