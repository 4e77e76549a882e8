dtinfo finfo int8 --json
