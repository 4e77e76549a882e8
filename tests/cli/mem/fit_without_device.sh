# needs 64-bit
export DTINFO_LIBCUDA=/none
dtinfo mem 7B bf16 --fit cuda
