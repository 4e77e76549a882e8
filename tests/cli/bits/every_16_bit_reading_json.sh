dtinfo bits 0x4789 --json
