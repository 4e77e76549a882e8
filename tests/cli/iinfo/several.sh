dtinfo iinfo int8 uint4 bool
