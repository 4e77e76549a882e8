check() {
    dtinfo vectors "$@"
    echo "exit $?"
}
check
check fp32
check fp32:
check :fp32
check a:b:c
check fp32:bf61
check fp23:bf16
check text:text
check fp32:complex64
check fp32:text
check fp16:mxfp4
check text:nvfp4
check fp32:nvfp4 --round up
check fp8_e5m2:text --overflow saturate
check fp32:bf16 --overflow wrap
check fp32:bf16 --seed 3
check add:bf16 --round stochastic
check text:bf16 --round stochastic
check add:int8
check neg:fp16
check --list fp32:bf16
check --list --json
check fp32:bf16 --json
