dtinfo finfo int8
