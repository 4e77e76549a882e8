dtinfo finfo -v fp16
