dtinfo finfo fp8
