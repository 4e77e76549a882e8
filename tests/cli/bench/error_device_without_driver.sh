# needs 64-bit
DTINFO_LIBCUDA=/none/libcuda.so.1 dtinfo bench copy --device cuda
