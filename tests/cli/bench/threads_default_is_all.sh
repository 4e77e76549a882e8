# as in cast: one thread on each CPU
bench() { DTINFO_CPU=scalar dtinfo bench dot --dtype fp32 --size 100 --time 0.01 --json "$@" | grep -o '"threads":[0-9]*' | sort -u; }
test "$(bench)" = "$(bench --threads all)" && echo all
