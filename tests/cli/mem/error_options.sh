exec 2>&1
for words in '--master fp32' '--gradients fp32' '--states fp32' '--train adam --master int8' '--train adam8bit --states fp16' \
    '--train rmsprop' '--train adam --dtype complex64' '--fit 24G' '--fit 0' '--fit 1KB2' '--fit gpu' '--fit all' \
    '--only x' '--keep x' '--train adam --gradients bf61'; do
    # shellcheck disable=SC2086
    dtinfo mem 7B $words
    echo "exit $?"
done
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo mem arrays.npz --only none
dtinfo mem arrays.npz --only big --train sgd
