# what newcomers get wrong in the other commands: every line names the thing and the remedy
. "$TESTS/mistakes.sh"
try <<'EOF'
bench
bench fp32
bench fp32 bf16
bench cats
bench cast fp32
bench cast fp32:bf61
bench cast fp32 bf16 fp16
bench cast bf16 --size
bench cast fp32 bf16 --size 1G
bench cast fp32 bf16 --size 1GB
bench cast fp32 bf16 --size big
bench cast fp32 bf16 --time 0
bench cast fp32 bf16 --time 1s
bench cast fp32 bf16 --device gpu
bench cast fp32 bf16 --threads many
bench cast fp32 bf16 --dtype fp16
bench cast fp32 bf16 --level sse
bench matmul --dtype bf16,fp99
bench gemm
bench --list cast
devices all
devices --device gpu
devices --gpu
devices cuda
completion
completion sh
completion powershell
help none
help cats
help cast list none
--help none
--verson
--json
--color sometimes list
--jsonl --json list
-z
casts 1 bf16
cst 1 bf16
CAST 1 bf16
Finfo bf16
finfo --help=all
list -h extra
EOF
