dtinfo bits 70000 fp16
