dtinfo bench matmul --engine mkl
