dtinfo bench quant --with-alloc
