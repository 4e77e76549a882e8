dtinfo bench matmul --size 1000,20x30
