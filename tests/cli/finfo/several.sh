dtinfo finfo fp64 e8m0 e4m3 fp6_e2m3,complex64 binary8p3se e6m9
