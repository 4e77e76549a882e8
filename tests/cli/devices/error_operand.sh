dtinfo devices cpu
