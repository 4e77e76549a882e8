dtinfo bits 0x123456789abcdef0123456789abcdef012 --json
