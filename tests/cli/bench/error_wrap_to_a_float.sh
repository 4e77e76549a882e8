dtinfo bench cast int8:bf16 --overflow wrap
