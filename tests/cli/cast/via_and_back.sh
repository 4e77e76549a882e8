# The source's own dtype, by way of a narrower one: the losses are those of the way.
dtinfo calc '[1, 0.1, 70000, 1e-9, 0]' fp32 -o x.npy -q
for via in bf16 fp16; do dtinfo cast x.npy fp32 --via $via -o y.npy --force; done
