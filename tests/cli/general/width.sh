# tables and lines fit: columns leave, names lose their middle, notes wrap; numbers stay whole
exec 2>&1
cp -R "$TESTS/../../docs/sample/." .
dtinfo list --width 60 | sed -n '1,4p;/not shown: b/p'
dtinfo --width 80 inspect --stats model.safetensors
dtinfo inspect --stats model.safetensors --width 40
dtinfo finfo bf16 --width 60
dtinfo cast 500 fp8_e4m3fn --stacks --width 70
dtinfo mem 7B bf16 --train adam --width 50
dtinfo finfo bf16 --width 80 --wide
echo "exit $?"
dtinfo finfo bf16 --width 19
echo "exit $?"
