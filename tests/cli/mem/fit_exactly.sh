dtinfo mem 7B bf16 --fit 14GB -q
echo "exit $?"
dtinfo mem 7B bf16 --fit 13999999999 -q
echo "exit $?"
dtinfo mem 7B --train adam --fit 112GB -q
echo "exit $?"
