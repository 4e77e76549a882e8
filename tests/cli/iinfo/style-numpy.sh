dtinfo iinfo --style numpy
