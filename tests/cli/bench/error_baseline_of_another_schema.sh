dtinfo finfo bf16 --json >finfo.json
dtinfo bench cast --baseline finfo.json
