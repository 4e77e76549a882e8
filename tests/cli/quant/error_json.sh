dtinfo quant 1 mxfp5 --json
