# safetensors leaves open how codes of 6 bits lie in their bytes: what is assumed is said
seq 1 4 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo cast in.bin fp6_e3m2 --from fp32 --shape 4 --packing high -o six.safetensors -q
dtinfo inspect six.safetensors --stats
dtinfo inspect six.safetensors --stats --packing high
dtinfo check six.safetensors --packing high --max-abs 4
dtinfo compare six.safetensors in.bin --packing bytes || echo "exit $?"
