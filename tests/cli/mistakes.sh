# SPDX-License-Identifier: MIT
# For cases that are lists of mistakes: try() runs each line of its input as words of dtinfo, and shows the
# message and the exit code. Answers to what is no mistake are cut to two lines.
exec 2>&1
try()
{
    while IFS= read -r words; do
        echo "\$ dtinfo $words"
        eval "dtinfo $words" > out < /dev/null
        code=$?
        test $code -lt 2 || head -n 2 out
        echo "    exit $code"
    done
}
