for stack in torch torch-2.12 ml_dtypes onnx onnx-nosat cuda; do
    dtinfo cast 500 fp8_e4m3fn --like $stack -q
done
dtinfo cast 500 fp8_e4m3fn --like torch
dtinfo cast 1152921573326323713 bf16 --like torch --json
