# SPDX-License-Identifier: MIT
# For cases that list mistakes: try() runs each line of its input as arguments of dtinfo, and prints the
# message and the exit code. Other output is cut to two lines, and is shown only for exit codes from 2.
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
