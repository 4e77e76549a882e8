dtinfo bits 0x02 bool
