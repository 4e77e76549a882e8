dtinfo quant 1 2 mxfp4,int8 --min 5 --json
