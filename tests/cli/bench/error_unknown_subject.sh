dtinfo bench matmull
