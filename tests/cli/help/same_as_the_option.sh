for command in list finfo iinfo cast bits help completion; do
    test "$(dtinfo help $command)" = "$(dtinfo $command --help)" || echo "$command differs"
    test "$(dtinfo help $command)" = "$(dtinfo $command -h)" || echo "$command differs"
done
test "$(dtinfo help)" = "$(dtinfo --help)" || echo 'the overview differs'
