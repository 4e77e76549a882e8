dtinfo quant 0.1 0.7 -3 7 nvfp4
dtinfo quant 0.1 0.7 -3 7 nvfp4 --tensor-scale none
dtinfo quant 0.1 0.7 -3 7 nvfp4 --tensor-scale 0.01 --like torch
