dtinfo mem 32x1024x4096 fp32,mxfp4 complex64,int4
dtinfo mem '[32, 1024]' 5,40 e5m6,tf32,binary8p3se,mxfp4,nvfp4,q4_0
