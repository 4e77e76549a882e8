# a result that cannot be had leaves no file, and one document: the error
for form in '' --json --jsonl; do
    dtinfo calc '[1, 2] + [1, 2, 3]' bf16 -o sum.npy $form; echo "exit $?"
done
ls
