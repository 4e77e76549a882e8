exec 2>&1
dtinfo info
dtinfo info fp16 int8 --json
dtinfo info bf61
dtinfo info fp16 mxfp4
dtinfo info fp16,int8,bf61
