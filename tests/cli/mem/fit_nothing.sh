# nothing fits, and needs no device
dtinfo mem 0x5 bf16 --fit 1GB --json | python3 "$TESTS/json_members.py" .sizes[0].fits .sizes[0].left_bytes .sizes[0].devices
