dtinfo bench
