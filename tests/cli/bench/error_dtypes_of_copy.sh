dtinfo bench copy --dtypes bf16
