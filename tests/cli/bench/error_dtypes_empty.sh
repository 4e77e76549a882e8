dtinfo bench dot --dtypes ''
