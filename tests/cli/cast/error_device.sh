exec 2>&1
try() {
    dtinfo cast "$@"
    echo "exit $?"
}
try 1 bf16 --device mps
try 1 bf16 --device all
try 1 bf16 --device cud
try 1 bf16 --device cuda:
try 1 bf16 --device cuda:01
try 1 bf16 --device cuda:99999999999999999999
try 1 bf16 --device ''
try 1 bf16 --device cud --json
