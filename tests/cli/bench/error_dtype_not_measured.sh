dtinfo bench dot --dtypes fp32,int16
