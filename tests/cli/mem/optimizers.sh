dtinfo mem 1B --train all
dtinfo mem 1B fp8_e4m3fn,nvfp4 --train sgd,adam8bit
