python3 "$MAKERS/make_checkpoint.py" model --single
try() { dtinfo check model/model.safetensors "$@" 2>&1; echo "exit $?"; }
try --max-to-zero 0.1
try --as bf16
try --as bf16,nothing --min-sqnr 20
try --as complex64 --min-sqnr 20
try --as bf16 --max-to-zero 1.5
try --as bf16 --max-to-zero 5%
try --as bf16 --max-error -1
try --as bf16 --min-sqnr nan
try --as fp16,bf16,fp32,fp64,tf32,int8,int16,int32,int64,uint8,uint16,uint32,uint64,e4m3fn,e5m2,fp6_e3m2,fp6_e2m3 --max-error 1
