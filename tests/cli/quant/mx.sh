dtinfo quant 0.1 0.7 -3 7 mxfp4 -v
seq -17 17 | dtinfo quant - mxfp6_e2m3 --nibble high
dtinfo quant 1 2 -127 mxint8
dtinfo quant 0 mxfp8_e5m2
