dtinfo finfo bf16 --style numpy
