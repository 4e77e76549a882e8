# pairs that are not in the published set
for pair in fp16:e3m2 e5m3:fp8_e4m3fn posit8:posit16 hif8:uint8 uint8:bool int16:fp16 fp8_e8m0:fp8_e8m0 bool:int1 div:e4m5; do
    dtinfo vectors "$pair" | sed -n '2p'
    dtinfo vectors "$pair" | cksum
done
dtinfo vectors e4m3:text | sed -n '2p'
