dtinfo mem 7B --train adam --dtype bf16
dtinfo mem 7B --train adam --dtype bf16 --master none --gradients fp32 --states bf16
