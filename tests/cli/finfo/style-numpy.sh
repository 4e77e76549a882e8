dtinfo finfo --style numpy
