dtinfo bits 1+2j complex64
