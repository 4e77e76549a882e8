printf '\000\000\200\077' >'70000'
dtinfo cast 70000 bf16 --from fp32 --as text || echo "exit $?"
dtinfo cast ./70000 bf16 --from fp32 --as text
dtinfo cast --input 70000 bf16 --from fp32 --as text
dtinfo cast -q 70000 bf16
