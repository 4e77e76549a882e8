dtinfo bits
