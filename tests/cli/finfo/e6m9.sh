dtinfo finfo e6m9
