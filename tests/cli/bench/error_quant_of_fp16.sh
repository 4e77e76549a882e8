dtinfo bench quant --dtypes fp16
