dtinfo bench expsin --size 2000x0
