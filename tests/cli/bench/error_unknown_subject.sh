dtinfo bench matmul
