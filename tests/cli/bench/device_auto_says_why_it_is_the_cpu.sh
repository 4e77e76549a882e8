# needs 64-bit
DTINFO_LIBCUDA=/none/libcuda.so.1 dtinfo bench dot --threads 1 --dtypes fp32 --size 100 --time 0.01 --device auto
