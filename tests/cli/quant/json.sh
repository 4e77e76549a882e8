dtinfo quant 0.1 3 uint8,mxfp4,q4_0 --json
