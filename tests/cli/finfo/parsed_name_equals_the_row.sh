test "$(dtinfo finfo e4m3b11fnuz)" = "$(dtinfo finfo fp8_e4m3b11fnuz)"
dtinfo finfo e4m3b11fnuz
