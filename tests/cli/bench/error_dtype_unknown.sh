dtinfo bench expsin --dtypes bf61
