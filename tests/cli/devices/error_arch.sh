exec 2>&1
for words in '--arch amper' '--arch sapphire' '--arch bf16' 'cpu' '--arch cuda:0' '--arch x --ids' '--supports bf16 --device cpu' \
    '--supports bf61' '--supports mxfp4' '--supports fp4' '--architecture m4' '--dtype bf16'; do
    # shellcheck disable=SC2086
    dtinfo devices $words
    echo "exit $?"
done
dtinfo devices --arch ''
dtinfo devices --arch "$(printf 'a\033[31m')"
dtinfo devices --arch amper --json
