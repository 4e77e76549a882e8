dtinfo bench dot --size 4294967296x4294967296
