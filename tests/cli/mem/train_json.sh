dtinfo mem 1e6 bf16 --train momentum8bit --fit 8MB --json
