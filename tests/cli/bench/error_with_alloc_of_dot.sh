dtinfo bench dot --with-alloc
