dtinfo bench cast --dtypes bf16
