for command in list finfo iinfo cast bits help completion; do
    test "$(dtinfo help $command)" = "$(dtinfo $command --help)" || echo "$command differs"
    test "$(dtinfo --help $command)" = "$(dtinfo $command --help)" || echo "$command differs"
    test "$(dtinfo -h $command)" = "$(dtinfo $command -h)" || echo "-h of $command differs"
done
test "$(dtinfo help)" = "$(dtinfo --help)" || echo 'the overview differs'
test "$(dtinfo help)" = "$(dtinfo -h)" || echo 'the overview differs'
