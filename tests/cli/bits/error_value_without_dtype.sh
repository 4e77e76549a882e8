dtinfo bits 0.1
