DTINFO_LIBCUDA=$PRETEND/libfake_cuda.so dtinfo bench quant --size 64 --device cuda --time 0.01
